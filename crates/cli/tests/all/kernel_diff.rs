//! A kernel's decisions beside the core's answers. Where no kernel is there nothing is tried, which
//! is said (kernel_runs.rs).
//! Page: docs/guide/kernel.md, "Beside the policy core"; docs/rules/README.md#decision-by-decision.
//!
//! What must stay: the bound of 1 in 1000; broken rules must be found, which shows that the
//! comparison sees them.
//! Tests by part (in crates/cli/src): commands/kernel_diff.rs: `the_core_decides_as_the_kernel`
//! (`compare`, `verdict`), `what_is_drawn_depends_on_the_seed` (`--random`),
//! `what_cannot_be_compared_is_refused` (`run`); crates/engine/src/explain/on_tree.rs:
//! `the_core_decides_as_the_kernel` (`take_groups`, `waking`); crates/outcome/src/kernel_diff.rs:
//! `a_broken_rule_is_found` (`DiffKind`), `a_broken_signal_is_found` (`SignalDiff`,
//! `SignalFigure`); crates/study/src/kernel_diff/tally.rs: `a_broken_rule_is_found` (`take`,
//! `kinds`, `size`); args/kernel.rs: `what_is_drawn_depends_on_the_seed` (`--random`);
//! crates/study/src/kernel_diff/mod.rs: `what_cannot_be_compared_is_refused` (`not_a_tree`);
//! crates/engine/src/explain/on_signals.rs: `the_cores_signals_are_the_kernels` (`signal`, `join`,
//! `leave`), `a_broken_signal_is_found` (`add_task`, `averages`, `figure`);
//! crates/engine/src/explain/balances.rs: `the_cores_balancing_is_the_kernels` (all);
//! crates/engine/src/happening.rs: `the_cores_signals_are_the_kernels` (`tell`, `tell_nr_updated`).
//! Helpers, and who fails with them: `diff` (`the_core_decides_as_the_kernel`,
//! `a_broken_rule_is_found`, `the_cores_signals_are_the_kernels`,
//! `the_cores_balancing_is_the_kernels`, `a_broken_signal_is_found`); `signals`
//! (`the_cores_balancing_is_the_kernels`, `the_cores_signals_are_the_kernels`,
//! `a_broken_signal_is_found`).

use crate::common;
use crate::kernel_runs::{is_there, version};

use common::{assert_code, assert_refused, run, stdout};
use serde_json::Value;

/// Compares them on HiKey960 with tasks of several sizes that wake each other.
fn diff(policy: &str, more: &[&str]) -> (Value, Option<i32>) {
    let kernel = format!("kernel:{}", version());
    let load = common::repository("workloads/mixed-sizes.json");
    let args = [
        "kernel",
        "diff",
        policy,
        &kernel,
        "--platform",
        "hikey960",
        "--workload",
        load.to_str().expect("a path"),
        "--duration",
        "4s",
        "--format",
        "json",
    ];
    let output = run(&[&args, more].concat());
    let json = serde_json::from_str(&stdout(&output)).expect("JSON");
    (json, output.status.code())
}

/// Goal: the core decides as the kernel of its era on the kernel's own state: at most 1 in 1000
/// differs (docs/rules/README.md#decision-by-decision). A difference comes with its smallest
/// example: the task, both answers and the state of each CPU.
#[test]
fn the_core_decides_as_the_kernel() {
    if !is_there() || version() != "7.3.4" {
        return;
    }
    let (found, code) = diff("linux-7.3", &["--allow", "1"]);
    assert_eq!(code, Some(0), "{found}");
    let number = |name: &str| found[name].as_u64().expect("a number");
    let (decisions, agree) = (number("decisions"), number("agree"));
    assert!(decisions > 2000, "{found}");
    assert!(1000 * (decisions - agree) <= decisions, "{found}");
}

/// Goal: a rule that is wrong is found, with the step that differs. Broken are the energy estimate
/// (the boost of 6.12, which 7.3 takes otherwise) and the choice between waker and previous CPU.
#[test]
fn a_broken_rule_is_found() {
    if !is_there() || version() != "7.3.4" {
        return;
    }
    for (policy, rule) in [
        ("linux-7.3:runnable_boost=off", "energy"),
        (
            "linux-7.3:wake_affine_idle=off,energy_aware=off",
            "idle-sibling",
        ),
    ] {
        let (found, code) = diff(policy, &["--allow", "0.5"]);
        assert_eq!(code, Some(1), "{policy}: {found}");
        let kinds = found["kinds"].as_array().expect("kinds");
        assert_eq!(kinds[0]["rule"], rule, "{policy}: {}", kinds[0]);
        let example = &kinds[0]["example"];
        assert_ne!(example["cpu"], example["core"][0]["cpu"], "{example}");
        assert_eq!(example["candidates"].as_array().map(Vec::len), Some(8));
    }
}

/// Goal: drawn machines and loads are the same for the same seed, and each can be had alone.
#[test]
fn what_is_drawn_depends_on_the_seed() {
    if !is_there() {
        return;
    }
    let kernel = format!("kernel:{}", version());
    let drawn = |most: &str, seed: &str| {
        // A broken rule gives examples, which have the machine.
        let policy = "linux-7.3:wake_affine_idle=off,energy_aware=off";
        let args = ["kernel", "diff", policy, &kernel, "--random", most];
        let more = ["--seed", seed, "--format", "json"];
        let output = run(&[&args[..], &more].concat());
        assert_code(&output, 0);
        stdout(&output)
    };
    assert_eq!(drawn("600", "3"), drawn("600", "3"));
    assert_ne!(drawn("600", "3"), drawn("600", "4"));
}

