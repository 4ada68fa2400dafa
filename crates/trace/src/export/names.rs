//! What is made of a thread's name, number and priority once, and copied into each of its events
//! (docs/guide/traces.md).
//!
//! What must stay: what was made of a name stays for the whole trace, and a priority that changes
//! makes it anew; an idle task is that of its CPU. Free: what leaves the bytes of files as they are
//! (ARCHITECTURE.md, "What a change may touch"). Tests by part: `events_told_by_hand` (`know`,
//! `get`), `priorities_follow_the_phases` (a priority that changes), all (`default`, `thread`).
//!
//! Callers: ftrace.rs (`know`), parquet.rs (`know`), export/perfetto/events.rs (`know`).
//!
//! Tests: crates/trace/tests/all/traces.rs

use super::threads::LEADER;
use crate::event::Who;

/// Something of each thread, and of the idle task of each CPU.
#[derive(Debug)]
pub(super) struct ByThread<T> {
    /// By number less `LEADER`; None: not needed yet.
    threads: Vec<Option<Made<T>>>,
    /// By CPU.
    idle: Vec<Option<Made<T>>>,
}

/// A name and a number never change. A priority may: this is of the last one.
#[derive(Debug)]
struct Made<T> {
    prio: i32,
    it: T,
}

impl<T> Default for ByThread<T> {
    /// Nothing is known of any thread.
    fn default() -> Self {
        Self {
            threads: Vec::new(),
            idle: Vec::new(),
        }
    }
}

impl<T> ByThread<T> {
    /// From now on it can be had of this thread; if it is an idle task, of that of the CPU.
    #[inline]
    pub(super) fn know(&mut self, who: Who<'_>, cpu: u32, make: impl FnOnce(Who<'_>) -> T) {
        let (list, at) = match who.pid {
            0 => (&mut self.idle, cpu as usize),
            pid => (&mut self.threads, thread(pid)),
        };
        let known = list.get(at).and_then(Option::as_ref);
        if known.is_some_and(|made| made.prio == who.prio) {
            return;
        }
        if list.len() <= at {
            list.resize_with(at + 1, || None);
        }
        list[at] = Some(Made {
            prio: who.prio,
            it: make(who),
        });
    }

    /// What is known of it.
    #[inline]
    pub(super) fn get(&self, who: Who<'_>, cpu: u32) -> &T {
        let made = match who.pid {
            0 => &self.idle[cpu as usize],
            pid => &self.threads[thread(pid)],
        };
        &made.as_ref().expect("made before").it
    }
}

/// The place of a thread in the list, by its number.
#[inline]
fn thread(pid: i32) -> usize {
    usize::try_from(pid - LEADER).expect("threads follow the process's number")
}
