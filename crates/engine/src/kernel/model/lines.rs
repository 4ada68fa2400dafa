//! The load of a task group is one word that all CPUs write and read: what its cache line costs
//! them (docs/rules/contended-lines.md#tg-load-avg and docs/rules/contended-lines.md#line-cost;
//! docs/decisions/053). The core says what each call did with it. Who waits has the queue's lock
//! and is busy:
//!
//! - a waker that queues a task itself waits as part of its own run time;
//! - a CPU that queues what is on its wake list waits in that interrupt: as the run time of the
//!   task it interrupts, and of nobody if it was idle;
//! - a task that falls asleep has stopped by then, and the next one's clock has begun: the wait is
//!   the run time of that one, and of nobody if there is none. Until it is over the CPU neither
//!   picks a task nor is idle;
//! - a CPU that moves a task, changes one, takes a tick or brings signals up to date waits then: as
//!   the run time of its task, and of nobody if it has none.
//!
//! Tests by part: `a_waker_waits_as_its_own_run_time`,
//! `an_idle_cpu_that_queues_waits_in_nobodys_time`, `the_next_task_pays_for_the_dequeue`,
//! `a_search_pays_for_each_cpu`, `the_tick_of_an_idle_cpu_waits_at_once`,
//! `a_task_that_changes_waits_at_once`, `a_new_idle_pass_takes_its_wait_and_its_search`: one per
//! case above. By function: `a_waker_waits_as_its_own_run_time` (`transfer`, `new`, `are_on`,
//! `group_wait`, `ttwu_activated`, `queued`), `the_next_task_pays_for_the_dequeue` (`line_wait`,
//! `after_leaving`, `spin`, `spin_end`), `a_task_that_changes_waits_at_once` (`wait_for_line`,
//! `get_line`, `keep_lock`), `the_tick_of_an_idle_cpu_waits_at_once` (`wait_for_all_lines`),
//! `a_new_idle_pass_takes_its_wait_and_its_search` (`update_blocked`, `charge_newidle`).
//!
//! What must stay: who pays, as above. Times are ns; where lines take no time all of this is 0.
//! Free: what leaves recorded runs as they are (ARCHITECTURE.md, "What a change may touch").
//!
//! Callers: run.rs (`line_wait`, `after_leaving`), balance.rs (`charge_newidle`), interface.rs
//! (`spin_end`), report.rs (`are_on`), tick.rs (`wait_for_all_lines`), wake.rs (`ttwu_activated`),
//! wake_latency.rs (`ttwu_activated`), many files (`wait_for_line`).
//!
//! Tests: crates/engine/tests/behaviour/lines.rs

use super::Model;
use super::event::Event;
use super::line::{Line, Place, Transfer};
use super::wake_latency::WakeLatencyTotals;
use crate::ids::{CpuId, TaskId};
use crate::machine::Costs;
use crate::mechanics::{Mechanics, Mode};
use crate::observe::Observer;
use wakeplace_policy_sys::Core;

/// How long a cache line that another CPU wrote takes, that of a lock or of a group's load.
fn transfer(costs: &Costs) -> Transfer {
    Transfer {
        shared_ns: costs.lock_shared_ns,
        other_ns: costs.lock_other_ns,
    }
}

/// The lines of all groups, each with those of the groups around it; empty: none costs anything.
#[derive(Debug, Default)]
pub(super) struct GroupLines(Vec<Vec<Line>>);

impl GroupLines {
    /// Where a line that another CPU wrote takes time.
    pub(super) fn new(core: &Core, transfer: Transfer) -> Self {
        if transfer.shared_ns | transfer.other_ns == 0 {
            return Self::default();
        }
        let levels = vec![Line::default(); 1 + Core::MAX_OUTER_GROUPS];
        Self(vec![levels; core.nr_groups()])
    }

    /// Does the machine state what a line takes, and are there groups?
    pub(super) fn are_on(&self) -> bool {
        !self.0.is_empty()
    }
}

/// What waiting for each other has cost CPUs, and for what.
pub(super) struct Contention {
    pub(super) totals: WakeLatencyTotals,
    pub(super) lines: GroupLines,
}

impl Contention {
    /// The lines of the core's groups, and totals of what wake-ups waited.
    pub(super) fn new(core: &Core, costs: &Costs) -> Self {
        Self {
            totals: WakeLatencyTotals::default(),
            lines: GroupLines::new(core, transfer(costs)),
        }
    }
}

