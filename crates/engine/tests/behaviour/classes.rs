//! RT and deadline tasks beside fair ones, interrupts of devices, limits of frequency ranges. All
//! figures are arithmetic of what docs/guide/model.md says of these classes.
//!
//! What must stay: all three eras of `eras` must pass; a tick is 4 ms and belongs to the bounds.
//! The core's part is tested in crates/policy-sys/tests/all/classes.rs.
//! Tests by part (in crates/engine/src): kernel/model/task.rs:
//! `priorities_displace_fair_tasks_and_each_other` (`realtime`), `wake_here` (`of_script`);
//! kernel/model/classes.rs: `turns_among_equals` (slices), `rt_tasks_leave_50_ms_a_second`
//! (grants), `rt_tasks_go_where_tasks_matter_least` (push), `a_free_cpu_pulls_a_waiting_rt_task`
//! (pull); kernel/model/class_state.rs: `a_deadline_task_has_its_bandwidth` (periods),
//! `a_constrained_deadline_task_keeps_its_deadline` (constrained); check.rs:
//! `admission_by_capacity` (`check_classes`), `devices_and_caps_must_fit_the_machine`
//! (`check_hardware`); hardware.rs: `interrupts_take_a_tenth` (`Interrupts`); mechanics/work.rs:
//! `interrupts_of_an_idle_cpu` (`take_for_device`); mechanics/hardware.rs:
//! `a_cap_holds_while_it_lasts` (`freq_cap`); mechanics/offered.rs: `io_waits_raise_the_frequency`
//! (`takes_io_wait`); kernel/model/classes.rs: `who_yields_goes_behind_its_equals`,
//! `earliest_deadline_first_meets_all_deadlines`; kernel/model/class_state.rs:
//! `a_constrained_deadline_task_waits_for_its_period`; check.rs (`check_classes`): `admission`.
//! Helpers, and who fails with them: `of`, `eras`, `one_cpu` (most tests); `dl` (6 tests);
//! `checked` (9 tests); `job` (`priorities_displace_fair_tasks_and_each_other`,
//! `rt_tasks_go_where_tasks_matter_least`, `a_free_cpu_pulls_a_waiting_rt_task`,
//! `interrupts_of_an_idle_cpu`); `constrained` (`a_constrained_deadline_task_waits_for_its_period`,
//! `a_constrained_deadline_task_keeps_its_deadline`); `with` (`interrupts_take_a_tenth`,
//! `interrupts_of_an_idle_cpu`, `a_cap_holds_while_it_lasts`,
//! `devices_and_caps_must_fit_the_machine`).

use crate::common::checker::check_log;
use crate::common::*;
use wakeplace_engine::{Options, RunError, RunReport, check};
use wakeplace_platform::Platform;
use wakeplace_policy_sys::{Policy, Reason};
use wakeplace_workload::{Attributes, Event, Loops, RealTime, TaskScript, Workload};

const FIFO: fn(u8) -> Option<RealTime> = |priority| Some(RealTime::Fifo { priority });
const RR: Option<RealTime> = Some(RealTime::RoundRobin { priority: 10 });

pub(super) fn of(realtime: Option<RealTime>, task: TaskScript) -> TaskScript {
    TaskScript {
        attributes: Attributes {
            realtime,
            ..Attributes::default()
        },
        ..task
    }
}

pub(super) fn dl(runtime_ms: u64, period_ms: u64) -> Option<RealTime> {
    let (runtime, period) = (runtime_ms * MS, period_ms * MS);
    Some(RealTime::deadline(runtime, period, period).unwrap())
}

/// Work once, a while after the start.
fn job(delay_ms: u64, work_ms: u64) -> TaskScript {
    TaskScript {
        delay_ns: delay_ms * MS,
        ..script(Loops::Times(1), vec![phase(1, None, &[run_ms(work_ms)])])
    }
}

/// Runs and lets the checker look.
fn checked(
    platform: &Platform,
    policy: &Policy,
    tasks: Vec<TaskScript>,
    options: &Options,
) -> (RunReport, Log) {
    let load = workload(tasks, vec![]);
    let (report, log) = simulate(platform, policy, &load, options);
    check_log(platform, &load, &log, &report, true);
    (report, log)
}

