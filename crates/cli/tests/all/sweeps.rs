//! Sweeps: what is in the store stays there, whatever ends the program.
//! Page: docs/guide/results.md, "Sweeps"; docs/guide/cluster.md.
//!
//! What must stay: no committed cell is lost, none is made twice, and the end is the same bytes
//! however often it was killed.
//! Tests by part (in crates/cli/src): args/sweep.rs: `a_killed_sweep_goes_on` (`store`, `export`),
//! `a_key_is_varied_once` (`vary`, `file`, `metric`), `no_run_counts_twice` (`latin_hypercube`);
//! commands/sweep.rs: `a_killed_sweep_goes_on` (`run`, `write_export`),
//! `two_processes_share_a_store` (`Summary`), `a_store_of_anybodys_ends_with_a_sentence`
//! (`failure`), `a_stuck_cell_does_not_end_the_sweep` (`points`), `a_key_is_varied_once`
//! (`definition`), `options_that_fit_no_cell_are_refused` (what is checked before the store is
//! made); crates/store/src/db.rs: `two_processes_share_a_store` (`change`);
//! crates/store/src/error.rs: `a_store_of_something_else_is_refused` (`refused`),
//! `a_store_of_anybodys_ends_with_a_sentence` (exit code and sentence);
//! crates/study/src/sweep/mod.rs: `a_store_of_something_else_is_refused` (`definition`, `inputs`);
//! crates/store/src/sweep.rs: `a_stuck_cell_does_not_end_the_sweep` (`took`, `failed`);
//! args/values.rs: `no_run_counts_twice` (`points`); args/asked.rs: `study_run_takes_a_file`
//! (`from_arg_matches`); args/simulate.rs: `study_run_takes_a_file` (`store`).
//! crates/cli/src/gate.rs: `a_strict_choice_holds_in_each_run` (`in_each_run`); expect.rs:
//! `the_smallest_that_holds_is_chosen` (`left_out`); crates/report/src/table.rs:
//! `the_chosen_point_is_in_the_table` (`first_and`).
//! Helpers, and who fails with them: `start`, `count`, `until_done` (`a_killed_sweep_goes_on`);
//! `sweep` (`a_killed_sweep_goes_on`, `two_processes_share_a_store`, `a_key_is_varied_once`,
//! `options_that_fit_no_cell_are_refused`); `summary` (`two_processes_share_a_store`); `summary_in`
//! (`two_processes_share_a_store`, `a_store_of_something_else_is_refused`, `no_run_counts_twice`).

use crate::common;

use common::{assert_code, folder, program, run_in, stderr, stdout};
use rusqlite::Connection;
use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::Duration;

const SWEEP: [&str; 9] = [
    "sweep",
    "--platform=hikey960",
    "--workload=periodic:n=2",
    "--policy=linux-7.3",
    "--vary=busy_factor=4..32:8",
    "--vary=workload.duty=5%,10%",
    "--seeds=12",
    "--duration=50ms",
    "--format=csv",
];
/// 8 by 2 points by 12 seeds.
const CELLS: u64 = 192;

fn sweep(folder: &Path, more: &[&str]) -> std::process::Output {
    run_in(folder, &[&SWEEP[..], more].concat())
}

fn start(folder: &Path, more: &[&str]) -> Child {
    let mut command = program(folder);
    command.args(SWEEP).args(more);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("the program starts")
}

/// What the summary says: in the store before, and made.
fn summary(output: &std::process::Output) -> (u64, u64) {
    let [cells, found, made] = summary_in(&stderr(output));
    assert_eq!(cells, CELLS);
    (found, made)
}

/// All cells, those in the store before, and made. On a slow machine progress is told before.
fn summary_in(said: &str) -> [u64; 3] {
    let line = said.lines().find(|line| line.contains(" cells: "));
    let numbers = line.expect(said).split(|c: char| !c.is_ascii_digit());
    let numbers: Vec<u64> = numbers.filter_map(|n| n.parse().ok()).collect();
    numbers[..3].try_into().expect(said)
}

fn count(store: &Connection, table: &str) -> u64 {
    let sql = format!("SELECT COUNT(*) FROM {table}");
    let number = store.query_row(&sql, [], |row| row.get::<_, i64>(0));
    number.expect("a table").cast_unsigned()
}

