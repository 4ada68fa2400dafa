use super::front::{chosen, front};
use crate::html::{Source, charts, html};
use serde_json::{Value, json};

/// A point with a mean of each metric and an interval of a tenth.
fn point(names: &[(&str, &str)], energy: f64, latency: f64) -> Value {
    let mut row = json!({});
    for (key, value) in names {
        row[*key] = json!(value);
    }
    row["n"] = json!(3);
    row["failed"] = json!(0);
    for (name, value) in [("energy_j", energy), ("wake_latency_us_p99", latency)] {
        row[name] = json!(value);
        row[format!("{name}_ci95")] = json!(value / 10.0);
    }
    row["power"] = Value::Null;
    row
}

/// Three values of an axis on two machines. By hand, on `a`: (1, 10), (2, 4), (5, 3) are a front,
/// scaled (0, 1), (1/4, 1/7), (1, 0). On `b` the first has less of both than all others.
fn sweep() -> Value {
    let of = |boost, platform, energy, latency| {
        let names = [
            ("boost", boost),
            ("platform", platform),
            ("workload", "w"),
            ("policy", "p"),
        ];
        point(&names, energy, latency)
    };
    json!({"schema_version": 1, "points": [
        of("0", "a", 1.0, 10.0), of("0", "b", 10.0, 1.0),
        of("50", "a", 2.0, 4.0), of("50", "b", 20.0, 2.0),
        of("100", "a", 5.0, 3.0), of("100", "b", 30.0, 3.0),
    ]})
}

fn source(text: &str) -> Source<'_> {
    Source {
        name: "sweep.json",
        text,
    }
}

fn drawn(value: &Value) -> Vec<Value> {
    let text = charts(source(&value.to_string())).expect("a sweep");
    serde_json::from_str(&text).expect("charts")
}

/// Goal: the front and the chosen point are those that one finds by hand.
#[test]
fn the_front_is_by_hand() {
    let all = [
        (0, [1.0, 10.0]),
        (1, [2.0, 4.0]),
        (2, [3.0, 4.0]),
        (3, [9.0, 1.0]),
        (4, [5.0, 5.0]),
        (5, [2.0, 4.0]),
    ];
    let found = front(&all);
    let places: Vec<usize> = found.iter().map(|(at, _)| *at).collect();
    assert_eq!(places, [0, 1, 5, 3]);
    // Scaled: (0, 1), (1/8, 1/3), (1, 0); the second is nearest to (0, 0), the first of two.
    assert_eq!(chosen(&found), Some(1));
    assert_eq!(chosen(&found[..1]), Some(0));
    assert_eq!(chosen(&[]), None);
}

