//! Operating points, and what the hardware does of its own accord: interrupts of devices, limits of
//! frequency ranges, powers that are no longer those of the energy model (docs/guide/model.md,
//! "Frequencies").
//!
//! What must stay: a limit is the position of the highest operating point that is left, and the
//! least of all limits holds. Powers are uW, frequencies kHz. Free: what leaves recorded runs as
//! they are (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `changes_take_the_transition_latency` (`want_opp`), `a_cap_holds_while_it_lasts` (`freq_cap`,
//! `limit_domain`), `interrupts_take_a_tenth` (`device`), sched_mc.rs::`interrupts_follow`
//! (`irq_cpu`), `a_new_table_moves_the_work` (`em_scale`, `em_updates`), all (`new`,
//! `arm_hardware`), `changes_take_the_transition_latency` (`begin_change`, `end_change`).
//!
//! Callers: sim.rs (`arm_hardware`, `freq_cap`, `em_scale`), kernel/model/kthreads.rs (`want_opp`),
//! kernel/tree/frequency.rs (`want_opp`), clocks.rs (`end_change`), thermal.rs (`limit_domain`).
//!
//! Tests: crates/engine/tests/behaviour/frequency.rs, crates/engine/tests/behaviour/classes.rs,
//! crates/engine/tests/behaviour/sched_mc.rs::interrupts_follow,
//! crates/engine/tests/behaviour/energy.rs::a_new_table_moves_the_work

use super::Mechanics;
use super::clocks::Clocks;
use super::cpu::ClusterState;
use super::queue::Event;
use super::thermal::Thermal;
use crate::hardware::{EmScale, FreqCap, Interrupts};
use crate::ids::CpuId;
use crate::kernel::{Kernel, KernelSetup};
use crate::machine::em_states;
use crate::observe::Observer;
use crate::options::Options;
use wakeplace_platform::{FreqDomain, Platform};

/// Limits of frequency domains.
#[derive(Debug)]
struct Caps<'a> {
    asked: &'a [FreqCap],
    /// Frequencies of each domain, ascending.
    khz: Vec<Vec<u32>>,
    /// Last operating point that they leave each domain now.
    most: Vec<u32>,
}

impl<'a> Caps<'a> {
    /// No limit at first: the last point of each domain.
    fn new(platform: &Platform, asked: &'a [FreqCap]) -> Self {
        let domains = || platform.freq_domains.iter();
        let khz = |d: &FreqDomain| d.opps.iter().map(|o| o.khz).collect();
        Self {
            asked,
            khz: domains().map(khz).collect(),
            most: domains().map(|d| d.opps.len() as u32 - 1).collect(),
        }
    }
}

/// A table of the energy model that is to come.
#[derive(Debug)]
struct EmUpdate {
    at_ns: u64,
    /// Performance domain: with powers, each frequency domain is one.
    domain: usize,
    states: Vec<(u32, u32)>,
}

/// The new powers of each change of the energy model.
fn em_updates(platform: &Platform, asked: &[EmScale]) -> Vec<EmUpdate> {
    let update = |scale: &EmScale| {
        let domain = scale.domain as usize;
        let table = &platform.freq_domains[domain];
        EmUpdate {
            at_ns: scale.at_ns,
            domain,
            states: em_states(platform.power_unit, table, scale.percent),
        }
    };
    asked.iter().map(update).collect()
}

/// Where a frequency domain is on its way to, as the kernel asked.
#[derive(Clone, Copy, Debug, Default)]
struct Change {
    /// It changes to this operating point.
    under_way: Option<u16>,
    /// Then to this one.
    next: Option<u16>,
}

/// What the hardware is in: points, states, limits, warmth.
pub(super) struct Hardware<'a> {
    pub(super) clusters: Vec<ClusterState>,
    /// Operating point of each frequency domain.
    pub(super) opp: Vec<u16>,
    /// ... and where it is on its way to.
    changes: Vec<Change>,
    caps: Caps<'a>,
    em_updates: Vec<EmUpdate>,
    pub(super) thermal: Option<Thermal>,
    pub(super) clocks: Clocks,
    devices: &'a [Interrupts],
}

