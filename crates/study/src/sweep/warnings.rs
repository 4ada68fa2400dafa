//! What a reader should know of a sweep's runs before believing their figures: the warnings that a
//! comparison of each point's runs would have (docs/guide/results.md, "Sweeps").
//!
//! They are made of what a run's record holds and of its point, so that runs of a store have them,
//! too. Free: how many points are made for them, and the words around a warning.
//!
//! What must stay: the sentences are those of `comparison.rs`; each stands once, with how many
//! points it is of; nothing depends on who ran what; where not all points are looked at, that is
//! said. Tests by part: `what_points_share_is_said_once` (`add`, `finish`),
//! `points_that_nobody_looked_at_are_told` (`add`, `finish`),
//! `warnings_are_those_of_a_comparison` (`of_point`, `seen`), the first also `kind`.
//!
//! Tests: below, crates/cli/tests/all/sweeps.rs::warnings_of_runs_are_passed_on

use super::check::MOST_CHECKED;
use super::{Point, Sweep};
use crate::comparison::{oddities, one_seed, seeds_vary_nothing, unmeasured};
use crate::experiment::{expand, overrides};
use crate::{PolicyRuns, RunRecord, json_pairs};
use wakeplace_engine::RunReport;
use wakeplace_metrics::{RunMetrics, find_metric};
use wakeplace_text::count;
use wakeplace_workload::Workload;

/// Seeds of a point whose load is looked at: what two of them share, all do.
const SEEDS: usize = 2;
/// Most kinds of warnings that are told apart.
const MOST_KINDS: usize = 50;

/// The warnings of a sweep's points in the making.
#[derive(Clone, Debug, Default)]
pub struct Warnings {
    /// Of the sweep as a whole.
    of_all: Vec<String>,
    kinds: Vec<Kind>,
    /// Of kinds that are too many.
    left: usize,
    /// Points that were looked at.
    points: usize,
    /// Points behind them.
    unseen: usize,
}

/// What differs in figures alone.
#[derive(Clone, Debug)]
struct Kind {
    key: String,
    first: String,
    points: usize,
    /// All are the same, to the letter.
    alike: bool,
}

impl Warnings {
    /// Of a sweep; `compared`: its points are compared with each other.
    #[must_use]
    pub fn new(sweep: &Sweep, compared: bool) -> Self {
        let seeds = &sweep.base.seeds;
        Self {
            of_all: one_seed(seeds).filter(|_| compared).into_iter().collect(),
            ..Self::default()
        }
    }

    /// Adds what the runs of a point say; of points behind the first ones only that they are there.
    pub fn add(&mut self, sweep: &Sweep, number: usize, runs: &[RunRecord]) {
        if number >= MOST_CHECKED {
            self.unseen += 1;
            return;
        }
        self.points += 1;
        let mut own: Vec<String> = Vec::new();
        for text in of_point(sweep, number, runs) {
            let key = kind(&text);
            if own.contains(&key) {
                continue;
            }
            own.push(key.clone());
            let known = self.kinds.iter().position(|known| known.key == key);
            match known {
                Some(at) => {
                    let known = &mut self.kinds[at];
                    known.points += 1;
                    known.alike &= known.first == text;
                }
                None if self.kinds.len() < MOST_KINDS => self.kinds.push(Kind {
                    key,
                    first: text,
                    points: 1,
                    alike: true,
                }),
                None => self.left += 1,
            }
        }
    }

    /// Each once, with how many points it is of, of those that were looked at.
    #[must_use]
    pub fn finish(self) -> Vec<String> {
        let all = self.points;
        let one = |kind: Kind| {
            let of = match kind.points {
                n if n == all => format!("all {}", count(all, "point")),
                n => format!("{n} of {}", count(all, "point")),
            };
            let of = if all == 1 { "the point".to_owned() } else { of };
            match kind.alike {
                true => format!("{of}: {}", kind.first),
                false => format!("{of}, the first: {}", kind.first),
            }
        };
        let mut said = self.of_all;
        said.extend(self.kinds.into_iter().map(one));
        if self.left > 0 {
            said.push(format!(
                "{} more of other kinds",
                count(self.left, "warning")
            ));
        }
        if self.unseen > 0 {
            said.push(format!(
                "the first {all} of {} were looked at for warnings",
                count(all + self.unseen, "point")
            ));
        }
        said
    }
}

