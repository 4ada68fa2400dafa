//! What the scheduler asks for is done: moves, kicks, timers, frequencies, its end.

use crate::home::sched_ext::rq_clock;
use crate::ids::{CpuId, TaskId};
use crate::observe::{MigrateCause, Observer};
use crate::outcome::Ended;
use crate::queue::Event;
use crate::sim::Sim;
use crate::sim::cpu::Message;
use wakeplace_sched_ext as scx;
use wakeplace_sched_ext::class::{Effect, Moved};
use wakeplace_sched_ext::consts::{SCX_KICK_IDLE, SCX_KICK_PREEMPT};

/// What the scheduler asks for is done.
impl<O: Observer> Sim<'_, O> {
    /// Tasks that it took to other run queues: the core hears of it, and caches are refilled.
    #[inline]
    pub(in crate::sim) fn carry_ext_moves(&mut self) {
        if self.home.is_sched_ext() {
            self.carry_all_ext_moves();
        }
    }

    fn carry_all_ext_moves(&mut self) {
        let mut moves = std::mem::take(&mut self.ext.moves);
        while let Some(ext) = self.home.sched_ext()
            && ext.class.has_moves()
        {
            ext.class.take_moves(&mut moves);
            for moved in moves.drain(..) {
                self.carry_ext_move(moved);
            }
        }
        self.ext.moves = moves;
    }

    fn carry_ext_move(&mut self, moved: Moved) {
        let task = TaskId(moved.task.0);
        let (from, to) = (CpuId(moved.from), CpuId(moved.to));
        self.account(from);
        self.account(to);
        let now = self.clock.now;
        let record = &mut self.tasks[task];
        let left = self.core.dequeue_move(record, now);
        let migrated = self.core.migrate_queued(record, to.0, now);
        let joined = self.core.enqueue_moved(record, to.0, now);
        self.threads.touch(task);
        self.count_running(from);
        self.count_running(to);
        self.refill_caches(task, from, to);
        self.after_core(from, left);
        self.after_core(from, migrated);
        self.after_core(to, joined);
        self.clock.mix(u64::from(to.0) << 32 | u64::from(task.0));
        if self.threads.visible(task) {
            let number = self.threads.shown(task);
            let cause = MigrateCause::Dispatch;
            self.told.observer.migrate(now, number, from.0, to.0, cause);
        }
    }

    /// An event is over: kicks, timers and frequencies that its callbacks asked for; and the end of
    /// the scheduler, if it has ended.
    pub(in crate::sim) fn end_ext_event(&mut self) {
        self.pay_ext();
        loop {
            self.carry_ext_moves();
            let mut effects = std::mem::take(&mut self.ext.effects);
            let Some(ext) = self.home.sched_ext().filter(|ext| ext.class.has_effects()) else {
                self.ext.effects = effects;
                break;
            };
            ext.class.take_effects(&mut effects);
            for effect in effects.drain(..) {
                self.carry_out_effect(effect);
            }
            self.ext.effects = effects;
        }
        self.pay_ext();
        self.tell_ext_steps();
        let Some(ext) = self.home.sched_ext() else {
            return;
        };
        if let Some(exit) = ext.class.exit().filter(|_| self.ended.is_none()) {
            self.ended = Some(Ended::Scheduler { exit: exit.clone() });
        }
        while let Some(cpu) = self.ext.paid.pop() {
            self.account(cpu);
            self.program(cpu);
        }
    }

    fn carry_out_effect(&mut self, effect: Effect) {
        match effect {
            Effect::Resched { cpu, by } => self.resched_ext(CpuId(cpu), CpuId(by)),
            Effect::Kick { cpu, by, flags } => self.kick_ext(CpuId(cpu), CpuId(by), flags),
            Effect::CpuPerf { cpu, perf } => {
                let result = self.core.set_perf_target(cpu, perf, self.clock.now);
                self.after_core(CpuId(cpu), result);
            }
            Effect::Timer {
                timer,
                at_ns,
                cpu,
                pinned,
            } => {
                let cpu = CpuId(cpu);
                let cpu = if pinned { cpu } else { self.timer_target(cpu) };
                let cpu = self.changes.timer_cpu(cpu);
                self.cpus[cpu].timers.push(std::cmp::Reverse(at_ns));
                let timer = timer.0;
                self.clock.push(at_ns, Event::SchedExtTimer { timer, cpu });
            }
            Effect::Loader { at_ns } => self.clock.push(at_ns, Event::SchedExtLoader),
        }
    }

    /// `resched_curr`.
    fn resched_ext(&mut self, cpu: CpuId, by: CpuId) {
        if self.cpus[cpu].reschedule {
            return; // it is on its way
        }
        match self.cpus[cpu].current {
            None => self.kick(cpu, by),
            Some(_) => {
                self.cpus[cpu].reschedule = true;
                self.send(cpu, Message::Reschedule);
            }
        }
    }

    /// `kick_one_cpu` and `kick_one_cpu_if_idle` (docs/rules/sched-ext.md#kicks).
    fn kick_ext(&mut self, cpu: CpuId, by: CpuId, flags: u64) {
        if !self.changes.is_online(cpu) {
            return;
        }
        let current = self.cpus[cpu].current;
        if flags & SCX_KICK_IDLE != 0 && current.is_some() {
            return;
        }
        if current.is_some_and(|task| self.classes.is_class(task)) {
            return; // it looks at the scheduler's queues afterwards anyway
        }
        if flags & SCX_KICK_PREEMPT != 0
            && let Some(ext) = self.home.sched_ext()
        {
            ext.class.preempt(cpu.0);
        }
        self.resched_ext(cpu, by);
    }

    /// A timer of the scheduler's is due, unless it was stopped.
    pub(in crate::sim) fn ext_timer(&mut self, timer: u32, cpu: CpuId) {
        let cpu = self.changes.timer_cpu(cpu);
        self.cpus[cpu].next_timer_ns(self.clock.now); // forgets this one
        let number = scx::TimerId(timer);
        let due = self
            .home
            .sched_ext()
            .is_some_and(|ext| ext.class.timer_due(number));
        match due {
            true => self.interrupt_with(cpu, Message::SchedExtTimer(timer)),
            false => self.clock.idle_event(),
        }
    }

    /// Its interrupt is taken.
    pub(in crate::sim) fn take_ext_timer(&mut self, timer: u32) {
        self.tell_ext_clocks();
        if let Some(ext) = self.home.sched_ext() {
            ext.class.timer(scx::TimerId(timer));
            self.pay_ext();
        }
    }

    /// The loader goes on. It takes no time of the machine's CPUs.
    pub(in crate::sim) fn ext_loader(&mut self) {
        self.tell_ext_clocks();
        if let Some(ext) = self.home.sched_ext() {
            ext.class.loader();
        }
    }

    /// The clocks of all run queues, as of their last updates: programs that are not called for a
    /// CPU read those of all.
    fn tell_ext_clocks(&mut self) {
        let Some(ext) = self.home.sched_ext() else {
            return;
        };
        for cpu in self.machine.cpus() {
            ext.class.set_rq_clock(cpu.0, rq_clock(&self.core, cpu));
        }
    }

    pub(in crate::sim) fn watchdog(&mut self) {
        if let Some(ext) = self.home.sched_ext() {
            ext.class.watch();
            let at_ns = self.clock.now + ext.class.watchdog_interval_ns();
            self.clock.push(at_ns, Event::Watchdog);
        }
    }

    fn tell_ext_steps(&mut self) {
        let Some(ext) = self.home.sched_ext().filter(|ext| ext.class.has_steps()) else {
            return;
        };
        let mut steps = std::mem::take(&mut self.ext.steps);
        ext.class.take_steps(&mut steps);
        let number = |task: scx::TaskId| match self.threads.visible(TaskId(task.0)) {
            true => scx::TaskId(self.threads.shown(TaskId(task.0))),
            false => scx::TaskId(u32::MAX - task.0),
        };
        for step in steps.drain(..) {
            let step = step.renumbered(number);
            self.told.observer.sched_ext(self.clock.now, &step);
        }
        self.ext.steps = steps;
    }
}
