//! Energy and the times of CPUs and clusters (docs/guide/model.md, "Energy").
//!
//! What must stay: both books agree to the last unit: no tolerance. Powers are of src/testbed.rs or
//! the measured tables named.
//! Tests by part (in crates/metrics/src): energy.rs: `energy_by_hand` (`label`, `cluster_energy`),
//! `threads_of_a_core_share_power` (`label`); ledger.rs: `energy_by_hand` (`parts`, `cpus`,
//! `PartTable`), `transitions_are_drawn_and_named` (`cpu_kind`), `work_is_drawn_by_busy_cpus_alone`
//! (`work`), `a_ledger_entry_under_the_wrong_state_is_found` (`settle`),
//! `an_unannounced_cluster_is_found` (`check_times`), `threads_of_a_core_share_power`
//! (`PartKind::BusyBeside`); occupancy.rs: `transitions_are_drawn_and_named` (CPUs on their way);
//! meter.rs: `board_is_counted_only_beside_microwatts` (`board`),
//! `work_under_the_wrong_state_is_found` (`close`), `time_that_runs_backwards_is_found` (the order
//! of time), `equals_the_power_summed_nanosecond_by_nanosecond` (all announcements),
//! `measured_powers_follow_the_other_clock` (`points`); running.rs:
//! `work_is_drawn_by_busy_cpus_alone` (`work`), `a_wrong_running_total_is_found` (`energy`),
//! `equals_the_power_summed_nanosecond_by_nanosecond` (`redraw_cpu`, `redraw_cluster`, `Sum`);
//! ledger.rs: `an_unannounced_cpu_is_found`; wiring.rs: `time_that_runs_backwards_is_found`
//! (`elapsed`); power.rs: `measured_powers_follow_the_other_clock` (`of_platform`),
//! `clock_gated_power_goes_with_the_clock` (`cpu_idle`); crates/power/src/lib.rs:
//! `clock_gated_power_goes_with_the_clock` (`measured`, `ByPoint`); meter.rs:
//! `a_run_of_length_zero_closes`.
//! Helpers, and who fails with them: `started` (most tests); `apply`, `power`, `random_event`,
//! `random_run` (`equals_the_power_summed_nanosecond_by_nanosecond`); `names` (`energy_by_hand`,
//! `transitions_are_drawn_and_named`, `threads_of_a_core_share_power`).

use super::{EnergyMeter, PowerSource};
use crate::energy::PartKind;
use crate::power::PlatformPower;
use crate::testbed::{Digits, Random, two_clusters};
use wakeplace_engine::Observer;
use wakeplace_engine::happen;
use wakeplace_engine::observe::CpuPower::{self, Busy, Idle, Transition};
use wakeplace_platform::{Platform, PowerUnit, Smt};

/// Names of its idle states.
fn names(platform: &Platform) -> Vec<String> {
    platform
        .idle_states
        .iter()
        .map(|s| s.name.clone())
        .collect()
}

/// All CPUs busy, clusters powered, lowest operating points.
fn started(power: Digits) -> EnergyMeter<Digits> {
    let mut meter = EnergyMeter::new(&two_clusters(), power);
    for cpu in 0..3 {
        happen!(meter, 0 => CpuPower { cpu, power: Busy });
    }
    for i in 0..2 {
        happen!(meter, 0 => ClusterPower { cluster: i, state: None });
        happen!(meter, 0 => Frequency { domain: i, opp: 0 });
    }
    meter
}

