//! Deadlines of tasks: files of their own and frames (docs/guide/workloads.md, "Deadlines").
//!
//! What must stay: a frame begins with work behind a timer and ends before the next wait; messages
//! have the place in the file.
//! Tests by part (in crates/workload/src): deadline.rs:
//! `frames_begin_with_work_and_end_before_a_wait` (`apply`, `insert`, `events`),
//! `a_round_without_a_wait_is_no_end` (`end_with_the_last_pass`), `a_file_of_its_own_wins`
//! (`parse`, `with_deadlines`), `what_is_wrong_is_said_with_its_place` (`declared`, `wrong_kind`,
//! `named`).
//! Helpers, and who fails with them: `expanded` (all tests); `file`
//! (`frames_begin_with_work_and_end_before_a_wait`, `a_file_of_its_own_wins`,
//! `what_is_wrong_is_said_with_its_place`); `own` (`frames_begin_with_work_and_end_before_a_wait`);
//! `events` (`frames_begin_with_work_and_end_before_a_wait`, `a_file_of_its_own_wins`).

use super::Deadlines;
use crate::{Event, LoadOptions, MachineFacts, Spec, Workload, WorkloadError};

/// Three tasks that hand on, the first with a rest between bursts.
const TASKS: &str = r#""tasks": {
    "ui": {"phases": {
        "frame": {"loop": 3, "run": 1000, "resume": "draw", "run1": 500,
                  "timer": {"ref": "unique", "period": 16000}},
        "rest": {"sleep": 90000}}},
    "draw": {"suspend": "draw", "run": 2000, "resume": "show"},
    "show": {"suspend": "show", "run": 500},
    "pile": {"instance": 2, "run": 10, "sleep": 10}}"#;

fn file(deadlines: &str) -> Result<Spec, WorkloadError> {
    let text = format!("{{{TASKS}{deadlines}}}");
    Spec::parse_rtapp(text.as_bytes(), "f.json", &LoadOptions::default())
}

fn expanded(spec: &Spec) -> Result<Workload, WorkloadError> {
    spec.expand(1, MachineFacts::alike(4))
}

fn own(text: &str) -> Workload {
    let spec = file(&format!(", \"_deadlines\": {text}")).expect("valid");
    expanded(&spec).expect("it fits")
}

fn events(workload: &Workload, task: &str) -> Vec<Event> {
    let script = workload.tasks.iter().find(|one| one.name == task);
    let phases = &script.expect("it is there").phases;
    phases
        .iter()
        .flat_map(|phase| phase.events.clone())
        .collect()
}

