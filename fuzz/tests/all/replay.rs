//! Runs inputs through a target and says which of them break a promise, and how.
//! Page: docs/internals/checks.md, "Reproduce a finding".
//!
//! What must stay: what breaks a promise is kept below target/fuzz/found before anything else
//! happens. Callers: kept.rs and mutations.rs (`Replay::of`, `take`, `executed`, `simulated`);
//! `keep`, `remove`, `words` and `peak_kib` are its own.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};
use wakeplace_fuzz::corpus::{Input, root};
use wakeplace_fuzz::{Reached, Target, fnv1a};

/// An input that takes longer than this has hung. The slowest takes seconds on a busy machine.
const HANGS_AFTER: Duration = Duration::from_secs(60);

/// Most memory of the whole test program, KiB.
const MOST_KIB: u64 = 1 << 20;

/// What became of the inputs.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// How many came how far: refused, loaded, simulated.
    pub(crate) reached: [usize; 3],
    /// What went wrong, a paragraph each.
    pub(crate) failures: Vec<String>,
    /// The slowest input.
    pub(crate) slowest: (Duration, String),
}

impl Tally {
    pub(crate) fn executed(&self) -> usize {
        self.reached.iter().sum::<usize>() + self.failures.len()
    }

    pub(crate) fn simulated(&self) -> usize {
        self.reached[Reached::Simulated as usize]
    }
}

/// Takes inputs one by one while another thread watches the clock.
pub(crate) struct Replay {
    target: &'static Target,
    watch: Sender<Option<String>>,
    pub(crate) tally: Tally,
}

impl Replay {
    pub(crate) fn of(target: &'static Target) -> Self {
        let (watch, names) = channel::<Option<String>>();
        std::thread::spawn(move || {
            let mut now = None;
            loop {
                now = match (names.recv_timeout(HANGS_AFTER), now) {
                    (Ok(next), _) => next,
                    (Err(RecvTimeoutError::Timeout), Some(name)) => {
                        eprintln!("{name}: not over after {HANGS_AFTER:?}");
                        std::process::abort();
                    }
                    (Err(RecvTimeoutError::Timeout), None) => None,
                    (Err(RecvTimeoutError::Disconnected), _) => return,
                };
            }
        });
        let tally = Tally::default();
        Self {
            target,
            watch,
            tally,
        }
    }

    /// One input. What breaks a promise is kept below `target/fuzz/found`.
    #[allow(clippy::disallowed_methods, reason = "a hang is a matter of wall time")]
    pub(crate) fn take(&mut self, input: &Input) -> Option<Reached> {
        let found = keep(self.target, input);
        let label = format!("{} ({})", input.name, found.display());
        self.watch
            .send(Some(label.clone()))
            .expect("the watching thread");
        let before = peak_kib();
        let begin = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| (self.target.body)(&input.bytes)));
        let took = begin.elapsed();
        self.watch.send(None).expect("the watching thread");
        if took > self.tally.slowest.0 {
            self.tally.slowest = (took, input.name.clone());
        }
        let memory = peak_kib();
        let problem = match outcome {
            Err(panic) => words(panic.as_ref()),
            // The peak never falls: one that did not rise is of an input before this one.
            Ok(_) if memory > MOST_KIB.max(before) => {
                format!("{memory} KiB of memory were taken")
            }
            Ok(reached) => {
                self.tally.reached[reached as usize] += 1;
                remove(&found);
                return Some(reached);
            }
        };
        self.tally.failures.push(format!("{label}: {problem}"));
        None
    }
}

/// The input as a file, so that it is there also if the program ends with it.
fn keep(target: &Target, input: &Input) -> std::path::PathBuf {
    let folder = root().join("target/fuzz/found").join(target.name);
    std::fs::create_dir_all(&folder).expect("a folder below target");
    let path = folder.join(format!("{:016x}", fnv1a(&input.bytes)));
    std::fs::write(&path, &input.bytes).expect("a file below target");
    path
}

/// Another test may have had the same input and have removed it.
fn remove(found: &std::path::Path) {
    match std::fs::remove_file(found) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        removed => removed.expect("a file below target can be removed"),
    }
}

fn words(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    format!("panicked: {}", text.unwrap_or("without words"))
}

/// Most memory that this process has had, KiB; 0 where the system does not say.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}
