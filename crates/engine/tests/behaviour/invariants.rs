//! Random workloads on random machines: whatever happens, the rules of `checker` hold, and it
//! happens twice the same way.
//! The rules are common/checker.rs; a machine, workload and options follow from the seed alone.
//!
//! What must stay: a run that breaks a rule is never taken out; draws keep their order, since a
//! seed names a run. `random_*`, `boards` and `with_classes` are used by random.rs, storm.rs,
//! hotplug.rs and sched_ext/storms.rs, too.
//! Tests by part (in crates/engine/src): ids.rs: `random_runs_obey_the_rules_1` (`PerCpu`,
//! `PerTask`); kernel/model/cpu.rs: `random_runs_obey_the_rules_1` (`Cpu`, `Message`);
//! kernel/model/interface.rs: `random_runs_with_all_classes_obey_the_rules` (`boot`, `start`,
//! `event`); kernel/mod.rs: `random_runs_with_all_classes_obey_the_rules` (the order of calls, of
//! the model); the whole engine: all tests.
//! Helpers, and who fails with them: `one_in`, `spread`, `random_lists`, `random_cpus`,
//! `random_event`, `random_phase`, `random_workload`, `boards`, `eprintln_seed` (all tests);
//! `random_options` (most tests); `random_groups` (`random_groups_obey_the_rules`,
//! `random_budgets_are_kept`); `random_limits` (`random_budgets_are_kept`); `seeds`
//! (`random_runs_obey_the_rules_1`, `random_runs_obey_the_rules_2`); `with_classes`
//! (`random_groups_obey_the_rules`, `random_budgets_are_kept`,
//! `random_runs_with_all_classes_obey_the_rules`). `next`, `below`, `one_in` and `spread` are the
//! generator's. Page: docs/internals/checks.md.

use crate::balance_old::FORMS;
use crate::common::checker::{check_log, check_log_with};
use crate::common::*;
use wakeplace_engine::{Ended, Options, check};
use wakeplace_platform::Platform;
use wakeplace_workload::{
    Bandwidth, Change, Event, FairPolicy, Loops, Phase, RealTime, TaskGroup, TaskScript, Timer,
    TimerMode, Workload,
};

/// A small generator of its own (SplitMix64): the seed is in every message.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    pub(crate) fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// From `least` to `most`, small ones as likely as big ones.
    pub(crate) fn spread(&mut self, least: u64, most: u64) -> u64 {
        let doublings = u64::from((most / least).ilog2()) + 1;
        let base = least << self.below(doublings);
        (base + self.below(base)).min(most)
    }
}

/// Different affinity lists in one workload: enough for balancing to meet tasks that may go to one
/// CPU of a group and not to another.
const LISTS: u64 = 3;

/// The affinity lists of a workload.
fn random_lists(random: &mut Random, nr_cpus: u32) -> Vec<Vec<u32>> {
    let mut list = || {
        let first = random.below(u64::from(nr_cpus)) as u32;
        let list = (0..nr_cpus).filter(|c| *c == first || random.one_in(3));
        list.collect()
    };
    (0..LISTS).map(|_| list()).collect()
}

fn random_cpus(random: &mut Random, lists: &[Vec<u32>]) -> Option<Vec<u32>> {
    let which = random.below(lists.len() as u64) as usize;
    random.one_in(3).then(|| lists[which].clone())
}

fn random_event(random: &mut Random, timers: &mut Vec<Timer>) -> Event {
    let time = random.spread(2 * US, 16 * MS);
    match random.below(5) {
        4 => Event::Yield,
        0 => Event::Run { work_ns: time },
        1 => Event::Runtime { wall_ns: time },
        2 => Event::Sleep { duration_ns: time },
        _ => {
            let absolute = random.one_in(2);
            let fresh = timers.is_empty() || !random.one_in(4);
            if fresh {
                timers.push(Timer {
                    name: format!("timer{}", timers.len()),
                    mode: if absolute {
                        TimerMode::Absolute
                    } else {
                        TimerMode::Relative
                    },
                    start_delay_ns: 0,
                });
            }
            Event::Timer {
                timer: if fresh {
                    timers.len() as u32 - 1
                } else {
                    random.below(timers.len() as u64) as u32
                },
                period_ns: time,
            }
        }
    }
}

