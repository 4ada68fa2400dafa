//! CPUs that leave and come back, from the command line: what is done and what is refused.
//! Rule: docs/rules/hotplug.md#hotplug.
//!
//! What must stay: what is refused and with which words; two runs give the same bytes.
//! Tests by part (in crates/cli/src): crates/study/src/hotplug.rs: `cpus_come_and_go` (by the
//! command); commands/simulate.rs: `without_steps_nothing_is_said`,
//! `schedules_that_cannot_be_are_refused`, `tasks_out_of_range_are_refused` (`sim`);
//! crates/engine/src/hotplug.rs: `a_pinned_task_keeps_its_cpu`.

use crate::common;

use common::{assert_code, assert_refused, compare, file, folder, run_in, sim, stdout};

/// The energy books close, or the run panics; two runs are the same.
#[test]
fn cpus_come_and_go() {
    let steps = "0s:1=off,10ms:4=off,20ms:5=off,30ms:1=on,35ms:4=on";
    for policy in [
        "linux-4.17",
        "linux-4.17+energy-aware",
        "linux-7.3",
        "wakeplace",
    ] {
        let folder = folder();
        let output = run_in(
            folder.path(),
            &[
                "sim",
                "--platform",
                "hikey960",
                "--workload",
                "periodic:n=20,period=8ms,duty=20%",
                "--policy",
                policy,
                "--duration",
                "60ms",
                "--hotplug",
                steps,
                "--verify-determinism",
            ],
        );
        assert_code(&output, 0);
        let text = stdout(&output);
        assert!(text.contains(&format!("hotplug={steps}")), "{text}");
        assert!(text.contains("migrations_hotplug_total"), "{text}");
        assert!(text.contains("identical: events="), "{text}");
    }
}

/// A result without it says nothing of it.
#[test]
fn without_steps_nothing_is_said() {
    let output = sim(&["--format", "json"]);
    assert_code(&output, 0);
    assert!(!stdout(&output).contains("hotplug"));
    let output = compare(&["--hotplug", "0s:1=off", "--format", "json"]);
    assert_code(&output, 0);
    assert!(stdout(&output).contains("0s:1=off"));
}

#[test]
fn schedules_that_cannot_be_are_refused() {
    for (steps, words) in [
        ("0s:8=off", ["no CPU 8", "a CPU from 0 to 7"]),
        ("0s:1=on", ["CPU 1 is on already", "expected `off`"]),
        (
            "0s:1=off,1ms:1=off",
            ["`1ms:1=off`: CPU 1 is off already", "expected `on`"],
        ),
        (
            "50ms:1=off",
            ["`50ms:1=off`: the run is over at 50ms", "--duration"],
        ),
        (
            "0s:0=off,0s:1=off,0s:2=off,0s:3=off,0s:4=off,0s:5=off,0s:6=off,1ms:7=off",
            [
                "`1ms:7=off`: CPU 7 is the last one",
                "at least one CPU that stays",
            ],
        ),
        (
            "0s:1=of",
            ["step 1 `0s:1=of`: `of` is no state", "did you mean `off`?"],
        ),
        ("0s:1=off,:2=off", ["step 2 `:2=off`", "expected a time"]),
        ("0s", ["step 1 `0s`: no `:`", "expected TIME:CPU=on"]),
        ("0s:x=off", ["`x` is no CPU number", "expected TIME:CPU=on"]),
        ("2:1=off", ["`2` has no unit", "expected a time"]),
        ("", ["step 1", "expected TIME:CPU=on"]),
    ] {
        assert_refused(&sim(&["--hotplug", steps]), &words);
    }
}

/// A task that is pinned there, by the whole task or by a phase of it.
#[test]
fn a_pinned_task_keeps_its_cpu() {
    let pinned = |workload: &str, steps: &str| {
        let folder = folder();
        let phases = r#"{"tasks": {"a": {"phases": {
            "one": {"cpus": [2, 3], "run": 100, "sleep": 1000},
            "two": {"cpus": [5], "run": 100, "sleep": 1000}}}}}"#;
        file(&folder, "phases.json", phases);
        let args = ["sim", "--platform", "hikey960", "--policy", "linux-7.3"];
        let more = [
            "--duration",
            "20ms",
            "--workload",
            workload,
            "--hotplug",
            steps,
        ];
        run_in(folder.path(), &[&args[..], &more[..]].concat())
    };
    let periodic = "periodic:n=2,period=8ms,duty=10%,cpus=1";
    assert_refused(
        &pinned(periodic, "5ms:1=off"),
        &["hotplug `5ms:1=off`", "is pinned to CPU 1", "expected"],
    );
    assert_refused(
        &pinned("phases.json", "5ms:5=off"),
        &["task `a-0`, phase `two`, is pinned to CPU 5"],
    );
    assert_refused(
        &pinned("phases.json", "0s:2=off,5ms:3=off"),
        &["hotplug `5ms:3=off`", "phase `one`, is pinned to CPU 2,3"],
    );
    assert_code(&pinned("phases.json", "0s:2=off,5ms:4=off"), 0);
    assert_code(&pinned(periodic, "0s:0=off"), 0);
}

/// Weights, slices and periods that cannot be.
#[test]
fn tasks_out_of_range_are_refused() {
    for (setting, expected) in [
        ("nice=20", "-20..=19"),
        ("nice=-21", "-20..=19"),
        ("slice=0", "from 100us to 100ms"),
        ("slice=101ms", "from 100us to 100ms"),
        ("period=0", "a time above 0"),
        ("period=0ms", "a time above 0"),
        ("weight=0", "expected one of n, period"),
    ] {
        let workload = format!("periodic:n=1,{setting}");
        let args = [
            "sim",
            "--platform",
            "tc2",
            "--policy",
            "linux-7.3",
            "--workload",
        ];
        let folder = folder();
        let output = run_in(folder.path(), &[&args[..], &[workload.as_str()]].concat());
        assert_refused(
            &output,
            &[setting.split('=').next().expect("a key"), expected],
        );
    }
    let folder = folder();
    let text = r#"{"tasks": {"a": {"priority": 20, "run": 100, "sleep": 1000}}}"#;
    file(&folder, "nice.json", text);
    let args = [
        "sim",
        "--platform",
        "tc2",
        "--policy",
        "linux-7.3",
        "--workload",
        "nice.json",
    ];
    assert_refused(
        &run_in(folder.path(), &args),
        &["nice.json:1:", "-20 to 19"],
    );
    assert_refused(
        &sim(&["--set", "base_slice_ns=0"]),
        &["100000 to 100000000"],
    );
}
