//! `wakeplace-fuzz TARGET FILE...`: what a target does with inputs, to reproduce a finding.
//!
//! Used by hand, to reproduce a finding; nothing reads its output.
//!
//! What must stay: a target is called as fuzzing calls it, so that a finding happens again; exit
//! code 2 for a wrong name or file. Free: what it prints. `main` has no test: it is used by hand
//! (docs/internals/checks.md, "Reproduce a finding").
//!
//! Tests: none; it prints what a target says

use std::io::Write as _;
use std::process::ExitCode;
use wakeplace_fuzz::{TARGETS, target, why};

/// Says what the target made of each file; a finding ends it as it ended fuzzing.
fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let mut out = std::io::stdout().lock();
    let name = arguments.next().unwrap_or_default();
    let files: Vec<String> = arguments.collect();
    let Some(target) = target(&name).filter(|_| !files.is_empty()) else {
        let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
        let _ = writeln!(out, "expected a target ({}) and files", names.join(", "));
        return ExitCode::from(2);
    };
    for file in files {
        match std::fs::read(&file) {
            Ok(bytes) => {
                let reached = (target.body)(&bytes);
                let why = why();
                let why = if why.is_empty() {
                    why
                } else {
                    format!(": {why:?}")
                };
                let _ = writeln!(out, "{file}: {reached:?}{why}");
            }
            Err(error) => {
                let _ = writeln!(out, "{file}: cannot be read: {error}");
                return ExitCode::from(2);
            }
        }
    }
    ExitCode::SUCCESS
}
