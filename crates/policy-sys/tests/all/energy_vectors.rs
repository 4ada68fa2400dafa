//! Energy model tables and energy-aware decisions against docs/rules/energy-numbers.md.
//!
//! What must stay: rows are of tests/data/em_tables.csv and eas_vectors.csv, which another program
//! computed, or of the page's statements: never change a row to suit the core. Eras are 4.17 with
//! the feature (v3) and 5.0. Free: how rows are read.
//! Tests by part: `em_table_rows`, `inefficient_state_is_marked`, `registration_errors`
//! (`wp_em_compute_costs`, `wp_em_dev_register_perf_domain`, `wp_em_check`); `eas_vector_rows`,
//! `too_big_for_little_goes_big`, `small_task_moves_to_little`, `equal_cpus_of_one_domain`,
//! `zero_util_stays`, `prev_not_allowed`, `margin` (`wp_energy_visit`, `wp_energy_choose_5_0`);
//! `real_time_counts_since_5_0` (`wp_energy_demand_5_0`); `each_condition_off_deactivates`,
//! `complexity_limit` (`wp_energy_condition`, `wp_em_complexity`); `fork_and_exec_bypass`,
//! `overutilized_equals_plain` (`wp_select_task_rq_fair`); `table_update_changes_the_decision`
//! (`wp_em_dev_update_perf_domain`).
//! Helpers, and who fails with them: `set_utils`, `wake` (most tests, `eas_vector_rows` among
//! them); `candidates` (5 tests, `eas_vector_rows` among them); `scenarios`, `hk`,
//! `hikey960_scenarios`, `parse_log` (`eas_vector_rows`); `rule_of_small_task`, `assert_inactive`
//! (`each_condition_off_deactivates`); `margin_machine` (`margin`); `error_of`
//! (`registration_errors`); `random_situation` (`overutilized_equals_plain`).

use crate::common;

use common::{
    Cluster, NOW, Rng, ask, core, doc_example, freeze, hikey960, machine, make_busy, make_idle,
    policy, sleeper, table,
};
use wakeplace_policy_sys::{
    Choice, Core, MachineError, MachineFacts, PlaceKind, Reason, Rule, Task, sys,
};

const V3: &str = "linux-4.17+energy-aware=v3";
const V50: &str = "linux-4.17+energy-aware=5.0";

/// Queue utilisations of a landscape in which all is up to date.
fn set_utils(core: &mut Core, utils: &[u32]) {
    freeze(core);
    for (cpu, util) in utils.iter().enumerate() {
        core.cpu_mut(cpu as u32).load.avg.util_avg = *util;
    }
}

fn wake(core: &mut Core, task: Task, this_cpu: u32) -> Choice {
    let prev = task.cpu();
    core.select_cpu(&mut [task], 0, &ask(PlaceKind::Wake, this_cpu, prev))
}

fn candidates(core: &Core) -> Vec<(u32, u64)> {
    let all = core.candidates();
    let mut list: Vec<_> = all
        .map(|c| (c.cpu, c.energy.expect("an estimate")))
        .collect();
    list.sort_unstable();
    list
}

// ------------------------------------------------------------------------------- tables

/// Goal: performance, cost and the inefficient mark of every state. Source:
/// docs/rules/energy-numbers.md#em-numbers, docs/rules/energy-aware.md#em-tables.
#[test]
fn em_table_rows() {
    let t = table("em_tables.csv");
    let mut checked = 0;
    for (platform, clusters) in [("doc_example", doc_example()), ("hikey960", hikey960())] {
        let core = core(&machine(&clusters), V3, &[]);
        let domains = &core.state().perf_doms;
        let states = domains[..2]
            .iter()
            .flat_map(|d| &d.table[d.live as usize].state[..]);
        let states = states.filter(|s| s.khz != 0);
        let rows = t.rows.iter().filter(|r| t.text(r, "platform") == platform);
        for (state, row) in states.zip(rows) {
            let of = |name| t.number(row, name) as u32;
            let got = (
                state.khz,
                state.power_uw,
                state.performance,
                state.cost,
                state.inefficient,
            );
            let want = (
                of("freq_khz"),
                of("power_uW"),
                of("performance"),
                of("cost_6_12"),
                of("inefficient"),
            );
            assert_eq!(got, want, "{row:?}");
            checked += 1;
        }
    }
    assert_eq!(checked, t.rows.len());
}

