//! Carries out what the core decides about load balancing: walk the levels, offer tasks, move them.
//! The core says from where, which and how many (docs/rules/balancing.md#detach); no rule is here.
//!
//! What must stay: levels go from the smallest domain up, tasks are offered in the home's order,
//! and one draw is made per new-idle pass: another order is another run. Free: what leaves recorded
//! runs as they are (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `a_cpu_that_runs_dry_pulls` (new idle), `the_second_hog_moves_to_an_idle_cpu` (idle and
//! periodic), `pinned_tasks_stay` (affinity), `big_cpus_keep_their_only_tasks` (active),
//! sched_mc.rs::`no_useless_kicks` (kicks), by function: `a_cpu_that_runs_dry_pulls` (`new_idle`,
//! `draw`, `balance_level`, `offer_tasks`, `move_task`), `the_second_hog_moves_to_an_idle_cpu`
//! (`nohz_balance`, `balance_for_all`, `balance_domains`, `balance_levels`),
//! `big_cpus_keep_their_only_tasks` and asym.rs::`misfit_on_top_of_the_series` (`push_running`),
//! sched_mc.rs::`no_useless_kicks` (`answer_kick`),
//! energy_push.rs::`two_bounded_hogs_part` (`push_put_back`),
//! random.rs::`random_runs_on_all_machines_obey_the_rules` (`balance_for_due`, `nohz_stats`,
//! `tell_queue`, `idle_kind`: no task is lost, no more).
//!
//! Callers: wake.rs (`nohz_balance`, `nohz_stats`, `push_running`), run.rs (`push_put_back`),
//! tick.rs (`push_running`), hotplug.rs (`move_task`, `new_idle`), tick.rs (`balance_domains`,
//! `answer_kick`), change.rs (`move_task`), fork.rs (`move_task`), live.rs (`balance_levels`),
//! run.rs (`new_idle`).
//!
//! Tests: crates/engine/tests/behaviour/balance.rs, crates/engine/tests/behaviour/balance_old.rs

use super::Model;
use super::cpu::Message;
use super::home::Home;
use crate::ids::{CpuId, TaskId};
use crate::mechanics::Mechanics;
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
    /// `dice`: a stream per CPU, named by the CPU, the same in all runs (docs/rules/balancing.md).
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

