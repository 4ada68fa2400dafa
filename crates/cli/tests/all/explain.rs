//! Sessions of `explain`.
//! Page: docs/guide/reasons.md; docs/decisions/034.
//!
//! What must stay: keys of the object are a contract: none is renamed or left out. Figures are
//! those of the run.
//! Tests by part (in crates/cli/src): commands/explain/text.rs:
//! `the_title_has_the_number_that_was_asked_for` (`title`), `why_not_comes_first` (`answer`),
//! `what_costs_more_saves_nothing` (`candidates`); crates/study/src/explain/about.rs:
//! `the_title_has_the_number_that_was_asked_for` (`wakeup`, `task`); commands/explain.rs:
//! `the_object_has_what_the_contract_says` (`answer`), `mistakes_say_what_there_is` (`explain`),
//! `the_same_again` (that the run is the same); crates/outcome/src/decision.rs:
//! `the_object_has_what_the_contract_says` (`Wakeup`, `Candidate`, `Other`), `why_not_comes_first`
//! (`WhyNot`); crates/study/src/explain/mod.rs: `what_costs_more_saves_nothing` (`power`,
//! `shown_power`, `dropped`), `a_cost_has_no_unit` (`power_unit`); args/asked.rs:
//! `mistakes_say_what_there_is` (`excludes`), `named_others_only` (`ALIASES`);
//! crates/study/src/explain/asked.rs: `the_same_again` (`numbered`), `named_others_only`
//! (`others`).
//! Helpers, and who fails with them: `explain` (most tests); `json`
//! (`the_title_has_the_number_that_was_asked_for`, `the_object_has_what_the_contract_says`,
//! `why_not_comes_first`, `named_others_only`).

use crate::common;

use common::{assert_code, run, stderr, stdout};
use serde_json::Value;

/// `explain` of something valid, and more arguments.
fn explain(more: &[&str]) -> std::process::Output {
    let valid = [
        "explain",
        "--platform",
        "hikey960",
        "--workload",
        "periodic:n=10,period=16ms,duty=5%",
        "--policy",
        "linux-5.0",
        "--duration",
        "200ms",
    ];
    run(&[&valid[..], more].concat())
}

fn json(more: &[&str]) -> Value {
    let output = explain(&[&["--format", "json"], more].concat());
    assert_code(&output, 0);
    serde_json::from_str(&stdout(&output)).expect("JSON")
}

