//! The platform file of a machine that is completely known. The keys are those of `read/raw.rs`: a
//! file that is written is read back as the same machine (docs/guide/platforms.md).
//!
//! Called last by `import/mod.rs`. Free: order and comments of the file, if it reads back as the
//! same machine.
//!
//! What must stay: same machine, same bytes; keys are those of `read/raw.rs`; names of clusters,
//! which stand in names of metrics. Tests by part: round_trip.rs::`every_platform_comes_back`
//! (`file`, `topology`, `clocks`, `numbered_rows`), `hybrids_have_priorities_or_capacities`
//! (`shared`: ranks), `phones` (`names`), `a_server_has_the_costs_of_one_of_its_kind` (`costs`),
//! `a_board_with_an_energy_model_is_the_one_that_comes_with_the_program` (`rows`, `head`, `names`,
//! the line width), `clusters_of_an_energy_model_of_lisa` (powers of clusters),
//! round_trip.rs::`every_platform_comes_back` also `cluster_tables`, `core_rows`, `level_groups`,
//! `divided`, `clock`, `list`, `numbered`, `powered` and `cpu`.
//!
//! Callers: import/write/idle.rs (`powered`).
//!
//! Tests: crates/platform/tests/all/import/mod.rs, crates/platform/tests/all/import/round_trip.rs

mod idle;

use super::costs::{BOARD, NODE_FACTOR, SERVER};
use super::found::{Clock, Found, FoundCpu, Origin, Point, Scale, cpu_list, groups, worse};
use super::text::source;
use crate::Standing;
use crate::arch::Arch;
use crate::form::{comment, entry, number, string};
use crate::sysfs::LevelKind;
use crate::sysfs::partition::Partition;
use std::fmt::Write;

/// A machine being written, with its clusters.
struct Writer<'a> {
    found: &'a Found,
    /// Clusters by lowest CPU, with their names.
    clusters: Vec<(String, Vec<u16>)>,
    by_cluster: Partition,
    said: Vec<String>,
}

/// The text of the file, and what was assumed while writing it.
pub(super) fn file(found: &Found, name: &str, made: &str) -> (String, Vec<String>) {
    let by_cluster = found.clusters();
    let members = groups(&by_cluster);
    let names = names(found, &members);
    let mut writer = Writer {
        found,
        clusters: names.into_iter().zip(members).collect(),
        by_cluster,
        said: Vec::new(),
    };
    let mut out = writer.head(name, made);
    out += &writer.cluster_tables();
    out += &writer.topology();
    out += &writer.shared();
    out += &writer.clocks();
    out += &writer.idle();
    out += &writer.costs();
    (out, writer.said)
}

/// Names of clusters: by size where there are two or three sizes, by core type on hybrids.
fn names(found: &Found, members: &[Vec<u16>]) -> Vec<String> {
    let cpu = |group: &[u16]| &found.cpus[usize::from(group[0])];
    let kind = |group: &[u16]| cpu(group).kind.clone().unwrap_or_default();
    if members.iter().any(|group| kind(group) == "E") {
        let word = |group: &Vec<u16>| if kind(group) == "E" { "e" } else { "p" };
        return numbered(members.iter().map(word).collect());
    }
    if found.arch() == Arch::X86 {
        let mut packages: Vec<u64> = found.cpus.iter().map(|cpu| cpu.package).collect();
        packages.sort_unstable();
        packages.dedup();
        let word = if members.len() > packages.len() {
            "die"
        } else {
            "socket"
        };
        return numbered(vec![word; members.len()]);
    }
    let even = |group: &Vec<u16>| {
        let mut cpus = group.iter().map(|cpu| &found.cpus[usize::from(*cpu)]);
        cpus.all(|other| other.capacity == cpu(group).capacity)
    };
    let mut capacities: Vec<u64> = members.iter().map(|group| cpu(group).capacity).collect();
    capacities.sort_unstable();
    capacities.dedup();
    let words: &[&str] = match capacities.len() {
        2 => &["little", "big"],
        3 => &["little", "mid", "big"],
        _ => &[],
    };
    if words.is_empty() || !members.iter().all(even) {
        return numbered(vec!["cluster"; members.len()]);
    }
    let rank = |group: &Vec<u16>| capacities.iter().position(|c| *c == cpu(group).capacity);
    let chosen: Vec<&str> = members
        .iter()
        .map(|group| words[rank(group).unwrap_or(0)])
        .collect();
    let alone = |word: &str| chosen.iter().filter(|other| **other == word).count() == 1;
    let all = numbered(chosen.clone());
    let one = |(word, numbered): (&&str, String)| match alone(word) {
        true => (*word).to_owned(),
        false => numbered,
    };
    chosen.iter().zip(all).map(one).collect()
}

