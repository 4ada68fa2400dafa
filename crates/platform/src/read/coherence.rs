//! What a kernel's own accesses to memory take: `[coherence]`
//! (docs/rules/contended-lines.md#coherence).
//!
//! Times are ns; a hit is ps.
//!
//! What must stay: a time lies in its range, and nothing is farther than `far`. Free: what leaves
//! each file's machine as it is (ARCHITECTURE.md, "What a change may touch"), and words of messages
//! that no test quotes. Tests by part: `coherence_is_read` (`read`, `time`),
//! `times_of_lines_lie_in_their_ranges` (`time`, `read`).
//!
//! Callers: mod.rs (`read`).
//!
//! Tests: crates/platform/tests/all/transfer.rs

use toml::Spanned;

use super::provenance::Provenance;
use super::raw::{Int, RawCoherence};
use super::values::{at, between};
use crate::error::Flaw;
use crate::{Coherence, LineTime};

/// Longest way of one line, ns, as in `[transfer]`.
const MAX_LINE_NS: u64 = 10_000;
/// Longest access without a transfer, ps.
const MAX_HIT_PS: u64 = 100_000;

/// Reads `[coherence]`.
pub(super) fn read(
    raw: Option<&Spanned<RawCoherence>>,
    provenance: &mut Provenance,
) -> Result<Option<Coherence>, Flaw> {
    let Some(raw) = raw else { return Ok(None) };
    let table = raw.get_ref();
    let source = provenance.note(at(raw), "coherence".into(), &table.source, table.standing)?;
    let near = time("near", &table.near_ns, &table.near_range_ns)?;
    let far = time("far", &table.far_ns, &table.far_range_ns)?;
    if far.ns < near.ns {
        let problem = format!("`far_ns` is {}", far.ns);
        let expected = format!("expected at least `near_ns`, {}", near.ns);
        return Err(Flaw::new(at(&table.far_ns), problem, expected));
    }
    Ok(Some(Coherence {
        hit_ps: between(&table.hit_ps, 1, MAX_HIT_PS, "`hit_ps`", "ps")?,
        near,
        far,
        clean: time("clean", &table.clean_ns, &table.clean_range_ns)?,
        source,
    }))
}

/// A time and its range, which it lies in.
fn time(name: &str, ns: &Int, range: &Spanned<[Int; 2]>) -> Result<LineTime, Flaw> {
    let key = format!("`{name}_range_ns`");
    let [least, most] = range.get_ref();
    let least_ns = between(least, 1, MAX_LINE_NS, &key, "ns")?;
    let most_ns = between(most, least_ns, MAX_LINE_NS, &key, "ns")?;
    Ok(LineTime {
        ns: between(ns, least_ns, most_ns, &format!("`{name}_ns`"), "ns")?,
        least_ns,
        most_ns,
    })
}
