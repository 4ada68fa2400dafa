//! The governors of idle states (docs/rules/cpuidle.md): which state a CPU without work enters, and
//! whether its tick stops. Each is a pure function of what it was asked and told before, so that it
//! can be compared with the kernel's own source, call by call (`recorded`).
//!
//! What must stay: governors see `Sleep` and `Slept` only, never the simulation; a new governor
//! gets a recording (recorded.rs). Times are ns. Free: what leaves recorded runs as they are
//! (ARCHITECTURE.md, "What a change may touch"). Tests by part: `polling_has_a_limit`
//! (`poll_limit_ns`), `teo_and_ladder_choose_as_the_kernels_own` (`Sleep`, `Slept`, `Governor`),
//! idle.rs::`teo_is_of_the_era` (`Kind`), idle.rs::`without_cpuidle_the_tick_stops_after_one`
//! (`None`), idle.rs::`a_polling_cpu_chooses_again` (polling).
//! `teo_and_ladder_choose_as_the_kernels_own` goes through `select`, `reflect`, `decide`,
//! `shallower`, `residency`, `long_enough`, `to_event_ns`, `measured_ns`, `outlasts_exit`,
//! `by_safety_net`, `keeps_tick`, `stops_tick`; `asks_utilization` is seen in runs only (idle.rs).
//!
//! Callers: teo.rs (`tick_stopped`, `to_event_ns`, `long_enough`, `decide`, `residency`,
//! `shallower`, `measured_ns`, `outlasts_exit`, `by_safety_net`, `keeps_tick`, `stops_tick`),
//! teo_5_10.rs (`to_event_ns`, `long_enough`, `decide`, `residency`, `shallower`, `measured_ns`,
//! `by_safety_net`), kernel/model/idle.rs (`asks_utilization`, `poll_limit_ns`), ladder.rs
//! (`stops_tick`), menu.rs (`tick_stopped`), recorded.rs (`poll_limit_ns`).
//!
//! Tests: below, crates/engine/src/kernel/model/cpuidle/recorded.rs,
//! crates/engine/tests/behaviour/idle.rs

mod ladder;
mod menu;
#[cfg(test)]
mod recorded;
mod teo;
mod teo_5_10;

use crate::machine::CpuIdleState;
use crate::options::CpuIdle;
use ladder::Ladder;
use menu::Menu;
use teo::{Form, Teo};
use teo_5_10::TeoByHits;
use wakeplace_policy_sys::sys;

/// What a wake-up counts in teo, and the part of old counts, a power of two, that it takes off.
const PULSE: u32 = 1024;
const DECAY_SHIFT: u32 = 3;

/// Utilisation above this part of the capacity, a power of two, is more than noise.
pub(super) const UTIL_THRESHOLD_SHIFT: u32 = 6;
/// From 6.6 on governors call residencies below this short (`RESIDENCY_THRESHOLD_NS`).
const SHORT_NS: u64 = 15_000;
/// A CPU polls no longer than the first state pays after whose residency is at least this
/// (`CPUIDLE_POLL_MIN`) ...
const POLL_MIN_NS: u64 = 10_000;
/// ... and at most this part of a tick (`CPUIDLE_POLL_MAX`).
const POLL_MAX_OF_TICK: u64 = 16;

/// What a governor is asked with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sleep<'a> {
    /// The CPU's states, from shallow to deep.
    pub(super) states: &'a [CpuIdleState],
    /// To the next timer of the CPU, tick left out.
    pub(super) to_timer_ns: u64,
    /// To its next tick; None: the tick is stopped.
    pub(super) to_tick_ns: Option<u64>,
    /// A tick's period.
    pub(super) tick_ns: u64,
    /// The CPU's utilisation is more than noise (teo, 6.3 to 6.10).
    pub(super) utilized: bool,
}

