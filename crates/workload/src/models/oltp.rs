//! `oltp`: clients in a closed loop, a server thread each, row locks, and a log with group commit
//! (docs/decisions/025).
//!
//! Called by `models/mod.rs` for its name. The order of draws and of locks stays. Work is ns at
//! full speed; times of the disk are assumed.
//!
//! What must stay: rows are locked in ascending order and held to the commit, so no run gets stuck;
//! mutex 0 is the log's; one write of the log releases all who wait. Free: what leaves scripts as
//! they are (ARCHITECTURE.md, "What a change may touch"), and words of messages that no test
//! quotes. Tests by part: `oltp_transactions_are_statements` (`client`, `server`, `commit`,
//! `draw_rows`), `oltp_writers_of_the_log_release_all` (`log_writer`),
//! `coarse_models_say_so_and_draw_by_the_seed` (draws), `wrong_values_say_their_range` (`load`),
//! played.rs::`commits_share_writes_of_the_log` (`commit`, in time),
//! played.rs::`clients_that_write_the_same_rows_wait_for_each_other` (row locks), the first also
//! `expand`. `of_process` has no test of its own.
//!
//! Tests: crates/workload/tests/all/coarse_models.rs, crates/workload/tests/all/played.rs
use super::builder::Builder;
use super::carrier::Carrier;
use super::draw::Spread;
use super::grouping::{GROUPING, grouped};
use super::limits::{CPU_BURST, CPU_MAX};
use super::measures::{per_second, record, sysbench_latency};
use super::tasks::{endless, lock, once, phase, post, unlock, wait};
use super::values::Values;
use super::work::{Share, work};
use super::working_set::{WORKING_SET, with_sets};
use super::{Model, ModelInfo, parameters};
use crate::error::WorkloadError;
use crate::script::{Event, Loops, TaskScript, Workload};
use crate::{MachineFacts, Stream};
use std::sync::Arc;

/// The catalogue entry.
pub(crate) const INFO: ModelInfo = ModelInfo {
    name: "oltp",
    also: &["mysql", "postgres", "pgbench", "database", "sysbench-oltp"],
    summary: "coarse: clients in a closed loop with a database thread each, row locks and a log \
              with group commit",
    parameters: parameters! {
        "clients", "1..=2000", "16", "number of clients";
        "statements", "numbers, 6 to 100", "18-20",
            "statements of a transaction, drawn; the last one commits";
        "client", "times, 1us to 100ms", "20us-50us",
            "CPU time of a client per statement, drawn, on the biggest CPU";
        "server", "times, 1us to 100ms", "50us-300us",
            "CPU time of a server thread per statement, drawn";
        "log", "times, 1us to 1s", "1ms-10ms", "time the disk needs for a write of the log, drawn";
        "rows", "4..=100000", "10000",
            "rows that writing statements lock until the commit, drawn evenly; assumed";
        "memory", "0%..=100%", "30%",
            "share of the servers' CPU time that waits for memory; assumed";
        WORKING_SET;
        "warmup", "time from 0ns to 1000s", "500ms", "transactions count from then on; assumed";
        GROUPING; CPU_MAX; CPU_BURST;
    },
    metric: "throughput_per_s",
    source: "sysbench OLTP with a database; structure and ranges of \
             docs/rules/workloads.md#other-benchmarks",
};

/// Transactions that a client and its server draw; they repeat them over and over.
const CYCLE: usize = 8;

/// Statements of a transaction that write, those before the last one: sysbench's two updates, a
/// deletion and an insertion. Assumed for other databases.
const WRITES: usize = 4;

/// Writes of the log that the writer draws.
const LOG_CYCLE: usize = 64;

/// A validated argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Oltp {
    clients: u32,
    statements: Spread,
    client: Spread,
    server: Spread,
    log: Spread,
    rows: u32,
    memory: Share,
    warm_up_ns: u64,
}

/// Reads `oltp:key=value,...`.
pub(super) fn load(argument: &str) -> Result<Arc<dyn Model>, WorkloadError> {
    const STATEMENT_NS: std::ops::RangeInclusive<u64> = 1_000..=100_000_000;
    let values = Values::read(argument, &INFO)?;
    let model = Oltp {
        clients: values.number("clients", 1..=2_000)?,
        statements: values.numbers("statements", 6..=100)?,
        client: values.times("client", STATEMENT_NS)?,
        server: values.times("server", STATEMENT_NS)?,
        log: values.times("log", 1_000..=1_000_000_000)?,
        rows: values.number("rows", 4..=100_000)?,
        memory: values.share("memory")?,
        warm_up_ns: values.time_from_zero_ns("warmup")?,
    };
    let model = with_sets(&values, model)?;
    grouped(argument, &values, model, |name| !name.starts_with("client"))
}

/// What all clients and servers share.
#[derive(Clone, Copy, Debug)]
struct Database {
    /// The log's mutex.
    log: u32,
    /// The first row's mutex.
    rows: u32,
    /// Condition: there is something to write.
    pending: u32,
    /// Condition: it is written.
    written: u32,
    /// Times of transactions.
    latency: u32,
}

/// A client and its server: their transactions' numbers of statements, and the channels from one
/// to the other and back.
#[derive(Debug)]
struct Session {
    statements: Vec<u64>,
    ask: u32,
    ack: u32,
}

