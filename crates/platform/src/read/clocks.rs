//! What hardware does with clocks of its own accord: `[cpufreq]`, `[turbo]`, `[power_limit]`
//! (docs/decisions/059).
//!
//! Called by `read/mod.rs`. Clocks are kHz, powers µW. Who applies them is the engine
//! (`mechanics/turbo.rs`, `clocks.rs`); here they are only read and checked.
//!
//! What must stay: a key that is there, as files have it; clocks of bins are operating points and
//! do not rise, which `turbo.rs` looks up without a check. Free: what leaves each file's machine as
//! it is (ARCHITECTURE.md, "What a change may touch"), and words of messages that no test quotes.
//! Tests by part: `what_is_read` (`cpufreq`, `turbo`, `power_limit`, `nominal`),
//! `rules_of_the_driver` (`cpufreq`), `rules_of_bins` (`read_bins`, `mark`, `nominal`),
//! `rules_of_limits` (`power_limit`).
//!
//! Tests: crates/platform/tests/all/clocks.rs

use toml::Spanned;
use wakeplace_text::{did_you_mean, nearest, shorten};

use super::em_costs::release;
use super::machine::Machine;
use super::provenance::Provenance;
use super::raw::{RawBins, RawCpufreq, RawPowerLimit, RawTurbo, Text};
use super::values::{MAX_POWER, at, between};
use crate::error::Flaw;
use crate::{Cpufreq, FreqDomain, IdleState, Nominal, PowerLimit, PowerUnit, Turbo, TurboBins};

/// Drivers under which `governor=powersave` is a hint to the hardware.
const DRIVERS: [&str; 2] = ["intel_pstate", "amd-pstate"];

/// Hints are a byte (Intel SDM volume 3, IA32_HWP_REQUEST; AMD's CPPC has the same).
const MOST_PREFERENCE: u64 = 255;

/// The longest time constant, ms: ten minutes.
const MAX_TAU_MS: u64 = 600_000;

/// The driver of the clocks.
pub(super) fn cpufreq(
    raw: Option<&Spanned<RawCpufreq>>,
    provenance: &mut Provenance,
) -> Result<Option<Cpufreq>, Flaw> {
    let Some(table) = raw else {
        return Ok(None);
    };
    let raw = table.get_ref();
    provenance.note(at(table), "cpufreq".into(), &raw.source, raw.standing)?;
    let driver = raw.driver.get_ref();
    if !DRIVERS.contains(&driver.as_str()) {
        let hint = did_you_mean(nearest(driver, DRIVERS));
        let problem = format!(
            "`{}` is no driver under which hardware chooses",
            shorten(driver)
        );
        let expected = format!("expected {}, or no table{hint}", DRIVERS.join(" or "));
        return Err(Flaw::new(at(&raw.driver), problem, expected));
    }
    let Some(preference) = &raw.preference else {
        let problem = "a driver without the hint that `powersave` begins with";
        let expected = "expected `preference`, 0 (performance) to 255 (energy)";
        return Err(Flaw::new(at(table), problem, expected));
    };
    let preference = between(preference, 0, MOST_PREFERENCE, "`preference`", "")?;
    Ok(Some(Cpufreq {
        driver: driver.clone(),
        preference: u8::try_from(preference).expect("a byte"),
    }))
}

