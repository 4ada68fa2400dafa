//! The hash of what happened (`BehaviourHash`) beside that of the engine's events.
//! Rule: docs/internals/checks.md, "Same runs".
//!
//! What must stay: the hash depends on what happens and on nothing else; its parts are tested in
//! crates/engine/src/behaviour/tests.rs.
//! Tests by part (in crates/engine/src): mechanics/clock.rs: `events_that_do_nothing_are_not_in_it`
//! (`event_code`); observe.rs: `what_happens_otherwise_is_in_it` (that what happens is told).
//! Helpers, and who fails with them: `hashed`, `with` (all tests).

use crate::common::*;
use wakeplace_engine::{BehaviourHash, Options, RunReport, run};
use wakeplace_platform::Platform;
use wakeplace_policy_sys::Policy;
use wakeplace_workload::{LoadOptions, MachineFacts, Spec};

/// A run and the hash of what happened in it.
fn hashed(platform: &Platform, policy: &Policy, load: &str, options: &Options) -> (RunReport, u64) {
    let spec = Spec::parse(load, &LoadOptions::default()).expect("a model");
    let nr_cpus = platform.cpus.len() as u32;
    let workload = spec.expand(1, MachineFacts::alike(nr_cpus)).expect("fits");
    let mut hash = BehaviourHash::new(platform);
    let report = run(platform, policy, &workload, options, &mut hash);
    (report, hash.value())
}

fn with(options: &Options, settings: &[(&str, &str)]) -> Options {
    let mut options = options.clone();
    for (key, value) in settings {
        options.set(key, value).expect("a setting");
    }
    options
}

/// Goal: events that do nothing give all later ones other numbers, and the event hash differs. What
/// happens is the same, in each era and on the live queues: a limit at the highest frequency, and
/// tables of powers that become what they are.
#[test]
fn events_that_do_nothing_are_not_in_it() {
    let platform = builtin("hikey960");
    let plain = all_on(300 * MS);
    let idle = [
        ("model.freq_cap", "0:max@2ms+1:max@4ms"),
        ("model.em_scale", "0:100@6ms+1:100@8ms"),
    ];
    let more = with(&plain, &idle);
    for name in [
        "linux-4.7",
        "linux-4.17+energy-aware",
        "linux-6.12",
        "linux-7.3",
        "wakeplace",
    ] {
        for load in ["periodic:n=12", "messaging:groups=1"] {
            let policy = policy(name, &[]);
            let (base, happened) = hashed(&platform, &policy, load, &plain);
            let (other, again) = hashed(&platform, &policy, load, &more);
            assert_eq!(other.events, base.events + 4, "{name}, {load}");
            assert_ne!(other.event_hash, base.event_hash, "{name}, {load}");
            assert_eq!(again, happened, "{name}, {load}");
        }
    }
}

/// Goal: a choice that differs shows: two policies, two seeds' worth of times, a limit that counts.
#[test]
fn what_happens_otherwise_is_in_it() {
    let platform = builtin("hikey960");
    let options = all_on(300 * MS);
    let of = |name: &str, load: &str, options: &Options| {
        hashed(&platform, &policy(name, &[]), load, options).1
    };
    let load = "periodic:n=12";
    let base = of("linux-4.17", load, &options);
    assert_eq!(of("linux-4.17", load, &options), base, "twice the same");
    assert_ne!(of("linux-4.17+energy-aware", load, &options), base);
    assert_ne!(of("linux-4.17", "periodic:n=12,duty=6%", &options), base);
    let limited = with(&options, &[("model.freq_cap", "1:903000@100ms")]);
    assert_ne!(of("linux-4.17", load, &limited), base);
}
