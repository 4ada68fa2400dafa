//! `inside-storm`: processes of a small group hold what others of the machine wait for
//! (docs/guide/live.md, scripts/live/inside.sh). It says how long somebody outside of the group
//! waited at most.
//!
//! What must stay: keys of the report, and names of the kinds; holders alone are in the group. The
//! program has one thread when it forks. Free: how large a turn is.
//!
//! Tests by part: `inside_storm_says_how_long_an_outsider_waits` (`run`, `turn`, `hold`, `Place`,
//! `wait_us_max`), `what_is_wrong_is_exit_code_2_and_nothing_on_stdout` (`parse`: kinds).
//!
//! Callers: lib.rs (`run`); scripts/live/inside.sh runs it in guests.
//!
//! Tests: crates/guest/tests/programs.rs

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use wakeplace_text::{did_you_mean, nearest, shorten};

use crate::args::{Flag, flag, parse};
use crate::error::GuestError;
use crate::report::Report;
use crate::spin::{SLICE_LOOPS, spin};
use crate::sys::{self, PiLock, Pid};

const FLAGS: [Flag; 2] = [flag("--seconds", 5, 1, 3600), flag("--holders", 4, 1, 64)];
/// Between two turns of the outsider, ns.
const PAUSE_NS: u64 = 2_000_000;
/// So long a holder has a lock of user space, ns of its CPU time.
const HOLD_NS: u64 = 500_000;
/// Files in the directory that is read.
const FILES: u32 = 200;
/// A killed holder has ended after this.
const END_WITHIN_NS: u64 = 60_000_000_000;

/// What is held.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The lock of a directory's entries (`i_rwsem`): files are made, renamed and removed.
    Files,
    /// Sections that read under RCU; the outsider waits for a grace period.
    Rcu,
    /// A mutex of the kernel: the position of a file that all share (`f_pos_lock`).
    Mutex,
    /// A futex with priority inheritance.
    Pi,
}

