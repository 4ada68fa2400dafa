//! A page's part for a result of `sim` or `compare` (docs/guide/report.md).
//!
//! What must stay: figures and verdicts are those of the terminal (`phrase.rs`, `comparison.rs`),
//! never computed a second time; the answer stands first; a run that got stuck is not judged; what
//! is better at a price is not green. Words and looks may change. Tests by part:
//! `the_answer_stands_first_and_everything_after_it` (`view`, `answer`, `all_sections`),
//! `a_price_takes_the_green` (`verdict_tone`, `verdict_badge`), `modelled_joules_have_a_word`
//! (`label`, `noun`), `notes_have_code_and_losses_from_nothing_have_chips` (`chips`, `figure`),
//! `an_older_result_has_less_and_says_so` (no verdict),
//! `several_workloads_are_told_apart_at_a_glance` (title), `runs_to_the_end_of_their_tasks_say_so`
//! (`facts`), the first also `plain_sentence`, `differences`, `change_tile`, `figure_tile` and
//! `badge`; `a_price_takes_the_green` also `has_price`.
//!
//! Callers: overview.rs (`figure`, `verdict_badge`, `verdict_tone`, `badge`), tables.rs (`figure`,
//! `badge`), rows.rs (`badge`).
//!
//! Tests: crates/report/src/html/tests.rs

use super::charts::{Dot, once};
use super::details::{Of, Shown, changes, sections};
use super::figures::{minus, unit};
use super::lengths;
use super::tables::{self, difference};
use super::view::{Answer, Block, Chip, ResultView, Section, Sentence, Tile, tone};
use super::{cases, figures, lines, repeat, timeline, why};
use crate::comparison::{expected_by_chance, goes_apart, key_metrics};
use crate::phrase::finite as ends;
use crate::plain::plain;
use crate::{number, phrase};
use wakeplace_metrics::find_metric;
use wakeplace_outcome::{Comparison, Delta, Difference, Metric, Run, Verdict};

/// What a saving costs.
const PRICE: &str = "wake_latency_us_p99";

/// `name`: what it is called on the page, and whether that heads its title.
pub(super) fn view(id: &str, result: &Comparison, (name, heads): (&str, bool)) -> ResultView {
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
    let title = match heads {
        true => format!("{name}: {title}"),
        false => title,
    };
    ResultView {
        id: id.to_owned(),
        kind,
        name: name.to_owned(),
        title,
        facts: facts(result),
        answer: answer(result),
        sections: all_sections(id, result),
    }
}

/// What was run, in short pieces: machine, load, length, seeds, and settings.
fn facts(result: &Comparison) -> Vec<String> {
    let base = &result.runs[0];
    let mut facts = vec![base.platform.clone(), base.workload.clone()];
    facts.push(lengths::of_comparison(result));
    facts.push(number::seeds(&base.seeds));
    let shown = |(key, value): &(String, String)| format!("{key}={value}");
    facts.extend(result.settings.iter().map(shown));
    facts
}

