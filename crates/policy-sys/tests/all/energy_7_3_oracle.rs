//! The energy-aware wake-up of 6.1, 6.12 and 7.3 against an independent evaluation on random
//! states: 100,000, or as many as WAKEPLACE_ORACLE_STATES says.
//!
//! `mod rule` is written from docs/rules/energy-aware.md#em-cpu-energy to
//! docs/rules/energy-aware.md#energy-wake-up and docs/rules/capacity.md#schedutil,
//! docs/rules/capacity.md#util-fits-cpu with its own types and arithmetic and calls nothing of the
//! core. To repeat one failure: set FIRST_SEED to the printed seed.
//!
//! What must stay: `mod rule` calls nothing of the core and shares no type with it: else both could
//! have the same fault. A state that once differed is repeated by its seed. The functions of `rule`
//! up to `place` are the second evaluation; `random_machine` to `put` make the states; `compare`
//! asks both. It covers policy/src/energy/energy_delta.c (`wp_find_energy_efficient_cpu`) and
//! energy_6_1.c (`wp_em_cpu_energy_6_1`). Free: seeds and numbers of states.
//! Helpers, and who fails with them: `random_machine`, `seldom`, `random_hints`,
//! `random_situation`, `new_core`, `put`, `compare`, `properties`, `check`
//! (`v73_agrees_on_random_states`, `v612_agrees_on_random_states`, `v61_agrees_on_random_states`).
//! In `rule`: `util_with`, `effective`, `performance`, `demand_61` (utilisation), `cost`,
//! `energy_61`, `energy_with`, `whole_energy` (energy), `hints_beside`, `fits`, `place` (choice).

use crate::common;

use common::{NOW, Rng, ask, freeze, machine, oracle_states, sleeper};
use wakeplace_policy_sys::{Core, PlaceKind, Reason, Rule, Task};

const FIRST_SEED: u64 = 1;
const STATES_PER_MACHINE: u64 = 40;

