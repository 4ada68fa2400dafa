//! A machine as the core wants to be told of it.
//!
//! What must stay: the core is told in this order: CPUs, topology, frequencies, energy. Frequencies
//! are kHz, powers uW, latencies us. Free: how facts are gathered; not the order of telling.
//!
//! Tests by part: topology.rs: `levels_of_server_machines` (`describe`, `describe_cpus`,
//! `copy_topology`), topology_numa.rs: `refusals` (`topology_error`), energy_vectors.rs:
//! `registration_errors` (`describe_energy`, `fill_scratch`, `energy_error`),
//! `table_update_changes_the_decision` (`update_energy_model`), energy_7_3.rs: `limits_of_a_domain`
//! (`limit_energy_model`), energy_no_watts.rs: `costs_of_hikey960` (a model by clocks,
//! `energy_tables`), `a_machine_that_has_a_model_keeps_it` (`energy_without_watts`),
//! frequency.rs: `rate_limit_values` (`describe_freq`), sched_mc.rs: `the_topology_of_a_dual`
//! (`describe_sched_mc`), cache_rent.rs: `five_far_wakeups_pay_a_move` (`PriceFacts`). `room` has
//! no test of its own: a machine that is refused shows a fault of its.
//!
//! Callers: `Core::new`; hotplug.rs describes anew.
//!
//! Tests: crates/policy-sys/tests/all/topology.rs, crates/policy-sys/tests/all/topology_numa.rs,
//! crates/policy-sys/tests/all/fixtures.rs

use crate::core::Core;
use crate::sys;
use thiserror::Error;

/// `RECLAIM_DISTANCE` of include/linux/topology.h: farther nodes are reclaimed for.
const USUAL_RECLAIM_DISTANCE: u32 = 30;

/// One level of the scheduler's topology, bottom first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LevelFacts {
    /// CPUs of a group are threads of one core.
    pub shares_capacity: bool,
    /// CPUs of a group share a cache.
    pub shares_cache: bool,
    /// CPUs of a group are a cluster: they share a cache below the last-level one.
    pub cluster: bool,
    /// Groups are NUMA nodes, or sets of them.
    pub numa: bool,
    /// Balancing fills CPUs of higher priority first at this level.
    pub asym_packing: bool,
    /// NUMA: between the farthest nodes of a group; 0 = not known.
    pub distance: u32,
    /// Group label per CPU; with `near` the position of its node there.
    pub group_of: Vec<u16>,
    /// NUMA levels whose groups overlap: of each node the nodes of its group, one bit each. All
    /// levels above have it, too. Empty = the labels are the groups.
    pub near: Vec<u64>,
}

/// A frequency domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FreqFacts {
    /// Members, ascending.
    pub cpus: Vec<u16>,
    /// Frequencies, kHz, ascending.
    pub opp_khz: Vec<u32>,
    /// Time a change takes, us.
    pub transition_latency_us: u32,
}

/// A performance domain of the energy model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PerfFacts {
    /// Members, ascending.
    pub cpus: Vec<u16>,
    /// `(kHz, uW)` per state, ascending.
    pub states: Vec<(u32, u32)>,
    /// Artificial model: the cost of each state, and the powers say nothing. Empty = by power.
    pub costs: Vec<u32>,
}

/// How many tasks a kind of core is to hold at each frequency while power is saved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SchedMcFacts {
    /// Width of an entry, kHz; > 0.
    pub step_khz: u32,
    /// Tasks per entry, the slowest first; at least one entry, the last one is for all above.
    pub tasks: Vec<u32>,
    /// Which CPUs are cores of that kind, one flag per CPU.
    pub known_core: Vec<bool>,
    /// What each CPU's identification register says of its place (MPIDR).
    pub mpidr: Vec<u32>,
}

/// What caches take, ns. 0: unknown; rules that compare prices then leave things as they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PriceFacts {
    /// A line that a CPU of the same last-level cache wrote.
    pub cache_line_ns: u32,
    /// A line that a CPU of another last-level cache of the node wrote.
    pub node_line_ns: u32,
    /// A line that a CPU of another node wrote.
    pub far_line_ns: u32,
    /// Refilling caches after a move to another last-level cache of the node.
    pub refill_ns: u32,
    /// Refilling caches after a move to another node.
    pub refill_far_ns: u32,
    /// A line that is in the last-level cache.
    pub hit_ns: u32,
    /// A line of the node's memory.
    pub memory_ns: u32,
}

