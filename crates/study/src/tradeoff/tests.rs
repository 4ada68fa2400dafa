//! Energy against latency, beside rivals (docs/guide/policy.md).
//!
//! What must stay: means are geometric; who beats us is judged by the margin.
//! Tests by part (in crates/study/src): tradeoff.rs: `means_are_geometric` (`geometric`),
//! `a_column_is_not_its_own_rival` (the file); by_interrupts.rs:
//! `who_is_quicker_for_the_same_energy_beats_ours` (`study`); file/tradeoff.rs:
//! `who_is_quicker_for_the_same_energy_beats_ours` (`tradeoff`).
//! Helpers, and who fails with them: `run` (`who_is_quicker_for_the_same_energy_beats_ours`).

use super::{Tradeoff, geometric, verdict};
use crate::{Study, StudyOptions, by_interrupts};

/// "quick" is a rival. What the tasks run is the same per switch, so "energy" here is the mean
/// number of busy CPUs, which hardly changes.
fn run(quick_ns: u32, energy_pct: &str) -> Tradeoff {
    let judged = format!(
        r#"
[tradeoff]
ours = "ours"
rivals = ["base", "quick"]
energy = "busy_cpus_mean"
latency = "wake_latency_us_p50"
time = ["task_run_s", "task_wait_s"]
energy_pct = {energy_pct}
latency_pct = 10.0"#
    );
    let columns = [("base", 20_000), ("ours", 20_000), ("quick", quick_ns)];
    let study = by_interrupts::study(&columns, &judged, "");
    let result = study.run(&StudyOptions::default(), 2, &|_| {});
    result.unwrap().tradeoff.expect("it asks for one")
}

/// Goal: a geometric mean. Source: sqrt(2 * 8) = 4.
#[test]
fn means_are_geometric() {
    let mean = geometric([2.0, 8.0].into_iter()).expect("two");
    assert!((mean - 4.0).abs() < 1e-12);
    assert_eq!(geometric(std::iter::empty()), None);
}

/// Goal: a column that does the same has ratio 1 and beats nobody; one with half the latency and as
/// much energy, to the margin, does; with less margin than it takes more, it does not.
#[test]
fn who_is_quicker_for_the_same_energy_beats_ours() {
    let found = run(10_000, "100.0");
    let of = |column: &str| found.means.iter().find(|m| m.column == column).unwrap();
    assert_eq!(
        (of("ours").energy_ratio, of("ours").time_ratio),
        (Some(1.0), Some(1.0))
    );
    let latency = of("quick").latency_ratio.expect("it waits");
    assert!((latency - 0.5).abs() < 0.1, "{latency}");
    let names: Vec<_> = found.beaten.iter().map(|row| row.rival.as_str()).collect();
    assert_eq!((found.compared, names), (2, vec!["quick"]));
    assert!(verdict(&found).starts_with("In 1 of 2 comparisons"));
    assert_eq!(run(20_000, "100.0").beaten, []);
    assert_eq!(run(10_000, "0.0").beaten, [], "it is busier");
}

/// Goal: a study whose column is its own rival is refused.
#[test]
fn a_column_is_not_its_own_rival() {
    let text = include_str!("../../studies/wakeplace/energy/study.toml");
    let text = text.replace("rivals = [\"linux-7.3\"", "rivals = [\"auto\"");
    let error = Study::from_toml(&text, "wakeplace/energy/study.toml").expect_err("refused");
    assert!(error.to_string().contains("its own rival"), "{error}");
}
