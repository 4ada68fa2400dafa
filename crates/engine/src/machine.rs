//! A platform flattened for the run: speeds, scaled costs, idle states per CPU, and the facts for
//! the core (docs/guide/model.md). Nothing of the platform is read elsewhere during a run.
//!
//! What must stay: a speed is work units per ns (1024 x 1024 on the fastest CPU at its highest
//! frequency), a cost is work units unless its name ends in `_ns`. The order of CPUs, clusters and
//! domains is the platform's. Free: what leaves recorded runs as they are (ARCHITECTURE.md, "What a
//! change may touch"). Tests by part: platforms.rs::`domains_of_every_machine` (`core_facts`,
//! `numa_levels`), arithmetic.rs::`run_time_is_work_over_speed_at_each_operating_point` (`new`:
//! speeds), arithmetic.rs::`costs_add_up` (`Costs`), nodes.rs::`threads_share_a_core` (`Smt`),
//! idle.rs::`the_switch_leaves_the_first_state` (`idle_states`), `the_energy_model_is_the_kernels`
//! and `a_kernel_without_an_energy_model_is_told_no_powers` (`perf_domains`),
//! sched_mc.rs::`a_slow_core_holds_four` (`sched_mc`),
//! eevdf.rs::`a_high_resolution_tick_ends_slices_in_time` (`hrtimer_rearm_deferred`), every run
//! (`of`, `facts_of_run`, `caches`, `first_halt`, `threads_of`, `share`, `core_of`, `em_states`),
//! platforms.rs::`machines_that_differ` (`mpidr`, `has_preempt_lazy`),
//! clocks.rs::`powersave_is_the_hardwares_choice_under_such_a_driver` (`hint_of`), both tests below
//! (`states_by`). `of_tree` is used where a tree is built only. `cpus` by every run.
//!
//! Callers: kernel/model/mod.rs (`hint_of`, `facts_of_run`), kernel/tree/machine.rs (`core_of`,
//! `em_states`), check.rs (`em_states`), kernel/model/home/sched_ext.rs (`threads_of`),
//! kernel/model/idle.rs (`first_halt`), kernel/model/interface.rs (`hint_of`),
//! kernel/model/lines.rs (`core_of`), kernel/model/report.rs (`locks`),
//! kernel/model/wake_latency.rs (`locks`), mechanics/cpu.rs (`first_halt`), mechanics/hardware.rs
//! (`em_states`).
//!
//! Tests: below, crates/engine/tests/behaviour/arithmetic.rs,
//! crates/engine/tests/behaviour/platforms.rs, crates/engine/tests/behaviour/nodes.rs,
//! crates/engine/tests/behaviour/idle.rs, crates/engine/tests/behaviour/sched_mc.rs,
//! crates/engine/tests/behaviour/eevdf.rs

use crate::ids::CpuId;
use crate::nearness::{Cache, Nearness, prices};
use crate::options::Options;
use wakeplace_platform::{FreqDomain, IdleScope, IdleState, Opp, Platform, PowerUnit};
use wakeplace_policy_sys::{
    FreqFacts, LevelFacts, MachineFacts, PerfFacts, Policy, PriceFacts, SchedMcFacts, sys,
};

/// Work units of one nanosecond on the fastest CPU at its highest frequency: speed 1024 x 1024.
pub(crate) const FULL_SPEED: u64 = 1 << 20;

/// An idle state of one CPU.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CpuIdleState {
    /// Index into the platform's idle states.
    pub(crate) index: u16,
    pub(crate) cluster: bool,
    pub(crate) entry_ns: u64,
    pub(crate) exit_ns: u64,
    /// Entry and exit, what the idle governor and the scheduler are told.
    pub(crate) wake_latency_ns: u64,
    pub(crate) residency_ns: u64,
    /// To wake a CPU in it takes no interrupt.
    pub(crate) polling: bool,
}

impl CpuIdleState {
    /// Position of the first state in which a CPU halts; of the first if all poll.
    pub(crate) fn first_halt(states: &[Self]) -> usize {
        states.iter().position(|s| !s.polling).unwrap_or(0)
    }
}

