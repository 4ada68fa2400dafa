//! How the threads of a program come into being: who makes them, where, one after the other, and
//! who lets them begin (docs/rules/rt-app.md#rt-app-task: the start barrier; docs/decisions/005).
//!
//! What must stay: order, times (40 us a fork) and who wakes whom are what the page and the
//! decision say.
//! Tests by part (in crates/engine/src): mechanics/mod.rs: `threads_are_made_one_after_the_other`
//! (`new`); mechanics/threads.rs: `threads_are_made_one_after_the_other` (`parent`,
//! `first_thread`), `the_parent_is_placed` (`shell`); mechanics/script/start.rs:
//! `the_creator_releases_those_who_are_ready` (start line); kernel/model/fork.rs:
//! `the_parent_is_placed` (first task); sim.rs: `a_program_begins_when_it_is_to` (`begin`);
//! mechanics/script/start.rs (`start_line`, `wait_at_line`, `let_begin`):
//! `the_last_one_opens_the_barrier`, `delays_count_from_time_zero`,
//! `without_a_line_each_begins_at_once`.
//! Helpers, and who fails with them: `three`, `options` (all tests); `placements` (most tests);
//! `run` (`threads_are_made_one_after_the_other`, `the_last_one_opens_the_barrier`,
//! `the_creator_releases_those_who_are_ready`, `without_a_line_each_begins_at_once`).

use crate::common::*;
use wakeplace_engine::Options;
use wakeplace_engine::observe::{Placement, PlacementKind};
use wakeplace_workload::{Event, Loops, Start, StartLine, Workload};

const FORK_US: u64 = 1_000;

/// Three tasks that run a millisecond and end.
fn three(line: StartLine) -> Workload {
    let task = || script(Loops::Times(1), vec![phase(1, None, &[run_ms(1)])]);
    Workload {
        start: Start { at_ns: 0, line },
        ..workload(vec![task(), task(), task()], vec![])
    }
}

fn options() -> Options {
    Options {
        fork_ns: Some(FORK_US * US),
        ..all_off(S)
    }
}

fn placements(log: &Log, kind: PlacementKind) -> Vec<(u64, Placement)> {
    log.pick(|w| match w {
        What::Placement(p) if p.kind == kind => Some(*p),
        _ => None,
    })
}

fn run(line: StartLine) -> (wakeplace_engine::RunReport, Log) {
    let platform = Board::symmetric(4).platform();
    simulate(&platform, &performance(), &three(line), &options())
}

/// Goal: threads are made one after the other, `fork_ns` each, by a task that runs. Method: 1 ms of
/// work each on CPU 0, which leaves WFI first (1 us).
#[test]
fn threads_are_made_one_after_the_other() {
    for line in [StartLine::Timers, StartLine::Barrier, StartLine::Each] {
        let (_, log) = run(line);
        let made: Vec<_> = placements(&log, PlacementKind::Fork);
        let at: Vec<u64> = made.iter().map(|(at, _)| *at).collect();
        assert_eq!(at, [1, 2, 3].map(|n| n * FORK_US * US + US), "{line:?}");
        assert!(made.iter().all(|(_, p)| p.waker_cpu == 0));
    }
}

/// Goal: at rt-app's barrier the last thread to arrive wakes the others, in the order in which they
/// came; time zero is when the first one came.
#[test]
fn the_last_one_opens_the_barrier() {
    let (report, log) = run(StartLine::Barrier);
    let woken: Vec<_> = placements(&log, PlacementKind::Wake);
    let who: Vec<_> = woken.iter().map(|(_, p)| (p.task, p.waker)).collect();
    assert_eq!(who, [(0, Some(2)), (1, Some(2))]);
    let first = log.pick(|w| matches!(w, What::Start { task: 0, .. }).then_some(()));
    assert_eq!(report.start_ns, Some(first[0].0));
    let last_made = placements(&log, PlacementKind::Fork)[2].0;
    assert!(woken.iter().all(|(at, _)| *at > last_made));
}

/// Goal: a thread with a delay sleeps it after the barrier, counted from time zero
/// (docs/rules/rt-app.md#rt-app-task).
#[test]
fn delays_count_from_time_zero() {
    let platform = Board::symmetric(4).platform();
    let mut load = three(StartLine::Barrier);
    load.tasks[1].delay_ns = 50 * MS;
    load.tasks[2].delay_ns = 60 * MS;
    let (report, log) = simulate(&platform, &performance(), &load, &options());
    let zero = report.start_ns.expect("it began");
    for (task, delay) in [(1, 50 * MS), (2, 60 * MS)] {
        let due = log.pick(|w| match *w {
            What::Wakeup { task: t, due, .. } if t == task => Some(due),
            _ => None,
        });
        assert_eq!(due.last().map(|(_, due)| *due), Some(zero + delay));
    }
}

/// Goal: who waits for its creator is woken by it, after the last one is there: nobody that
/// observers see, and sync if it says so.
#[test]
fn the_creator_releases_those_who_are_ready() {
    let (report, log) = run(StartLine::Creator { sync: true });
    let woken: Vec<_> = placements(&log, PlacementKind::Wake);
    let who: Vec<_> = woken.iter().map(|(_, p)| (p.task, p.waker)).collect();
    assert_eq!(who, [(0, None), (1, None), (2, None)]);
    let last_ran = log.stretches(2)[0].from;
    let ready = log.pick(|w| matches!(w, What::Start { task: 2, .. }).then_some(()));
    assert!(
        report.start_ns > Some(ready[0].0),
        "it has to be there first"
    );
    assert!(woken.iter().all(|(at, _)| *at <= last_ran));
}

/// Goal: threads of a program without a start line run before the last one exists.
#[test]
fn without_a_line_each_begins_at_once() {
    let (_, log) = run(StartLine::Each);
    assert!(placements(&log, PlacementKind::Wake).is_empty());
    let ran = log.stretches(0);
    let second_made = placements(&log, PlacementKind::Fork)[1].0;
    assert!(ran[0].from < second_made, "{ran:?}");
}

/// Goal: the parent is where it is put, else where the kernel puts a program that a shell on CPU 0
/// starts. Method: two little and two big CPUs, all idle. 4.17 looks for spare capacity when a task
/// runs exec (docs/rules/wake-ups.md#slow-path), so the parent is on a big one; of equal groups the
/// local one is kept, so on four equal CPUs it stays with the shell.
#[test]
fn the_parent_is_placed() {
    let board = Board {
        clusters: vec![(2, 512), (2, 1024)],
        ..Board::symmetric(4)
    };
    let made_on = |parent_cpu| {
        let options = Options {
            parent_cpu,
            ..options()
        };
        let platform = board.platform();
        let (_, log) = simulate(&platform, &performance(), &three(StartLine::Each), &options);
        placements(&log, PlacementKind::Fork)[0].1.waker_cpu
    };
    for cpu in 0..4 {
        assert_eq!(made_on(Some(cpu)), cpu);
    }
    assert!(made_on(None) >= 2);
}

/// Goal: a program can begin later: nothing happens before.
#[test]
fn a_program_begins_when_it_is_to() {
    let platform = Board::symmetric(4).platform();
    let mut load = three(StartLine::Barrier);
    load.start.at_ns = 7 * MS;
    load.tasks[0].phases[0].events = vec![Event::Run { work_ns: MS }];
    let (report, log) = simulate(&platform, &performance(), &load, &options());
    let made = placements(&log, PlacementKind::Fork)[0].0;
    assert_eq!(made, 7 * MS + FORK_US * US + US);
    assert!(report.start_ns >= Some(made));
}
