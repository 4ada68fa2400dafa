// SPDX-License-Identifier: GPL-2.0-only
//! Random machines and policies.
//!
//! What must stay: machines and policies follow from the seed (`Draw`); draws keep their order.
//! Free: further machines and policies, at the end of the draws.
//! Callers: main.rs, situations.rs and events.rs (`Draw`). `next`, `range`, `index`, `pick` and
//! `one_in` draw; `up_to` and `large` say how many CPUs; `labels`, `levels`, `push_numa`,
//! `capacities`, `priorities`, `packing`, `prices`, `states` and `machine` build them; `eras`,
//! `value_of` and `policy` a policy; `core` both. Page: docs/internals/checks.md;
//! docs/decisions/011.

use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng;
use wakeplace_policy_sys::{
    Core, FreqFacts, LevelFacts, MachineFacts, PerfFacts, Policy, PriceFacts, SchedMcFacts, sys,
};

/// Draws of one stream.
pub(crate) struct Draw(Pcg64);

impl Draw {
    /// The stream of this number under this seed. PCG streams from one state are correlated: the
    /// state is mixed of both (2^128 divided by the golden ratio, made odd).
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        let both = u128::from(seed) << 64 | u128::from(stream);
        let state = both.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
        Self(Pcg64::new(state ^ state >> 67, u128::from(stream)))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// From..=to; the bias of the remainder does not matter here.
    pub(crate) fn range(&mut self, from: u32, to: u32) -> u32 {
        from + (self.next() % (u64::from(to) - u64::from(from) + 1)) as u32
    }

    pub(crate) fn index(&mut self, len: usize) -> usize {
        (self.next() % len as u64) as usize
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.index(from.len())]
    }

    /// True once in `n`.
    pub(crate) fn one_in(&mut self, n: u64) -> bool {
        self.next().is_multiple_of(n)
    }
}

/// Sizes of the parts of a machine, each in units of the one before.
struct Shape {
    threads: usize,
    cores: usize,
    clusters: usize,
    llcs: usize,
    nodes: usize,
}

impl Shape {
    /// At most `most` CPUs; small machines are as likely as large ones.
    fn up_to(draw: &mut Draw, most: usize) -> Self {
        let most = if draw.one_in(4) { most } else { most.min(16) };
        loop {
            let shape = Self {
                threads: draw.pick(&[1, 1, 1, 1, 2, 2, 4]),
                cores: draw.pick(&[1, 2, 2, 3, 4, 4, 6]),
                clusters: draw.pick(&[1, 1, 1, 2, 2, 3]),
                llcs: draw.pick(&[1, 1, 2, 2, 3, 4]),
                nodes: draw.pick(&[1, 1, 1, 1, 1, 2, 4]),
            };
            if (1..=most).contains(&shape.cpus()) {
                return shape;
            }
        }
    }

    /// More than 64 CPUs, as many as the core takes at most; every doubling is as likely.
    fn large(draw: &mut Draw) -> Self {
        let below = draw.pick(&[64, 128, 256, 512]);
        loop {
            let shape = Self {
                threads: draw.pick(&[1, 1, 2, 2, 4]),
                cores: draw.range(1, 16) as usize,
                clusters: draw.pick(&[1, 1, 2, 4]),
                llcs: draw.range(1, 8) as usize,
                nodes: draw.pick(&[1, 1, 2, 3, 4, 8]),
            };
            if (below + 1..=2 * below).contains(&shape.cpus()) {
                return shape;
            }
        }
    }

    fn cpus(&self) -> usize {
        self.threads * self.cores * self.clusters * self.llcs * self.nodes
    }

    fn in_llc(&self) -> usize {
        self.threads * self.cores * self.clusters
    }

    /// Groups of equal size, numbered from 0.
    fn labels(&self, size: usize) -> Vec<u16> {
        (0..self.cpus()).map(|c| (c / size) as u16).collect()
    }