impl Sleep<'_> {
    /// The tick had been stopped before this question: nothing but a timer ends the sleep.
    fn tick_stopped(self) -> bool {
        self.to_tick_ns.is_none()
    }

    /// To the next timer, be it the tick.
    fn to_event_ns(self) -> u64 {
        let to_tick = self.to_tick_ns.unwrap_or(u64::MAX);
        self.to_timer_ns.min(to_tick)
    }

    /// Without a tick nothing ends a stay in a shallow state.
    fn long_enough(self, ns: u64) -> bool {
        !self.tick_stopped() || ns >= self.tick_ns
    }

    /// The tick stops if the idle time is expected to be as long; else the state must pay before
    /// `to_event_ns`.
    fn decide(self, state: usize, duration_ns: u64, to_event_ns: u64) -> IdleChoice {
        let polls = self.states[state].polling;
        if self.tick_stopped() || !polls && duration_ns >= self.tick_ns {
            return IdleChoice::stops_tick(state);
        }
        match self.residency(state) > to_event_ns {
            true => IdleChoice::keeps_tick(self.shallower(state, to_event_ns)),
            false => IdleChoice::keeps_tick(state),
        }
    }

    /// What the state must last to pay, ns.
    fn residency(self, state: usize) -> u64 {
        self.states[state].residency_ns
    }

    /// The deepest state shallower than this one that pays within `ns`; the first if none does.
    fn shallower(self, state: usize, ns: u64) -> usize {
        let above = &self.states[..state];
        above
            .iter()
            .rposition(|s| s.residency_ns <= ns)
            .unwrap_or(0)
    }
}

/// How an idle time ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slept {
    /// How long it was, the ways into the state and out of it included.
    pub(super) idle_ns: u64,
    /// What the state takes to be entered and left.
    pub(super) wake_latency_ns: u64,
    /// The tick alone ended it.
    pub(super) by_tick: bool,
    /// It was polling, and that was long enough.
    pub(super) by_poll_limit: bool,
    /// A tick's period.
    pub(super) tick_ns: u64,
}

impl Slept {
    /// How long the CPU could idle: half of what the state takes is taken off, and of a shorter
    /// time half of that.
    fn measured_ns(&self) -> u64 {
        match self.outlasts_exit() {
            true => self.idle_ns - self.wake_latency_ns / 2,
            false => self.idle_ns / 2,
        }
    }

    /// It was as long as what the state takes to be entered and left.
    fn outlasts_exit(&self) -> bool {
        self.idle_ns >= self.wake_latency_ns
    }

    /// A safety net ended it, not what the CPU waited for: it could have idled on, since no timer
    /// was nearer than a tick.
    fn by_safety_net(&self, to_timer_ns: u64) -> bool {
        self.by_poll_limit || self.by_tick && to_timer_ns > self.tick_ns
    }
}

/// What the governor chose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IdleChoice {
    /// Position among the CPU's states.
    pub(super) state: usize,
    /// The tick may stop: the idle time is expected to be longer than one.
    pub(super) stop_tick: bool,
}

impl IdleChoice {
    /// This state, and the tick goes on.
    fn keeps_tick(state: usize) -> Self {
        Self {
            state,
            stop_tick: false,
        }
    }

    /// This state, without a tick.
    fn stops_tick(state: usize) -> Self {
        Self {
            state,
            stop_tick: true,
        }
    }
}

/// Which governor a run has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    None,
    Menu,
    TeoByHits,
    Teo(Form),
    Ladder,
}

impl Kind {
    /// `teo`: its form in the policy's kernel. One that has none was refused before the run.
    pub(super) fn new(chosen: CpuIdle, teo: sys::wp_teo) -> Self {
        match chosen {
            CpuIdle::None => Self::None,
            CpuIdle::Menu => Self::Menu,
            CpuIdle::Ladder => Self::Ladder,
            CpuIdle::Teo => match teo {
                sys::WP_TEO_5_10 => Self::TeoByHits,
                sys::WP_TEO_6_1 => Self::Teo(Form::V6_1),
                sys::WP_TEO_6_10 => Self::Teo(Form::V6_10),
                sys::WP_TEO_6_12 => Self::Teo(Form::V6_12),
                sys::WP_TEO_6_18 => Self::Teo(Form::V6_18),
                _ => Self::Teo(Form::V7_3),
            },
        }
    }

