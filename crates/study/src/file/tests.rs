//! Files of studies (studies/README.md).
//!
//! What must stay: each error has place, what was expected and the nearest name; a key that is
//! added is read and refused here.
//! Tests by part (in crates/study/src): file/read.rs: `a_good_file_is_read` (`study`, `study_name`,
//! `cases`), `errors_name_place_expectation_and_nearest` (`chosen`),
//! `verdicts_about_what_was_published_need_it` (`templates`), `a_case_may_be_a_recording`
//! (`workload`), `the_least_that_a_file_has` (required keys); file/variations.rs:
//! `a_good_file_is_read` (`variation`); error.rs: `errors_name_place_expectation_and_nearest`
//! (`from_toml`, `Invalid`), `rules_hold` (`from_message`); file/columns.rs: `rules_hold`
//! (`plain`), `columns_and_their_cases_are_read` (`columns`, `column`),
//! `rules_of_columns_cases_and_sensitivity_hold` (`add`, `label`, `settings_of`); file/figures.rs:
//! `a_calibrated_cell_must_be_published` (`calibration`),
//! `a_figure_may_calibrate_an_argument_that_the_workload_gives` (`calibrates`),
//! `verdicts_about_what_was_published_need_it` (`published`),
//! `rules_of_columns_cases_and_sensitivity_hold` (`value`, `cell`, `spread`); file/mod.rs:
//! `a_figure_may_calibrate_an_argument_that_the_workload_gives` (`calibrated_argument`);
//! file/sensitivity.rs: `columns_and_their_cases_are_read` (`sensitivity`); file/raw.rs:
//! `the_least_that_a_file_has` (what is optional).
//! Helpers, and who fails with them: `error` (5 tests).

use crate::Study;
use wakeplace_outcome::Param;

/// A valid study with everything that can stand in one.
const GOOD: &str = r#"title = "A study"
source = "a mail"
platform = "hikey960"
duration = "1s"
seeds = 4
policies = ["linux-4.17", "linux-4.17+energy-aware"]
set = ["pelt_scale=clock"]

[quick]
seeds = 2
cases = ["20"]

[[metric]]
name = "energy_j"
verdict = "{policy}: {change}, {agree}"

[[metric]]
name = "cpu_energy_j"

[[case]]
token = "10"
workload = "periodic:n=10,period=16ms,duty=5%"
params = { tasks = 10, kind = "small" }

[[case]]
token = "20"
workload = "periodic:n=20,period=16ms,duty=5%"

[[variant]]
name = "cal=cpu0"
why = "another CPU"
workload = "cal=cpu0"
seeds = 1

[[experiment]]
name = "util_est=off"
why = "no estimate"
set = ["util_est=off"]
cases = ["10"]
seeds = 3

[[published]]
case = "10"
policy = "linux-4.17"
metric = "energy_j"
mean = 33.45
rsd_pct = 1.2
source = "a table"

[calibration]
case = "10"
policy = "linux-4.17"
metric = "energy_j"
"#;

fn error(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from}");
    let text = GOOD.replacen(from, to, 1);
    Study::from_toml(&text, "s.toml").unwrap_err().to_string()
}

#[test]
fn a_good_file_is_read() {
    let study = Study::from_toml(GOOD, "/x/studies/family/name/study.toml").unwrap();
    let info = study.info();
    assert_eq!(
        (info.name.as_str(), info.title.as_str()),
        ("family/name", "A study")
    );
    // Quick: 1 case x 2 seeds x 2 policies. Full: 2 cases x (4 + 1 seeds) x 2 policies.
    assert_eq!(
        (info.quick_runs, info.full_runs, info.published),
        (4, 20, true)
    );
    assert_eq!(study.file.cases[0].params["tasks"], Param::Number(10));
    assert_eq!(
        study.file.variants[0].cases[1]
            .1
            .name
            .matches("cal=cpu0")
            .count(),
        1
    );
    assert_eq!(study.experiments(), [("util_est=off", "no estimate")]);
    assert_eq!(study.file.sources, ["a mail", "a table"]);
}

