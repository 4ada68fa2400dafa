//! Eras differ by named rules only, and the page about them names all.
//! Page: docs/results/eras.md.
//!
//! What must stay: two eras differ by their parameters and by nothing else; a new parameter joins a
//! group of the page.
//! Tests by part (in crates/cli/src): commands/policy.rs:
//! `a_feature_that_is_off_names_its_successors` (`state`); crates/policy-sys/src/eras.rs: all
//! others.
//! Helpers, and who fails with them: `parameters`, `differences`
//! (`an_era_differs_from_the_next_by_its_parameters_alone`,
//! `the_page_of_eras_knows_every_difference`); `hashes`
//! (`an_era_differs_from_the_next_by_its_parameters_alone`).

use crate::common;

use common::{assert_code, repository, run, stdout};
use serde_json::Value;
use std::collections::BTreeMap;

/// The parameters of a policy.
fn parameters(policy: &str) -> BTreeMap<String, String> {
    let output = run(&["policy", "show", policy, "--format", "json"]);
    assert_code(&output, 0);
    let value: Value = serde_json::from_str(&stdout(&output)).expect("one JSON object");
    let list = value["parameters"].as_array().expect("a list");
    let text = |param: &Value, name: &str| param[name].as_str().expect("text").to_owned();
    let pair = |param| (text(param, "key"), text(param, "value"));
    list.iter().map(pair).collect()
}

/// In which parameters `to` differs, with its values.
fn differences(from: &str, to: &str) -> BTreeMap<String, String> {
    let from = parameters(from);
    let to = parameters(to).into_iter();
    to.filter(|(key, value)| from[key] != *value).collect()
}

/// The event hashes of a run under a policy with settings.
fn hashes(platform: &str, workload: &str, policy: &str, set: &BTreeMap<String, String>) -> Value {
    let path = repository("workloads/nice-mix.json");
    let workload = if workload == "nice-mix" {
        path.to_str().expect("a path in UTF-8")
    } else {
        workload
    };
    let mut args = vec!["sim", "--platform", platform, "--workload", workload];
    args.extend(["--policy", policy, "--duration", "1s", "--seeds", "2"]);
    args.extend(["--format", "json"]);
    let set: Vec<_> = set.iter().map(|(key, v)| format!("{key}={v}")).collect();
    for setting in &set {
        args.extend(["--set", setting]);
    }
    let output = run(&args);
    assert_code(&output, 0);
    let value: Value = serde_json::from_str(&stdout(&output)).expect("one JSON object");
    let hashes = value["runs"][0]["event_hashes"].clone();
    assert_eq!(hashes.as_array().map(Vec::len), Some(2));
    hashes
}

/// Goal: an era with every parameter in which another differs is that one, event by event; without
/// them it is not.
#[test]
fn an_era_differs_from_the_next_by_its_parameters_alone() {
    let none = BTreeMap::new();
    let cases = [
        ("linux-4.17", "linux-5.0", "hikey960", "periodic:n=10"),
        ("linux-5.0", "linux-6.2", "tc2", "periodic:n=10"),
        ("linux-6.2", "linux-6.12", "hikey960", "periodic:n=30"),
        ("linux-6.2", "linux-6.12", "juno-r0", "nice-mix"),
        ("linux-6.12", "linux-7.3", "hikey960", "nice-mix"),
    ];
    for (from, to, platform, workload) in cases {
        let set = differences(from, to);
        let goal = hashes(platform, workload, to, &none);
        let there = hashes(platform, workload, from, &set);
        assert_eq!(there, goal, "{from} with {set:?} on {platform}");
        assert_ne!(
            hashes(platform, workload, from, &none),
            goal,
            "{from}, {to}"
        );
    }
}

/// Goal: docs/results/eras.md attributes every difference: its groups of rules are all of them.
#[test]
fn the_page_of_eras_knows_every_difference() {
    let list = std::fs::read_to_string(repository("xtask/data/eras.toml")).expect("the list");
    let list: toml::Table = list.parse().expect("TOML");
    let groups = list["groups"].as_array().expect("groups").iter();
    let groups: Vec<&str> = groups.map(|group| group.as_str().expect("text")).collect();
    let settings = groups.iter().flat_map(|group| group.split(' ').skip(1));
    let pair = |text: &str| {
        let (key, value) = text.split_once('=').expect("KEY=VALUE");
        (key.to_owned(), value.to_owned())
    };
    let named: Vec<_> = settings.map(pair).collect();
    let count = named.len();
    let named: BTreeMap<_, _> = named.into_iter().collect();
    assert_eq!(named.len(), count, "a parameter is named twice");
    assert_eq!(named, differences("linux-6.2", "linux-6.12"));
    let page = std::fs::read_to_string(repository("docs/results/eras.md")).expect("the page");
    for name in groups.iter().filter_map(|group| group.split(' ').next()) {
        assert!(page.contains(&format!("| {name} |")), "{name} has no row");
    }
}

/// Goal: what `policy show` says of a feature whose work later rules do.
#[test]
fn a_feature_that_is_off_names_its_successors() {
    let row = |policy| {
        let text = stdout(&run(&["policy", "show", policy, "--format", "md"]));
        let row = text
            .lines()
            .find(|line| line.starts_with("| asym-capacity |"));
        row.unwrap_or_default().to_owned()
    };
    for policy in ["linux-6.2", "linux-6.12", "linux-7.3"] {
        let row = row(policy);
        assert!(
            row.contains("off; successors: misfit, sis_asym"),
            "{policy}: {row}"
        );
    }
    assert!(!row("linux-4.17").contains("off"));
    assert!(!row("linux-4.17-asym-capacity").contains("successors"));
}
