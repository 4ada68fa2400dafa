//! Machines and workloads that nobody chose: drawn from a seed, the same everywhere.
//!
//! A machine is written as a platform file and read like one; a workload as an argument. Each case
//! draws from a stream of its own, so that more cases leave the first ones as they are
//! (studies/README.md).
//!
//! What must stay: the order and number of draws, as published results name these cases by seed; a
//! change of a draw is a change of results (CHANGELOG.md). Tests by part:
//! `draws_are_valid_and_differ` (`machine`, `cluster`, `text`, `topology`, `domain`, `idle`,
//! `workload`), promise.rs::`nothing_is_lost_on_the_first_random_machines` (`cases`). That the
//! draws are those of the published results has no test of its own.
//!
//! Tests: below, crates/cli/tests/all/promise.rs

use super::Case;
use super::raw::RawRandom;
use super::values::{at, drawn, duration_ns};
use crate::error::Flaw;
use std::fmt::Write;
use std::sync::Arc;
use wakeplace_platform::Platform;
use wakeplace_workload::{LoadOptions, Spec, Stream};

/// Adds the cases, `r1` and so on.
pub(super) fn cases(
    raw: &RawRandom,
    platforms: &mut Vec<Arc<Platform>>,
    all: &mut Vec<Case>,
) -> Result<(), Flaw> {
    let flaw = |problem: String| Flaw::new(at(&raw.cases), problem, "expected a valid draw");
    let longest_ns = duration_ns(&raw.duration)?;
    for number in 1..=drawn(&raw.cases)? {
        let mut stream = Stream::for_task(*raw.seed.get_ref(), &format!("machine {number}"));
        let name = format!("random-{number}");
        let text = machine(&name, &mut stream);
        let platform = Platform::from_toml(&text, &name).map_err(|e| flaw(e.to_string()))?;
        let mut stream = Stream::for_task(*raw.seed.get_ref(), &format!("workload {number}"));
        let argument = workload(platform.cpus.len() as u64, &mut stream);
        let spec = Spec::parse(&argument, &LoadOptions::default());
        platforms.push(Arc::new(platform));
        all.push(Case {
            token: format!("r{number}"),
            workload: spec.map_err(|e| flaw(e.to_string()))?,
            params: std::collections::BTreeMap::new(),
            platform: platforms.len() - 1,
            seeds: None,
            duration_ns: longest_ns,
            set: Vec::new(),
            hotplug: None,
            without: Vec::new(),
            goals: Vec::new(),
        });
    }
    Ok(())
}

/// From..=to.
fn range(stream: &mut Stream, from: u64, to: u64) -> u64 {
    from + stream.below(to - from + 1)
}

/// CPUs that share a cache and a clock.
struct Cluster {
    cores: u64,
    threads: u64,
    capacity: u64,
    opps: Vec<Opp>,
    /// Idle power of a CPU and of the cluster, uW.
    idle_uw: (u64, u64),
}

struct Opp {
    khz: u64,
    cpu_uw: u64,
    cluster_uw: u64,
}

/// Kinds of machines, all as likely: CPUs that differ, with and without powers; one cache; several
/// caches; one large cache. With or without threads where CPUs are alike.
fn machine(name: &str, stream: &mut Stream) -> String {
    let kind = stream.below(5);
    let clusters = match kind {
        0 | 1 => range(stream, 2, 3),
        2 | 4 => 1,
        _ => range(stream, 2, 4),
    };
    let alike = kind >= 2;
    let threads = if alike { range(stream, 1, 2) } else { 1 };
    let same = cluster(stream, kind, threads, 1024);
    let mut all = Vec::new();
    for number in 0..clusters {
        all.push(match alike {
            true => Cluster {
                opps: opps_of(&same),
                ..same
            },
            // The last is the biggest; the others are a quarter to three quarters of it.
            false if number + 1 == clusters => cluster(stream, kind, 1, 1024),
            false => {
                let capacity = range(stream, 256, 768);
                cluster(stream, kind, 1, capacity)
            }
        });
    }
    text(name, &all, kind != 1)
}

/// The operating points of a cluster, for another one of its kind.
fn opps_of(cluster: &Cluster) -> Vec<Opp> {
    let same = |opp: &Opp| Opp { ..*opp };
    cluster.opps.iter().map(same).collect()
}

