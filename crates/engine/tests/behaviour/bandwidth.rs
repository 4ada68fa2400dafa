//! Groups with budgets of run time, in each other, and idle ones (docs/rules/group-bandwidth.md).
//! Costs are off and ticks come every 4 ms: budgets are exact to the nanosecond that a CPU has
//! more. Under the forms to 6.17 (the group leaves its queue) and from 6.18 on (its tasks do).
//!
//! What must stay: times are the page's worked numbers, with costs off; both forms (to 6.17, from
//! 6.18 on) must give them.
//! Tests by part (in crates/engine/src): kernel/model/event.rs: `a_task_without_end_gets_its_quota`
//! (`GroupPeriod`); kernel/model/report.rs: `a_task_without_end_gets_its_quota` (`groups`);
//! kernel/model/bandwidth.rs: `a_request_beyond_the_quota_waits_for_the_next_period` (timers),
//! `cpus_get_slices_of_the_quota` (slices), `a_burst_lets_a_bursty_task_run_through` (bursts),
//! `a_group_in_a_group_has_no_more_than_either` (nesting); check/groups.rs:
//! `files_that_a_kernel_lacks_are_refused` (`check_group_files`, `GROUP_FILES`);
//! kernel/model/bandwidth.rs and groups.rs: `tasks_and_groups_share_at_any_level`,
//! `an_idle_group_gives_way`.
//! Helpers, and who fails with them: `policies`, `budget`, `ran` (most tests); `group`, `grouped`
//! (all tests); `near` (`a_task_without_end_gets_its_quota`,
//! `a_request_beyond_the_quota_waits_for_the_next_period`, `cpus_get_slices_of_the_quota`,
//! `a_burst_lets_a_bursty_task_run_through`).

use crate::common::*;
use wakeplace_engine::{RunReport, check};
use wakeplace_policy_sys::Policy;
use wakeplace_workload::{Bandwidth, Event, Loops, TaskGroup, TaskScript, Workload};

/// CFS and EEVDF that throttle the group, and both forms of 7.3.
const QUEUES: [(&str, &[(&str, &str)]); 4] = [
    ("linux-4.17", &[]),
    ("linux-6.12", &[]),
    ("linux-7.3", &[]),
    ("linux-7.3", &[("hrtick", "on")]),
];

/// Periods begin with the run.
const FIXED: [(&str, &str); 3] = [
    ("governor", "performance"),
    ("balance", "off"),
    ("group_timer_offset", "off"),
];

fn policies() -> Vec<Policy> {
    policies_of(&QUEUES, &FIXED)
}

fn budget(quota_ms: u64, period_ms: u64, burst_ms: u64) -> Option<Bandwidth> {
    let made = Bandwidth::new(quota_ms * MS, period_ms * MS, burst_ms * MS);
    Some(made.expect("a budget"))
}

fn group(name: &str, max: Option<Bandwidth>, tasks: &[u32]) -> TaskGroup {
    let mut group = TaskGroup::new(name);
    group.limits.bandwidth = max;
    group.tasks = tasks.to_vec();
    group
}

fn grouped(tasks: Vec<TaskScript>, groups: Vec<TaskGroup>) -> Workload {
    Workload {
        groups,
        ..workload(tasks, vec![])
    }
}

/// Runs for so long on so many CPUs.
fn ran(policy: &Policy, cpus: u32, load: &Workload, duration_ns: u64) -> RunReport {
    let platform = Board::symmetric(cpus).platform();
    simulate(&platform, policy, load, &all_off(duration_ns)).0
}

fn near(what: &str, policy: &Policy, got_ns: u64, expected_ms: u64) {
    let (name, expected) = (policy.name(), expected_ms * MS);
    assert!(
        got_ns.abs_diff(expected) <= 50 * US,
        "{name}: {what} {got_ns} ns, expected {expected_ms} ms"
    );
}

