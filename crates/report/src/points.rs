//! A sweep as a table: one row per point, means over its seeds (docs/guide/results.md, "Sweeps").
//! Each run counts once.
//!
//! What must stay: columns for programs (varied keys first, `power` last). A point ends where the
//! next begins, so runs must come in the order of points; a run with an error is counted and has no
//! part in means; runs that are the same run count once. Free: words for people that no test
//! quotes. Tests by part: `each_run_counts_once` (`add`, `same_point`, `row`),
//! `a_modelled_power_is_told_to_programs` (`with_power`),
//! said.rs::`modelled_joules_say_so_in_sweeps` (`modelled`), sweeps.rs::`no_run_counts_twice`
//! (`columns`, by the command), the first also `new`, `finish`, `end_point`, `table` and `decided`;
//! `run` and `csv` are the tests' own. `without_varied` has no test of its own.
//!
//! Tests: below, crates/cli/tests/all/sweeps.rs::no_run_counts_twice,
//! crates/cli/tests/all/said.rs::modelled_joules_say_so_in_sweeps

use crate::phrase::power_word;
use crate::{Align, Cell, Table, short};
use std::collections::BTreeSet;
use wakeplace_metrics::Summary;
use wakeplace_study::RunRecord;

/// How many runs a point has, and how many more have no result.
const COUNTS: [&str; 2] = ["n", "failed"];

/// A table in the making; runs of one point follow one another.
#[derive(Debug)]
pub struct Points {
    table: Table,
    /// Columns that say which point it is.
    names: Vec<String>,
    metrics: Vec<String>,
    for_people: bool,
    /// A column says where nobody measured the power.
    with_power: bool,
    failed: Failed,
    group: Vec<RunRecord>,
}

/// Runs that have no result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Failed {
    /// How many.
    pub runs: usize,
    /// What the first of them says; empty if there is none.
    pub first: String,
}

impl Points {
    /// `labels` are the varied keys. For people a mean and its interval share a cell.
    #[must_use]
    pub fn new(labels: &[String], metrics: Vec<String>, for_people: bool) -> Self {
        let fixed = ["platform", "workload", "policy"].map(str::to_owned);
        let fixed = fixed.into_iter().filter(|name| !labels.contains(name));
        let names: Vec<String> = labels.iter().cloned().chain(fixed).collect();
        let columns = columns(&names, &metrics, for_people, (0, 0));
        Self {
            with_power: false,
            table: table(&columns, names.len()),
            names,
            metrics,
            for_people,
            failed: Failed::default(),
            group: Vec::new(),
        }
    }

    /// Says in the names of columns in joules and watts that nobody measured the power of `some` of
    /// so many points (`of`).
    #[must_use]
    pub fn modelled(mut self, (some, of): (usize, usize)) -> Self {
        let columns = columns(&self.names, &self.metrics, self.for_people, (some, of));
        self.table = table(&columns, self.names.len());
        self
    }

    /// For programs: the column `power` says of each point whether nobody measured the power.
    #[must_use]
    pub fn with_power(mut self) -> Self {
        let mut columns = columns(&self.names, &self.metrics, self.for_people, (0, 0));
        columns.push("power".to_owned());
        self.table = table(&columns, self.names.len());
        self.with_power = true;
        self
    }

    /// Adds runs.
    pub fn add(&mut self, runs: &[RunRecord]) {
        for record in runs {
            if !record.error.is_empty() {
                if self.failed.runs == 0 {
                    self.failed.first.clone_from(&record.error);
                }
                self.failed.runs += 1;
            }
            if (self.group.first()).is_some_and(|first| !same_point(first, record)) {
                self.end_point();
            }
            self.group.push(record.clone());
        }
    }

    /// The table, and the runs that have an error.
    #[must_use]
    pub fn finish(mut self) -> (Table, Failed) {
        self.end_point();
        (self.table, self.failed)
    }

    /// The point that is open is whole: its row is made.
    fn end_point(&mut self) {
        if !self.group.is_empty() {
            let mut row = row(&self.group, &self.names, &self.metrics, self.for_people);
            match self.group[0].power {
                _ if !self.with_power => {}
                "" => row.push(Cell::Empty),
                word => row.push(word.into()),
            }
            self.table.row(row);
            self.group.clear();
        }
    }
}

/// The names of the columns; a word stands behind metrics that are made of a modelled power.
fn columns(
    names: &[String],
    metrics: &[String],
    for_people: bool,
    modelled: (usize, usize),
) -> Vec<String> {
    let mut columns = names.to_vec();
    columns.extend(COUNTS.map(str::to_owned));
    for metric in metrics {
        let mark = power_word(metric, modelled).map_or_else(String::new, |w| format!(" ({w})"));
        columns.push(format!("{metric}{mark}"));
        if !for_people {
            columns.push(format!("{metric}_ci95{mark}"));
        }
    }
    columns
}

/// A table without rows; the first columns say which point a row is of.
fn table(columns: &[String], names: usize) -> Table {
    let texts: Vec<&str> = columns.iter().map(String::as_str).collect();
    let mut table = Table::new("points", &texts)
        .as_typed()
        .keys(names + COUNTS.len());
    for column in &texts[names..] {
        table = table.align(column, Align::Right);
    }
    table
}

