//! Wrong input gives one clear error, exit code 2 and no output.
//! Pages: `--help` of each command; docs/guide/rt-app.md, "How a file is read".
//!
//! What must stay: exit code 2, nothing on standard output, one error that names what was wrong and
//! what is known; words of messages are what users read, so a test names the words that must be
//! there, not the whole text.
//! Tests by part (in crates/cli/src): commands/simulate.rs: `unknown_names_get_the_nearest`,
//! `a_hundred_megabytes_of_brackets_are_refused_at_once`,
//! `a_model_setting_that_the_platform_cannot_have_is_refused`,
//! `task_groups_that_cannot_be_are_refused` (`sim`); args/mod.rs: `wrong_usage_is_refused`
//! (`parse`, `Parsed::Refuse`); args/show.rs: `wrong_usage_is_refused` (`DoctorArgs`);
//! commands/platform.rs: `what_was_meant_comes_before_what_there_is` (names that are not known);
//! args/asked.rs: `numbers_say_what_is_expected` (`value_parser`); args/values.rs:
//! `numbers_say_what_is_expected` (`jobs`, `cpus`); crates/workload/src/input.rs:
//! `standard_input_is_read_as_a_workload` (`standard_input`); terminal.rs:
//! `an_error_does_not_steer_the_terminal` (`error`); crates/study/src/oracle.rs:
//! `the_oracle_wants_a_machine_that_stays_as_it_is` (`check_fixed`); crates/study/src/policy_at.rs:
//! `a_change_after_the_run_is_refused` (by the command); workload files and lengths
//! (crates/workload, crates/study/src/request.rs):
//! `a_duration_needs_a_unit_and_something_to_happen`, `tasks_must_exist_and_fit_the_machine`,
//! `malformed_files_are_refused_by_line_and_column`,
//! `what_is_not_modelled_is_refused_by_name_and_place`,
//! `brackets_within_the_limit_are_refused_too`.
//! Helpers, and who fails with them: `sim_with` (`unknown_names_get_the_nearest`,
//! `what_was_meant_comes_before_what_there_is`, `tasks_must_exist_and_fit_the_machine`,
//! `task_groups_that_cannot_be_are_refused`).

use crate::common;

use common::{
    PERIODIC, assert_code, assert_refused, compare, file, folder, program, run, run_in, sim, stderr,
};
use std::io::Write;
use std::time::{Duration, Instant};

/// `sim` with one part of it replaced.
fn sim_with(platform: &str, workload: &str, policy: &str) -> std::process::Output {
    run(&[
        "sim",
        "--platform",
        platform,
        "--workload",
        workload,
        "--policy",
        policy,
        "--duration",
        "50ms",
    ])
}

#[test]
fn unknown_names_get_the_nearest() {
    let policy = "linux-4.17";
    for (output, wrong, nearest) in [
        (sim_with("hikey96", PERIODIC, policy), "hikey96", "hikey960"),
        (
            sim_with("hikey960", PERIODIC, "linux-4.177"),
            "linux-4.177",
            "linux-4.17",
        ),
        (
            sim_with("hikey960", PERIODIC, "linux-4.17+energy-awre"),
            "energy-awre",
            "energy-aware",
        ),
        (
            sim_with("hikey960", PERIODIC, "linux-4.17+energy-aware=v4"),
            "v4",
            "v3",
        ),
        (
            sim_with("hikey960", "perodic:n=4", policy),
            "perodic",
            "periodic",
        ),
        (
            sim_with("hikey960", "periodic:perod=16ms", policy),
            "perod",
            "period",
        ),
        (sim(&["--expect", "enrgy_j<=3"]), "enrgy_j", "energy_j"),
        (
            sim(&["--expect", "busy_litle_pct<=3"]),
            "busy_litle_pct",
            "busy_little_pct",
        ),
        (
            sim(&["--set", "busy_facter=3"]),
            "busy_facter",
            "busy_factor",
        ),
        (
            sim(&["--set", "idle_states=off"]),
            "idle_states",
            "model.idle_states",
        ),
        (run(&["platform", "show", "junor0"]), "junor0", "juno-r0"),
        (
            run(&["policy", "show", "linx-4.17"]),
            "linx-4.17",
            "linux-4.17",
        ),
        (
            run(&["study", "run", "energy-aware/energy-hikey96"]),
            "energy-hikey96",
            "energy-aware/energy-hikey960",
        ),
        (
            run(&["study", "run", "enrgy-aware/*"]),
            "enrgy-aware/*",
            "energy-aware/*",
        ),
    ] {
        assert_refused(&output, &[wrong, nearest]);
    }
}

