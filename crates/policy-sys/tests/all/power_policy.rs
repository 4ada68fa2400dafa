//! The rules of power-policy one by one, with the worked numbers
//! (docs/rules/linux-3-8.md#groups-and-capacity, docs/rules/power-policy.md#power-placement-cleanup
//! to docs/rules/power-policy.md#power-parameters).
//!
//! What must stay: P1 to P18 are the patches' numbers; figures are the pages' worked numbers, in
//! whole percent. It covers policy/src/packing/power_policy.c, power_balance.c and
//! policy/src/placement/idlest_4_13.c. Free: how helpers build a machine, and state that the rule
//! does not read.
//! Tests by part: `parameters_are_those_that_were_reconstructed`, `the_policy_is_written_by_name`
//! (eras/power.rs); `one_level_less` (`wp_domains_3x`); `only_the_remote_group_is_allowed`,
//! `single_shot_takes_any_thread`, `a_local_group_that_wins_is_chosen` (`wp_find_idlest_down`,
//! `wp_levels_up_to`); `a_new_task_has_its_weight` (`wp_task_init`);
//! `a_socket_is_full_at_its_threads_or_its_power`, `the_lowest_level_with_room_decides`,
//! `a_leader_that_is_not_allowed`, `a_slow_group_is_not_full`, `capacity_is_room_under_balance`
//! (`wp_pack_select`, `wp_pack_level`, `wp_pack_leader`, `wp_pack_room`);
//! `small_tasks_by_the_numbers`, `small_tasks_join_the_fullest_with_room` (`wp_small_room`);
//! `placement_by_utilisation_and_bursts`, `placement_by_utilisation_counts_compute_power`,
//! `real_time_bounds_use`, `use_of_a_little_cpu` (`wp_pack_util`, `wp_pack_used`);
//! `the_leader_pulls_from_the_donor`, `the_leader_pulls_under_7_3` (`wp_pack_leads`,
//! `wp_pack_pull`); `who_may_only_spread` (`wp_pack_spreads`); `siblings_count_where_it_spreads`
//! (`wp_spreads_at`); `packing_waits_for_quiet`,
//! `lazy_balancing_packs_less_where_the_number_is_at_the_limit` (`wp_pack_settled`);
//! `scattered_tasks_make_somebody_look` (`wp_pack_scattered`).
//! Helpers, and who fails with them: `facts`, `still`, `share`, `busy` (most tests,
//! `small_tasks_join_the_fullest_with_room` among them); `named` (all tests,
//! `parameters_are_those_that_were_reconstructed` among them); `place` (10 tests,
//! `only_the_remote_group_is_allowed` among them); `fork` (7 tests, `single_shot_takes_any_thread`
//! among them); `task` (`small_tasks_by_the_numbers`, `small_tasks_join_the_fullest_with_room`,
//! `placement_by_utilisation_and_bursts`, `placement_by_utilisation_counts_compute_power`); `wake`
//! (`small_tasks_by_the_numbers`); `wake_from_0` (`placement_by_utilisation_counts_compute_power`,
//! `real_time_bounds_use`); `two` (`the_leader_pulls_from_the_donor`, `who_may_only_spread`,
//! `packing_waits_for_quiet`, `lazy_balancing_packs_less_where_the_number_is_at_the_limit`).
#![allow(missing_docs, reason = "not a library")]

use crate::common;

use common::{NOW, ask, attempt, freeze, make_busy, make_idle, sleeper};
use wakeplace_policy_sys::{
    Choice, Core, IdleKind, LevelFacts, MachineFacts, PlaceKind, Policy, Reason, Request, Step,
    Task, Waker, sys,
};

/// Sockets of cores with two threads; CPU = (socket x cores + core) x 2 + thread.
fn facts(sockets: usize, cores: usize) -> MachineFacts {
    let cpus = sockets * cores * 2;
    let labels = |size: usize| (0..cpus).map(|cpu| (cpu / size) as u16).collect();
    let mut levels = vec![
        LevelFacts {
            shares_capacity: true,
            shares_cache: true,
            group_of: labels(2),
            ..LevelFacts::default()
        },
        LevelFacts {
            shares_cache: true,
            group_of: labels(2 * cores),
            ..LevelFacts::default()
        },
    ];
    if sockets > 1 {
        levels.push(LevelFacts {
            numa: true,
            distance: 20,
            group_of: labels(cpus),
            ..LevelFacts::default()
        });
    }
    MachineFacts {
        tick_ns: 1_000_000,
        capacity: vec![1024; cpus],
        levels,
        ..common::machine(&[common::cluster(cpus, 1024)])
    }
}

