//! Two levels of the queue of the kernels before 6.6.

use super::{entity_of, group_of};
use crate::cfs::{CfsParams, CfsQueue, Entity};
use crate::weight::Weight;

/// A group on one CPU.
#[derive(Debug)]
struct Group {
    queue: CfsQueue,
    /// Stands for it on the CPU's queue.
    entity: Entity,
}

/// One CPU's queue and those of the groups on it.
#[derive(Debug)]
pub(crate) struct CfsTree {
    params: CfsParams,
    root: CfsQueue,
    groups: Vec<Group>,
    nr: usize,
    /// The entity of the CPU's queue that was picked last: a group goes on with its slice while its
    /// tasks change.
    picked: Option<u32>,
    pub(super) touched: Option<usize>,
}

impl CfsTree {
    pub(super) fn new(params: CfsParams, shares: &[u32]) -> Self {
        let group = |shares: &u32| Group {
            queue: CfsQueue::default(),
            entity: Entity::of_group(u64::from(*shares)),
        };
        Self {
            params,
            root: CfsQueue::default(),
            groups: shares.iter().map(group).collect(),
            nr: 0,
            picked: None,
            touched: None,
        }
    }

    pub(super) fn nr(&self) -> usize {
        self.nr
    }

    pub(super) fn waiting(&self) -> impl Iterator<Item = u32> + '_ {
        let tasks = self.root.waiting().filter(|id| group_of(*id).is_none());
        let grouped = self.groups.iter().flat_map(|g| g.queue.waiting());
        tasks.chain(grouped)
    }

    fn queue(&self, group: Option<usize>) -> &CfsQueue {
        group.map_or(&self.root, |g| &self.groups[g].queue)
    }

    fn queue_mut(&mut self, group: Option<usize>) -> &mut CfsQueue {
        match group {
            Some(g) => &mut self.groups[g].queue,
            None => &mut self.root,
        }
    }

    pub(super) fn floor(&self, group: Option<usize>) -> i64 {
        self.queue(group).min_vruntime
    }

    /// The slice of a task: its part of its group's, by weight, of the group's part of the CPU's;
    /// the least slice holds for the result. The period is by the number of tasks in the task's own
    /// queue.
    fn slice_ns(&self, entity: &Entity, queued: bool, group: Option<usize>) -> u64 {
        let queue = self.queue(group);
        let own = queue.period_share_ns(&self.params, entity.weight, queued);
        let share = group.map_or(own, |g| {
            let group = &self.groups[g];
            let weight = group.entity.weight;
            self.root.share_ns(own, weight, group.queue.nr > 0)
        });
        share.max(queue.least_slice_ns(&self.params, entity))
    }

    pub(super) fn place_woken(&self, entity: &mut Entity, group: Option<usize>) {
        let queue = self.queue(group);
        entity.vruntime = queue.place_woken(&self.params, entity.vruntime);
    }

    /// A parent in another queue says nothing of this one's time.
    pub(super) fn place_new(
        &self,
        child: &Entity,
        group: Option<usize>,
        parent: Option<&Entity>,
    ) -> i64 {
        let queue = self.queue(group);
        let floor = queue.min_vruntime;
        let after = parent.map_or(floor, |parent| parent.vruntime);
        let slice = self.slice_ns(child, false, group);
        queue.place_behind(&self.params, child.weight, after, slice) - floor
    }

    pub(super) fn insert(&mut self, task: u32, entity: &Entity, group: Option<usize>) {
        self.nr += 1;
        self.touched = group;
        self.queue_mut(group).enqueue(task, entity);
        let Some(g) = group else { return };
        let group = &mut self.groups[g];
        if group.queue.nr == 1 {
            let own = group.entity.vruntime;
            group.entity.vruntime = self.root.place_woken(&self.params, own);
            self.root.enqueue(entity_of(g), &group.entity);
        }
    }

    pub(super) fn remove(
        &mut self,
        task: u32,
        entity: &Entity,
        group: Option<usize>,
        waiting: bool,
    ) {
        self.nr -= 1;
        self.touched = group;
        self.queue_mut(group).dequeue(task, entity, waiting);
        let Some(g) = group else { return };
        let group = &self.groups[g];
        if group.queue.nr == 0 {
            self.root.dequeue(entity_of(g), &group.entity, waiting);
        } else if !waiting {
            self.root.insert(entity_of(g), group.entity.vruntime);
        }
    }

    pub(super) fn leave(&mut self, task: u32, entity: &Entity, group: Option<usize>) {
        self.remove(task, entity, group, false);
        self.queue_mut(group).update_min(None);
        self.root.update_min(None);
    }

    /// A group begins a slice when it is picked again.
    pub(super) fn begin_put(&mut self) {
        self.picked = None;
    }

    /// The task is passed over in its queue, its group in the CPU's.
    pub(super) fn yields(&mut self, task: u32, group: Option<usize>) -> bool {
        let own = self.queue_mut(group).skip(task);
        let above = group.is_some_and(|g| self.root.skip(entity_of(g)));
        own || above
    }

    pub(super) fn requeue(&mut self, task: u32, entity: &Entity, group: Option<usize>) {
        self.queue_mut(group).insert(task, entity.vruntime);
        if let Some(g) = group {
            self.root
                .insert(entity_of(g), self.groups[g].entity.vruntime);
        }
    }

    pub(super) fn keeps(&self, entity: &Entity, group: Option<usize>) -> bool {
        let above = group.is_none_or(|g| self.root.keeps(self.groups[g].entity.vruntime));
        above && self.queue(group).keeps(entity.vruntime)
    }

    pub(super) fn pick(&mut self, tasks: &[Entity]) -> Option<u32> {
        let groups = &self.groups;
        let entity = |id| match group_of(id) {
            Some(g) => &groups[g].entity,
            None => &tasks[id as usize],
        };
        let next = self.root.pick(&self.params, entity);
        let same = next == self.picked;
        self.picked = next;
        let Some(g) = group_of(next?) else {
            return next;
        };
        let group = &mut self.groups[g];
        if !same {
            group.entity.slice_used_ns = 0;
        }
        let entity = |task: u32| &tasks[task as usize];
        group.queue.pick(&self.params, entity)
    }

    pub(super) fn charge(&mut self, entity: &mut Entity, group: Option<usize>, delta_ns: u64) {
        self.queue_mut(group).charge(entity, delta_ns);
        if let Some(g) = group {
            self.root.charge(&mut self.groups[g].entity, delta_ns);
        }
    }

    /// What the CPU's queue compares a task by.
    fn standing(&self, task: &Entity, group: Option<usize>) -> Entity {
        match group {
            Some(g) => self.groups[g].entity.on_behalf_of(task),
            None => *task,
        }
    }

    /// Compared on the level of their common queue. A group is no buddy, but the group of one is.
    pub(super) fn preempts(
        &mut self,
        (_, woken, to): (u32, &Entity, Option<usize>),
        (task, running, from): (u32, &Entity, Option<usize>),
    ) -> bool {
        let params = self.params;
        if to == from {
            let queue = self.queue_mut(from);
            let preempts = queue.wakeup_preempts(&params, (task, running), woken);
            let buddy = preempts && queue.buddy() == Some(task);
            if let Some(g) = from.filter(|_| buddy) {
                self.root.set_buddy(entity_of(g));
            }
            return preempts;
        }
        let (woken, current) = (self.standing(woken, to), self.standing(running, from));
        let params = CfsParams {
            last_buddy: params.last_buddy && from.is_none(),
            ..params
        };
        self.root
            .wakeup_preempts(&params, (from.map_or(task, entity_of), &current), &woken)
    }

    pub(super) fn tick(&self, entity: &Entity, group: Option<usize>) -> bool {
        let Some(g) = group else {
            return self.root.tick_preempts(&self.params, entity);
        };
        let slice = self.slice_ns(entity, true, group);
        let group = &self.groups[g];
        group.queue.overrun(&self.params, entity, slice)
            || self.root.tick_preempts(&self.params, &group.entity)
    }

    pub(super) fn reweight(&mut self, group: Option<usize>, old: Weight, new: Weight) {
        self.queue_mut(group).reweight(old, new);
    }

    pub(super) fn set_group_weight(&mut self, group: usize, weight: Weight) {
        let group = &mut self.groups[group];
        if group.queue.nr > 0 {
            self.root.reweight(group.entity.weight, weight);
        }
        group.entity.weight = weight;
    }

    pub(super) fn check(&self) {
        let queued = self.groups.iter().filter(|g| g.queue.nr > 0);
        let (entities, grouped) = queued.fold((0, 0), |(n, tasks), g| (n + 1, tasks + g.queue.nr));
        assert_eq!(
            self.root.nr - entities + grouped,
            self.nr,
            "tasks of groups"
        );
    }
}
