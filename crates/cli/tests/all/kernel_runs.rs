//! A kernel's own `kernel/sched` as a policy. The kernel is fetched into the cache of whoever runs
//! the tests, once, and built there; without archive and cache nothing of it is tried, which is
//! said.
//! Page: docs/guide/kernel.md.
//!
//! What must stay: what is right is what the kernel's own source says, named at each test; nothing
//! is compared with the model's figures but where a test says so.
//! Tests by part (in crates/cli/src): crates/engine/src/kernel/tree/interface.rs:
//! `energy_aware_placement_is_the_kernels_own` (`finish`, `event`);
//! crates/engine/src/kernel/tree/frequency.rs: `waits_for_devices_move_frequencies` (`want`,
//! `opp_wanted`); crates/engine/src/kernel/tree/entries.rs:
//! `a_governor_that_comes_first_repeats_no_call` (`call`, `start`), `no_kind_of_work_makes_it_warn`
//! (`carry_out`, `next_of`); trees.rs: `a_comparison_does_not_depend_on_threads` (`provide`),
//! `a_comparison_of_one_kernel_is_refused_before_it_is_built` (that nothing is built for it);
//! crates/engine/src/explain/on_tree.rs: `a_decision_is_explained_by_the_trees_own_figures`
//! (`explain`, `take_cpu`); crates/engine/src/kernel/tree/interrupts.rs: `the_boot_is_forgotten`
//! (`end_sleeps`); crates/study/src/tree.rs: `what_it_does_not_take_is_refused` (`check`);
//! commands/explain.rs: `commands_that_cannot_have_one_say_so` (trees in `--compare-policy`).
//! Helpers, and who fails with them: `version`, `kernel`, `is_there`, `json` (most tests);
//! `hikey960` (`energy_aware_placement_is_the_kernels_own`, `no_kind_of_work_makes_it_warn`);
//! `metric` (`energy_aware_placement_is_the_kernels_own`, `waits_for_devices_move_frequencies`,
//! `a_governor_that_comes_first_repeats_no_call`, `no_kind_of_work_makes_it_warn`); `explain`
//! (`a_decision_is_explained_by_the_trees_own_figures`, `the_boot_is_forgotten`).

use crate::common;

use common::{assert_code, assert_refused, folder, program, run, stderr, stdout};
use serde_json::Value;
use std::io::Write as _;
use std::process::Output;
use std::sync::OnceLock;

/// The version that the builder's own test fetches, too
/// (crates/kernel-tree/tests/all/real_tree.rs); nightly tries others.
pub(crate) fn version() -> String {
    std::env::var("WAKEPLACE_TEST_KERNEL").unwrap_or_else(|_| "7.3.4".to_owned())
}

fn kernel() -> String {
    format!("kernel:{}", version())
}

const TASKS: &str = "periodic:n=10,period=16ms,duty=5%,start=spread";

/// Is there a kernel for arm64 machines? It is built by the first who asks.
pub(crate) fn is_there() -> bool {
    static THERE: OnceLock<bool> = OnceLock::new();
    *THERE.get_or_init(|| {
        let output = run(&["kernel", "build", &version(), "--arch", "arm64"]);
        if output.status.code() != Some(3) {
            assert_code(&output, 0);
            return true;
        }
        let what = format!(
            "**** SKIPPED: no kernel can be run here: {}",
            stderr(&output)
        );
        writeln!(std::io::stderr(), "{what}").expect("stderr");
        let required = std::env::var_os("WAKEPLACE_REQUIRE_KERNEL").is_some();
        assert!(!required, "{what}");
        false
    })
}

fn hikey960(workload: &str, more: &[&str]) -> Output {
    let kernel = kernel();
    let mut args = vec![
        "sim",
        "--platform",
        "hikey960",
        "--workload",
        workload,
        "--policy",
        &kernel,
    ];
    args.extend(more);
    run(&args)
}

fn json(output: &Output) -> Value {
    assert_code(output, 0);
    serde_json::from_str(&stdout(output)).expect("JSON")
}

fn metric(result: &Value, name: &str) -> f64 {
    let mean = &result["runs"][0]["metrics"][name]["mean"];
    mean.as_f64()
        .unwrap_or_else(|| panic!("{name} in {result}"))
}

