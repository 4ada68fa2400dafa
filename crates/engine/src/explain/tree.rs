//! One decision of a tree's own code, with the state that it found, and what the policy core says
//! to the same question (`on_tree.rs`). See docs/guide/kernel.md, "In a run".
//!
//! What must stay: a decision is told by the tree right before its placement; both are joined here
//! by that order. The tree is only read. Free: what leaves recorded runs as they are
//! (ARCHITECTURE.md, "What a change may touch"). Tests by part: `hints_of_a_tree_reach_the_core`
//! (`asked_of`),
//! crates/cli/tests/all/kernel_runs.rs::`a_decision_is_explained_by_the_trees_own_figures`
//! (`explain_tree`, `idle`), crates/cli/tests/all/kernel_diff.rs::`the_core_decides_as_the_kernel`
//! (`watch_tree`). The last two need a built tree. The methods of both observers (`happened`,
//! `decided`, `is_done`, `placement`, those of updates) pass on to what these tests ask for;
//! `wakes` and `fits` are the test's own. Without `wants_situation` the tree tells no decision;
//! `wants_decided`, `wants_signals`, `updated`, `wants_updated`, `nr_updated`, `take_nr_updated`
//! and `counts` are `watch_tree`'s.
//!
//! Callers: crates/study/src/explain/tree.rs (`explain_tree`, `asked_of`),
//! crates/study/src/kernel_diff/mod.rs (`watch_tree`).
//!
//! Tests: below,
//! crates/cli/tests/all/kernel_runs.rs::a_decision_is_explained_by_the_trees_own_figures,
//! crates/cli/tests/all/kernel_diff.rs::the_core_decides_as_the_kernel

use super::on_tree::{OnTree, idle_state_of};
use super::{Asked, Finder, Missing, Wakeups};
use crate::observe::{Happening, Observer, Placement};
use crate::outcome::{Ended, RunReport};
use wakeplace_kernel_abi::{Choice, Decided, Updated};
use wakeplace_platform::Platform;
use wakeplace_policy_sys::{Explained, MachineError, Policy};

/// A decision of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeExplanation {
    /// When, ns.
    pub time_ns: u64,
    /// Wake-up or fork, and the answer.
    pub placement: Placement,
    /// The n-th wake-up of its task, from 1; 0: its fork.
    pub number: u64,
    /// The task placed.
    pub task: String,
    /// Who ran where it was decided; None: nobody, or a thread of the kernel.
    pub waker: Option<String>,
    /// All that the tree had to decide by.
    pub decided: Decided,
}

/// Looks for the decision; what the tree tells of it comes just before it.
struct Follower<'a> {
    finder: Finder<'a>,
    told: Option<Decided>,
    found: Option<TreeExplanation>,
}

impl Observer for Follower<'_> {
    fn happened(&mut self, time_ns: u64, what: &Happening) {
        match *what {
            Happening::Forked { script, .. } => self.finder.forked(script),
            Happening::Placement(ref it) => self.placement(time_ns, it),
            _ => {}
        }
    }

    /// Makes the tree tell its decisions (`decided`).
    fn wants_situation(&self) -> bool {
        true
    }

    /// Kept until its placement is told, which is next.
    fn decided(&mut self, _time_ns: u64, decided: &Decided) {
        self.told = Some(decided.clone());
    }

    /// Whether the run is over: it ends at the decision asked for.
    fn is_done(&self) -> bool {
        self.found.is_some()
    }
}

impl Follower<'_> {
    /// Is it the one asked for? Then it is kept with what the tree told just before.
    fn placement(&mut self, time_ns: u64, placement: &Placement) {
        self.finder.placement(time_ns, placement);
        if self.found.is_none() && self.finder.is_done() {
            self.found = Some(TreeExplanation {
                time_ns,
                placement: *placement,
                number: self.finder.number(),
                task: self.finder.name(placement.task),
                waker: placement.waker.map(|waker| self.finder.name(waker)),
                decided: self.told.take().expect("a tree tells it before"),
            });
        }
    }
}

/// Why there is no explanation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoTreeExplanation {
    /// There can be no such run, or the tree failed before.
    Run(String),
    /// There is no such decision.
    Missing(Missing),
}

