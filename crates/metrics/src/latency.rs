//! Wake-up latency and period slack (docs/guide/results.md, "What a result holds").
//!
//! Made by `collector.rs` for each run. Times are ns. A latency is from when the task was due to
//! its first run; slack is what was left of a period when its work was done, negative if late.
//!
//! What must stay: names of metrics. A percentile is a nearest rank in integers and never above the
//! longest latency. What did not occur is absent, not 0. Tasks are numbered in the order in which
//! they come to be. The first wake-up of a recording's task does not count. Free: what leaves every
//! figure as it is (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `latencies_by_hand` (`run_start`, `buckets`, `report`),
//! `the_first_wakeup_of_a_recorded_task_does_not_count` (`of_recording`),
//! `short_latencies_and_ranks_are_exact` and `percentiles_do_not_exceed_the_longest`
//! (`percentile_ns`), `nothing_measured_is_absent` (`report`), `slack_by_hand` (`timer_slack`,
//! `tasks`), collector/tests.rs::`unknown_wakeups_have_no_latency` (who makes it), all (`new`,
//! `happened`), `percentiles_do_not_exceed_the_longest` (`max_ns`). No test of its own: `forked`;
//! its check of the numbers runs in every run that forks.
//!
//! Tests: below, crates/metrics/src/collector/tests.rs

use crate::measured::permille;
use crate::metric::Values;
use hdrhistogram::Histogram;
use wakeplace_engine::{Happening, Observer};

/// Significant decimal digits of the latency histogram: a percentile is at most 0.1 % too high.
const DIGITS: u8 = 3;

/// What one task met with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskLatency {
    /// First runs after a wake-up that counts.
    pub wakeups: u64,
    /// Sum of their latencies, ns.
    pub latency_ns_total: u128,
    /// Longest of them, ns.
    pub latency_ns_max: u64,
    /// Timer events reached.
    pub periods: u64,
    /// Those reached after their expiry.
    pub missed_periods: u64,
    /// Least slack at a timer event, ns; None without one.
    pub slack_ns_min: Option<i64>,
}

/// A bar of the wake-latency histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LatencyBucket {
    /// Highest latency counted here, ns.
    pub up_to_ns: u64,
    /// Wake-ups in it.
    pub count: u64,
}

/// Measures the time from due to first run, and the slack at timer events.
#[derive(Clone, Debug)]
pub struct Latency {
    histogram: Histogram<u64>,
    tasks: Vec<TaskLatency>,
    /// Timer events are periods.
    periods: bool,
    /// Of each task that is there from the start of a recording: it has been woken. Its first
    /// wake-up does not count. Empty: all wake-ups count.
    woken: Vec<bool>,
}

impl Latency {
    /// For a workload of `n_tasks` tasks, whose timer events are periods or not.
    ///
    /// # Panics
    /// Never: the histogram's digits are valid.
    #[must_use]
    pub fn new(n_tasks: usize, periods: bool) -> Latency {
        let histogram = Histogram::new(DIGITS).expect("3 digits are in range");
        Latency {
            histogram,
            tasks: vec![TaskLatency::default(); n_tasks],
            periods,
            woken: Vec::new(),
        }
    }

    /// For a recording of `n_tasks` tasks. Its timer events are no periods. What wakes a task first
    /// is the simulator's start line, and what it did before the recording is not known; so that
    /// wake-up does not count (docs/guide/traces-in.md, "What becomes of it").
    #[must_use]
    pub fn of_recording(n_tasks: usize) -> Latency {
        Latency {
            woken: vec![false; n_tasks],
            ..Self::new(n_tasks, false)
        }
    }

    /// Per task, in the order of the workload.
    #[must_use]
    pub fn tasks(&self) -> &[TaskLatency] {
        &self.tasks
    }

    /// The non-empty bars of the wake-latency histogram, ascending.
    #[must_use]
    pub fn buckets(&self) -> Vec<LatencyBucket> {
        self.histogram
            .iter_recorded()
            .map(|v| LatencyBucket {
                up_to_ns: v.value_iterated_to(),
                count: v.count_since_last_iteration(),
            })
            .collect()
    }

