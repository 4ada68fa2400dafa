//! Eras after 4.17, each as what differs from the one before (docs/rules/linux-5-0-to-6-12.md).
//!
//! What must stay: each era begins with the one before it; a value that changes twice is set twice.
//! Recorded runs show a changed value. Free: a value that was found wrong, with its page and
//! a test; recorded runs change with it.
//!
//! Tests by part: forms_by_era.rs, both forms of each rule (`linux_5_0`, `linux_5_10`, `linux_6_2`,
//! `linux_6_12`), util_est_6_12.rs, group_accesses.rs: `the_limit_is_that_of_6_7`, pulls.rs
//! (`linux_6_12`, `linux_6_18`, `linux_7_3`), policy_matrix.rs (`wakeplace`);
//! crates/cli/tests/all/eras.rs has all eras with the kernels that they stand for (`linux_6_1`,
//! `linux_6_6`, too).
//!
//! Callers: the table `ERAS` (eras.rs).
//!
//! Tests: crates/policy-sys/tests/all/forms_by_era.rs

use super::base::linux_4_17;
use super::{sched_mc, set_asym_capacity, set_energy_aware, short};
use crate::sys::{self, wp_params};

/// Linux 5.0. Against 4.17 (docs/rules/linux-5-0-to-6-12.md): the misfit series of 4.20, the tests
/// of fitness that came with it, estimates and blocked utilisation in the order of 4.18, all
/// classes in the frequency.
pub(super) fn linux_5_0() -> wp_params {
    let mut p = wp_params {
        util_est_after_freq: 0,
        util_est_dequeue_late: 1,
        post_init_capacity: 1,
        misfit: 1,
        wake_cap_est: 1,
        newidle_keeps_interval: 1,
        prefer_sibling: sys::WP_SIBLING_NOT_ASYM,
        freq_other_classes: 1,
        freq_update_in_progress: 1,
        class_capacity: sys::WP_CLASS_SIGNALS,
        iowait_boost: sys::WP_IOWAIT_FREQ_RESTART,
        overutilized_new: 1,
        idlest_without_running: 1,
        blocked_util_in_freq: 1,
        ..linux_4_17()
    };
    set_energy_aware(&mut p, 1);
    p
}

/// Linux 5.10, the long-term release (5.10.223): balancing by classes, PELT's clock, uclamp; the
/// idle search still has two passes.
pub(super) fn linux_5_10() -> wp_params {
    let mut p = wp_params {
        pelt_scale: sys::WP_PELT_CLOCK,
        removed_sums_anew: 1,
        runnable_is_load: 0,
        util_est: sys::WP_UTIL_EST_PAIR_FASTUP,
        util_est_refresh: 1,
        overutilized_new: 0,
        uclamp: 1,
        energy_hints_carried: 1,
        pressure_form: sys::WP_PRESSURE_THERMAL,
        sis_asym: sys::WP_SIS_ASYM_PLAIN,
        sis_kthread: 1,
        sis_prop_allowed: 1,
        idle_policy_free: 1,
        idlest_classes: 1,
        idlest_numa_idle: 1,
        domain_form: sys::WP_DOMAINS_47, // clusters are a level from 5.16 on
        wake_cap_est: 0,
        imbalance_pct: 117,
        busy_factor: 16,
        balance_classes: 1,
        busy_interval_apart: 1,
        ilb_looks_on: 1,
        load_idx: 0,
        reclaim_distance: sys::WP_NONE,
        rt_fits: 1,
        iowait_boost: sys::WP_IOWAIT_UTIL,
        teo: sys::WP_TEO_5_10,
        ..linux_5_0()
    };
    set_asym_capacity(&mut p, 0); // the rules of 2016 have successors, but for these two
    p.idlest_single_cpu = 1;
    p.idlest_without_task = 1;
    set_energy_aware(&mut p, 2);
    p
}

