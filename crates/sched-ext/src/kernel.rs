//! What a callback may ask of the kernel: the kfuncs of sched_ext and the facts that programs read
//! (docs/rules/sched-ext.md#kfuncs). Names without `scx_bpf_` are those of kfuncs. A new one is
//! offered to programs by `crates/foreign/src/kfuncs`; class/kfuncs.rs is the one implementation.
//!
//! What must stay: errors are the kernel's negative numbers; an implementation may count and note
//! but not differ. Free: further kfuncs, with their default.
//!
//! Tests by part: `queues_are_made_once` (`create_dsq`, `destroy_dsq`, `dsq_nr_queued`,
//! `dsq_iter_new`), `tasks_are_found_by_pid` (`task_from_pid`, `task`, `task_cpus`),
//! `kfuncs_count_once` (`charge`, `cpuperf_cap`), `what_is_left_behind_is_counted` (`kick_cpu`,
//! `timer_start`, `nr_timer_events`), idle.rs: `caches_count_from_6_13_on` (`select_cpu_dfl`),
//! `claims_and_masks` (`select_cpu_and`, `pick_idle_cpu`, `pick_any_cpu`,
//! `test_and_clear_cpu_idle`, `idle_smtmask`), `own_tracking_turns_it_off` (`idle_cpumask`,
//! `tracks_idle`, `exited`), again.rs: `the_chosen_task_runs` (`dsq_reenq`),
//! `the_tasks_run_queue_is_locked` (`locked_cpu`), `frequencies_of_other_cpus_need_no_locked_queue`
//! (`cpuperf_set`), engine's sched_ext/errors.rs: `queues_that_are_not_there` (`dsq_insert`,
//! `dsq_move_to_local`), `orders_that_do_not_mix` (`dsq_insert_vtime`),
//! `what_a_program_says_itself` (`exit`), sched_ext/clocks.rs:
//! `clocks_advance_by_the_time_that_a_task_runs` (`rq_clock`),
//! storms.rs::`a_wild_scheduler_loses_nobody` (`dsq_move`, `dsq_iter_next`, `reenqueue_local`,
//! `dispatch_nr_slots`, `dispatch_cancel`, `cpu_curr`, `set_slice_ns`, `set_dsq_vtime`),
//! crates/cli/tests/all/schedulers.rs::`cids_leave_and_come_back` (`task_from_tid`, `cpuperf_cur`),
//! schedulers.rs::`calls_answer_as_a_kernel_does` (`events`, `in_interrupt`, `current`,
//! `cgroup_parent`). `dsq_peek`, `timer_cancel`, `set_disallow`, `cgroup_weight`, `cpu_nr_running`
//! have no test of their own. `task_cpu` here is the one default;
//! schedulers.rs::`a_loader_runs_in_virtual_time` also asks `loader_at`, `cpu_idle_ns`. Looks that
//! any run uses: `now_ns`, `this_cpu`, `nr_cpu_ids`, `nr_node_ids`, `nr_tasks`, `nr_cgroups`,
//! `cpu`, `online_cpumask`, `task_running`; `loader_on` has no test.
//!
//! Callers: crates/foreign/src/kfuncs (programs), schedulers of tests in Rust.
//!
//! Tests: crates/sched-ext/tests/all/kernel.rs, crates/sched-ext/tests/all/again.rs,
//! crates/cli/tests/all/schedulers.rs::calls_answer_as_a_kernel_does

use crate::{CgroupId, CpuFacts, Events, ExitKind, RqClock, TaskFacts, TaskId, TimerId};

/// Where a walk over a queue is (`struct bpf_iter_scx_dsq`). It sees the tasks that were there when
/// it began, in their order; tasks that leave meanwhile are no trouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DsqIter {
    /// The queue.
    pub dsq: u64,
    /// From the tail.
    pub reverse: bool,
    /// Nothing queued later is seen.
    pub until_seq: u64,
    /// The order of the last one seen; None: at the start.
    pub last: Option<(u64, i64)>,
    /// For the next move (`dsq_move_set_slice`).
    pub slice_ns: Option<u64>,
    /// For the next move (`dsq_move_set_vtime`).
    pub vtime: Option<u64>,
}

/// The kernel, during one callback.
pub trait Kernel {
    /// So many kfuncs were called, whichever: they are counted, and their time is paid for. Who
    /// calls this does it for all kfuncs, and says so (with 0) before the first: methods do not
    /// count from then on. Without it those that take `&mut self` and are kfuncs count themselves
    /// (docs/rules/sched-ext.md#costs).
    fn charge(&mut self, kfuncs: u64);

    // Where and when.