    /// Its levels, bottom first; now and then one is missing.
    fn levels(&self, draw: &mut Draw) -> Vec<LevelFacts> {
        let level = |size| LevelFacts {
            group_of: self.labels(size),
            ..LevelFacts::default()
        };
        let mut levels = Vec::new();
        if self.threads > 1 {
            levels.push(LevelFacts {
                shares_capacity: true,
                shares_cache: true,
                ..level(self.threads)
            });
        }
        if self.clusters > 1 && !draw.one_in(3) {
            levels.push(LevelFacts {
                cluster: true,
                shares_cache: true,
                ..level(self.threads * self.cores)
            });
        }
        if !draw.one_in(8) {
            levels.push(LevelFacts {
                shares_cache: true,
                ..level(self.in_llc())
            });
        }
        if !draw.one_in(8) {
            levels.push(level(self.in_llc() * self.llcs));
        }
        if self.nodes > 1 && !draw.one_in(8) {
            self.push_numa(draw, &mut levels);
        }
        for level in &mut levels {
            level.asym_packing = draw.one_in(4);
        }
        levels
    }

    /// All nodes at one distance, or now and then on a ring, where groups overlap.
    fn push_numa(&self, draw: &mut Draw, levels: &mut Vec<LevelFacts>) {
        let whole = LevelFacts {
            numa: true,
            distance: draw.pick(&[0, 21, 32, 40]),
            group_of: self.labels(self.cpus()),
            ..LevelFacts::default()
        };
        if self.nodes < 4 || draw.one_in(2) {
            return levels.push(whole);
        }
        let steps = |a: usize, b: usize| a.abs_diff(b).min(self.nodes - a.abs_diff(b));
        for reach in 1..=2.min(self.nodes / 2) {
            let near = |node| {
                let others = (0..self.nodes).filter(|other| steps(node, *other) <= reach);
                others.fold(0, |bits: u64, other| bits | 1 << other)
            };
            levels.push(LevelFacts {
                distance: [20, 40][reach - 1],
                group_of: self.labels(self.cpus() / self.nodes),
                near: (0..self.nodes).map(near).collect(),
                ..whole.clone()
            });
        }
    }
}

/// Two thirds of the machines have two or three capacities, in blocks of `unit` CPUs.
fn capacities(draw: &mut Draw, cpus: usize, unit: usize) -> Vec<u32> {
    let (a, b) = (draw.range(150, 1000), draw.range(200, 1023));
    let kinds = match draw.range(0, 5) {
        0 | 1 => vec![1024],
        2 => vec![1024, a],
        3 => vec![a, 1024],
        4 => vec![a, b, 1024],
        _ => vec![a, b, b + 1], // nearly equal ones, and none of 1024
    };
    let shuffled = draw.one_in(3);
    let mut of_unit = Vec::new();
    for block in 0..cpus.div_ceil(unit) {
        of_unit.push(if shuffled {
            draw.pick(&kinds)
        } else {
            kinds[block % kinds.len()]
        });
    }
    (0..cpus).map(|c| of_unit[c / unit]).collect()
}

/// Half of the machines have CPUs that are better than others.
fn priorities(draw: &mut Draw, cpus: usize) -> Vec<u32> {
    if draw.one_in(2) {
        return Vec::new();
    }
    (0..cpus).map(|_| draw.range(1, 4)).collect()
}

/// Half of the machines have a table of tasks per core, now and then for some cores only.
fn packing(draw: &mut Draw, cpus: usize) -> Option<SchedMcFacts> {
    if draw.one_in(2) {
        return None;
    }
    let mut tasks: Vec<u32> = (0..draw.range(1, 10)).map(|_| draw.range(1, 6)).collect();
    tasks.sort_unstable_by(|a, b| b.cmp(a));
    let some = draw.one_in(3);
    Some(SchedMcFacts {
        step_khz: draw.pick(&[50_000, 200_000, 500_000]),
        tasks,
        known_core: (0..cpus).map(|_| !some || draw.one_in(2)).collect(),
        mpidr: Vec::new(),
    })
}

