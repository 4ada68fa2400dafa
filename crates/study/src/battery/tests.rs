//! Batteries: which cells there are, how a load is sized, and what is refused
//! (docs/guide/review.md, "Batteries").
//!
//! What must stay: expected cells and sizes are worked out by hand from the text of `TWO`; a board
//! of the tests has the CPUs that its platform file says (hikey960 8, juno-r0 6).
//! Tests by part: `loads_have_deadlines_and_hints` (file.rs: `hints`; mod.rs: `deadlines_of`,
//! `path_beside`).

use super::{Battery, sized};
use crate::{Request, Source};

const TWO: &str = r#"
title = "two loads"
seeds = 3
duration = "200ms"
boards = ["hikey960", "juno-r0"]

[[load]]
name = "many"
workload = "periodic:n={cpus*2},period=16ms,duty=5%"

[[load]]
name = "few"
workload = "periodic:n={cpus/4},period=16ms,duty=5%"
duration = "300ms"
boards = ["juno-r0"]
"#;

fn battery() -> Battery {
    Battery::from_toml(TWO, "two.toml").unwrap()
}

/// Two policies, and nothing else that is asked for.
fn asked() -> Request {
    Request {
        policies: vec!["linux-6.12".to_owned(), "linux-7.3".to_owned()],
        seeds: Vec::new(),
        ..Request::default()
    }
}

/// Board, load, workload, seeds and milliseconds of each cell.
fn cells(asked: &Request) -> Vec<(String, String, String, usize, u64)> {
    let cells = battery().cells(asked).unwrap();
    let one = |cell: super::BatteryCell| {
        let of = cell.experiment;
        let ms = of.options.duration_ns / 1_000_000;
        (
            of.platform.name,
            cell.load,
            of.workload.name,
            of.seeds.len(),
            ms,
        )
    };
    cells.into_iter().map(one).collect()
}

fn line(
    board: &str,
    load: &str,
    n: usize,
    seeds: usize,
    ms: u64,
) -> (String, String, String, usize, u64) {
    let workload = format!("periodic:n={n},period=16ms,duty=5%");
    (board.to_owned(), load.to_owned(), workload, seeds, ms)
}

fn refused(text: &str) -> String {
    Battery::from_toml(text, "two.toml")
        .unwrap_err()
        .to_string()
}

#[test]
fn cells_stand_by_boards_then_loads() {
    let expected = [
        line("hikey960", "many", 16, 3, 200),
        line("juno-r0", "many", 12, 3, 200),
        line("juno-r0", "few", 1, 3, 300),
    ];
    assert_eq!(cells(&asked()), expected);
}

#[test]
fn own_boards_have_all_loads() {
    let mut own = asked();
    own.platforms = vec![Source::named("rk3588")];
    let expected = [
        line("rk3588", "many", 16, 3, 200),
        line("rk3588", "few", 2, 3, 300),
    ];
    assert_eq!(cells(&own), expected);
}

#[test]
fn what_is_asked_comes_before_the_file() {
    let mut own = asked();
    own.platforms = vec![Source::named("hikey960")];
    own.seeds = vec![4, 5];
    own.duration_ns = Some(50_000_000);
    let expected = [
        line("hikey960", "many", 16, 2, 50),
        line("hikey960", "few", 2, 2, 50),
    ];
    assert_eq!(cells(&own), expected);
}

#[test]
fn a_load_is_sized_to_its_board() {
    let of = |text: &str| sized(text, 6).unwrap();
    assert_eq!(of("n={cpus}"), "n=6");
    assert_eq!(of("n={cpus*3},m={cpus/4}"), "n=18,m=1");
    assert_eq!(of("n={cpus/100}"), "n=1", "never nothing");
    for wrong in ["{cpu}", "{cpus", "{cpus/0}", "{cpus+1}", "{}", "{cpus*}"] {
        assert!(sized(wrong, 6).is_err(), "{wrong}");
    }
}

