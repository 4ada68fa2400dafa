//! Ctrl-C, and other polite ends, while files are written: nothing is left of them.

use crate::failure::Failure;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use std::fs;
use std::sync::OnceLock;
use std::thread;

/// From now on drafts are removed when a signal ends the process, as it does without.
pub(crate) fn watch() -> Result<(), Failure> {
    watch_for(&[SIGINT, SIGTERM, SIGHUP])
}

/// Of these signals; the first call decides.
pub(crate) fn watch_for(signals: &[i32]) -> Result<(), Failure> {
    static WATCHED: OnceLock<Result<(), Failure>> = OnceLock::new();
    WATCHED.get_or_init(|| start(signals)).clone()
}

fn start(signals: &[i32]) -> Result<(), Failure> {
    let cannot = |error| Failure::Environment(format!("Ctrl-C cannot be watched: {error}"));
    let ignored = ignored();
    let heeded = (signals.iter()).filter(|signal| ignored >> (*signal - 1) & 1 == 0);
    let mut signals = Signals::new(heeded).map_err(cannot)?;
    let wait = move || {
        if let Some(signal) = signals.forever().next() {
            wakeplace_files::abandon();
            // Returns only where the signal cannot end a process, which these can.
            let _ = emulate_default_handler(signal);
        }
    };
    // Ends with the process.
    let _detached = thread::Builder::new().spawn(wait).map_err(cannot)?;
    Ok(())
}

/// The signals that this process was started to ignore, as below `nohup`; bit 0 is signal 1.
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}
