//! The energy-aware wake-up in its form of 6.12 to 7.3, against docs/rules/energy-numbers.md.
//!
//! What must stay: deltas and costs are those of docs/rules/energy-numbers.md or worked at the
//! test; they are exact, so a rounding of the core may not change. Landscapes are of
//! eas_vectors.csv. It covers policy/src/energy/energy_delta.c, energy_util.c and energy_model.c.
//! Free: how helpers build a machine, and state that the rule does not read.
//! Tests by part: `eas_vector_rows`, `too_big_for_little_goes_big`, `small_task_and_equal_cpus`,
//! `zero_util_stays`, `prev_not_allowed_or_nothing_fits`, `no_margin`,
//! `lower_with_the_task_keeps_prev` (`wp_find_energy_efficient_cpu`, `wp_delta_visit`,
//! `wp_delta_choose`); `inefficient_state_is_skipped`, `an_inefficient_state_stays_marked`
//! (`wp_em_compute_costs`, `wp_em_cpufreq_update_efficiencies`); `limits_of_a_domain`
//! (`wp_em_update_performance_limits`); `runnable_boost`, `a_task_brings_its_waiting`
//! (`wp_cpu_util`, `wp_eenv_pd_max_util`); `other_classes_count`, `pressure_bounds_domain`
//! (`wp_compute_energy`); `hints_rank_candidates`, `hints_of_the_queue` (`wp_delta_hints`,
//! `wp_delta_fits`); `each_condition_off_deactivates`, `external_governor` (`wp_energy_condition`);
//! `bypasses` (`wp_select_task_rq_fair`); `no_common_asymmetric_domain` (`wp_energy_dom`);
//! `overutilized_thresholds`, `overutilized_and_hints` (`wp_cpu_overutilized`); `versions` (the
//! eras); `artificial_models_have_costs_of_their_own`, `artificial_costs_decide`
//! (`wp_em_compute_costs`).
//! Helpers, and who fails with them: `set_utils`, `wake` (most tests, `eas_vector_rows` among
//! them); `candidates` (11 tests, `eas_vector_rows` among them); `hikey` (12 tests,
//! `small_task_and_equal_cpus` among them); `landscape`, `parse_log` (`eas_vector_rows`);
//! `rule_of_small_task` (`each_condition_off_deactivates`, `external_governor`).

use crate::common;

use common::{
    Cluster, ask, cluster, core, doc_example, freeze, hikey960, machine, make_busy, policy,
    sleeper, table,
};
use wakeplace_policy_sys::{
    Choice, Core, LevelFacts, MachineFacts, PlaceKind, Reason, Rule, Task, sys,
};

const ERA: &str = "linux-7.3";

/// Queue utilisations of a landscape in which all is up to date.
fn set_utils(core: &mut Core, utils: &[u32]) {
    freeze(core);
    for (cpu, util) in utils.iter().enumerate() {
        core.cpu_mut(cpu as u32).load.avg.util_avg = *util;
    }
}

fn wake(core: &mut Core, task: &Task, this_cpu: u32) -> Choice {
    let prev = task.cpu();
    let mut tasks = [task.clone()];
    core.select_cpu(&mut tasks, 0, &ask(PlaceKind::Wake, this_cpu, prev))
}

/// (CPU, delta) in the order in which they were looked at.
fn candidates(core: &Core) -> Vec<(u32, u64)> {
    let all = core.candidates();
    all.map(|c| (c.cpu, c.energy.expect("an estimate")))
        .collect()
}

/// HiKey960 with these utilisations, and a task of (util, est, prev).
fn hikey(utils: &[u32], task: (u32, u32, u32)) -> (Core, Task) {
    let mut core = core(&machine(&hikey960()), ERA, &[]);
    set_utils(&mut core, utils);
    let task = sleeper(&mut core, 1, task.2, task.0, task.1);
    (core, task)
}

// ------------------------------------------------------------------------------- eas_vectors.csv

