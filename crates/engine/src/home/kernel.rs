//! A kernel's fair class: run queues of its own and the core's record of each task beside them.

use super::{Home, Services};
use crate::machine::Machine;
use crate::thread::Thread;
use wakeplace_kernel_queues::{CfsParams, CpuId, EevdfParams, FairClass, FairQueues, TaskId};
use wakeplace_policy_sys::{Choice, Core, Policy, QueueKind, Request, nice_weight};
use wakeplace_workload::FairPolicy;

/// The queues, which own what they keep of a task.
#[derive(Debug)]
pub(crate) struct KernelHome {
    queues: FairQueues,
}

impl KernelHome {
    pub(super) fn new(kind: QueueKind, policy: &Policy, machine: &Machine, shares: &[u32]) -> Self {
        let (params, nr) = (policy.core_params(), machine.nr_cpus as usize);
        let queues = if kind == QueueKind::Cfs {
            FairQueues::cfs(CfsParams::new(params, nr), nr, shares)
        } else {
            let params = EevdfParams::new(params, nr, machine.tick_ns);
            FairQueues::eevdf(params, nr, shares)
        };
        Self { queues }
    }
}

impl Home for KernelHome {
    fn nohz(&self) -> bool {
        true
    }

    fn dispatches(&self) -> bool {
        false
    }

    fn places_on_exec(&self) -> bool {
        true
    }

    fn select_cpu(&mut self, services: Services<'_>, task: u32, ask: &Request) -> Choice {
        services
            .core
            .select_cpu(services.records, task as usize, ask)
    }

    fn add_task(&mut self, thread: &Thread, own_slice_ns: Option<u64>, group: Option<usize>) {
        let task = self
            .queues
            .add_task(thread.nice, thread.policy, own_slice_ns);
        self.queues.set_task_group(task, group);
    }

    fn set_task_group(&mut self, task: u32, group: Option<usize>) {
        self.queues.set_task_group(TaskId(task), group);
    }

    #[inline]
    fn nr_running(&self, cpu: u32) -> usize {
        self.queues.nr_running(CpuId(cpu))
    }

    #[inline]
    fn nr_queued(&self, cpu: u32) -> usize {
        self.queues.nr_queued(CpuId(cpu))
    }

    fn each_waiting(&self, cpu: u32, seen: &mut dyn FnMut(u32)) {
        self.queues
            .each_waiting(CpuId(cpu), &mut |task| seen(task.0));
    }

    fn place_woken(&mut self, _services: Services<'_>, task: u32, cpu: u32) {
        self.queues.place_woken(TaskId(task), CpuId(cpu));
    }

    fn task_fork(
        &mut self,
        _services: Services<'_>,
        child: u32,
        parent: Option<u32>,
        here: u32,
        cpu: u32,
    ) {
        let parent = parent.map(TaskId);
        self.queues
            .task_fork(TaskId(child), parent, CpuId(here), CpuId(cpu));
    }

    fn migrate_task_rq(
        &mut self,
        _services: Services<'_>,
        task: u32,
        from: u32,
        to: u32,
        fair: bool,
    ) {
        if fair {
            self.queues
                .migrate_task_rq(TaskId(task), CpuId(from), CpuId(to));
        }
    }

    fn detach_task(&mut self, task: u32, cpu: u32) {
        self.queues.detach_task(TaskId(task), CpuId(cpu));
    }

    fn attach_task(&mut self, _services: Services<'_>, task: u32, cpu: u32, _new: bool) {
        self.queues.attach_task(TaskId(task), CpuId(cpu));
    }

    #[inline]
    fn enqueue_task(&mut self, _services: Services<'_>, task: u32, cpu: u32, _front: bool) {
        self.queues.enqueue_task(TaskId(task), CpuId(cpu));
    }

    #[inline]
    fn dequeue_task(&mut self, _services: Services<'_>, task: u32, cpu: u32, waiting: bool) {
        self.queues.dequeue_task(TaskId(task), CpuId(cpu), waiting);
    }

    #[inline]
    fn dequeue_sleep(&mut self, _services: Services<'_>, task: u32, cpu: u32, ends: bool) -> bool {
        self.queues.dequeue_sleep(TaskId(task), CpuId(cpu), ends)
    }

