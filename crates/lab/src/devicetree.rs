//! The device tree of an arm64 guest: the emulator's own, with the platform's clusters, capacities,
//! operating points, power and caches put in.
//!
//! Bindings: Linux 7.3.4 Documentation/devicetree/bindings, cpu/cpu-topology.txt,
//! cpu/cpu-capacity.txt, opp/opp-v2.yaml, cache/*. The kernel makes its energy model of
//! `opp-microwatt` (drivers/opp/of.c `_get_dt_power`), so that it equals the platform's table to
//! the microwatt; a platform's unit that is not the microwatt goes in as if it were one, since only
//! ratios count. Voltages and `dynamic-power-coefficient` are left out: they would only be a second
//! way to say the same.
//!
//! What must stay: capacities and powers that a guest's kernel computes equal the platform's file.
//! Free: names of nodes that the kernel does not look for.
//!
//! Tests by part: `hikey960_has_the_values_of_its_own_device_tree` (`edit`, `Clocked`, `new`),
//! `the_map_has_the_clusters_of_the_platform`, `packages_are_sockets` (`cpu_map`, `cache_groups`),
//! `the_kernels_formula_gives_every_platforms_capacities` (`capacities_per_mhz`, `top_khz`),
//! `an_import_of_the_tree_has_the_platforms_figures` (`edit`, read back),
//! `power_that_the_kernel_refuses_is_refused_here` (`power_uw`).
//!
//! Callers: guest.rs (`device_tree`). The page is docs/guide/lab.md.
//!
//! Tests: below

use crate::LabError;
use std::collections::BTreeMap;
use wakeplace_platform::fdt::{Node, Tree};
use wakeplace_platform::{CpuId, FreqDomain, Platform};

/// Largest power that the kernel's energy model takes, microwatts (linux/energy_model.h,
/// `EM_MAX_POWER` on 64-bit machines).
const MAX_POWER_UW: u64 = 64_000_000;
/// Values of `capacity-dmips-mhz` are looked for from this one for the biggest CPU on, which is
/// what device trees of boards have.
const BIGGEST_DMIPS: u64 = 1024;

/// Puts `platform` into the emulator's tree.
///
/// # Errors
/// When the tree is not the emulator's, or the platform cannot be said in bindings.
pub(crate) fn edit(tree: &mut Tree, platform: &Platform) -> Result<(), LabError> {
    let mut free = tree.free_phandle();
    let mut handle = || {
        free += 1;
        free - 1
    };
    let per_mhz = capacities_per_mhz(platform)?;
    let mut tables = Vec::new();
    for (number, domain) in platform.freq_domains.iter().enumerate() {
        tables.push(Clocked::new(platform, domain, number, handle(), handle())?);
    }
    let caches = cache_groups(platform);
    let caches: Vec<_> = caches.into_iter().map(|group| (group, handle())).collect();
    let strange = || LabError::damaged("device tree", "not that of the emulator's `virt` machine");
    let cpus = tree.root.child_mut("cpus").ok_or_else(strange)?;
    cpus.children.retain(|child| child.name != "cpu-map");
    let mut handles = Vec::new();
    for number in 0..platform.cpus.len() {
        let node = cpus
            .child_mut(&format!("cpu@{number:x}"))
            .ok_or_else(strange)?;
        let id = CpuId(u32::try_from(number).unwrap_or(u32::MAX));
        let domain = platform.freq_domain_of(id);
        node.set_u32("capacity-dmips-mhz", &[per_mhz[domain]]);
        node.set_u32("clocks", &[tables[domain].clock_handle]);
        node.set_u32("operating-points-v2", &[tables[domain].table_handle]);
        if let Some((_, cache)) = caches.iter().find(|(group, _)| group.contains(&id)) {
            node.set_u32("next-level-cache", &[*cache]);
        }
        let own = match node.u32("phandle") {
            Some(own) => own,
            None => {
                let own = handle();
                node.set_u32("phandle", &[own]);
                own
            }
        };
        handles.push(own);
    }
    cpus.children.push(cpu_map(platform, &handles));
    for (number, (_, cache)) in caches.iter().enumerate() {
        let mut node = Node::new(format!("l2-cache{number}"));
        node.set_text("compatible", "cache");
        node.set_u32("cache-level", &[2]);
        node.set_flag("cache-unified");
        node.set_u32("phandle", &[*cache]);
        cpus.children.push(node);
    }
    for clocked in tables {
        tree.root.children.extend([clocked.clock, clocked.table]);
    }
    Ok(())
}

