//! That nothing hangs: every thread and child that was started must end within a time, or its name
//! and what the kernel says of it are reported (docs/guide/lab.md).
//!
//! What must stay: whatever hangs is named, and this thread never hangs with it. Free: how often
//! threads are looked at, and words.
//!
//! Tests by part: `a_thread_that_hangs_is_named_and_one_that_ends_is_not` (`spawn`, `threads`,
//! `finish`, `wait_while`, `len`, `note`, `whereabouts`), `a_thread_that_panics_is_a_failure`
//! (`Place`: `drop`; `lock`),
//! crates/guest/tests/programs.rs::`fork_storm_counts_every_process_of_every_chain`
//! (`finish_child`).
//!
//! Callers: load/, workers.rs (threads), ping_pong.rs and fork_storm.rs (`finish_child`).
//!
//! Tests: below

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use crate::error::GuestError;
use crate::sys::{self, Ended, Pid};

/// Time to end for what was told to stop, ns. Far above what is fair: under emulation on a busy
/// host guest time can pass without much being executed.
pub(crate) const END_WITHIN_NS: u64 = 30_000_000_000;

/// A lock whose holder panicked is still good here: panics are reported by the roll.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Starting,
    Running,
    Returned,
    Panicked,
}

#[derive(Debug)]
struct Member {
    name: String,
    thread: Pid,
    state: State,
}

/// The threads of a run.
#[derive(Debug, Default)]
pub(crate) struct Roll {
    members: Mutex<Vec<Member>>,
    changed: Condvar,
}

/// Notes the end of a thread, however it ends.
struct Place {
    roll: Arc<Roll>,
    index: usize,
}

impl Drop for Place {
    /// Says how the thread ended, also if it panicked.
    fn drop(&mut self) {
        let state = if thread::panicking() {
            State::Panicked
        } else {
            State::Returned
        };
        self.roll.note(self.index, |member| member.state = state);
    }
}

impl Roll {
    /// Starts a thread. It is on the roll before it runs.
    pub(crate) fn spawn(
        self: &Arc<Self>,
        name: &str,
        body: impl FnOnce() + Send + 'static,
    ) -> Result<(), GuestError> {
        let index = {
            let mut members = lock(&self.members);
            members.push(Member {
                name: name.to_owned(),
                thread: 0,
                state: State::Starting,
            });
            members.len() - 1
        };
        let place = Place {
            roll: Arc::clone(self),
            index,
        };
        let run = move || {
            let thread = sys::thread_id();
            place.roll.note(place.index, |member| {
                member.thread = thread;
                member.state = State::Running;
            });
            body();
            drop(place);
        };
        let spawned = thread::Builder::new().name(name.to_owned()).spawn(run);
        spawned
            .map(drop)
            .map_err(|error| GuestError::environment(format!("thread {name}"), &error))
    }

    /// Whoever waits looks again.
    fn note(&self, index: usize, change: impl FnOnce(&mut Member)) {
        change(&mut lock(&self.members)[index]);
        self.changed.notify_all();
    }

    /// How many were started.
    pub(crate) fn len(&self) -> usize {
        lock(&self.members).len()
    }

    /// Waits until all have begun, and gives their ids in the order of their start.
    pub(crate) fn threads(&self) -> Result<Vec<Pid>, GuestError> {
        let starting = |members: &Vec<Member>| members.iter().any(|m| m.state == State::Starting);
        let members = self.wait_while(END_WITHIN_NS, starting);
        match members.iter().find(|m| m.state == State::Starting) {
            Some(member) => Err(GuestError::Environment(format!(
                "thread {} did not begin within {} s",
                member.name,
                END_WITHIN_NS / 1_000_000_000
            ))),
            None => Ok(members.iter().map(|member| member.thread).collect()),
        }
    }

