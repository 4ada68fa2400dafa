//! Tasks that wake each other: channels, and what they are built into.
//! Rules: docs/guide/model.md, "Waiting for each other"; docs/rules/README.md#engine-time;
//! docs/rules/short-wakes.md#race-model.
//!
//! What must stay: who waits first is woken first; a round trip is the sum of its parts, each cost
//! named in the test.
//! Tests by part (in crates/engine/src): mechanics/script/sync/mod.rs:
//! `waiters_are_served_in_their_order` (`wait_for`, `release`), `waiting_for_a_sleeper_is_none`
//! (`waiting`), `a_ping_pong_costs_what_its_parts_cost` (`pay_wakeup`);
//! mechanics/script/sync/channel.rs: `a_ping_pong_costs_what_its_parts_cost` (costs);
//! mechanics/report.rs: `nothing_is_counted_within_the_warm_up` (`counted`); outcome.rs:
//! `nothing_is_counted_within_the_warm_up` (`Counted`); mechanics/script/sync/channel.rs:
//! `units_are_kept_until_somebody_takes_them`; mechanics/script/sync/mod.rs (`is_deadlock`):
//! `waiting_for_ever_is_an_outcome`; mechanics/script/progress.rs:
//! `waking_each_other_in_no_time_is_a_zero_time_loop`; kernel/model/wake.rs and wake_latency.rs:
//! the tests `a_ping_pong_*`.
//! Helpers, and who fails with them: `post`, `wait`, `task`, `with_channels` (all tests); `run_us`
//! (most tests); `pairs` (5 tests); `big_board`, `assert_round_trips`
//! (`a_ping_pong_costs_what_its_parts_cost`, `a_ping_pong_without_costs_is_its_work`,
//! `a_ping_pong_pays_the_delay_of_each_choice`, `a_ping_pong_fetches_the_lock_there_and_back`);
//! `order_of_wakeups` (`waiters_are_served_in_their_order`).

use crate::common::checker::check_log;
use crate::common::*;
use wakeplace_engine::{Ended, Options, Waiting, WaitsFor};
use wakeplace_workload::{
    Channel, Count, Event, Figure, FigureOf, Loops, Shared, TaskScript, Workload,
};

fn post(channel: u32) -> Event {
    Event::Post {
        channel,
        sync: true,
    }
}

fn wait(channel: u32) -> Event {
    Event::Wait { channel }
}

fn run_us(us: u64) -> Event {
    Event::Run { work_ns: us * US }
}

fn task(loops: Loops, cpu: u32, events: &[Event]) -> TaskScript {
    TaskScript {
        cpus: Some(vec![cpu]),
        ..script(loops, vec![phase(1, None, events)])
    }
}

/// Channels of these units at the start.
fn with_channels(tasks: Vec<TaskScript>, units: &[u64]) -> Workload {
    let channel = |(index, units): (usize, &u64)| Channel {
        name: format!("channel {index}"),
        units: *units,
        ..Channel::default()
    };
    Workload {
        shared: Shared {
            channels: units.iter().enumerate().map(channel).collect(),
            ..Shared::default()
        },
        ..workload(tasks, vec![])
    }
}

/// Who was woken after `from`, in order.
fn order_of_wakeups(log: &Log, from: u64) -> Vec<u32> {
    let woken = log.pick(|w| match *w {
        What::Wakeup { task, .. } => Some(task),
        _ => None,
    });
    let late = woken.into_iter().filter(|(at, _)| *at > from);
    late.map(|(_, task)| task).collect()
}

/// Goal: the first that waits is the first that is woken, one for each unit. Method: three tasks
/// begin to wait in the order of their delays; a fourth posts three times.
#[test]
fn waiters_are_served_in_their_order() {
    let waiter = |delay_ms: u64| TaskScript {
        delay_ns: delay_ms * MS,
        ..task(Loops::Times(1), 0, &[wait(0)])
    };
    let poster = TaskScript {
        delay_ns: 20 * MS,
        ..task(
            Loops::Times(1),
            0,
            &[run_us(10), post(0), post(0), run_us(10), post(0)],
        )
    };
    let load = with_channels(vec![waiter(9), waiter(3), waiter(6), poster], &[0]);
    let platform = Board::symmetric(1).platform();
    for options in [all_off(S), all_on(S)] {
        let (report, log) = simulate(&platform, &performance(), &load, &options);
        check_log(&platform, &load, &log, &report, false);
        assert_eq!(report.ended, Ended::AllTasksExited);
        // The poster's own wake-up comes first.
        assert_eq!(order_of_wakeups(&log, 20 * MS), [3, 1, 2, 0]);
    }
}

