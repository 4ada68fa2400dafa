//! Short wake-ups from end to end: the scenarios of docs/rules/short-wakes.md#short-scenarios, one
//! cache of 8 CPUs, no SMT.
//!
//! What must stay: the scenarios are the page's, with its bounds; the rule itself is
//! crates/policy-sys/tests/all/short_wake.rs.
//! Tests by part: `eight_short_pairs_stay_together`, `two_pairs_leave_the_gate_closed`,
//! `long_pairs_are_left_alone`, `without_a_delay_nothing_is_gained`
//! (policy/src/placement/short_wake.c in a run).
//! Helpers, and who fails with them: `run_pairs` (all tests); `idle_pct`, `moves_and_wake_ups`
//! (`eight_short_pairs_stay_together`); `pairs` (`eight_short_pairs_stay_together`,
//! `two_pairs_leave_the_gate_closed`, `long_pairs_are_left_alone`); `units`
//! (`eight_short_pairs_stay_together`, `without_a_delay_nothing_is_gained`); `count`
//! (`eight_short_pairs_stay_together`, `two_pairs_leave_the_gate_closed`).

use crate::common::checker::check_log;
use crate::common::*;
use wakeplace_engine::observe::{CpuPower, MigrateCause};
use wakeplace_engine::{Options, RunReport};
use wakeplace_platform::Platform;
use wakeplace_policy_sys::Reason;
use wakeplace_workload::{LoadOptions, MachineFacts, Spec};

const CPUS: u32 = 8;
const LENGTH: u64 = 400 * MS;
/// Looked at from here on: averages and the depth of searches have settled.
const FROM: u64 = 100 * MS;

fn pairs(policy_name: &str, settings: &[(&str, &str)], load: &str) -> (RunReport, Log) {
    let options = Options {
        publish_ns: Some(1000),
        ..all_on(LENGTH)
    };
    run_pairs(
        &Board::symmetric(CPUS).platform(),
        policy_name,
        settings,
        load,
        &options,
    )
}

fn run_pairs(
    platform: &Platform,
    policy_name: &str,
    settings: &[(&str, &str)],
    load: &str,
    options: &Options,
) -> (RunReport, Log) {
    let mut policy = policy(policy_name, &[("governor", "performance")]);
    for (key, value) in settings {
        policy.set(key, value).expect("a parameter");
    }
    let spec = Spec::parse(load, &LoadOptions::default()).expect("valid");
    let nr_cpus = CPUS;
    let load = spec.expand(1, MachineFacts::alike(nr_cpus)).expect("valid");
    let (report, log) = simulate(platform, &policy, &load, options);
    let eevdf = policy.core_params().queue != 0;
    check_log(platform, &load, &log, &report, eevdf);
    (report, log)
}

/// Part of the CPUs' time in which they did nothing, percent of what there is after `FROM`.
fn idle_pct(log: &Log) -> u64 {
    let mut idle = 0;
    for cpu in 0..CPUS {
        let mut changes = log.power(cpu);
        changes.push((LENGTH, CpuPower::Busy));
        for pair in changes.windows(2) {
            if pair[0].1 != CpuPower::Busy {
                // idle, or on the way in or out
                idle += pair[1].0.max(FROM) - pair[0].0.max(FROM);
            }
        }
    }
    idle * 100 / ((LENGTH - FROM) * u64::from(CPUS))
}

fn moves_and_wake_ups(log: &Log) -> (usize, usize) {
    let late = |at: &u64| *at >= FROM;
    let moves = log.moves(|cause| cause == MigrateCause::Wake);
    let moves = moves.iter().filter(|(at, _)| late(at)).count();
    let woken = log.pick(|w| matches!(w, What::Wakeup { .. }).then_some(()));
    (moves, woken.iter().filter(|(at, ())| late(at)).count())
}

fn units(report: &RunReport) -> u64 {
    report.counted.expect("it counts").units
}

fn count(report: &RunReport, reason: Reason) -> u64 {
    let found = report.reasons.iter().find(|(r, _)| *r == reason);
    found.map_or(0, |(_, n)| *n)
}

/// Each wakes the other without a promise to sleep, so that the load comparison, not WF_SYNC,
/// decides where the search begins.
const EIGHT: &str = "context-switch:pairs=8,run=5us,warmup=100ms,sync=off";

