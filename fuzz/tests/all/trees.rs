//! Documents as trees.
//! The trees are fuzz/src/tree.rs, the runs with files fuzz/src/case.rs.
//!
//! What must stay: what is read and written means the same; keys may stand twice.
//! Tests by part: `a_document_survives_reading_and_writing`, `a_key_can_stand_twice`
//! (fuzz/src/tree.rs: read and write); `nodes_are_numbered_in_the_order_of_the_text`
//! (fuzz/src/tree.rs: count and node); `a_run_survives_reading_and_writing` (fuzz/src/case.rs).

use wakeplace_fuzz::case::Case;
use wakeplace_fuzz::tree::{Form, Tree};

/// Goal: a document that is read and written means the same.
#[test]
fn a_document_survives_reading_and_writing() {
    let json = r#"{"a": [1, -2.5, "x\n\"\u001b", null, {"b": true}], "c": {}, "": []}"#;
    let tree = Tree::read(json.as_bytes(), Form::Json).expect("JSON");
    assert_eq!(
        Tree::read(tree.write(Form::Json).as_bytes(), Form::Json),
        Some(tree)
    );
    let toml = "a = 1\nb = [\"\\u007f\", 0.5]\n[[c]]\nd = { e = true }\n[[c]]\n'f g' = 'h'\n";
    let tree = Tree::read(toml.as_bytes(), Form::Toml).expect("TOML");
    assert_eq!(
        Tree::read(tree.write(Form::Toml).as_bytes(), Form::Toml),
        Some(tree)
    );
}

/// Goal: every node can be reached, in the order of the text, and none twice.
#[test]
fn nodes_are_numbered_in_the_order_of_the_text() {
    let json = r#"{"a": [1, {"b": 2}], "c": 3}"#;
    let mut tree = Tree::read(json.as_bytes(), Form::Json).expect("JSON");
    assert_eq!(tree.count(), 6);
    let mut words = Vec::new();
    for at in 0..6 {
        if let Some(Tree::Word(word)) = tree.node(at) {
            words.push(word.clone());
        }
    }
    assert_eq!(words, ["1", "2", "3"]);
    assert_eq!(tree.node(6), None);
}

/// Goal: a key that stands twice is written twice: json-c reads such files.
#[test]
fn a_key_can_stand_twice() {
    let one = |word: &str| ("a".to_owned(), Tree::Word(word.to_owned()));
    let tree = Tree::Table(vec![one("1"), one("2")]);
    assert_eq!(tree.write(Form::Json), r#"{"a": 1, "a": 2}"#);
}

/// Goal: a run with files is read as it was written.
#[test]
fn a_run_survives_reading_and_writing() {
    let text = "platform x\nset a=b c\n=== workload\n{\"tasks\": {}}\n";
    let case = Case::read(text.as_bytes()).expect("text");
    assert_eq!(case.all("set").collect::<Vec<_>>(), ["a=b c"]);
    assert_eq!(
        case.workload.as_deref().map(str::trim),
        Some("{\"tasks\": {}}")
    );
    assert_eq!(case.platform, None);
    let again = Case::read(case.write().as_bytes()).expect("text");
    assert_eq!(again.lines, case.lines);
}
