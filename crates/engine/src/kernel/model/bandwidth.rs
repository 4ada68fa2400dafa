//! Groups with a budget of run time (`cpu.max`): the core says when a group is throttled on a CPU
//! and when it may run again; here that is carried out (docs/rules/group-bandwidth.md).
//!
//! Up to 6.17 a throttled group leaves the CPU's queue with all that is in it. From 6.18 on its
//! tasks leave one by one, as they return to user space: into a *limbo* beside the queue.
//!
//! What must stay: groups around a group are charged from the inside out, and throttled groups are
//! let go in the core's order. Periods, slices and quotas are the core's, ns. Free: what leaves
//! recorded runs as they are (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `a_task_without_end_gets_its_quota` (throttling),
//! `a_request_beyond_the_quota_waits_for_the_next_period` (timers), `cpus_get_slices_of_the_quota`
//! (slices), `a_burst_lets_a_bursty_task_run_through` (bursts),
//! `a_group_in_a_group_has_no_more_than_either` (nesting), invariants.rs::`random_budgets_are_kept`
//! (limbo, all). By function: `a_task_without_end_gets_its_quota` (`new`, `start_bandwidth`,
//! `arm_period`, `group_timer`, `take_group_timer`, `account_runtime`, `check_runtime`,
//! `check_group`, `tick_throttles`, `stops_running`, `unthrottle`), `cpus_get_slices_of_the_quota`
//! (`throttle_joined`), `random_budgets_are_kept` (`throttle_down`, `carry_throttles`,
//! `stops_at_pick`, `enter_limbo`, `leave_limbo`, `join_from_limbo`, `fetch_from_limbo`,
//! `is_hidden`, `may_pull`, `nr_throttled`, `release_runtime`, `return_runtime`, `throttled_group`,
//! `group_totals`).
//!
//! Callers: run.rs (`tick_throttles`, `stops_running`, `stops_at_pick`), change.rs
//! (`fetch_from_limbo`, `throttle_joined`), interface.rs (`start_bandwidth`, `group_timer`),
//! report.rs (`nr_throttled`, `group_totals`), wake.rs (`take_group_timer`, `throttle_joined`),
//! balance.rs (`throttle_joined`), tick.rs (`tick_throttles`).
//!
//! Tests: crates/engine/tests/behaviour/bandwidth.rs

use super::Model;
use super::cpu::Message;
use super::event::Event;
use super::home::Home;
use crate::ids::{CpuId, TaskId};
use crate::mechanics::Mechanics;
use crate::observe::Observer;
use crate::outcome::GroupTotals;
use wakeplace_policy_sys::{BandwidthAsks, Core};
use wakeplace_workload::Workload;

/// What a run has of it.
#[derive(Debug, Default)]
pub(super) struct Bandwidth {
    /// Some group has a quota.
    pub(super) used: bool,
    /// Tasks stop as they return to user space.
    on_return: bool,
    /// Names of all groups.
    names: Vec<String>,
    /// Of each group: itself and those in it, the innermost first.
    inside: Vec<Vec<usize>>,
    /// Of each group: the CPU whose timers are its.
    timer_cpu: Vec<CpuId>,
    /// Groups that are throttled on a CPU, but still in its queue: a task of theirs runs.
    due: Vec<(usize, CpuId)>,
    /// Tasks in limbo, in the order in which they got there, with their group and CPU.
    limbo: Vec<(TaskId, usize, CpuId)>,
}

impl Bandwidth {
    /// What the groups of a workload need; nothing where no group has a quota, which costs a run
    /// nothing.
    pub(super) fn new(core: &Core, workload: &Workload) -> Self {
        let groups = 0..core.nr_groups();
        let used = groups.clone().any(|group| core.has_bandwidth(group));
        if !used {
            return Self::default();
        }
        let depth = |group: &usize| core.groups_around(Some(*group)).count();
        let inside = |group: usize| {
            let within = |inner: &usize| core.groups_around(Some(*inner)).any(|g| g == group);
            let mut inner: Vec<usize> = groups.clone().filter(within).collect();
            inner.sort_by_key(|inner| std::cmp::Reverse(depth(inner)));
            inner
        };
        Self {
            used,
            on_return: core.state().params.throttle_on_return != 0,
            names: workload.groups.iter().map(|g| g.name.clone()).collect(),
            inside: groups.clone().map(inside).collect(),
            timer_cpu: groups.map(|_| CpuId(0)).collect(),
            due: Vec::new(),
            limbo: Vec::new(),
        }
    }
}

