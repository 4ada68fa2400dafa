//! Puts into the program which commit and which policy interface it was built from. Neither is
//! needed to build: from a tarball without git both read "unknown".
//!
//! The two words are read with `env!` by `--version` and by the origin of a result (`repeat.rs`).
//!
//! What must stay: names of both words. A changed word changes neither runs nor hashes of runs.
//! What cannot be found out is "unknown", and the build goes on. Tests by part:
//! crates/cli/tests/all/help.rs::`the_version_names_commit_and_policy` (that both words are there).
//! No test of its own: `git` and builds from a tarball.
//!
//! Tests: crates/cli/tests/all/help.rs::the_version_names_commit_and_policy

use std::path::Path;
use std::process::Command;

/// Generated from the policy's headers; its first line holds their hash.
const BINDINGS: &str = "../policy-sys/src/bindings.rs";

/// Runs at each build. Sets the words, and names the files whose change makes them stale.
fn main() {
    println!("cargo::rerun-if-changed={BINDINGS}");
    println!("cargo::rerun-if-changed=../cli/build.rs");
    // In a worktree `.git` is a file, and these are elsewhere.
    for file in ["HEAD", "logs/HEAD"] {
        let found = git(&["rev-parse", "--git-path", file]);
        if let Some(path) = found.filter(|path| Path::new(path).exists()) {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    let or_unknown = |found: Option<String>| found.unwrap_or_else(|| "unknown".to_owned());
    println!("cargo::rustc-env=WAKEPLACE_COMMIT={}", or_unknown(commit()));
    println!(
        "cargo::rustc-env=WAKEPLACE_POLICY_ABI={}",
        or_unknown(policy_abi())
    );
}

/// The commit that is checked out.
fn commit() -> Option<String> {
    git(&["rev-parse", "--short=12", "HEAD"])
}

/// What git says, if this is this project's own checkout and git is there.
fn git(arguments: &[&str]) -> Option<String> {
    if !Path::new("../../.git").exists() {
        return None;
    }
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}

/// The hash of the headers that the policy's native build and its bindings agree on.
fn policy_abi() -> Option<String> {
    let text = std::fs::read_to_string(BINDINGS).ok()?;
    let hash = text.lines().next()?.strip_prefix("// headers: ")?.trim();
    hash.chars()
        .all(|c| c.is_ascii_hexdigit())
        .then(|| hash.to_owned())
}