/// A machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MachineFacts {
    /// Length of a tick, ns.
    pub tick_ns: u32,
    /// What looking at one CPU costs in a search, ns.
    pub scan_cpu_ns: u32,
    /// Capacity per CPU, 1..=1024.
    pub capacity: Vec<u32>,
    /// Which CPUs run, one flag per CPU; empty = all of them. A CPU that does not is in no domain.
    pub online: Vec<bool>,
    /// Priority per CPU where some are better than others (`asym_packing`); empty = all alike.
    pub priority: Vec<u32>,
    /// Whether the machine's kernel counts in words of 32 bits.
    pub is_32bit: bool,
    /// Whether its architecture has lazy preemption.
    pub has_preempt_lazy: bool,
    /// Topology, bottom first.
    pub levels: Vec<LevelFacts>,
    /// Nodes farther apart than this are far from each other; 0 = Linux's usual 30.
    pub reclaim_distance: u32,
    /// Frequency domains: a partition of the CPUs.
    pub freq_domains: Vec<FreqFacts>,
    /// Performance domains; empty = no energy model but what the policy makes of clocks
    /// (docs/rules/energy-no-watts.md).
    pub perf_domains: Vec<PerfFacts>,
    /// What is known for `sched-mc`, where something is.
    pub sched_mc: Option<SchedMcFacts>,
    /// What its caches take.
    pub prices: PriceFacts,
}

/// Facts that the core refuses.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MachineError {
    /// More of something than the core has room for.
    #[error("the policy core has room for {limit} {what}, not {found}")]
    TooMany {
        /// Plural noun.
        what: &'static str,
        /// Most the core takes.
        limit: usize,
        /// How many there are.
        found: usize,
    },
    /// The levels make no domains.
    #[error("topology: {0}")]
    Topology(&'static str),
    /// The energy model of a performance domain is refused.
    #[error("energy model of performance domain {domain}: {why}")]
    EnergyModel {
        /// Index into `perf_domains`.
        domain: usize,
        /// What is wrong.
        why: &'static str,
    },
}

/// An error, if a list is longer than the core's arrays.
fn room(what: &'static str, limit: u32, found: usize) -> Result<(), MachineError> {
    let limit = limit as usize;
    if found > limit {
        Err(MachineError::TooMany { what, limit, found })
    } else {
        Ok(())
    }
}

impl LevelFacts {
    /// One level of the topology.
    fn describe(&self, level: &mut sys::wp_topo_level) {
        let flag = |on: bool, flag: u32| if on { flag } else { 0 };
        level.flags = flag(self.shares_capacity, sys::WP_SD_SHARE_CPUCAPACITY)
            | flag(self.shares_cache, sys::WP_SD_SHARE_LLC)
            | flag(self.cluster, sys::WP_SD_CLUSTER)
            | flag(self.numa, sys::WP_SD_NUMA)
            | flag(self.asym_packing, sys::WP_SD_ASYM_PACKING);
        level.distance = self.distance;
        level.group_of[..self.group_of.len()].copy_from_slice(&self.group_of);
        level.overlap = u32::from(!self.near.is_empty());
        level.near[..self.near.len()].copy_from_slice(&self.near);
    }
}

/// A time as the core takes it.
fn whole_ns(ns: u64) -> u32 {
    u32::try_from(ns).unwrap_or(u32::MAX)
}

impl PriceFacts {
    /// `lines_ns`: a line from the same last-level cache, another one of the node, another node;
    /// `moves_ns`: a move to another cache of the node, to another node. None: unknown.
    #[must_use]
    pub fn new(lines_ns: [Option<u64>; 3], moves_ns: [Option<u64>; 2]) -> Self {
        let ns = |stated: Option<u64>| stated.map_or(0, whole_ns);
        let ([cache, node, far], [move_near, move_far]) = (lines_ns.map(ns), moves_ns.map(ns));
        Self {
            cache_line_ns: cache,
            node_line_ns: node,
            far_line_ns: far,
            refill_ns: move_near,
            refill_far_ns: move_far,
            ..Self::default()
        }
    }

