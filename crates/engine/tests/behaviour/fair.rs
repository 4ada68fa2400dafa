//! The fair queue (docs/rules/queues.md#cfs): shares, preemption, sleepers. Costs are off: shares
//! are exact.
//!
//! What must stay: shares are weights' arithmetic, to a slice and a tick; constants are the page's.
//! The queue itself is crates/kernel-queues/src/cfs. Free: lengths of runs, names of tasks, and how
//! helpers are built.
//! Tests by part (in crates/engine/src): kernel/model/task.rs:
//! `nice_0_and_nice_5_share_1024_to_335` (`core_task`); kernel/model/home/any.rs:
//! `three_hogs_share_equally` (`Kernel`); kernel/model/home/mod.rs:
//! `wakeups_preempt_beyond_the_granularity_only` (`wakeup_preempt`),
//! `new_tasks_start_a_slice_behind` (`task_fork`); kernel/model/queues.rs:
//! `wakeups_preempt_beyond_the_granularity_only` (`preempts`); kernel/model/home/kernel.rs with
//! crates/kernel-queues/src/cfs: `nice_0_and_nice_5_over_1359_ms`,
//! `a_light_sleeper_is_served_at_once`, `sleeper_credit_is_bounded`, `forty_hogs_share_one_cpu`.
//! Helpers, and who fails with them: `on_cpu_0` (`nice_0_and_nice_5_share_1024_to_335`,
//! `nice_0_and_nice_5_over_1359_ms` and 3 more); `sleeper_latencies`
//! (`wakeups_preempt_beyond_the_granularity_only`).

use crate::common::*;
use wakeplace_engine::RunReport;
use wakeplace_workload::{Event, Loops, TaskScript, Timer, TimerMode};

/// Runs the tasks on CPU 0 of a board, under CFS.
fn on_cpu_0(tasks: Vec<TaskScript>, board: &Board, duration: u64) -> (RunReport, Log) {
    let pin = |t| TaskScript {
        cpus: Some(vec![0]),
        ..t
    };
    let load = workload(tasks.into_iter().map(pin).collect(), vec![]);
    simulate(&board.platform(), &performance(), &load, &all_off(duration))
}

/// Goal: weights decide. Source: docs/rules/queues.md#cfs-numbers: nice 0 and 5 for 1359 ms get
/// 1024 : 335 ms, to a tick. Method: 8 CPUs, for the slices of the check (18083885 and 5916114 ns),
/// both pinned; HZ 1000 and
/// 250. A period of 24 ms does not divide 1359 ms: the longer slice, in virtual time, is the most
/// that one can be ahead of the other, besides the tick.
#[test]
fn nice_0_and_nice_5_share_1024_to_335() {
    for tick_hz in [250, 1000] {
        let board = Board {
            tick_hz,
            ..Board::symmetric(8)
        };
        let tick = S / u64::from(tick_hz);
        let nice = |nice| TaskScript { nice, ..hog(None) };
        let (_, log) = on_cpu_0(vec![nice(0), nice(5)], &board, 20 * S);
        // Over many periods the shares meet the weights to one slice and a tick.
        let (from, to) = (S, S + 13_590 * MS);
        let heavy = log.ran(0, from, to, |_| true);
        let light = log.ran(1, from, to, |_| true);
        assert_eq!(heavy + light, to - from);
        let slice = 5_916_114;
        assert!(
            heavy.abs_diff(10_240 * MS) <= slice + tick,
            "{heavy} : {light} at HZ {tick_hz}"
        );
        // No stretch is longer than its slice, the tick that ends it, and the tick by which the
        // other had overrun its own.
        for (task, slice) in [(0, 18_083_885), (1, 5_916_114)] {
            let longest = log.stretches(task).iter().map(|s| s.to - s.from).max();
            assert!(
                longest.unwrap() <= slice + 2 * tick,
                "task {task}: {longest:?}"
            );
        }
    }
}