/// Frequencies that rise strictly; powers that mostly do.
pub(crate) fn states(draw: &mut Draw) -> Vec<(u32, u32)> {
    let (mut khz, mut uw) = (draw.range(100, 900) * 1000, draw.range(1_000, 300_000));
    let mut list = Vec::new();
    for _ in 0..draw.range(1, 8) {
        list.push((khz, uw));
        khz += draw.range(1, 500_000);
        uw += draw.range(0, 500_000);
    }
    list
}

/// CPUs of one capacity that share a clock. The core has room for 64 performance domains: mostly
/// there are not more.
fn unit(draw: &mut Draw, shape: &Shape) -> usize {
    let cluster = shape.threads * shape.cores;
    let unit = draw.pick(&[cluster, cluster, shape.threads, shape.in_llc()]);
    let many = shape.cpus() / unit > sys::WP_MAX_PERF_DOMS as usize;
    if many && !draw.one_in(4) {
        shape.in_llc()
    } else {
        unit
    }
}

/// What caches take; on half of the machines nobody knows.
fn prices(draw: &mut Draw) -> PriceFacts {
    if draw.one_in(2) {
        return PriceFacts::default();
    }
    let mut up_to = |most| Some(u64::from(draw.range(0, most)));
    let lines = [up_to(30), up_to(120), up_to(250)];
    PriceFacts::new(lines, [up_to(20_000), up_to(40_000)])
}

/// A machine of that shape.
fn machine(draw: &mut Draw, shape: &Shape) -> MachineFacts {
    let cpus = shape.cpus();
    let unit = unit(draw, shape);
    let mut facts = MachineFacts {
        tick_ns: draw.pick(&[1_000_000, 4_000_000, 10_000_000]),
        scan_cpu_ns: draw.range(0, 200),
        capacity: capacities(draw, cpus, unit),
        online: Vec::new(),
        is_32bit: draw.one_in(4),
        has_preempt_lazy: false,
        levels: shape.levels(draw),
        freq_domains: Vec::new(),
        perf_domains: Vec::new(),
        priority: priorities(draw, cpus),
        reclaim_distance: draw.pick(&[0, 20, 32]),
        sched_mc: packing(draw, cpus),
        prices: prices(draw),
    };
    if draw.one_in(6) {
        facts.online = (0..cpus).map(|c| c == 0 || !draw.one_in(6)).collect();
    }
    let energy = !draw.one_in(6) && cpus / unit <= sys::WP_MAX_PERF_DOMS as usize;
    for first in (0..cpus).step_by(unit) {
        let members: Vec<u16> = (first..first + unit).map(|c| c as u16).collect();
        let states = states(draw);
        facts.freq_domains.push(FreqFacts {
            cpus: members.clone(),
            opp_khz: states.iter().map(|s| s.0).collect(),
            transition_latency_us: draw.pick(&[0, 1, 100, 5_000]),
        });
        if energy {
            facts.perf_domains.push(PerfFacts {
                cpus: members,
                states,
                costs: Vec::new(),
            });
        }
    }
    facts
}

/// A value that the parameter takes, from what its refusal of `?` says it expects.
fn value_of(draw: &mut Draw, key: &str) -> String {
    let mut probe = Policy::parse(&eras()[0]).expect("an era");
    let refusal = probe.set(key, "?").expect_err("no value").to_string();
    let (_, expected) = refusal.rsplit_once("expected ").expect("what is expected");
    if expected.contains("`on`") {
        return draw.pick(&["on", "off"]).to_owned();
    }
    if let Some(names) = expected.strip_prefix("one of ") {
        let names: Vec<&str> = names.split(", ").collect();
        return draw.pick(&names).to_owned();
    }
    let numbers = expected.split_whitespace().filter_map(|w| w.parse().ok());
    let numbers: Vec<u32> = numbers.collect();
    let [from, to] = numbers[..] else {
        panic!("parameter {key} expects something else: {refusal}");
    };
    let near = draw.range(from, to.min(from.saturating_add(1000)));
    draw.pick(&[from, to, near, near]).to_string()
}

