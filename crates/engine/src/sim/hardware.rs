//! What the hardware does of its own accord: interrupts of devices, limits of frequency ranges,
//! powers that are no longer those of the energy model.

use super::Sim;
use super::cpu::{ClusterState, Message, Mode};
use super::thermal::Thermal;
use crate::hardware::{EmScale, FreqCap, Interrupts};
use crate::ids::CpuId;
use crate::machine::{Machine, em_states};
use crate::observe::Observer;
use crate::options::Options;
use crate::queue::Event;
use wakeplace_platform::{FreqDomain, Platform};
use wakeplace_policy_sys::Core;

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

/// What the hardware is in: points, states, limits, warmth.
pub(super) struct Hardware<'a> {
    pub(super) clusters: Vec<ClusterState>,
    /// Operating point of each frequency domain.
    pub(super) opp: Vec<u16>,
    caps: Caps<'a>,
    em_updates: Vec<EmUpdate>,
    pub(super) thermal: Option<Thermal>,
    devices: &'a [Interrupts],
}

impl<'a> Hardware<'a> {
    pub(super) fn new(platform: &Platform, core: &Core, options: &'a Options) -> Self {
        let point = |domain| core.freq_request(domain) as u16;
        Self {
            clusters: vec![ClusterState::default(); platform.clusters.len()],
            opp: (0..platform.freq_domains.len()).map(point).collect(),
            caps: Caps::new(platform, &options.freq_cap),
            em_updates: em_updates(platform, &options.em_scale),
            thermal: Thermal::new(platform, options.thermal),
            devices: &options.irq,
        }
    }

    /// Speed of a CPU that has its core for itself, at the point that its clock is at.
    #[inline]
    pub(super) fn speed(&self, machine: &Machine, cpu: CpuId) -> u64 {
        let domain = machine.domain_of[cpu.index()] as usize;
        machine.speed[cpu.index()][self.opp[domain] as usize]
    }
}

impl<O: Observer> Sim<'_, O> {
    /// Everything the options ask for.
    pub(super) fn arm_hardware(&mut self) {
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
    pub(super) fn device(&mut self, source: u32) {
        let device = self.hardware.devices[source as usize];
        let next = self.clock.now + device.period_ns;
        self.clock.push(next, Event::Device { source });
        let cpu = match device.movable {
            true => self.core.irq_cpu(device.cpu, self.clock.now),
            false => device.cpu,
        };
        self.interrupt_with(
            self.changes.timer_cpu(CpuId(cpu)),
            Message::Device {
                run_ns: device.run_ns,
            },
        );
    }

    /// The CPU takes the interrupt: for that time nothing else goes on there. Interrupts that come
    /// meanwhile are heard at once; what they start, and other devices, have to wait.
    pub(super) fn take_device(&mut self, cpu: CpuId, run_ns: u64) {
        self.account(cpu);
        self.core.irq_time(cpu.0, run_ns);
        self.core.ran_other(cpu.0, self.clock.now, run_ns);
        let c = &mut self.cpus[cpu];
        c.irq_until_ns = c.irq_until_ns.max(self.clock.now) + run_ns;
        if c.mode == Mode::Running {
            c.accounted_ns = c.accounted_ns.max(c.irq_until_ns);
            c.stolen_ns += run_ns;
        }
    }

    /// Wall time of the running stretch so far that the task had for itself.
    pub(super) fn stretch_ns(&self, cpu: CpuId) -> u64 {
        let c = &self.cpus[cpu];
        let ahead = c.irq_until_ns.saturating_sub(self.clock.now);
        let whole = self.clock.now - c.stretch_start_ns;
        whole - c.stolen_ns.saturating_sub(ahead).min(whole)
    }

    /// A frequency domain's limit changes.
    pub(super) fn freq_cap(&mut self, index: u32) {
        let FreqCap { domain, khz, .. } = self.hardware.caps.asked[index as usize];
        let opps = &self.hardware.caps.khz[domain as usize];
        let most = khz.map_or(opps.len(), |khz| opps.partition_point(|o| *o <= khz));
        self.hardware.caps.most[domain as usize] = most as u32 - 1;
        self.limit_domain(domain);
    }

    /// A driver tells of other powers. What the hardware draws is the platform's, as before.
    pub(super) fn em_scale(&mut self, index: u32) {
        let EmUpdate { domain, states, .. } = &self.hardware.em_updates[index as usize];
        self.core
            .update_energy_model(*domain, states)
            .expect("checked by `check` before the run");
        // what is built anew after a change of CPUs has it, too
        self.changes.facts.perf_domains[*domain]
            .states
            .clone_from(states);
    }

    /// The domain's limit is the least of what caps and heat leave.
    pub(super) fn limit_domain(&mut self, domain: u32) {
        let last = self.hardware.caps.khz[domain as usize].len() as u32 - 1;
        let mut most = self.hardware.caps.most[domain as usize];
        if let Some(thermal) = &self.hardware.thermal {
            let cool = thermal.leaves(domain, last);
            self.core.thermal_pressure(domain, cool);
            most = most.min(cool);
        }
        let result = self.core.freq_limit(domain, most, self.clock.now);
        let cpu = self.machine.domain_cpus[domain as usize][0];
        self.after_core(cpu, result);
    }
}