mod rule {
    /// Which generation of the estimate; the search around it is the same.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) enum Form {
        V61,
        V612,
        V73,
    }

    #[derive(Clone, Debug, Default)]
    pub(super) struct Cpu {
        pub(super) full: i64,
        /// What is left for fair tasks, as the last balancing pass saw it.
        pub(super) left: i64,
        pub(super) pressure: i64,
        pub(super) util: i64,
        pub(super) runnable: i64,
        pub(super) est: i64,
        pub(super) rt: i64,
        pub(super) rt_queued: bool,
        pub(super) dl: i64,
        pub(super) irq: i64,
        /// Hints of the queued tasks.
        pub(super) hints: Vec<(i64, i64)>,
        pub(super) online: bool,
    }

    #[derive(Clone, Debug)]
    pub(super) struct Domain {
        pub(super) cpus: Vec<usize>,
        /// (kHz, uW).
        pub(super) states: Vec<(i64, i64)>,
        /// First and last state that may be used.
        pub(super) limits: (usize, usize),
    }

    #[derive(Clone, Debug)]
    pub(super) struct State {
        pub(super) form: Form,
        pub(super) cpus: Vec<Cpu>,
        /// In the order of registration.
        pub(super) domains: Vec<Domain>,
        pub(super) util: i64,
        pub(super) runnable: i64,
        pub(super) est: i64,
        pub(super) hints: (i64, i64),
        pub(super) prev: usize,
        pub(super) allowed: Vec<usize>,
    }

    fn util_with(s: &State, cpu: usize, dst: Option<usize>, boost: bool) -> i64 {
        let c = &s.cpus[cpu];
        let here = dst == Some(cpu);
        let change = |of: i64, own: i64| match (s.prev == cpu, here) {
            (true, false) => (of - own).max(0),
            (false, true) => of + own,
            _ => of,
        };
        let mut util = change(c.util, s.util);
        if boost {
            util = util.max(change(c.runnable, s.runnable));
        }
        let est = c.est + if here { s.est } else { 0 };
        util.max(est).min(c.full)
    }

    /// Demand with the other classes (docs/rules/capacity.md#schedutil).
    fn effective(c: &Cpu, fair: i64) -> i64 {
        let sum = fair + c.rt + c.dl;
        if c.irq >= c.full || sum >= c.full {
            return c.full;
        }
        (sum * (c.full - c.irq) / c.full + c.irq).min(c.full)
    }

    /// Performance asked for with the hints in force (docs/rules/capacity.md#schedutil,
    /// docs/rules/energy-aware.md#compute-energy).
    fn performance(s: &State, cpu: usize, dst: Option<usize>) -> i64 {
        let c = &s.cpus[cpu];
        let demand = effective(c, util_with(s, cpu, dst, true));
        let queued_min = c.hints.iter().map(|h| h.0).max().unwrap_or(0);
        let queued_max = c.hints.iter().map(|h| h.1).max().unwrap_or(1024);
        let mut min = (c.irq + c.dl).max(queued_min);
        let mut max = queued_max.min(c.full);
        if c.rt_queued || c.irq >= c.full {
            (min, max) = (c.full, c.full);
        }
        if dst == Some(cpu) {
            min = min.max(s.hints.0);
            max = if c.hints.is_empty() {
                s.hints.1
            } else {
                max.max(s.hints.1)
            };
        }
        min.max(max.min(demand + demand / 4))
    }

    fn cost(s: &State, d: &Domain, perf: i64) -> i64 {
        let capacity = s.cpus[d.cpus[0]].full;
        let top = d.states.last().expect("a state").0;
        let perf_of = |i: usize| capacity * d.states[i].0 / top;
        let cost_of = |i: usize| d.states[i].1 * 10 / perf_of(i);
        let wasteful = |i: usize| (i + 1..d.states.len()).any(|j| cost_of(j) <= cost_of(i));
        // Limits are 7.3's (docs/rules/energy-aware.md#energy-versions).
        let (from, to) = match s.form {
            Form::V73 => d.limits,
            _ => (0, d.states.len() - 1),
        };
        let enough = (from..=to).find(|i| perf_of(*i) >= perf && !wasteful(*i));
        cost_of(enough.unwrap_or(to))
    }

    /// Demand of 6.1 (docs/rules/capacity.md#schedutil: hints bound the demand, the 25 % come at
    /// the end; docs/rules/energy-aware.md#em-cpu-energy, column 6.1).
    fn demand_61(s: &State, cpu: usize, dst: Option<usize>) -> i64 {
        let c = &s.cpus[cpu];
        if c.irq >= c.full || c.rt_queued {
            return c.full;
        }
        let joins = (dst == Some(cpu)).then_some(&s.hints);
        let hints = || c.hints.iter().chain(joins);
        let (min, max) = (hints().map(|h| h.0).max(), hints().map(|h| h.1).max());
        let (min, max) = (min.unwrap_or(0), max.unwrap_or(1024));
        let fair = util_with(s, cpu, dst, true) + c.rt;
        let bound = if min >= max {
            min
        } else {
            fair.clamp(min, max)
        };
        if bound + c.dl >= c.full {
            return c.full;
        }
        (bound * (c.full - c.irq) / c.full + c.irq + c.dl).min(c.full)
    }

    /// Energy of a domain busy for `busy` whose most demanding CPU wants `most`
    /// (docs/rules/energy-aware.md#em-cpu-energy, column 6.1).
    fn energy_61(s: &State, d: &Domain, most: i64, busy: i64, cap: i64) -> i64 {
        if busy == 0 {
            return 0;
        }
        let most = most.min(cap);
        let most = (most + most / 4).min(cap);
        let full = s.cpus[d.cpus[0]].full;
        let top = d.states.last().expect("a state").0;
        let cost_of = |i: usize| top * d.states[i].1 / d.states[i].0;
        let n = d.states.len();
        let wasteful = |i: usize| (i + 1..n).any(|j| cost_of(j) <= cost_of(i));
        let khz = top * most / full;
        let enough = (0..n).find(|i| d.states[*i].0 >= khz && !wasteful(*i));
        cost_of(enough.unwrap_or(n - 1)) * busy / full
    }

    /// Hints beside the task's: those queued on the CPU, or on the last busy one before it that the
    /// search looked at (docs/rules/energy-aware.md#energy-hints-carried).
    fn hints_beside(s: &State, cpu: usize) -> &[(i64, i64)] {
        let domain = s.domains.iter().find(|d| d.cpus.contains(&cpu));
        let looked_at = domain
            .expect("a domain")
            .cpus
            .iter()
            .filter(|c| **c <= cpu && s.cpus[**c].online && s.allowed.contains(c));
        let mut queued = looked_at.map(|c| &s.cpus[*c].hints[..]);
        queued.rfind(|hints| !hints.is_empty()).unwrap_or(&[])
    }

    pub(super) fn fits(s: &State, cpu: usize) -> i64 {
        let c = &s.cpus[cpu];
        let util = util_with(s, cpu, Some(cpu), false);
        let beside = hints_beside(s, cpu);
        let min = beside.iter().map(|h| h.0).fold(s.hints.0, i64::max);
        let max = beside.iter().map(|h| h.1).fold(s.hints.1, i64::max);
        let mut fit = util * 1280 < c.left * 1024;
        fit |= max <= c.full && (c.full, max) != (1024, 1024);
        let wish = min.min(max);
        if fit && util < wish && wish > c.full - c.pressure {
            return -1;
        }
        i64::from(fit)
    }

    /// Energy of a domain with the task on `dst`; its online CPUs share the capacity `cap`.
    fn energy_with(
        s: &State,
        d: &Domain,
        (online, cap): (&[usize], i64),
        busy_of_task: i64,
        dst: Option<usize>,
    ) -> i64 {
        let total = cap * online.len() as i64;
        let busy: i64 = online
            .iter()
            .map(|c| effective(&s.cpus[*c], util_with(s, *c, None, false)))
            .sum();
        let added = if dst.is_some() { busy_of_task } else { 0 };
        let busy = (busy.min(total) + added).min(total);
        if s.form == Form::V61 {
            let most = online.iter().map(|c| demand_61(s, *c, dst)).max();
            return energy_61(s, d, most.expect("online"), busy, cap);
        }
        let perf = online.iter().map(|c| performance(s, *c, dst)).max();
        cost(s, d, perf.expect("online").min(cap)) * busy
    }

    /// Energy of the whole system with the task on `dst` and nowhere else.
    pub(super) fn whole_energy(s: &State, dst: usize) -> i64 {
        let p = &s.cpus[s.prev];
        let est = s.util.max(s.est);
        let busy_of_task = match p.irq >= p.full {
            true => p.full,
            false => est * (p.full - p.irq) / p.full,
        };
        let one = |d: &Domain| {
            let up = |c: &usize| s.cpus[*c].online;
            let online: Vec<usize> = d.cpus.iter().copied().filter(up).collect();
            let Some(first) = online.first() else {
                return 0;
            };
            let cap = s.cpus[*first].full - s.cpus[*first].pressure;
            let dst = d.cpus.contains(&dst).then_some(dst);
            energy_with(s, d, (&online, cap), busy_of_task, dst)
        };
        s.domains.iter().map(one).sum()
    }

    /// Chosen CPU (`None`: prev for want of a comparison) and (CPU, fits, delta) in order.
    pub(super) fn place(s: &State) -> (usize, Vec<(usize, i64, i64)>) {
        let est = s.util.max(s.est);
        let mut seen = Vec::new();
        if est == 0 && s.hints.0 == 0 {
            return (s.prev, seen);
        }
        let p = &s.cpus[s.prev];
        let busy_of_task = if p.irq >= p.full {
            p.full
        } else {
            est * (p.full - p.irq) / p.full
        };
        let (mut prev_delta, mut best_delta) = (i64::MAX, i64::MAX);
        let (mut prev_fits, mut best_fits, mut prev_cap, mut best_cap) = (-1, -1, 0, 0);
        let mut best = s.prev;
        for d in s.domains.iter().rev() {
            let online: Vec<usize> = d
                .cpus
                .iter()
                .copied()
                .filter(|c| s.cpus[*c].online)
                .collect();
            let Some(first) = online.first() else {
                continue;
            };
            let cap = s.cpus[*first].full - s.cpus[*first].pressure;
            let spare = |c: usize| (s.cpus[c].left - util_with(s, c, Some(c), false)).max(0);
            let usable: Vec<usize> = online
                .iter()
                .copied()
                .filter(|c| s.allowed.contains(c) && fits(s, *c) != 0)
                .collect();
            let prev_here = usable.contains(&s.prev);
            // Best by (fits, spare); the first among equals.
            let rival = usable.iter().copied().filter(|c| *c != s.prev).rev();
            let rival = rival.max_by_key(|c| (fits(s, *c), spare(*c)));
            let energy = |dst| energy_with(s, d, (&online, cap), busy_of_task, dst);
            let base = energy(None);
            if prev_here {
                let delta = energy(Some(s.prev)) - base;
                if delta < 0 {
                    return (s.prev, seen);
                }
                (prev_delta, prev_fits, prev_cap) = (delta, fits(s, s.prev), cap);
                best_delta = best_delta.min(delta);
                seen.push((s.prev, prev_fits, delta));
            }
            let Some(rival) = rival else { continue };
            let rival_fits = fits(s, rival);
            if prev_here && spare(rival) <= spare(s.prev)
                || rival_fits < best_fits
                || rival_fits < 0 && cap <= best_cap
            {
                continue;
            }
            let delta = energy(Some(rival)) - base;
            if delta < 0 {
                return (s.prev, seen);
            }
            seen.push((rival, rival_fits, delta));
            if rival_fits > 0 && best_fits > 0 && delta >= best_delta {
                continue;
            }
            (best, best_delta, best_fits, best_cap) = (rival, delta, rival_fits, cap);
        }
        let leave = best_fits > prev_fits
            || best_fits > 0 && best_delta < prev_delta
            || best_fits < 0 && best_cap > prev_cap;
        (if leave { best } else { s.prev }, seen)
    }
}

