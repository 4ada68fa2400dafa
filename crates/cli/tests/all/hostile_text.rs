//! Names and comments of files, in every command and form that shows them: nothing in them steers a
//! terminal, is a formula, is HTML, or looks like a line of its own. JSON has them exactly.
//! Pages: docs/internals/checks.md; docs/guide/report.md, "How a page is made".
//!
//! What must stay: every command and form that shows a name of a file is tried; JSON keeps the name
//! exactly. A new form joins a list here.
//! Tests by part (in crates/cli/src): crates/report/src/states.rs:
//! `results_show_names_harmlessly_in_every_form` (names of tasks); crates/text/src/shown.rs:
//! `results_show_names_harmlessly_in_every_form` (the callers); page.rs:
//! `answers_show_names_harmlessly_in_every_form` (`paragraph`, `point`, `section`); text.rs:
//! `answers_show_names_harmlessly_in_every_form` (`folded`, `json`);
//! crates/report/src/html/page.rs: `a_page_shows_names_harmlessly` (`shown`); commands/doctor.rs:
//! `what_doctor_found_is_harmless` (`fact`); crates/text: all others.
//! Helpers, and who fails with them: `steers` (most tests); `quoted`, `hostile`
//! (`results_show_names_harmlessly_in_every_form`, `answers_show_names_harmlessly_in_every_form`,
//! `errors_show_names_harmlessly`, `a_page_shows_names_harmlessly`); `harmless`, `shown`
//! (`results_show_names_harmlessly_in_every_form`, `answers_show_names_harmlessly_in_every_form`,
//! `errors_show_names_harmlessly`, `what_doctor_found_is_harmless`); `cells`, `no_formula`
//! (`results_show_names_harmlessly_in_every_form`).

use crate::common;

use common::{assert_code, file, folder, repository, run_in, stderr, stdout};
use std::fs;
use std::process::Output;
use tempfile::TempDir;

/// A terminal's title, red, "clear the screen" by C1, writing from right to left, HTML, a link, a
/// line of its own, and a carriage return before it.
const BAD: &str = "=hostile\u{1b}]0;x\u{7}\u{1b}[31m\u{9b}2J\u{202e}<script>alert(1)</script>\
                   ![x](http://x)\r\nwarning: forged";
/// What files and tasks can be called.
const BAD_NAME: &str = "=hostile\u{1b}[31m\u{9b}2J\u{202e}<script>|\rx\nwarning: forged";
const PLATFORM: &str = "=hostile\u{1b}[31m\u{202e}<script>\nwarning: forged.toml";
const LOAD: &str = "@hostile\u{1b}[31m\u{202e}<script>\nwarning: forged.json";
const RECORDING: &str = "trace:+hostile\u{1b}[31m.txt";
/// The name of a task in the recording: one line has it, and it has at most 15 bytes.
const COMM: &str = "=x\u{1b}[31m\u{9b}<b>";

fn quoted(text: &str) -> String {
    serde_json::to_string(text)
        .expect("JSON")
        .replace('\u{9b}', "\\u009b")
}

