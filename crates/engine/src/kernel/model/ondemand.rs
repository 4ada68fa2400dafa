//! What the ondemand governor measures, and when: how long CPUs were idle since it last looked. It
//! looks at ticks of one CPU of the clock, the first that is online, or, where each CPU has a
//! policy of its own, at those of any: its timer does not wake an idle CPU. What follows from the
//! numbers is the core's (docs/rules/ondemand.md#ondemand).
//!
//! What must stay: busy and idle time of a sample add up to its window, ns. Free: what leaves
//! recorded runs as they are (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `samples_come_at_the_eras_rate` and `at_the_top_samples_are_rarer` (when),
//! `who_samples_depends_on_the_policies` (which CPU), `an_idle_cpu_does_not_wake_for_it` (idle). By
//! function: `samples_come_at_the_eras_rate` (`new`, `next_sample_ns`, `sample`, `begin_sample`),
//! `who_samples_depends_on_the_policies` (`may_sample`, `clock_cpus`). `restart_sampling` has no
//! test of its own: hotplug.rs::`who_is_away_sleeps_deep_and_keeps_still` runs it.
//!
//! Callers: hotplug.rs (`restart_sampling`).
//!
//! Tests: crates/engine/tests/behaviour/ondemand.rs

use super::Model;
use crate::ids::CpuId;
use crate::mechanics::Mechanics;
use crate::observe::Observer;
use wakeplace_policy_sys::{Core, busy_percent};

/// Its memory.
#[derive(Debug, Default)]
pub(super) struct Sampling {
    /// Some clock is ruled by it.
    on: bool,
    /// Per frequency domain: the last sample, and when the next is due.
    last_ns: Vec<u64>,
    due_ns: Vec<u64>,
    /// Per CPU: its idle time at the last sample.
    idle_ns: Vec<u64>,
}

impl Sampling {
    /// At time 0, with the first samples still to come.
    pub(super) fn new(core: &Core, nr_cpus: usize, tick_ns: u64) -> Self {
        let domains = core.state().nr_freq_doms;
        let due = |domain| next_sample_ns(core, domain, 0, tick_ns, nr_cpus > 1);
        Self {
            on: core.samples_load(),
            last_ns: vec![0; domains as usize],
            due_ns: (0..domains).map(due).collect(),
            idle_ns: vec![0; nr_cpus],
        }
    }
}

/// The next sample is a whole number of ticks away; with several CPUs those of all clocks fall
/// together on multiples of their periods.
fn next_sample_ns(core: &Core, domain: u32, now_ns: u64, tick_ns: u64, several: bool) -> u64 {
    let period = (core.sample_period_us(domain) * 1000).div_ceil(tick_ns);
    let tick = now_ns / tick_ns;
    let past = if several { tick % period } else { 0 };
    (tick + period - past) * tick_ns
}

impl Model<'_> {
    /// At a tick of this CPU: is a sample of its clock due, and is it the one that takes it?
    pub(super) fn sample<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        let domain = self.machine.domain_of[cpu.index()];
        if !self.sampling.on
            || m.now() < self.sampling.due_ns[domain as usize]
            || !self.may_sample(m, domain, cpu)
        {
            return;
        }
        let wall_us = (m.now() - self.sampling.last_ns[domain as usize]) / 1000;
        let load = |cpu: &CpuId| {
            let idle = m.idle_ns(*cpu) / 1000;
            let before = self.sampling.idle_ns[cpu.index()] / 1000;
            busy_percent(wall_us, idle - before)
        };
        let busiest = self.clock_cpus(m, domain).iter().map(load).max();
        let result = self.core.sample_load(domain, busiest.unwrap_or(0), m.now());
        self.after_core(m, cpu, result);
        self.begin_sample(m, domain);
    }

    /// Does a timer of the governor run on this CPU? Where each CPU has a policy of its own, each
    /// has a timer; the clock follows the highest request, which the busiest CPU makes, so one
    /// sample of all is as good as one of each.
    fn may_sample<O: Observer>(&self, m: &Mechanics<'_, O>, domain: u32, cpu: CpuId) -> bool {
        self.machine.policy_per_cpu[domain as usize]
            || self.clock_cpus(m, domain).first() == Some(&cpu)
    }

    /// The CPUs of a clock have changed: its governor starts anew.
    pub(super) fn restart_sampling<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        self.begin_sample(m, self.machine.domain_of[cpu.index()]);
    }

    /// The stretch that the next sample looks at begins.
    fn begin_sample<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, domain: u32) {
        let online = self.facts.online.iter().filter(|online| **online).count();
        let tick = self.machine.tick_ns;
        let due = next_sample_ns(&self.core, domain, m.now(), tick, online > 1);
        for cpu in self.clock_cpus(m, domain) {
            self.sampling.idle_ns[cpu.index()] = m.idle_ns(cpu);
        }
        self.sampling.last_ns[domain as usize] = m.now();
        self.sampling.due_ns[domain as usize] = due;
    }

    /// The CPUs of a clock that are online, ascending.
    fn clock_cpus<O: Observer>(&self, m: &Mechanics<'_, O>, domain: u32) -> Vec<CpuId> {
        let cpus = self.machine.domain_cpus[domain as usize].iter().copied();
        cpus.filter(|cpu| m.is_online(*cpu)).collect()
    }
}
