//! A folder of tables: one per kind of event, quantities, decisions and metrics. Names and types of
//! columns are what readers rely on (docs/guide/traces.md).
//!
//! What must stay: names and types of columns (docs/guide/traces.md), rows in the order of time,
//! words of `QUANTITIES`; a column that is added goes behind the others and into
//! docs/guide/traces.md. Free: what leaves the bytes of files as they are (ARCHITECTURE.md, "What a
//! change may touch"). Tests by part: `tables_told_by_hand` (`create`, `common`, `named`, `own`,
//! `decision`), xtask/src/tries/traces.rs (what other readers find). `own_of_others`, `counter` and
//! `metric` have no test of their own here. `new`, `name`, `quantity`, `event` and `finish` by the
//! first two as well.
//!
//! Tests: crates/trace/tests/all/traces.rs::tables_told_by_hand, xtask/src/tries/traces.rs

mod columns;

use super::column::Holds;
use super::names::ByThread;
use super::sink::{Counter, Decision, Sink};
use super::table::{Row, Table, file_name};
use super::texts::{Text, Texts};
use crate::event::{Context, Event, Kind, Who};
use columns::{COMMON, EVENTS, OTHERS, files, place};
use std::io;
use std::path::Path;
use wakeplace_engine::observe::PlacementKind;
use wakeplace_files::{FileSet, WriteError};
use wakeplace_policy_sys::Reason;

/// The tables of one run.
pub(super) struct Parquet {
    /// As `EVENTS`.
    events: Vec<Table>,
    counters: Table,
    decisions: Table,
    metrics: Table,
    texts: Texts,
    names: Names,
    words: Words,
}

impl Parquet {
    /// In a folder that is new, or takes the place of one of before.
    pub(super) fn create(path: &Path) -> Result<(Self, FileSet), WriteError> {
        let set = FileSet::open(path, files())?;
        let table = |name: &str, columns: &[(&str, Holds)]| {
            let table = Table::create(set.create(&file_name(name))?, columns);
            table.map_err(|error| WriteError::new(path, error))
        };
        let mut events = Vec::new();
        for (name, columns) in EVENTS {
            let columns: Vec<_> = COMMON.iter().chain(columns).copied().collect();
            events.push(table(name, &columns)?);
        }
        let [counters, decisions, metrics] = OTHERS.map(|(name, columns)| table(name, columns));
        let mut texts = Texts::default();
        let tables = Self {
            events,
            counters: counters?,
            decisions: decisions?,
            metrics: metrics?,
            names: Names::default(),
            words: Words::new(&mut texts),
            texts,
        };
        Ok((tables, set))
    }
}

/// Words that rows have beside names.
struct Words {
    /// By the kind's number.
    kinds: [Text; 3],
    /// By the reason's index.
    reasons: Vec<Text>,
    /// As `QUANTITIES`.
    quantities: [Text; QUANTITIES.len()],
}

impl Words {
    /// Numbers of the words that rows repeat, made once.
    fn new(texts: &mut Texts) -> Self {
        Self {
            kinds: ["wake", "fork", "exec"].map(|kind| texts.of(kind)),
            reasons: (Reason::ALL.iter())
                .map(|reason| texts.of(reason.name()))
                .collect(),
            quantities: QUANTITIES.map(|name| texts.of(name)),
        }
    }
}

/// Names of threads.
type Names = ByThread<Text>;

/// An event's row.
struct Cells<'a, 'b> {
    row: &'a mut Row<'b>,
    texts: &'a mut Texts,
    names: &'a mut Names,
    cpu: u32,
}

impl Cells<'_, '_> {
    /// What every event has.
    #[inline]
    fn common(&mut self, time_ns: u64, context: &Context<'_>) {
        let Context { cpu, pid, comm, .. } = *context;
        let name = self.name(pid, comm);
        self.row.unsigned(time_ns).whole(cpu).whole(pid).text(name);
    }

    /// Of a thread; of an idle task it is that of the CPU.
    #[inline]
    fn name(&mut self, pid: i32, comm: &str) -> Text {
        name(self.names, self.texts, (pid, comm), self.cpu)
    }

    /// Name, number and priority of a task, three columns.
    #[inline]
    fn named(&mut self, task: Who<'_>) -> &mut Self {
        let name = self.name(task.pid, task.comm);
        self.row.text(name).whole(task.pid).whole(task.prio);
        self
    }

    /// An event's own values.
    #[inline]
    fn own(&mut self, kind: &Kind<'_>) {
        match *kind {
            Kind::Switch {
                prev,
                prev_state,
                next,
            } => {
                self.named(prev).row.whole(prev_state.number());
                self.named(next);
            }
            Kind::Waking { task, target_cpu }
            | Kind::Wakeup { task, target_cpu }
            | Kind::WakeupNew { task, target_cpu } => {
                self.named(task).row.whole(target_cpu);
            }
            Kind::Migrate {
                task,
                orig_cpu,
                dest_cpu,
            } => {
                self.named(task).row.whole(orig_cpu).whole(dest_cpu);
            }
            Kind::Exit { task, .. } => {
                self.named(task);
            }
            _ => own_of_others(self.row, self.texts, kind),
        }
    }
}

