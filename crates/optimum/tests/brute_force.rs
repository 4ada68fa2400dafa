//! The search against an evaluation of its own: every placement, every operating point of every
//! domain, in floating point, from the platform's tables themselves (docs/decisions/036).
//!
//! What must stay: the second evaluation shares nothing with the search but the platform's tables;
//! a bound must hold. Rounding is at most what `close` allows.
//! Tests by part (in crates/optimum/src): lib.rs: `agrees_with_every_placement_looked_at`
//! (`search`), `one_small_task_by_hand` (`DEMAND_SCALE`, `POWER_SCALE`); machine.rs:
//! `agrees_with_every_placement_looked_at` (`Machine::new`), `one_small_task_by_hand` (`cpu_row`,
//! `cluster_rows`); search.rs: `what_cannot_be_is_said` (`Verdict`),
//! `a_search_that_stops_early_proves_a_bound` (`open`, `first`, `verdict`); state.rs:
//! `a_search_that_stops_early_proves_a_bound` (`least_added`).
//! Helpers, and who fails with them: `hikey960` (all tests); `room`, `island`, `brute_force`,
//! `power`, `close` (`agrees_with_every_placement_looked_at`); `load` (`one_small_task_by_hand`,
//! `what_cannot_be_is_said`, `a_search_that_stops_early_proves_a_bound`).

use wakeplace_optimum::{DEMAND_SCALE, Limits, Load, Machine, POWER_SCALE, Verdict, search};
use wakeplace_platform::{CpuId, Platform};

/// xorshift64*: the states of the test.
struct Rng(u64);

impl Rng {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % n
    }
}

/// Demand that a CPU can serve at an operating point of its domain, capacity units.
fn room(p: &Platform, cpu: usize, opp: usize) -> f64 {
    let opps = &p.freq_domains[p.freq_domain_of(CpuId(cpu as u32))].opps;
    let full = f64::from(p.cpus[cpu].capacity);
    full * f64::from(opps[opp].khz) / f64::from(opps[opps.len() - 1].khz)
}

/// Power of a domain that is also a cluster, at one operating point; None: it is too slow.
fn island(p: &Platform, domain: usize, opp: usize, load: &[f64]) -> Option<f64> {
    let d = &p.freq_domains[domain];
    let point = &d.opps[opp];
    let (mut power, mut longest) = (0.0, 0.0_f64);
    for cpu in &d.cpus {
        let busy = load[cpu.index()] / room(p, cpu.index(), opp);
        if busy > 1.0 + 1e-12 {
            return None;
        }
        let own = point.power.unwrap() as f64;
        let states = p.idle_states.iter().filter(|s| s.cpus.contains(cpu));
        let idle = states
            .map(|s| s.cpu_power.unwrap() as f64)
            .fold(own, f64::min);
        power += own * busy + idle * (1.0 - busy);
        longest = longest.max(busy);
    }
    let on = point.cluster_power.unwrap_or(0) as f64;
    let states = p.idle_states.iter().filter(|s| s.cpus.contains(&d.cpus[0]));
    let best = states
        .filter_map(|s| s.cluster_power)
        .fold(on, |a, b| a.min(b as f64));
    Some(power + on * longest + best * (1.0 - longest))
}

/// Least power over all placements; None: there is none.
fn brute_force(p: &Platform, loads: &[Load]) -> Option<f64> {
    let n = p.cpus.len();
    let mut least: Option<f64> = None;
    for code in 0..n.pow(loads.len() as u32) {
        let (mut load, mut left, mut allowed) = (vec![0.0; n], code, true);
        for task in loads {
            let cpu = left % n;
            left /= n;
            load[cpu] += task.demand as f64 / DEMAND_SCALE as f64;
            allowed &= task.cpus.as_ref().is_none_or(|c| c.contains(&(cpu as u32)));
        }
        if !allowed {
            continue;
        }
        let of = |d: usize| {
            let points = 0..p.freq_domains[d].opps.len();
            points
                .filter_map(|opp| island(p, d, opp, &load))
                .reduce(f64::min)
        };
        let all: Option<f64> = (0..p.freq_domains.len()).map(of).sum();
        if let Some(power) = all {
            least = Some(least.map_or(power, |l: f64| l.min(power)));
        }
    }
    least
}

fn power(found: &Verdict) -> Option<f64> {
    match found {
        Verdict::Found(f) => {
            assert_eq!(f.bound, f.power, "a finished search has proven its result");
            Some(f.power as f64 / POWER_SCALE as f64)
        }
        Verdict::Impossible => None,
        Verdict::Unknown => panic!("no limit applies to so few tasks"),
    }
}

/// Rooms are rounded to 1/1024 of a capacity unit, and the least one is 133 units.
fn close(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() <= 2e-5 * b,
        (None, None) => true,
        _ => false,
    }
}