/// Utilisations and (util, est, prev) of the landscapes of
/// docs/rules/energy-numbers.md#doc-platform and docs/rules/energy-numbers.md#hikey960-decisions.
fn landscape(name: &str) -> (Vec<Cluster>, Vec<u32>, (u32, u32, u32)) {
    let hk = |utils: [u32; 8], task| (hikey960(), utils.to_vec(), task);
    match name {
        "doc_example2_P200_prev0" => (doc_example(), vec![400, 100, 600, 500], (200, 200, 0)),
        "hk_idle_5pct_prev_big" => hk([0, 0, 0, 0, 43, 0, 0, 0], (43, 59, 4)),
        "hk_idle_5pct_prev_little" => hk([43, 0, 0, 0, 0, 0, 0, 0], (43, 59, 0)),
        "hk_10tasks_on_little_prev_big" => hk([129, 129, 86, 86, 43, 0, 0, 0], (43, 59, 4)),
        "hk_little_300_prev_big" => hk([300, 300, 300, 300, 43, 0, 0, 0], (43, 59, 4)),
        "hk_task300_prev_little" => hk([300, 0, 0, 0, 0, 0, 0, 0], (300, 300, 0)),
        "hk_task369_prev_little" => hk([369, 0, 0, 0, 0, 0, 0, 0], (369, 369, 0)),
        "hk_task370_prev_little" => hk([370, 0, 0, 0, 0, 0, 0, 0], (370, 370, 0)),
        "hk_opp_raise_little_vs_big" => hk([190, 190, 190, 190, 60, 0, 0, 0], (60, 60, 4)),
        "hk_opp_raise_prev_little" => hk([250, 190, 190, 190, 300, 0, 0, 0], (60, 60, 0)),
        other => panic!("no landscape {other}"),
    }
}

/// `('A73', 'prev', 4, 0, 367157, 367157, 0) | ...` as (CPU, delta), in order.
fn parse_log(log: &str) -> Vec<(u32, u64)> {
    let entries = log.split(" | ").map(|entry| {
        let fields: Vec<_> = entry.trim_matches(['(', ')']).split(", ").collect();
        let number = |at: usize| fields[at].parse::<u64>().expect("a number");
        assert_eq!(number(4) - number(3), number(5), "{entry}");
        (number(2) as u32, number(5))
    });
    entries.collect()
}

/// Goal: chosen CPU, and every CPU looked at with what the task adds there, in order. Source:
/// docs/rules/energy-numbers.md#doc-platform column 4,
/// docs/rules/energy-numbers.md#hikey960-decisions; docs/rules/energy-aware.md#energy-wake-up:
/// "6.12, docs/rules/energy-numbers.md#hikey960-decisions the same".
#[test]
fn eas_vector_rows() {
    let t = table("eas_vectors.csv");
    let mut checked = 0;
    for (row, era) in t.rows.iter().flat_map(|r| [(r, "linux-6.12"), (r, ERA)]) {
        if t.text(row, "algorithm") != "6.12" {
            continue;
        }
        let (clusters, utils, (util, est, prev)) = landscape(t.text(row, "scenario"));
        assert_eq!(t.number(row, "prev_cpu") as u32, prev);
        let mut core = core(&machine(&clusters), era, &[]);
        set_utils(&mut core, &utils);
        let task = sleeper(&mut core, 1, prev, util, est);
        let choice = wake(&mut core, &task, prev);
        assert_eq!(choice.rule, Rule::Energy, "{era} {row:?}");
        assert_eq!(
            choice.cpu,
            t.number(row, "chosen_cpu") as u32,
            "{era} {row:?}"
        );
        assert_eq!(
            candidates(&core),
            parse_log(t.text(row, "log")),
            "{era} {row:?}"
        );
        assert!(core.candidates().all(|c| c.fits == 1), "{era} {row:?}");
        checked += 1;
    }
    assert_eq!(checked, 20);
}

// ------------------------------------------------------------- energy statements and energy margin

/// Goal: a task that does not fit a little CPU leaves it. Source:
/// docs/rules/energy-numbers.md#energy-statements, first;
/// docs/rules/energy-numbers.md#hikey960-decisions row "task 370".
#[test]
fn too_big_for_little_goes_big() {
    for little in [462, 430] {
        let mut clusters = hikey960();
        clusters[0].capacity = little;
        let mut core = core(&machine(&clusters), ERA, &[]);
        set_utils(&mut core, &[600, 0, 0, 0, 0, 0, 0, 0]);
        let task = sleeper(&mut core, 1, 0, 600, 600);
        let choice = wake(&mut core, &task, 0);
        let got = (choice.cpu, choice.reason);
        assert_eq!(got, (4, Reason::EnergyPrevUnfit), "{little}");
    }
}

