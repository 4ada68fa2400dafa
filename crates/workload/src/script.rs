//! What tasks do, fully expanded: one entry per thread, no more names to look up.
//!
//! This is all the engine knows of a workload. `Spec::expand` (crate root) makes it from an rt-app
//! file or a model and a seed. A new kind of step is one for the engine
//! (`mechanics/script/steps.rs`), for the player of the tests and for readers of recordings
//! (docs/guide/rt-app.md, "Events").
//!
//! Order of scripts is the order of creation; forked ones stand behind. Indices of channels,
//! mutexes and others are those of `Workload`'s lists. Times are ns; work is ns on a CPU of
//! capacity 1024 at its highest clock.
//!
//! What must stay: order of scripts and indices of lists, as the engine, traces and metrics number
//! by them; `comes_to_an_end` is what `shell` takes programs by. Free: what leaves scripts as they
//! are (ARCHITECTURE.md, "What a change may touch"), and words of messages that no test quotes.
//! Tests by part: `accepted_files_expand_to_their_scripts` (order and indices),
//! `random_steps_obey_the_rules` and `random_steps_with_groups_obey_the_rules` (every step in the
//! engine), `a_program_without_a_limit_does_not_end` (`comes_to_an_end`),
//! shell.rs::`a_loop_is_as_many_forks_of_one_shell` (forked scripts),
//! structure.rs::`roles_are_names_without_numbers` (`task_of_thread`). No test of its own:
//! `nr_processes`. `new`: all; `of_group`: crates/engine/tests/behaviour/groups.rs.
//!
//! Callers: crates/engine/src/kernel/model/processes.rs (`nr_processes`),
//! crates/fidelity/src/programs/model.rs (`task_of_thread`),
//! crates/fidelity/src/programs/structure.rs (`task_of_thread`), deadline.rs (`task_of_thread`),
//! models/adopt.rs (`nr_processes`).
//!
//! Tests: crates/workload/tests/all/rtapp_scripts.rs, crates/engine/tests/behaviour/storm.rs,
//! crates/workload/tests/all/shell.rs, crates/fidelity/src/programs/structure.rs

mod event;
mod group;
mod judged;
mod measure;
mod shared;

pub use event::{Event, Pick, SLEEPS_ON_NS, Since, TimerMode};
pub use group::{Bandwidth, GroupLimits, TaskGroup};
pub use judged::{FrameFigures, JudgedFrame};
pub use measure::{
    Chain, Count, Figure, FigureOf, RecordedFrames, Series, Statistic, SysbenchBins, TimeUnit,
};
pub use shared::{Barrier, Channel, Condition, Counter, Limit, Mutex, Shared, SharedSet, Timer};

use crate::realtime::{Attributes, RealTime};

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

impl FairPolicy {
    /// What a group counts as beside tasks; `idle`: its `cpu.idle`.
    #[must_use]
    pub fn of_group(idle: bool) -> Self {
        if idle { Self::Idle } else { Self::Other }
    }
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
    /// What changes with this phase and stays so.
    pub change: Change,
    /// Nodes whose memory `Event::Stall` waits for, ascending; None = that of the CPU it runs on.
    pub memory_nodes: Option<Vec<u32>>,
    /// Steps, in order; at least one.
    pub events: Vec<Event>,
}

/// Scheduling attributes that a phase sets; None = unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// Policy; a change out of RT or deadline to the fair class is one too.
    pub policy: Option<PolicyChange>,
    /// Nice value.
    pub nice: Option<i8>,
    /// Custom slice of the fair class, ns; 0: the scheduler's own again.
    pub slice_ns: Option<u64>,
    /// Performance hints, 0..=1024.
    pub uclamp_min: Option<u16>,
    /// The same, upper.
    pub uclamp_max: Option<u16>,
    /// Task group, index into `Workload::groups`; inner None: the root.
    pub group: Option<Option<u32>>,
}

/// A policy that a task changes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyChange {
    /// One of the fair class.
    Fair(FairPolicy),
    /// One above it.
    RealTime(RealTime),
}

/// Where a thread's time begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Zero {
    /// When all threads of the start are there.
    #[default]
    AllStarted,
    /// When the thread itself was created.
    OwnStart,
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
    /// Performance hints, 0..=1024; None: 0 and 1024. Kernels before 5.3 have no such thing.
    pub uclamp_min: Option<u16>,
    /// The same, upper.
    pub uclamp_max: Option<u16>,
    /// Not there at the start: `Event::Fork` makes at most so many threads of it, named `NAME-NNNN`
    /// by their count from 0. None: there at the start, once.
    pub forks: Option<u64>,
    /// What `delay_ns` and `Event::ExitAfter` count from.
    pub zero: Zero,
    /// Index into `Workload::channels`: the thread gives it a unit when it ends. Its parent waits
    /// for that (wait4, pthread_join), and is woken with the hint that the waker will sleep.
    pub ended: Option<u32>,
    /// The thread sleeps until so long after `zero` (see `StartLine`), ns.
    pub delay_ns: u64,
    /// Passes over all phases.
    pub loops: Loops,
    /// So many phases at the beginning belong to the first pass only; fewer than there are.
    pub once: u32,
    /// Phases, in order; at least one.
    pub phases: Vec<Phase>,
}

