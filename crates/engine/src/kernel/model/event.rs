//! Events of the model's own. An event's code is part of the run's hash: a new one takes a new
//! number, an old one keeps its own (docs/rules/README.md#event-order).
//!
//! What must stay: names of kinds, which reports count by, and the order among events of one
//! instant. Free: what leaves recorded runs as they are (ARCHITECTURE.md, "What a change may
//! touch"). Tests by part: `order_is_time_then_class_then_sequence` (classes),
//! `random_runs_obey_the_rules_1` (both `From`), sched_ext/errors.rs::`a_forgotten_task_is_found`
//! (`Watchdog`), idle.rs::`a_polling_cpu_chooses_again` (`PollEnd`),
//! bandwidth.rs::`a_task_without_end_gets_its_quota` (`GroupPeriod`). `name` has no test of its
//! own. Both `from` are each other's reverse.
//!
//! Tests: crates/engine/tests/behaviour/invariants.rs, crates/engine/src/mechanics/queue/tests.rs,
//! crates/engine/tests/behaviour/idle.rs, crates/engine/tests/behaviour/bandwidth.rs,
//! crates/engine/tests/behaviour/sched_ext/errors.rs

use crate::ids::{CpuId, TaskId};
use crate::mechanics::KernelEvent;

/// What happens beside what the mechanics tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// A wake-up that takes time goes on, before its waker does.
    WakeupStage { task: TaskId },
    /// A task's sleep ends.
    Timer { task: TaskId },
    /// The running task's slice may be over (high-resolution tick).
    SliceEnd { cpu: CpuId },
    /// Scheduler tick.
    Tick { cpu: CpuId },
    /// The live scheduler's timer for idle CPUs.
    IdleTimer,
    /// The policy changes.
    PolicyChange { index: u32 },
    /// A deadline task's budget is filled.
    Replenish { task: TaskId },
    /// RT tasks get their time of the next period.
    RtPeriod,
    /// A CPU without a task has got a cache line that it waited for.
    SpinEnd { cpu: CpuId },
    /// So has one that queued a task.
    Queued { task: TaskId, by: CpuId },
    /// A timer of the sched_ext scheduler's, started on this CPU.
    SchedExtTimer { timer: u32, cpu: CpuId },
    /// The kernel looks whether the sched_ext scheduler has forgotten a task.
    Watchdog,
    /// The loader of the sched_ext scheduler goes on.
    SchedExtLoader,
    /// The period of a group with a quota ends.
    GroupPeriod { group: u32 },
    /// What CPUs gave back of a group's quota has been gathered.
    GroupSlack { group: u32 },
    /// An idle CPU has polled long enough, if it still does for this time.
    PollEnd { cpu: CpuId, poll: u32 },
}

const TIMER: u8 = 2;
const TICK: u8 = 7;
const IDLE_TIMER: u8 = 8;
const SLICE_END: u8 = 9;
const WAKEUP_STAGE: u8 = 11;
const REPLENISH: u8 = 14;
const RT_PERIOD: u8 = 15;
const POLICY_CHANGE: u8 = 17;
const SPIN_END: u8 = 19;
const QUEUED: u8 = 20;
const SCHED_EXT_TIMER: u8 = 22;
const WATCHDOG: u8 = 23;
const SCHED_EXT_LOADER: u8 = 24;
const POLL_END: u8 = 25;
const GROUP_PERIOD: u8 = 26;
const GROUP_SLACK: u8 = 27;

/// The name of a kind.
pub(super) fn name(kind: u8) -> &'static str {
    match kind {
        TIMER => "timer",
        TICK => "tick",
        IDLE_TIMER => "idle timer",
        SLICE_END => "end of a slice",
        WAKEUP_STAGE => "stage of a wake-up",
        REPLENISH => "budget filled",
        RT_PERIOD => "RT period",
        POLICY_CHANGE => "change of policy",
        SPIN_END => "end of a spin",
        QUEUED => "queued",
        SCHED_EXT_TIMER => "timer of the scheduler's",
        WATCHDOG => "watchdog",
        SCHED_EXT_LOADER => "loader of the scheduler's",
        POLL_END => "end of polling",
        GROUP_PERIOD => "period of a group",
        GROUP_SLACK => "slack of a group",
        _ => unreachable!("no kind of the model's"),
    }
}

impl From<Event> for KernelEvent {
    /// Kind, then place among the events of one instant, then what it is about.
    #[inline]
    fn from(event: Event) -> Self {
        let (kind, class, subject, more) = match event {
            Event::WakeupStage { task } => (WAKEUP_STAGE, 1, task.0, 0),
            Event::Timer { task } => (TIMER, 3, task.0, 0),
            Event::SliceEnd { cpu } => (SLICE_END, 8, cpu.0, 0),
            Event::Tick { cpu } => (TICK, 9, cpu.0, 0),
            Event::IdleTimer => (IDLE_TIMER, 10, 0, 0),
            // pushed before the run: the first of its class
            Event::PolicyChange { index } => (POLICY_CHANGE, 0, index, 0),
            Event::Replenish { task } => (REPLENISH, 13, task.0, 0),
            Event::RtPeriod => (RT_PERIOD, 14, 0, 0),
            Event::SpinEnd { cpu } => (SPIN_END, 1, cpu.0, 0),
            Event::Queued { task, by } => (QUEUED, 1, task.0, by.0),
            Event::SchedExtTimer { timer, cpu } => (SCHED_EXT_TIMER, 18, timer, cpu.0),
            Event::Watchdog => (WATCHDOG, 19, 0, 0),
            Event::SchedExtLoader => (SCHED_EXT_LOADER, 20, 0, 0),
            Event::PollEnd { cpu, poll } => (POLL_END, 21, cpu.0, poll),
            Event::GroupPeriod { group } => (GROUP_PERIOD, 3, group, 0),
            Event::GroupSlack { group } => (GROUP_SLACK, 3, group, 0),
        };
        Self {
            class,
            kind,
            subject,
            more,
        }
    }
}

impl From<KernelEvent> for Event {
    /// The reverse of the other `From`. Panics on a code that no event has: it would be a fault of
    /// ours.
    #[inline]
    fn from(event: KernelEvent) -> Self {
        let (task, cpu) = (TaskId(event.subject), CpuId(event.subject));
        match event.kind {
            WAKEUP_STAGE => Self::WakeupStage { task },
            TIMER => Self::Timer { task },
            SLICE_END => Self::SliceEnd { cpu },
            TICK => Self::Tick { cpu },
            IDLE_TIMER => Self::IdleTimer,
            POLICY_CHANGE => Self::PolicyChange {
                index: event.subject,
            },
            REPLENISH => Self::Replenish { task },
            RT_PERIOD => Self::RtPeriod,
            SPIN_END => Self::SpinEnd { cpu },
            QUEUED => Self::Queued {
                task,
                by: CpuId(event.more),
            },
            SCHED_EXT_TIMER => Self::SchedExtTimer {
                timer: event.subject,
                cpu: CpuId(event.more),
            },
            WATCHDOG => Self::Watchdog,
            SCHED_EXT_LOADER => Self::SchedExtLoader,
            POLL_END => Self::PollEnd {
                cpu,
                poll: event.more,
            },
            GROUP_PERIOD => Self::GroupPeriod {
                group: event.subject,
            },
            GROUP_SLACK => Self::GroupSlack {
                group: event.subject,
            },
            _ => unreachable!("no kind of the model's"),
        }
    }
}
