//! Kernel threads of the boards that a series measured latencies on, by kind of core.
//!
//! No fact of a machine but of its kernel: what a 3.1 kernel of 2011 runs by itself on each of two
//! CPUs, with the periods of its source.

use super::facts::Facts;
use super::text::{Standing, comment, number, source};

/// Cores of the sched_mc series of 2011.
const CORE_KIND: &str = "cortex-a9";

/// A thread: name, one on each CPU, period and run time in us.
const THREADS: &[(&str, bool, u64, u64)] = &[
    ("vmstat_update", true, 1_000_000, 20),
    ("cache_reap", true, 2_000_000, 200),
    ("watchdog", true, 4_000_000, 5),
    ("flush", false, 5_000_000, 100),
    ("sync_supers", false, 5_000_000, 20),
];

/// The `[housekeeping]` table; nothing without such cores.
pub(super) fn table(facts: &Facts) -> String {
    if !facts.cpus.iter().any(|cpu| cpu.kind == CORE_KIND) {
        return String::new();
    }
    let mut out = String::from("\n");
    out += &comment(
        "What a kernel of 2011 runs by itself: statistics folded, slab caches reaped, soft \
         lock-ups looked for, dirty pages and super blocks written.",
    );
    out += "[housekeeping]\nthreads = [\n";
    for (name, each, period_us, run_us) in THREADS {
        let entry = |name: &str, cpus: String| {
            let (period, run) = (number(*period_us), number(*run_us));
            format!("  {{ name = \"{name}\",{cpus} period_us = {period}, run_us = {run} }},\n")
        };
        match each {
            true => {
                for cpu in &facts.cpus {
                    let cpus = format!(" cpus = \"{}\",", cpu.id);
                    out += &entry(&format!("{name}/{}", cpu.id), cpus);
                }
            }
            false => out += &entry(name, String::new()),
        }
    }
    out += "]\n";
    let words = "Periods: Linux 3.1 mm/vmstat.c sysctl_stat_interval (HZ), mm/slab.c \
                 REAPTIMEOUT_CPUC (2 HZ), kernel/watchdog.c (thresh 10 s x 2 / 5), \
                 mm/page-writeback.c dirty_writeback_interval and mm/backing-dev.c (5 s). Run \
                 times: nobody published them; magnitudes of the work that each does";
    out + &source(words, Standing::Assumed)
}
