//! What the kernel does for a scheduler: slices, order, idle CPUs, frequencies, costs.
//!
//! What must stay: slices (20 ms), weights (100, 33) and targets (1024) are the page's; the class
//! itself is crates/sched-ext.
//! Tests by part (in crates/engine/src): kernel/model/home/any.rs: `two_hogs_take_turns_of_a_slice`
//! (`SchedExt`); kernel/model/home/mod.rs: `a_lone_task_is_kept` (`dispatch`, `keeps`);
//! kernel/model/home/sched_ext.rs: `a_lone_task_is_kept` (keeps), `a_waking_task_finds_an_idle_cpu`
//! (select), `cpus_take_from_the_shared_queue` (dispatch); kernel/model/sched_ext/effects.rs:
//! `cpus_take_from_the_shared_queue` (moves), `frequencies_begin_at_the_highest` (frequencies);
//! kernel/model/sched_ext/callbacks.rs: `callbacks_cost_time` (costs);
//! kernel/model/home/sched_ext.rs: `virtual_time_shares_by_weight`.
//! Helpers, and who fails with them: `simple` (all tests); `on_cpus` (most tests); `busy_ns`
//! (`callbacks_cost_time`). Rules: docs/rules/sched-ext.md#slices, docs/rules/sched-ext.md#weights,
//! docs/rules/sched-ext.md#idle, docs/rules/sched-ext.md#cpuperf, docs/rules/sched-ext.md#costs.

use super::simple::Simple;
use crate::common::*;
use wakeplace_engine::observe::{CpuPower, MigrateCause};
use wakeplace_engine::sched_ext::Callback;
use wakeplace_engine::{Ended, RunReport};
use wakeplace_platform::Platform;
use wakeplace_workload::{Loops, TaskScript, Workload};

fn simple(
    platform: &Platform,
    load: &Workload,
    options: &wakeplace_engine::Options,
    fifo: bool,
) -> (RunReport, Log) {
    let mut ops = Simple::new(fifo);
    let policy = policy("linux-7.3", &[]);
    simulate_sched_ext(platform, &policy, load, options, &mut ops)
}

fn on_cpus(cpus: u32, tasks: Vec<TaskScript>, ns: u64, fifo: bool) -> (RunReport, Log) {
    let board = Board::symmetric(cpus);
    simple(
        &board.platform(),
        &workload(tasks, vec![]),
        &all_off(ns),
        fifo,
    )
}

/// Goal: a slice is 20 ms, ends at a tick, and two hogs take turns. Source:
/// docs/rules/sched-ext.md#slices; 20 ms are five ticks at HZ 250.
#[test]
fn two_hogs_take_turns_of_a_slice() {
    let (report, log) = on_cpus(1, vec![hog(None), hog(None)], 2 * S, true);
    for task in 0..2 {
        // The first turns begin between ticks, where the tasks are created.
        for stretch in log.stretches(task).iter().filter(|s| s.from > 60 * MS) {
            let last = stretch.to == 2 * S;
            assert!(last || stretch.to - stretch.from == 20 * MS, "{stretch:?}");
        }
        let ran = report.tasks[task as usize].run_ns;
        assert!(ran.abs_diff(S) <= 24 * MS, "task {task}: {ran}");
    }
}

/// Goal: weights of nice 0 and 5 are 100 and 33 to a scheduler, and with virtual time they get
/// time in that ratio. Source: docs/rules/sched-ext.md#weights: 335 * 100 / 1024, to the nearest.
/// Three tasks: who runs is in no queue, so of two the other one is always next.
#[test]
fn virtual_time_shares_by_weight() {
    let nice = |nice| TaskScript { nice, ..hog(None) };
    let (_, log) = on_cpus(1, vec![nice(0), nice(0), nice(5)], 25 * S, false);
    let (from, to) = (S, S + 23_300 * MS);
    let ran: Vec<u64> = (0..3)
        .map(|task| log.ran(task, from, to, |_| true))
        .collect();
    assert_eq!(ran.iter().sum::<u64>(), to - from);
    // At both ends of the window a task may be a slice and a tick ahead in virtual time, which is
    // three times as much for the heavy ones as for the light one.
    for (ran, due) in ran.iter().zip([10_000, 10_000, 3_300]) {
        assert!(
            ran.abs_diff(due * MS) <= 2 * 3 * 24 * MS,
            "{ran} of {due} ms"
        );
    }
}

/// Goal: the only runnable task of a CPU goes on with a new slice, without being enqueued. Source:
/// docs/rules/sched-ext.md#dispatch.
#[test]
fn a_lone_task_is_kept() {
    let (report, log) = on_cpus(1, vec![hog(None)], S, true);
    let after_start = |s: &&record::Stretch| s.from > 10 * MS;
    assert_eq!(log.stretches(0).iter().filter(after_start).count(), 0);
    let ext = report.sched_ext.expect("a scheduler");
    let calls = |callback: Callback| {
        let mut all = ext.callbacks.iter();
        all.find(|c| c.callback == callback).map_or(0, |c| c.calls)
    };
    // Each slice ends in a call of dispatch; the start of the run takes some more.
    assert!(
        (48..=60).contains(&calls(Callback::Dispatch)),
        "{:?}",
        ext.callbacks
    );
    assert!(calls(Callback::Enqueue) < 8, "{:?}", ext.callbacks);
    assert!(calls(Callback::Tick) == 0, "it has no such callback");
}

