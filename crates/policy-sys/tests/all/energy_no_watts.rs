//! An energy model made of capacities and clocks. Source: docs/rules/energy-no-watts.md#no-watts,
//! docs/rules/energy-no-watts.md#no-watts-numbers.
//!
//! What must stay: costs are worked by hand here or on the page, with divisions that cut:
//! `kind = (1024^2 + 4 C^2) / C`, `x = clock * 1024 / top`, `cost = kind * (4 * 1024^2 + x^2) >>
//! 17`. It covers policy/src/energy/energy_no_watts.c. Free: how helpers build a machine.
//! Tests by part: `costs_of_hikey960` (`wp_kind_cost`, `wp_clock_cost`,
//! `wp_em_register_no_watts`; crates/policy-sys/src/machine.rs: `energy_without_watts`);
//! `clocks_that_are_close_rise` (`wp_em_fill_no_watts`);
//! `a_machine_that_has_a_model_keeps_it` (`wp_em_dev_update_perf_domain`);
//! `alike_cpus_and_threads_have_no_model` (`wp_capacities_differ`);
//! `a_clock_of_two_capacities_has_no_model` (`wp_em_register_no_watts`);
//! `small_work_goes_to_small_cpus`, `but_not_to_the_smallest` (the wake-up reads the costs).
//! Helpers, and who fails with them: `no_model` (most tests, `costs_of_hikey960` among them);
//! `made` (all but `a_machine_that_has_a_model_keeps_it`); `costs` (4 tests, `costs_of_hikey960`
//! among them); `place` (`small_work_goes_to_small_cpus`, `but_not_to_the_smallest`).
#![allow(missing_docs, reason = "not a library")]

use crate::common;

use common::{Cluster, ask, cluster, core, freeze, hikey960, machine, sleeper};
use wakeplace_policy_sys::{Core, MachineFacts, PlaceKind};

const ERA: &str = "linux-7.3";

/// The machine of these clusters, whose powers nobody knows.
fn no_model(clusters: &[Cluster]) -> MachineFacts {
    let mut facts = machine(clusters);
    facts.perf_domains.clear();
    facts
}

/// A core that makes a model where there is none.
fn made(facts: &MachineFacts) -> Core {
    core(facts, ERA, &[("energy_no_watts", "missing")])
}

/// The costs of a performance domain's states, in their order.
fn costs(core: &Core, domain: usize) -> Vec<u32> {
    let table = core.energy_tables().nth(domain).expect("a domain");
    let states = table.state[..table.nr_states as usize].iter();
    states.map(|state| state.cost).collect()
}

/// Where a task (utilisation, estimate, previous CPU) goes on an idle machine, and what it adds on
/// the CPUs that were compared.
fn place(core: &mut Core, task: (u32, u32, u32)) -> (u32, Vec<(u32, u64)>) {
    freeze(core);
    core.cpu_mut(task.2).load.avg.util_avg = task.0;
    let task = sleeper(core, 1, task.2, task.0, task.1);
    let (from, kind) = (task.cpu(), PlaceKind::Wake);
    let choice = core.select_cpu(&mut [task], 0, &ask(kind, from, from));
    let added = core.candidates().map(|c| (c.cpu, c.energy.unwrap_or(0)));
    (choice.cpu, added.collect())
}

/// Goal: the table of docs/rules/energy-no-watts.md#no-watts-numbers. A53: kind = (1048576 +
/// 853776) / 462 = 4117; at 533 MHz x = 295, 4117 * (4194304 + 87025) >> 17 = 134477; at the top x
/// is 1024, 4117 * 5242880 >> 17 = 164680. A73: kind = 5120; at 903 MHz x = 391, 5120 * (4194304 +
/// 152881) >> 17 = 169811; at the top 204800.
#[test]
fn costs_of_hikey960() {
    let facts = no_model(&hikey960());
    let core = made(&facts);
    assert_eq!(
        costs(&core, 0),
        [134_477, 141_384, 150_756, 160_032, 164_680]
    );
    assert_eq!(
        costs(&core, 1),
        [169_811, 178_662, 187_727, 196_544, 204_800]
    );
    assert_eq!(
        (core.state().nr_perf_doms, core.energy_inactive()),
        (2, None)
    );
    // Eras have none of it.
    let plain = common::core(&facts, ERA, &[]);
    assert_eq!(plain.state().nr_perf_doms, 0);
    assert!(core.energy_without_watts() && !plain.energy_without_watts());
    assert_eq!(plain.energy_inactive(), Some("a CPU has no energy model"));
}

/// Goal: of two clocks that the arithmetic does not tell apart the higher one costs more, so that
/// no state is marked as inefficient. At 100.0 and 100.1 of 3000 MHz x is 34: 5120 * (4194304 +
/// 1156) >> 17 = 163885.
#[test]
fn clocks_that_are_close_rise() {
    let big = Cluster {
        cpus: 2,
        capacity: 1024,
        states: vec![(100_000, 1), (100_100, 2), (3_000_000, 3)],
    };
    let core = made(&no_model(&[big, cluster(2, 512)]));
    assert_eq!(costs(&core, 0), [163_885, 163_886, 204_800]);
    assert_eq!(core.state().freq_doms[0].inefficient_opps, 0);
}

