//! A folder of tables: one per kind of event, quantities, decisions and metrics.

use super::sink::{Counter, Decision, Sink};
use super::table::{Cell, Holds, Table, file_name};
use crate::event::{Event, Kind, SYNC_WAKE, Who};
use std::io;
use std::path::Path;
use wakeplace_engine::observe::PlacementKind;
use wakeplace_files::{FileSet, WriteError};

use Holds::{Real, Text, Whole};

type Columns = &'static [(&'static str, Holds)];

/// What every event has: when, where, and in whose context.
const COMMON: [(&str, Holds); 4] = [
    ("common_ts", Whole),
    ("common_cpu", Whole),
    ("common_pid", Whole),
    ("common_comm", Text),
];

/// Tables of events with their own columns, in the order of `place`.
const EVENTS: [(&str, Columns); 15] = [
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
const OTHERS: [(&str, Columns); 3] = [
    ("counters", COUNTERS),
    ("decisions", DECISIONS),
    ("metrics", METRICS),
];

/// The tables of one run.
pub(super) struct Parquet {
    /// As `EVENTS`.
    events: Vec<Table>,
    counters: Table,
    decisions: Table,
    metrics: Table,
}

impl Parquet {
    /// In a folder that is new, or takes the place of one of before.
    pub(super) fn create(path: &Path) -> Result<(Self, FileSet), WriteError> {
        let set = FileSet::open(path, is_table)?;
        let table = |name: &str, columns: &[(&str, Holds)]| {
            let table = Table::create(set.folder(), name, columns);
            table.map_err(|error| WriteError::new(path, error))
        };
        let mut events = Vec::new();
        for (name, columns) in EVENTS {
            let columns: Vec<_> = COMMON.iter().chain(columns).copied().collect();
            events.push(table(name, &columns)?);
        }
        let [counters, decisions, metrics] = OTHERS.map(|(name, columns)| table(name, columns));
        let tables = Self {
            events,
            counters: counters?,
            decisions: decisions?,
            metrics: metrics?,
        };
        Ok((tables, set))
    }
}

/// Whether a file of this name is one of the tables.
fn is_table(name: &str) -> bool {
    let mut tables = EVENTS.iter().chain(&OTHERS);
    tables.any(|(table, _)| file_name(table) == name)
}

/// An event's own values.
struct Own<'a> {
    cells: [Cell<'a>; 7],
    used: usize,
}

impl<'a> Own<'a> {
    fn new() -> Self {
        let cells = [Cell::Whole(0); 7];
        Self { cells, used: 0 }
    }

    fn with(mut self, cell: impl Into<Cell<'a>>) -> Self {
        self.cells[self.used] = cell.into();
        self.used += 1;
        self
    }

    fn named(self, task: Who<'a>) -> Self {
        self.with(task.comm).with(task.pid).with(task.prio)
    }

    fn all(self) -> impl Iterator<Item = Cell<'a>> {
        self.cells.into_iter().take(self.used)
    }
}

/// Index of an event's table and its own values.
fn cells<'a>(kind: &Kind<'a>) -> (usize, Own<'a>) {
    let own = Own::new();
    match *kind {
        Kind::Switch {
            prev,
            prev_state,
            next,
        } => {
            let state = Cell::Whole(prev_state.number());
            (0, own.named(prev).with(state).named(next))
        }
        Kind::Waking { task, target_cpu } => (1, own.named(task).with(target_cpu)),
        Kind::Wakeup { task, target_cpu } => (2, own.named(task).with(target_cpu)),
        Kind::WakeupNew { task, target_cpu } => (3, own.named(task).with(target_cpu)),
        Kind::Migrate {
            task,
            orig_cpu,
            dest_cpu,
        } => (4, own.named(task).with(orig_cpu).with(dest_cpu)),
        Kind::Frequency { khz, cpu } => (5, own.with(khz).with(cpu)),
        Kind::Idle { state, cpu } => (6, own.with(state).with(cpu)),
        Kind::NewTask {
            pid,
            comm,
            clone_flags,
        } => (7, own.with(pid).with(comm).with(clone_flags).with(0)),
        Kind::Rename { pid, old, new } => (8, own.with(pid).with(old).with(new).with(0)),
        Kind::Exit { task, .. } => (9, own.named(task)),
        Kind::TimerStart { timer, expires_ns } => {
            (10, own.with(timer).with(expires_ns).with(expires_ns))
        }
        Kind::TimerExpire { timer, now_ns } => (11, own.with(timer).with(now_ns)),
        Kind::TimerDone { timer } => (12, own.with(timer)),
        Kind::Softirq { vec } => (13, own.with(vec)),
        Kind::SyncWake => (14, own),
    }
}

/// Name and index (a CPU's or a cluster's) of a quantity.
fn quantity(counter: Counter) -> (&'static str, u32) {
    match counter {
        Counter::Util(cpu) => ("utilisation", cpu),
        Counter::Capacity(cpu) => ("capacity", cpu),
        Counter::Energy(cluster) => ("energy", cluster),
        Counter::Power(cluster) => ("power", cluster),
        Counter::Temperature(cluster) => ("temperature", cluster),
        Counter::ClusterIdle(cluster) => ("cluster_idle", cluster),
        Counter::Online(cpu) => ("online", cpu),
        Counter::Overutilized => ("overutilized", 0),
    }
}

impl Sink for Parquet {
    fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        let (table, own) = cells(&event.kind);
        let context = &event.context;
        let common = [
            event.time_ns.into(),
            context.cpu.into(),
            context.pid.into(),
            context.comm.into(),
        ];
        self.events[table].row(common.into_iter().chain(own.all()))
    }

    fn counter(&mut self, time_ns: u64, counter: Counter, value: f64) -> io::Result<()> {
        let (name, index) = quantity(counter);
        let cells = [time_ns.into(), name.into(), index.into(), Cell::Real(value)];
        self.counters.row(cells)
    }

    fn decision(&mut self, time_ns: u64, decision: &Decision<'_>) -> io::Result<()> {
        let placement = decision.placement;
        let kind = match placement.kind {
            PlacementKind::Wake => "wake",
            PlacementKind::Fork => "fork",
            PlacementKind::Exec => "exec",
        };
        self.decisions.row([
            time_ns.into(),
            decision.pid.into(),
            decision.comm.into(),
            kind.into(),
            placement.reason.name().into(),
            placement.cpu.into(),
            placement.prev_cpu.into(),
            placement.waker_cpu.into(),
            decision.waker.into(),
            placement.util.into(),
            placement.dur_avg_ns.into(),
        ])
    }

    fn metric(&mut self, name: &str, value: f64, unit: &str) -> io::Result<()> {
        self.metrics
            .row([name.into(), Cell::Real(value), unit.into()])
    }

    fn finish(&mut self) -> io::Result<()> {
        let more = [&mut self.counters, &mut self.decisions, &mut self.metrics];
        let mut tables = self.events.iter_mut().chain(more);
        tables.try_for_each(Table::finish)
    }
}
