//! Where a result comes from: the command that gives it again, and the program's commit
//! (docs/guide/report.md, "In the JSON").
//!
//! Called for every result, and for what a store says of its sweep.
//!
//! What must stay: the command is part of a result's JSON, so equal runs must give equal text:
//! options that change no result (`--jobs`, `-v`, places of files) are left out. A new option of
//! that kind is added to the list here. A shell reads the text back. Tests by part:
//! `what_matters_not_is_left_out` (`command`, `is_left_out`), `a_shell_reads_it_back` (words with
//! blanks),
//! crates/cli/tests/all/report.rs::`a_page_of_a_run_and_one_of_its_json_are_the_same_bytes`
//! (`origin`, `--jobs`),
//! crates/python/tests/test_results.py::`test_compare_gives_the_bytes_of_its_command` (that the
//! command gives the result again).
//!
//! Tests: below, crates/cli/tests/all/report.rs, crates/python/tests/test_results.py

use std::ffi::OsString;
use wakeplace_study::Origin;
use wakeplace_text::shell_word;

/// Options with a value that no figure of a result depends on.
const WITH_VALUE: [&str; 19] = [
    "--jobs",
    "--format",
    "--output",
    "--color",
    "--expect",
    "--metric",
    "--choose",
    "--export-html",
    "--export-junit",
    "--junit",
    "--export-runs",
    "--export-perfetto",
    "--mail",
    "--html",
    "--export-ftrace",
    "--export-parquet",
    "--export-rtapp-log",
    "--rtapp-log",
    "--dump-state",
];
/// The same without a value.
const ALONE: [&str; 5] = [
    "--json",
    "--quiet",
    "--verbose",
    "--strict",
    "--verify-determinism",
];
/// Their short forms.
const SHORT_WITH_VALUE: [&str; 2] = ["-j", "-o"];
const SHORT_ALONE: [char; 2] = ['q', 'v'];

/// This program, run as it was.
pub(crate) fn origin() -> Origin {
    let args = std::env::args_os().skip(1);
    let text = |arg: OsString| arg.to_string_lossy().into_owned();
    Origin {
        command: command(args.map(text)),
        commit: env!("WAKEPLACE_COMMIT").to_owned(),
    }
}

/// The command without what does not matter: two of equal results are equal.
fn command(args: impl Iterator<Item = String>) -> String {
    let mut words = vec!["wakeplace".to_owned()];
    let mut args = args;
    while let Some(arg) = args.next() {
        if WITH_VALUE.contains(&arg.as_str()) || SHORT_WITH_VALUE.contains(&arg.as_str()) {
            args.next();
        } else if !is_left_out(&arg) {
            words.push(shell_word(&arg));
        }
    }
    words.join(" ")
}

/// An argument that is such an option as a whole.
fn is_left_out(arg: &str) -> bool {
    let joined = |option: &str| {
        let value = arg.strip_prefix(option);
        value.is_some_and(|value| value.starts_with('='))
    };
    let short = |option: &str| !arg.starts_with("--") && arg.starts_with(option);
    let flags = arg.strip_prefix('-').unwrap_or_default();
    let only_flags = !flags.is_empty() && flags.chars().all(|c| SHORT_ALONE.contains(&c));
    ALONE.contains(&arg)
        || only_flags
        || WITH_VALUE.iter().any(|option| joined(option))
        || SHORT_WITH_VALUE.iter().any(|option| short(option))
}

#[cfg(test)]
mod tests {
    use super::command;

    fn of(args: &[&str]) -> String {
        command(args.iter().map(|arg| (*arg).to_owned()))
    }

    #[test]
    fn what_matters_not_is_left_out() {
        let args = [
            "sim",
            "-j",
            "2",
            "-j4",
            "-qv",
            "--format=json",
            "--output",
            "x",
            "-o",
            "y",
            "--seed",
            "-1",
            "--verify-determinism",
            "--workload",
            "periodic:n=1",
        ];
        let kept = "wakeplace sim --seed -1 --workload periodic:n=1";
        assert_eq!(of(&args), kept);
    }

    #[test]
    fn a_shell_reads_it_back() {
        assert_eq!(of(&["a b", "it's", ""]), r"wakeplace 'a b' 'it'\''s' ''");
    }
}
