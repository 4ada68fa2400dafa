//! What no collection of facts has: the tick, and what the kernel's own steps take.

use std::fmt::Write;

use super::facts::Facts;
use super::text::{Standing, comment, number, source};

/// The `[kernel]` table.
pub(super) fn kernel(facts: &Facts) -> String {
    let (hz, words, standing) = match facts.arch.as_str() {
        "x86_64" => (
            1000,
            "Linux arch/x86/configs/x86_64_defconfig: CONFIG_HZ_1000",
            Standing::Published,
        ),
        "arm64" => (
            250,
            "Linux kernel/Kconfig.hz: default HZ_250, which arm64's defconfig leaves alone",
            Standing::Published,
        ),
        _ => (
            250,
            "The choice of the other boards' kernels (kernel/Kconfig.hz), so that results compare; \
             the kernels of the published runs are not known",
            Standing::Assumed,
        ),
    };
    format!("\n[kernel]\ntick_hz = {hz}\n{}", source(words, standing))
}

/// Figures with what each stands for, ns.
type Row = (&'static str, u64, &'static str);

/// Boards and phones: the figures of the boards made by hand.
const BOARD: &[Row] = &[
    (
        "context_switch_ns",
        2_000,
        "saving, restoring and picking: some thousand cycles",
    ),
    ("wakeup_ns", 3_000, "interrupt, CPU choice, enqueue"),
    (
        "ipi_ns",
        1_000,
        "interrupt controller and entry; wall time, not scaled",
    ),
    (
        "tick_ns",
        2_000,
        "timer interrupt, accounting, one look at the balancer",
    ),
    (
        "fork_ns",
        40_000,
        "copying the task's structures and page tables",
    ),
    (
        "migrate_shared_cache_ns",
        3_000,
        "first-level caches from the shared one",
    ),
    (
        "migrate_other_cache_ns",
        15_000,
        "first and second level from memory or elsewhere",
    ),
    (
        "scan_cpu_ns",
        50,
        "one cache line of another CPU's run queue",
    ),
];

/// Servers and desktops: the figures of the servers made by hand.
const SERVER: &[Row] = &[
    (
        "context_switch_ns",
        1_500,
        "saving, restoring and picking: some thousand cycles",
    ),
    ("wakeup_ns", 2_000, "interrupt, CPU choice, enqueue"),
    (
        "ipi_ns",
        1_000,
        "interrupt controller and entry; wall time, not scaled",
    ),
    (
        "tick_ns",
        1_500,
        "timer interrupt, accounting, one look at the balancer",
    ),
    (
        "fork_ns",
        30_000,
        "copying the task's structures and page tables",
    ),
    (
        "migrate_shared_cache_ns",
        3_000,
        "first- and second-level caches from the shared one",
    ),
    (
        "migrate_other_cache_ns",
        15_000,
        "all levels from memory or the other cache",
    ),
    (
        "scan_cpu_ns",
        20,
        "one cache line of another CPU's run queue, mostly shared",
    ),
];

/// A move to another node takes this many times a move to another cache.
const NODE_FACTOR: u64 = 2;

/// The `[costs]` table.
pub(super) fn costs(facts: &Facts) -> String {
    let server = facts.arch == "x86_64" || facts.cpus.len() > 8;
    let mut rows = if server { SERVER } else { BOARD }.to_vec();
    if facts.numa.distances.len() > 1 {
        let at = rows
            .iter()
            .position(|row| row.0 == "migrate_other_cache_ns")
            .unwrap_or(0);
        let ns = NODE_FACTOR * rows[at].1;
        rows.insert(
            at + 1,
            (
                "migrate_other_node_ns",
                ns,
                "twice that: memory stays behind",
            ),
        );
    }
    let lines: Vec<String> = rows
        .iter()
        .map(|(key, ns, _)| format!("{key} = {}", number(*ns)))
        .collect();
    let width = lines.iter().map(String::len).max().unwrap_or(0);
    let mut out = String::from("\n");
    out += &comment(
        "Times on a CPU of capacity 1024 at its highest frequency; a smaller or slower one takes \
         longer.",
    );
    out += "[costs]\n";
    for (line, (_, _, why)) in lines.iter().zip(&rows) {
        let _ = writeln!(out, "{line:width$}  # {why}");
    }
    let class = if server {
        "server and desktop cores at 2 to 5 GHz"
    } else {
        "boards and phones"
    };
    let words = format!(
        "Nobody published these for this machine: magnitudes usual for {class}, from the work each \
         step does (see the comments in the file), the same for all machines of the kind"
    );
    out + &source(&words, Standing::Assumed)
}
