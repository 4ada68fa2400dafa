//! The ondemand governor (docs/rules/ondemand.md#ondemand): samples at ticks, by arithmetic of the
//! rule.
//!
//! What must stay: sample times are whole ticks; thresholds are the page's. The rule itself is
//! crates/policy-sys/tests/all/ondemand.rs.
//! Tests by part (in crates/engine/src): kernel/model/ondemand.rs:
//! `who_samples_depends_on_the_policies` (which CPU), `an_idle_cpu_does_not_wake_for_it` (idle),
//! `at_the_top_samples_are_rarer` (when); mechanics/cpu.rs: `light_load_goes_down_step_by_step`
//! (`idle_ns`); kernel/model/ondemand.rs: `a_hog_reaches_the_top_at_the_first_sample`,
//! `samples_come_at_the_eras_rate`.
//! Helpers, and who fails with them: `u8500_clock`, `ondemand` (all tests); `pinned`
//! (`at_the_top_samples_are_rarer`).

use crate::common::*;
use wakeplace_engine::Options;
use wakeplace_workload::{Event, Loops, TaskScript};

/// Four operating points as of the u8500 (docs/rules/sched-mc.md#u8500).
fn u8500_clock(cpus: u32, transition_us: u32) -> Board {
    Board {
        khz: vec![200_000, 400_000, 800_000, 1_000_000],
        transition_us,
        ..Board::symmetric(cpus)
    }
}

fn ondemand(more: &[(&str, &str)]) -> wakeplace_policy_sys::Policy {
    policy("linux-4.17", &[&[("governor", "ondemand")], more].concat())
}

fn pinned(cpu: u32, events: &[Event]) -> TaskScript {
    TaskScript {
        cpus: Some(vec![cpu]),
        ..script(Loops::Forever, vec![phase(1, None, events)])
    }
}

/// Goal: a hog is at the highest frequency from the first sample on. Method: latency 20 us, so a
/// sample each 20 ms (1000 x 20 us); load 100 % > 95 %: 1000 MHz at 20 ms + 20 us, for good.
#[test]
fn a_hog_reaches_the_top_at_the_first_sample() {
    let load = workload(vec![hog(Some(&[0]))], vec![]);
    let board = u8500_clock(1, 20).platform();
    let (_, log) = simulate(&board, &ondemand(&[]), &load, &all_on(S));
    assert_eq!(log.frequencies(0), [(0, 0), (20 * MS + 20 * US, 3)]);
}

/// Goal: the sampling time: 10 ms at least, 1000 x latency, or as set, in whole ticks of 4 ms
/// (10 ms are three of them). Source: docs/rules/ondemand.md#ondemand.
#[test]
fn samples_come_at_the_eras_rate() {
    for (latency_us, rate, first_ms) in [
        (5, "auto", 12),
        (200, "auto", 200),
        (200, "30000", 32),
        (5, "4000", 4),
    ] {
        let load = workload(vec![hog(Some(&[0]))], vec![]);
        let policy = ondemand(&[("sampling_rate_us", rate)]);
        let board = u8500_clock(1, latency_us).platform();
        let (_, log) = simulate(&board, &policy, &load, &all_on(S));
        let at = first_ms * MS + u64::from(latency_us) * US;
        assert_eq!(log.frequencies(0), [(0, 0), (at, 3)], "{latency_us} {rate}");
    }
}

/// Goal: with one cpufreq policy for a clock its timer is the first CPU's alone, and waits while
/// that one sleeps; with a policy per CPU the busy one samples. Method: a hog on the second of two
/// CPUs, nothing on the first: never, or from the first sample at 100 ms on.
#[test]
fn who_samples_depends_on_the_policies() {
    let load = workload(vec![hog(Some(&[1]))], vec![]);
    let mut board = u8500_clock(2, 20).platform();
    let at_start = vec![(0, 0)];
    let policy = ondemand(&[
        ("nohz_balance", "off"),
        ("balance", "off"),
        ("sampling_rate_us", "100000"),
    ]);
    for (per_cpu, option, expected) in [
        (false, true, at_start.clone()),
        (true, false, at_start.clone()),
        (true, true, vec![(0, 0), (100 * MS + 20 * US, 3)]),
    ] {
        board.freq_domains[0].policy_per_cpu = per_cpu;
        let options = Options {
            policy_per_cpu: option,
            ..all_on(S)
        };
        let (_, log) = simulate(&board, &policy, &load, &options);
        assert_eq!(log.frequencies(0), expected, "{per_cpu} {option}");
    }
}

