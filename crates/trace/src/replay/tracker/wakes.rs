//! Who woke whom: a task, or nobody that shows (docs/guide/traces-in.md, "What becomes of it").
//!
//! What must stay: the second event of a wake-up changes nothing; an interrupt is no task's doing,
//! whomever it interrupted. Times are ns. Free: what leaves the scripts of recordings as they are
//! (ARCHITECTURE.md, "What a change may touch"). Tests by part: `a_recording_by_hand` (`wake`,
//! `waker`), gaps.rs::`the_time_of_lost_events_is_nobodys` (`woken_by_nobody`).
//!
//! Callers: replay/tracker.rs (`wake`, `woken_by_nobody`), gaps.rs (`woken_by_nobody`).
//!
//! Tests: crates/trace/tests/all/replay/mod.rs::a_recording_by_hand,
//! crates/trace/tests/all/replay/gaps.rs

use super::{Current, JUST_LEFT_NS, State, Step, Tracker};
use crate::event::{Context, Who};

impl Tracker {
    /// A sleeper goes on that no task has woken: its sleep ends at this time, or a device is done.
    pub(super) fn woken_by_nobody(&mut self, now: u64, task: u32) -> Result<(), String> {
        let step = match self.tasks[task as usize].state {
            State::Sleeping {
                since_ns,
                device: true,
            } => Step::Io(now.saturating_sub(since_ns)),
            _ => Step::At(now),
        };
        self.tasks[task as usize].woken_ns = Some(now);
        self.push(task, step)
    }

    /// A sleeper is woken; the second event of the same wake-up changes nothing.
    pub(super) fn wake(
        &mut self,
        now: u64,
        cpu: usize,
        context: &Context<'_>,
        who: &Who<'_>,
    ) -> Result<(), String> {
        let task = self.task(who)?;
        // Said with nobody waiting it is of no wake-up, least of all of a later one.
        let said = self.cpus[cpu].sync_ns.take();
        let sync = said.is_some_and(|said| now - said <= JUST_LEFT_NS);
        let sleeps = match self.tasks[task as usize].state {
            State::Sleeping { .. } => true,
            // Seen for the first time: it has slept since before the recording.
            State::Unseen => self.tasks[task as usize].made.is_none(),
            // It fell asleep by an event that is missing.
            State::Lost => {
                self.flush(task)?;
                true
            }
            _ => false,
        };
        if !sleeps {
            return Ok(());
        }
        self.kernel_charge(now, cpu, self.costs().wakeup);
        match self.waker(now, cpu, context) {
            Some(waker) if waker != task => {
                self.flush(waker)?;
                self.push(waker, Step::Wake(task, sync))?;
                self.push(task, Step::Await)?;
                self.tasks[task as usize].woken_ns = Some(now);
            }
            _ => {
                let due = self.due(now, cpu);
                self.woken_by_nobody(due, task)?;
            }
        }
        self.tasks[task as usize].state = State::Runnable;
        Ok(())
    }

    /// The task that did it: one that runs there. An interrupt is none, whomever it interrupted.
    fn waker(&mut self, now: u64, cpu: usize, context: &Context<'_>) -> Option<u32> {
        if context.interrupt || context.pid <= 0 || self.timer(now, cpu).is_some() {
            return None;
        }
        let waker = self.by_pid.get(&context.pid).copied();
        let runs = |task: &u32| self.cpus[cpu].current == Current::Task(*task);
        let waker = waker.filter(runs);
        self.odd.foreign += u64::from(waker.is_none());
        waker
    }
}
