//! Two results side by side (docs/guide/results.md, "Two results").
//!
//! What must stay: pairs are of one seed; what has no pair is said.
//! Tests by part (in crates/report/src): diff.rs: `runs_of_one_seed_are_a_pair` (`difference`,
//! `settings`, `policy_runs`), `the_most_alike_are_a_pair` (`diff`, `asked`),
//! `what_has_no_pairs_is_refused` (errors); diff/kept.rs: `runs_of_one_seed_are_a_pair`
//! (`of_comparison`), `the_most_alike_are_a_pair` (`alike`, `names`),
//! `what_has_no_pairs_is_refused` (`check`, `hash`), `settings_are_shared_and_few` (`Settings`).
//! Helpers, and who fails with them: `result`, `source` (all tests).

use super::diff;
use crate::{Format, Source, Style, comparisons};
use serde_json::{Value, json};

/// A result of one policy: by seed the energy, and what was asked.
fn result(asked: [&str; 3], knob: &str, joules: &[(u64, f64)]) -> String {
    let [platform, workload, policy] = asked;
    let run = |(seed, joules): &(u64, f64)| {
        json!({
            "seed": seed, "event_hash": "0000000000000001",
            "behaviour_hash": format!("{:016x}", joules.to_bits()),
            "metrics": { "cpu_energy_j": joules, "of_another_version": 7.0 },
        })
    };
    let runs: Vec<Value> = joules.iter().map(run).collect();
    let seeds: Vec<u64> = joules.iter().map(|(seed, _)| *seed).collect();
    json!({
        "schema_version": 2, "version": "0.1.0", "duration_ns": 1_000_000_000,
        "settings": {}, "options": { "model.ipi_ns": "1000" }, "margin_pct": 1.0,
        "runs": [{
            "platform": platform, "workload": workload, "policy": policy, "seeds": seeds,
            "settings": { "busy_factor": knob }, "metrics": {}, "seed_runs": runs,
        }],
    })
    .to_string()
}

const ASKED: [&str; 3] = ["board", "load", "linux-7.3"];

fn source<'a>(name: &'a str, text: &'a str) -> Source<'a> {
    Source { name, text }
}

/// Goal: pairs are of one seed, in whatever order; the seed that only one has is left out, and so
/// is a metric that nobody knows. By hand: 2 -> 1, 4 -> 2 and 8 -> 4 J are -50 % in every pair.
#[test]
fn runs_of_one_seed_are_a_pair() {
    let old = result(ASKED, "16", &[(1, 2.0), (2, 4.0), (3, 8.0), (9, 99.0)]);
    let new = result(ASKED, "32", &[(3, 4.0), (1, 1.0), (2, 2.0)]);
    let found = diff(source("a.json", &old), source("b.json", &new), None).expect("alike");
    assert_eq!(found.pairs.len(), 1);
    let asked = [
        "busy_factor: 16, then 32",
        "seeds that are only before, left out: 1",
    ];
    assert_eq!(found.pairs[0].asked, asked);
    let json = comparisons(&found.comparisons(), Format::Json, Style::default());
    let value: Value = serde_json::from_str(&json).expect("JSON");
    let deltas = value["deltas"].as_array().expect("deltas");
    assert_eq!(deltas.len(), 1, "{deltas:?}");
    assert_eq!(deltas[0]["metric"], "cpu_energy_j");
    assert!((deltas[0]["delta_pct"].as_f64().expect("a change") + 50.0).abs() < 1e-9);
    assert_eq!(
        (&deltas[0]["base"], &deltas[0]["other"]),
        (&json!("linux-7.3, before"), &json!("linux-7.3, after"))
    );
    assert_eq!(
        value["notes"][0],
        "asked otherwise: busy_factor: 16, then 32"
    );
    let text = found.text(Style::default());
    let starts = "a.json → b.json: 1 pair, 0 worse, 1 better, 0 not told, 0 the same\n\n\
                  board, load, linux-7.3: asked otherwise\n  busy_factor";
    assert!(text.starts_with(starts), "{text}");
}