    /// The same, with what a hit in the last-level cache and an access to memory take, ns.
    #[must_use]
    pub fn with_accesses(self, hit_ns: u64, memory_ns: u64) -> Self {
        Self {
            hit_ns: whole_ns(hit_ns),
            memory_ns: whole_ns(memory_ns),
            ..self
        }
    }

    /// The same in the core's form.
    fn describe(&self) -> sys::wp_prices {
        sys::wp_prices {
            cache_line_ns: self.cache_line_ns,
            node_line_ns: self.node_line_ns,
            far_line_ns: self.far_line_ns,
            refill_ns: self.refill_ns,
            refill_far_ns: self.refill_far_ns,
            hit_ns: self.hit_ns,
            memory_ns: self.memory_ns,
            pad: 0,
        }
    }
}

impl MachineFacts {
    /// Tells the core, in the order it needs.
    pub(crate) fn describe(&self, core: &mut Core) -> Result<(), MachineError> {
        room("CPUs", sys::WP_MAX_CPUS, self.capacity.len())?;
        room("topology levels", sys::WP_MAX_LEVELS, self.levels.len())?;
        for level in &self.levels {
            room(
                "nodes in overlapping groups",
                sys::WP_MAX_NODES,
                level.near.len(),
            )?;
        }
        self.describe_cpus(core.state_mut());
        self.describe_sched_mc(core.state_mut())?;
        // SAFETY: the context is live and exclusive.
        topology_error(unsafe { sys::wp_build_sched_domains(core.state_mut()) })?;
        self.describe_freq(core.state_mut())?;
        self.describe_energy(core.state_mut())?;
        // SAFETY: as above.
        unsafe {
            sys::wp_em_register_no_watts(core.state_mut());
            sys::wp_start(core.state_mut());
        }
        Ok(())
    }

    /// Capacities, and which CPUs are online.
    fn describe_cpus(&self, ctx: &mut sys::wp_ctx) {
        ctx.tick_ns = self.tick_ns;
        ctx.scan_cpu_ns = self.scan_cpu_ns;
        ctx.prices = self.prices.describe();
        ctx.nr_cpus = self.capacity.len() as u32;
        let online = self.online.iter().chain(std::iter::repeat(&true));
        for ((cpu, capacity), online) in ctx.cpus.iter_mut().zip(&self.capacity).zip(online) {
            cpu.load.capacity_orig = *capacity;
            cpu.load.freq_scale = sys::WP_SCALE;
            cpu.queue.online = u32::from(*online);
            cpu.topo.perf_dom = sys::WP_NONE;
            cpu.queue.curr_idle = 1;
        }
        for (cpu, priority) in ctx.cpus.iter_mut().zip(&self.priority) {
            cpu.topo.asym_priority = *priority;
        }
        ctx.is_32bit = u32::from(self.is_32bit);
        ctx.has_preempt_lazy = u32::from(self.has_preempt_lazy);
        ctx.reclaim_distance = match self.reclaim_distance {
            0 => USUAL_RECLAIM_DISTANCE,
            stated => stated,
        };
        ctx.nr_topo_levels = self.levels.len() as u32;
        for (level, facts) in ctx.topo.iter_mut().zip(&self.levels) {
            facts.describe(level);
        }
    }

    /// How many tasks a core holds while power is saved.
    fn describe_sched_mc(&self, ctx: &mut sys::wp_ctx) -> Result<(), MachineError> {
        let Some(facts) = &self.sched_mc else {
            return Ok(());
        };
        room("steps of sched_mc", sys::WP_MC_STEPS, facts.tasks.len())?;
        ctx.mc_table.step_khz = facts.step_khz;
        ctx.mc_table.nr = facts.tasks.len() as u32;
        ctx.mc_table.tasks[..facts.tasks.len()].copy_from_slice(&facts.tasks);
        for (cpu, known) in ctx.cpus.iter_mut().zip(&facts.known_core) {
            cpu.balance.mc.known_core = u32::from(*known);
        }
        for (cpu, mpidr) in ctx.cpus.iter_mut().zip(&facts.mpidr) {
            cpu.balance.mc.mpidr = *mpidr;
        }
        Ok(())
    }

