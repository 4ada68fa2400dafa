//! The live scheduler: the queues that sched_ext gives it. What they keep of a task, its virtual
//! time among it, is in the core's record, and so are the rules. `scx_wakeplace` does the same in
//! `crates/scx/src/bpf/queue.bpf.h`: change both (docs/rules/live-queue.md#vq-pick).
//!
//! A method without a comment is `Home`'s (home/mod.rs); one that does nothing has no counterpart
//! in sched_ext. What must stay: each call of the core is the one that the glue makes at the same
//! callback. Free: what leaves recorded runs as they are (ARCHITECTURE.md, "What a change may
//! touch"). Tests by part: `two_hogs_alternate_by_slices` (slices),
//! `a_woken_task_waits_for_the_end_of_the_protection` (preemption), `who_yields_lets_others_run`
//! (yield), `a_direct_placement_cannot_be_pulled` (front), `a_new_nice_value_counts_from_then_on`
//! (weights). By function: `two_hogs_alternate_by_slices` (`refill`, `first_due`, `task_tick`,
//! `slice_left_ns`, `put_prev_task`, `keeps`, `dispatch`),
//! `a_woken_task_waits_for_the_end_of_the_protection` (`wakeup_preempt`),
//! `sleeper_credit_is_bounded` (`dequeue_sleep`, `leave`, `place`), `who_yields_lets_others_run`
//! (`yield_task`), `a_direct_placement_cannot_be_pulled` (`enqueue_task`, `each_pullable`),
//! `a_new_nice_value_counts_from_then_on` (`reweight_task`, `stop_task`, `update_curr`),
//! `four_hogs_spread_over_four_cpus` (`dequeue_task`, `migrate_task_rq`). Methods that do nothing
//! or answer with a constant (`nohz`, `dispatches`, `places_on_exec`, `is_delayed`, `drop_delayed`,
//! `has_groups`, ...) must go on doing so: another answer is another run in all of these. `queue`,
//! `select_cpu`, `add_task`, `nr_running`, `nr_queued`, `each_waiting`, `next_known`,
//! `pick_next_task`, `set_next_task`, `end_turn`: all of these. `new`, `queue_mut`,
//! `set_task_group`, `place_woken`, `task_fork`, `detach_task`, `attach_task`, `begin_pick`,
//! `begin_put`, `drop_delayed_next`, `drop_all_delayed`, `set_load_weight`, `set_own_slice`,
//! `set_group_weight`, `take_touched_group` and `check` are among these two sorts.
//!
//! Callers: the model's handlers; home/mod.rs says which file calls which method.
//!
//! Tests: crates/engine/tests/behaviour/live_queue.rs

use super::live_queue::LiveQueue;
use super::{Home, Services};
use crate::ids::{CpuId, TaskId};
use crate::kernel::model::task::TaskState;
use crate::machine::Machine;
use wakeplace_policy_sys::{Choice, Core, Offer, QueueWalk, Request, nice_weight};
use wakeplace_workload::FairPolicy;

/// The queues of all CPUs.
#[derive(Debug)]
pub(crate) struct LiveHome {
    queues: Vec<LiveQueue>,
}

impl LiveHome {
    /// A queue per CPU, all empty.
    pub(super) fn new(machine: &Machine) -> Self {
        let queues = (0..machine.nr_cpus).map(|_| LiveQueue::default());
        Self {
            queues: queues.collect(),
        }
    }

    fn queue(&self, cpu: CpuId) -> &LiveQueue {
        &self.queues[cpu.index()]
    }

    fn queue_mut(&mut self, cpu: CpuId) -> &mut LiveQueue {
        &mut self.queues[cpu.index()]
    }

    /// The task that runs on `cpu` has a new slice.
    fn refill(&mut self, core: &Core, cpu: CpuId, now_ns: u64) {
        self.queue_mut(cpu).refill(now_ns + core.vq_slice_ns());
    }

