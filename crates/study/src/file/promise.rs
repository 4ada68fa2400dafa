//! What a study promises, from its `[promise]` table (studies/README.md).
//!
//! Names columns and goals only; what is kept or lost is judged by `crates/study/src/promise.rs`.
//!
//! Tests: crates/study/src/promise/tests.rs::wrong_names_are_told

use super::raw::{RawFeature, RawPromise, Text};
use super::values::{metric, percent, position};
use super::{Feature, Promise, StudyFile};
use crate::error::Flaw;

/// The columns and goals that the table names.
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
    Ok(Promise {
        keep_pct: percent(&raw.keep_pct)?,
        lose_pct: percent(&raw.lose_pct)?,
        bounded: raw.bounded.iter().map(column).collect::<Result<_, _>>()?,
        cost: raw.cost.iter().map(metric).collect::<Result<_, _>>()?,
        features: raw.feature.iter().map(feature).collect::<Result<_, _>>()?,
    })
}
