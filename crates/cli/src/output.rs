//! Where a result goes: standard output, or a file that is complete or not there at all
//! (docs/guide/traces.md, "What is promised of files").
//!
//! Called for every result and everything beside a result. How a file is put in its place is the
//! crate files'.
//!
//! What must stay: the old file is whole until the new one is, links and rights of the old file
//! stay, and an unwritable place is found before anything runs. A pipe is opened once. What is
//! written beside a result is a file, never standard output. Tests by part:
//! crates/cli/tests/all/output.rs::`a_file_gets_what_standard_output_would` (`write`),
//! output.rs::`an_unwritable_place_is_found_before_anything_runs` (`prepare`),
//! output.rs::`an_error_leaves_an_existing_file_as_it_was` (that nothing stays),
//! output.rs::`a_device_is_written_to_and_not_replaced` (devices, `cannot`),
//! output.rs::`links_and_rights_stay` (links),
//! crates/cli/tests/all/report.rs::`wrong_windows_and_places_are_refused_before_anything_runs`
//! (`beside`).
//!
//! Tests: crates/cli/tests/all/output.rs,
//! crates/cli/tests/all/report.rs::wrong_windows_and_places_are_refused_before_anything_runs

use crate::failure::Failure;
use crate::interrupt;
use crate::terminal::Terminal;
use std::fs;
use std::path::{Path, PathBuf};
use wakeplace_files::{Place, WriteError};

/// What a place for a result must be.
pub(crate) const A_FILE: &str = "a file in a folder that exists and may be written to";

/// A place that was found to be writable.
#[derive(Debug)]
pub(crate) enum Output {
    /// Standard output.
    Stdout,
    /// A file, there already or not, or a device or a pipe.
    File(PathBuf),
}

impl Output {
    /// Finds out, before anything is simulated, whether the result could be written. Nothing stays
    /// behind, whatever happens afterwards.
    pub(crate) fn prepare(path: Option<&Path>) -> Result<Self, Failure> {
        let Some(path) = path.filter(|path| *path != "-") else {
            return Ok(Self::Stdout);
        };
        interrupt::watch()?;
        // A pipe is opened once: its reader takes a second opening for another result.
        if !fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
            Place::open(path).map_err(cannot)?;
        }
        Ok(Self::File(path.to_owned()))
    }

    /// The same for a file that is written beside the result, by an option; None: it is not given.
    pub(crate) fn beside(option: &str, path: Option<&Path>) -> Result<Option<Self>, Failure> {
        if path.is_some_and(|path| path == "-") {
            let text = "-: the result goes to standard output; expected a file";
            return Err(Failure::Input(format!("{option} {text}")));
        }
        path.map(|path| Self::prepare(Some(path))).transpose()
    }

    /// It is standard output.
    pub(crate) fn is_stdout(&self) -> bool {
        matches!(self, Self::Stdout)
    }

    /// Writes a whole result.
    pub(crate) fn write(&self, text: &str, terminal: Terminal) -> Result<(), Failure> {
        match self {
            Self::Stdout => terminal.print(text),
            Self::File(path) => wakeplace_files::write(path, text.as_bytes()).map_err(cannot),
        }
    }
}

/// A place that cannot be written, as an error of `--output`.
fn cannot(error: WriteError) -> Failure {
    Failure::writing("output", &error, A_FILE)
}
