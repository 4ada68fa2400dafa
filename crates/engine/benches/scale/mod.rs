//! How the engine's speed depends on the size of the machine: many periodic tasks, many pairs, and
//! the same load per CPU on ever more CPUs.
//!
//! What must stay: the same load per CPU on each machine, and costs as boards' files have them, so
//! that cost per event compares. No test: a benchmark.

use crate::bare_heap;
use crate::time::{Spent, Stopwatch};
use std::fmt::Write as _;
use std::hint::black_box;
use wakeplace_engine::observe::NoObserver;
use wakeplace_engine::{Options, RunReport, run};
use wakeplace_platform::Platform;
use wakeplace_policy_sys::Policy;
use wakeplace_workload::{LoadOptions, MachineFacts, Spec};

/// A machine of equal CPUs: caches of so many, a frequency domain and a cluster each.
struct Machine {
    caches: u32,
    cpus_per_cache: u32,
    threads_per_core: u32,
}

impl Machine {
    const fn plain(caches: u32, cpus_per_cache: u32) -> Self {
        Self {
            caches,
            cpus_per_cache,
            threads_per_core: 1,
        }
    }

    fn nr_cpus(&self) -> u32 {
        self.caches * self.cpus_per_cache
    }

    /// Costs as the boards' files have them, and those of a server's wake-ups; all assumed.
    fn platform(&self) -> Platform {
        const SOURCE: &str = "source = \"benchmark\"\nstanding = \"assumed\"\n";
        let mut text = format!(
            "name = \"scale\"\ntitle = \"Equal CPUs\"\narch = \"x86_64\"\npower_unit = \"none\"\n\
             [kernel]\ntick_hz = 250\n{SOURCE}"
        );
        let n = self.cpus_per_cache;
        for cache in 0..self.caches {
            let (first, last) = (cache * n, cache * n + n - 1);
            let threads = match self.threads_per_core {
                1 => String::new(),
                t => format!(", threads_per_core = {t}, thread_numbering = \"adjacent\""),
            };
            let _ = writeln!(
                text,
                "[[cluster]]\nname = \"c{cache}\"\ncores = [{{ cpus = \"{first}-{last}\", \
                 kind = \"k\", capacity = 1024{threads} }}]\n{SOURCE}"
            );
        }
        if self.threads_per_core > 1 {
            // What the kernel's own `smt_gain` says of two threads.
            let _ = writeln!(text, "[smt]\ncore_capacity = [1024, 1178]\n{SOURCE}");
        }
        text += "[topology]\nlevels = [\n";
        if self.threads_per_core > 1 {
            text += "{ name = \"SMT\", one_per = \"core\", shares_cache = true, \
                     shares_capacity = true },\n";
        }
        text += "{ name = \"MC\", one_per = \"cluster\", shares_cache = true },\n";
        if self.caches > 1 {
            text += "{ name = \"PKG\", one_per = \"machine\" },\n";
        }
        let _ = writeln!(text, "]\n{SOURCE}");
        for cache in 0..self.caches {
            let _ = writeln!(
                text,
                "[[frequency_domain]]\ncpus = \"c{cache}\"\nopps = [{{ khz = 2000000 }}]\n\
                 transition = {{ latency_us = 20, source = \"benchmark\", standing = \"assumed\" \
                 }}\n{SOURCE}"
            );
        }
        let _ = writeln!(
            text,
            "[[idle_state]]\nname = \"C1\"\nscope = \"cpu\"\ncpus = \"all\"\n\
             entry_latency_us = 0\nexit_latency_us = 1\nmin_residency_us = 1\n{SOURCE}\
             [costs]\ncontext_switch_ns = 1000\nwakeup_ns = 1500\nipi_ns = 1000\ntick_ns = 2000\n\
             fork_ns = 1000\nmigrate_shared_cache_ns = 1000\nmigrate_other_cache_ns = 5000\n\
             scan_cpu_ns = 50\npublish_ns = 500\nlock_hold_ns = 300\nlock_shared_cache_ns = 60\n\
             lock_other_cache_ns = 150\n{SOURCE}"
        );
        Platform::from_toml(&text, "scale.toml").expect("a machine")
    }
}

/// A run and the processor time it took.
struct Timed {
    report: RunReport,
    ns: u64,
}

