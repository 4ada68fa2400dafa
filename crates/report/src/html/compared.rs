//! A page's part for a result of `sim` or `compare`.

use super::charts::Dot;
use super::details::{Of, Shown, changes, sections};
use super::model::{Comparison, Delta, Metric, Run, ends};
use super::view::{Answer, Block, Cell, ResultView, Section, Sentence, Table, Tile, tone};
use super::{cases, repeat, timeline};
use crate::comparison::{KEY_METRICS, expected_by_chance, with_unit};
use crate::{number, phrase};
use wakeplace_metrics::{Better, find_metric};

/// Metrics of the workload's own that are shown first.
const MAX_OWN: usize = 12;

pub(super) fn view(id: &str, result: &Comparison) -> ResultView {
    let base = &result.runs[0];
    let kind = if result.runs.len() > 1 {
        "Comparison"
    } else {
        "Simulation"
    };
    let title = match result.runs.as_slice() {
        [one] => format!("{} on {}", one.policy, one.platform),
        runs => {
            let others = runs[1..].iter().map(|run| run.policy.as_str());
            let others: Vec<&str> = others.collect();
            format!(
                "{} against {} on {}",
                others.join(", "),
                base.policy,
                base.platform
            )
        }
    };
    ResultView {
        id: id.to_owned(),
        kind,
        title,
        facts: facts(result),
        answer: answer(result),
        sections: all_sections(id, result),
    }
}

fn facts(result: &Comparison) -> Vec<String> {
    let base = &result.runs[0];
    let mut facts = vec![base.platform.clone(), base.workload.clone()];
    facts.push(number::duration(result.duration_ns));
    facts.push(number::seeds(&base.seeds));
    let shown = |(key, value): &(String, String)| format!("{key}={value}");
    facts.extend(result.settings.0.iter().map(shown));
    facts
}

fn answer(result: &Comparison) -> Answer {
    let base = &result.runs[0];
    let mut answer = Answer {
        warnings: result.warnings.clone(),
        sure: result.notes.clone(),
        ..Answer::default()
    };
    if result.runs.iter().any(|run| !run.complete) {
        answer.sentences.push(Sentence {
            text: "A run got stuck before its end: nothing is judged.".to_owned(),
            tone: "worse",
            badge: "not complete".to_owned(),
        });
        return answer;
    }
    if let [one] = result.runs.as_slice() {
        answer.sentences.extend(plain_sentence(result, one));
        answer.tiles = key_metrics(result)
            .into_iter()
            .filter_map(|name| Some(figure_tile(name, one.metrics.get(name)?)))
            .take(6)
            .collect();
        answer.sure.push(match one.seeds.len() {
            1 => "One seed: the workload's random choices were drawn once.".to_owned(),
            n => format!("{n} seeds; ± is the 95 % confidence interval of the mean."),
        });
        return answer;
    }
    for verdict in &result.verdicts {
        answer.sentences.push(Sentence {
            text: verdict.text.clone(),
            tone: tone(&verdict.difference),
            badge: badge(&verdict.difference),
        });
        let delta = |d: &&Delta| d.metric == verdict.metric && d.other == verdict.policy;
        let found = result.deltas.iter().find(delta);
        answer
            .tiles
            .extend(found.map(|delta| change_tile(base, delta, &verdict.difference)));
    }
    if result.verdicts.is_empty() {
        answer.sentences.push(Sentence {
            text: "The result holds no verdict; its tables follow.".to_owned(),
            tone: "unknown",
            badge: "no verdict".to_owned(),
        });
    }
    answer.sure.push(match base.seeds.len() {
        1 => "One seed: no difference can be told from chance.".to_owned(),
        n => format!(
            "Each policy ran with the same {n} seeds. Intervals are 95 % confidence intervals of \
             the change seed by seed. A difference is told where the interval lies beyond the \
             margin{}; none that matters where it lies inside.",
            result
                .margin_pct
                .map_or_else(String::new, |margin| format!(" of {margin} %")),
        ),
    });
    let shown = result.multiplicity.map(|shown| shown.intervals);
    answer.sure.extend(shown.and_then(expected_by_chance));
    answer
}

/// What one policy's runs come to: how much, and how long wake-ups took.
fn plain_sentence(result: &Comparison, run: &Run) -> Option<Sentence> {
    let say = |name: &str| {
        let metric = run.metrics.get(name)?;
        Some(format!(
            "{} {}",
            phrase::noun(name),
            unit(metric.mean?, &metric.unit)
        ))
    };
    let subject = result.measured_by.iter().map(String::as_str);
    let mut subjects = subject.chain(["energy_j", "cpu_energy_j", "cpu_energy_bogo", "runtime_s"]);
    let said: Vec<String> = { subjects.find_map(say).into_iter() }
        .chain(say("wake_latency_us_p99"))
        .collect();
    (!said.is_empty()).then(|| Sentence {
        text: format!("{}: {}.", run.policy, said.join("; ")),
        tone: "other",
        badge: String::new(),
    })
}

