//! The patches of the capacity-aware series one at a time:
//! docs/rules/capacity-aware.md#capacity-aware-patches, docs/rules/capacity-aware.md,
//! docs/rules/capacity-aware.md#capacity-aware-switches and docs/rules/capacity-aware.md#tc2-walk.
//!
//! What must stay: an expected CPU or size follows from the rule that the test names, with one
//! switch changed; figures and rule change together only. It covers policy/src/placement,
//! policy/src/explain/wakeup_case.c and crates/policy-sys/src/eras/patches.rs. Free: names of
//! helpers, and state that the rule under test does not read.
//! Tests by part: `thirteen_patches` (`patches`); `a_group_of_one_needs_no_look`
//! (`wp_find_idlest_group_cpu`); `the_tasks_own_past_does_not_count`, `both_fade_alike`
//! (`wp_cpu_util_without`, `wp_idlest_by_spare`); `one_switch_off` (`wp_wake_cap`,
//! `wp_set_balance_wake`, `wp_idlest_by_spare`); `no_flag_no_asymmetry` (`wp_set_balance_wake`);
//! `pulls_off_the_big_cpus` (`wp_bigger_and_not_overloaded`); `eight_cases_on_tc2`,
//! `a_task_that_slept_is_smaller`, `more_than_two_sizes` (`wp_wakeup_case`).
//! Helpers, and who fails with them: `lone_cpus` (`a_group_of_one_needs_no_look`); `exec_of_300`
//! (`the_tasks_own_past_does_not_count`); `walk` (`one_switch_off`); `case` (`eight_cases_on_tc2`,
//! `more_than_two_sizes`).

use crate::common;

use common::{
    NOW, ask, cluster, core, freeze, machine, make_busy, make_idle, policy, sleeper, tc2,
};
use wakeplace_policy_sys::{Balance, Choice, Core, IdleKind, PlaceKind, Reason, Rule, Step, sys};

const ON: &str = "linux-4.7+asym-capacity";
const OFF: &str = "linux-4.7";

/// Goal: `policy show` knows all 13 patches, each with a switch that exists or a reason why there
/// is none; the feature turns the switches of the series on, the era before has them off but for
/// the flag, which alone does nothing. Source: docs/rules/capacity-aware.md#capacity-aware-patches
/// and docs/rules/capacity-aware.md#capacity-aware-switches, tables.
#[test]
fn thirteen_patches() {
    let on = policy(ON, &[]).patches("asym-capacity");
    let off = policy(OFF, &[]).patches("asym-capacity");
    let numbers: Vec<_> = on.iter().map(|patch| patch.number).collect();
    let series = (1..=13).map(|n| n.to_string());
    assert_eq!(numbers[..13], series.collect::<Vec<_>>());
    let keys = |number: &str| {
        let found = on.iter().find(|patch| patch.number == number);
        found.and_then(|patch| patch.switch.as_ref().map(|(key, _)| *key))
    };
    for (number, key) in [
        ("1", None),
        ("2", None),
        ("3", Some("idlest_single_cpu")),
        ("4", Some("asym_flag")),
        ("5", Some("asym_balance_wake")),
        ("6", None),
        ("7", Some("wake_cap")),
        ("8", Some("idlest_without_task")),
        ("9", Some("idlest_spare")),
        ("10", None),
        ("11", Some("asym_no_pull")),
        ("12", Some("asym_flag")),
        ("13", None),
    ] {
        assert_eq!(keys(number), key, "patch {number}");
    }
    for (with, without) in on.iter().zip(&off).take(13) {
        let Some((key, value)) = &with.switch else {
            continue;
        };
        assert_eq!(value, "on", "{key}");
        let before = &without.switch.as_ref().expect("the same").1;
        assert_eq!(before == "on", *key == "asym_flag", "{key}: {before}");
    }
    assert!(policy(ON, &[]).patches("energy-aware").is_empty());
}

/// A machine of lone CPUs whose domain has groups of one; CPU `n` is as the digit says: idle,
/// running one task, running two.
fn lone_cpus(state: [u32; 3], single: &str) -> Core {
    let clusters = [1024, 430, 700].map(|capacity| cluster(1, capacity));
    let mut core = core(&machine(&clusters), ON, &[("idlest_single_cpu", single)]);
    freeze(&mut core);
    for (cpu, tasks) in (0..).zip(state) {
        make_idle(&mut core, cpu);
        if tasks > 0 {
            make_busy(&mut core, cpu);
            let c = core.cpu_mut(cpu);
            c.queue.nr_running = tasks;
            c.load.avg.load_avg = 1024 * tasks;
            c.load.avg.runnable_avg = c.load.avg.load_avg;
            c.load.avg.util_avg = c.load.capacity_orig;
        }
    }
    core
}