#[test]
fn energy_by_hand() {
    let mut meter = started(Digits::NO_BOARD);
    happen!(meter, 10 => CpuPower { cpu: 1, power: Idle { state: 1 } });
    let early: Vec<u128> = meter.clusters(20).collect();
    let little = 20 * 1000 + 10 * 1100 + 10 * 2110 + 20 * 3000;
    assert_eq!(early, [little, 20 * 1200 + 20 * 3100]);
    happen!(meter, 30 => Frequency { domain: 0, opp: 2 });
    happen!(meter, 40 => CpuPower { cpu: 2, power: Idle { state: 2 } });
    happen!(meter, 50 => ClusterPower { cluster: 1, state: Some(2) });
    happen!(meter, 100 => Finish);
    let report = meter.close();
    let cpu0 = 30 * 1000 + 70 * 1002;
    let (cpu1_busy, cpu1_idle) = (10 * 1100, 20 * 2110 + 70 * 2112);
    let (cpu2_busy, cpu2_idle) = (40 * 1200, 60 * 2220);
    let little = 30 * 3000 + 70 * 3002;
    let (big_on, big_quiet, big_off) = (40 * 3100, 10 * 5120, 50 * 4120);
    let parts: Vec<_> = report
        .parts
        .iter()
        .map(|p| (p.cluster, p.kind, p.time_ns, p.energy))
        .collect();
    let expected = [
        (0, PartKind::Busy, 110, cpu0 + cpu1_busy),
        (0, PartKind::CpuIdle(1), 90, cpu1_idle),
        (0, PartKind::ClusterOn, 100, little),
        (1, PartKind::Busy, 40, cpu2_busy),
        (1, PartKind::CpuIdle(2), 60, cpu2_idle),
        (1, PartKind::ClusterOn, 40, big_on),
        (1, PartKind::ClusterIdle(2), 50, big_off),
        (1, PartKind::ClusterQuiet(2), 10, big_quiet),
    ];
    assert_eq!(parts, expected);
    assert_eq!(
        report.cluster_energy(1),
        cpu2_busy + cpu2_idle + big_on + big_quiet + big_off
    );
    let both: Vec<u128> = (0..2).map(|c| report.cluster_energy(c)).collect();
    assert_eq!(meter.clusters(100).collect::<Vec<_>>(), both);
    assert_eq!(
        report.cpu_energy,
        report.cluster_energy(0) + report.cluster_energy(1)
    );
    let of_cpu = |at: usize| {
        let cpu = report.cpus[at];
        (cpu.busy, cpu.idle, cpu.transition)
    };
    assert_eq!(of_cpu(0), (cpu0, 0, 0));
    assert_eq!(of_cpu(1), (cpu1_busy, cpu1_idle, 0));
    assert_eq!(of_cpu(2), (cpu2_busy, cpu2_idle, 0));
    assert_eq!(report.board_energy, None);
    let labels: Vec<_> = report.parts[3..]
        .iter()
        .map(|p| p.label(&names(&two_clusters())))
        .collect();
    let states = [
        "busy",
        "idle cluster-off",
        "cluster on",
        "cluster idle cluster-off",
    ];
    assert_eq!(labels[..4], states);
    assert_eq!(labels[4], "cluster on, CPUs in cluster-off");
}

#[test]
fn transitions_are_drawn_and_named() {
    let mut meter = started(Digits::NO_BOARD);
    happen!(meter, 0 => CpuPower { cpu: 0, power: Idle { state: 0 } });
    // CPU 1 goes into `off` and out again; the clock changes on the way in. CPU 2 is caught.
    happen!(meter, 10 => CpuPower { cpu: 1, power: Transition { state: 1 } });
    happen!(meter, 20 => Frequency { domain: 0, opp: 2 });
    happen!(meter, 30 => CpuPower { cpu: 2, power: Transition { state: 2 } });
    happen!(meter, 40 => CpuPower { cpu: 1, power: Idle { state: 1 } });
    happen!(meter, 70 => CpuPower { cpu: 1, power: Transition { state: 1 } });
    happen!(meter, 80 => CpuPower { cpu: 2, power: Busy });
    happen!(meter, 90 => CpuPower { cpu: 1, power: Busy });
    happen!(meter, 100 => Finish);
    let report = meter.close();
    let little: Vec<_> = report.parts.iter().filter(|p| p.cluster == 0).collect();
    let found: Vec<_> = little
        .iter()
        .map(|p| (p.kind, p.time_ns, p.energy))
        .collect();
    let expected = [
        (PartKind::Busy, 20, 10 * 1100 + 10 * 1102),
        (PartKind::CpuIdle(0), 100, 20 * 2000 + 80 * 2002),
        (PartKind::CpuIdle(1), 30, 30 * 2112),
        (
            PartKind::CpuTransition(1),
            50,
            10 * 6110 + 20 * 6112 + 20 * 6112,
        ),
        // All but 40 to 70: a CPU on its way keeps the cluster as a busy one does.
        (PartKind::ClusterOn, 70, 20 * 3000 + 50 * 3002),
        (PartKind::ClusterQuiet(0), 30, 30 * 5002),
    ];
    assert_eq!(found, expected);
    assert_eq!(little[3].label(&names(&two_clusters())), "into/out of off");
    let big: Vec<_> = report.parts.iter().filter(|p| p.cluster == 1).collect();
    let found: Vec<_> = big.iter().map(|p| (p.kind, p.time_ns, p.energy)).collect();
    let expected = [
        (PartKind::Busy, 50, 50 * 1200),
        (PartKind::CpuTransition(2), 50, 50 * 6220),
        (PartKind::ClusterOn, 100, 100 * 3100),
    ];
    assert_eq!(found, expected);
}

