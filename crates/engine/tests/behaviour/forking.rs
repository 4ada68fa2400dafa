//! Threads that make threads, tasks that run other programs, and counters they share.
//! Rules: docs/guide/model.md, "How a run starts"; docs/rules/wake-ups.md#what-a-fork-copies.
//!
//! What must stay: names, numbers and flips of forked threads; a claim of a counter is made once.
//! Tests by part (in crates/engine/src): mechanics/report.rs: `threads_are_made_named_and_counted`
//! (`threads`); mechanics/thread.rs: `threads_are_made_named_and_counted` (`name`);
//! kernel/model/fork.rs: `threads_have_the_flips_of_their_maker` (record),
//! `exec_moves_the_running_task` (exec); outcome.rs: `too_many_threads_are_an_outcome`
//! (`ForkLimit`); mechanics/script/timers.rs: `forked_threads_have_timers_of_their_own`
//! (`PrivateTimers`, `resolve`); mechanics/script/measure.rs (`claim`):
//! `a_counter_ends_its_threads`, `a_thread_ends_after_its_time`.
//! Helpers, and who fails with them: `worker`, `main_task` (`threads_are_made_named_and_counted`,
//! `threads_have_the_flips_of_their_maker`, `too_many_threads_are_an_outcome`,
//! `forked_threads_have_timers_of_their_own`).

use crate::common::checker::check_log;
use crate::common::*;
use wakeplace_engine::observe::{MigrateCause, PlacementKind};
use wakeplace_engine::{Ended, Options};
use wakeplace_workload::{
    Channel, Count, Counter, Event, Loops, Shared, TaskScript, Timer, TimerMode, Workload,
};

const FORK: Event = Event::Fork { task: 1 };

/// A script for so many threads.
fn worker(forks: u64, events: &[Event]) -> TaskScript {
    TaskScript {
        name: "worker".into(),
        forks: Some(forks),
        ..script(Loops::Times(1), vec![phase(1, None, events)])
    }
}

fn main_task(events: &[Event]) -> TaskScript {
    TaskScript {
        name: "main".into(),
        ..once(0, events)
    }
}

/// Goal: forked threads have names and numbers of their own, are placed as new ones by their maker,
/// and the run ends with the last of them. Method: three of 2, 2 and 2 ms; forks take 40 us each.
#[test]
fn threads_are_made_named_and_counted() {
    let platform = Board::symmetric(4).platform();
    let load = workload(
        vec![main_task(&[FORK, FORK, FORK]), worker(3, &[run_ms(2)])],
        vec![],
    );
    for policy in [
        performance(),
        policy("linux-7.3", &[("governor", "performance")]),
    ] {
        let (report, log) = simulate(&platform, &policy, &load, &all_on(S));
        check_log(&platform, &load, &log, &report, true);
        assert_eq!(report.ended, Ended::AllTasksExited);
        let names: Vec<_> = (report.threads.iter())
            .map(|t| (t.script, t.name.as_str()))
            .collect();
        let forked = [(1, "worker-0000"), (1, "worker-0001"), (1, "worker-0002")];
        assert_eq!(names[..2], [(0, "main"), (1, "worker")]);
        assert_eq!(names[2..], forked);
        assert_eq!(report.tasks[1].run_ns, 0, "nobody is the script itself");
        assert!(report.tasks[0].run_ns >= 3 * 40 * US);
        let placed = log.pick(|w| match w {
            What::Placement(p) if p.task > 1 => Some((p.task, p.kind, p.waker)),
            _ => None,
        });
        let by_main = |task| (task, PlacementKind::Fork, Some(0));
        let placed: Vec<_> = placed.into_iter().map(|(_, p)| p).collect();
        assert_eq!(placed, [2, 3, 4].map(by_main));
        let last = (2..5).filter_map(|task| log.exit(task)).max();
        assert_eq!(last, Some(report.end_ns));
    }
}

/// Goal: a thread has the flips of who forks it (docs/rules/wake-ups.md#what-a-fork-copies).
/// Method: two CPUs with a cache each, so that (2, 1) is wide (docs/rules/wake-ups.md#wake-wide);
/// main has woken a partner, its first flip, when it forks, and alone on its CPU wakes the worker
/// synchronously: on the worker's own, busy CPU. Without the partner nothing is inherited, and the
/// worker comes to main.
#[test]
fn threads_have_the_flips_of_their_maker() {
    let board = Board {
        clusters: vec![(1, 1024); 2],
        ..Board::symmetric(1)
    };
    let post = |channel| Event::Post {
        channel,
        sync: true,
    };
    for (partner, expected) in [(true, 1), (false, 0)] {
        let greeting: &[Event] = if partner { &[post(0)] } else { &[] };
        let steps = [greeting, &[FORK, sleep_ms(50), run_ms(1), post(1)]].concat();
        let mut waits = worker(1, &[]);
        waits.phases = vec![
            phase(1, Some(&[1]), &[run_ms(1)]),
            phase(1, Some(&[0, 1]), &[Event::Wait { channel: 1 }]),
        ];
        let on_both = phase(1, None, &[Event::Wait { channel: 0 }]);
        let partner = script(Loops::Times(1), vec![on_both]); // no flip is counted of the pinned
        let mut main = main_task(&steps);
        main.delay_ns = 50 * MS; // the partner waits by then
        let tasks = vec![main, waits, hog(Some(&[1])), partner];
        let channel = |name: &str| Channel {
            name: name.into(),
            ..Channel::default()
        };
        let shared = Shared {
            channels: vec![channel("greeting"), channel("work")],
            ..Shared::default()
        };
        let (_, log) = simulate(
            &board.platform(),
            &performance(),
            &sharing(tasks, shared),
            &all_on(S),
        );
        let woken = log.pick(|w| match w {
            What::Placement(p) if p.task == 4 && p.kind == PlacementKind::Wake => Some(p.cpu),
            _ => None,
        });
        let cpus: Vec<u32> = woken.into_iter().map(|(_, cpu)| cpu).collect();
        assert_eq!(cpus, [expected]);
    }
}

