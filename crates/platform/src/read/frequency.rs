//! Frequency domains and operating points (docs/guide/platforms.md, "What the words mean").
//!
//! Called by `read/mod.rs`. Clocks are kHz, voltages mV, powers in the platform's unit.
//!
//! What must stay: domains and points stand in the order of the file, points rising, as all crates
//! index them so; a key that is there; limits are those of the policy core (`WP_MAX_STATES`,
//! `WP_MAX_PERF_DOMS`). Free: what leaves each file's machine as it is (ARCHITECTURE.md, "What a
//! change may touch"), and words of messages that no test quotes. Tests by part: `frequencies`
//! (`opps`, `check_order`), `limits_are_those_of_the_policy_core` (`MAX_OPPS`),
//! `domains_with_power_are_limited` (`MAX_DOMAINS_WITH_POWER`),
//! `frequency_domains_partition_the_cpus` (`read`, `check_members`), `power_of_operating_points`
//! (`read_opp`), `work_power`, `power_of_the_energy_model` (`watts`, `note_column`),
//! measured.rs::`powers_beside_a_table_are_refused` (`check_measured`, `em_uw` that falls).
//! `note_sources` by builtin.rs::`assumed_figures_are_marked_and_published_ones_named`.
//!
//! Tests: crates/platform/tests/all/bad_files.rs, crates/platform/tests/all/measured.rs

use toml::Spanned;

use super::em_costs;
use super::machine::Machine;
use super::provenance::Provenance;
use super::raw::{Int, RawDomain, RawOpp, RawSource};
use super::values::{MAX_CPU_POWER, MAX_POWER, at, between, us_as_ns};
use crate::error::Flaw;
use crate::{Cpu, CpuId, FreqDomain, Opp, PowerUnit};

/// Highest frequency, kHz (20 GHz).
const MAX_KHZ: u64 = 20_000_000;

/// Highest supply voltage, mV.
const MAX_MV: u64 = 10_000;

/// Most operating points of a domain: the policy core's `WP_MAX_STATES`.
const MAX_OPPS: usize = 64;

/// Most domains of a platform with power, each an energy model of the policy core:
/// `WP_MAX_PERF_DOMS`.
const MAX_DOMAINS_WITH_POWER: usize = 64;

/// What the file's powers are.
#[derive(Clone, Copy)]
pub(super) struct PowerIs {
    pub(super) unit: PowerUnit,
    /// In a table of their own (`[measured_power]`), not at the operating points.
    pub(super) measured: bool,
}

type Tables = Spanned<Vec<Spanned<RawDomain>>>;

/// Reads the `[[frequency_domain]]` tables.
pub(super) fn read(
    raw: &Tables,
    machine: &Machine<'_>,
    power: PowerIs,
    provenance: &mut Provenance,
) -> Result<Vec<FreqDomain>, Flaw> {
    let unit = power.unit;
    let mut domains = Vec::new();
    let mut seen = vec![false; machine.cpus.len()];
    for table in raw.get_ref() {
        let row = table.get_ref();
        let cpus = machine.list(&row.cpus)?;
        for cpu in &cpus {
            if std::mem::replace(&mut seen[cpu.index()], true) {
                let problem = format!("CPU {cpu} is in two frequency domains");
                return Err(Flaw::new(
                    at(&row.cpus),
                    problem,
                    "expected each CPU in one",
                ));
            }
        }
        let opps = opps(row, power)?;
        let em_costs = em_costs::read(row, &opps, provenance)?;
        note_sources(table, power, &opps, provenance)?;
        let latency = &row.transition.get_ref().latency_us;
        let transition_latency_ns = us_as_ns(latency, "`latency_us`")?;
        let groups = match row.one_per {
            Some(part) => machine.divide(&cpus, part),
            None => vec![cpus],
        };
        for cpus in groups {
            check_members(table, &cpus, &opps, machine)?;
            domains.push(FreqDomain {
                cpus,
                policy_per_cpu: row.policy_per_cpu,
                transition_latency_ns,
                opps: opps.clone(),
                measured: None,
                em_costs: em_costs.clone(),
            });
        }
    }
    if let Some(cpu) = seen.iter().position(|seen| !seen) {
        let problem = format!("CPU {cpu} is in no frequency domain");
        return Err(Flaw::new(at(raw), problem, "expected each CPU in one"));
    }
    let modelled = |d: &FreqDomain| unit != PowerUnit::None || d.em_costs.is_some();
    if domains.len() > MAX_DOMAINS_WITH_POWER && domains.iter().any(modelled) {
        let problem = format!("a platform with power has {} domains", domains.len());
        let expected = format!("expected at most {MAX_DOMAINS_WITH_POWER} frequency domains");
        return Err(Flaw::new(at(raw), problem, expected));
    }
    Ok(domains)
}