/// Whether both runs are of one point, so that their metrics share a mean.
fn same_point(a: &RunRecord, b: &RunRecord) -> bool {
    a.labels == b.labels && decided(a) == decided(b)
}

/// What makes a point beside what is varied; files that are not the same may have one name.
fn decided(record: &RunRecord) -> [&str; 6] {
    [
        &record.platform,
        &record.workload,
        &record.policy,
        &record.platform_hash,
        &record.workload_hash,
        &record.settings,
    ]
}

/// The workload without the keys that have columns of their own.
fn without_varied(record: &RunRecord) -> String {
    let Some((model, keys)) = record.workload.split_once(':') else {
        return record.workload.clone();
    };
    let varied = |setting: &&str| {
        let label = |(key, value): &(String, String)| {
            let key = key.strip_prefix("workload.").unwrap_or("");
            *setting == format!("{key}={value}")
        };
        record.labels.iter().any(label)
    };
    let left: Vec<&str> = keys.split(',').filter(|setting| !varied(setting)).collect();
    match left.as_slice() {
        [] => model.to_owned(),
        left => format!("{model}:{}", left.join(",")),
    }
}

/// One point of the sweep: its values, its number of runs, means of its metrics.
fn row(group: &[RunRecord], names: &[String], metrics: &[String], for_people: bool) -> Vec<Cell> {
    let first = &group[0];
    let name = |name: &String| -> Cell {
        let label = first.labels.iter().find(|(own, _)| own == name);
        match (label, name.as_str()) {
            (Some((_, value)), _) => value.as_str().into(),
            (None, "platform") => first.platform.as_str().into(),
            (None, "workload") if for_people => without_varied(first).into(),
            (None, "workload") => first.workload.as_str().into(),
            (None, _) => first.policy.as_str().into(),
        }
    };
    // A run that stands twice counts once.
    let mut seeds = BTreeSet::new();
    let group: Vec<_> = group.iter().filter(|r| seeds.insert(r.seed)).collect();
    let whole: Vec<&RunRecord> = { group.iter().copied() }
        .filter(|r| r.error.is_empty())
        .collect();
    // Seeds that vary nothing are one run.
    let one = whole
        .iter()
        .all(|r| r.behaviour_hash == whole[0].behaviour_hash);
    let counted = if one && !whole.is_empty() {
        &whole[..1]
    } else {
        &whole[..]
    };
    let mut cells: Vec<Cell> = names.iter().map(name).collect();
    cells.push(counted.len().into());
    cells.push((group.len() - whole.len()).into());
    for metric in metrics {
        let values = counted
            .iter()
            .filter_map(|record| record.metrics.get(metric).copied());
        let values: Vec<f64> = values.collect();
        if values.is_empty() {
            cells.push(Cell::Empty);
            cells.extend((!for_people).then_some(Cell::Empty));
            continue;
        }
        let figures = Summary::of(&values);
        if for_people {
            let half = figures
                .ci95
                .map_or_else(String::new, |ci95| format!(" ±{}", short(ci95)));
            cells.push(format!("{}{half}", short(figures.mean)).into());
        } else {
            cells.extend([figures.mean.into(), figures.ci95.into()]);
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::Points;
    use crate::{Format, Style};
    use wakeplace_study::RunRecord;

    fn run(platform_hash: &str, seed: u64, energy: f64) -> RunRecord {
        RunRecord {
            platform: "p".to_owned(),
            platform_hash: platform_hash.to_owned(),
            workload: "w".to_owned(),
            policy: "k".to_owned(),
            seed,
            behaviour_hash: format!("{platform_hash} {seed}"),
            metrics: [("energy_j".to_owned(), energy)].into(),
            ..RunRecord::default()
        }
    }

    fn csv(runs: &[RunRecord]) -> String {
        let mut points = Points::new(&[], vec!["energy_j".to_owned()], false);
        points.add(runs);
        points.finish().0.render(Format::Csv, Style::default())
    }

    /// Goal: a program finds the word where joules stand, point by point.
    #[test]
    fn a_modelled_power_is_told_to_programs() {
        let modelled = RunRecord {
            power: wakeplace_metrics::MODELLED,
            ..run("b", 1, 3.0)
        };
        let mut points = Points::new(&[], vec!["energy_j".to_owned()], false).with_power();
        points.add(&[run("a", 1, 1.0), modelled]);
        let text = points.finish().0.render(Format::Json, Style::default());
        let rows: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let power = |at: usize| rows["points"][at]["power"].as_str().map(str::to_owned);
        assert_eq!(
            (power(0), power(1).as_deref()),
            (None, Some("modelled")),
            "{text}"
        );
    }

    /// Goal: an interval is as wide as the distinct runs make it, and files that share a name are
    /// two points.
    #[test]
    fn each_run_counts_once() {
        let runs = [run("a", 1, 1.0), run("a", 2, 3.0)];
        let twice = [&runs[..], &runs].concat();
        assert_eq!(csv(&twice), csv(&runs));
        assert!(csv(&runs).contains("p,w,k,2,0,2,"), "{}", csv(&runs));
        let two = csv(&[run("a", 1, 1.0), run("b", 1, 3.0)]);
        assert_eq!(two.lines().count(), 3, "{two}");
    }
}
