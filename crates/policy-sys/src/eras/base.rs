//! Linux 4.17, which the other eras are written down against. Sources of the values:
//! docs/rules/linux-4-17.md#linux-4-17, docs/rules/rt-and-deadline.md#rt-capacity-4-17.
//!
//! What must stay: values as read in 4.17; a later kernel's change belongs to later.rs. Recorded
//! runs show a changed value. Free: a value that was found wrong, with its page; all later
//! eras change with it.
//!
//! Tests by part: forms_by_era.rs, frequency.rs, fast_path.rs and capacity_vectors.rs try forms of
//! `linux_4_17`; the other functions are parts of it (`balancing`, `pick`, `other_classes`,
//! `ondemand`, `early_forms_over`); balance.rs: `intervals` (`balancing`), ondemand.rs
//! (`ondemand`), classes.rs (`other_classes`).
//!
//! Callers: early.rs and later.rs, which state differences.
//!
//! Tests: crates/policy-sys/tests/all/forms_by_era.rs

use crate::sys::{self, wp_params};

/// Sets each parameter to its value in Linux 4.17.
pub(super) fn linux_4_17() -> wp_params {
    wp_params {
        pelt_scale: sys::WP_PELT_CONTRIB,
        runnable_is_load: 1,
        util_est: sys::WP_UTIL_EST_PAIR,
        util_est_after_freq: 1,
        util_est_faster: sys::WP_UTIL_EST_FASTER_OFF,
        util_est_dequeue_late: 1,
        util_est_to_capacity: 1,
        util_est_refresh: 0,
        runnable_boost_task: 0,
        post_init_util: 1,
        post_init_scaled_weight: 1,
        post_init_capacity: 0,
        migrate_pelt_lag: 0,
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
        sis_kthread: 0,
        sis_prop_allowed: 0,
        idle_policy_free: 0,
        idlest_numa_idle: 0,
        idlest_classes: 0,
        asym_flag: 1,
        idlest_single_cpu: 1,
        idlest_without_task: 1,
        idlest_without_running: 0,
        overutilized_new: 0,
        asym_balance_wake: 1,
        wake_cap: 1,
        idlest_spare: 1,
        idlest_spare_fork: 0,
        asym_no_pull: 1,
        energy_aware: sys::WP_ENERGY_OFF,
        energy_hints_carried: 0,
        energy_margin_shift: 6,
        energy_max_complexity: 0,
        governor: sys::WP_GOV_SCHEDUTIL,
        rate_limit_us: sys::WP_NONE,
        rate_limit_multiplier: 1000,
        rate_limit_extra_percent: 0,
        rate_limit_cap_us: 10_000,
        freq_perf_form: 0,
        freq_headroom_on_util: 0,
        freq_headroom: 1,
        blocked_util_in_freq: 0,
        ..balancing()
    }
}

/// Sets the parameters of load balancing in 4.17.
fn balancing() -> wp_params {
    wp_params {
        balance: 1,
        newidle_balance: 1,
        nohz_balance: 1,
        imbalance_pct: 125,
        busy_factor: 32,
        migration_cost_ns: 500_000,
        nr_migrate: 32,
        cache_hot_buddy: 1,
        idle_policy_cold: 1, // ef8002f68482, in 2.6.38 (from memory)
        pull_eligible: 0,
        pull_down_any_class: 0,
        misfit_core_idle: 0,
        misfit_if_bigger: 0,
        lone_from_core: 0,
        balance_classes: 0,
        busy_interval_apart: 0,
        pinned_unless_found: 0,
        ilb_looks_on: 0,
        avg_idle_truncates: 0,
        prefer_sibling: sys::WP_SIBLING_NOT_CACHE,
        newidle_first_cost: 0,
        newidle_random: 0,
        newidle_rate: 0,
        load_idx: 1,
        asym_packing: 1,
        reclaim_distance: 30, // RECLAIM_DISTANCE; a variable that EPYC sets to 32 from 5.4 on
        group_form: sys::WP_GROUPS_TYPES,
        nohz_form: sys::WP_NOHZ_BLOCKED,
        sibling_beyond_local: 1,
        idle_pulls_overload: 1,
        pinned_retry: 1,
        newidle_push: 1,
        newidle_by_cost: 1,
        ilb_idle_at_tick: 0,
        asym_no_pull_max: 0,
        ..pick()
    }
}

/// How a CPU picks among its tasks, and how a task joins the queue of another CPU.
fn pick() -> wp_params {
    wp_params {
        queue: sys::WP_QUEUE_CFS,
        vq_slice_ns: 700_000,
        vq_sync_run_ns: 2_000_000,
        wake_list: sys::WP_WAKE_LIST_CACHE,
        sched_latency_ns: 6_000_000,
        min_granularity_ns: 750_000,
        wakeup_granularity_ns: 1_000_000,
        tunable_scaling: sys::WP_SCALING_LOG,
        gentle_fair_sleepers: 1,
        start_debit: 1,
        wakeup_preemption: 1,
        last_buddy: 1,
        cfs_base_slice: 0,
        cfs_slice_limit: 0,
        cfs_idle_credit: 0,
        base_slice_ns: 700_000,
        eevdf_form: sys::WP_EEVDF_73,
        run_to_parity: 1,
        preempt_short: 1,
        delay_dequeue: 1,
        next_buddy: 0,
        pick_buddy: 1,
        hrtick: sys::WP_HRTICK_OFF,
        preempt: sys::WP_PREEMPT_FULL,
        ..other_classes()
    }
}

/// What it did with RT and deadline tasks, I/O waits and caps (docs/rules/rt-and-deadline.md).
fn other_classes() -> wp_params {
    wp_params {
        iowait_boost: sys::WP_IOWAIT_FREQ,
        freq_pressure: 0,
        class_capacity: sys::WP_CLASS_AGED,
        dl_constrained: 1,
        dl_scaled: 1, // 07881166a892, in 4.16
        rt_fits: 0,
        rt_period_us: 1_000_000,
        rt_runtime_us: 950_000,
        rt_server: 0,
        rr_slice_us: 100_000,
        ..ondemand()
    }
}

/// The governor of 2011, for who asks for it (docs/rules/ondemand.md#ondemand).
fn ondemand() -> wp_params {
    wp_params {
        sampling_rate_us: sys::WP_NONE,
        up_threshold: 95,
        down_differential: 3,
        sampling_down_factor: 1,
        ..early_forms_over()
    }
}

/// What was over by 4.17: the values that all later eras share. What came later is off, and what
/// no kernel has taken.
fn early_forms_over() -> wp_params {
    let mut p = wp_params {
        weight_is_load: 0,
        wake_affine_form: sys::WP_AFFINE_414,
        sis_form: sys::WP_SIS_SCAN,
        sis_always: 1,
        idlest_load: sys::WP_IDLEST_410,
        domain_form: sys::WP_DOMAINS_516,
        capacity_form: sys::WP_CAPACITY_SIGNALS,
        capacity_newidle: 0,
        ..wp_params::default()
    };
    super::short::disable(&mut p);
    super::sched_mc::disable(&mut p);
    p
}
