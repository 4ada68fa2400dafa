//! Events of a tree's kernel that are not the mechanics'. An event's code is part of the run's
//! hash: an old one keeps its number (docs/guide/kernel.md, "In a run").
//!
//! What must stay: names of kinds, and the order among events of one instant. Free: what leaves
//! recorded runs as they are (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `a_comparison_does_not_depend_on_threads` (both `From`; where a tree is built). `name` has no
//! test of its own. Both `from` are each other's reverse.
//!
//! Tests: crates/cli/tests/all/kernel_runs.rs::a_comparison_does_not_depend_on_threads

use crate::ids::{CpuId, TaskId};
use crate::mechanics::KernelEvent;

/// What happens beside what the mechanics tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// The clock event device of a CPU fires, unless it was set to another time.
    Timer { cpu: CpuId, generation: u32 },
    /// A CPU that waits for another one goes on.
    GoOn { cpu: CpuId },
    /// A CPU goes on in the middle of a path. `over`: an order of the owner's has let it end.
    Path { cpu: CpuId, over: bool },
    /// A task whose sleep began without a timer is to wake.
    Due { task: TaskId },
}

const TIMER: u8 = 2;
const GO_ON: u8 = 19;
const DUE: u8 = 20;
const PATH: u8 = 22;
/// The place of a path among the events of one instant.
pub(super) const PATH_CLASS: u8 = 8;

/// The name of a kind.
pub(super) fn name(kind: u8) -> &'static str {
    match kind {
        TIMER => "timer",
        GO_ON => "end of a spin",
        DUE => "start of a task",
        PATH => "line or lock in a path",
        _ => unreachable!("no kind of a tree's"),
    }
}

impl From<Event> for KernelEvent {
    /// Kind, then place among the events of one instant, then what it is about. CPUs whose timers
    /// fire at one instant take them in the order in which the timers were set.
    fn from(event: Event) -> Self {
        let (kind, class, subject, more) = match event {
            Event::Timer { cpu, generation } => (TIMER, 3, cpu.0, generation),
            Event::GoOn { cpu } => (GO_ON, 8, cpu.0, 0),
            Event::Due { task } => (DUE, 3, task.0, 0),
            Event::Path { cpu, over } => (PATH, PATH_CLASS, cpu.0, over.into()),
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
    /// The reverse of the other `From`. Panics on a code that no event has.
    fn from(event: KernelEvent) -> Self {
        let KernelEvent { subject, more, .. } = event;
        match event.kind {
            TIMER => Self::Timer {
                cpu: CpuId(subject),
                generation: more,
            },
            GO_ON => Self::GoOn {
                cpu: CpuId(subject),
            },
            PATH => Self::Path {
                cpu: CpuId(subject),
                over: more != 0,
            },
            DUE => Self::Due {
                task: TaskId(subject),
            },
            _ => unreachable!("no kind of a tree's"),
        }
    }
}
