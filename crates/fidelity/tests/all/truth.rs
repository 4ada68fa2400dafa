//! Runs that were recorded on a real kernel, and the same source in the simulator
//! (docs/results/truth.md). Without archive and cache nothing of it is tried, which is said.
//!
//! What must stay: bounds are the page's; the 18 recorded runs are facts. A bound is never widened
//! for one run.
//! Tests by part (in crates/fidelity/src): crates/engine/src/kernel/tree/entries.rs:
//! `recorded_runs_happen_again_in_the_same_source` (`enter`, `follow`, `switch`);
//! crates/engine/src/kernel/tree/interface.rs: `recorded_runs_happen_again_in_the_same_source`
//! (`fork`, `wake`, `sleep`); placement/truth.rs: `a_tree_that_is_none_is_refused`.
//! Helpers, and who fails with them: `asked` (all tests); `numbers`, `assert_as_the_guest`,
//! `tasks`, `quantity`, `assert_alike_inside` (`recorded_runs_happen_again_in_the_same_source`).

use super::{assert_code, assert_refused, run_in, stderr};
use serde_json::Value;
use std::io::Write as _;
use std::process::Output;

/// Which kernel was recorded (crates/fidelity/data/recorded_runs.toml).
const RECORDED: &str = "7.3.4";

/// The recorded runs beside a tree.
fn asked(tree: &str) -> Output {
    let question = ["placement", "--recorded", "--tree", tree];
    let folder = tempfile::tempdir().expect("a folder");
    run_in(
        folder.path(),
        &[&question[..], &["--format", "json"]].concat(),
    )
}

/// Numbers of a list.
fn numbers(list: &Value) -> Vec<f64> {
    let list = list.as_array().expect("a list");
    list.iter()
        .map(|value| value.as_f64().expect("a number"))
        .collect()
}

/// Each task of a column is where the guest has it, in every repeat: the bounds of
/// docs/results/truth.md, by shares and wake-ups.
fn assert_as_the_guest(task: &Value, what: &str) {
    let guest = numbers(&task["guest"]["share_pct"]);
    let tree = numbers(&task["tree"]["share_pct"]);
    assert_eq!((guest.len(), tree.len()), (3, 3), "{what}");
    for (guest, tree) in guest.iter().zip(&tree) {
        assert!((guest - tree).abs() <= 2.0, "{what}: {task}");
    }
    let same = task["tree"]["same_cluster_pct"].as_f64();
    assert!(same.is_some_and(|pct| pct >= 98.0), "{what}: {task}");
}

fn tasks(of: &Value) -> &Vec<Value> {
    of["tasks"].as_array().expect("tasks")
}

/// A quantity of a set by start: of the guest, and of the tree.
fn quantity(set: &Value, name: &str) -> (Vec<f64>, Vec<f64>) {
    let all = set["quantities"].as_array().expect("quantities");
    let found = all.iter().find(|one| one["quantity"] == name).expect(name);
    (numbers(&found["guest"]), numbers(&found["tree"]))
}

/// What a set's shares do not show is as in the guest, too.
fn assert_alike_inside(set: &Value, name: &str) {
    // One meter for both. How often the clock of set B falls is a matter of the time after a tick:
    // over a tick its energy differs by 3.4 % (docs/results/truth.md).
    let (guest, tree) = quantity(set, "CPU energy");
    for (guest, tree) in guest.iter().zip(&tree) {
        assert!(
            (guest - tree).abs() <= guest * 0.04,
            "{name}: {guest} J, {tree} J"
        );
    }
    // A job that is lost or cut in two shows in no share.
    let (guest, tree) = quantity(set, "stretches of running");
    for (guest, tree) in guest.iter().zip(&tree) {
        assert!(
            (guest - tree).abs() <= guest * 0.01,
            "{name}: {guest}, {tree} stretches"
        );
    }
    // Kernel threads of the guest make the rest: in A4, whose clocks do not change, few.
    if name == "A4" {
        let (guest, tree) = quantity(set, "context switches");
        for (guest, tree) in guest.iter().zip(&tree) {
            assert!(
                (guest - tree).abs() <= guest * 0.1,
                "{guest}, {tree} switches a second"
            );
        }
    }
}

/// Goal: the kernel in the simulator is the kernel. Expected are the 18 recorded runs: under
/// energy-aware scheduling each task is where it was; without it, where tasks stay where they were
/// put, each is once it began on the CPU where the recorded one first ran.
#[test]
fn recorded_runs_happen_again_in_the_same_source() {
    let skipped = |why: &str| {
        writeln!(std::io::stderr(), "**** SKIPPED: {why}").expect("stderr");
    };
    let wanted = std::env::var("WAKEPLACE_TEST_KERNEL");
    if wanted.is_ok_and(|version| version != RECORDED) {
        return skipped(&format!("the recorded kernel is {RECORDED}"));
    }
    let output = asked(&format!("kernel:{RECORDED}"));
    let required = std::env::var_os("WAKEPLACE_REQUIRE_KERNEL").is_some();
    if output.status.code() == Some(3) && !required {
        return skipped(&format!("no kernel can be run here: {}", stderr(&output)));
    }
    assert_code(&output, 0);
    let truth: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let machines = truth["machines"].as_array().expect("machines");
    let [eas, cas] = machines.as_slice() else {
        panic!("{} machines: {}", machines.len(), stderr(&output));
    };
    let mut compared = 0;
    for set in eas["sets"].as_array().expect("sets") {
        let name = set["set"].as_str().expect("a name");
        for task in tasks(set) {
            assert_as_the_guest(task, name);
            compared += 1;
        }
        assert_alike_inside(set, name);
    }
    for set in cas["sets"].as_array().expect("sets") {
        let name = set["set"].as_str().expect("a name");
        let tried = set["tried"].as_array().expect("tried");
        let begun = tried
            .iter()
            .find(|one| one["beginning"] == "each task where the guest's first ran");
        for task in tasks(begun.unwrap_or(set)) {
            assert_as_the_guest(task, name);
            compared += 1;
        }
    }
    assert_eq!(compared, 20);
}

#[test]
fn a_tree_that_is_none_is_refused() {
    assert_refused(&asked("linux-7.3"), &["expected a kernel, as kernel:7.3.4"]);
    assert_refused(&asked("kernel:"), &["it names nothing"]);
}