/// Goal: a state that costs no less than a faster one is marked. Source:
/// docs/rules/energy-aware.md#inefficient-states: perf 200/100 mW, 400/190 mW, 600/400 mW -> costs
/// 5000, 4750, 6666 -> state 0 inefficient.
#[test]
fn inefficient_state_is_marked() {
    let small = Cluster {
        cpus: 2,
        capacity: 600,
        states: vec![(200_000, 100_000), (400_000, 190_000), (600_000, 400_000)],
    };
    let core = core(
        &machine(&[small.clone(), common::cluster(2, 1024)]),
        V3,
        &[],
    );
    let states = &core.state().perf_doms[0];
    let states = &states.table[states.live as usize].state[..3];
    let got: Vec<_> = states.iter().map(|s| (s.cost, s.inefficient)).collect();
    assert_eq!(got, [(5000, 1), (4750, 0), (6666, 0)]);
    // The rule is "if cost >= that: inefficient": at equal cost the slower state is marked.
    let mut equal = small;
    equal.states[1].1 = 200_000;
    let core = common::core(&machine(&[equal, common::cluster(2, 1024)]), V3, &[]);
    let states = &core.state().perf_doms[0];
    let states = &states.table[states.live as usize].state[..3];
    let got: Vec<_> = states.iter().map(|s| (s.cost, s.inefficient)).collect();
    assert_eq!(got, [(5000, 1), (5000, 0), (6666, 0)]);
}

// ------------------------------------------------------------------------------- eas_vectors.csv

struct Scenario {
    name: &'static str,
    clusters: fn() -> Vec<Cluster>,
    utils: &'static [u32],
    prev: u32,
    util: u32,
    est: u32,
}

/// The landscapes of docs/rules/energy-numbers.md#doc-platform and
/// docs/rules/energy-numbers.md#hikey960-decisions by their names in eas_vectors.csv.
fn scenarios() -> Vec<Scenario> {
    let doc = Scenario {
        name: "doc_example2_P200_prev0",
        clusters: doc_example,
        utils: &[400, 100, 600, 500],
        prev: 0,
        util: 200,
        est: 200,
    };
    let mut all = hikey960_scenarios();
    all.push(doc);
    all
}

fn hk(name: &'static str, utils: &'static [u32], prev: u32, util: u32, est: u32) -> Scenario {
    Scenario {
        name,
        clusters: hikey960,
        utils,
        prev,
        util,
        est,
    }
}

fn hikey960_scenarios() -> Vec<Scenario> {
    vec![
        hk(
            "hk_idle_5pct_prev_big",
            &[0, 0, 0, 0, 43, 0, 0, 0],
            4,
            43,
            59,
        ),
        hk(
            "hk_idle_5pct_prev_little",
            &[43, 0, 0, 0, 0, 0, 0, 0],
            0,
            43,
            59,
        ),
        hk(
            "hk_10tasks_on_little_prev_big",
            &[129, 129, 86, 86, 43, 0, 0, 0],
            4,
            43,
            59,
        ),
        hk(
            "hk_little_300_prev_big",
            &[300, 300, 300, 300, 43, 0, 0, 0],
            4,
            43,
            59,
        ),
        hk(
            "hk_task300_prev_little",
            &[300, 0, 0, 0, 0, 0, 0, 0],
            0,
            300,
            300,
        ),
        hk(
            "hk_task369_prev_little",
            &[369, 0, 0, 0, 0, 0, 0, 0],
            0,
            369,
            369,
        ),
        hk(
            "hk_task370_prev_little",
            &[370, 0, 0, 0, 0, 0, 0, 0],
            0,
            370,
            370,
        ),
        hk(
            "hk_opp_raise_little_vs_big",
            &[190, 190, 190, 190, 60, 0, 0, 0],
            4,
            60,
            60,
        ),
        hk(
            "hk_opp_raise_prev_little",
            &[250, 190, 190, 190, 300, 0, 0, 0],
            0,
            60,
            60,
        ),
    ]
}

