//! The ondemand governor: the home keeps the times and the timer (docs/rules/ondemand.md#ondemand).
//!
//! What must stay: times are us, loads percent; rounding is the core's. Free: the wrapping
//! alone.
//!
//! Tests by part: `sampling_time` (`sample_period_us`), `next_frequency` (`sample_load`),
//! `load_is_the_busy_part` (`busy_percent`), `one_request_at_a_time_and_only_under_this_governor`
//! (`samples_load`).
//!
//! Callers: the engine's timer of the governor.
//!
//! Tests: crates/policy-sys/tests/all/ondemand.rs, crates/engine/tests/behaviour/ondemand.rs

use crate::core::{Core, EventResult};
use crate::sys;

impl Core {
    /// Are frequencies chosen by samples of how busy CPUs were?
    #[must_use]
    pub fn samples_load(&self) -> bool {
        self.state().params.governor == sys::WP_GOV_ONDEMAND
    }

    /// Time between two samples of a frequency domain, us.
    #[must_use]
    pub fn sample_period_us(&self, domain: u32) -> u64 {
        // SAFETY: reads the context only; the core masks the index.
        unsafe { sys::wp_ondemand_period_us(self.state(), domain) }
    }

    /// The busiest CPU of the domain was busy for `load` percent of the time since the last
    /// sample.
    pub fn sample_load(&mut self, domain: u32, load: u32, now_ns: u64) -> EventResult {
        // SAFETY: the context is live and exclusive; the core masks the index.
        EventResult::new(unsafe { sys::wp_ondemand_sample(self.ctx_mut(), domain, load, now_ns) })
    }
}

/// The busy part of a time, percent.
#[must_use]
pub fn busy_percent(wall_us: u64, idle_us: u64) -> u32 {
    // SAFETY: pure arithmetic.
    unsafe { sys::wp_ondemand_load(wall_us, idle_us) }
}
