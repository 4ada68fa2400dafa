//! What the cache line of a task group's load costs, and the lines that a search looks at
//! (docs/rules/contended-lines.md#tg-load-avg and docs/rules/contended-lines.md#line-cost,
//! docs/decisions/053). Costs are off but for the line: times are exact.

use crate::common::*;
use crate::wake_latency::channels;
use wakeplace_engine::{Options, RunReport};
use wakeplace_workload::{Event, Loops, TaskGroup, TaskScript, Workload};

/// A transfer within a cache, ns.
const LINE_NS: u64 = 10_000;
const HALF_MS: Event = Event::Run { work_ns: 500 * US };

/// CPU 0 wakes the second task, which may use these CPUs and slept on the first of them, 11 ms
/// after the start; both then work for half a ms, and no tick comes.
fn pair(cpus: &[u32], grouped: bool, others: Vec<TaskScript>) -> Workload {
    let wake = Event::Post {
        channel: 0,
        sync: false,
    };
    let waker = TaskScript {
        cpus: Some(vec![0]),
        delay_ns: 10 * MS,
        ..script(
            Loops::Times(1),
            vec![phase(1, None, &[run_ms(1), wake, HALF_MS])],
        )
    };
    let steps = [Event::Wait { channel: 0 }, HALF_MS];
    let woken = TaskScript {
        cpus: Some(cpus.to_vec()),
        ..script(Loops::Times(1), vec![phase(1, None, &steps)])
    };
    let tasks: Vec<_> = [waker, woken].into_iter().chain(others).collect();
    let group = TaskGroup {
        name: "all".to_owned(),
        shares: 1024,
        outer: Vec::new(),
        tasks: (0..tasks.len() as u32).collect(),
    };
    Workload {
        groups: if grouped { vec![group] } else { Vec::new() },
        shared: channels(1),
        ..workload(tasks, vec![])
    }
}

fn run(board: &Board, load: &Workload, settings: &[(&str, &str)], line_ns: u64) -> RunReport {
    let still = [
        ("governor", "performance"),
        ("balance", "off"),
        ("newidle_balance", "off"),
        ("nohz_balance", "off"),
    ];
    let policy = policy("linux-6.2", &[&still, settings].concat());
    let options = Options {
        lock_shared_cache_ns: Some(line_ns),
        lock_other_cache_ns: Some(line_ns),
        ..all_off(30 * MS)
    };
    simulate(&board.platform(), &policy, load, &options).0
}

/// Goal: a waker that queues the task itself waits for the line as its own run time, and a task
/// that sleeps waits in nobody's. Method: the waker queues (`wake_list=off`). The last access
/// before was by CPU 1, where a third task ran, so the waker's first one takes a transfer; the
/// woken task's dequeue on CPU 1 takes the line back: a transfer after its last nanosecond.
#[test]
fn a_waker_waits_as_its_own_run_time() {
    let board = Board::symmetric(2);
    let ran = |grouped| {
        let third = TaskScript {
            cpus: Some(vec![1]),
            delay_ns: 10 * MS + 500 * US,
            ..script(
                Loops::Times(1),
                vec![phase(1, None, &[Event::Run { work_ns: US }])],
            )
        };
        let load = pair(&[1], grouped, vec![third]);
        let report = run(&board, &load, &[("wake_list", "off")], LINE_NS);
        let ran = [0, 1].map(|task| report.tasks[task].run_ns);
        (ran, report.line_wait_ns, report.lock_wait_ns)
    };
    let (alone, none, _) = ran(false);
    let (grouped, waited, _) = ran(true);
    assert_eq!(none, None, "no group, no line");
    assert_eq!(grouped[0], alone[0] + LINE_NS);
    assert_eq!(grouped[1], alone[1]);
    let waited = waited.expect("the line takes time");
    assert!(waited >= 2 * LINE_NS && waited % LINE_NS == 0, "{waited}");
}

/// Goal: by the wake list the woken task's CPU waits, in the interrupt that wakes it from idle:
/// later than without a group by that, but nobody's run time.
#[test]
fn an_idle_cpu_that_queues_waits_in_nobodys_time() {
    let board = Board::symmetric(2);
    let run = |grouped| {
        let load = pair(&[1], grouped, vec![]);
        let report = run(&board, &load, &[("wake_list", "idle")], LINE_NS);
        let tasks = report.tasks.clone();
        ([0, 1].map(|task| tasks[task].run_ns), tasks[1].wait_ns)
    };
    let (alone, waited_alone) = run(false);
    let (grouped, waited) = run(true);
    assert_eq!(grouped, alone);
    assert!(
        waited >= waited_alone + LINE_NS,
        "{waited} after {waited_alone}"
    );
}

/// Goal: what a task's dequeue waits for is the run time of the task that is next. Method: a second
/// task waits on CPU 1 while the woken one runs there; it is done that much later.
#[test]
fn the_next_task_pays_for_the_dequeue() {
    let board = Board::symmetric(2);
    let ran = |grouped| {
        let next = TaskScript {
            cpus: Some(vec![1]),
            delay_ns: 11 * MS + 100 * US,
            ..script(Loops::Times(1), vec![phase(1, None, &[run_ms(1)])])
        };
        let load = pair(&[1], grouped, vec![next]);
        let report = run(&board, &load, &[("wake_list", "off")], LINE_NS);
        report.tasks[2].run_ns
    };
    assert!(
        ran(true) >= ran(false) + LINE_NS,
        "{} {}",
        ran(true),
        ran(false)
    );
}

/// Goal: each CPU that a search looks at is a line for the waker, with groups or without, and free
/// where lines take no time. Method: three CPUs are busy, with `sis_util=off` the search looks at
/// all four of the cache, one after the other, the last of them the target.
#[test]
fn a_search_pays_for_each_cpu() {
    let board = Board::symmetric(4);
    let ran = |line_ns| {
        let hogs = (1..4).map(|cpu| hog(Some(&[cpu]))).collect();
        let settings = [
            ("sis_util", "off"),
            ("wake_list", "off"),
            ("wake_affine_weight", "off"),
        ];
        let load = pair(&[0, 1, 2, 3], false, hogs);
        let report = run(&board, &load, &settings, line_ns);
        (report.tasks[0].run_ns, report.lock_wait_ns.unwrap_or(0))
    };
    let (free, _) = ran(0);
    let (paid, locks) = ran(1_000);
    // The waker's share of waiting for locks is the rest; each is 1 us.
    assert!(
        paid >= free + 4_000 && paid <= free + 4_000 + locks,
        "{paid} {free} {locks}"
    );
}
