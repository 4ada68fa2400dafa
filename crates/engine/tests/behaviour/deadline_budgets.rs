//! What running takes of a deadline task's budget (docs/rules/rt-and-deadline.md#dl-scaled): from
//! 4.16 on by the CPU's capacity and frequency. All figures are arithmetic of that rule.
//!
//! What must stay: lengths are worked from the page's rule, with the loss of rounding named; the
//! published case keeps its figures. The arithmetic itself is tested in
//! crates/policy-sys/tests/all/classes.rs.
//! Tests by part (in crates/engine/src): kernel/model/class_state.rs (`budget_left_ns`) and
//! classes.rs (`charge_budget`): all but `which_eras_scale`, which is of the policies' parameters.
//! Helpers, and who fails with them: `little`, `stretch_ns`
//! (`a_budget_lasts_longer_on_a_slow_cpu`); `every_16_ms`, `timers`
//! (`tasks_of_two_sizes_on_hikey960`, `schedutil_leaves_time_for_the_budget`).

use super::classes::{dl, of};
use crate::common::*;
use wakeplace_engine::{Hotplug, Options};
use wakeplace_platform::Platform;
use wakeplace_policy_sys::Policy;
use wakeplace_workload::{Event, Loops, TaskScript, Timer, TimerMode};

/// One CPU of 462 and one of 1024, at 500 MHz or 1 GHz. The big one leaves at once.
fn little() -> (Platform, Options) {
    let board = Board {
        clusters: vec![(1, 462), (1, 1024)],
        khz: vec![500_000, 1_000_000],
        ..Board::symmetric(1)
    };
    let big_leaves = Hotplug {
        at_ns: 0,
        cpu: 1,
        online: false,
    };
    let options = Options {
        hotplug: vec![big_leaves],
        ..all_off(S)
    };
    (board.platform(), options)
}

/// How long a task that always wants to run may run in a period, when all is settled.
fn stretch_ns(policy: &Policy, runtime_ms: u64, period_ms: u64) -> u64 {
    let (platform, options) = little();
    let load = workload(vec![of(dl(runtime_ms, period_ms), hog(None))], vec![]);
    let (_, log) = simulate(&platform, policy, &load, &options);
    let stretches = log.stretches(0);
    let stretch = stretches[2];
    assert_eq!(stretch.cpu, 0);
    assert_eq!(
        stretches[3].from - stretch.from,
        period_ms * MS,
        "throttled"
    );
    stretch.to - stretch.from
}

/// Goal: 5 ms of budget last 5 ms x 1024 / 462 = 11.082 ms on a CPU of 462, and twice as long at
/// half its clock; before 4.16 5 ms, and with the rule off. What is lost at each update is below
/// 1 ns of budget per factor.
#[test]
fn a_budget_lasts_longer_on_a_slow_cpu() {
    const FULL: u64 = 11_082_252;
    for (era, governor, settings, expected) in [
        ("linux-4.7", "performance", "on", FULL),
        ("linux-4.7", "performance", "off", 5 * MS),
        ("linux-4.17", "performance", "on", FULL),
        ("linux-4.17", "powersave", "on", 2 * FULL),
        ("linux-7.3", "performance", "on", FULL),
        ("linux-7.3", "powersave", "on", 2 * FULL),
        ("linux-7.3", "powersave", "off", 5 * MS),
        ("wakeplace", "powersave", "on", 2 * FULL),
    ] {
        let settings = [("governor", governor), ("dl_scaled", settings)];
        let lasts = stretch_ns(&policy(era, &settings), 5, 40);
        assert!(lasts.abs_diff(expected) <= 100, "{era} {governor}: {lasts}");
    }
}

/// Goal: eras have the rule from 4.16 on, and so has `wakeplace`.
#[test]
fn which_eras_scale() {
    for (era, scaled) in [
        ("linux-3.8", false),
        ("linux-4.7", false),
        ("linux-4.17", true),
        ("linux-5.0", true),
        ("linux-6.12", true),
        ("wakeplace", true),
    ] {
        let policy = policy(era, &[]);
        assert_eq!(policy.core_params().dl_scaled, u32::from(scaled), "{era}");
    }
}