/// Goal: what cannot be compared is refused in a sentence.
#[test]
fn what_cannot_be_compared_is_refused() {
    let with = ["--platform", "hikey960", "--workload", "periodic:n=2"];
    let diff = |args: &[&str]| run(&[&["kernel", "diff"], args].concat());
    assert_refused(
        &diff(&[&["linux-7.3", "linux-7.3"], &with[..]].concat()),
        &["expected a kernel's own code, as kernel:7.3"],
    );
    assert_refused(
        &diff(&["linux-7.3", "kernel:7.3", "--platform", "hikey960"]),
        &["no workload given; expected"],
    );
}

/// Counts of a kind of signal: compared, and differing.
fn signals(found: &Value, kind: &str) -> [u64; 2] {
    let signals = found["signals"].as_array().expect("signals");
    let of = signals.iter().find(|of| of["kind"] == kind);
    let of = of.unwrap_or_else(|| panic!("{kind}: {found}"));
    [&of["compared"], &of["differ"]].map(|count| count.as_u64().expect("a number"))
}

/// Goal: the core makes of each average, estimate, call of schedutil and wake-up of a busy CPU what
/// the kernel of its era makes (docs/rules/README.md#signal-by-signal).
#[test]
fn the_cores_signals_are_the_kernels() {
    if !is_there() || version() != "7.3.4" {
        return;
    }
    let (found, code) = diff("linux-7.3", &["--allow", "1"]);
    assert_eq!(code, Some(0), "{found}");
    for (kind, least) in [
        ("task-update", 10_000),
        ("queue-update", 10_000),
        ("enqueue-queue", 2000),
        ("dequeue-queue", 2000),
        ("task-util-est", 2000),
        ("schedutil-request", 5000),
        ("wakeup-preempt", 500),
        ("pick-task", 2000),
    ] {
        let [compared, differ] = signals(&found, kind);
        assert!(compared > least, "{kind}: {compared}");
        assert_eq!(differ, 0, "{kind} of {compared}");
    }
}

/// Goal: at each step of balancing the core answers what the kernel of its era does, but for
/// sleepers that a queue keeps, which stay here (docs/rules/README.md#step-by-step).
#[test]
fn the_cores_balancing_is_the_kernels() {
    let era = match version().as_str() {
        "7.3.4" => "linux-7.3",
        other if other == "6.1" || other.starts_with("6.1.") => "linux-6.1",
        _ => return,
    };
    if !is_there() {
        return;
    }
    // Machine 7 of those that are drawn is full.
    let kernel = format!("kernel:{}", version());
    let args = ["kernel", "diff", era, &kernel, "--random", "1500"];
    let output = run(&[&args[..], &["--seed", "7", "--format", "json"]].concat());
    let found: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    for (kind, least) in [
        ("balance-who", 500),
        ("balance-group", 500),
        ("balance-queue", 100),
        ("balance-detach", 100),
        ("balance-push", 50),
    ] {
        let [compared, differ] = signals(&found, kind);
        assert!(compared > least, "{kind}: {compared}");
        let examples = found["signal_differences"].as_array().expect("examples");
        let of = examples.iter().filter(|of| of["kind"] == kind);
        let sleepers = of.filter(|of| of["figures"][0]["name"] == "sleeper");
        let sleepers: u64 = sleepers.filter_map(|of| of["count"].as_u64()).sum();
        assert_eq!(differ, sleepers, "{kind} of {compared}");
    }
}

/// Goal: a rule of signals that is wrong is found where it is, with an example. Broken are the
/// third signal of PELT (that of 5.6), when the estimate is taken (that of 6.12), schedutil's
/// headroom, the protection of a picked task, the whole queue (that of CFS), and whether balancing
/// is energy-aware.
#[test]
fn a_broken_signal_is_found() {
    if !is_there() || version() != "7.3.4" {
        return;
    }
    for (broken, kind, figure) in [
        ("runnable_is_load=on", "task-update", "runnable_sum"),
        ("util_est_before_update=on", "task-util-est", "util_est"),
        ("freq_headroom=off", "schedutil-request", "next_freq"),
        ("eevdf_form=6.12", "wakeup-preempt", "need_resched"),
        ("queue=cfs", "pick-task", "task"),
        ("energy_aware=off", "balance-group", "group"),
    ] {
        let (found, code) = diff(&format!("linux-7.3:{broken}"), &["--allow", "0.5"]);
        assert_eq!(code, Some(1), "{broken}");
        let [compared, differ] = signals(&found, kind);
        assert!(100 * differ > compared, "{broken}: {differ} of {compared}");
        let examples = found["signal_differences"].as_array().expect("examples");
        let example = examples.iter().find(|of| of["kind"] == kind);
        let figures = example.and_then(|of| of["figures"].as_array());
        let named = figures.is_some_and(|of| of.iter().any(|of| of["name"] == figure));
        assert!(named, "{broken}: {example:?}");
    }
}