/// The same of events without a task that has a priority.
#[inline]
fn own_of_others(row: &mut Row<'_>, texts: &mut Texts, kind: &Kind<'_>) {
    match *kind {
        Kind::Frequency { khz, cpu } => {
            row.whole(khz).whole(cpu);
        }
        Kind::Idle { state, cpu } => {
            row.whole(state).whole(cpu);
        }
        Kind::NewTask {
            pid,
            comm,
            clone_flags,
        } => {
            row.whole(pid).text(texts.of(comm));
            row.unsigned(clone_flags).whole(0);
        }
        Kind::Rename { pid, old, new } => {
            row.whole(pid).text(texts.of(old)).text(texts.of(new));
            row.whole(0);
        }
        Kind::TimerStart { timer, expires_ns } => {
            row.unsigned(timer).unsigned(expires_ns);
            row.unsigned(expires_ns);
        }
        Kind::TimerExpire { timer, now_ns } => {
            row.unsigned(timer).unsigned(now_ns);
        }
        Kind::TimerDone { timer } => {
            row.unsigned(timer);
        }
        Kind::Softirq { vec } => {
            row.whole(vec);
        }
        Kind::SyncWake => {}
        _ => unreachable!("`own` has the others"),
    }
}

/// The number of a thread's name; an idle task has the CPU's.
#[inline]
fn name(names: &mut Names, texts: &mut Texts, (pid, comm): (i32, &str), cpu: u32) -> Text {
    let who = Who { comm, pid, prio: 0 };
    names.know(who, cpu, |who| texts.of(who.comm));
    *names.get(who, cpu)
}

/// Names of quantities, in the order of `quantity`.
const QUANTITIES: [&str; 8] = [
    "utilisation",
    "capacity",
    "energy",
    "power",
    "temperature",
    "cluster_idle",
    "online",
    "overutilized",
];

/// Place of the name, and index (a CPU's or a cluster's) of a quantity.
fn quantity(counter: Counter) -> (usize, u32) {
    match counter {
        Counter::Util(cpu) => (0, cpu),
        Counter::Capacity(cpu) => (1, cpu),
        Counter::Energy(cluster) => (2, cluster),
        Counter::Power(cluster) => (3, cluster),
        Counter::Temperature(cluster) => (4, cluster),
        Counter::ClusterIdle(cluster) => (5, cluster),
        Counter::Online(cpu) => (6, cpu),
        Counter::Overutilized => (7, 0),
    }
}

impl Sink for Parquet {
    /// A row in the table of the event's kind.
    fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        let names = &mut self.names;
        self.events[place(&event.kind)].row(&mut self.texts, |row, texts| {
            let mut cells = Cells {
                row,
                texts,
                names,
                cpu: event.context.cpu,
            };
            cells.common(event.time_ns, &event.context);
            cells.own(&event.kind);
        })
    }

    /// A row in `counters`.
    fn counter(&mut self, time_ns: u64, counter: Counter, value: f64) -> io::Result<()> {
        let (place, index) = quantity(counter);
        let name = self.words.quantities[place];
        self.counters.row(&mut self.texts, |row, _| {
            row.unsigned(time_ns).text(name).whole(index).real(value);
        })
    }

    /// A row in `decisions`.
    fn decision(&mut self, time_ns: u64, decision: &Decision<'_>) -> io::Result<()> {
        let placement = decision.placement;
        let kind = match placement.kind {
            PlacementKind::Wake => 0,
            PlacementKind::Fork => 1,
            PlacementKind::Exec => 2,
        };
        let kind = self.words.kinds[kind];
        let reason = self.words.reasons[placement.reason.index()];
        let who = (decision.pid, decision.comm);
        let name = name(&mut self.names, &mut self.texts, who, placement.cpu);
        self.decisions.row(&mut self.texts, |row, _| {
            row.unsigned(time_ns).whole(decision.pid).text(name);
            row.text(kind).text(reason);
            row.whole(placement.cpu).whole(placement.prev_cpu);
            row.whole(placement.waker_cpu).whole(decision.waker);
            row.whole(placement.util).unsigned(placement.dur_avg_ns);
        })
    }

    /// A row in `metrics`: value and unit as results have them.
    fn metric(&mut self, name: &str, value: f64, unit: &str) -> io::Result<()> {
        self.metrics.row(&mut self.texts, |row, texts| {
            row.text(texts.of(name)).real(value).text(texts.of(unit));
        })
    }

    /// Writes what waits and ends all tables.
    fn finish(&mut self) -> io::Result<()> {
        let more = [&mut self.counters, &mut self.decisions, &mut self.metrics];
        let mut tables = self.events.iter_mut().chain(more);
        tables.try_for_each(|table| table.finish(&mut self.texts))
    }
}