/// Goal: a small task leaves an idle big CPU; in its own domain another CPU must have more room
/// than prev. Source: docs/rules/energy-numbers.md#energy-statements, second and third;
/// docs/rules/energy-aware.md#energy-wake-up (spare above that of prev).
#[test]
fn small_task_and_equal_cpus() {
    let (mut core, task) = hikey(&[0, 0, 0, 0, 43, 0, 0, 0], (43, 59, 4));
    let choice = wake(&mut core, &task, 4);
    assert_eq!((choice.cpu, choice.reason), (0, Reason::EnergyBest));
    // CPU 2 has most room among the little ones; equal room: the lowest number.
    for (utils, cpu) in [([100, 100, 50, 100], 2), ([100, 50, 50, 50], 1)] {
        let mut all = utils.to_vec();
        all.extend([43, 0, 0, 0]);
        let (mut core, task) = hikey(&all, (43, 59, 4));
        assert_eq!(wake(&mut core, &task, 4).cpu, cpu);
    }
    // Equal room: prev, and the others of its domain are not even looked at.
    let (mut core, task) = hikey(&[0, 0, 0, 43, 0, 0, 0, 0], (43, 59, 3));
    let choice = wake(&mut core, &task, 3);
    assert_eq!((choice.cpu, choice.reason), (3, Reason::EnergyPrev));
    assert_eq!(candidates(&core), [(4, 367_157), (3, 127_440)]);
}

/// Goal: a task without utilisation stays, unless it wishes for performance. Source:
/// docs/rules/energy-numbers.md#energy-statements fifth, docs/rules/energy-aware.md#energy-wake-up.
#[test]
fn zero_util_stays() {
    let (mut core, mut task) = hikey(&[462, 0, 0, 0, 0, 0, 0, 0], (0, 0, 0));
    let choice = wake(&mut core, &task, 4);
    assert_eq!((choice.cpu, choice.reason), (0, Reason::EnergyZeroUtil));
    core.task_set_uclamp(&mut task, 500, 1024);
    let choice = wake(&mut core, &task, 4);
    assert_ne!(choice.reason, Reason::EnergyZeroUtil);
    assert!(choice.cpu >= 4, "only a big CPU performs at 500");
}

/// Goal: a forbidden prev is no candidate; without candidates the wake-up code takes an allowed
/// CPU; nothing fits: prev. Source: docs/rules/energy-numbers.md#energy-statements, last;
/// docs/rules/energy-aware.md#energy-wake-up.
#[test]
fn prev_not_allowed_or_nothing_fits() {
    let (mut core, mut task) = hikey(&[43, 0, 0, 0, 0, 0, 0, 0], (43, 59, 0));
    task.set_allowed(Some(&[1, 2, 5]), 8);
    let choice = wake(&mut core, &task, 0);
    assert_eq!((choice.cpu, choice.reason), (1, Reason::EnergyPrevUnfit));
    assert!(candidates(&core).iter().all(|c| c.0 != 0));
    for (allowed, cpu, reason) in [
        ([2, 3], 2, Reason::NotAllowed),
        ([0, 3], 0, Reason::EnergyNothingFits),
    ] {
        let mut task = sleeper(&mut core, 1, 0, 900, 900);
        task.set_allowed(Some(&allowed), 8);
        let choice = wake(&mut core, &task, 0);
        assert_eq!((choice.cpu, choice.reason), (cpu, reason));
    }
}

/// Goal: no margin: any strictly smaller delta moves the task, a tie does not. Source:
/// docs/rules/energy-numbers.md#energy-margin. A 256 task on CPU 1: cost 400000 * 10 / 1024 = 3906;
/// on CPU 0 the power is chosen around it.
#[test]
fn no_margin() {
    for (power_uw, cost, cpu) in [(199_936, 3905, 0), (199_988, 3906, 1), (200_039, 3907, 1)] {
        let one = |capacity, power_uw| Cluster {
            cpus: 1,
            capacity,
            states: vec![(1_000_000, power_uw)],
        };
        let facts = machine(&[one(512, power_uw), one(1024, 400_000)]);
        let mut core = core(&facts, ERA, &[]);
        set_utils(&mut core, &[0, 256]);
        let task = sleeper(&mut core, 1, 1, 256, 256);
        let choice = wake(&mut core, &task, 1);
        assert_eq!(candidates(&core), [(1, 3906 * 256), (0, cost * 256)]);
        assert_eq!(choice.cpu, cpu, "{cost}");
    }
}

// ----------------------------------------------------------- energy model tables and em_cpu_energy

