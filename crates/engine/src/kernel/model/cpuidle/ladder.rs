//! The ladder governor (docs/rules/cpuidle.md#ladder): a state deeper after four idle times that
//! outlasted the present one's exit, a state shallower after one that did not. Timers it does not
//! look at, and the tick it always stops.
//!
//! What must stay: every choice, since recordings of kernels are compared one by one. Times are ns.
//! Free: what leaves recorded runs as they are (ARCHITECTURE.md, "What a change may touch"). Tests
//! by part: `teo_and_ladder_choose_as_the_kernels_own` (`select`, `go`, `reflect`, call by call).
//! `new` by the same: the first choice shows where it begins.
//!
//! Callers: cpuidle/mod.rs, for a CPU's governor.
//!
//! Tests: crates/engine/src/kernel/model/cpuidle/recorded.rs

use super::{IdleChoice, Sleep, Slept};
use crate::machine::CpuIdleState;

/// Idle times long enough in a row for a deeper state (`PROMOTION_COUNT`).
const PROMOTION_COUNT: u32 = 4;

/// The memory of one CPU.
#[derive(Clone, Debug)]
pub(crate) struct Ladder {
    /// The state it is at, and the first that it uses.
    at: usize,
    first: usize,
    /// Per state, idle times in a row that were long enough.
    promotions: Vec<u32>,
    /// The last idle time.
    last_ns: u64,
}

impl Ladder {
    /// It begins in the first state that does not poll, if there is one.
    pub(super) fn new(states: &[CpuIdleState]) -> Self {
        let first = usize::from(states[0].polling && states.len() > 1);
        Self {
            at: first,
            first,
            promotions: vec![0; states.len()],
            last_ns: 0,
        }
    }

    /// The state for the idle time that begins; `reflect` has told how the last one went.
    pub(super) fn select(&mut self, sleep: &Sleep<'_>) -> IdleChoice {
        let limit = sleep.states[self.at].wake_latency_ns;
        // As the kernel compares, an idle time shorter than the exit is a very long one.
        let last_ns = self.last_ns.wrapping_sub(limit);
        if self.at + 1 < sleep.states.len() && last_ns > limit {
            self.promotions[self.at] += 1;
            if self.promotions[self.at] >= PROMOTION_COUNT {
                return self.go(self.at + 1);
            }
        }
        if self.at > self.first && last_ns < limit {
            return self.go(self.at - 1);
        }
        IdleChoice::stops_tick(self.at)
    }

    /// A change of state forgets how far the next promotion was.
    fn go(&mut self, to: usize) -> IdleChoice {
        self.promotions[self.at] = 0;
        self.at = to;
        IdleChoice::stops_tick(to)
    }

    /// Keeps how long the CPU idled, ns; `select` judges it.
    pub(super) fn reflect(&mut self, slept: &Slept) {
        self.last_ns = slept.idle_ns;
    }
}