#[test]
fn what_is_wrong_is_named() {
    let with = |from: &str, to: &str| refused(&TWO.replacen(from, to, 1));
    let unknown = with("boards = [\"juno-r0\"]", "boards = [\"juno-r1\"]");
    let expected = "two.toml:15:11: unknown board `juno-r1`; expected one of hikey960, juno-r0; \
                    did you mean `juno-r0`?";
    assert_eq!(unknown, expected);
    assert!(with("\"few\"", "\"many\"").contains("two.toml:12:8: load `many` stands twice"));
    assert!(with("{cpus/4}", "{cpus/0}").contains("two.toml:13:12: "));
    assert!(with("seeds = 3", "seeds = 0").contains("two.toml:3:9: "));
    assert!(with("duration", "durations").contains("`duration`"));
    for (from, place) in [("\"200ms\"", "4:12"), ("\"300ms\"", "14:12")] {
        let number = with(from, "1");
        let expected = format!(
            "two.toml:{place}: `duration` is no text; expected a time with its unit, as \"1s\""
        );
        assert_eq!(number, expected);
    }
    let none = with("boards = [\"hikey960\", \"juno-r0\"]", "boards = []");
    assert!(none.contains("two.toml:5:10: no board"), "{none}");
    let nowhere = with("boards = [\"juno-r0\"]", "boards = []");
    assert!(
        nowhere.contains("two.toml:12:8: load `few` runs on no board"),
        "{nowhere}"
    );
    let empty = "title = \"a\"\nseeds = 1\nduration = \"1s\"\nboards = [\"tc2\"]\nload = []\n";
    assert!(refused(empty).contains("no load; expected at least one"));
    let name = Battery::load("smal").unwrap_err().to_string();
    let expected = "unknown battery `smal`; expected one of small, quick, full, or a TOML file; \
                    did you mean `small`?";
    assert_eq!(name, expected);
}

/// Goal: a load's deadlines are those of its file, from beside the battery's; its hints reach its
/// tasks, and what is asked for comes before them. Both are refused with their place or load.
#[test]
fn loads_have_deadlines_and_hints() {
    let folder = std::env::temp_dir().join(format!("wakeplace-battery-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let put = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    put(
        "camera.json",
        r#"{"tasks": {"ui": {"run": 1000, "timer": {"ref": "unique", "period": 16000}}}}"#,
    );
    put("due.txt", r#"{"screen": {"from": "ui", "deadline": 5000}}"#);
    let load = "[[load]]\nname = \"camera\"\nworkload = \"camera.json\"\n";
    let of = |more: &str, asked: &Request| {
        let text = format!("{TWO}\n{load}{more}");
        let name = folder.join("own.toml");
        let battery = Battery::from_toml(&text, &name.to_string_lossy())?;
        let cells = battery.cells(asked)?;
        Ok::<_, crate::StudyError>(cells.into_iter().find(|cell| cell.load == "camera"))
    };
    let hint = |value: u32| ("task.ui.util_min".to_owned(), value.to_string());
    let more = "deadlines = \"due.txt\"\nset = [\"task.ui.util_min=300\"]\n";
    let cell = of(more, &asked()).unwrap().unwrap();
    let workload = cell.experiment.first_workload().unwrap();
    assert_eq!(workload.chains[0].deadline_ns, 5_000_000);
    assert_eq!(cell.request.set, [hint(300)]);
    let hints: Vec<_> = cell.experiment.workload.hints().collect();
    assert_eq!(hints[0].pair().1, "300");
    let mut other = asked();
    other.set = vec![hint(500)];
    // No other load of the battery has such a task: theirs are models.
    let error = of(more, &other).unwrap_err().to_string();
    assert!(error.contains("is no rt-app file"), "{error}");
    let wrong = |more: &str| of(more, &asked()).unwrap_err().to_string();
    let policy = wrong("set = [\"busy_factor=8\"]");
    assert!(
        policy.contains(":20:8: `busy_factor` is no hint of a task"),
        "{policy}"
    );
    let nobody = wrong("set = [\"task.gpu.util_min=300\"]");
    assert!(
        nobody.contains("load `camera`") && nobody.contains("gpu"),
        "{nobody}"
    );
    let absent = wrong("deadlines = \"dew.txt\"");
    assert!(
        absent.contains("load `camera`") && absent.contains("dew.txt"),
        "{absent}"
    );
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn every_built_in_battery_can_be_run() {
    for name in Battery::names() {
        let battery = Battery::load(name).unwrap();
        for cell in battery.cells(&asked()).unwrap() {
            let of = &cell.experiment;
            let runs = of.first_workload().map(|_| ());
            assert!(
                runs.is_ok(),
                "{name}: {} on {}: {runs:?}",
                cell.load,
                of.platform.name
            );
        }
    }
}
