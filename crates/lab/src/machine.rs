//! The machine of a guest: a platform, or a plain machine of equal CPUs; cut to size where asked
//! (docs/guide/lab.md).
//!
//! What must stay: a guest's CPUs are numbered as the platform numbers those that are left;
//! `platform_cpus` and `guest_cpus` are each other's reverse. Free: words of refusals.
//!
//! Tests by part: `a_platform_of_another_architecture_is_refused` (`load`),
//! `a_guests_cpus_are_those_of_the_platform` (`platform_cpus`, `of`),
//! `too_many_cpus_are_refused_with_the_way_out` (`check_size`), `a_cut_keeps_whole_clusters_first`,
//! `a_cut_through_a_cluster_keeps_whole_cores` (`cut`),
//! `what_is_left_of_a_cut_is_relative_to_its_biggest_cpu` (`renumbered`),
//! workload.rs::`affinity_is_in_the_guests_numbers` (`guest_cpus`). `capacities` has no test of its
//! own.
//!
//! Callers: run.rs and crates/cli/src/commands/lab.rs (`load`), workload.rs (`guest_cpus`),
//! crates/price (`platform_cpus`).
//!
//! Tests: below

use crate::smp::Smp;
use crate::{Arch, LabError};
use wakeplace_platform::{CpuId, Platform};

/// Most CPUs of a guest. All of them are emulated by a few host CPUs: with more, boot takes minutes
/// and nothing that depends on time means anything.
pub const MAX_CPUS: u32 = 16;
/// The machine that needs no platform: equal CPUs that share a cache, one frequency.
pub const GENERIC: &str = "generic";
/// CPUs of that machine if nobody says how many.
const GENERIC_CPUS: u32 = 4;

/// What is to be emulated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// The platform's name.
    pub name: String,
    /// CPUs of the guest.
    pub cpus: u32,
    /// The modelled platform; none for the generic machine.
    pub platform: Option<Platform>,
    /// What the user should know of the model.
    pub remarks: Vec<String>,
}

impl Machine {
    /// Per CPU of the guest: its capacity. Those of the generic machine are alike.
    #[must_use]
    pub fn capacities(&self) -> Vec<u32> {
        match &self.platform {
            Some(platform) => platform.capacities(),
            None => vec![1024; self.cpus as usize],
        }
    }

    /// Per CPU of the platform: its number in a guest.
    pub(crate) fn guest_cpus(&self, arch: Arch) -> Result<Vec<u32>, LabError> {
        Ok(match arch {
            Arch::X86_64 => Smp::of(self)?.guest_cpu,
            // The device tree numbers CPUs as the platform does.
            Arch::Arm64 => (0..self.cpus).collect(),
        })
    }

    /// Per CPU of a guest: its number on the platform.
    ///
    /// # Errors
    /// When the emulator cannot have such a machine.
    pub fn platform_cpus(&self, arch: Arch) -> Result<Vec<u32>, LabError> {
        let mut pairs: Vec<(u32, u32)> = self.guest_cpus(arch)?.into_iter().zip(0..).collect();
        pairs.sort_unstable();
        Ok(pairs
            .into_iter()
            .map(|(_, of_platform)| of_platform)
            .collect())
    }

    /// Loads `name` for guests of `arch`, cut to `cpus` if that is given.
    ///
    /// # Errors
    /// When there is no such platform, it is of another architecture, or it does not fit.
    pub fn load(name: &str, arch: Arch, cpus: Option<u32>) -> Result<Self, LabError> {
        if name == GENERIC {
            let cpus = cpus.unwrap_or(GENERIC_CPUS);
            check_size(name, cpus, false)?;
            return Ok(Self {
                name: name.to_owned(),
                cpus,
                platform: None,
                remarks: Vec::new(),
            });
        }
        let platform =
            Platform::load(name).map_err(|error| LabError::Request(error.to_string()))?;
        Self::of(platform, arch, cpus)
    }

