//! The machine as a tree's kernel is told of it (docs/guide/kernel.md, "In a run").
//!
//! What must stay: what is told here the shim builds sysfs-like facts of (crates/kernel-abi); units
//! are kHz and ns as there. A new fact needs a field of the ABI. Free: what leaves recorded runs as
//! they are (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `frequencies_change_as_the_platform_says` (`frequency_domain`, `governor_time_ns`),
//! crates/cli/tests/all/kernel_runs.rs::`energy_aware_placement_is_the_kernels_own`
//! (`tree_machine`, `Domains`; where a tree is built),
//! crates/cli/tests/all/kernel_runs.rs::`no_kind_of_work_makes_it_warn` (without idle states).
//! `idle_state`, `of` and `kernels` by the second, too.
//!
//! Callers: crates/kernel-run/src/runs.rs (`tree_machine`).
//!
//! Tests: below, crates/cli/tests/all/kernel_runs.rs

use crate::machine::{CpuIdleState, Machine, em_states};
use crate::options::{CpuIdle, Options};
use std::ffi::CString;
use wakeplace_kernel_abi as abi;
use wakeplace_platform::{Housekeeping, Platform, PowerUnit};
use wakeplace_workload::Workload;

/// Capacity of the biggest CPU.
const FULL: u32 = 1024;

/// What a tree's kernel boots on: all that firmware, drivers and the kernel's own tables would tell
/// it of the platform. Frequency domains whose CPUs have a cpufreq policy each are one for each.
///
/// The numbers of idle states are the positions among a CPU's states.
#[must_use]
pub fn tree_machine(platform: &Platform, workload: &Workload, options: &Options) -> abi::Machine {
    let machine = Machine::of_tree(platform, options, workload.cpu_dma_latency_us);
    let domains = Domains::of(&machine);
    let mut idle: Vec<Vec<abi::IdleState>> = Vec::new();
    let mut cpus = Vec::new();
    for cpu in machine.cpus() {
        let of = &platform.cpus[cpu.index()];
        let states: Vec<_> = (machine.idle[cpu.index()].iter())
            .map(|state| idle_state(platform, state))
            .collect();
        let table = match idle.iter().position(|known| *known == states) {
            Some(table) => table,
            None => {
                idle.push(states);
                idle.len() - 1
            }
        };
        cpus.push(abi::MachineCpu {
            capacity: of.capacity,
            core: machine.core_of(cpu),
            // A kernel makes a level of clusters within a cache where it is told of some.
            cluster: match platform.topology.iter().any(|level| level.cluster) {
                true => of.cluster,
                false => abi::abi::NONE,
            },
            llc: machine.cache_of[cpu.index()],
            package: of.package,
            node: of.node,
            domain: domains.of_cpu[cpu.index()],
            idle: match options.cpuidle {
                CpuIdle::None => abi::abi::NONE,
                CpuIdle::Menu | CpuIdle::Teo | CpuIdle::Ladder => table as u32,
            },
        });
    }
    let distances = machine.distance.iter().flatten();
    abi::Machine {
        cpus,
        domains: (domains.platform_domain.iter())
            .map(|domain| frequency_domain(platform, &machine, options, *domain))
            .collect(),
        idle,
        nodes: machine.distance.len().max(1) as u32,
        distances: distances
            .map(|d| u32::try_from(*d).unwrap_or(255))
            .collect(),
        governor: None,
        idle_governor: match options.cpuidle {
            CpuIdle::None => None,
            governor => CString::new(governor.name()).ok(),
        },
        seed: workload.seed.max(1),
        now_ns: 0,
        coherence: coherence(&machine),
    }
}

/// What lines cost, for the tree's own accesses.
fn coherence(machine: &Machine) -> Option<abi::Coherence> {
    let ns = |ns: u64| u32::try_from(ns).unwrap_or(u32::MAX);
    machine.coherence.map(|costs| abi::Coherence {
        near_ns: ns(costs.near_ns),
        far_ns: ns(costs.far_ns),
        clean_ns: ns(costs.clean_ns),
        ipi_ns: ns(machine.costs.ipi_ns),
    })
}

/// An idle state for the tree, by the name of the platform's; latencies ns.
fn idle_state(platform: &Platform, state: &CpuIdleState) -> abi::IdleState {
    abi::IdleState {
        name: platform.idle_states[usize::from(state.index)].name.clone(),
        exit_latency_ns: state.wake_latency_ns,
        residency_ns: state.residency_ns,
        polling: state.polling,
    }
}

