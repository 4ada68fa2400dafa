//! `review`: a change beside its base on a battery. Page: docs/guide/review.md.
//!
//! What must stay: expected directions are those of a rule that is plain: `governor=performance`
//! takes more energy than schedutil and wakes earlier; figures are those of `compare` with the same
//! inputs, or are worked out here from the result's own rows.
//! Tests by part (in crates/cli/src): commands/review.rs: `a_review_says_what_got_worse_first`
//! (`walled`, `conditions`, `partings`), `claims_are_judged` (`claims`, the exit code),
//! `wrong_reviews_are_refused` (`sides`, `differ`), `traces_of_the_largest_changes` (`recorded`),
//! `a_review_is_a_gate` (`checked`), `a_battery_is_listed` (`announce`),
//! `schedulers_are_reviewed` (`one_side`), crates/study/src/battery/cut.rs:
//! `a_short_length_says_what_it_cuts` (`cut`), `two_trees_are_reviewed` (`told` of trees);
//! crates/report/src/review/text.rs: `a_mail_has_72_columns`,
//! `a_large_change_says_which_inputs_differed` (`parted`); crates/study/src/claims.rs:
//! `wrong_claims_are_refused`.
//! Helpers, and who fails with them: `review`, `json` (all tests); `BATTERY`, `written` (most);
//! `INPUTS`, `first_pair`, `first_pairs`, `shows` (`a_large_change_says_which_inputs_differed`).

use crate::common;
use crate::kernel_runs::{is_there, version};
use crate::schedulers::{made, prepared};

use common::{assert_code, assert_refused, file, folder, program, run_in, stderr, stdout};
use serde_json::Value;
use std::path::Path;
use std::process::Output;

/// One load for energy and one that is measured by its own figure, on two boards.
const BATTERY: &str = r#"
title = "two loads"
seeds = 6
duration = "400ms"
boards = ["hikey960", "juno-r0"]

[[load]]
name = "light"
workload = "periodic:n={cpus},period=16ms,duty=5%,start=spread"

[[load]]
name = "hackbench"
workload = "messaging:groups=1,loops=5"
boards = ["hikey960"]
"#;

const BASE: &str = "--base=linux-7.3";
/// The highest clock at all times: more energy, shorter runs.
const FAST: &str = "--change=linux-7.3:governor=performance";

/// A review of the battery above in a folder that has it.
fn review(folder: &tempfile::TempDir, more: &[&str]) -> Output {
    file(folder, "two.toml", BATTERY);
    let own = ["review", "--battery=two.toml"];
    run_in(folder.path(), &[&own, more].concat())
}

fn json(output: &Output) -> Value {
    serde_json::from_str(&stdout(output)).expect("JSON")
}

fn written(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).expect("a file")
}

#[test]
fn a_review_says_what_got_worse_first() {
    let folder = folder();
    let places = ["--mail=mail.txt", "--html=page.html", "--format=json"];
    let output = review(&folder, &[&[BASE, FAST], &places[..]].concat());
    assert_code(&output, 0);
    let found = json(&output);
    let rows = found["rows"].as_array().expect("rows");
    let words: Vec<&str> = rows
        .iter()
        .filter_map(|row| row["difference"].as_str())
        .collect();
    let first_better = words
        .iter()
        .position(|word| *word == "better")
        .expect("some");
    let last_worse = words
        .iter()
        .rposition(|word| *word == "worse")
        .expect("some");
    assert!(last_worse < first_better, "{words:?}");
    // The highest clock costs energy for each unit of work on every board.
    for board in ["hikey960", "juno-r0"] {
        let of = |row: &&Value| {
            row["platform"] == board
                && row["load"] == "light"
                && row["metric"] == "cpu_energy_per_work_j"
        };
        let row = rows.iter().find(of).expect("a row");
        assert_eq!(row["difference"], "worse", "{row}");
    }
    // Each figure is the comparison's own.
    let row = &rows[0];
    let place = |(at, _): &(usize, &Value)| {
        let load = &found["loads"][*at];
        let platform = &found["comparisons"][*at]["runs"][0]["platform"];
        load == &row["load"] && platform == &row["platform"]
    };
    let all = found["comparisons"].as_array().expect("comparisons");
    let (_, own) = all.iter().enumerate().find(place).expect("its comparison");
    let metric = row["metric"].as_str().expect("a name");
    assert_eq!(own["runs"][0]["metrics"][metric]["mean"], row["base"]);
    assert_eq!(own["runs"][1]["metrics"][metric]["mean"], row["change"]);
    // Every part says which program made it, as the whole does.
    assert!(found["commit"].is_string(), "{}", found["commit"]);
    let mut commits = all.iter().map(|one| &one["commit"]);
    assert!(commits.all(|own| *own == found["commit"]));
    // The wake-up that went differently is one of both runs, and its command says so again.
    let parted = &found["partings"][0];
    let side = &parted["wakeup"]["base"];
    let command = side["command"].as_str().expect("a command");
    let words = command
        .split(' ')
        .skip(1)
        .map(|word| word.trim_matches('\''));
    let again = run_in(folder.path(), &words.collect::<Vec<_>>());
    assert_code(&again, 0);
    assert_eq!(stdout(&again), side["explained"].as_str().expect("a text"));
    assert_ne!(side["cpu"], parted["wakeup"]["change"]["cpu"]);
    let page = written(folder.path(), "page.html");
    assert!(page.contains("What got worse") && page.contains("Conditions"));
    let text = stdout(&review(&folder, &[BASE, FAST]));
    let worse = text.find("\nWorse\n").expect("a title");
    assert!(worse < text.find("\nBetter\n").expect("a title"), "{text}");
    // Threads change nothing.
    let alone = review(&folder, &[BASE, FAST, "--format=json", "--jobs=1"]);
    assert_eq!(stdout(&alone), stdout(&output));
}

