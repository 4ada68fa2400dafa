//! Recordings in which events are missing: what is not known is not made up
//! (docs/guide/traces-in.md#order-gaps-size).
//!
//! What must stay: what is not known is not made up: a gap is nobody's time.
//! Tests by part (in crates/trace/src): read/text.rs: `a_buffer_that_starts_later`
//! (`number_behind`); replay/tracker/gaps.rs: `a_buffer_that_starts_later` (`runs_from_the_start`,
//! `learn`), `the_time_of_lost_events_is_nobodys` (`lose`, `may_have_run_here`),
//! `a_task_that_leaves_an_idle_cpu_is_told` (`leaves_unseen`), `a_task_that_shows_late_begins_then`
//! (`shows_late`); read/fields.rs: `names_like_fields_are_names` (`named`, `last`, `switched`),
//! `short_forms_of_parked_and_idle_threads` (`short`, `short_state`); replay/tracker:
//! `a_late_fork_does_not_move_the_beginning`.
//! Helpers, and who fails with them: `idle`, `switch`, `begins`, `sleeps`, `beats`, `work_ms` (most
//! tests); `line`, `woken` (all tests); `says` (`a_buffer_that_starts_later`,
//! `the_time_of_lost_events_is_nobodys`, `a_task_that_leaves_an_idle_cpu_is_told`,
//! `a_task_that_shows_late_begins_then`); `begins_ms` (`a_task_that_shows_late_begins_then`,
//! `a_late_fork_does_not_move_the_beginning`).

use super::loaded;
use wakeplace_workload::{Event, Workload};

/// A line of ftrace's text.
fn line(cpu: u32, ms: u64, by: &str, what: &str) -> String {
    let (s, us) = (ms / 1000, ms % 1000 * 1000);
    format!("  {by} [{cpu:03}] d..2. {s}.{us:06}: {what}\n")
}

fn idle(cpu: u32) -> (String, u32) {
    (format!("swapper/{cpu}"), 0)
}

fn switch(cpu: u32, ms: u64, prev: (&str, u32), state: &str, next: (&str, u32)) -> String {
    let fields = format!(
        "sched_switch: prev_comm={} prev_pid={} prev_prio=120 prev_state={state} ==> \
         next_comm={} next_pid={} next_prio=120",
        prev.0, prev.1, next.0, next.1
    );
    line(cpu, ms, &format!("{}-{}", prev.0, prev.1), &fields)
}

/// A task begins to run on a CPU that was idle, or leaves it.
fn begins(cpu: u32, ms: u64, task: (&str, u32)) -> String {
    let (name, pid) = idle(cpu);
    switch(cpu, ms, (&name, pid), "R", task)
}

fn sleeps(cpu: u32, ms: u64, task: (&str, u32)) -> String {
    let (name, pid) = idle(cpu);
    switch(cpu, ms, task, "S", (&name, pid))
}

fn woken(cpu: u32, ms: u64, (comm, pid): (&str, u32)) -> String {
    let fields = format!("sched_waking: comm={comm} pid={pid} prio=120 target_cpu=000");
    line(cpu, ms, "<idle>-0", &fields)
}

/// A task is woken on an idle CPU, and runs there for some ms.
fn beats(cpu: u32, ms: u64, task: (&str, u32), for_ms: u64) -> String {
    woken(cpu, ms, task) + &begins(cpu, ms, task) + &sleeps(cpu, ms + for_ms, task)
}

/// Work of a task, ms, rounded.
fn work_ms(workload: &Workload, name: &str) -> u64 {
    let task = workload.tasks.iter().find(|task| task.name == name);
    let events = &task.expect(name).phases[0].events;
    let work = events.iter().map(|event| match event {
        Event::Run { work_ns } => *work_ns,
        _ => 0,
    });
    (work.sum::<u64>() + 500_000) / 1_000_000
}

fn says(warnings: &[String], begin: &str) -> bool {
    warnings.iter().any(|line| line.starts_with(begin))
}

const A: (&str, u32) = ("a", 11);
const B: (&str, u32) = ("b", 12);

/// Goal: a CPU whose buffer starts later than others' is not taken to have run its first task since
/// the first event of the recording.
#[test]
fn a_buffer_that_starts_later() {
    let text = begins(1, 100_000, A)
        + &sleeps(1, 100_001, A)
        + "##### CPU 0 buffer started ####\n"
        + &sleeps(0, 109_900, B)
        + &beats(0, 109_950, B, 10);
    let (workload, warnings) = loaded(&text, None).expect("a workload");
    assert_eq!(work_ms(&workload, "b"), 10);
    assert!(says(&warnings, "1 times the recorder lost"), "{warnings:?}");
    // Without the mark it was there all the time.
    let text = text.replace("##### CPU 0 buffer started ####\n", "");
    let (workload, _) = loaded(&text, None).expect("a workload");
    assert_eq!(work_ms(&workload, "b"), 9_910);
}

