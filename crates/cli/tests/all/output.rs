//! Results arrive whole or not at all.
//! Page: docs/guide/traces.md, "What is promised of files".
//!
//! What must stay: a result arrives whole or not at all, and what is read is never written over.
//! Tests by part (in crates/cli/src): args/simulate.rs: `a_file_gets_what_standard_output_would`
//! (`OutputArgs`); output.rs: `a_file_gets_what_standard_output_would` (`write`),
//! `an_unwritable_place_is_found_before_anything_runs` (`prepare`),
//! `an_error_leaves_an_existing_file_as_it_was` (that nothing stays),
//! `a_device_is_written_to_and_not_replaced` (`cannot`), `links_and_rights_stay` (links);
//! places.rs: `what_is_read_is_not_written_over` (`apart`); args/explain.rs:
//! `what_is_read_is_not_written_over` (`--output`); commands/simulate.rs:
//! `an_unwritable_place_is_found_before_anything_runs` (`Outputs`); crates/files/src/place.rs:
//! `a_device_is_written_to_and_not_replaced` (`Place::open`), `links_and_rights_stay`
//! (`keep_rights`); output.rs and terminal.rs: all others.
//! Helpers, and who fails with them: `sim_to`, `names` (most tests).

use crate::common;

use common::{assert_code, assert_refused, file, folder, program, repository, run_in, stdout};
use std::fs;
use std::path::Path;
use std::process::{Output, Stdio};

/// A simulation that writes to `output`.
fn sim_to(folder: &Path, output: &str, more: &[&str]) -> Output {
    let valid = [
        "sim",
        "--platform",
        "tc2",
        "--workload",
        "periodic:n=2",
        "--policy",
        "linux-4.17",
        "--duration",
        "50ms",
        "--format",
        "json",
        "--output",
        output,
    ];
    run_in(folder, &[&valid[..], more].concat())
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut names: Vec<_> = entries
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .into_string()
                .expect("UTF-8")
        })
        .collect();
    names.sort();
    names
}

#[test]
fn a_file_gets_what_standard_output_would() {
    let folder = folder();
    let to_file = sim_to(folder.path(), "result.json", &[]);
    assert_code(&to_file, 0);
    assert_eq!(stdout(&to_file), "");
    let written = fs::read_to_string(folder.path().join("result.json")).expect("a result");
    assert_eq!(written, stdout(&sim_to(folder.path(), "-", &[])));
    assert_eq!(names(folder.path()), ["result.json"], "nothing else stays");
}

/// What a run reads stays, by whatever name the result would go there.
#[test]
fn what_is_read_is_not_written_over() {
    let folder = folder();
    let path = folder.path().join("load.json");
    let load = r#"{"tasks": {"t": {"loop": 2, "run": 100, "sleep": 100}}}"#;
    fs::write(&path, load).expect("a workload");
    for command in ["sim", "explain", "compare"] {
        let args = [
            "--platform=tc2",
            "--workload=load.json",
            "--output=./load.json",
        ];
        let policies = ["--policy=linux-4.17", "--policy=linux-4.7"];
        let policies = &policies[..if command == "compare" { 2 } else { 1 }];
        let refused = run_in(folder.path(), &[&[command][..], &args, policies].concat());
        assert_refused(
            &refused,
            &["`--workload` and `--output` name the same file"],
        );
        assert_eq!(fs::read_to_string(&path).expect("it is there"), load);
    }
    let refused = run_in(folder.path(), &["report", "load.json", "-o", "load.json"]);
    assert_refused(&refused, &["name the same file"]);
    assert_eq!(names(folder.path()), ["load.json"]);
}

#[test]
fn an_unwritable_place_is_found_before_anything_runs() {
    let folder = folder();
    // 1000000 s of 100,000 tasks would not end: the error comes first.
    let endless = ["--seeds", "1000"];
    for place in ["missing/result.json", ".", "/dev/full/x"] {
        assert_refused(
            &sim_to(folder.path(), place, &endless),
            &[place, "cannot be written"],
        );
    }
    let study = [
        "study",
        "run",
        "energy-aware/energy-hikey960",
        "--duration",
        "1000000s",
        "--output",
        "missing/result.json",
    ];
    assert_refused(&run_in(folder.path(), &study), &["missing/result.json"]);
    assert!(names(folder.path()).is_empty());
}

