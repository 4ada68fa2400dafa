//! Idle CPUs as kernel/sched/ext_idle.c tracks them, and the kernel's choice among them
//! (docs/rules/sched-ext.md#idle). The order of the search is the kernel's.
//!
//! What must stay: whichever CPU the kernel takes among equals (the first, round from a start),
//! since schedulers see it. Free: how a mask is walked.
//!
//! Tests by part: `whole_cores_come_first_and_near_ones_before_far_ones` (`search`, `search_near`,
//! `part`, `smtmask`, `cpumask`), `caches_count_from_6_13_on` (`update_topology`, `llc_weight`,
//! `weight`), `a_waker_that_sleeps_soon_is_near` (`share_cache`), `claims_and_masks`
//! (`test_and_clear`, `pick`, `pick_in`, `any`, `next_and_wrap`, `word`, `count`, `set`),
//! `own_tracking_turns_it_off` (`of_node`), engine's
//! sched_ext/rules.rs::`a_waking_task_finds_an_idle_cpu` (`update`, `new`, `reset`, `groups`).
//! Several nodes (`by_distance`, `numa_weight`, `same_node`, `has_idle`, `is_per_node`, `at`) have
//! no test of their own.
//!
//! Callers: class/kfuncs.rs (picks and masks), class/queue.rs (`search`, `update`), class/life.rs
//! (`update_topology`, when a CPU leaves or comes back).
//!
//! Tests: crates/sched-ext/tests/all/idle.rs

use crate::consts::{EBUSY, SCX_PICK_IDLE_CORE, SCX_PICK_IDLE_IN_NODE};
use crate::{CpuFacts, mask_words, test_cpu};

/// A set of CPUs.
pub(crate) type Mask = Box<[u64]>;

/// Sets or clears a CPU's bit.
pub(crate) fn set(mask: &mut [u64], cpu: u32, on: bool) {
    let bit = 1 << (cpu % 64);
    let word = &mut mask[cpu as usize / 64];
    *word = if on { *word | bit } else { *word & !bit };
}

/// 0 beyond the end of a short mask.
fn word(mask: &[u64], at: usize) -> u64 {
    mask.get(at).copied().unwrap_or(0)
}

/// Counts the CPUs in a mask.
fn count(mask: &[u64]) -> u32 {
    mask.iter().map(|word| word.count_ones()).sum()
}

/// The first CPU of both masks from `from` on, then from the beginning. None: there is none.
pub(crate) fn next_and_wrap(a: &[u64], b: &[u64], from: u32) -> Option<u32> {
    let words = a.len().min(b.len());
    let start = from as usize / 64;
    let first = |at: usize, within: u64| {
        let both = word(a, at) & word(b, at) & within;
        (both != 0).then(|| at as u32 * 64 + both.trailing_zeros())
    };
    let upper = u64::MAX << (from % 64);
    let rest = || (start + 1..words).find_map(|at| first(at, u64::MAX));
    let begin = || (0..start.min(words)).find_map(|at| first(at, u64::MAX));
    (first(start, upper))
        .or_else(rest)
        .or_else(begin)
        .or_else(|| first(start, !upper))
}

/// Idle CPUs, and CPUs whose whole core is idle.
#[derive(Clone, Debug)]
struct Masks {
    cpu: Mask,
    smt: Mask,
}

/// What is known of idle CPUs, and of the machine for the choice among them.
#[derive(Debug)]
pub(crate) struct Idle {
    /// One, or one of each node.
    masks: Vec<Masks>,
    none: Mask,
    per_node: bool,
    /// The kernel tracks them.
    pub(crate) enabled: bool,
    has_smt: bool,
    /// Per CPU: those of its core, its cache, its node.
    core: Vec<Mask>,
    llc: Vec<Mask>,
    node: Vec<Mask>,
    pub(crate) online: Mask,
    node_of: Vec<u32>,
    nr_nodes: u32,
    /// Per node the others, the nearest first.
    others: Vec<Vec<usize>>,
    /// Per CPU, the last one that it chose from a mask (`distribute_cpu_mask_prev`).
    distributed: Vec<u32>,
    use_llc: bool,
    use_numa: bool,
    /// The kernel looks at caches and nodes (6.13).
    by_topology: bool,
    scratch: [Mask; 3],
}

