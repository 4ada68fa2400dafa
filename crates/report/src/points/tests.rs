//! Points of a sweep: each run once, changes from the base, and what is chosen
//! (docs/guide/results.md, "Sweeps").
//!
//! What must stay: columns for programs are found by name.
//! Tests by part (in crates/report/src): points.rs: `each_run_counts_once` (`add`, `row`); the
//! files of its folder name theirs.
//! Helpers, and who fails with them: `run`, `column` (all tests), `sweep`, `table` (most),
//! `with_frames` (`the_chosen_point_comes_with_its_figures`).

use super::{Bases, Choice, FoundPoints, Points, SweepFacts};
use crate::{Format, Style};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use wakeplace_metrics::Expectation;
use wakeplace_study::{Axis, Design, Request, RunRecord, Source, Sweep};

const ENERGY: &str = "cpu_energy_j";

/// A run of a point with a value of `boost` on a platform.
fn run(boost: &str, platform: &str, seed: u64, energy: f64) -> RunRecord {
    RunRecord {
        labels: vec![("runnable_boost_pct".to_owned(), boost.to_owned())],
        platform: platform.to_owned(),
        platform_hash: format!("hash of {platform}"),
        workload: "w".to_owned(),
        policy: "linux-7.3".to_owned(),
        settings: format!(r#"{{"busy_factor": "16", "runnable_boost_pct": "{boost}"}}"#),
        options: r#"{"model.ipi_ns": "1000"}"#.to_owned(),
        seed,
        event_hash: format!("{seed:016x}"),
        behaviour_hash: format!("{:016x}", energy.to_bits()),
        metrics: [(ENERGY.to_owned(), energy)].into(),
        ..RunRecord::default()
    }
}

/// Two boosts on two platforms; nothing of it is run.
fn sweep() -> Sweep {
    let base = Request {
        platforms: ["hikey960", "juno-r0"].map(Source::named).to_vec(),
        workloads: vec![Source::named("periodic:n=1")],
        policies: vec!["linux-7.3".to_owned()],
        seeds: vec![1, 2, 3],
        ..Request::default()
    };
    let axes = vec![Axis::parse("runnable_boost_pct=0,50").expect("an axis")];
    Sweep::new(base, axes, Design::Grid).expect("a sweep")
}

/// The runs of its points: by hand, 50 takes four times the energy of 0 on the one, and a quarter
/// of it on the other.
fn points() -> Vec<Vec<RunRecord>> {
    vec![
        point("0", "hikey960", [1.0, 2.0, 4.0]),
        point("0", "juno-r0", [4.0, 8.0, 16.0]),
        point("50", "hikey960", [4.0, 8.0, 16.0]),
        point("50", "juno-r0", [1.0, 2.0, 4.0]),
    ]
}

/// The runs of a point, seed by seed.
fn point(boost: &str, platform: &str, energies: [f64; 3]) -> Vec<RunRecord> {
    let seeds = [1, 2, 3].into_iter().zip(energies);
    seeds
        .map(|(seed, energy)| run(boost, platform, seed, energy))
        .collect()
}

fn labels() -> Vec<String> {
    vec!["runnable_boost_pct".to_owned()]
}

fn made(change: impl FnOnce(Points) -> Points) -> FoundPoints {
    let mut made = change(Points::new(&labels(), vec![ENERGY.to_owned()]));
    for (number, runs) in points().iter().enumerate() {
        made.add(number, runs);
    }
    made.finish()
}

fn bases() -> Option<Bases> {
    let base = sweep().base_point().expect("a base")?;
    let mut bases = Bases::new(base, &[ENERGY.to_owned()]);
    for (number, runs) in points().iter().enumerate() {
        bases.add(number, runs);
    }
    Some(bases)
}

fn csv(found: &FoundPoints) -> String {
    found
        .table(Format::Csv, (0, 0))
        .render(Format::Csv, Style::default())
}

/// The values of a column of a table in CSV without quotes.
fn column<'a>(csv: &'a str, name: &str) -> Vec<&'a str> {
    let heads: Vec<&str> = csv.lines().next().unwrap_or_default().split(',').collect();
    let at = heads.iter().position(|head| *head == name).expect(csv);
    csv.lines()
        .skip(1)
        .filter_map(|line| line.split(',').nth(at))
        .collect()
}