/// A difference's word for a badge.
pub(super) fn badge(word: &str) -> String {
    match word {
        "none seen" => "no difference seen".to_owned(),
        "none that matters" => "no difference that matters".to_owned(),
        "other" => "different".to_owned(),
        word => word.to_owned(),
    }
}

fn change_tile(base: &Run, delta: &Delta, difference: &str) -> Tile {
    Tile {
        figure: delta.delta_pct.map_or_else(|| "–".to_owned(), shown_change),
        label: delta.metric.clone(),
        below: format!(
            "{}{}",
            phrase::short_policy(&base.policy, &delta.other),
            match phrase::interval(ends(delta.ci95)) {
                Some(ci) => format!(", 95 % CI {}", ci.replace(" %", "\u{a0}%")),
                None => String::new(),
            }
        ),
        tone: tone(difference),
    }
}

/// A change with a true minus sign.
pub(super) fn shown_change(pct: f64) -> String {
    format!("{pct:+.1} %").replace('-', "−")
}

fn figure_tile(name: &str, metric: &Metric) -> Tile {
    Tile {
        figure: metric
            .mean
            .map_or_else(|| "–".to_owned(), |mean| unit(mean, &metric.unit)),
        label: name.to_owned(),
        below: match (metric.ci95, find_metric(name)) {
            (Some(ci), _) => format!("± {}", number::short(ci)),
            (None, Ok(def)) => def.doc.to_owned(),
            (None, Err(_)) => String::new(),
        },
        tone: "other",
    }
}

/// A figure with its unit; µs as people write it.
pub(super) fn unit(value: f64, unit: &str) -> String {
    with_unit(value, if unit == "us" { "µs" } else { unit })
}

