//! What guests of several commands are given and send back: files of a run, the beginning of a
//! script that records, and sections of a text (docs/results/fidelity.md).
//!
//! What must stay: titles of sections are those that the guests' scripts write. Free: what leaves
//! the tables of pages as they are. Tests by part: `sections_have_titles` (`sections`),
//! programs/guest.rs::`what_a_guest_sends_becomes_a_run` (`release`). `write_file` has no test of
//! its own: guests get no file then.
//!
//! Callers: placement/guest.rs (`sections`, `write_file`), programs/guest.rs (`sections`,
//! `write_file`).
//!
//! Tests: below

use crate::Error;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Begins a line that says what follows.
pub(crate) const SECTION: &str = "=== ";

/// For scripts in a guest: `t` is the folder of tracefs, and its buffers are made ready.
pub(crate) const TRACER: &str = "\
t=/sys/kernel/tracing
echo 0 >$t/tracing_on
echo mono >$t/trace_clock
echo 16384 >$t/buffer_size_kb
echo 0 >$t/options/overwrite
";

/// For scripts in a guest, after `t` is the folder of tracefs: `lost` prints counts of events that
/// are missing, and nothing if none are.
pub(crate) const LOST: &str = "\
lost() { cat $t/per_cpu/cpu*/stats | grep -E '^(overrun|dropped events): ' | grep -v ': 0$'; }
";

/// The sections of what a script wrote, by their titles.
pub(crate) fn sections(text: &str) -> BTreeMap<&str, &str> {
    let mut found = BTreeMap::new();
    for part in text.split(SECTION).skip(1) {
        if let Some((title, body)) = part.split_once('\n') {
            found.insert(title.trim(), body);
        }
    }
    found
}

/// The kernel that the guest says it is. None: it did not say.
pub(crate) fn release(text: &str) -> Option<&str> {
    sections(text).get("release").map(|body| body.trim())
}

/// Writes a file of a run into a folder.
///
/// # Errors
/// It cannot be written.
pub(crate) fn write_file(folder: &Path, name: &str, text: &str) -> Result<PathBuf, Error> {
    let path = folder.join(name);
    std::fs::write(&path, text).map_err(|error| {
        Error::Environment(format!("{}: cannot be written: {error}", path.display()))
    })?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_have_titles() {
        let found = sections("noise\n=== a 1\nx\ny\n=== b\n");
        assert_eq!(found, BTreeMap::from([("a 1", "x\ny\n"), ("b", "")]));
    }
}