fn named(name: &str, settings: &[(&str, &str)]) -> Policy {
    let mut policy = Policy::parse(name).unwrap_or_else(|e| panic!("{e}"));
    for (key, value) in settings {
        policy.set(key, value).unwrap_or_else(|e| panic!("{e}"));
    }
    policy
}

/// All CPUs idle and never busy lately.
fn still(sockets: usize, cores: usize, version: &str, settings: &[(&str, &str)]) -> Core {
    let policy = named(&format!("linux-3.8+power-policy={version}"), settings);
    let mut core = Core::new(&facts(sockets, cores), policy.core_params()).expect("a machine");
    freeze(&mut core);
    for cpu in 0..core.state().nr_cpus {
        make_idle(&mut core, cpu);
        share(&mut core, cpu, 0);
    }
    core
}

/// The CPU was busy for so many percent of the time.
fn share(core: &mut Core, cpu: u32, percent: u64) {
    let avg = &mut core.cpu_mut(cpu).load.avg;
    (avg.load_sum, avg.runnable_sum) = (percent * 400, 40_000);
}

fn busy(core: &mut Core, cpus: impl IntoIterator<Item = u32>) {
    for cpu in cpus {
        make_busy(core, cpu);
        share(core, cpu, 100);
    }
}

/// A sleeping task that needs so many percent of a CPU: 100 S / (P + 1), S a little above.
fn task(core: &mut Core, prev: u32, percent: u64) -> Task {
    let mut task = sleeper(core, 7, prev, 0, 0);
    let avg = &mut task.raw_mut().avg;
    (avg.load_sum, avg.runnable_sum) = (percent * 400 + 50, 40_000);
    task
}

fn place(core: &mut Core, task: Task, request: &Request) -> (u32, Reason) {
    let Choice { cpu, reason, .. } = core.select_cpu(&mut [task], 0, request);
    (cpu, reason)
}

fn fork(core: &mut Core, this_cpu: u32) -> (u32, Reason) {
    let new = Task::new(9, 1024, this_cpu, None, core.state().nr_cpus);
    place(core, new, &ask(PlaceKind::Fork, this_cpu, this_cpu))
}

/// Goal: the defaults of docs/rules/power-policy.md#power-parameters, and who has P1 to P8: the
/// kernel the series was made for.
#[test]
fn parameters_are_those_that_were_reconstructed() {
    let shown = |policy: &Policy, key: &str| {
        let all = policy.params();
        all.iter().find(|p| p.key == key).expect(key).value.clone()
    };
    let p = named("linux-3.8+power-policy=balance", &[]);
    for (key, value) in [
        ("power_policy", "balance"),
        ("power_full_util", "99"),
        ("power_small_factor", "4"),
        ("power_small_room_powersaving", "auto"),
        ("power_small_room_balance", "60"),
        ("power_placement_util", "nr-running"),
        ("power_burst_ns", "100000"),
        ("power_lazy_clean", "32"),
        ("power_lazy_old_max", "4"),
        ("power_lazy_quiet", "8"),
        ("smt_gain", "1178"),
        ("migration_cost_ns", "500000"),
        ("power_level_fewer", "on"),
        ("power_single_shot", "on"),
    ] {
        assert_eq!(shown(&p, key), value, "{key}");
    }
    assert_eq!(shown(&named("linux-3.8", &[]), "power_policy"), "off");
    let usual = named("linux-3.8+power-policy", &[]);
    assert_eq!(
        shown(&usual, "power_policy"),
        "performance",
        "P9: the default"
    );
    let late = named("linux-7.3+power-policy=powersaving", &[]);
    assert_eq!(shown(&late, "power_single_shot"), "off");
    assert_eq!(late.not_in_live_build(), None);
    let none = named("linux-3.8+power-policy=balance-power-policy", &[]);
    assert_eq!(none.core_params(), named("linux-3.8", &[]).core_params());
}

/// Goal: names that are none are refused and change nothing; what is read is what was written
/// (P10).
#[test]
fn the_policy_is_written_by_name() {
    let mut policy = named("linux-3.8+power-policy=performance", &[]);
    let before = *policy.core_params();
    let error = policy.change("power-policy", "bogus").unwrap_err();
    assert!(error.to_string().contains("powersaving"), "{error}");
    assert_eq!(*policy.core_params(), before);
    policy.change("power-policy", "powersaving").unwrap();
    assert_eq!(policy.core_params().power_policy, sys::WP_POWER_POWERSAVING);
    assert!(policy.change("smt_gain", "1024").is_err());
    let mut early = named("linux-3.1", &[]);
    let error = early.change("power-policy", "balance").unwrap_err();
    assert!(error.to_string().contains("averages"), "{error}");
}