fn random_phase(random: &mut Random, lists: &[Vec<u32>], timers: &mut Vec<Timer>) -> Phase {
    let work = Event::Run {
        work_ns: random.spread(10 * US, 8 * MS),
    };
    let mut events = vec![work];
    for _ in 0..random.below(4) {
        events.push(random_event(random, timers));
    }
    Phase {
        name: "phase".into(),
        loops: Loops::Times(random.below(6)),
        cpus: random_cpus(random, lists),
        change: Change {
            nice: random.one_in(4).then(|| random.below(40) as i8 - 20),
            ..Change::default()
        },
        memory_nodes: None,
        events,
    }
}

/// Goal: loads of all kinds for a machine of so many CPUs, of fair tasks without groups: they work,
/// wait, yield and end, with lists of CPUs, nice values, policies and slices of their own. Also for
/// hotplug.rs and storm.rs, which add to it. The order of draws makes what a seed stands for:
/// another order is another set of runs.
pub(crate) fn random_workload(random: &mut Random, nr_cpus: u32) -> Workload {
    let lists = random_lists(random, nr_cpus);
    let mut timers = Vec::new();
    let mut tasks = Vec::new();
    for index in 0..1 + random.below(u64::from(3 * nr_cpus)) {
        let mut phases: Vec<Phase> = (0..1 + random.below(3))
            .map(|_| random_phase(random, &lists, &mut timers))
            .collect();
        phases[0].loops = Loops::Times(1 + random.below(4)); // something takes time
        tasks.push(TaskScript {
            nice: if random.one_in(3) {
                random.below(40) as i8 - 20
            } else {
                0
            },
            policy: match random.below(8) {
                0 => FairPolicy::Batch,
                1 => FairPolicy::Idle,
                _ => FairPolicy::Other,
            },
            cpus: random_cpus(random, &lists),
            slice_ns: random.one_in(4).then(|| 100_000 + random.below(20 * MS)),
            delay_ns: random.below(2) * random.below(20 * MS),
            loops: if random.one_in(3) {
                Loops::Times(random.below(5))
            } else {
                Loops::Forever
            },
            ..TaskScript::new(format!("task{index}"), Loops::Forever, phases)
        });
    }
    workload(tasks, timers)
}

/// Some of the tasks in groups.
pub(crate) fn random_groups(random: &mut Random, load: &mut Workload) {
    let groups = 1 + random.below(6) as u32;
    let group = |index: u32| TaskGroup {
        shares: *[2, 512, 1024, 3000, 262_144]
            .get(index as usize)
            .unwrap_or(&1024),
        ..TaskGroup::new(format!("group{index}"))
    };
    load.groups = (0..groups).map(group).collect();
    for task in 0..load.tasks.len() as u32 {
        if let Some(group) = load.groups.get_mut(random.below(7) as usize) {
            group.tasks.push(task);
        }
    }
}

/// Groups in each other, and with budgets of run time.
pub(crate) fn random_limits(random: &mut Random, load: &mut Workload) {
    for index in 0..load.groups.len() {
        let group = &mut load.groups[index];
        group.parent = random
            .below(2 * index as u64 + 1)
            .checked_sub(1)
            .map(|g| g as u32);
        group.parent = group.parent.filter(|parent| (*parent as usize) < index);
        if random.one_in(2) {
            let period_ns = random.spread(MS, 40 * MS);
            let quota_ns = random.spread(MS, 2 * period_ns).max(MS);
            let max = Bandwidth::new(quota_ns, period_ns, 0);
            group.limits.bandwidth = Some(max.expect("a budget"));
        }
    }
}

pub(crate) fn boards() -> Vec<Platform> {
    let deep = |cluster, entry, exit, residency| Idle {
        cluster,
        entry,
        exit,
        residency,
    };
    let four = Board {
        khz: vec![300_000, 700_000, 1_500_000],
        idle: vec![deep(false, 50, 200, 900), deep(true, 300, 900, 3_000)],
        ..Board::symmetric(4)
    };
    let twelve = Board {
        arch: "x86_64", // with a high-resolution tick in 7.3
        clusters: vec![(6, 1024), (6, 1024)],
        khz: vec![500_000, 1_000_000],
        transition_us: 0,
        idle: vec![deep(false, 0, 40, 100)],
        tick_hz: 1000,
    };
    let mut all: Vec<Platform> = ["hikey960", "juno-r0", "tc2"].map(builtin).into();
    all.extend([four.platform(), twelve.platform()]);
    all.push(Board::symmetric(1).platform());
    all
}