/// Per CPU the set of those with the same label.
fn groups(facts: &[CpuFacts], label: impl Fn(&CpuFacts) -> u32) -> Vec<Mask> {
    let words = mask_words(facts.len() as u32);
    let of = |own: &CpuFacts| {
        let mut mask = vec![0; words].into_boxed_slice();
        for (cpu, other) in (0..).zip(facts) {
            if label(own) == label(other) {
                set(&mut mask, cpu, true);
            }
        }
        mask
    };
    facts.iter().map(of).collect()
}

/// The other nodes in the order of their distance from one (`for_each_node_numadist`).
fn by_distance((node, row): (usize, &Vec<u64>)) -> Vec<usize> {
    let mut others: Vec<usize> = (0..row.len()).filter(|other| *other != node).collect();
    others.sort_by_key(|other| row[*other]);
    others
}

impl Idle {
    /// `distance`: between nodes; empty: there is one.
    pub(crate) fn new(
        facts: &[CpuFacts],
        distance: &[Vec<u64>],
        [per_node, enabled, topology]: [bool; 3],
    ) -> Self {
        let nr_cpus = facts.len() as u32;
        let empty: Mask = vec![0; mask_words(nr_cpus)].into_boxed_slice();
        let nr_nodes = facts.iter().map(|cpu| cpu.node + 1).max().unwrap_or(1);
        let core = groups(facts, |cpu| cpu.core);
        let mut online = empty.clone();
        for (cpu, facts) in (0..).zip(facts) {
            set(&mut online, cpu, facts.online);
        }
        let mut idle = Self {
            masks: Vec::new(),
            none: empty.clone(),
            per_node,
            enabled,
            has_smt: core.iter().any(|mask| count(mask) > 1),
            core,
            llc: groups(facts, |cpu| cpu.llc),
            node: groups(facts, |cpu| cpu.node),
            online,
            node_of: facts.iter().map(|cpu| cpu.node).collect(),
            nr_nodes,
            others: distance.iter().enumerate().map(by_distance).collect(),
            distributed: vec![0; facts.len()],
            use_llc: false,
            use_numa: false,
            by_topology: topology,
            scratch: [empty.clone(), empty.clone(), empty],
        };
        idle.reset();
        idle.update_topology();
        idle
    }

    /// All CPUs that are online count as idle (`reset_idle_masks`).
    fn reset(&mut self) {
        let all = |only: Option<&Mask>| {
            let mut cpu = self.online.clone();
            if let Some(only) = only {
                cpu.iter_mut()
                    .zip(only)
                    .for_each(|(word, only)| *word &= only);
            }
            Masks {
                smt: cpu.clone(),
                cpu,
            }
        };
        let node = |node: u32| {
            let at = self.node_of.iter().position(|of| *of == node);
            all(Some(at.map_or(&self.none, |at| &self.node[at])))
        };
        self.masks = if self.per_node {
            (0..self.nr_nodes).map(node).collect()
        } else {
            vec![all(None)]
        };
    }

    /// Online CPUs of a group.
    fn weight(&self, group: &[u64]) -> u32 {
        let online = group.iter().zip(&self.online);
        online.map(|(a, b)| (a & b).count_ones()).sum()
    }

    /// A cache of one CPU is no sched domain.
    fn llc_weight(&self, cpu: usize) -> u32 {
        match self.weight(&self.llc[cpu]) {
            1 => 0,
            weight => weight,
        }
    }

    /// Of the CPU's node; 0 where there is one node: then it is no domain.
    fn numa_weight(&self, cpu: usize) -> u32 {
        if self.nr_nodes == 1 {
            return 0;
        }
        self.weight(&self.node[cpu])
    }

    /// `scx_idle_update_selcpu_topology`: do caches and nodes count in the search?
    pub(crate) fn update_topology(&mut self) {
        let nr_online = count(&self.online);
        let online = |cpu: &usize| test_cpu(&self.online, *cpu as u32);
        let cpus = || (0..self.node_of.len()).filter(online);
        let Some(first) = cpus().next() else { return };
        let (llc, numa) = (self.llc_weight(first), self.numa_weight(first));
        let mismatch = cpus().any(|cpu| self.llc_weight(cpu) != self.numa_weight(cpu));
        self.use_llc = self.by_topology && llc > 0 && llc < nr_online;
        self.use_numa =
            self.by_topology && !self.per_node && numa > 0 && numa < nr_online && mismatch;
    }

