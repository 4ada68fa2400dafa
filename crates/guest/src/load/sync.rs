//! What tasks wait on: timers and events (docs/guide/lab.md).
//!
//! What must stay: expiries as the simulator's timers have them
//! (crates/engine/src/mechanics/script/timers.rs). Free: which locks are used.
//!
//! Tests by part: `an_absolute_timer_keeps_its_grid_and_its_backlog`,
//! `a_late_relative_timer_starts_anew` (`advance`, `TimerState::new`),
//! `signals_are_counted_and_a_wait_ends_with_the_run` (`signal`, `wait`).
//!
//! Callers: load/task.rs.
//!
//! Tests: below

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::job::{Timer, TimerMode};
use crate::steady::lock;
use crate::sys;

/// A timer and its next expiry.
#[derive(Debug)]
pub(super) struct TimerState {
    timer: Timer,
    next_ns: Option<u64>,
}

impl TimerState {
    /// Makes a timer that was not used yet.
    pub(super) fn new(timer: Timer) -> Self {
        Self {
            timer,
            next_ns: None,
        }
    }

    /// One use: the expiry, which a late use has behind it.
    pub(super) fn advance(&mut self, now_ns: u64, start_ns: u64, period_ns: u64) -> u64 {
        let base = self.next_ns.unwrap_or(start_ns + self.timer.start_delay_ns);
        let expiry_ns = base + period_ns;
        let late = expiry_ns <= now_ns;
        // A late relative timer starts anew from now; an absolute one keeps its grid.
        let moves = late && self.timer.mode == TimerMode::Relative;
        self.next_ns = Some(if moves { now_ns } else { expiry_ns });
        expiry_ns
    }
}

/// Counts signals; each lets one waiter go on.
#[derive(Debug, Default)]
pub(super) struct Event {
    signals: Mutex<u64>,
    changed: Condvar,
}

impl Event {
    /// One more for whoever waits, or will.
    pub(super) fn signal(&self) {
        *lock(&self.signals) += 1;
        self.changed.notify_one();
    }

    /// Takes a signal, waiting for it until `stop_ns`. Whether it had to wait.
    pub(super) fn wait(&self, stop_ns: u64) -> bool {
        let mut signals = lock(&self.signals);
        let waits = *signals == 0;
        if waits {
            let within = Duration::from_nanos(stop_ns.saturating_sub(sys::now_ns()));
            signals = self
                .changed
                .wait_timeout_while(signals, within, |signals| *signals == 0)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        *signals = signals.saturating_sub(1);
        waits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timer(mode: TimerMode) -> TimerState {
        TimerState::new(Timer {
            mode,
            start_delay_ns: 5,
        })
    }

    #[test]
    fn an_absolute_timer_keeps_its_grid_and_its_backlog() {
        let mut timer = timer(TimerMode::Absolute);
        assert_eq!(timer.advance(1000, 1000, 10), 1015);
        assert_eq!(timer.advance(1016, 1000, 10), 1025);
        assert_eq!(timer.advance(1060, 1000, 10), 1035, "late");
        assert_eq!(timer.advance(1060, 1000, 10), 1045, "still late: at once");
    }

    #[test]
    fn a_late_relative_timer_starts_anew() {
        let mut timer = timer(TimerMode::Relative);
        assert_eq!(timer.advance(1000, 1000, 10), 1015);
        assert_eq!(timer.advance(1060, 1000, 10), 1025, "late");
        assert_eq!(timer.advance(1061, 1000, 10), 1070);
    }

    #[test]
    fn signals_are_counted_and_a_wait_ends_with_the_run() {
        let event = Event::default();
        event.signal();
        event.signal();
        let soon_ns = sys::now_ns() + 10_000_000;
        assert!(!event.wait(soon_ns) && !event.wait(soon_ns));
        assert!(event.wait(soon_ns), "the third waits");
        assert!(sys::now_ns() >= soon_ns, "and gives up at the end");
    }
}
