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
    /// Per task.
    pub tasks: Vec<TaskTotals>,
    /// Placements per reason, in the order of the reason's number; zero counts left out.
    pub reasons: Vec<(wakeplace_policy_sys::Reason, u64)>,
}
