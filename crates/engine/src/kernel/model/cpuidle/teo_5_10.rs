//! The TEO governor of 5.1 to 5.13, as read in 5.10 (docs/rules/cpuidle.md#teo-5-10): per state,
//! how often the next timer was a good guess, and how often a wake-up before the timer fitted the
//! state; and the mean of recent idle times.
//!
//! What must stay: the choices of 5.10, as recorded. Times are ns; metrics wrap as the kernel's do.
//! Free: what leaves recorded runs as they are (ARCHITECTURE.md, "What a change may touch"). Tests
//! by part: `teo_and_ladder_choose_as_the_kernels_own` (all of it, call by call). That is `new`,
//! `select`, `reflect`, `candidate`, `typical_ns` and `decayed`.
//!
//! Callers: cpuidle/mod.rs (the governor in force).
//!
//! Tests: crates/engine/src/kernel/model/cpuidle/recorded.rs

use super::{DECAY_SHIFT, IdleChoice, PULSE, Sleep, Slept};
use crate::machine::CpuIdleState;

const INTERVALS: usize = 8;

/// What is known of one state.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// The timer matched another state, and the idle time this one.
    early_hits: u32,
    /// The timer matched it, and so did the idle time.
    hits: u32,
    /// The timer matched it, and the idle time did not.
    misses: u32,
}

/// The memory of one CPU.
#[derive(Clone, Debug)]
pub(crate) struct TeoByHits {
    known: Vec<Known>,
    /// To the next timer, when it was last asked.
    sleep_ns: u64,
    /// The last idle times; `u64::MAX`: as long as the timer allowed.
    intervals_ns: [u64; INTERVALS],
    at: usize,
}

/// The state that matches the timer, and what is known of it.
struct Candidate {
    state: usize,
    hits: u32,
    misses: u32,
    /// The shallower state with most early hits.
    early: Option<usize>,
}

/// An old count loses an eighth.
fn decayed(metric: u32) -> u32 {
    metric - (metric >> DECAY_SHIFT)
}

impl TeoByHits {
    /// Nothing known; no interval yet (`u64::MAX` stands for none).
    pub(super) fn new(states: &[CpuIdleState]) -> Self {
        Self {
            known: vec![Known::default(); states.len()],
            sleep_ns: 0,
            intervals_ns: [u64::MAX; INTERVALS],
            at: 0,
        }
    }

    /// What an idle period came to: hits, misses and early hits of the states.
    pub(super) fn reflect(&mut self, states: &[CpuIdleState], slept: &Slept) {
        let on_time = slept.idle_ns >= self.sleep_ns || slept.by_safety_net(self.sleep_ns);
        let measured = match on_time {
            true => u64::MAX,
            false => slept.measured_ns(),
        };
        self.known
            .iter_mut()
            .for_each(|k| k.early_hits = decayed(k.early_hits));
        let matched = |ns: u64| states.iter().rposition(|s| s.residency_ns <= ns);
        if let Some(timer) = matched(self.sleep_ns) {
            let hit = matched(measured.min(self.sleep_ns));
            let known = &mut self.known[timer];
            (known.hits, known.misses) = (decayed(known.hits), decayed(known.misses));
            if hit == Some(timer) {
                known.hits += PULSE;
            } else {
                known.misses += PULSE;
                if let Some(hit) = hit {
                    self.known[hit].early_hits += PULSE;
                }
            }
        }
        self.intervals_ns[self.at] = measured;
        self.at = (self.at + 1) % INTERVALS;
    }

    /// The state to enter, and whether the tick goes on.
    pub(super) fn select(&mut self, sleep: &Sleep<'_>) -> IdleChoice {
        self.sleep_ns = sleep.to_timer_ns;
        let mut duration = sleep.to_timer_ns;
        let candidate = self.candidate(sleep);
        let mut state = candidate.state;
        if let Some(early) = candidate.early
            && candidate.hits <= candidate.misses
        {
            state = early;
            duration = sleep.residency(state);
        }
        if state > 0
            && let Some(mean) = self.typical_ns(duration)
            && sleep.long_enough(mean)
        {
            duration = mean;
            if sleep.residency(state) > mean {
                state = sleep.shallower(state, mean);
            }
        }
        sleep.decide(state, duration, sleep.to_event_ns())
    }

    /// The deepest state that the time to the timer allows, and the one with the most early hits.
    fn candidate(&self, sleep: &Sleep<'_>) -> Candidate {
        let (mut most, mut early, mut early_before) = (0, None, None);
        let mut state = 0;
        for (at, known) in self.known.iter().enumerate() {
            if sleep.residency(at) > sleep.to_timer_ns {
                break;
            }
            state = at;
            if most < known.early_hits && sleep.long_enough(sleep.residency(at)) {
                early_before = early;
                most = known.early_hits;
                early = Some(at);
            }
        }
        if early == Some(state) {
            early = early_before;
        }
        let Known { hits, misses, .. } = self.known[state];
        Candidate {
            state,
            hits,
            misses,
            early,
        }
    }

    /// The mean of the last idle times below `duration`, if they are the majority.
    fn typical_ns(&self, duration: u64) -> Option<u64> {
        let below = || self.intervals_ns.iter().filter(|ns| **ns < duration);
        let count = below().count();
        (count > INTERVALS / 2).then(|| below().sum::<u64>() / count as u64)
    }
}