/// Goal: one thread more than there may be ends the run and is named.
#[test]
fn too_many_threads_are_an_outcome() {
    let platform = Board::symmetric(2).platform();
    let load = workload(
        vec![main_task(&[FORK, FORK, FORK]), worker(2, &[sleep_ms(1)])],
        vec![],
    );
    for options in [all_off(S), all_on(S)] {
        let (report, _) = simulate(&platform, &performance(), &load, &options);
        let limit = Ended::ForkLimit {
            task: 0,
            script: 1,
            limit: 2,
        };
        assert_eq!(report.ended, limit);
        assert_eq!(report.threads.len(), 4);
    }
}

/// Goal: each forked thread has the timers for itself that only its script names. Method: two
/// threads, 5 ms apart, use a timer of 10 ms that starts from t_zero: had they one in common, the
/// second would wait for 20 ms.
#[test]
fn forked_threads_have_timers_of_their_own() {
    let timer = Timer {
        name: "t".into(),
        mode: TimerMode::Absolute,
        start_delay_ns: 0,
    };
    let ticks = Event::Timer {
        timer: 0,
        period_ns: 10 * MS,
    };
    let load = workload(
        vec![main_task(&[FORK, sleep_ms(5), FORK]), worker(2, &[ticks])],
        vec![timer],
    );
    let platform = Board::symmetric(2).platform();
    let (report, log) = simulate(&platform, &performance(), &load, &all_off(S));
    check_log(&platform, &load, &log, &report, false);
    for task in [2, 3] {
        assert_eq!(log.exit(task).map(|at| at / MS), Some(10));
    }
}

/// Goal: a task that runs another program goes where the core says, at once. Method: it shared
/// CPU 0 with another; in its second phase it may use CPU 1, too, which is idle.
#[test]
fn exec_moves_the_running_task() {
    let phases = vec![
        phase(1, Some(&[0]), &[run_ms(3)]),
        phase(1, None, &[Event::Exec, run_ms(5)]),
    ];
    let execs = script(Loops::Times(1), phases);
    let load = workload(vec![execs, hog(Some(&[0]))], vec![]);
    let platform = Board::symmetric(2).platform();
    for name in ["linux-3.8", "linux-4.17", "linux-7.3"] {
        let policy = policy(name, &[("governor", "performance")]);
        let (report, log) = simulate(&platform, &policy, &load, &all_off(100 * MS));
        check_log(&platform, &load, &log, &report, true);
        let asked = log.pick(|w| match w {
            What::Placement(p) if p.kind == PlacementKind::Exec => Some((p.task, p.cpu)),
            _ => None,
        });
        let [(at, (0, 1))] = asked[..] else {
            panic!("{name}: {asked:?}");
        };
        let moved = log.moves(|cause| cause == MigrateCause::Exec);
        assert_eq!(moved[0], (at, (0, 0, 1)), "{name}");
        assert_eq!(log.ran(0, at, S, |cpu| cpu == 1), 5 * MS, "{name}");
    }
}

/// Goal: numbers are claimed once each, and the end of the counter ends the threads.
#[test]
fn a_counter_ends_its_threads() {
    let claim = Event::Claim { counter: 0 };
    let task = |cpu: u32, ms| TaskScript {
        cpus: Some(vec![cpu]),
        ..script(
            Loops::Forever,
            vec![phase(
                1,
                None,
                &[claim, run_ms(ms), Event::Count { units: 1 }],
            )],
        )
    };
    let shared = Shared {
        counters: vec![Counter {
            name: "c".into(),
            limit: Some(10),
        }],
        ..Shared::default()
    };
    let load = Workload {
        count: Some(Count {
            warm_up_ns: 0,
            figures: vec![],
        }),
        ..sharing(vec![task(0, 1), task(1, 4)], shared)
    };
    let platform = Board::symmetric(2).platform();
    let (report, log) = simulate(&platform, &performance(), &load, &all_off(S));
    check_log(&platform, &load, &log, &report, false);
    assert_eq!(report.ended, Ended::AllTasksExited);
    let done: Vec<u64> = report.tasks.iter().map(|t| t.counted).collect();
    // One claims at 0, 1, 2, ... ms, the other at 0, 4, 8: two of its ten are the other's by 7 ms.
    assert_eq!(done, [8, 2]);
    assert_eq!(report.counted.map(|c| c.units), Some(10));
}

/// Goal: a thread ends once its time is over, between two steps.
#[test]
fn a_thread_ends_after_its_time() {
    let until = Event::ExitAfter {
        since_start_ns: 5 * MS - 1,
    };
    let task = script(
        Loops::Forever,
        vec![phase(1, None, &[Event::Run { work_ns: 2 * MS }, until])],
    );
    let platform = Board::symmetric(1).platform();
    let load = workload(vec![task], vec![]);
    let options = Options {
        kernel_costs: false,
        ..all_off(S)
    };
    let (report, _) = simulate(&platform, &performance(), &load, &options);
    assert_eq!(report.ended, Ended::AllTasksExited);
    assert_eq!(report.tasks[0].run_ns, 6 * MS);
}
