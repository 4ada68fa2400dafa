//! What the engine measures: samples, passes, timers, stalls.
//! Rules: docs/rules/workloads.md#cyclictest; docs/guide/model.md, "Work and speed";
//! docs/guide/rt-app.md, "Logs".
//!
//! What must stay: samples are exact to the nanosecond: what a series leaves out is said in its
//! script. Free: work and times of a script, if the samples are worked out anew.
//! Tests by part (in crates/engine/src): crates/workload/src/script/measure.rs: `samples_are_exact`
//! (series and statistics of a run); crates/workload/src/script/event.rs:
//! `one_signal_has_one_stamp` (`Since`), `a_timer_with_overruns_leaves_out_what_it_missed`
//! (`TimerMode::Overrun`); mechanics/script/timers.rs:
//! `a_timer_with_overruns_leaves_out_what_it_missed` (`taken`); observe.rs: `passes_are_told`
//! (`Iteration`); mechanics/work.rs: `stalls_take_time_not_work` (`Stall`); mechanics/thread.rs:
//! `work_is_that_of_the_steps` (`work`); mechanics/script/measure.rs:
//! `frames_begin_when_due_and_end_with_the_last_task` and
//! `frames_of_recordings_count_from_the_wake_up` (frames), `a_frame_is_of_a_whole_chain`
//! (`is_whole`); mechanics/script/steps.rs: `a_rest_begins_one_frame` (`await_timer`); lib.rs:
//! `a_rest_is_no_missed_period` (`run_watched`).
//! Helpers, and who fails with them: `sample`, `series`, `values` (`samples_are_exact`,
//! `one_signal_has_one_stamp`, `a_timer_with_overruns_leaves_out_what_it_missed`). `happened` is of
//! the observer of frames (`frames_begin_when_due_and_end_with_the_last_task`); `begins_ms` and
//! `TICK` (`a_frame_is_of_a_whole_chain`, `a_rest_begins_one_frame`).

use crate::common::checker::check_log;
use crate::common::*;
use wakeplace_engine::{Ended, Happening, Observer, Options, check};
use wakeplace_workload::{
    Chain, Channel, Condition, Event, Loops, Phase, Series, Shared, Since, TaskScript, TimeUnit,
    Timer, TimerMode, Workload,
};

const POST: Event = Event::Post {
    channel: 0,
    sync: false,
};

/// The step that takes a sample.
fn sample(series: u32, since: Since) -> Event {
    Event::Sample { series, since }
}

/// A series with what it leaves out.
fn series(warm_up_ns: u64, less_ns: u64, floor_ns: u64) -> Series {
    Series {
        name: "s".into(),
        warm_up_ns,
        less_ns,
        floor_ns,
        statistics: vec![],
        unit: TimeUnit::Microseconds,
    }
}

/// The samples of a series, in their order.
fn values(log: &Log, of: u32) -> Vec<u64> {
    log.samples(of).into_iter().map(|(_, (_, v))| v).collect()
}

/// Goal: a time since the wake-up is that since the post began, to the nanosecond; of a time what
/// is to be left out is left out. Method: all models off but 1 us out of WFI.
#[test]
fn samples_are_exact() {
    let posts = once(0, &[sleep_ms(5), POST]);
    let waits = [
        Event::Wait { channel: 0 },
        sample(0, Since::Wake),
        Event::Mark,
        run_ms(2),
        sample(0, Since::Wake),
        sample(0, Since::Mark),
        sample(1, Since::Wake),
        sample(2, Since::Wake),
    ];
    let shared = Shared {
        channels: vec![Channel::default()],
        ..Shared::default()
    };
    let load = Workload {
        series: vec![series(0, 0, 0), series(0, 2 * MS, 5 * US), series(S, 0, 0)],
        ..sharing(vec![posts, once(1, &waits)], shared)
    };
    let platform = Board::symmetric(2).platform();
    let (report, log) = simulate(&platform, &performance(), &load, &all_off(S));
    check_log(&platform, &load, &log, &report, false);
    assert_eq!(report.ended, Ended::AllTasksExited);
    assert_eq!(values(&log, 0), [US, 2 * MS + US, 2 * MS]);
    assert_eq!(values(&log, 1), [5 * US], "1 us is less than the floor");
    assert_eq!(values(&log, 2), [], "within the warm-up");
}

