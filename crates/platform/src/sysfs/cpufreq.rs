//! The kernel's frequency domains: cpufreq policies (docs/guide/import.md, "What is read").
//!
//! Called by `sysfs/mod.rs`. Clocks are kHz, latencies ns.
//!
//! What must stay: policies stand by number, each CPU in one; a policy whose CPUs are all offline
//! is left out; 2^32 - 1 ns means that the driver does not know. Free: what leaves the files of
//! imports as they are (ARCHITECTURE.md, "What a change may touch"), and words of messages that no
//! test quotes. Tests by part: `a_board_of_two_clusters` (`read`, `read_policy`, `available`),
//! `an_inactive_policy_and_an_unknown_latency` (`LATENCY_UNKNOWN`, an empty policy),
//! `damaged_trees_are_refused` (limits, a CPU in two).
//!
//! Tests: crates/platform/tests/all/sysfs.rs

use super::{CPUS, SysfsError, Tree, tree};

/// Highest frequency that is believed, kHz (20 GHz).
const MAX_KHZ: u64 = 20_000_000;

/// Longest transition that is believed, ns (10 s). Drivers that do not know it say 2^32 - 1.
const MAX_LATENCY_NS: u64 = 10_000_000_000;

/// `CPUFREQ_ETERNAL`: the driver does not know how long a change takes.
const LATENCY_UNKNOWN: u64 = 0xffff_ffff;

/// CPUs that share one clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpufreqPolicy {
    /// N of `policyN`.
    pub number: u32,
    /// Members, ascending, those that are offline too.
    pub cpus: Vec<u16>,
    /// What sets its frequency, as `schedutil`.
    pub governor: Option<String>,
    /// Frequencies the driver lists, kHz, ascending; empty where it lists none.
    pub available_khz: Vec<u32>,
    /// Lowest and highest frequency of the hardware, kHz.
    pub limits_khz: Option<(u32, u32)>,
    /// Time a change takes, ns.
    pub transition_latency_ns: Option<u64>,
}

/// The policies, by number. One whose CPUs are all offline says nothing and is left out.
pub(super) fn read(tree: &Tree, nr_cpus: usize) -> Result<Vec<CpufreqPolicy>, SysfsError> {
    let folder = format!("{CPUS}/cpufreq");
    let mut owner: Vec<Option<u32>> = vec![None; nr_cpus];
    let mut policies = Vec::new();
    for number in tree.numbered(&folder, "policy")? {
        let Some(policy) = read_policy(tree, &format!("{folder}/policy{number}"), number, nr_cpus)?
        else {
            continue;
        };
        for cpu in &policy.cpus {
            if let Some(other) = owner[usize::from(*cpu)].replace(number) {
                let path = format!("{folder}/policy{number}/related_cpus");
                let found = format!("CPU {cpu}, which policy{other} has too");
                return Err(tree.wrong(&path, found, "each CPU in one policy"));
            }
        }
        policies.push(policy);
    }
    Ok(policies)
}

/// One policy; None: its folder has no CPUs.
fn read_policy(
    tree: &Tree,
    at: &str,
    number: u32,
    nr_cpus: usize,
) -> Result<Option<CpufreqPolicy>, SysfsError> {
    let cpus = tree.cpus(&format!("{at}/related_cpus"), nr_cpus)?;
    let Some(cpus) = cpus.filter(|cpus| !cpus.is_empty()) else {
        return Ok(None);
    };
    let khz = |file: &str| tree.number(&format!("{at}/{file}"), 1..=MAX_KHZ, "a frequency in kHz");
    let limits_khz = match (khz("cpuinfo_min_freq")?, khz("cpuinfo_max_freq")?) {
        (Some(low), Some(high)) if low <= high => Some((low as u32, high as u32)),
        (Some(low), Some(high)) => {
            let expected = format!("at least cpuinfo_min_freq, {low}");
            let path = format!("{at}/cpuinfo_max_freq");
            return Err(tree.wrong(&path, high.to_string(), expected));
        }
        _ => None,
    };
    let latency = format!("{at}/cpuinfo_transition_latency");
    let latency = tree.number(&latency, 0..=MAX_LATENCY_NS, "a time in ns")?;
    Ok(Some(CpufreqPolicy {
        number,
        cpus,
        governor: tree.text(&format!("{at}/scaling_governor"), "a governor's name")?,
        available_khz: available(tree, &format!("{at}/scaling_available_frequencies"))?,
        limits_khz,
        transition_latency_ns: latency.filter(|ns| *ns != LATENCY_UNKNOWN),
    }))
}

/// Frequencies of a file, rising; empty: it is not there.
fn available(tree: &Tree, path: &str) -> Result<Vec<u32>, SysfsError> {
    let expected = format!("frequencies from 1 to {MAX_KHZ} kHz");
    let Some(text) = tree.text(path, &expected)? else {
        return Ok(Vec::new());
    };
    let mut khz = Vec::new();
    for part in text.split_whitespace() {
        match tree::number(part).filter(|khz| (1..=MAX_KHZ).contains(khz)) {
            Some(value) => khz.push(value as u32),
            None => return Err(tree.wrong(path, tree::quoted(part), expected)),
        }
    }
    khz.sort_unstable();
    khz.dedup();
    Ok(khz)
}
