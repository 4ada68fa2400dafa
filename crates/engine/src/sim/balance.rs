//! Carries out what the core decides about load balancing: walk the levels, offer tasks, move them.

use super::Sim;
use super::cpu::Message;
use crate::home::Home;
use crate::ids::{CpuId, TaskId};
use crate::observe::{KernelWork, MigrateCause, Observer};
use std::cmp::Reverse;
use wakeplace_policy_sys::{Balance, IdleKind, NohzWork, Offer, Step};
use wakeplace_workload::Stream;

/// What balancing keeps from one pass to the next.
pub(super) struct Balancing {
    /// None: in use. Boxed, since it is taken out and put back at every attempt.
    scratch: Option<Box<Balance>>,
    /// Per CPU: whether it makes a new-idle attempt. One stream each, so that one CPU's draws do
    /// not shift another's.
    dice: Vec<Stream>,
}

impl Balancing {
    pub(super) fn new(nr_cpus: u32) -> Self {
        let dice = |cpu| Stream::for_task(0, &format!("new-idle balancing of CPU {cpu}"));
        Self {
            scratch: None,
            dice: (0..nr_cpus).map(dice).collect(),
        }
    }

    /// The next draw of a CPU, 0..1024.
    fn draw(&mut self, cpu: CpuId) -> u32 {
        self.dice[cpu.index()].below(1024) as u32
    }
}

