//! The energy-aware wake-up of v3 and 5.0 against an independent evaluation of its rule on random
//! states: 100,000,
//! or as many as WAKEPLACE_ORACLE_STATES says.
//!
//! `oracle/rule.rs` is written from docs/rules/energy-aware.md with its own types and arithmetic
//! and calls nothing of the core. `oracle/states.rs` makes the states. This file puts each state
//! into the core and compares. To repeat one failure: set FIRST_SEED to the printed seed.
//!
//! What must stay: rule.rs stays independent of the core, and every difference is a failure,
//! whatever its size. It covers policy/src/energy/energy_5_0.c (`wp_energy_choose_5_0` and what it
//! calls). `put` and `decide` ask the core, `compare` both; `properties` asserts what holds of any
//! choice: it fits, and costs no more than staying. Free: seeds and numbers of states.
//! Helpers, and who fails with them: `facts`, `new_core`, `put`, `decide`, `compare`, `print`,
//! `properties`, `run`, `check` (`v3_agrees_on_random_states`, `v50_agrees_on_random_states`).

use crate::common;
mod rule;
mod states;

use common::{NOW, Rng, ask, freeze, oracle_states, policy, sleeper};
use rule::{Form, Outcome, State};
use wakeplace_policy_sys::{
    Core, FreqFacts, LevelFacts, MachineFacts, PerfFacts, PlaceKind, Rule, Task,
};

const FIRST_SEED: u64 = 1;
const STATES_PER_MACHINE: u64 = 20;

fn facts(state: &State) -> MachineFacts {
    let n = state.cpus.len();
    let domains = || state.domains.iter();
    MachineFacts {
        tick_ns: 4_000_000,
        scan_cpu_ns: 50,
        capacity: state.cpus.iter().map(|c| c.full as u32).collect(),
        online: Vec::new(),
        levels: state
            .levels
            .iter()
            .enumerate()
            .map(|(at, group_of)| LevelFacts {
                shares_capacity: false,
                shares_cache: at == 0,
                group_of: group_of.clone(),
                ..LevelFacts::default()
            })
            .collect(),
        freq_domains: vec![FreqFacts {
            cpus: (0..n as u16).collect(),
            opp_khz: vec![1_000_000],
            transition_latency_us: 0,
        }],
        perf_domains: domains()
            .map(|d| PerfFacts {
                cpus: d.cpus.iter().map(|c| *c as u16).collect(),
                states: d
                    .opps
                    .iter()
                    .map(|o| (o.khz as u32, o.power_uw as u32))
                    .collect(),
                costs: Vec::new(),
            })
            .collect(),
        ..MachineFacts::default()
    }
}

fn new_core(state: &State, form: Form) -> Core {
    let name = match form {
        Form::V3 => "linux-4.17+energy-aware=v3",
        Form::V50 => "linux-4.17+energy-aware=5.0",
    };
    let core = Core::new(&facts(state), policy(name, &[]).core_params());
    let core = core.unwrap_or_else(|e| panic!("{e}: {state:#?}"));
    assert_eq!(core.energy_inactive(), None, "{state:#?}");
    core
}

/// Writes the state into the core and returns the waking task.
fn put(core: &mut Core, state: &State) -> Task {
    freeze(core);
    core.state_mut().overutilized = 0;
    for (cpu, c) in state.cpus.iter().enumerate() {
        let raw = core.cpu_mut(cpu as u32);
        raw.load.capacity = c.left as u32;
        raw.load.avg.util_avg = c.util as u32;
        raw.load.util_est = c.est as u32;
        raw.load.dl_util = c.deadline as u32;
        raw.load.rt_util = c.real_time as u32;
        raw.load.irq_util = c.interrupts as u32;
    }
    let t = &state.task;
    let mut task = sleeper(core, 1, t.prev as u32, t.util as u32, t.est as u32);
    let allowed: Vec<u32> = t.allowed.iter().map(|c| *c as u32).collect();
    task.set_allowed(Some(&allowed), state.cpus.len() as u32);
    task
}

/// What the core says: its choice, and its candidates as (CPU, energy), sorted.
fn decide(core: &mut Core, state: &State) -> (Rule, usize, Vec<(usize, u64)>) {
    let task = put(core, state);
    let request = ask(
        PlaceKind::Wake,
        state.this_cpu as u32,
        state.task.prev as u32,
    );
    assert_eq!(request.now_ns, NOW);
    let choice = core.select_cpu(&mut [task], 0, &request);
    let mut seen: Vec<_> = core
        .candidates()
        .map(|c| (c.cpu as usize, c.energy.expect("an estimate")))
        .collect();
    seen.sort_unstable();
    (choice.rule, choice.cpu as usize, seen)
}

fn compare(core: &mut Core, state: &State, form: Form, seed: u64) -> Outcome {
    let want = rule::place(state, form);
    let (rule, cpu, seen) = decide(core, state);
    let context = || format!("form {form:?}, seed {seed}, expected {want:?}\n{state:#?}");
    match &want {
        Outcome::NormalPath => assert_ne!(rule, Rule::Energy, "{}", context()),
        Outcome::Stay => {
            // The wake-up code replaces a CPU the task may not use by its lowest allowed one
            // (docs/rules/energy-numbers.md#energy-statements).
            let prev = state.task.prev;
            let fallback = state.task.allowed[0];
            let stay = if state.task.allowed.contains(&prev) {
                prev
            } else {
                fallback
            };
            assert_eq!(cpu, stay, "{}", context());
        }
        Outcome::Chosen {
            cpu: chosen,
            candidates,
        } => {
            let mut candidates = candidates.clone();
            candidates.sort_unstable();
            assert_eq!(rule, Rule::Energy, "{}", context());
            assert_eq!((cpu, &seen), (*chosen, &candidates), "{}", context());
        }
    }
    want
}

