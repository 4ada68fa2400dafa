//! What the cache line of a task group's load costs, and the lines that a search looks at
//! (docs/rules/contended-lines.md#tg-load-avg and docs/rules/contended-lines.md#line-cost,
//! docs/decisions/053). Costs are off but for the line: times are exact.
//!
//! What must stay: each wait is counted once, in the time of who waits; times are exact, since all
//! other costs are off.
//! Tests by part (in crates/engine/src): kernel/model/report.rs:
//! `a_waker_waits_as_its_own_run_time` (`line_wait_ns`); mechanics/work.rs:
//! `a_waker_waits_as_its_own_run_time` (`hold`); kernel/model/tick.rs:
//! `the_tick_of_an_idle_cpu_waits_at_once` (`idle_tick`); kernel/model/lines.rs: all others.
//! Helpers, and who fails with them: `still`, `lines` (most tests); `group` (all tests); `later`
//! (`the_tick_of_an_idle_cpu_waits_at_once`, `a_task_that_changes_waits_at_once`,
//! `a_new_idle_pass_takes_its_wait_and_its_search`); `pair` (`a_waker_waits_as_its_own_run_time`,
//! `an_idle_cpu_that_queues_waits_in_nobodys_time`, `the_next_task_pays_for_the_dequeue`,
//! `a_search_pays_for_each_cpu`); `run` (`a_waker_waits_as_its_own_run_time`,
//! `the_next_task_pays_for_the_dequeue`, `a_search_pays_for_each_cpu`,
//! `a_task_that_changes_waits_at_once`).

use crate::common::*;
use crate::wake_latency::channels;
use wakeplace_engine::observe::CpuPower;
use wakeplace_engine::{CpuIdle, Options, RunReport};
use wakeplace_policy_sys::Policy;
use wakeplace_workload::{Change, Event, Loops, Phase, TaskGroup, TaskScript, Workload};

/// A transfer within a cache, ns.
const LINE_NS: u64 = 10_000;
const HALF_MS: Event = Event::Run { work_ns: 500 * US };
/// Until after the end.
const SLEEPS_ON: Event = Event::Sleep { duration_ns: S };

/// The first tasks, so many, are in it.
fn group(nr: u32) -> TaskGroup {
    TaskGroup {
        tasks: (0..nr).collect(),
        ..TaskGroup::new("all")
    }
}

/// Once through these steps, from `delay_ns` on, on one CPU.
fn later(cpu: u32, delay_ns: u64, events: &[Event]) -> TaskScript {
    TaskScript {
        delay_ns,
        ..once(cpu, events)
    }
}

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
    let all = group(tasks.len() as u32);
    Workload {
        groups: if grouped { vec![all] } else { Vec::new() },
        shared: channels(1),
        ..workload(tasks, vec![])
    }
}

/// Nothing balances, but for what the settings say.
fn still(settings: &[(&str, &str)]) -> Policy {
    let still = [
        ("governor", "performance"),
        ("balance", "off"),
        ("newidle_balance", "off"),
        ("nohz_balance", "off"),
    ];
    policy("linux-6.2", &[&still, settings].concat())
}

fn lines(duration_ns: u64, line_ns: u64) -> Options {
    Options {
        lock_shared_cache_ns: Some(line_ns),
        lock_other_cache_ns: Some(line_ns),
        ..all_off(duration_ns)
    }
}

fn run(board: &Board, load: &Workload, settings: &[(&str, &str)], line_ns: u64) -> RunReport {
    let options = lines(30 * MS, line_ns);
    simulate(&board.platform(), &still(settings), load, &options).0
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

/// Goal: an idle CPU that takes its tick brings the signals of all groups up to date and waits for
/// their lines then, not whoever has the line next. Method: two CPUs slept in turns and keep their
/// tick, at 12 ms; nothing else happens in the ms around it, where one run ends before the tick and
/// one after it.
#[test]
fn the_tick_of_an_idle_cpu_waits_at_once() {
    let sleeper = |cpu, delay_ns| later(cpu, delay_ns, &[HALF_MS, SLEEPS_ON]);
    let load = Workload {
        groups: vec![group(2)],
        ..workload(vec![sleeper(1, 9 * MS), sleeper(0, 10 * MS)], vec![])
    };
    let platform = Board::symmetric(2).platform();
    let policy = still(&[("idle_got_tick", "on")]);
    let waited = |duration_ns| {
        let options = Options {
            cpuidle: CpuIdle::None,
            ..lines(duration_ns, LINE_NS)
        };
        let (report, _) = simulate(&platform, &policy, &load, &options);
        report.line_wait_ns.expect("the line takes time")
    };
    let before = waited(11 * MS + 500 * US);
    let after = waited(12 * MS + 500 * US);
    assert!(after >= before + LINE_NS, "{after} after {before}");
}

/// Goal: a task that leaves its group or changes its nice value waits for the line then, as its own
/// run time. Method: another CPU has used the line since the task began; no tick comes.
#[test]
fn a_task_that_changes_waits_at_once() {
    let steps = [Event::Run { work_ns: 550 * US }];
    let ran = |change: Change| {
        let changed = Phase {
            change,
            ..phase(1, None, &steps)
        };
        let changes = TaskScript {
            cpus: Some(vec![0]),
            delay_ns: 10 * MS,
            ..script(Loops::Times(1), vec![phase(1, None, &steps), changed])
        };
        let other = later(1, 10 * MS + 300 * US, &[Event::Run { work_ns: US }]);
        let load = Workload {
            groups: vec![group(2)],
            ..workload(vec![changes, other], vec![])
        };
        let report = run(&Board::symmetric(2), &load, &[], LINE_NS);
        report.tasks[0].run_ns
    };
    let same = ran(Change::default());
    let leaves = ran(Change {
        group: Some(None),
        ..Change::default()
    });
    let nicer = ran(Change {
        nice: Some(5),
        ..Change::default()
    });
    assert!(leaves >= same + LINE_NS, "{leaves} {same}");
    assert!(nicer >= same + LINE_NS, "{nicer} {same}");
}

/// Goal: a new-idle pass takes what it waited for and what it searched, whether the era counts the
/// wait as part of the pass's cost or not. Method: two tasks that may not move wait on CPU 0. On
/// CPU 1 a task outside their group goes to sleep, 5 ms after one of the group: that one's load has
/// faded, so the pass writes the line, which CPU 0's tick has read. Two CPUs are looked at.
#[test]
fn a_new_idle_pass_takes_its_wait_and_its_search() {
    let platform = Board::symmetric(2).platform();
    let tasks = vec![
        hog(Some(&[0])),
        hog(Some(&[0])),
        later(1, 5 * MS, &[HALF_MS, SLEEPS_ON]),
        later(1, 10 * MS, &[HALF_MS, SLEEPS_ON]),
    ];
    let load = Workload {
        groups: vec![group(3)],
        ..workload(tasks, vec![])
    };
    let run = |first_cost| {
        let policy = still(&[
            ("newidle_balance", "on"),
            ("newidle_first_cost", first_cost),
        ]);
        let options = lines(11 * MS + 500 * US, LINE_NS);
        let (_, log) = simulate(&platform, &policy, &load, &options);
        let slept = log.stretches(3).last().expect("it ran").to;
        let power = log.power(1);
        let idle = power.iter().find(|p| p.0 >= slept && p.1 != CpuPower::Busy);
        (idle.expect("it goes idle").0 - slept, power)
    };
    let (counted, power) = run("on");
    assert!(counted >= 3 * LINE_NS, "{counted}");
    assert_eq!(run("off"), (counted, power));
}
