//! What the live scheduler's glue does beside its queues: the pass of balancing before a dispatch,
//! and the timer that stands for the ticks of idle CPUs. In the live scheduler these are in
//! `pull.bpf.h` and `machine.bpf.h` (docs/rules/live-queue.md#vq-timer): change both.
//!
//! What must stay: when the timer fires and which CPUs it kicks are the core's; the timer itself
//! moves as a kernel's timer does. Free: what leaves recorded runs as they are (ARCHITECTURE.md,
//! "What a change may touch"). Tests by part: `four_hogs_spread_over_four_cpus` (pass before a
//! dispatch), `an_idle_machine_is_looked_at_every_64_ms_by_its_first_cpu` (timer),
//! idle.rs::`the_live_timer_rests_between_short_runs` (rest). By function:
//! `four_hogs_spread_over_four_cpus` (`dispatch`),
//! `an_idle_machine_is_looked_at_every_64_ms_by_its_first_cpu` (`arm_idle_timer`, `idle_timer`,
//! `timer_target`, `idle_turn`), idle.rs::`the_live_timer_rests_between_short_runs` (`end_rest`).
//!
//! Callers: interface.rs (`arm_idle_timer`, `idle_timer`), kernel/model/sched_ext/effects.rs
//! (`timer_target`), tick.rs (`end_rest`), wake.rs (`idle_turn`).
//!
//! Tests:
//! crates/engine/tests/behaviour/live_queue.rs,
//! crates/engine/tests/behaviour/idle.rs::the_live_timer_leaves_idle_cpus_alone

use super::Model;
use super::cpu::Message;
use super::event::Event;
use super::home::Home;
use crate::ids::CpuId;
use crate::mechanics::{Mechanics, Mode};
use crate::observe::{KernelWork, Observer};
use wakeplace_policy_sys::sys::WP_BUSY_NOW;
use wakeplace_policy_sys::{IdleKind, IdleTurn};

/// The live scheduler's timer for idle CPUs: when and where it fires next.
#[derive(Default)]
pub(super) struct IdleTimer {
    pub(super) at_ns: u64,
    pub(super) cpu: CpuId,
}

impl Model<'_> {
    /// The CPU needs a task, or (`running`) its task a new slice. Returns true if that task goes
    /// on. Else the next task, if there is one, is at the front.
    pub(super) fn dispatch<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        running: bool,
    ) -> bool {
        if std::mem::take(&mut self.cpus[cpu].balance_wanted) {
            let idle = if m.mode(cpu) == Mode::Running {
                IdleKind::Busy
            } else {
                IdleKind::Idle
            };
            self.balance_levels(m, cpu, idle);
        }
        let (home, services) = self.ask_home(m.now());
        let keeps = home.dispatch(services, cpu, running);
        self.carry_ext_moves(m);
        self.pay_ext_dispatch(m, cpu, keeps);
        keeps
    }

    /// The timer starts with the scheduler.
    pub(super) fn arm_idle_timer<O: Observer>(&mut self, m: &mut Mechanics<'_, O>) {
        if self.home.has_idle_timer() {
            self.idle_timer.at_ns = self.core.idle_timer_ns(WP_BUSY_NOW, 0);
            m.push(self.idle_timer.at_ns, Event::IdleTimer);
        }
    }

    /// The tick of a busy CPU that has something for idle ones has it fire at once, there.
    pub(super) fn end_rest<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        self.idle_timer = IdleTimer {
            at_ns: m.now(),
            cpu,
        };
        m.push(m.now(), Event::IdleTimer);
    }

    /// It fires on the CPU that it is on, and is not started again before its turn there.
    pub(super) fn idle_timer<O: Observer>(&mut self, m: &mut Mechanics<'_, O>) {
        if m.now() != self.idle_timer.at_ns {
            return; // it has fired before
        }
        self.idle_timer.at_ns = u64::MAX;
        self.interrupt_with(m, self.idle_timer.cpu, Message::IdleTimer);
    }

    /// The CPU that gets a timer which `cpu` starts: itself, unless it idles and another does not;
    /// one of its cache before others (get_nohz_timer_target goes by domains). There it stays,
    /// whatever that CPU does.
    pub(super) fn timer_target<O: Observer>(&self, m: &Mechanics<'_, O>, cpu: CpuId) -> CpuId {
        let busy = |cpu: &CpuId| m.is_online(*cpu) && self.core.cpu(cpu.0).queue.curr_idle == 0;
        let llc = |cpu: CpuId| self.core.cpu(cpu.0).topo.llc_id;
        let others = self.machine.cpus().filter(busy);
        let nearest = others.min_by_key(|other| (*other != cpu, llc(*other) != llc(cpu)));
        nearest.unwrap_or(cpu)
    }

    /// Its turn: for each idle CPU signals that only fade, and a kick to those that should make
    /// their periodic pass. A CPU pulls for itself. Then the timer is started again: on a busy CPU
    /// where there is one.
    pub(super) fn idle_turn<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, by: CpuId) {
        self.extra_work(m, by, KernelWork::Balance);
        let mut turn = IdleTurn::begin(m.now());
        for cpu in self.machine.cpus() {
            let result = self.core.idle_turn_offer(&mut turn, cpu.0);
            self.after_core(m, cpu, result);
            if result.balance() {
                self.cpus[cpu].balance_wanted = true;
                if cpu != by {
                    self.send(m, cpu, Message::Reschedule);
                }
            }
        }
        let at_ns = m.now() + self.core.idle_turn_end(&turn);
        let cpu = self.timer_target(m, by);
        self.idle_timer = IdleTimer { at_ns, cpu };
        m.push(at_ns, Event::IdleTimer);
    }
}