/// Goal: a frame begins where the first task works after a timer, and ends where the last one waits
/// again; what rests is none. The rest of the workload stays what it is.
#[test]
fn frames_begin_with_work_and_end_before_a_wait() {
    let with = own(r#"{"screen": {"from": "ui", "to": "show", "deadline": 33000}}"#);
    let without = expanded(&file("").expect("valid")).expect("it fits");
    assert_eq!(with.chains.len(), 1);
    assert_eq!(
        (&*with.chains[0].name, with.chains[0].deadline_ns),
        ("screen", 33_000_000)
    );
    let begin = Event::FrameBegin { chain: 0 };
    let end = Event::FrameEnd { chain: 0 };
    let ui = events(&with, "ui-0");
    let places = |of: Event| ui.iter().enumerate().filter(move |(_, e)| **e == of);
    let before: Vec<Event> = places(begin).map(|(at, _)| ui[at + 1]).collect();
    let run = |us: u64| Event::Run { work_ns: us * 1000 };
    assert_eq!(before, [run(1000), run(500)], "the second says nothing");
    assert_eq!(places(end).count(), 0);
    let show = events(&with, "show-2");
    let waits = show.iter().position(|e| matches!(e, Event::Await { .. }));
    assert_eq!(show[waits.expect("it is suspended") - 1], end);
    assert_eq!(show.last(), Some(&end));
    assert_eq!(show.iter().filter(|e| **e == end).count(), 2);
    assert_eq!(events(&with, "draw-1"), events(&without, "draw-1"));
    let strip = |events: Vec<Event>| -> Vec<Event> {
        events
            .into_iter()
            .filter(|e| *e != begin && *e != end)
            .collect()
    };
    for task in ["ui-0", "show-2"] {
        assert_eq!(strip(events(&with, task)), events(&without, task));
    }
}

/// Goal: where the last phase goes round without a wait, the end of a round is not that of a frame.
#[test]
fn a_round_without_a_wait_is_no_end() {
    let ends = |phases: &str| {
        let text = format!(
            r#"{{"tasks": {{"a": {{"phases": {{"wait": {{"timer": {{"ref": "unique",
            "period": 9000}}}}, {phases}}}}}}},
            "_deadlines": {{"c": {{"from": "a", "deadline": 5}}}}}}"#
        );
        let spec = Spec::parse_rtapp(text.as_bytes(), "f.json", &LoadOptions::default());
        let workload = expanded(&spec.expect("valid")).expect("it fits");
        let last = workload.tasks[0]
            .phases
            .last()
            .expect("phases")
            .events
            .clone();
        last.iter()
            .filter(|e| matches!(e, Event::FrameEnd { .. }))
            .count()
    };
    assert_eq!(ends(r#""work": {"loop": 1, "run": 3000}"#), 1);
    assert_eq!(ends(r#""work": {"loop": 3, "run": 1000}"#), 0);
}

/// Goal: a file of its own wins, and holds for models, too; all threads of a task are meant.
#[test]
fn a_file_of_its_own_wins() {
    let spec = file(r#", "_deadlines": {"a": {"from": "ui", "deadline": 1}}"#).expect("valid");
    let text = br#"{"b": {"from": "pile", "deadline": 7}}"#;
    let deadlines = Deadlines::parse(text, "d.json").expect("valid");
    let workload = expanded(&spec.with_deadlines(deadlines.clone())).expect("it fits");
    assert_eq!(workload.chains.len(), 1);
    assert_eq!(workload.chains[0].name, "b");
    let begin = Event::FrameBegin { chain: 0 };
    assert_eq!(events(&workload, "pile-3")[0], begin);
    assert_eq!(events(&workload, "pile-4")[0], begin);
    let model = Spec::parse("periodic:n=1", &LoadOptions::default()).expect("a model");
    let refused = expanded(&model.with_deadlines(deadlines)).expect_err("no such task");
    assert!(
        refused
            .to_string()
            .starts_with("d.json:1:16: there is no task `pile`"),
        "{refused}"
    );
}

/// Goal: what is wrong is said in one sentence with its place, what was expected, and the nearest
/// name.
#[test]
fn what_is_wrong_is_said_with_its_place() {
    for (text, expected) in [
        ("7", "`_deadlines` is 7; expected an object of chains"),
        (
            r#"{"a b": {}}"#,
            "`a b` is no name of a chain; expected letters, digits, `_` and `-`",
        ),
        (r#"{"a": 3}"#, "`a` is 3; expected an object"),
        (
            r#"{"a": {"deadline": 5}}"#,
            "`from` of chain `a` is missing; expected the name of a task",
        ),
        (
            r#"{"a": {"from": "ui"}}"#,
            "`deadline` of chain `a` is missing; expected microseconds",
        ),
        (
            r#"{"a": {"from": "ui", "deadline": 0}}"#,
            "`deadline` is 0; expected whole microseconds above 0 and up to 2147 s, as 16667",
        ),
        (
            r#"{"a": {"from": "ui", "until": "show", "deadline": 5}}"#,
            "unknown key `until` of a chain; expected one of from, to, deadline",
        ),
        (
            r#"{"a": {"from": "uj", "deadline": 5}}"#,
            "there is no task `uj`; expected one of draw, pile, show, ui; did you mean `ui`?",
        ),
        (
            r#"{"a": {"from": "draw", "deadline": 5}}"#,
            "task `draw` has no timer and no sleep; expected a first task that has: a frame begins \
             when one of them ends",
        ),
        (
            r#"{"a": {"from": "ui", "deadline": 5}, "b": {"from": "ui", "deadline": 6}}"#,
            "task `ui` begins another chain, too; expected a chain of its own",
        ),
    ] {
        let spec = file(&format!(", \"_deadlines\": {text}"));
        let error = spec
            .and_then(|spec| expanded(&spec))
            .expect_err(text)
            .to_string();
        assert!(
            error.contains(expected) && error.starts_with("f.json:"),
            "{text}: {error}"
        );
    }
}
