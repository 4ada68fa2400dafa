//! The queues of the kernels before 6.6, one in another. An entity of a group is queued while the
//! group has tasks that wait or run (docs/guide/model.md, "Task groups").
//!
//! What must stay: each level is a `CfsQueue` (cfs.rs has the rules); levels are kept in step here.
//! bandwidth.rs of the engine tries `throttle` and `unthrottle`. Free: how levels are stored;
//! rules belong into cfs.rs.
//!
//! Tests by part: grouped/cfs/tests.rs: `a_group_goes_on_when_one_of_its_tasks_sleeps` (`leave`,
//! `remove`, `dequeue_group`), `the_group_of_a_buddy_is_one_too` (`preempts`, `requeue`, `keeps`,
//! `is_buddy`), `a_yield_holds_on_both_levels` (`yields`),
//! `a_group_that_used_its_slice_is_no_buddy` (`tick`, `charge`),
//! `a_task_that_moves_leaves_no_buddy`; groups.rs: `groups_share_by_shares_not_by_tasks` (`pick`,
//! `insert`, `enqueue_group`, `place_woken`, `place_new`, `slice_ns`),
//! `shares_follow_the_load_over_cpus` (`set_group_weight`, `reweight`); bandwidth.rs:
//! `a_task_without_end_gets_its_quota` (`throttle`, `unthrottle`, `seen_below`, `entities_in`);
//! invariants.rs: `random_groups_obey_the_rules` (`check`).
//!
//! Callers: `GroupedCfs` (grouped/cfs_class.rs).
//!
//! Tests: crates/kernel-queues/src/grouped/cfs/tests.rs, crates/engine/tests/behaviour/groups.rs

#[cfg(test)]
mod tests;

use super::{GroupShape, Nest, entity_of, group_of};
use crate::cfs::{CfsParams, CfsQueue, Entity, Roles};
use crate::weight::Weight;

/// A group on one CPU.
#[derive(Debug)]
struct Group {
    queue: CfsQueue,
    /// Stands for it on the queue above.
    entity: Entity,
    /// As `CfsTree::picked`, of its own queue.
    picked: Option<u32>,
}

/// One CPU's queue and those of the groups on it.
#[derive(Debug)]
pub(crate) struct CfsTree {
    params: CfsParams,
    root: CfsQueue,
    groups: Vec<Group>,
    nest: Nest,
    nr: usize,
    /// The entity of the CPU's queue that was picked last: a group goes on with its slice while its
    /// tasks change.
    picked: Option<u32>,
    pub(super) touched: Option<usize>,
}

impl CfsTree {
    /// The root's queue of one CPU and one per group, empty.
    pub(super) fn new(params: CfsParams, shapes: &[GroupShape]) -> Self {
        let group = |shape: &GroupShape| Group {
            queue: CfsQueue::default(),
            entity: Entity::of_group(u64::from(shape.shares), shape.idle),
            picked: None,
        };
        Self {
            params,
            root: CfsQueue::default(),
            groups: shapes.iter().map(group).collect(),
            nest: Nest::new(shapes),
            nr: 0,
            picked: None,
            touched: None,
        }
    }

    /// Tasks that the CPU counts: none in a group that may not run.
    pub(super) fn nr(&self) -> usize {
        self.nr
    }

