//! A sweep on some threads: cells are claimed in chunks, run, and committed in batches
//! (docs/guide/results.md, "Sweeps").
//!
//! Called by `sweep` and the Python module. Free: how many cells go to a thread, when is committed,
//! what progress says.
//!
//! What must stay: a cell is committed once, whoever ran it; the result does not depend on threads;
//! an error of the store ends the work, and what was committed stays; a cell's key is what
//! `expected` says, with which check.rs compares. Tests by part:
//! sweeps.rs::`a_killed_sweep_goes_on` (`run`, `commit`), sweeps.rs::`two_processes_share_a_store`
//! (`drive`, `WAIT`), sweeps.rs::`a_stuck_cell_does_not_end_the_sweep` (`took`: `failed`),
//! leases.rs::`a_committed_cell_is_not_claimed_again` (`run_cell`),
//! forged.rs::`what_is_missing_is_made` (`Summary`),
//! test_executors.py::`test_a_cell_that_cannot_run_is_a_row` (`expected` of a point that cannot be
//! made).
//!
//! Tests: crates/cli/tests/all/sweeps.rs, crates/store/tests/all,
//! crates/python/tests/test_executors.py

use crate::{Done, Store, StoreError};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, channel, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use wakeplace_study::{MadePoint, Points, RunRecord, Sweep};

/// The first commit comes after so long, and each takes twice as long as the one before up to the
/// most: little is lost of a sweep that is killed at once.
const FIRST_COMMIT: Duration = Duration::from_millis(10);
/// Commits are at most so far apart.
const COMMIT_EVERY: Duration = Duration::from_millis(500);
/// The store is asked for how much it has with every so many-th commit: it counts what it has,
/// others' work too.
const COUNT_EVERY: usize = 20;
/// While others work on the last chunks.
const WAIT: Duration = Duration::from_millis(100);

/// How far a sweep is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Cells in the store.
    pub done: usize,
    /// Cells that this process made.
    pub made: usize,
    /// Cells in all.
    pub cells: usize,
}

/// What a sweep came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Cells in all.
    pub cells: usize,
    /// In the store at the beginning.
    pub found: usize,
    /// Made by this process.
    pub made: usize,
    /// Of those, the ones with an error.
    pub failed: usize,
}

/// A cell that is to be run.
struct Task {
    cell: usize,
    number: usize,
    point: Arc<MadePoint>,
    seed: u64,
    chunk: usize,
}

/// A cell that was run, and its chunk.
type Ran = (usize, Done);

/// Runs all cells that the store lacks on `jobs` threads. `program` names the program in the keys.
///
/// # Errors
/// The store cannot be written; what was committed is kept.
pub fn run(
    sweep: &Sweep,
    store: &mut Store,
    (jobs, program): (usize, &str),
    progress: &dyn Fn(Progress),
) -> Result<Summary, StoreError> {
    let found = store.done()?;
    let (to_run, tasks) = sync_channel::<Task>(2 * jobs.max(1));
    let (ran, results) = channel::<Ran>();
    let tasks = Mutex::new(tasks);
    thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            let (tasks, ran) = (&tasks, ran.clone());
            scope.spawn(move || work(tasks, &ran, program));
        }
        drop(ran);
        let mut driver = Driver {
            sweep,
            store,
            progress,
            points: Points::default(),
            waiting: Vec::new(),
            open: BTreeMap::new(),
            ended: Vec::new(),
            committed: now(),
            due: FIRST_COMMIT,
            done: found,
            commits: 0,
            summary: Summary {
                cells: sweep.cells(),
                found,
                ..Summary::default()
            },
        };
        let driven = driver.drive(&to_run, &results);
        // Threads end with the channel, also after an error.
        drop(to_run);
        driven.map(|()| driver.summary)
    })
}

/// Wall time: how often is committed, nothing of a result.
fn now() -> Instant {
    #[expect(
        clippy::disallowed_methods,
        reason = "how often is committed, no simulation"
    )]
    Instant::now()
}

/// One thread: takes cells, runs them, hands the records over.
fn work(tasks: &Mutex<Receiver<Task>>, ran: &std::sync::mpsc::Sender<Ran>, program: &str) {
    loop {
        let task = tasks.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(task) = task else { return };
        let done = run_cell(&task.point, (task.cell, task.number, task.seed), program);
        if ran.send((task.chunk, done)).is_err() {
            return;
        }
    }
}

/// Runs a cell: its number, that of its point, and its seed. `program` names the program in the
/// key.
#[must_use]
pub fn run_cell(
    point: &MadePoint,
    (cell, number, seed): (usize, usize, u64),
    program: &str,
) -> Done {
    let (key, like) = expected(point, (cell, seed), program);
    let record = match point {
        Ok(point) => point.run(seed),
        Err(_) => RunRecord {
            seed,
            ..like.clone()
        },
    };
    Done {
        cell,
        point: number,
        key,
        record,
    }
}

