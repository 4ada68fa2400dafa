//! Load balancing seen from outside: where always-running tasks end up
//! (docs/rules/balancing.md#load-balancing, docs/rules/capacity-aware.md#asym-no-pull).
//!
//! What must stay: bounds are worked out from ticks and intervals in the test: a bound is never
//! widened to make a run pass. The policy is `linux-4.17`, the rules themselves are tested in
//! crates/policy-sys/tests/all/balance.rs.
//! Tests by part (in crates/engine/src): kernel/model/tick.rs:
//! `four_hogs_on_four_cpus_each_get_one` (`busy_tick`), `the_second_hog_moves_to_an_idle_cpu`
//! (`kick_nohz`); kernel/model/queues.rs: `the_second_hog_moves_to_an_idle_cpu` (`offered`);
//! kernel/model/balance.rs: `big_cpus_keep_their_only_tasks` (active), `pinned_tasks_stay`
//! (affinity), `a_cpu_that_runs_dry_pulls` (new idle); kernel/model/balance.rs:
//! `eight_hogs_on_four_cpus_get_half_each`, `a_free_hog_beside_a_pinned_one_moves_soon`,
//! `the_third_task_leaves_the_big_cpus`.
//! Helpers, and who fails with them: `at_performance` (all tests); `released`
//! (`the_second_hog_moves_to_an_idle_cpu`, `big_cpus_keep_their_only_tasks`,
//! `the_third_task_leaves_the_big_cpus`); `first_escape` (`the_second_hog_moves_to_an_idle_cpu`).

use crate::common::*;
use wakeplace_engine::RunReport;
use wakeplace_engine::observe::MigrateCause;
use wakeplace_platform::Platform;
use wakeplace_workload::{Event, Loops, TaskScript};

/// On these CPUs for that long, then anywhere for ever.
fn released(cpus: &[u32], after_ms: u64) -> TaskScript {
    let held = Event::Runtime {
        wall_ns: after_ms * MS,
    };
    script(
        Loops::Forever,
        vec![
            phase(1, Some(cpus), &[held]),
            phase(1, None, &[run_ms(1_000_000)]),
        ],
    )
}

fn at_performance(
    platform: &Platform,
    name: &str,
    tasks: Vec<TaskScript>,
    duration: u64,
) -> (RunReport, Log) {
    let policy = policy(name, &[("governor", "performance")]);
    simulate(
        platform,
        &policy,
        &workload(tasks, vec![]),
        &all_on(duration),
    )
}

/// Goal: as many always-running tasks as CPUs: within 1 s each has its own and stays there.
#[test]
fn four_hogs_on_four_cpus_each_get_one() {
    let platform = Board::symmetric(4).platform();
    let hogs = (0..4).map(|_| hog(None)).collect();
    let (report, log) = at_performance(&platform, "linux-4.17", hogs, 5 * S);
    let mut homes: Vec<u32> = Vec::new();
    for task in 0..4 {
        let home = log.stretches(task).last().expect("it runs").cpu;
        assert_eq!(
            log.ran(task, S, 5 * S, |cpu| cpu == home),
            4 * S,
            "task {task}"
        );
        homes.push(home);
        assert!(report.tasks[task as usize].run_ns >= 4_900 * MS);
    }
    homes.sort_unstable();
    assert_eq!(homes, [0, 1, 2, 3]);
}

/// Goal: twice as many tasks as CPUs: each gets half a CPU, to 5 %.
#[test]
fn eight_hogs_on_four_cpus_get_half_each() {
    let platform = Board::symmetric(4).platform();
    let hogs = (0..8).map(|_| hog(None)).collect();
    let (report, _) = at_performance(&platform, "linux-4.17", hogs, 10 * S);
    for (task, totals) in report.tasks.iter().enumerate() {
        let ran = totals.run_ns;
        assert!(ran.abs_diff(5 * S) <= S / 4, "task {task}: {ran}");
    }
}

/// When the second of two hogs that were held on one CPU until 200 ms first moves, and from where
/// it is free to.
fn first_escape(cpus: u32, tick_hz: u32) -> (u64, u64) {
    let board = Board {
        tick_hz,
        ..Board::symmetric(cpus)
    };
    let hogs = vec![released(&[1], 200), released(&[1], 200)];
    let (_, log) = at_performance(&board.platform(), "linux-4.17", hogs, 2 * S);
    let moves = log.balance_moves();
    assert_eq!(moves.len(), 1, "one moves, once: {moves:?}");
    // The first of them to pass its first phase is free from then on: while it waits it can be
    // pulled. The phase ends at the first stretch that ends after 200 ms.
    let end = |task| {
        let all = log.stretches(task).into_iter();
        let after = all.map(|s| (s.from, s.to)).find(|(_, to)| *to > 200 * MS);
        after.expect("it runs on").0.max(200 * MS)
    };
    (end(0).min(end(1)), moves[0].0)
}

/// Goal: docs/rules/balancing.md#nohz: one CPU with two hogs, the others idle with stopped ticks:
/// the second hog moves within one tick + IPI after next_balance. The pass before can be as old as
/// the longest interval of an idle CPU, 2 x weight ms (docs/rules/domains.md#domain-constants)
/// rounded up to ticks; before its release the tasks were pinned, and each pass that finds all
/// pinned doubles the interval (docs/rules/balancing.md#balance-interval): doubling from `weight`
/// ms it has reached 256 ms at most when 200 ms are over. The free one must also wait at that pass,
/// not run (a period of 24 ms has both); then it takes a tick, the IPI and WFI's exit.
#[test]
fn the_second_hog_moves_to_an_idle_cpu() {
    for (cpus, tick_hz) in [(4, 250), (8, 250), (8, 1000), (2, 250)] {
        let (free, moved) = first_escape(cpus, tick_hz);
        let tick = S / u64::from(tick_hz);
        let bound = (256 + 24) * MS + 2 * tick + 2 * US;
        assert!(moved >= free, "{moved} before {free}");
        assert!(
            moved - free <= bound,
            "{cpus} CPUs: {} us",
            (moved - free) / US
        );
    }
}