use rule::{Cpu, Domain, Form, State};

/// 2 to 4 clusters of 1 to 3 or 4 CPUs, at most 12, at least two capacities; 1 to 6 states, their
/// power convex or not.
fn random_machine(rng: &mut Rng, form: Form) -> State {
    let (mut cpus, mut domains) = (Vec::new(), Vec::new());
    let clusters = rng.range(2, 4);
    for d in 0..clusters {
        let full = if d == 1 {
            1024
        } else {
            i64::from(rng.range(150, 1000))
        };
        let first = cpus.len();
        for _ in 0..rng.range(1, if clusters == 4 { 3 } else { 4 }) {
            cpus.push(Cpu {
                full,
                ..Cpu::default()
            });
        }
        let (mut khz, mut power) = (i64::from(rng.range(300, 900)) * 1000, 0);
        let (convex, mut step) = (rng.one_in(2), 1_000);
        let states = (0..rng.range(1, 6)).map(|_| {
            khz += i64::from(rng.range(1, 400)) * 997;
            step = match convex {
                true => step + i64::from(rng.range(1_000, 80_000)),
                false => i64::from(rng.range(1_000, 400_000)),
            };
            power += step;
            (khz, power)
        });
        let states: Vec<_> = states.collect();
        let limits = (0, states.len() - 1);
        domains.push(Domain {
            cpus: (first..cpus.len()).collect(),
            states,
            limits,
        });
    }
    State {
        form,
        cpus,
        domains,
        util: 0,
        runnable: 0,
        est: 0,
        hints: (0, 1024),
        prev: 0,
        allowed: Vec::new(),
    }
}