    /// Latency, ns, that `percent` of all wake-ups did not exceed. Never above the longest latency
    /// seen. None without wake-ups.
    #[must_use]
    pub fn percentile_ns(&self, percent: u16) -> Option<u64> {
        let value = permille(&self.histogram, percent * 10).min(self.max_ns());
        (!self.histogram.is_empty()).then_some(value)
    }

    /// A task came to be in the course of the run; tasks are numbered in that order.
    pub(crate) fn forked(&mut self, task: u32) {
        assert_eq!(
            task as usize,
            self.tasks.len(),
            "tasks are numbered in order"
        );
        self.tasks.push(TaskLatency::default());
    }

    /// Longest latency of all tasks, ns, exact.
    fn max_ns(&self) -> u64 {
        self.tasks
            .iter()
            .map(|t| t.latency_ns_max)
            .max()
            .unwrap_or(0)
    }

    /// Enters the metrics; latencies and slack only where there were any.
    pub(crate) fn report(&self, values: &mut Values) {
        let tasks = || self.tasks.iter();
        let wakeups: u64 = tasks().map(|t| t.wakeups).sum();
        if wakeups > 0 {
            let total: u128 = tasks().map(|t| t.latency_ns_total).sum();
            values.set("wake_latency_us_mean", total as f64 / wakeups as f64 / 1e3);
            for (name, percent) in [
                ("wake_latency_us_p50", 50),
                ("wake_latency_us_p95", 95),
                ("wake_latency_us_p99", 99),
                ("wake_latency_us_max", 100),
            ] {
                let ns = self.percentile_ns(percent).expect("there are wake-ups");
                values.set(name, ns as f64 / 1e3);
            }
        }
        if let Some(slack) = tasks().filter_map(|t| t.slack_ns_min).min() {
            values.set("slack_us_min", slack as f64 / 1e3);
        }
        let periods = tasks().map(|t| t.periods).sum();
        if periods > 0 {
            let missed = tasks().map(|t| t.missed_periods).sum();
            values.count("missed_periods_total", missed);
            values.count("periods_total", periods);
        }
    }
}

impl Observer for Latency {
    /// Begins of running with their latency, and ends of periods with their slack.
    #[inline(always)]
    fn happened(&mut self, _: u64, what: &Happening) {
        match *what {
            Happening::RunStart {
                task,
                wake_latency_ns,
                ..
            } => self.run_start(task, wake_latency_ns),
            Happening::TimerSlack { task, slack_ns } if self.periods => {
                self.timer_slack(task, slack_ns);
            }
            _ => {}
        }
    }
}

impl Latency {
    /// A task begins to run; with a latency it had been woken.
    fn run_start(&mut self, task: u32, wake_latency_ns: Option<u64>) {
        let Some(latency) = wake_latency_ns else {
            return;
        };
        let woken = self.woken.get_mut(task as usize);
        if woken.is_some_and(|woken| !std::mem::replace(woken, true)) {
            return;
        }
        self.histogram
            .record(latency)
            .expect("the histogram grows with its values");
        let task = &mut self.tasks[task as usize];
        task.wakeups += 1;
        task.latency_ns_total += u128::from(latency);
        task.latency_ns_max = task.latency_ns_max.max(latency);
    }