/// Goal: killed at random moments, a sweep loses no committed cell, and ends with the same bytes as
/// one that nobody killed. That none is made again, `claim` sees to (tests of the store).
#[test]
fn a_killed_sweep_goes_on() {
    let kills = std::env::var("WAKEPLACE_KILLS").map_or(12, |n| n.parse().expect("a number"));
    let folder = folder();
    let folder = folder.path();
    let whole = sweep(folder, &["--export=whole.csv"]);
    assert_code(&whole, 0);
    let mut left = kills;
    let mut round = 0;
    // One store is done after some kills: then another one.
    while left > 0 {
        round += 1;
        let name = format!("runs-{round}.db");
        let more = format!("--store={name}");
        left -= until_done(folder, &name, &more, left);
        let last = sweep(folder, &[&more, "--export=ours.csv"]);
        assert_code(&last, 0);
        assert_eq!(stdout(&last), stdout(&whole));
        let read = |name: &str| fs::read(folder.join(name)).expect(name);
        assert!(read("ours.csv") == read("whole.csv"), "other runs");
    }
}

/// Kills it until its store is done, or so often; how often that was.
fn until_done(folder: &Path, name: &str, more: &str, most: u32) -> u32 {
    // SplitMix64's constants would do no more here: moments, not statistics.
    let mut state = u64::from(most);
    let mut known = 0;
    let mut kills = 0;
    let mut store: Option<Connection> = None;
    while kills < most && known < CELLS {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let mut child = start(folder, &[more]);
        sleep(Duration::from_millis(20 + (state >> 33) % 150));
        child.kill().expect("SIGKILL");
        child.wait().expect("an end");
        kills += 1;
        let path = folder.join(name);
        let made = || {
            let store = Connection::open(&path).ok()?;
            let sql = "SELECT COUNT(*) FROM sqlite_master WHERE name = 'run'";
            let tables = store.query_row(sql, [], |row| row.get::<_, i64>(0));
            tables.is_ok_and(|n| n == 1).then_some(store)
        };
        store = store.or_else(made);
        if let Some(store) = &store {
            let now = count(store, "cell");
            assert!(
                now >= known,
                "{known} cells were committed, and {now} are left"
            );
            assert_eq!(count(store, "run"), now);
            known = now;
        }
    }
    kills
}

/// Goal: two processes share the work of one store; no cell is made by both.
#[test]
fn two_processes_share_a_store() {
    let folder = folder();
    let folder = folder.path();
    let other = {
        let mut command = program(folder);
        command.args(SWEEP).arg("--store=runs.db");
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("the program starts")
    };
    let one = sweep(folder, &["--store=runs.db"]);
    let other = other.wait_with_output().expect("an end");
    assert_code(&one, 0);
    assert_code(&other, 0);
    assert_eq!(summary(&one).1 + summary(&other).1, CELLS);
    assert_eq!(stdout(&one), stdout(&other));
    let again = sweep(folder, &["--store=runs.db"]);
    assert_eq!(summary(&again), (CELLS, 0));
}

#[test]
fn a_store_of_something_else_is_refused() {
    let folder = folder();
    let folder = folder.path();
    let vary = ["--seeds=1", "--duration=10ms", "--store=runs.db"];
    let small = |more: &[&str]| {
        let base = [&SWEEP[..4], &SWEEP[5..6], &vary].concat();
        run_in(folder, &[&base[..], more].concat())
    };
    assert_code(&small(&[]), 0);
    let refused = |output: std::process::Output, said: &str| {
        assert_code(&output, 2);
        assert!(stderr(&output).contains(said), "{}", stderr(&output));
    };
    refused(
        small(&["--policy=linux-5.0"]),
        "it has the runs of another sweep: this one's policy is `linux-5.0`, too; it was made by: \
         wakeplace sweep",
    );
    fs::write(
        folder.join("text.db"),
        "no database at all, though long enough",
    )
    .expect("a file");
    refused(small(&["--store=text.db"]), "cannot be used multiple times");
    let text = [&SWEEP[..6], &["--store=text.db"]].concat();
    refused(run_in(folder, &text), "is no store of runs");
    assert!(
        fs::read(folder.join("text.db"))
            .expect("kept")
            .starts_with(b"no database")
    );
    let foreign = Connection::open(folder.join("other.db")).expect("a database");
    foreign
        .execute_batch("CREATE TABLE mine (x)")
        .expect("a table");
    let other = [&SWEEP[..6], &["--store=other.db"]].concat();
    refused(run_in(folder, &other), "no store of runs");
    let store = Connection::open(folder.join("runs.db")).expect("the store");
    store
        .pragma_update(None, "user_version", 99)
        .expect("a number");
    refused(small(&[]), "version 99");
    let none = [&SWEEP[..6], &["--store=no/such/folder.db"]].concat();
    refused(run_in(folder, &none), "a folder that exists");
}

