//! How long a task runs at a time: when a section ends, its average, what each version of sis-short
//! records. Source: docs/rules/short-wakes.md#dur-avg, docs/rules/short-wakes.md#short-versions,
//! docs/rules/short-wakes.md#section-numbers, docs/rules/short-wakes.md#dur-avg-series.
//!
//! What must stay: series and figures are those of the page and of tests/data/dur_avg_series.csv;
//! which version records when is its row of the page. It covers
//! policy/src/load_tracking/duration.c. Free: how helpers run a section.
//! Tests by part: `the_average_follows_the_reference_series`, `the_printed_numbers`,
//! `the_time_is_not_scaled` (`wp_dur_next`); `preemption_does_not_end_a_section`,
//! `moving_does_not_end_a_section`, `other_dequeues_are_no_samples`,
//! `a_delayed_sleep_is_one_sample`, `a_task_of_a_group_has_its_own` (`wp_dur_sleep`);
//! `other_classes_keep_the_last_fair_average`, `a_cpu_knows_its_running_task` (`wp_note_executing`,
//! `wp_note_current`); `before_v4_a_sleep_beside_others_is_no_sample`, `v1_counts_runs_and_sleeps`
//! (`wp_dur_sleep`, `wp_task_run`); `v2_takes_large_changes_only` (`wp_dur_coarse`);
//! `scaling_by_cpus` (`wp_get_update_sysctl_factor`).
//! Helpers, and who fails with them: `on`, `wake`, `start`, `execute`, `sleep`, `section`,
//! `average` (most tests, `moving_does_not_end_a_section` among them); `lone` (7 tests,
//! `the_printed_numbers` among them); `preempt` (`preemption_does_not_end_a_section`,
//! `moving_does_not_end_a_section`, `a_cpu_knows_its_running_task`); `series`
//! (`the_average_follows_the_reference_series`).
#![allow(missing_docs, reason = "not a library")]

use crate::common;

use common::{NOW, Table, core, lone_cpu, machine, policy, table};
use wakeplace_policy_sys::{ClassMove, ClassTask, Core, Task, scaling_factor, sys, time_bucket};

const US: u64 = 1_000;
const MS: u64 = 1_000 * US;

/// A task with the clock that its events follow.
struct Runner {
    core: Core,
    task: Task,
    now: u64,
}

impl Runner {
    /// On CPU 0 of a machine of `cpus` CPUs under one cache, idle.
    fn on(cpus: usize, name: &str, overrides: &[(&str, &str)]) -> Self {
        let mut facts = machine(&[common::cluster(cpus, 1024)]);
        facts.perf_domains.clear();
        let mut core = core(&facts, name, overrides);
        let mut task = Task::new(1, 1024, 0, None, cpus as u32);
        core.task_init(&mut task);
        core.task_new(&mut task, 0, NOW);
        Self {
            core,
            task,
            now: NOW,
        }
    }

    fn wake(&mut self) {
        let cpu = self.task.cpu();
        let _ = self.core.enqueue_woken(&mut self.task, cpu, self.now);
    }

    fn start(&mut self) {
        self.core.cpu_mut(self.task.cpu()).queue.curr_idle = 0;
        let _ = self.core.set_current(&mut self.task, self.now);
    }

    /// It executes so long, with ticks of 1 ms.
    fn execute(&mut self, ns: u64) {
        let end = self.now + ns;
        while self.now + MS < end {
            self.now += MS;
            let _ = self.core.tick(&mut self.task, self.now);
        }
        self.now = end;
    }

    /// It is put down and stays queued. No section ends here: `preemption_does_not_end_a_section`
    /// and `moving_does_not_end_a_section` rely on it. `a_cpu_knows_its_running_task` asks only
    /// whether the CPU has forgotten it.
    fn preempt(&mut self) {
        let _ = self.core.put_current(&mut self.task, self.now);
    }

    fn sleep(&mut self) {
        let _ = self.core.dequeue_sleep(&mut self.task, self.now);
    }

    /// One section without a break, and a sleep as long.
    fn section(&mut self, ns: u64) {
        self.wake();
        self.start();
        self.execute(ns);
        self.sleep();
        self.now += ns;
    }

    fn average(&self) -> u64 {
        self.task.raw().dur_avg_ns
    }
}

