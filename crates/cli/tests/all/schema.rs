//! What the program writes is what docs/result.schema.json says.
//! Page: docs/guide/results.md, "What a result holds".
//!
//! What must stay: docs/result.schema.json is a contract: what is written is valid, and read back
//! as it is.
//! Tests by part (in crates/cli/src): crates/outcome/src/decision.rs:
//! `results_are_what_the_schema_says` (`Decision`); crates/outcome/src/forms.rs:
//! `results_are_what_the_schema_says` (`words`, `json_schema`, `hash`).
//! Helpers, and who fails with them: `problems`, `read_back`, `valid`
//! (`results_are_what_the_schema_says`).

use crate::common;

use common::{assert_code, run, stdout};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use wakeplace_outcome::{Comparison, Comparisons, Decision, Review, Study, Sweep};

pub(crate) fn problems(of: &Value) -> Vec<String> {
    let schema: Value = serde_json::from_str(&wakeplace_outcome::schema()).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    validator
        .iter_errors(of)
        .map(|e| format!("{}: {e}", e.instance_path()))
        .collect()
}

/// The result as who reads it writes it again.
fn read_back(value: &Value) -> Value {
    fn by<T: Serialize + DeserializeOwned>(value: &Value) -> Value {
        let read: T = serde_json::from_str(&value.to_string()).expect("a result");
        serde_json::to_value(read).expect("JSON")
    }
    let read = match value {
        _ if value.get("partings").is_some() => by::<Review>,
        _ if value.get("comparisons").is_some() => by::<Comparisons>,
        _ if value.get("study").is_some() => by::<Study>,
        _ if value.get("points").is_some() => by::<Sweep>,
        _ if value.get("rule").is_some() => by::<Decision>,
        _ => by::<Comparison>,
    };
    read(value)
}

/// The result of a command, found to be valid and to be read back as it is.
fn valid(args: &[&str]) -> Value {
    let output = run(&[args, &["--format=json"]].concat());
    assert_code(&output, 0);
    let value: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    let found = problems(&value);
    assert!(found.is_empty(), "{args:?}: {}", found.join("\n"));
    assert_eq!(read_back(&value), value, "{args:?}");
    value
}

const COMPARE: [&str; 7] = [
    "compare",
    "--platform=hikey960",
    "--workload=periodic:n=3",
    "--policy=linux-4.17",
    "--policy=linux-7.3:busy_factor=5",
    "--duration=50ms",
    "--seeds=2",
];

/// Goal: real results of all kinds are valid, and a result that lacks something is not.
#[test]
fn results_are_what_the_schema_says() {
    let compared = valid(&COMPARE);
    let runs = &compared["runs"];
    assert_eq!(runs[1]["policy"], "linux-7.3:busy_factor=5");
    assert_eq!(runs[1]["settings"]["busy_factor"], "5");
    assert_eq!(runs[1]["seed_runs"][1]["seed"], 2);
    // The values of the runs are those that the means are of.
    let energy = |seed: usize| runs[0]["seed_runs"][seed]["metrics"]["energy_j"].as_f64();
    let mean = (energy(0).unwrap() + energy(1).unwrap()) / 2.0;
    assert_eq!(runs[0]["metrics"]["energy_j"]["mean"].as_f64(), Some(mean));
    let both = valid(&[&COMPARE[..], &["--platform=juno-r0"]].concat());
    assert_eq!(both["comparisons"].as_array().map(Vec::len), Some(2));
    let review = ["review", "--base=linux-6.12", "--change=linux-7.3"];
    valid(&[&review[..], &["--battery=small", "--platform=juno-r0"]].concat());
    let sim = [
        "sim",
        "--platform=hikey960",
        "--workload=periodic",
        "--policy=linux-5.0",
    ];
    valid(&[&sim[..], &["--duration=50ms"]].concat());
    let explain = ["explain", "--platform=hikey960", "--workload=periodic:n=3"];
    valid(&[&explain[..], &["--policy=linux-5.0", "--why-not=2"]].concat());
    let sweep = [
        "sweep",
        "--platform=hikey960",
        "--policy=linux-7.3",
        "--seeds=2",
    ];
    let vary = [
        "--workload=periodic:n=2",
        "--vary=busy_factor=4,16",
        "--duration=50ms",
    ];
    let sweep = valid(&[&sweep[..], &vary, &["--choose=busy_factor"]].concat());
    assert_eq!(sweep["point_runs"].as_array().map(Vec::len), Some(2));
    let study = [
        "study",
        "run",
        "energy-aware/energy-hikey960",
        "--quick",
        "--seeds=1",
    ];
    let study = valid(&[&study[..], &["--duration=20ms"]].concat());
    let run = &study["profiles"][0]["seed_runs"][0];
    assert!(run["metrics"]["energy_j"].as_f64().is_some(), "{run}");
    for key in ["seed_runs", "settings", "platform_hash"] {
        let mut without = compared.clone();
        without["runs"][0]
            .as_object_mut()
            .expect("an object")
            .remove(key);
        assert!(!problems(&without).is_empty(), "{key}");
    }
    let mut word = compared;
    word["deltas"][0]["difference"] = "somewhat".into();
    assert!(!problems(&word).is_empty());
}