    /// `scx_bpf_now`, `bpf_ktime_get_ns` and their like: the time since the machine started.
    fn now_ns(&self) -> u64;
    /// `scx_bpf_events`: what has been counted so far.
    fn events(&self) -> Events;
    /// The CPU that executes the callback.
    fn this_cpu(&self) -> u32;
    /// The CPU whose run queue is locked meanwhile (`scx_locked_rq`): the task's, or the one that
    /// the callback is about. None: `select_cpu`, timers, the loader, and where a task or the
    /// scheduler begins.
    fn locked_cpu(&self) -> Option<u32>;
    /// The task that it executes on behalf of (`current`); None: that CPU's idle task.
    fn current(&self) -> Option<TaskId>;
    /// The callback is executed in an interrupt: `current` did not cause it.
    fn in_interrupt(&self) -> bool;

    // Queues.

    /// 0, `-EINVAL` for a number of the kernel's, `-EEXIST`.
    fn create_dsq(&mut self, dsq: u64, node: i32) -> i32;
    /// Exit: there is no such queue. One with tasks in it stays.
    fn destroy_dsq(&mut self, dsq: u64);
    /// Puts the task at the end of a queue (`SCX_ENQ_HEAD`: at its head). From `select_cpu` and
    /// `enqueue`: the task in question only, once. From `dispatch`: into the buffer of dispatches.
    /// `slice_ns` 0: it keeps its slice. False: the scheduler exits.
    fn dsq_insert(&mut self, task: TaskId, dsq: u64, slice_ns: u64, enq_flags: u64) -> bool;
    /// Inserts a task into a queue by `vtime`. Queues of the kernel have no such order.
    fn dsq_insert_vtime(
        &mut self,
        task: TaskId,
        dsq: u64,
        slice_ns: u64,
        vtime: u64,
        enq_flags: u64,
    ) -> bool;
    /// The first task of a queue that may run here goes to the local queue. From `dispatch` only.
    fn dsq_move_to_local(&mut self, dsq: u64, enq_flags: u64) -> bool;
    /// Tasks in a queue; `-ENOENT`. `SCX_DSQ_LOCAL` and `LOCAL_ON` are those of CPUs.
    fn dsq_nr_queued(&self, dsq: u64) -> i32;
    /// The first task, without taking it (6.19).
    fn dsq_peek(&mut self, dsq: u64) -> Option<TaskId>;
    /// Begins a walk. Err: `-ENOENT`, or `-EINVAL` for flags and the kernel's own queues.
    fn dsq_iter_new(&mut self, dsq: u64, flags: u64) -> Result<DsqIter, i32>;
    /// The next task. None: the walk is over.
    fn dsq_iter_next(&mut self, iter: &mut DsqIter) -> Option<TaskId>;
    /// Moves a task that the walk has seen, and that is still in its queue, to another one;
    /// `vtime`: by the walk's or the task's virtual time. The walk's slice and time are used up.
    fn dsq_move(
        &mut self,
        iter: &mut DsqIter,
        task: TaskId,
        dsq: u64,
        enq_flags: u64,
        vtime: bool,
    ) -> bool;
    /// All tasks of this CPU's local queue are enqueued again. Returns how many. From `cpu_release`
    /// only.
    fn reenqueue_local(&mut self) -> u32;
    /// All tasks of a queue, a CPU's or one of the scheduler's, are enqueued again (7.1; the local
    /// queue from 6.19 on, `scx_bpf_reenqueue_local___v2`). Not those that a CPU has chosen.
    /// `reenq_flags`: `SCX_REENQ_ANY`, which changes nothing here.
    fn dsq_reenq(&mut self, dsq: u64, reenq_flags: u64);
    /// Free places of the buffer of dispatches. From `dispatch` only.
    fn dispatch_nr_slots(&mut self) -> u32;
    /// Forgets the last entry of that buffer.
    fn dispatch_cancel(&mut self);

    // CPUs.

