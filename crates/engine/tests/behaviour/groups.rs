//! Task groups (docs/decisions/020): shares on one and several CPUs, preemption across groups,
//! refusals. Costs are off: shares are exact. Under CFS and EEVDF; one of each form.
//!
//! What must stay: shares are exact with costs off, under both queue forms of `policies`; the run's
//! own check of the books at its end must stay on.
//! Tests by part (in crates/engine/src): kernel/model/task.rs:
//! `groups_share_by_shares_not_by_tasks` (`task_states`); kernel/model/groups.rs:
//! `groups_share_by_shares_not_by_tasks` (shares), `shares_follow_the_load_over_cpus` (weights);
//! check/groups.rs: `what_cannot_have_groups_is_refused` (`check_groups`),
//! `no_scheduler_keeps_a_budget` (`check_sched_ext`); crates/workload/src/script/group.rs:
//! `no_scheduler_keeps_a_budget` (`files`); kernel/model/groups.rs with
//! crates/kernel-queues/src/grouped: all others.
//! Helpers, and who fails with them: `policies`, `ran` (most tests); `grouped` (all tests);
//! `on_one_cpu` (`groups_share_by_shares_not_by_tasks`, `a_group_competes_with_root_tasks`,
//! `rt_tasks_run_before_groups`, `who_yields_does_so_in_its_own_queue`); `sleeper_latencies`
//! (`wakeups_preempt_across_groups`).

use crate::common::checker::check_log;
use crate::common::*;
use wakeplace_engine::{Hotplug, Options, RunReport, check, check_sched_ext};
use wakeplace_policy_sys::Policy;
use wakeplace_workload::{
    Attributes, Bandwidth, Event, FairPolicy, Loops, RealTime, TaskGroup, TaskScript, Timer,
    TimerMode, Workload,
};

const QUEUES: [(&str, &[(&str, &str)]); 3] = [
    ("linux-4.17", &[]),
    ("linux-7.3", &[("eevdf_form", "6.12")]),
    ("linux-7.3", &[("hrtick", "on")]),
];

fn policies() -> Vec<Policy> {
    policies_of(&QUEUES, &[("governor", "performance"), ("balance", "off")])
}

/// Groups `(shares, tasks)`.
fn grouped(tasks: Vec<TaskScript>, groups: &[(u32, &[u32])]) -> Workload {
    let group = |(index, (shares, tasks)): (usize, &(u32, &[u32]))| TaskGroup {
        shares: *shares,
        tasks: tasks.to_vec(),
        ..TaskGroup::new(format!("g{index}"))
    };
    let groups = groups.iter().enumerate().map(group).collect();
    Workload {
        groups,
        ..workload(tasks, vec![])
    }
}

fn ran(report: &RunReport, tasks: &[u32]) -> u64 {
    tasks.iter().map(|t| report.tasks[*t as usize].run_ns).sum()
}

fn on_one_cpu(policy: &Policy, tasks: Vec<TaskScript>, groups: &[(u32, &[u32])]) -> RunReport {
    let load = grouped(tasks, groups);
    let platform = Board::symmetric(1).platform();
    simulate(&platform, policy, &load, &all_off(6 * S)).0
}

