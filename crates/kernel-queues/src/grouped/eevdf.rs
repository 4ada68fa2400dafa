//! The queues of the kernels from 6.6 on, one in another. A group's entity runs, waits and is
//! delayed like a task; it goes on being the one that runs while the group's tasks change
//! (docs/decisions/020, docs/rules/queues.md#eevdf). `check` says what the levels must agree on.
//!
//! What must stay: each level is an `EevdfQueue` (eevdf.rs has the rules); levels are kept in step
//! here. Free: how levels are stored; not who is asked first, from the outside in.
//!
//! Tests by part: grouped/eevdf/tests.rs: `a_sleepers_group_goes_on` (`name_buddies`,
//! `name_after_sleep`, `sleep`, `pick`); groups.rs: `groups_share_by_shares_not_by_tasks`,
//! `wakeups_preempt_across_groups` (`preempts`, `charge`, `insert`, `enqueue_groups`),
//! `who_yields_does_so_in_its_own_queue` (`yields`), `shares_follow_the_load_over_cpus`
//! (`set_group_weight`, `reweight`), `a_high_resolution_tick_ends_turns_of_groups` (`tick`,
//! `rest_of_slice_ns`); bandwidth.rs: `a_task_without_end_gets_its_quota` (`throttle`,
//! `unthrottle`, `left`, `leave`); invariants.rs: `random_groups_obey_the_rules` (`check` as a run
//! ends: `remove`, `settle`, `drop_sleepers`, `drop_delayed`, `requeue`, `put_back_from`, `keeps`,
//! `follow_slice`).
//!
//! Callers: `GroupedEevdf` (grouped/eevdf_class.rs).
//!
//! Tests: crates/engine/tests/behaviour/groups.rs, crates/kernel-queues/src/grouped/eevdf/tests.rs

#[cfg(test)]
mod tests;

use super::{GroupShape, Nest, entity_of, group_of};
use crate::eevdf::{EevdfParams, EevdfQueue, Entity, Form};
use crate::weight::{Weight, preempts_by_policy};
use wakeplace_workload::FairPolicy;

/// A group on one CPU.
#[derive(Debug)]
struct Group {
    queue: EevdfQueue,
    /// Stands for it on the queue above; valid while it is not there.
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
    nest: Nest,
    nr: usize,
    pub(super) touched: Option<usize>,
}

impl EevdfTree {
    /// Queues of one CPU: the root's and one for each group.
    pub(super) fn new(params: EevdfParams, shapes: &[GroupShape]) -> Self {
        let group = |shape: &GroupShape| Group {
            queue: EevdfQueue::default(),
            entity: Entity::of_group(u64::from(shape.shares), shape.idle),
            queued: false,
            weight: Weight::of_sum(u64::from(shape.shares)),
        };
        Self {
            params,
            root: EevdfQueue::default(),
            groups: shapes.iter().map(group).collect(),
            nest: Nest::new(shapes),
            nr: 0,
            touched: None,
        }
    }

    /// Tasks that the CPU counts.
    pub(super) fn nr(&self) -> usize {
        self.nr
    }

