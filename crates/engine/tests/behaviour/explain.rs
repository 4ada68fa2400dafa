//! An explained decision is the one that the run takes, and asking does not change the run.
//! Page: docs/guide/reasons.md; docs/decisions/034.
//!
//! What must stay: an explanation repeats the run's decision with the same state, and a run that is
//! asked is the same as one that is not.
//! Tests by part (in crates/engine/src): both.rs: `it_is_the_decision_of_the_run` (`situation`,
//! `is_done`); observe.rs: `it_is_the_decision_of_the_run` (`Situation`, `Placement`); sim.rs:
//! `by_number_time_and_cpu` (`is_done`); explain/mod.rs: `by_number_time_and_cpu` (which decision
//! is meant), `an_interrupt_is_told_from_a_waker` (who wakes), `what_is_not_there` (messages);
//! mechanics/told.rs: `an_interrupt_is_told_from_a_waker` (`tell_woken`); explain/mod.rs:
//! `it_is_the_same_again`.
//! Helpers, and who fails with them: `case`, `ask`, `any` (all tests); `wakes`
//! (`it_is_the_decision_of_the_run`, `by_number_time_and_cpu`, `what_is_not_there`).

use wakeplace_engine::observe::{Happening, Observer, Placement, PlacementKind};
use wakeplace_engine::{Asked, Explanation, Missing, Options, Which, check, explain, run};
use wakeplace_platform::Platform;
use wakeplace_policy_sys::{Dropped, Policy};
use wakeplace_workload::{LoadOptions, MachineFacts, Spec, Workload};

const MS: u64 = 1_000_000;

/// All wake-ups that a run placed.
#[derive(Default)]
struct Wakes(Vec<(u64, Placement)>);

impl Observer for Wakes {
    fn happened(&mut self, time_ns: u64, what: &Happening) {
        if let Happening::Placement(ref it) = *what {
            self.placement(time_ns, it)
        }
    }
}

impl Wakes {
    fn placement(&mut self, time_ns: u64, placement: &Placement) {
        if placement.kind == PlacementKind::Wake {
            self.0.push((time_ns, *placement));
        }
    }
}

struct Case {
    platform: Platform,
    policy: Policy,
    workload: Workload,
    options: Options,
}

fn case(platform: &str, policy: &str, workload: &str, ms: u64) -> Case {
    let platform = Platform::builtin(platform).unwrap();
    let spec = Spec::parse(workload, &LoadOptions::default()).unwrap();
    let nr_cpus = platform.cpus.len() as u32;
    let case = Case {
        workload: spec.expand(1, MachineFacts::alike(nr_cpus)).unwrap(),
        policy: Policy::parse(policy).unwrap(),
        options: Options {
            duration_ns: ms * MS,
            ..Options::default()
        },
        platform,
    };
    check(&case.platform, &case.policy, &case.workload, &case.options).unwrap();
    case
}

impl Case {
    fn ask(&self, asked: &Asked, others: &[Policy]) -> Result<Explanation, Missing> {
        let Case {
            platform,
            policy,
            workload,
            options,
        } = self;
        explain(platform, policy, workload, options, asked, others)
    }

    fn wakes(&self) -> Vec<(u64, Placement)> {
        let mut wakes = Wakes::default();
        let Case {
            platform,
            policy,
            workload,
            options,
        } = self;
        let _ = run(platform, policy, workload, options, &mut wakes);
        wakes.0
    }
}

fn any(which: Which) -> Asked {
    Asked {
        scripts: None,
        fork: None,
        which,
    }
}

/// Goal: time, task, waker, CPU and reason of a decision are those that an observer of the run saw,
/// in every era, and of the candidates only the chosen one is not dropped.
#[test]
fn it_is_the_decision_of_the_run() {
    let machines = [
        ("tc2", "periodic:n=9,period=16ms,duty=20%"),
        ("hikey960", "periodic:n=9,period=16ms,duty=20%"),
        ("spr-2s", "messaging:groups=1"),
    ];
    let eras = [
        "3.1",
        "3.8",
        "4.7",
        "4.17",
        "5.0",
        "6.2",
        "6.12",
        "7.3",
        "6.2+sis-short",
    ];
    for (platform, workload) in machines {
        for era in eras {
            let case = case(platform, &format!("linux-{era}"), workload, 60);
            let wakes = case.wakes();
            assert!(wakes.len() > 8, "{platform} {era}: {}", wakes.len());
            for number in [1, 8, wakes.len() / 2, wakes.len()] {
                let e = case.ask(&any(Which::Wakeup(number as u64)), &[]).unwrap();
                let what = format!("{platform} {era} {number}");
                assert_eq!((e.time_ns, e.placement), wakes[number - 1], "{what}");
                let choice = e.explained.choice;
                assert_eq!(
                    (choice.cpu, choice.reason),
                    (e.placement.cpu, e.placement.reason)
                );
                for seen in &e.explained.candidates {
                    let chosen = seen.dropped == Dropped::None;
                    assert_eq!(chosen, seen.cpu == choice.cpu, "{what}: {seen:?}");
                }
            }
        }
    }
}

