//! The scheduler's topology out of the kernel's lists of siblings, divided as the kernel's own
//! domain builder divides it (include/linux/topology.h, drivers/base/arch_topology.c,
//! kernel/sched/topology.c) (docs/rules/domains.md).
//!
//! Called by `sysfs/mod.rs` and by imports (`parts`).
//!
//! What must stay: levels stand from the bottom up and divide as the kernel's builder does, since
//! the core builds its domains of them: a changed level changes what the live scheduler does on a
//! machine. Free: what leaves the files of imports as they are (ARCHITECTURE.md, "What a change may
//! touch"), and words of messages that no test quotes. Tests by part: `threads_sockets_and_nodes`
//! (`siblings`, `last_cache`, `levels`), `nodes_near_and_far` (`nodes`, `distances`, `within`),
//! `sockets_of_one_node` (`push`, `Node`), `clusters_below_a_package_without_caches` (`llc`),
//! `a_cluster_of_private_caches_is_the_cache_domain` (`levels`), `damaged_trees_are_refused`
//! (`divide`), `what_is_missing_or_no_file_is_named` (`needed`), `this_machine` (levels are
//! nested), all (`read`), `nodes_near_and_far` (`distance`).
//!
//! Tests: crates/platform/tests/all/sysfs.rs

use super::partition::Partition;
use super::{CPUS, SysfsError, Tree, marked, tree};
use crate::MAX_CPUS;

const NODES: &str = "sys/devices/system/node";

/// Farthest distance the kernel writes (`LOCAL_DISTANCE` is 10, 255 means unreachable).
const MAX_DISTANCE: u64 = 255;

/// Highest level of a cache that is looked for.
const MAX_CACHE_LEVEL: u64 = 9;

/// Most different distances between nodes; the largest machines have some five.
const MAX_DISTANCES: usize = 32;

/// What the CPUs of a group have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LevelKind {
    /// They are threads of one core.
    Smt,
    /// They share a cache or a bus below the last-level cache.
    Cluster,
    /// They share the last-level cache.
    Llc,
    /// They are of one package, and of one NUMA node.
    Package,
    /// They are of one NUMA node, which has several packages.
    Node,
    /// They are on nodes not farther apart than this, or linked by such ones.
    Numa {
        /// Distance as the kernel states it; 10 is within a node.
        distance: u32,
    },
}

/// A level of the topology.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SysfsLevel {
    /// What the CPUs of a group have in common.
    pub kind: LevelKind,
    /// Group of each CPU, named by its lowest member.
    pub group_of: Vec<u16>,
}

/// The levels, bottom first. Threads and clusters only where there are any, the last-level cache
/// unless each core has its own, others where their groups are larger than those below.
///
/// Where a level's group crosses one below it, it is widened by it, as the kernel's builder does.
pub(super) fn read(tree: &Tree, online: &[bool]) -> Result<Vec<SysfsLevel>, SysfsError> {
    let (parts, nodes) = parts(tree, online)?;
    let distances = distances(&nodes);
    if distances.len() > MAX_DISTANCES {
        let found = format!("{} different distances", distances.len());
        return Err(tree.wrong(NODES, found, format!("at most {MAX_DISTANCES}")));
    }
    let mut levels = parts.levels();
    for distance in distances {
        let groups = within(&nodes, distance, &parts.node);
        push(&mut levels, LevelKind::Numa { distance }, &groups);
    }
    let level = |(kind, groups): (LevelKind, Partition)| SysfsLevel {
        kind,
        group_of: groups.labels().to_vec(),
    };
    Ok(levels.into_iter().map(level).collect())
}

/// How the CPUs are divided, by what they have in common.
#[derive(Clone, Debug)]
pub(crate) struct Parts {
    /// Threads of one core.
    pub(crate) smt: Partition,
    /// As the firmware groups cores; each CPU by itself where it says nothing.
    pub(crate) cluster: Partition,
    /// CPUs that share the highest cache.
    pub(crate) llc: Partition,
    /// Of one package and one node.
    pub(crate) package: Partition,
    /// Of one node.
    pub(crate) node: Partition,
}

impl Parts {
    /// The levels below those of several nodes.
    pub(crate) fn levels(&self) -> Vec<(LevelKind, Partition)> {
        let (smt, cluster) = (&self.smt, &self.cluster);
        let llc = self.llc.widen_to(&cluster.meet(&self.package)).join(smt);
        let mut levels = vec![(LevelKind::Llc, llc.clone())];
        let between = *cluster != llc && cluster.is_within(&llc);
        if between && cluster != smt && smt.is_within(cluster) {
            levels.insert(0, (LevelKind::Cluster, cluster.clone()));
        }
        if *smt != Partition::singles(smt.labels().len()) {
            levels.insert(0, (LevelKind::Smt, smt.clone()));
            levels.retain(|(kind, _)| *kind != LevelKind::Llc || *smt != llc);
        }
        push(&mut levels, LevelKind::Package, &self.package);
        push(&mut levels, LevelKind::Node, &self.node);
        levels
    }
}

