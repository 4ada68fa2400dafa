//! All files of the rt-app corpus through the program: what runs, and how each run ends. The ends
//! follow from the meaning of the events (docs/rules/rt-app.md#rt-app-task and
//! docs/rules/rt-app.md#rt-app-events), not from a run.
//!
//! What must stay: rt-app's own answers (fixtures/rtapp/corpus) are facts and are never changed; a
//! file that is added gets its end by hand.
//! Tests by part (in crates/cli/src): commands/workload.rs: `all_files_have_rtapps_answer` (exit
//! codes); crates/workload/src/rtapp and whole runs: `every_accepted_file_runs_to_its_end`.
//! Helpers, and who fails with them: `corpus`, `sim` (all tests).

use crate::common;

use common::{assert_code, assert_refused, repository, run, stderr, stdout};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// How a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// When the time is over.
    Duration,
    /// When all threads have ended.
    AllExit,
    /// All wait for what nobody will do.
    Deadlock,
    /// A thread repeats steps that take no time.
    ZeroTime,
    /// One fork more than rt-app allows.
    ForkLimit,
    /// It does not begin: rt-app would end at once, or never sensibly.
    Refused,
}

use End::{AllExit, Deadlock, Duration, ForkLimit, Refused, ZeroTime};

/// The files that rt-app accepts, with the simulated time: where steps are short, less of it is
/// enough.
const ENDS: [(&str, &str, End); 72] = [
    // The four meet once per microsecond of work.
    ("barrier-counts-instances", "50ms", Duration),
    // One party waits for nobody, and there is nothing else to do.
    ("barrier", "50ms", ZeroTime),
    ("comment-c", "50ms", Duration),
    ("comment-cpp", "50ms", Duration),
    ("cpus-empty", "50ms", Refused),
    ("cpus-string-elem", "50ms", Duration),
    ("dup-key-index-suffix", "50ms", Duration),
    ("dup-key-last-wins", "50ms", Duration),
    ("fork-unknown", "50ms", Refused),
    // Each thread forks for ever: the 1025th ends it.
    ("fork", "50ms", ForkLimit),
    ("global-bool-case", "50ms", Duration),
    ("global-calib-cpu3", "50ms", Duration),
    ("global-calib-int", "50ms", Duration),
    ("global-calib-null", "50ms", Duration),
    ("global-empty", "50ms", Duration),
    ("global-frag-ignored", "50ms", Duration),
    ("global-ftrace-bool", "50ms", Duration),
    ("global-ftrace-list", "50ms", Duration),
    ("global-ftrace-none", "50ms", Duration),
    ("global-log_size-bad-string", "50ms", Duration),
    ("global-log_size-disable", "50ms", Duration),
    ("global-log_size-int", "50ms", Duration),
    ("global-null", "50ms", Duration),
    ("global-policy-fifo", "50ms", Duration),
    ("huge-int-saturates", "50ms", Duration),
    ("instance-neg", "50ms", Refused),
    ("instance-zero", "50ms", Refused),
    ("leading-zero-int", "50ms", Duration),
    // Seven microseconds of work.
    ("loop-nophases", "50ms", AllExit),
    ("loop-null", "50ms", Duration),
    ("loop-task-default", "50ms", Duration),
    ("loop-zero", "50ms", Duration),
    ("mem-int", "5ms", Duration),
    ("memrun-chase", "5ms", Duration),
    ("memrun-read", "1ms", Duration),
    ("negative-int", "50ms", Refused),
    ("phases-empty", "50ms", Refused),
    ("phases-hide-task-events", "50ms", Duration),
    ("policy-dl-legacy", "50ms", Duration),
    ("policy-dl", "50ms", Duration),
    ("policy-fifo-default-prio", "50ms", Duration),
    ("policy-phase-same", "50ms", Duration),
    ("prefix-iorun2", "50ms", Duration),
    ("prefix-memset", "1ms", Duration),
    ("prefix-runner", "50ms", Duration),
    ("resources-section", "50ms", Duration),
    ("root-extra-key", "50ms", Duration),
    ("root-garbage-after", "50ms", Duration),
    ("root-no-global", "50ms", Duration),
    ("root-tasks-empty", "50ms", Refused),
    ("runtime-at-task-level-sets-slice", "50ms", Duration),
    ("runtime-event", "50ms", Duration),
    ("runtime-in-phase", "50ms", Duration),
    // Gives and takes its own unit.
    ("sem", "50ms", ZeroTime),
    ("single-quotes", "50ms", Duration),
    ("suspend-int", "50ms", Deadlock),
    ("suspend-string-ignored", "50ms", Deadlock),
    ("sync-object", "50ms", Deadlock),
    ("taskgroup", "50ms", Duration),
    ("timer-absolute", "50ms", Duration),
    ("timer-int", "50ms", Duration),
    ("timer-mode-bad", "50ms", Duration),
    ("timer-no-period", "50ms", Duration),
    ("timer-object", "50ms", Duration),
    ("timer-unique-prefix", "50ms", Duration),
    ("trailing-comma", "50ms", Duration),
    ("uclamp-negative", "50ms", Refused),
    ("uclamp", "50ms", Duration),
    ("unknown-key-ignored", "50ms", Duration),
    ("wait-object", "50ms", Deadlock),
    ("wait-string", "50ms", Deadlock),
    // Nobody to yield to.
    ("yield-any", "50ms", ZeroTime),
];

