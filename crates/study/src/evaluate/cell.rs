//! One load on one board: what the candidate's runs came to beside the base's, and how they failed
//! (docs/guide/evaluate.md, "When a candidate fails").
//!
//! What must stay: a goal counts in a cell if the base has measured it with every seed; a cell in
//! which the base fails does not count. The candidate fails if a run of its cannot go on, if a task
//! that could run did not for half of the time asked for, or if it did not get done what the base
//! did. Tests by part: evaluate/tests.rs::`what_the_candidate_did_not_get_done` (`unfinished`),
//! evaluate/tests.rs::`a_wait_of_half_the_run_is_a_stall` (`stalled`),
//! crates/cli/tests/all/evaluate.rs::`a_scheduler_that_fails_has_no_score` (`crashed`).
//!
//! Tests: crates/study/src/evaluate/tests.rs,
//! crates/cli/tests/all/evaluate.rs::a_scheduler_that_fails_has_no_score

use super::blame::{Blame, wakeup};
use super::goal::{Goal, Ratio};
use crate::comparison::FRAME_METRICS;
use crate::{Comparison, Experiment, PolicyRuns, StudyError};
use wakeplace_engine::Ended;
use wakeplace_engine::sched_ext::ExitKind;
use wakeplace_metrics::{RunMetrics, Summary, find_metric, geometric_mean};
use wakeplace_outcome::{Both, EvaluatedCell, EvaluatedFigure, Failed, FailureKind};
use wakeplace_text::time;

const FAIRNESS: &str = "fairness_pct";
const LONGEST_WAIT: &str = "task_wait_us_max";

/// A cell that was looked at.
#[derive(Clone, Debug)]
pub(super) struct Judged {
    pub(super) shown: EvaluatedCell,
    /// Goals with the ratio of each seed; none where the cell does not count.
    pub(super) goals: Vec<(String, Vec<f64>)>,
    pub(super) fairness_pct: Option<Both>,
    pub(super) longest_wait_us: Option<Both>,
    pub(super) failed: Option<Failed>,
    pub(super) warnings: Vec<String>,
}

impl Judged {
    /// The geometric mean of its goals with one of the seeds.
    pub(super) fn score_of(&self, seed: usize) -> f64 {
        let ratios: Vec<f64> = self.goals.iter().map(|(_, ratios)| ratios[seed]).collect();
        geometric_mean(&ratios)
    }
}

/// How a run failed, before anybody looked where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// Which seed, by its place.
    pub(super) at: usize,
    pub(super) kind: FailureKind,
    pub(super) reason: String,
    blame: Blame,
}

/// What a cell's runs come to.
pub(super) fn judge_cell(
    (load, experiment): (&str, &Experiment),
    of: &Comparison,
    goals: &[Goal],
) -> Result<Judged, StudyError> {
    let [base, candidate] = of.runs.as_slice() else {
        return Err(StudyError::Empty(
            "two policies are evaluated; expected a base and a candidate",
        ));
    };
    let mut judged = Judged {
        shown: EvaluatedCell {
            platform: of.platform.clone(),
            load: load.to_owned(),
            workload: of.workload.clone(),
            duration_ns: of.duration_ns,
            score: None,
            figures: Vec::new(),
        },
        goals: Vec::new(),
        fairness_pct: both(base, candidate, FAIRNESS),
        longest_wait_us: longest(base, candidate),
        failed: None,
        warnings: Vec::new(),
    };
    let metrics = metrics_of(goals, of, base);
    let place = format!("{load} on {}", of.platform);
    if base.is_stuck() {
        let why = of.why_side_stuck(0).unwrap_or_default();
        judged.warnings.push(format!(
            "{place} does not count, since its base fails: {why}"
        ));
    } else {
        let fault = crashed(of, candidate)
            .or_else(|| stalled(of, base, candidate))
            .or_else(|| unfinished(&metrics, of, candidate));
        if let Some(fault) = &fault {
            judged.failed = Some(failed(&judged.shown, (experiment, of), fault)?);
        } else {
            for (goal, metric) in &metrics {
                match ratios(metric, (base, candidate)) {
                    Some(ratios) => judged.goals.push((goal.clone(), ratios)),
                    None => judged.warnings.push(format!(
                        "{place}: the goal `{goal}` does not count, since `{metric}` is 0 or less \
                         in a run and has no ratio"
                    )),
                }
            }
        }
    }
    if !judged.goals.is_empty() {
        let per_seed: Vec<f64> = (0..of.seeds.len())
            .map(|seed| judged.score_of(seed))
            .collect();
        judged.shown.score = Some(geometric_mean(&per_seed));
    }
    judged.shown.figures = figures(&metrics, &judged.goals, (base, candidate));
    Ok(judged)
}