/// What a run needs to know of the platform.
#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) nr_cpus: u32,
    pub(crate) tick_ns: u64,
    /// What HRTICK needs in order to be on by default.
    pub(crate) hrtimer_rearm_deferred: bool,
    /// Cluster of each CPU.
    pub(crate) cluster_of: Vec<u32>,
    pub(crate) cluster_cpus: Vec<Vec<CpuId>>,
    /// The last-level cache of each CPU, as the hardware has it; what a policy takes for one
    /// may differ.
    pub(crate) cache_of: Vec<u32>,
    /// Frequency domain of each CPU.
    pub(crate) domain_of: Vec<u32>,
    pub(crate) domain_cpus: Vec<Vec<CpuId>>,
    /// Per frequency domain: each of its CPUs has a cpufreq policy of its own.
    pub(crate) policy_per_cpu: Vec<bool>,
    pub(crate) transition_ns: Vec<u64>,
    /// Work units per ns of each CPU at each operating point of its domain.
    pub(crate) speed: Vec<Vec<u64>>,
    /// States of each CPU, shallow to deep; at least one.
    pub(crate) idle: Vec<Vec<CpuIdleState>>,
    /// NUMA node of each CPU.
    pub(crate) node_of: Vec<u32>,
    /// Per node the distance to each node, 10 = local; empty: one node.
    pub(crate) distance: Vec<Vec<u64>>,
    /// What CPUs share, and what lines take between them.
    pub(crate) near: Nearness,
    /// The last-level caches; None: nothing is known of them, or costs are off.
    pub(crate) cache: Option<Cache>,
    pub(crate) smt: Option<Smt>,
    /// The hint that hardware gets where it chooses clocks itself; None: it never does.
    preference: Option<u8>,
    pub(crate) costs: Costs,
    /// Paths of a tree's kernel take time: what lines cost. None: they take none.
    pub(crate) coherence: Option<LineCosts>,
    /// What the kernel's threads and the parent do takes the same time on every CPU.
    pub(crate) wall_times: bool,
}

/// Threads that share cores.
#[derive(Debug)]
pub(crate) struct Smt {
    /// Core of each CPU.
    core_of: Vec<u32>,
    /// CPUs of each core.
    threads: Vec<Vec<CpuId>>,
    /// Work of a core with 1, 2, ... busy threads, of 1024 for one.
    core_capacity: Vec<u64>,
}

impl Smt {
    /// None: a core has one thread. `threads` is by core, CPUs ascending.
    fn new(platform: &Platform) -> Option<Self> {
        let smt = platform.smt.as_ref()?;
        let core_of: Vec<u32> = platform.cpus.iter().map(|c| c.core).collect();
        let cores = core_of.iter().max().map_or(0, |last| *last as usize + 1);
        let mut threads = vec![Vec::new(); cores];
        for (cpu, core) in (0..).map(CpuId).zip(&core_of) {
            threads[*core as usize].push(cpu);
        }
        Some(Self {
            core_of,
            threads,
            core_capacity: smt.core_capacity.iter().map(|c| u64::from(*c)).collect(),
        })
    }

    /// All threads of the CPU's core, itself among them.
    #[inline]
    pub(crate) fn threads_of(&self, cpu: CpuId) -> &[CpuId] {
        &self.threads[self.core_of[cpu.index()] as usize]
    }

    /// Speed of a thread that has `alone` for itself, while so many threads of its core are busy.
    #[inline]
    pub(crate) fn share(&self, alone: u64, busy: usize) -> u64 {
        let busy = busy.clamp(1, self.core_capacity.len());
        (alone * self.core_capacity[busy - 1] / (1024 * busy as u64)).max(1)
    }
}

/// What an access of a tree's kernel to memory takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LineCosts {
    /// The core has the line; on the biggest CPU at its highest frequency.
    pub(crate) hit_ps: u64,
    pub(crate) near_ns: u64,
    pub(crate) far_ns: u64,
    pub(crate) clean_ns: u64,
    /// So many lines are told at the end, with what they have cost.
    pub(crate) told: usize,
}

/// Costs in work units; those in ns are wall time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Costs {
    pub(crate) context_switch: u64,
    pub(crate) wakeup: u64,
    pub(crate) tick: u64,
    pub(crate) fork: u64,
    pub(crate) migrate_shared: u64,
    pub(crate) migrate_other: u64,
    pub(crate) migrate_node: u64,
    pub(crate) ipi_ns: u64,
    pub(crate) publish_ns: u64,
    pub(crate) lock_hold_ns: u64,
    pub(crate) lock_shared_ns: u64,
    pub(crate) lock_other_ns: u64,
    pub(crate) switch_out_ns: u64,
}

