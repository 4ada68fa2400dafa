//! Name and clusters.

use std::fmt::Write;

use super::facts::{Cpu, Facts};
use super::hybrid::hybrid;
use super::modelled::modelled;
use super::sources;
use super::text::{self, Standing, comment, cpu_list, entry, mhz, source};

/// A cluster of the file: its name and its CPUs.
pub(super) struct Part {
    pub(super) name: String,
    pub(super) cpus: Vec<u32>,
}

/// What is above the first table.
pub(super) fn head(facts: &Facts) -> String {
    let short = facts
        .title
        .split([',', '(', '/'])
        .next()
        .unwrap_or_default()
        .trim();
    let mut out = format!("# {short}.\n");
    out += &comment(
        "Every table says where its figures come from (`source`) and how they are known \
         (`standing`: published, derived or assumed). Units are in the key names; capacities are \
         on the kernel's scale, 1024 = the biggest CPU at its highest frequency.",
    );
    out += &comment(
        "Written by `cargo xtask platforms` from collected facts: edit nothing but \
         `also_known_as`.",
    );
    out.push('\n');
    out += &entry("name", &facts.name);
    out += &entry("title", &facts.title);
    out += &entry("arch", &facts.arch);
    let has_power = facts.has_power() || modelled(facts).is_some() || hybrid(facts).is_some();
    let unit = if has_power { "microwatt" } else { "none" };
    out += &entry("power_unit", unit);
    if hybrid(facts).is_some() {
        // intel_pstate makes an energy model only where no core has two threads.
        out += &entry("energy_model", "none");
    }
    let notes = sources::notes(facts);
    if !notes.is_empty() {
        out += "notes = [\n";
        for note in notes {
            let _ = writeln!(out, "{},", text::string("  ", &note, 1));
        }
        out += "]\n";
    }
    out
}

/// The clusters: what shares power. Of x86 servers the facts count cores; there the last-level
/// cache is the cluster, as in the files made by hand.
pub(super) fn parts(facts: &Facts) -> Vec<Part> {
    let by_cache = facts.arch == "x86_64" && facts.intel_hybrid.is_none();
    let mut groups: Vec<Vec<u32>> = if by_cache {
        let mut caches: Vec<u32> = facts.cpus.iter().map(|cpu| cpu.llc).collect();
        caches.sort_unstable();
        caches.dedup();
        let of = |cache: u32| {
            let cpus = facts.cpus.iter().filter(|cpu| cpu.llc == cache);
            cpus.map(|cpu| cpu.id).collect()
        };
        caches.into_iter().map(of).collect()
    } else {
        facts
            .clusters
            .iter()
            .map(|cluster| cluster.cpus.clone())
            .collect()
    };
    groups.sort_by_key(|cpus| cpus.first().copied());
    let names = names(facts, &groups);
    names
        .into_iter()
        .zip(groups)
        .map(|(name, cpus)| Part { name, cpus })
        .collect()
}

fn names(facts: &Facts, groups: &[Vec<u32>]) -> Vec<String> {
    let cpu = |group: &[u32]| &facts.cpus[group[0] as usize];
    if facts.intel_hybrid.is_some() {
        let letter = |group: &Vec<u32>| cpu(group).kind.to_lowercase();
        return numbered(groups.iter().map(letter).collect());
    }
    if facts.arch == "x86_64" {
        let packages = facts.cpus.iter().map(|cpu| cpu.package).max().unwrap_or(0) as usize + 1;
        let word = match cpu(&groups[0]).kind.as_str() {
            "zen" => "ccd",
            _ if groups.len() > packages => "die",
            _ => "socket",
        };
        return numbered(vec![word.to_owned(); groups.len()]);
    }
    let even = |group: &Vec<u32>| {
        let capacity = cpu(group).capacity;
        group
            .iter()
            .all(|id| facts.cpus[*id as usize].capacity == capacity)
    };
    let mut capacities: Vec<u32> = groups.iter().map(|group| cpu(group).capacity).collect();
    capacities.sort_unstable();
    capacities.dedup();
    let words: &[&str] = match capacities.len() {
        2 => &["little", "big"],
        3 => &["little", "mid", "big"],
        _ => &[],
    };
    if words.is_empty() || !groups.iter().all(even) {
        return numbered(vec!["cluster".to_owned(); groups.len()]);
    }
    let rank = |group: &Vec<u32>| capacities.iter().position(|c| *c == cpu(group).capacity);
    let word = |group: &Vec<u32>| words[rank(group).unwrap_or(0)].to_owned();
    let words: Vec<String> = groups.iter().map(word).collect();
    let alone = |word: &String| words.iter().filter(|other| *other == word).count() == 1;
    let all = numbered(words.clone());
    let choose =
        |(word, numbered): (&String, String)| if alone(word) { word.clone() } else { numbered };
    words.iter().zip(all).map(choose).collect()
}

/// Each word with its number among its equals.
fn numbered(words: Vec<String>) -> Vec<String> {
    let before = |at: usize| {
        words[..at]
            .iter()
            .filter(|word| **word == words[at])
            .count()
    };
    (0..words.len())
        .map(|at| format!("{}{}", words[at], before(at)))
        .collect()
}

