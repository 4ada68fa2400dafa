//! sched-mc on kernels after 3.4 (docs/rules/sched-mc.md#sched-mc-patches and
//! docs/rules/sched-mc.md#mc-acceptance; docs/decisions/033): the table, placement and balancing,
//! on the newest era and on others.
//!
//! What must stay: what a core holds is the table's; placement and balancing ask the same table.
//! Eras are those of `ERAS`; a new era joins the list. It covers
//! policy/src/packing/sched_mc_pack.c, sched_mc_table.c and sched_mc_irq.c. Free: how helpers build
//! a machine; a further era in `ERAS`.
//! Tests by part: `what_a_core_holds`, `a_clock_that_the_kernel_sets` (`wp_mc_tasks_at`,
//! `wp_mc_khz`, `wp_mc_holds`); `thresholds_of_the_user` (`wp_mc_thresholds`);
//! `tasks_join_the_lowest_with_room`, `what_each_level_places` (`wp_mc_select`, `wp_mc_places`);
//! `time_of_other_classes_counts` (`wp_mc_room`); `balancing_leaves_what_has_room`
//! (`wp_mc_overfull`, `wp_mc_balances`, `wp_pack_spreads`); `idle_cpus_of_low_numbers_draw`
//! (`wp_mc_draws`, `wp_mc_lowest`); `the_leader_takes_from_the_least` (`wp_pack_leads`,
//! `wp_pack_pull`); `no_kicks_for_another_cache`, `no_useless_kicks` (`wp_surplus`,
//! `wp_mc_lower_idle`, `wp_mc_quiet`); `interrupts_leave_after_a_while` (`wp_irq_cpu`,
//! `wp_mc_out_of_use`).
//! Helpers, and who fails with them: `facts`, `made` (all tests, `what_a_core_holds` among them);
//! `loads` (most tests, `tasks_join_the_lowest_with_room` among them); `placed`
//! (`tasks_join_the_lowest_with_room`, `what_each_level_places`, `time_of_other_classes_counts`);
//! `source` (`balancing_leaves_what_has_room`, `idle_cpus_of_low_numbers_draw`).
#![allow(missing_docs, reason = "not a library")]

use crate::common;

use common::{NOW, RunsAt as _, ask, attempt, freeze, make_idle, put, queued, sleeper};
use wakeplace_policy_sys::{
    Choice, Core, FreqFacts, IdleKind, LevelFacts, MachineFacts, PlaceKind, Policy, Reason,
    SchedMcFacts, Step, Waker, sys,
};

/// The eras since 3.8 with the level.
const ERAS: [&str; 8] = [
    "linux-3.8",
    "linux-4.7",
    "linux-4.17",
    "linux-5.0",
    "linux-6.2",
    "linux-6.12",
    "linux-7.3",
    "wakeplace",
];

/// CPUs of one cache and one clock: `u8500_opp.csv` and, if it is stated, the table of the
/// Cortex-A9 (`ca9_cpu_power_table.csv` / 1024).
fn facts(cpus: u16, stated: bool) -> MachineFacts {
    MachineFacts {
        tick_ns: 4_000_000,
        capacity: vec![1024; usize::from(cpus)],
        levels: vec![LevelFacts {
            shares_cache: true,
            group_of: vec![0; usize::from(cpus)],
            ..LevelFacts::default()
        }],
        freq_domains: vec![FreqFacts {
            cpus: (0..cpus).collect(),
            opp_khz: vec![200_000, 400_000, 800_000, 1_000_000],
            transition_latency_us: 20,
        }],
        sched_mc: stated.then(|| SchedMcFacts {
            step_khz: 200_000,
            tasks: vec![4, 4, 4, 1],
            known_core: vec![true; usize::from(cpus)],
            mpidr: Vec::new(),
        }),
        ..MachineFacts::default()
    }
}

/// All CPUs idle, the clock at an operating point (1 = 400 MHz, 3 = 1000 MHz).
fn made(facts: &MachineFacts, name: &str, settings: &[(&str, &str)], opp: u32) -> Core {
    let mut policy = Policy::parse(name).unwrap_or_else(|e| panic!("{e}"));
    for (key, value) in settings {
        policy.set(key, value).unwrap_or_else(|e| panic!("{e}"));
    }
    let mut core = Core::new(facts, policy.core_params()).expect("a machine");
    freeze(&mut core);
    for cpu in 0..core.state().nr_cpus {
        make_idle(&mut core, cpu);
    }
    core.runs_at(0, opp);
    core
}