/// Goal: on one CPU an entity weighs its group's shares (docs/rules/signals.md#load-for-balancing:
/// all of the group's load is there), so 1024 : 512 share 2 : 1 whatever the number of tasks, and a
/// group's tasks share alike. Bound: a turn on the CPU lasts a slice (6 ms x 2/3 at most) and the
/// tick that ends it; one group may be a turn ahead, and a turn more from the start
/// (docs/rules/queues.md#cfs: START_DEBIT, half a period).
#[test]
fn groups_share_by_shares_not_by_tasks() {
    let turn = 4 * MS + 4 * MS;
    for policy in policies() {
        for (tasks, of_b) in [
            (4, &[1_u32, 2, 3][..]),
            (2, &[1]),
            (9, &[1, 2, 3, 4, 5, 6, 7, 8]),
        ] {
            let hogs = (0..tasks).map(|_| hog(None)).collect();
            let report = on_one_cpu(&policy, hogs, &[(1024, &[0]), (512, of_b)]);
            let (a, b) = (ran(&report, &[0]), ran(&report, of_b));
            assert_eq!(a + b, 6 * S - US, "the CPU is never idle");
            assert!(
                a.abs_diff(4 * S) <= 2 * turn,
                "{}: {a} : {b}",
                policy.name()
            );
            // Within b each may be a turn ahead of each: as many turns as there are tasks.
            for task in of_b {
                let (own, each) = (ran(&report, &[*task]), b / of_b.len() as u64);
                let most = turn * (of_b.len() as u64 + 1);
                assert!(own.abs_diff(each) <= most, "task {task}: {own} of {b}");
            }
        }
    }
}

/// Goal: a group of 1024 counts like one task of nice 0, and nice values count within a group only:
/// beside a root hog a group gets half, of which nice 0 and nice 5 have 1024 : 335.
#[test]
fn a_group_competes_with_root_tasks() {
    for policy in policies() {
        let nice_5 = TaskScript {
            nice: 5,
            ..hog(None)
        };
        let tasks = vec![hog(None), hog(None), nice_5];
        let report = on_one_cpu(&policy, tasks, &[(1024, &[1, 2])]);
        let group = ran(&report, &[1, 2]);
        assert!(
            group.abs_diff(3 * S) <= 16 * MS,
            "{}: {group}",
            policy.name()
        );
        let heavy = group * 1024 / 1359;
        let own = ran(&report, &[1]);
        assert!(
            own.abs_diff(heavy) <= 32 * MS,
            "{}: {own} of {group}",
            policy.name()
        );
    }
}

/// Goal: the weight of an entity is the group's shares by the CPU's part of its load
/// (docs/rules/signals.md#load-for-balancing). Two CPUs, group a with a hog on each, group b with
/// one on CPU 0, 1024 each: on CPU 0 a weighs 512 and b 1024, so a has a third of it. With groups
/// of 1024 and 512 and a hog of each on each CPU it is 2 : 1 on both. What the group's load counts
/// for a queue may lag by 1/64: 1 % of a third.
#[test]
fn shares_follow_the_load_over_cpus() {
    let platform = Board::symmetric(2).platform();
    for policy in policies() {
        let on = |cpu: u32| hog(Some(&[cpu]));
        let load = grouped(vec![on(0), on(1), on(0)], &[(1024, &[0, 1]), (1024, &[2])]);
        let (report, _) = simulate(&platform, &policy, &load, &all_off(6 * S));
        let third = ran(&report, &[0]);
        assert!(
            third.abs_diff(2 * S) <= 60 * MS + 16 * MS,
            "{}: {third}",
            policy.name()
        );
        assert!(ran(&report, &[1]) >= 6 * S - MS, "alone on CPU 1");
        let tasks = vec![on(0), on(1), on(0), on(1)];
        let load = grouped(tasks, &[(1024, &[0, 1]), (512, &[2, 3])]);
        let (report, _) = simulate(&platform, &policy, &load, &all_off(6 * S));
        for cpu in 0..2 {
            let of_a = ran(&report, &[cpu]);
            assert!(
                of_a.abs_diff(4 * S) <= 120 * MS,
                "{}: {of_a}",
                policy.name()
            );
        }
    }
}

/// Goal: balancing counts tasks of groups by what they weigh for their CPUs: groups of 2048 and
/// 1024 with four hogs each on four CPUs get what they ask for, two thirds and one third, to 10 %.
#[test]
fn free_groups_share_four_cpus() {
    let platform = Board::symmetric(4).platform();
    for (name, settings) in QUEUES {
        let settings = [&[("governor", "performance")], settings].concat();
        let policy = policy(name, &settings);
        let hogs = (0..8).map(|_| hog(None)).collect();
        let load = grouped(hogs, &[(2048, &[0, 1, 2, 3]), (1024, &[4, 5, 6, 7])]);
        let (report, _) = simulate(&platform, &policy, &load, &all_off(6 * S));
        let a = ran(&report, &[0, 1, 2, 3]);
        assert!(a.abs_diff(16 * S) <= 24 * S / 10, "{name}: {a} of 24 s");
    }
}