fn timed(platform: &Platform, policy: &str, workload: &str, duration_ns: u64) -> Timed {
    let spec = Spec::parse(workload, &LoadOptions::default()).expect("valid");
    let nr_cpus = platform.cpus.len() as u32;
    let workload = spec.expand(1, MachineFacts::alike(nr_cpus)).expect("valid");
    let options = Options {
        duration_ns,
        ..Options::default()
    };
    let policy = Policy::parse(policy).expect("valid");
    let start = Stopwatch::start();
    let report = run(platform, &policy, &workload, &options, &mut NoObserver);
    Timed {
        report: black_box(report),
        ns: start.spent().processor_ns,
    }
}

/// The fastest of some runs, and the time of a bare heap with as many events pending.
fn best(machine: &Machine, policy: &str, workload: &str, ns: u64, pending: u64) -> (Timed, u64) {
    let platform = machine.platform();
    let mut runs: Vec<Timed> = (0..3)
        .map(|_| timed(&platform, policy, workload, ns))
        .collect();
    runs.sort_by_key(|run| run.ns);
    let fastest = runs.swap_remove(0);
    let mut bare = Spent::MOST;
    for _ in 0..3 {
        let start = Stopwatch::start();
        black_box(bare_heap(fastest.report.events, pending));
        bare = bare.least(start.spent());
    }
    (fastest, bare.processor_ns)
}

fn show(label: &str, policy: &str, duration_ns: u64, run: &Timed, bare_ns: u64) {
    let events = run.report.events as f64;
    let speed = duration_ns as f64 / run.ns as f64;
    let per_event = run.ns as f64 / events;
    let ratio = run.ns as f64 / bare_ns as f64;
    println!(
        "{label:<38} {policy:<11} {speed:>8.2} simulated s/s  {per_event:>7.1} ns/event  \
         {ratio:>6.2} x the bare heap ({events:.0} events)"
    );
}

/// Tasks of 5 % in 16 ms: ten per CPU are half of its time.
const PER_CPU: u32 = 10;
const POLICIES: [&str; 2] = ["linux-4.17", "linux-7.3"];

pub(crate) fn measure(quick: bool) {
    let unit_ns: u64 = if quick { 100_000_000 } else { 1_000_000_000 };
    for policy in POLICIES {
        for (machine, ns) in [(Machine::plain(4, 16), 10), (Machine::plain(8, 16), 10)] {
            let label = format!("640 tasks of 5 %, {} CPUs", machine.nr_cpus());
            let workload = "periodic:n=640,period=16ms,duty=5%";
            let (run, bare) = best(&machine, policy, workload, ns * unit_ns, 800);
            show(&label, policy, ns * unit_ns, &run, bare);
        }
        let server = Machine {
            caches: 2,
            cpus_per_cache: 112,
            threads_per_core: 2,
        };
        let workload = "context-switch:pairs=224,run=1500ns,warmup=10ms";
        let (run, bare) = best(&server, policy, workload, unit_ns / 5, 900);
        show(
            "224 pairs, 224 CPUs (2x56x2)",
            policy,
            unit_ns / 5,
            &run,
            bare,
        );
        same_load(policy, unit_ns);
    }
}

/// Cost per event on ever more CPUs, beside that on 8. The start, which creates all tasks, is taken
/// off: by a shorter run.
fn same_load(policy: &str, unit_ns: u64) {
    let mut of_8 = None;
    for (caches, cpus) in [(1, 8), (8, 8), (28, 8), (64, 16)] {
        let machine = Machine::plain(caches, cpus);
        let n = machine.nr_cpus();
        // About as many events each.
        let (start, ns) = (100_000_000, 100_000_000 + unit_ns * 200 / u64::from(n));
        let workload = format!("periodic:n={},period=16ms,duty=5%", PER_CPU * n);
        let pending = u64::from(PER_CPU * n + 3 * n);
        let (first, bare_first) = best(&machine, policy, &workload, start, pending);
        let (all, bare_all) = best(&machine, policy, &workload, ns, pending);
        let mut steady = all;
        steady.ns = steady.ns.saturating_sub(first.ns).max(1);
        steady.report.events -= first.report.events;
        let bare = bare_all.saturating_sub(bare_first).max(1);
        let label = format!("{n} CPUs, ten tasks of 5 % each");
        show(&label, policy, ns - start, &steady, bare);
        let per_event = steady.ns as f64 / steady.report.events as f64;
        let base = *of_8.get_or_insert(per_event);
        if n > 8 {
            println!(
                "{:<50} {:>8.2} x the cost per event on 8",
                "",
                per_event / base
            );
        }
    }
}
