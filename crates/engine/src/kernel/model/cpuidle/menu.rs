//! The idle governor: a prediction of how long a CPU will stay idle, and the deepest state that
//! pays. In the manner of Linux's menu governor (4.17): the next timer, corrected by how early the
//! CPU woke before timers of that distance, and a pattern among the last eight idle times. It can
//! be wrong (docs/guide/model.md, "Idle").
//!
//! What must stay: choices are integers only, so that all machines choose alike; times are us where
//! the kernel's are. It is in the manner of menu, not compared with a recording. Free: what leaves
//! recorded runs as they are (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `a_far_timer_means_a_deep_state_and_no_tick` and `a_state_must_pay_and_be_left_in_time`
//! (`select`), `it_learns_that_interrupts_come_before_timers` (`reflect`),
//! `idle_times_that_agree_are_a_pattern` and `two_long_idle_times_do_not_break_a_pattern`
//! (`typical_us`), `a_tick_that_goes_on_bounds_the_state` and
//! `a_stopped_tick_drops_a_short_prediction` (the tick), `a_tick_that_stops_bounds_nothing` and
//! `a_stopped_tick_keeps_a_long_prediction` (the tick, the other way), all (`default`,
//! `bucket_of`); `states`, `choose`, `calm` and `interrupted` are the tests' own.
//!
//! Callers: cpuidle/mod.rs (the governor in force).
//!
//! Tests: below

use super::{IdleChoice, Sleep, Slept};
use crate::machine::CpuIdleState;

const INTERVALS: usize = 8;
const BUCKETS: usize = 6;
/// Correction factors are averages over about 8 values, scaled by 1024: this is 1.
const UNITY: u64 = 1024 * 8;
/// Idle times beyond this say nothing about the correction, us.
const INTERESTING_US: u64 = 50_000;

/// Idle times are remembered up to this, us: their squares still add up in 64 bits.
const LONGEST_US: u64 = 100_000_000;

/// The memory of one CPU.
#[derive(Clone, Debug)]
pub(crate) struct Menu {
    correction: [u64; BUCKETS],
    intervals_us: [u64; INTERVALS],
    at: usize,
    /// Idle times so far, up to as many as are remembered.
    known: usize,
    bucket: usize,
    next_timer_us: u64,
}

impl Default for Menu {
    /// Nothing learnt: timers are believed (`UNITY`), no pattern.
    fn default() -> Self {
        Self {
            correction: [UNITY; BUCKETS],
            intervals_us: [0; INTERVALS],
            at: 0,
            known: 0,
            bucket: 0,
            next_timer_us: 0,
        }
    }
}

/// Decade of a duration in us: corrections are kept by it.
fn bucket_of(us: u64) -> usize {
    match us {
        0..10 => 0,
        10..100 => 1,
        100..1_000 => 2,
        1_000..10_000 => 3,
        10_000..100_000 => 4,
        _ => 5,
    }
}

impl Menu {
    /// Chooses a state. Without a tick nothing ends a shallow one before the timer: a prediction
    /// shorter than a tick is then dropped (docs/decisions/006).
    pub(crate) fn select(&mut self, sleep: &Sleep<'_>) -> IdleChoice {
        let states = sleep.states;
        self.next_timer_us = sleep.to_timer_ns / 1000;
        self.bucket = bucket_of(self.next_timer_us);
        let corrected = self.next_timer_us * self.correction[self.bucket] / UNITY;
        let mut predicted_ns = corrected.min(self.typical_us()) * 1000;
        if sleep.tick_stopped() && predicted_ns < sleep.tick_ns {
            predicted_ns = self.next_timer_us * 1000;
        }
        let fits = |s: &CpuIdleState, ns| s.residency_ns <= ns && s.wake_latency_ns <= ns;
        let deepest = |ns| states.iter().rposition(|s| fits(s, ns)).unwrap_or(0);
        let mut state = deepest(predicted_ns);
        // Before a run a machine has been up for long: it does not poll for want of a past.
        let long = |s: &CpuIdleState| s.wake_latency_ns <= predicted_ns || self.known < INTERVALS;
        if states[state].polling
            && let Some(physical) = states.get(state + 1)
            && physical.residency_ns <= sleep.to_timer_ns
            && long(physical)
        {
            state += 1;
            predicted_ns = physical.residency_ns;
        }
        let stop_tick = predicted_ns >= sleep.tick_ns && !states[state].polling;
        let too_deep = |ns: &u64| !stop_tick && states[state].residency_ns > *ns;
        if let Some(to_tick_ns) = sleep.to_tick_ns.filter(too_deep) {
            state = deepest(to_tick_ns);
        }
        IdleChoice { state, stop_tick }
    }