/// All operating points of a domain; each is more than the one before (`check_order`).
fn opps(row: &RawDomain, power: PowerIs) -> Result<Vec<Opp>, Flaw> {
    let rows = row.opps.get_ref();
    if rows.is_empty() || rows.len() > MAX_OPPS {
        let problem = format!("a frequency domain has {} operating points", rows.len());
        return Err(Flaw::new(
            at(&row.opps),
            problem,
            format!("expected 1 to {MAX_OPPS}"),
        ));
    }
    let mut opps: Vec<Opp> = Vec::new();
    for raw in rows {
        let opp = read_opp(raw, power)?;
        if let Some(below) = opps.last() {
            check_order(raw, below, &opp)?;
        }
        opps.push(opp);
    }
    Ok(opps)
}

/// One operating point, its figures within limits.
fn read_opp(row: &Spanned<RawOpp>, PowerIs { unit, measured }: PowerIs) -> Result<Opp, Flaw> {
    let raw = row.get_ref();
    if measured {
        check_measured(raw)?;
    }
    let narrow = |value: u64| u32::try_from(value).expect("limits fit");
    let khz = narrow(between(&raw.khz, 1, MAX_KHZ, "`khz`", "kHz")?);
    let mv = match &raw.mv {
        Some(mv) => Some(narrow(between(mv, 1, MAX_MV, "`mv`", "mV")?)),
        None => None,
    };
    let power = raw.cpu().value(unit, 1, MAX_CPU_POWER)?;
    if power.is_none() && unit != PowerUnit::None && !measured {
        let problem = format!("the operating point of {khz} kHz has no power");
        let key = raw.cpu().key(unit);
        let expected = format!("expected {key}: a platform gives power for all points or none");
        return Err(Flaw::new(at(row), problem, expected));
    }
    let cluster_power = raw.cluster().value(unit, 0, MAX_POWER)?;
    let watts = |value: &Option<Int>, least, key, what| match value {
        Some(value) if unit != PowerUnit::Microwatt => {
            let problem = format!("a platform without power in watts has {what}");
            let expected = format!("expected no {key}");
            Err(Flaw::new(at(value), problem, expected))
        }
        Some(value) => between(value, least, MAX_CPU_POWER, key, "uW").map(Some),
        None => Ok(None),
    };
    let work_power = watts(&raw.work_uw, 0, "`work_uw`", "a work power")?;
    let em_power = watts(&raw.em_uw, 1, "`em_uw`", "a power of the energy model")?;
    Ok(Opp {
        khz,
        mv,
        power,
        em_power,
        cluster_power,
        work_power,
    })
}

/// Beside measured powers an operating point has none of its own.
fn check_measured(raw: &RawOpp) -> Result<(), Flaw> {
    let own = [
        ("cpu_uw", &raw.cpu_uw),
        ("cluster_uw", &raw.cluster_uw),
        ("work_uw", &raw.work_uw),
    ];
    match own
        .iter()
        .find_map(|(key, value)| Some((key, value.as_ref()?)))
    {
        Some((key, value)) => Err(Flaw::new(
            at(value),
            format!("`{key}` beside a table `[measured_power]`"),
            format!("expected no `{key}`: what is drawn is measured; what is believed is `em_uw`"),
        )),
        None => Ok(()),
    }
}

/// A higher point is faster, is believed to draw no less, and has the same columns.
fn check_order(row: &Spanned<RawOpp>, below: &Opp, opp: &Opp) -> Result<(), Flaw> {
    let raw = row.get_ref();
    if opp.khz <= below.khz {
        let problem = format!("{} kHz follows {} kHz", opp.khz, below.khz);
        return Err(Flaw::new(
            at(&raw.khz),
            problem,
            "expected strictly rising frequencies",
        ));
    }
    if let (Some(lower), Some(own), Some(place)) = (below.em_power, opp.em_power, &raw.em_uw)
        && own < lower
    {
        let problem = format!(
            "the believed power falls from {lower} to {own} uW at {} kHz",
            opp.khz
        );
        let expected = "expected `em_uw` to rise with the clock: only measured power may fall";
        return Err(Flaw::new(at(place), problem, expected));
    }
    let uneven = [
        (
            opp.cluster_power.is_some(),
            below.cluster_power.is_some(),
            "a cluster power",
        ),
        (
            opp.work_power.is_some(),
            below.work_power.is_some(),
            "a work power",
        ),
        (
            opp.em_power.is_some(),
            below.em_power.is_some(),
            "an `em_uw`",
        ),
    ];
    if let Some((.., what)) = uneven.iter().find(|(one, other, _)| one != other) {
        let problem = format!("of {} and {} kHz one has {what}", below.khz, opp.khz);
        return Err(Flaw::new(
            at(row),
            problem,
            "expected it at all points of a domain or none",
        ));
    }
    Ok(())
}

