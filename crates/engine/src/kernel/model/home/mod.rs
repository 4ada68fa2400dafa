//! What decides about fair tasks: in what order they run, for how long, and who displaces whom.
//!
//! The engine carries out. It asks through the trait `Home`, at the points where a kernel calls its
//! scheduling class. There are three homes: the fair class of a kernel (`kernel`), the live
//! scheduler's queues as sched_ext has them (`live`), and anybody's sched_ext scheduler
//! (`sched_ext`). The first two take their decisions from the core, the third from the scheduler.
//! Frequencies, idle states, interrupts, groups, RT and deadline tasks are no business of a home:
//! there the engine asks the core itself.
//!
//! A home never moves a task between CPUs. It says what it wants, and the engine, which has to
//! account for the move, makes it (`Model::dispatch`, `Model::move_task`). See docs/guide/model.md,
//! "Run queues".
//!
//! What must stay: the order of calls around a wake-up, a move and a pick, which is the kernel's
//! for its class. All three homes answer each method. `Option` and `bool` answers are said at the
//! method. Free: what leaves recorded runs as they are (ARCHITECTURE.md, "What a change may
//! touch"). Tests by part: fair.rs::`wakeups_preempt_beyond_the_granularity_only`
//! (`wakeup_preempt`), fair.rs::`new_tasks_start_a_slice_behind` (`task_fork`),
//! eevdf.rs::`a_delayed_sleeper_wakes_without_a_choice` (`dequeue_sleep`, `is_delayed`),
//! eevdf.rs::`a_high_resolution_tick_ends_slices_in_time` (`slice_left_ns`),
//! eevdf.rs::`who_yields_lets_the_other_run` (`yield_task`),
//! live_queue.rs::`a_new_nice_value_counts_from_then_on` (`reweight_task`),
//! sched_ext/rules.rs::`a_lone_task_is_kept` (`dispatch`, `keeps`). Methods that this list does not
//! name are listed with their tests where they are implemented (kernel.rs, live.rs, sched_ext.rs).
//!
//! Callers, all of them in crates/engine/src/kernel/model: queues.rs (`task_fork`,
//! `migrate_task_rq`, `each_pullable`, `enqueue_task`, `dequeue_task`, `begin_pick`,
//! `drop_delayed_next`, `drop_all_delayed`, `put_prev_task`, `keeps`, `wakeup_preempt`,
//! `take_let_go`, `end_turn`, `task_tick`, `yield_task`, `reweight_task`), run.rs (`next_known`,
//! `pick_next_task`, `set_next_task`, `update_curr`, `stop_task`, `dequeue_sleep`, `balances`),
//! change.rs (`set_task_group`, `detach_task`, `attach_task`, `drop_delayed`, `set_load_weight`,
//! `set_own_slice`), bandwidth.rs (`throttle_group`, `unthrottle_group`, `dequeue_throttled`),
//! wake.rs (`select_cpu`, `place_woken`, `is_delayed`, `resched_curr`), fork.rs (`places_on_exec`,
//! `add_task`), groups.rs (`set_group_weight`, `take_touched_group`), balance.rs (`is_buddy`,
//! `is_eligible`), tick.rs (`nohz`, `slice_left_ns`), classes.rs (`begin_put`), live.rs
//! (`dispatch`), report.rs (`nr_queued`, `check`), mod.rs (`has_groups`), several (`dispatches`,
//! `nr_running`, `each_waiting`).
//!
//! Tests: crates/engine/tests/behaviour/fair.rs, crates/engine/tests/behaviour/eevdf.rs,
//! crates/engine/tests/behaviour/live_queue.rs, crates/engine/tests/behaviour/sched_ext/rules.rs

mod any;
mod kernel;
mod live;
mod live_queue;
pub(crate) mod sched_ext;

use super::task::TaskState;
use crate::ids::{CpuId, TaskId};
pub(crate) use any::AnyHome;
pub(crate) use kernel::kernel_kind;
use wakeplace_policy_sys::{Choice, Core, Request, Resched, Task};
use wakeplace_workload::FairPolicy;

/// What a home uses of the machine.
pub(crate) struct Services<'a> {
    pub(crate) core: &'a mut Core,
    /// The core's records of all tasks.
    pub(crate) records: &'a mut [Task],
    pub(crate) now_ns: u64,
}

/// The questions. Beside each is the callback of sched_ext that has the same place.
pub(crate) trait Home {
    /// The kernel balances on behalf of idle CPUs, and the home hears of their ticks. Else a timer
    /// of the scheduler's does it.
    fn nohz(&self) -> bool;

