//! Machines described in a line and built through the platform reader.
//! Source: the format of crates/platform (docs/guide/platforms.md).
//!
//! What must stay: `symmetric` is the base of most tests (one cache, one operating point, WFI only,
//! HZ 250): change a field in the test, not here. `platform` writes the text (`text`,
//! `frequency_domain`, `idle_states`) and reads it as any file. `two_caches` is the machine of
//! cache_rent.rs, memory.rs and sched_cache.rs, and its times are what these compute with. Free:
//! how the text is written, and new fields with a default. Callers: all files of tests/behaviour;
//! it has no test of its own.

use std::fmt::Write as _;
use wakeplace_platform::{Cache, Platform, Transfer};

/// An idle state of all CPUs: times in us.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Idle {
    pub(crate) cluster: bool,
    pub(crate) entry: u32,
    pub(crate) exit: u32,
    pub(crate) residency: u32,
}

/// Two caches of so many CPUs. A line takes 20 ns within one and 70 ns between them, a move 15 us.
/// `holds`: they hold 1 MiB each, a hit takes 10 ns and memory 60.
pub(crate) fn two_caches(cpus: u32, holds: bool) -> Platform {
    let board = Board {
        clusters: vec![(cpus, 1024), (cpus, 1024)],
        ..Board::symmetric(1)
    };
    let mut platform = board.platform();
    let source = platform.costs.source.clone();
    platform.transfer = Some(Transfer {
        smt_ns: None,
        cluster_ns: None,
        cache_ns: Some(20),
        node_ns: Some(70),
        other_node_ns: None,
        source: source.clone(),
    });
    platform.cache = holds.then_some(Cache {
        last_level_kib: 1024,
        hit_ns: 10,
        memory_ns: 60,
        source,
    });
    platform
}

/// A machine, of 64-bit Arm unless said otherwise: clusters of `(CPUs, capacity)`, one frequency
/// domain each.
#[derive(Clone, Debug)]
pub(crate) struct Board {
    pub(crate) arch: &'static str,
    pub(crate) clusters: Vec<(u32, u32)>,
    pub(crate) khz: Vec<u32>,
    pub(crate) transition_us: u32,
    /// Beyond WFI (0/1/1 us).
    pub(crate) idle: Vec<Idle>,
    pub(crate) tick_hz: u32,
}

impl Board {
    /// Equal CPUs with one shared cache, one operating point, WFI only, HZ 250.
    pub(crate) fn symmetric(cpus: u32) -> Self {
        Self {
            arch: "arm64",
            clusters: vec![(cpus, 1024)],
            khz: vec![1_000_000],
            transition_us: 300,
            idle: Vec::new(),
            tick_hz: 250,
        }
    }

    /// The platform that the board is, through the reader of files.
    pub(crate) fn platform(&self) -> Platform {
        let text = self.text();
        Platform::from_toml(&text, "board.toml").unwrap_or_else(|e| panic!("{e}\n{text}"))
    }

    /// The board as the text of a platform file.
    fn text(&self) -> String {
        const SOURCE: &str = "source = \"test\"\nstanding = \"assumed\"\n";
        let mut text = format!(
            "name = \"board\"\ntitle = \"A test machine\"\narch = \"{}\"\n\
             power_unit = \"microwatt\"\n[kernel]\ntick_hz = {}\n{SOURCE}",
            self.arch, self.tick_hz
        );
        let mut first = 0;
        for (index, (cpus, capacity)) in self.clusters.iter().enumerate() {
            let last = first + cpus - 1;
            let _ = writeln!(
                text,
                "[[cluster]]\nname = \"c{index}\"\ncores = [{{ cpus = \"{first}-{last}\", \
                 kind = \"k{capacity}\", capacity = {capacity} }}]\n{SOURCE}"
            );
            first += cpus;
        }
        text += "[topology]\nlevels = [\n{ name = \"MC\", one_per = \"cluster\", \
                 shares_cache = true },\n";
        if self.clusters.len() > 1 {
            text += "{ name = \"PKG\", one_per = \"machine\" },\n";
        }
        let _ = writeln!(text, "]\n{SOURCE}");
        for index in 0..self.clusters.len() {
            self.frequency_domain(&mut text, index);
        }
        self.idle_states(&mut text);
        text += "[costs]\ncontext_switch_ns = 2000\nwakeup_ns = 3000\nipi_ns = 1000\n\
                 tick_ns = 2000\nfork_ns = 40000\nmigrate_shared_cache_ns = 3000\n\
                 migrate_other_cache_ns = 15000\nscan_cpu_ns = 50\n";
        text + SOURCE
    }

    /// Writes a cluster's clock.
    fn frequency_domain(&self, text: &mut String, index: usize) {
        const TAIL: &str = "source = \"test\", standing = \"assumed\" }";
        let _ = writeln!(text, "[[frequency_domain]]\ncpus = \"c{index}\"\nopps = [");
        for khz in &self.khz {
            let mhz = u64::from(khz / 1000);
            let power = mhz * mhz * u64::from(self.clusters[index].1) / 1024 + 1;
            let _ = writeln!(text, "{{ khz = {khz}, cpu_uw = {power} }},");
        }
        let _ = writeln!(
            text,
            "]\ncpu_power = {{ {TAIL}\ntransition = {{ latency_us = {}, {TAIL}\n\
             source = \"test\"\nstanding = \"assumed\"\n",
            self.transition_us
        );
    }

    /// Writes WFI and the other idle states.
    fn idle_states(&self, text: &mut String) {
        let wfi = Idle {
            cluster: false,
            entry: 0,
            exit: 1,
            residency: 1,
        };
        for (index, state) in [wfi].iter().chain(&self.idle).enumerate() {
            let (scope, more) = if state.cluster {
                ("cluster", "")
            } else {
                ("cpu", "")
            };
            let _ = writeln!(
                text,
                "[[idle_state]]\nname = \"s{index}\"\nscope = \"{scope}\"\ncpus = \"all\"\n\
                 entry_latency_us = {}\nexit_latency_us = {}\nmin_residency_us = {}\n\
                 power = {{ cpu_uw = 0, {more}source = \"test\", standing = \"assumed\" }}\n\
                 source = \"test\"\nstanding = \"assumed\"\n",
                state.entry, state.exit, state.residency
            );
        }
    }
}
