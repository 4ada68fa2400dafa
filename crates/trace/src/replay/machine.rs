//! The machine a recording was made on, as far as it decides how much work a time on a CPU was, and
//! what of that time the simulator will add by itself (docs/guide/traces-in.md, "What becomes of
//! it").
//!
//! What must stay: capacities are of 1024, clocks kHz, times ns, work ns at `FULL_SPEED` as in the
//! engine; costs are the platform's, since the simulator adds them again. Free: what leaves the
//! scripts of recordings as they are (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `work_is_scaled_by_capacity_and_frequency` (`of`, `speed`),
//! `moves_cost_also_without_a_run_between` (`move_cost`), exported.rs::`tasks_by_timers_come_back`
//! (threads of cores, `exit_ns`, `is_of_cluster`), replay/mod.rs::`a_recording_by_hand` (`stated`),
//! all also `nr_cpus`, `threads` and `same_cluster`.
//!
//! Callers: replay/tracker/kernel.rs (`move_cost`, `is_of_cluster`, `same_cluster`, `exit_ns`),
//! tracker.rs (`move_cost`).
//!
//! Tests: crates/trace/tests/all/replay/mod.rs, crates/trace/tests/all/replay/exported.rs

use wakeplace_platform::{CpuId, IdleScope, IdleState, Platform};

/// Work per ns of a CPU of speed 1024 at its highest frequency, as in the engine.
pub(super) const FULL_SPEED: u64 = 1 << 20;

/// One CPU.
#[derive(Clone, Debug)]
struct Cpu {
    /// What it gets done at its highest frequency, of 1024.
    speed: u64,
    /// Highest frequency, kHz; 0: not known.
    max_khz: u64,
    /// CPUs of its core, itself too.
    threads: Vec<u32>,
    /// CPUs that share its last cache, and its node.
    cache: u32,
    node: u32,
    /// Exit latency of each of its idle states, ns, and whether it is one of its cluster.
    idle: Vec<(u64, bool)>,
    cluster: u32,
}

/// What the simulator adds to the time of tasks, in units of work.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Costs {
    pub(super) context_switch: u64,
    pub(super) wakeup: u64,
    pub(super) tick: u64,
    pub(super) fork: u64,
    migrate_shared: u64,
    migrate_other: u64,
    migrate_node: u64,
}

/// A machine.
#[derive(Clone, Debug)]
pub(super) struct Machine {
    cpus: Vec<Cpu>,
    /// Work of a core with 1, 2, ... busy threads, 1024 for one.
    core_capacity: Vec<u64>,
    pub(super) costs: Costs,
    pub(super) tick_ns: u64,
}

impl Machine {
    /// By a platform.
    pub(super) fn of(platform: &Platform) -> Self {
        let cache = platform
            .topology
            .iter()
            .rev()
            .find(|level| level.shares_cache);
        let facts = |s: &IdleState| (s.exit_latency_ns, s.scope == IdleScope::Cluster);
        let cpu = |id: CpuId| {
            let own = &platform.cpus[id.index()];
            let domain = &platform.freq_domains[platform.freq_domain_of(id)];
            let same_core = (0..).map(CpuId).take(platform.cpus.len());
            let same_core = same_core.filter(|o| platform.cpus[o.index()].core == own.core);
            let group = cache.and_then(|level| level.groups.iter().find(|g| g.contains(&id)));
            Cpu {
                speed: u64::from(own.speed),
                max_khz: domain.opps.last().map_or(0, |opp| u64::from(opp.khz)),
                threads: same_core.map(|other| other.0).collect(),
                cache: group.map_or(id.0, |group| group[0].0),
                node: own.node,
                idle: platform.idle_states_of(id).map(|(_, s)| facts(s)).collect(),
                cluster: own.cluster,
            }
        };
        let ids = (0..).map(CpuId).take(platform.cpus.len());
        let c = &platform.costs;
        Self {
            cpus: ids.map(cpu).collect(),
            core_capacity: platform
                .smt
                .as_ref()
                .map(|smt| smt.core_capacity.iter().map(|c| u64::from(*c)).collect())
                .unwrap_or_default(),
            costs: Costs {
                context_switch: c.context_switch_ns * FULL_SPEED,
                wakeup: c.wakeup_ns * FULL_SPEED,
                tick: c.tick_ns * FULL_SPEED,
                fork: c.fork_ns * FULL_SPEED,
                migrate_shared: c.migrate_shared_cache_ns * FULL_SPEED,
                migrate_other: c.migrate_other_cache_ns * FULL_SPEED,
                migrate_node: c.migrate_other_node_ns.unwrap_or(0) * FULL_SPEED,
            },
            tick_ns: 1_000_000_000 / u64::from(platform.tick_hz),
        }
    }

