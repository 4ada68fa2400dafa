//! What a study's figures mean, from the templates of its file.
//!
//! Counted are the study's own cases; variants, experiments and calibrated cells are not
//! (studies/README.md).
//!
//! What must stay: words in braces are those of study files, and they are checked when a file is
//! read; changes are percent; no direction is decided here (`direction.rs`). The verdict is a part
//! of the JSON, its words may change. Tests by part: `changes_become_words` (`range`, `percents`),
//! `directions_are_counted_by_the_rule` (`words`), `what_may_be_chance_is_no_part_of_the_range`
//! (`told`), `templates_are_checked` (`check`),
//! study/tests.rs::`the_cell_the_platform_names_is_marked` (`distances`, `fill`),
//! study/tests.rs::`a_change_published_without_means_stands_as_a_change` (`verdict`).
//!
//! Tests: below, crates/study/src/study/tests.rs

use crate::direction::Direction;
use crate::error::Flaw;
use crate::file::StudyFile;
use std::collections::BTreeMap;
use wakeplace_metrics::Equivalence;
use wakeplace_outcome::Row;

/// Words in braces that need no published figures.
const ALWAYS: [&str; 4] = ["base", "policy", "change", "where_seen"];
/// Words in braces that need them.
const PUBLISHED: [&str; 3] = ["published_change", "agree", "compared"];
/// Words in braces that need published means.
const MEANS: [&str; 4] = [
    "checked",
    "distance_mean",
    "distance_max",
    "distance_max_cell",
];

/// What was published of a metric.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Known {
    /// Anything: changes can be compared.
    pub(crate) published: bool,
    /// Means: distances can be told.
    pub(crate) means: bool,
}

/// Checks a template at byte offset `at`: braces close, and what they name exists.
pub(crate) fn check(template: &str, known: Known, at: usize) -> Result<(), Flaw> {
    for piece in template.split('{').skip(1) {
        let Some((word, _)) = piece.split_once('}') else {
            let problem = "a `{` without `}` in the verdict";
            return Err(Flaw::new(at, problem, "expected `{NAME}`"));
        };
        if ALWAYS.contains(&word)
            || (known.published && PUBLISHED.contains(&word))
            || (known.means && MEANS.contains(&word))
        {
            continue;
        }
        if MEANS.contains(&word) && known.published {
            let problem = format!("`{{{word}}}` in the verdict of a metric without means");
            let expected = "expected a [[published]] `mean` of the metric";
            return Err(Flaw::new(at, problem, expected));
        }
        if MEANS.contains(&word) || PUBLISHED.contains(&word) {
            let problem = format!("`{{{word}}}` in the verdict of a metric nobody published");
            return Err(Flaw::new(
                at,
                problem,
                "expected a [[published]] figure of the metric",
            ));
        }
        let all = ALWAYS.into_iter().chain(PUBLISHED).chain(MEANS);
        return Err(Flaw::unknown(at, "word in the verdict", word, all));
    }
    Ok(())
}

/// The verdict: a line per metric with a template and per policy that is not the base. A
/// difference is told where its interval lies beyond the margin.
pub(crate) fn verdict(file: &StudyFile, rows: &[Row], margin_pct: f64) -> String {
    let own = |row: &&Row| row.experiment().is_none() && row.variant().is_none();
    let mut lines = Vec::new();
    for metric in &file.metrics {
        let Some(template) = &metric.verdict else {
            continue;
        };
        let of_metric = |row: &&Row| row.metric == metric.name;
        let rows: Vec<&Row> = rows.iter().filter(own).filter(of_metric).collect();
        for column in &file.columns[1..] {
            let names = (file.columns[0].name.as_str(), column.name.as_str());
            let words = words(names, &rows, margin_pct);
            lines.extend(words.map(|words| fill(template, &words)));
        }
    }
    if lines.is_empty() {
        return if file.metrics.iter().all(|metric| metric.verdict.is_none()) {
            "no verdict: the study draws none, see its tables".to_owned()
        } else {
            "no verdict: what it is about was not measured".to_owned()
        };
    }
    lines.join("\n")
}

/// The template with its words in the place of `{WORD}`.
fn fill(template: &str, words: &BTreeMap<&str, String>) -> String {
    let mut text = template.to_owned();
    for (word, value) in words {
        text = text.replace(&format!("{{{word}}}"), value);
    }
    text
}