/// The warning without its figures; the policy before it stays.
fn kind(text: &str) -> String {
    let (policy, rest) = text.split_once(": ").unwrap_or(("", text));
    let rest: String = rest
        .chars()
        .filter(|c| !c.is_ascii_digit() && *c != '.')
        .collect();
    format!("{policy}: {rest}")
}

/// What a comparison of the point's runs would say. Those that have an error say so themselves.
fn of_point(sweep: &Sweep, number: usize, runs: &[RunRecord]) -> Vec<String> {
    let whole: Vec<&RunRecord> = runs.iter().filter(|run| run.error.is_empty()).collect();
    let Some(first) = whole.first() else {
        return Vec::new();
    };
    let made = sweep.point(number).ok();
    let seen = made
        .as_ref()
        .map_or_else(Vec::new, |point| seen(point, &whole));
    let run = PolicyRuns {
        policy: first.policy.clone(),
        overrides: made
            .as_ref()
            .map_or_else(Vec::new, |point| overrides(&point.experiment.policies[0])),
        settings: json_pairs(&first.settings),
        metrics: whole.iter().map(|run| metrics(run)).collect(),
        reports: vec![RunReport::default(); whole.len()],
        timeline: None,
        details: None,
    };
    let mut all = Vec::new();
    if let Some(point) = &made {
        all.extend(point.experiment.workload.warnings.iter().cloned());
    }
    if let Some(workload) = seen.first() {
        let left_out = |what: &String| format!("{what} is not modelled: left out");
        all.extend(workload.unmodelled.iter().map(left_out));
    }
    let run = [run];
    if !seen.is_empty() {
        all.extend(seeds_vary_nothing(&run, &seen));
    }
    all.extend(oddities(&run, &seen));
    all.extend(unmeasured(&run));
    all
}

/// The loads of the first runs, as a comparison has them; none where they cannot be made.
fn seen(point: &Point, runs: &[&RunRecord]) -> Vec<Workload> {
    let seeds: Vec<u64> = runs.iter().take(SEEDS).map(|run| run.seed).collect();
    let experiment = &point.experiment;
    let made = expand(&experiment.workload, &experiment.platform, &seeds);
    let mut all = made.unwrap_or_default();
    for (workload, run) in all.iter_mut().zip(runs) {
        let counted = |figure: &wakeplace_workload::Figure| run.metrics.contains_key(figure.metric);
        let is_counted = workload
            .count
            .as_ref()
            .is_some_and(|all| all.figures.iter().any(counted));
        let length_ns = experiment.options.duration_ns as f64;
        let ended = run
            .metrics
            .get("runtime_s")
            .is_some_and(|s| s * 1e9 < length_ns);
        if is_counted || ended {
            // Nothing is missing.
            workload.count = None;
        }
    }
    all
}

/// The values of a run; a store may have names that are no metric's.
fn metrics(run: &RunRecord) -> RunMetrics {
    let known = run
        .metrics
        .iter()
        .filter(|(name, _)| find_metric(name).is_ok());
    let hash = u64::from_str_radix(&run.behaviour_hash, 16).unwrap_or(0);
    RunMetrics::kept(known.map(|(name, value)| (name.as_str(), *value)), hash)
}

#[cfg(test)]
mod tests {
    use super::{MOST_CHECKED, Warnings, of_point};
    use crate::{Axis, Design, Request, RunRecord, Source, Sweep};

    fn sweep(workload: &str, policy: &str, vary: &str) -> Sweep {
        let base = Request {
            platforms: vec![Source::named("juno-r0")],
            workloads: vec![Source::named(workload)],
            policies: vec![policy.to_owned()],
            seeds: vec![1, 2],
            duration_ns: Some(100_000_000),
            ..Request::default()
        };
        let axes = vec![Axis::parse(vary).expect("an axis")];
        Sweep::new(base, axes, Design::Grid).expect("a sweep")
    }

