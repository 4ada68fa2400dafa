//! Three columns: a guest, the same source in the simulator (a kernel tree's own `kernel/sched`),
//! and our model. Where a simulation is not as the guest, the same run is tried with other
//! beginnings, and what that changes is shown (docs/results/truth.md).
//!
//! What must stay: columns are guest, tree, model; both simulations have the guest's conditions.
//! Free: what leaves the tables of pages as they are. Tests by part:
//! tests/all/truth.rs::`recorded_runs_happen_again_in_the_same_source` (`of_recorded`, `simulated`,
//! `of`, `object`, `big`, `rows`; where a tree is built),
//! page/tests.rs::`three_columns_say_who_is_as_the_guest` (`both`, `rows`). `markdown`,
//! `of_guests`, `machine_truth` have no test of their own: `cargo xtask truth` goes through them,
//! and its page is looked at.
//!
//! Callers: main.rs (`of_recorded`, `of_guests`).
//!
//! Tests: crates/fidelity/tests/all/truth.rs

mod causes;
mod page;

use super::agree::Clusters;
use super::record::Side;
use super::recorded::data::{self, Rules};
use super::recorded::traced::Traces;
use super::sets::{self, Set};
use super::sim::{self, Conditions};
use super::starts::{Row, Start};
use super::{Measurement, SetRun, plan, record, work_more_ns};
use crate::{Error, Watch};
use causes::Tried;
use std::collections::BTreeSet;
use wakeplace_platform::Platform;
use wakeplace_policy_sys::Policy;

/// Times after a tick at which the first start of a set is simulated, its own among them: how much
/// of a figure is a matter of that time.
const OTHER_STARTS: u64 = 16;

/// Names of policies that are one kernel's own code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeNames {
    /// As it is.
    pub energy_aware: String,
    /// With `sched_energy_aware` 0.
    pub capacity_aware: String,
}

/// The policies that a guest is compared with under one set of rules.
struct Policies {
    tree: Policy,
    model: Policy,
}

impl Policies {
    /// Names of the tree and of the model's policy for these rules.
    fn of(names: &TreeNames, rules: Rules) -> Result<Self, Error> {
        let name = match rules {
            Rules::Eas => &names.energy_aware,
            Rules::Cas => &names.capacity_aware,
        };
        let parsed = |name: &str| Policy::parse(name).map_err(Error::input);
        Ok(Self {
            tree: parsed(name)?,
            model: parsed(rules.policy())?,
        })
    }
}

/// Runs of one set beside those of the guest, start by start.
#[derive(Clone, Debug, PartialEq)]
struct Simulated {
    tree: Vec<Start>,
    model: Vec<Start>,
}

impl Simulated {
    /// Both, in the order of the columns.
    fn both(&self) -> [&[Start]; 2] {
        [&self.tree, &self.model]
    }
}

/// A set in three columns.
#[derive(Clone, Debug, PartialEq)]
struct SetTruth {
    set: Set,
    /// As the guest began.
    own: Simulated,
    /// The first start, begun at other times after a tick.
    other_starts: Simulated,
    /// With other beginnings.
    tried: Vec<Tried>,
}

impl SetTruth {
    /// Each task beside the guest's, by column.
    fn rows(&self, simulated: &Simulated, clusters: &Clusters, big: usize) -> [Vec<Row>; 2] {
        simulated.both().map(|starts| {
            let tasks = 0..self.set.tasks.len();
            let row = |at| Row::of(&self.set, starts, at, clusters, big);
            tasks.map(row).collect()
        })
    }
}

/// All sets of a machine under one set of rules.
#[derive(Clone, Debug, PartialEq)]
struct MachineTruth {
    platform: Platform,
    clusters: Clusters,
    rules: Rules,
    /// Release of the guests' kernel.
    kernel: String,
    /// Names of the policies.
    tree: String,
    model: String,
    sets: Vec<SetTruth>,
}

impl MachineTruth {
    /// The cluster of the biggest CPUs: shares are of it.
    fn big(&self) -> usize {
        super::biggest(&self.platform)
    }
}

/// What was compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Truth {
    machines: Vec<MachineTruth>,
}