    /// It asks for the CPU's utilisation.
    pub(super) fn asks_utilization(self) -> bool {
        self == Self::Teo(Form::V6_10)
    }
}

/// The governor of one CPU, with what it remembers.
#[derive(Clone, Debug)]
pub(super) enum Governor {
    None,
    Menu(Menu),
    TeoByHits(TeoByHits),
    Teo(Teo),
    Ladder(Ladder),
}

impl Governor {
    /// One that remembers nothing, for a CPU with these states.
    pub(super) fn new(kind: Kind, states: &[CpuIdleState]) -> Self {
        match kind {
            Kind::None => Self::None,
            Kind::Menu => Self::Menu(Menu::default()),
            Kind::TeoByHits => Self::TeoByHits(TeoByHits::new(states)),
            Kind::Teo(form) => Self::Teo(Teo::new(form, states)),
            Kind::Ladder => Self::Ladder(Ladder::new(states)),
        }
    }

    /// What it chooses; None: there is no governor.
    pub(super) fn select(&mut self, sleep: &Sleep<'_>) -> Option<IdleChoice> {
        match self {
            Self::None => None,
            Self::Menu(menu) => Some(menu.select(sleep)),
            Self::TeoByHits(teo) => Some(teo.select(sleep)),
            Self::Teo(teo) => Some(teo.select(sleep)),
            Self::Ladder(ladder) => Some(ladder.select(sleep)),
        }
    }

    /// Learns how the idle time ended that it had last been asked for.
    pub(super) fn reflect(&mut self, states: &[CpuIdleState], slept: &Slept) {
        match self {
            Self::None => {}
            Self::Menu(menu) => menu.reflect(slept),
            Self::TeoByHits(teo) => teo.reflect(states, slept),
            Self::Teo(teo) => teo.reflect(states, slept),
            Self::Ladder(ladder) => ladder.reflect(slept),
        }
    }
}

/// How long a CPU polls before it asks its governor again (`cpuidle_poll_time()`).
pub(super) fn poll_limit_ns(states: &[CpuIdleState], tick_ns: u64) -> u64 {
    let most = tick_ns / POLL_MAX_OF_TICK;
    let deeper = states.iter().skip(1).map(|state| state.residency_ns);
    let mut long = deeper.filter(|residency| *residency >= POLL_MIN_NS);
    long.next().map_or(most, |residency| residency.min(most))
}

#[cfg(test)]
mod tests {
    use super::poll_limit_ns;
    use crate::machine::CpuIdleState;

    /// Goal: the worked numbers of docs/rules/cpuidle.md#poll-numbers.
    #[test]
    fn polling_has_a_limit() {
        let states = |residencies: &[u64]| -> Vec<CpuIdleState> {
            let state = |us: &u64| CpuIdleState {
                index: 0,
                cluster: false,
                entry_ns: 0,
                exit_ns: 0,
                wake_latency_ns: 0,
                residency_ns: us * 1_000,
                polling: *us == 0,
            };
            residencies.iter().map(state).collect()
        };
        let alder_lake = states(&[0, 4, 600, 800, 2_000]);
        assert_eq!(poll_limit_ns(&alder_lake, 4_000_000), 250_000);
        assert_eq!(poll_limit_ns(&alder_lake, 1_000_000), 62_500);
        let ivy_bridge = states(&[0, 1, 80, 156, 300]);
        assert_eq!(poll_limit_ns(&ivy_bridge, 4_000_000), 80_000);
        assert_eq!(poll_limit_ns(&states(&[0]), 4_000_000), 250_000);
    }
}
