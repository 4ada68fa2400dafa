//! A machine as the kernel's files describe it: `/sys`, and the energy model in debugfs, below a
//! root that is `/` for this machine or a folder for a saved copy (docs/guide/import.md, "What is
//! read").
//!
//! What the kernel does not state is absent here: no domain gets an energy model, no policy a
//! frequency that is not in the files. Everything read is limited in size and checked, since a
//! saved copy can hold anything.
//!
//! Files: Documentation/ABI/testing/sysfs-devices-system-cpu, .../stable/sysfs-devices-node,
//! Documentation/admin-guide/pm/cpufreq.rst, Documentation/power/energy-model.rst. `scx_wakeplace`
//! and `platform import` both read by it.
//!
//! Reading changes nothing of the machine.
//!
//! What must stay: lists by CPU have an entry for each possible CPU, offline ones among them, as
//! the policy core's arrays have; the first wrong file is named with its whole path. Free: what
//! leaves the files of imports as they are (ARCHITECTURE.md, "What a change may touch"), and words
//! of messages that no test quotes. Tests by part: `a_board_of_two_clusters` (`of_tree`),
//! `offline_cpus_have_a_place_of_their_own` (`online`), `more_possible_than_present` (`possible`,
//! `nr_present`), `damaged_trees_are_refused` (errors), `hostile_texts_are_results_or_errors` (no
//! panic), `this_machine` (`read`). `fmt` and `marked`: with the errors and with `online`.
//!
//! Callers: capacity.rs (`marked`), details.rs (`marked`), topology.rs (`marked`).
//!
//! Tests: crates/platform/tests/all/sysfs.rs

mod capacity;
mod cpufreq;
pub(crate) mod details;
mod energy;
pub(crate) mod partition;
mod tar;
pub(crate) mod topology;
mod tree;

use crate::MAX_CPUS;
use std::fmt;
use std::path::Path;
pub(crate) use tree::{Tree, number, quoted};

pub use cpufreq::CpufreqPolicy;
pub use energy::{EnergyDomain, EnergyState};
pub use topology::{LevelKind, SysfsLevel};

pub(crate) const CPUS: &str = "sys/devices/system/cpu";

/// A tree that is no machine's, or cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SysfsError {
    /// A file says what cannot be, or is not there although it must be.
    #[error("{path}: {found}; expected {expected}")]
    Wrong {
        /// The whole path.
        path: String,
        /// What stands there.
        found: String,
        /// What was expected.
        expected: String,
    },
    /// The operating system refused to read it.
    #[error("{path}: cannot be read: {why}; expected {expected}")]
    Unreadable {
        /// The whole path.
        path: String,
        /// What was expected.
        expected: String,
        /// The system's reason.
        why: String,
    },
}

/// Where the capacities of a machine come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapacitySource {
    /// The kernel states them (`cpu_capacity`).
    Kernel,
    /// From the highest performance the firmware states for each CPU (`acpi_cppc/highest_perf`).
    HighestPerf,
    /// Nothing states them: all CPUs are taken to be alike.
    Alike,
}

impl fmt::Display for CapacitySource {
    /// In the words of a message and of `platform import`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kernel => "the kernel's cpu_capacity",
            Self::HighestPerf => "the firmware's acpi_cppc/highest_perf",
            Self::Alike => "nothing states a capacity, all CPUs are taken to be alike",
        })
    }
}

