//! What was kept of the best single feature's gain, and what was lost against the base.
//!
//! A *gain* is a change for the better that the 95 % interval tells from chance; a *loss* one for
//! the worse. Whoever saves energy, told from chance, may lose: that is what it is saved in
//! exchange for. Energy is counted per unit of work where the workload counts work
//! (studies/README.md). A gain whose interval reaches nothing is none.
//!
//! What must stay: no run changes; changes are percent, turned so that more is better; rows stand
//! in the order of cases and goals, which JSON and CSV keep; losses are a case's, and the verdict
//! counts them once. Tests by part: `what_is_kept_is_a_share_of_the_best_gain` (`kept`, `change`,
//! `verdict`), `a_loss_is_told` (`loss`),
//! cli/tests/all/promise.rs::`nothing_is_lost_on_the_first_random_machines` (`promise` of a
//! built-in study). `per` and the goals that nobody names (`goals`) have no test of their own.
//!
//! Tests: crates/study/src/promise/tests.rs,
//! crates/cli/tests/all/promise.rs::nothing_is_lost_on_the_first_random_machines

use crate::comparison::PolicyRuns;
use crate::file::{CPU_ENERGY, Feature, Promise as Said, StudyFile};
use crate::plan::Planned;
use wakeplace_metrics::{Better, PairedDelta, RunMetrics, find_metric, paired};
use wakeplace_outcome::{Kept, Loss, Promise, PromiseRow, Worth as Word};

/// A gain below this is none that somebody would turn a feature on for, percent.
const LEAST_GAIN_PCT: f64 = 1.0;

/// A change for the better, percent; negative: for the worse.
struct Change {
    pct: f64,
    ci95: Option<(f64, f64)>,
}

impl Change {
    /// Told from chance; one seed tells nothing.
    fn is_gain(&self) -> bool {
        self.ci95.is_some_and(|(low, _)| low > 0.0)
    }

    /// Worse, told from chance; one seed tells nothing.
    fn is_loss(&self) -> bool {
        self.ci95.is_some_and(|(_, high)| high < 0.0)
    }
}

/// None: nothing to compare, or a metric that is neither good nor bad. Energy is per unit of `work`
/// where work is counted: else whoever does less would save it.
fn change(
    runs: &[PolicyRuns],
    (from, to): (usize, usize),
    metric: &str,
    work: Option<&str>,
) -> Option<Change> {
    let (from, to) = (&runs[from].metrics, &runs[to].metrics);
    let work = work.filter(|_| is_energy(metric));
    let delta = match work {
        None => paired(from, to, metric)?,
        Some(work) => PairedDelta::of(&per(from, metric, work)?, &per(to, metric, work)?)?,
    };
    // From a base of 0 no part of a gain can be told.
    let (delta_pct, ci95) = (delta.delta_pct, delta.bounds());
    if !delta_pct.is_finite() {
        return None;
    }
    match find_metric(metric).ok()?.better {
        Better::Higher => Some(Change {
            pct: delta_pct,
            ci95,
        }),
        Better::Lower => Some(Change {
            pct: -delta_pct,
            ci95: ci95.map(|(low, high)| (-high, -low)),
        }),
        Better::Neither => None,
    }
}

/// One metric by another, run by run; None if some run lacks one of them.
fn per(runs: &[RunMetrics], metric: &str, work: &str) -> Option<Vec<f64>> {
    let one = |run: &RunMetrics| {
        let done = run.values.get(work).filter(|done| *done > 0.0)?;
        Some(run.values.get(metric)? / done)
    };
    runs.iter().map(one).collect()
}

/// The promise of a study, looked at in the runs of its own cases; None: it makes none.
pub(crate) fn promise(file: &StudyFile, done: &[(&Planned, Vec<PolicyRuns>)]) -> Option<Promise> {
    let said = file.promise.as_ref()?;
    let own = done
        .iter()
        .filter(|(p, _)| p.published_case.is_some() && p.is_plain());
    let rows = own.flat_map(|(planned, runs)| {
        let case = &file.cases[planned.case];
        let present: Vec<usize> = case.columns(file.columns.len()).collect();
        let of = Of {
            said,
            planned,
            runs,
            present,
        };
        let goals = goals(&case.goals, planned);
        let measured = goals
            .iter()
            .filter(|g| change(runs, (0, 0), g, None).is_some());
        measured.map(|goal| of.row(goal)).collect::<Vec<_>>()
    });
    Some(Promise {
        keep_pct: said.keep_pct,
        lose_pct: said.lose_pct,
        rows: rows.collect(),
    })
}

/// The goals of a case; where none is named, what its workload is read by first, and energy.
fn goals(named: &[String], planned: &Planned) -> Vec<String> {
    if !named.is_empty() {
        return named.to_vec();
    }
    let first = planned.measured_by.iter().find(|m| !is_energy(m));
    first
        .cloned()
        .into_iter()
        .chain([CPU_ENERGY.to_owned()])
        .collect()
}

/// Energy is what may be had in exchange, not what is lost.
fn is_energy(metric: &str) -> bool {
    find_metric(metric).is_ok_and(|def| ["J", "W"].contains(&def.unit))
}

/// One case.
struct Of<'a> {
    said: &'a Said,
    planned: &'a Planned,
    runs: &'a [PolicyRuns],
    /// The columns that were run.
    present: Vec<usize>,
}

