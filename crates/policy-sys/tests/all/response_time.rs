//! What was posted as "sched/fair/schedutil: Better manage system response time", and the half-life
//! of PELT: docs/rules/response-time.md. Values are worked from the posted formulas.
//!
//! What must stay: values are worked from the posted formulas or are of the postings named; they
//! change only with the page. It covers policy/src/load_tracking/approximate.c, util_est.c and
//! policy/src/frequency/response_time.c. Free: how helpers build a machine.
//! Tests by part: `a_utilisation_after_a_run` (`wp_approximate_util_avg`);
//! `the_way_to_a_utilisation` (`wp_approximate_runtime`); `what_fits_by_the_tick`
//! (`wp_fits_capacity_threshold`, `wp_fits_thresholds`); `headroom_by_growth`
//! (`wp_headroom_growth`); `response_time` (`wp_freq_response_ms`, `wp_apply_response_time`);
//! `an_estimate_grows_while_its_task_runs`, `an_estimate_falls_slower_by_the_multiplier`,
//! `a_periodic_task_keeps_its_estimate` (`wp_util_est_ramp`, `wp_util_est_fall`,
//! `wp_util_est_update_running`); `the_half_life_of_all_signals` (`wp_pelt_unit`);
//! `a_fast_estimate_for_the_frequency_alone` (`wp_util_est_faster`).
//! Helpers, and who fails with them: `ran`, `estimate` (`an_estimate_grows_while_its_task_runs`,
//! `an_estimate_falls_slower_by_the_multiplier`, `a_periodic_task_keeps_its_estimate`); `request`
//! (`headroom_by_growth`, `response_time`).
#![allow(
    unused_must_use,
    reason = "what an event leads to is not the point here"
)]

use crate::common;

use common::{NOW, core, freeze, hikey960, lone_cpu, machine};
use wakeplace_policy_sys::{
    Core, Task, approximate_runtime, approximate_util_avg, fits_capacity_threshold, sys,
};

const MS: u64 = 1_000_000;

const ERA: &str = "linux-7.3";

/// Goal: where a utilisation is after a run. Source:
/// docs/rules/response-time.md#approximate-numbers: from 200, 4000 us are three periods and 928:
/// the sum 200 x 46718 decays by three, the span adds 3867 x 1024, both by 47646.
#[test]
fn a_utilisation_after_a_run() {
    for (util, us, after) in [
        (0, 1000, 21),
        (0, 4000, 83),
        (200, 0, 200),
        (200, 1000, 217),
        (200, 4000, 266),
        (200, 10_000, 357),
        (500, 4000, 542),
        (800, 4000, 818),
        (1024, 4000, 1023),
    ] {
        assert_eq!(approximate_util_avg(util, us, 0), after, "{util} {us}");
    }
    assert_eq!(
        approximate_util_avg(200, 2000, 1),
        approximate_util_avg(200, 4000, 0)
    );
}

/// Goal: how long a run takes to a utilisation. Source: the ramp of
/// docs/rules/signals.md#pelt-vectors in steps of 1024 us; 8 ms to 160 and 323 ms to 1024 also in
/// D. Eggemann's reply of 16 September 2024 (3b19e52e-b223-4753-b81c-5b47c8d0cf97@arm.com).
#[test]
fn the_way_to_a_utilisation() {
    for (util, ms) in [
        (0, 0),
        (21, 1),
        (22, 2),
        (43, 2),
        (85, 4),
        (163, 8),
        (160, 8),
    ] {
        assert_eq!(approximate_runtime(util, 0), ms, "{util}");
    }
    for (util, ms) in [(300, 16), (512, 32), (768, 64), (1024, 323), (1025, 400)] {
        assert_eq!(approximate_runtime(util, 0), ms, "{util}");
    }
    for (half_life, ms) in [(0, 32), (1, 16), (2, 8)] {
        assert_eq!(approximate_runtime(512, half_life), ms);
    }
}

/// Goal: below which utilisation a task fits. Source: 83 for 160 at 4 ms: D. Eggemann's reply to
/// the series; others docs/rules/response-time.md#fits-by-tick-numbers. A tick of 10 ms is longer
/// than the way to 160.
#[test]
fn what_fits_by_the_tick() {
    for (capacity, tick_us, threshold) in [
        (160, 4000, 83),
        (160, 1000, 140),
        (462, 4000, 407),
        (1024, 4000, 1022),
        (160, 10_000, 1024),
    ] {
        let got = fits_capacity_threshold(capacity, tick_us, 0);
        assert_eq!(got, threshold, "{capacity} {tick_us}");
    }
    let core = core(&lone_cpu(462), ERA, &[("fits_by_tick", "on")]);
    assert_eq!(core.util_fits(406, 0, 1024, 0), 1);
    assert_eq!(core.util_fits(407, 0, 1024, 0), 0);
}