fn load(capacity_units: u64) -> Load {
    Load {
        demand: capacity_units * DEMAND_SCALE,
        cpus: None,
    }
}

fn hikey960() -> (Platform, Machine) {
    let platform = Platform::builtin("hikey960").unwrap();
    let machine = Machine::new(&platform).unwrap();
    (platform, machine)
}

/// Method: random powers (rising or not), demands and masks on the two clusters of a HiKey960.
#[test]
fn agrees_with_every_placement_looked_at() {
    let (base, _) = hikey960();
    let (mut rng, mut impossible, mut masked) = (Rng(1), 0, 0);
    for round in 0..120 {
        let mut platform = base.clone();
        for opp in platform.freq_domains.iter_mut().flat_map(|d| &mut d.opps) {
            opp.power = Some(10_000 + rng.below(1_500_000));
            opp.cluster_power = Some(rng.below(100_000));
        }
        let most = [150, 500, 1100][round % 3];
        let tasks = (0..1 + rng.below(4)).map(|_| {
            let cpus: Vec<u32> = (0..8).filter(|_| rng.below(2) == 0).collect();
            let mask = rng.below(4) == 0 && !cpus.is_empty();
            masked += u32::from(mask);
            Load {
                demand: rng.below(most * DEMAND_SCALE),
                cpus: mask.then_some(cpus),
            }
        });
        let tasks: Vec<Load> = tasks.collect();
        let machine = Machine::new(&platform).unwrap();
        let found = power(&search(&machine, &tasks, Limits::default()));
        let want = brute_force(&platform, &tasks);
        assert!(
            close(found, want),
            "round {round}: {found:?}, expected {want:?}: {tasks:?}"
        );
        impossible += u32::from(want.is_none());
    }
    assert!(impossible > 3 && masked > 20, "{impossible} {masked}");
}

/// One task of 43: A53 at 533 MHz can do 462 * 533 / 1844; CPUs that sleep draw nothing, the A53
/// cluster 12000 uW on and 7846 asleep, the A73 cluster nothing.
#[test]
fn one_small_task_by_hand() {
    let (_, machine) = hikey960();
    let share = 43.0 / (462.0 * 533.0 / 1844.0);
    let little = 28_728.0 * share + 7_846.0 + (12_000.0 - 7_846.0) * share;
    let big = 243_358.0 * 43.0 / (1024.0 * 903.0 / 2362.0) + 7_846.0;
    assert!(little < big);
    let Verdict::Found(found) = search(&machine, &[load(43)], Limits::default()) else {
        panic!("it fits");
    };
    let power = found.power as f64 / POWER_SCALE as f64;
    assert!((power - little).abs() < 1.0, "{power}, expected {little}");
    assert!(found.placement[0] < 4);
    // No A53 can do 463: it must go to an A73, at 1421 MHz (616), for 903 MHz does 391.
    let Verdict::Found(found) = search(&machine, &[load(463)], Limits::default()) else {
        panic!("it fits");
    };
    let share = 463.0 / (1024.0 * 1421.0 / 2362.0);
    let power = found.power as f64 / POWER_SCALE as f64;
    assert!((power - 500_192.0 * share - 7_846.0).abs() < 1.0, "{power}");
    assert!(found.placement[0] >= 4);
}

#[test]
fn what_cannot_be_is_said() {
    let (_, machine) = hikey960();
    let limits = Limits::default();
    assert_eq!(search(&machine, &[load(1025)], limits), Verdict::Impossible);
    // Five that only an A73 can hold, and only alone.
    let five = vec![load(600); 5];
    assert_eq!(search(&machine, &five, limits), Verdict::Impossible);
    let none = Limits { tasks: 4, ..limits };
    assert_eq!(search(&machine, &five, none), Verdict::Unknown);
}

/// Sixteen tasks of 16 sizes: beyond the exhaustive size. With few nodes the bound must hold under
/// what more nodes find, and both under the placement it comes with.
#[test]
fn a_search_that_stops_early_proves_a_bound() {
    let (_, machine) = hikey960();
    let tasks: Vec<Load> = (0..16).map(|i| load(30 + 11 * i)).collect();
    let run = |nodes| {
        let limits = Limits { nodes, tasks: 500 };
        match search(&machine, &tasks, limits) {
            Verdict::Found(found) => found,
            other => panic!("{other:?}"),
        }
    };
    let (short, long) = (run(200), run(100_000));
    assert!(short.nodes < 1_000 && long.nodes > short.nodes);
    assert!(short.bound < short.power, "200 nodes cannot prove it");
    assert!(short.bound <= long.bound && long.power <= short.power);
    assert!(long.bound <= long.power);
}
