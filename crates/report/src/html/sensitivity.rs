//! Conclusions with assumed costs halved and doubled (docs/guide/report.md).
//!
//! What must stay: which conclusions hold is `wakeplace_study::sensitivity`'s judgement; what has
//! no effect and what was not tried is said. Words and looks may change. Tests by part:
//! `the_json_of_a_study_is_read_back` (`section_of`), `results_of_version_1_are_read` (of an old
//! study). Cells of `tried_row` have no test of their own. `tables` by the first one.
//!
//! Callers: study.rs (`section_of`).
//!
//! Tests: crates/report/src/html/tests.rs

use super::figures;
use super::view::{Block, Cell, Section, Table};
use crate::phrase::finite as ends;
use crate::{number, phrase};
use wakeplace_outcome::{Assumed, Conclusion, Cost, Row, Study, Tried};

/// What becomes of each conclusion; None: it was not tried.
pub(super) fn section_of(id: &str, result: &Study) -> Option<Section> {
    let tried = result.sensitivity.as_ref()?;
    let assumed = result.assumed.clone().unwrap_or_default();
    let flips = tried.iter().filter(|row| row.flips).count();
    let mut blocks = tables(id, result, tried, &assumed);
    let unused = assumed
        .costs
        .iter()
        .filter(|cost| cost.unused)
        .map(|cost| cost.cost.as_str());
    let unused: Vec<&str> = unused.collect();
    if !unused.is_empty() {
        let text = format!(
            "Assumed, and without any effect in these runs: {}.",
            unused.join(", ")
        );
        blocks.push(Block::Text { text });
    }
    let items = assumed
        .except
        .iter()
        .map(|e| format!("Assumed, and not tried: {}: {}", e.cost, e.why));
    let items: Vec<String> = items.collect();
    if !items.is_empty() {
        blocks.push(Block::List { items });
    }
    Some(Section {
        id: format!("{id}-sensitivity"),
        title: "With assumed costs halved and doubled".to_owned(),
        lead: format!(
            "Each conclusion was tried again with one assumed cost changed, {}: {}.",
            number::seeds(&assumed.seeds),
            match flips {
                0 => "none changes".to_owned(),
                n => format!("{n} of {} change", tried.len()),
            }
        ),
        blocks,
    })
}

/// What changes, then everything.
fn tables(id: &str, result: &Study, tried: &[Tried], assumed: &Assumed) -> Vec<Block> {
    let used = |row: &&Tried| {
        let own = |cost: &&Cost| cost.cost == row.cost;
        assumed
            .costs
            .iter()
            .find(own)
            .is_none_or(|cost| !cost.unused)
    };
    let mut blocks = Vec::new();
    for only_flips in [true, false] {
        let columns = [
            "case",
            "metric",
            "policy",
            "assumed cost",
            "#times",
            "#change",
            "#95 % CI",
            "conclusion",
            "#as it is",
            "then",
        ];
        let (name, caption) = match only_flips {
            true => ("flips", "Conclusions that change"),
            false => ("all", "All conclusions tried, of costs that have an effect"),
        };
        let mut table = Table::new(format!("{id}-sensitivity-{name}"), caption, &columns);
        let rows = tried
            .iter()
            .filter(used)
            .filter(|row| row.flips || !only_flips);
        table
            .rows
            .extend(rows.map(|row| tried_row(result, assumed, row)));
        if !only_flips {
            table.folded = Some(format!("All {} conclusions tried", table.rows.len()));
        }
        blocks.extend((!table.rows.is_empty()).then_some(Block::Table(table)));
    }
    blocks
}

/// A conclusion with one cost halved or doubled, beside the one of the study.
fn tried_row(result: &Study, assumed: &Assumed, row: &Tried) -> Vec<Cell> {
    let value = assumed.costs.iter().find(|cost| cost.cost == row.cost);
    let said = |found: Conclusion| Cell::of(found.word()).tone(super::view::tone(found.word()));
    let change = |pct: Option<f64>, conclusion: Conclusion| match pct {
        Some(pct) => Cell::of(figures::change(pct)),
        None if conclusion != Conclusion::Unknown => Cell::of(number::FROM_ZERO),
        None => Cell::default(),
    };
    let same = |own: &&Row| own.case == row.case && own.metric == row.metric;
    let word = { result.rows.iter() }
        .find(same)
        .and_then(|own| own.power.clone());
    vec![
        Cell::head(&row.case),
        Cell::of(&row.metric).small(word.unwrap_or_default()),
        Cell::of(phrase::short_policy(&result.base_policy, &row.policy)),
        Cell::of(&row.cost).small(value.map_or("", |cost| cost.value.as_str())),
        Cell::of(row.factor.to_string()),
        change(row.delta_pct, row.conclusion),
        Cell::of(figures::interval(ends(row.ci95)).unwrap_or_default()),
        said(row.conclusion),
        change(row.plain_delta_pct, row.plain_conclusion),
        said(row.plain_conclusion),
    ]
}
