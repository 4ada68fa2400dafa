//! How a study is shown (docs/guide/results.md; docs/guide/report.md).
//!
//! What must stay: keys of JSON and columns of CSV are a contract; `fake` and `tried` are studies
//! made here, used by html/tests.rs, too.
//! Tests by part (in crates/report/src): crates/outcome/src/study.rs:
//! `json_has_the_shape_of_the_contract` (`Row`, `Figure`),
//! `calibrated_cells_are_marked_and_explained` (`kind`, `distance_pct`),
//! `runs_of_another_length_have_no_distance` (`as_written`), `promises_are_a_table` (`Promise`,
//! `Worth`), `tradeoffs_are_a_table` (`Tradeoff`); study.rs: `json_has_the_shape_of_the_contract`
//! (`study`), `differences_have_the_words_of_comparisons` (`table`), `no_mark_without_calibration`
//! (`figures`, `footnotes`, `human`), `small_things` (`document`),
//! `a_change_without_means_is_shown_as_one` (`Has`), `several_results_are_one_answer` (`studies`),
//! `a_mean_that_goes_another_way_explains_itself` (`goes_apart`),
//! `joules_of_a_modelled_power_say_so` (`tables`); study/csv.rs: `csv_has_a_line_per_row`
//! (`of_row`), `a_conclusion_that_flips_is_marked_wherever_it_stands` (`of_change`),
//! `several_results_are_one_answer` (one heading); phrase.rs: `small_things` (`short_policy`,
//! `wrap`), `joules_of_a_modelled_power_say_so` (`power_word`); study/sensitivity.rs:
//! `a_conclusion_that_flips_is_marked_wherever_it_stands` (`human`, `document`, `table`);
//! study/promise.rs: `promises_are_a_table` (`table`, `line`, `lost`); study/tradeoff.rs:
//! `tradeoffs_are_a_table` (`means`, `mean_line`, `beaten`).
//! Helpers, and who fails with them: `row`, `fake` (all tests); `tried`
//! (`a_conclusion_that_flips_is_marked_wherever_it_stands`).

use super::{short_policy, studies, study, wrap};
use crate::{Format, Style};
use serde_json::Value;
use std::collections::BTreeMap;
use wakeplace_metrics::difference_of;
use wakeplace_outcome::{
    Assumed, Beaten, Conclusion, Cost, Except, Figure, Kept, Loss, Mean, Multiplicity, Param,
    Promise, PromiseRow, PublishedSpread, Row, Study, Tradeoff, Tried, Worth,
};
use wakeplace_study::Factor;

const BASE: &str = "linux-4.17";
const OTHER: &str = "linux-4.17+energy-aware";

fn row(metric: &str, policy: &str, published: Option<f64>, mean: f64) -> Row {
    let other = policy == OTHER;
    Row {
        case: "10".to_owned(),
        params: BTreeMap::from([("tasks".to_owned(), Param::Number(10))]),
        metric: metric.to_owned(),
        unit: "J".to_owned(),
        policy: policy.to_owned(),
        published: published.map(|mean| Figure {
            mean,
            rsd_pct: Some(1.2),
            n: None,
        }),
        simulated: Figure {
            mean,
            rsd_pct: Some(0.5),
            n: Some(10),
        },
        published_delta_pct: (other && published.is_some()).then_some(-13.39),
        simulated_delta_pct: other.then_some(-10.0),
        simulated_delta_ci95: other.then_some((-10.5, -9.5)),
        difference: other.then(|| "better".to_owned()),
        calibrated: published.is_some() && !other,
        ..Row::default()
    }
}

