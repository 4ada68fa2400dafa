//! What becomes of each conclusion: gain, loss or no difference, by the 95 % interval.

use super::plan::{Change, Tried, wanted};
use crate::file::StudyFile;
use crate::{PolicyRuns, StudyRow};
use wakeplace_metrics::{Better, PairedDelta, RunMetrics, find_metric, paired};
use wakeplace_platform::Factor;

/// What the comparison of a column with the base says about a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conclusion {
    /// Better than the base.
    Gain,
    /// Worse.
    Loss,
    /// More, of what is neither good nor bad.
    More,
    /// Less of it.
    Less,
    /// The interval spans 0.
    NoDifference,
    /// One seed, or nothing to compare.
    Unknown,
}

impl Conclusion {
    pub(crate) fn of(metric: &str, delta: Option<(f64, Option<(f64, f64)>)>) -> Self {
        let Some((delta_pct, Some((low, high)))) = delta else {
            return Self::Unknown;
        };
        // A change that is nowhere shows as (0, 0).
        if !(low > 0.0 || high < 0.0) {
            return Self::NoDifference;
        }
        match find_metric(metric).map_or(Better::Neither, |def| def.better) {
            Better::Lower if delta_pct < 0.0 => Self::Gain,
            Better::Higher if delta_pct > 0.0 => Self::Gain,
            Better::Lower | Better::Higher => Self::Loss,
            Better::Neither if delta_pct > 0.0 => Self::More,
            Better::Neither => Self::Less,
        }
    }

    /// As results show it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Gain => "gain",
            Self::Loss => "loss",
            Self::More => "more",
            Self::Less => "less",
            Self::NoDifference => "no difference",
            Self::Unknown => "unknown",
        }
    }
}

/// What becomes of the conclusions of a study at half and double of what is assumed.
#[derive(Clone, Debug, PartialEq)]
pub struct Sensitivity {
    /// Seeds of these runs, plain ones included.
    pub seeds: Vec<u64>,
    /// Cases that were tried.
    pub cases: Vec<String>,
    /// What was changed, name and value, over all cases; each once.
    pub costs: Vec<(String, String)>,
    /// Of these, what changed nothing at all: no run uses it.
    pub unused: Vec<String>,
    /// What is assumed and was left out, with the reason.
    pub except: Vec<(String, String)>,
    /// One row per case, cost, factor, metric and policy.
    pub rows: Vec<SensitivityRow>,
}

/// One conclusion with one cost changed.
#[derive(Clone, Debug, PartialEq)]
pub struct SensitivityRow {
    /// Case.
    pub case: String,
    /// Metric.
    pub metric: String,
    /// Policy that is compared with the base.
    pub policy: String,
    /// What was changed.
    pub cost: String,
    /// By what.
    pub factor: Factor,
    /// Change from the base, percent; None: nothing to compare with.
    pub delta_pct: Option<f64>,
    /// Its 95 % confidence interval.
    pub ci95: Option<(f64, f64)>,
    /// What it says.
    pub conclusion: Conclusion,
    /// Change from the base with nothing changed, same seeds.
    pub plain_delta_pct: Option<f64>,
    /// What that says.
    pub plain_conclusion: Conclusion,
    /// They differ.
    pub flips: bool,
}

/// Judges all runs; None if there are none.
pub(crate) fn sensitivity(
    file: &StudyFile,
    tried: &[(&Tried, Vec<PolicyRuns>)],
) -> Option<Sensitivity> {
    let (first, _) = tried.first()?;
    let mut found = Sensitivity {
        seeds: first.planned.seeds.clone(),
        cases: Vec::new(),
        costs: Vec::new(),
        unused: Vec::new(),
        except: wanted(file).except,
        rows: Vec::new(),
    };
    let mut used: Vec<String> = Vec::new();
    let mut plain: &[PolicyRuns] = &[];
    for (tried, runs) in tried {
        let Some(change) = &tried.change else {
            found.cases.push(tried.planned.token.clone());
            plain = runs;
            continue;
        };
        if !found.costs.iter().any(|(name, _)| *name == change.cost) {
            found
                .costs
                .push((change.cost.clone(), change.value.clone()));
        }
        if !same(plain, runs) {
            used.push(change.cost.clone());
        }
        found.add(file, (&tried.planned.token, change), plain, runs);
    }
    let names = found.costs.iter().map(|(name, _)| name);
    found.unused = names.filter(|name| !used.contains(name)).cloned().collect();
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
                    Conclusion::of(&metric.name, delta.map(|d| (d.delta_pct, d.bounds())))
                };
                let (plain_conclusion, conclusion) = (says(before), says(after));
                self.rows.push(SensitivityRow {
                    case: case.to_owned(),
                    metric: metric.name.clone(),
                    policy: runs[role].policy.clone(),
                    cost: change.cost.clone(),
                    factor: change.factor,
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
    #[must_use]
    pub fn robust(&self, case: &str, metric: &str, policy: &str) -> Option<bool> {
        let mut rows = self.of(case, metric, policy).peekable();
        let plain = rows.peek()?.plain_conclusion;
        (plain != Conclusion::Unknown).then(|| !rows.any(|row| row.flips))
    }

    /// The rows of a conclusion.
    pub fn of<'a>(
        &'a self,
        case: &'a str,
        metric: &'a str,
        policy: &'a str,
    ) -> impl Iterator<Item = &'a SensitivityRow> {
        let ours = move |row: &&SensitivityRow| {
            row.case == case && row.metric == metric && row.policy == policy
        };
        self.rows.iter().filter(ours)
    }

    /// The conclusions that were tried: case, metric, policy; each once.
    #[must_use]
    pub fn conclusions(&self) -> Vec<(&str, &str, &str)> {
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
        let of_all = Conclusion::of(&row.metric, delta);
        (tried.plain_conclusion != of_all).then(|| {
            format!(
                "case {}, {} of {}: {} with {} seeds, {} with the {} seeds that tried the assumed \
                 costs: whether it is robust is told from the latter",
                row.case,
                row.metric,
                row.policy,
                of_all.word(),
                row.simulated.n,
                tried.plain_conclusion.word(),
                self.seeds.len()
            )
        })
    }

    /// The answer: a line if all holds, else a line per conclusion that does not, and one for the
    /// rest.
    pub(crate) fn verdict(&self) -> String {
        let conclusions = self.conclusions();
        let costs = match self.costs.len() {
            0 => return "Nothing assumed to try: no conclusion depends on it.".to_owned(),
            1 => format!("the one assumed cost ({})", self.costs[0].0),
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

    fn cases_in_words(&self) -> String {
        match self.cases.as_slice() {
            [one] => format!("case {one}"),
            several => format!("cases {}", several.join(", ")),
        }
    }

    fn fragile(&self, (case, metric, policy): (&str, &str, &str)) -> String {
        let mut plain = Conclusion::Unknown;
        let mut flips: Vec<String> = Vec::new();
        for row in self.of(case, metric, policy).filter(|row| row.flips) {
            plain = row.plain_conclusion;
            let (cost, factor, now) = (&row.cost, row.factor.word(), row.conclusion.word());
            flips.push(format!("{now} with {cost} {factor}"));
        }
        format!(
            "Not robust: {metric} of {policy} in case {case}: {} becomes {}.",
            plain.word(),
            flips.join(", ")
        )
    }
}

#[cfg(test)]
mod tests;