/// Goal: what a board of a file assumes stands in the mail's conditions, of a built-in one nothing;
/// `compare` has it as a note, in its JSON, too.
#[test]
fn a_board_of_a_file_says_what_it_assumes() {
    let folder = folder();
    let board = std::fs::read_to_string(common::repository("platforms/juno-r0.toml"));
    file(&folder, "own.toml", &board.expect("a board"));
    let own = ["--platform=own.toml", "--mail=mail.txt"];
    let output = review(&folder, &[&[BASE, FAST][..], &own].concat());
    assert_code(&output, 0);
    let mail = written(folder.path(), "mail.txt");
    let said = |text: &str| text.contains("own.toml: assumed, in whole or in part, are ");
    assert!(said(&mail), "{mail}");
    let none = stdout(&review(&folder, &[BASE, FAST]));
    assert!(!none.contains("assumed, in whole"), "{none}");
    let sim = |form: &str| {
        let asked = [
            "sim",
            "--platform=own.toml",
            "--workload=periodic:n=1",
            "--policy=linux-7.3",
            "--seeds=1",
            "--duration=50ms",
            form,
        ];
        run_in(folder.path(), &asked)
    };
    let found = json(&sim("--format=json"));
    let notes = found["notes"].as_array().expect("notes");
    assert!(notes.iter().any(|note| note.as_str().is_some_and(said)));
    let text = stdout(&sim("--format=human"));
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("`wakeplace platform show own.toml` says why"),
        "{text}"
    );
}

/// What a sentence about inputs names.
const INPUTS: [&str; 5] = [
    "utilisation ",
    "runnable signal ",
    "assumed clock ",
    "idle state ",
    "energy ",
];

/// A CPU, and its first input that differed as it is on both sides.
fn first_pair(of: &str) -> Option<(&str, [&str; 2])> {
    let (cpu, words) = of.split_once(' ')?;
    let (one, other) = words.split(", ").next()?.split_once(" against ")?;
    let one = INPUTS.iter().find_map(|name| one.strip_prefix(*name))?;
    Some((cpu, [one, other]))
}

/// That of each CPU of a sentence.
fn first_pairs(sentence: &str) -> Vec<(&str, [&str; 2])> {
    let list = sentence.strip_prefix("Inputs that differed, base against change: CPU ");
    let list = list.and_then(|list| list.strip_suffix('.'));
    let each = list.unwrap_or_default().split("; CPU ");
    each.filter_map(first_pair).collect()
}

/// Whether a row of that CPU has this figure. Clocks are kHz there, and units stand in the header.
fn shows(explained: &str, cpu: &str, figure: &str) -> bool {
    let wanted = match figure {
        "none" | "not estimated" => "-",
        told => told.split(' ').next().unwrap_or(told),
    };
    let more = if figure.ends_with(" MHz") { 3 } else { 0 };
    let is_it = |word: &str| word.starts_with(wanted) && word.len() == wanted.len() + more;
    explained.lines().any(|line| {
        let mut words = line.split_whitespace();
        words.next() == Some(cpu) && words.any(is_it)
    })
}

