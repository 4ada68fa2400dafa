//! How fast each CPU is at its best, on the kernel's scale (docs/guide/import.md, "What is read").
//!
//! Called by `sysfs/mod.rs`, for imports and for the live scheduler.
//!
//! What must stay: the kernel's word goes before the firmware's; ranks of CPUs of one kind are no
//! capacities; the biggest CPU by the firmware has 1024. Free: what leaves the files of imports as
//! they are (ARCHITECTURE.md, "What a change may touch"), and words of messages that no test
//! quotes. Tests by part: `capacity_from_the_firmware` (`read`, `per_cpu`),
//! `rankings_are_no_capacities` (`ranks_only`, `highest_perf`), `a_board_of_two_clusters`
//! (`cpu_capacity`), `offline_cpus_have_a_place_of_their_own` (`share`),
//! `what_is_missing_or_no_file_is_named` (a CPU without one).
//!
//! Tests: crates/platform/tests/all/sysfs.rs

use super::{CPUS, CapacitySource, SysfsError, Tree, details, marked};

/// The capacity of the fastest CPU (`SCHED_CAPACITY_SCALE`).
const SCALE: u32 = 1024;

/// Capacity of each CPU; offline ones have `SCALE` for want of a statement.
pub(super) fn read(tree: &Tree, online: &[bool]) -> Result<(Vec<u32>, CapacitySource), SysfsError> {
    let mut capacity = vec![SCALE; online.len()];
    let stated = per_cpu(
        tree,
        online,
        "cpu_capacity",
        1..=u64::from(SCALE),
        "a capacity",
    )?;
    if !stated.is_empty() {
        for (cpu, value) in stated {
            capacity[usize::from(cpu)] = value as u32;
        }
        return Ok((capacity, CapacitySource::Kernel));
    }
    let perf = highest_perf(tree, online)?;
    let Some(most) = perf.iter().map(|(_, value)| *value).max() else {
        return Ok((capacity, CapacitySource::Alike));
    };
    for (cpu, value) in perf {
        let share = (value * u64::from(SCALE) / most).max(1);
        capacity[usize::from(cpu)] = share as u32;
    }
    Ok((capacity, CapacitySource::HighestPerf))
}

/// The firmware's figure of each online CPU, or none at all: also where it only ranks CPUs.
fn highest_perf(tree: &Tree, online: &[bool]) -> Result<Vec<(u16, u64)>, SysfsError> {
    if ranks_only(tree, online.len())? {
        return Ok(Vec::new());
    }
    let file = "acpi_cppc/highest_perf";
    per_cpu(
        tree,
        online,
        file,
        1..=u64::from(u32::MAX),
        "a performance level",
    )
}

/// Does the figure rank CPUs of one kind? AMD's firmware does so whatever driver is in use
/// (Documentation/admin-guide/pm/amd-pstate.rst, preferred core), Intel's for favoured cores
/// (arch/x86/kernel/itmt.c). On x86 only CPUs of two kinds have capacities: there the kernel has an
/// event source for each kind. A tree that does not say what machine it is of is taken at its word.
fn ranks_only(tree: &Tree, nr_cpus: usize) -> Result<bool, SysfsError> {
    if details::amd(tree) || tree.names(&format!("{CPUS}/amd_pstate"))?.is_some() {
        return Ok(true);
    }
    Ok(details::x86(tree) && details::hybrid(tree, nr_cpus)?.len() < 2)
}

/// One number per online CPU; nothing if no CPU has it, an error if only some have.
fn per_cpu(
    tree: &Tree,
    online: &[bool],
    file: &str,
    range: std::ops::RangeInclusive<u64>,
    what: &str,
) -> Result<Vec<(u16, u64)>, SysfsError> {
    let mut found = Vec::new();
    let mut without = None;
    for cpu in marked(online) {
        let path = format!("{CPUS}/cpu{cpu}/{file}");
        match tree.number(&path, range.clone(), what)? {
            Some(value) => found.push((cpu, value)),
            None => without = without.or(Some(path)),
        }
    }
    match (without, found.first()) {
        (Some(path), Some((cpu, _))) => {
            let expected = format!("{what}, as CPU {cpu} has one");
            Err(tree.wrong(&path, "no such file", expected))
        }
        _ => Ok(found),
    }
}

/// CPUs of one clock or one energy model are of one kind: the offline ones are as the online ones.
pub(super) fn share(cpus: &[u16], online: &[bool], capacity: &mut [u32]) {
    let is_online = |cpu: &&u16| online[usize::from(**cpu)];
    let Some(known) = cpus.iter().find(is_online) else {
        return;
    };
    let known = capacity[usize::from(*known)];
    for cpu in cpus.iter().filter(|cpu| !is_online(cpu)) {
        capacity[usize::from(*cpu)] = known;
    }
}