/// A machine as its files describe it. Vectors by CPU have one entry per possible CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SysfsMachine {
    /// The highest possible CPU number and one more.
    pub nr_cpus: usize,
    /// The highest CPU number that is in the machine, and one more: firmware may announce more
    /// CPUs than there are.
    pub nr_present: usize,
    /// Which CPUs run. One that does not has no topology files: it is alone at every level.
    pub online: Vec<bool>,
    /// Capacity, 1..=1024. An offline CPU has that of the CPUs it shares a clock or an energy
    /// model with, else 1024.
    pub capacity: Vec<u32>,
    /// Where the capacities come from.
    pub capacity_from: CapacitySource,
    /// The scheduler's topology, bottom first; each level's groups lie within those of the next.
    pub levels: Vec<SysfsLevel>,
    /// Frequency domains of the kernel, by policy number; none where it sets no frequencies.
    pub policies: Vec<CpufreqPolicy>,
    /// The kernel's energy model; empty where it has none, or debugfs is not mounted.
    pub energy_model: Vec<EnergyDomain>,
}

impl SysfsMachine {
    /// Reads the tree below `root`.
    ///
    /// # Errors
    /// The first file that is needed and not there, cannot be read, or says what cannot be.
    pub fn read(root: &Path) -> Result<Self, SysfsError> {
        Self::of_tree(&Tree::new(root))
    }

    /// Reads a tree of files, in a folder or an archive.
    pub(crate) fn of_tree(tree: &Tree) -> Result<Self, SysfsError> {
        let possible = possible(tree)?;
        let nr_cpus = possible.len();
        let present = tree.cpus(&format!("{CPUS}/present"), nr_cpus)?;
        let nr_present = present
            .and_then(|cpus| cpus.last().map(|cpu| usize::from(*cpu) + 1))
            .unwrap_or(nr_cpus);
        let online = online(tree, &possible)?;
        let levels = topology::read(tree, &online)?;
        let policies = cpufreq::read(tree, nr_cpus)?;
        let energy_model = energy::read(tree, energy::FOLDER, nr_cpus)?;
        let (mut capacity, capacity_from) = capacity::read(tree, &online)?;
        let mates = policies.iter().map(|policy| &policy.cpus);
        let mates = mates.chain(energy_model.iter().map(|domain| &domain.cpus));
        mates.for_each(|cpus| capacity::share(cpus, &online, &mut capacity));
        for domain in &energy_model {
            energy::check_capacity(tree, domain, &capacity)?;
        }
        Ok(Self {
            nr_cpus,
            nr_present,
            online,
            capacity,
            capacity_from,
            levels,
            policies,
            energy_model,
        })
    }
}

/// Which numbers are CPUs' that may ever run.
fn possible(tree: &Tree) -> Result<Vec<bool>, SysfsError> {
    let path = format!("{CPUS}/possible");
    let expected = format!("a list of at most {MAX_CPUS} CPUs, as 0-7");
    let text = tree.needed(&path, &expected)?;
    let cpus = tree::list(&text, MAX_CPUS).unwrap_or_default();
    let Some(last) = cpus.last() else {
        return Err(tree.wrong(&path, tree::quoted(&text), expected));
    };
    let mut possible = vec![false; usize::from(*last) + 1];
    cpus.iter()
        .for_each(|cpu| possible[usize::from(*cpu)] = true);
    Ok(possible)
}

/// Which CPUs run; at least one does.
fn online(tree: &Tree, possible: &[bool]) -> Result<Vec<bool>, SysfsError> {
    let path = format!("{CPUS}/online");
    let expected = "a list of CPUs out of the possible ones, at least one";
    let text = tree.needed(&path, expected)?;
    let cpus = tree::list(&text, possible.len()).unwrap_or_default();
    if cpus.is_empty() || cpus.iter().any(|cpu| !possible[usize::from(*cpu)]) {
        return Err(tree.wrong(&path, tree::quoted(&text), expected));
    }
    let mut online = vec![false; possible.len()];
    cpus.iter().for_each(|cpu| online[usize::from(*cpu)] = true);
    Ok(online)
}

/// The numbers of the CPUs that are marked.
fn marked(flags: &[bool]) -> impl Iterator<Item = u16> + '_ {
    (0u16..)
        .zip(flags)
        .filter(|(_, on)| **on)
        .map(|(cpu, _)| cpu)
}
