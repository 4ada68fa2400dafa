//! Numbers within limits, and the unit a power figure is written in (docs/guide/platforms.md, "What
//! the words mean").
//!
//! Called by all readers of tables.
//!
//! What must stay: a wider limit is free, a narrower one refuses files that were valid; limits of
//! what the policy core counts with are the core's (`EM_MAX_POWER`). Tests by part: `capacity`,
//! `tick` (`between`), `costs_are_at_most_a_millisecond` (`cost_ns`),
//! `idle_states_run_from_shallow_to_deep` (`us_as_ns`), `power_of_operating_points` (`PowerKeys`,
//! `unit_name`), `power_of_idle_states` (`cluster` of an idle state). `at`, `value`, `key` and both
//! `cpu`: all.
//!
//! Tests: crates/platform/tests/all/bad_files.rs

use toml::Spanned;

use super::raw::{Int, RawIdlePower, RawOpp};
use crate::PowerUnit;
use crate::error::Flaw;

/// Longest time any figure may give, ns (10 s): sums of a few of them stay far from overflow.
const MAX_DURATION_NS: u64 = 10_000_000_000;

/// Longest time of a step of the kernel, ns (1 ms, far above any): as work, which is time by
/// capacity by frequency, many of them together still fit the engine's arithmetic.
const MAX_COST_NS: u64 = 1_000_000;

/// Highest power of a CPU in the Energy Model, platform unit (`EM_MAX_POWER`: 64 W in microwatts).
pub(super) const MAX_CPU_POWER: u64 = 64_000_000;

/// Highest power of a cluster or board, platform unit (1 kW in microwatts).
pub(super) const MAX_POWER: u64 = 1_000_000_000;

/// Byte offset of a value.
pub(super) fn at<T>(value: &Spanned<T>) -> usize {
    value.span().start
}

/// The number, if it lies within `min..=max`.
pub(super) fn between(
    value: &Int,
    min: u64,
    max: u64,
    what: &str,
    unit: &str,
) -> Result<u64, Flaw> {
    let number = *value.get_ref();
    if (min..=max).contains(&number) {
        return Ok(number);
    }
    let problem = format!("{what} is {number}");
    let unit = if unit.is_empty() {
        String::new()
    } else {
        format!(" {unit}")
    };
    Err(Flaw::new(
        at(value),
        problem,
        format!("expected {min} to {max}{unit}"),
    ))
}

/// A duration in ns, from a value in us.
pub(super) fn us_as_ns(value: &Int, what: &str) -> Result<u64, Flaw> {
    const NS_PER_US: u64 = 1000;
    Ok(between(value, 0, MAX_DURATION_NS / NS_PER_US, what, "us")? * NS_PER_US)
}

/// One of the kernel's costs, ns.
pub(super) fn cost_ns(value: &Int, what: &str) -> Result<u64, Flaw> {
    between(value, 0, MAX_COST_NS, what, "ns")
}

/// A power figure as written: one key per unit.
pub(super) struct PowerKeys<'a> {
    what: &'static str,
    uw: Option<&'a Int>,
    bogo: Option<&'a Int>,
}

impl PowerKeys<'_> {
    /// The figure, in the platform's unit.
    pub(super) fn value(&self, unit: PowerUnit, min: u64, max: u64) -> Result<Option<u64>, Flaw> {
        let what = self.what;
        let (right, wrong) = match unit {
            PowerUnit::Microwatt => (self.uw, self.bogo),
            PowerUnit::Bogo => (self.bogo, self.uw),
            PowerUnit::None => (None, self.uw.or(self.bogo)),
        };
        let (key, unit_name) = (self.key(unit), unit_name(unit));
        if let Some(value) = wrong {
            let problem = format!("a {what} power in a unit that is not the platform's");
            let expected = match unit {
                PowerUnit::None => "expected none, since `power_unit` is \"none\"".to_owned(),
                _ => format!("expected {key}, since `power_unit` is \"{unit_name}\""),
            };
            return Err(Flaw::new(at(value), problem, expected));
        }
        let unit = if unit == PowerUnit::Microwatt {
            "uW"
        } else {
            ""
        };
        right
            .map(|value| between(value, min, max, &key, unit))
            .transpose()
    }

    /// The key that belongs to the platform's unit.
    pub(super) fn key(&self, unit: PowerUnit) -> String {
        let suffix = if unit == PowerUnit::Bogo {
            "bogo"
        } else {
            "uw"
        };
        format!("`{}_{suffix}`", self.what)
    }
}

/// The word of the file for a unit.
fn unit_name(unit: PowerUnit) -> &'static str {
    match unit {
        PowerUnit::Microwatt => "microwatt",
        PowerUnit::Bogo => "bogo",
        PowerUnit::None => "none",
    }
}

impl RawOpp {
    /// The powers of a CPU at an operating point, by the unit's keys.
    pub(super) fn cpu(&self) -> PowerKeys<'_> {
        PowerKeys {
            what: "cpu",
            uw: self.cpu_uw.as_ref(),
            bogo: self.cpu_bogo.as_ref(),
        }
    }

    /// Those of its cluster.
    pub(super) fn cluster(&self) -> PowerKeys<'_> {
        let (uw, bogo) = (self.cluster_uw.as_ref(), self.cluster_bogo.as_ref());
        PowerKeys {
            what: "cluster",
            uw,
            bogo,
        }
    }
}

impl RawIdlePower {
    /// The powers of a CPU in an idle state, by the unit's keys.
    pub(super) fn cpu(&self) -> PowerKeys<'_> {
        PowerKeys {
            what: "cpu",
            uw: self.cpu_uw.as_ref(),
            bogo: self.cpu_bogo.as_ref(),
        }
    }

    /// Those of its cluster.
    pub(super) fn cluster(&self) -> PowerKeys<'_> {
        let (uw, bogo) = (self.cluster_uw.as_ref(), self.cluster_bogo.as_ref());
        PowerKeys {
            what: "cluster",
            uw,
            bogo,
        }
    }
}
