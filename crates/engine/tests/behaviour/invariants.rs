//! Random workloads on random machines: whatever happens, the rules of `checker` hold, and it
//! happens twice the same way.

use crate::common::checker::check_log;
use crate::common::*;
use wakeplace_engine::{Ended, Options};
use wakeplace_platform::Platform;
use wakeplace_workload::{Event, FairPolicy, Loops, Phase, TaskScript, Timer, TimerMode, Workload};

/// A small generator of its own (SplitMix64): the seed is in every message.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// From `least` to `most`, small ones as likely as big ones.
    fn spread(&mut self, least: u64, most: u64) -> u64 {
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
    match random.below(4) {
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
        nice: random.one_in(4).then(|| random.below(40) as i8 - 20),
        events,
    }
}

fn random_workload(random: &mut Random, nr_cpus: u32) -> Workload {
    let lists = random_lists(random, nr_cpus);
    let mut timers = Vec::new();
    let mut tasks = Vec::new();
    for index in 0..1 + random.below(u64::from(3 * nr_cpus)) {
        let mut phases: Vec<Phase> = (0..1 + random.below(3))
            .map(|_| random_phase(random, &lists, &mut timers))
            .collect();
        phases[0].loops = Loops::Times(1 + random.below(4)); // something takes time
        tasks.push(TaskScript {
            name: format!("task{index}"),
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
            phases,
        });
    }
    workload(tasks, timers)
}

fn boards() -> Vec<Platform> {
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

fn random_options(random: &mut Random) -> Options {
    Options {
        idle_states: !random.one_in(4),
        kernel_costs: !random.one_in(4),
        transition_latency: !random.one_in(4),
        ..all_on(random.spread(20 * MS, 200 * MS))
    }
}

/// With every queue.
const POLICIES: [(&str, &str); 7] = [
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
