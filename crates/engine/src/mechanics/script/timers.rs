//! Periodic timers: when they expire next, by mode (docs/rules/rt-app.md#rt-app-timer,
//! docs/rules/workloads.md#cyclictest), and which of them each forked thread has for itself
//! (docs/decisions/023).
//!
//! What must stay: times are ns from the run's start. Free: what leaves recorded runs as they are
//! (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `late_timers_rebase_or_keep_the_grid` (`advance`), `overruns_are_left_out` and
//! measures.rs::`a_timer_with_overruns_leaves_out_what_it_missed` (`taken`),
//! `forked_threads_have_timers_of_their_own` (`PrivateTimers`, `resolve`),
//! forking.rs::`forked_threads_have_timers_of_their_own` also `of` and `timers_of`; `timer`,
//! `ahead` and `late` are the tests' own. Each `new`: all.
//!
//! Tests: below, crates/engine/tests/behaviour/measures.rs,
//! crates/engine/tests/behaviour/forking.rs::forked_threads_have_timers_of_their_own

use wakeplace_workload::{Event, TaskScript, Timer, TimerMode, Workload};

/// A timer of the workload and its next expiry.
#[derive(Clone, Debug)]
pub(crate) struct TimerState {
    mode: TimerMode,
    start_delay_ns: u64,
    next_ns: Option<u64>,
}

/// One use of a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimerUse {
    /// The expiry that is waited for, ns.
    pub(crate) due_ns: u64,
    /// It lies ahead; else it is over and nobody waits.
    pub(crate) ahead: bool,
    /// Late, and the expiries since go by back to back.
    pub(crate) catches_up: bool,
}

impl TimerState {
    /// Not started: the first use says when it expires.
    pub(crate) fn new(timer: &Timer) -> Self {
        Self {
            mode: timer.mode,
            start_delay_ns: timer.start_delay_ns,
            next_ns: None,
        }
    }

    /// One use of the timer, now: when it expires, and whether the thread is late for that.
    pub(crate) fn advance(&mut self, now_ns: u64, t_zero_ns: u64, period_ns: u64) -> TimerUse {
        let last = self.next_ns.unwrap_or(t_zero_ns + self.start_delay_ns);
        let due_ns = last.saturating_add(period_ns);
        let ahead = due_ns > now_ns;
        // A late relative timer starts anew from now; the others keep the grid.
        let rebased = !ahead && self.mode == TimerMode::Relative;
        self.next_ns = Some(if rebased { now_ns } else { due_ns });
        if !ahead {
            self.taken(now_ns, period_ns);
        }
        TimerUse {
            due_ns,
            ahead,
            catches_up: !ahead && self.mode == TimerMode::Absolute,
        }
    }

    /// The thread has noticed the expiry: one that counts overruns leaves out the expiries since.
    pub(crate) fn taken(&mut self, now_ns: u64, period_ns: u64) {
        if self.mode != TimerMode::Overrun || period_ns == 0 {
            return;
        }
        if let Some(next) = &mut self.next_ns {
            *next += now_ns.saturating_sub(*next) / period_ns * period_ns;
        }
    }
}

/// Which timers each forked thread has for itself: those that its script alone names. All threads
/// use the others in common (docs/decisions/023). Without forks there are no copies.
#[derive(Debug, Default)]
pub(crate) struct PrivateTimers {
    /// Per timer: the script that alone names it, and the timer's place in `of_script`. None: the
    /// timer is shared, or nobody names it.
    owner: Vec<Option<(u32, u32)>>,
    /// Per script its own timers.
    of_script: Vec<Vec<u32>>,
}

