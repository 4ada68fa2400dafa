//! A TOML or JSON document as a tree that can be changed and written again. Numbers stay text, so
//! that any number can be written; a table may hold a key twice.
//!
//! What must stay: what is written is read again as the same tree, as far as both forms can say it;
//! members keep their order. Free: how a tree is kept. Tests by part:
//! `a_document_survives_reading_and_writing` (`read`, `write`, `write_into`, `quoted`, `of_json`,
//! `of_toml`), `a_key_can_stand_twice` (`write`), `nodes_are_numbered_in_the_order_of_the_text`
//! (`count`, `node`). `under` has no test of its own: mutations would take no values of other
//! documents.
//!
//! Callers: mutate.rs. Rule: docs/internals/checks.md.
//!
//! Tests: fuzz/tests/all/trees.rs

use std::fmt::Write as _;

/// A node of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tree {
    /// Written as it is: a number, a date, `true`, `null`.
    Word(String),
    /// A string.
    Text(String),
    /// A list.
    List(Vec<Tree>),
    /// A table, in the order of the file.
    Table(Vec<(String, Tree)>),
}

/// How a tree is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// JSON.
    Json,
    /// TOML, each top-level key on its line.
    Toml,
}

impl Tree {
    /// Reads a document; None if it is none.
    #[must_use]
    pub fn read(bytes: &[u8], form: Form) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        match form {
            Form::Json => serde_json::from_str(text).ok().map(of_json),
            Form::Toml => toml::from_str(text).ok().map(of_toml),
        }
    }

    /// The document as text in one of the two forms.
    #[must_use]
    pub fn write(&self, form: Form) -> String {
        let mut text = String::new();
        match (self, form) {
            (Tree::Table(members), Form::Toml) => {
                for (key, value) in members {
                    let _ = write!(text, "{} = ", quoted(key));
                    value.write_into(&mut text, form);
                    text.push('\n');
                }
            }
            _ => self.write_into(&mut text, form),
        }
        text
    }

    /// With commas and quotes of the form.
    fn write_into(&self, text: &mut String, form: Form) {
        match self {
            Tree::Word(word) => text.push_str(word),
            Tree::Text(string) => text.push_str(&quoted(string)),
            Tree::List(items) => {
                text.push('[');
                for (at, item) in items.iter().enumerate() {
                    text.push_str(if at == 0 { "" } else { ", " });
                    item.write_into(text, form);
                }
                text.push(']');
            }
            Tree::Table(members) => {
                text.push('{');
                for (at, (key, value)) in members.iter().enumerate() {
                    text.push_str(if at == 0 { "" } else { ", " });
                    let colon = if form == Form::Json { ": " } else { " = " };
                    let _ = write!(text, "{}{colon}", quoted(key));
                    value.write_into(text, form);
                }
                text.push('}');
            }
        }
    }

    /// How many nodes there are, this one included.
    #[must_use]
    pub fn count(&self) -> usize {
        1 + match self {
            Tree::Word(_) | Tree::Text(_) => 0,
            Tree::List(items) => items.iter().map(Tree::count).sum(),
            Tree::Table(members) => members.iter().map(|(_, value)| value.count()).sum(),
        }
    }

    /// Node `at` in the order of the text, this one being 0. None: there are fewer.
    pub fn node(&mut self, at: usize) -> Option<&mut Tree> {
        if at == 0 {
            return Some(self);
        }
        let mut left = at - 1;
        let children: Vec<&mut Tree> = match self {
            Tree::Word(_) | Tree::Text(_) => Vec::new(),
            Tree::List(items) => items.iter_mut().collect(),
            Tree::Table(members) => members.iter_mut().map(|(_, value)| value).collect(),
        };
        for child in children {
            let size = child.count();
            if left < size {
                return child.node(left);
            }
            left -= size;
        }
        None
    }

    /// Every value that stands under `key`, in the order of the text.
    pub fn under<'a>(&'a self, key: &str, found: &mut Vec<&'a Tree>) {
        match self {
            Tree::Word(_) | Tree::Text(_) => {}
            Tree::List(items) => items.iter().for_each(|item| item.under(key, found)),
            Tree::Table(members) => {
                for (name, value) in members {
                    if name == key {
                        found.push(value);
                    }
                    value.under(key, found);
                }
            }
        }
    }
}

/// A string that both JSON and TOML read.
fn quoted(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted.replace('\u{7f}', "\\u007f")
}

/// Keys keep their order.
fn of_json(value: serde_json::Value) -> Tree {
    use serde_json::Value;
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => Tree::Word(value.to_string()),
        Value::String(text) => Tree::Text(text),
        Value::Array(items) => Tree::List(items.into_iter().map(of_json).collect()),
        Value::Object(members) => {
            let pair = |(key, value)| (key, of_json(value));
            Tree::Table(members.into_iter().map(pair).collect())
        }
    }
}

/// Keys keep their order; numbers stay text.
fn of_toml(value: toml::Value) -> Tree {
    use toml::Value;
    match value {
        Value::String(text) => Tree::Text(text),
        Value::Array(items) => Tree::List(items.into_iter().map(of_toml).collect()),
        Value::Table(members) => {
            let pair = |(key, value)| (key, of_toml(value));
            Tree::Table(members.into_iter().map(pair).collect())
        }
        Value::Integer(_) | Value::Float(_) | Value::Boolean(_) | Value::Datetime(_) => {
            Tree::Word(value.to_string())
        }
    }
}
