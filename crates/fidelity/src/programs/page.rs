//! The page's part: tables in Markdown, or one object (docs/guide/workloads.md, "How it is
//! counted").
//!
//! What must stay: the form of the page's tables; keys of JSON. Free: what leaves the tables of
//! pages as they are. Tests by part: `tables_say_what_was_counted` (`markdown`, `provenance`,
//! `summary`, `program`, `table_row`, `label`, `counts`, `all`, `rate_text`, `percents`, `range`,
//! `rate_range`, `mean`), `names_of_tasks_are_harmless` (names of others),
//! `a_missing_model_is_said` (`workload`, `object`), `ratios_have_no_zero_below` (`ratio`); `run`,
//! `compared` and `recorded` are the tests' own.
//!
//! Tests: below

use super::list::{Model, RT_APP_FILE};
use super::recorded::Recorded;
use super::structure::Wakes;
use super::{Comparison, POLICY, Run};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use wakeplace_text::{markdown as plain, markdown_cell};

/// Where there is nothing to say.
const NOTHING: &str = "-";

/// All tables.
pub(super) fn markdown(recorded: &Recorded, compared: &[Comparison]) -> String {
    let mut text = provenance(recorded);
    summary(&mut text, compared);
    for comparison in compared {
        program(&mut text, comparison);
    }
    text
}

/// Of which machine, kernel and packages the counts are.
fn provenance(recorded: &Recorded) -> String {
    let packages = recorded.packages.iter();
    let packages: Vec<String> = packages
        .map(|(name, own)| plain(&format!("{name} {own}")))
        .collect();
    format!(
        "Kernel {}, {} with {} CPUs, {}. Packages: {}. Models: policy `{POLICY}`, the same \
         machine.\n",
        plain(&recorded.release),
        plain(&recorded.machine),
        recorded.cpus,
        plain(&recorded.emulator),
        packages.join(", "),
    )
}

/// The name of a model's workload as a user types it.
fn workload(model: &Model) -> String {
    match model.workload {
        "" => format!("workloads/{}", RT_APP_FILE.0),
        argument => argument.to_owned(),
    }
}

/// The table of all programs.
fn summary(text: &mut String, compared: &[Comparison]) {
    text.push_str(
        "\n## All programs\n\n\
         Wake-ups of the program's tasks, whoever woke them.\n\n\
         | program | tasks | model | forks | model | per | wake-ups | model | sync | model |\n\
         |---|---:|---:|---:|---:|---|---:|---:|---:|---:|\n",
    );
    for comparison in compared {
        let model =
            |of: &dyn Fn(&Run) -> String| comparison.model.as_ref().map_or(NOTHING.to_owned(), of);
        let real = || comparison.real.iter();
        let tasks = |run: &Run| run.structure.tasks.values().sum::<u64>();
        let rate = |run: &Run| all(run).count as f64 / run.events.max(1) as f64;
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            comparison.program.key,
            range(real().map(tasks)),
            model(&|run| tasks(run).to_string()),
            range(real().map(|run| run.structure.forks)),
            model(&|run| run.structure.forks.to_string()),
            comparison.program.event,
            rate_range(&real().map(rate).collect::<Vec<_>>()),
            model(&|run| rate_text(rate(run))),
            percents(real().map(all)),
            model(&|run| percents(std::iter::once(all(run)))),
        );
    }
}

/// All wake-ups of a run.
fn all(run: &Run) -> Wakes {
    let mut sum = Wakes::default();
    for wakes in run.structure.wakes.values() {
        sum.count += wakes.count;
        sum.sync += wakes.sync;
    }
    sum
}

/// Three decimals, and not zero for what is not.
fn rate_text(rate: f64) -> String {
    match rate > 0.0 && rate < 0.0005 {
        true => "< 0.001".to_owned(),
        false => format!("{rate:.3}"),
    }
}

/// Share of the sync ones, smallest to largest; runs without such wake-ups have none.
fn percents(wakes: impl Iterator<Item = Wakes>) -> String {
    let some = wakes.filter(|wakes| wakes.count > 0);
    let shares = some.map(|wakes| (wakes.sync * 100 + wakes.count / 2) / wakes.count);
    match range(shares) {
        none if none == NOTHING => none,
        shares => format!("{shares} %"),
    }
}

/// What is counted in a row, and of what kind it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Tasks,
    Forks,
    Execs,
    Wakes,
    Sleeps,
    GaveWay,
}

