//! Power-aware placement and balancing from end to end: docs/rules/power-policy.md#power-acceptance
//! (acceptance), P12 to P18.
//!
//! What must stay: numbers of cores and sockets are those of the acceptance list; the rule itself
//! is crates/policy-sys/tests/all/power_policy.rs.
//! Tests by part (in crates/engine/src): kernel/model/interface.rs:
//! `a_change_in_mid_run_moves_tasks_in_time` (`PolicyChange`); kernel/model/mod.rs:
//! `a_change_in_mid_run_moves_tasks_in_time` (`policies`); policy_change.rs:
//! `a_thousand_random_changes_lose_no_task` (many changes), `what_is_built_cannot_change`
//! (`check`); policy/src/packing in a run: all others.
//! Helpers, and who fails with them: `power`, `checked`, `hogs`, `used` (most tests); `packages` (5
//! tests); `loops` (`loops_that_begin_apart_are_packed`, `hogs_on_two_sockets`,
//! `a_change_in_mid_run_moves_tasks_in_time`); `rhythm` (`performance_changes_nothing`,
//! `light_tasks_leave_nodes_alone`, `lazy_balancing_moves_less`); `cores`
//! (`hogs_on_one_socket_of_four_cores`, `loops_that_begin_apart_are_packed`,
//! `a_change_in_mid_run_moves_tasks_in_time`); `count` (`a_burst_of_forks_stays_at_home`); `change`
//! (`a_change_in_mid_run_moves_tasks_in_time`, `a_thousand_random_changes_lose_no_task`).

use crate::common::checker::check_log;
use crate::common::*;
use std::collections::BTreeSet;
use wakeplace_engine::{Options, PolicyChange, RunReport};
use wakeplace_platform::Platform;
use wakeplace_policy_sys::{Policy, Reason};
use wakeplace_workload::{Event, LoadOptions, Loops, MachineFacts, Spec, TaskScript};

const NAMES: [&str; 3] = ["performance", "balance", "powersaving"];

fn power(name: &str) -> Policy {
    policy(&format!("linux-3.8+power-policy={name}"), &[])
}

fn checked(
    platform: &Platform,
    policy: &Policy,
    tasks: Vec<TaskScript>,
    options: &Options,
) -> (RunReport, Log) {
    let load = workload(tasks, vec![]);
    let (report, log) = simulate(platform, policy, &load, options);
    check_log(platform, &load, &log, &report, false);
    (report, log)
}

fn hogs(n: usize) -> Vec<TaskScript> {
    (0..n).map(|_| hog(None)).collect()
}

/// Runs so many endless loops that a shell forks one after the other; their shell is task 0, the
/// script of a loop is task 1, which never runs.
fn loops(platform: &Platform, policy: &Policy, n: usize, options: &Options) -> (RunReport, Log) {
    let spec = Spec::parse(&format!("busy-loops:n={n}"), &LoadOptions::default()).expect("valid");
    let nr_cpus = platform.cpus.len() as u32;
    let load = spec.expand(1, MachineFacts::alike(nr_cpus)).expect("valid");
    simulate(platform, policy, &load, options)
}

/// Runs for `run` ms, sleeps for `sleep` ms, and so on.
fn rhythm(run: u64, sleep: u64) -> TaskScript {
    let events = [run_ms(run), sleep_ms(sleep)];
    script(Loops::Forever, vec![phase(1_000_000, None, &events)])
}

/// The CPUs on which the first `n` tasks ran between two instants.
fn used(log: &Log, n: usize, from: u64, to: u64) -> BTreeSet<u32> {
    let of = |task: usize| log.stretches(task as u32);
    let all = (0..n).flat_map(of).filter(|s| s.from < to && s.to > from);
    all.map(|s| s.cpu).collect()
}

fn cores(platform: &Platform, cpus: &BTreeSet<u32>) -> usize {
    let core = |cpu: &u32| platform.cpus[*cpu as usize].core;
    cpus.iter().map(core).collect::<BTreeSet<_>>().len()
}

fn packages(platform: &Platform, cpus: &BTreeSet<u32>) -> usize {
    let package = |cpu: &u32| platform.cpus[*cpu as usize].package;
    cpus.iter().map(package).collect::<BTreeSet<_>>().len()
}

fn count(report: &RunReport, reason: Reason) -> u64 {
    let found = report.reasons.iter().find(|(r, _)| *r == reason);
    found.map_or(0, |(_, n)| *n)
}