impl Costs {
    /// The platform's costs, or none, with what settings put in their place.
    fn new(platform: &Platform, options: &Options) -> Self {
        let mut costs = if options.kernel_costs {
            Self::of(platform)
        } else {
            Self::default()
        };
        let set = |cost: &mut u64, asked: Option<u64>| *cost = asked.unwrap_or(*cost);
        set(&mut costs.fork, options.fork_ns.map(|ns| ns * FULL_SPEED));
        set(&mut costs.ipi_ns, options.ipi_ns);
        set(&mut costs.publish_ns, options.publish_ns);
        set(&mut costs.lock_hold_ns, options.lock_hold_ns);
        set(&mut costs.lock_shared_ns, options.lock_shared_cache_ns);
        set(&mut costs.lock_other_ns, options.lock_other_cache_ns);
        set(&mut costs.switch_out_ns, options.switch_out_ns);
        costs
    }

    /// Run queues have locks that take time.
    #[inline]
    pub(crate) fn locks(&self) -> bool {
        self.lock_hold_ns | self.lock_shared_ns | self.lock_other_ns != 0
    }

    /// The platform's costs: those that a CPU works off as work, the others in ns.
    fn of(platform: &Platform) -> Self {
        let c = &platform.costs;
        Self {
            context_switch: c.context_switch_ns * FULL_SPEED,
            wakeup: c.wakeup_ns * FULL_SPEED,
            tick: c.tick_ns * FULL_SPEED,
            fork: c.fork_ns * FULL_SPEED,
            migrate_shared: c.migrate_shared_cache_ns * FULL_SPEED,
            migrate_other: c.migrate_other_cache_ns * FULL_SPEED,
            migrate_node: c.migrate_other_node_ns.unwrap_or(0) * FULL_SPEED,
            ipi_ns: c.ipi_ns,
            publish_ns: c.publish_ns,
            lock_hold_ns: c.lock_hold_ns,
            lock_shared_ns: c.lock_shared_cache_ns,
            lock_other_ns: c.lock_other_cache_ns,
            switch_out_ns: c.switch_out_ns,
        }
    }
}

impl Machine {
    /// The hint for hardware that chooses clocks itself, where the policy's governor leaves them to
    /// it: `powersave` under a driver that has no such clock (docs/decisions/059).
    pub(crate) fn hint_of(&self, policy: &Policy) -> Option<u8> {
        self.preference.filter(|_| policy.leaves_clocks())
    }

    /// The numbers of all CPUs, ascending.
    pub(crate) fn cpus(&self) -> impl Iterator<Item = CpuId> + use<> {
        (0..self.nr_cpus).map(CpuId)
    }

    /// The core of a CPU; without threads each CPU is one.
    #[inline]
    pub(crate) fn core_of(&self, cpu: CpuId) -> u32 {
        let smt = self.smt.as_ref();
        smt.map_or(cpu.0, |smt| smt.core_of[cpu.index()])
    }

    /// `wake_latency_us`: the longest that the workload bears (`Workload::cpu_dma_latency_us`).
    pub(crate) fn new(
        platform: &Platform,
        options: &Options,
        wake_latency_us: Option<u32>,
    ) -> Self {
        let nr_cpus = platform.cpus.len();
        let mut domain_of = vec![0; nr_cpus];
        let mut speed = vec![Vec::new(); nr_cpus];
        for (index, domain) in platform.freq_domains.iter().enumerate() {
            let max_khz = u64::from(domain.opps.last().expect("validated").khz);
            for cpu in &domain.cpus {
                let full = u64::from(platform.cpus[cpu.index()].speed);
                domain_of[cpu.index()] = index as u32;
                speed[cpu.index()] = (domain.opps.iter())
                    .map(|opp| (full * 1024 * u64::from(opp.khz) / max_khz).max(1))
                    .collect();
            }
        }
        let row = |row: &Vec<u32>| row.iter().map(|d| u64::from(*d)).collect();
        let latency = |ns| if options.transition_latency { ns } else { 0 };
        Self {
            nr_cpus: nr_cpus as u32,
            tick_ns: 1_000_000_000 / u64::from(platform.tick_hz),
            hrtimer_rearm_deferred: hrtimer_rearm_deferred(&platform.arch),
            cluster_of: platform.cpus.iter().map(|c| c.cluster).collect(),
            cluster_cpus: platform.clusters.iter().map(|c| c.cpus.clone()).collect(),
            cache_of: caches(platform),
            domain_of,
            domain_cpus: platform
                .freq_domains
                .iter()
                .map(|d| d.cpus.clone())
                .collect(),
            policy_per_cpu: (platform.freq_domains.iter())
                .map(|d| d.policy_per_cpu && options.policy_per_cpu)
                .collect(),
            transition_ns: (platform.freq_domains.iter())
                .map(|d| latency(d.transition_latency_ns))
                .collect(),
            speed,
            idle: idle_states(platform, options, wake_latency_us, |_| true),
            node_of: platform.cpus.iter().map(|c| c.node).collect(),
            distance: platform
                .numa
                .iter()
                .flat_map(|n| &n.distances)
                .map(row)
                .collect(),
            cache: Cache::new(platform, options.kernel_costs),
            near: Nearness::new(platform, options.kernel_costs),
            smt: Smt::new(platform),
            preference: platform.cpufreq.as_ref().map(|own| own.preference),
            costs: Costs::new(platform, options),
            coherence: None,
            wall_times: platform
                .housekeeping
                .as_ref()
                .is_some_and(|stated| stated.wall),
        }
    }
}