/// Goal: the first wake-up that went differently says which inputs differed, in every form, and
/// each side's `explain` shows its figures.
#[test]
fn a_large_change_says_which_inputs_differed() {
    let folder = folder();
    let output = review(&folder, &[BASE, FAST, "--format=json", "--html=page.html"]);
    assert_code(&output, 0);
    let found = json(&output);
    let parted = found["partings"].as_array().expect("partings");
    let told = |one: &Value| one["wakeup"]["differs"].as_str().map(str::to_owned);
    let said: Vec<String> = parted.iter().filter_map(told).collect();
    let mut compared = 0;
    for wakeup in parted.iter().map(|one| &one["wakeup"]) {
        let sentence = wakeup["differs"].as_str().unwrap_or_default();
        let pairs = first_pairs(sentence);
        assert_eq!(
            pairs.is_empty(),
            !sentence.starts_with("Inputs that differed"),
            "{sentence}"
        );
        for (cpu, figures) in pairs {
            for (side, figure) in ["base", "change"].into_iter().zip(figures) {
                let text = wakeup[side]["explained"].as_str().expect("a text");
                assert!(
                    shows(text, cpu, figure),
                    "{cpu} {figure}: {sentence}\n{text}"
                );
                compared += 1;
            }
        }
    }
    assert!(compared > 0, "{said:?}");
    let text = stdout(&review(&folder, &[BASE, FAST]));
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let page = written(folder.path(), "page.html");
    for sentence in &said {
        let begins = [
            "Inputs that differed, base against",
            "Both sides found the same",
        ];
        assert!(
            begins.iter().any(|begin| sentence.starts_with(begin)),
            "{sentence}"
        );
        assert!(
            words(&text).contains(sentence.as_str()),
            "{sentence}: {text}"
        );
        assert!(page.contains(sentence.as_str()), "{sentence}");
    }
}

/// Goal: each of the largest changes says where its energy went, in every form, by the figures of
/// its comparison. By hand: parts of a cluster add up to what the comparison's states drew there.
#[test]
fn a_change_has_its_clusters() {
    let folder = folder();
    let places = ["--html=page.html", "--mail=mail.txt"];
    let output = review(
        &folder,
        &[&[BASE, FAST, "--format=json"], &places[..]].concat(),
    );
    assert_code(&output, 0);
    let found = json(&output);
    let parted = &found["partings"][0];
    let all = found["comparisons"].as_array().expect("comparisons");
    let loads = found["loads"].as_array().expect("loads");
    let is_it = |(one, load): &(&Value, &Value)| {
        one["runs"][0]["platform"] == parted["platform"] && **load == parted["load"]
    };
    let (own, _) = all.iter().zip(loads).find(is_it).expect("its comparison");
    // Column `at` of all rows of a cluster.
    let sum = |rows: &Value, cluster: &Value, at: usize| {
        let rows = rows.as_array().expect("rows").iter();
        let own = rows.filter(|row| row[0] == *cluster);
        own.map(|row| row[at].as_f64().expect("joules"))
            .sum::<f64>()
    };
    let energy = &parted["energy"]["cluster_state_base_change"];
    assert_eq!(parted["energy"]["unit"], "J");
    for row in energy.as_array().expect("rows") {
        for (run, at) in [(0, 2), (1, 3)] {
            let drawn = &own["runs"][run]["details"]["energy"]["cluster_state_energy_s"];
            let (ours, theirs) = (sum(energy, &row[0], at), sum(drawn, &row[0], 2));
            assert!((ours - theirs).abs() < 1e-9, "{row}: {ours}, {theirs}");
        }
    }
    let text = stdout(&review(&folder, &[BASE, FAST]));
    let [mail, page] = ["mail.txt", "page.html"].map(|name| written(folder.path(), name));
    for text in [text, mail, page] {
        for words in [
            "nergy by cluster, from base to change",
            "of CPUs and clusters +",
        ] {
            assert!(text.contains(words), "{words}: {text}");
        }
    }
    // The three parts of each change add up to it, and it is that of the states.
    for one in all {
        let energy = &one["why"][0]["energy"];
        let value = |key: &str| energy[key].as_f64().expect("joules");
        let sum = value("busy_time") + value("busy_power") + value("rest");
        let change = value("change") - value("base");
        assert!((sum - change).abs() < 1e-9, "{energy}");
        let drawn = &one["runs"][1]["details"]["energy"]["cluster_state_energy_s"];
        let rows = drawn.as_array().expect("rows").iter();
        let drawn: f64 = rows.map(|row| row[2].as_f64().expect("joules")).sum();
        assert!((drawn - value("change")).abs() < 1e-9, "{energy}");
    }
}