fn eras() -> [Policy; 3] {
    let at_full = |name| policy(name, &[("governor", "performance")]);
    [
        at_full("linux-4.17"),
        at_full("linux-7.3"),
        at_full("wakeplace"),
    ]
}

fn one_cpu() -> Platform {
    Board::symmetric(1).platform()
}

/// Goal: the higher priority runs at once and to its end, the lower next, the fair task last.
/// Method: 30 ms of priority 10 from 10 ms on, in the middle of it 20 ms of priority 20.
#[test]
fn priorities_displace_fair_tasks_and_each_other() {
    for policy in eras() {
        let tasks = vec![
            hog(None),
            of(FIFO(10), job(10, 30)),
            of(FIFO(20), job(20, 20)),
        ];
        let (_, log) = checked(&one_cpu(), &policy, tasks, &all_off(200 * MS));
        let (low, high) = (log.stretches(1), log.stretches(2));
        assert_eq!(high.len(), 1);
        assert_eq!(high[0].to - high[0].from, 20 * MS);
        assert_eq!(low.len(), 2);
        assert_eq!(low[0].to, high[0].from, "displaced at once");
        assert_eq!(low[1].from, high[0].to, "and first when that is over");
        assert_eq!(low[1].to - low[0].from, 50 * MS);
        assert_eq!(log.ran(0, low[0].from, low[1].to, |_| true), 0);
        assert!(log.ran(0, low[1].to, 200 * MS, |_| true) > 130 * MS);
    }
}

/// Goal: FIFO tasks of one priority do not take turns, RR tasks do, each for 100 ms (a turn ends at
/// a tick, here every 4 ms).
#[test]
fn turns_among_equals() {
    for policy in eras() {
        let pair = |class| vec![of(class, hog(None)), of(class, hog(None))];
        let (report, _) = checked(&one_cpu(), &policy, pair(FIFO(10)), &all_off(900 * MS));
        let ran: Vec<_> = report.tasks.iter().map(|t| t.run_ns).collect();
        assert!(ran[0] > 899 * MS && ran[1] == 0, "{ran:?}");
        let (_, log) = checked(&one_cpu(), &policy, pair(RR), &all_off(900 * MS));
        for task in [0, 1] {
            let turns = log.stretches(task);
            for turn in &turns[..turns.len() - 1] {
                let length = turn.to - turn.from;
                assert!((100 * MS..=104 * MS).contains(&length), "{turn:?}");
            }
            assert!(turns.len() >= 4);
        }
    }
}

/// Goal: a FIFO task that yields goes behind its equals: two that run 1 ms and yield take turns of
/// 1 ms; alone, or above others only, it goes on. A deadline task that yields waits for its next
/// period (sched_yield(2)).
#[test]
fn who_yields_goes_behind_its_equals() {
    let yields = || {
        let events = [run_ms(1), Event::Yield];
        script(Loops::Times(20), vec![phase(1, None, &events)])
    };
    for policy in eras() {
        let equals = vec![of(FIFO(5), yields()), of(FIFO(5), yields())];
        let (_, log) = checked(&one_cpu(), &policy, equals, &all_off(100 * MS));
        for task in 0..2 {
            let turns = log.stretches(task);
            assert!(turns.len() >= 20, "{}: {turns:?}", policy.name());
        }
        let apart = vec![of(FIFO(6), yields()), of(FIFO(5), yields())];
        let (_, log) = checked(&one_cpu(), &policy, apart, &all_off(100 * MS));
        assert!((0..2).all(|task| log.stretches(task).len() <= 2)); // the start line's apart
        let deadline = vec![of(dl(5, 10), yields())];
        let (report, _) = checked(&one_cpu(), &policy, deadline, &all_off(55 * MS));
        assert!(
            report.tasks[0].run_ns.abs_diff(6 * MS) <= MS,
            "{}",
            policy.name()
        );
    }
}