/// The server's part of a commit. It holds the log's mutex from its signal until it waits, so no
/// signal of the writer can come between. Who commits while the log is being written is done with
/// that write: up to one write earlier than in a database (the model is coarse here).
fn commit(database: Database) -> [Event; 4] {
    let mutex = Some(database.log);
    [
        lock(database.log),
        Event::Signal {
            condition: database.pending,
            all: false,
        },
        Event::Await {
            condition: database.written,
            mutex,
        },
        unlock(database.log),
    ]
}

impl Oltp {
    /// A client: statements one after the other; a transaction is one event of the benchmark.
    fn client(&self, name: String, seed: u64, session: &Session, latency: u32) -> TaskScript {
        let mut stream = Stream::for_task(seed, &name);
        let mut events = Vec::new();
        for &transaction in &session.statements {
            events.push(Event::Mark);
            for _ in 0..transaction {
                events.extend(work(self.client.draw(&mut stream), Share::NONE));
                events.extend([post(session.ask), wait(session.ack)]);
            }
            events.extend(record(latency));
        }
        endless(name, events)
    }

    /// Its server thread: row locks in ascending order, so that nobody waits in a circle, and held
    /// until the commit is on the disk.
    fn server(&self, name: String, seed: u64, session: &Session, database: Database) -> TaskScript {
        let mut stream = Stream::for_task(seed, &name);
        let mut events = Vec::new();
        for &transaction in &session.statements {
            let rows = self.draw_rows(&mut stream, database.rows);
            let last = transaction as usize - 1;
            for statement in 0..=last {
                events.push(wait(session.ask));
                let write = statement.checked_sub(last - WRITES);
                events.extend(write.and_then(|nth| rows.get(nth)).map(|row| lock(*row)));
                events.extend(work(self.server.draw(&mut stream), self.memory));
                if statement == last {
                    events.extend(commit(database));
                    events.extend(rows.iter().map(|row| unlock(*row)));
                }
                events.push(post(session.ack));
            }
        }
        endless(name, events)
    }

    /// Mutexes of the rows that a transaction writes, ascending, each once.
    fn draw_rows(&self, stream: &mut Stream, first: u32) -> Vec<u32> {
        let mut rows = Vec::with_capacity(WRITES);
        while rows.len() < WRITES {
            // Below 100000.
            let row = first + stream.below(u64::from(self.rows)) as u32;
            if let Err(at) = rows.binary_search(&row) {
                rows.insert(at, row);
            }
        }
        rows
    }

    /// The log's writer: all that wait when a write ends are done with it.
    fn log_writer(&self, seed: u64, database: Database) -> TaskScript {
        let name = "log-writer".to_owned();
        let mut stream = Stream::for_task(seed, &name);
        let mut events = Vec::new();
        for _ in 0..LOG_CYCLE {
            let duration_ns = self.log.draw(&mut stream);
            let mutex = database.log;
            events.extend([
                Event::Await {
                    condition: database.pending,
                    mutex: Some(mutex),
                },
                unlock(mutex),
                Event::Io { duration_ns },
                lock(mutex),
                Event::Signal {
                    condition: database.written,
                    all: true,
                },
            ]);
        }
        let mut cycle = phase("log", 1, events);
        cycle.loops = Loops::Forever;
        once(name, vec![phase("start", 1, [lock(database.log)]), cycle])
    }
}

/// Processes: the database, and who asks it.
const SERVER: u32 = 0;
const CLIENTS: u32 = 1;

/// The task as a thread of that process.
fn of_process(process: u32, mut task: TaskScript) -> TaskScript {
    task.attributes.process = Some(process);
    task
}

impl Model for Oltp {
    /// The scripts: the log's writer, then each client with its server thread.
    fn expand(
        &self,
        argument: &str,
        seed: u64,
        _: MachineFacts<'_>,
    ) -> Result<Workload, WorkloadError> {
        let mut builder = Builder::new(argument);
        let database = Database {
            log: builder.mutex("log".to_owned()),
            rows: builder.mutexes(self.rows, |row| format!("row {row}")),
            pending: builder.condition("commits are pending".to_owned()),
            written: builder.condition("the log is written".to_owned()),
            latency: builder.series(sysbench_latency(self.warm_up_ns)),
        };
        builder.task(of_process(SERVER, self.log_writer(seed, database)));
        for index in 0..self.clients {
            let (client, server) = (format!("client-{index}"), format!("server-{index}"));
            // Both need the numbers: a stream of the pair.
            let mut stream = Stream::for_task(seed, &format!("{client}/statements"));
            let numbers = (0..CYCLE).map(|_| self.statements.draw(&mut stream));
            let session = Session {
                statements: numbers.collect(),
                ask: builder.channel(format!("{client} to {server}"), Carrier::Unix),
                ack: builder.channel(format!("{server} to {client}"), Carrier::Unix),
            };
            let client = self.client(client, seed, &session, database.latency);
            builder.task(of_process(CLIENTS, client));
            let server = self.server(server, seed, &session, database);
            builder.task(of_process(SERVER, server));
        }
        builder.count(self.warm_up_ns, [per_second()]);
        Ok(builder.finish())
    }
}
