//! The tables and their columns. docs/guide/traces.md has the same tables.
//!
//! What must stay: names, types and order of columns, which programs read and docs/guide/traces.md
//! lists; `place` is the index in `EVENTS`. Free: what leaves the bytes of files as they are
//! (ARCHITECTURE.md, "What a change may touch"). Tests by part: `tables_told_by_hand` (`EVENTS`,
//! `COMMON`, `DECISIONS`, `place`), long_runs.rs::`traces_dropped_in_the_midst_leave_nothing`
//! (`files`), xtask/src/tries/traces.rs (all tables).
//!
//! Callers: export/parquet.rs (`place`, `files`).
//!
//! Tests: crates/trace/tests/all/traces.rs::tables_told_by_hand, xtask/src/tries/traces.rs

use crate::event::{Kind, SYNC_WAKE};
use crate::export::column::Holds;
use crate::export::table::file_name;
use wakeplace_files::Names;

use Holds::{Real, Text, Whole};

pub(super) type Columns = &'static [(&'static str, Holds)];

/// What every event has: when, where, and in whose context.
pub(super) const COMMON: [(&str, Holds); 4] = [
    ("common_ts", Whole),
    ("common_cpu", Whole),
    ("common_pid", Whole),
    ("common_comm", Text),
];

/// Tables of events with their own columns, in the order of `place`.
pub(super) const EVENTS: [(&str, Columns); 15] = [
    (
        "sched_switch",
        &[
            ("prev_comm", Text),
            ("prev_pid", Whole),
            ("prev_prio", Whole),
            ("prev_state", Whole),
            ("next_comm", Text),
            ("next_pid", Whole),
            ("next_prio", Whole),
        ],
    ),
    ("sched_waking", TARGET),
    ("sched_wakeup", TARGET),
    ("sched_wakeup_new", TARGET),
    (
        "sched_migrate_task",
        &[
            ("comm", Text),
            ("pid", Whole),
            ("prio", Whole),
            ("orig_cpu", Whole),
            ("dest_cpu", Whole),
        ],
    ),
    ("cpu_frequency", &[("state", Whole), ("cpu_id", Whole)]),
    ("cpu_idle", &[("state", Whole), ("cpu_id", Whole)]),
    (
        "task_newtask",
        &[
            ("pid", Whole),
            ("comm", Text),
            ("clone_flags", Whole),
            ("oom_score_adj", Whole),
        ],
    ),
    (
        "task_rename",
        &[
            ("pid", Whole),
            ("oldcomm", Text),
            ("newcomm", Text),
            ("oom_score_adj", Whole),
        ],
    ),
    (
        "sched_process_exit",
        &[("comm", Text), ("pid", Whole), ("prio", Whole)],
    ),
    (
        "hrtimer_start",
        &[
            ("hrtimer", Whole),
            ("expires", Whole),
            ("softexpires", Whole),
        ],
    ),
    (
        "hrtimer_expire_entry",
        &[("hrtimer", Whole), ("now", Whole)],
    ),
    ("hrtimer_expire_exit", &[("hrtimer", Whole)]),
    ("softirq_entry", &[("vec", Whole)]),
    (SYNC_WAKE, &[]),
];

const TARGET: Columns = &[
    ("comm", Text),
    ("pid", Whole),
    ("prio", Whole),
    ("target_cpu", Whole),
];

const COUNTERS: Columns = &[
    ("time_ns", Whole),
    ("counter", Text),
    ("index", Whole),
    ("value", Real),
];

const DECISIONS: Columns = &[
    ("time_ns", Whole),
    ("pid", Whole),
    ("comm", Text),
    ("kind", Text),
    ("reason", Text),
    ("cpu", Whole),
    ("prev_cpu", Whole),
    ("waker_cpu", Whole),
    ("waker_pid", Whole),
    ("util", Whole),
    ("dur_avg_ns", Whole),
];

const METRICS: Columns = &[("metric", Text), ("value", Real), ("unit", Text)];

/// The tables that are not of events.
pub(super) const OTHERS: [(&str, Columns); 3] = [
    ("counters", COUNTERS),
    ("decisions", DECISIONS),
    ("metrics", METRICS),
];

/// The index of an event's table.
#[inline]
pub(super) fn place(kind: &Kind<'_>) -> usize {
    match kind {
        Kind::Switch { .. } => 0,
        Kind::Waking { .. } => 1,
        Kind::Wakeup { .. } => 2,
        Kind::WakeupNew { .. } => 3,
        Kind::Migrate { .. } => 4,
        Kind::Frequency { .. } => 5,
        Kind::Idle { .. } => 6,
        Kind::NewTask { .. } => 7,
        Kind::Rename { .. } => 8,
        Kind::Exit { .. } => 9,
        Kind::TimerStart { .. } => 10,
        Kind::TimerExpire { .. } => 11,
        Kind::TimerDone { .. } => 12,
        Kind::Softirq { .. } => 13,
        Kind::SyncWake => 14,
    }
}

/// Names of the tables' files.
pub(super) fn files() -> Names {
    let tables = EVENTS.iter().chain(&OTHERS);
    let names: Vec<String> = tables.map(|(table, _)| file_name(table)).collect();
    Names::exactly(names.iter().map(String::as_str))
}
