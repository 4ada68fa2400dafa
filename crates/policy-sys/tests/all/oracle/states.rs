//! Random machines and situations for the oracle.
//! Rule: what a machine and its tasks may be is docs/rules/energy-aware.md#energy-model; the shares
//! of rare cases are chosen so that every case of the rule is met.
//!
//! What must stay: a state follows from its seed alone, so that a failure can be repeated: do not
//! change the order of draws without need. Free: further draws, after those that are there.
//! Callers: oracle.rs (`run`), for both of its tests; `opps`, `deal` and `asymmetric` make the
//! parts of `machine`. `situation` is what is asked on a `machine`.

use super::rule::{Cpu, Domain, Opp, State, Waking};
use crate::common::Rng;

/// Frequencies and powers that rise strictly, 1 to 8 states, 1 mW to 3 W.
fn opps(rng: &mut Rng) -> Vec<Opp> {
    let n = rng.range(1, 8);
    let (mut khz, mut power_uw) = (u64::from(rng.range(200, 900)) * 1000, 0);
    let mut list = Vec::new();
    // Convex: each step costs more than the one before. Otherwise as it comes.
    let (convex, mut step) = (rng.one_in(2), 1_000);
    for _ in 0..n {
        khz += u64::from(rng.range(1, 400)) * 997;
        step = match convex {
            true => step + u64::from(rng.range(1_000, 80_000)),
            false => u64::from(rng.range(1_000, 400_000)),
        };
        power_uw += step;
        list.push(Opp { khz, power_uw });
    }
    list
}

/// Domain number of each CPU: each domain has a CPU, the rest is dealt out, so domains interleave.
fn deal(rng: &mut Rng, cpus: usize, domains: usize) -> Vec<usize> {
    let mut of: Vec<usize> = (0..cpus).map(|c| c % domains).collect();
    for other in &mut of[domains..] {
        *other = rng.index(domains);
    }
    for c in (1..cpus).rev() {
        of.swap(c, rng.index(c + 1));
    }
    of
}

/// 2 to 12 CPUs in 1 to 4 domains with at least two capacities in some level: a machine for which
/// the rule is active. Mostly a cache level and a package level; some machines are two islands.
pub(crate) fn machine(rng: &mut Rng) -> State {
    loop {
        let n = rng.range(2, 12) as usize;
        let domains = (rng.range(1, 4) as usize).min(n);
        let of = deal(rng, n, domains);
        let count = of.iter().max().expect("a CPU") + 1;
        let full: Vec<u64> = (0..count)
            .map(|_| u64::from(rng.range(150, 1024)))
            .collect();
        let cpu = |c: usize| Cpu {
            full: full[of[c]],
            left: full[of[c]],
            util: 0,
            est: 0,
            deadline: 0,
            real_time: 0,
            interrupts: 0,
        };
        let members = |d: usize| (0..n).filter(|c| of[*c] == d).collect();
        let island = rng.one_in(8);
        let cut = rng.range(1, n as u32) as usize;
        let halves: Vec<u16> = (0..n).map(|c| u16::from(c >= cut)).collect();
        let whole = if island { halves.clone() } else { vec![0; n] };
        let state = State {
            cpus: (0..n).map(cpu).collect(),
            domains: (0..count)
                .map(|d| Domain {
                    cpus: members(d),
                    opps: opps(rng),
                })
                .collect(),
            levels: vec![halves, whole],
            task: Waking {
                util: 0,
                est: 0,
                prev: 0,
                allowed: Vec::new(),
            },
            this_cpu: 0,
        };
        if asymmetric(&state) {
            return state;
        }
    }
}

fn asymmetric(state: &State) -> bool {
    state.levels.iter().any(|labels| {
        (1..labels.len()).any(|c| {
            (0..c).any(|d| labels[c] == labels[d] && state.cpus[c].full != state.cpus[d].full)
        })
    })
}

/// Fills in who is how busy and who wakes where.
pub(crate) fn situation(rng: &mut Rng, state: &mut State) {
    let n = state.cpus.len();
    // Mostly light load, as below the tipping point; now and then anything.
    let heavy = if rng.one_in(4) { 1 } else { 3 };
    for c in &mut state.cpus {
        let full = c.full as u32;
        let pressed = rng.one_in(4);
        c.left = u64::from(if pressed { rng.range(1, full) } else { full });
        c.util = u64::from(rng.range(0, full / heavy));
        c.est = u64::from(if rng.one_in(2) {
            rng.range(0, full / heavy)
        } else {
            0
        });
        c.deadline = u64::from(if rng.one_in(8) { rng.range(0, 100) } else { 0 });
        c.real_time = u64::from(if rng.one_in(4) {
            rng.range(0, full / 2)
        } else {
            0
        });
        c.interrupts = u64::from(if rng.one_in(8) { rng.range(0, full) } else { 0 });
    }
    let most = if rng.one_in(3) { 700 } else { 150 };
    let task = &mut state.task;
    task.util = u64::from(rng.range(0, most));
    task.est = u64::from(rng.range(0, most));
    if rng.one_in(16) {
        task.util = 0;
        task.est = 0;
    }
    task.prev = rng.index(n);
    state.this_cpu = rng.index(n);
    let all = rng.one_in(2);
    // At least two: with one allowed CPU there is no choice and no rule.
    loop {
        task.allowed = (0..n).filter(|_| all || rng.one_in(2)).collect();
        if task.allowed.len() >= 2 {
            break;
        }
    }
    // The blocked share of the sleeping task is part of its previous CPU's signal.
    let prev = &mut state.cpus[task.prev];
    if rng.one_in(8) {
        prev.util = task.util.saturating_sub(1); // rounding may leave less
    } else {
        prev.util = (prev.util + task.util).min(prev.full);
    }
}