/// So many tasks on each CPU, always running.
fn loads(core: &mut Core, tasks: &[u32]) {
    for (cpu, tasks) in (0..).zip(tasks) {
        put(core, cpu, *tasks, 1024 * tasks, 900, 1024 * tasks);
    }
}

/// Asks where a small task that slept on `prev` goes.
fn placed(core: &mut Core, kind: PlaceKind, prev: u32) -> Choice {
    let task = sleeper(core, 9, prev, 20, 20);
    let mut request = ask(kind, prev, prev);
    request.waker = Waker::Idle;
    core.select_cpu(&mut [task], 0, &request)
}

const SLOW: u32 = 1;
const FAST: u32 = 3;

/// Goal: 3, P6 and P7: at 200 and 400 MHz a core holds 4 tasks, at 800 and 1000 one; the table's
/// core, and one of which the platform says nothing: 60 % of the highest frequency is between them,
/// too. Each of patches 4 to 7 off: one.
#[test]
fn what_a_core_holds() {
    for stated in [true, false] {
        for era in ERAS {
            let name = format!("{era}+sched-mc=2");
            for (opp, expected) in [(0, 4), (1, 4), (2, 1), (3, 1)] {
                let core = made(&facts(2, stated), &name, &[], opp);
                assert_eq!(core.arch_power(1), 1024 * expected, "{name} {opp} {stated}");
            }
        }
        for off in ["arch_power", "mc_arch_hook", "mc_freq_table"] {
            let core = made(
                &facts(2, stated),
                "linux-7.3+sched-mc=2",
                &[(off, "off")],
                SLOW,
            );
            assert_eq!(core.arch_power(0), 1024, "{off}");
        }
    }
}

/// Goal: 4: thresholds at run time; a clock with one frequency is never slow.
#[test]
fn thresholds_of_the_user() {
    let name = "linux-7.3+sched-mc=2";
    for stated in [true, false] {
        let held = |settings: &[_], opp| made(&facts(2, stated), name, settings, opp).arch_power(0);
        assert_eq!(held(&[("mc_tasks", "3")], SLOW), 3 * 1024);
        assert_eq!(held(&[("mc_tasks", "3")], FAST), 1024);
        assert_eq!(held(&[("mc_limit_khz", "400000")], SLOW), 1024, "not below");
        assert_eq!(held(&[("mc_limit_khz", "900000")], 2), 4 * 1024);
    }
    let mut single = facts(2, false);
    single.freq_domains[0].opp_khz = vec![1_000_000];
    assert_eq!(made(&single, name, &[], 0).arch_power(0), 1024);
    single.freq_domains.clear();
    let policy = Policy::parse(name).unwrap();
    let core = Core::new(&single, policy.core_params()).expect("a machine");
    assert_eq!(core.arch_power(0), 1024, "no clock is known");
}

/// Goal: where a kernel sets the clock only its share of the highest is known, 409 of 1024 for 400
/// of 1000 MHz; 615 is the first ratio that can be 600 MHz (614.4), where the table ends.
#[test]
fn a_clock_that_the_kernel_sets() {
    let mut core = made(&facts(2, true), "wakeplace+sched-mc=2", &[], FAST);
    core.state_mut().freq_external = 1;
    for (scale, expected) in [(204, 4), (409, 4), (613, 4), (614, 1), (819, 1), (1024, 1)] {
        core.cpu_mut(0).load.freq_scale = scale;
        assert_eq!(core.arch_power(0), expected * 1024, "{scale}");
    }
}

