//! What a run tells its observers. Observers measure; they never change the run.
//!
//! All times are simulated nanoseconds since the start of the run. Calls come in time order; calls
//! of one instant come in the order in which the simulated machine did the things. Indices: `cpu`
//! is the CPU number, `task` the thread's position in `Workload::tasks`, `domain`, `cluster` and
//! `state` the positions in the platform's `freq_domains`, `clusters` and `idle_states`.

use wakeplace_policy_sys::Reason;

/// What a CPU does from now on, as far as power is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// Why a task moved to another CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// Its CPU left the machine.
    Hotplug,
}

/// Why a CPU was chosen for a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlacementKind {
    /// A sleeping task woke.
    Wake,
    /// A new task.
    Fork,
}

/// A finished placement decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
}

/// Watches a run. All methods do nothing unless implemented.
#[allow(unused_variables)]
pub trait Observer {
    /// A CPU changed what it draws power for. At time 0 each CPU is announced once.
    fn cpu_power(&mut self, time_ns: u64, cpu: u32, power: CpuPower) {}
    /// A cluster entered a cluster idle state (`Some(state)`) or is powered (`None`). Announced at
    /// 0.
    fn cluster_power(&mut self, time_ns: u64, cluster: u32, state: Option<u16>) {}
    /// A frequency domain runs at operating point `opp` from now on. Announced at 0.
    fn frequency(&mut self, time_ns: u64, domain: u32, opp: u16) {}
    /// A CPU was chosen for a task.
    fn placement(&mut self, time_ns: u64, placement: &Placement) {}
    /// A task became runnable because its sleep ended (`due_ns`: when it wanted to wake).
    fn wakeup(&mut self, time_ns: u64, task: u32, cpu: u32, due_ns: u64) {}
    /// A task begins or continues to execute. `wake_latency_ns` is the time since it was due, on
    /// the first run after a wake-up only.
    fn run_start(&mut self, time_ns: u64, cpu: u32, task: u32, wake_latency_ns: Option<u64>) {}
    /// A task stops executing; `ran_ns` is the wall time since `run_start`. `sleeps`: it blocks or
    /// ends.
    fn run_stop(&mut self, time_ns: u64, cpu: u32, task: u32, ran_ns: u64, sleeps: bool) {}
    /// A task changed its CPU.
    fn migrate(
        &mut self,
        time_ns: u64,
        task: u32,
        from_cpu: u32,
        to_cpu: u32,
        cause: MigrateCause,
    ) {
    }
    /// A task reached a timer event: `slack_ns` = next expiry - now (negative: late, a missed
    /// period).
    fn timer_slack(&mut self, time_ns: u64, task: u32, slack_ns: i64) {}
    /// A task ended.
    fn task_exit(&mut self, time_ns: u64, task: u32) {}
    /// The root domain's overutilized flag changed.
    fn overutilized(&mut self, time_ns: u64, on: bool) {}
    /// A CPU left the machine or (`online`) came back.
    fn hotplug(&mut self, time_ns: u64, cpu: u32, online: bool) {}
    /// The run is over; nothing follows.
    fn finish(&mut self, time_ns: u64) {}
}

/// Watches nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoObserver;
impl Observer for NoObserver {}
