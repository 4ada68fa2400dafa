//! Cache-aware scheduling seen from outside: where the threads of a process end up
//! (docs/rules/cache-aware.md).
//!
//! What must stay: where threads come together follows from the page; the rule itself is
//! crates/policy-sys/tests/all/sched_cache.rs. Free: lengths of runs, and how helpers are built.
//! Tests by part (in crates/engine/src): kernel/model/processes.rs:
//! `threads_of_a_process_come_together` (who is of one),
//! `a_process_too_large_for_a_cache_is_spread` (how many threads),
//! `sets_that_fit_apart_alone_are_spread` (working sets),
//! `live_queues_know_processes_by_price_alone` (which homes).
//! Helpers, and who fails with them: `released`, `clusters` (`threads_of_a_process_come_together`,
//! `a_process_too_large_for_a_cache_is_spread`); `board`, `clusters_of` (all); `three_with_sets`
//! (`sets_that_fit_apart_alone_are_spread`).

use crate::common::*;
use wakeplace_platform::Platform;
use wakeplace_policy_sys::Policy;
use wakeplace_workload::{Event, Loops, TaskScript, WorkingSet};

/// On this CPU for 100 ms, then anywhere for ever.
fn released(cpu: u32, process: Option<u32>) -> TaskScript {
    let held = Event::Runtime { wall_ns: 100 * MS };
    let phases = vec![
        phase(1, Some(&[cpu]), &[held]),
        phase(1, None, &[run_ms(1_000_000)]),
    ];
    let mut task = script(Loops::Forever, phases);
    task.attributes.process = process;
    task
}

/// Two caches of four CPUs, of which nothing is stated.
fn board() -> Platform {
    let board = Board {
        clusters: vec![(4, 1024), (4, 1024)],
        ..Board::symmetric(4)
    };
    board.platform()
}

/// Of `clusters_of`, on `board` under `linux-7.3` with these settings.
fn clusters(tasks: Vec<TaskScript>, settings: &[(&str, &str)]) -> Vec<u32> {
    clusters_of(&board(), &policy("linux-7.3", settings), tasks)
}

/// The clusters of four that these run on in the last 100 ms of a second, and the last CPUs.
fn clusters_of(platform: &Platform, policy: &Policy, tasks: Vec<TaskScript>) -> Vec<u32> {
    let mut policy = policy.clone();
    policy.set("governor", "performance").expect("a governor");
    let number = tasks.len() as u32;
    let load = workload(tasks, vec![]);
    let (_, log) = simulate(platform, &policy, &load, &all_on(S));
    let last = |task| log.stretches(task).last().expect("it runs").cpu;
    let cpus: Vec<u32> = (0..number).map(last).collect();
    let mut alone = cpus.clone();
    alone.sort_unstable();
    alone.dedup();
    assert_eq!(
        alone.len(),
        cpus.len(),
        "each has a CPU of its own: {cpus:?}"
    );
    cpus.iter().map(|cpu| cpu / 4).collect()
}

/// Goal: three threads of a process that never sleep, two in one cache and one in the other, come
/// together, each on a CPU of its own: two busy CPUs of a cache have an idle one balance. In which
/// cache is left open: two are not more than twice as much as the one that ran first. A thread of
/// another process stays where it is, as do all without the rule: two and one are even enough.
#[test]
fn threads_of_a_process_come_together() {
    let three = |others, last| {
        let threads = [(0, others), (1, others), (4, last)];
        threads
            .map(|(cpu, process)| released(cpu, process))
            .to_vec()
    };
    let together = clusters(three(Some(0), Some(0)), &[]);
    assert!(together.iter().all(|at| *at == together[0]), "{together:?}");
    let off = [("sched_cache", "off")];
    assert_eq!(clusters(three(Some(0), Some(0)), &off), [0, 0, 1]);
    assert_eq!(clusters(three(None, None), &[]), [0, 0, 1]);
    assert_eq!(clusters(three(Some(0), Some(1)), &[]), [0, 0, 1]);
}

/// Goal: five threads that never sleep are too many for a cache of four CPUs: 5 x 1280 > 4 x 1024.
/// They stay as balancing has spread them: one cache has three or two of them, not four.
#[test]
fn a_process_too_large_for_a_cache_is_spread() {
    let threads = [0, 1, 2, 4, 5].map(|cpu| released(cpu, Some(0)));
    let there = clusters(threads.to_vec(), &[])
        .iter()
        .filter(|at| **at == 0)
        .count();
    assert!((2..=3).contains(&there), "{there}");
}

/// Three threads of a process, two in one cache and one in the other, with a working set of their
/// own each, and the machine with what its caches take.
fn three_with_sets(kib: u64) -> (Platform, Vec<TaskScript>) {
    let thread = |cpu| {
        let mut task = released(cpu, Some(0));
        task.attributes.working_set = Some(WorkingSet::Own { bytes: kib * 1024 });
        task
    };
    (two_caches(4, true), [0, 1, 4].map(thread).to_vec())
}

/// Goal: three sets of 512 KiB are too many for one cache of 1 MiB: (1024 x 3 x 10 + 512 x 3 x 60)
/// / 1536 = 80 ns for three accesses together, 30 in two caches, which hold 768 KiB each. By price
/// the threads stay as they are, two and one; without it they come together. Three of 256 KiB fit:
/// they come together in any case.
#[test]
fn sets_that_fit_apart_alone_are_spread() {
    let at = |kib, price| {
        let (platform, threads) = three_with_sets(kib);
        let policy = policy("linux-7.3", &[("llc_price", price)]);
        clusters_of(&platform, &policy, threads)
    };
    assert_eq!(at(512, "on"), [0, 0, 1]);
    for (kib, price) in [(512, "off"), (256, "on")] {
        let together = at(kib, price);
        let one = together.iter().all(|at| *at == together[0]);
        assert!(one, "{kib} KiB, {price}: {together:?}");
    }
}

/// Goal: the live scheduler knows no processes, and nor do its queues here, but with the switch
/// that it refuses.
#[test]
fn live_queues_know_processes_by_price_alone() {
    let at = |settings: &[(&str, &str)]| {
        let policy = policy("wakeplace", settings);
        let threads = [0, 1, 4].map(|cpu| released(cpu, Some(0)));
        clusters_of(&board(), &policy, threads.to_vec())
    };
    assert_eq!(at(&[("sched_cache", "on")]), [0, 0, 1]);
    let together = at(&[("sched_cache", "on"), ("llc_price", "on")]);
    assert!(together.iter().all(|at| *at == together[0]), "{together:?}");
}