impl Model<'_> {
    /// What the last calls did with the load of a group and of those around it takes `by` so long.
    fn group_wait<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        by: CpuId,
        group: usize,
    ) -> u64 {
        let from = Place {
            core: self.machine.core_of(by),
            cache: self.machine.cache_of[by.index()],
        };
        let begin_ns = m.now().max(self.cpus[by].spin_until_ns);
        let mut at_ns = begin_ns;
        let transfer = transfer(&self.costs);
        for (level, line) in self.contention.lines.0[group].iter_mut().enumerate() {
            let Some(done) = self.core.take_group_accesses(group, level) else {
                break;
            };
            at_ns = line.access(from, done, at_ns, transfer);
        }
        self.contention.totals.line_wait_ns += at_ns - begin_ns;
        at_ns - begin_ns
    }

    /// The same of the task's group; 0 if it is in none.
    #[inline]
    pub(super) fn line_wait<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        by: CpuId,
        task: TaskId,
    ) -> u64 {
        if !self.contention.lines.are_on() {
            return 0;
        }
        let group = self.tasks[task].group();
        group.map_or(0, |group| self.group_wait(m, by, group))
    }

    /// `by` has done something to a task in the queue of `cpu`: it waits for the line with the
    /// queue's lock.
    #[inline(always)]
    pub(super) fn wait_for_line<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        by: CpuId,
        task: TaskId,
    ) {
        if self.contention.lines.are_on() {
            self.get_line(m, cpu, by, task);
        }
    }

    /// Waits for the group's line with the queue's lock kept meanwhile.
    fn get_line<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        by: CpuId,
        task: TaskId,
    ) {
        let wait = self.line_wait(m, by, task);
        self.keep_lock(m, cpu, by, wait);
        m.hold(self, by, wait);
    }

    /// `by` has brought the signals of `cpu` up to date, those of all groups: it waits for all
    /// their lines. Returns how long.
    pub(super) fn wait_for_all_lines<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        by: CpuId,
    ) -> u64 {
        if !self.contention.lines.are_on() {
            return 0;
        }
        let groups = 0..self.contention.lines.0.len();
        let wait = groups.map(|group| self.group_wait(m, by, group)).sum();
        self.keep_lock(m, cpu, by, wait);
        m.hold(self, by, wait);
        wait
    }

    /// `by` brings the signals of `cpu` up to date. Returns what it waited.
    pub(super) fn update_blocked<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        by: CpuId,
    ) -> u64 {
        let result = self.core.update_blocked(cpu.0, m.now());
        self.after_core(m, cpu, result);
        self.wait_for_all_lines(m, cpu, by)
    }

    /// A new-idle pass has looked at CPUs for so long, by the kernel's clock, beside what it has
    /// waited. It is the CPU's time where a cache line that another one wrote takes any.
    pub(super) fn charge_newidle<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        ns: u64,
    ) {
        if self.costs.lock_shared_ns > 0 {
            m.hold(self, cpu, ns);
        }
    }

    /// `by`, which has the lock of a queue, keeps it for so long.
    pub(super) fn keep_lock<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        by: CpuId,
        ns: u64,
    ) {
        if ns > 0 {
            let until_ns = m.now() + ns;
            self.cpus[cpu].lock.keep(by, until_ns);
        }
    }

    /// A CPU without a task is busy with a line for so long: until then it takes no interrupt and
    /// picks nothing.
    fn spin<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId, ns: u64) {
        let c = &mut self.cpus[cpu];
        c.spins = true;
        c.spin_until_ns = c.spin_until_ns.max(m.now()) + ns;
        m.push(c.spin_until_ns, Event::SpinEnd { cpu });
        m.set_stalls(self, cpu, true);
    }

    /// The line is there. What came meanwhile is taken after the CPU has looked at its queue.
    pub(super) fn spin_end<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        let c = &mut self.cpus[cpu];
        if !c.spins || c.spin_until_ns > m.now() {
            return; // it went on to wait for another one, or has left
        }
        c.spins = false;
        m.set_stalls(self, cpu, false);
        if !self.cpus[cpu].inbox.is_empty() {
            let now = m.now();
            m.raise(cpu, now);
        }
        match m.mode(cpu) {
            Mode::Running => self.schedule_cpu(m, cpu),
            Mode::Interrupted => self.after_interrupt(m, cpu),
            Mode::Idle | Mode::Waking => {}
        }
    }

    /// The task that ran on `cpu` has left its queue, which took `wait` more: the CPU goes on.
    pub(super) fn after_leaving<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        wait: u64,
    ) {
        if wait > 0 {
            self.keep_lock(m, cpu, cpu, wait);
            if self.nr_running(cpu) == 0 {
                return self.spin(m, cpu, wait);
            }
            m.hold(self, cpu, wait);
        }
        self.schedule_cpu(m, cpu);
    }

    /// A woken task is in the queue of `cpu`, by the CPU `by`, which has got the line after `wait`;
    /// then the task displaces what runs there, or the CPU is woken.
    pub(super) fn ttwu_activated<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        cpu: CpuId,
        by: CpuId,
    ) {
        let wait = self.line_wait(m, by, task);
        if wait == 0 {
            return self.wakeup_preempt(m, task, cpu, by);
        }
        self.keep_lock(m, cpu, by, wait);
        match m.current(by) {
            Some(_) => {
                m.hold(self, by, wait);
                m.set_stalls(self, by, true);
            }
            None => self.spin(m, by, wait),
        }
        m.push(m.now() + wait, Event::Queued { task, by });
    }

    /// The line is there, and the queue's lock free again. The task may have begun meanwhile.
    pub(super) fn queued<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        by: CpuId,
    ) {
        if !self.cpus[by].spins {
            m.set_stalls(self, by, false);
        }
        let cpu = self.cpu_of(task);
        let waits = m.thread(task).is_runnable();
        if waits && m.current(cpu) != Some(task) {
            self.wakeup_preempt(m, task, cpu, by);
            self.after_interrupt(m, by);
        }
    }
}