impl<'a> Hardware<'a> {
    /// `setup`: what the kernel begins with.
    pub(super) fn new(platform: &Platform, setup: &KernelSetup, options: &'a Options) -> Self {
        let clocks = Clocks::new(platform, setup);
        Self {
            clusters: vec![ClusterState::default(); platform.clusters.len()],
            changes: vec![Change::default(); platform.freq_domains.len()],
            opp: clocks.asked.clone(),
            clocks,
            caps: Caps::new(platform, &options.freq_cap),
            em_updates: em_updates(platform, &options.em_scale),
            thermal: Thermal::new(platform, options.thermal),
            devices: &options.irq,
        }
    }
}

impl<O: Observer> Mechanics<'_, O> {
    /// Everything the options ask for.
    pub(crate) fn arm_hardware(&mut self) {
        for (source, device) in self.hardware.devices.iter().enumerate() {
            let event = Event::Device {
                source: source as u32,
            };
            self.clock.push(device.period_ns, event);
        }
        for (index, cap) in self.hardware.caps.asked.iter().enumerate() {
            let event = Event::FreqCap {
                index: index as u32,
            };
            self.clock.push(cap.at_ns, event);
        }
        for (index, update) in self.hardware.em_updates.iter().enumerate() {
            let event = Event::EmScale {
                index: index as u32,
            };
            self.clock.push(update.at_ns, event);
        }
    }

    /// A device interrupts its CPU.
    pub(crate) fn device<K: Kernel>(&mut self, k: &mut K, source: u32) {
        let device = self.hardware.devices[source as usize];
        let next = self.clock.now + device.period_ns;
        self.clock.push(next, Event::Device { source });
        let cpu = match device.movable {
            true => k.irq_cpu(self.clock.now, CpuId(device.cpu)),
            false => CpuId(device.cpu),
        };
        k.device(self, self.timer_cpu(cpu), device.run_ns);
    }

    /// A frequency domain's limit changes.
    pub(crate) fn freq_cap<K: Kernel>(&mut self, k: &mut K, index: u32) {
        let FreqCap { domain, khz, .. } = self.hardware.caps.asked[index as usize];
        let opps = &self.hardware.caps.khz[domain as usize];
        let most = khz.map_or(opps.len(), |khz| opps.partition_point(|o| *o <= khz));
        self.hardware.caps.most[domain as usize] = most as u32 - 1;
        self.limit_domain(k, domain);
    }

    /// A driver tells of other powers. What the hardware draws is the platform's, as before.
    pub(crate) fn em_scale<K: Kernel>(&mut self, k: &mut K, index: u32) {
        let EmUpdate { domain, states, .. } = &self.hardware.em_updates[index as usize];
        k.energy_model(*domain, states);
    }

    /// The domain's limit is the least of what caps and heat leave.
    pub(super) fn limit_domain<K: Kernel>(&mut self, k: &mut K, domain: u32) {
        let last = self.hardware.caps.khz[domain as usize].len() as u32 - 1;
        let thermal = self.hardware.thermal.as_ref();
        let cool = thermal.map(|thermal| thermal.leaves(domain, last));
        let most = self.hardware.caps.most[domain as usize];
        k.freq_limit(self, domain, most.min(cool.unwrap_or(most)), cool);
    }

    /// The kernel wants this operating point for a domain: the hardware begins to change to it, or
    /// does so after the change that is under way.
    pub(crate) fn want_opp(&mut self, domain: u32, opp: u16) {
        let change = &mut self.hardware.changes[domain as usize];
        match change.under_way {
            Some(_) => change.next = Some(opp),
            None => self.begin_change(domain, opp),
        }
    }

    /// A change of the domain's operating point ends: to which one? One that waits begins.
    pub(super) fn end_change(&mut self, domain: u32) -> Option<u16> {
        let change = &mut self.hardware.changes[domain as usize];
        let reached = change.under_way.take();
        if let Some(next) = change.next.take().filter(|next| Some(*next) != reached) {
            self.begin_change(domain, next);
        }
        reached
    }

    fn begin_change(&mut self, domain: u32, opp: u16) {
        self.hardware.changes[domain as usize].under_way = Some(opp);
        let at = self.clock.now + self.machine.transition_ns[domain as usize];
        self.clock.push(at, Event::Freq { domain });
    }
}
