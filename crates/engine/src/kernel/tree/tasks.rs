//! Tasks: how they begin, sleep, wake, change and end. The kernel's task and the mechanics' thread
//! have one number (docs/guide/kernel.md, "In a run").
//!
//! What must stay: the kernel's task and the thread have one number, given in the order in which
//! threads are made. Free: what leaves recorded runs as they are (ARCHITECTURE.md, "What a change
//! may touch"). Tests by part: `no_kind_of_work_makes_it_warn` (all calls),
//! `recorded_runs_happen_again_in_the_same_source` (crates/fidelity/tests/all/truth.rs: order and
//! arguments). By function, both of them: `of_workload`, `make_groups`, `set_group`, `add`,
//! `forked`, `spawn_now`, `fork_by`, `sleep_now`, `wake_at`, `wake_now`, `arrived`, `woken`,
//! `exit_now`; the first alone: `change_now`, `level_of`, `lend_now`. `refuse` and `weight` have no
//! test of their own. `of_script`, `plain`, `text` and `group` are what `of_workload` and
//! `make_groups` are made of.
//!
//! Callers: interface.rs (`fork_by`, `sleep_now`, `wake_at`, `wake_now`, `exit_now`, `change_now`,
//! `level_of`, `lend_now`), interrupts.rs (`spawn_now`, `arrived`), mod.rs (`of_workload`,
//! `make_groups`), entries.rs (`sleep_now`).
//!
//! Tests: crates/cli/tests/all/kernel_runs.rs::no_kind_of_work_makes_it_warn

use super::Tree;
use super::attributes;
use super::event::Event;
use crate::ids::{CpuId, TaskId};
use crate::kernel::Kernel as _;
use crate::mechanics::{Mechanics, State};
use crate::observe::Observer;
use std::ffi::CString;
use wakeplace_kernel_abi::abi::ROOT_GROUP;
use wakeplace_kernel_abi::{Attr, Call, Fork, ORDER, Refused};
use wakeplace_workload::{Change, TaskScript, Workload};

/// What is kept of a task beside the kernel's record.
#[derive(Clone, Debug)]
pub(super) struct Own {
    /// Where it is queued, or was last.
    pub(super) cpu: CpuId,
    /// What its script says of it by now.
    attr: Attr,
    /// It has what a waiter lends.
    lent: Option<Attr>,
    /// Of the workload.
    group: Option<u32>,
    /// Its own CPUs; None: all.
    cpus: Option<Vec<u32>>,
    /// It sleeps as soon as it has its CPU back, which the kernel took in the call before.
    pub(super) owes_sleep: Option<Sleep>,
}

/// A sleep, and until when; None: until it is woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sleep(pub(super) Option<u64>);

impl Own {
    /// A task as the kernel is to make it.
    fn of_script(script: &TaskScript, group: Option<u32>) -> Self {
        Self {
            cpu: CpuId(0),
            attr: attributes::of_script(script),
            lent: None,
            group,
            cpus: script.cpus.clone(),
            owes_sleep: None,
        }
    }

    /// A task without any attribute of its own.
    fn plain() -> Self {
        Self {
            cpu: CpuId(0),
            attr: Attr::default(),
            lent: None,
            group: None,
            cpus: None,
            owes_sleep: None,
        }
    }
}

/// One for each script, then the parent of all and the shell.
pub(super) fn of_workload(workload: &Workload) -> Vec<Own> {
    let groups = || (0..).zip(&workload.groups);
    let group_of = |task: u32| {
        let mut all = groups();
        all.find_map(|(group, of)| of.tasks.contains(&task).then_some(group))
    };
    let scripts = (0..).zip(&workload.tasks);
    let scripts = scripts.map(|(task, script)| Own::of_script(script, group_of(task)));
    scripts.chain([Own::plain(), Own::plain()]).collect()
}

/// `cpu.weight` of so many shares (`sched_weight_from_cgroup`, 1024 shares being 100).
fn weight(shares: u32) -> u64 {
    (u64::from(shares) * 100).div_ceil(1024).clamp(1, 10_000)
}

/// A C string; a name cannot hold a NUL, so those are dropped.
fn text(text: &str) -> CString {
    CString::new(text.replace('\0', "")).unwrap_or_default()
}