/// Goal: an inefficient state is skipped. Source: docs/rules/energy-aware.md#inefficient-states:
/// perf 200/100 mW, 400/190 mW, 600/400 mW -> costs 5000, 4750, 6666; util 100 uses state 1.
#[test]
fn inefficient_state_is_skipped() {
    let small = Cluster {
        cpus: 2,
        capacity: 600,
        states: vec![(200_000, 100_000), (400_000, 190_000), (600_000, 400_000)],
    };
    let mut core = core(&machine(&[small, cluster(2, 1024)]), ERA, &[]);
    set_utils(&mut core, &[100, 0, 0, 0]);
    let task = sleeper(&mut core, 1, 0, 100, 100);
    wake(&mut core, &task, 0);
    assert!(candidates(&core).contains(&(0, 4750 * 100)));
    // The frequency follows: 100 asks for 125/600 of 600 MHz, and 200 MHz is skipped, too
    // (docs/rules/capacity.md#schedutil).
    core.cpu_mut(0).load.nr_removed = 1;
    assert!(core.update_blocked(0, common::NOW).freq());
    assert_eq!(core.freq_request(0), 1);
}

/// Goal: a state that was found inefficient once stays marked when its power is what it was before,
/// for the estimate and for the frequency. Source: docs/rules/energy-aware.md#inefficient-states: a
/// new table is a duplicate of the one in force, marks included. 48000 uW * 10 / 133 = 3609, more
/// than the 2813 of the next state (docs/rules/energy-numbers.md#em-numbers).
#[test]
fn an_inefficient_state_stays_marked() {
    for era in ["linux-6.12", ERA] {
        let mut core = core(&machine(&hikey960()), era, &[]);
        let marks = |core: &Core| {
            let pd = &core.state().perf_doms[0];
            let states = pd.table[pd.live as usize].state[..5].iter();
            let marked: Vec<u32> = states.map(|s| s.inefficient).collect();
            (marked, core.state().freq_doms[0].inefficient_opps)
        };
        assert_eq!(marks(&core), (vec![0; 5], 0), "{era}");
        for power_uw in [48_000, 28_728] {
            let mut states = hikey960()[0].states.clone();
            states[0].1 = power_uw;
            core.update_energy_model(0, &states).expect("a table");
            assert_eq!(marks(&core), (vec![1, 0, 0, 0, 0], 1), "{era} {power_uw}");
        }
        // So 43 with estimate 59 takes the second state: 2813, not 2160.
        set_utils(&mut core, &[0, 0, 0, 0, 43, 0, 0, 0]);
        let task = sleeper(&mut core, 1, 4, 43, 59);
        wake(&mut core, &task, 4);
        assert!(candidates(&core).contains(&(0, 2813 * 59)), "{era}");
        // A table of other states is no duplicate. What cpufreq was told stays.
        let states: Vec<_> = hikey960()[0].states[1..].to_vec();
        core.update_energy_model(0, &states).expect("a table");
        let (marked, skipped) = marks(&core);
        assert_eq!((&marked[..4], skipped), (&[0; 4][..], 1), "{era}");
    }
}

/// Goal: limits of the hardware bound the search for a state; a wrong limit changes nothing.
/// Source: docs/rules/energy-aware.md#em-tables (7.3). Costs of
/// docs/rules/energy-numbers.md#em-numbers.
#[test]
fn limits_of_a_domain() {
    let (mut core, task) = hikey(&[43, 0, 0, 0, 0, 0, 0, 0], (43, 59, 0));
    let mut delta = |limits: Option<(u32, u32)>, ok| {
        if let Some((from, to)) = limits {
            assert_eq!(core.limit_energy_model(0, from, to).is_ok(), ok);
        }
        wake(&mut core, &task, 0);
        let found = candidates(&core).into_iter().find(|c| c.0 == 0);
        found.expect("prev is looked at").1 / 59
    };
    assert_eq!(delta(None, true), 2160);
    assert_eq!(delta(Some((1_402_000, 1_709_000)), true), 3558);
    for wrong in [(533_000, 1_709_001), (1, 999_000), (999_000, 533_000)] {
        assert_eq!(delta(Some(wrong), false), 3558);
    }
    assert_eq!(delta(Some((533_000, 533_000)), true), 2160);
    // A task of 300 needs 375, more than the 351 allowed: the highest allowed state.
    let (mut core, task) = hikey(&[300, 0, 0, 0, 0, 0, 0, 0], (300, 300, 0));
    let limited = core.limit_energy_model(0, 533_000, 1_402_000);
    limited.expect("frequencies of the table");
    wake(&mut core, &task, 0);
    assert!(candidates(&core).contains(&(0, 3558 * 300)));
}

// ------------------------------------------------------------ util of candidate and compute energy

