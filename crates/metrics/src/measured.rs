//! Times and counts that a workload is measured by, reported as its benchmark reports them
//! (docs/guide/results.md, "What a result holds").
//!
//! Made by `collector.rs` for each run. Values are ns. Which statistics are asked for is the
//! workload's to say, each as the benchmark computes it.
//!
//! What must stay: names of metrics. Bins and rounding of sysbench's percentile are sysbench's
//! (docs/rules/workloads.md#sysbench), with libm, so that every machine has the same bits. Other
//! percentiles are nearest ranks in integers; `latency.rs` takes its own from here (`permille`). A
//! series without values has no metric. Free: what leaves every figure as it is (ARCHITECTURE.md,
//! "What a change may touch"). Tests by part: `statistics_of_four_values` (`value_ns`, `permille`,
//! `report`), `a_series_without_values_has_no_metrics` (`Record::report`),
//! `sysbench_answers_with_the_middle_of_a_bin` (`p95_ns`), `values_out_of_range_go_to_the_ends`
//! (`LogBins::add`), all (`new`, `add`, `sample`); `series` is the tests' own.
//!
//! Callers: latency.rs (`permille`).
//!
//! Tests: below

use crate::metric::Values;
use hdrhistogram::Histogram;
use wakeplace_workload::{Series, Statistic, SysbenchBins, TimeUnit};

/// Significant decimal digits of percentiles: one is at most 0.1 % too high.
const DIGITS: u8 = 3;

/// sysbench's percentile: bins at equal distances on a logarithmic scale (sysbench 0.4
/// `sb_percentile.c`, 1.0 `sb_histogram.c`; docs/rules/workloads.md#sysbench). libm instead of the
/// system's functions: the same bits on every machine.
#[derive(Clone, Debug)]
struct LogBins {
    counts: Vec<u64>,
    total: u64,
    least: f64,
    most: f64,
    log_least: f64,
    bins_per_log: f64,
}

impl LogBins {
    /// Bins of that version of sysbench, empty.
    fn new(bins: SysbenchBins) -> LogBins {
        // Of 1.0: 0.001 ms to 100 s; both in ns here.
        let (n, least, most) = match bins {
            SysbenchBins::V0_4 => (100_000_usize, 1.0, 1e13),
            SysbenchBins::V1_0 => (1024, 1e3, 1e11),
        };
        let log_least = libm::log(least);
        LogBins {
            counts: vec![0; n],
            total: 0,
            least,
            most,
            log_least,
            bins_per_log: (n - 1) as f64 / (libm::log(most) - log_least),
        }
    }

    /// Counts a value, ns, in its logarithmic bin; what is out of range goes to the first or last
    /// one.
    fn add(&mut self, value_ns: u64) {
        let value = (value_ns as f64).clamp(self.least, self.most);
        let bin = (libm::log(value) - self.log_least) * self.bins_per_log + 0.5;
        let last = self.counts.len() - 1;
        self.counts[(libm::floor(bin) as usize).min(last)] += 1;
        self.total += 1;
    }

    /// The middle of the first bin at which 95 % of all are counted, rounded to a whole number of
    /// them; sysbench never answers with the first bin.
    fn p95_ns(&self) -> f64 {
        let wanted = libm::floor(self.total as f64 * 95.0 / 100.0 + 0.5) as u64;
        let mut counted = self.counts[0];
        let mut bin = 1;
        while bin < self.counts.len() {
            counted += self.counts[bin];
            if counted >= wanted {
                break;
            }
            bin += 1;
        }
        libm::exp(bin as f64 / self.bins_per_log + self.log_least)
    }
}

/// The values of one series.
#[derive(Clone, Debug)]
struct Record {
    series: Series,
    histogram: Histogram<u64>,
    sysbench: Option<LogBins>,
    total_ns: u128,
    least_ns: u64,
    most_ns: u64,
}

impl Record {
    /// Nothing is counted yet; bins are kept only where a statistic of sysbench is asked for.
    fn new(series: &Series) -> Record {
        let bins = series.statistics.iter().find_map(|s| match s {
            Statistic::Sysbench95(bins) => Some(*bins),
            _ => None,
        });
        Record {
            series: series.clone(),
            histogram: Histogram::new(DIGITS).expect("3 digits are in range"),
            sysbench: bins.map(LogBins::new),
            total_ns: 0,
            least_ns: u64::MAX,
            most_ns: 0,
        }
    }

    /// One more value of the series.
    fn add(&mut self, value_ns: u64) {
        self.histogram
            .record(value_ns)
            .expect("the histogram grows with its values");
        if let Some(bins) = &mut self.sysbench {
            bins.add(value_ns);
        }
        self.total_ns += u128::from(value_ns);
        self.least_ns = self.least_ns.min(value_ns);
        self.most_ns = self.most_ns.max(value_ns);
    }

    /// A statistic of all values, ns. There is at least one value.
    fn value_ns(&self, statistic: Statistic) -> f64 {
        match statistic {
            Statistic::Minimum => self.least_ns as f64,
            Statistic::Mean => self.total_ns as f64 / self.histogram.len() as f64,
            Statistic::Maximum => self.most_ns as f64,
            Statistic::Permille(n) => permille(&self.histogram, n).min(self.most_ns) as f64,
            Statistic::Sysbench95(_) => self.sysbench.as_ref().map_or(0.0, LogBins::p95_ns),
        }
    }

