//! `cargo xtask metrics`: what `scx_wakeplace status --format prometheus` prints, before
//! Prometheus's own parser (promtool, out of Debian's package, unpacked below target/tools)
//! (docs/internals/checks.md).
//!
//! What must stay: the parser's verdict is the test; names of metrics stay
//! (crates/scx/src/metrics). Free: how it is done, and words that no test or script reads. Tests by
//! part: `run` has no test of its own: nightly shows a fault of its own.
//!
//! Callers: commands.rs (`run`), checks/list.rs (`run`).
//!
//! Tests: none; it is a trial of crates/scx/src/metrics, which nightly runs.

use anyhow::{Result, ensure};
use xshell::cmd;

use crate::shop::{Shop, missing, read, run as call};

/// Tries it.
///
/// # Errors
/// The parser refuses a line, or cannot be had here.
pub fn run(shop: &Shop) -> Result<()> {
    shop.setup(&["bpf"])?;
    let room = shop.root.join("target/tools/prometheus");
    let tool = room.join("usr/bin/promtool");
    if !tool.exists() {
        const FETCH: &str = "apt-get -qq -o APT::Sandbox::User=\"$(id -un)\" download \
                             prometheus && dpkg-deb -x prometheus_*.deb . && rm *.deb";
        shop.sh.remove_path(&room)?;
        shop.sh.create_dir(&room)?;
        let _room = shop.sh.push_dir(&room);
        let fetched = call(cmd!(shop.sh, "sh -c {FETCH}"));
        fetched.map_err(|_| missing("the package prometheus cannot be fetched here"))?;
    }
    let scratch = shop.scratch()?;
    let path = scratch.path().join("text");
    let test = cmd!(
        shop.sh,
        "cargo test --locked --quiet --package wakeplace-scx"
    )
    .args(["--bin", "scx_wakeplace", "the_older_format"])
    .env("WAKEPLACE_METRICS_OUT", &path);
    call(test)?;
    let text = read(&path)?;
    ensure!(!text.is_empty(), "the test wrote no text");
    // It ends with 3 where it only dislikes a name, which is no test that could not be made.
    cmd!(shop.sh, "{tool} check metrics").stdin(&text).run()?;
    let samples = text.lines().filter(|line| !line.starts_with('#')).count();
    println!("promtool takes all {samples} samples");
    Ok(())
}
