//! What a fair class is asked, whatever its discipline. The engine calls these at the points where
//! a kernel calls its class; all four kinds of queues keep to what is said of each
//! (docs/guide/model.md, "Run queues").
//!
//! What must stay: the order of calls is a kernel's around its class; times are ns, weights in the
//! kernel's units (nice 0: 1024). Free: a method's default; a new method gets a line in
//! fair_queues.rs.
//!
//! Tests by part: all of the engine. fair.rs: `nice_0_and_nice_5_share_1024_to_335`
//! (`enqueue_task`, `pick_next_task`, `put_prev_task`, `update_curr`, `task_tick`),
//! `wakeups_preempt_beyond_the_granularity_only` (`place_woken`, `wakeup_preempt`,
//! `dequeue_sleep`), `new_tasks_start_a_slice_behind` (`task_fork`); eevdf.rs:
//! `a_delayed_sleeper_wakes_without_a_choice` (`is_delayed`, `drop_delayed_next`),
//! `who_yields_lets_the_other_run` (`yield_task`), `a_high_resolution_tick_ends_slices_in_time`
//! (`slice_left_ns`); groups.rs: `shares_follow_the_load_over_cpus` (`set_group_weight`,
//! `take_touched_group`); bandwidth.rs: `a_task_without_end_gets_its_quota` (`throttle_group`,
//! `unthrottle_group`, `dequeue_throttled`); changes.rs: `a_policy_holds_from_its_phase_on`
//! (`detach_task`, `attach_task`, `set_load_weight`); storm.rs: `random_steps_obey_the_rules`
//! (`set_own_slice`, `reweight_task`); hotplug.rs: `random_schedules_lose_nothing_1`
//! (`each_waiting`, `drop_all_delayed`); invariants.rs asks `check` as random runs end, which would
//! show a fault of the other methods.
//!
//! Callers: crates/engine/src/kernel/model/home/kernel.rs.
//!
//! Tests: crates/engine/tests/behaviour/fair.rs, crates/engine/tests/behaviour/eevdf.rs,
//! crates/engine/tests/behaviour/groups.rs

use crate::{CpuId, TaskId};
use wakeplace_workload::FairPolicy;

/// The fair queues of all CPUs and what they keep of each task. Methods have the names of the
/// kernel's `struct sched_class` and of kernel/sched/fair.c where these have them.
///
/// A task is in one of four places: off all queues (asleep, or between two CPUs), waiting in the
/// queue of a CPU, running there, or *delayed*: it sleeps, but its queue keeps it (EEVDF's
/// `delay_dequeue`).
pub trait FairClass {
    /// A task more; its number is the next one. It is on no queue.
    fn add_task(&mut self, nice: i8, policy: FairPolicy, own_slice_ns: Option<u64>) -> TaskId;

    /// The group that the task is in from now on. Off the queue.
    fn set_task_group(&mut self, _task: TaskId, _group: Option<usize>) {}

    /// Tasks of a CPU that can run, the running one included.
    fn nr_running(&self, cpu: CpuId) -> usize;

    /// Counts the tasks that wait or run, and delayed ones, as far as the CPU counts them: with
    /// groups it does not.
    fn nr_queued(&self, cpu: CpuId) -> usize {
        self.nr_running(cpu)
    }

    /// Calls `seen` with each waiting task, in no meaningful order.
    fn each_waiting(&self, cpu: CpuId, seen: &mut dyn FnMut(TaskId));

    /// A woken task gets its place in the order of its queue, if not as it joins.
    fn place_woken(&mut self, _task: TaskId, _cpu: CpuId) {}

    /// A new task gets its place on `cpu`. `parent`: who forked it on `here`; None: a task that has
    /// no place in a fair queue.
    fn task_fork(&mut self, _child: TaskId, _parent: Option<TaskId>, _here: CpuId, _cpu: CpuId) {}

    /// A task off the queue goes from one CPU to another and keeps its distance to the queue's
    /// time.
    fn migrate_task_rq(&mut self, _task: TaskId, _from: CpuId, _to: CpuId) {}

    /// Its place becomes a distance to the time of its queue: it leaves the class or its group.
    fn detach_task(&mut self, _task: TaskId, _cpu: CpuId) {}

    /// Gives a task that was detached a place again.
    fn attach_task(&mut self, _task: TaskId, _cpu: CpuId) {}

    /// A task that has its place waits.
    fn enqueue_task(&mut self, task: TaskId, cpu: CpuId);