    /// Waiting tasks that the CPU counts, in no meaningful order.
    pub(super) fn waiting(&self) -> impl Iterator<Item = u32> + '_ {
        let seen = self.nest.all().filter(|g| !self.nest.is_hidden(*g));
        let queues = seen.map(|g| &self.groups[g].queue);
        let waiting = std::iter::once(&self.root).chain(queues);
        let waiting = waiting.flat_map(EevdfQueue::waiting);
        waiting.filter(|id| group_of(*id).is_none())
    }

    /// The queue of a group; None: the root's.
    fn queue(&self, group: Option<usize>) -> &EevdfQueue {
        group.map_or(&self.root, |g| &self.groups[g].queue)
    }

    /// Gives a level's queue to be changed.
    fn queue_mut(&mut self, group: Option<usize>) -> &mut EevdfQueue {
        match group {
            Some(g) => &mut self.groups[g].queue,
            None => &mut self.root,
        }
    }

    /// Does its queue keep it though it sleeps?
    pub(super) fn is_delayed(&self, task: u32, group: Option<usize>) -> bool {
        self.queue(group).is_delayed(task)
    }

    /// A group asks for the shortest slice among its tasks; in 6.6 no task has one of its own.
    fn follow_slice(&mut self, g: usize) {
        if self.params.form == Form::Linux66 {
            return;
        }
        let group = &mut self.groups[g];
        let slice = group.queue.shortest_own_slice(&self.params);
        if group.queued {
            self.queue_mut(self.nest.above(g))
                .set_own_slice(entity_of(g), slice);
        } else {
            group.entity.set_own_slice(slice);
        }
    }

    /// A task joins its queue, and with the first its group joins the root's.
    pub(super) fn insert(&mut self, task: u32, entity: Entity, group: Option<usize>) {
        self.nr += usize::from(group.is_none_or(|g| !self.nest.is_hidden(g)));
        self.touched = group;
        let params = self.params;
        self.queue_mut(group).enqueue(&params, task, entity);
        self.enqueue_groups(group);
    }

    /// A group has something to run: its entity joins the queue above, and so on, up to a group
    /// that may not run.
    fn enqueue_groups(&mut self, mut group: Option<usize>) {
        let params = self.params;
        while let Some(g) = group {
            self.follow_slice(g);
            let above = self.nest.above(g);
            if self.nest.is_throttled(g) {
                return;
            }
            if !self.groups[g].queued || self.queue(above).is_delayed(entity_of(g)) {
                let entity = self.groups[g].entity;
                self.queue_mut(above).enqueue(&params, entity_of(g), entity);
                self.groups[g].queued = true;
            }
            group = above;
        }
    }

    /// A task has left a group's queue. Without tasks its entity leaves, too, or is delayed.
    fn settle(&mut self, mut group: Option<usize>) {
        let params = self.params;
        while let Some(g) = group {
            let above = self.nest.above(g);
            if self.groups[g].queue.nr_queued() > 0 {
                self.follow_slice(g);
                group = above;
                continue;
            }
            if !self.groups[g].queued {
                return; // it may not run
            }
            let queue = self.queue_mut(above);
            let gone = if queue.current() == Some(entity_of(g)) {
                queue.sleep(&params)
            } else {
                queue.sleep_waiting(&params, entity_of(g))
            };
            self.left(g, gone);
            group = above;
        }
    }

    /// A group's entity has left the queue above: kept with what it is owed.
    fn left(&mut self, g: usize, gone: Option<Entity>) {
        if let Some(entity) = gone {
            let group = &mut self.groups[g];
            group.entity = entity;
            group.queued = false;
        }
    }

    /// The group may not run: its entity leaves the queue above. None of its tasks runs. Returns
    /// how many tasks the CPU has lost.
    pub(super) fn throttle(&mut self, g: usize) -> usize {
        let seen = self.seen_below(g);
        self.nest.set_throttled(g, true);
        self.put_back_from(Some(g));
        if self.groups[g].queued {
            let (params, above) = (self.params, self.nest.above(g));
            let entity = self.queue_mut(above).leave(&params, entity_of(g));
            self.left(g, Some(entity));
            self.settle(above);
        }
        self.nr -= seen;
        seen
    }

    /// It may run again. Returns how many tasks the CPU has got.
    pub(super) fn unthrottle(&mut self, g: usize) -> usize {
        self.nest.set_throttled(g, false);
        if self.groups[g].queue.nr_queued() > 0 {
            self.enqueue_groups(Some(g));
        }
        let seen = self.seen_below(g);
        self.nr += seen;
        seen
    }

    /// Tasks in a group and in those in it that the CPU counts.
    fn seen_below(&self, g: usize) -> usize {
        let inner = self.nest.all().filter(|h| self.nest.is_in(*h, g));
        let seen = inner.filter(|h| !self.nest.is_hidden(*h));
        seen.map(|h| self.tasks_of(h)).sum()
    }

    /// Tasks in a group's own queue that can run.
    fn tasks_of(&self, g: usize) -> usize {
        let queue = &self.groups[g].queue;
        let waiting = queue.waiting().filter(|id| group_of(*id).is_none());
        let runs = queue.current().is_some_and(|id| group_of(id).is_none());
        waiting.count() + usize::from(runs)
    }

    /// The running task sleeps; None: its queue keeps it.
    pub(super) fn sleep(&mut self, group: Option<usize>) -> Option<Entity> {
        self.nr -= 1;
        self.touched = group;
        let params = self.params;
        let left = self.queue_mut(group).sleep(&params);
        self.settle(group);
        if left.is_some() {
            self.name_after_sleep(group);
        }
        left
    }

    /// A task leaves its queue; its group's entity follows the last.
    pub(super) fn remove(&mut self, task: u32, group: Option<usize>, waiting: bool) -> Entity {
        self.nr -= usize::from(group.is_none_or(|g| !self.nest.is_hidden(g)));
        self.touched = group;
        let params = self.params;
        let queue = self.queue_mut(group);
        let left = if waiting {
            queue.dequeue(&params, task)
        } else {
            queue.dequeue_current(&params)
        };
        self.settle(group);
        left
    }

    /// The running task leaves for as long as its group may not run, whatever it has had.
    pub(super) fn leave(&mut self, task: u32, group: Option<usize>) -> Entity {
        self.nr -= 1;
        self.touched = group;
        let params = self.params;
        let left = self.queue_mut(group).leave(&params, task);
        self.settle(group);
        left
    }

    /// The times of the running task and its groups are up to date.
    fn update(&mut self) {
        let params = self.params;
        self.root.begin_pick(&params);
        let mut runs = self.root.current();
        while let Some(g) = runs.and_then(group_of) {
            let queue = &mut self.groups[g].queue;
            queue.begin_pick(&params);
            runs = queue.current();
        }
    }

    /// The groups wait, and soon their task (`requeue`).
    pub(super) fn begin_put(&mut self) {
        self.update();
        self.put_back_from(None);
    }

    /// The entities of groups that run wait again, from this queue inwards.
    fn put_back_from(&mut self, mut group: Option<usize>) {
        while let Some(g) = self.queue(group).current().and_then(group_of) {
            self.queue_mut(group).put_back();
            group = Some(g);
        }
    }

    /// The least over the levels that run; None: nobody waits.
    pub(super) fn rest_of_slice_ns(&self) -> Option<u64> {
        let mut queue = &self.root;
        let mut rest = queue.rest_of_slice_ns();
        while let Some(g) = queue.current().and_then(group_of) {
            queue = &self.groups[g].queue;
            rest = rest.into_iter().chain(queue.rest_of_slice_ns()).min();
        }
        rest
    }

    /// Only the rest of the task's own request is given up, as in the kernel.
    pub(super) fn yields(&mut self, group: Option<usize>) -> bool {
        let params = self.params;
        let own = self.queue_mut(group).yields(&params);
        own || self.nest.around(group).any(|g| {
            let above = self.nest.above(g);
            self.queue(above).nr_queued() > 1
        })
    }

    /// Groups that are left without tasks leave the queues above, too.
    pub(super) fn drop_sleepers(&mut self) -> Vec<(u32, Entity)> {
        let params = self.params;
        let mut gone = Vec::new();
        for group in self.nest.inside_out().chain([None]) {
            let dropped = self.queue_mut(group).drop_sleepers(&params);
            let none = dropped.is_empty();
            for (id, entity) in dropped {
                match group_of(id) {
                    Some(g) => self.left(g, Some(entity)),
                    None => gone.push((id, entity)),
                }
            }
            if !none {
                self.settle(group);
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
        self.settle(group);
        Some(entity)
    }

    /// The groups around follow their shortest.
    pub(super) fn set_own_slice(&mut self, task: u32, group: Option<usize>, own_ns: Option<u64>) {
        self.queue_mut(group).set_own_slice(task, own_ns);
        for g in self.nest.around(group).collect::<Vec<_>>() {
            self.follow_slice(g);
        }
    }

    /// Sleepers whose turn it is leave: on the CPU's queue, and in the groups that are the next to
    /// run.
    pub(super) fn begin_pick(&mut self) -> Vec<(u32, Entity)> {
        let params = self.params;
        self.update();
        let mut gone = Vec::new();
        let mut group = None;
        loop {
            let queue = self.queue_mut(group);
            if group.is_some() {
                queue.begin_pick(&params);
            }
            if let Some((id, entity)) = queue.drop_sleeper(&params) {
                match group_of(id) {
                    Some(g) => self.left(g, Some(entity)),
                    None => gone.push((id, entity)),
                }
                self.settle(group);
                self.name_after_sleep(group);
                group = None; // who is next may be another
                continue;
            }
            group = match queue.next(&params).and_then(group_of) {
                Some(g) => Some(g),
                None => return gone,
            };
        }
    }

    /// The running task waits again in its own queue.
    pub(super) fn requeue(&mut self, group: Option<usize>) {
        self.queue_mut(group).put_back();
    }

    /// Does each level go on with what it runs?
    pub(super) fn keeps(&mut self, group: Option<usize>) -> bool {
        let params = self.params;
        let mut around = self.nest.around(group);
        self.root.keeps(&params) && around.all(|g| self.groups[g].queue.keeps(&params))
    }

    /// The next task: the root's choice, and within a group the group's. None: the queue is empty.
    pub(super) fn pick(&mut self) -> Option<u32> {
        let params = self.params;
        let mut group = None;
        loop {
            let queue = self.queue_mut(group);
            if queue.current().is_none() || !queue.keeps(&params) {
                self.put_back_from(group);
                let queue = self.queue_mut(group);
                queue.put_back();
                queue.pick(&params)?;
            }
            let next = self.queue(group).current()?;
            group = match group_of(next) {
                Some(g) => Some(g),
                None => return Some(next),
            };
        }
    }

    /// All levels that run.
    pub(super) fn charge(&mut self, group: Option<usize>, delta_ns: u64) {
        self.root.charge(&self.params, delta_ns);
        for g in self.nest.around(group) {
            self.groups[g].queue.charge(&self.params, delta_ns);
        }
    }

    /// Compared on the level of their common queue. A group is idle if it says so (`cpu.idle`),
    /// whatever its tasks are.
    pub(super) fn preempts(
        &mut self,
        (task, woken, to): (u32, FairPolicy, Option<usize>),
        (current, _, from): (u32, FairPolicy, Option<usize>),
        sync: bool,
    ) -> (bool, Vec<(u32, Entity)>) {
        let params = self.params;
        let (level, [ours, _]) = self.nest.common([(task, to), (current, from)]);
        if params.names_all_woken() && !self.queue(to).is_new(task) && woken != FairPolicy::Idle {
            self.queue_mut(to).set_next_buddy(task);
            self.name_buddies(to);
        }
        let idle = |entity: FairPolicy| entity == FairPolicy::Idle;
        let by_policy = |theirs, ours| match (idle(theirs), idle(ours)) {
            (true, false) => Some(true),
            (false, true) => Some(false),
            _ => preempts_by_policy(FairPolicy::Other, woken),
        };
        let queue = self.queue_mut(level);
        let preempts = match ours == task {
            true => queue.preempts(&params, task, sync),
            false => queue.preempts_as(&params, ours, sync, by_policy),
        };
        let gone = queue.take_let_go();
        (preempts, self.let_go(gone, level))
    }

    /// Sleepers have left the queue of a level. Returns those that are tasks.
    fn let_go(&mut self, gone: Vec<(u32, Entity)>, level: Option<usize>) -> Vec<(u32, Entity)> {
        if gone.is_empty() {
            return gone;
        }
        let mut tasks = Vec::new();
        for (id, entity) in gone {
            match group_of(id) {
                Some(g) => self.left(g, Some(entity)),
                None => tasks.push((id, entity)),
            }
        }
        self.settle(level);
        tasks
    }

    /// The groups around a queue are the buddies of theirs, up to one that is SCHED_IDLE.
    fn name_buddies(&mut self, group: Option<usize>) {
        for g in self.nest.around(group).collect::<Vec<_>>() {
            if !self.groups[g].queued || self.groups[g].entity.policy() == FairPolicy::Idle {
                return;
            }
            self.queue_mut(self.nest.above(g))
                .set_next_buddy(entity_of(g));
        }
    }

    /// A task of the queue has gone to sleep: if it has others they are to go on (to 6.18: in 7.3
    /// groups have no queues of their own to be picked from).
    fn name_after_sleep(&mut self, group: Option<usize>) {
        if self.params.form >= Form::Linux73 {
            return;
        }
        let others = |g: &usize| self.groups[*g].queue.nr_queued() > 0;
        // One without others has left, or is delayed: then nobody is named.
        let first = { self.nest.around(group) }.find(|g| others(g) || self.groups[*g].queued);
        let first = first.filter(others);
        self.name_buddies(first);
    }

    /// Says whether a task is a buddy in its own queue.
    pub(super) fn is_buddy(&self, task: u32, group: Option<usize>) -> bool {
        self.queue(group).is_buddy(task)
    }

    /// Says whether a task is eligible in its own queue.
    pub(super) fn is_eligible(&self, task: u32, group: Option<usize>) -> bool {
        self.queue(group).is_eligible(task)
    }

    /// True: some level's request is over.
    pub(super) fn tick(&mut self, group: Option<usize>) -> bool {
        let params = self.params;
        let mut over = self.root.tick(&params);
        for g in self.nest.around(group) {
            over |= self.groups[g].queue.tick(&params);
        }
        over
    }

    /// The running task's, in its own queue.
    pub(super) fn reweight(&mut self, group: Option<usize>, weight: Weight) {
        let params = self.params;
        self.queue_mut(group).reweight(&params, weight);
    }

    /// The group's entity has another weight on this CPU.
    pub(super) fn set_group_weight(&mut self, g: usize, weight: Weight) {
        let (params, above) = (self.params, self.nest.above(g));
        let group = &mut self.groups[g];
        if group.weight == weight {
            return;
        }
        group.weight = weight;
        if !group.queued {
            group.entity.reweight_off_queue(weight);
        } else if self.queue(above).current() == Some(entity_of(g)) {
            self.queue_mut(above).reweight(&params, weight);
        } else {
            self.queue_mut(above)
                .reweight_waiting(&params, entity_of(g), weight);
        }
    }

    /// Both levels agree; it panics if not.
    pub(super) fn check(&self) {
        self.root.check();
        let mut tasks = self
            .root
            .waiting()
            .filter(|id| group_of(*id).is_none())
            .count();
        tasks += usize::from(self.root.current().is_some_and(|id| group_of(id).is_none()));
        for (g, group) in self.groups.iter().enumerate() {
            group.queue.check();
            let delayed = self.queue(self.nest.above(g)).is_delayed(entity_of(g));
            let has_tasks = group.queue.nr_queued() > 0 && !self.nest.is_throttled(g);
            assert_eq!(group.queued, has_tasks || delayed, "group {g} on its CPU");
            assert!(!(delayed && has_tasks), "group {g} is delayed with tasks");
            if !self.nest.is_hidden(g) {
                tasks += self.tasks_of(g);
            }
        }
        assert_eq!(tasks, self.nr, "tasks of groups");
    }
}