    /// CPUs pull for themselves as they look at their queues (`dispatch`), also in periodic passes.
    fn dispatches(&self) -> bool;

    /// Tasks are balanced between CPUs as the core decides.
    fn balances(&self) -> bool {
        true
    }

    /// A task that runs another program is placed anew.
    fn places_on_exec(&self) -> bool;

    /// Chooses a CPU for a task that wakes, is created, or runs another program (`select_cpu`).
    fn select_cpu(&mut self, services: Services<'_>, task: TaskId, ask: &Request) -> Choice;

    /// Adds a task that is on no queue. Its number is the next one (`init_task`).
    fn add_task(&mut self, task: &TaskState, own_slice_ns: Option<u64>, group: Option<usize>);

    /// Its group from now on. Off the queue (`cgroup_move`).
    fn set_task_group(&mut self, task: TaskId, group: Option<usize>);

    /// Tasks of a CPU that can run, the running one included.
    fn nr_running(&self, cpu: CpuId) -> usize;

    /// ... and sleepers that its queue keeps, as the core counts them: none with groups.
    fn nr_queued(&self, cpu: CpuId) -> usize;

    /// Calls `seen` with each task that waits on a CPU.
    fn each_waiting(&self, cpu: CpuId, seen: &mut dyn FnMut(TaskId));

    /// The same for those that balancing may take, in the home's own order if it `dispatches`.
    fn each_pullable(&self, cpu: CpuId, seen: &mut dyn FnMut(TaskId));

    /// Gives a woken task its place in the order of `cpu`. A home that does so when the task is
    /// queued does nothing here (`runnable`).
    fn place_woken(&mut self, services: Services<'_>, task: TaskId, cpu: CpuId);

    /// Gives a new task its place. `parent`: who forked it on `here`; None: no fair task.
    fn task_fork(
        &mut self,
        services: Services<'_>,
        child: TaskId,
        parent: Option<TaskId>,
        here: CpuId,
        cpu: CpuId,
    );

    /// A task off the queue goes from one CPU to another. `fair`: it is no RT or deadline task.
    fn migrate_task_rq(
        &mut self,
        services: Services<'_>,
        task: TaskId,
        from: CpuId,
        to: CpuId,
        fair: bool,
    );

    /// A task off the queue leaves the fair class or its group.
    fn detach_task(&mut self, task: TaskId, cpu: CpuId);

    /// A task off the queue is in the fair class or another group from now on. `new`: it was in
    /// another class, and can run.
    fn attach_task(&mut self, services: Services<'_>, task: TaskId, cpu: CpuId, new: bool);

    /// A task that has its place waits on `cpu`; `front`: before all others, if there is such a
    /// front (`enqueue`).
    fn enqueue_task(&mut self, services: Services<'_>, task: TaskId, cpu: CpuId, front: bool);

    /// A task leaves the queue of `cpu` for another; `waiting`: it was not the running one
    /// (`dequeue`).
    fn dequeue_task(&mut self, services: Services<'_>, task: TaskId, cpu: CpuId, waiting: bool);

    /// The running task sleeps or (`ends`) is gone for good. Returns true if the queue keeps it and
    /// the core is to count it (`quiescent`).
    fn dequeue_sleep(
        &mut self,
        services: Services<'_>,
        task: TaskId,
        cpu: CpuId,
        ends: bool,
    ) -> bool;

    /// The task sleeps, but the queue of its CPU keeps it and wakes it there.
    fn is_delayed(&self, task: TaskId, cpu: CpuId) -> bool;

    /// The CPU begins to look at its queue.
    fn begin_pick(&mut self, cpu: CpuId);

    /// A sleeper whose turn it is leaves the queue, if the core counts it. Asked until there is
    /// none.
    fn drop_delayed_next(&mut self, cpu: CpuId) -> Option<TaskId>;

    /// A sleeper leaves the queue, whether it is its turn or not. Returns true if the core counted
    /// it.
    fn drop_delayed(&mut self, services: Services<'_>, task: TaskId, cpu: CpuId) -> bool;

    /// So do all of a CPU. Returns those that the core counted.
    fn drop_all_delayed(&mut self, cpu: CpuId) -> Vec<TaskId>;

    /// A task of a higher class displaces the running one, without a look at this queue.
    fn begin_put(&mut self, cpu: CpuId);

    /// The running task, just stopped, waits again (`enqueue`).
    fn put_prev_task(&mut self, services: Services<'_>, task: TaskId, cpu: CpuId);

    /// Does the running task go on, now that its CPU looks at the queue? None: a dispatch says so.
    fn keeps(&mut self, task: TaskId, cpu: CpuId) -> Option<bool>;

    /// Is it known without a dispatch which task an idle CPU takes next?
    fn next_known(&self, cpu: CpuId) -> bool;

    /// Chooses the next task, after the engine has made a pass of balancing that is due. Returns
    /// true if (`running`) the task that runs goes on (`dispatch`).
    fn dispatch(&mut self, services: Services<'_>, cpu: CpuId, running: bool) -> bool;

    /// Takes the next task out of the queue; it runs. None: the queue is empty.
    fn pick_next_task(&mut self, cpu: CpuId) -> Option<TaskId>;

    /// That task begins to execute (`running`).
    fn set_next_task(&mut self, services: Services<'_>, task: TaskId, cpu: CpuId);

    /// The running task has run for `delta_ns`.
    fn update_curr(&mut self, task: TaskId, cpu: CpuId, delta_ns: u64);

    /// The running task stops (`stopping`).
    fn stop_task(&mut self, services: Services<'_>, task: TaskId, cpu: CpuId);

    /// Does `task`, just queued, displace the running one?
    fn wakeup_preempt(
        &mut self,
        services: Services<'_>,
        task: TaskId,
        running: TaskId,
        cpu: CpuId,
    ) -> bool;

    /// Sleepers that left in the last `wakeup_preempt`, and that the core counted.
    fn take_let_go(&mut self, _cpu: CpuId) -> Vec<TaskId> {
        Vec::new()
    }

    /// Is the waiting task one that its queue prefers at its next pick?
    fn is_buddy(&self, _task: TaskId, _cpu: CpuId) -> bool {
        false
    }

    /// Has the waiting task had no more than its share of its queue?
    fn is_eligible(&self, _task: TaskId, _cpu: CpuId) -> bool {
        true
    }

    /// How a CPU hears that another fair task displaces the one that runs there.
    fn resched_curr(&self, _core: &Core, _cpu: CpuId) -> Resched {
        Resched::Now
    }

    /// The running task is displaced at the next look at the queue.
    fn end_turn(&mut self, cpu: CpuId);

    /// At a tick: is the running task's time over (`tick`)?
    fn task_tick(&mut self, services: Services<'_>, task: TaskId, cpu: CpuId) -> bool;

    /// What is left of the running task's slice while others wait, ns. None: ticks end it.
    fn slice_left_ns(&self, core: &Core, cpu: CpuId, now_ns: u64) -> Option<u64>;

    /// The running task lets others go first. Returns false if there is nobody (`yield`).
    fn yield_task(&mut self, services: Services<'_>, task: TaskId, cpu: CpuId) -> bool;

    /// The running task has another nice value, and so another weight for the core
    /// (`set_weight`).
    fn reweight_task(&mut self, services: Services<'_>, task: TaskId, cpu: CpuId, nice: i8);

    /// Weight and policy of a task off the queue.
    fn set_load_weight(&mut self, task: TaskId, nice: i8, policy: FairPolicy);

    /// The task has a slice of its own from its next turn on, or none.
    fn set_own_slice(&mut self, task: TaskId, cpu: CpuId, own_ns: Option<u64>);

    /// Are there task groups with queues of their own?
    fn has_groups(&self) -> bool;

    /// The entity that stands for a group on a CPU weighs so much.
    fn set_group_weight(&mut self, group: usize, cpu: CpuId, weight: u32);

    /// The group may not run on a CPU: it leaves the queue with all that is in it. None of its
    /// tasks runs. A home without groups with quotas does nothing here. So below.
    fn throttle_group(&mut self, _group: usize, _cpu: CpuId) {}

    /// It may run again.
    fn unthrottle_group(&mut self, _group: usize, _cpu: CpuId) {}

    /// The running task, or the one just picked, leaves the queue since its group is throttled.
    fn dequeue_throttled(&mut self, _task: TaskId, _cpu: CpuId) {}

    /// The group that a task of `cpu` joined or left since the last question. None: none was
    /// touched.
    fn take_touched_group(&mut self, cpu: CpuId) -> Option<usize>;

    /// Panics if the books of a queue are wrong.
    fn check(&self, cpu: CpuId);
}
