//! A queue that another scheduler had (`crate::on_state`).
//!
//! What must stay: as in `Cfs::wakeup_preempt`, roles are set once until the CPU looks.
//!
//! Tests: crates/kernel-queues/src/on_state/tests.rs

use super::{Buddies, CfsParams, CfsQueue, Entity};
use crate::on_state::{Asked, Look, Marks, Queued, Turned};
use crate::weight::virtual_time;

impl Entity {
    fn on_state(queued: &Queued) -> Self {
        Self {
            vruntime: queued.vruntime.cast_signed(),
            ..Self::new(queued.nice, queued.policy)
        }
    }
}

/// Does the woken task displace the running one?
pub(crate) fn wakeup_preempt(
    params: &CfsParams,
    asked: &Asked<'_>,
    running: &Queued,
    waiting: &[Queued],
) -> Turned {
    let mut queue = CfsQueue {
        nr: asked.queued.len(),
        buddies: Buddies::of(asked.before),
        min_vruntime: running.vruntime.cast_signed(),
        seen_floor: i64::MIN,
        gives_way: asked.before.resched,
        ..CfsQueue::default()
    };
    let mut current = Entity::on_state(running);
    queue.charge(&mut current, asked.exec_ns);
    let woken = waiting.iter().find(|queued| queued.task == asked.woken);
    let woken = woken.map(Entity::on_state);
    if let Some(woken) = woken {
        queue.wakeup_preempt(params, (running.task, &current), (asked.woken, &woken));
    }
    let (next, last) = queue.buddies.named();
    Turned {
        marks: Marks {
            resched: queue.gives_way,
            next,
            last,
            skip: asked.before.skip,
        },
        running: Queued {
            vruntime: current.vruntime.cast_unsigned(),
            ..*running
        },
        nr_queued: queue.nr,
    }
}

/// Who is next?
pub(crate) fn pick(params: &CfsParams, look: &Look<'_>) -> Option<u32> {
    let mut queue = CfsQueue {
        buddies: Buddies::of(look.before),
        seen_floor: i64::MIN,
        ..CfsQueue::default()
    };
    let mut entities: Vec<_> = (look.waiting.iter())
        .map(|of| (of.task, Entity::on_state(of)))
        .collect();
    for (task, entity) in &entities {
        queue.insert(*task, entity.vruntime);
    }
    if let Some(running) = look.running {
        let mut entity = Entity::on_state(running);
        entity.vruntime += virtual_time(look.exec_ns, entity.weight);
        entities.push((running.task, entity));
    }
    let entity = |who| {
        let found = entities.iter().find(|(task, _)| *task == who);
        found.map(|(_, entity)| entity)
    };
    let fallback = entities.first().map(|(_, entity)| entity)?;
    let running = look.running.map(|running| running.task);
    queue.choose(params, running, |who| entity(who).unwrap_or(fallback))
}
