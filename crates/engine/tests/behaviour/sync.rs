//! Channels with a limit, mutexes, conditions and barriers. All models off: only the tasks' own
//! work takes time, and 1 us out of WFI.
//! Rules: docs/guide/model.md, "Waiting for each other"; docs/decisions/023.
//!
//! What must stay: order of wake-ups and times are exact; a deadlock is named by what is waited
//! for.
//! Tests by part (in crates/engine/src): mechanics/script/sync/channel.rs:
//! `the_first_giver_wakes_or_all` (`let_givers_go_on`); mechanics/script/sync/mutex.rs:
//! `a_plain_mutex_can_be_barged_in_on` (`lock`, `lock_again`),
//! `anothers_mutex_stays_with_its_holder` (`unlock`); kernel/model/class_change.rs:
//! `a_holder_is_lent_the_priority_of_its_waiter` (`goes_on_in_class`);
//! mechanics/script/sync/mod.rs: `each_kind_of_deadlock_is_named` (`is_deadlock`, `waits`);
//! mechanics/script/sync/channel.rs: `a_full_channel_stops_its_giver_until_it_has_drained`;
//! mechanics/script/sync/meet.rs: `a_condition_has_no_memory_and_gives_the_mutex_back`,
//! `a_signal_wakes_the_first_or_all`, `a_barrier_waits_for_the_last`.
//! Helpers, and who fails with them: `checked`, `mutex` (most tests); `signal`
//! (`a_condition_has_no_memory_and_gives_the_mutex_back`, `a_signal_wakes_the_first_or_all`);
//! `wait_for_signal` (`a_condition_has_no_memory_and_gives_the_mutex_back`,
//! `anothers_mutex_stays_with_its_holder`, `a_signal_wakes_the_first_or_all`); `limited`
//! (`a_full_channel_stops_its_giver_until_it_has_drained`, `the_first_giver_wakes_or_all`,
//! `each_kind_of_deadlock_is_named`); `barrier` (`a_barrier_waits_for_the_last`,
//! `each_kind_of_deadlock_is_named`); `wakeups`
//! (`a_full_channel_stops_its_giver_until_it_has_drained`, `the_first_giver_wakes_or_all`,
//! `a_plain_mutex_can_be_barged_in_on`).

use crate::common::checker::check_log;
use crate::common::*;
use wakeplace_engine::{Ended, RunReport, Waiting, WaitsFor};
use wakeplace_workload::{
    Barrier, Channel, Condition, Event, Limit, Loops, Mutex, Pick, RealTime, Shared, TaskScript,
    Workload,
};

const LOCK: Event = Event::Lock {
    mutex: 0,
    pick: Pick::This,
};
const UNLOCK: Event = Event::Unlock {
    mutex: 0,
    pick: Pick::This,
};
const POST: Event = Event::Post {
    channel: 0,
    sync: false,
};
const WAIT: Event = Event::Wait { channel: 0 };
const MEET: Event = Event::Barrier { barrier: 0 };

fn signal(all: bool) -> Event {
    Event::Signal { condition: 0, all }
}

fn wait_for_signal(mutex: Option<u32>) -> Event {
    Event::Await {
        condition: 0,
        mutex,
    }
}

fn checked(load: &Workload, cpus: u32) -> (RunReport, Log) {
    let platform = Board::symmetric(cpus).platform();
    let (report, log) = simulate(&platform, &performance(), load, &all_off(S));
    check_log(&platform, load, &log, &report, false);
    (report, log)
}

fn limited(units: u64, resume_units: u64, resume_all: bool) -> Shared {
    let limit = Limit {
        units,
        resume_units,
        resume_all,
    };
    Shared {
        channels: vec![Channel {
            limit: Some(limit),
            ..Channel::default()
        }],
        ..Shared::default()
    }
}

fn mutex(inherit: bool) -> Shared {
    Shared {
        mutexes: vec![Mutex {
            name: "m".into(),
            inherit,
        }],
        conditions: vec![Condition::default()],
        ..Shared::default()
    }
}

fn barrier(parties: u64) -> Shared {
    Shared {
        barriers: vec![Barrier {
            name: "b".into(),
            parties,
        }],
        ..Shared::default()
    }
}

fn wakeups(log: &Log, of: u32) -> Vec<u64> {
    let woken = log.pick(|w| matches!(*w, What::Wakeup { task, .. } if task == of).then_some(()));
    woken.into_iter().map(|(at, ())| at).collect()
}