#[test]
fn board_is_counted_only_beside_microwatts() {
    let all = 1000 + 1100 + 1200 + 3000 + 3100;
    for (unit, expected) in [(PowerUnit::Microwatt, Some(700)), (PowerUnit::Bogo, None)] {
        let mut meter = started(Digits {
            board: Some(7),
            unit,
            work: false,
        });
        happen!(meter, 100 => Finish);
        let report = meter.close();
        assert_eq!(
            (report.cpu_energy, report.board_energy),
            (all * 100, expected)
        );
    }
}

#[test]
fn a_run_of_length_zero_closes() {
    let mut meter = started(Digits {
        board: Some(7),
        unit: PowerUnit::Microwatt,
        work: true,
    });
    happen!(meter, 0 => Finish);
    assert_eq!(
        (meter.close().cpu_energy, meter.close().board_energy),
        (0, Some(0))
    );
    assert_eq!(meter.close().work_energy, Some(0));
}

/// Goal: the board draws more while CPUs are busy, at the operating point of each, and nothing more
/// while they idle or are on their way; CPU energy is what it was. By hand, in power x ns.
#[test]
fn work_is_drawn_by_busy_cpus_alone() {
    let events = |meter: &mut EnergyMeter<Digits>| {
        // CPU 0 busy throughout, from 30 on at operating point 2; CPU 1 until 10, and from 80 on.
        happen!(meter, 10 => CpuPower { cpu: 1, power: Transition { state: 1 } });
        happen!(meter, 20 => CpuPower { cpu: 1, power: Idle { state: 1 } });
        happen!(meter, 30 => Frequency { domain: 0, opp: 2 });
        // CPU 2 until 40.
        happen!(meter, 40 => CpuPower { cpu: 2, power: Idle { state: 2 } });
        happen!(meter, 70 => CpuPower { cpu: 1, power: Transition { state: 1 } });
        happen!(meter, 80 => CpuPower { cpu: 1, power: Busy });
        happen!(meter, 100 => Finish);
    };
    let mut with = started(Digits {
        work: true,
        ..Digits::NO_BOARD
    });
    events(&mut with);
    let mut without = started(Digits::NO_BOARD);
    events(&mut without);
    let (with, without) = (with.close(), without.close());
    let cpu0 = 30 * 7000 + 70 * 7002;
    let cpu1 = 10 * 7100 + 20 * 7102;
    let cpu2 = 40 * 7200;
    assert_eq!(with.work_energy, Some(cpu0 + cpu1 + cpu2));
    assert_eq!(without.work_energy, None);
    assert_eq!(
        (with.cpu_energy, with.parts),
        (without.cpu_energy, without.parts)
    );
}

#[test]
#[should_panic(expected = "energy books differ: ledger 940001, running total 940000")]
fn a_ledger_entry_under_the_wrong_state_is_found() {
    let mut meter = started(Digits::NO_BOARD);
    happen!(meter, 100 => Finish);
    // One ns of CPU 0 moves from busy at OPP 0 (power 1000) to busy at OPP 1 (1001).
    meter.ledger.corrupt(0, 0, 1);
    let _ = meter.close();
}

#[test]
#[should_panic(expected = "energy books differ: ledger 940000, running total 940001")]
fn a_wrong_running_total_is_found() {
    let mut meter = started(Digits::NO_BOARD);
    meter.running.corrupt();
    happen!(meter, 100 => Finish);
    let _ = meter.close();
}

