//! Frequency domains: operating points, rate limit, transition latency
//! (docs/rules/capacity.md#schedutil).
//!
//! What must stay: rate limit and latency are the board's figures; work is integrated over the
//! points in the test. The rule itself is crates/policy-sys/tests/all/frequency.rs.
//! Tests by part (in crates/engine/src): mechanics/hardware.rs:
//! `changes_take_the_transition_latency` (`want_opp`); kernel/model/mod.rs: `fixed_governors_stay`
//! (`setup`); mechanics/work.rs: `work_follows_the_frequency_of_the_moment` (`change_speed`);
//! policy/src/frequency/freq.c in a run: `changes_keep_the_rate_limit`,
//! `a_hog_gets_the_highest_point`.
//! Helpers, and who fails with them: `bursts` (`changes_keep_the_rate_limit`,
//! `changes_take_the_transition_latency`, `fixed_governors_stay`); `steps`
//! (`changes_keep_the_rate_limit`, `changes_take_the_transition_latency`).

use crate::common::*;
use std::collections::BTreeMap;
use wakeplace_workload::{Event, Loops, TaskScript};

/// Bursts of changing length on each cluster.
fn bursts(cpus: &[u32]) -> Vec<TaskScript> {
    let burst = |cpu: &u32| TaskScript {
        cpus: Some(vec![*cpu]),
        ..script(
            Loops::Forever,
            vec![
                phase(4, None, &[run_ms(2), sleep_ms(14)]),
                phase(2, None, &[run_ms(60), sleep_ms(37)]),
            ],
        )
    };
    cpus.iter().map(burst).collect()
}

fn steps(log: &Log, domain: u32) -> Vec<(u64, u16)> {
    let all = log.frequencies(domain);
    assert_eq!(all[0].0, 0, "announced at 0");
    all[1..].to_vec()
}

/// Goal: changes of one domain are at least the rate limit apart. Source:
/// docs/rules/capacity.md#schedutil and the era's rule: 1000 x transition latency (300 us), at most
/// 10 ms; a parameter overrides it. The latency is the same for each change, and no thread takes
/// its time before, so effects are as far apart as requests.
#[test]
fn changes_keep_the_rate_limit() {
    let platform = builtin("hikey960");
    for (limit_us, least) in [("auto", 10 * MS), ("2000", 2 * MS), ("35000", 35 * MS)] {
        let policy = policy("linux-4.17", &[("rate_limit_us", limit_us)]);
        let load = workload(bursts(&[0, 5]), vec![]);
        let (_, log) = simulate(&platform, &policy, &load, &all_on(3 * S));
        for (domain, description) in platform.freq_domains.iter().enumerate() {
            let steps = steps(&log, domain as u32);
            assert!(steps.len() > 5, "domain {domain}: {steps:?}");
            let gaps = steps.windows(2).map(|w| w[1].0 - w[0].0);
            assert!(gaps.min().unwrap() >= least, "limit {limit_us}: {steps:?}");
            let known = description.opps.len();
            assert!(steps.iter().all(|(_, opp)| usize::from(*opp) < known));
            let all = log.frequencies(domain as u32);
            assert!(all.windows(2).all(|w| w[0].1 != w[1].1), "a change changes");
        }
    }
}

/// Goal: a change takes effect the transition latency after its request. Method: the first request
/// of a lone CPU comes at an event of the run (a wake-up, a tick, a start); without latency it
/// takes effect there, with latency exactly that much later. Both runs are equal until the
/// first request.
#[test]
fn changes_take_the_transition_latency() {
    let board = Board {
        khz: vec![250_000, 500_000, 1_000_000],
        transition_us: 777,
        ..Board::symmetric(1)
    };
    let load = workload(bursts(&[0]), vec![]);
    let policy = policy("linux-4.17", &[]);
    let first_step = |transition_latency| {
        let options = wakeplace_engine::Options {
            transition_latency,
            ..all_on(S)
        };
        let (_, log) = simulate(&board.platform(), &policy, &load, &options);
        steps(&log, 0)[0]
    };
    let (at_once, later) = (first_step(false), first_step(true));
    assert_eq!(later, (at_once.0 + 777 * US, at_once.1));
}

/// Goal: the fixed governors never change anything: the highest or the lowest point from time 0.
#[test]
fn fixed_governors_stay() {
    let platform = builtin("juno-r0");
    for (governor, highest) in [("performance", true), ("powersave", false)] {
        let policy = policy("linux-4.17", &[("governor", governor)]);
        let load = workload(bursts(&[0, 1, 2, 3]), vec![]);
        let (_, log) = simulate(&platform, &policy, &load, &all_on(S));
        for (domain, description) in platform.freq_domains.iter().enumerate() {
            let top = description.opps.len() as u16 - 1;
            let expected = if highest { top } else { 0 };
            assert_eq!(log.frequencies(domain as u32), [(0, expected)]);
        }
    }
}

/// Goal: work goes at the speed of the point in force at each moment. Method: an always-running
/// task on a lone CPU with costs off, its utilisation forgotten in a sleep so that it climbs
/// through the points; integrate the announced frequency over its run time. Many lengths, so that
/// some end between a change and the next tick.
#[test]
fn work_follows_the_frequency_of_the_moment() {
    let board = Board {
        khz: vec![250_000, 400_000, 600_000, 1_000_000],
        ..Board::symmetric(1)
    };
    let platform = board.platform();
    let options = wakeplace_engine::Options {
        transition_latency: true,
        ..all_off(5 * S)
    };
    let mut most_changes = 0;
    for length in 1..200 {
        let work_ns = length * 370 * US;
        let events = [sleep_ms(400), Event::Run { work_ns }];
        let once = script(Loops::Times(1), vec![phase(1, None, &events)]);
        let load = workload(vec![once], vec![]);
        let policy = policy("linux-4.17", &[("rate_limit_us", "1000")]);
        let (report, log) = simulate(&platform, &policy, &load, &options);
        let changes: BTreeMap<u64, u16> = log.frequencies(0).into_iter().collect();
        most_changes = most_changes.max(changes.len());
        let start = log.stretches(0)[0].from;
        let mut done = 0;
        for (from, opp) in &changes {
            let next = changes.range(from + 1..).next();
            let to = next.map_or(report.end_ns, |(at, _)| *at);
            let speed = 1024 * 1024 * u64::from(board.khz[usize::from(*opp)]) / 1_000_000;
            done += to.saturating_sub((*from).max(start)) * speed;
        }
        let wanted = work_ns << 20;
        assert!(
            done >= wanted && done - wanted < 1 << 20,
            "{done} of {wanted}"
        );
    }
    assert!(most_changes >= 3);
}

/// Goal: full load asks for the full frequency, rest for the lowest. Source:
/// docs/rules/capacity.md#schedutil: 1.25 x util of an always-running task is beyond the capacity.
#[test]
fn a_hog_gets_the_highest_point() {
    let platform = builtin("hikey960");
    let runtime = Event::Runtime { wall_ns: S };
    let load = workload(
        vec![TaskScript {
            cpus: Some(vec![6]),
            ..script(Loops::Times(1), vec![phase(1, None, &[runtime])])
        }],
        vec![],
    );
    let (_, log) = simulate(&platform, &policy("linux-4.17", &[]), &load, &all_on(2 * S));
    assert_eq!(log.frequencies(1).last().expect("announced").1, 4);
}
