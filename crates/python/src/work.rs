//! Long work: on a thread of its own and without the interpreter's lock, so that other threads of
//! Python run and Ctrl-C is heard (docs/guide/python.md, "Errors, Ctrl-C and threads").
//!
//! Callers: explain.rs, result.rs, study.rs and sweep.rs (`interruptible`).
//!
//! What must stay: a run that is ended leaves nothing: results come only from work that was done to
//! its end; the interpreter's lock is free meanwhile. Free: how often a signal is looked for. Tests
//! by part: `test_other_threads_run_meanwhile` (`interruptible`: `detach`),
//! `test_ctrl_c_ends_a_comparison` (`check`, signals).
//!
//! Tests: crates/python/tests/test_results.py

use pyo3::prelude::*;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How soon a signal is heard.
const LISTEN: Duration = Duration::from_millis(50);

/// Unwinds through work that nobody waits for any more.
struct Stopped;

/// Called by the work between its parts.
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Does not return if the work is to end. `progress` is the one place between two runs, and it
    /// cannot refuse: so the work is unwound, without a message.
    pub(crate) fn check(&self) {
        if self.0.load(Ordering::Relaxed) {
            resume_unwind(Box::new(Stopped));
        }
    }
}

/// Does the work. After Ctrl-C, or whatever else a handler of a signal raises, that is raised at
/// once, and the work ends with the run that it is at.
pub(crate) fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&Stop) -> T + Send + 'static,
) -> PyResult<T> {
    type Ended<T> = Result<T, Box<dyn Any + Send>>;
    let (ended, result) = channel::<Ended<T>>();
    let stop = Arc::new(AtomicBool::new(false));
    let own = Stop(stop.clone());
    let run = move || {
        // Nobody waits after a signal.
        let _ = ended.send(catch_unwind(AssertUnwindSafe(|| work(&own))));
    };
    std::thread::Builder::new().spawn(run)?;
    let result = Mutex::new(result);
    loop {
        let wait = || {
            let result = result.lock().unwrap_or_else(PoisonError::into_inner);
            result.recv_timeout(LISTEN)
        };
        match py.detach(wait) {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(panic)) => resume_unwind(panic),
            Err(RecvTimeoutError::Timeout) => {
                if let Err(signal) = py.check_signals() {
                    stop.store(true, Ordering::Relaxed);
                    return Err(signal);
                }
            }
            Err(RecvTimeoutError::Disconnected) => panic_any("the work ended without a result"),
        }
    }
}
