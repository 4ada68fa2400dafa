//! The scripts of the corpus files that rt-app accepts, and where rt-app would end at run time. All
//! expected scripts are derived by hand from the rules of docs/rules/rt-app.md and, for the time
//! of memory events, from the figures of docs/decisions/023.
//!
//! What must stay: expected scripts are derived by hand and never copied from the program; each
//! accepted file has one.
//! Tests by part (in crates/workload/src): rtapp/mod.rs: `accepted_files_expand_to_their_scripts`
//! (`template`, `expand`), `every_file_of_the_corpus_has_its_place` (no file of the corpus is left
//! out); rtapp/steps.rs: `accepted_files_expand_to_their_scripts` (`make`),
//! `what_ends_rtapp_at_run_time_is_refused` (`nanoseconds`); rtapp/global.rs:
//! `start_spread_draws_when_threads_begin` (`start_spread`); rtapp/expand.rs:
//! `start_spread_draws_when_threads_begin` (draws).
//! Helpers, and who fails with them: `corpus`, `expand` (`accepted_files_expand_to_their_scripts`,
//! `what_ends_rtapp_at_run_time_is_refused`, `every_file_of_the_corpus_has_its_place`); `starts`
//! (`start_spread_draws_when_threads_begin`).
use crate::script_text;

use script_text::describe;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use wakeplace_workload::{LoadOptions, MachineFacts, Spec, Workload, check_rtapp};

const MACHINE: MachineFacts = MachineFacts::alike(4);

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/rtapp/corpus")
}

fn expand(name: &str) -> Result<Workload, String> {
    let text = std::fs::read(corpus().join(format!("{name}.json"))).expect(name);
    let spec = Spec::parse_rtapp(&text, name, &LoadOptions::default());
    let spec = spec.map_err(|error| error.to_string())?;
    spec.expand(0, MACHINE).map_err(|error| error.to_string())
}

/// Files that rt-app accepts and that cannot run, with the reason. It ends with exit code 1 by the
/// first four; a negative time is one of centuries to it; no phase is undefined; and where no
/// thread is started it ends at once, of which there is nothing to simulate.
const REFUSED: [(&str, &str); 8] = [
    ("cpus-empty", "`cpus` is empty"),
    ("fork-unknown", "unknown task `zz`"),
    ("instance-neg", "`instance` of task `t0` is -1"),
    ("uclamp-negative", "`util_min` is -5"),
    ("negative-int", "`run` is -5 us"),
    ("phases-empty", "has no phase"),
    ("instance-zero", "0 tasks"),
    ("root-tasks-empty", "0 tasks"),
];

/// One task that runs 1 us for ever: what the files about JSON and `global` come to.
const PLAIN: &str = "t0-0: ever(1x[run 1000])";
const PLAIN_FILES: [&str; 21] = [
    "comment-c",
    "comment-cpp",
    "global-bool-case",
    "global-calib-cpu3",
    "global-calib-int",
    "global-calib-null",
    "global-empty",
    "global-frag-ignored",
    "global-ftrace-bool",
    "global-ftrace-list",
    "global-ftrace-none",
    "global-log_size-bad-string",
    "global-log_size-disable",
    "global-log_size-int",
    "global-null",
    "loop-null",
    "phases-hide-task-events",
    "root-extra-key",
    "root-garbage-after",
    "root-no-global",
    "single-quotes",
];