/// Goal: all that one signal wakes have its time, though the wake-ups follow one another and cost
/// 3 us each. Method: kernel costs on; the second wakes exactly one wake-up later, on a CPU alike.
#[test]
fn one_signal_has_one_stamp() {
    let waits = |cpu| {
        once(
            cpu,
            &[
                Event::Await {
                    condition: 0,
                    mutex: None,
                },
                sample(0, Since::Wake),
            ],
        )
    };
    let signal = Event::Signal {
        condition: 0,
        all: true,
    };
    let shared = Shared {
        conditions: vec![Condition::default()],
        ..Shared::default()
    };
    let load = Workload {
        series: vec![series(0, 0, 0)],
        ..sharing(
            vec![once(0, &[sleep_ms(5), signal]), waits(1), waits(2)],
            shared,
        )
    };
    let platform = Board::symmetric(3).platform();
    let options = wakeplace_engine::Options {
        idle_states: false,
        ..all_on(S)
    };
    let (report, log) = simulate(&platform, &performance(), &load, &options);
    check_log(&platform, &load, &log, &report, false);
    let [first, second] = values(&log, 0)[..] else {
        panic!("two are woken");
    };
    // Wake-up 3 us, interrupt 1 us, out of WFI 1 us, switch 2 us.
    assert!((7 * US..8 * US).contains(&first), "{first}");
    assert!((second - first).abs_diff(3 * US) < US, "{first} {second}");
}

/// Goal: the time of a timer's expiry counts, also when it came too late to sleep, and expiries
/// that were missed are left out. Source: docs/rules/workloads.md#cyclictest. Method: 10 ms, and 25
/// ms of work: the second expiry, at 20 ms, is seen at 35 ms; the next is at 40 ms.
#[test]
fn a_timer_with_overruns_leaves_out_what_it_missed() {
    let timer = Event::Timer {
        timer: 0,
        period_ns: 10 * MS,
    };
    let latency = sample(0, Since::Wake);
    let steps = [timer, latency, run_ms(25), timer, latency, timer, latency];
    for (mode, third) in [
        (TimerMode::Overrun, 20 * MS),
        (TimerMode::Absolute, 10 * MS),
    ] {
        let timers = vec![Timer {
            name: "t".into(),
            mode,
            start_delay_ns: 0,
        }];
        let load = Workload {
            series: vec![series(0, 0, 0)],
            ..workload(vec![once(0, &steps)], timers)
        };
        let platform = Board::symmetric(1).platform();
        let (report, log) = simulate(&platform, &performance(), &load, &all_off(S));
        check_log(&platform, &load, &log, &report, false);
        let slacks = log.slacks(0);
        assert_eq!(slacks[1], -(15 * MS as i64 + US as i64), "{mode:?}");
        assert_eq!(slacks[2] - slacks[1], third as i64, "{mode:?}");
        let late = if mode == TimerMode::Overrun {
            US
        } else {
            5 * MS + US
        };
        assert_eq!(values(&log, 0), [US, 15 * MS + US, late], "{mode:?}");
    }
}

/// Goal: a pass over a phase says what rt-app logs of it. Method: 2 ms of work and 3 ms of run time
/// in 10 ms; the second pass is the same 10 ms later.
#[test]
fn passes_are_told() {
    let steps = [
        run_ms(2),
        Event::Runtime { wall_ns: 3 * MS },
        Event::Timer {
            timer: 0,
            period_ns: 10 * MS,
        },
    ];
    let timers = vec![Timer {
        name: "t".into(),
        mode: TimerMode::Absolute,
        start_delay_ns: 0,
    }];
    let task = script(Loops::Times(1), vec![phase(2, None, &steps)]);
    let platform = Board::symmetric(1).platform();
    let load = workload(vec![task], timers);
    let (_, log) = simulate(&platform, &performance(), &load, &all_off(S));
    let passes = log.passes(0);
    assert_eq!(passes.len(), 2);
    for (end, pass) in &passes {
        assert_eq!((pass.run_ns, pass.work_ns), (5 * MS, 2 * MS));
        assert_eq!(pass.wake_latency_ns, US, "out of WFI");
        assert_eq!(pass.slack_ns, pass.slack_sum_ns);
        let left = pass.slack_ns.unsigned_abs() + pass.wake_latency_ns;
        assert_eq!(end - pass.start_ns, 5 * MS + left);
    }
    assert_eq!(passes[1].0 - passes[0].0, 10 * MS);
}

