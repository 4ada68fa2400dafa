//! A sweep as a table: one row per point, means over its seeds, and changes from its base
//! (docs/guide/results.md, "Sweeps"). Each run counts once.
//!
//! What must stay: a run with an error is counted and has no part in means; runs that are the same
//! run count once; changes are those of `compare`, paired by seed. A point's runs come all at once.
//! What points share is kept once: there may be a million of them.
//! Forms of the table are in `points/columns.rs` and `points/json.rs`. Tests by part:
//! `each_run_counts_once` (`add`, `row`), `changes_are_from_the_base` (`compared`),
//! `the_best_of_those_that_hold_is_chosen` (`judged`, `choosing`, `sentences`),
//! `the_chosen_point_comes_with_its_figures` (`answer`, `chosen`),
//! choice/frames.rs::`one_frame_turns_a_choice` (`cautions`),
//! `a_sweep_is_its_points_and_their_runs` (`with_runs`), `a_point_keeps_the_settings_of_its_own`
//! (`runs_of`), sweeps.rs::`no_run_counts_twice` (by the
//! command), the first also `new` and `finish`.
//!
//! Callers: html/sweep/points.rs (`named`).
//!
//! Tests: crates/report/src/points/tests.rs,
//! crates/cli/tests/all/sweeps.rs::no_run_counts_twice

mod bases;
mod choice;
mod columns;
mod json;
#[cfg(test)]
mod tests;

pub use bases::Bases;
pub use choice::Choice;
pub(crate) use choice::{headline, number, sentence, told};
pub use json::SweepFacts;

use choice::Frames;
use std::collections::{BTreeMap, BTreeSet};
use wakeplace_metrics::{PairedDelta, Summary};
use wakeplace_outcome::{ChosenPoint, PointRuns, SeedRun, SweepChoice};
use wakeplace_study::{DEFAULT_MARGIN_PCT, RunRecord, json_pairs, without_varied};

/// What says of every point what it is.
const FIXED: [&str; 3] = ["platform", "workload", "policy"];

/// A table in the making.
#[derive(Debug)]
pub struct Points {
    shape: Shape,
    bases: Option<Bases>,
    /// By the number of a point, whether it holds all conditions.
    holds: Option<BTreeMap<usize, bool>>,
    choice: Option<Choice>,
    /// Single runs are kept, too.
    with_runs: bool,
    /// Settings of the first point whose runs are kept: those of others stand beside them.
    first: Option<Settings>,
    rows: Vec<Row>,
    failed: Failed,
}

/// Parameters and switches of a point by their keys.
type Settings = BTreeMap<String, String>;

/// What the columns are of.
#[derive(Clone, Debug)]
struct Shape {
    /// The varied keys.
    varied: Vec<String>,
    /// Columns that say which point it is.
    names: Vec<String>,
    metrics: Vec<String>,
    /// Below this a difference does not matter, percent.
    margin_pct: f64,
}

/// A point.
#[derive(Clone, Debug)]
struct Row {
    /// By the names of columns.
    names: Vec<String>,
    n: usize,
    failed: usize,
    /// By the metrics: mean, and half of the interval's width.
    figures: Vec<Option<(f64, Option<f64>)>>,
    /// By the metrics: the change from the base.
    changes: Vec<Option<PairedDelta>>,
    /// By the metrics by which a choice counts frames.
    frames: Vec<Option<Frames>>,
    is_base: bool,
    holds: Option<bool>,
    power: &'static str,
    /// Its runs, with the settings that are not the first point's.
    runs: Option<PointRuns>,
}

/// Runs that have no result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Failed {
    /// How many.
    pub runs: usize,
    /// What the first of them says; empty if there is none.
    pub first: String,
}

/// A sweep's points.
#[derive(Clone, Debug)]
pub struct FoundPoints {
    shape: Shape,
    /// Keys and values of the base; None: no point has one.
    base: Option<Vec<(String, String)>>,
    /// Settings of the first point; empty where no runs are kept.
    first: Settings,
    rows: Vec<Row>,
    /// Conditions were judged.
    judged: bool,
    choice: Option<SweepChoice>,
    /// What to know before believing the choice.
    cautions: Vec<String>,
    /// Places of the chosen points.
    chosen: BTreeSet<usize>,
    failed: Failed,
}

impl Points {
    /// `labels` are the varied keys.
    #[must_use]
    pub fn new(labels: &[String], metrics: Vec<String>) -> Self {
        let fixed = FIXED.map(str::to_owned);
        let fixed = fixed.into_iter().filter(|name| !labels.contains(name));
        let shape = Shape {
            varied: labels.to_vec(),
            names: labels.iter().cloned().chain(fixed).collect(),
            metrics,
            margin_pct: DEFAULT_MARGIN_PCT,
        };
        Self {
            shape,
            bases: None,
            holds: None,
            choice: None,
            with_runs: false,
            first: None,
            rows: Vec::new(),
            failed: Failed::default(),
        }
    }