/// Goal: a unit that nobody waits for is kept, and units at the start are there to take. Method: a
/// post long before the wait; two units for two waits: no task ever sleeps for them.
#[test]
fn units_are_kept_until_somebody_takes_them() {
    let early = task(Loops::Times(1), 0, &[post(0)]);
    let late = TaskScript {
        delay_ns: 10 * MS,
        ..task(Loops::Times(1), 0, &[wait(0), wait(1), wait(1), run_us(5)])
    };
    let load = with_channels(vec![early, late], &[0, 2]);
    let platform = Board::symmetric(1).platform();
    let (report, _) = simulate(&platform, &performance(), &load, &all_off(S));
    assert_eq!(report.ended, Ended::AllTasksExited);
    assert_eq!(report.tasks[1].activations, 1, "the start line only");
    // Time zero is 1 us; the timer, WFI's exit, 5 us.
    assert_eq!(report.end_ns, US + 10 * MS + US + 5 * US);
}

/// Goal: when all that are left wait, the run ends there and says who waits for what. Method: one
/// task ends, one waits for what it would post itself, one for a channel that nobody serves.
#[test]
fn waiting_for_ever_is_an_outcome() {
    let ends = task(Loops::Times(1), 0, &[run_us(700)]);
    let own = task(Loops::Forever, 0, &[wait(1), post(1)]);
    let nobody = task(Loops::Forever, 1, &[run_us(50), wait(0)]);
    let load = with_channels(vec![ends, own, nobody], &[0, 0]);
    let platform = Board::symmetric(2).platform();
    for options in [all_off(S), all_on(S)] {
        let (report, log) = simulate(&platform, &performance(), &load, &options);
        let unit = |(task, channel)| Waiting {
            task,
            waits: WaitsFor::Unit { channel },
        };
        let waits = [(1, 1), (2, 0)].map(unit).to_vec();
        assert_eq!(report.ended, Ended::Deadlock { waits });
        assert_eq!(report.end_ns, log.exit(0).expect("it ends"));
    }
}

/// Goal: a waiter that something can still wake is no deadlock, even if it is woken rarely.
#[test]
fn waiting_for_a_sleeper_is_none() {
    let sleeper = task(Loops::Forever, 0, &[sleep_ms(100), post(0)]);
    let waiter = task(Loops::Forever, 0, &[wait(0)]);
    let load = with_channels(vec![sleeper, waiter], &[0]);
    let platform = Board::symmetric(1).platform();
    let (report, _) = simulate(&platform, &performance(), &load, &all_on(S));
    assert_eq!(report.ended, Ended::Duration);
    // Both first run when all exist, so neither sleeps at the start line. It waits at once, and
    // again after each of nine posts within the second.
    assert_eq!(report.tasks[1].activations, 1 + 9);
}

/// Goal: tasks that only wake each other, in no time, are found (docs/rules/README.md#engine-time).
#[test]
fn waking_each_other_in_no_time_is_a_zero_time_loop() {
    let a = task(Loops::Forever, 0, &[post(0), wait(1)]);
    let b = task(Loops::Forever, 0, &[wait(0), post(1)]);
    let load = with_channels(vec![a, b], &[0, 0]);
    let platform = Board::symmetric(1).platform();
    let (report, _) = simulate(&platform, &performance(), &load, &all_off(S));
    assert!(matches!(report.ended, Ended::ZeroTimeLoop { .. }));
}