/// Goal: the kernel's own energy-aware placement is at work. Ten tasks of 5 % of a big CPU go to
/// little ones, once their first seconds on big ones are over: in a guest of the same kernel with
/// that machine 98 % of run time does (docs/results/fidelity.md).
#[test]
fn energy_aware_placement_is_the_kernels_own() {
    if !is_there() {
        return;
    }
    let output = hikey960(
        TASKS,
        &[
            "--duration",
            "20s",
            "--format",
            "json",
            "--verify-determinism",
        ],
    );
    let result = json(&output);
    assert!(stderr(&output).contains("identical"), "{}", stderr(&output));
    let little = metric(&result, "wakeups_little_total");
    let all = metric(&result, "wakeups_total");
    assert!(all > 12_000.0 && little / all > 0.95, "{little} of {all}");
    assert!(metric(&result, "cpu_energy_j") > 0.0);
    let settings = &result["runs"][0]["settings"];
    let built = settings["kernel"].as_str().unwrap_or_default();
    assert!(built.starts_with(&version()), "{settings}");
}

/// Goal: the kernel knows which sleeps wait for devices. Schedutil raises the frequency with each
/// such wake-up and lowers it where none came (`sugov_iowait_boost()` and `sugov_iowait_apply()`),
/// so that the frequency goes up and down all the time; that of a task which sleeps for time alone
/// is steady.
#[test]
fn waits_for_devices_move_frequencies() {
    if !is_there() {
        return;
    }
    let changes = |sleep: &str| {
        let workload = format!("periodic:n=1,period=1ms,duty=20%,sleep={sleep}");
        let kernel = format!("{}:rate_limit_us=100", kernel());
        let args = ["sim", "--platform", "hikey960", "--workload", &workload];
        let more = ["--policy", &kernel, "--duration", "1s", "--format", "json"];
        metric(
            &json(&run(&[&args[..], &more].concat())),
            "freq_changes_total",
        )
    };
    let (timer, device) = (changes("timer"), changes("io"));
    assert!(timer < 20.0 && device > 200.0, "{timer} and {device}");
}

/// Goal: a task whose call made the governor's thread run first goes on where it was. On Juno the
/// fork by which all begins does.
#[test]
fn a_governor_that_comes_first_repeats_no_call() {
    if !is_there() {
        return;
    }
    let kernel = kernel();
    let args = ["--duration", "200ms", "--format", "json"];
    let of = ["--platform", "juno-r0", "--workload", TASKS, "--policy"];
    let result = json(&run(&[&["sim"], &of[..], &[&kernel], &args].concat()));
    // Ten tasks of 16 ms.
    assert!(metric(&result, "wakeups_total") > 100.0, "{result}");
}

/// Goal: whatever a workload or a machine does, the kernel has nothing to complain about: a WARN
/// ends a run with exit code 1.
#[test]
fn no_kind_of_work_makes_it_warn() {
    if !is_there() {
        return;
    }
    let folder = folder();
    let classes = folder.path().join("classes.json");
    let text = r#"{"tasks": {
        "fifo": {"policy": "SCHED_FIFO", "priority": 9, "run": 900,
                 "timer": {"ref": "a", "period": 7000}},
        "rr": {"policy": "SCHED_RR", "priority": 9, "instance": 3, "run": 2000, "sleep": 500},
        "dl": {"policy": "SCHED_DEADLINE", "dl-runtime": 3000, "dl-period": 16000,
               "run": 2500, "timer": {"ref": "b", "period": 16000}},
        "nice": {"priority": -5, "instance": 3, "run": 3000, "sleep": 1000},
        "pinned": {"cpus": [1, 6], "run": 1000, "sleep": 1000},
        "hinted": {"util_min": 600, "run": 500, "timer": {"ref": "c", "period": 9000}}
    }}"#;
    std::fs::write(&classes, text).expect("written");
    let classes = classes.display().to_string();
    let cases: [(&str, &[&str]); 10] = [
        (&classes, &[]),
        ("schbench", &[]),
        ("messaging:groups=1,loops=20", &[]),
        ("context-switch:pairs=3", &[]),
        ("cyclictest", &[]),
        (TASKS, &["--hotplug", "100ms:4=off,200ms:0=off,300ms:4=on"]),
        ("busy-loops:n=8", &["--hotplug", "100ms:4=off,300ms:4=on"]),
        (
            "busy-loops:n=8",
            &["--set", "model.freq_cap=1:1805000@100ms"],
        ),
        ("busy-loops:n=8", &["--set", "model.thermal=on"]),
        (
            TASKS,
            &[
                "--set",
                "model.cpuidle=none",
                "--set",
                "model.irq=0:1ms:100us",
            ],
        ),
    ];
    for (workload, more) in cases {
        let args = [&["--duration", "400ms", "--format", "json"], more].concat();
        let result = json(&hikey960(workload, &args));
        assert!(metric(&result, "task_run_s") > 0.0, "{workload}");
    }
}

