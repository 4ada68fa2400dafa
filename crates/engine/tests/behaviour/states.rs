//! What `States` shows of a run, against what docs/rules says it must be.
//!
//! What must stay: looking changes nothing; what is shown is worked from the pages.
//! Tests by part (in crates/engine/src): state.rs: `power_mode_is_seen` (`domains`, `level`,
//! `sched_mc`), `level_0_is_seen` (`FLAGS`), `a_cpu_that_left_is_seen` (`States`, `Activity`);
//! mechanics/told.rs: `a_cpu_that_left_is_seen` (`Seen`), `looking_changes_nothing` (`look`,
//! `state_shown`); sim.rs: `looking_changes_nothing` (`show_states`).
//! Helpers, and who fails with them: `states`, `hogs` (`power_mode_is_seen`, `level_0_is_seen`,
//! `a_cpu_that_left_is_seen`); `groups` (`power_mode_is_seen`).

use crate::common::*;
use wakeplace_engine::{
    Activity, DomainState, FreqCap, Hotplug, MachineState, Options, SchedMcState, States, run,
};
use wakeplace_workload::{Loops, TaskScript};

/// Operating points of the u8500: the table of the series changes at 600 MHz.
const SLOW: u32 = 399_360;
const FAST: u32 = 798_720;

/// The states at these times of a run at this speed.
fn states(
    name: &str,
    khz: u32,
    tasks: Vec<TaskScript>,
    options: Options,
    times_ns: &[u64],
) -> Vec<MachineState> {
    let cap = FreqCap {
        domain: 0,
        khz: Some(khz),
        at_ns: 0,
    };
    let options = Options {
        freq_cap: vec![cap],
        ..options
    };
    let mut states = States::at(times_ns);
    let _ = run(
        &builtin("u8500"),
        &policy(name, &[("governor", "performance")]),
        &workload(tasks, vec![]),
        &options,
        &mut states,
    );
    assert_eq!(states.missed_ns(), None);
    states.taken()
}

fn hogs(number: usize) -> Vec<TaskScript> {
    (0..number).map(|_| hog(None)).collect()
}

fn groups(domain: &DomainState) -> Vec<(Vec<u32>, u32)> {
    let groups = domain.groups.iter();
    groups.map(|g| (g.cpus.clone(), g.capacity)).collect()
}

/// Goal: docs/rules/sched-mc.md#mc-freq-table and docs/rules/sched-mc.md#mc-debugfs, the debug
/// files at level 2: 400 MHz claim 4096 a CPU by table 1, 800 MHz 1024; P1-P3 point 7: one level,
/// the packages {0} and {1}, saving power instead of preferring siblings; acceptance 2: four tasks
/// stay together.
#[test]
fn power_mode_is_seen() {
    for (khz, power, on_cpu0) in [(SLOW, 4096, 4), (FAST, 1024, 2)] {
        let at = 1_500 * MS;
        let states = states("linux-3.1+sched-mc=2", khz, hogs(4), all_on(2 * S), &[at]);
        let [state] = states.as_slice() else {
            panic!("{states:?}");
        };
        assert_eq!(state.time_ns, at);
        let expected = SchedMcState {
            cpu_power: power,
            scale: 1,
            freq_khz: khz,
        };
        for cpu in &state.cpus {
            assert_eq!(cpu.sched_mc, Some(expected), "{khz}");
            assert_eq!((cpu.khz, cpu.capacity), (khz, power), "{khz}");
        }
        assert_eq!(state.cpus[0].nr_running, on_cpu0, "{khz}");
        assert_eq!(state.cpus[0].activity, Activity::Busy);
        assert!(state.cpus[0].running.is_some());
        let [domain] = state.domains.as_slice() else {
            panic!("{:?}", state.domains);
        };
        assert_eq!((domain.level, &domain.cpus[..]), ("PKG", &[0, 1][..]));
        assert_eq!(groups(domain), [(vec![0], power), (vec![1], power)]);
        for flag in ["POWERSAVINGS_BALANCE", "ASYM_PACKING"] {
            assert!(domain.flags.contains(&flag), "{:?}", domain.flags);
        }
        assert!(!domain.flags.contains(&"PREFER_SIBLING"));
    }
}

