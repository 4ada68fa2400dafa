//! `cargo xtask fuzz [SECONDS [TARGET...]]`: fuzzes each target, guided by coverage. A panic, an
//! input that takes over 60 s or memory above 1 GiB is a fault; the input is kept below
//! target/fuzz/found. Starts from the kept inputs, and goes on from what earlier runs left in
//! target/fuzz/corpus. For a night: `cargo test -p wakeplace-fuzz` runs the same without a tool
//! (docs/internals/checks.md).
//!
//! What must stay: limits of time and memory are part of what a target promises. Free: how it is
//! done, and words that no test or script reads. Tests by part: `run`, `one`, `copy` have no test
//! of their own: nightly fuzzes by them; the kept inputs are tried by fuzz/tests/all.
//!
//! Callers: commands.rs (`run`), checks/list.rs (`run`).
//!
//! Tests: fuzz/tests/all/mutations.rs

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use xshell::cmd;

use crate::shop::{Shop, choose, logged, read, tail, usage};

/// Targets, and what in the repository is a first input beside those that are kept.
const TARGETS: [(&str, &[(&str, &str)]); 9] = [
    ("platform", &[("platforms", "toml")]),
    (
        "rtapp",
        &[
            ("workloads", "json"),
            ("crates/workload/tests/fixtures/rtapp/corpus", "json"),
        ],
    ),
    ("trace", &[("crates/trace/tests/data", "txt")]),
    ("tree", &[("crates/platform/tests/import/trees", "yml")]),
    ("run", &[]),
    ("study", &[]),
    ("report", &[]),
    ("bpf", &[]),
    ("store", &[]),
];

/// Fuzzes.
///
/// # Errors
/// There is a finding, or the tool cannot be had.
pub fn run(shop: &Shop, arguments: &[&str]) -> Result<()> {
    let (seconds, names) = match arguments {
        [] => (60, &[][..]),
        [seconds, names @ ..] => {
            let wrong = || usage(format!("`{seconds}`: expected seconds for each target"));
            (seconds.parse().map_err(|_| wrong())?, names)
        }
    };
    let all = TARGETS.map(|(name, _)| name);
    let mut chosen = Vec::new();
    for name in names {
        chosen.push(choose("target", name, &all)?);
    }
    if chosen.is_empty() {
        chosen.extend(0..all.len());
    }
    // Without a sanitizer, which needs no nightly compiler: safe Rust has no memory to corrupt.
    let tool = shop.tool("cargo-fuzz", "0.13.2", &[])?;
    let mut failed = Vec::new();
    for at in chosen {
        if !one(shop, &tool, TARGETS[at], seconds)? {
            failed.push(all[at]);
        }
    }
    if !failed.is_empty() {
        bail!("findings in {}", failed.join(" "));
    }
    Ok(())
}

/// Whether a target had no finding.
fn one(
    shop: &Shop,
    tool: &Path,
    (target, more): (&str, &[(&str, &str)]),
    seconds: u32,
) -> Result<bool> {
    let work = shop.root.join("target/fuzz");
    let (corpus, found) = (
        work.join("corpus").join(target),
        work.join("found").join(target),
    );
    let scratch = work.join("tmp");
    shop.sh.remove_path(&scratch)?;
    for folder in [&corpus, &found, &scratch] {
        shop.sh.create_dir(folder)?;
    }
    copy(&shop.root.join("fuzz/corpus").join(target), "", &corpus)?;
    for (folder, ending) in more {
        copy(&shop.root.join(folder), ending, &corpus)?;
    }
    println!("== fuzzing {target} for {seconds} s");
    let log = work.join(format!("{target}.log"));
    let (build, found_text) = (work.join("build"), found.display().to_string());
    let fuzz = cmd!(
        shop.sh,
        "{tool} run --fuzz-dir fuzz/guided --sanitizer none --target-dir {build}"
    )
    .arg(target)
    .arg(&corpus)
    .args([
        "--",
        &format!("-max_total_time={seconds}"),
        "-timeout=60",
        "-rss_limit_mb=1024",
    ])
    .args(["-max_len=65536", &format!("-artifact_prefix={found_text}/")])
    .arg("-print_final_stats=1")
    .env("TMPDIR", &scratch);
    let held = logged(fuzz.quiet(), &log)?.success();
    if !held {
        eprintln!(
            "{}\n{target} failed; the input is below {found_text}",
            tail(&log, 40)
        );
    }
    let stats = [
        "stat::number_of_executed_units",
        "stat::peak_rss_mb",
        "Done",
    ];
    for line in read(&log)?.lines() {
        if stats.iter().any(|start| line.starts_with(start)) {
            println!("{line}");
        }
    }
    Ok(held)
}

/// Files with this ending.
fn copy(from: &Path, ending: &str, to: &Path) -> Result<()> {
    for entry in fs::read_dir(from).with_context(|| from.display().to_string())? {
        let path = entry?.path();
        if path.to_string_lossy().ends_with(ending) {
            fs::copy(&path, to.join(path.file_name().unwrap_or_default()))?;
        }
    }
    Ok(())
}
