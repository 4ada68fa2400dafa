//! `--expect` of studies and sweeps: each case and each point is judged by itself. Checks of
//! several boards and loads are one table.

use crate::common;

use common::{assert_code, assert_refused, folder, run_in, stderr, stdout};
use std::fs;
use std::path::Path;

/// Light tasks, for which the highest clock is a waste, whatever the seed draws.
const STUDY: &str = r#"
    title = "Mine"
    source = "none"
    platform = "hikey960"
    duration = "500ms"
    seeds = 5
    policies = ["linux-7.3", "linux-7.3:governor=performance"]
    [quick]
    seeds = 2
    [[metric]]
    name = "energy_j"
    [[case]]
    token = "four"
    workload = "periodic:n=4,period=16ms,duty=5%,start=spread"
    [[case]]
    token = "six"
    workload = "periodic:n=6,period=16ms,duty=5%,start=spread"
"#;

const SWEEP: [&str; 6] = [
    "sweep",
    "--platform=hikey960",
    "--workload=periodic:n=4,period=16ms,duty=5%,start=spread",
    "--vary=workload.duty=5%,6%",
    "--seeds=5",
    "--duration=500ms",
];

/// Name, checks, failures and skipped of each suite.
fn suites(folder: &Path) -> Vec<[String; 4]> {
    let text = fs::read_to_string(folder.join("checks.xml")).expect("written");
    let lines = text.lines().filter(|line| line.contains("<testsuite "));
    let value = |line: &str, key: &str| -> String {
        let from = line.split_once(&format!(" {key}=\"")).expect(line).1;
        from.split('"').next().unwrap_or_default().to_owned()
    };
    let of = |line: &str| ["name", "tests", "failures", "skipped"].map(|key| value(line, key));
    lines.map(of).collect()
}

/// Goal: a study is judged case by case, from the first column of each; what fails is exit code 1,
/// and the result stands all the same.
#[test]
fn a_study_is_a_gate() {
    let folder = folder();
    common::file(&folder, "mine.toml", STUDY);
    let study = |more: &[&str]| {
        let asked = ["study", "run", "mine.toml", "--export-junit=checks.xml"];
        run_in(folder.path(), &[&asked[..], more].concat())
    };
    // Light work at the highest clock takes more energy: a change and two values in each case.
    let output = study(&["--expect=cpu_energy_j>=+1%", "--expect=task_work_s>0"]);
    assert_code(&output, 0);
    let found = suites(folder.path());
    let expected = |failures: &str| {
        ["mine, four", "mine, six"].map(|name| [name, "3", failures, "0"].map(str::to_owned))
    };
    assert_eq!(found, expected("0"));
    assert!(
        stdout(&output).contains("\nenergy_j (J)"),
        "{}",
        stdout(&output)
    );
    let asked = [
        "--expect=cpu_energy_j<=base",
        "--expect=task_work_s>0",
        "--format=json",
    ];
    let output = study(&asked);
    assert_code(&output, 1);
    assert_eq!(suites(folder.path()), expected("1"));
    assert!(stdout(&output).starts_with('{'), "{}", stdout(&output));
    assert!(
        stderr(&output).contains("2 of 6 expectations failed: mine, four; mine, six"),
        "{}",
        stderr(&output)
    );
    // With one seed a change is not told.
    let one = ["--expect=cpu_energy_j<=base", "--seeds=1"];
    assert_code(&study(&one), 0);
    assert_code(&study(&[&one[..], &["--strict"]].concat()), 1);
    // A case without a result fails, whatever is expected.
    common::stuck_load(&folder);
    let six = "periodic:n=6,period=16ms,duty=5%,start=spread";
    common::file(&folder, "mine.toml", &STUDY.replace(six, "stuck.json"));
    assert_code(&study(&["--expect=task_work_s>=0"]), 1);
    let found = suites(folder.path());
    assert_eq!(found[0][2], "0");
    assert_eq!(found[1][1..], ["2", "2", "0"].map(str::to_owned));
}

