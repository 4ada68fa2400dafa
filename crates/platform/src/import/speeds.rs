//! How fast CPUs are that a kernel takes for alike: by the firmware's word where a source has it,
//! else by their clocks and what their kinds do per MHz (`per_mhz.rs`; docs/guide/import.md, "What
//! is assumed, and how").
//!
//! Called by `fill.rs`.
//!
//! What must stay: speeds are 1024 for the fastest CPU and one per clock, as `read` demands; the
//! engine works by them where capacities are alike, and a kernel never sees them. What is not the
//! firmware's word is said to be assumed. Free: what leaves the files of imports as they are
//! (ARCHITECTURE.md, "What a change may touch"), and words of messages that no test quotes. Tests
//! by part: `speeds_by_clock_are_said_to_be_assumed` (`by_clock`, `of_intel`, `fill`),
//! kinds.rs::`kinds_without_capacities_have_speeds` (`by_clock` of ARM's kinds),
//! `hybrids_have_priorities_or_capacities` (the firmware's levels). No test of its own:
//! `one_per_clock`.
//!
//! Tests: crates/platform/tests/all/import/mod.rs, crates/platform/tests/all/import/kinds.rs

use super::found::{Found, Origin, cpu_list, of_largest};
use super::per_mhz::{self, PerMhz};
use crate::arch::Arch;

/// What an E core of Intel's gets done per clock, of a P core's 1: the scaling factors of
/// `HYBRID_SCALING_FACTOR_ADL` and of E cores in drivers/cpufreq/intel_pstate.c.
const EFFICIENCY_CORE: (u64, u64) = (78_741, 100_000);

/// States the speeds of CPUs of one capacity that are not alike: of several kinds, or of several
/// highest clocks. Elsewhere the capacity is the speed. Warnings go to `warnings`.
pub(super) fn fill(found: &mut Found, said: &mut Vec<String>, warnings: &mut Vec<String>) {
    if found.speed.is_none() {
        found.speed = by_clock(found, said, warnings);
    }
    if let Some((speeds, _)) = &mut found.speed {
        one_per_clock(speeds, &found.clocks);
        let most = speeds.iter().max().copied().unwrap_or(0);
        speeds
            .iter_mut()
            .for_each(|speed| *speed = of_largest(*speed, most));
    }
}

/// Speeds by the highest clocks and the kinds, where all CPUs have one capacity and differ in one
/// of the two.
fn by_clock(
    found: &Found,
    said: &mut Vec<String>,
    warnings: &mut Vec<String>,
) -> Option<(Vec<u64>, Origin)> {
    if found
        .cpus
        .iter()
        .any(|cpu| cpu.capacity != found.cpus[0].capacity)
    {
        return None;
    }
    let mut top = vec![0; found.cpus.len()];
    for clock in &found.clocks {
        let khz = clock.points.last().map_or(1, |point| u64::from(point.khz));
        clock
            .cpus
            .iter()
            .for_each(|cpu| top[usize::from(*cpu)] = khz);
    }
    let kinds: Vec<&str> = { found.cpus.iter() }
        .map(|cpu| cpu.kind.as_deref().unwrap_or_default())
        .collect();
    if (0..top.len()).all(|cpu| top[cpu] == top[0] && kinds[cpu] == kinds[0]) {
        return None;
    }
    let per_mhz = match found.arch() {
        Arch::Arm | Arch::Arm64 => per_mhz::of_kinds(&kinds),
        _ => of_intel(&kinds),
    };
    warnings.extend(per_mhz.warning);
    let speeds: Vec<u64> = { top.iter().zip(&per_mhz.factors) }
        .map(|(khz, (part, whole))| khz * part / whole)
        .collect();
    let factor = per_mhz.said;
    let text = format!("the source does not say how fast a CPU is: highest clock times {factor}");
    let slower: Vec<u16> = (0u16..)
        .zip(&speeds)
        .filter(|(_, speed)| Some(*speed) < speeds.iter().max())
        .map(|(cpu, _)| cpu)
        .collect();
    let whose = match slower.is_empty() {
        true => "all CPUs alike".to_owned(),
        false => format!("CPUs {} slower than the others", cpu_list(&slower)),
    };
    said.push(format!("speed, {whose}: {text}"));
    Some((speeds, Origin::assumed(text)))
}

/// What CPUs do per MHz where no kind but Intel's E cores is known to differ.
fn of_intel(kinds: &[&str]) -> PerMhz {
    let efficient = |kind: &&str| *kind == "E";
    let factor = |kind: &&str| match efficient(kind) {
        true => EFFICIENCY_CORE,
        false => (1, 1),
    };
    let said = match kinds.iter().any(efficient) {
        true => "0.787 for E cores (intel_pstate's scaling factors), 1 for all others",
        false => "1",
    };
    PerMhz {
        factors: kinds.iter().map(factor).collect(),
        said: said.to_owned(),
        warning: None,
    }
}

/// CPUs of one clock have one speed, that of the fastest.
fn one_per_clock(speeds: &mut [u64], clocks: &[super::found::Clock]) {
    for clock in clocks {
        let cpus = || clock.cpus.iter().map(|cpu| usize::from(*cpu));
        let most = cpus().map(|cpu| speeds[cpu]).max().unwrap_or(0);
        cpus().for_each(|cpu| speeds[cpu] = most);
    }
}