/// A level above the others, unless it is as the one below.
fn push(levels: &mut Vec<(LevelKind, Partition)>, kind: LevelKind, groups: &Partition) {
    let top = &levels.last().expect("not empty").1;
    let groups = groups.join(top);
    if groups != *top {
        levels.push((kind, groups));
    }
}

/// How the files divide the CPUs, and the nodes.
pub(crate) fn parts(tree: &Tree, online: &[bool]) -> Result<(Parts, Vec<Node>), SysfsError> {
    let lists = |names: &[&str]| siblings(tree, online, names);
    let (nodes, node) = nodes(tree, online)?;
    let package = needed(
        tree,
        &lists(&["package_cpus_list", "core_siblings_list"])?,
        online,
    )?;
    let package = package.meet(&node);
    let smt = needed(
        tree,
        &lists(&["thread_siblings_list", "core_cpus_list"])?,
        online,
    )?;
    let cluster = match lists(&["cluster_cpus_list"])? {
        Siblings::Of(cluster) => cluster,
        Siblings::Unstated(_) => Partition::singles(online.len()),
    };
    let llc = llc(tree, online, &package)?;
    let parts = Parts {
        smt,
        cluster,
        llc,
        package,
        node,
    };
    Ok((parts, nodes))
}

/// What the lists of one sort say.
enum Siblings {
    Of(Partition),
    /// The first online CPU without one.
    Unstated(String),
}

/// The division, or an error that names the file which is missing.
fn needed(tree: &Tree, found: &Siblings, online: &[bool]) -> Result<Partition, SysfsError> {
    match found {
        Siblings::Of(partition) => Ok(partition.clone()),
        Siblings::Unstated(path) => {
            let expected = format!("a list of CPUs from 0 to {}", online.len() - 1);
            Err(tree.wrong(path, "no such file", expected))
        }
    }
}

/// The division by the lists of siblings: the first of the names that a CPU has.
fn siblings(tree: &Tree, online: &[bool], names: &[&str]) -> Result<Siblings, SysfsError> {
    let mut lists = Vec::new();
    for cpu in marked(online) {
        let path = |name: &&str| format!("{CPUS}/cpu{cpu}/topology/{name}");
        let mut found = None;
        for path in names.iter().map(path) {
            if let Some(list) = tree.cpus(&path, online.len())? {
                found = Some((path, list));
                break;
            }
        }
        match found {
            Some((path, list)) => lists.push((cpu, path, list)),
            None => return Ok(Siblings::Unstated(path(&names[0]))),
        }
    }
    divide(tree, online, lists).map(Siblings::Of)
}

/// A division, from each online CPU's own list with the file that has it. Every member of a list
/// must have the same list.
fn divide(
    tree: &Tree,
    online: &[bool],
    lists: Vec<(u16, String, Vec<u16>)>,
) -> Result<Partition, SysfsError> {
    let mut of: Vec<Vec<u16>> = vec![Vec::new(); online.len()];
    for (cpu, path, mut list) in lists.iter().cloned() {
        list.retain(|member| online[usize::from(*member)]);
        if !list.contains(&cpu) {
            let found = "a list without the CPU itself";
            return Err(tree.wrong(&path, found, format!("CPU {cpu} among its siblings")));
        }
        of[usize::from(cpu)] = list;
    }
    // A list is known by its lowest CPU only if that CPU has the very same one.
    let lowest = |cpu: u16| of[usize::from(cpu)][0];
    for (cpu, path, _) in &lists {
        let own = &of[usize::from(*cpu)];
        let differs = |other: &&u16| lowest(**other) != own[0];
        let other = own.iter().find(differs).copied();
        let other = other.or_else(|| (of[usize::from(own[0])] != *own).then_some(own[0]));
        if let Some(other) = other {
            let found = format!("CPU {other} as a sibling of CPU {cpu}");
            let expected = format!("the same list for both, but CPU {other} has another");
            return Err(tree.wrong(path, found, expected));
        }
    }
    Ok(Partition::of_lists(
        online.len(),
        of.iter().map(Vec::as_slice),
    ))
}

/// CPUs that share the last-level cache: the highest level that holds data. Where the caches are
/// not described, the package, as the kernel takes it.
fn llc(tree: &Tree, online: &[bool], package: &Partition) -> Result<Partition, SysfsError> {
    let mut lists = Vec::new();
    for cpu in marked(online) {
        match last_cache(tree, cpu, online.len())? {
            Some((path, list)) => lists.push((cpu, path, list)),
            None => return Ok(package.clone()),
        }
    }
    Ok(divide(tree, online, lists)?.meet(package))
}

