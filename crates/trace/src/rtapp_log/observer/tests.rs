//! Two started threads, one script that is forked; all columns by hand
//! (docs/rules/rt-app.md#rt-app-log).
//!
//! What must stay: columns are rt-app's; figures are worked by hand from `iteration`.
//! Tests by part (in crates/trace/src): rtapp_log/observer.rs: `each_thread_has_its_file` (`start`,
//! `line`, `forked`), `slack_is_the_last_or_the_sum` (`line`); rtapp_log/mod.rs:
//! `each_thread_has_its_file` (the three together).
//! Helpers, and who fails with them: `logs`, `iteration` (all tests).
use super::*;
use std::fs;
use wakeplace_engine::happen;
use wakeplace_workload::{LoadOptions, MachineFacts, Spec};

const FILE: &str = r#"{"global":{"calibration":10,"log_basename":"base","cumulative_slack":SUM},
    "tasks":{"w":{"instance":0,"run":5},
             "a":{"instance":2,"run":100,"run2":55,"fork":"w",
                  "timer":{"ref":"u","period":1000}}}}"#;

fn logs(cumulative: bool, folder: &Path) -> RtAppLogs {
    let text = FILE.replace("SUM", if cumulative { "true" } else { "false" });
    let spec = Spec::parse_rtapp(text.as_bytes(), "f.json", &LoadOptions::default());
    let spec = spec.expect("valid");
    let workload = spec.expand(0, MachineFacts::alike(2)).expect("fits");
    RtAppLogs::create(spec.rtapp_log().expect("logs"), &workload, folder).expect("folder")
}

fn iteration() -> Iteration {
    Iteration {
        phase: 0,
        start_ns: 2_000_000,
        run_ns: 155_600,
        work_ns: 155_000,
        slack_ns: -3_000,
        slack_sum_ns: 7_000,
        wake_latency_ns: 4_000,
    }
}

/// Goal: names with index and count of forks, an index that counts threads and not scripts, a file
/// for each thread even without a line.
#[test]
fn each_thread_has_its_file() {
    let folder = tempfile::tempdir().expect("folder");
    let mut logs = logs(false, folder.path());
    // Scripts: a-0, a-1, w. Tasks 3 and 4 are forked of the third.
    happen!(logs, 3_000_000 => Iteration { task: 1, iteration: iteration() });
    happen!(logs, 3_000_000 => Forked { task: 3, script: 2 });
    happen!(logs, 3_000_000 => Forked { task: 4, script: 2 });
    let short = Iteration {
        start_ns: 3_000_000,
        run_ns: 5_000,
        ..Iteration::default()
    };
    happen!(logs, 3_005_000 => Iteration { task: 4, iteration: short });
    assert_eq!(logs.publish().expect("written"), 4);
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).expect(name);
    assert_eq!(read("base-a-0.log"), HEADER);
    assert_eq!(read("base-w-2-0000.log"), HEADER);
    // perf: 100 / 10 + 55 / 10 = 10 + 5.
    let line = "   1       15      156     1000            2000            3000\
                \x20           2000         -3        155       1000          4\n";
    assert_eq!(read("base-a-1.log"), format!("{HEADER}{line}"));
    let line = "   3        0        5        5            3000            3005\
                \x20           3000          0          5          0          0\n";
    assert_eq!(read("base-w-3-0001.log"), format!("{HEADER}{line}"));
}

#[test]
fn slack_is_the_last_or_the_sum() {
    let folder = tempfile::tempdir().expect("folder");
    for (cumulative, slack) in [(false, "-3"), (true, "7")] {
        let mut logs = logs(cumulative, folder.path());
        happen!(logs, 3_000_000 => Iteration { task: 0, iteration: iteration() });
        logs.publish().expect("written");
        let text = fs::read_to_string(folder.path().join("base-a-0.log")).expect("log");
        let column = text
            .lines()
            .nth(1)
            .expect("a line")
            .split_whitespace()
            .nth(7);
        assert_eq!(column, Some(slack));
    }
}
