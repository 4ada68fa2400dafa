//! A queue that another scheduler had (`crate::on_state`).
//!
//! What must stay: as in `Cfs::wakeup_preempt`, roles are set once until the CPU looks. Free:
//! how the queue is filled.
//!
//! Tests by part: on_state/tests.rs: `cfs_asks_for_its_granularity` (`wakeup_preempt`),
//! `who_has_run_least_is_next` (`pick`); `on_state` by both.
//!
//! Callers: `FairParams` (on_state.rs).
//!
//! Tests: crates/kernel-queues/src/on_state/tests.rs

use super::{Buddies, CfsParams, CfsQueue, Entity};
use crate::on_state::{Look, Marks, Queued, Turned};

impl Entity {
    fn on_state(queued: &Queued) -> Self {
        Self {
            vruntime: queued.vruntime.cast_signed(),
            ..Self::new(queued.nice, queued.policy)
        }
    }
}

impl CfsQueue {
    /// The queue, and the running task with its time included.
    fn on_state(look: &Look<'_>) -> (Self, Option<(u32, Entity)>) {
        let mut queue = Self {
            nr: look.waiting.len() + usize::from(look.running.is_some()),
            buddies: Buddies::of(look.before),
            min_vruntime: i64::MIN,
            seen_floor: i64::MIN,
            gives_way: look.before.resched,
            ..Self::default()
        };
        for queued in look.waiting {
            queue.insert(queued.task, queued.vruntime.cast_signed());
        }
        let running = look.running.map(|running| {
            let mut entity = Entity::on_state(running);
            queue.charge(&mut entity, look.exec_ns);
            (running.task, entity)
        });
        (queue, running)
    }
}

/// Does the woken task displace the running one?
pub(crate) fn wakeup_preempt(
    params: &CfsParams,
    look: &Look<'_>,
    running: &Queued,
    woken: &Queued,
) -> Turned {
    let (mut queue, current) = CfsQueue::on_state(look);
    let current = current.map_or_else(|| Entity::on_state(running), |(_, entity)| entity);
    let (task, entity) = (woken.task, Entity::on_state(woken));
    queue.wakeup_preempt(params, (running.task, &current), (task, &entity));
    let (next, last) = queue.buddies.named();
    Turned {
        marks: Marks {
            resched: queue.gives_way,
            next,
            last,
            skip: look.before.skip,
        },
        running: Queued {
            vruntime: current.vruntime.cast_unsigned(),
            ..*running
        },
        nr_queued: queue.nr,
    }
}

/// Says which task of the queue is next.
pub(crate) fn pick(params: &CfsParams, look: &Look<'_>) -> Option<u32> {
    let (queue, running) = CfsQueue::on_state(look);
    let waiting = look.waiting.iter();
    let waiting = waiting.map(|queued| (queued.task, Entity::on_state(queued)));
    let all: Vec<_> = waiting.chain(running).collect();
    let entity = |who| {
        let found = all.iter().find(|(task, _)| *task == who);
        &found.expect("who is looked at is queued").1
    };
    queue.choose(params, running.map(|(task, _)| task), entity)
}