/// Goal: a file that is swept has changed: its runs are others.
#[test]
fn a_store_of_files_that_changed_is_refused() {
    let folder = folder();
    let folder = folder.path();
    let refused = |output: std::process::Output, said: &str| {
        assert_code(&output, 2);
        assert!(stderr(&output).contains(said), "{}", stderr(&output));
    };
    let load = |run: u32| {
        let tasks = format!(r#"{{"tasks": {{"a": {{"run": {run}, "sleep": 9000}}}}}}"#);
        fs::write(folder.join("load.json"), tasks).expect("a file");
        let args = [
            "sweep",
            "--platform=hikey960",
            "--workload=load.json",
            "--policy=linux-7.3",
            "--vary=busy_factor=4,5",
            "--seeds=1",
            "--duration=10ms",
            "--store=files.db",
        ];
        run_in(folder, &args)
    };
    assert_code(&load(500), 0);
    assert_eq!(summary_in(&stdout(&load(500))), [2, 2, 0]);
    refused(load(600), "of files that changed");
    assert_eq!(summary_in(&stdout(&load(500))), [2, 2, 0]);
    // The same where the file is a value of an axis, beside one that is new.
    let varied = |more: &str| {
        let vary = format!("--vary=workload=load.json,{more}");
        let args = ["sweep", "--platform=hikey960", "--policy=linux-7.3", &vary];
        let how = ["--seeds=1", "--duration=10ms", "--store=varied.db"];
        run_in(folder, &[&args[..], &how].concat())
    };
    assert_code(&varied("periodic:n=1"), 0);
    assert_eq!(summary_in(&stdout(&varied("periodic:n=2"))), [2, 1, 1]);
    load(600);
    refused(varied("periodic:n=3"), "of files that changed");
}

/// Goal: values that are added to an axis or dropped from it leave the sweep the same one: what is
/// there is not run again, and the result is that of a sweep without a store.
#[test]
fn a_sweep_grows_in_its_store() {
    let folder = folder();
    let small = |vary: &str, more: &[&str]| {
        let vary = format!("--vary={vary}");
        let how = ["--seeds=2", "--duration=10ms", "--format=csv"];
        run_in(folder.path(), &[&SWEEP[..4], &how, &[&vary], more].concat())
    };
    for (vary, numbers) in [
        ("busy_factor=4..16:3", [6, 0, 6]),
        ("busy_factor=4,10,16,22", [8, 6, 2]),
        ("busy_factor=22,4", [4, 4, 0]),
        ("busy_factor=4..16:3", [6, 6, 0]),
    ] {
        let output = small(vary, &["--store=runs.db", "--export=ours.csv"]);
        assert_code(&output, 0);
        assert_eq!(summary_in(&stderr(&output)), numbers, "{vary}");
        let alone = small(vary, &["--export=whole.csv"]);
        assert_eq!(stdout(&output), stdout(&alone), "{vary}");
        let read = |name: &str| fs::read(folder.path().join(name)).expect(name);
        assert!(read("ours.csv") == read("whole.csv"), "{vary}: other runs");
    }
}

/// Goal: a store of anybody's ends the program with exit code 2 and one sentence, and no export is
/// left half-written.
#[test]
fn a_store_of_anybodys_ends_with_a_sentence() {
    let folder = folder();
    let folder = folder.path();
    let small = |store: &str| {
        let store = format!("--store={store}");
        let more = ["--seeds=2", "--duration=10ms", "--export=out.csv", &store];
        run_in(folder, &[&SWEEP[..4], &SWEEP[5..6], &more].concat())
    };
    assert_code(&small("good.db"), 0);
    fs::remove_file(folder.join("out.csv")).expect("written");
    for (name, sql) in [
        (
            "maxcell.db",
            "UPDATE cell SET cell = 9223372036854775807 WHERE cell = 3",
        ),
        (
            "view.db",
            "ALTER TABLE cell RENAME TO own;
             CREATE VIEW cell AS WITH RECURSIVE n(x) AS
                 (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x AS cell FROM n",
        ),
        (
            "lease.db",
            "DELETE FROM cell WHERE cell = 3; UPDATE lease SET done = 0, owner = '1::0',
                 until_ms = 9223372036854775807 WHERE chunk = 3",
        ),
        ("leaseneg.db", "UPDATE lease SET chunk = -5 WHERE chunk = 3"),
        (
            "trig.db",
            "CREATE TRIGGER empty AFTER UPDATE ON lease
             BEGIN UPDATE run SET metrics = x''; END",
        ),
        (
            "swap.db",
            "UPDATE cell SET key = (SELECT key FROM cell WHERE cell = 1) WHERE cell = 3",
        ),
    ] {
        fs::copy(folder.join("good.db"), folder.join(name)).expect("a copy");
        let store = Connection::open(folder.join(name)).expect("the store");
        store.execute_batch(sql).expect(sql);
        drop(store);
        common::assert_refused(&small(name), &[name]);
    }
    for name in ["file:uri.db?mode=memory", ":memory:", "/dev/zero"] {
        common::assert_refused(&small(name), &[name]);
    }
    assert!(!folder.join("out.csv").exists());
}

/// Goal: a cell that gets stuck is recorded as such, and the rest goes on.
#[test]
fn a_stuck_cell_does_not_end_the_sweep() {
    let folder = folder();
    common::stuck_load(&folder);
    let args = [
        "sweep",
        "--platform=hikey960",
        "--policy=linux-7.3",
        "--vary=workload=stuck.json,periodic:n=1",
        "--seeds=1",
        "--duration=10ms",
        "--export=runs.csv",
    ];
    let output = run_in(folder.path(), &args);
    assert_code(&output, 1);
    assert!(
        stdout(&output).contains("1 could not be run or got stuck\nthe first of these: stuck"),
        "{}",
        stdout(&output)
    );
    let runs = fs::read_to_string(folder.path().join("runs.csv")).expect("written");
    assert_eq!(runs.lines().count(), 3, "{runs}");
    assert!(
        runs.lines()
            .nth(1)
            .is_some_and(|line| line.contains(",stuck,")),
        "{runs}"
    );
}

/// Goal: a key is varied once by the options, which go before the file.
#[test]
fn a_key_is_varied_once() {
    let folder = folder();
    let output = sweep(folder.path(), &["--vary=busy_factor=9,10"]);
    assert_code(&output, 2);
    let said = stderr(&output);
    assert!(said.contains("busy_factor: it is varied twice"), "{said}");
    let twice = ["--metric=energy_j", "--metric=energy_j"];
    let output = sweep(folder.path(), &twice);
    common::assert_refused(&output, &["`energy_j` is named twice"]);
    let file = r#"
        platform = "hikey960"
        workload = "periodic:n=1"
        policies = ["linux-7.3"]
        duration = "10ms"
        seeds = 1
        [vary]
        busy_factor = [4, 5]
    "#;
    common::file(&folder, "sweep.toml", file);
    let args = [
        "sweep",
        "sweep.toml",
        "--vary=busy_factor=9,10,11",
        "--format=csv",
    ];
    let output = run_in(folder.path(), &args);
    assert_code(&output, 0);
    let of = |line: &str| line.split(',').next().map(str::to_owned);
    let varied: Vec<_> = stdout(&output).lines().skip(1).filter_map(of).collect();
    assert_eq!(varied, ["9", "10", "11"]);
}

/// Goal: equal points are one, and a name that stands twice is refused: no interval is narrower
/// than its runs make it.
#[test]
fn no_run_counts_twice() {
    let folder = folder();
    let small = |more: &[&str]| {
        let base = [
            "sweep",
            "--platform=hikey960",
            "--workload=periodic:n=1",
            "--policy=linux-7.3",
            "--duration=10ms",
            "--seeds=2",
            "--format=csv",
        ];
        run_in(folder.path(), &[&base[..], more].concat())
    };
    for (more, cells) in [
        (&["--vary=workload.n=1..2:9"][..], 4),
        (&["--vary=workload.n=1..3", "--latin-hypercube=40"], 6),
    ] {
        let output = small(more);
        assert_code(&output, 0);
        assert_eq!(summary_in(&stderr(&output)), [cells, 0, cells]);
        let rows = stdout(&output).lines().skip(1).count() as u64;
        assert_eq!(rows, cells / 2, "{}", stdout(&output));
    }
    for (again, said) in [
        ("--platform=hikey960", "platform: `hikey960` stands twice"),
        ("--workload=periodic:n=1", "workload: `periodic:n=1` stands"),
        ("--policy=linux-7.3", "policy: `linux-7.3` stands twice"),
    ] {
        let output = small(&["--vary=busy_factor=4,5", again]);
        common::assert_refused(&output, &[said]);
    }
}

/// Goal: options that fit no cell are refused as by `sim`, before anything is written.
#[test]
fn options_that_fit_no_cell_are_refused() {
    let folder = folder();
    for (option, said) in [
        ("--hotplug=0s:99=off", "has no CPU 99"),
        ("--set=model.parent_cpu=99", "model.parent_cpu is 99"),
        ("--hotplug=1s:1=off", "the run is over at 50ms"),
    ] {
        let output = sweep(folder.path(), &[option, "--store=runs.db"]);
        common::assert_refused(&output, &[said]);
        assert!(!folder.path().join("runs.db").exists(), "{option}");
    }
}

/// Goal: a sweep's page is made of its JSON alone, and beside any form of the result; two sweeps
/// are compared point by point.
#[test]
fn a_sweep_has_a_page() {
    let folder = folder();
    let small = |more: &[&str]| {
        let how = ["--seeds=2", "--duration=20ms", "--vary=busy_factor=4,16"];
        run_in(folder.path(), &[&SWEEP[..4], &how, more].concat())
    };
    let json = ["--format=json", "--output=s.json", "--export-html=a.html"];
    assert_code(&small(&json), 0);
    assert_code(&small(&["--format=csv", "--export-html=b.html"]), 0);
    let report = ["report", "s.json", "--output=c.html"];
    assert_code(&run_in(folder.path(), &report), 0);
    let read = |name: &str| fs::read(folder.path().join(name)).expect(name);
    assert!(read("a.html") == read("b.html") && read("a.html") == read("c.html"));
    let page = String::from_utf8(read("a.html")).expect("text");
    assert!(page.contains("Sweep of busy_factor") && page.contains("Along busy_factor"));
    let other = [
        "--vary=busy_factor=16,32",
        "--format=json",
        "--output=t.json",
    ];
    let how = ["--seeds=2", "--duration=20ms"];
    assert_code(
        &run_in(folder.path(), &[&SWEEP[..4], &how, &other].concat()),
        0,
    );
    let output = run_in(folder.path(), &["diff", "s.json", "t.json"]);
    assert_code(&output, 0);
    let said = stdout(&output);
    assert!(said.starts_with("s.json → t.json: 2 pairs, "), "{said}");
    let same = "\nhikey960, busy_factor=16, periodic:n=2, linux-7.3: the same\n";
    assert!(said.contains(same), "{said}");
    // What is left is the likest: another value of what is varied.
    let other = "hikey960, busy_factor=32, periodic:n=2, linux-7.3: ";
    assert!(
        said.contains(other) && said.contains("busy_factor: 4, then 32"),
        "{said}"
    );
}

/// A sweep of the governor, whose own value comes last: light work at the highest clock takes more
/// energy, whatever the seed draws.
fn governors(folder: &Path, more: &[&str]) -> std::process::Output {
    let asked = [
        "sweep",
        "--platform=hikey960",
        "--workload=periodic:n=4,period=16ms,duty=5%,start=spread",
        "--policy=linux-7.3",
        "--vary=governor=performance,schedutil",
        "--seeds=5",
        "--duration=500ms",
        "--metric=cpu_energy_j",
    ];
    run_in(folder, &[&asked[..], more].concat())
}

/// Goal: each point has its change from the base in every form: the policy's own value, or the one
/// that is named; a base that is no point is refused before anything runs.
#[test]
fn points_have_changes_from_a_base() {
    let folder = folder();
    let words = |more: &[&str]| {
        let output = governors(folder.path(), &[&["--format=csv"], more].concat());
        assert_code(&output, 0);
        let text = stdout(&output);
        let heads: Vec<&str> = text.lines().next().unwrap_or_default().split(',').collect();
        let at = heads
            .iter()
            .position(|head| *head == "cpu_energy_j_difference")
            .expect(&text);
        // The workload's name has commas, in quotes: columns are counted from the end.
        let from_end = heads.len() - at;
        let word = |line: &str| {
            line.rsplit(',')
                .nth(from_end - 1)
                .unwrap_or_default()
                .to_owned()
        };
        text.lines().skip(1).map(word).collect::<Vec<_>>()
    };
    assert_eq!(words(&[]), ["worse", ""]);
    assert_eq!(words(&["--base=governor=performance"]), ["", "better"]);
    // No difference of less than 9000 % matters.
    assert_eq!(words(&["--margin=9000"]), ["none that matters", ""]);
    let said = stdout(&governors(folder.path(), &[]));
    assert!(
        said.contains("changes are from governor=schedutil"),
        "{said}"
    );
    assert!(said.contains("worse") && said.contains("base"), "{said}");
    for (base, part) in [
        (
            "governor=ondemand",
            "--base governor=ondemand: no point has `ondemand`; expected one of performance, \
             schedutil",
        ),
        ("governer=schedutil", "did you mean `governor`?"),
        ("governor", "it is no KEY=VALUE"),
    ] {
        let output = governors(folder.path(), &["--base", base, "--store=s.db"]);
        common::assert_refused(&output, &[part]);
        assert!(!folder.path().join("s.db").exists());
    }
}

/// A sweep over a hint of three values.
fn hints(folder: &Path, more: &[&str]) -> std::process::Output {
    let asked = [
        "sweep",
        "--platform=hikey960",
        "--workload=periodic:n=2,period=16ms,duty=5%,start=spread",
        "--policy=linux-7.3",
        "--vary=workload.uclamp_min=0%,60%,100%",
        "--seeds=3",
        "--duration=300ms",
        "--metric=cpu_energy_j",
    ];
    run_in(folder, &[&asked[..], more].concat())
}

/// The points of a sweep's JSON.
fn rows(output: &std::process::Output) -> Vec<serde_json::Value> {
    let value: serde_json::Value = serde_json::from_str(&stdout(output)).expect("JSON");
    value["points"].as_array().expect("points").clone()
}

/// A key of each point that is true, false or absent.
fn marks(rows: &[serde_json::Value], key: &str) -> Vec<Option<bool>> {
    rows.iter().map(|row| row[key].as_bool()).collect()
}

/// A condition that all points but the first hold: a hint of more needs more energy.
fn between_the_first_two(output: &std::process::Output) -> String {
    let points = rows(output);
    let energies = points.iter().filter_map(|row| row["cpu_energy_j"].as_f64());
    let energies: Vec<f64> = energies.collect();
    assert!(
        energies[0] < energies[1] && energies[1] < energies[2],
        "{energies:?}"
    );
    let limit = (energies[0] + energies[1]) / 2.0;
    format!("--expect=cpu_energy_j>{limit}")
}

/// Goal: the least value of a key whose points hold all conditions is chosen, and that decides the
/// exit code; the page and the JSON mark it. A hint of more needs more energy: the condition lies
/// between the first two.
#[test]
fn the_smallest_that_holds_is_chosen() {
    let folder = folder();
    let sweep = |more: &[&str]| hints(folder.path(), more);
    let condition = between_the_first_two(&sweep(&["--format=json"]));
    let choose = [condition.as_str(), "--choose=workload.uclamp_min"];
    let output = sweep(&[&choose[..], &["--format=json", "--export-html=p.html"]].concat());
    assert_code(&output, 0);
    let found = rows(&output);
    assert_eq!(
        marks(&found, "holds"),
        [Some(false), Some(true), Some(true)]
    );
    assert_eq!(
        marks(&found, "chosen"),
        [Some(false), Some(true), Some(false)]
    );
    let said = "workload.uclamp_min=60% has the least workload.uclamp_min of the 2 of 3 points";
    let page = fs::read_to_string(folder.path().join("p.html")).expect("a page");
    assert!(page.contains(said));
    let text = stdout(&sweep(
        &[&choose[..], &["--export-junit=checks.xml"]].concat(),
    ));
    // The chosen point comes first; of the checks it was made by, how many hold.
    let first = "chosen: workload.uclamp_min=60%: ";
    assert!(text.starts_with(first) && text.contains(said), "{text}");
    assert!(text.ends_with(": 2 of 3 points hold\n"), "{text}");
    assert!(!text.contains("expectations failed"), "{text}");
    let text = stdout(&sweep(&[&choose[..], &["--verbose"]].concat()));
    assert!(text.contains("1 of 3 expectations failed: "), "{text}");
    // A file for CI is as green as the exit code: the point that does not hold is left out.
    let junit = fs::read_to_string(folder.path().join("checks.xml")).expect("a file");
    assert!(!junit.contains("<failure"), "{junit}");
    assert_eq!(junit.matches("<skipped").count(), 1, "{junit}");
    assert!(junit.contains(" J; not chosen"), "{junit}");
    // Where none is chosen it is red.
    let none = ["--expect=cpu_energy_j<0", "--choose=workload.uclamp_min"];
    let output = sweep(&[&none[..], &["--export-junit=checks.xml"]].concat());
    assert_code(&output, 1);
    let junit = fs::read_to_string(folder.path().join("checks.xml")).expect("a file");
    assert_eq!(junit.matches("<failure").count(), 3, "{junit}");
}

/// Goal: of a load with frames these are the first metrics, and they choose nothing: with a
/// condition on them the energy does. By hand: 512 of 1024 for the task that draws needs more.
#[test]
fn frames_come_first_and_choose_nothing() {
    let folder = folder();
    let load = common::repository("workloads/scroll-busy.json");
    let load = format!("--workload={}", load.display());
    let asked = [
        "sweep",
        "--platform=gs101",
        &load,
        "--policy=linux-7.3",
        "--vary=task.render.util_min=0,1024",
        "--seeds=2",
        "--duration=300ms",
        "--expect=missed_frames_total<=1000",
    ];
    let output = run_in(folder.path(), &[&asked[..], &["--format=json"]].concat());
    assert_code(&output, 0);
    let value: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    assert_eq!(value["measured_by"][0], "missed_frames_total");
    assert_eq!(value["choice"]["by"], "cpu_energy_j");
    let figures = &value["choice"]["groups"][0]["figures"];
    assert_eq!(figures[0]["metric"], "missed_frames_total");
    assert_eq!(figures[1]["metric"], "cpu_energy_j");
    let named = ["--metric=missed_frames_total", "--format=json"];
    let output = run_in(folder.path(), &[&asked[..], &named].concat());
    let named_value: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    assert_eq!(named_value["choice"]["by"], "missed_frames_total");
    // Dropped frames have a column by themselves only where some run has one.
    let named = ["--metric=dropped_frames_total", "--format=json"];
    let output = run_in(folder.path(), &[&asked[..], &named].concat());
    let dropped: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    let points = dropped["points"].as_array().expect("points").iter();
    let some = { points }.any(|point| point["dropped_frames_total"].as_f64() > Some(0.0));
    let measured_by = value["measured_by"].to_string();
    assert_eq!(measured_by.contains("dropped_frames_total"), some);
}

/// Goal: a condition that the chosen point holds by few frames is warned of, in JSON, in text and
/// on the page. By hand: at its own mean a point holds, and the upper end of an interval lies above
/// any share but the whole; a limit above all of its frames is beyond doubt.
#[test]
fn a_condition_that_few_frames_cannot_tell_is_warned_of() {
    let folder = folder();
    let load = common::repository("workloads/scroll-busy.json");
    let load = format!("--workload={}", load.display());
    let sweep = |limit: f64, more: &[&str]| {
        let limit = format!("--expect=missed_frames_total<={limit}");
        let asked = [
            "sweep",
            "--platform=gs101",
            &load,
            "--policy=linux-7.3",
            "--vary=task.render.util_min=0",
            "--seeds=2",
            "--duration=300ms",
            &limit,
        ];
        let output = run_in(folder.path(), &[&asked[..], more].concat());
        assert_code(&output, 0);
        output
    };
    let json = |limit: f64| -> serde_json::Value {
        let output = sweep(limit, &["--format=json", "--export-html=page.html"]);
        serde_json::from_str(&stdout(&output)).expect("JSON")
    };
    let words = "may not hold with other seeds: task.render.util_min=0 had ";
    let sure = json(1e6);
    assert!(!sure["warnings"].to_string().contains(words), "{sure}");
    let mean = sure["points"][0]["missed_frames_total"].as_f64();
    let mean = mean.expect("a mean");
    let unsure = json(mean);
    assert!(unsure["warnings"].to_string().contains(words), "{unsure}");
    let page = std::fs::read_to_string(folder.path().join("page.html")).expect("the page");
    assert!(page.contains("may not hold with other seeds"));
    let said = stderr(&sweep(mean, &[]));
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains(words), "{said}");
}

/// Goal: the chosen point has its row where the table stops: by hand, of 60 values of a key the
/// last is the least, the 60th row.
#[test]
fn the_chosen_point_is_in_the_table() {
    let folder = folder();
    let asked = [
        "sweep",
        "--platform=hikey960",
        "--workload=periodic:n=1",
        "--policy=linux-7.3",
        "--vary=busy_factor=60..1:60",
        "--seeds=1",
        "--duration=1ms",
        "--expect=cpu_energy_j>=0",
        "--choose=busy_factor",
    ];
    let output = run_in(folder.path(), &asked);
    assert_code(&output, 0);
    let text = stdout(&output);
    assert!(text.starts_with("chosen: busy_factor=1: "), "{text}");
    assert!(text.contains("\n9 points more: --format csv"), "{text}");
    let is_chosen = |line: &&str| line.starts_with("1 ") && line.trim_end().ends_with("yes");
    assert!(text.lines().any(|line| is_chosen(&line)), "{text}");
}

/// Goal: the limit lies between the mean and the largest of three runs of the first point: their
/// mean holds, and with `--strict` each run has to.
#[test]
fn a_strict_choice_holds_in_each_run() {
    let folder = folder();
    let sweep = |more: &[&str]| hints(folder.path(), more);
    let value: serde_json::Value =
        serde_json::from_str(&stdout(&sweep(&["--format=json"]))).expect("JSON");
    let runs = value["point_runs"][0]["seed_runs"]
        .as_array()
        .expect("runs");
    let energies = runs
        .iter()
        .filter_map(|run| run["metrics"]["cpu_energy_j"].as_f64());
    let energies: Vec<f64> = energies.collect();
    let most = energies.iter().copied().fold(0.0, f64::max);
    let mean = energies.iter().sum::<f64>() / energies.len() as f64;
    assert!(most > mean * 1.000_001, "{energies:?}");
    let condition = format!("--expect=cpu_energy_j<={}", f64::midpoint(mean, most));
    let choose = [condition.as_str(), "--choose=workload.uclamp_min"];
    let output = sweep(&choose);
    assert_code(&output, 0);
    let said = stdout(&output).replace('\n', " ");
    assert!(
        said.contains("workload.uclamp_min=0% has the least"),
        "{said}"
    );
    let strict = sweep(&[&choose[..], &["--strict"]].concat());
    assert_code(&strict, 1);
    let said = stdout(&strict).replace('\n', " ");
    for part in [
        "none of 3 points holds",
        "; nearest: workload.uclamp_min=0%",
    ] {
        assert!(said.contains(part), "{said}");
    }
}

/// Goal: without a choice by name the first metric chooses among what holds; where nothing holds
/// nothing is chosen, and a choice by what has no order is refused.
#[test]
fn a_choice_needs_what_holds_and_an_order() {
    let folder = folder();
    let sweep = |more: &[&str]| hints(folder.path(), more);
    let condition = between_the_first_two(&sweep(&["--format=json"]));
    // Without a choice by name the checks decide, and the first metric of the table chooses.
    let output = sweep(&[&condition, "--format=json"]);
    assert_code(&output, 1);
    assert_eq!(
        marks(&rows(&output), "chosen"),
        [Some(false), Some(true), Some(false)]
    );
    let output = sweep(&["--expect=cpu_energy_j<0", "--choose=workload.uclamp_min"]);
    assert_code(&output, 1);
    assert!(
        stdout(&output).contains("none of 3 points holds"),
        "{}",
        stdout(&output)
    );
    let word = governors(folder.path(), &["--choose=governor"]);
    common::assert_refused(
        &word,
        &["`performance` of governor is neither a number nor a time"],
    );
    let near = sweep(&["--choose=workload.uclamp_mi"]);
    common::assert_refused(&near, &["did you mean `workload.uclamp_min`?"]);
}

/// Goal: what `compare` warns of, a sweep does, once with how many points it is of.
#[test]
fn warnings_of_runs_are_passed_on() {
    let folder = folder();
    // 20 tasks that are always busy have 6 CPUs.
    let asked = [
        "sweep",
        "--platform=juno-r0",
        "--workload=periodic:n=20,period=10ms",
        "--policy=linux-7.3",
        "--vary=workload.duty=1%,90%,100%",
        "--seeds=2",
        "--duration=100ms",
    ];
    let sweep = |more: &[&str]| run_in(folder.path(), &[&asked[..], more].concat());
    let told = |text: &str| text.contains("2 of 3 points") && text.contains("periods were missed");
    for form in ["--format=csv", "--format=human"] {
        let output = sweep(&[form]);
        assert!(told(&stderr(&output)), "{}", stderr(&output));
    }
    let output = sweep(&["--format=md"]);
    assert!(told(&stdout(&output)), "{}", stdout(&output));
    let output = sweep(&["--format=json", "--export-html=p.html"]);
    let value: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    let warnings = value["warnings"].as_array().expect("warnings");
    assert!(
        warnings.iter().filter_map(|text| text.as_str()).any(told),
        "{warnings:?}"
    );
    let page = fs::read_to_string(folder.path().join("p.html")).expect("a page");
    assert!(told(&page));
}

/// Goal: `study run` takes anybody's file, a study or a sweep.
#[test]
fn study_run_takes_a_file() {
    let folder = folder();
    let study = r#"
        title = "Mine"
        source = "none"
        platform = "hikey960"
        duration = "50ms"
        seeds = 2
        policies = ["linux-4.17", "linux-7.3"]
        [quick]
        seeds = 1
        [[metric]]
        name = "energy_j"
        [[case]]
        token = "3"
        workload = "periodic:n=3"
    "#;
    common::file(&folder, "mine.toml", study);
    let output = run_in(folder.path(), &["study", "run", "mine.toml"]);
    assert_code(&output, 0);
    assert!(stdout(&output).contains("energy_j"), "{}", stdout(&output));
    let sweep = r#"
        platform = "hikey960"
        workload = "periodic:n=3"
        policies = ["linux-7.3"]
        duration = "20ms"
        seeds = 2
        [vary]
        busy_factor = [4, 5]
    "#;
    common::file(&folder, "sweep.toml", sweep);
    for command in [&["study", "run"][..], &["sweep"]] {
        let args = [command, &["sweep.toml", "--store=s.db"]].concat();
        let output = run_in(folder.path(), &args);
        assert_code(&output, 0);
        assert!(
            stdout(&output).starts_with("4 cells: "),
            "{}",
            stdout(&output)
        );
    }
    common::file(&folder, "wrong.toml", &sweep.replace("policies", "polices"));
    let output = run_in(folder.path(), &["study", "run", "wrong.toml"]);
    assert_code(&output, 2);
    assert!(
        stderr(&output).contains("did you mean `policies`"),
        "{}",
        stderr(&output)
    );
    let both = ["study", "run", "mine.toml", "--store=x.db"];
    assert_code(&run_in(folder.path(), &both), 2);
}