/// Goal: P1: one level less where a cache is all of a node; none less where it is not.
#[test]
fn one_level_less() {
    let levels = |name: &str, facts: &MachineFacts| {
        let core = Core::new(facts, named(name, &[]).core_params()).expect("a machine");
        core.cpu(0).topo.nr_levels
    };
    let two = facts(2, 4);
    assert_eq!(levels("linux-3.8", &two), 4, "SMT, MC, CPU, NUMA");
    assert_eq!(levels("linux-3.8+power-policy", &two), 3);
    // core2: two caches of two cores each in one package.
    let mut core2 = facts(1, 4);
    core2.levels[1].group_of = (0..8).map(|cpu| cpu / 4).collect();
    core2.levels.push(LevelFacts {
        group_of: vec![0; 8],
        ..LevelFacts::default()
    });
    assert_eq!(
        levels("linux-3.8", &core2),
        levels("linux-3.8+power-policy", &core2)
    );
}

/// Goal: P3: a task that only the other socket may run goes there at fork, however loaded.
#[test]
fn only_the_remote_group_is_allowed() {
    for (cases, expected) in [("on", true), ("off", false)] {
        let mut core = still(2, 4, "performance", &[("power_idlest_cases", cases)]);
        busy(&mut core, 8..16); // all of socket 1
        let remote: Vec<u32> = (8..16).collect();
        let new = Task::new(9, 1024, 0, Some(&remote), 16);
        let (cpu, reason) = place(&mut core, new, &ask(PlaceKind::Fork, 0, 0));
        assert!(cpu >= 8);
        assert_eq!(reason == Reason::SlowRemote, expected, "{reason:?}");
    }
}

/// Goal: P5: the highest level alone decides: the first idle thread of the idlest socket, though a
/// core of it is wholly idle; going down finds the core, and in it the other thread, since 0 is not
/// less than 0 (docs/rules/linux-3-8.md#placement-3-8).
#[test]
fn single_shot_takes_any_thread() {
    for (shot, expected) in [("on", 5), ("off", 7)] {
        let settings = [("power_single_shot", shot)];
        let mut core = still(2, 2, "performance", &settings);
        busy(&mut core, 0..4);
        busy(&mut core, [4]); // socket 1: CPUs 4..8
        assert_eq!(fork(&mut core, 0).0, expected, "{shot}");
    }
}

/// Goal: P3 without P5: a local group that wins is chosen like any other, so the search goes on
/// from the idlest CPU in it, CPU 1; 3.8 says "none" and goes on from the forking CPU. The other
/// core is forbidden ("yes, no"), or has 4096 against 2084 ("yes, yes"). Below, on CPU 0, 1060
/// against 1024 is within the margin of 5 %, so 3.8 stays there.
#[test]
fn a_local_group_that_wins_is_chosen() {
    for allowed in [Some(&[0, 1][..]), None] {
        for (cases, expected) in [("on", 1), ("off", 0)] {
            let settings = [("power_single_shot", "off"), ("power_idlest_cases", cases)];
            let mut core = still(1, 2, "performance", &settings);
            busy(&mut core, 0..4);
            for (cpu, weight) in (0..).zip([1060, 1024, 2048, 2048]) {
                core.cpu_mut(cpu).load.load_weight = weight;
            }
            let new = Task::new(9, 1024, 0, allowed, 4);
            let got = place(&mut core, new, &ask(PlaceKind::Fork, 0, 0));
            assert_eq!(got, (expected, Reason::SlowLocal), "{cases} {allowed:?}");
        }
    }
}

/// Goal: P6 to P8: a new task weighs what its nice value says from the first moment.
#[test]
fn a_new_task_has_its_weight() {
    for (switch, expected) in [("on", 1024), ("off", 0)] {
        let core = &mut still(1, 2, "performance", &[("power_new_averages", switch)]);
        let mut new = Task::new(9, 1024, 0, None, 4);
        core.task_init(&mut new);
        assert_eq!(new.load_avg(), expected);
    }
}

/// Goal: full is 16 tasks under powersaving, 9 under balance for 8 cores of 2 threads (9424 / 1024
/// = 9.2; docs/rules/linux-3-8.md#groups-and-capacity), then the next level decides. Forks from CPU
/// 0 until socket 0 is full.
#[test]
fn a_socket_is_full_at_its_threads_or_its_power() {
    for (version, most) in [("powersaving", 16), ("balance", 9)] {
        let mut core = still(2, 8, version, &[]);
        for n in 0..=most {
            let (cpu, reason) = fork(&mut core, 0);
            if n < most {
                assert!(cpu < 16, "{version}: task {n} on {cpu}");
                assert_eq!(reason, Reason::PowerLeader, "{version}: task {n}");
            } else {
                assert!(cpu >= 16, "{version}: task {n} on {cpu}");
            }
            assert_eq!(core.cpu(cpu).queue.nr_running, 0, "an idle CPU each");
            busy(&mut core, [cpu]);
        }
    }
}

