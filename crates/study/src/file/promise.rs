//! What a study promises, from its `[promise]` table.

use super::raw::{RawFeature, RawPromise, Text};
use super::values::{at, position};
use super::{Feature, Promise, StudyFile};
use crate::error::Flaw;
use toml::Spanned;
use wakeplace_metrics::find_metric;

pub(super) fn promise(raw: &RawPromise, file: &StudyFile) -> Result<Promise, Flaw> {
    let column = |text: &Text| {
        let names = file.columns.iter().map(|column| column.name.as_str());
        position(text, "column", names)
    };
    let ours = column(&raw.ours)?;
    let feature = |raw: &RawFeature| {
        Ok(Feature {
            column: column(&raw.column)?,
            ours: raw.ours.as_ref().map_or(Ok(ours), column)?,
            without: raw.without,
        })
    };
    let metric = |text: &Text| {
        find_metric(text.get_ref())
            .map(|def| def.name.to_owned())
            .map_err(|e| Flaw::new(at(text), e.to_string(), "expected a metric"))
    };
    Ok(Promise {
        keep_pct: percent(&raw.keep_pct)?,
        lose_pct: percent(&raw.lose_pct)?,
        bounded: raw.bounded.iter().map(column).collect::<Result<_, _>>()?,
        cost: raw.cost.iter().map(metric).collect::<Result<_, _>>()?,
        features: raw.feature.iter().map(feature).collect::<Result<_, _>>()?,
    })
}

fn percent(value: &Spanned<f64>) -> Result<f64, Flaw> {
    let number = *value.get_ref();
    if (0.0..=100.0).contains(&number) {
        return Ok(number);
    }
    let problem = format!("{number} percent");
    Err(Flaw::new(at(value), problem, "expected 0.0 to 100.0"))
}
