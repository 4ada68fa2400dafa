//! The machine itself: CPUs, memory, and what whoever asks may do on it (docs/guide/live.md,
//! "Run").
//!
//! What must stay: names of checks; capabilities are the effective ones. Free: words of remedies,
//! but for those that probe.rs quotes.
//!
//! Tests by part: `a_board_with_everything_lacks_nothing` (`cpus`, `arch`, `memory`, `field`),
//! `rights_are_the_effective_ones` (`rights`, `lacking_capabilities`),
//! probe.rs::`an_empty_tree_stops_only_the_live_scheduler` (`cpus`, `count_in_cpuinfo`: nothing is
//! there).
//!
//! Callers: crates/host/src/lib.rs (`checks`).
//!
//! Tests: crates/host/tests/probe.rs::a_board_with_everything_lacks_nothing,
//! crates/host/tests/probe.rs::rights_are_the_effective_ones

use crate::tree::{Absent, Tree, cpu_list_len};
use crate::{Check, NeededFor, State, fact};

/// The capabilities that loading a scheduler takes, by bit (include/uapi/linux/capability.h).
const CAPABILITIES: [(&str, u32); 2] = [("CAP_PERFMON", 38), ("CAP_BPF", 39)];

/// How many CPUs, and of which kind.
pub(crate) fn cpus(tree: &Tree) -> Check {
    let online = tree.text("sys/devices/system/cpu/online").ok();
    let count = online
        .as_deref()
        .and_then(cpu_list_len)
        .or_else(|| count_in_cpuinfo(tree));
    let arch = arch(tree).unwrap_or_else(|| "of unknown kind".to_owned());
    match count {
        Some(1) => check("cpus", true, State::Ok, format!("1 CPU, {arch}")),
        Some(count) => check("cpus", true, State::Ok, format!("{count} CPUs, {arch}")),
        None => check(
            "cpus",
            true,
            State::Unknown,
            "neither /sys nor /proc lists CPUs",
        ),
    }
}

/// Of the simulator's.
fn check(name: &'static str, required: bool, state: State, found: impl Into<String>) -> Check {
    fact(name, NeededFor::Simulator, required, state, found)
}

/// Counts CPUs in /proc/cpuinfo, where sysfs says nothing.
fn count_in_cpuinfo(tree: &Tree) -> Option<u32> {
    let text = tree.text("proc/cpuinfo").ok()?;
    let count = text
        .lines()
        .filter(|line| line.starts_with("processor"))
        .count();
    u32::try_from(count).ok().filter(|&count| count > 0)
}

/// The machine's name for its instruction set: from the kernel (6.1 and later), else, only for the
/// running machine, what this program was built for.
fn arch(tree: &Tree) -> Option<String> {
    let from_kernel = tree
        .text("proc/sys/kernel/arch")
        .ok()
        .filter(|arch| !arch.is_empty());
    from_kernel.or_else(|| tree.is_live().then(|| std::env::consts::ARCH.to_owned()))
}

/// How much memory there is and how much of it can be had now.
pub(crate) fn memory(tree: &Tree) -> Check {
    let text = tree.text("proc/meminfo").unwrap_or_default();
    let gib = |key: &str| {
        let kib: f64 = field(&text, key)?.split_whitespace().next()?.parse().ok()?;
        Some(kib / (1024.0 * 1024.0))
    };
    match (gib("MemTotal"), gib("MemAvailable")) {
        (Some(total), Some(free)) => check(
            "memory",
            false,
            State::Ok,
            format!("{total:.1} GiB, {free:.1} GiB available"),
        ),
        (Some(total), None) => check("memory", false, State::Ok, format!("{total:.1} GiB")),
        (None, _) => check(
            "memory",
            false,
            State::Unknown,
            "/proc/meminfo does not say",
        ),
    }
}

/// The text after `KEY:` in a file of such lines. None: there is no such line.
fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines()
        .find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))
        .map(str::trim)
}

/// Checks whether whoever asks may load a scheduler.
pub(crate) fn rights(tree: &Tree) -> Check {
    let rights =
        |state, found: String| fact("rights", NeededFor::LiveScheduler, true, state, found);
    let status = match tree.text("proc/self/status") {
        Ok(status) => status,
        Err(Absent::NotThere) => {
            return rights(
                State::Unknown,
                "no /proc/self/status to tell the user by".to_owned(),
            );
        }
        Err(Absent::Unreadable(why)) => return rights(State::Unknown, why),
    };
    // Uid: real, effective, saved, file system.
    let Some(euid) = field(&status, "Uid").and_then(|ids| ids.split_whitespace().nth(1)) else {
        return rights(State::Unknown, "/proc/self/status names no user".to_owned());
    };
    let lacking = lacking_capabilities(&status);
    let who = if euid == "0" {
        "root".to_owned()
    } else {
        format!("user {euid}")
    };
    match lacking {
        None if euid == "0" => rights(State::Ok, who),
        None => rights(State::Missing, format!("{who}, capabilities not listed"))
            .remedy("start it with sudo"),
        Some(lacking) if lacking.is_empty() => rights(
            State::Ok,
            format!("{who}, with the capabilities to load BPF programs"),
        ),
        Some(lacking) => rights(
            State::Missing,
            format!("{who} without {}", lacking.join(", ")),
        )
        .remedy(if euid == "0" {
            "this container or service took root's capabilities away: start it with them"
        } else {
            "start it with sudo"
        }),
    }
}

/// Which of the needed capabilities the effective set lacks; `None` when it is not listed.
fn lacking_capabilities(status: &str) -> Option<Vec<&'static str>> {
    let effective = u64::from_str_radix(field(status, "CapEff")?, 16).ok()?;
    let lacking = CAPABILITIES
        .iter()
        .filter(|(_, bit)| effective >> bit & 1 == 0);
    Some(lacking.map(|(name, _)| *name).collect())
}
