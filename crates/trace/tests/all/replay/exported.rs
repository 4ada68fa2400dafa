//! What the program itself writes of a run comes back as the same run: busy time of each task
//! within 0.1 %, as many wake-ups.
//! Page: docs/guide/traces-in.md, "Round trip".
//!
//! What must stay: 0.1 % of busy time and the number of wake-ups are the page's promise.
//! Tests by part (in crates/trace/src): crates/engine/src/mechanics/told.rs:
//! `tasks_by_timers_come_back` (`tell_timer_armed`); export/perfetto/events.rs:
//! `tasks_by_timers_come_back` (`rare`); export/walk.rs: `tasks_that_wake_each_other_come_back`
//! (timers and wake-ups of whole runs); read/fields.rs:
//! `a_timer_says_when_it_was_due_and_a_probe_that_a_waker_sleeps_soon` (`address`),
//! `moves_cost_also_without_a_run_between` (`migrate`); replay/tracker/kernel.rs:
//! `a_timer_says_when_it_was_due_and_a_probe_that_a_waker_sleeps_soon` (`timer_start`,
//! `timer_expire`, `due`); replay/machine.rs: `moves_cost_also_without_a_run_between`
//! (`move_cost`).
//! Helpers, and who fails with them: `exported`, `comes_back` (`tasks_by_timers_come_back`,
//! `tasks_that_wake_each_other_come_back`).

use super::{Case, loaded};
use std::path::Path;
use wakeplace_engine::{RunReport, run};
use wakeplace_trace::{Traces, load};
use wakeplace_workload::{Event, LoadOptions, MachineFacts, Spec, Workload};

fn exported(case: &Case, workload: &Workload, folder: &Path) -> RunReport {
    let mut traces = Traces::new(&case.platform, workload, None);
    traces.ftrace(&folder.join("run.txt")).expect("a file");
    let perfetto = folder.join("run.pftrace");
    traces
        .perfetto(&perfetto, &case.platform, workload)
        .expect("a file");
    let (platform, policy) = (&case.platform, &case.policy);
    let report = run(platform, policy, workload, &case.options, &mut traces);
    traces.publish().expect("written");
    report
}

fn comes_back(platform: &str, policy: &str, text: &str, ms: u64) {
    let mut case = Case::new(platform, policy, ms);
    // What lines of caches take is not subtracted (docs/guide/traces-in.md).
    (case.platform.transfer, case.platform.cache) = (None, None);
    let spec = Spec::parse(text, &LoadOptions::default()).expect("a workload");
    let nr_cpus = case.platform.cpus.len() as u32;
    let expanded = |spec: &Spec| {
        spec.expand(1, MachineFacts::alike(nr_cpus))
            .expect("expanded")
    };
    let original = expanded(&spec);
    let [folder, other] = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    let first = exported(&case, &original, folder.path());
    for file in ["run.txt", "run.pftrace"] {
        let argument = format!("trace:{}", folder.path().join(file).display());
        let spec = load(&argument, Some(&case.platform)).expect("a recording");
        assert!(spec.warnings.is_empty(), "{:?}", spec.warnings);
        let again = expanded(&spec);
        let second = exported(&case, &again, other.path());
        for (at, script) in original.tasks.iter().enumerate() {
            let place = again.tasks.iter().position(|task| task.name == script.name);
            let (one, other) = (
                &first.tasks[at],
                &second.tasks[place.expect("the same name")],
            );
            let what = format!("{platform} {policy} {text} {file}: {}", script.name);
            let (a, b) = (one.run_ns, other.run_ns);
            assert!(a.abs_diff(b) * 1000 <= a, "{what} ran {a} and {b} ns");
            let (a, b) = (one.activations, other.activations);
            assert_eq!(a, b, "{what}: sleeps");
        }
    }
}

#[test]
fn tasks_by_timers_come_back() {
    for (platform, policy, text, ms) in [
        (
            "hikey960",
            "linux-5.0",
            "periodic:n=6,period=16ms,duty=20%,start=spread",
            2_000,
        ),
        (
            "tc2",
            "linux-4.7",
            "periodic:n=8,period=10ms,duty=30%,start=spread",
            1_000,
        ),
        // Several threads to a core, of two kinds.
        (
            "raptor-lake-1370p",
            "linux-6.12",
            "periodic:n=20,period=16ms,duty=30%,start=spread",
            500,
        ),
        (
            "spr-2s",
            "linux-6.12",
            "periodic:n=40,period=16ms,duty=30%,start=spread",
            200,
        ),
        (
            "hikey960",
            "wakeplace",
            "periodic:n=6,period=16ms,duty=20%,start=spread",
            500,
        ),
    ] {
        comes_back(platform, policy, text, ms);
    }
}