/// Goal: under performance, with P6 to P8 alone, every event is that of the kernel without the
/// series (docs/rules/power-policy.md#power-acceptance, point 1); P6 to P8 say that a new task's
/// load is its weight, and 3.8 does not look at it.
#[test]
fn performance_changes_nothing() {
    let platform = builtin("snb-ep-2s");
    let clean_ups = [
        ("power_level_fewer", "off"),
        ("power_idlest_cases", "off"),
        ("power_single_shot", "off"),
    ];
    let with = policy("linux-3.8+power-policy=performance", &clean_ups);
    let mut tasks = hogs(10);
    tasks.extend((0..30).map(|n| rhythm(1 + n % 3, 7)));
    let run = |policy: &Policy| checked(&platform, policy, tasks.clone(), &all_on(S));
    let (base, other) = (run(&policy("linux-3.8", &[])), run(&with));
    assert_eq!(base.0.event_hash, other.0.event_hash);
}

/// Goal: n tasks that always run use the fewest cores and sockets that the policy allows: 4 cores
/// of 2 threads: powersaving n/2 cores, balance and performance n. Source:
/// docs/rules/power-policy.md#power-acceptance, point 2.
#[test]
fn hogs_on_one_socket_of_four_cores() {
    let platform = builtin("snb-laptop");
    for (n, expected) in [(2, [2, 2, 1]), (4, [4, 4, 2]), (8, [4, 4, 4])] {
        for (name, cores_used) in NAMES.iter().zip(expected) {
            let (_, log) = checked(&platform, &power(name), hogs(n), &all_on(3 * S));
            let cpus = used(&log, n, 2 * S, 3 * S);
            // The author saw four under balance go back and forth (#power-acceptance, point 2).
            if *name == "balance" && n == 4 {
                assert!(cores(&platform, &cpus) >= 3, "{cpus:?}");
            } else {
                assert_eq!(cores(&platform, &cpus), cores_used, "{name}, {n}: {cpus:?}");
            }
        }
    }
}

/// Goal: the same where a shell forks the loops and runs meanwhile, so that they begin apart
/// (docs/rules/power-policy.md#power-acceptance, point 2): somebody kicks an idle CPU, which packs.
/// Without that kick nobody looks: two lone tasks on two cores of 3.8 are no reason for one
/// (docs/rules/linux-3-8.md#nohz-3-8), and they stay.
#[test]
fn loops_that_begin_apart_are_packed() {
    let platform = builtin("snb-laptop");
    for (kick, n, cores_used) in [("on", 2, 1), ("on", 4, 2), ("on", 3, 2), ("off", 2, 2)] {
        let name = "linux-3.8+power-policy=powersaving";
        let policy = policy(name, &[("power_kick", kick)]);
        let (_, log) = loops(&platform, &policy, n, &all_on(3 * S));
        let cpus = used(&log, n + 2, 2 * S, 3 * S);
        assert_eq!(cores(&platform, &cpus), cores_used, "{kick}, {n}: {cpus:?}");
    }
}

/// Goal: of two sockets with 8 cores of 2 threads powersaving fills one with up to 16 tasks,
/// balance with up to 9, its compute power; more spread by performance balancing. Source:
/// docs/rules/power-policy.md#power-acceptance, point 3.
#[test]
fn hogs_on_two_sockets() {
    let platform = builtin("snb-ep-2s");
    for (name, n, sockets) in [
        ("powersaving", 4, 1),
        ("powersaving", 16, 1),
        ("powersaving", 18, 2),
        ("balance", 9, 1),
        ("balance", 12, 2),
        ("performance", 4, 2),
    ] {
        let (_, log) = loops(&platform, &power(name), n, &all_on(3 * S));
        let cpus = used(&log, n + 2, 2 * S, 3 * S);
        assert_eq!(packages(&platform, &cpus), sockets, "{name}, {n}: {cpus:?}");
    }
}

/// Goal: light tasks on four nodes of 10 cores: up to 40 of them powersaving and balance use fewer
/// nodes than performance, and what fits one socket leaves the others without any task once
/// settled. Source: docs/rules/power-policy.md#power-acceptance, points 4 and 9.
#[test]
fn light_tasks_leave_nodes_alone() {
    let platform = builtin("wsm-ex-4s");
    let nodes = |name: &str, n: usize| {
        let tasks = (0..n).map(|i| rhythm(3, 7 + i as u64 % 3)).collect();
        let (_, log) = checked(&platform, &power(name), tasks, &all_on(2 * S));
        packages(&platform, &used(&log, n, S, 2 * S))
    };
    let spread = nodes("performance", 20);
    for name in ["balance", "powersaving"] {
        assert_eq!(nodes(name, 5), 1, "{name}");
        let packed = nodes(name, 20);
        assert!(packed < spread, "{name}: {packed}, spread {spread}");
    }
}

