//! `--expect` for studies and sweeps: each case and each point is judged by itself, the base being
//! its first column or policy (docs/guide/results.md, "Gates").
//!
//! Conditions and their words are those of `expect.rs`. Of the runs only the metrics are kept that
//! conditions name. Free: how many rows people see.
//!
//! What must stay: a condition that is about nothing is refused before the first run; runs of a
//! point are all that differs in the policy alone, in whichever way policies are varied; a case or
//! point with a run that has no result fails. Tests by part:
//! crates/cli/tests/all/gates.rs::`a_study_is_a_gate` (`of_studies`, `stuck`, `case_of`),
//! gates.rs::`a_sweep_is_a_gate` (`add`, `judge`, `point_of`, `text`),
//! gates.rs::`conditions_on_nothing_are_refused` (`somewhere`, `of_sweep`).
//!
//! Tests: crates/cli/tests/all/gates.rs

use crate::args::GateArgs;
use crate::expect::{self, Case, Checked, HEADS, Judged};
use crate::failure::{Failure, Verdict};
use std::collections::{BTreeMap, BTreeSet};
use wakeplace_metrics::{Expectation, Limit, MODELLED, RunMetrics};
use wakeplace_report::{Align, Cell, Format, Style, Table};
use wakeplace_study::{Design, RunRecord, Study, StudyOptions, Sweep};
use wakeplace_text::count;

/// Rows that people are shown.
const MOST_SHOWN: usize = 50;

/// Conditions, and what of the runs they are judged by.
pub(crate) struct Gate {
    expectations: Vec<Expectation>,
    strict: bool,
    /// Where each point stands among `points`.
    places: BTreeMap<String, usize>,
    points: Vec<Point>,
}

/// The runs that differ in policy and seed alone: a point of a sweep, or a case of a study.
struct Point {
    name: String,
    modelled_power: bool,
    /// Why a run has no result, if one has none.
    error: Option<String>,
    /// In the order of the policies.
    runs: Vec<(String, Vec<RunMetrics>)>,
}

impl Gate {
    /// Nothing is expected.
    pub(crate) fn none() -> Self {
        Self {
            expectations: Vec::new(),
            strict: false,
            places: BTreeMap::new(),
            points: Vec::new(),
        }
    }

    /// Reads the conditions on the cases of studies, their variants too.
    pub(crate) fn of_studies(
        args: &GateArgs,
        studies: &[Study],
        how: &StudyOptions,
    ) -> Result<Self, Failure> {
        let mut cases = Vec::new();
        if !args.expect.is_empty() {
            for study in studies {
                cases.extend(study.judged(how).map_err(Failure::input)?);
            }
        }
        let one = |text: &String| {
            let platforms = cases.iter().map(|(platform, _)| &**platform);
            let read = expect::on_all(text, platforms)?;
            if let Some(expectation) = &read {
                let columns = cases.iter().map(|(_, columns)| columns.as_slice());
                somewhere(text, expectation, columns)?;
            }
            Ok(read)
        };
        Self::read(args, one)
    }

    /// Reads the conditions on the points of a sweep.
    pub(crate) fn of_sweep(args: &GateArgs, sweep: &Sweep) -> Result<Self, Failure> {
        let policies = sweep.policies();
        // Its points share no values but by chance.
        let drawn = matches!(sweep.design, Design::LatinHypercube { .. })
            && sweep.axes.iter().any(|axis| axis.key == "policy");
        let platforms = match args.expect.is_empty() {
            true => Vec::new(),
            false => sweep.platforms(),
        };
        let one = |text: &String| {
            let read = expect::on_all(text, platforms.iter())?;
            if let Some(expectation) = &read {
                let change = matches!(expectation.limit, Limit::FromBase(_));
                if change && (drawn || policies.len() < 2) {
                    return Err(Failure::Input(format!(
                        "--expect `{text}`: there is no base: a change is from the first policy \
                         of the same point, and the points of this sweep have one policy each; \
                         expected a second --policy, or a value"
                    )));
                }
                expect::about(text, expectation, &policies)?;
            }
            Ok(read)
        };
        Self::read(args, one)
    }

