//! Who makes traces of what was told: another thread, once there is a batch to hand over.
//!
//! The run goes on meanwhile. What is written depends on what was told and its order alone
//! (docs/guide/traces.md).
//!
//! What must stay: threads change no byte; memory does not grow with the run (`WAITING`); a panic
//! of the thread is the run's; no thread outlives the traces. Free: what leaves the bytes of files
//! as they are (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `a_full_disk_ends_the_run` (`has_failed`), `traces_dropped_in_the_midst_leave_nothing` (`last`,
//! `end`), `a_panic_of_the_writing_thread_is_the_runs` (`end`, `hand_over`),
//! traces.rs::`whole_runs_read_back` (equal bytes), all also `start`.
//!
//! Tests: crates/trace/tests/all/long_runs.rs,
//! crates/trace/tests/all/traces.rs::whole_runs_read_back

use super::told::Told;
use super::walk::Walk;
use std::mem;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::{self, JoinHandle};

/// Batches that may wait. The run waits if there are more, so that memory does not grow with it.
const WAITING: usize = 8;

/// Where the walk through what was told is.
#[derive(Default)]
pub(super) enum Scribe {
    /// With the run.
    Here(Box<Walk>),
    /// On a thread of its own.
    Aside(Aside),
    /// Nowhere any more.
    #[default]
    Gone,
}

/// A thread that makes traces.
pub(super) struct Aside {
    batches: SyncSender<Vec<Told>>,
    /// Batches that were gone through, empty.
    spare: Receiver<Vec<Told>>,
    failed: Arc<AtomicBool>,
    thread: JoinHandle<Option<Box<Walk>>>,
}

impl Scribe {
    /// Something cannot be written, as far as is known here.
    #[inline]
    pub(super) fn has_failed(&self) -> bool {
        match self {
            Self::Here(walk) => walk.sinks.has_failed(),
            Self::Aside(aside) => aside.failed.load(Ordering::Relaxed),
            Self::Gone => false,
        }
    }

    /// Hands over all of a batch; it is empty then. More batches follow.
    pub(super) fn hand_over(&mut self, batch: &mut Vec<Told>) {
        *self = match mem::take(self) {
            Self::Here(walk) => Aside::start(walk),
            other => other,
        };
        match self {
            Self::Aside(aside) => aside.hand_over(batch),
            Self::Here(walk) => walk.take_all(batch),
            Self::Gone => batch.clear(),
        }
    }

    /// Goes through the last batch, after all the others. From then on the walk is here.
    pub(super) fn last(&mut self, batch: &mut Vec<Told>) -> Option<&mut Walk> {
        *self = match mem::take(self) {
            Self::Aside(aside) => aside.end().map_or(Self::Gone, Self::Here),
            other => other,
        };
        match self {
            Self::Here(walk) => {
                walk.take_all(batch);
                Some(walk)
            }
            _ => None,
        }
    }
}

impl Aside {
    /// If no thread can be had the walk stays where it is.
    fn start(walk: Box<Walk>) -> Scribe {
        let (batches, told) = mpsc::sync_channel::<Vec<Told>>(WAITING);
        let (done, spare) = mpsc::channel();
        // It is passed when there is a thread to take it.
        let (pass, passed) = mpsc::channel::<Box<Walk>>();
        let failed = Arc::new(AtomicBool::new(false));
        let has_failed = Arc::clone(&failed);
        let work = move || {
            let mut walk = passed.recv().ok()?;
            for mut batch in told {
                walk.take_all(&mut batch);
                has_failed.store(walk.sinks.has_failed(), Ordering::Relaxed);
                // Nobody takes it any more when the run is over.
                let _ = done.send(batch);
            }
            Some(walk)
        };
        let Ok(thread) = thread::Builder::new().name("traces".to_owned()).spawn(work) else {
            return Scribe::Here(walk);
        };
        match pass.send(walk) {
            Ok(()) => Scribe::Aside(Self {
                batches,
                spare,
                failed,
                thread,
            }),
            Err(mpsc::SendError(walk)) => Scribe::Here(walk),
        }
    }

    /// Gives a batch to the thread and takes an empty one back, if there is one.
    fn hand_over(&self, batch: &mut Vec<Told>) {
        let spare = self.spare.try_recv();
        let empty = spare.unwrap_or_else(|_| Vec::with_capacity(batch.capacity()));
        let full = mem::replace(batch, empty);
        // A thread that panicked takes nothing; `end` says so.
        if self.batches.send(full).is_err() {
            self.failed.store(true, Ordering::Relaxed);
        }
    }

    /// The walk, after all that was handed over.
    fn end(self) -> Option<Box<Walk>> {
        drop(self.batches);
        match self.thread.join() {
            Ok(walk) => walk,
            // It was said; one panic at a time.
            Err(_) if thread::panicking() => None,
            Err(panic) => resume_unwind(panic),
        }
    }
}
