//! Ctrl-C, and other polite ends, while files are written: nothing is left of them
//! (docs/guide/traces.md, "What is promised of files").
//!
//! The threads here touch no simulation. Free: how the wait is done.
//!
//! What must stay: a process that a signal ends has the exit status of that signal, and only files
//! that were there before remain. A signal that the process was started to ignore stays ignored. A
//! worker behind the wall watches nothing: its files are another process's. Tests by part:
//! crates/cli/tests/all/interrupt.rs::`nothing_is_left_of_an_interrupted_run` (`watch`, `start`),
//! interrupt.rs::`ignored_signals_stay_ignored` (`ignored`),
//! interrupt.rs::`an_ended_recording_leaves_the_kernel_as_it_was` (`KernelFolder`,
//! `remove_folders`, `is_ending`),
//! crates/cli/tests/all/wall.rs::`nothing_of_a_loader_outlives_the_run` (signals while a worker
//! runs).
//!
//! Tests: crates/cli/tests/all/interrupt.rs,
//! crates/cli/tests/all/wall.rs::nothing_of_a_loader_outlives_the_run

use crate::failure::Failure;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;
use wakeplace_foreign::wall::is_worker;

/// From now on drafts are removed when a signal ends the process, as it does without. A worker has
/// none: its files are another process's.
pub(crate) fn watch() -> Result<(), Failure> {
    if is_worker() {
        return Ok(());
    }
    watch_for(&[SIGINT, SIGTERM, SIGHUP])
}

/// Of these signals; the first call decides.
pub(crate) fn watch_for(signals: &[i32]) -> Result<(), Failure> {
    static WATCHED: OnceLock<Result<(), Failure>> = OnceLock::new();
    WATCHED.get_or_init(|| start(signals)).clone()
}

/// A thread that waits for these signals, but for those that the process was started to ignore.
fn start(signals: &[i32]) -> Result<(), Failure> {
    let cannot = |error| Failure::Environment(format!("Ctrl-C cannot be watched: {error}"));
    let ignored = ignored();
    let heeded = (signals.iter()).filter(|signal| ignored >> (*signal - 1) & 1 == 0);
    let mut signals = Signals::new(heeded).map_err(cannot)?;
    let wait = move || {
        if let Some(signal) = signals.forever().next() {
            ENDING.store(true, Ordering::SeqCst);
            wakeplace_files::abandon();
            remove_folders();
            // Returns only where the signal cannot end a process, which these can.
            let _ = emulate_default_handler(signal);
        }
    };
    // Ends with the process.
    let _detached = thread::Builder::new().spawn(wait).map_err(cannot)?;
    Ok(())
}

/// A signal is ending this process.
static ENDING: AtomicBool = AtomicBool::new(false);
/// Held while a folder is made or removed, so that a signal finds either.
static FOLDERS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
/// How often and after what a folder is removed in which a file is still read.
const TRIES: (usize, Duration) = (200, Duration::from_millis(10));

/// The folders that exist now. A thread that panicked with the lock changes nothing of the list.
fn folders() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    FOLDERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// For loops that read a file in a [`KernelFolder`]: let go of it.
pub(crate) fn is_ending() -> bool {
    ENDING.load(Ordering::SeqCst)
}

/// A folder of the kernel's that goes away with whatever is in it, also when a watched signal ends
/// the process.
pub(crate) struct KernelFolder(PathBuf);

impl KernelFolder {
    /// Makes it.
    pub(crate) fn make(path: PathBuf) -> io::Result<Self> {
        let mut folders = folders();
        fs::create_dir(&path)?;
        folders.insert(path.clone());
        Ok(Self(path))
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for KernelFolder {
    /// Removes the folder at its owner's end; `remove_folders` does it where a signal comes first.
    fn drop(&mut self) {
        let mut folders = folders();
        // There is nobody to tell if it stays.
        let _ = fs::remove_dir(&self.0);
        folders.remove(&self.0);
    }
}

/// Removes all of them. None is made from then on: a thread that tries waits for the end.
fn remove_folders() {
    let folders = folders();
    for folder in folders.iter() {
        for _ in 0..TRIES.0 {
            match fs::remove_dir(folder) {
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                    thread::sleep(TRIES.1);
                }
                _ => break,
            }
        }
    }
    std::mem::forget(folders);
}

/// The signals that this process was started to ignore, as below `nohup`; bit 0 is signal 1.
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}
