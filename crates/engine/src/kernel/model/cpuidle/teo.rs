//! The TEO governor from 5.14 on (docs/rules/cpuidle.md#teo). Residencies divide idle times into
//! bins, one per state. Per bin it counts hits (the timer was in the bin, and so was the idle time)
//! and intercepts (a wake-up before the timer, whose idle time was in the bin), of which old ones
//! count less. If most wake-ups come before a state pays, a shallower one is a better choice.
//!
//! What must stay: each form's choices, call by call, as the recordings of 6.1, 6.12 and 7.3 have
//! them. What is shared by forms is free while all recordings agree. Tests by part:
//! `teo_and_ladder_choose_as_the_kernels_own` (all forms, each call of `select` and `reflect`),
//! `interrupts_make_it_shallow_and_timers_deep` (7.3: `count_7_3`, `early_7_3`). The first is also
//! the test of `decayed`, `measured`, `decay_bins`, `count`, `count_6_12`, `select_6_1`,
//! `select_by_bins`, `asks_timer`, `stirred_before_tick`, `above`, `mostly_early`, `early_6_12`,
//! `shallower_not_polling` and `deep_without_tick`. `new` by both; `states` below is the test's
//! own.
//!
//! Callers: cpuidle/mod.rs (the governor in force).
//!
//! Tests: below, crates/engine/src/kernel/model/cpuidle/recorded.rs

use super::{DECAY_SHIFT, IdleChoice, PULSE, SHORT_NS, Sleep, Slept};
use crate::machine::CpuIdleState;

/// Recent wake-ups that count by number (`NR_RECENT`), up to 6.10.
const RECENT: usize = 9;
/// As long as one likes (`KTIME_MAX`): the timer was not asked, or a safety net ended it.
const FOREVER: u64 = i64::MAX as u64;

/// A form, by the kernel that it was read in: the last of the releases that have it, or a later one
/// that is maintained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Form {
    /// 5.14 to 6.2.
    V6_1,
    /// With utilisation, 6.3 to 6.10, as of 6.6.
    V6_10,
    /// 6.11 to 6.13.
    V6_12,
    /// From 6.14 on.
    V6_18,
    /// As in 7.3.
    V7_3,
}

#[derive(Clone, Copy, Debug, Default)]
struct Bin {
    hits: u32,
    intercepts: u32,
    /// Intercepts among the last nine wake-ups (to 6.10).
    recent: u32,
}

/// The memory of one CPU.
#[derive(Clone, Debug)]
pub(crate) struct Teo {
    form: Form,
    bins: Vec<Bin>,
    /// Of all bins, hits and intercepts.
    total: u32,
    /// To the next timer as of the last choice; [`FOREVER`]: it was not asked.
    sleep_ns: u64,
    /// Bins of the last intercepts; None: another wake-up.
    recent: [Option<usize>; RECENT],
    recent_at: usize,
    /// Hits of idle times longer than a tick, where all states pay before (to 6.12).
    tick_hits: u32,
    /// Intercepts before a tick was over (from 6.18 on; there, those after it).
    tick_intercepts: u32,
    /// Idle times that were over in an instant (from 6.18 on).
    short_idles: u32,
    /// Wake-ups by the tick (7.3).
    ticks: u32,
}

/// Sums of the bins above the deepest state.
struct Above {
    hits: u32,
    intercepts: u32,
    recent: u32,
}

impl Teo {
    /// A governor that has seen nothing.
    pub(super) fn new(form: Form, states: &[CpuIdleState]) -> Self {
        Self {
            form,
            bins: vec![Bin::default(); states.len()],
            total: 0,
            sleep_ns: 0,
            recent: [None; RECENT],
            recent_at: 0,
            tick_hits: 0,
            tick_intercepts: 0,
            short_idles: 0,
            ticks: 0,
        }
    }

    /// Old counts lose an eighth; in 7.3 they also end.
    fn decayed(&self, metric: u32) -> u32 {
        match metric >> DECAY_SHIFT {
            0 if self.form == Form::V7_3 => 0,
            eighth => metric - eighth,
        }
    }
}

