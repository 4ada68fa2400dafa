//! The queue of one CPU whose tasks may be in groups (one level, docs/decisions/020): the CPU's
//! queue holds the tasks of no group and an entity for each group that has tasks here; each group
//! has a queue of its own. Both levels are the same kind of queue. Mechanics only: what an entity
//! weighs is the core's.

mod eevdf;
mod fair;

use crate::eevdf::{EevdfParams, Entity as Request};
use crate::fair::{FairParams, Weight};
use crate::thread::Thread;
use eevdf::EevdfTree;
use fair::FairTree;
use wakeplace_policy_sys::QueueKind;

/// On the CPU's queue, entities of groups have this bit and the group's number.
const GROUP: u32 = 1 << 31;

fn entity_of(group: usize) -> u32 {
    GROUP | group as u32
}

/// The group that an entity of the CPU's queue stands for; None: it is a task.
fn group_of(entity: u32) -> Option<usize> {
    (entity & GROUP != 0).then_some((entity & !GROUP) as usize)
}

/// A queue with groups, of either kind.
#[derive(Debug)]
pub(crate) enum GroupedQueue {
    Fair(FairTree),
    Eevdf(EevdfTree),
}

/// A task as these queues see it: number, thread, group.
pub(crate) type Queued<'a> = (u32, &'a mut Thread, Option<usize>);

/// The same method of both kinds.
macro_rules! both {
    ($self:ident, $queue:ident => $result:expr) => {
        match $self {
            Self::Fair($queue) => $result,
            Self::Eevdf($queue) => $result,
        }
    };
}

impl GroupedQueue {
    /// An empty queue; `shares` of each group. None: this kind of queue has no groups.
    pub(crate) fn new(
        kind: QueueKind,
        shares: &[u32],
        fair: FairParams,
        eevdf: EevdfParams,
    ) -> Option<Self> {
        match kind {
            QueueKind::Cfs => Some(Self::Fair(FairTree::new(fair, shares))),
            QueueKind::Eevdf => Some(Self::Eevdf(EevdfTree::new(eevdf, shares))),
            QueueKind::Live => None,
        }
    }

    /// Tasks that can run, the running one included.
    pub(crate) fn nr(&self) -> usize {
        both!(self, queue => queue.nr())
    }

    /// Waiting tasks in no meaningful order.
    pub(crate) fn waiting(&self) -> Vec<u32> {
        both!(self, queue => queue.waiting())
    }

    /// A woken task gets its place in the order of its queue.
    pub(crate) fn place_woken(&self, (_, thread, group): Queued<'_>) {
        if let Self::Fair(queue) = self {
            queue.place_woken(&mut thread.entity, group);
        }
    }

    /// Place of a new task: how far behind its queue's time.
    /// `parent`, if it is in the same queue.
    pub(crate) fn place_new(
        &self,
        child: &Thread,
        group: Option<usize>,
        parent: Option<&Thread>,
    ) -> i64 {
        match self {
            Self::Fair(queue) => queue.place_new(&child.entity, group, parent.map(|p| &p.entity)),
            Self::Eevdf(_) => 0, // as it joins
        }
    }

    /// The time of a task's queue.
    pub(crate) fn floor(&self, group: Option<usize>) -> i64 {
        match self {
            Self::Fair(queue) => queue.floor(group),
            Self::Eevdf(_) => 0,
        }
    }

    /// A task that has its place waits.
    pub(crate) fn insert(&mut self, (task, thread, group): Queued<'_>) {
        match self {
            Self::Fair(queue) => queue.insert(task, &thread.entity, group),
            Self::Eevdf(queue) => queue.insert(task, thread.eevdf_entity, group),
        }
    }

    /// The running task goes to sleep or (`ends`) for good.
    pub(crate) fn leave(&mut self, (task, thread, group): Queued<'_>, ends: bool) {
        match self {
            Self::Fair(queue) => queue.leave(task, &thread.entity, group),
            Self::Eevdf(queue) if ends => thread.eevdf_entity = queue.remove(task, group, false),
            Self::Eevdf(queue) => {
                if let Some(request) = queue.sleep(group) {
                    thread.eevdf_entity = request;
                }
            }
        }
    }

    /// A task leaves for another queue; `waiting`: it was in it, not running.
    pub(crate) fn remove(&mut self, (task, thread, group): Queued<'_>, waiting: bool) {
        match self {
            Self::Fair(queue) => queue.remove(task, &thread.entity, group, waiting),
            Self::Eevdf(queue) => thread.eevdf_entity = queue.remove(task, group, waiting),
        }
    }

    /// Does the task sleep and is queued all the same?
    pub(crate) fn is_delayed(&self, task: u32, group: Option<usize>) -> bool {
        match self {
            Self::Fair(_) => false,
            Self::Eevdf(queue) => queue.is_delayed(task, group),
        }
    }