/// Each goal that the cell has, with its metric; a metric counts once.
fn metrics_of(goals: &[Goal], of: &Comparison, base: &PolicyRuns) -> Vec<(String, String)> {
    // Frames have a goal of their own.
    let mut named = of.measured_by.iter().map(String::as_str);
    let own = named.find(|name| !FRAME_METRICS.contains(name));
    let has = |name: &str| values(&base.metrics, name).len() == of.seeds.len();
    let mut all: Vec<(String, String)> = Vec::new();
    for goal in goals {
        let metric = goal.metric(own, has);
        let metric = metric.filter(|metric| !all.iter().any(|(_, own)| own == metric));
        all.extend(metric.map(|metric| (goal.name().to_owned(), metric)));
    }
    all
}

/// The values of the runs that have the metric.
fn values(runs: &[RunMetrics], metric: &str) -> Vec<f64> {
    runs.iter()
        .filter_map(|run| run.values.get(metric))
        .collect()
}

/// The mean over the seeds.
fn mean(runs: &PolicyRuns, metric: &str) -> Option<f64> {
    let values = values(&runs.metrics, metric);
    (!values.is_empty()).then(|| Summary::of(&values).mean)
}

/// The means of both.
fn both(base: &PolicyRuns, candidate: &PolicyRuns, metric: &str) -> Option<Both> {
    let (base, candidate) = (mean(base, metric)?, mean(candidate, metric)?);
    Some(Both { base, candidate })
}

/// The longest wait under both, over the seeds.
fn longest(base: &PolicyRuns, candidate: &PolicyRuns) -> Option<Both> {
    let most = |runs: &PolicyRuns| {
        values(&runs.metrics, LONGEST_WAIT)
            .into_iter()
            .reduce(f64::max)
    };
    Some(Both {
        base: most(base)?,
        candidate: most(candidate)?,
    })
}

/// A run of the candidate's that could not go on.
fn crashed(of: &Comparison, candidate: &PolicyRuns) -> Option<Fault> {
    let at = candidate.reports.iter().position(PolicyRuns::stuck)?;
    let kind = match &candidate.reports[at].ended {
        Ended::Scheduler { exit } if exit.kind == ExitKind::ErrorStall => FailureKind::Stall,
        _ => FailureKind::Crash,
    };
    Some(Fault {
        at,
        kind,
        reason: of.why_stuck(1, at).unwrap_or_default().to_owned(),
        blame: match kind {
            FailureKind::Stall => Blame::Longest,
            _ => Blame::Last,
        },
    })
}

/// A task that could run did not for half of the time asked for, as none did under the base.
pub(super) fn stalled(of: &Comparison, base: &PolicyRuns, candidate: &PolicyRuns) -> Option<Fault> {
    let waits = |runs: &PolicyRuns, at: usize| longest_wait(runs, at).unwrap_or_default();
    let limit_ns = of.duration_ns / 2;
    let stalls = |runs: &PolicyRuns, at: usize| waits(runs, at).0 >= limit_ns;
    let mut all = 0..of.seeds.len();
    let at = all.find(|at| stalls(candidate, *at) && !stalls(base, *at))?;
    let (ns, place) = waits(candidate, at);
    Some(Fault {
        at,
        kind: FailureKind::Stall,
        reason: format!(
            "{}: a task that could run did not for {} of {}{place}",
            candidate.policy,
            time(ns),
            time(of.duration_ns)
        ),
        blame: Blame::Wait(limit_ns),
    })
}

