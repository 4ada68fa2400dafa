//! Keys that rt-app passes over are named, once each. The known ones are those that rt-app 55cb0c0
//! looks up (src/rt-app_parse_config.c: `parse_global`, `parse_task_data` and
//! `parse_task_event_data`).
//! Page: docs/guide/rt-app.md, "How a file is read".
//!
//! What must stay: known keys are those that rt-app looks up; equal warnings are one, and they are
//! bounded.
//! Tests by part (in crates/workload/src): rtapp/keys.rs: `a_key_that_nothing_reads_is_named`
//! (`unknown`, `hint`, `meant`), `a_key_beside_the_tasks_that_nothing_reads_is_named`
//! (`warn_of_unknown`, `name`), `known_keys_and_remarks_are_silent` (`keys`, `without_number`,
//! `is_comment`), `equal_warnings_are_one` (warnings of a sort); rtapp/read.rs:
//! `a_key_beside_the_tasks_that_nothing_reads_is_named` (keys of the file); rtapp/notes.rs:
//! `equal_warnings_are_one` (`warn_alike`, `warning_lines`), `warnings_of_a_large_file_are_bounded`
//! (`warn`, `warning_lines`); rtapp/fields.rs: `a_refusal_names_the_key` (messages);
//! rtapp/global.rs: `a_refusal_names_the_key` (ranges).
//! Helpers, and who fails with them: `warnings` (most tests); `of_task`
//! (`a_key_that_nothing_reads_is_named`, `known_keys_and_remarks_are_silent`,
//! `equal_warnings_are_one`, `warnings_of_a_large_file_are_bounded`).
use wakeplace_workload::{LoadOptions, MachineFacts, Spec, check_rtapp};

/// The warnings of a file whose calibration is given.
fn warnings(global: &str, tasks: &str) -> Vec<String> {
    let text = format!("{{\"global\":{{\"calibration\":9{global}}},\n\"tasks\":{{{tasks}}}}}");
    let spec = Spec::parse_rtapp(text.as_bytes(), "f.json", &LoadOptions::default());
    spec.expect(&text).warnings
}

/// The warnings of one task.
fn of_task(body: &str) -> Vec<String> {
    warnings("", &format!("\"t\":{{{body}}}"))
}

