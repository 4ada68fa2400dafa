// SPDX-License-Identifier: GPL-2.0-only
//! What must hold before anything is loaded, said in words that help (docs/guide/live.md, "Run").
//!
//! What must stay: all obstacles at once, one line each with its remedy; nothing is loaded to find
//! out. Free: words.
//!
//! Tests by part: probe.rs (the facts that `obstacles` asks crates/host for),
//! xtask/src/live/tests.rs (`without_sched_ext`: exit code 3 and its words).
//!
//! Callers: schedule.rs (`run`, before anything is loaded).
//!
//! Tests: crates/host/tests/probe.rs, xtask/src/live/tests.rs

use std::fmt::Write;
use std::path::Path;
use wakeplace_host::{NeededFor, Probe, State, scheduler_in_force};

/// Everything that keeps the scheduler from this machine, one line each; empty: go on.
pub(crate) fn obstacles(root: &Path) -> String {
    let mut text = String::new();
    for check in Probe::new(root).checks() {
        let stops = check.required
            && check.needed_for == NeededFor::LiveScheduler
            && check.state == State::Missing;
        if !stops {
            continue;
        }
        let _ = write!(text, "\n  {}: {}", check.name, check.found);
        if !check.remedy.is_empty() {
            let _ = write!(text, "\n    {}", check.remedy);
        }
    }
    if text.is_empty()
        && let Some(name) = scheduler_in_force(root)
    {
        let _ = write!(
            text,
            "\n  another scheduler is in force: {name}; stop it first"
        );
    }
    text
}
