//! Capacity-aware wake-ups: 000_vectors.csv and the walks of
//! docs/rules/capacity-aware.md#capacity-aware-numbers.
//!
//! What must stay: rows are read from tests/data/000_vectors.csv, which another program computed
//! (tests/data/README.md): never change a row to suit the core. Every rule of the file must have a
//! test. Free: how rows are read.
//! Tests by part: `every_rule_of_the_file_is_tested` (the file itself); `wake_cap_rows`
//! (`wp_wake_cap`, `wp_about_biggest`); `idlest_group_spare_rows`, `idlest_group_spare_margin`,
//! `forks_go_by_spare_capacity_as_posted`, `idlest_spare_off_goes_by_load` (`wp_idlest_by_spare`,
//! `wp_find_idlest_group_5_4`); `fit_threshold_rows`, `overutilized_table` (`wp_cpu_overutilized`);
//! `reject_pull_rows`, `third_task_on_a15_may_be_pulled` (`wp_bigger_and_not_overloaded`);
//! `wakeup_walk_on_tc2`, `prev_argument_counts` (`wp_select_task_rq_fair`); `idlest_cpu_of_a_group`
//! (`wp_find_idlest_group_cpu`).
//! Helpers, and who fails with them: `input`, `rows_of` (5 tests, `wake_cap_rows` among them);
//! `overutilized` (`fit_threshold_rows`, `overutilized_table`); `pulls` (`reject_pull_rows`);
//! `walk` (`wakeup_walk_on_tc2`); `a15_loaded` (`third_task_on_a15_may_be_pulled`).
#![allow(
    unused_must_use,
    reason = "what an event leads to is not the point here"
)]

use crate::common;

use common::{
    Table, ask, cluster, core, freeze, machine, make_busy, make_idle, sleeper, table, tc2,
};
use wakeplace_policy_sys::{Balance, Choice, Core, IdleKind, PlaceKind, Reason, Rule, Step};

/// `name=value` in the inputs column.
fn input(t: &Table, row: &[String], name: &str) -> u32 {
    let pairs = t
        .text(row, "inputs")
        .split(' ')
        .map(|p| p.split_once('=').expect("a pair"));
    let found = pairs.into_iter().find(|p| p.0 == name);
    found.expect("the input").1.parse().expect("a number")
}

fn rows_of<'a>(t: &'a Table, rule: &str) -> Vec<&'a Vec<String>> {
    let rows: Vec<_> = t
        .rows
        .iter()
        .filter(|r| t.text(r, "rule") == rule)
        .collect();
    assert!(!rows.is_empty(), "no rows of {rule}");
    rows
}

/// Goal: nobody adds a rule to the file that no test here reads.
#[test]
fn every_rule_of_the_file_is_tested() {
    let t = table("000_vectors.csv");
    let known = [
        "wake_cap",
        "find_idlest_group_spare",
        "reject_pull",
        "largest_util_fits_capacity",
        "smallest_util_unfit_2018",
    ];
    assert!(t.rows.iter().all(|r| known.contains(&t.text(r, "rule"))));
}

/// Goal: waker or prev too small for the task means the slow path. Source:
/// docs/rules/capacity-aware.md#wake-cap, docs/rules/capacity-aware.md#wake-cap-numbers. CPU 0
/// wakes, CPU 1 is prev, CPU 2 gives the root domain its largest capacity; a package level over
/// three lone CPUs, so that `wake_cap` alone decides between the two paths.
#[test]
fn wake_cap_rows() {
    let t = table("000_vectors.csv");
    for row in rows_of(&t, "wake_cap") {
        let capacities = ["this_orig", "prev_orig", "rd_max"].map(|name| input(&t, row, name));
        let mut core = core(
            &machine(&capacities.map(|c| cluster(1, c))),
            "linux-4.17",
            &[],
        );
        freeze(&mut core);
        let task = sleeper(&mut core, 1, 1, input(&t, row, "task_util"), 0);
        let choice = core.select_cpu(&mut [task], 0, &ask(PlaceKind::Wake, 0, 1));
        let expected = match t.text(row, "expected") {
            "1" => Rule::SlowPath,
            _ => Rule::IdleSibling,
        };
        assert_eq!(choice.rule, expected, "{row:?}");
    }
}

