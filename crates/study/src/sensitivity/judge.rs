//! What becomes of each conclusion: gain, loss or no difference, by the 95 % interval
//! (studies/README.md).
//!
//! What must stay: a conclusion holds if all changed costs give the same; the plain runs come
//! before the changed ones of their case (`sensitivity/plan.rs`); rows stand by runs, metrics,
//! policies, and JSON and CSV keep the order. Tests by part: `the_interval_and_the_metric_decide`
//! (`conclusion`), `a_conclusion_that_one_assumed_time_makes_is_not_robust` (`sensitivity`,
//! `robust`, `fragile`), `a_conclusion_that_stands_at_half_and_double_is_robust` (`verdict`,
//! `kinds`), `a_cost_that_no_run_uses_is_told` (`same`), `one_seed_tells_nothing` (`verdict`).
//! `other_with_fewer_seeds` has no test of its own.
//!
//! Tests: crates/study/src/sensitivity/judge/tests.rs

use super::plan::{Change, Tried, wanted};
use crate::PolicyRuns;
use crate::file::StudyFile;
use wakeplace_metrics::{Better, PairedDelta, RunMetrics, find_metric, paired};
use wakeplace_outcome::{Assumed, Conclusion, Cost, Except, Row as StudyRow, Tried as Row};
use wakeplace_platform::Factor;
use wakeplace_text::count;

/// What the comparison of a column with the base says about a metric.
fn conclusion(metric: &str, delta: Option<(f64, Option<(f64, f64)>)>) -> Conclusion {
    let Some((delta_pct, Some((low, high)))) = delta else {
        return Conclusion::Unknown;
    };
    // A change that is nowhere shows as (0, 0).
    if !(low > 0.0 || high < 0.0) {
        return Conclusion::NoDifference;
    }
    match find_metric(metric).map_or(Better::Neither, |def| def.better) {
        Better::Lower if delta_pct < 0.0 => Conclusion::Gain,
        Better::Higher if delta_pct > 0.0 => Conclusion::Gain,
        Better::Lower | Better::Higher => Conclusion::Loss,
        Better::Neither if delta_pct > 0.0 => Conclusion::More,
        Better::Neither => Conclusion::Less,
    }
}

/// What becomes of the conclusions of a study at half and double of what is assumed.
#[derive(Clone, Debug)]
pub(crate) struct Sensitivity {
    /// What was tried.
    pub(crate) assumed: Assumed,
    /// One row per case, cost, factor, metric and policy.
    pub(crate) rows: Vec<Row>,
}

/// Judges all runs; None if there are none.
pub(crate) fn sensitivity(
    file: &StudyFile,
    tried: &[(&Tried, Vec<PolicyRuns>)],
) -> Option<Sensitivity> {
    let (first, _) = tried.first()?;
    let except = wanted(file).except.into_iter();
    let mut found = Sensitivity {
        assumed: Assumed {
            seeds: first.planned.seeds.clone(),
            except: except.map(|(cost, why)| Except { cost, why }).collect(),
            ..Assumed::default()
        },
        rows: Vec::new(),
    };
    let mut used: Vec<String> = Vec::new();
    let mut plain: &[PolicyRuns] = &[];
    for (tried, runs) in tried {
        let Some(change) = &tried.change else {
            found.assumed.cases.push(tried.planned.token.clone());
            plain = runs;
            continue;
        };
        let costs = &mut found.assumed.costs;
        if !costs.iter().any(|known| known.cost == change.cost) {
            costs.push(Cost {
                cost: change.cost.clone(),
                value: change.value.clone(),
                unused: false,
            });
        }
        if !same(plain, runs) {
            used.push(change.cost.clone());
        }
        found.add(file, (&tried.planned.token, change), plain, runs);
    }
    for cost in &mut found.assumed.costs {
        cost.unused = !used.contains(&cost.cost);
    }
    Some(found)
}