/// Goal: time in the queue raises the frequency, not the busy time. Source:
/// docs/rules/energy-aware.md#util-of-candidate. CPU 1 shows util 100, runnable 300: 300 + 75 = 375
/// needs the state of 428, cost 4392, before and after: delta 4392 * 59; without it 2160 * 59.
#[test]
fn runnable_boost() {
    for (runnable, delta) in [(300, 4392 * 59), (100, 2160 * 59)] {
        let (mut core, task) = hikey(&[43, 100, 0, 0, 0, 0, 0, 0], (43, 59, 0));
        core.cpu_mut(1).load.avg.runnable_avg = runnable;
        wake(&mut core, &task, 0);
        assert!(candidates(&core).contains(&(0, delta)), "{runnable}");
    }
}

/// Goal: a task takes its time in the queue along. Source: cpu_util() of 6.12.117 and 7.3.4,
/// docs/rules/energy-aware.md#util-of-candidate. Utilisation 43, runnable 300, estimate 59: on idle
/// CPU 0 max(43, 300) + 75 = 375 needs the state of 428, cost 4392.
#[test]
fn a_task_brings_its_waiting() {
    let (mut core, mut task) = hikey(&[0, 0, 0, 0, 43, 0, 0, 0], (43, 59, 4));
    core.cpu_mut(4).load.avg.runnable_avg = 300;
    task.raw_mut().avg.runnable_avg = 300;
    wake(&mut core, &task, 4);
    assert!(candidates(&core).contains(&(0, 4392 * 59)));
}

/// Goal: RT, deadline and interrupt time count. Source: docs/rules/energy-aware.md#compute-energy,
/// docs/rules/capacity.md#schedutil.
#[test]
fn other_classes_count() {
    // Interrupts of 46 on prev: the task adds 59 * 416 / 462 = 53; state 133 with and without.
    let (mut core, task) = hikey(&[43, 0, 0, 0, 0, 0, 0, 0], (43, 59, 0));
    core.cpu_mut(0).load.irq_util = 46;
    wake(&mut core, &task, 0);
    assert!(candidates(&core).contains(&(0, 2160 * 53)));
    // Deadline time of 300 on CPU 1: 300 + 75 = 375, the state of 428.
    let (mut core, task) = hikey(&[43, 0, 0, 0, 0, 0, 0, 0], (43, 59, 0));
    core.cpu_mut(1).load.dl_util = 300;
    wake(&mut core, &task, 0);
    assert!(candidates(&core).contains(&(0, 4392 * 59)));
    // RT time of 100: 125 stays in the lowest state; a queued RT task asks for the top one.
    for (runnable, cost) in [(0, 2160), (1, 5312)] {
        let (mut core, task) = hikey(&[43, 0, 0, 0, 0, 0, 0, 0], (43, 59, 0));
        core.cpu_mut(1).load.rt_util = 100;
        core.cpu_mut(1).queue.rt_runnable = runnable;
        wake(&mut core, &task, 0);
        assert!(candidates(&core).contains(&(0, cost * 59)), "{runnable}");
    }
}

/// Goal: pressure bounds the state and the domain's busy time. Source:
/// docs/rules/energy-aware.md#compute-energy. A73 at 1805 of 2362 MHz: pressure 242, 782 left. With
/// three of the four CPUs full and the task on the fourth, busy 3 * 1024 + 50 is above 4 * 782 =
/// 3128 with the task (3122 + 59), so it adds 6 at the state of 782, cost 10282.
#[test]
fn pressure_bounds_domain() {
    let (mut core, task) = hikey(&[0, 0, 0, 0, 93, 1024, 1024, 1024], (43, 59, 4));
    for cpu in 4..8 {
        core.cpu_mut(cpu).load.pressure = 242;
    }
    wake(&mut core, &task, 4);
    assert!(candidates(&core).contains(&(4, 10282 * 6)));
}

// ------------------------------------------------------------------------------- hints