    /// The CPU begins to look at its queue. Returns the sleepers that leave it now.
    pub(crate) fn begin_pick(&mut self) -> Vec<(u32, Request)> {
        match self {
            Self::Fair(_) => Vec::new(),
            Self::Eevdf(queue) => queue.begin_pick(),
        }
    }

    /// A task of a higher class displaces the running one: it and its group wait from now on.
    pub(crate) fn begin_put(&mut self) {
        both!(self, queue => queue.begin_put());
    }

    /// The CPU leaves: sleepers leave its queues, whose turn it is or not.
    pub(crate) fn drop_sleepers(&mut self) -> Vec<(u32, Request)> {
        match self {
            Self::Fair(_) => Vec::new(),
            Self::Eevdf(queue) => queue.drop_sleepers(),
        }
    }

    /// A sleeper that is still queued leaves, whose turn it is or not.
    pub(crate) fn drop_delayed(&mut self, task: u32, group: Option<usize>) -> Option<Request> {
        match self {
            Self::Fair(_) => None,
            Self::Eevdf(queue) => queue.drop_delayed(task, group),
        }
    }

    /// A queued task has another slice from its next request on.
    pub(crate) fn set_own_slice(&mut self, task: u32, group: Option<usize>, own_ns: Option<u64>) {
        match self {
            Self::Fair(_) => {}
            Self::Eevdf(queue) => queue.set_own_slice(task, group, own_ns),
        }
    }

    /// What is left of the running task's request or its group's while others are queued, ns.
    pub(crate) fn rest_of_slice_ns(&self) -> Option<u64> {
        match self {
            Self::Fair(_) => None, // ends at ticks
            Self::Eevdf(queue) => queue.rest_of_slice_ns(),
        }
    }

    /// The running task lets others go first. Returns false if there is nobody.
    pub(crate) fn yields(&mut self, task: u32, group: Option<usize>) -> bool {
        match self {
            Self::Fair(queue) => queue.yields(task, group),
            Self::Eevdf(queue) => queue.yields(group),
        }
    }

    /// The running task, just stopped, waits again.
    pub(crate) fn requeue(&mut self, (task, thread, group): Queued<'_>) {
        match self {
            Self::Fair(queue) => queue.requeue(task, &thread.entity, group),
            Self::Eevdf(queue) => queue.requeue(group),
        }
    }

    /// Does the running task go on, now that the CPU looks at its queue?
    pub(crate) fn keeps(&mut self, thread: &Thread, group: Option<usize>) -> bool {
        match self {
            Self::Fair(queue) => queue.keeps(&thread.entity, group),
            Self::Eevdf(queue) => queue.keeps(group),
        }
    }

    /// Takes the next task out; it runs.
    pub(crate) fn pick(&mut self, threads: &[Thread]) -> Option<u32> {
        match self {
            Self::Fair(queue) => queue.pick(threads),
            Self::Eevdf(queue) => queue.pick(),
        }
    }

    /// The running task has run for `delta_ns`.
    pub(crate) fn charge(&mut self, thread: &mut Thread, group: Option<usize>, delta_ns: u64) {
        match self {
            Self::Fair(queue) => queue.charge(&mut thread.entity, group, delta_ns),
            Self::Eevdf(queue) => queue.charge(group, delta_ns),
        }
    }

    /// Does the first task, just queued, displace the second, which runs?
    pub(crate) fn preempts(
        &mut self,
        woken: (u32, &Thread, Option<usize>),
        running: (u32, &Thread, Option<usize>),
    ) -> bool {
        match self {
            Self::Fair(queue) => queue.preempts(woken, running),
            Self::Eevdf(queue) => queue.preempts(woken, running),
        }
    }

    /// At a tick: is the running task's time over, or its group's?
    pub(crate) fn tick(&mut self, thread: &Thread, group: Option<usize>) -> bool {
        match self {
            Self::Fair(queue) => queue.tick(&thread.entity, group),
            Self::Eevdf(queue) => queue.tick(group),
        }
    }

    /// The running task's weight changes.
    pub(crate) fn reweight(&mut self, group: Option<usize>, old: Weight, new: Weight) {
        match self {
            Self::Fair(queue) => queue.reweight(group, old, new),
            Self::Eevdf(queue) => queue.reweight(group, new),
        }
    }

    /// A group's entity weighs `weight` on this CPU from now on.
    pub(crate) fn set_group_weight(&mut self, group: usize, weight: u32) {
        let weight = Weight::of_sum(u64::from(weight));
        both!(self, queue => queue.set_group_weight(group, weight));
    }

    /// The group that a task joined or left since the last question, at most one.
    pub(crate) fn take_touched(&mut self) -> Option<usize> {
        both!(self, queue => queue.touched.take())
    }

    /// The books must agree, whatever happened.
    pub(crate) fn check(&self) {
        both!(self, queue => queue.check());
    }
}
