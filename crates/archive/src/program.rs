//! Programs of this machine that are run to their end (docs/guide/lab.md, docs/guide/kernel.md).
//!
//! What must stay: a program never asks the user: its input is empty. Its last words are quoted.
//!
//! Tests by part: `the_tail_begins_with_a_line` (`tail`), `a_failing_program_is_quoted` (`output`),
//! crates/cli/tests/all/kernel.rs::`missing_tools_are_named` (`missing`). `output_watched` has no
//! test of its own.
//!
//! Callers: apt.rs, crates/lab, crates/kernel-tree.
//!
//! Tests: below, crates/cli/tests/all/kernel.rs::missing_tools_are_named

use crate::ArchiveError;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// Most of what a failed program said that is repeated, bytes.
const TAIL_BYTES: usize = 1_500;

/// Runs a program to its end and returns its standard output.
///
/// # Errors
/// When it cannot be started or fails; the error has the end of what it said.
pub fn output(command: &mut Command) -> Result<Vec<u8>, ArchiveError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let failed = |why: String| ArchiveError::Program {
        program: program.clone(),
        why,
    };
    let output = command
        .stdin(Stdio::null())
        .env("LC_ALL", "C")
        .output()
        .map_err(|error| failed(format!("cannot be started: {error}")))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(failed(format!(
        "{}: {}",
        output.status,
        tail(&said, TAIL_BYTES)
    )))
}

/// The same, and calls `look` again and again while the program runs.
///
/// # Errors
/// As [`output`].
pub fn output_watched(
    command: &mut Command,
    every: Duration,
    mut look: impl FnMut(),
) -> Result<Vec<u8>, ArchiveError> {
    std::thread::scope(|threads| {
        let (sender, ended) = mpsc::channel();
        threads.spawn(move || sender.send(output(command)));
        loop {
            match ended.recv_timeout(every) {
                Ok(result) => return result,
                Err(RecvTimeoutError::Timeout) => look(),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(ArchiveError::Program {
                        program: "a thread".to_owned(),
                        why: "it ended early".to_owned(),
                    });
                }
            }
        }
    })
}

/// Those of some programs that are in no folder of this machine's search path.
#[must_use]
pub fn missing<'a>(names: &[&'a str]) -> Vec<&'a str> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let there = |name: &str| folders.iter().any(|folder| folder.join(name).is_file());
    let names = names.iter().copied();
    names.filter(|name| !there(name)).collect()
}

/// The end of a text, from the beginning of a line.
#[must_use]
pub fn tail(text: &str, bytes: usize) -> &str {
    let text = text.trim_end();
    let Some(mut start) = text.len().checked_sub(bytes) else {
        return text;
    };
    while !text.is_char_boundary(start) {
        start += 1;
    }
    let rest = &text[start..];
    rest.split_once('\n').map_or(rest, |(_, whole)| whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_begins_with_a_line() {
        assert_eq!(tail("one\ntwo\nthree\n", 7), "three");
        assert_eq!(tail("one\ntwo\n", 100), "one\ntwo");
        assert_eq!(tail("äöü", 3), "ü");
    }

    #[test]
    fn a_failing_program_is_quoted() {
        let error =
            output(Command::new("sh").args(["-c", "echo why >&2; exit 4"])).expect_err("fails");
        let text = error.to_string();
        assert!(
            text.starts_with("sh: ") && text.ends_with(": why"),
            "{text}"
        );
        assert!(output(&mut Command::new("/no/such/program")).is_err());
    }
}
