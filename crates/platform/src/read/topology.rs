//! Scheduler topology levels: each a partition, each nested in the next (docs/guide/platforms.md,
//! "What the words mean").
//!
//! Called by `read/mod.rs`.
//!
//! What must stay: levels stand from the bottom up and each lies in the next, as the core builds
//! its sched domains in this order; with those of NUMA there are at most `WP_MAX_LEVELS`. Free:
//! what leaves each file's machine as it is (ARCHITECTURE.md, "What a change may touch"), and words
//! of messages that no test quotes. Tests by part: `topology` (`read_level`, `check_partition`,
//! `check_nesting`, `check_top`), `limits_are_those_of_the_policy_core` (`read`),
//! shared.rs::`a_cluster_level_shares_a_cache` (`read_level`). No test of its own: `check_room`.
//!
//! Tests: crates/platform/tests/all/bad_files.rs, crates/platform/tests/all/shared.rs

use toml::Spanned;

use super::machine::Machine;
use super::provenance::Provenance;
use super::raw::{RawLevel, RawTopology};
use super::values::at;
use crate::error::Flaw;
use crate::{CpuId, Numa, TopologyLevel};

/// Most levels: the policy core's `WP_MAX_LEVELS`; Linux has at most five below NUMA.
const MAX_LEVELS: usize = 8;

/// Reads the `[topology]` table.
pub(super) fn read(
    raw: &Spanned<RawTopology>,
    machine: &Machine<'_>,
    provenance: &mut Provenance,
) -> Result<Vec<TopologyLevel>, Flaw> {
    let table = raw.get_ref();
    provenance.note(at(raw), "topology".into(), &table.source, table.standing)?;
    let rows = table.levels.get_ref();
    if rows.is_empty() || rows.len() > MAX_LEVELS {
        let problem = format!("the topology has {} levels", rows.len());
        let expected = format!("expected 1 to {MAX_LEVELS}, bottom first");
        return Err(Flaw::new(at(&table.levels), problem, expected));
    }
    let mut levels: Vec<TopologyLevel> = Vec::new();
    for row in rows {
        let level = read_level(row, machine)?;
        if let Some(below) = levels.last() {
            check_nesting(row, below, &level)?;
        }
        levels.push(level);
    }
    check_top(
        rows.last().expect("not empty"),
        &levels[levels.len() - 1],
        machine,
    )?;
    Ok(levels)
}

/// The levels of the file and one per distance between nodes.
pub(super) fn check_room(
    raw: &Spanned<RawTopology>,
    levels: &[TopologyLevel],
    numa: Option<&Numa>,
) -> Result<(), Flaw> {
    let above = numa.map_or(0, |numa| crate::numa::levels(&numa.distances).len());
    if levels.len() + above <= MAX_LEVELS {
        return Ok(());
    }
    let problem = format!(
        "the topology has {} levels and {above} different distances between nodes",
        levels.len()
    );
    let expected = format!("expected at most {MAX_LEVELS} together");
    Err(Flaw::new(at(&raw.get_ref().levels), problem, expected))
}

/// One level, with its groups from `groups` or `one_per`.
fn read_level(row: &Spanned<RawLevel>, machine: &Machine<'_>) -> Result<TopologyLevel, Flaw> {
    let raw = row.get_ref();
    let groups = match (&raw.groups, raw.one_per) {
        (Some(lists), None) => lists
            .iter()
            .map(|l| machine.list(l))
            .collect::<Result<_, _>>()?,
        (None, Some(part)) => machine.divide(&machine.all(), part),
        _ => {
            let problem = format!("level {} needs one way to form its groups", raw.name);
            let expected = "expected either `groups = [\"0-3\", ...]` or `one_per = \"cluster\"`";
            return Err(Flaw::new(at(row), problem, expected));
        }
    };
    check_partition(row, &groups, machine)?;
    if raw.cluster && !raw.shares_cache {
        let problem = format!("level {} is a cluster that shares no cache", raw.name);
        return Err(Flaw::new(
            at(row),
            problem,
            "expected `shares_cache = true`, too",
        ));
    }
    Ok(TopologyLevel {
        name: raw.name.clone(),
        shares_cache: raw.shares_cache,
        shares_capacity: raw.shares_capacity,
        cluster: raw.cluster,
        asym_packing: raw.asym_packing,
        groups,
    })
}

/// Each CPU is in one group of the level.
fn check_partition(
    row: &Spanned<RawLevel>,
    groups: &[Vec<CpuId>],
    machine: &Machine<'_>,
) -> Result<(), Flaw> {
    let level = &row.get_ref().name;
    let mut seen = vec![false; machine.cpus.len()];
    for (index, group) in groups.iter().enumerate() {
        for cpu in group {
            if std::mem::replace(&mut seen[cpu.index()], true) {
                let place = row
                    .get_ref()
                    .groups
                    .as_ref()
                    .map_or(at(row), |g| at(&g[index]));
                let problem = format!("CPU {cpu} is in two groups of level {level}");
                return Err(Flaw::new(place, problem, "expected each CPU in one group"));
            }
        }
    }
    match seen.iter().position(|seen| !seen) {
        Some(cpu) => {
            let problem = format!("CPU {cpu} is in no group of level {level}");
            Err(Flaw::new(
                at(row),
                problem,
                "expected each CPU in one group",
            ))
        }
        None => Ok(()),
    }
}

/// A group of the level below lies in one group of this one.
fn check_nesting(
    row: &Spanned<RawLevel>,
    below: &TopologyLevel,
    level: &TopologyLevel,
) -> Result<(), Flaw> {
    let group_of = |cpu: &CpuId| level.groups.iter().position(|g| g.contains(cpu));
    for group in &below.groups {
        let first = group_of(&group[0]);
        if let Some(other) = group.iter().find(|cpu| group_of(cpu) != first) {
            let problem = format!(
                "CPUs {} and {other} are together at level {} and apart at {}",
                group[0], below.name, level.name
            );
            let expected = format!(
                "expected groups of {} inside one of {}",
                below.name, level.name
            );
            return Err(Flaw::new(at(row), problem, expected));
        }
    }
    Ok(())
}

/// The top level spans a NUMA node.
fn check_top(
    row: &Spanned<RawLevel>,
    top: &TopologyLevel,
    machine: &Machine<'_>,
) -> Result<(), Flaw> {
    for node in machine.divide(&machine.all(), super::raw::RawPart::Node) {
        if !top
            .groups
            .iter()
            .any(|group| node.iter().all(|cpu| group.contains(cpu)))
        {
            let node_id = machine.cpus[node[0].index()].node;
            let problem = format!(
                "no group of the top level {} spans node {node_id}",
                top.name
            );
            let expected = "expected a last level with whole nodes, such as `one_per = \"node\"`";
            return Err(Flaw::new(at(row), problem, expected));
        }
    }
    Ok(())
}