impl Truth {
    /// Tables in Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        page::markdown(&self.machines)
    }

    /// One object.
    #[must_use]
    pub fn object(&self) -> serde_json::Value {
        page::object(&self.machines)
    }

    /// Simulates every recorded run.
    ///
    /// # Errors
    /// A file of recorded runs breaks a rule, a policy cannot be had, or a kernel fails.
    pub fn of_recorded(names: &TreeNames, watch: &dyn Watch) -> Result<Self, Error> {
        let recorded = data::recorded()?;
        let traces = Traces::read()?;
        let platform = Platform::load(&recorded.platform).map_err(Error::input)?;
        let mut machines = Vec::new();
        for rules in Rules::ALL {
            let mut sets = Vec::new();
            for set in &recorded.sets {
                let mut runs = Vec::new();
                for run in recorded.repeats(rules, &set.name) {
                    runs.push((run.start_offset_us * 1000, traces.kernel_run(run, set)?));
                }
                sets.push((set.to_simulate(), runs));
            }
            let machine = (&platform, recorded.kernel.as_str());
            machines.push(machine_truth(machine, rules, names, sets, watch)?);
        }
        Ok(Self { machines })
    }

    /// Simulates what guests did.
    ///
    /// # Errors
    /// A guest cannot be booted or sent no recording, a policy cannot be had, or a kernel fails.
    pub fn of_guests(
        measurement: &Measurement,
        names: &TreeNames,
        watch: &dyn Watch,
    ) -> Result<Self, Error> {
        let Measurement { request, plans } = measurement;
        let mut boots = plan::boots(plans, request);
        boots.retain(|boot| boot.side != Side::Live);
        let guests = record::all(request, &boots, watch)?;
        let mut machines = Vec::new();
        for plan in plans {
            for rules in Rules::ALL {
                let side = match rules {
                    Rules::Eas => Side::EnergyAware,
                    Rules::Cas => Side::CapacityAware,
                };
                let own = guests
                    .iter()
                    .filter(|(boot, _)| std::ptr::eq(boot.plan, plan) && boot.side == side);
                let sets = plan.sets.iter().map(|set| {
                    let runs = own.clone().filter_map(|(boot, recording)| {
                        let run = recording.sets.get(&set.name)?.clone();
                        Some((sets::start_offset_ns(boot.start), run))
                    });
                    (set.clone(), runs.collect::<Vec<_>>())
                });
                let sets: Vec<_> = sets.filter(|(_, runs)| !runs.is_empty()).collect();
                let releases: BTreeSet<&str> =
                    own.map(|(_, recording)| &*recording.release).collect();
                let kernel = Vec::from_iter(releases).join(", ");
                if !sets.is_empty() {
                    let machine = (&plan.platform, kernel.as_str());
                    machines.push(machine_truth(machine, rules, names, sets, watch)?);
                }
            }
        }
        Ok(Self { machines })
    }
}

/// The guest's runs of each set, with the start's offset, beside simulated ones.
fn machine_truth(
    (platform, kernel): (&Platform, &str),
    rules: Rules,
    names: &TreeNames,
    sets: Vec<(Set, Vec<(u64, SetRun)>)>,
    watch: &dyn Watch,
) -> Result<MachineTruth, Error> {
    let policies = Policies::of(names, rules)?;
    let mut truth = MachineTruth {
        clusters: Clusters::of(platform),
        platform: platform.clone(),
        rules,
        kernel: kernel.to_owned(),
        tree: policies.tree.name().to_owned(),
        model: policies.model.name().to_owned(),
        sets: Vec::new(),
    };
    for (set, runs) in sets {
        watch.detail(&format!(
            "{}: set {} under {} in the simulator",
            platform.name,
            set.name,
            rules.name()
        ));
        let as_the_guest = |offset_ns: u64, _: &SetRun| Conditions::guest(offset_ns);
        let own = simulated(platform, &policies, &set, &runs, &as_the_guest)?;
        let first = runs.first().map(|(offset_ns, run)| {
            let others = (1..OTHER_STARTS).map(|k| {
                let later_ns = k * sets::TICK_NS / OTHER_STARTS;
                ((offset_ns + later_ns) % sets::TICK_NS, run.clone())
            });
            others.collect::<Vec<_>>()
        });
        let others = first.unwrap_or_default();
        let other_starts = simulated(platform, &policies, &set, &others, &as_the_guest)?;
        let mut of_set = SetTruth {
            set,
            own,
            other_starts,
            tried: Vec::new(),
        };
        of_set.tried = causes::tried(&truth, &policies, &of_set, &runs)?;
        truth.sets.push(of_set);
    }
    Ok(truth)
}

/// A set in the simulator under both policies, each start in conditions of its own.
fn simulated(
    platform: &Platform,
    policies: &Policies,
    set: &Set,
    runs: &[(u64, SetRun)],
    conditions: &dyn Fn(u64, &SetRun) -> Conditions,
) -> Result<Simulated, Error> {
    let under = |policy: &Policy| {
        let starts = runs.iter().map(|(offset_ns, kernel)| {
            let more = work_more_ns(set, kernel);
            let conditions = conditions(*offset_ns, kernel);
            Ok(Start {
                offset_ns: *offset_ns,
                kernel: kernel.clone(),
                simulated: sim::run(platform, policy, set, &more, &conditions)?,
            })
        });
        starts.collect::<Result<Vec<_>, Error>>()
    };
    Ok(Simulated {
        tree: under(&policies.tree)?,
        model: under(&policies.model)?,
    })
}
