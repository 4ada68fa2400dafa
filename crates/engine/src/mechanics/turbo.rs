//! The highest clock by the number of awake cores (docs/decisions/059).
//!
//! What must stay: points are positions in the domain's table, groups are the platform's. Free:
//! what leaves recorded runs as they are (ARCHITECTURE.md, "What a change may touch"). Tests by
//! part: `awake_cores_bound_each_others_clock` (`note`, `group`, `count_awake`),
//! `what_counts_as_awake_is_the_platforms_word` (`shallow`),
//! clocks.rs::`a_driver_may_offer_one_clock_for_all_above_the_nominal` (`offered`, `nominal`), all
//! (`new`).
//!
//! Callers: clocks.rs (`count_awake`).
//!
//! Tests: crates/engine/tests/behaviour/clocks.rs

use super::Mechanics;
use crate::ids::CpuId;
use crate::observe::{CpuPower, Observer};
use wakeplace_platform::{FreqDomain, Platform};

/// Cores that are counted together.
#[derive(Debug)]
struct Group {
    /// Frequency domains of their CPUs.
    domains: Vec<u32>,
    /// Of each domain the last operating point with 1, 2, ... awake cores.
    most: Vec<Vec<u16>>,
    /// How many are awake now.
    awake: usize,
}

/// All groups of a machine.
#[derive(Debug)]
pub(super) struct Turbo {
    /// By idle state: a core in it still counts as awake, as one that polls does.
    shallow: Vec<bool>,
    /// Of each CPU its group, if it is in one.
    group_of: Vec<Option<u32>>,
    /// Of each CPU whether it counts as awake.
    awake: Vec<bool>,
    /// Of each core, by the number of its first CPU, how many of its CPUs do.
    of_core: Vec<u32>,
    first_of_core: Vec<u32>,
    groups: Vec<Group>,
    /// Last operating point that is left to each domain.
    pub(super) most: Vec<u16>,
    /// Of each domain the point above which the driver offers the last one alone, and the last one.
    nominal: Vec<Option<(u16, u16)>>,
}

impl Turbo {
    /// None: the machine says nothing of it. All CPUs sleep.
    /// `release`: the kernel's.
    pub(super) fn new(platform: &Platform, release: (u16, u16)) -> Option<Self> {
        let stated = platform.turbo.as_ref()?;
        let nr_cpus = platform.cpus.len();
        let mut group_of = vec![None; nr_cpus];
        for (group, bins) in (0..).zip(&stated.bins) {
            for cpu in &bins.cpus {
                group_of[cpu.index()] = Some(group);
            }
        }
        let last = |domain: usize| platform.freq_domains[domain].opps.len() as u16 - 1;
        let first_of_core = |cpu: &wakeplace_platform::Cpu| {
            let mut all = platform.cpus.iter();
            all.position(|other| other.core == cpu.core).unwrap_or(0) as u32
        };
        Some(Self {
            shallow: { stated.awake.iter().zip(&platform.idle_states) }
                .map(|(awake, state)| *awake || state.polling)
                .collect(),
            group_of,
            awake: vec![false; nr_cpus],
            of_core: vec![0; nr_cpus],
            first_of_core: platform.cpus.iter().map(first_of_core).collect(),
            groups: stated
                .bins
                .iter()
                .map(|bins| group(platform, bins))
                .collect(),
            most: (0..platform.freq_domains.len()).map(last).collect(),
            nominal: nominal(platform, release),
        })
    }

    /// The point that the kernel's driver takes for this one.
    pub(super) fn offered(&self, domain: u32, opp: u16) -> u16 {
        match self.nominal[domain as usize] {
            Some((nominal, last)) if opp > nominal => last,
            _ => opp,
        }
    }

    /// Notes what a CPU does; the domains whose limit may be another one now.
    fn note(&mut self, cpu: CpuId, power: CpuPower) -> &[u32] {
        let awake = match power {
            CpuPower::Idle { state } => self.shallow[usize::from(state)],
            _ => true,
        };
        if std::mem::replace(&mut self.awake[cpu.index()], awake) == awake {
            return &[];
        }
        let core = &mut self.of_core[self.first_of_core[cpu.index()] as usize];
        let before = *core > 0;
        *core = core.wrapping_add_signed(if awake { 1 } else { -1 });
        let (Some(group), true) = (self.group_of[cpu.index()], before != (*core > 0)) else {
            return &[];
        };
        let group = &mut self.groups[group as usize];
        group.awake = group.awake.wrapping_add_signed(if awake { 1 } else { -1 });
        let at = group.awake.max(1) - 1;
        for (domain, most) in group.domains.iter().zip(&group.most) {
            self.most[*domain as usize] = most[at.min(most.len() - 1)];
        }
        &group.domains
    }
}

/// Of each domain the nominal and the last point, where the driver offers none between them. A
/// domain whose cores are not counted may lack that clock.
fn nominal(platform: &Platform, release: (u16, u16)) -> Vec<Option<(u16, u16)>> {
    let turbo = platform.turbo.as_ref();
    let khz = turbo.and_then(|turbo| turbo.nominal_khz_in(release));
    let points = |domain: &FreqDomain| {
        let nominal = domain.opps.iter().position(|opp| Some(opp.khz) == khz)?;
        Some((nominal as u16, domain.opps.len() as u16 - 1))
    };
    platform.freq_domains.iter().map(points).collect()
}

/// The domains of some CPUs, and the highest point of each by awake cores.
fn group(platform: &Platform, bins: &wakeplace_platform::TurboBins) -> Group {
    let domain = |cpu: &wakeplace_platform::CpuId| platform.freq_domain_of(*cpu) as u32;
    let mut domains: Vec<u32> = bins.cpus.iter().map(domain).collect();
    domains.sort_unstable();
    domains.dedup();
    let most = |domain: &u32| {
        let opps = &platform.freq_domains[*domain as usize].opps;
        let point = |khz: &u32| opps.partition_point(|opp| opp.khz <= *khz) as u16 - 1;
        bins.khz.iter().map(point).collect()
    };
    Group {
        most: domains.iter().map(most).collect(),
        domains,
        awake: 0,
    }
}

impl<O: Observer> Mechanics<'_, O> {
    /// A core may have fallen asleep or woken: clocks of its group follow.
    pub(super) fn count_awake(&mut self, cpu: CpuId, power: CpuPower) {
        let Some(mut turbo) = self.hardware.clocks.turbo.take() else {
            return;
        };
        let domains = turbo.note(cpu, power).to_vec();
        self.hardware.clocks.turbo = Some(turbo);
        for domain in domains {
            self.move_clock(domain);
        }
    }
}