/// Goal: RT tasks get 950 ms of each second while a fair one waits. Alone they lose 50 ms a second
/// where the kernel throttles, nothing where a server serves the fair tasks (6.8). A tick late at
/// most, paid by the next second.
#[test]
fn rt_tasks_leave_50_ms_a_second() {
    for (policy, alone) in eras().iter().zip([9500, 10_000, 10_000]) {
        let run = |tasks| {
            simulate(
                &one_cpu(),
                policy,
                &workload(tasks, vec![]),
                &all_off(10 * S),
            )
            .0
        };
        let both = run(vec![of(FIFO(10), hog(None)), hog(None)]);
        let near = |ns: u64, ms: u64| ns.abs_diff(ms * MS) <= 60 * MS;
        assert!(near(both.tasks[0].run_ns, 9500), "{:?}", both.tasks);
        assert!(near(both.tasks[1].run_ns, 500), "{:?}", both.tasks);
        let one = run(vec![of(FIFO(10), hog(None))]);
        assert!(near(one.tasks[0].run_ns, alone), "{:?}", one.tasks);
    }
}

/// Goal: a deadline task that always wants to run gets its runtime in each period, neither more nor
/// less, and each stretch is that long; the fair task has the rest.
#[test]
fn a_deadline_task_has_its_bandwidth() {
    for policy in eras() {
        let tasks = vec![of(dl(3, 10), hog(None)), hog(None)];
        let (report, log) = checked(&one_cpu(), &policy, tasks, &all_off(S));
        let stretches = log.stretches(0);
        let (last, whole) = stretches[1..].split_last().unwrap();
        assert!(
            whole.iter().all(|s| s.to - s.from == 3 * MS),
            "{stretches:?}"
        );
        assert!(whole.windows(2).all(|s| s[1].from - s[0].from == 10 * MS));
        assert!(last.to - last.from <= 3 * MS);
        assert!(report.tasks[0].run_ns.abs_diff(300 * MS) <= 3 * MS);
        assert!(report.tasks[1].run_ns > 695 * MS);
    }
}

/// Budget 2.5 ms, deadline 4 ms, period 100 ms; its first job begins at 500 ms.
fn constrained(run_ns: u64, sleep_ns: u64) -> TaskScript {
    let (runtime, deadline, period) = (2_500 * US, 4 * MS, 100 * MS);
    let class = RealTime::deadline(runtime, deadline, period).unwrap();
    let (run, sleep) = (
        Event::Run { work_ns: run_ns },
        Event::Sleep {
            duration_ns: sleep_ns,
        },
    );
    let jobs = script(Loops::Forever, vec![phase(1, None, &[run, sleep])]);
    TaskScript {
        delay_ns: 500 * MS,
        ..of(Some(class), jobs)
    }
}

/// Goal: a deadline task whose deadline comes before the end of its period, and that wakes between
/// the two, waits for the next period. Source: docs/rules/rt-and-deadline.md#rt-budgets
/// (`dl_check_constrained_dl()`, 4.13): else it would have runtime / deadline of the time. Method:
/// 2 ms of work each 10 ms: one job per period of 100 ms is 2 %; before 4.13 all are done, 20 %.
/// Where the deadline is the end of the period nothing changes.
#[test]
fn a_constrained_deadline_task_waits_for_its_period() {
    for policy in eras() {
        let tasks = vec![constrained(2 * MS, 8 * MS), hog(None)];
        let (_, log) = checked(&one_cpu(), &policy, tasks, &all_off(1_600 * MS));
        let jobs: Vec<_> = log.stretches(0);
        let jobs = jobs.iter().filter(|s| s.from >= 500 * MS);
        let jobs: Vec<_> = jobs.map(|s| (s.from / MS, s.to - s.from)).collect();
        let expected: Vec<_> = (5..16).map(|n| (n * 100, 2 * MS)).collect();
        assert_eq!(jobs, expected, "{}", policy.name());
    }
    let old = policy("linux-4.7", &[("governor", "performance")]);
    let tasks = vec![constrained(2 * MS, 8 * MS), hog(None)];
    let (_, log) = checked(&one_cpu(), &old, tasks, &all_off(1_500 * MS));
    assert_eq!(log.ran(0, 500 * MS, 1_500 * MS, |_| true), 200 * MS);
    let implicit = of(dl(3, 10), constrained(2 * MS, 9 * MS));
    let (_, log) = checked(
        &one_cpu(),
        &performance(),
        vec![implicit, hog(None)],
        &all_off(1_600 * MS),
    );
    assert_eq!(log.ran(0, 500 * MS, 1_600 * MS, |_| true), 200 * MS);
}