/// Goal: every object of a file, and what is offered: a slip, the name that another version or
/// program has for it, or the object where rt-app knows the key.
#[test]
fn a_key_that_nothing_reads_is_named() {
    let task = "it is no key of a task";
    let phase = "it is no key of a phase";
    for (body, key, why) in [
        (
            r#""run":1,"cpu":[1]"#,
            "cpu",
            format!("{task}; did you mean `cpus`?"),
        ),
        (
            r#""run":1,"prioritiy":1"#,
            "prioritiy",
            format!("{task}; did you mean `priority`?"),
        ),
        (
            r#""run":1,"uclamp_max":9"#,
            "uclamp_max",
            format!("{task}; did you mean `util_max`?"),
        ),
        (r#""run":1,"foo":{"a":1}"#, "foo", task.to_owned()),
        (
            r#""run":1,"duration":1"#,
            "duration",
            format!("{task}, but of `global`"),
        ),
        (
            r#""phases":{"p":{"sleep":1,"exec_time":1}}"#,
            "exec_time",
            format!("{phase}; did you mean `run`?"),
        ),
        (
            r#""phases":{"p":{"sleep":1,"instance":1}}"#,
            "instance",
            format!("{phase}, but of a task"),
        ),
        (
            r#""timer":{"ref":"a","period":1,"mod":"absolute"}"#,
            "mod",
            "it is no key of a `timer`; did you mean `mode`?".to_owned(),
        ),
        (
            r#""lock":"m","wait":{"ref":"a","mutx":"m"},"unlock":"m""#,
            "mutx",
            "it is no key of a `wait` or `sync`; did you mean `mutex`?".to_owned(),
        ),
        (
            r#""memrun":{"type":"read","size":64,"count":64,"strid":1}"#,
            "strid",
            "it is no key of a `memrun`; did you mean `stride`?".to_owned(),
        ),
    ] {
        let column = format!("\"t\":{{{body}}}")
            .find(&format!("\"{key}\""))
            .expect("there");
        // The tasks stand behind `"tasks":{`, 9 characters.
        let line = format!("f.json:2:{}: `{key}` is ignored: {why}", column + 10);
        assert_eq!(of_task(body), [line]);
    }
}

/// Goal: rt-app takes keys with `_` for remarks; one that is nearly a key of ours, or one of ours
/// in another place, is named, and other remarks are not.
#[test]
fn a_key_of_ours_is_not_misspelt_in_silence() {
    let root = |key: &str| {
        let text = format!(
            "{{\"tasks\":{{\"t\":{{\"run\":1}}}},\"global\":{{\"calibration\":\"CPU0\"}},\n\
             \"{key}\":{{}}}}"
        );
        let spec = Spec::parse_rtapp(text.as_bytes(), "f.json", &LoadOptions::default());
        spec.expect(&text).warnings
    };
    let remark = "is ignored, as a remark; did you mean";
    assert_eq!(
        root("_deadline"),
        [format!("f.json:2:1: `_deadline` {remark} `_deadlines`?")]
    );
    assert_eq!(
        root("_group"),
        [format!("f.json:2:1: `_group` {remark} `_groups`?")]
    );
    let said = root("deadlines");
    assert!(
        said.len() == 1 && said[0].ends_with("of the file; did you mean `_deadlines`?"),
        "{said:?}"
    );
    let task = of_task(r#""run":1,"_deadline":16000"#);
    let end = format!("`_deadline` {remark} `_deadlines` of the file, beside `tasks`?");
    assert!(task.len() == 1 && task[0].ends_with(&end), "{task:?}");
    assert_eq!(of_task(r#""run":1,"_deadlines":{}"#).len(), 1);
    for quiet in ["_deadlines", "_groups", "_comment", "_why"] {
        assert_eq!(root(quiet), [""; 0], "{quiet}");
    }
}

/// Goal: the same beside the tasks: in `global`, and in the file.
#[test]
fn a_key_beside_the_tasks_that_nothing_reads_is_named() {
    let global = warnings(r#","log_dir":"x","frag":1,"run1":5"#, r#""t":{"run":1}"#);
    assert_eq!(global.len(), 3, "{global:?}");
    assert!(
        global[0].ends_with("no key of `global`; did you mean `logdir`?"),
        "{global:?}"
    );
    assert!(
        global[1].ends_with("`frag` is ignored: it is no key of `global`"),
        "{global:?}"
    );
    assert!(
        global[2].ends_with("it is no key of `global`, but of a task"),
        "{global:?}"
    );
    let root = check_rtapp(r#"{"task":{},"tasks":{"t":{"run":1}}}"#, "f.json", 4).warnings;
    let said = root.join("\n");
    assert!(
        said.contains("`task` is ignored: it is no key of the file; did you mean"),
        "{said}"
    );
}

/// Goal: what rt-app reads and what its authors write beside it gives no warning: all attributes,
/// all events with numbers and words behind them, remarks.
#[test]
fn known_keys_and_remarks_are_silent() {
    let clean = [
        r#""instance":1,"delay":0,"loop":1,"cpus":[0],"policy":"SCHED_OTHER","priority":0,
           "dl-runtime":0,"dl-period":0,"dl-deadline":0,"period":0,"deadline":0,
           "util_min":0,"util_max":1024,"taskgroup":"/a","run":1,"run1":2,"sleep_2":3,
           "runtime3":4,"timer4":{"ref":"u","period":1,"mode":"relative"},"mem5":1,"iorun":1,
           "lock":"m","sync":{"ref":"c","mutex":"m"},"unlock":"m","signal6":"c","broad":"c",
           "suspend":"t","resume":"t","barrier":"b","sem_post":"s","sem_wait":"s","yield":"","#,
        r#""run":1,"_comment":"x","//":"y","comment":"z","Comment_2":"z","description":"d","#,
        r#""run":1,"$schema":"x","note":["a"],"#,
    ];
    for body in clean {
        assert_eq!(of_task(body), [""; 0], "{body}");
    }
    let global = r#","_who":"me","duration":2,"default_policy":"SCHED_OTHER","log_size":1,
        "logdir":".","log_basename":"x","ftrace":"none","gnuplot":false,"lock_pages":true,
        "pi_enabled":false,"io_device":"/dev/null","mem_buffer_size":1,"cumulative_slack":false"#;
    assert_eq!(warnings(global, r#""t":{"run":1}"#), [""; 0]);
}

/// Goal: one line for many of a sort, with their number and the option that cures them.
#[test]
fn equal_warnings_are_one() {
    let phase = |at: usize| format!(r#""p{at}":{{"sleep":1,"exec_time":1}}"#);
    let phases: Vec<String> = (0..5000).map(phase).collect();
    let many = of_task(&format!("\"phases\":{{{}}}", phases.join(",")));
    assert_eq!(many.len(), 1, "{many:?}");
    assert!(
        many[0].ends_with("did you mean `run`? (4999 more like it)"),
        "{many:?}"
    );

    let twice = |at: usize| format!(r#""t{at}":{{"run":1,"sleep":1,"run":2}}"#);
    let twice: Vec<String> = (0..7).map(twice).collect();
    let twice = warnings("", &twice.join(","));
    assert_eq!(twice.len(), 1, "{twice:?}");
    assert!(
        twice[0].contains("`--rtapp-dialect workgen` keeps both"),
        "{twice:?}"
    );
    assert!(twice[0].ends_with("(6 more like it)"), "{twice:?}");

    let asleep = |at: usize| format!(r#""t{at}":{{"run":1,"suspend":"other"}}"#);
    let asleep: Vec<String> = (0..3).map(asleep).collect();
    let asleep = warnings("", &asleep.join(","));
    assert_eq!(asleep.len(), 1, "{asleep:?}");
    assert!(
        asleep[0].contains("`--rtapp-dialect suspend-ref` reads it so"),
        "{asleep:?}"
    );
    assert!(asleep[0].ends_with("(2 more like it)"), "{asleep:?}");
}

/// Goal: a generated file has neither endless warnings nor takes long: 20,000 keys of their own.
#[test]
fn warnings_of_a_large_file_are_bounded() {
    let keys: Vec<String> = (0..20_000).map(|at| format!("\"x{at}\":1")).collect();
    let many = of_task(&format!("\"run\":1,{}", keys.join(",")));
    assert_eq!(many.len(), 101);
    // 100 are shown.
    assert_eq!(many[100], "f.json: 19900 more warnings");
}

/// Goal: a refusal says which key has the value that cannot be.
#[test]
fn a_refusal_names_the_key() {
    let refusal = |global: &str, body: &str| {
        let text = format!("{{\"global\":{{{global}}},\"tasks\":{{\"t\":{{{body}}}}}}}");
        let spec = Spec::parse_rtapp(text.as_bytes(), "f.json", &LoadOptions::default());
        let ran = spec.and_then(|spec| spec.expand(0, MachineFacts::alike(4)));
        ran.expect_err(&text).to_string()
    };
    for (global, body, key) in [
        ("", r#""run":1,"cpus":[4]"#, "`cpus`"),
        ("", r#""run":1,"cpus":[-1]"#, "`cpus`"),
        ("", r#""run":1,"cpus":[]"#, "`cpus`"),
        ("", r#""run":1,"nodes_membind":[-1]"#, "`nodes_membind`"),
        ("", r#""run":1,"priority":40"#, "`priority`"),
        ("", r#""run":1,"util_min":-5"#, "`util_min`"),
        ("", r#""run":1,"util_max":1025"#, "`util_max`"),
        ("", r#""run2":-1"#, "`run2`"),
        ("", r#""run":"10""#, "`run`"),
        ("", r#""run":1,"delay":-1"#, "`delay`"),
        ("", r#""instance":-1,"barrier":"b""#, "`instance`"),
        (r#""calibration":"CPU4""#, r#""run":1"#, "`calibration`"),
        (r#""calibration":"CPU-1""#, r#""run":1"#, "`calibration`"),
        (
            r#""calibration":9,"start_spread":-1"#,
            r#""run":1"#,
            "`start_spread`",
        ),
    ] {
        let said = refusal(global, body);
        assert!(said.contains(key), "{said}");
    }
}