#[test]
fn errors_name_place_expectation_and_nearest() {
    let text = error("duration", "duraton");
    assert!(
        text.starts_with("s.toml:4:1: unknown key `duraton`"),
        "{text}"
    );
    assert!(text.ends_with("did you mean `duration`?"), "{text}");
    let text = error("hikey960", "hikey96");
    assert!(
        text.starts_with("s.toml:3:12: unknown platform `hikey96`"),
        "{text}"
    );
    let text = error("linux-4.17\"", "linux-4.177\"");
    assert!(text.starts_with("s.toml:6:13: "), "{text}");
    assert!(
        text.contains("did you mean `linux-4.17` or `linux-5.0`?"),
        "{text}"
    );
    let text = error("cases = [\"20\"]", "cases = [\"2O\"]");
    assert!(
        text.starts_with("s.toml:11:10: unknown case `2O`; expected one of 10, 20"),
        "{text}"
    );
    let text = error("name = \"energy_j\"", "name = \"enrgy_j\"");
    assert!(text.contains("did you mean `energy_j`?"), "{text}");
    let text = error("n=10,period", "n=10,perod");
    assert!(
        text.starts_with("s.toml:22:12: ") && text.contains("period"),
        "{text}"
    );
    let text = error("{change}", "{chang}");
    assert!(text.contains("did you mean `change`?"), "{text}");
}

#[test]
fn rules_hold() {
    let cases = [
        (
            "\"1s\"",
            "\"1 s\"",
            "`1 s` is no time; expected a time above 0",
        ),
        ("\"1s\"", "\"0s\"", "`0s` is no time"),
        ("seeds = 4", "seeds = 0", "0 seeds; expected 1 to 100000"),
        (
            "seeds = 4",
            "seeds = 100001",
            "100001 seeds; expected 1 to 100000",
        ),
        (
            ", \"linux-4.17+energy-aware\"",
            "",
            "1 policies; expected at least 2",
        ),
        (
            "+energy-aware\"]",
            "\"]",
            "policy `linux-4.17` stands here twice",
        ),
        (
            "pelt_scale=clock",
            "pelt_scale",
            "`pelt_scale` is no setting",
        ),
        (
            "pelt_scale=clock",
            "pelt_scal=clock",
            "did you mean `pelt_scale`?",
        ),
        ("util_est=off\"]", "util_est=of\"]", "setting `util_est=of`"),
        (
            "token = \"20\"",
            "token = \"10\"",
            "case `10` stands here twice",
        ),
        ("token = \"20\"", "token = \"2 0\"", "`2 0` is no token"),
        (
            "mean = 33.45",
            "mean = nan",
            "is no figure; expected a finite number",
        ),
        ("rsd_pct = 1.2", "rsd_pct = -1.0", "a spread below 0"),
        ("a table", " ", "the text is empty; expected a sentence"),
        ("workload = \"cal=cpu0\"", "workload = \"cla=cpu0\"", "cla"),
        ("[quick]\nseeds = 2", "[quick]", "missing key `seeds`"),
    ];
    for (from, to, expected) in cases {
        let text = error(from, to);
        assert!(text.contains(expected), "{to}: {text}");
        assert!(
            text.starts_with("s.toml:") && !text.contains('\n'),
            "{text}"
        );
    }
}

#[test]
fn a_calibrated_cell_must_be_published() {
    let cell = "[calibration]\ncase = \"10\"\npolicy = \"linux-4.17\"\nmetric = \"energy_j\"";
    let other = cell.replace("10", "20");
    assert!(error(cell, &other).contains("nothing to calibrate on"));
    let other = cell.replace("energy_j", "cpu_energy_j");
    assert!(error(cell, &other).contains("expected a cell of `energy_j`"));
}

#[test]
fn a_figure_may_calibrate_an_argument_that_the_workload_gives() {
    let source = "source = \"a table\"";
    let with = |more: &str| format!("{source}\n{more}");
    let good = GOOD.replacen(source, &with("calibrates = \"duty\""), 1);
    let study = Study::from_toml(&good, "s.toml").unwrap();
    let file = &study.file;
    let cell = |policy| super::Cell {
        case: 0,
        policy,
        metric: "energy_j".to_owned(),
    };
    assert_eq!(file.calibrated_argument(&cell(0)), Some("duty"));
    assert!(file.is_calibrated(&cell(0)) && !file.is_calibrated(&cell(1)));
    let text = error(source, &with("calibrates = \"dutty\""));
    assert!(text.contains("did you mean `duty`?"), "{text}");
    // The model knows it, but nothing was set.
    let text = error(source, &with("calibrates = \"phase\""));
    assert!(text.contains("expected one of n, period, duty"), "{text}");
    let of_other = "[[published]]\ncase = \"20\"\npolicy = \"linux-4.17+energy-aware\"\n\
                    metric = \"energy_j\"\ndelta_pct = -3.0\ncalibrates = \"n\"\n\n[calibration]";
    let text = error("[calibration]", of_other);
    assert!(text.contains("expected a `mean`"), "{text}");
}

