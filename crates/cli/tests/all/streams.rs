//! What goes where: results to standard output, remarks to standard error, colours to terminals.
//! Page: docs/guide/tour.md.
//!
//! What must stay: results go to standard output, remarks to standard error, colours to terminals
//! only.
//! Tests by part (in crates/cli/src): args/report.rs: `a_terminal_is_not_waited_for` (`-`);
//! commands/report.rs: `a_terminal_is_not_waited_for` (terminals); terminal.rs:
//! `warnings_go_to_standard_error` (`warn`, `eprint`), `files_and_no_color_get_none` (`choice`,
//! `is_plain`); commands/workload.rs: `warnings_go_to_standard_error` (warnings);
//! commands/simulate.rs: `tables_are_coloured_as_asked` (`sim`); text.rs:
//! `files_and_no_color_get_none` (`style`, `plain`); terminal.rs:
//! `a_page_does_not_go_to_a_terminal`.
//! Helpers, and who fails with them: `on_terminal` (`a_terminal_is_not_waited_for`,
//! `a_page_does_not_go_to_a_terminal`); `plain` (`tables_are_coloured_as_asked`,
//! `files_and_no_color_get_none`).

use crate::common;

use common::{assert_code, compare, file, folder, program, run_in, sim, stderr, stdout};
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// rt-app's traps are warnings: of a file with two equal keys it takes the last.
const TWICE: &str = r#"{"tasks": {"a": {"run": 1000, "run": 2000, "sleep": 9000}}}"#;

/// What the program says on a terminal: `script`, of the packages that every Debian has, runs a
/// command on one.
fn on_terminal(folder: &Path, words: &str) -> Output {
    let own = program(folder).get_program().to_owned();
    let command = format!("{} {words}", own.to_str().expect("text"));
    let output = Command::new("script")
        .current_dir(folder)
        .args(["-q", "-e", "-c", &command, "/dev/null"])
        .stdin(Stdio::null())
        .output();
    output.expect("script")
}

/// Goal: a program that reads a terminal does not wait there in silence.
#[test]
fn a_terminal_is_not_waited_for() {
    let folder = folder();
    for words in [
        "sim --platform hikey960 --policy linux-5.0 --workload - --duration 50ms",
        "explain --platform hikey960 --policy linux-5.0 --workload - --duration 50ms",
        "workload check -",
        "report - -o page.html",
    ] {
        let output = on_terminal(folder.path(), words);
        assert_code(&output, 2);
        let said = stdout(&output);
        let expected = "standard input is a terminal; give it a file or a pipe, as `- < FILE`";
        assert_eq!(said.matches("error:").count(), 1, "{words}: {said}");
        assert!(said.contains(expected), "{words}: {said}");
    }
}

/// Goal: whoever forgets `--output` does not get a megabyte of HTML on the terminal.
#[test]
fn a_page_does_not_go_to_a_terminal() {
    let folder = folder();
    let words = "--platform hikey960 --policy linux-5.0 --workload periodic:n=1 --duration 50ms";
    let output = on_terminal(
        folder.path(),
        &format!("sim {words} --format json -o run.json"),
    );
    assert_code(&output, 0);
    let output = on_terminal(folder.path(), "report run.json");
    assert_code(&output, 2);
    let said = stdout(&output);
    assert!(said.contains("expected `--output FILE`"), "{said}");
    assert!(!said.contains("<html"), "{said}");
    assert_code(&run_in(folder.path(), &["report", "run.json"]), 0);
}