    /// The waiting task that runs next. None, if (`running`) the one that runs goes on, or nobody
    /// waits.
    fn first_due(&self, services: &mut Services<'_>, cpu: CpuId, running: bool) -> Option<TaskId> {
        let core = &mut *services.core;
        let mut walk = QueueWalk::over(cpu.0, services.now_ns);
        let queue = self.queue(cpu);
        loop {
            let first = queue.in_order().next().filter(|_| !running);
            let waiting = queue.nr_waiting() as u32;
            if !core.pick_begin(&mut walk, running, waiting) {
                return first;
            }
            for task in queue.in_order() {
                match core.pick_offer(&mut walk, &services.records[task.index()]) {
                    Offer::Skip => {}
                    Offer::Take => return Some(task),
                    Offer::Stop => break,
                }
            }
            if !core.pick_end(&walk) {
                return first;
            }
        }
    }
}

impl Services<'_> {
    /// The core gives the task its place in virtual time on `cpu`.
    fn place(self, task: TaskId, cpu: CpuId) {
        let record = &mut self.records[task.index()];
        self.core.live_queue_place(record, cpu.0, self.now_ns);
    }

    /// The task leaves. `delayed`: it goes on counting if it has had more than its share.
    fn leave(self, task: TaskId, delayed: bool) {
        let record = &mut self.records[task.index()];
        self.core.live_queue_leave(record, delayed, self.now_ns);
    }
}

impl Home for LiveHome {
    #[inline]
    fn nohz(&self) -> bool {
        false
    }

    #[inline]
    fn dispatches(&self) -> bool {
        true
    }

    #[inline]
    fn places_on_exec(&self) -> bool {
        false // sched_ext has no callback for it
    }

    #[inline]
    fn select_cpu(&mut self, services: Services<'_>, task: TaskId, ask: &Request) -> Choice {
        services
            .core
            .select_cpu(services.records, task.index(), ask)
    }

    #[inline]
    fn add_task(&mut self, _task: &TaskState, _own_slice_ns: Option<u64>, _group: Option<usize>) {}

    #[inline]
    fn set_task_group(&mut self, _task: TaskId, _group: Option<usize>) {}

    #[inline]
    fn nr_running(&self, cpu: CpuId) -> usize {
        self.queue(cpu).nr()
    }

    #[inline]
    fn nr_queued(&self, cpu: CpuId) -> usize {
        self.queue(cpu).nr()
    }

    #[inline]
    fn each_waiting(&self, cpu: CpuId, seen: &mut dyn FnMut(TaskId)) {
        self.queue(cpu).waiting().for_each(seen);
    }

    /// Nobody pulls what is at the front.
    #[inline]
    fn each_pullable(&self, cpu: CpuId, seen: &mut dyn FnMut(TaskId)) {
        self.queue(cpu).in_order().for_each(seen);
    }

    #[inline]
    fn place_woken(&mut self, services: Services<'_>, task: TaskId, cpu: CpuId) {
        services.place(task, cpu);
    }

    #[inline]
    fn task_fork(
        &mut self,
        services: Services<'_>,
        child: TaskId,
        _parent: Option<TaskId>,
        _here: CpuId,
        cpu: CpuId,
    ) {
        services.place(child, cpu);
    }

    #[inline]
    fn migrate_task_rq(
        &mut self,
        services: Services<'_>,
        task: TaskId,
        _from: CpuId,
        to: CpuId,
        _fair: bool,
    ) {
        services.place(task, to);
    }

    #[inline]
    fn detach_task(&mut self, _task: TaskId, _cpu: CpuId) {}

    #[inline]
    fn attach_task(&mut self, services: Services<'_>, task: TaskId, cpu: CpuId, new: bool) {
        if new {
            services.place(task, cpu);
        }
    }

