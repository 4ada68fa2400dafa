//! Branch and bound over placements, largest task first.
//!
//! A branch is cut if its bound (what is placed, plus `State::least_added` for the rest) is no
//! better than the best placement known, or if one with the same demand on alike CPUs was seen. The
//! first placement to beat is a greedy one, improved by moves and swaps (docs/decisions/036).
//!
//! Called by `crates/study/src/oracle.rs`.
//!
//! What must stay: the order of tasks, CPUs and branches: it decides which of equal placements is
//! found. The limit is a number of steps, no time, so that every machine finds the same. `bound` is
//! proven: no placement draws less. Up to 8 tasks on 8 CPUs nothing is given up. Free: how branches
//! are cut and the first placement is found, if `brute_force.rs` agrees. Tests by part:
//! `agrees_with_every_placement_looked_at` (`visit`, `branches`, `allowed`, `known`,
//! `same_as_earlier`, `classes`), `a_search_that_stops_early_proves_a_bound` (`open`, `first`,
//! `verdict`), `what_cannot_be_is_said` (`Verdict`), `one_small_task_by_hand` (`search`,
//! `best_power`). No test of its own: `moved` and `swapped`, which only make the first placement
//! better.
//!
//! Tests: crates/optimum/tests/brute_force.rs

use crate::Load;
use crate::machine::Machine;
use crate::state::{IMPOSSIBLE, State};
use std::collections::BTreeSet;

/// Without a limit up to so many tasks and CPUs.
const EXHAUSTIVE: usize = 8;
/// Partial placements remembered: some 100 MB at most.
const MAX_SEEN: usize = 1_000_000;
/// Swaps are tried with at most so many tasks: their number is its square.
const MAX_SWAPPED: usize = 100;

/// How far to search on systems of more than 8 tasks or 8 CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Partial placements looked at.
    pub nodes: u64,
    /// With more tasks than this there is no search at all.
    pub tasks: usize,
}

impl Default for Limits {
    /// The limit that is some seconds at most.
    fn default() -> Self {
        Self {
            nodes: 200_000,
            tasks: 500,
        }
    }
}

/// A placement and how good it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// CPU of each task.
    pub placement: Vec<u32>,
    /// Mean power with it, `POWER_SCALE` per unit.
    pub power: u64,
    /// Proven: no placement draws less than this. Equal to `power` if the search came to its end.
    pub bound: u64,
    /// Partial placements looked at.
    pub nodes: u64,
}

/// What the search came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The best placement known.
    Found(Found),
    /// Proven: on no static placement does every CPU manage its load.
    Impossible,
    /// None was found within the limits.
    Unknown,
}

/// Finds the placement of least power.
#[must_use]
pub fn search(machine: &Machine, loads: &[Load], limits: Limits) -> Verdict {
    if loads.len() > limits.tasks {
        return Verdict::Unknown;
    }
    let small = loads.len() <= EXHAUSTIVE && machine.nr_cpus() <= EXHAUSTIVE;
    let mut order: Vec<usize> = (0..loads.len()).collect();
    order.sort_by_key(|task| (std::cmp::Reverse(loads[*task].demand), *task));
    let tasks: Vec<&Load> = order.iter().map(|task| &loads[*task]).collect();
    let mut rest: Vec<u64> = tasks.iter().map(|load| load.demand).collect();
    for at in (1..rest.len()).rev() {
        rest[at - 1] += rest[at];
    }
    rest.push(0);
    let mut search = Search {
        classes: classes(machine, loads),
        allowed: tasks.iter().map(|load| allowed(machine, load)).collect(),
        demand: tasks.iter().map(|load| load.demand).collect(),
        rest,
        state: State::new(machine),
        here: Vec::new(),
        best: None,
        open: IMPOSSIBLE,
        nodes: 0,
        limit: if small { u64::MAX } else { limits.nodes },
        seen: vec![BTreeSet::new(); tasks.len() + 1],
        nr_seen: 0,
    };
    search.first();
    search.visit(search.state.power());
    search.verdict(&order)
}

/// A task's CPUs that the machine has.
fn allowed(machine: &Machine, load: &Load) -> Vec<usize> {
    let all = 0..machine.nr_cpus();
    let may = |cpu: &usize| match &load.cpus {
        None => true,
        Some(cpus) => cpus.iter().any(|c| *c as usize == *cpu),
    };
    all.filter(may).collect()
}

/// Finds for each CPU the first one that is like it: same domain, cluster and table, for all tasks
/// alike.
fn classes(machine: &Machine, loads: &[Load]) -> Vec<usize> {
    let alike = |a: usize, b: usize| {
        let both = |load: &Load| match &load.cpus {
            None => true,
            Some(cpus) => cpus.contains(&(a as u32)) == cpus.contains(&(b as u32)),
        };
        machine.domain_of[a] == machine.domain_of[b]
            && machine.cluster_of[a] == machine.cluster_of[b]
            && machine.points[a] == machine.points[b]
            && loads.iter().all(both)
    };
    let first = |cpu: usize| (0..cpu).find(|other| alike(*other, cpu)).unwrap_or(cpu);
    (0..machine.nr_cpus()).map(first).collect()
}

struct Search<'a> {
    /// Tasks are in the order of placement here.
    demand: Vec<u64>,
    allowed: Vec<Vec<usize>>,
    /// Demand of this task and all after it.
    rest: Vec<u64>,
    classes: Vec<usize>,
    state: State<'a>,
    /// CPUs of the tasks placed.
    here: Vec<usize>,
    best: Option<(u64, Vec<usize>)>,
    /// Least bound of the branches given up for the limit.
    open: u64,
    nodes: u64,
    limit: u64,
    seen: Vec<BTreeSet<Vec<u64>>>,
    nr_seen: usize,
}