/// Goal: each machine has a front of its own, a line along the axis and its rows in the table.
#[test]
fn a_sweep_has_its_pictures() {
    let page = html(&[source(&sweep().to_string())]).expect("a page");
    for said in [
        "Sweep of boost, platform",
        "a: boost=50 is nearest to the best of both: Energy 2\u{a0}J",
        "b: boost=0 is nearest to the best of both: Energy 10\u{a0}J",
    ] {
        assert!(page.contains(said), "{said}");
    }
    let all = drawn(&sweep());
    let titles: Vec<&str> = all
        .iter()
        .filter_map(|chart| chart["title"].as_str())
        .collect();
    assert_eq!(
        titles,
        ["Energy and Wake-up latency, 99th percentile", "Along boost"]
    );
    let values = all[0]["specs"][""]["data"]["values"]
        .as_array()
        .expect("points")
        .clone();
    let kinds = |kind: &str| {
        let own = values.iter().filter(|value| value["kind"] == kind);
        own.map(|value| value["point"].as_str().unwrap_or_default().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(kinds("chosen"), ["boost=0, b", "boost=50, a"]);
    assert_eq!(kinds("front"), ["boost=0, a", "boost=100, a"]);
    // Whiskers are the intervals of both metrics: a tenth to both sides of 2 and 4.
    let whiskers = |value: &Value| {
        ["x_low", "x_high", "y_low", "y_high"].map(|key| value[key].as_f64().unwrap_or(-1.0))
    };
    let middle = values.iter().find(|value| value["point"] == "boost=50, a");
    assert_eq!(whiskers(middle.expect("a point")), [1.8, 2.2, 3.6, 4.4]);
    let line = all[1]["specs"]["Energy"]["data"]["values"].clone();
    let of_a: Vec<&Value> = { line.as_array().expect("points").iter() }
        .filter(|value| value["series"] == "a")
        .collect();
    let at: Vec<[f64; 4]> = { of_a.iter() }
        .map(|value| ["x", "y", "low", "high"].map(|key| value[key].as_f64().unwrap_or(-1.0)))
        .collect();
    assert_eq!(at[1], [50.0, 2.0, 1.8, 2.2]);
    assert_eq!(at.len(), 3);
    // Whose load differs is another group, whose hint differs is not.
    for (key, groups) in [("workload.n", 2), ("workload.uclamp_min", 1)] {
        let of = |value, energy| {
            let names = [
                (key, value),
                ("platform", "a"),
                ("workload", "w"),
                ("policy", "p"),
            ];
            point(&names, energy, 10.0 - energy)
        };
        let rows = [of("1", 1.0), of("2", 2.0), of("1", 3.0), of("2", 4.0)];
        let page = html(&[source(
            &json!({"schema_version": 1, "points": rows}).to_string(),
        )]);
        let said = page
            .expect("a page")
            .matches("nearest to the best of both")
            .count();
        assert_eq!(said, groups, "{key}");
    }
}

/// Goal: where conditions or a metric chose, the page marks that point, says by what, and which
/// points do not hold; changes stand with what they mean, and warnings are passed on.
#[test]
fn a_page_says_what_was_chosen() {
    let mut judged = sweep();
    for at in 0..6 {
        let row = &mut judged["points"][at];
        row["base"] = json!(at < 2);
        row["holds"] = json!(at > 1);
        row["chosen"] = json!(at == 4);
        if at == 4 {
            row["energy_j_delta_pct"] = json!(400.0);
            row["energy_j_delta_ci95_low"] = json!(390.0);
            row["energy_j_delta_ci95_high"] = json!(410.0);
            row["energy_j_difference"] = json!("worse");
        }
    }
    judged["base"] = json!({"boost": "0"});
    judged["margin_pct"] = json!(2.5);
    judged["choice"] = json!({"by": "wake_latency_us_p99", "best": "least",
        "conditions": ["missed_frames_total<=0"], "groups": [
            {"group": "a", "points": 3, "hold": 2, "chosen": 4, "figures": [
                {"metric": "wake_latency_us_p99", "mean": 3.0, "delta_pct": -70.0,
                    "ci95": [-71.0, -69.0], "difference": "better"},
                {"metric": "energy_j", "mean": 5.0, "delta_pct": 400.0,
                    "ci95": [390.0, 410.0], "difference": "worse"}]},
            {"group": "b", "points": 3, "hold": 0, "chosen": null}]});
    judged["warnings"] = json!(["all 6 points: beware"]);
    let page = html(&[source(&judged.to_string())]).expect("a page");
    for said in [
        "a: boost=100 has the least wake_latency_us_p99 of the 2 of 3 points that hold",
        "3 us (−70.0 % [−71.0, −69.0] from the base), 5 J (+400.0 % [+390, +410])",
        "b: none of 3 points holds",
        "Changes are from the point with boost=0",
        "margin of 2.5 %",
        "+400.0\u{a0}% (+390 to +410\u{a0}%) worse",
        "Diamond: the chosen point.",
        "all 6 points: beware",
        "not all hold",
    ] {
        assert!(page.contains(said), "{said}");
    }
    assert!(!page.contains("nearest to the"), "two rules");
    let all = drawn(&judged);
    let values = all[0]["specs"][""]["data"]["values"]
        .as_array()
        .expect("points")
        .clone();
    let chosen: Vec<&Value> = values
        .iter()
        .filter(|value| value["kind"] == "chosen")
        .collect();
    assert_eq!(chosen.len(), 1);
    assert_eq!(chosen[0]["point"], "boost=100, a");
}

/// Goal: a phone has each figure beside the name of its column, with its change in short.
#[test]
fn a_phone_shows_a_line_for_each_column() {
    let mut swept = sweep();
    swept["points"][0]["base"] = json!(true);
    let row = &mut swept["points"][4];
    row["energy_j_delta_pct"] = json!(400.0);
    row["energy_j_delta_ci95_low"] = json!(390.0);
    row["energy_j_delta_ci95_high"] = json!(410.0);
    row["energy_j_difference"] = json!("worse");
    let page = html(&[source(&swept.to_string())]).expect("a page");
    for said in [
        "class=\"lines\"",
        "<th scope=\"row\" data-label=\"boost\">",
        "<td data-label=\"platform\">",
        "<td class=\"num\" data-label=\"energy_j\">",
        "<span class=\"brief\">+400.0\u{a0}% worse</span>",
        "<span class=\"brief\">base</span>",
    ] {
        assert!(page.contains(said), "{said}");
    }
    // Other tables have cards or neither.
    assert_eq!(page.matches("class=\"lines\"").count(), 1);
}

/// Goal: the picture along an axis begins with what a condition is about and marks the chosen
/// point; without one nothing speaks of it. By hand: 1 ± 3 of a count reaches from 0 to 4.
#[test]
fn what_is_expected_comes_first() {
    let mut judged = sweep();
    for at in 0..6 {
        let row = &mut judged["points"][at];
        row["migrations_total"] = json!(1.0);
        row["migrations_total_ci95"] = json!(3.0);
        row["chosen"] = json!(at == 4);
    }
    let group = json!({"group": "a", "points": 3, "hold": 1, "chosen": 4});
    judged["choice"] = json!({"by": "energy_j", "best": "least", "groups": [group],
        "conditions": ["p wake_latency_us_p99<=9"]});
    let page = html(&[source(&judged.to_string())]).expect("a page");
    let first = "<option value=\"0\">Wake-up latency, 99th percentile</option>";
    assert!(page.contains(first), "energy first");
    let along = drawn(&judged)[1].clone();
    let of = |metric: &str| along["specs"][metric]["data"]["values"].clone();
    let migrations = of("Migrations");
    assert_eq!([&migrations[0]["low"], &migrations[0]["high"]], [0.0, 4.0]);
    let values = of("Energy");
    let marked = values.as_array().expect("points").iter();
    let marked: Vec<&Value> = marked.filter(|value| value["chosen"] == true).collect();
    assert_eq!(marked.len(), 1);
    assert_eq!(marked[0]["point"], "boost=100, a");
    let layers = along["specs"]["Energy"]["layer"]
        .as_array()
        .expect("layers");
    let last = layers.last().expect("a layer");
    assert_eq!(last["mark"]["shape"], "diamond");
    // No point holds.
    judged["points"][4]["chosen"] = json!(false);
    judged["choice"]["groups"][0]["chosen"] = Value::Null;
    let page = html(&[source(&judged.to_string())]).expect("a page");
    assert!(!page.contains("Diamond: the chosen"), "no point is chosen");
    let along = drawn(&judged)[1]["specs"]["Energy"]["layer"].clone();
    assert_eq!(along.as_array().map(Vec::len), Some(layers.len() - 1));
}

/// Goal: of missed frames and their share one is drawn and stands in the table, with its unit on
/// the axis: the number, or the share where a condition names it. By hand: 1 of 100 is 1 %.
#[test]
fn a_number_and_its_share_are_one_metric() {
    let mut swept = sweep();
    for at in 0..6_u32 {
        let row = &mut swept["points"][at as usize];
        for name in ["missed_frames_total", "missed_frames_pct"] {
            row[name] = json!(f64::from(at));
            row[format!("{name}_ci95")] = json!(1.0);
        }
    }
    let axes = |swept: &Value| {
        let along = drawn(swept)[1]["specs"].clone();
        let title = |name: &str| along[name]["layer"][0]["encoding"]["y"]["title"].clone();
        ["Missed frames", "Missed frames, share"].map(title)
    };
    let page = |swept: &Value| html(&[source(&swept.to_string())]).expect("a page");
    assert_eq!(axes(&swept), [json!("Missed frames (count)"), Value::Null]);
    let of_share = "data-label=\"missed_frames_pct\"";
    let of_number = "data-label=\"missed_frames_total\"";
    let has = |page: &str| [page.contains(of_number), page.contains(of_share)];
    assert_eq!(has(&page(&swept)), [true, false]);
    swept["choice"] = json!({"by": "energy_j", "best": "least", "groups": [],
        "conditions": ["missed_frames_pct<=1"]});
    let share = json!("Missed frames, share (%)");
    assert_eq!(axes(&swept), [Value::Null, share]);
    assert_eq!(has(&page(&swept)), [false, true]);
}

/// Goal: what is no number is an axis all the same, and where nothing is joined it is said.
#[test]
fn lines_are_what_they_say() {
    let of = |size: &str, drawn: &str, energy| {
        let names = [
            ("size", size),
            ("rate", drawn),
            ("platform", "a"),
            ("policy", "p"),
        ];
        point(&names, energy, 1.0)
    };
    let rows = [
        of("small", "1%", 1.0),
        of("large", "2%", 2.0),
        of("huge", "3.5%", 3.0),
    ];
    let all = drawn(&json!({"schema_version": 1, "points": rows}));
    let along = |at: usize| {
        let spec = all[at]["specs"]["Energy"].clone();
        (spec["layer"].as_array().map_or(0, Vec::len), spec)
    };
    let (layers, sizes) = along(0);
    assert_eq!(
        sizes["layer"][0]["encoding"]["x"]["sort"],
        json!(["small", "large", "huge"])
    );
    let (_, rates) = along(1);
    assert_eq!(rates["data"]["values"][2]["x"], 3.5);
    // Whiskers and marks, and no line between points that differ in something else.
    assert_eq!(layers, 2);
}

#[test]
fn what_is_no_sweep_is_refused() {
    for (points, said) in [
        (json!([]), "has no points"),
        (json!([1]), "a point that is no object"),
        (json!([{"khz": 1}]), "`points` that are not a sweep's"),
    ] {
        let text = json!({"schema_version": 1, "points": points}).to_string();
        let error = html(&[source(&text)]).expect_err(said).to_string();
        assert!(error.contains(said), "{error}");
    }
    // What a name says is no markup and no formula.
    let mut hostile = sweep();
    hostile["points"][0]["boost"] = json!("</script><b>'+datum");
    hostile["points"][1]["energy_j"] = json!("1");
    let page = html(&[source(&hostile.to_string())]).expect("a page");
    assert!(!page.contains("</script><b>"), "markup");
}
