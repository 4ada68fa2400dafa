//! Whom a queue prefers or passes over at its next pick, and the pick (docs/rules/queues.md#cfs).
//! One implementation for the CPU's queue and for those of groups.
//!
//! What must stay: the order of preference (next, last, leftmost; skip passed over) is the
//! kernel's. The roles of a queue are at most one task or group each. Free: how roles are
//! kept.
//!
//! Tests by part: buddies/tests.rs: `a_wakeup_preempts_beyond_the_granularity_only`
//! (`wakeup_preempts`), `a_wakee_runs_before_who_waited_longer` (`wakeup_preempt`, `name`,
//! `is_buddy`), `next_goes_before_last_and_none_beyond_the_granularity` (`preempted`, `choose`,
//! `first_two`, `pick`), `a_running_buddy_goes_on_once` (`goes_on`, `keeps`),
//! `who_leaves_the_queue_is_no_buddy` (`forget`), `who_yielded_is_passed_over_once` (`pass_over`),
//! `policies_decide_before_times_do`; on_state/tests.rs (`of`, `named`).
//!
//! Callers: cfs/class.rs and grouped/cfs.rs.
//!
//! Tests: crates/kernel-queues/src/cfs/buddies/tests.rs, crates/engine/tests/behaviour/fair.rs

#[cfg(test)]
mod tests;

use super::{CfsParams, CfsQueue, Entity, lags_by_more};
use crate::on_state::Marks;
use crate::weight::preempts_by_policy;

/// Roles that a task or group can have in its queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Roles {
    next: bool,
    last: bool,
    skip: bool,
}

impl Roles {
    pub(crate) const ALL: Self = Self {
        next: true,
        last: true,
        skip: true,
    };
    pub(crate) const NEXT: Self = Self {
        next: true,
        last: false,
        skip: false,
    };
    pub(crate) const SKIP: Self = Self {
        next: false,
        last: false,
        skip: true,
    };
}

/// Who has these roles.
#[derive(Debug, Default)]
pub(super) struct Buddies {
    /// It preempted at its wake-up, or one of its group just went to sleep: preferred while that is
    /// fair.
    next: Option<u32>,
    /// Preempted by a wake-up: preferred after `next`, also once the wakee sleeps again.
    last: Option<u32>,
    /// It yielded: not picked while another's turn is not too far off.
    skip: Option<u32>,
}

impl Buddies {
    /// Whom a queue prefers.
    pub(super) fn of(marks: Marks) -> Self {
        Self {
            next: marks.next,
            last: marks.last,
            skip: marks.skip,
        }
    }

    /// The next and the last buddy.
    pub(super) fn named(&self) -> (Option<u32>, Option<u32>) {
        (self.next, self.last)
    }
}

impl CfsQueue {
    /// `who` has these roles from now on.
    pub(crate) fn name(&mut self, roles: Roles, who: u32) {
        let buddies = &mut self.buddies;
        for (given, role) in [
            (roles.next, &mut buddies.next),
            (roles.last, &mut buddies.last),
            (roles.skip, &mut buddies.skip),
        ] {
            if given {
                *role = Some(who);
            }
        }
    }

    /// Is the task the next or the last buddy?
    pub(crate) fn is_buddy(&self, who: u32) -> bool {
        [self.buddies.next, self.buddies.last].contains(&Some(who))
    }

    /// `who` loses those of the roles that it has. Returns them: a group loses those that its task
    /// lost.
    pub(crate) fn forget(&mut self, roles: Roles, who: u32) -> Roles {
        let lost = |asked: bool, role: &mut Option<u32>| {
            asked && role.take_if(|holder| *holder == who).is_some()
        };
        Roles {
            next: lost(roles.next, &mut self.buddies.next),
            last: lost(roles.last, &mut self.buddies.last),
            skip: lost(roles.skip, &mut self.buddies.skip),
        }
    }

    /// Does a woken task preempt the running one? If so, the roles that are due to them: `next` to
    /// the woken, `last` to the running one. A wakee that preempts by its policy gets none, and
    /// whom it preempts is SCHED_IDLE, which has none either.
    pub(crate) fn wakeup_preempts(
        &self,
        params: &CfsParams,
        running: &Entity,
        woken: &Entity,
    ) -> Option<Roles> {
        if !params.wakeup_preemption {
            return None;
        }
        match preempts_by_policy(running.policy, woken.policy) {
            Some(true) => Some(Roles::default()),
            Some(false) => None,
            None => lags_by_more(params, running, woken).then_some(Roles {
                last: params.last_buddy && self.nr >= params.nr_latency,
                ..Roles::NEXT
            }),
        }
    }