fn key_metrics(result: &Comparison) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    let own = result.measured_by.iter().take(MAX_OWN).map(String::as_str);
    for name in own.chain(KEY_METRICS) {
        let measured = result
            .runs
            .iter()
            .any(|run| run.metrics.get(name).is_some());
        if measured && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn all_sections(id: &str, result: &Comparison) -> Vec<Section> {
    let base = &result.runs[0];
    let several = result.runs.len() > 1;
    let mut all = Vec::new();
    if several {
        all.push(differences(id, result));
    }
    let of = |run: &'_ Run| phrase::short_policy(&base.policy, &run.policy);
    let policies = result.runs.iter().filter_map(|run| {
        let details = run.details.as_ref()?;
        Some(Of {
            policy: of(run),
            details,
        })
    });
    let shown = Shown {
        case: String::new(),
        policies: policies.collect(),
    };
    all.extend(sections(id, &[shown]));
    let lines = result
        .runs
        .iter()
        .filter_map(|run| Some((run, run.timeline.as_ref()?)));
    all.extend(timeline::section(id, &lines.collect::<Vec<_>>()));
    all.extend(cases::of_runs(id, &result.runs));
    all.push(metrics(id, result));
    all.push(repeat::of_comparison(id, result));
    all
}

fn differences(id: &str, result: &Comparison) -> Section {
    let base = &result.runs[0].policy;
    let key = key_metrics(result);
    let dot = |delta: &Delta| {
        Some(Dot {
            row: delta.metric.clone(),
            series: phrase::short_policy(base, &delta.other),
            policy: result
                .runs
                .iter()
                .position(|run| run.policy == delta.other)
                .unwrap_or(0),
            source: "",
            value: delta.delta_pct?,
            ends: ends(delta.ci95),
        })
    };
    let dots = key.iter().flat_map(|name| {
        let own = result
            .deltas
            .iter()
            .filter(move |delta| delta.metric == **name);
        own.filter_map(dot)
    });
    let chart = changes(
        format!("{id}-changes"),
        "Change from the base, with 95 % confidence intervals",
        "Points with intervals: change of each important metric from the base policy, in percent. \
         The table below has the figures.",
        dots.collect(),
    );
    let mut blocks: Vec<Block> = chart.map(Block::Chart).into_iter().collect();
    blocks.push(Block::Table(key_table(id, result, &key)));
    Section {
        id: format!("{id}-differences"),
        title: "What differs".to_owned(),
        lead: format!("Every policy beside {base}, the base."),
        blocks,
    }
}

fn key_table(id: &str, result: &Comparison, key: &[&str]) -> Table {
    let columns = [
        "metric",
        "policy",
        "#mean",
        "#± 95 %",
        "#change",
        "#95 % CI",
        "difference",
    ];
    let caption = "The important metrics; means over the seeds";
    let mut table = Table::new(format!("{id}-key"), caption, &columns);
    let base = &result.runs[0].policy;
    for name in key {
        let doc = find_metric(name).map_or("", |def| def.doc);
        let mut place = 0;
        for run in &result.runs {
            let Some(metric) = run.metrics.get(name) else {
                continue;
            };
            let own = |d: &&Delta| d.metric == *name && d.other == run.policy;
            let delta = result
                .deltas
                .iter()
                .find(own)
                .filter(|_| run.policy != *base);
            let head = row_head(name, doc, place);
            place += 1;
            table.rows.push(row(head, base, run, metric, delta));
        }
    }
    table
}

/// The first cell of a metric's rows: its name, below it what it means.
fn row_head(name: &str, doc: &str, place: usize) -> Cell {
    match place {
        0 => Cell::head(name),
        1 => Cell::default().small(doc),
        _ => Cell::default(),
    }
}

fn row(head: Cell, base: &str, run: &Run, metric: &Metric, delta: Option<&Delta>) -> Vec<Cell> {
    let mean = metric.mean.map(|mean| unit(mean, &metric.unit));
    let change = delta.and_then(|delta| delta.delta_pct);
    let word = delta.map(difference).unwrap_or_default();
    vec![
        head,
        Cell::of(phrase::short_policy(base, &run.policy)),
        mean.into(),
        metric.ci95.map(number::short).into(),
        change.map_or_else(Cell::default, |pct| Cell::of(shown_change(pct))),
        Cell::of(
            delta
                .and_then(|d| phrase::interval(ends(d.ci95)))
                .unwrap_or_default(),
        ),
        Cell::of(badge(word)).tone(tone(word)),
    ]
}

/// What a difference means, as the terminal's tables say it.
fn difference(delta: &Delta) -> &str {
    if let Some(word) = &delta.difference {
        return word;
    }
    // Schema 1: whether the interval excludes 0.
    let (Some(pct), Some(significant)) = (delta.delta_pct, delta.significant) else {
        return "";
    };
    if ends(delta.ci95).is_none() && !significant {
        return "one seed";
    }
    if !significant {
        return "none seen";
    }
    match find_metric(&delta.metric).map_or(Better::Neither, |def| def.better) {
        Better::Lower if pct < 0.0 => "better",
        Better::Higher if pct > 0.0 => "better",
        Better::Lower | Better::Higher => "worse",
        Better::Neither => "other",
    }
}

fn metrics(id: &str, result: &Comparison) -> Section {
    let several = result.runs.len() > 1;
    let base = &result.runs[0].policy;
    let columns: &[&str] = match several {
        true => &[
            "metric",
            "policy",
            "#mean",
            "#± 95 %",
            "#change",
            "#95 % CI",
            "difference",
        ],
        false => &["metric", "#mean", "#spread", "#± 95 %"],
    };
    let mut table = Table::new(format!("{id}-metrics-table"), "All metrics", columns);
    table.folded = Some(format!(
        "All metrics of {}",
        if several { "all runs" } else { "the run" }
    ));
    let mut names: Vec<&String> = Vec::new();
    for run in &result.runs {
        names.extend(run.metrics.0.iter().map(|(name, _)| name));
    }
    names.sort_unstable();
    names.dedup();
    for name in names.into_iter().filter(|name| !cases::holds(name)) {
        for (at, run) in result.runs.iter().enumerate() {
            let Some(metric) = run.metrics.get(name) else {
                continue;
            };
            let doc = find_metric(name).map_or("", |def| def.doc);
            let own = |d: &&Delta| d.metric == *name && d.other == run.policy;
            let delta = result.deltas.iter().find(own).filter(|_| at > 0);
            let head = match several {
                true => row_head(name, doc, at),
                false => Cell::head(name).small(doc),
            };
            table.rows.push(match several {
                true => row(head, base, run, metric, delta),
                false => vec![
                    head,
                    metric.mean.map(|mean| unit(mean, &metric.unit)).into(),
                    metric.rsd_pct.map(number::spread).into(),
                    metric.ci95.map(number::short).into(),
                ],
            });
        }
    }
    Section {
        id: format!("{id}-metrics"),
        title: "All metrics".to_owned(),
        lead: String::new(),
        blocks: vec![Block::Table(table)],
    }
}
