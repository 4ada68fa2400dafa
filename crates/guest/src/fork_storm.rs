//! `fork-storm`: processes that fork, every second one of which executes this program anew
//! (docs/guide/live.md, scripts/live/guest.sh).
//!
//! What must stay: which processes execute, since the count is expected to the last one. Free: how
//! chains are waited for.
//!
//! Tests by part: `the_count_of_executed_processes_is_that_of_the_chain` (`executes`,
//! `executed_in_chain`),
//! crates/guest/tests/programs.rs::`fork_storm_counts_every_process_of_every_chain` (`run`, `live`,
//! `spawn`), programs.rs::`a_chain_whose_link_fails_fails_whole` (`link`). `eprint_line` has no
//! test of its own.
//!
//! Callers: lib.rs (`run`, `link`); scripts/live/guest.sh runs it in guests.
//!
//! Tests: below

use std::hint::black_box;
use std::os::unix::process::CommandExt;
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::args::{Flag, flag, parse};
use crate::error::GuestError;
use crate::report::Report;
use crate::steady::{END_WITHIN_NS, finish_child};
use crate::sys::{self, Pid};

const FLAGS: [Flag; 3] = [
    flag("--processes", 16, 1, 4096),
    flag("--depth", 3, 1, 64),
    flag("--seconds", 5, 1, 86_400),
];
/// The subcommand that a process executes: one link of a chain.
pub(crate) const LINK: &str = "fork-storm-link";
/// Memory that each process writes, so that its pages are its own, bytes.
const TOUCHED_BYTES: usize = 64 << 10;

/// Counts.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
pub struct ForkStormResult {
    /// Chains at a time.
    pub processes: u64,
    /// Processes in a chain, each the parent of the next.
    pub depth: u64,
    /// Times that all chains were started and waited for.
    pub batches: u64,
    /// Processes that began and ended as they should.
    pub forked: u64,
    /// Of these, how many executed the program anew.
    pub executed: u64,
    /// Time it took, ns.
    pub elapsed_ns: u64,
}

/// Runs it.
///
/// # Errors
/// Wrong arguments.
pub fn run(args: &[String]) -> Result<Report<ForkStormResult>, GuestError> {
    let [processes, depth, seconds] = parse(args, &FLAGS)?;
    let begin_ns = sys::now_ns();
    let end_ns = begin_ns + seconds * 1_000_000_000;
    let mut failures = Vec::new();
    let mut batches = 0;
    let mut whole_chains = 0;
    while failures.is_empty() && (batches == 0 || sys::now_ns() < end_ns) {
        let chains: Vec<_> = (0..processes).map(|_| spawn(depth)).collect();
        for chain in chains {
            let ended = chain.and_then(|pid| finish_child("chain", pid, END_WITHIN_NS));
            match ended {
                Ok(()) => whole_chains += 1,
                Err(what) => failures.push(what),
            }
        }
        batches += 1;
    }
    let result = ForkStormResult {
        processes,
        depth,
        batches,
        forked: whole_chains * depth,
        executed: whole_chains * executed_in_chain(depth),
        elapsed_ns: sys::now_ns() - begin_ns,
    };
    Ok(Report::new("fork-storm", failures, result))
}

/// One process of a chain that still has `depth` processes: touches memory, starts the next and
/// waits for it.
pub(crate) fn link(args: &[String]) -> Result<u8, GuestError> {
    let depth = args.first().and_then(|depth| depth.parse().ok());
    let depth = depth.ok_or_else(|| GuestError::Input(format!("{LINK}: expected a number")))?;
    Ok(live(depth))
}

/// The exit code of a process at this depth.
fn live(depth: u64) -> u8 {
    black_box(vec![depth as u8; TOUCHED_BYTES]);
    let next = (depth > 1).then(|| spawn(depth - 1));
    let ended = next.map_or(Ok(()), |next| {
        next.and_then(|pid| finish_child("link", pid, END_WITHIN_NS))
    });
    match ended {
        Ok(()) => 0,
        Err(what) => {
            eprint_line(&format!("{LINK} {depth}: {what}"));
            1
        }
    }
}

/// Forks a process with this depth.
fn spawn(depth: u64) -> Result<Pid, String> {
    let child = || {
        if !executes(depth) {
            return live(depth);
        }
        let failed = Command::new("/proc/self/exe")
            .args([LINK, &depth.to_string()])
            .exec();
        eprint_line(&format!("/proc/self/exe: {failed}"));
        1
    };
    sys::fork(child).map_err(|error| format!("fork: {error}"))
}

/// Says whether a process at this depth executes the program: the first and every second one after
/// it from the end of the chain.
fn executes(depth: u64) -> bool {
    depth % 2 == 1
}

/// How many processes of a chain execute the program anew.
fn executed_in_chain(depth: u64) -> u64 {
    depth.div_ceil(2)
}

/// Best effort: the exit code says it, too.
fn eprint_line(line: &str) {
    use std::io::Write;
    // Standard error may be closed; the exit code says it too.
    let _ = writeln!(std::io::stderr(), "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_of_executed_processes_is_that_of_the_chain() {
        for depth in 1..10 {
            let counted = (1..=depth).filter(|&d| executes(d)).count() as u64;
            assert_eq!(executed_in_chain(depth), counted);
        }
    }
}