/// `('A53', 'prev', 0, 12) | ...` as (CPU, energy), sorted.
fn parse_log(log: &str) -> Vec<(u32, u64)> {
    let mut list = Vec::new();
    for entry in log.split(" | ") {
        let fields: Vec<_> = entry.trim_matches(['(', ')']).split(", ").collect();
        let cpu = fields[2].parse().expect("a CPU");
        list.push((cpu, fields[3].parse().expect("an energy")));
    }
    list.sort_unstable();
    list
}

/// Goal: chosen CPU and every candidate's energy. Source: docs/rules/energy-numbers.md#doc-platform
/// column 3, docs/rules/energy-numbers.md#hikey960-decisions; the order in which domains are
/// visited differs between the forms (docs/rules/energy-aware.md#perf-domain-list), so candidates
/// compare as sets.
#[test]
fn eas_vector_rows() {
    let t = table("eas_vectors.csv");
    let mut checked = 0;
    for row in &t.rows {
        let version = match t.text(row, "algorithm") {
            "v3(>>6)" => V3,
            "5.0(>>4)" => V50,
            _ => continue,
        };
        let name = t.text(row, "scenario");
        let s = scenarios().into_iter().find(|s| s.name == name);
        let s = s.unwrap_or_else(|| panic!("no landscape {name}"));
        assert_eq!(t.number(row, "prev_cpu") as u32, s.prev, "{name}");
        let mut core = core(&machine(&(s.clusters)()), version, &[]);
        set_utils(&mut core, s.utils);
        let task = sleeper(&mut core, 1, s.prev, s.util, s.est);
        let choice = wake(&mut core, task, s.prev);
        assert_eq!(choice.rule, Rule::Energy, "{row:?}");
        assert_eq!(choice.cpu, t.number(row, "chosen_cpu") as u32, "{row:?}");
        assert_eq!(candidates(&core), parse_log(t.text(row, "log")), "{row:?}");
        checked += 1;
    }
    assert_eq!(checked, 20, "ten landscapes in two forms");
}

// ------------------------------------------------------------- energy statements and energy margin

/// Goal: a task that does not fit a little CPU leaves it for an idle big one. Source:
/// docs/rules/energy-numbers.md#energy-statements, first.
#[test]
fn too_big_for_little_goes_big() {
    for (version, little) in [(V3, 462), (V50, 462), (V3, 430), (V50, 430)] {
        let mut clusters = hikey960();
        clusters[0].capacity = little;
        let mut core = core(&machine(&clusters), version, &[]);
        set_utils(&mut core, &[600, 0, 0, 0, 0, 0, 0, 0]);
        let task = sleeper(&mut core, 1, 0, 600, 600);
        let choice = wake(&mut core, task, 0);
        let got = (choice.cpu, choice.reason);
        assert_eq!(got, (4, Reason::EnergyPrevUnfit), "{version} {little}");
    }
}

/// Goal: a small task leaves an idle big CPU, 12 against 36. Source:
/// docs/rules/energy-numbers.md#energy-statements, second.
#[test]
fn small_task_moves_to_little() {
    for version in [V3, V50] {
        let mut core = core(&machine(&hikey960()), version, &[]);
        set_utils(&mut core, &[0, 0, 0, 0, 43, 0, 0, 0]);
        let task = sleeper(&mut core, 1, 4, 43, 59);
        let choice = wake(&mut core, task, 4);
        assert!(choice.cpu < 4, "{version}");
        assert_eq!(choice.reason, Reason::EnergyBest);
        let energies: Vec<_> = candidates(&core).iter().map(|c| c.1).collect();
        assert_eq!(energies, [12, 36, 36]);
    }
}

