//! What lies between the choice of a CPU and the task in its queue: the time until others see the
//! choice, the wake list of the target, the lock of its queue, and a task that is still on the CPU
//! it is leaving (docs/rules/wake-ups.md#try-to-wake-up and docs/rules/wake-ups.md#race-window;
//! docs/decisions/019).

use super::Sim;
use super::cpu::{Message, Mode};
use crate::ids::{CpuId, TaskId};
use crate::observe::{MigrateCause, Observer};
use crate::queue::Event;
use crate::thread::{State, Wakeup, WakeupStage};
use wakeplace_policy_sys::sys::{WP_WAKE_LIST_CACHE, WP_WAKE_LIST_IDLE};

/// What became of locks and races, for the report.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WakeLatencyTotals {
    /// CPU time spent waiting for run queues' locks and fetching them, ns.
    pub(super) lock_wait_ns: u64,
    /// Tasks sent to a CPU that looked idle although another one was on its way there.
    pub(super) double_placements: u64,
    /// CPU time spent waiting for the lines of groups' loads, ns.
    pub(super) line_wait_ns: u64,
}

/// The lock of a run queue.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct QueueLock {
    free_ns: u64,
    /// Who had it last; None: nobody yet.
    holder: Option<CpuId>,
}

impl QueueLock {
    /// Whoever has it keeps it until then.
    pub(super) fn keep(&mut self, holder: CpuId, until_ns: u64) {
        self.holder = Some(holder);
        self.free_ns = self.free_ns.max(until_ns);
    }
}

