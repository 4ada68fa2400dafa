//! What this machine, or a saved picture of one, is and lacks (docs/guide/live.md, "Run").
//!
//! A [`Probe`] reads files only (`/proc`, `/sys`, `/boot`) below a root, so that a test, or a tree
//! copied from another machine, is probed exactly as the live one. It states facts and the remedy
//! for each lack; printing them and choosing an exit code is for the caller.
//!
//! The simulator needs nothing but a CPU: no check for it can stop it. Not even a C compiler is
//! asked for, since the policy core is already built into the program that asks. The live scheduler
//! needs its own program, a kernel with sched_ext and its type information, and the right to load
//! programs.
//!
//! What must stay: names, order and states of checks, which `doctor` shows and JSON has. Free:
//! further checks, at the end of the list.
//!
//! Tests by part: `a_board_with_everything_lacks_nothing` (`new`, `checks`, `can_run`),
//! probe.rs::`an_empty_tree_stops_only_the_live_scheduler` (`can_run`),
//! probe.rs::`this_machine_is_probed_without_failing` (`default`). `fact` and `remedy` make what
//! all of them read. crates/kernel-tree/src/doctor.rs::`what_is_kept_is_counted` and
//! crates/lab/src/doctor.rs::`without_a_way_to_fetch_what_is_absent_is_required`
//! (`missing_or_ok`, `archive`), crates/cli/src/commands/doctor.rs (`without`).
//!
//! Callers: crates/cli/src/commands/doctor.rs, crates/scx/src/preflight.rs;
//! crates/kernel-tree/src and crates/lab/src/doctor.rs (`missing_or_ok`, `archive`).
//!
//! Tests: crates/host/tests/probe.rs, beside its modules, crates/kernel-tree/src/doctor.rs,
//! crates/lab/src/doctor.rs

mod btf;
mod config;
mod energy;
mod kernel;
mod machine;
mod power_source;
mod program;
mod release;
mod tree;

use std::path::PathBuf;

pub use btf::Kfuncs;
pub use config::kernel_option;
pub use kernel::{called, kfuncs_read, scheduler_in_force};
pub use power_source::{PowerSource, platform_profile, power_source};
pub use program::PROGRAM;
pub use release::{KnownBuild, Release, known_build};

use tree::Tree;

/// What a check found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It is there.
    Ok,
    /// It is known not to be there, or to be unusable.
    Missing,
    /// It could not be found out from here, or is doubtful; `found` says why.
    Unknown,
}

/// Which of the two homes of the policy asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NeededFor {
    /// `wakeplace sim`, `compare`, `study`, `explain`.
    Simulator,
    /// `scx_wakeplace`.
    LiveScheduler,
    /// `--scheduler` of `sim` and `compare`.
    ForeignSchedulers,
    /// `wakeplace kernel build`.
    KernelTrees,
    /// `wakeplace lab run`.
    Lab,
}

/// One fact about the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// A short token, the same on every machine: `cpus`, `sched-ext`, `btf`, …
    pub name: &'static str,
    /// What was found out.
    pub state: State,
    /// The fact, in words and numbers.
    pub found: String,
    /// What to do about it; empty when there is nothing to do.
    pub remedy: String,
    /// Who asks for it.
    pub needed_for: NeededFor,
    /// False where its user runs without it.
    pub required: bool,
    /// What then happens, in words that its name completes: [`WORSE`] where nobody says more.
    pub without: &'static str,
}

/// What runs without a fact that is only wished for.
pub const WORSE: &str = "only worse without";

/// Looks at a machine through its file tree.
#[derive(Clone, Debug)]
pub struct Probe {
    /// Where the tree begins: `/` for this machine, a folder for a saved one.
    pub root: PathBuf,
}

impl Default for Probe {
    fn default() -> Self {
        Self::new("/")
    }
}

impl Probe {
    /// A probe of the tree below `root`.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Every check, always the same ones in the same order: first the simulator's.
    #[must_use]
    pub fn checks(&self) -> Vec<Check> {
        let tree = Tree::new(&self.root);
        vec![
            machine::cpus(&tree),
            machine::memory(&tree),
            kernel::release(&tree),
            kernel::sched_ext(&tree),
            kernel::scheduler_slot(&tree),
            kernel::btf(&tree),
            kernel::kfuncs(&tree),
            machine::rights(&tree),
            program::installed(&tree),
            energy::capacity(&tree),
            energy::governor(&tree),
            energy::energy_model(&tree),
        ]
    }
}

/// Says whether `home` can run, as far as `checks` know: nothing that it requires is missing.
#[must_use]
pub fn can_run(checks: &[Check], home: NeededFor) -> bool {
    !checks
        .iter()
        .any(|check| check.needed_for == home && check.required && check.state == State::Missing)
}

/// The checks' own constructor: a fact without a remedy.
pub(crate) fn fact(
    name: &'static str,
    needed_for: NeededFor,
    required: bool,
    state: State,
    found: impl Into<String>,
) -> Check {
    Check {
        name,
        state,
        found: found.into(),
        remedy: String::new(),
        needed_for,
        required,
        without: WORSE,
    }
}

/// A fact that is there or missing, and what to do about it where it is missing.
#[must_use]
pub fn missing_or_ok(
    name: &'static str,
    needed_for: NeededFor,
    required: bool,
    missing: bool,
    found: impl Into<String>,
    remedy: impl Into<String>,
) -> Check {
    match missing {
        true => fact(name, needed_for, required, State::Missing, found).remedy(remedy),
        false => fact(name, needed_for, required, State::Ok, found),
    }
}

/// Can Debian's archive be asked? These of its programs are not here. It is wished for: what was
/// fetched before is enough.
#[must_use]
pub fn archive(
    name: &'static str,
    needed_for: NeededFor,
    unfetched: &[&str],
    remedy: &str,
) -> Check {
    let found = match unfetched {
        [] => "apt and dpkg-deb are here".to_owned(),
        _ => format!("not here: {}", unfetched.join(", ")),
    };
    let missing = !unfetched.is_empty();
    let check = missing_or_ok(name, needed_for, false, missing, found, remedy);
    check.without("fetches nothing without")
}

impl Check {
    /// Gives the same fact with what to do about it.
    pub(crate) fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = remedy.into();
        self
    }

    /// Gives the same fact with what happens without it.
    #[must_use]
    pub fn without(mut self, words: &'static str) -> Self {
        self.without = words;
        self
    }
}
