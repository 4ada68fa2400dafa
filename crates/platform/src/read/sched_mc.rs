//! How many tasks a core is to hold at each frequency: `[sched_mc]` (docs/decisions/033).
//!
//! Called by `read/mod.rs`. The core reads the entries (policy/src/packing).
//!
//! What must stay: entries begin at 0 kHz, `step_khz` wide each, and never rise
//! (docs/rules/sched-mc.md#mc-authors-list); at most `WP_MC_STEPS`. Free: what leaves each file's
//! machine as it is (ARCHITECTURE.md, "What a change may touch"), and words of messages that no
//! test quotes. Tests by part: `tasks_of_a_core_while_power_is_saved` (`read`, `core_kind`,
//! `tasks`).
//!
//! Tests: crates/platform/tests/all/bad_files.rs

use toml::Spanned;

use super::machine::Machine;
use super::provenance::Provenance;
use super::raw::RawSchedMc;
use super::values::{at, between};
use crate::SchedMc;
use crate::error::Flaw;
use wakeplace_text::{did_you_mean, nearest, shorten};

/// Entries that the policy core has room for (`WP_MC_STEPS`).
const MAX_STEPS: usize = 32;

/// Most tasks of an entry.
const MAX_TASKS: u64 = 64;

/// Highest frequency, kHz.
const MAX_KHZ: u64 = 100_000_000;

/// The table, None: the machine has none.
pub(super) fn read(
    raw: Option<&Spanned<RawSchedMc>>,
    machine: &Machine<'_>,
    provenance: &mut Provenance,
) -> Result<Option<SchedMc>, Flaw> {
    let Some(raw) = raw else { return Ok(None) };
    let table = raw.get_ref();
    let source = provenance.note(at(raw), "sched_mc".into(), &table.source, table.standing)?;
    let step = between(&table.step_khz, 1, MAX_KHZ, "`step_khz`", "kHz")?;
    Ok(Some(SchedMc {
        core_kind: core_kind(table, machine)?,
        step_khz: u32::try_from(step).expect("MAX_KHZ fits"),
        tasks: tasks(table)?,
        source,
    }))
}

/// Some core is of that kind.
fn core_kind(table: &RawSchedMc, machine: &Machine<'_>) -> Result<String, Flaw> {
    let kind = table.core_kind.get_ref();
    let kinds = || machine.cpus.iter().map(|cpu| cpu.kind.as_str());
    if kinds().any(|known| known == kind) {
        return Ok(kind.clone());
    }
    let problem = format!("no core is a `{}`", shorten(kind));
    let hint = did_you_mean(nearest(kind, kinds()));
    let expected = format!("expected the `kind` of some cores{hint}");
    Err(Flaw::new(at(&table.core_kind), problem, expected))
}

/// A faster core never holds more: 1024 times an entry is a cpu power.
fn tasks(table: &RawSchedMc) -> Result<Vec<u32>, Flaw> {
    let list = table.tasks.get_ref();
    if list.is_empty() || list.len() > MAX_STEPS {
        let problem = format!("`tasks` has {} entries", list.len());
        let expected = format!("expected 1 to {MAX_STEPS}");
        return Err(Flaw::new(at(&table.tasks), problem, expected));
    }
    let mut tasks = Vec::new();
    for (index, entry) in list.iter().enumerate() {
        let most = tasks.last().map_or(MAX_TASKS, |below| u64::from(*below));
        let what = format!("entry {index} of `tasks`, which never rise,");
        let value = between(entry, 1, most, &what, "")?;
        tasks.push(u32::try_from(value).expect("at most MAX_TASKS"));
    }
    Ok(tasks)
}
