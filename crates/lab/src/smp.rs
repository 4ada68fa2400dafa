//! An x86-64 platform's topology as the emulator's `-smp`: packages, cores and threads. What shares
//! the last-level cache becomes a package of its own where a package has several such caches: dies
//! are emulated only for CPUs that the kernel takes for Intel's, and there QEMU 10.0 stops when
//! Linux 7.3 asks for leaf 0x1f. The scheduler's domains are the same: its level above the caches
//! is the NUMA node (arch/x86/kernel/smpboot.c, `build_sched_topology`), and the nodes are the
//! platform's.
//!
//! What must stay: the kernel's sched domains in a guest are those of the platform; what cannot be
//! expressed is refused. Free: how the tree is counted.
//!
//! Tests by part: `packages_caches_cores_and_threads_are_counted` (`of`, `tree`),
//! `the_generic_machine_is_flat` (`of`), `what_the_emulator_cannot_express_is_refused` (`of`:
//! errors), `without_a_shared_cache_there_is_no_l3` (`shared_cache`). `nodes` has no test of its
//! own.
//!
//! Callers: guest.rs (the command line), machine.rs (numbers of CPUs). The page is
//! docs/guide/lab.md.
//!
//! Tests: below

use crate::LabError;
use crate::machine::Machine;
use std::collections::{BTreeMap, BTreeSet};
use wakeplace_platform::{CpuId, Platform};

/// What the emulator is told, and how its CPUs are numbered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Smp {
    /// Arguments of `-smp`.
    pub(crate) smp: String,
    /// CPUs of a die share a cache.
    pub(crate) l3_cache: bool,
    /// A package of the platform is several packages of the guest.
    pub(crate) split: bool,
    /// NUMA nodes, each with its CPUs in the guest's numbers; one node = empty.
    pub(crate) nodes: Vec<Vec<u32>>,
    /// The guest's number of each CPU of the platform. The kernel numbers threads of a core one
    /// after the other here, other machines number them apart.
    pub(crate) guest_cpu: Vec<u32>,
}

/// CPUs by package, cache, core.
type Tree = BTreeMap<u32, BTreeMap<usize, BTreeMap<u32, Vec<CpuId>>>>;

impl Smp {
    /// The topology of a machine.
    ///
    /// # Errors
    /// When the emulator cannot express it: it knows only equal packages of equal cores.
    pub(crate) fn of(machine: &Machine) -> Result<Self, LabError> {
        let Some(platform) = &machine.platform else {
            return Ok(Self {
                smp: format!("cpus={0},sockets=1,cores={0},threads=1", machine.cpus),
                l3_cache: true,
                split: false,
                nodes: Vec::new(),
                guest_cpu: (0..machine.cpus).collect(),
            });
        };
        let refuse = |why: String| LabError::Platform {
            platform: platform.name.clone(),
            why: format!("{why}; the emulator knows only equal packages of equal cores"),
        };
        if let Some(cpu) = platform.cpus.iter().find(|cpu| cpu.capacity != 1024) {
            return Err(refuse(format!(
                "a CPU of capacity {}: x86-64 guests have equal CPUs",
                cpu.capacity
            )));
        }
        let cached = shared_cache(platform);
        let tree = tree(platform, cached.as_deref());
        let equal = |sizes: Vec<usize>, what: &str| match sizes.iter().find(|s| **s != sizes[0]) {
            Some(other) => Err(refuse(format!("{what}: {} and {other}", sizes[0]))),
            None => Ok(sizes[0]),
        };
        let caches = || tree.values().flat_map(BTreeMap::values);
        let cores = equal(caches().map(BTreeMap::len).collect(), "cores at a cache")?;
        let threads = caches().flat_map(BTreeMap::values).map(Vec::len).collect();
        let threads = equal(threads, "threads of a core")?;
        let order: Vec<CpuId> = caches()
            .flat_map(BTreeMap::values)
            .flatten()
            .copied()
            .collect();
        let mut guest_cpu = vec![0; order.len()];
        for (number, cpu) in (0..).zip(&order) {
            guest_cpu[cpu.index()] = number;
        }
        let keys = tree.values().flat_map(BTreeMap::keys);
        if cached.is_some() && keys.clone().count() != keys.collect::<BTreeSet<_>>().len() {
            return Err(refuse("a cache shared by several packages".to_owned()));
        }
        let (total, sockets) = (order.len(), caches().count());
        Ok(Self {
            smp: format!("cpus={total},sockets={sockets},cores={cores},threads={threads}"),
            split: sockets > tree.len(),
            l3_cache: cached.is_some(),
            nodes: nodes(platform, &guest_cpu),
            guest_cpu,
        })
    }
}

/// The groups of the highest level at which several cores share a cache. None: there is no such
/// level.
fn shared_cache(platform: &Platform) -> Option<Vec<Vec<CpuId>>> {
    let level = platform
        .topology
        .iter()
        .rfind(|level| level.shares_cache && !level.shares_capacity);
    level.map(|level| level.groups.clone())
}

