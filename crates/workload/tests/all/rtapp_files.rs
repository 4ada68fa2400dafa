//! rt-app files to scripts: what is modelled, what is refused and how, by the rules of rt-app
//! 55cb0c0 (src/rt-app_parse_config.c, src/rt-app.c).
//! Rules: docs/rules/rt-app.md#rt-app-task, docs/rules/rt-app.md#rt-app-events; docs/decisions/023.
//!
//! What must stay: rt-app's own reading is right; a refusal has line, column and what was expected.
//! Tests by part (in crates/workload/src): rtapp/expand.rs: `the_fixture_expands_to_its_threads`
//! (`scripts`), `taskgroups_become_groups` (`groups`); rtapp/event.rs:
//! `timers_are_private_if_unique_and_absolute_if_one_event_is` (`read_timer`),
//! `values_of_the_wrong_type_are_refused_at_their_place` (`read_event`),
//! `a_yield_is_an_event_whatever_its_value` (`yield`), `warnings_name_what_may_not_be_meant`
//! (`warn_of_prefix`); rtapp/task.rs: `loops_of_tasks_and_phases` (loops),
//! `runtime_without_phases_is_an_event_and_a_slice` (`read_task_scheduling`); rtapp/notes.rs:
//! `a_group_nine_deep_is_not_modelled` (`unmodelled`); rtapp/scheduling.rs:
//! `policies_of_tasks_and_phases` (`realtime`); realtime.rs: `policies_out_of_range` (rt-app
//! files); rtapp/global.rs: `the_calibration_is_a_cpu_or_the_biggest` (`calibration`); error.rs:
//! `what_cannot_run_here_names_its_place` (`expected`), `long_names_are_cut_where_they_are_printed`
//! (`cut`); rtapp/template.rs: `a_small_file_cannot_ask_for_all_memory` (`size`),
//! `a_run_has_so_many_groups` (`group`); lib.rs: `the_check_depends_on_the_number_of_cpus`
//! (`check_rtapp`), `the_example_files_load_without_warnings` (`alike`).
//! Helpers, and who fails with them: `load`, `task` (most tests); `one`
//! (`timers_are_private_if_unique_and_absolute_if_one_event_is`, `loops_of_tasks_and_phases`,
//! `policies_of_tasks_and_phases`, `runtime_without_phases_is_an_event_and_a_slice`); `refusal`
//! (`values_of_the_wrong_type_are_refused_at_their_place`, `policies_out_of_range`,
//! `what_cannot_run_here_names_its_place`); `warnings`
//! (`long_names_are_cut_where_they_are_printed`, `warnings_name_what_may_not_be_meant`).
use std::path::Path;
use wakeplace_workload::{
    Calibration, Dialect, Event, FairPolicy, LoadOptions, Loops, MachineFacts, RealTime, Spec,
    TimerMode, Workload, check_rtapp,
};

const FOUR_CPUS: MachineFacts = MachineFacts::alike(4);
const STRICT: LoadOptions = LoadOptions {
    allow_unmodelled: false,
    dialect: Dialect {
        workgen: false,
        suspend_ref: false,
    },
};
const LENIENT: LoadOptions = LoadOptions {
    allow_unmodelled: true,
    ..STRICT
};

fn load(text: &str, options: &LoadOptions) -> Result<Workload, String> {
    let spec = Spec::parse_rtapp(text.as_bytes(), "f.json", options);
    let spec = spec.map_err(|error| error.to_string())?;
    spec.expand(0, FOUR_CPUS).map_err(|error| error.to_string())
}

/// A file of one task with that body.
fn task(body: &str) -> String {
    format!("{{\"tasks\":{{\"t\":{{{body}}}}}}}")
}

fn one(body: &str) -> Workload {
    load(&task(body), &LoadOptions::default()).expect(body)
}

fn refusal(body: &str) -> String {
    load(&task(body), &LoadOptions::default()).expect_err(body)
}

fn warnings(text: &str) -> String {
    let spec = Spec::parse_rtapp(text.as_bytes(), "f.json", &LoadOptions::default()).expect(text);
    spec.warnings.join("\n")
}

