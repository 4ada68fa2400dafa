//! CPUs and clusters (docs/guide/platforms.md, "Speed and capacity").
//!
//! Called first by `read/mod.rs`: later tables name CPUs of these.
//!
//! What must stay: CPU numbers are the kernel's, dense from 0; clusters stand in the order of the
//! file, cores count from 0 by their lowest CPU; the biggest CPU has 1024, which the policy core
//! counts on. Free: what leaves each file's machine as it is (ARCHITECTURE.md, "What a change may
//! touch"), and words of messages that no test quotes. Tests by part: `cpus_and_clusters` (`read`,
//! `place`, `dense`), `names` (`cluster_name`), `capacity` (`check_scale`), `speeds`
//! (`check_speeds`), `threads_of_cores` (`first_threads`), `topology` (`read_list`: a mistake
//! within a list has its column; `divide`), all (`list`, `all`).
//!
//! Tests: crates/platform/tests/all/bad_files.rs

use toml::Spanned;

use super::provenance::Provenance;
use super::raw::{Int, RawCluster, RawCores, RawNumbering, RawPart, RawSource, Text};
use super::values::{at, between};
use crate::cpu_list;
use crate::error::Flaw;
use crate::{Cluster, Cpu, CpuId, MAX_CPUS};
use wakeplace_text::shorten;

/// Capacity of the biggest CPU; the kernel's `SCHED_CAPACITY_SCALE`.
const CAPACITY_SCALE: u64 = 1024;

/// Most threads a core may have.
const MAX_THREADS_PER_CORE: u64 = 8;

/// CPUs and clusters, and the file's text for the places in CPU lists.
pub(super) struct Machine<'a> {
    pub(super) cpus: Vec<Cpu>,
    pub(super) clusters: Vec<Cluster>,
    text: &'a str,
}

impl<'a> Machine<'a> {
    /// Reads the `[[cluster]]` tables, and whose word the speeds in them are.
    pub(super) fn read(
        raw: &Spanned<Vec<Spanned<RawCluster>>>,
        speed: Option<&Spanned<RawSource>>,
        text: &'a str,
        provenance: &mut Provenance,
    ) -> Result<Self, Flaw> {
        let mut slots: Vec<Option<Cpu>> = Vec::new();
        let mut clusters: Vec<Cluster> = Vec::new();
        for table in raw.get_ref() {
            let cluster = table.get_ref();
            let name = cluster_name(&cluster.name, &clusters)?;
            let what = format!("cluster {name}");
            provenance.note(at(table), what, &cluster.source, cluster.standing)?;
            let index = u32::try_from(clusters.len()).expect("the file size limits the clusters");
            let mut cpus = Vec::new();
            for cores in &cluster.cores {
                let list = read_list(&cores.cpus, text, MAX_CPUS, &[])?;
                place(cores, &list, (index, cluster), &mut slots)?;
                cpus.extend(list);
            }
            if cpus.is_empty() {
                let problem = format!("cluster `{name}` has no CPUs");
                return Err(Flaw::new(
                    at(table),
                    problem,
                    "expected `cores` with at least one",
                ));
            }
            cpus.sort_unstable();
            clusters.push(Cluster { name, cpus });
        }
        let cpus = dense(slots, at(raw))?;
        let machine = Self {
            cpus,
            clusters,
            text,
        };
        machine.check_scale(raw)?;
        check_speeds(raw, speed, provenance)?;
        Ok(machine)
    }

    /// CPUs of a list in the file; names of clusters are allowed.
    pub(super) fn list(&self, list: &Text) -> Result<Vec<CpuId>, Flaw> {
        read_list(list, self.text, self.cpus.len(), &self.clusters)
    }

    /// The CPUs divided as asked, each group ascending, groups by lowest CPU.
    pub(super) fn divide(&self, cpus: &[CpuId], part: RawPart) -> Vec<Vec<CpuId>> {
        let mut groups: Vec<(u32, Vec<CpuId>)> = Vec::new();
        for &id in cpus {
            let cpu = &self.cpus[id.index()];
            let key = match part {
                RawPart::Cpu => id.0,
                RawPart::Core => cpu.core,
                RawPart::Cluster => cpu.cluster,
                RawPart::Package => cpu.package,
                RawPart::Node => cpu.node,
                RawPart::Machine => 0,
            };
            match groups.iter_mut().find(|(k, _)| *k == key) {
                Some((_, members)) => members.push(id),
                None => groups.push((key, vec![id])),
            }
        }
        groups.into_iter().map(|(_, members)| members).collect()
    }