impl Tree<'_> {
    /// The groups of a workload, each within those around it. Ends at the first that is refused:
    /// the run does not begin.
    pub(super) fn make_groups(&mut self, workload: &Workload) {
        for group in &workload.groups {
            let parent = group.parent.map(|parent| self.groups[parent as usize]);
            let mut within = parent.unwrap_or(ROOT_GROUP);
            for shares in group.outer.iter().rev().chain([&group.shares]) {
                let made = self.entries.control(&Call::Group { within }, ORDER);
                let Ok(Ok(number)) = made.map(u32::try_from) else {
                    return self.refuse(&format!("task group `{}`", group.name));
                };
                within = number;
                self.set_group(within, "cpu.weight", &weight(*shares).to_string());
            }
            for (name, value) in group.limits.files() {
                self.set_group(within, name, &value);
            }
            self.groups.push(within);
        }
    }

    /// Notes what the kernel did not take before the run. The first one is kept.
    fn refuse(&mut self, what: &str) {
        let said = || format!("it refuses {what}");
        self.refused.get_or_insert_with(said);
    }

    /// A file of a group, as one would write it.
    fn set_group(&mut self, group: u32, name: &str, value: &str) {
        let (file, content) = (text(name), text(value));
        let set = Call::GroupSet {
            group,
            name: &file,
            value: &content,
        };
        if let Err(Refused::Error(errno)) = self.entries.control(&set, ORDER) {
            self.refuse(&format!(
                "`{value}` for {name} of a task group (errno {errno})"
            ));
        }
    }

    /// The kernel's number of a workload's group; None: the root.
    fn group(&self, group: Option<u32>) -> u32 {
        group.map_or(ROOT_GROUP, |group| self.groups[group as usize])
    }

    /// Adds a thread of a script.
    pub(super) fn add(&mut self, script: &TaskScript, like: TaskId, cpu: CpuId) {
        let mut own = Own::of_script(script, self.tasks[like].group);
        own.cpu = cpu;
        self.tasks.0.push(own);
    }

    /// Calls `with` with what a new task is made of.
    fn forked<O: Observer, T>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        with: impl FnOnce(&mut Self, &mut Mechanics<'_, O>, &Fork<'_>) -> T,
    ) -> T {
        let own = self.tasks[task].clone();
        let name = text(&m.threads().shown_name(task));
        let mask = own.cpus.as_deref();
        let mask = mask.map(|cpus| attributes::mask(Some(cpus), self.machine.nr_cpus));
        let fork = Fork {
            task: task.0,
            group: self.group(own.group),
            name: &name,
            attr: Some(&own.attr),
            mask: mask.as_deref(),
        };
        with(self, m, &fork)
    }

    /// The first task of all.
    pub(super) fn spawn_now<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        task: TaskId,
    ) {
        self.tasks[task].cpu = cpu;
        m.set_state(task, State::Runnable);
        self.forked(m, task, |tree, m, fork| {
            tree.carry_out(m, cpu, "the first task", |entries| {
                entries.spawn(cpu.0, fork)
            });
        });
    }

    /// The running `parent` makes a task.
    pub(super) fn fork_by<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        child: TaskId,
        parent: TaskId,
    ) {
        let cpu = self.tasks[parent].cpu;
        m.account(self, cpu);
        self.tasks[child].cpu = cpu;
        m.set_state(child, State::Runnable);
        self.forked(m, child, |tree, m, fork| {
            tree.call(m, cpu, &Call::Fork(*fork));
        });
    }

    /// Puts the running task to sleep; until then (ns), or until it is woken (None).
    pub(super) fn sleep_now<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        task: TaskId,
        until_ns: Option<u64>,
    ) {
        m.account(self, cpu);
        if self.kernels(cpu) != Some(task) {
            self.tasks[task].owes_sleep = Some(Sleep(until_ns));
            return self.switch(m, cpu, false);
        }
        m.set_state(task, State::Sleeping);
        let io = m.thread(task).is_in_io();
        let call = match until_ns {
            None => Call::Sleep { io },
            Some(at) => {
                m.set_due(task, at);
                self.sleepers.add(at, task);
                m.tell_timer_armed(task, cpu, at);
                Call::SleepUntil { at, slack: 0, io }
            }
        };
        let answer = self.enter(m, Some(cpu), |entries| entries.call(cpu.0, &call));
        if answer != Err(Refused::Dead) {
            self.switch(m, cpu, true);
        }
    }

    /// A task that sleeps without a timer is to wake then.
    pub(super) fn wake_at<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        due_ns: u64,
    ) {
        m.set_due(task, due_ns);
        m.set_state(task, State::Sleeping);
        let cpu = m.timer_cpu(self.tasks[task].cpu);
        m.tell_timer_armed(task, cpu, due_ns);
        m.push(due_ns, Event::Due { task });
    }

    /// Wakes a task, by what runs on `cpu`.
    pub(super) fn wake_now<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        cpu: CpuId,
        sync: bool,
    ) {
        m.account(self, cpu);
        self.tasks[task].owes_sleep = None;
        m.tell_woken(task, self.cpus[cpu].runs, cpu, sync);
        let call = Call::Wake { task: task.0, sync };
        self.call(m, cpu, &call);
        if self.in_path(cpu) {
            self.cpus[cpu].path.woken.push(task);
        } else {
            self.arrived(m, task);
        }
    }

    /// A task that somebody woke: it is on its way to where the kernel says.
    pub(super) fn arrived<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, task: TaskId) {
        if m.thread(task).state == State::Runnable {
            return;
        }
        let cpu = self.entries.task_cpu(task.0).map(CpuId);
        let cpu = cpu.unwrap_or(self.tasks[task].cpu);
        self.woken(m, task, cpu);
    }

    /// Ends a sleep: the thread is on its way to the CPU that the kernel has chosen.
    pub(super) fn woken<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        cpu: CpuId,
    ) {
        self.sleepers.remove(task);
        m.note_wakeup(task, cpu);
        m.set_state(task, State::Runnable);
        m.takes_io_wait(task);
    }

    /// Ends the running task: the kernel switches away from it for the last time.
    pub(super) fn exit_now<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        task: TaskId,
    ) {
        m.account(self, cpu);
        let answer = self.enter(m, Some(cpu), |entries| entries.call(cpu.0, &Call::Exit));
        if answer == Err(Refused::Dead) {
            return;
        }
        m.stop(cpu, true);
        self.cpus[cpu].runs = None;
        self.cpus[cpu].last = None;
        m.gone(task);
        self.switch(m, cpu, true);
    }

    /// Changes the running task's attributes. Returns true if it is off the CPU.
    pub(super) fn change_now<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        task: TaskId,
        change: &Change,
        allowed: Option<Option<&[u32]>>,
    ) -> bool {
        m.account(self, cpu);
        if attributes::change(&mut self.tasks[task].attr, change) {
            let attr = self.tasks[task].attr;
            let call = Call::SetAttr {
                task: None,
                attr: &attr,
            };
            self.call(m, cpu, &call);
        }
        if let Some(group) = change.group {
            self.tasks[task].group = group;
            let group = self.group(group);
            let call = Call::Move { task: None, group };
            self.call(m, cpu, &call);
        }
        if let Some(cpus) = allowed {
            let mask = attributes::mask(cpus, self.machine.nr_cpus);
            let call = Call::Affinity {
                task: None,
                mask: &mask,
            };
            self.call(m, cpu, &call);
        }
        self.wants_cpu(cpu)
    }

    /// A task's level with what it was lent, if that is more (`attributes::level`).
    pub(super) fn level_of(&self, task: TaskId) -> u64 {
        let own = &self.tasks[task];
        attributes::level(own.lent.as_ref().unwrap_or(&own.attr))
    }

    /// Gives a holder of mutexes what `donor` has, if that is above its own. Returns true if
    /// something changed.
    pub(super) fn lend_now<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        holder: TaskId,
        donor: Option<TaskId>,
        by: CpuId,
    ) -> bool {
        let donor = donor.map(|donor| &self.tasks[donor]);
        let donor = donor.map(|donor| *donor.lent.as_ref().unwrap_or(&donor.attr));
        let own = &self.tasks[holder];
        let attr = attributes::lent(&own.attr, donor.as_ref());
        if attr == own.lent.unwrap_or(own.attr) {
            return false;
        }
        self.tasks[holder].lent = Some(attr).filter(|attr| *attr != self.tasks[holder].attr);
        let call = Call::SetAttr {
            task: Some(holder.0),
            attr: &attr,
        };
        self.carry_out(m, by, "what a waiter lends", |entries| {
            entries.call(by.0, &call)
        });
        true
    }
}
