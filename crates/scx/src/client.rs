// SPDX-License-Identifier: GPL-2.0-only
//! `set` and `status`: speaks to the scheduler that runs (docs/guide/live.md, "Steer").
//!
//! What must stay: exit codes (docs/guide/live.md), and JSON of `status` as docs/guide/live.md has
//! it. Free: words of the text for people.
//!
//! Tests by part: crates/scx/src/control/tests.rs::`it_is_changed_while_it_runs` (`set`, `status`,
//! `ask`, `in_force`), control/tests.rs::`a_slip_names_the_nearest_and_changes_nothing` (`set`),
//! control/tests.rs::`nobody_there_says_how_to_start_it` (`unreachable`), guest.sh (set-unknown,
//! set-as-nobody, status-json: exit codes).
//!
//! Callers: main.rs (the two commands), stats.rs (`unreachable`).
//!
//! Tests: scripts/live/guest.sh

use crate::Failure;
use crate::args::Format;
use crate::control::lines::{Lines, PATIENCE, send};
use crate::control::socket::{self, SocketError};
use crate::control::{Reply, Request, line};
use crate::metrics::{Status, openmetrics, prometheus};
use crate::stats;
use crate::wanted;
use std::fmt::Write;
use std::io::ErrorKind;
use std::path::Path;

/// Longest answer: 512 CPUs, each its own class and domain, stay below it.
const MAX_REPLY: usize = 8 * 1024 * 1024;

/// Changes the scheduler that runs; returns what is then in force, in words.
pub(crate) fn set(path: &Path, changes: &[String]) -> Result<String, Failure> {
    let pair = |text: &String| {
        let (key, value) = wanted::split(text).map_err(Failure::input)?;
        Ok((key.to_owned(), value.to_owned()))
    };
    let changes = changes.iter().map(pair).collect::<Result<_, _>>()?;
    let status = ask(path, &Request::Set { changes })?;
    Ok(in_force(&status))
}

/// What it is doing, as asked for.
pub(crate) fn status(path: &Path, format: Format) -> Result<String, Failure> {
    let status = ask(path, &Request::Status {})?;
    Ok(match format {
        Format::Openmetrics => openmetrics::text(&status),
        Format::Prometheus => prometheus::text(&status),
        Format::Text => format!("{}{}", in_force(&status), stats::block(&status.totals)),
        Format::Json => {
            let json = serde_json::to_string_pretty(&status);
            json.map_err(Failure::environment)? + "\n"
        }
    })
}

/// What the scheduler answered, in one line.
fn in_force(status: &Status) -> String {
    let mut text = format!("policy {}, mode {}", status.policy, status.mode);
    for (key, value) in &status.parameters {
        let _ = write!(text, ", {key}={value}");
    }
    let _ = write!(text, " ({}; ", status.machine);
    let _ = match &status.energy_model {
        Some(model) => writeln!(text, "energy model: {model})"),
        None => writeln!(text, "no energy model)"),
    };
    text
}

/// Sends one request to the scheduler's socket and waits for the answer.
fn ask(path: &Path, request: &Request) -> Result<Status, Failure> {
    let stream = socket::connect(path).map_err(|error| unreachable(path, &error))?;
    let broken = |error: std::io::Error| {
        let why = match error.kind() {
            ErrorKind::TimedOut => "no answer in time".to_owned(),
            _ => error.to_string(),
        };
        Failure::environment(format!("{}: {why}", path.display()))
    };
    // A server that refuses does not listen any more, but has answered.
    let sent = send(&stream, &line(request), PATIENCE);
    let reply = Lines::new(&stream, MAX_REPLY).next(2 * PATIENCE);
    let reply = match (reply, sent) {
        (Ok(Some(reply)), _) => reply,
        (_, Err(error)) | (Err(error), Ok(())) => return Err(broken(error)),
        (Ok(None), Ok(())) => return Err(broken(ErrorKind::UnexpectedEof.into())),
    };
    match serde_json::from_slice(&reply) {
        Ok(Reply::Done { status }) => Ok(*status),
        Ok(Reply::Refused(refusal)) => Err(Failure {
            message: refusal.error,
            code: refusal.code,
        }),
        Err(error) => Err(Failure::environment(format!(
            "{}: no answer of this version's scx_wakeplace: {error}",
            path.display()
        ))),
    }
}

/// No server that may be spoken to: what to do about it.
pub(crate) fn unreachable(path: &Path, error: &SocketError) -> Failure {
    let kind = match error {
        SocketError::Io { error, .. } => Some(error.kind()),
        _ => None,
    };
    let text = match kind {
        Some(ErrorKind::NotFound | ErrorKind::ConnectionRefused) => format!(
            "no scx_wakeplace runs here (nobody listens at {}); start it with `sudo \
             scx_wakeplace`, or say where it listens with --socket",
            path.display()
        ),
        Some(ErrorKind::PermissionDenied) => format!(
            "{error}: only root may speak to it, or with --socket-group and --socket-mode 0660 \
             of the scheduler a group; try sudo"
        ),
        _ => error.to_string(),
    };
    Failure::environment(text)
}