/// Goal: spare capacity chooses the group, within the margin; a fork and too little spare go by
/// load. Source: docs/rules/capacity-aware.md#spare-capacity,
/// docs/rules/capacity-aware.md#spare-capacity-numbers. CPU 0 is the local group, CPU 1 the other
/// one; the load comparison would always choose CPU 1, so the three outcomes show as three reasons.
#[test]
fn idlest_group_spare_rows() {
    let t = table("000_vectors.csv");
    for row in rows_of(&t, "find_idlest_group_spare") {
        let of = |name| input(&t, row, name);
        let pct = of("pct").to_string();
        let facts = machine(&[cluster(1, 1024), cluster(1, 1024)]);
        let mut core = core(&facts, "linux-4.17", &[("imbalance_pct", &pct)]);
        freeze(&mut core);
        let util = of("task_util");
        // The task's blocked share is part of CPU 0, where it ran last
        // (docs/rules/capacity-aware.md#util-without-task).
        core.cpu_mut(0).load.avg.util_avg = 1024 - of("local") + util;
        core.cpu_mut(1).load.avg.util_avg = 1024 - of("best_other");
        core.cpu_mut(0).load.avg.load_avg = 4000;
        core.cpu_mut(0).load.avg.runnable_avg = 4000;
        let task = sleeper(&mut core, 1, 0, util, 0);
        let kind = if of("fork") == 1 {
            PlaceKind::Fork
        } else {
            PlaceKind::Exec
        };
        let choice = core.select_cpu(&mut [task], 0, &ask(kind, 0, 0));
        let expected = match t.text(row, "expected") {
            "local" => (0, Reason::SlowLocal),
            "" => (1, Reason::SlowLoad),
            _ => (1, Reason::SlowSpare),
        };
        assert_eq!((choice.cpu, choice.reason), expected, "{row:?}");
    }
}

/// Goal: the series as posted has no test of forks: CPU 0 has the load and more to spare, so load
/// would send a new task away and spare capacity keeps it. Source:
/// docs/rules/capacity-aware.md#spare-capacity, by hand: 112 * 824 > 100 * 400 and 824 > 0.
#[test]
fn forks_go_by_spare_capacity_as_posted() {
    let kept = [
        ("off", (1, Reason::SlowLoad)),
        ("on", (0, Reason::SlowLocal)),
    ];
    for (as_posted, expected) in kept {
        let facts = machine(&[cluster(1, 1024), cluster(1, 1024)]);
        let mut core = core(&facts, "linux-4.17", &[("idlest_spare_fork", as_posted)]);
        freeze(&mut core);
        core.cpu_mut(0).load.avg.util_avg = 1024 - 824;
        core.cpu_mut(1).load.avg.util_avg = 1024 - 400;
        core.cpu_mut(0).load.avg.load_avg = 4000;
        core.cpu_mut(0).load.avg.runnable_avg = 4000;
        let task = sleeper(&mut core, 1, 0, 0, 0);
        let choice = core.select_cpu(&mut [task], 0, &ask(PlaceKind::Fork, 0, 0));
        assert_eq!((choice.cpu, choice.reason), expected, "{as_posted}");
    }
}

/// Goal: the margin to the unit: 112 * 400 = 44800 is above 44700 and not above 44800. Source:
/// docs/rules/capacity-aware.md#spare-capacity-numbers, rows 400/447 and 400/448 (the file has 448
/// and 449).
#[test]
fn idlest_group_spare_margin() {
    for (other, expected) in [(447, (0, Reason::SlowLocal)), (448, (1, Reason::SlowSpare))] {
        let facts = machine(&[cluster(1, 1024), cluster(1, 1024)]);
        let mut core = core(&facts, "linux-4.17", &[]);
        freeze(&mut core);
        core.cpu_mut(0).load.avg.util_avg = 1024 - 400 + 200;
        core.cpu_mut(1).load.avg.util_avg = 1024 - other;
        let task = sleeper(&mut core, 1, 0, 200, 0);
        let choice = core.select_cpu(&mut [task], 0, &ask(PlaceKind::Exec, 0, 0));
        assert_eq!((choice.cpu, choice.reason), expected, "400 against {other}");
    }
}

