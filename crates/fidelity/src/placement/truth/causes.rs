//! Why a task is not where the guest has it: runs with other beginnings (docs/results/truth.md).
//!
//! What must stay: what is tried changes the beginning alone; verdicts are made without it. Free:
//! what leaves the tables of pages as they are. Tests by part:
//! page/tests.rs::`three_columns_say_who_is_as_the_guest` (`differs`). `tried`, `conditions` have
//! no test of their own: `cargo xtask truth` goes through them, and its page is looked at.
//!
//! Callers: placement/truth.rs (`tried`), page.rs (`differs`).
//!
//! Tests: crates/fidelity/tests/all/truth.rs

use super::{MachineTruth, Policies, SetTruth, Simulated, simulated};
use crate::Error;
use crate::placement::SetRun;
use crate::placement::rest::Rest;
use crate::placement::sim::Conditions;
use crate::placement::starts::Row;

/// How much longer or shorter than measured a creation is tried.
const CREATION: u64 = 4;

/// Another beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beginning {
    /// Each task begins on the CPU of its first recorded run.
    Recorded,
    /// The creator of the tasks begins on this CPU, the first of a cluster.
    Creator { cpu: u32, cluster: usize },
    /// A creation takes so long.
    Creation { ns: u64 },
}

/// A set with another beginning.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tried {
    pub(super) beginning: Beginning,
    pub(super) runs: Simulated,
}

/// Is there something to explain? A task that one of the simulations does not have as the guest.
pub(super) fn differs(row: &Row) -> bool {
    !row.follows() || (row.has_one_figure() && !row.within())
}

/// What is tried of a set, if some task of it differs.
pub(super) fn tried(
    machine: &MachineTruth,
    policies: &Policies,
    of: &SetTruth,
    guest: &[(u64, SetRun)],
) -> Result<Vec<Tried>, Error> {
    let rows = of.rows(&of.own, &machine.clusters, machine.big());
    if !rows.iter().flatten().any(differs) {
        return Ok(Vec::new());
    }
    let fork_ns = Rest::read()?.fork_ns;
    let creators = (0..machine.clusters.names.len()).filter_map(|cluster| {
        let cpu = machine.clusters.first_cpu(cluster)?;
        Some(Beginning::Creator { cpu, cluster })
    });
    let creations = [fork_ns / CREATION, fork_ns * CREATION].map(|ns| Beginning::Creation { ns });
    let all = std::iter::once(Beginning::Recorded)
        .chain(creators)
        .chain(creations);
    let runs = all.map(|beginning| {
        let conditions = |offset_ns, kernel: &SetRun| beginning.conditions(offset_ns, kernel);
        let runs = simulated(&machine.platform, policies, &of.set, guest, &conditions)?;
        Ok(Tried { beginning, runs })
    });
    runs.collect()
}

impl Beginning {
    /// Of a simulation with this one beginning changed.
    fn conditions(self, offset_ns: u64, guest: &SetRun) -> Conditions {
        let mut conditions = Conditions::guest(offset_ns);
        match self {
            Self::Recorded => {
                conditions.begin = guest.tasks.iter().map(|task| task.first_cpu).collect();
            }
            Self::Creator { cpu, .. } => conditions.creator = Some(cpu),
            Self::Creation { ns } => conditions.fork_ns = Some(ns),
        }
        conditions
    }
}
