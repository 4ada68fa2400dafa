//! How warm clusters get: `[[thermal]]` with its `[thermal.rc]` (docs/guide/model.md, "Heat").
//!
//! Called by `read/mod.rs`. Temperatures are thousandths of a degree Celsius, times ms. Read
//! always, used only with `model.thermal=on`.
//!
//! What must stay: a key that is there; a time constant is at least `MIN_TAU_US`, as the simulation
//! goes in steps of 10 ms. Free: what leaves each file's machine as it is (ARCHITECTURE.md, "What a
//! change may touch"), and words of messages that no test quotes. Tests by part:
//! `eight_busy_loops_are_too_much_for_the_a73` (`zone`: hikey960's table),
//! measured.rs::`heat_and_limits_need_powers_by_the_own_clock` (`read`). No test of its own: the
//! refusals. `number` is with these: its words have no test of their own.
//!
//! Tests: crates/engine/tests/behaviour/thermal.rs, crates/platform/tests/all/measured.rs

use toml::Spanned;
use wakeplace_text::{did_you_mean, nearest, shorten};

use super::provenance::Provenance;
use super::raw::{Int, RawThermal};
use super::values::{at, between};
use crate::error::Flaw;
use crate::{Cluster, PowerUnit, ThermalZone};

/// Hottest trip point, thousandths of a degree: beyond it silicon does not work.
const MAX_MILLIC: u64 = 150_000;
/// Longest time between two looks.
const MAX_MS: u64 = 60_000;
/// Least and largest resistance, mK/W: a server's heat sink has tens, a bare chip ten thousands.
const RESISTANCE: (u64, u64) = (10, 1_000_000);
/// Largest capacity, mJ/K: two kilograms of aluminium.
const MAX_CAPACITY: u64 = 2_000_000;
/// Shortest time constant, us (R * C): the simulation goes in steps of 10 ms.
const MIN_TAU_US: u64 = 200_000;

/// All zones; a cluster is in one at most.
pub(super) fn read(
    raw: &[Spanned<RawThermal>],
    clusters: &[Cluster],
    unit: PowerUnit,
    provenance: &mut Provenance,
) -> Result<Vec<ThermalZone>, Flaw> {
    let mut zones: Vec<ThermalZone> = Vec::new();
    for table in raw {
        let zone = zone(table, clusters, unit, provenance)?;
        if zones.iter().any(|other| other.cluster == zone.cluster) {
            let name = &clusters[zone.cluster].name;
            let problem = format!("cluster `{name}` has two `[[thermal]]` tables");
            return Err(Flaw::new(at(table), problem, "expected one per cluster"));
        }
        zones.push(zone);
    }
    Ok(zones)
}

/// One zone: its cluster, trip points, resistance and capacity.
fn zone(
    raw: &Spanned<RawThermal>,
    clusters: &[Cluster],
    unit: PowerUnit,
    provenance: &mut Provenance,
) -> Result<ThermalZone, Flaw> {
    let table = raw.get_ref();
    if unit != PowerUnit::Microwatt {
        let problem = "a platform without power in watts has a `[[thermal]]` table";
        return Err(Flaw::new(
            at(raw),
            problem,
            "expected none: heat comes of watts",
        ));
    }
    let name = table.cluster.get_ref();
    let Some(cluster) = clusters.iter().position(|c| c.name == *name) else {
        let names: Vec<&str> = clusters.iter().map(|c| c.name.as_str()).collect();
        let hint = did_you_mean(nearest(name, names.iter().copied()));
        let problem = format!("there is no cluster `{}`", shorten(name));
        let expected = format!("expected one of {}{hint}", names.join(", "));
        return Err(Flaw::new(at(&table.cluster), problem, expected));
    };
    let rc = table.rc.get_ref();
    let what = |of: &str| format!("{of} of cluster {name}");
    provenance.note(at(raw), what("thermal zone"), &table.source, table.standing)?;
    provenance.note(at(&table.rc), what("thermal rc"), &rc.source, rc.standing)?;
    let (least, most) = RESISTANCE;
    let zone = ThermalZone {
        cluster,
        trip_millic: number(&table.trip_millic, 0, MAX_MILLIC, "`trip_millic`")?,
        hysteresis_millic: number(&table.hysteresis_millic, 0, 50_000, "`hysteresis_millic`")?,
        polling_ms: number(&table.polling_ms, 10, MAX_MS, "`polling_ms`")?,
        passive_ms: number(&table.passive_ms, 10, MAX_MS, "`passive_ms`")?,
        ambient_millic: number(&rc.ambient_millic, 0, MAX_MILLIC, "`ambient_millic`")?,
        resistance_mk_per_w: number(
            &rc.resistance_mk_per_w,
            least,
            most,
            "`resistance_mk_per_w`",
        )?,
        capacity_mj_per_k: number(
            &rc.capacity_mj_per_k,
            1,
            MAX_CAPACITY,
            "`capacity_mj_per_k`",
        )?,
    };
    let tau_us = u64::from(zone.resistance_mk_per_w) * u64::from(zone.capacity_mj_per_k);
    if tau_us < MIN_TAU_US {
        let problem = format!("resistance times capacity is {tau_us} us");
        let expected = format!("expected at least {MIN_TAU_US} us");
        return Err(Flaw::new(at(&table.rc), problem, expected));
    }
    Ok(zone)
}

/// A whole number within its limits; `what` is the word for it in the error.
fn number(value: &Int, least: u64, most: u64, what: &str) -> Result<u32, Flaw> {
    let number = between(value, least, most, what, "")?;
    Ok(u32::try_from(number).expect("it was compared with a small limit"))
}
