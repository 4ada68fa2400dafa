//! How a comparison is shown (docs/guide/results.md; docs/guide/report.md).
//!
//! What must stay: figures are worked by hand beside the tests; keys of JSON and columns of CSV are
//! a contract, words for people are not.
//! Tests by part (in crates/report/src): crates/outcome/src/comparison.rs:
//! `compare_has_the_shape_of_the_contract` (`Run`, `Metric`, `Delta`), `sim_has_runs_and_no_deltas`
//! (`deltas`); json.rs: `compare_has_the_shape_of_the_contract` (`comparison`, `run`, `metrics`),
//! `numbers_that_are_none_do_not_appear` (what is null or absent); comparison.rs:
//! `people_get_result_spread_and_verdict` (`human`, `heading`, `others`),
//! `all_that_is_judged_is_counted` (`intervals`, `expected_by_chance`),
//! `expected_misses_are_rounded_like_at_school` (`shown_misses`), `a_loss_from_nothing_is_told`
//! (`csv_rows`, `figure_cells`), `narrow_terminals_get_tables_as_narrow_as_whole_words_allow`
//! (`compared`, `comparisons`), `a_headline_names_the_price` (`verdicts`, `key_metrics`),
//! `a_mean_that_goes_another_way_explains_itself` (`goes_apart`), `modelled_joules_say_so`
//! (`named`, `single`), `markdown_is_a_table_with_its_verdict` (`document`); paint.rs:
//! `colour_adds_nothing_but_colour` (a headline); crates/outcome/src/forms.rs:
//! `a_loss_from_nothing_is_told` (`interval`); phrase.rs: `a_headline_names_the_price` (`verdict`,
//! `besides`, `paint`); comparison.rs: all others.
//! Helpers, and who fails with them: `metrics`, `runs`, `fake`, `two` (most tests); `json` (7
//! tests); `measured` (`a_headline_names_the_price`,
//! `a_mean_that_goes_another_way_explains_itself`).

use super::{comparison, comparisons, shown_misses};
use crate::{Format, Style};
use serde_json::Value;
use wakeplace_metrics::RunMetrics;
use wakeplace_study::{Comparison, Origin, PolicyRuns};

/// Metrics of a run of which only `values` are looked at.
fn metrics(values: &[(&str, f64)]) -> RunMetrics {
    // Runs that measure something else are other runs.
    let hash = values.iter().fold(0, |hash, (_, v)| hash ^ v.to_bits());
    RunMetrics::kept(values.iter().copied(), hash)
}

/// Energies per seed under a policy; wake-up latency 100 us for all.
fn runs(policy: &str, energies: &[f64]) -> PolicyRuns {
    let one = |energy: &f64| {
        let latency = ("wake_latency_us_p99", 100.0);
        metrics(&[
            ("energy_j", *energy),
            latency,
            ("wakeups_total", energy * 10.0),
        ])
    };
    PolicyRuns {
        policy: policy.to_owned(),
        overrides: vec![("pelt_scale".to_owned(), "clock".to_owned())],
        settings: vec![("pelt_scale".to_owned(), "clock".to_owned())],
        metrics: energies.iter().map(one).collect(),
        reports: Vec::new(),
        timeline: None,
        details: None,
    }
}

fn fake(runs: Vec<PolicyRuns>) -> Comparison {
    Comparison {
        platform: "hikey960".to_owned(),
        platform_hash: "0".repeat(32),
        workload_hash: "0".repeat(32),
        jitter: None,
        margin_pct: 1.0,
        shown: Vec::new(),
        workload: "periodic:n=10,period=16ms,duty=5%".to_owned(),
        duration_ns: 30_000_000_000,
        seeds: vec![1, 2, 3],
        settings: vec![("model.idle_states".to_owned(), "off".to_owned())],
        options: vec![("model.idle_states".to_owned(), "off".to_owned())],
        measured_by: vec!["energy_j".to_owned()],
        runs,
        states: Vec::new(),
        origin: Origin::default(),
        notes: vec!["ended at 1.23 s: all tasks were done".to_owned()],
        warnings: vec!["something is odd; do that".to_owned()],
        stuck: Vec::new(),
        checks: Vec::new(),
        modelled_power: false,
        unlike_lengths: false,
    }
}

fn two() -> Comparison {
    fake(vec![
        runs("linux-4.17", &[10.0, 11.0, 12.0]),
        runs("linux-4.17+energy-aware", &[9.0, 10.0, 10.9]),
    ])
}

fn json(of: &Comparison) -> Value {
    serde_json::from_str(&comparison(of, Format::Json, Style::default())).unwrap()
}

