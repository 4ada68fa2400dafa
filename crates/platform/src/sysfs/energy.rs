//! The kernel's energy model, as debugfs shows it: one folder per performance domain, with one
//! folder per state. Devices have such folders too, without a list of CPUs (docs/guide/import.md,
//! "What is read").
//!
//! Called by `sysfs/mod.rs` and, by `details.rs`, by imports. Clocks are kHz.
//!
//! What must stay: powers are µW where the domain says watts, whatever the kernel's release counts,
//! else a scale of its own; states rise. Free: what leaves the files of imports as they are
//! (ARCHITECTURE.md, "What a change may touch"), and words of messages that no test quotes. Tests
//! by part: `the_kernel_says_what_its_powers_count` (`watts_unit_uw`, `flags`, `state`),
//! `a_board_of_two_clusters` (`read`, `states`; a device is none), `damaged_trees_are_refused`
//! (`check_capacity`, overlaps, frequencies that fall), `what_is_missing_or_no_file_is_named` (a
//! domain without states), mod.rs::`an_energy_model_beside_the_tree` (a folder alone).
//!
//! Tests: crates/platform/tests/all/sysfs.rs, crates/platform/tests/all/import/mod.rs

use super::{SysfsError, Tree, details, tree};

/// Where it is below the root of a tree.
pub(super) const FOLDER: &str = "sys/kernel/debug/energy_model";

/// Highest frequency that is believed, kHz (20 GHz).
const MAX_KHZ: u64 = 20_000_000;

/// Highest power the kernel takes, uW (`EM_MAX_POWER`: 64 W).
const MAX_POWER_UW: u64 = 64_000_000;

/// Most states of a domain: far above what any driver registers.
const MAX_STATES: usize = 256;

/// The powers are watts, not a scale of the driver's own: `EM_PERF_DOMAIN_MICROWATTS`, until 5.19
/// `EM_PERF_DOMAIN_MILLIWATTS`.
const FLAG_WATTS: u64 = 1;

/// The first kernel whose powers are microwatts (6.0; the series of June 2022, "PM: EM: convert
/// power field to micro-Watts precision").
const MICROWATTS_SINCE: u64 = 6;

/// `EM_PERF_DOMAIN_ARTIFICIAL`: the model states costs only; its powers and frequencies say
/// nothing.
const FLAG_ARTIFICIAL: u64 = 4;

/// A performance domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnergyDomain {
    /// Name of its folder.
    pub name: String,
    /// Members, ascending.
    pub cpus: Vec<u16>,
    /// States, by frequency.
    pub states: Vec<EnergyState>,
    /// The kernel says that the powers are watts: here they are microwatts. Else only their ratios
    /// mean something.
    pub microwatts: bool,
    /// The kernel says that only the costs mean something, which are not read.
    pub artificial: bool,
}

/// A state of a performance domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnergyState {
    /// Frequency, kHz.
    pub khz: u32,
    /// Power of one busy CPU, uW where the domain says so.
    pub power_uw: u32,
    /// A faster state costs no more per unit of work.
    pub inefficient: bool,
}

/// The performance domains of CPUs in a folder of the tree, by lowest CPU.
pub(super) fn read(
    tree: &Tree,
    folder: &str,
    nr_cpus: usize,
) -> Result<Vec<EnergyDomain>, SysfsError> {
    let mut domains: Vec<EnergyDomain> = Vec::new();
    let watts_unit_uw = watts_unit_uw(tree);
    for name in tree.names(folder)?.unwrap_or_default() {
        let path = format!("{folder}/{name}/cpus");
        let Some(cpus) = tree.cpus(&path, nr_cpus)? else {
            continue;
        };
        if cpus.is_empty() {
            return Err(tree.wrong(&path, "nothing", "at least one CPU"));
        }
        let overlap = |d: &&EnergyDomain| d.cpus.iter().any(|cpu| cpus.contains(cpu));
        if let Some(other) = domains.iter().find(overlap) {
            let found = format!("a CPU that domain {} has too", other.name);
            return Err(tree.wrong(&path, found, "each CPU in one domain"));
        }
        let at = format!("{folder}/{name}");
        let flags = flags(tree, &at)?;
        let microwatts = flags & FLAG_WATTS != 0;
        let states = states(tree, &at, if microwatts { watts_unit_uw } else { 1 })?;
        domains.push(EnergyDomain {
            name,
            cpus,
            states,
            microwatts,
            artificial: flags & FLAG_ARTIFICIAL != 0,
        });
    }
    domains.sort_by_key(|domain| domain.cpus[0]);
    Ok(domains)
}