    /// Each point has its change from its base, whose runs were read before. Below the margin,
    /// percent, a difference does not matter.
    #[must_use]
    pub fn compared(mut self, bases: Option<Bases>, margin_pct: f64) -> Self {
        self.shape.margin_pct = margin_pct;
        self.bases = bases;
        self
    }

    /// By the number of a point, whether it holds all conditions; None: there are none.
    #[must_use]
    pub fn judged(mut self, holds: Option<BTreeMap<usize, bool>>) -> Self {
        self.holds = holds;
        self
    }

    /// By what points are chosen; None: by nothing.
    #[must_use]
    pub fn choosing(mut self, choice: Option<Choice>) -> Self {
        self.choice = choice;
        self
    }

    /// Keeps single runs, which JSON has.
    #[must_use]
    pub fn with_runs(mut self) -> Self {
        self.with_runs = true;
        self
    }

    /// Adds a point by its number in the sweep, with all of its runs.
    pub fn add(&mut self, number: usize, runs: &[RunRecord]) {
        for record in runs.iter().filter(|record| !record.error.is_empty()) {
            if self.failed.runs == 0 {
                self.failed.first.clone_from(&record.error);
            }
            self.failed.runs += 1;
        }
        if !runs.is_empty() {
            let row = self.row(number, runs);
            self.rows.push(row);
        }
    }

    /// One point of the sweep: its values, its number of runs, means of its metrics.
    fn row(&mut self, number: usize, runs: &[RunRecord]) -> Row {
        // A run that stands twice counts once.
        let mut seeds = BTreeSet::new();
        let group: Vec<&RunRecord> = runs.iter().filter(|r| seeds.insert(r.seed)).collect();
        let whole: Vec<&RunRecord> = { group.iter().copied() }
            .filter(|record| record.error.is_empty())
            .collect();
        // Seeds that vary nothing are one run.
        let one = whole
            .iter()
            .all(|record| record.behaviour_hash == whole[0].behaviour_hash);
        let counted = if one && !whole.is_empty() {
            &whole[..1]
        } else {
            &whole[..]
        };
        let figure = |metric: &String| {
            let values = counted
                .iter()
                .filter_map(|record| record.metrics.get(metric));
            let values: Vec<f64> = values.copied().collect();
            let figures = (!values.is_empty()).then(|| Summary::of(&values))?;
            Some((figures.mean, figures.ci95))
        };
        let single = self.with_runs.then(|| self.runs_of(&group, &whole));
        let bases = self.bases.as_ref();
        Row {
            names: self
                .shape
                .names
                .iter()
                .map(|name| value_of(runs, name))
                .collect(),
            n: counted.len(),
            failed: group.len() - whole.len(),
            figures: self.shape.metrics.iter().map(figure).collect(),
            changes: bases.map_or_else(Vec::new, |bases| bases.changes(number, &whole)),
            frames: (self.choice.as_ref()).map_or_else(Vec::new, |one| one.frames_in(counted)),
            is_base: bases.is_some_and(|bases| bases.is_base(number)),
            holds: (self.holds.as_ref()).map(|all| all.get(&number).copied().unwrap_or(false)),
            power: runs[0].power,
            runs: single,
        }
    }

    /// The runs of a point with the metrics of the table, and the settings that are its own.
    fn runs_of(&mut self, group: &[&RunRecord], whole: &[&RunRecord]) -> PointRuns {
        let first = group[0];
        let settings = [&first.settings, &first.options].map(|text| json_pairs(text));
        let settings: Settings = settings.into_iter().flatten().collect();
        let shared = self.first.get_or_insert_with(|| settings.clone());
        let settings = json::settings_beside(shared, &settings);
        let one = |record: &&RunRecord| {
            let value = |metric: &String| {
                let value = record.metrics.get(metric)?;
                Some((metric.clone(), Some(*value)))
            };
            SeedRun {
                seed: record.seed,
                workload_hash: None,
                event_hash: record.event_hash.clone(),
                behaviour_hash: record.behaviour_hash.clone(),
                metrics: self.shape.metrics.iter().filter_map(value).collect(),
            }
        };
        PointRuns {
            platform: first.platform.clone(),
            platform_hash: first.platform_hash.clone(),
            workload: first.workload.clone(),
            workload_hash: first.workload_hash.clone(),
            policy: first.policy.clone(),
            values: first.labels.clone().into(),
            duration_ns: first.duration_ns,
            jitter: Some(first.jitter.clone()).filter(|jitter| !jitter.is_empty()),
            settings,
            modelled_power: !first.power.is_empty(),
            complete: whole.len() == group.len(),
            seed_runs: whole.iter().map(one).collect(),
        }
    }

