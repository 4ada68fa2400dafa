//! Why policies drew more or less than the base, as a section of a page (docs/guide/results.md,
//! "Why a difference").
//!
//! What must stay: sentences and figures are those of text. Free: words.
//!
//! Tests by part: `why_is_a_section` (`section`).
//!
//! Callers: compared.rs (`section`).
//!
//! Tests: below

use super::details::section as filled;
use super::figures::minus;
use super::view::{Block, Cell, Section, Table};
use crate::phrase::short_policy;
use crate::why::{heads, rows, told};
use wakeplace_outcome::Comparison;

/// The sentences, and below them the figures by cluster or kind of CPU. None: there are none.
pub(super) fn section(id: &str, result: &Comparison) -> Option<Section> {
    let items: Vec<String> = told(result).iter().map(|line| minus(line)).collect();
    let mut blocks: Vec<Block> = match items.is_empty() {
        true => Vec::new(),
        false => vec![Block::List { items }],
    };
    let heads = heads(result);
    let named = heads.iter().map(|(_, head)| format!("#{head}"));
    let first = ["cluster", "policy"].map(str::to_owned);
    let columns: Vec<String> = first.into_iter().chain(named).collect();
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let caption = "Busy time summed over the CPUs of a cluster or kind, its mean clock, what a \
                   busy CPU draws, and the share of the CPUs' time in idle states; mean of a run";
    let mut table = Table::new(format!("{id}-why-table"), caption, &columns);
    table.cards = true;
    let base = result.runs.first().map_or("", |run| run.policy.as_str());
    for (group, rows) in rows(result, |run| short_policy(base, &run.policy)) {
        for (policy, own) in rows {
            let shown = heads.iter().map(|(at, _)| Cell::from(own[*at].clone()));
            let head = [Cell::head(group.clone()), Cell::of(policy)];
            table.rows.push(head.into_iter().chain(shown).collect());
        }
    }
    if !table.rows.is_empty() {
        blocks.push(Block::Table(table));
    }
    filled(
        format!("{id}-why"),
        "Where the work went",
        "What the change of energy is made of: busy time that is longer or elsewhere, what it \
         draws in each second, and idle states with the clusters themselves.",
        blocks,
    )
}

#[cfg(test)]
mod tests {
    use super::section;
    use crate::html::view::Block;
    use serde_json::{Value, json};
    use wakeplace_outcome::{Comparison, TaskMove, Why};

    /// Goal: clusters stand together, with a row for each policy; without powers there is no column
    /// of them, and of a result of before there is no section.
    #[test]
    fn why_is_a_section() {
        let group = |name: &str, s: f64| {
            json!({"cluster": name, "cpus": 1, "busy_pct": 5.0, "idle_pct": {"WFI": 95.0},
                   "busy": {"s": s, "khz_mean": 1e6, "energy": null}})
        };
        let run = |policy: &str, s: f64| {
            let groups = [group("little", s), group("big", 1.0)];
            json!({"platform": "board", "workload": "w", "policy": policy, "seeds": [1],
                   "metrics": {}, "details": {"residency": groups}})
        };
        let of = |runs: [Value; 2]| -> Comparison {
            serde_json::from_value(json!({"duration_ns": 1, "runs": runs})).expect("a result")
        };
        let mut result = of([run("a", 2.0), run("b", 3.0)]);
        result.why.push(Why {
            policy: "b".to_owned(),
            energy: None,
            groups: Vec::new(),
            moved: vec![TaskMove {
                task: "ui".to_owned(),
                moved_s: 0.25,
                group_s: vec![("big".to_owned(), -0.25)],
            }],
            text: "little: 50 % more busy time".to_owned(),
        });
        let found = section("r", &result).expect("a section");
        let [Block::List { items }, Block::Table(table)] = found.blocks.as_slice() else {
            panic!("{found:?}");
        };
        let said = [
            "little: 50 % more busy time.",
            "Run time that moved most: ui 250 ms (\u{2212}250 ms on big).",
        ];
        assert_eq!(items.as_slice(), said);
        let cells = |row: &Vec<super::Cell>| -> Vec<String> {
            row.iter().map(|cell| cell.text.clone()).collect()
        };
        let rows: Vec<Vec<String>> = table.rows.iter().map(cells).collect();
        assert_eq!(rows[1], ["little", "b", "3", "1000", "95.0 %"]);
        assert_eq!(rows[2], ["big", "a", "1", "1000", "95.0 %"]);
        let mut before = run("a", 2.0);
        before["details"] = json!({});
        assert!(section("r", &of([before.clone(), before])).is_none());
    }
}
