//! `cargo xtask mutants-engine [FILE...]`: breaks files of crates/engine/src in small ways and
//! lists what its tests do not see, by cargo-mutants. Each change takes a build and a run of the
//! tests on a copy of the tree: a minute or two. A run tries a part of the changes, and each day
//! another part. The report stays in target/mutants/engine (CONTRIBUTING.md, "Break it on
//! purpose").
//!
//! MUTANTS_ENGINE=N: about so many changes (12); `all`: all of them, for hours. MUTANTS_PART=K:
//! this part of them instead of today's, from 1.
//!
//! What must stay: each day tries another part, so that all are tried in time. Free: how it is
//! done, and words that no test or script reads. Tests by part: `run` has no test of its own:
//! nightly shows a fault of its own.
//!
//! Callers: commands.rs (`run`), checks/list.rs (`run`).
//!
//! Tests: none; it is a trial of the engine's tests.

use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Result, bail};
use xshell::cmd;

use crate::shop::{Shop, setting, status, text_of, usage};

/// Tries a part of the changes.
///
/// # Errors
/// Something was not seen, or the tool cannot be had.
pub fn run(shop: &Shop, files: &[&str]) -> Result<()> {
    let usual = [
        "kernel/model/cpuidle/menu.rs",
        "mechanics/script/progress.rs",
    ];
    let files = if files.is_empty() { &usual[..] } else { files };
    let mut chosen: Vec<String> = Vec::new();
    for file in files {
        let path = format!("crates/engine/src/{file}");
        if !shop.root.join(&path).exists() {
            return Err(usage(format!("there is no {file} in crates/engine/src")));
        }
        chosen.extend(["--file".to_owned(), path]);
    }
    let tool = shop.tool("cargo-mutants", "27.1.0", &[])?;
    if text_of("MUTANTS_ENGINE").as_deref() != Some("all") {
        let count: usize = setting("MUTANTS_ENGINE", "a whole number from 1 on, or all", 12)?;
        let which = &chosen;
        let list = cmd!(
            shop.sh,
            "{tool} mutants --package wakeplace-engine {which...} --list"
        );
        let total = list.quiet().read()?.lines().count();
        if total == 0 {
            println!("there is nothing to change in {}", files.join(" "));
            return Ok(());
        }
        let parts = total.div_ceil(count.max(1));
        let days = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs() / 86_400;
        let today = days as usize % parts + 1;
        let part = setting("MUTANTS_PART", &format!("1 to {parts}"), today)?;
        if !(1..=parts).contains(&part) {
            return Err(usage(format!("MUTANTS_PART={part}: expected 1 to {parts}")));
        }
        println!("part {part} of {parts}, of {total} changes in all");
        chosen.extend(["--shard".to_owned(), format!("{}/{parts}", part - 1)]);
    }
    shop.sh.create_dir("target/mutants/engine")?;
    // Changed constants of a display or a debug form are no rule of the engine.
    let tests = [
        "--cargo-test-arg=--lib",
        "--cargo-test-arg=--test",
        "--cargo-test-arg=behaviour",
    ];
    let mutants = cmd!(
        shop.sh,
        "{tool} mutants --package wakeplace-engine {chosen...}"
    )
    .args(["--output", "target/mutants/engine", "--no-shuffle"])
    .args(["--timeout-multiplier", "5"])
    .args(tests);
    // Its exit codes 2 and 3 say that a change was not seen or made tests run for too long.
    if !status(mutants)?.success() {
        bail!("a change was not seen (target/mutants/engine)");
    }
    Ok(())
}
