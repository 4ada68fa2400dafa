//! Packing by sched_mc, seen from outside: the acceptance list of
//! docs/rules/sched-mc.md#mc-acceptance on a dual and a quad Cortex-A9.
//!
//! What must stay: the acceptance list's numbers; clocks are held by limits. The rule itself is
//! crates/policy-sys/tests/all/sched_mc.rs and sched_mc_later.rs.
//! Tests by part (in crates/engine/src): machine.rs: `a_slow_core_holds_four` (`sched_mc`);
//! kernel/model/tick.rs (`kick_nohz`): `no_useless_kicks`; hardware.rs: `interrupts_follow`
//! (`movable`); kernel/model/interface.rs: `interrupts_follow` (`irq_cpu`); policy/src/packing in a
//! run: all others.
//! Helpers, and who fails with them: `at`, `sim`, `hogs` (most tests); `homes` (6 tests); `shares`
//! (`a_fast_core_holds_one`, `a_change_of_speed`, `a_quad_consolidates`,
//! `a_change_of_speed_on_the_newest`); `cyclic` (`short_threads_are_together`,
//! `later_kernels_keep_short_threads_together`); `later` (`later_kernels_hold_four_on_a_slow_core`,
//! `later_kernels_keep_short_threads_together`).

use crate::common::*;
use wakeplace_engine::observe::MigrateCause;
use wakeplace_engine::{FreqCap, Interrupts, Options, RunReport};
use wakeplace_workload::{Loops, TaskScript};

const PACKED: &str = "linux-3.1+sched-mc=2";
/// Operating points of the u8500: 400 MHz is below the 600 at which capacity falls from 4 to 1.
const SLOW: u32 = 399_360;
const FAST: u32 = 998_400;
const QUAD_FAST: u32 = 1_000_000;

/// A clock that stays at this speed once it is set.
fn at(khz: u32, duration_ns: u64) -> Options {
    Options {
        freq_cap: vec![FreqCap {
            domain: 0,
            khz: Some(khz),
            at_ns: 0,
        }],
        ..all_on(duration_ns)
    }
}

/// With the highest frequency that is allowed, always; if nothing limits it, it is known from boot.
/// (A limit is a transition, and until then the series takes the clock for slow.)
fn sim(
    platform: &str,
    name: &str,
    settings: &[(&str, &str)],
    tasks: Vec<TaskScript>,
    options: &Options,
) -> (RunReport, Log) {
    let known = match options.freq_cap[0].khz {
        Some(FAST | QUAD_FAST) => "on",
        _ => "off",
    };
    let mut all = vec![("governor", "performance"), ("mc_boot_freq", known)];
    all.extend(settings);
    let policy = policy(name, &all);
    simulate(
        &builtin(platform),
        &policy,
        &workload(tasks, vec![]),
        options,
    )
}

/// Shares of the CPUs in the run time of all tasks over a window, percent of one CPU.
fn shares(log: &Log, tasks: u32, from: u64, to: u64, cpus: u32) -> Vec<u64> {
    let on = |cpu: u32| (0..tasks).map(move |task| (task, cpu));
    let ran = |cpu: u32| {
        on(cpu)
            .map(|(task, cpu)| log.ran(task, from, to, |c| c == cpu))
            .sum()
    };
    (0..cpus)
        .map(|cpu| {
            let sum: u64 = ran(cpu);
            sum * 100 / (to - from)
        })
        .collect()
}

/// Tasks by the CPU on which they ran most in a window.
fn homes(log: &Log, tasks: u32, from: u64, to: u64, cpus: u32) -> Vec<usize> {
    let home = |task: &u32| {
        let ran = |cpu: &u32| log.ran(*task, from, to, |c| c == *cpu);
        (0..cpus).max_by_key(ran).unwrap()
    };
    (0..cpus)
        .map(|cpu| (0..tasks).filter(|task| home(task) == cpu).count())
        .collect()
}

fn hogs(number: usize) -> Vec<TaskScript> {
    (0..number).map(|_| hog(None)).collect()
}

/// Goal: acceptance 1: at level 0 the series changes nothing, whatever runs.
#[test]
fn level_0_is_plain_3_1() {
    for platform in ["u8500", "ca9-quad"] {
        let mut tasks = hogs(3);
        let events = [run_ms(2), sleep_ms(5)];
        tasks.extend((0..4).map(|_| script(Loops::Forever, vec![phase(1000, None, &events)])));
        let run = |name| {
            let load = workload(tasks.clone(), vec![]);
            simulate(
                &builtin(platform),
                &policy(name, &[]),
                &load,
                &all_on(2 * S),
            )
            .0
        };
        let (plain, zero) = (run("linux-3.1"), run("linux-3.1+sched-mc=0"));
        assert_eq!(plain.event_hash, zero.event_hash, "{platform}");
        assert_ne!(plain.event_hash, run(PACKED).event_hash, "{platform}");
    }
}

