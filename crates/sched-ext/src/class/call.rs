//! Callbacks are called, counted and recorded (docs/rules/sched-ext.md#costs).
//!
//! What must stay: callbacks never run within one another; counts go into results. A callback after
//! the scheduler's end is not called. Free: how counts are kept.
//!
//! Tests by part: `kfuncs_count_once` (`kfunc`, `charge_kfuncs`, `count_kfuncs`, `take_unpaid`,
//! `counts`, `all`), `callbacks_cost_time` (`is_paid_for`, `begin`),
//! crates/sched-ext/tests/all/again.rs::`who_asks_without_end_ends`, `the_chosen_task_runs`
//! (`run_due`, `run_all_due`), crates/sched-ext/tests/all/table.rs::`a_name_is_needed` (`call`,
//! `has`: a refused scheduler is not called).
//!
//! Callers: class/queue.rs, class/life.rs and class/insert.rs (`call`, `has`), engine's
//! kernel/model/sched_ext (`take_unpaid`, `counts`).
//!
//! Tests: crates/sched-ext/tests/all/kernel.rs::kfuncs_count_once,
//! crates/engine/tests/behaviour/sched_ext/rules.rs::callbacks_cost_time

use super::{Due, ExtClass, Scx};
use crate::consts::SCX_TASK_REENQ_IMMED;
use crate::{Callback, Exit, SchedExtOps, TaskId};

/// How often one callback ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallbackCount {
    /// Which.
    pub callback: Callback,
    /// How often.
    pub calls: u64,
    /// kfuncs that it called.
    pub kfuncs: u64,
}

/// What the scheduler did.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    calls: [u64; Callback::COUNT],
    kfuncs: [u64; Callback::COUNT],
    /// Those that nobody has paid for yet.
    unpaid: (u64, u64),
    /// The scheduler says itself that it calls a kfunc (`Kernel::charge`).
    charged: bool,
}

impl Counts {
    /// Callbacks that ran at least once.
    #[must_use]
    pub fn all(&self) -> Vec<CallbackCount> {
        let count = |callback: Callback| CallbackCount {
            callback,
            calls: self.calls[callback as usize],
            kfuncs: self.kfuncs[callback as usize],
        };
        let all = Callback::ALL.into_iter().map(count);
        all.filter(|count| count.calls > 0).collect()
    }
}

impl Scx {
    /// A method of `Kernel` that is a kfunc runs.
    pub(super) fn kfunc(&mut self) {
        if !self.counts.charged {
            self.count_kfuncs(1);
        }
    }

    /// A scheduler whose programs call kfuncs by name says itself how many it has called.
    pub(super) fn charge_kfuncs(&mut self, kfuncs: u64) {
        self.counts.charged = true;
        self.count_kfuncs(kfuncs);
    }

    /// Those of the callback in progress; of the loader nobody pays.
    fn count_kfuncs(&mut self, kfuncs: u64) {
        if self.is_paid_for() {
            self.counts.unpaid.1 += kfuncs;
        }
        if let Some(callback) = self.callback {
            self.counts.kfuncs[callback as usize] += kfuncs;
        }
    }

    /// The loader takes no time of the machine's CPUs (docs/rules/sched-ext.md#loader).
    fn is_paid_for(&self) -> bool {
        self.callback != Some(Callback::Loader)
    }

    /// Is the callback there, and the scheduler not at its end?
    #[inline]
    pub(super) fn has(&self, callback: Callback) -> bool {
        self.info.callbacks.has(callback) && self.exit.is_none()
    }

    /// Counts and records before the scheduler's code runs.
    fn begin(&mut self, callback: Callback, task: Option<TaskId>) {
        self.counts.calls[callback as usize] += 1;
        self.callback = Some(callback);
        self.about = task;
        self.counts.unpaid.0 += u64::from(self.is_paid_for());
        self.record_callback(callback, task);
    }
}

impl ExtClass<'_> {
    /// Calls a callback, if it is there; then those that became due meanwhile.
    #[inline]
    pub(super) fn call<R>(
        &mut self,
        callback: Callback,
        task: Option<TaskId>,
        run: impl FnOnce(&mut dyn SchedExtOps, &mut Scx) -> Result<R, Exit>,
    ) -> Option<R> {
        if !self.scx.has(callback) {
            return None;
        }
        self.scx.begin(callback, task);
        let result = run(self.ops, &mut self.scx);
        self.scx.callback = None;
        match result {
            Ok(result) => Some(result),
            Err(exit) => {
                self.scx.end(exit);
                None
            }
        }
    }

    /// Callbacks that a kfunc asked for: they cannot run within the one that called it.
    #[inline]
    pub(super) fn run_due(&mut self) {
        if !self.scx.due.is_empty() {
            self.scx.asked += 1;
            self.run_all_due();
        }
    }

    /// Calls the callbacks that had to wait until the one in progress returned, in their order.
    fn run_all_due(&mut self) {
        while let Some(due) = self.scx.due.pop_front() {
            match due {
                Due::Dequeue { task, deq_flags } => {
                    self.call(Callback::Dequeue, Some(task), |ops, kernel| {
                        ops.dequeue(kernel, task, deq_flags)
                    });
                }
                Due::ReenqueueAll { dsq } => {
                    if let Some(queue) = self.scx.reenqueued(dsq) {
                        self.scx.dsqs.get_mut(queue).again_due = false;
                        if !self.scx.repeats(queue) {
                            self.scx.reenqueue_all(queue);
                        }
                    }
                }
                Due::Reenqueue { task, reason } => {
                    // It may have been dispatched, or have left, in the meantime.
                    let waits = &self.scx.tasks[task.index()];
                    if waits.is_queued() && waits.dsq.is_none() && !waits.held {
                        self.enqueue_again(task, reason);
                    }
                }
                Due::ReenqueueImmed { cpu } => {
                    if self.scx.repeats(self.scx.dsqs.local(cpu)) {
                        continue;
                    }
                    for task in self.scx.take_immed(cpu) {
                        self.enqueue_again(task, SCX_TASK_REENQ_IMMED);
                    }
                }
            }
        }
    }

    /// Callbacks and kfuncs since the last question: somebody has to pay for them.
    #[inline]
    pub fn take_unpaid(&mut self) -> (u64, u64) {
        std::mem::take(&mut self.scx.counts.unpaid)
    }

    /// What the scheduler did.
    #[must_use]
    pub fn counts(&self) -> &Counts {
        &self.scx.counts
    }
}
