//! What is not cargo's: the style check, the dependency arrows, generated files, and the tasks that
//! measure, try and release (CONTRIBUTING.md, "Rules that a check enforces").
//!
//! Every rule is a function from the repository's files (or its build graph) to findings, with its
//! own tests beside it; `tests/all/repo.rs` runs all of them over this repository, so that
//! `cargo test --workspace` keeps them.
//!
//! What must stay: a finding has a place and what was expected; rules only read. Free: how it is
//! done, and words that no test or script reads. Tests by part:
//! docs.rs::`a_crate_without_a_description_is_found` (`on`),
//! outside/tests.rs::`what_comes_out_otherwise_is_said` (`at`), repo.rs (`fmt`: every finding that
//! it prints).
//!
//! Tests: xtask/tests/all, beside its modules

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "its users sit before a terminal, and it says how long things take"
)]

pub mod arrows;
pub mod assets;
pub mod bindings;
pub mod checks;
pub mod commands;
pub mod gives;
pub mod glue;
pub mod kernel_map;
pub mod lexer;
pub mod live;
pub mod measure;
pub mod mutants;
pub mod params;
pub mod protos;
pub mod reasons;
pub mod repo;
pub mod schema;
pub mod shop;
pub mod site;
pub mod tidy;
pub mod trees;
pub mod tries;

use std::fmt;

/// One place where a rule does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The file, from the repository's root; or a crate, for rules over the build graph.
    pub place: String,
    /// The line, from 1; 0 when it is about the whole.
    pub line: usize,
    /// What is wrong, and what the rule wants.
    pub what: String,
}

impl Finding {
    /// A finding at a line of a file.
    pub fn at(place: &str, line: usize, what: impl Into<String>) -> Self {
        Self {
            place: place.to_owned(),
            line,
            what: what.into(),
        }
    }

    /// A finding about a whole file or crate.
    pub fn on(place: &str, what: impl Into<String>) -> Self {
        Self::at(place, 0, what)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.place, self.what),
            line => write!(f, "{}:{line}: {}", self.place, self.what),
        }
    }
}