/// Goal: of a sweep each point is a suite whichever way its policies are varied; a change is from
/// the first policy.
#[test]
fn a_sweep_is_a_gate() {
    let folder = folder();
    let sweep = |more: &[&str]| {
        let asked = [&SWEEP[..], &["--export-junit=checks.xml"], more].concat();
        run_in(folder.path(), &asked)
    };
    for policies in [
        &[
            "--policy=linux-7.3",
            "--policy=linux-7.3:governor=performance",
        ][..],
        &["--vary=policy=linux-7.3,linux-7.3:governor=performance"],
    ] {
        let more = [policies, &["--expect=cpu_energy_j>=+1%"]].concat();
        assert_code(&sweep(&more), 0);
        let point = |duty: &str| {
            let load = format!("periodic:n=4,period=16ms,start=spread,duty={duty}");
            let name = format!("workload.duty={duty}, hikey960, {load}");
            [&name, "1", "0", "0"].map(str::to_owned)
        };
        assert_eq!(suites(folder.path()), ["5%", "6%"].map(point));
        let more = [policies, &["--expect=cpu_energy_j<=base"]].concat();
        assert_code(&sweep(&more), 1);
        let named = ["--expect=linux-7.3 cpu_energy_j>0"];
        assert_code(&sweep(&[policies, &named].concat()), 0);
        assert_eq!(
            suites(folder.path())[1][1..3],
            ["1", "0"].map(str::to_owned)
        );
    }
    // Of many checks some are shown.
    let many = [
        "sweep",
        "--platform=hikey960",
        "--workload=periodic:n=1",
        "--policy=linux-7.3",
        "--vary=busy_factor=1..60:60",
        "--seeds=1",
        "--duration=1ms",
        "--expect=cpu_energy_j<0",
    ];
    let output = run_in(folder.path(), &many);
    assert_code(&output, 1);
    let said = stdout(&output);
    let sum = "10 checks more: --export-junit FILE\n60 of 60 expectations failed.\n";
    assert!(said.ends_with(sum), "{said}");
}

/// Goal: what a condition is about is there, or nothing runs.
#[test]
fn conditions_on_nothing_are_refused() {
    let folder = folder();
    common::file(&folder, "mine.toml", STUDY);
    let study = ["study", "run", "mine.toml"];
    let one = [&SWEEP[..], &["--policy=linux-7.3", "--store=s.db"]].concat();
    let several = [&one[..], &["--policy=linux-5.0"]].concat();
    let drawn = [
        &SWEEP[..],
        &["--vary=policy=linux-7.3,linux-5.0", "--latin-hypercube=4"],
    ]
    .concat();
    for (command, condition, said) in [
        (
            &study[..],
            "linux-7 energy_j<1",
            "did you mean `linux-7.3`?",
        ),
        (
            &study,
            "linux-7.3 energy_j<=base",
            "`linux-7.3` is the base",
        ),
        (&study, "energy<1", "unknown metric `energy`"),
        // It ends as a time that a model measures, and no model measures it.
        (
            &study,
            "wake_latency_p99_us<500",
            "did you mean `wake_latency_us_p99`?",
        ),
        (
            &one,
            "wake_latency_p99_us<500",
            "did you mean `wake_latency_us_p99`?",
        ),
        (&study, "busy_kryo_pct<1", "hikey960 has no such cluster"),
        (&one, "linux-7 energy_j<1", "did you mean `linux-7.3`?"),
        (
            &several,
            "linux-7.3 energy_j<=base",
            "`linux-7.3` is the base",
        ),
        (&drawn, "energy_j<=base", "there is no base"),
    ] {
        let output = run_in(folder.path(), &[command, &["--expect", condition]].concat());
        assert_refused(&output, &[said]);
        assert!(!folder.path().join("s.db").exists());
    }
}