fn lone(version: &str) -> Runner {
    Runner::on(1, &format!("linux-6.2+sis-short={version}"), &[])
}

/// All rows of a series as (number, sample, average).
fn series(table: &Table, name: &str) -> Vec<(u64, u64, u64)> {
    let rows = table
        .rows
        .iter()
        .filter(|r| table.text(r, "series") == name);
    let number = |row: &[String], column: &str| table.number(row, column);
    rows.map(|r| {
        (
            number(r, "n"),
            number(r, "sample_ns"),
            number(r, "dur_avg_ns"),
        )
    })
    .collect()
}

/// Goal: the average of each series of docs/rules/short-wakes.md#dur-avg-series, sleep by sleep,
/// with the feature off and on. Source: docs/rules/short-wakes.md#dur-avg-series,
/// dur_avg_series.csv, docs/rules/short-wakes.md#short-switch ("recording is unconditional").
#[test]
fn the_average_follows_the_reference_series() {
    let table = table("dur_avg_series.csv");
    let names = [
        ("const_100us", 40),
        ("const_400us", 60),
        ("short_then_long", 66),
        ("long_then_short", 60),
        ("tiny_7ns", 5),
    ];
    let rows: usize = names.iter().map(|(_, rows)| rows).sum();
    assert_eq!(table.rows.len(), rows, "no other series");
    for name in [
        "linux-6.2",
        "linux-6.2+sis-short",
        "linux-7.3",
        "linux-4.17",
    ] {
        for (series_name, rows) in names {
            let mut runner = Runner::on(1, name, &[]);
            let series = series(&table, series_name);
            assert_eq!(series.len(), rows);
            for (n, sample, average) in series {
                runner.section(sample);
                assert_eq!(
                    runner.average(),
                    average,
                    "{name}: {series_name}, sleep {n}"
                );
            }
        }
    }
}

/// Goal: the numbers that the page prints. Source: docs/rules/short-wakes.md#dur-avg-series (all
/// columns), docs/rules/short-wakes.md#dur-avg.
#[test]
fn the_printed_numbers() {
    let printed = |sections: &[(u64, u64)], at: &[(u64, u64)]| {
        let mut runner = lone("v5");
        let all = sections.iter().flat_map(|(n, ns)| vec![*ns; *n as usize]);
        let mut found = Vec::new();
        for (n, ns) in (1..).zip(all) {
            runner.section(ns);
            if at.iter().any(|(wanted, _)| *wanted == n) {
                found.push((n, runner.average()));
            }
        }
        assert_eq!(found, at);
    };
    printed(
        &[(40, 100 * US)],
        &[
            (1, 12500),
            (2, 23437),
            (3, 33007),
            (4, 41381),
            (8, 65637),
            (16, 88191),
            (20, 93077),
            (21, 93942),
            (30, 98176),
            (31, 98404),
            (32, 98603),
            (36, 99179),
            (37, 99281),
        ],
    );
    // "short until its 20th sleep, from the 21st it is long"
    printed(
        &[(46, 400 * US)],
        &[(20, 372_314), (21, 375_774), (30, 392_713), (46, 399_136)],
    );
    // "one 2 ms section keeps the task short, the second makes it long; ten 100 us sections: at 46
    // it is still long, at 47 short"; 375303 - (375303 - 100000) / 8 = 340891
    printed(
        &[(30, 100 * US), (6, 2 * MS), (11, 100 * US)],
        &[
            (31, 335_904),
            (32, 543_916),
            (36, 1_146_469),
            (37, 1_015_661),
            (46, 375_303),
            (47, 340_891),
        ],
    );
    // "a brand-new 3 ms task is not short from its first sleep"; short again at its 16th
    printed(
        &[(20, 3 * MS), (26, 50 * US)],
        &[
            (1, 375_000),
            (20, 2_792_371),
            (21, 2_449_575),
            (30, 771_453),
            (31, 681_272),
            (36, 373_786),
            (37, 333_313),
            (46, 135_183),
        ],
    );
    printed(&[(5, 7)], &[(1, 0), (5, 0)]);
    printed(&[(1, 8)], &[(1, 1)]);
}

