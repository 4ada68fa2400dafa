//! Kernels before 4.9, seen from outside (docs/rules/linux-3-8.md#linux-3-8,
//! docs/rules/sched-mc.md#linux-3-1, docs/rules/capacity-aware.md#misfit-migration and
//! docs/rules/capacity-aware.md#tc2-walk).
//!
//! What must stay: what those kernels did not do is tested as well (no move of a running task): a
//! later rule must not leak into an early era. The core's part is
//! crates/policy-sys/tests/all/early_eras.rs.
//! Tests by part (in crates/engine/src): the policy core's early forms in a run
//! (policy/src/balance/busiest_3_12.c, policy/src/topology/domains_3_9.c): all tests.
//! Helpers, and who fails with them: `checked` (all tests); `released`
//! (`a_lone_hog_on_a_small_cpu_stays`, `only_the_feature_takes_a_big_task_off_a_small_cpu`);
//! `heavy_sleeper` (`only_the_feature_takes_a_big_task_off_a_small_cpu`).

use crate::common::checker::check_log;
use crate::common::*;
use wakeplace_engine::RunReport;
use wakeplace_platform::Platform;
use wakeplace_workload::{Event, Loops, TaskScript};

const EARLY: [&str; 3] = ["linux-3.1", "linux-3.8", "linux-4.7"];

/// On these CPUs for so many rounds, then anywhere for ever.
fn released(cpus: &[u32], rounds: u64, events: &[Event]) -> TaskScript {
    script(
        Loops::Forever,
        vec![
            phase(rounds, Some(cpus), events),
            phase(1_000_000, None, events),
        ],
    )
}

fn checked(
    platform: &Platform,
    name: &str,
    tasks: Vec<TaskScript>,
    duration: u64,
) -> (RunReport, Log) {
    let load = workload(tasks, vec![]);
    let (report, log) = simulate(platform, &policy(name, &[]), &load, &all_on(duration));
    check_log(platform, &load, &log, &report, false);
    (report, log)
}

/// Goal: a mixed load runs by the rules of every run, on boards with two kinds of CPUs, and every
/// task gets on.
#[test]
fn boards_run_under_each_era() {
    for board in ["hikey960", "tc2"] {
        for era in EARLY {
            let light = |period: u64| {
                let events = [run_ms(1), sleep_ms(period - 1)];
                script(Loops::Forever, vec![phase(1_000_000, None, &events)])
            };
            let mut tasks: Vec<_> = (0..6).map(|n| light(8 + n)).collect();
            tasks.extend([hog(None), hog(None)]);
            let (report, log) = checked(&builtin(board), era, tasks, 4 * S);
            for (task, totals) in report.tasks.iter().enumerate() {
                let runs = log.latencies(task as u32).len();
                assert!(
                    totals.run_ns > 100 * MS && (task >= 6 || runs > 100),
                    "{era} {board}: task {task} ran {} ns in {runs} activations",
                    totals.run_ns
                );
            }
        }
    }
}

/// Goal: no kernel before 4.20 moves a running task because its CPU is too small for it: a lone hog
/// that was held on an A7 stays there for ever (docs/rules/capacity-aware.md#misfit-migration),
/// though an A15 is idle.
#[test]
fn a_lone_hog_on_a_small_cpu_stays() {
    let held = [Event::Runtime { wall_ns: 200 * MS }];
    for era in EARLY {
        let (_, log) = checked(&builtin("tc2"), era, vec![released(&[2], 1, &held)], 3 * S);
        assert_eq!(log.ran(0, S, 3 * S, |cpu| cpu == 2), 2 * S, "{era}");
    }
}

/// 16 ms of an A15 are 38 ms of an A7; asleep for 4: about 370 at wake-up, which an A7 cannot hold
/// (344 and less fit: docs/rules/capacity-aware.md#fit-thresholds).
fn heavy_sleeper(name: &str) -> Log {
    let events = [run_ms(16), sleep_ms(4)];
    let tasks = vec![released(&[2], 20, &events)];
    checked(&builtin("tc2"), name, tasks, 4 * S).1
}

/// Goal: without rules about capacity a task that wakes on an idle A7 stays
/// (docs/rules/capacity-aware.md#tc2-walk a, off); with them it goes to an A15 at its next wake-up
/// and does not come back (docs/rules/capacity-aware.md#tc2-walk a, on).
#[test]
fn only_the_feature_takes_a_big_task_off_a_small_cpu() {
    for era in EARLY {
        let log = heavy_sleeper(era);
        assert_eq!(log.ran(0, S, 4 * S, |cpu| cpu < 2), 0, "{era}");
    }
    let log = heavy_sleeper("linux-4.7+asym-capacity");
    assert_eq!(log.ran(0, S, 4 * S, |cpu| cpu >= 2), 0);
    assert!(log.ran(0, S, 4 * S, |cpu| cpu < 2) > 2 * S);
}

/// Goal: all CPUs count alike, and forks go to the half of HiKey960 on which their parent does not
/// run: to the big CPUs, both hogs (docs/rules/linux-3-8.md#cpu-power,
/// docs/rules/linux-3-8.md#placement-3-8: the first one sleeps again when the second comes). In 3.1
/// the cache level spreads siblings, so that balancing parts them again; in 3.8 it does not
/// (docs/rules/linux-3-8.md#domains-3-8), and two tasks are within what four CPUs have room for
/// (docs/rules/linux-3-8.md#balance-3-8).
#[test]
fn two_hogs_are_parted_where_siblings_are_spread() {
    for (era, parted) in [("linux-3.1", true), ("linux-3.8", false)] {
        let (_, log) = checked(&builtin("hikey960"), era, vec![hog(None), hog(None)], S);
        let on_big = |task| log.ran(task, 500 * MS, S, |cpu| cpu >= 4) > 0;
        assert_eq!(on_big(0) != on_big(1), parted, "{era}");
        assert!(on_big(0) || on_big(1), "{era}");
    }
}

/// Goal: a hog per CPU of HiKey960 has it for itself before long, whatever the CPU's size: a half
/// with more tasks than CPUs is over its room (docs/rules/linux-3-8.md#balance-3-8). Not so in 4.7:
/// three hogs on the small half are more load per capacity than five on the big one, and the idle
/// small CPU leaves it at that (docs/rules/linux-3-1-to-4-7.md#balance-4-7, `idle_pulls_overload`).
#[test]
fn eight_hogs_get_a_cpu_each() {
    for era in ["linux-3.1", "linux-3.8"] {
        let hogs = (0..8).map(|_| hog(None)).collect();
        let (report, log) = checked(&builtin("hikey960"), era, hogs, 3 * S);
        for task in 0..8 {
            let (ran, all) = (log.ran(task, S, 3 * S, |_| true), 2 * S);
            assert!(ran > all * 98 / 100, "{era}: task {task} ran {ran}");
        }
        assert_eq!(report.tasks.len(), 8);
    }
}