    /// Kicks a CPU, by flags `SCX_KICK_*`.
    fn kick_cpu(&mut self, cpu: i32, flags: u64);
    /// Was it idle and is now claimed?
    fn test_and_clear_cpu_idle(&mut self, cpu: i32) -> bool;
    /// Claims an idle CPU of the mask; `-EBUSY`. `node`: preferred, or (`SCX_PICK_IDLE_IN_NODE`)
    /// the only one; None: the caller's.
    fn pick_idle_cpu(&mut self, mask: &[u64], node: Option<i32>, flags: u64) -> i32;
    /// Picks an idle CPU of the mask, and if none is idle any CPU of it.
    fn pick_any_cpu(&mut self, mask: &[u64], node: Option<i32>, flags: u64) -> i32;
    /// Does the kernel keep masks of idle CPUs? If not the scheduler exits
    /// (`check_builtin_idle_enabled`).
    fn tracks_idle(&mut self) -> bool;
    /// Idle CPUs; `node`: those of one node. Stays at its address as long as the kernel lives.
    fn idle_cpumask(&self, node: Option<i32>) -> &[u64];
    /// CPUs whose whole core is idle. Stays at its address.
    fn idle_smtmask(&self, node: Option<i32>) -> &[u64];
    /// The kernel's choice, and whether that CPU was idle and is now claimed.
    fn select_cpu_dfl(&mut self, task: TaskId, prev_cpu: i32, wake_flags: u64) -> (i32, bool);
    /// The kernel's choice of an idle CPU of the mask, claimed; `-EBUSY` (6.16).
    fn select_cpu_and(
        &mut self,
        task: TaskId,
        prev_cpu: i32,
        wake_flags: u64,
        mask: &[u64],
        flags: u64,
    ) -> i32;
    /// Highest CPU number + 1.
    fn nr_cpu_ids(&self) -> u32;
    /// Highest node number + 1.
    fn nr_node_ids(&self) -> u32;
    /// A CPU that exists.
    fn cpu(&self, cpu: u32) -> &CpuFacts;
    /// CPUs in the machine. Stays at its address.
    fn online_cpumask(&self) -> &[u64];
    /// The task that a CPU executes (`cpu_curr`, `cpu_rq(cpu)->curr`); None: its idle task.
    fn cpu_curr(&self, cpu: u32) -> Option<TaskId>;
    /// Tasks of a CPU's run queue, of all classes (`rq->nr_running`).
    fn cpu_nr_running(&self, cpu: u32) -> u32;
    /// What the CPU can do at most, of 1024.
    fn cpuperf_cap(&mut self, cpu: i32) -> u32;
    /// At which fraction of that it runs now, of 1024.
    fn cpuperf_cur(&mut self, cpu: i32) -> u32;
    /// The clocks of a CPU's `struct rq`, as of its last update.
    fn rq_clock(&self, cpu: u32) -> RqClock;
    /// At which fraction it should run. While a run queue is locked only that CPU: else the
    /// scheduler exits.
    fn cpuperf_set(&mut self, cpu: i32, perf: u32);

    // Tasks.

    /// What is known of a task, as of the start of the callback and changed by it since.
    fn task(&self, task: TaskId) -> &TaskFacts;
    /// CPUs that it may use (`cpus_ptr`). Stays at its address while the mask does not change.
    fn task_cpus(&self, task: TaskId) -> &[u64];
    /// `p->scx.slice = ...`
    fn set_slice_ns(&mut self, task: TaskId, slice_ns: u64);
    /// `p->scx.dsq_vtime = ...`
    fn set_dsq_vtime(&mut self, task: TaskId, vtime: u64);
    /// `p->scx.disallow = ...`, from `init_task` only: the task stays in the fair class.
    fn set_disallow(&mut self, task: TaskId, disallow: bool);
    /// It is the current task of its CPU (`task_rq(p)->curr`).
    fn task_running(&self, task: TaskId) -> bool;
    /// Gives the CPU that a task is on.
    fn task_cpu(&self, task: TaskId) -> i32 {
        self.task(task).cpu.cast_signed()
    }
    /// Threads of the run that exist now: `TaskId(0)` up to this, not included. Of those some may
    /// be gone.
    fn nr_tasks(&self) -> u32;
    /// The task of this pid, if it lives.
    fn task_from_pid(&self, pid: i32) -> Option<TaskId>;

    /// The task of this `scx.tid`, which is its pid here. Without `SCX_OPS_TID_TO_TASK` the
    /// scheduler exits.
    fn task_from_tid(&mut self, tid: i32) -> Option<TaskId>;

    // Cgroups.

    /// All of them, the root first.
    fn nr_cgroups(&self) -> u32;
    /// `cpu.weight`: 1..=10000.
    fn cgroup_weight(&self, cgroup: CgroupId) -> u32;
    /// Its parent; None: the root.
    fn cgroup_parent(&self, cgroup: CgroupId) -> Option<CgroupId>;

    // Timers.

    /// (Re)starts a timer. `pinned`: it stays on this CPU.
    fn timer_start(&mut self, timer: TimerId, at_ns: u64, pinned: bool);
    /// Stops it. Was it running?
    fn timer_cancel(&mut self, timer: TimerId) -> bool;
    /// Starts of timers that the machine has not come to yet.
    fn nr_timer_events(&self) -> u32;

    // The loader.

    /// It wants to go on at that time; a time that is over means: as soon as possible.
    fn loader_at(&mut self, at_ns: u64);
    /// It is bound to this CPU: what its programs do from now on is done there.
    fn loader_on(&mut self, cpu: u32);
    /// Since the start a CPU has executed its idle task for so long (`/proc/stat`).
    fn cpu_idle_ns(&self, cpu: u32) -> u64;

    // The end.

    /// `scx_bpf_exit`, `scx_bpf_error`. The first end counts; the callback goes on.
    fn exit(&mut self, kind: ExitKind, code: i64, message: &str);
    /// The scheduler has ended: what the callback still does has no effect.
    fn exited(&self) -> bool;
}
