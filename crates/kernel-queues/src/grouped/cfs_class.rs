//! CFS with task groups as a fair class. No rule is here: each call goes to the queues of one CPU
//! (docs/guide/model.md, "Task groups").
//!
//! A method without a comment is `FairClass`'s (fair_class.rs says what it means and when it
//! comes); the rule is in the method of `CfsTree` that it calls (grouped/cfs.rs).
//!
//! What must stay: a task's place is in the time of its group's queue; each method answers for one
//! CPU, with the arguments and results of `FairClass`. Free: the forwarding alone.
//!
//! Tests by part: groups.rs of the engine: `groups_share_by_shares_not_by_tasks` (`add_task`,
//! `set_task_group`, `has_groups`, `enqueue_task`, `pick_next_task`, `put_prev_task`,
//! `update_curr`, `task_tick`), `wakeups_preempt_across_groups` (`wakeup_preempt`, `dequeue_sleep`,
//! `place_woken`), `who_yields_does_so_in_its_own_queue` (`yield_task`),
//! `shares_follow_the_load_over_cpus` (`set_group_weight`, `take_touched_group`); bandwidth.rs:
//! `a_task_without_end_gets_its_quota` (`throttle_group`, `unthrottle_group`); changes.rs:
//! `a_group_holds_from_its_phase_on` (`set_task_group`, `detach_task`, `attach_task`,
//! `dequeue_task`); storm.rs: `random_steps_with_groups_obey_the_rules` (`reweight_task`,
//! `set_load_weight`); invariants.rs: `random_groups_obey_the_rules` (`check`, which would show a
//! fault of `new`, `floor`, `nr_running`, `each_waiting`, `task_fork`, `migrate_task_rq`,
//! `begin_put`, `keeps`, `set_next_task` and `is_buddy`).
//!
//! Callers: `FairQueues` (fair_queues.rs).
//!
//! Tests: crates/engine/tests/behaviour/groups.rs

use super::GroupShape;
use super::cfs::CfsTree;
use crate::cfs::{CfsParams, Entity};
use crate::fair_class::FairClass;
use crate::weight::Weight;
use crate::{CpuId, TaskId};
use wakeplace_workload::FairPolicy;

/// The queues of all CPUs, and of each task its entity and its group.
#[derive(Debug)]
pub(crate) struct GroupedCfs {
    trees: Vec<CfsTree>,
    entities: Vec<Entity>,
    groups: Vec<Option<usize>>,
}

impl GroupedCfs {
    /// Trees for so many CPUs; groups have their numbers on all of them.
    pub(crate) fn new(params: CfsParams, nr_cpus: usize, shapes: &[GroupShape]) -> Self {
        Self {
            trees: (0..nr_cpus).map(|_| CfsTree::new(params, shapes)).collect(),
            entities: Vec::new(),
            groups: Vec::new(),
        }
    }

    /// The time of the queue that the task is in on `cpu`.
    fn floor(&self, task: TaskId, cpu: CpuId) -> i64 {
        self.trees[cpu.index()].floor(self.groups[task.index()])
    }
}

impl FairClass for GroupedCfs {
    fn add_task(&mut self, nice: i8, policy: FairPolicy, _own_slice_ns: Option<u64>) -> TaskId {
        self.entities.push(Entity::new(nice, policy));
        self.groups.push(None);
        TaskId(self.entities.len() as u32 - 1)
    }

    /// Off the queue. The place is `detach_task` and `attach_task`'s.
    fn set_task_group(&mut self, task: TaskId, group: Option<usize>) {
        self.groups[task.index()] = group;
    }

    fn nr_running(&self, cpu: CpuId) -> usize {
        self.trees[cpu.index()].nr()
    }

    fn each_waiting(&self, cpu: CpuId, seen: &mut dyn FnMut(TaskId)) {
        let waiting = self.trees[cpu.index()].waiting();
        waiting.for_each(|task| seen(TaskId(task)));
    }

    /// By the time of its group's queue.
    fn place_woken(&mut self, task: TaskId, cpu: CpuId) {
        let entity = &mut self.entities[task.index()];
        self.trees[cpu.index()].place_woken(entity, self.groups[task.index()]);
    }

    /// Places a new task as without groups, in the queue of its group.
    fn task_fork(&mut self, child: TaskId, parent: Option<TaskId>, here: CpuId, cpu: CpuId) {
        let group = self.groups[child.index()];
        // A parent in another queue says nothing of this one's time.
        let same = parent.filter(|p| self.groups[p.index()] == group);
        let parent = same.map(|p| &self.entities[p.index()]);
        let tree = &self.trees[here.index()];
        let ahead = tree.place_new(&self.entities[child.index()], group, parent);
        self.entities[child.index()].vruntime = ahead + self.floor(child, cpu);
    }

