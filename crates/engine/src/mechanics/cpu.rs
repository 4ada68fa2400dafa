//! What the mechanics keep of each CPU and cluster. The kernel above has its own record of a CPU;
//! neither reads the other's (ARCHITECTURE.md, "The engine's two halves").
//!
//! What must stay: a CPU begins idle. Times are ns; positions of idle states are the CPU's own
//! list, not the platform's. Free: what leaves recorded runs as they are (ARCHITECTURE.md, "What a
//! change may touch"). Tests by part: `random_runs_obey_the_rules_1` (`Mode`, `Cpu`),
//! idle.rs::`no_driver_does_not_poll` (`idle`), ondemand.rs::`light_load_goes_down_step_by_step`
//! (`idle_ns`), nodes.rs::`a_thread_speeds_up_when_its_sibling_stops` (`executes`),
//! idle.rs::`only_the_last_pays_for_the_cluster` (`ClusterState`).
//!
//! Callers: mod.rs (`idle`), work.rs (`executes`), autonomous.rs and kernel/model/ondemand.rs
//! (`idle_ns`).
//!
//! Tests: crates/engine/tests/behaviour/invariants.rs, crates/engine/tests/behaviour/idle.rs,
//! crates/engine/tests/behaviour/ondemand.rs, crates/engine/tests/behaviour/nodes.rs

use crate::ids::TaskId;
use crate::machine::CpuIdleState;
use crate::observe::{CpuPower, Stop};

/// What a CPU does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum Mode {
    /// In an idle state or entering it.
    #[default]
    Idle,
    /// On its way out of the idle state: an `Awake` event is pending.
    Waking,
    /// Awake without a task: interrupt work, then back to idle.
    Interrupted,
    /// Executes a task.
    Running,
}

/// One CPU.
#[derive(Debug, Default)]
pub(super) struct Cpu {
    pub(super) mode: Mode,
    /// The task that it executes.
    pub(super) current: Option<TaskId>,
    /// Work units per ns now.
    pub(super) speed: u64,
    /// Until when the running task's work is accounted; ahead of the clock in a device's interrupt.
    pub(super) accounted_ns: u64,
    /// When the running task began this stretch.
    pub(super) stretch_start_ns: u64,
    /// What devices took of that stretch.
    pub(super) stolen_ns: u64,
    /// Devices' interrupts keep the CPU until then.
    pub(super) irq_until_ns: u64,
    /// When the running task's step ends.
    pub(super) end_ns: u64,
    /// Outdates scheduled `IdleAgain` and `IdleEntered` events.
    pub(super) generation: u32,
    /// An inter-processor interrupt is on its way to it.
    pub(super) interrupt_pending: bool,
    /// It stalls on a cache line: the other threads of its core have the core meanwhile.
    pub(super) stalls: bool,
    /// It is in the middle of a path of the kernel, which takes time: no task gets on.
    pub(super) in_path: bool,
    /// Waiting not yet begun, on behalf of no task, ns.
    pub(super) kernel_wait_ns: u64,
    /// The running task is about to leave by itself.
    pub(super) leaves_as: Option<Stop>,
    /// Kernel work not yet begun, on behalf of no task, work units.
    pub(super) kernel_work: u64,
    /// Without a task: until when the CPU does kernel work.
    pub(super) kernel_until_ns: u64,
    /// Position of the idle state among the CPU's states.
    pub(super) idle_state: usize,
    pub(super) idle_since_ns: u64,
    /// Time spent idle before that.
    pub(super) idle_total_ns: u64,
    /// Entry into the state ends here.
    pub(super) entered_ns: u64,
    /// As last announced.
    pub(super) power: Option<CpuPower>,
    /// Counted among those of its cluster that ask for a cluster state.
    pub(super) votes_cluster: bool,
}

impl Cpu {
    /// A CPU before the run: it idles, in its first state that does not poll.
    pub(super) fn idle(states: &[CpuIdleState]) -> Self {
        Self {
            idle_state: CpuIdleState::first_halt(states),
            ..Self::default()
        }
    }

    /// It executes a task or kernel work, and does not just stall on a cache line.
    pub(super) fn executes(&self) -> bool {
        matches!(self.mode, Mode::Running | Mode::Interrupted) && !self.stalls
    }

    /// How long it has been idle in all, its ways into and out of idle states included.
    pub(super) fn idle_ns(&self, now_ns: u64) -> u64 {
        let idles = matches!(self.mode, Mode::Idle | Mode::Waking);
        self.idle_total_ns
            + if idles {
                now_ns - self.idle_since_ns
            } else {
                0
            }
    }
}

/// One cluster.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ClusterState {
    /// CPUs that have asked for a cluster idle state and have not left it.
    pub(super) asking: u32,
    /// The idle state that it is in; None: it is up.
    pub(super) state: Option<u16>,
}
