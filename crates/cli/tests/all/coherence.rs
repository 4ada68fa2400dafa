//! What a kernel's own accesses to memory cost. The kernel is fetched and built as in
//! kernel_runs.rs, with its accesses instrumented.
//! Page: docs/rules/contended-lines.md#coherence.
//!
//! What must stay: which line is fought for is what the kernel's own source says: `struct rq` is
//! per CPU, and a wake-up writes it from another CPU. No figure is compared with one of ours.
//! Tests by part: crates/kernel-shim/shim/lines.c, stall.c, crates/engine/src/kernel/tree/paths.rs:
//! `contended_lines_are_told`; crates/engine/src/check.rs (`check_coherence`):
//! `what_has_no_price_is_refused`; crates/cli/src/trees.rs (`coherent`) by both. `sim` and
//! `refused` are helpers of these.

use crate::common;
use crate::kernel_runs::{is_there, version};

use common::{assert_code, assert_refused, run, stdout};
use serde_json::Value;
use std::process::Output;

const PAIRS: &str = "netperf-udp-rr:pairs=6,client=1us,server=1us,grouping=one,start=ready";

/// A short run of pairs on a machine of two caches.
fn sim(more: &[&str]) -> Output {
    let kernel = format!("kernel:{}", version());
    let plain = ["sim", "--platform", "zen4-7950x", "--workload", PAIRS];
    let own = ["--policy", &kernel, "--duration", "8ms"];
    run(&[&plain[..], &own[..], more].concat())
}

/// Goal: with the price of accesses a run takes longer for the same, says which lines that was for,
/// and is the same when repeated. Without it nothing is told.
#[test]
fn contended_lines_are_told() {
    if !is_there() {
        return;
    }
    let on = [
        "--set",
        "model.coherence=on",
        "--lines",
        "12",
        "--format",
        "json",
    ];
    let first = sim(&on);
    assert_code(&first, 0);
    let read = |output: &Output| -> Value { serde_json::from_str(&stdout(output)).expect("JSON") };
    let (result, again) = (read(&first), read(&sim(&on)));
    for same in ["lines", "event_hashes", "metrics"] {
        assert_eq!(result["runs"][0][same], again["runs"][0][same], "{same}");
    }
    let lines = &result["runs"][0]["lines"];
    let told = lines["lines"].as_array().expect("a list");
    assert_eq!(told.len(), 12);
    assert!(lines["total_ns"].as_u64() > Some(0));
    let of_queues = |line: &&Value| line["object"] == "runqueues" && line["several"] == true;
    let queues = told.iter().find(of_queues).expect("struct rq");
    assert!(queues["transfers"].as_u64() > Some(0), "{queues}");
    let wakeups = |result: &Value| {
        let metrics = &result["runs"][0]["metrics"];
        metrics["wakeups_total"]["mean"].as_f64().expect("counted")
    };
    let plain = sim(&["--format", "json"]);
    assert_code(&plain, 0);
    let plain = read(&plain);
    assert!(wakeups(&plain) > 0.0 && wakeups(&result) > 0.0);
    assert!(plain["runs"][0].get("lines").is_none());
}

/// Goal: one sentence says what lacks.
#[test]
fn what_has_no_price_is_refused() {
    let coherence = ["--set", "model.coherence=on"];
    let refused = |platform: &str, policy: &str, more: &[&str], said: &str| {
        let plain = ["sim", "--platform", platform, "--workload", PAIRS];
        let own = ["--policy", policy, "--duration", "8ms"];
        assert_refused(&run(&[&plain[..], &own[..], more].concat()), &[said]);
    };
    let no_tree = "model.coherence: policy `linux-6.12` is no kernel's own code; expected \
                   `kernel:VERSION` or `kernel:PATH`";
    refused("zen4-7950x", "linux-6.12", &coherence, no_tree);
    let no_price = "--lines: cache lines have no price in this run; expected `--set \
                    model.coherence=on` beside it";
    refused("zen4-7950x", "linux-6.12", &["--lines", "3"], no_price);
    let none = "`0`; expected a whole number, 1 or more";
    refused("zen4-7950x", "linux-6.12", &["--lines", "0"], none);
    if !is_there() {
        return;
    }
    let kernel = format!("kernel:{}", version());
    let no_costs = "model.coherence: platform `hikey960` does not say what a cache line costs";
    refused("hikey960", &kernel, &coherence, no_costs);
}