/// Goal: what has the same names is a pair; then what differs in some of them and has no rival, on
/// either side, which is said; what is left stands alone.
#[test]
fn the_most_alike_are_a_pair() {
    let runs = [(1, 2.0), (2, 4.0)];
    let old = result(ASKED, "16", &runs);
    let new = result(["other", "load", "linux-7.3"], "16", &runs);
    let found = diff(source("a.json", &old), source("b.json", &new), Some(3.0)).expect("alike");
    assert_eq!(found.pairs[0].asked, ["platform: board, then other"]);
    assert_eq!(found.pairs[0].runs.margin_pct, 3.0);
    let mut two: Value = serde_json::from_str(&old).expect("JSON");
    let mut second = two["runs"][0].clone();
    second["policy"] = json!("linux-5.0");
    two["runs"].as_array_mut().expect("runs").push(second);
    let two = two.to_string();
    let found = diff(source("a.json", &two), source("b.json", &old), None).expect("alike");
    assert_eq!(found.pairs.len(), 1);
    assert!(found.pairs[0].asked.is_empty());
    assert_eq!(found.alone, ["only in a.json: board, load, linux-5.0"]);
    let same = "in every run the same happened, before and after";
    assert_eq!(found.pairs[0].runs.notes, [same]);
    // Nothing in common, and no rival.
    let new = result(["other", "another", "linux-5.0"], "16", &runs);
    let found = diff(source("a.json", &old), source("b.json", &new), None).expect("alike");
    assert_eq!(found.pairs[0].asked.len(), 3, "{:?}", found.pairs[0].asked);
    // Two policies of the earlier one are as like to the later one's: neither is its pair.
    let new = result(["board", "load", "linux-4.17"], "16", &runs);
    for files in [[&two, &new], [&new, &two]] {
        let refused = diff(source("a.json", files[0]), source("b.json", files[1]), None);
        let said = refused.expect_err("a rival").to_string();
        assert!(
            said.starts_with("b.json: has nothing that is alike in a.json"),
            "{said}"
        );
    }
}

/// Goal: what cannot be compared is said in one sentence.
#[test]
fn what_has_no_pairs_is_refused() {
    let old = result(ASKED, "16", &[(1, 2.0)]);
    let new = result(ASKED, "16", &[(2, 2.0)]);
    let refused = |old: &str, new: &str| {
        let error = diff(source("a.json", old), source("b.json", new), None).expect_err("refused");
        error.to_string()
    };
    let seeds = "b.json: has no seed of a.json for board, load, linux-7.3; expected the JSON of";
    assert!(
        refused(&old, &new).starts_with(seeds),
        "{}",
        refused(&old, &new)
    );
    let twice = result(ASKED, "16", &[(2, 2.0), (2, 3.0)]);
    assert!(refused(&twice, &new).contains("a seed stands twice"));
    let hash = new.replace("\"behaviour_hash\":\"4", "\"behaviour_hash\":\"x");
    assert!(
        refused(&hash, &new).contains("no hash"),
        "{}",
        refused(&hash, &new)
    );
    let key = new.replace("\"of_another_version\"", "\"cpu_energy_j\"");
    assert!(
        refused(&key, &new).contains("a metric stands twice"),
        "{}",
        refused(&key, &new)
    );
    let none = result(ASKED, "16", &[]);
    assert!(
        refused(&none, &new).contains("no single runs"),
        "{}",
        refused(&none, &new)
    );
    assert!(refused("{}", &new).contains("has no `schema_version`"));
}

/// Goal: results of earlier programs have the time of a jitter in nanoseconds, which is no
/// difference.
#[test]
fn a_jitter_of_before_is_the_same() {
    let with = |jitter: &str| {
        let mut value: Value =
            serde_json::from_str(&result(ASKED, "16", &[(1, 2.0), (2, 4.0)])).expect("JSON");
        value["jitter"] = json!(jitter);
        value.to_string()
    };
    let (old, new) = (with("start=5000000ns,run=5%"), with("start=5ms,run=5%"));
    let found = diff(source("a.json", &old), source("b.json", &new), None).expect("alike");
    assert!(
        found.pairs[0].asked.is_empty(),
        "{:?}",
        found.pairs[0].asked
    );
    let other = with("start=6ms,run=5%");
    let found = diff(source("a.json", &old), source("b.json", &other), None).expect("alike");
    let asked = ["jitter: start=5ms,run=5%, then start=6ms,run=5%"];
    assert_eq!(found.pairs[0].asked, asked);
}