/// Goal: the time between lost events is nobody's work, with a mark of the recorder or without.
#[test]
fn the_time_of_lost_events_is_nobodys() {
    for mark in [
        "",
        "CPU:0 [4711 EVENTS DROPPED]\n",
        "CPU:0 [LOST 9 EVENTS]\n",
    ] {
        let text = begins(0, 10_000, A) + mark + &sleeps(0, 19_000, B) + &beats(0, 19_500, A, 2);
        let (workload, warnings) = loaded(&text, None).expect("a workload");
        assert_eq!(work_ms(&workload, "a"), 2, "{mark}");
        let said = if mark.is_empty() {
            "1 switches"
        } else {
            "1 times the recorder"
        };
        assert!(says(&warnings, said), "{warnings:?}");
    }
}

/// Goal: a switch from a task that was not running is counted, where its CPU was idle, too.
#[test]
fn a_task_that_leaves_an_idle_cpu_is_told() {
    let text = begins(0, 10_000, A)
        + &sleeps(0, 10_001, A)
        + &sleeps(0, 19_000, B)
        + &beats(0, 19_500, B, 3);
    let (workload, warnings) = loaded(&text, None).expect("a workload");
    assert!(says(&warnings, "1 switches"), "{warnings:?}");
    assert_eq!(work_ms(&workload, "b"), 3);
}

/// When a task of the workload begins, ms after its beginning.
fn begins_ms(workload: &Workload, name: &str) -> u64 {
    let task = workload.tasks.iter().find(|task| task.name == name);
    task.expect(name).delay_ns / 1_000_000
}

/// Goal: a task that shows late begins when it shows; one at the beginning was there already.
#[test]
fn a_task_that_shows_late_begins_then() {
    let text = |ms: u64| {
        sleeps(0, 100_000, A)
            + &beats(0, 101_000, A, 10)
            + &begins(1, 100_000 + ms, B)
            + &sleeps(1, 100_100 + ms, B)
    };
    let (late, warnings) = loaded(&text(5_000), None).expect("a workload");
    assert!(says(&warnings, "1 times a task ran"), "{warnings:?}");
    assert_eq!(work_ms(&late, "b"), 100);
    let (early, warnings) = loaded(&text(50), None).expect("a workload");
    assert!(!says(&warnings, "1 times a task ran"), "{warnings:?}");
    assert_eq!((begins_ms(&early, "b"), begins_ms(&late, "b")), (0, 5_000));
}

/// Goal: a fork by a task that had shown nothing before moves nobody else's times.
#[test]
fn a_late_fork_does_not_move_the_beginning() {
    let hog = ("hog", 50);
    let new = "sched_wakeup_new: comm=hog pid=60 prio=120 target_cpu=002";
    let text = |fork: &str| {
        sleeps(0, 100_000, A)
            + &beats(0, 101_000, A, 10)
            + &beats(0, 102_000, A, 10)
            + fork
            + &beats(0, 105_000, A, 10)
            + &sleeps(1, 105_500, hog)
    };
    let plain = loaded(&text(""), None).expect("a workload").0;
    let fork = line(1, 104_500, "hog-50", new)
        + &begins(2, 104_500, ("hog", 60))
        + &sleeps(2, 104_501, ("hog", 60));
    let forked = loaded(&text(&fork), None).expect("a workload").0;
    assert_eq!(
        (begins_ms(&plain, "a"), begins_ms(&forked, "a")),
        (1_000, 1_000)
    );
    let maker = forked.tasks.iter().find(|task| task.name == "hog-50");
    let events = &maker.expect("the maker").phases[0].events;
    assert!(
        events
            .iter()
            .any(|event| matches!(event, Event::Fork { .. }))
    );
}

/// Goal: names of tasks may hold anything that fields and lines hold.
#[test]
fn names_like_fields_are_names() {
    for name in [
        "a pid=7 prio=30",
        "w [001] 1.5: z",
        "x ==> y",
        "c prev_pid=9",
    ] {
        let task = (name, 11);
        let text = beats(0, 1_000, task, 4) + &beats(0, 1_100, task, 4);
        let (workload, warnings) = loaded(&text, None).expect(name);
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert_eq!(workload.tasks.len(), 1);
        assert_eq!(work_ms(&workload, name), 8, "{name}");
    }
}

/// Goal: what libtraceevent's plugins print for idle and parked kernel threads
/// (docs/rules/traces.md#trace-events: P 64, I 128) is sleep, and no end.
#[test]
fn short_forms_of_parked_and_idle_threads() {
    let short = |prev: &str, state: &str, next: &str| {
        format!("sched_switch:         {prev} [120] {state} ==> {next} [120]")
    };
    let mut text = "cpus=1\n".to_owned();
    for ms in [1_000, 1_100, 1_200] {
        for (at, (name, state)) in [("kworker/0:1:30", "W"), ("cpuhp/1:31", "x")]
            .iter()
            .enumerate()
        {
            let ms = ms + 10 * at as u64;
            let (comm, pid) = name.rsplit_once(':').expect("a number");
            text += &woken(0, ms, (comm, pid.parse().expect("a number")));
            text += &line(0, ms, "<idle>-0", &short("swapper/0:0", "R", name));
            text += &line(0, ms + 1, "x-30", &short(name, state, "swapper/0:0"));
        }
    }
    let (workload, _) = loaded(&text, None).expect("a workload");
    assert_eq!(workload.tasks.len(), 2);
    let waits = |event: &Event| matches!(event, Event::Io { .. });
    assert!(
        !workload
            .tasks
            .iter()
            .any(|t| t.phases[0].events.iter().any(waits))
    );
}
