//! A placement under construction: what each CPU carries, and what the machine draws with it
//! (docs/decisions/036).
//!
//! Called by `search.rs`. Powers are 2^-20 of the platform's unit, demands as in `Load`
//! (`DEMAND_SCALE`).
//!
//! What must stay: `least_added` is never more than what is added in the end, or the search cuts
//! off the best. A domain runs at the point of least power that serves its fullest CPU. Shares are
//! rounded down. Free: how powers are kept up to date. Tests by part:
//! `agrees_with_every_placement_looked_at` (`least_added`, `domain_power`, `cluster_power`, `put`,
//! `take`, `power`, `load`), `one_small_task_by_hand` (`power_at`, `share`),
//! `a_search_that_stops_early_proves_a_bound` (`least_added`). No test of its own: a cluster whose
//! power follows another domain (`refresh`).
//!
//! Tests: crates/optimum/tests/brute_force.rs

use crate::POWER_SCALE;
use crate::machine::{Machine, Point};

/// More than any power.
pub(crate) const IMPOSSIBLE: u64 = u64::MAX;

/// `power * part / whole` in 2^-20 of the unit of power, rounded down.
fn share(power: u64, part: u64, whole: u64) -> u64 {
    let scaled = u128::from(power) * u128::from(part) * u128::from(POWER_SCALE);
    u64::try_from(scaled / u128::from(whole.max(1))).unwrap_or(IMPOSSIBLE)
}

/// Demand per CPU, and the power of each domain with it.
#[derive(Clone, Debug)]
pub(crate) struct State<'a> {
    machine: &'a Machine,
    load: Vec<u64>,
    power: Vec<u64>,
}

impl<'a> State<'a> {
    /// The state with nothing placed yet.
    pub(crate) fn new(machine: &'a Machine) -> Self {
        let mut state = Self {
            machine,
            load: vec![0; machine.nr_cpus()],
            power: vec![0; machine.domains.len()],
        };
        for domain in 0..machine.domains.len() {
            state.power[domain] = state.domain_power(domain);
        }
        state
    }

    /// What each CPU carries.
    pub(crate) fn load(&self) -> &[u64] {
        &self.load
    }

    /// Power of the machine; `IMPOSSIBLE` if a CPU has more than it can do.
    pub(crate) fn power(&self) -> u64 {
        let sum = |all: u64, one: &u64| all.saturating_add(*one);
        self.power.iter().fold(0, sum)
    }

    /// Places demand on a CPU.
    pub(crate) fn put(&mut self, cpu: usize, demand: u64) {
        self.load[cpu] += demand;
        self.refresh(cpu);
    }

    /// Takes demand off a CPU again.
    pub(crate) fn take(&mut self, cpu: usize, demand: u64) {
        self.load[cpu] -= demand;
        self.refresh(cpu);
    }

    /// The power of what a CPU's load decides, computed anew.
    fn refresh(&mut self, cpu: usize) {
        let own = self.machine.domain_of[cpu];
        self.power[own] = self.domain_power(own);
        // The power of the CPU's cluster may follow another domain.
        let cluster = &self.machine.clusters[self.machine.cluster_of[cpu]];
        let other = self.machine.domain_of[cluster.cpus[0]];
        if other != own {
            self.power[other] = self.domain_power(other);
        }
    }

    /// Least power of a domain over the operating points that serve its fullest CPU.
    fn domain_power(&self, domain: usize) -> u64 {
        let d = &self.machine.domains[domain];
        let fits = |at: &usize| {
            let room = |cpu: &usize| self.machine.points[*cpu][*at].room;
            d.cpus.iter().all(|cpu| self.load[*cpu] <= room(cpu))
        };
        let points = (0..d.nr_points).filter(fits);
        points
            .map(|at| self.power_at(domain, at))
            .min()
            .unwrap_or(IMPOSSIBLE)
    }

    /// Power of a domain's CPUs and clusters at an operating point that serves all of them.
    fn power_at(&self, domain: usize, at: usize) -> u64 {
        let d = &self.machine.domains[domain];
        let cpu = |cpu: &usize| {
            let Point { room, busy, idle } = self.machine.points[*cpu][at];
            idle * POWER_SCALE + share(busy - idle, self.load[*cpu], room)
        };
        let cpus: u64 = d.cpus.iter().map(cpu).sum();
        let clusters = d
            .clusters
            .iter()
            .map(|cluster| self.cluster_power(*cluster, at));
        cpus + clusters.sum::<u64>()
    }

    /// Power of a cluster. It is on at least as long as its busiest CPU; one whose frequency is
    /// another domain's counts as if that ran at its highest.
    fn cluster_power(&self, cluster: usize, at: usize) -> u64 {
        let c = &self.machine.clusters[cluster];
        let owner = self.machine.domain_of[c.cpus[0]];
        let point = c.points[at];
        let on = |cpu: &usize| {
            let own = self.machine.domain_of[*cpu] == owner;
            let room = match own {
                true => self.machine.points[*cpu][at].room,
                false => self.machine.room(*cpu),
            };
            share(point.on - point.idle, self.load[*cpu].min(room), room)
        };
        point.idle * POWER_SCALE + c.cpus.iter().map(on).max().unwrap_or(0)
    }

    /// No placement of `rest` more demand adds less than this: each bit of it goes where the power
    /// of a bit is least, as far as there is room. The power of a bit on a CPU is at least that at
    /// the best of the operating points that serve what its domain carries now, since demand only
    /// grows.
    pub(crate) fn least_added(&self, rest: u64) -> u64 {
        let mut offers: Vec<(u64, u64)> = Vec::with_capacity(self.load.len());
        for d in &self.machine.domains {
            for cpu in &d.cpus {
                let serves = |at: &usize| {
                    let room = |c: &usize| self.machine.points[*c][*at].room;
                    d.cpus.iter().all(|c| self.load[*c] <= room(c))
                };
                let rate = |at: usize| {
                    let Point { room, busy, idle } = self.machine.points[*cpu][at];
                    share(busy - idle, 1, room)
                };
                if let Some(rate) = (0..d.nr_points).filter(serves).map(rate).min() {
                    offers.push((rate, self.machine.room(*cpu) - self.load[*cpu]));
                }
            }
        }
        offers.sort_unstable();
        let (mut rest, mut added) = (rest, 0u64);
        for (rate, room) in offers {
            let part = rest.min(room);
            added = added.saturating_add(rate.saturating_mul(part));
            rest -= part;
        }
        if rest > 0 { IMPOSSIBLE } else { added }
    }
}
