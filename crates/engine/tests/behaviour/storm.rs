//! Random scripts over all steps, under several eras: nothing panics, nothing is lost.
//! The rules are common/checker.rs; every step of crates/workload/src/script.rs is drawn.
//!
//! What must stay: a seed names a run: draws keep their order, and a new step is added to `step`.
//! `storm` and `comings_and_goings` are used by random.rs and sched_ext/storms.rs, too.
//! Tests by part (in crates/engine/src): kernel/model/class_change.rs:
//! `random_steps_obey_the_rules` (`forget_throttled`); mechanics/script/mod.rs:
//! `random_steps_obey_the_rules` (all steps together); crates/workload/src/script.rs:
//! `random_steps_with_groups_obey_the_rules` (every step in the engine);
//! crates/workload/src/script/group.rs: `random_steps_with_groups_obey_the_rules` (groups in the
//! engine).
//! Helpers, and who fails with them: `shared`, `pick`, `step`, `change`, `storm`,
//! `comings_and_goings`, `storms`, `said` (all tests). Page: docs/internals/checks.md.

use super::invariants::{Random, boards, random_options, random_workload, with_classes};
use crate::common::checker::check_log;
use crate::common::*;
use wakeplace_engine::{Ended, Hotplug, check};
use wakeplace_workload::{
    Barrier, Change, Channel, Condition, Counter, Event, FairPolicy, Limit, Loops, Mutex, Pick,
    PolicyChange, RealTime, Series, Shared, Since, TaskGroup, TimeUnit, Workload,
};

fn shared(random: &mut Random) -> Shared {
    let channel = |random: &mut Random| {
        let units = 1 + random.below(4);
        let limit = Limit {
            units,
            resume_units: random.below(units),
            resume_all: random.one_in(2),
        };
        Channel {
            units: random.below(3),
            limit: random.one_in(2).then_some(limit),
            ..Channel::default()
        }
    };
    let mutex = |inherit| Mutex {
        inherit,
        ..Mutex::default()
    };
    Shared {
        channels: (0..3).map(|_| channel(random)).collect(),
        mutexes: [false, true, false, true, true].map(mutex).to_vec(),
        conditions: vec![Condition::default(); 2],
        barriers: vec![
            Barrier {
                parties: 1 + random.below(3),
                ..Barrier::default()
            };
            2
        ],
        counters: vec![
            Counter::default(),
            Counter {
                limit: Some(50),
                ..Counter::default()
            },
        ],
        ..Shared::default()
    }
}

fn pick(random: &mut Random) -> Pick {
    match random.below(3) {
        0 => Pick::This,
        1 => Pick::Claimed { of: 2 },
        _ => Pick::Cpu { of: 2 },
    }
}

fn step(random: &mut Random, tasks: u32, templates: u32) -> Event {
    let two = random.below(2) as u32;
    let channel = random.below(3) as u32;
    let mutex = random.below(4) as u32;
    let ns = random.spread(US, 3 * MS);
    match random.below(20) {
        0 | 1 => Event::Post {
            channel,
            sync: random.one_in(2),
        },
        2 => Event::Wait { channel },
        3 | 4 => Event::Lock {
            mutex,
            pick: pick(random),
        },
        5..=7 => Event::Unlock {
            mutex,
            pick: pick(random),
        },
        8 | 9 => Event::Signal {
            condition: two,
            all: random.one_in(2),
        },
        10 => Event::Await {
            condition: two,
            mutex: random.one_in(2).then_some(mutex),
        },
        11 => Event::Barrier { barrier: two },
        12 => Event::Fork {
            task: tasks - 1 - random.below(u64::from(templates)) as u32,
        },
        13 => Event::Exec,
        14 => Event::Claim { counter: two },
        15 => Event::ExitAfter {
            since_start_ns: 100 * MS,
        },
        16 => Event::Mark,
        17 => Event::Sample {
            series: 0,
            since: if random.one_in(2) {
                Since::Mark
            } else {
                Since::Wake
            },
        },
        18 => Event::Stall { cpu_ns: ns },
        _ => Event::Io { duration_ns: ns },
    }
}

fn change(random: &mut Random, deadline: bool, groups: u32) -> Change {
    let priority = 1 + random.below(99) as u8;
    let policy = match random.below(8) {
        0 => PolicyChange::Fair(FairPolicy::Idle),
        1 => PolicyChange::Fair(FairPolicy::Batch),
        2 | 3 => PolicyChange::Fair(FairPolicy::Other),
        4 => PolicyChange::RealTime(RealTime::RoundRobin { priority }),
        5 if deadline => PolicyChange::RealTime(RealTime::Deadline {
            runtime_ns: 300 * US,
            deadline_ns: 2 * MS,
            period_ns: 4 * MS,
        }),
        _ => PolicyChange::RealTime(RealTime::Fifo { priority }),
    };
    let group = random.below(u64::from(groups) + 1) as u32;
    Change {
        policy: random.one_in(2).then_some(policy),
        nice: random.one_in(4).then(|| random.below(40) as i8 - 20),
        slice_ns: random.one_in(4).then(|| random.below(3) * MS),
        uclamp_min: random.one_in(4).then(|| random.below(1025) as u16),
        uclamp_max: random.one_in(4).then(|| random.below(1025) as u16),
        group: random
            .one_in(3)
            .then_some((group < groups).then_some(group)),
    }
}