/// Goal: a stall takes its time whatever the CPU's speed, and by distance if its memory is on
/// another node. Method: half the speed; spr-2s has two nodes of distance 20 or more.
#[test]
fn stalls_take_time_not_work() {
    let stall = Event::Stall { cpu_ns: 10 * MS };
    let board = Board {
        clusters: vec![(1, 1024), (1, 512)],
        ..Board::symmetric(1)
    };
    let load = workload(vec![once(1, &[stall, run_ms(1)])], vec![]);
    let (report, _) = simulate(&board.platform(), &performance(), &load, &all_off(S));
    assert_eq!(report.tasks[0].run_ns, (10 + 2) * MS);

    let platform = builtin("spr-2s");
    let numa = platform.numa.as_ref().expect("two nodes");
    for nodes in [vec![0], vec![1], vec![0, 1]] {
        let here = platform.cpus[0].node as usize;
        let distances = nodes.iter().map(|n| numa.distances[here][*n as usize]);
        let nearest = u64::from(distances.min().expect("one"));
        let mut task = once(0, &[stall]);
        task.phases[0].memory_nodes = Some(nodes);
        let load = workload(vec![task], vec![]);
        let (report, _) = simulate(&platform, &performance(), &load, &all_off(S));
        assert_eq!(report.tasks[0].run_ns, MS * nearest);
    }
    let lost = Phase {
        memory_nodes: Some(vec![2]),
        ..phase(1, None, &[stall])
    };
    let load = workload(vec![script(Loops::Times(1), vec![lost])], vec![]);
    let error = check(&platform, &performance(), &load, &all_off(S)).expect_err("no node 2");
    assert!(error.to_string().contains("nodes 0 to 1"), "{error}");
}

/// Goal: the work that tasks got done is that of their steps, on whichever CPU and at whatever
/// clock: 20 ms on the calibration CPU, which is a big one of full speed (docs/guide/model.md, Work
/// and speed). Method: the same task on a little and on a big CPU of HiKey960, all costs on.
#[test]
fn work_is_that_of_the_steps() {
    let platform = builtin("hikey960");
    for cpu in [0, 4] {
        let steps = [run_ms(5), sleep_ms(3), run_ms(15)];
        let task = TaskScript {
            cpus: Some(vec![cpu]),
            ..once(0, &steps)
        };
        let load = workload(vec![task], vec![]);
        let (report, _) = simulate(&platform, &performance(), &load, &all_on(S));
        assert_eq!(report.ended, Ended::AllTasksExited);
        assert_eq!(report.tasks[0].work_ns, 20 * MS, "CPU {cpu}");
        assert!(report.tasks[0].run_ns > 20 * MS, "costs are no work");
    }
}

/// Frames begun and done: (time, task, begin of one that began).
#[derive(Default)]
struct Frames(Vec<(u64, u32, Option<u64>)>, Vec<i64>);

impl Observer for Frames {
    fn happened(&mut self, at: u64, what: &Happening) {
        match *what {
            Happening::FrameBegin { task, begin_ns, .. } => self.0.push((at, task, Some(begin_ns))),
            Happening::FrameEnd { task, .. } => self.0.push((at, task, None)),
            Happening::TimerSlack { slack_ns, .. } => self.1.push(slack_ns),
            _ => {}
        }
    }
}