impl Kind {
    const ALL: [(&'static str, Self); 4] = [
        ("files", Self::Files),
        ("rcu", Self::Rcu),
        ("mutex", Self::Mutex),
        ("pi", Self::Pi),
    ];

    /// By its name.
    fn parse(name: &str) -> Result<Self, GuestError> {
        let known = Self::ALL.iter().find(|(own, _)| *own == name);
        known.map(|(_, kind)| *kind).ok_or_else(|| {
            let names = Self::ALL.map(|(name, _)| name);
            GuestError::Input(format!(
                "inside-storm `{}`: expected one of {}{}",
                shorten(name),
                names.join(", "),
                did_you_mean(nearest(name, names))
            ))
        })
    }
}

/// Figures.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
pub struct InsideStormResult {
    /// What was held.
    pub kind: Kind,
    /// Processes that held it.
    pub holders: u64,
    /// Turns of the outsider.
    pub turns: u64,
    /// Longest of its turns, us.
    pub wait_us_max: u64,
}

/// Runs it: `inside-storm KIND [GROUP] [--seconds S] [--holders N]`. GROUP is the folder of a
/// control group, which the holders join.
///
/// # Errors
/// Wrong arguments; a group that cannot be joined; a machine that lacks what is held.
pub fn run(args: &[String]) -> Result<Report<InsideStormResult>, GuestError> {
    let (kind, args) = args
        .split_first()
        .map_or(("", args), |(kind, rest)| (kind.as_str(), rest));
    let kind = Kind::parse(kind)?;
    let (group, args) = match args.split_first() {
        Some((group, rest)) if !group.starts_with("--") => (Some(PathBuf::from(group)), rest),
        _ => (None, args),
    };
    let [seconds, holders] = parse(args, &FLAGS)?;
    if let Some(group) = group
        .as_deref()
        .filter(|group| !group.join(PROCS).is_file())
    {
        let folder = group.display().to_string();
        return Err(GuestError::Input(format!(
            "inside-storm: {} is no control group",
            shorten(&folder)
        )));
    }
    let place = Place::new().map_err(|error| GuestError::environment("inside-storm", &error))?;
    let mut failures = Vec::new();
    let mut started: Vec<Pid> = Vec::new();
    for _ in 0..holders {
        match sys::fork(|| hold(&place, kind, group.as_deref())) {
            Ok(child) => started.push(child),
            Err(error) => failures.push(format!("a holder cannot be started: {error}")),
        }
    }
    let (mut turns, mut longest_ns) = (0, 0);
    let end_ns = sys::now_ns() + seconds * 1_000_000_000;
    while sys::now_ns() < end_ns && failures.is_empty() {
        let begin_ns = sys::now_ns();
        match outsider(&place, kind) {
            Ok(()) => turns += 1,
            Err(error) => failures.push(format!("turn {turns}: {error}")),
        }
        longest_ns = longest_ns.max(sys::now_ns() - begin_ns);
        sys::sleep_ns(PAUSE_NS);
    }
    failures.append(&mut end(&started));
    let result = InsideStormResult {
        kind,
        holders,
        turns,
        wait_us_max: longest_ns / 1000,
    };
    Ok(Report::new("inside-storm", failures, result))
}

/// Where a control group has its processes.
const PROCS: &str = "cgroup.procs";

/// What all processes share.
struct Place {
    folder: PathBuf,
    /// The folder, opened once: its position is shared.
    entries: File,
    lock: PiLock,
}

impl Place {
    /// A folder with files in it, and a lock.
    fn new() -> io::Result<Self> {
        let folder = std::env::temp_dir().join(format!("inside-storm-{}", std::process::id()));
        let lock = PiLock::new()?;
        fs::create_dir(&folder)?;
        // From here on the folder goes with it.
        let place = Self {
            entries: File::open(&folder)?,
            folder,
            lock,
        };
        for number in 0..FILES {
            File::create(place.folder.join(format!("file-{number}")))?;
        }
        Ok(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// A holder, until it is killed. Its exit code: 1: it could not join; 2: a turn failed.
fn hold(place: &Place, kind: Kind, group: Option<&Path>) -> u8 {
    // Written by the process itself: 0 is the writer.
    let joined = group.is_none_or(|group| fs::write(group.join(PROCS), "0").is_ok());
    if !joined {
        return 1;
    }
    loop {
        let done = match kind {
            Kind::Rcu => read_under_rcu(),
            Kind::Pi => place.lock.held(compute),
            _ => turn(place, kind),
        };
        if done.is_err() {
            return 2;
        }
    }
}

/// A turn of somebody outside of the group.
fn outsider(place: &Place, kind: Kind) -> io::Result<()> {
    match kind {
        Kind::Rcu => sys::wait_for_rcu(),
        Kind::Pi => place.lock.held(|| ()),
        _ => turn(place, kind),
    }
}

/// What holders and outsider do alike.
fn turn(place: &Place, kind: Kind) -> io::Result<()> {
    if kind == Kind::Mutex {
        return sys::read_entries(&place.entries);
    }
    let own = std::process::id();
    let (one, two) = (
        place.folder.join(format!("own-{own}")),
        place.folder.join(format!("new-{own}")),
    );
    File::create(&one)?;
    fs::rename(&one, &two)?;
    fs::remove_file(&two)
}

/// Looks up paths and walks the table of processes: both are read under RCU.
fn read_under_rcu() -> io::Result<()> {
    for entry in fs::read_dir("/proc")?.flatten() {
        // It may have ended meanwhile.
        let _ = fs::metadata(entry.path().join("status"));
    }
    Ok(())
}

/// Holds it for a while.
fn compute() {
    let until_ns = sys::thread_cpu_ns() + HOLD_NS;
    while sys::thread_cpu_ns() < until_ns {
        spin(SLICE_LOOPS);
    }
}

/// Ends the holders. What went wrong with them, in words.
fn end(started: &[Pid]) -> Vec<String> {
    started.iter().for_each(|child| sys::kill(*child));
    let ended = |child: &Pid| match sys::wait_ended(*child, END_WITHIN_NS) {
        Ok(Some(sys::Ended::Signal(_))) => None,
        Ok(Some(sys::Ended::Exit(code))) => Some(format!("holder {child} ended with {code}")),
        Ok(None) => Some(format!("holder {child} does not end")),
        Err(error) => Some(format!("holder {child}: {error}")),
    };
    started.iter().filter_map(ended).collect()
}
