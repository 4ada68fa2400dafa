//! What is known of a loader: what it has been given, and what it was refused
//! (docs/guide/schedulers.md, "What the loader sees").
//!
//! What must stay: each refusal once, in the order in which they came: messages of a failed load
//! begin with these. Free: words, but for those that tests quote.
//!
//! Tests by part: `colours_are_no_words` (`without_escapes`),
//! schedulers.rs::`what_is_not_offered_is_refused_by_name` (`refuse`),
//! schedulers.rs::`what_is_no_scheduler_is_refused`, `a_loader_that_hangs_leaves_nothing_behind`
//! (`how`, `said`).
//!
//! Callers: all of load/ (`refuse`), load/process.rs (`how`, `said`).
//!
//! Tests: below

use super::bpf;
use crate::kernel::Layout;
use crate::wire::{Ended, FileId};
use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::sync::Arc;
use wakeplace_bpf_vm::Btf;

/// What a descriptor of the loader's stands for.
#[derive(Clone, Debug)]
pub(super) enum Object {
    Map(usize),
    Program(usize),
    /// A program that nothing here calls: tracing.
    Uncalled(String),
    Btf(Arc<Btf>),
    Link,
}

/// Refusals that are kept to be said.
const MOST_REFUSED: usize = 32;

/// What is known of a loader.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) release: String,
    pub(super) kernel: Arc<Btf>,
    pub(super) layout: Arc<Layout>,
    /// Programs that refer to an arena, with its map.
    pub(super) arena_of: BTreeMap<usize, usize>,
    /// Our files that the loader has, and what they stand for.
    pub(super) objects: BTreeMap<FileId, (Object, OwnedFd)>,
    /// Programs with their types.
    pub(super) types: Vec<u32>,
    /// The table of callbacks, by map, as it was last written.
    pub(super) tables: BTreeMap<usize, bpf::Table>,
    /// Maps that hold a table whose callbacks have cids.
    pub(super) tables_with_cids: BTreeSet<usize>,
    /// What was refused, by name.
    pub(super) refused: Vec<String>,
    /// Tracing programs that were attached.
    pub(super) uncalled: Vec<String>,
    pub(super) attached: Option<bpf::Table>,
    /// The loader's process, as the host numbers it.
    pub(super) loader: u32,
    /// Where the sequence of "random" bytes stands.
    pub(super) random: u64,
    /// What its clocks say (`CLOCK_MONOTONIC`).
    pub(super) clock_ns: u64,
    /// ... as it has read them.
    pub(super) told: super::clocks::Told,
    /// Its timers with a descriptor.
    pub(super) timers: Vec<super::clocks::TimerFd>,
    /// Ring buffers that it waits for, by map: a counter that is not zero while a record waits.
    pub(super) rings: BTreeMap<usize, OwnedFd>,
    /// The CPUs that its threads are bound to, those that are, by their host's numbers.
    pub(super) affinity: BTreeMap<u32, Vec<u64>>,
    /// It has started processes of its own.
    pub(super) forked: bool,
}

impl Known {
    /// Keeps what was refused, to be said: once each, since libraries try again, and not all of
    /// what a loader that goes on trying asks for.
    pub(super) fn refuse(&mut self, what: String) {
        if self.refused.len() < MOST_REFUSED && !self.refused.contains(&what) {
            self.refused.push(what);
        }
    }
}

/// How a loader ended, in words.
pub(super) fn how(ended: &Ended) -> String {
    match ended.status.map(ExitStatus::from_raw) {
        Some(status) => match (status.code(), status.signal()) {
            (Some(code), _) => format!("ended with exit code {code}"),
            (None, Some(signal)) => format!("was ended by signal {signal}"),
            (None, None) => "ended".to_owned(),
        },
        None => "ended".to_owned(),
    }
}

/// A line without the sequences that colour it in a terminal: ESC, `[`, parameters, a final letter
/// (ECMA-48 5.4).
fn without_escapes(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '\u{1b}' || rest.next_if_eq(&'[').is_none() {
            out.push(c);
            continue;
        }
        while rest.next_if(|c| (' '..='?').contains(c)).is_some() {}
        rest.next_if(|c| ('@'..='~').contains(c));
    }
    out
}

/// What was refused, and the loader's last lines.
pub(super) fn said(known: &Known, ended: &Ended) -> String {
    let mut text = String::new();
    for refused in &known.refused {
        text.push_str(&format!("; {refused}"));
    }
    let lines = String::from_utf8_lossy(&ended.said);
    let lines: Vec<_> = lines
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let last = &lines[lines.len().saturating_sub(4)..];
    if !last.is_empty() {
        let last: Vec<_> = last
            .iter()
            .map(|line| wakeplace_text::printable(&without_escapes(line)).into_owned())
            .collect();
        text.push_str(&format!("; it said: {}", last.join(" / ")));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::without_escapes;

    #[test]
    fn colours_are_no_words() {
        let line = "\u{1b}[2m12:00\u{1b}[0m \u{1b}[1;31mERROR\u{1b}[0m no [map] here\u{1b}[";
        assert_eq!(without_escapes(line), "12:00 ERROR no [map] here");
        assert_eq!(without_escapes("\u{1b}c"), "\u{1b}c");
    }
}