impl PrivateTimers {
    /// Which script alone names which timer; empty where no thread is forked.
    pub(crate) fn new(workload: &Workload) -> Self {
        if workload.tasks.iter().all(|task| task.forks.is_none()) {
            return Self::default(); // one thread each
        }
        let mut owner: Vec<Option<Option<u32>>> = vec![None; workload.timers.len()];
        for (script, task) in (0..).zip(&workload.tasks) {
            for timer in timers_of(task) {
                let one = &mut owner[timer as usize];
                *one = match *one {
                    None => Some(Some(script)),
                    Some(Some(other)) if other == script => *one,
                    Some(_) => Some(None), // shared
                };
            }
        }
        let mut of_script = vec![Vec::new(); workload.tasks.len()];
        let mut place = |(timer, script): (u32, Option<Option<u32>>)| {
            let script = script.flatten()?;
            let own: &mut Vec<u32> = &mut of_script[script as usize];
            own.push(timer);
            Some((script, own.len() as u32 - 1))
        };
        let owner = (0..).zip(owner).map(&mut place).collect();
        Self { owner, of_script }
    }

    /// The timers that a new thread of `script` gets copies of.
    pub(crate) fn of(&self, script: u32) -> &[u32] {
        self.of_script
            .get(script as usize)
            .map_or(&[], Vec::as_slice)
    }

    /// The timer that a thread of `script` means by `timer`; its copies begin at `base`.
    pub(crate) fn resolve(&self, timer: u32, script: u32, base: Option<u32>) -> u32 {
        let Some(base) = base else { return timer };
        match self.owner[timer as usize] {
            Some((owner, at)) if owner == script => base + at,
            _ => timer,
        }
    }
}

/// Timers that steps of the script name, in their order, repeated as they are.
fn timers_of(task: &TaskScript) -> impl Iterator<Item = u32> + '_ {
    let events = task.phases.iter().flat_map(|phase| &phase.events);
    events.filter_map(|event| match event {
        Event::Timer { timer, .. } => Some(*timer),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::{TimerState, TimerUse};
    use wakeplace_workload::{Timer, TimerMode};

    fn timer(mode: TimerMode) -> TimerState {
        TimerState::new(&Timer {
            name: "unique".into(),
            mode,
            start_delay_ns: 5,
        })
    }

    fn ahead(due_ns: u64) -> TimerUse {
        TimerUse {
            due_ns,
            ahead: true,
            catches_up: false,
        }
    }

    fn late(mode: TimerMode, due_ns: u64) -> TimerUse {
        TimerUse {
            due_ns,
            ahead: false,
            catches_up: mode == TimerMode::Absolute,
        }
    }

    /// Source: docs/rules/rt-app.md#rt-app-events: relative timers rebase when late, absolute ones
    /// keep the grid.
    #[test]
    fn late_timers_rebase_or_keep_the_grid() {
        let mut relative = timer(TimerMode::Relative);
        assert_eq!(relative.advance(20, 100, 10), ahead(115));
        assert_eq!(
            relative.advance(130, 100, 10),
            late(TimerMode::Relative, 125)
        );
        assert_eq!(relative.advance(131, 100, 10), ahead(140));
        let mut absolute = timer(TimerMode::Absolute);
        assert_eq!(absolute.advance(20, 100, 10), ahead(115));
        assert_eq!(
            absolute.advance(140, 100, 10),
            late(TimerMode::Absolute, 125)
        );
        assert_eq!(
            absolute.advance(141, 100, 10),
            late(TimerMode::Absolute, 135)
        );
        assert_eq!(absolute.advance(142, 100, 10), ahead(145));
    }

    /// Source: docs/rules/workloads.md#cyclictest: missed expiries advance `next` by the overrun
    /// count, which is of the time when the expiry was noticed.
    #[test]
    fn overruns_are_left_out() {
        let mut overrun = timer(TimerMode::Overrun);
        assert_eq!(overrun.advance(20, 100, 10), ahead(115));
        // 125 is late; 135 and 145 passed, too, until 147.
        assert_eq!(overrun.advance(147, 100, 10), late(TimerMode::Overrun, 125));
        assert_eq!(overrun.advance(148, 100, 10), ahead(155));
        // It was noticed at 176: 165 and 175 are left out, and 185 is next.
        overrun.taken(176, 10);
        assert_eq!(overrun.advance(177, 100, 10), ahead(185));
    }
}
