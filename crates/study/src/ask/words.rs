//! A question as a command and as lines of Python. What it says, typed again, gives the same result
//! (CONTRIBUTING.md, "Add an argument").
//!
//! What must stay: the order of `ARGUMENTS`, and quoting for a shell and for Python: the playground
//! and the Python module write these words into results, where no command line was typed. A text
//! that is no file has no words. Tests by part: `the_same_question_in_two_languages` (`command`,
//! `python`, `number`, `quoted`), `a_decision_is_asked_for_in_the_same_words` (`python` of one
//! thing), `json_is_the_same_question` (`word` of a text),
//! crates/wasm/src/answer/tests.rs::`a_comparison_comes_with_its_page_and_its_command` (in a
//! result).
//!
//! Tests: crates/study/src/ask/tests.rs,
//! crates/wasm/src/answer/tests.rs::a_comparison_comes_with_its_page_and_its_command

use super::{Argument, Ask, Command, Kind, Value};
use crate::Source;
use serde_json::json;
use wakeplace_text::shell_word;

/// A text as Python writes it: JSON's escapes are Python's, too.
fn quoted(text: &str) -> String {
    json!(text).to_string()
}

/// A number as Python writes it: without `%`, and without zeros before it.
fn number(text: &str) -> String {
    let bare = text.trim_end_matches('%').trim();
    match (bare.parse::<u64>(), bare.parse::<f64>()) {
        (Ok(whole), _) => whole.to_string(),
        (_, Ok(number)) => number.to_string(),
        _ => quoted(text),
    }
}

impl Value {
    /// What the command line and Python can write; a text is no file.
    fn word(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Source(Source::Named(name) | Source::File { name, .. }) => Some(name),
            Self::Source(Source::Text { .. }) => None,
        }
    }
}

impl Ask {
    /// All that is given, as words.
    fn words(&self) -> Option<Vec<(&'static Argument, Vec<&str>)>> {
        let all = self.given().map(|(argument, values)| {
            let words = values.iter().map(Value::word);
            Some((argument, words.collect::<Option<Vec<_>>>()?))
        });
        all.collect()
    }

    /// The command that gives the same bytes; none where a text is no file.
    #[must_use]
    pub fn command(&self, command: Command) -> Option<String> {
        let mut words = vec!["wakeplace".to_owned(), command.name().to_owned()];
        let all = self.words()?;
        let (first, options): (Vec<_>, Vec<_>) =
            { all.into_iter() }.partition(|(argument, _)| argument.is_positional(command));
        words.extend(
            { first.iter() }.flat_map(|(_, values)| values.iter().copied().map(shell_word)),
        );
        for (argument, values) in options {
            let option = format!("--{}", argument.option());
            for value in values {
                words.push(option.clone());
                words.extend((argument.kind != Kind::Flag).then(|| shell_word(value)));
            }
        }
        Some(words.join(" "))
    }

    /// Lines of Python that give the same; none where a text is no file.
    #[must_use]
    pub fn python(&self, command: Command) -> Option<String> {
        let function = command.name();
        let mut lines = format!("import wakeplace\n\nresult = wakeplace.{function}(\n");
        for (argument, values) in self.words()? {
            let list = || {
                let all: Vec<_> = values.iter().map(|one| quoted(one)).collect();
                format!("[{}]", all.join(", "))
            };
            let value = match argument.kind {
                Kind::Text | Kind::Seeds => quoted(values[0]),
                Kind::Whole | Kind::Percent => number(values[0]),
                Kind::Flag => "True".to_owned(),
                // `compare` takes lists; of one thing the others take that thing.
                Kind::Sources | Kind::Texts if command != Command::Compare && values.len() == 1 => {
                    quoted(values[0])
                }
                Kind::Sources | Kind::Texts => list(),
                Kind::Pairs => {
                    let pairs = values.iter().filter_map(|pair| pair.split_once('='));
                    let pairs = pairs.map(|(key, own)| format!("{}: {}", quoted(key), quoted(own)));
                    format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
                }
            };
            lines += &format!("    {}={value},\n", argument.name);
        }
        Some(lines + ")\n")
    }
}