#[test]
fn wrong_usage_is_refused() {
    let policies: &[&str] = &["--policy", "linux-4.17"];
    for (output, word) in [
        (sim(&["--fromat", "json"]), "--format"),
        (sim(&["--format", "yaml"]), "yaml"),
        (sim(policies), "wakeplace compare"),
        (
            run(&[
                "compare",
                "--platform",
                "tc2",
                "--workload",
                "periodic",
                "--policy",
                "linux-4.17",
            ]),
            "wakeplace sim",
        ),
        (run(&["comprae"]), "compare"),
        (sim(&["--seeds", "0"]), "expected N for the seeds"),
        (sim(&["--jobs", "0"]), "expected a number of threads"),
        (sim(&["--set", "busy_factor"]), "KEY=VALUE"),
        (sim(&["--set", "busy_factor=0"]), "1 to 1024"),
        (sim(&["--set", "model.idle_states=maybe"]), "`on` or `off`"),
        (sim(&["--expect", "energy_j=3"]), "<="),
        (run(&["sim", "--platform", "tc2"]), "--workload"),
        (run(&["doctor", "--root", "/nonexistent"]), "/nonexistent"),
    ] {
        assert_refused(&output, &[word]);
    }
}

/// Where many names are known, those that were meant come first.
#[test]
fn what_was_meant_comes_before_what_there_is() {
    for (output, meant, then) in [
        (
            run(&["platform", "show", "hikey970"]),
            "did you mean `hikey960`",
            "platform list",
        ),
        (
            run(&["platform", "show", "pixel6"]),
            "did you mean `gs101`",
            "platform list",
        ),
        (
            run(&["policy", "show", "linux-7.3+eas"]),
            "did you mean `energy-aware`",
            "Known: ",
        ),
        (
            run(&["policy", "show", "cfs"]),
            "did you mean `linux-6.2`",
            "Known: linux-3.1",
        ),
        (
            sim(&["--set", "schedutil=on"]),
            "did you mean `governor=schedutil`",
            "policy show",
        ),
        (
            sim(&["--set", "eas=on"]),
            "did you mean `energy_aware`",
            "policy show",
        ),
        (
            sim_with("tc2", "perodic:n=4", "linux-4.17"),
            "did you mean `periodic`",
            "a model: ",
        ),
        (
            run(&["study", "run", "zen"]),
            "did you mean `sis-short/zen3`",
            "study list",
        ),
    ] {
        assert_refused(&output, &[meant, then]);
        let text = stderr(&output);
        assert!(text.find(meant) < text.find(then), "{text}");
    }
    // There are more platforms than a message can hold.
    let text = stderr(&run(&["platform", "show", "nosuchboard"]));
    assert!(
        !text.contains("hikey960") && text.contains("`wakeplace platform list`"),
        "{text}"
    );
}

/// A number that is none, or out of range: the range is said, in every command that takes one.
#[test]
fn numbers_say_what_is_expected() {
    let whole = "expected a whole number from 0 to 18446744073709551615";
    let time = "up to 1000000s";
    let explain = |option: &str, value: &str| {
        let words = ["explain", "--platform", "tc2", "--workload", "periodic"];
        run(&[&words[..], &["--policy", "linux-4.17", option, value]].concat())
    };
    for (output, expected) in [
        (sim(&["--seed", "-1"]), whole),
        (sim(&["--seed", "x"]), whole),
        (sim(&["--seeds", "0"]), "N from 1 to 100000"),
        (sim(&["--seeds", "-1"]), "N from 1 to 100000"),
        (
            sim(&["--jobs", "x"]),
            "expected a number of threads from 1 to 1024",
        ),
        (explain("--seed", "1.5"), whole),
        (
            explain("--wakeup", "-1"),
            "expected the number of a wake-up from 0 to",
        ),
        (
            explain("--to", "-1"),
            "expected the number of a CPU, from 0 to 1023",
        ),
        (
            explain("--why-not", "x"),
            "expected the number of a CPU, from 0 to 1023",
        ),
        (explain("--at", "-1s"), time),
        (explain("--duration", "x"), time),
        (
            run(&["workload", "check", "x.json", "--cpus", "x"]),
            "a number of CPUs from 1 to 1024",
        ),
        (
            run(&["workload", "check", "x.json", "--cpus", "-1"]),
            "a number of CPUs from 1 to 1024",
        ),
        (run(&["lab", "run", "--seed", "-1"]), whole),
        (
            run(&["study", "run", "x", "--seeds", "x"]),
            "N from 1 to 100000",
        ),
    ] {
        assert_refused(&output, &[expected]);
        assert!(
            !stderr(&output).contains("invalid digit"),
            "{}",
            stderr(&output)
        );
    }
}

