//! What is collected while a file is read, besides its structure (docs/guide/rt-app.md, "How a file
//! is read").
//!
//! Handed through all readers of this folder. Warnings never change what is read; their number is
//! bounded.
//!
//! What must stay: equal warnings are one line with their number, and at most 100 lines are shown;
//! what is not modelled is noted at its place. Free: what leaves scripts as they are
//! (ARCHITECTURE.md, "What a change may touch"), and words of messages that no test quotes. Tests
//! by part: `equal_warnings_are_one` (`warn_alike`, `warning_lines`),
//! `warnings_of_a_large_file_are_bounded` (`warn`, `warning_lines`),
//! rtapp_files.rs::`a_group_nine_deep_is_not_modelled` (`unmodelled`), all (`of`).
//!
//! Callers: template.rs (`unmodelled`, `warning_lines`), check.rs (`warning_lines`), event.rs
//! (`warn_alike`), keys.rs (`warn_alike`).
//!
//! Tests: crates/workload/tests/all/rtapp_keys.rs, crates/workload/tests/all/rtapp_files.rs
use crate::Dialect;
use crate::error::{Position, cut};
use std::collections::BTreeMap;

/// Sorts of warnings of one file that are kept; a bound on memory.
const MAX_KEPT: usize = 1_000;

/// Warnings shown of one file.
const MAX_SHOWN: usize = 100;

/// Remarks on a file.
#[derive(Default)]
pub(super) struct Notes {
    /// CPUs of the machine that `cpus` are checked against; None: not now.
    pub(super) nr_cpus: Option<u32>,
    /// How the file is to be read.
    pub(super) dialect: Dialect,
    /// Remarks that stop nothing.
    warnings: Vec<Warning>,
    /// Where each sort of them is.
    sorts: BTreeMap<String, usize>,
    /// Warnings of further sorts, only counted.
    further: usize,
    /// What rt-app runs and the simulator has no model of.
    pub(super) unmodelled: Vec<(Position, String)>,
}

/// A warning, and how many more there are of its sort.
struct Warning {
    at: Position,
    message: String,
    more: usize,
}

impl Notes {
    /// For a file in this dialect, checked for so many CPUs if any.
    pub(super) fn of(dialect: Dialect, nr_cpus: Option<u32>) -> Self {
        Self {
            nr_cpus,
            dialect,
            ..Self::default()
        }
    }

    /// A generated file has thousands of the same: equal ones are one.
    pub(super) fn warn(&mut self, at: Position, message: impl Into<String>) {
        let message = message.into();
        let same = message.clone();
        self.warn_alike(at, &same, || message);
    }

    /// Of the warnings of a sort the first stands for all; `message` makes it.
    pub(super) fn warn_alike(
        &mut self,
        at: Position,
        sort: &str,
        message: impl FnOnce() -> String,
    ) {
        if let Some(&known) = self.sorts.get(sort) {
            self.warnings[known].more += 1;
        } else if self.warnings.len() < MAX_KEPT {
            self.sorts.insert(sort.to_owned(), self.warnings.len());
            let (message, more) = (message(), 0);
            self.warnings.push(Warning { at, message, more });
        } else {
            self.further += 1;
        }
    }

    /// Something that rt-app takes and runs here cannot; the first one refuses the file.
    pub(super) fn unmodelled(&mut self, at: Position, what: impl Into<String>) {
        self.unmodelled.push((at, what.into()));
    }

    /// The warnings in the file's order, `FILE:LINE:COL: message`.
    pub(super) fn warning_lines(&mut self, file: &str) -> Vec<String> {
        self.warnings.sort_by_key(|warning| warning.at);
        self.sorts.clear();
        let shown = self.warnings.iter().take(MAX_SHOWN);
        let line = |Warning { at, message, more }: &Warning| {
            let message = cut(message);
            match more {
                0 => format!("{file}:{at}: {message}"),
                more => format!("{file}:{at}: {message} ({more} more like it)"),
            }
        };
        let mut lines: Vec<String> = shown.map(line).collect();
        let hidden = self.warnings.iter().skip(MAX_SHOWN);
        let hidden: usize = hidden.map(|warning| 1 + warning.more).sum();
        if hidden + self.further > 0 {
            lines.push(format!("{file}: {} more warnings", hidden + self.further));
        }
        lines
    }
}