/// Goal: another commit is another program; a result that does not say its commit is none, unless
/// its version is another.
#[test]
fn a_commit_that_is_not_known_is_no_other() {
    let of = |version: &str, commit: Option<&str>| {
        let text = result(ASKED, "16", &[(1, 2.0), (2, 4.0)]);
        let mut value: Value = serde_json::from_str(&text).expect("JSON");
        value["version"] = json!(version);
        value["commit"] = json!(commit);
        value.to_string()
    };
    let asked = |old: &str, new: &str| {
        let found = diff(source("a.json", old), source("b.json", new), None).expect("alike");
        found.pairs[0].asked.clone()
    };
    let (first, second) = (of("0.1.0", Some("abc")), of("0.1.0", Some("def")));
    let unknown = of("0.1.0", None);
    assert_eq!(
        asked(&first, &second),
        ["program: 0.1.0 of commit abc, then 0.1.0 of commit def"]
    );
    let none: [String; 0] = [];
    let built_without = of("0.1.0", Some("unknown"));
    for (old, new) in [
        (&first, &first),
        (&first, &unknown),
        (&unknown, &first),
        (&built_without, &first),
    ] {
        assert_eq!(asked(old, new), none);
    }
    let later = of("0.2.0", None);
    assert_eq!(asked(&first, &later), ["program: 0.1.0, then 0.2.0"]);
}

/// Goal: the page of a difference says of the length what the pages of its results say: the time
/// asked for, unless the tasks of every run ended before; who got stuck did not end.
#[test]
fn a_difference_is_as_long_as_its_results() {
    let of = |ends_ns: Option<[u64; 2]>, complete: bool| {
        let text = result(ASKED, "16", &[(1, 2.0), (2, 4.0)]);
        let mut value: Value = serde_json::from_str(&text).expect("JSON");
        value["duration_ns"] = json!(2_000_000_000_u64);
        value["runs"][0]["complete"] = json!(complete);
        if let Some(ends_ns) = ends_ns {
            value["runs"][0]["end_ns"] = json!(ends_ns);
        }
        value.to_string()
    };
    let whole = 2_000_000_000;
    let chips = ["<li>2 s</li>", "<li>to the end of its tasks</li>"];
    for (ends_ns, complete, chip) in [
        (Some([whole, whole]), true, chips[0]),
        (None, true, chips[0]),
        (Some([500, whole]), true, chips[0]),
        (Some([500, 700]), true, chips[1]),
        (Some([500, 700]), false, chips[0]),
    ] {
        let text = of(ends_ns, complete);
        let found = diff(source("a.json", &text), source("b.json", &text), None).expect("alike");
        let json = comparisons(&found.comparisons(), Format::Json, Style::default());
        for text in [&text, &json] {
            let page = crate::html(&[source("a.json", text)]).expect("a page");
            let has = chips.map(|chip| page.contains(chip));
            assert_eq!(has, chips.map(|one| one == chip), "{ends_ns:?}, {complete}");
        }
    }
}

/// Goal: the first line counts the pairs by what they became; those that differ come first, the
/// largest change first, then what is not told; what is the same is one line without figures. By
/// hand: 2 -> 4 and 3 -> 6 J are twice as much, 2 -> 1.8 and 3 -> 2.7 J a tenth less, and 1 -> 1.5
/// beside 2 -> 1.4 J goes both ways.
#[test]
fn the_first_line_counts_and_what_differs_comes_first() {
    let of = |loads: &[(&str, [f64; 2])]| {
        let run = |(load, [one, two]): &(&str, [f64; 2])| {
            let text = result(["board", load, "linux-7.3"], "16", &[(1, *one), (2, *two)]);
            let value: Value = serde_json::from_str(&text).expect("JSON");
            value["runs"][0].clone()
        };
        let mut value: Value =
            serde_json::from_str(&result(ASKED, "16", &[(1, 1.0)])).expect("JSON");
        value["runs"] = loads.iter().map(run).collect();
        value.to_string()
    };
    let old = of(&[
        ("same", [2.0, 3.0]),
        ("less", [2.0, 3.0]),
        ("both", [1.0, 2.0]),
        ("more", [2.0, 3.0]),
    ]);
    let new = of(&[
        ("same", [2.0, 3.0]),
        ("both", [1.5, 1.4]),
        ("less", [1.8, 2.7]),
        ("more", [4.0, 6.0]),
    ]);
    let found = diff(source("mon.json", &old), source("wed.json", &new), None).expect("alike");
    let text = found.text(Style::default());
    let first = "mon.json → wed.json: 4 pairs, 1 worse, 1 better, 1 not told, 1 the same\n";
    assert!(text.starts_with(first), "{text}");
    let at = |load: &str| {
        text.find(&format!("\nboard, {load}, linux-7.3:"))
            .expect("there")
    };
    let places = ["more", "less", "both", "same"].map(at);
    assert!(places.is_sorted(), "{places:?}\n{text}");
    assert!(
        text.ends_with("\nboard, same, linux-7.3: the same\n"),
        "{text}"
    );
    assert_eq!(text.matches("cpu_energy_j").count(), 3, "{text}");
    // JSON and pages have them as the later result has.
    let order: Vec<&str> = { found.pairs.iter() }
        .map(|pair| pair.runs.workload.as_str())
        .collect();
    assert_eq!(order, ["same", "both", "less", "more"]);
}

