//! `power-policy`: the power-aware series, v4 of 2013
//! (docs/rules/power-policy.md#power-placement-cleanup to
//! docs/rules/power-policy.md#power-parameters; docs/decisions/032).

use crate::sys::{self, wp_params};

/// Names, in the order of `wp_power_policy` from `WP_POWER_PERFORMANCE` on.
pub(super) const VERSIONS: &[&str] = &["performance", "balance", "powersaving", "by-mode"];

/// The values of docs/rules/power-policy.md#power-parameters; nothing reads them while the policy
/// is off. What only the kernels that the series was made for have, P1 to P8, is off.
pub(super) fn defaults(p: &mut wp_params) {
    p.power_policy = sys::WP_POWER_OFF;
    set_clean_ups(p, 0);
    p.power_full_util = 99;
    p.power_placement = 1;
    p.power_placement_util = sys::WP_POWER_UTIL_NR;
    p.power_burst_ns = 100_000;
    p.power_small_tasks = 1;
    p.power_small_factor = 4;
    p.power_small_room_powersaving = sys::WP_NONE;
    p.power_small_room_balance = 60;
    p.power_prev_first = 0;
    p.power_new_spread = 0;
    p.power_balance = 1;
    p.power_pull_all = 1;
    p.power_kick = 1;
    p.power_siblings = 1;
    p.power_lazy = 1;
    p.power_lazy_clean = 32;
    p.power_lazy_old_max = 4;
    p.power_lazy_quiet = 8;
    p.power_freq = 0;
    p.smt_gain = 1178;
}

/// P1 to P8.
fn set_clean_ups(p: &mut wp_params, on: u32) {
    p.power_level_fewer = on;
    p.power_idlest_cases = on;
    p.power_single_shot = on;
    p.power_new_averages = on;
}

pub(super) fn enable(p: &mut wp_params, version: usize) {
    set_clean_ups(p, u32::from(p.domain_form == sys::WP_DOMAINS_38));
    p.power_policy = sys::WP_POWER_PERFORMANCE + version as u32;
}

pub(super) fn disable(p: &mut wp_params) {
    set_clean_ups(p, 0);
    p.power_policy = sys::WP_POWER_OFF;
}

pub(super) fn state(p: &wp_params) -> Option<usize> {
    (p.power_policy as usize).checked_sub(sys::WP_POWER_PERFORMANCE as usize)
}

/// Utilisation is what groups are filled by.
pub(super) fn refused(p: &wp_params) -> Option<&'static str> {
    (p.pelt_scale == sys::WP_PELT_NONE)
        .then_some("it builds on averages of runnable time, which came with linux-3.8 (pelt_scale)")
}
