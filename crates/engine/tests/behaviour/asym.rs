//! The capacity-aware series from end to end on TC2 (CPUs 0, 1 A15; 2 to 4 A7): with the rule it
//! leaves out, what an observer of wake-up cases is told, and when a task counts as big.
//!
//! What must stay: thresholds (345 of 430, 370 of 462) and times to be big are the page's; an
//! observer must change no event.
//! Tests by part (in crates/engine/src): kernel/model/queues.rs: `misfit_on_top_of_the_series`
//! (`pushed`); policy/src/explain/wakeup_case.c: `a_task_becomes_big_in_time`,
//! `watching_changes_nothing`; the platform files: `capacities_of_the_boards`.
//! Helpers, and who fails with them: `late_hog`, `leaves_after` (`misfit_on_top_of_the_series`);
//! `is_big_after` (`a_task_becomes_big_in_time`). Rules: docs/rules/capacity-aware.md#time-to-big,
//! docs/rules/capacity-aware.md#wakeup-cases, docs/rules/capacity-aware.md#board-capacities.

use crate::common::*;
use wakeplace_engine::observe::{Happening, Observer, WakeupCase};
use wakeplace_engine::{Options, check, run};
use wakeplace_workload::{Event, Loops, TaskScript};

const ON: &str = "linux-4.7+asym-capacity";

/// Asleep on CPU `cpu` until its utilisation is gone, then always running, on any CPU.
fn late_hog(cpu: u32) -> TaskScript {
    script(
        Loops::Forever,
        vec![
            phase(1, Some(&[cpu]), &[sleep_ms(2_000)]),
            phase(1, None, &[run_ms(1_000_000)]),
        ],
    )
}

/// When the hog that began on an A7 at 2 s first runs on an A15, ns after it began; None: never.
fn leaves_after(settings: &[(&str, &str)]) -> Option<u64> {
    let platform = builtin("tc2");
    let load = workload(vec![late_hog(2)], vec![]);
    let (_, log) = simulate(&platform, &policy(ON, settings), &load, &all_on(6 * S));
    let stretches = log.stretches(0);
    let late = stretches.iter().filter(|s| s.to > 2 * S + MS);
    let began = late.clone().next().expect("it runs").from;
    let big = late.clone().find(|s| s.cpu < 2)?;
    assert!(
        stretches.iter().all(|s| s.from < big.from || s.cpu < 2),
        "it stays"
    );
    Some(big.from - began)
}

/// Goal: what the series leaves out, active migration off small CPUs, is the rule of 4.20 on top of
/// it: an always-running task on an A7 counts as too big after 76.8 ms
/// (docs/rules/capacity-aware.md#time-to-big, contributions; with the clock scaled 47.5), the next
/// tick kicks an idle A15, whose pass over the domain of 5 CPUs is due within 5 to 10 ms, rounded
/// up to ticks; then it is pushed. 3 ms as in the table's test. Not before, for no other rule moves
/// it; without the rule it stays for ever. Source: docs/rules/capacity-aware.md#misfit-migration,
/// docs/rules/capacity-aware.md#time-to-big.
#[test]
fn misfit_on_top_of_the_series() {
    let hz = u64::from(builtin("tc2").tick_hz);
    let tick = S / hz;
    for (scale, big_us) in [("contrib", 76_800), ("clock", 47_500)] {
        let set = [("misfit", "on"), ("pelt_scale", scale)];
        let after = leaves_after(&set).unwrap_or_else(|| panic!("{scale}: it stays"));
        let big = big_us * US;
        let most = big + 3 * MS + tick + 10 * MS + 2 * tick;
        assert!(after >= big - 3 * MS, "{scale}: {} us", after / US);
        assert!(after <= most, "{scale}: {} us", after / US);
    }
    assert_eq!(leaves_after(&[]), None);
    assert_eq!(
        leaves_after(&[("misfit", "on"), ("asym_flag", "off")]),
        None
    );
}

/// Notes the case of each wake-up.
#[derive(Default)]
struct Cases(Vec<(u64, WakeupCase)>);

impl Observer for Cases {
    fn happened(&mut self, time_ns: u64, what: &Happening) {
        if let Happening::WakeupCase(it) = *what {
            self.wakeup_case(time_ns, it)
        }
    }
}

impl Cases {
    fn wakeup_case(&mut self, time_ns: u64, case: WakeupCase) {
        self.0.push((time_ns, case));
    }
}