/// Goal: 8 short pairs on 8 CPUs: without the feature two wakees meet on one CPU while others idle
/// (15 to 35 % of the time; here 14 %); with it each pair keeps to a CPU: hardly a move, no idle
/// time, more round trips. v5 and, once their first partner is a second old, v6 to v8
/// (`wakee_flips`). Source: docs/rules/short-wakes.md#short-scenarios (1).
#[test]
fn eight_short_pairs_stay_together() {
    let (base, log) = pairs("linux-6.2", &[], EIGHT);
    assert!((10..=35).contains(&idle_pct(&log)), "{}", idle_pct(&log));
    assert!(base.double_placements > Some(100));
    for version in ["v1", "v2", "v3", "v4", "v5"] {
        let name = format!("linux-6.2+sis-short={version}");
        let (short, log) = pairs(&name, &[], EIGHT);
        let (moves, wake_ups) = moves_and_wake_ups(&log);
        assert!(moves * 100 < wake_ups, "{version}: {moves} of {wake_ups}");
        assert!(idle_pct(&log) < 2, "{version}: {}", idle_pct(&log));
        assert!(units(&short) > units(&base), "{version}");
        assert!(
            short.double_placements < base.double_placements,
            "{version}"
        );
    }
    for version in ["v6", "v7", "v8"] {
        let (young, _) = pairs(&format!("linux-6.2+sis-short={version}"), &[], EIGHT);
        assert_eq!(count(&young, Reason::ShortStack), 0, "{version}");
        assert_eq!(units(&young), units(&base), "{version}");
    }
}

/// Goal: 2 pairs on 8 CPUs: the gate is closed, and without hunk A nothing differs. Source:
/// docs/rules/short-wakes.md#short-scenarios (2).
#[test]
fn two_pairs_leave_the_gate_closed() {
    let load = "context-switch:pairs=2,run=5us,warmup=100ms,sync=off";
    let (base, _) = pairs("linux-6.2", &[], load);
    let no_a = [("sis_short_affine", "off")];
    let (short, _) = pairs("linux-6.2+sis-short", &no_a, load);
    assert_eq!(short.event_hash, base.event_hash);
    let (with_a, _) = pairs("linux-6.2+sis-short", &[], load);
    assert_eq!(count(&with_a, Reason::ShortStack), 0);
}

/// Goal: pairs that run for 1 ms are left alone once they are known: an average is short for three
/// sections of that length (125, 234, 330, 414 us). Then no rule for short tasks decides, though
/// two tasks a CPU leave the gate open. Source: docs/rules/short-wakes.md#short-scenarios (3);
/// docs/rules/short-wakes.md#dur-avg.
#[test]
fn long_pairs_are_left_alone() {
    let load = "context-switch:pairs=8,run=1ms,warmup=100ms,sync=off";
    let (_, log) = pairs("linux-6.2+sis-short", &[], load);
    let short = log.pick(|w| match w {
        What::Placement(p) => Some(matches!(p.reason, Reason::ShortStack | Reason::ShortTarget)),
        _ => None,
    });
    // 4 sections of each of two tasks that share a CPU, and the start.
    let (early, late): (Vec<_>, Vec<_>) = short.iter().partition(|(at, _)| *at < 20 * MS);
    assert!(late.len() > 1000 && late.iter().all(|(_, short)| !short));
    assert!(early.iter().any(|(_, short)| *short), "they start as short");
}

/// Goal: the gain is what a wake-up elsewhere costs: if choices are seen at once and waking another
/// CPU takes no time, no wakee meets another and nothing is gained. Method: no costs, no interrupt,
/// no way out of idle. Source: docs/rules/short-wakes.md#short-scenarios (5);
/// docs/rules/short-wakes.md#race-model.
#[test]
fn without_a_delay_nothing_is_gained() {
    let mut platform = Board::symmetric(CPUS).platform();
    platform.idle_states[0].exit_latency_ns = 0;
    let options = Options {
        publish_ns: Some(0),
        ipi_ns: Some(0),
        ..all_off(LENGTH)
    };
    let run = |name: &str| run_pairs(&platform, name, &[], EIGHT, &options).0;
    let (base, short) = (run("linux-6.2"), run("linux-6.2+sis-short"));
    assert_eq!(base.double_placements, None);
    let gain = units(&short) as i64 - units(&base) as i64;
    assert!(
        gain * 100 <= units(&base) as i64,
        "{gain} of {}",
        units(&base)
    );
}
