//! Eras and features as sets of parameter values. The only place where a kernel version is a fact.

use crate::sys::{self, wp_params};

/// A kernel version with what it shipped.
pub(crate) struct Era {
    pub(crate) name: &'static str,
    pub(crate) doc: &'static str,
    pub(crate) params: fn() -> wp_params,
    /// Versions that `+FEATURE` means in this era, where it is not the feature's first.
    pub(crate) versions: &'static [(&'static str, &'static str)],
}

/// One of the patch series, as something to add to or take from an era.
pub(crate) struct Feature {
    pub(crate) name: &'static str,
    pub(crate) doc: &'static str,
    /// Versions to choose from, the oldest first; empty: on or off only.
    pub(crate) versions: &'static [&'static str],
    /// Applies version number `usize` (position in `versions`, 0 without versions).
    pub(crate) enable: fn(&mut wp_params, usize),
    pub(crate) disable: fn(&mut wp_params),
    /// Version number if the feature is on.
    pub(crate) state: fn(&wp_params) -> Option<usize>,
}

/// All eras.
pub(crate) const ERAS: &[Era] = &[
    Era {
        name: "linux-4.17",
        doc: "Linux 4.17 (June 2018): capacity-aware wake-ups, util_est, schedutil",
        params: linux_4_17,
        versions: &[],
    },
    Era {
        name: "linux-7.3",
        doc: "Linux 7.3: EEVDF, clock-scaled signals, energy-aware wake-ups, uclamp, group classes",
        params: linux_7_3,
        versions: &[("energy-aware", "7.3")],
    },
    Era {
        name: "wakeplace",
        doc: "the live scheduler's own: linux-7.3 with its features, on the live queues",
        params: wakeplace,
        versions: &[("energy-aware", "7.3")],
    },
];

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
        versions: &["v3", "5.0", "7.3"],
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

/// v3: margin 1/64; 5.0: margin 1/16 and a limit on the estimate's cost; 7.3: neither
/// (energy-aware 2.9, 3, 4.5, 4.7).
fn set_energy_aware(p: &mut wp_params, version: usize) {
    let (form, shift, complexity) = match version {
        0 => (sys::WP_ENERGY_V3, 6, 0),
        1 => (sys::WP_ENERGY_50, 4, 2048),
        _ => (sys::WP_ENERGY_73, 6, 0),
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
        uclamp: 0,
        misfit: 0,
        wake_wide: 1,
        wake_affine_idle: 1,
        wake_affine_prev_idle: 0,
        wake_affine_weight: 1,
        wakee_flips_fix: 0,
        sis_recent_used: 1,
        sis_prop: 1,
        sis_single_pass: 0,
        sis_util: 0,
        sis_asym: sys::WP_SIS_ASYM_OFF,
        idlest_classes: 0,
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
        balance_classes: 0,
        prefer_sibling: sys::WP_SIBLING_NOT_CACHE,
        newidle_first_cost: 0,
        newidle_random: 0,
        load_idx: 1,
        governor: sys::WP_GOV_SCHEDUTIL,
        rate_limit_us: sys::WP_NONE,
        rate_limit_multiplier: 1000,
        rate_limit_extra_percent: 0,
        rate_limit_cap_us: 10_000,
        freq_perf_form: 0,
        freq_headroom: 1,
        blocked_util_in_freq: 0,
        queue: sys::WP_QUEUE_CFS,
        vq_slice_ns: 3_000_000,
        vq_min_run_ns: 700_000,
        vq_wakeup_gran_ns: 1_000_000,
        sched_latency_ns: 6_000_000,
        min_granularity_ns: 750_000,
        wakeup_granularity_ns: 1_000_000,
        tunable_scaling_log: 1,
        gentle_fair_sleepers: 1,
        start_debit: 1,
        wakeup_preemption: 1,
        last_buddy: 1,
        base_slice_ns: 700_000,
        eevdf_form: sys::WP_EEVDF_73,
        run_to_parity: 1,
        preempt_short: 1,
        delay_dequeue: 1,
    };
    set_asym_capacity(&mut p, 1);
    p
}

/// Linux 7.3, in the forms that the specs mark as read in 6.12 and 7.3. The numbers of CFS are
/// those of 6.1, for those who set `queue=cfs`.
fn linux_7_3() -> wp_params {
    let mut p = wp_params {
        pelt_scale: sys::WP_PELT_CLOCK,
        runnable_is_load: 0,
        util_est: sys::WP_UTIL_EST_SINGLE,
        util_est_after_freq: 0,
        post_init_capacity: 1,
        wake_affine_prev_idle: 1,
        sis_prop: 0,
        sis_single_pass: 1,
        sis_util: 1,
        sis_asym: sys::WP_SIS_ASYM_LIMITED,
        idlest_classes: 1,
        imbalance_pct: 117,
        busy_factor: 16,
        balance_classes: 1,
        prefer_sibling: sys::WP_SIBLING_ALL,
        newidle_first_cost: 1,
        newidle_random: 1,
        load_idx: 0,
        uclamp: 1,
        misfit: 1,
        rate_limit_multiplier: 1,
        rate_limit_extra_percent: 50,
        rate_limit_cap_us: 10_000_000,
        freq_perf_form: 1,
        blocked_util_in_freq: 1,
        queue: sys::WP_QUEUE_EEVDF,
        ..linux_4_17()
    };
    set_asym_capacity(&mut p, 0); // the rules of 2016 have successors
    set_energy_aware(&mut p, 2);
    p
}

/// The product's own policy, in both homes. Of the features only energy-aware adds to Linux 7.3,
/// which has it as shipped; asym-capacity's rules of 2016 have successors there. The live queues
/// come with a timer of their own in place of nohz balancing (docs/model.md).
fn wakeplace() -> wp_params {
    wp_params {
        queue: sys::WP_QUEUE_DSQ,
        nohz_balance: 0,
        ..linux_7_3()
    }
}