/// Goal: before its deadline such a task has no more than its bandwidth up to there, instead of a
/// new deadline (`update_dl_revised_wakeup()`, 4.13). Source:
/// docs/rules/rt-and-deadline.md#rt-budgets. Method: it wakes 3.5 ms after it began with 0.5 ms of
/// its budget left: 2.5 / 4 of 0.5 ms are 312.5 us.
#[test]
fn a_constrained_deadline_task_keeps_its_deadline() {
    for policy in eras() {
        let tasks = vec![constrained(2 * MS, 1_500 * US), hog(None)];
        let (_, log) = checked(&one_cpu(), &policy, tasks, &all_off(700 * MS));
        let all = log.stretches(0);
        let jobs = all.iter().filter(|s| s.from >= 500 * MS);
        let jobs: Vec<_> = jobs.map(|s| (s.from - 500 * MS, s.to - s.from)).collect();
        assert_eq!(jobs[0].1, 2 * MS, "{}", policy.name());
        let start = jobs[0].0;
        assert_eq!(jobs[1], (start + 3_500 * US, 312_500));
        assert_eq!(jobs[2].0, start + 100 * MS, "the next period");
    }
}

/// Goal: the earliest deadline first: two tasks that fill 80 % of a CPU, each with its own whole
/// runtime as work, never miss, whatever waits beneath (FIFO 99 and a fair task).
#[test]
fn earliest_deadline_first_meets_all_deadlines() {
    let every = |work_ms, period_ms: u64| {
        let events = [
            run_ms(work_ms),
            Event::Timer {
                timer: (period_ms / 10) as u32,
                period_ns: period_ms * MS,
            },
        ];
        of(
            dl(work_ms, period_ms),
            script(Loops::Forever, vec![phase(1, None, &events)]),
        )
    };
    let timer = |name: &str| wakeplace_workload::Timer {
        name: name.into(),
        mode: wakeplace_workload::TimerMode::Absolute,
        start_delay_ns: 0,
    };
    for policy in eras() {
        let tasks = vec![
            every(2, 5),
            every(4, 10),
            of(FIFO(99), hog(None)),
            hog(None),
        ];
        let load = workload(tasks, vec![timer("a"), timer("b")]);
        let (report, log) = simulate(&one_cpu(), &policy, &load, &all_off(900 * MS));
        check_log(&one_cpu(), &load, &log, &report, true);
        for task in [0, 1] {
            let slacks = log.slacks(task);
            assert!(slacks.len() >= 89);
            assert!(slacks.iter().all(|slack| *slack >= 0), "task {task} missed");
        }
    }
}

/// Goal: RT tasks spread over CPUs, and one that wakes to find its CPU taken by its better goes to
/// the CPU whose tasks matter least.
#[test]
fn rt_tasks_go_where_tasks_matter_least() {
    let platform = Board::symmetric(2).platform();
    for policy in eras() {
        let tasks = vec![
            of(FIFO(30), job(1, 50)),
            of(FIFO(20), job(2, 50)),
            of(FIFO(25), job(10, 5)),
        ];
        let (report, log) = checked(&platform, &policy, tasks, &all_off(100 * MS));
        let (first, second, third) = (log.stretches(0), log.stretches(1), log.stretches(2));
        assert_eq!((first.len(), third.len()), (1, 1));
        assert_ne!(first[0].cpu, second[0].cpu);
        assert_eq!(third[0].cpu, second[0].cpu, "where priority 20 ran");
        assert_eq!(second.last().unwrap().to - second[0].from, 55 * MS);
        assert!(
            report
                .reasons
                .iter()
                .any(|(r, _)| *r == Reason::ClassLowest)
        );
    }
}

/// Goal: a CPU whose RT task ends takes one that waits elsewhere (pull). Method: two CPUs, three
/// tasks of one priority: the third waits until the shorter of the others ends.
#[test]
fn a_free_cpu_pulls_a_waiting_rt_task() {
    let platform = Board::symmetric(2).platform();
    for policy in eras() {
        let tasks = vec![
            of(FIFO(10), job(1, 100)),
            of(FIFO(10), job(2, 20)),
            of(FIFO(10), job(5, 30)),
        ];
        let (_, log) = checked(&platform, &policy, tasks, &all_off(200 * MS));
        let (short, waiting) = (log.stretches(1), log.stretches(2));
        assert_eq!(waiting[0].from, short[0].to);
        assert_eq!(waiting[0].cpu, short[0].cpu);
    }
}

