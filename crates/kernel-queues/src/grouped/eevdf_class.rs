//! EEVDF with task groups as a fair class. No rule is here: each call goes to the queues of one CPU
//! (docs/guide/model.md, "Task groups").
//!
//! A method without a comment is `FairClass`'s (fair_class.rs says what it means and when it
//! comes); the rule is in the method of `EevdfTree` that it calls (grouped/eevdf.rs).
//!
//! What must stay: a task off the queue keeps lag and slice of its own; each method answers for one
//! CPU, with the arguments and results of `FairClass`. Free: the forwarding alone.
//!
//! Tests by part: groups.rs of the engine: `groups_share_by_shares_not_by_tasks` (`add_task`,
//! `set_task_group`, `has_groups`, `enqueue_task`, `pick_next_task`, `put_prev_task`,
//! `update_curr`), `wakeups_preempt_across_groups` (`wakeup_preempt`, `dequeue_sleep`),
//! `who_yields_does_so_in_its_own_queue` (`yield_task`), `shares_follow_the_load_over_cpus`
//! (`set_group_weight`, `take_touched_group`), `a_high_resolution_tick_ends_turns_of_groups`
//! (`task_tick`, `slice_left_ns`); bandwidth.rs: `a_task_without_end_gets_its_quota`
//! (`throttle_group`, `unthrottle_group`, `dequeue_throttled`); changes.rs:
//! `a_group_holds_from_its_phase_on` (`set_task_group`, `dequeue_task`); storm.rs:
//! `random_steps_with_groups_obey_the_rules` (`reweight_task`, `set_load_weight`, `set_own_slice`);
//! invariants.rs: `random_groups_obey_the_rules` (`check`, which would show a fault of `new`,
//! `left`, `nr_running`, `each_waiting`, `is_delayed`, `begin_pick`, `drop_all_delayed`,
//! `begin_put`, `is_buddy` and `is_eligible`). No test asks for `drop_delayed` alone.
//!
//! Callers: `FairQueues` (fair_queues.rs).
//!
//! Tests: crates/engine/tests/behaviour/groups.rs

use super::GroupShape;
use super::eevdf::EevdfTree;
use crate::eevdf::{EevdfParams, Entity};
use crate::fair_class::FairClass;
use crate::weight::Weight;
use crate::{CpuId, TaskId};
use wakeplace_workload::FairPolicy;

/// The queues of all CPUs, and of each task its entity and its group.
#[derive(Debug)]
pub(crate) struct GroupedEevdf {
    trees: Vec<EevdfTree>,
    /// Valid while the task is on no queue; its policy always.
    off_queue: Vec<Entity>,
    groups: Vec<Option<usize>>,
}

impl GroupedEevdf {
    /// Trees for so many CPUs; groups have their numbers on all of them.
    pub(crate) fn new(params: EevdfParams, nr_cpus: usize, shapes: &[GroupShape]) -> Self {
        let tree = |_| EevdfTree::new(params, shapes);
        Self {
            trees: (0..nr_cpus).map(tree).collect(),
            off_queue: Vec::new(),
            groups: Vec::new(),
        }
    }

    /// Delayed tasks have left their queues. The CPU has not counted them since they fell asleep.
    fn left(&mut self, gone: Vec<(u32, Entity)>) {
        for (task, entity) in gone {
            self.off_queue[task as usize] = entity;
        }
    }
}

impl FairClass for GroupedEevdf {
    fn add_task(&mut self, nice: i8, policy: FairPolicy, own_slice_ns: Option<u64>) -> TaskId {
        self.off_queue.push(Entity::new(nice, policy, own_slice_ns));
        self.groups.push(None);
        TaskId(self.off_queue.len() as u32 - 1)
    }

    /// Moves a task that is off the queue to another group.
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

    fn enqueue_task(&mut self, task: TaskId, cpu: CpuId) {
        let (entity, group) = (self.off_queue[task.index()], self.groups[task.index()]);
        self.trees[cpu.index()].insert(task.0, entity, group);
    }

    fn dequeue_task(&mut self, task: TaskId, cpu: CpuId, waiting: bool) {
        let group = self.groups[task.index()];
        let left = self.trees[cpu.index()].remove(task.0, group, waiting);
        self.off_queue[task.index()] = left;
    }

    /// False in any case: with groups the CPU does not count sleepers that its queues keep.
    fn dequeue_sleep(&mut self, task: TaskId, cpu: CpuId, ends: bool) -> bool {
        if ends {
            self.dequeue_task(task, cpu, false);
        } else if let Some(left) = self.trees[cpu.index()].sleep(self.groups[task.index()]) {
            self.off_queue[task.index()] = left;
        }
        false
    }

