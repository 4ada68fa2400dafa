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

/// Values that every event has, and the most that one has beside them.
const MOST: usize = COMMON.len() + 7;

/// An event's values. Filled in place: a row is made for every event.
struct Cells<'a> {
    cells: [Cell<'a>; MOST],
    used: usize,
}

impl<'a> Cells<'a> {
    /// With what every event has.
    #[inline]
    fn of(event: &Event<'a>) -> Self {
        let mut cells = Self {
            cells: [Cell::Whole(0); MOST],
            used: 0,
        };
        let context = &event.context;
        cells.with(event.time_ns).with(context.cpu);
        cells.with(context.pid).with(context.comm);
        cells
    }

    #[inline]
    fn with(&mut self, cell: impl Into<Cell<'a>>) -> &mut Self {
        self.cells[self.used] = cell.into();
        self.used += 1;
        self
    }

    #[inline]
    fn named(&mut self, task: Who<'a>) -> &mut Self {
        self.with(task.comm).with(task.pid).with(task.prio)
    }

    fn all(&self) -> impl Iterator<Item = Cell<'a>> {
        self.cells[..self.used].iter().copied()
    }
}

/// Adds an event's own values. Returns the index of its table.
fn add_own<'a>(own: &mut Cells<'a>, kind: &Kind<'a>) -> usize {
    match *kind {
        Kind::Switch {
            prev,
            prev_state,
            next,
        } => {
            let state = Cell::Whole(prev_state.number());
            own.named(prev).with(state).named(next);
            0
        }
        Kind::Waking { task, target_cpu } => {
            own.named(task).with(target_cpu);
            1
        }
        Kind::Wakeup { task, target_cpu } => {
            own.named(task).with(target_cpu);
            2
        }
        Kind::WakeupNew { task, target_cpu } => {
            own.named(task).with(target_cpu);
            3
        }
        Kind::Migrate {
            task,
            orig_cpu,
            dest_cpu,
        } => {
            own.named(task).with(orig_cpu).with(dest_cpu);
            4
        }
        Kind::Frequency { khz, cpu } => {
            own.with(khz).with(cpu);
            5
        }
        Kind::Idle { state, cpu } => {
            own.with(state).with(cpu);
            6
        }
        _ => add_own_of_others(own, kind),
    }
}

/// The same of threads that come and go, and of timers.
fn add_own_of_others<'a>(own: &mut Cells<'a>, kind: &Kind<'a>) -> usize {
    match *kind {
        Kind::NewTask {
            pid,
            comm,
            clone_flags,
        } => {
            own.with(pid).with(comm).with(clone_flags).with(0);
            7
        }
        Kind::Rename { pid, old, new } => {
            own.with(pid).with(old).with(new).with(0);
            8
        }
        Kind::Exit { task, .. } => {
            own.named(task);
            9
        }
        Kind::TimerStart { timer, expires_ns } => {
            own.with(timer).with(expires_ns).with(expires_ns);
            10
        }
        Kind::TimerExpire { timer, now_ns } => {
            own.with(timer).with(now_ns);
            11
        }
        Kind::TimerDone { timer } => {
            own.with(timer);
            12
        }
        Kind::Softirq { vec } => {
            own.with(vec);
            13
        }
        Kind::SyncWake => 14,
        _ => unreachable!("`add_own` has the others"),
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
        let mut cells = Cells::of(event);
        let table = add_own(&mut cells, &event.kind);
        self.events[table].row(cells.all())
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
