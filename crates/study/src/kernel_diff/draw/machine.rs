//! Machines: boards of several kinds of CPU, and servers of nodes, caches and threads. All that is
//! drawn comes from the seed (docs/guide/kernel.md, "Beside the policy core").
//!
//! What must stay: the order of draws; what is written is a platform file (docs/guide/platforms.md)
//! and is read like one. Tests by part: `what_is_drawn_can_be_run` (`board`, `server`, `written`,
//! `clock`, `idle`, `numa`: all kinds occur), `what_is_drawn_depends_on_the_seed` (by the command).
//!
//! Tests: crates/study/src/kernel_diff/draw.rs::what_is_drawn_can_be_run,
//! crates/cli/tests/all/kernel_diff.rs::what_is_drawn_depends_on_the_seed

use super::Dice;
use std::fmt::Write as _;

/// A machine in the form of `platforms/`.
pub(super) struct Machine {
    pub(super) title: String,
    pub(super) text: String,
    pub(super) cpus: u64,
}

/// CPUs of one kind that share a clock.
struct Cluster {
    cpus: u64,
    threads: u64,
    capacity: u64,
    node: u64,
}

/// All figures are drawn.
const DRAWN: &str = "source = \"drawn\"\nstanding = \"assumed\"\n";

/// A board somewhat more often than a server.
pub(super) fn draw(dice: &mut Dice) -> Machine {
    match dice.chance(55) {
        true => board(dice),
        false => server(dice),
    }
}

/// One to three kinds of CPU, most with an energy model.
fn board(dice: &mut Dice) -> Machine {
    let kinds = dice.within(1, 3);
    let mut capacity = 1024;
    let mut clusters: Vec<Cluster> = Vec::new();
    for _ in 0..kinds {
        clusters.push(Cluster {
            cpus: dice.within(1, 4),
            threads: 1,
            capacity,
            node: 0,
        });
        capacity = dice.within(capacity / 5, capacity * 9 / 10);
    }
    if clusters.iter().all(|cluster| cluster.cpus == 1) {
        clusters[0].cpus = 2;
    }
    if dice.chance(70) {
        clusters.reverse();
    }
    let per_cluster = "one_per = \"cluster\", shares_cache = true";
    let whole = "one_per = \"machine\"";
    let levels = match (clusters.len(), dice.within(0, 2)) {
        (1, _) | (_, 0) => format!("{{ name = \"MC\", {whole}, shares_cache = true }}"),
        (_, 1) => format!("{{ name = \"MC\", {per_cluster} }}, {{ name = \"PKG\", {whole} }}"),
        _ => format!(
            "{{ name = \"CLS\", {per_cluster}, cluster = true }}, \
             {{ name = \"MC\", {whole}, shares_cache = true }}"
        ),
    };
    let powered = dice.chance(80);
    let shape: Vec<String> = clusters
        .iter()
        .map(|cluster| format!("{}x{}", cluster.cpus, cluster.capacity))
        .collect();
    let model = if powered { ", energy model" } else { "" };
    let title = format!("board of {}{model}", shape.join(" + "));
    written(dice, title, "arm64", &clusters, &levels, "", powered)
}

/// Nodes with one or two last-level caches each, and cores with one or two threads.
fn server(dice: &mut Dice) -> Machine {
    let nodes = dice.one(&[1, 1, 2, 2, 4]);
    let caches = dice.one(&[1, 2]);
    let threads = dice.one(&[1, 2, 2]);
    let cores = dice.within(2, if nodes * caches > 4 { 3 } else { 4 });
    let clusters = (0..nodes * caches).map(|at| Cluster {
        cpus: cores,
        threads,
        capacity: 1024,
        node: at / caches,
    });
    let clusters: Vec<Cluster> = clusters.collect();
    let mut levels = Vec::new();
    if threads > 1 {
        levels.push(
            "{ name = \"SMT\", one_per = \"core\", shares_cache = true, shares_capacity = true }",
        );
    }
    levels.push("{ name = \"MC\", one_per = \"cluster\", shares_cache = true }");
    if caches > 1 {
        levels.push(match nodes {
            1 => "{ name = \"PKG\", one_per = \"machine\" }",
            _ => "{ name = \"PKG\", one_per = \"node\" }",
        });
    }
    let title = format!("{nodes} nodes, {caches} caches each, {cores} cores of {threads} threads");
    let arch = if dice.chance(60) { "x86_64" } else { "arm64" };
    let far = numa(dice, nodes);
    written(
        dice,
        title,
        arch,
        &clusters,
        &levels.join(", "),
        &far,
        false,
    )
}

/// Distances of nodes.
fn numa(dice: &mut Dice, nodes: u64) -> String {
    if nodes == 1 {
        return String::new();
    }
    let (near, far) = (dice.one(&[12, 20, 21]), dice.one(&[20, 28, 32, 40]));
    let distance = |a: u64, b: u64| match (a == b, a / 2 == b / 2 || near > far) {
        (true, _) => 10,
        (_, true) => near,
        _ => far,
    };
    let row = |a: u64| {
        let row: Vec<String> = (0..nodes).map(|b| distance(a, b).to_string()).collect();
        format!("[{}]", row.join(", "))
    };
    let rows: Vec<String> = (0..nodes).map(row).collect();
    format!("[numa]\ndistances = [{}]\n{DRAWN}\n", rows.join(", "))
}

