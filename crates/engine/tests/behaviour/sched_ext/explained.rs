//! What callbacks did for one wake-up.
//! Page: docs/guide/schedulers.md; docs/rules/sched-ext.md#idle.
//!
//! What must stay: what is told is the record of the run itself, in the order of its callbacks.
//! Tests by part (in crates/engine/src): both.rs: `a_direct_dispatch` (`sched_ext`);
//! explain/sched_ext.rs: `a_direct_dispatch` (steps), `the_number_is_one_of_its_task` (which
//! wake-up), `a_wait_in_a_queue` (until it runs).
//! Helpers, and who fails with them: `light`, `fifth` (all tests); `explained`, `callbacks`
//! (`a_direct_dispatch`, `a_wait_in_a_queue`).

use super::simple::Simple;
use crate::common::*;
use wakeplace_engine::observe::SchedExtStep as Step;
use wakeplace_engine::sched_ext::consts::{SCX_DSQ_LOCAL, SCX_SLICE_DFL};
use wakeplace_engine::sched_ext::{Callback, TaskId};
use wakeplace_engine::{Asked, SchedExtExplanation, Which, explain_sched_ext};
use wakeplace_workload::{Loops, TaskScript};

fn light() -> TaskScript {
    script(
        Loops::Forever,
        vec![phase(1, None, &[run_ms(1), sleep_ms(9)])],
    )
}

/// The fifth wake-up of the first task.
fn explained(cpus: u32, tasks: Vec<TaskScript>) -> SchedExtExplanation {
    fifth(Some(vec![0]), cpus, tasks)
}

/// The fifth wake-up of these tasks; None: of all.
fn fifth(scripts: Option<Vec<u32>>, cpus: u32, tasks: Vec<TaskScript>) -> SchedExtExplanation {
    let platform = Board::symmetric(cpus).platform();
    let asked = Asked {
        scripts,
        fork: None,
        which: Which::Wakeup(5),
    };
    let (policy, load) = (policy("linux-7.3", &[]), workload(tasks, vec![]));
    let mut ops = Simple::new(true);
    explain_sched_ext(&platform, &policy, &load, &all_off(S), &asked, &mut ops)
        .unwrap_or_else(|missing| panic!("{missing:?}"))
}

fn callbacks(told: &SchedExtExplanation) -> Vec<Callback> {
    told.callbacks.iter().map(|c| c.callback).collect()
}

/// Goal: an idle CPU is claimed and gets the task at once.
#[test]
fn a_direct_dispatch() {
    let told = explained(2, vec![light()]);
    assert_eq!(told.number, 5);
    assert_eq!(callbacks(&told), [Callback::SelectCpu, Callback::Running]);
    let cpu = told.placement.prev_cpu;
    let task = TaskId(0);
    let expected = [
        Step::Picked {
            cpu: cpu.cast_signed(),
        },
        Step::Inserted {
            task,
            dsq: SCX_DSQ_LOCAL,
            vtime: None,
            slice_ns: SCX_SLICE_DFL,
        },
        Step::Selected {
            task,
            cpu: cpu.cast_signed(),
        },
    ];
    assert_eq!(told.callbacks[0].steps, expected);
    assert_eq!(told.start.map(|(_, on)| on), Some(cpu));
}

/// Goal: a wake-up has its number among those of its task, as `explain` has it under a policy. Two
/// tasks wake every 10 ms: the fifth wake-up of all is somebody's third.
#[test]
fn the_number_is_one_of_its_task() {
    let told = fifth(None, 2, vec![light(), light()]);
    assert_eq!(told.number, 3);
    assert!(told.time_ns.abs_diff(30 * MS) <= MS, "{}", told.time_ns);
}

/// Goal: with no CPU idle the task waits in the shared queue until the slice of the running one is
/// over and its CPU takes it from there: at most a slice and a tick later.
#[test]
fn a_wait_in_a_queue() {
    let told = explained(2, vec![light(), hog(None), hog(None)]);
    let expected = [
        Callback::SelectCpu,
        Callback::Enqueue,
        Callback::Dispatch,
        Callback::Running,
    ];
    assert_eq!(callbacks(&told), expected);
    assert_eq!(
        told.callbacks[0].steps[0],
        Step::Picked { cpu: -16 },
        "EBUSY"
    );
    let (start_ns, cpu) = told.start.expect("it runs");
    let taken = Step::Taken {
        task: TaskId(0),
        dsq: Some(0),
        cpu,
        by: cpu,
    };
    assert!(told.callbacks[2].steps.contains(&taken));
    let waited = start_ns - told.time_ns;
    assert!(waited > 0 && waited <= 24 * MS, "{waited}");
}