/// The groups that share a cache at the lowest level at which more than one core does.
fn cache_groups(platform: &Platform) -> Vec<Vec<CpuId>> {
    let level = platform
        .topology
        .iter()
        .find(|level| level.shares_cache && !level.shares_capacity);
    level.map(|level| level.groups.clone()).unwrap_or_default()
}

/// Clusters right below `cpu-map` where there is one package, in `socket` nodes else; a core of
/// several CPUs has `thread` nodes.
fn cpu_map(platform: &Platform, handles: &[u32]) -> Node {
    type Cores = BTreeMap<u32, Vec<usize>>;
    let mut packages: BTreeMap<u32, BTreeMap<u32, Cores>> = BTreeMap::new();
    for (number, cpu) in platform.cpus.iter().enumerate() {
        let clusters = packages.entry(cpu.package).or_default();
        clusters
            .entry(cpu.cluster)
            .or_default()
            .entry(cpu.core)
            .or_default()
            .push(number);
    }
    let one = packages.len() == 1;
    let mut map = Node::new("cpu-map");
    for (at, clusters) in packages.values().enumerate() {
        let mut socket = Node::new(format!("socket{at}"));
        for (at, cores) in clusters.values().enumerate() {
            let mut cluster = Node::new(format!("cluster{at}"));
            for (at, threads) in cores.values().enumerate() {
                let mut core = Node::new(format!("core{at}"));
                match threads[..] {
                    [cpu] => core.set_u32("cpu", &[handles[cpu]]),
                    _ => core
                        .children
                        .extend(threads.iter().enumerate().map(|(at, cpu)| {
                            let mut thread = Node::new(format!("thread{at}"));
                            thread.set_u32("cpu", &[handles[*cpu]]);
                            thread
                        })),
                }
                cluster.children.push(core);
            }
            socket.children.push(cluster);
        }
        match one {
            true => map.children = std::mem::take(&mut socket.children),
            false => map.children.push(socket),
        }
    }
    map
}

/// A frequency domain as a clock and its operating points.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Clocked {
    clock_handle: u32,
    table_handle: u32,
    clock: Node,
    table: Node,
}

impl Clocked {
    /// The nodes of one clock, with operating points that the kernel takes.
    fn new(
        platform: &Platform,
        domain: &FreqDomain,
        number: usize,
        clock_handle: u32,
        table_handle: u32,
    ) -> Result<Self, LabError> {
        let mut clock = Node::new(format!("cpu-clock{number}"));
        clock.set_text("compatible", "fixed-clock");
        clock.set_u32("#clock-cells", &[0]);
        let hz = u64::from(top_khz(domain)) * 1000;
        let hz = u32::try_from(hz).map_err(|_| LabError::Platform {
            platform: platform.name.clone(),
            why: format!(
                "{hz} Hz: a clock of a device tree has at most {} Hz",
                u32::MAX
            ),
        })?;
        clock.set_u32("clock-frequency", &[hz]);
        clock.set_u32("phandle", &[clock_handle]);
        let mut table = Node::new(format!("opp-table{number}"));
        table.set_text("compatible", "operating-points-v2");
        table.set_flag("opp-shared");
        table.set_u32("phandle", &[table_handle]);
        let latency = u32::try_from(domain.transition_latency_ns).unwrap_or(u32::MAX);
        for opp in &domain.opps {
            let hz = u64::from(opp.khz) * 1000;
            let mut node = Node::new(format!("opp-{hz}"));
            node.set_u64("opp-hz", hz);
            node.set_u32("clock-latency-ns", &[latency]);
            if let Some(mv) = opp.mv {
                node.set_u32("opp-microvolt", &[mv.saturating_mul(1000)]);
            }
            if let Some(power) = opp.power_in_model().filter(|_| platform.has_energy_model) {
                node.set_u32("opp-microwatt", &[power_uw(platform, opp.khz, power)?]);
            }
            table.children.push(node);
        }
        Ok(Self {
            clock_handle,
            table_handle,
            clock,
            table,
        })
    }
}