    fn migrate_task_rq(&mut self, task: TaskId, from: CpuId, to: CpuId) {
        let floors = self.floor(task, to) - self.floor(task, from);
        self.entities[task.index()].vruntime += floors;
    }

    fn detach_task(&mut self, task: TaskId, cpu: CpuId) {
        let floor = self.floor(task, cpu);
        self.entities[task.index()].vruntime -= floor;
    }

    fn attach_task(&mut self, task: TaskId, cpu: CpuId) {
        let floor = self.floor(task, cpu);
        self.entities[task.index()].vruntime += floor;
    }

    fn enqueue_task(&mut self, task: TaskId, cpu: CpuId) {
        let (entity, group) = (&self.entities[task.index()], self.groups[task.index()]);
        self.trees[cpu.index()].insert(task.0, entity, group);
    }

    fn dequeue_task(&mut self, task: TaskId, cpu: CpuId, waiting: bool) {
        let (entity, group) = (&self.entities[task.index()], self.groups[task.index()]);
        self.trees[cpu.index()].remove(task.0, entity, group, waiting);
    }

    /// False: CFS keeps no sleeper.
    fn dequeue_sleep(&mut self, task: TaskId, cpu: CpuId, _ends: bool) -> bool {
        let (entity, group) = (&self.entities[task.index()], self.groups[task.index()]);
        self.trees[cpu.index()].leave(task.0, entity, group);
        false
    }

    fn begin_put(&mut self, cpu: CpuId) {
        self.trees[cpu.index()].begin_put();
    }

    fn put_prev_task(&mut self, task: TaskId, cpu: CpuId) {
        let (entity, group) = (&self.entities[task.index()], self.groups[task.index()]);
        self.trees[cpu.index()].requeue(task.0, entity, group);
    }

    fn keeps(&mut self, task: TaskId, cpu: CpuId) -> bool {
        let group = self.groups[task.index()];
        self.trees[cpu.index()].keeps(task.0, &self.entities, group)
    }

    fn pick_next_task(&mut self, cpu: CpuId) -> Option<TaskId> {
        self.trees[cpu.index()].pick(&self.entities).map(TaskId)
    }

    fn set_next_task(&mut self, task: TaskId) {
        self.entities[task.index()].slice_used_ns = 0;
    }

    fn update_curr(&mut self, task: TaskId, cpu: CpuId, delta_ns: u64) {
        let entity = &mut self.entities[task.index()];
        self.trees[cpu.index()].charge(entity, self.groups[task.index()], delta_ns);
    }

    fn wakeup_preempt(&mut self, task: TaskId, running: TaskId, cpu: CpuId, _: bool) -> bool {
        let seen = |t: TaskId| (t.0, &self.entities[t.index()], self.groups[t.index()]);
        self.trees[cpu.index()].preempts(seen(task), seen(running))
    }

    fn is_buddy(&self, task: TaskId, cpu: CpuId) -> bool {
        self.trees[cpu.index()].is_buddy(task.0, self.groups[task.index()])
    }

    fn task_tick(&mut self, task: TaskId, cpu: CpuId) -> bool {
        let (entity, group) = (&self.entities[task.index()], self.groups[task.index()]);
        self.trees[cpu.index()].tick(task.0, entity, group)
    }

    fn yield_task(&mut self, task: TaskId, cpu: CpuId) -> bool {
        self.trees[cpu.index()].yields(task.0, self.groups[task.index()])
    }

    fn reweight_task(&mut self, task: TaskId, cpu: CpuId, nice: i8) {
        let new = Weight::of_nice(nice);
        let old = std::mem::replace(&mut self.entities[task.index()].weight, new);
        self.trees[cpu.index()].reweight(self.groups[task.index()], old, new);
    }

    fn set_load_weight(&mut self, task: TaskId, nice: i8, policy: FairPolicy) {
        self.entities[task.index()].set_load_weight(nice, policy);
    }

    fn has_groups(&self) -> bool {
        true
    }

    /// In the units of a task's weight; nice 0 is 1024.
    fn set_group_weight(&mut self, group: usize, cpu: CpuId, weight: u32) {
        let weight = Weight::of_sum(weight.into());
        self.trees[cpu.index()].set_group_weight(group, weight);
    }

    fn throttle_group(&mut self, group: usize, cpu: CpuId) -> usize {
        self.trees[cpu.index()].throttle(group)
    }

    fn unthrottle_group(&mut self, group: usize, cpu: CpuId) -> usize {
        self.trees[cpu.index()].unthrottle(group)
    }

    fn take_touched_group(&mut self, cpu: CpuId) -> Option<usize> {
        self.trees[cpu.index()].touched.take()
    }

    fn check(&self, cpu: CpuId) {
        self.trees[cpu.index()].check();
    }
}
