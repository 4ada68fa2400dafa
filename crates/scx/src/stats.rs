// SPDX-License-Identifier: GPL-2.0-only
//! Statistics as the scx tools read them: their protocol (crate `scx_stats`) on their socket, one
//! line each way, as many requests per connection as the reader likes. The server is ours: theirs
//! takes lines of any length from any number of clients (docs/guide/live.md, "Watch").
//!
//! What must stay: the protocol is the crate `scx_stats`' own; names of fields are described by
//! `meta`. Free: further fields, each described.
//!
//! Tests by part (crates/scx/src/stats/tests.rs): `the_client_of_the_scx_tools_reads_it`
//! (`Server::bind`, `serve`, `answer`, `sample`, `done`, `response`),
//! `every_field_that_is_published_is_described` (`meta`, `help`),
//! `what_it_does_not_know_is_an_error_of_the_protocol` (`refused`), `a_gigabyte_is_refused`
//! (`serve`), `a_monitor_prints_until_the_scheduler_ends` (`monitor`, `absent`),
//! `blocks_come_at_their_times` (`Printer`, `is_due`, `block`). `refusal` and `new` have no test of
//! their own.
//!
//! Callers: schedule.rs (`Server::bind`, `Printer`), main.rs (`monitor`, `help`).
//!
//! Tests: below

mod text;

use crate::Failure;
use crate::control::lines::{Lines, Listening, MAX_REQUEST, PATIENCE, Service, send};
use crate::control::socket::{self, Access, Socket, SocketError};
use crate::control::{Answer, Asker, Request, line};
use crate::live::Snapshot;
use crate::metrics::{Metrics, Part, Sample};
use scx_stats::{Meta, StatsClient, StatsMeta, StatsRequest, StatsResponse, StatsServerData};
use serde_json::Value;
use std::collections::BTreeMap;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

pub(crate) use text::block;

/// Where the scx tools look.
pub(crate) const PATH: &str = "/var/run/scx/root/stats";

/// A reader may look once a day (`--monitor 86400`); after two days without a word it has gone.
const IDLE: Duration = Duration::from_secs(2 * 86_400);

/// A scheduler that takes longer to answer has gone.
const ANSWER_MS: u64 = 3 * PATIENCE.as_secs() * 1000;

/// The descriptions of all that is published, by type name.
fn meta() -> BTreeMap<String, StatsMeta> {
    let all = [Metrics::meta(), Part::meta()];
    all.map(|meta| (meta.name.clone(), meta)).into()
}

/// `--help-stats`.
pub(crate) fn help() -> String {
    let data = StatsServerData::<(), ()>::new()
        .add_meta(Metrics::meta())
        .add_meta(Part::meta());
    let mut text = Vec::new();
    let described = data.describe_meta(&mut text, None);
    described.expect("every type that is named is described");
    String::from_utf8_lossy(&text).into_owned()
}

/// Listens on the statistics socket; dropped, the socket is gone.
pub(crate) struct Server {
    _listening: Listening,
}

impl Server {
    /// Its socket takes the name from whoever had it, as the scx tools' servers do.
    pub(crate) fn bind(path: &Path, asker: Asker) -> Result<Self, SocketError> {
        let access = Access {
            mode: 0o600,
            group: None,
        };
        let socket = Socket::replace(path, access)?;
        Ok(Self {
            _listening: Listening::start(socket, Reader { asker })?,
        })
    }
}

struct Reader {
    asker: Asker,
}

impl Service for Reader {
    /// Requests of one reader until it goes, or is silent for too long.
    fn serve(&self, stream: &UnixStream) {
        let mut lines = Lines::new(stream, MAX_REQUEST);
        let mut before = None;
        loop {
            let response = match lines.next(IDLE) {
                Ok(Some(request)) => self.answer(&request, &mut before),
                Ok(None) => return,
                Err(error) => {
                    let _ = send(stream, &line(&refused(&error.to_string())), PATIENCE);
                    return;
                }
            };
            if send(stream, &line(&response), PATIENCE).is_err() {
                return;
            }
        }
    }

    /// The answer to one who may not ask.
    fn refusal(&self, why: &str) -> Vec<u8> {
        line(&refused(why))
    }
}

