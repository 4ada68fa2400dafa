//! Interrupts of a CPU: its timer, those of other CPUs, devices, and what has no cause in the
//! kernel: the first task, and sleeps that began without a timer (docs/guide/kernel.md, "In a
//! run").
//!
//! What must stay: an awake CPU takes all that waits in one go; an idle one leaves its state first.
//! Costs are the machine's (`Platform::costs`). Free: what leaves recorded runs as they are
//! (ARCHITECTURE.md, "What a change may touch"). Tests by part, where a tree is built:
//! `no_kind_of_work_makes_it_warn` (`take` with devices, `rouse`),
//! crates/cli/tests/all/kernel_runs.rs::`the_boot_is_forgotten` (`end_sleeps`: the first task),
//! crates/cli/tests/all/kernel_runs.rs::`energy_aware_placement_is_the_kernels_own`
//! (`charge_timer`, `after`). `waits_for` and `leaves_idle`: `no_kind_of_work_makes_it_warn` and
//! the others.
//!
//! Callers: entries.rs (`waits_for`, `rouse`), interface.rs (`waits_for`, `rouse`).
//!
//! Tests: crates/cli/tests/all/kernel_runs.rs

use super::Tree;
use crate::ids::{CpuId, TaskId};
use crate::kernel::Kernel as _;
use crate::mechanics::{Leaving, Mechanics, Mode};
use crate::observe::Observer;
use wakeplace_kernel_abi::Refused;
use wakeplace_kernel_abi::abi::TIMER;

impl Tree<'_> {
    /// Interrupts that a CPU has not taken.
    pub(super) fn waits_for<O: Observer>(&self, m: &Mechanics<'_, O>, cpu: CpuId) -> u32 {
        let view = self.view(cpu);
        let fires = view.next_event_ns <= m.now();
        view.ipi | if fires { TIMER } else { 0 }
    }

    /// Something interrupts a CPU now: it takes it, if need be once it has left its idle state.
    pub(super) fn rouse<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        if self.in_path(cpu) {
            return; // taken when it leaves the kernel
        }
        match m.mode(cpu) {
            Mode::Idle => {
                let leaving = m.leave_idle_state(cpu, m.now());
                self.leaves_idle(m, cpu, &leaving);
            }
            Mode::Waking => {}
            Mode::Running | Mode::Interrupted => self.take(m, cpu),
        }
    }

    /// Lets an idle CPU leave its state. If that takes time the mechanics tell when it is over.
    pub(super) fn leaves_idle<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        leaving: &Leaving,
    ) {
        if leaving.ready_ns == m.now() {
            m.awake(self, cpu);
            self.awake(m, cpu);
        }
    }

    /// Takes all interrupts of an awake CPU, and lets it go on.
    pub(super) fn take<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        m.account(self, cpu);
        let device_ns = std::mem::take(&mut self.cpus[cpu].device_ns);
        if device_ns > 0 {
            m.take_for_device(cpu, device_ns);
        }
        while !self.in_path(cpu) && !self.cpus[cpu].spawns.is_empty() {
            let task = self.cpus[cpu].spawns.remove(0);
            self.spawn_now(m, cpu, task);
        }
        if self.in_path(cpu) {
            return; // what is left is taken later
        }
        let due = std::mem::take(&mut self.cpus[cpu].due);
        if !due.is_empty() {
            self.end_sleeps(m, cpu, &due);
            if self.in_path(cpu) {
                return;
            }
        }
        let what = self.waits_for(m, cpu);
        if what != 0 {
            let answer = self.enter(m, Some(cpu), |entries| entries.interrupt(cpu.0, what));
            if answer == Err(Refused::Dead) {
                return;
            }
            if self.in_path(cpu) {
                self.cpus[cpu].path.timer |= what & TIMER != 0;
                return;
            }
            if what & TIMER != 0 {
                self.charge_timer(m, cpu);
            }
        }
        self.after(m, cpu);
    }

    /// An interrupt of the timer costs a wake-up for each task that it wakes, or else a tick.
    pub(super) fn charge_timer<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        // The timer of one may be another CPU's, which has not taken its interrupt yet.
        let mut awake = std::mem::take(&mut self.awake);
        let entries = &*self.entries;
        let is_awake = |task: TaskId| entries.is_awake(task.0);
        self.sleepers.take_awake(m.now(), is_awake, &mut awake);
        for task in &awake {
            m.tell_woken(*task, None, cpu, false);
            let on = self.entries.task_cpu(task.0);
            let on = on.map_or(self.tasks[*task].cpu, CpuId);
            self.woken(m, *task, on);
        }
        let woken = awake.len() as u64;
        awake.clear();
        self.awake = awake;
        let costs = &self.machine.costs;
        let work = match woken {
            0 => costs.tick,
            woken => costs.wakeup * woken,
        };
        m.charge(self, cpu, work);
    }

    /// What follows an interrupt: the CPU goes on, switches, or idles as its kernel says.
    fn after<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        if self.cpus[cpu].spins {
            return; // `GoOn` follows
        }
        match self.cpus[cpu].runs {
            Some(_) if self.wants_cpu(cpu) => self.switch(m, cpu, false),
            Some(_) => {
                m.account(self, cpu);
                m.program(self, cpu);
            }
            None => self.switch(m, cpu, false),
        }
    }

    /// Sleeps end that nobody in the kernel knows a time of.
    fn end_sleeps<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId, due: &[TaskId]) {
        m.charge(self, cpu, self.machine.costs.wakeup * due.len() as u64);
        let numbers: Vec<u32> = due.iter().map(|task| task.0).collect();
        for task in due {
            m.tell_woken(*task, None, cpu, false);
        }
        self.carry_out(m, cpu, "a start", |entries| entries.device(cpu.0, &numbers));
        if self.in_path(cpu) {
            self.cpus[cpu].path.woken.extend(due);
            return;
        }
        for task in due {
            self.arrived(m, *task);
        }
    }
}
