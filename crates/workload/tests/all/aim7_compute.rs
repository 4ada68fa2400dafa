//! The `aim7-compute` model: the mix of docs/rules/workloads.md#aim7.
//!
//! What must stay: the mix and the two calibrated numbers are the page's; a task's cost never reads
//! how many there are.
//! Tests by part (in crates/workload/src): models/aim7_compute.rs:
//! `a_task_has_101_jobs_of_26_tests` (`times`), `jobs_are_made_of_what_their_kind_says` (`job`,
//! `disk`), `the_partner_does_half_of_a_pipe_job` (`talk`, `hop_ns`),
//! `a_single_task_adds_up_to_the_calibrated_cell` (all costs),
//! `tasks_do_not_know_how_many_they_are` (`phases`), `requests_divide_a_disk_job` (`disk`),
//! `jobs_are_counted_per_minute` (`expand`), `wrong_values_say_their_range` (`load`);
//! models/work.rs: `jobs_are_made_of_what_their_kind_says` (`work`); script/measure.rs:
//! `jobs_are_counted_per_minute` (figures).
//! Helpers, and who fails with them: `named` (`a_task_has_101_jobs_of_26_tests`,
//! `jobs_are_made_of_what_their_kind_says`, `tasks_do_not_know_how_many_they_are`); `order`
//! (`a_task_has_101_jobs_of_26_tests`, `tasks_do_not_know_how_many_they_are`).
use crate::sums;

use std::collections::BTreeMap;
use sums::{cpu_ns, expand, how_many, io_ns, ok, refused, same_seed_same_scripts, stall_ns, steps};
use wakeplace_workload::{Event, FigureOf, Loops, TaskScript};

/// As docs/rules/workloads.md#aim7 says it: how often each test is in a task's list.
const MIX: [(u64, &[&str]); 5] = [
    (6, &["add_double", "matrix_rtns", "mul_double", "page_test"]),
    (
        5,
        &[
            "div_double",
            "mem_rtns_1",
            "mem_rtns_2",
            "new_raph",
            "num_rtns_1",
            "series_1",
            "trig_rtns",
        ],
    ),
    (
        4,
        &[
            "add_int",
            "add_long",
            "disk_rd",
            "div_int",
            "mul_int",
            "mul_long",
            "sieve",
            "string_rtns",
        ],
    ),
    (2, &["disk_wrt", "stream_pipe", "udp_test"]),
    (1, &["array_rtns", "disk_cp", "disk_src", "shared_memory"]),
];

fn named(test: &str) -> bool {
    MIX.iter().any(|(_, tests)| tests.contains(&test))
}

/// The tests of a task in its order.
fn order(task: &TaskScript) -> Vec<&str> {
    let names = task.phases.iter().map(|phase| phase.name.as_str());
    names.filter(|name| named(name)).collect()
}

#[test]
fn a_task_has_101_jobs_of_26_tests() {
    let workload = ok("aim7-compute:tasks=3");
    assert_eq!(workload.tasks.len(), 6, "three tasks, three partners");
    for task in workload.tasks.iter().step_by(2) {
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for test in order(task) {
            *counts.entry(test).or_default() += 1;
        }
        let all = MIX
            .iter()
            .flat_map(|(n, tests)| tests.iter().map(move |test| (*test, *n)));
        assert_eq!(counts, all.collect());
        assert_eq!((counts.len(), counts.values().sum::<u64>()), (26, 101));
        let done = |event: &Event| matches!(event, Event::Count { units: 1 });
        assert_eq!(how_many(task, done), 101);
        assert_eq!((task.loops, task.delay_ns), (Loops::Times(1), 0));
    }
}

/// 82 CPU and library jobs, 6 page_test, 1 shared_memory, 8 disk, 4 of two processes.
#[test]
fn jobs_are_made_of_what_their_kind_says() {
    let task = &ok("aim7-compute:memory=25%,fault=75%").tasks[0];
    let (mut cpu, mut disk, mut talk) = (0, 0, 0);
    let ns = 39_505_000;
    for phase in task.phases.iter().filter(|phase| named(&phase.name)) {
        let job = TaskScript {
            phases: vec![phase.clone()],
            ..task.clone()
        };
        let made = (cpu_ns(&job), stall_ns(&job), io_ns(&job));
        match phase.name.as_str() {
            "disk_rd" | "disk_wrt" | "disk_cp" | "disk_src" => {
                disk += 1;
                assert_eq!(made, (ns, 0, 1_251_250_000));
            }
            "stream_pipe" | "udp_test" => {
                talk += 1;
                assert_eq!(phase.events, [Event::Fork { task: 1 }]);
            }
            "page_test" | "shared_memory" => assert_eq!(made, (ns, ns * 3 / 4, 0)),
            "matrix_rtns" | "mem_rtns_1" | "mem_rtns_2" | "sieve" | "string_rtns"
            | "array_rtns" => {
                cpu += 1;
                assert_eq!(made, (ns, ns / 4, 0));
            }
            _ => {
                cpu += 1;
                assert_eq!(made, (ns, 0, 0));
            }
        }
    }
    assert_eq!((cpu, disk, talk), (82, 8, 4));
}

