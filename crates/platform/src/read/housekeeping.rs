//! What the kernel itself runs: `[housekeeping]`. (docs/guide/model.md, "Kernel threads")
//!
//! Called by `read/mod.rs`. Times become ns.
//!
//! What must stay: a key that is there; threads stand in the order of the file, which is that of
//! their numbers in the engine. No test looks at what it reads: builtin.rs::
//! `every_table_is_known_in_one_way` fails if a built-in table is refused. Free: what leaves each
//! file's machine as it is (ARCHITECTURE.md, "What a change may touch"), and words of messages that
//! no test quotes. Tests by part: `read` and `thread` are run by that test only, and by
//! crates/engine/tests/behaviour/kthreads.rs.
//!
//! Tests: crates/platform/tests/all/builtin.rs

use toml::Spanned;
use wakeplace_text::shorten;

use super::machine::Machine;
use super::provenance::Provenance;
use super::raw::{RawHousekeeping, RawThread};
use super::values::{at, between};
use crate::error::Flaw;
use crate::{Housekeeping, HousekeepingThread};

/// Longest run of a governor's thread, ns.
const MAX_GOVERNOR_NS: u64 = 1_000_000;
/// Longest period, us: ten minutes.
const MAX_PERIOD_US: u64 = 600_000_000;
/// Most threads.
const MAX_THREADS: usize = 4096;

/// The table, None: the machine states no threads of the kernel.
pub(super) fn read(
    raw: Option<&Spanned<RawHousekeeping>>,
    machine: &Machine<'_>,
    provenance: &mut Provenance,
) -> Result<Option<Housekeeping>, Flaw> {
    let Some(raw) = raw else { return Ok(None) };
    let table = raw.get_ref();
    let source = provenance.note(
        at(raw),
        "housekeeping".into(),
        &table.source,
        table.standing,
    )?;
    if table.threads.len() > MAX_THREADS {
        let problem = format!("{} kernel threads", table.threads.len());
        return Err(Flaw::new(
            at(raw),
            problem,
            format!("expected at most {MAX_THREADS}"),
        ));
    }
    let governor = table.governor_ns.as_ref();
    let governor_ns = governor
        .map(|ns| between(ns, 1, MAX_GOVERNOR_NS, "`governor_ns`", "ns"))
        .transpose()?;
    let mut threads: Vec<HousekeepingThread> = Vec::new();
    for one in &table.threads {
        let thread = thread(one.get_ref(), machine)?;
        if threads.iter().any(|other| other.name == thread.name) {
            let problem = format!("two threads are called `{}`", shorten(&thread.name));
            return Err(Flaw::new(
                at(&one.get_ref().name),
                problem,
                "expected different names",
            ));
        }
        threads.push(thread);
    }
    if governor_ns.is_none() && threads.is_empty() {
        let expected = "expected `governor_ns`, `threads` or no `[housekeeping]` table";
        return Err(Flaw::new(at(raw), "nothing runs", expected));
    }
    Ok(Some(Housekeeping {
        governor_ns,
        threads,
        wall: false,
        source,
    }))
}

/// A thread that runs now and then.
fn thread(raw: &RawThread, machine: &Machine<'_>) -> Result<HousekeepingThread, Flaw> {
    let name = raw.name.get_ref();
    if name.is_empty() || name.chars().any(char::is_control) {
        let problem = format!("`{}` cannot name a thread", shorten(name));
        return Err(Flaw::new(
            at(&raw.name),
            problem,
            "expected a name such as `kworker/0:1`",
        ));
    }
    let period_us = between(&raw.period_us, 1, MAX_PERIOD_US, "`period_us`", "us")?;
    let run_us = between(&raw.run_us, 1, period_us, "`run_us`", "us")?;
    let cpus = raw
        .cpus
        .as_ref()
        .map(|list| machine.list(list))
        .transpose()?;
    Ok(HousekeepingThread {
        name: name.clone(),
        cpus,
        period_ns: period_us * 1000,
        run_ns: run_us * 1000,
    })
}
