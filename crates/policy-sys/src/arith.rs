//! The core's arithmetic as functions: load tracking, util_est, weights, frequency mapping. One
//! call of C each, for tests and observers.
//!
//! What must stay: each is one call of C and nothing else, so that tests try the core's own
//! arithmetic. Frequencies are kHz, signals 0..=1024. Free: the wrapping alone.
//!
//! Tests by part: pelt_vectors.rs: `decay_load_rows` (`decay_load`), `segments_rows`
//! (`pelt_segments`), `ramp_rows` (`avg_update`), `nice_rows` (`nice_weight`, `nice_inv_weight`);
//! signals.rs: `util_est_single` (`util_est_next`), `a_run_reaches_so_much` (`util_est_of_run`);
//! response_time.rs: `a_utilisation_after_a_run` (`approximate_util_avg`),
//! `the_way_to_a_utilisation` (`approximate_runtime`), `what_fits_by_the_tick`
//! (`fits_capacity_threshold`); durations.rs: `scaling_by_cpus` (`scaling_factor`),
//! `buckets_of_times` (`time_bucket`); frequency.rs:
//! `utilisation_to_frequency` (`map_util_freq`); live_groups.rs: `hints_stay_within_the_group_s`
//! (`uclamp_tg_restrict`).
//!
//! Callers: tests, kernel-queues (weights, the scaling of slices) and observers.
//!
//! Tests: crates/policy-sys/tests/all/pelt_vectors.rs,
//! crates/policy-sys/tests/all/capacity_vectors.rs

use crate::sys;

/// `value * y^periods`, y^32 = 1/2; 0 beyond 2016 periods.
#[must_use]
pub fn decay_load(value: u64, periods: u64) -> u64 {
    // SAFETY: pure arithmetic; so below.
    unsafe { sys::wp_decay_load(value, periods) }
}

/// Contribution of a span: `d1` of its first period, `periods` crossings, `d3` of its last.
#[must_use]
pub fn pelt_segments(periods: u32, d1: u32, d3: u32) -> u32 {
    // SAFETY: see decay_load.
    unsafe { sys::wp_accumulate_pelt_segments(periods, d1, d3) }
}

/// One update step of a signal, as every event of a task and a CPU takes it. True if the averages
/// were written.
pub fn avg_update(avg: &mut sys::wp_sched_avg, step: &sys::wp_pelt_step) -> bool {
    // SAFETY: both are live; the core keeps no pointer.
    unsafe { sys::wp_avg_step(avg, step) != 0 }
}

/// The estimate after an activation that ended at `util`; `mode` is one of `sys::WP_UTIL_EST_*`.
#[must_use]
pub fn util_est_next(mode: u32, est: u32, util: u32, runnable: u32, capacity: u32) -> u32 {
    // SAFETY: see decay_load.
    unsafe { sys::wp_util_est_next(mode, est, util, runnable, capacity) }
}

/// A task's utilisation hint within the bounds of its group.
#[must_use]
pub fn uclamp_tg_restrict(value: u32, group_min: u32, group_max: u32) -> u32 {
    // SAFETY: see decay_load.
    unsafe { sys::wp_uclamp_tg_restrict(value, group_min, group_max) }
}

/// The utilisation that a run of this length reaches from 0 on the biggest CPU (UTIL_EST_FASTER).
#[must_use]
pub fn util_est_of_run(run_ns: u64) -> u32 {
    // SAFETY: see decay_load.
    unsafe { sys::wp_util_est_of_run(run_ns) }
}

/// A utilisation after so many us of running on the biggest CPU at its highest frequency;
/// `half_life` is one of `sys::WP_HALF_LIFE_*`.
#[must_use]
pub fn approximate_util_avg(util: u32, us: u64, half_life: u32) -> u32 {
    // SAFETY: see decay_load.
    unsafe { sys::wp_approximate_util_avg(util, us, half_life) }
}

/// How many ms of 1024 us a run takes to a utilisation from 0, 400 at most.
#[must_use]
pub fn approximate_runtime(util: u32, half_life: u32) -> u32 {
    // SAFETY: see decay_load.
    unsafe { sys::wp_approximate_runtime(util, half_life) }
}

/// From which utilisation on a task does not fit a CPU of this capacity (`fits_by_tick`).
#[must_use]
pub fn fits_capacity_threshold(capacity: u32, tick_us: u64, half_life: u32) -> u32 {
    // SAFETY: see decay_load.
    unsafe { sys::wp_fits_capacity_threshold(capacity, tick_us, half_life) }
}

/// By how much the kernel's times are longer on a machine of so many CPUs; `scaling` is one of
/// `sys::WP_SCALING_*`.
#[must_use]
pub fn scaling_factor(scaling: u32, nr_cpus: u32) -> u32 {
    // SAFETY: see decay_load.
    unsafe { sys::wp_get_update_sysctl_factor(scaling, nr_cpus) }
}

/// The bucket that a time, ns, has in histograms of the live scheduler.
#[must_use]
pub fn time_bucket(ns: u64) -> usize {
    // SAFETY: see decay_load.
    unsafe { sys::wp_time_bucket(ns) as usize }
}

/// Load weight of a nice value; outside -20..=19 the nearest.
#[must_use]
pub fn nice_weight(nice: i32) -> u32 {
    // SAFETY: see decay_load.
    unsafe { sys::wp_nice_weight(nice) }
}

/// `2^32 / weight` of a nice value, as the kernel rounds it.
#[must_use]
pub fn nice_inv_weight(nice: i32) -> u32 {
    // SAFETY: see decay_load.
    unsafe { sys::wp_nice_inv_weight(nice) }
}

/// Frequency at which `util` fills 80 % of a CPU, kHz; may exceed `max_khz`.
#[must_use]
pub fn map_util_freq(util: u32, max_khz: u32, capacity: u32) -> u32 {
    // SAFETY: see decay_load.
    unsafe { sys::wp_map_util_freq(util, max_khz, capacity) }
}