impl Search<'_> {
    /// Power of the best placement so far; `IMPOSSIBLE` if there is none.
    fn best_power(&self) -> u64 {
        self.best.as_ref().map_or(IMPOSSIBLE, |best| best.0)
    }

    /// A greedy placement, improved as long as a move or a swap improves it.
    fn first(&mut self) {
        let mut state = self.state.clone();
        let mut at = Vec::new();
        for task in 0..self.demand.len() {
            let power = |cpu: &usize| {
                let mut with = state.clone();
                with.put(*cpu, self.demand[task]);
                with.power()
            };
            let Some(cpu) = self.allowed[task].iter().copied().min_by_key(power) else {
                return;
            };
            state.put(cpu, self.demand[task]);
            at.push(cpu);
        }
        while self.moved(&mut state, &mut at) || self.swapped(&mut state, &mut at) {}
        if state.power() < IMPOSSIBLE {
            self.best = Some((state.power(), at));
        }
    }

    /// Moves one task to where the machine draws less; false: no move does.
    fn moved(&self, state: &mut State<'_>, at: &mut [usize]) -> bool {
        for (task, from) in at.iter_mut().enumerate() {
            let demand = self.demand[task];
            for to in &self.allowed[task] {
                let before = state.power();
                state.take(*from, demand);
                state.put(*to, demand);
                if state.power() < before {
                    *from = *to;
                    return true;
                }
                state.take(*to, demand);
                state.put(*from, demand);
            }
        }
        false
    }

    /// Exchanges two tasks where the machine then draws less; false: no exchange does.
    fn swapped(&self, state: &mut State<'_>, at: &mut [usize]) -> bool {
        let n = if at.len() > MAX_SWAPPED { 0 } else { at.len() };
        for (a, b) in (0..n).flat_map(|a| (0..a).map(move |b| (a, b))) {
            let (x, y) = (at[a], at[b]);
            if x == y || !self.allowed[a].contains(&y) || !self.allowed[b].contains(&x) {
                continue;
            }
            let before = state.power();
            let exchange = |state: &mut State<'_>, a_from: usize, b_from: usize| {
                state.take(a_from, self.demand[a]);
                state.take(b_from, self.demand[b]);
                state.put(b_from, self.demand[a]);
                state.put(a_from, self.demand[b]);
            };
            exchange(state, x, y);
            if state.power() < before {
                at.swap(a, b);
                return true;
            }
            exchange(state, y, x);
        }
        false
    }

    /// Looks at all placements of the tasks that are left. `bound`: of what is placed.
    fn visit(&mut self, bound: u64) {
        let task = self.here.len();
        if task == self.demand.len() {
            if self.state.power() < self.best_power() {
                self.best = Some((self.state.power(), self.here.clone()));
            }
            return;
        }
        if self.nodes >= self.limit {
            self.open = self.open.min(bound);
            return;
        }
        if self.known() {
            return;
        }
        for (bound, cpu) in self.branches(task, bound) {
            if bound >= self.best_power() {
                continue;
            }
            self.state.put(cpu, self.demand[task]);
            self.here.push(cpu);
            self.visit(bound);
            self.here.pop();
            self.state.take(cpu, self.demand[task]);
        }
    }

    /// The CPUs for a task with the bound each gives, the most promising first.
    fn branches(&mut self, task: usize, bound: u64) -> Vec<(u64, usize)> {
        let mut branches = Vec::new();
        for cpu in self.allowed[task].clone() {
            if self.same_as_earlier(cpu) {
                continue;
            }
            self.nodes += 1;
            self.state.put(cpu, self.demand[task]);
            let placed = self.state.power();
            if placed < IMPOSSIBLE {
                let rest = self.state.least_added(self.rest[task + 1]);
                branches.push((placed.saturating_add(rest).max(bound), cpu));
            }
            self.state.take(cpu, self.demand[task]);
        }
        branches.sort_unstable();
        branches
    }

    /// Whether an alike CPU with as much on it comes first: this one leads to the same.
    fn same_as_earlier(&self, cpu: usize) -> bool {
        let load = self.state.load();
        (0..cpu).any(|c| self.classes[c] == self.classes[cpu] && load[c] == load[cpu])
    }

    /// Whether the same demand on alike CPUs, by whatever tasks, was looked at.
    fn known(&mut self) -> bool {
        let load = self.state.load();
        let mut key: Vec<(usize, u64)> = self
            .classes
            .iter()
            .copied()
            .zip(load.iter().copied())
            .collect();
        key.sort_unstable();
        let key: Vec<u64> = key.into_iter().map(|(_, load)| load).collect();
        let seen = &mut self.seen[self.here.len()];
        if seen.contains(&key) {
            return true;
        }
        if self.nr_seen < MAX_SEEN {
            self.nr_seen += 1;
            seen.insert(key);
        }
        false
    }

    /// What the search found, in the order of the caller's tasks.
    fn verdict(self, order: &[usize]) -> Verdict {
        let Some((power, at)) = self.best else {
            return match self.open {
                IMPOSSIBLE => Verdict::Impossible,
                _ => Verdict::Unknown,
            };
        };
        let mut placement = vec![0; order.len()];
        for (task, cpu) in order.iter().zip(at) {
            placement[*task] = cpu as u32;
        }
        Verdict::Found(Found {
            placement,
            power,
            bound: self.open.min(power),
            nodes: self.nodes,
        })
    }
}