/// Goal: with `idlest_spare` off load alone decides, whatever the spare capacity. Source:
/// docs/rules/capacity-aware.md#spare-capacity,
/// docs/rules/capacity-aware.md#capacity-aware-switches.
#[test]
fn idlest_spare_off_goes_by_load() {
    let t = table("000_vectors.csv");
    for row in rows_of(&t, "find_idlest_group_spare") {
        let facts = machine(&[cluster(1, 1024), cluster(1, 1024)]);
        let mut core = core(&facts, "linux-4.17", &[("idlest_spare", "off")]);
        freeze(&mut core);
        core.cpu_mut(0).load.avg.util_avg = 1024 - input(&t, row, "local");
        core.cpu_mut(1).load.avg.util_avg = 1024 - input(&t, row, "best_other");
        core.cpu_mut(0).load.avg.load_avg = 4000;
        core.cpu_mut(0).load.avg.runnable_avg = 4000;
        let task = sleeper(&mut core, 1, 0, 0, 0);
        let choice = core.select_cpu(&mut [task], 0, &ask(PlaceKind::Exec, 0, 0));
        assert_eq!(
            (choice.cpu, choice.reason),
            (1, Reason::SlowLoad),
            "{row:?}"
        );
    }
}

/// Does an enqueue on a CPU of this capacity and utilisation set the overutilized flag?
fn overutilized(capacity: u32, util: u32, new: bool) -> bool {
    let other = if capacity == 1024 { 512 } else { 1024 };
    let facts = machine(&[cluster(1, capacity), cluster(1, other)]);
    let mut core = core(&facts, "linux-4.17+energy-aware", &[]);
    assert_eq!(core.energy_inactive(), None);
    freeze(&mut core);
    core.cpu_mut(0).load.avg.util_avg = util;
    let mut task = sleeper(&mut core, 1, 0, 0, 0);
    if new {
        core.enqueue_new(&mut task, 0, common::NOW);
    } else {
        core.enqueue_woken(&mut task, 0, common::NOW);
    }
    core.overutilized()
}

/// Goal: the 2018 threshold on five capacities. Source:
/// docs/rules/capacity-aware.md#fit-thresholds. What fits by the form of 2019 fits by that of 2018,
/// too; this core has eras of the 2018 form only.
#[test]
fn fit_threshold_rows() {
    let t = table("000_vectors.csv");
    for row in rows_of(&t, "smallest_util_unfit_2018") {
        let (capacity, util) = (input(&t, row, "cap"), t.number(row, "expected") as u32);
        assert!(overutilized(capacity, util, false), "{row:?}");
        assert!(!overutilized(capacity, util - 1, false), "{row:?}");
    }
    for row in rows_of(&t, "largest_util_fits_capacity") {
        let (capacity, util) = (input(&t, row, "cap"), t.number(row, "expected") as u32);
        assert!(!overutilized(capacity, util, false), "{row:?}");
    }
}

/// Goal: the over-utilisation table and who may set the flag. Source:
/// docs/rules/energy-numbers.md#overutilized-numbers (2018 form),
/// docs/rules/capacity-aware.md#wake-cap: a new task's enqueue does not set it.
#[test]
fn overutilized_table() {
    for (capacity, util, flag) in [
        (462, 369, false),
        (462, 370, true),
        (430, 344, false),
        (1024, 819, false),
        (1024, 820, true),
    ] {
        assert_eq!(
            overutilized(capacity, util, false),
            flag,
            "{capacity} {util}"
        );
        assert!(
            !overutilized(capacity, util, true),
            "{capacity} {util}, new"
        );
    }
}

/// Does CPU 0 of the first cluster pull, going idle, from the second cluster?
fn pulls(row: [u32; 4], rule: &str) -> bool {
    let [running, weight, local_cap, group_cap] = row;
    let clusters = [cluster(2, local_cap), cluster(weight as usize, group_cap)];
    let mut core = core(&machine(&clusters), "linux-4.17", &[("asym_no_pull", rule)]);
    freeze(&mut core);
    for k in 0..running {
        let cpu = 2 + k % weight;
        make_busy(&mut core, cpu);
        let c = core.cpu_mut(cpu);
        c.queue.nr_running = 1 + k / weight;
        c.queue.nr_fair = c.queue.nr_running;
        c.load.load_weight = 1024 * c.queue.nr_running;
        c.load.avg.load_avg = 1024 * c.queue.nr_running;
        c.load.avg.runnable_avg = c.load.avg.load_avg;
        c.load.avg.util_avg = group_cap;
    }
    let mut bal = Balance::default();
    bal.prepare(common::NOW, 0, 1, IdleKind::NewlyIdle);
    let detach = core.balance_begin(&mut bal) == Step::Detach;
    assert!(!detach || bal.src_cpu() >= 2);
    detach
}