/// The longest wait of a run, ns, and where that is known: of a task, or of a thread that no metric
/// counts, as the one that makes the others.
fn longest_wait(runs: &PolicyRuns, at: usize) -> Option<(u64, String)> {
    let us = { runs.metrics.get(at) }.and_then(|run| run.values.get(LONGEST_WAIT));
    let of_task = us.map(|us| ((us * 1e3) as u64, String::new()));
    let at_end = runs.reports.get(at).and_then(|report| {
        let wait = report.sched_ext.as_ref()?.longest_wait.as_ref()?;
        // The class counts from its own last look; where nobody ever ran, it was the whole run.
        let nobody_ran = report.tasks.iter().all(|task| task.run_ns == 0);
        let waits_ns = if nobody_ran {
            report.end_ns
        } else {
            wait.waits_ns
        };
        Some((waits_ns, format!(" ({})", wait.place)))
    });
    of_task.into_iter().chain(at_end).max_by_key(|(ns, _)| *ns)
}

/// The base has measured something with every seed that the candidate has not.
pub(super) fn unfinished(
    metrics: &[(String, String)],
    of: &Comparison,
    candidate: &PolicyRuns,
) -> Option<Fault> {
    let lacks = |run: &RunMetrics| {
        let mut missing = metrics
            .iter()
            .filter(|(_, name)| run.values.get(name).is_none());
        missing.next().map(|(_, name)| name.clone())
    };
    let mut runs = candidate.metrics.iter().enumerate();
    let (at, metric) = runs.find_map(|(at, run)| Some((at, lacks(run)?)))?;
    let length = time(of.duration_ns);
    let what = match metric == "runtime_s" {
        true => format!("not all tasks were done in {length}, as they were under the base"),
        false => format!("no `{metric}` was measured in {length}, as it was under the base"),
    };
    Some(Fault {
        at,
        kind: FailureKind::Unfinished,
        reason: format!("{}: {what}", candidate.policy),
        blame: Blame::Longest,
    })
}

/// A failure with the wake-up with which it began.
fn failed(
    cell: &EvaluatedCell,
    (experiment, of): (&Experiment, &Comparison),
    fault: &Fault,
) -> Result<Failed, StudyError> {
    let seed = of.seeds[fault.at];
    Ok(Failed {
        platform: cell.platform.clone(),
        load: cell.load.clone(),
        seed,
        kind: fault.kind,
        reason: fault.reason.clone(),
        end_ns: of.runs[1].reports[fault.at].end_ns,
        wakeup: wakeup(experiment, seed, fault.blame)?,
    })
}

/// How many times as good as the base the candidate is, seed by seed; None: some run's value says
/// nothing.
fn ratios(metric: &str, (base, candidate): (&PolicyRuns, &PolicyRuns)) -> Option<Vec<f64>> {
    let (from, to) = (
        values(&base.metrics, metric),
        values(&candidate.metrics, metric),
    );
    let ratio = Ratio::of(metric);
    let both = from.iter().zip(&to);
    both.map(|(from, to)| ratio.value(*from, *to)).collect()
}

/// The goals, then what is looked at beside them.
fn figures(
    metrics: &[(String, String)],
    ratios: &[(String, Vec<f64>)],
    (base, candidate): (&PolicyRuns, &PolicyRuns),
) -> Vec<EvaluatedFigure> {
    let goals = metrics
        .iter()
        .map(|(goal, metric)| (Some(goal), metric.as_str()));
    let beside = [FAIRNESS, LONGEST_WAIT].map(|metric| (None, metric));
    let is_goal = |metric: &str| metrics.iter().any(|(_, own)| own == metric);
    let beside = beside.into_iter().filter(|(_, metric)| !is_goal(metric));
    let one = |(goal, metric): (Option<&String>, &str)| {
        let own = ratios.iter().find(|(name, _)| Some(name) == goal);
        EvaluatedFigure {
            goal: goal.cloned(),
            metric: metric.to_owned(),
            unit: find_metric(metric).map_or("", |def| def.unit).to_owned(),
            base: mean(base, metric),
            candidate: mean(candidate, metric),
            score: own.map(|(_, ratios)| geometric_mean(ratios)),
        }
    };
    goals.chain(beside).map(one).collect()
}
