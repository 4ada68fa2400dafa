//! All checks, in one list that `.ci/run` and `make nightly` read (docs/internals/checks.md).
//!
//! What must stay: a check stands in the list once, with its length in CI. Free: how it is done,
//! and words that no test or script reads. Tests by part: `in_ci`, `in_nightly` have no test of
//! their own: `ci` and `nightly` do another set of checks then.
//!
//! Callers: run.rs (`in_ci`, `in_nightly`).
//!
//! Tests: none; CI and nightly are its trial.

mod list;
mod run;

pub use run::{ci, nightly, part};

use anyhow::Result;

use crate::shop::Shop;

/// How much of a check is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// What a change can wait for: `.ci/run`.
    Quick,
    /// All of it: nightly.
    Full,
}

/// Where a check is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    Both,
    Ci,
    Nightly,
    /// In both; in `.ci/run` it begins when the tests have been built, beside them.
    BesideTests,
}

/// One check.
struct Check {
    name: &'static str,
    /// What it is, as a heading.
    title: &'static str,
    when: When,
    run: fn(&Shop, Size) -> Result<()>,
}

impl Check {
    /// Is it one of `.ci/run`'s?
    fn in_ci(&self) -> bool {
        self.when != When::Nightly
    }

    /// Is it one of nightly's?
    fn in_nightly(&self) -> bool {
        self.when != When::Ci
    }
}