/// Goal: being preempted ends no section: 1 ms, preempted for 2 ms, 0.5 ms, sleep is one sample of
/// 1.5 ms; the next one of 0.1 ms gives 187500 + trunc(-87500 / 8) = 176563. Source:
/// docs/rules/short-wakes.md#section-numbers.
#[test]
fn preemption_does_not_end_a_section() {
    for version in ["v4", "v5", "v8"] {
        let mut runner = lone(version);
        runner.wake();
        runner.start();
        runner.execute(MS);
        runner.preempt();
        assert_eq!(runner.average(), 0);
        runner.now += 2 * MS;
        runner.start();
        runner.execute(500 * US);
        runner.sleep();
        assert_eq!(runner.average(), 187_500, "{version}");
        runner.now += 5 * MS;
        runner.section(100 * US);
        assert_eq!(runner.average(), 176_563, "{version}");
    }
}

/// Goal: a task that moves while it can run, by balancing or between two sleeps, has the same
/// sections; moving changes neither the average nor what a section has had. Source:
/// docs/rules/short-wakes.md#dur-avg, docs/rules/short-wakes.md#section-numbers.
#[test]
fn moving_does_not_end_a_section() {
    let mut runner = Runner::on(2, "linux-6.2+sis-short", &[]);
    runner.wake();
    runner.start();
    runner.execute(MS);
    runner.preempt();
    let before = (runner.average(), runner.task.raw().dur_start_ns);
    let _ = runner.core.dequeue_move(&mut runner.task, runner.now);
    let _ = (runner.core).migrate_queued(&mut runner.task, 1, runner.now);
    let _ = (runner.core).enqueue_moved(&mut runner.task, 1, runner.now);
    assert_eq!((runner.average(), runner.task.raw().dur_start_ns), before);
    runner.start();
    runner.execute(500 * US);
    runner.sleep();
    assert_eq!(runner.average(), 187_500);
    runner
        .core
        .migrate_sleeping(&mut runner.task, 0, runner.now);
    runner.now += 5 * MS;
    runner.section(100 * US);
    assert_eq!(runner.average(), 176_563);
}

/// Goal: a dequeue that is no sleep is no sample: a running task that is moved (its affinity
/// changed), and a change of nice. Source: docs/rules/short-wakes.md#dur-avg.
#[test]
fn other_dequeues_are_no_samples() {
    let mut runner = Runner::on(2, "linux-6.2+sis-short", &[]);
    runner.wake();
    runner.start();
    runner.execute(MS);
    let _ = runner.core.dequeue_move(&mut runner.task, runner.now);
    assert_eq!((runner.average(), runner.task.raw().sleeps), (0, 0));
    let _ = (runner.core).migrate_queued(&mut runner.task, 1, runner.now);
    let _ = (runner.core).enqueue_moved(&mut runner.task, 1, runner.now);
    runner.start();
    (runner.core).task_set_weight(&mut runner.task, 335, runner.now);
    assert_eq!(runner.average(), 0);
    runner.execute(500 * US);
    runner.sleep();
    assert_eq!(runner.average(), 187_500, "one sample of 1.5 ms");
}

/// Goal: the time is that of the task clock: a CPU at half speed makes the same work look twice as
/// long, and time of interrupts does not count. Source: docs/rules/short-wakes.md#dur-avg.
#[test]
fn the_time_is_not_scaled() {
    let mut core = core(&lone_cpu(512), "linux-6.2+sis-short", &[]);
    core.cpu_mut(0).load.freq_scale = 512;
    let mut task = Task::new(1, 1024, 0, None, 1);
    core.task_init(&mut task);
    core.task_new(&mut task, 0, NOW);
    let _ = core.enqueue_woken(&mut task, 0, NOW);
    let _ = core.set_current(&mut task, NOW);
    core.irq_time(0, 200 * US);
    let _ = core.dequeue_sleep(&mut task, NOW + MS);
    assert_eq!(task.raw().dur_avg_ns, 100_000, "(1 ms - 0.2 ms) / 8");
}