/// Goal: the levels are tried from the lowest: powersaving takes the other thread of the forking
/// core, balance another core (P12 c, d); of equal groups the local one (e).
#[test]
fn the_lowest_level_with_room_decides() {
    let mut core = still(1, 4, "powersaving", &[]);
    busy(&mut core, [2]);
    assert_eq!(fork(&mut core, 2), (3, Reason::PowerLeader));
    assert_eq!(
        fork(&mut core, 4),
        (4, Reason::PowerLeader),
        "all equal: local"
    );
    let mut core = still(1, 4, "balance", &[]);
    busy(&mut core, [2]);
    let (cpu, reason) = fork(&mut core, 2);
    assert_eq!(
        (cpu, reason),
        (4, Reason::PowerLeader),
        "the next core in the ring"
    );
}

/// Goal: a leader without an allowed CPU: on to the next level (P12 b).
#[test]
fn a_leader_that_is_not_allowed() {
    let mut core = still(2, 2, "powersaving", &[]);
    busy(&mut core, [0]);
    let new = Task::new(9, 1024, 0, Some(&[5, 6]), 8);
    let (cpu, _) = place(&mut core, new, &ask(PlaceKind::Fork, 0, 0));
    assert!([5, 6].contains(&cpu), "{cpu}");
}

/// A wake-up on the waking CPU 0 of a task that last ran on another core of the socket.
fn wake(version: &str, settings: &[(&str, &str)], waker: u64, wakee: u64) -> (u32, Reason) {
    let mut core = still(1, 4, version, settings);
    busy(&mut core, [0]);
    share(&mut core, 0, waker);
    let wakee = task(&mut core, 4, wakee);
    let waker = Task::new(8, 1024, 0, None, 8);
    let request = Request {
        waker: Waker::Task(1),
        ..ask(PlaceKind::Wake, 0, 4)
    };
    let choice = core.select_cpu(&mut [wakee, waker], 0, &request);
    (choice.cpu, choice.reason)
}

/// Goal: P13's numbers: the waker uses 10 %. 5 %: 99 - 10 - 20 and 60 - 10 - 20 are above 0, the
/// task stays with the waker; 20 %: 99 - 10 - 80 is, 60 - 10 - 80 is not.
#[test]
fn small_tasks_by_the_numbers() {
    let here = (0, Reason::PowerSmallHere);
    assert_eq!(wake("powersaving", &[], 10, 5), here);
    assert_eq!(wake("balance", &[], 10, 5), here);
    assert_eq!(wake("powersaving", &[], 10, 20), here);
    assert_ne!(wake("balance", &[], 10, 20).0, 0, "60 - 10 - 80 < 0");
    // 99 - 11 - 88 = 0 is not above 0; 99 - 10 - 88 = 1 is.
    assert_eq!(wake("powersaving", &[], 10, 22), here);
    assert_ne!(wake("powersaving", &[], 11, 22), here);
    // The parameters.
    assert_eq!(
        wake("balance", &[("power_small_room_balance", "91")], 10, 20),
        here
    );
    assert_ne!(
        wake("powersaving", &[("power_small_factor", "5")], 10, 18),
        here
    );
    assert_ne!(
        wake("powersaving", &[("power_small_tasks", "off")], 10, 5).0,
        0
    );
}

/// Goal: a waking CPU without room: the fullest CPU of the leader that has some (P13); no history
/// is no small task: a fork never packs.
#[test]
fn small_tasks_join_the_fullest_with_room() {
    let mut core = still(1, 4, "powersaving", &[]);
    busy(&mut core, [0, 2]);
    share(&mut core, 2, 40);
    share(&mut core, 3, 5);
    // Cores: 0 has one task, 2 has one: both with room 1; the local one is full for this task.
    busy(&mut core, [1]); // CPU 1 too: core 0 is full; core of 2 leads
    let wakee = task(&mut core, 6, 10);
    let waker = Task::new(8, 1024, 0, None, 8);
    let request = Request {
        waker: Waker::Task(1),
        ..ask(PlaceKind::Wake, 0, 6)
    };
    let choice = core.select_cpu(&mut [wakee, waker], 0, &request);
    // 99 - 40 - 40 = 19 on CPU 2, 99 - 5 - 40 = 54 on the idle CPU 3.
    assert_eq!((choice.cpu, choice.reason), (2, Reason::PowerSmallRunning));
    assert_eq!(fork(&mut core, 0).1, Reason::PowerLeader);
}