/// Goal: acceptance 2: at 400 MHz up to 4 tasks stay on cpu0 and cpu1 gets none; 5 to 8 settle at
/// 4 and the rest; more are divided evenly.
#[test]
fn a_slow_core_holds_four() {
    for (number, expected) in [
        (1, [1, 0]),
        (2, [2, 0]),
        (4, [4, 0]),
        (5, [4, 1]),
        (6, [4, 2]),
        (8, [4, 4]),
        (10, [5, 5]),
        (12, [6, 6]),
    ] {
        let (_, log) = sim("u8500", PACKED, &[], hogs(number), &at(SLOW, 4 * S));
        let found = homes(&log, number as u32, 3 * S, 4 * S, 2);
        assert_eq!(found, expected, "{number} tasks");
        if number <= 4 {
            assert_eq!(
                log.pick(|w| matches!(w, What::Start { cpu: 1, .. }).then_some(())),
                []
            );
        }
    }
}

/// Goal: acceptance 3: at 1000 MHz two tasks have a core each.
#[test]
fn a_fast_core_holds_one() {
    let (_, log) = sim("u8500", PACKED, &[], hogs(2), &at(FAST, 2 * S));
    assert_eq!(homes(&log, 2, S, 2 * S, 2), [1, 1]);
    assert!(shares(&log, 2, S, 2 * S, 2).iter().all(|share| *share > 95));
}

/// Goal: acceptance 4: three tasks on cpu0 are spread once the clock is fast; a slow clock does not
/// pack them again while no CPU is idle.
#[test]
fn a_change_of_speed() {
    let options = Options {
        freq_cap: [(SLOW, 0), (FAST, 2 * S), (SLOW, 4 * S)]
            .map(|(khz, at_ns)| FreqCap {
                domain: 0,
                khz: Some(khz),
                at_ns,
            })
            .to_vec(),
        ..all_on(6 * S)
    };
    let (_, log) = sim("u8500", PACKED, &[], hogs(3), &options);
    assert_eq!(homes(&log, 3, S, 2 * S, 2), [3, 0]);
    let both = |from, to| shares(&log, 3, from, to, 2).iter().all(|share| *share > 90);
    assert!(both(2 * S + 500 * MS, 4 * S), "spread");
    assert!(both(4 * S, 6 * S), "left alone");
}

/// Two threads that sleep 1 and 1.5 ms between short runs.
fn cyclic() -> Vec<TaskScript> {
    [MS, 1_500 * US]
        .map(|sleep| {
            let events = [
                wakeplace_workload::Event::Run { work_ns: 10 * US },
                wakeplace_workload::Event::Sleep { duration_ns: sleep },
            ];
            script(Loops::Forever, vec![phase(1_000_000, None, &events)])
        })
        .to_vec()
}

/// Goal: acceptance 5: short periodic threads are together on cpu0 at level 2, apart at level 0;
/// the idle search may still choose cpu1 now and then, not so in strict mode.
#[test]
fn short_threads_are_together() {
    let on_1 = |name, settings: &[_]| {
        let (_, log) = sim("u8500", name, settings, cyclic(), &at(SLOW, 4 * S));
        log.pick(|w| matches!(w, What::Start { cpu: 1, .. }).then_some(()))
            .iter()
            .filter(|(at, ())| *at > S)
            .count()
    };
    let (plain, leaks) = (on_1("linux-3.1", &[]), on_1(PACKED, &[]));
    // one of them: 2000 to 3000 activations in the 3 s
    assert!(plain > 1800, "{plain}");
    assert!(leaks < plain, "{leaks} of {plain}");
    assert_eq!(on_1(PACKED, &[("mc_strict", "on")]), 0);
}

