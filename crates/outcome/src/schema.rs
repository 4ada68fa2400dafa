//! The JSON Schema of results (docs/guide/report.md, "In the JSON").
//!
//! Called by the workshop, which compares the text with docs/result.schema.json.
//!
//! What must stay: bytes follow from the types; nothing is written by hand. All kinds of results
//! are in `Outcome`. The schema is that of what is written, so it requires every key that always
//! stands. Tests by part: xtask/tests/all/repo.rs::`the_schema_is_of_the_types_of_results`
//! (`schema`, `lines`), crates/cli/tests/all/schema.rs::`results_are_what_the_schema_says`
//! (`Outcome`).
//!
//! Tests: xtask/tests/all/repo.rs::the_schema_is_of_the_types_of_results,
//! crates/cli/tests/all/schema.rs

use crate::{Comparison, Comparisons, Decision, Evaluation, KernelDiff, Review};
use crate::{SchedulerDecision, Studies, Study, Sweep, TreeDecision};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use serde::Serialize;
use serde_json::{Value, json};

/// Results of wakeplace: `compare`, `sim`, `study run`, `sweep`, `explain`, `kernel diff`, `review`
/// and `evaluate` with `--format json`.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its form is of use")]
enum Outcome {
    Comparison(Comparison),
    Comparisons(Comparisons),
    Review(Review),
    Study(Study),
    Studies(Studies),
    Sweep(Sweep),
    Decision(Decision),
    SchedulerDecision(SchedulerDecision),
    TreeDecision(TreeDecision),
    KernelDiff(KernelDiff),
    Evaluation(Evaluation),
}

/// The JSON Schema of results, as text: what docs/result.schema.json holds.
#[must_use]
pub fn schema() -> String {
    let plain = |schema: &mut schemars::Schema| {
        // What is written has its keys, and JSON's numbers have no size.
        schema.remove("default");
        schema.remove("format");
        if let Some(Value::String(text)) = schema.get_mut("description") {
            *text = text.replace('\n', " ");
        }
    };
    let settings = SchemaSettings::draft2020_12()
        .for_serialize()
        .with_transform(RecursiveTransform(plain));
    let mut schema = settings.into_generator().into_root_schema_for::<Outcome>();
    let id = "https://wakeplace.invalid/result.schema.json";
    schema.insert("$id".to_owned(), json!(id));
    lines(&schema.to_value(), 0) + "\n"
}

/// JSON with an indent of two; what fits stands on one line.
fn lines(value: &Value, depth: usize) -> String {
    const WIDTH: usize = 80;
    let line = value.to_string();
    if line.len() <= WIDTH {
        return line;
    }
    let block = |open: &str, members: Vec<String>, close: &str| {
        let indent = "  ".repeat(depth);
        let members = members.join(&format!(",\n  {indent}"));
        format!("{open}\n  {indent}{members}\n{indent}{close}")
    };
    match value {
        Value::Object(all) => {
            let member = |(key, own): (&String, &Value)| {
                format!("{}: {}", json!(key), lines(own, depth + 1))
            };
            block("{", all.iter().map(member).collect(), "}")
        }
        Value::Array(all) => {
            let members = all.iter().map(|own| lines(own, depth + 1));
            block("[", members.collect(), "]")
        }
        _ => line,
    }
}
