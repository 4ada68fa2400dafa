//! A queue that another scheduler had (`crate::on_state`).
//!
//! What must stay: entities come with the other scheduler's own times; only the origin is ours, and
//! where it is does not show.
//!
//! Tests: crates/kernel-queues/src/on_state/tests.rs

use super::EevdfQueue;
use super::entity::{Arrival, EevdfParams, Entity};
use crate::on_state::{Asked, Marks, Queued, Turned};

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
    fn on_state(asked: &Asked<'_>, running: &Queued, waiting: &[Queued]) -> Self {
        let own = |queued: &&Queued| queued.own_slice_ns.is_some();
        let mut queue = Self {
            current: Some((running.task, Entity::on_state(running))),
            origin: running.vruntime.cast_signed(),
            nr_own_slices: asked.queued.iter().filter(own).count(),
            nr_delayed: waiting.iter().filter(|queued| queued.delayed).count(),
            resched: asked.before.resched,
            buddy: asked.before.next,
            ..Self::default()
        };
        for queued in waiting {
            queue.insert(queued.task, Entity::on_state(queued));
        }
        queue
    }

    /// Does the woken task displace the running one?
    pub(crate) fn wakeup_preempt(
        params: &EevdfParams,
        asked: &Asked<'_>,
        running: &Queued,
        waiting: &[Queued],
    ) -> Turned {
        let mut queue = Self::on_state(asked, running, waiting);
        queue.charge(params, asked.exec_ns);
        let resched = queue.preempts(params, asked.woken, asked.sync);
        let entity = queue.current.map(|(_, entity)| entity);
        let is = |of: fn(&Entity) -> i64| entity.as_ref().map_or(0, of).cast_unsigned();
        Turned {
            marks: Marks {
                resched,
                next: queue.buddy,
                last: None,
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
