//! The fair queue of newer kernels (docs/rules/queues.md#eevdf): turns, shares, sleepers, delayed
//! dequeue. Costs are off: shares are exact. With them off a wake-up still takes WFI's exit latency
//! of 1 us.
//!
//! What must stay: shares are exact but for a slice and a tick; slices are those of the page. The
//! queue itself is crates/kernel-queues/src/eevdf.
//! Tests by part (in crates/engine/src): kernel/model/home/mod.rs:
//! `a_high_resolution_tick_ends_slices_in_time` (`slice_left_ns`), `who_yields_lets_the_other_run`
//! (`yield_task`), `a_delayed_sleeper_wakes_without_a_choice` (`dequeue_sleep`, `is_delayed`);
//! kernel/model/tick.rs: `a_high_resolution_tick_ends_slices_in_time` (`arm_hrtick`, `slice_end`);
//! kernel/model/queues.rs: `who_yields_lets_the_other_run` (`yield_to_others`),
//! `a_delayed_sleeper_wakes_without_a_choice` (`begin_pick`, `let_sleeper_go`);
//! crates/kernel-queues/src/eevdf.rs: `hogs_share_one_cpu_equally` (shares),
//! `a_sleeper_cannot_claim_the_time_it_slept` (lag), `a_short_slice_preempts_at_the_first_wakeup`
//! (slices); kernel/model/home/kernel.rs with crates/kernel-queues/src/eevdf:
//! `two_hogs_alternate_every_3_ms`, `nice_0_and_nice_5_share_1024_to_335`,
//! `an_idle_policy_hog_gets_3_of_1027`, `as_many_hogs_as_cpus_lose_nothing`, `naps_earn_nothing`.
//! Helpers, and who fails with them: `on_cpu_0`, `on_cpu_0_of` (most tests); `linux_7_3` (all
//! tests); `late_hog` (`a_sleeper_cannot_claim_the_time_it_slept`,
//! `a_short_slice_preempts_at_the_first_wakeup`); `napper`
//! (`a_delayed_sleeper_wakes_without_a_choice`, `naps_earn_nothing`).

use crate::common::*;
use wakeplace_engine::RunReport;
use wakeplace_engine::observe::PlacementKind;
use wakeplace_policy_sys::{Policy, sys};
use wakeplace_workload::{Event, FairPolicy, Loops, TaskScript};

/// `linux-7.3` at the highest frequency: slices of 0.7 ms on one CPU, 2.8 ms on eight.
fn linux_7_3(settings: &[(&str, &str)]) -> Policy {
    policy(
        "linux-7.3",
        &[&[("governor", "performance")], settings].concat(),
    )
}

fn on_cpu_0(
    tasks: Vec<TaskScript>,
    cpus: u32,
    settings: &[(&str, &str)],
    duration: u64,
) -> (RunReport, Log) {
    on_cpu_0_of("x86_64", tasks, cpus, settings, duration)
}

fn on_cpu_0_of(
    arch: &'static str,
    tasks: Vec<TaskScript>,
    cpus: u32,
    settings: &[(&str, &str)],
    duration: u64,
) -> (RunReport, Log) {
    let board = Board {
        arch,
        tick_hz: 1000,
        ..Board::symmetric(cpus)
    };
    let pin = |t| TaskScript {
        cpus: Some(vec![0]),
        ..t
    };
    let load = workload(tasks.into_iter().map(pin).collect(), vec![]);
    simulate(
        &board.platform(),
        &linux_7_3(settings),
        &load,
        &all_off(duration),
    )
}

/// A hog that begins with a sleep.
fn late_hog(sleep: u64) -> TaskScript {
    let events = [sleep_ms(sleep), run_ms(1_000_000)];
    script(Loops::Forever, vec![phase(1, None, &events)])
}

/// Goal: docs/rules/queues.md#eevdf-numbers: two nice-0 hogs, slice 2.8 ms, HZ 1000: they alternate
/// every 3 ms, in both forms.
#[test]
fn two_hogs_alternate_every_3_ms() {
    for form in ["6.12", "7.3"] {
        let settings = [("eevdf_form", form), ("hrtick", "off")];
        let (report, log) = on_cpu_0(vec![hog(None), hog(None)], 8, &settings, 3 * S);
        for task in 0..2 {
            // The first turns begin between ticks and with half a slice.
            for stretch in log.stretches(task).iter().filter(|s| s.from > 20 * MS) {
                let last = stretch.to == 3 * S;
                assert!(last || stretch.to - stretch.from == 3 * MS, "{stretch:?}");
            }
            assert!(log.stretches(task).len() >= 499, "{form}");
            let ran = report.tasks[task as usize].run_ns;
            assert!(ran.abs_diff(1500 * MS) <= 3 * MS, "task {task}: {ran}");
        }
    }
}