/// Goal: a smaller group does not pull from a bigger one that is not overloaded, and would without
/// the rule. Source: docs/rules/capacity-aware.md#asym-no-pull.
#[test]
fn reject_pull_rows() {
    let t = table("000_vectors.csv");
    for row in rows_of(&t, "reject_pull") {
        let names = ["sg_running", "sg_weight", "local_cap", "sg_cap"];
        let inputs = names.map(|name| input(&t, row, name));
        let rejected = t.text(row, "expected") == "1";
        assert!(pulls(inputs, "off"), "{row:?}: without the rule");
        assert_eq!(pulls(inputs, "on"), !rejected, "{row:?}");
    }
}

// ------------------------------------------------------------------------------- TC2 walk

const OFF: &str = "linux-4.17-asym-capacity";

/// A wake-up on TC2 (CPUs 0,1 A15; 2..=4 A7): utilisations, who is busy, task, prev, waker.
struct Walk {
    utils: [u32; 5],
    busy: &'static [u32],
    util: u32,
    prev: u32,
    waker: u32,
    wide: bool,
}

fn walk(name: &str, w: &Walk) -> Choice {
    let mut core = core(&machine(&tc2()), name, &[]);
    freeze(&mut core);
    for cpu in 0..5 {
        core.cpu_mut(cpu).load.avg.util_avg = w.utils[cpu as usize];
        make_idle(&mut core, cpu);
        if w.busy.contains(&cpu) {
            make_busy(&mut core, cpu);
        }
    }
    let mut task = sleeper(&mut core, 1, w.prev, w.util, 0);
    if w.wide {
        task.raw_mut().waker.wakee_flips = 10;
        let waker = &mut core.cpu_mut(w.waker).idle.idle_waker;
        waker.wakee_flips = 100;
        waker.last_wakee = 1;
        waker.flip_decay_ns = common::NOW;
    }
    core.select_cpu(&mut [task], 0, &ask(PlaceKind::Wake, w.waker, w.prev))
}

/// Goal: the wake-up walk, cases a to e, with the switches on and off. Source:
/// docs/rules/capacity-aware.md#tc2-walk.
#[test]
fn wakeup_walk_on_tc2() {
    let case = |utils, busy, util, prev, waker, wide| Walk {
        utils,
        busy,
        util,
        prev,
        waker,
        wide,
    };
    let a = case([0, 0, 600, 0, 0], &[3], 600, 2, 3, false);
    let on = walk("linux-4.17", &a);
    assert!(on.cpu < 2 && on.rule == Rule::SlowPath, "a: {on:?}");
    assert!(walk(OFF, &a).cpu >= 2, "a off");

    let b = case([700, 700, 600, 0, 0], &[0, 1], 600, 2, 2, false);
    let on = walk("linux-4.17", &b);
    assert!(on.cpu >= 2 && on.rule == Rule::SlowPath, "b: {on:?}");
    assert!(walk(OFF, &b).cpu >= 2, "b off");

    let c = case([0, 0, 200, 0, 0], &[3], 200, 2, 3, false);
    for name in ["linux-4.17", OFF] {
        let got = walk(name, &c);
        assert_eq!((got.cpu, got.rule), (2, Rule::IdleSibling), "c {name}");
    }

    let d = case([0, 0, 200, 0, 0], &[3], 200, 2, 3, true);
    let on = walk("linux-4.17", &d);
    assert!(on.cpu < 2 && on.reason == Reason::SlowSpare, "d: {on:?}");
    assert_eq!(walk(OFF, &d).cpu, 2, "d off");

    let e = case([600, 0, 0, 0, 0], &[1], 600, 0, 1, false);
    for name in ["linux-4.17", OFF] {
        let got = walk(name, &e);
        assert_eq!((got.cpu, got.rule), (0, Rule::IdleSibling), "e {name}");
    }
}

