//! Thermal zones: the home measures the temperature and looks; the core says what to cap
//! (docs/guide/model.md, "Heat").
//!
//! What must stay: temperatures and delays as the platform's zone has them, ms; the rule is in
//! `policy/src/frequency`. Free: the wrapping alone.
//!
//! Tests by part: `looks_one_after_the_other` (`look`, `delay_ms`, `steps`),
//! `a_cap_for_heat_is_thermal_pressure` (`thermal_pressure`). `new` has no test of its own.
//!
//! Callers: crates/engine/src/mechanics/thermal.rs.
//!
//! Tests: crates/policy-sys/tests/all/thermal.rs

use crate::core::Core;
use crate::sys;

/// A thermal zone's governor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThermalGovernor(sys::wp_thermal);

/// What a zone's governor goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThermalFacts {
    /// Trip point, thousandths of a degree Celsius.
    pub trip_millic: i32,
    /// Below it by this the cap is lifted.
    pub hysteresis_millic: i32,
    /// Time between two looks, ms.
    pub polling_ms: u32,
    /// The same while it cools.
    pub passive_ms: u32,
    /// Operating points that can be taken away.
    pub max_steps: u32,
    /// Temperature at the start.
    pub start_millic: i32,
}

impl ThermalGovernor {
    /// A governor of this zone that caps nothing yet.
    #[must_use]
    pub fn new(facts: ThermalFacts) -> Self {
        Self(sys::wp_thermal {
            trip_millic: facts.trip_millic,
            hysteresis_millic: facts.hysteresis_millic,
            polling_ms: facts.polling_ms,
            passive_ms: facts.passive_ms,
            max_steps: facts.max_steps,
            last_millic: facts.start_millic,
            over: 0,
            steps: 0,
        })
    }

    /// Looks at the temperature; true: the number of steps changed.
    pub fn look(&mut self, millic: i32) -> bool {
        // SAFETY: the struct is live and exclusive.
        unsafe { sys::wp_thermal_look(&mut self.0, millic) != 0 }
    }

    /// Until the next look, ms.
    #[must_use]
    pub fn delay_ms(&self) -> u32 {
        // SAFETY: reads the struct only.
        unsafe { sys::wp_thermal_delay_ms(&self.0) }
    }

    /// So many of the fastest operating points are not for use.
    #[must_use]
    pub fn steps(&self) -> u32 {
        self.0.steps
    }
}

impl Core {
    /// Zones leave a frequency domain its operating points up to `max_opp`.
    pub fn thermal_pressure(&mut self, domain: u32, max_opp: u32) {
        // SAFETY: the context is live and exclusive; the core masks the index.
        unsafe { sys::wp_thermal_pressure(self.state_mut(), domain, max_opp) };
    }
}
