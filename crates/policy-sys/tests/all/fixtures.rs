//! Decision fixtures: states whose answer follows from docs/rules by hand, one file each under
//! `fixtures/`, asked of the policy core. `fixture/mod.rs` describes the files.
//!
//! What must stay: a fixture's expected values follow from its `section` by hand (`derivation`),
//! not from a run: a red fixture is a fault of the core or of the derivation, and is never copied
//! from the answer. All files below `fixtures/` are run. Free: words of failures.
//! Tests by part: `every_fixture_holds` (fixture/mod.rs::run and every file);
//! `a_fixture_that_says_the_wrong_thing_fails` (that what is wrong is told).
//! Helpers, and who fails with them: `folder`, `entries`, `files` (`every_fixture_holds`);
//! `changed` (`a_fixture_that_says_the_wrong_thing_fails`).

use crate::fixture;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use wakeplace_policy_sys::Reason;

/// Fewer files than this mean that some were lost.
const LEAST: usize = 150;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

fn entries(folder: &Path) -> BTreeSet<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder that can be read");
    entries.map(|e| e.expect("an entry").path()).collect()
}

/// All files as (area, rule, path).
fn files() -> Vec<(String, String, PathBuf)> {
    let name = |path: &Path| path.file_stem().unwrap().to_string_lossy().into_owned();
    let mut files = Vec::new();
    for area in entries(&folder()) {
        for path in entries(&area) {
            assert!(
                path.extension().is_some_and(|e| e == "toml"),
                "{} is no fixture",
                path.display()
            );
            files.push((name(&area), name(&path), path));
        }
    }
    files
}

/// Goal: the core answers each state as its file derives from the rule that it cites.
#[test]
fn every_fixture_holds() {
    let files = files();
    let (mut areas, mut reasons) = (BTreeMap::new(), BTreeSet::new());
    let mut failures = Vec::new();
    for (area, rule, path) in &files {
        *areas.entry(area).or_insert(0) += 1;
        let text = std::fs::read_to_string(path).expect("a text file");
        match fixture::run(&text) {
            Ok(pinned) => reasons.extend(pinned.reason),
            Err(bad) => failures.push(format!("{area}/{rule}.toml: {bad}")),
        }
    }
    let known = Reason::ALL.iter().filter(|r| **r != Reason::None);
    let missing: Vec<_> = known
        .map(|r| r.name())
        .filter(|n| !reasons.contains(*n))
        .collect();
    let counts: Vec<_> = areas
        .iter()
        .map(|(area, n)| format!("{area} {n}"))
        .collect();
    let mut summary = format!(
        "{} fixtures ({}); {} of {} reasons pinned",
        files.len(),
        counts.join(", "),
        reasons.len(),
        Reason::COUNT - 1
    );
    if !missing.is_empty() {
        summary += &format!(", not: {}", missing.join(", "));
    }
    writeln!(std::io::stdout(), "{summary}").expect("stdout");
    assert!(
        failures.is_empty(),
        "{} of {summary}\n{}",
        failures.len(),
        failures.join("\n")
    );
    assert!(files.len() >= LEAST, "{summary}");
}

/// A fixture that holds, for the tests of its form.
const HOLDS: &str = r#"
section = "docs/rules/wake-ups.md#idle-sibling"
derivation = "Step 1 of the fast path: the target, CPU 1, is idle."
policy = "linux-7.3"
[machine]
clusters = [[2, 1024]]
[[task]]
cpu = 1
[[do]]
op = "select"
this = 1
[expect]
cpu = 1
reason = "idle-target"
"#;

/// What is wrong with the fixture above after a change.
fn changed(from: &str, to: &str) -> String {
    assert!(HOLDS.contains(from), "{from}");
    fixture::run(&HOLDS.replace(from, to)).expect_err("a fixture that cannot hold")
}

/// Goal: the form itself can fail: a wrong expectation, a missing source, a misspelt key.
#[test]
fn a_fixture_that_says_the_wrong_thing_fails() {
    let pinned = fixture::run(HOLDS).expect("it holds");
    assert_eq!(pinned.reason.as_deref(), Some("idle-target"));
    for (from, to, says) in [
        (
            "cpu = 1\nreason",
            "cpu = 0\nreason",
            "expected 0, the core says 1",
        ),
        ("\"idle-target\"", "\"idle-prev\"", "expected \"idle-prev\""),
        ("section =", "#", "`section` is missing"),
        ("derivation =", "#", "`derivation` is missing"),
        ("#idle-sibling", "", "names no anchor"),
        ("docs/rules/", "rules/", "docs/rules/PAGE.md#anchor"),
        ("this = 1", "thiss = 1\nthis = 1", "did you mean `this`"),
        ("\"select\"", "\"selekt\"", "did you mean `select`"),
        ("[[task]]", "[[task]]\nutl = 3", "did you mean `util`"),
        (
            "[[task]]",
            "[[cpu]]\nat = 0\nloads = 3\n[[task]]",
            "did you mean `load`",
        ),
        ("reason =", "reson =", "did you mean `reason`"),
        (
            "[expect]\ncpu = 1\nreason = \"idle-target\"",
            "",
            "[expect] is missing",
        ),
        ("clusters", "cluster", "clusters"),
        ("linux-7.3", "linux-7.33", "linux-7.3"),
    ] {
        let error = changed(from, to);
        assert!(error.contains(says), "{from} -> {to}: {error}");
    }
}