/// Linux 6.2: what docs/rules marks as read in 6.1, with the limit of a turn.
pub(super) fn linux_6_2() -> wp_params {
    let mut p = wp_params {
        removed_sums_anew: 0,
        util_est_dequeue_late: 0,
        misfit_form: sys::WP_MISFIT_61,
        wake_affine_prev_idle: 1,
        sis_prop: 0,
        sis_single_pass: 1,
        sis_util: 1,
        sis_asym: sys::WP_SIS_ASYM_ALL,
        idlest_numa_idle: 0,
        domain_form: sys::WP_DOMAINS_516,
        pinned_unless_found: 1,
        newidle_first_cost: 1,
        avg_idle_truncates: 1,
        migrate_pelt_lag: 1,
        wake_list: sys::WP_WAKE_LIST_IDLE,
        freq_headroom_on_util: 1,
        freq_skip_inefficient: 1,
        cfs_base_slice: 1,
        cfs_slice_limit: 1, // 79ba1e607d68, in 6.2
        cfs_idle_credit: 1,
        teo: sys::WP_TEO_6_1,
        group_burst: 1, // f4183717b370, in 5.14
        group_idle: 1,  // 304000390f88, in 5.15
        ..linux_5_10()
    };
    set_energy_aware(&mut p, 3);
    p
}

/// Linux 6.1, the long-term release (6.1.176), with what that release took from later kernels:
/// new-idle attempts by chance, and the tick of CPUs that idle without cpuidle.
pub(super) fn linux_6_1() -> wp_params {
    wp_params {
        cfs_slice_limit: 0,
        newidle_random: 1,
        idle_got_tick: 1,
        ..linux_6_2()
    }
}

/// Linux 6.6, the long-term release (6.6.63): the first EEVDF, without delayed dequeues and slices
/// of a task's own.
pub(super) fn linux_6_6() -> wp_params {
    wp_params {
        runnable_boost: 1, // 7d0583cf9ec7, in 6.5
        balance_smt: 1,
        queue: sys::WP_QUEUE_EEVDF,
        eevdf_form: sys::WP_EEVDF_66,
        base_slice_ns: 750_000,
        preempt_short: 0,
        pick_buddy: 0, // NEXT_BUDDY's alone
        delay_dequeue: 0,
        teo: sys::WP_TEO_6_10,
        group_timer_offset: 1, // 41abdba93747, in 6.4
        ..linux_6_2()
    }
}

/// Linux 6.12, the long-term release that docs/rules was read in (6.12.117), with what that release
/// took from later kernels: new-idle attempts by chance, the base slice of 0.7 ms, and the tick of
/// CPUs that idle without cpuidle (f4c31b07b136 of 7.0; 6.12.78).
pub(super) fn linux_6_12() -> wp_params {
    let mut p = wp_params {
        util_est: sys::WP_UTIL_EST_SINGLE,
        util_est_refresh: 0,        // there is one value
        post_init_scaled_weight: 0, // 72bffbf57c52, in 6.10
        util_est_before_update: 1,
        runnable_boost: 1,
        runnable_boost_task: 1,
        tg_write_interval_us: 1_000, // 1528c661c24b, in 6.7
        misfit_form: sys::WP_MISFIT_612,
        pressure_form: sys::WP_PRESSURE_LIMITS,
        sis_cluster: 1,
        idlest_allowed: 1,
        balance_smt: 1,
        pull_down_any_class: 1, // 6.12.117 has both from later
        misfit_core_idle: 1,
        newidle_random: 1,
        rt_server: 1,
        freq_pressure: 1,
        rate_limit_multiplier: 1,
        rate_limit_extra_percent: 50,
        rate_limit_cap_us: 10_000_000,
        freq_perf_form: 1,
        queue: sys::WP_QUEUE_EEVDF,
        eevdf_form: sys::WP_EEVDF_612,
        group_timer_offset: 1, // 41abdba93747, in 6.4
        idle_got_tick: 1,
        teo: sys::WP_TEO_6_12,
        ..linux_6_2()
    };
    set_energy_aware(&mut p, 4);
    p
}