impl Machine {
    /// The machine of a tree's kernel, which is offered no polling state: nothing in its process
    /// would end its polling (docs/rules/cpuidle.md#poll).
    pub(crate) fn of_tree(
        platform: &Platform,
        options: &Options,
        wake_latency_us: Option<u32>,
    ) -> Self {
        let mut machine = Self::new(platform, options, None);
        let latency = wake_latency_us;
        machine.idle = idle_states(platform, options, latency, |state| !state.polling);
        if let Some(stated) = platform.coherence.as_ref().filter(|_| options.coherence) {
            machine.price_lines(platform, stated, options.lines);
        }
        machine
    }

    /// Paths of the kernel take the time of their accesses: it is no cost beside that. Lines of
    /// the workload's own take as long as the kernel's.
    fn price_lines(
        &mut self,
        platform: &Platform,
        stated: &wakeplace_platform::Coherence,
        told: usize,
    ) {
        let costs = LineCosts {
            hit_ps: stated.hit_ps,
            near_ns: stated.near.ns,
            far_ns: stated.far.ns,
            clean_ns: stated.clean.ns,
            told,
        };
        self.near = Nearness::of_coherence(platform, costs.near_ns, costs.far_ns);
        self.coherence = Some(costs);
        let kernel = &mut self.costs;
        (kernel.context_switch, kernel.wakeup, kernel.tick) = (0, 0, 0);
    }

    /// The machine as the core is told of it, with what a look at a CPU takes here: a cache line
    /// that another one wrote, where that has a cost. The kernel measures its searches and passes
    /// by the clock, so what it believes is what it is charged. Where lines cost nothing they have
    /// no price.
    pub(crate) fn facts_of_run(&self, platform: &Platform, policy: &Policy) -> MachineFacts {
        let mut facts = core_facts(platform, policy);
        let line_ns = u32::try_from(self.costs.lock_shared_ns).unwrap_or(u32::MAX);
        facts.scan_cpu_ns = facts.scan_cpu_ns.max(line_ns);
        if !self.near.is_stated() {
            facts.prices = PriceFacts::default();
        }
        facts
    }
}

/// Per CPU the first one that shares its last-level cache.
fn caches(platform: &Platform) -> Vec<u32> {
    let first = |cpu: u32| match platform.last_level_cache(wakeplace_platform::CpuId(cpu)) {
        Some(cpus) => cpus[0].0,
        None => cpu,
    };
    (0..platform.cpus.len() as u32).map(first).collect()
}

/// Per CPU its states that wake fast enough for the workload and the options, the first in any
/// case; with idle states off, of those that do not poll only the first remains.
fn idle_states(
    platform: &Platform,
    options: &Options,
    wake_latency_us: Option<u32>,
    offered: impl Fn(&IdleState) -> bool,
) -> Vec<Vec<CpuIdleState>> {
    let limits = [wake_latency_us.map(u64::from), options.idle_latency_us];
    let longest_us = limits.into_iter().flatten().min();
    let longest_ns = longest_us.map_or(u64::MAX, |us| us * 1000);
    let states_of = |cpu: u32| {
        let all = platform.idle_states.iter().enumerate();
        let own = all
            .filter(|(_, s)| s.cpus.iter().any(|c| c.0 == cpu) && offered(s))
            .map(|(index, s)| CpuIdleState {
                index: index as u16,
                cluster: s.scope == IdleScope::Cluster,
                entry_ns: s.entry_latency_ns,
                exit_ns: s.exit_latency_ns,
                wake_latency_ns: s.entry_latency_ns + s.exit_latency_ns,
                residency_ns: s.min_residency_ns,
                polling: s.polling,
            });
        let mut kept: Vec<CpuIdleState> = Vec::new();
        for state in own {
            let shallow = kept.iter().all(|s| s.polling);
            let fits = state.wake_latency_ns <= longest_ns && (shallow || options.idle_states);
            if kept.is_empty() || fits {
                kept.push(state);
            }
        }
        kept
    };
    (0..platform.cpus.len() as u32).map(states_of).collect()
}