    /// A task leaves the queue for another one; `waiting`: it was not the running one.
    fn dequeue_task(&mut self, task: TaskId, cpu: CpuId, waiting: bool);

    /// The running task sleeps or (`ends`) is gone for good. Returns true if it is delayed and its
    /// CPU goes on counting it.
    fn dequeue_sleep(&mut self, task: TaskId, cpu: CpuId, ends: bool) -> bool;

    /// Is the task delayed?
    fn is_delayed(&self, _task: TaskId, _cpu: CpuId) -> bool {
        false
    }

    /// The CPU begins to look at its queue.
    fn begin_pick(&mut self, _cpu: CpuId) {}

    /// A delayed task whose turn it is, and that its CPU still counts, leaves the queue. Asked
    /// until there is none.
    fn drop_delayed_next(&mut self, _cpu: CpuId) -> Option<TaskId> {
        None
    }

    /// A delayed task leaves the queue, whether it is its turn or not. Returns true if its CPU
    /// counted it.
    fn drop_delayed(&mut self, _task: TaskId, _cpu: CpuId) -> bool {
        false
    }

    /// So do all. Returns those that the CPU counted.
    fn drop_all_delayed(&mut self, _cpu: CpuId) -> Vec<TaskId> {
        Vec::new()
    }

    /// A task of a higher class displaces the running one, without a look at this queue.
    fn begin_put(&mut self, _cpu: CpuId) {}

    /// The running task, just stopped, waits again.
    fn put_prev_task(&mut self, task: TaskId, cpu: CpuId);

    /// Does the running task go on, now that its CPU looks at the queue?
    fn keeps(&mut self, task: TaskId, cpu: CpuId) -> bool;

    /// Takes the next task out of the queue; it runs. None: the queue is empty.
    fn pick_next_task(&mut self, cpu: CpuId) -> Option<TaskId>;

    /// That task begins a turn.
    fn set_next_task(&mut self, _task: TaskId) {}

    /// The running task has run for `delta_ns`.
    fn update_curr(&mut self, task: TaskId, cpu: CpuId, delta_ns: u64);

    /// Does `task`, just queued, displace the running one? `sync`: who has woken it will sleep
    /// soon.
    fn wakeup_preempt(&mut self, task: TaskId, running: TaskId, cpu: CpuId, sync: bool) -> bool;

    /// Delayed tasks that left in the last `wakeup_preempt`, and that the CPU counted.
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

    /// At a tick: is the running task's time over?
    fn task_tick(&mut self, task: TaskId, cpu: CpuId) -> bool;

    /// What is left of the running task's slice while others wait, ns. None: ticks end it.
    fn slice_left_ns(&self, _cpu: CpuId) -> Option<u64> {
        None
    }

    /// The running task lets others go first. Returns false if there is nobody.
    fn yield_task(&mut self, task: TaskId, cpu: CpuId) -> bool;

    /// The running task has another nice value.
    fn reweight_task(&mut self, task: TaskId, cpu: CpuId, nice: i8);

    /// Weight and policy of a task off the queue.
    fn set_load_weight(&mut self, task: TaskId, nice: i8, policy: FairPolicy);

    /// The task has a slice of its own from its next request on, or none.
    fn set_own_slice(&mut self, _task: TaskId, _cpu: CpuId, _own_ns: Option<u64>) {}

    /// Are there task groups?
    fn has_groups(&self) -> bool {
        false
    }

    /// The entity that stands for a group on a CPU weighs so much.
    fn set_group_weight(&mut self, _group: usize, _cpu: CpuId, _weight: u32) {}

    /// The group may not run on a CPU: it leaves the queue with all that is in it. None of its
    /// tasks runs. Returns how many tasks `nr_running` has lost.
    fn throttle_group(&mut self, _group: usize, _cpu: CpuId) -> usize {
        0
    }

    /// It may again. Returns how many tasks `nr_running` has got.
    fn unthrottle_group(&mut self, _group: usize, _cpu: CpuId) -> usize {
        0
    }

    /// The task that runs, or was just picked, leaves the queue since its group may not run.
    fn dequeue_throttled(&mut self, task: TaskId, cpu: CpuId) {
        self.dequeue_task(task, cpu, false);
    }

    /// The group that a task of `cpu` joined or left since the last question, at most one. None:
    /// none was touched.
    fn take_touched_group(&mut self, _cpu: CpuId) -> Option<usize> {
        None
    }

    /// Panics if the sums of a queue do not agree with its tasks.
    fn check(&self, _cpu: CpuId) {}
}