/// Goal: the bytes depend on no thread count, and trees stand beside models.
#[test]
fn a_comparison_does_not_depend_on_threads() {
    if !is_there() {
        return;
    }
    let compared = |jobs: &str| {
        let output = run(&[
            "compare",
            "--platform",
            "hikey960",
            "--workload",
            TASKS,
            "--policy",
            &kernel(),
            "--policy",
            &format!("{}:name=batch,features=NO_NEXT_BUDDY", kernel()),
            "--policy",
            "linux-7.3",
            "--duration",
            "300ms",
            "--seeds",
            "3",
            "--format",
            "json",
            "--jobs",
            jobs,
        ]);
        assert_code(&output, 0);
        stdout(&output)
    };
    let first = compared("1");
    assert_eq!(first, compared("3"));
    let result: Value = serde_json::from_str(&first).expect("JSON");
    let names = result["runs"].as_array().expect("policies");
    let names: Vec<_> = names
        .iter()
        .map(|of| of["policy"].as_str().unwrap_or(""))
        .collect();
    assert!(names[0].starts_with(&version()), "{names:?}");
    assert_eq!(names[1..], ["batch", "linux-7.3"]);
}

fn explain(more: &[&str]) -> Output {
    let kernel = kernel();
    let args = ["explain", "--platform", "hikey960", "--workload", TASKS];
    run(&[&args[..], &["--policy", &kernel, "--format", "json"], more].concat())
}

/// Goal: a decision is shown with what the tree had to decide by. `find_energy_efficient_cpu()`
/// takes the domain to whose energy the task adds least, or stays where it was if that saves less
/// than a sixteenth (Documentation/scheduler/sched-energy.rst, 4. "Energy-Aware task placement").
#[test]
fn a_decision_is_explained_by_the_trees_own_figures() {
    if !is_there() {
        return;
    }
    let answer = json(&explain(&["--wakeup", "300"]));
    assert_eq!(answer["wakeup"]["number_in_run"], 300);
    assert_eq!(answer["wakeup"]["kind"], "wake");
    assert_eq!(answer["energy_aware"], true, "{answer}");
    let number = |value: &Value| value.as_u64().expect("a number");
    let candidates = answer["candidates"].as_array().expect("CPUs");
    let cpus: Vec<u64> = candidates.iter().map(|seen| number(&seen["cpu"])).collect();
    assert_eq!(cpus, (0..8).collect::<Vec<_>>());
    for seen in candidates {
        assert!(
            number(&seen["capacity"]) <= number(&seen["capacity_orig"]),
            "{seen}"
        );
        if seen["idle_state"].is_string() {
            let idle = (number(&seen["nr_running"]), &seen["idle"]);
            assert_eq!(idle, (0, &true.into()), "{seen}");
        }
    }
    let energies = answer["energies"].as_array().expect("domains");
    let mut firsts: Vec<u64> = energies.iter().map(|of| number(&of["first_cpu"])).collect();
    firsts.sort_unstable();
    assert_eq!(firsts, [0, 4], "HiKey960's clusters");
    let more = |of: &Value| number(&of["with"]) - number(&of["without"]);
    let least = energies.iter().min_by_key(|of| more(of)).expect("two");
    let (chosen, prev) = (
        number(&answer["cpu"]),
        number(&answer["wakeup"]["prev_cpu"]),
    );
    assert!(
        chosen == prev || chosen / 4 == number(&least["first_cpu"]) / 4,
        "{answer}"
    );
    // Our rules are read from this kernel: on its state they come to its answer.
    assert_eq!(answer["core"][0]["policy"], "linux-7.3");
    assert_eq!(answer["core"][0]["cpu"], answer["cpu"], "{answer}");
    // The same decision, by its time.
    let at = format!("{}ns", number(&answer["wakeup"]["time_ns"]));
    let again = json(&explain(&["--at", &at]));
    assert_eq!(again["cpu"], answer["cpu"]);
    assert_eq!(again["candidates"], answer["candidates"]);
    let none = explain(&["--wakeup", "100000", "--duration", "1s"]);
    assert_refused(&none, &["--wakeup 100000: there were", "wake-ups"]);
}