#[test]
fn tasks_that_wake_each_other_come_back() {
    // They begin by themselves: who lets others begin is not in a recording.
    let text = "context-switch:tasks=4,start=ready";
    for (platform, policy) in [
        ("hikey960", "linux-6.12"),
        ("tc2", "linux-4.7"),
        ("zen4-7950x", "linux-6.12"),
    ] {
        comes_back(platform, policy, text, 500);
    }
}

/// A sleeper's timer of a kernel's recording, as `trace-cmd report` prints it: its clock is not
/// that of the events, and it struck b, which is not who woke a. It came 0.25 ms late.
const BY_TIMER: &str = concat!(
    "cpus=1\n",
    "  a-11 [000] 10.000000: hrtimer_start: hrtimer=0xffffc9000043be60 ",
    "function=hrtimer_wakeup/0x0 expires=5001000000 softexpires=5000950000 mode=ABS\n",
    "  a-11 [000] 10.000000: sched_switch: a:11 [120] S ==> b:12 [120]\n",
    "  b-12 [000] 10.001300: hrtimer_expire_entry: hrtimer=0xffffc9000043be60 now=5001250000 ",
    "function=hrtimer_wakeup/0x0\n",
    "  b-12 [000] 10.001310: sched_waking: comm=a pid=11 prio=120 target_cpu=000\n",
    "  b-12 [000] 10.001311: hrtimer_expire_exit: hrtimer=0xffffc9000043be60\n",
    "  b-12 [000] 10.002000: sched_switch: b:12 [120] S ==> a:11 [120]\n",
    "  a-11 [000] 10.003000: wake_up_sync: (__wake_up_sync_key+0x4/0x20)\n",
    "  a-11 [000] 10.003000: sched_waking: comm=b pid=12 prio=120 target_cpu=000\n",
    "  a-11 [000] 10.004000: sched_switch: a:11 [120] S ==> b:12 [120]\n",
);

#[test]
fn a_timer_says_when_it_was_due_and_a_probe_that_a_waker_sleeps_soon() {
    let (workload, _) = loaded(BY_TIMER, None).expect("a workload");
    let task = |name: &str| {
        let found = workload.tasks.iter().find(|task| task.name == name);
        found.expect("a task")
    };
    // 1.3 ms less 0.25 ms after the start.
    assert_eq!(task("a").delay_ns, 1_050_000);
    let posts = |name: &str| {
        let events = task(name).phases[0].events.iter();
        let sync = events.filter_map(|event| match event {
            Event::Post { sync, .. } => Some(*sync),
            _ => None,
        });
        sync.collect::<Vec<_>>()
    };
    assert_eq!(posts("b"), []);
    assert_eq!(posts("a"), [true]);
    let without = BY_TIMER.replace("wake_up_sync", "another");
    let (workload, _) = loaded(&without, None).expect("a workload");
    let events = &workload.tasks[0].phases[0].events;
    let plain = |event: &Event| matches!(event, Event::Post { sync: false, .. });
    assert!(events.iter().any(plain), "{events:?}");
}

/// A cost of the machine is taken off for each move, also of one that never ran where it came to.
#[test]
fn moves_cost_also_without_a_run_between() {
    let line = |text: &str| format!("  x-0 [000] {text}\n");
    let task = "comm=a pid=11 prio=120";
    let head = "cpus=8\n  a-11 [004] 1.000000: sched_switch: a:11 [120] S ==> swapper/4:0 [120]\n";
    let waking = line(&format!("1.001000: sched_waking: {task} target_cpu=004"));
    let run = "  <idle>-0 [003] 1.002000: sched_switch: swapper/3:0 [120] R ==> a:11 [120]\n  \
               a-11 [003] 1.102000: sched_switch: a:11 [120] S ==> swapper/3:0 [120]\n";
    let moved = |from: u32, to: u32| {
        let cpus = format!("orig_cpu={from} dest_cpu={to}");
        line(&format!("1.001000: sched_migrate_task: {task} {cpus}"))
    };
    let case = Case::new("hikey960", "linux-5.0", 1);
    let work = |text: String| {
        let (workload, _) = loaded(&text, Some(&case.platform)).expect("a workload");
        let events = &workload.tasks[0].phases[0].events;
        let run = events.iter().find_map(|event| match event {
            Event::Run { work_ns } => Some(*work_ns),
            _ => None,
        });
        run.expect("it ran")
    };
    let once = work(format!("{head}{waking}{}{run}", moved(4, 3)));
    let twice = work(format!("{head}{waking}{}{}{run}", moved(4, 0), moved(0, 3)));
    // hikey960: 3 us within a cluster. Without the event the move shows by where it runs.
    assert_eq!(once - twice, 3_000);
    assert_eq!(once, work(format!("{head}{waking}{run}")));
}