/// Source: docs/rules/group-bandwidth.md#numbers, 20 of 100 ms. The first period has 24 ms, since a
/// CPU begins with a nanosecond, all others 20. After 1050 ms the eleventh has had its 20, too. 76
/// ms and nine times 80 ms of the ten whole periods are spent throttled.
#[test]
fn a_task_without_end_gets_its_quota() {
    for policy in policies() {
        let load = grouped(
            vec![hog(None)],
            vec![group("pod", budget(20, 100, 0), &[0])],
        );
        let report = ran(&policy, 1, &load, 1050 * MS);
        near("ran", &policy, report.tasks[0].run_ns, 24 + 10 * 20);
        let [pod] = &report.groups[..] else {
            panic!("one group has a budget");
        };
        assert_eq!(
            (pod.nr_periods, pod.nr_throttled),
            (10, 10),
            "{}",
            policy.name()
        );
        near("throttled", &policy, pod.throttled_ns, 76 + 9 * 80);
        assert_eq!((pod.nr_bursts, pod.burst_ns), (0, 0));
    }
}

/// Source: docs/rules/group-bandwidth.md#numbers, a tenth of a CPU (100m) and a request of 15 ms:
/// 12 ms up to the tick at which the budget is 2 ms overdrawn, 88 ms of waiting, 3 ms more.
#[test]
fn a_request_beyond_the_quota_waits_for_the_next_period() {
    let request = script(
        Loops::Times(1),
        vec![phase(
            1,
            None,
            &[run_ms(15), Event::Sleep { duration_ns: S }],
        )],
    );
    for policy in policies() {
        let groups = vec![group("pod", budget(10, 100, 0), &[0])];
        let report = ran(
            &policy,
            1,
            &grouped(vec![request.clone()], groups),
            500 * MS,
        );
        near("ran", &policy, report.tasks[0].run_ns, 15);
        near("waited", &policy, report.tasks[0].wait_ns, 88);
    }
}

/// Source: docs/rules/group-bandwidth.md#numbers, two CPUs: each takes what it has run too long and
/// 5 ms. In the first period both run 12 ms; then CPU 0, which is throttled last, has 12 of 20.
#[test]
fn cpus_get_slices_of_the_quota() {
    for policy in policies() {
        let tasks = vec![hog(Some(&[0])), hog(Some(&[1]))];
        let load = grouped(tasks, vec![group("pod", budget(20, 100, 0), &[0, 1])]);
        let report = ran(&policy, 2, &load, 1000 * MS - 1);
        let both = report.tasks[0].run_ns + report.tasks[1].run_ns;
        near("both ran", &policy, both, 24 + 9 * 20);
        let more = report.tasks[0].run_ns.max(report.tasks[1].run_ns);
        near("one ran", &policy, more, 12 + 9 * 12);
    }
}

/// Source: docs/rules/group-bandwidth.md#burst: 35 ms of work in the second period. With a burst of
/// 20 ms the first period's quota is still there: 40 ms. What the group took beyond the quota is 40
/// - (4 + 20): of 40 the CPU has given 4 back. Without a burst the work ends a period later.
#[test]
fn a_burst_lets_a_bursty_task_run_through() {
    let sleeps = Event::Sleep {
        duration_ns: 104 * MS,
    };
    let work = script(
        Loops::Times(1),
        vec![phase(
            1,
            None,
            &[sleeps, run_ms(35), Event::Sleep { duration_ns: S }],
        )],
    );
    for (name, settings) in QUEUES.into_iter().skip(1) {
        let policy = policies_of(&[(name, settings)], &FIXED).swap_remove(0);
        for (burst, throttled) in [(0, 1), (20, 0)] {
            let groups = vec![group("pod", budget(20, 100, burst), &[0])];
            let report = ran(&policy, 1, &grouped(vec![work.clone()], groups), 450 * MS);
            let pod = &report.groups[0];
            assert_eq!(pod.nr_throttled, throttled, "{name}: burst of {burst} ms");
            assert_eq!(pod.nr_bursts, u64::from(burst > 0), "{name}");
            near(
                "burst",
                &policy,
                pod.burst_ns,
                if burst > 0 { 16 } else { 0 },
            );
            near("ran", &policy, report.tasks[0].run_ns, 35);
            assert_eq!(report.tasks[0].wait_ns > 50 * MS, burst == 0, "{name}");
        }
    }
}

