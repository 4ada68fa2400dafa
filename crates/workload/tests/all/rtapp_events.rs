//! Events, attributes and dialects that the corpus has no file for; rules of
//! docs/rules/rt-app.md#rt-app-task to docs/rules/rt-app.md#rt-app-dialects, figures of
//! docs/decisions/023.
//!
//! What must stay: what rt-app does is right, by its source and the page; figures of memory events
//! are the decision's.
//! Tests by part (in crates/workload/src): rtapp/event.rs: `resources_are_keyed_by_name_and_type`
//! (`condition`, `share`), `memory_events_that_cannot_be` (`read_memrun`); rtapp/resources.rs:
//! `mutexes_inherit_if_asked_to` (`new`), `parties_of_a_barrier_are_summed_over_the_file`
//! (`barrier`, `empty`); rtapp/expand.rs: `forked_tasks_are_scripts_behind_the_others` (`forked`),
//! `phases_change_policies_and_what_goes_with_them` (`change`), `what_the_logs_need` (`log`);
//! rtapp/forks.rs: `no_fork_behind_an_endless_phase_is_reached` (`forks`),
//! `what_a_forked_thread_would_inherit_is_said` (`warn_of_inheritance`); rtapp/scheduling.rs:
//! `slices_of_their_own` (`slice_ns`, `clamp`), `tasks_move_between_groups` (`group`);
//! rtapp/memory.rs: `memory_is_bound_to_nodes` (`memrun`, `events`); json/reader.rs:
//! `the_dialect_workgen` (`member`); dialect.rs: `the_dialect_suspend_ref` (`rtapp`).
//! Helpers, and who fails with them: `expand`, `tasks`, `scripts` (most tests); `parse` (all
//! tests); `refusal` (6 tests).
use crate::script_text;

use script_text::describe;
use wakeplace_workload::{
    Dialect, LoadOptions, LogPhase, MachineFacts, Spec, Workload, check_rtapp, check_rtapp_as,
};

const MACHINE: MachineFacts = MachineFacts::alike(4);
const WORKGEN: Dialect = Dialect {
    workgen: true,
    suspend_ref: false,
};
const SUSPEND_REF: Dialect = Dialect {
    workgen: false,
    suspend_ref: true,
};

fn parse(text: &str, dialect: Dialect) -> Result<Spec, String> {
    let options = LoadOptions {
        dialect,
        ..LoadOptions::default()
    };
    let spec = Spec::parse_rtapp(text.as_bytes(), "f.json", &options);
    spec.map_err(|error| error.to_string())
}

fn expand(text: &str) -> Workload {
    let spec = parse(text, Dialect::default()).expect(text);
    spec.expand(0, MACHINE).expect(text)
}

/// The tasks with nothing but a calibration in `global`.
fn tasks(tasks: &str) -> String {
    format!("{{\"global\":{{\"calibration\":100}},\"tasks\":{{{tasks}}}}}")
}

fn scripts(text: &str) -> Vec<String> {
    describe(&expand(&tasks(text)))
}

fn refusal(text: &str) -> String {
    parse(&tasks(text), Dialect::default()).expect_err(text)
}

#[test]
fn resources_are_keyed_by_name_and_type() {
    let text = r#""a":{"lock":"x","signal":"x","broadcast":"x","sem_post":"x","unlock":"x"},
        "b":{"wait":{"ref":"x","mutex":"y"},"sem_wait":"x","lock2":"y","resume":"a"}"#;
    let expected = [
        "a-0: ever(1x[lock 0, signal 0, broadcast 0, post 0, unlock 0])",
        "b-1: ever(1x[await 0 with 1, take 0, lock 1, lock 2, broadcast 1, unlock 2])",
        "mutex 0 x",
        "mutex 1 y",
        "mutex 2 a",
        "condition 0 x",
        "condition 1 a",
        "channel 0 x holds 0",
    ];
    assert_eq!(scripts(text), expected);
}

#[test]
fn mutexes_inherit_if_asked_to() {
    let text = r#"{"global":{"calibration":1,"pi_enabled":true},"tasks":{"a":{"lock":"m"}}}"#;
    assert_eq!(describe(&expand(text))[1], "mutex 0 m inherits");
}