    /// All CPUs, ascending.
    pub(super) fn all(&self) -> Vec<CpuId> {
        (0..).take(self.cpus.len()).map(CpuId).collect()
    }

    /// The biggest capacity is 1024.
    fn check_scale(&self, raw: &Spanned<Vec<Spanned<RawCluster>>>) -> Result<(), Flaw> {
        let rows = raw
            .get_ref()
            .iter()
            .flat_map(|cluster| &cluster.get_ref().cores);
        let biggest = rows.map(|row| &row.capacity).max_by_key(|c| *c.get_ref());
        let capacity: &Int = biggest.expect("there is at least one cluster, none is empty");
        if *capacity.get_ref() == CAPACITY_SCALE {
            return Ok(());
        }
        let problem = format!(
            "no CPU has capacity 1024; the biggest has {}",
            capacity.get_ref()
        );
        Err(Flaw::new(
            at(capacity),
            problem,
            "expected 1024 for the biggest CPU",
        ))
    }
}

/// All CPUs have a speed, by one source, or none has.
fn check_speeds(
    raw: &Spanned<Vec<Spanned<RawCluster>>>,
    table: Option<&Spanned<RawSource>>,
    provenance: &mut Provenance,
) -> Result<(), Flaw> {
    let rows = || {
        let clusters = raw.get_ref().iter();
        clusters.flat_map(|cluster| &cluster.get_ref().cores)
    };
    let stated = || rows().filter_map(|row| row.speed.as_ref());
    let Some(table) = table else {
        return match stated().next() {
            None => Ok(()),
            Some(speed) => Err(Flaw::new(
                at(speed),
                "a speed without a source",
                "expected a table `[speed]` with `source` and `standing`",
            )),
        };
    };
    let RawSource { source, standing } = table.get_ref();
    provenance.note(at(table), "speed".into(), source, *standing)?;
    if let Some(row) = rows().find(|row| row.speed.is_none()) {
        let problem = "these CPUs have no `speed`, and the file has a table `[speed]`";
        let expected = "expected a `speed` of all CPUs, or no table";
        return Err(Flaw::new(at(&row.cpus), problem, expected));
    }
    match stated().max_by_key(|speed| *speed.get_ref()) {
        Some(fastest) if *fastest.get_ref() != CAPACITY_SCALE => Err(Flaw::new(
            at(fastest),
            format!(
                "no CPU has speed 1024; the fastest has {}",
                fastest.get_ref()
            ),
            "expected 1024 for the fastest CPU",
        )),
        _ => Ok(()),
    }
}

/// A list of CPUs; a mistake is pointed at where it stands in the text.
fn read_list(
    list: &Text,
    text: &str,
    cpu_count: usize,
    clusters: &[Cluster],
) -> Result<Vec<CpuId>, Flaw> {
    cpu_list::parse(list.get_ref(), cpu_count, clusters).map_err(|error| {
        // Inside a plain one-line string the wrong part itself is pointed at.
        let start = at(list);
        let is_plain = text
            .get(start + 1..)
            .is_some_and(|t| t.starts_with(list.get_ref()));
        let place = if is_plain {
            start + 1 + error.at
        } else {
            start
        };
        Flaw::new(place, error.problem, error.expected).with_hint(error.hint)
    })
}

/// A word in small letters that no other cluster has.
fn cluster_name(name: &Text, clusters: &[Cluster]) -> Result<String, Flaw> {
    let text = name.get_ref();
    let is_word = text.starts_with(|c: char| c.is_ascii_lowercase())
        && text
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    if !is_word || text == "all" {
        let problem = format!("`{}` cannot name a cluster", shorten(text));
        return Err(Flaw::new(
            at(name),
            problem,
            "expected a name such as `little`",
        ));
    }
    if clusters.iter().any(|c| c.name == *text) {
        let problem = format!("there are two clusters `{}`", shorten(text));
        return Err(Flaw::new(at(name), problem, "expected each name once"));
    }
    Ok(text.clone())
}