/// Up to `most` once in `one_in` times, else 0.
fn seldom(rng: &mut Rng, one_in: u64, most: u32) -> i64 {
    if rng.one_in(one_in) {
        i64::from(rng.range(0, most))
    } else {
        0
    }
}

fn random_hints(rng: &mut Rng) -> (i64, i64) {
    match rng.range(0, 5) {
        0 => (i64::from(rng.range(0, 1024)), 1024),
        1 => (0, i64::from(rng.range(0, 1024))),
        2 => (i64::from(rng.range(0, 1024)), i64::from(rng.range(0, 1024))),
        _ => (0, 1024),
    }
}

fn random_situation(rng: &mut Rng, s: &mut State) {
    let n = s.cpus.len();
    let heavy = if rng.one_in(4) { 1 } else { 3 };
    for c in &mut s.cpus {
        let full = c.full as u32;
        c.util = i64::from(rng.range(0, full / heavy));
        c.runnable = c.util + seldom(rng, 4, 300);
        c.est = seldom(rng, 2, full / heavy);
        (c.rt, c.dl, c.irq) = (
            seldom(rng, 8, 150),
            seldom(rng, 8, 150),
            seldom(rng, 8, 200),
        );
        c.rt_queued = rng.one_in(20);
        c.pressure = seldom(rng, 6, full);
        c.left = i64::from(rng.range(1, full)).max(if rng.one_in(4) { 1 } else { c.full });
        c.online = !rng.one_in(12);
        let queued = if rng.one_in(2) { 0 } else { rng.range(1, 2) };
        c.hints = (0..queued).map(|_| random_hints(rng)).collect();
    }
    for d in &mut s.domains {
        let top = d.states.len() as u32 - 1;
        let from = if rng.one_in(6) { rng.range(0, top) } else { 0 };
        let to = if rng.one_in(6) {
            rng.range(from, top)
        } else {
            top
        };
        d.limits = (from as usize, to as usize);
    }
    let most = if rng.one_in(3) { 700 } else { 150 };
    (s.util, s.est) = (i64::from(rng.range(0, most)), i64::from(rng.range(0, most)));
    if rng.one_in(16) {
        (s.util, s.est) = (0, 0);
    }
    s.runnable = s.util + seldom(rng, 3, 300);
    s.hints = random_hints(rng);
    s.prev = rng.index(n);
    let all = rng.one_in(2);
    s.allowed = (0..n).filter(|_| all || rng.one_in(2)).collect();
    if s.allowed.len() < 2 {
        s.allowed = (0..n).collect();
    }
    let prev = &mut s.cpus[s.prev];
    prev.util = (prev.util + s.util).min(prev.full);
    prev.runnable = (prev.runnable + s.runnable - s.util).max(prev.util);
}

