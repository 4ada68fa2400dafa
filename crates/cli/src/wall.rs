//! Commands with schedulers run behind the wall: this process writes their files and says how they
//! ended, another one that has no rights runs them (`wakeplace_foreign::wall`). See
//! docs/guide/schedulers.md, "How it ends".
//!
//! What must stay: the process that runs a stranger's code has no place of a file; it asks this
//! one, which opens only the `outputs` that the command line named. The kernel's type information
//! is fetched before rights are given up. Bytes of results are those of a run without the wall.
//! Tests by part: crates/cli/tests/all/wall.rs::`results_and_traces_are_written_through_the_wall`
//! (`behind`, `Written`), wall.rs::`a_broken_run_is_an_outcome` (`Broken`),
//! wall.rs::`a_guard_that_is_killed_ends_the_run` (`Ended`),
//! wall.rs::`nothing_of_a_loader_outlives_the_run` (signals).
//!
//! Tests: crates/cli/tests/all/wall.rs

use crate::args::SchedulerArgs;
use crate::commands::schedulers::{self, Asked};
use crate::failure::{Failure, Outcome, Verdict};
use crate::interrupt;
use crate::terminal::Terminal;
use std::io;
use std::os::fd::AsFd as _;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use wakeplace_files::{Desk, Request, write_elsewhere};
use wakeplace_foreign::wall::{self, Wire};

/// Writes what the worker asks for.
struct Written(Desk);

impl wall::Files for Written {
    /// Answers one request for a file of the process that has no rights; an end of the pipe is an
    /// error.
    fn serve(&mut self, wire: &mut Wire) -> io::Result<()> {
        let asked = wire.receive::<Request>()?;
        let (asked, _) = asked.ok_or(io::ErrorKind::UnexpectedEof)?;
        let (reply, file) = self.0.carry_out(asked);
        wire.send(&reply, file.as_ref().map(|file| file.as_fd()))
    }
}

/// Runs a command that may start the schedulers that are asked for, and may write `outputs`; `jobs`
/// runs go on at the same time. Without a scheduler it runs here.
pub(crate) fn behind(
    args: &SchedulerArgs,
    jobs: usize,
    outputs: Vec<PathBuf>,
    terminal: Terminal,
    command: impl FnOnce(Option<&Asked>) -> Outcome,
) -> Outcome {
    let images = schedulers::images(args)?;
    if images.is_empty() {
        return command(None);
    }
    let mut watched = Ok(());
    let mut files = Written(Desk::new(outputs));
    let ready = || watched = interrupt::watch();
    match wall::run(&images, jobs, &mut files, ready).map_err(Failure::input)? {
        wall::Outcome::Worker(wire) => {
            // It may be fetched: the last thing that needs rights.
            let kernel = schedulers::kernel(args.kernel.as_deref(), terminal)?;
            let wire = Mutex::new(wire);
            write_elsewhere(move |request| {
                let mut wire = wire.lock().unwrap_or_else(PoisonError::into_inner);
                wire.ask(request)
            });
            command(Some(&Asked { images, kernel }))
        }
        wall::Outcome::Ended(code) => watched.map(|()| Verdict::OfWorker(code)),
        wall::Outcome::Broken(why) => Err(Failure::NoResult(format!(
            "the run with the scheduler has no result: {why}"
        ))),
    }
}