/// Goal: who asks for the run's fortieth wake-up reads that number, and which of its task it is.
#[test]
fn the_title_has_the_number_that_was_asked_for() {
    let title = |more: &[&str]| {
        let output = explain(more);
        assert_code(&output, 0);
        stdout(&output)
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    let of_run = title(&["--wakeup", "40"]);
    let wakeup = json(&["--wakeup", "40"])["wakeup"].clone();
    let number = &wakeup["number"];
    assert_eq!(wakeup["number_in_run"], 40);
    assert!(
        of_run.starts_with(&format!("wake-up 40 of the run ({number} of `periodic-")),
        "{of_run}"
    );
    let of_task = title(&["--wakeup", "2", "--task", "periodic-7"]);
    assert!(
        of_task.starts_with("wake-up 2 of `periodic-7` at "),
        "{of_task}"
    );
}

/// Goal: the keys of the contract, one candidate per CPU, null where it says so.
#[test]
fn the_object_has_what_the_contract_says() {
    let value = json(&["--wakeup", "40"]);
    for key in ["time_ns", "task", "waker", "interrupt", "prev_cpu"] {
        assert!(value["wakeup"].get(key).is_some(), "{key}");
    }
    assert!(value["wakeup"]["task"]["dur_avg_ns"].is_u64());
    // 5.0 has no such signal.
    assert!(value["wakeup"]["task"]["runnable_avg"].is_null());
    let candidates = value["candidates"].as_array().expect("a list");
    assert_eq!(candidates.len(), 8);
    for candidate in candidates {
        for key in [
            "cpu",
            "util",
            "capacity",
            "spare",
            "runnable",
            "clock_khz",
            "idle_state",
            "energy",
            "fits",
            "fits_but_for_hint",
            "dropped",
        ] {
            assert!(candidate.get(key).is_some(), "{key}");
        }
        assert_eq!(
            candidate["dropped"].is_null(),
            candidate["cpu"] == value["cpu"]
        );
        let number = |key: &str| candidate[key].as_u64().expect("a number");
        let spare = number("capacity").saturating_sub(number("util"));
        assert_eq!(number("spare"), spare);
        // A clock is that of an estimate. 5.0 has no such signal.
        let is_estimated = !candidate["energy"].is_null();
        assert_eq!(!candidate["clock_khz"].is_null(), is_estimated);
        assert!(candidate["runnable"].is_null());
    }
    assert!(candidates.iter().any(|one| !one["clock_khz"].is_null()));
    for other in value["others"].as_array().expect("a list") {
        assert!(other["policy"].is_string() && other["cpu"].is_u64());
        assert!(other["reason"].is_string());
    }
    assert!(value["rule"].is_string() && value["reason"].is_string());
    assert!(value["why_not"].is_null());
}

/// Goal: the answer comes first, with the figures of the table, and is in the object as well.
#[test]
fn why_not_comes_first() {
    let value = json(&["--wakeup", "40"]);
    let cpu = value["cpu"].as_u64().expect("a CPU");
    let reason = format!("({}).\n", value["reason"].as_str().expect("a word"));
    for other in (0..8).filter(|other| *other != cpu) {
        let other = other.to_string();
        let text = stdout(&explain(&["--wakeup", "40", "--why-not", &other]));
        let second = text.lines().nth(1).expect("a second line");
        let begin = format!("CPU {other} was not chosen: ");
        assert!(second.starts_with(&begin), "{text}");
        assert!(text.contains(&reason), "{text}");
    }
    let chosen = json(&["--wakeup", "40", "--why-not", &cpu.to_string()]);
    let answer = chosen["why_not"]["answer"].as_str().expect("a sentence");
    assert!(answer.starts_with(&format!("CPU {cpu} was chosen: ")));
}

/// Goal: a CPU that costs more is not said to cost less or to save energy, and no figure has the
/// digits of a division.
#[test]
fn what_costs_more_saves_nothing() {
    let ask = |format: &str| {
        let output = run(&[
            "explain",
            "--platform=juno-r0",
            "--workload=aim7-compute:tasks=3",
            "--policy=linux-5.0",
            "--duration=30ms",
            "--seed=72",
            "--wakeup=5",
            "--why-not=1",
            format,
        ]);
        assert_code(&output, 0);
        stdout(&output)
    };
    let value: Value = serde_json::from_str(&ask("--format=json")).expect("JSON");
    assert_eq!(value["candidates"][1]["dropped"], "margin");
    assert_eq!(
        value["why_not"]["answer"],
        "CPU 1 was not chosen: it fits, but would cost 195000 uW more than CPU 5 (836000 against \
         641000 uW)."
    );
    let text = ask("--format=human");
    assert!(!text.contains("it saves energy"), "{text}");
    assert!(text.contains("it costs no less energy than"), "{text}");
}

/// Goal: an energy model of clocks alone has costs, which have no unit in any form; of powers they
/// have one. Figures of both stand in the same places.
#[test]
fn a_cost_has_no_unit() {
    let ask = |policy: &str, more: &[&str]| {
        let asked = [
            "explain",
            "--platform=hikey960",
            "--workload=periodic:n=6,period=16ms,duty=10%,start=spread",
            "--duration=200ms",
            "--task=periodic-0",
            "--wakeup=5",
            policy,
        ];
        let output = run(&[&asked[..], more].concat());
        assert_code(&output, 0);
        stdout(&output)
    };
    let forms = |policy: &str| {
        let value: Value = serde_json::from_str(&ask(policy, &["--format=json"])).expect("JSON");
        // One that was compared and not chosen: its answer has both figures.
        let own = value["cpu"].as_u64().expect("a CPU");
        let mut all = value["candidates"].as_array().expect("candidates").iter();
        let other = all.find(|one| one["energy"].is_f64() && one["cpu"] != own);
        let cpu = &other.expect("a second estimate")["cpu"];
        let text = ask(policy, &[&format!("--why-not={cpu}")]);
        let words: Vec<&str> = text.split_whitespace().collect();
        (value["energy_unit"].clone(), words.join(" "))
    };
    let (unit, text) = forms("--policy=linux-7.3:energy_no_watts=always");
    assert_eq!(unit, "cost");
    assert!(
        text.contains("clock khz cost dropped") && text.contains("the cost has no unit"),
        "{text}"
    );
    assert!(text.contains(" against ") && !text.contains("uW"), "{text}");
    let (unit, text) = forms("--policy=linux-7.3");
    assert_eq!(unit, "uW");
    assert!(
        text.contains("energy uW") && !text.contains("no unit"),
        "{text}"
    );
}

/// Goal: where a CPU costs as much as the previous one, that is said to be why it stays; hints are
/// no reason for a task without one. The legend says what has the task in it: on an idle CPU where
/// it was last, alone, the utilisation is its own.
#[test]
fn a_tie_keeps_the_previous_cpu() {
    let ask = |more: &[&str]| {
        let asked = [
            "explain",
            "--platform=hikey960",
            "--workload=periodic:n=10,period=16ms,duty=5%",
            "--policy=linux-7.3",
            "--wakeup=40",
            "--why-not=0",
        ];
        let output = run(&[&asked[..], more].concat());
        assert_code(&output, 0);
        stdout(&output)
    };
    let value: Value = serde_json::from_str(&ask(&["--format=json"])).expect("JSON");
    let energy = |cpu: usize| &value["candidates"][cpu]["energy"];
    assert!(energy(0).is_number() && energy(0) == energy(3), "{value}");
    assert_eq!(
        (&value["cpu"], &value["wakeup"]["prev_cpu"]),
        (&3.into(), &3.into())
    );
    let answer = value["why_not"]["answer"].as_str().expect("a sentence");
    assert!(
        answer.ends_with(" uW), which is the previous CPU: a tie keeps it."),
        "{answer}"
    );
    let doc = "the previous CPU: no other saves enough energy";
    assert_eq!(value["reason_doc"], doc);
    let signal = value["wakeup"]["task"]["runnable_avg"].as_u64();
    let signal = signal.expect("7.3 keeps it");
    let text = ask(&[]);
    let own = format!("), runnable {signal}, load ");
    for said in [
        own.as_str(),
        "util and spare are with the task on the CPU; runnable is the queue's own signal",
    ] {
        assert!(text.replace("\n  ", " ").contains(said), "{said}: {text}");
    }
    assert!(!text.contains("uclamp better"), "{text}");
}

/// Goal: each mistake is named with what there is, exit code 2.
#[test]
fn mistakes_say_what_there_is() {
    for (args, words) in [
        (
            ["--task", "periodic-11"].as_slice(),
            "did you mean `periodic-1`?",
        ),
        (&["--wakeup", "100000"], "wake-ups, the last at"),
        (&["--at", "5s"], "the run was over before"),
        (&["--to", "8"], "`hikey960` has the CPUs 0 to 7"),
        (&["--why-not", "8"], "`hikey960` has the CPUs 0 to 7"),
        (&["--compare-policy", "linux-5.1"], "did you mean"),
        (&["--wakeup", "1", "--to", "1"], "cannot be used with"),
    ] {
        let output = explain(args);
        assert_code(&output, 2);
        assert_eq!(stdout(&output), "");
        let text = stderr(&output);
        assert!(text.contains(words), "{args:?}: {text}");
    }
}

/// Goal: the same bytes again, and a kind's name means all of its tasks.
#[test]
fn the_same_again() {
    let once = explain(&["--task", "periodic", "--at", "50ms"]);
    assert_code(&once, 0);
    assert_eq!(
        stdout(&once),
        stdout(&explain(&["--task", "periodic", "--at", "50ms"]))
    );
    assert_eq!(stdout(&once), stdout(&explain(&["--at", "50ms"])));
}

/// Goal: only the policies that are named are asked. `--other` is an older name of the option.
#[test]
fn named_others_only() {
    let value = json(&["--compare-policy", "linux-7.3", "--other", "linux-3.1"]);
    let names: Vec<_> = value["others"].as_array().expect("a list").iter().collect();
    assert_eq!(names.len(), 2);
    assert_eq!(names[0]["policy"], "linux-7.3");
    assert_eq!(names[1]["same_signals"], false);
}
