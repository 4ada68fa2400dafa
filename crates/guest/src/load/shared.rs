//! What all threads of a job see (docs/guide/lab.md).
//!
//! What must stay: no thread begins before all are set up, and none waits without an end. Free:
//! which locks are used.
//!
//! Tests by part: `a_delayed_task_begins_later` (`Times`, `measured`),
//! `a_cpu_that_is_not_there_is_the_machines_fault` (`arrive`, `all_ready`),
//! `forked_tasks_run_and_a_task_ends_with_its_loops` (`Gate`: `open`, `pass`; `Stage`: `set`,
//! `is`). `fail` has no test of its own.
//!
//! Callers: load/mod.rs (`new`, `all_ready`, `open`), load/task.rs (`arrive`, `pass`, `measured`,
//! `fail`).
//!
//! Tests: crates/guest/src/load/tests.rs

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use super::result::TaskResult;
use super::sync::{Event, TimerState};
use crate::cpus::Cpus;
use crate::error::GuestError;
use crate::job::Job;
use crate::steady::{END_WITHIN_NS, Roll, lock};

/// The times of a run, CLOCK_MONOTONIC, ns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    /// Common start of the tasks.
    pub(super) start_ns: u64,
    pub(super) window_begin_ns: u64,
    pub(super) window_end_ns: u64,
    /// Nothing new begins from here on.
    pub(super) stop_ns: u64,
}

impl Times {
    /// Says whether a time is in the measured window.
    pub(super) fn measured(self, time_ns: u64) -> bool {
        (self.window_begin_ns..self.window_end_ns).contains(&time_ns)
    }
}

/// How far a run is. Tasks look here for every slice of work: a load, where a clock is a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    WarmUp,
    Window,
    RunOut,
    Stop,
}

#[derive(Debug)]
pub(super) struct StageCell(AtomicU8);

impl StageCell {
    /// Stages go forward only.
    pub(super) fn set(&self, stage: Stage) {
        self.0.store(stage as u8, Ordering::Release);
    }

    /// Is it this stage now?
    pub(super) fn is(&self, stage: Stage) -> bool {
        self.0.load(Ordering::Acquire) == stage as u8
    }
}

/// Holds all tasks back until the last of them is there.
#[derive(Debug, Default)]
pub(super) struct Gate {
    state: Mutex<GateState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct GateState {
    ready: usize,
    refused: Option<String>,
    times: Option<Times>,
}

impl Gate {
    /// One more task is set up, or cannot be.
    pub(super) fn arrive(&self, set_up: Result<(), String>) {
        let mut state = lock(&self.state);
        state.ready += 1;
        if let Err(what) = set_up {
            state.refused.get_or_insert(what);
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Waits until so many have arrived.
    pub(super) fn all_ready(&self, expected: usize) -> Result<(), GuestError> {
        let state = lock(&self.state);
        let within = Duration::from_nanos(END_WITHIN_NS);
        let (state, _) = self
            .changed
            .wait_timeout_while(state, within, |state| state.ready < expected)
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(what) = &state.refused {
            return Err(GuestError::Environment(what.clone()));
        }
        if state.ready < expected {
            return Err(GuestError::Environment(format!(
                "{} of {expected} tasks were ready after {} s",
                state.ready,
                within.as_secs()
            )));
        }
        Ok(())
    }

    /// Lets all tasks begin, with the times of the run.
    pub(super) fn open(&self, times: Times) {
        lock(&self.state).times = Some(times);
        self.changed.notify_all();
    }

    /// Waits for the gate to open.
    pub(super) fn pass(&self) -> Times {
        let mut state = lock(&self.state);
        loop {
            if let Some(times) = state.times {
                return times;
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// One run.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) job: Job,
    pub(super) cpus: Cpus,
    /// CPUs of tasks that name none.
    pub(super) allowed: Vec<u32>,
    pub(super) stage: StageCell,
    pub(super) gate: Gate,
    pub(super) timers: Vec<Mutex<TimerState>>,
    pub(super) events: Vec<Event>,
    pub(super) roll: Arc<Roll>,
    pub(super) results: Mutex<Vec<TaskResult>>,
    pub(super) failures: Mutex<Vec<String>>,
}

impl Shared {
    /// What the threads of a job share before any of them has begun.
    pub(super) fn new(job: Job, cpus: Cpus, allowed: Vec<u32>) -> Self {
        Self {
            stage: StageCell(AtomicU8::new(Stage::WarmUp as u8)),
            gate: Gate::default(),
            timers: job
                .timers
                .iter()
                .map(|&t| TimerState::new(t).into())
                .collect(),
            events: (0..job.events).map(|_| Event::default()).collect(),
            roll: Arc::new(Roll::default()),
            results: Mutex::default(),
            failures: Mutex::default(),
            job,
            cpus,
            allowed,
        }
    }

    /// Notes what a task could not do.
    pub(super) fn fail(&self, what: String) {
        lock(&self.failures).push(what);
    }
}