impl<O: Observer> Sim<'_, O> {
    pub(super) fn share_cache(&self, a: CpuId, b: CpuId) -> bool {
        let cache_of = &self.machine.cache_of;
        cache_of[a.index()] == cache_of[b.index()]
    }

    /// Does the target queue the task itself? Then its queue's lock stays with it.
    fn by_wake_list(&self, task: TaskId, cpu: CpuId, by: CpuId) -> bool {
        if !self.changes.is_online(cpu) || !self.ext_queues_by_list(task) {
            return false;
        }
        let other_cache = !self.share_cache(cpu, by);
        match self.core.state().params.wake_list {
            WP_WAKE_LIST_CACHE => other_cache,
            WP_WAKE_LIST_IDLE => {
                other_cache || cpu != by && self.core.cpu(cpu.0).queue.nr_running == 0
            }
            _ => false,
        }
    }

    /// The kernel on this CPU waits for so long: the running task's time, or the time until the
    /// CPU is idle again.
    pub(super) fn hold(&mut self, cpu: CpuId, ns: u64) {
        if ns == 0 {
            return;
        }
        self.account(cpu);
        let c = &mut self.cpus[cpu];
        match c.current {
            Some(task) => self.threads[task].kernel_wait_ns += ns,
            None => c.kernel_wait_ns += ns,
        }
    }

    /// A wake-up under way on `by` goes on after `ns`.
    fn later(&mut self, task: TaskId, by: CpuId, stage: WakeupStage, ns: u64) {
        // Only callbacks of a sched_ext scheduler are told.
        let ext = self.home.sched_ext();
        let in_interrupt = ext.is_some_and(|ext| ext.class.context().1);
        let thread = &mut self.threads[task];
        thread.state = State::Arriving;
        thread.wake = Some(Wakeup {
            by,
            in_interrupt,
            stage,
        });
        self.hold(by, ns);
        self.clock
            .push(self.clock.now + ns, Event::WakeupStage { task });
    }

    /// A wake-up under way goes on.
    pub(super) fn resume_wakeup(&mut self, task: TaskId) {
        let Wakeup { by, stage, .. } = self.threads[task].wake.take().expect("under way");
        let cpu = self.cpu_of(task);
        match stage {
            WakeupStage::Select { sync } => self.select_task_rq(task, by, sync),
            WakeupStage::Queue => self.ttwu_queue(task, by),
            WakeupStage::Activate => self.ttwu_do_activate(task, cpu, by),
        }
        self.after_interrupt(by);
    }

    /// The task has not left its CPU for good. Its wake-up goes to that CPU's wake list, if it may,
    /// without a choice; else the waker waits until it is gone. Returns false if neither applies.
    pub(super) fn ttwu_on_cpu(&mut self, task: TaskId, by: CpuId, sync: bool) -> bool {
        let gone = self.threads[task].off_cpu_ns;
        if gone <= self.clock.now {
            return false;
        }
        let cpu = self.cpu_of(task);
        let c = &self.cpus[cpu];
        if c.spins && c.mode == Mode::Running {
            // It has not left the queue yet, and its CPU has the lock.
            let wait = c.spin_until_ns - self.clock.now;
            self.later(task, by, WakeupStage::Select { sync }, wait);
            return true;
        }
        let form = self.core.state().params.wake_list;
        if form == WP_WAKE_LIST_IDLE && self.by_wake_list(task, cpu, by) {
            self.note_wakeup(task, cpu);
            self.ttwu_queue_wakelist(task, cpu);
        } else {
            self.later(
                task,
                by,
                WakeupStage::Select { sync },
                gone - self.clock.now,
            );
        }
        true
    }

    /// The CPU has been chosen by one that looked at the idle states of all.
    pub(super) fn choice_made(&mut self, task: TaskId, by: CpuId) {
        let cpu = self.cpu_of(task);
        if self.cpus[cpu].unseen > 0 && self.core.is_idle(cpu.0) {
            self.contention.totals.double_placements += 1;
        }
        match self.machine.costs.publish_ns + self.search_ns() {
            0 => self.ttwu_queue(task, by),
            delay => {
                self.cpus[cpu].unseen += 1;
                self.threads[task].unseen = true;
                self.later(task, by, WakeupStage::Queue, delay);
            }
        }
    }

    /// What the search took that has just been made: each CPU that it looked at is a cache line
    /// that another one wrote, as the platform or the run states what these take.
    fn search_ns(&self) -> u64 {
        let looked_at = self.core.scanned() + self.core.compared_in_groups();
        u64::from(looked_at) * self.machine.costs.lock_shared_ns
    }

    /// The choice becomes visible: as a mark of the wake list, or with the task in the queue.
    fn ttwu_queue(&mut self, task: TaskId, by: CpuId) {
        let cpu = self.cpu_of(task);
        if self.by_wake_list(task, cpu, by) {
            return self.ttwu_queue_wakelist(task, cpu);
        }
        self.ttwu_lock(task, cpu, by);
    }

    fn ttwu_queue_wakelist(&mut self, task: TaskId, cpu: CpuId) {
        self.seen(task, cpu);
        self.threads[task].state = State::Arriving;
        self.core.cpu_mut(cpu.0).queue.pending += 1;
        self.send(cpu, Message::Enqueue(task));
    }

    /// The waker queues the task as soon as it has the target's lock.
    pub(super) fn ttwu_lock(&mut self, task: TaskId, cpu: CpuId, by: CpuId) {
        match self.take_lock(cpu, by) {
            0 => self.ttwu_do_activate(task, cpu, by),
            wait => self.later(task, by, WakeupStage::Activate, wait),
        }
    }

    fn ttwu_do_activate(&mut self, task: TaskId, cpu: CpuId, by: CpuId) {
        self.seen(task, cpu);
        self.activate_task(task, cpu, false);
        self.ttwu_activated(task, cpu, by);
    }

    /// The CPU leaves: tasks on their way there go elsewhere.
    pub(super) fn turn_away(&mut self, cpu: CpuId) {
        for task in (0..self.tasks.len() as u32).map(TaskId) {
            let stage = self.threads[task].wake.map(|wakeup| wakeup.stage);
            let chosen = matches!(stage, Some(WakeupStage::Queue | WakeupStage::Activate));
            if chosen && self.tasks[task].cpu() == cpu.0 {
                self.seen(task, cpu);
                let to = self.fallback(task, cpu);
                self.relocate_sleeping(task, cpu, to, MigrateCause::Hotplug);
            }
        }
    }

    fn seen(&mut self, task: TaskId, cpu: CpuId) {
        if std::mem::take(&mut self.threads[task].unseen) {
            self.cpus[cpu].unseen -= 1;
        }
    }

    /// `by` takes the lock of a queue, after those who asked before. Returns the time until it has
    /// it; what it does under the lock is part of its other costs.
    pub(super) fn take_lock(&mut self, cpu: CpuId, by: CpuId) -> u64 {
        let costs = &self.machine.costs;
        if !costs.locks() {
            return 0;
        }
        let lock = self.cpus[cpu].lock;
        let fetch = match lock.holder {
            Some(last) if last != by && self.share_cache(last, by) => costs.lock_shared_ns,
            Some(last) if last != by => costs.lock_other_ns,
            _ => 0,
        };
        // A CPU does not wait for itself.
        let others = lock.holder.is_some_and(|last| last != by);
        let busy = lock.free_ns.saturating_sub(self.clock.now) * u64::from(others);
        let wait = busy + fetch;
        let free_ns = lock.free_ns.max(self.clock.now + wait + costs.lock_hold_ns);
        self.cpus[cpu].lock = QueueLock {
            free_ns,
            holder: Some(by),
        };
        self.contention.totals.lock_wait_ns += wait;
        wait
    }

    /// The same where the wait delays nothing but what the waiting CPU does next.
    pub(super) fn lock_queue(&mut self, cpu: CpuId, by: CpuId) {
        let wait = self.take_lock(cpu, by);
        self.hold(by, wait);
    }
}
