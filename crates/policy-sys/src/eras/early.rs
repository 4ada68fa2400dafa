//! Eras before 4.17, each as what differs from the next. Sources of the values:
//! docs/rules/linux-3-1-to-4-7.md#linux-3-1-to-4-7.
//!
//! What must stay: each era is written as what differs from the next later one. Recorded runs show
//! a changed value. Free: a value that was found wrong, with its page; earlier eras change
//! with it.
//!
//! Tests by part: `constants_are_those_of_the_time`, `asym_capacity_is_added_to_4_7` (`linux_4_7`),
//! `the_live_build_refuses_them`; fixtures of `policy = "linux-3.8"` and `"linux-3.1"`
//! (`linux_3_8`, `linux_3_1`).
//!
//! Callers: the table `ERAS` (eras.rs).
//!
//! Tests: crates/policy-sys/tests/all/early_eras.rs

use super::base::linux_4_17;
use super::set_asym_capacity;
use crate::sys::{self, wp_params};

/// Linux 4.7: the tip of June 2016 that the capacity-aware series was made for, without it.
pub(super) fn linux_4_7() -> wp_params {
    let mut p = wp_params {
        util_est: sys::WP_UTIL_EST_OFF,
        iowait_boost: sys::WP_IOWAIT_OFF, // came with 4.9
        util_est_after_freq: 0,
        wake_affine_idle: 0,
        wake_affine_form: sys::WP_AFFINE_318,
        sis_form: sys::WP_SIS_GROUPS,
        sis_recent_used: 0,
        sis_prop: 0,
        idlest_load: sys::WP_IDLEST_318,
        domain_form: sys::WP_DOMAINS_47,
        capacity_form: sys::WP_CAPACITY_WINDOW,
        capacity_newidle: 1,
        // schedutil is there, but nobody's default yet
        governor: sys::WP_GOV_PERFORMANCE,
        rate_limit_cap_us: 10_000_000,
        nohz_form: sys::WP_NOHZ_47,
        sibling_beyond_local: 0,
        idle_pulls_overload: 0,
        asym_no_pull_max: 1,
        dl_constrained: 0, // came with 4.13
        dl_scaled: 0,      // came with 4.16
        idlest_spare_fork: 1,
        ..linux_4_17()
    };
    set_asym_capacity(&mut p, 0);
    p
}

/// Linux 3.8: what the power-aware series replaces.
pub(super) fn linux_3_8() -> wp_params {
    wp_params {
        pelt_scale: sys::WP_PELT_RATIO,
        weight_is_load: 1,
        runnable_is_load: 0,
        post_init_util: 0,
        wake_wide: 0,
        wake_affine_form: sys::WP_AFFINE_31,
        sis_always: 0,
        idlest_load: sys::WP_IDLEST_31,
        domain_form: sys::WP_DOMAINS_38,
        capacity_form: sys::WP_CAPACITY_POWER,
        busy_factor: 64,
        group_form: sys::WP_GROUPS_COUNTS,
        nohz_form: sys::WP_NOHZ_38,
        newidle_by_cost: 0,
        governor: sys::WP_GOV_ONDEMAND,
        ..linux_4_7()
    }
}

/// Linux 3.1, with `sched_mc_power_savings` at 0: what the sched_mc series replaces.
pub(super) fn linux_3_1() -> wp_params {
    wp_params {
        pelt_scale: sys::WP_PELT_NONE,
        sis_form: sys::WP_SIS_LEVELS,
        domain_form: sys::WP_DOMAINS_31,
        capacity_newidle: 0,
        group_form: sys::WP_GROUPS_COUNTS_31,
        nohz_form: sys::WP_NOHZ_31,
        ilb_idle_at_tick: 1,
        newidle_push: 0,
        pinned_retry: 0,
        ..linux_3_8()
    }
}