/// Goal: within a domain most spare capacity, then prev, then the lowest number. Source:
/// docs/rules/energy-numbers.md#energy-statements, third.
#[test]
fn equal_cpus_of_one_domain() {
    for version in [V3, V50] {
        let mut core = core(&machine(&hikey960()), version, &[]);
        // CPU 2 has most room among the little ones.
        set_utils(&mut core, &[100, 100, 50, 100, 43, 0, 0, 0]);
        let task = sleeper(&mut core, 1, 4, 43, 59);
        assert_eq!(wake(&mut core, task, 4).cpu, 2, "{version}");
        // Equal room: the lowest number.
        set_utils(&mut core, &[100, 50, 50, 50, 43, 0, 0, 0]);
        let task = sleeper(&mut core, 1, 4, 43, 59);
        assert_eq!(wake(&mut core, task, 4).cpu, 1, "{version}");
        // Equal energy: the previous CPU.
        set_utils(&mut core, &[0, 0, 0, 43, 0, 0, 0, 0]);
        let task = sleeper(&mut core, 1, 3, 43, 59);
        assert_eq!(wake(&mut core, task, 3).cpu, 3, "{version}");
    }
}

/// Goal: a task without utilisation stays, even on an overloaded CPU. Source:
/// docs/rules/energy-aware.md#energy-wake-up-v3, docs/rules/energy-numbers.md#energy-statements
/// fifth.
#[test]
fn zero_util_stays() {
    for version in [V3, V50] {
        let mut core = core(&machine(&hikey960()), version, &[]);
        set_utils(&mut core, &[462, 0, 0, 0, 0, 0, 0, 0]);
        let task = sleeper(&mut core, 1, 0, 0, 0);
        let choice = wake(&mut core, task, 4);
        assert_eq!(
            (choice.cpu, choice.reason),
            (0, Reason::EnergyZeroUtil),
            "{version}"
        );
        // One of the two is enough to count as utilisation.
        let task = sleeper(&mut core, 1, 0, 0, 1);
        assert_ne!(
            wake(&mut core, task, 4).reason,
            Reason::EnergyZeroUtil,
            "{version}"
        );
    }
}

/// Goal: a forbidden prev is no candidate; without any candidate the wake-up code falls back to an
/// allowed CPU. Source: docs/rules/energy-numbers.md#energy-statements, last statement.
#[test]
fn prev_not_allowed() {
    for version in [V3, V50] {
        let mut core = core(&machine(&hikey960()), version, &[]);
        set_utils(&mut core, &[43, 0, 0, 0, 0, 0, 0, 0]);
        let mut task = sleeper(&mut core, 1, 0, 43, 59);
        task.set_allowed(Some(&[1, 2, 5]), 8);
        let choice = wake(&mut core, task, 0);
        assert_eq!(
            (choice.cpu, choice.reason),
            (1, Reason::EnergyPrevUnfit),
            "{version}"
        );
        assert!(candidates(&core).iter().all(|c| c.0 != 0));
        // Nothing fits: prev, which is not allowed, hence the lowest allowed CPU.
        let mut task = sleeper(&mut core, 1, 0, 900, 900);
        task.set_allowed(Some(&[2, 3]), 8);
        let choice = wake(&mut core, task, 0);
        assert_eq!(
            (choice.cpu, choice.reason),
            (2, Reason::NotAllowed),
            "{version}"
        );
        // Nothing fits, prev allowed: prev.
        let mut task = sleeper(&mut core, 1, 0, 900, 900);
        task.set_allowed(Some(&[0, 3]), 8);
        let choice = wake(&mut core, task, 0);
        assert_eq!(
            (choice.cpu, choice.reason),
            (0, Reason::EnergyNothingFits),
            "{version}"
        );
    }
}

