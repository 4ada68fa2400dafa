//! What lies between the choice of a CPU and the task in its queue: the time until others see the
//! choice, the wake list of the target, the lock of its queue, and a task that is still on the CPU
//! it is leaving (docs/rules/wake-ups.md#try-to-wake-up and docs/rules/wake-ups.md#race-window;
//! docs/decisions/019).
//!
//! What must stay: times are the platform's costs, ns; a lock is granted in the order in which it
//! was asked for. Free: what leaves recorded runs as they are (ARCHITECTURE.md, "What a change may
//! touch"). Tests by part: `without_a_delay_no_idle_cpu_is_chosen_twice` (visibility),
//! `the_wake_list_spares_the_waker_the_lock`, `a_lock_is_taken_in_turn`,
//! `a_task_that_is_switching_out_is_waited_for`, `a_polling_cpu_needs_no_interrupt`. By function:
//! `without_a_delay_no_idle_cpu_is_chosen_twice` (`choice_made`, `seen`, `later`, `resume_wakeup`),
//! `a_remote_wake_up_takes_the_sum_of_its_parts` (`ttwu_queue`),
//! lines.rs::`a_search_pays_for_each_cpu` (`search_ns`), `the_wake_list_spares_the_waker_the_lock`
//! (`by_wake_list`, `share_cache`, `ttwu_queue_wakelist`), `a_lock_is_taken_in_turn` (`keep`,
//! `ttwu_lock`, `ttwu_do_activate`, `wait_for_lock`, `take_lock`, `lock_queue`),
//! `a_task_that_is_switching_out_is_waited_for` (`ttwu_on_cpu`),
//! hotplug.rs::`random_schedules_lose_nothing_1` (`turn_away`).
//!
//! Callers: wake.rs (`ttwu_on_cpu`, `choice_made`, `ttwu_lock`, `lock_queue`), balance.rs
//! (`lock_queue`), hotplug.rs (`turn_away`), interface.rs (`resume_wakeup`), run.rs (`take_lock`).
//!
//! Tests: crates/engine/tests/behaviour/wake_latency.rs

use super::Model;
use super::cpu::Message;
use super::event::Event;
use super::task::{Wakeup, WakeupStage};
use crate::ids::{CpuId, TaskId};
use crate::mechanics::State;
use crate::mechanics::{Mechanics, Mode};
use crate::observe::{MigrateCause, Observer};
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

