//! Clocks that hardware chooses or bounds (docs/decisions/059).
//!
//! What must stay: bounds and clocks are the platform files' words; the test names the file and
//! key.
//! Tests by part (in crates/engine/src): mechanics/clocks.rs: `awake_cores_bound_each_others_clock`
//! (`grants`), `a_driver_may_offer_one_clock_for_all_above_the_nominal` (`offered`);
//! mechanics/turbo.rs: `awake_cores_bound_each_others_clock` (`note`, `group`, `count_awake`),
//! `a_driver_may_offer_one_clock_for_all_above_the_nominal` (`offered`, `nominal`),
//! `what_counts_as_awake_is_the_platforms_word` (`shallow`); mechanics/autonomous.rs:
//! `powersave_is_the_hardwares_choice_under_such_a_driver` (`choose_clocks`, `look_soon`,
//! `look_at_load`); mechanics/power.rs: `a_package_keeps_to_its_limit` (`Drawn`, `take`);
//! mechanics/power_limit.rs: `a_package_keeps_to_its_limit` (`new`, `look_at_power`,
//! `limit_draws`).
//! Helpers, and who fails with them: `one` (all tests); `khz_at`
//! (`awake_cores_bound_each_others_clock`,
//! `a_driver_may_offer_one_clock_for_all_above_the_nominal`,
//! `what_counts_as_awake_is_the_platforms_word`,
//! `powersave_is_the_hardwares_choice_under_such_a_driver`); `alder`
//! (`awake_cores_bound_each_others_clock`,
//! `powersave_is_the_hardwares_choice_under_such_a_driver`).

use crate::common::*;
use wakeplace_platform::{Cpufreq, Platform, PowerLimit, Turbo, TurboBins};
use wakeplace_workload::{Loops, TaskScript};

/// A task that never sleeps, on one CPU.
fn one(cpu: u32) -> TaskScript {
    hog(Some(&[cpu]))
}

/// The operating point of a domain's clock at a time, kHz.
fn khz_at(platform: &Platform, log: &Log, domain: u32, at_ns: u64) -> u32 {
    let all = log.frequencies(domain);
    let last = all.iter().rev().find(|(time, _)| *time <= at_ns);
    let opp = last.expect("announced at 0").1;
    platform.freq_domains[domain as usize].opps[usize::from(opp)].khz
}

fn alder() -> Platform {
    let mut platform = builtin("alder-lake-12900k-nosmt");
    platform.power_limit = None;
    platform
}

/// Goal: the highest clock follows the number of awake cores of its group, both ways. Source: the
/// platform's `[turbo]`: P cores 5.2 GHz with one or two awake, 5.0 with three or four, 4.9 with
/// more; E cores 3.9 with up to four. Method: endless tasks on so many P cores, one of them until
/// 100 ms; the governor asks for the highest clock all the time. What stays awake for the kernel's
/// own sake for some microseconds does not count in the end.
#[test]
fn awake_cores_bound_each_others_clock() {
    let platform = alder();
    let policy = policy("linux-7.3", &[("governor", "performance")]);
    for (cores, expected) in [
        (1, 5_200_000),
        (2, 5_200_000),
        (3, 5_000_000),
        (5, 4_900_000),
    ] {
        let load = workload((0..cores).map(one).collect(), vec![]);
        let (_, log) = simulate(&platform, &policy, &load, &all_on(S));
        let most = (300..900).map(|ms| khz_at(&platform, &log, 0, ms * MS));
        let times = most.clone().filter(|khz| *khz == expected).count();
        assert!(times > 540, "{cores} cores: {times} of 600 at {expected}");
        let e_core = khz_at(&platform, &log, 8, 500 * MS);
        assert_eq!(e_core, 3_900_000, "P cores do not count there");
    }
    let until = |ns: u64| TaskScript {
        cpus: Some(vec![2]),
        ..script(Loops::Times(1), vec![phase(1, None, &[run_ms(ns / MS)])])
    };
    let load = workload(vec![one(0), one(1), until(100 * MS)], vec![]);
    let (_, log) = simulate(&platform, &policy, &load, &all_on(S));
    assert_eq!(khz_at(&platform, &log, 0, 50 * MS), 5_000_000);
    let after = (200..900).map(|ms| khz_at(&platform, &log, 0, ms * MS));
    assert!(after.filter(|khz| *khz == 5_200_000).count() > 630);
    let mut free = platform.clone();
    free.turbo = None;
    let load = workload((0..8).map(one).collect(), vec![]);
    let (_, log) = simulate(&free, &policy, &load, &all_on(S));
    assert_eq!(khz_at(&free, &log, 0, 500 * MS), 5_200_000, "unless stated");
}