/// Nothing of the runs was changed, as far as is measured.
fn same(plain: &[PolicyRuns], runs: &[PolicyRuns]) -> bool {
    let values = |runs: &PolicyRuns| -> Vec<Vec<(String, u64)>> {
        let one = |metrics: &RunMetrics| {
            let pairs = metrics.values.iter();
            pairs
                .map(|(name, value)| (name.to_owned(), value.value.to_bits()))
                .collect()
        };
        runs.metrics.iter().map(one).collect()
    };
    let hashes = |runs: &PolicyRuns| -> Vec<u64> {
        runs.reports
            .iter()
            .map(|report| report.event_hash)
            .collect()
    };
    plain
        .iter()
        .zip(runs)
        .all(|(a, b)| hashes(a) == hashes(b) && values(a) == values(b))
}

impl Sensitivity {
    /// Judges each conclusion of a case anew, with one cost changed.
    fn add(
        &mut self,
        file: &StudyFile,
        (case, change): (&str, &Change),
        plain: &[PolicyRuns],
        runs: &[PolicyRuns],
    ) {
        let delta = |runs: &[PolicyRuns], role: usize, metric: &str| -> Option<PairedDelta> {
            paired(&runs[0].metrics, &runs[role].metrics, metric)
        };
        for metric in &file.metrics {
            for role in 1..runs.len() {
                let (before, after) = (
                    delta(plain, role, &metric.name),
                    delta(runs, role, &metric.name),
                );
                if before.is_none() && after.is_none() {
                    continue;
                }
                let says = |delta: Option<PairedDelta>| {
                    conclusion(&metric.name, delta.map(|d| (d.delta_pct, d.bounds())))
                };
                let (plain_conclusion, conclusion) = (says(before), says(after));
                self.rows.push(Row {
                    case: case.to_owned(),
                    metric: metric.name.clone(),
                    policy: runs[role].policy.clone(),
                    cost: change.cost.clone(),
                    factor: change.factor.value(),
                    delta_pct: after.map(|d| d.delta_pct),
                    ci95: after.and_then(|d| d.ci95),
                    conclusion,
                    plain_delta_pct: before.map(|d| d.delta_pct),
                    plain_conclusion,
                    flips: conclusion != plain_conclusion,
                });
            }
        }
    }

    /// Whether a conclusion holds throughout; None: it was not tried, or one seed tells nothing.
    pub(crate) fn robust(&self, case: &str, metric: &str, policy: &str) -> Option<bool> {
        let mut rows = self.of(case, metric, policy).peekable();
        let plain = rows.peek()?.plain_conclusion;
        (plain != Conclusion::Unknown).then(|| !rows.any(|row| row.flips))
    }

