//! What the models' benchmarks report: times and units counted
//! (docs/rules/workloads.md#workload-measures).
//!
//! Called by all models. Names and units of metrics stay. A figure counts after the warm-up, ns.
//!
//! What must stay: metric names and units, as studies and results name them; what is before the
//! warm-up's end counts in no figure. Free: what leaves scripts as they are (ARCHITECTURE.md, "What
//! a change may touch"), and words of messages that no test quotes. Tests by part:
//! `a_sysbench_cpu_event_is_claimed_timed_and_counted` (`events_total`, `sysbench_latency`,
//! `record`), `netperf_pairs_take_turns` (`rate`, `per_second`),
//! `cyclictest_threads_have_their_intervals` (`series`),
//! schbench_tbench.rs::`tbench_costs_follow_the_bytes` (`mb_per_second`),
//! models.rs::`netperf_on_one_cpu_is_the_work_of_both` (the figure of a run).
//!
//! Tests: crates/workload/tests/all/benchmark_models.rs,
//! crates/workload/tests/all/schbench_tbench.rs, crates/engine/tests/behaviour/models.rs
use super::tasks::DONE;
use crate::script::{Event, Figure, FigureOf, Series, Since, Statistic, SysbenchBins, TimeUnit};

/// Bytes of a MB.
const MB_BYTES: u64 = 1_000_000;

/// A second, ns.
const SECOND_NS: u64 = 1_000_000_000;

/// Units counted after the warm-up by time: so many count as one, per so much time.
pub(crate) fn rate(metric: &'static str, units_each: u64, per_ns: u64) -> Figure {
    let of = FigureOf::Rate { units_each, per_ns };
    Figure { metric, of }
}

/// Units counted, per second after the warm-up.
pub(crate) fn per_second() -> Figure {
    rate("throughput_per_s", 1, SECOND_NS)
}

/// Bytes counted, in MB per second after the warm-up.
pub(crate) fn mb_per_second() -> Figure {
    rate("throughput_mb_per_s", MB_BYTES, SECOND_NS)
}

/// Units counted, over the whole run after the warm-up.
pub(crate) fn events_total() -> Figure {
    let of = FigureOf::Total;
    let metric = "events_total";
    Figure { metric, of }
}

/// Times as they are, measured from the start on.
pub(crate) fn series(name: &str, unit: TimeUnit, statistics: Vec<Statistic>) -> Series {
    Series {
        name: name.to_owned(),
        warm_up_ns: 0,
        less_ns: 0,
        floor_ns: 0,
        statistics,
        unit,
    }
}

/// The latency of events as sysbench 0.4 reports it: average and 95th percentile, ms.
pub(crate) fn sysbench_latency(warm_up_ns: u64) -> Series {
    let statistics = vec![Statistic::Mean, Statistic::Sysbench95(SysbenchBins::V0_4)];
    Series {
        warm_up_ns,
        ..series("latency", TimeUnit::Milliseconds, statistics)
    }
}

/// An event that began at the last mark is done: its time and its count.
pub(crate) fn record(series: u32) -> [Event; 2] {
    let since = Since::Mark;
    [Event::Sample { series, since }, DONE]
}