    /// Waiting tasks that the CPU counts, in no meaningful order.
    pub(super) fn waiting(&self) -> impl Iterator<Item = u32> + '_ {
        let seen = self.nest.all().filter(|g| !self.nest.is_hidden(*g));
        let queues = seen.map(|g| &self.groups[g].queue);
        let waiting = std::iter::once(&self.root).chain(queues);
        let waiting = waiting.flat_map(CfsQueue::waiting);
        waiting.filter(|id| group_of(*id).is_none())
    }

    /// Says whether a task is a buddy in its own queue.
    pub(super) fn is_buddy(&self, task: u32, group: Option<usize>) -> bool {
        self.queue(group).is_buddy(task)
    }

    /// A group's queue, or the root's.
    fn queue(&self, group: Option<usize>) -> &CfsQueue {
        group.map_or(&self.root, |g| &self.groups[g].queue)
    }

    /// Gives a level's queue to be changed.
    fn queue_mut(&mut self, group: Option<usize>) -> &mut CfsQueue {
        match group {
            Some(g) => &mut self.groups[g].queue,
            None => &mut self.root,
        }
    }

    /// The queue that a group's entity is on.
    fn above_mut(&mut self, g: usize) -> &mut CfsQueue {
        self.queue_mut(self.nest.above(g))
    }

    /// A group and those around it, from the inside.
    fn around(&self, group: Option<usize>) -> Vec<usize> {
        self.nest.around(group).collect()
    }

    /// The time of a queue (min_vruntime).
    pub(super) fn floor(&self, group: Option<usize>) -> i64 {
        self.queue(group).min_vruntime
    }

    /// The slice of a task: its part of its group's, by weight, of the group's part of the queue
    /// above, and so on; the least slice holds for the result. The period is by the number of tasks
    /// in the task's own queue.
    fn slice_ns(&self, entity: &Entity, queued: bool, group: Option<usize>) -> u64 {
        let queue = self.queue(group);
        let own = queue.period_share_ns(&self.params, entity.weight, queued);
        let share = self.nest.around(group).fold(own, |share, g| {
            let group = &self.groups[g];
            let above = self.queue(self.nest.above(g));
            above.share_ns(share, group.entity.weight, group.queue.nr > 0)
        });
        share.max(queue.least_slice_ns(&self.params, entity))
    }

    /// By the time of the queue that the task is in.
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

    /// The task joins; entities of its groups join as long as they are not queued yet.
    pub(super) fn insert(&mut self, task: u32, entity: &Entity, group: Option<usize>) {
        self.nr += usize::from(group.is_none_or(|g| !self.nest.is_hidden(g)));
        self.touched = group;
        self.queue_mut(group).enqueue(task, entity);
        for g in self.around(group) {
            if self.groups[g].queue.nr > 1 || self.nest.is_throttled(g) {
                return; // it is there already, or may not be
            }
            self.enqueue_group(g);
        }
    }

    /// A group's entity joins the queue above.
    fn enqueue_group(&mut self, g: usize) {
        let (params, mut entity) = (self.params, self.groups[g].entity);
        let queue = self.above_mut(g);
        entity.vruntime = queue.place_woken(&params, &entity);
        queue.enqueue(entity_of(g), &entity);
        self.groups[g].entity = entity;
    }

    /// The task leaves its queue; its group's entity leaves with the last task.
    pub(super) fn remove(
        &mut self,
        task: u32,
        entity: &Entity,
        group: Option<usize>,
        waiting: bool,
    ) {
        self.nr -= usize::from(group.is_none_or(|g| !self.nest.is_hidden(g)));
        self.touched = group;
        let lost = self.queue_mut(group).dequeue(task, entity, waiting);
        for g in self.around(group) {
            self.above_mut(g).forget(lost, entity_of(g));
            if self.nest.is_throttled(g) {
                return;
            }
            if self.groups[g].queue.nr == 0 {
                self.dequeue_group(g, waiting);
            } else if waiting {
                return;
            } else {
                let vruntime = self.groups[g].entity.vruntime;
                self.above_mut(g).insert(entity_of(g), vruntime);
            }
        }
    }

    /// `waiting`: the entity does not stand for the running task.
    fn dequeue_group(&mut self, g: usize, waiting: bool) {
        let entity = self.groups[g].entity;
        self.above_mut(g).dequeue(entity_of(g), &entity, waiting);
    }

    /// The running task sleeps. Its group is to go on with another task, or else the one around
    /// it: that may well be whom it woke.
    pub(super) fn leave(&mut self, task: u32, entity: &Entity, group: Option<usize>) {
        self.remove(task, entity, group, false);
        let around = self.around(group);
        let has_more = |g: &usize| self.groups[*g].queue.nr > 0;
        if let Some(first) = around.iter().position(has_more) {
            for g in &around[first..] {
                self.above_mut(*g).name(Roles::NEXT, entity_of(*g));
            }
        }
        self.queue_mut(group).update_min(None);
        for g in around {
            self.above_mut(g).update_min(None);
        }
    }

    /// The group may not run: its entity leaves the queue above. None of its tasks runs. Returns
    /// how many tasks the CPU has lost.
    pub(super) fn throttle(&mut self, group: usize) -> usize {
        let seen = self.seen_below(group);
        self.nest.set_throttled(group, true);
        self.nr -= seen;
        if self.groups[group].queue.nr == 0 {
            return seen;
        }
        self.dequeue_group(group, true);
        self.above_mut(group).update_min(None);
        for g in self.around(self.nest.above(group)) {
            if self.groups[g].queue.nr > 0 || self.nest.is_throttled(g) {
                break;
            }
            self.dequeue_group(g, true);
            self.above_mut(g).update_min(None);
        }
        seen
    }

    /// It may run again. Returns how many tasks the CPU has got.
    pub(super) fn unthrottle(&mut self, group: usize) -> usize {
        self.nest.set_throttled(group, false);
        let seen = self.seen_below(group);
        self.nr += seen;
        if self.groups[group].queue.nr > 0 {
            self.enqueue_group(group);
            for g in self.around(self.nest.above(group)) {
                if self.groups[g].queue.nr > 1 || self.nest.is_throttled(g) {
                    break;
                }
                self.enqueue_group(g);
            }
        }
        seen
    }

    /// Tasks in a group and in those in it that the CPU counts.
    fn seen_below(&self, group: usize) -> usize {
        let inner = self.nest.all().filter(|g| self.nest.is_in(*g, group));
        let seen = inner.filter(|g| !self.nest.is_hidden(*g));
        seen.map(|g| self.groups[g].queue.nr - self.entities_in(Some(g)))
            .sum()
    }

    /// Entities of groups in a queue.
    fn entities_in(&self, queue: Option<usize>) -> usize {
        let inner = (self.nest.all()).filter(|g| self.nest.above(*g) == queue);
        let queued = |g: &usize| self.groups[*g].queue.nr > 0 && !self.nest.is_throttled(*g);
        inner.filter(queued).count()
    }

    /// Groups begin a slice when they are picked again.
    pub(super) fn begin_put(&mut self) {
        self.picked = None;
    }

    /// The task is passed over in its queue, its groups in theirs. Returns false if it is alone on
    /// the CPU.
    pub(super) fn yields(&mut self, task: u32, group: Option<usize>) -> bool {
        if self.nr <= 1 {
            return false;
        }
        let lost = self.queue_mut(group).pass_over(task);
        for g in self.around(group) {
            let above = self.above_mut(g);
            above.forget(lost, entity_of(g));
            above.name(Roles::SKIP, entity_of(g));
        }
        true
    }

    /// The running task and the entities around it wait again where they were.
    pub(super) fn requeue(&mut self, task: u32, entity: &Entity, group: Option<usize>) {
        self.queue_mut(group).insert(task, entity.vruntime);
        for g in self.around(group) {
            let vruntime = self.groups[g].entity.vruntime;
            self.above_mut(g).insert(entity_of(g), vruntime);
        }
    }

    /// The running task goes on if all levels choose it. Else nothing changes: the pick that
    /// follows has the same to choose from.
    pub(super) fn keeps(&mut self, task: u32, tasks: &[Entity], group: Option<usize>) -> bool {
        let mut levels = vec![(group, task)];
        let outer = self.nest.around(group);
        levels.extend(outer.map(|g| (self.nest.above(g), entity_of(g))));
        let chosen = |(queue, id): &(Option<usize>, u32)| {
            let looked_up = entities(&self.groups, tasks);
            (self.queue(*queue)).choose(&self.params, Some(*id), looked_up) == Some(*id)
        };
        let keeps = levels.iter().all(chosen);
        if keeps {
            for (queue, id) in levels {
                self.queue_mut(queue).goes_on(id);
            }
        }
        keeps
    }

    /// Level by level from the root: a group that is picked anew begins a slice. None: the queue is
    /// empty.
    pub(super) fn pick(&mut self, tasks: &[Entity]) -> Option<u32> {
        let looked_up = entities(&self.groups, tasks);
        let mut next = self.root.pick(&self.params, looked_up)?;
        let mut same = self.picked.replace(next) == Some(next);
        while let Some(g) = group_of(next) {
            let group = &mut self.groups[g];
            if !same {
                group.entity.slice_used_ns = 0;
            }
            // Its queue is not among those that are looked at meanwhile.
            let mut queue = std::mem::take(&mut group.queue);
            let looked_up = entities(&self.groups, tasks);
            let picked = queue.pick(&self.params, looked_up);
            let group = &mut self.groups[g];
            group.queue = queue;
            next = picked?;
            same &= group.picked.replace(next) == Some(next);
        }
        Some(next)
    }

    /// The task and each group around it get the time, by their own weights.
    pub(super) fn charge(&mut self, entity: &mut Entity, group: Option<usize>, delta_ns: u64) {
        self.queue_mut(group).charge(entity, delta_ns);
        let mut inner = group;
        while let Some(g) = inner {
            let mut entity = self.groups[g].entity;
            self.above_mut(g).charge(&mut entity, delta_ns);
            self.groups[g].entity = entity;
            inner = self.nest.above(g);
        }
    }

    /// What a queue compares by: a task itself, or a group on its behalf.
    fn standing(&self, id: u32, task: &Entity) -> Entity {
        match group_of(id) {
            Some(g) => self.groups[g].entity.on_behalf_of(task),
            None => *task,
        }
    }

    /// Compared on the level of their common queue. A group is never the last buddy for its own
    /// sake, but the groups around a last or next buddy are, too.
    pub(super) fn preempts(
        &mut self,
        (task, woken, to): (u32, &Entity, Option<usize>),
        (running, current, from): (u32, &Entity, Option<usize>),
    ) -> bool {
        let (level, [ours, theirs]) = self.nest.common([(task, to), (running, from)]);
        let params = CfsParams {
            last_buddy: self.params.last_buddy && theirs == running,
            ..self.params
        };
        let (current, woken) = (self.standing(theirs, current), self.standing(ours, woken));
        let roles = (self.queue(level)).wakeup_preempts(&params, &current, &woken);
        let Some(roles) = roles else { return false };
        if !std::mem::replace(&mut self.root.gives_way, true) {
            self.queue_mut(level).preempted(roles, theirs, ours);
            for g in self.around(level) {
                let both = entity_of(g);
                self.above_mut(g).preempted(roles, both, both);
            }
        }
        true
    }

    /// Each level has a slice of its own.
    pub(super) fn tick(&mut self, task: u32, entity: &Entity, group: Option<usize>) -> bool {
        let (params, mut over) = (self.params, false);
        let mut level = (task, *entity, group);
        while let (id, entity, Some(g)) = level {
            let slice = self.slice_ns(&entity, true, Some(g));
            let queue = &mut self.groups[g].queue;
            if let Some(lost) = queue.overrun(&params, (id, &entity), slice) {
                for outer in self.around(Some(g)) {
                    self.above_mut(outer).forget(lost, entity_of(outer));
                }
                over = true;
            }
            level = (entity_of(g), self.groups[g].entity, self.nest.above(g));
        }
        over |= self.root.tick_preempts(&params, (level.0, &level.1));
        self.root.gives_way |= over;
        over
    }

    /// Only the queue that the task is in; its group's weight is told apart (`set_group_weight`).
    pub(super) fn reweight(&mut self, group: Option<usize>, old: Weight, new: Weight) {
        self.queue_mut(group).reweight(old, new);
    }

    /// The entity's weight, in the queue above if it is queued.
    pub(super) fn set_group_weight(&mut self, g: usize, weight: Weight) {
        let old = self.groups[g].entity.weight;
        if self.groups[g].queue.nr > 0 && !self.nest.is_throttled(g) {
            self.above_mut(g).reweight(old, weight);
        }
        self.groups[g].entity.weight = weight;
    }

    /// Panics if the tasks of all queues are not as many as the CPU counts.
    pub(super) fn check(&self) {
        let seen = self.nest.all().filter(|g| !self.nest.is_hidden(*g));
        let queues = std::iter::once(None).chain(seen.map(Some));
        let tasks = queues.map(|queue| self.queue(queue).nr - self.entities_in(queue));
        assert_eq!(tasks.sum::<usize>(), self.nr, "tasks of groups");
    }
}

/// Looks up what a queue knows by a number: a group or a task.
fn entities<'a>(groups: &'a [Group], tasks: &'a [Entity]) -> impl Fn(u32) -> &'a Entity {
    move |id| match group_of(id) {
        Some(g) => &groups[g].entity,
        None => &tasks[id as usize],
    }
}
