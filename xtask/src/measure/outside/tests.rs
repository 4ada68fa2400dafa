//! Rows and pages by hand.
//! Page: docs/results/outside.md.
//!
//! What must stay: a row has what its verdict needs, and the page is of the rows: figures here are
//! worked by hand from `ROWS`. Tests by part: `a_row_is_a_line`,
//! `rows_of_several_machines_say_theirs` (page.rs: page, `line`, `remarks`);
//! `rows_have_what_they_need` (rows.rs: parse and check); `a_wrong_row_has_its_cause`,
//! `a_page_of_other_rows_is_found` (page.rs: check); `what_comes_out_otherwise_is_said` (mod.rs:
//! differences); `readme_has_the_counts` (mod.rs: counted). Helpers, and who fails with them:
//! `measured` (most tests); `found` (`rows_have_what_they_need`).

use super::measure::Measured;
use super::{PAGE, counted, differences, page, rows};
use crate::Finding;

const ROWS: &str = r#"
    [[series]]
    name = "a series"
    year = 2023
    source = "Message-ID <1@example.org>"

    [[series.row]]
    platform = "gs101"
    workload = "load"
    metric = "ms"
    base = 100
    patched = 80
    change_pct = -20
    cause = "The experiment says so."
    [series.row.ours]
    compare = "wakeplace compare --platform gs101"
    metric = "runtime_s"

    [[series.row]]
    platform = "gs101"
    workload = "game"
    metric = "mW"
    change_pct = 3.7
    not_expressed = "No model and no recording of it is in the repository."
"#;

fn measured(interval: (f64, f64)) -> Vec<Option<Measured>> {
    let row = Measured {
        base: 110.0,
        patched: Some(99.0),
        change_pct: Some(-10.0),
        interval: Some(interval),
    };
    vec![Some(row), None]
}

fn found(text: &str) -> String {
    match rows::parse(text) {
        Ok(data) => rows::check(&data).iter().map(Finding::to_string).collect(),
        Err(finding) => finding.to_string(),
    }
}

/// Goal: each row stands on the page with both figures, their distance and the verdict. Method:
/// 110 is 10 % more than 100, and -10 is 10 points from -20.
#[test]
fn a_row_is_a_line() {
    let data = rows::parse(ROWS).unwrap();
    let text = page::page(&data, &measured((-12.0, -8.0)));
    let line = "| load | ms | 100 to 80, -20.0 % | 110 to 99, -10.0 % [-12.0, -8.0] | \
                base +10.0 %, change +10.0 | right |";
    assert!(text.contains(line), "{text}");
    assert!(
        text.contains("| game | mW | +3.7 % |  |  | not expressed |"),
        "{text}"
    );
    assert!(
        text.contains("Of 2 published results 1 are compared"),
        "{text}"
    );
    // Where it is right nothing went wrong.
    assert!(!text.contains("The experiment"), "{text}");
    assert_eq!(page::check(&data, &text), []);
}

/// Goal: a wrong row says why, on the page and in the data.
#[test]
fn a_wrong_row_has_its_cause() {
    let data = rows::parse(ROWS).unwrap();
    let text = page::page(&data, &measured((2.0, 3.0)));
    assert!(
        text.contains("- **wrong**, load: The experiment says so."),
        "{text}"
    );
    assert_eq!(page::check(&data, &text), []);
    let without = rows::parse(&ROWS.replace("cause = \"The experiment says so.\"", "")).unwrap();
    let findings = page::check(&without, &text);
    assert!(findings[0].what.contains("no `cause`"), "{findings:?}");
}

/// Goal: a page of other rows is found: a figure changed, a row more, another verdict.
#[test]
fn a_page_of_other_rows_is_found() {
    let data = rows::parse(ROWS).unwrap();
    let text = page::page(&data, &measured((-12.0, -8.0)));
    let other = rows::parse(&ROWS.replace("patched = 80", "patched = 81")).unwrap();
    assert!(page::check(&other, &text)[0].what.contains("another row"));
    let fewer = text.replace("| game | mW | +3.7 % |  |  | not expressed |\n", "");
    assert!(
        page::check(&data, &fewer)[0]
            .what
            .contains("1 lines of results")
    );
    let better = text.replace("|  |  | not expressed |", "|  |  | right |");
    assert!(
        page::check(&data, &better)[0]
            .what
            .contains("not that of the data")
    );
}

/// Goal: what a row lacks is said, with its name.
#[test]
fn rows_have_what_they_need() {
    assert_eq!(found(ROWS), "");
    let cases = [
        ("metric = \"runtime_s\"", "", "not one of `metric`"),
        (
            "compare = \"wake",
            "compare = \"sudo wake",
            "does not begin with `wakeplace `",
        ),
        (
            "not_expressed = \"No model",
            "cause = \"No model",
            "neither `ours` nor",
        ),
        ("change_pct = 3.7", "", "no published figure"),
        ("change_pct = -20", "", "no `change_pct` to compare with"),
        ("Message-ID <1@example.org>", "mail", "leads nobody"),
        ("says so.", "says so", "no sentence"),
        ("year = 2023", "yaer = 2023", "unknown field `yaer`"),
        ("compare =", "seeds = 3\n    compare =", "`--seeds` itself"),
    ];
    for (before, after, what) in cases {
        let said = found(&ROWS.replace(before, after));
        assert!(said.contains(what), "{after}: {said}");
    }
}

#[test]
fn what_comes_out_otherwise_is_said() {
    assert_eq!(differences("a\nb\n", "a\nb\n"), []);
    let findings = differences("a\nb\n", "a\nc\n");
    assert_eq!(findings[0], Finding::at(PAGE, 2, "now `c`, before `b`"));
    assert_eq!(differences("a\n", "a\nb\n").len(), 1);
}

/// Goal: README has the page's counts, and not those of an older page.
#[test]
fn readme_has_the_counts() {
    let data = rows::parse(ROWS).unwrap();
    let text = page::page(&data, &measured((-12.0, -8.0)));
    let counts = "the direction is right in 1, not told in 0 and wrong in 0";
    assert_eq!(page::counts(&text).as_deref(), Some(counts));
    assert_eq!(counted(&format!("Here\n{counts}."), &text), []);
    assert!(counted("right in 2", &text)[0].what.contains(counts));
}

/// Goal: a row of a series with several machines says its own; a sentence for all rows stands once.
#[test]
fn rows_of_several_machines_say_theirs() {
    let data = rows::parse(&ROWS.replacen("gs101", "rk3399", 1)).unwrap();
    let text = page::page(&data, &measured((-12.0, -8.0)));
    assert!(text.contains("| rk3399: load | ms |"), "{text}");
    assert!(text.contains("| gs101: game | mW |"), "{text}");
}
