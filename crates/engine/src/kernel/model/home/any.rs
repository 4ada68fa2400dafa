//! One type for all homes. A match per call and no logic: what a call does is in the home
//! (docs/guide/model.md, "Run queues").
//!
//! What must stay: one entry per method of `Home`, with the same arguments. The list of signatures
//! below is of that trait; home/mod.rs says what each is asked, and when. Free: what leaves
//! recorded runs as they are (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! fair.rs::`three_hogs_share_equally` (`Kernel`), live_queue.rs::`two_hogs_alternate_by_slices`
//! (`Live`), sched_ext/rules.rs::`two_hogs_take_turns_of_a_slice` (`SchedExt`),
//! live_queue.rs::`an_idle_machine_is_looked_at_every_64_ms_by_its_first_cpu` (`has_idle_timer`).
//! `new`, `sched_ext`, `is_sched_ext` and `add_tasks` by the first three. A method of the list that
//! goes to another one (`enqueue_task` to `dequeue_task`, say) fails all three; of
//! `throttle_group`, `unthrottle_group` and `dequeue_throttled`
//! bandwidth.rs::`a_task_without_end_gets_its_quota`, of `set_group_weight` and
//! `take_touched_group` groups.rs::`groups_share_by_shares_not_by_tasks`, of `resched_curr`
//! preempt_lazy.rs::`another_cpu_acts_when_it_leaves_the_kernel`.
//!
//! Callers: the model's handlers; home/mod.rs says which file calls which method.
//!
//! Tests: crates/engine/tests/behaviour/fair.rs, crates/engine/tests/behaviour/live_queue.rs,
//! crates/engine/tests/behaviour/sched_ext/rules.rs

use super::kernel::KernelHome;
use super::live::LiveHome;
use super::sched_ext::SchedExtHome;
use super::{Home, Services};
use crate::ids::{CpuId, TaskId};
use crate::kernel::model::task::TaskState;
use crate::machine::Machine;
use wakeplace_kernel_queues::GroupShape;
use wakeplace_policy_sys::{Choice, Core, QueueKind, Request, Resched, Task};
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
    /// The scheduler's, or else the home that the policy asks for, with empty queues. `groups`: the
    /// task groups.
    pub(crate) fn new(
        core: &Core,
        machine: &Machine,
        groups: &[GroupShape],
        ops: Option<&'a mut dyn SchedExtOps>,
    ) -> Self {
        if let Some(ops) = ops {
            return Self::SchedExt(Box::new(SchedExtHome::new(ops, machine, core, groups)));
        }
        match core.queue_kind() {
            QueueKind::Live => Self::Live(LiveHome::new(machine)),
            QueueKind::Cfs | QueueKind::Eevdf => {
                Self::Kernel(KernelHome::new(core, machine, groups))
            }
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

    /// Anybody's scheduler decides: the engine then runs its callbacks and pays for them.
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
            AnyHome::Kernel($home) => $result,
            AnyHome::Live($home) => $result,
            AnyHome::SchedExt($home) => $result,
        }
    };
}

