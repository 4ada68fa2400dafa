//! Short real runs. Times of this machine are not in our hands, so what is asserted is arithmetic,
//! order, and bounds that a busy machine cannot break.
//!
//! What must stay: bounds are such that a busy machine cannot break them: never assert a time of
//! this machine. Free: times and numbers of tasks, if the arithmetic follows.
//! Tests by part (in crates/guest/src): load/mod.rs (`run`) and load/meter.rs (`work`):
//! `a_periodic_task_has_a_job_in_every_period`; load/task.rs:
//! `an_overloaded_timer_is_late_and_works_its_backlog_off` (`end_job`), `tasks_hand_over_by_events`
//! (`step`), `forked_tasks_run_and_a_task_ends_with_its_loops` (`fork`),
//! `phases_bind_a_task_to_their_cpus` (`enter`), `a_cpu_that_is_not_there_is_the_machines_fault`
//! (`set_up`), `a_delayed_task_begins_later` (`sleep_until`).
//! Helpers, and who fails with them: `task`, `job` (all tests,
//! `a_periodic_task_has_a_job_in_every_period` among them); `run_whole` (most tests,
//! `a_periodic_task_has_a_job_in_every_period` among them). Page: docs/guide/lab.md.

use super::*;
use crate::job::{Loops, Op, Phase, Policy, Task, Timer, TimerMode};

fn task(name: &str, ops: Vec<Op>) -> Task {
    Task {
        name: name.to_owned(),
        nice: 0,
        policy: Policy::Other,
        affinity: None,
        delay_ns: 0,
        forked: false,
        loops: Loops::Forever,
        phases: vec![Phase {
            loops: Loops::Forever,
            affinity: None,
            nice: None,
            ops,
        }],
    }
}

fn job(window_ns: u64, tasks: Vec<Task>) -> Job {
    Job {
        speeds: Vec::new(),
        warm_up_ns: 20_000_000,
        window_ns,
        frequency_invariant: false,
        start_offset_ns: 0,
        trace: false,
        timers: vec![Timer {
            mode: TimerMode::Absolute,
            start_delay_ns: 0,
        }],
        events: 2,
        tasks,
    }
}

fn run_whole(job: Job) -> Vec<TaskResult> {
    let (result, failures) = run(job).expect("a run");
    assert_eq!(failures, Vec::<String>::new());
    result.tasks
}

#[test]
fn a_periodic_task_has_a_job_in_every_period() {
    let period_ns = 10_000_000;
    let work = Op::Run { work_ns: 1_000_000 };
    let timer = Op::Timer {
        timer: 0,
        period_ns,
    };
    let tasks = run_whole(job(300_000_000, vec![task("periodic", vec![work, timer])]));
    let task = &tasks[0];
    // Expiries in [20 ms, 320 ms): backlog is kept, so none is missing however late.
    assert_eq!(task.jobs, 30);
    assert!(task.wakeups <= 31, "{task:?}");
    assert!(task.job_scaled_ns_min >= 1_000_000, "{task:?}");
    assert!(task.job_scaled_ns_mean <= task.job_scaled_ns_max);
    assert!(task.scaled_duty > 0.08, "{task:?}");
    assert_eq!(task.cpu_run_ns.values().sum::<u64>(), task.cpu_ns_window);
    assert!((task.run_share.values().sum::<f64>() - 1.0).abs() < 1e-9);
    assert!(task.cpu_ns >= task.cpu_ns_window);
}

