//! CPUs that leave and come back (docs/rules/hotplug.md#hotplug): whatever happens, nothing is
//! lost.
//!
//! What must stay: no task is lost, whatever leaves and comes: random schedules are drawn from the
//! seed alone, and the checker looks at every run.
//! Tests by part (in crates/engine/src): mechanics/hotplug.rs:
//! `what_is_left_is_done_by_who_is_left` (`timer_cpu`), `who_is_away_sleeps_deep_and_keeps_still`
//! (`set_online`); kernel/model/hotplug.rs: `what_is_left_is_done_by_who_is_left` (tasks),
//! `a_cpu_that_is_back_takes_work` (return), `sleepers_wake_where_they_may` (timers); hotplug.rs:
//! `impossible_schedules_are_refused` (checks); kernel/model/hotplug.rs: the tests
//! `random_schedules_*`.
//! Helpers, and who fails with them: `off` (most tests); `random_schedule`, `seeds`
//! (`random_schedules_lose_nothing_of_groups`, `random_schedules_lose_nothing_1`,
//! `random_schedules_lose_nothing_2`); `on` (`a_cpu_that_is_back_takes_work`,
//! `sleepers_wake_where_they_may`, `impossible_schedules_are_refused`); `four_jobs_of_100_ms`
//! (`what_is_left_is_done_by_who_is_left`, `a_cpu_that_is_back_takes_work`).

use super::invariants::{
    Random, boards, random_groups, random_options, random_workload, with_classes,
};
use crate::common::checker::{check_log, check_log_with};
use crate::common::*;
use wakeplace_engine::observe::{CpuPower, MigrateCause};
use wakeplace_engine::{Ended, Hotplug, Options, check};
use wakeplace_platform::Platform;
use wakeplace_policy_sys::Policy;
use wakeplace_workload::{Loops, TaskScript, Workload};

fn off(at_ns: u64, cpu: u32) -> Hotplug {
    Hotplug {
        at_ns,
        cpu,
        online: false,
    }
}

fn on(at_ns: u64, cpu: u32) -> Hotplug {
    Hotplug {
        online: true,
        ..off(at_ns, cpu)
    }
}

/// A schedule that this machine and workload allow: steps that are refused are left out.
fn random_schedule(
    random: &mut Random,
    platform: &Platform,
    policy: &Policy,
    load: &Workload,
    options: &Options,
) -> Vec<Hotplug> {
    let mut now = vec![true; platform.cpus.len()];
    let mut found = options.clone();
    let mut at_ns = 0;
    for _ in 0..2 + random.below(12) {
        let cpu = random.below(platform.cpus.len() as u64) as usize;
        let online = !now[cpu];
        let step = Hotplug {
            at_ns,
            cpu: cpu as u32,
            online,
        };
        found.hotplug.push(step);
        if check(platform, policy, load, &found).is_ok() {
            now[cpu] = online;
        } else {
            found.hotplug.pop();
        }
        // Now and then several at one instant, or within the way into an idle state.
        at_ns += random.below(3) * random.spread(US, options.duration_ns / 4);
    }
    found.hotplug
}

/// With every queue and every form of what is rebuilt.
const POLICIES: [(&str, &str); 10] = [
    ("linux-3.1", "cfs"),
    ("linux-3.8", "cfs"),
    ("linux-6.2", "cfs"),
    ("linux-6.12", "eevdf"),
    ("linux-4.17", "cfs"),
    ("linux-4.17+energy-aware", "cfs"),
    ("linux-4.17+energy-aware=5.0", "eevdf"),
    ("linux-7.3", "cfs"),
    ("linux-7.3", "eevdf"),
    ("wakeplace", "dsq"),
];