/// A hog in a group and a task that sleeps 19 ms and runs 1 ms in another, on one of 8 CPUs.
fn sleeper_latencies(policy: &Policy, sleeper: FairPolicy) -> Vec<u64> {
    let timer = Timer {
        name: "unique".into(),
        mode: TimerMode::Absolute,
        start_delay_ns: 0,
    };
    let wait = Event::Timer {
        timer: 0,
        period_ns: 20 * MS,
    };
    let cpus = Some(&[0][..]);
    let light = TaskScript {
        cpus: Some(vec![0]),
        policy: sleeper,
        ..script(Loops::Forever, vec![phase(1, None, &[run_ms(1), wait])])
    };
    let load = Workload {
        timers: vec![timer],
        ..grouped(
            vec![hog(cpus), hog(cpus), light],
            &[(1024, &[0, 1]), (1024, &[2])],
        )
    };
    let platform = Board::symmetric(8).platform();
    let (_, log) = simulate(&platform, policy, &load, &all_off(2 * S));
    let late = log.latencies(2);
    let late = late.iter().filter(|(at, _)| *at > 200 * MS);
    late.map(|(_, (_, ns))| *ns).collect()
}

/// Goal: who preempts is decided between the groups' entities. A light sleeper has 5 % of a CPU of
/// which its group may have half: its entity is always behind, so it starts when it is due under
/// CFS (credit 12 ms, granularity 4 ms), and under EEVDF at the latest when the slice (2.8 ms) and
/// its tick are over. SCHED_BATCH preempts nobody: it waits.
#[test]
fn wakeups_preempt_across_groups() {
    for policy in policies() {
        let late = sleeper_latencies(&policy, FairPolicy::Other);
        assert!(late.len() >= 85, "{}", late.len());
        let most = if policy.name() == "linux-4.17" {
            0
        } else {
            8 * MS
        };
        assert!(
            late.iter().all(|ns| *ns <= most),
            "{}: {late:?}",
            policy.name()
        );
        let batch = sleeper_latencies(&policy, FairPolicy::Batch);
        assert!(
            batch.iter().any(|ns| *ns > 0),
            "{}: {batch:?}",
            policy.name()
        );
    }
}

/// Goal: a group that holds all tasks is like the root without groups: each task runs as long, to
/// the turns by which the forking parent, which stays in the root, shifts the beginning.
#[test]
fn a_lone_group_is_like_the_root() {
    let platform = Board::symmetric(1).platform();
    let sleeper = || {
        script(
            Loops::Forever,
            vec![phase(1, None, &[run_ms(3), sleep_ms(7)])],
        )
    };
    let tasks = || vec![sleeper(), hog(None), hog(None)];
    for policy in policies() {
        let flat = simulate(&platform, &policy, &workload(tasks(), vec![]), &all_off(S)).0;
        let load = grouped(tasks(), &[(1024, &[0, 1, 2])]);
        let in_one = simulate(&platform, &policy, &load, &all_off(S)).0;
        for (task, (a, b)) in flat.tasks.iter().zip(&in_one.tasks).enumerate() {
            assert!(
                a.run_ns.abs_diff(b.run_ns) <= 16 * MS,
                "{}: task {task}: {} and {}",
                policy.name(),
                a.run_ns,
                b.run_ns
            );
        }
    }
}