#[test]
#[should_panic(expected = "energy books differ: work: ledger 2130001, running total 2130000")]
fn work_under_the_wrong_state_is_found() {
    let mut meter = started(Digits {
        work: true,
        ..Digits::NO_BOARD
    });
    happen!(meter, 100 => Finish);
    // As above, and what the CPU itself draws less is drawn by nobody: only work is wrong.
    meter.ledger.corrupt(0, 0, 1);
    meter.running.corrupt();
    meter.running.corrupt();
    let _ = meter.close();
}

#[test]
#[should_panic(expected = "CPU 2 has 90 ns on record of a run of 100 ns")]
fn an_unannounced_cpu_is_found() {
    let mut meter = EnergyMeter::new(&two_clusters(), Digits::NO_BOARD);
    for cpu in 0..2 {
        happen!(meter, 0 => CpuPower { cpu, power: Busy });
    }
    for i in 0..2 {
        happen!(meter, 0 => ClusterPower { cluster: i, state: None });
        happen!(meter, 0 => Frequency { domain: i, opp: 0 });
    }
    happen!(meter, 10 => CpuPower { cpu: 2, power: Busy });
    happen!(meter, 100 => Finish);
    let _ = meter.close();
}

#[test]
#[should_panic(expected = "cluster 1 has 0 ns on record of a run of 100 ns")]
fn an_unannounced_cluster_is_found() {
    let mut meter = EnergyMeter::new(&two_clusters(), Digits::NO_BOARD);
    for cpu in 0..3 {
        happen!(meter, 0 => CpuPower { cpu, power: Busy });
    }
    happen!(meter, 0 => ClusterPower { cluster: 0, state: None });
    for domain in 0..2 {
        happen!(meter, 0 => Frequency { domain, opp: 0 });
    }
    happen!(meter, 100 => Finish);
    let _ = meter.close();
}

#[test]
#[should_panic(expected = "time order")]
fn time_that_runs_backwards_is_found() {
    let mut meter = started(Digits::NO_BOARD);
    happen!(meter, 10 => CpuPower { cpu: 1, power: Busy });
    happen!(meter, 9 => CpuPower { cpu: 0, power: Busy });
}

#[derive(Clone, Copy)]
enum Event {
    Cpu(u32, CpuPower),
    Cluster(u32, Option<u16>),
    Frequency(u32, u16),
}

/// The state of the machine, kept in the plainest way.
#[derive(Clone, Copy)]
struct Machine {
    cpus: [CpuPower; 3],
    clusters: [Option<u16>; 2],
    opps: [u16; 2],
}

impl Machine {
    fn apply(&mut self, event: Event) {
        match event {
            Event::Cpu(cpu, power) => self.cpus[cpu as usize] = power,
            Event::Cluster(cluster, state) => self.clusters[cluster as usize] = state,
            Event::Frequency(domain, opp) => self.opps[domain as usize] = opp,
        }
    }

    /// Power of everything, from scratch.
    fn power(&self, p: &Digits) -> u128 {
        let mut sum = 0;
        for (cpu, power) in self.cpus.iter().enumerate() {
            let opp = usize::from(if cpu < 2 { self.opps[0] } else { self.opps[1] });
            sum += match power {
                Busy => p.cpu_busy(cpu, opp),
                Idle { state } => p.cpu_idle(cpu, usize::from(*state), opp),
                Transition { state } => p.cpu_transition(cpu, usize::from(*state), opp),
            };
        }
        for (cluster, state) in self.clusters.iter().enumerate() {
            let opp = usize::from(self.opps[cluster]);
            let members = if cluster == 0 { 0..2 } else { 2..3 };
            let states = self.cpus[members].iter().map(|cpu| match cpu {
                Busy | Transition { .. } => None,
                Idle { state } => Some(usize::from(*state)),
            });
            // None, a CPU that is not idle, is the least of all.
            sum += match (state, states.min().flatten()) {
                (Some(off), _) => p.cluster_idle(cluster, usize::from(*off), opp),
                (None, None) => p.cluster_on(cluster, opp),
                (None, Some(shallowest)) => p.cluster_all_idle(cluster, shallowest, opp),
            };
        }
        let work = |(cpu, power): (usize, &CpuPower)| match power {
            Busy => p.work(cpu, 0, usize::from(self.opps[usize::from(cpu == 2)])),
            Idle { .. } | Transition { .. } => 0,
        };
        sum += self.cpus.iter().enumerate().map(work).sum::<u64>();
        u128::from(sum + p.board.unwrap_or(0))
    }
}