/// Goal: light load goes down to what carries it. Method: the CPU runs a hog for 200 ms (the clock
/// goes to 1000 MHz), then 4 ms of wall time in each 20 ms: 20 % of 1000 MHz / 92 % = 217 MHz, so
/// 400 MHz; there 20 % of it would do with 87 MHz: 200 MHz, where it stays.
#[test]
fn light_load_goes_down_step_by_step() {
    let burst = Event::Runtime { wall_ns: 200 * MS };
    let beat = [
        Event::Runtime { wall_ns: 4 * MS },
        Event::Sleep {
            duration_ns: 16 * MS,
        },
    ];
    let task = TaskScript {
        cpus: Some(vec![0]),
        ..script(
            Loops::Times(1),
            vec![phase(1, None, &[burst]), phase(1000, None, &beat)],
        )
    };
    let load = workload(vec![task], vec![]);
    let board = u8500_clock(1, 20).platform();
    let (_, log) = simulate(&board, &ondemand(&[]), &load, &all_off(S));
    let opps: Vec<u16> = log.frequencies(0).into_iter().map(|(_, opp)| opp).collect();
    assert!(opps.starts_with(&[0, 3]), "{opps:?}");
    assert_eq!(opps.last(), Some(&0), "{opps:?}");
    let down = log
        .frequencies(0)
        .into_iter()
        .find(|(at, _)| *at > 201 * MS);
    assert!(down.is_some_and(|(at, _)| at < 260 * MS), "{down:?}");
}

/// Goal: the timer does not wake an idle CPU, and only the first CPU of the clock has it. Method:
/// two CPUs, samples each 100 ms. A hog on CPU 1, and CPU 0 idle without a tick by then: no sample
/// is taken, the clock stays low. A hog on CPU 0: it goes up, the busiest CPU counts.
#[test]
fn an_idle_cpu_does_not_wake_for_it() {
    for cpu in [0, 1] {
        let load = workload(vec![hog(Some(&[cpu]))], vec![]);
        let board = u8500_clock(2, 20).platform();
        // Nobody kicks CPU 0 to balance: then nothing else wakes it.
        let policy = ondemand(&[
            ("nohz_balance", "off"),
            ("balance", "off"),
            ("sampling_rate_us", "100000"),
        ]);
        let (_, log) = simulate(&board, &policy, &load, &all_on(S));
        let up = (100 * MS + 20 * US, 3);
        let expected = if cpu == 0 {
            vec![(0, 0), up]
        } else {
            vec![(0, 0)]
        };
        assert_eq!(log.frequencies(0), expected, "hog on CPU {cpu}");
        let awake = log.power(0).into_iter().filter(|(at, _)| *at > 99 * MS);
        assert_eq!(awake.count(), 0, "CPU 0 sleeps or runs");
    }
}

/// Goal: with a factor of 5 the next look at the highest frequency is five times as far. Method: a
/// hog of 50 ms from 0, samples each 20 ms: up at 20 ms; the next sample at 100 ms (a multiple of
/// 100 ms) finds 30 + 5 of 80 ms busy: 43 % of 1000 MHz / 92 % = 467 MHz, so 800 MHz.
#[test]
fn at_the_top_samples_are_rarer() {
    let job = [
        Event::Runtime { wall_ns: 50 * MS },
        Event::Sleep {
            duration_ns: 45 * MS,
        },
        Event::Runtime { wall_ns: 10 * MS },
        Event::Sleep {
            duration_ns: 10 * S,
        },
    ];
    let load = workload(vec![pinned(0, &job), pinned(1, &[sleep_ms(5_000)])], vec![]);
    for (factor, first) in [("1", 60 * MS..97 * MS), ("5", 100 * MS..101 * MS)] {
        let policy = ondemand(&[("sampling_down_factor", factor)]);
        let options = Options {
            transition_latency: true,
            ..all_off(200 * MS)
        };
        let board = u8500_clock(2, 20).platform();
        let (_, log) = simulate(&board, &policy, &load, &options);
        let steps = log.frequencies(0);
        assert_eq!(steps[1], (20 * MS + 20 * US, 3), "{factor}: {steps:?}");
        assert!(first.contains(&steps[2].0), "{factor}: {steps:?}");
    }
}
