//! A machine as far as some source knows it: what all sources are turned into before the rest is
//! filled in and a platform file is written. What a source does not say stays absent here; nothing
//! is filled in (docs/guide/import.md, "What is read").
//!
//! Made by each source's reader, changed by `fill.rs`, written by `write.rs`.
//!
//! What must stay: lists by CPU are in the order of numbers; every figure has an origin beside it;
//! `clusters` divides as built-in files do, since power and cluster idle states follow it. Free:
//! what leaves the files of imports as they are (ARCHITECTURE.md, "What a change may touch"), and
//! words of messages that no test quotes. Tests by part: `two_sockets_with_threads`,
//! `hybrids_have_priorities_or_capacities`, `servers_of_arm` (`clusters`, by kind of machine),
//! `offline_cpus_are_left_out_and_the_rest_is_numbered_anew` (`cpu_list`),
//! `big_cpus_that_are_offline_leave_a_smaller_scale` (`of_largest`),
//! `a_board_with_an_energy_model_is_the_one_that_comes_with_the_program` (`worse`, `groups`:
//! standings and clusters). `stated`, `derived`, `assumed`, `arch`, `all`: every import.
//!
//! Callers: write.rs (`groups`, `worse`), fill.rs (`of_largest`), speeds.rs (`of_largest`), many
//! files (`derived`, `cpu_list`).
//!
//! Tests: crates/platform/tests/all/import/mod.rs, crates/platform/tests/all/import/round_trip.rs

use crate::Standing;
use crate::arch::Arch;
use crate::sysfs::partition::Partition;
use crate::sysfs::topology::Parts;

/// Where a figure is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) text: String,
    pub(super) standing: Standing,
}

impl Origin {
    /// The source states it.
    pub(super) fn stated(text: impl Into<String>) -> Self {
        let (text, standing) = (text.into(), Standing::Published);
        Self { text, standing }
    }

    /// It follows from what the source states.
    pub(super) fn derived(text: impl Into<String>) -> Self {
        let (text, standing) = (text.into(), Standing::Derived);
        Self { text, standing }
    }

    /// The source does not say; why this was taken.
    pub(super) fn assumed(text: impl Into<String>) -> Self {
        let (text, standing) = (text.into(), Standing::Assumed);
        Self { text, standing }
    }
}

/// A CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FoundCpu {
    /// Number that the source has it by.
    pub(super) number: u32,
    pub(super) kind: Option<String>,
    /// On any scale; the largest becomes 1024.
    pub(super) capacity: u64,
    /// Package, by any number.
    pub(super) package: u64,
}

/// What the powers of operating points are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scale {
    Microwatt,
    /// Only ratios mean something.
    Abstract,
}

/// An operating point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Point {
    pub(super) khz: u32,
    pub(super) mv: Option<u32>,
    pub(super) power: Option<u64>,
    /// Of each cluster, beside its CPUs; at all points of a clock or at none.
    pub(super) cluster_power: Option<u64>,
}

/// CPUs with one clock.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Clock {
    /// Dense numbers, ascending.
    pub(super) cpus: Vec<u16>,
    /// Ascending; empty: nothing is known.
    pub(super) points: Vec<Point>,
    pub(super) points_from: Option<Origin>,
    /// What the powers are in, and where they are from.
    pub(super) power: Option<(Scale, Origin)>,
    /// Where the powers of clusters are from, if there are any.
    pub(super) cluster_from: Option<Origin>,
    pub(super) latency_ns: Option<(u64, Origin)>,
}

/// An idle state of some CPUs; the states of one CPU stand in the order of their depth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FoundIdle {
    pub(super) name: String,
    pub(super) cluster: bool,
    /// Dense numbers, ascending.
    pub(super) cpus: Vec<u16>,
    pub(super) entry_us: u64,
    pub(super) exit_us: u64,
    pub(super) residency_us: u64,
    pub(super) from: Origin,
    /// None: the source does not say.
    pub(super) power: Option<IdlePower>,
}

/// What the CPUs of an idle state draw, in the unit of their clocks' powers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct IdlePower {
    pub(super) cpu: u64,
    /// Of a cluster whose CPUs are all idle; there where its clock has powers of clusters.
    pub(super) cluster: Option<u64>,
    /// Lowest busy power of a CPU in the table that this is from.
    pub(super) lowest: u64,
    pub(super) from: Origin,
}