/// Goal: a group in another has no more than either allows, and a task beside it in the outer group
/// has what it leaves. 30 of 100 ms around, 10 inside: 10 and 20. With 25 inside both share alike:
/// 15 each. Bound: a tick and a slice in each of ten periods.
#[test]
fn a_group_in_a_group_has_no_more_than_either() {
    for policy in policies() {
        for (inner, expected) in [(10, [100, 200]), (25, [150, 150])] {
            let outer = group("a", budget(30, 100, 0), &[1]);
            let mut inner = group("a/b", budget(inner, 100, 0), &[0]);
            inner.parent = Some(0);
            let load = grouped(vec![hog(None), hog(None)], vec![outer, inner]);
            let report = ran(&policy, 1, &load, 1000 * MS);
            let got = [0, 1].map(|task| report.tasks[task].run_ns / MS);
            let near = |task: usize| got[task].abs_diff(expected[task]) <= 24;
            assert!(near(0) && near(1), "{}: {got:?}", policy.name());
            assert!((300..=306).contains(&(got[0] + got[1])), "{got:?}");
        }
    }
}

/// Goal: tasks and groups are beside each other at any level. In a (1024) beside a task of the root
/// are a task and a/b with two tasks, 1024 each: half for the root's, a quarter for a's, an eighth
/// for each of a/b's. Bound: as in `groups`.
#[test]
fn tasks_and_groups_share_at_any_level() {
    for policy in policies() {
        let mut inner = group("a/b", None, &[2, 3]);
        inner.parent = Some(0);
        let tasks = vec![hog(None), hog(None), hog(None), hog(None)];
        let load = grouped(tasks, vec![group("a", None, &[1]), inner]);
        let report = ran(&policy, 1, &load, 4 * S);
        for (task, share_ms) in [(0, 2000), (1, 1000), (2, 500), (3, 500)] {
            let got = report.tasks[task].run_ns / MS;
            assert!(
                got.abs_diff(share_ms) <= 40,
                "{}: task {task} ran {got} ms",
                policy.name()
            );
        }
    }
}

/// Source: docs/rules/group-bandwidth.md#cpu-idle: a group with cpu.idle weighs 3, and gives way to
/// a task that wakes beside it: of 8 s a task of the root that runs 2 of every 8 ms waits for no
/// more than the tick of its beginning, though the idle group has two tasks without end.
#[test]
fn an_idle_group_gives_way() {
    let events = [
        run_ms(2),
        Event::Sleep {
            duration_ns: 6 * MS,
        },
    ];
    for (name, settings) in [
        ("linux-6.2", &[][..]),
        ("linux-6.12", &[]),
        ("linux-7.3", &[]),
    ] {
        let fixed = [&[("governor", "performance"), ("balance", "off")], settings].concat();
        let policy = policy(name, &fixed);
        let woken = script(Loops::Forever, vec![phase(1, None, &events)]);
        let tasks = vec![woken, hog(None), hog(None)];
        let mut background = group("background", None, &[1, 2]);
        background.limits.idle = true;
        let groups = vec![background.clone()];
        let report = ran(&policy, 1, &grouped(tasks.clone(), groups), 8 * S);
        let waited = report.tasks[0].wait_ns;
        assert!(waited <= 4 * MS, "{name}: {waited} ns");
    }
}

/// A kernel without the file refuses it, in one sentence.
#[test]
fn files_that_a_kernel_lacks_are_refused() {
    let platform = Board::symmetric(1).platform();
    let mut idle = group("pod", None, &[0]);
    idle.limits.idle = true;
    let mut hinted = group("pod", None, &[0]);
    hinted.limits.uclamp_max = Some(512);
    for (of, file) in [
        (
            group("pod", budget(20, 100, 20), &[0]),
            "cpu.max.burst (5.14)",
        ),
        (idle, "cpu.idle (5.15)"),
        (hinted, "cpu.uclamp.min and .max (5.4)"),
    ] {
        let load = grouped(vec![hog(None)], vec![of]);
        let refused = check(&platform, &policy("linux-5.0", &[]), &load, &all_off(S));
        let said = refused.expect_err("no such file").to_string();
        assert!(said.contains(file) && said.contains("`pod`"), "{said}");
        check(&platform, &policy("linux-7.3", &[]), &load, &all_off(S)).expect("it has it");
    }
}