/// The operating point that a HiKey960's A73s are asked to run at, of 903, 1421, 1805, 2112 and
/// 2362 MHz: 1421 MHz up to a performance of 616.
fn request(util: u32, tasks: u32, settings: &[(&str, &str)]) -> u32 {
    let mut core = core(&machine(&hikey960()), ERA, settings);
    freeze(&mut core);
    core.cpu_mut(4).queue.nr_fair = tasks;
    core.cpu_mut(4).load.avg.util_avg = util;
    core.cpu_mut(4).load.nr_removed = 1;
    core.update_blocked(4, NOW);
    core.freq_request(1)
}

/// Goal: the headroom is what a tick of 4 ms, a slice of 2.8 ms among several tasks, or the rate
/// limit adds. Source: docs/rules/response-time.md#headroom-growth-numbers.
#[test]
fn headroom_by_growth() {
    let growth = ("freq_headroom_growth", "on");
    assert_eq!(request(500, 1, &[]), 2, "625");
    assert_eq!(request(500, 1, &[growth]), 1, "542");
    assert_eq!(request(590, 1, &[growth]), 2, "625 after a tick");
    assert_eq!(request(590, 2, &[growth]), 1, "614 after a slice");
    assert_eq!(request(524, 1, &[growth]), 1, "564");
    let slow = [growth, ("rate_limit_us", "10000")];
    assert_eq!(request(524, 1, &slow), 2, "619 after 10 ms");
    let none = [growth, ("freq_headroom", "off")];
    assert_eq!(request(616, 1, &none), 1);
}

/// Goal: the A73s reach 2362 MHz beyond 915, 104 ms from 0. In half of that the demand counts
/// twice, in twice that half. Source: docs/rules/response-time.md#response-time-ms-numbers.
#[test]
fn response_time() {
    assert_eq!(request(250, 1, &[("response_time_ms", "104")]), 0, "312");
    assert_eq!(request(250, 1, &[("response_time_ms", "52")]), 2, "625");
    assert_eq!(request(500, 1, &[("response_time_ms", "208")]), 0, "312");
    let both = [("response_time_ms", "52"), ("freq_headroom_growth", "on")];
    assert_eq!(request(250, 1, &both), 1, "542");
}

/// A task that has run from 0 for so many ticks, at half of the CPU's frequency.
fn ran(ticks: u64, settings: &[(&str, &str)]) -> (Core, Task) {
    let set: Vec<_> = [("post_init_util", "off"), ("governor", "performance")]
        .iter()
        .chain(settings)
        .copied()
        .collect();
    let mut core = core(&lone_cpu(1024), ERA, &set);
    core.cpu_mut(0).load.freq_scale = 512;
    let mut task = Task::new(1, 1024, 0, None, 1);
    core.exit_idle(0, NOW);
    core.task_init(&mut task);
    core.task_new(&mut task, 0, NOW);
    core.enqueue_new(&mut task, 0, NOW);
    core.set_current(&mut task, NOW);
    for tick in 1..=ticks {
        core.tick(&mut task, NOW + 4 * tick * MS);
    }
    (core, task)
}

fn estimate(task: &Task) -> u32 {
    task.raw().util_est & !sys::WP_UTIL_EST_UNCHANGED
}

/// Goal: the estimate grows by the time that passes, not by the speed of the CPU, and its queue
/// counts it. Source: docs/rules/response-time.md#util-est-rampup-numbers: 83 after a tick of 4 ms,
/// 159 after two; twice as fast 159 after one.
#[test]
fn an_estimate_grows_while_its_task_runs() {
    for mode in ["always", "rising"] {
        for (ticks, multiplier, est) in [(1, "1", 83), (2, "1", 159), (1, "2", 159), (2, "0", 0)] {
            let set = [("util_est_rampup", mode), ("rampup_multiplier", multiplier)];
            let (core, task) = ran(ticks, &set);
            assert_eq!(estimate(&task), est, "{mode} {ticks} x {multiplier}");
            assert_eq!(core.cpu(0).load.util_est, est, "{mode}");
        }
    }
    assert_eq!(estimate(&ran(2, &[]).1), 0);
}