pub(crate) fn random_options(random: &mut Random) -> Options {
    Options {
        idle_states: !random.one_in(4),
        kernel_costs: !random.one_in(4),
        transition_latency: !random.one_in(4),
        ..all_on(random.spread(20 * MS, 200 * MS))
    }
}

/// With every queue.
const POLICIES: [(&str, &str); 11] = [
    ("linux-3.1", "cfs"),
    ("linux-3.8", "cfs"),
    ("linux-4.7", "cfs"),
    ("linux-4.7+asym-capacity", "cfs"),
    ("linux-4.17", "cfs"),
    ("linux-4.17+energy-aware", "cfs"),
    ("linux-4.17", "dsq"),
    ("linux-4.17", "eevdf"),
    ("linux-7.3", "cfs"),
    ("linux-7.3", "eevdf"),
    ("wakeplace", "dsq"),
];

fn seeds(from: u64, to: u64) {
    let boards = boards();
    for seed in from..to {
        let mut random = Random(seed);
        let platform = &boards[random.below(boards.len() as u64) as usize];
        let load = random_workload(&mut random, platform.cpus.len() as u32);
        let options = random_options(&mut random);
        for (name, queue) in POLICIES {
            eprintln_seed(seed, platform, name, queue);
            let policy = policy(name, &[("queue", queue)]);
            let (report, log) = simulate(platform, &policy, &load, &options);
            check_log(platform, &load, &log, &report, queue == "eevdf");
            assert!(!matches!(report.ended, Ended::ZeroTimeLoop { .. }));
            let again = simulate(platform, &policy, &load, &options);
            assert!(again == (report, log), "seed {seed}: two runs differ");
        }
        for (name, form) in FORMS {
            eprintln_seed(seed, platform, "linux-4.17, balancing of", name);
            let policy = policy("linux-4.17", form);
            let (report, log) = simulate(platform, &policy, &load, &options);
            check_log(platform, &load, &log, &report, false);
        }
    }
}

/// Goal: the rules hold with task groups, too; the engine compares the weights on all levels at the
/// end of each run.
#[test]
fn random_groups_obey_the_rules() {
    let boards = boards();
    for seed in 2_000..2_120 {
        let mut random = Random(seed);
        let platform = &boards[random.below(boards.len() as u64) as usize];
        let mut load = random_workload(&mut random, platform.cpus.len() as u32);
        random_groups(&mut random, &mut load);
        if random.one_in(2) {
            load = with_classes(&mut random, load);
        }
        let options = random_options(&mut random);
        for (name, queue) in POLICIES {
            let policy = policy(name, &[("queue", queue)]);
            if check(platform, &policy, &load, &options).is_err() {
                continue; // no groups there, or more deadline tasks than the board admits
            }
            eprintln_seed(seed, platform, name, queue);
            let (report, log) = simulate(platform, &policy, &load, &options);
            check_log(platform, &load, &log, &report, queue == "eevdf");
            let again = simulate(platform, &policy, &load, &options);
            assert!(again == (report, log), "seed {seed}: two runs differ");
        }
    }
}

/// Goal: budgets hold whatever else happens, and no task is lost (the engine compares the books at
/// the end of each run). Bound: in no run does a group have more than its quota for each period
/// that has begun, and a tick on each CPU.
#[test]
fn random_budgets_are_kept() {
    let boards = boards();
    for seed in 2_200..2_280 {
        let mut random = Random(seed);
        let platform = &boards[random.below(boards.len() as u64) as usize];
        let mut load = random_workload(&mut random, platform.cpus.len() as u32);
        random_groups(&mut random, &mut load);
        random_limits(&mut random, &mut load);
        if random.one_in(2) {
            load = with_classes(&mut random, load);
        }
        let options = random_options(&mut random);
        for (name, queue) in POLICIES {
            let policy = policy(name, &[("queue", queue)]);
            if check(platform, &policy, &load, &options).is_err() {
                continue;
            }
            eprintln_seed(seed, platform, name, queue);
            let (report, log) = simulate(platform, &policy, &load, &options);
            let again = simulate(platform, &policy, &load, &options);
            assert!(
                again == (report.clone(), log),
                "seed {seed}: two runs differ"
            );
            for group in load.groups.iter().filter(|g| g.parent.is_none()) {
                let Some(max) = group.limits.bandwidth else {
                    continue;
                };
                let above = |g: &&TaskGroup| g.parent.map(|parent| &load.groups[parent as usize]);
                let is_in = |g: &&TaskGroup| {
                    let mut around = std::iter::successors(Some(*g), |g| above(g));
                    around.any(|g| g.name == group.name)
                };
                let tasks = load.groups.iter().filter(is_in).flat_map(|g| &g.tasks);
                let fair = tasks.filter(|t| load.tasks[**t as usize].attributes.realtime.is_none());
                let ran: u64 = fair.map(|t| report.tasks[*t as usize].run_ns).sum();
                // One begins with the run, and others at the ends of periods, wherever these lie.
                let periods = report.end_ns / max.period_ns + 2;
                let ticks = 8 * MS * platform.cpus.len() as u64;
                assert!(ran <= periods * max.quota_ns + ticks, "seed {seed}: {ran}");
            }
        }
    }
}