/// The key of a cell, and what its run is of: all but seed, hashes, metrics and error.
pub(crate) fn expected<'a>(
    point: &'a MadePoint,
    (cell, seed): (usize, u64),
    program: &str,
) -> (String, &'a RunRecord) {
    match point {
        Ok(point) => (point.key(seed, program), point.record()),
        Err(record) => (format!("cell {cell} cannot be run"), record),
    }
}

struct Driver<'a> {
    sweep: &'a Sweep,
    store: &'a mut Store,
    progress: &'a dyn Fn(Progress),
    points: Points,
    /// Run, not committed.
    waiting: Vec<Done>,
    /// Cells that are left of each chunk.
    open: BTreeMap<usize, usize>,
    /// Chunks that are run, not committed.
    ended: Vec<usize>,
    committed: Instant,
    /// When the next commit is due after it.
    due: Duration,
    /// Cells in the store, as far as is known here.
    done: usize,
    commits: usize,
    summary: Summary,
}

impl Driver<'_> {
    /// Hands tasks to the threads and takes what they finish, until all cells are done or it must
    /// end.
    fn drive(
        &mut self,
        to_run: &SyncSender<Task>,
        results: &Receiver<Ran>,
    ) -> Result<(), StoreError> {
        loop {
            while let Some((chunk, cells)) = self.store.claim()? {
                self.open.insert(chunk, cells.len());
                if cells.is_empty() {
                    self.end(chunk);
                }
                for cell in cells {
                    let task = self.task(chunk, cell);
                    self.hand_over(task, to_run, results)?;
                }
                self.commit_if_due()?;
            }
            while !self.open.is_empty() {
                self.take(results, self.due)?;
                self.commit_if_due()?;
            }
            self.commit()?;
            if self.store.is_complete()? {
                return Ok(());
            }
            // Others work on what is left; a lease of theirs may come to its end.
            thread::sleep(WAIT);
        }
    }

    /// A cell as a thread takes it.
    fn task(&mut self, chunk: usize, cell: usize) -> Task {
        let (number, seed) = self.sweep.cell(cell);
        Task {
            cell,
            number,
            point: self.points.get(self.sweep, number),
            seed,
            chunk,
        }
    }

    /// Gives a task to whoever is free, and takes what comes back meanwhile.
    fn hand_over(
        &mut self,
        task: Task,
        to_run: &SyncSender<Task>,
        results: &Receiver<Ran>,
    ) -> Result<(), StoreError> {
        use std::sync::mpsc::TrySendError;
        let mut task = task;
        loop {
            match to_run.try_send(task) {
                Ok(()) => return Ok(()),
                Err(TrySendError::Disconnected(_)) => return Ok(()),
                Err(TrySendError::Full(back)) => task = back,
            }
            self.take(results, self.due)?;
            self.commit_if_due()?;
        }
    }

    /// Takes what was run, waiting for the first.
    fn take(&mut self, results: &Receiver<Ran>, wait: Duration) -> Result<(), StoreError> {
        match results.recv_timeout(wait) {
            Ok(ran) => self.took(ran),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return Ok(()),
        }
        while let Ok(ran) = results.try_recv() {
            self.took(ran);
        }
        Ok(())
    }

    /// A cell is finished; its chunk may be.
    fn took(&mut self, (chunk, done): Ran) {
        self.summary.made += 1;
        self.summary.failed += usize::from(!done.record.error.is_empty());
        self.waiting.push(done);
        let left = self.open.get_mut(&chunk);
        let left = left.map_or(0, |left| {
            *left -= 1;
            *left
        });
        if left == 0 {
            self.end(chunk);
        }
    }

    /// The chunk is finished; its lease ends with the next commit.
    fn end(&mut self, chunk: usize) {
        self.open.remove(&chunk);
        self.ended.push(chunk);
    }

    /// Commits if the last commit is long enough ago.
    fn commit_if_due(&mut self) -> Result<(), StoreError> {
        match self.committed.elapsed() >= self.due {
            true => self.commit(),
            false => Ok(()),
        }
    }

    /// Writes what waits, and now and then asks how many cells others have finished.
    fn commit(&mut self) -> Result<(), StoreError> {
        self.store.commit(&self.waiting, &self.ended)?;
        self.commits += 1;
        self.done = match self.commits % COUNT_EVERY {
            0 => self.store.done()?,
            _ => self.done + self.waiting.len(),
        };
        self.waiting.clear();
        self.ended.clear();
        self.committed = now();
        self.due = (2 * self.due).min(COMMIT_EVERY);
        (self.progress)(Progress {
            done: self.done,
            made: self.summary.made,
            cells: self.summary.cells,
        });
        Ok(())
    }
}
