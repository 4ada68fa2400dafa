//! Idle states in LISA's energy model: names and powers, without times (docs/guide/import.md, "What
//! is read").
//!
//! Called by `nrg_model.rs` and `lisa.rs`. Such files have no times: Juno r0's are taken and marked
//! as assumed.
//!
//! What must stay: the order from shallow to deep, which `read/idle.rs` demands; a name is one that
//! `IdleState::is_name` takes. Free: what leaves the files of imports as they are (ARCHITECTURE.md,
//! "What a change may touch"), and words of messages that no test quotes. Tests by part:
//! `an_energy_model_of_lisa` (`states`, `idle`, the times).
//!
//! Tests: crates/platform/tests/all/import/mod.rs

use super::{MAX_POWER, NrgModel, entries};
use crate::IdleState;
use crate::import::found::{FoundIdle, IdlePower, Origin};
use crate::import::yaml::Yaml;

/// Name and power of the states of a node from shallow to deep; empty: it has none. A map without
/// an order is ordered by power. None: they are wrong.
pub(super) fn states(node: &Yaml) -> Option<Vec<(String, u64)>> {
    let states = match node.get("idle_states") {
        None | Some(Yaml::Nothing) => return Some(Vec::new()),
        Some(states) => states,
    };
    let one = |(name, power): (&String, &Yaml)| {
        let power = power.whole().filter(|power| *power <= MAX_POWER)?;
        IdleState::is_name(name).then(|| (name.clone(), power))
    };
    let mut all: Vec<(String, u64)> = entries(states)?
        .into_iter()
        .map(one)
        .collect::<Option<_>>()?;
    if matches!(states, Yaml::Map(_)) {
        all.sort_by_key(|(_, power)| std::cmp::Reverse(*power));
    }
    Some(all)
}

/// Entry, exit and residency, us, where a file of LISA has only names: of the first state, of those
/// of CPUs and of those of clusters.
const FIRST_US: [u64; 3] = [0, 1, 1];
const CPU_US: [u64; 3] = [300, 1_200, 2_000];
const CLUSTER_US: [u64; 3] = [400, 1_200, 2_500];

impl NrgModel {
    /// The idle states of a clock's CPUs.
    ///
    /// # Errors
    /// Its CPUs differ.
    pub(in crate::import) fn idle(
        &self,
        cpus: &[u16],
        place: &str,
    ) -> Result<Vec<FoundIdle>, String> {
        let of = |cpu: &u16| self.idle.get(usize::from(*cpu));
        let Some(states) = cpus.first().and_then(of) else {
            return Ok(Vec::new());
        };
        if cpus.iter().any(|cpu| of(cpu) != Some(states)) {
            return Err(format!(
                "`nrg-model` has different idle states for the CPUs {cpus:?} of one clock"
            ));
        }
        let cluster = self.cluster_of(cpus);
        let lowest = self.states[usize::from(cpus[0])]
            .iter()
            .map(|state| state.power)
            .min();
        let mut all: Vec<FoundIdle> = Vec::new();
        for (name, cpu) in states {
            let of_cluster = cluster.and_then(|cluster| cluster.idle_power(name));
            let is_cluster = all.last().is_some_and(|before| {
                let power = before.power.as_ref().and_then(|power| power.cluster);
                // A cluster that draws less than with its CPUs in the state before is off itself.
                before.cluster || of_cluster < power || name.to_lowercase().contains("cluster")
            });
            let (times, from) = match (all.is_empty(), is_cluster) {
                (true, _) => (
                    FIRST_US,
                    "1 us as WFI, state 0 of Linux drivers/cpuidle/cpuidle-psci.c",
                ),
                (_, false) => (CPU_US, "those of Juno r0's cpu-sleep-0, Linux juno.dts"),
                (_, true) => (
                    CLUSTER_US,
                    "those of Juno r0's cluster-sleep-0, Linux juno.dts",
                ),
            };
            let stated = format!("{place}: nrg-model, idle_states");
            let [entry_us, exit_us, residency_us] = times;
            all.push(FoundIdle {
                name: name.clone(),
                cluster: is_cluster,
                cpus: cpus.to_vec(),
                entry_us,
                exit_us,
                residency_us,
                from: Origin::assumed(format!("{stated}; it has no times: {from}")),
                power: Some(IdlePower {
                    cpu: *cpu,
                    cluster: of_cluster,
                    lowest: lowest.unwrap_or(0),
                    from: Origin::stated(stated),
                }),
            });
        }
        Ok(all)
    }
}
