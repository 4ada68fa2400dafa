//! Published figures of a study and the cell its platform is calibrated on.

use super::raw::{RawPublished, RawStudy, Text};
use super::values::{at, position, sentence};
use super::{Cell, Figure, StudyFile, TOTAL_ENERGY};
use crate::Published;
use crate::error::Flaw;
use toml::Spanned;

/// Enters the published figures and their sources.
pub(super) fn published(list: &[RawPublished], file: &mut StudyFile) -> Result<(), Flaw> {
    for raw in list {
        let cell = cell(&raw.case, &raw.policy, &raw.metric, file)?;
        if file.published(&cell).is_some() {
            let problem = "this case, policy and metric has a published figure already";
            return Err(Flaw::new(at(&raw.case), problem, "expected one"));
        }
        let mean = finite(&raw.mean)?;
        let rsd_pct = raw.rsd_pct.as_ref().map(finite).transpose()?;
        if let (Some(rsd), Some(place)) = (rsd_pct, &raw.rsd_pct)
            && rsd < 0.0
        {
            return Err(Flaw::new(
                at(place),
                "a spread below 0",
                "expected 0 or more",
            ));
        }
        let source = raw.source.as_ref().map(sentence).transpose()?;
        if let Some(source) = source.filter(|source| !file.sources.contains(source)) {
            file.sources.push(source);
        }
        let value = Published { mean, rsd_pct };
        file.published.push(Figure { cell, value });
    }
    Ok(())
}

/// Enters the calibrated cell: a published total that the platform file names too.
pub(super) fn calibration(raw: &RawStudy, file: &mut StudyFile) -> Result<(), Flaw> {
    let on = file.platform.board.as_ref();
    let on = on.and_then(|board| board.calibrated_on.clone());
    let ours = on.filter(|on| on.starts_with(&format!("{}/", file.name)));
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

fn cell(case: &Text, policy: &Text, metric: &Text, file: &StudyFile) -> Result<Cell, Flaw> {
    let tokens = file.cases.iter().map(|case| case.token.as_str());
    let names = file.policies.iter().map(|policy| policy.name());
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
