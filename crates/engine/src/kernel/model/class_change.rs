//! Tasks enter and leave the classes above the fair one while they live, and borrow a place there.
//! Fair sums (weights, signals) must be as if the task had left for good (docs/guide/model.md,
//! "Above the fair tasks").
//!
//! What must stay: each way in has its way out, with the same counts; `check_nothing_lost` ends a
//! run in which they differ. Free: what leaves recorded runs as they are (ARCHITECTURE.md, "What a
//! change may touch"). Tests by part: `a_policy_holds_from_its_phase_on` (`class_join_changed`),
//! `a_holder_is_lent_the_priority_of_its_waiter` (`goes_on_in_class`),
//! storm.rs::`random_steps_obey_the_rules` (`forget_throttled`, and all ways in and out).
//!
//! Callers: change.rs (`forget_throttled`, `class_join_changed`, `goes_on_in_class`).
//!
//! Tests: crates/engine/tests/behaviour/changes.rs::a_policy_holds_from_its_phase_on,
//! crates/engine/tests/behaviour/sync.rs::a_holder_is_lent_the_priority_of_its_waiter,
//! crates/engine/tests/behaviour/storm.rs

use super::Model;
use super::event::Event;
use crate::ids::{CpuId, TaskId};
use crate::mechanics::Mechanics;
use crate::observe::Observer;
use wakeplace_policy_sys::ClassMove;

impl Model<'_> {
    /// Such a task leaves its class: its bandwidth is no longer in use.
    pub(super) fn forget_throttled<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        cpu: CpuId,
    ) {
        let state = self.classes.state(task);
        let until_ns = state.throttled_until_ns.take();
        let state = self.classes.states[task.index()].as_mut();
        let state = state.expect("asked of deadline tasks only");
        let record = &mut self.tasks[task];
        let (now, class) = (m.now(), &mut state.task);
        let joined = self
            .core
            .class_join(record, class, now, ClassMove::Throttle);
        let left = self.core.class_leave(record, class, now, ClassMove::Move);
        self.after_core(m, cpu, joined);
        self.after_core(m, cpu, left);
        // Should it be lent a place, its own budget is still to come.
        self.classes.state(task).throttled_until_ns = until_ns;
        if !m.is_online(cpu) {
            let to = self.fallback(m, task, cpu);
            self.tasks[task].raw_mut().cpu = to.0;
        }
    }

    /// A task that can run is of such a class from now on, or has another place in it.
    pub(super) fn class_join_changed<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        cpu: CpuId,
    ) {
        self.arm_rt_period(m);
        if let Some(at) = self.classes.state(task).throttled_until_ns {
            let at = at.max(m.now());
            self.classes.state(task).throttled_until_ns = Some(at);
            m.push(at, Event::Replenish { task });
            return;
        }
        if !self.classes.begin_job(task, m.now()) {
            return self.throttle_until_filled(m, task);
        }
        self.class_enter(m, task, cpu, ClassMove::Move);
    }

    /// A task that ran on `cpu` until its place changed goes on: it has risen.
    pub(super) fn goes_on_in_class<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        cpu: CpuId,
    ) -> bool {
        if !self.classes.is_class(task) || self.classes.is_throttled(task) {
            return false;
        }
        self.cpus[cpu].classes.remove(task);
        self.start_task(m, cpu, task, Some(task));
        true
    }
}
