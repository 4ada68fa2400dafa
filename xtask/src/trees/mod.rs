//! Kernel trees under the shim (crates/kernel-shim): its own host in C, and what both tasks run on
//! it (docs/internals/kernel-coverage.md).
//!
//! What must stay: scenarios are data; versions are built once and kept. Free: how it is done, and
//! words that no test or script reads. Tests by part: `list`, `source`, `compile_host`, `drive`
//! have no test of their own: nightly runs them with the shim and with coverage.
//!
//! Callers: coverage.rs (`source`, `compile_host`, `drive`), shim.rs (`source`, `compile_host`,
//! `drive`).
//!
//! Tests: none; it runs the shim's own scenarios (crates/kernel-shim/tests), in nightly.

pub mod coverage;
pub mod shim;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, Result};
use serde::Deserialize;
use xshell::cmd;

use crate::shop::{Shop, missing, quietly, run as call, text_of};

/// The version that is tried where none is named: that of the tests.
pub const VERSION: &str = "7.3.4";
const LIST: &str = include_str!("../../data/trees.toml");

#[derive(Deserialize)]
struct List {
    scenarios: Vec<String>,
    runs: Vec<String>,
}

/// The scenarios of xtask/data.
fn list() -> Result<List> {
    Ok(toml::from_str(LIST)?)
}

/// Builds a version's objects, for which its source is fetched, and says where the source is.
fn source(shop: &Shop, program: &Path, version: &str, log: &Path) -> Result<PathBuf> {
    let build = cmd!(shop.sh, "{program} kernel build {version} --arch arm64");
    quietly(build, log).map_err(|error| missing(format!("no kernel {version}: {error}")))?;
    let home = text_of("XDG_CACHE_HOME").map(|home| format!("{home}/wakeplace/kernel"));
    let usual = format!(
        "{}/.cache/wakeplace/kernel",
        text_of("HOME").unwrap_or_default()
    );
    let cache = PathBuf::from(text_of("WAKEPLACE_KERNEL_CACHE").or(home).unwrap_or(usual));
    let start = format!("{version}-");
    for kept in shop.sh.read_dir(cache.join("trees"))? {
        for tree in shop.sh.read_dir(&kept).unwrap_or_default() {
            let name = tree
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            let tree = tree.join("tree");
            if name.starts_with(&start) && tree.join("kernel/sched/core.c").exists() {
                return Ok(tree);
            }
        }
    }
    Err(missing(format!(
        "the source of {version} is not in {}",
        cache.display()
    )))
}

/// Compiles the host, for machines of a cross compiler's prefix.
fn compile_host(shop: &Shop, prefix: &str, flags: &[&str], to: &Path) -> Result<()> {
    let gcc = format!("{prefix}gcc");
    let mut sources = shop.sh.read_dir("crates/kernel-shim/tests")?;
    sources.retain(|path| path.extension().is_some_and(|end| end == "c"));
    call(
        cmd!(
            shop.sh,
            "{gcc} -O2 -g -rdynamic {flags...} -o {to} {sources...} -ldl"
        )
        .quiet(),
    )
}

/// Runs a scenario: `NAME=VALUE... SCENARIO LENGTH...`. `host` is a command.
fn drive(
    host: &[&Path],
    object: &Path,
    scenario: &str,
    environment: &BTreeMap<&str, &str>,
) -> Result<Output> {
    let (program, before) = host.split_first().context("a host")?;
    let mut command = Command::new(program);
    command.args(before).arg(object).envs(environment);
    for word in scenario.split(' ') {
        match word.split_once('=') {
            Some((name, value)) => command.env(name, value),
            None => command.arg(word),
        };
    }
    command.output().with_context(|| scenario.to_owned())
}