impl<O: Observer> Sim<'_, O> {
    pub(super) fn idle_kind(&self, cpu: CpuId) -> IdleKind {
        if self.core.is_idle(cpu.0) {
            IdleKind::Idle
        } else {
            IdleKind::Busy
        }
    }

    /// One periodic pass of a CPU over its domains.
    pub(super) fn balance_domains(&mut self, cpu: CpuId, idle: IdleKind) {
        self.update_blocked(cpu, cpu);
        self.balance_levels(cpu, idle);
    }

    /// The levels that are due.
    pub(super) fn balance_levels(&mut self, cpu: CpuId, mut idle: IdleKind) {
        for level in 0..self.core.levels(cpu.0) {
            if !self.core.balance_due(cpu.0, level, self.clock.now, idle) {
                continue;
            }
            let (step, moved) = self.balance_level(cpu, level, idle);
            if moved > 0 {
                idle = self.idle_kind(cpu); // they may have gone to another CPU of the group
            }
            if step == Step::Stop {
                break;
            }
        }
        self.core.balance_pass_end(cpu.0, self.clock.now, idle);
    }

    /// One attempt at one level. Returns how it ended and how many tasks moved.
    fn balance_level(&mut self, cpu: CpuId, level: u32, idle: IdleKind) -> (Step, u32) {
        let mut balance = self.balancing.scratch.take().unwrap_or_default();
        balance.prepare(self.clock.now, cpu.0, level, idle);
        if idle == IdleKind::NewlyIdle {
            balance.set_random(self.balancing.draw(cpu));
        }
        let mut step = self.core.balance_begin(&mut balance);
        while step == Step::Detach {
            self.lock_queue(CpuId(balance.src_cpu()), cpu);
            self.offer_tasks(&mut balance, cpu, idle);
            let running = self.cpus[CpuId(balance.src_cpu())].current;
            let may_go = running.is_some_and(|task| self.tasks[task].may_use(cpu.0));
            // The live scheduler finds out when it tries to push.
            let allowed = self.home.dispatches() || may_go;
            step = self.core.balance_end(&mut balance, allowed);
        }
        if balance.push() {
            self.send(CpuId(balance.src_cpu()), Message::Push { to: cpu, level });
        }
        let moved = balance.moved();
        self.balancing.scratch = Some(balance);
        (step, moved)
    }

    /// Offers the tasks of the source and moves those that are taken.
    fn offer_tasks(&mut self, balance: &mut Balance, by: CpuId, idle: IdleKind) {
        if self.home.dispatches() && balance.dst_cpu() != by.0 {
            return; // that CPU pulls for itself
        }
        let mut offered = self.offered(CpuId(balance.src_cpu()));
        while let Some(Reverse((_, task))) = offered.pop() {
            match self.core.balance_offer(balance, &self.tasks[task]) {
                Offer::Stop => break,
                Offer::Skip => {
                    self.threads.touch(task);
                }
                Offer::Take => {
                    let to = CpuId(balance.dst_cpu());
                    let new_idle = idle == IdleKind::NewlyIdle;
                    let cause = if new_idle {
                        MigrateCause::NewIdle
                    } else {
                        MigrateCause::Balance
                    };
                    self.move_task(task, to, cause);
                    // New-idle and live balancing are in the middle of a pick.
                    if !new_idle && !self.home.dispatches() {
                        self.wakeup_preempt(task, to, by);
                    }
                }
            }
        }
    }

    /// Moves a queued task to another queue. The running one is taken off its CPU; the caller
    /// schedules there.
    pub(super) fn move_task(&mut self, task: TaskId, to: CpuId, cause: MigrateCause) {
        let from = self.cpu_of(task);
        if self.classes.is_class(task) {
            return self.class_carry(task, from, to, cause);
        }
        self.account(from);
        self.account(to);
        let record = &mut self.tasks[task];
        let waiting = self.cpus[from].current != Some(task);
        let left = self.core.dequeue_move(record, self.clock.now);
        let migrated = self.core.migrate_queued(record, to.0, self.clock.now);
        let joined = self.core.enqueue_moved(record, to.0, self.clock.now);
        if !waiting {
            self.end_stretch(from, false);
        }
        if let Some(ext) = self.home.sched_ext() {
            ext.moves = true;
        }
        self.remove(task, from, waiting);
        self.renormalize_vruntime(task, from, to);
        self.threads.touch(task);
        self.insert(
            task,
            to,
            !matches!(cause, MigrateCause::Affinity | MigrateCause::Balance),
        );
        self.count_running(from);
        self.count_running(to);
        self.refill_caches(task, from, to);
        let by = match cause {
            MigrateCause::Active => from,
            _ => to,
        };
        self.wait_for_line(to, by, task);
        self.after_core(from, left);
        self.after_core(from, migrated);
        self.after_core(to, joined);
        if self.threads.visible(task) {
            let number = self.threads.shown(task);
            self.told
                .observer
                .migrate(self.clock.now, number, from.0, to.0, cause);
        }
        self.carry_ext_moves();
        self.pay_ext();
    }

    /// A CPU has run out of tasks: look for one to pull.
    pub(super) fn new_idle(&mut self, cpu: CpuId) {
        if !self.core.newidle_begin(cpu.0, self.clock.now) {
            return;
        }
        let waited = self.update_blocked(cpu, cpu);
        self.core.cpu_mut(cpu.0).balance.newidle_waited_ns = waited;
        let mut spent = 0;
        let mut pulled = false;
        for level in 0..self.core.levels(cpu.0) {
            if pulled || !self.core.newidle_level(cpu.0, level, spent) {
                break;
            }
            let (_, moved) = self.balance_level(cpu, level, IdleKind::NewlyIdle);
            spent += self.core.newidle_done(cpu.0, level);
            pulled = moved > 0;
        }
        // The CPU has waited already. Not every era and not every pass counts that as spent.
        let counted = waited - self.core.cpu(cpu.0).balance.newidle_waited_ns;
        self.charge_newidle(cpu, spent - counted);
        self.core.newidle_end(cpu.0, spent, pulled);
    }

    /// This idle CPU was kicked to balance for all idle CPUs.
    pub(super) fn nohz_balance(&mut self, by: CpuId) {
        self.extra_work(by, KernelWork::Balance);
        self.answer_kick(by);
    }

    /// It may have got work meanwhile: then the next tick kicks another.
    pub(super) fn answer_kick(&mut self, by: CpuId) {
        match self.core.nohz_begin(by.0) {
            NohzWork::Nothing => {}
            NohzWork::Due => self.balance_for_due(by),
            NohzWork::All => self.balance_for_all(by),
        }
    }

    /// Itself first; the others until it has work.
    fn balance_for_all(&mut self, by: CpuId) {
        self.balance_domains(by, IdleKind::Idle);
        let mut at = None;
        while self.core.is_idle(by.0)
            && let Some(cpu) = self.core.nohz_next(at).map(CpuId)
        {
            at = Some(cpu.0);
            if cpu != by {
                self.balance_domains(cpu, IdleKind::Idle);
            }
        }
        self.core.nohz_pass_end(self.clock.now, true);
    }

    /// The others whose pass is due; itself last.
    fn balance_for_due(&mut self, by: CpuId) {
        let mut at = None;
        while let Some(cpu) = self.core.nohz_next(at).map(CpuId) {
            at = Some(cpu.0);
            self.update_blocked(cpu, by);
            if cpu != by
                && self.core.cpu(cpu.0).balance.next_balance_tick
                    <= self.clock.now / self.machine.tick_ns
            {
                self.balance_domains(cpu, IdleKind::Idle);
            }
        }
        self.core.nohz_pass_end(self.clock.now, true);
        if self.core.is_idle(by.0) {
            self.balance_domains(by, IdleKind::Idle);
        }
    }

    /// Decays the signals of the idle CPUs.
    pub(super) fn nohz_stats(&mut self, by: CpuId) {
        let mut at = None;
        while let Some(cpu) = self.core.nohz_next(at).map(CpuId) {
            at = Some(cpu.0);
            self.update_blocked(cpu, by);
        }
        self.core.nohz_pass_end(self.clock.now, false);
    }

    /// Active balance: a task goes that could not be taken while it waited.
    pub(super) fn push_running(&mut self, cpu: CpuId, to: CpuId, level: u32) {
        let to_online = self.changes.is_online(to); // it may have left meanwhile
        let task = self.pushed(cpu, to).filter(|_| to_online);
        if let Some(task) = task {
            self.move_task(task, to, MigrateCause::Active);
            self.cpus[cpu].reschedule = true;
            if !self.home.dispatches() {
                self.wakeup_preempt(task, to, cpu);
            } else if self.cpus[to].current.is_none() {
                self.kick(to, cpu); // at the front, but not before its turn
            }
        }
        self.core
            .active_balance_end(cpu.0, to.0, level, task.is_some());
    }
}
