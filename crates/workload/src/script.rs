//! What tasks do, fully expanded: one entry per thread, no more names to look up.
//!
//! This is all the engine knows of a workload. `Spec::expand` (crate root) makes it from an rt-app
//! file or a model and a seed.

use crate::realtime::Attributes;

/// How often something is repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loops {
    /// Until the run ends.
    Forever,
    /// This many times; 0 = not at all.
    Times(u64),
}

/// The CPU on which `Event::Run` times are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calibration {
    /// The biggest CPU at its highest frequency (capacity 1024).
    Biggest,
    /// That CPU at its highest frequency, as rt-app calibrates (default there: CPU 0).
    Cpu(u32),
}

/// The policies of the fair class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FairPolicy {
    /// SCHED_OTHER.
    #[default]
    Other,
    /// SCHED_BATCH: its wake-ups preempt nobody.
    Batch,
    /// SCHED_IDLE: weight 3 whatever the nice value; gives way to all others at once.
    Idle,
}

/// rt-app's two kinds of timer (`spec` rt-app section 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimerMode {
    /// A late expiry moves the grid to now.
    Relative,
    /// A late expiry keeps the grid: late periods run back to back.
    Absolute,
}

/// One step of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// CPU work: time it takes on the calibration CPU at its highest frequency, ns.
    Run {
        /// Work, ns.
        work_ns: u64,
    },
    /// Run until this much wall time has passed since the event began, ns (preemption counts).
    Runtime {
        /// Wall time, ns.
        wall_ns: u64,
    },
    /// Sleep relative to now, ns.
    Sleep {
        /// Duration, ns.
        duration_ns: u64,
    },
    /// Periodic timer: next += period; sleep until then.
    Timer {
        /// Index into `Workload::timers`.
        timer: u32,
        /// Period, ns.
        period_ns: u64,
    },
    /// sched_yield: let the others of this CPU run first.
    Yield,
    /// Give one unit to a channel: its first waiter takes it and wakes. Nobody waits: it is kept.
    Post {
        /// Index into `Workload::channels`.
        channel: u32,
        /// The task says that it will sleep soon.
        sync: bool,
    },
    /// Take one unit of a channel; sleep until there is one. First come, first served.
    Wait {
        /// Index into `Workload::channels`.
        channel: u32,
    },
    /// So much of what the workload is measured by is done.
    Count {
        /// Units of `Workload::count`.
        units: u64,
    },
}

/// What tasks wait for and wake each other by: a counting semaphore. Pipes, mutexes and condition
/// variables are made of these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    /// Name for messages.
    pub name: String,
    /// Units it holds at the start.
    pub units: u64,
}

/// What `Event::Count` counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// Counted from so long after the start of all tasks on, ns.
    pub warm_up_ns: u64,
}

/// A timer. One that only one thread names is private ("unique").
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timer {
    /// Name for messages.
    pub name: String,
    /// Mode; one absolute event makes the timer absolute for all of them.
    pub mode: TimerMode,
    /// First use starts from t_zero + this delay (the owner's `delay`; shared timers: 0), ns.
    pub start_delay_ns: u64,
}

/// Events repeated as a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phase {
    /// Name for messages.
    pub name: String,
    /// Repetitions of the phase.
    pub loops: Loops,
    /// Affinity during the phase; None = the task's.
    pub cpus: Option<Vec<u32>>,
    /// Nice value from this phase on; None = unchanged.
    pub nice: Option<i8>,
    /// Steps, in order; at least one.
    pub events: Vec<Event>,
}

/// One thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskScript {
    /// Thread name (`TASK-INDEX`).
    pub name: String,
    /// Nice value, -20..=19.
    pub nice: i8,
    /// Policy.
    pub policy: FairPolicy,
    /// What sets it apart besides: policies above the fair class, I/O.
    pub attributes: Attributes,
    /// Affinity, ascending; None = all CPUs.
    pub cpus: Option<Vec<u32>>,
    /// A slice of its own, ns; None = the scheduler's. Kernels before 6.12 have no such thing.
    pub slice_ns: Option<u64>,
    /// The thread sleeps until t_zero + delay after it was created, ns.
    pub delay_ns: u64,
    /// Passes over all phases.
    pub loops: Loops,
    /// Phases, in order; at least one.
    pub phases: Vec<Phase>,
}

/// A task group (control group of the CPU controller), one level below the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskGroup {
    /// Name, unique in the workload.
    pub name: String,
    /// Its part of CPU time against the other groups and the tasks of none, `TaskGroup::SHARES`.
    pub shares: u32,
    /// Its threads, as indices into `Workload::tasks`; none is in two groups.
    pub tasks: Vec<u32>,
}

impl TaskGroup {
    /// What the kernel takes as `cpu.shares`.
    pub const SHARES: std::ops::RangeInclusive<u32> = 2..=262_144;
    /// Shares of a group that says nothing of them: as much as one task of nice 0.
    pub const DEFAULT_SHARES: u32 = 1024;
    /// Groups that one run can have.
    pub const MAX: usize = 64;
}

/// All threads of a run. They are created at time 0, in order, by one parent on CPU 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload {
    /// What the user asked for, as typed or the file's name.
    pub name: String,
    /// What `Run` times refer to.
    pub calibration: Calibration,
    /// Threads in order of creation; at least one.
    pub tasks: Vec<TaskScript>,
    /// Timers that `Event::Timer` indexes.
    pub timers: Vec<Timer>,
    /// Channels that `Event::Post` and `Event::Wait` index.
    pub channels: Vec<Channel>,
    /// Throughput is measured; None: the workload counts nothing.
    pub count: Option<Count>,
    /// Task groups; a thread that is in none of them belongs to the root.
    pub groups: Vec<TaskGroup>,
    /// Length the workload itself asks for (rt-app `global.duration`), ns.
    pub duration_ns: Option<u64>,
    /// Parsed but not modelled (only with `--allow-unmodelled`): `FILE:LINE:COL: event`.
    pub unmodelled: Vec<String>,
}
