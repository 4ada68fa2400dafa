//! CPUs leave and come back: their tasks, timers and messages are handed over; where a task goes is
//! the core's answer (docs/rules/hotplug.md#hotplug).
//!
//! What must stay: work goes while domains are still those of before, then domains are built anew.
//! Nothing is lost: `random_schedules_lose_nothing_1`. Free: what leaves recorded runs as they are
//! (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `what_is_left_is_done_by_who_is_left` (tasks), `sleepers_wake_where_they_may` (timers),
//! `a_cpu_that_is_back_takes_work` (return). By function: `what_is_left_is_done_by_who_is_left`
//! (`hotplug_cpu`, `leave_machine`, `hand_over_tasks`, `fallback`), `sleepers_wake_where_they_may`
//! (`hand_over_timers`, `only_online`), `a_cpu_that_is_back_takes_work` (`come_back`,
//! `look_for_work`, `rebuild`), `random_schedules_lose_nothing_1` (`hand_over_messages`),
//! `who_is_away_sleeps_deep_and_keeps_still` (`leave_machine`). `start_cpu` has no test of its own.
//!
//! Callers: wake.rs (`only_online`, `look_for_work`), class_change.rs (`fallback`), classes.rs
//! (`fallback`), fork.rs (`start_cpu`), interface.rs (`hotplug_cpu`), kthreads.rs (`start_cpu`),
//! wake_latency.rs (`fallback`).
//!
//! Tests: crates/engine/tests/behaviour/hotplug.rs

use super::Model;
use super::cpu::Message;
use super::event::Event;
use super::home::Home;
use crate::ids::{CpuId, TaskId};
use crate::mechanics::{Mechanics, Mode};
use crate::observe::{MigrateCause, Observer};
use wakeplace_policy_sys::{Choice, Reason};

