//! Load tracking and weights against the tables of docs/rules/signals.md, every row.
//! Rules: docs/rules/signals.md#pelt-constants, docs/rules/signals.md#pelt-decay,
//! docs/rules/signals.md#pelt-segments, docs/rules/queues.md#cfs.
//!
//! What must stay: rows are of tests/data, computed by another program: never change a row to suit
//! the core. All rows of a table are read. It covers policy/src/load_tracking/pelt.c and weights.c.
//! Free: how rows are read.
//! Tests by part: `inverse_table`, `decay_load_rows` (`wp_decay_load`); `segments_rows`
//! (`wp_accumulate_pelt_segments`); `ramp_rows`, `decay_rows` (`wp_update_load_sum`); `nice_rows`
//! (`wp_nice_weight`, `wp_nice_inv_weight`); `periodic_5pct_rows`, `periodic_other_rows` (a task’s
//! whole life: update_load_sum, `wp_util_est_next`, `clocks`).
//! Helpers, and who fails with them: `run_ns`, `by_arithmetic`, `by_events`, `activation`,
//! `check_periodic` (`periodic_5pct_rows`, `periodic_other_rows`); `step` (`ramp_rows`,
//! `decay_rows`, `periodic_5pct_rows`, `periodic_other_rows`).
#![allow(
    unused_must_use,
    reason = "what an event leads to is not the point here"
)]

use crate::common;

use common::{core, lone_cpu, table};
use wakeplace_policy_sys::{
    Core, Task, avg_update, decay_load, nice_inv_weight, nice_weight, pelt_segments, sys,
    util_est_next,
};

/// A step of an entity in clock mode; `on` = queued and running.
fn step(now_ns: u64, on: bool) -> sys::wp_pelt_step {
    let on = u32::from(on);
    sys::wp_pelt_step {
        now_ns,
        load: on,
        runnable: on,
        running: on,
        weight: 1024,
        scale_cpu: 1024,
        scale_freq: 1024,
        runnable_is_load: 0,
        half_life: 0,
    }
}

/// Goal: the 32 constants. Source: docs/rules/signals.md#pelt-constants. 2^32 * y^n is the table
/// entry itself.
#[test]
fn inverse_table() {
    let t = table("pelt_yN_inv.csv");
    assert_eq!(t.rows.len(), 32);
    for row in &t.rows {
        let (n, inv) = (t.number(row, "n"), t.number(row, "inv_dec"));
        assert_eq!(decay_load(1 << 32, n), inv, "n = {n}");
        assert_eq!(format!("0x{inv:08x}"), t.text(row, "inv_hex"));
    }
}

/// Goal: decay in integers, to 0 beyond 2016 periods. Source: docs/rules/signals.md#pelt-decay.
#[test]
fn decay_load_rows() {
    let t = table("pelt_decay_load.csv");
    for row in &t.rows {
        let (value, periods) = (t.number(row, "value"), t.number(row, "periods"));
        let expected = t.number(row, "result");
        assert_eq!(decay_load(value, periods), expected, "{value} {periods}");
    }
    // Beyond 63*32 periods nothing is left: (2^64 - 1) >> 62 = 3, 3 * 0x82cd8698 >> 32 = 1, then 0.
    assert_eq!(decay_load(u64::MAX, 2015), 1);
    assert_eq!(decay_load(u64::MAX, 2017), 0);
    assert_eq!(decay_load(u64::MAX, 64 * 32), 0);
}

/// Goal: contribution of a span. Source: docs/rules/signals.md#pelt-segments.
#[test]
fn segments_rows() {
    let t = table("pelt_segments.csv");
    for row in &t.rows {
        let of = |name| t.number(row, name) as u32;
        let got = pelt_segments(of("periods"), of("d1"), of("d3"));
        assert_eq!(got, of("contrib"), "{row:?}");
    }
}

/// Goal: an always-running task from 0, at three update steps. Source:
/// docs/rules/signals.md#pelt-vectors.
#[test]
fn ramp_rows() {
    let t = table("pelt_ramp.csv");
    let mut avg = sys::wp_sched_avg::default();
    let (mut label, mut done) = (String::new(), 0);
    for row in &t.rows {
        if t.text(row, "update_step") != label {
            label = t.text(row, "update_step").to_owned();
            avg = sys::wp_sched_avg::default();
            done = 0;
        }
        let updates = t.number(row, "updates");
        let step_ns = t.number(row, "time_ns") / updates;
        while done < updates {
            done += 1;
            avg_update(&mut avg, &step(done * step_ns, true));
        }
        let got = (avg.util_avg, avg.util_sum, avg.period_contrib, avg.load_avg);
        let want = (
            t.number(row, "util_avg") as u32,
            t.number(row, "util_sum"),
            t.number(row, "period_contrib") as u32,
            t.number(row, "load_avg") as u32,
        );
        assert_eq!(got, want, "{row:?}");
    }
}