/// Goal: utilisation instead of tasks: four CPUs that are a tenth busy have room for more under
/// pelt, and in a burst (idle for less than power_burst_ns) they do not.
#[test]
fn placement_by_utilisation_and_bursts() {
    let settings = [
        ("power_placement_util", "pelt"),
        ("power_small_tasks", "off"),
    ];
    let run = |idle_ns: u64| {
        let mut core = still(1, 2, "powersaving", &settings);
        busy(&mut core, 0..4);
        for cpu in 0..4 {
            share(&mut core, cpu, 10);
            core.cpu_mut(cpu).idle.avg_idle_ns = idle_ns;
        }
        let wakee = task(&mut core, 2, 10);
        let waker = Task::new(8, 1024, 0, None, 4);
        let request = Request {
            waker: Waker::Task(1),
            ..ask(PlaceKind::Wake, 0, 2)
        };
        core.select_cpu(&mut [wakee, waker], 0, &request).reason
    };
    assert_eq!(run(100_000), Reason::PowerLeader);
    assert_ne!(
        run(99_999),
        Reason::PowerLeader,
        "nr x FULL on all four: no room"
    );
}

/// Placement by utilisation, on two cores of two threads.
const BY_USE: [(&str, &str); 2] = [
    ("power_placement_util", "pelt"),
    ("power_small_tasks", "off"),
];

/// CPU 0 wakes a task that slept on CPU 1. No CPU is in a burst.
fn wake_from_0(core: &mut Core, wakee: Task) -> (u32, Reason) {
    for cpu in 0..core.state().nr_cpus {
        core.cpu_mut(cpu).idle.avg_idle_ns = 1_000_000;
    }
    let waker = Task::new(8, 1024, 0, None, core.state().nr_cpus);
    let request = Request {
        waker: Waker::Task(1),
        ..ask(PlaceKind::Wake, 0, 1)
    };
    let choice = core.select_cpu(&mut [wakee, waker], 0, &request);
    (choice.cpu, choice.reason)
}

/// Goal: P12, the tree's form: room is compute power less use, use counts fair tasks, and a domain
/// is full if its use and the task are its power. Percent of 99 for 1024: a thread of 589 has 56, a
/// core of 1178 has 113.
#[test]
fn placement_by_utilisation_counts_compute_power() {
    // What threads 0 and 1 are busy with; tasks of CPU 0, and how many are fair; the waking task.
    let goes = |shares: [u64; 2], (nr_running, nr_fair), wakee| {
        let mut core = still(1, 2, "powersaving", &BY_USE);
        busy(&mut core, [0]);
        if shares[1] > 0 {
            busy(&mut core, [1]);
        }
        for (cpu, percent) in (0..).zip(shares) {
            share(&mut core, cpu, percent);
        }
        let queue = &mut core.cpu_mut(0).queue;
        (queue.nr_running, queue.nr_fair) = (nr_running, nr_fair);
        let wakee = task(&mut core, 1, wakee);
        wake_from_0(&mut core, wakee)
    };
    let lead = |cpu| (cpu, Reason::PowerLeader);
    // 700 of 1024 is 68 %: 56 - 68 < 0, and thread 1 has 56; 68 + 20 < 113.
    assert_eq!(goes([68, 0], (1, 1), 20), lead(1));
    // 56 - 50 = 6 is less room than 56. The RT task beside it is no fair one: 2 x 50 > 56.
    assert_eq!(goes([50, 0], (1, 1), 20), lead(0));
    assert_eq!(goes([50, 0], (2, 1), 20), lead(0));
    assert_eq!(goes([50, 0], (2, 2), 5), lead(1));
    // 40 + 40 + 32 = 112 is below the core's power, one more is not.
    assert_eq!(goes([40, 40], (1, 1), 32), lead(0));
    assert_ne!(goes([40, 40], (1, 1), 33).1, Reason::PowerLeader);
}

/// Goal: the same on kernels with signals: 700 of CPU 0 are more than a thread's power, and RT time
/// bounds what fair tasks are counted with: min(68, 99 - 50) = 49 leaves 7 of 56 (P12).
#[test]
fn real_time_bounds_use() {
    for (rt, expected) in [(0, 1), (512, 0)] {
        let policy = named("linux-7.3+power-policy=powersaving", &BY_USE);
        let mut core = Core::new(&facts(1, 2), policy.core_params()).expect("a machine");
        freeze(&mut core);
        (0..4).for_each(|cpu| make_idle(&mut core, cpu));
        make_busy(&mut core, 0);
        let load = &mut core.cpu_mut(0).load;
        (load.avg.util_avg, load.rt_util) = (700, rt);
        let wakee = sleeper(&mut core, 7, 1, 200, 200);
        let got = wake_from_0(&mut core, wakee);
        assert_eq!(got, (expected, Reason::PowerLeader), "{rt}");
    }
}