/// Goal: each way to name a decision finds the first that it fits.
#[test]
fn by_number_time_and_cpu() {
    let case = case(
        "hikey960",
        "linux-5.0",
        "periodic:n=9,period=16ms,duty=20%",
        100,
    );
    let wakes = case.wakes();
    let third: Vec<_> = wakes.iter().filter(|(_, p)| p.task == 3).collect();
    let of_third = |which| Asked {
        scripts: Some(vec![3]),
        fork: None,
        which,
    };
    let e = case.ask(&of_third(Which::Wakeup(4)), &[]).unwrap();
    assert_eq!(
        (e.time_ns, e.placement, e.number),
        (third[3].0, third[3].1, 4)
    );
    let e = case.ask(&of_third(Which::At(third[2].0)), &[]).unwrap();
    assert_eq!(e.time_ns, third[2].0);
    let e = case.ask(&of_third(Which::At(third[2].0 + 1)), &[]).unwrap();
    assert_eq!(e.time_ns, third[3].0);
    for cpu in 0..8 {
        let first = wakes.iter().find(|(_, p)| p.cpu == cpu);
        let found = case.ask(&any(Which::To(cpu)), &[]);
        assert_eq!(found.ok().map(|e| (e.time_ns, e.placement)), first.copied());
    }
    let e = case.ask(&of_third(Which::Wakeup(0)), &[]).unwrap();
    assert_eq!(
        (e.placement.kind, e.placement.task, e.number),
        (PlacementKind::Fork, 3, 0)
    );
}

/// Goal: a sleep that is over is an interrupt's doing, whoever ran there; a message is its
/// sender's.
#[test]
fn an_interrupt_is_told_from_a_waker() {
    let timers = case(
        "hikey960",
        "linux-7.3",
        "periodic:n=20,duty=20%,start=spread",
        200,
    );
    let mut ran = 0;
    for number in 1..40 {
        let e = timers.ask(&any(Which::Wakeup(number)), &[]).unwrap();
        assert!(e.interrupt, "{number}");
        ran += usize::from(e.waker.is_some());
    }
    assert!(ran > 0, "no interrupt came upon a task");
    let messages = case("hikey960", "linux-7.3", "messaging:groups=1", 60);
    let sent = |number| {
        let e = messages.ask(&any(Which::Wakeup(number)), &[]).unwrap();
        e.waker.is_some() && !e.interrupt
    };
    assert!((1..100).any(sent));
}

/// Goal: what is missing is counted.
#[test]
fn what_is_not_there() {
    let case = case("tc2", "linux-4.17", "periodic:n=2", 100);
    let wakes = case.wakes();
    let missing = case.ask(&any(Which::Wakeup(1_000_000)), &[]).unwrap_err();
    assert_eq!(missing.wakeups, wakes.len() as u64);
    assert_eq!(missing.last_ns, wakes.last().map(|(time, _)| *time));
    assert_eq!(missing.end_ns, 100 * MS);
}

/// Goal: twice the same; and the run's own policy, asked as another one, answers as the run.
#[test]
fn it_is_the_same_again() {
    let case = case(
        "hikey960",
        "linux-7.3",
        "periodic:n=9,period=16ms,duty=20%",
        100,
    );
    let names = ["linux-7.3", "linux-5.0", "linux-3.1"];
    let others = names.map(|name| Policy::parse(name).unwrap());
    for number in 1..30 {
        let asked = any(Which::Wakeup(number));
        let e = case.ask(&asked, &others).unwrap();
        assert_eq!(e.others[0].choice, e.explained.choice, "{number}");
        assert!(e.others[0].same_signals && !e.others[2].same_signals);
        let again = case.ask(&asked, &others).unwrap();
        assert_eq!(format!("{e:?}"), format!("{again:?}"));
    }
}