/// Goal: a sleeper that its queue keeps has slept when it was put off, not when its queue lets it
/// go. Source: docs/rules/short-wakes.md#dur-avg (delayed dequeue).
#[test]
fn a_delayed_sleep_is_one_sample() {
    let mut runner = Runner::on(1, "linux-7.3+sis-short", &[]);
    runner.wake();
    runner.start();
    runner.execute(800 * US);
    let _ = runner.core.dequeue_delay(&mut runner.task, runner.now);
    assert_eq!(runner.average(), 100_000);
    runner.now += 5 * MS;
    let _ = (runner.core).dequeue_delayed(&mut runner.task, runner.now);
    assert_eq!((runner.average(), runner.task.raw().sleeps), (100_000, 1));
    runner.now += 5 * MS;
    runner.section(800 * US);
    assert_eq!(runner.average(), 187_500, "100000 + 700000 / 8");
    // woken while it is kept
    runner.wake();
    runner.start();
    runner.execute(100 * US);
    let _ = runner.core.dequeue_delay(&mut runner.task, runner.now);
    assert_eq!(runner.average(), 176_563);
    runner.wake();
    runner.start();
    runner.execute(176_563);
    runner.sleep();
    assert_eq!(runner.average(), 176_563);
}

/// Goal: each task has its own average, though it is in a group. Source:
/// docs/rules/short-wakes.md#short-pitfalls ("per task, not per group entity").
#[test]
fn a_task_of_a_group_has_its_own() {
    let mut core = core(&lone_cpu(1024), "linux-6.2+sis-short", &[]);
    let group = core.add_group(1024);
    let mut now = NOW;
    let mut tasks: Vec<Task> = (1..=2).map(|id| Task::new(id, 1024, 0, None, 1)).collect();
    for (task, ns) in tasks.iter_mut().zip([800 * US, 80 * US]) {
        core.task_init(task);
        task.set_group(Some(group));
        core.task_new(task, 0, now);
        let _ = core.enqueue_new(task, 0, now);
        let _ = core.set_current(task, now);
        assert_eq!(core.cpu(0).queue.curr_id, task.raw().id);
        now += ns;
        let _ = core.dequeue_sleep(task, now);
    }
    let averages: Vec<_> = tasks.iter().map(|t| t.raw().dur_avg_ns).collect();
    assert_eq!(averages, [100_000, 10_000]);
}

/// Goal: time that a task ran above the fair class is no section, and such a task is known to the
/// wake-ups of its CPU by its last fair average. Source: docs/rules/short-wakes.md#short-pitfalls
/// (RT and deadline tasks as `curr`).
#[test]
fn other_classes_keep_the_last_fair_average() {
    let mut runner = lone("v5");
    runner.section(800 * US);
    let mut class = ClassTask::rt(50);
    let _ = (runner.core).class_join(&mut runner.task, &mut class, runner.now, ClassMove::Sleep);
    let _ = (runner.core).class_run(&mut runner.task, &class, runner.now);
    let c = runner.core.cpu(0);
    assert_eq!((c.queue.curr_id, c.queue.curr_dur_ns), (1, 100_000));
    runner.now += MS;
    let _ = (runner.core).class_leave(&mut runner.task, &mut class, runner.now, ClassMove::Sleep);
    assert_eq!(
        (runner.average(), runner.core.cpu(0).queue.curr_id),
        (100_000, 0)
    );
}

/// Goal: what a CPU knows of the task that executes there: its average and history from its start
/// on, nothing once it has stopped. Source: docs/rules/short-wakes.md#hunk-a,
/// docs/rules/short-wakes.md#hunk-b (In: running task of the target).
#[test]
fn a_cpu_knows_its_running_task() {
    let mut runner = lone("v5");
    runner.section(800 * US);
    runner.wake();
    assert_eq!(
        runner.core.cpu(0).queue.curr_id,
        0,
        "queued, not yet running"
    );
    runner.start();
    let c = runner.core.cpu(0);
    let known = (
        c.queue.curr_id,
        c.queue.curr_dur_ns,
        c.queue.curr_exec_ns,
        c.queue.curr_sleeps,
    );
    assert_eq!(known, (1, 100_000, 800 * US, 1));
    runner.preempt();
    assert_eq!(runner.core.cpu(0).queue.curr_id, 0);
    runner.start();
    runner.sleep();
    assert_eq!(runner.core.cpu(0).queue.curr_id, 0);
}

// ------------------------------------------------------------------------------- other versions