/// Goal: use and power are on one scale where CPUs differ (docs/decisions/032): a little CPU of 446
/// has 446 x 99 / 1024 = 43. Half busy it uses 50 x 446 / 1024 = 21 and leads with 22; 21 and a new
/// task's 99 are below the cluster's 172. RT time of half of it bounds it to 99 - 50 = 49 %, again
/// 21: CPU 1, busy for 65 %, uses 28 and leads with 15.
#[test]
fn use_of_a_little_cpu() {
    let settings = [
        ("energy_aware", "off"),
        ("power_placement_util", "pelt"),
        ("power_small_tasks", "off"),
    ];
    for (utils, rt, expected) in [([223, 0], 0, 0), ([446, 290], 223, 1)] {
        let facts = common::machine(&[common::cluster(4, 446), common::cluster(4, 1024)]);
        let policy = named("linux-7.3+power-policy=powersaving", &settings);
        let mut core = Core::new(&facts, policy.core_params()).expect("a machine");
        freeze(&mut core);
        (0..8).for_each(|cpu| make_idle(&mut core, cpu));
        for (cpu, util) in (0..).zip(utils).filter(|(_, util)| *util > 0) {
            make_busy(&mut core, cpu);
            core.cpu_mut(cpu).load.avg.util_avg = util;
        }
        core.cpu_mut(0).load.rt_util = rt;
        let got = fork(&mut core, 0);
        assert_eq!(got, (expected, Reason::PowerLeader), "{utils:?} {rt}");
    }
}

/// Goal: coupling to frequency: two tasks on two CPUs at half speed are not full.
#[test]
fn a_slow_group_is_not_full() {
    for (coupled, packs) in [("on", true), ("off", false)] {
        let mut core = still(2, 1, "powersaving", &[("power_freq", coupled)]);
        for cpu in 0..4 {
            core.cpu_mut(cpu).load.freq_scale = 512;
        }
        busy(&mut core, [0, 1]);
        let (cpu, _) = fork(&mut core, 0);
        assert_eq!(cpu < 2, packs, "{coupled}: {cpu}");
    }
}

/// Goal: big.LITTLE through capacity: a little cluster of four (4 x 446 = 1784, rounded 2) takes
/// two tasks under balance, then the next cluster gets the third.
#[test]
fn capacity_is_room_under_balance() {
    let facts = common::machine(&[common::cluster(4, 446), common::cluster(4, 1024)]);
    let settings = [("power_small_tasks", "off"), ("energy_aware", "off")];
    let policy = named("linux-7.3+power-policy=balance", &settings);
    let mut core = Core::new(&facts, policy.core_params()).expect("a machine");
    freeze(&mut core);
    (0..8).for_each(|cpu| make_idle(&mut core, cpu));
    for n in 0..3 {
        let (cpu, _) = fork(&mut core, 0);
        assert_eq!(cpu < 4, n < 2, "task {n} on {cpu}");
        make_busy(&mut core, cpu);
    }
}

/// Two sockets of 4 cores: socket 0 runs `a` tasks on a thread each, socket 1 `b`.
fn two(version: &str, settings: &[(&str, &str)], a: u32, b: u32) -> Core {
    let mut core = still(2, 4, version, settings);
    busy(&mut core, 0..a);
    busy(&mut core, 8..8 + b);
    core
}

/// The level over both sockets.
const NODES: u32 = 2;

