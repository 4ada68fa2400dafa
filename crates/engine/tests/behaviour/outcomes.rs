//! How runs end.
//! Rule: docs/rules/README.md#engine-time.
//!
//! What must stay: a run ends in one of the named ways, and an outcome names the task that is to
//! blame.
//! Tests by part (in crates/engine/src): mechanics/report.rs: `it_ends_with_the_last_task`
//! (`has_ended`, `why_ended`); mechanics/run.rs: `it_ends_with_the_last_task` (`gone`); outcome.rs:
//! `zero_time_loops_name_the_task` (`Ended`); mechanics/script/progress.rs:
//! `zero_passes_end_at_once` (`spent`); mechanics/report.rs (`why_ended`):
//! `it_ends_after_the_duration`; mechanics/script/progress.rs:
//! `sleeping_for_ever_is_no_zero_time_loop`.

use crate::common::*;
use wakeplace_engine::observe::NoObserver;
use wakeplace_engine::{Ended, run};
use wakeplace_workload::{Event, Loops, TaskScript};

/// Goal: the run ends with its last task, at the time it ends.
#[test]
fn it_ends_with_the_last_task() {
    let task = |ms| script(Loops::Times(1), vec![phase(1, None, &[run_ms(ms)])]);
    let load = workload(vec![task(5), task(9)], vec![]);
    let platform = Board::symmetric(2).platform();
    let (report, log) = simulate(&platform, &performance(), &load, &all_off(S));
    assert_eq!(report.ended, Ended::AllTasksExited);
    assert_eq!(report.end_ns, log.exit(1).expect("it ends"));
    assert!(report.end_ns < 15 * MS);
    assert!(log.exit(0).expect("it ends") <= report.end_ns);
}

/// Goal: otherwise after the duration, to the nanosecond.
#[test]
fn it_ends_after_the_duration() {
    let load = workload(vec![hog(None)], vec![]);
    let platform = Board::symmetric(2).platform();
    let (report, _) = simulate(&platform, &performance(), &load, &all_off(123_456_789));
    assert_eq!(report.ended, Ended::Duration);
    assert_eq!(report.end_ns, 123_456_789);
}

/// Goal: a task that loops without time passing is an outcome that names it, whichever it is.
/// Source: docs/rules/README.md#engine-time.
#[test]
fn zero_time_loops_name_the_task() {
    let idle = script(Loops::Forever, vec![phase(1, None, &[sleep_ms(1)])]);
    let stuck = script(
        Loops::Forever,
        vec![phase(1, None, &[Event::Run { work_ns: 0 }])],
    );
    let load = workload(vec![idle.clone(), stuck, idle], vec![]);
    let platform = Board::symmetric(2).platform();
    for options in [all_off(S), all_on(S)] {
        let (report, _) = simulate(&platform, &performance(), &load, &options);
        assert_eq!(report.ended, Ended::ZeroTimeLoop { task: 1 });
    }
}

/// Goal: sleeping is time: a task that only sleeps is no zero-time loop, however often it wakes.
/// Method: more than half a million activations (two steps each) of no work.
#[test]
fn sleeping_for_ever_is_no_zero_time_loop() {
    let nap = Event::Sleep { duration_ns: US };
    let idle = script(Loops::Forever, vec![phase(1, None, &[nap])]);
    let load = workload(vec![idle], vec![]);
    let report = run(
        &Board::symmetric(1).platform(),
        &performance(),
        &load,
        &all_off(1_200 * MS),
        &mut NoObserver,
    );
    assert_eq!(report.ended, Ended::Duration);
    assert!(report.tasks[0].activations > 500_000);
}

/// Goal: a task without passes ends without having run.
#[test]
fn zero_passes_end_at_once() {
    let none = TaskScript {
        loops: Loops::Times(0),
        ..hog(None)
    };
    let load = workload(vec![none], vec![]);
    let platform = Board::symmetric(1).platform();
    let (report, _) = simulate(&platform, &performance(), &load, &all_off(S));
    assert_eq!(report.ended, Ended::AllTasksExited);
    assert_eq!(report.tasks[0].run_ns, 0);
}
