//! Hints of an rt-app file's tasks, as settings of a run and as an axis of a sweep.

use crate::common;

use common::{assert_code, assert_refused, folder, run_in, stderr, stdout};

/// A light task that wakes up every 16 ms; `bg` is a long one.
const LOAD: &str = r#"{"tasks": {
    "ui": {"loop": -1, "run": 800, "timer": {"ref": "a", "period": 16000}},
    "bg": {"loop": -1, "run": 4000, "timer": {"ref": "b", "period": 50000}}}}"#;

const RUN: [&str; 5] = [
    "--platform=hikey960",
    "--workload=load.json",
    "--policy=linux-7.3+energy-aware",
    "--duration=500ms",
    "--format=json",
];

/// Goal: a hint that is given is the hint of the file: the run is the same, event by event, as that
/// of a file which has it; and results say it.
#[test]
fn a_tasks_hint_is_a_setting() {
    let folder = folder();
    common::file(&folder, "load.json", LOAD);
    let sim = |more: &[&str]| {
        let output = run_in(folder.path(), &[&["sim"][..], &RUN, more].concat());
        assert_code(&output, 0);
        let json: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("JSON");
        let hash = json["runs"][0]["event_hashes"][0].clone();
        assert!(hash.is_string(), "{json}");
        (hash, json["settings"].clone())
    };
    let (plain, none) = sim(&[]);
    let set = "--set=task.ui.util_min=900";
    let (given, said) = sim(&[set]);
    assert_ne!(plain, given);
    assert_eq!(none, serde_json::json!({}));
    assert_eq!(said, serde_json::json!({"task.ui.util_min": "900"}));
    let with = LOAD.replace(r#""ui": {"#, r#""ui": {"util_min": 900, "#);
    common::file(&folder, "load.json", &with);
    assert_eq!(sim(&[]).0, given);
    common::file(&folder, "load.json", LOAD);
    for (more, said) in [
        (
            "task.uj.util_min=9",
            "it has no task `uj`; did you mean `ui`?",
        ),
        ("task.ui.utilmin=9", "did you mean `util_min`?"),
        (
            "task.ui.util_min=2000",
            "expected a whole number, 0 to 1024",
        ),
        ("task.ui.util_min=2%", "expected a whole number, 0 to 1024"),
    ] {
        let asked = [&["sim"][..], &RUN, &["--set", more]].concat();
        assert_refused(&run_in(folder.path(), &asked), &[more, said]);
    }
    let model = [
        "sim",
        "--platform=hikey960",
        "--workload=periodic:n=1",
        "--policy=linux-7.3",
        set,
    ];
    assert_refused(&run_in(folder.path(), &model), &["is no rt-app file"]);
    let study = [
        "study",
        "run",
        "energy-aware/energy-hikey960",
        "--quick",
        set,
    ];
    assert_refused(
        &run_in(folder.path(), &study),
        &["a hint of an rt-app file's task"],
    );
}

/// Goal: hints are an axis, alone and together; a pair that no file may have is a point that fails.
#[test]
fn hints_are_varied() {
    let folder = folder();
    common::file(&folder, "load.json", LOAD);
    let sweep = |vary: &[&str]| {
        let how = ["--seeds=1", "--format=csv"];
        run_in(
            folder.path(),
            &[&["sweep"][..], &RUN[..4], &how, vary].concat(),
        )
    };
    let output = sweep(&["--vary=task.ui.util_min=0..1024:9", "--metric=cpu_energy_j"]);
    assert_code(&output, 0);
    let table = stdout(&output);
    let mut lines = table.lines().map(|line| line.split(',').collect());
    let header: Vec<&str> = lines.next().expect("a header");
    let joules = header
        .iter()
        .position(|name| name.starts_with("cpu_energy_j"));
    let joules = joules.expect("a column of energy");
    let rows: Vec<Vec<&str>> = lines.collect();
    let values: Vec<&str> = rows.iter().map(|row| row[0]).collect();
    let eighths = ["0", "128", "256", "384", "512", "640", "768", "896", "1024"];
    assert_eq!(values, eighths);
    // Whoever asks for all of the biggest CPU pays for it.
    let energy = |row: &[&str]| row[joules].parse::<f64>().expect("joules");
    assert!(energy(&rows[8]) > energy(&rows[0]), "{rows:?}");
    let both = [
        "--vary=task.ui.util_min=0,512",
        "--vary=task.ui.util_max=256,1024",
    ];
    let output = sweep(&both);
    assert_code(&output, 1);
    let said = stderr(&output);
    assert!(
        said.contains("`util_min` 512 is above `util_max` 256"),
        "{said}"
    );
    assert_eq!(stdout(&output).lines().count(), 5);
    let wrong = sweep(&["--vary=task.uj.util_min=0,1"]);
    assert_refused(&wrong, &["it has no task `uj`; did you mean `ui`?"]);
}

/// Goal: of two results that differ in a hint the hint is told, and not another load: the file is
/// the same.
#[test]
fn a_difference_names_the_hint() {
    let folder = folder();
    common::file(&folder, "load.json", LOAD);
    for (name, more) in [
        ("before.json", &[][..]),
        ("after.json", &["--set=task.ui.util_min=900"]),
    ] {
        let place = ["--output", name];
        let output = run_in(folder.path(), &[&["sim"][..], &RUN, &place, more].concat());
        assert_code(&output, 0);
    }
    let output = run_in(folder.path(), &["diff", "before.json", "after.json"]);
    assert_code(&output, 0);
    let said = stdout(&output);
    assert!(
        said.contains("task.ui.util_min: absent, then 900"),
        "{said}"
    );
    assert!(!said.contains("other contents"), "{said}");
}