/// Goal: the CPU of a group of one is the same with and without the shortcut, for every state of
/// three CPUs and each waker; with it no CPU is looked at, without it one per group chosen. Source:
/// docs/rules/capacity-aware.md#idlest-cpu.
#[test]
fn a_group_of_one_needs_no_look() {
    let (mut looked, mut chosen) = (0, 0);
    for case in 0..27 {
        let state = [case % 3, case / 3 % 3, case / 9];
        for this in 0..3 {
            for util in [100, 600] {
                let choose = |single: &str| {
                    let mut core = lone_cpus(state, single);
                    let task = sleeper(&mut core, 1, this, util, 0);
                    let choice = core.select_cpu(&mut [task], 0, &ask(PlaceKind::Exec, this, this));
                    (choice, core.compared_in_groups())
                };
                let (on, off) = (choose("on"), choose("off"));
                assert_eq!(on.0, off.0, "{state:?} {this} {util}");
                assert_eq!(on.1, 0, "{state:?} {this} {util}");
                looked += off.1;
                chosen += u32::from(off.0.reason != Reason::SlowLocal);
            }
        }
    }
    assert!(chosen > 0);
    assert_eq!(looked, chosen, "one level, one group chosen, one look");
}

/// CPU 0 is waker's and previous CPU; the other group has the utilisation given.
fn exec_of_300(here: u32, there: u32, without: &str) -> Choice {
    let facts = machine(&[cluster(1, 1024), cluster(1, 1024)]);
    let mut core = core(&facts, ON, &[("idlest_without_task", without)]);
    freeze(&mut core);
    core.cpu_mut(0).load.avg.util_avg = here;
    core.cpu_mut(1).load.avg.util_avg = there;
    let task = sleeper(&mut core, 1, 0, 300, 0);
    core.select_cpu(&mut [task], 0, &ask(PlaceKind::Exec, 0, 0))
}

/// Goal: a task of 300 that slept on an otherwise idle CPU leaves 1024 there, not 724; and never
/// less than nothing. Beside a CPU with 824 to spare: 112 * 1024 > 82400, local; 112 * 724 = 81088
/// is not, remote. Source: docs/rules/capacity-aware.md#util-without-task;
/// docs/rules/capacity-aware.md#spare-capacity.
#[test]
fn the_tasks_own_past_does_not_count() {
    let local = (0, Reason::SlowLocal);
    let remote = (1, Reason::SlowSpare);
    for (here, there, without, expected) in [
        (300, 200, "on", local),
        (300, 200, "off", remote),
        (299, 200, "on", local),  // not below 0
        (600, 200, "on", remote), // another task's 300 stay: 724
        (150, 200, "off", local), // 112 * 874 = 97888
    ] {
        let choice = exec_of_300(here, there, without);
        let got = (choice.cpu, choice.reason);
        assert_eq!(got, expected, "{here} {there} {without}");
    }
}

/// Goal: 32 periods after a task of 300 fell asleep its CPU has about 150, it too, and the CPU
/// without it 0: all 1024 to spare, as at once. Source:
/// docs/rules/capacity-aware.md#util-without-task.
#[test]
fn both_fade_alike() {
    let period_ns = 1024 * 1024;
    let facts = machine(&[cluster(1, 1024), cluster(1, 1024)]);
    let mut core = core(&facts, ON, &[]);
    freeze(&mut core);
    core.cpu_mut(0).load.avg.util_avg = 300;
    core.cpu_mut(1).load.avg.util_avg = 0;
    let mut task = sleeper(&mut core, 1, 0, 300, 0);
    // The queue was brought up to date 32 periods after the task fell asleep.
    core.cpu_mut(0).load.avg.util_avg = 150;
    task.raw_mut().avg.last_update_ns -= 32 * period_ns;
    // docs/rules/signals.md#pelt-decay: 300 times a full sum less a period
    task.raw_mut().avg.util_sum = 300 * 46_718;
    let mut tasks = [task];
    let choice = core.select_cpu(&mut tasks, 0, &ask(PlaceKind::Exec, 0, 0));
    assert_eq!((choice.cpu, choice.reason), (0, Reason::SlowLocal));
    assert!(
        tasks[0].util_avg().abs_diff(150) <= 1,
        "{}",
        tasks[0].util_avg()
    );
}

