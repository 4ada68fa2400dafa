//! The list of runs that scripts/same-runs.sh compares has everything that can be chosen, and the
//! record is of that list.

use crate::common::repository;

use wakeplace_engine::Options;
use wakeplace_policy_sys::Policy;
use wakeplace_workload::Spec;

fn text(path: &str) -> String {
    std::fs::read_to_string(repository(path)).expect("a file of the repository")
}

/// The lines of the list, each run on one.
fn runs() -> Vec<String> {
    let text = text("scripts/runs.sh");
    let list = text.split_once("runs=(").expect("the list").1;
    let list = list.split_once("\n)").expect("its end").0;
    let quoted = list.split('\'').skip(1).step_by(2);
    let joined = |run: &str| run.split_whitespace().collect::<Vec<_>>().join(" ");
    quoted.map(joined).collect()
}

/// All words of the list.
fn words() -> Vec<String> {
    let runs = runs();
    let words = runs.iter().flat_map(|run| run.split(' '));
    words.map(str::to_owned).collect()
}

/// Goal: who adds an era, a feature or a version of one adds a run of it.
#[test]
fn each_era_and_feature_has_a_run() {
    let words = words();
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

/// Goal: likewise models of loads, switches of the machine's model, and queues.
#[test]
fn each_model_switch_and_queue_has_a_run() {
    let words = words();
    let models = Spec::catalogue().map(|model| format!("{}:", model.name));
    let switches = Options::default().keys();
    let switches = switches.iter().map(|(key, ..)| format!("{key}="));
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
    let listed: Vec<String> = runs().iter().map(|run| name(run)).collect();
    let record = text("scripts/same-runs.txt");
    let recorded = record.lines().filter(|line| !line.starts_with('#'));
    assert_eq!(recorded.map(name).collect::<Vec<_>>(), listed);
}