/// Goal: `missing` leaves a model of powers alone, `always` makes the costs of it, at once and when
/// its table is replaced. Source: docs/rules/energy-no-watts.md#no-watts-when. 28728 uW * 10 / 133
/// = 2160 (docs/rules/energy-numbers.md#em-numbers). The levels of a driver count as clocks: 2 to 5
/// of 5 are x = 409, 614, 819 and 1024. 48 mW for the first state would mark it as inefficient.
#[test]
fn a_machine_that_has_a_model_keeps_it() {
    let facts = machine(&hikey960());
    assert_eq!(costs(&made(&facts), 0)[0], 2160);
    assert!(!made(&facts).energy_without_watts());
    let always = |facts: &MachineFacts| core(facts, ERA, &[("energy_no_watts", "always")]);
    let mut by_clock = always(&facts);
    assert_eq!(costs(&by_clock, 0)[0], 134_477);
    assert!(by_clock.energy_without_watts());
    let mut states = hikey960()[0].states.clone();
    states[0].1 = 48_000;
    by_clock.update_energy_model(0, &states).expect("a table");
    assert_eq!(costs(&by_clock, 0)[0], 134_477);
    assert_eq!(by_clock.state().freq_doms[0].inefficient_opps, 0);
    let mut levels = facts;
    levels.perf_domains[1].states = vec![(2, 0), (3, 0), (4, 0), (5, 0)];
    levels.perf_domains[1].costs = vec![4, 5, 6, 7];
    assert_eq!(costs(&made(&levels), 1), [4, 5, 6, 7]);
    assert_eq!(
        costs(&always(&levels), 1),
        [170_374, 178_566, 190_041, 204_800]
    );
}

/// Goal: where all CPUs are alike there is nothing to choose between, and with SMT energy-aware
/// placement is off (docs/rules/energy-aware.md#energy-conditions): no model.
#[test]
fn alike_cpus_and_threads_have_no_model() {
    let alike = no_model(&[cluster(2, 1024), cluster(2, 1024)]);
    let mut threads = no_model(&hikey960());
    threads.levels[0].shares_capacity = true;
    for facts in [alike, threads] {
        assert_eq!(made(&facts).state().nr_perf_doms, 0);
    }
}

/// Goal: a performance domain has one capacity (docs/rules/energy-aware.md#energy-model); a clock
/// that CPUs of two share has no model, and energy-aware placement is off.
#[test]
fn a_clock_of_two_capacities_has_no_model() {
    let mut facts = no_model(&hikey960());
    let second = facts.freq_domains.pop().expect("two clocks");
    facts.freq_domains[0].cpus.extend(second.cpus);
    let core = made(&facts);
    assert_eq!(core.state().nr_perf_doms, 0);
    assert_eq!(core.energy_inactive(), Some("a CPU has no energy model"));
}

/// Goal: the wake-up compares these costs: a task of 43 with an estimate of 59 leaves an idle A73.
/// 134477 * 59 = 7934143, 169811 * 59 = 10018849.
#[test]
fn small_work_goes_to_small_cpus() {
    let mut core = made(&no_model(&hikey960()));
    let (cpu, added) = place(&mut core, (43, 59, 4));
    assert_eq!(cpu, 0);
    assert_eq!(added, [(4, 10_018_849), (0, 7_934_143)]);
}

/// Goal: a CPU below a quarter of the biggest is no cheap one: its share of what any busy CPU draws
/// is too large. Capacities and clocks of gs101 (platforms/gs101.toml). A55: kind = (1048576 +
/// 102400) / 160 = 7193, x = 170, 7193 * (4194304 + 28900) >> 17 = 231761. A76: kind = (1048576 +
/// 992016) / 498 = 4097, x = 181, 4097 * (4194304 + 32761) >> 17 = 132128. X1: x = 182, 5120 *
/// (4194304 + 33124) >> 17 = 165133. A task of 12 needs the first state everywhere.
#[test]
fn but_not_to_the_smallest() {
    let kind = |cpus, capacity, low, top| Cluster {
        cpus,
        capacity,
        states: vec![(low, 1), (top, 2)],
    };
    let mut core = made(&no_model(&[
        kind(4, 160, 300_000, 1_803_000),
        kind(2, 498, 400_000, 2_253_000),
        kind(2, 1024, 500_000, 2_802_000),
    ]));
    let lowest = [0, 1, 2].map(|domain| costs(&core, domain)[0]);
    assert_eq!(lowest, [231_761, 132_128, 165_133]);
    let (cpu, added) = place(&mut core, (10, 12, 0));
    assert_eq!(cpu, 4);
    assert_eq!(
        added,
        [(6, 165_133 * 12), (4, 132_128 * 12), (0, 231_761 * 12)]
    );
}