/// All counts of a run.
fn counts(run: &Run) -> BTreeMap<(Kind, String), u64> {
    let structure = &run.structure;
    let mut found = BTreeMap::from([
        ((Kind::Forks, String::new()), structure.forks),
        ((Kind::Execs, String::new()), structure.execs),
    ]);
    let of_roles = [
        (Kind::Tasks, &structure.tasks),
        (Kind::Sleeps, &structure.sleeps),
        (Kind::GaveWay, &structure.gave_way),
    ];
    for (kind, counts) in of_roles {
        found.extend(counts.iter().map(|(role, n)| ((kind, role.clone()), *n)));
    }
    let wakes = structure.wakes.iter();
    found.extend(wakes.map(|(pair, wakes)| ((Kind::Wakes, pair.clone()), wakes.count)));
    found
}

/// A kind of count, in words.
fn label(kind: Kind, name: &str) -> String {
    match kind {
        Kind::Tasks => format!("tasks: {name}"),
        Kind::Forks => "forks".to_owned(),
        Kind::Execs => "execs".to_owned(),
        Kind::Wakes => name.to_owned(),
        Kind::Sleeps => format!("went to sleep: {name}"),
        Kind::GaveWay => format!("gave way: {name}"),
    }
}

/// The part of one program.
fn program(text: &mut String, comparison: &Comparison) {
    let program = comparison.program;
    let events = range(comparison.real.iter().map(|run| run.events));
    let _ = write!(
        text,
        "\n## {}\n\n`{}`; runs: {}, {} {}s each. Model: `{}`{}.\n\n\
         | | kernel | per {} | sync | model | per {} | sync | model / kernel |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|\n",
        program.key,
        program.command.join(" "),
        comparison.real.len(),
        events,
        program.event,
        workload(&program.model),
        comparison
            .model
            .as_ref()
            .map_or(String::new(), |run| format!(
                ", {} {}s",
                run.events, program.event
            )),
        program.event,
        program.event,
    );
    let real: Vec<_> = comparison.real.iter().map(counts).collect();
    let model = comparison.model.as_ref().ok().map(counts);
    let rows: BTreeSet<&(Kind, String)> =
        real.iter().chain(&model).flat_map(|c| c.keys()).collect();
    for row in rows {
        table_row(text, comparison, row, &real, model.as_ref());
    }
    if let Err(why) = &comparison.model {
        let _ = writeln!(text, "\nNo model in this build: {}.", plain(why));
    }
    for (at, note) in program.notes.iter().enumerate() {
        let _ = writeln!(text, "{}- {note}", if at == 0 { "\n" } else { "" });
    }
}

type Counts = BTreeMap<(Kind, String), u64>;

/// One kind of wake-up in one line.
fn table_row(
    text: &mut String,
    comparison: &Comparison,
    row: &(Kind, String),
    real: &[Counts],
    model: Option<&Counts>,
) {
    let (kind, name) = row;
    let count = |counts: &Counts| counts.get(row).copied().unwrap_or(0);
    let each: Vec<u64> = real.iter().map(count).collect();
    let is_rate = matches!(kind, Kind::Wakes | Kind::Sleeps | Kind::GaveWay);
    let rate = |n: u64, run: &Run| n as f64 / run.events.max(1) as f64;
    let rates: Vec<f64> = each
        .iter()
        .zip(&comparison.real)
        .map(|(n, run)| rate(*n, run))
        .collect();
    let wakes = |run: &Run| {
        let own = run
            .structure
            .wakes
            .get(name)
            .filter(|_| *kind == Kind::Wakes);
        own.copied()
    };
    let model_run = comparison.model.as_ref().ok().zip(model.map(count));
    let model_cells = match model_run {
        None => [NOTHING, NOTHING, NOTHING, NOTHING].map(str::to_owned),
        Some((run, n)) => {
            let real_value = match is_rate {
                true => mean(&rates),
                false => mean(&each.iter().map(|n| *n as f64).collect::<Vec<_>>()),
            };
            let model_value = if is_rate { rate(n, run) } else { n as f64 };
            let per_event = if is_rate {
                rate_text(model_value)
            } else {
                NOTHING.to_owned()
            };
            [
                n.to_string(),
                per_event,
                percents(wakes(run).into_iter()),
                ratio(model_value, real_value),
            ]
        }
    };
    let per_event = if is_rate {
        rate_range(&rates)
    } else {
        NOTHING.to_owned()
    };
    let _ = writeln!(
        text,
        "| {} | {} | {per_event} | {} | {} |",
        markdown_cell(&label(*kind, name)),
        range(each.into_iter()),
        percents(comparison.real.iter().filter_map(wakes)),
        model_cells.join(" | "),
    );
}

/// 0 of nothing.
fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// How many times the kernel's value the model's is.
fn ratio(model: f64, real: f64) -> String {
    match (model > 0.0, real > 0.0) {
        (_, true) => format!("{:.2}", model / real),
        (true, false) => "only model".to_owned(),
        (false, false) => NOTHING.to_owned(),
    }
}