/// Explains a decision of a tree, which `run` runs; the inputs have passed `check`.
///
/// # Errors
/// The run cannot be made, or has no such decision.
pub fn explain_tree(
    workload: &wakeplace_workload::Workload,
    asked: &Asked,
    run: impl FnOnce(&mut dyn Observer) -> Result<RunReport, String>,
) -> Result<TreeExplanation, NoTreeExplanation> {
    let mut follower = Follower {
        finder: Finder::new(workload, asked),
        told: None,
        found: None,
    };
    let report = run(&mut follower).map_err(NoTreeExplanation::Run)?;
    if let Some(found) = follower.found {
        return Ok(found);
    }
    Err(match report.ended {
        Ended::Kernel { said } => NoTreeExplanation::Run(said),
        _ => NoTreeExplanation::Missing(follower.finder.missing(report.end_ns)),
    })
}

/// Who looks at what a tree decides and what it makes of its signals. In the process of the run, a
/// copy looks at all of it, and says what is of interest; of that the other one is told, which must
/// say the same of the same.
pub trait Looks {
    /// Looks at a decision. Returns true if it is of interest.
    fn decision(&mut self, told: TreeExplanation) -> bool;
    /// Looks at a signal that is up to date. Returns true if it is of interest.
    fn updated(&mut self, time_ns: u64, updated: &Updated) -> bool;
    /// How many signals there have been, by kind.
    fn counts(&mut self) -> &mut Vec<u64>;
}

struct Watcher<'a, L> {
    threads: Wakeups<'a>,
    told: Option<Decided>,
    looks: &'a mut L,
    /// The last decision is of interest; the last signal.
    of_interest: bool,
    is_signal_of_interest: bool,
    /// How many signals there were up to the last decision.
    counts: Vec<u64>,
    decisions: u64,
    most: u64,
}

impl<L: Looks> Observer for Watcher<'_, L> {
    fn happened(&mut self, time_ns: u64, what: &Happening) {
        match *what {
            Happening::Forked { script, .. } => self.threads.forked(script),
            Happening::Placement(placement) if !self.is_done() => {
                self.decisions += 1;
                let number = self.threads.count(&placement);
                let told = self.told.take().map(|decided| TreeExplanation {
                    time_ns,
                    placement,
                    number,
                    task: self.threads.name(placement.task),
                    waker: placement.waker.map(|waker| self.threads.name(waker)),
                    decided,
                });
                self.of_interest = told.is_some_and(|told| self.looks.decision(told));
            }
            _ => self.of_interest = false,
        }
        if matches!(what, Happening::Placement(_) | Happening::Finish) {
            self.counts.clone_from(self.looks.counts());
        }
    }

    fn wants_situation(&self) -> bool {
        true
    }

    fn wants_decided(&self) -> bool {
        self.of_interest
    }

    fn decided(&mut self, _time_ns: u64, decided: &Decided) {
        self.told = Some(decided.clone());
    }

    fn wants_signals(&self) -> bool {
        true
    }

    fn updated(&mut self, time_ns: u64, updated: &Updated) {
        self.is_signal_of_interest = self.looks.updated(time_ns, updated);
    }

    fn wants_updated(&self) -> bool {
        self.is_signal_of_interest
    }

    fn nr_updated(&self) -> Option<&[u64]> {
        Some(&self.counts)
    }

    fn take_nr_updated(&mut self, counts: &[u64]) {
        counts.clone_into(self.looks.counts());
    }

    fn is_done(&self) -> bool {
        self.decisions >= self.most
    }
}

/// Looks at each decision of a tree, which `run` runs, until there were `most`, and at each signal
/// up to there; the inputs have passed `check`. Returns how many decisions there were, and the
/// tree's words if it failed.
///
/// # Errors
/// The run cannot be made.
pub fn watch_tree(
    workload: &wakeplace_workload::Workload,
    most: u64,
    run: impl FnOnce(&mut dyn Observer) -> Result<RunReport, String>,
    looks: &mut impl Looks,
) -> Result<(u64, Option<String>), String> {
    let mut watcher = Watcher {
        threads: Wakeups::new(workload),
        told: None,
        looks,
        of_interest: false,
        is_signal_of_interest: false,
        counts: Vec::new(),
        decisions: 0,
        most,
    };
    let report = run(&mut watcher)?;
    let failed = match report.ended {
        Ended::Kernel { said } => Some(said),
        _ => None,
    };
    Ok((watcher.decisions, failed))
}