/// Goal: acceptance 7: of a quad's two tasks, one per package, the other package's comes to the
/// leader {0,2}; without docs/rules/sched-mc.md#power-saving-balance (plain 3.1) both stay.
#[test]
fn a_quad_consolidates() {
    let held = |cpu| {
        let long = [wakeplace_workload::Event::Runtime { wall_ns: 100 * MS }];
        let phases = vec![
            phase(1, Some(&[cpu]), &long),
            phase(1, None, &[run_ms(100_000)]),
        ];
        script(Loops::Forever, phases)
    };
    for level in ["1", "2"] {
        let name = format!("linux-3.1+sched-mc={level}");
        let tasks = vec![held(0), held(1)];
        let (_, log) = sim("ca9-quad", &name, &[], tasks, &at(QUAD_FAST, 3 * S));
        let found = shares(&log, 2, 2 * S, 3 * S, 4);
        assert!(
            found[1] + found[3] == 0 && found[0] + found[2] > 195,
            "{level}: {found:?}"
        );
    }
    let (_, log) = sim(
        "ca9-quad",
        "linux-3.1",
        &[],
        vec![held(0), held(1)],
        &at(QUAD_FAST, 3 * S),
    );
    assert!(shares(&log, 2, 2 * S, 3 * S, 4)[1] > 95);
}

/// Goal: P8, test: one task of 20 % that started on cpu1 lives on cpu0 before long; without P8 it
/// stays. A short task that now and then runs on cpu0 makes it newly idle: nothing else on an empty
/// cpu0 would look (docs/decisions/033).
#[test]
fn a_lone_task_goes_to_cpu0() {
    let tasks = || {
        let phases = vec![
            phase(20, Some(&[1]), &[run_ms(2), sleep_ms(8)]),
            phase(1_000_000, None, &[run_ms(2), sleep_ms(8)]),
        ];
        let short = [
            wakeplace_workload::Event::Run { work_ns: 100 * US },
            sleep_ms(7),
        ];
        let keeper = script(Loops::Forever, vec![phase(1_000_000, Some(&[0]), &short)]);
        vec![script(Loops::Forever, phases), keeper]
    };
    let on_1 = |settings: &[_]| {
        let (_, log) = sim("u8500", PACKED, settings, tasks(), &at(FAST, 4 * S));
        log.ran(0, 2 * S, 4 * S, |cpu| cpu == 1)
    };
    assert!(on_1(&[]) < 2 * S / 100); // leaks of the idle search: 1 % at most
    assert!(on_1(&[("mc_lowest_first", "off")]) > 300 * MS);
}

/// Goal: the authors' list, useless starts of the idle balancer: with 2 to 4 tasks on a slow cpu0
/// cpu1 is not woken; by the rule of 3.1 it is, again and again.
#[test]
fn no_useless_kicks() {
    let wakes = |settings: &[_], tasks| {
        let (_, log) = sim("u8500", PACKED, settings, hogs(tasks), &at(SLOW, 3 * S));
        log.power(1).iter().filter(|(at, _)| *at > S).count()
    };
    for tasks in [2, 4] {
        assert!(wakes(&[], tasks) > 100, "{tasks}");
        assert_eq!(wakes(&[("mc_kick_by_room", "on")], tasks), 0, "{tasks}");
    }
    // one more than there is room for is still noticed
    let (_, log) = sim(
        "u8500",
        PACKED,
        &[("mc_kick_by_room", "on")],
        hogs(5),
        &at(SLOW, 3 * S),
    );
    assert_eq!(homes(&log, 5, 2 * S, 3 * S, 2), [4, 1]);
}

/// Goal: the authors' list, interrupts: those of a device that may move leave cpu1 when it has had
/// nothing to run for the time given; those that may not, stay, and so do all by default.
#[test]
fn interrupts_follow() {
    let wakes = |movable, idle_us| {
        let options = Options {
            irq: vec![Interrupts {
                cpu: 1,
                period_ns: 5 * MS,
                run_ns: 50 * US,
                movable,
            }],
            ..at(SLOW, 3 * S)
        };
        let settings = [("mc_irq_idle_us", idle_us), ("mc_kick_by_room", "on")];
        let (_, log) = sim("u8500", PACKED, &settings, hogs(1), &options);
        log.power(1).iter().filter(|(at, _)| *at > S).count()
    };
    assert_eq!(wakes(true, "20000"), 0);
    assert!(wakes(false, "20000") >= 400);
    assert!(wakes(true, "0") >= 400);
}

/// Goal: no cost reads the policy: a move between the u8500's CPUs, which share their cache, costs
/// the same under both, though sched-mc takes them for two packages.
#[test]
fn moves_cost_what_the_hardware_says() {
    let moved = |name: &str| {
        let steps = |cpu| phase(1, Some(&[cpu]), &[run_ms(20)]);
        let tasks = vec![script(Loops::Times(20), vec![steps(0), steps(1)])];
        let (report, log) = sim("u8500", name, &[], tasks, &at(FAST, 30 * S));
        assert!(
            log.moves(|c| c == MigrateCause::Affinity).len() > 30,
            "{name}"
        );
        report.tasks[0].run_ns
    };
    // 39 moves of 3 us; as between caches they would be 15 us each. The start may differ.
    assert!(moved("linux-3.1").abs_diff(moved(PACKED)) < 39 * 6 * US);
}