/// Case a or d of docs/rules/capacity-aware.md#tc2-walk with one switch off: prev 2, waker 3, all
/// others idle.
fn walk(util: u32, wide: bool, off: &str) -> Choice {
    let set: &[(&str, &str)] = if off.is_empty() { &[] } else { &[(off, "off")] };
    let mut core = core(&machine(&tc2()), ON, set);
    freeze(&mut core);
    for cpu in 0..5 {
        make_idle(&mut core, cpu);
    }
    make_busy(&mut core, 3);
    let mut task = sleeper(&mut core, 1, 2, util, 0);
    if wide {
        task.raw_mut().waker.wakee_flips = 10;
        let waker = &mut core.cpu_mut(3).idle.idle_waker;
        waker.wakee_flips = 100;
        waker.last_wakee = 1;
        waker.flip_decay_ns = NOW;
    }
    core.select_cpu(&mut [task], 0, &ask(PlaceKind::Wake, 3, 2))
}

/// Goal: what each switch takes away of the walks a (a big task among A7s) and d (a small one,
/// wide). Source: docs/rules/capacity-aware.md#tc2-walk a, d;
/// docs/rules/capacity-aware.md#balance-wake (without BALANCE_WAKE the search around prev);
/// docs/rules/capacity-aware.md#wake-cap; docs/rules/capacity-aware.md#spare-capacity (load alone:
/// the waker's on the A7s, none on the A15s: those, by load).
#[test]
fn one_switch_off() {
    for (off, a_slow, d_slow, a_big, d_big) in [
        ("", true, true, true, true),
        ("idlest_single_cpu", true, true, true, true),
        ("idlest_without_task", true, true, true, true),
        ("asym_no_pull", true, true, true, true),
        ("asym_flag", false, false, false, false),
        ("asym_balance_wake", false, false, false, false),
        ("wake_cap", false, true, false, true),
        ("idlest_spare", true, true, true, true),
    ] {
        let rule = |slow| {
            if slow {
                Rule::SlowPath
            } else {
                Rule::IdleSibling
            }
        };
        let a = walk(600, false, off);
        assert_eq!(
            (a.rule, a.cpu < 2),
            (rule(a_slow), a_big),
            "a without {off}: {a:?}"
        );
        let d = walk(200, true, off);
        assert_eq!(
            (d.rule, d.cpu < 2),
            (rule(d_slow), d_big),
            "d without {off}: {d:?}"
        );
        for choice in [a, d].iter().filter(|c| c.rule == Rule::SlowPath) {
            let by = if off == "idlest_spare" {
                Reason::SlowLoad
            } else {
                Reason::SlowSpare
            };
            assert_eq!(choice.reason, by, "without {off}");
        }
    }
}

/// Goal: without the flag no domain is asymmetric, whatever asks for it, and nothing else differs;
/// rdmax stays. Source: docs/rules/capacity-aware.md#asym-flag (the flag),
/// docs/rules/capacity-aware.md#balance-wake (what it leads to),
/// docs/rules/capacity-aware.md#rdmax.
#[test]
fn no_flag_no_asymmetry() {
    let of = |flag: &str| core(&machine(&tc2()), ON, &[("asym_flag", flag)]);
    let flags = |core: &Core| -> Vec<u32> {
        let n = core.state().nr_doms as usize;
        core.state().doms[..n].iter().map(|dom| dom.flags).collect()
    };
    let (with, without) = (of("on"), of("off"));
    let of_asymmetry =
        sys::WP_SD_ASYM_CPUCAPACITY | sys::WP_SD_ASYM_CPUCAPACITY_FULL | sys::WP_SD_BALANCE_WAKE;
    let rest: Vec<_> = flags(&with).iter().map(|f| f & !of_asymmetry).collect();
    assert_eq!(flags(&without), rest);
    assert!(
        flags(&with)
            .iter()
            .all(|f| f & sys::WP_SD_BALANCE_WAKE != 0)
    );
    assert_eq!((with.state().asym, without.state().asym), (1, 0));
    assert_eq!(without.cpu(0).topo.asym_level, sys::WP_NONE);
    assert_eq!(without.state().max_capacity_orig, 1024);
}

/// Goal: an idle A7 pulls one of two tasks off two A15s unless 11 and the flag it needs are there
/// (docs/rules/capacity-aware.md#tc2-walk g). Loads: 2 x 1024 on 2048 against 0, so balancing acts.
/// Source: docs/rules/capacity-aware.md#asym-no-pull.
#[test]
fn pulls_off_the_big_cpus() {
    for (off, pulls) in [("", false), ("asym_no_pull", true), ("asym_flag", true)] {
        let mut set = vec![("load_idx", "off")];
        set.extend((!off.is_empty()).then_some((off, "off")));
        let mut core = core(&machine(&tc2()), ON, &set);
        freeze(&mut core);
        for cpu in 0..2 {
            make_busy(&mut core, cpu);
            let c = core.cpu_mut(cpu);
            (c.queue.nr_running, c.queue.nr_fair, c.load.load_weight) = (1, 1, 1024);
            (
                c.load.avg.load_avg,
                c.load.avg.runnable_avg,
                c.load.avg.util_avg,
            ) = (1024, 1024, 1024);
        }
        let mut bal = Balance::default();
        bal.prepare(NOW, 3, 1, IdleKind::NewlyIdle);
        let step = core.balance_begin(&mut bal);
        assert_eq!(step == Step::Detach, pulls, "without {off}: {step:?}");
    }
}