/// Is a task big at its wake-up at once after `ran_us` without a break, from utilisation 0
/// (`slept`) or from the start?
fn is_big_after(
    board: &str,
    cpu: u32,
    ran_us: u64,
    slept: bool,
    settings: &[(&str, &str)],
) -> bool {
    let platform = builtin(board);
    let held = Event::Runtime {
        wall_ns: ran_us * US,
    };
    let blink = Event::Sleep {
        duration_ns: 10 * US,
    };
    let mut events = if slept { vec![sleep_ms(2_000)] } else { vec![] };
    events.extend([held, blink, run_ms(1)]);
    let load = workload(vec![once(cpu, &events)], vec![]);
    let options = Options {
        wakeup_cases: true,
        parent_cpu: Some(3), // not the task's: a fork's value is of a CPU that did nothing
        ..all_off(4 * S)
    };
    let policy = policy(ON, settings);
    check(&platform, &policy, &load, &options).unwrap_or_else(|e| panic!("{e}"));
    let mut cases = Cases::default();
    run(&platform, &policy, &load, &options, &mut cases);
    let (_, last) = cases.0.last().expect("it wakes");
    assert!(last.wake());
    last.index() & 4 != 0
}

/// Goal: when an always-running task becomes big, seen at its wake-ups, in both forms of load
/// tracking. Source: docs/rules/capacity-aware.md#time-to-big (345 is unfit on 430, 370 on 462),
/// from 0 and from the value of a fork on an idle CPU of that capacity. Tolerance 3 ms, as for the
/// table itself.
#[test]
fn a_task_becomes_big_in_time() {
    let fork = ("post_init_capacity", "on");
    for (board, cpu, slept, clock_us, contrib_us) in [
        ("tc2", 0, true, 20_000, 19_500),
        ("tc2", 2, true, 47_500, 76_800),
        ("tc2", 2, false, 22_500, 44_000),
        ("hikey960", 0, true, 48_900, 76_800),
        ("hikey960", 0, false, 21_000, 44_000),
    ] {
        for (scale, us) in [("clock", clock_us), ("contrib", contrib_us)] {
            let set = [("pelt_scale", scale), fork];
            for (ran_us, big) in [(us - 3_000, false), (us + 3_000, true)] {
                let got = is_big_after(board, cpu, ran_us, slept, &set);
                assert_eq!(
                    got, big,
                    "{board} CPU {cpu} {scale} {ran_us} us, slept: {slept}"
                );
            }
        }
    }
}

/// Goal: who watches changes nothing: the same events with and without cases, told once for each
/// choice of a CPU. Source: ARCHITECTURE.md (observers measure).
#[test]
fn watching_changes_nothing() {
    let platform = builtin("tc2");
    let hogs = (0..3).map(|n| {
        let events = [run_ms(2 + n), sleep_ms(7)];
        script(Loops::Forever, vec![phase(1_000_000, None, &events)])
    });
    let load = workload(hogs.collect(), vec![]);
    for name in [ON, "linux-4.17", "linux-7.3"] {
        let policy = policy(name, &[]);
        let (plain, log) = simulate(&platform, &policy, &load, &all_on(S));
        let options = Options {
            wakeup_cases: true,
            ..all_on(S)
        };
        let mut cases = Cases::default();
        let watched = run(&platform, &policy, &load, &options, &mut cases);
        assert_eq!(plain.event_hash, watched.event_hash, "{name}");
        let placed = log.pick(|w| matches!(w, What::Placement(_)).then_some(()));
        assert_eq!(cases.0.len(), placed.len(), "{name}");
    }
}

/// Goal: full capacities of the boards. Source: docs/rules/capacity-aware.md#board-capacities
/// (device trees): TC2 430, Juno r0 446, Juno r2 383, HiKey960 462, each beside 1024.
#[test]
fn capacities_of_the_boards() {
    for (board, little) in [
        ("tc2", 430),
        ("juno-r0", 446),
        ("juno-r2", 383),
        ("hikey960", 462),
    ] {
        let platform = builtin(board);
        let of = |c: &wakeplace_platform::Cpu| c.capacity;
        let mut found: Vec<u32> = platform.cpus.iter().map(of).collect();
        found.sort_unstable();
        found.dedup();
        assert_eq!(found, [little, 1024], "{board}");
    }
}
