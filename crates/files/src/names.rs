//! Which files belong to a set, by name (docs/guide/traces.md, "What is promised of files").
//!
//! Called by `set.rs`: a folder with other names in it is never exchanged.
//!
//! What must stay: a name belongs to a set only as a whole. Looking one up takes time that grows
//! with its length alone (`are_simple`), since names may come from a process that is not trusted.
//! Free: how parts are kept and compared.
//! Tests by part: `names_are_told_by_their_parts` (`have`, `ending`, `exactly`, `is_of`),
//! elsewhere.rs::`only_outputs_of_the_command_are_written` (`are_simple`).
//!
//! Tests: below, crates/files/src/elsewhere.rs

use serde::{Deserialize, Serialize};

/// A part of a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Part {
    /// This text.
    Text(String),
    /// Digits, one or more.
    Number,
    /// Anything.
    Any,
}

/// Names of the files of a set: one of these rows of parts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Names(pub Vec<Vec<Part>>);

/// Most parts of a row.
const MOST_PARTS: usize = 16;

impl Names {
    /// The names that end so.
    #[must_use]
    pub fn ending(end: &str) -> Self {
        Self(vec![vec![Part::Any, Part::Text(end.to_owned())]])
    }

    /// These names and no others.
    #[must_use]
    pub fn exactly<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let one = |name: &str| vec![Part::Text(name.to_owned())];
        Self(names.into_iter().map(one).collect())
    }

    /// Does looking a name up take time that grows with its length alone? Names may come from a
    /// process that is not trusted.
    pub(crate) fn are_simple(&self) -> bool {
        let simple = |parts: &Vec<Part>| {
            let any = parts.iter().filter(|part| **part == Part::Any).count();
            parts.len() <= MOST_PARTS && any <= 1
        };
        self.0.iter().all(simple)
    }

    /// Is it the name of such a file?
    #[must_use]
    pub fn have(&self, name: &str) -> bool {
        self.0.iter().any(|parts| is_of(name, parts))
    }
}

/// Whether a name is made of these parts.
fn is_of(name: &str, parts: &[Part]) -> bool {
    let Some((part, rest)) = parts.split_first() else {
        return name.is_empty();
    };
    match part {
        Part::Text(text) => name
            .strip_prefix(text.as_str())
            .is_some_and(|name| is_of(name, rest)),
        Part::Number => {
            let digits = name.bytes().take_while(u8::is_ascii_digit).count();
            digits > 0 && is_of(&name[digits..], rest)
        }
        Part::Any => name
            .char_indices()
            .map(|(at, _)| at)
            .chain([name.len()])
            .any(|at| is_of(&name[at..], rest)),
    }
}

#[cfg(test)]
mod tests {
    use super::{Names, Part};

    #[test]
    fn names_are_told_by_their_parts() {
        let fork = vec![
            Part::Text("a-".to_owned()),
            Part::Number,
            Part::Text("-".to_owned()),
            Part::Number,
            Part::Text(".log".to_owned()),
        ];
        let names = Names(vec![fork]);
        for (name, ours) in [
            ("a-1-0002.log", true),
            ("a-1-.log", false),
            ("a-1-2.log.x", false),
            ("b-1-2.log", false),
            ("a-1-2x.log", false),
        ] {
            assert_eq!(names.have(name), ours, "{name}");
        }
        assert!(Names::ending(".x").have("é.x") && Names::ending(".x").have(".x"));
        assert!(!Names::ending(".x").have("x"));
        assert!(Names::exactly(["a"]).have("a") && !Names::exactly(["a"]).have("aa"));
    }
}