/// What the powers of a domain with `FLAG_WATTS` count, uW. A kernel that is not named, as beside a
/// copy of this folder alone, is one that counts microwatts.
fn watts_unit_uw(tree: &Tree) -> u64 {
    let release = details::release(tree).unwrap_or_default();
    let major = release.split('.').next().unwrap_or_default();
    match tree::number(major) {
        Some(0..MICROWATTS_SINCE) => 1000,
        _ => 1,
    }
}

/// What a domain's powers are, as the kernel's flags; 0 where the kernel has no such file.
fn flags(tree: &Tree, domain: &str) -> Result<u64, SysfsError> {
    let path = format!("{domain}/flags");
    let expected = "flags in hexadecimal, as 0x1";
    let Some(text) = tree.text(&path, expected)? else {
        return Ok(0);
    };
    match u64::from_str_radix(text.trim_start_matches("0x"), 16) {
        Ok(flags) => Ok(flags),
        Err(_) => Err(tree.wrong(&path, tree::quoted(&text), expected)),
    }
}

/// The states, in the order of their names `ps:KHZ`; their frequencies must rise with them. Their
/// powers count `unit_uw`.
fn states(tree: &Tree, domain: &str, unit_uw: u64) -> Result<Vec<EnergyState>, SysfsError> {
    let mut names = Vec::new();
    for entry in tree.names(domain)?.unwrap_or_default() {
        let Some(number) = entry.strip_prefix("ps:") else {
            continue;
        };
        let Some(number) = tree::number(number) else {
            let path = format!("{domain}/{entry}");
            return Err(tree.wrong(&path, "a state without a number", "ps: and a frequency"));
        };
        names.push((number, entry));
    }
    names.sort_unstable();
    if names.is_empty() || names.len() > MAX_STATES {
        let found = format!("{} states", names.len());
        return Err(tree.wrong(domain, found, format!("1 to {MAX_STATES} states ps:KHZ")));
    }
    let mut states: Vec<EnergyState> = Vec::new();
    for (_, entry) in &names {
        let at = format!("{domain}/{entry}");
        let state = state(tree, &at, unit_uw)?;
        if let Some(below) = states.last().filter(|below| below.khz >= state.khz) {
            let expected = format!("a frequency above that of the state before, {}", below.khz);
            let path = format!("{at}/frequency");
            return Err(tree.wrong(&path, format!("{} kHz", state.khz), expected));
        }
        states.push(state);
    }
    Ok(states)
}

/// One performance state, its power in uW.
fn state(tree: &Tree, at: &str, unit_uw: u64) -> Result<EnergyState, SysfsError> {
    let value = |file: &str, max: u64, what: &str| {
        let path = format!("{at}/{file}");
        let found = tree.number(&path, 1..=max, what)?;
        found.ok_or_else(|| tree.wrong(&path, "no such file", what))
    };
    let (most, unit) = match unit_uw {
        1 => (MAX_POWER_UW, "uW"),
        _ => (MAX_POWER_UW / unit_uw, "mW"),
    };
    let inefficient = tree.number(&format!("{at}/inefficient"), 0..=1, "a flag")?;
    Ok(EnergyState {
        khz: value("frequency", MAX_KHZ, "a frequency in kHz")? as u32,
        power_uw: (value("power", most, &format!("a power in {unit}"))? * unit_uw) as u32,
        inefficient: inefficient == Some(1),
    })
}

/// The states are of one kind of CPU: all members have its capacity.
pub(super) fn check_capacity(
    tree: &Tree,
    domain: &EnergyDomain,
    capacity: &[u32],
) -> Result<(), SysfsError> {
    let of = |cpu: u16| capacity[usize::from(cpu)];
    let first = domain.cpus[0];
    let other = domain.cpus.iter().find(|cpu| of(**cpu) != of(first));
    other.map_or(Ok(()), |other| {
        let path = format!("{FOLDER}/{}/cpus", domain.name);
        let (a, b) = (of(first), of(*other));
        let found = format!("CPU {first} of capacity {a} and CPU {other} of capacity {b}");
        Err(tree.wrong(&path, found, "CPUs of one capacity"))
    })
}
