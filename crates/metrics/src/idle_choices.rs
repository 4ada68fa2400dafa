//! How well the idle governor chose: whole idle periods against the states' min-residencies
//! (docs/guide/results.md, "What a result holds").
//!
//! Made by `collector.rs` for each run. Times are ns. Nothing of a run is decided here.
//!
//! What must stay: a period counts from its entry to the wake-up, without the way out; states are
//! judged by the platform's `min_residency_ns`, as cpuidle's `above` and `below` are. The periods
//! in which a run begins and ends do not count. Free: what leaves every figure as it is
//! (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `the_period_includes_the_entry_and_not_the_exit` (`cpu_power`, `row`),
//! `the_shallowest_state_is_never_too_deep` (`Bounds`),
//! `a_caught_entry_is_too_deep_however_long_the_way_back` (`woken`),
//! `periods_without_a_begin_or_an_end_do_not_count` (`was_busy`), `shares_are_of_all_periods`
//! (`report`), all (`new`, `happened`); `choices`, `counts` and `visit` are the tests' own.
//!
//! Tests: below

use crate::metric::Values;
use wakeplace_engine::observe::CpuPower;
use wakeplace_engine::{Happening, Observer};
use wakeplace_platform::{CpuId, Platform};

/// What a state of one CPU says of an idle period's length.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    /// A shorter period was too short for the state; None for the shallowest, below which there
    /// is nothing to choose.
    least_ns: Option<u64>,
    /// A period as long would have paid in the next deeper state; None for the deepest.
    deeper_ns: Option<u64>,
}

/// An idle period of a CPU.
#[derive(Clone, Copy, Debug)]
struct Period {
    since: u64,
    state: usize,
    /// The state was reached.
    entered: bool,
}

/// Counts idle periods from the moment a CPU stops being busy to its wake-up, as cpuidle's `above`
/// and `below` do. Left out: the period in which a run begins, which no governor chose, and that in
/// which it ends, whose length is not known.
#[derive(Clone, Debug)]
pub(crate) struct IdleChoices {
    /// Per CPU and idle state of the platform; None where the CPU lacks the state.
    bounds: Vec<Vec<Option<Bounds>>>,
    was_busy: Vec<bool>,
    periods: Vec<Option<Period>>,
    total: u64,
    too_deep: u64,
    too_shallow: u64,
}

impl IdleChoices {
    /// For runs on `platform`.
    pub(crate) fn new(platform: &Platform) -> IdleChoices {
        let cpus = platform.cpus.len();
        IdleChoices {
            bounds: (0..).take(cpus).map(|cpu| row(platform, cpu)).collect(),
            was_busy: vec![false; cpus],
            periods: vec![None; cpus],
            total: 0,
            too_deep: 0,
            too_shallow: 0,
        }
    }

    /// The CPU wakes after being idle, or on its way in, for `period`.
    fn woken(&mut self, time_ns: u64, cpu: usize, period: Period) {
        let bounds = self.bounds[cpu][period.state].expect("the CPU has the state");
        let length = time_ns - period.since;
        // A wake-up that catches the entry is not announced before the CPU is out again: all that
        // is known is that the period was over before the state, which includes its entry, began.
        let short = |least| !period.entered || length < least;
        let long = |deeper| period.entered && length >= deeper;
        self.total += 1;
        self.too_deep += u64::from(bounds.least_ns.is_some_and(short));
        self.too_shallow += u64::from(bounds.deeper_ns.is_some_and(long));
    }

    /// Enters the metrics, if there was an idle period.
    pub(crate) fn report(&self, values: &mut Values) {
        if self.total == 0 {
            return;
        }
        let share = |count: u64| count as f64 / self.total as f64 * 100.0;
        values.set("idle_too_deep_pct", share(self.too_deep));
        values.set("idle_too_shallow_pct", share(self.too_shallow));
    }
}

/// For each idle state of the CPU what a period must have at least, and what the next deeper state
/// asks for; `None` for states that the CPU does not have.
fn row(platform: &Platform, cpu: u32) -> Vec<Option<Bounds>> {
    let mut row = vec![None; platform.idle_states.len()];
    let states: Vec<_> = platform.idle_states_of(CpuId(cpu)).collect();
    for (place, &(index, state)) in states.iter().enumerate() {
        let deeper = states.get(place + 1);
        row[index] = Some(Bounds {
            least_ns: (place > 0).then_some(state.min_residency_ns),
            deeper_ns: deeper.map(|(_, s)| s.min_residency_ns),
        });
    }
    row
}

impl Observer for IdleChoices {
    /// Only what a CPU draws for tells when it is idle.
    #[inline(always)]
    fn happened(&mut self, time_ns: u64, what: &Happening) {
        if let Happening::CpuPower { cpu, power } = *what {
            self.cpu_power(time_ns, cpu, power);
        }
    }
}

