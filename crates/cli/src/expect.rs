//! `--expect`: conditions on the mean of a metric, or on its change from the base, for every policy
//! or for one (docs/guide/results.md, "Gates"). What is not measured is not met.
//!
//! Conditions are judged after all runs and change no run. Free: the words of sentences.
//!
//! What must stay: the grammar of conditions (`wakeplace_metrics::Expectation`), the columns of the
//! table, and exit code 1 for a missed condition: scripts and CI rely on them. What is not told
//! fails with `--strict` alone. A cluster, kind or state that a condition names is there on every
//! platform. Tests by part: sums.rs::`the_last_line_says_where` (`is_shown` by
//! gates.rs::`several_boards_are_one_table`),
//! crates/cli/tests/all/results.rs::`expectations_decide_the_exit_code` (`check`, `text`, `Found`),
//! results.rs::`expectations_of_changes_are_told_or_not` (`one_of`, `about`, `not_compared`),
//! results.rs::`two_results_are_compared` (`of_results`, `leave_open`, `say_limit`),
//! results.rs::`a_task_that_never_lets_time_pass_is_named` (`stuck`),
//! crates/cli/tests/all/gates.rs::`checks_are_in_the_json` (`judge`, `outcome`),
//! gates.rs::`beside_a_stuck_load_nothing_is_judged` (`unjudged`),
//! crates/cli/tests/all/report.rs::`kinds_of_cpu_within_a_cluster_are_told_apart` (`one`, `names`),
//! crates/cli/tests/all/said.rs::`lists_are_told_from_names` (`a_single`).
//!
//! Tests: crates/cli/tests/all/results.rs,
//! crates/cli/tests/all/gates.rs,
//! crates/cli/tests/all/report.rs::kinds_of_cpu_within_a_cluster_are_told_apart,
//! crates/cli/tests/all/said.rs::lists_are_told_from_names

mod sums;

pub(crate) use sums::sum_of;

use crate::failure::{Failure, Verdict};
use crate::junit::suite_of;
use wakeplace_metrics::{
    Expectation, ExpectationError, Limit, METRICS, PairedDelta, RunMetrics, measured_instead,
};
use wakeplace_outcome::{Check, verdict};
use wakeplace_platform::Platform;
use wakeplace_report::{Align, Cell, Format, Style, Table, Tone};
use wakeplace_study::{Comparison, PolicyRuns};
use wakeplace_text::{did_you_mean, nearest, one_at_a_time};

/// Reads the conditions on these policies, the base first; a metric per cluster, kind of CPU or
/// state must name one of each platform's.
pub(crate) fn parse<'a>(
    texts: &[String],
    policies: &[String],
    platforms: impl Iterator<Item = &'a Platform> + Clone,
) -> Result<Vec<Expectation>, Failure> {
    let mut all = Vec::new();
    for text in texts {
        if let Some(expectation) = on_all(text, platforms.clone())? {
            about(text, &expectation, policies)?;
            all.push(expectation);
        }
    }
    Ok(all)
}

/// Reads a condition; what it names has to be on all of these platforms. None: there are none.
pub(crate) fn on_all<'a>(
    text: &str,
    platforms: impl Iterator<Item = &'a Platform>,
) -> Result<Option<Expectation>, Failure> {
    let mut on_each = platforms.map(|platform| one(text, platform));
    // The condition is the same on each.
    let first = on_each.next().transpose()?;
    on_each.try_for_each(|other| other.map(drop))?;
    Ok(first)
}

/// Reads conditions on the later ones of kept results, of whose machines only the metrics are
/// known.
pub(crate) fn of_results(
    texts: &[String],
    policies: &[String],
) -> Result<Vec<Expectation>, Failure> {
    let wrong = |why: String| Failure::Input(format!("--expect {why}"));
    let one = |text: &String| {
        a_single(text).map_err(wrong)?;
        let parsed = Expectation::parse(text).map_err(|error| wrong(error.to_string()))?;
        match &parsed.policy {
            Some(name) if !policies.contains(name) => Err(not_compared(text, name, policies)),
            _ => Ok(parsed),
        }
    };
    texts.iter().map(one).collect()
}