/// The same without a history of failures: one hog stays pinned, the other is free 3 ms after it
/// woke beside it. Bound: those 3 ms, the longest idle interval 2 x weight ms, ticks for rounding
/// it, seeing it and cache heat (500 us), and a period of 24 ms in which the free one waits.
#[test]
fn a_free_hog_beside_a_pinned_one_moves_soon() {
    for (cpus, tick_hz) in [(4, 250), (8, 250), (8, 1000)] {
        let board = Board {
            tick_hz,
            ..Board::symmetric(cpus)
        };
        let held = Event::Runtime { wall_ns: 3 * MS };
        let free = script(
            Loops::Forever,
            vec![
                phase(1, Some(&[1]), &[sleep_ms(100), held]),
                phase(1, None, &[run_ms(1_000_000)]),
            ],
        );
        let tasks = vec![hog(Some(&[1])), free];
        let (_, log) = at_performance(&board.platform(), "linux-4.17", tasks, S);
        let tick = S / u64::from(tick_hz);
        let moves = log.balance_moves();
        assert_eq!(moves.len(), 1, "{moves:?}");
        assert_eq!(moves[0].1.0, 1, "the free one moves");
        let start = log
            .stretches(1)
            .iter()
            .find(|s| s.from > 90 * MS)
            .unwrap()
            .from;
        let bound = 2 * u64::from(cpus) * MS + 4 * tick + 3 * MS + 24 * MS;
        assert!(
            moves[0].0 - start <= bound,
            "{} us",
            (moves[0].0 - start) / US
        );
    }
}

/// Goal: docs/rules/capacity-aware.md#asym-no-pull: two always-running tasks on TC2's A15s with
/// idle A7s: no migration from big to little by balancing over 10 s. Without `asym-capacity` there
/// is.
#[test]
fn big_cpus_keep_their_only_tasks() {
    let platform = builtin("tc2");
    let pulls = |name: &str| {
        let tasks = vec![released(&[0], 100), released(&[1], 100)];
        let (_, log) = at_performance(&platform, name, tasks, 10 * S);
        let moves = log.balance_moves().into_iter();
        moves
            .filter(|(_, (_, from, to))| *from < 2 && *to >= 2)
            .count()
    };
    assert_eq!(pulls("linux-4.17"), 0);
    assert!(pulls("linux-4.17-asym-capacity") > 0);
}

/// Goal: docs/rules/capacity-aware.md#asym-no-pull: with three tasks on two A15s exactly one moves
/// to an A7. Bound: after the third is free, an idle A7's next pass: the interval of the 5-CPU
/// domain doubled while all were pinned (docs/rules/balancing.md#periodic-balancing), 256 ms at
/// most after 100 ms; and a period of 24 ms in which it waits. Before 100 ms they are pinned once
/// each has begun its first phase.
#[test]
fn the_third_task_leaves_the_big_cpus() {
    let platform = builtin("tc2");
    let tasks = vec![
        released(&[0], 100),
        released(&[1], 100),
        released(&[1], 100),
    ];
    let (_, log) = at_performance(&platform, "linux-4.17", tasks, 10 * S);
    let moves = log.balance_moves().into_iter();
    let down: Vec<_> = moves
        .filter(|(time, (_, from, to))| *time > 100 * MS && *from < 2 && *to >= 2)
        .collect();
    assert_eq!(down.len(), 1, "{down:?}");
    assert!(down[0].0 <= (100 + 256 + 24) * MS, "{down:?}");
}

/// Goal: pinned tasks never leave, whatever the imbalance.
#[test]
fn pinned_tasks_stay() {
    for platform in [Board::symmetric(4).platform(), builtin("tc2")] {
        let tasks = (0..6).map(|_| hog(Some(&[1]))).collect();
        let (report, log) = at_performance(&platform, "linux-4.17", tasks, 3 * S);
        assert_eq!(log.balance_moves(), []);
        let total: u64 = report.tasks.iter().map(|t| t.run_ns).sum();
        assert!(total > 2_990 * MS);
        assert!((0..6).all(|t| log.stretches(t).iter().all(|s| s.cpu == 1)));
    }
}

/// Goal: a CPU about to go idle pulls a waiting task at that moment
/// (docs/rules/balancing.md#newidle). Method: two CPUs; the weight of the second's own task (nice
/// -10: 9548) keeps two hogs on the first until it sleeps.
#[test]
fn a_cpu_that_runs_dry_pulls() {
    let platform = Board::symmetric(2).platform();
    let naps = TaskScript {
        cpus: Some(vec![1]),
        nice: -10,
        ..script(
            Loops::Forever,
            vec![phase(1, None, &[run_ms(200), sleep_ms(20)])],
        )
    };
    let tasks = vec![hog(None), hog(None), naps];
    let (_, log) = at_performance(&platform, "linux-4.17", tasks, 10 * S);
    let pulls = log.moves(|c| c == MigrateCause::NewIdle);
    assert!(!pulls.is_empty());
    let stops = log.pick(|w| match *w {
        What::Stop {
            cpu, sleeps: true, ..
        } => Some(cpu),
        _ => None,
    });
    for (at, (task, from, to)) in pulls {
        assert!(task < 2 && from == 0 && to == 1);
        assert!(stops.contains(&(at, 1)), "pulled at {at}, nobody slept");
    }
}
