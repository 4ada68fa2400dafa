//! Which events a run consists of, and how many of them find nothing to do.
//!
//! What must stay: runs are compared over versions by eye; a run that changes makes older outputs
//! useless. No test: a benchmark.

use wakeplace_engine::observe::NoObserver;
use wakeplace_engine::{Options, run};
use wakeplace_platform::Platform;
use wakeplace_policy_sys::Policy;
use wakeplace_workload::{LoadOptions, MachineFacts, Spec};

/// Platform, policy, workload, simulated ms.
const RUNS: [(&str, &str, &str, u64); 4] = [
    (
        "hikey960",
        "linux-4.17+energy-aware",
        super::WORKLOAD,
        10_000,
    ),
    ("hikey960", "linux-7.3", super::WORKLOAD, 10_000),
    (
        "snb-ep-4s",
        "linux-6.12",
        "periodic:n=640,period=16ms,duty=5%",
        1_000,
    ),
    ("spr-2s", "linux-6.2", "context-switch:pairs=224", 20),
];

/// Events per wake-up (sleep that ended), by kind.
pub(crate) fn show() {
    println!("events per sleep of a task, in brackets those that find nothing to do");
    for (platform, name, workload, ms) in RUNS {
        let platform = Platform::builtin(platform).expect("built in");
        let spec = Spec::parse(workload, &LoadOptions::default()).expect("valid");
        let nr_cpus = platform.cpus.len() as u32;
        let workload = spec.expand(1, MachineFacts::alike(nr_cpus)).expect("valid");
        let options = Options {
            duration_ns: ms * 1_000_000,
            ..Options::default()
        };
        let policy = Policy::parse(name).expect("valid");
        let report = run(&platform, &policy, &workload, &options, &mut NoObserver);
        let sleeps: u64 = report.tasks.iter().map(|task| task.activations).sum();
        let per = |events: u64| events as f64 / sleeps.max(1) as f64;
        println!("  {} {}: {:.2}", platform.name, name, per(report.events));
        for kind in &report.events_by_kind {
            println!(
                "    {:<22} {:>6.3}  ({:.3})",
                kind.kind,
                per(kind.events),
                per(kind.idle)
            );
        }
    }
}