/// Goal: docs/rules/sched-mc.md#mc-acceptance, 2 and 3: at 400 MHz tasks join cpu0 until it has 4,
/// then cpu1; at 1000 MHz cpu0 takes one.
#[test]
fn tasks_join_the_lowest_with_room() {
    for era in ERAS {
        let name = format!("{era}+sched-mc=2");
        for (opp, tasks, expected) in [
            (SLOW, [0, 0], 0),
            (SLOW, [1, 0], 0),
            (SLOW, [3, 0], 0),
            (SLOW, [4, 0], 1),
            (SLOW, [4, 3], 1),
            (SLOW, [0, 3], 0),
            (FAST, [0, 0], 0),
            (FAST, [1, 0], 1),
        ] {
            for kind in [PlaceKind::Wake, PlaceKind::Fork, PlaceKind::Exec] {
                for prev in [0, 1] {
                    let mut core = made(&facts(2, true), &name, &[], opp);
                    loads(&mut core, &tasks);
                    let choice = placed(&mut core, kind, prev);
                    let seen = (choice.cpu, choice.reason);
                    let at = (&name, opp, tasks, kind, prev);
                    assert_eq!(seen, (expected, Reason::SavesPower), "{at:?}");
                }
            }
        }
        // nothing has room: as in that kernel
        let mut core = made(&facts(2, true), &name, &[], SLOW);
        loads(&mut core, &[4, 4]);
        let reason = placed(&mut core, PlaceKind::Wake, 1).reason;
        assert_ne!(reason, Reason::SavesPower, "{name}");
    }
}

/// Goal: docs/rules/sched-mc.md#sched-mc-knob: level 0 nothing, 1 forks and execs, 2 wake-ups, too;
/// P8 off: a CPU without tasks is no place to pack; mc_placement off: nothing is placed.
#[test]
fn what_each_level_places() {
    use PlaceKind::{Exec, Fork, Wake};
    let packs = |name: &str, settings: &[_], kind, tasks: [u32; 2]| {
        let mut core = made(&facts(2, true), name, settings, SLOW);
        loads(&mut core, &tasks);
        placed(&mut core, kind, 1).reason == Reason::SavesPower
    };
    for (level, expected) in [
        ("0", [false; 3]),
        ("1", [true, true, false]),
        ("2", [true; 3]),
    ] {
        let name = format!("linux-7.3+sched-mc={level}");
        let seen = [Fork, Exec, Wake].map(|kind| packs(&name, &[], kind, [1, 0]));
        assert_eq!(seen, expected, "level {level}");
    }
    let name = "linux-7.3+sched-mc=2";
    let off = [("mc_lowest_first", "off")];
    assert!(packs(name, &off, Wake, [1, 0]));
    assert!(!packs(name, &off, Wake, [0, 0]));
    assert!(!packs(name, &[("mc_placement", "off")], Wake, [1, 0]));
    assert!(!packs(
        "linux-7.3+sched-mc=2+power-policy=balance",
        &[],
        Wake,
        [1, 0]
    ));
    assert!(packs(
        "linux-7.3+sched-mc=2+power-policy=performance",
        &[],
        Wake,
        [1, 0]
    ));
}

/// Goal: docs/rules/sched-mc.md#mc-acceptance, 8: other classes take 13 % of a slow core: 4 x 0.87
/// = 3.48, it holds 3; at 12.5 % 3.5 rounds to 4.
#[test]
fn time_of_other_classes_counts() {
    for (capacity, expected) in [(1024 * 87 / 100, 1), (896, 0)] {
        let mut core = made(&facts(2, true), "linux-7.3+sched-mc=2", &[], SLOW);
        loads(&mut core, &[3, 0]);
        core.cpu_mut(0).load.capacity = capacity;
        let choice = placed(&mut core, PlaceKind::Wake, 0);
        assert_eq!(choice.cpu, expected, "capacity {capacity}");
    }
    // a limit of the frequency is no other class: the table knows it
    let mut core = made(&facts(2, true), "linux-7.3+sched-mc=2", &[], SLOW);
    loads(&mut core, &[3, 0]);
    (core.cpu_mut(0).load.pressure, core.cpu_mut(0).load.capacity) = (614, 410);
    assert_eq!(placed(&mut core, PlaceKind::Wake, 0).cpu, 0);
}

/// What a pass of cpu `dst` asks for: the source, WP_NONE for none.
fn source(core: &mut Core, dst: u32, idle: IdleKind) -> u32 {
    let (step, bal) = attempt(core, dst, 0, idle);
    match step {
        Step::Detach => bal.raw().src_cpu,
        _ => sys::WP_NONE,
    }
}