/// Goal: a full channel keeps its giver, unit in hand, until few enough are left. Method: three
/// units fit; one is taken each ms from 10 ms on. The giver waits with the 4th until one is left
/// (the second take), gives two, waits with the 6th until the fourth take, 2 ms later.
#[test]
fn a_full_channel_stops_its_giver_until_it_has_drained() {
    let give = once(0, &[POST; 6]);
    let take = [run_ms(1), WAIT];
    let begin = [&[sleep_ms(10)][..], &take.repeat(6)].concat();
    let load = sharing(vec![give, once(1, &begin)], limited(3, 1, false));
    let (report, log) = checked(&load, 2);
    assert_eq!(report.ended, Ended::AllTasksExited);
    // The start line is no sleep for the one that comes last, and no wake-up counts before 5 ms.
    let woken: Vec<u64> = wakeups(&log, 0)
        .into_iter()
        .filter(|at| *at > 5 * MS)
        .collect();
    let [first, second] = woken[..] else {
        panic!("woken at {woken:?}");
    };
    assert!(first.abs_diff(12 * MS) < 10 * US, "{first}");
    assert_eq!(second - first, 2 * MS);
    assert_eq!(log.exit(0), Some(second + US), "out of WFI, and done");
}

/// Goal: the first giver wakes, or all at once. Method: three wait to give one unit each to a
/// channel for one; it is emptied every 10 ms.
#[test]
fn the_first_giver_wakes_or_all() {
    for (all, woken_at_first) in [(false, 1), (true, 3)] {
        let full = once(0, &[POST]);
        let give = |cpu| TaskScript {
            delay_ns: u64::from(cpu) * MS,
            ..once(cpu, &[POST])
        };
        let take = once(0, &[sleep_ms(10), WAIT].repeat(4));
        let tasks = vec![full, give(1), give(2), give(3), take];
        let (report, log) = checked(&sharing(tasks, limited(1, 0, all)), 4);
        assert_eq!(report.ended, Ended::AllTasksExited);
        let first: Vec<u64> = (1..4).flat_map(|t| wakeups(&log, t)).collect();
        let in_time = first.iter().filter(|at| (9 * MS..15 * MS).contains(at));
        assert_eq!(in_time.count(), woken_at_first, "{first:?}");
        // Each unit is taken 10 ms after the one before, in the order of arrival.
        let exits: Vec<u64> = (1..4)
            .map(|t| log.exit(t).expect("it gives") / MS)
            .collect();
        assert_eq!(exits, [10, 20, 30]);
    }
}

/// Goal: a plain mutex goes to who asks first after the unlock, one that lends is handed over.
/// Method: the holder locks again at once, twice 10 ms; the other asks at 1 ms for 1 ms.
#[test]
fn a_plain_mutex_can_be_barged_in_on() {
    let twice = [LOCK, run_ms(10), UNLOCK, LOCK, run_ms(10), UNLOCK];
    let holder = once(0, &twice);
    let other = once(1, &[sleep_ms(1), LOCK, run_ms(1), UNLOCK]);
    for (inherit, exits) in [(false, [20, 21]), (true, [21, 11])] {
        let load = sharing(vec![holder.clone(), other.clone()], mutex(inherit));
        let (report, log) = checked(&load, 2);
        let ends = [0, 1].map(|task| log.exit(task).expect("it ends") / MS);
        assert_eq!(ends, exits, "inherit: {inherit}");
        // It sleeps once by time, and for the mutex once more if it was too late.
        let waits = report.tasks[1].activations - u64::from(wakeups(&log, 1)[0] < MS);
        assert_eq!(waits, if inherit { 2 } else { 3 });
    }
}

/// Goal: who holds a mutex that lends runs as the RT task that waits for it; without, a task of no
/// importance runs between them. Method: three on one CPU; the RT task asks at 2 ms.
#[test]
fn a_holder_is_lent_the_priority_of_its_waiter() {
    let low = once(0, &[LOCK, run_ms(10), UNLOCK, run_ms(50)]);
    let mut high = once(0, &[sleep_ms(2), LOCK, run_ms(1), UNLOCK]);
    high.attributes.realtime = Some(RealTime::Fifo { priority: 50 });
    for inherit in [true, false] {
        let third = TaskScript {
            delay_ns: MS, // the mutex is taken
            ..hog(Some(&[0]))
        };
        let tasks = vec![low.clone(), third, high.clone()];
        let (_, log) = checked(&sharing(tasks, mutex(inherit)), 1);
        let end = log.exit(2).expect("it ends");
        let between = log.ran(1, 2 * MS + 10 * US, end, |_| true);
        assert_eq!(between == 0, inherit, "the third ran {between} ns");
        // Fair again afterwards: the two share the CPU.
        let after = log.ran(0, end, end + 80 * MS, |_| true);
        assert!(after.abs_diff(40 * MS) < 10 * MS, "{after}");
    }
}

