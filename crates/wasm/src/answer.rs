//! From a question as JSON to its answer as JSON (docs/guide/playground.md).
//!
//! Called by `door.rs` and `playground-page`.
//!
//! What must stay: keys of questions and answers, which the scripts of `site/playground` read;
//! bytes of a result are those of the command line; every end is `ok` or a sentence. Free: how
//! files are kept, and words of what a browser cannot do. Tests by part:
//! `a_comparison_comes_with_its_page_and_its_command` (`run`, `shown`), `a_decision_is_explained`
//! (`explain`), `a_file_takes_the_place_of_its_name` (`filled`, `keep`),
//! `what_is_wrong_is_said_in_the_programs_words` (`answer`, `words`, an import without its file),
//! `the_names_are_the_programs` (`Names`). No test of its own: `import` of a file; `cargo xtask
//! playground-test` gives the page some (scripts/playground/drive.mjs).
//!
//! Tests: crates/wasm/src/answer/tests.rs, xtask/src/gives/playground.rs

use crate::{COMMIT, door, names};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use wakeplace_platform::import::{capture, device_tree};
use wakeplace_report::{Format, Fragment, Source, Style};
use wakeplace_study::{Ask, Command, Origin};

/// What the page has handed in.
#[derive(Default)]
pub struct Asked {
    files: BTreeMap<String, Arc<[u8]>>,
}

/// What can be asked.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum Question {
    /// What there is to choose from.
    Names {},
    /// A capture or a device tree as the text of a platform file.
    Import {
        file: String,
    },
    /// `sim` or `compare`.
    Run {
        ask: Ask,
    },
    Explain {
        ask: Ask,
    },
}

impl Asked {
    /// Keeps a file; one of the same name goes.
    pub fn keep(&mut self, name: String, bytes: Arc<[u8]>) {
        self.files.insert(name, bytes);
    }

    /// The question with what is in files here in its place.
    fn filled(&self, mut ask: Ask) -> Ask {
        for source in ask.sources_mut() {
            let name = source.name().to_owned();
            let file = match name.starts_with(wakeplace_trace::PREFIX) {
                true => wakeplace_trace::file_name(&name).unwrap_or_default(),
                false => name.as_str(),
            };
            if let Some(bytes) = self.files.get(file).cloned() {
                *source = wakeplace_study::Source::File { name, bytes };
            }
        }
        ask
    }
}

/// `{"ok": ...}` or `{"error": "sentence"}`.
#[must_use]
pub fn answer(text: &[u8], asked: &Asked) -> String {
    let question = serde_json::from_slice(text).map_err(|error| format!("the question: {error}"));
    let found = question.and_then(|question| match question {
        Question::Names {} => names::all(),
        Question::Import { file } => import(&file, asked),
        Question::Run { ask } => run(&asked.filled(ask)),
        Question::Explain { ask } => explain(&asked.filled(ask)),
    });
    match found {
        Ok(value) => json!({ "ok": value }).to_string(),
        Err(error) => json!({ "error": wakeplace_text::printable(&error) }).to_string(),
    }
}

/// What a library says of a file in a browser, and what a reader can do about it.
const NO_FILES: (&str, &str) = (
    "operation not supported on this platform",
    "a page has no files; expected one that was given to it",
);

/// An error's words; what a browser cannot do is said in its own.
fn words(error: impl ToString) -> String {
    error.to_string().replace(NO_FILES.0, NO_FILES.1)
}

/// Device trees begin with this.
const DTB_MAGIC: [u8; 4] = [0xd0, 0x0d, 0xfe, 0xed];

/// A platform file of a device tree or an archive, with what was assumed.
fn import(file: &str, asked: &Asked) -> Result<Value, String> {
    let Some(bytes) = asked.files.get(file) else {
        return Err(format!("{file}: no such file was given"));
    };
    let imported = match bytes.starts_with(&DTB_MAGIC) {
        true => device_tree(bytes, file),
        false => capture(bytes, file),
    };
    let imported = imported.map_err(words)?;
    // What may be far off stands first.
    let said: Vec<&String> = imported.warnings.iter().chain(&imported.said).collect();
    Ok(json!({
        "name": imported.platform.name,
        "toml": imported.toml,
        "said": said,
    }))
}

/// A part of a page, with what its scripts draw.
fn shown(fragment: Fragment) -> Value {
    json!({"title": fragment.title, "html": fragment.html, "drawn": fragment.drawn})
}

/// `sim` or `compare`, by how many policies are named.
fn run(ask: &Ask) -> Result<Value, String> {
    let command = match ask.texts("policy").len() {
        0 | 1 => Command::Sim,
        _ => Command::Compare,
    };
    ask.check(command, 0).map_err(words)?;
    let matrix = ask
        .request(command)
        .map_err(words)?
        .resolve()
        .map_err(words)?;
    door::tell(0, matrix.len());
    let mut comparisons = matrix
        .run(1, &|progress| door::tell(progress.done, progress.total))
        .map_err(words)?;
    let line = ask.command(command).unwrap_or_default();
    for comparison in &mut comparisons {
        comparison.origin = Origin {
            command: line.clone(),
            commit: COMMIT.to_owned(),
        };
    }
    let text = wakeplace_report::comparisons(&comparisons, Format::Json, Style::default());
    let source = Source {
        name: "the result",
        text: &text,
    };
    let fragment = wakeplace_report::fragment(&[source]).map_err(words)?;
    let reports = comparisons.iter().flat_map(|c| &c.runs);
    let hashes = reports.flat_map(|runs| &runs.reports);
    let hashes: Vec<_> = hashes.map(|r| format!("{:016x}", r.event_hash)).collect();
    let cpus = matrix.experiments[0].platform.cpus.len();
    let mut value = shown(fragment);
    value["command"] = json!(line);
    value["python"] = json!(ask.python(command));
    value["event_hashes"] = json!(hashes);
    value["cpus"] = json!(cpus);
    value["json"] = json!(text);
    Ok(value)
}

/// One decision: its part of the page, the commands and the JSON.
fn explain(ask: &Ask) -> Result<Value, String> {
    let answer = ask.question(0).map_err(words)?.answer();
    let text = answer.map_err(words)?.json();
    let source = Source {
        name: "the decision",
        text: &text,
    };
    let mut value = shown(wakeplace_report::decision(source).map_err(words)?);
    value["command"] = json!(ask.command(Command::Explain));
    value["python"] = json!(ask.python(Command::Explain));
    value["json"] = json!(text);
    Ok(value)
}

#[cfg(test)]
mod tests;