/// The kernel's model takes up to `MAX_POWER_UW`; others are refused with the clock at fault.
fn power_uw(platform: &Platform, khz: u32, power: u64) -> Result<u32, LabError> {
    let fits = Some(power).filter(|power| (1..=MAX_POWER_UW).contains(power));
    fits.and_then(|power| u32::try_from(power).ok())
        .ok_or_else(|| LabError::Platform {
            platform: platform.name.clone(),
            why: format!(
                "power {power} at {khz} kHz: the kernel's energy model takes 1 to {MAX_POWER_UW} uW"
            ),
        })
}

/// The highest operating point, kHz.
fn top_khz(domain: &FreqDomain) -> u32 {
    domain.opps.last().map_or(0, |opp| opp.khz)
}

/// `capacity-dmips-mhz` of each frequency domain, such that the kernel arrives at the platform's
/// capacities. It computes `value * top frequency`, scales the largest product to 1024 and cuts off
/// the fraction (drivers/base/arch_topology.c, `topology_normalize_cpu_scale`).
fn capacities_per_mhz(platform: &Platform) -> Result<Vec<u32>, LabError> {
    let capacity = |domain: &FreqDomain| {
        let cpu = domain.cpus.first().map_or(0, |cpu| cpu.index());
        u64::from(platform.cpus[cpu].capacity)
    };
    let biggest = platform
        .freq_domains
        .iter()
        .find(|domain| capacity(domain) == 1024);
    let top = u64::from(biggest.map_or(0, top_khz));
    let solve = |dmips: u64| {
        let largest = dmips * top;
        let one = |domain: &FreqDomain| {
            let (wanted, khz) = (capacity(domain), u64::from(top_khz(domain)));
            // The smallest value that does not fall below the capacity.
            let value = (wanted * largest).div_ceil(1024 * khz.max(1));
            let exact = value * khz <= largest && value * khz * 1024 / largest.max(1) == wanted;
            exact.then_some(u32::try_from(value).ok()?)
        };
        platform
            .freq_domains
            .iter()
            .map(one)
            .collect::<Option<Vec<u32>>>()
    };
    let found = (BIGGEST_DMIPS..BIGGEST_DMIPS * 64).find_map(solve);
    found.ok_or_else(|| LabError::Platform {
        platform: platform.name.clone(),
        why: "its capacities cannot be said as capacity-dmips-mhz".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The emulator's tree for `count` CPUs, as far as it is edited.
    fn virt(count: usize) -> Tree {
        let mut root = Node::new("");
        root.set_text("compatible", "linux,dummy-virt");
        let mut map = Node::new("cpu-map");
        map.children.push(Node::new("socket0"));
        let mut cpus = Node::new("cpus");
        cpus.children.push(map);
        root.children.push(cpus);
        let mut tree = Tree::new(root);
        let cpus = tree.root.child_mut("cpus").expect("cpus");
        for number in 0..count {
            let mut cpu = Node::new(format!("cpu@{number:x}"));
            cpu.set_u32("phandle", &[0x8000 + u32::try_from(number).expect("small")]);
            cpus.children.push(cpu);
        }
        tree
    }

    fn edited(name: &str) -> (Platform, Tree) {
        let platform = Platform::builtin(name).expect("built in");
        let mut tree = virt(platform.cpus.len());
        edit(&mut tree, &platform).expect("edited");
        (platform, tree)
    }

    fn below<'a>(node: &'a Node, name: &str) -> &'a Node {
        let child = node.children.iter().find(|child| child.name == name);
        child.unwrap_or_else(|| panic!("no {name} in {}", node.name))
    }

    #[test]
    fn hikey960_has_the_values_of_its_own_device_tree() {
        // Linux hi3660.dtsi: capacity-dmips-mhz 592 and 1024; top frequencies 1844 and 2362 MHz.
        let (_, tree) = edited("hikey960");
        let cpus = below(&tree.root, "cpus");
        let dmips = |cpu: &str| below(cpus, cpu).u32("capacity-dmips-mhz");
        assert_eq!((dmips("cpu@0"), dmips("cpu@7")), (Some(592), Some(1024)));
        let clock = below(&tree.root, "cpu-clock1");
        assert_eq!(clock.u32("clock-frequency"), Some(2_362_000_000));
        assert_eq!(below(cpus, "cpu@4").u32("clocks"), clock.u32("phandle"));
        let table = below(&tree.root, "opp-table0");
        assert_eq!(
            below(cpus, "cpu@3").u32("operating-points-v2"),
            table.u32("phandle")
        );
        // 110 * 700^2 * 533 / 10^6 microwatts, by the kernel's formula: 28728.
        let opp = below(table, "opp-533000000");
        assert_eq!(opp.u32("opp-microwatt"), Some(28_728));
        assert_eq!(opp.u32("clock-latency-ns"), Some(300_000));
        assert_eq!(opp.prop("opp-hz"), Some(&533_000_000_u64.to_be_bytes()[..]));
    }

    #[test]
    fn the_map_has_the_clusters_of_the_platform() {
        let (_, tree) = edited("juno-r0");
        let map = below(below(&tree.root, "cpus"), "cpu-map");
        assert_eq!(map.children.len(), 2);
        let cpus_of = |cluster: &str| -> Vec<_> {
            below(map, cluster)
                .children
                .iter()
                .map(|core| core.u32("cpu"))
                .collect()
        };
        // LISA's numbers: 0 and 3 to 5 are the little ones.
        assert_eq!(
            cpus_of("cluster0"),
            [0x8000, 0x8003, 0x8004, 0x8005].map(Some)
        );
        assert_eq!(cpus_of("cluster1"), [0x8001, 0x8002].map(Some));
        let cpus = below(&tree.root, "cpus");
        let cache = |cpu: &str| below(cpus, cpu).u32("next-level-cache");
        assert_eq!(cache("cpu@0"), cache("cpu@5"));
        assert_ne!(cache("cpu@0"), cache("cpu@1"));
    }

    #[test]
    fn packages_are_sockets() {
        let (_, tree) = edited("tc2");
        let map = below(below(&tree.root, "cpus"), "cpu-map");
        assert_eq!(below(below(map, "socket0"), "cluster0").children.len(), 2);
        assert_eq!(below(below(map, "socket1"), "cluster0").children.len(), 3);
    }

    #[test]
    fn the_kernels_formula_gives_every_platforms_capacities() {
        for name in wakeplace_platform::builtin_names() {
            let platform = Platform::builtin(name).expect("built in");
            let per_mhz = capacities_per_mhz(&platform).expect("values");
            let product =
                |at: usize| u64::from(per_mhz[at]) * u64::from(top_khz(&platform.freq_domains[at]));
            let largest = (0..per_mhz.len()).map(product).max().expect("a domain");
            for (at, domain) in platform.freq_domains.iter().enumerate() {
                let capacity = platform.cpus[domain.cpus[0].index()].capacity;
                assert_eq!(
                    product(at) * 1024 / largest,
                    u64::from(capacity),
                    "{name} {at}"
                );
            }
        }
    }

    /// What goes into the guest's tree comes out of it again: every board that has one, imported.
    #[test]
    fn an_import_of_the_tree_has_the_platforms_figures() {
        for name in ["hikey960", "juno-r0", "rk3588", "gs101", "mt8183", "sm8550"] {
            let (platform, tree) = edited(name);
            let imported = wakeplace_platform::import::device_tree(&tree.write(), name);
            let back = imported.expect("a platform").platform;
            let capacity = |p: &Platform| p.cpus.iter().map(|c| c.capacity).collect::<Vec<_>>();
            assert_eq!(capacity(&back), capacity(&platform), "{name}");
            let clock = |d: &FreqDomain| {
                let points = d.opps.iter().map(|o| (o.khz, o.mv, o.power_in_model()));
                (d.cpus.clone(), points.collect::<Vec<_>>())
            };
            let clocks = |p: &Platform| p.freq_domains.iter().map(clock).collect::<Vec<_>>();
            assert_eq!(clocks(&back), clocks(&platform), "{name}");
            let clusters = |p: &Platform| {
                p.clusters
                    .iter()
                    .map(|c| c.cpus.clone())
                    .collect::<Vec<_>>()
            };
            assert_eq!(clusters(&back), clusters(&platform), "{name}");
        }
    }

    #[test]
    fn power_that_the_kernel_refuses_is_refused_here() {
        let mut platform = Platform::builtin("hikey960").expect("built in");
        platform.freq_domains[0].opps[0].power = Some(0);
        let error = edit(&mut virt(8), &platform).expect_err("refused");
        assert!(
            error.to_string().contains("power 0 at 533000 kHz"),
            "{error}"
        );
    }
}