/// HRTIMER_REARM_DEFERRED of 7.3: does the architecture select all that it depends on
/// (docs/rules/queues.md#hrtick)?
fn hrtimer_rearm_deferred(arch: &str) -> bool {
    matches!(arch, "x86_64" | "riscv64" | "s390x" | "loongarch64")
}

/// ARCH_HAS_PREEMPT_LAZY of 7.3 (docs/rules/queues.md#lazy-preemption).
fn has_preempt_lazy(arch: &str) -> bool {
    matches!(
        arch,
        "x86_64" | "arm64" | "riscv64" | "s390x" | "ppc64" | "loongarch64"
    )
}

/// The machine as the policy core is told of it, with what drivers of the policy's kernel know.
///
/// # Panics
/// On a platform that was not validated.
#[must_use]
pub fn core_facts(platform: &Platform, policy: &Policy) -> MachineFacts {
    let nr_cpus = platform.cpus.len();
    let level = |l: &wakeplace_platform::TopologyLevel| {
        let mut group_of = vec![0; nr_cpus];
        for (label, group) in l.groups.iter().enumerate() {
            group
                .iter()
                .for_each(|cpu| group_of[cpu.index()] = label as u16);
        }
        LevelFacts {
            shares_capacity: l.shares_capacity,
            shares_cache: l.shares_cache,
            cluster: l.cluster,
            asym_packing: l.asym_packing,
            group_of,
            ..LevelFacts::default()
        }
    };
    let levels = platform.topology.iter().map(level);
    let domain = |d: &wakeplace_platform::FreqDomain| FreqFacts {
        cpus: d.cpus.iter().map(|c| c.0 as u16).collect(),
        opp_khz: d.opps.iter().map(|o| o.khz).collect(),
        transition_latency_us: (d.transition_latency_ns / 1000) as u32,
    };
    MachineFacts {
        tick_ns: 1_000_000_000 / platform.tick_hz,
        scan_cpu_ns: platform.costs.scan_cpu_ns as u32,
        capacity: platform.cpus.iter().map(|c| c.capacity).collect(),
        online: vec![true; nr_cpus],
        priority: platform.cpus.iter().map(|c| c.priority).collect(),
        is_32bit: platform.arch == "arm",
        has_preempt_lazy: has_preempt_lazy(&platform.arch),
        levels: levels.chain(numa_levels(platform)).collect(),
        reclaim_distance: platform.numa.as_ref().map_or(0, |n| n.reclaim_distance),
        freq_domains: platform.freq_domains.iter().map(domain).collect(),
        perf_domains: perf_domains(platform, policy),
        sched_mc: platform.sched_mc.as_ref().map(|mc| sched_mc(platform, mc)),
        prices: prices(platform),
    }
}

/// An MPIDR word of a multiprocessor: core and cluster, 8 bits each.
fn mpidr(cluster: u32, core: u32) -> u32 {
    2 << 30 | (cluster & 0xff) << 8 | core & 0xff
}

/// How many tasks a core holds, in the core's form.
fn sched_mc(platform: &Platform, mc: &wakeplace_platform::SchedMc) -> SchedMcFacts {
    let place = |(index, cpu): (usize, &wakeplace_platform::Cpu)| {
        let mates = platform.cpus[..index].iter();
        let nth = mates.filter(|c| c.cluster == cpu.cluster).count();
        mpidr(cpu.cluster, nth as u32)
    };
    SchedMcFacts {
        step_khz: mc.step_khz,
        tasks: mc.tasks.clone(),
        known_core: (platform.cpus.iter())
            .map(|cpu| cpu.kind == mc.core_kind)
            .collect(),
        mpidr: platform.cpus.iter().enumerate().map(place).collect(),
    }
}

