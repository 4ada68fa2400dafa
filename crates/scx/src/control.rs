// SPDX-License-Identifier: GPL-2.0-only
//! The control socket: what a running scheduler is asked, by whom, and how it answers.
//!
//! One JSON object on one line each way, one request per connection. Requests reach the main loop,
//! which owns the scheduler, through a channel; nothing here touches it (docs/guide/live.md,
//! "Steer").
//!
//! What must stay: one JSON object a line, keys of requests and answers (docs/guide/live.md): other
//! programs speak to it. Free: words of reasons, but for those that tests quote.
//!
//! Tests by part (crates/scx/src/control/tests.rs): `it_is_changed_while_it_runs` (`bind`, `serve`,
//! `ask`, `answer`, `channel`, `line`), `what_is_no_request_is_answered_with_a_reason` (`request`),
//! `a_client_that_says_nothing_is_sent_away_and_keeps_nobody_waiting` (`serve`),
//! `a_hundred_clients_are_served_or_told_to_come_again` (`refusal`),
//! `the_end_takes_the_socket_away_and_a_busy_main_loop_is_not_waited_for` (`Server`, `ask`).
//!
//! Callers: schedule.rs (`bind`, `channel`; it answers), stats.rs (`Asker`), client.rs (`line`).
//!
//! Tests: below

pub(crate) mod lines;
pub(crate) mod socket;

use crate::metrics::{Sample, Status};
use lines::{Lines, Listening, MAX_REQUEST, PATIENCE, Service};
use serde::{Deserialize, Serialize};
use socket::{Access, Socket, SocketError};
use std::io::ErrorKind;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::mpsc::{self, Receiver, Sender};

/// Asks that wait for the main loop; more than that and clients wait, each with its time-out.
const MAX_ASKS: usize = 2 * lines::MAX_CLIENTS;

/// What a client wants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum Request {
    /// What it is doing.
    Status {},
    /// Change it: all of these or none.
    Set {
        /// Keys with their values, applied in order.
        changes: Vec<(String, String)>,
    },
}

/// A request on its way to the main loop.
#[derive(Debug)]
pub(crate) struct Ask {
    pub(crate) request: Request,
    answer: Sender<Answer>,
}

impl Ask {
    /// A client that has gone needs no answer.
    pub(crate) fn answer(&self, answer: Answer) {
        let _ = self.answer.send(answer);
    }
}

/// What the main loop says: how things stand now, after the change if there was one.
pub(crate) type Answer = Result<Box<Sample>, Refusal>;

/// Why something was not done, and the exit code of the client for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Refusal {
    pub(crate) error: String,
    pub(crate) code: u8,
}

/// The line that answers a request.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Reply {
    /// How things stand.
    Done {
        /// After the change.
        status: Box<Status>,
    },
    /// It was not done.
    Refused(Refusal),
}

/// Where asks come out.
pub(crate) type Asks = Receiver<Ask>;

/// Where threads put their asks.
#[derive(Clone, Debug)]
pub(crate) struct Asker(mpsc::SyncSender<Ask>);

impl Asker {
    /// Waits for the main loop's answer.
    pub(crate) fn ask(&self, request: Request) -> Answer {
        let (answer, answered) = mpsc::channel();
        let failed = |error: String| Refusal { error, code: 1 };
        let late = match request {
            Request::Status {} => "",
            Request::Set { .. } => "; the change may still come: look at `status`",
        };
        self.0
            .try_send(Ask { request, answer })
            .map_err(|_| failed("the scheduler is ending, or too many ask at once".to_owned()))?;
        let late = |_| failed(format!("no answer within {} s{late}", PATIENCE.as_secs()));
        answered.recv_timeout(PATIENCE).map_err(late)?
    }
}

/// The channel between servers and the main loop.
pub(crate) fn channel() -> (Asker, Asks) {
    let (asker, asks) = mpsc::sync_channel(MAX_ASKS);
    (Asker(asker), asks)
}

/// Listens on the control socket; dropped, the socket is gone.
pub(crate) struct Server {
    _listening: Listening,
}

impl Server {
    /// Listens at this path, with these permissions and group.
    pub(crate) fn bind(
        path: &Path,
        mode: u32,
        group: Option<&str>,
        asker: Asker,
    ) -> Result<Self, SocketError> {
        let group = group.map(socket::group_number).transpose()?;
        let socket = Socket::bind(path, Access { mode, group })?;
        Ok(Self {
            _listening: Listening::start(socket, Control { asker })?,
        })
    }
}

struct Control {
    asker: Asker,
}

impl Service for Control {
    /// One request and its answer; a client that says nothing gets none.
    fn serve(&self, stream: &UnixStream) {
        let reply = match request(stream) {
            Ok(Some(request)) => match self.asker.ask(request) {
                Ok(sample) => Reply::Done {
                    status: Box::new(Status::new(&sample)),
                },
                Err(refusal) => Reply::Refused(refusal),
            },
            Ok(None) => return,
            Err(error) => Reply::Refused(Refusal { error, code: 2 }),
        };
        let _ = lines::send(stream, &line(&reply), PATIENCE);
    }

    /// The answer to one who may not ask, or comes when too many do.
    fn refusal(&self, why: &str) -> Vec<u8> {
        let error = why.to_owned();
        line(&Reply::Refused(Refusal { error, code: 3 }))
    }
}

/// Makes a request or answer one line of JSON.
pub(crate) fn line(value: &impl Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(value).expect("text keys and finite numbers");
    line.push(b'\n');
    line
}

/// What the client asks; `None` if it has gone without a word.
fn request(stream: &UnixStream) -> Result<Option<Request>, String> {
    let line = Lines::new(stream, MAX_REQUEST).next(PATIENCE);
    let line = line.map_err(|error| match error.kind() {
        ErrorKind::TimedOut => format!("no request within {} s", PATIENCE.as_secs()),
        ErrorKind::InvalidData => format!("request refused: {error}"),
        ErrorKind::UnexpectedEof => "the request ended before its line did".to_owned(),
        _ => error.to_string(),
    })?;
    let Some(line) = line else { return Ok(None) };
    let request = serde_json::from_slice(&line).map_err(|error| {
        format!(
            "no request: {error}; expected {{\"request\":\"status\"}} or \
             {{\"request\":\"set\",\"changes\":[[KEY,VALUE],...]}}"
        )
    })?;
    Ok(Some(request))
}

#[cfg(test)]
mod tests;