/// A list in one option is told; a policy's settings may have commas.
fn a_single(text: &str) -> Result<(), String> {
    let operator = text.rfind(['<', '>', '=']).unwrap_or(text.len());
    let named = text[..operator]
        .trim_end_matches(['<', '>', '='])
        .trim_end();
    let from = named
        .rfind(char::is_whitespace)
        .map_or(0, |blank| blank + 1);
    one_at_a_time("condition", text.get(from..).unwrap_or(text)).map_or(Ok(()), Err)
}

/// The refusal of a condition on a policy that is not among those compared, with the nearest name.
pub(crate) fn not_compared(text: &str, name: &str, policies: &[String]) -> Failure {
    let hint = did_you_mean(nearest(name, policies.iter().map(String::as_str)));
    let all = policies.join(", ");
    Failure::Input(format!(
        "--expect `{text}`: `{name}` is not compared; expected one of {all}{hint}"
    ))
}

/// Is it about policies that are compared? The base comes first.
pub(crate) fn about(
    text: &str,
    expectation: &Expectation,
    policies: &[String],
) -> Result<(), Failure> {
    let wrong = |why: String| Err(Failure::Input(format!("--expect `{text}`: {why}")));
    let change = matches!(expectation.limit, Limit::FromBase(_));
    if change && policies.len() < 2 {
        return wrong("there is no base; expected two policies or more, or a value".to_owned());
    }
    match &expectation.policy {
        None => Ok(()),
        Some(name) if change && policies.first() == Some(name) => wrong(format!(
            "`{name}` is the base; expected a change of another policy, or a value"
        )),
        Some(name) if policies.contains(name) => Ok(()),
        Some(name) => Err(not_compared(text, name, policies)),
    }
}

/// Reads a condition for a platform.
fn one(text: &str, platform: &Platform) -> Result<Expectation, Failure> {
    let wrong = |why: String| Failure::Input(format!("--expect {why}"));
    a_single(text).map_err(wrong)?;
    let known = names(platform);
    let expectation = Expectation::parse(text).map_err(|error| wrong(on(&known, error)))?;
    let def = METRICS.iter().find(|def| def.matches(&expectation.metric));
    let is_state = def.is_some_and(|def| def.for_state("x") != def.name);
    let is_group = def.is_some_and(|def| def.for_cluster("x") != def.name);
    // Names of times and chains are the workload's.
    if known.contains(&expectation.metric) || !(is_state || is_group) {
        return Ok(expectation);
    }
    let near = nearest(&expectation.metric, known.iter().map(String::as_str));
    let hint = did_you_mean(near);
    let groups = platform.cpu_groups().into_iter().map(|group| group.name);
    let states = platform.idle_states.iter().map(|s| s.name.clone());
    let (what, parts): (_, Vec<String>) = if is_state {
        ("idle state", states.collect())
    } else {
        ("cluster or kind of CPU", groups.collect())
    };
    Err(wrong(format!(
        "`{text}`: platform {} has no such {what}; expected one of {}{hint}",
        platform.name,
        parts.join(", "),
    )))
}

/// The error with the nearest of the names that metrics have on this platform.
fn on(known: &[String], error: ExpectationError) -> String {
    match &error {
        ExpectationError::UnknownMetric(unknown) if unknown.nearest.is_none() => {
            let near = nearest(&unknown.name, known.iter().map(String::as_str));
            error.to_string() + &did_you_mean(near)
        }
        _ => error.to_string(),
    }
}

/// What a condition may name on this platform: every metric's name, those of clusters, kinds of CPU
/// and idle states with each of the platform's. Names of times, chains, groups and cases are not
/// the platform's: they stay patterns. A name may stand several times: it is only looked for, and
/// the nearest is offered.
fn names(platform: &Platform) -> Vec<String> {
    let mut names = Vec::new();
    for def in METRICS {
        for group in platform.cpu_groups() {
            names.push(def.for_cluster(&group.name));
        }
        for state in &platform.idle_states {
            names.push(def.for_state(&state.name));
        }
    }
    names
}

