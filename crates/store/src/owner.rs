//! Which process holds a lease, and whether it is still there (docs/guide/results.md, "Sweeps").
//!
//! Called by `leases.rs`. The text is process number and begin, so that a number that is used again
//! is another process.
//!
//! What must stay: the form `PID:BEGIN:NUMBER`, which other processes read in the file; who cannot
//! be looked up counts as there, so that no cell is run twice at once. Tests by part:
//! `a_process_that_is_there_is_known` (`this`, `is_gone`, `began`),
//! leases.rs::`a_lease_of_a_wrong_clock_is_void` (an owner without a begin).
//!
//! Tests: below, crates/store/tests/all/leases.rs

use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};

/// A store that a process of this machine has open: the process's number and when it began, in
/// ticks since boot, and which of its stores it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Owner(String);

impl Owner {
    /// Another one of this process.
    pub(crate) fn this() -> Self {
        static OPENED: AtomicU64 = AtomicU64::new(0);
        let pid = std::process::id();
        let number = OPENED.fetch_add(1, Ordering::Relaxed);
        Self(format!("{pid}:{}:{number}", began(pid).unwrap_or_default()))
    }

    /// As it is written into a lease.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }
}

/// The process of that text is gone; one that nobody can look up counts as there.
pub(crate) fn is_gone(owner: &str) -> bool {
    let Some((pid, rest)) = owner.split_once(':') else {
        return true;
    };
    let (start, _) = rest.split_once(':').unwrap_or((rest, ""));
    if start.is_empty() || !fs::exists("/proc/self/stat").unwrap_or(false) {
        return false;
    }
    let Ok(pid) = pid.parse() else { return true };
    began(pid).as_deref() != Some(start)
}

/// proc(5): the 22nd field, after the name in parentheses, which may hold anything.
fn began(pid: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, after) = stat.rsplit_once(')')?;
    let mut fields = after.split_whitespace();
    // A zombie has ended.
    if fields.next()? == "Z" {
        return None;
    }
    fields.nth(18).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::{Owner, is_gone};

    #[test]
    fn a_process_that_is_there_is_known() {
        let this = Owner::this();
        assert!(!is_gone(this.text()));
        let (pid, _) = this.text().split_once(':').unwrap();
        assert!(is_gone(&format!("{pid}:1")), "its number was another's");
        assert!(is_gone("4294967295:5"));
        assert!(is_gone(""));
    }
}