/// A folder with a board, an rt-app file and a recording, all as hostile as their forms allow.
fn hostile() -> TempDir {
    let folder = folder();
    let board = fs::read_to_string(repository("platforms/hikey960.toml")).expect("a board");
    let bad = quoted(BAD);
    let title = "\"HiSilicon HiKey960, Kirin 960 (4x Cortex-A73 + 4x Cortex-A53)\"";
    let mut text = board;
    for (from, to) in [
        (title, bad.as_str()),
        ("\"cortex-a53\"", &bad),
        ("\"WFI\"", &bad),
        ("{ name = \"MC\"", &format!("{{ name = {bad}")),
        ("\"Linux 7.3.4 hi3660.dtsi opp-table-0\"", &bad),
        ("notes = [", &format!("notes = [{bad},")),
    ] {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    file(&folder, PLATFORM, &text);
    let name = quoted(BAD_NAME);
    let load = format!(
        "{{\"tasks\": {{{name}: {{\"run\": 1000, \
         \"timer\": {{\"ref\": {name}, \"period\": 16000}}, \
         \"unknown-{}\": 1}}}}, \"global\": {{\"duration\": 1}}}}",
        &quoted(BAD)[1..quoted(BAD).len() - 1],
    );
    file(&folder, LOAD, &load);
    let words = [
        "sim",
        "--platform",
        "hikey960",
        "--policy",
        "linux-5.0",
        "--workload",
    ];
    let more = [
        "periodic:n=3,duty=20%",
        "--duration",
        "100ms",
        "--export-ftrace",
        "run.txt",
    ];
    assert_code(&run_in(folder.path(), &[&words[..], &more].concat()), 0);
    let run = fs::read_to_string(folder.path().join("run.txt")).expect("a recording");
    let path = RECORDING.strip_prefix("trace:").expect("a file");
    file(&folder, path, &run.replace("periodic-0", COMM));
    folder
}

/// Does it steer the terminal, or is it of another line than it seems?
fn steers(c: char) -> bool {
    let hidden = ('\u{200e}'..='\u{200f}').contains(&c) || ('\u{2028}'..='\u{202e}').contains(&c);
    (c.is_control() && c != '\n') || hidden || ('\u{2066}'..='\u{2069}').contains(&c)
}

#[track_caller]
fn harmless(output: &Output, command: &[&str]) {
    for text in [stdout(output), stderr(output)] {
        assert_eq!(
            text.find(steers),
            None,
            "{command:?}: {}",
            text.escape_debug()
        );
        let forged = |line: &str| line.starts_with("warning: forged");
        assert!(!text.lines().any(forged), "{command:?}: {text}");
    }
}

/// Runs it, and it shows a hostile name harmlessly.
#[track_caller]
fn shown(folder: &TempDir, command: &[&str], code: i32) -> String {
    let output = run_in(folder.path(), command);
    assert_code(&output, code);
    harmless(&output, command);
    let text = stdout(&output) + &stderr(&output);
    let names = ["hostile", "=x"];
    assert!(
        names.iter().any(|name| text.contains(name)),
        "{command:?}: {text}"
    );
    stdout(&output)
}

/// The cells of CSV; no cell here has a newline.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            c => cells.last_mut().expect("a cell").push(c),
        }
    }
    cells
}

#[track_caller]
fn no_formula(text: &str) {
    let mut negative = 0;
    for cell in text.lines().flat_map(cells) {
        negative += usize::from(cell.starts_with('-'));
        let begins = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
        assert!(!begins || cell.parse::<f64>().is_ok(), "`{cell}` in {text}");
    }
    // Figures stay figures: one policy saves something.
    assert!(negative > 0 || !text.contains("linux-5.0"), "{text}");
}

const RUN: [&str; 4] = ["--policy", "linux-4.17", "--duration", "100ms"];
const INPUT: [&str; 4] = ["--platform", PLATFORM, "--workload", LOAD];

#[test]
fn results_show_names_harmlessly_in_every_form() {
    let folder = hostile();
    let second = ["--policy", "linux-5.0", "--seeds", "2"];
    for form in ["human", "csv", "md", "json"] {
        for command in [
            [&["sim"][..], &INPUT, &RUN, &["--format", form]].concat(),
            [&["compare"][..], &INPUT, &RUN, &second, &["--format", form]].concat(),
        ] {
            let text = shown(&folder, &command, 0);
            match form {
                "csv" => no_formula(&text),
                "md" => assert!(!text.contains("<script"), "{text}"),
                "json" => {
                    let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
                    assert_eq!(value["runs"][0]["platform"], PLATFORM);
                    assert_eq!(value["runs"][0]["workload"], LOAD);
                }
                _ => {}
            }
        }
    }
    for more in [
        ["--dump-state", "1ms,5ms"].as_slice(),
        &["--verify-determinism", "-v"],
        &["--set", "model.wakeup_to_run=off"],
    ] {
        let command = [&["sim"][..], &INPUT, &RUN, more].concat();
        let output = run_in(folder.path(), &command);
        harmless(&output, &command);
    }
}