impl Model<'_> {
    /// Do two CPUs have one last-level cache? Then the waker may queue by itself.
    pub(super) fn share_cache(&self, a: CpuId, b: CpuId) -> bool {
        self.machine.near.share_cache(a, b)
    }

    /// Does the target queue the task itself? Then its queue's lock stays with it.
    fn by_wake_list<O: Observer>(
        &self,
        m: &Mechanics<'_, O>,
        task: TaskId,
        cpu: CpuId,
        by: CpuId,
    ) -> bool {
        if !m.is_online(cpu) || !self.ext_queues_by_list(task) {
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

    /// A wake-up under way on `by` goes on after `ns`.
    fn later<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        by: CpuId,
        stage: WakeupStage,
        ns: u64,
    ) {
        // Only callbacks of a sched_ext scheduler are told.
        let ext = self.home.sched_ext();
        let in_interrupt = ext.is_some_and(|ext| ext.class.context().1);
        m.set_state(task, State::Arriving);
        self.own[task].wake = Some(Wakeup {
            by,
            in_interrupt,
            stage,
        });
        m.hold(self, by, ns);
        m.push(m.now() + ns, Event::WakeupStage { task });
    }

    /// A wake-up under way goes on.
    pub(super) fn resume_wakeup<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, task: TaskId) {
        let Wakeup { by, stage, .. } = self.own[task].wake.take().expect("under way");
        let cpu = self.cpu_of(task);
        match stage {
            WakeupStage::Select { sync } => self.select_task_rq(m, task, by, sync),
            WakeupStage::Queue => self.ttwu_queue(m, task, by),
            WakeupStage::Activate => self.ttwu_do_activate(m, task, cpu, by),
        }
        self.after_interrupt(m, by);
    }

    /// The task has not left its CPU for good. Its wake-up goes to that CPU's wake list, if it may,
    /// without a choice; else the waker waits until it is gone. Returns false if neither applies.
    pub(super) fn ttwu_on_cpu<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        by: CpuId,
        sync: bool,
    ) -> bool {
        let gone = self.own[task].off_cpu_ns;
        if gone <= m.now() {
            return false;
        }
        let cpu = self.cpu_of(task);
        let c = &self.cpus[cpu];
        if c.spins && m.mode(cpu) == Mode::Running {
            // It has not left the queue yet, and its CPU has the lock.
            let wait = c.spin_until_ns - m.now();
            self.later(m, task, by, WakeupStage::Select { sync }, wait);
            return true;
        }
        let form = self.core.state().params.wake_list;
        if form == WP_WAKE_LIST_IDLE && self.by_wake_list(m, task, cpu, by) {
            m.note_wakeup(task, cpu);
            self.ttwu_queue_wakelist(m, task, cpu);
        } else {
            self.later(m, task, by, WakeupStage::Select { sync }, gone - m.now());
        }
        true
    }

    /// The CPU has been chosen by one that looked at the idle states of all.
    pub(super) fn choice_made<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        by: CpuId,
    ) {
        let cpu = self.cpu_of(task);
        if self.cpus[cpu].unseen > 0 && self.core.is_idle(cpu.0) {
            self.contention.totals.double_placements += 1;
        }
        match self.costs.publish_ns + self.search_ns() {
            0 => self.ttwu_queue(m, task, by),
            delay => {
                self.cpus[cpu].unseen += 1;
                self.own[task].unseen = true;
                self.later(m, task, by, WakeupStage::Queue, delay);
            }
        }
    }

    /// What the search took that has just been made: each CPU that it looked at is a cache line
    /// that another one wrote, as the platform or the run states what these take.
    fn search_ns(&self) -> u64 {
        let looked_at = self.core.scanned() + self.core.compared_in_groups();
        u64::from(looked_at) * self.costs.lock_shared_ns
    }

    /// The choice becomes visible: as a mark of the wake list, or with the task in the queue.
    fn ttwu_queue<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, task: TaskId, by: CpuId) {
        let cpu = self.cpu_of(task);
        if self.by_wake_list(m, task, cpu, by) {
            return self.ttwu_queue_wakelist(m, task, cpu);
        }
        self.ttwu_lock(m, task, cpu, by);
    }

    /// The task goes to the target's wake list, and the target is interrupted if it has to be.
    fn ttwu_queue_wakelist<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        cpu: CpuId,
    ) {
        self.seen(task, cpu);
        m.set_state(task, State::Arriving);
        self.core.cpu_mut(cpu.0).queue.pending += 1;
        self.send(m, cpu, Message::Enqueue(task));
    }

    /// The waker queues the task as soon as it has the target's lock.
    pub(super) fn ttwu_lock<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        cpu: CpuId,
        by: CpuId,
    ) {
        match self.take_lock(m, cpu, by) {
            0 => self.ttwu_do_activate(m, task, cpu, by),
            wait => self.later(m, task, by, WakeupStage::Activate, wait),
        }
    }

    /// The task joins its queue, once the queue's lock is had.
    fn ttwu_do_activate<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        cpu: CpuId,
        by: CpuId,
    ) {
        self.seen(task, cpu);
        self.activate_task(m, task, cpu, false);
        self.ttwu_activated(m, task, cpu, by);
    }

    /// The CPU leaves: tasks on their way there go elsewhere.
    pub(super) fn turn_away<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        for task in (0..self.tasks.len() as u32).map(TaskId) {
            let stage = self.own[task].wake.map(|wakeup| wakeup.stage);
            let chosen = matches!(stage, Some(WakeupStage::Queue | WakeupStage::Activate));
            if chosen && self.tasks[task].cpu() == cpu.0 {
                self.seen(task, cpu);
                let to = self.fallback(m, task, cpu);
                self.relocate_sleeping(m, task, cpu, to, MigrateCause::Hotplug);
            }
        }
    }

    /// The choice is visible from now on; a CPU counts choices that others do not see yet.
    fn seen(&mut self, task: TaskId, cpu: CpuId) {
        if std::mem::take(&mut self.own[task].unseen) {
            self.cpus[cpu].unseen -= 1;
        }
    }

    /// `by` takes the lock of a queue, after those who asked before. Returns the time until it has
    /// it; what it does under the lock is part of its other costs.
    #[inline]
    pub(super) fn take_lock<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        by: CpuId,
    ) -> u64 {
        match self.costs.locks() {
            true => self.wait_for_lock(cpu, by, m.now()),
            false => 0,
        }
    }

    /// `by` takes the lock of a run queue: how long it waits for the lock and its line, ns.
    fn wait_for_lock(&mut self, cpu: CpuId, by: CpuId, now: u64) -> u64 {
        let costs = &self.costs;
        let lock = self.cpus[cpu].lock;
        let fetch = match lock.holder {
            Some(last) if last != by && self.share_cache(last, by) => costs.lock_shared_ns,
            Some(last) if last != by => costs.lock_other_ns,
            _ => 0,
        };
        // A CPU does not wait for itself.
        let others = lock.holder.is_some_and(|last| last != by);
        let busy = lock.free_ns.saturating_sub(now) * u64::from(others);
        let wait = busy + fetch;
        let free_ns = lock.free_ns.max(now + wait + costs.lock_hold_ns);
        self.cpus[cpu].lock = QueueLock {
            free_ns,
            holder: Some(by),
        };
        self.contention.totals.lock_wait_ns += wait;
        wait
    }

    /// The same where the wait delays nothing but what the waiting CPU does next.
    pub(super) fn lock_queue<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        by: CpuId,
    ) {
        let wait = self.take_lock(m, cpu, by);
        m.hold(self, by, wait);
    }
}