/// Runs that are judged together: of one machine and load, the same seeds each.
pub(crate) struct Judged<'a> {
    /// Nobody measured the power that joules are made of.
    pub(crate) modelled_power: bool,
    /// By policy.
    pub(crate) runs: Vec<JudgedRuns<'a>>,
}

/// The runs of a policy.
pub(crate) struct JudgedRuns<'a> {
    pub(crate) policy: &'a str,
    pub(crate) runs: &'a [RunMetrics],
    /// What changes are from; None: it is the base itself.
    pub(crate) base: Option<&'a [RunMetrics]>,
    /// Metrics that were measured, to name the nearest to one that was not.
    pub(crate) measured: Vec<&'a str>,
}

impl<'a> From<&'a Comparison> for Judged<'a> {
    /// The base comes first.
    fn from(comparison: &'a Comparison) -> Self {
        let base = comparison.runs.first().map(|runs| runs.metrics.as_slice());
        let of = |(at, runs): (usize, &'a PolicyRuns)| JudgedRuns {
            policy: runs.policy.as_str(),
            runs: runs.metrics.as_slice(),
            base: base.filter(|_| at > 0),
            measured: { runs.metrics.iter().take(1) }
                .flat_map(|run| run.values.iter().map(|(name, _)| name))
                .collect(),
        };
        Self {
            modelled_power: comparison.modelled_power,
            runs: comparison.runs.iter().enumerate().map(of).collect(),
        }
    }
}

/// The conditions checked.
pub(crate) struct Checked {
    cases: Vec<Case>,
    /// For people, a row of [`HEADS`] each.
    rows: Vec<Vec<Cell>>,
    /// What is not told counts as failed.
    strict: bool,
}

/// The columns that people see.
pub(crate) const HEADS: [&str; 6] = ["expected", "policy", "mean", "unit", "change", "verdict"];

/// A table with these columns, of which the first say what a row is of. Figures are not broken.
pub(crate) fn for_people(heads: &[&str], keys: usize) -> Table {
    let table = Table::new("expectations", heads).keys(keys).stacks();
    let table = table.align("mean", Align::Right);
    table.align("change", Align::Right)
}

/// A condition and a policy.
#[derive(Clone, Debug, Default)]
pub(crate) struct Case {
    /// The condition.
    pub(crate) expected: String,
    /// The policy.
    pub(crate) policy: String,
    /// What was found.
    pub(crate) said: String,
    /// None: not told.
    pub(crate) holds: Option<bool>,
    /// Mean of the runs, in the unit.
    pub(crate) mean: Option<f64>,
    pub(crate) unit: String,
    /// The change from the base, of a condition on a change.
    pub(crate) change: Option<PairedDelta>,
}

impl Case {
    /// As results have it; `of`: the case of a study or the point of a sweep.
    fn outcome(&self, of: Option<&str>) -> Check {
        let change = self.change.as_ref();
        Check {
            of: of.map(str::to_owned),
            expected: self.expected.clone(),
            policy: self.policy.clone(),
            mean: self.mean,
            unit: self.unit.clone(),
            delta_pct: change.map(|change| change.delta_pct),
            ci95: change.and_then(|change| change.ci95),
            holds: self.holds,
            said: self.said.clone(),
        }
    }
}

/// What one check of one policy found: what is shown of it, and whether it holds; None: not told.
struct Found {
    mean: Option<f64>,
    change: Option<PairedDelta>,
    /// The change in words, or why there is none.
    said: Option<String>,
    holds: Option<bool>,
    word: String,
}

impl Found {
    /// What stands where a metric was not measured: it counts as missed. `instead`: the nearest
    /// that was.
    fn absent(instead: Option<&str>) -> Self {
        let instead = instead.map_or_else(String::new, |name| format!("; `{name}` is"));
        Self {
            mean: None,
            change: None,
            said: None,
            holds: Some(false),
            word: format!("FAIL: not measured here{instead}"),
        }
    }

    /// `holds`: met, missed, or `None` where no interval tells; the mean is in the metric's unit.
    fn new(mean: Option<f64>, said: Option<String>, holds: Option<bool>) -> Self {
        let word = verdict(holds);
        Self {
            mean,
            change: None,
            said,
            holds,
            word: word.to_owned(),
        }
    }
}

