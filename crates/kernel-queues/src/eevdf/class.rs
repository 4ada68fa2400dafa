//! EEVDF as a fair class without task groups. No rule is here: each call goes to the queue of one
//! CPU (docs/guide/model.md, "Run queues").
//!
//! A method without a comment is `FairClass`'s (fair_class.rs says what it means and when it
//! comes); the rule is in the method of `EevdfQueue` that it calls (eevdf.rs).
//!
//! What must stay: equals keep their order; an entity off the queue keeps lag and slice. Free:
//! the forwarding alone.
//!
//! Tests by part: engine's eevdf.rs: `two_hogs_alternate_every_3_ms` (`add_task`, `enqueue_task`,
//! `task_tick`, `pick_next_task`, `put_prev_task`, `update_curr`), `who_yields_lets_the_other_run`
//! (`yield_task`), `a_high_resolution_tick_ends_slices_in_time` (`slice_left_ns`),
//! `a_delayed_sleeper_wakes_without_a_choice` (`dequeue_sleep`, `is_delayed`, `drop_delayed_next`),
//! `a_short_slice_preempts_at_the_first_wakeup` (`wakeup_preempt`, slices of a task's own);
//! storm.rs: `random_steps_obey_the_rules` (`set_own_slice`, `reweight_task`, `set_load_weight`);
//! hotplug.rs: `random_schedules_lose_nothing_1` (`each_waiting`, `drop_all_delayed`,
//! `dequeue_task`); invariants.rs: `random_runs_obey_the_rules_1` (`check`, which would show a
//! fault of `nr_running`, `nr_queued`, `begin_pick`, `begin_put`, `take_let_go` and `new`). No test
//! asks for `drop_delayed` alone. Pulls of the engine ask `is_eligible` and `is_buddy`.
//!
//! Callers: `FairQueues` (fair_queues.rs).
//!
//! Tests: crates/engine/tests/behaviour/eevdf.rs

use super::{EevdfParams, EevdfQueue, Entity};
use crate::fair_class::FairClass;
use crate::weight::Weight;
use crate::{CpuId, TaskId};
use wakeplace_workload::FairPolicy;

/// The queues of all CPUs and the entities of all tasks.
#[derive(Debug)]
pub(crate) struct Eevdf {
    params: EevdfParams,
    queues: Vec<EevdfQueue>,
    /// Valid while the task is on no queue: a queue keeps the entities of its tasks beside each
    /// other, where it looks for the next one.
    off_queue: Vec<Entity>,
}

impl Eevdf {
    /// Empty queues for so many CPUs.
    pub(crate) fn new(params: EevdfParams, nr_cpus: usize) -> Self {
        Self {
            params,
            queues: std::iter::repeat_with(EevdfQueue::default)
                .take(nr_cpus)
                .collect(),
            off_queue: Vec::new(),
        }
    }
}

impl FairClass for Eevdf {
    #[inline]
    fn add_task(&mut self, nice: i8, policy: FairPolicy, own_slice_ns: Option<u64>) -> TaskId {
        self.off_queue.push(Entity::new(nice, policy, own_slice_ns));
        TaskId(self.off_queue.len() as u32 - 1)
    }

    #[inline]
    fn nr_running(&self, cpu: CpuId) -> usize {
        self.queues[cpu.index()].nr()
    }

    #[inline]
    fn nr_queued(&self, cpu: CpuId) -> usize {
        self.queues[cpu.index()].nr_queued()
    }

    #[inline]
    fn each_waiting(&self, cpu: CpuId, seen: &mut dyn FnMut(TaskId)) {
        let waiting = self.queues[cpu.index()].waiting();
        waiting.for_each(|task| seen(TaskId(task)));
    }

    #[inline]
    fn enqueue_task(&mut self, task: TaskId, cpu: CpuId) {
        let entity = self.off_queue[task.index()];
        self.queues[cpu.index()].enqueue(&self.params, task.0, entity);
    }

    /// What it is owed is kept with the entity until it joins a queue again.
    #[inline]
    fn dequeue_task(&mut self, task: TaskId, cpu: CpuId, waiting: bool) {
        let queue = &mut self.queues[cpu.index()];
        self.off_queue[task.index()] = if waiting {
            queue.dequeue(&self.params, task.0)
        } else {
            queue.dequeue_current(&self.params)
        };
    }

    /// True: the queue keeps the sleeper (delayed dequeue).
    #[inline]
    fn dequeue_sleep(&mut self, task: TaskId, cpu: CpuId, ends: bool) -> bool {
        if ends {
            self.dequeue_task(task, cpu, false);
            return false;
        }
        let left = self.queues[cpu.index()].sleep(&self.params);
        if let Some(entity) = left {
            self.off_queue[task.index()] = entity;
        }
        left.is_none()
    }