    /// The rows of a conclusion.
    fn of<'a>(
        &'a self,
        case: &'a str,
        metric: &'a str,
        policy: &'a str,
    ) -> impl Iterator<Item = &'a Row> {
        let ours =
            move |row: &&Row| row.case == case && row.metric == metric && row.policy == policy;
        self.rows.iter().filter(ours)
    }

    /// The conclusions that were tried: case, metric, policy; each once.
    fn conclusions(&self) -> Vec<(&str, &str, &str)> {
        let mut all: Vec<(&str, &str, &str)> = Vec::new();
        for row in &self.rows {
            let key = (row.case.as_str(), row.metric.as_str(), row.policy.as_str());
            if !all.contains(&key) {
                all.push(key);
            }
        }
        all
    }

    /// Says that fewer seeds already conclude something else, since a flip is told from these.
    pub(crate) fn other_with_fewer_seeds(&self, row: &StudyRow) -> Option<String> {
        let tried = self.of(&row.case, &row.metric, &row.policy).next()?;
        let delta = row
            .simulated_delta_pct
            .map(|d| (d, row.simulated_delta_ci95));
        let of_all = conclusion(&row.metric, delta);
        (tried.plain_conclusion != of_all).then(|| {
            format!(
                "case {}, {} of {}: {} with {}, {} with the {} that tried the assumed costs: \
                 whether it is robust is told from the latter",
                row.case,
                row.metric,
                row.policy,
                of_all.word(),
                count(row.simulated.n.unwrap_or_default(), "seed"),
                tried.plain_conclusion.word(),
                count(self.assumed.seeds.len(), "seed")
            )
        })
    }

    /// The answer: a line if all holds, else a line per conclusion that does not, and one for the
    /// rest.
    pub(crate) fn verdict(&self) -> String {
        let conclusions = self.conclusions();
        let costs = match self.assumed.costs.len() {
            0 => return "Nothing assumed to try: no conclusion depends on it.".to_owned(),
            1 => format!("the one assumed cost ({})", self.assumed.costs[0].cost),
            n => format!("each of the {n} assumed costs"),
        };
        let holds = |key: &&(&str, &str, &str)| self.robust(key.0, key.1, key.2);
        let told = conclusions
            .iter()
            .filter(|key| holds(key).is_some())
            .count();
        if told == 0 {
            return "Robustness is not told: one seed shows no interval.".to_owned();
        }
        let fragile: Vec<_> = conclusions
            .iter()
            .filter(|key| holds(key) == Some(false))
            .collect();
        if fragile.is_empty() {
            let kinds = self.kinds(&conclusions);
            return format!(
                "Robust: {} in {} at half and double of {costs}.",
                match told {
                    1 => format!("the conclusion ({kinds}) holds"),
                    _ => format!("all {told} conclusions ({kinds}) hold"),
                },
                self.cases_in_words()
            );
        }
        let mut lines: Vec<String> = fragile.iter().map(|key| self.fragile(**key)).collect();
        let rest = told - fragile.len();
        if rest > 0 {
            let verb = if rest == 1 { "holds" } else { "hold" };
            lines.push(format!(
                "The other {rest} of {told} conclusions {verb} at half and double of {costs}."
            ));
        }
        lines.join("\n")
    }

    /// What the conclusions are: `2 gain, 1 no difference`; the word alone if there is one.
    fn kinds(&self, conclusions: &[(&str, &str, &str)]) -> String {
        let mut counts: Vec<(Conclusion, usize)> = Vec::new();
        for (case, metric, policy) in conclusions {
            let Some(row) = self.of(case, metric, policy).next() else {
                continue;
            };
            let kind = row.plain_conclusion;
            match counts.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, count)) => *count += 1,
                None => counts.push((kind, 1)),
            }
        }
        if let [(kind, 1)] = counts.as_slice() {
            return kind.word().to_owned();
        }
        let words = counts
            .iter()
            .map(|(kind, count)| format!("{count} {}", kind.word()));
        words.collect::<Vec<_>>().join(", ")
    }

    /// Which cases were tried, for the verdict.
    fn cases_in_words(&self) -> String {
        match self.assumed.cases.as_slice() {
            [one] => format!("case {one}"),
            several => format!("cases {}", several.join(", ")),
        }
    }

    /// What is said of a conclusion that does not stand.
    fn fragile(&self, (case, metric, policy): (&str, &str, &str)) -> String {
        let mut plain = Conclusion::Unknown;
        let mut flips: Vec<String> = Vec::new();
        for row in self.of(case, metric, policy).filter(|row| row.flips) {
            plain = row.plain_conclusion;
            let (cost, times, now) = (&row.cost, factor(row.factor), row.conclusion.word());
            flips.push(format!("{now} with {cost} {times}"));
        }
        format!(
            "Not robust: {metric} of {policy} in case {case}: {} becomes {}.",
            plain.word(),
            flips.join(", ")
        )
    }
}

/// The word of a factor.
fn factor(value: f64) -> &'static str {
    let known = Factor::ALL
        .into_iter()
        .find(|factor| factor.value() == value);
    known.map_or("", Factor::word)
}

#[cfg(test)]
mod tests;