/// Goal: an idle CPU of the fuller socket pulls from the emptier one, its lone running task (P15,
/// P17); not the other way round, not onto an idle socket, and only if nothing is overloaded.
#[test]
fn the_leader_pulls_from_the_donor() {
    let quick = [("power_lazy", "off")];
    let pull = |core: &mut Core, dst| {
        core.state_mut().serial_tick = 0; // the attempt before is over
        let (step, bal) = attempt(core, dst, NODES, IdleKind::Idle);
        (step == Step::Detach).then(|| bal.src_cpu())
    };
    let core = &mut two("powersaving", &quick, 3, 1);
    assert_eq!(pull(core, 3), Some(8));
    assert_eq!(pull(core, 9), None, "the emptier one does not pull");
    let core = &mut two("powersaving", &quick, 3, 0);
    assert_eq!(pull(core, 3), None, "one group is all there is");
    let core = &mut two("powersaving", &quick, 2, 2);
    assert_eq!(pull(core, 2), Some(8), "of equals to the lower numbers");
    assert_eq!(pull(core, 10), None);
    let core = &mut still(3, 4, "powersaving", &quick);
    busy(core, [0, 1, 8, 9, 16, 17]);
    assert_eq!(pull(core, 2), Some(16), "of three equals, from the highest");
    assert_eq!(
        pull(core, 18),
        None,
        "the first of the highest is no leader"
    );
    // docs/rules/power-policy.md#p17-balance: of equals the lowest numbers lead, though a CPU looks
    // at its own group first.
    assert_eq!(pull(core, 10), None, "nor is the one between");
    let core = &mut two("powersaving", &quick, 8, 1);
    make_idle(core, 7);
    assert_eq!(
        pull(core, 7),
        None,
        "it was busy until now: U counts util x max(1, nr)"
    );
    share(core, 7, 0);
    assert_eq!(
        pull(core, 7),
        Some(8),
        "room for one: 7 x 99 + 99 <= 8 x 99"
    );
    let core = &mut two("performance", &quick, 3, 1);
    assert_eq!(pull(core, 3), None, "performance packs nothing");
    let alone = [("power_lazy", "off"), ("power_pull_all", "off")];
    let core = &mut two("powersaving", &alone, 3, 1);
    assert_eq!(pull(core, 3), None, "P15 off: a lone task stays");
}

/// Goal: P14: a busy CPU, threads of a core and an overloaded group spread, and that is noted.
#[test]
fn who_may_only_spread() {
    let noted = |core: &Core, cpu: u32, level: u32| {
        core.cpu(cpu).balance.lb[level as usize].spread_history & 1 == 1
    };
    let core = &mut two("powersaving", &[], 8, 1);
    let _ = attempt(core, 0, NODES, IdleKind::Busy);
    assert!(
        noted(core, 0, NODES),
        "a busy CPU, which balances for its busy group"
    );
    let core = &mut two("powersaving", &[], 3, 1);
    let _ = attempt(core, 3, 0, IdleKind::Idle);
    assert!(noted(core, 3, 0), "threads of a core");
    let _ = attempt(core, 3, NODES, IdleKind::Idle);
    assert!(!noted(core, 3, NODES));
    // Socket 1: two tasks on each CPU.
    let core = &mut two("powersaving", &[], 3, 8);
    (8..16).for_each(|cpu| core.cpu_mut(cpu).queue.nr_running = 2);
    let _ = attempt(core, 3, NODES, IdleKind::Idle);
    assert!(noted(core, 3, NODES), "16 x 99 > 8 x 99");
}

/// Goal: P18: nothing is packed before 32 clean attempts with at most 4 of the 32 before them, or
/// 8 longest intervals (NUMA of 16 CPUs: 8 x 32 ms) without one.
#[test]
fn packing_waits_for_quiet() {
    let tries = |history: u64| {
        let core = &mut two("powersaving", &[], 3, 1);
        let tick = NOW / 1_000_000;
        for n in 1..=64 {
            let lb = &mut core.cpu_mut(3).balance.lb[NODES as usize];
            if n == 1 {
                lb.spread_history = history;
            }
            lb.before_last_tick = tick;
            if attempt(core, 3, NODES, IdleKind::Idle).0 == Step::Detach {
                return n;
            }
        }
        0
    };
    assert_eq!(tries(0), 1);
    assert_eq!(tries(1), 32, "shifted out of the low 32 bits by then");
    assert_eq!(tries(u64::MAX), 60, "4 of 64 left");
    let quiet = |ms: u64| {
        let core = &mut two("powersaving", &[], 3, 1);
        let lb = &mut core.cpu_mut(3).balance.lb[NODES as usize];
        lb.spread_history = u64::MAX;
        lb.before_last_tick = NOW / 1_000_000 - ms;
        attempt(core, 3, NODES, IdleKind::Idle).0 == Step::Detach
    };
    assert!(!quiet(256));
    assert!(quiet(257));
}