#[test]
fn what_cannot_have_groups_is_refused() {
    let platform = Board::symmetric(1).platform();
    let load = grouped(vec![hog(None)], &[(1024, &[0])]);
    let refuse = |policy: &Policy, options: &Options| {
        check(&platform, policy, &load, options)
            .unwrap_err()
            .to_string()
    };
    let live = refuse(&policy("wakeplace", &[]), &all_on(S));
    assert!(
        live.contains("queue=dsq") && live.contains("queue=cfs"),
        "{live}"
    );
    for era in ["linux-3.1", "linux-3.8"] {
        let early = refuse(&policy(era, &[]), &all_on(S));
        assert!(
            early.contains("pelt_scale=") && early.contains("from linux-4.7 on"),
            "{early}"
        );
    }
    let weights = refuse(
        &policy("linux-4.17", &[("weight_is_load", "on")]),
        &all_on(S),
    );
    assert!(weights.contains("weight_is_load=on"), "{weights}");
    check(&platform, &policy("linux-4.7", &[]), &load, &all_on(S)).unwrap();
    let mut options = all_on(S);
    options.set("model.shares", "g1:512").unwrap();
    let unknown = refuse(&performance(), &options);
    assert!(
        unknown.contains("no task group `g1`") && unknown.contains("g0"),
        "{unknown}"
    );
    options.set("model.shares", "g0:512").unwrap();
    check(&platform, &performance(), &load, &options).unwrap();
}

/// Goal: a sched_ext scheduler is not given a budget that nothing keeps; other files it may have.
#[test]
fn no_scheduler_keeps_a_budget() {
    let mut load = grouped(vec![hog(None)], &[(1024, &[0])]);
    load.groups[0].limits.idle = true;
    check_sched_ext(&load).unwrap();
    load.groups[0].limits.bandwidth = Some(Bandwidth::new(20 * MS, 100 * MS, 0).unwrap());
    let said = check_sched_ext(&load).unwrap_err().to_string();
    assert!(
        said.contains("nothing keeps cpu.max of task group `g0`"),
        "{said}"
    );
}

/// Goal: `model.shares` is what the run goes by. The group's 1024 becomes 3072 beside a root hog.
#[test]
fn shares_can_be_set_for_a_run() {
    let platform = Board::symmetric(1).platform();
    let load = grouped(vec![hog(None), hog(None)], &[(1024, &[0])]);
    let mut options = all_off(6 * S);
    options.set("model.shares", "g0:3072").unwrap();
    for policy in policies() {
        let (report, _) = simulate(&platform, &policy, &load, &options);
        let group = ran(&report, &[0]);
        assert!(
            group.abs_diff(4500 * MS) <= 20 * MS,
            "{}: {group}",
            policy.name()
        );
    }
}

/// Goal: RT tasks run before all groups and count in none (no CONFIG_RT_GROUP_SCHED); what they
/// leave, 9 of 10 ms, goes by shares, 2 : 1. Displaced groups begin a new turn.
#[test]
fn rt_tasks_run_before_groups() {
    for policy in policies() {
        let rt = TaskScript {
            attributes: Attributes {
                realtime: Some(RealTime::Fifo { priority: 1 }),
                ..Attributes::default()
            },
            ..script(
                Loops::Forever,
                vec![phase(1, None, &[run_ms(1), sleep_ms(9)])],
            )
        };
        let tasks = vec![hog(None), hog(None), hog(None), rt];
        let report = on_one_cpu(&policy, tasks, &[(1024, &[0, 3]), (512, &[1, 2])]);
        let [a, b, rt] = [&[0][..], &[1, 2], &[3]].map(|tasks| ran(&report, tasks));
        // Each time that all sleep, before the first work, an exit from idle takes 1 us: once, or
        // twice where the task that made the others is not the first to go on.
        let idle = 6 * S - (a + b + rt);
        assert!(idle <= 2 * US, "{}: {idle}", policy.name());
        assert!(rt.abs_diff(600 * MS) <= 2 * MS, "{}: {rt}", policy.name());
        assert!(
            a.abs_diff(3600 * MS) <= 40 * MS,
            "{}: {a} : {b}",
            policy.name()
        );
    }
}