/// The form of later kernels, the clock held at a speed by the limit of its governor.
fn later(name: &str, settings: &[(&str, &str)], tasks: Vec<TaskScript>, khz: u32) -> Log {
    let mut all = vec![("governor", "performance")];
    all.extend(settings);
    let load = workload(tasks, vec![]);
    simulate(
        &builtin("u8500"),
        &policy(name, &all),
        &load,
        &at(khz, 4 * S),
    )
    .1
}

const LATER: [&str; 6] = [
    "linux-3.8+sched-mc=2",
    "linux-4.7+sched-mc=2",
    "linux-4.17+sched-mc=2",
    "linux-6.2+sched-mc=2",
    "linux-7.3+sched-mc=2",
    "wakeplace+sched-mc=2",
];

/// Goal: acceptance 2 and 3 on later kernels (docs/decisions/033): at 400 MHz up to 4 tasks that
/// always run are on cpu0 and cpu1 gets none; more take both CPUs, and neither has more than it
/// holds while that is possible. At 1000 MHz two have a CPU each. Without sched-mc they are apart
/// at any speed.
#[test]
fn later_kernels_hold_four_on_a_slow_core() {
    for name in LATER {
        for number in [1, 2, 4] {
            let log = later(name, &[], hogs(number), SLOW);
            let found = homes(&log, number as u32, 2 * S, 4 * S, 2);
            assert_eq!(found, [number, 0], "{name}");
        }
        for number in [5, 8] {
            let log = later(name, &[], hogs(number), SLOW);
            let found = homes(&log, number as u32, 2 * S, 4 * S, 2);
            assert!(
                found.iter().all(|n| (1..=4).contains(n)),
                "{name}: {found:?}"
            );
        }
        let log = later(name, &[], hogs(2), FAST);
        assert_eq!(homes(&log, 2, 2 * S, 4 * S, 2), [1, 1], "{name}");
        let plain = name.replace("+sched-mc=2", "");
        let log = later(&plain, &[], hogs(2), SLOW);
        assert_eq!(homes(&log, 2, 2 * S, 4 * S, 2), [1, 1], "{plain}");
    }
}

/// Goal: acceptance 5 on later kernels: two short threads are together on cpu0 at level 2, with no
/// start on cpu1 (there is no leak: the search is not asked), and cpu1 gets some at level 0. At
/// level 1 wake-ups go as in that kernel.
#[test]
fn later_kernels_keep_short_threads_together() {
    let on_1 = |name: &str| {
        let log = later(name, &[], cyclic(), SLOW);
        let starts = log.pick(|w| matches!(w, What::Start { cpu: 1, .. }).then_some(()));
        starts.iter().filter(|(at, ())| *at > S).count()
    };
    for era in ["linux-4.17", "linux-7.3", "wakeplace"] {
        assert_eq!(on_1(&format!("{era}+sched-mc=2")), 0, "{era}");
        assert!(on_1(era) > 1800, "{era}");
        assert!(on_1(&format!("{era}+sched-mc=1")) > 0, "{era}");
    }
}

/// Goal: acceptance 4 on the newest: three tasks on a slow cpu0 are spread once the clock is fast;
/// a slow clock does not pack them again while no CPU is idle.
#[test]
fn a_change_of_speed_on_the_newest() {
    let options = Options {
        freq_cap: [(SLOW, 0), (FAST, 2 * S), (SLOW, 4 * S)]
            .map(|(khz, at_ns)| FreqCap {
                domain: 0,
                khz: Some(khz),
                at_ns,
            })
            .to_vec(),
        ..all_on(6 * S)
    };
    let policy = policy("linux-7.3+sched-mc=2", &[("governor", "performance")]);
    let load = workload(hogs(3), vec![]);
    let (_, log) = simulate(&builtin("u8500"), &policy, &load, &options);
    assert_eq!(homes(&log, 3, S, 2 * S, 2), [3, 0]);
    let both = |from, to| shares(&log, 3, from, to, 2).iter().all(|share| *share > 90);
    assert!(both(2 * S + 500 * MS, 4 * S), "spread");
    assert!(both(4 * S, 6 * S), "left alone");
}
