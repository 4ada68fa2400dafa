//! Priority inheritance: who holds a mutex that lends runs in the class of the highest waiter while
//! that is above its own. Among fair tasks Linux changes nothing (docs/guide/model.md, "Waiting for
//! each other").
//!
//! What must stay: a loan ends when its last waiter is gone, and reaches through chains of holders.
//! Who matters more is the kernel's answer (`Kernel::level`). Free: what leaves recorded runs as
//! they are (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `a_holder_is_lent_the_priority_of_its_waiter` (`lend_anew`, `highest_donor`),
//! storm.rs::`random_steps_obey_the_rules` (several mutexes that lend). Chains of holders have no
//! test of their own.
//!
//! Callers: mod.rs (`lend_anew`), mutex.rs (`lend_anew`).
//!
//! Tests: crates/engine/tests/behaviour/sync.rs::a_holder_is_lent_the_priority_of_its_waiter,
//! crates/engine/tests/behaviour/storm.rs

use crate::ids::{CpuId, TaskId};
use crate::kernel::Kernel;
use crate::mechanics::Mechanics;
use crate::observe::Observer;
use crate::outcome::WaitsFor;

/// Holders that wait for other holders: so far a loan is passed on (the kernel's max_lock_depth).
const LONGEST_CHAIN: usize = 1024;

impl<O: Observer> Mechanics<'_, O> {
    /// Finds out anew what `holder` is lent; found out on CPU `by`. If it waits for such a mutex
    /// itself, so for that one's holder.
    pub(super) fn lend_anew<K: Kernel>(&mut self, k: &mut K, holder: TaskId, by: CpuId) {
        if !self.shared.inherits {
            return;
        }
        let mut holder = holder;
        for _ in 0..LONGEST_CHAIN {
            let donor = self.highest_donor(k, holder);
            if !k.lend(self, holder, donor, by) {
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

    /// The highest of those that wait for a mutex of `holder`. None: nobody waits.
    fn highest_donor<K: Kernel>(&self, k: &K, holder: TaskId) -> Option<TaskId> {
        let held = self.shared.mutexes.iter();
        let held = held.filter(|mutex| mutex.inherit && mutex.owner == Some(holder));
        let waiters = held.flat_map(|mutex| mutex.waiters.iter().copied());
        let above = waiters.filter(|task| *task != holder && k.level(*task) > 0);
        above.max_by_key(|task| (k.level(*task), std::cmp::Reverse(*task)))
    }
}
