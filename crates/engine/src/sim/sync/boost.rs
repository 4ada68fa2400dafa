//! Priority inheritance: who holds a mutex that lends runs in the class of the highest waiter while
//! that is above its own. Among fair tasks Linux changes nothing.

use super::Sim;
use crate::ids::{CpuId, TaskId};
use crate::observe::Observer;
use crate::outcome::WaitsFor;
use crate::sim::class_state::ClassState;

/// Holders that wait for other holders: so far a loan is passed on (the kernel's max_lock_depth).
const LONGEST_CHAIN: usize = 1024;

impl<O: Observer> Sim<'_, O> {
    /// Finds out anew what `holder` is lent; found out on CPU `by`. If it waits for such a mutex
    /// itself, so for that one's holder.
    pub(super) fn lend_anew(&mut self, holder: TaskId, by: CpuId) {
        if !self.classes.has_classes() || !self.shared.inherits {
            return;
        }
        let mut holder = holder;
        for _ in 0..LONGEST_CHAIN {
            let donor = self.highest_donor(holder);
            if !self.borrow_class(holder, donor, by) {
                return;
            }
            let Some(WaitsFor::Mutex { mutex, .. }) = self.threads[holder].waits else {
                return;
            };
            let state = &self.shared.mutexes[mutex as usize];
            match state.owner.filter(|_| state.inherit) {
                Some(next) => holder = next,
                None => return,
            }
        }
    }

    /// The highest of those that wait for a mutex of `holder`.
    fn highest_donor(&self, holder: TaskId) -> Option<TaskId> {
        let held = self.shared.mutexes.iter();
        let held = held.filter(|mutex| mutex.inherit && mutex.owner == Some(holder));
        let waiters = held.flat_map(|mutex| mutex.waiters.iter().copied());
        let above = waiters.filter(|task| *task != holder && self.classes.level(*task) > 0);
        above.max_by_key(|task| (self.classes.level(*task), std::cmp::Reverse(*task)))
    }

    /// `holder` runs in the class of `donor` if that is above its own. Returns true if something
    /// changed.
    fn borrow_class(&mut self, holder: TaskId, donor: Option<TaskId>, by: CpuId) -> bool {
        let own = self.classes.own_level(holder);
        let lender = donor.filter(|donor| self.classes.level(*donor) > own);
        let level = lender.map_or(own, |donor| self.classes.level(donor));
        if level == self.classes.level(holder) {
            return false;
        }
        let donated = lender.and_then(|donor| self.classes.class_of(donor).map(ClassState::lend));
        self.change_loan(holder, donated, by);
        true
    }
}
