//! Attributes that change with a task's phases.
//! Rules: docs/guide/model.md, "Above the fair tasks" and "Task groups"; docs/rules/queues.md#cfs.
//!
//! What must stay: a change counts from its phase on, not before; shares are arithmetic of the
//! weights.
//! Tests by part (in crates/engine/src): kernel/model/class_change.rs:
//! `a_policy_holds_from_its_phase_on` (`class_join_changed`); mechanics/script/progress.rs:
//! `a_policy_holds_from_its_phase_on` (`changes`); kernel/model/interface.rs:
//! `a_group_holds_from_its_phase_on` (`change`); kernel/model/change.rs:
//! `an_idle_task_has_a_small_share`, `hints_hold_from_their_phase_on`.
//! Helpers, and who fails with them: `with`, `on_cpu_0` (all tests); `to`
//! (`a_policy_holds_from_its_phase_on`, `an_idle_task_has_a_small_share`).

use crate::common::checker::check_log;
use crate::common::*;
use wakeplace_workload::{
    Change, Event, FairPolicy, Loops, Phase, PolicyChange, RealTime, TaskGroup, TaskScript,
    Workload,
};

fn with(change: Change, events: &[Event]) -> Phase {
    Phase {
        change,
        ..phase(1, None, events)
    }
}

fn to(policy: PolicyChange) -> Change {
    Change {
        policy: Some(policy),
        ..Change::default()
    }
}

fn on_cpu_0(phases: Vec<Phase>) -> TaskScript {
    TaskScript {
        cpus: Some(vec![0]),
        ..script(Loops::Times(1), phases)
    }
}

const ERAS: [&str; 3] = ["linux-3.8", "linux-4.17", "linux-7.3"];

/// Goal: a task that becomes an RT or deadline task displaces the fair ones at once, and shares
/// with them again when it is one of them. Method: beside a hog on one CPU, 20 ms of work in each
/// phase (within the deadline task's budget).
#[test]
fn a_policy_holds_from_its_phase_on() {
    let budget = RealTime::deadline(40 * MS, 50 * MS, 50 * MS).expect("in range");
    for kind in [
        RealTime::Fifo { priority: 5 },
        RealTime::RoundRobin { priority: 5 },
        budget,
    ] {
        let work = &[run_ms(20)];
        let mut task = on_cpu_0(vec![
            with(Change::default(), work),
            with(to(PolicyChange::RealTime(kind)), work),
            with(to(PolicyChange::Fair(FairPolicy::Other)), work),
        ]);
        task.cpus = None; // as deadline tasks must be
        let load = workload(vec![task, hog(None)], vec![]);
        let platform = Board::symmetric(1).platform();
        for era in ERAS {
            let policy = policy(era, &[("governor", "performance")]);
            let (report, log) = simulate(&platform, &policy, &load, &all_off(S));
            check_log(&platform, &load, &log, &report, true);
            let passes = log.passes(0);
            let lasted: Vec<u64> = passes.iter().map(|(end, p)| end - p.start_ns).collect();
            assert_eq!(lasted[1], 20 * MS, "{era}, {kind:?}");
            for fair in [lasted[0], lasted[2]] {
                assert!(
                    (28 * MS..60 * MS).contains(&fair),
                    "{era}, {kind:?}: {fair}"
                );
            }
        }
    }
}

/// Goal: SCHED_IDLE weighs 3. Source: docs/rules/queues.md#cfs. Method: one second beside a hog of
/// weight 1024.
#[test]
fn an_idle_task_has_a_small_share() {
    let wall = [Event::Runtime { wall_ns: S }];
    let idle = to(PolicyChange::Fair(FairPolicy::Idle));
    let task = on_cpu_0(vec![with(Change::default(), &wall), with(idle, &wall)]);
    let load = workload(vec![task, hog(Some(&[0]))], vec![]);
    let platform = Board::symmetric(1).platform();
    for era in ERAS {
        let policy = policy(era, &[("governor", "performance")]);
        let (report, log) = simulate(&platform, &policy, &load, &all_off(2 * S));
        check_log(&platform, &load, &log, &report, true);
        let [first, second] = [0, S].map(|from| log.ran(0, from, from + S, |_| true));
        assert!(first.abs_diff(S / 2) < 10 * MS, "{era}: {first}");
        assert!(second < 20 * MS, "{era}: {second}");
    }
}

/// Goal: a task that moves into a group gets its part of that group's time. Method: a group of two
/// hogs as heavy as one task; the third is outside for 3 s (1/2), then inside (1/3).
#[test]
fn a_group_holds_from_its_phase_on() {
    let wall = [Event::Runtime { wall_ns: 3 * S }];
    let inside = Change {
        group: Some(Some(0)),
        ..Change::default()
    };
    let outside = Change {
        group: Some(None),
        ..Change::default()
    };
    let phases = vec![
        with(Change::default(), &wall),
        with(inside, &wall),
        with(outside, &wall),
    ];
    let load = Workload {
        groups: vec![TaskGroup {
            tasks: vec![1, 2],
            ..TaskGroup::new("g")
        }],
        ..workload(
            vec![on_cpu_0(phases), hog(Some(&[0])), hog(Some(&[0]))],
            vec![],
        )
    };
    let platform = Board::symmetric(1).platform();
    for era in ["linux-4.17", "linux-7.3"] {
        let policy = policy(era, &[("governor", "performance")]);
        let (report, log) = simulate(&platform, &policy, &load, &all_off(9 * S));
        check_log(&platform, &load, &log, &report, true);
        let parts = [0, 3, 6].map(|s| log.ran(0, s * S, (s + 3) * S, |_| true));
        for (part, expected) in parts.into_iter().zip([1500 * MS, S, 1500 * MS]) {
            assert!(part.abs_diff(expected) < 50 * MS, "{era}: {parts:?}");
        }
    }
}

/// Goal: a hint holds from its phase on where the era knows hints. Method: 1 ms of 10: the lowest
/// frequency is enough; a least performance of 1024 asks for the highest.
#[test]
fn hints_hold_from_their_phase_on() {
    let most = Change {
        uclamp_min: Some(1024),
        ..Change::default()
    };
    let beat = |change| Phase {
        loops: Loops::Times(50),
        ..with(change, &[run_ms(1), sleep_ms(9)])
    };
    let task = on_cpu_0(vec![beat(Change::default()), beat(most)]);
    let load = workload(vec![task], vec![]);
    let platform = Board {
        khz: vec![300_000, 700_000, 1_500_000],
        ..Board::symmetric(1)
    }
    .platform();
    for (uclamp, highest) in [("1", 2), ("0", 1)] {
        let policy = policy("linux-7.3", &[("uclamp", uclamp)]);
        let (report, log) = simulate(&platform, &policy, &load, &all_on(S));
        check_log(&platform, &load, &log, &report, true);
        let late = |(at, opp): &(u64, u16)| (*at > 700 * MS).then_some(*opp);
        let at_end = log.frequencies(0).iter().filter_map(late).max();
        let last = log.frequencies(0).last().map(|(_, opp)| *opp);
        let reached = at_end.or(last);
        assert!(
            if highest == 2 {
                reached == Some(2)
            } else {
                reached < Some(2)
            },
            "uclamp={uclamp}: {reached:?}"
        );
    }
}
