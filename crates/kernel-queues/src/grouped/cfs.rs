//! Two levels of the queue of the kernels before 6.6 (docs/guide/model.md, "Task groups"). An
//! entity of a group is queued while the group has tasks that wait or run.
//!
//! Tests: crates/kernel-queues/src/grouped/cfs/tests.rs, crates/engine/tests/behaviour/groups.rs

#[cfg(test)]
mod tests;

use super::{entity_of, group_of};
use crate::cfs::{CfsParams, CfsQueue, Entity, Roles};
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
        entity.vruntime = queue.place_woken(&self.params, entity);
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
            group.entity.vruntime = self.root.place_woken(&self.params, &group.entity);
            self.root.enqueue(entity_of(g), &group.entity);
        }
    }

    /// The task leaves its queue; its group's entity leaves with the last task.
    pub(super) fn remove(
        &mut self,
        task: u32,
        entity: &Entity,
        group: Option<usize>,
        waiting: bool,
    ) {
        self.nr -= 1;
        self.touched = group;
        let lost = self.queue_mut(group).dequeue(task, entity, waiting);
        let Some(g) = group else { return };
        self.root.forget(lost, entity_of(g));
        let group = &self.groups[g];
        if group.queue.nr == 0 {
            self.root.dequeue(entity_of(g), &group.entity, waiting);
        } else if !waiting {
            self.root.insert(entity_of(g), group.entity.vruntime);
        }
    }

    /// The running task sleeps. Its group is to go on with another task: that may well be whom it
    /// woke.
    pub(super) fn leave(&mut self, task: u32, entity: &Entity, group: Option<usize>) {
        self.remove(task, entity, group, false);
        if let Some(g) = group.filter(|g| self.groups[*g].queue.nr > 0) {
            self.root.name(Roles::NEXT, entity_of(g));
        }
        self.queue_mut(group).update_min(None);
        self.root.update_min(None);
    }

    /// A group begins a slice when it is picked again.
    pub(super) fn begin_put(&mut self) {
        self.picked = None;
    }

    /// The task is passed over in its queue, its group in the CPU's. Returns false if it is alone
    /// on the CPU.
    pub(super) fn yields(&mut self, task: u32, group: Option<usize>) -> bool {
        if self.nr <= 1 {
            return false;
        }
        let lost = self.queue_mut(group).pass_over(task);
        if let Some(g) = group {
            self.root.forget(lost, entity_of(g));
            self.root.name(Roles::SKIP, entity_of(g));
        }
        true
    }

    pub(super) fn requeue(&mut self, task: u32, entity: &Entity, group: Option<usize>) {
        self.queue_mut(group).insert(task, entity.vruntime);
        if let Some(g) = group {
            self.root
                .insert(entity_of(g), self.groups[g].entity.vruntime);
        }
    }

    /// The running task goes on if both levels choose it. Else nothing changes: the pick that
    /// follows has the same to choose from.
    pub(super) fn keeps(&mut self, task: u32, tasks: &[Entity], group: Option<usize>) -> bool {
        let top = group.map_or(task, entity_of);
        let looked_up = entities(&self.groups, tasks);
        let chosen = self.root.choose(&self.params, Some(top), looked_up) == Some(top);
        let entity = |task: u32| &tasks[task as usize];
        let chosen_of =
            |queue: &CfsQueue| queue.choose(&self.params, Some(task), entity) == Some(task);
        let keeps = chosen && group.is_none_or(|g| chosen_of(&self.groups[g].queue));
        if keeps {
            self.root.goes_on(top);
            self.queue_mut(group).goes_on(task);
        }
        keeps
    }

    pub(super) fn pick(&mut self, tasks: &[Entity]) -> Option<u32> {
        let looked_up = entities(&self.groups, tasks);
        let next = self.root.pick(&self.params, looked_up);
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

    /// Compared on the level of their common queue. A group is never the last buddy for its own
    /// sake, but the group of a last or next buddy is one, too.
    pub(super) fn preempts(
        &mut self,
        (task, woken, to): (u32, &Entity, Option<usize>),
        (running, current, from): (u32, &Entity, Option<usize>),
    ) -> bool {
        let above = |task: u32, group: Option<usize>| group.map_or(task, entity_of);
        let roles = if to == from {
            let queue = self.queue(from);
            queue.wakeup_preempts(&self.params, current, woken)
        } else {
            let params = CfsParams {
                last_buddy: self.params.last_buddy && from.is_none(),
                ..self.params
            };
            let [current, woken] =
                [(current, from), (woken, to)].map(|(task, group)| self.standing(task, group));
            self.root.wakeup_preempts(&params, &current, &woken)
        };
        let Some(roles) = roles else { return false };
        if !std::mem::replace(&mut self.root.gives_way, true) {
            self.root
                .preempted(roles, above(running, from), above(task, to));
            if to == from {
                self.queue_mut(from).preempted(roles, running, task);
            }
        }
        true
    }

    /// Each level has a slice of its own.
    pub(super) fn tick(&mut self, task: u32, entity: &Entity, group: Option<usize>) -> bool {
        let Some(g) = group else {
            return self.root.tick_preempts(&self.params, (task, entity));
        };
        let slice = self.slice_ns(entity, true, group);
        let group = &mut self.groups[g];
        let lost = group.queue.overrun(&self.params, (task, entity), slice);
        if let Some(lost) = lost {
            self.root.forget(lost, entity_of(g));
            self.root.gives_way = true;
        }
        let above = (entity_of(g), &group.entity);
        self.root.tick_preempts(&self.params, above) || lost.is_some()
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

/// Looks up what the CPU's queue knows by a number: a group or a task.
fn entities<'a>(groups: &'a [Group], tasks: &'a [Entity]) -> impl Fn(u32) -> &'a Entity {
    move |id| match group_of(id) {
        Some(g) => &groups[g].entity,
        None => &tasks[id as usize],
    }
}