pub(crate) fn fake() -> Study {
    let mut experiment = row("energy_j", OTHER, Some(28.97), 29.5);
    let name = (
        "experiment".to_owned(),
        Param::Word("pelt_scale=clock".to_owned()),
    );
    experiment.params.extend([name]);
    experiment.case += ",pelt_scale=clock";
    Study {
        study: "family/name".to_owned(),
        title: "Energy".to_owned(),
        platform: "hikey960".to_owned(),
        duration_ns: 30_000_000_000,
        seeds: (1..=10).collect(),
        schema_version: 2,
        as_written: true,
        workloads: BTreeMap::from([("10".to_owned(), "periodic:n=10".to_owned())]),
        base_policy: BASE.to_owned(),
        margin_pct: Some(1.0),
        multiplicity: Some(Multiplicity::of(3)),
        metrics: vec!["energy_j".to_owned(), "cpu_energy_j".to_owned()],
        rows: vec![
            row("energy_j", BASE, Some(33.45), 33.45),
            row("energy_j", OTHER, Some(28.97), 30.1),
            row("cpu_energy_j", BASE, None, 12.0),
            row("cpu_energy_j", OTHER, None, 9.0),
            experiment,
        ],
        verdict: "less energy.".to_owned(),
        notes: vec!["a note".to_owned()],
        sources: vec!["a mail".to_owned()],
        ..Study::default()
    }
}

#[test]
fn json_has_the_shape_of_the_contract() {
    let text = study(&fake(), Format::Json, Style::default());
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&value["schema_version"], &value["study"]),
        (&2.into(), &"family/name".into())
    );
    assert_eq!(value["base_policy"], BASE);
    assert_eq!(value["as_written"], true);
    let base = value["rows"][0].as_object().unwrap();
    for key in [
        "case",
        "params",
        "metric",
        "unit",
        "policy",
        "published",
        "simulated",
    ] {
        assert!(base.contains_key(key), "{key}");
    }
    assert!(base["published_delta_pct"].is_null() && base["simulated_delta_pct"].is_null());
    assert_eq!(base["calibrated"], true);
    assert_eq!(base["params"]["tasks"], 10);
    let other = &value["rows"][1];
    assert_eq!(other["published"]["mean"], 28.97);
    assert_eq!(other["simulated"]["n"], 10);
    assert_eq!(other["published_delta_pct"], -13.39);
    assert_eq!(other["simulated_delta_pct"], -10.0);
    assert!(value["rows"][2]["published"].is_null());
}

#[test]
fn calibrated_cells_are_marked_and_explained() {
    let text = study(&fake(), Format::Human, Style::default());
    assert!(text.contains("33.45*"), "{text}");
    assert!(
        text.contains("* the platform's board power or an argument of the workload is"),
        "{text}"
    );
    assert!(text.contains("+3.90 %"), "off by: {text}");
    assert!(text.contains("energy_j (J), experiments"), "{text}");
    assert!(text.contains("less energy.\n\nnote: a note\n"), "{text}");
}

/// Goal: a study's tables have the words of a comparison's, by the margin, and say how many
/// intervals miss by chance: three rows have one.
#[test]
fn differences_have_the_words_of_comparisons() {
    let json = |result: &Study| -> Value {
        serde_json::from_str(&study(result, Format::Json, Style::default())).unwrap()
    };
    let word = |result: &Study, margin_pct: f64| {
        let mut result = result.clone();
        let row = &mut result.rows[1];
        let change = (row.simulated_delta_pct.unwrap(), row.simulated_delta_ci95);
        let word = difference_of(&row.metric, change, margin_pct).word();
        row.difference = Some(word.to_owned());
        json(&result)["rows"][1]["difference"].clone()
    };
    let mut result = fake();
    assert_eq!(json(&result)["rows"][0]["difference"], Value::Null);
    assert_eq!(json(&result)["multiplicity"]["intervals"], 3);
    assert_eq!(word(&result, 1.0), "better");
    let text = study(&result, Format::Human, Style::default());
    assert!(
        text.contains("better\n") || text.contains("better  "),
        "{text}"
    );
    assert!(
        text.contains("3 intervals of 95 %: about 0.15 of them"),
        "{text}"
    );
    let csv = study(&result, Format::Csv, Style::default());
    assert!(
        csv.lines()
            .nth(2)
            .is_some_and(|line| line.ends_with(",better,")),
        "{csv}"
    );
    assert_eq!(word(&result, 10.0), "not told");
    assert_eq!(word(&result, 11.0), "none that matters");
    // Seeds that differ, but not in their differences, as in a comparison.
    result.rows[1].simulated_delta_ci95 = Some((0.0, 0.0));
    assert_eq!(word(&result, 1.0), "none that matters");
    // No interval that chance has a part in.
    result.rows[1].simulated_delta_ci95 = None;
    assert_eq!(word(&result, 1.0), "one run");
}