/// Goal: a run begins on a machine that has been up and idle. The averages of what ran at its boot
/// halve every 32 ms (kernel/sched/pelt.c), so nothing is left of them.
#[test]
fn the_boot_is_forgotten() {
    if !is_there() {
        return;
    }
    let answer = json(&explain(&["--wakeup", "0"]));
    assert_eq!(answer["wakeup"]["kind"], "fork");
    let ran_ns = answer["wakeup"]["time_ns"].as_f64().expect("a time");
    assert!(ran_ns < 10e6, "{answer}");
    let most = 1024.0 * (1.0 - 0.5_f64.powf(ran_ns / 32e6)); // of a CPU that ran since the start
    let creator = &answer["wakeup"]["waker_cpu"];
    let candidates = answer["candidates"].as_array().expect("CPUs").iter();
    for seen in candidates.filter(|seen| &seen["cpu"] != creator) {
        assert!(
            seen["util"].as_f64().expect("a number") <= most + 1.0,
            "{seen}"
        );
    }
}

/// Goal: what a kernel does not take is named; so is what is not offered for one.
/// Needs no kernel: nothing is built for a comparison of one.
#[test]
fn a_comparison_of_one_kernel_is_refused_before_it_is_built() {
    let alone = ["compare", "--platform", "hikey960", "--workload", TASKS];
    let policy = ["--policy", "kernel:7.3.4"];
    let said = "compare needs two policies or more, and `kernel:7.3.4` is the only policy";
    assert_refused(&run(&[&alone[..], &policy].concat()), &[said]);
}

#[test]
fn what_it_does_not_take_is_refused() {
    if !is_there() {
        return;
    }
    // The one before it makes schedutil's thread run, for which the second does not wait.
    let slip = format!("{}:sched_energy_aware=0,base_slize_ns=3000000", kernel());
    let plain = [
        "sim",
        "--platform",
        "hikey960",
        "--workload",
        TASKS,
        "--duration",
        "100ms",
    ];
    let refused = |more: &[&str], said: &str| {
        assert_refused(&run(&[&plain[..], more].concat()), &[said]);
    };
    refused(
        &["--policy", &slip],
        "`base_slize_ns=3000000`: the kernel does not take it (errno 2)",
    );
    let later = [
        "--policy",
        &kernel(),
        "--policy-at",
        "50ms=power-policy=powersaving",
    ];
    refused(&later, "not offered for a kernel's own code: `--policy-at`");
    let powers = ["--policy", &kernel(), "--set", "model.em_scale=1:150@50ms"];
    refused(
        &powers,
        "not offered for a kernel's own code: `model.em_scale`",
    );
}

/// Goal: these need no kernel to be refused.
#[test]
fn commands_that_cannot_have_one_say_so() {
    let explain = run(&[
        "explain",
        "--platform",
        "hikey960",
        "--workload",
        TASKS,
        "--policy",
        "linux-7.3",
        "--compare-policy",
        &kernel(),
    ]);
    let said = "a kernel's own code cannot be asked about the state of another run";
    assert_refused(&explain, &[said]);
    let beside = run(&[
        "compare",
        "--platform",
        "hikey960",
        "--workload",
        TASKS,
        "--policy",
        &kernel(),
        "--scheduler",
        "scx_simple",
    ]);
    assert_refused(
        &beside,
        &["--scheduler runs on the modelled kernel, not on a tree's own"],
    );
    let config = run(&[
        "sim",
        "--platform",
        "hikey960",
        "--workload",
        TASKS,
        "--policy",
        "linux-7.3",
        "--kernel-config",
        "x",
    ]);
    assert_refused(&config, &["expected a --policy kernel:..."]);
    let folder = folder();
    let output = program(folder.path())
        .args([
            "sim",
            "--platform",
            "hikey960",
            "--workload",
            TASKS,
            "--policy",
            &kernel(),
        ])
        .env("WAKEPLACE_KERNEL_CACHE", folder.path().join("cache"))
        .env("WAKEPLACE_MIRROR", "file:///no/such/mirror")
        .output();
    let output = output.expect("the program starts");
    assert_code(&output, 3);
    assert!(stderr(&output).contains("the package archive cannot be reached"));
}