impl TreeExplanation {
    /// The name, for each CPU, of the idle state that it is in; None: it is in none.
    #[must_use]
    pub fn idle(&self, platform: &Platform) -> Vec<Option<String>> {
        let name = |choice: &Choice| {
            let state = idle_state_of(platform, choice)?;
            Some(platform.idle_states[state].name.clone())
        };
        self.decided.choices.iter().map(name).collect()
    }

    /// What a policy of the core answers to the same question on the tree's state.
    ///
    /// # Errors
    /// A machine that the core refuses under this policy.
    pub fn asked_of(
        &self,
        platform: &Platform,
        policy: &Policy,
    ) -> Result<Explained, MachineError> {
        Ok(OnTree::new(platform, policy)?.explain(self.time_ns, &self.decided))
    }
}

#[cfg(test)]
mod tests {
    use super::TreeExplanation;
    use crate::observe::{Placement, PlacementKind};
    use wakeplace_kernel_abi::{Choice, Decided, Facts, Party, abi};
    use wakeplace_platform::Platform;
    use wakeplace_policy_sys::{Policy, Reason};

    /// A task of 50 of 1024 wakes on HiKey960 (littles 462), whose little CPUs are at 440, with
    /// one task each.
    fn wakes(task: [u32; 2], choice: impl Fn(u32) -> [u32; 2]) -> TreeExplanation {
        let choices = (0..8).map(|cpu| {
            let (little, [uclamp_min, uclamp_max]) = (cpu < 4, choice(cpu));
            let capacity = if little { 462 } else { 1024 };
            Choice {
                cpu,
                util: if little { 440 } else { 0 },
                capacity,
                capacity_orig: capacity,
                uclamp_min,
                uclamp_max,
                nr_running: little.into(),
                uclamp_idle: (!little).into(),
                nr_fair: little.into(),
                curr_fair: little.into(),
                weight: if little { 1024 } else { 0 },
                idle: (!little).into(),
                idle_state: abi::NONE,
                allowed: 1,
                online: 1,
                ..Choice::default()
            }
        });
        let party = Party {
            weight: 1024,
            last_wakee: abi::NONE,
            ..Party::default()
        };
        let facts = Facts {
            task: 0,
            waker: 1,
            util: 50,
            uclamp_min: task[0],
            uclamp_max: task[1],
            energy_aware: 1,
            ..Facts::default()
        };
        TreeExplanation {
            time_ns: 1_000_000,
            placement: Placement {
                kind: PlacementKind::Wake,
                task: 0,
                waker: Some(1),
                waker_cpu: 0,
                prev_cpu: 0,
                cpu: 0,
                reason: Reason::Kernel,
                util: 50,
                dur_avg_ns: 0,
            },
            number: 1,
            task: "t0".to_owned(),
            waker: None,
            decided: Decided {
                facts,
                party,
                waking: party,
                choices: choices.collect(),
                energies: Vec::new(),
            },
        }
    }

    /// Which CPUs the task fits by 7.3: as the core says it of the tree's state.
    fn fits(explanation: &TreeExplanation) -> Vec<i32> {
        let platform = Platform::load("hikey960").expect("built in");
        let policy = Policy::parse("linux-7.3").expect("an era");
        let explained = explanation.asked_of(&platform, &policy).expect("a machine");
        explained.candidates.iter().map(|seen| seen.fits).collect()
    }

    /// Goal: the core hears of the tree's hints. The expected values are those of `util_fits_cpu()`
    /// (kernel/sched/fair.c): a task and a queue whose `uclamp_max` is at most the CPU's capacity
    /// fit it, however high its utilisation; the queue's hint counts where it is above the task's;
    /// a CPU whose capacity is below `uclamp_min` fits but for that (-1).
    #[test]
    fn hints_of_a_tree_reach_the_core() {
        let none = [0, 1024];
        let capped = wakes([0, 100], |cpu| if cpu == 1 { none } else { [0, 100] });
        assert_eq!(fits(&capped), [1, 0, 1, 1, 1, 1, 1, 1], "a queue's maximum");
        let uncapped = wakes(none, |_| [0, 100]);
        assert_eq!(fits(&uncapped)[..4], [0; 4], "the task's maximum");
    }
}
