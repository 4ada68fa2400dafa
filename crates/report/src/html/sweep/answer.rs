//! What a page says first of a sweep: which points were chosen and why, what changes are from, and
//! what to know before believing the figures (docs/guide/report.md, "Sweeps").
//!
//! What must stay: which point is chosen is the result's, or follows from the rule that the page
//! says; warnings and notes are the result's. Words may change. Tests by part:
//! `a_sweep_has_its_pictures` (`nearest`), `a_page_says_what_was_chosen` (`chosen`, `sure`,
//! `warnings`), both also `answer`.
//!
//! Tests: crates/report/src/html/sweep/tests.rs

use super::front::Front;
use super::{MOST_CHOICES, figure, label};
use crate::html::figures::minus;
use crate::html::view::{Answer, Sentence};
use crate::points::{named, sentence, told};
use wakeplace_outcome::SweepChoice;
use wakeplace_text::count;

use super::points::{Point, Sweep};

/// The answer of a sweep; `front`: what the first two metrics cost each other.
pub(super) fn answer(sweep: &Sweep, front: Option<&Front>) -> Answer {
    let sentences = match (&sweep.result.choice, front) {
        (Some(choice), _) => chosen(sweep, choice),
        (None, Some(front)) => nearest(sweep, front),
        (None, None) => Vec::new(),
    };
    Answer {
        sentences,
        tiles: Vec::new(),
        sure: sure(sweep, front),
        warnings: warnings(sweep),
    }
}

/// Means of the first metrics of a point.
fn figures(sweep: &Sweep, point: &Point, metrics: &[usize]) -> String {
    let of = |metric: &usize| {
        let mean = point.mean(*metric)?;
        let mean = figure(sweep, *metric, mean);
        Some(format!("{} {mean}", label(sweep, *metric)))
    };
    metrics.iter().filter_map(of).collect::<Vec<_>>().join(", ")
}

/// What was chosen by conditions or by a metric, of each machine and load.
fn chosen(sweep: &Sweep, choice: &SweepChoice) -> Vec<Sentence> {
    let shown: Vec<usize> = (0..sweep.metrics.len().min(3)).collect();
    let one = |group: &wakeplace_outcome::ChosenPoint| {
        let point = group.chosen.and_then(|at| sweep.points.get(at));
        let name = point.map(|point| match group.group.is_empty() {
            true => sweep.shown(point),
            false => sweep.within(point),
        });
        let said = sentence(choice, group, name.as_deref());
        let text = match point {
            Some(point) if group.figures.is_empty() => {
                format!("{said} {}", figures(sweep, point, &shown))
            }
            Some(point) => format!("{said} {}", minus(&told(&group.figures, point.modelled))),
            None => said,
        };
        let (tone, badge) = match point {
            Some(_) => ("other", "chosen"),
            None => ("worse", "none"),
        };
        Sentence {
            text,
            tone,
            badge: badge.to_owned(),
            chips: Vec::new(),
        }
    };
    choice.groups.iter().take(MOST_CHOICES).map(one).collect()
}

/// What is nearest to the corner of both bests, of each machine and load.
fn nearest(sweep: &Sweep, front: &Front) -> Vec<Sentence> {
    let metrics = [front.metrics.0, front.metrics.1];
    let one = |(name, at): (&str, usize)| {
        let point = &sweep.points[at];
        let (place, point_name) = match front.groups.len() {
            1 => (String::new(), sweep.shown(point)),
            _ => (format!("{name}: "), sweep.within(point)),
        };
        Sentence {
            text: format!(
                "{place}{point_name} is nearest to the best of both: {}",
                figures(sweep, point, &metrics)
            ),
            tone: "other",
            badge: "chosen".to_owned(),
            chips: Vec::new(),
        }
    };
    let groups = front.groups.iter();
    let chosen = groups.filter_map(|group| Some((group.name.as_str(), group.chosen?)));
    chosen.take(MOST_CHOICES).map(one).collect()
}

/// How a point is chosen, and what figures and changes are.
fn sure(sweep: &Sweep, front: Option<&Front>) -> Vec<String> {
    let result = &sweep.result;
    let mut sure = Vec::new();
    if let Some(front) = front {
        let corner = match result.choice {
            Some(_) => "",
            None => {
                " The chosen one is nearest to the corner where both are as good as on the \
                     front's ends, each scaled to the front."
            }
        };
        sure.push(format!(
            "A point is on the front if no other one of its machine and load is better in one of \
             both and not worse in the other: {}; {}.{corner}",
            label(sweep, front.metrics.0),
            label(sweep, front.metrics.1)
        ));
    }
    if let Some(base) = &result.base {
        let values: Vec<String> = base.iter().map(|(key, value)| named(key, value)).collect();
        let margin = result.margin_pct;
        let margin = margin.map_or_else(String::new, |pct| format!(" of {pct} %"));
        sure.push(format!(
            "Changes are from the point with {} and else the same, seed by seed. A difference is \
             told where its 95 % interval lies beyond the margin{margin}.",
            values.join(", ")
        ));
    }
    sure.push(
        "Figures are means over the seeds, whiskers their 95 % confidence intervals. Points whose \
         intervals overlap may not be told apart."
            .to_owned(),
    );
    sure.extend(result.notes.iter().cloned());
    sure
}

/// Warnings of the runs, and how many have no result.
fn warnings(sweep: &Sweep) -> Vec<String> {
    let mut all = sweep.result.warnings.clone();
    let failed: u64 = sweep.points.iter().map(|point| point.failed).sum();
    match usize::try_from(failed).unwrap_or(usize::MAX) {
        0 => {}
        failed => all.push(format!(
            "{} could not be made or got stuck",
            count(failed, "run")
        )),
    }
    all
}