    /// All points.
    #[must_use]
    pub fn finish(self) -> FoundPoints {
        let choice = self.choice.as_ref();
        let (choice, cautions) = choice
            .map(|choice| choice.made(&self.shape, &self.rows))
            .unzip();
        let groups = choice.iter().flat_map(|choice| &choice.groups);
        let chosen = groups.filter_map(|group| group.chosen).collect();
        FoundPoints {
            base: self.bases.map(|bases| bases.values().to_vec()),
            first: self.first.unwrap_or_default(),
            judged: self.holds.is_some(),
            choice,
            cautions: cautions.unwrap_or_default(),
            chosen,
            shape: self.shape,
            rows: self.rows,
            failed: self.failed,
        }
    }
}

impl FoundPoints {
    /// Runs without a result.
    #[must_use]
    pub fn failed(&self) -> &Failed {
        &self.failed
    }

    /// Each machine and load has a point that was chosen. True where nothing was to be chosen.
    #[must_use]
    pub fn is_chosen(&self) -> bool {
        let groups = self.choice.iter().flat_map(|choice| &choice.groups);
        groups.into_iter().all(|group| group.chosen.is_some())
    }

    /// What a reader should know before believing what was chosen.
    #[must_use]
    pub fn cautions(&self) -> &[String] {
        &self.cautions
    }

    /// Which points were chosen, a sentence for each machine and load.
    #[must_use]
    pub fn sentences(&self, conditions: &[String]) -> Vec<String> {
        let choice = self.choice.iter().map(|choice| SweepChoice {
            conditions: conditions.to_vec(),
            ..choice.clone()
        });
        let of = |choice: SweepChoice| {
            let groups = choice.groups.iter();
            let one = |group: &ChosenPoint| {
                let name = group.chosen.map(|at| self.shape.shown(&self.rows[at]));
                sentence(&choice, group, name.as_deref())
            };
            groups.map(one).collect::<Vec<_>>()
        };
        choice.flat_map(of).collect()
    }

    /// What was chosen of each machine and load: the point with its figures, then why.
    #[must_use]
    pub fn answer(&self, conditions: &[String]) -> Vec<String> {
        let groups = self.choice.iter().flat_map(|choice| &choice.groups);
        let first = |group: &ChosenPoint| {
            let row = &self.rows[group.chosen?];
            let name = self.shape.shown(row);
            Some(headline(group, &name, !row.power.is_empty()))
        };
        let both = groups.map(first).zip(self.sentences(conditions));
        both.flat_map(|(first, why)| first.into_iter().chain([why]))
            .collect()
    }

    /// Places of the chosen points.
    #[must_use]
    pub fn chosen(&self) -> &BTreeSet<usize> {
        &self.chosen
    }

    /// What changes are from, in words; None: there is no base.
    #[must_use]
    pub fn base(&self) -> Option<String> {
        let values = self.base.as_ref()?;
        let values: Vec<String> = values
            .iter()
            .map(|(key, value)| named(key, value))
            .collect();
        Some(values.join(", "))
    }

    /// The point is the chosen one of its machine and load.
    fn is_the_chosen(&self, at: usize) -> bool {
        self.chosen.contains(&at)
    }
}

impl Shape {
    /// A point in words, by what is varied; by all that it is if there is one value of each.
    fn shown(&self, row: &Row) -> String {
        let own = self.names.iter().zip(&row.names);
        let varied = own.clone().filter(|(name, _)| self.varied.contains(name));
        let varied: Vec<String> = varied.map(|(name, value)| named(name, value)).collect();
        match varied.is_empty() {
            true => own
                .map(|(name, value)| named(name, value))
                .collect::<Vec<_>>()
                .join(", "),
            false => varied.join(", "),
        }
    }

    /// A value of a point by the name of its column, for people: a load without the keys that have
    /// columns of their own.
    fn told(&self, row: &Row, at: usize) -> String {
        let value = &row.names[at];
        match self.names[at].as_str() {
            "workload" => {
                let names = self.names.iter().map(String::as_str);
                without_varied(value, names.zip(row.names.iter().map(String::as_str)))
            }
            _ => value.clone(),
        }
    }
}

/// What the point has in a column.
fn value_of(runs: &[RunRecord], name: &str) -> String {
    let first = &runs[0];
    let label = first.labels.iter().find(|(own, _)| own == name);
    match (label, name) {
        (Some((_, value)), _) => value.clone(),
        (None, "platform") => first.platform.clone(),
        (None, "workload") => first.workload.clone(),
        (None, _) => first.policy.clone(),
    }
}

/// What a point has of a key; names speak for themselves.
pub(crate) fn named(key: &str, value: &str) -> String {
    match FIXED.contains(&key) {
        true => value.to_owned(),
        false => format!("{key}={value}"),
    }
}