/// Goal: P18, test: every 10 ms a socket has more than it has room for, then not, and an idle CPU
/// of the leader looks every 2 ms. Without history each clean attempt packs; with it none does
/// after the first overload, since 32 clean ones never follow each other: on << off.
#[test]
fn lazy_balancing_packs_less_where_the_number_is_at_the_limit() {
    let packs = |lazy: &str| {
        let core = &mut two("powersaving", &[("power_lazy", lazy)], 3, 1);
        let mut moved = 0;
        for ms in (0..1000).step_by(2) {
            // 16 full tasks on 8 CPUs: 16 x 99 > 8 x 99
            let over = ms / 10 % 2 == 1;
            (8..16).for_each(|cpu| {
                let tasks = if over { 2 } else { u32::from(cpu == 8) };
                core.cpu_mut(cpu).queue.nr_running = tasks;
            });
            (9..16).for_each(|cpu| share(core, cpu, if over { 100 } else { 0 }));
            let lb = &mut core.cpu_mut(3).balance.lb[NODES as usize];
            lb.before_last_tick = NOW / 1_000_000;
            core.state_mut().serial_tick = 0; // the attempt before is over
            let (step, bal) = attempt(core, 3, NODES, IdleKind::Idle);
            moved += u32::from(step == Step::Detach && bal.raw().power.pulls != 0);
        }
        moved
    };
    let (lazy, eager) = (packs("on"), packs("off"));
    assert_eq!(eager, 250, "each of the 5 attempts in 50 quiet windows");
    assert!(lazy <= 5, "at most those before the first overload: {lazy}");
}

/// Goal: P16: a remote group's room counts as one task, since siblings spread, only from the group
/// on that made the attempt spread; in one that spreads anyway, from the first. Three sockets of 8
/// CPUs and a power of 5 tasks each; the first has room. A socket of two tasks has nothing to give
/// by its own room, and one task too many by siblings.
#[test]
fn siblings_count_where_it_spreads() {
    let seen = |version: &str, settings: &[(&str, &str)], full: Option<u32>| {
        let mut all = vec![("load_idx", "off")]; // there is no history of loads here
        all.extend(settings);
        let policy = named(&format!("linux-3.8+power-policy={version}"), &all);
        let mut core = Core::new(&facts(3, 4), policy.core_params()).expect("a machine");
        freeze(&mut core);
        for cpu in 0..24 {
            make_idle(&mut core, cpu);
            share(&mut core, cpu, 0);
        }
        busy(&mut core, [0, 8, 9]);
        for cpu in [8, 9] {
            core.cpu_mut(cpu).load.load_weight = 8 * 1024; // more load than on eight CPUs
        }
        for cpu in full.iter().flat_map(|first| *first..*first + 8) {
            busy(&mut core, [cpu]);
            core.cpu_mut(cpu).queue.nr_running = 2; // 16 x 99 > 8 x 99
        }
        let (_, bal) = attempt(&mut core, 1, NODES, IdleKind::Idle);
        let raw = bal.raw();
        (raw.power.perf_from, raw.busiest_group, raw.busiest.room)
    };
    assert_eq!(seen("performance", &[], None), (0, 1, 1), "spreads anyway");
    // The third socket is full: the second was seen before and keeps its room.
    assert_eq!(seen("powersaving", &[], Some(16)), (2, 2, 1));
    // The second socket is full itself.
    assert_eq!(seen("powersaving", &[], Some(8)), (1, 1, 1));
    // Without P16 the second counts as one task, too, and has more load.
    let off = [("power_siblings", "off")];
    assert_eq!(seen("powersaving", &off, Some(16)), (2, 1, 1));
}

/// Goal: the same on the balancing of today: one task, by number.
#[test]
fn the_leader_pulls_under_7_3() {
    let settings = [("power_lazy", "off"), ("energy_aware", "off")];
    let policy = named("linux-7.3+power-policy=powersaving", &settings);
    let mut core = Core::new(&facts(2, 4), policy.core_params()).expect("a machine");
    freeze(&mut core);
    for cpu in 0..16 {
        make_idle(&mut core, cpu);
    }
    for cpu in [0, 1, 2, 8] {
        make_busy(&mut core, cpu);
        core.cpu_mut(cpu).load.avg.util_avg = 1024;
    }
    // The first CPU of an idle core balances for the socket: 4.
    let top = core.levels(4) - 1;
    let (step, bal) = attempt(&mut core, 4, top, IdleKind::Idle);
    assert_eq!((step, bal.src_cpu()), (Step::Detach, 8));
}

/// Goal: a tick asks for a look at the machine if packing could empty a group, and not for a lone
/// task, which has nowhere to be packed to. Source: docs/decisions/037: a lone task on each of two
/// cores; whether somebody looks is P15's to use.
#[test]
fn scattered_tasks_make_somebody_look() {
    let kicks = |cpus: &[u32]| {
        let core = &mut still(2, 4, "powersaving", &[("power_kick", "on")]);
        busy(core, cpus.iter().copied());
        for cpu in (0..16).filter(|cpu| !cpus.contains(cpu)) {
            core.nohz_enter(cpu);
        }
        core.state_mut().nohz_next_balance_tick = 0;
        let mut task = common::queued(core, 1, cpus[0], 900);
        task.raw_mut().running = 1;
        core.tick(&mut task, NOW).kick()
    };
    assert!(!kicks(&[0]));
    assert!(kicks(&[0, 8]));
}
