//! Paths of the kernel that take time: a CPU in the middle of one waits for a cache line or a lock,
//! and others do what they do meanwhile (docs/rules/contended-lines.md#coherence).
//!
//! An entry that ends in the middle of a path (`state::STALL`) says when it goes on. Until then the
//! CPU is busy, its task does no work, and what interrupts it waits. What the entry was for is done
//! when the path is over: who has woken is noted, who sleeps leaves the CPU.
//!
//! CPUs in a path go on in the order of their times. The kernel has that order, and an entry of one
//! goes on with the next ones as long as no event comes before (crates/kernel-shim/shim/order.c).
//!
//! What must stay: the clock goes to no time after the next event; a CPU in a path is entered at
//! the time it has said and for nothing else. Free: what leaves recorded runs as they are
//! (ARCHITECTURE.md, "What a change may touch"). Tests by part, where a tree is built:
//! `contended_lines_are_told` (all of it, and the same twice).
//!
//! Callers: entries.rs (`look_ahead`, `time_passed`, `look_for_end`), interface.rs (`path_goes_on`,
//! `path_has_ended`, `set_access`), all files of this folder (`in_path`).
//!
//! Tests: crates/cli/tests/all/coherence.rs

use super::Tree;
use super::event::{Event, PATH_CLASS};
use super::tasks::Sleep;
use crate::ids::{CpuId, TaskId};
use crate::machine::FULL_SPEED;
use crate::mechanics::{Mechanics, Mode};
use crate::observe::Observer;
use crate::outcome::LinesTold;
use wakeplace_kernel_abi::Refused;
use wakeplace_kernel_abi::abi::{self, state};

/// What is kept of a CPU whose paths take time.
#[derive(Debug, Default)]
pub(super) struct Path {
    /// It is in one: the mechanics know.
    told: bool,
    /// The owner has let it end: an event is on its way.
    over: bool,
    /// Until when the mechanics hold it for what the kernel did, ns.
    held_ns: u64,
    /// What is to be done when it is over: the task that was running sleeps,
    pub(super) sleeps: bool,
    /// a timer may have woken tasks,
    pub(super) timer: bool,
    /// these have been woken.
    pub(super) woken: Vec<TaskId>,
}

