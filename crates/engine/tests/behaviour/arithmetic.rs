//! Run times, sleeps, timers, phases and costs, by arithmetic.
//! Rules: docs/guide/model.md, "Work and speed" and "Costs"; docs/rules/rt-app.md#rt-app-events
//! (timers); docs/rules/queues.md#cfs (weights).
//!
//! What must stay: every expected time is computed in the test from work, speed and the costs that
//! are on, to the nanosecond; a new cost of the model is added to the sum, never allowed as a
//! tolerance.
//! Tests by part (in crates/engine/src): machine.rs:
//! `run_time_is_work_over_speed_at_each_operating_point` (`new`), `costs_add_up` (`Costs`);
//! mechanics/report.rs: `run_time_is_work_over_speed_at_each_operating_point` (`finish_stretches`,
//! `report`); mechanics/work.rs: `costs_add_up` (`charge`), `runtime_is_wall_time` (`Until`);
//! kernel/model/queues.rs: `nice_of_a_phase_changes_the_share` (`set_nice`); mechanics/offered.rs:
//! `an_idle_cpu_is_reached_by_an_interrupt` (`ipi`), `a_move_refills_caches` (`burden`);
//! kernel/model/wake.rs: `an_idle_cpu_is_reached_by_an_interrupt` (kick); mechanics/work.rs:
//! `calibration_says_which_cpu_run_times_mean`, `work_takes_as_long_as_the_cpu_is_slow`;
//! mechanics/script/timers.rs: `sleeps_and_delays_end_on_time`, `timers_keep_or_rebase_their_grid`;
//! mechanics/script/progress.rs: `phases_and_loops_multiply`.
//! Helpers, and who fails with them: `alone`
//! (`run_time_is_work_over_speed_at_each_operating_point`, `runtime_is_wall_time`); `work_on`
//! (`run_time_is_work_over_speed_at_each_operating_point`, `costs_add_up`,
//! `calibration_says_which_cpu_run_times_mean`, `work_takes_as_long_as_the_cpu_is_slow`);
//! `timer_slacks` (`timers_keep_or_rebase_their_grid`).

use crate::common::*;
use wakeplace_engine::{Ended, Options};
use wakeplace_platform::Platform;
use wakeplace_workload::{Calibration, Event, Loops, TaskScript, Timer, TimerMode};

/// One task alone under a governor; its run time, ns.
fn alone(platform: &Platform, governor: &str, task: TaskScript, options: &Options) -> u64 {
    let policy = policy("linux-4.17", &[("governor", governor)]);
    let (report, _) = simulate(platform, &policy, &workload(vec![task], vec![]), options);
    assert_eq!(report.ended, Ended::AllTasksExited);
    report.tasks[0].run_ns
}

fn work_on(cpu: u32, work_ns: u64) -> TaskScript {
    let events = [Event::Run { work_ns }];
    TaskScript {
        cpus: Some(vec![cpu]),
        ..script(Loops::Times(1), vec![phase(1, None, &events)])
    }
}

/// Goal: work takes work / speed, to the nanosecond, at every operating point of every CPU type.
/// Method: cut the table so that `powersave` means that point. Speed is capacity x khz / max khz of
/// the biggest CPU's 1024, in 1/1024 (docs/rules/README.md#engine-time); the end is rounded up.
#[test]
fn run_time_is_work_over_speed_at_each_operating_point() {
    for name in ["hikey960", "juno-r0", "tc2"] {
        let full = builtin(name);
        for (index, domain) in full.freq_domains.iter().enumerate() {
            let cpu = domain.cpus[0];
            let capacity = u64::from(full.cpus[cpu.index()].capacity);
            let max_khz = u64::from(domain.opps.last().unwrap().khz);
            for (lowest, opp) in domain.opps.iter().enumerate() {
                let mut platform = full.clone();
                platform.freq_domains[index].opps.drain(..lowest);
                let speed = capacity * 1024 * u64::from(opp.khz) / max_khz;
                let work = 7_654_321;
                let ran = alone(&platform, "powersave", work_on(cpu.0, work), &all_off(S));
                assert_eq!(ran, (work << 20).div_ceil(speed), "{name} {} kHz", opp.khz);
            }
            let ran = alone(&full, "performance", work_on(cpu.0, 1_000_003), &all_off(S));
            assert_eq!(
                ran,
                (1_000_003_u64 << 20).div_ceil(capacity << 10),
                "{name}"
            );
        }
    }
}