/// The same check in its own words: 1359 ms from the start, to a tick, on one CPU, whose slices
/// (4.5 and 1.5 ms) are short enough for that at HZ 1000.
#[test]
fn nice_0_and_nice_5_over_1359_ms() {
    let board = Board {
        tick_hz: 1000,
        ..Board::symmetric(1)
    };
    let nice = |nice| TaskScript { nice, ..hog(None) };
    let (report, _) = on_cpu_0(vec![nice(0), nice(5)], &board, 1359 * MS + US);
    let ran = |task: usize| report.tasks[task].run_ns;
    assert_eq!(ran(0) + ran(1), 1359 * MS);
    assert!(
        ran(0).abs_diff(1024 * MS) <= 2 * MS,
        "{} : {}",
        ran(0),
        ran(1)
    );
}

/// Goal: equal tasks share equally at any time, to a slice (8 ms on 8 CPUs) and a tick.
#[test]
fn three_hogs_share_equally() {
    let hogs = vec![hog(None), hog(None), hog(None)];
    let (report, log) = on_cpu_0(hogs, &Board::symmetric(8), 6 * S);
    for until in [S, 2 * S, 3 * S, 6 * S] {
        for task in 0..3 {
            let ran = log.ran(task, 0, until, |_| true);
            assert!(
                ran.abs_diff(until / 3) <= 12 * MS,
                "task {task}: {ran} of {until}"
            );
        }
    }
    // Together they use the CPU and wait the rest.
    let total: u64 = report.tasks.iter().map(|t| t.run_ns).sum();
    let waited: u64 = report.tasks.iter().map(|t| t.wait_ns).sum();
    assert_eq!(total, 6 * S - US);
    assert_eq!(waited, 2 * total);
    // At a stretch each waits for the slices of the other two, each of them 8 ms and up to a tick.
    for totals in &report.tasks {
        let longest = totals.longest_wait_ns;
        assert!((16 * MS..=24 * MS).contains(&longest), "{longest}");
    }
}

/// A hog and a task that sleeps 100 ms and runs 1 ms, on one CPU; the sleeper's latencies.
fn sleeper_latencies(granularity_ns: u64) -> Vec<u64> {
    let sleeper = script(
        Loops::Forever,
        vec![phase(1, None, &[sleep_ms(103), run_ms(1)])],
    );
    let policy = policy(
        "linux-4.17",
        &[
            ("governor", "performance"),
            ("wakeup_granularity_ns", &granularity_ns.to_string()),
        ],
    );
    let load = workload(vec![hog(None), sleeper], vec![]);
    let platform = Board::symmetric(1).platform();
    let (_, log) = simulate(&platform, &policy, &load, &all_off(2 * S));
    log.latencies(1).iter().map(|(_, (_, ns))| *ns).collect()
}

/// Goal: a woken task preempts only beyond the granularity. Source: docs/rules/queues.md#cfs: a
/// sleeper is placed half a latency behind the floor (on one CPU 3 ms); it preempts if that exceeds
/// the granularity. Not preempting, it waits for a tick at which the hog is 3 ms (its slice) ahead.
#[test]
fn wakeups_preempt_beyond_the_granularity_only() {
    let at_once = sleeper_latencies(3 * MS - 1);
    assert!(at_once.len() >= 15);
    assert!(at_once.iter().all(|ns| *ns == 0), "{at_once:?}");
    let waits = sleeper_latencies(3 * MS);
    assert!(waits.len() >= 15);
    assert!(waits.iter().any(|ns| *ns > 0), "{waits:?}");
    // The next tick finds the hog beyond its slice since it was picked.
    assert!(waits.iter().all(|ns| *ns <= 8 * MS), "{waits:?}");
}

