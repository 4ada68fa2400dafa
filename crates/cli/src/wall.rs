//! Commands with schedulers run behind the wall: this process writes their files and says how they
//! ended, another one that has no rights runs them (`wakeplace_foreign::wall`).

use crate::failure::{Failure, Outcome, Verdict};
use crate::interrupt;
use std::io;
use std::os::fd::AsFd as _;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use wakeplace_files::{Desk, Request, write_elsewhere};
use wakeplace_foreign::Image;
use wakeplace_foreign::wall::{self, Wire};

/// Writes what the worker asks for.
struct Written(Desk);

impl wall::Files for Written {
    fn serve(&mut self, wire: &mut Wire) -> io::Result<()> {
        let asked = wire.receive::<Request>()?;
        let (asked, _) = asked.ok_or(io::ErrorKind::UnexpectedEof)?;
        let (reply, file) = self.0.carry_out(asked);
        wire.send(&reply, file.as_ref().map(|file| file.as_fd()))
    }
}

/// Runs a command that may start `images`, and may write `outputs`. Without images it runs here.
pub(crate) fn behind(
    images: Vec<Image>,
    jobs: usize,
    outputs: Vec<PathBuf>,
    command: impl FnOnce(&[Image]) -> Outcome,
) -> Outcome {
    if images.is_empty() {
        return command(&images);
    }
    let mut watched = Ok(());
    let mut files = Written(Desk::new(outputs));
    let ready = || watched = interrupt::watch();
    match wall::run(&images, jobs, &mut files, ready).map_err(Failure::input)? {
        wall::Outcome::Worker(wire) => {
            let wire = Mutex::new(wire);
            write_elsewhere(move |request| {
                let mut wire = wire.lock().unwrap_or_else(PoisonError::into_inner);
                wire.ask(request)
            });
            command(&images)
        }
        wall::Outcome::Ended(code) => watched.map(|()| Verdict::OfWorker(code)),
        wall::Outcome::Broken(why) => Err(Failure::NoResult(format!(
            "the run with the scheduler has no result: {why}"
        ))),
    }
}