impl Tree<'_> {
    /// A CPU is in the middle of a path.
    pub(super) fn in_path(&self, cpu: CpuId) -> bool {
        self.view(cpu).state == state::STALL
    }

    /// What lines have cost, if that is to be told.
    pub(super) fn lines(&self) -> Option<LinesTold> {
        let most = self.machine.coherence?.told;
        (most > 0).then(|| LinesTold {
            most,
            uses: self.entries.lines(),
        })
    }

    /// What an access to memory takes on a CPU of this speed: as stated for the biggest CPU at its
    /// highest frequency, and longer where it is slower.
    pub(super) fn set_access(&mut self, cpu: CpuId, speed: u64) {
        if let Some(costs) = self.machine.coherence {
            let access_ps = costs.hit_ps * FULL_SPEED / speed.max(1);
            self.entries.set_access(cpu.0, access_ps);
        }
    }

    /// Before an entry: until when the kernel may go on without asking.
    pub(super) fn look_ahead<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, on: Option<CpuId>) {
        let Some(cpu) = on else {
            return self.entries.set_ahead(abi::NEVER, 0);
        };
        m.set_in_path(self, cpu, true);
        self.set_access(cpu, m.speed(cpu));
        if self.in_path(cpu) {
            // Others may follow: `time_passed` looks as far as they do.
            let (horizon_ns, until_ns) = m.peek(PATH_CLASS);
            return self.entries.set_ahead(horizon_ns, until_ns);
        }
        let most_ns = self.first_path.map_or(abi::NEVER, |(at_ns, _)| at_ns);
        self.entries.set_ahead(m.horizon_ns(most_ns), 0);
    }

    /// After an entry: it has taken time. Tells the CPU that it ran on last, if it was a CPU's.
    pub(super) fn time_passed<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        on: Option<CpuId>,
    ) -> Option<CpuId> {
        let ahead = self.entries.ahead();
        self.first_path = ahead.next.map(|(at_ns, cpu)| (at_ns, CpuId(cpu)));
        on?;
        let went_on = self.entries.went_on();
        for went in went_on {
            let cpu = CpuId(went.cpu);
            m.has_happened(went.ns, Event::Path { cpu, over: false });
        }
        let went_ns = went_on.last().map_or(0, |went| went.ns + 1);
        m.look_up_to(ahead.looked_ns.max(went_ns));
        let cpu = CpuId(ahead.cpu);
        self.ran = cpu;
        let local_ns = ahead.local_ns;
        m.pass(self, cpu, local_ns.min(ahead.horizon_ns));
        if self.in_path(cpu) {
            self.cpus[cpu].path.told = true;
            return Some(cpu);
        }
        m.set_in_path(self, cpu, false);
        // The rest follows while others go on: none of it is seen by them.
        let from_ns = m.now().max(self.cpus[cpu].path.held_ns);
        let rest_ns = local_ns.saturating_sub(from_ns);
        self.cpus[cpu].path.held_ns = from_ns + rest_ns;
        match self.cpus[cpu].runs {
            Some(task) if self.kernels(cpu) == Some(task) => m.hold(self, cpu, rest_ns),
            _ => m.hold_next(cpu, rest_ns),
        }
        Some(cpu)
    }

    /// A CPU has changed: one that the machine's owner has run to the end of its path goes on at
    /// once.
    pub(super) fn look_for_end<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        on: Option<CpuId>,
    ) {
        let ended = !self.in_path(cpu) && self.cpus[cpu].path.told && on != Some(cpu);
        if ended && !std::mem::replace(&mut self.cpus[cpu].path.over, true) {
            m.push(m.now(), Event::Path { cpu, over: true });
        }
    }

    /// A CPU that the machine's owner has run to the end of its path goes on.
    pub(super) fn path_has_ended<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        self.cpus[cpu].path.over = false;
        if self.in_path(cpu) || !self.cpus[cpu].path.told {
            return m.idle_event();
        }
        self.path_is_over(m, cpu);
    }

    /// The time has come at which a CPU goes on in its path, and others after it.
    pub(super) fn path_goes_on<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        let what = match self.view(cpu).open {
            0 => 0,
            _ => self.waits_for(m, cpu),
        };
        self.cpus[cpu].path.timer |= what & abi::TIMER != 0;
        let answer = self.enter(m, Some(cpu), |entries| match what {
            0 => entries.go_on(cpu.0),
            what => entries.interrupt(cpu.0, what),
        });
        let ran = self.ran;
        if answer != Err(Refused::Dead) && !self.in_path(ran) {
            self.path_is_over(m, ran);
        }
    }

    /// Does what had to wait for the end of a path.
    fn path_is_over<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        m.set_in_path(self, cpu, false);
        let path = &mut self.cpus[cpu].path;
        path.told = false;
        let sleeps = std::mem::take(&mut path.sleeps);
        let timer = std::mem::take(&mut path.timer);
        for task in std::mem::take(&mut path.woken) {
            // It may have run and fallen asleep again.
            if self.entries.is_awake(task.0) {
                self.arrived(m, task);
            }
        }
        if timer {
            self.charge_timer(m, cpu);
        }
        let runs = self.cpus[cpu].runs;
        let owes = runs.filter(|task| !sleeps && self.kernels(cpu) == Some(*task));
        let owed = owes.and_then(|task| self.tasks[task].owes_sleep.take());
        if let (Some(task), Some(Sleep(until_ns))) = (owes, owed) {
            self.sleep_now(m, cpu, task, until_ns);
        } else {
            self.switch(m, cpu, sleeps);
        }
        let waits = self.waits_for(m, cpu) != 0;
        let cpu_has = &self.cpus[cpu];
        let more = waits || !cpu_has.spawns.is_empty() || !cpu_has.due.is_empty();
        if more && matches!(m.mode(cpu), Mode::Running | Mode::Interrupted) {
            self.rouse(m, cpu);
        }
    }
}