impl Model<'_> {
    /// What the core is told of a CPU that balances: does it run anything?
    pub(super) fn idle_kind(&self, cpu: CpuId) -> IdleKind {
        if self.core.is_idle(cpu.0) {
            IdleKind::Idle
        } else {
            IdleKind::Busy
        }
    }

    /// One periodic pass of a CPU over its domains.
    pub(super) fn balance_domains<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        idle: IdleKind,
    ) {
        self.update_blocked(m, cpu, cpu);
        self.balance_levels(m, cpu, idle);
    }

    /// The levels that are due.
    pub(super) fn balance_levels<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        mut idle: IdleKind,
    ) {
        for level in 0..self.core.levels(cpu.0) {
            if !self.core.balance_due(cpu.0, level, m.now(), idle) {
                continue;
            }
            let (step, moved) = self.balance_level(m, cpu, level, idle);
            if moved > 0 {
                idle = self.idle_kind(cpu); // they may have gone to another CPU of the group
            }
            if step == Step::Stop {
                break;
            }
        }
        self.core.balance_pass_end(cpu.0, m.now(), idle);
    }

    /// One attempt at one level. Returns how it ended and how many tasks moved.
    fn balance_level<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        level: u32,
        idle: IdleKind,
    ) -> (Step, u32) {
        let mut balance = self.balancing.scratch.take().unwrap_or_default();
        balance.prepare(m.now(), cpu.0, level, idle);
        if idle == IdleKind::NewlyIdle {
            balance.set_random(self.balancing.draw(cpu));
        }
        let mut step = self.core.balance_begin(&mut balance);
        while step == Step::Detach {
            self.lock_queue(m, CpuId(balance.src_cpu()), cpu);
            self.offer_tasks(m, &mut balance, cpu, idle);
            let running = m.current(CpuId(balance.src_cpu()));
            let may_go = running.is_some_and(|task| self.tasks[task].may_use(cpu.0));
            if let Some(task) = running.filter(|task| !self.classes.is_class(*task)) {
                self.core.balance_running(&mut balance, &self.tasks[task]);
            }
            // The live scheduler finds out when it tries to push.
            let allowed = self.home.dispatches() || may_go;
            step = self.core.balance_end(&mut balance, allowed);
        }
        if balance.push() {
            self.send(
                m,
                CpuId(balance.src_cpu()),
                Message::Push {
                    to: cpu,
                    level,
                    llc: balance.push_llc(),
                },
            );
        }
        let moved = balance.moved();
        self.balancing.scratch = Some(balance);
        (step, moved)
    }

    /// Offers the tasks of the source and moves those that are taken.
    fn offer_tasks<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        balance: &mut Balance,
        by: CpuId,
        idle: IdleKind,
    ) {
        if self.home.dispatches() && balance.dst_cpu() != by.0 {
            return; // that CPU pulls for itself
        }
        let mut offered = self.offered(m, CpuId(balance.src_cpu()));
        while let Some(Reverse((_, task))) = offered.pop() {
            if !self.may_pull(task, balance.src_cpu(), balance.dst_cpu()) {
                self.touch(task);
                continue;
            }
            self.tell_queue(balance, task);
            match self.core.balance_offer(balance, &self.tasks[task]) {
                Offer::Stop => break,
                Offer::Skip => {
                    self.touch(task);
                }
                Offer::Take => {
                    let to = CpuId(balance.dst_cpu());
                    let new_idle = idle == IdleKind::NewlyIdle;
                    let cause = if new_idle {
                        MigrateCause::NewIdle
                    } else {
                        MigrateCause::Balance
                    };
                    self.move_task(m, task, to, cause);
                    // New-idle and live balancing are in the middle of a pick.
                    if !new_idle && !self.home.dispatches() {
                        self.wakeup_preempt(m, task, to, by);
                    }
                }
            }
        }
    }

    /// What the queue of the CPU that balancing takes from says of the task that is offered next,
    /// as far as the core reads it: the queue is searched for each answer.
    fn tell_queue(&self, balance: &mut Balance, task: TaskId) {
        let from = CpuId(balance.src_cpu());
        let params = &self.core.state().params;
        let buddy = params.cache_hot_buddy != 0 && self.home.is_buddy(task, from);
        let ineligible = params.pull_eligible != 0 && !self.home.is_eligible(task, from);
        balance.set_offered(buddy, ineligible);
    }

    /// Moves a queued task to another queue. The running one is taken off its CPU; the caller
    /// schedules there.
    pub(super) fn move_task<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        to: CpuId,
        cause: MigrateCause,
    ) {
        let from = self.cpu_of(task);
        if self.classes.is_class(task) {
            return self.class_carry(m, task, from, to, cause);
        }
        m.account(self, from);
        m.account(self, to);
        let record = &mut self.tasks[task];
        let waiting = m.current(from) != Some(task);
        let left = self.core.dequeue_move(record, m.now());
        let migrated = self.core.migrate_queued(record, to.0, m.now());
        let joined = self.core.enqueue_moved(record, to.0, m.now());
        if !waiting {
            self.end_stretch(m, from, false);
        }
        if let Some(ext) = self.home.sched_ext() {
            ext.moves = true;
        }
        self.remove(m, task, from, waiting);
        self.renormalize_vruntime(m, task, from, to);
        self.touch(task);
        self.insert(
            m,
            task,
            to,
            !matches!(cause, MigrateCause::Affinity | MigrateCause::Balance),
        );
        self.count_running(from);
        self.count_running(to);
        m.refill_caches(task, from, to);
        let by = match cause {
            MigrateCause::Active => from,
            _ => to,
        };
        self.wait_for_line(m, to, by, task);
        self.after_core(m, from, left);
        self.after_core(m, from, migrated);
        self.after_core(m, to, joined);
        self.throttle_joined(m, task, to);
        m.tell_migrate(task, from, to, cause);
        self.carry_ext_moves(m);
        self.pay_ext(m);
    }

    /// Looks for a task to pull, for a CPU that has run out of them.
    pub(super) fn new_idle<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        if !self.core.newidle_begin(cpu.0, m.now()) {
            return;
        }
        let waited = self.update_blocked(m, cpu, cpu);
        self.core.cpu_mut(cpu.0).balance.newidle_waited_ns = waited;
        let mut spent = 0;
        let mut pulled = false;
        for level in 0..self.core.levels(cpu.0) {
            if pulled || !self.core.newidle_level(cpu.0, level, spent) {
                break;
            }
            let (_, moved) = self.balance_level(m, cpu, level, IdleKind::NewlyIdle);
            spent += self.core.newidle_done(cpu.0, level);
            pulled = moved > 0;
        }
        // The CPU has waited already. Not every era and not every pass counts that as spent.
        let counted = waited - self.core.cpu(cpu.0).balance.newidle_waited_ns;
        self.charge_newidle(m, cpu, spent - counted);
        self.core.newidle_end(cpu.0, spent, pulled);
    }

    /// Balances for all idle CPUs, on the idle CPU that was kicked for it.
    pub(super) fn nohz_balance<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, by: CpuId) {
        self.extra_work(m, by, KernelWork::Balance);
        self.answer_kick(m, by);
    }

    /// Balances as the core says of a kicked CPU: for all idle CPUs, for those that are due, or not
    /// at all. It may have got work meanwhile: then the next tick kicks another.
    pub(super) fn answer_kick<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, by: CpuId) {
        match self.core.nohz_begin(by.0) {
            NohzWork::Nothing => {}
            NohzWork::Due => self.balance_for_due(m, by),
            NohzWork::All => self.balance_for_all(m, by),
        }
    }

    /// Itself first; the others until it has work.
    fn balance_for_all<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, by: CpuId) {
        self.balance_domains(m, by, IdleKind::Idle);
        let mut at = None;
        while self.core.is_idle(by.0)
            && let Some(cpu) = self.core.nohz_next(at).map(CpuId)
        {
            at = Some(cpu.0);
            if cpu != by {
                self.balance_domains(m, cpu, IdleKind::Idle);
            }
        }
        self.core.nohz_pass_end(m.now(), true);
    }

    /// The others whose pass is due; itself last.
    fn balance_for_due<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, by: CpuId) {
        let mut at = None;
        while let Some(cpu) = self.core.nohz_next(at).map(CpuId) {
            at = Some(cpu.0);
            self.update_blocked(m, cpu, by);
            if cpu != by
                && self.core.cpu(cpu.0).balance.next_balance_tick <= m.now() / self.machine.tick_ns
            {
                self.balance_domains(m, cpu, IdleKind::Idle);
            }
        }
        self.core.nohz_pass_end(m.now(), true);
        if self.core.is_idle(by.0) {
            self.balance_domains(m, by, IdleKind::Idle);
        }
    }

    /// Decays the signals of the idle CPUs.
    pub(super) fn nohz_stats<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, by: CpuId) {
        let mut at = None;
        while let Some(cpu) = self.core.nohz_next(at).map(CpuId) {
            at = Some(cpu.0);
            self.update_blocked(m, cpu, by);
        }
        self.core.nohz_pass_end(m.now(), false);
    }

    /// A task that was put back to wait goes where the core says, once another one runs here.
    pub(super) fn push_put_back<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        task: TaskId,
    ) {
        if self.cpu_of(task) != cpu {
            return; // it has left meanwhile
        }
        let to = CpuId(self.core.push_target(&mut self.tasks[task]));
        if to != cpu && m.is_online(to) && self.may_pull(task, cpu.0, to.0) {
            self.move_task(m, task, to, MigrateCause::Active);
            self.wakeup_preempt(m, task, to, cpu);
        }
    }

    /// Active balance: a task goes that could not be taken while it waited.
    pub(super) fn push_running<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        to: CpuId,
        level: u32,
        llc: bool,
    ) {
        let to_online = m.is_online(to); // it may have left meanwhile
        let task = self.pushed(m, cpu, to, llc).filter(|_| to_online);
        if let Some(task) = task {
            self.move_task(m, task, to, MigrateCause::Active);
            self.cpus[cpu].reschedule = true;
            if !self.home.dispatches() {
                self.wakeup_preempt(m, task, to, cpu);
            } else if m.current(to).is_none() {
                self.kick(m, to, cpu); // at the front, but not before its turn
            }
        }
        self.core
            .active_balance_end(cpu.0, to.0, level, task.is_some());
    }
}