    /// A period is over: `slack_ns` is what was left of it, below 0 if it was missed.
    fn timer_slack(&mut self, task: u32, slack_ns: i64) {
        let task = &mut self.tasks[task as usize];
        task.periods += 1;
        task.missed_periods += u64::from(slack_ns < 0);
        task.slack_ns_min = Some(
            task.slack_ns_min
                .map_or(slack_ns, |least| least.min(slack_ns)),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::{Latency, TaskLatency};
    use crate::metric::Values;
    use wakeplace_engine::Observer;
    use wakeplace_engine::happen;

    fn report(latency: &Latency) -> Values {
        let mut values = Values::default();
        latency.report(&mut values);
        values
    }

    #[test]
    fn latencies_by_hand() {
        // 1 us to 1000 us, in an order that is not sorted, on two tasks.
        let mut latency = Latency::new(2, true);
        for i in 0..1000_u64 {
            let us = (i * 7) % 1000 + 1;
            happen!(latency, i =>
                RunStart { cpu: 0, task: (i % 2) as u32, wake_latency_ns: Some(us * 1000) });
            happen!(latency, i => RunStart { cpu: 0, task: 0, wake_latency_ns: None });
        }
        let values = report(&latency);
        assert_eq!(values.get("wake_latency_us_mean"), Some(500.5));
        assert_eq!(values.get("wake_latency_us_max"), Some(1000.0));
        for (name, exact) in [("p50", 500.0), ("p95", 950.0), ("p99", 990.0)] {
            let value = values.get(&format!("wake_latency_us_{name}")).unwrap();
            assert!((exact..=exact * 1.001).contains(&value), "{name}: {value}");
        }
        let buckets = latency.buckets();
        assert!(buckets.iter().all(|b| b.count == 1) && buckets.len() == 1000);
    }

    /// Goal: of a recording's tasks that are there from the start the first wake-up does not count,
    /// of one that was forked in it (its second number here) it does. 9 ms and 8 ms are first ones;
    /// left are 1, 3 and 5 ms.
    #[test]
    fn the_first_wakeup_of_a_recorded_task_does_not_count() {
        let mut latency = Latency::of_recording(2);
        latency.forked(2);
        for (task, ms) in [(0, Some(9)), (1, None), (1, Some(8)), (0, Some(1))] {
            let wake_latency_ns = ms.map(|ms: u64| ms * 1_000_000);
            happen!(latency, 0 => RunStart { cpu: 0, task, wake_latency_ns });
        }
        for (task, ms) in [(2, 3), (1, 5)] {
            let wake_latency_ns = Some(ms * 1_000_000);
            happen!(latency, 0 => RunStart { cpu: 0, task, wake_latency_ns });
        }
        happen!(latency, 0 => TimerSlack { task: 0, slack_ns: -1 });
        let wakeups: Vec<u64> = latency.tasks().iter().map(|task| task.wakeups).collect();
        assert_eq!(wakeups, [1, 1, 1]);
        let values = report(&latency);
        assert_eq!(values.get("wake_latency_us_mean"), Some(3000.0));
        assert_eq!(values.get("wake_latency_us_max"), Some(5000.0));
        assert_eq!(values.get("periods_total"), None);
    }

    #[test]
    fn short_latencies_and_ranks_are_exact() {
        let mut latency = Latency::new(1, true);
        for ns in 1..=700 {
            happen!(latency, 0 => RunStart { cpu: 0, task: 0, wake_latency_ns: Some(ns) });
        }
        // 0.99 x 700 is 693 exactly; as floats it is 693.0000000000001 and would round up to 694.
        assert_eq!(latency.percentile_ns(99), Some(693));
        assert_eq!(latency.percentile_ns(50), Some(350));
        assert_eq!(latency.percentile_ns(100), Some(700));
        let mut zero = Latency::new(1, true);
        happen!(zero, 0 => RunStart { cpu: 0, task: 0, wake_latency_ns: Some(0) });
        assert_eq!(report(&zero).get("wake_latency_us_p99"), Some(0.0));
    }

    #[test]
    fn percentiles_do_not_exceed_the_longest() {
        let mut latency = Latency::new(1, true);
        happen!(latency, 0 => RunStart { cpu: 0, task: 0, wake_latency_ns: Some(1_000_000_001) });
        assert_eq!(latency.percentile_ns(50), Some(1_000_000_001));
    }

    #[test]
    fn nothing_measured_is_absent() {
        let values = report(&Latency::new(3, true));
        assert_eq!(values.get("wake_latency_us_mean"), None);
        assert_eq!(values.get("slack_us_min"), None);
        assert_eq!(values.get("periods_total"), None);
    }

    #[test]
    fn slack_by_hand() {
        let mut latency = Latency::new(2, true);
        for (task, slack) in [(0, 5_000), (0, -1_500), (1, 0), (1, 700), (0, -1)] {
            happen!(latency, 0 => TimerSlack { task, slack_ns: slack });
        }
        let values = report(&latency);
        assert_eq!(values.get("slack_us_min"), Some(-1.5));
        assert_eq!(values.get("missed_periods_total"), Some(2.0));
        assert_eq!(values.get("periods_total"), Some(5.0));
        let second = TaskLatency {
            periods: 2,
            slack_ns_min: Some(0),
            ..TaskLatency::default()
        };
        assert_eq!(latency.tasks()[1], second);
    }
}