/// Packages, caches, cores and threads as a tree.
fn tree(platform: &Platform, cached: Option<&[Vec<CpuId>]>) -> Tree {
    let mut tree = Tree::new();
    for (number, cpu) in (0..).map(CpuId).zip(&platform.cpus) {
        let at = |groups: &[Vec<CpuId>]| groups.iter().position(|group| group.contains(&number));
        let cache = cached.and_then(at).unwrap_or(0);
        let package = tree.entry(cpu.package).or_default();
        package
            .entry(cache)
            .or_default()
            .entry(cpu.core)
            .or_default()
            .push(number);
    }
    tree
}

/// The CPUs of each NUMA node, in the guest's numbers.
fn nodes(platform: &Platform, guest_cpu: &[u32]) -> Vec<Vec<u32>> {
    let mut nodes: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (cpu, number) in platform.cpus.iter().zip(guest_cpu) {
        nodes.entry(cpu.node).or_default().push(*number);
    }
    if nodes.len() < 2 {
        return Vec::new();
    }
    nodes.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakeplace_platform::{Cluster, Cpu, TopologyLevel};

    /// `packages` of `caches` of `cores` of `threads`, threads numbered apart as on real machines.
    fn machine(packages: u32, caches: u32, cores: u32, threads: u32) -> Machine {
        let mut platform = Platform::builtin("hikey960").expect("built in");
        let all = packages * caches * cores;
        let core_of = |cpu: u32| cpu % all;
        let count = all * threads;
        platform.arch = "x86_64".to_owned();
        platform.cpus = (0..count)
            .map(|cpu| Cpu {
                kind: "core".to_owned(),
                capacity: 1024,
                speed: 1024,
                core: core_of(cpu),
                cluster: core_of(cpu) / cores,
                package: core_of(cpu) / (cores * caches),
                node: core_of(cpu) / (cores * caches),
                priority: 0,
            })
            .collect();
        let group = |of: &dyn Fn(u32) -> u32, number: u32| {
            (0..count)
                .filter(|cpu| of(*cpu) == number)
                .map(CpuId)
                .collect::<Vec<_>>()
        };
        let by_cache = |number| group(&|cpu| core_of(cpu) / cores, number);
        platform.clusters = (0..packages * caches)
            .map(|number| Cluster {
                name: number.to_string(),
                cpus: by_cache(number),
            })
            .collect();
        platform.topology = vec![TopologyLevel {
            name: "MC".to_owned(),
            shares_cache: true,
            shares_capacity: false,
            cluster: false,
            asym_packing: false,
            groups: (0..packages * caches).map(by_cache).collect(),
        }];
        Machine {
            name: "test".to_owned(),
            cpus: count,
            platform: Some(platform),
            remarks: Vec::new(),
        }
    }

    #[test]
    fn packages_caches_cores_and_threads_are_counted() {
        let smp = Smp::of(&machine(2, 2, 2, 2)).expect("regular");
        // Four caches in two packages and nodes.
        assert_eq!(smp.smp, "cpus=16,sockets=4,cores=2,threads=2");
        assert!(smp.split);
        assert!(smp.l3_cache);
        // Platform CPUs 0 and 8 are threads of core 0: 0 and 1 in the guest.
        assert_eq!((smp.guest_cpu[0], smp.guest_cpu[8]), (0, 1));
        assert_eq!((smp.guest_cpu[1], smp.guest_cpu[7]), (2, 14));
        assert_eq!(smp.nodes.len(), 2);
        assert_eq!(smp.nodes[1].iter().min(), Some(&8));
    }

    #[test]
    fn the_generic_machine_is_flat() {
        let generic = Machine::load("generic", crate::Arch::X86_64, Some(3)).expect("plain");
        let smp = Smp::of(&generic).expect("plain");
        assert_eq!(smp.smp, "cpus=3,sockets=1,cores=3,threads=1");
        assert_eq!(smp.guest_cpu, [0, 1, 2]);
    }

    #[test]
    fn what_the_emulator_cannot_express_is_refused() {
        let mut uneven = machine(1, 2, 2, 2);
        let platform = uneven.platform.as_mut().expect("a platform");
        platform.topology[0].groups = vec![
            vec![CpuId(0), CpuId(4)],
            (1..8).filter(|n| *n != 4).map(CpuId).collect(),
        ];
        let error = Smp::of(&uneven).expect_err("refused");
        assert!(
            error.to_string().contains("cores at a cache: 1 and 3"),
            "{error}"
        );
        let mut shared = machine(2, 1, 2, 1);
        let platform = shared.platform.as_mut().expect("a platform");
        platform.topology[0].groups = vec![(0..4).map(CpuId).collect()];
        let error = Smp::of(&shared).expect_err("refused");
        assert!(
            error.to_string().contains("shared by several packages"),
            "{error}"
        );
        let mut hybrid = machine(1, 1, 4, 1);
        hybrid.platform.as_mut().expect("a platform").cpus[3].capacity = 600;
        let error = Smp::of(&hybrid).expect_err("refused");
        assert!(
            error.to_string().contains("a CPU of capacity 600"),
            "{error}"
        );
    }

    #[test]
    fn without_a_shared_cache_there_is_no_l3() {
        let mut machine = machine(1, 1, 4, 1);
        machine.platform.as_mut().expect("a platform").topology[0].shares_cache = false;
        let smp = Smp::of(&machine).expect("regular");
        assert!(!smp.l3_cache);
        assert_eq!(smp.smp, "cpus=4,sockets=1,cores=4,threads=1");
    }
}
