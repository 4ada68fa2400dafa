//! What a run tells its observers. Observers measure; they never change the run.
//!
//! All that happens is a [`Happening`]; views of the machine and of the core, which have no value
//! of their own, are shown beside. All times are simulated nanoseconds since the start of the run.
//! Calls come in time order; calls of one instant come in the order in which the simulated machine
//! did the things. Indices: `cpu` is the CPU number, `task` the thread's position in
//! `Workload::tasks` or, of forked ones, what follows after these in the order of creation;
//! `domain`, `cluster` and `state` the positions in the platform's `freq_domains`, `clusters` and
//! `idle_states`. Numbers and names stay: traces, meters and `BehaviourHash` read them
//! (docs/guide/traces.md).
//!
//! New methods have a default that does nothing, so that observers of other crates stay as they
//! are.
//!
//! What must stay: an observer changes no run; names and numbers (above), and a default for each
//! method. Free: what leaves recorded runs as they are (ARCHITECTURE.md, "What a change may
//! touch"). Tests by part: asym.rs::`watching_changes_nothing` and
//! states.rs::`looking_changes_nothing` (that watching changes nothing),
//! invariants.rs::`random_runs_obey_the_rules_1` (the order of calls: tests/common/checker.rs),
//! measures.rs::`passes_are_told` (`Iteration`), explain.rs::`it_is_the_decision_of_the_run`
//! (`Situation`, `Placement`), `what_happens_otherwise_is_in_it` (that what happens is told).
//! `sleeps` and `name` are read by metrics and results.
//!
//! Callers: mechanics/told.rs and mechanics/power.rs (`happened`), kernel/model/wake.rs
//! (`wants_situation`, `situation`), kernel/model/state.rs and kernel/tree/state.rs (`state`),
//! mechanics/told.rs (`next_state_ns`), sim.rs (`is_done`), kernel/model/sched_ext
//! (`wants_sched_ext`, `sched_ext`), kernel/tree (`decided`, `updated`, `wants_signals`),
//! happening.rs and kernel/tree (`wants_updated`, `nr_updated`, `take_nr_updated`,
//! `wants_decided`). The file both.rs passes each of them on to two.
//!
//! Tests: crates/engine/tests/behaviour/invariants.rs,
//! crates/engine/tests/behaviour/same_behaviour.rs, crates/engine/tests/behaviour/measures.rs,
//! crates/engine/tests/behaviour/explain.rs

use crate::state::StateView;
use serde::{Deserialize, Serialize};
use wakeplace_kernel_abi::{Decided, Updated};
pub use wakeplace_policy_sys::WakeupCase;
use wakeplace_policy_sys::{ClassTask, Core, MachineFacts, Reason, Request, Task};
pub use wakeplace_sched_ext::class::Step as SchedExtStep;

/// What a CPU does from now on, as far as power is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CpuPower {
    /// Executes a task or kernel work.
    Busy,
    /// Enters or leaves idle state `state`: executes nothing, but is not in it.
    Transition {
        /// Index into the platform's idle states.
        state: u16,
    },
    /// In idle state `state`.
    Idle {
        /// Index into the platform's idle states.
        state: u16,
    },
}

/// Kernel work on a CPU that no event of a task or its tick shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum KernelWork {
    /// The tick of an idle CPU.
    IdleTick,
    /// The timer that ends a slice between ticks.
    SliceEnd,
    /// A look at balancing on behalf of idle CPUs.
    Balance,
}

/// Why a task moved to another CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MigrateCause {
    /// Placed on another CPU at wake-up.
    Wake,
    /// Pulled by periodic or nohz balancing.
    Balance,
    /// Pulled by a CPU about to go idle.
    NewIdle,
    /// Pushed while running (active balance).
    Active,
    /// Its allowed CPUs changed.
    Affinity,
    /// Placed on another CPU as it runs another program.
    Exec,
    /// Its CPU left the machine.
    Hotplug,
    /// A sched_ext scheduler dispatched it to another CPU, or a CPU took it from a queue.
    Dispatch,
}

/// As what a task stops executing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stop {
    /// It goes on later: another one took its place, its time was up, or the run is over.
    Preempted,
    /// It goes on later: it let others go first.
    Yields,
    /// It waits for a time or for another task.
    Sleeps,
    /// It waits for a device.
    Waits,
    /// It ends.
    Exits,
}

impl Stop {
    /// It blocks or ends.
    #[must_use]
    pub fn sleeps(self) -> bool {
        !matches!(self, Self::Preempted | Self::Yields)
    }
}

/// A sleeping task is woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waking {
    /// The sleeper.
    pub task: u32,
    /// The task that wakes it; None: an interrupt, its sleep is over.
    pub waker: Option<u32>,
    /// CPU on which that happens.
    pub cpu: u32,
    /// The waker says that it will sleep soon.
    pub sync: bool,
}