/// One level per distance between nodes.
fn numa_levels(platform: &Platform) -> Vec<LevelFacts> {
    let Some(numa) = &platform.numa else {
        return Vec::new();
    };
    let level = |l: wakeplace_platform::numa::NumaLevel| LevelFacts {
        numa: true,
        distance: l.distance,
        group_of: (platform.cpus.iter())
            .map(|cpu| l.group_of[cpu.node as usize])
            .collect(),
        near: l.near,
        ..LevelFacts::default()
    };
    let levels = wakeplace_platform::numa::levels(&numa.distances);
    levels.into_iter().map(level).collect()
}

/// The energy model: one performance domain per frequency domain. Bogo units serve the model as
/// well as microwatts: only their ratios matter. As milliwatts, since the 2018 estimates count in
/// whole ones. Where a driver states costs, its states are the model, from its first kernel on; a
/// domain with neither has none.
fn perf_domains(platform: &Platform, policy: &Policy) -> Vec<PerfFacts> {
    let release = policy.release();
    let drawn = policy.core_params().em_powers == sys::WP_EM_DRAWN;
    let power = match drawn {
        true => |opp: &Opp| opp.power,
        false => Opp::power_in_model,
    };
    let facts = |d: &FreqDomain| {
        let (states, costs) = match (&d.em_costs, d.em_costs_in(release)) {
            (_, Some(known)) => (
                known.states.iter().map(|s| (s.level, 0)).collect(),
                known.states.iter().map(|s| s.cost).collect(),
            ),
            (Some(_), None) => return None,
            (None, None) => (states_by(platform.power_unit, d, 100, power), Vec::new()),
        };
        let powers = platform.has_energy_model && platform.power_unit != PowerUnit::None;
        (!costs.is_empty() || powers).then(|| PerfFacts {
            cpus: d.cpus.iter().map(|c| c.0 as u16).collect(),
            states,
            costs,
        })
    };
    platform.freq_domains.iter().filter_map(facts).collect()
}

/// `(kHz, uW)` of a domain's states, `percent` of the powers that the kernel's model has (the
/// hardware's where the platform tells no others); powers that nobody gave are 0.
pub(crate) fn em_states(unit: PowerUnit, domain: &FreqDomain, percent: u32) -> Vec<(u32, u32)> {
    states_by(unit, domain, percent, Opp::power_in_model)
}

/// Pairs (kHz, power) in the order of the operating points; `percent` is the share that the kernel
/// believes. Bogo units are kept times 1000, as a kernel scales them.
fn states_by(
    unit: PowerUnit,
    domain: &FreqDomain,
    percent: u32,
    power: fn(&Opp) -> Option<u64>,
) -> Vec<(u32, u32)> {
    let scale = if unit == PowerUnit::Bogo { 1000 } else { 1 };
    let state = |o: &Opp| {
        let power = power(o).unwrap_or(0) * scale * u64::from(percent) / 100;
        (o.khz, u32::try_from(power).unwrap_or(u32::MAX))
    };
    domain.opps.iter().map(state).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: the core's energy model has the powers that the kernel believes in, not those that the
    /// hardware draws (docs/decisions/056). Juno r0 states both.
    #[test]
    fn the_energy_model_is_the_kernels() {
        let juno = Platform::builtin("juno-r0").expect("built in");
        let opps = || juno.freq_domains.iter().flat_map(|domain| &domain.opps);
        let believed: Vec<u64> = opps().filter_map(|opp| opp.em_power).collect();
        let drawn: Vec<u64> = opps().filter_map(|opp| opp.power).collect();
        assert_eq!(believed.len(), opps().count());
        assert_ne!(believed, drawn);
        let model = |settings: &str| -> Vec<u64> {
            let name = format!("linux-7.3{settings}");
            let policy = Policy::parse(&name).expect("a policy");
            let facts = perf_domains(&juno, &policy);
            let states = facts.iter().flat_map(|domain| &domain.states);
            states.map(|state| state.1.into()).collect()
        };
        assert_eq!(model(""), believed);
        assert_eq!(model(":em_powers=drawn"), drawn);
    }

    /// Goal: a kernel that knows no powers has no energy model, though the hardware's are known
    /// (docs/decisions/056, 037).
    #[test]
    fn a_kernel_without_an_energy_model_is_told_no_powers() {
        let hybrid = Platform::builtin("alder-lake-12900k").expect("built in");
        let policy = Policy::parse("linux-7.3").expect("a policy");
        let mut opps = hybrid.freq_domains.iter().flat_map(|domain| &domain.opps);
        assert!(opps.all(|opp| opp.power.is_some()));
        assert!(perf_domains(&hybrid, &policy).is_empty());
    }
}
