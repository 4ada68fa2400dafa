//! What a wake-up, a message and a move cost by what both CPUs share (docs/decisions/060). A waker
//! fetches 10 lines of the task's record and those of the channel; the woken task's CPU fetches
//! these back, and 12 lines of its run queue, which went to the waker and return: 24.
//!
//! What must stay: numbers of lines (10, 12, 24) are the decision's, times those of the levels in
//! the test.
//! Tests by part (in crates/engine/src): nearness.rs:
//! `a_round_trip_moves_lines_by_the_closest_level` (`level`, `line_ns`),
//! `a_move_refills_from_the_closest_level` (`part_within_cache`);
//! crates/workload/src/script/shared.rs: `a_round_trip_moves_lines_by_the_closest_level`
//! (`Channel::lines`); mechanics/handover.rs: `a_unit_that_was_kept_brings_its_lines` (channels),
//! `a_move_refills_from_the_closest_level` (moves); crates/workload/src/models/carrier.rs:
//! `a_unit_that_was_kept_brings_its_lines` (a unit that waited).
//! Helpers, and who fails with them: `machine` (all tests); `on`, `post`, `wait`, `with_channels`,
//! `run_us` (`a_round_trip_moves_lines_by_the_closest_level`,
//! `a_unit_that_was_kept_brings_its_lines`); `periods`
//! (`a_round_trip_moves_lines_by_the_closest_level`).

use crate::common::*;
use wakeplace_platform::{Platform, Transfer};
use wakeplace_workload::{Channel, Event, Loops, Phase, Shared, TaskScript, Workload};

/// `kunpeng920-2s`: clusters of 4 CPUs, 32 in a node with one cache. Prices are of this test.
const CLUSTER_NS: u64 = 2;
const CACHE_NS: u64 = 3;
const OTHER_NS: u64 = 7;

fn machine(stated: bool) -> Platform {
    let mut platform = builtin("kunpeng920-2s");
    let source = platform.costs.source.clone();
    platform.transfer = stated.then_some(Transfer {
        smt_ns: None,
        cluster_ns: Some(CLUSTER_NS),
        cache_ns: Some(CACHE_NS),
        node_ns: None,
        other_node_ns: Some(OTHER_NS),
        source,
    });
    platform
}

fn on(cpu: u32, loops: Loops, events: &[Event]) -> TaskScript {
    TaskScript {
        cpus: Some(vec![cpu]),
        ..script(loops, vec![phase(1, None, events)])
    }
}

fn post(channel: u32) -> Event {
    let sync = true;
    Event::Post { channel, sync }
}

fn wait(channel: u32) -> Event {
    Event::Wait { channel }
}

fn with_channels(tasks: Vec<TaskScript>, lines: u32) -> Workload {
    let channel = Channel {
        lines,
        ..Channel::default()
    };
    let channels = vec![channel.clone(), channel];
    let shared = Shared {
        channels,
        ..Shared::default()
    };
    Workload {
        shared,
        ..workload(tasks, vec![])
    }
}

/// Times between the beginnings of the first task's stretches, long after the start.
fn periods(platform: &Platform, load: &Workload, options: &Options) -> Vec<u64> {
    let (_, log) = simulate(platform, &performance(), load, options);
    let starts: Vec<u64> = log.stretches(0).iter().map(|s| s.from).collect();
    let late = starts.windows(2).skip(10).take(5);
    late.map(|pair| pair[1] - pair[0]).collect()
}

use wakeplace_engine::Options;

/// Goal: a round trip of two tasks takes 2 x (10 + lines + 10 + 24 + lines) lines longer, each for
/// what the closest shared level says; on one CPU, and without costs, no longer at all. Method: a
/// pair on CPU 0 and another one, with the table and without, 8 lines a channel: 120 lines.
#[test]
fn a_round_trip_moves_lines_by_the_closest_level() {
    let pair = |cpu| {
        let client = on(0, Loops::Forever, &[run_us(5), post(0), wait(1)]);
        let server = on(cpu, Loops::Forever, &[wait(0), run_us(5), post(1)]);
        with_channels(vec![client, server], 8)
    };
    for (cpu, line_ns) in [
        (0, 0),
        (1, CLUSTER_NS),
        (4, CACHE_NS),
        (32, OTHER_NS),
        (64, OTHER_NS),
    ] {
        let took = |stated| periods(&machine(stated), &pair(cpu), &all_on(3 * MS));
        let (free, priced) = (took(false), took(true));
        let longer: Vec<u64> = free.iter().map(|period| period + 120 * line_ns).collect();
        assert_eq!(priced, longer, "to CPU {cpu}");
    }
    let off = |stated| periods(&machine(stated), &pair(32), &all_off(3 * MS));
    assert_eq!(off(true), off(false));
}

fn run_us(us: u64) -> Event {
    Event::Run { work_ns: us * US }
}

/// Goal: a unit that was kept brings its lines to who takes it, once. Method: CPU 0 gives two units
/// long before CPU 4 takes both: 8 lines of 3 ns in the time that the taker runs.
#[test]
fn a_unit_that_was_kept_brings_its_lines() {
    let giver = on(0, Loops::Times(1), &[post(0), post(0)]);
    let taker = TaskScript {
        delay_ns: 10 * MS,
        ..on(4, Loops::Times(1), &[wait(0), wait(0), run_us(50)])
    };
    let load = with_channels(vec![giver, taker], 8);
    let ran = |stated| {
        let (_, log) = simulate(&machine(stated), &performance(), &load, &all_on(S));
        let last = *log.stretches(1).last().expect("it runs");
        last.to - last.from
    };
    assert_eq!(ran(true), ran(false) + 8 * CACHE_NS);
}

/// Goal: a move within the last-level cache refills by the ratio of the levels' lines (3 us from
/// the cache, so 2 us within a cluster at 2 of 3 ns), one to another node for its own price, and
/// the task's record, 10 lines, comes along. Method: affinity moves a task whose work of 1 ms has
/// no tick in it; a switch costs 1.5 us.
#[test]
fn a_move_refills_from_the_closest_level() {
    let refills = [
        (1, 2 * US + 10 * CLUSTER_NS),
        (4, 3 * US + 10 * CACHE_NS),
        (32, 30 * US + 10 * OTHER_NS),
    ];
    for (to, refill) in refills {
        let phases: Vec<Phase> = vec![
            phase(1, Some(&[0]), &[sleep_ms(5)]),
            phase(1, Some(&[to]), &[run_ms(1)]),
        ];
        let load = workload(vec![script(Loops::Times(1), phases)], vec![]);
        let (_, log) = simulate(&machine(true), &performance(), &load, &all_on(S));
        let last = *log.stretches(0).last().expect("it runs");
        assert_eq!(last.cpu, to);
        let switch = 1_500;
        assert_eq!(last.to - last.from, MS + switch + refill, "to CPU {to}");
    }
}