/// Clocks by the number of awake cores.
pub(super) fn turbo(
    raw: Option<&Spanned<RawTurbo>>,
    (machine, domains, states): (&Machine<'_>, &[FreqDomain], &[IdleState]),
    provenance: &mut Provenance,
) -> Result<Option<Turbo>, Flaw> {
    let Some(table) = raw else {
        return Ok(None);
    };
    let raw = table.get_ref();
    provenance.note(at(table), "turbo".into(), &raw.source, raw.standing)?;
    let mut awake = vec![false; states.len()];
    for name in &raw.awake {
        mark(name, states, &mut awake)?;
    }
    let mut seen = vec![false; machine.cpus.len()];
    let mut bins = Vec::new();
    for row in raw.bins.get_ref() {
        bins.push(read_bins(row, machine, domains, &mut seen)?);
    }
    let nominal = nominal(raw, &bins, domains)?;
    Ok(Some(Turbo {
        awake,
        bins,
        nominal,
    }))
}

/// The clock above which a driver offers one for all.
fn nominal(
    raw: &RawTurbo,
    bins: &[TurboBins],
    domains: &[FreqDomain],
) -> Result<Option<Nominal>, Flaw> {
    let each_since = raw.each_since.as_ref();
    let Some(value) = &raw.nominal_khz else {
        return each_since.map_or(Ok(None), |text| {
            let problem = "a kernel that asks for each clock, and none that asks for one of all";
            Err(Flaw::new(at(text), problem, "expected `nominal_khz`"))
        });
    };
    let khz = u32::try_from(*value.get_ref()).unwrap_or(0);
    let counted = |domain: &&FreqDomain| {
        let mut groups = bins.iter();
        groups.any(|group| group.cpus.contains(&domain.cpus[0]))
    };
    let below_the_last = |domain: &FreqDomain| {
        let (_, below) = domain.opps.split_last().expect("at least one");
        below.iter().any(|opp| opp.khz == khz)
    };
    let without = domains.iter().filter(counted);
    if let Some(domain) = { without }.find(|domain| !below_the_last(domain)) {
        let problem = format!(
            "{} kHz is no operating point of CPU {} below its highest",
            value.get_ref(),
            domain.cpus[0]
        );
        return Err(Flaw::new(at(value), problem, "expected the nominal clock"));
    }
    let each_since = each_since.map(release).transpose()?;
    Ok(Some(Nominal { khz, each_since }))
}

/// A core in a state of this name counts as awake.
fn mark(name: &Text, states: &[IdleState], awake: &mut [bool]) -> Result<(), Flaw> {
    let own = |state: &IdleState| state.name == *name.get_ref();
    if !states.iter().any(own) {
        let problem = format!("no idle state is called `{}`", shorten(name.get_ref()));
        let names = states.iter().map(|state| state.name.as_str());
        let hint = did_you_mean(nearest(name.get_ref(), names));
        let expected = format!("expected the name of one{hint}");
        return Err(Flaw::new(at(name), problem, expected));
    }
    let marks = awake.iter_mut().zip(states);
    marks
        .filter(|(_, state)| own(state))
        .for_each(|(mark, _)| *mark = true);
    Ok(())
}

/// The highest clocks of some CPUs by awake cores: none rises, each is an operating point.
fn read_bins(
    row: &Spanned<RawBins>,
    machine: &Machine<'_>,
    domains: &[FreqDomain],
    seen: &mut [bool],
) -> Result<TurboBins, Flaw> {
    let own = row.get_ref();
    let cpus = machine.list(&own.cpus)?;
    for cpu in &cpus {
        if std::mem::replace(&mut seen[cpu.index()], true) {
            let problem = format!("CPU {cpu} is counted twice");
            return Err(Flaw::new(at(&own.cpus), problem, "expected each CPU once"));
        }
    }
    let mut khz: Vec<u32> = Vec::new();
    for value in own.khz.get_ref() {
        let clock = u32::try_from(*value.get_ref()).unwrap_or(0);
        let domain = domains.iter().find(|domain| {
            let here = domain.cpus.iter().any(|cpu| cpus.contains(cpu));
            here && !domain.opps.iter().any(|opp| opp.khz == clock)
        });
        if let Some(domain) = domain {
            let problem = format!(
                "{} kHz is no operating point of CPU {}",
                value.get_ref(),
                domain.cpus[0]
            );
            return Err(Flaw::new(at(value), problem, "expected one of its clocks"));
        }
        if let Some(fewer) = khz.last().filter(|fewer| **fewer < clock) {
            let problem = format!("{clock} kHz with more awake cores than {fewer} kHz");
            return Err(Flaw::new(
                at(value),
                problem,
                "expected clocks that do not rise",
            ));
        }
        khz.push(clock);
    }
    if khz.is_empty() {
        let expected = "expected the highest clock with 1, 2, ... awake cores";
        return Err(Flaw::new(at(&own.khz), "no clock", expected));
    }
    Ok(TurboBins { cpus, khz })
}

/// What a package may draw.
pub(super) fn power_limit(
    raw: Option<&Spanned<RawPowerLimit>>,
    unit: PowerUnit,
    provenance: &mut Provenance,
) -> Result<Option<PowerLimit>, Flaw> {
    let Some(table) = raw else {
        return Ok(None);
    };
    let raw = table.get_ref();
    provenance.note(at(table), "power_limit".into(), &raw.source, raw.standing)?;
    if unit != PowerUnit::Microwatt {
        let problem = "a limit of watts on a machine without power in watts";
        return Err(Flaw::new(at(table), problem, "expected no `[power_limit]`"));
    }
    let watts = |value, key| between(value, 1, MAX_POWER, key, "uW");
    let long_uw = watts(&raw.long_uw, "`long_uw`")?;
    let short_uw = watts(&raw.short_uw, "`short_uw`")?;
    if short_uw < long_uw {
        let problem = format!("at any time {short_uw} uW, in the long run {long_uw} uW");
        let expected = "expected `short_uw` to be no less than `long_uw`";
        return Err(Flaw::new(at(&raw.short_uw), problem, expected));
    }
    let beside_uw = match &raw.beside_uw {
        Some(value) => between(value, 0, long_uw - 1, "`beside_uw`", "uW")?,
        None => 0,
    };
    let tau_ms = between(&raw.tau_ms, 1, MAX_TAU_MS, "`tau_ms`", "ms")?;
    Ok(Some(PowerLimit {
        long_uw,
        tau_ns: tau_ms * 1_000_000,
        short_uw,
        beside_uw,
    }))
}
