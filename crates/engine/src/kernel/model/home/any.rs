//! One type for all homes.

use super::kernel::KernelHome;
use super::live::LiveHome;
use super::sched_ext::SchedExtHome;
use super::{Home, Services};
use crate::ids::{CpuId, TaskId};
use crate::kernel::model::task::TaskState;
use crate::machine::Machine;
use wakeplace_policy_sys::{Choice, Core, Policy, QueueKind, Request, Task};
use wakeplace_sched_ext::SchedExtOps;
use wakeplace_workload::{FairPolicy, TaskScript};

/// The homes as one type. The engine asks at every event: an enum costs a predictable branch, and
/// the compiler can inline what is behind it.
#[derive(Debug)]
pub(crate) enum AnyHome<'a> {
    Kernel(KernelHome),
    Live(LiveHome),
    SchedExt(Box<SchedExtHome<'a>>),
}

impl<'a> AnyHome<'a> {
    /// The scheduler's, or else the home that the policy asks for, with empty queues. `shares`: of
    /// each task group.
    pub(crate) fn new(
        core: &Core,
        policy: &Policy,
        machine: &Machine,
        shares: &[u32],
        ops: Option<&'a mut dyn SchedExtOps>,
    ) -> Self {
        if let Some(ops) = ops {
            return Self::SchedExt(Box::new(SchedExtHome::new(ops, machine, core, shares)));
        }
        match core.queue_kind() {
            QueueKind::Live => Self::Live(LiveHome::new(machine)),
            kind => Self::Kernel(KernelHome::new(kind, policy, machine, shares)),
        }
    }

    /// A sched_ext scheduler's, if it is one.
    #[inline]
    pub(crate) fn sched_ext(&mut self) -> Option<&mut SchedExtHome<'a>> {
        match self {
            Self::SchedExt(home) => Some(home),
            Self::Kernel(_) | Self::Live(_) => None,
        }
    }

    #[inline]
    pub(crate) fn is_sched_ext(&self) -> bool {
        matches!(self, Self::SchedExt(_))
    }

    /// There is a timer that stands for the ticks of idle CPUs.
    #[inline]
    pub(crate) fn has_idle_timer(&self) -> bool {
        matches!(self, Self::Live(_))
    }

    /// The threads that are there at the start, with the core's records of them.
    pub(crate) fn add_tasks(
        &mut self,
        states: &[TaskState],
        scripts: &[TaskScript],
        records: &[Task],
    ) {
        for (index, (state, record)) in states.iter().zip(records).enumerate() {
            let script = scripts.get(index);
            let own_slice_ns = script.and_then(|script| script.slice_ns);
            self.add_task(state, own_slice_ns, record.group());
        }
    }
}

/// The same expression for each home.
macro_rules! of_home {
    ($any:expr, $home:ident => $result:expr) => {
        match $any {
            Self::Kernel($home) => $result,
            Self::Live($home) => $result,
            Self::SchedExt($home) => $result,
        }
    };
}