/// The words for one metric and policy; None without a change to speak of.
fn words(
    (base, policy): (&str, &str),
    rows: &[&Row],
    margin_pct: f64,
) -> Option<BTreeMap<&'static str, String>> {
    let ours: Vec<&&Row> = rows.iter().filter(|row| row.policy == policy).collect();
    let published: Vec<f64> = ours
        .iter()
        .filter_map(|row| row.published_delta_pct)
        .collect();
    let directions: Vec<_> = ours
        .iter()
        .filter_map(|row| Direction::of_row(row))
        .collect();
    let of = |wanted| directions.iter().filter(|other| **other == wanted).count();
    let (agree, apart) = (of(Direction::Right), of(Direction::Wrong));
    let deltas = ours
        .iter()
        .filter_map(|row| Some((row.simulated_delta_pct?, row.simulated_delta_ci95)));
    let (change, where_seen) = told(&deltas.collect::<Vec<_>>(), margin_pct)?;
    let mut words = BTreeMap::from([
        ("base", base.to_owned()),
        ("policy", policy.to_owned()),
        ("change", change),
        ("where_seen", where_seen),
        (
            "published_change",
            range(&published).unwrap_or_else(|| "nothing".to_owned()),
        ),
        ("agree", agree.to_string()),
        ("compared", (agree + apart).to_string()),
    ]);
    words.extend(distances(rows));
    Some(words)
}

/// A change in percent with its 95 % interval, if there is one.
type Delta = (f64, Option<(f64, f64)>);

/// The changes whose intervals lie beyond the margin as words, and in which cases they do. None
/// without changes.
fn told(deltas: &[Delta], margin_pct: f64) -> Option<(String, String)> {
    let all: Vec<f64> = deltas.iter().map(|delta| delta.0).collect();
    let cases = all.len();
    if deltas.iter().all(|delta| delta.1.is_none()) {
        let plural = if cases == 1 { "" } else { "s" };
        let places = format!("in {cases} case{plural} (one seed, so chance is not ruled out)");
        return Some((range(&all)?, places));
    }
    let beside = |delta: &Delta| {
        delta
            .1
            .map(|interval| Equivalence::of(interval, margin_pct))
    };
    let is_told = |delta: &&Delta| beside(delta) == Some(Equivalence::Different);
    let told: Vec<f64> = deltas.iter().filter(is_told).map(|delta| delta.0).collect();
    let is_open = |delta: &&Delta| matches!(beside(delta), None | Some(Equivalence::Inconclusive));
    let open = deltas.iter().filter(is_open).count();
    let any = match cases {
        1 => "in the 1 case".to_owned(),
        cases => format!("in any of {cases} cases"),
    };
    Some(match (range(&told), open) {
        (Some(change), _) => {
            let places = format!(
                "in the {} of {cases} cases where a difference beyond the margin of {margin_pct} % \
                 is told",
                told.len()
            );
            (change, places)
        }
        (None, 0) => {
            let places = format!("beyond the margin of {margin_pct} % {any}");
            ("neither less nor more".to_owned(), places)
        }
        (None, open) => {
            let places = format!("{any} ({open} not told beyond the margin of {margin_pct} %)");
            ("not demonstrably less or more".to_owned(), places)
        }
    })
}