/// Goal: an interval is as wide as the distinct runs make it, and files that share a name are two
/// points.
#[test]
fn each_run_counts_once() {
    let of = |points: &[&[RunRecord]]| {
        let mut made = Points::new(&[], vec![ENERGY.to_owned()]);
        points
            .iter()
            .enumerate()
            .for_each(|(number, runs)| made.add(number, runs));
        csv(&made.finish())
    };
    let runs = [run("0", "p", 1, 1.0), run("0", "p", 2, 3.0)];
    let twice = [&runs[..], &runs].concat();
    assert_eq!(of(&[&twice[..]]), of(&[&runs[..]]));
    assert!(
        of(&[&runs[..]]).contains("p,w,linux-7.3,2,0,2,"),
        "{}",
        of(&[&runs[..]])
    );
    let same = [run("0", "p", 1, 3.0), run("0", "p", 2, 3.0)];
    assert_eq!(column(&of(&[&same[..], &runs[..]]), "n"), ["1", "2"]);
    let failed = RunRecord {
        error: "stuck".to_owned(),
        ..run("0", "p", 3, 9.0)
    };
    let with = [&runs[..], &[failed]].concat();
    assert_eq!(column(&of(&[&with[..]]), ENERGY), ["2"]);
    assert_eq!(column(&of(&[&with[..]]), "failed"), ["1"]);
}

/// Goal: a program finds the word where joules stand, point by point.
#[test]
fn a_modelled_power_is_told_to_programs() {
    let modelled = RunRecord {
        power: wakeplace_metrics::MODELLED,
        ..run("0", "b", 1, 3.0)
    };
    let mut points = Points::new(&[], vec![ENERGY.to_owned()]);
    points.add(0, &[run("0", "a", 1, 1.0)]);
    points.add(1, &[modelled]);
    let found = points.finish();
    let rows: Value = serde_json::from_str(&found.json(&SweepFacts::default())).expect("JSON");
    assert_eq!(rows["points"][0]["power"], Value::Null);
    assert_eq!(rows["points"][1]["power"], "modelled");
    let table = found
        .table(Format::Csv, (1, 2))
        .render(Format::Csv, Style::default());
    assert!(table.contains("cpu_energy_j (partly modelled),"), "{table}");
}

