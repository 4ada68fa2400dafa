//! One decision, from the JSON of `explain`: the CPU first, then why, then the other candidates
//! (docs/guide/playground.md, "One decision").
//!
//! What must stay: the decision is read from the JSON of `explain` and not made again; the chosen
//! CPU is the first row, and on a large machine a table that leaves CPUs out says how many. Words
//! and order may change. Tests by part: `a_decision_is_explained` (`view`, the answer to
//! `why_not`, `facts`, `waker`), `signals_and_clocks_stand_where_they_are_known` (`candidates`),
//! xtask/src/tries/pages.rs (what a browser shows). `others` has no test of its own.
//!
//! Callers: mod.rs (`view`).
//!
//! Tests: below, crates/wasm/src/answer/tests.rs::a_decision_is_explained, xtask/src/tries/pages.rs

use super::read::{HtmlError, Source, parse};
use super::view::{Block, Cell, Table};
use crate::number;
use wakeplace_outcome::{Candidate, Decision, Wakeup};

/// On machines of more CPUs only those that were looked at are listed.
const ROWS_MAX: usize = 32;

pub(super) struct View {
    pub(super) title: String,
    pub(super) blocks: Vec<Block>,
}

/// What a page shows of it.
pub(super) fn view(source: Source<'_>) -> Result<View, HtmlError> {
    let answer: Decision = parse(source)?;
    let wakeup = &answer.wakeup;
    let what = match wakeup.kind.as_str() {
        "fork" => format!("Start of {}", wakeup.task.party.name),
        _ => format!("Wake-up {} of {}", wakeup.number, wakeup.task.party.name),
    };
    let at = number::duration(wakeup.time_ns);
    let title = format!("{what} at {at}: CPU {}", answer.cpu);
    let mut blocks = Vec::new();
    if let Some(why) = &answer.why_not {
        blocks.push(Block::Text {
            text: why.answer.clone(),
        });
    }
    let reason = match answer.reason_doc.is_empty() {
        true => answer.reason.clone(),
        false => format!("{} ({})", answer.reason_doc, answer.reason),
    };
    blocks.push(Block::Facts {
        facts: facts(&answer, reason),
    });
    blocks.push(Block::Table(candidates(&answer)));
    if !answer.others.is_empty() {
        blocks.push(Block::Table(others(&answer)));
    }
    Ok(View { title, blocks })
}

/// The decision in pairs of a word and its value.
fn facts(answer: &Decision, reason: String) -> Vec<(String, String)> {
    let wakeup = &answer.wakeup;
    let fact = |name: &str, text: String| (name.to_owned(), text);
    let rule = match answer.rule_doc.is_empty() {
        true => answer.rule.clone(),
        false => format!("{} ({})", answer.rule_doc, answer.rule),
    };
    let mut facts = vec![
        fact("Chosen", format!("CPU {}: {reason}", answer.cpu)),
        fact("Rule that decided", rule),
        fact("Policy", answer.policy.clone()),
        fact(
            "Task",
            format!(
                "{}: utilisation {}, estimate {}; last on CPU {}",
                wakeup.task.party.name,
                wakeup.task.party.util_avg,
                wakeup.task.party.util_est,
                wakeup.prev_cpu
            ),
        ),
        fact("Woken by", waker(wakeup)),
    ];
    if let Some(why) = answer
        .energy_aware_off
        .as_ref()
        .or(answer.energy_aware.as_ref())
    {
        facts.push(fact("Not energy-aware", why.clone()));
    }
    facts
}

/// Who woke the task, and on which CPU; an interrupt may have come while a task ran there.
fn waker(wakeup: &Wakeup) -> String {
    let cpu = wakeup.waker_cpu;
    match &wakeup.waker {
        Some(ran) if wakeup.interrupt => {
            format!("an interrupt on CPU {cpu}, which ran {}", ran.name)
        }
        Some(waker) => {
            let sync = if wakeup.sync { ", about to sleep" } else { "" };
            format!("{} on CPU {cpu}{sync}", waker.name)
        }
        None => format!("an interrupt or a timer on CPU {cpu}"),
    }
}