/// Shown only when the test fails.
#[allow(clippy::print_stderr, reason = "the seed of a failure")]
fn eprintln_seed(seed: u64, platform: &Platform, policy: &str, queue: &str) {
    eprintln!("seed {seed}, {}, {policy}, queue={queue}", platform.name);
}

#[test]
fn random_runs_obey_the_rules_1() {
    seeds(0, 150);
}

#[test]
fn random_runs_obey_the_rules_2() {
    seeds(150, 300);
}

/// Goal: the rules hold at length and under full load, too.
#[test]
fn long_runs_obey_the_rules() {
    for (seed, platform) in boards().iter().enumerate() {
        let mut random = Random(1_000 + seed as u64);
        let load = random_workload(&mut random, platform.cpus.len() as u32);
        for (name, queue) in POLICIES {
            eprintln_seed(1_000 + seed as u64, platform, name, queue);
            let policy = policy(name, &[("queue", queue)]);
            let (report, log) = simulate(platform, &policy, &load, &all_on(5 * S));
            check_log(platform, &load, &log, &report, queue == "eevdf");
        }
    }
}

/// Some tasks become RT or deadline tasks, the latter unpinned and within what is admitted.
pub(crate) fn with_classes(random: &mut Random, mut load: Workload) -> Workload {
    for (index, task) in load.tasks.iter_mut().enumerate() {
        let priority = 1 + random.below(99) as u8;
        task.attributes.io_wait = random.one_in(3);
        task.attributes.wake_here = random.one_in(8);
        task.attributes.realtime = match random.below(8) {
            0 => Some(RealTime::Fifo { priority }),
            1 => Some(RealTime::RoundRobin { priority }),
            2 if index < 4 => {
                let period = 5 * MS + random.below(20 * MS);
                let runtime = 100 * US + random.below(period / 5);
                let deadline = runtime + random.below(period - runtime);
                task.cpus = None;
                task.phases.iter_mut().for_each(|phase| phase.cpus = None);
                RealTime::deadline(runtime, deadline, period).ok()
            }
            _ => None,
        };
    }
    load
}

/// Goal: the rules hold with all classes and with devices' interrupts, too.
#[test]
fn random_runs_with_all_classes_obey_the_rules() {
    let boards = boards();
    for seed in 2_000..2_120 {
        let mut random = Random(seed);
        let platform = &boards[random.below(boards.len() as u64) as usize];
        let load = random_workload(&mut random, platform.cpus.len() as u32);
        let load = with_classes(&mut random, load);
        let mut options = random_options(&mut random);
        let interrupts = random.one_in(2);
        if interrupts {
            options.set("model.irq", "0:3ms:200us").expect("a setting");
        }
        for (name, queue) in POLICIES {
            eprintln_seed(seed, platform, name, queue);
            let policy = policy(name, &[("queue", queue)]);
            if check(platform, &policy, &load, &options).is_err() {
                continue; // more deadline tasks than a small board admits
            }
            let (report, log) = simulate(platform, &policy, &load, &options);
            let allows = (queue == "eevdf", interrupts);
            check_log_with(platform, &load, &log, &report, allows);
            let again = simulate(platform, &policy, &load, &options);
            assert!(again == (report, log), "seed {seed}: two runs differ");
        }
    }
}
