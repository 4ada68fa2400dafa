//! How fast CPUs are that a kernel takes for alike: by the firmware's word where a source has it,
//! else by their clocks and kinds (docs/guide/import.md, "What is assumed, and how").
//!
//! Called by `fill.rs`.
//!
//! What must stay: speeds are 1024 for the fastest CPU and one per clock, as `read` demands; the
//! engine works by them where capacities are alike, and a kernel never sees them. What is not the
//! firmware's word is said to be assumed. Free: what leaves the files of imports as they are
//! (ARCHITECTURE.md, "What a change may touch"), and words of messages that no test quotes. Tests
//! by part: `speeds_by_clock_are_said_to_be_assumed` (`by_clock`, `fill`),
//! `hybrids_have_priorities_or_capacities` (the firmware's levels). No test of its own:
//! `one_per_clock`.
//!
//! Tests: crates/platform/tests/all/import/mod.rs

use super::found::{Found, Origin, cpu_list, of_largest};

/// What an E core of Intel's gets done per clock, of a P core's 1: the scaling factors of
/// `HYBRID_SCALING_FACTOR_ADL` and of E cores in drivers/cpufreq/intel_pstate.c.
const EFFICIENCY_CORE: (u64, u64) = (78_741, 100_000);

/// States the speeds of CPUs of one capacity that are not alike: of several kinds, or of several
/// highest clocks. Elsewhere the capacity is the speed.
pub(super) fn fill(found: &mut Found, said: &mut Vec<String>) {
    if found.speed.is_none() {
        found.speed = by_clock(found, said);
    }
    if let Some((speeds, _)) = &mut found.speed {
        one_per_clock(speeds, &found.clocks);
        let most = speeds.iter().max().copied().unwrap_or(0);
        speeds
            .iter_mut()
            .for_each(|speed| *speed = of_largest(*speed, most));
    }
}

/// Speeds by the highest clocks, where all CPUs have one capacity and their clocks differ.
fn by_clock(found: &Found, said: &mut Vec<String>) -> Option<(Vec<u64>, Origin)> {
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
    let efficient = |cpu: usize| found.cpus[cpu].kind.as_deref() == Some("E");
    let speed = |cpu: usize| match efficient(cpu) {
        true => top[cpu] * EFFICIENCY_CORE.0 / EFFICIENCY_CORE.1,
        false => top[cpu],
    };
    let speeds: Vec<u64> = (0..top.len()).map(speed).collect();
    let kind = |cpu: usize| &found.cpus[cpu].kind;
    if (0..top.len()).all(|cpu| speeds[cpu] == speeds[0] && kind(cpu) == kind(0)) {
        return None;
    }
    let factor = match (0..top.len()).any(efficient) {
        true => "0.787 for E cores (intel_pstate's scaling factors), 1 for all others",
        false => "1",
    };
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

/// CPUs of one clock have one speed, that of the fastest.
fn one_per_clock(speeds: &mut [u64], clocks: &[super::found::Clock]) {
    for clock in clocks {
        let cpus = || clock.cpus.iter().map(|cpu| usize::from(*cpu));
        let most = cpus().map(|cpu| speeds[cpu]).max().unwrap_or(0);
        cpus().for_each(|cpu| speeds[cpu] = most);
    }
}
