//! The tick of busy CPUs (and of idle ones that keep it), on the same grid for all CPUs
//! (docs/guide/model.md, "Run queues").
//!
//! What must stay: order within a tick (signals, slices, classes, balancing) is the kernel's; the
//! grid is multiples of `tick_ns` from time 0. Free: what leaves recorded runs as they are
//! (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! balance.rs::`four_hogs_on_four_cpus_each_get_one` (`busy_tick`), `stopped_ticks_stay_silent`
//! (`arm_tick`, `tick`), `a_high_resolution_tick_ends_slices_in_time` (`arm_hrtick`, `slice_end`),
//! lines.rs::`the_tick_of_an_idle_cpu_waits_at_once` (`idle_tick`),
//! balance.rs::`the_second_hog_moves_to_an_idle_cpu` (`kick_nohz`),
//! preempt_lazy.rs::`another_cpu_acts_when_it_leaves_the_kernel` (`reschedule_lazily`),
//! energy_push.rs::`a_bounded_hog_leaves_the_big_cpu` (a push at the tick),
//! balance.rs::`four_hogs_on_four_cpus_each_get_one` and the others (`new`, `governor`,
//! `push_tick`, `arm_slice_end`).
//!
//! Callers: idle.rs (`arm_tick`), interface.rs (`slice_end`), queues.rs (`arm_slice_end`), run.rs
//! (`arm_slice_end`).
//!
//! Tests: crates/engine/tests/behaviour/idle.rs::stopped_ticks_stay_silent,
//! crates/engine/tests/behaviour/eevdf.rs::a_high_resolution_tick_ends_slices_in_time,
//! crates/engine/tests/behaviour/balance.rs, crates/engine/tests/behaviour/lines.rs,
//! crates/engine/tests/behaviour/preempt_lazy.rs

use super::Model;
use super::cpu::Message;
use super::cpuidle::{Governor, Kind};
use super::event::Event;
use super::home::Home;
use crate::ids::CpuId;
use crate::machine::{CpuIdleState, Machine};
use crate::mechanics::{Mechanics, Mode};
use crate::observe::{KernelWork, Observer};
use crate::options::Options;
use wakeplace_policy_sys::sys::{WP_HRTICK_AUTO, WP_HRTICK_ON, WP_QUEUE_LIVE};
use wakeplace_policy_sys::{IdleKind, Policy};

/// The kernel sets no timer nearer than this (docs/rules/queues.md#hrtick).
const LEAST_SLICE_TIMER_NS: u64 = 10_000;

/// What a run has of ticks and timers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ticks {
    /// What chooses idle states.
    pub(super) cpuidle: Kind,
    /// Without cpuidle: the tick stops only after an idle tick.
    pub(super) keeps_first: bool,
    /// A timer ends slices between ticks.
    hrtick: bool,
}

impl Ticks {
    /// Ticks of the platform's frequency, and whether idle CPUs have them.
    pub(super) fn new(policy: &Policy, machine: &Machine, options: &Options) -> Self {
        let params = policy.core_params();
        Self {
            cpuidle: Kind::new(options.cpuidle, params.teo),
            keeps_first: params.idle_got_tick != 0,
            hrtick: match params.hrtick {
                // The live queues have a timer of their own on all machines.
                WP_HRTICK_AUTO => params.queue == WP_QUEUE_LIVE || machine.hrtimer_rearm_deferred,
                set => set == WP_HRTICK_ON,
            },
        }
    }

    /// A CPU's governor, before its first idle time.
    pub(super) fn governor(&self, states: &[CpuIdleState]) -> Governor {
        Governor::new(self.cpuidle, states)
    }
}