/// Goal: RT time is part of what a CPU needs in 5.0, and no part of it in v3, where deadline time
/// alone counts. Source: docs/rules/energy-aware.md#energy-5-0,
/// docs/rules/energy-aware.md#compute-energy-v3. RT takes 200 of CPU 0, state 999 at cost 129: on
/// CPU 4 129 * 200 / 462 = 55 and 36, on CPU 1 129 * 259 / 462 = 72. Without it 36 and 12.
#[test]
fn real_time_counts_since_5_0() {
    for (version, little, big) in [(V3, 12, 36), (V50, 72, 91), ("linux-5.0", 72, 91)] {
        let mut core = core(&machine(&hikey960()), version, &[]);
        set_utils(&mut core, &[0, 0, 0, 0, 43, 0, 0, 0]);
        let cpu = &mut core.cpu_mut(0).load;
        (cpu.rt_util, cpu.capacity) = (200, 262);
        let task = sleeper(&mut core, 1, 4, 43, 59);
        assert_eq!(wake(&mut core, task, 4).cpu, 1, "{version}");
        assert_eq!(
            candidates(&core),
            [(1, little), (4, big), (5, big)],
            "{version}"
        );
    }
}

/// Two CPUs whose only states make a 256 task cost 100 on CPU 1 (prev) and `best` on CPU 0:
/// 400 mW * 256 / 1024 = 100; 2 * best mW * 256 / 512 = best.
fn margin_machine(best: u32) -> MachineFacts {
    let one = |capacity, power_mw: u32| Cluster {
        cpus: 1,
        capacity,
        states: vec![(1_000_000, power_mw * 1000)],
    };
    machine(&[one(512, 2 * best), one(1024, 400)])
}

/// Goal: prev is left only for a saving above the margin. Source:
/// docs/rules/energy-numbers.md#energy-margin: from 100, v3 needs 98 or less (100 >> 6 = 1), 5.0
/// needs 93 or less (100 >> 4 = 6).
#[test]
fn margin() {
    let cases = [(V3, 99, 1), (V3, 98, 0), (V50, 94, 1), (V50, 93, 0)];
    for (version, best, expected) in cases {
        let mut core = core(&margin_machine(best), version, &[]);
        set_utils(&mut core, &[0, 256]);
        let task = sleeper(&mut core, 1, 1, 256, 256);
        let choice = wake(&mut core, task, 1);
        assert_eq!(candidates(&core), [(0, u64::from(best)), (1, 100)]);
        assert_eq!(choice.cpu, expected, "{version}: 100 against {best}");
        let reason = [Reason::EnergyBest, Reason::EnergyPrev][expected as usize];
        assert_eq!(choice.reason, reason);
    }
}

// ------------------------------------------------------------------------------- activation

/// A wake-up that the energy rule would move from CPU 4 to a little CPU.
fn rule_of_small_task(core: &mut Core) -> Rule {
    set_utils(core, &[0, 0, 0, 0, 43, 0, 0, 0]);
    let task = sleeper(core, 1, 4, 43, 59);
    wake(core, task, 4).rule
}

fn assert_inactive(facts: &MachineFacts, overrides: &[(&str, &str)], why: &str) {
    for version in [V3, V50] {
        let mut core = core(facts, version, overrides);
        assert_eq!(core.energy_inactive(), Some(why), "{version}");
        assert_ne!(
            rule_of_small_task(&mut core),
            Rule::Energy,
            "{version}: {why}"
        );
    }
}

