//! How fast the engine is and how much memory it takes: the energy test's 50 tasks with all models
//! on, and larger machines (`scale`), beside a loop that only pushes and pops as many events
//! through a binary heap, in one process.
//!
//! `cargo bench -p wakeplace-engine`; `WAKEPLACE_BENCH_QUICK=1` runs a reduced size. A benchmark,
//! not a test: it prints ratios and judges nothing.
//!
//! What must stay: it prints and judges nothing, so that no build fails by the speed of a machine;
//! the load is the energy test's, so that outputs of versions compare. No test: a benchmark.
#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a benchmark measures and prints"
)]
#![allow(missing_docs, reason = "not a library")]

mod kinds;
mod scale;
mod scheduler;
mod time;

use std::collections::BinaryHeap;
use std::hint::black_box;
use time::Stopwatch;
use wakeplace_engine::observe::NoObserver;
use wakeplace_engine::{Options, RunReport, run};
use wakeplace_platform::Platform;
use wakeplace_policy_sys::Policy;
use wakeplace_workload::{LoadOptions, MachineFacts, Spec, Workload};

const POLICIES: [&str; 2] = ["linux-4.17", "linux-4.17+energy-aware"];
const WORKLOAD: &str = "periodic:n=50,period=16ms,duty=5%";
/// Events pending at a time in the 50-task run: a timer per task and a few per CPU.
const PENDING: u64 = 70;

fn inputs() -> (Platform, Workload) {
    let platform = Platform::builtin("hikey960").expect("built in");
    let spec = Spec::parse(WORKLOAD, &LoadOptions::default()).expect("valid");
    let workload = spec.expand(1, MachineFacts::alike(8)).expect("valid");
    (platform, workload)
}

fn simulate(policy: &str, seconds: u64) -> RunReport {
    let (platform, workload) = inputs();
    let options = Options {
        duration_ns: seconds * 1_000_000_000,
        ..Options::default()
    };
    let policy = Policy::parse(policy).expect("valid");
    run(&platform, &policy, &workload, &options, &mut NoObserver)
}

/// Pops the earliest and pushes one later, with the engine's entry size.
fn bare_heap(events: u64, pending: u64) -> u64 {
    let mut heap = BinaryHeap::new();
    let mut random = 1_u64;
    let mut step = || {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        random >> 40
    };
    (0..pending).for_each(|i| heap.push(std::cmp::Reverse((step(), i, i))));
    for sequence in 0..events {
        let std::cmp::Reverse((time, _, payload)) = heap.pop().expect("never empty");
        heap.push(std::cmp::Reverse((time + step(), sequence, payload)));
    }
    heap.len() as u64
}

/// Peak memory of a fresh process that simulates that long, KiB.
fn peak_kib(seconds: u64) -> Option<u64> {
    let program = std::env::current_exe().ok()?;
    let output = std::process::Command::new(program)
        .env("WAKEPLACE_BENCH_PEAK", seconds.to_string())
        .output()
        .ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}

/// The child of `peak_kib`.
fn print_own_peak(seconds: &str) {
    black_box(simulate(
        POLICIES[1],
        seconds.parse().expect("a number of seconds"),
    ));
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status
        .lines()
        .find_map(|l| l.strip_prefix("VmHWM:"))
        .unwrap_or("0 kB");
    println!("{}", line.trim().trim_end_matches(" kB"));
}

fn main() {
    if let Ok(seconds) = std::env::var("WAKEPLACE_BENCH_PEAK") {
        return print_own_peak(&seconds);
    }
    let quick = std::env::var_os("WAKEPLACE_BENCH_QUICK").is_some();
    let (seconds, rounds) = if quick { (30, 3) } else { (300, 5) };
    println!("hikey960, {WORKLOAD}, {seconds} simulated seconds, best of {rounds}");
    for policy in POLICIES {
        let (mut best, mut bare) = (time::Spent::MOST, time::Spent::MOST);
        let mut events = 0;
        for _ in 0..rounds {
            let start = Stopwatch::start();
            events = black_box(simulate(policy, seconds)).events;
            best = best.least(start.spent());
            let start = Stopwatch::start();
            black_box(bare_heap(events, PENDING));
            bare = bare.least(start.spent());
        }
        let per_second = |ns: u64| seconds as f64 / (ns as f64 / 1e9);
        println!(
            "{policy:<26} {:>7.0} simulated s/s ({:.0} by wall time)  {:>6.1} ns/event  {:>5.2} x \
             the bare heap ({events} events)",
            per_second(best.processor_ns),
            per_second(best.wall_ns),
            best.processor_ns as f64 / events as f64,
            best.processor_ns as f64 / bare.processor_ns as f64
        );
    }
    let (platform, workload) = inputs();
    scheduler::measure(&platform, &workload, seconds, rounds);
    kinds::show();
    let (short, long) = if quick { (3, 30) } else { (30, 300) };
    if let (Some(a), Some(b)) = (peak_kib(short), peak_kib(long)) {
        println!(
            "peak memory: {short} s {a} KiB, {long} s {b} KiB ({:+.1} %)",
            (b as f64 / a as f64 - 1.0) * 100.0
        );
    }
    scale::measure(quick);
}
