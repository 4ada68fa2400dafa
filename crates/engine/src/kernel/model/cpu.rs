//! What the model keeps of each CPU. What a home or a class keeps of a CPU is not here
//! (ARCHITECTURE.md, "The engine's two halves").
//!
//! What must stay: a CPU starts idle with nothing armed. Fields are free to change with those who
//! use them; `check_nothing_lost` (report.rs) compares counts with queues. Tests by part:
//! `random_runs_obey_the_rules_1` (`Cpu`, `Message`),
//! idle.rs::`a_wakeup_during_entry_waits_for_its_end` (`next_timer_ns`: the governor knows of the
//! timer), idle.rs::`stopped_ticks_stay_silent` (`tick_stopped`), all of these (`new`).
//!
//! Callers: many files (`next_timer_ns`).
//!
//! Tests: crates/engine/tests/behaviour/invariants.rs, crates/engine/tests/behaviour/idle.rs

use super::cpuidle::Governor;
use super::wake_latency::QueueLock;
use crate::ids::{CpuId, TaskId};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use wakeplace_kernel_queues::ClassQueue;

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
    /// Push the running task to another CPU (`level` of that CPU's domains); `llc`: only one that
    /// prefers its cache.
    Push { to: CpuId, level: u32, llc: bool },
    /// The tick, kept running in idle.
    Tick,
    /// The live scheduler's timer for idle CPUs.
    IdleTimer,
    /// This CPU has just come back: look for work.
    Arrived,
    /// A device, whose interrupt takes this long.
    Device { run_ns: u64 },
    /// The timer of a group with a quota: of its period, or (`slack`) for what CPUs gave back.
    GroupTimer { group: u32, slack: bool },
    /// A group that was throttled here may run again.
    Unthrottle(u32),
    /// A timer of the sched_ext scheduler's.
    SchedExtTimer(u32),
}

/// One CPU.
#[derive(Debug)]
pub(super) struct Cpu {
    /// RT and deadline tasks, which go first.
    pub(super) classes: ClassQueue,
    /// The nearest `SliceEnd` event queued; `u64::MAX`: none.
    pub(super) slice_end_armed_ns: u64,
    pub(super) inbox: Vec<Message>,
    pub(super) lock: QueueLock,
    /// It waits for a cache line without a task to run ...
    pub(super) spins: bool,
    /// ... until then.
    pub(super) spin_until_ns: u64,
    /// Tasks on their way here that nobody sees yet.
    pub(super) unseen: u32,
    /// Live queues: a periodic pass is due at the next look at the queue.
    pub(super) balance_wanted: bool,
    /// This task, just off the CPU for a change of its attributes, is no other if it goes on.
    pub(super) changed: Option<TaskId>,
    /// Pick anew at the end of the interrupt.
    pub(super) reschedule: bool,
    /// ... or when the CPU next leaves the kernel.
    pub(super) reschedule_lazily: bool,
    pub(super) tick_armed: bool,
    /// Idle without a tick.
    pub(super) tick_stopped: bool,
    /// It idles, and its tick has ended its last sleep.
    pub(super) got_tick: bool,
    /// Pending timers of tasks that went to sleep here; expired ones are dropped when seen.
    pub(super) timers: BinaryHeap<Reverse<u64>>,
    pub(super) governor: Governor,
    /// How often it has polled; the last time ends with the event of this number.
    pub(super) polls: u32,
}

impl Cpu {
    /// A CPU at the start: idle, nothing armed.
    pub(super) fn new(governor: Governor) -> Self {
        Self {
            classes: ClassQueue::default(),
            slice_end_armed_ns: u64::MAX,
            inbox: Vec::new(),
            lock: QueueLock::default(),
            spins: false,
            spin_until_ns: 0,
            unseen: 0,
            balance_wanted: false,
            changed: None,
            reschedule: false,
            reschedule_lazily: false,
            tick_armed: false,
            tick_stopped: false,
            got_tick: false,
            timers: BinaryHeap::new(),
            governor,
            polls: 0,
        }
    }

    /// The next timer after `now_ns`. None: none is armed.
    #[inline]
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
