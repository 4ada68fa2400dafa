//! Waits for memory by where a working set is (docs/decisions/060). Two caches of two CPUs, 1 MiB
//! each: a hit takes 10 ns, memory 60; a line from the other CPU of the cache 20, from the other
//! cache 70. Each expectation is the difference from the same run on a machine that says nothing of
//! its caches: waits then take what the script says.
//!
//! What must stay: distances and sizes are those of `two_caches`; the run without caches is the
//! base of each difference. Free: sizes and times of the machine, if the differences are worked out
//! anew.
//! Tests by part (in crates/engine/src): nearness.rs: `sets_compete_for_their_cache` (`Cache`);
//! mechanics/memory.rs: `sets_compete_for_their_cache` (room), `a_set_follows_its_task` (a move);
//! mechanics/memory.rs: `a_shared_set_comes_from_its_users`.
//! Helpers, and who fails with them: `stall`, `with_set` (`a_set_follows_its_task` and 2 more);
//! `longer` (`sets_compete_for_their_cache`, `a_shared_set_comes_from_its_users` and 1 more);
//! `waiter` (`sets_compete_for_their_cache`, `a_shared_set_comes_from_its_users`).

use crate::common::*;
use wakeplace_workload::{Event, Loops, Phase, SharedSet, TaskScript, WorkingSet, Workload};

/// The step that waits for memory.
fn stall(cpu_us: u64) -> Event {
    Event::Stall {
        cpu_ns: cpu_us * US,
    }
}

/// A task that goes through these phases with a working set.
fn with_set(set: WorkingSet, phases: Vec<Phase>) -> TaskScript {
    let mut task = script(Loops::Times(1), phases);
    task.attributes.working_set = Some(set);
    task
}

/// Sleeps where it stays, works 300 us, and then waits.
fn waiter(cpu: u32, set: WorkingSet, wait_us: u64) -> TaskScript {
    let work = Event::Run { work_ns: 300 * US };
    let steps = [sleep_ms(5), work, stall(wait_us)];
    with_set(set, vec![phase(1, Some(&[cpu]), &steps)])
}

/// How much longer each task's last stretches are with caches than without, ns, the last first.
fn longer(load: &Workload, stretches: usize) -> Vec<Vec<i64>> {
    let lengths = |caches| {
        let (_, log) = simulate(&two_caches(2, caches), &performance(), load, &all_on(S));
        let of = |task: usize| {
            let all = log.stretches(task as u32);
            let last = all.iter().rev().take(stretches);
            last.map(|s| (s.to - s.from).cast_signed())
                .collect::<Vec<_>>()
        };
        (0..load.tasks.len()).map(of).collect::<Vec<_>>()
    };
    let pairs = lengths(true).into_iter().zip(lengths(false));
    let difference = |(with, without): (Vec<i64>, Vec<i64>)| {
        let pairs = with.iter().zip(&without);
        pairs.map(|(with, without)| with - without).collect()
    };
    pairs.map(difference).collect()
}

const WHOLE: WorkingSet = WorkingSet::Own { bytes: 1 << 20 };

/// Goal: sets that exceed their cache miss it in proportion. Method: two of 1 MiB in 1 MiB: half of
/// the accesses hit (10 ns), half go to memory (60): 35 of 10 ns, so 100 us become 350. With a
/// cache each, nothing is longer.
#[test]
fn sets_compete_for_their_cache() {
    let both = |other| {
        workload(
            vec![waiter(0, WHOLE, 100), waiter(other, WHOLE, 100)],
            vec![],
        )
    };
    let more = 250 * US as i64;
    assert_eq!(longer(&both(1), 1), [[more], [more]]);
    assert_eq!(longer(&both(2), 1), [[0], [0]]);
}

/// Goal: a shared set's line comes from any of its users. Method: three tasks on CPUs 0, 1 and 2.
/// For CPU 0: 10, 20 and 70 ns, 100 for three: 90 us become 300. For CPU 1 the same. For CPU 2: 10,
/// 70 and 70: 450 us.
#[test]
fn a_shared_set_comes_from_its_users() {
    let shared = WorkingSet::Shared { set: 0 };
    let tasks = [0, 1, 2].map(|cpu| waiter(cpu, shared, 90)).to_vec();
    let mut load = workload(tasks, vec![]);
    load.shared.sets = vec![SharedSet {
        name: "data".to_owned(),
        bytes: 64 << 10,
    }];
    let (near, far) = (210 * US as i64, 360 * US as i64);
    assert_eq!(longer(&load, 1), [[near], [near], [far]]);
}

/// Goal: after a move a set's lines come from the cache that the task left, once each; one that
/// goes back finds what it had not fetched. Method: 640 KiB are 10240 lines; 110 us go over all of
/// them. On the other cache 50 us go over 5000 of them, each 60 ns longer than a hit: 300 us. There
/// the next 100 us, 10000 accesses, fetch the 5240 that are left: 314.4 us. Back on the first cache
/// they fetch the 5000 that have gone: 300 us. The core's own caches refill for 3 us instead of the
/// 15 of a move to another cache.
#[test]
fn a_set_follows_its_task() {
    let set = WorkingSet::Own { bytes: 640 << 10 };
    let less = 12 * US as i64;
    for (then, fetched_ns) in [(2, 314_400), (0, 300_000 - less)] {
        let phases = vec![
            phase(1, Some(&[0]), &[stall(110), sleep_ms(5)]),
            phase(1, Some(&[2]), &[stall(50), sleep_ms(1)]),
            phase(1, Some(&[then]), &[stall(100)]),
        ];
        let load = workload(vec![with_set(set, phases)], vec![]);
        let first = 300_000 - less;
        // One that goes back has a stretch between, in which it is told so.
        let in_all: i64 = longer(&load, 3)[0].iter().sum();
        assert_eq!(in_all, first + fetched_ns, "then on CPU {then}");
    }
}
