//! Urgency: how much of its period a task needs, and how much of the waiting counts for it. Source:
//! docs/rules/energy-idle.md#urgency, docs/rules/energy-idle.md#urgency-numbers.
//!
//! What must stay: figures are those of the page, worked out there by hand. It covers
//! policy/src/load_tracking/urgency.c. Free: how helpers run a period.
//! Tests by part: `a_task_that_waits_is_urgent` (`wp_urgency_wake`, `wp_urgency_sleep`);
//! `steps_between_the_limits` (`wp_urgency_step`); `a_queue_has_its_most_urgent`
//! (`wp_urgency_enqueue`, `wp_urgency_dequeue`); `the_frequency_follows_the_steps`
//! (`wp_rq_urgency`); `the_waiting_task_counts_too` (`wp_task_urgency`);
//! `all_counts_without_limits` (`wp_urgency_counts`); `a_pulled_task_counts_no_more`
//! (`wp_migrate_pulled`).
//! Helpers, and who fails with them: `on`, `task`, `period` (all tests); `settle`,
//! `counts` (`steps_between_the_limits`, `a_queue_has_its_most_urgent`); `adds`
//! (`the_waiting_task_counts_too`).
#![allow(missing_docs, reason = "not a library")]

use crate::common;

use common::{NOW, ask, core, freeze, hikey960, machine, sleeper};
use wakeplace_policy_sys::{Core, PlaceKind, Task};

const MS: u64 = 1_000_000;
const PERIOD: u64 = 16 * MS;
const LIMITS: &[(&str, &str)] = &[
    ("boost_urgency_low_pct", "50"),
    ("boost_urgency_high_pct", "90"),
];

/// Two CPUs under one cache.
fn on(overrides: &[(&str, &str)]) -> Core {
    let mut facts = machine(&[common::cluster(2, 1024)]);
    facts.perf_domains.clear();
    core(&facts, "linux-7.3", overrides)
}

/// A task that has not yet run, on CPU 0.
fn task(core: &mut Core, id: u32) -> Task {
    let mut task = Task::new(id, 1024, 0, None, 2);
    core.task_init(&mut task);
    core.task_new(&mut task, 0, NOW);
    task
}

/// Period `number` of the task: it wakes, and sleeps so long after.
fn period(core: &mut Core, task: &mut Task, number: u64, needs_ns: u64) {
    let now = NOW + number * PERIOD;
    let _ = core.enqueue_woken(task, 0, now);
    let _ = core.dequeue_sleep(task, now + needs_ns);
}

/// The task's urgency is the share that `needs_ns` is of a period. Returns when it wakes next.
fn settle(core: &mut Core, task: &mut Task, first: u64, needs_ns: u64) -> u64 {
    for number in first..first + 40 {
        period(core, task, number, needs_ns);
    }
    NOW + (first + 40) * PERIOD
}

/// How many tasks CPU 0 counts in each step.
fn counts(core: &Core) -> [u32; 4] {
    core.cpu(0).queue.nr_urgent
}

#[test]
fn a_task_that_waits_is_urgent() {
    let mut core = on(LIMITS);
    let mut task = task(&mut core, 1);
    period(&mut core, &mut task, 1, 4 * MS);
    assert_eq!((task.raw().period_ns, task.raw().urgency), (0, 1024));
    // 4 ms of 16 are 256 of 1024: 1024 - 768 / 4, then 832 - 576 / 4; 12 ms are 768, at once; then
    // 768 - 512 / 4
    for (number, needs, urgency) in [(2, 4, 832), (3, 4, 688), (4, 12, 768), (5, 4, 640)] {
        period(&mut core, &mut task, number, needs * MS);
        assert_eq!(task.raw().period_ns, PERIOD, "period {number}");
        assert_eq!(task.raw().urgency, urgency, "period {number}");
    }
    // a period is over before it slept: all of it
    period(&mut core, &mut task, 6, 40 * MS);
    assert_eq!(task.raw().urgency, 1024);
}

