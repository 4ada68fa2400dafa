//! The kernel over several starts of one set, beside the simulator: task by task, the share of the
//! run time on the biggest CPUs' cluster, and the wake-ups on the same cluster
//! (docs/results/fidelity.md).
//!
//! What must stay: `within` and `follows` are how docs/results/fidelity.md explains them. Its
//! figures are tried by crates/fidelity/tests/all/recorded.rs. Free: what leaves the tables of
//! pages as they are. Tests by part: `a_task_is_within_up_to_both_limits` and
//! `a_task_is_not_within_beyond_either_limit` (`repeats_agree`, `difference`, `within`),
//! `a_task_that_never_sleeps_is_judged_by_its_share` (`within` without wake-ups, `uncertainty`),
//! truth/page/tests.rs::`the_object_has_the_same` (`follows`),
//! `a_pattern_is_the_cluster_with_most_of_the_run_time` (`of`, `mean_in_range`),
//! `tables_say_how_many_starts_agree` (`rows`, `add`, `starts`, `name`). `has_one_figure`,
//! `wakes_alike` have no test of their own: tests/all/truth.rs runs them where a tree is built.
//!
//! Callers: placement/starts/page.rs (`repeats_agree`, `uncertainty`, `mean_in_range`),
//! placement/truth/page.rs (`has_one_figure`, `wakes_alike`), placement/truth/causes.rs
//! (`has_one_figure`).
//!
//! Tests: below

mod page;

pub(super) use page::{markdown, object};

use super::agree::{Agreement, Clusters};
use super::sets::Set;
use super::{MachineResult, SetResult, SetRun, TaskRun};
use wakeplace_metrics::Summary;

/// Largest distance between two starts of the kernel that agree, and between its mean share and the
/// simulator's, points of percent.
pub(super) const POINTS_MAX: f64 = 2.0;
/// Smallest share of the wake-ups that are to be on the same cluster, percent.
pub(super) const WAKEUPS_MIN_PCT: f64 = 98.0;

/// The kernel's rules of placement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rules {
    EnergyAware,
    CapacityAware,
}

impl Rules {
    const ALL: [Self; 2] = [Self::EnergyAware, Self::CapacityAware];

    /// As guests and tables call them.
    fn name(self) -> &'static str {
        match self {
            Self::EnergyAware => "eas",
            Self::CapacityAware => "cas",
        }
    }

    /// The starts under these rules.
    fn starts(self, set: &SetResult) -> &[Start] {
        match self {
            Self::EnergyAware => &set.energy_aware,
            Self::CapacityAware => &set.capacity_aware,
        }
    }
}

/// One start of a set under the kernel, and its simulation.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Start {
    /// After a tick, ns.
    pub(super) offset_ns: u64,
    pub(super) kernel: SetRun,
    pub(super) simulated: SetRun,
}

/// A task in all starts of one side.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Runs {
    /// Share of run time on the big cluster by start, percent.
    pub(super) shares: Vec<f64>,
    /// The same over all starts.
    pub(super) share: Summary,
    /// In how many starts each cluster had most of the run time.
    mainly: Vec<usize>,
}

impl Runs {
    /// Over the starts of one task: shares, and on which cluster it mainly was.
    fn of(runs: &[&TaskRun], clusters: &Clusters, big: usize) -> Self {
        let by_cluster: Vec<_> = runs.iter().map(|run| run.shares(clusters)).collect();
        let shares: Vec<f64> = by_cluster.iter().map(|shares| shares[big]).collect();
        let mut mainly = vec![0; clusters.names.len()];
        for shares in &by_cluster {
            // Of equal ones the first.
            let most = shares.iter().copied().fold(0.0, f64::max);
            if let Some(at) = shares.iter().position(|share| *share >= most) {
                mainly[at] += 1;
            }
        }
        Self {
            share: Summary::of(&shares),
            shares,
            mainly,
        }
    }
}

/// A task over the starts.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) set: String,
    pub(super) task: String,
    pub(super) kernel: Runs,
    pub(super) simulated: Runs,
    /// Wake-ups of each start and of its simulation.
    pub(super) wakeups: Agreement,
    /// Of the kernel's starts among each other: each and the next.
    pub(super) own_wakeups: Agreement,
}