/// Goal: under load, at any time, on any machine: no task on a CPU that left, none lost, none twice
/// (the checker), the queues' books closed (the engine), and the same again. Every other load has
/// tasks of all classes, devices that interrupt, locks that take time and choices seen late.
fn seeds(from: u64, to: u64, grouped: bool) {
    let boards = boards();
    let mut steps = 0;
    for seed in from..to {
        let mut random = Random(seed);
        let platform = &boards[random.below(boards.len() as u64) as usize];
        let mut load = random_workload(&mut random, platform.cpus.len() as u32);
        if grouped {
            random_groups(&mut random, &mut load);
        }
        let mut options = random_options(&mut random);
        let all = seed % 2 == 0;
        if all {
            load = with_classes(&mut random, load);
            options.set("model.irq", "0:3ms:200us").expect("a setting");
            options.publish_ns = Some(random.below(20 * US));
            options.lock_hold_ns = Some(random.below(2 * US));
            options.switch_out_ns = Some(random.below(30 * US));
        }
        for (name, queue) in POLICIES {
            let governor = ["schedutil", "ondemand"][random.below(2) as usize];
            let policy = policy(name, &[("queue", queue), ("governor", governor)]);
            options.hotplug.clear();
            if check(platform, &policy, &load, &options).is_err() {
                continue; // more deadline tasks than a small board admits, or it has no groups
            }
            options.hotplug = random_schedule(&mut random, platform, &policy, &load, &options);
            steps += options.hotplug.len();
            let (report, log) = simulate(platform, &policy, &load, &options);
            check_log_with(platform, &load, &log, &report, (queue == "eevdf", all));
            assert!(!matches!(report.ended, Ended::ZeroTimeLoop { .. }));
            let again = simulate(platform, &policy, &load, &options);
            assert!(again == (report, log), "seed {seed}: two runs differ");
        }
    }
    assert!(steps as u64 > 6 * (to - from), "only {steps} steps");
}

/// With task groups: their tasks, and entities that wait for their turn, leave with the CPU.
#[test]
fn random_schedules_lose_nothing_of_groups() {
    seeds(10_160, 10_240, true);
}

#[test]
fn random_schedules_lose_nothing_1() {
    seeds(10_000, 10_080, false);
}

#[test]
fn random_schedules_lose_nothing_2() {
    seeds(10_080, 10_160, false);
}

fn four_jobs_of_100_ms() -> Workload {
    let job = || script(Loops::Times(1), vec![phase(1, None, &[run_ms(100)])]);
    workload(vec![job(), job(), job(), job()], vec![])
}

/// Goal: all work is done, by arithmetic. Method: four jobs of 100 ms, four CPUs; three of them
/// leave at 10 ms. 40 ms are done then; 360 ms on the last CPU end at 370 ms (WFI's 1 us aside).
#[test]
fn what_is_left_is_done_by_who_is_left() {
    for (name, queue) in POLICIES {
        let settings = [("queue", queue), ("governor", "performance")];
        let options = Options {
            hotplug: [1, 2, 3].map(|cpu| off(10 * MS, cpu)).into(),
            ..all_off(S)
        };
        let board = Board::symmetric(4).platform();
        let load = four_jobs_of_100_ms();
        let (report, log) = simulate(&board, &policy(name, &settings), &load, &options);
        assert_eq!(report.ended, Ended::AllTasksExited);
        let end = report.end_ns;
        assert!(
            (370 * MS..=370 * MS + 50 * US).contains(&end),
            "{name}: {end}"
        );
        let ran: u64 = report.tasks.iter().map(|t| t.run_ns).sum();
        assert_eq!(ran, 400 * MS, "{name}");
        let moved = log.moves(|cause| cause == MigrateCause::Hotplug);
        let to: Vec<_> = moved.iter().map(|(at, (_, _, to))| (*at, *to)).collect();
        assert_eq!(to, [(10 * MS, 0); 3], "{name}");
    }
}

/// Goal: a CPU that comes back is used again. Method: the same, and the three are back at 20 ms:
/// 40 + 10 ms are done then, the other 350 ms take at least 87.5 ms on four CPUs.
#[test]
fn a_cpu_that_is_back_takes_work() {
    for (name, queue) in POLICIES {
        let settings = [("queue", queue), ("governor", "performance")];
        let steps = [1, 2, 3].map(|cpu| [off(10 * MS, cpu), on(20 * MS, cpu)]);
        let options = Options {
            hotplug: steps.concat(),
            ..all_off(S)
        };
        let board = Board::symmetric(4).platform();
        let load = four_jobs_of_100_ms();
        let (report, log) = simulate(&board, &policy(name, &settings), &load, &options);
        assert_eq!(report.ended, Ended::AllTasksExited);
        assert!(report.end_ns >= 107_500 * US, "{name}: {}", report.end_ns);
        assert!(report.end_ns < 250 * MS, "{name}: {}", report.end_ns);
        let late = (0..4).map(|t| log.ran(t, 20 * MS, S, |cpu| cpu > 0));
        assert!(late.sum::<u64>() > 100 * MS, "{name}: the others stay idle");
    }
}

