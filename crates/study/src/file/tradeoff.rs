//! Energy against latency, from a study's `[tradeoff]` table (studies/README.md).
//!
//! What must stay: only columns are named here; what beats what is judged by
//! `crates/study/src/tradeoff.rs`; a column is not its own rival. Tests by part:
//! `a_column_is_not_its_own_rival` and `who_is_quicker_for_the_same_energy_beats_ours`
//! (`tradeoff`).
//!
//! Tests: crates/study/src/tradeoff/tests.rs

use super::raw::{RawTradeoff, Text};
use super::values::{at, metric, percent, position};
use super::{StudyFile, Tradeoff};
use crate::error::Flaw;

/// The columns that are compared: ours, and rivals that are not ours.
pub(super) fn tradeoff(raw: &RawTradeoff, file: &StudyFile) -> Result<Tradeoff, Flaw> {
    let column = |text: &Text| {
        let names = file.columns.iter().map(|column| column.name.as_str());
        position(text, "column", names)
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
        energy_pct: percent(&raw.energy_pct)?,
        latency_pct: percent(&raw.latency_pct)?,
        groups: raw.groups.iter().map(|key| key.get_ref().clone()).collect(),
    })
}