    /// The woken task has just been queued. True: the running one gives way. Roles are set only
    /// once per look.
    pub(crate) fn wakeup_preempt(
        &mut self,
        params: &CfsParams,
        (running, current): (u32, &Entity),
        (task, woken): (u32, &Entity),
    ) -> bool {
        let Some(roles) = self.wakeup_preempts(params, current, woken) else {
            return false;
        };
        if !std::mem::replace(&mut self.gives_way, true) {
            self.preempted(roles, running, task);
        }
        true
    }

    /// A wake-up has preempted: the two get their roles.
    pub(crate) fn preempted(&mut self, roles: Roles, running: u32, woken: u32) {
        let last = Roles {
            next: false,
            ..roles
        };
        let next = Roles {
            last: false,
            ..roles
        };
        self.name(last, running);
        self.name(next, woken);
    }

    /// The running task or group yields. Returns the roles that it loses.
    pub(crate) fn pass_over(&mut self, who: u32) -> Roles {
        let lost = self.forget(Roles::ALL, who);
        self.name(Roles::SKIP, who);
        lost
    }

    /// Whom the queue would run next: the leftmost, or the second if the first has yielded, or a
    /// buddy, each while it is not too far ahead of the leftmost. `running` is considered, too; of
    /// equals it comes last. `entity` looks tasks up.
    pub(crate) fn choose<'a>(
        &self,
        params: &CfsParams,
        running: Option<u32>,
        entity: impl Fn(u32) -> &'a Entity,
    ) -> Option<u32> {
        let [left, second] = self.first_two(running, &entity);
        let left = left?;
        let Buddies { next, last, skip } = self.buddies;
        let fair = |who: &u32| !lags_by_more(params, entity(*who), entity(left));
        let here = |who: &u32| running == Some(*who) || self.waiting().any(|task| task == *who);
        let buddy = |role: Option<u32>| role.filter(here).filter(fair);
        let instead = second.filter(|_| skip == Some(left)).filter(fair);
        buddy(next)
            .or_else(|| buddy(last))
            .or(instead)
            .or(Some(left))
    }

    /// The two tasks with the least virtual time, the running one among them.
    fn first_two<'a>(
        &self,
        running: Option<u32>,
        entity: impl Fn(u32) -> &'a Entity,
    ) -> [Option<u32>; 2] {
        let mut waiting = self.tree.iter().rev();
        let [first, second] = [waiting.next(), waiting.next()];
        let runs_before = |other: Option<&(i64, u32)>| {
            running.is_some_and(|task| other.is_none_or(|(v, _)| entity(task).vruntime < *v))
        };
        let id = |waiting: Option<&(i64, u32)>| waiting.map(|(_, task)| *task);
        if runs_before(first) {
            [running, id(first)]
        } else if runs_before(second) {
            [id(first), running]
        } else {
            [id(first), id(second)]
        }
    }

    /// The running task or group was chosen again.
    pub(crate) fn goes_on(&mut self, running: u32) {
        self.gives_way = false;
        self.forget(Roles::ALL, running);
    }

    /// Does the running task go on, now that the CPU looks at the queue?
    pub(crate) fn keeps<'a>(
        &mut self,
        params: &CfsParams,
        running: u32,
        entity: impl Fn(u32) -> &'a Entity,
    ) -> bool {
        let keeps = self.choose(params, Some(running), entity) == Some(running);
        if keeps {
            self.goes_on(running);
        }
        keeps
    }

    /// Takes the next task out of the queue. The roles of others stay: whom its wake-up preempted
    /// goes on when it sleeps.
    pub(crate) fn pick<'a>(
        &mut self,
        params: &CfsParams,
        entity: impl Fn(u32) -> &'a Entity,
    ) -> Option<u32> {
        let next = self.choose(params, None, entity)?;
        self.remove(next);
        self.goes_on(next);
        Some(next)
    }
}