/// Learning.
impl Teo {
    /// What an idle period came to: hits and intercepts of the states.
    pub(super) fn reflect(&mut self, states: &[CpuIdleState], slept: &Slept) {
        if self.form >= Form::V6_18 {
            self.short_idles = self.decayed(self.short_idles);
        }
        let measured = self.measured(slept);
        let sum = self.decay_bins();
        // The states that match the timer, and the idle time within it.
        let bin = |ns: u64| states.iter().rposition(|s| s.residency_ns <= ns);
        let timer = bin(self.sleep_ns).unwrap_or(0);
        let duration = bin(measured.min(self.sleep_ns)).unwrap_or(0);
        match self.form {
            Form::V6_1 | Form::V6_10 | Form::V6_12 => {
                self.total = sum;
                let deepest = states[states.len() - 1].residency_ns;
                self.count_6_12(measured, slept, deepest, (timer, duration));
                self.total += PULSE;
            }
            Form::V6_18 => {
                self.tick_intercepts = self.decayed(self.tick_intercepts);
                self.count(timer == duration, duration);
                if timer != duration && slept.tick_ns <= measured {
                    self.tick_intercepts += PULSE;
                }
                self.total = self.decayed(self.total) + PULSE;
            }
            Form::V7_3 => {
                self.total = sum + PULSE;
                self.count_7_3(measured, slept, sum, (timer, duration));
            }
        }
    }

    /// How long the CPU idled, less half of what the state takes to be left.
    fn measured(&mut self, slept: &Slept) -> u64 {
        let forever = match self.form {
            Form::V6_1 | Form::V6_10 | Form::V6_12 => {
                slept.idle_ns >= self.sleep_ns || slept.by_safety_net(self.sleep_ns)
            }
            Form::V6_18 => slept.by_safety_net(self.sleep_ns),
            Form::V7_3 => slept.by_poll_limit,
        };
        if forever {
            return FOREVER;
        }
        let measured = slept.measured_ns();
        if self.form >= Form::V6_18 && (!slept.outlasts_exit() || measured < SHORT_NS) {
            self.short_idles += PULSE;
        }
        measured
    }

    /// All bins lose a part; their sum.
    fn decay_bins(&mut self) -> u32 {
        let mut sum = 0;
        for at in 0..self.bins.len() {
            let Bin {
                hits, intercepts, ..
            } = self.bins[at];
            let (hits, intercepts) = (self.decayed(hits), self.decayed(intercepts));
            (self.bins[at].hits, self.bins[at].intercepts) = (hits, intercepts);
            sum += hits + intercepts;
        }
        sum
    }

    /// One wake-up more in this bin, of weight `PULSE`.
    fn count(&mut self, hit: bool, bin: usize) {
        match hit {
            true => self.bins[bin].hits += PULSE,
            false => self.bins[bin].intercepts += PULSE,
        }
    }

    /// From 6.6 on a bin more, beyond a tick, counts hits only. A wake-up that it takes leaves the
    /// oldest of the recent ones in its place, though that was taken off its bin's count: the count
    /// falls below 0 when its turn comes again, and is then as large as numbers get. So it is in
    /// the kernel; 6.11 has no recent wake-ups (docs/rules/cpuidle.md#teo-recent).
    fn count_6_12(
        &mut self,
        measured: u64,
        slept: &Slept,
        deepest_ns: u64,
        (timer, duration): (usize, usize),
    ) {
        let mut hit = timer == duration;
        let recent_at = self.recent_at;
        self.recent_at = (recent_at + 1) % RECENT;
        if let Some(oldest) = self.recent[recent_at] {
            self.bins[oldest].recent = self.bins[oldest].recent.wrapping_sub(1);
        }
        if self.form >= Form::V6_10 && deepest_ns < slept.tick_ns {
            self.tick_hits = self.decayed(self.tick_hits);
            self.total += self.tick_hits;
            if slept.tick_ns <= self.sleep_ns {
                if slept.tick_ns <= measured {
                    self.tick_hits += PULSE;
                    return;
                }
                hit = false;
            }
        }
        self.count(hit, duration);
        self.recent[recent_at] = (!hit).then_some(duration);
        if !hit {
            self.bins[duration].recent = self.bins[duration].recent.wrapping_add(1);
        }
    }

    /// The bins as 7.3 counts them: wake-ups by the tick apart.
    fn count_7_3(
        &mut self,
        measured: u64,
        slept: &Slept,
        sum: u32,
        (timer, duration): (usize, usize),
    ) {
        self.tick_intercepts = self.decayed(self.tick_intercepts);
        self.ticks = self.decayed(self.ticks);
        if slept.by_tick {
            self.ticks += PULSE;
            // Ticks alone wake it: the deepest state, so that the tick stops.
            if 3 * self.ticks > 2 * self.total {
                return self.count(true, self.bins.len() - 1);
            }
            // What was expected before the tick did not come.
            if 3 * self.tick_intercepts < 2 * sum {
                return self.count(true, timer);
            }
        }
        // Not before the timer, as far as half of the latency says.
        let early = i128::from(self.sleep_ns) - i128::from(measured);
        let hit = timer == duration && early < i128::from(slept.wake_latency_ns / 2);
        self.count(hit, duration);
        if !hit && measured <= slept.tick_ns {
            self.tick_intercepts += PULSE;
        }
    }
}