/// Goal: a frame begins when its timer was due, also if the work before took longer than the
/// period, and is done when the last task waits again. Method: by hand, no costs: period 10 ms,
/// work 4, 14, 4 ms in turn, and 3 ms of the second task each time.
#[test]
fn frames_begin_when_due_and_end_with_the_last_task() {
    let begin = Event::FrameBegin {
        chain: 0,
        woken: None,
    };
    let end = Event::FrameEnd {
        chain: 0,
        frame: None,
    };
    // A second chain with the same last task ends as often.
    let other = Event::FrameEnd {
        chain: 1,
        frame: None,
    };
    let tick = Event::Timer {
        timer: 0,
        period_ns: 10 * MS,
    };
    let pass = |ms| [begin, run_ms(ms), POST, tick];
    let first = once(0, &[&[tick][..], &pass(4), &pass(14), &pass(4)].concat());
    let second = [
        end,
        other,
        Event::Wait { channel: 0 },
        run_ms(3),
        end,
        other,
    ];
    let second = TaskScript {
        cpus: Some(vec![1]),
        ..script(Loops::Forever, vec![phase(1, None, &second)])
    };
    let timer = Timer {
        name: "unique".into(),
        mode: TimerMode::Absolute,
        start_delay_ns: 0,
    };
    let load = Workload {
        timers: vec![timer],
        ..sharing(
            vec![first, second],
            Shared {
                channels: vec![Channel::default()],
                ..Shared::default()
            },
        )
    };
    let platform = Board::symmetric(2).platform();
    let options = Options {
        idle_states: false,
        ..all_off(S)
    };
    let mut seen = Frames::default();
    wakeplace_engine::run_watched(&platform, &performance(), &load, &options, &mut seen);
    let begins: Vec<u64> = seen.0.iter().filter_map(|(_, _, begin)| *begin).collect();
    // Time zero is when the starter has woken.
    assert!(begins[0].abs_diff(10 * MS) < 50 * US, "{begins:?}");
    assert_eq!(begins[1..], [begins[0] + 10 * MS, begins[0] + 20 * MS]);
    let ends = seen.0.iter().filter(|(_, _, begin)| begin.is_none());
    let mut ends: Vec<(u64, u32)> = ends.map(|(at, task, _)| (*at, *task)).collect();
    assert_eq!(ends.len(), 6, "three of each chain");
    ends.dedup();
    // The second frame's work ends at 34, 4 after the third was due.
    let expected = [17, 37, 41].map(|ms| ms * MS);
    let near = |(end, at): (&(u64, u32), &u64)| end.0.abs_diff(*at) < 50 * US && end.1 == 1;
    assert!(
        ends.len() == 3 && ends.iter().zip(&expected).all(near),
        "{ends:?}"
    );
}

/// Goal: a frame that counts from the wake-up begins so long before or after whoever woke its task
/// began to, each time that the step is reached, and an end with a number needs no work. Method: by
/// hand, no costs: woken 5 ms after time zero by another task.
#[test]
fn frames_of_recordings_count_from_the_wake_up() {
    let begin = |after_ns| Event::FrameBegin {
        chain: 0,
        woken: Some(after_ns),
    };
    let end = Event::FrameEnd {
        chain: 0,
        frame: Some(1),
    };
    let first = once(0, &[sleep_ms(5), POST]);
    let second = [
        Event::Wait { channel: 0 },
        run_ms(1),
        begin(-2_000_000),
        begin(3_000_000),
        run_ms(1),
        end,
        end,
    ];
    let load = sharing(
        vec![first, once(1, &second)],
        Shared {
            channels: vec![Channel::default()],
            ..Shared::default()
        },
    );
    let platform = Board::symmetric(2).platform();
    let options = Options {
        idle_states: false,
        ..all_off(S)
    };
    let mut seen = Frames::default();
    wakeplace_engine::run_watched(&platform, &performance(), &load, &options, &mut seen);
    let begins: Vec<u64> = seen.0.iter().filter_map(|(_, _, begin)| *begin).collect();
    assert!(begins[0].abs_diff(3 * MS) < 50 * US, "{begins:?}");
    assert_eq!(begins[1..], [begins[0] + 5 * MS]);
    let ends: Vec<u64> = seen
        .0
        .iter()
        .filter(|one| one.2.is_none())
        .map(|one| one.0)
        .collect();
    assert_eq!(ends.len(), 2, "as many as steps");
    assert!(
        ends[0].abs_diff(7 * MS) < 50 * US && ends[0] == ends[1],
        "{ends:?}"
    );
}

/// Goal: who is late since it has slept for a period or longer has rested and missed nothing; who
/// has worked for too long has. Method: period 10 ms; rests of 30 and of 2 ms, work of 14 ms.
#[test]
fn a_rest_is_no_missed_period() {
    let tick = Event::Timer {
        timer: 0,
        period_ns: 10 * MS,
    };
    let steps = [
        tick,
        sleep_ms(30),
        tick,
        run_ms(14),
        tick,
        sleep_ms(2),
        tick,
    ];
    let timer = Timer {
        name: "unique".into(),
        mode: TimerMode::Relative,
        start_delay_ns: 0,
    };
    let load = workload(vec![once(0, &steps)], vec![timer]);
    let platform = Board::symmetric(2).platform();
    let mut seen = Frames::default();
    wakeplace_engine::run_watched(&platform, &performance(), &load, &all_off(S), &mut seen);
    let late: Vec<bool> = seen.1.iter().map(|slack| *slack < 0).collect();
    assert_eq!(late, [false, true, false], "{:?}", seen.1);
}

