//! Published figures beside results of studies.
//! Page: docs/results/published.md.
//!
//! What must stay: a study is judged once, by runs like the published ones.
//! Tests by part (in crates/fidelity/src): main.rs (`published`):
//! `what_was_run_in_another_way_is_not_judged`.

use super::{assert_code, assert_refused, run_in};
use wakeplace_report::{Format, Style};
use wakeplace_study::{Study, StudyOptions};

/// Goal: published changes are judged by runs like the published ones, each study once.
#[test]
fn what_was_run_in_another_way_is_not_judged() {
    let options = StudyOptions {
        quick: true,
        duration_ns: Some(20_000_000),
        ..StudyOptions::default()
    };
    let study = Study::load("energy-aware/energy-hikey960").expect("built in");
    let result = study.run(&options, 2, &|_| ()).expect("a result");
    let json = wakeplace_report::studies(&[result], Format::Json, Style::default());
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("study.json"), json).expect("a file");
    let published = ["published", "study.json"];
    let output = run_in(folder.path(), &published);
    assert_code(&output, 0);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(text.contains("| energy-aware | 0 | 0 | 0 | 0 |"), "{text}");
    let said = "energy-aware/energy-hikey960: run with another length or settings than its own";
    assert!(text.contains(said), "{text}");
    let twice = [&published[..], &["study.json"]].concat();
    let said = ["study.json: the study `energy-aware/energy-hikey960` stood before"];
    assert_refused(&run_in(folder.path(), &twice), &said);
}