/// Goal: with costs on, run time is work plus the modelled costs and nothing else. Method: one CPU,
/// one operating point; the task starts once (switch), sleeps 10 ms, wakes (wake-up and switch) and
/// works across a known number of ticks.
#[test]
fn costs_add_up() {
    let platform = Board::symmetric(1).platform();
    let mut task = work_on(0, 10 * MS);
    task.delay_ns = 10 * MS;
    let options = Options {
        kernel_costs: true,
        ..all_off(S)
    };
    let (report, log) = simulate(
        &platform,
        &performance(),
        &workload(vec![task], vec![]),
        &options,
    );
    // The parent: WFI exit 1 us, switch 2 us, fork 40 us, and 40 us more until it sees that no
    // thread is left to fork: time zero is 83 us.
    let start = 83 * US + 10 * MS + US;
    let first = log.stretches(0)[1];
    assert_eq!(first.from, start);
    // Wake-up 3 us, switch 2 us; ticks of 2 us at 12, 16 and 20 ms.
    assert_eq!(first.to, start + 10 * MS + 5 * US + 3 * 2 * US);
    assert_eq!(report.tasks[0].run_ns, 2 * US + first.to - first.from);
    assert_eq!(report.end_ns, first.to);
}

/// Goal: `Run` times refer to the calibration CPU. Source: rt-app calibrates on CPU 0; HiKey960's
/// capacities are 462 and 1024.
#[test]
fn calibration_says_which_cpu_run_times_mean() {
    let platform = builtin("hikey960");
    let run_time = |calibration, cpu| {
        let load = wakeplace_workload::Workload {
            calibration,
            ..workload(vec![work_on(cpu, 10 * MS)], vec![])
        };
        let (report, _) = simulate(&platform, &performance(), &load, &all_off(S));
        report.tasks[0].run_ns
    };
    assert_eq!(run_time(Calibration::Biggest, 4), 10 * MS);
    assert_eq!(
        run_time(Calibration::Biggest, 0),
        (10 * MS * 1024).div_ceil(462)
    );
    assert_eq!(run_time(Calibration::Cpu(0), 0), 10 * MS);
    assert_eq!(
        run_time(Calibration::Cpu(0), 4),
        (10 * MS * 462).div_ceil(1024)
    );
}

/// Goal: what a CPU gets done is its speed, whatever the kernel takes for its capacity. Method:
/// 10 ms of work on a P core and on an E core of a hybrid whose kernel has 1024 for both, and on
/// its E core without threads. Source: HWP's levels 66 and 39 (platforms/alder-lake-12900k.toml).
#[test]
fn work_takes_as_long_as_the_cpu_is_slow() {
    for (name, e_core) in [("alder-lake-12900k", 16), ("alder-lake-12900k-nosmt", 8)] {
        let mut platform = builtin(name);
        platform.turbo = None; // without deep idle states all cores would count as awake
        let run_ns = |cpu| {
            let load = workload(vec![work_on(cpu, 10 * MS)], vec![]);
            let (report, _) = simulate(&platform, &performance(), &load, &all_off(S));
            report.tasks[0].run_ns
        };
        assert_eq!(run_ns(0), 10 * MS, "{name}: a P core");
        let speed = 39 * 1024 / 66;
        assert_eq!(
            run_ns(e_core),
            (10 * MS * 1024).div_ceil(speed),
            "{name}: an E core"
        );
    }
    let capacities = builtin("alder-lake-12900k").capacities();
    assert!(
        capacities.iter().all(|capacity| *capacity == 1024),
        "the kernel's"
    );
}

