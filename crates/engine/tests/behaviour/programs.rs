//! Ends of threads that others wait for, and times that count from a thread's own start.
//! Rule: docs/guide/workloads.md, "A script of programs".
//!
//! What must stay: an end is told to all that wait for it; a thread's times count from its own
//! start.
//! Tests by part (in crates/engine/src): mechanics/script/start.rs (`fork_thread`, `tell_parent`):
//! both tests.
//! Helpers, and who fails with them: `child`, `two_of`, `between_ends_us`, `no_costs` (all tests).

use crate::common::checker::check_log;
use crate::common::*;
use wakeplace_engine::observe::PlacementKind;
use wakeplace_engine::{Ended, Options};
use wakeplace_workload::{Channel, Event, Loops, Shared, TaskScript, Zero};

const ENDS: u32 = 0;

fn child(loops: Loops, events: &[Event]) -> TaskScript {
    TaskScript {
        forks: Some(2),
        zero: Zero::OwnStart,
        ended: Some(ENDS),
        ..script(loops, vec![phase(1, None, events)])
    }
}

/// Two programs, one after the other: the parent works 1 ms before each and waits for its end.
fn two_of(child: TaskScript) -> wakeplace_workload::Workload {
    let wait = Event::Wait { channel: ENDS };
    let fork = Event::Fork { task: 1 };
    let parent = once(0, &[run_ms(1), fork, wait, run_ms(1), fork, wait]);
    let shared = Shared {
        channels: vec![Channel::default()],
        ..Shared::default()
    };
    sharing(vec![parent, child], shared)
}

/// From the first child's end to the second one's, us, without the few that interrupts take.
fn between_ends_us(log: &Log) -> u64 {
    let [first, second] = [2, 3].map(|child| log.exit(child).expect("it ends"));
    (second - first) / (100 * US) * 100
}

fn no_costs() -> Options {
    Options {
        kernel_costs: false,
        ..all_off(S)
    }
}

/// Goal: an end wakes whoever waits for it, also if the thread ends in the middle of its script,
/// and its time counts from its own start. Method: a child of steps of 2 ms that may take 5 ms ends
/// after 6. Two of them and 2 times 1 ms of the parent are 14 ms; the second child is not cut
/// short, though 7 ms have passed when it starts.
#[test]
fn an_end_is_told_and_time_counts_from_the_own_start() {
    let until = Event::ExitAfter {
        since_start_ns: 5 * MS,
    };
    let load = two_of(child(Loops::Forever, &[run_ms(2), until]));
    let platform = Board::symmetric(2).platform();
    let (report, log) = simulate(&platform, &performance(), &load, &no_costs());
    check_log(&platform, &load, &log, &report, false);
    assert_eq!(report.ended, Ended::AllTasksExited);
    assert_eq!(between_ends_us(&log), 6_000 + 1_000);
    assert_eq!(report.tasks[0].run_ns, 2 * MS);
    let wakes = log.pick(|w| match w {
        What::Placement(p) if p.task == 0 && p.kind == PlacementKind::Wake => Some(p.waker),
        _ => None,
    });
    let wakes: Vec<_> = wakes.into_iter().map(|(_, wake)| wake).collect();
    assert_eq!(wakes[wakes.len() - 2..], [Some(2), Some(3)]);
}

/// Goal: a delay counts from the thread's own start as well: 3 ms of sleep before each child's 2.
#[test]
fn a_delay_counts_from_the_own_start() {
    let late = TaskScript {
        delay_ns: 3 * MS,
        ..child(Loops::Times(1), &[run_ms(2)])
    };
    let platform = Board::symmetric(2).platform();
    let load = two_of(late);
    let (report, log) = simulate(&platform, &performance(), &load, &no_costs());
    assert_eq!(report.ended, Ended::AllTasksExited);
    assert_eq!(between_ends_us(&log), 5_000 + 1_000);
}
