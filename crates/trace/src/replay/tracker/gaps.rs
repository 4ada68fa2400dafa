//! What is not known: who ran before a CPU's first event, and when events were lost
//! (docs/guide/traces-in.md, "Order, gaps, size").
//!
//! What must stay: what is not known is nobody's work: a gap never adds any; odd events are counted
//! for warnings (`Odd`). Free: what leaves the scripts of recordings as they are (ARCHITECTURE.md,
//! "What a change may touch"). Tests by part: `a_buffer_that_starts_later` (`runs_from_the_start`,
//! `learn`), `the_time_of_lost_events_is_nobodys` (`lose`, `may_have_run_here`),
//! `a_task_that_leaves_an_idle_cpu_is_told` (`leaves_unseen`), `a_task_that_shows_late_begins_then`
//! (`shows_late`).
//!
//! Tests: crates/trace/tests/all/replay/gaps.rs

use super::{Current, State, Tracker};
use crate::event::{Context, TaskState, Who};

/// A task that first shows by running, so long after the beginning, was not waiting all the time,
/// ns: it is woken or made then, by an event that is not recorded.
const MOST_WAITED_NS: u64 = 100_000_000;

/// Oddities that were counted.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::replay) struct Odd {
    /// Tasks that ran without having been woken.
    pub(in crate::replay) unexplained: u64,
    /// Wake-ups by a task that was not running by the recording.
    pub(in crate::replay) foreign: u64,
    /// Switches from another task than ran before.
    pub(in crate::replay) gaps: u64,
}

impl Tracker {
    /// Who runs on the CPU where an event happened, if nothing has said so yet.
    pub(super) fn learn(&mut self, cpu: usize, context: &Context<'_>) -> Result<(), String> {
        if self.cpus[cpu].current != Current::Unknown || context.pid <= 0 || context.interrupt {
            return Ok(());
        }
        if let Some(task) = self.by_pid.get(&context.pid)
            && !self.may_have_run_here(cpu, *task)
        {
            return Ok(());
        }
        let who = Who {
            comm: context.comm,
            pid: context.pid,
            prio: 120,
        };
        let task = self.task(&who)?;
        self.runs_from_the_start(cpu, task)
    }

    /// A task that turns out to run on a CPU of which nothing was known until now.
    pub(super) fn may_have_run_here(&self, cpu: usize, task: u32) -> bool {
        match self.tasks[task as usize].state {
            State::Unseen | State::Lost => true,
            // Woken, and switched to, by events that are missing.
            State::Sleeping { .. } | State::Runnable => self.cpus[cpu].gap_ns.is_some(),
            State::Running(_) | State::Ended => false,
        }
    }

    /// It has run since the recording of this CPU begins: what was before is not known.
    pub(super) fn runs_from_the_start(&mut self, cpu: usize, task: u32) -> Result<(), String> {
        let begins = self.cpus[cpu].gap_ns.or(self.first_ns).unwrap_or(0);
        if let State::Sleeping { .. } = self.tasks[task as usize].state {
            self.odd.unexplained += 1;
            self.woken_by_nobody(begins, task)?;
        }
        self.cpus[cpu].current = Current::Task(task);
        self.cpus[cpu].accounted_ns = begins;
        let own = &mut self.tasks[task as usize];
        own.state = State::Running(cpu as u32);
        own.last_cpu = Some(cpu as u32);
        Ok(())
    }

    /// Events of a CPU before now are missing: what it did since its last one is not known.
    pub(super) fn lose(&mut self, now: u64, cpu: usize) {
        // Nothing of it is accounted: only the core's other threads have work up to now.
        self.cpus[cpu].accounted_ns = now;
        self.account(cpu, now);
        let own = &mut self.cpus[cpu];
        if let Current::Task(task) = own.current {
            self.tasks[task as usize].state = State::Lost;
        }
        own.current = Current::Unknown;
        own.gap_ns = Some(now);
        own.idle_state = None;
        own.left_idle = None;
        own.kernel = (0, now);
        own.timer = None;
        own.sync_ns = None;
        own.ticked_ns = None;
    }

    /// Somebody leaves a CPU who did not run there by what is known.
    pub(super) fn leaves_unseen(
        &mut self,
        now: u64,
        cpu: usize,
        (prev, left): (&Who<'_>, TaskState),
    ) -> Result<(), String> {
        self.odd.gaps += 1;
        self.lose(now, cpu);
        if prev.pid <= 0 {
            return Ok(());
        }
        let task = self.task(prev)?;
        match self.tasks[task as usize].state {
            State::Running(other) if other as usize != cpu => Ok(()),
            _ => self.leave(now, task, left),
        }
    }

    /// It was not there from the beginning, waiting for its turn.
    pub(super) fn shows_late(&self, now: u64, task: u32) -> bool {
        let seen_ns = now - self.first_ns.unwrap_or(now);
        self.tasks[task as usize].made.is_none() && seen_ns > MOST_WAITED_NS
    }
}