    fn is_delayed(&self, task: TaskId, cpu: CpuId) -> bool {
        self.trees[cpu.index()].is_delayed(task.0, self.groups[task.index()])
    }

    fn begin_pick(&mut self, cpu: CpuId) {
        let gone = self.trees[cpu.index()].begin_pick();
        self.left(gone);
    }

    /// False in any case, since the CPU did not count it.
    fn drop_delayed(&mut self, task: TaskId, cpu: CpuId) -> bool {
        let group = self.groups[task.index()];
        if let Some(entity) = self.trees[cpu.index()].drop_delayed(task.0, group) {
            self.off_queue[task.index()] = entity;
        }
        false
    }

    /// None to report: the CPU did not count them.
    fn drop_all_delayed(&mut self, cpu: CpuId) -> Vec<TaskId> {
        let gone = self.trees[cpu.index()].drop_sleepers();
        self.left(gone);
        Vec::new()
    }

    fn begin_put(&mut self, cpu: CpuId) {
        self.trees[cpu.index()].begin_put();
    }

    fn put_prev_task(&mut self, task: TaskId, cpu: CpuId) {
        self.trees[cpu.index()].requeue(self.groups[task.index()]);
    }

    fn keeps(&mut self, task: TaskId, cpu: CpuId) -> bool {
        self.trees[cpu.index()].keeps(self.groups[task.index()])
    }

    fn pick_next_task(&mut self, cpu: CpuId) -> Option<TaskId> {
        self.trees[cpu.index()].pick().map(TaskId)
    }

    fn update_curr(&mut self, task: TaskId, cpu: CpuId, delta_ns: u64) {
        self.trees[cpu.index()].charge(self.groups[task.index()], delta_ns);
    }

    fn wakeup_preempt(&mut self, task: TaskId, running: TaskId, cpu: CpuId, sync: bool) -> bool {
        let seen = |t: TaskId| {
            let policy = self.off_queue[t.index()].policy();
            (t.0, policy, self.groups[t.index()])
        };
        let (woken, running) = (seen(task), seen(running));
        let (preempts, gone) = self.trees[cpu.index()].preempts(woken, running, sync);
        self.left(gone);
        preempts
    }

    fn is_buddy(&self, task: TaskId, cpu: CpuId) -> bool {
        self.trees[cpu.index()].is_buddy(task.0, self.groups[task.index()])
    }

    fn is_eligible(&self, task: TaskId, cpu: CpuId) -> bool {
        self.trees[cpu.index()].is_eligible(task.0, self.groups[task.index()])
    }

    fn task_tick(&mut self, task: TaskId, cpu: CpuId) -> bool {
        self.trees[cpu.index()].tick(self.groups[task.index()])
    }

    fn slice_left_ns(&self, cpu: CpuId) -> Option<u64> {
        self.trees[cpu.index()].rest_of_slice_ns()
    }

    fn yield_task(&mut self, task: TaskId, cpu: CpuId) -> bool {
        self.trees[cpu.index()].yields(self.groups[task.index()])
    }

    fn reweight_task(&mut self, task: TaskId, cpu: CpuId, nice: i8) {
        let group = self.groups[task.index()];
        self.trees[cpu.index()].reweight(group, Weight::of_nice(nice));
    }

    fn set_load_weight(&mut self, task: TaskId, nice: i8, policy: FairPolicy) {
        self.off_queue[task.index()].set_load_weight(nice, policy);
    }

    fn set_own_slice(&mut self, task: TaskId, cpu: CpuId, own_ns: Option<u64>) {
        self.off_queue[task.index()].set_own_slice(own_ns);
        let group = self.groups[task.index()];
        self.trees[cpu.index()].set_own_slice(task.0, group, own_ns);
    }

    fn has_groups(&self) -> bool {
        true
    }

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

    /// What it is owed is kept until the group may run again.
    fn dequeue_throttled(&mut self, task: TaskId, cpu: CpuId) {
        let group = self.groups[task.index()];
        let left = self.trees[cpu.index()].leave(task.0, group);
        self.off_queue[task.index()] = left;
    }

    fn take_touched_group(&mut self, cpu: CpuId) -> Option<usize> {
        self.trees[cpu.index()].touched.take()
    }

    fn check(&self, cpu: CpuId) {
        self.trees[cpu.index()].check();
    }
}