/// Choosing.
impl Teo {
    /// The state to enter. Without a second state there is nothing to choose (6.12, 7.3).
    pub(super) fn select(&mut self, sleep: &Sleep<'_>) -> IdleChoice {
        self.sleep_ns = FOREVER;
        match self.form {
            Form::V6_1 => self.select_6_1(sleep),
            _ if sleep.states.len() < 2 => IdleChoice::keeps_tick(0),
            _ => self.select_by_bins(sleep),
        }
    }

    /// The timer first: states that do not pay before it are out of question.
    fn select_6_1(&mut self, sleep: &Sleep<'_>) -> IdleChoice {
        self.sleep_ns = sleep.to_timer_ns;
        let mut duration = sleep.to_timer_ns;
        let pays = |s: &CpuIdleState| s.residency_ns <= sleep.to_timer_ns;
        let mut state = match sleep.states {
            [_, deeper, ..] if pays(deeper) => sleep.states.iter().rposition(pays).unwrap_or(0),
            _ => 0,
        };
        let long_enough =
            |at: usize| sleep.long_enough((sleep.residency(at) + sleep.residency(at + 1)) / 2);
        if let Some(early) = self.early_6_12(state, long_enough)
            && early != state
        {
            state = early;
            duration = (sleep.residency(state) + sleep.residency(state + 1)) / 2;
        }
        sleep.decide(state, duration, sleep.to_event_ns())
    }

    /// The counts first: the timer is asked only if it matters.
    fn select_by_bins(&mut self, sleep: &Sleep<'_>) -> IdleChoice {
        let deepest = sleep.states.len() - 1;
        let half_tick = sleep.tick_ns / 2;
        if self.form == Form::V6_10 && sleep.utilized && deepest < 2 {
            return match !sleep.states[0].polling && sleep.long_enough(sleep.residency(0)) {
                true => IdleChoice::keeps_tick(0),
                false => sleep.decide(1, sleep.residency(1), half_tick),
            };
        }
        let mut state = match self.form {
            Form::V7_3 => self.early_7_3(deepest),
            _ => self.early_6_12(deepest, |at| sleep.long_enough(sleep.residency(at))),
        }
        .unwrap_or(deepest);
        if self.form == Form::V6_10 && sleep.utilized {
            state = shallower_not_polling(sleep, state);
        }
        if !self.asks_timer(sleep, state) {
            return IdleChoice::keeps_tick(state);
        }
        self.sleep_ns = sleep.to_timer_ns;
        if self.form == Form::V7_3
            && let Some(deep) = deep_without_tick(sleep, state)
        {
            return IdleChoice::stops_tick(deep);
        }
        if state == 0 {
            return IdleChoice::keeps_tick(0);
        }
        if sleep.residency(state) > sleep.to_timer_ns {
            let shallower = sleep.shallower(state, sleep.to_timer_ns);
            if self.form != Form::V6_10 || sleep.long_enough(sleep.residency(shallower)) {
                state = shallower;
            }
        }
        let stirred = sleep.residency(state) < sleep.tick_ns && self.stirred_before_tick();
        let duration = if stirred {
            half_tick
        } else {
            sleep.to_timer_ns
        };
        sleep.decide(state, duration, sleep.to_event_ns())
    }

    /// Where the answer could not change the choice, the timer is not asked.
    fn asks_timer(&self, sleep: &Sleep<'_>, state: usize) -> bool {
        let short = sleep.residency(state) < SHORT_NS;
        let instant = || 2 * self.short_idles >= self.total;
        match self.form {
            Form::V7_3 => sleep.tick_stopped() || !(state == 0 || short) || !instant(),
            Form::V6_18 => !(state == 0 || short) || !instant(),
            Form::V6_12 if state == 0 => true,
            _ => state != 0 && !(sleep.states[0].polling && short),
        }
    }

    /// Most wake-ups come before a tick is over.
    fn stirred_before_tick(&self) -> bool {
        let most = self.total / 2 + self.total / 8;
        match self.form {
            Form::V7_3 => 3 * self.tick_intercepts >= 2 * self.total,
            Form::V6_18 => self.tick_intercepts > most,
            _ => self.bins.iter().map(|bin| bin.intercepts).sum::<u32>() > most,
        }
    }

    /// Sums over the states shallower than this one.
    fn above(&self, state: usize) -> Above {
        let bins = &self.bins[..state];
        Above {
            hits: bins.iter().map(|bin| bin.hits).sum(),
            intercepts: bins.iter().map(|bin| bin.intercepts).sum(),
            recent: bins.iter().fold(0, |sum, bin| sum.wrapping_add(bin.recent)),
        }
    }

