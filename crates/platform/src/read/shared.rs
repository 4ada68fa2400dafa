//! What nodes, threads and CPUs are to each other: `[numa]`, `[smt]`, `[priority]`
//! (docs/guide/platforms.md, "What the words mean").
//!
//! Called by `read/mod.rs`.
//!
//! What must stay: distances are the kernel's, one both ways; figures of `[smt]` are 1024ths of a
//! core with one busy thread and never fall; a table is there where it is needed, and only there.
//! Free: what leaves each file's machine as it is (ARCHITECTURE.md, "What a change may touch"), and
//! words of messages that no test quotes. Tests by part: `what_is_read` (all three tables),
//! `distances_that_are_none` (`distances`, `reclaim_distance`), `nodes_need_their_figures` (`numa`,
//! `node_count`), `threads_need_what_they_share` (`smt`, `of_core`),
//! `priorities_and_levels_belong_together` (`priority`). `narrow`: all.
//!
//! Tests: crates/platform/tests/all/shared.rs

use toml::Spanned;

use super::machine::Machine;
use super::provenance::Provenance;
use super::raw::{Int, RawNuma, RawPart, RawPriority, RawSmt};
use super::values::{at, between};
use crate::error::Flaw;
use crate::numa::{LOCAL_DISTANCE, MAX_NODES};
use crate::{Numa, PowerUnit, Smt, TopologyLevel};

/// Farthest distance; 255 means unreachable.
const MAX_DISTANCE: u64 = 254;

/// `RECLAIM_DISTANCE` of include/linux/topology.h.
const USUAL_RECLAIM_DISTANCE: u32 = 30;

/// Most work of a core, of 1024 for one thread: as many threads as a core may have, each alone.
const MAX_CORE_CAPACITY: u64 = 8 * 1024;

/// Highest priority of a CPU.
const MAX_PRIORITY: u64 = 1_000_000;

/// Reads the `[numa]` table; `places` is where a missing one is noticed.
pub(super) fn numa(
    raw: Option<&Spanned<RawNuma>>,
    machine: &Machine<'_>,
    clusters_at: usize,
    provenance: &mut Provenance,
) -> Result<Option<Numa>, Flaw> {
    let nodes = node_count(machine, clusters_at)?;
    let Some(raw) = raw else {
        if nodes == 1 {
            return Ok(None);
        }
        let problem =
            format!("the clusters are on {nodes} nodes and their distances are not given");
        return Err(Flaw::new(
            clusters_at,
            problem,
            "expected `[numa]` with `distances`",
        ));
    };
    let table = raw.get_ref();
    let source = provenance.note(at(raw), "numa".into(), &table.source, table.standing)?;
    let reclaim_distance = match &table.reclaim_distance {
        Some(value) => narrow(between(
            value,
            u64::from(LOCAL_DISTANCE),
            MAX_DISTANCE,
            "`reclaim_distance`",
            "",
        )?),
        None => USUAL_RECLAIM_DISTANCE,
    };
    Ok(Some(Numa {
        distances: distances(&table.distances, nodes)?,
        reclaim_distance,
        source,
    }))
}

/// Nodes are numbered from 0 without a gap.
fn node_count(machine: &Machine<'_>, clusters_at: usize) -> Result<usize, Flaw> {
    let mut numbers: Vec<u32> = machine.cpus.iter().map(|cpu| cpu.node).collect();
    numbers.sort_unstable();
    numbers.dedup();
    if let Some((at, _)) = numbers
        .iter()
        .enumerate()
        .find(|(at, n)| *at != **n as usize)
    {
        let problem = format!(
            "no cluster is on node {at}, though one is on node {}",
            numbers[at]
        );
        let expected = "expected nodes numbered from 0 without gaps";
        return Err(Flaw::new(clusters_at, problem, expected));
    }
    if numbers.len() > MAX_NODES {
        let problem = format!("there are {} nodes", numbers.len());
        return Err(Flaw::new(
            clusters_at,
            problem,
            format!("expected at most {MAX_NODES}"),
        ));
    }
    Ok(numbers.len())
}

/// The matrix: as many rows and columns as nodes, each node nearest to itself.
fn distances(rows: &Spanned<Vec<Spanned<Vec<Int>>>>, nodes: usize) -> Result<Vec<Vec<u32>>, Flaw> {
    let expected = format!("expected {nodes} rows of {nodes}, one per node");
    if rows.get_ref().len() != nodes {
        let problem = format!("`distances` has {} rows", rows.get_ref().len());
        return Err(Flaw::new(at(rows), problem, expected));
    }
    let mut table: Vec<Vec<u32>> = Vec::new();
    for (from, row) in rows.get_ref().iter().enumerate() {
        if row.get_ref().len() != nodes {
            let problem = format!(
                "row {from} of `distances` has {} figures",
                row.get_ref().len()
            );
            return Err(Flaw::new(at(row), problem, expected));
        }
        let mut figures = Vec::new();
        for (to, figure) in row.get_ref().iter().enumerate() {
            let what = format!("the distance from node {from} to node {to}");
            let local = u64::from(LOCAL_DISTANCE);
            let (least, most) = if from == to {
                (local, local)
            } else {
                (local + 1, MAX_DISTANCE)
            };
            let value = narrow(between(figure, least, most, &what, "")?);
            let back = table.get(to).map_or(value, |row| row[from]);
            if back != value {
                let problem = format!("{what} is {value}, the way back {back}");
                return Err(Flaw::new(
                    at(figure),
                    problem,
                    "expected one distance both ways",
                ));
            }
            figures.push(value);
        }
        table.push(figures);
    }
    Ok(table)
}

