//! docs/result.schema.json: the JSON Schema of results, written from their types.
//!
//! What must stay: the file is made of crates/outcome's types alone. Free: how it is done, and
//! words that no test or script reads. Tests by part:
//! repo.rs::`the_schema_is_of_the_types_of_results` (`check`). `write` has no test of its own: the
//! file that it writes is then checked.
//!
//! Callers: commands.rs (`check`, `write`).
//!
//! Tests: xtask/tests/all/repo.rs::the_schema_is_of_the_types_of_results

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::Finding;
use crate::repo::Repo;

const FILE: &str = "docs/result.schema.json";

/// Writes the file.
///
/// # Errors
/// It cannot be written.
pub fn write(root: &Path) -> Result<Vec<Finding>> {
    fs::write(root.join(FILE), wakeplace_outcome::schema()).context(FILE)?;
    Ok(Vec::new())
}

/// Whether it is of the types as they are now.
pub fn check(repo: &Repo) -> Vec<Finding> {
    let kept = repo.get(FILE).map(|file| file.text.as_str());
    let is_now = kept == Some(wakeplace_outcome::schema().as_str());
    let other = "is not of crates/outcome as it is now: run `cargo xtask schema`";
    (!is_now)
        .then(|| Finding::on(FILE, other))
        .into_iter()
        .collect()
}