/// Goal: each condition off means the normal path, and the core says why. Source:
/// docs/rules/energy-aware.md#energy-conditions, docs/rules/energy-aware.md#perf-domain-list.
#[test]
fn each_condition_off_deactivates() {
    let full = machine(&hikey960());
    for version in [V3, V50] {
        let mut core = core(&full, version, &[]);
        assert_eq!(core.energy_inactive(), None);
        assert_eq!(rule_of_small_task(&mut core), Rule::Energy, "{version}");
    }
    // The policy does not ask.
    let mut plain = core(&full, "linux-4.17", &[]);
    assert_eq!(plain.energy_inactive(), None);
    assert_ne!(rule_of_small_task(&mut plain), Rule::Energy);
    // One CPU without an energy model (docs/rules/energy-aware.md#perf-domain-list: all or
    // nothing).
    let mut facts = full.clone();
    facts.perf_domains[0].cpus.pop();
    assert_inactive(&facts, &[], "a CPU has no energy model");
    // No asymmetric domain.
    let mut facts = full.clone();
    facts.capacity = vec![1024; 8];
    assert_inactive(&facts, &[], "all CPUs have the same capacity");
    // SMT.
    let mut facts = full.clone();
    facts.levels[0].shares_capacity = true;
    assert_inactive(&facts, &[], "the CPUs have several threads");
    // Not schedutil.
    for governor in ["performance", "powersave"] {
        let why = "the governor is not schedutil";
        assert_inactive(&full, &[("governor", governor)], why);
    }
}

/// Goal: 5.0 refuses machines beyond nr_pd * (nr_states + nr_cpus) = 2048. Source:
/// docs/rules/energy-aware.md#energy-conditions. HiKey960: 2 * (10 + 8) = 36.
#[test]
fn complexity_limit() {
    let facts = machine(&hikey960());
    let at = core(&facts, V50, &[("energy_max_complexity", "36")]);
    assert_eq!(at.energy_inactive(), None);
    let above = core(&facts, V50, &[("energy_max_complexity", "35")]);
    let why = Some("the machine exceeds energy_max_complexity");
    assert_eq!(above.energy_inactive(), why);
    assert_eq!(policy(V50, &[]).core_params().energy_max_complexity, 2048);
    assert_eq!(policy(V3, &[]).core_params().energy_max_complexity, 0);
}

/// Goal: fork and exec never take the energy rule. Source:
/// docs/rules/energy-aware.md#energy-bypass.
#[test]
fn fork_and_exec_bypass() {
    for version in [V3, V50] {
        for kind in [PlaceKind::Fork, PlaceKind::Exec] {
            let mut core = core(&machine(&hikey960()), version, &[]);
            set_utils(&mut core, &[0, 0, 0, 0, 43, 0, 0, 0]);
            let task = sleeper(&mut core, 1, 4, 43, 59);
            let choice = core.select_cpu(&mut [task], 0, &ask(kind, 4, 4));
            assert_eq!(choice.rule, Rule::SlowPath, "{version} {kind:?}");
        }
    }
}

// ------------------------------------------------------------------------------- registration

fn error_of(change: impl Fn(&mut MachineFacts)) -> (usize, &'static str) {
    let mut facts = machine(&hikey960());
    change(&mut facts);
    match Core::new(&facts, policy(V3, &[]).core_params()) {
        Err(MachineError::EnergyModel { domain, why }) => (domain, why),
        other => panic!("expected a refusal, not {other:?}"),
    }
}

/// Goal: every wrong table is refused and named. Source: docs/rules/energy-aware.md#energy-model,
/// docs/rules/energy-aware.md#em-tables limits.
#[test]
fn registration_errors() {
    let why = error_of(|f| f.perf_domains[1].states.clear());
    assert_eq!(why, (1, "it has no states"));
    let why = error_of(|f| f.perf_domains[0].states[2].0 = 999_000);
    assert_eq!(why, (0, "its frequencies do not rise"));
    let power = (1, "a power is not within 1 uW to 64 W");
    assert_eq!(error_of(|f| f.perf_domains[1].states[0].1 = 0), power);
    assert_eq!(
        error_of(|f| f.perf_domains[1].states[4].1 = 64_000_001),
        power
    );
    let why = error_of(|f| f.perf_domains[0].cpus.push(4));
    assert_eq!(why, (0, "its CPUs have different capacities"));
    let why = error_of(|f| f.perf_domains[1] = f.perf_domains[0].clone());
    assert_eq!(why, (1, "a CPU has a performance domain already"));
    // The limit itself and a single state are allowed.
    let mut facts = machine(&hikey960());
    facts.perf_domains[1].states = vec![(2_362_000, 64_000_000)];
    assert!(Core::new(&facts, policy(V3, &[]).core_params()).is_ok());
}

