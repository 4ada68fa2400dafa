//! What is kept of gains (docs/guide/policy.md).
//!
//! What must stay: shares are arithmetic of the interrupts' times in the study made here.
//! Tests by part (in crates/study/src): file/from.rs: `what_is_kept_is_a_share_of_the_best_gain`
//! (`goals`), `cases_come_from_other_studies` (`cases`, `taken`), `wrong_names_are_told` (`other`);
//! file/promise.rs: `what_is_kept_is_a_share_of_the_best_gain` (`promise`); promise.rs:
//! `a_loss_is_told` (`loss`); catalogue.rs: `cases_come_from_other_studies` (`study_text`).
//! Helpers, and who fails with them: `study`, `run` (`what_is_kept_is_a_share_of_the_best_gain`,
//! `a_loss_is_told`, `cases_come_from_other_studies`).

use super::Word;
use crate::{Study, StudyOptions, by_interrupts};
use wakeplace_outcome::Study as StudyResult;

/// "fast" stands for the feature, "ours" for us; what counts is the order of the latencies.
fn study(ours_ns: u32, keep_pct: &str, more: &str) -> Study {
    let judged = format!(
        r#"
[promise]
keep_pct = {keep_pct}
lose_pct = 1.0
ours = "ours"
bounded = ["ours"]
cost = ["wake_latency_us_p50"]
feature = [{{ column = "fast" }}]"#
    );
    let columns = [("slow", 20_000), ("fast", 10_000), ("ours", ours_ns)];
    let more = format!("goals = [\"wake_latency_us_p50\"]\n{more}");
    by_interrupts::study(&columns, &judged, &more)
}

fn run(study: &Study) -> StudyResult {
    study.run(&StudyOptions::default(), 2, &|_| {}).unwrap()
}

/// Goal: half the gain is kept if our interrupt takes 15 us: less than 90 %, more than 40 %.
#[test]
fn what_is_kept_is_a_share_of_the_best_gain() {
    for (keep_pct, word) in [("90.0", Word::Misses), ("40.0", Word::Ok)] {
        let result = run(&study(15_000, keep_pct, ""));
        let promise = result.promise.expect("it promises something");
        let kept = promise.rows[0].kept.as_ref().expect("fast gains");
        assert_eq!(kept.feature, "fast");
        assert!((kept.kept_pct - 50.0).abs() < 5.0, "{kept:?}");
        assert_eq!(kept.verdict, word, "{keep_pct}");
        assert_eq!(result.verdict.contains("misses: "), word == Word::Misses);
        assert_eq!(promise.rows[0].losses[0].verdict, Word::Ok);
    }
}

/// Goal: who takes longer than the base loses, and keeps nothing.
#[test]
fn a_loss_is_told() {
    let result = run(&study(40_000, "90.0", ""));
    let row = &result.promise.expect("it promises something").rows[0];
    assert!(row.kept.as_ref().is_some_and(|kept| kept.kept_pct < 0.0));
    assert_eq!(row.losses[0].verdict, Word::Misses);
    assert_eq!(row.losses[0].metric, "wake_latency_us_p50");
    assert!(row.losses[0].loss_pct > 50.0, "{row:?}");
}

/// Goal: cases come with what their study says: name, platform, settings; and can be changed.
#[test]
fn cases_come_from_other_studies() {
    let result = run(&study(15_000, "90.0", ""));
    let case = &result.cases[0];
    assert_eq!(case.case, "context-switch-spr:pairs=56");
    assert_eq!(case.platform, "spr-2s");
    assert_eq!(
        case.workload,
        "context-switch:run=500ns,grouping=one,pairs=1,warmup=0s"
    );
    assert_eq!(case.duration_ns, 50_000_000);
    let set = |pair: (&str, &str)| {
        let pair = (pair.0.to_owned(), pair.1.to_owned());
        case.settings.contains(&pair)
    };
    assert!(set(("governor", "performance")) && set(("model.publish_ns", "0")));
}

/// Goal: what cannot be taken is named.
#[test]
fn wrong_names_are_told() {
    let error = |from: &str, to: &str| {
        let text = "title = \"t\"\nsource = \"s\"\nplatform = \"tc2\"\nduration = \"1s\"\n\
             seeds = 1\npolicies = [\"linux-7.3\", \"wakeplace\"]\n[quick]\nseeds = 1\n[[metric]]\n\
             name = \"cpu_energy_j\"\n[[from]]\nstudy = \"energy-aware/energy-juno-r0\"\n\
             cases = [\"10\"]\nwithout = []\n";
        assert!(text.contains(from), "{from}");
        let text = text.replacen(from, to, 1);
        Study::from_toml(&text, "a/b/study.toml")
            .unwrap_err()
            .to_string()
    };
    let told = error("energy-aware/energy-juno-r0", "energy-aware/energy-juno-r1");
    assert!(
        told.contains("did you mean `energy-aware/energy-juno-r0`"),
        "{told}"
    );
    let told = error("cases = [\"10\"]", "cases = [\"11\"]");
    assert!(
        told.contains("a/b/study.toml:13:10: unknown case `11`"),
        "{told}"
    );
    let told = error("without = []", "without = [\"linux-7.4\"]");
    assert!(told.contains("did you mean `linux-7.3`"), "{told}");
    let told = error("energy-aware/energy-juno-r0", "wakeplace/all");
    assert!(told.contains("takes its cases from others"), "{told}");
}
