//! `cargo xtask truth`: docs/results/truth.md, made by `wakeplace lab fidelity --tree`.

use crate::Finding;
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::path::Path;
use std::process::Command;

/// The page whose parts between marks are replaced.
const PAGE: &str = "docs/results/truth.md";
/// The recorded runs, and of which kernel they are.
const RECORDED: &str = "crates/fidelity/data/recorded_runs.toml";

#[derive(Deserialize)]
struct Recorded {
    kernel: String,
}

/// Writes the part of the recorded runs, and with options (those of `lab fidelity`) that of guests.
///
/// # Errors
/// The program cannot be built, or failed: it has said why.
pub fn write(root: &Path, options: &[&str]) -> Result<Vec<Finding>> {
    let text = std::fs::read_to_string(root.join(RECORDED)).context(RECORDED)?;
    let recorded: Recorded = toml::from_str(&text).context(RECORDED)?;
    let tree = format!("kernel:{}", recorded.kernel);
    run(root, &tree, &["--recorded"])?;
    if !options.is_empty() {
        run(root, &tree, options)?;
    }
    Ok(Vec::new())
}

fn run(root: &Path, tree: &str, options: &[&str]) -> Result<()> {
    let program = [
        "run",
        "--locked",
        "--release",
        "--quiet",
        "--bin",
        "wakeplace",
        "--",
    ];
    let status = Command::new("cargo")
        .current_dir(root)
        .args(program)
        .args(["lab", "fidelity", "--tree", tree, "--page", PAGE])
        .args(options)
        .status()
        .context("cargo cannot be run")?;
    if !status.success() {
        bail!("`wakeplace lab fidelity --tree {tree}` ended with {status}");
    }
    Ok(())
}
