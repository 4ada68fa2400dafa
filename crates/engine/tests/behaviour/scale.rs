//! Many tasks, many CPUs.
//! Page: docs/internals/performance.md.
//!
//! What must stay: numbers of tasks and CPUs; run and wait times add up to lives exactly. Free:
//! what tasks do between their sleeps.
//! Tests by part (in crates/engine/src): mechanics/thread.rs: `ten_thousand_tasks_on_eight_cpus`
//! (`wait_ns`); kernel/model/mod.rs: `six_hundred_tasks_on_512_cpus` (`settled`); the whole engine:
//! `ten_thousand_sleepers_on_hikey960`.

use crate::common::*;
use wakeplace_engine::observe::NoObserver;
use wakeplace_engine::run;
use wakeplace_workload::{Loops, TaskScript};

/// Goal: 10,000 tasks on 8 CPUs for a second: every one has run, or its waiting is accounted; the
/// CPUs lose nothing. Method: hogs; run time and wait time of each add up to its life. Reasonable
/// time is the test suite's limit.
#[test]
fn ten_thousand_tasks_on_eight_cpus() {
    let platform = Board::symmetric(8).platform();
    let load = workload(vec![hog(None); 10_000], vec![]);
    let options = all_off(S);
    let report = run(&platform, &performance(), &load, &options, &mut NoObserver);
    let total: u64 = report.tasks.iter().map(|t| t.run_ns).sum();
    // All are born within 1 us; a CPU leaves WFI within 1 us.
    assert!((8 * S - 16 * US..=8 * S).contains(&total), "{total}");
    for (task, totals) in report.tasks.iter().enumerate() {
        let life = totals.run_ns + totals.wait_ns;
        assert!((S - 2 * US..=S).contains(&life), "task {task}: {totals:?}");
        // Who never ran is still at its first wait.
        let at_once = totals.longest_wait_ns == totals.wait_ns;
        assert!(totals.run_ns > 0 || at_once, "task {task}: {totals:?}");
    }
}

/// The same with sleepers, idle states and schedutil.
#[test]
fn ten_thousand_sleepers_on_hikey960() {
    let platform = builtin("hikey960");
    let task = script(
        Loops::Forever,
        vec![phase(1, None, &[run_ms(1), sleep_ms(20)])],
    );
    let load = workload(vec![task; 10_000], vec![]);
    let policy = policy("linux-4.17+energy-aware", &[]);
    let options = wakeplace_engine::Options {
        kernel_costs: false, // creating them would take half of the second
        ..all_on(S)
    };
    let report = run(&platform, &policy, &load, &options, &mut NoObserver);
    let total: u64 = report.tasks.iter().map(|t| t.run_ns).sum();
    assert!((7 * S..=8 * S).contains(&total), "{total}");
    let touched = |t: &&wakeplace_engine::TaskTotals| t.run_ns + t.wait_ns > 0;
    assert_eq!(report.tasks.iter().filter(touched).count(), 10_000);
}

/// Goal: 512 CPUs (32 caches of 16) with 600 tasks: all run, and the machine is used: 512 CPUs can
/// hold one each, so less than a tenth of their time is lost to forking and balancing.
#[test]
fn six_hundred_tasks_on_512_cpus() {
    let board = Board {
        clusters: vec![(16, 1024); 32],
        ..Board::symmetric(1)
    };
    let platform = board.platform();
    let tasks: Vec<TaskScript> = vec![hog(None); 600];
    let load = workload(tasks, vec![]);
    let report = run(
        &platform,
        &performance(),
        &load,
        &all_on(S),
        &mut NoObserver,
    );
    let total: u64 = report.tasks.iter().map(|t| t.run_ns).sum();
    assert!(total >= 512 * S * 9 / 10, "{} CPU seconds", total / S);
    assert!(report.tasks.iter().all(|t| t.run_ns > 100 * MS));
}
