//! Two levels of the queue of the kernels from 6.6 on. A group's entity runs, waits and is delayed
//! like a task; it goes on being the one that runs while the group's tasks change
//! (docs/decisions/020, docs/rules/queues.md#eevdf). `check` says what both levels must agree on.
//!
//! Tests: crates/engine/tests/behaviour/groups.rs

use super::{entity_of, group_of};
use crate::eevdf::{EevdfParams, EevdfQueue, Entity, Form};
use crate::weight::Weight;
use wakeplace_workload::FairPolicy;

/// A group on one CPU.
#[derive(Debug)]
struct Group {
    queue: EevdfQueue,
    /// Stands for it on the CPU's queue; valid while it is not there.
    entity: Entity,
    /// ... which then has the valid copy, delayed or not.
    queued: bool,
    weight: Weight,
}

/// One CPU's queue and those of the groups on it.
#[derive(Debug)]
pub(crate) struct EevdfTree {
    params: EevdfParams,
    root: EevdfQueue,
    groups: Vec<Group>,
    nr: usize,
    pub(super) touched: Option<usize>,
}

impl EevdfTree {
    /// Queues of one CPU: the root's and one for each group.
    pub(super) fn new(params: EevdfParams, shares: &[u32]) -> Self {
        let group = |shares: &u32| Group {
            queue: EevdfQueue::default(),
            entity: Entity::of_group(u64::from(*shares)),
            queued: false,
            weight: Weight::of_sum(u64::from(*shares)),
        };
        Self {
            params,
            root: EevdfQueue::default(),
            groups: shares.iter().map(group).collect(),
            nr: 0,
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

    fn queue_mut(&mut self, group: Option<usize>) -> &mut EevdfQueue {
        match group {
            Some(g) => &mut self.groups[g].queue,
            None => &mut self.root,
        }
    }

    pub(super) fn is_delayed(&self, task: u32, group: Option<usize>) -> bool {
        group
            .map_or(&self.root, |g| &self.groups[g].queue)
            .is_delayed(task)
    }

    /// A group asks for the shortest slice among its tasks; in 6.6 no task has one of its own.
    fn follow_slice(&mut self, g: usize) {
        if self.params.form == Form::Linux66 {
            return;
        }
        let group = &mut self.groups[g];
        let slice = group.queue.shortest_own_slice(&self.params);
        if group.queued {
            self.root.set_own_slice(entity_of(g), slice);
        } else {
            group.entity.set_own_slice(slice);
        }
    }

    /// A task joins its queue, and with the first its group joins the root's.
    pub(super) fn insert(&mut self, task: u32, entity: Entity, group: Option<usize>) {
        self.nr += 1;
        self.touched = group;
        let params = self.params;
        self.queue_mut(group).enqueue(&params, task, entity);
        let Some(g) = group else { return };
        self.follow_slice(g);
        if !self.groups[g].queued || self.root.is_delayed(entity_of(g)) {
            let entity = self.groups[g].entity;
            self.root.enqueue(&params, entity_of(g), entity);
            self.groups[g].queued = true;
        }
    }

    /// A task has left a group's queue. Without tasks its entity leaves, too, or is delayed.
    fn settle(&mut self, g: usize) {
        if self.groups[g].queue.nr_queued() > 0 {
            return self.follow_slice(g);
        }
        let gone = if self.root.current() == Some(entity_of(g)) {
            self.root.sleep(&self.params)
        } else {
            self.root.sleep_waiting(&self.params, entity_of(g))
        };
        self.left(g, gone);
    }

    fn left(&mut self, g: usize, gone: Option<Entity>) {
        if let Some(entity) = gone {
            let group = &mut self.groups[g];
            group.entity = entity;
            group.queued = false;
        }
    }

    pub(super) fn sleep(&mut self, group: Option<usize>) -> Option<Entity> {
        self.nr -= 1;
        self.touched = group;
        let params = self.params;
        let left = self.queue_mut(group).sleep(&params);
        group.into_iter().for_each(|g| self.settle(g));
        left
    }

    /// A task leaves its queue; its group's entity follows the last.
    pub(super) fn remove(&mut self, task: u32, group: Option<usize>, waiting: bool) -> Entity {
        self.nr -= 1;
        self.touched = group;
        let params = self.params;
        let queue = self.queue_mut(group);
        let left = if waiting {
            queue.dequeue(&params, task)
        } else {
            queue.dequeue_current(&params)
        };
        group.into_iter().for_each(|g| self.settle(g));
        left
    }

    /// The times of the running task and its group are up to date.
    fn update(&mut self) {
        self.root.begin_pick(&self.params);
        if let Some(g) = self.root.current().and_then(group_of) {
            self.groups[g].queue.begin_pick(&self.params);
        }
    }

    /// The group waits, and soon its task (`requeue`).
    pub(super) fn begin_put(&mut self) {
        self.update();
        if self.root.current().is_some_and(|id| group_of(id).is_some()) {
            self.root.put_back();
        }
    }

    pub(super) fn rest_of_slice_ns(&self) -> Option<u64> {
        let group = self.root.current().and_then(group_of);
        let own = group.and_then(|g| self.groups[g].queue.rest_of_slice_ns());
        self.root.rest_of_slice_ns().into_iter().chain(own).min()
    }

    /// Only the rest of the task's own request is given up, as in the kernel.
    pub(super) fn yields(&mut self, group: Option<usize>) -> bool {
        let params = self.params;
        let own = self.queue_mut(group).yields(&params);
        own || self.root.nr_queued() > 1
    }

    /// Groups that are left without tasks leave the CPU's queue, too.
    pub(super) fn drop_sleepers(&mut self) -> Vec<(u32, Entity)> {
        let params = self.params;
        let mut gone = Vec::new();
        for g in 0..self.groups.len() {
            let dropped = self.groups[g].queue.drop_sleepers(&params);
            if !dropped.is_empty() {
                self.settle(g);
            }
            gone.extend(dropped);
        }
        for (id, entity) in self.root.drop_sleepers(&params) {
            match group_of(id) {
                Some(g) => self.left(g, Some(entity)),
                None => gone.push((id, entity)),
            }
        }
        gone
    }

    /// A sleeper that was kept leaves for good; None: it was not kept.
    pub(super) fn drop_delayed(&mut self, task: u32, group: Option<usize>) -> Option<Entity> {
        let params = self.params;
        let queue = self.queue_mut(group);
        if !queue.is_delayed(task) {
            return None;
        }
        let entity = queue.dequeue(&params, task);
        group.into_iter().for_each(|g| self.settle(g));
        Some(entity)
    }

    pub(super) fn set_own_slice(&mut self, task: u32, group: Option<usize>, own_ns: Option<u64>) {
        self.queue_mut(group).set_own_slice(task, own_ns);
        group.into_iter().for_each(|g| self.follow_slice(g));
    }

    /// Sleepers whose turn it is leave: on the CPU's queue, and in the group that is the next to
    /// run.
    pub(super) fn begin_pick(&mut self) -> Vec<(u32, Entity)> {
        let params = self.params;
        self.update();
        let mut gone = Vec::new();
        loop {
            if let Some((id, entity)) = self.root.drop_sleeper(&params) {
                match group_of(id) {
                    Some(g) => self.left(g, Some(entity)),
                    None => gone.push((id, entity)),
                }
                continue;
            }
            let Some(g) = self.root.next(&params).and_then(group_of) else {
                return gone;
            };
            let queue = &mut self.groups[g].queue;
            queue.begin_pick(&params);
            let Some(sleeper) = queue.drop_sleeper(&params) else {
                return gone;
            };
            gone.push(sleeper);
            self.settle(g);
        }
    }

    pub(super) fn requeue(&mut self, group: Option<usize>) {
        self.queue_mut(group).put_back();
    }

    pub(super) fn keeps(&mut self, group: Option<usize>) -> bool {
        let params = self.params;
        self.root.keeps(&params) && (group.is_none() || self.queue_mut(group).keeps(&params))
    }

    /// The next task: the root's choice, and within a group the group's.
    pub(super) fn pick(&mut self) -> Option<u32> {
        let params = self.params;
        if self.root.current().is_none() || !self.root.keeps(&params) {
            self.root.put_back();
            self.root.pick(&params)?;
        }
        let next = self.root.current()?;
        match group_of(next) {
            Some(g) => self.groups[g].queue.pick(&params),
            None => Some(next),
        }
    }

    pub(super) fn charge(&mut self, group: Option<usize>, delta_ns: u64) {
        self.root.charge(delta_ns);
        if group.is_some() {
            self.queue_mut(group).charge(delta_ns);
        }
    }

    /// Compared on the level of their common queue. A group is not idle, whatever its tasks are.
    pub(super) fn preempts(
        &mut self,
        (task, woken, to): (u32, FairPolicy, Option<usize>),
        (_, running, from): (u32, FairPolicy, Option<usize>),
    ) -> bool {
        let params = self.params;
        let Some(g) = to.filter(|_| to != from) else {
            let level = if to == from { to } else { None };
            return self.queue_mut(level).preempts(&params, task);
        };
        let idle_runs = from.is_none() && running == FairPolicy::Idle;
        let policy = if idle_runs { FairPolicy::Other } else { woken };
        self.root.preempts_as(&params, entity_of(g), Some(policy))
    }

    pub(super) fn tick(&mut self, group: Option<usize>) -> bool {
        let params = self.params;
        let above = self.root.tick(&params);
        let own = group.is_some() && self.queue_mut(group).tick(&params);
        above || own
    }

    pub(super) fn reweight(&mut self, group: Option<usize>, weight: Weight) {
        let params = self.params;
        self.queue_mut(group).reweight(&params, weight);
    }

    /// The group's entity has another weight on this CPU.
    pub(super) fn set_group_weight(&mut self, g: usize, weight: Weight) {
        let group = &mut self.groups[g];
        if group.weight == weight {
            return;
        }
        group.weight = weight;
        if !group.queued {
            group.entity.reweight_off_queue(weight);
        } else if self.root.current() == Some(entity_of(g)) {
            self.root.reweight(&self.params, weight);
        } else {
            self.root
                .reweight_waiting(&self.params, entity_of(g), weight);
        }
    }

    /// Both levels agree; it panics if not.
    pub(super) fn check(&self) {
        self.root.check();
        let mut grouped = 0;
        let mut entities = 0;
        for (g, group) in self.groups.iter().enumerate() {
            group.queue.check();
            let delayed = self.root.is_delayed(entity_of(g));
            let has_tasks = group.queue.nr_queued() > 0;
            assert_eq!(group.queued, has_tasks || delayed, "group {g} on its CPU");
            assert!(!(delayed && has_tasks), "group {g} is delayed with tasks");
            entities += usize::from(has_tasks);
            grouped += group.queue.nr();
        }
        assert_eq!(
            self.root.nr() - entities + grouped,
            self.nr,
            "tasks of groups"
        );
    }
}
