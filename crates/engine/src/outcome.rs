//! How a run ended.

/// Why the run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The asked duration was over.
    Duration,
    /// All tasks had ended before.
    AllTasksExited,
    /// A task does nothing but zero-time steps for ever.
    ZeroTimeLoop {
        /// Its index in `Workload::tasks`.
        task: u32,
    },
    /// All tasks that had not ended wait for something that nobody will give.
    Deadlock {
        /// Task and channel, indices in `Workload::tasks` and `Workload::channels`, by task.
        waits: Vec<(u32, u32)>,
    },
}

/// What a workload that counts has got done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Throughput {
    /// Units counted after the warm-up.
    pub units: u64,
    /// Time from the end of the warm-up to the end of the run, ns; > 0.
    pub window_ns: u64,
}

/// What one task did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskTotals {
    /// Wall time it executed, ns.
    pub run_ns: u64,
    /// Time it was runnable but not executing, ns.
    pub wait_ns: u64,
    /// Activations that were completed (sleeps).
    pub activations: u64,
    /// Units it counted after the warm-up.
    pub counted: u64,
}

/// Facts of a finished run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunReport {
    /// Simulated end, ns.
    pub end_ns: u64,
    /// Why it ended.
    pub ended: Ended,
    /// Events handled.
    pub events: u64,
    /// Hash over all events and decisions: equal runs have equal hashes.
    pub event_hash: u64,
    /// The energy-aware rule was active, and with it the watch for overutilized CPUs.
    pub energy_active: bool,
    /// For workloads that count, if the run went on after their warm-up.
    pub throughput: Option<Throughput>,
    /// CPU time spent waiting for run queues' locks, ns; None: locks take no time.
    pub lock_wait_ns: Option<u64>,
    /// Tasks sent to a CPU that looked idle although another was on its way there; None: choices
    /// are seen at once.
    pub double_placements: Option<u64>,
    /// Per task.
    pub tasks: Vec<TaskTotals>,
    /// Placements per reason, in the order of the reason's number; zero counts left out.
    pub reasons: Vec<(wakeplace_policy_sys::Reason, u64)>,
}