/// Goal: each occurrence in the file adds the task's instances once, whatever the loops; with none
/// started, rt-app's counter begins below zero and nobody passes.
#[test]
fn parties_of_a_barrier_are_summed_over_the_file() {
    let text = r#""a":{"instance":2,"phases":{"p":{"loop":9,"barrier":"b"},"q":{"barrier":"b"}}}"#;
    assert_eq!(scripts(text)[2], "barrier 0 b of 4");
    let text = r#""t":{"instance":0,"barrier":"b"},"a":{"loop":1,"fork":"t"}"#;
    let expected = [
        "a-0: 1x(1x[fork 1])",
        "t forks 1024: ever(1x[take 0])",
        "channel 0 barrier b of no parties holds 0",
    ];
    assert_eq!(scripts(text), expected);
}

/// Goal: started threads come first and are numbered, templates last; a task that nobody starts
/// has no script, and what it would fork does not matter.
#[test]
fn forked_tasks_are_scripts_behind_the_others() {
    let text = r#""t":{"instance":0,"run":1,"timer":{"ref":"unique","period":2}},
        "a":{"instance":2,"fork":"t","fork2":"u"},"u":{"fork":"a"},
        "z":{"instance":0,"fork":"nobody"}"#;
    let expected = [
        "a-0: ever(1x[fork 3, fork 5])",
        "a-1: ever(1x[fork 3, fork 5])",
        "u-2: ever(1x[fork 4])",
        "t forks 1024: ever(1x[run 1000, timer 0 2000])",
        "a forks 1024: ever(1x[fork 3, fork 5])",
        "u forks 1024: ever(1x[fork 4])",
        "timer 0 t/unique Relative +0",
    ];
    assert_eq!(scripts(text), expected);
    let error = refusal(r#""worker":{"instance":0,"run":1},"a":{"fork":"workr"}"#);
    assert!(error.contains("unknown task `workr`"), "{error}");
    assert!(error.ends_with("did you mean `worker`?"), "{error}");
    // Zero passes reach no fork.
    assert_eq!(
        scripts(r#""a":{"loop":0,"phases":{"p":{"fork":"nobody"}}}"#).len(),
        1,
        "the fork is never reached, and never made"
    );
}

/// Goal: a phase without an end is the last one that is reached; its own forks are.
#[test]
fn no_fork_behind_an_endless_phase_is_reached() {
    for (endless, reached) in [("-1", false), ("0", false), ("1", true)] {
        let text = format!(
            r#""t":{{"instance":0,"run":1}},"u":{{"instance":0,"run":1}},
            "a":{{"phases":{{"p":{{"loop":{endless},"run":1,"fork":"t"}},
                             "q":{{"fork":"nobody","fork2":"u"}}}}}}"#
        );
        if reached {
            let error = refusal(&text);
            assert!(error.contains("unknown task `nobody`"), "{error}");
            continue;
        }
        let expected = [
            "a-0: ever(ever[run 1000, fork 1], 1x[run 0, run 0])",
            "t forks 1024: ever(1x[run 1000])",
        ];
        assert_eq!(scripts(&text), expected, "u is forked by nobody");
    }
    let own = r#""a":{"phases":{"p":{"loop":-1,"fork":"nobody"}}}"#;
    assert!(refusal(own).contains("unknown task `nobody`"));
}

/// Goal: what a phase sets stays; "the policy of before" is that of the first pass; a policy that
/// is given brings its default priority.
#[test]
fn phases_change_policies_and_what_goes_with_them() {
    let text = r#""a":{"priority":3,"phases":{
        "p":{"run":1},
        "q":{"run":1,"policy":"SCHED_FIFO"},
        "r":{"run":1,"priority":20},
        "s":{"run":1,"policy":"SCHED_BATCH","dl-runtime":3000},
        "t":{"run":1,"priority":-5},
        "u":{"run":1,"util_min":100},
        "v":{"run":1,"policy":"SCHED_DEADLINE","dl-runtime":2000,"dl-period":10000},
        "w":{"run":1,"policy":"SCHED_IDLE"}}}"#;
    let expected = "a-0 nice 3: ever(1x[run 1000], \
        1x[run 1000] RealTime(Fifo { priority: 10 }), \
        1x[run 1000] RealTime(Fifo { priority: 20 }), \
        1x[run 1000] Fair(Batch) nice 0 slice 3000000, \
        1x[run 1000] Fair(Batch) nice -5 slice 0, \
        1x[run 1000] min 100, \
        1x[run 1000] RealTime(Deadline { runtime_ns: 2000000, deadline_ns: 10000000, \
        period_ns: 10000000 }), \
        1x[run 1000] Fair(Idle) nice 0 slice 0)";
    assert_eq!(scripts(text), [expected]);
}

