//! The four kinds of fair queues as one type. A run asks its queues at every event: an enum costs a
//! predictable branch, and the compiler can inline what is behind it.

use crate::cfs::{Cfs, CfsParams};
use crate::eevdf::{Eevdf, EevdfParams};
use crate::fair_class::FairClass;
use crate::grouped::{GroupedCfs, GroupedEevdf};
use crate::{CpuId, TaskId};
use wakeplace_workload::FairPolicy;

/// The fair queues of a run.
#[derive(Debug)]
pub struct FairQueues(Kind);

#[derive(Debug)]
enum Kind {
    /// Of the kernels before 6.6.
    Cfs(Cfs),
    GroupedCfs(GroupedCfs),
    /// Of the kernels from 6.6 on.
    Eevdf(Eevdf),
    GroupedEevdf(GroupedEevdf),
}

impl FairQueues {
    /// Empty queues of the kernels before 6.6. `shares`: of each group; none: without groups.
    #[must_use]
    pub fn cfs(params: CfsParams, nr_cpus: usize, shares: &[u32]) -> Self {
        Self(match shares {
            [] => Kind::Cfs(Cfs::new(params, nr_cpus)),
            _ => Kind::GroupedCfs(GroupedCfs::new(params, nr_cpus, shares)),
        })
    }

    /// The same of the kernels from 6.6 on.
    #[must_use]
    pub fn eevdf(params: EevdfParams, nr_cpus: usize, shares: &[u32]) -> Self {
        Self(match shares {
            [] => Kind::Eevdf(Eevdf::new(params, nr_cpus)),
            _ => Kind::GroupedEevdf(GroupedEevdf::new(params, nr_cpus, shares)),
        })
    }
}

/// The same expression for each kind.
macro_rules! of_kind {
    ($kind:expr, $queues:ident => $result:expr) => {
        match $kind {
            Kind::Cfs($queues) => $result,
            Kind::GroupedCfs($queues) => $result,
            Kind::Eevdf($queues) => $result,
            Kind::GroupedEevdf($queues) => $result,
        }
    };
}

impl FairClass for FairQueues {
    #[inline]
    fn add_task(&mut self, nice: i8, policy: FairPolicy, own_slice_ns: Option<u64>) -> TaskId {
        of_kind!(&mut self.0, queues => queues.add_task(nice, policy, own_slice_ns))
    }

    #[inline]
    fn set_task_group(&mut self, task: TaskId, group: Option<usize>) {
        of_kind!(&mut self.0, queues => queues.set_task_group(task, group))
    }

    #[inline]
    fn nr_running(&self, cpu: CpuId) -> usize {
        of_kind!(&self.0, queues => queues.nr_running(cpu))
    }

    #[inline]
    fn nr_queued(&self, cpu: CpuId) -> usize {
        of_kind!(&self.0, queues => queues.nr_queued(cpu))
    }

    #[inline]
    fn each_waiting(&self, cpu: CpuId, seen: &mut dyn FnMut(TaskId)) {
        of_kind!(&self.0, queues => queues.each_waiting(cpu, seen))
    }

    #[inline]
    fn place_woken(&mut self, task: TaskId, cpu: CpuId) {
        of_kind!(&mut self.0, queues => queues.place_woken(task, cpu))
    }

    #[inline]
    fn task_fork(&mut self, child: TaskId, parent: Option<TaskId>, here: CpuId, cpu: CpuId) {
        of_kind!(&mut self.0, queues => queues.task_fork(child, parent, here, cpu))
    }

    #[inline]
    fn migrate_task_rq(&mut self, task: TaskId, from: CpuId, to: CpuId) {
        of_kind!(&mut self.0, queues => queues.migrate_task_rq(task, from, to))
    }

    #[inline]
    fn detach_task(&mut self, task: TaskId, cpu: CpuId) {
        of_kind!(&mut self.0, queues => queues.detach_task(task, cpu))
    }

    #[inline]
    fn attach_task(&mut self, task: TaskId, cpu: CpuId) {
        of_kind!(&mut self.0, queues => queues.attach_task(task, cpu))
    }

    #[inline]
    fn enqueue_task(&mut self, task: TaskId, cpu: CpuId) {
        of_kind!(&mut self.0, queues => queues.enqueue_task(task, cpu))
    }

    #[inline]
    fn dequeue_task(&mut self, task: TaskId, cpu: CpuId, waiting: bool) {
        of_kind!(&mut self.0, queues => queues.dequeue_task(task, cpu, waiting))
    }

