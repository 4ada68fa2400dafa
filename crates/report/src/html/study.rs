//! A page's part for a study (docs/guide/report.md).
//!
//! What must stay: metrics and rows stand in the study's order; nothing is judged here: the
//! sentences are those of the study's verdict. Words and looks may change. Tests by part:
//! `the_json_of_a_study_is_read_back` (`view`, `answer`, `figures`),
//! `results_of_version_1_are_read` (`all_sections`, an old study), `a_study_has_its_page` (a page
//! of a run and of its JSON), the first also `platforms`, `metrics` and `tiles`.
//!
//! Callers: mod.rs (`view`).
//!
//! Tests: crates/report/src/html/tests.rs, crates/cli/tests/all/report.rs::a_study_has_its_page

use super::charts::once;
use super::details::{Of, Shown, sections};
use super::figures::{self, minus};
use super::lengths;
use super::rows::{charts, label, rows_table};
use super::view::{Answer, Block, ResultView, Section, Sentence, Tile};
use super::{cases, repeat, sensitivity};
use crate::comparison::expected_by_chance;
use crate::{number, phrase};
use wakeplace_outcome::{Row, Study};

/// A study's part of the page, from its title to the command.
pub(super) fn view(id: &str, result: &Study, name: &str) -> ResultView {
    let mut facts = vec![result.study.clone()];
    facts.extend(platforms(result).into_iter().map(str::to_owned));
    facts.push(lengths::of_study(result));
    facts.push(number::seeds(&result.seeds));
    if result.quick {
        facts.push("reduced size".to_owned());
    }
    let shown = |(key, value): &(String, String)| format!("{key}={value}");
    facts.extend(result.settings.iter().map(shown));
    let title = if result.title.is_empty() {
        &result.study
    } else {
        &result.title
    };
    ResultView {
        id: id.to_owned(),
        kind: "Study",
        title: title.clone(),
        name: name.to_owned(),
        facts,
        answer: answer(result),
        sections: all_sections(id, result),
    }
}

/// The platforms of the study and of its cases, each once, the study's first.
fn platforms(result: &Study) -> Vec<&str> {
    let cases = result.cases.iter().map(|case| &case.platform);
    once([&result.platform].into_iter().chain(cases))
}

/// Metrics in the order of their first row, without those of the wake-up cases.
fn metrics(result: &Study) -> Vec<&str> {
    let rows = result.rows.iter().filter(|row| !cases::holds(&row.metric));
    once(rows.map(|row| &row.metric))
}

/// What the study found, in the sentences of its verdict.
fn answer(result: &Study) -> Answer {
    let sentence = |line: &str| Sentence {
        text: minus(line),
        tone: "other",
        badge: String::new(),
        chips: Vec::new(),
    };
    let seeds = match result.seeds.len() {
        1 => "One seed: chance is not ruled out.".to_owned(),
        n => format!(
            "{n} seeds; the same for every policy, and changes are taken seed by seed with their \
             95 % confidence interval."
        ),
    };
    let mut sure = vec![seeds];
    if let Some(margin) = result.margin_pct {
        sure.push(format!(
            "A difference is told where the interval lies beyond the margin of {margin} %; none \
             that matters where it lies inside."
        ));
    }
    let shown = result.multiplicity.map(|shown| shown.intervals);
    sure.extend(shown.and_then(expected_by_chance));
    if result.rows.iter().any(|row| row.calibrated) {
        sure.push(
            "Rows marked * are no check: the platform's board power or an argument of the workload \
             is calibrated on their published figure."
                .to_owned(),
        );
    }
    if let Some(tried) = &result.sensitivity {
        let flips = tried.iter().filter(|row| row.flips).count();
        sure.push(match flips {
            0 => "No conclusion changes with any assumed cost halved or doubled.".to_owned(),
            n => format!(
                "{n} of {} conclusions change with an assumed cost halved or doubled.",
                tried.len()
            ),
        });
    }
    Answer {
        sentences: result.verdict.lines().map(sentence).collect(),
        tiles: tiles(result),
        sure,
        warnings: result.notes.clone(),
    }
}