/// Goal: 3, P6-P7 effects: an idle cpu1 pulls from cpu0 when that has 5 tasks at 400 MHz, 2 at
/// 1000; a busy one does not even out what has room; without mc_balance both do as their kernel
/// does.
#[test]
fn balancing_leaves_what_has_room() {
    for era in ERAS {
        let name = format!("{era}+sched-mc=2");
        for (opp, tasks, pulls) in [
            (SLOW, [2, 0], false),
            (SLOW, [4, 0], false),
            (SLOW, [5, 0], true),
            (FAST, [2, 0], true),
            (FAST, [1, 0], false),
        ] {
            let mut core = made(&facts(2, true), &name, &[], opp);
            loads(&mut core, &tasks);
            let found = source(&mut core, 1, IdleKind::Idle);
            let expected = if pulls { 0 } else { sys::WP_NONE };
            assert_eq!(found, expected, "{name} {opp} {tasks:?}");
        }
        // (before 5.5 a busy CPU goes by loads of past ticks, of which there are none here)
        let now = ("load_idx", "off");
        let busy = |settings: &[_]| {
            let mut core = made(&facts(2, true), &name, settings, SLOW);
            loads(&mut core, &[1, 4]);
            source(&mut core, 0, IdleKind::Busy)
        };
        assert_eq!(busy(&[now]), sys::WP_NONE, "{name}");
        assert_eq!(busy(&[now, ("mc_balance", "off")]), 1, "{name}");
    }
}

/// Goal: docs/rules/sched-mc.md#mc-lowest-first: an idle cpu0 pulls from cpu1, the idle
/// cpu1 never from a cpu0 that has room; of several the highest number first; one task a time, none
/// more than there is room for.
#[test]
fn idle_cpus_of_low_numbers_draw() {
    for era in ERAS {
        let name = format!("{era}+sched-mc=1");
        for (tasks, dst, expected) in [
            ([0, 1, 0, 0], 0, 1),
            ([0, 1, 0, 1], 0, 3),
            ([0, 1, 2, 0], 0, 2),
            ([1, 0, 0, 0], 1, sys::WP_NONE),
            ([1, 0, 0, 1], 1, 3),
            ([1, 0, 1, 0], 3, sys::WP_NONE),
        ] {
            for opp in [SLOW, FAST] {
                if opp == FAST && tasks.contains(&2) {
                    continue; // overfull: its kernel's search
                }
                let mut core = made(&facts(4, true), &name, &[], opp);
                loads(&mut core, &tasks);
                let found = source(&mut core, dst, IdleKind::NewlyIdle);
                assert_eq!(found, expected, "{name} {tasks:?} to {dst}");
            }
        }
        let mut core = made(&facts(4, true), &name, &[("mc_lowest_first", "off")], SLOW);
        loads(&mut core, &[0, 1, 0, 0]);
        assert_eq!(source(&mut core, 0, IdleKind::Idle), sys::WP_NONE, "{name}");
    }
}

/// Goal: docs/rules/sched-mc.md#power-saving-balance on two packages of two: the leader's idle CPU
/// takes the other's only task.
#[test]
fn the_leader_takes_from_the_least() {
    let mut quad = facts(4, true);
    quad.levels[0].group_of = vec![0, 0, 1, 1];
    quad.levels.push(LevelFacts {
        group_of: vec![0; 4],
        ..LevelFacts::default()
    });
    for era in ["linux-4.7", "linux-6.2", "linux-7.3"] {
        let name = format!("{era}+sched-mc=1");
        let pull_with = |lowest: &'static str, tasks: [u32; 4], dst| {
            let mut core = made(&quad, &name, &[("mc_lowest_first", lowest)], SLOW);
            loads(&mut core, &tasks);
            let (step, bal) = attempt(&mut core, dst, 1, IdleKind::Idle);
            (step == Step::Detach).then_some(bal.raw().src_cpu)
        };
        let pull = |tasks, dst| pull_with("off", tasks, dst);
        assert_eq!(pull([1, 0, 1, 0], 1), Some(2), "{name}");
        assert_eq!(pull([1, 0, 1, 0], 3), None, "{name}: not the leader");
        assert_eq!(pull([1, 0, 2, 0], 3), Some(0), "{name}: it is now");
        assert_eq!(
            pull([0, 0, 1, 0], 0),
            None,
            "{name}: an idle package leads nothing"
        );
        // With P8 as well: what the fuller package took from lower numbers they would take back.
        assert_eq!(pull_with("on", [1, 0, 2, 0], 3), None, "{name}");
        assert_eq!(pull_with("on", [1, 0, 1, 0], 1), Some(2), "{name}");
    }
}

