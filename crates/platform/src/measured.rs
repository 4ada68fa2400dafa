//! Powers that somebody measured: of one CPU and of its cluster, by clock, where they depend on
//! another clock by that, too (docs/guide/platforms.md, "Measured power").
//!
//! Read by `crates/power` for each change of a clock. Powers are µW.
//!
//! What must stay: a point's place is operating point times rows plus row, which `Rows` of
//! `crates/power` counts on; row 0 is in force while nothing else asks for a clock. Free: what
//! leaves each file's machine as it is (ARCHITECTURE.md, "What a change may touch"), and words of
//! messages that no test quotes. Tests by part: `figures_are_by_both_clocks` (`at`, rows and
//! points), `gs101_draws_what_was_measured` (`at` of a real table),
//! `heat_and_limits_need_powers_by_the_own_clock` (`is_shared`).
//!
//! Tests: crates/platform/tests/all/measured.rs

use serde::Serialize;

/// A clock that powers depend on besides the domain's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum OtherClock {
    /// None.
    Alone,
    /// Another domain's: that of the domain whose busy CPU draws most, of those that are named.
    Domain {
        /// Index into `Platform::freq_domains`.
        domain: usize,
        /// Its operating point.
        opp: usize,
    },
    /// That of a unit which CPUs share and no kernel sets, kHz.
    Unit {
        /// Of the unit.
        khz: u32,
    },
}

/// What is drawn at an operating point of the domain beside one state of the other clock,
/// microwatts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MeasuredPoint {
    /// One busy CPU.
    pub busy_uw: u64,
    /// One CPU whose clock is gated (WFI): the CPU's shallowest idle state.
    pub gated_uw: u64,
    /// One CPU that is off: its deeper idle states.
    pub off_uw: u64,
    /// The cluster while a CPU of it is not off.
    pub cluster_uw: u64,
}

/// Measured powers of a frequency domain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MeasuredPower {
    /// The states of the other clock; at least one.
    #[serde(rename = "other_clocks")]
    pub rows: Vec<OtherClock>,
    /// By operating point, then by row: `opp * rows.len() + row`.
    pub points: Vec<MeasuredPoint>,
}

impl MeasuredPower {
    /// The row in force while nothing else asks for a clock.
    pub const LOWEST_ROW: usize = 0;

    /// Place of an operating point and a row in `points`.
    #[must_use]
    pub fn at(&self, opp: usize, row: usize) -> usize {
        opp * self.rows.len() + row
    }

    /// They depend on another clock than the domain's own.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.rows.len() > 1
    }
}