/// Goal: of a sweep with one policy a change is from the base of each point, which may be the last
/// one; the base itself is not judged by it.
#[test]
fn a_sweep_has_a_base() {
    let folder = folder();
    let sweep = |more: &[&str]| {
        let asked = [
            "sweep",
            "--platform=hikey960",
            "--workload=periodic:n=4,period=16ms,duty=5%,start=spread",
            "--policy=linux-7.3",
            "--vary=governor=performance,schedutil",
            "--seeds=5",
            "--duration=500ms",
            "--export-junit=checks.xml",
        ];
        run_in(folder.path(), &[&asked[..], more].concat())
    };
    let load = "hikey960, periodic:n=4,period=16ms,duty=5%,start=spread";
    let expected = |first: [&str; 3], second: [&str; 3]| {
        [("performance", first), ("schedutil", second)].map(|(governor, counts)| {
            let name = format!("governor={governor}, {load}");
            let [tests, failures, skipped] = counts.map(str::to_owned);
            [name, tests, failures, skipped]
        })
    };
    // Light work at the highest clock takes more energy than under the kernel's own governor.
    assert_code(&sweep(&["--expect=cpu_energy_j>=+1%"]), 0);
    let first = expected(["1", "0", "0"], ["0", "0", "0"]);
    assert_eq!(suites(folder.path()), first);
    assert_code(&sweep(&["--expect=cpu_energy_j<=base"]), 1);
    let failed = expected(["1", "1", "0"], ["0", "0", "0"]);
    assert_eq!(suites(folder.path()), failed);
    let other = ["--expect=cpu_energy_j<=base", "--base=governor=performance"];
    assert_code(&sweep(&other), 0);
    let other = expected(["0", "0", "0"], ["1", "0", "0"]);
    assert_eq!(suites(folder.path()), other);
    // What is compared with a base that has no result fails.
    common::stuck_load(&folder);
    let asked = [
        "sweep",
        "--platform=hikey960",
        "--policy=linux-7.3",
        "--vary=workload=stuck.json,periodic:n=1",
        "--seeds=1",
        "--duration=10ms",
        "--export-junit=checks.xml",
        "--expect=cpu_energy_j<=+900%",
    ];
    assert_code(&run_in(folder.path(), &asked), 1);
    let text = fs::read_to_string(folder.path().join("checks.xml")).expect("written");
    assert!(text.contains("its base has no result: stuck"), "{text}");
}

/// Goal: where one load got stuck, the conditions of the other are not absent from the JSON.
#[test]
fn beside_a_stuck_load_nothing_is_judged() {
    let folder = folder();
    common::spinning_load(&folder);
    let args = [
        "compare",
        "--platform=tc2",
        "--workload=app.json",
        "--workload=periodic:n=1",
        "--policy=linux-4.17",
        "--policy=linux-7.3",
        "--duration=1s",
        "--format=json",
    ];
    let checks = |more: &[&str]| -> Vec<Vec<(String, bool)>> {
        let output = run_in(folder.path(), &[&args[..], more].concat());
        assert_code(&output, 1);
        let value: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("JSON");
        let said = |check: &serde_json::Value| {
            let said = check["said"].as_str().expect("words").to_owned();
            (said, check["holds"].as_bool().expect("told"))
        };
        let of = |of: &serde_json::Value| -> Vec<(String, bool)> {
            let checks = of["checks"].as_array().into_iter().flatten();
            checks.map(said).collect()
        };
        let all = value["comparisons"].as_array().expect("two loads");
        all.iter().map(of).collect()
    };
    let why = |text: &str| vec![(text.to_owned(), false); 2];
    assert_eq!(
        checks(&["--expect=task_work_s>0"]),
        [
            why("a run got stuck, nothing is judged"),
            why("another load got stuck, nothing is judged"),
        ]
    );
    let none: [Vec<(String, bool)>; 2] = [Vec::new(), Vec::new()];
    assert_eq!(checks(&[]), none);
}

/// Goal: what was checked is in the JSON of every command that checks, and the page is made of it.
#[test]
fn checks_are_in_the_json() {
    let folder = folder();
    common::file(&folder, "mine.toml", STUDY);
    let load = "--workload=periodic:n=4,period=16ms,duty=5%,start=spread";
    let compare = [
        "compare",
        "--platform=hikey960",
        load,
        "--policy=linux-7.3",
        "--policy=linux-7.3:governor=performance",
        "--seeds=5",
        "--duration=500ms",
    ];
    let sweep = [&SWEEP[..], &["--policy=linux-7.3"]].concat();
    let study = ["study", "run", "mine.toml"];
    for (command, of) in [
        (&compare[..], None),
        (&sweep, Some("workload.duty=5%, hikey960, ")),
        (&study, Some("four")),
    ] {
        let asked = [
            "--expect=cpu_energy_j<=+9000%",
            "--expect=task_work_s>0",
            "--format=json",
        ];
        let output = run_in(folder.path(), &[command, &asked[..]].concat());
        assert_code(&output, 0);
        let value: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("JSON");
        let problems = crate::schema::problems(&value);
        assert!(problems.is_empty(), "{command:?}: {}", problems.join("\n"));
        let checks = value["checks"].as_array().expect("checks");
        let change = |check: &&serde_json::Value| check["expected"] == "cpu_energy_j<=+9000%";
        let found = checks.iter().find(change).expect("a change");
        assert_eq!(found["holds"], true, "{found}");
        assert!(
            found["delta_pct"].is_number() && found["ci95"].is_array(),
            "{found}"
        );
        assert_eq!(found["unit"], "J");
        let own = checks
            .iter()
            .find(|check| check["expected"] == "task_work_s>0");
        let own = own.expect("a value");
        assert!(own["mean"].as_f64().is_some_and(|mean| mean > 0.0), "{own}");
        assert_eq!(own["delta_pct"], serde_json::Value::Null);
        match of {
            None => assert!(own.get("of").is_none(), "{own}"),
            Some(of) => {
                let said = own["of"].as_str().expect("a case or point");
                assert!(said.starts_with(of), "{said}");
            }
        }
    }
    // A failed check stands there, too; without conditions there is no key.
    let output = run_in(
        folder.path(),
        &[&compare[..], &["--expect=cpu_energy_j<0", "--format=json"]].concat(),
    );
    assert_code(&output, 1);
    let value: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    assert_eq!(value["checks"][1]["holds"], false);
    let output = run_in(folder.path(), &[&compare[..], &["--format=json"]].concat());
    assert!(!stdout(&output).contains("\"checks\""));
}

