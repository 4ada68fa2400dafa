//! How a run ended.
//!
//! Tasks have numbers: position in `Workload::tasks`, and after these the forked ones in the order
//! in which they are made.
//!
//! What must stay: fields go into results (docs/result.schema.json); variants of `Ended` keep their
//! places, as runs in other processes send them; times are ns. Free: what leaves recorded runs as
//! they are (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `it_ends_with_the_last_task`, `it_ends_after_the_duration` and `zero_time_loops_name_the_task`
//! (`Ended`), sync.rs::`each_kind_of_deadlock_is_named` (`WaitsFor`),
//! forking.rs::`too_many_threads_are_an_outcome` (`ForkLimit`),
//! forking.rs::`threads_are_made_named_and_counted` (`ThreadName`, `TaskTotals`),
//! fair.rs::`three_hogs_share_equally` (`longest_wait_ns`),
//! channels.rs::`nothing_is_counted_within_the_warm_up` (`Counted`),
//! bandwidth.rs::`a_task_without_end_gets_its_quota` (`GroupTotals`).
//!
//! Tests: crates/engine/tests/behaviour/outcomes.rs,
//! crates/engine/tests/behaviour/sync.rs::each_kind_of_deadlock_is_named,
//! crates/engine/tests/behaviour/forking.rs,
//! crates/engine/tests/behaviour/fair.rs::three_hogs_share_equally,
//! crates/engine/tests/behaviour/channels.rs::nothing_is_counted_within_the_warm_up,
//! crates/engine/tests/behaviour/bandwidth.rs::a_task_without_end_gets_its_quota

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use wakeplace_kernel_abi::LineCost;
use wakeplace_sched_ext::{Callback, Exit};

/// Why the run ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ended {
    /// The asked duration was over.
    #[default]
    Duration,
    /// All tasks had ended before.
    AllTasksExited,
    /// A task does nothing but zero-time steps for ever.
    ZeroTimeLoop {
        /// Its number.
        task: u32,
    },
    /// All tasks that had not ended wait for something that nobody will give.
    Deadlock {
        /// Who waits for what, by task.
        waits: Vec<Waiting>,
    },
    /// A tree's own kernel failed.
    Kernel {
        /// In its words, and where.
        said: String,
    },
    /// A task was to make one thread more than its script, or a run, may have.
    ForkLimit {
        /// Number of the task that forks.
        task: u32,
        /// The script of which it forks, index in `Workload::tasks`.
        script: u32,
        /// The most that there can be.
        limit: u64,
    },
    /// The sched_ext scheduler ended, of an error or by itself.
    // Variants that are not sent come last: the others keep their numbers.
    #[serde(skip)]
    Scheduler {
        /// Why.
        exit: Exit,
    },
}

/// A task that sleeps until another wakes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// Its number.
    pub task: u32,
    /// What it needs.
    pub waits: WaitsFor,
}

/// What a task sleeps for, if not for time; indices into `Workload::shared`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WaitsFor {
    /// A unit of a channel.
    Unit {
        /// Of `Shared::channels`.
        channel: u32,
    },
    /// Room in a channel for the unit in its hands.
    Room {
        /// Of `Shared::channels`.
        channel: u32,
    },
    /// A mutex.
    Mutex {
        /// Of `Shared::mutexes`.
        mutex: u32,
        /// The task that holds it; None: nobody.
        holder: Option<u32>,
    },
    /// A signal of a condition.
    Condition {
        /// Of `Shared::conditions`.
        condition: u32,
    },
    /// The other parties of a barrier.
    Barrier {
        /// Of `Shared::barriers`.
        barrier: u32,
        /// So many are there, itself included.
        came: u64,
        /// So many must be.
        parties: u64,
    },
}

/// What a workload that counts has got done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// Units counted after the warm-up.
    pub units: u64,
    /// Time from the end of the warm-up to the end of the run, ns; > 0.
    pub window_ns: u64,
}

/// Whose thread a task is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadName {
    /// Its script, index in `Workload::tasks`.
    pub script: u32,
    /// Its name; of a forked one `NAME-NNNN`.
    pub name: String,
}

/// What one task did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskTotals {
    /// Wall time it executed, ns.
    pub run_ns: u64,
    /// Time it was runnable but not executing, ns.
    pub wait_ns: u64,
    /// The longest such time at a stretch, ns.
    pub longest_wait_ns: u64,
    /// Activations that were completed (sleeps).
    pub activations: u64,
    /// Units it counted after the warm-up.
    pub counted: u64,
    /// Work of its steps that is done, ns of the machine's fastest CPU at its highest clock.
    pub work_ns: u64,
}