/// Goal: a CPU that meets the wish for performance comes before one that does not, whatever it
/// costs; if none does, the one with most capacity. Source:
/// docs/rules/energy-aware.md#energy-wake-up, docs/rules/capacity.md#util-fits-cpu.
#[test]
fn hints_rank_candidates() {
    let (mut core, mut task) = hikey(&[43, 0, 0, 0, 0, 0, 0, 0], (43, 59, 0));
    core.task_set_uclamp(&mut task, 600, 1024);
    let choice = wake(&mut core, &task, 0);
    assert_eq!((choice.cpu, choice.reason), (4, Reason::EnergyHint));
    let fits: Vec<_> = core.candidates().map(|c| (c.cpu, c.fits)).collect();
    assert_eq!(fits, [(4, 1), (0, -1)]);
    // 900 is left of each big CPU: 1000 is nowhere.
    core.task_set_uclamp(&mut task, 1000, 1024);
    for cpu in 4..8 {
        core.cpu_mut(cpu).load.pressure = 124;
    }
    let choice = wake(&mut core, &task, 0);
    assert_eq!((choice.cpu, choice.reason), (4, Reason::EnergyBiggest));
    assert!(core.candidates().all(|c| c.fits == -1));
    // The same with prev on a big one: nothing is bigger.
    let (mut core, mut task) = hikey(&[0, 0, 0, 0, 43, 0, 0, 0], (43, 59, 4));
    core.task_set_uclamp(&mut task, 1000, 1024);
    for cpu in 4..8 {
        core.cpu_mut(cpu).load.pressure = 124;
    }
    let choice = wake(&mut core, &task, 4);
    assert_eq!((choice.cpu, choice.reason), (4, Reason::EnergyPrev));
}

/// Goal: the hints of the tasks already queued count with the task's own; an idle queue's do not.
/// Source: docs/rules/energy-aware.md#energy-wake-up ("max of rq's (if rq not idle) and p's"),
/// docs/rules/energy-aware.md#compute-energy.
#[test]
fn hints_of_the_queue() {
    // A task bounded to 200 is made to fit any CPU, beside nobody.
    let (mut core, mut task) = hikey(&[0; 8], (400, 400, 7));
    core.task_set_uclamp(&mut task, 0, 200);
    core.cpu_mut(7).load.avg.util_avg = 400;
    let choice = wake(&mut core, &task, 7);
    assert!(choice.cpu < 4, "{choice:?}");
    // Beside unbounded tasks it is not.
    for cpu in 0..4 {
        let mut other = Task::new(10 + cpu, 1024, cpu, None, 8);
        core.task_init(&mut other);
        let _ = core.enqueue_new(&mut other, cpu, common::NOW);
    }
    let choice = wake(&mut core, &task, 7);
    assert!(choice.cpu >= 4, "{choice:?}");
    // Without hints in force the bound means nothing.
    let mut plain = common::core(&machine(&hikey960()), ERA, &[("uclamp", "off")]);
    set_utils(&mut plain, &[0, 0, 0, 0, 0, 0, 0, 400]);
    assert!(wake(&mut plain, &task, 7).cpu >= 4);
}

/// Goal: an estimate that falls by adding the task keeps prev. Source:
/// docs/rules/energy-aware.md#energy-wake-up ("if d < base: return prev"). Without the task CPU 0
/// shows 300 of tasks asleep: 375, cost 4392 * 300; with it the queue's bound is the task's 100:
/// cost 2160 * 359.
#[test]
fn lower_with_the_task_keeps_prev() {
    let (mut core, mut task) = hikey(&[343, 0, 0, 0, 0, 0, 0, 0], (43, 59, 0));
    core.task_set_uclamp(&mut task, 0, 100);
    let choice = wake(&mut core, &task, 0);
    assert_eq!((choice.cpu, choice.reason), (0, Reason::EnergyUnclear));
}

// ------------------------------------------------------------------------------- activation

fn rule_of_small_task(core: &mut Core) -> Rule {
    set_utils(core, &[0, 0, 0, 0, 43, 0, 0, 0]);
    let task = sleeper(core, 1, 4, 43, 59);
    wake(core, &task, 4).rule
}

/// Goal: each condition off means the normal path, and the core says why. Source:
/// docs/rules/energy-aware.md#energy-conditions.
#[test]
fn each_condition_off_deactivates() {
    let full = machine(&hikey960());
    let mut active = core(&full, ERA, &[]);
    assert_eq!(rule_of_small_task(&mut active), Rule::Energy);
    let inactive = |facts: &MachineFacts, overrides: &[(&str, &str)], why: Option<&str>| {
        let mut core = core(facts, ERA, overrides);
        assert_eq!(core.energy_inactive(), why);
        assert_ne!(rule_of_small_task(&mut core), Rule::Energy, "{why:?}");
    };
    inactive(&full, &[("energy_aware", "off")], None);
    let mut facts = full.clone();
    facts.perf_domains[0].cpus.pop();
    inactive(&facts, &[], Some("a CPU has no energy model"));
    let mut facts = full.clone();
    facts.capacity = vec![1024; 8];
    inactive(&facts, &[], Some("all CPUs have the same capacity"));
    let mut facts = full.clone();
    facts.levels[0].shares_capacity = true;
    inactive(&facts, &[], Some("the CPUs have several threads"));
    let why = Some("the governor is not schedutil");
    inactive(&full, &[("governor", "performance")], why);
    // The limit on the estimate's cost is gone (docs/rules/energy-aware.md#energy-conditions).
    let complexity = active.state().params.energy_max_complexity;
    assert_eq!(complexity, 0);
}