/// A pipe job is 1000 round trips; both ends together do the work of a job: 19752 ns a hop, half of
/// 39505 us in thousandths.
#[test]
fn the_partner_does_half_of_a_pipe_job() {
    let workload = ok("aim7-compute");
    let [task, partner] = &workload.tasks[..] else {
        panic!("a task and its partner");
    };
    assert_eq!(partner.forks, Some(4));
    assert_eq!(task.forks, None);
    assert_eq!(cpu_ns(partner), 19_752_000);
    let rounds = task.phases.iter().filter(|phase| phase.name == "rounds");
    let hop = [
        Event::Run { work_ns: 19_752 },
        Event::Post {
            channel: 0,
            sync: true,
        },
        Event::Wait { channel: 1 },
    ];
    let rounds: Vec<_> = rounds.collect();
    assert_eq!(rounds.len(), 4);
    let as_said = |phase: &&wakeplace_workload::Phase| {
        phase.loops == Loops::Times(1000) && phase.events == hop
    };
    assert!(rounds.iter().all(as_said));
    let posts = |event: &Event| matches!(event, Event::Post { channel: 1, .. });
    assert_eq!(how_many(partner, posts), 1000);
}

/// The two calibrated numbers: cpu 3.99 s and real 14.00 s of `tasks=1,performance`, to the
/// rounding of the parameters (101 us) and of the hops (4 x 1 us).
#[test]
fn a_single_task_adds_up_to_the_calibrated_cell() {
    let workload = ok("aim7-compute");
    let cpu = cpu_ns(&workload.tasks[0]) + 4 * cpu_ns(&workload.tasks[1]);
    assert!(cpu.abs_diff(3_990_000_000) <= 105_000, "{cpu}");
    assert_eq!(io_ns(&workload.tasks[0]), 10_010_000_000);
}

/// docs/rules/workloads.md#aim7: a task's cost never reads the task count; and more tasks shift no
/// draw.
#[test]
fn tasks_do_not_know_how_many_they_are() {
    let (one, forty) = (ok("aim7-compute:tasks=1"), ok("aim7-compute:tasks=40"));
    assert_eq!(one.tasks, forty.tasks[..2]);
    let cost = cpu_ns(&one.tasks[0]);
    assert!(
        forty
            .tasks
            .iter()
            .step_by(2)
            .all(|task| cpu_ns(task) == cost)
    );
    assert_ne!(
        order(&forty.tasks[0]),
        order(&forty.tasks[2]),
        "orders are drawn"
    );
    let other = expand("aim7-compute:tasks=1", 2).expect("seed 2");
    assert_ne!(order(&one.tasks[0]), order(&other.tasks[0]));
    same_seed_same_scripts("aim7-compute:tasks=5", true);
}

#[test]
fn requests_divide_a_disk_job() {
    let task = &ok("aim7-compute:disk_requests=3,disk_wait=1s,job=10ms").tasks[0];
    let ios = steps(task).filter_map(|event| match event {
        Event::Io { duration_ns } => Some(*duration_ns),
        _ => None,
    });
    let ios: Vec<u64> = ios.collect();
    assert_eq!((ios.len(), ios.iter().sum::<u64>()), (24, 8_000_000_000));
    assert_eq!(ios[..3], [333_333_333, 333_333_333, 333_333_334]);
    assert_eq!(io_ns(&ok("aim7-compute:disk_wait=0s").tasks[0]), 0);
}

/// jobs/min = jobs * 60 / seconds, and the same per task: one job per unit, or one per task, in a
/// minute.
#[test]
fn jobs_are_counted_per_minute() {
    let count = ok("aim7-compute:tasks=5").count.expect("counts jobs");
    assert_eq!(count.warm_up_ns, 0);
    let per_ns = 60_000_000_000;
    let figures: Vec<_> = count.figures.iter().map(|f| (f.metric, f.of)).collect();
    let rate = |units_each| FigureOf::Rate { units_each, per_ns };
    assert_eq!(
        figures,
        [
            ("jobs_per_min_per_task", rate(5)),
            ("jobs_per_min", rate(1))
        ]
    );
}

#[test]
fn wrong_values_say_their_range() {
    refused(&[
        ("aim7-compute:tasks=0", "a number from 1 to 2000"),
        ("aim7-compute:tasks=2001", "a number from 1 to 2000"),
        ("aim7-compute:tasks=+5", "`tasks=+5` is not possible"),
        ("aim7-compute:job=999ns", "a time from 1us to 100s"),
        ("aim7-compute:job=5", "a time from 1us to 100s"),
        ("aim7-compute:disk_wait=101s", "a time from 0ns to 100s"),
        ("aim7-compute:disk_requests=101", "a number from 1 to 100"),
        ("aim7-compute:memory=101%", "a percentage from 0% to 100%"),
        ("aim7-compute:fault=5", "a percentage from 0% to 100%"),
        ("aim7-compute:rounds=0", "a number from 1 to 100000"),
        ("aim7-compute:job=1us,rounds=501", "at least 2 ns of `job`"),
        ("aim7-compute:task=1", "did you mean `tasks`?"),
        ("aim7", "did you mean `aim7-compute`?"),
        ("aim7-comput", "did you mean `aim7-compute`?"),
    ]);
}