/// The machine as a platform file.
fn written(
    dice: &mut Dice,
    title: String,
    arch: &str,
    clusters: &[Cluster],
    levels: &str,
    numa: &str,
    powered: bool,
) -> Machine {
    let unit = if powered { "microwatt" } else { "none" };
    let hz = dice.one(&[100, 250, 250, 1000]);
    let mut text = format!(
        "name = \"drawn\"\ntitle = \"{title}\"\narch = \"{arch}\"\npower_unit = \"{unit}\"\n\n\
         [kernel]\ntick_hz = {hz}\n{DRAWN}\n"
    );
    let mut first = 0;
    for (at, cluster) in clusters.iter().enumerate() {
        let count = cluster.cpus * cluster.threads;
        let last = first + count - 1;
        let threads = match cluster.threads {
            1 => String::new(),
            n => format!(", threads_per_core = {n}, thread_numbering = \"adjacent\""),
        };
        let _ = write!(
            text,
            "[[cluster]]\nname = \"c{at}\"\npackage = {node}\nnode = {node}\n\
             cores = [{{ cpus = \"{first}-{last}\", kind = \"k{at}\", capacity = {}{threads} }}]\n\
             {DRAWN}\n",
            cluster.capacity,
            node = cluster.node,
        );
        first = last + 1;
    }
    let _ = write!(text, "[topology]\nlevels = [{levels}]\n{DRAWN}\n{numa}");
    if clusters.iter().any(|cluster| cluster.threads > 1) {
        let _ = write!(text, "[smt]\ncore_capacity = [1024, 1178]\n{DRAWN}\n");
    }
    for at in 0..clusters.len() {
        clock(dice, &mut text, at, powered);
    }
    idle(dice, &mut text, powered);
    let node = match numa.is_empty() {
        true => "",
        false => "migrate_other_node_ns = 25_000\n",
    };
    let _ = write!(
        text,
        "[costs]\ncontext_switch_ns = {}\nwakeup_ns = {}\nipi_ns = 1_000\ntick_ns = 1_500\n\
         fork_ns = 30_000\nmigrate_shared_cache_ns = 3_000\nmigrate_other_cache_ns = 15_000\n\
         {node}scan_cpu_ns = 20\n{DRAWN}",
        dice.within(500, 3_000),
        dice.within(500, 4_000),
    );
    Machine {
        title,
        text,
        cpus: first,
    }
}

/// The frequency domain of a cluster, or of each of its CPUs.
fn clock(dice: &mut Dice, text: &mut String, cluster: usize, powered: bool) {
    let per_cpu = match !powered && dice.chance(30) {
        true => "one_per = \"cpu\"\n",
        false => "",
    };
    let mut khz = dice.within(300, 900) * 1_000;
    let mut uw = dice.within(8_000, 150_000);
    let mut opps = String::new();
    for _ in 0..dice.within(2, 8) {
        let power = match powered {
            true => format!(", cpu_uw = {uw}"),
            false => String::new(),
        };
        let _ = writeln!(opps, "  {{ khz = {khz}{power} }},");
        let next = khz + dice.within(60, 500) * 1_000;
        // Power grows a little less than the clock, or up to its third power.
        uw = uw * next / khz * dice.within(95, 140) / 100 + 1;
        khz = next;
    }
    let powers = match powered {
        true => format!("[frequency_domain.cpu_power]\n{DRAWN}\n"),
        false => String::new(),
    };
    let _ = write!(
        text,
        "[[frequency_domain]]\ncpus = \"c{cluster}\"\n{per_cpu}opps = [\n{opps}]\n{DRAWN}\n\
         {powers}[frequency_domain.transition]\nlatency_us = {}\n{DRAWN}\n",
        dice.one(&[5, 20, 100, 500]),
    );
}

/// The tables of idle states.
fn idle(dice: &mut Dice, text: &mut String, powered: bool) {
    let power = |uw: u64| match powered {
        true => format!("[idle_state.power]\ncpu_uw = {uw}\n{DRAWN}\n"),
        false => String::new(),
    };
    let states = [
        ("WFI", 0, 1, 1, 5_000),
        ("off", 40, dice.within(40, 900), 800, 0),
    ];
    for (name, entry, exit, residency, uw) in states {
        let _ = write!(
            text,
            "[[idle_state]]\nname = \"{name}\"\nscope = \"cpu\"\ncpus = \"all\"\n\
             entry_latency_us = {entry}\nexit_latency_us = {exit}\n\
             min_residency_us = {}\n{DRAWN}\n{}",
            residency.max(entry + exit),
            power(uw),
        );
    }
}