impl TaskScript {
    /// An ordinary task of the fair class, on any CPU, that is there at the start.
    #[must_use]
    pub fn new(name: impl Into<String>, loops: Loops, phases: Vec<Phase>) -> Self {
        Self {
            name: name.into(),
            nice: 0,
            policy: FairPolicy::Other,
            attributes: Attributes::default(),
            cpus: None,
            slice_ns: None,
            uclamp_min: None,
            uclamp_max: None,
            forks: None,
            zero: Zero::AllStarted,
            ended: None,
            delay_ns: 0,
            loops,
            once: 0,
            phases,
        }
    }

    /// It ends by itself, if nobody keeps it waiting: its loops are counted, or a step ends it.
    /// `counters` are those of its workload: a claim ends a thread where they have a limit.
    #[must_use]
    pub fn comes_to_an_end(&self, counters: &[Counter]) -> bool {
        let counted = |loops: Loops| matches!(loops, Loops::Times(_));
        let limited = |counter: u32| {
            let counter = counters.get(counter as usize);
            counter.is_some_and(|counter| counter.limit.is_some())
        };
        let ends = |event: &Event| match *event {
            Event::ExitAfter { .. } => true,
            Event::Claim { counter } => limited(counter),
            _ => false,
        };
        let mut events = self.phases.iter().flat_map(|phase| &phase.events);
        counted(self.loops) && self.phases.iter().all(|phase| counted(phase.loops))
            || events.any(ends)
    }
}

impl Workload {
    /// Processes with several threads: their numbers are below this.
    #[must_use]
    pub fn nr_processes(&self) -> u32 {
        let numbers = self.tasks.iter().filter_map(|task| task.attributes.process);
        numbers.max().map_or(0, |last| last + 1)
    }

    /// All its tasks end by themselves.
    #[must_use]
    pub fn comes_to_an_end(&self) -> bool {
        let ends = |task: &TaskScript| task.comes_to_an_end(&self.shared.counters);
        self.tasks.iter().all(ends)
    }
}

/// Who lets the threads of a program begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StartLine {
    /// Nobody: each has a timer, armed when the last one has been created.
    #[default]
    Timers,
    /// The last of them to arrive at a barrier (rt-app, sysbench). Time zero is when the first
    /// thread arrives, as in rt-app.
    Barrier,
    /// The thread that created them, when all have told it that they are ready.
    Creator {
        /// It says that it will sleep soon.
        sync: bool,
    },
    /// Nobody: each goes on as soon as it has been created.
    Each,
}

/// How the threads of a run come into being.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// The program begins then, ns.
    pub at_ns: u64,
    /// What its threads wait for before they begin.
    pub line: StartLine,
}

/// A thread's name without the numbers behind it: `worker-3` is a worker.
#[must_use]
pub fn task_of_thread(name: &str) -> &str {
    let is_number = |tail: &str| !tail.is_empty() && tail.bytes().all(|byte| byte.is_ascii_digit());
    match name.rsplit_once('-') {
        Some((task, number)) if !task.is_empty() && is_number(number) => task_of_thread(task),
        _ => name,
    }
}

/// All threads of a run. They are created in order by one parent, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload {
    /// What the user asked for, as typed or the file's name.
    pub name: String,
    /// What `Run` times refer to.
    pub calibration: Calibration,
    /// Threads in order of creation; at least one.
    pub tasks: Vec<TaskScript>,
    /// How they come into being.
    pub start: Start,
    /// Timers that `Event::Timer` indexes.
    pub timers: Vec<Timer>,
    /// What tasks share.
    pub shared: Shared,
    /// What is measured by times; may be empty.
    pub series: Vec<Series>,
    /// Chains with deadlines; may be empty.
    pub chains: Vec<Chain>,
    /// What a kernel draws for groups with a quota comes from this; 0: there is none.
    pub seed: u64,
    /// It is a recording: its timers stand for ends of sleeps and are no periods, and what first
    /// wakes a task that is there from the start was not recorded, so that it is no latency.
    pub no_periods: bool,
    /// What is measured by counting; None: nothing.
    pub count: Option<Count>,
    /// Task groups; a thread that is in none of them belongs to the root.
    pub groups: Vec<TaskGroup>,
    /// Length the workload itself asks for (rt-app `global.duration`), ns.
    pub duration_ns: Option<u64>,
    /// As long as it runs, only idle states with at most this exit latency, us (it holds
    /// `/dev/cpu_dma_latency`, as cyclictest does); None: all.
    pub cpu_dma_latency_us: Option<u32>,
    /// When its sleeps end is when its tasks were seen to run: of a recording without wake-ups.
    /// Since when they were due is not known, so latency, slack and periods are not measured.
    pub wakeups_unknown: bool,
    /// How long the tasks of a recording ran on CPUs there, ns; None: it is none, or of another
    /// machine than it is run on.
    pub recorded_run_ns: Option<u64>,
    /// Parsed but not modelled (only with `--allow-unmodelled`): `FILE:LINE:COL: event`.
    pub unmodelled: Vec<String>,
}
