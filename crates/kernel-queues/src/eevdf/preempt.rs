//! Wake-up preemption, and for how long a picked task is protected from it
//! (docs/rules/queues.md#eevdf-protection, docs/rules/queues.md#eevdf-wake-up).
//!
//! Kernel: wakeup_preempt_fair(), set_protect_slice(), update_protect_slice(),
//! kernel/sched/fair.c, 7.3; check_preempt_wakeup_fair(), 6.6 to 6.18.
//!
//! What must stay: each form is the one of its kernel; eevdf/tests.rs tries protection and buddies,
//! engine's `a_short_slice_preempts_at_the_first_wakeup` the whole. Free: a form, with its
//! kernel and page.
//!
//! Tests by part: eevdf/tests.rs: `protection_is_the_shortest_slice` (`protect_slice`, `preempts`),
//! `a_fork_waits_in_7_3` (`is_new`), `a_shorter_slice_ends_the_protection` (`shorten_protection`,
//! `overrides`), `a_wakee_preempts_only_as_the_next_pick` (`is_next`, `preempts_by_turn`),
//! `policies_decide_before_deadlines_do` (`preempts_as`); eevdf/tests/buddies.rs:
//! `a_kept_sleeper_does_not_stand_before_a_wakee_in_7_3` (`take_let_go`),
//! `who_is_preempted_is_not_protected_in_7_3` (`unprotect`).
//!
//! Callers: eevdf/class.rs, grouped/eevdf.rs and eevdf/on_state.rs ask `preempts`; eevdf.rs
//! protects who is picked.
//!
//! Tests: crates/kernel-queues/src/eevdf/tests.rs

use super::entity::{Arrival, EevdfParams, Entity, Form};
use super::{Choice, EevdfQueue};
use crate::weight::preempts_by_policy;
use wakeplace_workload::FairPolicy;

impl EevdfQueue {
    /// Until when the picked task is protected, from 6.18 on. It has left the waiting ones.
    pub(super) fn protect_slice(
        &self,
        params: &EevdfParams,
        picked: &mut Entity,
        shortest_ns: u64,
    ) {
        let least_ns = if params.run_to_parity {
            shortest_ns
        } else {
            params.least_run_ns
        };
        if least_ns >= picked.slice_ns(params) {
            return;
        }
        if params.form >= Form::Linux73 && params.preempt_short {
            // One nanosecond above what the others' average is: it is not eligible there.
            let others = self.sum.checked_div_euclid(self.load).unwrap_or(0);
            picked.protection = picked.protection.min(self.origin + others + 1);
        } else {
            picked.limit_protection(params, picked.vruntime, least_ns);
        }
    }

    /// Should `task`, just queued, run at once? `sync`: who has woken it will sleep soon.
    pub(crate) fn preempts(&mut self, params: &EevdfParams, task: u32, sync: bool) -> bool {
        if params.names_all_woken() && !self.is_new(task) {
            self.set_next_buddy(task);
        }
        self.preempts_as(params, task, sync, preempts_by_policy)
    }

    /// Has the waiting task just been made?
    pub(crate) fn is_new(&self, task: u32) -> bool {
        self.waiting[self.position(task)].1.arrival == Arrival::New
    }

    /// Says whether `task` preempts the running one, as `preempts` does. `by_policy`: what policies
    /// say of the running one and `task`, if the times do not decide.
    pub(crate) fn preempts_as(
        &mut self,
        params: &EevdfParams,
        task: u32,
        sync: bool,
        by_policy: impl FnOnce(FairPolicy, FairPolicy) -> Option<bool>,
    ) -> bool {
        self.update(params);
        if self.resched && !params.lazy && params.form < Form::Linux73 {
            return true;
        }
        let Some((_, current)) = self.current else {
            return false;
        };
        if !params.wakeup_preemption {
            return self.resched;
        }
        let woken = self.waiting[self.position(task)].1;
        let preempts = match by_policy(current.policy, woken.policy) {
            Some(true) => {
                if params.form > Form::Linux66 {
                    self.unprotect(params); // nor is it picked again for that
                }
                true
            }
            Some(false) => {
                self.shorten_protection(params, false);
                false
            }
            // A kept sleeper that balancing has brought.
            None if woken.delayed && params.form >= Form::Linux618 => {
                self.shorten_protection(params, false);
                false
            }
            None => self.preempts_by_turn(params, (task, &woken), &current, sync),
        };
        preempts || self.resched
    }

