//! Fair queues whose tasks may be in groups (one level, docs/decisions/020): the queue of a CPU
//! holds the tasks of no group and an entity for each group that has tasks there; each group has a
//! queue of its own on each CPU. Both levels are the same kind of queue.
//!
//! Tests: crates/engine/tests/behaviour/groups.rs, crates/kernel-queues/src/grouped/cfs/tests.rs

mod cfs;
mod cfs_class;
mod eevdf;
mod eevdf_class;

pub(crate) use cfs_class::GroupedCfs;
pub(crate) use eevdf_class::GroupedEevdf;

/// On the CPU's queue, entities of groups have this bit and the group's number.
const GROUP: u32 = 1 << 31;

fn entity_of(group: usize) -> u32 {
    GROUP | group as u32
}

/// The group that an entity of the CPU's queue stands for; None: it is a task.
fn group_of(entity: u32) -> Option<usize> {
    (entity & GROUP != 0).then_some((entity & !GROUP) as usize)
}
