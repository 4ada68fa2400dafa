//! Tasks enter and leave the classes above the fair one while they live, and borrow a place there.

use super::Sim;
use super::classes::ClassState;
use crate::observe::Observer;
use crate::queue::Event;
use wakeplace_policy_sys::ClassMove;
use wakeplace_workload::RealTime;

impl<O: Observer> Sim<'_, O> {
    /// Some task is or can be above the fair class.
    pub(super) fn has_classes(&self) -> bool {
        !self.class.is_empty()
    }

    /// A task's state above the fair class.
    pub(super) fn class_of(&self, task: u32) -> Option<&ClassState> {
        self.class.get(task as usize)?.as_ref()
    }

    pub(super) fn new_class(&self, kind: RealTime) -> ClassState {
        ClassState::new(kind, &self.class_params)
    }

    /// The level that the task has without what it was lent.
    pub(super) fn own_level(&self, task: u32) -> u64 {
        let own = match self.class_of(task) {
            Some(state) if state.lent => state.own.as_deref(),
            state => state,
        };
        own.map_or(0, |state| state.task.level())
    }

    /// Its policy changes; what it was lent stays unless that is less. Off the queue.
    pub(super) fn set_own_class(&mut self, task: u32, own: Option<ClassState>) {
        let level = own.as_ref().map_or(0, |own| own.task.level());
        match &mut self.class[task as usize] {
            Some(lent) if lent.lent && lent.task.level() > level => lent.own = own.map(Box::new),
            state => *state = own,
        }
    }

    /// It is lent another place, or (None) has only its own again. Off the queue.
    pub(super) fn set_loan(&mut self, task: u32, lent: Option<ClassState>) {
        let state = &mut self.class[task as usize];
        let own = match state.take() {
            Some(before) if before.lent => before.own,
            own => own.map(Box::new),
        };
        *state = match lent {
            Some(mut lent) => {
                lent.own = own;
                Some(lent)
            }
            None => own.map(|own| *own),
        };
    }

    /// A deadline task that waits for its next budget, on no queue?
    pub(super) fn is_throttled(&self, task: u32) -> bool {
        self.class_of(task)
            .is_some_and(|state| state.throttled_until_ns.is_some())
    }

    /// Such a task leaves its class: its bandwidth is no longer in use.
    pub(super) fn forget_throttled(&mut self, task: u32, cpu: u32) {
        let state = self.state(task);
        let until_ns = state.throttled_until_ns.take();
        let state = self.class[task as usize].as_mut();
        let state = state.expect("asked of deadline tasks only");
        let record = &mut self.tasks[task as usize];
        let (now, class) = (self.now, &mut state.task);
        let joined = self
            .core
            .class_join(record, class, now, ClassMove::Throttle);
        let left = self.core.class_leave(record, class, now, ClassMove::Move);
        self.after_core(cpu, joined);
        self.after_core(cpu, left);
        // Should it be lent a place, its own budget is still to come.
        self.state(task).throttled_until_ns = until_ns;
        if !self.is_online(cpu) {
            let to = self.fallback(task, cpu);
            self.tasks[task as usize].raw_mut().cpu = to;
        }
    }

    /// A sleeping task does not wait for a budget.
    pub(super) fn forget_refill(&mut self, task: u32) {
        if let Some(Some(state)) = self.class.get_mut(task as usize) {
            state.throttled_until_ns = None;
        }
    }

    /// A task that can run is of such a class from now on, or has another place in it.
    pub(super) fn class_join_changed(&mut self, task: u32, cpu: u32) {
        self.arm_rt_period();
        if let Some(at) = self.state(task).throttled_until_ns {
            let at = at.max(self.now);
            self.state(task).throttled_until_ns = Some(at);
            self.queue.push(at, Event::Replenish { task });
            return;
        }
        if !self.begin_job(task) {
            return self.throttle_until_filled(task);
        }
        self.class_enter(task, cpu, ClassMove::Move);
    }

    /// A task that ran on `cpu` until its place changed goes on: it has risen.
    pub(super) fn goes_on_in_class(&mut self, task: u32, cpu: u32) -> bool {
        if !self.is_class(task) || self.is_throttled(task) {
            return false;
        }
        self.cpus[cpu as usize].classes.remove(task);
        self.start(cpu, task, Some(task));
        true
    }
}
