// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Parameters: load tracking. The form is described in params.def.h.
 *
 * What must stay: keys and names of values, which users, study files and eras
 * (crates/policy-sys/src/eras) give; the place of a value is its number. `cargo xtask params` after
 * a change. Tests of the form: those of params.def.h; of what the keys do:
 * crates/policy-sys/tests/all/signals.rs, crates/policy-sys/tests/all/fits.rs,
 * crates/policy-sys/tests/all/durations.rs, crates/policy-sys/tests/all/response_time.rs.
 */

WP_GROUP("load-tracking")

WP_CHOICE(pelt_scale, wp_pelt_scale, LIVE_HAS("clock"), RUN, "contrib",
	"docs/rules/signals.md#pelt-clock",
	"what frequency and capacity scale: contrib: each contribution to PELT (4.3 to 5.0); "
	"clock: PELT's clock (5.1); ratio: nothing, PELT is the share of time runnable (3.8); "
	"none: no PELT (to 3.7)",
	/* up to 5.0: each contribution times frequency and capacity */
	WP_VALUE(WP_PELT_CONTRIB, "contrib")
	WP_VALUE(WP_PELT_CLOCK, "clock")      /* from 5.1: the clock runs slower on slow CPUs */
	/* 3.8: share of time runnable, of tasks and queues (runnable_avg_3_8.c) */
	WP_VALUE(WP_PELT_RATIO, "ratio")
	WP_VALUE(WP_PELT_NONE, "none"))       /* to 3.7: no averages */

WP_SWITCH(weight_is_load, LIVE_HAS("off"), RUN, "off",
	"docs/rules/linux-3-8.md#runnable-average-3-8",
	"a CPU's load is the weight of the tasks queued now, not an average (to 3.10)")
WP_SWITCH(runnable_is_load, LIVE_HAS("off"), RUN, "off", "docs/rules/signals.md#load-for-balancing",
	"the third PELT signal averages the weight of queued tasks (runnable_load_avg, to 5.6); "
	"off: the time runnable (runnable_avg)")

WP_CHOICE(util_est, wp_util_est_mode, LIVE_HAS("off", "single"), RUN, "off",
	"docs/rules/signals.md#util-est",
	"util_est, the estimate of a task's utilisation: pair: enqueued and ewma (4.17); "
	"pair-fastup: ewma rises at once (5.5); single: one value (6.8)",
	WP_VALUE(WP_UTIL_EST_OFF, "off")
	/* 4.17: {enqueued, ewma}, the ewma rises and falls by 1/4 */
	WP_VALUE(WP_UTIL_EST_PAIR, "pair")
	WP_VALUE(WP_UTIL_EST_PAIR_FASTUP, "pair-fastup")  /* 5.5: the ewma rises at once */
	/* 6.8: one value, rises at once, falls by 1/4 */
	WP_VALUE(WP_UTIL_EST_SINGLE, "single"))

WP_SWITCH(util_est_after_freq, LIVE_HAS("off"), RUN, "off", "docs/rules/signals.md#util-est",
	"an enqueue asks for the frequency before it adds the task's util_est (4.17)")
WP_SWITCH(util_est_dequeue_late, LIVE_HAS("off"), RUN, "off", "docs/rules/signals.md#util-est",
	"a dequeue asks for the frequency before it takes the task's util_est off (to 5.11)")

/* A floor for the utilisation of a CPU while its task runs. */
WP_CHOICE(util_est_faster, wp_util_est_faster, LIVE_HAS("off"), RUN, "off",
	"docs/rules/signals.md#util-est-faster",
	"RFC of 2022: a CPU's utilisation is at least what PELT reaches from 0 within d; r is "
	"how long its task has run since the wake-up; doubled: d = 2 r; scaled: d = 2 r x "
	"capacity x frequency",
	WP_VALUE(WP_UTIL_EST_FASTER_OFF, "off")
	/* what twice the run since it was woken reaches from 0 */
	WP_VALUE(WP_UTIL_EST_FASTER_DOUBLED, "doubled")
	/* ... scaled by capacity and frequency */
	WP_VALUE(WP_UTIL_EST_FASTER_SCALED, "scaled"))
WP_SWITCH(util_est_faster_freq, LIVE_HAS("off"), RUN, "off",
	"docs/rules/signals.md#util-est-faster",
	"util_est_faster: for the frequency only, not for placement and balancing (2023)")
WP_CHOICE(util_est_rampup, wp_util_est_rampup, LIVE_HAS("off"), RUN, "off",
	"docs/rules/response-time.md#util-est-rampup",
	"RFC of 2024: util_est=single: the estimate of a task that runs on grows by the time it "
	"runs, at any speed of the CPU; rising: while its utilisation is above that of its last "
	"sleep",
	WP_VALUE(WP_RAMPUP_OFF, "off")
	WP_VALUE(WP_RAMPUP_ALWAYS, "always")  /* patch 8 alone */
	WP_VALUE(WP_RAMPUP_RISING, "rising")) /* and patch 9 */
WP_RANGE(rampup_multiplier, 0, 100, SIMULATOR, RUN, "1",
	"docs/rules/response-time.md#util-est-rampup",
	"util_est_rampup: the estimate grows so many times as fast, and falls as many times as "
	"slowly; 0: no estimate; of all tasks")

/* The value is the shift of time. */
WP_CHOICE(pelt_half_life, wp_pelt_half_life, LIVE_HAS("32ms"), RUN, "32ms",
	"docs/rules/response-time.md#pelt-half-life",
	"RFCs of 2022 and 2024: the half-life of all PELT signals",
	WP_VALUE(WP_HALF_LIFE_32MS, "32ms")
	WP_VALUE(WP_HALF_LIFE_16MS, "16ms")
	WP_VALUE(WP_HALF_LIFE_8MS, "8ms"))