/// Goal: `Runtime` is wall time, whatever the speed and although others preempt (rt-app: it loops
/// until the time is over). Method: alone on a slow CPU; then against a hog.
#[test]
fn runtime_is_wall_time() {
    let event = Event::Runtime { wall_ns: 50 * MS };
    let task = |cpu| TaskScript {
        cpus: Some(vec![cpu]),
        ..script(Loops::Times(1), vec![phase(1, None, &[event])])
    };
    let platform = builtin("hikey960");
    assert_eq!(alone(&platform, "powersave", task(0), &all_off(S)), 50 * MS);
    let load = workload(vec![hog(Some(&[0])), task(0)], vec![]);
    let (report, log) = simulate(&platform, &performance(), &load, &all_off(S));
    let start = log.stretches(1)[0].from;
    let end = log.exit(1).expect("it ends");
    // It ends when it first executes after its time is over: within the hog's slice of 12 ms and
    // a tick of 4 ms.
    assert!(
        end >= start + 50 * MS && end <= start + 66 * MS,
        "{start}..{end}"
    );
    assert!(report.tasks[1].run_ns < 50 * MS);
}

/// Goal: sleeps are relative to their start, delays to time zero; the only lateness is WFI's exit
/// latency of 1 us.
#[test]
fn sleeps_and_delays_end_on_time() {
    let platform = Board::symmetric(1).platform();
    let mut task = script(
        Loops::Times(1),
        vec![phase(3, None, &[run_ms(2), sleep_ms(5)])],
    );
    task.delay_ns = 7 * MS;
    let load = workload(vec![task], vec![]);
    let (report, log) = simulate(&platform, &performance(), &load, &all_off(S));
    let zero = US; // the parent's wake-up
    let starts: Vec<_> = log.stretches(0).iter().map(|s| s.from).collect();
    let first = zero + 7 * MS + US;
    assert_eq!(
        starts,
        [first, first + 7 * MS + US, first + 14 * MS + 2 * US]
    );
    assert_eq!(report.end_ns, first + 21 * MS + 3 * US);
    assert_eq!(report.tasks[0].run_ns, 6 * MS);
    // The start line and three sleeps.
    assert_eq!(report.tasks[0].activations, 4);
    assert_eq!(report.tasks[0].wait_ns, 0);
}

fn timer_slacks(mode: TimerMode, runs_ms: &[u64]) -> Vec<i64> {
    let timer = Timer {
        name: "unique".into(),
        mode,
        start_delay_ns: 0,
    };
    let wait = Event::Timer {
        timer: 0,
        period_ns: 10 * MS,
    };
    let phases = runs_ms
        .iter()
        .map(|ms| phase(1, None, &[run_ms(*ms), wait]));
    let load = workload(vec![script(Loops::Times(1), phases.collect())], vec![timer]);
    let platform = Board::symmetric(1).platform();
    let (_, log) = simulate(&platform, &performance(), &load, &all_off(S));
    log.slacks(0)
}

/// Goal: both timer modes under overload and after it. Source: docs/rules/rt-app.md#rt-app-events:
/// the next expiry is one period on; a late relative timer restarts from now, an absolute one keeps
/// its grid. Times from time zero; each wake-up from WFI is 1 us late.
#[test]
fn timers_keep_or_rebase_their_grid() {
    let (ms, us) = (MS.cast_signed(), US.cast_signed());
    // Always 5 ms late, each time from the moment of the last use.
    assert_eq!(
        timer_slacks(TimerMode::Relative, &[15, 15, 15]),
        [-5 * ms; 3]
    );
    // Ever later; then short runs catch up: at 15, 30, 32, 34 with expiries 10, 20, 30, 40.
    assert_eq!(
        timer_slacks(TimerMode::Absolute, &[15, 15, 2, 2]),
        [-5 * ms, -10 * ms, -2 * ms, 6 * ms]
    );
    // In time: 3 ms of 10, then from the expiry (1 us late) again.
    for mode in [TimerMode::Relative, TimerMode::Absolute] {
        assert_eq!(
            timer_slacks(mode, &[3, 3, 3]),
            [7 * ms, 7 * ms - us, 7 * ms - us]
        );
    }
}