/// The CPUs that share the highest cache of a CPU, and the file that says so.
fn last_cache(
    tree: &Tree,
    cpu: u16,
    nr_cpus: usize,
) -> Result<Option<(String, Vec<u16>)>, SysfsError> {
    let folder = format!("{CPUS}/cpu{cpu}/cache");
    let mut highest = None;
    for index in tree.numbered(&folder, "index")? {
        let at = format!("{folder}/index{index}");
        let level = tree.number(&format!("{at}/level"), 1..=MAX_CACHE_LEVEL, "a cache level")?;
        let sort = tree.text(&format!("{at}/type"), "a sort of cache")?;
        let (Some(level), true) = (level, sort.as_deref() != Some("Instruction")) else {
            continue;
        };
        let path = format!("{at}/shared_cpu_list");
        let Some(list) = tree.cpus(&path, nr_cpus)? else {
            continue;
        };
        if highest.as_ref().is_none_or(|(most, _, _)| level > *most) {
            highest = Some((level, path, list));
        }
    }
    Ok(highest.map(|(_, path, list)| (path, list)))
}

/// A NUMA node that has CPUs.
pub(crate) struct Node {
    pub(crate) cpus: Vec<u16>,
    /// Distance to each node of the list.
    pub(crate) distance: Vec<u32>,
}

/// The nodes with CPUs, and the division by them. A kernel without nodes is one node.
fn nodes(tree: &Tree, online: &[bool]) -> Result<(Vec<Node>, Partition), SysfsError> {
    let numbers = tree.numbered(NODES, "node")?;
    if numbers.is_empty() {
        let all: Vec<u16> = marked(online).collect();
        return Ok((Vec::new(), Partition::of_lists(online.len(), [&all[..]])));
    }
    if numbers.len() > MAX_CPUS {
        let found = format!("{} nodes", numbers.len());
        return Err(tree.wrong(NODES, found, format!("at most {MAX_CPUS}")));
    }
    let mut owner: Vec<Option<u32>> = vec![None; online.len()];
    let mut nodes = Vec::new();
    for (at, number) in numbers.iter().enumerate() {
        let path = format!("{NODES}/node{number}/cpulist");
        let mut cpus = tree.cpus(&path, online.len())?.unwrap_or_default();
        cpus.retain(|cpu| online[usize::from(*cpu)]);
        for cpu in &cpus {
            if let Some(other) = owner[usize::from(*cpu)].replace(*number) {
                let found = format!("CPU {cpu}, which node{other} has too");
                return Err(tree.wrong(&path, found, "each CPU on one node"));
            }
        }
        if !cpus.is_empty() {
            let distance = distance(tree, *number, numbers.len())?;
            nodes.push((at, Node { cpus, distance }));
        }
    }
    if let Some(cpu) = marked(online).find(|cpu| owner[usize::from(*cpu)].is_none()) {
        return Err(tree.wrong(
            NODES,
            format!("CPU {cpu} on no node"),
            "each CPU on one node",
        ));
    }
    // Only distances between nodes with CPUs say something about the CPUs.
    let with_cpus: Vec<usize> = nodes.iter().map(|(at, _)| *at).collect();
    let mut nodes: Vec<Node> = nodes.into_iter().map(|(_, node)| node).collect();
    for node in &mut nodes {
        node.distance = with_cpus.iter().map(|at| node.distance[*at]).collect();
    }
    let groups = Partition::of_lists(online.len(), nodes.iter().map(|node| &node.cpus[..]));
    Ok((nodes, groups))
}

/// The distances of a node to all nodes, in the order of their numbers.
fn distance(tree: &Tree, number: u32, nr_nodes: usize) -> Result<Vec<u32>, SysfsError> {
    let path = format!("{NODES}/node{number}/distance");
    let expected = format!("{nr_nodes} distances from 1 to {MAX_DISTANCE}");
    let text = tree.needed(&path, &expected)?;
    let read = |part| tree::number(part).filter(|d| (1..=MAX_DISTANCE).contains(d));
    let distances: Option<Vec<u64>> = text.split_whitespace().map(read).collect();
    match distances.filter(|distances| distances.len() == nr_nodes) {
        Some(distances) => Ok(distances.iter().map(|d| *d as u32).collect()),
        None => Err(tree.wrong(&path, tree::quoted(&text), expected)),
    }
}

/// The distances between different nodes that occur, ascending.
fn distances(nodes: &[Node]) -> Vec<u32> {
    let between = |(at, node): (usize, &Node)| {
        let others = node.distance.iter().enumerate();
        let others = others.filter(move |(other, _)| *other != at);
        others.map(|(_, distance)| *distance).collect::<Vec<_>>()
    };
    let mut found: Vec<u32> = nodes.iter().enumerate().flat_map(between).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Nodes not farther apart than `distance`, and what such ones link: the kernel's groups may
/// overlap where distances are no hierarchy, the core's divide.
fn within(nodes: &[Node], distance: u32, node: &Partition) -> Partition {
    nodes
        .iter()
        .enumerate()
        .fold(node.clone(), |groups, (at, from)| {
            let near = |(other, node): (usize, &Node)| {
                let apart = from.distance[other].min(node.distance[at]);
                (other == at || apart <= distance).then(|| node.cpus.clone())
            };
            let near: Vec<u16> = nodes
                .iter()
                .enumerate()
                .filter_map(near)
                .flatten()
                .collect();
            groups.join(&Partition::of_lists(groups.labels().len(), [&near[..]]))
        })
}