    #[inline]
    fn is_delayed(&self, task: TaskId, cpu: CpuId) -> bool {
        self.queues[cpu.index()].is_delayed(task.0)
    }

    #[inline]
    fn begin_pick(&mut self, cpu: CpuId) {
        self.queues[cpu.index()].begin_pick(&self.params);
    }

    #[inline]
    fn drop_delayed_next(&mut self, cpu: CpuId) -> Option<TaskId> {
        let (task, entity) = self.queues[cpu.index()].drop_sleeper(&self.params)?;
        self.off_queue[task as usize] = entity;
        Some(TaskId(task))
    }

    /// True: it was kept, and is gone now.
    #[inline]
    fn drop_delayed(&mut self, task: TaskId, cpu: CpuId) -> bool {
        let delayed = self.is_delayed(task, cpu);
        if delayed {
            self.dequeue_task(task, cpu, true);
        }
        delayed
    }

    #[inline]
    fn drop_all_delayed(&mut self, cpu: CpuId) -> Vec<TaskId> {
        let dropped = self.queues[cpu.index()].drop_sleepers(&self.params);
        let gone = dropped.into_iter().map(|(task, entity)| {
            self.off_queue[task as usize] = entity;
            TaskId(task)
        });
        gone.collect()
    }

    #[inline]
    fn begin_put(&mut self, cpu: CpuId) {
        self.queues[cpu.index()].begin_pick(&self.params);
    }

    #[inline]
    fn put_prev_task(&mut self, _task: TaskId, cpu: CpuId) {
        self.queues[cpu.index()].put_back();
    }

    #[inline]
    fn keeps(&mut self, _task: TaskId, cpu: CpuId) -> bool {
        self.queues[cpu.index()].keeps(&self.params)
    }

    #[inline]
    fn pick_next_task(&mut self, cpu: CpuId) -> Option<TaskId> {
        self.queues[cpu.index()].pick(&self.params).map(TaskId)
    }

    #[inline]
    fn update_curr(&mut self, _task: TaskId, cpu: CpuId, delta_ns: u64) {
        self.queues[cpu.index()].charge(&self.params, delta_ns);
    }

    #[inline]
    fn wakeup_preempt(&mut self, task: TaskId, _: TaskId, cpu: CpuId, sync: bool) -> bool {
        self.queues[cpu.index()].preempts(&self.params, task.0, sync)
    }

    #[inline]
    fn take_let_go(&mut self, cpu: CpuId) -> Vec<TaskId> {
        let gone = self.queues[cpu.index()].take_let_go();
        let gone = gone.into_iter().map(|(task, entity)| {
            self.off_queue[task as usize] = entity;
            TaskId(task)
        });
        gone.collect()
    }

    #[inline]
    fn is_buddy(&self, task: TaskId, cpu: CpuId) -> bool {
        self.queues[cpu.index()].is_buddy(task.0)
    }

    #[inline]
    fn is_eligible(&self, task: TaskId, cpu: CpuId) -> bool {
        self.queues[cpu.index()].is_eligible(task.0)
    }

    #[inline]
    fn task_tick(&mut self, _task: TaskId, cpu: CpuId) -> bool {
        self.queues[cpu.index()].tick(&self.params)
    }

    #[inline]
    fn slice_left_ns(&self, cpu: CpuId) -> Option<u64> {
        self.queues[cpu.index()].rest_of_slice_ns()
    }

    #[inline]
    fn yield_task(&mut self, _task: TaskId, cpu: CpuId) -> bool {
        self.queues[cpu.index()].yields(&self.params)
    }

    #[inline]
    fn reweight_task(&mut self, _task: TaskId, cpu: CpuId, nice: i8) {
        self.queues[cpu.index()].reweight(&self.params, Weight::of_nice(nice));
    }

    #[inline]
    fn set_load_weight(&mut self, task: TaskId, nice: i8, policy: FairPolicy) {
        self.off_queue[task.index()].set_load_weight(nice, policy);
    }

    #[inline]
    fn set_own_slice(&mut self, task: TaskId, cpu: CpuId, own_ns: Option<u64>) {
        self.off_queue[task.index()].set_own_slice(own_ns);
        self.queues[cpu.index()].set_own_slice(task.0, own_ns);
    }

    #[inline]
    fn check(&self, cpu: CpuId) {
        self.queues[cpu.index()].check();
    }
}
