//! Tasks enter and leave the classes above the fair one while they live, and borrow a place there.

use super::Sim;
use crate::ids::{CpuId, TaskId};
use crate::observe::Observer;
use crate::queue::Event;
use wakeplace_policy_sys::ClassMove;

impl<O: Observer> Sim<'_, O> {
    /// Such a task leaves its class: its bandwidth is no longer in use.
    pub(super) fn forget_throttled(&mut self, task: TaskId, cpu: CpuId) {
        let state = self.classes.state(task);
        let until_ns = state.throttled_until_ns.take();
        let state = self.classes.states[task.index()].as_mut();
        let state = state.expect("asked of deadline tasks only");
        let record = &mut self.tasks[task];
        let (now, class) = (self.clock.now, &mut state.task);
        let joined = self
            .core
            .class_join(record, class, now, ClassMove::Throttle);
        let left = self.core.class_leave(record, class, now, ClassMove::Move);
        self.after_core(cpu, joined);
        self.after_core(cpu, left);
        // Should it be lent a place, its own budget is still to come.
        self.classes.state(task).throttled_until_ns = until_ns;
        if !self.changes.is_online(cpu) {
            let to = self.fallback(task, cpu);
            self.tasks[task].raw_mut().cpu = to.0;
        }
    }

    /// A task that can run is of such a class from now on, or has another place in it.
    pub(super) fn class_join_changed(&mut self, task: TaskId, cpu: CpuId) {
        self.arm_rt_period();
        if let Some(at) = self.classes.state(task).throttled_until_ns {
            let at = at.max(self.clock.now);
            self.classes.state(task).throttled_until_ns = Some(at);
            self.clock.push(at, Event::Replenish { task });
            return;
        }
        if !self.classes.begin_job(task, self.clock.now) {
            return self.throttle_until_filled(task);
        }
        self.class_enter(task, cpu, ClassMove::Move);
    }

    /// A task that ran on `cpu` until its place changed goes on: it has risen.
    pub(super) fn goes_on_in_class(&mut self, task: TaskId, cpu: CpuId) -> bool {
        if !self.classes.is_class(task) || self.classes.is_throttled(task) {
            return false;
        }
        self.cpus[cpu].classes.remove(task);
        self.start(cpu, task, Some(task));
        true
    }
}