    /// Reads each condition with `one`.
    fn read(
        args: &GateArgs,
        one: impl Fn(&String) -> Result<Option<Expectation>, Failure>,
    ) -> Result<Self, Failure> {
        let read = args.expect.iter().map(one);
        let read = read.collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            expectations: read.into_iter().flatten().collect(),
            strict: args.strict,
            ..Self::none()
        })
    }

    /// Adds runs, in the order of the result: of a point the base first, seed by seed.
    pub(crate) fn add(&mut self, runs: &[RunRecord]) {
        if self.expectations.is_empty() {
            return;
        }
        for record in runs {
            let (name, key) = point_of(record);
            let next = self.points.len();
            let place = *self.places.entry(key).or_insert(next);
            if place == next {
                self.points.push(Point {
                    name,
                    modelled_power: record.power == MODELLED,
                    error: None,
                    runs: Vec::new(),
                });
            }
            let run = self.kept(record);
            let point = &mut self.points[place];
            if !record.error.is_empty() {
                point.error.get_or_insert_with(|| record.error.clone());
            }
            match point.runs.iter().position(|(own, _)| *own == record.policy) {
                Some(at) => point.runs[at].1.push(run),
                None => point.runs.push((record.policy.clone(), vec![run])),
            }
        }
    }

    /// A run of a study's case got stuck.
    pub(crate) fn stuck(&mut self, study: &str, case: &str) {
        let name = case_of(study, case);
        for point in self.points.iter_mut().filter(|point| point.name == name) {
            point.error = Some("a run got stuck".to_owned());
        }
    }

    /// The metrics of a run that conditions name.
    fn kept(&self, record: &RunRecord) -> RunMetrics {
        let names: BTreeSet<&str> = self
            .expectations
            .iter()
            .map(|one| one.metric.as_str())
            .collect();
        let values = names
            .into_iter()
            .filter_map(|name| Some((name, *record.metrics.get(name)?)));
        let hash = u64::from_str_radix(&record.behaviour_hash, 16);
        RunMetrics::kept(values, hash.unwrap_or(0))
    }

    /// Judges all points: what each is called, and what was found.
    pub(crate) fn judge(&self) -> Vec<(String, Checked)> {
        let one = |point: &Point| {
            let runs = point.runs.iter();
            let checked = match &point.error {
                None => {
                    let judged = Judged {
                        modelled_power: point.modelled_power,
                        runs: runs.map(|(name, all)| (name.as_str(), &all[..])).collect(),
                    };
                    expect::check(&self.expectations, &judged, self.strict)
                }
                Some(why) => {
                    let named = runs.map(|(name, _)| name.clone());
                    expect::unjudged(named, &format!("nothing is judged: {why}"))
                }
            };
            (point.name.clone(), checked)
        };
        self.points.iter().map(one).collect()
    }
}

/// A case, by which its suite is called, too.
fn case_of(study: &str, case: &str) -> String {
    format!("{study}, {case}")
}

/// What the run's point is called whatever the policy, and what tells it from all others.
fn point_of(record: &RunRecord) -> (String, String) {
    let label = |key: &str| record.labels.iter().find(|(own, _)| own == key);
    if let (Some((_, study)), Some((_, case))) = (label("study"), label("case")) {
        let name = case_of(study, case);
        return (name.clone(), name);
    }
    let own = ["platform", "workload", "policy"];
    let varied = record
        .labels
        .iter()
        .filter(|(key, _)| !own.contains(&key.as_str()));
    let mut parts: Vec<String> = varied.map(|(k, v)| format!("{k}={v}")).collect();
    parts.extend([record.platform.clone(), record.workload.clone()]);
    let name = parts.join(", ");
    // Files of one name may differ.
    let hashes = [record.platform_hash.as_str(), &record.workload_hash];
    let key = format!("{name}\n{}", hashes.join(" "));
    (name, key)
}

/// Is it about the columns of some case? Each has its base first.
fn somewhere<'a>(
    text: &str,
    expectation: &Expectation,
    cases: impl Iterator<Item = &'a [String]>,
) -> Result<(), Failure> {
    let mut known: Vec<String> = Vec::new();
    let mut wrong = None;
    for columns in cases {
        match expect::about(text, expectation, columns) {
            Ok(()) => return Ok(()),
            Err(error) => wrong = wrong.or(Some(error)),
        }
        for name in columns {
            if !known.contains(name) {
                known.push(name.clone());
            }
        }
    }
    match &expectation.policy {
        Some(name) if !known.contains(name) => Err(expect::not_compared(text, name, &known)),
        _ => wrong.map_or(Ok(()), Err),
    }
}

/// For people, one table of all; `what` is the head of its first column. Of many rows those that
/// failed come first, then those that are not told.
pub(crate) fn text(all: &[(String, Checked)], what: &str, style: Style) -> String {
    let rows = all.iter().flat_map(|(name, checked)| {
        let rows = checked.rows().zip(checked.cases());
        rows.map(move |(row, case)| (case, [vec![Cell::from(name.as_str())], row].concat()))
    });
    let mut rows: Vec<(&Case, Vec<Cell>)> = rows.collect();
    if rows.is_empty() {
        return String::new();
    }
    let sum = expect::sum_of(rows.iter().map(|(case, _)| *case));
    let more = rows.len().saturating_sub(MOST_SHOWN);
    if more > 0 {
        rows.sort_by_key(|(case, _)| match case.holds {
            Some(false) => 0,
            None => 1,
            Some(true) => 2,
        });
        rows.truncate(MOST_SHOWN);
    }
    let heads = [&[what][..], &HEADS].concat();
    let mut table = Table::new("expectations", &heads).align("mean", Align::Right);
    rows.into_iter().for_each(|(_, row)| table.row(row));
    let table = table.render(Format::Human, style);
    let more = match more {
        0 => String::new(),
        more => format!("{} more: --export-junit FILE\n", count(more, "check")),
    };
    format!("\n{table}{more}{sum}\n")
}

/// Whether all of them hold.
pub(crate) fn verdict(all: &[(String, Checked)]) -> Verdict {
    let unmet = |(_, checked): &(String, Checked)| checked.verdict() == Verdict::Unmet;
    match all.iter().any(unmet) {
        true => Verdict::Unmet,
        false => Verdict::Ok,
    }
}