/// A cluster of one kind of CPU, its clocks and powers drawn.
fn cluster(stream: &mut Stream, kind: u64, threads: u64, capacity: u64) -> Cluster {
    let cores = match kind {
        0 | 1 => range(stream, 1, 4),
        2 => range(stream, 2, 8),
        3 => range(stream, 4, 8),
        _ => range(stream, 32, 48) / threads,
    };
    let top_khz = range(stream, 1_200, 3_600) * 1000;
    let states = range(stream, 1, 6);
    // A third of a watt to three for the biggest CPU, less than in proportion for small ones.
    let top_uw = range(stream, 300_000, 3_000_000) * capacity / 1024 * capacity / 1024;
    let opps = (1..=states).map(|state| {
        let part = 1024 * (state + 1) / (states + 1);
        // Between the square and the cube of the frequency, up to a tenth off: not always convex.
        let by_part = part * part / 1024 * (512 + part / 2) / 1024;
        let cpu_uw = top_uw * by_part / 1024 * range(stream, 90, 110) / 100;
        Opp {
            khz: top_khz * part / 1024,
            cpu_uw,
            cluster_uw: cpu_uw / 4,
        }
    });
    let opps: Vec<Opp> = opps.collect();
    let idle_uw = (opps[0].cpu_uw / range(stream, 5, 12), opps[0].cluster_uw);
    Cluster {
        cores,
        threads,
        capacity,
        opps,
        idle_uw,
    }
}

/// Of each table of a platform file.
const STANDING: &str = "source = \"drawn\"\nstanding = \"assumed\"\n";

