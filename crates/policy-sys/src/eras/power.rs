//! `power-policy`: the power-aware series, v4 of 2013
//! (docs/rules/power-policy.md#power-placement-cleanup to
//! docs/rules/power-policy.md#power-parameters; docs/decisions/032).
//!
//! What must stay: versions' numbers are those of `WP_POWER_*` in their order. Free: the
//! defaults, with power-policy.md.
//!
//! Tests by part: `parameters_are_those_that_were_reconstructed` (`enable`, `set_clean_ups`),
//! `the_policy_is_written_by_name` (`state`, `refused`); policy.rs:
//! `names_turn_features_on_and_off` (`disable`).
//!
//! Callers: the table `FEATURES` (eras.rs).
//!
//! Tests: crates/policy-sys/tests/all/power_policy.rs

use crate::sys::{self, wp_params};

/// Names, in the order of `wp_power_policy` from `WP_POWER_PERFORMANCE` on.
pub(super) const VERSIONS: &[&str] = &["performance", "balance", "powersaving", "by-mode"];

/// Sets what the patches P1 to P8 change.
fn set_clean_ups(p: &mut wp_params, on: u32) {
    p.power_level_fewer = on;
    p.power_idlest_cases = on;
    p.power_single_shot = on;
    p.power_new_averages = on;
}

/// Versions count from `performance`, 0.
pub(super) fn enable(p: &mut wp_params, version: usize) {
    set_clean_ups(p, u32::from(p.domain_form == sys::WP_DOMAINS_38));
    p.power_policy = sys::WP_POWER_PERFORMANCE + version as u32;
}

/// Off, with the clean-ups that came with it.
pub(super) fn disable(p: &mut wp_params) {
    set_clean_ups(p, 0);
    p.power_policy = sys::WP_POWER_OFF;
}

/// Which version is on; None: off.
pub(super) fn state(p: &wp_params) -> Option<usize> {
    (p.power_policy as usize).checked_sub(sys::WP_POWER_PERFORMANCE as usize)
}

/// Utilisation is what groups are filled by.
pub(super) fn refused(p: &wp_params) -> Option<&'static str> {
    (p.pelt_scale == sys::WP_PELT_NONE)
        .then_some("it builds on averages of runnable time, which came with linux-3.8 (pelt_scale)")
}