/// Goal: who yields lets others of its own queue go first (docs/decisions/020). A task that yields
/// each 0.1 ms is in a group with a hog, beside a hog of the root. EEVDF: it gives up its own
/// request, so of the group's half the hog has most; CFS: it is passed over, and time stays fair:
/// of no task more than a turn per round lost. No time is lost, nor by one that yields to nobody.
#[test]
fn who_yields_does_so_in_its_own_queue() {
    let yields = || {
        let events = [Event::Run { work_ns: 100 * US }, Event::Yield];
        script(Loops::Forever, vec![phase(1, None, &events)])
    };
    for policy in policies() {
        let tasks = vec![yields(), hog(None), hog(None)];
        let report = on_one_cpu(&policy, tasks, &[(1024, &[0, 1])]);
        let [own, other, root] = [0, 1, 2].map(|task| ran(&report, &[task]));
        let name = policy.name();
        assert_eq!(own + other + root, 6 * S - US, "the CPU is never idle");
        if name == "linux-4.17" {
            assert!(own.abs_diff(3 * S / 2) <= 40 * MS, "{name}: {own}");
        } else {
            assert!(own < other, "{name}: {own} of {}", own + other);
        }
        assert!(root.abs_diff(3 * S) <= 40 * MS, "{name}: {root}");

        let report = on_one_cpu(&policy, vec![yields(), hog(None)], &[(1024, &[0])]);
        let own = ran(&report, &[0]);
        assert_eq!(own + ran(&report, &[1]), 6 * S - US);
        assert!(
            own.abs_diff(3 * S) <= 40 * MS,
            "{name}: {own} alone in its group"
        );
    }
}

/// Goal: with the high-resolution tick a group's turn ends in time, too: two groups
/// with a hog each beside each other, slices of 2.8 ms on 8 CPUs, as for tasks of no group.
#[test]
fn a_high_resolution_tick_ends_turns_of_groups() {
    let platform = Board::symmetric(8).platform();
    let settings = [
        ("governor", "performance"),
        ("balance", "off"),
        ("hrtick", "on"),
    ];
    let policy = policy("linux-7.3", &settings);
    let cpus = Some(&[0][..]);
    let load = grouped(vec![hog(cpus), hog(cpus)], &[(1024, &[0]), (1024, &[1])]);
    let (_, log) = simulate(&platform, &policy, &load, &all_off(3 * S));
    for task in 0..2 {
        for stretch in log.stretches(task).iter().filter(|s| s.from > 20 * MS) {
            let last = stretch.to == 3 * S;
            assert!(
                last || stretch.to - stretch.from == 2_800 * US,
                "{stretch:?}"
            );
        }
    }
}

/// Goal: while a CPU is away its groups' tasks share the others; then all is as before. Two groups
/// of 1024 with two hogs each on two CPUs, CPU 1 away for a third of the time: half each.
#[test]
fn groups_share_what_is_left_of_the_machine() {
    let platform = Board::symmetric(2).platform();
    for (name, settings) in QUEUES {
        let policy = policy(name, &[&[("governor", "performance")], settings].concat());
        let hogs = (0..4).map(|_| hog(None)).collect();
        let load = grouped(hogs, &[(1024, &[0, 1]), (1024, &[2, 3])]);
        let step = |at_ns, online| Hotplug {
            at_ns,
            cpu: 1,
            online,
        };
        let options = Options {
            hotplug: vec![step(2 * S, false), step(4 * S, true)],
            ..all_off(6 * S)
        };
        let (report, log) = simulate(&platform, &policy, &load, &options);
        check_log(&platform, &load, &log, &report, name != "linux-4.17");
        let [a, b] = [&[0, 1], &[2, 3]].map(|tasks| ran(&report, tasks));
        assert!((a + b).abs_diff(10 * S) <= 10 * MS, "{name}: {a} + {b}");
        assert!(a.abs_diff(5 * S) <= S / 2, "{name}: {a} : {b}");
    }
}
