//! What the scheduler asks for is done: moves, kicks, timers, frequencies, its end. In the order in
//! which the callback asked, after it has returned (docs/rules/sched-ext.md#dispatch,
//! docs/rules/sched-ext.md#kicks).
//!
//! What must stay: effects are carried out in the order of the callback's calls. Free: what leaves
//! recorded runs as they are (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! errors.rs::`a_forgotten_task_is_found` (watchdog), rules.rs::`cpus_take_from_the_shared_queue`
//! (moves), `frequencies_begin_at_the_highest` (frequencies),
//! storms.rs::`a_wild_scheduler_loses_nobody` (all). By function: `cpus_take_from_the_shared_queue`
//! (`carry_ext_moves`, `carry_all_ext_moves`, `carry_ext_move`), `a_forgotten_task_is_found`
//! (`watchdog`), explained.rs::`a_direct_dispatch` (`tell_ext_steps`),
//! `a_wild_scheduler_loses_nobody` (`end_ext_event`, `carry_out_effect`, `kick_ext`, `resched_ext`,
//! `ext_timer`, `take_ext_timer`),
//! sched_ext/clocks.rs::`clocks_advance_by_the_time_that_a_task_runs` (`tell_ext_clocks`).
//! `ext_loader` has no test of its own here.
//!
//! Callers: kernel/model/interface.rs (`end_ext_event`, `ext_timer`, `ext_loader`, `watchdog`),
//! mod.rs (`end_ext_event`), kernel/model/wake.rs (`take_ext_timer`), many files
//! (`carry_ext_moves`).
//!
//! Tests: crates/engine/tests/behaviour/sched_ext/rules.rs,
//! crates/engine/tests/behaviour/sched_ext/storms.rs

use crate::ids::{CpuId, TaskId};
use crate::kernel::model::Model;
use crate::kernel::model::cpu::Message;
use crate::kernel::model::event::Event;
use crate::kernel::model::home::sched_ext::rq_clock;
use crate::mechanics::Mechanics;
use crate::observe::{MigrateCause, Observer};
use crate::outcome::Ended;
use wakeplace_sched_ext as scx;
use wakeplace_sched_ext::class::{Effect, Moved};
use wakeplace_sched_ext::consts::{SCX_KICK_IDLE, SCX_KICK_PREEMPT};

