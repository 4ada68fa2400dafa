//! Which CPUs belong together, by the tree's `cpu-map`, caches and NUMA nodes
//! (docs/guide/import.md, "What is read").
//!
//! Called by `devicetree.rs`. Distances are the kernel's: 10 within a node, 20 where none is
//! stated.
//!
//! What must stay: depth is bounded, as a tree may refer to itself; an incomplete `cpu-map` counts
//! as none; a cache lies within its package. Free: what leaves the files of imports as they are
//! (ARCHITECTURE.md, "What a change may touch"), and words of messages that no test quotes. Tests
//! by part: hostile.rs::`device_trees_in_circles` (`last_cache`),
//! devicetree.rs::`an_import_of_the_tree_has_the_platforms_figures` (`cpu_map`, `walk`, `parts`).
//! No test of its own: `by_registers`, `distances` of several nodes. `numbered` by the last one.
//!
//! Tests: crates/platform/tests/all/import/hostile.rs, crates/lab/src/devicetree.rs

use super::{MAX_STEPS, View};
use crate::arch::Arch;
use crate::fdt::Node;
use crate::numa::{LOCAL_DISTANCE, MAX_NODES};
use crate::sysfs::partition::Partition;
use crate::sysfs::topology::Parts;
use std::collections::BTreeMap;

/// How `cpu-map` divides the CPUs.
#[derive(Default)]
struct Map {
    package: u64,
    cluster: u16,
    core: u16,
}

impl<'a> View<'a> {
    /// Cores, clusters, caches, nodes and packages of all CPUs.
    pub(super) fn parts(&self, said: &mut Vec<String>) -> (Parts, Vec<u64>) {
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
        let arm = self.arch.0 == Arch::Arm;
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

    /// Distances of NUMA nodes, from the tree's matrix or as Linux takes them; empty: one node.
    pub(super) fn distances(&self) -> Vec<Vec<u32>> {
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