/// Goal: with the high-resolution tick a slice of 2.8 ms lasts 2.8 ms, not until the next tick of
/// 1000 a second; on one CPU 0.7 ms. 7.3 has it where the architecture selects
/// HRTIMER_REARM_DEFERRED: on x86, not on Arm. Who asks for it has it anywhere. Source:
/// docs/rules/queues.md#hrtick.
#[test]
fn a_high_resolution_tick_ends_slices_in_time() {
    let (timed, ticked) = ([2_800 * US, 700 * US], [3 * MS, MS]);
    for (arch, hrtick, slices) in [
        ("x86_64", "auto", timed),
        ("x86_64", "off", ticked),
        ("arm64", "auto", ticked),
        ("arm64", "on", timed),
        ("arm", "auto", ticked),
    ] {
        for (cpus, slice) in [8, 1].into_iter().zip(slices) {
            let hogs = vec![hog(None), hog(None)];
            let settings = [("hrtick", hrtick)];
            let (_, log) = on_cpu_0_of(arch, hogs, cpus, &settings, 3 * S);
            for task in 0..2 {
                for stretch in log.stretches(task).iter().filter(|s| s.from > 20 * MS) {
                    let last = stretch.to == 3 * S;
                    let ran = stretch.to - stretch.from;
                    assert!(last || ran == slice, "{arch} {hrtick}: {stretch:?}");
                }
            }
        }
    }
    let of_era = |name| policy(name, &[]).core_params().hrtick;
    assert_eq!(of_era("linux-7.3"), sys::WP_HRTICK_AUTO);
    assert_eq!(of_era("linux-6.12"), sys::WP_HRTICK_OFF);
}

/// Goal: a task that yields each 0.1 ms gives up the rest of its request each time
/// (docs/rules/queues.md#eevdf: yield), and so does not hold up a hog: while both want the CPU the
/// hog has nearly all of it; nobody's time is lost. Alone it yields to nobody and goes on. Under
/// CFS each yield lets the other have a turn, but the shares stay fair (docs/rules/queues.md#cfs:
/// skip buddy).
#[test]
fn who_yields_lets_the_other_run() {
    let yields = || {
        let events = [Event::Run { work_ns: 100 * US }, Event::Yield];
        script(Loops::Forever, vec![phase(1, None, &events)])
    };
    let (report, log) = on_cpu_0(vec![yields()], 8, &[], S);
    assert_eq!(report.tasks[0].run_ns, S - US);
    assert_eq!(log.stretches(0).len(), 1);

    // A request of 2.8 ms is spent in 0.1 ms: of each 2.9 ms of both the hog has 2.8.
    let (report, _) = on_cpu_0(vec![yields(), hog(None)], 8, &[], 3 * S);
    let ran = report.tasks[0].run_ns;
    assert!(ran < 3 * S / 2, "{ran}");
    assert_eq!(ran + report.tasks[1].run_ns, 3 * S - US);

    let (report, log) = on_cpu_0(vec![yields(), hog(None)], 8, &[("queue", "cfs")], 3 * S);
    let ran = report.tasks[0].run_ns;
    assert!(ran.abs_diff(3 * S / 2) <= 24 * MS, "{ran}");
    assert!(log.stretches(0).len() > 100);
}

/// Goal: weights decide (nice 0 and 5: 1024 to 335, 3.06 to 1), over 1 s to one slice
/// (docs/rules/queues.md#eevdf-numbers), and no worse over a long run. A slice ends at a tick; both
/// ends of the window count.
#[test]
fn nice_0_and_nice_5_share_1024_to_335() {
    for cpus in [1, 8] {
        let nice = |nice| TaskScript { nice, ..hog(None) };
        let (_, log) = on_cpu_0(vec![nice(0), nice(5)], cpus, &[], 30 * S);
        let slice = if cpus == 1 { 700 * US } else { 2_800 * US };
        for length in [1359 * MS, 13_590 * MS, 27_180 * MS] {
            let heavy = log.ran(0, S, S + length, |_| true);
            let light = log.ran(1, S, S + length, |_| true);
            assert_eq!(heavy + light, length);
            assert!(
                heavy.abs_diff(length * 1024 / 1359) <= slice + MS,
                "{heavy} : {light} on {cpus} CPUs"
            );
        }
    }
}

/// Goal: SCHED_IDLE weighs 3 (docs/rules/queues.md#cfs), whatever its nice value: 3 of 1027 beside
/// a nice-0 hog, under either fair queue, to a slice and a tick.
#[test]
fn an_idle_policy_hog_gets_3_of_1027() {
    for queue in ["cfs", "eevdf"] {
        let idle = TaskScript {
            nice: -20,
            policy: FairPolicy::Idle,
            ..hog(None)
        };
        let settings = [("queue", queue)];
        let (_, log) = on_cpu_0(vec![hog(None), idle], 1, &settings, 12 * S);
        let ran = log.ran(1, S, S + 10_270 * MS, |_| true);
        assert!(ran.abs_diff(30 * MS) <= 2 * MS, "{ran} with {queue}");
    }
}

