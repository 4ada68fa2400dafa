//! A kernel's fair class: run queues of its own and the core's record of each task beside them. The
//! order of the queue is `kernel-queues`' (docs/rules/queues.md#cfs, docs/rules/queues.md#eevdf);
//! each call tells the core and the queue, in the kernel's order.
//!
//! A method without a comment hands over to the queue's method of that name; home/mod.rs says what
//! it means, crates/kernel-queues what it does. What must stay: the core hears of a change before
//! or after the queue as the kernel does it. Free: what leaves recorded runs as they are
//! (ARCHITECTURE.md, "What a change may touch"). Tests by part: fair.rs (CFS), eevdf.rs (EEVDF),
//! groups.rs (groups), bandwidth.rs (throttling). By function:
//! fair.rs::`new_tasks_start_a_slice_behind` (`task_fork`), fair.rs::`sleeper_credit_is_bounded`
//! (`place_woken`), fair.rs::`wakeups_preempt_beyond_the_granularity_only` (`wakeup_preempt`),
//! fair.rs::`nice_0_and_nice_5_share_1024_to_335` (`update_curr`),
//! changes.rs::`an_idle_task_has_a_small_share` (`set_load_weight`),
//! fair.rs::`three_hogs_share_equally` (`task_tick`, `pick_next_task`, `put_prev_task`,
//! `set_next_task`), eevdf.rs::`a_delayed_sleeper_wakes_without_a_choice` (`dequeue_sleep`,
//! `is_delayed`), storm.rs::`random_steps_obey_the_rules` (`drop_delayed`),
//! eevdf.rs::`a_high_resolution_tick_ends_slices_in_time` (`slice_left_ns`),
//! eevdf.rs::`who_yields_lets_the_other_run` (`yield_task`),
//! balance.rs::`a_cpu_that_runs_dry_pulls` (`migrate_task_rq`, `each_pullable`),
//! arithmetic.rs::`nice_of_a_phase_changes_the_share` (`reweight_task`). `check` compares the books
//! in all. The rest, which only hands over: groups.rs::`groups_share_by_shares_not_by_tasks`
//! (`set_task_group`, `set_group_weight`, `take_touched_group`, `has_groups`),
//! bandwidth.rs::`a_task_without_end_gets_its_quota` (`throttle_group`, `unthrottle_group`,
//! `dequeue_throttled`), preempt_lazy.rs::`another_cpu_acts_when_it_leaves_the_kernel`
//! (`resched_curr`), hotplug.rs::`random_schedules_lose_nothing_1` (`drop_all_delayed`,
//! `each_waiting`), classes.rs::`priorities_displace_fair_tasks_and_each_other` (`begin_put`,
//! `next_known`), invariants.rs::`random_runs_obey_the_rules_1` (`add_task`, `enqueue_task`,
//! `dequeue_task`, `detach_task`, `attach_task`, `nr_running`, `nr_queued`, `begin_pick`, `keeps`,
//! `end_turn`, `stop_task`, and all others). `set_own_slice` has no test of its own here. `new`,
//! `kernel_kind`, `nohz`, `dispatches`, `places_on_exec`, `select_cpu`, `drop_delayed_next`,
//! `dispatch`, `take_let_go`, `is_buddy` and `is_eligible` are among the others.
//!
//! Callers: the model's handlers; home/mod.rs says which file calls which method. The queues' own
//! tests are in crates/kernel-queues/src.
//!
//! Tests: crates/engine/tests/behaviour/fair.rs, crates/engine/tests/behaviour/eevdf.rs

use super::{Home, Services};
use crate::kernel::model::task::TaskState;
use crate::machine::Machine;
use wakeplace_kernel_queues::{
    CpuId, FairClass, FairParams, FairQueues, GroupShape, KernelKind, TaskId,
};
use wakeplace_policy_sys::{Choice, Core, Request, Resched, nice_weight};
use wakeplace_workload::FairPolicy;

/// The queues, which own what they keep of a task.
#[derive(Debug)]
pub(crate) struct KernelHome {
    queues: FairQueues,
}

impl KernelHome {
    /// CFS or EEVDF by the policy's era, with a queue per CPU and group.
    pub(super) fn new(core: &Core, machine: &Machine, groups: &[GroupShape]) -> Self {
        let (params, nr) = (&core.state().params, machine.nr_cpus as usize);
        let params = FairParams::new(params, nr, machine.tick_ns, kernel_kind(core));
        Self {
            queues: FairQueues::new(params, nr, groups),
        }
    }
}

/// Of the kernel that a core's rules are of.
pub(crate) fn kernel_kind(core: &Core) -> KernelKind {
    KernelKind {
        lazy: core.preempts_lazily(),
        is_32bit: core.state().is_32bit != 0,
    }
}

