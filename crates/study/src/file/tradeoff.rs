//! Energy against latency, from a study's `[tradeoff]` table.

use super::raw::{RawTradeoff, Text};
use super::values::{at, position};
use super::{StudyFile, Tradeoff};
use crate::error::Flaw;
use toml::Spanned;
use wakeplace_metrics::find_metric;

pub(super) fn tradeoff(raw: &RawTradeoff, file: &StudyFile) -> Result<Tradeoff, Flaw> {
    let column = |text: &Text| {
        let names = file.columns.iter().map(|column| column.name.as_str());
        position(text, "column", names)
    };
    let metric = |text: &Text| {
        find_metric(text.get_ref())
            .map(|def| def.name.to_owned())
            .map_err(|e| Flaw::new(at(text), e.to_string(), "expected a metric"))
    };
    let rivals: Vec<usize> = raw.rivals.iter().map(column).collect::<Result<_, _>>()?;
    let ours = column(&raw.ours)?;
    if let Some(own) = rivals.iter().position(|rival| *rival == ours) {
        let place = at(&raw.rivals[own]);
        let problem = "a column that is its own rival".to_owned();
        return Err(Flaw::new(place, problem, "expected another column"));
    }
    Ok(Tradeoff {
        ours,
        rivals,
        energy: metric(&raw.energy)?,
        latency: metric(&raw.latency)?,
        time: raw.time.iter().map(metric).collect::<Result<_, _>>()?,
        energy_pct: margin(&raw.energy_pct)?,
        latency_pct: margin(&raw.latency_pct)?,
        groups: raw.groups.iter().map(|key| key.get_ref().clone()).collect(),
    })
}

fn margin(value: &Spanned<f64>) -> Result<f64, Flaw> {
    let number = *value.get_ref();
    if (0.0..=100.0).contains(&number) {
        return Ok(number);
    }
    let problem = format!("{number} percent");
    Err(Flaw::new(at(value), problem, "expected 0.0 to 100.0"))
}