/// Linux 6.18, the long-term release (6.18.15): EEVDF protects the picked task for the shortest
/// slice in the queue.
pub(super) fn linux_6_18() -> wp_params {
    wp_params {
        util_est_to_capacity: 0,
        runnable_boost_task: 0,
        idlest_allowed: 0, // 6.12.117 has it from later
        pull_eligible: 1,
        pull_down_any_class: 0,
        misfit_core_idle: 0,
        eevdf_form: sys::WP_EEVDF_618,
        idle_got_tick: 0,
        teo: sys::WP_TEO_6_18,
        throttle_on_return: 1, // e1fad12dcb66, in 6.18
        ..linux_6_12()
    }
}

/// Linux 7.3, in the forms that docs/rules marks as read in 6.12 and 7.3. The numbers of CFS are
/// those of 6.1, for those who set `queue=cfs`.
pub(super) fn linux_7_3() -> wp_params {
    let mut p = wp_params {
        util_est_before_update: 0,
        enqueue_load_floor: 1,
        runnable_boost_task: 1,
        idlest_allowed: 1,
        sis_asym: sys::WP_SIS_ASYM_LIMITED,
        prefer_sibling: sys::WP_SIBLING_ALL,
        sched_cache: 1,                // 7.2
        overloaded_if_overutilized: 1, // 7.1
        pull_down_any_class: 1,
        misfit_core_idle: 1,
        misfit_if_bigger: 1, // after 7.2
        lone_from_core: 1,   // after 7.2
        newidle_rate: 1,
        idle_policy_apart: 1,
        eevdf_form: sys::WP_EEVDF_73,
        hrtick: sys::WP_HRTICK_AUTO,
        idle_got_tick: 1,
        teo: sys::WP_TEO_7_3,
        ..linux_6_18()
    };
    set_energy_aware(&mut p, 5);
    p
}

/// Fewest CPUs of a last-level cache in which short tasks stay with their waker: what is lost by
/// two wakers that take the same idle CPU grows with the number of wakers. Published is a gain with
/// 112 CPUs, and little or none with 16 (Zen 3), 20 (Ivy Bridge EP) and 32 (Kunpeng 920)
/// (docs/rules/short-wakes.md#short-elsewhere). v4 lost on Zen 3 and Kunpeng, for which v5 got its
/// gate back. The simulator does not set this limit: it finds gains of v5 with 32 CPUs, and at some
/// loads with 20 and 16 as well, which nobody published (docs/decisions/028).
const SHORT_MIN_LLC: u32 = 32;

/// Lines that a wake-up through a pipe brings along (docs/decisions/060). Sockets bring more: the
/// rule does not know which it is, and a task then moves a little later than it should.
const PIPE_LINES: u32 = 60;

/// The product's own policy, in both homes (docs/guide/policy.md). asym-capacity's rules of 2016
/// have successors in Linux 7.3, which has energy-aware as shipped; packing is the mode's. The live
/// queues come with a timer of their own in place of nohz balancing (docs/guide/model.md).
pub(super) fn wakeplace() -> wp_params {
    let mut p = wp_params {
        queue: sys::WP_QUEUE_LIVE,
        nohz_balance: 0,
        sched_cache: 0, // the live scheduler does not know of processes
        power_policy: sys::WP_POWER_BY_MODE,
        power_prev_first: 1,
        power_new_spread: 1,
        ..linux_7_3()
    };
    sched_mc::enable(&mut p, 0); // its level is the mode's
    short::enable(&mut p, short::V5);
    p.sis_short_min_llc = SHORT_MIN_LLC;
    p.cache_rent_lines = PIPE_LINES;
    p.energy_idle = 1;
    p.energy_idle_free = 1;
    p.energy_wait = 1;
    p.energy_hints_carried = 0; // an accident of the kernels' loop
    p.runnable_boost_pct = 50;
    p.boost_urgency_low_pct = 50;
    p.boost_urgency_high_pct = 90;
    p
}