    /// Which masks a CPU is in: its node's or, kept for the machine as a whole, the first.
    fn at(&self, cpu: u32) -> usize {
        match self.per_node {
            true => self.node_of[cpu as usize] as usize,
            false => 0,
        }
    }

    /// Are there masks for each node (`SCX_OPS_BUILTIN_IDLE_PER_NODE`)?
    pub(crate) fn is_per_node(&self) -> bool {
        self.per_node
    }

    /// Idle CPUs; an empty mask where the kernel keeps none.
    pub(crate) fn cpumask(&self, node: Option<i32>) -> &[u64] {
        self.of_node(node).map_or(&*self.none, |masks| &*masks.cpu)
    }

    /// Wholly idle cores' CPUs; without SMT the same as `cpumask`.
    pub(crate) fn smtmask(&self, node: Option<i32>) -> &[u64] {
        let smt = self.has_smt;
        let masks = self.of_node(node);
        masks.map_or(&*self.none, |m| if smt { &*m.smt } else { &*m.cpu })
    }

    /// None: not tracked, or asked otherwise (per node or not) than masks are kept.
    fn of_node(&self, node: Option<i32>) -> Option<&Masks> {
        match (self.enabled, node) {
            (false, _) => None,
            (true, None) if !self.per_node => self.masks.first(),
            (true, None) => None,
            (true, Some(node)) if self.per_node => self.masks.get(usize::try_from(node).ok()?),
            (true, Some(_)) => None,
        }
    }

    /// `update_builtin_idle`: a CPU begins to idle, or no longer does.
    pub(crate) fn update(&mut self, cpu: u32, idle: bool) {
        if !self.enabled {
            return;
        }
        let at = self.at(cpu);
        let masks = &mut self.masks[at];
        set(&mut masks.cpu, cpu, idle);
        if !self.has_smt {
            return;
        }
        let core = &self.core[cpu as usize];
        let online = &self.online;
        if !idle {
            (masks.smt.iter_mut().zip(core)).for_each(|(word, core)| *word &= !core);
            return;
        }
        let mut words = core.iter().zip(online).zip(&masks.cpu);
        if words.all(|((core, online), idle)| core & online & !idle == 0) {
            let core = core.iter().zip(online);
            (masks.smt.iter_mut().zip(core)).for_each(|(word, (core, on))| *word |= core & on);
        }
    }

    /// `scx_idle_test_and_clear_cpu`: the core is not wholly idle either way.
    pub(crate) fn test_and_clear(&mut self, cpu: u32) -> bool {
        let at = self.at(cpu);
        let masks = &mut self.masks[at];
        if self.has_smt {
            let core = &self.core[cpu as usize];
            (masks.smt.iter_mut().zip(core)).for_each(|(word, core)| *word &= !core);
        }
        let was = test_cpu(&masks.cpu, cpu);
        set(&mut masks.cpu, cpu, false);
        was
    }

    /// `cpumask_any_distribute`: round the mask from the last one of `by`; None: it is empty.
    pub(crate) fn any(&mut self, by: u32, mask: &[u64]) -> Option<u32> {
        let from = self.distributed[by as usize] + 1;
        let cpu =
            next_and_wrap(mask, mask, from).filter(|cpu| (*cpu as usize) < self.node_of.len())?;
        self.distributed[by as usize] = cpu;
        Some(cpu)
    }

    /// `pick_idle_cpu_in_node`: a claimed idle CPU of one node, or -EBUSY.
    fn pick_in(&mut self, by: u32, allowed: &[u64], at: usize, flags: u64) -> i32 {
        loop {
            let from = self.distributed[by as usize] + 1;
            let masks = &self.masks[at];
            let mut found = None;
            if self.has_smt {
                found = next_and_wrap(&masks.smt, allowed, from);
                if found.is_none() && flags & SCX_PICK_IDLE_CORE != 0 {
                    return -EBUSY;
                }
            }
            let Some(cpu) = found.or_else(|| next_and_wrap(&masks.cpu, allowed, from)) else {
                return -EBUSY;
            };
            self.distributed[by as usize] = cpu;
            if self.test_and_clear(cpu) {
                return cpu.cast_signed();
            }
        }
    }