#[test]
fn a_mail_has_72_columns() {
    let folder = folder();
    let output = review(&folder, &[BASE, FAST, "--mail=mail.txt"]);
    assert_code(&output, 0);
    let mail = written(folder.path(), "mail.txt");
    for line in mail
        .lines()
        .filter(|line| !line.starts_with("    wakeplace"))
    {
        assert!(line.chars().count() <= 72, "{line}");
    }
    for words in [
        "perc_diff",
        "not measured on",
        "base: linux-7.3",
        "6 seeds",
        // sha256sum of the text above.
        "Battery two.toml (sha256 0f9915db8f46): loads light, hackbench on",
        // The tables that `platform show` calls assumed.
        "(assumed: ",
        "To repeat:\n    wakeplace review --battery=two.toml --base=linux-7.3",
    ] {
        assert!(mail.contains(words), "{words}\n{mail}");
    }
    // Where it is written is no part of the command that makes it again.
    assert!(!mail.contains("--mail"), "{mail}");
    assert!(mail.starts_with("two loads\n"), "{mail}");
}

/// Goal: a length that is asked for says once for which loads it is too short: for what has a
/// length of its own in the battery, and for what it stopped before its end; hackbench of this size
/// is done within 400 ms.
#[test]
fn a_short_length_says_what_it_cuts() {
    let folder = folder();
    let own = BATTERY.replace("start=spread\"", "start=spread\"\nduration = \"600ms\"");
    file(&folder, "own.toml", &own);
    let warned = |length: &str| -> Vec<String> {
        let asked = ["review", "--battery=own.toml", BASE, FAST, "--format=json"];
        let output = run_in(folder.path(), &[&asked[..], &[length]].concat());
        assert_code(&output, 0);
        let found = json(&output);
        let warnings = found["warnings"].as_array().expect("warnings").iter();
        let warnings = warnings.filter_map(|text| text.as_str().map(str::to_owned));
        warnings
            .filter(|text| text.starts_with("--duration"))
            .collect()
    };
    assert_eq!(
        warned("--duration=2ms"),
        [
            "--duration 2 ms is shorter than what light (600 ms) needs and cuts hackbench, which \
             ends by itself"
        ]
    );
    assert_eq!(
        warned("--duration=500ms"),
        ["--duration 500 ms is shorter than what light (600 ms) needs"]
    );
    assert_eq!(warned("--duration=600ms"), [""; 0]);
}

