//! What callbacks did, step by step, for who wants to know: `explain`
//! (docs/rules/sched-ext.md#tasks, docs/guide/schedulers.md).
//!
//! What must stay: steps in the order in which they happened. Recording changes no run. Free:
//! further steps that are noted.
//!
//! Tests by part: explained.rs::`a_direct_dispatch`, `a_wait_in_a_queue` (`note`,
//! `record_callback`, `record`, `take_steps`, `Step`),
//! explained.rs::`the_number_is_one_of_its_task` (`task`),
//! crates/cli/tests/all/schedulers.rs::`explain_says_what_callbacks_did` (what users read of it).
//! `renumbered` and `has_steps` have no test of their own.
//!
//! Callers: class/ (`note`), engine's kernel/model/sched_ext/effects.rs (`take_steps`,
//! `renumbered`).
//!
//! Tests: crates/engine/tests/behaviour/sched_ext/explained.rs

use super::Scx;
use crate::{Callback, TaskId};

/// One step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A callback begins.
    Callback {
        /// Which.
        callback: Callback,
        /// On which CPU.
        cpu: u32,
        /// Whom it is about.
        task: Option<TaskId>,
    },
    /// `select_cpu` has answered.
    Selected {
        /// Whom it was about.
        task: TaskId,
        /// The answer.
        cpu: i32,
    },
    /// A kfunc looked for an idle CPU.
    Picked {
        /// What it returned: a CPU that it claimed, or an errno.
        cpu: i32,
    },
    /// A task was inserted into a queue.
    Inserted {
        /// Which.
        task: TaskId,
        /// As the scheduler names the queue.
        dsq: u64,
        /// By virtual time.
        vtime: Option<u64>,
        /// With this slice, ns.
        slice_ns: u64,
    },
    /// A task that waited in a queue, or was held, went to the local queue of a CPU.
    Taken {
        /// Which.
        task: TaskId,
        /// Where it was; None: held by the scheduler outside of queues.
        dsq: Option<u64>,
        /// The CPU that executes it next.
        cpu: u32,
        /// On which CPU that was decided.
        by: u32,
    },
    /// A CPU was kicked.
    Kicked {
        /// Which.
        cpu: i32,
        /// How.
        flags: u64,
    },
}

impl Step {
    /// With tasks by other numbers.
    #[must_use]
    pub fn renumbered(self, number: impl Fn(TaskId) -> TaskId) -> Self {
        match self {
            Self::Callback {
                callback,
                cpu,
                task,
            } => Self::Callback {
                callback,
                cpu,
                task: task.map(number),
            },
            Self::Selected { task, cpu } => Self::Selected {
                task: number(task),
                cpu,
            },
            Self::Inserted {
                task,
                dsq,
                vtime,
                slice_ns,
            } => Self::Inserted {
                task: number(task),
                dsq,
                vtime,
                slice_ns,
            },
            Self::Taken { task, dsq, cpu, by } => Self::Taken {
                task: number(task),
                dsq,
                cpu,
                by,
            },
            Self::Picked { .. } | Self::Kicked { .. } => self,
        }
    }

    /// Whom it is about. None: nobody.
    #[must_use]
    pub fn task(&self) -> Option<TaskId> {
        match self {
            Self::Callback { task, .. } => *task,
            Self::Selected { task, .. }
            | Self::Inserted { task, .. }
            | Self::Taken { task, .. } => Some(*task),
            Self::Picked { .. } | Self::Kicked { .. } => None,
        }
    }
}

/// Steps, if somebody wants them.
#[derive(Debug, Default)]
pub struct Record {
    on: bool,
    steps: Vec<Step>,
}

impl Scx {
    /// Nothing unless recording is on: then runs cost no more than before.
    pub(super) fn note(&mut self, step: Step) {
        if self.record.on {
            self.record.steps.push(step);
        }
    }

    /// A callback begins; its steps follow.
    pub(super) fn record_callback(&mut self, callback: Callback, task: Option<TaskId>) {
        let cpu = self.this_cpu;
        self.note(Step::Callback {
            callback,
            cpu,
            task,
        });
    }
}

impl super::ExtClass<'_> {
    /// Steps are recorded from now on.
    pub fn record(&mut self) {
        self.scx.record.on = true;
    }

    /// The steps since the last question, in exchange for an empty list.
    pub fn take_steps(&mut self, empty: &mut Vec<Step>) {
        std::mem::swap(&mut self.scx.record.steps, empty);
    }

    /// Says whether a step was recorded.
    #[inline]
    #[must_use]
    pub fn has_steps(&self) -> bool {
        !self.scx.record.steps.is_empty()
    }
}
