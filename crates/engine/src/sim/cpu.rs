//! What the engine keeps of each CPU and cluster.

use super::wake_latency::QueueLock;
use crate::ids::{CpuId, TaskId};
use crate::menu::Menu;
use crate::observe::{CpuPower, Stop};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use wakeplace_kernel_queues::ClassQueue;

/// What a CPU does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum Mode {
    /// In an idle state or entering it.
    #[default]
    Idle,
    /// On its way out of the idle state: an `Awake` event is pending.
    Waking,
    /// Awake without a task: interrupt work, then back to idle.
    Interrupted,
    /// Executes `Cpu::current`.
    Running,
}

/// Something that waits for a CPU to take its interrupts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Message {
    /// A sleep of this task ended on this CPU's timer.
    Timer(TaskId),
    /// A task was placed here by a CPU of another cache: queue it.
    Enqueue(TaskId),
    /// Look at the queue again.
    Reschedule,
    /// A task was queued here that displaces the running one.
    Preempt,
    /// Balance for all idle CPUs.
    NohzBalance,
    /// Decay the signals of all idle CPUs.
    NohzStats,
    /// Push the running task to another CPU (`level` of that CPU's domains).
    Push { to: CpuId, level: u32 },
    /// The tick, kept running in idle.
    Tick,
    /// The live scheduler's timer for idle CPUs.
    IdleTimer,
    /// This CPU has just come back: look for work.
    Arrived,
    /// A device, whose interrupt takes this long.
    Device { run_ns: u64 },
    /// A timer of the sched_ext scheduler's.
    SchedExtTimer(u32),
}

/// One CPU.
#[derive(Debug, Default)]
pub(super) struct Cpu {
    pub(super) mode: Mode,
    pub(super) current: Option<TaskId>,
    /// RT and deadline tasks, which go first.
    pub(super) classes: ClassQueue,
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
    /// When its budget is empty (deadline tasks).
    pub(super) budget_end_ns: u64,
    /// The nearest `SliceEnd` event queued; `u64::MAX`: none.
    pub(super) slice_end_armed_ns: u64,
    /// Outdates scheduled `IdleAgain` and `IdleEntered` events.
    pub(super) generation: u32,
    pub(super) inbox: Vec<Message>,
    pub(super) interrupt_pending: bool,
    pub(super) lock: QueueLock,
    /// It stalls on a cache line: the other threads of its core have the core meanwhile.
    pub(super) stalls: bool,
    /// It waits for one without a task to run ...
    pub(super) spins: bool,
    /// ... until then.
    pub(super) spin_until_ns: u64,
    /// Waiting not yet begun, on behalf of no task, ns.
    pub(super) kernel_wait_ns: u64,
    /// Tasks on their way here that nobody sees yet.
    pub(super) unseen: u32,
    /// Live queues: a periodic pass is due at the next look at the queue.
    pub(super) balance_wanted: bool,
    /// This task, just off the CPU for a change of its attributes, is no other if it goes on.
    pub(super) changed: Option<TaskId>,
    /// The running task is about to leave by itself.
    pub(super) leaves_as: Option<Stop>,
    /// Pick anew at the end of the interrupt.
    pub(super) reschedule: bool,
    /// Kernel work not yet begun, on behalf of no task, work units.
    pub(super) kernel_work: u64,
    /// Without a task: until when the CPU does kernel work.
    pub(super) kernel_until_ns: u64,
    pub(super) tick_armed: bool,
    /// Idle without a tick.
    pub(super) tick_stopped: bool,
    /// It idles, and its tick has ended its last sleep.
    pub(super) got_tick: bool,
    /// Pending timers of tasks that went to sleep here; expired ones are dropped when seen.
    pub(super) timers: BinaryHeap<Reverse<u64>>,
    pub(super) menu: Menu,
    /// Position of the idle state among the CPU's states.
    pub(super) idle_state: usize,
    pub(super) idle_since_ns: u64,
    /// Time spent idle before that.
    pub(super) idle_total_ns: u64,
    /// Entry into the state ends here.
    pub(super) entered_ns: u64,
    /// As last announced.
    pub(super) power: Option<CpuPower>,
    /// Counted as asleep by its cluster.
    pub(super) votes_cluster: bool,
}

impl Cpu {
    pub(super) fn new() -> Self {
        Self {
            slice_end_armed_ns: u64::MAX,
            ..Self::default()
        }
    }

    /// It executes a task or kernel work, and does not just stall on a cache line.
    pub(super) fn executes(&self) -> bool {
        matches!(self.mode, Mode::Running | Mode::Interrupted) && !self.stalls
    }

    /// The next timer after `now_ns`.
    pub(super) fn next_timer_ns(&mut self, now_ns: u64) -> Option<u64> {
        while let Some(Reverse(due)) = self.timers.peek() {
            if *due > now_ns {
                return Some(*due);
            }
            self.timers.pop();
        }
        None
    }
}

/// One cluster.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ClusterState {
    /// CPUs that are in a cluster idle state.
    pub(super) asleep: u32,
    /// The idle state that it is in; None: it is up.
    pub(super) state: Option<u16>,
}