/// Goal: checks of several boards and loads are one table that says of which each is, and the last
/// line says where one failed: on the board that takes more energy than a limit between the two.
#[test]
fn several_boards_are_one_table() {
    let folder = folder();
    let load = "periodic:n=4,period=16ms,duty=5%,start=spread";
    let workload = format!("--workload={load}");
    let asked = [
        "compare",
        "--platform=hikey960",
        "--platform=juno-r0",
        &workload,
        "--policy=linux-7.3",
        "--policy=linux-6.12",
        "--seeds=2",
        "--duration=200ms",
    ];
    let compare = |more: &[&str]| run_in(folder.path(), &[&asked[..], more].concat());
    let output = compare(&["--format=json"]);
    assert_code(&output, 0);
    let value: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    let joules = |at: usize| {
        let run = &value["comparisons"][at]["runs"][0];
        let mean = run["metrics"]["cpu_energy_j"]["mean"].as_f64();
        (
            mean.expect("joules"),
            run["platform"].as_str().expect("a name"),
        )
    };
    let (less, more) = match (joules(0), joules(1)) {
        (one, other) if one.0 < other.0 => (one, other),
        (one, other) => (other, one),
    };
    let limit = (less.0 + more.0) / 2.0;
    let condition = format!("--expect=linux-7.3 cpu_energy_j<={limit}");
    let output = compare(&[&condition]);
    assert_code(&output, 1);
    let text = stdout(&output);
    let last = format!("1 of 2 expectations failed: {}, {load}\n", more.1);
    assert!(text.ends_with(&last), "{text}");
    let heads = text.lines().filter(|line| {
        let mut words = line.split_whitespace();
        words.next() == Some("of") && words.next_back() == Some("verdict")
    });
    assert_eq!(heads.count(), 1, "{text}");
    // One board needs no word for which.
    let one = [&asked[..1], &asked[2..], &["--expect=task_work_s>0"]].concat();
    let text = stdout(&run_in(folder.path(), &one));
    assert!(text.ends_with("All 2 expectations hold.\n"), "{text}");
    assert!(!text.contains("\nof "), "{text}");
}

/// Goal: two studies of one name are judged by themselves, and a JUnit file has a suite of each.
#[test]
fn two_studies_of_one_name_are_two() {
    let folder = folder();
    for part in ["a", "b"] {
        fs::create_dir(folder.path().join(part)).expect("a folder");
        let study = STUDY.replace("duty=5%", if part == "a" { "duty=5%" } else { "duty=6%" });
        fs::write(folder.path().join(part).join("mine.toml"), study).expect("a file");
    }
    let asked = [
        "study",
        "run",
        "a/mine.toml",
        "b/mine.toml",
        "--export-junit=checks.xml",
    ];
    let output = run_in(
        folder.path(),
        &[&asked[..], &["--expect=task_work_s>0"]].concat(),
    );
    assert_code(&output, 0);
    let found = suites(folder.path());
    let names: Vec<&str> = found.iter().map(|suite| suite[0].as_str()).collect();
    let expected = ["mine, four", "mine, six", "mine, four (2)", "mine, six (2)"];
    assert_eq!(names, expected);
    assert!(found.iter().all(|suite| suite[1] == "2"), "{found:?}");
}