/// CPUs as the file names them: a cluster, `all`, or numbers.
pub(super) fn list(facts: &Facts, parts: &[Part], cpus: &[u32]) -> String {
    let same = |part: &&Part| cpu_list(&part.cpus) == cpu_list(cpus);
    if cpus.is_empty() || cpu_list(cpus) == cpu_list(&facts.all()) {
        return "all".to_owned();
    }
    parts
        .iter()
        .find(same)
        .map_or_else(|| cpu_list(cpus), |part| part.name.clone())
}

/// The `[[cluster]]` tables.
pub(super) fn clusters(facts: &Facts, parts: &[Part]) -> String {
    let packages = facts.cpus.iter().any(|cpu| cpu.package > 0);
    let nodes = facts.cpus.iter().any(|cpu| cpu.node > 0);
    let mut out = String::new();
    for part in parts {
        let first = &facts.cpus[part.cpus[0] as usize];
        out += "\n[[cluster]]\n";
        out += &entry("name", &part.name);
        let rows = rows(facts, part);
        let threads = threads(facts, part);
        if threads.is_none() {
            out += &cores(&rows);
        }
        if packages {
            let _ = writeln!(out, "package = {}", first.package);
        }
        if nodes {
            let _ = writeln!(out, "node = {}", first.node);
        }
        let (words, standing) = capacity_source(facts, &rows);
        out += &source(&words, standing);
        if let Some(numbering) = threads {
            let _ = write!(
                out,
                "\n[[cluster.cores]]\ncpus = \"{}\"\nkind = \"{}\"\ncapacity = {}\n\
                 threads_per_core = 2\nthread_numbering = \"{numbering}\"\n",
                cpu_list(&part.cpus),
                first.kind,
                first.capacity
            );
        }
    }
    out
}

/// CPUs of a cluster that differ in nothing, together.
fn rows<'a>(facts: &'a Facts, part: &Part) -> Vec<(&'a Cpu, Vec<u32>)> {
    let mut rows: Vec<(&Cpu, Vec<u32>)> = Vec::new();
    for id in &part.cpus {
        let cpu = &facts.cpus[*id as usize];
        let alike = |row: &&mut (&Cpu, Vec<u32>)| {
            (&row.0.kind, row.0.capacity) == (&cpu.kind, cpu.capacity)
        };
        match rows.iter_mut().find(alike) {
            Some((_, cpus)) => cpus.push(*id),
            None => rows.push((cpu, vec![*id])),
        }
    }
    rows
}

fn cores(rows: &[(&Cpu, Vec<u32>)]) -> String {
    let row = |(cpu, cpus): &(&Cpu, Vec<u32>)| {
        let cpus = cpu_list(cpus);
        format!(
            "{{ cpus = \"{cpus}\", kind = \"{}\", capacity = {} }}",
            cpu.kind, cpu.capacity
        )
    };
    match rows {
        [one] => format!("cores = [{}]\n", row(one)),
        many => {
            let lines = many.iter().map(|one| format!("  {},\n", row(one)));
            format!("cores = [\n{}]\n", lines.collect::<String>())
        }
    }
}

/// How the threads of a cluster's cores are numbered, where cores have two.
fn threads(facts: &Facts, part: &Part) -> Option<&'static str> {
    let core = |id: u32| facts.cpus[id as usize].core;
    let [first, second, ..] = part.cpus[..] else {
        return None;
    };
    if !part
        .cpus
        .iter()
        .any(|id| facts.cpus[*id as usize].thread > 0)
    {
        return None;
    }
    Some(if core(first) == core(second) {
        "adjacent"
    } else {
        "block"
    })
}

/// Where a cluster's CPUs and their capacities come from.
fn capacity_source(facts: &Facts, rows: &[(&Cpu, Vec<u32>)]) -> (String, Standing) {
    let (words, standing) = sources::machine(facts);
    let biggest = facts.cpus.iter().find(|cpu| cpu.capacity == 1024);
    let Some((top, top_dmips)) = biggest.and_then(|cpu| Some((cpu, cpu.capacity_dmips_mhz?)))
    else {
        if facts.arch == "x86_64" || facts.freq_domains.is_empty() {
            return (words, standing);
        }
        return (
            format!("{words}; all CPUs are alike, so each has 1024"),
            Standing::Derived,
        );
    };
    let clock = |cpu: &Cpu| facts.max_khz(cpu.id).map_or_else(String::new, mhz);
    let mut parts = vec![words];
    for (cpu, _) in rows {
        let dmips = cpu.capacity_dmips_mhz.unwrap_or(0);
        parts.push(if cpu.capacity == 1024 {
            format!(
                "capacity-dmips-mhz {dmips} at {} MHz is the machine's biggest",
                clock(cpu)
            )
        } else {
            format!(
                "capacity-dmips-mhz {dmips}; capacity = {dmips} * {} MHz * 1024 / ({top_dmips} * \
                 {} MHz), arch_topology.c topology_normalize_cpu_scale()",
                clock(cpu),
                clock(top)
            )
        });
    }
    let unknown = facts
        .freq_domains
        .iter()
        .any(|domain| domain.opps.is_empty());
    let standing = if unknown {
        Standing::Assumed
    } else {
        Standing::Derived
    };
    if unknown {
        parts.push("the highest frequencies are assumed".to_owned());
    }
    (parts.join("; "), standing)
}