/// Goal: a light task is not starved by hogs: 5 % of the CPU against three hogs is less than its
/// share, so it always has credit and starts the moment it is due (on 8 CPUs credit 12 ms,
/// granularity 4 ms).
#[test]
fn a_light_sleeper_is_served_at_once() {
    let timer = Timer {
        name: "unique".into(),
        mode: TimerMode::Absolute,
        start_delay_ns: 0,
    };
    let wait = Event::Timer {
        timer: 0,
        period_ns: 20 * MS,
    };
    let cpus = Some(&[0][..]);
    let light = TaskScript {
        cpus: Some(vec![0]),
        ..script(Loops::Forever, vec![phase(1, None, &[run_ms(1), wait])])
    };
    let load = workload(vec![hog(cpus), hog(cpus), hog(cpus), light], vec![timer]);
    let platform = Board::symmetric(8).platform();
    let (report, log) = simulate(&platform, &performance(), &load, &all_off(2 * S));
    let late = log.latencies(3);
    assert!(late.len() >= 95);
    // The first ones pay for the start debit of a new task.
    let after: Vec<_> = late.iter().filter(|(at, _)| *at > 200 * MS).collect();
    assert!(after.iter().all(|(_, (_, ns))| *ns == 0), "{after:?}");
    assert!(report.tasks[3].run_ns >= 95 * MS);
}

/// Goal: sleeping earns at most half a latency (docs/rules/queues.md#cfs, GENTLE_FAIR_SLEEPERS).
/// Method: a task that slept a second becomes a hog beside a hog. It may be ahead by the credit of
/// 3 ms at most, and by its slice of 3 ms and a tick more; then both share.
#[test]
fn sleeper_credit_is_bounded() {
    let late = script(
        Loops::Forever,
        vec![phase(1, None, &[sleep_ms(1000), run_ms(1_000_000)])],
    );
    let (_, log) = on_cpu_0(vec![hog(None), late], &Board::symmetric(1), 2 * S);
    let woke = log.latencies(1).last().expect("it woke").0;
    let share = |ms: u64| log.ran(1, woke, woke + ms * MS, |_| true);
    let first = log
        .stretches(1)
        .into_iter()
        .find(|s| s.from >= woke)
        .unwrap();
    assert!(first.to - first.from <= 10 * MS, "{first:?}");
    for ms in [100, 400, 900] {
        let ahead = share(ms).saturating_sub(ms * MS / 2);
        assert!(ahead <= 3 * MS / 2 + 7 * MS, "{ahead} ahead after {ms} ms");
    }
}

/// Goal: many tasks on one CPU share it, too, and nobody's time is lost. The first new task starts
/// a slice of 12 ms behind, the last one 3 ms (START_DEBIT); then slices of 3 ms end at ticks.
#[test]
fn forty_hogs_share_one_cpu() {
    let hogs = (0..40).map(|_| hog(None)).collect();
    let (report, _) = on_cpu_0(hogs, &Board::symmetric(8), 10 * S);
    for (task, totals) in report.tasks.iter().enumerate() {
        assert!(
            totals.run_ns.abs_diff(250 * MS) <= (12 + 3 + 4) * MS,
            "task {task}: {}",
            totals.run_ns
        );
        assert_eq!(totals.run_ns + totals.wait_ns, 10 * S - US);
    }
}

/// Goal: a new task starts one slice behind (START_DEBIT, docs/rules/queues.md#cfs). Method: one
/// CPU, two hogs born at once: the first beside the parent gets a slice of 6 / 2 ms, the second 6 /
/// 3 ms, so the second goes first; without the debit they are equal and the first does.
#[test]
fn new_tasks_start_a_slice_behind() {
    for (debit, first) in [("on", 1), ("off", 0)] {
        let policy = policy(
            "linux-4.17",
            &[("governor", "performance"), ("start_debit", debit)],
        );
        let load = workload(vec![hog(None), hog(None)], vec![]);
        let platform = Board::symmetric(1).platform();
        let (_, log) = simulate(&platform, &policy, &load, &all_off(100 * MS));
        let starts = |task| log.stretches(task)[0].from;
        assert!(starts(first) < starts(1 - first), "debit {debit}");
    }
}
