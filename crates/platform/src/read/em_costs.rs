//! Energy models without watts: `[frequency_domain.em_costs]` (docs/decisions/039).
//!
//! Called by `read/frequency.rs`; `release` by `read/clocks.rs`, too. Costs have no unit: only the
//! kernel's energy model reads them, never the meter.
//!
//! What must stay: a key that is there; at most as many states as the core has room for
//! (`WP_MAX_STATES`); levels rise. Free: what leaves each file's machine as it is (ARCHITECTURE.md,
//! "What a change may touch"), and words of messages that no test quotes. Tests by part:
//! `costs_of_an_artificial_model` (`read`, `states`, `release`), clocks.rs::`rules_of_bins`
//! (`release`). No test of its own: `em_uw` beside `em_costs`.
//!
//! Tests: crates/platform/tests/all/shared.rs, crates/platform/tests/all/clocks.rs

use wakeplace_text::shorten;

use super::provenance::Provenance;
use super::raw::{RawDomain, RawEmCosts, Text};
use super::values::{MAX_CPU_POWER, at, between};
use crate::error::Flaw;
use crate::{EmCost, EmCosts, Opp};

/// Most states of a model: the policy core's `WP_MAX_STATES`.
const MAX_STATES: usize = 64;

/// Reads a domain's table, if it has one.
pub(super) fn read(
    row: &RawDomain,
    opps: &[Opp],
    provenance: &mut Provenance,
) -> Result<Option<EmCosts>, Flaw> {
    let Some(table) = &row.em_costs else {
        return Ok(None);
    };
    let raw = table.get_ref();
    let what = format!("em costs of CPUs {}", row.cpus.get_ref());
    provenance.note(at(table), what, &raw.source, raw.standing)?;
    if opps[0].em_power.is_some() {
        let problem = "two energy models of one domain: `em_uw` of its points and `em_costs`";
        let expected = "expected one: a driver registers powers or costs";
        return Err(Flaw::new(at(table), problem, expected));
    }
    let (since, states) = (release(&raw.since)?, states(raw)?);
    Ok(Some(EmCosts { since, states }))
}

/// The states of an energy model without watts, in rising order.
fn states(raw: &RawEmCosts) -> Result<Vec<EmCost>, Flaw> {
    let rows = raw.states.get_ref();
    if rows.is_empty() || rows.len() > MAX_STATES {
        let problem = format!("an energy model has {} states", rows.len());
        let expected = format!("expected 1 to {MAX_STATES}");
        return Err(Flaw::new(at(&raw.states), problem, expected));
    }
    let narrow = |value: u64| u32::try_from(value).expect("limits fit");
    let mut states: Vec<EmCost> = Vec::new();
    for row in rows {
        let own = row.get_ref();
        let level = narrow(between(&own.level, 1, MAX_CPU_POWER, "`level`", "")?);
        let cost = narrow(between(&own.cost, 1, MAX_CPU_POWER, "`cost`", "")?);
        if let Some(below) = states.last().filter(|below| below.level >= level) {
            let problem = format!("level {level} follows level {}", below.level);
            return Err(Flaw::new(at(&own.level), problem, "expected rising levels"));
        }
        states.push(EmCost { level, cost });
    }
    Ok(states)
}

/// A kernel's major and minor number: `6.16`.
pub(super) fn release(text: &Text) -> Result<(u16, u16), Flaw> {
    let parts = text.get_ref().split_once('.');
    let number = |part: &str| part.parse::<u16>().ok();
    let both = parts.and_then(|(major, minor)| Some((number(major)?, number(minor)?)));
    both.ok_or_else(|| {
        let problem = format!("`{}` is no kernel release", shorten(text.get_ref()));
        Flaw::new(
            at(text),
            problem,
            "expected major and minor number, as \"6.16\"",
        )
    })
}