/// Checks every condition on the policies that it is about.
pub(crate) fn check(expectations: &[Expectation], judged: &Judged<'_>, strict: bool) -> Checked {
    let mut checked = Checked {
        strict,
        ..Checked::of(Vec::new())
    };
    for expectation in expectations {
        for runs in &judged.runs {
            let named = expectation.policy.as_ref();
            if named.is_none_or(|name| name == runs.policy)
                && let Some(found) = one_of(expectation, runs)
            {
                let modelled = judged.modelled_power;
                let unit = wakeplace_report::unit_of(&expectation.metric, modelled);
                checked.add(expectation.condition(), runs.policy, &unit, found);
                checked.say_limit(expectation);
            }
        }
    }
    checked
}

/// Judges all comparisons, which keep what was found. What a run that got stuck measured is no
/// ground for a judgement.
pub(crate) fn judge(
    comparisons: &mut [Comparison],
    expectations: &[Expectation],
    strict: bool,
) -> Vec<(String, Checked)> {
    judge_where(comparisons, expectations, |_, _| true, strict)
}

/// The same, each by the conditions that are about it.
pub(crate) fn judge_where(
    comparisons: &mut [Comparison],
    expectations: &[Expectation],
    is_about: impl Fn(&Expectation, &Comparison) -> bool,
    strict: bool,
) -> Vec<(String, Checked)> {
    let is_stuck = |of: &Comparison| of.runs.iter().any(PolicyRuns::is_stuck);
    let any = comparisons.iter().any(is_stuck);
    let one = |of: &mut Comparison| {
        let policies = of.runs.iter().map(|runs| runs.policy.clone());
        let checked = match is_stuck(of) {
            true => stuck(policies),
            // Conditions that are not judged are not absent.
            false if any && !expectations.is_empty() => {
                unjudged(policies, "another load got stuck, nothing is judged")
            }
            false => {
                let own = expectations.iter().filter(|one| is_about(one, of));
                let own: Vec<Expectation> = own.cloned().collect();
                check(&own, &(&*of).into(), strict)
            }
        };
        if !expectations.is_empty() {
            of.checks = checked.outcome(None).collect();
        }
        (suite_of(of), checked)
    };
    comparisons.iter_mut().map(one).collect()
}

/// Where nothing can be judged: a run got stuck.
pub(crate) fn stuck(policies: impl Iterator<Item = String>) -> Checked {
    unjudged(policies, "a run got stuck, nothing is judged")
}

/// Where nothing can be judged, and why.
pub(crate) fn unjudged(policies: impl Iterator<Item = String>, why: &str) -> Checked {
    let case = |policy| Case {
        expected: "the runs go to their end".to_owned(),
        policy,
        said: why.to_owned(),
        holds: Some(false),
        ..Case::default()
    };
    Checked::of(policies.map(case).collect())
}

/// None: the base has no change.
fn one_of(expectation: &Expectation, of: &JudgedRuns<'_>) -> Option<Found> {
    let is_change = matches!(expectation.limit, Limit::FromBase(_));
    let base = match of.base {
        None if is_change => return None,
        base => base.unwrap_or(of.runs),
    };
    let Some(found) = expectation.judge(base, of.runs) else {
        let instead = measured_instead(&expectation.metric, of.measured.iter().copied());
        return Some(Found::absent(instead));
    };
    let text = found.change.map(|change| {
        let means = [found.base, found.mean].map(|mean| mean.unwrap_or(f64::NAN));
        wakeplace_report::from_to(means, change.delta_pct, change.bounds())
    });
    Some(Found {
        change: found.change,
        ..Found::new(found.mean, text, found.holds)
    })
}

impl Checked {
    /// Checks that were made elsewhere, without strictness and with nothing to show; `add` fills
    /// both.
    pub(crate) fn of(cases: Vec<Case>) -> Self {
        Self {
            cases,
            rows: Vec::new(),
            strict: false,
        }
    }

