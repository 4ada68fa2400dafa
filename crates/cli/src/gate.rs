//! `--expect` for several places: each case of a study and each point of a sweep is judged by
//! itself, and what was found of them, or of several boards and loads, is one table. A change of a
//! case is from its first column, a change of a point from the sweep's base
//! (docs/guide/results.md, "Gates").
//!
//! Conditions and their words are those of `expect.rs`. Of the runs only the metrics are kept that
//! conditions name. Free: how many rows people see.
//!
//! What must stay: a condition that is about nothing is refused before the first run; the suite of
//! a point has all that differs from it in the policy alone, in whichever way policies are varied.
//! A case or point with a run that has no result fails, and so does one whose base has none where a
//! change is judged. Two studies of one name stay two. Tests by part:
//! crates/cli/tests/all/gates.rs::`a_study_is_a_gate` (`of_studies`, `add_study`, `case_of`),
//! gates.rs::`a_sweep_is_a_gate` (`add`, `judge`, `point_of`, `text`),
//! gates.rs::`several_boards_are_one_table` (`failed_at`),
//! gates.rs::`a_sweep_has_a_base` (`base_of`, `holding`),
//! crates/cli/tests/all/sweeps.rs::`a_strict_choice_holds_in_each_run` (`in_each_run`),
//! gates.rs::`checks_are_in_the_json` (`outcome`),
//! gates.rs::`two_studies_of_one_name_are_two` (`add_study`),
//! gates.rs::`conditions_on_nothing_are_refused` (`somewhere`, `of_sweep`),
//! sweeps.rs::`the_smallest_that_holds_is_chosen` (`counts`).
//!
//! Tests: crates/cli/tests/all/gates.rs

use crate::args::GateArgs;
use crate::expect::{self, Case, Checked, HEADS, Judged, JudgedRuns};
use crate::failure::{Failure, Verdict};
use std::collections::{BTreeMap, BTreeSet};
use wakeplace_metrics::{Expectation, Limit, MODELLED, RunMetrics, measured_instead};
use wakeplace_outcome::{Check, Study as StudyResult};
use wakeplace_report::{Cell, Format, Style};
use wakeplace_study::{Base, RunRecord, Study, StudyOptions, Sweep, study_records};
use wakeplace_text::{count, printable};

/// Rows that people are shown.
const MOST_SHOWN: usize = 50;

/// Conditions, and what of the runs they are judged by.
pub(crate) struct Gate {
    expectations: Vec<Expectation>,
    strict: bool,
    /// What changes of a sweep's points are from.
    base: Option<Base>,
    /// Where each suite stands among `suites`.
    places: BTreeMap<String, usize>,
    suites: Vec<Suite>,
    /// The runs of a sweep's points: their place among `suites`, and in it.
    points: BTreeMap<usize, (usize, usize)>,
    /// Studies that were added.
    studies: usize,
}

/// The runs that differ in policy and seed alone: of points of a sweep, or a case of a study.
struct Suite {
    name: String,
    /// What results call it: the point, or the case within its study.
    of: String,
    /// The study's number, from 1; 0: of a sweep.
    study: usize,
    modelled_power: bool,
    /// Why a run has no result, if one has none.
    error: Option<String>,
    /// In the order of the policies.
    runs: Vec<Runs>,
}

/// The runs of a policy.
struct Runs {
    policy: String,
    /// Number of the point; None: of a study.
    point: Option<usize>,
    metrics: Vec<RunMetrics>,
    /// The nearest measured ones to metrics of conditions that were not.
    instead: Vec<String>,
}

