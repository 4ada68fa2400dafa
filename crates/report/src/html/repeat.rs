//! Everything needed to repeat a run (docs/guide/report.md).
//!
//! What must stay: everything comes from the JSON, and what an older result lacks is said to be not
//! recorded; hashes stand in the order of policies and seeds. Words and looks may change. Tests by
//! part: `the_answer_stands_first_and_everything_after_it` (`command`, `options`, `hashes`),
//! `an_older_result_has_less_and_says_so` (no command), `results_of_version_1_are_read`
//! (`schema_version`), `runs_to_the_end_of_their_tasks_say_so` (`of_comparison`),
//! cli/tests/all/report.rs::`a_study_has_its_page` (`of_study`), the first also `joined`,
//! `version`, `known`, `section` and `fact`.
//!
//! Callers: json.rs (`hashes`).
//!
//! Tests: crates/report/src/html/tests.rs, crates/cli/tests/all/report.rs::a_study_has_its_page

use super::lengths;
use super::view::{Block, Cell, Section, Table};
use crate::number;
use wakeplace_outcome::{Comparison, Pairs, Study};

/// `key=value` pairs in their order, or `none`.
fn joined(pairs: &Pairs<String>) -> String {
    let shown = |(key, value): &(String, String)| format!("{key}={value}");
    match pairs.is_empty() {
        true => "none".to_owned(),
        false => pairs.iter().map(shown).collect::<Vec<_>>().join(", "),
    }
}

/// The program's version; an old result may lack it.
fn version(text: &str) -> String {
    known(&Some(text.to_owned()).filter(|text| !text.is_empty()))
}

/// The text, or that the result does not have it.
fn known(text: &Option<String>) -> String {
    text.clone().unwrap_or_else(|| "not recorded".to_owned())
}

/// The command that gives the result again, for copying.
fn command(id: &str, command: &Option<String>) -> Block {
    match command {
        Some(text) => Block::Command {
            id: format!("{id}-command"),
            text: text.clone(),
        },
        None => Block::Text {
            text: "The result does not record the command that gave it: an older version made it."
                .to_owned(),
        },
    }
}

/// Every switch of the machine's model, folded; `None` where an old result has none.
fn options(id: &str, options: &Pairs<String>) -> Option<Block> {
    let caption = "The machine's model: every switch and its value";
    let mut table = Table::new(format!("{id}-options"), caption, &["switch", "value"]);
    let row = |(key, value): &(String, String)| vec![Cell::head(key), Cell::of(value)];
    table.rows.extend(options.iter().map(row));
    table.folded = Some("All switches of the machine's model".to_owned());
    (!table.rows.is_empty()).then_some(Block::Table(table))
}

/// The hash of each run, folded, in the order of policies and seeds; `None` without rows.
fn hashes(id: &str, rows: Vec<Vec<Cell>>, columns: &[&str]) -> Option<Block> {
    let caption = "A hash over all events of each run: equal runs have equal hashes";
    let mut table = Table::new(format!("{id}-hashes"), caption, columns);
    table.rows = rows;
    table.folded = Some("Event hashes".to_owned());
    (!table.rows.is_empty()).then_some(Block::Table(table))
}

/// The section with its promise: same command, same version, same bytes.
fn section(id: &str, blocks: Vec<Block>) -> Section {
    Section {
        id: format!("{id}-repeat"),
        title: "Repeat it".to_owned(),
        lead: "The same command with the same version gives the same bytes on every machine."
            .to_owned(),
        blocks,
    }
}

/// A word and its value, for the list of facts.
fn fact(name: &str, value: impl Into<String>) -> (String, String) {
    (name.to_owned(), value.into())
}

/// Versions, hashes, settings and the command of a result of `sim` or `compare`.
pub(super) fn of_comparison(id: &str, result: &Comparison) -> Section {
    let base = &result.runs[0];
    let mut facts = vec![
        fact("Version", version(&result.version)),
        fact("Commit", known(&result.commit)),
        fact("Platform", base.platform.clone()),
        fact("Workload", base.workload.clone()),
        fact("Simulated time", lengths::of_comparison(result)),
        fact("Seeds", number::seeds(&base.seeds)),
        fact("Settings", joined(&result.settings)),
    ];
    for run in &result.runs {
        let changed = if run.set.is_empty() {
            String::new()
        } else {
            format!(" with {}", joined(&run.set))
        };
        facts.push(fact("Policy", format!("{}{changed}", run.policy)));
    }
    facts.push(fact(
        "Form of the result",
        format!("schema_version {}", result.schema_version),
    ));
    let mut rows = Vec::new();
    for run in &result.runs {
        for (seed, hash) in run.seeds.iter().zip(&run.event_hashes) {
            rows.push(vec![
                Cell::head(&run.policy),
                Cell::of(seed.to_string()),
                Cell::of(hash),
            ]);
        }
    }
    let mut blocks = vec![command(id, &result.command), Block::Facts { facts }];
    blocks.extend(options(id, &result.options));
    blocks.extend(hashes(id, rows, &["policy", "#seed", "hash"]));
    section(id, blocks)
}

/// The same of a study.
pub(super) fn of_study(id: &str, result: &Study) -> Section {
    let facts = vec![
        fact("Version", version(&result.version)),
        fact("Commit", known(&result.commit)),
        fact("Study", result.study.clone()),
        fact("Platform", result.platform.clone()),
        fact("Simulated time", lengths::of_study(result)),
        fact("Seeds", number::seeds(&result.seeds)),
        fact(
            "Size",
            if result.quick {
                "reduced (--quick)"
            } else {
                "full"
            },
        ),
        fact("Settings", joined(&result.settings)),
        fact(
            "Form of the result",
            format!("schema_version {}", result.schema_version),
        ),
    ];
    let mut columns = Table::new(
        format!("{id}-columns"),
        "What was compared; the first is the base",
        &["column", "policy", "settings", "CPUs that come and go"],
    );
    columns.rows.extend(result.columns.iter().map(|column| {
        vec![
            Cell::head(&column.name),
            Cell::of(&column.policy),
            Cell::of(joined(&column.settings)),
            column.hotplug.clone().into(),
        ]
    }));
    let columns_of_cases = ["case", "platform", "workload", "#simulated", "settings"];
    let mut cases = Table::new(format!("{id}-setup"), "The cases", &columns_of_cases);
    cases.rows.extend(result.cases.iter().map(|case| {
        vec![
            Cell::head(&case.case),
            Cell::of(&case.platform),
            Cell::of(&case.workload),
            Cell::of(lengths::of_case(result, case).shown()),
            Cell::of(joined(&case.settings)),
        ]
    }));
    let mut rows = Vec::new();
    for profile in &result.profiles {
        for (seed, hash) in result.seeds.iter().zip(&profile.event_hashes) {
            rows.push(vec![
                Cell::head(&profile.case),
                Cell::of(&profile.policy),
                Cell::of(seed.to_string()),
                Cell::of(hash),
            ]);
        }
    }
    let mut blocks = vec![command(id, &result.command), Block::Facts { facts }];
    for table in [columns, cases] {
        blocks.extend((!table.rows.is_empty()).then_some(Block::Table(table)));
    }
    blocks.extend(options(id, &result.options));
    blocks.extend(hashes(id, rows, &["case", "policy", "#seed", "hash"]));
    section(id, blocks)
}
