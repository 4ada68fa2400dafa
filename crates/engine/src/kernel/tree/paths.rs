//! Paths of the kernel that take time: a CPU in the middle of one waits for a cache line or a lock,
//! and others do what they do meanwhile (docs/rules/contended-lines.md#coherence).
//!
//! An entry that ends in the middle of a path (`state::STALL`) says when it goes on. Until then the
//! CPU is busy, its task does no work, and what interrupts it waits. What the entry was for is done
//! when the path is over: who has woken is noted, who sleeps leaves the CPU.
//!
//! What must stay: the clock goes to no time after the next event; a CPU in a path is entered at
//! the time it has said and for nothing else. Free: what leaves recorded runs as they are
//! (ARCHITECTURE.md, "What a change may touch"). Tests by part, where a tree is built:
//! `contended_lines_are_told` (all of it, and the same twice).
//!
//! Callers: entries.rs (`look_ahead`, `time_passed`, `arm_path`), interface.rs (`path_goes_on`),
//! all files of this folder (`in_path`).
//!
//! Tests: crates/cli/tests/all/coherence.rs

use super::Tree;
use super::event::Event;
use super::tasks::Sleep;
use crate::ids::{CpuId, TaskId};
use crate::mechanics::{Mechanics, Mode};
use crate::observe::Observer;
use crate::outcome::LinesTold;
use wakeplace_kernel_abi::Refused;
use wakeplace_kernel_abi::abi::{self, state};

/// What is kept of a CPU whose paths take time.
#[derive(Debug, Default)]
pub(super) struct Path {
    /// When it goes on, as it was last said; outdated events have another generation.
    armed_ns: Option<u64>,
    generation: u32,
    /// It is in one: the mechanics know.
    told: bool,
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

    /// Before an entry: until when the kernel may go on without asking.
    pub(super) fn look_ahead<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, on: Option<CpuId>) {
        let Some(cpu) = on else {
            return self.entries.set_ahead(abi::NEVER, 0);
        };
        m.set_in_path(self, cpu, true);
        let full_ps = self.machine.coherence.map_or(0, |costs| costs.hit_ps);
        let access_ps = m.access_ps(cpu, full_ps);
        self.entries.set_ahead(m.horizon_ns(), access_ps);
    }

    /// After an entry: it has taken time.
    pub(super) fn time_passed<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, on: Option<CpuId>) {
        let Some(cpu) = on else { return };
        let (local_ns, horizon_ns) = self.entries.ahead();
        m.pass(self, cpu, local_ns.min(horizon_ns));
        if self.in_path(cpu) {
            self.cpus[cpu].path.told = true;
            return;
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
    }

    /// A CPU has changed: it goes on in its path when it says. One that the machine's owner has run
    /// to the end of its path goes on at once.
    pub(super) fn arm_path<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        on: Option<CpuId>,
    ) {
        let at_ns = match self.in_path(cpu) {
            true => Some(self.view(cpu).work_ns).filter(|at_ns| *at_ns != abi::NEVER),
            false if self.cpus[cpu].path.told && on != Some(cpu) => Some(m.now()),
            false => None,
        };
        let path = &mut self.cpus[cpu].path;
        if path.armed_ns == at_ns {
            return;
        }
        path.armed_ns = at_ns;
        path.generation += 1;
        if let Some(at_ns) = at_ns {
            let generation = path.generation;
            m.push(at_ns.max(m.now()), Event::Path { cpu, generation });
        }
    }

    /// The time has come at which a CPU goes on in its path.
    pub(super) fn path_goes_on<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        generation: u32,
    ) {
        if self.cpus[cpu].path.generation != generation {
            return m.idle_event();
        }
        self.cpus[cpu].path.armed_ns = None;
        if self.in_path(cpu) {
            let what = match self.view(cpu).open {
                0 => 0,
                _ => self.waits_for(m, cpu),
            };
            self.cpus[cpu].path.timer |= what & abi::TIMER != 0;
            let answer = self.enter(m, Some(cpu), |entries| match what {
                0 => entries.go_on(cpu.0),
                what => entries.interrupt(cpu.0, what),
            });
            if answer == Err(Refused::Dead) || self.in_path(cpu) {
                return;
            }
        }
        self.path_is_over(m, cpu);
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