/// Why a CPU was chosen for a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PlacementKind {
    /// A sleeping task woke.
    Wake,
    /// A new task.
    Fork,
    /// A task that runs another program.
    Exec,
}

impl PlacementKind {
    /// As results have it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Wake => "wake",
            Self::Fork => "fork",
            Self::Exec => "exec",
        }
    }
}

/// A finished placement decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    /// Wake-up or fork.
    pub kind: PlacementKind,
    /// The task placed.
    pub task: u32,
    /// The task that woke it; None = a timer interrupt on an idle CPU.
    pub waker: Option<u32>,
    /// CPU on which the decision was taken.
    pub waker_cpu: u32,
    /// CPU the task ran on before (for forks: the parent's).
    pub prev_cpu: u32,
    /// CPU chosen.
    pub cpu: u32,
    /// The rule's outcome, from the policy core.
    pub reason: Reason,
    /// The task's utilisation as the rule saw it.
    pub util: u32,
    /// How long the task runs between two sleeps, on average, ns; 0: not known, or not measured
    /// under this policy.
    pub dur_avg_ns: u64,
}

/// All that the next decision depends on, before it falls.
#[derive(Clone, Copy, Debug)]
pub struct Situation<'a> {
    /// The core with its state.
    pub core: &'a Core,
    /// The machine as that core was told of it.
    pub facts: &'a MachineFacts,
    /// The core's records of all threads, by the request's numbers.
    pub tasks: &'a [Task],
    /// Which of them is to be placed.
    pub index: usize,
    /// Its record if it is above the fair class.
    pub class: Option<&'a ClassTask>,
    /// The question.
    pub ask: &'a Request,
    /// What each CPU does.
    pub power: &'a [Option<CpuPower>],
    /// How many threads follow those of the scripts that nobody sees.
    pub hidden: usize,
}

/// One pass over the steps of a phase, as rt-app logs it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Iteration {
    /// Index into the script's phases.
    pub phase: u32,
    /// When it began, ns.
    pub start_ns: u64,
    /// Wall time inside `Run`, `Runtime` and `Stall` steps, ns.
    pub run_ns: u64,
    /// Work of its `Run` steps as the script has it, ns on the calibration CPU.
    pub work_ns: u64,
    /// Slack at its last timer step, ns; 0: none.
    pub slack_ns: i64,
    /// Sum of the slack at all its timer steps, ns.
    pub slack_sum_ns: i64,
    /// Time from expiry to running again, all its timer steps that slept, ns.
    pub wake_latency_ns: u64,
}

/// Watches a run. All methods do nothing unless implemented.
#[allow(unused_variables)]
pub trait Observer {
    /// Something happened.
    fn happened(&mut self, time_ns: u64, what: &Happening) {}
    /// Is the decision that is about to fall to be shown as a `Situation`?
    fn wants_situation(&self) -> bool {
        false
    }
    /// The next placement will be the answer to this.
    fn situation(&mut self, time_ns: u64, situation: &Situation<'_>) {}
    /// A tree's own code has chosen a CPU for a task, which is told next: with all that it found,
    /// if the observer wants situations.
    fn decided(&mut self, time_ns: u64, decided: &Decided) {}
    /// Is each update of a tree's signals to be told?
    fn wants_signals(&self) -> bool {
        false
    }
    /// A tree has brought a signal up to date.
    fn updated(&mut self, time_ns: u64, updated: &Updated) {}
    /// In the process of a tree's run: is the update that was told last to be told to the observer
    /// itself?
    fn wants_updated(&self) -> bool {
        false
    }
    /// In the process of a tree's run: how many updates there have been of each kind.
    fn nr_updated(&self) -> Option<&[u64]> {
        None
    }
    /// There have been so many in the process of the tree's run, up to the placement or end that is
    /// told next.
    fn take_nr_updated(&mut self, counts: &[u64]) {}
    /// In the process of a tree's run, where a copy of the observer sees all: is what the tree had
    /// to be told to the observer itself? Asked when the placement was told.
    fn wants_decided(&self) -> bool {
        self.is_done()
    }
    /// When it next wants to see the state of everything, ns; None: no more. Asked at the start and
    /// after each state.
    fn next_state_ns(&self) -> Option<u64> {
        None
    }
    /// The state at the time asked for. The next one asked for must be later.
    fn state(&mut self, state: &StateView<'_>) {}
    /// It has seen enough: the run ends here.
    fn is_done(&self) -> bool {
        false
    }
    /// Does it want to hear what the callbacks of a sched_ext scheduler do?
    fn wants_sched_ext(&self) -> bool {
        false
    }
    /// One step of a callback; those of one event come at its end. Threads that observers do not
    /// see have numbers from `u32::MAX` downwards.
    fn sched_ext(&mut self, time_ns: u64, step: &SchedExtStep) {}
}

pub use crate::both::Both;
pub use crate::happening::Happening;

/// Watches nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoObserver;
impl Observer for NoObserver {}