/// Goal: a burst of forks from one CPU stays within its socket under powersaving if it fits: 12
/// tasks, 16 CPUs. Source: docs/rules/power-policy.md#power-acceptance, point 5.
#[test]
fn a_burst_of_forks_stays_at_home() {
    let platform = builtin("snb-ep-2s");
    let (report, log) = checked(
        &platform,
        &power("powersaving"),
        hogs(12),
        &all_on(200 * MS),
    );
    let cpus = used(&log, 12, 0, 200 * MS);
    assert_eq!(packages(&platform, &cpus), 1, "{cpus:?}");
    assert!(
        count(&report, Reason::PowerLeader) >= 12,
        "{:?}",
        report.reasons
    );
}

/// Goal: more tasks than room: within a balance interval as performance: 40 tasks on 32 CPUs under
/// powersaving get as much done as under performance. Source:
/// docs/rules/power-policy.md#power-acceptance, point 8.
#[test]
fn overload_is_performance() {
    let platform = builtin("snb-ep-2s");
    let ran = |name: &str| {
        let (report, _) = checked(&platform, &power(name), hogs(40), &all_on(2 * S));
        report.tasks.iter().map(|t| t.run_ns).sum::<u64>()
    };
    let (most, saving) = (ran("performance"), ran("powersaving"));
    assert!(saving > most / 100 * 97, "{saving} of {most}");
}

/// Goal: task numbers that go back and forth across the threshold never move tasks more often with
/// the history of P18 than without, and less often over three rhythms. Source:
/// docs/rules/power-policy.md#power-acceptance, point 7. A socket of 16 threads: 13 hogs, and six
/// tasks that run there part of the time. The rule expects much less; here a lone running task has
/// to be refused five times before it is pushed, and that alone is slower than most rhythms.
/// Without the turbo's bins: where clocks change with each sleep, history or not moves other tasks.
#[test]
fn lazy_balancing_moves_less() {
    let platform = without_turbo("snb-ep-2s");
    let moves = |lazy: &str, (run, sleep): (u64, u64)| {
        let policy = policy(
            "linux-3.8+power-policy=powersaving",
            &[("power_lazy", lazy)],
        );
        let mut tasks = hogs(13);
        let there: Vec<u32> = (0..8).chain(16..20).collect();
        tasks.extend((0..6).map(|_| TaskScript {
            cpus: Some(there.clone()),
            ..rhythm(run, sleep)
        }));
        let (_, log) = checked(&platform, &policy, tasks, &all_on(6 * S));
        log.balance_moves().len()
    };
    let both = |rhythm| (moves("on", rhythm), moves("off", rhythm));
    let all = [(20, 20), (25, 20), (50, 50)].map(both);
    assert!(all.iter().all(|(lazy, eager)| lazy <= eager), "{all:?}");
    assert!(all.iter().any(|(lazy, eager)| lazy < eager), "{all:?}");
}

fn change(at_ns: u64, value: &str) -> PolicyChange {
    PolicyChange {
        at_ns,
        key: "power-policy".into(),
        value: value.into(),
    }
}

/// Goal: the write moves nothing by itself; the tasks are packed and, after the way back, spread
/// again (P10). Five loops on 4 cores of 2 threads: performance has one core with two, powersaving
/// leaves a core idle (2 + 2 + 1). The history of spreading is gone after 60 clean attempts, each 4
/// ms (the level's longest interval) after the last at most, and a lone running task is pushed
/// after 5 refusals: 65 x 4 = 260 ms.
#[test]
fn a_change_in_mid_run_moves_tasks_in_time() {
    let platform = builtin("snb-laptop");
    let options = Options {
        policy_at: vec![change(S, "powersaving"), change(3 * S, "performance")],
        ..all_on(4 * S)
    };
    let (report, log) = loops(&platform, &power("performance"), 5, &options);
    let used_cores = |from, to| cores(&platform, &used(&log, 7, from, to));
    assert_eq!(used_cores(500 * MS, S), 4, "spread at first");
    assert_eq!(used_cores(1260 * MS, 3 * S), 3, "packed");
    assert_eq!(used_cores(3500 * MS, 4 * S), 4, "spread again");
    let moved = log.balance_moves();
    assert!(
        moved.iter().all(|(at, _)| *at != S && *at != 3 * S),
        "{moved:?}"
    );
    let ran = report.tasks.iter().filter(|t| t.run_ns > 3500 * MS).count();
    assert_eq!(ran, 5, "{:?}", report.tasks);
}