/// Goal: a change of the clock in the middle of a job counts from there on. Method: 8 ms of budget,
/// 4 ms at the full clock of a CPU of 1024, the rest at half of it: 4 + 8 = 12 ms. Back after 2 ms
/// at half the clock: 4 + 2 + 3 = 9 ms.
#[test]
fn a_budget_follows_the_clock() {
    let board = Board {
        khz: vec![500_000, 1_000_000],
        ..Board::symmetric(1)
    };
    let policy = policy("linux-7.3", &[("governor", "performance")]);
    let platform = board.platform();
    let load = workload(vec![of(dl(8, 20), hog(None))], vec![]);
    let (_, log) = simulate(&platform, &policy, &load, &all_off(S));
    let from = log.stretches(0)[5].from;
    for (back_ms, expected) in [(400, 12 * MS), (2, 9 * MS)] {
        let down = from + 4 * MS;
        let caps = format!("0:500000@{down}ns+0:max@{}ns", down + back_ms * MS);
        let mut options = all_off(S);
        options.set("model.freq_cap", &caps).unwrap();
        let (_, log) = simulate(&platform, &policy, &load, &options);
        let stretch = log.stretches(0)[5];
        assert_eq!(stretch.from, from);
        let lasts = stretch.to - stretch.from;
        assert!(lasts.abs_diff(expected) <= 100, "{back_ms}: {lasts}");
    }
}

/// Works so long each 16 ms, with a budget of so much.
fn every_16_ms(delay_ms: u64, work_us: u64, runtime_us: u64, timer: u32) -> TaskScript {
    let period_ns = 16 * MS;
    let class = wakeplace_workload::RealTime::deadline(runtime_us * US, period_ns, period_ns);
    let events = [
        Event::Run {
            work_ns: work_us * US,
        },
        Event::Timer { timer, period_ns },
    ];
    TaskScript {
        delay_ns: delay_ms * MS,
        ..of(
            Some(class.unwrap()),
            script(Loops::Forever, vec![phase(1, None, &events)]),
        )
    }
}

fn timers(nr: u32) -> Vec<Timer> {
    let timer = |n: u32| Timer {
        name: n.to_string(),
        mode: TimerMode::Absolute,
        start_delay_ns: 0,
    };
    (0..nr).map(timer).collect()
}

/// Goal: the published case: on HiKey960 at the highest clocks four tasks of 11 of 16 ms (10 ms of
/// work) run on big CPUs, four of 6.5 ms (5.5 ms), which begin 1 ms later, on little ones, and none
/// misses a period. Source: Dietmar Eggemann, "Capacity awareness for SCHED_DEADLINE", v3, 20 May
/// 2020 (5.9). 5.5 ms of a big CPU are 12.2 ms of a little one; 6.5 ms of budget are 14.4 ms there.
#[test]
fn tasks_of_two_sizes_on_hikey960() {
    let hikey960 = builtin("hikey960");
    for era in ["linux-6.2", "linux-6.12", "linux-7.3", "wakeplace"] {
        let big = (0..4).map(|n| every_16_ms(0, 10_000, 11_000, n));
        let little = (4..8).map(|n| every_16_ms(1, 5_500, 6_500, n));
        let load = workload(big.chain(little).collect(), timers(8));
        let policy = policy(era, &[("governor", "performance")]);
        let (_, log) = simulate(&hikey960, &policy, &load, &all_on(2 * S));
        for task in 0..8 {
            let on_big = task < 4;
            let stretches = log.stretches(task);
            let there = stretches.iter().all(|s| (s.cpu >= 4) == on_big);
            assert!(there, "{era} {task}: {stretches:?}");
            let slacks = log.slacks(task);
            assert!(slacks.len() >= 120, "{era} {task}: {}", slacks.len());
            assert!(slacks.iter().all(|slack| *slack >= 0), "{era} {task}");
        }
    }
}

/// Goal: under schedutil a job that fits its budget at the highest clock is done in time, however
/// low the clock: it asks for runtime / period of the CPU, at which the budget lasts the period.
/// 4 ms of work each 16 ms with 5 ms of budget: 4 / (5 / 16) = 12.8 ms at that clock. One period
/// may be missed at the start, where the clock has yet to rise.
#[test]
fn schedutil_leaves_time_for_the_budget() {
    for board in ["rpi5", "hikey960", "apple-m1"] {
        for era in ["linux-4.17", "linux-6.12", "linux-7.3", "wakeplace"] {
            let load = workload(vec![every_16_ms(0, 4_000, 5_000, 0)], timers(1));
            let (_, log) = simulate(&builtin(board), &policy(era, &[]), &load, &all_on(3 * S));
            let slacks = log.slacks(0);
            let missed = slacks.iter().filter(|slack| **slack < 0).count();
            assert!(slacks.len() >= 185, "{board} {era}: {}", slacks.len());
            assert!(missed <= 1, "{board} {era}: {missed} of {}", slacks.len());
        }
    }
}