fn new_core(s: &State) -> Core {
    let clusters = s.domains.iter().map(|d| common::Cluster {
        cpus: d.cpus.len(),
        capacity: s.cpus[d.cpus[0]].full as u32,
        states: d
            .states
            .iter()
            .map(|(khz, uw)| (*khz as u32, *uw as u32))
            .collect(),
    });
    let name = match s.form {
        Form::V61 => "linux-7.3+energy-aware=6.1",
        Form::V612 => "linux-7.3+energy-aware=6.12",
        Form::V73 => "linux-7.3",
    };
    common::core(&machine(&clusters.collect::<Vec<_>>()), name, &[])
}

/// Writes the state into the core and returns the waking task.
fn put(core: &mut Core, s: &State) -> Task {
    freeze(core);
    core.state_mut().overutilized = 0;
    let n = s.cpus.len() as u32;
    for (cpu, c) in (0..n).zip(&s.cpus) {
        let raw = core.cpu_mut(cpu);
        raw.load.uclamp = Default::default();
        raw.load.uclamp_last_cut = 0;
        raw.load.uclamp_tasks = 0;
        raw.load.uclamp_hinted = 0;
        for hints in &c.hints {
            let mut queued = sleeper(core, 2, cpu, 0, 0);
            core.task_set_uclamp(&mut queued, hints.0 as u32, hints.1 as u32);
            let _ = core.enqueue_woken(&mut queued, cpu, NOW);
        }
        let raw = core.cpu_mut(cpu);
        (raw.load.capacity, raw.load.pressure) = (c.left as u32, c.pressure as u32);
        (raw.load.avg.util_avg, raw.load.avg.runnable_avg) = (c.util as u32, c.runnable as u32);
        (raw.load.util_est, raw.load.rt_util, raw.load.dl_util) =
            (c.est as u32, c.rt as u32, c.dl as u32);
        (raw.load.irq_util, raw.queue.rt_runnable) = (c.irq as u32, u32::from(c.rt_queued));
        raw.queue.online = u32::from(c.online);
    }
    for (at, d) in s.domains.iter().enumerate() {
        let khz = |state: usize| d.states[state].0 as u32;
        let limited = core.limit_energy_model(at, khz(d.limits.0), khz(d.limits.1));
        limited.expect("two of its frequencies");
    }
    core.state_mut().overutilized = 0;
    let mut task = sleeper(core, 1, s.prev as u32, s.util as u32, s.est as u32);
    core.task_set_uclamp(&mut task, s.hints.0 as u32, s.hints.1 as u32);
    let allowed: Vec<u32> = s.allowed.iter().map(|c| *c as u32).collect();
    task.set_allowed(Some(&allowed), n);
    task.raw_mut().avg.runnable_avg = s.runnable as u32;
    core.task_set_allowed(&mut task);
    task
}

/// Nobody leaves a queue here, so the buckets of its hints are exact.
fn compare(core: &mut Core, s: &State, seed: u64, counts: &mut [u32; Reason::COUNT]) {
    let (want, want_seen) = rule::place(s);
    let task = put(core, s);
    let prev = s.prev as u32;
    let choice = core.select_cpu(&mut [task], 0, &ask(PlaceKind::Wake, prev, prev));
    let seen: Vec<_> = core
        .candidates()
        .map(|c| {
            (
                c.cpu as usize,
                i64::from(c.fits),
                c.energy.expect("an estimate") as i64,
            )
        })
        .collect();
    counts[choice.reason.index()] += 1;
    assert_eq!(seen, want_seen, "seed {seed}: {choice:?}\n{s:#?}");
    properties(s, choice.cpu as usize, choice.reason);
    if s.allowed.contains(&want) {
        assert_eq!(choice.rule, Rule::Energy, "seed {seed}\n{s:#?}");
        assert_eq!(choice.cpu as usize, want, "seed {seed}: {choice:?}\n{s:#?}");
    } else {
        assert_eq!(choice.reason, Reason::NotAllowed, "seed {seed}\n{s:#?}");
    }
}

