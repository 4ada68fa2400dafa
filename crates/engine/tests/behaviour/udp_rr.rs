//! The contended line of a task group against measurements that none of its figures was taken from
//! (contended-lines 4): commit 1528c661c24b gives netperf UDP_RR on 2 x 56 cores of Sapphire Rapids
//! (224 CPUs), transactions per second and client, before and with writes limited to one per queue
//! and millisecond. One cell, 25 % before, calibrates the work of client and server, which nobody
//! published; it counts for nothing.
//!
//! `WAKEPLACE_UDP_RR_MS=600` makes each run that long, as nightly does, and then the figures are
//! held to what the long runs must show.

use crate::common::*;
use wakeplace_engine::Options;
use wakeplace_workload::{LoadOptions, MachineFacts, Spec};

/// Work of client and of server for each transaction, ns: calibrated on `CALIBRATES`.
const WORK_NS: u64 = 1_200;
/// Clients, with which writes are unlimited, and published transactions per second and client.
const CALIBRATES: (u32, f64) = (56, 104_954.0);
const UNLIMITED: [(u32, f64); 3] = [(112, 55_394.0), (168, 13_779.0), (224, 9_703.0)];
/// The same with writes limited: as before up to 112, +162 % and +189 % of the figures above.
const LIMITED: [(u32, f64); 4] = [
    (56, 104_954.0),
    (112, 55_394.0),
    (168, 13_779.0 * 2.62),
    (224, 9_703.0 * 2.89),
];

/// Length of a run, ms, and of the part of it that counts.
fn length_ms() -> (u64, u64) {
    let asked = std::env::var("WAKEPLACE_UDP_RR_MS").ok();
    let asked = asked.map(|text| text.parse().expect("a number of milliseconds"));
    let all = asked.unwrap_or(60);
    (all, all / 3)
}

/// The settings of the studies of short wakes: the middle of what is assumed (docs/decisions/030),
/// a line's transfers of 60 ns within a cache and 150 ns across (40 to 100, 100 to 250).
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

/// Transactions per second and client of so many pairs in one group.
fn rate(clients: u32, write_interval_us: &str) -> f64 {
    let (all, counts) = length_ms();
    let argument = format!(
        "netperf-udp-rr:pairs={clients},client={WORK_NS}ns,server={WORK_NS}ns,grouping=one,\
         shell=50us,warmup={}ms",
        all - counts
    );
    let spec = Spec::parse(&argument, &LoadOptions::default()).unwrap();
    let load = spec.expand(1, MachineFacts { nr_cpus: 224 }).unwrap();
    let settings = [
        ("governor", "performance"),
        ("tg_write_interval_us", write_interval_us),
    ];
    let policy = policy("linux-6.2", &settings);
    let begin = std::time::Instant::now();
    let (platform, options) = (builtin("spr-2s"), options(all * MS));
    let mut log = wakeplace_engine::observe::NoObserver;
    let report = wakeplace_engine::run(&platform, &policy, &load, &options, &mut log);
    let counted = report.counted.expect("it counts");
    let rate = counted.units as f64 * 1e9 / counted.window_ns as f64 / f64::from(clients);
    let cpu_ns = report.end_ns as f64 * 224.0;
    let ran: u64 = report.tasks.iter().map(|task| task.run_ns).sum();
    println!(
        "{clients} clients, a write per {write_interval_us} us: {rate:.0} per s and client; tasks run \
         {:.1} %, line {:.1} %, lock {:.1} % of all CPU time; {:.1} s",
        100.0 * ran as f64 / cpu_ns,
        100.0 * report.line_wait_ns.unwrap_or(0) as f64 / cpu_ns,
        100.0 * report.lock_wait_ns.unwrap_or(0) as f64 / cpu_ns,
        begin.elapsed().as_secs_f64()
    );
    rate
}

/// Explore.
#[test]
fn all_figures() {
    for (clients, published) in [CALIBRATES].iter().chain(&UNLIMITED) {
        println!("published {published:.0}");
        rate(*clients, "0");
    }
    for (clients, published) in LIMITED {
        println!("published {published:.0}");
        rate(clients, "1000");
    }
}
