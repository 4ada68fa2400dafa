//! What an import wants to know beyond what the live scheduler does: names, idle states,
//! priorities, and how the CPUs are divided before levels are made of it (docs/guide/import.md,
//! "What is read").
//!
//! Files: Documentation/ABI/testing/sysfs-devices-system-cpu (cpuidle, regs/identification),
//! Documentation/admin-guide/pm/intel_pstate.rst (base_frequency, hybrid processors),
//! arch/x86/kernel/itmt.c (sched_itmt_enabled).
//!
//! Called by imports only, but `amd`, `x86`, `hybrid` and `release`, which `capacity.rs` and
//! `energy.rs` need for the live scheduler, too. Clocks are kHz, times µs.
//!
//! What must stay: what no file says is `None`, as `fill.rs` and not this file assumes things;
//! names in `PARTS` are those of built-in platforms. Free: what leaves the files of imports as they
//! are (ARCHITECTURE.md, "What a change may touch"), and words of messages that no test quotes.
//! Tests by part: `the_tick_is_found_where_configurations_are` (`tick_hz`),
//! mod.rs::`two_sockets_with_threads` (`idle`, `model`), mod.rs::`servers_of_arm` (`arm_kind`),
//! mod.rs::`hybrids_have_priorities_or_capacities` (`hybrid`, `rank`),
//! hostile.rs::`one_message_names_the_file` (what is refused),
//! hostile.rs::`a_tree_with_a_nameless_idle_state` (`idle`),
//! architectures.rs::`other_instruction_sets_are_refused` (`arch`),
//! sysfs.rs::`rankings_are_no_capacities` (`amd`, `x86`, `hybrid`), all imports of a tree (`read`,
//! `energy_model`, `vendor`).
//!
//! Tests: below, crates/platform/tests/all/import, crates/platform/tests/all/sysfs.rs

use super::topology::{self, Node, Parts};
use super::{CPUS, SysfsError, Tree, energy, marked};
use crate::IdleState;
use crate::arch::{Arch, of_cpuinfo};
use crate::sysfs::EnergyDomain;

/// Longest latency or residency of an idle state that is believed, us (10 s).
const MAX_IDLE_US: u64 = 10_000_000;
/// Most idle states of a CPU (`CPUIDLE_STATE_MAX` is 10).
const MAX_STATES: usize = 32;
/// Highest number of a package that is believed; device trees may leave 4294967295.
const MAX_PACKAGE: u64 = 0xffff_ffff;

/// An idle state of one CPU as cpuidle lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IdleFiles {
    pub(crate) name: String,
    /// The driver's words for it; a device tree's name where `name` is short.
    pub(crate) description: String,
    /// Entry and exit together, us.
    pub(crate) latency_us: u64,
    /// None: the kernel is older than the file.
    pub(crate) residency_us: Option<u64>,
}