impl Model<'_> {
    /// Done by a thread of that CPU, in the kernel as here.
    pub(super) fn hotplug_cpu<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        online: bool,
    ) {
        let outer = self.enter_ext(m, cpu);
        if online {
            self.come_back(m, cpu);
        } else {
            self.leave_machine(m, cpu);
        }
        self.leave_ext(m, outer);
    }

    /// The CPU that was chosen, or if that is not online, the one that stands in for it; and so if
    /// the task may not use it, which a sched_ext scheduler does not have to care about.
    pub(super) fn only_online<O: Observer>(
        &self,
        m: &Mechanics<'_, O>,
        task: TaskId,
        prev: CpuId,
        choice: Choice,
    ) -> Choice {
        let allowed = !self.home.is_sched_ext() || self.tasks[task].may_use(choice.cpu);
        if m.is_online(CpuId(choice.cpu)) && allowed {
            return choice;
        }
        Choice {
            cpu: (self.fallback(m, task, prev)).0,
            reason: Reason::NotAllowed,
            ..choice
        }
    }

    /// Where the first thread starts.
    pub(super) fn start_cpu<O: Observer>(
        &self,
        m: &Mechanics<'_, O>,
        task: TaskId,
        cpu: CpuId,
    ) -> CpuId {
        if m.is_online(cpu) {
            cpu
        } else {
            self.fallback(m, task, cpu)
        }
    }

    /// Where a task goes whose CPUs have all left: the core's answer.
    pub(super) fn fallback<O: Observer>(
        &self,
        m: &Mechanics<'_, O>,
        task: TaskId,
        cpu: CpuId,
    ) -> CpuId {
        let record = &self.tasks[task];
        match self.core.fallback_cpu(record, cpu.0) {
            Some(to) => CpuId(to),
            // A kernel thread of CPUs that are gone goes anywhere (break_affinity).
            None if !m.visible(task) => m.first_online(),
            None => unreachable!("checked before the run: some CPU it may use is online"),
        }
    }

    /// The CPU leaves now. First its work goes, while the caches it shared are known, then the
    /// domains are built without it.
    fn leave_machine<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        m.account(self, cpu);
        self.facts.online[cpu.index()] = false;
        self.core.cpu_mut(cpu.0).queue.online = 0;
        m.set_online(cpu, false);
        self.ext_hotplug(m, cpu, false);
        self.core.nohz_exit(cpu.0);
        self.hand_over_messages(m, cpu);
        self.release_runtime(m, cpu);
        self.hand_over_tasks(m, cpu);
        self.turn_away(m, cpu); // sleepers that were queued all the same are free now
        self.hand_over_timers(m, cpu);
        self.rebuild(m, cpu);
        let c = &mut self.cpus[cpu];
        (c.reschedule, c.reschedule_lazily, c.balance_wanted) = (false, false, false);
        c.spins = false;
        c.tick_stopped = true;
        m.forget_stall(cpu);
        let deepest = self.machine.idle[cpu.index()].last().map(|s| s.index);
        match m.mode(cpu) {
            Mode::Running => self.after_work(m, cpu),
            Mode::Idle if Some(m.idle_state(cpu).index) != deepest => {
                let now = m.now();
                self.leave_idle_state(m, cpu, now);
            }
            // On its way to a state already, or in the one where it stays.
            Mode::Idle | Mode::Waking | Mode::Interrupted => {}
        }
    }

    /// The CPU is there again: idle, and looking for work as soon as it is awake.
    fn come_back<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        self.facts.online[cpu.index()] = true;
        self.core.cpu_mut(cpu.0).queue.online = 1;
        m.set_online(cpu, true);
        self.rebuild(m, cpu);
        self.ext_hotplug(m, cpu, true);
        self.interrupt_with(m, cpu, Message::Arrived);
        self.cpus[cpu].governor = self.ticks.governor(&self.machine.idle[cpu.index()]);
    }

    /// A CPU that has just come back and has no work pulls some.
    pub(super) fn look_for_work<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        self.cpus[cpu].reschedule |= self.home.is_sched_ext();
        if self.home.balances() && self.home.nr_running(cpu) == 0 {
            self.new_idle(m, cpu);
        }
    }

    /// Sched domains of those that are online now; cannot fail, since the whole machine was
    /// accepted.
    fn rebuild<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        self.core
            .hotplug(&self.facts, m.now())
            .expect("a part of a machine that was accepted");
        self.restart_sampling(m, cpu);
    }

    /// What interrupts were to tell it. Tasks on their way join its queue, which moves next; a kick
    /// to balance is lost, as the next tick kicks another CPU.
    fn hand_over_messages<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        let heir = m.first_online();
        for message in std::mem::take(&mut self.cpus[cpu].inbox) {
            match message {
                Message::Enqueue(task) => {
                    self.core.cpu_mut(cpu.0).queue.pending -= 1;
                    self.activate_task(m, task, cpu, false);
                }
                Message::Timer(task) => {
                    self.own[task].timer_cpu = heir;
                    let now = m.now();
                    m.push(now, Event::Timer { task });
                }
                Message::Push { to, level, .. } => {
                    self.core.active_balance_end(cpu.0, to.0, level, false);
                }
                Message::Device { .. }
                | Message::IdleTimer
                | Message::GroupTimer { .. }
                | Message::SchedExtTimer(_) => {
                    self.interrupt_with(m, heir, message);
                }
                Message::Reschedule
                | Message::Preempt
                | Message::NohzBalance
                | Message::NohzStats
                | Message::Tick
                | Message::Unthrottle(_)
                | Message::Arrived => {}
            }
        }
    }

    /// The running task first, then the others in the order of the queue. Sleepers that were still
    /// queued leave the queue for good.
    fn hand_over_tasks<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        // With groups they leave last: a group whose tasks have left may be delayed itself.
        let groups = self.has_groups;
        if !groups {
            self.drop_all_delayed(m, cpu);
        }
        for task in self.class_tasks(cpu) {
            let to = self.fallback(m, task, cpu);
            self.class_move(m, task, to, MigrateCause::Hotplug, cpu);
        }
        let mut tasks = Vec::new();
        self.home.each_waiting(cpu, &mut |task| tasks.push(task));
        if !self.home.dispatches() {
            tasks.reverse(); // those queues keep the next one last
        }
        for task in m.current(cpu).into_iter().chain(tasks) {
            if self.cpu_of(task) != cpu {
                continue; // another CPU has taken it meanwhile
            }
            let to = self.fallback(m, task, cpu);
            self.move_task(m, task, to, MigrateCause::Hotplug);
            self.wakeup_preempt(m, task, to, cpu);
        }
        if groups {
            self.drop_all_delayed(m, cpu);
        }
    }

    /// Its timers go to one CPU, whatever the tasks' own.
    fn hand_over_timers<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        let heir = m.first_online();
        let mut timers = std::mem::take(&mut self.cpus[cpu].timers);
        self.cpus[heir].timers.append(&mut timers);
        if self.idle_timer.cpu == cpu {
            self.idle_timer.cpu = heir;
        }
        for task in self.own.iter_mut() {
            if task.timer_cpu == cpu {
                task.timer_cpu = heir;
            }
        }
    }
}