    /// Waits for the end of all, in the kernel too. What hung or panicked comes back in words.
    pub(crate) fn finish(&self, within_ns: u64) -> Vec<String> {
        let deadline_ns = sys::now_ns() + within_ns;
        let open = |m: &Member| matches!(m.state, State::Starting | State::Running);
        let members = self.wait_while(within_ns, |members| members.iter().any(open));
        let mut failures = Vec::new();
        for member in members.iter() {
            let task = PathBuf::from(format!("/proc/self/task/{}", member.thread));
            // A thread that returned has its exit path before it.
            while !open(member) && task.exists() && sys::now_ns() < deadline_ns {
                sys::sleep_ns(1_000_000);
            }
            if open(member) || task.exists() {
                let seconds = within_ns / 1_000_000_000;
                failures.push(format!(
                    "{} (tid {}) did not end within {seconds} s: {}",
                    member.name,
                    member.thread,
                    whereabouts(&task)
                ));
            } else if member.state == State::Panicked {
                failures.push(format!("{} (tid {}) panicked", member.name, member.thread));
            }
        }
        failures
    }

    /// Until the condition ends, or the time.
    fn wait_while(
        &self,
        within_ns: u64,
        condition: impl Fn(&Vec<Member>) -> bool,
    ) -> MutexGuard<'_, Vec<Member>> {
        let within = Duration::from_nanos(within_ns);
        let members = lock(&self.members);
        self.changed
            .wait_timeout_while(members, within, |members| condition(members))
            .unwrap_or_else(PoisonError::into_inner)
            .0
    }
}

/// Waits for a child that must end with code 0; one that hangs is reported and killed.
pub(crate) fn finish_child(name: &str, child: Pid, within_ns: u64) -> Result<(), String> {
    let ended = sys::wait_ended(child, within_ns)
        .map_err(|error| format!("{name} (pid {child}) is lost: {error}"))?;
    match ended {
        Some(Ended::Exit(0)) => Ok(()),
        Some(Ended::Exit(code)) => Err(format!("{name} (pid {child}) ended with code {code}")),
        Some(Ended::Signal(signal)) => Err(format!(
            "{name} (pid {child}) was killed by signal {signal}"
        )),
        None => {
            let place = whereabouts(Path::new(&format!("/proc/{child}")));
            sys::kill(child);
            let seconds = within_ns / 1_000_000_000;
            Err(format!(
                "{name} (pid {child}) did not end within {seconds} s: {place}"
            ))
        }
    }
}

/// Tells where the kernel has a task: its state, where it waits, its stack if we may see it.
fn whereabouts(task: &Path) -> String {
    let read = |file: &str| match fs::read_to_string(task.join(file)) {
        Ok(text) => text,
        Err(error) => error.to_string(),
    };
    let status = read("status");
    let state = status.lines().find_map(|line| line.strip_prefix("State:"));
    let stack = read("stack");
    let frames: Vec<&str> = stack.lines().map(str::trim).collect();
    format!(
        "state {}, wchan {}, stack {}",
        state.unwrap_or("unknown").trim(),
        read("wchan").trim(),
        frames.join(" < ")
    )
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn a_thread_that_hangs_is_named_and_one_that_ends_is_not() {
        let roll = Arc::new(Roll::default());
        let (release, wait) = mpsc::channel::<()>();
        roll.spawn("quick", || ()).expect("a thread");
        roll.spawn("hung", move || assert!(wait.recv().is_err()))
            .expect("a thread");
        assert_eq!(roll.threads().expect("ids").len(), 2);
        let failures = roll.finish(100_000_000);
        assert_eq!(failures.len(), 1, "{failures:?}");
        assert!(failures[0].starts_with("hung (tid "), "{failures:?}");
        assert!(failures[0].contains("state S"), "{failures:?}");
        drop(release);
        assert_eq!(roll.finish(END_WITHIN_NS), Vec::<String>::new());
    }

    #[test]
    fn a_thread_that_panics_is_a_failure() {
        let roll = Arc::new(Roll::default());
        roll.spawn("broken", || panic!("on purpose"))
            .expect("a thread");
        let failures = roll.finish(END_WITHIN_NS);
        assert!(failures[0].contains("broken") && failures[0].ends_with("panicked"));
    }
}
