//! A machine out of a flattened device tree, as Linux reads one.
//!
//! Bindings: Linux 7.3.4 Documentation/devicetree/bindings/arm/cpus.yaml, cpu/cpu-topology.txt,
//! cpu/cpu-capacity.txt, opp/opp-v2-base.yaml, cpu/idle-states.yaml, power/domain-idle-state.yaml,
//! numa.txt. CPUs are numbered in the order of their nodes; Linux puts the one it boots on first.

use super::ImportError;
use super::found::{Arch, Clock, Found, FoundCpu, FoundIdle, Origin, Point, Scale};
use crate::MAX_CPUS;
use crate::fdt::{Node, Tree};
use crate::numa::{LOCAL_DISTANCE, MAX_NODES};
use crate::sysfs::partition::Partition;
use crate::sysfs::topology::Parts;
use std::collections::BTreeMap;

/// Most steps along `next-level-cache`, `power-domains` or down `cpu-map`.
const MAX_STEPS: usize = 16;
/// Highest frequency that is believed, Hz (20 GHz).
const MAX_HZ: u64 = 20_000_000_000;
/// Most operating points of a table that are read, and idle states of the machine.
const MAX_ENTRIES: usize = 4096;
const MAX_STATES: usize = 256;
/// Longest time of an idle state that is believed, us.
const MAX_IDLE_US: u32 = 5_000_000;
/// Highest power the kernel's energy model takes, uW.
const MAX_POWER_UW: u64 = 64_000_000;

/// Reads the tree.
pub(super) fn read(
    tree: &Tree,
    file: &str,
    place: &str,
    said: &mut Vec<String>,
) -> Result<Found, ImportError> {
    let mut handles = BTreeMap::new();
    collect(&tree.root, &mut handles);
    let nodes = tree.root.child("cpus").map(cpu_nodes).unwrap_or_default();
    if nodes.is_empty() || nodes.len() > MAX_CPUS {
        let problem = format!("{} CPUs below /cpus", nodes.len());
        return Err(ImportError::wrong(
            file,
            problem,
            format!("1 to {MAX_CPUS}"),
        ));
    }
    let view = View {
        root: &tree.root,
        handles,
        nodes,
        place,
    };
    view.check_architecture(file)?;
    Ok(view.found(said))
}

fn collect<'a>(node: &'a Node, handles: &mut BTreeMap<u32, &'a Node>) {
    if let Some(handle) = node.u32("phandle").or_else(|| node.u32("linux,phandle")) {
        handles.insert(handle, node);
    }
    node.children
        .iter()
        .for_each(|child| collect(child, handles));
}

/// The CPUs that may run, in the order of the file.
fn cpu_nodes(cpus: &Node) -> Vec<&Node> {
    let is_cpu = |node: &&Node| {
        let named = node.name == "cpu" || node.name.starts_with("cpu@");
        named || node.texts("device_type") == ["cpu"]
    };
    let can_run = |node: &&Node| !matches!(node.texts("status")[..], ["disabled" | "fail"]);
    cpus.children
        .iter()
        .filter(is_cpu)
        .filter(can_run)
        .collect()
}

/// A device tree that is being read.
struct View<'a> {
    root: &'a Node,
    handles: BTreeMap<u32, &'a Node>,
    nodes: Vec<&'a Node>,
    place: &'a str,
}

/// How `cpu-map` divides the CPUs.
#[derive(Default)]
struct Map {
    package: u64,
    cluster: u16,
    core: u16,
}

impl<'a> View<'a> {
    fn text(&self, what: &str) -> String {
        format!("{}: {what}", self.place)
    }