    #[inline]
    fn dequeue_sleep(&mut self, task: TaskId, cpu: CpuId, ends: bool) -> bool {
        of_kind!(&mut self.0, queues => queues.dequeue_sleep(task, cpu, ends))
    }

    #[inline]
    fn is_delayed(&self, task: TaskId, cpu: CpuId) -> bool {
        of_kind!(&self.0, queues => queues.is_delayed(task, cpu))
    }

    #[inline]
    fn begin_pick(&mut self, cpu: CpuId) {
        of_kind!(&mut self.0, queues => queues.begin_pick(cpu))
    }

    #[inline]
    fn drop_delayed_next(&mut self, cpu: CpuId) -> Option<TaskId> {
        of_kind!(&mut self.0, queues => queues.drop_delayed_next(cpu))
    }

    #[inline]
    fn drop_delayed(&mut self, task: TaskId, cpu: CpuId) -> bool {
        of_kind!(&mut self.0, queues => queues.drop_delayed(task, cpu))
    }

    #[inline]
    fn drop_all_delayed(&mut self, cpu: CpuId) -> Vec<TaskId> {
        of_kind!(&mut self.0, queues => queues.drop_all_delayed(cpu))
    }

    #[inline]
    fn begin_put(&mut self, cpu: CpuId) {
        of_kind!(&mut self.0, queues => queues.begin_put(cpu))
    }

    #[inline]
    fn put_prev_task(&mut self, task: TaskId, cpu: CpuId) {
        of_kind!(&mut self.0, queues => queues.put_prev_task(task, cpu))
    }

    #[inline]
    fn keeps(&mut self, task: TaskId, cpu: CpuId) -> bool {
        of_kind!(&mut self.0, queues => queues.keeps(task, cpu))
    }

    #[inline]
    fn pick_next_task(&mut self, cpu: CpuId) -> Option<TaskId> {
        of_kind!(&mut self.0, queues => queues.pick_next_task(cpu))
    }

    #[inline]
    fn set_next_task(&mut self, task: TaskId) {
        of_kind!(&mut self.0, queues => queues.set_next_task(task))
    }

    #[inline]
    fn update_curr(&mut self, task: TaskId, cpu: CpuId, delta_ns: u64) {
        of_kind!(&mut self.0, queues => queues.update_curr(task, cpu, delta_ns))
    }

    #[inline]
    fn wakeup_preempt(&mut self, task: TaskId, running: TaskId, cpu: CpuId) -> bool {
        of_kind!(&mut self.0, queues => queues.wakeup_preempt(task, running, cpu))
    }

    #[inline]
    fn task_tick(&mut self, task: TaskId, cpu: CpuId) -> bool {
        of_kind!(&mut self.0, queues => queues.task_tick(task, cpu))
    }

    #[inline]
    fn slice_left_ns(&self, cpu: CpuId) -> Option<u64> {
        of_kind!(&self.0, queues => queues.slice_left_ns(cpu))
    }

    #[inline]
    fn yield_task(&mut self, task: TaskId, cpu: CpuId) -> bool {
        of_kind!(&mut self.0, queues => queues.yield_task(task, cpu))
    }

    #[inline]
    fn reweight_task(&mut self, task: TaskId, cpu: CpuId, nice: i8) {
        of_kind!(&mut self.0, queues => queues.reweight_task(task, cpu, nice))
    }

    #[inline]
    fn set_load_weight(&mut self, task: TaskId, nice: i8, policy: FairPolicy) {
        of_kind!(&mut self.0, queues => queues.set_load_weight(task, nice, policy))
    }

    #[inline]
    fn set_own_slice(&mut self, task: TaskId, cpu: CpuId, own_ns: Option<u64>) {
        of_kind!(&mut self.0, queues => queues.set_own_slice(task, cpu, own_ns))
    }

    #[inline]
    fn has_groups(&self) -> bool {
        of_kind!(&self.0, queues => queues.has_groups())
    }

    #[inline]
    fn set_group_weight(&mut self, group: usize, cpu: CpuId, weight: u32) {
        of_kind!(&mut self.0, queues => queues.set_group_weight(group, cpu, weight))
    }

    #[inline]
    fn take_touched_group(&mut self, cpu: CpuId) -> Option<usize> {
        of_kind!(&mut self.0, queues => queues.take_touched_group(cpu))
    }

    #[inline]
    fn check(&self, cpu: CpuId) {
        of_kind!(&self.0, queues => queues.check(cpu))
    }
}