/// Each word with its number among its equals.
fn numbered(words: Vec<&str>) -> Vec<String> {
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

impl Writer<'_> {
    /// What was found of a CPU.
    fn cpu(&self, cpu: u16) -> &FoundCpu {
        &self.found.cpus[usize::from(cpu)]
    }

    /// CPUs as the file names them: a cluster, `all`, or numbers.
    fn list(&self, cpus: &[u16]) -> String {
        if cpus.len() == self.found.cpus.len() {
            return "all".to_owned();
        }
        let cluster = self.clusters.iter().find(|(_, members)| members == cpus);
        cluster.map_or_else(|| cpu_list(cpus), |(name, _)| name.clone())
    }

    /// The unit of powers in the file; `None`: there are none.
    fn powered(&self) -> Option<Scale> {
        let clock = self.found.clocks.first()?;
        clock.power.as_ref().map(|(scale, _)| *scale)
    }

    /// The file's beginning: what made it, the name, the kernel's tick.
    fn head(&mut self, name: &str, made: &str) -> String {
        let title = self.found.title.as_deref().unwrap_or("An imported machine");
        let mut out = comment(&format!(
            "{made}. Every table says where its figures come from (`source`) and how they are \
             known (`standing`); what the source lacks is \"assumed\". Replace it by what you know \
             of the machine."
        ));
        out.push('\n');
        out += &entry("name", name);
        out += &entry("title", title);
        out += &entry("arch", self.found.arch().name());
        let unit = match self.powered() {
            Some(Scale::Microwatt) => "microwatt",
            Some(Scale::Abstract) => "bogo",
            None => "none",
        };
        out += &entry("power_unit", unit);
        if !self.found.notes.is_empty() {
            out += "notes = [\n";
            for note in &self.found.notes {
                let _ = writeln!(out, "{},", string("  ", note, 1));
            }
            out += "]\n";
        }
        if let Some((hz, from)) = &self.found.tick_hz {
            let _ = write!(out, "\n[kernel]\ntick_hz = {hz}\n{}", source(from));
        }
        out
    }

    /// The tables `[[cluster]]` with their cores, in the order of the CPUs' numbers.
    fn cluster_tables(&self) -> String {
        let dense = |values: Vec<u64>| {
            let mut known: Vec<u64> = Vec::new();
            let at = |value: u64, known: &mut Vec<u64>| {
                known.iter().position(|k| *k == value).unwrap_or_else(|| {
                    known.push(value);
                    known.len() - 1
                })
            };
            let numbers: Vec<usize> = values.iter().map(|v| at(*v, &mut known)).collect();
            numbers
        };
        let package = dense(self.found.cpus.iter().map(|cpu| cpu.package).collect());
        let node = dense(
            self.found
                .parts
                .node
                .labels()
                .iter()
                .map(|label| u64::from(*label))
                .collect(),
        );
        let several = |numbers: &[usize]| numbers.iter().any(|number| *number > 0);
        let mut out = String::new();
        for (name, members) in &self.clusters {
            let first = usize::from(members[0]);
            let _ = write!(out, "\n[[cluster]]\nname = \"{name}\"\n");
            if several(&package) {
                let _ = writeln!(out, "package = {}", package[first]);
            }
            if several(&node) {
                let _ = writeln!(out, "node = {}", node[first]);
            }
            let (cpus, capacity) = (&self.found.parts_from, &self.found.capacity_from);
            let both = Origin {
                text: format!("{}. Capacity: {}", cpus.text, capacity.text),
                standing: worse(cpus.standing, capacity.standing),
            };
            out += &source(&both);
            self.core_rows(members, &mut out);
        }
        if let Some((_, from)) = &self.found.speed {
            let _ = write!(out, "\n[speed]\n{}", source(from));
        }
        out
    }

    /// `[[cluster.cores]]`: CPUs of one kind and capacity, by how their threads are numbered.
    fn core_rows(&self, members: &[u16], out: &mut String) {
        let smt = self.found.parts.smt.labels();
        let threads = |cpu: u16| {
            members
                .iter()
                .filter(|m| smt[usize::from(**m)] == smt[usize::from(cpu)])
                .count()
        };
        let speed = |cpu: u16| {
            let stated = self.found.speed.as_ref();
            stated.map(|(speeds, _)| speeds[usize::from(cpu)])
        };
        let key = |cpu: u16| {
            let own = self.cpu(cpu);
            (&own.kind, own.capacity, speed(cpu), threads(cpu))
        };
        let mut rest = members.to_vec();
        while let Some(first) = rest.first().copied() {
            let (row, others): (Vec<u16>, Vec<u16>) =
                rest.into_iter().partition(|cpu| key(*cpu) == key(first));
            rest = others;
            let count = threads(first);
            for (cpus, numbering) in numbered_rows(&row, count, smt) {
                let kind = self.cpu(first).kind.as_deref().unwrap_or("cpu");
                let _ = write!(out, "\n[[cluster.cores]]\ncpus = \"{}\"\n", cpu_list(&cpus));
                *out += &entry("kind", kind);
                let _ = writeln!(out, "capacity = {}", self.cpu(first).capacity);
                if let Some(speed) = speed(first) {
                    let _ = writeln!(out, "speed = {speed}");
                }
                if count > 1 {
                    let _ = write!(
                        out,
                        "threads_per_core = {count}\nthread_numbering = \"{numbering}\"\n"
                    );
                }
            }
        }
    }

    /// The table `[topology]`: levels from threads to nodes, those of equal groups once.
    fn topology(&self) -> String {
        let mut levels = self.found.parts.levels();
        // The kernel knows no package apart from the node (default_topology).
        if levels.iter().any(|(kind, _)| *kind == LevelKind::Node) {
            levels.retain(|(kind, _)| *kind != LevelKind::Package);
        }
        let singles = Partition::singles(self.found.cpus.len());
        if levels.iter().any(|(_, groups)| *groups != singles) {
            levels.retain(|(_, groups)| *groups != singles);
        }
        let packs = self.found.rank.is_some();
        let mut out = String::from("\n[topology]\nlevels = [\n");
        for (kind, partition) in &levels {
            let (name, flags) = match kind {
                LevelKind::Smt => ("SMT", ", shares_cache = true, shares_capacity = true"),
                LevelKind::Cluster => ("CLS", ", shares_cache = true, cluster = true"),
                LevelKind::Llc => ("MC", ", shares_cache = true"),
                _ => ("PKG", ""),
            };
            let pack = match packs && *kind != LevelKind::Smt {
                true => ", asym_packing = true",
                false => "",
            };
            let _ = writeln!(
                out,
                "  {{ name = \"{name}\", {}{flags}{pack} }},",
                self.level_groups(partition)
            );
        }
        out += "]\n";
        let from = Origin {
            text: format!(
                "{}; levels as Linux kernel/sched/topology.c default_topology makes them, equal \
                 ones once",
                self.found.parts_from.text
            ),
            standing: worse(Standing::Derived, self.found.parts_from.standing),
        };
        out + &source(&from)
    }

    /// The groups of a level as a key: `one_per` where a part of the machine divides so, else
    /// `groups`.
    fn level_groups(&self, partition: &Partition) -> String {
        let all = self.found.all();
        let named = ["core", "cluster", "machine", "node"];
        match named
            .iter()
            .find(|by| self.divided(&all, by) == groups(partition))
        {
            Some(by) => format!("one_per = \"{by}\""),
            None => {
                let lists: Vec<String> = groups(partition)
                    .iter()
                    .map(|group| format!("\"{}\"", self.list(group)))
                    .collect();
                format!("groups = [{}]", lists.join(", "))
            }
        }
    }

    /// CPUs divided as the file's `one_per` divides them.
    fn divided(&self, cpus: &[u16], by: &str) -> Vec<Vec<u16>> {
        let label = |cpu: u16| match by {
            "cpu" => cpu,
            "core" => self.found.parts.smt.labels()[usize::from(cpu)],
            "cluster" => self.by_cluster.labels()[usize::from(cpu)],
            "node" => self.found.parts.node.labels()[usize::from(cpu)],
            _ => 0,
        };
        let mut made: Vec<(u16, Vec<u16>)> = Vec::new();
        for cpu in cpus {
            match made.iter_mut().find(|(known, _)| *known == label(*cpu)) {
                Some((_, members)) => members.push(*cpu),
                None => made.push((label(*cpu), vec![*cpu])),
            }
        }
        made.into_iter().map(|(_, members)| members).collect()
    }

    /// The tables `[numa]`, `[smt]`, `[priority]` and others on what CPUs are to each other.
    fn shared(&mut self) -> String {
        let mut out = String::new();
        if let Some(from) = &self.found.distances_from {
            let row = |row: &Vec<u32>| {
                let row: Vec<String> = row.iter().map(u32::to_string).collect();
                format!("[{}]", row.join(", "))
            };
            let rows: Vec<String> = self.found.distances.iter().map(row).collect();
            let _ = writeln!(out, "\n[numa]\ndistances = [\n  {},\n]", rows.join(",\n  "));
            let mut from = from.clone();
            if let Some((distance, why)) = &self.found.reclaim_distance {
                let _ = writeln!(out, "reclaim_distance = {distance}");
                from.text += &format!("; {why}");
            }
            out += &source(&from);
        }
        let cores = groups(&self.found.parts.smt);
        let threads = cores.iter().map(Vec::len).max().unwrap_or(1);
        if threads > 1 {
            let mut figures = vec!["1178"; threads];
            figures[0] = "1024";
            let _ = writeln!(out, "\n[smt]\ncore_capacity = [{}]", figures.join(", "));
            let text = "The source does not say what threads of a core share, and it depends on \
                        the load: from no to half as much more work. 1178 of 1024 is Linux 2.6.23 \
                        to 4.19 include/linux/topology.h SD_SIBLING_INIT smt_gain";
            out += &source(&Origin::assumed(text));
            self.said.push(format!(
                "work of a core with {threads} busy threads: 1178 of 1024 for one, the kernel's \
                 own figure"
            ));
        }
        if let Some((rank, from)) = &self.found.rank {
            out += "\n[priority]\nranks = [\n";
            let mut values = rank.clone();
            values.sort_unstable_by(|a, b| b.cmp(a));
            values.dedup();
            for value in values {
                let having = self.found.all().into_iter();
                let having: Vec<u16> = having
                    .filter(|cpu| rank[usize::from(*cpu)] == value)
                    .collect();
                let _ = writeln!(
                    out,
                    "  {{ cpus = \"{}\", value = {value} }},",
                    cpu_list(&having)
                );
            }
            out += "]\n";
            out += &source(from);
        }
        out
    }

    /// The `[[frequency_domain]]` tables; clocks that differ in nothing stand in one.
    fn clocks(&self) -> String {
        let mut out = String::new();
        let mut written = vec![false; self.found.clocks.len()];
        for (at, clock) in self.found.clocks.iter().enumerate() {
            if written[at] {
                continue;
            }
            let alike = |other: &Clock| {
                other.points == clock.points
                    && other.latency_ns == clock.latency_ns
                    && other.power == clock.power
                    && other.points_from == clock.points_from
                    && other.cluster_from == clock.cluster_from
            };
            let same: Vec<usize> = (at..self.found.clocks.len())
                .filter(|other| alike(&self.found.clocks[*other]))
                .collect();
            let mut cpus: Vec<u16> = same
                .iter()
                .flat_map(|other| self.found.clocks[*other].cpus.clone())
                .collect();
            cpus.sort_unstable();
            let mut wanted: Vec<Vec<u16>> = same
                .iter()
                .map(|other| self.found.clocks[*other].cpus.clone())
                .collect();
            wanted.sort_unstable();
            let one_per = ["machine", "cluster", "core", "cpu", "node"]
                .into_iter()
                .find(|by| self.divided(&cpus, by) == wanted);
            match one_per.filter(|_| same.len() > 1) {
                Some(by) => {
                    same.iter().for_each(|other| written[*other] = true);
                    out += &self.clock(clock, &cpus, Some(by));
                }
                None => out += &self.clock(clock, &clock.cpus, None),
            }
        }
        out
    }

    /// One table `[[frequency_domain]]`.
    fn clock(&self, clock: &Clock, cpus: &[u16], one_per: Option<&str>) -> String {
        let mut out = String::from("\n[[frequency_domain]]\n");
        out += &entry("cpus", &self.list(cpus));
        if let Some(by) = one_per {
            out += &entry("one_per", by);
        }
        out += &rows(&clock.points, self.powered());
        if let Some(from) = &clock.points_from {
            out += &source(from);
        }
        if let Some((_, from)) = &clock.power {
            let _ = write!(out, "\n[frequency_domain.cpu_power]\n{}", source(from));
        }
        if let Some(from) = &clock.cluster_from {
            let _ = write!(out, "\n[frequency_domain.cluster_power]\n{}", source(from));
        }
        if let Some((ns, from)) = &clock.latency_ns {
            let _ = write!(
                out,
                "\n[frequency_domain.transition]\nlatency_us = {}\n{}",
                number(ns.div_ceil(1000)),
                source(from)
            );
        }
        out
    }

    /// The table `[kernel.costs]`: a board's or a server's, since no source states them.
    fn costs(&mut self) -> String {
        let boards = matches!(self.found.arch(), Arch::Arm | Arch::Arm64 | Arch::Riscv64);
        let server = !boards || self.found.cpus.len() > 8;
        let rows = if server { SERVER } else { BOARD };
        let mut out = String::from("\n");
        out += &comment(
            "Times on a CPU of capacity 1024 at its highest frequency; a smaller or slower one \
             takes longer.",
        );
        out += "[costs]\n";
        for (key, ns) in rows {
            let _ = writeln!(out, "{key} = {}", number(*ns));
            if *key == "migrate_other_cache_ns" && self.found.distances_from.is_some() {
                let twice = number(NODE_FACTOR * ns);
                let _ = writeln!(
                    out,
                    "migrate_other_node_ns = {twice}  # memory stays behind"
                );
            }
        }
        let class = match server {
            true => "server and desktop cores at 2 to 5 GHz",
            false => "boards and phones",
        };
        self.said.push(format!(
            "costs of the kernel's steps: the usual ones of {class}"
        ));
        let text = format!(
            "No file states these: magnitudes usual for {class}, from the work each step does, the \
             same as the platforms that come with the program have"
        );
        out + &source(&Origin::assumed(text))
    }
}

