//! All processes that a loader has started, and their end. None of them outlives the run
//! (docs/decisions/058).
//!
//! What must stay: a process is ended only after it was seen to descend from the root, since
//! numbers are used again. Free: how /proc is read, and how often.
//!
//! Tests by part: `nothing_of_a_loader_outlives_the_run` (`living`, `end`, `signal`, `has`,
//! `state`, `children`, `has_ended`, `adopt_orphans`),
//! wall.rs::`a_guard_that_is_killed_ends_the_run` (`end_one`, `end`),
//! wall.rs::`a_child_of_before_is_left_alone` (`children`),
//! wall.rs::`a_process_that_shares_maps_is_refused` (`sharer`),
//! schedulers.rs::`a_loader_that_hangs_leaves_nothing_behind` (`is_over`, `state_in`).
//!
//! Callers: guard/serve.rs (a loader's end, `sharer`), wall/keeper.rs, wall/main_process.rs.
//!
//! Tests: crates/cli/tests/all/wall.rs::nothing_of_a_loader_outlives_the_run,
//! crates/cli/tests/all/schedulers.rs::a_loader_that_hangs_leaves_nothing_behind

use super::memory::lines_of_maps;
use super::{checked, pidfd};
use crate::wire::FileId;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::fd::AsRawFd as _;
use std::time::{Duration, Instant};

/// How long it is tried to end all of them: a process may be in the middle of a call.
const PATIENCE: Duration = Duration::from_secs(10);
const NAP: Duration = Duration::from_millis(2);

/// From now on a descendant whose parent ends becomes a child of this process.
pub(crate) fn adopt_orphans() -> io::Result<()> {
    // SAFETY: a plain system call.
    checked(unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }.into()).map(drop)
}

/// A process, and who descends from it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kin {
    root: u32,
}

impl Kin {
    /// The descendants of this process, which is the loader.
    pub(crate) fn of(root: u32) -> Self {
        Self { root }
    }

    /// Those that descend from the root and have not ended, without the root.
    pub(crate) fn living(self) -> BTreeSet<u32> {
        let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        for entry in entries {
            let pid = entry
                .file_name()
                .to_str()
                .and_then(|name| name.parse().ok());
            if let Some((pid, (_, parent))) = pid.and_then(|pid| Some((pid, state(pid)?))) {
                children.entry(parent).or_default().push(pid);
            }
        }
        let mut found = BTreeSet::new();
        let mut open = vec![self.root];
        while let Some(parent) = open.pop() {
            let more = children.remove(&parent).unwrap_or_default();
            found.extend(&more);
            open.extend(more);
        }
        found.retain(|pid| !has_ended(*pid));
        found
    }

    /// Ends all of them. Each is stopped before, so that it starts no other one meanwhile.
    pub(crate) fn end(self) {
        #[allow(clippy::disallowed_methods, reason = "processes are of the real world")]
        let began = Instant::now();
        let mut stopped = BTreeSet::new();
        while began.elapsed() < PATIENCE {
            let living = self.living();
            if living.is_empty() {
                return;
            }
            for pid in &living {
                match stopped.insert(*pid) {
                    true => self.signal(*pid, libc::SIGSTOP),
                    false => self.signal(*pid, libc::SIGKILL),
                }
            }
            std::thread::sleep(NAP);
        }
    }

    /// Processes whose parent is this one.
    pub(crate) fn children(parent: u32) -> BTreeSet<u32> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let of_parent = |pid: &u32| matches!(state(*pid), Some((_, of)) if of == parent);
        pids.filter(of_parent).collect()
    }

    /// Ends one process that a loader has started.
    pub(crate) fn end_one(self, pid: u32) {
        self.signal(pid, libc::SIGKILL);
    }

    /// A signal for one of them. Its number may be another process's by now: so that one is held
    /// first, and looked at again.
    fn signal(self, pid: u32, signal: libc::c_int) {
        let Ok(held) = pidfd(pid) else { return };
        if !self.has(pid) {
            return;
        }
        // SAFETY: a descriptor of ours; a signal touches no memory of ours.
        unsafe {
            let no_info = std::ptr::null_mut::<libc::siginfo_t>();
            libc::syscall(
                libc::SYS_pidfd_send_signal,
                held.as_raw_fd(),
                signal,
                no_info,
                0,
            );
        }
    }

    /// Does it descend from the root?
    fn has(self, pid: u32) -> bool {
        let mut at = pid;
        while let Some((_, parent)) = state(at) {
            if parent == self.root {
                return true;
            }
            at = parent;
        }
        false
    }

    /// One of them, but for the loader itself, that can reach one of these files: it has it open,
    /// or in its memory.
    pub(super) fn sharer(self, loader: u32, files: &BTreeSet<FileId>) -> Option<String> {
        let shares = |pid: &u32| {
            let mut maps = lines_of_maps(*pid).into_iter().flatten();
            let mapped =
                maps.any(|line| FileId::in_maps(&line).is_some_and(|file| files.contains(&file)));
            let open = fs::read_dir(format!("/proc/{pid}/fd"));
            let mut open = open.into_iter().flatten().flatten();
            mapped
                || open.any(|fd| {
                    let file = fs::metadata(fd.path());
                    file.is_ok_and(|file| files.contains(&FileId::of(&file)))
                })
        };
        let mut others = self.living();
        others.remove(&loader);
        let pid = others.into_iter().find(shares)?;
        let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        Some(name.trim_end().to_owned())
    }
}

/// The state of a process, and its parent. None: there is no such process.
fn state(pid: u32) -> Option<(char, u32)> {
    state_in(&format!("/proc/{pid}/stat"))
}

/// Reads the state of a process or thread in its file (proc(5), `/proc/PID/stat`). None: the file
/// cannot be read.
fn state_in(file: &str) -> Option<(char, u32)> {
    let text = fs::read(file).ok()?;
    let text = String::from_utf8_lossy(&text);
    let (_, rest) = text.rsplit_once(") ")?;
    let mut words = rest.split(' ');
    Some((words.next()?.chars().next()?, words.next()?.parse().ok()?))
}

/// Is who has this file gone, or has it ended and nobody has asked how?
pub(super) fn is_over(file: &str) -> bool {
    matches!(state_in(file), None | Some(('Z' | 'X', _)))
}

/// Gone, or a zombie that nobody has waited for.
fn has_ended(pid: u32) -> bool {
    is_over(&format!("/proc/{pid}/stat"))
}