/// Goal: more deadline bandwidth than 95 % of the CPUs, or a pinned deadline task, is refused.
#[test]
fn admission() {
    let ask = |tasks: Vec<TaskScript>, cpus: u32| {
        let load = workload(tasks, vec![]);
        let platform = Board::symmetric(cpus).platform();
        check(&platform, &performance(), &load, &all_on(S))
    };
    let half = || of(dl(5, 10), hog(None));
    assert!(ask(vec![half(), of(dl(9, 20), hog(None))], 1).is_ok());
    let error = ask(vec![half(), half()], 1).unwrap_err();
    assert!(matches!(
        error,
        RunError::DeadlineBandwidth {
            percent: 100,
            most: 95,
            ..
        }
    ));
    assert!(ask(vec![half(), half()], 2).is_ok());
    let pinned = ask(vec![of(dl(1, 10), hog(Some(&[0])))], 2).unwrap_err();
    assert!(matches!(pinned, RunError::PinnedDeadline { .. }));
}

/// Goal: from 5.9 on CPUs admit by their capacity. Source: docs/rules/rt-and-deadline.md#rt-budgets
/// (`dl_bw_capacity()`). Method: hikey960 has (4 x 462 + 4 x 1024) / 1024 = 5.80 CPUs, of which
/// 95 % are 5.51: eleven halves are admitted, twelve not; before, 7.6 CPUs are.
#[test]
fn admission_by_capacity() {
    let hikey960 = builtin("hikey960");
    let ask = |era, halves| {
        let tasks = vec![of(dl(5, 10), hog(None)); halves];
        check(
            &hikey960,
            &policy(era, &[]),
            &workload(tasks, vec![]),
            &all_on(S),
        )
    };
    for (era, most, refused) in [
        (
            "linux-5.0",
            15,
            "need 800 % of a CPU, but 8 CPUs admit at most 760 % (95 % each)",
        ),
        (
            "linux-6.2",
            11,
            "need 600 % of a CPU, but 8 CPUs admit at most 551 % (95 % of their",
        ),
    ] {
        assert!(ask(era, most).is_ok(), "{era}");
        let error = ask(era, most + 1).unwrap_err().to_string();
        assert!(error.contains(refused), "{error}");
    }
}

fn with(key: &str, value: &str, duration_ns: u64) -> Options {
    let mut options = all_off(duration_ns);
    options.set(key, value).unwrap();
    options
}

/// Goal: interrupts of 10 % leave a task alone 0.9 of the wall time. Source:
/// docs/rules/signals.md#clocks. Method: 100 us of each ms from 1 ms on, 1 s: the last one begins
/// at the end.
#[test]
fn interrupts_take_a_tenth() {
    for policy in eras() {
        let load = workload(vec![hog(None)], vec![]);
        let options = with("model.irq", "0:1ms:100us", S);
        let (report, _) = simulate(&one_cpu(), &policy, &load, &options);
        let without = simulate(&one_cpu(), &policy, &load, &all_off(S)).0;
        let lost = without.tasks[0].run_ns - report.tasks[0].run_ns;
        assert_eq!(lost, 999 * 100 * US);
    }
}

/// Goal: on an idle CPU an interrupt wakes it for as long as it takes; a task that starts meanwhile
/// waits for its end.
#[test]
fn interrupts_of_an_idle_cpu() {
    let options = with("model.irq", "0:20ms:5ms", 100 * MS);
    let load: Workload = workload(vec![job(19, 10), job(62, 10)], vec![]);
    let (report, log) = simulate(&one_cpu(), &performance(), &load, &options);
    // The first runs from 19 ms on and is held up from 20 to 25 ms; the second is due at 62 ms, in
    // the middle of the interrupt that began at 60 ms (and 1 us of leaving WFI).
    assert_eq!(log.exit(0).map(|at| at / MS), Some(34));
    assert_eq!(log.exit(1), Some(75 * MS + US));
    assert_eq!(report.tasks[1].run_ns, 10 * MS);
}