/// Adds a line to the file.
fn put(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

/// The machine as a platform file.
fn text(name: &str, clusters: &[Cluster], powers: bool) -> String {
    let mut text = String::new();
    let unit = if powers { "microwatt" } else { "none" };
    put(
        &mut text,
        &format!("name = \"{name}\"\ntitle = \"drawn\"\narch = \"arm64\""),
    );
    put(&mut text, &format!("power_unit = \"{unit}\""));
    put(&mut text, &format!("[kernel]\ntick_hz = 250\n{STANDING}"));
    topology(&mut text, clusters);
    for (number, cluster) in clusters.iter().enumerate() {
        domain(&mut text, number, cluster, powers);
    }
    for (number, cluster) in clusters.iter().enumerate() {
        idle(&mut text, number, cluster, powers);
    }
    for line in [
        "[costs]\ncontext_switch_ns = 1_500\nwakeup_ns = 2_000\nipi_ns = 1_000",
        "tick_ns = 1_500\nfork_ns = 30_000\nmigrate_shared_cache_ns = 3_000",
        "migrate_other_cache_ns = 15_000\nscan_cpu_ns = 20",
        STANDING,
    ] {
        put(&mut text, line);
    }
    text
}

/// Clusters, sched domains, threads.
fn topology(text: &mut String, clusters: &[Cluster]) {
    let threads = clusters[0].threads;
    let mut first = 0;
    for (number, cluster) in clusters.iter().enumerate() {
        let last = first + cluster.cores * threads - 1;
        put(
            text,
            &format!("[[cluster]]\nname = \"c{number}\"\n{STANDING}"),
        );
        put(
            text,
            &format!("[[cluster.cores]]\ncpus = \"{first}-{last}\""),
        );
        put(
            text,
            &format!("kind = \"k{number}\"\ncapacity = {}", cluster.capacity),
        );
        put(text, &format!("threads_per_core = {threads}"));
        if threads > 1 {
            put(text, "thread_numbering = \"adjacent\"");
        }
        first = last + 1;
    }
    put(text, "[topology]\nlevels = [");
    if threads > 1 {
        put(
            text,
            "{ name = \"SMT\", one_per = \"core\", shares_cache = true, shares_capacity = true },",
        );
    }
    put(
        text,
        "{ name = \"MC\", one_per = \"cluster\", shares_cache = true },",
    );
    if clusters.len() > 1 {
        put(text, "{ name = \"PKG\", one_per = \"machine\" },");
    }
    put(text, &format!("]\n{STANDING}"));
    if threads > 1 {
        put(
            text,
            &format!("[smt]\ncore_capacity = [1024, 1178]\n{STANDING}"),
        );
    }
}

/// The table of a cluster's clock.
fn domain(text: &mut String, number: usize, cluster: &Cluster, powers: bool) {
    let _ = writeln!(text, "[[frequency_domain]]\ncpus = \"c{number}\"\nopps = [");
    for opp in &cluster.opps {
        let _ = match powers {
            true => writeln!(
                text,
                "{{ khz = {}, cpu_uw = {}, cluster_uw = {} }},",
                opp.khz, opp.cpu_uw, opp.cluster_uw
            ),
            false => writeln!(text, "{{ khz = {} }},", opp.khz),
        };
    }
    let _ = writeln!(text, "]\n{STANDING}");
    if powers {
        let _ = writeln!(text, "[frequency_domain.cpu_power]\n{STANDING}");
        let _ = writeln!(text, "[frequency_domain.cluster_power]\n{STANDING}");
    }
    let _ = writeln!(
        text,
        "[frequency_domain.transition]\nlatency_us = 50\n{STANDING}"
    );
}

/// The tables of a cluster's idle states.
fn idle(text: &mut String, number: usize, cluster: &Cluster, powers: bool) {
    let (cpu_uw, cluster_uw) = cluster.idle_uw;
    let states = [
        ("WFI", "cpu", 1, 2, format!("cpu_uw = {cpu_uw}\n")),
        ("off", "cpu", 200, 800, "cpu_uw = 0\n".to_owned()),
        (
            "cluster-off",
            "cluster",
            600,
            3_000,
            format!("cpu_uw = 0\ncluster_uw = {}\n", cluster_uw / 4),
        ),
    ];
    for (name, scope, exit_us, residency_us, power) in states {
        let _ = write!(
            text,
            "[[idle_state]]\nname = \"{name}\"\nscope = \"{scope}\"\ncpus = \"c{number}\"\n\
             entry_latency_us = 0\nexit_latency_us = {exit_us}\nmin_residency_us = {residency_us}\n\
             {STANDING}"
        );
        if powers {
            let _ = write!(text, "[idle_state.power]\n{power}{STANDING}");
        }
    }
}

/// Kinds of workloads, all as likely, from a tenth of the CPUs to twice as many tasks.
fn workload(cpus: u64, stream: &mut Stream) -> String {
    let tasks = (cpus * range(stream, 1, 20) / 10).max(1);
    let pairs = tasks.div_ceil(2);
    match stream.below(8) {
        0 => format!(
            "periodic:n={tasks},period={}ms,duty={}%",
            range(stream, 4, 40),
            range(stream, 1, 40)
        ),
        1 => format!(
            "messaging:groups={},loops={},via=pipe",
            range(stream, 1, 4),
            range(stream, 10, 60)
        ),
        2 => format!("busy-loops:n={tasks}"),
        3 => format!("netperf-tcp-rr:pairs={pairs},warmup=100ms"),
        4 => format!("context-switch:pairs={pairs},warmup=100ms"),
        5 => format!(
            "kbuild:j={tasks},jobs={},head=10ms,link=20ms",
            range(stream, 10, 40)
        ),
        6 => format!("oltp:clients={tasks},warmup=100ms"),
        _ => format!(
            "specjbb:warehouses={tasks},memory={}%,gc_every=500ms,gc_burst=5ms",
            range(stream, 0, 40)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Goal: every draw is a machine and a workload that can be read; all kinds are drawn.
    #[test]
    fn draws_are_valid_and_differ() {
        let mut models = BTreeSet::new();
        let mut sizes = BTreeSet::new();
        for number in 0..200 {
            let mut stream = Stream::for_task(7, &format!("draw {number}"));
            let name = format!("random-{number}");
            let written = machine(&name, &mut stream);
            let platform = Platform::from_toml(&written, &name)
                .unwrap_or_else(|error| panic!("{error}\n{written}"));
            let argument = workload(platform.cpus.len() as u64, &mut stream);
            Spec::parse(&argument, &LoadOptions::default())
                .unwrap_or_else(|error| panic!("{argument}: {error}"));
            models.insert(argument.split(':').next().unwrap_or_default().to_owned());
            sizes.insert(platform.cpus.len());
            let again = machine(&name, &mut Stream::for_task(7, &format!("draw {number}")));
            assert_eq!(again, written);
        }
        assert_eq!(models.len(), 8);
        assert!(sizes.len() > 10, "{sizes:?}");
    }
}
