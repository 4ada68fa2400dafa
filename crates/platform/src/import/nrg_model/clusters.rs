//! Nodes of clusters in LISA's energy model: what a cluster draws beside its CPUs
//! (docs/guide/import.md, "What is read").
//!
//! Called by `nrg_model.rs`. Powers keep the file's scale.
//!
//! What must stay: a cluster's power is used only where it is known at all frequencies and idle
//! states of a whole clock; what is not of use is said (`left_out`). Free: what leaves the files of
//! imports as they are (ARCHITECTURE.md, "What a change may touch"), and words of messages that no
//! test quotes. Tests by part: `clusters_of_an_energy_model_of_lisa` (`cluster_of`, `left_out`),
//! `an_energy_model_of_lisa` (`collect`, `powers`, `idle_power`: figures and what is refused). No
//! test of its own: a CPU in several clusters. `read`, `cpus` and `clusters`: both.
//!
//! Tests: crates/platform/tests/all/import/mod.rs

use super::{MAX_POWER, NrgModel, capacity_and_power, entries, idle, khz};
use crate::import::found::cpu_list;
use crate::import::yaml::Yaml;

/// A cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cluster {
    /// Ascending.
    pub(super) cpus: Vec<u16>,
    /// Power while a CPU of it runs, by frequency (kHz).
    pub(super) busy: Vec<(u32, u64)>,
    /// Name and power of the idle states, all of its CPUs in one.
    pub(super) idle: Vec<(String, u64)>,
}

/// All clusters of the model, by lowest CPU. They stand where the file has them first: below the
/// root, or as the parent of a CPU.
pub(super) fn read(
    model: &Yaml,
    count: usize,
    said: &mut Vec<String>,
) -> Result<Vec<Cluster>, String> {
    let mut found = Vec::new();
    collect(model, count, &mut found)?;
    found.sort_by(|a: &Cluster, b| a.cpus.cmp(&b.cpus));
    let mut seen = vec![false; count];
    for cpu in found.iter().flat_map(|cluster| &cluster.cpus) {
        if std::mem::replace(&mut seen[usize::from(*cpu)], true) {
            said.push(format!(
                "power of clusters left out: `nrg-model` has CPU {cpu} in several"
            ));
            return Ok(Vec::new());
        }
    }
    Ok(found)
}

/// Goes down the nodes and takes each that draws power and is of no single CPU.
fn collect(value: &Yaml, count: usize, found: &mut Vec<Cluster>) -> Result<(), String> {
    let below: Vec<&Yaml> = match value {
        Yaml::Map(map) => map.values().collect(),
        Yaml::List(list) => list.iter().collect(),
        Yaml::Scalar(_) | Yaml::Nothing => return Ok(()),
    };
    let of_cpu = value.get("cpu").is_some_and(|cpu| *cpu != Yaml::Nothing);
    let busy = value.get("active_states");
    if let Some(busy) = busy.filter(|busy| !of_cpu && **busy != Yaml::Nothing) {
        let name = value
            .get("name")
            .and_then(Yaml::text)
            .unwrap_or("a cluster");
        let name = wakeplace_text::shorten(name);
        let wrong = |key: &str| format!("`{key}` of {name} in `nrg-model`");
        let cluster = Cluster {
            cpus: cpus(value, count).ok_or_else(|| wrong("cpus"))?,
            busy: powers(busy).ok_or_else(|| wrong("active_states"))?,
            idle: idle::states(value).ok_or_else(|| wrong("idle_states"))?,
        };
        match found.iter().find(|known| known.cpus == cluster.cpus) {
            Some(known) if *known != cluster => {
                return Err(format!("two nodes of the CPUs {:?}", cluster.cpus));
            }
            Some(_) => {}
            None => found.push(cluster),
        }
    }
    below
        .into_iter()
        .try_for_each(|value| collect(value, count, found))
}

/// The CPUs of a node, ascending, each once; `None` if the node names none or one that is not
/// there.
fn cpus(node: &Yaml, count: usize) -> Option<Vec<u16>> {
    let number = |cpu: &Yaml| {
        let cpu = cpu.number().and_then(|cpu| u16::try_from(cpu).ok());
        cpu.filter(|cpu| usize::from(*cpu) < count)
    };
    let list = node.get("cpus")?.list()?;
    let mut cpus: Vec<u16> = list.iter().map(number).collect::<Option<_>>()?;
    cpus.sort_unstable();
    cpus.dedup();
    (!cpus.is_empty()).then_some(cpus)
}

/// Frequency (kHz) and power of a cluster's active states, rising; `None` if they are wrong.
fn powers(busy: &Yaml) -> Option<Vec<(u32, u64)>> {
    let one = |(text, values): (&String, &Yaml)| {
        let (_, power) = capacity_and_power(values)?;
        let power = power.whole().filter(|power| *power <= MAX_POWER)?;
        Some((khz(text)?, power))
    };
    let mut powers: Vec<(u32, u64)> = entries(busy)?.into_iter().map(one).collect::<Option<_>>()?;
    powers.sort_unstable();
    let twice = powers.windows(2).any(|pair| pair[0].0 == pair[1].0);
    (!twice && !powers.is_empty()).then_some(powers)
}

impl NrgModel {
    /// CPUs of each cluster; empty: the model has none.
    pub(in crate::import) fn clusters(&self) -> impl Iterator<Item = &[u16]> {
        self.clusters.iter().map(|cluster| cluster.cpus.as_slice())
    }

    /// Says it where the model has clusters of a clock, and what they draw is not of use.
    pub(in crate::import) fn left_out(&self, clock: &[u16]) -> Option<String> {
        let mut here = self.clusters.iter().flat_map(|cluster| &cluster.cpus);
        let left_out = here.any(|cpu| clock.contains(cpu)) && self.cluster_of(clock).is_none();
        left_out.then(|| {
            format!(
                "power of clusters left out for CPUs {}: `nrg-model` has it for other CPUs than \
                 this clock's, or not for all frequencies and idle states",
                cpu_list(clock)
            )
        })
    }

    /// What each cluster of a clock draws, where the model has it for the whole clock: at the
    /// frequencies and in the idle states of its CPUs, the same for all clusters.
    pub(super) fn cluster_of(&self, cpus: &[u16]) -> Option<&Cluster> {
        let first = usize::from(*cpus.first()?);
        let here = |cluster: &&Cluster| cluster.cpus.iter().any(|cpu| cpus.contains(cpu));
        let of: Vec<&Cluster> = self.clusters.iter().filter(here).collect();
        let inside = of.iter().flat_map(|cluster| &cluster.cpus);
        let whole = inside.clone().all(|cpu| cpus.contains(cpu)) && inside.count() == cpus.len();
        let alike =
            |pair: &[&Cluster]| (&pair[0].busy, &pair[0].idle) == (&pair[1].busy, &pair[1].idle);
        let cluster = of.first().copied()?;
        let khz = cluster.busy.iter().map(|(khz, _)| *khz);
        let fits = khz.eq(self.states[first].iter().map(|state| state.khz))
            && self.idle[first]
                .iter()
                .all(|(name, _)| cluster.idle_power(name).is_some());
        (whole && fits && of.windows(2).all(alike)).then_some(cluster)
    }
}

impl Cluster {
    /// What the cluster draws in a state of that name.
    pub(super) fn idle_power(&self, state: &str) -> Option<u64> {
        let found = self.idle.iter().find(|(name, _)| name == state);
        found.map(|(_, power)| *power)
    }
}