/// P8 draws within a cache: an idle CPU of another one is not woken to look.
#[test]
fn no_kicks_for_another_cache() {
    let mut four = facts(4, true);
    four.levels[0].group_of = vec![0, 0, 1, 1];
    four.levels.push(LevelFacts {
        group_of: vec![0; 4],
        ..LevelFacts::default()
    });
    for era in ERAS.iter().filter(|era| **era != "wakeplace") {
        let name = format!("{era}+sched-mc=2");
        let kicks = |idle: u32| {
            let mut core = made(&four, &name, &[("mc_kick_by_room", "on")], SLOW);
            loads(&mut core, &[0, 0, 0, 1]);
            core.nohz_enter(idle);
            core.state_mut().nohz_next_balance_tick = 0;
            let mut task = queued(&mut core, 1, 3, 900);
            task.raw_mut().running = 1;
            core.tick(&mut task, NOW).kick()
        };
        assert!(!kicks(0), "{name}: of the other cache");
        assert!(kicks(2), "{name}: a lower one of its own");
    }
}

/// Goal: 4, useless starts of the idle balancer: with room for its tasks a CPU kicks nobody, with
/// one more it does; P8: it does if a lower one is idle.
#[test]
fn no_useless_kicks() {
    for era in ERAS.iter().filter(|era| **era != "wakeplace") {
        let name = format!("{era}+sched-mc=2");
        let kicks = |settings: &[_], tasks: [u32; 2]| {
            let mut core = made(&facts(2, true), &name, settings, SLOW);
            loads(&mut core, &tasks);
            let idle = u32::from(tasks[0] != 0);
            core.nohz_enter(idle);
            core.state_mut().nohz_next_balance_tick = 0;
            let mut task = queued(&mut core, 1, 1 - idle, 900);
            task.raw_mut().running = 1;
            core.tick(&mut task, NOW).kick()
        };
        let quiet = [("mc_kick_by_room", "on")];
        assert!(kicks(&[], [2, 0]), "{name}");
        assert!(!kicks(&quiet, [2, 0]), "{name}");
        assert!(!kicks(&quiet, [4, 0]), "{name}");
        assert!(kicks(&quiet, [5, 0]), "{name}");
        assert!(kicks(&quiet, [0, 1]), "{name}: cpu0 is idle");
        // Room counts only where balancing goes by it.
        for off in [("mc_balance", "off"), ("sched_mc_power_savings", "0")] {
            assert!(kicks(&[quiet[0], off], [2, 0]), "{name}, {off:?}");
        }
    }
}

/// Goal: docs/rules/sched-mc.md#mc-authors-list, interrupts: a CPU without work keeps those that
/// may move until it was idle for the time given; then the lowest CPU in use has them, where none
/// is the lowest of all. The time is 20 ms.
#[test]
fn interrupts_leave_after_a_while() {
    let settings = [("mc_irq_idle_us", "20000")];
    let mut core = made(&facts(4, true), "linux-7.3+sched-mc=2", &settings, SLOW);
    loads(&mut core, &[0, 1, 0, 0]);
    core.cpu_mut(3).idle.idle_stamp_ns = NOW;
    let taker = |core: &Core, us: u64| core.irq_cpu(3, NOW + 1000 * us);
    assert_eq!(taker(&core, 0), 3, "idle from now on");
    assert_eq!(taker(&core, 19_999), 3);
    assert_eq!(taker(&core, 20_000), 1, "cpu0 is out of use since ever");
    loads(&mut core, &[0, 0, 0, 0]);
    core.cpu_mut(1).idle.idle_stamp_ns = NOW + 1_000_000;
    assert_eq!(taker(&core, 20_000), 1, "it was in use 1 ms longer");
    assert_eq!(taker(&core, 21_000), 0);
}