/// Goal: a driver may offer all clocks above the nominal one as one. What is asked for there is the
/// highest, and what runs is what awake cores leave. Source: `snb-ep-2s`: nominal 2.0 GHz; 2.8 with
/// one awake core, 2.4 with eight; Linux 3.9 has the first driver that asks for each. Method:
/// endless tasks under ondemand of 3.8; then a task that needs some 2.3 GHz under schedutil of 7.3,
/// which picks a clock between, unless the platform says that no kernel can.
#[test]
fn a_driver_may_offer_one_clock_for_all_above_the_nominal() {
    let mut platform = builtin("snb-ep-2s");
    let old = policy("linux-3.8", &[("governor", "ondemand")]);
    for (cores, expected) in [(1, 2_800_000), (3, 2_700_000), (8, 2_400_000)] {
        let load = workload((0..cores).map(one).collect(), vec![]);
        let (_, log) = simulate(&platform, &old, &load, &all_on(S));
        let most = (500..900).map(|ms| khz_at(&platform, &log, 0, ms * MS));
        let times = most.clone().filter(|khz| *khz == expected).count();
        assert!(times > 360, "{cores} cores: {times} of 400 at {expected}");
    }
    let new = policy("linux-7.3", &[("governor", "schedutil")]);
    let busy = [run_ms(26), sleep_ms(14)];
    let task = TaskScript {
        cpus: Some(vec![0]),
        ..script(Loops::Forever, vec![phase(1, None, &busy)])
    };
    let load = workload(vec![task], vec![]);
    let between = |platform: &Platform| {
        let (_, log) = simulate(platform, &new, &load, &all_on(2 * S));
        let all = (500..1900).map(|ms| khz_at(platform, &log, 0, ms * MS));
        all.filter(|khz| (2_000_001..2_700_000).contains(khz))
            .count()
    };
    assert!(between(&platform) > 100, "{}", between(&platform));
    let turbo = platform.turbo.as_mut().expect("stated");
    turbo.nominal.as_mut().expect("stated").each_since = None;
    assert_eq!(between(&platform), 0);
}

/// Goal: a shallow idle state keeps a core awake for the others, by the platform's word. Method:
/// three CPUs of a plain board, two of them idle; with `awake` the idle ones count.
#[test]
fn what_counts_as_awake_is_the_platforms_word() {
    let board = Board {
        khz: vec![250_000, 500_000, 1_000_000],
        ..Board::symmetric(3)
    };
    let mut platform = board.platform();
    let cpus: Vec<_> = platform
        .freq_domains
        .iter()
        .flat_map(|d| d.cpus.clone())
        .collect();
    let policy = policy("linux-7.3", &[("governor", "performance")]);
    let load = workload(vec![one(0)], vec![]);
    for (awake, expected) in [(false, 1_000_000), (true, 500_000)] {
        platform.turbo = Some(Turbo {
            awake: vec![awake; platform.idle_states.len()],
            bins: vec![TurboBins {
                cpus: cpus.clone(),
                khz: vec![1_000_000, 500_000],
            }],
            nominal: None,
        });
        let (_, log) = simulate(&platform, &policy, &load, &all_on(S));
        assert_eq!(khz_at(&platform, &log, 0, 500 * MS), expected, "{awake}");
    }
}

/// Goal: under a driver whose hardware chooses, `governor=powersave` is no lowest clock: it follows
/// the load. By the rule (docs/decisions/059) a hint of 128 fills a CPU to 750 per mille: from 800
/// MHz the clock is 4/3 of what it was after each look of a full load, so 5.2 GHz come after seven
/// looks of 1 ms. With a hint of 255 a full CPU is what is wanted, and the lowest clock stays.
/// Elsewhere the governor is the kernel's and stays at the lowest.
#[test]
fn powersave_is_the_hardwares_choice_under_such_a_driver() {
    let mut platform = alder();
    let policy = policy("linux-7.3", &[("governor", "powersave")]);
    let load = workload(vec![one(0)], vec![]);
    let (report, log) = simulate(&platform, &policy, &load, &all_on(S));
    let top = log
        .frequencies(0)
        .iter()
        .find(|(_, opp)| *opp == 44)
        .map(|(at, _)| *at);
    let began = log.stretches(0)[0].from;
    let ramp_ns = top.expect("the top clock") - began;
    assert!((6 * MS..9 * MS).contains(&ramp_ns), "{ramp_ns}");
    assert_eq!(khz_at(&platform, &log, 0, 900 * MS), 5_200_000);
    assert!(!report.energy_active, "schedutil alone is energy-aware");
    platform.cpufreq = None;
    let (_, log) = simulate(&platform, &policy, &load, &all_on(S));
    assert_eq!(khz_at(&platform, &log, 0, 900 * MS), 800_000);
    platform.cpufreq = Some(Cpufreq {
        driver: "amd-pstate".to_owned(),
        preference: 255,
    });
    let (_, log) = simulate(&platform, &policy, &load, &all_on(S));
    assert_eq!(
        khz_at(&platform, &log, 0, 900 * MS),
        800_000,
        "a full CPU is what it wants"
    );
}

/// Goal: a package keeps to what it may draw in the long run, after a while of more. Method: 14
/// endless tasks on a laptop of 28 W, with a mean over 100 ms; what it draws is summed by the
/// platform's own powers at the clocks of the run.
#[test]
fn a_package_keeps_to_its_limit() {
    let mut platform = builtin("raptor-lake-1370p-nosmt");
    let limit = PowerLimit {
        tau_ns: 100 * MS,
        ..platform.power_limit.expect("stated")
    };
    platform.power_limit = Some(limit);
    let policy = policy("linux-7.3", &[("governor", "performance")]);
    let load = workload((0..14).map(one).collect(), vec![]);
    let watts = |platform: &Platform, ms: u64| {
        let (_, log) = simulate(platform, &policy, &load, &all_on(S));
        let of_domain = |domain: usize| {
            let at = log.frequencies(domain as u32);
            let opp = at.iter().rev().find(|(time, _)| *time <= ms * MS);
            platform.freq_domains[domain].opps[usize::from(opp.expect("one").1)].power
        };
        let cores: u64 = (0..14).filter_map(of_domain).sum();
        (cores + limit.beside_uw) / 1_000_000
    };
    assert!(watts(&platform, 10) > 50, "at first");
    let settled = watts(&platform, 900);
    assert!((26..=28).contains(&settled), "{settled} W");
    platform.power_limit = None;
    assert!(watts(&platform, 900) > 50, "unless stated");
}