    /// At the front if asked, or if the core says it is next anyway; else by its virtual deadline.
    #[inline]
    fn enqueue_task(&mut self, services: Services<'_>, task: TaskId, cpu: CpuId, front: bool) {
        let record = &services.records[task.index()];
        let queue = self.queue_mut(cpu);
        let waiting = queue.nr_waiting() as u32;
        if front {
            queue.insert_local(task);
        } else if services.core.live_queue_is_next(record, cpu.0, waiting) {
            queue.lone = true;
            queue.insert_local(task);
        } else {
            queue.insert(task, record.deadline_ns());
        }
    }

    /// It leaves for another queue: nothing of it counts here any more.
    #[inline]
    fn dequeue_task(&mut self, services: Services<'_>, task: TaskId, cpu: CpuId, waiting: bool) {
        if waiting {
            self.queue_mut(cpu).remove(task);
        }
        services.leave(task, false);
    }

    /// Never keeps a sleeper (false): lag is kept by the core (`delayed`).
    #[inline]
    fn dequeue_sleep(
        &mut self,
        services: Services<'_>,
        task: TaskId,
        _cpu: CpuId,
        ends: bool,
    ) -> bool {
        services.leave(task, !ends);
        false
    }

    #[inline]
    fn is_delayed(&self, _task: TaskId, _cpu: CpuId) -> bool {
        false // it wakes like any other
    }

    #[inline]
    fn begin_pick(&mut self, _cpu: CpuId) {}

    #[inline]
    fn drop_delayed_next(&mut self, _cpu: CpuId) -> Option<TaskId> {
        None
    }

    #[inline]
    fn drop_delayed(&mut self, services: Services<'_>, task: TaskId, _cpu: CpuId) -> bool {
        services.leave(task, false);
        false
    }

    #[inline]
    fn drop_all_delayed(&mut self, _cpu: CpuId) -> Vec<TaskId> {
        Vec::new()
    }

    #[inline]
    fn begin_put(&mut self, _cpu: CpuId) {}

    /// It waits again by a deadline that is counted anew.
    #[inline]
    fn put_prev_task(&mut self, services: Services<'_>, task: TaskId, cpu: CpuId) {
        let record = &mut services.records[task.index()];
        services
            .core
            .live_queue_place(record, cpu.0, services.now_ns);
        let deadline_ns = record.deadline_ns();
        self.queue_mut(cpu).insert(task, deadline_ns);
    }

    /// With a slice left: yes. Without one: no, if a task is at the front; else `dispatch` says
    /// (None).
    #[inline]
    fn keeps(&mut self, _task: TaskId, cpu: CpuId) -> Option<bool> {
        let queue = self.queue(cpu);
        if !queue.slice_over {
            return Some(true);
        }
        queue.has_local().then_some(false)
    }

    /// Only what is at the front is known without a dispatch.
    #[inline]
    fn next_known(&self, cpu: CpuId) -> bool {
        self.queue(cpu).has_local()
    }

    /// Puts the next task to the front, or gives the one that runs a new slice.
    #[inline]
    fn dispatch(&mut self, mut services: Services<'_>, cpu: CpuId, running: bool) -> bool {
        if let Some(next) = self.first_due(&mut services, cpu, running) {
            self.queue_mut(cpu).put_first(next);
            return false;
        }
        if running {
            let (core, now_ns) = (services.core, services.now_ns);
            core.live_queue_go_on(cpu.0, now_ns);
            self.refill(core, cpu, now_ns);
        }
        running
    }

    #[inline]
    fn pick_next_task(&mut self, cpu: CpuId) -> Option<TaskId> {
        self.queue_mut(cpu).pick()
    }

    /// A task that was alone when it was queued gets its place in virtual time only now.
    #[inline]
    fn set_next_task(&mut self, services: Services<'_>, task: TaskId, cpu: CpuId) {
        let record = &mut services.records[task.index()];
        if std::mem::take(&mut self.queue_mut(cpu).lone) {
            services.core.pick_lone(record, cpu.0, services.now_ns);
        }
        services
            .core
            .live_queue_start(record, cpu.0, services.now_ns);
        self.refill(services.core, cpu, services.now_ns);
    }

    #[inline]
    fn update_curr(&mut self, _task: TaskId, _cpu: CpuId, _delta_ns: u64) {} // the core does

