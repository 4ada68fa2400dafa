//! Questions in the words of the command line, Python and JSON (docs/guide/python.md).
//!
//! What must stay: one list of arguments is all languages': names are a contract.
//! Tests by part (in crates/study/src): ask/values.rs: `the_same_question_in_two_languages`
//! (`margin`); ask/words.rs: `the_same_question_in_two_languages` (`command`, `python`, `number`);
//! ask/arguments.rs: `a_decision_is_asked_for_in_the_same_words` (`about`), `the_list_is_whole`
//! (`ARGUMENTS`); ask/mod.rs: `a_decision_is_asked_for_in_the_same_words` (`question`, `all`),
//! `bytes_are_as_good_as_a_file` (`Value`, `apply`), `what_is_wrong_names_its_argument`
//! (`argument`, `check`, `request`); ask/argument.rs: `what_is_wrong_names_its_argument`
//! (`is_needed_by`, `Command`), `json_is_the_same_question` (`Kind`, `is_flag`),
//! `the_list_is_whole` (`check`, `is_taken_by`), `the_python_module_is_made_from_the_list`
//! (`default_of`, `help`); ask/json.rs: `json_is_the_same_question` (`deserialize`, `values`,
//! `value`); ask/python.rs: `the_python_module_is_made_from_the_list` (`python_module`).
//! Helpers, and who fails with them: `ask` (`the_same_question_in_two_languages`,
//! `bytes_are_as_good_as_a_file`, `what_is_wrong_names_its_argument`, `json_is_the_same_question`).

use super::{ARGUMENTS, Ask, Command, SCHEDULER, argument, python_module};
use crate::Source;
use std::sync::Arc;

fn ask() -> Ask {
    Ask::default()
        .with("platform", "hikey960")
        .with("workload", "periodic:n=3,duty=5%")
        .with("policy", "linux-7.3")
        .with("policy", "linux-4.17+energy-aware")
        .with("seeds", "2")
        .with("duration", "50ms")
        .with("timeline", "0s..20ms")
}

/// Goal: the command is in the options' own words, quoted for a shell, and Python's lines have the
/// same arguments.
#[test]
fn the_same_question_in_two_languages() {
    let ask = ask().with("set", "busy_factor=5");
    let command = "wakeplace compare --platform hikey960 --workload periodic:n=3,duty=5% \
                   --policy linux-7.3 --policy linux-4.17+energy-aware --set busy_factor=5 \
                   --duration 50ms --seeds 2 --timeline 0s..20ms";
    assert_eq!(ask.command(Command::Compare).as_deref(), Some(command));
    let lines = [
        "import wakeplace",
        "",
        "result = wakeplace.compare(",
        r#"    platform=["hikey960"],"#,
        r#"    workload=["periodic:n=3,duty=5%"],"#,
        r#"    policy=["linux-7.3", "linux-4.17+energy-aware"],"#,
        r#"    set={"busy_factor": "5"},"#,
        r#"    duration="50ms","#,
        r#"    seeds="2","#,
        r#"    timeline="0s..20ms","#,
        ")",
        "",
    ];
    assert_eq!(ask.python(Command::Compare), Some(lines.join("\n")));
    let numbers = Ask::default().with("margin", "2%").with("seed", "007");
    let written = numbers.python(Command::Sim).unwrap();
    assert!(
        written.contains("margin=2,") && written.contains("seed=7,"),
        "{written}"
    );
    let file = Ask::default().with("workload", "it's.json");
    let quoted = file.command(Command::Compare).unwrap();
    assert!(quoted.contains(r"--workload 'it'\''s.json'"), "{quoted}");
}

#[test]
fn a_decision_is_asked_for_in_the_same_words() {
    let ask = Ask::default()
        .with("platform", "hikey960")
        .with("workload", "periodic:n=3,duty=5%")
        .with("why_not", "3")
        .with("at", "12ms")
        .with("task", "periodic-1")
        .with("seed", "4")
        .with("policy", "linux-7.3");
    let command = "wakeplace explain --platform hikey960 --workload periodic:n=3,duty=5% --policy \
                   linux-7.3 --seed 4 --task periodic-1 --at 12ms --why-not 3";
    assert_eq!(ask.command(Command::Explain).as_deref(), Some(command));
    let python = ask.python(Command::Explain).unwrap();
    assert!(python.contains("    platform=\"hikey960\",\n"), "{python}");
    assert!(python.contains("    why_not=3,\n"), "{python}");
    let both = ask
        .clone()
        .with("to", "1")
        .question(0)
        .unwrap_err()
        .to_string();
    assert_eq!(
        both,
        "explain: both at and to are given; expected one of them"
    );
    let mut beside = ask;
    for name in ["policy", "to"] {
        beside.remove(name);
    }
    let beside = beside.question(1).unwrap_err().to_string();
    assert_eq!(
        beside,
        "explain: both why_not and scheduler are given; expected one of them"
    );
}

