//! Inputs that are kept in the repository.
//!
//! What must stay: files come in the order of their names, so that runs repeat; a README.md is no
//! input. Free: which folders of the repository are seeds (`TARGETS` of lib.rs). Tests by part:
//! kept.rs::`every_kept_input_keeps_the_promises` (`seeds`, `folder`: each target has something to
//! start from), `the_corpus_is_small_and_regressions_are_described` (`regressions`, `root`). The
//! order has no test of its own: `equal_seeds_make_equal_inputs` does not read files.
//!
//! Callers: fuzz/tests/all (`seeds`, `regressions`, `root`), bpf.rs (`root`). Rule:
//! docs/internals/checks.md.
//!
//! Tests: fuzz/tests/all/kept.rs

use crate::Target;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// An input and the file it is from.
#[derive(Clone, Debug)]
pub struct Input {
    /// Its path from the root of the repository.
    pub name: String,
    /// All of it.
    pub bytes: Vec<u8>,
}

/// The root of the repository this was built from.
#[must_use]
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// The inputs of a target that once went wrong.
///
/// # Errors
/// A file that cannot be read.
pub fn regressions(target: &Target) -> io::Result<Vec<Input>> {
    folder(&format!("fuzz/regressions/{}", target.name), "")
}

/// What mutations start from: the kept corpus and files of the repository.
///
/// # Errors
/// A folder or file that cannot be read.
pub fn seeds(target: &Target) -> io::Result<Vec<Input>> {
    let mut all = folder(&format!("fuzz/corpus/{}", target.name), "")?;
    for (path, ending) in target.seeds {
        all.extend(folder(path, ending)?);
    }
    Ok(all)
}

/// The files of a folder by name, none if it is not there.
fn folder(path: &str, ending: &str) -> io::Result<Vec<Input>> {
    let full = root().join(path);
    if !full.is_dir() {
        return Ok(Vec::new());
    }
    let mut all = Vec::new();
    for entry in fs::read_dir(full)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type()?.is_file() && name.ends_with(ending) && name != "README.md" {
            all.push(Input {
                name: format!("{path}/{name}"),
                bytes: fs::read(entry.path())?,
            });
        }
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(all)
}