/// Goal: Markdown has the first line and the order of the text. By hand: 2 -> 4 and 3 -> 6 J are
/// twice as much, 2 -> 1.8 and 3 -> 2.7 J a tenth less.
#[test]
fn markdown_has_the_order_of_the_text() {
    let of = |loads: [(&str, f64); 3], knob: &str| {
        let run = |(load, joules): (&str, f64)| {
            let runs = [(1, joules), (2, joules * 1.5)];
            let text = result(["board", load, "linux-7.3"], knob, &runs);
            let value: Value = serde_json::from_str(&text).expect("JSON");
            value["runs"][0].clone()
        };
        let mut value: Value =
            serde_json::from_str(&result(ASKED, knob, &[(1, 1.0)])).expect("JSON");
        value["runs"] = loads.map(run).to_vec().into();
        value.to_string()
    };
    let old = of([("same", 2.0), ("less", 2.0), ("more", 2.0)], "16");
    let new = of([("same", 2.0), ("less", 1.8), ("more", 4.0)], "32");
    let found = diff(source("a.json", &old), source("b.json", &new), None).expect("alike");
    let text = found.markdown();
    let first = "a.json → b.json: 3 pairs, 1 worse, 1 better, 0 not told, 1 the same\n\n\
                 ### board, more, linux-7.3: asked otherwise\n\n- busy_factor: 16, then 32\n\n";
    assert!(text.starts_with(first), "{text}");
    let less = text.find("\n### board, less, linux-7.3: asked otherwise\n");
    let same = "\n- board, same, linux-7.3: the same; asked otherwise: busy_factor: 16, then 32\n";
    assert!(text.ends_with(same), "{text}");
    assert!(
        less.is_some_and(|less| less < text.len() - same.len()),
        "{text}"
    );
    assert!(
        text.contains("| cpu_energy_j | linux-7.3, after |"),
        "{text}"
    );
}

/// Goal: a pair whose first metric is not told from chance is not told, and what another metric
/// that its load is read by says stands beside. One that does not matter is judged by the other.
/// By hand: 1 -> 2 and 2 -> 1 missed frames go both ways, 1 and 2 are as before, 2 -> 4 and 3 -> 6
/// J are twice as much.
#[test]
fn what_is_not_told_stays_so_whatever_another_metric_says() {
    let of = |missed: [u32; 2], joules: f64| {
        let text = result(ASKED, "16", &[(1, joules), (2, joules * 1.5)]);
        let mut value: Value = serde_json::from_str(&text).expect("JSON");
        value["measured_by"] = json!(["missed_frames_total", "cpu_energy_j"]);
        for (at, missed) in missed.into_iter().enumerate() {
            value["runs"][0]["seed_runs"][at]["metrics"]["missed_frames_total"] = json!(missed);
        }
        value.to_string()
    };
    let old = of([1, 2], 2.0);
    let first = |new: &str| {
        let found = diff(source("a.json", &old), source("b.json", new), None).expect("alike");
        let text = found.text(Style::default());
        text.lines().next().expect("a line").to_owned()
    };
    let said = |word| format!("a.json → b.json: 1 pair, {word}, 0 the same");
    for (missed, joules, word) in [
        ([2, 1], 2.0, "0 worse, 0 better, 1 not told"),
        (
            [2, 1],
            4.0,
            "0 worse, 0 better, 1 not told (1 worse by another metric)",
        ),
        (
            [2, 1],
            1.0,
            "0 worse, 0 better, 1 not told (1 better by another metric)",
        ),
        ([1, 2], 4.0, "1 worse, 0 better, 0 not told"),
    ] {
        assert_eq!(first(&of(missed, joules)), said(word));
    }
}