    fn node(&self, handle: u32) -> Option<&'a Node> {
        self.handles.get(&handle).copied()
    }

    fn kind(&self, cpu: usize) -> Option<String> {
        let names = self.nodes[cpu].texts("compatible");
        let name = names.iter().find(|name| !name.starts_with("arm,armv"))?;
        let (_, part) = name.split_once(',').unwrap_or(("", name));
        let plain: String = part.chars().filter(|c| !c.is_control()).take(40).collect();
        Some(plain).filter(|kind| !kind.is_empty())
    }

    fn check_architecture(&self, file: &str) -> Result<(), ImportError> {
        let names = self.nodes.iter().flat_map(|node| node.texts("compatible"));
        match names.into_iter().find(|name| name.contains("riscv")) {
            Some(name) => {
                let problem = format!("CPUs `{}`", wakeplace_text::shorten(name));
                Err(ImportError::wrong(file, problem, "CPUs of arm or arm64"))
            }
            None => Ok(()),
        }
    }

    /// Cores of ARMv7 and before; all others are arm64's.
    fn arch(&self) -> Arch {
        const ARM32: [&str; 9] = [
            "cortex-a5",
            "cortex-a7",
            "cortex-a8",
            "cortex-a9",
            "cortex-a12",
            "cortex-a15",
            "cortex-a17",
            "krait",
            "scorpion",
        ];
        match self.kind(0) {
            Some(kind) if ARM32.contains(&kind.as_str()) => Arch::Arm,
            _ => Arch::Arm64,
        }
    }

    fn found(&self, said: &mut Vec<String>) -> Found {
        let clocks = self.clocks(said);
        let (capacity, capacity_from) = self.capacities(&clocks, said);
        let (parts, packages) = self.parts(said);
        let cpus = (0..self.nodes.len())
            .map(|cpu| FoundCpu {
                number: cpu as u32,
                kind: self.kind(cpu),
                capacity: capacity[cpu],
                package: packages[cpu],
            })
            .collect();
        let distances = self.distances();
        let words = self.root.texts("model").join(" ");
        Found {
            title: Some(words).filter(|words| !words.is_empty()),
            arch: Some((
                self.arch(),
                Origin::derived(self.text("compatible of the CPUs")),
            )),
            tick_hz: None,
            cpus,
            capacity_from,
            parts,
            parts_from: Origin::derived(self.text(
                "cpu-map and next-level-cache, read as Linux drivers/base/arch_topology.c does",
            )),
            distances_from: (distances.len() > 1)
                .then(|| Origin::stated(self.text("distance-map, distance-matrix"))),
            distances,
            reclaim_distance: None,
            rank: None,
            clocks,
            idle: self.idle(),
            notes: vec![
                "CPUs are numbered as their nodes in the device tree stand; Linux puts the CPU \
                 it boots on first."
                    .to_owned(),
            ],
        }
    }

    /// `capacity-dmips-mhz` by the highest frequency (topology_normalize_cpu_scale()).
    fn capacities(&self, clocks: &[Clock], said: &mut Vec<String>) -> (Vec<u64>, Origin) {
        let raw: Option<Vec<u32>> = self
            .nodes
            .iter()
            .map(|node| node.u32("capacity-dmips-mhz").filter(|dmips| *dmips > 0))
            .collect();
        let Some(raw) = raw else {
            said.push(
                "capacity 1024 for all CPUs: not each has a capacity-dmips-mhz, and the kernel \
                 then takes them for alike"
                    .to_owned(),
            );
            let text = "a CPU without capacity-dmips-mhz: the kernel takes all for alike";
            return (
                vec![1024; self.nodes.len()],
                Origin::assumed(self.text(text)),
            );
        };
        let top = |cpu: usize| {
            let own = |clock: &&Clock| clock.cpus.contains(&(cpu as u16));
            let clock = clocks.iter().find(own);
            clock
                .and_then(|clock| clock.points.last())
                .map(|point| u64::from(point.khz))
        };
        let known: Option<Vec<u64>> = (0..raw.len()).map(top).collect();
        let without = known.is_none();
        if without {
            said.push(
                "capacities by capacity-dmips-mhz alone: not each CPU has operating points"
                    .to_owned(),
            );
        }
        let factor = known.unwrap_or_else(|| vec![1; raw.len()]);
        let product: Vec<u64> = raw
            .iter()
            .zip(factor)
            .map(|(raw, khz)| u64::from(*raw) * khz)
            .collect();
        let most = product.iter().copied().max().unwrap_or(1).max(1);
        let scaled = product
            .iter()
            .map(|product| (u128::from(*product) * 1024 / u128::from(most)).max(1) as u64);
        let text = self.text(
            "capacity-dmips-mhz times the highest frequency, arch_topology.c \
             topology_normalize_cpu_scale()",
        );
        let from = match without {
            true => Origin::assumed(text),
            false => Origin::derived(text),
        };
        (scaled.collect(), from)
    }

    fn parts(&self, said: &mut Vec<String>) -> (Parts, Vec<u64>) {
        let count = self.nodes.len();
        let map = self.cpu_map();
        if map.is_none() {
            said.push(
                "no cpu-map: clusters by the CPUs' registers on arm, none on arm64".to_owned(),
            );
        }
        let places = map.unwrap_or_else(|| self.by_registers());
        let of = |key: &dyn Fn(&Map) -> u64| {
            Partition::of_labels(&places.iter().map(key).collect::<Vec<_>>())
        };
        let packages: Vec<u64> = places.iter().map(|place| place.package).collect();
        let nodes: Vec<u32> = self
            .nodes
            .iter()
            .map(|node| node.u32("numa-node-id").unwrap_or(0))
            .collect();
        let node = Partition::of_labels(&nodes);
        let package = Partition::of_labels(&packages).meet(&node);
        let caches: Vec<Option<u32>> = (0..count).map(|cpu| self.last_cache(cpu)).collect();
        let llc = match caches.iter().all(Option::is_some) {
            true => Partition::of_labels(&caches).meet(&package),
            false => package.clone(),
        };
        let parts = Parts {
            smt: of(&|place| u64::from(place.core)),
            cluster: of(&|place| u64::from(place.cluster)),
            llc,
            package,
            node,
        };
        (parts, packages)
    }

    /// The handle of the cache at the end of a CPU's chain.
    fn last_cache(&self, cpu: usize) -> Option<u32> {
        let mut at = self.nodes[cpu];
        let mut last = None;
        for _ in 0..MAX_STEPS {
            let next = at.u32("next-level-cache").or_else(|| at.u32("l2-cache"));
            let Some(next) = next else { break };
            let Some(node) = self.node(next) else { break };
            (at, last) = (node, Some(next));
        }
        last
    }

    /// The place of each CPU; None without a map, or with one that leaves CPUs out.
    fn cpu_map(&self) -> Option<Vec<Map>> {
        let map = self.root.child("cpus")?.child("cpu-map")?;
        let mut places: BTreeMap<u32, Map> = BTreeMap::new();
        let mut next = Map::default();
        let sockets: Vec<&Node> = numbered(map, "socket");
        let tops = if sockets.is_empty() {
            vec![map]
        } else {
            sockets
        };
        for (package, socket) in (0..).zip(tops) {
            next.package = package;
            walk(socket, 0, &mut next, &mut places);
        }
        let of = |node: &&Node| {
            let handle = node.u32("phandle").or_else(|| node.u32("linux,phandle"))?;
            places.remove(&handle)
        };
        self.nodes.iter().map(of).collect()
    }

    /// On arm the second affinity level of the register is the package; arm64 has one package
    /// (arch/arm/kernel/topology.c, arch/arm64/kernel/topology.c `store_cpu_topology`).
    fn by_registers(&self) -> Vec<Map> {
        let arm = self.arch() == Arch::Arm;
        let place = |(cpu, node): (u16, &&Node)| {
            let register = node.cells("reg").last().copied().unwrap_or(0);
            Map {
                package: if arm {
                    u64::from(register >> 8 & 0xff)
                } else {
                    0
                },
                cluster: cpu,
                core: cpu,
            }
        };
        (0..).zip(&self.nodes).map(place).collect()
    }

    fn distances(&self) -> Vec<Vec<u32>> {
        let mut ids: Vec<u32> = Vec::new();
        for cpu in &self.nodes {
            let id = cpu.u32("numa-node-id").unwrap_or(0);
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        if !(2..=MAX_NODES).contains(&ids.len()) {
            return Vec::new();
        }
        let matrix = self
            .root
            .child("distance-map")
            .map(|map| map.cells("distance-matrix"));
        let matrix = matrix.unwrap_or_default();
        let stated = |a: u32, b: u32| {
            let mut rows = matrix.chunks_exact(3);
            rows.find(|row| row[..2] == [a, b]).map(|row| row[2])
        };
        let between = |a: u32, b: u32| match a == b {
            true => LOCAL_DISTANCE,
            // What is not stated is REMOTE_DISTANCE.
            false => {
                let distance = stated(a, b).into_iter().chain(stated(b, a)).min();
                distance.unwrap_or(20).clamp(LOCAL_DISTANCE + 1, 254)
            }
        };
        ids.iter()
            .map(|a| ids.iter().map(|b| between(*a, *b)).collect())
            .collect()
    }

    /// What makes CPUs share a clock: a frequency domain of the vendor's firmware, a shared table.
    fn clock_key(&self, cpu: usize) -> (u8, Vec<u32>) {
        let node = self.nodes[cpu];
        for (sort, key) in (0..).zip(["qcom,freq-domain", "performance-domains"]) {
            let mut cells = node.cells(key);
            cells.truncate(MAX_STEPS);
            if !cells.is_empty() {
                return (sort, cells);
            }
        }
        let table = node.cells("operating-points-v2");
        let shared = table.first().and_then(|handle| self.node(*handle));
        match shared.is_some_and(|table| table.prop("opp-shared").is_some()) {
            true => (2, table),
            false => (3, vec![cpu as u32]),
        }
    }

    fn clocks(&self, said: &mut Vec<String>) -> Vec<Clock> {
        let mut keys: Vec<((u8, Vec<u32>), Vec<u16>)> = Vec::new();
        for cpu in 0..self.nodes.len() {
            let key = self.clock_key(cpu);
            match keys.iter_mut().find(|(known, _)| *known == key) {
                Some((_, cpus)) => cpus.push(cpu as u16),
                None => keys.push((key, vec![cpu as u16])),
            }
        }
        keys.into_iter()
            .map(|(_, cpus)| self.clock(cpus, said))
            .collect()
    }

    fn clock(&self, cpus: Vec<u16>, said: &mut Vec<String>) -> Clock {
        let first = |key: &str| {
            let mut nodes = cpus.iter().map(|cpu| self.nodes[usize::from(*cpu)]);
            nodes.find_map(|node| node.u32(key))
        };
        let own = self.nodes[usize::from(cpus[0])];
        let table = first("operating-points-v2").and_then(|handle| self.node(handle));
        let mut points = table
            .map(|table| self.points(table, said))
            .unwrap_or_default();
        let mut from = self.text("operating-points-v2");
        if points.is_empty() {
            points = old_points(own);
            from = self.text("operating-points");
        }
        let coefficient = first("dynamic-power-coefficient").map(u64::from);
        let stated = !points.is_empty() && points.iter().all(|point| point.power.is_some());
        let power = match (stated, coefficient) {
            (true, _) => Some(self.text("opp-microwatt")),
            (false, Some(coefficient)) => with_coefficient(&mut points, coefficient).then(|| {
                self.text("dynamic-power-coefficient * mV^2 * MHz / 10^6, drivers/opp/of.c")
            }),
            (false, None) => None,
        };
        if power.is_none() {
            points.iter_mut().for_each(|point| point.power = None);
        }
        if points.is_empty() {
            let hz = own
                .u32("clock-frequency")
                .map(u64::from)
                .filter(|hz| *hz >= 1000);
            points.extend(hz.map(|hz| Point {
                khz: (hz / 1000) as u32,
                mv: None,
                power: None,
            }));
            from = self.text("clock-frequency, the only point that is stated");
        }
        let latency = table
            .and_then(latency_ns)
            .or_else(|| own.u32("clock-latency"));
        let stated = Origin::stated(self.text("clock-latency-ns"));
        Clock {
            cpus,
            points_from: (!points.is_empty()).then(|| Origin::stated(from)),
            points,
            power: power.map(|text| (Scale::Microwatt, Origin::derived(text))),
            latency_ns: latency.map(|ns| (u64::from(ns), stated)),
        }
    }

    /// The points of a table that any CPU may use; those for single CPUs only (turbo) are left out.
    fn points(&self, table: &Node, said: &mut Vec<String>) -> Vec<Point> {
        let mut points = Vec::new();
        let mut by_specimen = false;
        for node in table.children.iter().take(MAX_ENTRIES) {
            let turbo = node.prop("turbo-mode").is_some();
            let off = matches!(node.texts("status")[..], ["disabled"]);
            let hz = node.u64("opp-hz").filter(|hz| (1000..=MAX_HZ).contains(hz));
            let Some(hz) = hz.filter(|_| !turbo && !off) else {
                continue;
            };
            by_specimen |= node.prop("opp-supported-hw").is_some();
            let cells = node.cells("opp-microvolt");
            let mv = cells.first().map(|uv| uv / 1000);
            let power = node.cells("opp-microwatt").first().map(|uw| u64::from(*uw));
            points.push(Point {
                khz: (hz / 1000) as u32,
                mv: mv.filter(|mv| (1..=10_000).contains(mv)),
                power: power.filter(|uw| (1..=MAX_POWER_UW).contains(uw)),
            });
        }
        points.sort_by_key(|point| point.khz);
        points.dedup_by_key(|point| point.khz);
        if by_specimen {
            said.push(format!(
                "operating points of {}: those for some specimens only (opp-supported-hw) are in",
                table.name
            ));
        }
        points
    }

    /// WFI, the CPUs' own states, and those of the power domains they are in.
    fn idle(&self) -> Vec<FoundIdle> {
        let mut lists: Vec<(Vec<(u32, bool)>, Vec<u16>)> = Vec::new();
        for cpu in 0..self.nodes.len() {
            let states = self.states_of(cpu);
            match lists.iter_mut().find(|(known, _)| *known == states) {
                Some((_, cpus)) => cpus.push(cpu as u16),
                None => lists.push((states, vec![cpu as u16])),
            }
        }
        let mut all = vec![FoundIdle {
            name: "WFI".to_owned(),
            cluster: false,
            cpus: (0..).take(self.nodes.len()).collect(),
            entry_us: 0,
            exit_us: 1,
            residency_us: 1,
            from: Origin::stated("Linux 7.3.4 drivers/cpuidle/cpuidle-psci.c, state 0"),
        }];
        for (states, cpus) in lists {
            for (handle, cluster) in states {
                let node = self.node(handle);
                let Some(state) = node.and_then(|node| self.idle_state(node, cluster, &cpus))
                else {
                    continue;
                };
                // The same state of several lists is one.
                let alike = |known: &FoundIdle| {
                    (
                        &known.name,
                        known.cluster,
                        known.exit_us,
                        known.residency_us,
                    ) == (
                        &state.name,
                        state.cluster,
                        state.exit_us,
                        state.residency_us,
                    )
                };
                match all.iter().position(alike) {
                    Some(at) => all[at].cpus.extend(state.cpus),
                    None if all.len() < MAX_STATES => all.push(state),
                    None => {}
                }
            }
        }
        all.iter_mut().for_each(|state| {
            state.cpus.sort_unstable();
            state.cpus.dedup();
        });
        all.sort_by_key(|state| state.cluster);
        all
    }

    /// Handles of a CPU's states, with whether they are its cluster's.
    fn states_of(&self, cpu: usize) -> Vec<(u32, bool)> {
        let node = self.nodes[cpu];
        let mut states: Vec<(u32, bool)> = node
            .cells("cpu-idle-states")
            .iter()
            .map(|handle| (*handle, false))
            .collect();
        let mut at = node;
        for step in 0..MAX_STEPS {
            let Some(domain) = at
                .u32("power-domains")
                .or_else(|| at.cells("power-domains").first().copied())
            else {
                break;
            };
            let Some(domain) = self.node(domain) else {
                break;
            };
            let own = domain.cells("domain-idle-states");
            states.extend(own.iter().map(|handle| (*handle, step > 0)));
            at = domain;
        }
        states.truncate(MAX_STATES);
        states
    }

    fn idle_state(&self, node: &Node, cluster: bool, cpus: &[u16]) -> Option<FoundIdle> {
        let us = |key: &str| node.u32(key).filter(|us| *us <= MAX_IDLE_US).map(u64::from);
        let (entry, exit) = (us("entry-latency-us")?, us("exit-latency-us")?);
        let residency_us = us("min-residency-us")?;
        let named = node.texts("idle-state-name");
        let name = named.first().copied().unwrap_or(&node.name);
        let name: String = name.chars().filter(|c| !c.is_control()).take(40).collect();
        let cluster = cluster || node.name.contains("cluster") || name.contains("cluster");
        let mut from = Origin::stated(self.text(&format!("idle state {}", node.name)));
        // What cpuidle sees: wakeup-latency-us goes before the sum of both.
        let mut entry_us = entry;
        if let Some(total) = us("wakeup-latency-us").filter(|total| *total < entry + exit) {
            entry_us = total.saturating_sub(exit);
            from = Origin::derived(format!(
                "{}: wakeup-latency-us {total} goes before entry {entry} + exit {exit}; the entry \
                 here is what it leaves",
                from.text
            ));
        }
        Some(FoundIdle {
            name,
            cluster,
            cpus: cpus.to_vec(),
            entry_us,
            exit_us: exit,
            residency_us,
            from,
        })
    }
}

