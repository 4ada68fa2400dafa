//! Schedulers that do what they like: nothing is lost, nothing panics, equal runs are equal.
//! Rules: docs/rules/sched-ext.md#tasks (order of callbacks), common/checker.rs.
//!
//! What must stay: a seed names a run; no failing run is left out. `said` shows the seed of a run
//! that fails.
//! Tests by part: `a_wild_scheduler_loses_nobody` (wild.rs and all of crates/sched-ext);
//! `benchmarks_run_under_the_simple_scheduler` (simple.rs).
//! Helpers, and who fails with them: `said` (`a_wild_scheduler_loses_nobody`).

use super::simple::Simple;
use super::wild::Wild;
use crate::common::checker::check_held_log;
use crate::common::*;
use crate::invariants::{Random, boards, random_options};
use crate::storm::{comings_and_goings, storm};
use wakeplace_engine::{Ended, check};
use wakeplace_workload::{LoadOptions, MachineFacts, Spec};

#[allow(clippy::print_stderr, reason = "the seed of a failure")]
fn said(seed: u64, platform: &str) {
    eprintln!("seed {seed}, {platform}");
}

/// Goal: whatever a scheduler does within the rules, and whatever happens to the machine, no task
/// is lost, callbacks come in their order, and the same run gives the same.
#[test]
fn a_wild_scheduler_loses_nobody() {
    let boards = boards();
    let kernels = [
        policy("linux-7.3", &[]),
        policy("linux-6.12", &[("governor", "performance")]),
        policy("linux-4.17", &[]),
        policy("wakeplace", &[("queue", "dsq")]),
    ];
    let mut ends = [0; 4];
    for seed in 0..150 {
        let mut random = Random(seed);
        let platform = &boards[random.below(boards.len() as u64) as usize];
        let groups = random.below(2) as u32 * 3;
        let load = storm(&mut random, platform.cpus.len() as u32, groups);
        let mut options = random_options(&mut random);
        options.hotplug = comings_and_goings(&mut random, platform.cpus.len() as u64);
        let policy = &kernels[seed as usize % 4];
        if check(platform, policy, &load, &options).is_err() {
            continue; // more deadline tasks than the board admits
        }
        said(seed, &platform.name);
        let run = || {
            let mut ops = Wild::new(seed);
            simulate_sched_ext(platform, policy, &load, &options, &mut ops)
        };
        let (report, log) = run();
        check_held_log(platform, &load, &log, &report);
        let end = match &report.ended {
            Ended::Duration => 0,
            Ended::AllTasksExited => 1,
            Ended::Deadlock { .. } => 2,
            Ended::ForkLimit { .. } | Ended::ZeroTimeLoop { .. } => 3,
            Ended::Scheduler { exit } => panic!("{exit}"),
            Ended::Kernel { said } => panic!("{said}"),
        };
        ends[end] += 1;
        let again = run();
        assert!(again == (report, log), "seed {seed}: two runs differ");
    }
    assert!(ends[0] > 10 && ends[2] > 10, "{ends:?}");
}

/// Goal: benchmarks run to their end, and all work is done. A task waits no longer than all others
/// take for their slices.
#[test]
fn benchmarks_run_under_the_simple_scheduler() {
    let platform = builtin("hikey960");
    let capacities = platform.capacities();
    let facts = MachineFacts {
        capacities: &capacities,
    };
    for name in ["messaging:groups=2,loops=20", "context-switch", "schbench"] {
        for fifo in [false, true] {
            let spec = Spec::parse(name, &LoadOptions::default());
            let load = spec.and_then(|spec| spec.expand(1, facts));
            let load = load.unwrap_or_else(|e| panic!("{name}: {e}"));
            let mut ops = Simple::new(fifo);
            let options = all_on(S);
            let policy = policy("linux-7.3", &[]);
            let (report, log) = simulate_sched_ext(&platform, &policy, &load, &options, &mut ops);
            check_held_log(&platform, &load, &log, &report);
            assert!(
                matches!(report.ended, Ended::Duration | Ended::AllTasksExited),
                "{name}: {:?}",
                report.ended
            );
        }
    }
}