/// Goal: docs/rules/sched-mc.md#levels-3-1 and docs/rules/sched-mc.md#mc-acceptance (1): at level 0
/// one level over the shared cache that spreads siblings, and 1024 by table 0 at any speed; plain
/// 3.1 has no such files.
#[test]
fn level_0_is_seen() {
    let of = |name| states(name, SLOW, hogs(2), all_on(S), &[500 * MS]).swap_remove(0);
    let level_0 = of("linux-3.1+sched-mc=0");
    let mc = level_0.cpus[1].sched_mc.expect("the series' files");
    assert_eq!((mc.cpu_power, mc.scale), (1024, 0));
    let [domain] = level_0.domains.as_slice() else {
        panic!("{:?}", level_0.domains);
    };
    assert_eq!((domain.level, &domain.cpus[..]), ("MC", &[0, 1][..]));
    assert!(domain.flags.contains(&"PREFER_SIBLING"));
    assert!(!domain.flags.contains(&"POWERSAVINGS_BALANCE"));
    let plain = of("linux-3.1");
    assert!(plain.cpus.iter().all(|cpu| cpu.sched_mc.is_none()));
    assert_eq!(plain.domains, level_0.domains);
}

/// Goal: a CPU that has left is shown so, with the domains of the rest (one CPU has none); times in
/// any order come in the order of time, 0 and the end among them.
#[test]
fn a_cpu_that_left_is_seen() {
    let options = Options {
        hotplug: vec![Hotplug {
            at_ns: S,
            cpu: 1,
            online: false,
        }],
        ..all_on(2 * S)
    };
    let times = [2 * S, 0, 999 * MS, S];
    let states = states("linux-3.1", SLOW, hogs(2), options, &times);
    let at: Vec<u64> = states.iter().map(|state| state.time_ns).collect();
    assert_eq!(at, [0, 999 * MS, S, 2 * S]);
    let online: Vec<bool> = states.iter().map(|state| state.cpus[1].online).collect();
    assert_eq!(online, [true, true, false, false]);
    let gone = &states[3];
    assert_eq!(gone.cpus[1].activity, Activity::Offline);
    assert_eq!((gone.cpus[1].nr_running, gone.cpus[0].nr_running), (0, 2));
    assert!(gone.domains.is_empty() && !states[1].domains.is_empty());
}

/// Goal: who looks changes nothing; a time after the last task's end is missed, and the names of
/// idle states are the platform's.
#[test]
fn looking_changes_nothing() {
    let platform = builtin("tc2");
    let policy = policy("linux-7.3", &[]);
    let steps = phase(1, None, &[run_ms(5), sleep_ms(50), run_ms(5)]);
    let tasks = || workload(vec![script(Loops::Times(1), vec![steps.clone()])], vec![]);
    let options = all_on(S);
    let times: Vec<u64> = (1..=100).map(|n| n * MS).collect();
    let mut states = States::at(&times);
    let seen = run(&platform, &policy, &tasks(), &options, &mut states);
    let (plain, _) = simulate(&platform, &policy, &tasks(), &options);
    assert_eq!(seen.event_hash, plain.event_hash);
    assert_eq!(seen, plain);
    let missed = states.missed_ns().expect("it ends after some 60 ms");
    assert!(
        missed > seen.end_ns && missed - seen.end_ns <= MS,
        "{missed}"
    );
    let states = states.taken();
    assert_eq!(states.last().map(|s| s.time_ns), Some(missed - MS));
    // At 40 ms all sleep.
    let asleep = |activity: &Activity| match activity {
        Activity::Idle(name) => platform.idle_states.iter().any(|state| state.name == *name),
        _ => false,
    };
    assert!(states[39].cpus.iter().all(|cpu| asleep(&cpu.activity)));
}