#[test]
fn an_error_leaves_an_existing_file_as_it_was() {
    let folder = folder();
    let path = file(&folder, "result.json", "precious\n");
    for wrong in [
        ["--expect", "nothing<3"],
        ["--set", "nothing=3"],
        ["--allow-unmodelled", "--nothing"],
    ] {
        assert_code(&sim_to(folder.path(), "result.json", &wrong), 2);
        assert_eq!(
            fs::read_to_string(&path).expect("still there"),
            "precious\n"
        );
    }
    assert_eq!(names(folder.path()), ["result.json"]);
    assert_code(&sim_to(folder.path(), "result.json", &[]), 0);
    assert!(
        fs::read_to_string(&path)
            .expect("still there")
            .starts_with('{')
    );
}

#[test]
fn a_device_is_written_to_and_not_replaced() {
    let output = sim_to(Path::new("."), "/dev/stdout", &[]);
    assert_code(&output, 0);
    assert!(stdout(&output).starts_with('{'));
    let full = sim_to(Path::new("."), "/dev/full", &[]);
    assert_code(&full, 3);
    let said = common::stderr(&full);
    assert!(
        said.starts_with("error: output /dev/full: cannot be written: No space left"),
        "{said}"
    );
    assert!(
        !said.contains("expected"),
        "no other place is better: {said}"
    );
}

#[cfg(unix)]
#[test]
fn links_and_rights_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = folder();
    let target = file(&folder, "target.json", "old\n");
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).expect("own file");
    symlink("target.json", folder.path().join("link.json")).expect("a link");
    assert_code(&sim_to(folder.path(), "link.json", &[]), 0);
    assert!(
        fs::read_to_string(&target)
            .expect("the target")
            .starts_with('{')
    );
    assert_eq!(
        fs::metadata(&target)
            .expect("the target")
            .permissions()
            .mode()
            & 0o777,
        0o640
    );
    let link = fs::symlink_metadata(folder.path().join("link.json")).expect("the link");
    assert!(link.is_symlink());
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    for args in [
        ["platform", "show", "hikey960"].as_slice(),
        &["--help"],
        &[
            "study",
            "run",
            "energy-aware/energy-hikey960",
            "--quick",
            "--duration",
            "20ms",
        ],
    ] {
        let mut command = program(&repository("."));
        command
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        drop(child.stdout.take());
        assert_code(&child.wait_with_output().expect("it ends"), 0);
    }
}

#[test]
fn a_failed_expectation_still_writes_the_result() {
    let folder = folder();
    let output = sim_to(
        folder.path(),
        "result.json",
        &["--expect", "wakeups_total<1"],
    );
    assert_code(&output, 1);
    assert!(common::stderr(&output).contains("FAIL"), "{output:?}");
    assert_eq!(names(folder.path()), ["result.json"]);
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_it_and_leaves_nothing() {
    use std::os::unix::process::ExitStatusExt;
    let folder = folder();
    let own = program(folder.path());
    // A job in the background of a shell has the signal ignored, and so would its children.
    let mut command = std::process::Command::new("env");
    command.arg("--default-signal=INT").arg(own.get_program());
    command.current_dir(folder.path()).stdin(Stdio::null());
    command.args(["sim", "--platform", "tc2", "--workload", "periodic:n=50"]);
    command.args([
        "--policy",
        "linux-4.17",
        "--duration",
        "1000000s",
        "--output",
        "r.json",
    ]);
    let mut child = command.spawn().expect("the program starts");
    std::thread::sleep(std::time::Duration::from_millis(300));
    let pid = child.id().to_string();
    let sent = std::process::Command::new("sh")
        .args(["-c", "kill -INT $0", &pid])
        .status();
    assert!(sent.expect("a shell").success());
    // A shell reports a program that an interrupt ended as 128 + 2.
    assert_eq!(child.wait().expect("it ends").signal(), Some(2));
    assert!(names(folder.path()).is_empty());
}