#[test]
fn the_fixture_expands_to_its_threads() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/modelled.json");
    let spec = Spec::parse(&path.to_string_lossy(), &LoadOptions::default()).expect("fixture");
    let workload = spec.expand(0, FOUR_CPUS).expect("fits");
    let names: Vec<_> = workload
        .tasks
        .iter()
        .map(|task| task.name.as_str())
        .collect();
    assert_eq!(names, ["a-0", "a-1", "b-2", "c-3"]);
    assert_eq!(workload.calibration, Calibration::Cpu(1));
    assert_eq!(workload.duration_ns, Some(2_000_000_000));
    assert_eq!(workload.unmodelled, [""; 0]);

    let a = &workload.tasks[1];
    assert_eq!(
        (a.nice, a.delay_ns, a.loops),
        (-3, 500_000, Loops::Times(4))
    );
    assert_eq!(a.cpus, Some(vec![0, 2]));
    let (p, q) = (&a.phases[0], &a.phases[1]);
    assert_eq!(
        (p.loops, p.change.nice, p.cpus.as_deref()),
        (Loops::Times(3), None, Some(&[1][..]))
    );
    let run = |work_ns| Event::Run { work_ns };
    assert_eq!(
        p.events,
        [
            run(100_000),
            run(200_000),
            Event::Sleep {
                duration_ns: 300_000
            }
        ]
    );
    assert_eq!(
        (q.loops, q.change.nice, q.cpus.as_deref()),
        (Loops::Times(1), Some(5), None)
    );
    let timer = |timer, period_ns| Event::Timer { timer, period_ns };
    let wall = Event::Runtime { wall_ns: 400_000 };
    assert_eq!(q.events, [wall, timer(2, 1_000_000), timer(3, 2_000_000)]);
    assert_eq!(
        workload.tasks[2].phases[0].events,
        [timer(4, 3_000_000), run(10_000)]
    );
    assert_eq!(
        workload.tasks[3].phases[0].events,
        [run(1_000), timer(4, 3_000_000)]
    );
    assert_eq!(workload.tasks[3].phases[0].loops, Loops::Times(7));
}

#[test]
fn timers_are_private_if_unique_and_absolute_if_one_event_is() {
    let text = task(
        r#""instance":2,"delay":9,"timer":{"ref":"uniqueX","period":1},
           "timer1":{"ref":"tick","period":1},
           "timer2":{"ref":"tick","period":1,"mode":"absolute"}"#,
    );
    let workload = load(&text, &LoadOptions::default()).expect("timers");
    let timers: Vec<_> = workload
        .timers
        .iter()
        .map(|timer| (timer.name.as_str(), timer.mode, timer.start_delay_ns))
        .collect();
    let expected = [
        ("t-0/uniqueX", TimerMode::Relative, 9_000),
        ("tick", TimerMode::Absolute, 9_000),
        ("t-1/uniqueX", TimerMode::Relative, 9_000),
    ];
    assert_eq!(timers, expected);
    // Without an object it is the shared timer `unknown` of period 0.
    let plain = one("\"run\":1,\"timer\":1000");
    assert_eq!(plain.timers[0].name, "unknown");
    assert_eq!(
        plain.tasks[0].phases[0].events[1],
        Event::Timer {
            timer: 0,
            period_ns: 0
        }
    );
}

#[test]
fn loops_of_tasks_and_phases() {
    use Loops::{Forever, Times};
    let loops = |body| {
        let workload = one(body);
        (workload.tasks[0].loops, workload.tasks[0].phases[0].loops)
    };
    for (body, expected) in [
        ("\"run\":1", (Forever, Times(1))),
        ("\"run\":1,\"loop\":null", (Forever, Times(1))),
        ("\"run\":1,\"loop\":7", (Times(1), Times(7))),
        ("\"run\":1,\"loop\":0", (Times(1), Forever)),
        ("\"run\":1,\"loop\":-1", (Times(1), Forever)),
        ("\"phases\":{\"p\":{\"run\":1}}", (Forever, Times(1))),
        (
            "\"loop\":0,\"phases\":{\"p\":{\"run\":1,\"loop\":2}}",
            (Times(0), Times(2)),
        ),
        (
            "\"loop\":3,\"phases\":{\"p\":{\"run\":1,\"loop\":0}}",
            (Times(3), Forever),
        ),
        (
            "\"loop\":-1,\"phases\":{\"p\":{\"run\":1,\"loop\":-1}}",
            (Forever, Forever),
        ),
    ] {
        assert_eq!(loops(body), expected, "{body}");
    }
}