    /// Of two tasks whose policies say nothing: is it the woken one's turn? A shorter slice may end
    /// the running task's protection.
    fn preempts_by_turn(
        &mut self,
        params: &EevdfParams,
        (task, woken): (u32, &Entity),
        current: &Entity,
        sync: bool,
    ) -> bool {
        let short = params.preempt_short && woken.slice_ns(params) < current.slice_ns(params);
        if short && params.form < Form::Linux618 && self.overrides(woken, current) {
            self.unprotect(params); // even if it is another's turn
        }
        if params.form >= Form::Linux73 && !short && woken.arrival == Arrival::New {
            self.shorten_protection(params, short); // a fork waits, except with a shorter slice
            return false;
        }
        let names = params.next_buddy && params.form >= Form::Linux73 && !short;
        if names && self.set_preempt_buddy(task, woken) && sync {
            return false; // the waker has hardly run since its time was last looked at
        }
        let is_next = self.is_next(params, task, !short || params.form < Form::Linux618);
        let at_once = params.form >= Form::Linux73 && short && self.eligible(woken);
        if is_next || at_once {
            if short && params.form >= Form::Linux618 || params.form >= Form::Linux73 {
                self.unprotect(params);
            }
            if short && params.form >= Form::Linux73 {
                self.set_short_buddy(params, task, woken);
            }
            return true;
        }
        self.shorten_protection(params, short);
        false
    }

    /// Would the queue pick this waiting task? 7.3 asks as a pick does: a sleeper whose turn it is
    /// leaves, and the buddy counts while protection does.
    fn is_next(&mut self, params: &EevdfParams, task: u32, protect: bool) -> bool {
        let picks = params.form >= Form::Linux73;
        loop {
            match self.choose_if(params, protect, picks && protect) {
                Choice::Waiting(at) if picks && self.waiting[at].1.delayed => {
                    let sleeper = self.waiting[at].0;
                    let left = self.remove(params, at, Arrival::Woken);
                    self.let_go.push((sleeper, left));
                }
                Choice::Waiting(at) => return self.waiting[at].0 == task,
                Choice::Nobody | Choice::Current => return false,
            }
        }
    }

    /// Sleepers that left since the last question.
    pub(crate) fn take_let_go(&mut self) -> Vec<(u32, Entity)> {
        std::mem::take(&mut self.let_go)
    }

    /// 6.12: does the woken task's shorter slice end the running one's protection?
    fn overrides(&self, woken: &Entity, current: &Entity) -> bool {
        self.eligible(woken) && (woken.deadline < current.deadline || !self.eligible(current))
    }

    /// The running task is not protected for longer than the shortest slice from now on: 6.18, if
    /// the woken task has a shorter one; 7.3, after each wake-up that does not preempt.
    fn shorten_protection(&mut self, params: &EevdfParams, short: bool) {
        let form = params.form;
        if !params.run_to_parity || form < Form::Linux618 || (form < Form::Linux73 && !short) {
            return;
        }
        let (shortest, average) = (self.slice_of_all(params, u64::min), self.average());
        if let Some((_, entity)) = &mut self.current {
            let from = if form < Form::Linux73 {
                entity.vruntime
            } else {
                entity.vruntime.min(average)
            };
            entity.limit_protection(params, from, shortest);
        }
    }

    /// The running task is protected no longer, if it was.
    fn unprotect(&mut self, params: &EevdfParams) {
        if let Some((_, e)) = &mut self.current
            && e.is_protected(params)
        {
            e.protection = if params.form >= Form::Linux618 {
                e.vruntime
            } else {
                e.deadline + 1
            };
        }
    }
}
