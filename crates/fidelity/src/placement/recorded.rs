//! Task sets that were recorded on a real kernel, simulated again with the job sizes measured
//! there; nothing is booted. The share of each task's run time by cluster
//! (docs/results/fidelity.md).
//!
//! What must stay: a repeat is compared with its own simulation; nothing of the model is fitted to
//! it. Free: what leaves the tables of pages as they are. Tests by part:
//! `a_repeat_is_compared_with_its_own_simulation` (`difference`),
//! `repeats_that_disagree_cannot_be_compared_with` (`spread`, `comparable`),
//! `shares_under_energy_aware_scheduling_are_the_kernels` (`compare`, `set_rows`, `within`),
//! tests/all/recorded.rs::`the_page_says_what_the_program_says` (`markdown`, `rows_of`),
//! tests/all/recorded.rs::`it_boots_nothing_and_takes_nothing_that_is_for_a_guest` (`object`);
//! `row` is the tests' own.
//!
//! Callers: placement/recorded/page.rs (`rows_of`).
//!
//! Tests: below

pub(super) mod data;
mod page;
pub(super) mod traced;

use super::agree::Clusters;
use super::sim;
use crate::Error;
use data::{Recorded, RecordedSet, Rules};
use serde_json::Value;
use wakeplace_platform::Platform;
use wakeplace_policy_sys::Policy;

/// Largest difference that counts as agreement, points of percent.
const POINTS_MAX: f64 = 5.0;

/// A task under one set of rules: share of run time by cluster in percent, one list per repeat.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    rules: Rules,
    set: String,
    task: String,
    period_us: u64,
    /// Measured size of its jobs by repeat, in time of a CPU of capacity 1024.
    job_ns: Vec<u64>,
    kernel: Vec<Vec<f64>>,
    simulated: Vec<Vec<f64>>,
}

impl Row {
    /// Largest distance between two of the kernel's own repeats, points.
    fn spread(&self) -> f64 {
        let clusters = 0..self.kernel[0].len();
        let of = clusters.map(|cluster| {
            let shares = self.kernel.iter().map(|shares| shares[cluster]);
            let (low, high) = (shares.clone(), shares);
            high.fold(f64::MIN, f64::max) - low.fold(f64::MAX, f64::min)
        });
        of.fold(0.0, f64::max)
    }

    /// The kernel agrees with itself, so that there is something to compare with.
    fn comparable(&self) -> bool {
        self.spread() <= POINTS_MAX
    }

    /// Largest difference on any cluster between a repeat and its simulation, points; its sign is
    /// that of simulated - kernel on the first cluster.
    fn difference(&self) -> f64 {
        let pairs = self.simulated.iter().zip(&self.kernel);
        let each = pairs.map(|(simulated, kernel)| {
            let points = simulated.iter().zip(kernel).map(|(a, b)| (a - b).abs());
            points
                .fold(0.0, f64::max)
                .copysign(simulated[0] - kernel[0])
        });
        each.fold(
            0.0,
            |worst: f64, one| {
                if one.abs() > worst.abs() { one } else { worst }
            },
        )
    }

    /// Within `POINTS_MAX` points.
    fn within(&self) -> bool {
        self.difference().abs() <= POINTS_MAX
    }
}

/// Recorded runs beside simulated ones.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    recorded: Recorded,
    clusters: Clusters,
    rows: Vec<Row>,
}

impl Comparison {
    /// A sentence and tables in Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        page::markdown(self)
    }

    /// One object.
    #[must_use]
    pub fn object(&self) -> Value {
        page::object(self)
    }

    /// Rows of recordings under these rules.
    fn rows_of(&self, rules: Rules) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(move |row| row.rules == rules)
    }
}