/// What the files say besides.
pub(crate) struct Details {
    pub(crate) parts: Parts,
    pub(crate) nodes: Vec<Node>,
    /// Number of each CPU's package, as the kernel counts.
    pub(crate) package: Vec<Option<u64>>,
    /// As `uname -m` has it, and the file that says so.
    pub(crate) arch: Option<(String, &'static str)>,
    /// What the machine calls itself.
    pub(crate) model: Option<String>,
    pub(crate) tick_hz: Option<u32>,
    /// The processor's maker is AMD or Hygon.
    pub(crate) amd: bool,
    /// Core type of each CPU, where something names it.
    pub(crate) kind: Vec<Option<String>>,
    pub(crate) idle: Vec<Vec<IdleFiles>>,
    /// The firmware's rank of each CPU, where the kernel fills better CPUs first.
    pub(crate) rank: Option<Vec<u32>>,
    /// Frequency without turbo of each CPU, kHz.
    pub(crate) base_khz: Vec<Option<u32>>,
}

/// Reads them for the CPUs that are online.
pub(crate) fn read(tree: &Tree, online: &[bool]) -> Result<Details, SysfsError> {
    let (parts, nodes) = topology::parts(tree, online)?;
    let mut details = Details {
        parts,
        nodes,
        package: vec![None; online.len()],
        arch: arch(tree),
        model: model(tree),
        tick_hz: tick_hz(tree),
        amd: amd(tree),
        kind: vec![None; online.len()],
        idle: vec![Vec::new(); online.len()],
        rank: rank(tree, online)?,
        base_khz: vec![None; online.len()],
    };
    let hybrid = hybrid(tree, online.len())?;
    for cpu in marked(online) {
        let (at, index) = (format!("{CPUS}/cpu{cpu}"), usize::from(cpu));
        let path = format!("{at}/topology/physical_package_id");
        // Where firmware numbers no packages the file says -1: one package.
        let stated = tree.text(&path, "a package's number")?;
        details.package[index] = match stated.as_deref() {
            None | Some("-1") => None,
            Some(_) => tree.number(&path, 0..=MAX_PACKAGE, "a package's number")?,
        };
        let path = format!("{at}/cpufreq/base_frequency");
        let base = tree.number(&path, 1..=20_000_000, "a frequency in kHz")?;
        details.base_khz[index] = base.map(|khz| khz as u32);
        details.idle[index] = idle(tree, &format!("{at}/cpuidle"))?;
        let of_hybrid = hybrid.iter().find(|(_, cpus)| cpus.contains(&cpu));
        details.kind[index] = match of_hybrid {
            Some((word, _)) => Some((*word).to_owned()),
            None => arm_kind(tree, &at)?,
        };
    }
    Ok(details)
}

/// The energy model in a folder that is debugfs's own, and not the root of a tree.
pub(crate) fn energy_model(tree: &Tree, nr_cpus: usize) -> Result<Vec<EnergyDomain>, SysfsError> {
    energy::read(tree, ".", nr_cpus)
}

/// The kernel's own word (from 6.1 on, or as captured).
pub(crate) const KERNEL_ARCH: &str = "proc/sys/kernel/arch";
const CPUINFO: &str = "proc/cpuinfo";

/// The instruction set as the kernel names it, and the file that says so.
fn arch(tree: &Tree) -> Option<(String, &'static str)> {
    let stated = tree.head(KERNEL_ARCH).filter(|arch| !arch.is_empty());
    stated.map(|arch| (arch, KERNEL_ARCH)).or_else(|| {
        let arch = of_cpuinfo(&tree.head(CPUINFO)?)?;
        Some((arch.to_owned(), CPUINFO))
    })
}

/// The device tree's or firmware's name of the machine, else that of the processor.
fn model(tree: &Tree) -> Option<String> {
    let named = ["proc/device-tree/model", "sys/class/dmi/id/product_name"];
    let plain = |text: String| {
        let words: String = text
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        Some(words.trim().to_owned()).filter(|words| !words.is_empty())
    };
    let processor = tree.head(CPUINFO).and_then(|text| {
        let mut lines = text.lines().filter_map(|line| line.split_once(':'));
        let (_, name) = lines.find(|(key, _)| key.trim() == "model name")?;
        plain(name.trim().to_owned())
    });
    let board = named.iter().find_map(|path| plain(tree.head(path)?));
    match (board, processor) {
        (Some(board), Some(processor)) => Some(format!("{board} ({processor})")),
        (board, processor) => board.or(processor),
    }
}

/// The maker that /proc/cpuinfo names.
fn vendor(tree: &Tree) -> Option<String> {
    let text = tree.head(CPUINFO)?;
    let mut lines = text.lines().filter_map(|line| line.split_once(':'));
    let (_, vendor) = lines.find(|(key, _)| key.trim() == "vendor_id")?;
    Some(vendor.trim().to_owned())
}

/// The processor is AMD's or Hygon's, whose firmware ranks CPUs and counts nodes in its own way.
pub(super) fn amd(tree: &Tree) -> bool {
    let vendor = vendor(tree);
    matches!(vendor.as_deref(), Some("AuthenticAMD" | "HygonGenuine"))
}

/// The files say that the processor is one of x86.
pub(super) fn x86(tree: &Tree) -> bool {
    arch(tree).and_then(|(name, _)| Arch::of(&name)) == Some(Arch::X86)
}

/// What `uname -r` says.
pub(super) fn release(tree: &Tree) -> Option<String> {
    tree.head("proc/sys/kernel/osrelease")
        .filter(|release| !release.is_empty())
}

/// `CONFIG_HZ` of the kernel's configuration: as captured, as the kernel has it itself, or where
/// distributions keep it.
fn tick_hz(tree: &Tree) -> Option<u32> {
    let mut paths = vec!["wakeplace/config".to_owned(), "proc/config.gz".to_owned()];
    if let Some(release) = release(tree).filter(|release| !release.contains('/')) {
        paths.push(format!("boot/config-{release}"));
        paths.push(format!("lib/modules/{release}/config"));
    }
    let mut paths = paths.iter();
    let value = paths.find_map(|path| tree.setting(path, "CONFIG_HZ"))?;
    value.parse().ok().filter(|hz| (1..=10_000).contains(hz))
}

/// P and E cores, by the kernel's two event sources for them.
pub(super) fn hybrid(
    tree: &Tree,
    nr_cpus: usize,
) -> Result<Vec<(&'static str, Vec<u16>)>, SysfsError> {
    let mut kinds = Vec::new();
    for (word, folder) in [("P", "cpu_core"), ("E", "cpu_atom")] {
        if let Some(cpus) = tree.cpus(&format!("sys/devices/{folder}/cpus"), nr_cpus)? {
            kinds.push((word, cpus));
        }
    }
    Ok(kinds)
}

/// The highest performance level of each CPU where the kernel prefers CPUs by it.
fn rank(tree: &Tree, online: &[bool]) -> Result<Option<Vec<u32>>, SysfsError> {
    let switch = tree.head("proc/sys/kernel/sched_itmt_enabled");
    let switch = switch.or_else(|| tree.head("sys/kernel/debug/x86/sched_itmt_enabled"));
    if !matches!(switch.as_deref(), Some("1" | "Y")) {
        return Ok(None);
    }
    let mut ranks = vec![0; online.len()];
    for cpu in marked(online) {
        let path = format!("{CPUS}/cpu{cpu}/acpi_cppc/highest_perf");
        match tree.number(&path, 1..=255, "a performance level")? {
            Some(level) => ranks[usize::from(cpu)] = level as u32,
            None => return Ok(None),
        }
    }
    Ok(Some(ranks))
}

/// The idle states of one CPU, in cpuidle's order.
fn idle(tree: &Tree, folder: &str) -> Result<Vec<IdleFiles>, SysfsError> {
    let mut states = Vec::new();
    for number in tree.numbered(folder, "state")? {
        let at = format!("{folder}/state{number}");
        let us = |file: &str| tree.number(&format!("{at}/{file}"), 0..=MAX_IDLE_US, "a time in us");
        let Some(latency_us) = us("latency")? else {
            continue;
        };
        let expected = "the name of an idle state";
        let word = |file: &str| tree.text(&format!("{at}/{file}"), expected);
        let name = word("name")?.unwrap_or_else(|| format!("state{number}"));
        if !IdleState::is_name(&name) {
            let found = super::tree::quoted(&name);
            return Err(tree.wrong(&format!("{at}/name"), found, expected));
        }
        states.push(IdleFiles {
            name,
            description: word("desc")?.unwrap_or_default(),
            latency_us,
            residency_us: us("residency")?,
        });
        if states.len() > MAX_STATES {
            let found = format!("more than {MAX_STATES} idle states");
            return Err(tree.wrong(folder, found, "those of one CPU"));
        }
    }
    Ok(states)
}

/// The core type by the main identification register: implementer in bits 24 to 31, part number in
/// 4 to 15 (arch/arm64/include/asm/cputype.h).
fn arm_kind(tree: &Tree, at: &str) -> Result<Option<String>, SysfsError> {
    let path = format!("{at}/regs/identification/midr_el1");
    let expected = "a register in hexadecimal, as 0x00000000410fd034";
    let Some(text) = tree.text(&path, expected)? else {
        return Ok(None);
    };
    let Ok(midr) = u64::from_str_radix(text.trim_start_matches("0x"), 16) else {
        return Err(tree.wrong(&path, super::tree::quoted(&text), expected));
    };
    let (implementer, part) = ((midr >> 24 & 0xff) as u32, (midr >> 4 & 0xfff) as u32);
    let known = PARTS
        .iter()
        .find(|(i, p, _)| (*i, *p) == (implementer, part));
    Ok(Some(known.map_or_else(
        || format!("arm-{implementer:02x}-{part:03x}"),
        |(_, _, name)| (*name).to_owned(),
    )))
}

/// Implementer, part number, name: arch/arm64/include/asm/cputype.h of Linux 7.3.
const PARTS: &[(u32, u32, &str)] = &[
    (0x41, 0xd03, "cortex-a53"),
    (0x41, 0xd04, "cortex-a35"),
    (0x41, 0xd05, "cortex-a55"),
    (0x41, 0xd07, "cortex-a57"),
    (0x41, 0xd08, "cortex-a72"),
    (0x41, 0xd09, "cortex-a73"),
    (0x41, 0xd0a, "cortex-a75"),
    (0x41, 0xd0b, "cortex-a76"),
    (0x41, 0xd0c, "neoverse-n1"),
    (0x41, 0xd0d, "cortex-a77"),
    (0x41, 0xd40, "neoverse-v1"),
    (0x41, 0xd41, "cortex-a78"),
    (0x41, 0xd44, "cortex-x1"),
    (0x41, 0xd46, "cortex-a510"),
    (0x41, 0xd47, "cortex-a710"),
    (0x41, 0xd48, "cortex-x2"),
    (0x41, 0xd49, "neoverse-n2"),
    (0x41, 0xd4b, "cortex-a78c"),
    (0x41, 0xd4c, "cortex-x1c"),
    (0x41, 0xd4d, "cortex-a715"),
    (0x41, 0xd4e, "cortex-x3"),
    (0x41, 0xd4f, "neoverse-v2"),
    (0x41, 0xd80, "cortex-a520"),
    (0x41, 0xd81, "cortex-a720"),
    (0x41, 0xd82, "cortex-x4"),
    (0x41, 0xd84, "neoverse-v3"),
    (0x41, 0xd85, "cortex-x925"),
    (0x41, 0xd87, "cortex-a725"),
    (0x41, 0xd8e, "neoverse-n3"),
    (0x48, 0xd01, "taishan-v110"),
    (0x61, 0x022, "icestorm"),
    (0x61, 0x023, "firestorm"),
    (0x61, 0x032, "blizzard"),
    (0x61, 0x033, "avalanche"),
    (0xc0, 0xac3, "ampere-1"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Write;

    /// A kernel's configuration is long, and what is asked for stands anywhere in it.
    #[test]
    fn the_tick_is_found_where_configurations_are() {
        let config = format!(
            "{}CONFIG_HZ_250=y\nCONFIG_HZ=250\n",
            "# word\n".repeat(9000)
        );
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(config.as_bytes()).expect("memory");
        let packed = packed.finish().expect("memory");
        for (path, bytes) in [
            ("proc/config.gz", packed.as_slice()),
            ("boot/config-6.1-a", config.as_bytes()),
            ("lib/modules/6.1-a/config", config.as_bytes()),
        ] {
            let folder = tempfile::tempdir().expect("a folder");
            let write = |path: &str, bytes: &[u8]| {
                let path = folder.path().join(path);
                fs::create_dir_all(path.parent().expect("a folder")).expect("made");
                fs::write(path, bytes).expect("written");
            };
            let tree = Tree::new(folder.path());
            assert_eq!(tick_hz(&tree), None);
            write("proc/sys/kernel/osrelease", b"6.1-a\n");
            write(path, bytes);
            assert_eq!(tick_hz(&tree), Some(250), "{path}");
        }
    }
}