/// Puts the CPUs of one `cores` row where their numbers say.
fn place(
    cores: &RawCores,
    list: &[CpuId],
    (index, cluster): (u32, &RawCluster),
    slots: &mut Vec<Option<Cpu>>,
) -> Result<(), Flaw> {
    let capacity = between(&cores.capacity, 1, CAPACITY_SCALE, "`capacity`", "")?;
    let capacity = u32::try_from(capacity).expect("CAPACITY_SCALE fits");
    let speed = match &cores.speed {
        Some(speed) => between(speed, 1, CAPACITY_SCALE, "`speed`", "")?,
        None => u64::from(capacity),
    };
    let speed = u32::try_from(speed).expect("CAPACITY_SCALE fits");
    let first_threads = first_threads(cores, list)?;
    for (&id, core) in list.iter().zip(first_threads) {
        if slots.len() <= id.index() {
            slots.resize(id.index() + 1, None);
        }
        let slot = &mut slots[id.index()];
        if slot.is_some() {
            let problem = format!("CPU {id} is in two clusters");
            return Err(Flaw::new(
                at(&cores.cpus),
                problem,
                "expected each CPU once",
            ));
        }
        *slot = Some(Cpu {
            kind: cores.kind.clone(),
            capacity,
            speed,
            core: core.0,
            cluster: index,
            package: cluster.package,
            node: cluster.node,
            priority: 0,
        });
    }
    Ok(())
}

/// For each CPU of the list the first thread of its core.
fn first_threads(cores: &RawCores, list: &[CpuId]) -> Result<Vec<CpuId>, Flaw> {
    let Some(threads) = &cores.threads_per_core else {
        return Ok(list.to_vec());
    };
    let count = between(threads, 1, MAX_THREADS_PER_CORE, "`threads_per_core`", "")?;
    let count = usize::try_from(count).expect("MAX_THREADS_PER_CORE fits");
    if count == 1 {
        return Ok(list.to_vec());
    }
    let Some(numbering) = cores.thread_numbering else {
        let problem = "cores have several threads and their numbering is not given";
        let expected = "expected `thread_numbering = \"adjacent\"` or `\"block\"`";
        return Err(Flaw::new(at(threads), problem, expected));
    };
    if !list.len().is_multiple_of(count) {
        let problem = format!("{} CPUs cannot make cores of {count} threads", list.len());
        return Err(Flaw::new(
            at(threads),
            problem,
            "expected a divisor of the CPU count",
        ));
    }
    let core_count = list.len() / count;
    let first_of = |i: usize| match numbering {
        RawNumbering::Adjacent => list[i - i % count],
        RawNumbering::Block => list[i % core_count],
    };
    Ok((0..list.len()).map(first_of).collect())
}

/// CPUs without a gap in their numbers; cores renumbered from 0 by their lowest CPU.
fn dense(slots: Vec<Option<Cpu>>, clusters_at: usize) -> Result<Vec<Cpu>, Flaw> {
    if slots.is_empty() {
        return Err(Flaw::new(
            clusters_at,
            "there are no clusters",
            "expected `[[cluster]]`",
        ));
    }
    if let Some(gap) = slots.iter().position(Option::is_none) {
        let problem = format!("CPU {gap} is in no cluster, though higher numbers are");
        return Err(Flaw::new(
            clusters_at,
            problem,
            "expected CPUs numbered from 0 without gaps",
        ));
    }
    let mut cpus: Vec<Cpu> = slots.into_iter().flatten().collect();
    let mut firsts: Vec<u32> = cpus.iter().map(|c| c.core).collect();
    firsts.sort_unstable();
    firsts.dedup();
    for cpu in &mut cpus {
        let core = firsts.binary_search(&cpu.core).expect("collected above");
        cpu.core = u32::try_from(core).expect("MAX_CPUS fits");
    }
    Ok(cpus)
}