/// The files and the exit code that rt-app gave.
fn corpus() -> BTreeMap<String, (PathBuf, String)> {
    let folder = repository("crates/workload/tests/fixtures/rtapp/corpus");
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("the corpus") {
        let path = entry.expect("entry").path();
        if path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            let answer = fs::read_to_string(path.with_extension("txt")).expect("an answer");
            let code = answer
                .lines()
                .next()
                .and_then(|line| line.strip_prefix("rc="));
            let code = code.expect("rc=").to_owned();
            let name = path
                .file_stem()
                .expect("name")
                .to_string_lossy()
                .into_owned();
            files.insert(name, (path, code));
        }
    }
    files
}

fn sim(path: &str, duration: &str) -> std::process::Output {
    run(&[
        "sim",
        "--platform",
        "hikey960",
        "--workload",
        path,
        // The era that has slices and hints.
        "--policy",
        "linux-7.3",
        "--duration",
        duration,
    ])
}

#[test]
fn every_accepted_file_runs_to_its_end() {
    let corpus = corpus();
    for (name, duration, end) in ENDS {
        let path = corpus[name].0.to_string_lossy().into_owned();
        let output = sim(&path, duration);
        // Warnings are part of the result.
        let text = stdout(&output) + &stderr(&output);
        let (code, words) = match end {
            Duration | AllExit => (0, ""),
            Deadlock => (1, "waits for"),
            ZeroTime => (1, "take no time"),
            ForkLimit => (1, "fork"),
            Refused => {
                assert_refused(&output, &[&format!("{name}.json:1:")]);
                continue;
            }
        };
        assert_eq!(output.status.code(), Some(code), "{name}: {text}");
        assert_code(&output, code);
        assert!(text.contains(words), "{name}: {text}");
        let early = text.contains("waits for") || text.contains("take no time");
        assert_eq!(early, matches!(end, Deadlock | ZeroTime), "{name}: {text}");
    }
}

/// Goal: none is forgotten, `workload check` answers all 119 as rt-app did, and what rt-app refuses
/// does not run.
#[test]
fn all_files_have_rtapps_answer() {
    let corpus = corpus();
    assert_eq!(corpus.len(), 119);
    let accepted: Vec<&str> = ENDS.iter().map(|(name, ..)| *name).collect();
    for (name, (path, code)) in &corpus {
        let path = path.to_string_lossy();
        let check = run(&["workload", "check", &path, "--cpus", "2"]);
        let expected: i32 = code.parse().expect("a number");
        assert_eq!(
            check.status.code(),
            Some(expected),
            "{name}: {}",
            stderr(&check)
        );
        if expected == 0 {
            assert!(
                accepted.contains(&name.as_str()),
                "{name} has no expected end"
            );
        } else {
            assert_refused(&sim(&path, "1ms"), &[&format!("{name}.json:")]);
        }
    }
    let valid = corpus.values().filter(|(_, code)| code == "0").count();
    assert_eq!(valid, accepted.len());
}