impl Model<'_> {
    /// Arms the next tick of a CPU. At most one tick is pending per CPU.
    #[inline]
    pub(super) fn arm_tick<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        if !self.cpus[cpu].tick_armed {
            self.push_tick(m, cpu);
        }
    }

    /// Puts the tick of a CPU at the next whole multiple of the tick's period: all CPUs share the
    /// grid.
    fn push_tick<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        self.cpus[cpu].tick_armed = true;
        let tick = self.machine.tick_ns;
        let at = (m.now() / tick + 1) * tick;
        m.push_in_order(at, Event::Tick { cpu });
    }

    /// A tick: of a busy CPU, or of an idle one that keeps it.
    pub(super) fn tick<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        self.cpus[cpu].tick_armed = false;
        let stopped = self.cpus[cpu].tick_stopped;
        match m.mode(cpu) {
            Mode::Running => self.busy_tick(m, cpu),
            Mode::Idle if !stopped => self.interrupt_with(m, cpu, Message::Tick),
            Mode::Waking | Mode::Interrupted if !stopped => self.arm_tick(m, cpu),
            // It was stopped after this tick had been armed.
            _ => m.idle_event(),
        }
    }

    /// The tick of a CPU with a task: signals, slices, balancing, all in the kernel's order.
    fn busy_tick<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        self.arm_tick(m, cpu);
        let Some(task) = m.current(cpu) else {
            return;
        };
        m.charge(self, cpu, self.costs.tick);
        self.cpus[cpu].reschedule |= self.cpus[cpu].reschedule_lazily;
        let record = &mut self.tasks[task];
        let result = match self.cpus[cpu].classes.running {
            Some(_) => self.core.class_tick(record, m.now()),
            None => self.core.tick(record, m.now()),
        };
        self.wait_for_line(m, cpu, cpu, task);
        self.after_core(m, cpu, result);
        self.sample(m, cpu);
        if self.home.balances() && (result.kick() || result.stats()) {
            self.kick_nohz(
                m,
                if result.kick() {
                    Message::NohzBalance
                } else {
                    Message::NohzStats
                },
            );
        }
        if result.ends_rest() && self.home.has_idle_timer() {
            self.end_rest(m, cpu);
        }
        if result.balance() && self.home.balances() {
            if self.home.dispatches() {
                self.cpus[cpu].balance_wanted = true;
            } else {
                self.balance_domains(m, cpu, IdleKind::Busy);
            }
        }
        let throttled = self.bandwidth.used
            && self.cpus[cpu].classes.running.is_none()
            && self.tick_throttles(m, cpu, task);
        if result.push() {
            let of = &self.core.cpu(cpu.0).balance;
            let (to, level) = (CpuId(of.push_cpu), of.push_level);
            self.push_running(m, cpu, to, level, false);
        }
        if throttled || self.cpus[cpu].reschedule || self.tick_preempts(m, task, cpu) {
            self.schedule_cpu(m, cpu);
        } else {
            m.program(self, cpu);
        }
    }

    /// Makes sure, where slices end between ticks, of an event at the end of the running task's.
    #[inline]
    pub(super) fn arm_slice_end<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        if self.ticks.hrtick {
            self.arm_hrtick(m, cpu);
        }
    }

    /// The timer that ends the running task's slice (hrtick_start_fair()).
    fn arm_hrtick<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        let Some(left) = self.home.slice_left_ns(&self.core, cpu, m.now()) else {
            return;
        };
        let c = &mut self.cpus[cpu];
        let at = m.now() + left.max(LEAST_SLICE_TIMER_NS);
        if at < c.slice_end_armed_ns {
            c.slice_end_armed_ns = at;
            m.push(at, Event::SliceEnd { cpu });
        }
    }

    /// The event of `arm_slice_end`: it may have been for another task, or one that runs longer
    /// now.
    pub(super) fn slice_end<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        let c = &mut self.cpus[cpu];
        if c.slice_end_armed_ns != m.now() {
            return m.idle_event(); // a nearer one was armed after it
        }
        c.slice_end_armed_ns = u64::MAX;
        if m.current(cpu).is_none() {
            return m.idle_event();
        }
        m.account(self, cpu);
        match self.home.slice_left_ns(&self.core, cpu, m.now()) {
            Some(0) => {
                self.extra_work(m, cpu, KernelWork::SliceEnd);
                self.end_turn(cpu);
                self.schedule_cpu(m, cpu);
            }
            _ => {
                m.idle_event();
                self.arm_slice_end(m, cpu);
            }
        }
    }

    /// An idle CPU took its tick.
    pub(super) fn idle_tick<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        self.cpus[cpu].got_tick = true;
        self.extra_work(m, cpu, KernelWork::IdleTick);
        self.sample(m, cpu);
        if !self.home.nohz() {
            return; // the kernel's: a sched_ext scheduler does not hear of it
        }
        let result = self.core.idle_tick(cpu.0, m.now());
        self.after_core(m, cpu, result);
        self.wait_for_all_lines(m, cpu, cpu);
        if result.kick() {
            self.answer_kick(m, cpu);
        } else if result.balance() && self.core.is_idle(cpu.0) {
            self.balance_domains(m, cpu, IdleKind::Idle);
        }
    }

    /// Sends to the CPU that the core names, unless that message is on its way to it already.
    fn kick_nohz<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, message: Message) {
        if let Some(target) = self.core.nohz_target().map(CpuId)
            && !self.cpus[target].inbox.contains(&message)
        {
            self.send(m, target, message);
        }
    }
}
