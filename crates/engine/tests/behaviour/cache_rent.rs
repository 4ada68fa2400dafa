//! A task whose wakers are in another cache pays rent until a move is cheaper, seen from outside
//! (docs/rules/cache-rent.md#rent).
//!
//! What must stay: numbers of wake-ups follow from lines and prices as the page has it; the rule
//! itself is crates/policy-sys/tests/all/cache_rent.rs. Free: lengths of steps and runs.
//! Tests by part (in crates/engine/src): nearness.rs: `a_pair_meets_in_one_cache` (`prices`);
//! machine.rs: `lines_without_costs_have_no_price` (`facts_of_run`).
//! Helpers, and who fails with them: `pair`, `on_cpu_2` (both).

use crate::common::*;
use wakeplace_engine::Options;
use wakeplace_workload::{Channel, Event, Loops, Shared, TaskScript, Workload};

/// Two tasks that wake each other 100 times, with 10 us of work each time. The first stays on CPU
/// 0; the second begins on CPU 2 and may go anywhere.
fn pair() -> Workload {
    let work = Event::Run { work_ns: 10 * US };
    let post = |channel| Event::Post {
        channel,
        sync: false,
    };
    let wait = |channel| Event::Wait { channel };
    let client = phase(100, None, &[work, post(0), wait(1)]);
    let begin = phase(1, Some(&[2]), &[sleep_ms(5), work]);
    let server = phase(100, None, &[wait(0), work, post(1)]);
    let client = TaskScript {
        cpus: Some(vec![0]),
        delay_ns: 20 * MS,
        ..script(Loops::Times(1), vec![client])
    };
    let server = script(Loops::Times(1), vec![begin, server]);
    let shared = Shared {
        channels: vec![Channel::default(), Channel::default()],
        ..Shared::default()
    };
    Workload {
        shared,
        ..workload(vec![client, server], vec![])
    }
}

/// On how many of its turns, from the first wake-up by the client on, the server runs on CPU 2, and
/// where it runs last.
fn on_cpu_2(lines: &str, options: &Options) -> (usize, u32) {
    let settings = [("governor", "performance"), ("cache_rent_lines", lines)];
    let policy = policy("linux-7.3", &settings);
    let (_, log) = simulate(&two_caches(2, false), &policy, &pair(), options);
    let turns = log.stretches(1);
    let turns = turns.iter().filter(|turn| turn.from > 20 * MS);
    let cpus: Vec<u32> = turns.map(|turn| turn.cpu).collect();
    let there = cpus.iter().filter(|cpu| **cpu == 2).count();
    (there, *cpus.last().expect("it runs"))
}

/// Goal: 60 lines x (70 - 20) are 3 us each time; the fifth wake-up reaches the 15 us of a move and
/// takes the server to the client's cache. With 30 lines it is the tenth. Without the rule an idle
/// previous CPU keeps it for ever.
#[test]
fn a_pair_meets_in_one_cache() {
    assert_eq!(on_cpu_2("60", &all_on(S)), (4, 1));
    assert_eq!(on_cpu_2("30", &all_on(S)), (9, 1));
    assert_eq!(on_cpu_2("0", &all_on(S)), (100, 2));
}

/// Goal: where costs are off lines take nothing, and the policy is not told that they do.
#[test]
fn lines_without_costs_have_no_price() {
    assert_eq!(on_cpu_2("60", &all_off(S)), (100, 2));
}