impl Gate {
    /// Nothing is expected.
    fn none() -> Self {
        Self {
            expectations: Vec::new(),
            strict: false,
            base: None,
            places: BTreeMap::new(),
            suites: Vec::new(),
            points: BTreeMap::new(),
            studies: 0,
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

    /// Reads the conditions on the points of a sweep; `base`: what changes are from.
    pub(crate) fn of_sweep(
        args: &GateArgs,
        sweep: &Sweep,
        base: Option<&Base>,
    ) -> Result<Self, Failure> {
        let policies = sweep.policies();
        let platforms = match args.expect.is_empty() {
            true => Vec::new(),
            false => sweep.platforms(),
        };
        // A base that is a policy is of no change itself.
        let only = base.filter(|base| matches!(base.values(), [(key, _)] if key == "policy"));
        let one = |text: &String| {
            let read = expect::on_all(text, platforms.iter())?;
            let Some(expectation) = &read else {
                return Ok(read);
            };
            let change = matches!(expectation.limit, Limit::FromBase(_));
            if change && base.is_none() {
                return Err(Failure::Input(format!(
                    "--expect `{text}`: there is no base: the points of this sweep share no \
                     values and have one policy each; expected a second --policy, or a value"
                )));
            }
            match (change, only) {
                // The base's policy comes first.
                (true, Some(only)) => {
                    let (_, first) = &only.values()[0];
                    let rest = policies.iter().filter(|name| *name != first);
                    let all: Vec<String> = std::iter::once(first).chain(rest).cloned().collect();
                    expect::about(text, expectation, &all)?;
                }
                _ => match &expectation.policy {
                    Some(name) if !policies.contains(name) => {
                        return Err(expect::not_compared(text, name, &policies));
                    }
                    _ => {}
                },
            }
            Ok(read)
        };
        let gate = Self::read(args, one)?;
        Ok(Self {
            base: base.cloned(),
            ..gate
        })
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

    /// The conditions as they are typed.
    pub(crate) fn conditions(&self) -> Vec<String> {
        self.expectations
            .iter()
            .map(Expectation::to_string)
            .collect()
    }

    /// The conditions.
    pub(crate) fn expectations(&self) -> &[Expectation] {
        &self.expectations
    }

    /// The metrics that conditions name, each once.
    pub(crate) fn metrics(&self) -> BTreeSet<&str> {
        let names = self.expectations.iter();
        names.map(|one| one.metric.as_str()).collect()
    }

    /// Adds all runs of a sweep's point, by its number.
    pub(crate) fn add(&mut self, number: usize, runs: &[RunRecord]) {
        let Some(first) = runs.first().filter(|_| !self.expectations.is_empty()) else {
            return;
        };
        let (name, key) = point_of(first);
        let metrics = runs.iter().map(|record| self.kept(record)).collect();
        let instead = self.instead(first);
        let place = self.suite(key, || (name.clone(), name), first);
        let suite = &mut self.suites[place];
        let error = runs.iter().find(|record| !record.error.is_empty());
        if let Some(record) = error {
            suite.error.get_or_insert_with(|| record.error.clone());
        }
        self.points.insert(number, (place, suite.runs.len()));
        suite.runs.push(Runs {
            policy: first.policy.clone(),
            point: Some(number),
            metrics,
            instead,
        });
    }

    /// Adds the cases of a study, of each the base first, seed by seed.
    pub(crate) fn add_study(&mut self, result: &StudyResult) {
        if self.expectations.is_empty() {
            return;
        }
        self.studies += 1;
        let key = |name: &str, nth: usize| format!("{nth}\n{name}");
        for record in study_records(result) {
            let (name, case) = case_of(&record);
            let run = self.kept(&record);
            let instead = self.instead(&record);
            let place = self.suite(key(&name, self.studies), || (name, case), &record);
            let suite = &mut self.suites[place];
            match suite
                .runs
                .iter_mut()
                .find(|runs| runs.policy == record.policy)
            {
                Some(runs) => runs.metrics.push(run),
                None => suite.runs.push(Runs {
                    policy: record.policy,
                    point: None,
                    metrics: vec![run],
                    instead,
                }),
            }
        }
        for profile in result.profiles.iter().filter(|profile| !profile.complete) {
            let name = format!("{}, {}", result.study, profile.case);
            if let Some(place) = self.places.get(&key(&name, self.studies)) {
                self.suites[*place].error = Some("a run got stuck".to_owned());
            }
        }
    }

    /// The place of a suite, which is made if it is not there: its name, and what results call it.
    fn suite(
        &mut self,
        key: String,
        names: impl FnOnce() -> (String, String),
        record: &RunRecord,
    ) -> usize {
        let next = self.suites.len();
        let place = *self.places.entry(key).or_insert(next);
        if place == next {
            let (name, of) = names();
            self.suites.push(Suite {
                name,
                of,
                study: self.studies,
                modelled_power: record.power == MODELLED,
                error: None,
                runs: Vec::new(),
            });
        }
        place
    }

    /// The metrics of a run that conditions name.
    fn kept(&self, record: &RunRecord) -> RunMetrics {
        let names = self.metrics().into_iter();
        let values = names.filter_map(|name| Some((name, *record.metrics.get(name)?)));
        let hash = u64::from_str_radix(&record.behaviour_hash, 16);
        RunMetrics::kept(values, hash.unwrap_or(0))
    }

    /// Of the run's metrics the nearest to each that a condition names and that it lacks.
    fn instead(&self, record: &RunRecord) -> Vec<String> {
        let names = self.metrics().into_iter();
        let absent = names.filter(|name| !record.metrics.contains_key(*name));
        let measured = record.metrics.keys().map(String::as_str);
        absent
            .filter_map(|name| measured_instead(name, measured.clone()))
            .map(str::to_owned)
            .collect()
    }

    /// Where the runs stand that those of a suite are compared with: the suite's place, and theirs.
    /// None: they are the base, or there is none.
    fn base_of(&self, suite: usize, runs: &Runs, at: usize) -> Option<(usize, usize)> {
        let Some(point) = runs.point else {
            return (at > 0).then_some((suite, 0));
        };
        let base = self.base.as_ref()?.of(point);
        let place = self.points.get(&base)?;
        (base != point).then_some(*place)
    }

    /// Judges all suites: what each is called, and what was found.
    pub(crate) fn judge(&self) -> Vec<(String, Checked)> {
        let suites = self.suites.iter().enumerate();
        let one = |(at, suite): (usize, &Suite)| (suite.name.clone(), self.checked(at, suite));
        suites.map(one).collect()
    }

    /// Judges a suite.
    fn checked(&self, at: usize, suite: &Suite) -> Checked {
        let bases = suite.runs.iter().enumerate();
        let bases = bases.map(|(nth, runs)| self.base_of(at, runs, nth));
        let bases: Vec<Option<(usize, usize)>> = bases.collect();
        let is_change = |one: &Expectation| matches!(one.limit, Limit::FromBase(_));
        // A base of another suite may have no result.
        let mut others = bases.iter().flatten().filter_map(|(place, _)| {
            let why = self.suites[*place].error.as_ref()?;
            Some(format!("its base has no result: {why}"))
        });
        let other = match self.expectations.iter().any(is_change) {
            true => others.next(),
            false => None,
        };
        if let Some(why) = suite.error.clone().or(other) {
            let named = suite.runs.iter().map(|runs| runs.policy.clone());
            return expect::unjudged(named, &format!("nothing is judged: {why}"));
        }
        let runs = suite.runs.iter().zip(&bases);
        let runs = runs.map(|(runs, base)| JudgedRuns {
            policy: &runs.policy,
            runs: &runs.metrics,
            base: base.map(|(place, nth)| self.suites[place].runs[nth].metrics.as_slice()),
            measured: runs.instead.iter().map(String::as_str).collect(),
        });
        let judged = Judged {
            modelled_power: suite.modelled_power,
            runs: runs.collect(),
        };
        expect::check(&self.expectations, &judged, self.strict)
    }

    /// The checks as results have them, each with its case or point: of a study by its number, from
    /// 1, or of a sweep, 0.
    pub(crate) fn outcome(&self, checked: &[(String, Checked)], study: usize) -> Vec<Check> {
        let suites = self.suites.iter().zip(checked);
        let own = suites.filter(|(suite, _)| suite.study == study);
        own.flat_map(|(suite, (_, checked))| checked.outcome(Some(&suite.of)))
            .collect()
    }

    /// Each of the runs by itself holds the conditions on values that are about its policy.
    fn in_each_run(&self, runs: &Runs) -> bool {
        let is_about = |one: &&Expectation| {
            let named = one.policy.as_ref();
            matches!(one.limit, Limit::Value(_)) && named.is_none_or(|name| *name == runs.policy)
        };
        let holds = |one: &Expectation, run: &RunMetrics| {
            let run = std::slice::from_ref(run);
            let found = one.judge(run, run);
            found.is_some_and(|found| found.holds == Some(true))
        };
        let mut about = self.expectations.iter().filter(is_about);
        about.all(|one| runs.metrics.iter().all(|run| holds(one, run)))
    }

    /// By the numbers of a sweep's points, whether each holds all conditions that are about it, for
    /// sure, if strict values in each run; None: nothing is expected. `checked`: what was found, as
    /// `judge` gives it.
    pub(crate) fn holding(&self, checked: &[(String, Checked)]) -> Option<BTreeMap<usize, bool>> {
        if self.expectations.is_empty() {
            return None;
        }
        let of = |(suite, (_, checked)): (&Suite, &(String, Checked))| {
            let holds = |runs: &Runs| {
                let own = checked
                    .cases()
                    .iter()
                    .filter(|case| case.policy == runs.policy);
                let holds = own.into_iter().all(|case| case.holds == Some(true));
                holds && (!self.strict || self.in_each_run(runs))
            };
            let points = suite
                .runs
                .iter()
                .filter_map(|runs| Some((runs.point?, holds(runs))));
            points.collect::<Vec<_>>()
        };
        Some(self.suites.iter().zip(checked).flat_map(of).collect())
    }
}

/// What the suite of a case is called, and the case.
fn case_of(record: &RunRecord) -> (String, String) {
    let label = |key: &str| {
        let found = record.labels.iter().find(|(own, _)| own == key);
        found.map_or("", |(_, value)| value.as_str())
    };
    let case = label("case");
    (format!("{}, {case}", label("study")), case.to_owned())
}

/// What the run's point is called whatever the policy, and what tells it from all others.
fn point_of(record: &RunRecord) -> (String, String) {
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
    let sum = expect::sum_of(rows.iter().map(|(case, _)| *case), &failed_at(all));
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
    let mut table = expect::for_people(&heads, 3);
    rows.into_iter().for_each(|(_, row)| table.row(row));
    let table = table.render(Format::Human, style);
    let more = match more {
        0 => String::new(),
        more => format!("{} more: --export-junit FILE\n", count(more, "check")),
    };
    format!("\n{table}{more}{sum}\n")
}

/// For people, of how many points each condition holds: a line for each.
pub(crate) fn counts(all: &[(String, Checked)]) -> String {
    let cases: Vec<&Case> = { all.iter() }.flat_map(|(_, of)| of.cases()).collect();
    let mut conditions: Vec<&str> = Vec::new();
    for case in &cases {
        if !conditions.contains(&case.expected.as_str()) {
            conditions.push(&case.expected);
        }
    }
    let line = |condition: &&str| {
        let own = cases.iter().filter(|case| case.expected == *condition);
        let held = own.clone().filter(|case| case.holds == Some(true)).count();
        let open = own.clone().filter(|case| case.holds.is_none()).count();
        let open = match open {
            0 => String::new(),
            open => format!(", {open} not told"),
        };
        let verb = if held == 1 { "holds" } else { "hold" };
        let all = count(own.count(), "point");
        format!("{}: {held} of {all} {verb}{open}\n", printable(condition))
    };
    let lines: String = conditions.iter().map(line).collect();
    match lines.is_empty() {
        true => lines,
        false => format!("\n{lines}"),
    }
}

/// The places where something failed, each once; none of a single place.
fn failed_at(all: &[(String, Checked)]) -> Vec<&str> {
    let mut places: Vec<&str> = Vec::new();
    for (name, checked) in all.iter().filter(|_| all.len() > 1) {
        let failed = checked.cases().iter().any(|case| case.holds == Some(false));
        if failed && !places.contains(&name.as_str()) {
            places.push(name);
        }
    }
    places
}

/// Whether all of them hold.
pub(crate) fn verdict(all: &[(String, Checked)]) -> Verdict {
    let unmet = |(_, checked): &(String, Checked)| checked.verdict() == Verdict::Unmet;
    match all.iter().any(unmet) {
        true => Verdict::Unmet,
        false => Verdict::Ok,
    }
}