impl Model<'_> {
    /// The timers of all groups with a quota, from the beginning.
    pub(super) fn start_bandwidth<O: Observer>(&mut self, m: &mut Mechanics<'_, O>) {
        for group in 0..self.bandwidth.inside.len() {
            self.arm_period(m, group, CpuId(0));
        }
    }

    /// The timer of the group's present period, on this CPU.
    fn arm_period<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, group: usize, cpu: CpuId) {
        if let Some(end_ns) = self.core.group_period_end(group) {
            self.bandwidth.timer_cpu[group] = cpu;
            self.cpus[cpu].timers.push(std::cmp::Reverse(end_ns));
            let group = group as u32;
            m.push(end_ns, Event::GroupPeriod { group });
        }
    }

    /// A group's timer interrupts the CPU on which it was armed.
    pub(super) fn group_timer<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        group: u32,
        slack: bool,
    ) {
        let armed = self.bandwidth.timer_cpu[group as usize];
        let cpu = match m.is_online(armed) {
            true => armed,
            false => m.first_online(),
        };
        self.cpus[cpu].next_timer_ns(m.now()); // forgets this one
        self.interrupt_with(m, cpu, Message::GroupTimer { group, slack });
    }

    /// The CPU takes that interrupt.
    pub(super) fn take_group_timer<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        group: usize,
        slack: bool,
    ) {
        m.charge(self, cpu, self.costs.tick);
        let asks = match slack {
            true => self.core.slack_timer(group, m.now()),
            false => self.core.period_timer(group, m.now()),
        };
        if asks.restart() {
            self.arm_period(m, group, cpu);
        }
        while asks.distribute()
            && let Some(to) = self.core.distribute(group).map(CpuId)
        {
            match to == cpu {
                true => self.unthrottle(m, group, to),
                false => self.send(m, to, Message::Unthrottle(group as u32)),
            }
        }
    }

    /// The running task has run for so long: that is taken off the budgets of its groups.
    pub(super) fn account_runtime(&mut self, cpu: CpuId, task: TaskId, delta_ns: u64) {
        let mut around = self.tasks[task].group();
        while let Some(group) = around {
            self.core.account_runtime(group, cpu.0, delta_ns);
            around = self.core.group_parent(group);
        }
    }

    /// The kernel looks at the budgets of a group and of those around it on a CPU. Returns true if
    /// one of them is throttled there.
    pub(super) fn check_runtime<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        group: usize,
    ) -> bool {
        let mut around = Some(group);
        while let Some(group) = around {
            self.check_group(m, cpu, group);
            around = self.core.group_parent(group);
        }
        let mut around = self.core.groups_around(Some(group));
        let due = around.any(|group| self.bandwidth.due.contains(&(group, cpu)));
        due || self.core.throttled_hierarchy(group, cpu.0)
    }

    /// One group on a CPU: the core takes what was used off its budget, and may throttle it there.
    fn check_group<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId, group: usize) {
        let was_armed = self.core.group_period_end(group).is_some();
        let throttled = self.core.check_runtime(group, cpu.0, m.now());
        if !was_armed {
            self.arm_period(m, group, cpu);
        }
        if throttled && self.bandwidth.on_return {
            self.throttle_down(group, cpu, m.now());
        } else if throttled {
            self.bandwidth.due.push((group, cpu));
        }
    }

    /// From 6.18 on: the group's tasks stay queued until they return to user space; the core counts
    /// from now on.
    fn throttle_down(&mut self, group: usize, cpu: CpuId, now_ns: u64) {
        for inner in &self.bandwidth.inside[group] {
            self.core.throttle_down(*inner, cpu.0, now_ns);
        }
    }

    /// Groups that are throttled on a CPU leave its queue: none of their tasks runs any more.
    pub(super) fn carry_throttles<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        let leaves = |model: &Self| {
            let runs = |group: usize| model.core.group_queue(group, cpu.0).running != 0;
            let mut due = model.bandwidth.due.iter();
            due.position(|(group, at)| *at == cpu && !runs(*group))
        };
        while let Some(at) = leaves(self) {
            let (group, _) = self.bandwidth.due.remove(at);
            self.throttle_down(group, cpu, m.now());
            let left = self.core.throttle_entity(group, cpu.0, m.now());
            self.home.throttle_group(group, cpu);
            self.weigh_group(cpu, Some(group));
            self.count_running(cpu);
            self.after_core(m, cpu, left);
        }
    }

    /// At a tick of a CPU that runs a fair task: may it go on?
    pub(super) fn tick_throttles<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        task: TaskId,
    ) -> bool {
        self.throttled_group(m, cpu, task).is_some()
    }

    /// The group of a task on a CPU, if it or one around it is throttled there now.
    fn throttled_group<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        task: TaskId,
    ) -> Option<usize> {
        let group = self.tasks[task].group()?;
        self.check_runtime(m, cpu, group).then_some(group)
    }

    /// The CPU looks whom it runs next. Returns true if the running task has stopped, since its
    /// group is throttled.
    pub(super) fn stops_running<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        task: TaskId,
    ) -> bool {
        let Some(group) = self.throttled_group(m, cpu, task) else {
            return false;
        };
        if self.bandwidth.on_return {
            let left = self.core.dequeue_throttled(&mut self.tasks[task], m.now());
            self.end_stretch(m, cpu, false);
            self.enter_limbo(m, cpu, task, group);
            self.after_core(m, cpu, left);
        } else {
            self.put_back(m, cpu);
            self.carry_throttles(m, cpu);
        }
        true
    }

    /// The CPU has picked a task that does not run yet. Returns true if it stops at once.
    pub(super) fn stops_at_pick<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        task: TaskId,
    ) -> bool {
        let Some(group) = self.throttled_group(m, cpu, task) else {
            return false;
        };
        if self.bandwidth.on_return {
            // It returns to user space as soon as it has been switched to.
            let left = self.core.dequeue_throttled(&mut self.tasks[task], m.now());
            self.enter_limbo(m, cpu, task, group);
            self.after_core(m, cpu, left);
            m.charge(self, cpu, self.costs.context_switch);
        } else {
            self.requeue(m, task, cpu);
            self.carry_throttles(m, cpu);
        }
        true
    }

    /// A task that its queue holds as the running one leaves it for the limbo.
    fn enter_limbo<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        task: TaskId,
        group: usize,
    ) {
        self.home.dequeue_throttled(task, cpu);
        self.bandwidth.limbo.push((task, group, cpu));
        let mut around = Some(group);
        while let Some(group) = around {
            self.core.record_throttle(group, cpu.0, m.now());
            around = self.core.group_parent(group);
        }
        self.count_running(cpu);
    }

    /// The group may run on a CPU again, by that CPU.
    pub(super) fn unthrottle<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        group: usize,
        cpu: CpuId,
    ) {
        m.account(self, cpu);
        if !self.core.unthrottle(group, cpu.0, m.now()) {
            return;
        }
        if self.bandwidth.due.contains(&(group, cpu)) {
            self.bandwidth.due.retain(|due| *due != (group, cpu)); // it has not left yet
            return;
        }
        for at in 0..self.bandwidth.inside[group].len() {
            let inner = self.bandwidth.inside[group][at];
            if self.core.unthrottle_up(inner, cpu.0, m.now()) {
                self.leave_limbo(m, inner, cpu);
            }
        }
        if !self.bandwidth.on_return {
            let joined = self.core.unthrottle_entity(group, cpu.0, m.now());
            self.weigh_group(cpu, Some(group));
            self.home.unthrottle_group(group, cpu);
            self.count_running(cpu);
            self.after_core(m, cpu, joined);
        }
        if m.current(cpu).is_none() && self.home.nr_running(cpu) > 0 {
            self.kick(m, cpu, cpu);
        }
    }

    /// All tasks of a group that are in limbo on a CPU join its queue again, the last one first.
    fn leave_limbo<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, group: usize, cpu: CpuId) {
        loop {
            let mut limbo = self.bandwidth.limbo.iter();
            let last = limbo.rposition(|(_, of, at)| (*of, *at) == (group, cpu));
            let throttled = self.core.throttled_hierarchy(group, cpu.0);
            let Some(last) = last.filter(|_| !throttled) else {
                return;
            };
            let (task, ..) = self.bandwidth.limbo.remove(last);
            self.join_from_limbo(m, task, cpu);
        }
    }

    /// As a wake-up without a choice of CPU: the task joins the queue of `cpu` where it had left
    /// it.
    fn join_from_limbo<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, task: TaskId, cpu: CpuId) {
        let (home, services) = self.ask_home(m.now());
        home.place_woken(services, task, cpu);
        self.touch(task);
        self.insert(m, task, cpu, false);
        let joined = (self.core).enqueue_throttled(&mut self.tasks[task], cpu.0, m.now());
        self.count_running(cpu);
        self.after_core(m, cpu, joined);
        self.throttle_joined(m, task, cpu);
    }

    /// A task in limbo is to change: it joins its queue first.
    pub(super) fn fetch_from_limbo<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, task: TaskId) {
        let mut limbo = self.bandwidth.limbo.iter();
        if let Some(at) = limbo.position(|(held, ..)| *held == task) {
            let (_, _, cpu) = self.bandwidth.limbo.remove(at);
            self.join_from_limbo(m, task, cpu);
        }
    }

    /// Does a task wait where a CPU does not look, since its group is throttled?
    #[inline]
    pub(super) fn is_hidden(&self, task: TaskId, cpu: CpuId) -> bool {
        if !self.bandwidth.used || self.bandwidth.on_return {
            return false;
        }
        let group = self.tasks[task].group();
        group.is_some_and(|group| self.core.throttled_hierarchy(group, cpu.0))
    }

    /// May balancing take a task from one CPU to another, as far as budgets go?
    #[inline]
    pub(super) fn may_pull(&self, task: TaskId, from: u32, to: u32) -> bool {
        if !self.bandwidth.used {
            return true;
        }
        let group = self.tasks[task].group();
        group.is_none_or(|group| self.core.may_pull(group, from, to))
    }

    /// Tasks that can run and that no CPU counts.
    pub(super) fn nr_throttled(&self) -> usize {
        let fair =
            |task: &TaskId| !self.classes.is_class(*task) && self.tasks[*task].raw().on_rq != 0;
        let tasks = (0..self.tasks.len() as u32).map(TaskId).filter(fair);
        let hidden = tasks.filter(|task| self.is_hidden(*task, self.cpu_of(*task)));
        hidden.count() + self.bandwidth.limbo.len()
    }

    /// A task has joined the queue of a CPU. With the first one of a group that has no runtime left
    /// the group is throttled.
    pub(super) fn throttle_joined<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        cpu: CpuId,
    ) {
        let mut around = self.tasks[task].group().filter(|_| self.bandwidth.used);
        while let Some(group) = around {
            let queue = self.core.group_queue(group, cpu.0);
            let runs = queue.running != 0;
            if runs || queue.nr == 1 {
                self.check_group(m, cpu, group);
            }
            let due = self.bandwidth.due.contains(&(group, cpu));
            if runs && (due || self.core.throttled_hierarchy(group, cpu.0)) {
                self.cpus[cpu].reschedule = true;
            } else if due {
                self.carry_throttles(m, cpu);
            }
            around = self.core.group_parent(group);
        }
    }

    /// A task of a group has left the queue of its CPU to sleep: what the group does not need there
    /// goes back.
    pub(super) fn return_runtime<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        cpu: CpuId,
    ) {
        self.carry_throttles(m, cpu);
        let mut around = self.tasks[task].group();
        while let Some(group) = around {
            let asks: BandwidthAsks = self.core.return_runtime(group, cpu.0, m.now());
            if asks.slack() {
                let due = m.now() + Core::SLACK_NS;
                self.bandwidth.timer_cpu[group] = cpu;
                let group = group as u32;
                m.push(due, Event::GroupSlack { group });
            }
            around = self.core.group_parent(group);
        }
    }

    /// Nobody waits for runtime on a CPU that leaves.
    pub(super) fn release_runtime<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        for group in 0..self.bandwidth.inside.len() {
            if self.core.release_runtime(group, cpu.0) {
                self.unthrottle(m, group, cpu);
            }
        }
    }

    /// What each group with a quota has used, as its `cpu.stat`.
    pub(super) fn group_totals(&self) -> Vec<GroupTotals> {
        let all = (0..).zip(&self.bandwidth.names);
        let limited = all.filter(|(index, _)| self.core.has_bandwidth(*index));
        let totals = limited.filter_map(|(index, name)| {
            let b = &self.core.group(index)?.bandwidth;
            Some(GroupTotals {
                name: name.clone(),
                nr_periods: b.nr_periods,
                nr_throttled: b.nr_throttled,
                throttled_ns: b.throttled_ns,
                nr_bursts: b.nr_bursts,
                burst_ns: b.burst_time_ns,
            })
        });
        totals.collect()
    }
}
