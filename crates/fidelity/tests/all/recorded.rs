//! Recorded runs: the page's table is what the program says, and the recorded figures are those of
//! the capture they come from.
//! Page: docs/results/fidelity.md; the captures: crates/fidelity/data/captured/README.md.
//!
//! What must stay: recorded figures are those of the capture and are never edited.
//! Tests by part (in crates/fidelity/src): placement/recorded.rs, recorded/page.rs and
//! recorded/traced.rs by the program: all others.
//! Helpers, and who fails with them: `column`, `after` (`the_recorded_figures_are_the_captures`).

use super::{assert_code, part, repository, run_in, said};
use serde_json::Value;

const RECORDED: [&str; 2] = ["placement", "--recorded"];

#[test]
fn the_page_says_what_the_program_says() {
    let command = "cargo xtask fidelity --recorded --page";
    let page = part("docs/results/fidelity.md", command);
    assert_eq!(page, said(&RECORDED).trim(), "renew it with `{command}`");
}

#[test]
fn it_boots_nothing_and_takes_nothing_that_is_for_a_guest() {
    let text = said(&[&RECORDED[..], &["--format", "json"]].concat());
    let object: Value = serde_json::from_str(&text).expect("JSON");
    // Two sets of rules, 4 + 5 + 1 tasks.
    assert_eq!(object["rows"].as_array().map(Vec::len), Some(20));
    let folder = tempfile::tempdir().expect("a folder");
    for more in [
        ["--kernel", "7.3"],
        ["--round", "50us"],
        ["--sets", "B"],
        ["--from", "x"],
        ["--timeout", "1s"],
    ] {
        let arguments = [&RECORDED[..], &more].concat();
        assert_code(&run_in(folder.path(), &arguments), 2);
    }
}

/// Columns of a row of a recorded run by name.
fn column<'a>(header: &str, row: &'a str, name: &str) -> &'a str {
    let at = header.split(',').position(|column| column == name);
    let at = at.unwrap_or_else(|| panic!("no column {name}"));
    row.split(',').nth(at).expect("a field")
}

/// A number after a word in a line of a log.
fn after(line: &str, word: &str) -> u64 {
    let mut words = line.split_whitespace();
    words.find(|candidate| *candidate == word);
    words.next().and_then(|text| text.parse().ok()).expect(word)
}

/// Goal: nobody edits a recorded figure to make a comparison come out. Source:
/// crates/fidelity/data/captured/README.md.
#[test]
fn the_recorded_figures_are_the_captures() {
    let capture = repository("crates/fidelity/data/captured");
    let text = std::fs::read_to_string(repository("crates/fidelity/data/recorded_runs.toml"));
    let data: toml::Table = text.expect("the data").parse().expect("TOML");
    let sets = data["set"].as_array().expect("sets");
    let mut compared = 0;
    for run in data["run"].as_array().expect("runs") {
        let word = |key: &str| run[key].as_str().expect("a word");
        let name = format!(
            "hikey960.{}.{}.r{}",
            word("rules"),
            word("set"),
            run["repeat"]
        );
        let read = |path: String| {
            std::fs::read_to_string(capture.join(&path)).unwrap_or_else(|e| panic!("{path}: {e}"))
        };
        let (csv, log) = (read(format!("{name}.csv")), read(format!("{name}.log")));
        let (header, rows) = csv.split_once('\n').expect("a header");
        let set = sets
            .iter()
            .find(|set| set["name"] == run["set"])
            .expect("set");
        let start_us = after(log.lines().next().expect("a line"), "start_ns") / 1000;
        // The program rounds its start up to 100 ms and adds the offset.
        let offset_us = run["start_offset_us"].as_integer().expect("a number");
        assert_eq!(start_us % 100_000, offset_us as u64, "{name}");
        let tasks = set["task"].as_array().expect("tasks");
        let ran = run["tasks"].as_array().expect("tasks");
        assert_eq!(rows.lines().count(), ran.len(), "{name}");
        for ((task, ran), row) in tasks.iter().zip(ran).zip(rows.lines()) {
            let own = task["name"].as_str().expect("a name");
            assert_eq!(column(header, row, "task"), own, "{name}");
            let figure = |value: &toml::Value| value.as_float().expect("a number");
            for (column_name, value) in [
                ("scaled_duty", figure(&ran["scaled_duty"])),
                ("share_little", figure(&ran["share"]["little"])),
                ("share_big", figure(&ran["share"]["big"])),
            ] {
                let original: f64 = column(header, row, column_name).parse().expect("a number");
                assert_eq!(original, value, "{name} {own} {column_name}");
            }
            let line = log
                .lines()
                .find(|line| line.starts_with(&format!("{own} tid ")));
            let line = line.expect("the task's line");
            for key in ["period_us", "phase_us", "work_us"] {
                let value = task[key].as_integer().expect("a number") as u64;
                // A ramp's work is in its steps; the log has 0 there.
                if key != "work_us" || after(line, key) != 0 {
                    assert_eq!(after(line, key), value, "{name} {own} {key}");
                }
            }
            compared += 1;
        }
    }
    assert_eq!(compared, 2 * 3 * (4 + 5 + 1));
}
