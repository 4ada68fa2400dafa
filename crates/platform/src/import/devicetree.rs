//! A machine out of a flattened device tree, as Linux reads one (docs/guide/import.md, "What is
//! read").
//!
//! Bindings: Linux 7.3.4 Documentation/devicetree/bindings/arm/cpus.yaml, cpu/cpu-topology.txt,
//! cpu/cpu-capacity.txt, opp/opp-v2-base.yaml, cpu/idle-states.yaml, power/domain-idle-state.yaml,
//! numa.txt. CPUs are numbered in the order of their nodes; Linux puts the one it boots on first.
//!
//! Called by `import/mod.rs`. What is not in the tree stays absent; `said` tells the user. Clocks
//! become kHz, times ns.
//!
//! What must stay: CPUs are numbered in the order of their nodes; disabled ones are left out;
//! capacities are what `topology_normalize_cpu_scale()` makes. Every walk along handles ends
//! (`MAX_STEPS`), whatever the tree says. Free: what leaves the files of imports as they are
//! (ARCHITECTURE.md, "What a change may touch"), and words of messages that no test quotes. Tests
//! by part: voltages.rs::`coefficients_and_voltages_make_power` (`capacities`),
//! architectures.rs::`names_of_cpus_in_device_trees` (`kind`, `cpu_nodes`),
//! hostile.rs::`damaged_device_trees` (`collect`, `node`),
//! devicetree.rs::`an_import_of_the_tree_has_the_platforms_figures` (`found`: clusters, capacities
//! and clocks as the lab writes them), all (`read`, `text`).
//!
//! Tests: crates/platform/tests/all/import/voltages.rs,
//! crates/platform/tests/all/import/architectures.rs, crates/platform/tests/all/import/hostile.rs,
//! crates/lab/src/devicetree.rs

mod architecture;
mod clocks;
mod idle;
mod topology;

use super::ImportError;
use super::found::{Clock, Found, FoundCpu, Origin};
use super::voltages::Voltages;
use crate::MAX_CPUS;
use crate::arch::Arch;
use crate::fdt::{Node, Tree};
use architecture::architecture;
use std::collections::BTreeMap;

/// Most steps along `next-level-cache`, `power-domains` or down `cpu-map`.
const MAX_STEPS: usize = 16;

/// Names that any core of an instruction set has beside its own.
const GENERIC: [&str; 2] = ["arm,armv", "riscv"];

/// Reads the tree.
pub(super) fn read(
    tree: &Tree,
    voltages: Option<&Voltages>,
    (file, place): (&str, &str),
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
        voltages,
        handles,
        arch: architecture(&nodes, file, place, said)?,
        nodes,
        place,
    };
    view.found(said)
}

/// All nodes by their handles, so that references can be followed.
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
    arch: (Arch, Origin),
    voltages: Option<&'a Voltages>,
    place: &'a str,
}

impl<'a> View<'a> {
    /// The source of a figure, for the file's provenance.
    fn text(&self, what: &str) -> String {
        format!("{}: {what}", self.place)
    }

    /// The node with that handle; `None`: the tree refers to one that it does not have.
    fn node(&self, handle: u32) -> Option<&'a Node> {
        self.handles.get(&handle).copied()
    }

    /// The CPU's type by its first name that is no generic one, without the vendor.
    fn kind(&self, cpu: usize) -> Option<String> {
        let names = self.nodes[cpu].texts("compatible");
        let name = names
            .iter()
            .find(|name| !GENERIC.iter().any(|word| name.starts_with(word)))?;
        let (_, part) = name.split_once(',').unwrap_or(("", name));
        let plain: String = part.chars().filter(|c| !c.is_control()).take(40).collect();
        Some(plain).filter(|kind| !kind.is_empty())
    }

    /// All that the tree says, CPU by CPU; `said` hears what it lacks.
    fn found(&self, said: &mut Vec<String>) -> Result<Found, ImportError> {
        let clocks = self.clocks(said)?;
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
        Ok(Found {
            title: Some(words).filter(|words| !words.is_empty()),
            arch: Some(self.arch.clone()),
            tick_hz: None,
            cpus,
            capacity_from,
            speed: None,
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
        })
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
}
