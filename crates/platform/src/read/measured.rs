//! `[measured_power]`: what CPUs and clusters draw by clock, from tables of policies, as Wattson
//! has them (docs/guide/platforms.md "Measured power").
//!
//! Called by `read/mod.rs` after the clocks are read. Table figures are mW, in the model µW.
//!
//! What must stay: odd figures are kept and said, none is repaired but off above gated;
//! `Opp::power` becomes the busy power beside the lowest other clock; what the kernel believes
//! stays `em_uw`. Free: what leaves each file's machine as it is (ARCHITECTURE.md, "What a change
//! may touch"), and words of messages that no test quotes. Tests by part:
//! `figures_are_by_both_clocks` (`measured`, `states`, `nearest`, `point`),
//! `a_units_clock_may_be_in_hertz` (`other`), `odd_figures_are_named` (`Odd`, `falls`),
//! `tables_that_are_refused` (`check_policies`, `measured`), `powers_beside_a_table_are_refused` (a
//! point without a row). By function: `figures_are_by_both_clocks` (`read`, `policy`),
//! `odd_figures_are_named` (`said`). No test of its own: `check_clusters`, a mix of kinds of clock.
//!
//! Tests: crates/platform/tests/all/measured.rs

use std::collections::BTreeMap;

use toml::Spanned;

use super::machine::Machine;
use super::power_table::{self, Row};
use super::provenance::Provenance;
use super::raw::RawMeasured;
use super::values::at;
use crate::error::Flaw;
use crate::{FreqDomain, MeasuredPoint, MeasuredPower, OtherClock, PowerUnit};

/// `dep_policy` of a unit that CPUs share.
const UNIT: u64 = 255;
/// A frequency of that unit above it is in Hz: no clock in kHz reaches it.
const MAX_KHZ: u64 = 20_000_000;
/// Most powers of a domain: 64 operating points beside 64 states of another clock, of two.
const MAX_POINTS: usize = 1 << 13;

/// The file that the tables stand in.
pub(super) struct File<'a> {
    pub(super) text: &'a str,
    pub(super) machine: &'a Machine<'a>,
    pub(super) unit: PowerUnit,
}

/// Gives every domain its powers. What was odd about the table, in sentences.
pub(super) fn read(
    raw: Option<&Spanned<RawMeasured>>,
    file: &File<'_>,
    domains: &mut [FreqDomain],
    provenance: &mut Provenance,
) -> Result<Vec<String>, Flaw> {
    let Some(table) = raw else {
        return Ok(Vec::new());
    };
    let own = table.get_ref();
    provenance.note(
        at(table),
        "measured power".into(),
        &own.source,
        own.standing,
    )?;
    if file.unit != PowerUnit::Microwatt {
        let problem = "measured powers in a file whose `power_unit` is not \"microwatt\"";
        return Err(Flaw::new(
            at(table),
            problem,
            "expected microwatt: tables are in milliwatts",
        ));
    }
    let mut rows = Vec::new();
    for (part, two) in [(&own.cpu_1d, false), (&own.cpu_2d, true)] {
        if let Some(part) = part {
            rows.extend(power_table::rows(part, file.text, two)?);
        }
    }
    check_policies(&rows, domains)?;
    let mut odd = Odd::default();
    let mut all = Vec::new();
    for domain in domains.iter() {
        let measured = measured(domain, &rows, domains, at(table), &mut odd)?;
        check_clusters(domain, &measured, file.machine, at(table))?;
        all.push(measured);
    }
    for (domain, measured) in domains.iter_mut().zip(all) {
        for (index, opp) in domain.opps.iter_mut().enumerate() {
            let place = measured.at(index, MeasuredPower::LOWEST_ROW);
            opp.power = Some(measured.points[place].busy_uw);
        }
        domain.measured = Some(measured);
    }
    Ok(odd.said())
}

/// A cluster with a power of its own has one clock.
fn check_clusters(
    domain: &FreqDomain,
    measured: &MeasuredPower,
    machine: &Machine<'_>,
    table_at: usize,
) -> Result<(), Flaw> {
    if measured.points.iter().all(|point| point.cluster_uw == 0) {
        return Ok(());
    }
    for cpu in &domain.cpus {
        let cluster = &machine.clusters[machine.cpus[cpu.index()].cluster as usize];
        if let Some(outside) = cluster.cpus.iter().find(|cpu| !domain.cpus.contains(cpu)) {
            let name = &cluster.name;
            let problem = format!(
                "cluster `{name}` has a measured power (`static`), but its CPU {outside} has \
                 another clock"
            );
            return Err(Flaw::new(
                table_at,
                problem,
                "expected the whole cluster in one domain",
            ));
        }
    }
    Ok(())
}