#[test]
fn a_duration_needs_a_unit_and_something_to_happen() {
    for (text, word) in [
        ("0", "unit"),
        ("0s", "time above 0"),
        ("3h", "is no time"),
        ("-1s", "-1"),
    ] {
        let output = run(&[
            "sim",
            "--platform",
            "tc2",
            "--workload",
            PERIODIC,
            "--policy",
            "linux-4.17",
            "--duration",
            text,
        ]);
        assert_refused(&output, &[word]);
    }
}

#[test]
fn tasks_must_exist_and_fit_the_machine() {
    let output = sim_with("hikey960", "periodic:n=0", "linux-4.17");
    assert_refused(&output, &["`n=0`", "a number from 1"]);
    let output = sim_with("hikey960", "periodic:n=1,cpus=8", "linux-4.17");
    assert_refused(&output, &["8"]);
    let folder = folder();
    let pinned = r#"{"tasks": {"a": {"cpus": [9], "run": 100, "sleep": 1000}}}"#;
    let path = file(&folder, "pinned.json", pinned);
    let path = path.to_str().expect("UTF-8");
    assert_refused(
        &sim_with("hikey960", path, "linux-4.17"),
        &["pinned.json:1:", "9"],
    );
    let path = file(&folder, "none.json", r#"{"tasks": {}}"#);
    let path = path.to_str().expect("UTF-8");
    assert_refused(&sim_with("hikey960", path, "linux-4.17"), &["none.json"]);
}

#[test]
fn malformed_files_are_refused_by_line_and_column() {
    let folder = folder();
    file(&folder, "bad.toml", "name = \"x\"\ntitle = = 3\n");
    file(
        &folder,
        "bad.json",
        "{\n  \"tasks\": {\n    \"a\": { \"run\": }\n  }\n}\n",
    );
    for args in [
        ["platform", "show", "bad.toml"].as_slice(),
        &[
            "sim",
            "--platform",
            "bad.toml",
            "--workload",
            PERIODIC,
            "--policy",
            "linux-4.17",
        ],
    ] {
        assert_refused(&run_in(folder.path(), args), &["bad.toml:2:9: "]);
    }
    for args in [
        ["workload", "check", "bad.json"].as_slice(),
        &[
            "sim",
            "--platform",
            "tc2",
            "--workload",
            "bad.json",
            "--policy",
            "linux-4.17",
        ],
    ] {
        assert_refused(&run_in(folder.path(), args), &["bad.json:3:"]);
    }
}

#[test]
fn what_is_not_modelled_is_refused_by_name_and_place() {
    let folder = folder();
    let text =
        "{'tasks': {'a': {\n  'run': 9,\n  'taskgroup': '/a/b/c/d/e/f/g/h/i',\n  'sleep': 9\n}}}\n";
    file(&folder, "app.json", text);
    let args = [
        "sim",
        "--platform",
        "tc2",
        "--workload",
        "app.json",
        "--policy",
        "linux-4.17",
        "--duration",
        "20ms",
    ];
    assert_refused(
        &run_in(folder.path(), &args),
        &["app.json:3:", "/a/b", "--allow-unmodelled"],
    );
    let allowed = [&args[..], &["--allow-unmodelled", "--format", "json"]].concat();
    let output = run_in(folder.path(), &allowed);
    assert_code(&output, 0);
    assert!(
        common::stdout(&output).contains("app.json:3:"),
        "it is listed in the result"
    );
    let output = run_in(folder.path(), &["workload", "check", "app.json"]);
    assert_code(&output, 0);
    assert!(
        common::stdout(&output).contains("is not modelled"),
        "{output:?}"
    );
}

#[test]
fn a_hundred_megabytes_of_brackets_are_refused_at_once() {
    let folder = folder();
    for name in ["deep.json", "deep.toml"] {
        let mut file = std::fs::File::create(folder.path().join(name)).expect("a file");
        let block = vec![b'['; 1 << 20];
        (0..100).for_each(|_| file.write_all(&block).expect("room for 100 MB"));
    }
    let sim = |platform: &str, workload: &str| {
        // 200 MB of address space: a program that reads all of it fails.
        let line = format!(
            "ulimit -v 200000; exec \"$0\" sim --platform {platform} --workload {workload} \
             --policy linux-4.17"
        );
        let mut shell = std::process::Command::new("sh");
        shell.current_dir(folder.path());
        shell
            .args(["-c", &line, env!("CARGO_BIN_EXE_wakeplace")])
            .output()
            .expect("a shell")
    };
    #[allow(clippy::disallowed_methods, reason = "the test is about wall time")]
    let started = Instant::now();
    assert_refused(&sim("tc2", "deep.json"), &["deep.json", "16 MiB"]);
    assert_refused(
        &sim("./deep.toml", PERIODIC),
        &["deep.toml", "4194304 bytes"],
    );
    assert_refused(
        &run_in(folder.path(), &["workload", "check", "deep.json"]),
        &["deep.json"],
    );
    assert!(
        started.elapsed() < Duration::from_secs(5),
        "{:?}",
        started.elapsed()
    );
}

#[test]
fn brackets_within_the_limit_are_refused_too() {
    let folder = folder();
    let deep = "[".repeat(1 << 20);
    file(&folder, "deep.json", &deep);
    file(&folder, "deep.toml", &deep);
    assert_refused(
        &run_in(folder.path(), &["workload", "check", "deep.json"]),
        &["deep.json:1:"],
    );
    assert_refused(
        &run_in(folder.path(), &["platform", "show", "deep.toml"]),
        &["deep.toml:1:"],
    );
}

#[test]
fn standard_input_is_read_as_a_workload() {
    let check = |text: &str| {
        let mut command = program(std::path::Path::new("."));
        command
            .args(["workload", "check", "-"])
            .stdin(std::process::Stdio::piped());
        command
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin.write_all(text.as_bytes()).expect("it reads");
        drop(stdin);
        child.wait_with_output().expect("it ends")
    };
    common::assert_code(&check(r#"{"tasks": {"a": {"run": 100}}}"#), 0);
    assert_refused(&check("{"), &["-:1:"]);
}

#[test]
fn an_error_does_not_steer_the_terminal() {
    let output = run(&["platform", "show", "\u{1b}[31mred"]);
    assert_refused(&output, &["red"]);
    assert!(!stderr(&output).contains('\u{1b}'));
    let output = compare(&["--policy", "linux-4.17\u{7}"]);
    assert!(!stderr(&output).contains('\u{7}'));
}

/// The optimum is of one machine; heat, caps and hotplug make several of it.
#[test]
fn the_oracle_wants_a_machine_that_stays_as_it_is() {
    for changes in [
        ["--set", "model.thermal=on"],
        ["--set", "model.freq_cap=0:903000"],
        ["--hotplug", "1s:1=off"],
    ] {
        let output = sim(&[&["--oracle"], &changes[..]].concat());
        assert_refused(&output, &["--oracle", "model.thermal", "--hotplug"]);
    }
}

#[test]
fn a_model_setting_that_the_platform_cannot_have_is_refused() {
    let output = sim(&["--set", "model.parent_cpu=99"]);
    assert_refused(&output, &["model.parent_cpu is 99", "has CPUs 0 to "]);
}

/// Goal: a change that would never act is refused, as one of `--hotplug` is. The run takes 50 ms.
#[test]
fn a_change_after_the_run_is_refused() {
    for (key, change) in [("model.freq_cap", "0:999000"), ("model.em_scale", "0:150")] {
        let with = |at: &str| sim(&["--set", &format!("{key}={change}@{at}")]);
        let words = [key, "at 50 ms", "the run is over at 50 ms", "--duration"];
        assert_refused(&with("50ms"), &words);
        assert_code(&with("49ms"), 0);
    }
}

#[test]
fn task_groups_that_cannot_be_are_refused() {
    let refused = |workload: &str, policy: &str, parts: &[&str]| {
        assert_refused(&sim_with("hikey960", workload, policy), parts);
    };
    let shares = &["shares=1", "2 to 262144"];
    refused("periodic:n=2,groups=a,shares=1", "linux-4.17", shares);
    refused(
        "periodic:n=2,groups=a,shares=262145",
        "linux-4.17",
        &["2 to 262144"],
    );
    refused(
        "periodic:n=2,shares=512",
        "linux-4.17",
        &["without a group", "groups=NAME"],
    );
    refused(
        "periodic:n=2,grups=a",
        "linux-4.17",
        &["did you mean `groups`"],
    );
    refused(
        "periodic:n=2,groups=a",
        "wakeplace",
        &["queue=dsq", "queue=eevdf"],
    );
    refused(
        "periodic:n=2,groups=a",
        "linux-3.8",
        &["pelt_scale=ratio", "expected an era from linux-4.7 on"],
    );
    let output = sim(&["--set", "model.shares=b:512"]);
    assert_refused(&output, &["no task group `b`", "it has none"]);
    let output = sim(&["--set", "model.shares=b:1"]);
    assert_refused(&output, &["model.shares", "2 to 262144"]);
}