#[test]
fn compare_has_the_shape_of_the_contract() {
    let value = json(&two());
    assert_eq!(value["schema_version"], 2);
    assert_eq!(value["duration_ns"], 30_000_000_000_u64);
    assert_eq!(value["settings"]["model.idle_states"], "off");
    let run = &value["runs"][1];
    assert_eq!(run["platform"], "hikey960");
    assert_eq!(run["workload"], "periodic:n=10,period=16ms,duty=5%");
    assert_eq!(run["policy"], "linux-4.17+energy-aware");
    assert_eq!(run["set"]["pelt_scale"], "clock");
    assert_eq!(run["seeds"], serde_json::json!([1, 2, 3]));
    let energy = run["metrics"]["energy_j"].as_object().unwrap();
    let keys: Vec<_> = energy.keys().map(String::as_str).collect();
    assert_eq!(keys, ["mean", "rsd_pct", "ci95", "unit"]);
    assert_eq!(energy["unit"], "J");
    let delta = value["deltas"][0].as_object().unwrap();
    let keys: Vec<_> = delta.keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        [
            "metric",
            "base",
            "other",
            "delta_pct",
            "ci95",
            "significant",
            "difference",
            "method",
            "n"
        ]
    );
    // Logarithms of 9/10, 10/11 and 10.9/12: -.1053605, -.0953102, -.0961440; their mean -.0989382.
    assert!(
        (delta["delta_pct"].as_f64().unwrap() + 9.420_131).abs() < 1e-4,
        "{delta:?}"
    );
    assert_eq!(delta["ci95"].as_array().unwrap().len(), 2);
    assert_eq!(delta["significant"], true);
}

#[test]
fn sim_has_runs_and_no_deltas() {
    let value = json(&fake(vec![runs("linux-4.17", &[10.0])]));
    assert!(value.get("deltas").is_none());
    assert!(value["runs"][0]["metrics"]["energy_j"]["ci95"].is_null());
}

#[test]
fn numbers_that_are_none_do_not_appear() {
    // Around a mean of 0 there is no relative spread.
    let value = json(&fake(vec![runs("linux-4.17", &[1.0, -1.0])]));
    assert!(value["runs"][0]["metrics"]["energy_j"]["rsd_pct"].is_null());
}

#[test]
fn people_get_result_spread_and_verdict() {
    let text = comparison(&two(), Format::Human, Style::default());
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(
        lines[0],
        "hikey960, periodic:n=10,period=16ms,duty=5%, 30 s, 3 seeds (1-3)"
    );
    assert!(text.contains("energy_j"), "{text}");
    assert!(text.contains("-9.42 %"), "{text}");
    let unwrapped = text.replace('\n', " ");
    for said in [
        "linux-4.17+energy-aware uses 9.4 % less energy than linux-4.17 [95 % CI",
        "no difference that matters in the 99th percentile",
        "Also different under +energy-aware: wakeups_total -9.42 %",
    ] {
        assert!(unwrapped.contains(said), "{text}");
    }
    assert!(
        lines.iter().all(|line| line.chars().count() <= 100),
        "{text}"
    );
    assert!(
        text.ends_with("\nended at 1.23 s: all tasks were done\n"),
        "{text}"
    );
    assert!(!text.contains('\x1b'), "{text}");
}

#[test]
fn colour_adds_nothing_but_colour() {
    let style = Style {
        color: true,
        width: 100,
    };
    let coloured = comparison(&two(), Format::Human, style);
    assert!(coloured.contains("\x1b[1;32m"), "{coloured}");
    let mut plain = coloured;
    for code in ["1;32", "0", "1", "31", "32"] {
        plain = plain.replace(&format!("\x1b[{code}m"), "");
    }
    assert_eq!(plain, comparison(&two(), Format::Human, Style::default()));
}

#[test]
fn a_span_over_the_margin_is_not_told() {
    let other = runs("b", &[9.0, 12.0, 12.0]);
    let of = fake(vec![runs("a", &[10.0, 11.0, 12.0]), other]);
    let text = comparison(&of, Format::Human, Style::default());
    assert!(
        text.contains("Not told from 3 seeds whether energy differs between b and a [95 % CI"),
        "{text}"
    );
}

/// Goal: every difference that is judged by an interval counts, not those of the key metrics alone:
/// energy, latency and wake-ups here. One run has no interval.
#[test]
fn all_that_is_judged_is_counted() {
    let value = json(&two());
    let judged = { value["deltas"].as_array().unwrap().iter() }
        .filter(|delta| delta["difference"].is_string() && delta["difference"] != "one run");
    assert_eq!(judged.count(), 3);
    assert_eq!(value["multiplicity"]["intervals"], 3);
    let text = comparison(&two(), Format::Human, Style::default());
    assert!(
        text.contains("3 intervals of 95 %: about 0.15 of them"),
        "{text}"
    );
    let one = json(&fake(vec![runs("a", &[1.0]), runs("b", &[2.0])]));
    assert_eq!(one["multiplicity"]["intervals"], 0);
}

