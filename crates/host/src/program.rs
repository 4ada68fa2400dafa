//! Whether the live scheduler's program is installed (docs/guide/live.md, "Run").
//!
//! What must stay: on a saved tree only its own folders count. Free: further folders that are
//! looked at.
//!
//! Tests by part: `a_program_that_is_not_installed_is_a_lack` (`installed`).
//!
//! Callers: crates/host/src/lib.rs (`checks`).
//!
//! Tests: crates/host/tests/probe.rs::a_program_that_is_not_installed_is_a_lack

use crate::tree::Tree;
use crate::{Check, NeededFor, State, fact};
use std::env;
use std::path::{Path, PathBuf};

/// The live scheduler's program.
pub const PROGRAM: &str = "scx_wakeplace";

/// Where programs are installed that only root runs.
const FOLDERS: [&str; 4] = ["usr/local/sbin", "usr/local/bin", "usr/sbin", "usr/bin"];

/// Looks where programs are installed; on the running machine also where a shell looks, and beside
/// the program that asks.
pub(crate) fn installed(tree: &Tree) -> Check {
    const NAME: &str = "program";
    let check = |state, found: String| fact(NAME, NeededFor::LiveScheduler, true, state, found);
    let mut folders: Vec<PathBuf> = FOLDERS.iter().map(PathBuf::from).collect();
    if tree.is_live() {
        let path = env::var_os("PATH").unwrap_or_default();
        folders.extend(env::split_paths(&path).filter(|folder| folder.is_absolute()));
        let own = env::current_exe().ok();
        folders.extend(own.as_deref().and_then(Path::parent).map(Path::to_owned));
    }
    let mut programs = folders.iter().map(|folder| folder.join(PROGRAM));
    match programs.find(|program| tree.is_program(program)) {
        Some(program) => check(
            State::Ok,
            Path::new("/").join(program).display().to_string(),
        ),
        None => check(State::Missing, format!("`{PROGRAM}` is not installed")).remedy(format!(
            "cargo build --release --package wakeplace-scx && \
             sudo install target/release/{PROGRAM} /usr/local/bin"
        )),
    }
}
