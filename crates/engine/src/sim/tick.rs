//! The tick of busy CPUs (and of idle ones that keep it), on the same grid for all CPUs.

use super::Sim;
use super::cpu::{Message, Mode};
use crate::home::Home;
use crate::ids::CpuId;
use crate::machine::Machine;
use crate::observe::{KernelWork, Observer};
use crate::options::{CpuIdle, Options};
use crate::queue::Event;
use wakeplace_policy_sys::sys::{WP_HRTICK_AUTO, WP_HRTICK_ON, WP_QUEUE_LIVE};
use wakeplace_policy_sys::{IdleKind, Policy};

/// The kernel sets no timer nearer than this (docs/rules/queues.md#hrtick).
const LEAST_SLICE_TIMER_NS: u64 = 10_000;

/// What a run has of ticks and timers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ticks {
    pub(super) cpuidle: CpuIdle,
    /// Without cpuidle: the tick stops only after an idle tick.
    pub(super) keeps_first: bool,
    /// A timer ends slices between ticks.
    hrtick: bool,
}

impl Ticks {
    pub(super) fn new(policy: &Policy, machine: &Machine, options: &Options) -> Self {
        let params = policy.core_params();
        Self {
            cpuidle: options.cpuidle,
            keeps_first: params.idle_got_tick != 0,
            hrtick: match params.hrtick {
                // The live queues have a timer of their own on all machines.
                WP_HRTICK_AUTO => params.queue == WP_QUEUE_LIVE || machine.hrtimer_rearm_deferred,
                set => set == WP_HRTICK_ON,
            },
        }
    }
}

impl<O: Observer> Sim<'_, O> {
    pub(super) fn arm_tick(&mut self, cpu: CpuId) {
        let c = &mut self.cpus[cpu];
        if c.tick_armed {
            return;
        }
        c.tick_armed = true;
        let tick = self.machine.tick_ns;
        self.clock
            .push_tick((self.clock.now / tick + 1) * tick, cpu);
    }

    pub(super) fn tick(&mut self, cpu: CpuId) {
        self.cpus[cpu].tick_armed = false;
        let stopped = self.cpus[cpu].tick_stopped;
        match self.cpus[cpu].mode {
            Mode::Running => self.busy_tick(cpu),
            Mode::Idle if !stopped => self.interrupt_with(cpu, Message::Tick),
            Mode::Waking | Mode::Interrupted if !stopped => self.arm_tick(cpu),
            // It was stopped after this tick had been armed.
            _ => self.clock.idle_event(),
        }
    }

    fn busy_tick(&mut self, cpu: CpuId) {
        self.arm_tick(cpu);
        let Some(task) = self.cpus[cpu].current else {
            return;
        };
        self.charge(cpu, self.machine.costs.tick);
        let record = &mut self.tasks[task];
        let result = match self.cpus[cpu].classes.running {
            Some(_) => self.core.class_tick(record, self.clock.now),
            None => self.core.tick(record, self.clock.now),
        };
        self.wait_for_line(cpu, cpu, task);
        self.after_core(cpu, result);
        self.sample(cpu);
        if self.home.balances() && (result.kick() || result.stats()) {
            self.kick_nohz(if result.kick() {
                Message::NohzBalance
            } else {
                Message::NohzStats
            });
        }
        if result.ends_rest() && self.home.has_idle_timer() {
            self.end_rest(cpu);
        }
        if result.balance() && self.home.balances() {
            if self.home.dispatches() {
                self.cpus[cpu].balance_wanted = true;
            } else {
                self.balance_domains(cpu, IdleKind::Busy);
            }
        }
        if self.cpus[cpu].reschedule || self.tick_preempts(task, cpu) {
            self.schedule(cpu);
        } else {
            self.program(cpu);
        }
    }

    /// Where slices end between ticks: makes sure of an event at the end of the running task's.
    pub(super) fn arm_slice_end(&mut self, cpu: CpuId) {
        if !self.ticks.hrtick {
            return;
        }
        let Some(left) = self.home.slice_left_ns(&self.core, cpu, self.clock.now) else {
            return;
        };
        let c = &mut self.cpus[cpu];
        let at = self.clock.now + left.max(LEAST_SLICE_TIMER_NS);
        if at < c.slice_end_armed_ns {
            c.slice_end_armed_ns = at;
            self.clock.push(at, Event::SliceEnd { cpu });
        }
    }

    /// The event of `arm_slice_end`: it may have been for another task, or one that runs longer
    /// now.
    pub(super) fn slice_end(&mut self, cpu: CpuId) {
        let c = &mut self.cpus[cpu];
        if c.slice_end_armed_ns != self.clock.now {
            return self.clock.idle_event(); // a nearer one was armed after it
        }
        c.slice_end_armed_ns = u64::MAX;
        if c.current.is_none() {
            return self.clock.idle_event();
        }
        self.account(cpu);
        match self.home.slice_left_ns(&self.core, cpu, self.clock.now) {
            Some(0) => {
                self.extra_work(cpu, KernelWork::SliceEnd);
                self.end_turn(cpu);
                self.schedule(cpu);
            }
            _ => {
                self.clock.idle_event();
                self.arm_slice_end(cpu);
            }
        }
    }

    /// An idle CPU took its tick.
    pub(super) fn idle_tick(&mut self, cpu: CpuId) {
        self.cpus[cpu].got_tick = true;
        self.extra_work(cpu, KernelWork::IdleTick);
        self.sample(cpu);
        if !self.home.nohz() {
            return; // the kernel's: a sched_ext scheduler does not hear of it
        }
        let result = self.core.idle_tick(cpu.0, self.clock.now);
        self.after_core(cpu, result);
        self.wait_for_all_lines(cpu, cpu);
        if result.kick() {
            self.answer_kick(cpu);
        } else if result.balance() && self.core.is_idle(cpu.0) {
            self.balance_domains(cpu, IdleKind::Idle);
        }
    }

    fn kick_nohz(&mut self, message: Message) {
        if let Some(target) = self.core.nohz_target().map(CpuId)
            && !self.cpus[target].inbox.contains(&message)
        {
            self.send(target, message);
        }
    }
}