/// A core of TC2 whose A15s run `tasks` tasks; CPU 3 balances.
fn a15_loaded(tasks: u32) -> (Core, Balance) {
    let mut core = core(&machine(&tc2()), "linux-4.17", &[]);
    freeze(&mut core);
    for k in 0..tasks {
        let cpu = k % 2;
        make_busy(&mut core, cpu);
        let c = core.cpu_mut(cpu);
        c.queue.nr_running = 1 + k / 2;
        c.queue.nr_fair = c.queue.nr_running;
        c.load.avg.load_avg = 1024 * c.queue.nr_running;
        c.load.avg.runnable_avg = c.load.avg.load_avg;
        c.load.avg.util_avg = 1024;
    }
    let mut bal = Balance::default();
    bal.prepare(common::NOW, 3, 1, IdleKind::NewlyIdle);
    (core, bal)
}

/// Goal: two tasks on the A15s stay, the third may be pulled. Source:
/// docs/rules/capacity-aware.md#tc2-walk g, h; docs/rules/capacity-aware.md#asym-no-pull.
#[test]
fn third_task_on_a15_may_be_pulled() {
    let (mut core, mut bal) = a15_loaded(2);
    assert_eq!(core.balance_begin(&mut bal), Step::Done);
    let (mut core, mut bal) = a15_loaded(3);
    assert_eq!(core.balance_begin(&mut bal), Step::Detach);
    assert_eq!(bal.src_cpu(), 0, "the A15 with two tasks");
}

/// Goal: a decision depends on the prev argument, not on the task's recorded CPU. Source:
/// docs/rules/capacity-aware.md#prev-cpu.
#[test]
fn prev_argument_counts() {
    let mut core = core(&machine(&tc2()), "linux-4.17", &[]);
    freeze(&mut core);
    let task = sleeper(&mut core, 1, 0, 100, 0);
    make_busy(&mut core, 3);
    let choice = core.select_cpu(&mut [task], 0, &ask(PlaceKind::Wake, 3, 2));
    assert_eq!((choice.cpu, choice.rule), (2, Rule::IdleSibling));
}

/// Goal: of a group's idle CPUs the cheapest to leave, then the one idle since last; without an
/// idle one the least loaded. Source: docs/rules/capacity-aware.md#idlest-cpu.
#[test]
fn idlest_cpu_of_a_group() {
    let pick = |latency: [u32; 3], stamp: [u64; 3], busy: &[u32], load: [u32; 3]| {
        let clusters = [cluster(1, 1024), cluster(3, 1024)];
        let mut core = core(&machine(&clusters), "linux-4.17", &[]);
        freeze(&mut core);
        make_busy(&mut core, 0);
        core.cpu_mut(0).load.avg.load_avg = 9000;
        core.cpu_mut(0).load.avg.runnable_avg = 9000;
        core.cpu_mut(0).load.avg.util_avg = 1024;
        for k in 0..3 {
            let cpu = 1 + k as u32;
            if busy.contains(&cpu) {
                make_busy(&mut core, cpu);
            }
            let c = core.cpu_mut(cpu);
            c.idle.idle_exit_latency_us = latency[k];
            c.idle.idle_stamp_ns = stamp[k];
            c.load.avg.load_avg = load[k];
            c.load.avg.runnable_avg = load[k];
        }
        // Exec sees the package level only: the other levels of these CPUs do not balance execs.
        let n = core.state().nr_doms as usize;
        for dom in &mut core.state_mut().doms[..n] {
            if dom.nr_cpus == 3 {
                dom.flags &= !wakeplace_policy_sys::sys::WP_SD_BALANCE_EXEC;
            }
        }
        let task = sleeper(&mut core, 1, 0, 0, 0);
        core.select_cpu(&mut [task], 0, &ask(PlaceKind::Exec, 0, 0))
            .cpu
    };
    assert_eq!(
        pick([100, 1, 300], [9, 1, 9], &[], [0; 3]),
        2,
        "cheapest state"
    );
    assert_eq!(
        pick([100, 100, 100], [1, 2, 9], &[], [0; 3]),
        3,
        "idle since last"
    );
    assert_eq!(
        pick([1, 1, 300], [9, 9, 1], &[1, 2], [0; 3]),
        3,
        "idle before busy"
    );
    assert_eq!(
        pick([0; 3], [0; 3], &[1, 2, 3], [900, 300, 600]),
        2,
        "least loaded"
    );
    let unknown = [u32::MAX; 3];
    assert_eq!(
        pick(unknown, [1, 9, 2], &[], [0; 3]),
        2,
        "unknown state: idle since last"
    );
    assert_eq!(
        pick(unknown, [0; 3], &[2], [0; 3]),
        1,
        "idle since ever is idle, too"
    );
}