#[test]
fn answers_show_names_harmlessly_in_every_form() {
    let folder = hostile();
    let path = RECORDING.strip_prefix("trace:").expect("a file");
    for form in ["human", "md", "json"] {
        let command = ["platform", "show", PLATFORM, "--format", form];
        let text = shown(&folder, &command, 0);
        assert!(
            form != "md" || !text.contains("<script") && !text.contains("]("),
            "{text}"
        );
        if form == "json" {
            let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
            assert_eq!(value["title"], BAD);
        }
    }
    for form in ["human", "json"] {
        for (file, name) in [(LOAD, BAD_NAME), (RECORDING, COMM)] {
            let text = shown(&folder, &["workload", "check", file, "--format", form], 0);
            if form == "json" {
                let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
                assert_eq!(value["tasks"][0]["name"], name);
            }
        }
        let explain = [&["explain"][..], &INPUT, &RUN, &["--format", form]].concat();
        shown(&folder, &explain, 0);
    }
    let explain = [
        "explain",
        "--platform",
        "hikey960",
        "--workload",
        RECORDING,
        "--task",
        COMM,
    ];
    shown(
        &folder,
        &[&explain[..], &["--policy", "linux-5.0"]].concat(),
        0,
    );
    assert!(folder.path().join(path).is_file());
}

#[test]
fn errors_show_names_harmlessly() {
    let folder = hostile();
    let no_task = ["--task", "nobody", "--policy", "linux-4.17"];
    for command in [
        [&["explain"][..], &INPUT, &no_task].concat(),
        [&["explain"][..], &INPUT, &RUN, &["--to", "99"]].concat(),
        [&["sim"][..], &INPUT, &RUN, &["--expect", "busy_x_pct<=1"]].concat(),
        vec!["platform", "show", BAD_NAME],
        vec!["policy", "show", BAD_NAME],
        vec!["study", "show", BAD_NAME],
        vec!["workload", "check", BAD_NAME],
        vec!["report", BAD_NAME],
        vec![
            "sim",
            "--platform",
            "tc2",
            "--workload",
            BAD_NAME,
            "--policy",
            "linux-4.17",
        ],
    ] {
        shown(&folder, &command, 2);
    }
}

#[test]
fn a_page_shows_names_harmlessly() {
    let folder = hostile();
    let page = [
        "--export-html",
        "page.html",
        "--timeline",
        "0s..50ms",
        "--format",
        "json",
    ];
    let second = [
        "--policy",
        "linux-5.0",
        "--seeds",
        "2",
        "--output",
        "result.json",
    ];
    let command = [&["compare"][..], &INPUT, &RUN, &page, &second].concat();
    let output = run_in(folder.path(), &command);
    assert_code(&output, 0);
    let report = run_in(
        folder.path(),
        &["report", "result.json", "--output", "again.html"],
    );
    assert_code(&report, 0);
    for name in ["page.html", "again.html"] {
        let text = fs::read_to_string(folder.path().join(name)).expect("a page");
        // Programs that draw are part of the page: what is ours stands around them.
        let (head, rest) = text.split_once("<script").expect("a program");
        let (drawn, _) = rest.split_once("</script>").expect("its end");
        assert!(
            head.contains("hostile") && drawn.contains("hostile"),
            "{name}"
        );
        assert_eq!(head.find(steers), None, "{name}");
        assert_eq!(drawn.find(steers), None, "{name}");
        for escaped in ["\\u001b", "\\u009b", "\\u202e", "<script>", "&#x1b;"] {
            assert!(!drawn.contains(escaped), "{name}: {escaped}");
        }
    }
}

/// What a file tree of another machine says goes to the terminal, too.
#[test]
fn what_doctor_found_is_harmless() {
    let folder = folder();
    fs::create_dir_all(folder.path().join("proc/sys/kernel")).expect("a folder");
    file(&folder, "proc/sys/kernel/osrelease", &format!("7.3.4{BAD}"));
    for form in ["human", "json"] {
        shown(&folder, &["doctor", "--root", ".", "--format", form], 0);
    }
}

/// A file is told by its form: a task may be called as a line of ftrace looks.
#[test]
fn a_task_that_is_called_as_a_line_of_ftrace_is_a_task() {
    let folder = folder();
    for name in [
        "a-1 [000] d..2. 1.0: sched_switch: b",
        "# tracer: nop",
        "traceEvents",
    ] {
        let text = format!("{{\"tasks\": {{\"{name}\": {{\"run\": 1000, \"sleep\": 1000}}}}}}");
        file(&folder, "load.json", &text);
        let words = ["sim", "--platform", "tc2", "--workload", "load.json"];
        assert_code(&run_in(folder.path(), &[&words[..], &RUN].concat()), 0);
    }
    let trace = ["workload", "check", "trace:load.json"];
    common::assert_refused(
        &run_in(folder.path(), &trace),
        &["it is JSON", "without `trace:`"],
    );
}