impl Home for AnyHome<'_> {
    wakeplace_kernel_queues::forward! { of_home:
        fn nohz(&self) -> bool;
        fn dispatches(&self) -> bool;
        fn balances(&self) -> bool;
        fn places_on_exec(&self) -> bool;
        fn select_cpu(&mut self, services: Services<'_>, task: TaskId, ask: &Request) -> Choice;
        fn add_task(&mut self, task: &TaskState, own_slice_ns: Option<u64>, group: Option<usize>);
        fn set_task_group(&mut self, task: TaskId, group: Option<usize>);
        fn nr_running(&self, cpu: CpuId) -> usize;
        fn nr_queued(&self, cpu: CpuId) -> usize;
        fn each_waiting(&self, cpu: CpuId, seen: &mut dyn FnMut(TaskId));
        fn each_pullable(&self, cpu: CpuId, seen: &mut dyn FnMut(TaskId));
        fn place_woken(&mut self, services: Services<'_>, task: TaskId, cpu: CpuId);
        fn task_fork(
            &mut self, services: Services<'_>, child: TaskId, parent: Option<TaskId>,
            here: CpuId, cpu: CpuId
        );
        fn migrate_task_rq(
            &mut self, services: Services<'_>, task: TaskId, from: CpuId, to: CpuId, fair: bool
        );
        fn detach_task(&mut self, task: TaskId, cpu: CpuId);
        fn attach_task(&mut self, services: Services<'_>, task: TaskId, cpu: CpuId, new: bool);
        fn enqueue_task(&mut self, services: Services<'_>, task: TaskId, cpu: CpuId, front: bool);
        fn dequeue_task(&mut self, services: Services<'_>, task: TaskId, cpu: CpuId, waiting: bool);
        fn dequeue_sleep(
            &mut self, services: Services<'_>, task: TaskId, cpu: CpuId, ends: bool
        ) -> bool;
        fn is_delayed(&self, task: TaskId, cpu: CpuId) -> bool;
        fn begin_pick(&mut self, cpu: CpuId);
        fn drop_delayed_next(&mut self, cpu: CpuId) -> Option<TaskId>;
        fn drop_delayed(&mut self, services: Services<'_>, task: TaskId, cpu: CpuId) -> bool;
        fn drop_all_delayed(&mut self, cpu: CpuId) -> Vec<TaskId>;
        fn begin_put(&mut self, cpu: CpuId);
        fn put_prev_task(&mut self, services: Services<'_>, task: TaskId, cpu: CpuId);
        fn keeps(&mut self, task: TaskId, cpu: CpuId) -> Option<bool>;
        fn next_known(&self, cpu: CpuId) -> bool;
        fn dispatch(&mut self, services: Services<'_>, cpu: CpuId, running: bool) -> bool;
        fn pick_next_task(&mut self, cpu: CpuId) -> Option<TaskId>;
        fn set_next_task(&mut self, services: Services<'_>, task: TaskId, cpu: CpuId);
        fn update_curr(&mut self, task: TaskId, cpu: CpuId, delta_ns: u64);
        fn stop_task(&mut self, services: Services<'_>, task: TaskId, cpu: CpuId);
        fn wakeup_preempt(
            &mut self, services: Services<'_>, task: TaskId, running: TaskId, cpu: CpuId
        ) -> bool;
        fn take_let_go(&mut self, cpu: CpuId) -> Vec<TaskId>;
        fn is_buddy(&self, task: TaskId, cpu: CpuId) -> bool;
        fn is_eligible(&self, task: TaskId, cpu: CpuId) -> bool;
        fn resched_curr(&self, core: &Core, cpu: CpuId) -> Resched;
        fn end_turn(&mut self, cpu: CpuId);
        fn task_tick(&mut self, services: Services<'_>, task: TaskId, cpu: CpuId) -> bool;
        fn slice_left_ns(&self, core: &Core, cpu: CpuId, now_ns: u64) -> Option<u64>;
        fn yield_task(&mut self, services: Services<'_>, task: TaskId, cpu: CpuId) -> bool;
        fn reweight_task(&mut self, services: Services<'_>, task: TaskId, cpu: CpuId, nice: i8);
        fn set_load_weight(&mut self, task: TaskId, nice: i8, policy: FairPolicy);
        fn set_own_slice(&mut self, task: TaskId, cpu: CpuId, own_ns: Option<u64>);
        fn has_groups(&self) -> bool;
        fn set_group_weight(&mut self, group: usize, cpu: CpuId, weight: u32);
        fn throttle_group(&mut self, group: usize, cpu: CpuId);
        fn unthrottle_group(&mut self, group: usize, cpu: CpuId);
        fn dequeue_throttled(&mut self, task: TaskId, cpu: CpuId);
        fn take_touched_group(&mut self, cpu: CpuId) -> Option<usize>;
        fn check(&self, cpu: CpuId);
    }
}