/// Values that rt-app does not take (all events but those whose value it ignores).
const WRONG: [(&str, &str); 14] = [
    ("lock", "{}"),
    ("unlock", "1"),
    ("wait", "{\"ref\":1}"),
    ("signal", "null"),
    ("broad", "1"),
    ("sync", "{\"mutex\":[]}"),
    ("resume", "1"),
    ("memrun", "{\"type\":\"read\"}"),
    ("mem", "\"x\""),
    ("iorun", "5.0"),
    ("barrier", "1"),
    ("fork", "1"),
    ("sem_post", "1"),
    ("sem_wait", "{}"),
];

#[test]
fn values_of_the_wrong_type_are_refused_at_their_place() {
    for (event, wrong) in WRONG {
        for key in [event.to_owned(), format!("{event}7")] {
            let body = format!("\"run\":1,\"{key}\":{wrong}");
            assert_eq!(check_rtapp(task(&body), "f.json", 4).exit_code, 2, "{body}");
            assert!(refusal(&body).starts_with("f.json:1:"), "{body}");
        }
    }
}

/// Goal: a yield's value is anything (docs/rules/rt-app.md#rt-app-task, `yield`).
#[test]
fn a_yield_is_an_event_whatever_its_value() {
    for value in ["null", "\"\"", "1", "{}"] {
        let body = format!("\"run\":1,\"yield\":{value}");
        let workload = load(&task(&body), &LoadOptions::default()).expect(&body);
        let events = &workload.tasks[0].phases[0].events;
        assert_eq!(events[..], [Event::Run { work_ns: 1_000 }, Event::Yield]);
    }
}