/// A number that was compared with its limit before.
fn narrow(value: u64) -> u32 {
    u32::try_from(value).expect("it was compared with a small limit")
}

/// Reads the `[smt]` table: needed where cores have several threads, and only there.
pub(super) fn smt(
    raw: Option<&Spanned<RawSmt>>,
    machine: &Machine<'_>,
    (unit, clusters_at): (PowerUnit, usize),
    provenance: &mut Provenance,
) -> Result<Option<Smt>, Flaw> {
    let cores = machine.divide(&machine.all(), RawPart::Core);
    let threads = cores.iter().map(Vec::len).max().unwrap_or(1);
    let Some(raw) = raw else {
        if threads == 1 {
            return Ok(None);
        }
        let problem = format!("cores have {threads} threads and what they share is not given");
        return Err(Flaw::new(
            clusters_at,
            problem,
            "expected `[smt]` with `core_capacity`",
        ));
    };
    let table = raw.get_ref();
    let source = provenance.note(at(raw), "smt".into(), &table.source, table.standing)?;
    if threads == 1 {
        let problem = "no core has several threads, but what they share is given";
        return Err(Flaw::new(at(raw), problem, "expected no `[smt]` table"));
    }
    let core_capacity = of_core(&table.core_capacity, threads, "core_capacity", "work")?;
    let core_power = match &table.core_power {
        Some(list) if unit == PowerUnit::None => {
            let problem = "`core_power` is given for a machine without power figures";
            let expected = "expected no such key, since `power_unit` is \"none\"";
            return Err(Flaw::new(at(list), problem, expected));
        }
        Some(list) => of_core(list, threads, "core_power", "power")?,
        None => Vec::new(),
    };
    Ok(Some(Smt {
        core_capacity,
        core_power,
        source,
    }))
}

/// Figures of a core with 1, 2, ... busy threads: they begin with 1024 and never fall.
fn of_core(
    list: &Spanned<Vec<Int>>,
    threads: usize,
    key: &str,
    word: &str,
) -> Result<Vec<u32>, Flaw> {
    if list.get_ref().len() != threads {
        let problem = format!("`{key}` has {} figures", list.get_ref().len());
        let expected = format!("expected {threads}: with 1 to {threads} busy threads");
        return Err(Flaw::new(at(list), problem, expected));
    }
    let mut figures = Vec::new();
    for (index, figure) in list.get_ref().iter().enumerate() {
        let least = figures.last().map_or(1024, |below| u64::from(*below));
        let most = if index == 0 { 1024 } else { MAX_CORE_CAPACITY };
        let what = format!("the {word} of a core with {} busy threads", index + 1);
        figures.push(narrow(between(figure, least, most, &what, "")?));
    }
    Ok(figures)
}

/// Reads the `[priority]` table into the CPUs: needed where a level packs by it, and only there.
pub(super) fn priority(
    raw: Option<&Spanned<RawPriority>>,
    machine: &mut Machine<'_>,
    (levels, levels_at): (&[TopologyLevel], usize),
    provenance: &mut Provenance,
) -> Result<(), Flaw> {
    let packs = levels.iter().find(|level| level.asym_packing);
    let Some(raw) = raw else {
        let Some(level) = packs else { return Ok(()) };
        let problem = format!(
            "level {} has `asym_packing` and no CPU a priority",
            level.name
        );
        return Err(Flaw::new(
            levels_at,
            problem,
            "expected `[priority]` with `ranks`",
        ));
    };
    if packs.is_none() {
        let problem = "CPUs have priorities and no level has `asym_packing`";
        let expected = "expected `asym_packing = true` at a level, or no `[priority]`";
        return Err(Flaw::new(at(raw), problem, expected));
    }
    let table = raw.get_ref();
    provenance.note(at(raw), "priority".into(), &table.source, table.standing)?;
    let mut ranked = vec![false; machine.cpus.len()];
    for rank in &table.ranks {
        let value = narrow(between(&rank.value, 1, MAX_PRIORITY, "`value`", "")?);
        for cpu in machine.list(&rank.cpus)? {
            if std::mem::replace(&mut ranked[cpu.index()], true) {
                let problem = format!("CPU {cpu} has two priorities");
                return Err(Flaw::new(at(&rank.cpus), problem, "expected each CPU once"));
            }
            machine.cpus[cpu.index()].priority = value;
        }
    }
    match ranked.iter().position(|ranked| !ranked) {
        Some(cpu) => {
            let problem = format!("CPU {cpu} has no priority");
            Err(Flaw::new(
                at(raw),
                problem,
                "expected each CPU in one of `ranks`",
            ))
        }
        None => Ok(()),
    }
}