#[test]
fn verdicts_about_what_was_published_need_it() {
    let metric = "name = \"cpu_energy_j\"";
    let text = error(metric, &format!("{metric}\nverdict = \"{{agree}}\""));
    assert!(text.contains("metric nobody published"), "{text}");
}

/// A valid study with what the other one cannot have.
const COLUMNS: &str = r#"title = "A study"
source = "a mail"
platform = "tc2"
duration = "1s"
seeds = 4

[[column]]
policy = "linux-3.1"

[[column]]
name = "unplugged"
policy = "linux-3.1"
set = ["model.ipi_ns=500"]
hotplug = "0s:1=off"

[quick]
seeds = 2

[[metric]]
name = "wake_latency_us_p50"
verdict = "{policy}: {published_change}"

[[case]]
token = "10"
workload = "periodic:n=10,period=16ms,duty=5%"
platform = "hikey960"
duration = "50ms"
set = ["pelt_scale=clock"]

[[experiment]]
name = "e"
why = "because"
platform = "juno-r0"
columns = [{ policy = "linux-4.17" }, { name = "x", policy = "linux-4.17" }]
seeds = 3

[[published]]
case = "10"
policy = "unplugged"
metric = "wake_latency_us_p50"
delta_pct = 687.45
base_rsd_pct = 1.0

[sensitivity]
cases = ["10"]
seeds = 2
workload = ["period"]
except = [{ cost = "fork_ns", why = "nobody forks" }]
"#;

#[test]
fn columns_and_their_cases_are_read() {
    let study = Study::from_toml(COLUMNS, "family/name/study.toml").unwrap();
    let names: Vec<_> = study.file.columns.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["linux-3.1", "unplugged"]);
    assert_eq!(
        study.file.columns[1].hotplug.as_ref().map(Vec::len),
        Some(1)
    );
    let platforms: Vec<_> = study
        .file
        .platforms
        .iter()
        .map(|p| p.name.as_str())
        .collect();
    assert_eq!(platforms, ["tc2", "hikey960", "juno-r0"]);
    assert_eq!(study.file.cases[0].duration_ns, 50_000_000);
    let found = study.file.sensitivity.unwrap();
    assert_eq!(
        (found.seeds, found.workload),
        (2, vec!["period".to_owned()])
    );
}

/// Changes of [`COLUMNS`] that break a rule: from, to, the place and words of the message.
const BROKEN: [(&str, &str, &str, &str); 24] = [
    (
        "seeds = 4",
        "seeds = 4\npolicies = [\"linux-3.1\"]",
        "8:1",
        "policies and columns; expected one",
    ),
    (
        "name = \"unplugged\"",
        "name = \"linux-3.1\"",
        "11:8",
        "column `linux-3.1` stands here twice",
    ),
    (
        "name = \"unplugged\"",
        "name = \"a/b\"",
        "11:8",
        "`a/b` is no name of a column",
    ),
    (
        "ipi_ns=500",
        "ipi_n=500",
        "13:8",
        "unknown model setting `model.ipi_n`",
    ),
    ("0s:1=off", "0s:1=of", "14:11", "did you mean `off`?"),
    ("0s:1=off", "0s:8=off", "14:11", "`hikey960` has no CPU 8"),
    ("hikey960", "hikey96", "26:12", "did you mean `hikey960`?"),
    ("\"50ms\"", "\"0ms\"", "27:12", "`0ms` is no time"),
    (
        "pelt_scale=clock",
        "pelt_scal=clock",
        "28:8",
        "did you mean `pelt_scale`?",
    ),
    (
        "juno-r0",
        "juno-0",
        "33:12",
        "did you mean `juno-r0` or `juno-r2`?",
    ),
    (
        ", { name = \"x\", policy = \"linux-4.17\" }",
        "",
        "34:11",
        "1 columns; expected at least 2",
    ),
    (
        "policy = \"unplugged\"",
        "policy = \"unpluged\"",
        "39:10",
        "did you mean `unplugged`?",
    ),
    (
        "policy = \"unplugged\"",
        "policy = \"linux-3.1\"",
        "41:13",
        "a change of the base from itself",
    ),
    (
        "delta_pct = 687.45",
        "delta_pct = 1.0\nmean = 1.0",
        "41:13",
        "a mean and a change",
    ),
    ("delta_pct = 687.45", "", "38:8", "without a value"),
    ("delta_pct = 687.45", "mean = 1.0", "42:16", "beside a mean"),
    (
        "base_rsd_pct = 1.0",
        "base_rsd_pct = -1.0",
        "42:16",
        "a spread below 0",
    ),
    (
        "{published_change}",
        "{distance_mean}",
        "21:11",
        "without means",
    ),
    (
        "cases = [\"10\"]",
        "cases = [\"1O\"]",
        "45:10",
        "did you mean `10`?",
    ),
    (
        "seeds = 2\nworkload",
        "seeds = 0\nworkload",
        "46:9",
        "0 seeds",
    ),
    (
        "[\"period\"]",
        "[\"perod\"]",
        "47:13",
        "did you mean `period`?",
    ),
    (
        "[\"period\"]",
        "[\"cal\"]",
        "47:13",
        "unknown number or time among",
    ),
    (
        "\"fork_ns\"",
        "\"frok_ns\"",
        "48:20",
        "did you mean `fork_ns`?",
    ),
    ("\"nobody forks\"", "\" \"", "48:37", "the text is empty"),
];