impl Row {
    /// One task of a set: kernel beside simulator, start by start.
    pub(super) fn of(
        set: &Set,
        starts: &[Start],
        at: usize,
        clusters: &Clusters,
        big: usize,
    ) -> Self {
        let kernel: Vec<&TaskRun> = starts.iter().map(|run| &run.kernel.tasks[at]).collect();
        let simulated: Vec<&TaskRun> = starts.iter().map(|run| &run.simulated.tasks[at]).collect();
        let agreement = |first: &[&TaskRun], second: &[&TaskRun]| {
            let mut sum = Agreement::default();
            for (a, b) in first.iter().zip(second) {
                sum.add(Agreement::of(&a.wakeups, &b.wakeups, clusters));
            }
            sum
        };
        Self {
            set: set.name.clone(),
            task: set.tasks[at].name.clone(),
            wakeups: agreement(&kernel, &simulated),
            own_wakeups: agreement(&kernel, kernel.get(1..).unwrap_or_default()),
            kernel: Runs::of(&kernel, clusters, big),
            simulated: Runs::of(&simulated, clusters, big),
        }
    }

    /// The kernel's starts agree, so that there is one figure to compare with.
    pub(super) fn repeats_agree(&self) -> bool {
        self.kernel.share.max - self.kernel.share.min <= POINTS_MAX
    }

    /// There are several starts, and they agree.
    pub(super) fn has_one_figure(&self) -> bool {
        self.kernel.shares.len() > 1 && self.repeats_agree()
    }

    /// The kernel's own wake-ups are on the same cluster from one start to the next.
    pub(super) fn wakes_alike(&self) -> bool {
        let own = self.own_wakeups.pct();
        own.is_none_or(|pct| pct >= WAKEUPS_MIN_PCT)
    }

    /// Simulator's mean share - kernel's, points.
    pub(super) fn difference(&self) -> f64 {
        self.simulated.share.mean - self.kernel.share.mean
    }

    /// Half of the width within which that difference is, with 95 % certainty: of the differences
    /// start by start. None for one start.
    fn uncertainty(&self) -> Option<f64> {
        let pairs = self.simulated.shares.iter().zip(&self.kernel.shares);
        let differences: Vec<f64> = pairs
            .map(|(simulated, kernel)| simulated - kernel)
            .collect();
        Summary::of(&differences).ci95
    }

    /// As the kernel has it. A task that never sleeps has no wake-ups to compare.
    pub(super) fn within(&self) -> bool {
        let wakeups = self.wakeups.pct();
        self.difference().abs() <= POINTS_MAX && wakeups.is_none_or(|pct| pct >= WAKEUPS_MIN_PCT)
    }

    /// Every start is as the kernel's own start is, whether or not those agree.
    pub(super) fn follows(&self) -> bool {
        let pairs = self.simulated.shares.iter().zip(&self.kernel.shares);
        let mut apart = pairs.map(|(simulated, kernel)| (simulated - kernel).abs());
        let wakeups = self.wakeups.pct();
        apart.all(|points| points <= POINTS_MAX) && wakeups.is_none_or(|pct| pct >= WAKEUPS_MIN_PCT)
    }

    /// The simulator's mean share lies among those of the kernel's starts.
    fn mean_in_range(&self) -> bool {
        let share = &self.kernel.share;
        (share.min..=share.max).contains(&self.simulated.share.mean)
    }
}

/// All tasks of a machine under one set of rules; nothing where they were not measured.
fn rows(result: &MachineResult, rules: Rules) -> Vec<Row> {
    let (clusters, big) = (&result.clusters, result.big());
    let mut rows = Vec::new();
    for set in &result.sets {
        let starts = rules.starts(set);
        if !starts.is_empty() {
            let tasks = 0..set.set.tasks.len();
            rows.extend(tasks.map(|at| Row::of(&set.set, starts, at, clusters, big)));
        }
    }
    rows
}

/// How many tasks are as the kernel has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Count {
    tasks: usize,
    /// The kernel's repeats agree.
    agree: usize,
    /// Of these, within.
    within: usize,
    /// Of the others, with the simulator's mean in the kernel's range.
    in_range: usize,
}

impl Count {
    /// How many tasks agree, of those that can be compared.
    fn of(rows: &[Row]) -> Self {
        let agree = || rows.iter().filter(|row| row.repeats_agree());
        let others = rows.iter().filter(|row| !row.repeats_agree());
        Self {
            tasks: rows.len(),
            agree: agree().count(),
            within: agree().filter(|row| row.within()).count(),
            in_range: others.filter(|row| row.mean_in_range()).count(),
        }
    }

    /// Of two machines.
    fn add(&mut self, other: Self) {
        self.tasks += other.tasks;
        self.agree += other.agree;
        self.within += other.within;
        self.in_range += other.in_range;
    }
}

#[cfg(test)]
mod tests;