    /// `scx_pick_idle_cpu`. `near`: a CPU of the node to begin with.
    pub(crate) fn pick(&mut self, by: u32, allowed: &[u64], near: u32, flags: u64) -> i32 {
        let start = self.at(near);
        let cpu = self.pick_in(by, allowed, start, flags);
        if cpu >= 0 || !self.per_node || flags & SCX_PICK_IDLE_IN_NODE != 0 {
            return cpu;
        }
        for nth in 0..self.others.get(start).map_or(0, Vec::len) {
            let cpu = self.pick_in(by, allowed, self.others[start][nth], flags);
            if cpu >= 0 {
                return cpu;
            }
        }
        -EBUSY
    }

    /// Have the two one last-level cache?
    pub(crate) fn share_cache(&self, a: u32, b: u32) -> bool {
        test_cpu(&self.llc[a as usize], b)
    }

    /// Is a CPU idle in the masks that this one belongs to?
    pub(crate) fn has_idle(&self, near: u32) -> bool {
        let at = self.at(near);
        self.masks[at].cpu.iter().any(|word| *word != 0)
    }

    /// Are the two of one node?
    pub(crate) fn same_node(&self, a: u32, b: u32) -> bool {
        self.node_of[a as usize] == self.node_of[b as usize]
    }

    /// The part of `allowed` in the cache or the node of a CPU; None: that is not looked at, or
    /// there is none.
    fn part(&self, allowed: &[u64], cpu: u32, numa: bool, into: &mut [u64]) -> bool {
        let (on, group) = match numa {
            true => (self.use_numa, &self.node[cpu as usize]),
            false => (self.use_llc, &self.llc[cpu as usize]),
        };
        let words = into.iter_mut().zip(group).enumerate();
        words.for_each(|(at, (into, group))| *into = word(allowed, at) & group);
        on && into.iter().any(|word| *word != 0)
    }

    /// The idle search of `scx_select_cpu_dfl`, after what a synchronous wake-up may decide.
    pub(crate) fn search(&mut self, by: u32, allowed: &[u64], prev: u32, flags: u64) -> i32 {
        let [mut own, mut llc, mut numa] = std::mem::take(&mut self.scratch);
        let in_llc = self.part(allowed, prev, false, &mut llc);
        let in_numa = self.part(allowed, prev, true, &mut numa);
        own.iter_mut()
            .enumerate()
            .for_each(|(at, own)| *own = word(allowed, at));
        let near = [in_numa.then_some(&*numa), in_llc.then_some(&*llc)];
        let cpu = self.search_near(by, &own, prev, flags, near);
        self.scratch = [own, llc, numa];
        cpu
    }

    /// An idle CPU, whole cores first: where the task was, in its cache, in its node, elsewhere.
    fn search_near(
        &mut self,
        by: u32,
        allowed: &[u64],
        prev: u32,
        flags: u64,
        [numa, llc]: [Option<&[u64]>; 2],
    ) -> i32 {
        let at = self.at(prev);
        let prev_allowed = test_cpu(allowed, prev);
        if self.has_smt {
            let whole = test_cpu(&self.masks[at].smt, prev);
            if prev_allowed && whole && self.test_and_clear(prev) {
                return prev.cast_signed();
            }
            for mask in [llc, numa].into_iter().flatten() {
                let cpu = self.pick_in(by, mask, at, SCX_PICK_IDLE_CORE);
                if cpu >= 0 {
                    return cpu;
                }
            }
            let cpu = self.pick(by, allowed, prev, flags | SCX_PICK_IDLE_CORE);
            if cpu >= 0 || flags & SCX_PICK_IDLE_CORE != 0 {
                return cpu;
            }
        }
        if prev_allowed && self.test_and_clear(prev) {
            return prev.cast_signed();
        }
        for mask in [llc, numa].into_iter().flatten() {
            let cpu = self.pick_in(by, mask, at, 0);
            if cpu >= 0 {
                return cpu;
            }
        }
        self.pick(by, allowed, prev, flags)
    }
}
