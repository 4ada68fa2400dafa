//! What rt-app makes of a file: every task, phase and event with its defaults filled in. Times are
//! rt-app's own microseconds (32 bits, signed) unless the name says otherwise. `workload check`
//! shows these: the corpus has rt-app's own values (docs/guide/rt-app.md, "How a file is read").
//!
//! Made by `rtapp/read.rs`. Fields and defaults are rt-app's; the JSON of `workload check` shows
//! them under these names, which stay.
//!
//! What must stay: names and numbers of policies, and fields with rt-app's defaults, as the
//! recorded answers of the corpus have them. Free: what leaves scripts as they are
//! (ARCHITECTURE.md, "What a change may touch"), and words of messages that no test quotes. Tests
//! by part: `every_file_is_read_as_rtapp_reads_it` (all fields, `number`, `threads`),
//! rtapp_files.rs::`what_cannot_run_here_names_its_place` (`from_name`),
//! rtapp_files.rs::`policies_of_tasks_and_phases` (`from_name`),
//! rtapp_events.rs::`tasks_move_between_groups` (`is_fair`), the first also `name`.
//!
//! Callers: global.rs (`from_name`), task.rs (`is_fair`).
//!
//! Tests: crates/workload/tests/all/corpus.rs, crates/workload/tests/all/rtapp_files.rs,
//! crates/workload/tests/all/rtapp_events.rs
use crate::deadline::Declared;
pub use crate::error::Position;
use crate::limits;
use crate::script::TimerMode;

/// A whole file.
#[derive(Clone, Debug, PartialEq)]
pub struct Structure {
    /// The `global` object.
    pub global: Global,
    /// The legacy `resources`, in order: they create nothing that their first use would not.
    pub resources: Vec<Resource>,
    /// Chains with deadlines, which rt-app does not read.
    pub(crate) deadlines: Vec<Declared>,
    /// Limits of groups, which rt-app does not read.
    pub(crate) groups: Vec<limits::Declared>,
    /// The tasks, in order.
    pub tasks: Vec<Task>,
}

/// An entry of `resources`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Key in `resources`.
    pub name: String,
    /// Its `type`.
    pub kind: &'static str,
}

impl Structure {
    /// Threads started at first: the sum of `instance`, which rt-app allows to be negative.
    pub fn threads(&self) -> i64 {
        self.tasks.iter().map(|task| i64::from(task.instance)).sum()
    }
}

/// Scheduling policies by their Linux names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// SCHED_OTHER.
    Other,
    /// SCHED_FIFO.
    Fifo,
    /// SCHED_RR.
    RoundRobin,
    /// SCHED_BATCH.
    Batch,
    /// SCHED_IDLE.
    Idle,
    /// SCHED_DEADLINE.
    Deadline,
}

impl Policy {
    /// Names in rt-app files, exact case.
    pub const NAMES: [&'static str; 6] = [
        "SCHED_OTHER",
        "SCHED_BATCH",
        "SCHED_IDLE",
        "SCHED_RR",
        "SCHED_FIFO",
        "SCHED_DEADLINE",
    ];

    /// All policies, in the order of `NAMES`.
    const ALL: [Self; 6] = [
        Self::Other,
        Self::Batch,
        Self::Idle,
        Self::RoundRobin,
        Self::Fifo,
        Self::Deadline,
    ];

    /// The policy of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        let place = Self::NAMES.iter().position(|known| *known == name)?;
        Some(Self::ALL[place])
    }

    /// The name in rt-app files.
    pub fn name(self) -> &'static str {
        let place = Self::ALL.iter().position(|policy| *policy == self);
        Self::NAMES[place.unwrap_or(0)]
    }

    /// Linux's number of the policy (include/uapi/linux/sched.h).
    pub fn number(self) -> u32 {
        match self {
            Self::Other => 0,
            Self::Fifo => 1,
            Self::RoundRobin => 2,
            Self::Batch => 3,
            Self::Idle => 5,
            Self::Deadline => 6,
        }
    }

    /// Whether the fair class runs it, so that `priority` is a nice value.
    pub fn is_fair(self) -> bool {
        matches!(self, Self::Other | Self::Batch | Self::Idle)
    }
}

/// How threads log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogSize {
    /// Not at all.
    Disabled,
    /// Straight to the file.
    File,
    /// Through a buffer of that many MiB.
    Mebibytes(i32),
}

/// What `run` refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadCalibration {
    /// Calibrated at start on that CPU.
    Cpu(i32),
    /// Given: ns per loop.
    NsPerLoop(i32),
}

/// The `global` object with its defaults.
#[derive(Clone, Debug, PartialEq)]
pub struct Global {
    /// Seconds to run; 0 or less: until all threads end.
    pub duration_s: i32,
    /// Policy of tasks that name none.
    pub default_policy: Policy,
    /// What `run` refers to.
    pub calibration: LoadCalibration,
    /// Where the calibration is given, or the file's beginning.
    pub calibration_at: Position,
    /// How threads log.
    pub log_size: LogSize,
    /// Folder of the logs.
    pub logdir: String,
    /// Beginning of the logs' names.
    pub log_basename: String,
    /// Trace categories: 1 main, 2 task, 4 loop, 8 event, 16 stats.
    pub ftrace: u32,
    /// Write gnuplot files.
    pub gnuplot: bool,
    /// Lock memory (policies above the fair class only).
    pub lock_pages: bool,
    /// Mutexes inherit priority.
    pub pi_enabled: bool,
    /// Target of `iorun`.
    pub io_device: String,
    /// Buffer of `mem`, bytes.
    pub mem_buffer_size: i32,
    /// Add up slack within a phase.
    pub cumulative_slack: bool,
    /// Our own: threads begin later by up to so much, drawn from the seed.
    pub start_spread_us: u64,
}