/// Goal: a slice is moved into what Linux takes, 0.1 to 100 ms; SCHED_IDLE has none.
#[test]
fn slices_of_their_own() {
    for (us, slice) in [
        (5, " slice 100000"),
        (3000, " slice 3000000"),
        (200_000, " slice 100000000"),
    ] {
        let text = format!(r#""a":{{"dl-runtime":{us},"run":1}}"#);
        assert_eq!(scripts(&text), [format!("a-0{slice}: ever(1x[run 1000])")]);
    }
    let idle = r#""a":{"policy":"SCHED_IDLE","dl-runtime":3000,"run":1}"#;
    assert_eq!(scripts(idle), ["a-0 Idle: ever(1x[run 1000])"]);
    let error = refusal(r#""a":{"util_min":600,"phases":{"p":{"util_max":500,"run":1}}}"#);
    assert!(
        error.contains("`util_min` 600 is above `util_max` 500"),
        "{error}"
    );
}

#[test]
fn tasks_move_between_groups() {
    let text = r#""a":{"taskgroup":"/x","phases":{"p":{"run":1},"q":{"run":1,"taskgroup":"/y"},
        "r":{"run":1},"s":{"run":1,"taskgroup":"/"}}},"b":{"run":1}"#;
    let expected = [
        "a-0: ever(1x[run 1000], 1x[run 1000] group 1, 1x[run 1000], 1x[run 1000] root)",
        "b-1: ever(1x[run 1000])",
        "group 0 x: [0]",
        "group 1 y: []",
    ];
    assert_eq!(scripts(text), expected);
    // The default, written out, is no group.
    let none = tasks(r#""a":{"taskgroup":"","run":1}"#);
    assert_eq!(check_rtapp(&none, "f.json", 4).exit_code, 0);
    // A policy above the fair class that comes later is refused as rt-app does.
    let text = tasks(r#""a":{"taskgroup":"/x","phases":{"p":{"run":1,"policy":"SCHED_RR"}}}"#);
    assert_eq!(check_rtapp(&text, "f.json", 4).exit_code, 2);
    // One that no phase runs with is none, as in rt-app: it looks in each phase.
    let group = r#""taskgroup":"/x","policy":"SCHED_FIFO""#;
    let fair = r#"{"run":1,"policy":"SCHED_OTHER"}"#;
    let expected = ["a-0: ever(1x[run 1000])", "group 0 x: [0]"];
    let text = format!(r#""a":{{{group},"phases":{{"p":{fair}}}}}"#);
    assert_eq!(scripts(&text), expected);
    for body in [r#""run":1"#, r#""phases":{"p":{"run":1}}"#] {
        let error = refusal(&format!(r#""a":{{{group},{body}}}"#));
        assert!(error.contains("above the fair class"), "{error}");
    }
    let late = format!(r#""a":{{{group},"phases":{{"p":{{"run":1}},"q":{fair}}}}}"#);
    assert!(refusal(&late).contains("above the fair class"));
}

/// Goal: memory stays bound until a phase binds it anew, and only stalls look at it.
#[test]
fn memory_is_bound_to_nodes() {
    let memrun = r#""memrun":{"type":"write","size":67108864,"count":1000}"#;
    let text = format!(
        r#""a":{{"nodes_membind":[1,"0",1],"phases":{{"p":{{{memrun}}},
           "q":{{"nodes_membind":[2],{memrun},"run":1}},"r":{{{memrun}}},"s":{{"run":1}},
           "t":{{"nodes_membind":[],{memrun}}}}}}}"#
    );
    // 1000 bytes are in the first level; 16 MiB are not.
    assert!(!scripts(&text)[0].contains("nodes"));
    let text = text.replace("\"count\":1000", "\"count\":16777216");
    // 16777216 x 16 ps and x 84 ps.
    let memory = "run 268436, stall 1409287";
    let expected = format!(
        "a-0: ever(1x[{memory}] nodes [0, 1], 1x[{memory}, run 1000] nodes [2], \
         1x[{memory}] nodes [2], 1x[run 1000], 1x[{memory}] nodes [2])"
    );
    assert_eq!(scripts(&text), [expected]);
    // Without libnuma rt-app looks at nothing of it; a run needs node numbers.
    let text = tasks(r#""a":{"nodes_membind":3,"run":1}"#);
    assert_eq!(check_rtapp(&text, "f.json", 4).exit_code, 0);
    assert!(
        refusal(r#""a":{"nodes_membind":[-1],"run":1}"#)
            .contains("`nodes_membind`: there is no node -1")
    );
    assert!(refusal(r#""a":{"nodes_membind":3,"run":1}"#).contains("no array"));
}

#[test]
fn memory_events_that_cannot_be() {
    for (event, reason) in [
        (r#""mem":-1"#, "`mem` is -1 bytes"),
        (r#""iorun":-1"#, "`iorun` is -1 bytes"),
        (
            r#""memrun":{"type":"read","size":0,"count":1}"#,
            "`size` of `memrun` is 0",
        ),
        (
            r#""memrun":{"type":"read","size":1,"count":-1}"#,
            "`memrun` is -1 bytes or hops",
        ),
        (
            r#""memrun":{"type":"chase","size":1,"count":1,"stride":0}"#,
            "`stride` of `memrun` is 0",
        ),
    ] {
        let error = refusal(&format!(r#""a":{{{event}}}"#));
        assert!(
            error.starts_with("f.json:1:") && error.contains(reason),
            "{error}"
        );
    }
    let text = r#"{"global":{"mem_buffer_size":0},"tasks":{"a":{"mem":1}}}"#;
    let error = parse(text, Dialect::default()).expect_err(text);
    assert!(error.contains("`mem_buffer_size` of 0"), "{error}");
}

/// Goal: docs/rules/rt-app.md#rt-app-dialects. Equal event keys are a sequence, other equal keys
/// are not, and `suspend` needs no value; whatever has another meaning elsewhere is said.
#[test]
fn the_dialect_workgen() {
    let text =
        tasks(r#""a":{"run":1,"sleep":2,"run":3,"loop":5,"loop":6},"b":{"suspend","run":1}"#);
    assert_eq!(check_rtapp(&text, "f.json", 4).exit_code, 2);
    assert_eq!(check_rtapp_as(&text, "f.json", 4, WORKGEN).exit_code, 0);
    let spec = parse(&text, WORKGEN).expect("workgen");
    let workload = spec.expand(0, MACHINE).expect("fits");
    assert_eq!(
        describe(&workload)[..2],
        [
            "a-0: 1x(6x[run 1000, sleep 2000, run 3000])",
            "b-1: ever(1x[lock 0, await 0 with 0, unlock 0, run 1000])"
        ]
    );
    let warnings = spec.warnings.join("\n");
    assert!(
        warnings.contains("`run` stands here again (before at 1:45); both are kept"),
        "{warnings}"
    );
    assert!(warnings.contains("`loop` stands here again"), "{warnings}");
    assert!(
        warnings.contains("a key without a value (`workgen`); rt-app refuses"),
        "{warnings}"
    );
    // Tasks of one name stay one.
    let text = tasks("\"run\":{\"run\":1},\"run\":{\"run\":2}");
    let spec = parse(&text, WORKGEN).expect("workgen");
    assert_eq!(
        describe(&spec.expand(0, MACHINE).expect("fits")),
        ["run-0: ever(1x[run 2000])"]
    );
    // Only `suspend` may lack its value.
    assert!(parse("{\"tasks\":{\"a\":{\"yield\",\"run\":1}}}", WORKGEN).is_err());
}

#[test]
fn the_dialect_suspend_ref() {
    let text = tasks(r#""a":{"suspend":"B","run":1},"b":{"resume":"B","run":2}"#);
    let strict = parse(&text, Dialect::default()).expect("strict");
    assert!(
        strict
            .warnings
            .join("\n")
            .contains("waits under `a`; `B` for rt-app v1.0")
    );
    let lines = describe(&strict.expand(0, MACHINE).expect("fits"));
    assert_eq!(
        lines[2..],
        ["mutex 0 a", "mutex 1 B", "condition 0 a", "condition 1 B"]
    );
    let old = parse(&text, SUSPEND_REF).expect("v1.0");
    assert!(
        old.warnings
            .join("\n")
            .contains("waits under `B`; `a` for rt-app since May 2025")
    );
    let expected = [
        "a-0: ever(1x[lock 0, await 0 with 0, unlock 0, run 1000])",
        "b-1: ever(1x[lock 0, broadcast 0, unlock 0, run 2000])",
        "mutex 0 B",
        "condition 0 B",
    ];
    assert_eq!(describe(&old.expand(0, MACHINE).expect("fits")), expected);
    // Its own name means the same to both; anything but a string v1.0 refuses.
    let text = tasks(r#""a":{"suspend":"a","run":1}"#);
    assert_eq!(parse(&text, SUSPEND_REF).expect("v1.0").warnings, [""; 0]);
    let text = tasks(r#""a":{"suspend":1,"run":1}"#);
    assert_eq!(check_rtapp_as(&text, "f.json", 4, SUSPEND_REF).exit_code, 2);
    assert_eq!(
        check_rtapp_as(&text, "f.json", 4, Dialect::default()).exit_code,
        0
    );
}

/// Goal: names, sums per phase and switches of the log (docs/rules/rt-app.md#rt-app-log): `perf` is
/// us / pLoad of each `run`, cut; no log without `global`, by "disable" or with a buffer of 0 MiB.
#[test]
fn what_the_logs_need() {
    let text = r#"{"global":{"calibration":7,"log_basename":"x","cumulative_slack":true},
        "tasks":{"t":{"instance":0,"run":1},
        "a":{"phases":{"p":{"run":10,"run2":20,"runtime":5,"fork":"t","mem":9999999},
                       "q":{"timer":{"ref":"u","period":100},"timer2":{"ref":"v","period":1}}}}}}"#;
    let log = parse(text, Dialect::default())
        .expect("log")
        .rtapp_log()
        .expect("wanted");
    assert_eq!((log.basename.as_str(), log.cumulative_slack), ("x", true));
    let names: Vec<_> = log
        .threads
        .iter()
        .map(|thread| thread.name.as_str())
        .collect();
    assert_eq!(names, ["a-0", "t"]);
    let sums = |duration_us, period_us, perf| LogPhase {
        duration_us,
        period_us,
        perf,
    };
    // 10 / 7 + 20 / 7 = 1 + 2.
    assert_eq!(log.threads[0].phases[..], [sums(35, 0, 3), sums(0, 101, 0)]);
    for (global, wanted) in [
        ("", false),
        ("\"global\":{},", true),
        ("\"global\":{\"log_size\":\"disable\"},", false),
        ("\"global\":{\"log_size\":0},", false),
        ("\"global\":{\"log_size\":2},", true),
    ] {
        let text = format!("{{{global}\"tasks\":{{\"a\":{{\"run\":1}}}}}}");
        let spec = parse(&text, Dialect::default()).expect(global);
        assert_eq!(spec.rtapp_log().is_some(), wanted, "{global}");
    }
}

#[test]
fn what_a_forked_thread_would_inherit_is_said() {
    let text = tasks(r#""t":{"instance":0,"run":1},"a":{"cpus":[1],"taskgroup":"/g","fork":"t"}"#);
    let warnings = parse(&text, Dialect::default())
        .expect("runs")
        .warnings
        .join("\n");
    assert!(
        warnings.contains("`t` would get the CPUs of `a`"),
        "{warnings}"
    );
    assert!(
        warnings.contains("`t` would be in the group of `a`"),
        "{warnings}"
    );
}
