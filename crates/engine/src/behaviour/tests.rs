//! The hash of what happened, part by part (docs/internals/checks.md, "Same runs").
//!
//! What must stay: every field that an observer is told must count, but for order at one time and
//! signals; a new happening gets a line in `each_event_counts`.
//! Tests by part (in crates/engine/src): behaviour.rs: `each_part_counts` (`placement`,
//! `run_start`, `migrate`), `each_event_counts` (`wakeup`, `forked`, `task_exit`),
//! `order_and_signals_do_not_count` (`fact`), `nothing_between_is_nothing` (`change`),
//! `the_end_cuts` (`finish`, `end`); happening.rs: `each_event_counts` (`Happening`).
//! Helpers, and who fails with them: `fresh`, `hash_of`, `call` (all tests); `placement`, `chosen`
//! (`each_part_counts`, `order_and_signals_do_not_count`); `ran` (`each_part_counts`,
//! `nothing_between_is_nothing`, `the_end_cuts`).

use super::BehaviourHash;
use crate::happen;
use crate::observe::{CpuPower, MigrateCause, Observer, Placement, PlacementKind, Stop};
use std::collections::BTreeSet;
use wakeplace_platform::Platform;
use wakeplace_policy_sys::Reason;

type Call = Box<dyn Fn(&mut BehaviourHash)>;

fn fresh() -> BehaviourHash {
    BehaviourHash::new(&Platform::builtin("hikey960").expect("built in"))
}

/// Of these calls in this order, at the end of a run of 100 ns.
fn hash_of(calls: &[Call]) -> u64 {
    let mut hash = fresh();
    calls.iter().for_each(|call| call(&mut hash));
    happen!(hash, 100 => Finish);
    hash.value()
}

fn call(call: impl Fn(&mut BehaviourHash) + 'static) -> Call {
    Box::new(call)
}

fn placement() -> Placement {
    Placement {
        kind: PlacementKind::Wake,
        task: 3,
        waker: None,
        waker_cpu: 1,
        prev_cpu: 1,
        cpu: 2,
        reason: Reason::OneAllowed,
        util: 40,
        dur_avg_ns: 0,
    }
}

fn chosen(time_ns: u64, placement: Placement) -> Call {
    call(move |hash| happen!(hash, time_ns => Placement(placement)))
}

fn ran(cpu: u32, task: u32, from_ns: u64, until_ns: u64) -> [Call; 2] {
    [
        call(move |hash| happen!(hash, from_ns => RunStart { cpu, task, wake_latency_ns: None })),
        call(move |hash| {
            happen!(hash, until_ns =>
                RunStop { cpu, task, ran_ns: until_ns - from_ns, stop: Stop::Sleeps })
        }),
    ]
}

/// Goal: whatever part of a choice, stretch, move or state differs, the hash does.
#[test]
fn each_part_counts() {
    let choice = |change: fn(&mut Placement)| {
        let mut placement = placement();
        change(&mut placement);
        hash_of(&[chosen(5, placement)])
    };
    let moved = |at: u64, from: u32, to: u32, cause: MigrateCause| {
        hash_of(&[call(
            move |hash| happen!(hash, at => Migrate { task: 3, from_cpu: from, to_cpu: to, cause }),
        )])
    };
    let power = |state: CpuPower, until_ns: u64| {
        let busy = CpuPower::Busy;
        hash_of(&[
            call(move |hash| happen!(hash, 0 => CpuPower { cpu: 1, power: state })),
            call(move |hash| happen!(hash, until_ns => CpuPower { cpu: 1, power: busy })),
        ])
    };
    let figure = |name: &'static str, index: usize, value: u128| {
        hash_of(&[call(move |hash| hash.figure(name, index, value))])
    };
    let all = [
        hash_of(&[]),
        choice(|_| ()),
        choice(|p| p.kind = PlacementKind::Fork),
        choice(|p| p.task = 4),
        choice(|p| p.prev_cpu = 2),
        choice(|p| p.cpu = 1),
        choice(|p| p.reason = Reason::NotAllowed),
        hash_of(&[chosen(6, placement())]),
        hash_of(&[chosen(5, placement()), chosen(5, placement())]),
        hash_of(&ran(0, 3, 5, 9)),
        hash_of(&ran(1, 3, 5, 9)),
        hash_of(&ran(0, 4, 5, 9)),
        hash_of(&ran(0, 3, 6, 9)),
        hash_of(&ran(0, 3, 5, 8)),
        moved(5, 1, 2, MigrateCause::Wake),
        moved(6, 1, 2, MigrateCause::Wake),
        moved(5, 2, 1, MigrateCause::Wake),
        moved(5, 1, 2, MigrateCause::Balance),
        power(CpuPower::Idle { state: 0 }, 7),
        power(CpuPower::Idle { state: 1 }, 7),
        power(CpuPower::Idle { state: 1 }, 8),
        power(CpuPower::Transition { state: 0 }, 7),
        power(CpuPower::Transition { state: 1 }, 7),
        figure("energy", 0, 7),
        figure("energy", 1, 7),
        figure("energy", 0, 7 << 64),
        figure("time", 0, 7),
    ];
    let different: BTreeSet<u64> = all.into_iter().collect();
    assert_eq!(different.len(), all.len());
}

