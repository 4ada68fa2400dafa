//! `cargo xtask same-bytes PROGRAM PROGRAM...`: are results the same bytes, whichever machine the
//! program was built for and however? Makes the runs of `xtask/data/runs.txt` with each program and
//! compares the JSON and all exports with those of the first (docs/internals/checks.md, "Same
//! runs").
//!
//! What must stay: all outputs count, byte for byte. Free: how it is done, and words that no test
//! or script reads. Tests by part: `run` has no test of its own: nightly shows a fault of its own.
//!
//! Callers: commands.rs (`run`), checks/list.rs (`run`).
//!
//! Tests: none; nightly compares the programs by it.

use std::fs;

use anyhow::{Result, bail};

use super::runs;
use crate::shop::{Shop, sha256, usage};

/// Compares programs: commands, the words of one apart by blanks.
///
/// # Errors
/// A run differs or cannot be made.
pub fn run(shop: &Shop, programs: &[&str]) -> Result<()> {
    let [first, ..] = programs else {
        return Err(usage("expected two programs at least"));
    };
    let begin = std::time::Instant::now();
    let scratch = shop.scratch()?;
    let out = scratch.path().join("run");
    let list = runs::all();
    for run in &list {
        println!("{}", run.name);
        let mut of_first: Option<String> = None;
        for program in programs {
            run.make(&shop.root, program, &out)?;
            let sums = runs::sums(&out)?;
            fs::remove_dir_all(&out)?;
            println!("  {}  {program}", sha256(sums.as_bytes(), 16));
            let expected = of_first.get_or_insert_with(|| sums.clone());
            if *expected != sums {
                bail!(
                    "{program} differs from {first} in {}:\n{expected}---\n{sums}",
                    run.name
                );
            }
        }
    }
    let (count, seconds) = (list.len(), begin.elapsed().as_secs());
    println!(
        "{count} runs, the same bytes from {} programs [{seconds} s]",
        programs.len()
    );
    Ok(())
}
