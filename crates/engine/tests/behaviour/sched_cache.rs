//! Cache-aware scheduling seen from outside: where the threads of a process end up
//! (docs/rules/cache-aware.md).
//!
//! What must stay: where threads come together follows from the page; the rule itself is
//! crates/policy-sys/tests/all/sched_cache.rs.
//! Tests by part (in crates/engine/src): kernel/model/processes.rs:
//! `threads_of_a_process_come_together` (who is of one),
//! `a_process_too_large_for_a_cache_is_spread` (footprint).
//! Helpers, and who fails with them: `released`, `clusters` (all tests).

use crate::common::*;
use wakeplace_workload::{Event, Loops, TaskScript};

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

/// The clusters of four that these run on in the last 100 ms of a second, and the last CPUs.
fn clusters(tasks: Vec<TaskScript>, settings: &[(&str, &str)]) -> Vec<u32> {
    let board = Board {
        clusters: vec![(4, 1024), (4, 1024)],
        ..Board::symmetric(4)
    };
    let mut settings = settings.to_vec();
    settings.push(("governor", "performance"));
    let policy = policy("linux-7.3", &settings);
    let number = tasks.len() as u32;
    let load = workload(tasks, vec![]);
    let (_, log) = simulate(&board.platform(), &policy, &load, &all_on(S));
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
