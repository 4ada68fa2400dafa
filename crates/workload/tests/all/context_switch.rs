//! The `context-switch` model.
//! Rule: docs/rules/workloads.md#context-switch.
//!
//! What must stay: a round trip counts once, through two channels.
//! Tests by part (in crates/workload/src): models/context_switch.rs:
//! `a_pair_wakes_each_other_through_two_channels` (`task`, `expand`), `tasks_pins_and_seeds`
//! (`parse`), `wrong_values_say_what_is_expected` (`parse`, `even`).
//! Helpers, and who fails with them: `expand` (all tests); `ok`
//! (`a_pair_wakes_each_other_through_two_channels`, `tasks_pins_and_seeds`).
use wakeplace_workload::{Event, LoadOptions, Loops, MachineFacts, Spec, Workload};

fn expand(argument: &str, seed: u64) -> Result<Workload, String> {
    let spec = Spec::parse(argument, &LoadOptions::default()).map_err(|e| e.to_string())?;
    spec.expand(seed, MachineFacts::alike(4))
        .map_err(|e| e.to_string())
}

fn ok(argument: &str) -> Workload {
    expand(argument, 1).expect(argument)
}

/// Source: docs/rules/workloads.md#context-switch: parent writes and reads, child reads and writes,
/// two pipes; a round trip counts 2.
#[test]
fn a_pair_wakes_each_other_through_two_channels() {
    let workload = ok("context-switch:pairs=2,run=2us,sync=off,warmup=5s,start=ready");
    assert_eq!(
        (workload.tasks.len(), workload.shared.channels.len()),
        (4, 4)
    );
    assert!(
        workload
            .shared
            .channels
            .iter()
            .all(|channel| channel.units == 0)
    );
    assert_eq!(workload.count.expect("counts").warm_up_ns, 5_000_000_000);
    let run = Event::Run { work_ns: 2_000 };
    let post = |channel| Event::Post {
        channel,
        sync: false,
    };
    let wait = |channel| Event::Wait { channel };
    let events = |task: usize| &workload.tasks[task].phases[0].events;
    let parent = [run, post(2), wait(3), Event::Count { units: 2 }];
    assert_eq!(*events(2), parent);
    assert_eq!(*events(3), [wait(2), run, post(3)]);
    assert!(workload.tasks.iter().all(|t| t.loops == Loops::Forever));
    assert!(workload.tasks.iter().all(|t| t.cpus.is_none()));
    assert!(workload.tasks[2].delay_ns < 4_000);
}

#[test]
fn tasks_pins_and_seeds() {
    assert_eq!(ok("context-switch:tasks=6").tasks.len(), 6);
    let pinned = ok("context-switch:pairs=5,pin=cpu");
    assert_eq!(pinned.tasks[9].cpus, Some(vec![0]), "pair 4 of 4 CPUs");
    let delays = |seed| {
        let tasks = expand("context-switch:pairs=20,run=1ms", seed).expect("valid");
        tasks.tasks.iter().map(|t| t.delay_ns).collect::<Vec<_>>()
    };
    assert_eq!(delays(3), delays(3));
    assert_ne!(delays(3), delays(4));
}

#[test]
fn wrong_values_say_what_is_expected() {
    for (argument, part) in [
        ("context-switch:tasks=3", "an even number from 2 to 100000"),
        ("context-switch:pairs=0", "a number from 1 to 50000"),
        ("context-switch:pairs=2,tasks=4", "one of them"),
        ("context-switch:run=0us", "a time above 0"),
        ("context-switch:sync=yes", "on or off"),
        ("context-switch:pin=core", "none or cpu"),
        ("context-switch:warmup=5", "a time from 0ns to 1000s"),
        ("context-switch:pair=2", "did you mean `pairs`?"),
        ("context-swich", "did you mean `context-switch`?"),
    ] {
        let error = expand(argument, 1).expect_err(argument);
        assert!(error.contains(part), "{argument}: {error}");
    }
}