/// CPUs with `count` threads per core as rows that the file's two numberings describe.
fn numbered_rows(row: &[u16], count: usize, smt: &[u16]) -> Vec<(Vec<u16>, &'static str)> {
    let core = |cpu: &u16| smt[usize::from(*cpu)];
    let mut cores: Vec<u16> = row.iter().map(core).collect();
    cores.dedup();
    let adjacent = row
        .chunks(count)
        .all(|cpus| cpus.iter().all(|cpu| core(cpu) == core(&cpus[0])));
    if adjacent {
        return vec![(row.to_vec(), "adjacent")];
    }
    let width = row.len() / count;
    let block = (0..row.len()).all(|at| core(&row[at]) == core(&row[at % width.max(1)]));
    if block && row.len().is_multiple_of(count) {
        return vec![(row.to_vec(), "block")];
    }
    let mut rest = row.to_vec();
    let mut rows = Vec::new();
    while let Some(first) = rest.first().copied() {
        let (one, others): (Vec<u16>, Vec<u16>) =
            rest.into_iter().partition(|cpu| core(cpu) == core(&first));
        rest = others;
        rows.push((one, "adjacent"));
    }
    rows
}

/// The `opps` of a clock, figures under each other.
fn rows(points: &[Point], scale: Option<Scale>) -> String {
    let (key, cluster_key) = match scale {
        Some(Scale::Abstract) => ("cpu_bogo", "cluster_bogo"),
        _ => ("cpu_uw", "cluster_uw"),
    };
    let widest = |value: &dyn Fn(&Point) -> Option<u64>| {
        let texts = points.iter().filter_map(|point| value(point).map(number));
        texts.map(|text| text.len()).max().unwrap_or(0)
    };
    let khz = |point: &Point| Some(u64::from(point.khz));
    let mv = |point: &Point| point.mv.map(u64::from);
    let power = |point: &Point| point.power;
    let cluster = |point: &Point| point.cluster_power;
    let widths = (widest(&khz), widest(&mv), widest(&power), widest(&cluster));
    let mut out = String::from("opps = [\n");
    for point in points {
        let mut cells = vec![format!(
            "khz = {:>1$}",
            number(u64::from(point.khz)),
            widths.0
        )];
        if let Some(mv) = mv(point) {
            cells.push(format!("mv = {:>1$}", number(mv), widths.1));
        }
        if let Some(power) = power(point) {
            cells.push(format!("{key} = {:>1$}", number(power), widths.2));
        }
        if let Some(power) = cluster(point) {
            cells.push(format!("{cluster_key} = {:>1$}", number(power), widths.3));
        }
        let _ = writeln!(out, "  {{ {} }},", cells.join(", "));
    }
    out + "]\n"
}