/// Simulates every recorded run.
///
/// # Errors
/// The file of recorded runs breaks a rule.
pub fn compare() -> Result<Comparison, Error> {
    let recorded = data::recorded()?;
    let platform = Platform::load(&recorded.platform).map_err(Error::input)?;
    let clusters = Clusters::of(&platform);
    let mut rows = Vec::new();
    for rules in Rules::ALL {
        let policy = Policy::parse(rules.policy()).map_err(Error::input)?;
        for set in &recorded.sets {
            rows.extend(set_rows(&recorded, &platform, (rules, &policy), set)?);
        }
    }
    Ok(Comparison {
        recorded,
        clusters,
        rows,
    })
}

/// All repeats of a set.
fn set_rows(
    recorded: &Recorded,
    platform: &Platform,
    (rules, policy): (Rules, &Policy),
    set: &RecordedSet,
) -> Result<Vec<Row>, Error> {
    let clusters = Clusters::of(platform);
    let simulated_set = set.to_simulate();
    let mut rows: Vec<Row> = set
        .tasks
        .iter()
        .map(|task| Row {
            rules,
            set: set.name.clone(),
            task: task.name.clone(),
            period_us: task.period_us,
            job_ns: Vec::new(),
            kernel: Vec::new(),
            simulated: Vec::new(),
        })
        .collect();
    for run in recorded.repeats(rules, &set.name) {
        let job_ns: Vec<u64> = (0..set.tasks.len()).map(|at| run.job_ns(set, at)).collect();
        let more: Vec<i64> = simulated_set
            .tasks
            .iter()
            .zip(&job_ns)
            .map(|(task, job_ns)| *job_ns as i64 - task.mean_work_ns(data::WINDOW_NS) as i64)
            .collect();
        let conditions = sim::Conditions::guest(run.start_offset_us * 1000);
        let outcome = sim::run(platform, policy, &simulated_set, &more, &conditions)?;
        for (at, row) in rows.iter_mut().enumerate() {
            row.job_ns.push(job_ns[at]);
            row.kernel.push(run.tasks[at].percent(&clusters.names));
            row.simulated.push(outcome.tasks[at].shares(&clusters));
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(kernel: &[[f64; 2]], simulated: &[[f64; 2]]) -> Row {
        let lists = |shares: &[[f64; 2]]| shares.iter().map(|list| list.to_vec()).collect();
        Row {
            rules: Rules::Eas,
            set: "A".to_owned(),
            task: "t0".to_owned(),
            period_us: 16_000,
            job_ns: vec![800_000; kernel.len()],
            kernel: lists(kernel),
            simulated: lists(simulated),
        }
    }

    #[test]
    fn a_repeat_is_compared_with_its_own_simulation() {
        let kernel = [[40.0, 60.0], [44.0, 56.0]];
        let same = row(&kernel, &kernel);
        assert_eq!((same.difference(), same.within()), (0.0, true));
        // As far apart as their repeats are, if exchanged.
        let other = row(&kernel, &[kernel[1], kernel[0]]);
        assert_eq!(other.difference(), 4.0);
        let off = row(&kernel, &[[41.0, 59.0], [38.5, 61.5]]);
        assert_eq!((off.difference(), off.within()), (-5.5, false));
    }

    #[test]
    fn repeats_that_disagree_cannot_be_compared_with() {
        let near = row(&[[40.0, 60.0], [45.0, 55.0]], &[]);
        assert_eq!((near.spread(), near.comparable()), (5.0, true));
        let far = row(&[[33.0, 67.0], [0.0, 100.0], [33.0, 67.0]], &[]);
        assert_eq!((far.spread(), far.comparable()), (33.0, false));
    }

    /// Goal: under energy-aware scheduling each task's share of run time by cluster is the kernel's
    /// within 5 points. The expected shares are the recorded ones.
    #[test]
    fn shares_under_energy_aware_scheduling_are_the_kernels() {
        let comparison = compare().expect("the recorded runs are valid");
        let eas: Vec<&Row> = comparison
            .rows
            .iter()
            .filter(|row| row.rules == Rules::Eas)
            .collect();
        // Four tasks, five and one.
        assert_eq!(eas.len(), 10);
        for row in eas {
            assert_eq!(row.simulated.len(), 3, "{row:?}");
            assert!(row.comparable() && row.within(), "{row:?}");
        }
    }
}