/// Goal: so does it for whatever else is told of tasks, CPUs, clusters and clocks.
#[test]
fn each_event_counts() {
    let told = |one: fn(&mut BehaviourHash)| hash_of(&[call(one)]);
    let all = [
        told(|hash| happen!(hash, 5 => Wakeup { task: 3, cpu: 1, due_ns: 9 })),
        told(|hash| happen!(hash, 6 => Wakeup { task: 3, cpu: 1, due_ns: 9 })),
        told(|hash| happen!(hash, 5 => Wakeup { task: 4, cpu: 1, due_ns: 9 })),
        told(|hash| happen!(hash, 5 => Wakeup { task: 3, cpu: 2, due_ns: 9 })),
        told(|hash| happen!(hash, 5 => Wakeup { task: 3, cpu: 1, due_ns: 8 })),
        told(|hash| happen!(hash, 5 => Forked { task: 3, script: 1 })),
        told(|hash| happen!(hash, 6 => Forked { task: 3, script: 1 })),
        told(|hash| happen!(hash, 5 => Forked { task: 4, script: 1 })),
        told(|hash| happen!(hash, 5 => Forked { task: 3, script: 2 })),
        told(|hash| happen!(hash, 5 => TaskExit { task: 3 })),
        told(|hash| happen!(hash, 6 => TaskExit { task: 3 })),
        told(|hash| happen!(hash, 5 => TaskExit { task: 4 })),
        told(|hash| happen!(hash, 5 => Hotplug { cpu: 1, online: false })),
        told(|hash| happen!(hash, 6 => Hotplug { cpu: 1, online: false })),
        told(|hash| happen!(hash, 5 => Hotplug { cpu: 2, online: false })),
        told(|hash| happen!(hash, 5 => Hotplug { cpu: 1, online: true })),
        told(|hash| happen!(hash, 5 => ClusterPower { cluster: 1, state: Some(0) })),
        told(|hash| happen!(hash, 6 => ClusterPower { cluster: 1, state: Some(0) })),
        told(|hash| happen!(hash, 5 => ClusterPower { cluster: 0, state: Some(0) })),
        told(|hash| happen!(hash, 5 => Frequency { domain: 1, opp: 2 })),
        told(|hash| happen!(hash, 6 => Frequency { domain: 1, opp: 2 })),
        told(|hash| happen!(hash, 5 => Frequency { domain: 0, opp: 2 })),
        told(|hash| happen!(hash, 5 => Frequency { domain: 1, opp: 3 })),
    ];
    let different: BTreeSet<u64> = all.into_iter().collect();
    assert_eq!(different.len(), all.len());
}

/// Goal: of what is announced at one time the order does not count, and signals count in no way.
#[test]
fn order_and_signals_do_not_count() {
    let calls = |rotated: usize| {
        let mut second = placement();
        (second.task, second.util) = (4, rotated as u32);
        let mut calls = vec![
            chosen(5, placement()),
            chosen(5, second),
            call(|hash| happen!(hash, 5 => Frequency { domain: 1, opp: 2 })),
            call(|hash| happen!(hash, 5 => CpuPower { cpu: 2, power: CpuPower::Busy })),
            call(|hash| happen!(hash, 5 => Wakeup { task: 3, cpu: 2, due_ns: 5 })),
            call(|hash| happen!(hash, 5 => Overutilized { on: true })),
        ];
        calls.rotate_left(rotated);
        hash_of(&calls)
    };
    assert!((1..6).all(|rotated| calls(rotated) == calls(0)));
}

/// Goal: what lasts no time is left out: a task that is put back and picked again ran in one
/// stretch, and an operating point that is set once more is no change.
#[test]
fn nothing_between_is_nothing() {
    let whole = hash_of(&ran(0, 3, 5, 20));
    let two: Vec<Call> = [ran(0, 3, 5, 9), ran(0, 3, 9, 20)]
        .into_iter()
        .flatten()
        .collect();
    assert_eq!(hash_of(&two), whole);
    let other = [ran(0, 3, 5, 9), ran(0, 7, 9, 9), ran(0, 3, 9, 20)];
    let other: Vec<Call> = other.into_iter().flatten().collect();
    assert_eq!(hash_of(&other), whole);
    let apart: Vec<Call> = [ran(0, 3, 5, 9), ran(0, 3, 10, 20)]
        .into_iter()
        .flatten()
        .collect();
    assert_ne!(hash_of(&apart), whole);

    let once = hash_of(&[call(
        |hash| happen!(hash, 0 => Frequency { domain: 0, opp: 2 }),
    )]);
    let again = [(0, 1), (0, 2), (6, 2), (8, 4), (8, 2)];
    let again =
        again.map(|(at, opp)| call(move |hash| happen!(hash, at => Frequency { domain: 0, opp })));
    assert_eq!(hash_of(&again), once);
}

/// Goal: stretches and states that the end of the run cuts off end there.
#[test]
fn the_end_cuts() {
    let open = || {
        call(|hash: &mut BehaviourHash| {
            happen!(hash, 5 =>
                RunStart { cpu: 0, task: 3, wake_latency_ns: None })
        })
    };
    let stop = call(
        |hash| happen!(hash, 100 => RunStop { cpu: 0, task: 3, ran_ns: 95, stop: Stop::Preempted }),
    );
    assert_eq!(hash_of(&[open()]), hash_of(&[open(), stop]));
    let [start, stop] = ran(0, 3, 5, 99);
    assert_ne!(hash_of(&[open()]), hash_of(&[start, stop]));
}