    /// The same where another point was chosen: what does not hold is left out, not failed.
    pub(crate) fn left_out(&self) -> Self {
        let one = |case: &Case| match case.holds {
            Some(false) => Case {
                said: format!("{}; not chosen", case.said),
                holds: None,
                ..case.clone()
            },
            _ => case.clone(),
        };
        Self::of(self.cases.iter().map(one).collect())
    }

    /// What is shown of each case, a row of [`HEADS`].
    pub(crate) fn rows(&self) -> impl Iterator<Item = Vec<Cell>> {
        let own = |(at, case): (usize, &Case)| match self.rows.get(at) {
            Some(row) => row.clone(),
            None => vec![
                case.expected.as_str().into(),
                case.policy.as_str().into(),
                Cell::Empty,
                Cell::Empty,
                Cell::Empty,
                Cell::Toned(Tone::Bad, format!("FAIL: {}", case.said)),
            ],
        };
        self.cases.iter().enumerate().map(own)
    }

    /// What was checked, in order.
    pub(crate) fn cases(&self) -> &[Case] {
        &self.cases
    }

    /// As results have them; `of`: the case of a study or the point of a sweep.
    pub(crate) fn outcome(&self, of: Option<&str>) -> impl Iterator<Item = Check> {
        self.cases.iter().map(move |case| case.outcome(of))
    }

    /// How many conditions were met (`Some(true)`), missed (`Some(false)`) or not told (`None`).
    fn number(&self, holds: Option<bool>) -> usize {
        self.cases.iter().filter(|case| case.holds == holds).count()
    }

    /// One condition as it was met or missed: a row of the table and a case for CI.
    fn add(&mut self, expected: String, policy: &str, unit: &str, found: Found) {
        let mean = found.mean.map(|mean| format!("{mean:.4}"));
        let said = match (&found.said, &mean) {
            (Some(change), _) => change.clone(),
            (None, Some(mean)) => format!("{mean} {unit}"),
            (None, None) => found.word.clone(),
        };
        let fails = found.holds.is_none() && self.strict;
        let said = match fails {
            true => format!("{said}: not told, which fails (--strict)"),
            false => said,
        };
        let word = match fails {
            true => format!("{} (--strict)", found.word),
            false => found.word,
        };
        let verdict = match found.holds {
            Some(true) => Cell::Toned(Tone::Good, word),
            None if !self.strict => Cell::from(word),
            Some(false) | None => Cell::Toned(Tone::Bad, word),
        };
        self.rows.push(vec![
            Cell::from(expected.clone()),
            Cell::from(policy),
            mean.into(),
            Cell::from(unit),
            found.said.into(),
            verdict,
        ]);
        self.cases.push(Case {
            expected,
            policy: policy.to_owned(),
            said,
            holds: found.holds.or(self.strict.then_some(false)),
            mean: found.mean,
            unit: unit.to_owned(),
            change: found.change,
        });
    }

    /// What was expected, in words, behind what was found: a CI system shows that sentence alone.
    fn say_limit(&mut self, expectation: &Expectation) {
        if let Some(case) = self.cases.last_mut() {
            case.said += &format!("; expected {}", expectation.limit_in_words());
        }
    }

    /// One that cannot be judged.
    pub(crate) fn leave_open(&mut self, expected: String, policy: &str, why: &str) {
        let found = Found::new(None, Some(why.to_owned()), None);
        self.add(expected, policy, "", found);
    }

    /// Exit code 1 if one failed, or is not told where that counts.
    pub(crate) fn verdict(&self) -> Verdict {
        match self.number(Some(false)) {
            0 => Verdict::Ok,
            _ => Verdict::Unmet,
        }
    }

    /// For people; empty if nothing was expected.
    pub(crate) fn text(&self, style: Style) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let mut table = for_people(&HEADS, 2);
        self.rows.iter().for_each(|row| table.row(row.clone()));
        let table = table.render(Format::Human, style);
        format!("\n{table}{}\n", sum_of(&self.cases, &[]))
    }

    /// People are shown something of it.
    pub(crate) fn is_shown(&self) -> bool {
        !self.rows.is_empty()
    }
}
