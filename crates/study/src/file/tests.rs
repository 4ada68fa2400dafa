use crate::{Param, Study};

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
    assert!(text.contains("did you mean `linux-4.17`?"), "{text}");
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
        ("seeds = 4", "seeds = 0", "0 seeds; expected 1 to 1000"),
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
fn verdicts_about_what_was_published_need_it() {
    let metric = "name = \"cpu_energy_j\"";
    let text = error(metric, &format!("{metric}\nverdict = \"{{agree}}\""));
    assert!(text.contains("metric nobody published"), "{text}");
}
