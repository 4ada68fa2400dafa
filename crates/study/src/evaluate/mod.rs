//! `evaluate`: one score of a candidate beside a base, on the loads of a battery, for programs that
//! search (docs/guide/evaluate.md).
//!
//! The command line and the Python module call it: [`Evaluate::of`] reads what is asked,
//! the cells of its battery are run by the caller, who may add a scheduler to them, and
//! [`Evaluate::judge`] makes the evaluation of what was found.
//!
//! What must stay: the rule of the score, which is said in docs/guide/evaluate.md and in the help;
//! nothing of it is fitted to anything. All cells count alike, and all goals of a cell. A candidate
//! that fails anywhere has no score. Tests by part: evaluate/tests.rs::`a_score_by_hand` (`score`,
//! `part`), evaluate/tests.rs::`a_candidate_that_is_the_base_is_refused` (`of`, `check`),
//! evaluate/tests.rs::`seeds_that_vary_nothing_have_no_interval` (`over_seeds`),
//! evaluate/tests.rs::`a_score_is_told_by_its_interval` (`difference`),
//! crates/cli/tests/all/evaluate.rs (all of it).
//!
//! Tests: crates/study/src/evaluate/tests.rs, crates/cli/tests/all/evaluate.rs

mod blame;
mod cell;
mod goal;
#[cfg(test)]
mod tests;

pub(crate) use goal::Goal;

use crate::{Ask, Battery, BatteryCell, Command, Comparison, Origin, Request, StudyError, sides};
use cell::{Judged, judge_cell};
use wakeplace_metrics::{Equivalence, PairedDelta, geometric_mean};
use wakeplace_outcome::{
    Both, Contender, Difference, Evaluation, GoalPart, RESULT_SCHEMA_VERSION, WaitOfCell,
};
use wakeplace_policy_sys::Policy;

/// An evaluation to be made.
#[derive(Clone, Debug)]
pub struct Evaluate {
    /// Loads and boards.
    pub battery: Battery,
    /// The base and, if it is a policy, the candidate; what the battery leaves open.
    pub request: Request,
    goals: Vec<Goal>,
    /// Somebody asked for these goals by name.
    goals_are_asked: bool,
}

impl Evaluate {
    /// Reads what is asked; `schedulers` will take the place of the candidate. Policies, platforms
    /// and workloads are read with the cells.
    ///
    /// # Errors
    /// The first thing that is wrong; the candidate is the base.
    pub fn of(ask: &Ask, schedulers: usize) -> Result<Self, StudyError> {
        let command = Command::Evaluate;
        ask.check(command, schedulers)?;
        let request = Battery::request(ask, command)?;
        if let Some(name) = sides::of_names(&request.policies) {
            return Err(is_base(name));
        }
        let named = ask.texts("battery").first().copied();
        let battery = Battery::load(named.unwrap_or(default_of(command, "battery")))?;
        let goals = ask.texts("goal").into_iter().map(Goal::parse);
        let mut goals = { goals.collect::<Result<Vec<_>, _>>() }.map_err(StudyError::Evaluate)?;
        let goals_are_asked = !goals.is_empty();
        if !goals_are_asked {
            goals = Goal::all();
        }
        Ok(Self {
            battery,
            request,
            goals,
            goals_are_asked,
        })
    }

    /// Whether there is anything to compare: to be asked before the cells are run.
    ///
    /// # Errors
    /// The candidate is the base under another name.
    pub fn check(&self, cells: &[BatteryCell]) -> Result<(), StudyError> {
        let first = cells.first().map(|cell| &cell.experiment);
        match first.and_then(sides::of_experiment) {
            Some(name) => Err(is_base(name)),
            None => Ok(()),
        }
    }