/// Cases by sizes: number less 1, chosen CPU big, by the slow path.
fn case(board: &[common::Cluster], util: u32, this: u32, prev: u32) -> (usize, bool, bool) {
    let mut core = core(&machine(board), ON, &[]);
    freeze(&mut core);
    for cpu in 0..core.state().nr_cpus {
        make_idle(&mut core, cpu);
    }
    let mut tasks = [sleeper(&mut core, 1, prev, util, 0)];
    let request = ask(PlaceKind::Wake, this, prev);
    let choice = core.select_cpu(&mut tasks, 0, &request);
    let case = core.wakeup_case(&tasks[0], &request, choice);
    assert_eq!(
        (case.fast(), case.wake(), case.wide()),
        (!case.slow(), true, false)
    );
    (case.index(), case.cpu_big(), case.slow())
}

/// Goal: the eight cases, the task big from 345 on (more than 80 % of 430, the 2016 form); big
/// tasks near a little CPU go by the slow path, all others by the fast one. Source:
/// docs/rules/capacity-aware.md#wakeup-cases (table, invariant 1),
/// docs/rules/capacity-aware.md#fit-thresholds.
#[test]
fn eight_cases_on_tc2() {
    let (little, big) = (2, 0);
    for (at, (util, prev, this)) in [
        (344, little, little),
        (344, little, big),
        (344, big, little),
        (344, big, big),
        (345, little, little),
        (345, little, big),
        (345, big, little),
        (345, big, big),
    ]
    .into_iter()
    .enumerate()
    {
        let (index, _, slow) = case(&tc2(), util, this, prev);
        assert_eq!(index, at, "task {util}, prev {prev}, waker {this}");
        assert_eq!(slow, (4..7).contains(&at), "case {}", at + 1);
    }
}

/// Goal: the task's size is that of now, though nobody has looked at it since it fell asleep.
/// Source: docs/rules/signals.md#pelt-decay: 32 periods of 1024 us later half is left, of 688 at
/// most 344, which is not big; without the wait it is. No patch of the series asks for it here.
#[test]
fn a_task_that_slept_is_smaller() {
    for (periods, index) in [(0, 4), (32, 0)] {
        let mut core = core(&machine(&tc2()), OFF, &[]);
        freeze(&mut core);
        let mut tasks = [sleeper(&mut core, 1, 2, 688, 0)];
        let avg = &mut tasks[0].raw_mut().avg;
        avg.util_sum = 688 * 46_718;
        avg.last_update_ns = NOW - (periods << 20);
        let request = ask(PlaceKind::Wake, 2, 2);
        let choice = core.select_cpu(&mut tasks, 0, &request);
        let case = core.wakeup_case(&tasks[0], &request, choice);
        assert_eq!(case.index(), index, "{periods}");
    }
}

/// Goal: of three sizes only the biggest is big, with what is within an eighth of it (896 is not,
/// 897 is: the gate of wake_cap), and a task is big if it fits none of the others, here 700: from
/// 561 on. A machine of one size has no big tasks. Source: docs/rules/capacity-aware.md#wake-cap
/// (a), in the form of docs/rules/capacity-aware.md#fit-thresholds;
/// docs/rules/capacity-aware.md#patch-by-patch.
#[test]
fn more_than_two_sizes() {
    let three = [300, 700, 1024].map(|capacity| cluster(2, capacity));
    assert_eq!(case(&three, 560, 0, 2).0, 0, "300 and 700 are little");
    assert_eq!(case(&three, 561, 0, 2).0, 4);
    assert_eq!(case(&three, 561, 4, 2).0, 5);
    for (capacity, index) in [(896, 0), (897, 3)] {
        let near = [capacity, 1024].map(|capacity| cluster(2, capacity));
        assert_eq!(case(&near, 100, 0, 0).0, index, "{capacity}");
    }
    let same = [cluster(2, 1024), cluster(2, 1024)];
    assert_eq!(case(&same, 1000, 0, 2), (3, true, false));
}
