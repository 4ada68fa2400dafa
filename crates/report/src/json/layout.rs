//! JSON as text: indented, but lists within lists stand on one line each. A histogram or a timeline
//! has thousands of them (docs/guide/report.md, "In the JSON").
//!
//! What must stay: the bytes: files of results are compared as text
//! (results.rs::`the_same_command_gives_the_same_bytes`). The order of keys is the caller's. Free:
//! words for people that no test quotes. Tests by part:
//! `only_lists_within_lists_differ_from_the_usual_form` (`pretty`, `write`, `block`), the same also
//! `is_scalar`.
//!
//! Callers: json.rs (`pretty`).
//!
//! Tests: below

use serde_json::Value;

/// The value with an indent of two.
pub(super) fn pretty(value: &Value) -> String {
    let mut text = String::new();
    write(value, 0, false, &mut text);
    text
}

/// A value at a depth of indentation; within a list a list of plain values takes one line.
fn write(value: &Value, depth: usize, in_list: bool, text: &mut String) {
    match value {
        Value::Array(items) if in_list && items.iter().all(is_scalar) => {
            let items: Vec<String> = items.iter().map(Value::to_string).collect();
            text.push_str(&format!("[{}]", items.join(", ")));
        }
        Value::Array(items) if !items.is_empty() => {
            let write = |item: &Value, text: &mut String| write(item, depth + 1, true, text);
            block(['[', ']'], depth, items.iter(), write, text);
        }
        Value::Object(entries) if !entries.is_empty() => {
            let write = |(key, value): (&String, &Value), text: &mut String| {
                text.push_str(&Value::from(key.as_str()).to_string());
                text.push_str(": ");
                write(value, depth + 1, false, text);
            };
            block(['{', '}'], depth, entries.iter(), write, text);
        }
        _ => text.push_str(&value.to_string()),
    }
}

/// Neither a list nor an object: it takes no line of its own in a list of lists.
fn is_scalar(value: &Value) -> bool {
    !matches!(value, Value::Array(_) | Value::Object(_))
}

/// Brackets with an item on each line between them.
fn block<T>(
    [open, close]: [char; 2],
    depth: usize,
    items: impl Iterator<Item = T>,
    write: impl Fn(T, &mut String),
    text: &mut String,
) {
    text.push(open);
    for (at, item) in items.enumerate() {
        text.push_str(if at > 0 { ",\n" } else { "\n" });
        text.push_str(&"  ".repeat(depth + 1));
        write(item, text);
    }
    text.push('\n');
    text.push_str(&"  ".repeat(depth));
    text.push(close);
}

#[cfg(test)]
mod tests {
    use super::pretty;
    use serde_json::json;

    #[test]
    fn only_lists_within_lists_differ_from_the_usual_form() {
        let usual = json!({
            "a": [1, 2, {"b": [], "c": {}, "d": "x\"\n"}],
            "e": [{"f": [1.5, null]}],
            "g": true,
        });
        assert_eq!(pretty(&usual), format!("{usual:#}"));
        let nested = json!({"h": [[1, 2], ["x", 3.5]]});
        assert_eq!(
            pretty(&nested),
            "{\n  \"h\": [\n    [1, 2],\n    [\"x\", 3.5]\n  ]\n}"
        );
        let back: serde_json::Value = serde_json::from_str(&pretty(&nested)).unwrap();
        assert_eq!(back, nested);
    }
}