    /// Frequency domains with their operating points.
    fn describe_freq(&self, ctx: &mut sys::wp_ctx) -> Result<(), MachineError> {
        room(
            "frequency domains",
            sys::WP_MAX_FREQ_DOMS,
            self.freq_domains.len(),
        )?;
        for (index, facts) in self.freq_domains.iter().enumerate() {
            room(
                "operating points per domain",
                sys::WP_MAX_STATES,
                facts.opp_khz.len(),
            )?;
            room(
                "operating points",
                sys::WP_MAX_OPPS,
                ctx.nr_opps as usize + facts.opp_khz.len(),
            )?;
            room(
                "list entries",
                sys::WP_MAX_LIST,
                ctx.list_len as usize + facts.cpus.len(),
            )?;
            let domain = &mut ctx.freq_doms[index];
            domain.first_cpu = ctx.list_len;
            domain.nr_cpus = facts.cpus.len() as u32;
            domain.first_opp = ctx.nr_opps;
            domain.nr_opps = facts.opp_khz.len() as u32;
            domain.transition_latency_us = facts.transition_latency_us;
            for cpu in &facts.cpus {
                ctx.list[ctx.list_len as usize] = *cpu;
                ctx.list_len += 1;
                ctx.cpus[*cpu as usize].topo.freq_dom = index as u32;
            }
            for khz in &facts.opp_khz {
                ctx.opp_khz[ctx.nr_opps as usize] = *khz;
                ctx.nr_opps += 1;
            }
        }
        ctx.nr_freq_doms = self.freq_domains.len() as u32;
        Ok(())
    }

    /// The energy model, domain by domain.
    fn describe_energy(&self, ctx: &mut sys::wp_ctx) -> Result<(), MachineError> {
        for (domain, facts) in self.perf_domains.iter().enumerate() {
            room(
                "states per performance domain",
                sys::WP_MAX_STATES,
                facts.states.len(),
            )?;
            fill_scratch(ctx, &facts.states, &facts.costs);
            // SAFETY: the context is live and exclusive; the list has the length that is passed.
            let error = unsafe {
                sys::wp_em_dev_register_perf_domain(
                    ctx,
                    facts.cpus.as_ptr(),
                    facts.cpus.len() as u32,
                )
            };
            energy_error(domain, error)?;
        }
        Ok(())
    }
}

/// Puts a table into the core's scratch space, from where it is registered.
fn fill_scratch(ctx: &mut sys::wp_ctx, states: &[(u32, u32)], costs: &[u32]) {
    ctx.em_scratch.nr_states = states.len() as u32;
    ctx.em_scratch.artificial = u32::from(!costs.is_empty());
    for (slot, (khz, power_uw)) in ctx.em_scratch.state.iter_mut().zip(states) {
        slot.khz = *khz;
        slot.power_uw = *power_uw;
    }
    for (slot, cost) in ctx.em_scratch.state.iter_mut().zip(costs) {
        slot.cost = *cost;
    }
}

/// What the core refused of the topology, in words.
fn topology_error(error: u32) -> Result<(), MachineError> {
    let why = match error {
        sys::WP_TOPO_OK => return Ok(()),
        sys::WP_TOPO_DOMS => "the policy core has no room for so many domains",
        sys::WP_TOPO_GROUPS => "the policy core has no room for so many groups",
        sys::WP_TOPO_LIST => "the domains list more CPUs than the policy core has room for",
        sys::WP_TOPO_NODES => "a node has no place among those whose groups overlap",
        _ => "groups that do not overlap lie above such that do",
    };
    Err(MachineError::Topology(why))
}

/// What the core refused of the energy model, in words.
fn energy_error(domain: usize, error: u32) -> Result<(), MachineError> {
    let why = match error {
        sys::WP_EM_OK => return Ok(()),
        sys::WP_EM_NO_STATES => "it has no states",
        sys::WP_EM_FREQ_ORDER => "its frequencies do not rise",
        sys::WP_EM_POWER_RANGE => "a power is not within 1 uW to 64 W",
        sys::WP_EM_CAPACITY => "its CPUs have different capacities",
        sys::WP_EM_TWICE => "a CPU has a performance domain already",
        sys::WP_EM_COST_RANGE => "a cost is not within 1 to 64000000",
        sys::WP_EM_LIMIT => "its limits are not two of its frequencies, the lower first",
        _ => "there are too many performance domains",
    };
    Err(MachineError::EnergyModel { domain, why })
}