/// The range of changes of the first metric, per policy.
fn tiles(result: &Study) -> Vec<Tile> {
    let Some(metric) = metrics(result).first().copied() else {
        return Vec::new();
    };
    let ours = |row: &&Row| row.metric == metric && row.kind().is_empty();
    let rows: Vec<&Row> = result.rows.iter().filter(ours).collect();
    let policies = once(rows.iter().map(|row| &row.policy));
    let tile = |policy: &&str| {
        let own = || rows.iter().filter(|row| row.policy == **policy);
        let range = |all: Vec<f64>| {
            let low = all.iter().copied().reduce(f64::min)?;
            let high = all.iter().copied().reduce(f64::max)?;
            Some(match low == high {
                true => figures::change(low),
                false => figures::interval(Some((low, high)))?,
            })
        };
        let figure = range(own().filter_map(|row| row.simulated_delta_pct).collect())?;
        let published = range(own().filter_map(|row| row.published_delta_pct).collect());
        let short = phrase::short_policy(&result.base_policy, policy);
        Some(Tile {
            figure,
            label: format!("{}, {short}", label(&rows)),
            raw: metric.to_owned(),
            below: match published {
                Some(published) => format!("simulated; published {published}"),
                None => "simulated".to_owned(),
            },
            tone: "other",
        })
    };
    policies.iter().filter_map(tile).take(6).collect()
}

/// Every section that the result has figures for, in the page's order.
fn all_sections(id: &str, result: &Study) -> Vec<Section> {
    let mut all = vec![figures(id, result)];
    all.extend(cases::of_rows(id, &result.rows));
    all.extend(sensitivity::section_of(id, result));
    let names = once(result.profiles.iter().map(|profile| &profile.case));
    let shown = |case: &&str| Shown {
        case: (*case).to_owned(),
        modelled: { result.cases.iter() }.any(|own| own.case == **case && own.modelled_power),
        policies: { result.profiles.iter() }
            .filter(|profile| profile.case == **case)
            .map(|profile| Of {
                policy: phrase::short_policy(&result.base_policy, &profile.policy),
                details: &profile.details,
            })
            .collect(),
    };
    let shown: Vec<Shown<'_>> = names.iter().map(shown).collect();
    all.extend(sections(id, &shown));
    if !result.sources.is_empty() {
        all.push(Section {
            id: format!("{id}-sources"),
            title: "Sources of published figures".to_owned(),
            lead: String::new(),
            blocks: vec![Block::List {
                items: result.sources.clone(),
            }],
        });
    }
    all.push(repeat::of_study(id, result));
    all
}

/// Per metric: published beside simulated, changes, and rows without a published figure.
fn figures(id: &str, result: &Study) -> Section {
    let published = |row: &Row| row.published.is_some() || row.published_delta_pct.is_some();
    let has = result.rows.iter().any(published);
    let mut blocks = Vec::new();
    for (at, metric) in metrics(result).into_iter().enumerate() {
        let ours = |kind: &str| -> Vec<&Row> {
            let own = |row: &&Row| row.metric == metric && row.kind() == kind;
            result.rows.iter().filter(own).collect()
        };
        let id = format!("{id}-rows-{at}");
        blocks.extend(charts(&id, result, &ours("")).into_iter().map(Block::Chart));
        for (kind, word) in [
            ("", None),
            ("variants", Some("Variants")),
            ("experiments", Some("Experiments")),
        ] {
            let rows = ours(kind);
            if !rows.is_empty() {
                let mut table = rows_table(&id, result, kind, &rows);
                table.folded = word.map(|word| format!("{word}: {}", label(&rows)));
                blocks.push(Block::Table(table));
            }
        }
    }
    Section {
        id: format!("{id}-rows"),
        title: if has {
            "Published against simulated"
        } else {
            "Simulated figures"
        }
        .to_owned(),
        lead: match has {
            true => "What was measured on real machines beside what the simulation gives.",
            false => "Nothing was published for these cases.",
        }
        .to_owned(),
        blocks,
    }
}