    /// The machine of a platform that is loaded already.
    fn of(platform: Platform, arch: Arch, cpus: Option<u32>) -> Result<Self, LabError> {
        let refuse = |why: String| LabError::Platform {
            platform: platform.name.clone(),
            why,
        };
        let mut remarks = Vec::new();
        match (platform.arch.as_str(), arch) {
            (own, arch) if own == arch.name() => {}
            // The guest's kernel is a 64-bit one; capacities and operating points are the same.
            ("arm", Arch::Arm64) => {
                remarks.push("a 32-bit board, modelled in an arm64 guest".to_owned());
            }
            (own, arch) => {
                let why = format!("it is {own}, the guest {arch}; expected `--arch {own}`");
                return Err(refuse(why));
            }
        }
        let all = u32::try_from(platform.cpus.len()).unwrap_or(u32::MAX);
        let cpus = cpus.unwrap_or(all);
        if cpus > all {
            return Err(refuse(format!(
                "it has {all} CPUs, `--cpus {cpus}` asks for more"
            )));
        }
        check_size(&platform.name, cpus, true)?;
        let name = platform.name.clone();
        if platform.tick_hz != 250 {
            let hz = platform.tick_hz;
            remarks.push(format!(
                "Debian's kernel ticks at 250 Hz, the platform's at {hz} Hz"
            ));
        }
        let platform = if cpus < all {
            remarks.push(format!("cut from {all} to {cpus} CPUs"));
            cut(&platform, cpus as usize)
        } else {
            platform
        };
        Ok(Self {
            name,
            cpus,
            platform: Some(platform),
            remarks,
        })
    }
}

/// The machine is not larger than the emulator takes.
fn check_size(name: &str, cpus: u32, can_cut: bool) -> Result<(), LabError> {
    if (1..=MAX_CPUS).contains(&cpus) {
        return Ok(());
    }
    let hint = match can_cut {
        true => format!("; `--cpus {MAX_CPUS}` cuts it down"),
        false => String::new(),
    };
    Err(LabError::Platform {
        platform: name.to_owned(),
        why: format!(
            "{cpus} CPUs; a guest has 1 to {MAX_CPUS}, since all share a few host CPUs{hint}"
        ),
    })
}

/// The first `count` CPUs in the order of clusters, then cores, then threads: whole clusters stay
/// first, then whole cores. They are numbered anew, capacities again relative to the biggest.
fn cut(platform: &Platform, count: usize) -> Platform {
    let mut order: Vec<CpuId> = Vec::new();
    for cluster in &platform.clusters {
        let mut cores: Vec<(u32, Vec<CpuId>)> = Vec::new();
        for cpu in &cluster.cpus {
            let core = platform.cpus[cpu.index()].core;
            match cores.iter_mut().find(|(other, _)| *other == core) {
                Some((_, threads)) => threads.push(*cpu),
                None => cores.push((core, vec![*cpu])),
            }
        }
        order.extend(cores.into_iter().flat_map(|(_, threads)| threads));
    }
    order.truncate(count);
    order.sort_unstable();
    renumbered(platform, &order)
}