/// Goal: v2 and v3 record where a task is put, which the pick of the next fair task skips: with
/// another one queued there is no sample, and what was run joins the next section. v4 moved it.
/// Source: docs/rules/short-wakes.md#short-versions (v3, v4), docs/decisions/028.
#[test]
fn before_v4_a_sleep_beside_others_is_no_sample() {
    for (version, first, second) in [
        ("v3", 0, 200_000), // 800 us + 800 us, by 8
        ("v4", 100_000, 187_500),
        ("v5", 100_000, 187_500),
    ] {
        let mut runner = lone(version);
        let mut other = Task::new(2, 1024, 0, None, 1);
        runner.core.task_init(&mut other);
        let _ = runner.core.enqueue_new(&mut other, 0, runner.now);
        runner.section(800 * US);
        assert_eq!(runner.average(), first, "{version}");
        let _ = runner.core.dequeue_sleep(&mut other, runner.now);
        runner.section(800 * US);
        assert_eq!(runner.average(), second, "{version}");
    }
}

/// Goal: v2's average takes no change below one granularity (0.75 ms on one CPU), and a section of
/// nothing ends it. Source: docs/decisions/028; by hand: 749999 stays 0, 750000 / 8 = 93750; then
/// 843749 differs by 749999, 843750 by 750000: 93750 + 93750.
#[test]
fn v2_takes_large_changes_only() {
    for (second, average) in [(843_749, 93_750), (843_750, 187_500)] {
        let mut runner = lone("v2");
        runner.section(749_999);
        assert_eq!(runner.average(), 0);
        runner.section(750_000);
        assert_eq!(runner.average(), 93_750);
        runner.section(second);
        assert_eq!(runner.average(), average);
    }
    let mut runner = lone("v2");
    (0..60).for_each(|_| runner.section(10 * MS));
    assert!(runner.average() > 9 * MS);
    runner.section(0);
    assert_eq!(runner.average(), 0);
}

/// Goal: v1 needs all that a task ran and how often it slept; both count from its birth. Source:
/// docs/rules/short-wakes.md#short-versions (v1).
#[test]
fn v1_counts_runs_and_sleeps() {
    let mut runner = lone("v1");
    for ns in [800 * US, 100 * US, 2 * MS] {
        runner.section(ns);
    }
    let t = runner.task.raw();
    assert_eq!((t.exec_ns, t.sleeps), (2_900_000, 3));
}

// ------------------------------------------------------------------------------- granularity

/// Goal: the factors of the granularity by CPUs: none, log, linear, counted up to 8. Source:
/// docs/rules/short-wakes.md#is-short, table: 0.75 ms times these are its columns.
#[test]
fn scaling_by_cpus() {
    for (cpus, log, linear) in [
        (1, 1, 1),
        (2, 2, 2),
        (3, 2, 3),
        (4, 3, 4),
        (7, 3, 7),
        (8, 4, 8),
    ] {
        assert_eq!(scaling_factor(sys::WP_SCALING_NONE, cpus), 1);
        assert_eq!(scaling_factor(sys::WP_SCALING_LOG, cpus), log, "{cpus}");
        assert_eq!(
            scaling_factor(sys::WP_SCALING_LINEAR, cpus),
            linear,
            "{cpus}"
        );
    }
    assert_eq!(scaling_factor(sys::WP_SCALING_LOG, 224), 4);
    assert_eq!(scaling_factor(sys::WP_SCALING_LINEAR, 1024), 8);
    let eras = policy("linux-6.2", &[]);
    assert_eq!(eras.core_params().tunable_scaling, sys::WP_SCALING_LOG);
}

// ------------------------------------------------------------------------------- histograms

/// Goal: the buckets of the live scheduler's histograms. By hand: one for each of 0 to 3 ns; from
/// 4 ns on four quarters of each power of two: 4 to 7 are 4 to 7, 8 and 9 are 8, 14 and 15 are 11;
/// 1024 is the first of the ninth power from 4 on: 4 + 8 * 4; the last of 64 bits is 4 + 61 * 4 +
/// 3.
#[test]
fn buckets_of_times() {
    for (ns, bucket) in [
        (0, 0),
        (3, 3),
        (4, 4),
        (7, 7),
        (8, 8),
        (9, 8),
        (10, 9),
        (14, 11),
        (15, 11),
        (16, 12),
        (1023, 35),
        (1024, 36),
        (u64::MAX, 251),
    ] {
        assert_eq!(time_bucket(ns), bucket, "{ns} ns");
    }
}