    #[inline]
    fn stop_task(&mut self, services: Services<'_>, task: TaskId, cpu: CpuId) {
        self.queue_mut(cpu).stop();
        let record = &mut services.records[task.index()];
        services.core.live_queue_stop(record, services.now_ns);
    }

    /// The core is offered the waiting tasks in order until it has seen enough; it says whether the
    /// woken one displaces the running one.
    #[inline]
    fn wakeup_preempt(
        &mut self,
        services: Services<'_>,
        task: TaskId,
        _running: TaskId,
        cpu: CpuId,
    ) -> bool {
        let mut walk = QueueWalk::over(cpu.0, services.now_ns);
        let core = services.core;
        if !core.preempt_begin(&mut walk, &services.records[task.index()]) {
            return false;
        }
        for other in self.queue(cpu).in_order().filter(|other| *other != task) {
            let other = &services.records[other.index()];
            if core.preempt_offer(&mut walk, other) == Offer::Stop {
                break;
            }
        }
        let at_once = Core::preempt_end(&walk);
        let queue = self.queue_mut(cpu);
        if at_once && !queue.has_local() {
            queue.put_first(task);
        }
        at_once
    }

    /// The slice counts as used up: the next look at the queue dispatches.
    #[inline]
    fn end_turn(&mut self, cpu: CpuId) {
        self.queue_mut(cpu).slice_over = true;
    }

    /// True: the slice is over, by time or since the core says so with that many waiting.
    #[inline]
    fn task_tick(&mut self, services: Services<'_>, _task: TaskId, cpu: CpuId) -> bool {
        let queue = self.queue_mut(cpu);
        let waiting = queue.nr_waiting() as u32;
        let now_ns = services.now_ns;
        let expired = services.core.live_queue_expired(cpu.0, waiting, now_ns);
        queue.slice_over |= expired || queue.slice_end_ns <= now_ns;
        queue.slice_over
    }

    /// None while nobody waits or a task of a higher class runs: then no slice ends.
    #[inline]
    fn slice_left_ns(&self, core: &Core, cpu: CpuId, now_ns: u64) -> Option<u64> {
        self.queue(cpu).waiting().next()?;
        // No slice ends while a task of a higher class has the CPU.
        let fair = core.cpu(cpu.0).queue.curr_weight > 0;
        fair.then(|| core.slice_left_ns(cpu.0, now_ns))
    }

    /// False if nobody waits: then it goes on.
    #[inline]
    fn yield_task(&mut self, services: Services<'_>, _task: TaskId, cpu: CpuId) -> bool {
        let queue = self.queue_mut(cpu);
        let waiting = queue.nr_waiting() as u32;
        let others = services.core.yield_task(cpu.0, waiting, services.now_ns);
        queue.slice_over |= others;
        others
    }

    /// As the kernel does it: stopped, changed, started anew.
    #[inline]
    fn reweight_task(&mut self, services: Services<'_>, task: TaskId, cpu: CpuId, nice: i8) {
        let (core, now_ns) = (services.core, services.now_ns);
        let record = &mut services.records[task.index()];
        core.live_queue_stop(record, now_ns);
        core.task_set_weight(record, nice_weight(nice.into()), now_ns);
        core.live_queue_start(record, cpu.0, now_ns);
    }

    #[inline]
    fn set_load_weight(&mut self, _task: TaskId, _nice: i8, _policy: FairPolicy) {}

    #[inline]
    fn set_own_slice(&mut self, _task: TaskId, _cpu: CpuId, _own_ns: Option<u64>) {}

    #[inline]
    fn has_groups(&self) -> bool {
        false
    }

    #[inline]
    fn set_group_weight(&mut self, _group: usize, _cpu: CpuId, _weight: u32) {}

    #[inline]
    fn take_touched_group(&mut self, _cpu: CpuId) -> Option<usize> {
        None
    }

    #[inline]
    fn check(&self, _cpu: CpuId) {}
}