/// Goal: a capped domain leaves faster operating points at once, under every governor, and has them
/// back when the cap ends; the capacity that is lost is seen from 6.10 on
/// (docs/rules/capacity.md#capacity-of: 1805 of 2362 MHz of the A73: pressure 242).
#[test]
fn a_cap_holds_while_it_lasts() {
    let platform = builtin("hikey960");
    let capped = platform.freq_domains[1]
        .opps
        .iter()
        .position(|o| o.khz == 1_805_000);
    let capped = capped.expect("an operating point of the A73") as u16;
    for era in ["linux-4.17", "linux-7.3"] {
        for governor in ["performance", "schedutil", "ondemand"] {
            let policy = policy(era, &[("governor", governor)]);
            let options = with("model.freq_cap", "1:1805000@1s+1:max@2s", 3 * S);
            let load = workload(vec![hog(Some(&[4]))], vec![]);
            let (_, log) = simulate(&platform, &policy, &load, &options);
            let at = |t: u64| {
                let changes = log.frequencies(1);
                changes.iter().rev().find(|(from, _)| *from <= t).unwrap().1
            };
            assert_eq!(at(S - MS), 4, "{era} {governor}");
            assert_eq!((at(S + 10 * MS), at(2 * S - MS)), (capped, capped));
            // ondemand looks again at its next sample only
            let back = if governor == "ondemand" {
                3 * S - MS
            } else {
                2 * S + 20 * MS
            };
            assert_eq!(at(back), 4, "{era} {governor}");
        }
    }
}

/// Goal: what is not there is refused, with what there is.
#[test]
fn devices_and_caps_must_fit_the_machine() {
    let load = workload(vec![hog(None)], vec![]);
    let error = |key, value| {
        let options = with(key, value, S);
        let error = check(&builtin("hikey960"), &performance(), &load, &options);
        error.unwrap_err().to_string()
    };
    assert!(error("model.irq", "8:1ms:1us").contains("CPUs 0 to 7"));
    assert!(error("model.freq_cap", "2:1805000").contains("domains 0 to 1"));
    assert!(error("model.freq_cap", "1:1806000").contains("1805000"));
}

/// Goal: wake-ups from I/O raise the frequency where the same sleeps without do not. Source:
/// docs/rules/capacity.md#schedutil: the boost doubles up to all.
#[test]
fn io_waits_raise_the_frequency() {
    let platform = builtin("hikey960");
    for era in ["linux-4.17", "linux-7.3"] {
        let highest = |io_wait| {
            let events = [
                Event::Run { work_ns: 50 * US },
                Event::Sleep {
                    duration_ns: 500 * US,
                },
            ];
            let task = TaskScript {
                attributes: Attributes {
                    io_wait,
                    ..Attributes::default()
                },
                ..script(Loops::Forever, vec![phase(1, Some(&[4]), &events)])
            };
            let settings = [("rate_limit_us", "1000")];
            let load = workload(vec![task], vec![]);
            let (_, log) = simulate(&platform, &policy(era, &settings), &load, &all_on(S));
            let late = log
                .frequencies(1)
                .into_iter()
                .filter(|(at, _)| *at > 500 * MS);
            late.map(|(_, opp)| opp)
                .max()
                .unwrap_or(log.frequencies(1).last().unwrap().1)
        };
        assert_eq!(highest(true), 4, "{era}");
        assert!(highest(false) < 4, "{era}");
    }
}

/// Goal: a task whose wakers ask for their own CPU wakes where its timer fires
/// (docs/rules/wake-ups.md#try-to-wake-up).
#[test]
fn wake_here() {
    let task = TaskScript {
        attributes: Attributes {
            wake_here: true,
            ..Attributes::default()
        },
        ..script(
            Loops::Times(9),
            vec![phase(1, None, &[run_ms(1), sleep_ms(3)])],
        )
    };
    let platform = Board::symmetric(4).platform();
    let (report, _) = checked(&platform, &performance(), vec![task], &all_off(S));
    let here = report
        .reasons
        .iter()
        .find(|(r, _)| *r == Reason::CurrentCpu);
    // From nine sleeps; where forks take no time nobody waits at the start line.
    assert_eq!(here.map(|(_, n)| *n), Some(9));
}
