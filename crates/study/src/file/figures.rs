//! Published figures of a study and what is calibrated on them (studies/README.md).
//!
//! What must stay: published figures change no run; they stand beside the simulated ones. A cell
//! that something was calibrated on is marked and never judged, and platform and study name the
//! same cell. Units are the metric's, spreads percent. Tests by part:
//! `rules_of_columns_cases_and_sensitivity_hold` (`value`, `cell`, `spread`),
//! `a_figure_may_calibrate_an_argument_that_the_workload_gives` (`calibrates`),
//! `a_calibrated_cell_must_be_published` (`calibration`), `rules_hold` (`finite`),
//! `verdicts_about_what_was_published_need_it` (`published`).
//!
//! Tests: crates/study/src/file/tests.rs

use super::raw::{RawPublished, RawStudy, Text};
use super::values::{at, position, sentence};
use super::{Cell, Figure, FigureValue, StudyFile, TOTAL_ENERGY};
use crate::error::Flaw;
use crate::outcome::PublishedChange;
use toml::Spanned;

/// Enters the published figures and their sources.
pub(super) fn published(list: &[RawPublished], file: &mut StudyFile) -> Result<(), Flaw> {
    for raw in list {
        let cell = cell(&raw.case, &raw.policy, &raw.metric, file)?;
        if file.figure(&cell).is_some() {
            let problem = "this case, policy and metric has a published figure already";
            return Err(Flaw::new(at(&raw.case), problem, "expected one"));
        }
        let value = value(raw, cell.policy == 0)?;
        let source = raw.source.as_ref().map(sentence).transpose()?;
        if let Some(source) = source.filter(|source| !file.sources.contains(source)) {
            file.sources.push(source);
        }
        let calibrates = calibrates(raw, &cell, file)?;
        file.published.push(Figure {
            cell,
            value,
            calibrates,
        });
    }
    Ok(())
}

/// The argument that the figure set: one that the case's workload gives, by a mean.
fn calibrates(raw: &RawPublished, cell: &Cell, file: &StudyFile) -> Result<Option<String>, Flaw> {
    let Some(text) = &raw.calibrates else {
        return Ok(None);
    };
    if raw.mean.is_none() {
        let problem = "a change calibrates an argument";
        return Err(Flaw::new(at(text), problem, "expected a `mean`"));
    }
    let workload = &file.cases[cell.case].workload.name;
    let given = workload.split_once(':').map_or("", |(_, given)| given);
    let names = given.split(',').filter_map(|pair| pair.split_once('='));
    let names = names.map(|(name, _)| name.trim());
    if names.clone().any(|name| name == text.get_ref()) {
        return Ok(Some(text.get_ref().clone()));
    }
    let what = "argument that the case's workload gives";
    Err(Flaw::unknown(at(text), what, text.get_ref(), names))
}

/// A mean, or a change from the base without means.
fn value(raw: &RawPublished, base: bool) -> Result<FigureValue, Flaw> {
    let rsd_pct = raw.rsd_pct.as_ref().map(spread).transpose()?;
    match (&raw.mean, &raw.delta_pct, &raw.base_rsd_pct) {
        (Some(mean), None, None) => Ok(FigureValue::Mean(wakeplace_outcome::Figure {
            mean: finite(mean)?,
            rsd_pct,
            n: None,
        })),
        (None, Some(delta), _) if base => {
            let problem = "a change of the base from itself";
            Err(Flaw::new(at(delta), problem, "expected a `mean`"))
        }
        (None, Some(delta), of_base) => Ok(FigureValue::Change(PublishedChange {
            delta_pct: finite(delta)?,
            rsd_pct,
            base_rsd_pct: of_base.as_ref().map(spread).transpose()?,
        })),
        (Some(_), None, Some(of_base)) => {
            let problem = "the spread of the base beside a mean";
            let expected = "expected it as `rsd_pct` of the base's own figure";
            Err(Flaw::new(at(of_base), problem, expected))
        }
        (Some(_), Some(delta), _) => {
            let problem = "a mean and a change";
            Err(Flaw::new(at(delta), problem, "expected one of the two"))
        }
        (None, None, _) => {
            let problem = "a published figure without a value";
            let expected = "expected `mean`, or `delta_pct` where only a change was published";
            Err(Flaw::new(at(&raw.case), problem, expected))
        }
    }
}

/// A relative standard deviation in percent, 0 or more.
fn spread(value: &Spanned<f64>) -> Result<f64, Flaw> {
    let rsd = finite(value)?;
    if rsd < 0.0 {
        let problem = "a spread below 0";
        return Err(Flaw::new(at(value), problem, "expected 0 or more"));
    }
    Ok(rsd)
}

/// Enters the calibrated cell: a published total that the platform file names too.
pub(super) fn calibration(raw: &RawStudy, file: &mut StudyFile) -> Result<(), Flaw> {
    let boards = file.platforms.iter().filter_map(|p| p.board.as_ref());
    let mut on = boards.filter_map(|board| board.calibrated_on.clone());
    let ours = on.find(|on| on.starts_with(&format!("{}/", file.name)));
    let Some(raw_cell) = &raw.calibration else {
        return match ours {
            None => Ok(()),
            Some(on) => {
                let problem = format!("the platform is calibrated on `{on}`");
                let expected = "expected a [calibration] that names the cell";
                Err(Flaw::new(at(&raw.platform), problem, expected))
            }
        };
    };
    let cell = cell(&raw_cell.case, &raw_cell.policy, &raw_cell.metric, file)?;
    let place = at(&raw_cell.case);
    if cell.metric != TOTAL_ENERGY || file.published(&cell).is_none() {
        let expected = format!("expected a cell of `{TOTAL_ENERGY}` with a published figure");
        return Err(Flaw::new(place, "nothing to calibrate on", expected));
    }
    let name = file.cell_name(&cell);
    if let Some(on) = ours.filter(|on| *on != name) {
        let problem = format!("the cell is `{name}`, but the platform is calibrated on `{on}`");
        return Err(Flaw::new(
            place,
            problem,
            "expected the same cell in both files",
        ));
    }
    file.calibration = Some(cell);
    Ok(())
}

/// The cell of a case, policy and metric, which the study has.
fn cell(case: &Text, policy: &Text, metric: &Text, file: &StudyFile) -> Result<Cell, Flaw> {
    let tokens = file.cases.iter().map(|case| case.token.as_str());
    let names = file.columns.iter().map(|column| column.name.as_str());
    let metrics = file.metrics.iter().map(|shown| shown.name.as_str());
    Ok(Cell {
        case: position(case, "case", tokens)?,
        policy: position(policy, "policy", names)?,
        metric: {
            position(metric, "metric", metrics)?;
            metric.get_ref().clone()
        },
    })
}

/// A number that is one; a published figure may be below 0.
fn finite(value: &Spanned<f64>) -> Result<f64, Flaw> {
    let number = *value.get_ref();
    if number.is_finite() {
        return Ok(number);
    }
    Err(Flaw::new(
        at(value),
        format!("{number} is no figure"),
        "expected a finite number",
    ))
}
