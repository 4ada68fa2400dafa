//! Answers of the playground (docs/guide/playground.md).
//!
//! What must stay: answers are the program's own, in its words; names are the program's. Free:
//! names and sizes of the questions.
//! Tests by part (in crates/wasm/src): answer.rs:
//! `a_comparison_comes_with_its_page_and_its_command` (`run`, `shown`), `a_decision_is_explained`
//! (`explain`), `a_file_takes_the_place_of_its_name` (`filled`, `keep`),
//! `what_is_wrong_is_said_in_the_programs_words` (`answer`, `words`), `the_names_are_the_programs`
//! (`Names`); crates/study/src/ask/words.rs: `a_comparison_comes_with_its_page_and_its_command` (in
//! a result); crates/report/src/html/decision.rs: `a_decision_is_explained` (`view`, `why_not`);
//! names.rs: `the_names_are_the_programs` (`all`, `arguments`, `platform`).
//! Helpers, and who fails with them: `asked` (`a_comparison_comes_with_its_page_and_its_command`,
//! `a_decision_is_explained` and 3 more).

use super::{Asked, answer};
use serde_json::Value;

/// The answer to a question, or what is said against it.
fn asked(question: &str, asked: &Asked) -> Result<Value, String> {
    let whole: Value = serde_json::from_str(&answer(question.as_bytes(), asked)).unwrap();
    match whole.get("ok") {
        Some(value) => Ok(value.clone()),
        None => Err(whole["error"].as_str().unwrap().to_owned()),
    }
}

const ASK: &str = r#""ask": {"platform": ["hikey960"], "workload": ["periodic:n=3,duty=5%"],
    "policy": ["linux-7.3", "linux-4.17+energy-aware"], "seeds": "2", "duration": "50ms"}"#;

#[test]
fn a_comparison_comes_with_its_page_and_its_command() {
    let found = asked(&format!(r#"{{"run": {{{ASK}}}}}"#), &Asked::default()).unwrap();
    assert_eq!(found["event_hashes"].as_array().unwrap().len(), 4);
    let command = found["command"].as_str().unwrap();
    assert!(
        command.starts_with("wakeplace compare --platform hikey960"),
        "{command}"
    );
    let json: Value = serde_json::from_str(found["json"].as_str().unwrap()).unwrap();
    assert_eq!(json["command"], found["command"]);
    assert!(found["html"].as_str().unwrap().contains("<article"));
}

#[test]
fn a_decision_is_explained() {
    let ask = ASK
        .replace(r#", "linux-4.17+energy-aware""#, "")
        .replace(r#""seeds": "2","#, "");
    let ask = ask.replace(r#""duration""#, r#""wakeup": 2, "why_not": 7, "duration""#);
    let question = format!(r#"{{"explain": {{{ask}}}}}"#);
    let found = asked(&question, &Asked::default()).unwrap();
    let page = found["html"].as_str().unwrap();
    for shown in ["CPU 7 was ", "runnable"] {
        assert!(page.contains(shown), "{shown}");
    }
    assert!(
        found["command"]
            .as_str()
            .unwrap()
            .ends_with("--wakeup 2 --why-not 7")
    );
}

#[test]
fn a_file_takes_the_place_of_its_name() {
    let mut files = Asked::default();
    files.keep(
        "a.json".to_owned(),
        br#"{"tasks": {"a": {"run": 500, "sleep": 9000}}}"#[..].into(),
    );
    let ask = ASK.replace("periodic:n=3,duty=5%", "a.json");
    let found = asked(&format!(r#"{{"run": {{{ask}}}}}"#), &files).unwrap();
    assert!(
        found["command"]
            .as_str()
            .unwrap()
            .contains("--workload a.json")
    );
    files.keep("a.json".to_owned(), b"\xff\xfe"[..].into());
    let said = asked(&format!(r#"{{"run": {{{ask}}}}}"#), &files).unwrap_err();
    assert!(said.starts_with("a.json:1:1: "), "{said}");
}

#[test]
fn what_is_wrong_is_said_in_the_programs_words() {
    let said = |question: &str| asked(question, &Asked::default()).unwrap_err();
    let run = |from: &str, to: &str| said(&format!(r#"{{"run": {{{}}}}}"#, ASK.replace(from, to)));
    assert!(run("hikey960", "hikey690").contains("or `hikey960`?"));
    assert!(run("50ms", "50").starts_with("duration: "));
    assert!(run("periodic:n=3", "periodic:m=3").contains("`m`"));
    assert!(said("[").starts_with("the question: "));
    assert!(said(r#"{"import": {"file": "x.tar"}}"#).contains("no such file"));
}

#[test]
fn the_names_are_the_programs() {
    let names = asked(r#"{"names": {}}"#, &Asked::default()).unwrap();
    assert!(names["platforms"].as_array().unwrap().len() > 30);
    // docs/guide/playground.md names them.
    let fields = names["arguments"].as_array().unwrap();
    let more = fields.iter().filter(|one| one["more"] == true);
    let more: Vec<_> = more.map(|one| one["name"].as_str().unwrap()).collect();
    let page = include_str!("../../../../docs/guide/playground.md");
    let row = page
        .lines()
        .find(|line| line.starts_with("| More |"))
        .unwrap();
    for name in &more {
        let option = format!("`--{}`", name.replace('_', "-"));
        assert!(row.contains(&option), "{option}: {row}");
    }
    assert!(
        names["modes"]
            .as_array()
            .unwrap()
            .iter()
            .any(|mode| mode == "powersave")
    );
}