/// File and scripts.
const SCRIPTS: [(&str, &[&str]); 39] = [
    // Parties: 3 instances of one occurrence and 1 of another.
    (
        "barrier-counts-instances",
        &[
            "a-0: ever(1x[barrier 0, run 1000])",
            "a-1: ever(1x[barrier 0, run 1000])",
            "a-2: ever(1x[barrier 0, run 1000])",
            "c-3: ever(1x[run 1000, barrier 0])",
            "barrier 0 b of 4",
        ],
    ),
    (
        "barrier",
        &["t0-0: ever(1x[barrier 0])", "barrier 0 b of 1"],
    ),
    ("cpus-string-elem", &["t0-0 cpus [1]: ever(1x[run 1000])"]),
    (
        "dup-key-index-suffix",
        &["t0-0: ever(1x[run 1000, sleep 2000, run 3000, run 4000])"],
    ),
    (
        "dup-key-last-wins",
        &["t0-0: ever(1x[run 3000, sleep 2000])"],
    ),
    (
        "fork",
        &["t0-0: ever(1x[fork 1])", "t0 forks 1024: ever(1x[fork 1])"],
    ),
    (
        "global-policy-fifo",
        &["t0-0 Fifo { priority: 10 }: ever(1x[run 1000])"],
    ),
    ("huge-int-saturates", &["t0-0: ever(1x[run 2147483647000])"]),
    ("leading-zero-int", &["t0-0: ever(1x[run 10000])"]),
    ("loop-nophases", &["t0-0: 1x(7x[run 1000])"]),
    ("loop-task-default", &[PLAIN]),
    ("loop-zero", &["t0-0: 1x(ever[run 1000])"]),
    // 1000 bytes at 16 ps are less than the call.
    ("mem-int", &["t0-0: ever(1x[run 20])"]),
    // So are 10 hops at 1.3 ns: 32 pointers 128 bytes apart are 2 KiB of lines.
    ("memrun-chase", &["t0-0: ever(1x[run 20])"]),
    // And 10 bytes at 16 ps.
    ("memrun-read", &["t0-0: ever(1x[run 20])"]),
    (
        "policy-dl-legacy",
        &[
            "t0-0 Deadline { runtime_ns: 5000000, deadline_ns: 16000000, period_ns: 16000000 }: \
           ever(1x[runtime 5000000, run 1000])",
        ],
    ),
    (
        "policy-dl",
        &[
            "t0-0 Deadline { runtime_ns: 5000000, deadline_ns: 16000000, period_ns: 16000000 }: \
           ever(1x[run 1000])",
        ],
    ),
    (
        "policy-fifo-default-prio",
        &["t0-0 Fifo { priority: 10 }: ever(1x[run 1000])"],
    ),
    // The second phase changes the priority under the policy of before, and p keeps it.
    (
        "policy-phase-same",
        &["t0-0 Fifo { priority: 5 }: \
           ever(1x[run 1000], 1x[run 1000] RealTime(Fifo { priority: 7 }))"],
    ),
    // One write of 5 bytes to the null device: a system call.
    ("prefix-iorun2", &["t0-0: ever(1x[run 200])"]),
    // 5 bytes.
    ("prefix-memset", &["t0-0: ever(1x[run 20])"]),
    ("prefix-runner", &["t0-0: ever(1x[run 5000])"]),
    (
        "resources-section",
        &["t0-0: ever(1x[lock 0, run 1000, unlock 0])", "mutex 0 m"],
    ),
    (
        "runtime-at-task-level-sets-slice",
        &["t0-0 slice 5000000: ever(1x[runtime 5000000])"],
    ),
    (
        "runtime-event",
        &["t0-0 slice 500000: ever(1x[runtime 500000])"],
    ),
    ("runtime-in-phase", &["t0-0: ever(1x[runtime 5000000])"]),
    (
        "sem",
        &["t0-0: ever(1x[post 0, take 0])", "channel 0 s holds 0"],
    ),
    (
        "suspend-int",
        &[
            "t0-0: ever(1x[lock 0, await 0 with 0, unlock 0])",
            "mutex 0 t0",
            "condition 0 t0",
        ],
    ),
    (
        "suspend-string-ignored",
        &[
            "t0-0: ever(1x[lock 0, await 0 with 0, unlock 0])",
            "mutex 0 t0",
            "condition 0 t0",
        ],
    ),
    (
        "sync-object",
        &[
            "t0-0: ever(1x[signal 0, await 0 with 0])",
            "mutex 0 m",
            "condition 0 q",
        ],
    ),
    ("taskgroup", &["t0-0: ever(1x[run 1000])", "group 0 a: [0]"]),
    (
        "timer-absolute",
        &[
            "t0-0: ever(1x[run 1000, timer 0 5000])",
            "timer 0 a Absolute +0",
        ],
    ),
    (
        "timer-int",
        &[
            "t0-0: ever(1x[run 1000, timer 0 0])",
            "timer 0 unknown Relative +0",
        ],
    ),
    (
        "timer-mode-bad",
        &[
            "t0-0: ever(1x[run 1000, timer 0 5000])",
            "timer 0 a Relative +0",
        ],
    ),
    (
        "timer-no-period",
        &[
            "t0-0: ever(1x[run 1000, timer 0 0])",
            "timer 0 a Relative +0",
        ],
    ),
    (
        "timer-object",
        &[
            "t0-0: ever(1x[run 1000, timer 0 1000000])",
            "timer 0 t0-0/unique Relative +0",
        ],
    ),
    (
        "timer-unique-prefix",
        &[
            "t0-0: ever(1x[run 1000, timer 0 5000])",
            "timer 0 t0-0/uniqueX Relative +0",
        ],
    ),
    ("trailing-comma", &["t0-0: ever(1x[run 1000, sleep 2000])"]),
    ("uclamp", &["t0-0 clamp 100..512: ever(1x[run 1000])"]),
];