#[test]
fn no_mark_without_calibration() {
    let mut result = fake();
    for row in &mut result.rows {
        row.calibrated = false;
    }
    assert!(!study(&result, Format::Human, Style::default()).contains('*'));
}

#[test]
fn csv_has_a_line_per_row() {
    let text = study(&fake(), Format::Csv, Style::default());
    assert_eq!(text.lines().count(), 6);
    let line =
        "family/name,10,,energy_j,J,linux-4.17,33.45,1.2,33.45,0.5,10,,,,,yes,hikey960,,,,,,";
    assert_eq!(text.lines().nth(1), Some(line));
}

#[test]
fn small_things() {
    assert_eq!(short_policy(BASE, OTHER), "+energy-aware");
    assert_eq!(short_policy(BASE, "linux-4.7"), "linux-4.7");
    assert_eq!(wrap("aa bb cc", 5), "aa bb\ncc");
    assert_eq!(wrap("aa bb cc", 0), "aa bb cc");
    assert_eq!(wrap("within 1 %.", 8), "within\n1 %.");
    let md = study(&fake(), Format::Md, Style::default());
    assert!(md.contains("33.45\\*") || md.contains("33.45*"), "{md}");
}

/// A study whose gain one cost turns into a loss.
pub(crate) fn tried() -> Study {
    let mut result = fake();
    let row = |cost: &str, factor: Factor, delta_pct: f64| Tried {
        case: "10".to_owned(),
        metric: "energy_j".to_owned(),
        policy: OTHER.to_owned(),
        cost: cost.to_owned(),
        factor: factor.value(),
        delta_pct: Some(delta_pct),
        ci95: Some((delta_pct - 1.0, delta_pct + 1.0)),
        conclusion: if delta_pct < 0.0 {
            Conclusion::Gain
        } else {
            Conclusion::Loss
        },
        plain_delta_pct: Some(-10.0),
        plain_conclusion: Conclusion::Gain,
        flips: delta_pct > 0.0,
    };
    let cost = |name: &str, unused| Cost {
        cost: name.to_owned(),
        value: "1000 ns".to_owned(),
        unused,
    };
    result.assumed = Some(Assumed {
        seeds: vec![1, 2, 3],
        cases: vec!["10".to_owned()],
        costs: vec![cost("ipi_ns", false), cost("fork_ns", true)],
        except: vec![Except {
            cost: "tick_ns".to_owned(),
            why: "measured".to_owned(),
        }],
    });
    result.sensitivity = Some(vec![
        row("ipi_ns", Factor::Half, 4.0),
        row("ipi_ns", Factor::Double, -12.0),
        row("fork_ns", Factor::Half, -10.0),
        row("fork_ns", Factor::Double, -10.0),
    ]);
    result.rows[1].robust = Some(false);
    result
}

#[test]
fn a_conclusion_that_flips_is_marked_wherever_it_stands() {
    let text = study(&tried(), Format::Human, Style::default());
    assert!(text.contains("not robust\n"), "{text}");
    assert!(
        text.contains("ipi_ns (1000 ns)  0.5  ! loss +4.00 %"),
        "{text}"
    );
    assert!(
        !text.contains("fork_ns (1000"),
        "no line for what has no effect: {text}"
    );
    assert!(
        text.contains("without any effect in these runs: fork_ns."),
        "{text}"
    );
    assert!(text.contains("not tried: tick_ns: measured"), "{text}");
    let md = study(&tried(), Format::Md, Style::default());
    assert!(
        md.contains("! loss +4.00 %") && md.contains("fork_ns."),
        "{md}"
    );
    let text = study(&tried(), Format::Json, Style::default());
    let value: Value = serde_json::from_str(&text).unwrap();
    let row = &value["sensitivity"][0];
    assert_eq!((&row["factor"], &row["flips"]), (&0.5.into(), &true.into()));
    assert_eq!(
        (&row["conclusion"], &row["plain_conclusion"]),
        (&"loss".into(), &"gain".into())
    );
    assert_eq!(value["rows"][1]["robust"], false);
    assert!(value["rows"][0]["robust"].is_null());
    assert_eq!(value["assumed"]["costs"][1]["unused"], true);
    let csv = study(&tried(), Format::Csv, Style::default());
    assert_eq!(csv.lines().count(), 6 + 4);
    let line = "family/name,10,,energy_j,J,linux-4.17+energy-aware,,,,,3,,4,3,5,no,hikey960,ipi_ns,\
                0.5,loss,no,,";
    assert_eq!(csv.lines().nth(6), Some(line));
}