/// Goal: at a sleep the estimate falls by a quarter of what it is above the utilisation, by the
/// multiplier slower. Source: docs/rules/response-time.md#util-est-rampup.
#[test]
fn an_estimate_falls_slower_by_the_multiplier() {
    for (multiplier, slower) in [("1", 1), ("3", 3)] {
        let set = [
            ("util_est_rampup", "rising"),
            ("rampup_multiplier", multiplier),
        ];
        let (mut core, mut task) = ran(5, &set);
        let before = estimate(&task);
        core.dequeue_sleep(&mut task, NOW + 22 * MS);
        let util = task.raw().avg.util_avg;
        assert!(before > util + 10, "{before} {util}");
        let after = (4 * before - (before - util) / slower) / 4;
        assert_eq!(estimate(&task), after, "x {multiplier}");
    }
}

/// Goal: a task whose utilisation is below that of its last sleep is in no transition. Source:
/// docs/rules/response-time.md#util-est-rampup, patch 9.
#[test]
fn a_periodic_task_keeps_its_estimate() {
    for (mode, grows) in [("rising", false), ("always", true)] {
        let (mut core, mut task) = ran(10, &[("util_est_rampup", mode)]);
        core.dequeue_sleep(&mut task, NOW + 41 * MS);
        core.enter_idle(0, NOW + 41 * MS);
        let before = estimate(&task);
        core.exit_idle(0, NOW + 71 * MS);
        core.enqueue_woken(&mut task, 0, NOW + 71 * MS);
        core.set_current(&mut task, NOW + 71 * MS);
        core.tick(&mut task, NOW + 75 * MS);
        assert!(task.raw().avg.util_avg < task.raw().util_dequeued);
        assert_eq!(estimate(&task) > before, grows, "{mode}");
    }
}

/// Goal: 16 x 1024 x 1024 ns in one update are 16, 32 or 64 periods. Source:
/// docs/rules/response-time.md#pelt-half-life; docs/rules/signals.md#pelt-segments: of 16 periods
/// 724 + 12960 = 13684, x 1024 / 46718 = 299; of 32 23359, 512; of 64 255 + 34784 = 35039, 768.
#[test]
fn the_half_life_of_all_signals() {
    for (half_life, util) in [("32ms", 299), ("16ms", 512), ("8ms", 768)] {
        let set = [("pelt_half_life", half_life), ("post_init_util", "off")];
        let mut core = core(&lone_cpu(1024), ERA, &set);
        let mut task = Task::new(1, 1024, 0, None, 1);
        core.exit_idle(0, 0);
        core.task_init(&mut task);
        core.task_new(&mut task, 0, 0);
        core.enqueue_new(&mut task, 0, 0);
        core.cpu_mut(0).load.freq_scale = 1024;
        core.set_current(&mut task, 0);
        core.tick(&mut task, 16 << 20);
        let got = (task.raw().avg.util_avg, core.cpu(0).load.avg.util_avg);
        assert_eq!(got, (util, util), "{half_life}");
    }
}

/// Goal: a fast estimate and the runnable boost for the frequency alone: what others take for the
/// CPU's utilisation stays 81. Source: docs/rules/signals.md#util-est-faster-numbers.
#[test]
fn a_fast_estimate_for_the_frequency_alone() {
    for (alone, others) in [("off", 158), ("on", 81)] {
        let set = [
            ("post_init_util", "off"),
            ("util_est", "off"),
            ("util_est_faster", "scaled"),
            ("util_est_faster_freq", alone),
        ];
        let mut core = core(&lone_cpu(1024), ERA, &set);
        freeze(&mut core);
        core.cpu_mut(0).load.freq_scale = 1024;
        let mut task = Task::new(1, 1024, 0, None, 1);
        core.exit_idle(0, NOW);
        core.task_init(&mut task);
        core.task_new(&mut task, 0, NOW);
        core.enqueue_new(&mut task, 0, NOW);
        core.set_current(&mut task, NOW);
        for ms in 1..=4 {
            core.tick(&mut task, NOW + ms * MS);
        }
        assert_eq!(core.perf_request(0), 158, "{alone}");
        assert_eq!(core.sched_cpu_util(0), others, "{alone}");
    }
}