/// The rest of what waits.
const WAITING: [(&str, &[&str]); 4] = [
    (
        "wait-object",
        &[
            "t0-0: ever(1x[await 0 with 0])",
            "mutex 0 m",
            "condition 0 q",
        ],
    ),
    (
        "wait-string",
        &[
            "t0-0: ever(1x[await 0 with 0])",
            "mutex 0 unknown",
            "condition 0 unknown",
        ],
    ),
    ("yield-any", &["t0-0: ever(1x[yield])"]),
    ("unknown-key-ignored", &[PLAIN]),
];

#[test]
fn accepted_files_expand_to_their_scripts() {
    let plain = PLAIN_FILES.iter().map(|name| (*name, &[PLAIN][..]));
    let scripts = SCRIPTS.into_iter().chain(WAITING).chain(plain);
    for (name, expected) in scripts {
        let workload = expand(name).expect(name);
        assert_eq!(describe(&workload), expected, "{name}");
        assert_eq!(workload.unmodelled, [""; 0], "{name}");
    }
}

#[test]
fn what_ends_rtapp_at_run_time_is_refused() {
    for (name, reason) in REFUSED {
        let error = expand(name).expect_err(name);
        assert!(error.starts_with(&format!("{name}:1:")), "{error}");
        assert!(error.contains(reason), "{name}: {error}");
    }
}

/// Goal: no accepted file is forgotten, and none that rt-app refuses expands.
#[test]
fn every_file_of_the_corpus_has_its_place() {
    let mut known: BTreeSet<&str> = PLAIN_FILES.into_iter().collect();
    known.extend(SCRIPTS.iter().chain(&WAITING).map(|(name, _)| name));
    known.extend(REFUSED.iter().map(|(name, _)| name));
    let mut accepted = 0;
    for entry in std::fs::read_dir(corpus()).expect("the corpus") {
        let path = entry.expect("entry").path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let name = path
            .file_stem()
            .expect("name")
            .to_string_lossy()
            .into_owned();
        let text = std::fs::read(&path).expect("file");
        if check_rtapp(&text, &name, 4).exit_code == 0 {
            assert!(
                known.contains(name.as_str()),
                "{name} has no expected script"
            );
            accepted += 1;
        } else {
            assert!(expand(&name).is_err(), "{name}");
        }
    }
    assert_eq!(accepted, known.len());
}

/// When a thread begins, and its timer with it, ns, under a seed and with this in `global`.
fn starts(global: &str, seed: u64) -> Vec<(u64, u64)> {
    let task = r#"{"instance": 3, "delay": 7, "run": 1,
        "timer": {"ref": "unique", "period": 1000, "mode": "absolute"}}"#;
    let text = format!(r#"{{"tasks": {{"t": {task}}}, "global": {{{global}}}}}"#);
    let spec = Spec::parse_rtapp(text.as_bytes(), "t", &LoadOptions::default()).expect("valid");
    let workload = spec.expand(seed, MACHINE).expect("3 threads");
    let timers = workload.timers.iter().map(|timer| timer.start_delay_ns);
    let delays = workload.tasks.iter().map(|task| task.delay_ns);
    delays.zip(timers).collect()
}

/// `start_spread` (docs/guide/rt-app.md): each thread begins up to so much after its delay, and its
/// timer with it; the seed says when. Without the key nothing is drawn.
#[test]
fn start_spread_draws_when_threads_begin() {
    assert_eq!(starts("", 1), [(7000, 7000); 3]);
    let (one, other) = (
        starts(r#""start_spread": 500"#, 1),
        starts(r#""start_spread": 500"#, 2),
    );
    assert_eq!(one, starts(r#""start_spread": 500"#, 1));
    for (delay, timer) in one.iter().chain(&other) {
        assert!(
            (7000..507_000).contains(delay) && timer == delay,
            "{delay} {timer}"
        );
    }
    let all: BTreeSet<_> = one.iter().chain(&other).collect();
    assert_eq!(all.len(), 6, "threads and seeds differ: {all:?}");
    let negative = br#"{"tasks": {"t": {"run": 1}}, "global": {"start_spread": -1}}"#;
    let error = Spec::parse_rtapp(negative, "t", &LoadOptions::default()).expect_err("negative");
    assert!(
        error.to_string().contains("`start_spread` is negative"),
        "{error}"
    );
}