#[test]
fn steps_between_the_limits() {
    let mut core = on(LIMITS);
    // time from wake-up to sleep, ms, and the step with limits of 50 and 90 %
    let steps = [(4, 0), (8, 0), (10, 1), (12, 2), (13, 3), (15, 4)];
    for (id, (needs, step)) in (1..).zip(steps) {
        let mut task = task(&mut core, id);
        let now = settle(&mut core, &mut task, 50 * u64::from(id), needs * MS);
        let _ = core.enqueue_woken(&mut task, 0, now);
        assert_eq!(task.raw().urgency_counted, step, "{needs} ms of 16");
    }
    assert_eq!(counts(&core), [1, 1, 1, 1]);
}

#[test]
fn a_queue_has_its_most_urgent() {
    let mut core = on(LIMITS);
    let (mut calm, mut new) = (task(&mut core, 1), task(&mut core, 2));
    let now = settle(&mut core, &mut calm, 1, MS);
    let _ = core.enqueue_woken(&mut calm, 0, now);
    assert_eq!(counts(&core), [0, 0, 0, 0]);
    // a task without a period counts whole, until it sleeps
    let _ = core.enqueue_woken(&mut new, 0, now);
    assert_eq!(counts(&core), [0, 0, 0, 1]);
    let _ = core.dequeue_sleep(&mut new, now + MS);
    assert_eq!(counts(&core), [0, 0, 0, 0]);
}

/// Utilisation 100, runnable average 300, half of the difference: 150 with two of four steps, 200
/// with all of them.
#[test]
fn the_frequency_follows_the_steps() {
    for (needs, demand) in [(4, 100), (12, 150), (15, 200)] {
        let mut core = on(&[LIMITS, &[("runnable_boost_pct", "50")]].concat());
        let mut task = task(&mut core, 1);
        let now = settle(&mut core, &mut task, 1, needs * MS);
        let _ = core.enqueue_woken(&mut task, 0, now);
        let load = &mut core.cpu_mut(0).load;
        (load.avg.util_avg, load.avg.runnable_avg, load.util_est) = (100, 300, 0);
        assert_eq!(core.perf_request(0), demand, "{needs} ms of 16");
    }
}

/// What a task of 43 with this urgency adds on CPU 0 of a hikey960, where 100 is utilised and 300
/// runnable without it.
fn adds(urgency: u32) -> u64 {
    let mut core = core(
        &machine(&hikey960()),
        "linux-7.3",
        &[LIMITS, &[("runnable_boost_pct", "50")]].concat(),
    );
    freeze(&mut core);
    let mut task = sleeper(&mut core, 1, 0, 43, 43);
    (task.raw_mut().period_ns, task.raw_mut().urgency) = (PERIOD, urgency);
    let avg = &mut core.cpu_mut(0).load.avg;
    (avg.util_avg, avg.runnable_avg) = (143, 300 + task.raw().avg.runnable_avg);
    core.cpu_mut(0).queue.curr_idle = 0;
    let wake = ask(PlaceKind::Wake, 0, 0);
    core.explain(&mut [task], 0, None, &wake).candidates[0]
        .energy
        .unwrap_or_default()
}

/// States and costs of docs/rules/energy-numbers.md#hikey960-decisions: 133 costs 2160, 250 costs
/// 2813, 351 costs 3558. Nothing of the queue is urgent, so without the task headroom(100) = 125,
/// state 133. With a task that is not urgent headroom(143) = 178, state 250. With one that is, half
/// of the waiting is added, 78 or more: headroom(221) = 276, state 351.
#[test]
fn the_waiting_task_counts_too() {
    assert_eq!(adds(0), 2813 * 143 - 2160 * 100);
    assert_eq!(adds(1024), 3558 * 143 - 2160 * 100);
}

#[test]
fn all_counts_without_limits() {
    let mut core = on(&[]);
    let mut task = task(&mut core, 1);
    period(&mut core, &mut task, 1, MS);
    period(&mut core, &mut task, 2, MS);
    assert_eq!((task.raw().woken_ns, task.raw().urgency), (0, 0));
    assert_eq!(counts(&core), [0, 0, 0, 0]);
}

#[test]
fn a_pulled_task_counts_no_more() {
    let mut core = on(LIMITS);
    let mut task = task(&mut core, 1);
    let _ = core.enqueue_woken(&mut task, 0, NOW);
    assert_eq!(counts(&core), [0, 0, 0, 1]);
    core.migrate_pulled(&mut task, 1);
    assert_eq!(counts(&core), [0, 0, 0, 0]);
    assert_eq!(task.raw().urgency_counted, 0);
}
