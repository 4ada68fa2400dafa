//! CFS as a fair class without task groups. No rule is here: each call goes to the queue of one CPU
//! (docs/guide/model.md, "Run queues").
//!
//! A method without a comment is `FairClass`'s (fair_class.rs says what it means and when it
//! comes); the rule is in the method of `CfsQueue` that it calls (cfs.rs).
//!
//! What must stay: equals keep their order; each method answers for one CPU, with the arguments and
//! results of `FairClass`. Free: the forwarding alone.
//!
//! Tests by part: cfs/buddies/tests.rs: `a_preempted_task_goes_on_when_the_wakee_sleeps`,
//! `who_leaves_the_queue_is_no_buddy`, `a_wakeup_after_the_slice_names_nobody` (`wakeup_preempt`,
//! `pick_next_task`, `put_prev_task`, `task_tick`, `dequeue_sleep`, `update_curr`),
//! `a_yield_needs_another_task` (`yield_task`); engine's fair.rs:
//! `nice_0_and_nice_5_share_1024_to_335` (`add_task`, `enqueue_task`),
//! `wakeups_preempt_beyond_the_granularity_only` (`place_woken`), `new_tasks_start_a_slice_behind`
//! (`task_fork`); engine's changes.rs: `a_policy_holds_from_its_phase_on` (`detach_task`,
//! `attach_task`, `set_load_weight`). The other methods have no test of their own: `check`, which
//! invariants.rs asks as random runs end, would show a fault of theirs.
//!
//! Callers: `FairQueues` (fair_queues.rs).
//!
//! Tests: crates/engine/tests/behaviour/fair.rs

use super::{CfsParams, CfsQueue, Entity};
use crate::fair_class::FairClass;
use crate::weight::Weight;
use crate::{CpuId, TaskId};
use wakeplace_workload::FairPolicy;

/// The queues of all CPUs and the entities of all tasks.
#[derive(Debug)]
pub(crate) struct Cfs {
    params: CfsParams,
    queues: Vec<CfsQueue>,
    entities: Vec<Entity>,
}

impl Cfs {
    /// Empty queues for so many CPUs.
    pub(crate) fn new(params: CfsParams, nr_cpus: usize) -> Self {
        Self {
            params,
            queues: std::iter::repeat_with(CfsQueue::default)
                .take(nr_cpus)
                .collect(),
            entities: Vec::new(),
        }
    }

    /// The CPU's min_vruntime.
    fn floor(&self, cpu: CpuId) -> i64 {
        self.queues[cpu.index()].min_vruntime
    }

    /// Of a task that does not wait.
    #[cfg(test)]
    pub(super) fn set_vruntime(&mut self, task: TaskId, vruntime: i64) {
        self.entities[task.index()].vruntime = vruntime;
    }
}

impl FairClass for Cfs {
    #[inline]
    fn add_task(&mut self, nice: i8, policy: FairPolicy, _own_slice_ns: Option<u64>) -> TaskId {
        self.entities.push(Entity::new(nice, policy));
        TaskId(self.entities.len() as u32 - 1)
    }

    #[inline]
    fn nr_running(&self, cpu: CpuId) -> usize {
        self.queues[cpu.index()].nr
    }

    #[inline]
    fn each_waiting(&self, cpu: CpuId, seen: &mut dyn FnMut(TaskId)) {
        let waiting = self.queues[cpu.index()].waiting();
        waiting.for_each(|task| seen(TaskId(task)));
    }

    /// A sleeper goes on from the queue's time, as it fell behind that while it slept.
    #[inline]
    fn place_woken(&mut self, task: TaskId, cpu: CpuId) {
        let entity = &mut self.entities[task.index()];
        entity.vruntime = self.queues[cpu.index()].place_woken(&self.params, entity);
    }

    /// Placed by the parent's queue, then carried to the child's CPU as a distance.
    #[inline]
    fn task_fork(&mut self, child: TaskId, parent: Option<TaskId>, here: CpuId, cpu: CpuId) {
        let queue = &self.queues[here.index()];
        let entity = &self.entities[child.index()];
        let after = parent.map_or(queue.min_vruntime, |p| self.entities[p.index()].vruntime);
        let ahead = queue.place_new(&self.params, entity, after) - queue.min_vruntime;
        self.entities[child.index()].vruntime = ahead + self.floor(cpu);
    }

