//! Scheduler levels, nodes, threads, priorities.

use std::fmt::Write;

use super::facts::{Facts, Form, Level};
use super::hybrid::hybrid;
use super::machine::{Part, list};
use super::modelled::{CORE_POWER, modelled};
use super::sources;
use super::text::{Standing, comment, cpu_list, source};

/// Which parts of the machine a level's groups may be named by, in order of preference.
const BY_PART: [&str; 5] = ["core", "cluster", "machine", "node", "package"];

fn divided(facts: &Facts, parts: &[Part], by: &str) -> Vec<Vec<u32>> {
    if by == "cluster" {
        return sorted(parts.iter().map(|part| part.cpus.clone()).collect());
    }
    let mut groups: Vec<(u32, Vec<u32>)> = Vec::new();
    for cpu in &facts.cpus {
        let key = match by {
            "core" => cpu.core,
            "package" => cpu.package,
            "node" => cpu.node,
            _ => 0,
        };
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, cpus)) => cpus.push(cpu.id),
            None => groups.push((key, vec![cpu.id])),
        }
    }
    sorted(groups.into_iter().map(|(_, cpus)| cpus).collect())
}

fn sorted(mut groups: Vec<Vec<u32>>) -> Vec<Vec<u32>> {
    groups.iter_mut().for_each(|group| group.sort_unstable());
    groups.sort();
    groups
}

/// The `[topology]` table.
pub(super) fn topology(facts: &Facts, parts: &[Part]) -> String {
    let packs = facts.intel_hybrid.is_some() && facts.form == Form::Whole;
    let mut out = String::from("\n[topology]\nlevels = [\n");
    let below = facts
        .sched_topology
        .iter()
        .filter(|level| level.level != "NUMA");
    for level in below {
        let has = |flag: &str| level.flags.iter().any(|f| f == flag);
        let mut line = format!(
            "  {{ name = \"{}\", {}",
            level.level,
            groups(facts, parts, level)
        );
        let keys = [
            ("shares_cache", has("SD_SHARE_LLC")),
            ("shares_capacity", has("SD_SHARE_CPUCAPACITY")),
            ("cluster", has("SD_CLUSTER")),
            ("asym_packing", packs && level.level != "SMT"),
        ];
        for (key, _) in keys.iter().filter(|(_, set)| *set) {
            let _ = write!(line, ", {key} = true");
        }
        let _ = writeln!(out, "{line} }},");
    }
    out += "]\n";
    let (_, _, origin) = facts
        .provenance
        .iter()
        .find(|(field, _, _)| field == "sched_topology")
        .cloned()
        .unwrap_or_default();
    let mut words = sources::plain(&origin);
    if facts.arch != "x86_64" {
        // The facts of ACPI machines quote the table of x86.
        let table = "arch/x86/kernel/smpboot.c x86_topology /";
        words = words.replace(table, "drivers/base/arch_topology.c masks /");
    }
    if facts.numa.distances.len() > 1 {
        words += "; NUMA levels follow from [numa]";
    }
    if packs {
        words += "; smpboot.c x86_core_flags() and x86_cluster_flags() for ASYM_PACKING (the SMT \
                  level has had none since 6.5)";
    }
    out += &source(&words, Standing::Derived);
    out
}

fn groups(facts: &Facts, parts: &[Part], level: &Level) -> String {
    let wanted = sorted(level.groups.clone());
    let fits = |by: &&str| {
        // Cores name the level of their threads only.
        (*by != "core" || level.level == "SMT") && divided(facts, parts, by) == wanted
    };
    let named = BY_PART.iter().find(|by| fits(by));
    match named {
        Some(by) => format!("one_per = \"{by}\""),
        None => {
            let lists = level
                .groups
                .iter()
                .map(|group| format!("\"{}\"", list(facts, parts, group)));
            format!("groups = [{}]", lists.collect::<Vec<_>>().join(", "))
        }
    }
}

/// `[numa]`, `[smt]` and `[priority]`, where the machine has them.
pub(super) fn shared(facts: &Facts) -> String {
    let mut out = String::new();
    if facts.numa.distances.len() > 1 {
        let row = |row: &Vec<u32>| {
            let row: Vec<String> = row.iter().map(u32::to_string).collect();
            format!("[{}]", row.join(", "))
        };
        let rows: Vec<String> = facts.numa.distances.iter().map(row).collect();
        let _ = writeln!(out, "\n[numa]\ndistances = [{}]", rows.join(", "));
        let (mut words, standing) = sources::nodes(facts);
        if facts.cpus[0].kind == "zen" {
            out += "reclaim_distance = 32\n";
            words += ". That 32 is not far: Linux arch/x86/kernel/cpu/amd.c sets \
                      node_reclaim_distance on EPYC";
        }
        out += &source(&words, standing);
    }
    if facts.has_threads() && facts.form != Form::OneThread {
        out.push('\n');
        out += &comment(
            "What a core gets done with two busy threads depends on the load: from no to half as \
             much more.",
        );
        out += "[smt]\ncore_capacity = [1024, 1178]\n";
        let power = modelled(facts).is_some() || hybrid(facts).is_some();
        if power {
            let _ = writeln!(out, "core_power = [1024, {CORE_POWER}]");
        }
        let mut words =
            "Linux 2.6.23 to 4.19 include/linux/topology.h SD_SIBLING_INIT: smt_gain 1178, the \
             kernel's own word for \"about 15 %\"; nobody published one figure for this core"
                .to_owned();
        if power {
            words += ". Power: a fifth more, modelled (docs/decisions/037)";
        }
        out += &source(&words, Standing::Assumed);
    }
    out + &priority(facts)
}

fn priority(facts: &Facts) -> String {
    let Some(hybrid) = facts
        .intel_hybrid
        .as_ref()
        .filter(|_| facts.form == Form::Whole)
    else {
        return String::new();
    };
    let of = |kind: &str| {
        let cpus = facts.cpus.iter().filter(|cpu| cpu.kind == kind);
        cpu_list(&cpus.map(|cpu| cpu.id).collect::<Vec<_>>())
    };
    let perf = &hybrid.hwp_highest_perf;
    let mut out = String::from("\n[priority]\nranks = [\n");
    for (kind, value) in [("P", perf.performance), ("E", perf.efficient)] {
        let _ = writeln!(out, "  {{ cpus = \"{}\", value = {value} }},", of(kind));
    }
    out += "]\n";
    let (_, word, origin) = facts
        .provenance
        .iter()
        .find(|(field, _, origin)| format!("{field} {origin}").contains("highest_perf"))
        .cloned()
        .unwrap_or_default();
    let words = format!(
        "HWP highest performance ({origin}), which intel_pstate gives to \
         sched_set_itmt_core_prio() for each CPU; both threads of a core have the same since 6.5 \
         (arch/x86/kernel/itmt.c)"
    );
    out + &source(&words, Standing::read(&word))
}