/// How far the simulated means lie from the published, over all policies.
fn distances(rows: &[&Row]) -> [(&'static str, String); 4] {
    let checks = rows.iter().copied().filter(|row| !row.calibrated);
    let all: Vec<(f64, &Row)> = checks
        .filter_map(|row| Some((row.distance_pct()?.abs(), row)))
        .collect();
    let sum = all.iter().fold(0.0, |sum, (distance, _)| sum + distance);
    let max = all.iter().max_by(|a, b| a.0.total_cmp(&b.0));
    let percent = |value: Option<f64>| value.map_or_else(|| "-".into(), |v| format!("{v:.1} %"));
    let mean = (!all.is_empty()).then(|| sum / all.len() as f64);
    let cell = max.map(|(_, row)| format!("case {}, {}", row.case, row.policy));
    [
        ("checked", all.len().to_string()),
        ("distance_mean", percent(mean)),
        ("distance_max", percent(max.map(|(distance, _)| *distance))),
        ("distance_max_cell", cell.unwrap_or_else(|| "-".to_owned())),
    ]
}

/// Below this a change in percent is shown as 0.0.
pub const SHOWN_PCT: f64 = 0.05;

/// Changes in percent as words: `0.3 to 13.4 % less`. None without changes. Those from a base of 0
/// are infinite, and told by their sides.
fn range(changes: &[f64]) -> Option<String> {
    let (from_zero, finite): (Vec<f64>, Vec<f64>) = changes.iter().partition(|c| c.is_infinite());
    let sides = [(f64::INFINITY, "more"), (f64::NEG_INFINITY, "less")];
    let sides = sides.iter().filter(|side| from_zero.contains(&side.0));
    let sides: Vec<String> = sides.map(|(_, word)| format!("{word} from 0")).collect();
    let parts: Vec<String> = percents(&finite).into_iter().chain(sides).collect();
    (!parts.is_empty()).then(|| parts.join(" and "))
}

/// A range of changes in words; None: there are none.
fn percents(changes: &[f64]) -> Option<String> {
    let low = changes.iter().copied().reduce(f64::min)?;
    let high = changes.iter().copied().reduce(f64::max)?;
    let side = |value: f64| if value < 0.0 { "less" } else { "more" };
    if low.abs() < SHOWN_PCT && high.abs() < SHOWN_PCT {
        return Some("hardly more or less".to_owned());
    }
    if low <= -SHOWN_PCT && high >= SHOWN_PCT {
        return Some(format!("from {:.1} % less to {high:.1} % more", low.abs()));
    }
    let (mut near, mut far) = (low, high);
    if near.abs() > far.abs() {
        (near, far) = (far, near);
    }
    let (near, side) = (format!("{:.1}", near.abs()), side(far));
    let far = format!("{:.1}", far.abs());
    if near == "0.0" {
        return Some(format!("up to {far} % {side}"));
    }
    if near == far {
        return Some(format!("{far} % {side}"));
    }
    Some(format!("{near} to {far} % {side}"))
}

#[cfg(test)]
mod tests {
    use super::{Known, check, range, told};
    use wakeplace_outcome::Row;

    #[test]
    fn changes_become_words() {
        let words = |changes: &[f64]| range(changes).unwrap();
        assert_eq!(words(&[-13.39, -0.32, -5.92]), "0.3 to 13.4 % less");
        assert_eq!(words(&[2.04, 2.01]), "2.0 % more");
        assert_eq!(words(&[-2.0, 3.0]), "from 2.0 % less to 3.0 % more");
        assert_eq!(words(&[0.01, -0.01]), "hardly more or less");
        assert_eq!(words(&[0.01, -3.0]), "up to 3.0 % less");
        assert_eq!(range(&[]), None);
        assert_eq!(
            words(&[2.0, f64::INFINITY]),
            "2.0 % more and more from 0",
            "a change from 0 has no percent"
        );
        assert_eq!(words(&[f64::NEG_INFINITY]), "less from 0");
    }

    /// Goal: what is counted as agreeing is what `cargo xtask published` calls right, and compared
    /// what is right or wrong there.
    #[test]
    fn directions_are_counted_by_the_rule() {
        let row = |published, ci95, calibrated| Row {
            metric: "energy_j".to_owned(),
            policy: "new".to_owned(),
            published_delta_pct: Some(published),
            simulated_delta_pct: Some(1.0),
            simulated_delta_ci95: ci95,
            calibrated,
            ..Row::default()
        };
        let rows = [
            row(13.0, Some((0.1, 2.0)), false),
            row(-0.2, Some((0.1, 2.0)), false), // says that nothing changes, and nothing does
            row(-13.0, Some((0.1, 2.0)), false), // wrong
            row(0.2, Some((1.5, 2.0)), false),  // wrong: beyond 1 %
            row(13.0, Some((-1.0, 2.0)), false), // not told
            row(13.0, None, false),             // not told
            row(13.0, Some((0.1, 2.0)), true),  // no check
        ];
        let rows: Vec<&Row> = rows.iter().collect();
        let words = super::words(("old", "new"), &rows, 1.0).unwrap();
        assert_eq!([&words["agree"], &words["compared"]], ["2", "4"]);
    }

    #[test]
    fn what_may_be_chance_is_no_part_of_the_range() {
        let words = |deltas: &[super::Delta]| {
            let (change, places) = told(deltas, 1.0).unwrap();
            format!("{change} {places}")
        };
        let clear = |delta: f64| (delta, Some((delta - 0.1, delta + 0.1)));
        let unclear = (1.0, Some((-1.0, 3.0)));
        assert_eq!(
            words(&[clear(-5.6), unclear, clear(-21.5)]),
            "5.6 to 21.5 % less in the 2 of 3 cases where a difference beyond the margin of 1 % \
             is told"
        );
        assert_eq!(
            words(&[clear(2.0)]),
            "2.0 % more in the 1 of 1 cases where a difference beyond the margin of 1 % is told"
        );
        let small = (0.6, Some((0.4, 0.8)));
        assert_eq!(
            words(&[small]),
            "neither less nor more beyond the margin of 1 % in the 1 case"
        );
        assert_eq!(
            words(&[small, small]),
            "neither less nor more beyond the margin of 1 % in any of 2 cases"
        );
        assert_eq!(
            words(&[unclear, unclear, small]),
            "not demonstrably less or more in any of 3 cases (2 not told beyond the margin of 1 %)"
        );
        assert_eq!(
            words(&[(-3.0, None)]),
            "3.0 % less in 1 case (one seed, so chance is not ruled out)"
        );
        assert_eq!(told(&[], 1.0), None);
    }

    #[test]
    fn templates_are_checked() {
        let nothing = Known::default();
        let changes = Known {
            published: true,
            means: false,
        };
        let both = Known {
            means: true,
            ..changes
        };
        assert!(check("{policy}: {change}", nothing, 0).is_ok());
        assert!(check("{agree}", changes, 0).is_ok());
        assert!(check("{distance_mean}", both, 0).is_ok());
        let error = |template, known| {
            check(template, known, 0)
                .unwrap_err()
                .locate("f", "")
                .to_string()
        };
        assert!(error("{agree}", nothing).contains("nobody published"));
        assert!(error("{checked}", nothing).contains("nobody published"));
        assert!(error("{checked}", changes).contains("without means"));
        assert!(error("{chnge}", nothing).contains("did you mean `change`?"));
        assert!(error("{change", nothing).contains("without `}`"));
    }
}