/// Goal: a sleeper whose CPU is gone wakes elsewhere, where it may. Method: a task that may use
/// CPUs 1 and 2, works 1 ms (2.2 on those) and sleeps 7; CPU 1 is away from 50 to 150 ms,
/// then CPU 2 for good.
#[test]
fn sleepers_wake_where_they_may() {
    let beat = TaskScript {
        cpus: Some(vec![1, 2]),
        ..script(
            Loops::Forever,
            vec![phase(1, None, &[run_ms(1), sleep_ms(7)])],
        )
    };
    let load = workload(vec![beat], vec![]);
    for (name, queue) in POLICIES {
        let settings = [("queue", queue), ("governor", "performance")];
        let policy = policy(name, &settings);
        let options = Options {
            hotplug: vec![off(50 * MS, 1), on(150 * MS, 1), off(151 * MS, 2)],
            ..all_on(300 * MS)
        };
        let (report, log) = simulate(&builtin("hikey960"), &policy, &load, &options);
        assert!(report.tasks[0].activations >= 25, "{name}: {report:?}");
        assert_eq!(log.ran(0, 50 * MS, 150 * MS, |cpu| cpu != 2), 0, "{name}");
        assert_eq!(log.ran(0, 151 * MS, S, |cpu| cpu != 1), 0, "{name}");
    }
}

/// Goal: a CPU that is away is in its deepest state and stays there; a clock without CPUs keeps its
/// frequency. Method: HiKey960 under load; CPU 1 is never there, the big ones leave at 100 ms.
#[test]
fn who_is_away_sleeps_deep_and_keeps_still() {
    let platform = builtin("hikey960");
    let load = workload((0..10).map(|_| hog(None)).collect(), vec![]);
    let mut steps = vec![off(0, 1)];
    steps.extend((4..8).map(|cpu| off(100 * MS, cpu)));
    let options = Options {
        hotplug: steps,
        ..all_on(S)
    };
    for governor in ["schedutil", "ondemand"] {
        let policy = policy("linux-4.17", &[("governor", governor)]);
        let (report, log) = simulate(&platform, &policy, &load, &options);
        check_log(&platform, &load, &log, &report, false);
        for (cpu, since) in [(1, 10 * MS), (4, 110 * MS), (7, 110 * MS)] {
            let mut states = platform.idle_states.iter();
            let own = |s: &wakeplace_platform::IdleState| s.cpus.iter().any(|c| c.0 == cpu);
            let state = states.rposition(own).expect("it has states") as u16;
            let power = log.power(cpu);
            let last = power.last().expect("announced at 0");
            assert_eq!(last.1, CpuPower::Idle { state }, "CPU {cpu}");
            assert!(last.0 < since, "CPU {cpu} still moves at {}", last.0);
        }
        let big = log.cluster(1);
        assert!(
            big.last().is_some_and(|(_, state)| state.is_some()),
            "all of it sleeps"
        );
        let late = log.frequencies(1).into_iter();
        assert_eq!(late.filter(|(at, _)| *at > 102 * MS).count(), 0);
    }
}

/// Goal: what cannot be is refused, with the step and what was expected.
#[test]
fn impossible_schedules_are_refused() {
    let platform = builtin("hikey960");
    let pinned = TaskScript {
        cpus: Some(vec![2, 3]),
        ..hog(None)
    };
    let mut phased = hog(None);
    phased.phases[0].cpus = Some(vec![6]);
    let load = workload(vec![pinned, phased], vec![]);
    let refused = |hotplug: Vec<Hotplug>| {
        let options = Options {
            hotplug,
            ..all_on(S)
        };
        let result = check(&platform, &performance(), &load, &options);
        result.expect_err("refused").to_string()
    };
    for (steps, words) in [
        (
            vec![off(0, 8)],
            "hotplug `0s:8=off`: `hikey960` has no CPU 8; expected a CPU from 0 to 7",
        ),
        (
            vec![off(S, 1)],
            "hotplug `1s:1=off`: the run is over at 1s; expected a time before",
        ),
        (
            vec![on(0, 1)],
            "hotplug `0s:1=on`: CPU 1 is on already; expected `off`",
        ),
        (
            vec![off(2, 1), off(1, 1)],
            "hotplug `2ns:1=off`: CPU 1 is off already; expected `on`",
        ),
        (
            vec![off(0, 6)],
            "task `task`, phase `phase`, is pinned to CPU 6, and none of that is on",
        ),
        (
            vec![off(1, 2), off(2, 3)],
            "hotplug `2ns:3=off`: task `task` is pinned to CPU 2,3",
        ),
        (
            (0..8).map(|cpu| off(0, 7 - cpu)).collect(),
            "hotplug `0s:0=off`: CPU 0 is the last one that is on; expected at least one CPU",
        ),
    ] {
        let error = refused(steps);
        assert!(error.contains(words), "{error}");
    }
    let swap = Options {
        hotplug: vec![off(1, 2), on(2, 2), off(2, 3)],
        ..all_on(S)
    };
    assert_eq!(check(&platform, &performance(), &load, &swap), Ok(()));
}
