//! The energy-aware wake-up, evaluated from docs/rules/energy-aware.md alone: utilisation to
//! frequency (docs/rules/energy-aware.md#util-to-freq), capacity and cost of a state
//! (docs/rules/energy-aware.md#energy-model), energy
//! (docs/rules/energy-aware.md#compute-energy-v3), domain (docs/rules/energy-aware.md#sd-ea),
//! choice (docs/rules/energy-aware.md#energy-wake-up-v3), and what 5.0 changed
//! (docs/rules/energy-aware.md#energy-5-0). Slow and literal on purpose: the whole system is summed
//! anew for each placement.
//!
//! What must stay: nothing of the core is called or copied here, and nothing is made fast: its
//! worth is that it is a second reading of the page. `place` is called by oracle.rs (`compare`); a
//! wrong line here makes oracle.rs::`v3_agrees_on_random_states` and `v50_agrees_on_random_states`
//! fail. `util_with`, `demand`, `frequency` (utilisation), `domain_energy`, `energy` (energy),
//! `holds`, `search_domain`, `place` (choice); `least_energy` is for properties. Free: names of
//! variables and how a step is written.

/// Which generation of the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    V3,
    V50,
}

#[derive(Clone, Debug)]
pub(crate) struct Opp {
    pub(crate) khz: u64,
    pub(crate) power_uw: u64,
}

/// Performance domain.
#[derive(Clone, Debug)]
pub(crate) struct Domain {
    pub(crate) cpus: Vec<usize>,
    pub(crate) opps: Vec<Opp>,
}

#[derive(Clone, Debug)]
pub(crate) struct Cpu {
    /// Full capacity.
    pub(crate) full: u64,
    /// What RT and interrupts leave of it.
    pub(crate) left: u64,
    pub(crate) util: u64,
    pub(crate) est: u64,
    pub(crate) deadline: u64,
    pub(crate) real_time: u64,
    pub(crate) interrupts: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Waking {
    pub(crate) util: u64,
    pub(crate) est: u64,
    pub(crate) prev: usize,
    /// Ascending.
    pub(crate) allowed: Vec<usize>,
}

#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) cpus: Vec<Cpu>,
    /// In the order of registration.
    pub(crate) domains: Vec<Domain>,
    /// Topology, bottom first: a label per CPU.
    pub(crate) levels: Vec<Vec<u16>>,
    pub(crate) task: Waking,
    pub(crate) this_cpu: usize,
}

#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    /// The rule does not apply.
    NormalPath,
    /// Previous CPU, without a comparison.
    Stay,
    Chosen {
        cpu: usize,
        candidates: Vec<(usize, u64)>,
    },
}

/// Utilisation of `cpu` if the task were on `dst` (docs/rules/energy-aware.md#compute-energy-v3);
/// `None` = nowhere.
fn util_with(state: &State, cpu: usize, dst: Option<usize>) -> u64 {
    let c = &state.cpus[cpu];
    let task = &state.task;
    let here = dst == Some(cpu);
    let mut util = c.util;
    if task.prev == cpu && !here {
        util = util.saturating_sub(task.util);
    }
    if task.prev != cpu && here {
        util += task.util;
    }
    let est = c.est + if here { task.est } else { 0 };
    util.max(est).min(c.full)
}

/// The frequency at which `util` fills 80 % of the CPU (docs/rules/energy-aware.md#util-to-freq).
fn frequency(util: u64, top_khz: u64, capacity: u64) -> u64 {
    (top_khz + top_khz / 4) * util / capacity
}

/// What a CPU needs whose fair tasks show `fair`: v3 adds deadline tasks only
/// (docs/rules/energy-aware.md#compute-energy-v3); 5.0 all classes, in what time interrupts leave,
/// and that time, up to the CPU's capacity (docs/rules/energy-aware.md#energy-5-0).
fn demand(c: &Cpu, form: Form, fair: u64) -> u64 {
    if form == Form::V3 {
        return fair + c.deadline;
    }
    let tasks = fair + c.real_time + c.deadline;
    if c.interrupts >= c.full || tasks >= c.full {
        return c.full;
    }
    c.interrupts + tasks * (c.full - c.interrupts) / c.full
}

