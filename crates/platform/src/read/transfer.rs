//! What is between CPUs and their data: `[transfer]`, `[cache]` (docs/decisions/060).
//!
//! `transfer` is called last by `read/mod.rs`, as levels of nearness follow from all other tables.
//! Times are ns, sizes KiB.
//!
//! What must stay: a time for each level that some two CPUs have as their closest, and no other;
//! memory is no nearer than the cache. Free: what leaves each file's machine as it is
//! (ARCHITECTURE.md, "What a change may touch"), and words of messages that no test quotes. Tests
//! by part: `tables_are_read` (`transfer`, `cache`), `the_levels_are_those_of_the_machine`
//! (`Levels::of`, `transfer`), `memory_is_no_nearer_than_the_cache` (`cache`), the second also
//! `of`.
//!
//! Callers: mod.rs (`transfer`).
//!
//! Tests: crates/platform/tests/all/transfer.rs

use toml::Spanned;

use super::provenance::Provenance;
use super::raw::{Int, RawCache, RawTransfer};
use super::values::{at, between};
use crate::error::Flaw;
use crate::{Cache, CpuId, Platform, Transfer};

/// Longest way of one line, ns: ten times that between the sockets of any machine.
const MAX_LINE_NS: u64 = 10_000;
/// Largest cache, KiB: 16 GiB.
const MAX_KIB: u64 = 16 << 20;

/// Reads `[transfer]` of a machine whose other tables are read.
pub(super) fn transfer(
    raw: Option<&Spanned<RawTransfer>>,
    machine: &Platform,
    provenance: &mut Provenance,
) -> Result<Option<Transfer>, Flaw> {
    let Some(raw) = raw else { return Ok(None) };
    let table = raw.get_ref();
    let source = provenance.note(at(raw), "transfer".into(), &table.source, table.standing)?;
    let levels = Levels::of(machine);
    let level = |value: &Option<Int>, key: &str, what: &str, exists: bool| {
        let key = format!("`{key}`");
        match (value, exists) {
            (Some(value), true) => Ok(Some(between(value, 1, MAX_LINE_NS, &key, "ns")?)),
            (None, false) => Ok(None),
            (Some(value), false) => {
                let problem = format!("{key} is given for a machine without {what}");
                Err(Flaw::new(at(value), problem, "expected no such key"))
            }
            (None, true) => {
                let problem = format!("the machine has {what}, and `[transfer]` lacks their time");
                Err(Flaw::new(at(raw), problem, format!("expected {key}")))
            }
        }
    };
    Ok(Some(Transfer {
        smt_ns: level(&table.smt_ns, "smt_ns", "threads of one core", levels.smt)?,
        cluster_ns: level(
            &table.cluster_ns,
            "cluster_ns",
            "clusters below a cache",
            levels.cluster,
        )?,
        cache_ns: level(
            &table.cache_ns,
            "cache_ns",
            "CPUs of one cache",
            levels.cache,
        )?,
        node_ns: level(
            &table.node_ns,
            "node_ns",
            "several caches in a node",
            levels.node,
        )?,
        other_node_ns: level(
            &table.other_node_ns,
            "other_node_ns",
            "several nodes",
            levels.other_node,
        )?,
        source,
    }))
}

/// Which levels are the closest of some two CPUs.
#[derive(Default)]
struct Levels {
    smt: bool,
    cluster: bool,
    cache: bool,
    node: bool,
    other_node: bool,
}

impl Levels {
    /// Which levels of nearness two CPUs of the machine can have.
    fn of(machine: &Platform) -> Self {
        let mut levels = Self::default();
        let first = |cpus: Option<&[CpuId]>, own: CpuId| cpus.map_or(own, |cpus| cpus[0]);
        let place = |index: usize| {
            let cpu = CpuId(index as u32);
            let cache = first(machine.last_level_cache(cpu), cpu);
            let cluster = machine.cache_cluster(cpu).map(|cpus| cpus[0]);
            (&machine.cpus[index], cluster, cache)
        };
        let places: Vec<_> = (0..machine.cpus.len()).map(place).collect();
        for (index, (one, cluster, cache)) in places.iter().enumerate() {
            for (other, other_cluster, other_cache) in &places[..index] {
                let level = match () {
                    () if one.core == other.core => &mut levels.smt,
                    () if cluster.is_some() && cluster == other_cluster => &mut levels.cluster,
                    () if cache == other_cache => &mut levels.cache,
                    () if one.node == other.node => &mut levels.node,
                    () => &mut levels.other_node,
                };
                *level = true;
            }
        }
        levels
    }
}

/// Reads `[cache]`.
pub(super) fn cache(
    raw: Option<&Spanned<RawCache>>,
    provenance: &mut Provenance,
) -> Result<Option<Cache>, Flaw> {
    let Some(raw) = raw else { return Ok(None) };
    let table = raw.get_ref();
    let source = provenance.note(at(raw), "cache".into(), &table.source, table.standing)?;
    let hit_ns = between(&table.hit_ns, 1, MAX_LINE_NS, "`hit_ns`", "ns")?;
    Ok(Some(Cache {
        last_level_kib: between(&table.last_level_kib, 1, MAX_KIB, "`last_level_kib`", "KiB")?,
        hit_ns,
        memory_ns: between(&table.memory_ns, hit_ns, MAX_LINE_NS, "`memory_ns`", "ns")?,
        source,
    }))
}