/// Goal: a file that is in memory is what the same file on a disk is.
#[test]
fn bytes_are_as_good_as_a_file() {
    let folder = std::env::temp_dir().join(format!("wakeplace-ask-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let text = br#"{"tasks": {"a": {"instance": 2, "run": 500, "sleep": 9000}}}"#;
    let path = folder.join("two.json");
    std::fs::write(&path, text).unwrap();
    let name = path.to_str().unwrap().to_owned();
    let mut base = ask();
    base.remove("workload");
    let on_disk = base.clone().with("workload", name.as_str());
    let bytes = Arc::from(&text[..]);
    let in_memory = base.with("workload", Source::File { name, bytes });
    let request = |ask: &Ask| ask.request(Command::Compare).unwrap();
    let run = |ask: &Ask| request(ask).resolve().unwrap().run(1, &|_| {});
    assert_eq!(run(&on_disk).unwrap(), run(&in_memory).unwrap());
    assert_eq!(
        on_disk.command(Command::Compare),
        in_memory.command(Command::Compare)
    );
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_is_wrong_names_its_argument() {
    let error = |command: Command, ask: Ask| {
        let checked = ask.check(command, 0).and_then(|()| ask.request(command));
        checked.expect_err("refused").to_string()
    };
    let with = |name: &str, value: &str| {
        let mut ask = ask();
        ask.remove(name);
        error(Command::Compare, ask.with(name, value))
    };
    assert!(with("duration", "5 parsecs").starts_with("duration: "));
    assert!(with("timeline", "2s..1s").starts_with("timeline: it has no length"));
    assert!(with("timeline", "1s").contains("no `..`"));
    assert!(with("policy", "linux-7.3").contains("needs two policies"));
    assert!(with("task", "t").contains("compare takes no task"));
    let mut none = ask();
    none.remove("platform");
    assert!(error(Command::Compare, none).contains("no platform given"));
    assert!(
        error(Command::Sim, ask())
            .starts_with("sim takes one policy or scheduler, and 2 are given")
    );
    let unknown = argument("duratoin").unwrap_err().to_string();
    assert_eq!(
        unknown,
        "`duratoin` is no argument; did you mean `duration`?"
    );
}

/// Goal: JSON has the forms that other programs write: texts, numbers, lists, pairs, nothing.
#[test]
fn json_is_the_same_question() {
    let text = r#"{"platform": ["hikey960"], "workload": "periodic:n=3,duty=5%",
                   "policy": ["linux-7.3", "linux-4.17+energy-aware"], "seeds": 2,
                   "duration": "50ms", "timeline": "0s..20ms", "set": [["a", "1"], "b=2"],
                   "oracle": true, "allow_unmodelled": false, "jitter": null}"#;
    let read: Ask = serde_json::from_str(text).unwrap();
    let typed = ask()
        .with("set", "a=1")
        .with("set", "b=2")
        .with("oracle", "");
    assert_eq!(read, typed);
    let of_texts: Ask = serde_json::from_str(r#"{"platform": [["mine", "name = 1"]]}"#).unwrap();
    assert_eq!(of_texts.command(Command::Sim), None);
    for (text, said) in [
        (r#"{"platfrom": []}"#, "did you mean `platform`?"),
        (
            r#"{"oracle": "yes"}"#,
            r#"oracle: "yes"; expected true or false"#,
        ),
        (
            r#"{"duration": ["a", "b"]}"#,
            r#"duration: ["a","b"]; expected a text with a unit, as "500ms""#,
        ),
    ] {
        let error = serde_json::from_str::<Ask>(text).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}

/// Goal: the names of `excludes` are arguments, and help has a sentence for each.
#[test]
fn the_list_is_whole() {
    for one in &ARGUMENTS {
        assert!(!one.help.is_empty() && !one.taken_by.is_empty(), "{one:?}");
        for other in one.excludes.iter().filter(|other| **other != SCHEDULER) {
            argument(other).unwrap();
        }
        for (command, value) in one.defaults {
            assert!(one.is_taken_by(*command));
            one.check(value).unwrap();
        }
    }
}

/// Goal: the Python package's functions are those that the arguments make.
#[test]
fn the_python_module_is_made_from_the_list() {
    let kept = include_str!("../../../python/python/wakeplace/_ask.py");
    assert!(
        kept == python_module(),
        "_ask.py is of other arguments; run `cargo run -p wakeplace-study --example python-module`"
    );
}