/// 5 % of 7, 8, 20, 23 and 131: 0.35, 0.4, 1, 1.15 and 6.55.
#[test]
fn expected_misses_are_rounded_like_at_school() {
    let shown = [7, 8, 20, 23, 131].map(shown_misses);
    assert_eq!(shown, ["0.35", "0.4", "1.0", "1.2", "6.6"]);
}

/// Goal: what is lost from a base of 0 has no percent, and a word: 3 4 5 periods missed of none.
#[test]
fn a_loss_from_nothing_is_told() {
    let missing = |policy: &str, all: [f64; 3]| PolicyRuns {
        metrics: { all.iter().zip([9.0, 9.5, 9.9]) }
            .map(|(missed, j)| metrics(&[("missed_periods_total", *missed), ("energy_j", j)]))
            .collect(),
        ..runs(policy, &[])
    };
    let of = fake(vec![
        missing("a", [0.0; 3]),
        missing("b", [3.0, 4.0, 5.0]),
        missing("c", [0.0, 1.0, 2.0]),
    ]);
    let value = json(&of);
    let deltas = value["deltas"].as_array().unwrap().iter();
    let missed: Vec<_> = deltas
        .filter(|d| d["metric"] == "missed_periods_total")
        .collect();
    assert!(
        missed
            .iter()
            .all(|d| d["delta_pct"].is_null() && d["ci95"].is_null())
    );
    let words = [&missed[0]["difference"], &missed[1]["difference"]];
    assert_eq!(words, ["worse", "not told"]);
    assert_eq!(
        [&missed[0]["significant"], &missed[1]["significant"]],
        [true, false]
    );
    let text = comparison(&of, Format::Human, Style::default());
    let told = |line: &str| line.contains("from 0") && line.contains("worse");
    assert!(text.lines().any(told), "{text}");
    let csv = comparison(&of, Format::Csv, Style::default());
    let line = csv.lines().find(|l| l.contains(",b,missed_periods_total,"));
    assert!(
        line.is_some_and(|l| l.ends_with(",,,,yes,worse,paired-difference-t,")),
        "{csv}"
    );
}

#[test]
fn narrow_terminals_get_tables_as_narrow_as_whole_words_allow() {
    let style = Style {
        color: false,
        width: 60,
    };
    let text = comparison(&two(), Format::Human, style);
    let widths: Vec<usize> = text.lines().map(|line| line.chars().count()).collect();
    assert!(widths.iter().all(|&width| width <= 60), "{text}");
    let several = comparisons(&[two(), two()], Format::Human, style);
    let wide = several.lines().find(|line| line.chars().count() > 60);
    assert_eq!(wide, None, "{several}");
    // The longest policy name and all figures stay whole.
    assert!(text.contains("linux-4.17+energy-aware"), "{text}");
    // Nothing is left out: the figures of both metrics are parted, each part with the policies.
    assert_eq!(text.matches("  +energy-aware").count(), 4, "{text}");
    assert!(
        text.contains("±9.1 %") && text.contains("95 % CI"),
        "{text}"
    );
}

/// Runs with these values per metric, one per seed.
fn measured(policy: &str, all: &[(&str, [f64; 3])]) -> PolicyRuns {
    let of_seed = |seed: usize| {
        let values: Vec<_> = all
            .iter()
            .map(|(name, values)| (*name, values[seed]))
            .collect();
        metrics(&values)
    };
    PolicyRuns {
        metrics: (0..3).map(of_seed).collect(),
        ..runs(policy, &[])
    }
}

/// Goal: what got worse stands in the headline of what got better, and takes its green. Energy
/// falls by a tenth; the latency doubles; missed periods rise by 8.5 %.
#[test]
fn a_headline_names_the_price() {
    let base = [
        ("energy_j", [10.0, 10.1, 9.9]),
        ("wake_latency_us_p99", [100.0, 101.0, 99.0]),
        ("missed_periods_total", [200.0, 202.0, 198.0]),
    ];
    let price = base.map(|(name, values)| {
        let factor = match name {
            "energy_j" => 0.9,
            "wake_latency_us_p99" => 1.99,
            _ => 1.085,
        };
        (
            name,
            values.map(|value| value * factor + value * value * 1e-9),
        )
    });
    let of = fake(vec![measured("a", &base), measured("b", &price)]);
    let value = json(&of);
    let verdict = &value["verdicts"][0];
    assert_eq!(verdict["difference"], "better");
    let worse = ["wake_latency_us_p99", "missed_periods_total"];
    assert_eq!(verdict["worse"], serde_json::json!(worse));
    let text = verdict["text"].as_str().unwrap();
    assert!(
        text.starts_with("b uses 10.0 % less energy than a"),
        "{text}"
    );
    let end = "; the 99th percentile of the wake-up latency is 99.0 % higher; worse: missed \
               periods +8.50 %.";
    assert!(text.ends_with(end), "{text}");
    let color = Style {
        color: true,
        width: 0,
    };
    let shown = comparison(&of, Format::Human, color);
    assert!(!shown.contains("\x1b[1;32m"), "{shown}");
}

