//! The contended line of a task group against measurements that none of its figures was taken from
//! (docs/rules/contended-lines.md#udp-rr-figures): commit 1528c661c24b gives netperf UDP_RR on 2 x
//! 56 cores of Sapphire Rapids (224 CPUs), transactions per second and client, before and with
//! writes limited to one per queue and millisecond. One cell, 25 % before, calibrates the work of
//! client and server, which nobody published; it counts for nothing. docs/decisions/053 has all
//! eight.
//!
//! `WAKEPLACE_UDP_RR=all` runs all eight and prints them (nightly).
//!
//! What must stay: measured figures are the commit's and are never changed; the one calibrated cell
//! stays the only one. A bound is a factor of 2. `rate` runs one cell, `within_a_factor_of_2`
//! compares it; the tests are its cells. `options` are those of the studies. The model of the line
//! is crates/engine/src/kernel/model/lines.rs: a wrong cost there moves all cells.

use crate::common::*;
use wakeplace_engine::Options;
use wakeplace_workload::{LoadOptions, MachineFacts, Spec};

/// Work of client and of server for each transaction, ns: calibrated on the first cell.
const WORK_NS: u64 = 500;

/// A published cell: clients, the least time between two writes of a queue (us), transactions per
/// second and client.
struct Cell(u32, u32, f64);

/// As 6.2 and 6.6 are; the first one calibrates.
const CALIBRATES: Cell = Cell(56, 0, 104_954.0);
const UNLIMITED: [Cell; 3] = [
    Cell(112, 0, 55_394.0),
    Cell(168, 0, 13_779.0),
    Cell(224, 0, 9_703.0),
];
/// As 6.7 is: as before up to 112 clients, then +162 % and +189 %.
const LIMITED: [Cell; 4] = [
    Cell(56, 1_000, 104_954.0),
    Cell(112, 1_000, 55_394.0),
    Cell(168, 1_000, 13_779.0 * 2.62),
    Cell(224, 1_000, 9_703.0 * 2.89),
];

/// The times of the studies of short wakes: a choice is seen after 300 ns, an interrupt taken after
/// 1 us, idle states to C1E (studies/sis-short/netperf-spr); a line's transfers are 60 ns within a
/// cache and 150 across sockets (of 40 to 100 and 100 to 250).
fn options(duration_ns: u64) -> Options {
    Options {
        idle_latency_us: Some(2),
        publish_ns: Some(300),
        ipi_ns: Some(1_000),
        lock_hold_ns: Some(200),
        lock_shared_cache_ns: Some(60),
        lock_other_cache_ns: Some(150),
        switch_out_ns: Some(500),
        ..all_on(duration_ns)
    }
}

/// Simulated transactions per second and client, of one group. The pairs are launched one after the
/// other within `launch_ms`; then `counts_ms` count.
#[expect(
    clippy::print_stdout,
    reason = "figures that people compare, with --nocapture"
)]
fn rate(cell: &Cell, launch_ms: u64, counts_ms: u64) -> f64 {
    let Cell(clients, interval_us, published) = cell;
    let shell_us = launch_ms * 1_000 / u64::from(*clients) * 9 / 10;
    let argument = format!(
        "netperf-udp-rr:pairs={clients},client={WORK_NS}ns,server={WORK_NS}ns,grouping=one,\
         shell={shell_us}us,warmup={launch_ms}ms"
    );
    let spec = Spec::parse(&argument, &LoadOptions::default()).unwrap();
    let load = spec.expand(1, MachineFacts::alike(224)).unwrap();
    let interval_us = interval_us.to_string();
    let settings = [
        ("governor", "performance"),
        ("tg_write_interval_us", &interval_us),
    ];
    let policy = policy("linux-6.2", &settings);
    let options = options((launch_ms + counts_ms) * MS);
    let mut observer = wakeplace_engine::observe::NoObserver;
    let platform = builtin("spr-2s");
    let report = wakeplace_engine::run(&platform, &policy, &load, &options, &mut observer);
    let counted = report.counted.expect("it counts");
    let rate = counted.units as f64 * 1e9 / counted.window_ns as f64 / f64::from(*clients);
    let pct = |ns: u64| 100.0 * ns as f64 / (report.end_ns as f64 * 224.0);
    println!(
        "{clients} clients, a write per {interval_us} us: {rate:.0} per second and client, \
         published {published:.0}; waiting for the line {:.1} %, for queues' locks {:.1} % of all \
         CPU time",
        pct(report.line_wait_ns.unwrap_or(0)),
        pct(report.lock_wait_ns.unwrap_or(0)),
    );
    rate
}

fn within_a_factor_of_2(cell: &Cell, launch_ms: u64, counts_ms: u64) {
    let factor = rate(cell, launch_ms, counts_ms) / cell.2;
    let Cell(clients, interval_us, _) = cell;
    assert!(
        (0.5..=2.0).contains(&factor),
        "{clients} clients, a write per {interval_us} us: {factor:.2} times the published rate"
    );
}

#[test]
fn before_the_limit_at_25_percent() {
    within_a_factor_of_2(&CALIBRATES, 12, 8);
}

#[test]
fn before_the_limit_at_50_percent() {
    within_a_factor_of_2(&UNLIMITED[0], 12, 8);
}

#[test]
fn before_the_limit_at_75_percent() {
    within_a_factor_of_2(&UNLIMITED[1], 20, 20);
}

#[test]
fn before_the_limit_at_100_percent() {
    within_a_factor_of_2(&UNLIMITED[2], 25, 15);
}

#[test]
fn with_the_limit_at_75_percent() {
    within_a_factor_of_2(&LIMITED[2], 15, 5);
}

/// All eight, longer: what the decision's table has.
#[test]
fn all_eight_for_nightly() {
    if std::env::var("WAKEPLACE_UDP_RR").is_ok_and(|which| which == "all") {
        for cell in [CALIBRATES].iter().chain(&UNLIMITED).chain(&LIMITED) {
            rate(cell, 60, 40);
        }
    }
}