/// Goal: a table replaced at run time changes the decision, a refused one does not. Source:
/// docs/rules/energy-aware.md#em-tables.
#[test]
fn table_update_changes_the_decision() {
    for version in [V3, V50] {
        let mut core = core(&machine(&hikey960()), version, &[]);
        set_utils(&mut core, &[0, 0, 0, 0, 43, 0, 0, 0]);
        let task = sleeper(&mut core, 1, 4, 43, 59);
        assert!(wake(&mut core, task.clone(), 4).cpu < 4, "{version}");
        let bad = core.update_energy_model(0, &[(533_000, 1), (533_000, 2)]);
        assert!(bad.is_err());
        assert!(
            wake(&mut core, task.clone(), 4).cpu < 4,
            "the old table stays"
        );
        // 4 W for the lowest state: 4000 * 59 / 462 = 510 mW against 36.
        core.update_energy_model(0, &[(1_844_000, 4_000_000)])
            .expect("a good table");
        let choice = wake(&mut core, task, 4);
        assert_eq!(
            (choice.cpu, choice.reason),
            (4, Reason::EnergyPrev),
            "{version}"
        );
    }
}

// ------------------------------------------------------------------------------- overutilized

/// Puts the same random situation into both cores.
fn random_situation(rng: &mut Rng, cores: &mut [&mut Core; 2]) -> (Task, Task, u32) {
    let seed = rng.next();
    for core in cores.iter_mut() {
        let mut rng = Rng(seed);
        freeze(core);
        for cpu in 0..8 {
            make_idle(core, cpu);
            if rng.one_in(2) {
                make_busy(core, cpu);
            }
            let full = core.cpu(cpu).load.capacity_orig;
            let c = core.cpu_mut(cpu);
            c.load.avg.util_avg = rng.range(0, full);
            c.load.avg.load_avg = rng.range(0, 2048);
            c.load.avg.runnable_avg = rng.range(0, c.load.avg.load_avg);
            c.load.util_est = rng.range(0, full);
            c.idle.idle_exit_latency_us = rng.range(0, 2) * 100;
            c.idle.idle_stamp_ns = u64::from(rng.range(0, 5));
            c.idle.idle_waker = sys::wp_waker::default();
            c.idle.idle_waker.flip_decay_ns = NOW;
            c.idle.idle_waker.wakee_flips = rng.range(0, 40);
        }
    }
    let prev = rng.range(0, 7);
    let (util, est) = (rng.range(0, 700), rng.range(0, 700));
    let mut task = sleeper(cores[0], 1, prev, util, est);
    task.raw_mut().waker.wakee_flips = rng.range(0, 10);
    task.raw_mut().waker.recent_used_cpu = rng.range(0, 7);
    (task.clone(), task, rng.range(0, 7))
}

/// Goal: with the overutilized flag set the result equals the kernel without energy awareness.
/// Source: docs/rules/energy-numbers.md#energy-statements, fourth statement;
/// docs/rules/energy-aware.md#overutilized.
#[test]
fn overutilized_equals_plain() {
    let facts = machine(&hikey960());
    for version in [V3, V50] {
        let mut plain = core(&facts, "linux-4.17", &[]);
        let mut eas = core(&facts, version, &[]);
        let mut rng = Rng(7);
        let mut slow = 0;
        for round in 0..20_000 {
            let (a, b, this) = random_situation(&mut rng, &mut [&mut plain, &mut eas]);
            eas.state_mut().overutilized = 1;
            let want = wake(&mut plain, a, this);
            let got = wake(&mut eas, b, this);
            assert_eq!(got, want, "{version} round {round}");
            slow += u32::from(got.rule == Rule::SlowPath);
        }
        assert!(
            (1000..19_000).contains(&slow),
            "both paths are exercised: {slow}"
        );
    }
}