/// Goal: the one thing without a model, a group more than 8 deep, is refused or taken for a group
/// of its own and listed.
#[test]
fn a_group_nine_deep_is_not_modelled() {
    let in_task = task(r#""taskgroup":"/a/b/c/d/e/f/g/h/i","run":1"#);
    let in_phase =
        task(r#""phases":{"p":{"run":1},"q":{"taskgroup":"/a/b/c/d/e/f/g/h/i","run":1}}"#);
    for (text, place) in [(in_task, "1:16"), (in_phase, "1:45")] {
        let error = load(&text, &STRICT).expect_err(&text);
        let group = "a/b/c/d/e/f/g/h/i";
        let what = format!("f.json:{place}: `taskgroup` \"/{group}\": a group more than 8 deep");
        assert!(
            error.starts_with(&format!("{what} is not modelled")),
            "{error}"
        );
        let workload = load(&text, &LENIENT).expect(&text);
        assert_eq!(workload.unmodelled, [what]);
        assert_eq!(workload.groups[0].name, group);
    }
    let global = "{\"tasks\":{\"t\":{\"run\":1}},\"global\":{\"default_policy\":\"SCHED_RR\"}}";
    let workload = load(global, &STRICT).expect(global);
    assert_eq!(
        workload.tasks[0].attributes.realtime,
        Some(RealTime::RoundRobin { priority: 10 }),
        "rt-app's default priority"
    );
}

/// Goal: policies, RT priorities and deadline times become the script's, given for the task or
/// alike for each of its phases (docs/rules/rt-app.md#rt-app-task and
/// docs/rules/rt-app.md#rt-app-lisa).
#[test]
fn policies_of_tasks_and_phases() {
    let us = 1_000;
    let deadline = RealTime::Deadline {
        runtime_ns: 2_000 * us,
        deadline_ns: 8_000 * us,
        period_ns: 10_000 * us,
    };
    let times = r#""dl-runtime":2000,"dl-deadline":8000,"dl-period":10000"#;
    let dl = format!(r#""policy":"SCHED_DEADLINE",{times}"#);
    let legacy = r#""policy":"SCHED_DEADLINE","runtime":2000,"period":10000,"deadline":8000"#;
    for (attribute, policy, realtime) in [
        (r#""policy":"SCHED_BATCH""#, FairPolicy::Batch, None),
        (r#""policy":"SCHED_IDLE""#, FairPolicy::Idle, None),
        (
            r#""policy":"SCHED_FIFO","priority":50"#,
            FairPolicy::Other,
            Some(RealTime::Fifo { priority: 50 }),
        ),
        (&dl, FairPolicy::Other, Some(deadline)),
    ] {
        let phases =
            format!(r#""phases":{{"p":{{{attribute},"run":1}},"q":{{{attribute},"run":2}}}}"#);
        for body in [format!(r#"{attribute},"run":1"#), phases] {
            let workload = one(&body);
            let task = &workload.tasks[0];
            let found = (task.policy, task.attributes.realtime);
            assert_eq!(found, (policy, realtime), "{body}");
            assert_eq!(workload.unmodelled.len(), 0, "{body}");
        }
    }
    let workload = one(&format!(r#"{legacy},"phases":{{"p":{{"run":1}}}}"#));
    assert_eq!(workload.tasks[0].attributes.realtime, Some(deadline));
}

/// Goal: what Linux would refuse is an error at its place with the range.
#[test]
fn policies_out_of_range() {
    let rt = "an RT priority, 1 to 99";
    let period = "a period from 100 us to 4194304 us";
    for (body, expected) in [
        (r#""policy":"SCHED_FIFO","priority":0"#, rt),
        (r#""policy":"SCHED_RR","priority":100"#, rt),
        (
            r#""policy":"SCHED_DEADLINE""#,
            "`dl-runtime` is missing or 0; expected `dl-runtime`",
        ),
        (r#""policy":"SCHED_DEADLINE","dl-runtime":50"#, period),
        (
            r#""policy":"SCHED_DEADLINE","dl-runtime":300,"dl-period":200"#,
            "runtime <= deadline <= period",
        ),
    ] {
        let error = refusal(&format!(r#"{body},"run":1"#));
        assert!(error.contains(expected), "{body}: {error}");
    }
}

/// Goal: the trap of docs/rules/rt-app.md#rt-app-task: without `phases`, `runtime` is an event and
/// a slice as well.
#[test]
fn runtime_without_phases_is_an_event_and_a_slice() {
    let workload = one("\"runtime\":5000");
    let task = &workload.tasks[0];
    assert_eq!(
        task.phases[0].events,
        [Event::Runtime { wall_ns: 5_000_000 }]
    );
    assert_eq!(task.slice_ns, Some(5_000_000));
    let workload = one("\"phases\":{\"p\":{\"runtime\":5000}}");
    let task = &workload.tasks[0];
    assert_eq!(
        task.phases[0].events,
        [Event::Runtime { wall_ns: 5_000_000 }]
    );
    assert_eq!(task.slice_ns, None);
}

#[test]
fn the_calibration_is_a_cpu_or_the_biggest() {
    for (given, expected) in [
        ("", Calibration::Cpu(0)),
        (",\"global\":{\"calibration\":null}", Calibration::Cpu(0)),
        (
            ",\"global\":{\"calibration\":\"CPU3\"}",
            Calibration::Cpu(3),
        ),
        (
            ",\"global\":{\"calibration\":\"CPU 3\"}",
            Calibration::Cpu(3),
        ),
        // What ends before the number: docs/decisions/023.
        (",\"global\":{\"calibration\":\"\"}", Calibration::Cpu(0)),
        (",\"global\":{\"calibration\":\"CP\"}", Calibration::Cpu(0)),
        (",\"global\":{\"calibration\":\"CPU\"}", Calibration::Cpu(0)),
        (
            ",\"global\":{\"calibration\":\"CPU \"}",
            Calibration::Cpu(0),
        ),
        (",\"global\":{\"calibration\":123}", Calibration::Biggest),
    ] {
        let text = format!("{{\"tasks\":{{\"t\":{{\"run\":1}}}}{given}}}");
        assert_eq!(
            load(&text, &LoadOptions::default())
                .expect(&text)
                .calibration,
            expected
        );
    }
    for wrong in ["X", "cpu1", "CP1", "CPUx", "CPU-", " CPU1"] {
        let text = format!(
            "{{\"tasks\":{{\"t\":{{\"run\":1}}}},\"global\":{{\"calibration\":\"{wrong}\"}}}}"
        );
        let outcome = check_rtapp(&text, "f.json", 4);
        assert_eq!(outcome.exit_code, 2, "{wrong}: {outcome:?}");
    }
    let text = "{\"tasks\":{\"t\":{\"run\":1}},\n\"global\":{\"calibration\":\"CPU4\"}}";
    let error = load(text, &LoadOptions::default()).expect_err("4 CPUs");
    assert_eq!(
        error,
        "f.json:2:25: `calibration`: there is no CPU 4; expected CPUs 0 to 3"
    );
}

#[test]
fn what_cannot_run_here_names_its_place() {
    for (body, message) in [
        (
            "\"run\":1,\"cpus\":[0,4,1]",
            "f.json:1:34: `cpus`: there is no CPU 4; expected CPUs 0 to 3",
        ),
        (
            "\"run\":1,\"cpus\":[-1]",
            "f.json:1:32: `cpus`: there is no CPU -1",
        ),
        ("\"run\":1,\"cpus\":[]", "f.json:1:31: `cpus` is empty"),
        (
            "\"phases\":{\"p\":{\"cpus\":[9],\"run\":1}}",
            "f.json:1:39: `cpus`: there is no CPU 9",
        ),
        (
            "\"run\":-5",
            "f.json:1:16: `run` is -5 us; expected 0 or more",
        ),
        ("\"run\":1,\"delay\":-1", "f.json:1:11: `delay` is -1 us"),
        (
            "\"run\":1,\"priority\":20",
            "f.json:1:35: `priority` is 20; expected a nice value",
        ),
        (
            "\"run\":1,\"instance\":-1",
            "f.json:1:11: `instance` of task `t` is -1",
        ),
        ("\"run\":1,\"instance\":0", "f.json:1:1: 0 tasks"),
        ("\"phases\":{}", "f.json:1:11: task `t` has no phase"),
        (
            "\"run\":1,\"instance\":100001",
            "f.json:1:11: more than 100000 threads; expected fewer instances",
        ),
        (
            "\"loop\":1",
            "f.json:1:15: there is no event here; expected a key that begins with",
        ),
        (
            "\"run\":\"1\"",
            "f.json:1:22: `run` is a string; expected an integer",
        ),
        (
            "\"run\":1,\"policy\":\"SCHED_OTHR\"",
            "f.json:1:33: no policy is called `SCHED_OTHR`",
        ),
    ] {
        let error = refusal(body);
        assert!(error.starts_with(message), "{error}\nexpected {message}");
    }
    assert!(refusal("\"run\":1,\"policy\":\"SCHED_OTHR\"").ends_with("mean `SCHED_OTHER`?"));
    assert!(
        load("{\"tasks\":{}}", &LoadOptions::default())
            .expect_err("empty")
            .contains("0 tasks")
    );
}

#[test]
fn a_small_file_cannot_ask_for_all_memory() {
    let name = "n".repeat(10_000);
    let text = format!("{{\"tasks\":{{\"{name}\":{{\"instance\":100000,\"run\":1}}}}}}");
    let error = load(&text, &LoadOptions::default()).expect_err("1 GB of names");
    assert!(error.contains("bytes"), "{error}");
}

/// Goal: messages repeat at most some 300 characters of what the file says.
#[test]
fn long_names_are_cut_where_they_are_printed() {
    let long = "n".repeat(100_000);
    let text = task(&format!("\"run\":1,\"policy\":\"{long}\""));
    let refused = load(&text, &STRICT).expect_err("no such policy");
    let checked = check_rtapp(&text, "f.json", 4).message;
    let file =
        format!("{{\"tasks\":{{\"{long}\":{{\"instance\":0,\"run\":1}},\"t\":{{\"run\":1}}}}}}");
    let warned = warnings(&file);
    for message in [&refused, &checked, &warned] {
        assert!(message.len() < 600, "{} bytes", message.len());
        assert!(message.contains("nnn..."), "{message}");
    }
    assert!(
        refused.contains("; expected one of SCHED_OTHER"),
        "{refused}"
    );
}

#[test]
fn warnings_name_what_may_not_be_meant() {
    let duplicate = warnings(&task("\"run\":1,\"sleep\":2,\n\"run\":3"));
    assert!(duplicate.contains("f.json:2:1: `run` stands here again (before at 1:16)"));
    assert!(warnings(&task("\"run\":1")).contains("no `global.calibration`"));
    assert!(warnings(&task("\"runner\":1")).contains("`runner` begins with `run`"));
    let hidden = warnings(&task("\"run\":5,\"phases\":{\"p\":{\"run\":1}}"));
    assert!(
        hidden.contains("`run` is ignored: the task has `phases`"),
        "{hidden}"
    );
    assert!(warnings(&task("\"run\":5,\"timer\":1")).contains("no period"));
    let clean = "{\"tasks\":{\"t\":{\"run0\":1,\"run_b\":2}},\"global\":{\"calibration\":9}}";
    assert_eq!(warnings(clean), "");
}

#[test]
fn the_check_depends_on_the_number_of_cpus() {
    let text = task("\"run\":1,\"cpus\":[\"2\"]");
    assert_eq!(check_rtapp(&text, "f.json", 3).exit_code, 0);
    let refused = check_rtapp(&text, "f.json", 2);
    assert_eq!(refused.exit_code, 2);
    assert_eq!(
        refused.message,
        "f.json:1:32: `cpus`: there is no CPU 2; expected CPUs 0 to 1"
    );
}

#[test]
fn the_example_files_load_without_warnings() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workloads");
    let mut files = 0;
    for entry in std::fs::read_dir(folder).expect("workloads") {
        let path = entry.expect("entry").path();
        if path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            let spec =
                Spec::parse(&path.to_string_lossy(), &LoadOptions::default()).expect("example");
            assert_eq!(spec.warnings, [""; 0], "{}", path.display());
            assert!(spec.expand(1, MachineFacts::alike(8)).is_ok());
            files += 1;
        }
    }
    assert!(files >= 3, "{files} examples");
}

/// Threads of one `taskgroup` are in one group, whose shares are the kernel's default (1024). In
/// phases it stays until another phase sets one (docs/rules/rt-app.md#rt-app-task).
#[test]
fn taskgroups_become_groups() {
    let text = r#"{"tasks":{
        "a":{"instance":2,"taskgroup":"/fg","run":1},
        "b":{"taskgroup":"/","run":1},
        "c":{"phases":{"p":{"taskgroup":"/bg","run":1},"q":{"run":1}}},
        "d":{"taskgroup":"/fg/","phases":{"p":{"run":1},"q":{"taskgroup":"/fg","run":1}}}}}"#;
    let workload = load(text, &STRICT).expect(text);
    let groups = workload.groups.iter();
    let groups: Vec<_> = groups.map(|g| (&*g.name, g.shares, &*g.tasks)).collect();
    assert_eq!(
        groups,
        [("fg", 1024, &[0, 1, 4][..]), ("bg", 1024, &[3][..])]
    );
}

#[test]
fn a_run_has_so_many_groups() {
    let groups = |n: u32| {
        let tasks = (0..n).map(|i| format!(r#""t{i}":{{"taskgroup":"/g{i}","run":1}}"#));
        format!("{{\"tasks\":{{{}}}}}", tasks.collect::<Vec<_>>().join(","))
    };
    assert_eq!(load(&groups(32), &STRICT).expect("32").groups.len(), 32);
    let error = load(&groups(33), &STRICT).expect_err("33");
    assert!(
        error.contains("more than 32 values of `taskgroup`"),
        "{error}"
    );
}