    /// What the runs of the battery's cells, with whatever the caller has added to them, come to. A
    /// run that failed is made once more, to see where it went wrong.
    ///
    /// # Errors
    /// No load has a goal that was asked for, nothing can be compared, or that run cannot be made.
    pub fn judge(
        &self,
        cells: &[BatteryCell],
        found: &[Comparison],
        origin: &Origin,
    ) -> Result<Evaluation, StudyError> {
        let mut judged = Vec::new();
        for (cell, of) in cells.iter().zip(found) {
            judged.push(judge_cell((&cell.load, &cell.experiment), of, &self.goals)?);
        }
        self.check_goals(&judged)?;
        let failures: Vec<_> = judged
            .iter()
            .filter_map(|cell| cell.failed.clone())
            .collect();
        let valid = failures.is_empty();
        let n = found.first().map_or(0, |of| of.seeds.len());
        let (score, score_ci95) = match valid {
            true => score(&judged, n),
            false => (None, None),
        };
        if valid && score.is_none() {
            return Err(StudyError::Evaluate(format!(
                "nothing of the battery `{}` can be compared; expected a load that measures a \
                 goal under the base, or a longer --duration",
                self.battery.name
            )));
        }
        let [commit, command] = origin.known();
        Ok(Evaluation {
            schema_version: RESULT_SCHEMA_VERSION,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit,
            command,
            battery: self.battery.name.clone(),
            base: contender(cells, found, 0),
            candidate: contender(cells, found, 1),
            settings: found
                .first()
                .map(|of| of.settings.clone().into())
                .unwrap_or_default(),
            seeds: found.first().map(|of| of.seeds.clone()).unwrap_or_default(),
            valid,
            score,
            score_ci95,
            difference: difference((score, score_ci95), self.request.margin_pct),
            parts: match valid {
                true => { self.goals.iter() }
                    .filter_map(|goal| part(goal, &judged, n))
                    .collect(),
                false => Vec::new(),
            },
            fairness_pct: fairness(&judged),
            longest_wait: longest_wait(&judged),
            failures,
            warnings: {
                let cut = self.battery.cut(&self.request, cells, found);
                warnings(&judged, found).into_iter().chain(cut).collect()
            },
            cells: judged.into_iter().map(|cell| cell.shown).collect(),
        })
    }

    /// Every goal that was asked for by name is there somewhere.
    fn check_goals(&self, judged: &[Judged]) -> Result<(), StudyError> {
        let is_there = |goal: &Goal| {
            let mut figures = judged.iter().flat_map(|cell| &cell.shown.figures);
            figures.any(|figure| figure.goal.as_deref() == Some(goal.name()))
        };
        let asked = self.goals.iter().filter(|_| self.goals_are_asked);
        match asked.into_iter().find(|goal| !is_there(goal)) {
            None => Ok(()),
            Some(goal) => Err(StudyError::Evaluate(format!(
                "no load of the battery `{}` measures the goal `{}`; expected one that a load \
                 measures",
                self.battery.name,
                goal.name()
            ))),
        }
    }
}

/// The refusal of a candidate that is the base.
fn is_base(name: &str) -> StudyError {
    StudyError::Evaluate(format!(
        "the candidate `{name}` is the base; expected another candidate, or another --base"
    ))
}

/// What a command takes where an argument is not given.
fn default_of(command: Command, name: &str) -> &'static str {
    let found = crate::argument(name).ok();
    found.and_then(|one| one.default_of(command)).unwrap_or("")
}

/// Who is compared: 0 the base, 1 the candidate.
fn contender(cells: &[BatteryCell], found: &[Comparison], which: usize) -> Contender {
    let Some((cell, of)) = cells.iter().zip(found).next() else {
        return Contender::default();
    };
    let experiment = &cell.experiment;
    let runs = &of.runs[which];
    let policy = experiment.policies.get(which);
    let scheduler = experiment.schedulers.first().filter(|_| policy.is_none());
    let facts = match (policy.and_then(Policy::tree), scheduler) {
        (Some(tree), _) => tree.facts(),
        (None, Some(scheduler)) => scheduler.facts.clone(),
        (None, None) => Vec::new(),
    };
    Contender {
        name: runs.policy.clone(),
        set: runs.overrides.clone().into(),
        facts: facts.into(),
    }
}

/// A figure with its interval.
type Scored = (Option<f64>, Option<(f64, f64)>);