/// A figure of a CPU beside the largest, which is 1024.
pub(super) fn of_largest(figure: u64, largest: u64) -> u64 {
    let scaled = u128::from(figure) * 1024 / u128::from(largest.max(1));
    scaled.clamp(1, 1024) as u64
}

/// A machine.
pub(super) struct Found {
    pub(super) title: Option<String>,
    pub(super) arch: Option<(Arch, Origin)>,
    pub(super) tick_hz: Option<(u32, Origin)>,
    pub(super) cpus: Vec<FoundCpu>,
    pub(super) capacity_from: Origin,
    /// How fast each CPU is at its highest clock, on any scale, where that is not its capacity.
    pub(super) speed: Option<(Vec<u64>, Origin)>,
    pub(super) parts: Parts,
    pub(super) parts_from: Origin,
    /// Distances of the nodes in the order of their lowest CPUs; empty: one node.
    pub(super) distances: Vec<Vec<u32>>,
    /// The kernel counts nodes up to this distance as near; None: its usual one.
    pub(super) reclaim_distance: Option<(u32, String)>,
    pub(super) distances_from: Option<Origin>,
    /// Rank of each CPU where the kernel fills better CPUs first.
    pub(super) rank: Option<(Vec<u32>, Origin)>,
    pub(super) clocks: Vec<Clock>,
    pub(super) idle: Vec<FoundIdle>,
    pub(super) notes: Vec<String>,
}

impl Found {
    /// The instruction set; x86 where no source said it.
    pub(super) fn arch(&self) -> Arch {
        self.arch.as_ref().map_or(Arch::X86, |(arch, _)| *arch)
    }

    /// Names CPUs, as a list.
    pub(super) fn all(&self) -> Vec<u16> {
        (0..).take(self.cpus.len()).collect()
    }

    /// What shares power, and a table of the file each: caches on x86 (second-level ones on hybrid
    /// processors), clusters elsewhere; whole cores of one package and node.
    pub(super) fn clusters(&self) -> Partition {
        let parts = &self.parts;
        let hybrid = self.cpus.iter().any(|cpu| cpu.kind.as_deref() == Some("E"));
        let singles = Partition::singles(self.cpus.len());
        let no_clusters = parts.cluster == singles || parts.cluster == parts.smt;
        let by_cache = self.arch() == Arch::X86 && !hybrid;
        let groups = match (by_cache, no_clusters) {
            (false, false) => &parts.cluster,
            _ if parts.llc != singles && parts.llc != parts.smt => &parts.llc,
            _ => &parts.package,
        };
        let packages: Vec<u64> = self.cpus.iter().map(|cpu| cpu.package).collect();
        let groups = groups.meet(&parts.node);
        groups
            .meet(&Partition::of_labels(&packages))
            .join(&parts.smt)
    }
}

/// Groups of a division, each ascending, by lowest member.
pub(super) fn groups(partition: &Partition) -> Vec<Vec<u16>> {
    let labels = partition.labels();
    let mut groups: Vec<Vec<u16>> = Vec::new();
    let mut at: Vec<Option<usize>> = vec![None; labels.len()];
    for (cpu, label) in (0..).zip(labels) {
        let place = *at[usize::from(*label)].get_or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[place].push(cpu);
    }
    groups
}

/// CPUs as the kernel writes them: `0,3-5`.
pub(super) fn cpu_list(cpus: &[u16]) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut rest = cpus;
    while let [first, ..] = rest {
        let run = (*first..=u16::MAX)
            .zip(rest)
            .take_while(|(a, b)| a == *b)
            .count();
        let last = rest[run - 1];
        parts.push(match run {
            1 => first.to_string(),
            _ => format!("{first}-{last}"),
        });
        rest = &rest[run..];
    }
    parts.join(",")
}

/// The worse known of two.
pub(super) fn worse(one: Standing, other: Standing) -> Standing {
    let rank = |standing: Standing| match standing {
        Standing::Published => 0,
        Standing::Derived => 1,
        Standing::Assumed | Standing::Calibrated => 2,
    };
    match rank(one) >= rank(other) {
        true => one,
        false => other,
    }
}
