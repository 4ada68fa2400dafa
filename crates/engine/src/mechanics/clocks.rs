//! The clock that a frequency domain really runs at: what was asked for, by the kernel or by the
//! hardware itself, within what awake cores and the package's power leave (docs/decisions/059).
//! Limits that a kernel knows of are `hardware`'s (`limit_domain`).
//!
//! What must stay: a domain never runs above what any bound leaves; a clock begins to change at
//! once and changes after the platform's latency. Free: what leaves recorded runs as they are
//! (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `a_driver_may_offer_one_clock_for_all_above_the_nominal` (`offered`),
//! `awake_cores_bound_each_others_clock` (`grants`),
//! frequency.rs::`changes_take_the_transition_latency`. By function:
//! `changes_take_the_transition_latency` (`apply_frequency`, `move_clock`, `run_at`),
//! `awake_cores_bound_each_others_clock` (`clock_moves`, `clocks_hear`),
//! frequency.rs::`fixed_governors_stay` (`new`), `a_package_keeps_to_its_limit` (`arm_clocks`).
//!
//! Callers: sim.rs (`clock_moves`, `arm_clocks`), autonomous.rs (`move_clock`), power.rs
//! (`clocks_hear`), power_limit.rs (`move_clock`), turbo.rs (`move_clock`).
//!
//! Tests: crates/engine/tests/behaviour/clocks.rs

use super::Mechanics;
use super::autonomous::Autonomous;
use super::power_limit::PowerLimits;
use super::queue::Event;
use super::turbo::Turbo;
use crate::ids::CpuId;
use crate::kernel::{Kernel, KernelSetup};
use crate::observe::{CpuPower, Happening, Observer};
use wakeplace_platform::Platform;

/// What bounds clocks without a kernel's knowing.
pub(super) struct Clocks {
    /// The operating point that each domain's driver last took.
    pub(super) asked: Vec<u16>,
    pub(super) turbo: Option<Turbo>,
    pub(super) limits: Option<PowerLimits>,
    pub(super) autonomous: Option<Autonomous>,
}

impl Clocks {
    /// `setup`: what the kernel begins with.
    pub(super) fn new(platform: &Platform, setup: &KernelSetup) -> Self {
        let mut clocks = Self {
            asked: Vec::new(),
            turbo: Turbo::new(platform, setup.release),
            limits: PowerLimits::new(platform),
            autonomous: Autonomous::new(platform, setup.preference),
        };
        let opps = (0..).zip(&setup.opps);
        clocks.asked = opps.map(|(at, opp)| clocks.offered(at, *opp)).collect();
        clocks
    }

    /// The operating point that the driver takes for this one: firmware may have one for all clocks
    /// above the nominal one.
    pub(super) fn offered(&self, domain: u32, opp: u16) -> u16 {
        let turbo = self.turbo.as_ref();
        turbo.map_or(opp, |turbo| turbo.offered(domain, opp))
    }

    /// The operating point that the domain is to run at.
    fn grants(&self, domain: u32) -> u16 {
        let at = domain as usize;
        let turbo = self.turbo.as_ref().map_or(u16::MAX, |turbo| turbo.most[at]);
        let limits = self
            .limits
            .as_ref()
            .map_or(u16::MAX, |limits| limits.most(at));
        self.asked[at].min(turbo).min(limits)
    }
}

impl<O: Observer> Mechanics<'_, O> {
    /// A frequency domain has reached the operating point that the kernel wanted.
    pub(crate) fn apply_frequency<K: Kernel>(&mut self, k: &mut K, domain: u32) {
        let Some(wanted) = self.end_change(domain) else {
            return;
        };
        k.opp_reached(self, domain, wanted);
        let clocks = &mut self.hardware.clocks;
        clocks.asked[domain as usize] = clocks.offered(domain, wanted);
        let opp = clocks.grants(domain);
        if opp != wanted {
            k.clock_is(self, domain, opp);
        }
        self.run_at(k, domain, opp);
    }

    /// What bounds the domain's clock has changed, or what hardware wants of it.
    pub(crate) fn clock_moves<K: Kernel>(&mut self, k: &mut K, domain: u32) {
        let opp = self.hardware.clocks.grants(domain);
        if opp == self.hardware.opp[domain as usize] {
            self.clock.idle_event();
            return;
        }
        k.clock_is(self, domain, opp);
        self.run_at(k, domain, opp);
    }

    /// The domain runs at this point from now on.
    fn run_at<K: Kernel>(&mut self, k: &mut K, domain: u32, opp: u16) {
        self.hardware.opp[domain as usize] = opp;
        self.tell(Happening::Frequency { domain, opp });
        let machine = self.machine;
        for cpu in &machine.domain_cpus[domain as usize] {
            let busy = self.busy_threads(*cpu);
            self.change_speed(k, *cpu, busy);
            self.draws(machine.cluster_of[cpu.index()]);
        }
    }

    /// The domain's clock begins to change if it is to be another one.
    pub(super) fn move_clock(&mut self, domain: u32) {
        if self.hardware.clocks.grants(domain) != self.hardware.opp[domain as usize] {
            let at = self.clock.now + self.machine.transition_ns[domain as usize];
            self.clock.push(at, Event::Clock { domain });
        }
    }

    /// What the CPU draws power for has changed.
    #[inline]
    pub(super) fn clocks_hear(&mut self, cpu: CpuId, power: CpuPower) {
        let clocks = &mut self.hardware.clocks;
        if clocks.turbo.is_some() {
            self.count_awake(cpu, power);
        }
        if self.hardware.clocks.autonomous.is_some() && power == CpuPower::Busy {
            self.look_soon(cpu);
        }
    }

    /// Everything that looks at clocks from time to time.
    pub(crate) fn arm_clocks(&mut self) {
        self.arm_limits();
    }
}