fn domain_energy(state: &State, form: Form, domain: &Domain, dst: Option<usize>) -> u64 {
    let capacity = state.cpus[domain.cpus[0]].full;
    let top = domain.opps.last().expect("a state").khz;
    let (mut most, mut sum) = (0, 0);
    for cpu in &domain.cpus {
        let util = demand(&state.cpus[*cpu], form, util_with(state, *cpu, dst));
        most = most.max(util);
        sum += util;
    }
    let khz = frequency(most, top, capacity);
    let enough = domain.opps.iter().find(|o| o.khz >= khz);
    let opp = enough.unwrap_or(domain.opps.last().expect("a state"));
    let power_mw = opp.power_uw / 1000;
    match form {
        Form::V3 => power_mw * sum / (capacity * opp.khz / top),
        Form::V50 => (top * power_mw / opp.khz) * sum / capacity,
    }
}

/// Energy of the system with the task on `dst` (docs/rules/energy-aware.md#compute-energy-v3).
pub(crate) fn energy(state: &State, form: Form, dst: usize) -> u64 {
    let domains = state.domains.iter();
    domains
        .map(|d| domain_energy(state, form, d, Some(dst)))
        .sum()
}

/// 2018: unfit if strictly less (docs/rules/energy-aware.md#energy-quantities).
pub(crate) fn holds(state: &State, cpu: usize) -> bool {
    state.cpus[cpu].left * 1024 >= util_with(state, cpu, Some(cpu)) * 1280
}

/// CPUs of the lowest domain of this CPU, from the lowest asymmetric one up, that spans prev
/// (docs/rules/energy-aware.md#sd-ea).
fn search_domain(state: &State) -> Option<Vec<usize>> {
    let group = |labels: &[u16]| -> Vec<usize> {
        let same = |c: &usize| labels[*c] == labels[state.this_cpu];
        (0..labels.len()).filter(same).collect()
    };
    let mut asymmetric = false;
    for labels in &state.levels {
        let span = group(labels);
        let first = state.cpus[span[0]].full;
        asymmetric |= span.iter().any(|c| state.cpus[*c].full != first);
        if asymmetric && span.contains(&state.task.prev) {
            return Some(span);
        }
    }
    None
}

/// Find the energy-efficient CPU (docs/rules/energy-aware.md#energy-wake-up-v3; order of domains:
/// docs/rules/energy-aware.md#perf-domain-list; 5.0: docs/rules/energy-aware.md#energy-5-0).
pub(crate) fn place(state: &State, form: Form) -> Outcome {
    let task = &state.task;
    let span = search_domain(state);
    if form == Form::V50 && span.is_none() {
        return Outcome::NormalPath;
    }
    if task.util.max(task.est) == 0 {
        return Outcome::Stay;
    }
    let Some(span) = span else {
        return Outcome::Stay;
    };
    let mut order: Vec<&Domain> = state.domains.iter().collect();
    if form == Form::V50 {
        order.reverse(); // the list grows at its head
    }
    let mut candidates = Vec::new();
    let (mut with_prev, mut best): (Option<u64>, Option<(u64, usize)>) = (None, None);
    for domain in order {
        let mut roomiest: Option<(u64, usize)> = None;
        for cpu in domain.cpus.iter().copied() {
            if !span.contains(&cpu) || !task.allowed.contains(&cpu) || !holds(state, cpu) {
                continue;
            }
            if cpu == task.prev {
                let e = energy(state, form, cpu);
                with_prev = Some(e);
                candidates.push((cpu, e));
                if best.is_none_or(|b| e < b.0) {
                    best = Some((e, cpu));
                }
                continue;
            }
            let spare = state.cpus[cpu].left - util_with(state, cpu, Some(cpu));
            if spare > roomiest.map_or(0, |r| r.0) {
                roomiest = Some((spare, cpu));
            }
        }
        if let Some((_, cpu)) = roomiest {
            let e = energy(state, form, cpu);
            candidates.push((cpu, e));
            if best.is_none_or(|b| e < b.0) {
                best = Some((e, cpu));
            }
        }
    }
    let cpu = match (with_prev, best) {
        (_, None) => return Outcome::Stay,
        (None, Some((_, cpu))) => cpu,
        (Some(prev), Some((e, cpu))) => {
            let shift = if form == Form::V3 { 6 } else { 4 };
            if prev - e > prev >> shift {
                cpu
            } else {
                task.prev
            }
        }
    };
    Outcome::Chosen { cpu, candidates }
}

/// Least energy over all allowed CPUs of the search domain that can hold the task.
pub(crate) fn least_energy(state: &State, form: Form) -> Option<u64> {
    let span = search_domain(state)?;
    let usable = span.into_iter();
    usable
        .filter(|c| state.task.allowed.contains(c) && holds(state, *c))
        .map(|c| energy(state, form, c))
        .min()
}