/// How far choices are from the least energy of all allowed CPUs that can hold the task.
#[derive(Debug, Default)]
struct Distance {
    states: u64,
    at_minimum: u64,
    excess_pct_sum: f64,
    excess_pct_max: f64,
}

impl Distance {
    fn add(&mut self, state: &State, form: Form, chosen: usize) {
        let Some(least) = rule::least_energy(state, form) else {
            return;
        };
        let energy = rule::energy(state, form, chosen);
        assert!(energy >= least, "a choice outside the search: {state:#?}");
        self.states += 1;
        self.at_minimum += u64::from(energy == least);
        // An estimate truncated to 0 mW is taken as 1.
        let excess = (energy - least) as f64 * 100.0 / least.max(1) as f64;
        self.excess_pct_sum += excess;
        self.excess_pct_max = self.excess_pct_max.max(excess);
    }

    fn print(&self, form: Form) {
        use std::io::Write as _;
        let states = self.states as f64;
        writeln!(
            std::io::stderr(),
            "oracle {form:?}: {} choices, {:.2} % at the minimum, excess mean {:.3} %, max {:.2} %",
            self.states,
            self.at_minimum as f64 * 100.0 / states,
            self.excess_pct_sum / states,
            self.excess_pct_max,
        )
        .expect("stderr");
    }
}

/// Counts of what the states exercised, so that a generator gone dull is noticed.
#[derive(Debug, Default)]
struct Coverage {
    normal_path: u32,
    stayed: u32,
    kept_prev: u32,
    moved: u32,
    prev_unusable: u32,
}

impl Coverage {
    fn add(&mut self, state: &State, outcome: &Outcome) {
        match outcome {
            Outcome::NormalPath => self.normal_path += 1,
            Outcome::Stay => self.stayed += 1,
            Outcome::Chosen { cpu, candidates } => {
                let prev = state.task.prev;
                if *cpu == prev {
                    self.kept_prev += 1;
                } else if candidates.iter().any(|c| c.0 == prev) {
                    self.moved += 1;
                } else {
                    self.prev_unusable += 1;
                }
            }
        }
    }
}

/// A choice holds the task, and its energy is not above that of staying where the task was, if that
/// held it. Source: the rule itself, docs/rules/energy-aware.md#energy-wake-up-v3 and
/// docs/rules/energy-numbers.md#energy-statements; the energy is the whole system's.
fn properties(state: &State, form: Form, chosen: usize) {
    let prev = state.task.prev;
    assert!(rule::holds(state, chosen), "{form:?} {chosen}: {state:#?}");
    if state.task.allowed.contains(&prev) && rule::holds(state, prev) {
        let (with, stay) = (
            rule::energy(state, form, chosen),
            rule::energy(state, form, prev),
        );
        assert!(
            with <= stay,
            "{form:?} {chosen}: {with} > {stay}: {state:#?}"
        );
    }
}

fn run(form: Form) -> (Distance, Coverage) {
    let mut distance = Distance::default();
    let mut coverage = Coverage::default();
    for seed in FIRST_SEED..FIRST_SEED + oracle_states() / STATES_PER_MACHINE {
        let mut rng = Rng(seed);
        let mut state = states::machine(&mut rng);
        let mut core = new_core(&state, form);
        for _ in 0..STATES_PER_MACHINE {
            states::situation(&mut rng, &mut state);
            let outcome = compare(&mut core, &state, form, seed);
            coverage.add(&state, &outcome);
            if let Outcome::Chosen { cpu, .. } = outcome {
                properties(&state, form, cpu);
                distance.add(&state, form, cpu);
            }
        }
    }
    (distance, coverage)
}

fn check(form: Form) {
    let (distance, seen) = run(form);
    distance.print(form);
    assert!(distance.states > oracle_states() / 2, "{distance:?}");
    // The rule is a heuristic with a margin: it must find the minimum often and not always.
    assert!(distance.at_minimum * 2 > distance.states, "{distance:?}");
    assert!(distance.at_minimum < distance.states, "{distance:?}");
    let least = [seen.kept_prev, seen.moved, seen.prev_unusable, seen.stayed];
    let enough = |n: &u32| u64::from(*n) > oracle_states() / 100;
    assert!(least.iter().all(enough), "{seen:?}");
    let outside = form == Form::V50;
    assert_eq!(seen.normal_path > 0, outside, "{seen:?}");
}

/// Goal: every choice and every candidate's energy is what the rule says, v3 form. Source:
/// docs/rules/energy-aware.md#util-to-freq, docs/rules/energy-aware.md#compute-energy-v3,
/// docs/rules/energy-aware.md#energy-wake-up-v3.
#[test]
fn v3_agrees_on_random_states() {
    check(Form::V3);
}

/// Goal: the same for the 5.0 form. Source: docs/rules/energy-aware.md#energy-5-0 with
/// docs/rules/energy-aware.md#util-to-freq, docs/rules/energy-aware.md#perf-domain-list,
/// docs/rules/energy-aware.md#compute-energy-v3, docs/rules/energy-aware.md#energy-wake-up-v3.
#[test]
fn v50_agrees_on_random_states() {
    check(Form::V50);
}