/// What the scheduler asks for is done.
impl Model<'_> {
    /// Tasks that it took to other run queues: the core hears of it, and caches are refilled.
    #[inline]
    pub(in crate::kernel::model) fn carry_ext_moves<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
    ) {
        if self.home.is_sched_ext() {
            self.carry_all_ext_moves(m);
        }
    }

    /// Until none is left: a carried move may lead to others.
    fn carry_all_ext_moves<O: Observer>(&mut self, m: &mut Mechanics<'_, O>) {
        let mut moves = std::mem::take(&mut self.ext.moves);
        while let Some(ext) = self.home.sched_ext()
            && ext.class.has_moves()
        {
            ext.class.take_moves(&mut moves);
            for moved in moves.drain(..) {
                self.carry_ext_move(m, moved);
            }
        }
        self.ext.moves = moves;
    }

    /// One task goes to another CPU's queue: signals, counts and caches follow it.
    fn carry_ext_move<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, moved: Moved) {
        let task = TaskId(moved.task.0);
        let (from, to) = (CpuId(moved.from), CpuId(moved.to));
        m.account(self, from);
        m.account(self, to);
        let now = m.now();
        let record = &mut self.tasks[task];
        let left = self.core.dequeue_move(record, now);
        let migrated = self.core.migrate_queued(record, to.0, now);
        let joined = self.core.enqueue_moved(record, to.0, now);
        self.touch(task);
        self.count_running(from);
        self.count_running(to);
        m.refill_caches(task, from, to);
        self.after_core(m, from, left);
        self.after_core(m, from, migrated);
        self.after_core(m, to, joined);
        m.mix(u64::from(to.0) << 32 | u64::from(task.0));
        m.tell_migrate(task, from, to, MigrateCause::Dispatch);
    }

    /// An event is over: kicks, timers and frequencies that its callbacks asked for; and the end of
    /// the scheduler, if it has ended.
    pub(in crate::kernel::model) fn end_ext_event<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
    ) {
        self.pay_ext(m);
        loop {
            self.carry_ext_moves(m);
            let mut effects = std::mem::take(&mut self.ext.effects);
            let Some(ext) = self.home.sched_ext().filter(|ext| ext.class.has_effects()) else {
                self.ext.effects = effects;
                break;
            };
            ext.class.take_effects(&mut effects);
            for effect in effects.drain(..) {
                self.carry_out_effect(m, effect);
            }
            self.ext.effects = effects;
        }
        self.pay_ext(m);
        self.tell_ext_steps(m);
        let Some(ext) = self.home.sched_ext() else {
            return;
        };
        if let Some(exit) = ext.class.exit() {
            m.end(Ended::Scheduler { exit: exit.clone() });
        }
        while let Some(cpu) = self.ext.paid.pop() {
            m.account(self, cpu);
            m.program(self, cpu);
        }
    }

    /// One thing that the scheduler asked for.
    fn carry_out_effect<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, effect: Effect) {
        match effect {
            Effect::Resched { cpu, by } => self.resched_ext(m, CpuId(cpu), CpuId(by)),
            Effect::Kick { cpu, by, flags } => self.kick_ext(m, CpuId(cpu), CpuId(by), flags),
            Effect::CpuPerf { cpu, perf } => {
                let result = self.core.set_perf_target(cpu, perf, m.now());
                self.after_core(m, CpuId(cpu), result);
            }
            Effect::Timer {
                timer,
                at_ns,
                cpu,
                pinned,
            } => {
                let cpu = CpuId(cpu);
                let cpu = if pinned {
                    cpu
                } else {
                    self.timer_target(m, cpu)
                };
                let cpu = m.timer_cpu(cpu);
                self.cpus[cpu].timers.push(std::cmp::Reverse(at_ns));
                let timer = timer.0;
                m.push(at_ns, Event::SchedExtTimer { timer, cpu });
            }
            Effect::Loader { at_ns } => m.push(at_ns, Event::SchedExtLoader),
        }
    }

    /// `resched_curr`: the CPU looks at its queue as soon as it can.
    fn resched_ext<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId, by: CpuId) {
        if self.cpus[cpu].reschedule {
            return; // it is on its way
        }
        match m.current(cpu) {
            None => self.kick(m, cpu, by),
            Some(_) => {
                self.cpus[cpu].reschedule = true;
                self.send(m, cpu, Message::Reschedule);
            }
        }
    }

    /// `kick_one_cpu` and `kick_one_cpu_if_idle` (docs/rules/sched-ext.md#kicks).
    fn kick_ext<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        by: CpuId,
        flags: u64,
    ) {
        if !m.is_online(cpu) {
            return;
        }
        let current = m.current(cpu);
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
        self.resched_ext(m, cpu, by);
    }

    /// A timer of the scheduler's is due, unless it was stopped.
    pub(in crate::kernel::model) fn ext_timer<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        timer: u32,
        cpu: CpuId,
    ) {
        let cpu = m.timer_cpu(cpu);
        self.cpus[cpu].next_timer_ns(m.now()); // forgets this one
        let number = scx::TimerId(timer);
        let due = self
            .home
            .sched_ext()
            .is_some_and(|ext| ext.class.timer_due(number));
        match due {
            true => self.interrupt_with(m, cpu, Message::SchedExtTimer(timer)),
            false => m.idle_event(),
        }
    }

    /// The interrupt of a scheduler's timer is taken: its callback runs, unless it was stopped.
    pub(in crate::kernel::model) fn take_ext_timer<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        timer: u32,
    ) {
        self.tell_ext_clocks();
        if let Some(ext) = self.home.sched_ext() {
            ext.class.timer(scx::TimerId(timer));
            self.pay_ext(m);
        }
    }

    /// The loader goes on. It takes no time of the machine's CPUs.
    pub(in crate::kernel::model) fn ext_loader(&mut self) {
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

    /// A task that waited too long ends the scheduler (docs/rules/sched-ext.md); the timer starts
    /// itself again.
    pub(in crate::kernel::model) fn watchdog<O: Observer>(&mut self, m: &mut Mechanics<'_, O>) {
        if let Some(ext) = self.home.sched_ext() {
            ext.class.watch();
            let at_ns = m.now() + ext.class.watchdog_interval_ns();
            m.push(at_ns, Event::Watchdog);
        }
    }

    /// Observers hear what callbacks did, with tasks by their visible numbers.
    fn tell_ext_steps<O: Observer>(&mut self, m: &mut Mechanics<'_, O>) {
        let Some(ext) = self.home.sched_ext().filter(|ext| ext.class.has_steps()) else {
            return;
        };
        let mut steps = std::mem::take(&mut self.ext.steps);
        ext.class.take_steps(&mut steps);
        let now = m.now();
        for step in steps.drain(..) {
            let step = step.renumbered(|task| match m.visible(TaskId(task.0)) {
                true => scx::TaskId(m.shown(TaskId(task.0))),
                false => scx::TaskId(u32::MAX - task.0),
            });
            m.observer().sched_ext(now, &step);
        }
        self.ext.steps = steps;
    }
}
