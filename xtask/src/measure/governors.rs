//! `cargo xtask idle-governors TREE:VERSION...`: what kernels' own governors of idle states choose.
//!
//! TREE is a kernel's source tree, or the folder of its governors (with gov.h). Each governor of it
//! is built unmodified against crates/kernel-shim/tests/governors and asked. What it chose is
//! written to NAME-VERSION.txt beside our governors, whose test compares
//! (docs/rules/cpuidle.md#recorded). Governors of which no recording is there are left out: ours
//! have no such form.
//!
//! What must stay: the form of recordings, one character a choice, which recorded.rs reads. Free:
//! how it is done, and words that no test or script reads. Tests by part:
//! recorded.rs::`teo_and_ladder_choose_as_the_kernels_own` (`run`, `record`: what they wrote).
//!
//! Callers: commands.rs (`run`).
//!
//! Tests:
//! crates/engine/src/kernel/model/cpuidle/recorded.rs::teo_and_ladder_choose_as_the_kernels_own

use std::path::Path;

use anyhow::{Result, ensure};
use xshell::cmd;

use crate::shop::{Shop, run as call, text_of, usage, write};

const RECORDED: &str = "crates/engine/src/kernel/model/cpuidle/recorded";
const GOVERNOR: &str = "crates/kernel-shim/tests/governors/governor.c";
/// The kernel's headers, which are empty here: governor.c has what is needed of them.
const HEADERS: [&str; 17] = [
    "asm/io.h",
    "linux/cpuidle.h",
    "linux/hrtimer.h",
    "linux/jiffies.h",
    "linux/kernel.h",
    "linux/ktime.h",
    "linux/math64.h",
    "linux/pm_qos.h",
    "linux/sched.h",
    "linux/tick.h",
    "linux/time.h",
    "linux/types.h",
    "linux/uaccess.h",
    "linux/sched/clock.h",
    "linux/sched/loadavg.h",
    "linux/sched/stat.h",
    "linux/sched/topology.h",
];

/// Records what the governors of trees choose.
///
/// # Errors
/// A governor is missing or does not build.
pub fn run(shop: &Shop, trees: &[&str]) -> Result<()> {
    if trees.is_empty() {
        return Err(usage("expected TREE:VERSION..."));
    }
    let work = shop.scratch()?;
    for header in HEADERS {
        write(&work.path().join(header), "")?;
    }
    for given in trees {
        let Some((tree, version)) = given.rsplit_once(':') else {
            return Err(usage(format!("`{given}`: expected TREE:VERSION")));
        };
        let tree = shop.root.join(tree);
        let own = tree.join("drivers/cpuidle/governors");
        let folder = if own.is_dir() { own } else { tree };
        for name in ["teo", "ladder", "menu"] {
            record(shop, work.path(), &folder, name, version)?;
        }
    }
    Ok(())
}

/// Builds a kernel's governor, asks it, and writes what it chose.
fn record(shop: &Shop, work: &Path, folder: &Path, name: &str, version: &str) -> Result<()> {
    let out = shop.root.join(format!("{RECORDED}/{name}-{version}.txt"));
    if !out.exists() {
        return Ok(());
    }
    let source = folder.join(format!("{name}.c"));
    ensure!(source.exists(), "no {name}.c in {}", folder.display());
    let governor = format!("-DGOVERNOR=\"{}\"", source.display());
    let program = work.join("governor");
    let cc = text_of("CC").unwrap_or("cc".into());
    // -fwrapv: as the kernel is built; -w: its warnings are its own.
    let build = cmd!(
        shop.sh,
        "{cc} -O1 -w -fwrapv -I{work} {governor} {GOVERNOR} -o {program}"
    );
    call(build.quiet())?;
    let chosen = cmd!(shop.sh, "{program}").quiet().output()?.stdout;
    let same = std::fs::read(&out)? == chosen;
    write(&out, chosen)?;
    println!(
        "{name}-{version}: {}",
        if same { "same" } else { "changed" }
    );
    Ok(())
}