/// A domain as the kernel's driver states it.
fn frequency_domain(
    platform: &Platform,
    machine: &Machine,
    options: &Options,
    domain: u32,
) -> abi::Domain {
    let governor_ns = platform.housekeeping.as_ref();
    let governor_ns = governor_ns.filter(|_| options.housekeeping);
    let governor_ns = governor_ns.and_then(|stated| governor_time_ns(platform, stated, domain));
    let of = &platform.freq_domains[domain as usize];
    let states = em_states(platform.power_unit, of, 100);
    abi::Domain {
        opps: (states.iter())
            .map(|(khz, uw)| abi::Opp { khz: *khz, uw: *uw })
            .collect(),
        fast_switch: governor_ns.is_none(),
        energy_model: platform.has_energy_model
            && platform.power_unit != PowerUnit::None
            // A model of costs without watts has another registration, which is not offered.
            && of.em_costs.is_none(),
        any_cpu: true,
        transition_latency_ns: u32::try_from(machine.transition_ns[domain as usize])
            .unwrap_or(u32::MAX),
        rate_limit_us: 0,
        switch_ns: governor_ns.unwrap_or(0),
        boot_khz: 0,
    }
}

/// How long a change of frequency keeps schedutil's thread busy, where the platform says that it
/// takes one: on a CPU of the domain at its highest frequency, if not on any alike.
fn governor_time_ns(platform: &Platform, stated: &Housekeeping, domain: u32) -> Option<u32> {
    let cpu = platform.freq_domains[domain as usize].cpus.first()?;
    let speed = platform.cpus[cpu.index()].speed;
    let time_ns = match stated.wall {
        true => stated.governor_ns?,
        false => stated.governor_ns? * u64::from(FULL) / u64::from(speed.max(1)),
    };
    Some(u32::try_from(time_ns).unwrap_or(u32::MAX))
}

/// Frequency domains as the kernel has them: cpufreq policies.
#[derive(Debug)]
pub(super) struct Domains {
    /// Of each CPU.
    pub(super) of_cpu: Vec<u32>,
    /// Of each of the kernel's, the platform's.
    pub(super) platform_domain: Vec<u32>,
}

impl Domains {
    /// Finds which of the platform's domains each of the kernel's is: one per CPU where policies
    /// are.
    pub(super) fn of(machine: &Machine) -> Self {
        let mut of_cpu = vec![0; machine.nr_cpus as usize];
        let mut platform_domain = Vec::new();
        for (domain, cpus) in (0..).zip(&machine.domain_cpus) {
            for (at, cpu) in cpus.iter().enumerate() {
                if at == 0 || machine.policy_per_cpu[domain as usize] {
                    platform_domain.push(domain);
                }
                of_cpu[cpu.index()] = platform_domain.len() as u32 - 1;
            }
        }
        Self {
            of_cpu,
            platform_domain,
        }
    }

    /// The kernel's domains of one of the platform's.
    pub(super) fn kernels(&self, domain: u32) -> impl Iterator<Item = u32> + '_ {
        let numbered = (0..).zip(&self.platform_domain);
        numbered.filter_map(move |(own, of)| (*of == domain).then_some(own))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: a change of frequency is made by schedutil's thread where the platform says that it
    /// takes one. HiKey960's takes 20,000 ns on its biggest CPU (platforms/hikey960.toml); on a
    /// little one, of capacity 462, 20,000 x 1024 / 462 = 44,329.
    #[test]
    fn frequencies_change_as_the_platform_says() {
        let mut platform = Platform::load("hikey960").expect("built in");
        let domains = |platform: &Platform, options: &Options| {
            let machine = Machine::new(platform, options, None);
            [0, 1].map(|domain| {
                let domain = frequency_domain(platform, &machine, options, domain);
                (domain.fast_switch, domain.switch_ns)
            })
        };
        let own = Options::default();
        assert_eq!(domains(&platform, &own), [(false, 44_329), (false, 20_000)]);
        let without = Options {
            housekeeping: false,
            ..Options::default()
        };
        assert_eq!(domains(&platform, &without), [(true, 0); 2]);
        let stated = platform.housekeeping.as_mut().expect("stated");
        stated.wall = true;
        assert_eq!(domains(&platform, &own), [(false, 20_000); 2]);
        platform.housekeeping = None;
        assert_eq!(domains(&platform, &own), [(true, 0); 2]);
    }
}
