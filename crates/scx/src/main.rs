// SPDX-License-Identifier: GPL-2.0-only
//! `scx_wakeplace`: loads the placement policy core into the kernel and stays until it is told to
//! go, or the kernel throws it out; then the kernel's own scheduler is in force again.
//!
//! Exit codes: 0 ok, 1 the kernel ended it with an error, 2 usage or bad input, 3 this machine
//! cannot (docs/guide/live.md, "Run").
//!
//! What must stay: exit codes, and what goes to standard output (data) or standard error (words).
//! Free: words for people.
//!
//! Tests by part: guest.sh (`killed`: exit codes of bad input; set-unknown, set-as-nobody),
//! scripts/live/systemd.sh (wrong-options, occupied: codes that the unit does not try again).
//! `main`, `run` and `print` have no test without a kernel. `environment` has no test of its own.
//!
//! Tests: crates/scx/tests/parity, beside its modules

mod args;
mod client;
mod control;
mod follow;
mod live;
mod machine;
mod metrics;
mod notify;
mod preflight;
mod schedule;
mod stats;
mod wanted;

use args::{Cli, Command};
use clap::Parser;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

/// A message for the user and the exit code that goes with it.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) message: String,
    pub(crate) code: u8,
}

impl Failure {
    /// What the user gave cannot be.
    pub(crate) fn input(message: impl ToString) -> Self {
        Self {
            message: message.to_string(),
            code: 2,
        }
    }

    /// This machine cannot.
    pub(crate) fn environment(message: impl ToString) -> Self {
        Self {
            message: message.to_string(),
            code: 3,
        }
    }
}

/// Prints a failure and ends with its code.
fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(&cli) {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            let message = wakeplace_text::printable_lines(&failure.message);
            anstream::eprintln!("scx_wakeplace: {message}");
            ExitCode::from(failure.code)
        }
    }
}

/// Carries out the command; the exit code.
fn run(cli: &Cli) -> Result<u8, Failure> {
    let text = match &cli.command {
        Some(Command::Set { changes }) => client::set(&cli.socket, changes)?,
        Some(Command::Status { format }) => client::status(&cli.socket, *format)?,
        Some(Command::Completions { shell }) => args::completions(*shell),
        Some(Command::Man { folder }) => {
            let wrong = |error| Failure::input(format!("{}: {error}", folder.display()));
            args::write_man(folder).map_err(wrong)?;
            return Ok(0);
        }
        None if cli.run.help_stats => stats::help(),
        None => match cli.run.monitor {
            Some(every_s) => return stats::monitor(Path::new(stats::PATH), every_s, &mut print),
            None => return schedule::run(cli),
        },
    };
    // A reader that has gone has what it wanted.
    let _ = print(&text);
    Ok(0)
}

/// To standard output, at once.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}