/// What a reader of the figures should know of them.
#[derive(Default)]
struct Odd {
    falling: Vec<String>,
    steps: usize,
    no_busy: usize,
    off_above: usize,
}

impl Odd {
    /// What is odd in the figures, in words for the file's provenance.
    fn said(self) -> Vec<String> {
        let mut said = Vec::new();
        if !self.falling.is_empty() {
            said.push(format!(
                "Measured busy power falls where the clock rises at {} of {} steps: {}.",
                self.falling.len(),
                self.steps,
                self.falling.join(", ")
            ));
        }
        if self.no_busy > 0 {
            said.push(format!(
                "{} measured rows have a busy power of 0 and count as not measured.",
                self.no_busy
            ));
        }
        if self.off_above > 0 {
            said.push(format!(
                "{} measured rows have more power off (`idle1`) than clock-gated (`idle0`); off \
                 is taken as clock-gated there.",
                self.off_above
            ));
        }
        said
    }
}

/// The kernel's number of a domain's policy: its first CPU.
fn policy(domain: &FreqDomain) -> u64 {
    u64::from(domain.cpus[0].0)
}

/// Tables name policies by their first CPU.
fn check_policies(rows: &[Row], domains: &[FreqDomain]) -> Result<(), Flaw> {
    let known = |number: u64| domains.iter().any(|domain| policy(domain) == number);
    let unknown = |row: &&Row| {
        let other = row.other.map(|(other, _)| other);
        !known(row.policy) || other.is_some_and(|other| other != UNIT && !known(other))
    };
    let Some(row) = rows.iter().find(unknown) else {
        return Ok(());
    };
    let all: Vec<String> = domains
        .iter()
        .map(|domain| policy(domain).to_string())
        .collect();
    let number = match known(row.policy) {
        true => row.other.map_or(row.policy, |(other, _)| other),
        false => row.policy,
    };
    let problem = format!("no frequency domain begins with CPU {number}");
    let expected = format!(
        "expected policies {}, or {UNIT} as `dep_policy`",
        all.join(", ")
    );
    Err(Flaw::new(row.at, problem, expected))
}

/// Another clock as tables have it: its policy and its kHz.
type Other = (u64, u64);

/// The other clock of a row in kHz; of a unit that is no CPU's the table may have it in Hz.
fn other(row: &Row) -> Option<Other> {
    row.other.map(|(policy, freq)| match policy {
        UNIT if freq > MAX_KHZ => (policy, freq / 1000),
        _ => (policy, freq),
    })
}

/// The power of one domain by its own clock and, where the table has it, by another.
fn measured(
    domain: &FreqDomain,
    rows: &[Row],
    domains: &[FreqDomain],
    table_at: usize,
    odd: &mut Odd,
) -> Result<MeasuredPower, Flaw> {
    let number = policy(domain);
    let own: Vec<&Row> = rows.iter().filter(|row| row.policy == number).collect();
    let mut by_clock: BTreeMap<(u64, Option<Other>), &Row> = BTreeMap::new();
    for row in &own {
        if !domain.opps.iter().any(|opp| u64::from(opp.khz) == row.khz) {
            let problem = format!("policy {number} has no clock of {} kHz", row.khz);
            return Err(Flaw::new(
                row.at,
                problem,
                "expected one of the domain's `opps`",
            ));
        }
        if by_clock.insert((row.khz, other(row)), row).is_some() {
            let problem = format!("two rows of policy {number} at {} kHz", row.khz);
            return Err(Flaw::new(
                row.at,
                problem,
                "expected each pair of clocks once",
            ));
        }
    }
    if let Some(opp) =
        (domain.opps.iter()).find(|opp| own.iter().all(|r| r.khz != u64::from(opp.khz)))
    {
        let problem = format!("no row of policy {number} at {} kHz", opp.khz);
        let expected = "expected measured power at each operating point of each domain";
        return Err(Flaw::new(table_at, problem, expected));
    }
    odd.no_busy += own.iter().filter(|row| row.active == 0).count();
    odd.off_above += own.iter().filter(|row| row.idle1 > row.idle0).count();
    by_clock.retain(|_, row| row.active > 0);
    let states = states(&own, domains)?;
    if states.len() * domain.opps.len() > MAX_POINTS {
        let problem = format!(
            "policy {number} has {} states of other clocks",
            states.len()
        );
        return Err(Flaw::new(table_at, problem, "expected at most 128"));
    }
    let mut points = Vec::new();
    for opp in &domain.opps {
        for (_, wanted) in &states {
            let row = nearest(&by_clock, u64::from(opp.khz), *wanted).ok_or_else(|| {
                let problem = format!("policy {number} has no busy power at {} kHz", opp.khz);
                Flaw::new(
                    table_at,
                    problem,
                    "expected `active` above 0 in one row of each clock",
                )
            })?;
            points.push(point(row));
        }
    }
    let measured = MeasuredPower {
        rows: states.into_iter().map(|(clock, _)| clock).collect(),
        points,
    };
    falls(&measured, domain, odd);
    Ok(measured)
}