/// Scheduling attributes of a task, or those a phase changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scheduling {
    /// Policy; None (phases only): unchanged.
    pub policy: Option<Policy>,
    /// Priority, or nice value of the fair class; None (phases only): unchanged.
    pub priority: Option<i32>,
    /// Where the priority is given, if it is.
    pub priority_at: Option<Position>,
    /// SCHED_DEADLINE runtime, or a custom slice of the fair class, ns.
    pub runtime_ns: i64,
    /// SCHED_DEADLINE deadline, ns.
    pub deadline_ns: i64,
    /// SCHED_DEADLINE period, ns.
    pub period_ns: i64,
    /// Lower utilisation clamp; -1 unchanged.
    pub util_min: i32,
    /// Upper utilisation clamp; -1 unchanged.
    pub util_max: i32,
    /// Control group; empty for none.
    pub taskgroup: String,
    /// Where it is given, if it is.
    pub taskgroup_at: Option<Position>,
}

/// One element of `cpus` or `nodes_membind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuNumber {
    /// As rt-app converts it.
    pub cpu: i32,
    /// Where.
    pub at: Position,
}

/// A `cpus` array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Affinity {
    /// Where.
    pub at: Position,
    /// The numbers, as written.
    pub cpus: Vec<CpuNumber>,
}

/// A `nodes_membind`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nodes {
    /// Where.
    pub at: Position,
    /// The node numbers, as written; None: no array, which rt-app minds on NUMA machines only.
    pub list: Option<Vec<CpuNumber>>,
}

/// A task.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// Key in `tasks`.
    pub name: String,
    /// Where.
    pub at: Position,
    /// Threads to start; 0: only a template for `fork`.
    pub instance: i32,
    /// Delay of the first step, us.
    pub delay_us: i32,
    /// Passes over all phases; below 0: endless.
    pub loops: i32,
    /// CPUs the task may use; None: all.
    pub affinity: Option<Affinity>,
    /// Nodes of its memory; None: that of the CPU.
    pub nodes: Option<Nodes>,
    /// Scheduling attributes.
    pub scheduling: Scheduling,
    /// Phases; a task without `phases` has one, of its own name.
    pub phases: Vec<Phase>,
}

/// A phase.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// Key in `phases`, or the task's name.
    pub name: String,
    /// Where.
    pub at: Position,
    /// Repetitions; 0 or less: endless.
    pub loops: i32,
    /// CPUs during the phase; None: the task's.
    pub affinity: Option<Affinity>,
    /// Nodes of the memory; None: unchanged.
    pub nodes: Option<Nodes>,
    /// What the phase changes; None: nothing.
    pub scheduling: Option<Scheduling>,
    /// Steps, in order; at least one.
    pub events: Vec<Step>,
}

/// One event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Key, such as `run0`.
    pub key: String,
    /// Where.
    pub at: Position,
    /// What it does.
    pub action: Action,
}

/// What an event does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Burn calibrated loops, us.
    Run(i32),
    /// Burn until this much wall time has passed, us.
    Runtime(i32),
    /// Sleep, us.
    Sleep(i32),
    /// Wait for a timer.
    Timer {
        /// Its name; beginning with `unique`: one per thread.
        reference: String,
        /// Period, us.
        period_us: i32,
        /// Mode; one absolute event makes the timer absolute.
        mode: TimerMode,
    },
    /// Let the others of this CPU run first.
    Yield,
    /// Take the mutex of that name.
    Lock(String),
    /// Release it.
    Unlock(String),
    /// Wake who waits for a condition.
    Signal {
        /// Its name.
        condition: String,
        /// All (`broad`) instead of one.
        all: bool,
    },
    /// Wait for a condition.
    Wait {
        /// Its name.
        condition: String,
        /// The mutex that is free meanwhile.
        mutex: String,
    },
    /// Signal a condition, then wait for it.
    Sync {
        /// Its name.
        condition: String,
        /// The mutex that is free meanwhile.
        mutex: String,
    },
    /// Wait until somebody resumes this name: the task's own, or the string given (v1.0).
    Suspend(String),
    /// Wake all who are suspended under this name.
    Resume(String),
    /// Wait for all parties.
    Barrier(String),
    /// Start a thread of that task.
    Fork(String),
    /// Give a unit to a semaphore.
    SemPost(String),
    /// Take one.
    SemWait(String),
    /// Clear so many bytes of the task's buffer.
    Mem(i32),
    /// Write so many bytes to `io_device`.
    IoRun(i32),
    /// Read, write or chase pointers in a buffer.
    MemRun(MemRun),
}

/// A `memrun` event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemRun {
    /// How the buffer is used.
    pub access: Access,
    /// Its size, bytes.
    pub size: i32,
    /// Bytes to read or write, or hops.
    pub count: i32,
    /// Distance of the pointers, bytes; 0 unless chased.
    pub stride: i32,
    /// Whether the pointers go to and fro.
    pub random: bool,
    /// Name under which tasks share it; empty: the task's own.
    pub reference: String,
}

/// How a `memrun` uses its buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Byte after byte.
    Read,
    /// Byte after byte.
    Write,
    /// From pointer to pointer.
    Chase,
}