/// Goal: each point has its change from the point with the base's value and its own machine, paired
/// by seed. By hand: a factor of 4 in every pair is +300 %, its inverse -75 %, with no spread.
#[test]
fn changes_are_from_the_base() {
    // 0 is the first value: the kernel's own, 100, is none of them.
    let found = made(|points| points.compared(bases(), 1.0));
    assert_eq!(found.base().as_deref(), Some("runnable_boost_pct=0"));
    let csv = csv(&found);
    assert_eq!(column(&csv, "base"), ["yes", "yes", "no", "no"]);
    let numbers = |name: &str| -> Vec<Option<f64>> {
        column(&csv, name)
            .into_iter()
            .map(|text| text.parse().ok())
            .collect()
    };
    let near = |found: Vec<Option<f64>>, expected: [f64; 2]| {
        assert_eq!(found[..2], [None, None], "a base has no change");
        for (found, expected) in found[2..].iter().zip(expected) {
            assert!(
                found.is_some_and(|found| (found - expected).abs() < 1e-9),
                "{csv}"
            );
        }
    };
    near(numbers("cpu_energy_j_delta_pct"), [300.0, -75.0]);
    near(numbers("cpu_energy_j_delta_ci95_low"), [300.0, -75.0]);
    near(numbers("cpu_energy_j_delta_ci95_high"), [300.0, -75.0]);
    assert_eq!(
        column(&csv, "cpu_energy_j_difference"),
        ["", "", "worse", "better"]
    );
    let text = found
        .table(Format::Human, (0, 0))
        .render(Format::Human, Style::default());
    for said in [
        "base",
        "+300 % (+300 to +300 %) worse",
        "-75.00 % (-75.0 to -75.0 %) better",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
    // Without a base there are no such columns.
    let alone = made(|points| points);
    let heads = self::csv(&alone);
    assert!(
        !heads.contains("delta") && !heads.contains("base"),
        "{heads}"
    );
    // A seed that only one of both has is left out; a base without results gives no change.
    let mut bases = bases().expect("a base");
    bases.add(0, &points()[0][..1]);
    bases.add(1, &[]);
    let found = made(|points| points.compared(Some(bases), 1.0));
    let csv = self::csv(&found);
    assert_eq!(
        column(&csv, "cpu_energy_j_difference"),
        ["", "", "one run", ""]
    );
}

/// Goal: of each machine the best of those that hold is chosen; nothing that is not told to hold
/// is, and where nothing holds that is said.
#[test]
fn the_best_of_those_that_hold_is_chosen() {
    let chosen = |choice: &str, holds: [bool; 4]| {
        let choice = Choice::of(choice, &labels()).expect("a choice");
        let holds: BTreeMap<usize, bool> = holds.into_iter().enumerate().collect();
        let found = made(|points| points.judged(Some(holds)).choosing(Some(choice)));
        let csv = csv(&found);
        let marks: Vec<bool> = column(&csv, "chosen")
            .iter()
            .map(|word| *word == "yes")
            .collect();
        let said = found.sentences(&["missed_frames_total<=0".to_owned()]);
        (marks, said, found.is_chosen())
    };
    let (marks, said, is_chosen) = chosen("runnable_boost_pct", [false, true, true, true]);
    assert_eq!(marks, [false, true, true, false]);
    assert!(is_chosen);
    assert_eq!(
        said,
        [
            "hikey960: runnable_boost_pct=50 has the least runnable_boost_pct of the one of 2 \
             points that holds: missed_frames_total<=0.",
            "juno-r0: runnable_boost_pct=0 has the least runnable_boost_pct of the 2 of 2 points \
             that hold: missed_frames_total<=0.",
        ]
    );
    // By energy: 0 takes less on the one, 50 on the other.
    let (marks, ..) = chosen(ENERGY, [true; 4]);
    assert_eq!(marks, [true, false, false, true]);
    let (marks, said, is_chosen) = chosen(ENERGY, [false, true, false, true]);
    assert_eq!(marks, [false, false, false, true]);
    assert!(!is_chosen);
    assert_eq!(
        said[0],
        "hikey960: none of 2 points holds: missed_frames_total<=0."
    );
    // A point with a run that has no result is not chosen.
    let mut points = Points::new(&labels(), vec![ENERGY.to_owned()]);
    points = points.choosing(Choice::usual(&[ENERGY.to_owned()]));
    let stuck = RunRecord {
        error: "stuck".to_owned(),
        ..run("0", "p", 2, 1.0)
    };
    points.add(0, &[run("0", "p", 1, 1.0), stuck]);
    points.add(1, &[run("50", "p", 1, 2.0)]);
    let found = points.finish();
    assert_eq!(column(&csv(&found), "chosen"), ["no", "yes"]);
    assert_eq!(
        found.sentences(&[]),
        ["runnable_boost_pct=50 has the least cpu_energy_j of 2 points."]
    );
}

/// What is said of the least boost that holds these conditions. On `hikey960` 50 takes half of the
/// energy of 0 twice and twice of it once: 4/3 against 5/3. On `juno-r0` it takes a quarter: 7/3
/// against 28/3.
fn said_of(conditions: &[&str], holds: [bool; 4]) -> Vec<String> {
    let mut all = points();
    all[0] = point("0", "hikey960", [2.0, 2.0, 1.0]);
    all[2] = point("50", "hikey960", [1.0, 1.0, 2.0]);
    let base = sweep().base_point().expect("a base").expect("one");
    let mut bases = Bases::new(base, &[ENERGY.to_owned()]);
    for (number, runs) in all.iter().enumerate() {
        bases.add(number, runs);
    }
    let parsed = conditions.iter().map(|text| Expectation::parse(text));
    let parsed = parsed.collect::<Result<Vec<_>, _>>().expect("conditions");
    let choice = Choice::of("runnable_boost_pct", &labels()).expect("a key");
    let mut points = Points::new(&labels(), vec![ENERGY.to_owned()])
        .compared(Some(bases), 1.0)
        .judged(Some(holds.into_iter().enumerate().collect()))
        .choosing(Some(choice.among(&parsed)));
    for (number, runs) in all.iter().enumerate() {
        points.add(number, runs);
    }
    let words: Vec<String> = conditions.iter().map(|text| (*text).to_owned()).collect();
    points.finish().sentences(&words)
}

/// Goal: beside a chosen point stand the change that is not told and the larger values that fail;
/// where none holds, the nearest.
#[test]
fn a_choice_says_what_it_leaves_open() {
    let said = said_of(&["cpu_energy_j<=1.5"], [false, false, true, false]);
    assert_eq!(
        said,
        [
            "hikey960: runnable_boost_pct=50 has the least runnable_boost_pct of the one of 2 \
             points that holds: cpu_energy_j<=1.5; the change of cpu_energy_j from the base is not \
             told.",
            "juno-r0: none of 2 points holds: cpu_energy_j<=1.5; nearest: runnable_boost_pct=50 \
             with cpu_energy_j 2.333.",
        ]
    );
    // The base has no change from itself; a quarter in every pair is told.
    let said = said_of(&["cpu_energy_j>=1.5"], [true, false, false, true]);
    assert_eq!(
        said,
        [
            "hikey960: runnable_boost_pct=0 has the least runnable_boost_pct of the one of 2 \
             points that holds: cpu_energy_j>=1.5; 50 above it fails.",
            "juno-r0: runnable_boost_pct=50 has the least runnable_boost_pct of the one of 2 \
             points that holds: cpu_energy_j>=1.5.",
        ]
    );
}

/// Goal: 5/3 misses both conditions by little, 4/3 one of them by more; a base is held to no change
/// from itself, so it misses none and there is nothing to say.
#[test]
fn the_nearest_misses_the_fewest() {
    let said = said_of(&["cpu_energy_j<=1.5", "cpu_energy_j>=2"], [false; 4]);
    assert!(
        said[0].ends_with("; nearest: runnable_boost_pct=50 with cpu_energy_j 1.333."),
        "{said:?}"
    );
    let said = said_of(&["cpu_energy_j<=-90%"], [false; 4]);
    assert!(
        said[1].ends_with("; nearest: runnable_boost_pct=50 with cpu_energy_j -75.00 %."),
        "{said:?}"
    );
}

/// What is measured of the points: energy, what is neither good nor bad, and frames.
const FIGURES: [&str; 4] = [
    "energy_j",
    "wakeups_total",
    "missed_frames_total",
    "missed_frames_pct",
];

/// The points with so many of their seeds: two frames of four are missed everywhere, and the least
/// boost that misses no more than nine is chosen.
fn with_frames(seeds: usize, power: &'static str) -> FoundPoints {
    let metrics = FIGURES.map(str::to_owned);
    let measured = |record: RunRecord| {
        let energy = record.metrics[ENERGY];
        let values = metrics.iter().cloned().zip([energy, energy, 2.0, 50.0]);
        RunRecord {
            power,
            metrics: values.collect(),
            ..record
        }
    };
    let part = |runs: Vec<RunRecord>| {
        let kept = runs.into_iter().take(seeds);
        kept.map(measured).collect::<Vec<_>>()
    };
    let all: Vec<Vec<RunRecord>> = points().into_iter().map(part).collect();
    let base = sweep().base_point().expect("a base").expect("one");
    let mut bases = Bases::new(base, &metrics);
    for (number, runs) in all.iter().enumerate() {
        bases.add(number, runs);
    }
    let condition = Expectation::parse("missed_frames_total<=9").expect("a condition");
    let choice = Choice::of("runnable_boost_pct", &labels()).expect("a key");
    let holds = [(0_usize, false), (1, true), (2, true), (3, false)];
    let mut points = Points::new(&labels(), metrics.to_vec())
        .compared(Some(bases), 1.0)
        .judged(Some(holds.into()))
        .choosing(Some(choice.among(&[condition])));
    for (number, runs) in all.iter().enumerate() {
        points.add(number, runs);
    }
    points.finish()
}

/// Goal: the chosen point stands first with what it was chosen by, then one metric of each other
/// unit, and its changes; what did not change says so. By hand: four times the energy of the base
/// is +300 % in every pair, two frames of two are no change, and one seed tells nothing of chance.
#[test]
fn the_chosen_point_comes_with_its_figures() {
    let found = with_frames(3, "");
    let said = found.answer(&[]);
    // (4 + 8 + 16) / 3 J, and the base with as much of its own.
    assert_eq!(
        [&said[0], &said[2]],
        [
            "chosen of hikey960: runnable_boost_pct=50: 2 missed frames (as the base), 9.333 J \
             (+300.0 % [+300, +300] from the base), 9.333 wake-ups (+300.0 % [+300, +300]), \
             missed_frames_pct 50 % (as the base)",
            "chosen of juno-r0: runnable_boost_pct=0: 2 missed frames, 9.333 J, 9.333 wake-ups, \
             missed_frames_pct 50 %",
        ]
    );
    assert_eq!(found.chosen().iter().copied().collect::<Vec<_>>(), [1, 2]);
    let value: Value = serde_json::from_str(&found.json(&SweepFacts::default())).expect("JSON");
    let figures = &value["choice"]["groups"][0]["figures"];
    let names = figures.as_array().expect("figures").iter();
    let names: Vec<&str> = names.filter_map(|one| one["metric"].as_str()).collect();
    assert_eq!(names, [FIGURES[2], FIGURES[0], FIGURES[1], FIGURES[3]]);
    assert_eq!(figures[1]["difference"], "worse");
    let pct = figures[1]["delta_pct"].as_f64().expect("a change");
    assert!((pct - 300.0).abs() < 1e-9, "{pct}");
    // Nobody measured this power.
    let said = with_frames(1, wakeplace_metrics::MODELLED).answer(&[]);
    let part = "modelled 4 J (+300.0 % from the base, one run)";
    assert!(said[0].contains(part), "{said:?}");
}

/// Goal: a varied key is compared by its number, be it a percentage or a time; a name is near.
#[test]
fn what_can_be_chosen_by() {
    let values = |values: [&str; 3]| {
        let mut points = Points::new(&labels(), vec![]);
        points = points.choosing(Some(
            Choice::of("runnable_boost_pct", &labels()).expect("a key"),
        ));
        for (number, value) in values.into_iter().enumerate() {
            points.add(number, &[run(value, "p", 1, 1.0)]);
        }
        let csv = csv(&points.finish());
        column(&csv, "chosen")
            .iter()
            .position(|word| *word == "yes")
    };
    assert_eq!(values(["100", "20", "3"]), Some(2));
    assert_eq!(values(["20%", "5%", "10%"]), Some(1));
    assert_eq!(values(["1s", "20ms", "5000us"]), Some(2));
    assert_eq!(values(["off", "on", "v3"]), None);
    let error = |name: &str| Choice::of(name, &labels()).expect_err(name);
    assert!(error("runnable_boost_pc").contains("did you mean `runnable_boost_pct`?"));
    assert!(
        error("cpu_energy").contains("cpu_energy_j"),
        "{}",
        error("cpu_energy")
    );
    let metrics = ["migrations_of_nothing", "throughput_per_s"].map(str::to_owned);
    let usual = Choice::usual(&metrics).expect("a judged one");
    assert_eq!(usual.metric(), Some("throughput_per_s"));
}

/// Goal: the JSON has all that a difference of two sweeps needs, and what all points share once.
#[test]
fn a_sweep_is_its_points_and_their_runs() {
    let found = made(|points| points.compared(bases(), 1.0).with_runs());
    let text = found.json(&SweepFacts {
        commit: "abc".to_owned(),
        warnings: vec!["beware".to_owned()],
        ..SweepFacts::default()
    });
    let value: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(value["schema_version"], 1);
    assert_eq!(value["base"], json!({"runnable_boost_pct": "0"}));
    assert_eq!(value["warnings"], json!(["beware"]));
    assert_eq!(value["settings"]["busy_factor"], "16");
    assert_eq!(value["settings"]["model.ipi_ns"], "1000");
    let runs = &value["point_runs"];
    assert_eq!(runs.as_array().map(Vec::len), Some(4));
    assert_eq!(runs[0]["settings"], json!({}));
    assert_eq!(runs[2]["settings"], json!({"runnable_boost_pct": "50"}));
    assert_eq!(runs[2]["values"], json!({"runnable_boost_pct": "50"}));
    assert_eq!(runs[2]["seed_runs"][1]["seed"], 2);
    assert_eq!(
        runs[2]["seed_runs"][1]["metrics"],
        json!({"cpu_energy_j": 8.0})
    );
    let read: wakeplace_outcome::Sweep = serde_json::from_str(&text).expect("a sweep");
    assert_eq!(serde_json::to_value(read).expect("JSON"), value);
}

/// Goal: what a point shares with the first is kept once, whatever the number of points; what it
/// lacks is null. By hand: three settings, of which the second point changes one and the third
/// lacks one and has one more.
#[test]
fn a_point_keeps_the_settings_of_its_own() {
    let of = |boost: &str, settings: &str| RunRecord {
        settings: settings.to_owned(),
        ..run(boost, "p", 1, 1.0)
    };
    let mut points = Points::new(&labels(), vec![ENERGY.to_owned()]).with_runs();
    points.add(0, &[of("0", r#"{"a": "1", "b": "2"}"#)]);
    points.add(1, &[of("50", r#"{"a": "1", "b": "3"}"#)]);
    points.add(2, &[of("75", r#"{"b": "2", "c": "4"}"#)]);
    points.add(3, &[of("100", r#"{"a": "1", "b": "2"}"#)]);
    let found = points.finish();
    let kept = { found.rows.iter() }.map(|row| row.runs.as_ref().expect("runs").settings.len());
    assert_eq!(kept.collect::<Vec<_>>(), [0, 1, 2, 0]);
    let text = found.json(&SweepFacts::default());
    let value: Value = serde_json::from_str(&text).expect("JSON");
    let shared = json!({"a": "1", "b": "2", "model.ipi_ns": "1000"});
    assert_eq!(value["settings"], shared);
    let own = |at: usize| &value["point_runs"][at]["settings"];
    assert_eq!(own(1), &json!({"b": "3"}));
    assert_eq!(own(2), &json!({"a": null, "c": "4"}));
}