pub(crate) fn storm(random: &mut Random, nr_cpus: u32, groups: u32) -> Workload {
    const TEMPLATES: u32 = 2;
    let mut load = random_workload(random, nr_cpus);
    if random.one_in(2) {
        load = with_classes(random, load);
    }
    let mut template = load.tasks[0].clone();
    template.forks = Some(200);
    template.loops = Loops::Times(1 + random.below(3));
    load.tasks.extend([template.clone(), template]);
    let tasks = load.tasks.len() as u32;
    for (index, task) in load.tasks.iter_mut().enumerate() {
        let free = task.cpus.is_none() && task.phases.iter().all(|p| p.cpus.is_none());
        let deadline = free && index < 3 && task.attributes.realtime.is_none();
        for phase in &mut task.phases {
            if random.one_in(2) {
                phase.change = change(random, deadline, groups);
            }
            for _ in 0..random.below(5) {
                let at = random.below(phase.events.len() as u64 + 1) as usize;
                phase.events.insert(at, step(random, tasks, TEMPLATES));
            }
        }
        if random.one_in(3) {
            task.uclamp_min = Some(random.below(1025) as u16);
        }
    }
    load.series = vec![Series {
        name: "s".into(),
        warm_up_ns: 0,
        less_ns: 0,
        floor_ns: 0,
        statistics: vec![],
        unit: TimeUnit::Microseconds,
    }];
    load.shared = shared(random);
    let group = |index: u32| TaskGroup {
        shares: 512 << index,
        ..TaskGroup::new(format!("g{index}"))
    };
    load.groups = (0..groups).map(group).collect();
    for task in 0..tasks {
        if let Some(group) = load.groups.get_mut(random.below(4) as usize) {
            group.tasks.push(task);
        }
    }
    load
}

const POLICIES: [(&str, &str); 7] = [
    ("linux-3.1", "cfs"),
    ("linux-3.8", "cfs"),
    ("linux-4.17+energy-aware", "cfs"),
    ("linux-4.17", "eevdf"),
    ("linux-7.3", "cfs"),
    ("linux-7.3", "eevdf"),
    ("wakeplace", "dsq"),
];

/// CPUs that leave and come back; CPU 0 stays.
pub(crate) fn comings_and_goings(random: &mut Random, nr_cpus: u64) -> Vec<Hotplug> {
    let mut there = vec![true; nr_cpus as usize];
    let steps = if nr_cpus > 1 { random.below(6) } else { 0 };
    let step = |at: u64| {
        let cpu = 1 + random.below(nr_cpus - 1);
        let online = !there[cpu as usize];
        there[cpu as usize] = online;
        Hotplug {
            at_ns: (7 * at + 3) * MS,
            cpu: cpu as u32,
            online,
        }
    };
    (0..steps).map(step).collect()
}

/// Returns how the runs ended: by time, by exits, by deadlock, by a limit.
fn storms(from: u64, to: u64, groups: u32) -> [u32; 4] {
    let boards = boards();
    let mut ends = [0; 4];
    for seed in from..to {
        let mut random = Random(seed);
        let platform = &boards[random.below(boards.len() as u64) as usize];
        let load = storm(&mut random, platform.cpus.len() as u32, groups);
        let mut options = random_options(&mut random);
        options.hotplug = comings_and_goings(&mut random, platform.cpus.len() as u64);
        for (name, queue) in POLICIES {
            let policy = policy(name, &[("queue", queue)]);
            if check(platform, &policy, &load, &options).is_err() {
                continue; // no groups there, or more deadline tasks than the board admits
            }
            said(seed, &platform.name, name, queue);
            let (report, log) = simulate(platform, &policy, &load, &options);
            check_log(platform, &load, &log, &report, queue == "eevdf");
            let end = match report.ended {
                Ended::Duration => 0,
                Ended::AllTasksExited => 1,
                Ended::Deadlock { .. } => 2,
                Ended::ForkLimit { .. } | Ended::ZeroTimeLoop { .. } => 3,
                Ended::Scheduler { .. } | Ended::Kernel { .. } => unreachable!("there is none"),
            };
            ends[end] += 1;
            let again = simulate(platform, &policy, &load, &options);
            assert!(again == (report, log), "seed {seed}: two runs differ");
        }
    }
    ends
}

#[allow(clippy::print_stderr, reason = "the seed of a failure")]
fn said(seed: u64, platform: &str, policy: &str, queue: &str) {
    eprintln!("seed {seed}, {platform}, {policy}, queue={queue}");
}

/// Goal: all steps and changes together break no rule, and the storm is one: runs end in all ways.
#[test]
fn random_steps_obey_the_rules() {
    let ends = storms(0, 100, 0);
    assert!(ends[0] > 10 && ends[2] > 10, "{ends:?}");
}

/// Goal: nor do they with task groups.
#[test]
fn random_steps_with_groups_obey_the_rules() {
    let ends = storms(50_500, 50_600, 3);
    assert!(ends[0] > 10 && ends[2] > 10, "{ends:?}");
}