impl Home for AnyHome<'_> {
    #[inline]
    fn nohz(&self) -> bool {
        of_home!(self, home => home.nohz())
    }

    #[inline]
    fn dispatches(&self) -> bool {
        of_home!(self, home => home.dispatches())
    }

    #[inline]
    fn balances(&self) -> bool {
        of_home!(self, home => home.balances())
    }

    #[inline]
    fn places_on_exec(&self) -> bool {
        of_home!(self, home => home.places_on_exec())
    }

    #[inline]
    fn select_cpu(&mut self, services: Services<'_>, task: TaskId, ask: &Request) -> Choice {
        of_home!(self, home => home.select_cpu(services, task, ask))
    }

    #[inline]
    fn add_task(&mut self, task: &TaskState, own_slice_ns: Option<u64>, group: Option<usize>) {
        of_home!(self, home => home.add_task(task, own_slice_ns, group))
    }

    #[inline]
    fn set_task_group(&mut self, task: TaskId, group: Option<usize>) {
        of_home!(self, home => home.set_task_group(task, group))
    }

    #[inline]
    fn nr_running(&self, cpu: CpuId) -> usize {
        of_home!(self, home => home.nr_running(cpu))
    }

    #[inline]
    fn nr_queued(&self, cpu: CpuId) -> usize {
        of_home!(self, home => home.nr_queued(cpu))
    }

    #[inline]
    fn each_waiting(&self, cpu: CpuId, seen: &mut dyn FnMut(TaskId)) {
        of_home!(self, home => home.each_waiting(cpu, seen))
    }

    #[inline]
    fn each_pullable(&self, cpu: CpuId, seen: &mut dyn FnMut(TaskId)) {
        of_home!(self, home => home.each_pullable(cpu, seen))
    }

    #[inline]
    fn place_woken(&mut self, services: Services<'_>, task: TaskId, cpu: CpuId) {
        of_home!(self, home => home.place_woken(services, task, cpu))
    }

    #[inline]
    fn task_fork(
        &mut self,
        services: Services<'_>,
        child: TaskId,
        parent: Option<TaskId>,
        here: CpuId,
        cpu: CpuId,
    ) {
        of_home!(self, home => home.task_fork(services, child, parent, here, cpu))
    }

    #[inline]
    fn migrate_task_rq(
        &mut self,
        services: Services<'_>,
        task: TaskId,
        from: CpuId,
        to: CpuId,
        fair: bool,
    ) {
        of_home!(self, home => home.migrate_task_rq(services, task, from, to, fair))
    }

    #[inline]
    fn detach_task(&mut self, task: TaskId, cpu: CpuId) {
        of_home!(self, home => home.detach_task(task, cpu))
    }

    #[inline]
    fn attach_task(&mut self, services: Services<'_>, task: TaskId, cpu: CpuId, new: bool) {
        of_home!(self, home => home.attach_task(services, task, cpu, new))
    }

    #[inline]
    fn enqueue_task(&mut self, services: Services<'_>, task: TaskId, cpu: CpuId, front: bool) {
        of_home!(self, home => home.enqueue_task(services, task, cpu, front))
    }

    #[inline]
    fn dequeue_task(&mut self, services: Services<'_>, task: TaskId, cpu: CpuId, waiting: bool) {
        of_home!(self, home => home.dequeue_task(services, task, cpu, waiting))
    }

    #[inline]
    fn dequeue_sleep(
        &mut self,
        services: Services<'_>,
        task: TaskId,
        cpu: CpuId,
        ends: bool,
    ) -> bool {
        of_home!(self, home => home.dequeue_sleep(services, task, cpu, ends))
    }

    #[inline]
    fn is_delayed(&self, task: TaskId, cpu: CpuId) -> bool {
        of_home!(self, home => home.is_delayed(task, cpu))
    }

    #[inline]
    fn begin_pick(&mut self, cpu: CpuId) {
        of_home!(self, home => home.begin_pick(cpu))
    }

    #[inline]
    fn drop_delayed_next(&mut self, cpu: CpuId) -> Option<TaskId> {
        of_home!(self, home => home.drop_delayed_next(cpu))
    }

    #[inline]
    fn drop_delayed(&mut self, services: Services<'_>, task: TaskId, cpu: CpuId) -> bool {
        of_home!(self, home => home.drop_delayed(services, task, cpu))
    }

    #[inline]
    fn drop_all_delayed(&mut self, cpu: CpuId) -> Vec<TaskId> {
        of_home!(self, home => home.drop_all_delayed(cpu))
    }

    #[inline]
    fn begin_put(&mut self, cpu: CpuId) {
        of_home!(self, home => home.begin_put(cpu))
    }

    #[inline]
    fn put_prev_task(&mut self, services: Services<'_>, task: TaskId, cpu: CpuId) {
        of_home!(self, home => home.put_prev_task(services, task, cpu))
    }

    #[inline]
    fn keeps(&mut self, task: TaskId, cpu: CpuId) -> Option<bool> {
        of_home!(self, home => home.keeps(task, cpu))
    }

    #[inline]
    fn next_known(&self, cpu: CpuId) -> bool {
        of_home!(self, home => home.next_known(cpu))
    }

    #[inline]
    fn dispatch(&mut self, services: Services<'_>, cpu: CpuId, running: bool) -> bool {
        of_home!(self, home => home.dispatch(services, cpu, running))
    }

    #[inline]
    fn pick_next_task(&mut self, cpu: CpuId) -> Option<TaskId> {
        of_home!(self, home => home.pick_next_task(cpu))
    }

    #[inline]
    fn set_next_task(&mut self, services: Services<'_>, task: TaskId, cpu: CpuId) {
        of_home!(self, home => home.set_next_task(services, task, cpu))
    }

    #[inline]
    fn update_curr(&mut self, task: TaskId, cpu: CpuId, delta_ns: u64) {
        of_home!(self, home => home.update_curr(task, cpu, delta_ns))
    }

    #[inline]
    fn stop_task(&mut self, services: Services<'_>, task: TaskId, cpu: CpuId) {
        of_home!(self, home => home.stop_task(services, task, cpu))
    }

    #[inline]
    fn wakeup_preempt(
        &mut self,
        services: Services<'_>,
        task: TaskId,
        running: TaskId,
        cpu: CpuId,
    ) -> bool {
        of_home!(self, home => home.wakeup_preempt(services, task, running, cpu))
    }

    #[inline]
    fn end_turn(&mut self, cpu: CpuId) {
        of_home!(self, home => home.end_turn(cpu))
    }

    #[inline]
    fn task_tick(&mut self, services: Services<'_>, task: TaskId, cpu: CpuId) -> bool {
        of_home!(self, home => home.task_tick(services, task, cpu))
    }

    #[inline]
    fn slice_left_ns(&self, core: &Core, cpu: CpuId, now_ns: u64) -> Option<u64> {
        of_home!(self, home => home.slice_left_ns(core, cpu, now_ns))
    }

    #[inline]
    fn yield_task(&mut self, services: Services<'_>, task: TaskId, cpu: CpuId) -> bool {
        of_home!(self, home => home.yield_task(services, task, cpu))
    }

    #[inline]
    fn reweight_task(&mut self, services: Services<'_>, task: TaskId, cpu: CpuId, nice: i8) {
        of_home!(self, home => home.reweight_task(services, task, cpu, nice))
    }

    #[inline]
    fn set_load_weight(&mut self, task: TaskId, nice: i8, policy: FairPolicy) {
        of_home!(self, home => home.set_load_weight(task, nice, policy))
    }

    #[inline]
    fn set_own_slice(&mut self, task: TaskId, cpu: CpuId, own_ns: Option<u64>) {
        of_home!(self, home => home.set_own_slice(task, cpu, own_ns))
    }

    #[inline]
    fn has_groups(&self) -> bool {
        of_home!(self, home => home.has_groups())
    }

    #[inline]
    fn set_group_weight(&mut self, group: usize, cpu: CpuId, weight: u32) {
        of_home!(self, home => home.set_group_weight(group, cpu, weight))
    }

    #[inline]
    fn take_touched_group(&mut self, cpu: CpuId) -> Option<usize> {
        of_home!(self, home => home.take_touched_group(cpu))
    }

    #[inline]
    fn check(&self, cpu: CpuId) {
        of_home!(self, home => home.check(cpu))
    }
}