    fn runs(sweep: &Sweep, number: usize) -> Vec<RunRecord> {
        let point = sweep.point(number).expect("a point");
        sweep
            .base
            .seeds
            .iter()
            .map(|seed| point.run(*seed))
            .collect()
    }

    fn said(sweep: &Sweep) -> Vec<String> {
        let mut warnings = Warnings::new(sweep, true);
        for number in 0..sweep.points() {
            warnings.add(sweep, number, &runs(sweep, number));
        }
        warnings.finish()
    }

    /// Goal: a point has the warnings that `compare` has of the same runs.
    #[test]
    fn warnings_are_those_of_a_comparison() {
        // 20 tasks that are always busy have 6 CPUs: periods are missed. 4.17 has no hints, 6.2 no
        // slices. A benchmark's warm-up outlasts the run.
        for (workload, policy, said) in [
            (
                "periodic:n=20,period=10ms,duty=100%",
                "linux-7.3",
                "periods were missed",
            ),
            ("periodic:n=2,uclamp_min=90%", "linux-4.17", "hints"),
            (
                "periodic:n=2,slice=1ms",
                "linux-6.2",
                "slices of tasks' own",
            ),
            (
                "schbench:messages=1,workers=2,time=1s,warmup=500ms",
                "linux-7.3",
                "",
            ),
        ] {
            let sweep = sweep(workload, policy, "busy_factor=4,5");
            let own = of_point(&sweep, 0, &runs(&sweep, 0));
            let mut request = sweep.base.clone();
            request.set = vec![("busy_factor".to_owned(), "4".to_owned())];
            let compared = request
                .resolve()
                .expect("valid")
                .run(1, &|_| {})
                .expect("a run");
            assert_eq!(own, compared[0].warnings, "{workload}");
            assert!(
                own.iter().any(|text| text.contains(said)) || said.is_empty(),
                "{own:?}"
            );
        }
    }

    /// Goal: a warning counts the points that were looked at, and the others are told. By hand: two
    /// are looked at, three stand behind the first thousand.
    #[test]
    fn points_that_nobody_looked_at_are_told() {
        let sweep = sweep("periodic:n=2", "linux-4.17", "workload.uclamp_min=50%,90%");
        let mut warnings = Warnings::new(&sweep, true);
        let first = runs(&sweep, 0);
        for number in [0, 1, MOST_CHECKED, MOST_CHECKED + 1, MOST_CHECKED + 2] {
            warnings.add(&sweep, number, &first);
        }
        let said = warnings.finish();
        let hints = "all 2 points: linux-4.17: utilisation hints";
        assert!(said.iter().any(|text| text.starts_with(hints)), "{said:?}");
        let told = "the first 2 of 5 points were looked at for warnings";
        assert_eq!(said.last().map(String::as_str), Some(told));
    }

    /// Goal: a warning stands once, with how many points have it, whatever its figures.
    #[test]
    fn what_points_share_is_said_once() {
        let duties = "workload.duty=1%,90%,100%";
        let heavy = said(&sweep("periodic:n=20,period=10ms", "linux-7.3", duties));
        let missed = |text: &&String| text.contains("of all periods were missed");
        let found: Vec<&String> = heavy.iter().filter(missed).collect();
        let [only] = found.as_slice() else {
            panic!("{heavy:?}")
        };
        assert!(only.starts_with("2 of 3 points"), "{only}");
        let hints = said(&sweep(
            "periodic:n=2",
            "linux-4.17",
            "workload.uclamp_min=50%,90%",
        ));
        let told = "all 2 points: linux-4.17: utilisation hints";
        assert!(hints.iter().any(|text| text.starts_with(told)), "{hints:?}");
        let mut one = sweep("periodic:n=2", "linux-7.3", "busy_factor=4,5");
        one.base.seeds = vec![1];
        let found = said(&one);
        assert!(
            found.len() == 1 && found[0].starts_with("one seed (1)"),
            "{found:?}"
        );
    }
}
