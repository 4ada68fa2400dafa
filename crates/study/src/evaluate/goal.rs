//! What a candidate is scored by (docs/guide/evaluate.md, "The score").
//!
//! What must stay: names of goals, which programs have; a goal is one metric of a cell, and the
//! same metric counts once in a cell; energy that the workload is measured by is the goal `energy`.
//! Free: words of errors. Tests by part: evaluate/tests.rs::`goals_are_named` (`parse`),
//! evaluate/tests.rs::`a_cells_goals_are_what_it_measures` (`metric`),
//! evaluate/tests.rs::`ratios_by_hand` (`Ratio`).
//!
//! Tests: crates/study/src/evaluate/tests.rs

use wakeplace_metrics::{Better, METRICS, MetricDef, find_metric};
use wakeplace_text::{did_you_mean, nearest, shorten};

/// One thing that counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Goal {
    /// Energy of CPUs and clusters for the work that was done.
    Energy,
    /// What the load's benchmark reports.
    Benchmark,
    /// The 99th percentile of wake-up latency.
    Latency,
    /// Frames or periods that were missed.
    Misses,
    /// A metric by its name.
    Metric(String),
}

/// Those that count where none is asked for, by name.
const KNOWN: [(&str, Goal); 4] = [
    ("energy", Goal::Energy),
    ("benchmark", Goal::Benchmark),
    ("latency", Goal::Latency),
    ("misses", Goal::Misses),
];

/// Energy for each second of work, else for the run, in joules or the platform's own unit.
const ENERGY: [&str; 3] = ["cpu_energy_per_work_j", "cpu_energy_j", "cpu_energy_bogo"];
const LATENCY: [&str; 1] = ["wake_latency_us_p99"];
const MISSES: [&str; 2] = ["missed_frames_total", "missed_periods_total"];

impl Goal {
    /// Those that count where none is asked for.
    pub(crate) fn all() -> Vec<Self> {
        KNOWN.into_iter().map(|(_, goal)| goal).collect()
    }

    /// A goal by its name.
    pub(crate) fn parse(name: &str) -> Result<Self, String> {
        if let Some((_, goal)) = KNOWN.into_iter().find(|(known, _)| *known == name) {
            return Ok(goal);
        }
        let known = KNOWN.iter().map(|(known, _)| *known);
        let Ok(def) = find_metric(name) else {
            let metrics = METRICS.iter().map(|def| def.name);
            let metrics = metrics.filter(|metric| !metric.contains('{'));
            return Err(format!(
                "unknown goal `{}`; expected {}, or a metric{}",
                shorten(name),
                known.clone().collect::<Vec<_>>().join(", "),
                did_you_mean(nearest(name, known.chain(metrics)))
            ));
        };
        match def.better {
            Better::Neither => Err(format!(
                "`{name}` is neither good nor bad; expected a metric of which more or less is \
                 better"
            )),
            _ => Ok(Self::Metric(name.to_owned())),
        }
    }

    /// Its name.
    pub(crate) fn name(&self) -> &str {
        if let Self::Metric(name) = self {
            return name;
        }
        let mut known = KNOWN.iter().filter(|(_, goal)| goal == self);
        known.next().map_or("", |(name, _)| name)
    }

    /// The metric that it is of a cell in which the base has measured what `has` says; `own`: what
    /// the workload is read by.
    pub(crate) fn metric(&self, own: Option<&str>, has: impl Fn(&str) -> bool) -> Option<String> {
        let first = |names: &[&str]| names.iter().find(|name| has(name)).map(|n| (*n).to_owned());
        match self {
            Self::Energy => first(&ENERGY),
            Self::Latency => first(&LATENCY),
            Self::Misses => first(&MISSES),
            Self::Metric(name) => has(name).then(|| name.clone()),
            Self::Benchmark => {
                let judged = |name: &&str| {
                    let def = find_metric(name);
                    def.is_ok_and(|def| def.better != Better::Neither && !is_energy(def))
                };
                let own = own.filter(judged).filter(|name| has(name));
                own.map(str::to_owned)
            }
        }
    }
}

/// What [`Goal::Energy`] counts already.
fn is_energy(def: &MetricDef) -> bool {
    matches!(def.unit, "J" | "W" | "bogo·s")
}

/// How many times as good as the base a value is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ratio {
    better: Better,
    /// What is added to both.
    plus: f64,
}

impl Ratio {
    /// Of a metric. To counts and microseconds 1 is added, so that nothing is divided by 0.
    pub(crate) fn of(metric: &str) -> Self {
        let def = find_metric(metric).ok();
        Self {
            better: def.map_or(Better::Neither, |def| def.better),
            plus: match def.map(|def| def.unit) {
                Some("us" | "count") => 1.0,
                _ => 0.0,
            },
        }
    }

    /// None: one of the values says nothing, as energy of 0 or a time below 0.
    pub(crate) fn value(self, base: f64, candidate: f64) -> Option<f64> {
        let (base, candidate) = (base + self.plus, candidate + self.plus);
        match self.better {
            Better::Lower if base > 0.0 && candidate > 0.0 => Some(base / candidate),
            Better::Higher if base > 0.0 && candidate >= 0.0 => Some(candidate / base),
            _ => None,
        }
    }
}