/// Goal: between runs of unlike length a sum has no word, in no form, and what is no sum has one.
/// By hand: 2 -> 4 and 3 -> 6 J in twice the time, and 100 -> 200 us of latency.
#[test]
fn what_grows_with_the_length_is_not_judged() {
    let of = |joules: f64, latency_us: f64, duration_ns: u64| {
        let text = result(ASKED, "16", &[(1, joules), (2, joules * 1.5)]);
        let mut value: Value = serde_json::from_str(&text).expect("JSON");
        value["duration_ns"] = json!(duration_ns);
        for at in 0..2 {
            value["runs"][0]["seed_runs"][at]["metrics"]["wake_latency_us_p99"] = json!(latency_us);
        }
        value.to_string()
    };
    let old = of(2.0, 100.0, 1_000_000_000);
    let words = |new: &str| {
        let found = diff(source("a.json", &old), source("b.json", new), None).expect("alike");
        let json = comparisons(&found.comparisons(), Format::Json, Style::default());
        let value: Value = serde_json::from_str(&json).expect("JSON");
        let word = |metric: &str| {
            let mut deltas = value["deltas"].as_array().expect("deltas").iter();
            let own = deltas.find(|delta| delta["metric"] == metric);
            own.expect("a change")["difference"].clone()
        };
        let page = crate::html(&[source("d.json", &json)]).expect("a page");
        let verdict = value["verdicts"][0]["metric"].clone();
        (
            [word("cpu_energy_j"), word("wake_latency_us_p99"), verdict],
            found.text(Style::default()).contains("lengths differ"),
            page.contains("lengths differ"),
        )
    };
    let longer = words(&of(4.0, 200.0, 2_000_000_000));
    let expected = [Value::Null, json!("worse"), json!("wake_latency_us_p99")];
    assert_eq!(longer, (expected, true, true));
    let alike = words(&of(4.0, 200.0, 1_000_000_000));
    let expected = [json!("worse"), json!("worse"), json!("cpu_energy_j")];
    assert_eq!(alike, (expected, false, false));
}

/// Goal: of two loads of one name in a file each finds its own, in whatever order, and none takes
/// the place of the other.
#[test]
fn what_has_one_name_is_told_by_its_inputs() {
    let both = |loads: [(char, f64); 2]| {
        let of = |(hash, joules): (char, f64)| -> Value {
            let text = result(ASKED, "16", &[(1, joules), (2, joules)]);
            let mut value: Value = serde_json::from_str(&text).expect("JSON");
            value["runs"][0]["workload_hash"] = json!(hash.to_string().repeat(32));
            value
        };
        let all: Vec<Value> = loads.into_iter().map(of).collect();
        json!({"schema_version": 2, "version": "0.1.0", "comparisons": all}).to_string()
    };
    let means = |old: &str, new: &str| -> Vec<[f64; 2]> {
        let found = diff(source("a.json", old), source("b.json", new), None).expect("alike");
        let joules = |at: usize, pair: &crate::Difference| {
            pair.runs.runs[at].metrics[0]
                .values
                .get("cpu_energy_j")
                .expect("joules")
        };
        let pairs = found.pairs.iter();
        pairs
            .map(|pair| [joules(0, pair), joules(1, pair)])
            .collect()
    };
    let old = both([('a', 1.0), ('b', 2.0)]);
    let new = both([('b', 20.0), ('a', 10.0)]);
    assert_eq!(means(&old, &new), [[2.0, 20.0], [1.0, 10.0]]);
    // One has changed since: it is what is left.
    let new = both([('c', 20.0), ('a', 10.0)]);
    assert_eq!(means(&old, &new), [[2.0, 20.0], [1.0, 10.0]]);
}