/// Goal: 1,000 random changes under a mixed load: every task goes on (the checker sees each lost
/// wake-up and each CPU that stalls), and what is steady afterwards is steady.
#[test]
fn a_thousand_random_changes_lose_no_task() {
    let platform = builtin("snb-ep-2s");
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = |n: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % n
    };
    let mut changes: Vec<_> = (0..1000)
        .map(|_| change(random(4 * S), NAMES[random(3) as usize]))
        .collect();
    changes.push(change(4 * S, "powersaving"));
    let options = Options {
        policy_at: changes,
        ..all_on(9 * S)
    };
    // 4 hogs for ever; 20 tasks until 4 s.
    let short = |n: u64| {
        let work_ns = (100 + 95 * n) * US;
        let events = [Event::Run { work_ns }, sleep_ms(1 + n % 4)];
        script(Loops::Forever, vec![phase(1_000_000, None, &events)])
    };
    let mut tasks = hogs(4);
    tasks.extend((0..20).map(|n| TaskScript {
        loops: Loops::Times(1),
        phases: vec![wakeplace_workload::Phase {
            loops: Loops::Times(800),
            ..short(n).phases[0].clone()
        }],
        ..short(n)
    }));
    let (report, log) = checked(&platform, &power("performance"), tasks, &options);
    for (task, totals) in report.tasks.iter().enumerate().skip(4) {
        assert!(log.exit(task as u32).is_some(), "{task}: {totals:?}");
    }
    let cpus = used(&log, 4, 8500 * MS, 9 * S);
    assert_eq!(
        packages(&platform, &cpus),
        1,
        "the four that stay: {cpus:?}"
    );
}

/// Goal: the series has later bases, too: two periodic tasks under 7.3 share a core under
/// powersaving, and go apart without.
#[test]
fn later_eras_pack_as_well() {
    let platform = builtin("snb-ep-2s");
    for era in ["linux-4.17", "linux-6.12", "linux-7.3"] {
        let name = format!("{era}+power-policy=powersaving");
        let sockets = |name: &str| {
            let load = workload(hogs(6), vec![]);
            let (report, log) = simulate(&platform, &policy(name, &[]), &load, &all_on(4 * S));
            check_log(&platform, &load, &log, &report, !name.contains("4.17"));
            packages(&platform, &used(&log, 6, 3 * S, 4 * S))
        };
        assert_eq!((sockets(era), sockets(&name)), (2, 1), "{era}");
    }
}

/// Goal: hackbench-like messaging loses by packing: fewer messages in the same time. With 40
/// groups; few ones end before the clock of a spread load has risen. Source:
/// docs/rules/power-policy.md#power-acceptance, point 10.
#[test]
fn packing_does_not_pay_for_messaging() {
    let platform = builtin("snb-ep-4s");
    let spec = Spec::parse("messaging:groups=40,loops=10", &LoadOptions::default()).expect("valid");
    let load = spec.expand(1, MachineFacts::alike(64)).expect("valid");
    let time = |name: &str| {
        let (_, log) = simulate(&platform, &power(name), &load, &all_on(20 * S));
        log.0.last().expect("it ended").at
    };
    let (fast, slow) = (time("performance"), time("powersaving"));
    assert!(slow > fast, "{slow} ns, spread {fast} ns");
}

/// Goal: only what each decision reads anew can change in a run.
#[test]
fn what_is_built_cannot_change() {
    let platform = builtin("snb-laptop");
    let load = workload(hogs(1), vec![]);
    for (key, value, words) in [
        ("power_level_fewer", "on", "for a whole run"),
        ("pelt_scale", "none", "for a whole run"),
        ("asym-capacity", "on", "for a whole run"),
        ("power-polcy", "balance", "did you mean `power-policy`"),
        ("power-policy", "bogus", "expected one of"),
    ] {
        let options = Options {
            policy_at: vec![PolicyChange {
                at_ns: MS,
                key: key.into(),
                value: value.into(),
            }],
            ..all_on(S)
        };
        let error = wakeplace_engine::check(&platform, &power("balance"), &load, &options);
        let error = error.expect_err(key).to_string();
        assert!(error.contains(words), "{error}");
    }
}