fn random_event(random: &mut Random) -> Event {
    match random.below(4) {
        0 | 1 => {
            let state = random.below(3) as u16;
            let power = match random.below(3) {
                0 => Busy,
                1 => Idle { state },
                _ => Transition { state },
            };
            Event::Cpu(random.below(3) as u32, power)
        }
        2 => {
            let state = [None, Some(2)][random.below(2) as usize];
            Event::Cluster(random.below(2) as u32, state)
        }
        _ => {
            let domain = random.below(2);
            Event::Frequency(domain as u32, random.below(3 - domain) as u16)
        }
    }
}

/// Events of a run, sorted by time, several at some instants.
fn random_run(random: &mut Random) -> (Vec<(u64, Event)>, u64) {
    let mut time = 0;
    let mut events = Vec::new();
    for _ in 0..random.below(60) {
        time += random.below(3) * random.below(20);
        events.push((time, random_event(random)));
    }
    (events, time + random.below(10))
}

#[test]
fn equals_the_power_summed_nanosecond_by_nanosecond() {
    for seed in 0..300 {
        let mut random = Random(seed);
        let board = [None, Some(50)][random.below(2) as usize];
        let power = Digits {
            board,
            unit: PowerUnit::Microwatt,
            work: seed % 2 == 1,
        };
        let (events, end) = random_run(&mut random);
        let mut meter = started(power);
        for &(time, event) in &events {
            match event {
                Event::Cpu(cpu, power) => happen!(meter, time => CpuPower { cpu, power }),
                Event::Cluster(cluster, state) => {
                    happen!(meter, time => ClusterPower { cluster, state })
                }
                Event::Frequency(domain, opp) => {
                    happen!(meter, time => Frequency { domain, opp })
                }
            }
        }
        happen!(meter, end => Finish);
        let report = meter.close();

        let mut machine = Machine {
            cpus: [Busy; 3],
            clusters: [None; 2],
            opps: [0; 2],
        };
        let mut next = events.iter().peekable();
        let mut sum = 0;
        for now in 0..end {
            while let Some((_, event)) = next.next_if(|(time, _)| *time <= now) {
                machine.apply(*event);
            }
            sum += machine.power(&power);
        }
        let rest = report.board_energy.unwrap_or(0) + report.work_energy.unwrap_or(0);
        assert_eq!(report.cpu_energy + rest, sum, "seed {seed}");
    }
}

/// Goal: two busy threads of a core draw what the core draws with both, half each; the CPU of the
/// other core is alone. By hand: CPU 0 is busy for 100 ns, CPU 1 for the first 40; both, 1200 of
/// 1024 for two. Alone CPU 0 draws 500, CPU 1 500, together 500 * 1200 / 2048 = 292 each.
#[test]
fn threads_of_a_core_share_power() {
    let mut platform = two_clusters();
    platform.cpus[2].core = 1;
    platform.smt = Some(Smt {
        core_capacity: vec![1024, 1178],
        core_power: vec![1024, 1200],
        source: platform.costs.source.clone(),
    });
    // For work: a busy CPU alone 100, 200, 300 on the little cluster, 0 and 1000 on the big one.
    let works = [vec![100, 200, 300], vec![0, 1000]];
    for (domain, works) in platform.freq_domains.iter_mut().zip(works) {
        for (opp, work) in domain.opps.iter_mut().zip(works) {
            opp.work_power = Some(work);
        }
    }
    let power = PlatformPower::new(&platform).expect("it has power");
    let mut meter = EnergyMeter::new(&platform, power);
    for cpu in 0..3 {
        happen!(meter, 0 => CpuPower { cpu, power: Busy });
    }
    for i in 0..2 {
        happen!(meter, 0 => ClusterPower { cluster: i, state: None });
        happen!(meter, 0 => Frequency { domain: i, opp: 0 });
    }
    happen!(meter, 40 => CpuPower { cpu: 1, power: Idle { state: 1 } });
    happen!(meter, 100 => Finish);
    let report = meter.close();
    let found: Vec<_> = report
        .parts
        .iter()
        .map(|p| (p.cluster, p.kind, p.time_ns, p.energy))
        .filter(|(_, kind, ..)| !matches!(kind, PartKind::ClusterOn))
        .collect();
    let expected = [
        (0, PartKind::Busy, 60, 60 * 500),
        (0, PartKind::CpuIdle(1), 60, 60),
        (0, PartKind::BusyBeside(1), 80, 80 * 292),
        (1, PartKind::Busy, 100, 100 * 1000),
    ];
    assert_eq!(found, expected);
    assert_eq!(
        report.parts[2].label(&names(&platform)),
        "busy beside a thread"
    );
    // Both draw 100 * 1200 / 2048 = 58 for 40 ns, then CPU 0 alone 100.
    assert_eq!(report.work_energy, Some(2 * 40 * 58 + 60 * 100));
}