/// Goal: 100, 100 and 417 to 160, 160 and 285: the mean falls from 205.7 to 201.7, and the
/// geometric mean of 1.6, 1.6 and 0.683 is 1.205. The table says why.
#[test]
fn a_mean_that_goes_another_way_explains_itself() {
    let base = measured("a", &[("energy_j", [100.0, 100.0, 417.0])]);
    let other = measured("b", &[("energy_j", [160.0, 160.0, 285.0])]);
    let of = fake(vec![base, other]);
    for form in [Format::Human, Format::Md] {
        let text = comparison(&of, form, Style::default());
        assert!(text.contains("+20.5"), "{text}");
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            words.contains("The mean over all seeds goes the other way"),
            "{text}"
        );
    }
    let human = comparison(&of, Format::Human, Style::default());
    assert!(human.contains(" %† "), "{human}");
    let same = comparison(&two(), Format::Human, Style::default());
    assert!(!same.contains("goes the other way"), "{same}");
}

/// Goal: joules of a power that nobody measured are called so in every form.
#[test]
fn modelled_joules_say_so() {
    let of = Comparison {
        modelled_power: true,
        ..two()
    };
    assert_eq!(json(&of)["modelled_power"], true);
    assert_eq!(json(&two())["modelled_power"], false);
    for form in [Format::Human, Format::Md] {
        let text = comparison(&of, form, Style::default());
        assert!(text.contains("energy_j (modelled)"), "{text}");
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            words.contains("uses 9.4 % less modelled energy than"),
            "{text}"
        );
        assert!(!text.contains("p99 (modelled)"), "{text}");
    }
    let csv = comparison(&of, Format::Csv, Style::default());
    let ends = |metric: &str| {
        let line = csv
            .lines()
            .find(|line| line.contains(&format!(",{metric},")));
        line.unwrap().rsplit(',').next().unwrap().to_owned()
    };
    assert!(
        csv.lines().next().unwrap().ends_with(",method,power"),
        "{csv}"
    );
    assert_eq!(
        [ends("energy_j"), ends("wake_latency_us_p99")],
        ["modelled", ""]
    );
    let alone = fake(vec![runs("linux-4.17", &[10.0])]);
    let alone = Comparison {
        modelled_power: true,
        ..alone
    };
    let text = comparison(&alone, Format::Human, Style::default());
    assert!(text.contains("energy_j (modelled)"), "{text}");
}

/// Goal: who names metrics gets these and no others, in the order named; one that no run has is
/// said to be not measured, and JSON is as without.
#[test]
fn the_table_has_the_metrics_that_are_named() {
    let text = |of: &Comparison, format| comparison(of, format, Style::default());
    for runs in [two().runs, two().runs[..1].to_vec()] {
        let plain = fake(runs);
        let mut chosen = plain.clone();
        chosen.shown = vec!["migrations_total".to_owned(), "energy_j".to_owned()];
        for format in [Format::Human, Format::Md] {
            let said = text(&chosen, format);
            // In Markdown the sentences stand before the table.
            let (_, table) = said.split_once("| :--").unwrap_or(("", &said));
            let places = ["migrations", "not measured", "energy"].map(|word| table.find(word));
            assert!(places.is_sorted() && places[0].is_some(), "{said}");
        }
        assert_eq!(text(&chosen, Format::Json), text(&plain, Format::Json));
        chosen.shown.truncate(1);
        let said = text(&chosen, Format::Human);
        let table = said.split("uses").next().unwrap_or_default();
        assert!(
            !table.contains("energy_j\n") && !table.contains("energy_j  "),
            "{said}"
        );
    }
}

#[test]
fn csv_has_every_metric_of_every_policy() {
    let text = comparison(&two(), Format::Csv, Style::default());
    assert_eq!(text.lines().count(), 1 + 2 * 3);
    let first = text.lines().nth(1).unwrap();
    let expected = "hikey960,\"periodic:n=10,period=16ms,duty=5%\",linux-4.17,energy_j,J,3,11,";
    assert!(first.starts_with(expected), "{first}");
}

#[test]
fn markdown_is_a_table_with_its_verdict() {
    let text = comparison(&two(), Format::Md, Style::default());
    assert!(text.contains("| metric | policy |"), "{text}");
    assert!(
        text.contains("**linux-4.17+energy-aware uses 9.4 % less energy"),
        "{text}"
    );
}
