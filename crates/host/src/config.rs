//! What the running kernel was configured with: from itself where it keeps that, else from the file
//! that distributions install beside it (docs/guide/live.md, "Run").
//!
//! What must stay: a lack of a configuration is no lack of an option. Free: further places where a
//! configuration may be.
//!
//! Tests by part: `options_of_the_kernel` (`kernel_option`, `value`, `text`),
//! probe.rs::`an_old_kernel_and_an_unset_option_are_named` (`in_words`).
//!
//! Callers: crates/host/src/kernel.rs, crates/scx/src/machine.rs (`kernel_option`).
//!
//! Tests: crates/host/tests/probe.rs::options_of_the_kernel

use crate::tree::Tree;
use std::io::Read;
use std::path::Path;

/// Largest configuration that is read, bytes; a distribution's is 0.3 MB.
const MAX_CONFIG_BYTES: u64 = 4 << 20;

/// The value of an option such as `CONFIG_HZ` below `root`; `None` where it is not set or no
/// configuration is to be had.
#[must_use]
pub fn kernel_option(root: &Path, option: &str) -> Option<String> {
    value(&text(&Tree::new(root))?, option)
}

/// `is y` or `is not set`, where a configuration is to be had.
pub(crate) fn in_words(tree: &Tree, option: &str) -> Option<String> {
    let set = value(&text(tree)?, option);
    Some(set.map_or_else(|| "is not set".to_owned(), |value| format!("is {value}")))
}

/// `y`, `m` or a text; None: not set.
fn value(config: &str, option: &str) -> Option<String> {
    let mut lines = config.lines();
    let set = lines.find_map(|line| line.strip_prefix(option)?.strip_prefix('='))?;
    Some(set.trim().to_owned())
}

/// From the kernel itself, else from /boot; None: neither.
fn text(tree: &Tree) -> Option<String> {
    if let Ok(packed) = tree.bytes("proc/config.gz") {
        let mut text = String::new();
        let reader = flate2::read::GzDecoder::new(&packed[..]);
        if reader
            .take(MAX_CONFIG_BYTES)
            .read_to_string(&mut text)
            .is_ok()
        {
            return Some(text);
        }
    }
    let release = tree.text("proc/sys/kernel/osrelease").ok()?;
    tree.text(&format!("boot/config-{release}")).ok()
}