/// Sources of the table and of its columns; a column without figures has none.
fn note_sources(
    table: &Spanned<RawDomain>,
    PowerIs { unit, measured }: PowerIs,
    opps: &[Opp],
    provenance: &mut Provenance,
) -> Result<(), Flaw> {
    let row = table.get_ref();
    let cpus = row.cpus.get_ref();
    let what = format!("frequencies of CPUs {cpus}");
    provenance.note(at(table), what, &row.source, row.standing)?;
    let transition = row.transition.get_ref();
    let what = format!("frequency transition of CPUs {cpus}");
    provenance.note(
        at(&row.transition),
        what,
        &transition.source,
        transition.standing,
    )?;
    let has_cluster = opps[0].cluster_power.is_some();
    let has_work = opps[0].work_power.is_some();
    let has_em_power = opps[0].em_power.is_some();
    let columns = [
        (
            "cpu_power",
            &row.cpu_power,
            unit != PowerUnit::None && !measured,
        ),
        ("cluster_power", &row.cluster_power, has_cluster),
        ("work_power", &row.work_power, has_work),
        ("em_power", &row.em_power, has_em_power),
    ];
    for (key, source, has_figures) in columns {
        note_column(table, (key, source, has_figures), provenance)?;
    }
    Ok(())
}

/// Where a column's figures come from; figures without a source are refused, and so is the
/// opposite.
fn note_column(
    table: &Spanned<RawDomain>,
    (key, source, has_figures): (&str, &Option<Spanned<RawSource>>, bool),
    provenance: &mut Provenance,
) -> Result<(), Flaw> {
    match source {
        Some(column) if has_figures => {
            let raw = column.get_ref();
            let cpus = table.get_ref().cpus.get_ref();
            let what = format!("{} of CPUs {cpus}", key.replace('_', " "));
            provenance
                .note(at(column), what, &raw.source, raw.standing)
                .map(|_| ())
        }
        Some(column) => {
            let problem = format!("`{key}` gives a source for figures that are not there");
            Err(Flaw::new(
                at(column),
                problem,
                "expected them in `opps`, or no source",
            ))
        }
        None if has_figures => {
            let problem = format!("the {} of `opps` has no source", key.replace('_', " "));
            let expected = format!(
                "expected `source` and `standing` in a table `[frequency_domain.{key}]` below them"
            );
            Err(Flaw::new(at(table), problem, expected))
        }
        None => Ok(()),
    }
}

/// What is one figure in a domain.
type Figure = (&'static str, fn(&Cpu) -> u32);

/// Equal capacity in the domain; a cluster with a power of its own has one clock.
fn check_members(
    table: &Spanned<RawDomain>,
    cpus: &[CpuId],
    opps: &[Opp],
    machine: &Machine<'_>,
) -> Result<(), Flaw> {
    let place = at(&table.get_ref().cpus);
    let of = |cpu: &CpuId| &machine.cpus[cpu.index()];
    let figures: [Figure; 2] = [("capacity", |cpu| cpu.capacity), ("speed", |cpu| cpu.speed)];
    for (what, figure) in figures {
        let figure = |cpu: &CpuId| figure(of(cpu));
        if let Some(other) = cpus.iter().find(|c| figure(c) != figure(&cpus[0])) {
            let first = &cpus[0];
            let (a, b) = (figure(first), figure(other));
            let problem =
                format!("CPUs {first} and {other} of one frequency domain have {what} {a} and {b}");
            let expected = format!("expected one {what} per domain");
            return Err(Flaw::new(place, problem, expected));
        }
    }
    if opps[0].cluster_power.is_none() {
        return Ok(());
    }
    for cpu in cpus {
        let cluster = &machine.clusters[machine.cpus[cpu.index()].cluster as usize];
        if let Some(outside) = cluster.cpus.iter().find(|c| !cpus.contains(c)) {
            let name = &cluster.name;
            let problem = format!(
                "cluster `{name}` has a power per operating point, but its CPU {outside} has \
                 another clock"
            );
            return Err(Flaw::new(
                place,
                problem,
                "expected the whole cluster in this domain",
            ));
        }
    }
    Ok(())
}
