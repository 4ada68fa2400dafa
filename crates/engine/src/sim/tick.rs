//! The tick of busy CPUs (and of idle ones that keep it), on the same grid for all CPUs.

use super::Sim;
use super::cpu::{Message, Mode};
use crate::observe::Observer;
use crate::queue::Event;
use wakeplace_policy_sys::IdleKind;

impl<O: Observer> Sim<'_, O> {
    pub(super) fn arm_tick(&mut self, cpu: u32) {
        let c = &mut self.cpus[cpu as usize];
        if c.tick_armed {
            return;
        }
        c.tick_armed = true;
        let tick = self.machine.tick_ns;
        self.queue
            .push((self.now / tick + 1) * tick, Event::Tick { cpu });
    }

    pub(super) fn tick(&mut self, cpu: u32) {
        self.cpus[cpu as usize].tick_armed = false;
        let stopped = self.cpus[cpu as usize].tick_stopped;
        match self.cpus[cpu as usize].mode {
            Mode::Running => self.busy_tick(cpu),
            Mode::Idle if !stopped => self.interrupt_with(cpu, Message::Tick),
            Mode::Waking | Mode::Interrupted if !stopped => self.arm_tick(cpu),
            // It was stopped after this tick had been armed.
            _ => {}
        }
    }

    fn busy_tick(&mut self, cpu: u32) {
        self.arm_tick(cpu);
        let Some(task) = self.cpus[cpu as usize].current else {
            return;
        };
        self.charge(cpu, self.machine.costs.tick);
        let result = self.core.tick(&mut self.tasks[task as usize], self.now);
        self.after_core(cpu, result);
        if result.kick() || result.stats() {
            self.kick_nohz(if result.kick() {
                Message::NohzBalance
            } else {
                Message::NohzStats
            });
        }
        if result.balance() {
            if self.live {
                self.cpus[cpu as usize].balance_wanted = true;
            } else {
                self.balance_domains(cpu, IdleKind::Busy);
            }
        }
        if self.cpus[cpu as usize].reschedule || self.tick_preempts(task, cpu) {
            self.schedule(cpu);
        } else {
            self.program(cpu);
        }
    }

    /// An idle CPU took its tick.
    pub(super) fn idle_tick(&mut self, cpu: u32) {
        self.charge(cpu, self.machine.costs.tick);
        if self.live {
            return; // the kernel's: a sched_ext scheduler does not hear of it
        }
        let result = self.core.idle_tick(cpu, self.now);
        self.after_core(cpu, result);
        if result.balance() && self.core.is_idle(cpu) {
            self.balance_domains(cpu, IdleKind::Idle);
        }
    }

    fn kick_nohz(&mut self, message: Message) {
        if let Some(target) = self.core.nohz_target()
            && !self.cpus[target as usize].inbox.contains(&message)
        {
            self.send(target, message);
        }
    }
}
