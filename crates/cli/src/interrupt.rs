//! Ctrl-C, and other polite ends, while files are written: nothing is left of them.

use crate::failure::Failure;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use std::fs;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use wakeplace_trace::Drafts;

/// Told of files in the making, removes them when the process is to end.
#[derive(Debug)]
pub(crate) struct Cleaner(Sender<Drafts>);

impl Cleaner {
    /// From now on; the process ends by the signal as it does without.
    pub(crate) fn start() -> Result<Self, Failure> {
        let cannot = |error| Failure::Environment(format!("Ctrl-C cannot be watched: {error}"));
        let ignored = ignored();
        let heeded = [SIGINT, SIGTERM, SIGHUP].into_iter();
        let heeded = heeded.filter(|signal| ignored >> (signal - 1) & 1 == 0);
        let mut signals = Signals::new(heeded).map_err(cannot)?;
        let (told, drafts) = channel();
        let wait = move || {
            if let Some(signal) = signals.forever().next() {
                remove(&drafts);
                // Returns only where the signal cannot end a process, which these can.
                let _ = emulate_default_handler(signal);
            }
        };
        // Ends with the process.
        let _detached = thread::Builder::new().spawn(wait).map_err(cannot)?;
        Ok(Self(told))
    }

    /// These too.
    pub(crate) fn watch(&self, drafts: Drafts) {
        let _ = self.0.send(drafts);
    }
}

/// The signals that this process was started to ignore, as below `nohup`; bit 0 is signal 1.
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}

/// What is in its place by now is not there any more.
fn remove(drafts: &Receiver<Drafts>) {
    let told: Vec<Drafts> = drafts.try_iter().collect();
    for path in told.iter().flat_map(|drafts| &drafts.whole) {
        let _ = remove_whole(path);
    }
    for folder in told.iter().flat_map(|drafts| &drafts.if_empty) {
        let _ = fs::remove_dir(folder);
    }
}

fn remove_whole(path: &PathBuf) -> std::io::Result<()> {
    match path.is_dir() {
        true => fs::remove_dir_all(path),
        false => fs::remove_file(path),
    }
}
