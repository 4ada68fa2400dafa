//! Whom a queue picks next if that is fair (docs/rules/queues.md#eevdf-buddies).
//!
//! Kernel: set_next_buddy(), clear_buddies(), set_preempt_buddy(), set_short_buddy(),
//! kernel/sched/fair.c
//!
//! What must stay: a queue has one buddy at most; a SCHED_IDLE task is none. Free: a form,
//! with its kernel and page.
//!
//! Tests by part: eevdf/tests/buddies.rs: `an_eligible_buddy_is_picked_first` (`set_next_buddy`,
//! `eligible_buddy`, `buddy_entity`, `is_buddy`, `clear_buddy`), `next_buddy_names_who_is_woken`
//! (`set_preempt_buddy`); eevdf/tests.rs: `a_shorter_slice_is_the_buddy_in_7_3`
//! (`set_short_buddy`); grouped/eevdf/tests.rs: buddies of groups.
//!
//! Callers: eevdf.rs picks, eevdf/preempt.rs names, grouped/eevdf.rs names groups.
//!
//! Tests: crates/kernel-queues/src/eevdf/tests.rs,
//! crates/kernel-queues/src/grouped/eevdf/tests.rs

use super::entity::{EevdfParams, Entity, Form};
use super::{Choice, EevdfQueue};
use wakeplace_workload::FairPolicy;

impl EevdfQueue {
    /// Who is named, waiting or running.
    fn buddy_entity(&self) -> Option<&Entity> {
        let buddy = self.buddy?;
        let mut queued = self.waiting.iter().chain(&self.current);
        let found = queued.find(|(task, _)| *task == buddy);
        found.map(|(_, entity)| entity)
    }

    /// Its turn, if it has one: it is eligible, and this kernel looks at buddies.
    pub(super) fn eligible_buddy(&self, params: &EevdfParams) -> Option<Choice> {
        let buddy = self.buddy?;
        let looks = params.pick_buddy || params.next_buddy && params.form == Form::Linux66;
        if !looks || !self.eligible(self.buddy_entity()?) {
            return None;
        }
        Some(match self.current() == Some(buddy) {
            true => Choice::Current,
            false => Choice::Waiting(self.position(buddy)),
        })
    }

    /// A queued entity is the buddy from now on. One that is SCHED_IDLE is none.
    pub(crate) fn set_next_buddy(&mut self, who: u32) {
        let queued = self.waiting.iter().chain(&self.current);
        let mut named = queued.filter(|(task, _)| *task == who);
        if named.any(|(_, entity)| entity.policy != FairPolicy::Idle) {
            self.buddy = Some(who);
        }
    }

    /// Is the task the buddy of this queue?
    pub(crate) fn is_buddy(&self, task: u32) -> bool {
        self.buddy == Some(task)
    }

    /// It is not any more.
    pub(super) fn clear_buddy(&mut self, who: u32) {
        self.buddy.take_if(|buddy| *buddy == who);
    }

    /// 7.3, NEXT_BUDDY: a woken task is named, unless the buddy's deadline is earlier.
    pub(super) fn set_preempt_buddy(&mut self, task: u32, woken: &Entity) -> bool {
        let kept = (self.buddy_entity()).is_some_and(|buddy| buddy.deadline < woken.deadline);
        if !kept {
            self.set_next_buddy(task);
        }
        !kept
    }

    /// 7.3: one that preempts by its shorter slice is named, unless the buddy has a shorter one.
    pub(super) fn set_short_buddy(&mut self, params: &EevdfParams, task: u32, woken: &Entity) {
        let shorter = |buddy: &Entity| buddy.slice_ns(params) < woken.slice_ns(params);
        if !self.buddy_entity().is_some_and(shorter) {
            self.set_next_buddy(task);
        }
    }
}
