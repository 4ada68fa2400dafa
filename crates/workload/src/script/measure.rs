//! What a workload is measured by, as its benchmark reports it
//! (docs/rules/workloads.md#workload-measures).
//!
//! Made by models, read by `crates/metrics/src/measured.rs`. Names of metrics follow from here and
//! stay. Times are ns.
//!
//! What must stay: metric names are made here alone, of the series' name, statistic and unit, as
//! results and studies name them. Free: what leaves scripts as they are (ARCHITECTURE.md, "What a
//! change may touch"), and words of messages that no test quotes. Tests by part:
//! `samples_are_exact` (series and statistics of a run),
//! benchmark_models.rs::`a_sysbench_cpu_event_is_claimed_timed_and_counted` (what a model asks
//! for), aim7_compute.rs::`jobs_are_counted_per_minute` (figures),
//! crates/metrics/src/metric/tests.rs::`all_models_are_read_by_known_metrics` (`metrics`, `name`),
//! crates/trace/tests/all/replay/frames.rs::`what_became_of_recorded_frames` (`recorded_figures`).
//!
//! Tests: crates/engine/tests/behaviour/measures.rs, crates/metrics/src/measured.rs,
//! crates/workload/tests/all/benchmark_models.rs, crates/workload/tests/all/aim7_compute.rs,
//! crates/trace/tests/all/replay/frames.rs

use super::{FrameFigures, JudgedFrame};
use std::sync::Arc;

/// Times that are measured, one value after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Series {
    /// Beginning of the metrics' names: `latency`, `t0_latency`.
    pub name: String,
    /// Measured from so long after the start of all tasks on, ns.
    pub warm_up_ns: u64,
    /// Taken off each value, ns; what would be less than `floor_ns` is `floor_ns`.
    pub less_ns: u64,
    /// Least value, ns.
    pub floor_ns: u64,
    /// Metrics to report: `NAME_STATISTIC_UNIT`.
    pub statistics: Vec<Statistic>,
    /// Unit of the metrics.
    pub unit: TimeUnit,
}

/// Unit in which a benchmark gives times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// Microseconds, `us`.
    Microseconds,
    /// Milliseconds, `ms`.
    Milliseconds,
}

/// What a benchmark reports of measured times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    /// `min`.
    Minimum,
    /// `avg`.
    Mean,
    /// `max`.
    Maximum,
    /// `p50`, `p99`, `p99_9`: the least value that so many thousandths of all are not above.
    Permille(u16),
    /// `p95` as sysbench computes it, from a histogram of bins spaced by logarithm.
    Sysbench95(SysbenchBins),
}

/// The bins of sysbench's percentile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SysbenchBins {
    /// 0.4: 100000 from 1 ns to 10000 s.
    V0_4,
    /// 1.0: 1024 from 1 us to 100 s.
    V1_0,
}

impl Series {
    /// Names of its metrics, `NAME_STATISTIC_UNIT`, with the statistic each.
    pub fn metrics(&self) -> impl Iterator<Item = (String, Statistic)> {
        let unit = match self.unit {
            TimeUnit::Microseconds => "us",
            TimeUnit::Milliseconds => "ms",
        };
        let name = move |s: Statistic| format!("{}_{}_{unit}", self.name, s.name());
        self.statistics.iter().map(move |s| (name(*s), *s))
    }
}

impl Statistic {
    /// Its part of a metric's name: `avg`, `p95`, `p99_9`.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Minimum => "min".to_owned(),
            Self::Mean => "avg".to_owned(),
            Self::Maximum => "max".to_owned(),
            Self::Permille(n) if n % 10 == 0 => format!("p{}", n / 10),
            Self::Permille(n) => format!("p{}_{}", n / 10, n % 10),
            Self::Sysbench95(_) => "p95".to_owned(),
        }
    }
}

/// A chain of tasks with a deadline: from when its first was due to wake, to the end of what its
/// last does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    /// Its name.
    pub name: String,
    /// A frame that ends later than so long after its begin is missed, ns.
    pub deadline_ns: u64,
    /// By what a recording that says its deadlines itself knows it. None: a user said it.
    pub known: Option<String>,
    /// Its frames in the recording that marks them.
    pub recorded: Option<RecordedFrames>,
}

impl Chain {
    /// What became of its frames in the recording, by its deadline.
    #[must_use]
    pub fn recorded_figures(&self) -> Option<FrameFigures> {
        let recorded = self.recorded.as_ref()?;
        let judged = recorded
            .begin_done_ns
            .iter()
            .filter_map(|(begin_ns, done_ns)| {
                let due_ns = begin_ns.saturating_add(self.deadline_ns);
                JudgedFrame::of(due_ns, *done_ns, recorded.end_ns)
            });
        Some(FrameFigures::of([judged]))
    }
}

/// Frames as they were recorded. Times are those of the recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedFrames {
    /// When each was due to begin, and when it was done, if it was, ns.
    pub begin_done_ns: Arc<[(u64, Option<u64>)]>,
    /// When the recording ended, ns.
    pub end_ns: u64,
}

/// What `Event::Count` counts, and the metrics made of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// Counted from so long after the start of all tasks on, ns.
    pub warm_up_ns: u64,
    /// At least one.
    pub figures: Vec<Figure>,
}

/// A metric made of the units counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// Its name, one that crates/metrics knows: `throughput_per_s`, `events_total`,
    /// `jobs_per_min`.
    pub metric: &'static str,
    /// How it is computed.
    pub of: FigureOf,
}

/// How a figure is made of units and time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FigureOf {
    /// The units.
    Total,
    /// Units / `number`.
    Each {
        /// Of what there are so many, > 0.
        number: u64,
    },
    /// Units / `units_each` per `per_ns` of the time from the warm-up's end to the run's end.
    Rate {
        /// Units that count as one.
        units_each: u64,
        /// Length of time, ns.
        per_ns: u64,
    },
}