fn eras() -> Vec<String> {
    let names = Policy::catalogue().into_iter().map(|(name, _)| name);
    names.filter(|name| !name.starts_with('+')).collect()
}

/// An era with features added or taken in any of their versions, and a few parameters of its own.
pub(crate) fn policy(draw: &mut Draw) -> Policy {
    let eras = eras();
    let mut name = eras[draw.index(eras.len())].clone();
    for feature in Policy::parse(&name).expect("an era").features() {
        let part = match draw.range(0, 3) {
            0 if feature.versions.is_empty() => format!("+{}", feature.name),
            0 => format!("+{}={}", feature.name, draw.pick(feature.versions)),
            1 if draw.one_in(3) => format!("-{}", feature.name),
            _ => continue,
        };
        // What builds on one era only is refused by the others.
        if Policy::parse(&format!("{name}{part}")).is_ok() {
            name += &part;
        }
    }
    let mut policy = Policy::parse(&name).unwrap_or_else(|e| panic!("{e}"));
    if draw.one_in(2) {
        let keys: Vec<&str> = policy.params().iter().map(|p| p.key).collect();
        for _ in 0..draw.range(1, 4) {
            let key = draw.pick(&keys);
            let value = value_of(draw, key);
            policy.set(key, &value).unwrap_or_else(|e| panic!("{e}"));
        }
    }
    // These are in no build for BPF (WP_UCLAMP_SUM, WP_EAS_REWORK).
    for (key, value) in [("uclamp_aggregation", "max"), ("energy_rework", "off")] {
        policy.set(key, value).unwrap_or_else(|e| panic!("{e}"));
    }
    policy
}

/// A core for a random machine under a random policy.
pub(crate) struct Machine {
    pub(crate) core: Core,
    /// Both in words.
    pub(crate) words: String,
    /// The live build holds the policy: no part of it is of an era before 7.3.
    pub(crate) live: bool,
}

/// What to draw a machine from.
#[derive(Clone, Copy)]
pub(crate) enum Size {
    /// So many CPUs at most.
    UpTo(usize),
    /// More than fit into one word of a bitmask, up to the core's limit.
    Large,
}

/// A random machine under a random policy; with `live`, under one that the live build holds.
pub(crate) fn core(draw: &mut Draw, size: Size, live: bool) -> Machine {
    let shape = match size {
        Size::UpTo(most) => Shape::up_to(draw, most),
        Size::Large => Shape::large(draw),
    };
    let facts = machine(draw, &shape);
    // Nothing live is measured by a time of CFS, which the live build therefore does not read.
    let held = |policy: &Policy| {
        policy.not_in_live_build().is_none() && policy.core_params().queue != sys::WP_QUEUE_CFS
    };
    let mut drawn = policy(draw);
    while live && !held(&drawn) {
        drawn = policy(draw);
    }
    let mut core = Core::new(&facts, drawn.core_params()).expect("a machine the core takes");
    // Live the kernel sets the frequencies: that build has nothing else.
    if live || draw.one_in(4) {
        core.state_mut().freq_external = 1;
        core.state_mut().freq_schedutil = u32::from(!draw.one_in(4));
        core.restart();
    }
    let clocks = core.state().nr_freq_doms as usize;
    for clock in &mut core.state_mut().freq_doms[..clocks] {
        clock.cur_opp = draw.range(0, clock.nr_opps.max(1) - 1);
    }
    let words = format!(
        "policy {} {:?}\nmachine {facts:?}",
        drawn.name(),
        drawn.overrides()
    );
    Machine {
        live: held(&drawn),
        core,
        words,
    }
}