/// Children `PREFIXN` of a node.
fn numbered<'a>(node: &'a Node, prefix: &str) -> Vec<&'a Node> {
    let own = |child: &&Node| {
        let number = child.name.strip_prefix(prefix);
        number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
    };
    node.children.iter().filter(own).collect()
}

/// Cores and clusters below a node of `cpu-map`; cores that stand outside a cluster are one.
fn walk(node: &Node, depth: usize, next: &mut Map, places: &mut BTreeMap<u32, Map>) {
    for core in numbered(node, "core") {
        let threads = numbered(core, "thread");
        let cpus = if threads.is_empty() {
            vec![core]
        } else {
            threads
        };
        for handle in cpus.iter().filter_map(|cpu| cpu.u32("cpu")) {
            let place = Map {
                package: next.package,
                cluster: next.cluster,
                core: next.core,
            };
            places.insert(handle, place);
        }
        next.core = next.core.wrapping_add(1);
    }
    next.cluster = next.cluster.wrapping_add(1);
    if depth < MAX_STEPS {
        for cluster in numbered(node, "cluster") {
            walk(cluster, depth + 1, next, places);
        }
    }
}

/// `operating-points`: pairs of kHz and microvolts.
fn old_points(node: &Node) -> Vec<Point> {
    let cells = node.cells("operating-points");
    let pairs = cells.chunks_exact(2).take(MAX_ENTRIES);
    let sound = |khz: &u32| (1..=MAX_HZ / 1000).contains(&u64::from(*khz));
    let mut points: Vec<Point> = pairs
        .filter(|pair| sound(&pair[0]))
        .map(|pair| Point {
            khz: pair[0],
            mv: Some(pair[1] / 1000).filter(|mv| (1..=10_000).contains(mv)),
            power: None,
        })
        .collect();
    points.sort_by_key(|point| point.khz);
    points.dedup_by_key(|point| point.khz);
    points
}

/// The kernel's formula (drivers/opp/of.c `dev_pm_opp_calc_power`): mV and MHz without fractions.
/// False where a point has no voltage, or a power would be none.
fn with_coefficient(points: &mut [Point], coefficient: u64) -> bool {
    let power = |point: &Point| {
        let (mv, mhz) = (u128::from(point.mv?), u128::from(point.khz / 1000));
        let uw = u128::from(coefficient) * mv * mv * mhz / 1_000_000;
        (1..=u128::from(MAX_POWER_UW))
            .contains(&uw)
            .then_some(uw as u64)
    };
    let powers: Option<Vec<u64>> = points.iter().map(power).collect();
    let Some(powers) = powers.filter(|powers| !powers.is_empty()) else {
        return false;
    };
    for (point, power) in points.iter_mut().zip(powers) {
        point.power = Some(power);
    }
    true
}

/// The longest that a change takes by the table, ns.
fn latency_ns(table: &Node) -> Option<u32> {
    let of = table
        .children
        .iter()
        .filter_map(|node| node.u32("clock-latency-ns"));
    of.max()
}