/// Goal: measured powers follow the other cluster's clock, in both books. Method: by hand from
/// Wattson's Tensor_cpu_*.csv. CPU 0 (little, 1803 MHz) is busy for 100 ns; a big CPU joins at
/// 2802 MHz from 40 to 60 ns. All others are off. mW of the little CPU: 342.95 beside the lowest
/// clock, 269.2 beside 2802 MHz; of its cluster 35.71 and 35.12; of the big CPU 1942.89.
#[test]
fn measured_powers_follow_the_other_clock() {
    let platform = Platform::builtin("gs101").expect("built in");
    let mut meter = EnergyMeter::of_platform(&platform).expect("power");
    let deep = |cpu: u32| {
        let states = platform.idle_states_of(wakeplace_platform::CpuId(cpu));
        let (index, _) = states.last().expect("idle states");
        Idle {
            state: u16::try_from(index).expect("few"),
        }
    };
    for cpu in 0..8 {
        happen!(meter, 0 => CpuPower { cpu, power: deep(cpu) });
    }
    happen!(meter, 0 => CpuPower { cpu: 0, power: Busy });
    for (domain, opp) in [(0, 10), (1, 0), (2, 16)] {
        happen!(meter, 0 => ClusterPower { cluster: domain, state: None });
        happen!(meter, 0 => Frequency { domain, opp });
    }
    happen!(meter, 40 => CpuPower { cpu: 6, power: Busy });
    happen!(meter, 60 => CpuPower { cpu: 6, power: deep(6) });
    happen!(meter, 100 => Finish);
    let report = meter.close();
    let little = 80 * (342_950 + 35_710) + 20 * (269_200 + 35_120);
    assert_eq!(report.cluster_energy(0), little);
    assert_eq!(report.cluster_energy(1), 0);
    assert_eq!(report.cluster_energy(2), 20 * 1_942_890);
}

/// Goal: a CPU that is clock-gated draws by its clock, and its cluster stays up. Method: Wattson's
/// Tensor_cpu_1d.csv: 2802 MHz 121.43 mW, 500 MHz 16.14; the big cluster has no power of its own.
#[test]
fn clock_gated_power_goes_with_the_clock() {
    let platform = Platform::builtin("gs101").expect("built in");
    let power = PlatformPower::new(&platform).expect("power");
    let states = platform.idle_states_of(wakeplace_platform::CpuId(6));
    let indices: Vec<usize> = states.map(|(index, _)| index).collect();
    let [gated, off] = indices[..] else {
        panic!("two states")
    };
    assert_eq!(power.cpu_idle(6, gated, 16), 121_430);
    assert_eq!(power.cpu_idle(6, gated, 0), 16_140);
    assert_eq!(power.cpu_idle(6, off, 16), 0);
    let little = platform.idle_states_of(wakeplace_platform::CpuId(0)).next();
    let (gated, _) = little.expect("a state");
    let point = 10 * 31;
    assert_eq!(power.cluster_all_idle(0, gated, point), 35_710);
}