/// Smallest to largest.
fn range(values: impl Iterator<Item = u64>) -> String {
    let values: BTreeSet<u64> = values.collect();
    match (values.first(), values.last()) {
        (Some(first), Some(last)) if first != last => format!("{first} to {last}"),
        (Some(first), _) => first.to_string(),
        (None, _) => NOTHING.to_owned(),
    }
}

/// Least to most; one figure where they are equal.
fn rate_range(rates: &[f64]) -> String {
    let low = rates.iter().copied().fold(f64::MAX, f64::min);
    let high = rates.iter().copied().fold(f64::MIN, f64::max);
    let (low, high) = (rate_text(low), rate_text(high));
    match low == high {
        true => low,
        false => format!("{low} to {high}"),
    }
}

/// The same as one object.
pub(super) fn object(recorded: &Recorded, compared: &[Comparison]) -> Value {
    let programs: Vec<Value> = compared
        .iter()
        .map(|comparison| {
            let program = comparison.program;
            json!({
                "program": program.key,
                "command": program.command.join(" "),
                "event": program.event,
                "runs": comparison.real,
                "workload": workload(&program.model),
                "model": comparison.model.as_ref().ok(),
                "no_model": comparison.model.as_ref().err(),
                "notes": program.notes,
            })
        })
        .collect();
    json!({
        "schema_version": wakeplace_report::SCHEMA_VERSION,
        "release": recorded.release,
        "packages": recorded.packages,
        "machine": recorded.machine,
        "cpus": recorded.cpus,
        "emulator": recorded.emulator,
        "policy": POLICY,
        "programs": programs,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::list;
    use crate::programs::structure::Structure;

    fn run(events: u64, wakes: u64, sync: u64) -> Run {
        let mut structure = Structure {
            forks: 2,
            ..Structure::default()
        };
        structure.tasks.insert("worker".to_owned(), 2);
        for n in 0..wakes {
            structure.wake("worker", "main", n < sync);
        }
        Run { events, structure }
    }

    fn compared(model: Result<Run, String>) -> Comparison {
        Comparison {
            program: list::chosen(&["sysbench-cpu".to_owned()]).expect("known")[0],
            real: vec![run(20, 10, 5), run(20, 20, 10)],
            model,
        }
    }

    fn recorded() -> Recorded {
        Recorded {
            made_by: "x".to_owned(),
            release: "7.3.4".to_owned(),
            packages: BTreeMap::from([("sysbench".to_owned(), "1.0".to_owned())]),
            machine: "hikey960".to_owned(),
            cpus: 4,
            emulator: "QEMU 10".to_owned(),
            programs: Vec::new(),
        }
    }

    #[test]
    fn tables_say_what_was_counted() {
        let text = markdown(&recorded(), &[compared(Ok(run(10, 15, 0)))]);
        // 10 and 20 wake-ups per 20 events, half of them sync; 15 per 10: twice the mean of 0.75.
        let row =
            "| worker -> main | 10 to 20 | 0.500 to 1.000 | 50 % | 15 | 1.500 | 0 % | 2.00 |\n";
        assert!(text.contains(row), "{text}");
        let row = "| tasks: worker | 2 | - | - | 2 | - | - | 1.00 |\n";
        assert!(text.contains(row), "{text}");
        let row =
            "| sysbench-cpu | 2 | 2 | 2 | 2 | event | 0.500 to 1.000 | 1.500 | 50 % | 0 % |\n";
        assert!(text.contains(row), "{text}");
    }

    /// Goal: the name of a task, which is of a recording, is one cell and no HTML.
    #[test]
    fn names_of_tasks_are_harmless() {
        let mut odd = run(10, 0, 0);
        odd.structure.tasks.insert("a|b<script>\n".to_owned(), 1);
        let text = markdown(&recorded(), &[compared(Ok(odd))]);
        let row = "| tasks: a\\|b&lt;script>  | 0 | - | - | 1 | - | - | only model |\n";
        assert!(text.contains(row), "{text}");
    }

    #[test]
    fn a_missing_model_is_said() {
        let text = markdown(&recorded(), &[compared(Err("gone".to_owned()))]);
        assert!(text.contains("No model in this build: gone."), "{text}");
        assert!(
            text.contains("| forks | 2 | - | - | - | - | - | - |\n"),
            "{text}"
        );
        let object = object(&recorded(), &[compared(Err("gone".to_owned()))]);
        let program = &object["programs"][0];
        assert_eq!(
            (&program["model"], &program["no_model"]),
            (&Value::Null, &json!("gone"))
        );
        assert_eq!(
            program["runs"][1]["structure"]["wakes"]["worker -> main"]["count"],
            json!(20)
        );
    }

    #[test]
    fn ratios_have_no_zero_below() {
        assert_eq!(
            [ratio(1.0, 2.0), ratio(1.0, 0.0), ratio(0.0, 0.0)],
            ["0.50", "only model", "-"]
        );
    }
}