impl Of<'_> {
    /// Position among the runs.
    fn at(&self, column: usize) -> Option<usize> {
        self.present.iter().position(|c| *c == column)
    }

    /// As `change` above, per unit of work where the workload counts work.
    fn change(&self, from: usize, to: usize, metric: &str) -> Option<Change> {
        let mut measured = self.planned.measured_by.iter();
        let is_work = |m: &&String| find_metric(m).is_ok_and(|d| d.better == Better::Higher);
        let work = measured.find(is_work).map(String::as_str);
        change(self.runs, (from, to), metric, work)
    }

    /// What became of one goal of a case.
    fn row(&self, goal: &str) -> PromiseRow {
        let kept = self.said.features.iter().filter_map(|f| self.kept(f, goal));
        let best = kept.reduce(|a, b| if b.gain_pct > a.gain_pct { b } else { a });
        let losses = self.said.bounded.iter().filter_map(|c| self.loss(*c));
        PromiseRow {
            case: self.planned.token.clone(),
            platform: self.planned.platform.name.clone(),
            metric: goal.to_owned(),
            kept: best,
            losses: losses.collect(),
        }
    }

    /// What is kept of one feature; None: it gains nothing.
    fn kept(&self, feature: &Feature, goal: &str) -> Option<Kept> {
        let (column, ours) = (self.at(feature.column)?, self.at(feature.ours)?);
        let (from, to) = if feature.without {
            (column, 0)
        } else {
            (0, column)
        };
        let gain = self.change(from, to, goal)?;
        if !gain.is_gain() || gain.pct < LEAST_GAIN_PCT {
            return None;
        }
        let own = self.change(from, ours, goal)?;
        let kept_pct = own.pct / gain.pct * 100.0;
        let enough = gain.pct * self.said.keep_pct / 100.0;
        let verdict = match () {
            () if own.pct >= enough => Word::Ok,
            () if own.ci95.is_none_or(|(_, high)| high >= enough) => Word::Unclear,
            () => Word::Misses,
        };
        Some(Kept {
            feature: self.runs[column].policy.clone(),
            gain_pct: gain.pct,
            by: self.runs[ours].policy.clone(),
            by_pct: own.pct,
            by_ci95: own.ci95,
            kept_pct,
            verdict,
        })
    }

    /// The worst loss of a column against the base, in metrics beside energy; None: it has not run.
    fn loss(&self, column: usize) -> Option<Loss> {
        let at = self.at(column)?;
        let energy = self.change(0, at, CPU_ENERGY);
        let saved = |e: &Change| e.is_gain() && e.pct >= LEAST_GAIN_PCT;
        let saves = energy.as_ref().is_some_and(saved);
        let measured = self.planned.measured_by.iter();
        let metrics = measured.chain(&self.said.cost).filter(|m| !is_energy(m));
        let changes = metrics.filter_map(|m| Some((m, self.change(0, at, m)?)));
        let judged = changes.map(|(metric, change)| Loss {
            column: self.runs[at].policy.clone(),
            metric: metric.clone(),
            loss_pct: -change.pct,
            ci95: change.ci95.map(|(low, high)| (-high, -low)),
            saved_energy_pct: energy.as_ref().map(|e| e.pct),
            verdict: match () {
                () if -change.pct <= self.said.lose_pct => Word::Ok,
                () if saves => Word::Traded,
                () if change.is_loss() => Word::Misses,
                () => Word::Unclear,
            },
        });
        let rank = |loss: &Loss| match loss.verdict {
            Word::Ok => 0,
            Word::Traded => 1,
            Word::Unclear => 2,
            Word::Misses => 3,
        };
        judged.reduce(|a, b| {
            let worse = (rank(&b), b.loss_pct) > (rank(&a), a.loss_pct);
            if worse { b } else { a }
        })
    }
}

/// In two lines how often it is kept, then what misses.
pub(crate) fn verdict(found: &Promise) -> String {
    let kept: Vec<&Kept> = found
        .rows
        .iter()
        .filter_map(|row| row.kept.as_ref())
        .collect();
    // Losses are a case's, and stand in each row of it.
    let first = |(at, row): &(usize, &PromiseRow)| {
        !found.rows[..*at].iter().any(|other| other.case == row.case)
    };
    let cases = found.rows.iter().enumerate().filter(first);
    let losses: Vec<(&str, &Loss)> = cases
        .flat_map(|(_, row)| row.losses.iter().map(|loss| (row.case.as_str(), loss)))
        .collect();
    let of = |word: Word, words: &[Word]| words.iter().filter(|w| **w == word).count();
    let of_kept: Vec<Word> = kept.iter().map(|k| k.verdict).collect();
    let of_lost: Vec<Word> = losses.iter().map(|(_, loss)| loss.verdict).collect();
    let mut lines = vec![
        format!(
            "Gains: some feature gains in {} of {} cells; at least {} % of the best one's is \
             kept in {} of them, {} are unclear, {} miss.",
            kept.len(),
            found.rows.len(),
            found.keep_pct,
            of(Word::Ok, &of_kept),
            of(Word::Unclear, &of_kept),
            of(Word::Misses, &of_kept),
        ),
        format!(
            "Losses: of {} cells {} lose at most {} %, {} more than that but save energy, {} \
             are unclear, {} miss.",
            losses.len(),
            of(Word::Ok, &of_lost),
            found.lose_pct,
            of(Word::Traded, &of_lost),
            of(Word::Unclear, &of_lost),
            of(Word::Misses, &of_lost),
        ),
    ];
    for row in &found.rows {
        let misses = row
            .kept
            .as_ref()
            .filter(|kept| kept.verdict == Word::Misses);
        lines.extend(misses.map(|k| {
            format!(
                "misses: {} {}: {} gains {:.1} %, {} {:.1} %",
                row.case, row.metric, k.feature, k.gain_pct, k.by, k.by_pct
            )
        }));
    }
    for (case, loss) in losses {
        if loss.verdict == Word::Misses {
            lines.push(format!(
                "misses: {case} {}: {} loses {:.1} %",
                loss.metric, loss.column, loss.loss_pct
            ));
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests;
