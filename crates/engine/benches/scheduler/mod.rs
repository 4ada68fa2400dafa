//! The same tasks under a sched_ext scheduler in Rust: what the kernel's side of a callback costs
//! without the program behind it.
//!
//! What must stay: both runs are of one machine, load and kernel, so that the difference is the
//! class's. `Simple` is the tests' scheduler. No test: a benchmark.

#[path = "../../tests/behaviour/sched_ext/simple.rs"]
mod simple;

use crate::time::{Spent, Stopwatch};
use simple::Simple;
use std::hint::black_box;
use wakeplace_engine::observe::NoObserver;
use wakeplace_engine::{Options, RunReport, run, run_sched_ext};
use wakeplace_platform::Platform;
use wakeplace_policy_sys::Policy;
use wakeplace_workload::Workload;

fn best(rounds: u32, simulate: &dyn Fn() -> RunReport) -> (Spent, RunReport) {
    let mut best = Spent::MOST;
    let mut report = simulate();
    for _ in 0..rounds {
        let start = Stopwatch::start();
        report = black_box(simulate());
        best = best.least(start.spent());
    }
    (best, report)
}

/// Beside EEVDF on the same kernel, machine and load.
pub(crate) fn measure(platform: &Platform, load: &Workload, seconds: u64, rounds: u32) {
    let policy = Policy::parse("linux-7.3").expect("valid");
    let options = Options {
        duration_ns: seconds * 1_000_000_000,
        ..Options::default()
    };
    let kernel = || run(platform, &policy, load, &options, &mut NoObserver);
    let scheduler = || {
        let mut ops = Simple::new(false);
        run_sched_ext(platform, &policy, load, &options, &mut ops, &mut NoObserver)
    };
    for (name, simulate) in [
        ("linux-7.3", &kernel as &dyn Fn() -> RunReport),
        ("... by a scheduler", &scheduler),
    ] {
        let (spent, report) = best(rounds, simulate);
        let ext = report.sched_ext.iter().flat_map(|ext| &ext.callbacks);
        let callbacks: u64 = ext.map(|c| c.calls).sum();
        println!(
            "{name:<26} {:>7.0} simulated s/s, {:.1} ns/event, {:.2} million callbacks/s",
            seconds as f64 / (spent.processor_ns as f64 / 1e9),
            spent.processor_ns as f64 / report.events as f64,
            callbacks as f64 / (spent.processor_ns as f64 / 1e3)
        );
    }
}
