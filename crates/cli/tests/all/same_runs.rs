//! The list of runs that `cargo xtask same-runs` compares has everything that can be chosen, and
//! the record is of that list.
//! Page: docs/internals/checks.md, "Same runs".
//!
//! What must stay: whoever adds an era, a feature, a model or a switch adds a run to the list, and
//! the record has the list's order.
//! Tests by part (in crates/cli/src): xtask's list of same runs: `each_era_and_feature_has_a_run`;
//! crates/engine/src/options.rs: `each_model_switch_and_queue_has_a_run` (that a row is tried);
//! xtask's record of same runs: `the_record_is_of_the_list`.
//! Helpers, and who fails with them: `text`, `runs` (all tests).

use crate::common::repository;

use wakeplace_engine::Options;
use wakeplace_policy_sys::Policy;
use wakeplace_workload::Spec;

fn text(path: &str) -> String {
    std::fs::read_to_string(repository(path)).expect("a file of the repository")
}

/// The names of the runs, and all words of the list.
fn runs() -> (Vec<String>, Vec<String>) {
    let text = text("xtask/data/runs.txt");
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let own = |line: &&&str| !line.is_empty() && !line.starts_with(' ');
    let first = |line: &&str| line.split(' ').next().unwrap_or_default().to_owned();
    let words = lines.iter().flat_map(|line| line.split_whitespace());
    let words = words.map(str::to_owned).collect();
    (lines.iter().filter(own).map(first).collect(), words)
}

/// Goal: who adds an era, a feature or a version of one adds a run of it.
#[test]
fn each_era_and_feature_has_a_run() {
    let (_, words) = runs();
    let any = |is: &dyn Fn(&str) -> bool| {
        let mut policies = words.iter().filter(|word| Policy::parse(word).is_ok());
        policies.any(|policy| is(policy))
    };
    let views = Policy::parse("linux-7.3").expect("an era").features();
    for (name, _) in Policy::catalogue() {
        let Some(feature) = name.strip_prefix('+') else {
            assert!(any(&|policy| policy == name), "no run of {name}");
            continue;
        };
        let view = views.iter().find(|view| view.name == feature);
        let versions = view.expect("a feature").versions;
        let is_with = |policy: &str| policy.ends_with(&name);
        assert!(!versions.is_empty() || any(&is_with), "no run with {name}");
        for version in versions {
            let text = format!("{name}={version}");
            // An era's own version needs no words.
            let own = view.and_then(|view| view.state) == Some(*version);
            assert!(
                own || any(&|policy| policy.ends_with(&text)),
                "no run with {text}"
            );
        }
    }
}

/// Goal: likewise models of loads, switches of the machine's model, and queues. `coherence` needs a
/// kernel's own code, which not every machine has: coherence.rs repeats its runs.
#[test]
fn each_model_switch_and_queue_has_a_run() {
    let (_, words) = runs();
    let models = Spec::catalogue().map(|model| format!("{}:", model.name));
    let switches = Options::default().keys();
    let switches = switches
        .iter()
        .filter(|(key, ..)| !key.ends_with(".coherence"))
        .map(|(key, ..)| format!("{key}="));
    let queues = ["cfs", "eevdf", "dsq"].map(|queue| format!("queue={queue}"));
    for start in models.chain(switches).chain(queues) {
        let found = words.iter().any(|word| word.starts_with(&start));
        assert!(found, "no run with {start}");
    }
}

/// Goal: the record has the runs of the list, in its order.
#[test]
fn the_record_is_of_the_list() {
    let name = |line: &str| line.split(' ').next().expect("a word").to_owned();
    let (listed, _) = runs();
    let record = text("scripts/same-runs.txt");
    let recorded = record.lines().filter(|line| !line.starts_with('#'));
    assert_eq!(recorded.map(name).collect::<Vec<_>>(), listed);
}