#[test]
fn an_overloaded_timer_is_late_and_works_its_backlog_off() {
    let work = Op::Run { work_ns: 2_000_000 };
    let timer = Op::Timer {
        timer: 0,
        period_ns: 1_000_000,
    };
    // A busy machine may give it too little time to show anything: then it has another try.
    let tasks = (0..20)
        .map(|_| run_whole(job(100_000_000, vec![task("late", vec![work, timer])])))
        .find(|tasks| tasks[0].jobs > 0)
        .expect("a machine that has time for it");
    // At most one job per 2 ms fits from the start of the warm-up to the end of the run (170 ms),
    // and of their expiries, 1 ms apart, those below 20 ms are before the window.
    assert!(tasks[0].jobs <= 85 - 19, "{tasks:?}");
    let late = tasks[0].late_jobs;
    assert!(late > 0 && late == tasks[0].jobs, "{tasks:?}");
    assert!(tasks[0].lateness_ns_max > 20_000_000, "{tasks:?}");
    assert!(tasks[0].wakeups <= 1, "it never has time to sleep");
}

#[test]
fn tasks_hand_over_by_events() {
    let work = Op::Run { work_ns: 100_000 };
    let [go, back] = [0, 1];
    let first = vec![work, Op::Signal { event: go }, Op::Wait { event: back }];
    let second = vec![Op::Wait { event: go }, work, Op::Signal { event: back }];
    let tasks = run_whole(job(400_000_000, vec![task("a", first), task("b", second)]));
    assert!(tasks[0].jobs > 0, "{tasks:?}");
    // Runs strictly alternate, but the one who signals can be overtaken before it books its job:
    // up to any time one is at most 1 behind and 2 ahead, so between two times 3.
    let difference = tasks[0].jobs.abs_diff(tasks[1].jobs);
    assert!(difference <= 3, "{tasks:?}");
}

#[test]
fn forked_tasks_run_and_a_task_ends_with_its_loops() {
    let mut parent = task("parent", vec![Op::Fork { task: 1 }]);
    parent.loops = Loops::Times(1);
    parent.phases[0].loops = Loops::Times(3);
    let mut child = task("child", vec![Op::Run { work_ns: 1_000_000 }]);
    child.forked = true;
    child.policy = Policy::Batch;
    child.loops = Loops::Times(1);
    child.phases[0].loops = Loops::Times(2);
    let tasks = run_whole(job(50_000_000, vec![parent, child]));
    let children: Vec<_> = tasks.iter().filter(|task| task.task == 1).collect();
    assert_eq!((tasks.len(), children.len()), (4, 3));
    assert!(children.iter().all(|child| child.cpu_ns >= 2_000_000));
}

#[test]
fn phases_bind_a_task_to_their_cpus() {
    let cpus = crate::sys::affinity().expect("CPUs");
    let (first, last) = (cpus[0], cpus[cpus.len() - 1]);
    let mut hog = task("hog", vec![Op::Busy]);
    hog.affinity = Some(vec![first]);
    hog.phases[0].affinity = Some(vec![last]);
    let tasks = run_whole(job(200_000_000, vec![hog]));
    // On a busy machine it may have left the first CPU only in the window.
    assert!(tasks[0].run_share[&last] > 0.9, "{tasks:?}");
    assert!(tasks[0].cpu_changes <= 1, "{tasks:?}");
    assert_eq!(tasks[0].jobs, 0, "it never pauses");
}

#[test]
fn a_cpu_that_is_not_there_is_the_machines_fault() {
    let mut lost = task("lost", vec![Op::Busy]);
    lost.affinity = Some(vec![1023]);
    let error = run(job(50_000_000, vec![lost])).expect_err("no CPU 1023");
    assert_eq!(error.exit_code(), 3);
    assert!(
        error.to_string().contains("lost: affinity [1023]"),
        "{error}"
    );
}

#[test]
fn a_delayed_task_begins_later() {
    let mut late = task("delayed", vec![Op::Busy]);
    late.delay_ns = 60_000_000;
    let tasks = run_whole(job(100_000_000, vec![late]));
    // 40 of the window's 100 ms are before it begins; CPU time may be counted by the tick.
    assert!(tasks[0].cpu_ns_window < 80_000_000, "{tasks:?}");
    assert!(tasks[0].cpu_ns > 0);
}