    /// The series as metrics.
    fn report(&self, values: &mut Values) {
        if self.histogram.is_empty() {
            return;
        }
        let unit_ns = match self.series.unit {
            TimeUnit::Microseconds => 1e3,
            TimeUnit::Milliseconds => 1e6,
        };
        for (name, statistic) in self.series.metrics() {
            values.set(&name, self.value_ns(statistic) / unit_ns);
        }
    }
}

/// The value that so many thousandths of all do not exceed (nearest rank, in integers: a product of
/// floats can land one rank too high).
pub(crate) fn permille(histogram: &Histogram<u64>, permille: u16) -> u64 {
    let all = u128::from(histogram.len());
    let rank = (all * u128::from(permille)).div_ceil(1000).max(1);
    let mut reached = 0;
    for bar in histogram.iter_recorded() {
        reached += u128::from(bar.count_since_last_iteration());
        if reached >= rank {
            return bar.value_iterated_to();
        }
    }
    0
}

/// All series of a workload.
#[derive(Clone, Debug)]
pub(crate) struct Measured(Vec<Record>);

impl Measured {
    /// One record for each series of the workload, in its order.
    pub(crate) fn new(series: &[Series]) -> Measured {
        Measured(series.iter().map(Record::new).collect())
    }

    /// One more value of a series, by its number in the workload.
    pub(crate) fn sample(&mut self, series: u32, value_ns: u64) {
        self.0[series as usize].add(value_ns);
    }

    /// Enters the metrics of the series that have values.
    pub(crate) fn report(&self, values: &mut Values) {
        for record in &self.0 {
            record.report(values);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LogBins, Measured};
    use crate::metric::Values;
    use wakeplace_workload::{Series, Statistic, SysbenchBins, TimeUnit};

    fn series(statistics: Vec<Statistic>) -> Series {
        Series {
            name: "latency".into(),
            warm_up_ns: 0,
            less_ns: 0,
            floor_ns: 0,
            statistics,
            unit: TimeUnit::Milliseconds,
        }
    }

    #[test]
    fn statistics_of_four_values() {
        let permille = [500, 750, 990].map(Statistic::Permille);
        let simple = [Statistic::Minimum, Statistic::Mean, Statistic::Maximum];
        let statistics = simple.into_iter().chain(permille).collect();
        let mut measured = Measured::new(&[series(statistics)]);
        for ns in [4_000_000, 1_000_000, 2_000_000, 3_000_000] {
            measured.sample(0, ns);
        }
        let mut values = Values::default();
        measured.report(&mut values);
        let get = |name: &str| values.get(name).expect(name);
        assert_eq!(get("latency_min_ms"), 1.0);
        assert_eq!(get("latency_avg_ms"), 2.5);
        assert_eq!(get("latency_max_ms"), 4.0);
        // Nearest rank: the 2nd, 3rd and 4th of 4; the histogram's error is at most 0.1 %.
        for (name, exact) in [("p50", 2.0), ("p75", 3.0), ("p99", 4.0)] {
            let value = get(&format!("latency_{name}_ms"));
            assert!((exact..=exact * 1.001).contains(&value), "{name}: {value}");
        }
    }

    #[test]
    fn a_series_without_values_has_no_metrics() {
        let mut values = Values::default();
        Measured::new(&[series(vec![Statistic::Maximum])]).report(&mut values);
        assert_eq!(values.iter().count(), 0);
    }

    /// Source: docs/rules/workloads.md#sysbench. 0.4 has 99999 steps from 1 to 1e13 ns, one step is
    /// a factor of 10^(13/99999), 0.03 %; 1.0 has 1023 from 1e3 to 1e11 ns, one step 10^(8/1023),
    /// 1.8 %. The answer is the middle of a bin: off by half a step at most.
    #[test]
    fn sysbench_answers_with_the_middle_of_a_bin() {
        for (bins, step) in [(SysbenchBins::V0_4, 1.0003), (SysbenchBins::V1_0, 1.0182)] {
            let mut log = LogBins::new(bins);
            // 94 short ones and 6 long ones: 95 of 100 are reached among the long ones.
            (0..94).for_each(|_| log.add(5_000_000));
            (0..6).for_each(|_| log.add(60_000_000));
            let half = f64::sqrt(step);
            let p95 = log.p95_ns();
            assert!((60e6 / half..60e6 * half).contains(&p95), "{p95}");
            // floor(95.95 + 0.5) = 96 of 101: with two more short ones, 97 of 102 are wanted
            // (floor(96.9 + 0.5)), and 96 are short.
            (0..2).for_each(|_| log.add(5_000_000));
            assert!(log.p95_ns() > 50e6);
            // 24 more short ones: floor(0.95 * 126 + 0.5) = 120, all short.
            (0..24).for_each(|_| log.add(5_000_000));
            assert!(log.p95_ns() < 6e6);
        }
    }

    /// 1024 bins: what is out of range goes to the ends.
    #[test]
    fn values_out_of_range_go_to_the_ends() {
        let mut log = LogBins::new(SysbenchBins::V1_0);
        (0..20).for_each(|_| log.add(1));
        // All in the first bin; sysbench's search begins with the second.
        let p95 = log.p95_ns();
        assert!((1e3..1.05e3).contains(&p95), "{p95}");
        let mut log = LogBins::new(SysbenchBins::V1_0);
        log.add(u64::MAX);
        assert!((log.p95_ns() / 1e11 - 1.0).abs() < 1e-9);
    }
}