/// Goal: standard output can go to a file and still be the result.
#[test]
fn warnings_go_to_standard_error() {
    let folder = folder();
    file(&folder, "twice.json", TWICE);
    let words = [
        "sim",
        "--platform",
        "hikey960",
        "--policy",
        "linux-5.0",
        "--workload",
    ];
    let more = [
        "periodic:n=2",
        "--duration",
        "50ms",
        "--export-ftrace",
        "run.txt",
    ];
    assert_code(&run_in(folder.path(), &[&words[..], &more].concat()), 0);
    for command in [
        ["workload", "check", "twice.json"].as_slice(),
        &["workload", "check", "trace:run.txt"],
        &[&words[..], &["twice.json", "--duration", "50ms"]].concat(),
        &[
            &words[..],
            &["twice.json", "--duration", "50ms", "--format", "csv"],
        ]
        .concat(),
        &[
            &words[..],
            &["twice.json", "--duration", "50ms", "-o", "out.txt"],
        ]
        .concat(),
    ] {
        let output = run_in(folder.path(), command);
        assert_code(&output, 0);
        assert!(
            !stdout(&output).contains("warning"),
            "{command:?}: {}",
            stdout(&output)
        );
        assert!(
            stderr(&output).contains("warning: "),
            "{command:?}: {}",
            stderr(&output)
        );
        let quiet = run_in(folder.path(), &[command, &["-q"]].concat());
        assert_eq!(stderr(&quiet), "", "{command:?}");
        assert_eq!(stdout(&quiet), stdout(&output), "{command:?}");
    }
    let written = fs::read_to_string(folder.path().join("out.txt")).expect("a result");
    assert!(!written.contains("warning"), "{written}");
    // JSON carries them.
    let json = run_in(
        folder.path(),
        &[&words[..], &["twice.json", "--format", "json"]].concat(),
    );
    let value: serde_json::Value = serde_json::from_str(&stdout(&json)).expect("JSON");
    assert!(!value["warnings"].as_array().expect("warnings").is_empty());
    assert_eq!(stderr(&json), "");
}

const RED: &str = "\u{1b}[31m";
const GREEN: &str = "\u{1b}[32m";
const BOLD: &str = "\u{1b}[1m";

/// The text without colours.
fn plain(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    let rest = parts.map(|part| part.split_once('m').expect("a colour").1);
    first + &rest.collect::<String>()
}

/// Goal: in tables, too, what is better and worse can be seen from afar; the words stay.
#[test]
fn tables_are_coloured_as_asked() {
    let never = stdout(&compare(&["--color", "never"]));
    let auto = stdout(&compare(&[]));
    let always = stdout(&compare(&["--color", "always"]));
    assert_eq!(auto, never, "a pipe is no terminal");
    assert!(!never.contains('\u{1b}'));
    assert_eq!(plain(&always), never);
    assert!(always.contains(BOLD), "{always}");
    // A row ends with its word; the headline, which has prices in it, is painted as a whole or not.
    let rows = |word: &str| {
        let end = format!(" {word}");
        never.lines().filter(|line| line.ends_with(&end)).count()
    };
    for (word, colour) in [("better", GREEN), ("worse", RED)] {
        let painted = format!("{colour}{word}\u{1b}[0m");
        assert_eq!(always.matches(&painted).count(), rows(word), "{word}");
    }
    assert!(rows("better") + rows("worse") > 0, "{never}");
    let checked = stdout(&sim(&["--color", "always", "--expect", "energy_j>=0"]));
    assert!(checked.contains(&format!("{GREEN}pass")), "{checked}");
}

#[test]
fn files_and_no_color_get_none() {
    let folder = folder();
    let output = compare(&["--color", "always", "-o", "-"]);
    assert!(stdout(&output).contains(BOLD));
    let path = folder.path().join("result.txt");
    assert_code(
        &compare(&["--color", "always", "-o", path.to_str().expect("UTF-8")]),
        0,
    );
    assert!(
        !fs::read_to_string(path)
            .expect("a result")
            .contains('\u{1b}')
    );
    let list = |color: &str| {
        let mut command = program(folder.path());
        command
            .env("NO_COLOR", "1")
            .args(["platform", "list", "--color", color]);
        stdout(&command.output().expect("it starts"))
    };
    assert!(!list("auto").contains('\u{1b}'));
    assert!(list("always").contains(BOLD), "who asks for it gets it");
    assert_eq!(plain(&list("always")), list("never"));
}