/// Goal: where the kernel sets the frequencies, its governor is what counts. Source:
/// docs/rules/energy-aware.md#energy-conditions.
#[test]
fn external_governor() {
    for (schedutil, rule) in [(1, Rule::Energy), (0, Rule::IdleSibling)] {
        let mut core = core(&machine(&hikey960()), ERA, &[("governor", "performance")]);
        core.state_mut().freq_external = 1;
        core.state_mut().freq_schedutil = schedutil;
        core.restart();
        assert_eq!(rule_of_small_task(&mut core), rule, "{schedutil}");
    }
}

/// Goal: fork, exec and the flag bypass the rule. Source: docs/rules/energy-aware.md#energy-bypass,
/// docs/rules/energy-numbers.md#energy-statements, fourth.
#[test]
fn bypasses() {
    for kind in [PlaceKind::Fork, PlaceKind::Exec] {
        let (mut core, task) = hikey(&[0, 0, 0, 0, 43, 0, 0, 0], (43, 59, 4));
        let choice = core.select_cpu(&mut [task], 0, &ask(kind, 4, 4));
        assert_eq!(choice.rule, Rule::SlowPath, "{kind:?}");
    }
    let (mut core, task) = hikey(&[0, 0, 0, 0, 43, 0, 0, 0], (43, 59, 4));
    core.state_mut().overutilized = 1;
    let with = wake(&mut core, &task, 4);
    let mut plain = common::core(&machine(&hikey960()), "linux-7.3-energy-aware", &[]);
    set_utils(&mut plain, &[0, 0, 0, 0, 43, 0, 0, 0]);
    assert_eq!(with, wake(&mut plain, &task, 4));
    assert_ne!(with.rule, Rule::Energy);
}

/// Goal: a CPU outside the asymmetric domain leaves the wake-up to the normal path. Source:
/// docs/rules/energy-aware.md#energy-wake-up. Two islands: CPUs 0-1 little and big with one cache,
/// 2-3 alike; 1 and 3 are big.
#[test]
fn no_common_asymmetric_domain() {
    let mut facts = machine(&[
        cluster(1, 462),
        cluster(1, 1024),
        cluster(1, 462),
        cluster(1, 1024),
    ]);
    let level = |shares_cache| LevelFacts {
        shares_cache,
        group_of: vec![0, 0, 1, 1],
        ..LevelFacts::default()
    };
    facts.levels = vec![level(true)];
    let mut core = core(&facts, ERA, &[]);
    set_utils(&mut core, &[43, 0, 0, 0]);
    let task = sleeper(&mut core, 1, 0, 43, 59);
    assert_eq!(wake(&mut core, &task, 1).rule, Rule::Energy);
    assert_ne!(wake(&mut core, &task, 2).rule, Rule::Energy);
}

// ------------------------------------------------------------------------------- tipping point

/// Goal: the flag rises at an exact 80 %. Source:
/// docs/rules/energy-numbers.md#overutilized-numbers, right column;
/// docs/rules/energy-aware.md#overutilized-6-12.
#[test]
fn overutilized_thresholds() {
    for (little, util, over) in [
        (462, 369, false),
        (462, 370, true),
        (430, 343, false),
        (430, 344, true),
        (1024, 819, false),
        (1024, 820, true),
    ] {
        let clusters = [cluster(2, little), cluster(2, 1024), cluster(1, 200)];
        let mut core = core(&machine(&clusters), ERA, &[]);
        freeze(&mut core);
        make_busy(&mut core, 0);
        core.cpu_mut(0).load.avg.util_avg = util;
        let mut task = sleeper(&mut core, 1, 0, 0, 0);
        let _ = core.enqueue_woken(&mut task, 0, common::NOW);
        assert_eq!(core.overutilized(), over, "{little} {util}");
    }
}