/// Goal: equal tasks share equally at any time, many of them, and nobody's time is lost: each is
/// within a slice and the tick that ends it of its share.
#[test]
fn hogs_share_one_cpu_equally() {
    for hogs in [3, 40] {
        let tasks = (0..hogs).map(|_| hog(None)).collect();
        let (report, log) = on_cpu_0(tasks, 8, &[], 6 * S);
        for task in 0..hogs {
            for until in [2 * S, 4 * S, 6 * S] {
                let ran = log.ran(task, 0, until, |_| true);
                assert!(
                    ran.abs_diff(until / u64::from(hogs)) <= 2 * (2_800 * US + MS),
                    "task {task}: {ran} of {until}"
                );
            }
            let totals = &report.tasks[task as usize];
            assert_eq!(totals.run_ns + totals.wait_ns, 6 * S - US);
        }
    }
}

/// Goal: n hogs on n CPUs lose nothing: from their creation they run, each on its own CPU.
#[test]
fn as_many_hogs_as_cpus_lose_nothing() {
    for cpus in [1, 2, 4, 8] {
        let load = workload((0..cpus).map(|_| hog(None)).collect(), vec![]);
        let platform = Board::symmetric(cpus).platform();
        let (report, _) = simulate(&platform, &linux_7_3(&[]), &load, &all_off(4 * S));
        for (task, totals) in report.tasks.iter().enumerate() {
            // 1 us each: the parent's CPU wakes, and the task's.
            assert!(
                totals.run_ns >= 4 * S - 2 * US,
                "task {task} of {cpus}: {totals:?}"
            );
        }
    }
}

/// Goal: a sleeper cannot claim the time it slept (docs/rules/queues.md#eevdf: lag, not the
/// distance slept). Method: a task sleeps a second beside a hog and then wants the CPU for itself:
/// it is never more than its lag and a slice, both within 2.8 ms and a tick, ahead of its half.
#[test]
fn a_sleeper_cannot_claim_the_time_it_slept() {
    for cpus in [1, 8] {
        let (_, log) = on_cpu_0(vec![hog(None), late_hog(1000)], cpus, &[], 2 * S);
        let woke = log.latencies(1).last().expect("it woke").0;
        for ms in [2, 5, 10, 50, 400, 900] {
            let ran = log.ran(1, woke, woke + ms * MS, |_| true);
            let most = ms * MS / 2 + 2 * (2_800 * US + MS);
            assert!(ran <= most, "{ran} after {ms} ms on {cpus} CPUs");
        }
    }
}

/// Goal: docs/rules/queues.md#eevdf-numbers: a hog with a slice of 0.1 ms that wakes preempts at
/// its first wake-up if it is eligible. Without PREEMPT_SHORT it waits for the end of the other's
/// slice.
#[test]
fn a_short_slice_preempts_at_the_first_wakeup() {
    let first_latency = |slice_ns, settings: &[(&str, &str)]| {
        let short = TaskScript {
            slice_ns,
            ..late_hog(103)
        };
        let (_, log) = on_cpu_0(vec![hog(None), hog(None), short], 8, settings, S);
        log.latencies(2).last().expect("it woke").1.1
    };
    let own = Some(100 * US);
    assert_eq!(first_latency(own, &[]), 0);
    assert_eq!(first_latency(own, &[("eevdf_form", "6.12")]), 0);
    assert!(first_latency(own, &[("preempt_short", "off")]) > 0);
}

/// A hog, and a task that works 5 ms and naps, on one CPU: it has often had more than its share
/// when it falls asleep.
fn napper(nap_ns: u64, delay: &str) -> Log {
    let nap = Event::Sleep {
        duration_ns: nap_ns,
    };
    let naps = script(Loops::Forever, vec![phase(1, None, &[run_ms(5), nap])]);
    let settings = [("delay_dequeue", delay)];
    on_cpu_0(vec![hog(None), naps], 1, &settings, 2 * S).1
}

/// Goal: DELAY_DEQUEUE (docs/rules/queues.md#eevdf: same-CPU rewake): a wake-up before the debt is
/// paid chooses no CPU. Method: equal tasks, a nap of 20 us, and ticks that let the napper overrun
/// its slice of 0.7 ms: it often sleeps with a debt; with the switch off each wake-up is placed.
#[test]
fn a_delayed_sleeper_wakes_without_a_choice() {
    let counts = |log: &Log| {
        let placed = log.pick(|w| match w {
            What::Placement(p) if p.task == 1 && p.kind == PlacementKind::Wake => Some(()),
            _ => None,
        });
        let woken = log.pick(|w| match w {
            What::Wakeup { task: 1, .. } => Some(()),
            _ => None,
        });
        (woken.len(), placed.len())
    };
    let (woken, placed) = counts(&napper(20 * US, "on"));
    assert!(woken >= 150 && placed < woken, "{placed} of {woken} placed");
    let (woken, placed) = counts(&napper(20 * US, "off"));
    assert_eq!(woken, placed);
}

/// Goal: a debt is not slept off, nor paid twice: who works 5 ms and naps 1 ms beside a hog gets no
/// more than half, and close to it, whether or not it stays queued meanwhile.
#[test]
fn naps_earn_nothing() {
    for delay in ["on", "off"] {
        let log = napper(MS, delay);
        let ran = log.ran(1, S, 2 * S, |_| true);
        assert!(ran <= 500 * MS + 3 * MS, "{ran} with {delay}");
        assert!(ran >= 400 * MS, "{ran} with {delay}");
    }
}
