//! Would rt-app accept this file? What it accepts must be what rt-app accepts, whether or not it
//! can run here (docs/guide/rt-app.md, "How a file is read").
//!
//! Called by `workload check`. Exit codes are rt-app's and stay; its words are not copied.
//!
//! What must stay: the exit code is rt-app's for a machine of as many CPUs as are given; what
//! cannot run here is no fault of the file. Free: what leaves scripts as they are (ARCHITECTURE.md,
//! "What a change may touch"), and words of messages that no test quotes. Tests by part:
//! `every_file_is_read_as_rtapp_reads_it` (`check_rtapp`, `refused`: exit codes and structure),
//! `the_check_depends_on_the_number_of_cpus` (CPUs), `the_dialect_workgen` and
//! `the_dialect_suspend_ref` (`check_rtapp_as`), said.rs::`a_check_names_what_is_no_rtapp_file`
//! (`check_file`, `check_file_as`).
//!
//! Tests: crates/workload/tests/all/corpus.rs, crates/workload/tests/all/rtapp_files.rs,
//! crates/workload/tests/all/rtapp_events.rs, crates/cli/tests/all/said.rs
use super::notes::Notes;
use super::read::read;
use super::structure::Structure;
use crate::error::WorkloadError;
use crate::{Dialect, input, recording};

/// rt-app's answer to a file.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckOutcome {
    /// 0 accepted, 2 refused (rt-app's EXIT_INV_CONFIG).
    pub exit_code: u8,
    /// One line: what it holds, or what is wrong and where.
    pub message: String,
    /// What may not be as meant, one line each.
    pub warnings: Vec<String>,
    /// What rt-app makes of the file; None if it is refused.
    pub structure: Option<Structure>,
}

/// Says whether rt-app 55cb0c0 accepts the text on a machine with that many CPUs, without NUMA.
/// That is wider than what can be simulated: every event and attribute passes by rt-app's rules.
/// Where rt-app crashes (`tasks` is an array), the answer is a refusal.
pub fn check_rtapp(text: impl AsRef<[u8]>, file: &str, nr_cpus: u32) -> CheckOutcome {
    check_rtapp_as(text, file, nr_cpus, Dialect::default())
}

/// As [`check_rtapp`] for a file in another dialect: what rt-app says to the file that its
/// pre-processor makes of it, or what v1.0 says.
pub fn check_rtapp_as(
    text: impl AsRef<[u8]>,
    file: &str,
    nr_cpus: u32,
    dialect: Dialect,
) -> CheckOutcome {
    let mut notes = Notes::of(dialect, Some(nr_cpus));
    let text = text.as_ref();
    match read(text, &mut notes) {
        Err(fault) => {
            let error = match recording::form(text).recording() {
                Some(kind) => WorkloadError::Recording {
                    file: file.to_owned(),
                    kind,
                },
                None => fault.in_file(file),
            };
            refused(error.to_string())
        }
        Ok(structure) => CheckOutcome {
            exit_code: 0,
            message: format!(
                "{file}: accepted: {} task(s), {} thread(s)",
                structure.tasks.len(),
                structure.threads()
            ),
            warnings: notes.warning_lines(file),
            structure: Some(structure),
        },
    }
}

/// As [`check_rtapp`] for a path, or standard input for `-`. rt-app gives the same exit code to a
/// file it cannot read; a file above [`crate::READ_LIMIT_BYTES`] is refused here only.
pub fn check_file(path: &str, nr_cpus: u32) -> CheckOutcome {
    check_file_as(path, nr_cpus, Dialect::default())
}

/// As [`check_file`] in another dialect.
pub fn check_file_as(path: &str, nr_cpus: u32, dialect: Dialect) -> CheckOutcome {
    match input::read(path) {
        Ok(text) => check_rtapp_as(text, path, nr_cpus, dialect),
        Err(error) => refused(error.to_string()),
    }
}

/// rt-app's answer to a file that it does not take: exit code 2 (`EXIT_INV_CONFIG`), and why.
fn refused(message: String) -> CheckOutcome {
    CheckOutcome {
        exit_code: 2,
        message,
        warnings: Vec::new(),
        structure: None,
    }
}