/// Goal: a bounded CPU is never beyond the tipping point, a wish for performance does not count,
/// and a new task does not raise the flag. Source: docs/rules/energy-aware.md#overutilized-6-12
/// (7.3), docs/rules/energy-aware.md#overutilized.
#[test]
fn overutilized_and_hints() {
    let over = |min, max, new| {
        let mut core = core(&machine(&hikey960()), ERA, &[]);
        freeze(&mut core);
        core.cpu_mut(0).load.avg.util_avg = if min > 0 { 43 } else { 462 };
        let mut task = sleeper(&mut core, 1, 0, 0, 0);
        core.task_set_uclamp(&mut task, min, max);
        let _ = if new {
            core.enqueue_new(&mut task, 0, common::NOW)
        } else {
            core.enqueue_woken(&mut task, 0, common::NOW)
        };
        core.overutilized()
    };
    assert!(over(0, 1024, false));
    assert!(!over(0, 1024, true));
    assert!(!over(0, 462, false));
    assert!(
        over(0, 463, false),
        "a bound above the capacity bounds nothing"
    );
    assert!(!over(1024, 1024, false));
}

/// Goal: the era's version is what `+energy-aware` means, and 5.0 can still be asked for.
#[test]
fn versions() {
    let form = |name| common::policy(name, &[]).core_params().energy_aware;
    assert_eq!(form("linux-7.3"), sys::WP_ENERGY_73);
    assert_eq!(form("linux-7.3+energy-aware"), sys::WP_ENERGY_73);
    assert_eq!(form("linux-4.17+energy-aware=7.3"), sys::WP_ENERGY_73);
    assert_eq!(form("linux-7.3+energy-aware=5.0"), sys::WP_ENERGY_50);
    assert_eq!(form("linux-7.3-energy-aware"), sys::WP_ENERGY_OFF);
}

/// Goal: costs of an artificial model are taken as they are, mark inefficient states and are
/// bounded as powers are; forms before 6.1 have no such model. Source:
/// docs/rules/energy-aware.md#em-tables (scan from the top down: if cost >= the lowest so far,
/// inefficient; limits; artificial models).
#[test]
fn artificial_models_have_costs_of_their_own() {
    let mut facts = machine(&hikey960());
    facts.perf_domains[0].costs = vec![30, 20, 25, 40, 50];
    facts.perf_domains[1].costs = vec![60, 70, 80, 90, 64_000_000];
    for domain in &mut facts.perf_domains {
        domain.states.iter_mut().for_each(|state| state.1 = 0);
    }
    for (form, active) in [("v3", false), ("5.0", false), ("6.1", true), ("7.3", true)] {
        let core = Core::new(
            &facts,
            policy(&format!("linux-4.17+energy-aware={form}"), &[]).core_params(),
        )
        .expect("a model");
        let states = |pd: usize| {
            let pd = &core.state().perf_doms[pd];
            let table = &pd.table[pd.live as usize];
            let states = table.state[..5].iter();
            states.map(|s| (s.cost, s.inefficient)).collect::<Vec<_>>()
        };
        assert_eq!(
            states(0),
            [(30, 1), (20, 0), (25, 0), (40, 0), (50, 0)],
            "{form}"
        );
        assert_eq!(states(1)[4], (64_000_000, 0));
        assert_eq!(core.state().energy_active != 0, active, "{form}");
        let off = core.state().energy_off;
        assert_eq!(off == sys::WP_ENERGY_OFF_NO_MODEL, !active, "{form}");
    }
    for wrong in [0, 64_000_001] {
        facts.perf_domains[1].costs[2] = wrong;
        let error = Core::new(&facts, policy(ERA, &[]).core_params());
        let error = error.err().map(|e| e.to_string()).unwrap_or_default();
        assert!(
            error.contains("a cost is not within 1 to 64000000"),
            "{error}"
        );
    }
}

/// Goal: the costs decide, not the powers. Source: docs/rules/energy-aware.md#em-tables,
/// docs/rules/energy-aware.md#compute-energy. Method: one small task on an idle machine, previous
/// CPU big: by power it goes to the littles (docs/rules/energy-numbers.md#hikey960-decisions); with
/// costs that make little work dearer it stays.
#[test]
fn artificial_costs_decide() {
    for (little, big, on_little) in [(10, 100, true), (100, 10, false)] {
        let mut facts = machine(&hikey960());
        facts.perf_domains[0].costs = (0..5).map(|i| little + i).collect();
        facts.perf_domains[1].costs = (0..5).map(|i| big + i).collect();
        let mut core = core(&facts, ERA, &[]);
        freeze(&mut core);
        let task = sleeper(&mut core, 1, 4, 43, 59);
        assert_eq!(wake(&mut core, &task, 4).cpu < 4, on_little);
    }
}