impl Core {
    /// The energy model: of each performance domain the table that is in force.
    pub fn energy_tables(&self) -> impl Iterator<Item = &sys::wp_em_perf_table> + '_ {
        let ctx = self.state();
        ctx.perf_doms[..ctx.nr_perf_doms as usize]
            .iter()
            .map(|domain| &domain.table[(domain.live & 1) as usize])
    }

    /// The energy model has costs of no power, a driver's or made of capacities and clocks
    /// (docs/rules/energy-no-watts.md#no-watts-when): nobody states joules of it.
    #[must_use]
    pub fn energy_without_watts(&self) -> bool {
        self.energy_tables().any(|table| table.artificial != 0)
    }

    /// Replaces the energy model table of a domain while tasks run (binning, temperature).
    ///
    /// # Errors
    /// A table the registration would refuse; the old one stays.
    pub fn update_energy_model(
        &mut self,
        domain: usize,
        states: &[(u32, u32)],
    ) -> Result<(), MachineError> {
        room(
            "states per performance domain",
            sys::WP_MAX_STATES,
            states.len(),
        )?;
        fill_scratch(self.state_mut(), states, &[]);
        // SAFETY: the context is live and exclusive; the index is masked by the core.
        let error = unsafe { sys::wp_em_dev_update_perf_domain(self.state_mut(), domain as u32) };
        energy_error(domain, error)
    }

    /// The hardware may use only the states between two frequencies of the table, until told
    /// otherwise.
    ///
    /// # Errors
    /// A frequency that the table does not have, or the higher one first; nothing changes.
    pub fn limit_energy_model(
        &mut self,
        domain: usize,
        from_khz: u32,
        to_khz: u32,
    ) -> Result<(), MachineError> {
        // SAFETY: as above.
        let error = unsafe {
            sys::wp_em_update_performance_limits(self.state_mut(), domain as u32, from_khz, to_khz)
        };
        energy_error(domain, error)
    }
}

impl Core {
    /// Copies what was built from the machine's facts (capacities, what fits them by the tick,
    /// domains, groups, lists, each CPU's place in them, performance and frequency domains) into
    /// another context. Signals and queues stay; what balancing has learnt of groups and intervals
    /// begins anew.
    ///
    /// For a home whose context lives elsewhere and whose CPUs come and go while it decides.
    pub fn copy_topology(&self, to: &mut sys::wp_ctx) {
        let from = self.state();
        to.list.copy_from_slice(&from.list);
        to.list_len = from.list_len;
        to.doms.copy_from_slice(&from.doms);
        to.groups.copy_from_slice(&from.groups);
        to.perf_doms.copy_from_slice(&from.perf_doms);
        to.nr_perf_doms = from.nr_perf_doms;
        to.freq_doms.copy_from_slice(&from.freq_doms);
        for (cpu, built) in to.cpus.iter_mut().zip(&from.cpus) {
            cpu.topo.dom = built.topo.dom;
            cpu.topo.group = built.topo.group;
            cpu.topo.pos = built.topo.pos;
            cpu.topo.nr_levels = built.topo.nr_levels;
            cpu.topo.llc_level = built.topo.llc_level;
            cpu.topo.llc_id = built.topo.llc_id;
            cpu.topo.llc_size = built.topo.llc_size;
            cpu.topo.asym_level = built.topo.asym_level;
            cpu.topo.asym_full_level = built.topo.asym_full_level;
            cpu.topo.cluster_level = built.topo.cluster_level;
            cpu.topo.packing_level = built.topo.packing_level;
            cpu.topo.perf_dom = built.topo.perf_dom;
            cpu.topo.freq_dom = built.topo.freq_dom;
            cpu.load.capacity_orig = built.load.capacity_orig;
            cpu.load.fits_threshold = built.load.fits_threshold;
            for (lb, fresh) in cpu.balance.lb.iter_mut().zip(&built.balance.lb) {
                lb.balance_interval_ms = fresh.balance_interval_ms;
            }
        }
        to.nr_doms = from.nr_doms;
        to.nr_groups = from.nr_groups;
        to.max_capacity_orig = from.max_capacity_orig;
        to.asym = from.asym;
        to.smt = from.smt;
        to.cluster = from.cluster;
        to.nr_llcs = from.nr_llcs;
        to.energy_off = from.energy_off;
        to.energy_active = from.energy_active;
    }
}