impl Home for KernelHome {
    /// Ticks of idle CPUs stop, and others balance for them.
    #[inline]
    fn nohz(&self) -> bool {
        true
    }

    /// It pulls by balancing, not as it looks for a task.
    #[inline]
    fn dispatches(&self) -> bool {
        false
    }

    #[inline]
    fn places_on_exec(&self) -> bool {
        true
    }

    /// The core's answer; the queue has no part in it.
    #[inline]
    fn select_cpu(&mut self, services: Services<'_>, task: TaskId, ask: &Request) -> Choice {
        services
            .core
            .select_cpu(services.records, task.index(), ask)
    }

    #[inline]
    fn add_task(&mut self, task: &TaskState, own_slice_ns: Option<u64>, group: Option<usize>) {
        let number = (self.queues).add_task(task.nice, task.policy, own_slice_ns);
        self.queues.set_task_group(number, group);
    }

    #[inline]
    fn set_task_group(&mut self, task: TaskId, group: Option<usize>) {
        self.queues.set_task_group(task, group);
    }

    #[inline]
    fn nr_running(&self, cpu: CpuId) -> usize {
        self.queues.nr_running(cpu)
    }

    #[inline]
    fn nr_queued(&self, cpu: CpuId) -> usize {
        self.queues.nr_queued(cpu)
    }

    #[inline]
    fn each_waiting(&self, cpu: CpuId, seen: &mut dyn FnMut(TaskId)) {
        self.queues.each_waiting(cpu, &mut |task| seen(task));
    }

    #[inline]
    fn each_pullable(&self, cpu: CpuId, seen: &mut dyn FnMut(TaskId)) {
        self.each_waiting(cpu, seen);
    }

    #[inline]
    fn place_woken(&mut self, _services: Services<'_>, task: TaskId, cpu: CpuId) {
        self.queues.place_woken(task, cpu);
    }

    #[inline]
    fn task_fork(
        &mut self,
        _services: Services<'_>,
        child: TaskId,
        parent: Option<TaskId>,
        here: CpuId,
        cpu: CpuId,
    ) {
        self.queues.task_fork(child, parent, here, cpu);
    }

    #[inline]
    fn migrate_task_rq(
        &mut self,
        _services: Services<'_>,
        task: TaskId,
        from: CpuId,
        to: CpuId,
        fair: bool,
    ) {
        if fair {
            self.queues.migrate_task_rq(task, from, to);
        }
    }

    #[inline]
    fn detach_task(&mut self, task: TaskId, cpu: CpuId) {
        self.queues.detach_task(task, cpu);
    }

    #[inline]
    fn attach_task(&mut self, _services: Services<'_>, task: TaskId, cpu: CpuId, _new: bool) {
        self.queues.attach_task(task, cpu);
    }

    #[inline]
    fn enqueue_task(&mut self, _services: Services<'_>, task: TaskId, cpu: CpuId, _front: bool) {
        self.queues.enqueue_task(task, cpu);
    }

    #[inline]
    fn dequeue_task(&mut self, _services: Services<'_>, task: TaskId, cpu: CpuId, waiting: bool) {
        self.queues.dequeue_task(task, cpu, waiting);
    }

    #[inline]
    fn dequeue_sleep(
        &mut self,
        _services: Services<'_>,
        task: TaskId,
        cpu: CpuId,
        ends: bool,
    ) -> bool {
        self.queues.dequeue_sleep(task, cpu, ends)
    }

    #[inline]
    fn is_delayed(&self, task: TaskId, cpu: CpuId) -> bool {
        self.queues.is_delayed(task, cpu)
    }

    #[inline]
    fn begin_pick(&mut self, cpu: CpuId) {
        self.queues.begin_pick(cpu);
    }

    #[inline]
    fn drop_delayed_next(&mut self, cpu: CpuId) -> Option<TaskId> {
        self.queues.drop_delayed_next(cpu)
    }

    #[inline]
    fn drop_delayed(&mut self, _services: Services<'_>, task: TaskId, cpu: CpuId) -> bool {
        self.queues.drop_delayed(task, cpu)
    }

    #[inline]
    fn drop_all_delayed(&mut self, cpu: CpuId) -> Vec<TaskId> {
        self.queues.drop_all_delayed(cpu)
    }

    #[inline]
    fn begin_put(&mut self, cpu: CpuId) {
        self.queues.begin_put(cpu);
    }

    #[inline]
    fn put_prev_task(&mut self, _services: Services<'_>, task: TaskId, cpu: CpuId) {
        self.queues.put_prev_task(task, cpu);
    }