/// The score of all: per seed the geometric mean of the cells' scores, of which each is that of its
/// goals.
fn score(judged: &[Judged], n: usize) -> Scored {
    let cells: Vec<&Judged> = judged
        .iter()
        .filter(|cell| !cell.goals.is_empty())
        .collect();
    if cells.is_empty() {
        return (None, None);
    }
    let per_seed: Vec<f64> = (0..n)
        .map(|seed| {
            let cells: Vec<f64> = cells.iter().map(|cell| cell.score_of(seed)).collect();
            geometric_mean(&cells)
        })
        .collect();
    over_seeds(&per_seed)
}

/// The score of one goal over the cells that have it.
fn part(goal: &Goal, judged: &[Judged], n: usize) -> Option<GoalPart> {
    let all = judged.iter().flat_map(|cell| &cell.goals);
    let of: Vec<_> = all.filter(|(name, _)| name == goal.name()).collect();
    if of.is_empty() {
        return None;
    }
    let per_seed: Vec<f64> = (0..n)
        .map(|seed| {
            let ratios: Vec<f64> = of.iter().map(|(_, ratios)| ratios[seed]).collect();
            geometric_mean(&ratios)
        })
        .collect();
    let (score, ci95) = over_seeds(&per_seed);
    Some(GoalPart {
        goal: goal.name().to_owned(),
        score: score?,
        ci95,
        cells: of.len(),
    })
}

/// The geometric mean over the seeds with its interval. There is none of one seed, nor where seeds
/// vary nothing or one of them has 0.
fn over_seeds(per_seed: &[f64]) -> Scored {
    if per_seed.is_empty() {
        return (None, None);
    }
    let score = geometric_mean(per_seed);
    let vary = per_seed.iter().any(|one| *one != per_seed[0]) && score > 0.0;
    let delta = PairedDelta::of(&vec![1.0; per_seed.len()], per_seed);
    let ci95 = delta.filter(|_| vary).and_then(|delta| delta.ci95);
    let factor = |pct: f64| 1.0 + pct / 100.0;
    (
        Some(score),
        ci95.map(|(low, high)| (factor(low), factor(high))),
    )
}

/// What a score means, in the words of comparisons: more is better. None: there is no score.
fn difference((score, ci95): Scored, margin_pct: f64) -> Option<Difference> {
    let score = score?;
    let pct = |factor: f64| (factor - 1.0) * 100.0;
    let Some((low, high)) = ci95 else {
        return Some(Difference::Unknown);
    };
    Some(match Equivalence::of((pct(low), pct(high)), margin_pct) {
        Equivalence::Equivalent => Difference::Same,
        Equivalence::Inconclusive => Difference::NotTold,
        Equivalence::Different if score > 1.0 => Difference::Better,
        Equivalence::Different => Difference::Worse,
    })
}

/// Mean fairness of the cells that have one under both.
fn fairness(judged: &[Judged]) -> Option<Both> {
    let all: Vec<Both> = judged.iter().filter_map(|cell| cell.fairness_pct).collect();
    let mean = |of: fn(&Both) -> f64| all.iter().map(of).fold(0.0, |a, b| a + b) / all.len() as f64;
    (!all.is_empty()).then(|| Both {
        base: mean(|one| one.base),
        candidate: mean(|one| one.candidate),
    })
}

/// The cell in which the candidate's longest wait is.
fn longest_wait(judged: &[Judged]) -> Option<WaitOfCell> {
    let waits = judged
        .iter()
        .filter_map(|cell| Some((cell, cell.longest_wait_us?)));
    // The first of equals.
    let worst = waits.reduce(|worst, one| match one.1.candidate > worst.1.candidate {
        true => one,
        false => worst,
    });
    worst.map(|(cell, us)| WaitOfCell {
        platform: cell.shown.platform.clone(),
        load: cell.shown.load.clone(),
        us,
    })
}

/// What cells say, and what all comparisons say.
fn warnings(judged: &[Judged], found: &[Comparison]) -> Vec<String> {
    let mut all: Vec<String> = judged
        .iter()
        .flat_map(|cell| cell.warnings.clone())
        .collect();
    let Some((first, rest)) = found.split_first() else {
        return all;
    };
    let of_all = |warning: &&String| rest.iter().all(|of| of.warnings.contains(warning));
    all.extend(first.warnings.iter().filter(of_all).cloned());
    all
}