/// What a task group with a quota has used of it: as its `cpu.stat`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupTotals {
    /// Its name.
    pub name: String,
    /// Periods that ended while the group was active.
    pub nr_periods: u64,
    /// ... at whose end it was throttled on some CPU.
    pub nr_throttled: u64,
    /// How long it was throttled, ns, the sum of all CPUs.
    pub throttled_ns: u64,
    /// Periods in which it ran more than its quota, of what it had kept.
    pub nr_bursts: u64,
    /// How much more, ns.
    pub burst_ns: u64,
}

/// Events of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventCount {
    /// What they are.
    pub kind: Cow<'static, str>,
    /// How many were handled.
    pub events: u64,
    /// ... of which so many found nothing to do: what they were queued for had changed.
    pub idle: u64,
}

/// What a kernel counts of its own doings, on all CPUs of a run, from its begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelCounts {
    /// Context switches.
    pub switches: u64,
    /// ... of these, to threads of the kernel.
    pub kthread_switches: u64,
    /// Interrupts of timers, ticks among them.
    pub timer_interrupts: u64,
    /// Runs of the softirq that balances.
    pub balance_passes: u64,
}

/// One callback of a sched_ext scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallbackTotals {
    /// Which.
    pub callback: Callback,
    /// How often it ran.
    pub calls: u64,
    /// kfuncs that it called.
    pub kfuncs: u64,
    /// What that cost CPUs, ns on the biggest one at its highest frequency.
    pub time_ns: u64,
}

/// What a sched_ext scheduler did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchedExtReport {
    /// Its name.
    pub name: String,
    /// Its callbacks, those that ran.
    pub callbacks: Vec<CallbackTotals>,
    /// Assumed cost of a callback, ns on the biggest CPU (`model.scx_callback_ns`).
    pub callback_ns: u64,
    /// ... and of a kfunc (`model.scx_kfunc_ns`).
    pub kfunc_ns: u64,
    /// The task that has waited longest at the end of the run.
    pub longest_wait: Option<LongestWait>,
}

/// A task that can run and does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LongestWait {
    /// Its number; None: a thread that observers do not see.
    pub task: Option<u32>,
    /// For how long, ns.
    pub waits_ns: u64,
    /// Where it is.
    pub place: String,
}

/// What cache lines have cost.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinesTold {
    /// So many lines were asked for.
    pub most: usize,
    /// What each field has cost by each function, the most expensive first: of all lines.
    pub uses: Vec<LineCost>,
}

/// Facts of a finished run. By default: one of no length, in which nothing happened.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunReport {
    /// Simulated end, ns.
    pub end_ns: u64,
    /// When all tasks of the start were there and began, ns; None: the run ended before.
    pub start_ns: Option<u64>,
    /// Why it ended.
    pub ended: Ended,
    /// Events handled.
    pub events: u64,
    /// The same by kind.
    pub events_by_kind: Vec<EventCount>,
    /// What a tree's kernel counted of its own doings; None: our model ran.
    pub kernel_counts: Option<KernelCounts>,
    /// What cache lines have cost in a tree's kernel; None: that was not asked for.
    pub lines: Option<LinesTold>,
    /// Hash over all events and decisions: equal runs have equal hashes. `BehaviourHash` is one
    /// over what happened.
    pub event_hash: u64,
    /// The energy-aware rule was active, and with it the watch for overutilized CPUs.
    pub energy_active: bool,
    /// For workloads that count, if the run went on after their warm-up.
    pub counted: Option<Counted>,
    /// CPU time spent waiting for run queues' locks, ns; None: locks take no time.
    pub lock_wait_ns: Option<u64>,
    /// CPU time spent waiting for the cache lines of task groups' loads, ns; None: there are no
    /// groups, or lines take no time.
    pub line_wait_ns: Option<u64>,
    /// Tasks sent to a CPU that looked idle although another was on its way there; None: choices
    /// are seen at once.
    pub double_placements: Option<u64>,
    /// Per task: first one for each script, in the order of `Workload::tasks` (scripts that are
    /// there to be forked only have done nothing), then the forked ones in the order of creation.
    pub tasks: Vec<TaskTotals>,
    /// Whose thread each of them is.
    pub threads: Vec<ThreadName>,
    /// What the sched_ext scheduler did, if there was one.
    #[serde(skip)]
    pub sched_ext: Option<SchedExtReport>,
    /// Task groups with a quota, in the order of the workload.
    pub groups: Vec<GroupTotals>,
    /// Placements per reason, in the order of the reason's number; zero counts left out.
    pub reasons: Vec<(wakeplace_policy_sys::Reason, u64)>,
}