/// Joules of 1 s are not compared with published joules of 30 s.
#[test]
fn runs_of_another_length_have_no_distance() {
    let mut result = fake();
    result.as_written = false;
    let text = study(&result, Format::Human, Style::default());
    assert!(!text.contains("off by"), "{text}");
    assert!(!text.contains("+3.90 %"), "{text}");
}

#[test]
fn a_change_without_means_is_shown_as_one() {
    let mut result = fake();
    result.rows.retain(|row| row.metric == "cpu_energy_j");
    result.rows[1].published_delta_pct = Some(687.45);
    result.rows[1].published_change_rsd_pct = Some(PublishedSpread {
        base: None,
        policy: Some(0.5),
    });
    let text = study(&result, Format::Human, Style::default());
    assert!(
        text.contains("published change") && text.contains("+687 %"),
        "{text}"
    );
    assert!(!text.contains("off by"), "{text}");
    let text = study(&result, Format::Json, Style::default());
    let value: Value = serde_json::from_str(&text).unwrap();
    let row = &value["rows"][1];
    assert!(row["published"].is_null());
    assert_eq!(row["published_delta_pct"], 687.45);
    assert_eq!(row["published_change_rsd_pct"]["policy"], 0.5);
}

#[test]
fn several_results_are_one_answer() {
    let both = [fake(), fake()];
    let value: Value =
        serde_json::from_str(&studies(&both, Format::Json, Style::default())).unwrap();
    assert_eq!(value["studies"].as_array().map(Vec::len), Some(2));
    assert_eq!(
        studies(&both, Format::Csv, Style::default())
            .lines()
            .count(),
        11
    );
    let one = studies(&both[..1], Format::Json, Style::default());
    assert_eq!(one, study(&both[0], Format::Json, Style::default()));
}

