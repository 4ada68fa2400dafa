//! Fair queues whose tasks may be in groups, and groups in groups (docs/decisions/020): the queue
//! of a CPU holds the tasks of no group and an entity for each group that has something to run
//! there; each group has a queue of its own on each CPU, which holds its tasks and entities of the
//! groups in it. All are the same kind of queue.
//!
//! A group that may not run for a while (`cpu.max`) is off the queue above with all that is in it.
//!
//! What must stay: numbers of tasks stay below `GROUP`. Counts of a CPU leave out what is in a
//! group that may not run. Free: what else a group has.
//!
//! Tests by part: grouped/cfs/tests.rs: `the_group_of_a_buddy_is_one_too` (`entity_of`,
//! `group_of`); groups.rs: `groups_share_by_shares_not_by_tasks` (`of`).
//!
//! Callers: the engine (`GroupShape`), grouped/cfs.rs and grouped/eevdf.rs (`entity_of`,
//! `group_of`).
//!
//! Tests: crates/engine/tests/behaviour/groups.rs, crates/kernel-queues/src/grouped/cfs/tests.rs

mod cfs;
mod cfs_class;
mod eevdf;
mod eevdf_class;
mod nest;

pub(crate) use cfs_class::GroupedCfs;
pub(crate) use eevdf_class::GroupedEevdf;
use nest::Nest;

/// What the queues know of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupShape {
    /// What its entity weighs at first.
    pub shares: u32,
    /// The group around it, which has a smaller number; None: the root.
    pub parent: Option<usize>,
    /// `cpu.idle`.
    pub idle: bool,
}

impl GroupShape {
    /// A group of the root.
    #[must_use]
    pub fn of(shares: u32) -> Self {
        Self {
            shares,
            parent: None,
            idle: false,
        }
    }
}

/// On the queue above, entities of groups have this bit and the group's number.
const GROUP: u32 = 1 << 31;

/// The number of a group's entity in a queue: the group's, with a bit that no task's number has.
fn entity_of(group: usize) -> u32 {
    GROUP | group as u32
}

/// The group that an entity of a queue stands for; None: it is a task.
fn group_of(entity: u32) -> Option<usize> {
    (entity & GROUP != 0).then_some((entity & !GROUP) as usize)
}