/// The first part of a page: what differs in a sentence, how sure it is, and warnings.
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
            chips: Vec::new(),
        });
        return answer;
    }
    if let [one] = result.runs.as_slice() {
        answer.sentences.extend(plain_sentence(result, one));
        answer.tiles = key_metrics(result)
            .into_iter()
            .filter_map(|name| Some(figure_tile(result, name, one.metrics.value(name)?)))
            .take(6)
            .collect();
        answer.sure.push(match one.seeds.len() {
            1 => "One seed: the workload's random choices were drawn once.".to_owned(),
            n => format!("{n} seeds; ± is the 95 % confidence interval of the mean."),
        });
        return answer;
    }
    for verdict in result.verdicts() {
        answer.sentences.push(Sentence {
            text: minus(&verdict.text),
            tone: verdict_tone(verdict),
            badge: verdict_badge(verdict),
            chips: chips(result, &verdict.policy),
        });
        for metric in once([&verdict.metric, &PRICE.to_owned()].into_iter()) {
            let own = |d: &&Delta| d.metric == metric && d.other == verdict.policy;
            let found = result.deltas().iter().find(own);
            let tile = |delta: &Delta| change_tile(result, delta, difference(delta));
            answer.tiles.extend(found.map(tile));
        }
    }
    if result.verdicts().is_empty() {
        answer.sentences.push(Sentence {
            text: "The result holds no verdict; its tables follow.".to_owned(),
            tone: "unknown",
            badge: "no verdict".to_owned(),
            chips: Vec::new(),
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
        let metric = run.metrics.value(name)?;
        Some(format!(
            "{} {}",
            noun(result, name),
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
        chips: Vec::new(),
    })
}

/// How to say what a metric measures.
fn noun(result: &Comparison, metric: &str) -> String {
    let noun = phrase::noun(metric);
    match result.modelled_power && phrase::of_power(metric) {
        true => format!("{} {noun}", phrase::MODELLED),
        false => noun.to_owned(),
    }
}

/// What the other policy does to each important metric: a saving and its price side by side.
fn chips(result: &Comparison, policy: &str) -> Vec<Chip> {
    let own = |name: &&str| {
        let of = |d: &&Delta| d.metric == **name && d.other == policy;
        result.deltas().iter().find(of)
    };
    let chip = |delta: &Delta| {
        let word = difference(delta);
        Some(Chip {
            label: label(result, &delta.metric),
            figure: figure(result, delta).filter(|_| !word.is_empty())?,
            word: badge(word),
            tone: tone(word),
        })
    };
    let key = key_metrics(result);
    key.iter().filter_map(own).filter_map(chip).collect()
}

/// The change in percent; of nothing there are none. None: it is not known.
pub(super) fn figure(result: &Comparison, delta: &Delta) -> Option<String> {
    let base = || result.runs[0].metrics.value(&delta.metric)?.mean;
    match delta.delta_pct {
        Some(pct) => Some(figures::change(pct)),
        None => (base() == Some(0.0)).then(|| number::FROM_ZERO.to_owned()),
    }
}

/// A metric in words, and that nobody measured what it is made of.
pub(super) fn label(result: &Comparison, metric: &str) -> String {
    match result.modelled_power && phrase::of_power(metric) {
        true => format!("{}, {}", plain(metric), phrase::MODELLED),
        false => plain(metric),
    }
}

/// A verdict's word for a badge: good with something worse beside it has a price.
pub(super) fn verdict_badge(verdict: &Verdict) -> String {
    match has_price(verdict) {
        true => "better, at a price".to_owned(),
        false => badge(&verdict.difference),
    }
}

/// The class of what a verdict says; with a price it is not that of good.
pub(super) fn verdict_tone(verdict: &Verdict) -> &'static str {
    match has_price(verdict) {
        true => "other",
        false => tone(&verdict.difference),
    }
}

/// Better in what it was judged by, with something else worse.
fn has_price(verdict: &Verdict) -> bool {
    verdict.difference == Difference::Better.word() && !verdict.worse.is_empty()
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

/// The change, and from what to what.
fn change_tile(result: &Comparison, delta: &Delta, difference: &str) -> Tile {
    let base = &result.runs[0];
    let mean = |run: &Run| {
        let metric = run.metrics.value(&delta.metric)?;
        Some(unit(metric.mean?, &metric.unit))
    };
    let other = result.runs.iter().find(|run| run.policy == delta.other);
    let both = mean(base).zip(other.and_then(mean));
    let mut below = phrase::short_policy(&base.policy, &delta.other);
    if let Some((from, to)) = both {
        below += &format!(": {from} → {to}");
    }
    if let Some(ci) = figures::interval(ends(delta.ci95)) {
        below += &format!(", 95\u{a0}% CI {ci}");
    }
    Tile {
        figure: figure(result, delta).unwrap_or_else(|| "–".to_owned()),
        label: label(result, &delta.metric),
        raw: delta.metric.clone(),
        below,
        tone: tone(difference),
    }
}

/// A metric without a change: its mean and half of its 95 % interval, or what the metric is.
fn figure_tile(result: &Comparison, name: &str, metric: &Metric) -> Tile {
    Tile {
        figure: metric
            .mean
            .map_or_else(|| "–".to_owned(), |mean| unit(mean, &metric.unit)),
        label: label(result, name),
        raw: name.to_owned(),
        below: match (metric.ci95, find_metric(name)) {
            (Some(ci), _) => format!("±\u{a0}{}", number::short(ci)),
            (None, Ok(def)) => def.doc.to_owned(),
            (None, Err(_)) => String::new(),
        },
        tone: "other",
    }
}

/// Every section that the result has figures for, in the page's order.
fn all_sections(id: &str, result: &Comparison) -> Vec<Section> {
    let base = &result.runs[0];
    let several = result.runs.len() > 1;
    let mut all = Vec::new();
    if several {
        all.push(differences(id, result));
        all.extend(why::section(id, result));
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
        modelled: result.modelled_power,
        policies: policies.collect(),
    };
    all.extend(sections(id, &[shown]));
    let lines = result
        .runs
        .iter()
        .filter_map(|run| Some((run, run.timeline.as_ref()?)));
    all.extend(timeline::section(id, &lines.collect::<Vec<_>>()));
    all.extend(lines::section(id, &result.runs));
    all.extend(cases::of_runs(id, &result.runs));
    all.push(tables::all(id, result));
    all.push(repeat::of_comparison(id, result));
    all
}

/// The changes against the base with their intervals, as a dot plot.
fn differences(id: &str, result: &Comparison) -> Section {
    let base = &result.runs[0].policy;
    let key = key_metrics(result);
    let dot = |delta: &Delta| {
        Some(Dot {
            row: label(result, &delta.metric),
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
            .deltas()
            .iter()
            .filter(move |delta| delta.metric == **name);
        own.filter_map(dot)
    });
    let chart = changes(
        format!("{id}-changes"),
        ("Change from the base", "metric"),
        "Points with intervals: change of each important metric from the base policy, in percent. \
         The table below has the figures.",
        dots.collect(),
    );
    let mut blocks: Vec<Block> = chart.map(Block::Chart).into_iter().collect();
    blocks.push(Block::Table(tables::important(id, result, &key)));
    let is_key = |delta: &&Delta| key.contains(&delta.metric.as_str());
    let mut read = result.deltas().iter().filter(is_key);
    if read.any(|delta| goes_apart(result, delta)) {
        let text = phrase::WHY_APART.to_owned();
        blocks.push(Block::Text { text });
    }
    Section {
        id: format!("{id}-differences"),
        title: "What differs".to_owned(),
        lead: format!("Every policy beside {base}, the base."),
        blocks,
    }
}