    /// The distance to the queue's time stays.
    #[inline]
    fn migrate_task_rq(&mut self, task: TaskId, from: CpuId, to: CpuId) {
        self.entities[task.index()].vruntime += self.floor(to) - self.floor(from);
    }

    #[inline]
    fn detach_task(&mut self, task: TaskId, cpu: CpuId) {
        self.entities[task.index()].vruntime -= self.floor(cpu);
    }

    #[inline]
    fn attach_task(&mut self, task: TaskId, cpu: CpuId) {
        self.entities[task.index()].vruntime += self.floor(cpu);
    }

    #[inline]
    fn enqueue_task(&mut self, task: TaskId, cpu: CpuId) {
        self.queues[cpu.index()].enqueue(task.0, &self.entities[task.index()]);
    }

    #[inline]
    fn dequeue_task(&mut self, task: TaskId, cpu: CpuId, waiting: bool) {
        self.queues[cpu.index()].dequeue(task.0, &self.entities[task.index()], waiting);
    }

    /// False: CFS keeps no sleeper.
    #[inline]
    fn dequeue_sleep(&mut self, task: TaskId, cpu: CpuId, _ends: bool) -> bool {
        self.dequeue_task(task, cpu, false);
        self.queues[cpu.index()].update_min(None);
        false
    }

    #[inline]
    fn put_prev_task(&mut self, task: TaskId, cpu: CpuId) {
        let vruntime = self.entities[task.index()].vruntime;
        self.queues[cpu.index()].insert(task.0, vruntime);
    }

    #[inline]
    fn keeps(&mut self, task: TaskId, cpu: CpuId) -> bool {
        let entity = |task: u32| &self.entities[task as usize];
        self.queues[cpu.index()].keeps(&self.params, task.0, entity)
    }

    #[inline]
    fn pick_next_task(&mut self, cpu: CpuId) -> Option<TaskId> {
        let entity = |task: u32| &self.entities[task as usize];
        let next = self.queues[cpu.index()].pick(&self.params, entity);
        next.map(TaskId)
    }

    /// A turn begins with no slice used.
    #[inline]
    fn set_next_task(&mut self, task: TaskId) {
        self.entities[task.index()].slice_used_ns = 0;
    }

    #[inline]
    fn update_curr(&mut self, task: TaskId, cpu: CpuId, delta_ns: u64) {
        self.queues[cpu.index()].charge(&mut self.entities[task.index()], delta_ns);
    }

    #[inline]
    fn wakeup_preempt(&mut self, task: TaskId, running: TaskId, cpu: CpuId, _: bool) -> bool {
        let [woken, current] = [task, running].map(|t| (t.0, &self.entities[t.index()]));
        self.queues[cpu.index()].wakeup_preempt(&self.params, current, woken)
    }

    #[inline]
    fn is_buddy(&self, task: TaskId, cpu: CpuId) -> bool {
        self.queues[cpu.index()].is_buddy(task.0)
    }

    fn task_tick(&mut self, task: TaskId, cpu: CpuId) -> bool {
        let entity = &self.entities[task.index()];
        self.queues[cpu.index()].tick_preempts(&self.params, (task.0, entity))
    }

    /// False: nobody else waits.
    #[inline]
    fn yield_task(&mut self, task: TaskId, cpu: CpuId) -> bool {
        let queue = &mut self.queues[cpu.index()];
        let others = queue.nr > 1;
        if others {
            queue.pass_over(task.0);
        }
        others
    }

    #[inline]
    fn reweight_task(&mut self, task: TaskId, cpu: CpuId, nice: i8) {
        let new = Weight::of_nice(nice);
        let old = std::mem::replace(&mut self.entities[task.index()].weight, new);
        self.queues[cpu.index()].reweight(old, new);
    }

    #[inline]
    fn set_load_weight(&mut self, task: TaskId, nice: i8, policy: FairPolicy) {
        self.entities[task.index()].set_load_weight(nice, policy);
    }
}