    /// CPUs of which the recording says no more than capacity and highest frequency, if that.
    pub(super) fn stated(cpus: impl Iterator<Item = (Option<u32>, Option<u32>)>) -> Self {
        let cpu = |(id, (capacity, khz)): (u32, (Option<u32>, Option<u32>))| Cpu {
            speed: capacity
                .filter(|c| (1..=1024).contains(c))
                .map_or(1024, u64::from),
            max_khz: khz.map_or(0, u64::from),
            threads: vec![id],
            cache: 0,
            node: 0,
            idle: Vec::new(),
            cluster: 0,
        };
        Self {
            cpus: (0..).zip(cpus).map(cpu).collect(),
            core_capacity: Vec::new(),
            costs: Costs::default(),
            tick_ns: 0,
        }
    }

    /// CPUs that are known so far.
    pub(super) fn nr_cpus(&self) -> usize {
        self.cpus.len()
    }

    /// CPUs of one core with this one.
    pub(super) fn threads(&self, cpu: usize) -> &[u32] {
        &self.cpus[cpu].threads
    }

    /// Work per ns at a frequency, None = the highest, with so many busy threads in the core. What
    /// is faster than the highest that is known is the highest.
    pub(super) fn speed(&self, cpu: usize, khz: Option<u64>, busy: usize) -> u64 {
        let own = &self.cpus[cpu];
        let alone = match khz {
            Some(khz) if own.max_khz > 0 && khz < own.max_khz => {
                own.speed * 1024 * khz / own.max_khz
            }
            _ => own.speed * 1024,
        };
        let alone = alone.max(1);
        match self.core_capacity.len() {
            0 => alone,
            most => {
                let busy = busy.clamp(1, most);
                (alone * self.core_capacity[busy - 1] / (1024 * busy as u64)).max(1)
            }
        }
    }

    /// Refilling caches after a move.
    pub(super) fn move_cost(&self, from: usize, to: usize) -> u64 {
        let (from, to) = (&self.cpus[from], &self.cpus[to]);
        match (from.cache == to.cache, from.node == to.node) {
            (true, _) => self.costs.migrate_shared,
            (false, true) => self.costs.migrate_other,
            (false, false) => self.costs.migrate_node,
        }
    }

    /// Whether an idle state is one of the CPU's cluster.
    pub(super) fn is_of_cluster(&self, cpu: usize, state: u32) -> bool {
        let states = &self.cpus[cpu].idle;
        states
            .get(state as usize)
            .is_some_and(|(_, cluster)| *cluster)
    }

    /// CPUs of one cluster.
    pub(super) fn same_cluster(&self, one: usize, other: usize) -> bool {
        self.cpus[one].cluster == self.cpus[other].cluster
    }

    /// Time to leave an idle state, ns; 0 where nothing is known of it. A state of the cluster
    /// while it is up is left as the CPU's own deepest is.
    pub(super) fn exit_ns(&self, cpu: usize, state: u32, down: bool) -> u64 {
        let states = &self.cpus[cpu].idle;
        match states.get(state as usize) {
            Some((_, true)) if !down => {
                let own = states.iter().rev().find(|(_, cluster)| !cluster);
                own.map_or(0, |(ns, _)| *ns)
            }
            Some((ns, _)) => *ns,
            None => 0,
        }
    }
}