/// Goal: decay of a saturated signal over idle periods. Source: docs/rules/signals.md#pelt-vectors.
#[test]
fn decay_rows() {
    const PERIOD: u64 = 1024 * 1024;
    let t = table("pelt_decay.csv");
    let mut full = sys::wp_sched_avg::default();
    avg_update(&mut full, &step(400 * PERIOD, true));
    for row in &t.rows {
        let idle = t.number(row, "idle_periods");
        let mut avg = full;
        avg_update(&mut avg, &step((400 + idle) * PERIOD, false));
        let want = (t.number(row, "util_avg") as u32, t.number(row, "util_sum"));
        assert_eq!((avg.util_avg, avg.util_sum), want, "{row:?}");
    }
}

/// Goal: weight and inverse of the 40 nice values. Source: docs/rules/queues.md#cfs.
#[test]
fn nice_rows() {
    let t = table("nice_weights.csv");
    assert_eq!(t.rows.len(), 40);
    for row in &t.rows {
        let nice: i32 = t.text(row, "nice").parse().expect("a number");
        let inverse = t.number(row, "inv_weight") as u32;
        assert_eq!(nice_weight(nice), t.number(row, "weight") as u32, "{nice}");
        assert_eq!(nice_inv_weight(nice), inverse, "{nice}");
    }
    // There are no others: setpriority(2) takes the nearest.
    for (nice, nearest) in [(-21, -20), (-40, -20), (20, 19), (40, 19)] {
        assert_eq!(nice_weight(nice), nice_weight(nearest), "{nice}");
        assert_eq!(nice_inv_weight(nice), nice_inv_weight(nearest), "{nice}");
    }
}

// ------------------------------------------------------------------------------- periodic tasks

/// A periodic task as sched_ref.py's vec_periodic has it.
#[derive(Clone, Copy)]
struct Periodic {
    capacity: u32,
    freq_scale: u32,
    /// Work per period, as time at full speed.
    work_ns: u64,
    period_ns: u64,
    start_util: u32,
}

/// Columns of the table after `activation`.
#[derive(Debug, PartialEq, Eq)]
struct Row {
    util_at_wake: u32,
    util_at_sleep: u32,
    util_est: u32,
    util_sum: u64,
    period_contrib: u32,
}

impl Periodic {
    fn run_ns(self) -> u64 {
        let speed = f64::from(self.capacity) * f64::from(self.freq_scale) / (1024.0 * 1024.0);
        (self.work_ns as f64 / speed).round() as u64
    }

    /// The clock of docs/rules/signals.md#pelt-clock kept by hand, the signal by `avg_update`
    /// alone.
    fn by_arithmetic(self, activations: u64) -> Vec<Row> {
        let mut avg = sys::wp_sched_avg {
            util_avg: self.start_util,
            util_sum: u64::from(self.start_util) * 46718,
            ..Default::default()
        };
        let run = self.run_ns();
        let mut rows = Vec::new();
        let mut est = 0;
        for k in 0..activations {
            let mut clock = k * self.period_ns; // idle: the PELT clock is the task clock
            avg_update(&mut avg, &step(clock, false));
            let util_at_wake = avg.util_avg;
            let mut left = run;
            while left > 0 {
                let slice = left.min(1_000_000);
                let scaled = (slice * u64::from(self.capacity)) >> 10;
                clock += (scaled * u64::from(self.freq_scale)) >> 10;
                avg_update(&mut avg, &step(clock, true));
                left -= slice;
            }
            let (util, runnable) = (avg.util_avg, avg.runnable_avg);
            est = util_est_next(sys::WP_UTIL_EST_SINGLE, est, util, runnable, self.capacity);
            rows.push(Row {
                util_at_wake,
                util_at_sleep: util,
                util_est: est,
                util_sum: avg.util_sum,
                period_contrib: avg.period_contrib,
            });
        }
        rows
    }