    #[inline]
    fn is_delayed(&self, task: u32, cpu: u32) -> bool {
        self.queues.is_delayed(TaskId(task), CpuId(cpu))
    }

    #[inline]
    fn begin_pick(&mut self, cpu: u32) {
        self.queues.begin_pick(CpuId(cpu));
    }

    #[inline]
    fn drop_delayed_next(&mut self, cpu: u32) -> Option<u32> {
        let task = self.queues.drop_delayed_next(CpuId(cpu))?;
        Some(task.0)
    }

    fn drop_delayed(&mut self, _services: Services<'_>, task: u32, cpu: u32) -> bool {
        self.queues.drop_delayed(TaskId(task), CpuId(cpu))
    }

    fn drop_all_delayed(&mut self, cpu: u32) -> Vec<u32> {
        let gone = self.queues.drop_all_delayed(CpuId(cpu));
        gone.into_iter().map(|task| task.0).collect()
    }

    fn begin_put(&mut self, cpu: u32) {
        self.queues.begin_put(CpuId(cpu));
    }

    #[inline]
    fn put_prev_task(&mut self, _services: Services<'_>, task: u32, cpu: u32) {
        self.queues.put_prev_task(TaskId(task), CpuId(cpu));
    }

    #[inline]
    fn keeps(&mut self, task: u32, cpu: u32) -> Option<bool> {
        Some(self.queues.keeps(TaskId(task), CpuId(cpu)))
    }

    #[inline]
    fn pick_next_task(&mut self, cpu: u32) -> Option<u32> {
        let task = self.queues.pick_next_task(CpuId(cpu))?;
        Some(task.0)
    }

    #[inline]
    fn set_next_task(&mut self, _services: Services<'_>, task: u32, _cpu: u32) {
        self.queues.set_next_task(TaskId(task));
    }

    #[inline]
    fn update_curr(&mut self, task: u32, cpu: u32, delta_ns: u64) {
        self.queues.update_curr(TaskId(task), CpuId(cpu), delta_ns);
    }

    fn stop_task(&mut self, _services: Services<'_>, _task: u32, _cpu: u32) {}

    #[inline]
    fn wakeup_preempt(
        &mut self,
        _services: Services<'_>,
        task: u32,
        running: u32,
        cpu: u32,
    ) -> bool {
        self.queues
            .wakeup_preempt(TaskId(task), TaskId(running), CpuId(cpu))
    }

    fn end_turn(&mut self, _cpu: u32) {} // it is found out by `keeps`

    #[inline]
    fn task_tick(&mut self, _services: Services<'_>, task: u32, cpu: u32) -> bool {
        self.queues.task_tick(TaskId(task), CpuId(cpu))
    }

    #[inline]
    fn slice_left_ns(&self, _core: &Core, cpu: u32, _now_ns: u64) -> Option<u64> {
        self.queues.slice_left_ns(CpuId(cpu))
    }

    fn yield_task(&mut self, _services: Services<'_>, task: u32, cpu: u32) -> bool {
        self.queues.yield_task(TaskId(task), CpuId(cpu))
    }

    fn reweight_task(&mut self, services: Services<'_>, task: u32, cpu: u32, nice: i8) {
        self.queues.reweight_task(TaskId(task), CpuId(cpu), nice);
        let record = &mut services.records[task as usize];
        let weight = nice_weight(nice.into());
        services
            .core
            .task_set_weight(record, weight, services.now_ns);
    }

    fn set_load_weight(&mut self, task: u32, nice: i8, policy: FairPolicy) {
        self.queues.set_load_weight(TaskId(task), nice, policy);
    }

    fn set_own_slice(&mut self, task: u32, cpu: u32, own_ns: Option<u64>) {
        self.queues.set_own_slice(TaskId(task), CpuId(cpu), own_ns);
    }

    #[inline]
    fn has_groups(&self) -> bool {
        self.queues.has_groups()
    }

    fn set_group_weight(&mut self, group: usize, cpu: u32, weight: u32) {
        self.queues.set_group_weight(group, CpuId(cpu), weight);
    }

    #[inline]
    fn take_touched_group(&mut self, cpu: u32) -> Option<usize> {
        self.queues.take_touched_group(CpuId(cpu))
    }

    fn check(&self, cpu: u32) {
        self.queues.check(CpuId(cpu));
    }
}
