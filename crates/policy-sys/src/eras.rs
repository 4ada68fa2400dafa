//! Eras and features as sets of parameter values. The only place where a kernel version is a fact.

use crate::sys::{self, wp_params};

/// A kernel version with what it shipped.
pub(crate) struct Era {
    pub(crate) name: &'static str,
    pub(crate) doc: &'static str,
    pub(crate) params: fn() -> wp_params,
}

/// One of the patch series, as something to add to or take from an era.
pub(crate) struct Feature {
    pub(crate) name: &'static str,
    pub(crate) doc: &'static str,
    /// Versions to choose from, the era's default first; empty: on or off only.
    pub(crate) versions: &'static [&'static str],
    /// Applies version number `usize` (position in `versions`, 0 without versions).
    pub(crate) enable: fn(&mut wp_params, usize),
    pub(crate) disable: fn(&mut wp_params),
    /// Version number if the feature is on.
    pub(crate) state: fn(&wp_params) -> Option<usize>,
}

/// All eras.
pub(crate) const ERAS: &[Era] = &[Era {
    name: "linux-4.17",
    doc: "Linux 4.17 (June 2018): capacity-aware wake-ups, util_est, schedutil",
    params: linux_4_17,
}];

/// All features.
pub(crate) const FEATURES: &[Feature] = &[
    Feature {
        name: "asym-capacity",
        doc: "capacity-aware wake-ups and balancing for big.LITTLE (2016)",
        versions: &[],
        enable: |p, _| set_asym_capacity(p, 1),
        disable: |p| set_asym_capacity(p, 0),
        state: |p| {
            let on = p.asym_balance_wake | p.wake_cap | p.idlest_spare | p.asym_no_pull;
            (on != 0).then_some(0)
        },
    },
    Feature {
        name: "energy-aware",
        doc: "a waking task goes where it costs least energy (2018)",
        versions: &["v3", "5.0"],
        enable: set_energy_aware,
        disable: |p| p.energy_aware = sys::WP_ENERGY_OFF,
        state: |p| (p.energy_aware as usize).checked_sub(1),
    },
];

fn set_asym_capacity(p: &mut wp_params, on: u32) {
    p.asym_balance_wake = on;
    p.wake_cap = on;
    p.idlest_spare = on;
    p.asym_no_pull = on;
}

/// v3: margin 1/64; 5.0: margin 1/16 and a limit on the estimate's cost (energy-aware 2.9, 3, 4.7).
fn set_energy_aware(p: &mut wp_params, version: usize) {
    let (form, shift, complexity) = match version {
        0 => (sys::WP_ENERGY_V3, 6, 0),
        _ => (sys::WP_ENERGY_50, 4, 2048),
    };
    p.energy_aware = form;
    p.energy_margin_shift = shift;
    p.energy_max_complexity = complexity;
}

/// Linux 4.17. Sources of the values: docs/decisions/002 and 003 name what the specs leave open.
fn linux_4_17() -> wp_params {
    let mut p = wp_params {
        pelt_scale: sys::WP_PELT_CONTRIB,
        runnable_is_load: 1,
        util_est: sys::WP_UTIL_EST_PAIR,
        util_est_after_freq: 1,
        post_init_util: 1,
        post_init_capacity: 0,
        wake_wide: 1,
        wake_affine_idle: 1,
        wake_affine_prev_idle: 0,
        wake_affine_weight: 1,
        wakee_flips_fix: 0,
        sis_recent_used: 1,
        sis_prop: 1,
        asym_balance_wake: 0,
        wake_cap: 0,
        idlest_spare: 0,
        asym_no_pull: 0,
        energy_aware: sys::WP_ENERGY_OFF,
        energy_margin_shift: 6,
        energy_max_complexity: 0,
        balance: 1,
        newidle_balance: 1,
        nohz_balance: 1,
        imbalance_pct: 125,
        busy_factor: 32,
        migration_cost_ns: 500_000,
        nr_migrate: 32,
        load_idx: 1,
        governor: sys::WP_GOV_SCHEDUTIL,
        rate_limit_us: sys::WP_NONE,
        rate_limit_multiplier: 1000,
        rate_limit_cap_us: 10_000,
        blocked_util_in_freq: 0,
        queue: sys::WP_QUEUE_CFS,
        vq_slice_ns: 3_000_000,
        vq_wakeup_gran_ns: 1_000_000,
        sched_latency_ns: 6_000_000,
        min_granularity_ns: 750_000,
        wakeup_granularity_ns: 1_000_000,
        tunable_scaling_log: 1,
        gentle_fair_sleepers: 1,
        start_debit: 1,
        wakeup_preemption: 1,
        last_buddy: 1,
    };
    set_asym_capacity(&mut p, 1);
    p
}