const TICK: Event = Event::Timer {
    timer: 0,
    period_ns: 10 * MS,
};

/// When frames began, in whole ms after time zero: of a first task on CPU 0 with a relative timer,
/// and a last one on CPU 1 that the first signals. A signal for which nobody waits is lost.
fn begins_ms(first: TaskScript, last: TaskScript, deadline_ms: u64) -> Vec<u64> {
    let timer = Timer {
        name: "unique".into(),
        mode: TimerMode::Relative,
        start_delay_ns: 0,
    };
    let chain = Chain {
        name: "screen".to_owned(),
        deadline_ns: deadline_ms * MS,
        known: None,
        recorded: None,
    };
    let on = |cpu, task: TaskScript| TaskScript {
        cpus: Some(vec![cpu]),
        ..task
    };
    let load = Workload {
        timers: vec![timer],
        chains: vec![chain],
        ..sharing(
            vec![on(0, first), on(1, last)],
            Shared {
                conditions: vec![Condition::default()],
                ..Shared::default()
            },
        )
    };
    let platform = Board::symmetric(2).platform();
    let options = Options {
        idle_states: false,
        ..all_off(S)
    };
    let mut seen = Frames::default();
    wakeplace_engine::run_watched(&platform, &performance(), &load, &options, &mut seen);
    let begins = seen.0.iter().filter_map(|(_, _, begin)| *begin);
    // Time zero is some us after the run's start.
    begins.map(|begin_ns| begin_ns / MS).collect()
}

/// What the two tasks of a chain do for a frame.
fn pass(work_ms: u64) -> [Event; 3] {
    let begin = Event::FrameBegin {
        chain: 0,
        woken: None,
    };
    let hand_on = Event::Signal {
        condition: 0,
        all: false,
    };
    [begin, run_ms(work_ms), hand_on]
}

fn taken(work_ms: u64) -> [Event; 3] {
    let end = Event::FrameEnd {
        chain: 0,
        frame: None,
    };
    let wait = Event::Await {
        condition: 0,
        mutex: None,
    };
    [wait, run_ms(work_ms), end]
}

/// Goal: a frame exists if the whole chain takes part. Method: by hand, no costs: the first task is
/// due at 10, 20, ... 90 ms. The last one begins at 25, so the first frame is that of 30. It is
/// done with the second frame, that of 40, at 45 and sleeps until 85: with a deadline of 20 ms that
/// is a rest, and the next frame is that of 90. With one of 50 ms it is none: a frame could be in
/// time with it.
#[test]
fn a_frame_is_of_a_whole_chain() {
    let first = [&[TICK][..], &pass(2)].concat();
    let first = script(Loops::Times(9), vec![phase(1, None, &first)]);
    let last = TaskScript {
        delay_ns: 25 * MS,
        ..script(
            Loops::Times(1),
            vec![
                phase(2, None, &taken(3)),
                phase(1, None, &[sleep_ms(40)]),
                phase(9, None, &taken(3)),
            ],
        )
    };
    let begins = |deadline_ms| begins_ms(first.clone(), last.clone(), deadline_ms);
    assert_eq!(begins(20), [30, 40, 90]);
    assert_eq!(begins(50), [30, 40, 50, 60, 70, 80, 90]);
}

/// Goal: after a rest one frame begins, not a second one with the timer that the rest made late: a
/// display asks for one picture, too. Method: by hand, no costs: works of 4 ms at 0 (nothing was
/// due), 10 and 20; waits until 30 and rests until 80; works at 80 and, since the timer is late, at
/// 84; that one begins anew from there, so the next are due at 94, and at 104, where it rests. The
/// last task works 6 ms, so that of 84 would be lost.
#[test]
fn a_rest_begins_one_frame() {
    let scroll = [&pass(4)[..], &[TICK]].concat();
    let phases = vec![
        phase(3, None, &scroll),
        phase(1, None, &[sleep_ms(50)]),
        phase(3, None, &scroll),
    ];
    let first = script(Loops::Times(1), phases);
    let last = script(Loops::Forever, vec![phase(1, None, &taken(6))]);
    assert_eq!(begins_ms(first, last, 20), [10, 20, 80, 94]);
}
