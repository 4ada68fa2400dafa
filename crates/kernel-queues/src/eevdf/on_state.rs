//! A queue that another scheduler had (`crate::on_state`).
//!
//! What must stay: entities come with the other scheduler's own times; only the origin is ours, and
//! where it is does not show. Free: how the queue is filled.
//!
//! Tests by part: on_state/tests.rs: `an_earlier_deadline_displaces_who_is_not_protected`,
//! `the_time_since_the_last_update_counts` (`preempt_on_state`), `the_earliest_deadline_is_next`,
//! `without_time_nothing_follows` (`pick_on_state`, `on_state`).
//!
//! Callers: `FairParams` (on_state.rs).
//!
//! Tests: crates/kernel-queues/src/on_state/tests.rs

use super::EevdfQueue;
use super::entity::{Arrival, EevdfParams, Entity};
use crate::on_state::{Look, Marks, Queued, Turned};

impl Entity {
    fn on_state(queued: &Queued) -> Self {
        Self {
            vruntime: queued.vruntime.cast_signed(),
            deadline: queued.deadline.cast_signed(),
            protection: queued.protection.cast_signed(),
            arrival: if queued.is_new {
                Arrival::New
            } else {
                Arrival::Woken
            },
            delayed: queued.delayed,
            ..Self::new(queued.nice, queued.policy, queued.own_slice_ns)
        }
    }
}

impl EevdfQueue {
    /// The queue, the running task's time included.
    fn on_state(params: &EevdfParams, look: &Look<'_>) -> Self {
        let all = || look.running.into_iter().chain(look.waiting);
        let mut queue = Self {
            current: (look.running).map(|running| (running.task, Entity::on_state(running))),
            origin: all().next().map_or(0, |first| first.vruntime.cast_signed()),
            nr_own_slices: all().filter(|of| of.own_slice_ns.is_some()).count(),
            nr_delayed: look.waiting.iter().filter(|queued| queued.delayed).count(),
            resched: look.before.resched,
            buddy: look.before.next,
            ..Self::default()
        };
        for queued in look.waiting {
            queue.insert(queued.task, Entity::on_state(queued));
        }
        queue.charge(params, look.exec_ns);
        queue
    }

    /// Says which task of the queue is next.
    pub(crate) fn pick_on_state(params: &EevdfParams, look: &Look<'_>) -> Option<u32> {
        let mut queue = Self::on_state(params, look);
        queue.begin_pick(params);
        if look.running.is_some_and(|running| running.delayed) {
            queue.nr_delayed += 1; // it has fallen asleep, and its queue keeps it
            queue.put_back();
        }
        while queue.drop_sleeper(params).is_some() {}
        queue.next(params)
    }

    /// Does the woken task displace the running one?
    pub(crate) fn preempt_on_state(
        params: &EevdfParams,
        look: &Look<'_>,
        running: &Queued,
        woken: &Queued,
        sync: bool,
    ) -> Turned {
        let mut queue = Self::on_state(params, look);
        let resched = queue.preempts(params, woken.task, sync);
        let entity = queue.current.map(|(_, entity)| entity);
        let is = |of: fn(&Entity) -> i64| entity.as_ref().map_or(0, of).cast_unsigned();
        Turned {
            marks: Marks {
                resched,
                next: queue.buddy,
                ..Marks::default()
            },
            running: Queued {
                vruntime: is(|entity| entity.vruntime),
                deadline: is(|entity| entity.deadline),
                protection: is(|entity| entity.protection),
                ..*running
            },
            nr_queued: queue.nr_queued(),
        }
    }
}