/// The powers of a row, µW. A CPU that is off draws no more than a gated one.
fn point(row: &Row) -> MeasuredPoint {
    MeasuredPoint {
        busy_uw: row.active,
        gated_uw: row.idle0,
        off_uw: row.idle1.min(row.idle0),
        cluster_uw: row.fixed + row.interconnect,
    }
}

/// States of the other clocks that a policy's rows name, the lowest first: all operating points of
/// each domain among them, and of a unit those that occur.
fn states(own: &[&Row], domains: &[FreqDomain]) -> Result<Vec<(OtherClock, Option<Other>)>, Flaw> {
    let mut named: Vec<(Other, usize)> = own
        .iter()
        .filter_map(|row| Some((other(row)?, row.at)))
        .collect();
    if named.is_empty() {
        return Ok(vec![(OtherClock::Alone, None)]);
    }
    named.sort_unstable();
    named.dedup_by_key(|(other, _)| *other);
    let mut policies: Vec<u64> = named.iter().map(|((policy, _), _)| *policy).collect();
    policies.dedup();
    let one = own.iter().find(|row| row.other.is_none()).map(|row| row.at);
    let mixed = policies.len() > 1 && policies.contains(&UNIT);
    if let Some(place) = one.or(mixed.then(|| named[0].1)) {
        let problem = "one policy's powers by several kinds of clock";
        let expected = format!("expected its own alone, other policies', or a unit's ({UNIT})");
        return Err(Flaw::new(place, problem, expected));
    }
    let mut states = Vec::new();
    for number in policies {
        let khz_of = || named.iter().filter(|((policy, _), _)| *policy == number);
        if number == UNIT {
            states.extend(khz_of().map(|((_, khz), _)| {
                let khz32 = u32::try_from(*khz).unwrap_or(u32::MAX);
                (OtherClock::Unit { khz: khz32 }, Some((UNIT, *khz)))
            }));
            continue;
        }
        let found = domains.iter().position(|domain| policy(domain) == number);
        let index = found.expect("`check_policies` has seen it");
        let opps = &domains[index].opps;
        let lacks = |khz: u64| opps.iter().all(|opp| u64::from(opp.khz) != khz);
        if let Some(((_, khz), place)) = khz_of().find(|((_, khz), _)| lacks(*khz)) {
            let problem = format!("policy {number} has no clock of {khz} kHz");
            return Err(Flaw::new(
                *place,
                problem,
                "expected one of its domain's `opps`",
            ));
        }
        states.extend(opps.iter().enumerate().map(|(opp, own)| {
            let clock = OtherClock::Domain { domain: index, opp };
            (clock, Some((number, u64::from(own.khz))))
        }));
    }
    Ok(states)
}

/// A pair of clocks that the table lacks has the figures of the nearest lower frequency of the same
/// other clock that it has, else of the nearest higher one, else of any.
fn nearest<'a>(
    rows: &BTreeMap<(u64, Option<Other>), &'a Row>,
    khz: u64,
    wanted: Option<Other>,
) -> Option<&'a Row> {
    let Some((policy, other_khz)) = wanted else {
        return rows.get(&(khz, None)).copied();
    };
    let key = |other_khz| (khz, Some((policy, other_khz)));
    let below = rows.range(key(0)..=key(other_khz)).next_back();
    let above = || rows.range(key(other_khz)..=key(u64::MAX)).next();
    let any = || {
        rows.range((khz, None)..=(khz, Some((u64::MAX, u64::MAX))))
            .next()
    };
    below.or_else(above).or_else(any).map(|(_, row)| *row)
}

/// Measured power may fall where the clock rises.
fn falls(measured: &MeasuredPower, domain: &FreqDomain, odd: &mut Odd) {
    let busy = |opp| measured.points[measured.at(opp, MeasuredPower::LOWEST_ROW)].busy_uw;
    for opp in 1..domain.opps.len() {
        odd.steps += 1;
        if busy(opp) < busy(opp - 1) {
            odd.falling.push(format!(
                "CPU {} at {} MHz",
                domain.cpus[0],
                domain.opps[opp].khz / 1000
            ));
        }
    }
}