/// No CPU that does not hold the task while another does, and no more energy than by staying where
/// the task was fully held; except for the early returns of the spec: no utilisation, an estimate
/// that contradicts itself (docs/rules/energy-aware.md#energy-wake-up), and a previous CPU that is
/// not allowed (docs/rules/energy-numbers.md#energy-statements). Nor does energy count where the
/// last of the rule's three conditions chose: a CPU that lacks the performance asked for is taken
/// for its capacity even from a CPU that has it all (`best_fits < 0 and best_cap > prev_cap`).
fn properties(s: &State, chosen: usize, reason: Reason) {
    let early = [
        Reason::EnergyZeroUtil,
        Reason::EnergyUnclear,
        Reason::NotAllowed,
    ];
    if early.contains(&reason) {
        return;
    }
    // The limits of a domain's first CPU stand for all (docs/rules/energy-aware.md#compute-energy);
    // one that they leave nothing is no place for a task that lacks performance anyway.
    let leaves = |c: &usize| {
        let domain = s.domains.iter().find(|d| d.cpus.contains(c));
        let mut cpus = domain.into_iter().flat_map(|d| &d.cpus);
        let first = cpus.find(|c| s.cpus[**c].online);
        first.is_some_and(|c| s.cpus[*c].pressure < s.cpus[*c].full)
    };
    let usable = |c: &usize| {
        s.cpus[*c].online && leaves(c) && s.allowed.contains(c) && rule::fits(s, *c) != 0
    };
    if (0..s.cpus.len()).any(|c| usable(&c)) {
        assert_ne!(rule::fits(s, chosen), 0, "{reason} {chosen}: {s:#?}");
    }
    let held = s.allowed.contains(&s.prev) && s.cpus[s.prev].online && rule::fits(s, s.prev) > 0;
    if held && reason != Reason::EnergyBiggest {
        let (with, stay) = (rule::whole_energy(s, chosen), rule::whole_energy(s, s.prev));
        assert!(with <= stay, "{reason} {chosen}: {with} > {stay}: {s:#?}");
    }
}

fn check(form: Form) {
    let mut counts = [0; Reason::COUNT];
    let states = oracle_states();
    for seed in FIRST_SEED..FIRST_SEED + states / STATES_PER_MACHINE {
        let mut rng = Rng(seed);
        let mut state = random_machine(&mut rng, form);
        let mut core = new_core(&state);
        for _ in 0..STATES_PER_MACHINE {
            random_situation(&mut rng, &mut state);
            compare(&mut core, &state, seed, &mut counts);
        }
    }
    for reason in [
        Reason::EnergyBest,
        Reason::EnergyPrev,
        Reason::EnergyPrevUnfit,
        Reason::EnergyNothingFits,
        Reason::EnergyZeroUtil,
        Reason::EnergyHint,
        Reason::EnergyBiggest,
        Reason::EnergyUnclear,
    ] {
        let n = counts[reason.index()];
        assert!(
            u64::from(n) > states / 1000,
            "{form:?} {reason}: {n} of {counts:?}"
        );
    }
}

/// Goal: every choice, and every CPU looked at with its fit and its delta, in order; every reason
/// of the rule occurs. Source: docs/rules/energy-aware.md#em-cpu-energy to
/// docs/rules/energy-aware.md#energy-wake-up.
#[test]
fn v73_agrees_on_random_states() {
    check(Form::V73);
}

/// Goal: as in 7.3 core and oracle agree on random states for 6.12, which knows no limits
/// (docs/rules/energy-aware.md#energy-versions).
#[test]
fn v612_agrees_on_random_states() {
    check(Form::V612);
}

/// Goal: core and oracle agree on random states for the estimate of 6.1, too. Source:
/// docs/rules/energy-aware.md#em-cpu-energy (column 6.1), docs/rules/capacity.md#schedutil ("6.1").
#[test]
fn v61_agrees_on_random_states() {
    check(Form::V61);
}