/// Goal: a waking task goes to an idle CPU at once, and to its previous one if that idles. Source:
/// docs/rules/sched-ext.md#idle.
#[test]
fn a_waking_task_finds_an_idle_cpu() {
    let busy = || hog(Some(&[0]));
    let light = || {
        script(
            Loops::Forever,
            vec![phase(1, None, &[run_ms(1), sleep_ms(9)])],
        )
    };
    let (report, log) = on_cpus(4, vec![busy(), light(), light()], 2 * S, true);
    assert_eq!(report.ended, Ended::Duration);
    for task in 1..3 {
        let late = log.pick(|w| match *w {
            What::Start {
                task: t,
                latency: Some(ns),
                ..
            } if t == task => Some(ns),
            _ => None,
        });
        let late = late.into_iter().filter(|(at, _)| *at > 100 * MS);
        // WFI is left within 1 us.
        assert!(late.clone().count() > 150);
        assert!(late.map(|(_, ns)| ns).max() <= Some(US), "task {task}");
        let moves = log.pick(|w| match *w {
            What::Migrate { task: t, .. } if t == task => Some(()),
            _ => None,
        });
        let moves = moves.into_iter().filter(|(at, ())| *at > 100 * MS);
        assert_eq!(moves.count(), 0, "its previous CPU idles whenever it wakes");
    }
}

/// Goal: a CPU that takes a task from the shared queue takes it from another CPU's run queue, and
/// nobody waits while a CPU idles.
#[test]
fn cpus_take_from_the_shared_queue() {
    let hogs = (0..6).map(|_| hog(None)).collect();
    let (report, log) = on_cpus(4, hogs, 3 * S, true);
    let moved = log.pick(|w| match *w {
        What::Migrate {
            cause: MigrateCause::Dispatch,
            ..
        } => Some(()),
        _ => None,
    });
    assert!(moved.len() > 50);
    for task in &report.tasks {
        // 4 CPUs for 6 hogs: 2 s each; at the end one may be two slices and ticks ahead.
        assert!(task.run_ns.abs_diff(2 * S) <= 80 * MS, "{}", task.run_ns);
    }
    let idle = log.pick(|w| match *w {
        What::Power {
            power: CpuPower::Idle { .. },
            ..
        } => Some(()),
        _ => None,
    });
    assert!(idle.iter().all(|(at, ())| *at < 100 * MS));
}

/// Goal: without a word of the scheduler schedutil runs all CPUs at their highest frequency.
/// Source: docs/rules/sched-ext.md#cpuperf: the target is 1024 at first.
#[test]
fn frequencies_begin_at_the_highest() {
    let platform = builtin("hikey960");
    let light = script(
        Loops::Forever,
        vec![phase(1, None, &[run_ms(1), sleep_ms(9)])],
    );
    let load = workload(vec![light], vec![]);
    let (_, log) = simple(&platform, &load, &all_on(S), true);
    for (index, domain) in (0..).zip(&platform.freq_domains) {
        let last = log.pick(|w| match *w {
            What::Frequency { domain: d, opp } if d == index => Some(opp),
            _ => None,
        });
        let highest = domain.opps.len() as u16 - 1;
        assert_eq!(last.last().map(|(_, opp)| *opp), Some(highest));
    }
}

/// Goal: callbacks and kfuncs take the time that the options say: the run's own costs apart, a
/// task gets as much less. Source: docs/rules/sched-ext.md#costs.
#[test]
fn callbacks_cost_time() {
    let load = || {
        let pair = || {
            script(
                Loops::Forever,
                vec![phase(1, None, &[run_ms(1), sleep_ms(1)])],
            )
        };
        workload(vec![pair(), pair()], vec![])
    };
    let platform = Board::symmetric(1).platform();
    let with = |callback_ns, kfunc_ns| {
        let mut options = all_on(S);
        options.scx_callback_ns = Some(callback_ns);
        options.scx_kfunc_ns = Some(kfunc_ns);
        let (report, log) = simple(&platform, &load(), &options, true);
        let busy = busy_ns(&log, S);
        (report.sched_ext.expect("a scheduler"), report.tasks, busy)
    };
    let (free, tasks, busy) = with(0, 0);
    assert!(free.callbacks.iter().all(|c| c.time_ns == 0));
    let rounds: u64 = tasks.iter().map(|t| t.activations).sum();
    let (dear, tasks, dear_busy) = with(20_000, 1_000);
    let dear_rounds: u64 = tasks.iter().map(|t| t.activations).sum();
    let cost: u64 = dear.callbacks.iter().map(|c| c.time_ns).sum();
    let calls = |c: &wakeplace_engine::CallbackTotals| 20_000 * c.calls + 1_000 * c.kfuncs;
    assert_eq!(cost, dear.callbacks.iter().map(calls).sum::<u64>());
    // Busy time is work and costs; what a round takes besides the callbacks is the same.
    let other = |busy: u64, cost: u64, rounds: u64| (busy - cost) / rounds;
    let (cheap, dear) = (other(busy, 0, rounds), other(dear_busy, cost, dear_rounds));
    assert!(
        cheap.abs_diff(dear) < cheap / 100,
        "{cheap} and {dear} ns a round"
    );
}

/// Time in which some CPU was busy.
fn busy_ns(log: &Log, end: u64) -> u64 {
    let mut since = None;
    let mut sum = 0;
    for (at, power) in log.pick(|w| match *w {
        What::Power { power, .. } => Some(power),
        _ => None,
    }) {
        sum += since.take().map_or(0, |since| at - since);
        since = (power == CpuPower::Busy).then_some(at);
    }
    sum + since.map_or(0, |since| end - since)
}