    /// Learns from an idle time. If a tick or the end of polling ended it although no timer was
    /// near, it could have been long.
    pub(crate) fn reflect(&mut self, slept: &Slept) {
        let (mut us, exit_us) = (slept.idle_ns / 1000, slept.wake_latency_ns / 1000);
        us = if slept.by_tick && self.next_timer_us > slept.tick_ns / 1000 {
            9 * INTERESTING_US / 10
        } else if slept.by_poll_limit {
            self.next_timer_us
        } else if us > 2 * exit_us {
            us - exit_us
        } else {
            us / 2
        };
        us = us.min(self.next_timer_us).min(LONGEST_US);
        let factor = &mut self.correction[self.bucket];
        *factor -= *factor / 8;
        *factor += if self.next_timer_us > 0 && us < INTERESTING_US {
            1024 * us / self.next_timer_us
        } else {
            1024
        };
        *factor = (*factor).max(1);
        self.intervals_us[self.at] = us;
        self.at = (self.at + 1) % INTERVALS;
        self.known = (self.known + 1).min(INTERVALS);
    }

    /// The mean of the last idle times if they agree, without up to two outliers at the top; else
    /// no limit.
    fn typical_us(&self) -> u64 {
        let mut threshold = u64::MAX;
        loop {
            let (mut n, mut sum, mut squares, mut longest) = (0, 0, 0, 0);
            for us in self.intervals_us.iter().filter(|us| **us <= threshold) {
                n += 1;
                sum += us;
                squares += us * us;
                longest = longest.max(*us);
            }
            let mean = sum / n;
            let variance = (squares / n).saturating_sub(mean * mean);
            // mean > 6 standard deviations, or a deviation of 20 us at most
            if (mean * mean > variance.saturating_mul(36) && n * 4 >= INTERVALS as u64 * 3)
                || variance <= 400
            {
                return mean;
            }
            if n * 4 <= INTERVALS as u64 * 3 {
                return u64::MAX / 1000;
            }
            threshold = longest - 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{IdleChoice, Sleep, Slept};
    use super::Menu;
    use crate::machine::CpuIdleState;

    const TICK_NS: u64 = 4_000_000;

    /// WFI and one deep state of 1.5 ms residency.
    fn states() -> [CpuIdleState; 2] {
        let state = |index, latency_us: u64, residency_us: u64| CpuIdleState {
            index,
            cluster: false,
            entry_ns: 0,
            exit_ns: latency_us * 1000,
            wake_latency_ns: latency_us * 1000,
            residency_ns: residency_us * 1000,
            polling: false,
        };
        [state(0, 1, 1), state(1, 1050, 1500)]
    }

    fn choose(
        menu: &mut Menu,
        states: &[CpuIdleState],
        to_timer_ns: u64,
        to_tick_ns: Option<u64>,
    ) -> IdleChoice {
        menu.select(&Sleep {
            states,
            to_timer_ns,
            to_tick_ns,
            tick_ns: TICK_NS,
            utilized: false,
        })
    }

    fn select(menu: &mut Menu, next_timer_ns: u64) -> usize {
        choose(menu, &states(), next_timer_ns, Some(TICK_NS)).state
    }

    fn reflect(menu: &mut Menu, idle_ns: u64, wake_latency_ns: u64) {
        menu.reflect(&Slept {
            idle_ns,
            wake_latency_ns,
            by_tick: false,
            by_poll_limit: false,
            tick_ns: TICK_NS,
        });
    }

    /// A menu that has seen only long idle times.
    fn calm() -> Menu {
        let mut menu = Menu::default();
        for _ in 0..32 {
            select(&mut menu, 20_000_000);
            reflect(&mut menu, 20_000_000, 0);
        }
        menu
    }

    #[test]
    fn a_far_timer_means_a_deep_state_and_no_tick() {
        let mut menu = calm();
        let choice = choose(&mut menu, &states(), 20_000_000, Some(TICK_NS));
        assert_eq!((choice.state, choice.stop_tick), (1, true));
        assert_eq!(select(&mut menu, 1_000_000), 0);
    }

    #[test]
    fn it_learns_that_interrupts_come_before_timers() {
        let mut menu = calm();
        for _ in 0..16 {
            select(&mut menu, 20_000_000);
            reflect(&mut menu, 200_000, 1_000);
        }
        assert_eq!(
            select(&mut menu, 20_000_000),
            0,
            "idle times of 0.2 ms, whatever the timer says"
        );
    }

    /// A menu whose last eight idle times were of 200 us although its timer was 20 ms away, asked
    /// with the nearer timers of another decade, whose correction it has not learnt.
    fn interrupted() -> Menu {
        let mut menu = Menu::default();
        for _ in 0..8 {
            select(&mut menu, 20_000_000);
            reflect(&mut menu, 200_000, 0);
        }
        menu
    }

    /// Idle times that agree bound the prediction, whatever the timer: 0.2 ms is too short for the
    /// deep state's 1.5 ms, 5 ms would do.
    #[test]
    fn idle_times_that_agree_are_a_pattern() {
        let mut menu = Menu::default();
        for us in [20_000, 9_000, 4_000, 2_000, 1_000, 400, 200, 100] {
            select(&mut menu, 20_000_000);
            reflect(&mut menu, us * 1000, 0);
        }
        assert_eq!(select(&mut menu, 5_000_000), 1, "no pattern in these");
        assert_eq!(select(&mut interrupted(), 5_000_000), 0);
    }

    /// Up to two of the eight may stand out at the top (8 x 3/4 are left): a third breaks the
    /// pattern.
    #[test]
    fn two_long_idle_times_do_not_break_a_pattern() {
        for (longer, expected) in [(2, 0), (3, 1)] {
            let mut menu = interrupted();
            for n in 0..longer {
                select(&mut menu, 20_000_000);
                reflect(&mut menu, 10_000_000 + 3_000_000 * n, 0);
            }
            assert_eq!(select(&mut menu, 5_000_000), expected, "{longer}");
        }
    }

    /// A tick that goes on ends the idle time: of what is predicted only what is left to it counts.
    /// The prediction is 3 ms, below a tick of 4; the deep state pays from 1.5 ms on.
    #[test]
    fn a_tick_that_goes_on_bounds_the_state() {
        for (next_tick_us, expected) in [(1_499, 0), (1_500, 1), (3_900, 1)] {
            let mut menu = calm();
            let choice = choose(&mut menu, &states(), 3_000_000, Some(next_tick_us * 1000));
            let chosen = (choice.state, choice.stop_tick);
            assert_eq!(chosen, (expected, false), "{next_tick_us}");
        }
    }

    /// ... and one that stops does not: the prediction alone decides, from a tick on.
    #[test]
    fn a_tick_that_stops_bounds_nothing() {
        let mut menu = calm();
        let choice = choose(&mut menu, &states(), TICK_NS, Some(1_000_000));
        assert_eq!((choice.state, choice.stop_tick), (1, true));
        let mut menu = calm();
        let choice = choose(&mut menu, &states(), TICK_NS - 1000, Some(1_000_000));
        assert_eq!((choice.state, choice.stop_tick), (0, false));
    }

    /// Once the tick is stopped the next timer counts and not a prediction shorter than a tick
    /// (87c9fe6ee495, without its limit of a tick: 5ef499cd571c; docs/decisions/006): idle times of
    /// 0.2 ms mean WFI with a tick, but nothing would end WFI without one. A state that pays after
    /// 6 ms, more than a tick, is reached as well.
    #[test]
    fn a_stopped_tick_drops_a_short_prediction() {
        let mut states = states().to_vec();
        states.push(CpuIdleState {
            residency_ns: 6_000_000,
            ..states[1]
        });
        let select = |timer_us: u64, tick| {
            let mut menu = interrupted();
            choose(&mut menu, &states, timer_us * 1000, tick).state
        };
        assert_eq!(select(20_000, Some(TICK_NS)), 0);
        for (timer_us, expected) in [(20_000, 2), (5_000, 1), (1_500, 1), (1_400, 0)] {
            assert_eq!(select(timer_us, None), expected, "{timer_us}");
        }
    }

    /// ... and one of a tick or more holds: idle times of 8 ms, though the timer is 20 ms away.
    #[test]
    fn a_stopped_tick_keeps_a_long_prediction() {
        let mut states = states().to_vec();
        states.push(CpuIdleState {
            residency_ns: 16_000_000,
            ..states[1]
        });
        let mut menu = Menu::default();
        for _ in 0..32 {
            choose(&mut menu, &states, 20_000_000, None);
            reflect(&mut menu, 8_000_000, 0);
        }
        let choice = choose(&mut menu, &states, 20_000_000, None);
        assert_eq!(choice.state, 1, "8 ms by the pattern, not the timer's 20");
    }

    /// A state needs its residency and its way out to fit, each up to the last nanosecond.
    #[test]
    fn a_state_must_pay_and_be_left_in_time() {
        for (timer_us, expected) in [(1_499, 0), (1_500, 1)] {
            assert_eq!(select(&mut calm(), timer_us * 1000), expected, "{timer_us}");
        }
        let mut slow = states();
        slow[1].wake_latency_ns = 2_000_000;
        for (timer_us, expected) in [(1_999, 0), (2_000, 1)] {
            let choice = choose(&mut calm(), &slow, timer_us * 1000, Some(TICK_NS));
            assert_eq!(choice.state, expected, "{timer_us}");
        }
    }
}