    /// Tells the core a task's life as events.
    fn by_events(self, activations: u64) -> Vec<Row> {
        let mut core = core(
            &lone_cpu(self.capacity),
            "linux-4.17",
            &[
                ("pelt_scale", "clock"),
                ("runnable_is_load", "off"),
                ("util_est", "single"),
                ("post_init_util", "off"),
                ("governor", "performance"),
            ],
        );
        core.cpu_mut(0).load.freq_scale = self.freq_scale;
        let mut task = Task::new(1, 1024, 0, None, 1);
        core.task_init(&mut task);
        core.task_new(&mut task, 0, 0);
        task.raw_mut().avg.util_avg = self.start_util;
        let rows = (0..activations).map(|k| self.activation(&mut core, &mut task, k));
        rows.collect()
    }

    fn activation(self, core: &mut Core, task: &mut Task, k: u64) -> Row {
        let wake = k * self.period_ns;
        let sleep = wake + self.run_ns();
        core.exit_idle(0, wake);
        if k == 0 {
            core.enqueue_new(task, 0, wake);
        } else {
            core.enqueue_woken(task, 0, wake);
        }
        let util_at_wake = task.util_avg();
        core.set_current(task, wake);
        let mut tick = wake + 1_000_000;
        while tick < sleep {
            core.tick(task, tick);
            tick += 1_000_000;
        }
        core.dequeue_sleep(task, sleep);
        core.enter_idle(0, sleep);
        let avg = task.raw().avg;
        Row {
            util_at_wake,
            util_at_sleep: avg.util_avg,
            util_est: task.raw().util_est & !sys::WP_UTIL_EST_UNCHANGED,
            util_sum: avg.util_sum,
            period_contrib: avg.period_contrib,
        }
    }
}

/// All rows of a table, by arithmetic and by events.
fn check_periodic(file: &str, key: &str, cases: &[(&str, Periodic)]) {
    let t = table(file);
    let mut checked = 0;
    for (label, periodic) in cases {
        let rows = t.rows.iter().filter(|r| t.text(r, key) == *label);
        let want: Vec<Row> = rows
            .map(|r| Row {
                util_at_wake: t.number(r, "util_at_wake") as u32,
                util_at_sleep: t.number(r, "util_at_sleep") as u32,
                util_est: t.number(r, "util_est") as u32,
                util_sum: t.number(r, "util_sum"),
                period_contrib: t.number(r, "period_contrib") as u32,
            })
            .collect();
        assert_eq!(want.len(), 60, "{label}");
        for (how, got) in [
            ("arithmetic", periodic.by_arithmetic(60)),
            ("events", periodic.by_events(60)),
        ] {
            for (k, (got, want)) in got.iter().zip(&want).enumerate() {
                assert_eq!(got, want, "{label}, activation {}, by {how}", k + 1);
            }
        }
        checked += want.len();
    }
    assert_eq!(checked, t.rows.len(), "every row is of a known case");
}

/// Goal: the periodic task of 5 % on five CPU types. Source: docs/rules/signals.md#pelt-clock and
/// docs/rules/signals.md#pelt-periodic-task.
#[test]
fn periodic_5pct_rows() {
    let on = |capacity, freq_scale| Periodic {
        capacity,
        freq_scale,
        work_ns: 800_000,
        period_ns: 16_000_000,
        start_util: 0,
    };
    let cases = [
        ("cap1024_fmax", on(1024, 1024)),
        ("cap1024_f512", on(1024, 512)),
        ("cap462_fmax", on(462, 1024)),
        ("cap446_fmax", on(446, 1024)),
        ("cap430_fmax", on(430, 1024)),
    ];
    check_periodic("pelt_periodic_16ms_5pct.csv", "cpu", &cases);
}

/// Goal: five other tasks on a full-speed CPU. Source: docs/rules/signals.md#pelt-periodic-task.
#[test]
fn periodic_other_rows() {
    let task = |work_ns, period_ns, start_util| Periodic {
        capacity: 1024,
        freq_scale: 1024,
        work_ns,
        period_ns,
        start_util,
    };
    let cases = [
        ("10pct_16ms", task(1_600_000, 16_000_000, 0)),
        ("25pct_16ms", task(4_000_000, 16_000_000, 0)),
        ("50pct_16ms", task(8_000_000, 16_000_000, 0)),
        ("50pct_100ms", task(50_000_000, 100_000_000, 0)),
        ("5pct_16ms_init512", task(800_000, 16_000_000, 512)),
    ];
    check_periodic("pelt_periodic_other.csv", "task", &cases);
}