/// Goal: phases and passes repeat as told. Method: count work, sleeps and end.
#[test]
fn phases_and_loops_multiply() {
    let phases = vec![
        phase(3, None, &[run_ms(1), sleep_ms(1)]),
        phase(0, None, &[run_ms(100)]),
        phase(2, None, &[run_ms(2), sleep_ms(3)]),
    ];
    let load = workload(vec![script(Loops::Times(2), phases)], vec![]);
    let platform = Board::symmetric(1).platform();
    let (report, _) = simulate(&platform, &performance(), &load, &all_off(S));
    assert_eq!(report.ended, Ended::AllTasksExited);
    assert_eq!(report.tasks[0].run_ns, 2 * (3 + 2 * 2) * MS);
    assert_eq!(report.tasks[0].activations, 2 * (3 + 2));
    assert_eq!(
        report.end_ns,
        US + 2 * (3 * 2 + 2 * 5) * MS + 10 * US,
        "the parent's wake-up, the script, ten wake-ups"
    );
}

/// Goal: a phase's nice value holds from then on. Source: docs/rules/queues.md#cfs: weights 1024
/// and 335.
#[test]
fn nice_of_a_phase_changes_the_share() {
    let mut later = phase(1, None, &[run_ms(1_000_000)]);
    later.change.nice = Some(5);
    let changing = TaskScript {
        cpus: Some(vec![0]),
        ..script(Loops::Forever, vec![phase(1, None, &[run_ms(500)]), later])
    };
    let load = workload(vec![hog(Some(&[0])), changing], vec![]);
    let platform = Board::symmetric(1).platform();
    let (_, log) = simulate(&platform, &performance(), &load, &all_off(5 * S));
    // 500 ms at half speed are over at 1 s, give or take a tick and a slice.
    let share = |task, from, to| log.ran(task, from, to, |_| true);
    assert!(share(1, 0, 980 * MS).abs_diff(490 * MS) <= 8 * MS);
    let (nice, niced) = (
        share(0, 1100 * MS, 4818 * MS),
        share(1, 1100 * MS, 4818 * MS),
    );
    assert_eq!(nice + niced, 3718 * MS);
    assert!(
        nice.abs_diff(3718 * MS * 1024 / 1359) <= 8 * MS,
        "{nice} {niced}"
    );
}

/// Goal: waking an idle CPU takes an interrupt (1 us) and WFI's exit (1 us). Method: the fork of a
/// task beside its running parent, on a second CPU.
#[test]
fn an_idle_cpu_is_reached_by_an_interrupt() {
    let platform = Board::symmetric(2).platform();
    let load = workload(vec![hog(None)], vec![]);
    let (_, log) = simulate(&platform, &performance(), &load, &all_on(10 * MS));
    let placed = log.pick(|w| match w {
        What::Placement(p) => Some(p.cpu),
        _ => None,
    });
    let (at, cpu) = placed[0];
    assert_eq!((at, cpu), (43 * US, 1)); // exit 1 us, switch 2 us, fork 40 us
    assert_eq!(log.stretches(0)[0].from, at + 2 * US);
}

/// Goal: a move costs the refill of the caches, 3 us within a cache and 15 us to another. Method:
/// affinity moves a task whose work of 1 ms has no tick in it; a switch costs 2 us.
#[test]
fn a_move_refills_caches() {
    let board = Board {
        clusters: vec![(2, 1024), (2, 1024)],
        ..Board::symmetric(1)
    };
    for (to, refill) in [(1, 3 * US), (2, 15 * US), (3, 15 * US)] {
        let phases = vec![
            phase(1, Some(&[0]), &[sleep_ms(5)]),
            phase(1, Some(&[to]), &[run_ms(1)]),
        ];
        let load = workload(vec![script(Loops::Times(1), phases)], vec![]);
        let (_, log) = simulate(&board.platform(), &performance(), &load, &all_on(S));
        let last = *log.stretches(0).last().expect("it runs");
        assert_eq!(last.cpu, to);
        assert_eq!(last.to - last.from, MS + 2 * US + refill, "to CPU {to}");
    }
}