/// A platform with these CPUs only.
fn renumbered(platform: &Platform, kept: &[CpuId]) -> Platform {
    let new = |cpu: &CpuId| {
        let at = kept.binary_search(cpu).ok()?;
        Some(CpuId(u32::try_from(at).unwrap_or(u32::MAX)))
    };
    let map = |cpus: &[CpuId]| cpus.iter().filter_map(new).collect::<Vec<_>>();
    let most = |figure: fn(&wakeplace_platform::Cpu) -> u32| {
        let figures = kept.iter().map(|cpu| figure(&platform.cpus[cpu.index()]));
        figures.max().unwrap_or(1024).max(1)
    };
    let (biggest, fastest) = (most(|cpu| cpu.capacity), most(|cpu| cpu.speed));
    let mut cut = platform.clone();
    cut.cpus = kept
        .iter()
        .map(|cpu| platform.cpus[cpu.index()].clone())
        .collect();
    let mut clusters = Vec::new();
    for (old, cluster) in platform.clusters.iter().enumerate() {
        let cpus = map(&cluster.cpus);
        if cpus.is_empty() {
            continue;
        }
        for cpu in &cpus {
            debug_assert_eq!(cut.cpus[cpu.index()].cluster as usize, old);
            cut.cpus[cpu.index()].cluster = u32::try_from(clusters.len()).unwrap_or(u32::MAX);
        }
        clusters.push(wakeplace_platform::Cluster {
            name: cluster.name.clone(),
            cpus,
        });
    }
    cut.clusters = clusters;
    for cpu in &mut cut.cpus {
        cpu.capacity = (cpu.capacity * 1024 / biggest).max(1);
        cpu.speed = (cpu.speed * 1024 / fastest).max(1);
    }
    for domain in &mut cut.freq_domains {
        domain.cpus = map(&domain.cpus);
    }
    cut.freq_domains.retain(|domain| !domain.cpus.is_empty());
    for state in &mut cut.idle_states {
        state.cpus = map(&state.cpus);
    }
    cut.idle_states.retain(|state| !state.cpus.is_empty());
    for level in &mut cut.topology {
        level.groups = level.groups.iter().map(|group| map(group)).collect();
        level.groups.retain(|group| !group.is_empty());
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_platform_of_another_architecture_is_refused() {
        let error = Machine::load("hikey960", Arch::X86_64, None).expect_err("refused");
        assert_eq!(
            error.to_string(),
            "platform hikey960: it is arm64, the guest x86_64; expected `--arch arm64`"
        );
        assert!(Machine::load("hikey960", Arch::Arm64, None).is_ok());
        let tc2 = Machine::load("tc2", Arch::Arm64, None).expect("a 32-bit board");
        assert_eq!(tc2.remarks.len(), 1);
    }

    /// Goal: threads of a core, which Linux numbers apart on a board, are neighbours in a guest.
    /// Method: snb-laptop has CPUs n and n + 4 on core n.
    #[test]
    fn a_guests_cpus_are_those_of_the_platform() {
        let of = |name, arch| {
            let machine = Machine::load(name, arch, None).expect("built in");
            machine.platform_cpus(arch).expect("a topology")
        };
        assert_eq!(of("snb-laptop", Arch::X86_64), [0, 4, 1, 5, 2, 6, 3, 7]);
        assert_eq!(of("juno-r0", Arch::Arm64), [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn too_many_cpus_are_refused_with_the_way_out() {
        let error = Machine::load(GENERIC, Arch::X86_64, Some(17)).expect_err("refused");
        assert!(error.to_string().contains("1 to 16"), "{error}");
        let mut big = Platform::builtin("hikey960").expect("built in");
        let cpu = big.cpus[7].clone();
        big.cpus.resize(17, cpu);
        let error = Machine::of(big, Arch::Arm64, None).expect_err("refused");
        assert!(
            error.to_string().contains("`--cpus 16` cuts it down"),
            "{error}"
        );
        assert!(Machine::load("hikey960", Arch::Arm64, Some(9)).is_err());
        assert!(Machine::load("hikey960", Arch::Arm64, Some(0)).is_err());
    }

    #[test]
    fn a_cut_keeps_whole_clusters_first() {
        // hikey960: little 0-3 (462), big 4-7 (1024).
        let machine = Machine::load("hikey960", Arch::Arm64, Some(6)).expect("cut");
        let platform = machine.platform.expect("a platform");
        let sizes: Vec<_> = platform.clusters.iter().map(|c| c.cpus.len()).collect();
        assert_eq!(sizes, [4, 2]);
        let capacities: Vec<_> = platform.cpus.iter().map(|c| c.capacity).collect();
        assert_eq!(capacities, [462, 462, 462, 462, 1024, 1024]);
        assert_eq!(platform.freq_domains[1].cpus, [CpuId(4), CpuId(5)]);
        assert_eq!(platform.topology[0].groups[1], [CpuId(4), CpuId(5)]);
        assert_eq!(platform.topology[1].groups[0].len(), 6);
    }

    #[test]
    fn what_is_left_of_a_cut_is_relative_to_its_biggest_cpu() {
        let machine = Machine::load("hikey960", Arch::Arm64, Some(4)).expect("cut");
        let platform = machine.platform.expect("a platform");
        assert!(
            platform
                .cpus
                .iter()
                .all(|cpu| cpu.capacity == 1024 && cpu.cluster == 0)
        );
        assert_eq!(platform.freq_domains.len(), 1);
    }

    #[test]
    fn a_cut_through_a_cluster_keeps_whole_cores() {
        // One cluster of four cores with two threads each: CPU n and n + 4 are siblings.
        let mut platform = Platform::builtin("hikey960").expect("built in");
        for (n, cpu) in platform.cpus.iter_mut().enumerate() {
            cpu.core = u32::try_from(n % 4).expect("small");
            cpu.cluster = 0;
        }
        platform.clusters.truncate(1);
        platform.clusters[0].cpus = (0..8).map(CpuId).collect();
        let cut = cut(&platform, 4);
        let cores: Vec<_> = cut.cpus.iter().map(|cpu| cpu.core).collect();
        assert_eq!(cores, [0, 1, 0, 1]);
    }
}