/// Two tasks on a CPU each that wake each other with `work_us` between; one count per round trip.
fn pairs(n: u32, work_us: u64) -> Workload {
    let mut tasks = Vec::new();
    for pair in 0..n {
        let (there, back) = (2 * pair, 2 * pair + 1);
        let parent = [
            run_us(work_us),
            post(there),
            wait(back),
            Event::Count { units: 1 },
        ];
        let child = [wait(there), run_us(work_us), post(back)];
        tasks.push(task(Loops::Forever, 2 * pair, &parent));
        tasks.push(task(Loops::Forever, 2 * pair + 1, &child));
    }
    Workload {
        count: Some(Count {
            warm_up_ns: 2 * MS,
            figures: vec![Figure {
                metric: "throughput_per_s",
                of: FigureOf::Rate {
                    units_each: 1,
                    per_ns: S,
                },
            }],
        }),
        ..with_channels(tasks, &vec![0; 2 * n as usize])
    }
}

/// 2 x 64 pairs of CPUs with a cache each half, and no tick within the runs below.
fn big_board() -> Board {
    Board {
        clusters: vec![(128, 1024); 2],
        tick_hz: 1,
        ..Board::symmetric(1)
    }
}

/// Round trips in the window must be those of `trip_ns` each, to one per pair at either end.
fn assert_round_trips(policy_name: &str, options: &Options, trip_ns: u64) {
    const PAIRS: u32 = 128;
    let platform = big_board().platform();
    let policy = policy(policy_name, &[("governor", "performance")]);
    let load = pairs(PAIRS, 4);
    let (report, log) = simulate(&platform, &policy, &load, options);
    check_log(&platform, &load, &log, &report, true);
    let done = report.counted.expect("counted after the warm-up");
    let expected = u64::from(PAIRS) * done.window_ns / trip_ns;
    assert!(
        done.units.abs_diff(expected) <= u64::from(PAIRS),
        "{policy_name}: {} round trips in {} ns, not {expected}",
        done.units,
        done.window_ns
    );
}

/// Goal: 128 pairs on 256 CPUs do as many round trips as the sum of the costs allows (issue: sanity
/// against arithmetic). A hop: 4 us of work, 3 us to wake, 1 us interrupt, 1 us out of WFI, 2 us to
/// switch; two hops a trip.
#[test]
fn a_ping_pong_costs_what_its_parts_cost() {
    let trip = 2 * (4 + 3 + 1 + 1 + 2) * US;
    for name in ["linux-4.17", "linux-7.3"] {
        assert_round_trips(name, &all_on(24 * MS), trip);
    }
}

/// Goal: what is off costs nothing: work and WFI's exit remain.
#[test]
fn a_ping_pong_without_costs_is_its_work() {
    assert_round_trips("linux-4.17", &all_off(12 * MS), 2 * (4 + 1) * US);
}

/// Goal: the delay until a choice is seen adds to each hop, and nothing else does
/// (docs/rules/short-wakes.md#race-model).
#[test]
fn a_ping_pong_pays_the_delay_of_each_choice() {
    let options = Options {
        publish_ns: Some(700),
        ..all_on(24 * MS)
    };
    let trip = 2 * ((4 + 3 + 1 + 1 + 2) * US + 700);
    assert_round_trips("linux-7.3", &options, trip);
}

/// Goal: a queue's lock that another CPU had last is fetched once per enqueue and once back.
/// Method: 4.17 queues under the target's lock: the waker fetches it (100 ns), and so does the
/// target when it picks. Nobody else wants it: nothing waits for its end.
#[test]
fn a_ping_pong_fetches_the_lock_there_and_back() {
    let options = Options {
        lock_hold_ns: Some(300),
        lock_shared_cache_ns: Some(100),
        lock_other_cache_ns: Some(400),
        ..all_on(24 * MS)
    };
    let trip = 2 * ((4 + 3 + 1 + 1 + 2) * US + 200);
    assert_round_trips("linux-4.17", &options, trip);
}

/// Goal: warm-up counts nothing, and a run within it has no throughput.
#[test]
fn nothing_is_counted_within_the_warm_up() {
    let platform = Board::symmetric(2).platform();
    let load = pairs(1, 4);
    let (report, _) = simulate(&platform, &performance(), &load, &all_on(2 * MS));
    assert_eq!(report.counted, None);
    assert_eq!(report.tasks[0].counted, 0);
    let (report, _) = simulate(&platform, &performance(), &load, &all_on(3 * MS));
    let done = report.counted.expect("longer than the warm-up");
    // Time zero: exit 1 us, switch 2 us, three forks' work of 40 us.
    assert_eq!(done.window_ns, MS - 123 * US);
}