/// The CPUs that were looked at, the chosen one among them.
fn candidates(answer: &Decision) -> Table {
    let estimated = answer.candidates.iter().any(|c| c.energy.is_some());
    let energy = answer.energy_unit.as_deref().unwrap_or("power");
    let energy = format!("#estimate ({energy})");
    let mut columns = vec!["CPU", "result", "#utilisation"];
    let waits = answer.candidates.iter().any(|c| c.runnable.is_some());
    columns.extend(waits.then_some("#runnable"));
    columns.extend(["#capacity", "#spare"]);
    let clocked = answer.candidates.iter().any(|c| c.clock_khz.is_some());
    columns.extend(clocked.then_some("#clock (MHz)"));
    columns.extend(estimated.then_some(energy.as_str()));
    columns.extend(["fits", "idle state"]);
    let listed = |c: &&Candidate| {
        answer.candidates.len() <= ROWS_MAX || c.order.is_some() || c.cpu == answer.cpu
    };
    let mut rows: Vec<&Candidate> = answer.candidates.iter().filter(listed).collect();
    rows.sort_by_key(|c| (c.cpu != answer.cpu, c.cpu));
    let hidden = answer.candidates.len() - rows.len();
    let more = match hidden {
        0 => String::new(),
        n => format!("; {n} more were not looked at"),
    };
    let caption = format!("The CPUs as the policy saw them{more}");
    let mut table = Table::new("x-candidates".to_owned(), caption, &columns);
    for c in rows {
        let result = match &c.dropped {
            _ if c.cpu == answer.cpu => Cell::of("chosen").tone("better"),
            Some(why) => Cell::of(why.replace('_', " ")),
            None => Cell::default(),
        };
        let mut row = vec![
            Cell::head(c.cpu.to_string()),
            result,
            Cell::of(c.util.to_string()),
        ];
        if waits {
            row.push(c.runnable.map(|signal| signal.to_string()).into());
        }
        row.extend([c.capacity, c.spare].map(|value| Cell::of(value.to_string())));
        if clocked {
            let mhz = |khz: u32| number::short(f64::from(khz) / 1000.0);
            row.push(c.clock_khz.map(mhz).into());
        }
        if estimated {
            row.push(c.energy.map(number::short).into());
        }
        row.push(Cell::of(if c.fits { "yes" } else { "no" }));
        row.push(c.idle_state.clone().into());
        table.rows.push(row);
    }
    table
}

/// What other policies answer to the same question.
fn others(answer: &Decision) -> Table {
    let columns = ["policy", "#CPU", "rule", "reason"];
    let caption = "What other policies would have done with the same state";
    let mut table = Table::new("x-others".to_owned(), caption, &columns)
        .folded("The same wake-up under other policies");
    table.rows.extend(answer.others.iter().map(|other| {
        let tone = match other.cpu == answer.cpu {
            true => "same",
            false => "other",
        };
        vec![
            Cell::head(&other.policy),
            Cell::of(other.cpu.to_string()).tone(tone),
            Cell::of(&other.rule),
            Cell::of(&other.reason),
        ]
    }));
    table
}

#[cfg(test)]
mod tests {
    use super::{Decision, candidates};
    use serde_json::{Value, json};

    /// CPU 0 is chosen of two; only it was estimated.
    fn decision(runnable: Option<u32>) -> Decision {
        let candidate = |cpu: u32, clock_khz: Option<u32>| {
            json!({
                "cpu": cpu, "util": 59, "capacity": 462, "spare": 403, "fits": true,
                "runnable": runnable, "clock_khz": clock_khz,
                "energy": clock_khz.map(|_| 12.5), "dropped": null,
            })
        };
        let task = json!({"name": "t", "util_avg": 43, "util_est": 59});
        let wakeup = json!({
            "kind": "wake", "number": 1, "time_ns": 1000, "task": task, "waker_cpu": 0,
            "prev_cpu": 1,
        });
        let whole: Value = json!({
            "policy": "p", "wakeup": wakeup, "rule": "energy", "reason": "energy-best", "cpu": 0,
            "energy_unit": "uW",
            "candidates": [candidate(0, Some(1_402_000)), candidate(1, None)],
        });
        serde_json::from_value(whole).expect("a decision")
    }

    /// Goal: the signal and the assumed clock stand beside utilisation, capacity and energy, a dash
    /// where there was no estimate; a policy without the signal has no column of it.
    #[test]
    fn signals_and_clocks_stand_where_they_are_known() {
        let table = candidates(&decision(Some(230)));
        let head: Vec<&str> = table.head.iter().map(|head| head.text.as_str()).collect();
        let expected = [
            "CPU",
            "result",
            "utilisation",
            "runnable",
            "capacity",
            "spare",
            "clock (MHz)",
            "estimate (uW)",
            "fits",
            "idle state",
        ];
        assert_eq!(head, expected);
        let row = |at: usize| -> Vec<&str> {
            let cells = table.rows[at].iter().skip(2).take(6);
            cells.map(|cell| cell.text.as_str()).collect()
        };
        assert_eq!(row(0), ["59", "230", "462", "403", "1402", "12.50"]);
        assert_eq!(row(1), ["59", "230", "462", "403", "–", "–"]);
        let without = candidates(&decision(None));
        assert!(without.head.iter().all(|head| head.text != "runnable"));
        assert_eq!(without.rows[0].len(), without.head.len());
    }
}
