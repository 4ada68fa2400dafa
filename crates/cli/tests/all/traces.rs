//! Traces of `sim`: whole or not at all, and refused before anything runs.
//! Page: docs/guide/traces.md.
//!
//! What must stay: all forms at once change no result; old files outlive a run that fails.
//! Tests by part (in crates/cli/src): commands/simulate.rs: `several_seeds_are_refused`
//! (`simulate`); commands/simulate/watched.rs: `all_forms_of_one_run` (`watch`),
//! `the_option_of_before_is_still_understood` (`logged`), `several_seeds_are_refused` and
//! `one_seed_is_one_run` (`of_one_run`); export.rs: `all_forms_of_one_run`
//! (`Exports`), `places_are_refused_before_anything_runs` (`check`, `prepare`, `places`),
//! `old_files_outlive_a_failed_run` (that nothing is published), `what_cannot_be_written_is_said`
//! (`publish`); args/simulate.rs: `all_forms_of_one_run` (`SimArgs`),
//! `the_option_of_before_is_still_understood` (`rtapp_log`); crates/trace/src/export/sink.rs:
//! `old_files_outlive_a_failed_run` (files of a run that failed).
//! Helpers, and who fails with them: `sim_in` (most tests); `sim_for` (all tests); `names`
//! (`all_forms_of_one_run`, `places_are_refused_before_anything_runs`,
//! `old_files_outlive_a_failed_run`).

use crate::common;

use common::{assert_code, assert_refused, folder, run_in, stderr, stdout};
use std::fs;
use std::path::Path;
use std::process::Output;

/// A short simulation with more arguments.
fn sim_in(folder: &Path, more: &[&str]) -> Output {
    sim_for(folder, "50ms", more)
}

fn sim_for(folder: &Path, duration: &str, more: &[&str]) -> Output {
    let valid = [
        "sim",
        "--platform",
        "tc2",
        "--workload",
        "periodic:n=3",
        "--policy",
        "linux-6.2+sis-short",
        "--duration",
        duration,
        "--format",
        "json",
    ];
    run_in(folder, &[&valid[..], more].concat())
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let name = |entry: std::io::Result<fs::DirEntry>| {
        let name = entry.expect("an entry").file_name();
        name.into_string().expect("UTF-8")
    };
    let mut names: Vec<_> = entries.map(name).collect();
    names.sort();
    names
}

const ALL: [&str; 6] = [
    "--export-perfetto",
    "run.pftrace",
    "--export-ftrace",
    "run.txt",
    "--export-parquet",
    "tables",
];

/// Goal: all forms at once; the result is that of a run without; twice the same bytes.
#[test]
fn all_forms_of_one_run() {
    let folders = [folder(), folder()];
    let plain = sim_in(folders[0].path(), &[]);
    for folder in &folders {
        let traced = sim_in(folder.path(), &ALL);
        assert_code(&traced, 0);
        assert_eq!(stdout(&traced), stdout(&plain));
        assert_eq!(names(folder.path()), ["run.pftrace", "run.txt", "tables"]);
        let text = fs::read_to_string(folder.path().join("run.txt")).expect("text");
        assert!(text.starts_with("cpus=5\n"), "{text}");
    }
    let tables = names(&folders[0].path().join("tables"));
    let kinds = [
        "counters",
        "decisions",
        "metrics",
        "sched_switch",
        "task_rename",
    ];
    for kind in kinds.map(|kind| format!("{kind}.parquet")) {
        assert!(tables.contains(&kind), "{kind} of {tables:?}");
    }
    let files = tables.iter().map(|table| format!("tables/{table}"));
    for name in files.chain(["run.pftrace".to_owned(), "run.txt".to_owned()]) {
        let bytes = |at: usize| fs::read(folders[at].path().join(&name)).expect("written");
        assert!(bytes(0) == bytes(1), "{name} differs");
        assert!(!bytes(0).is_empty(), "{name}");
    }
}

#[test]
fn places_are_refused_before_anything_runs() {
    let folder = folder();
    // 1000000 s would not end: the error comes first.
    let refused = |more: &[&str], parts: &[&str]| {
        assert_refused(&sim_for(folder.path(), "1000000s", more), parts);
    };
    for option in ["--export-perfetto", "--export-ftrace"] {
        refused(
            &[option, "no/run"],
            &[option, "no/run", "its folder does not exist"],
        );
        refused(&[option, "."], &[option, "it is a folder"]);
        refused(
            &[option, "-"],
            &[option, "standard output", "expected a file"],
        );
        refused(
            &[option, "x", "--output", "x"],
            &["--output", option, "expected two"],
        );
    }
    let parquet = "--export-parquet";
    refused(
        &[parquet, "no/tables"],
        &[parquet, "no/tables", "cannot be made a folder"],
    );
    refused(
        &["--export-perfetto", "x", "--export-ftrace", "x"],
        &["--export-perfetto", "--export-ftrace", "expected two"],
    );
    assert!(names(folder.path()).is_empty());
}

#[test]
fn several_seeds_are_refused() {
    let folder = folder();
    for option in [
        "--export-perfetto=x",
        "--export-ftrace=x",
        "--export-rtapp-log=x",
        "--dump-state=1ms",
    ] {
        let output = sim_in(folder.path(), &["--seeds=2", option]);
        let name = option.split('=').next().expect("a name");
        assert_refused(&output, &[name, "--seeds asks for 2", "expected one seed"]);
    }
    assert!(names(folder.path()).is_empty());
}

/// Goal: one seed is one run, however it is asked for: its trace is that of `--seed`.
#[test]
fn one_seed_is_one_run() {
    let folder = folder();
    let trace = |seeds: &str| {
        let output = sim_in(folder.path(), &[seeds, "--export-ftrace=x"]);
        assert_code(&output, 0);
        fs::read(folder.path().join("x")).expect("a trace")
    };
    assert_eq!(trace("--seeds=1"), trace("--seed=1"));
    assert_eq!(trace("--seeds=3..3"), trace("--seed=3"));
    let output = sim_in(folder.path(), &["--seeds=1", "--dump-state=1ms"]);
    assert_code(&output, 0);
}

/// Goal: a run that cannot be leaves what was there as it was.
#[test]
fn old_files_outlive_a_failed_run() {
    let folder = folder();
    fs::write(folder.path().join("run.pftrace"), "old").expect("a file");
    let output = sim_in(
        folder.path(),
        &[
            "--export-perfetto",
            "run.pftrace",
            "--export-parquet",
            "tables",
            "--hotplug",
            "9s:9=off",
        ],
    );
    assert_code(&output, 2);
    let kept = fs::read_to_string(folder.path().join("run.pftrace")).expect("there");
    assert_eq!((kept.as_str(), names(folder.path()).len()), ("old", 1));
}

/// Goal: a full disk is the machine's fault: exit code 3.
#[test]
fn what_cannot_be_written_is_said() {
    let folder = folder();
    let output = sim_in(folder.path(), &["--export-ftrace", "/dev/full"]);
    assert_code(&output, 3);
    let said = stderr(&output);
    assert!(said.contains("/dev/full: cannot be written"), "{said}");
    assert_eq!(stdout(&output), "", "no result without its trace");
}

#[test]
fn the_option_of_before_is_still_understood() {
    let folder = folder();
    for option in ["--rtapp-log", "--export-rtapp-log"] {
        let output = sim_in(folder.path(), &[option, "logs"]);
        assert_refused(&output, &["--export-rtapp-log", "logs nothing"]);
    }
}