/// Goal: a condition remembers nothing; who is signalled takes its mutex again first.
#[test]
fn a_condition_has_no_memory_and_gives_the_mutex_back() {
    let late = once(1, &[sleep_ms(1), wait_for_signal(None)]);
    let load = sharing(vec![once(0, &[signal(true)]), late], mutex(false));
    let (report, _) = checked(&load, 2);
    let waits = vec![Waiting {
        task: 1,
        waits: WaitsFor::Condition { condition: 0 },
    }];
    assert_eq!(report.ended, Ended::Deadlock { waits });

    let waits = once(0, &[LOCK, wait_for_signal(Some(0)), UNLOCK]);
    let signals = [sleep_ms(5), LOCK, signal(false), run_ms(3), UNLOCK];
    let load = sharing(vec![waits, once(1, &signals)], mutex(false));
    let (report, log) = checked(&load, 2);
    assert_eq!(report.ended, Ended::AllTasksExited);
    assert_eq!(log.exit(0).map(|at| at / MS), Some(8));
}

/// Goal: who waits for a signal with another thread's mutex does not release it; an unlock of one
/// that lends priority does not either (docs/decisions/023). Method: the holder works for 100 ms;
/// the second waits, or unlocks, at 10 ms; the third asks for the mutex at 20 ms, for 1 ms.
#[test]
fn anothers_mutex_stays_with_its_holder() {
    let holder = once(0, &[LOCK, run_ms(100), UNLOCK]);
    let asks = once(2, &[sleep_ms(20), LOCK, run_ms(1), UNLOCK]);
    for (inherit, step, exit_ms) in [
        (false, wait_for_signal(Some(0)), 101),
        (true, wait_for_signal(Some(0)), 101),
        (true, UNLOCK, 101),
        (false, UNLOCK, 21), // a plain one does not look who unlocks it
    ] {
        let second = once(1, &[sleep_ms(10), step]);
        let tasks = vec![holder.clone(), second, asks.clone()];
        let platform = Board::symmetric(3).platform();
        let load = sharing(tasks, mutex(inherit));
        let (_, log) = simulate(&platform, &performance(), &load, &all_off(S));
        let end = log.exit(2).map(|at| at / MS);
        assert_eq!(end, Some(exit_ms), "inherit: {inherit}, {step:?}");
    }
}

/// Goal: one signal wakes one, the first; all with `all`.
#[test]
fn a_signal_wakes_the_first_or_all() {
    for (all, left) in [(false, 1), (true, 0)] {
        let waits = |cpu| TaskScript {
            delay_ns: u64::from(cpu) * MS,
            ..once(cpu, &[wait_for_signal(None)])
        };
        let tasks = vec![waits(1), waits(2), once(0, &[sleep_ms(5), signal(all)])];
        let (report, log) = checked(&sharing(tasks, mutex(false)), 3);
        assert_eq!(log.exit(0).map(|at| at / MS), Some(5));
        assert_eq!(usize::from(log.exit(1).is_none()), left);
        assert_eq!(report.ended == Ended::AllTasksExited, all);
    }
}

/// Goal: nobody passes a barrier before all are there, again and again. Method: three that take 1,
/// 2 and 5 ms per turn; two turns.
#[test]
fn a_barrier_waits_for_the_last() {
    let task = |cpu: u32, ms| TaskScript {
        cpus: Some(vec![cpu]),
        ..script(Loops::Times(2), vec![phase(1, None, &[run_ms(ms), MEET])])
    };
    let load = sharing(vec![task(0, 1), task(1, 2), task(2, 5)], barrier(3));
    let (report, log) = checked(&load, 3);
    assert_eq!(report.ended, Ended::AllTasksExited);
    for one in 0..3 {
        assert_eq!(log.exit(one).map(|at| at / MS), Some(10), "task {one}");
    }
}

/// Goal: who waits for ever is named with what it waits for.
#[test]
fn each_kind_of_deadlock_is_named() {
    let all_of = |shared: Shared, tasks: Vec<TaskScript>| {
        let (report, _) = checked(&sharing(tasks, shared), 2);
        match report.ended {
            Ended::Deadlock { waits } => waits,
            ended => panic!("{ended:?}"),
        }
    };
    let waiting = |task, waits| Waiting { task, waits };
    let full = all_of(limited(1, 0, false), vec![once(0, &[POST, POST])]);
    assert_eq!(full, [waiting(0, WaitsFor::Room { channel: 0 })]);
    let own = all_of(mutex(false), vec![once(0, &[LOCK, LOCK])]);
    let of = |holder| WaitsFor::Mutex {
        mutex: 0,
        holder: Some(holder),
    };
    assert_eq!(own, [waiting(0, of(0))]);
    let gone = vec![once(0, &[LOCK]), once(1, &[sleep_ms(1), LOCK])];
    assert_eq!(all_of(mutex(true), gone), [waiting(1, of(0))]);
    let two = vec![once(0, &[MEET]), once(1, &[sleep_ms(1), MEET])];
    let met = WaitsFor::Barrier {
        barrier: 0,
        came: 2,
        parties: 3,
    };
    assert_eq!(all_of(barrier(3), two), [waiting(0, met), waiting(1, met)]);
}