/// Goal: two sweeps are compared point by point; what they have in common is found by what is
/// varied, in whatever order, and a point that only one has is told.
#[test]
fn points_of_sweeps_are_paired_by_what_is_varied() {
    let sweep = |boosts: &[(&str, f64)], knob: &str| {
        let row = |(boost, _): &(&str, f64)| {
            json!({"boost": boost, "workload.n": "2", "platform": "board", "policy": "p",
                "workload": "periodic:duty=5%,n=2", "n": 2, "failed": 0})
        };
        let runs = |(boost, joules): &(&str, f64)| {
            let run = |seed: u64| {
                json!({"seed": seed, "event_hash": "0000000000000001",
                    "behaviour_hash": format!("{:016x}", joules.to_bits() + seed),
                    "metrics": {"cpu_energy_j": joules}})
            };
            json!({"platform": "board", "platform_hash": "", "workload": "periodic:duty=5%,n=2",
                "workload_hash": "", "policy": "p", "duration_ns": 1_000_000_000, "jitter": null,
                "values": {"boost": boost, "workload.n": "2"}, "settings": {"boost": boost},
                "seed_runs": [run(1), run(2)]})
        };
        json!({
            "schema_version": 1, "version": "0.1.0", "margin_pct": 2.0,
            "varied": ["boost", "workload.n"],
            "settings": {"boost": boosts[0].0, "busy_factor": knob},
            "points": boosts.iter().map(row).collect::<Vec<_>>(),
            "point_runs": boosts.iter().map(runs).collect::<Vec<_>>(),
        })
        .to_string()
    };
    let old = sweep(&[("0", 1.0), ("50", 2.0), ("75", 3.0)], "16");
    let new = sweep(&[("50", 4.0), ("0", 1.5), ("100", 9.0)], "32");
    let found = diff(source("a.json", &old), source("b.json", &new), None).expect("alike");
    let places: Vec<&str> = found.pairs.iter().map(|pair| pair.place.as_str()).collect();
    let load = "workload.n=2, periodic:duty=5%";
    let of = |boost: &str| format!("board, boost={boost}, {load}");
    // What is left of both has two of three names in common, and no rival.
    assert_eq!(places, [of("50"), of("0"), of("100")]);
    let changes: Vec<f64> = { found.pairs.iter() }
        .map(|pair| {
            let [old, new] =
                [0, 1].map(|at| pair.runs.runs[at].metrics[0].values.get("cpu_energy_j"));
            new.expect("joules") / old.expect("joules")
        })
        .collect();
    assert_eq!(changes, [2.0, 1.5, 3.0]);
    assert_eq!(found.pairs[0].asked, ["busy_factor: 16, then 32"]);
    assert_eq!(found.pairs[0].runs.margin_pct, 2.0);
    // A sweep of an earlier program has no single runs.
    let mut before: Value = serde_json::from_str(&old).expect("JSON");
    before
        .as_object_mut()
        .expect("an object")
        .remove("point_runs");
    let refused = diff(
        source("a.json", &before.to_string()),
        source("b.json", &new),
        None,
    );
    let said = refused.expect_err("no runs").to_string();
    assert!(
        said.starts_with("a.json: is a sweep without single runs"),
        "{said}"
    );
}

/// Goal: what all points share is compared though it stands once, what a point lacks is absent, and
/// a file with settings by the thousand is refused. By hand: 4096 with the point's own are taken.
#[test]
fn settings_are_shared_and_few() {
    let sweep = |shared: &Value, own: &Value| {
        let run = json!({"seed": 1, "event_hash": "0000000000000001",
            "behaviour_hash": "0000000000000001", "metrics": {"cpu_energy_j": 1.0}});
        json!({
            "schema_version": 1, "version": "0.1.0", "varied": [], "settings": shared,
            "points": [{"platform": "board", "workload": "w", "policy": "p", "n": 1, "failed": 0}],
            "point_runs": [{"platform": "board", "platform_hash": "", "workload": "w",
                "workload_hash": "", "policy": "p", "duration_ns": 1_000_000_000, "jitter": null,
                "values": {}, "settings": own, "seed_runs": [run]}],
        })
        .to_string()
    };
    let old = sweep(&json!({"a": "1", "b": "2", "c": "3"}), &json!({}));
    let new = sweep(
        &json!({"a": "1", "b": "2", "c": "3"}),
        &json!({"a": null, "b": "4"}),
    );
    let found = diff(source("a.json", &old), source("b.json", &new), None).expect("alike");
    let asked = ["a: 1, then absent", "b: 2, then 4"];
    assert_eq!(found.pairs[0].asked, asked);
    let comparison = &found.comparisons()[0];
    let kept = [0, 1].map(|at| {
        let all = comparison.runs[at].settings.iter();
        let all: Vec<String> = all.map(|(key, value)| format!("{key}={value}")).collect();
        all.join(" ")
    });
    assert_eq!(kept, ["a=1 b=2 c=3", "b=4 c=3"]);
    let many = |shared: usize| {
        let all = (0..shared).map(|at| (format!("k{at}"), json!("1")));
        sweep(&Value::Object(all.collect()), &json!({"own": "1"}))
    };
    let compared = |text: &str| diff(source("a.json", text), source("b.json", text), None);
    assert!(compared(&many(4095)).is_ok());
    let error = compared(&many(4096)).expect_err("too many").to_string();
    assert!(error.contains("more than 4096 settings"), "{error}");
}