WP_SWITCH(fits_by_tick, LIVE_HAS("off"), RUN, "off", "docs/rules/response-time.md#fits-by-tick",
	"RFC of 2024: a demand fits a CPU if it is below what PELT reaches a tick before the CPU's "
	"capacity; off: below 80 % of what the CPU has left")

WP_SWITCH(removed_sums_anew, LIVE_HAS("off"), RUN, "off", "docs/rules/signals.md#removed-sums-anew",
	"where tasks that left asleep are taken off a queue, its load_sum and runnable_sum become "
	"average x divider (5.10)")
WP_SWITCH(enqueue_load_floor, BOTH, RUN, "off", "docs/rules/signals.md#attach-detach",
	"a queue that a task joins keeps at least its average's worth as load_sum, as one that a "
	"task leaves does (7.3)")
WP_SWITCH(util_est_before_update, LIVE_HAS("off"), RUN, "off", "docs/rules/signals.md#util-est",
	"at sleep util_est takes the task's utilisation from before the dequeue's PELT update "
	"(6.12)")
WP_SWITCH(util_est_to_capacity, LIVE_HAS("off"), RUN, "off", "docs/rules/signals.md#util-est",
	"util_est=pair-fastup, single: the estimate does not fall where the utilisation is above "
	"the CPU's capacity (5.5 to 6.12)")
WP_SWITCH(util_est_refresh, LIVE_HAS("off"), RUN, "off", "docs/rules/signals.md#util-est-refresh",
	"util_est=pair-fastup: where the slow half stays, the fast one is written if it is 10 or "
	"more off (5.10.223 to 6.7)")
WP_SWITCH(runnable_boost, LIVE_HAS("on"), RUN, "off", "docs/rules/capacity.md#schedutil",
	"the frequency follows the larger of utilisation and runnable average, so that time "
	"spent waiting counts (6.5)")
WP_SWITCH(runnable_boost_task, LIVE_HAS("on"), RUN, "off",
	"docs/rules/energy-aware.md#util-of-candidate",
	"runnable_boost: in the energy estimate a task's time in the queue comes and goes with the "
	"task (6.12.117, 7.3); off: only its time on the CPU does (6.5 to 6.18)")
WP_SWITCH(runnable_boost_freq, LIVE_HAS("off"), RUN, "off", "docs/rules/signals.md#util-est-faster",
	"runnable_boost: for the frequency only, not in the energy estimate (2023)")
WP_RANGE(runnable_boost_pct, 0, 100, BOTH, RUN, "100", "docs/rules/energy-idle.md#boost-part",
	"runnable_boost: part of the difference (runnable average - utilisation) that counts, "
	"percent; 100 = as in the kernel")
WP_RANGE(boost_urgency_low_pct, 0, 100, BOTH, RUN, "0", "docs/rules/energy-idle.md#urgency",
	"boost_urgency_high_pct: where no task of a queue needs more of its period than this from "
	"its wake-up to its sleep, none of the waiting counts, percent")
WP_RANGE(boost_urgency_high_pct, 0, 100, BOTH, RUN, "0", "docs/rules/energy-idle.md#urgency",
	"runnable_boost, energy_wait: where a task of a queue needs this part of its period from "
	"its wake-up to its sleep, all of the waiting counts, percent; 0: it always does")
WP_SWITCH(post_init_util, BOTH, RUN, "off", "docs/rules/signals.md#new-task",
	"a new task's utilisation starts at up to half of its CPU's spare capacity; off: at 0")
WP_SWITCH(post_init_scaled_weight, LIVE_HAS("off"), RUN, "off", "docs/rules/signals.md#new-task",
	"post_init_util: 64-bit kernels take the weight in units 1024 times as fine (to 6.9); off: "
	"by the weight, as 32-bit kernels always do")
WP_SWITCH(post_init_capacity, BOTH, RUN, "off", "docs/rules/signals.md#new-task",
	"post_init_util: half of what is left of the CPU's own capacity (4.20); off: of 1024")
WP_SWITCH(migrate_pelt_lag, BOTH, RUN, "off", "docs/rules/signals.md#attach-detach",
	"a sleeper that changes its CPU also decays for the time that its old CPU was idle (6.0)")
WP_SWITCH(uclamp, BOTH, RUN, "off", "docs/rules/capacity.md#util-fits-cpu",
	"uclamp_min and uclamp_max of tasks count (5.3)")
WP_CHOICE(uclamp_aggregation, wp_uclamp_aggregation, LIVE_HAS("max"), RUN, "max",
	"docs/rules/uclamp-sum.md#bias",
	"proposed in 2024 and 2025: uclamp, freq_perf_form: what a CPU makes of its tasks' hints: "
	"max: the highest counts; sum: each task's utilisation is brought within its own hints, "
	"and these are added; sum-v1: what a hint holds back leaves the averages at a sleep; "
	"sum-v2: and no task is held back so far that one without a bound gets less than its share",
	WP_VALUE(WP_UCLAMP_AGG_MAX, "max")
	WP_VALUE(WP_UCLAMP_AGG_SUM, "sum")        /* patches 2 to 4 */
	WP_VALUE(WP_UCLAMP_AGG_SUM_V1, "sum-v1")  /* and 7: all of June 2024 */
	WP_VALUE(WP_UCLAMP_AGG_SUM_V2, "sum-v2")) /* and 8: all of March 2025 */