/// Goal: a change whose sign is not that of the means explains itself. The mean of the fake falls
/// by a tenth.
#[test]
fn a_mean_that_goes_another_way_explains_itself() {
    let mut result = fake();
    let told = "The mean over all seeds goes the other way";
    let words = |result: &Study| {
        let text = study(result, Format::Human, Style::default());
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(!words(&result).contains(told));
    result.rows[1].simulated_delta_pct = Some(10.0);
    let text = words(&result);
    assert!(text.contains("+10.00 %†") && text.contains(told), "{text}");
}

/// Goal: joules of a study say that they are a model's where its machine's power is: in headings,
/// in the column and key `power`, and nowhere else; of several machines some of them do.
#[test]
fn joules_of_a_modelled_power_say_so() {
    let mut result = fake();
    let power = |result: &Study| -> Vec<Value> {
        let text = study(result, Format::Json, Style::default());
        let value: Value = serde_json::from_str(&text).unwrap();
        let rows = value["rows"].as_array().unwrap().iter();
        rows.map(|row| row["power"].clone()).collect()
    };
    assert!(power(&result).iter().all(Value::is_null));
    assert!(!study(&result, Format::Human, Style::default()).contains("modelled"));
    let csv = study(&result, Format::Csv, Style::default());
    assert!(!csv.contains("modelled"), "{csv}");
    for row in &mut result.rows {
        row.power = Some("modelled".to_owned());
    }
    assert!(power(&result).iter().all(|word| word == "modelled"));
    for format in [Format::Human, Format::Md] {
        let text = study(&result, format, Style::default());
        assert!(text.contains("energy_j (J, modelled)"), "{text}");
        assert!(text.contains("cpu_energy_j (J, modelled)"), "{text}");
    }
    let csv = study(&result, Format::Csv, Style::default());
    assert_eq!(csv.matches(",modelled\n").count(), 5, "{csv}");
    // One of the two cases ran on another machine, whose power somebody measured.
    let mut other = row("cpu_energy_j", OTHER, None, 8.0);
    let platform = ("platform".to_owned(), Param::Word("rk3588".to_owned()));
    other.params.extend([platform]);
    result.rows.push(other);
    let text = study(&result, Format::Human, Style::default());
    assert!(text.contains("cpu_energy_j (J, partly modelled)"), "{text}");
    // Time is no model's.
    result.rows = vec![row("wake_latency_us_p99", BASE, None, 3.0)];
    result.metrics = vec!["wake_latency_us_p99".to_owned()];
    let text = study(&result, Format::Human, Style::default());
    assert!(!text.contains("modelled"), "{text}");
}

/// Goal: a study's table of what was kept of gains has each figure in its column.
#[test]
fn promises_are_a_table() {
    let kept = Kept {
        feature: "sis-short".to_owned(),
        gain_pct: 10.0,
        by: "auto".to_owned(),
        by_pct: 9.0,
        by_ci95: Some((8.0, 9.5)),
        kept_pct: 90.0,
        verdict: Worth::Ok,
    };
    let loss = Loss {
        column: "auto".to_owned(),
        metric: "energy_j".to_owned(),
        loss_pct: 0.31,
        ci95: None,
        saved_energy_pct: None,
        verdict: Worth::Unclear,
    };
    let row = |case: &str, kept: Option<Kept>| PromiseRow {
        case: case.to_owned(),
        platform: "hikey960".to_owned(),
        metric: "wake_latency_us_p99".to_owned(),
        kept,
        losses: vec![loss.clone()],
    };
    let promise = Promise {
        keep_pct: 80.0,
        lose_pct: 1.0,
        rows: vec![row("light", Some(kept)), row("heavy", None)],
    };
    let said = crate::study(
        &Study {
            promise: Some(promise),
            ..fake()
        },
        Format::Md,
        Style::default(),
    );
    for line in [
        "| light | wake_latency_us_p99 | sis-short | +10.00 % | auto | +9.00 % | +8.00 % to \
         +9.50 % | 90 % | auto 0.3 % of energy_j | kept: ok; auto: unclear |",
        "| heavy | wake_latency_us_p99 | none gains |  |  |  |  |  | auto 0.3 % of energy_j | \
         auto: unclear |",
    ] {
        assert!(said.contains(line), "{line}\n{said}");
    }
}

/// Goal: a study's table of energy against latency has each figure in its column, and no column of
/// figures that nobody has.
#[test]
fn tradeoffs_are_a_table() {
    let mean = |over_optimal_pct| Mean {
        group: "all".to_owned(),
        column: "auto".to_owned(),
        cases: 2,
        energy_ratio: Some(0.9),
        latency_ratio: Some(1.25),
        time_ratio: None,
        over_optimal_pct,
        worst_energy_ratio: 0.95,
        worst_case: "light".to_owned(),
    };
    let of = |over_optimal_pct| {
        let tradeoff = Tradeoff {
            base: BASE.to_owned(),
            ours: "auto".to_owned(),
            energy: "energy_j".to_owned(),
            latency: "wake_latency_us_p99".to_owned(),
            time: vec!["runtime_s".to_owned()],
            energy_pct: 1.0,
            latency_pct: 1.0,
            compared: 2,
            means: vec![mean(over_optimal_pct)],
            beaten: vec![Beaten {
                case: "heavy".to_owned(),
                platform: "hikey960".to_owned(),
                rival: "powersave".to_owned(),
                energy_pct: -3.0,
                latency_pct: -10.0,
            }],
        };
        let result = Study {
            tradeoff: Some(tradeoff),
            ..fake()
        };
        crate::study(&result, Format::Md, Style::default())
    };
    let plain = of(None);
    for line in [
        "| all | 2 | auto | 0.900 | 1.250 |  | 0.950 (light) |\n",
        "| heavy | powersave | -3.00 % | -10.00 % |",
    ] {
        assert!(plain.contains(line), "{line}\n{plain}");
    }
    let known = "| all | 2 | auto | 0.900 | 1.250 |  | 0.950 (light) | 12.3 % |";
    assert!(of(Some(12.34)).contains(known), "{}", of(Some(12.34)));
}