impl IdleChoices {
    /// An idle period begins, goes on or ends.
    fn cpu_power(&mut self, time_ns: u64, cpu: u32, power: CpuPower) {
        let cpu = cpu as usize;
        let was_busy = std::mem::replace(&mut self.was_busy[cpu], power == CpuPower::Busy);
        match (power, self.periods[cpu]) {
            (CpuPower::Idle { state } | CpuPower::Transition { state }, None) if was_busy => {
                self.periods[cpu] = Some(Period {
                    since: time_ns,
                    state: state.into(),
                    entered: matches!(power, CpuPower::Idle { .. }),
                });
            }
            (CpuPower::Idle { .. }, Some(period)) => {
                self.periods[cpu] = Some(Period {
                    entered: true,
                    ..period
                });
            }
            // Out of the state, or straight to work, be it from the way in.
            (CpuPower::Transition { .. } | CpuPower::Busy, Some(period)) => {
                self.periods[cpu] = None;
                self.woken(time_ns, cpu, period);
            }
            (_, None) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::IdleChoices;
    use crate::metric::Values;
    use crate::testbed::two_clusters;
    use wakeplace_engine::Observer;
    use wakeplace_engine::happen;
    use wakeplace_engine::observe::CpuPower::{self, Busy, Idle, Transition};

    const WFI: CpuPower = Idle { state: 0 };
    const OFF: CpuPower = Idle { state: 1 };
    const TO_OFF: CpuPower = Transition { state: 1 };

    /// Residencies 10, 100 and 500 ns; CPU 0 lacks `cluster-off`.
    fn choices() -> IdleChoices {
        let mut platform = two_clusters();
        for (state, ns) in platform.idle_states.iter_mut().zip([10, 100, 500]) {
            state.min_residency_ns = ns;
        }
        platform.idle_states[2].cpus.remove(0);
        IdleChoices::new(&platform)
    }

    /// (periods, too deep, too shallow) of what one CPU does.
    fn counts(cpu: u32, events: &[(u64, CpuPower)]) -> (u64, u64, u64) {
        let mut choices = choices();
        for &(at, power) in events {
            happen!(choices, at => CpuPower { cpu, power });
        }
        (choices.total, choices.too_deep, choices.too_shallow)
    }

    /// Entry of 20 ns, then `inside` ns in `off`, then an exit of 30 ns.
    fn visit(inside: u64) -> [(u64, CpuPower); 5] {
        let out = 1020 + inside;
        [
            (0, Busy),
            (1000, TO_OFF),
            (1020, OFF),
            (out, TO_OFF),
            (out + 30, Busy),
        ]
    }

    #[test]
    fn the_period_includes_the_entry_and_not_the_exit() {
        assert_eq!(counts(1, &visit(79)), (1, 1, 0), "99 of 100 ns");
        assert_eq!(counts(1, &visit(80)), (1, 0, 0));
        assert_eq!(
            counts(1, &visit(479)),
            (1, 0, 0),
            "499: 500 pays in cluster-off"
        );
        assert_eq!(counts(1, &visit(480)), (1, 0, 1));
        assert_eq!(
            counts(0, &visit(480)),
            (1, 0, 0),
            "CPU 0 has nothing deeper"
        );
    }

    #[test]
    fn the_shallowest_state_is_never_too_deep() {
        assert_eq!(counts(0, &[(0, Busy), (10, WFI), (15, Busy)]), (1, 0, 0));
        assert_eq!(counts(0, &[(0, Busy), (10, WFI), (109, Busy)]), (1, 0, 0));
        assert_eq!(counts(0, &[(0, Busy), (10, WFI), (110, Busy)]), (1, 0, 1));
    }

    #[test]
    fn a_caught_entry_is_too_deep_however_long_the_way_back() {
        let caught = [(0, Busy), (10, TO_OFF), (900, Busy)];
        assert_eq!(counts(1, &caught), (1, 1, 0));
    }

    #[test]
    fn periods_without_a_begin_or_an_end_do_not_count() {
        let into = [(0, WFI), (300, Transition { state: 0 }), (301, Busy)];
        assert_eq!(counts(0, &into), (0, 0, 0));
        assert_eq!(counts(0, &visit(50)[..3]), (0, 0, 0));
    }

    #[test]
    fn shares_are_of_all_periods() {
        let mut choices = choices();
        let mut values = Values::default();
        choices.report(&mut values);
        assert_eq!(values.iter().count(), 0);
        // CPU 1: too deep, right, too shallow; CPU 0: too shallow in WFI.
        for (start, inside) in [(0, 10), (2000, 100), (4000, 1000)] {
            for (at, power) in visit(inside) {
                happen!(choices, start + at => CpuPower { cpu: 1, power });
            }
        }
        for (at, power) in [(7000, Busy), (7010, WFI), (8000, Busy)] {
            happen!(choices, at => CpuPower { cpu: 0, power });
        }
        choices.report(&mut values);
        assert_eq!(values.get("idle_too_deep_pct"), Some(25.0));
        assert_eq!(values.get("idle_too_shallow_pct"), Some(50.0));
    }
}