#[test]
fn rules_of_columns_cases_and_sensitivity_hold() {
    for (from, to, place, expected) in BROKEN {
        assert!(COLUMNS.contains(from), "{from}");
        let text = COLUMNS.replacen(from, to, 1);
        let error = Study::from_toml(&text, "s.toml").unwrap_err().to_string();
        assert!(error.contains(expected), "{to}: {error}");
        assert!(
            error.starts_with(&format!("s.toml:{place}: ")),
            "{to}: {error}"
        );
        assert!(!error.contains('\n'), "{error}");
    }
    let none = COLUMNS.replacen("[[column]]", "[[colum]]", 1);
    let error = Study::from_toml(&none, "s.toml").unwrap_err().to_string();
    assert!(error.contains("did you mean `column`?"), "{error}");
}

/// A recording is a workload of a case as on the command line, with its own messages.
#[test]
fn a_case_may_be_a_recording() {
    let folder = std::env::temp_dir().join(format!("wakeplace-study-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("run.txt");
    let text = "cpus=8\n  <idle>-0 [000] 1.0: sched_switch: swapper/0:0 [120] R ==> a:11 [120]\n  \
                a-11 [000] 1.1: sched_switch: a:11 [120] S ==> swapper/0:0 [120]\n";
    std::fs::write(&path, text).expect("written");
    // A variant's addition would be no key of a recording.
    let of = |argument: &str| {
        let variant =
            GOOD.find("[[variant]]").expect("one")..GOOD.find("[[experiment]]").expect("one");
        let without = GOOD.replace(&GOOD[variant], "");
        without.replace("periodic:n=20,period=16ms,duty=5%", argument)
    };
    let argument = format!("trace:{}", path.display());
    let study = Study::from_toml(&of(&argument), "t.toml");
    assert!(study.is_ok(), "{study:?}");
    let refused = Study::from_toml(&of(&format!("{argument},platfrom=tc2")), "t.toml");
    let refused = refused.expect_err("no such key").to_string();
    assert!(refused.contains("did you mean `platform`"), "{refused}");
    std::fs::remove_dir_all(&folder).expect("removed");
}

/// Goal: what studies/README.md calls required is: a file of these alone is read, and one without
/// any of them is refused by its name.
#[test]
fn the_least_that_a_file_has() {
    let parts = [
        ("title", "title = \"T\"\n"),
        ("source", "source = \"S\"\n"),
        ("platform", "platform = \"tc2\"\n"),
        ("duration", "duration = \"50ms\"\n"),
        ("seeds", "seeds = 2\n"),
        ("policies", "policies = [\"linux-4.17\", \"linux-7.3\"]\n"),
        ("quick", "[quick]\nseeds = 1\n"),
        ("metric", "[[metric]]\nname = \"migrations_total\"\n"),
        (
            "case",
            "[[case]]\ntoken = \"1\"\nworkload = \"periodic:n=1\"\n",
        ),
    ];
    let without = |left_out: &str| {
        let kept = parts.iter().filter(|(name, _)| *name != left_out);
        kept.map(|(_, text)| *text).collect::<String>()
    };
    Study::from_toml(&without(""), "t.toml").expect("the least");
    for (name, _) in parts {
        let error = Study::from_toml(&without(name), "t.toml").expect_err(name);
        assert!(error.to_string().contains(name), "{name}: {error}");
    }
}