    /// Wake-ups that come too early for this state outnumber all others.
    fn mostly_early(&self, above: &Above) -> bool {
        2 * above.intercepts > self.total.wrapping_sub(above.hits)
    }

    /// The deepest state that paid in more than half of those cases, if they are the rule; of those
    /// that are `long_enough` to be in.
    fn early_6_12(&self, state: usize, long_enough: impl Fn(usize) -> bool) -> Option<usize> {
        let above = self.above(state);
        let by_count = self.mostly_early(&above);
        let by_recent = self.form <= Form::V6_10 && above.recent > RECENT as u32 / 2;
        if state == 0 || !by_count && !by_recent {
            return None;
        }
        let mut suitable = state;
        let (mut intercepts, mut recent) = (0, 0u32);
        for at in (0..state).rev() {
            intercepts += self.bins[at].intercepts;
            recent = recent.wrapping_add(self.bins[at].recent);
            let enough_recent = !by_recent || recent.wrapping_mul(2) > above.recent;
            let enough = !by_count || 2 * intercepts > above.intercepts;
            let ok = long_enough(at);
            if enough_recent && enough {
                return Some(if ok { at } else { suitable });
            }
            if ok {
                suitable = at;
            } else if suitable == state {
                break;
            }
        }
        None
    }

    /// The same, at most as deep as the state with most intercepts.
    fn early_7_3(&self, deepest: usize) -> Option<usize> {
        let above = self.above(deepest);
        if !self.mostly_early(&above) {
            return None;
        }
        let most = (0..deepest).max_by_key(|at| self.bins[*at].intercepts)?;
        let mut intercepts = 0;
        let found = (0..deepest).rev().find(|at| {
            intercepts += self.bins[*at].intercepts;
            2 * intercepts > above.intercepts && *at <= most
        });
        found.or(Some(0))
    }
}

/// The next shallower state but one that polls, if it is deep enough without a tick.
fn shallower_not_polling(sleep: &Sleep<'_>, state: usize) -> usize {
    let next = state.saturating_sub(1);
    let next = if sleep.states[next].polling {
        state
    } else {
        next
    };
    if sleep.long_enough(sleep.residency(next)) {
        next
    } else {
        state
    }
}

/// 7.3: without a tick, and with a timer more than two ticks away, the deepest state that pays.
fn deep_without_tick(sleep: &Sleep<'_>, state: usize) -> Option<usize> {
    let far = sleep.tick_stopped() && sleep.to_timer_ns > 2 * sleep.tick_ns;
    let pays = |s: &CpuIdleState| s.residency_ns <= sleep.to_timer_ns;
    (far && sleep.residency(state) < sleep.tick_ns).then(|| {
        let deepest = sleep.states.iter().rposition(pays).unwrap_or(0);
        deepest.max(state)
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Sleep, Slept};
    use super::{Form, Teo};
    use crate::machine::CpuIdleState;

    const US: u64 = 1_000;
    const TICK_NS: u64 = 4_000 * US;

    /// rk3399's.
    fn states() -> Vec<CpuIdleState> {
        let state = |(index, latency, residency): (u16, u64, u64)| CpuIdleState {
            index,
            cluster: index == 2,
            entry_ns: 0,
            exit_ns: latency * US,
            wake_latency_ns: latency * US,
            residency_ns: residency * US,
            polling: false,
        };
        [(0, 1, 1), (1, 370, 900), (2, 900, 2_000)]
            .map(state)
            .to_vec()
    }

    /// Goal: the worked example of docs/rules/cpuidle.md#teo-numbers: two interrupts make state 0
    /// the better choice, and two timers undo it.
    #[test]
    fn interrupts_make_it_shallow_and_timers_deep() {
        let states = states();
        let mut teo = Teo::new(Form::V7_3, &states);
        let far = 1_000_000 * US;
        for (to_timer, idle, state) in [
            (far, 1_000, 2),
            (far, 101, 0),
            (3_000 * US, 3_001, 0),
            (3_000 * US, 3_001, 0),
            (3_000 * US, 3_900, 2),
        ] {
            let choice = teo.select(&Sleep {
                states: &states,
                to_timer_ns: to_timer,
                to_tick_ns: Some(TICK_NS),
                tick_ns: TICK_NS,
                utilized: false,
            });
            assert_eq!(choice.state, state, "before {idle} us");
            teo.reflect(
                &states,
                &Slept {
                    idle_ns: idle * US,
                    wake_latency_ns: states[choice.state].wake_latency_ns,
                    by_tick: false,
                    by_poll_limit: false,
                    tick_ns: TICK_NS,
                },
            );
        }
    }
}