#[test]
fn claims_are_judged() {
    let folder = folder();
    let claims = "\
[[claim]]
expect = \"cpu_energy_per_work_j>=base\"
loads = [\"light\"]

[[claim]]
expect = \"cpu_energy_per_work_j<=base\"
boards = [\"juno-r0\"]
";
    file(&folder, "claims.toml", claims);
    let with = [BASE, FAST, "--claim=claims.toml", "--format=json"];
    let output = review(&folder, &with);
    assert_code(&output, 1);
    let found = json(&output);
    let word = |at: usize| {
        found["claims"][at]["holds"]
            .as_str()
            .expect("a word")
            .to_owned()
    };
    assert_eq!([word(0), word(1)], ["holds", "does not hold"]);
    assert_eq!(
        found["claims"][0]["places"].as_array().map(Vec::len),
        Some(2)
    );
    // With one seed nothing is told, and what is not told is no failure.
    let one = review(&folder, &[&with[..], &["--seeds=1"]].concat());
    assert_code(&one, 0);
    assert_eq!(json(&one)["claims"][0]["holds"], "not told");
}

/// Goal: a review is a gate: a condition is judged on each board and load that measures its metric,
/// one on what none measures fails, and each place is a suite. At the highest clock light tasks
/// take more energy, as above; hackbench has no periods.
#[test]
fn a_review_is_a_gate() {
    let folder = folder();
    let asked = |condition: &str, code: i32| -> (Value, String) {
        let gate = [
            condition,
            "--junit=checks.xml",
            "--mail=mail.txt",
            "--html=page.html",
            "--format=json",
        ];
        let output = review(&folder, &[&[BASE, FAST][..], &gate].concat());
        assert_code(&output, code);
        (json(&output), written(folder.path(), "checks.xml"))
    };
    let (found, junit) = asked("--expect=cpu_energy_per_work_j<=base", 1);
    let places = ["hikey960, light", "hikey960, hackbench", "juno-r0, light"];
    for place in places {
        assert!(
            junit.contains(&format!("<testsuite name=\"{place}\"")),
            "{junit}"
        );
    }
    let loads = found["loads"].as_array().expect("loads").iter();
    for (load, one) in loads.zip(found["comparisons"].as_array().expect("comparisons")) {
        let checks = one["checks"].as_array().expect("checks");
        assert_eq!(checks.len(), 1, "{load}");
        if load == "light" {
            assert_eq!(checks[0]["holds"], false, "{}", checks[0]);
        }
    }
    let page = written(folder.path(), "page.html");
    assert!(page.contains("Gates (--expect)"), "the page has them");
    // The mail has all places with their values, in its 72 columns.
    let mail = written(folder.path(), "mail.txt");
    let (_, gates) = mail.split_once("\nGates (--expect)\n").expect("a part");
    assert!(
        gates.starts_with("- cpu_energy_per_work_j<=base: FAIL ("),
        "{mail}"
    );
    for place in places {
        assert!(
            gates.contains(&format!("  - {place}, change: ")),
            "{place}: {mail}"
        );
    }
    assert!(gates.contains("hikey960, light, change: FAIL: "), "{mail}");
    let lines = gates
        .lines()
        .filter(|line| !line.starts_with("    wakeplace"));
    assert!(
        lines.into_iter().all(|line| line.chars().count() <= 72),
        "{mail}"
    );
    // Both sides of the two boards that run light.
    let (_, junit) = asked("--expect=missed_periods_total>=0", 0);
    assert_eq!(junit.matches("<testcase ").count(), 4, "{junit}");
    assert!(!junit.contains("hackbench"), "{junit}");
    let (_, junit) = asked("--expect=missed_frames_total<=0", 1);
    assert_eq!(junit.matches("<failure ").count(), 6, "{junit}");
}

/// Goal: a battery is listed without a run, and a run says which one it is.
#[test]
fn a_battery_is_listed() {
    let folder = folder();
    let found = json(&review(&folder, &["--list", "--format=json"]));
    let loads = found["loads"].as_array().expect("loads");
    assert_eq!(loads.len(), 2);
    assert_eq!(loads[1]["load"], "hackbench");
    assert_eq!(loads[1]["duration"], "400 ms");
    assert_eq!(
        loads[0]["boards"],
        serde_json::json!(["hikey960", "juno-r0"])
    );
    assert_eq!(loads[1]["boards"], serde_json::json!(["hikey960"]));
    let text = stdout(&run_in(folder.path(), &["review", "--list"]));
    let first = "quick: Ten loads on six boards, in minutes, 5 seeds. Built in are small, quick, \
                 full.\n\n";
    assert!(text.starts_with(first), "{text}");
    let output = review(&folder, &[BASE, FAST, "--seeds=1"]);
    let said = "battery two.toml (`--battery`, `--list`): 3 pairs of board and load, 6 runs\n";
    assert!(stderr(&output).contains(said), "{}", stderr(&output));
}

#[test]
fn wrong_claims_are_refused() {
    let folder = folder();
    let refused = |claim: &str, words: &[&str]| {
        file(&folder, "claims.toml", &format!("[[claim]]\n{claim}\n"));
        let output = review(
            &folder,
            &[
                BASE,
                FAST,
                "--claim=claims.toml",
                "--mail=mail.txt",
                "--quiet",
            ],
        );
        assert_refused(&output, words);
        assert!(
            !folder.path().join("mail.txt").exists(),
            "nothing half-written"
        );
    };
    refused(
        "expect = \"cpu_energy_f<=1\"",
        &["claims.toml:2:10", "did you mean `cpu_energy_j`"],
    );
    // It is a metric, and no load of this battery has deadlines.
    refused(
        "expect = \"missed_frames_total<=base\"",
        &[
            "claims.toml:2:10",
            "no run that the claim is about has the metric `missed_frames_total`",
            "did you mean `missed_periods_total`?",
        ],
    );
    refused(
        "expect = \"cpu_energy_j<=base\"\nboards = [\"juno-r1\"]",
        &[
            "claims.toml:3:11",
            "unknown board `juno-r1`",
            "did you mean `juno-r0`?",
        ],
    );
    refused(
        "expect = \"cpu_energy_j<=base\"\nboards = [\"juno-r0\"]\nloads = [\"hackbench\"]",
        &[
            "claims.toml:2:10",
            "no board of this claim runs one of its loads",
        ],
    );
}

#[test]
fn wrong_reviews_are_refused() {
    let folder = folder();
    let refused = |args: &[&str], words: &[&str]| assert_refused(&review(&folder, args), words);
    refused(
        &[BASE, "--change=linux-7.3"],
        &["the base and the change are the same"],
    );
    // Another name for the same rules.
    refused(
        &[BASE, "--change=linux-7.3:nr_migrate=32"],
        &["the base and the change are the same"],
    );
    refused(&[BASE], &["required"]);
    refused(
        &[BASE, "--change=linux-7.4"],
        &["linux-7.4", "did you mean"],
    );
    let output = run_in(folder.path(), &["review", BASE, FAST, "--battery=fast"]);
    assert_refused(&output, &["unknown battery `fast`", "small, quick, full"]);
    let output = run_in(
        folder.path(),
        &["review", BASE, FAST, "--battery=none.toml"],
    );
    assert_refused(&output, &["none.toml"]);
    refused(
        &[BASE, FAST, "--mail=two.toml"],
        &["`--battery` and `--mail`", "two.toml"],
    );
}

#[test]
fn traces_of_the_largest_changes() {
    let folder = folder();
    let output = review(&folder, &[BASE, FAST, "--export-perfetto=traces"]);
    assert_code(&output, 0);
    for side in ["base", "change"] {
        let path = folder.path().join(format!("traces/1-{side}.pftrace"));
        assert!(std::fs::metadata(path).expect("a trace").len() > 1000);
    }
}

#[test]
fn schedulers_are_reviewed() {
    let folder = folder();
    let battery = file(&folder, "two.toml", BATTERY);
    let battery = battery.to_str().expect("UTF-8");
    let [fifo, vtime] = ["fifo.bpf.o", "vtime.bpf.o"].map(|name| made().object(name));
    let mut command = prepared(
        "",
        "review",
        &fifo,
        &["--platform", "hikey960", "--duration"],
    );
    let args: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
    let kernel = args
        .iter()
        .position(|arg| arg == "--kernel")
        .expect("a kernel");
    let loader = { command.get_envs() }.find(|(key, _)| *key == "WAKEPLACE_BPF_LOAD");
    let loader = loader
        .and_then(|(_, value)| value)
        .expect("a loader")
        .to_owned();
    command = program(folder.path());
    command
        .env("WAKEPLACE_BPF_LOAD", loader)
        .args(["review", "--battery", battery]);
    command.args([
        "--scheduler",
        &fifo,
        "--scheduler",
        &vtime,
        "--format",
        "json",
    ]);
    let output = command
        .args(&args[kernel..kernel + 2])
        .output()
        .expect("it starts");
    assert_code(&output, 0);
    let found = json(&output);
    assert_eq!(
        [&found["base"], &found["change"]],
        ["fifo.bpf.o", "vtime.bpf.o"]
    );
    let facts = found["conditions"].to_string();
    assert!(facts.contains("scheduler.sha256"), "{facts}");
    // Each side is explained by its own scheduler.
    let wakeup = &found["partings"][0]["wakeup"];
    for (side, object) in [("base", "fifo.bpf.o"), ("change", "vtime.bpf.o")] {
        let command = wakeup[side]["command"].as_str().expect("a command");
        assert!(
            command.contains("--scheduler") && command.contains(object),
            "{command}"
        );
        assert!(command.contains("--kernel "), "{command}");
    }
}

/// Goal: two builds of one tree are reviewed, and their decisions explained by the tree's own
/// figures.
#[test]
fn two_trees_are_reviewed() {
    if !is_there() {
        return;
    }
    let folder = folder();
    let tree = format!("--change=kernel:{}", version());
    let output = review(
        &folder,
        &[BASE, &tree, "--platform=hikey960", "--format=json"],
    );
    assert_code(&output, 0);
    let found = json(&output);
    let facts = found["conditions"].to_string();
    assert!(facts.contains(&format!("kernel {}", version())), "{facts}");
    let same = format!("--base=kernel:{}", version());
    let output = review(&folder, &[&same, &tree]);
    assert_refused(&output, &["the base and the change are the same"]);
}
