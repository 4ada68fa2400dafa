//! What a study promises, from its `[promise]` table (studies/README.md).
//!
//! What must stay: only columns and goals are named here; what is kept or lost is judged by
//! `crates/study/src/promise.rs`; an unknown name is refused with its line. Tests by part:
//! promise/tests.rs::`what_is_kept_is_a_share_of_the_best_gain` (`promise`),
//! file/tests.rs::`errors_name_place_expectation_and_nearest` (the words for a wrong name). A wrong
//! column of a feature has no test of its own.
//!
//! Tests: crates/study/src/promise/tests.rs, crates/study/src/file/tests.rs

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