    #[inline]
    fn keeps(&mut self, task: TaskId, cpu: CpuId) -> Option<bool> {
        Some(self.queues.keeps(task, cpu))
    }

    #[inline]
    fn next_known(&self, _cpu: CpuId) -> bool {
        true
    }

    #[inline]
    fn dispatch(&mut self, _services: Services<'_>, _cpu: CpuId, _running: bool) -> bool {
        false // never asked: `keeps` and `next_known` have answered
    }

    #[inline]
    fn pick_next_task(&mut self, cpu: CpuId) -> Option<TaskId> {
        self.queues.pick_next_task(cpu)
    }

    #[inline]
    fn set_next_task(&mut self, _services: Services<'_>, task: TaskId, _cpu: CpuId) {
        self.queues.set_next_task(task);
    }

    #[inline]
    fn update_curr(&mut self, task: TaskId, cpu: CpuId, delta_ns: u64) {
        self.queues.update_curr(task, cpu, delta_ns);
    }

    #[inline]
    fn stop_task(&mut self, _services: Services<'_>, _task: TaskId, _cpu: CpuId) {}

    #[inline]
    fn wakeup_preempt(
        &mut self,
        services: Services<'_>,
        task: TaskId,
        running: TaskId,
        cpu: CpuId,
    ) -> bool {
        let sync = services.records[task.index()].raw().woken_sync != 0;
        self.queues.wakeup_preempt(task, running, cpu, sync)
    }

    #[inline]
    fn take_let_go(&mut self, cpu: CpuId) -> Vec<TaskId> {
        self.queues.take_let_go(cpu)
    }

    #[inline]
    fn is_buddy(&self, task: TaskId, cpu: CpuId) -> bool {
        self.queues.is_buddy(task, cpu)
    }

    #[inline]
    fn is_eligible(&self, task: TaskId, cpu: CpuId) -> bool {
        self.queues.is_eligible(task, cpu)
    }

    #[inline]
    fn resched_curr(&self, core: &Core, cpu: CpuId) -> Resched {
        core.resched_curr_lazy(cpu.0)
    }

    #[inline]
    fn end_turn(&mut self, _cpu: CpuId) {} // it is found out by `keeps`

    #[inline]
    fn task_tick(&mut self, _services: Services<'_>, task: TaskId, cpu: CpuId) -> bool {
        self.queues.task_tick(task, cpu)
    }

    #[inline]
    fn slice_left_ns(&self, _core: &Core, cpu: CpuId, _now_ns: u64) -> Option<u64> {
        self.queues.slice_left_ns(cpu)
    }

    #[inline]
    fn yield_task(&mut self, _services: Services<'_>, task: TaskId, cpu: CpuId) -> bool {
        self.queues.yield_task(task, cpu)
    }

    /// The queue and the core's signals get the new weight; both, or sums go wrong.
    #[inline]
    fn reweight_task(&mut self, services: Services<'_>, task: TaskId, cpu: CpuId, nice: i8) {
        self.queues.reweight_task(task, cpu, nice);
        let record = &mut services.records[task.index()];
        let weight = nice_weight(nice.into());
        services
            .core
            .task_set_weight(record, weight, services.now_ns);
    }

    #[inline]
    fn set_load_weight(&mut self, task: TaskId, nice: i8, policy: FairPolicy) {
        self.queues.set_load_weight(task, nice, policy);
    }

    #[inline]
    fn set_own_slice(&mut self, task: TaskId, cpu: CpuId, own_ns: Option<u64>) {
        self.queues.set_own_slice(task, cpu, own_ns);
    }

    #[inline]
    fn has_groups(&self) -> bool {
        self.queues.has_groups()
    }

    #[inline]
    fn set_group_weight(&mut self, group: usize, cpu: CpuId, weight: u32) {
        self.queues.set_group_weight(group, cpu, weight);
    }

    #[inline]
    fn throttle_group(&mut self, group: usize, cpu: CpuId) {
        self.queues.throttle_group(group, cpu);
    }

    #[inline]
    fn unthrottle_group(&mut self, group: usize, cpu: CpuId) {
        self.queues.unthrottle_group(group, cpu);
    }

    #[inline]
    fn dequeue_throttled(&mut self, task: TaskId, cpu: CpuId) {
        self.queues.dequeue_throttled(task, cpu);
    }

    #[inline]
    fn take_touched_group(&mut self, cpu: CpuId) -> Option<usize> {
        self.queues.take_touched_group(cpu)
    }

    #[inline]
    fn check(&self, cpu: CpuId) {
        self.queues.check(cpu);
    }
}
