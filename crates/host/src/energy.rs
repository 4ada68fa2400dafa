//! What the kernel knows of capacity, frequency and energy. None of it stops the live scheduler;
//! without it there is less to place by (docs/guide/live.md, "Run").
//!
//! What must stay: names of checks, which `doctor --format json` has. Capacities are of 1024. Free:
//! words of remedies, but for those that probe.rs quotes.
//!
//! Tests by part: `another_governor_is_named_by_policy` (`governor`),
//! `debugfs_without_models_differs_from_no_debugfs` (`energy_model`),
//! probe.rs::`a_board_with_everything_lacks_nothing` (`capacity`, `tally`).
//!
//! Callers: crates/host/src/lib.rs (`checks`).
//!
//! Tests: crates/host/tests/probe.rs::another_governor_is_named_by_policy,
//! crates/host/tests/probe.rs::debugfs_without_models_differs_from_no_debugfs

use std::collections::BTreeMap;

use crate::tree::{Absent, Tree};
use crate::{Check, NeededFor, State, fact};

const CPUS: &str = "sys/devices/system/cpu";
const DEBUGFS: &str = "sys/kernel/debug";

/// Of the live scheduler's, and not required.
fn check(name: &'static str, state: State, found: impl Into<String>) -> Check {
    fact(name, NeededFor::LiveScheduler, false, state, found)
}

/// `4 x 378, 2 x 1024`: how many of each, in the order of the values.
fn tally<K: Ord + std::fmt::Display>(values: impl IntoIterator<Item = K>) -> String {
    let mut counts: BTreeMap<K, u32> = BTreeMap::new();
    for value in values {
        *counts.entry(value).or_default() += 1;
    }
    let parts: Vec<String> = counts
        .iter()
        .map(|(key, n)| format!("{n} x {key}"))
        .collect();
    parts.join(", ")
}

/// The capacity of each CPU as the kernel states it.
pub(crate) fn capacity(tree: &Tree) -> Check {
    const NAME: &str = "cpu-capacity";
    let cpus = tree.numbered(CPUS, "cpu").unwrap_or_default();
    let read = |cpu: &u32| {
        tree.text(&format!("{CPUS}/cpu{cpu}/cpu_capacity"))
            .ok()?
            .parse()
            .ok()
    };
    let capacities: Vec<u32> = cpus.iter().filter_map(read).collect();
    if capacities.is_empty() {
        return check(NAME, State::Unknown, "the kernel states no cpu_capacity").remedy(
            "on a machine with CPUs of one kind nothing is missing; else name a platform \
                     description that has them",
        );
    }
    let one_kind = capacities.iter().all(|&capacity| capacity == capacities[0]);
    let kind = if one_kind { "all alike" } else { "asymmetric" };
    let unstated = cpus.len() - capacities.len();
    let rest = if unstated == 0 {
        String::new()
    } else {
        format!("; {unstated} not stated")
    };
    check(
        NAME,
        State::Ok,
        format!("{} ({kind}){rest}", tally(capacities)),
    )
}

/// Which governor each frequency policy runs: only `schedutil` follows what a scheduler asks for.
pub(crate) fn governor(tree: &Tree) -> Check {
    const NAME: &str = "governor";
    let folder = format!("{CPUS}/cpufreq");
    let policies = tree.numbered(&folder, "policy").unwrap_or_default();
    let mut governors = Vec::new();
    let mut others = Vec::new();
    for policy in policies {
        let Ok(name) = tree.text(&format!("{folder}/policy{policy}/scaling_governor")) else {
            continue;
        };
        if name != "schedutil" {
            others.push(format!("policy{policy}"));
        }
        governors.push(name);
    }
    if governors.is_empty() {
        return check(
            NAME,
            State::Missing,
            "the kernel sets no frequencies (no cpufreq policy)",
        )
        .remedy("nothing to do in a virtual machine; else load the CPU's cpufreq driver");
    }
    let found = tally(governors);
    if others.is_empty() {
        return check(NAME, State::Ok, found);
    }
    check(
        NAME,
        State::Missing,
        format!("{found}; not schedutil: {}", others.join(", ")),
    )
    .remedy(format!(
        "echo schedutil | sudo tee /{folder}/policy*/scaling_governor"
    ))
}

/// Checks whether the kernel holds energy models, which only debugfs shows.
pub(crate) fn energy_model(tree: &Tree) -> Check {
    const NAME: &str = "energy-model";
    const INSTEAD: &str =
        "energy-aware placement takes the costs from a platform description instead";
    let folder = format!("{DEBUGFS}/energy_model");
    // Devices have models too, without a list of CPUs.
    let of_cpus = |name: &String| tree.bytes(&format!("{folder}/{name}/cpus")).is_ok();
    let domains = tree.names(&folder);
    match domains.map(|names| names.into_iter().filter(of_cpus).collect::<Vec<_>>()) {
        Ok(domains) if !domains.is_empty() => {
            let found = format!(
                "{} performance domains: {}",
                domains.len(),
                domains.join(", ")
            );
            check(NAME, State::Ok, found)
        }
        Ok(_) => check(
            NAME,
            State::Missing,
            format!("/{folder} has no CPU's model"),
        )
        .remedy(INSTEAD),
        Err(Absent::Unreadable(why)) => {
            check(NAME, State::Unknown, why).remedy("debugfs is for root: ask again with sudo")
        }
        Err(Absent::NotThere) => match tree.names(DEBUGFS) {
            Ok(entries) if !entries.is_empty() => {
                check(NAME, State::Missing, format!("no /{folder}")).remedy(INSTEAD)
            }
            Err(Absent::Unreadable(why)) => {
                check(NAME, State::Unknown, why).remedy("debugfs is for root: ask again with sudo")
            }
            _ => check(
                NAME,
                State::Unknown,
                format!("debugfs is not mounted at /{DEBUGFS}"),
            )
            .remedy(format!("sudo mount -t debugfs none /{DEBUGFS}")),
        },
    }
}