impl Reader {
    /// Answers one request; keeps what the next one is compared with.
    fn answer(&self, request: &[u8], before: &mut Option<Snapshot>) -> StatsResponse {
        let request: StatsRequest = match serde_json::from_slice(request) {
            Ok(request) => request,
            Err(error) => return refused(&format!("no request: {error}")),
        };
        let target = request.args.get("target").map(String::as_str);
        match (request.req.as_str(), target) {
            ("stats", None | Some("top")) => match self.sample() {
                Ok(sample) => {
                    let metrics = Metrics::between(before.as_ref(), &sample);
                    *before = Some(sample.snapshot);
                    done(serde_json::to_value(metrics))
                }
                Err(refusal) => refused(&refusal.error),
            },
            ("stats", Some(other)) => refused(&format!("no target `{other}`; known: top")),
            ("stats_meta", _) => done(serde_json::to_value(meta())),
            (other, _) => refused(&format!("no request `{other}`; known: stats, stats_meta")),
        }
    }

    /// All counters, from the main loop.
    fn sample(&self) -> Answer {
        self.asker.ask(Request::Status {})
    }
}

/// A value in the tools' form.
fn done(value: serde_json::Result<Value>) -> StatsResponse {
    match value {
        Ok(value) => response(0, value),
        Err(error) => refused(&error.to_string()),
    }
}

/// EINVAL with the reason.
fn refused(why: &str) -> StatsResponse {
    response(libc::EINVAL, Value::from(why))
}

/// The tools' envelope: errno, and the value as `resp`.
fn response(errno: i32, value: Value) -> StatsResponse {
    StatsResponse {
        errno,
        args: BTreeMap::from([("resp".to_owned(), value)]),
    }
}

/// `--stats`: says how it went since it last did so.
pub(crate) struct Printer {
    every_ns: u64,
    before: Option<Snapshot>,
    next_ns: u64,
}

impl Printer {
    /// Blocks every so many seconds; the first one after that time.
    pub(crate) fn new(every_s: f64, now_ns: u64) -> Self {
        let every_ns = (every_s * 1e9) as u64;
        Self {
            every_ns,
            before: None,
            next_ns: now_ns + every_ns,
        }
    }

    /// True if it is time for another block.
    pub(crate) fn is_due(&self, now_ns: u64) -> bool {
        now_ns >= self.next_ns
    }

    /// The block of the time since the last one. What was missed (the machine slept) is one block.
    pub(crate) fn block(&mut self, sample: &Sample) -> String {
        let now_ns = sample.snapshot.at_ns;
        while self.next_ns <= now_ns {
            let missed = (now_ns - self.next_ns) / self.every_ns;
            self.next_ns += (missed + 1) * self.every_ns;
        }
        let metrics = Metrics::between(self.before.as_ref(), sample);
        self.before = Some(sample.snapshot.clone());
        block(&metrics)
    }
}

/// `--monitor`: prints how another process's scheduler goes, until it ends.
pub(crate) fn monitor(
    path: &Path,
    every_s: f64,
    print: &mut dyn FnMut(&str) -> std::io::Result<()>,
) -> Result<u8, Failure> {
    // Whose socket it is; the client of the scx tools does not look.
    drop(socket::connect(path).map_err(|error| absent(path, &error))?);
    let mut client = StatsClient::new()
        .set_path(path)
        .connect(Some(ANSWER_MS))
        .map_err(|error| Failure::environment(format!("{}: {error}", path.display())))?;
    let mut seen = false;
    loop {
        match client.request::<Metrics>("stats", Vec::new()) {
            Ok(metrics) => {
                // A reader that has gone (`| head`) needs no more.
                if print(&block(&metrics)).is_err() {
                    return Ok(0);
                }
            }
            Err(error) if !seen => {
                let text = format!("{}: no wakeplace statistics: {error:#}", path.display());
                return Err(Failure::environment(text));
            }
            Err(_) => {
                anstream::eprintln!("scx_wakeplace: the scheduler has ended");
                return Ok(0);
            }
        }
        seen = true;
        std::thread::sleep(Duration::from_secs_f64(every_s));
    }
}

/// No scheduler answers there.
fn absent(path: &Path, error: &SocketError) -> Failure {
    crate::client::unreachable(path, error)
}

#[cfg(test)]
mod tests;
