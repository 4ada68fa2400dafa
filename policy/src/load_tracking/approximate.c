// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Where a utilisation will be after a time of running, and how long it takes to get somewhere
 * (docs/rules/response-time.md#approximate). The functions are those of a series that was posted
 * and is in no kernel: "sched/fair/schedutil: Better manage system response time", Qais Yousef,
 * August 2024, patches 2 to 4 and 7.
 *
 * What must stay: integers to the last bit, as the posted series computes them, with PELT's own
 * sums; thresholds are found once, when the machine is described. Free: how thresholds are
 * searched.
 *
 * Tests by part: `a_utilisation_after_a_run` (`wp_approximate_util_avg`),
 * `the_way_to_a_utilisation` (`wp_approximate_runtime`), `what_fits_by_the_tick`
 * (`wp_fits_capacity_threshold`, `wp_fits_thresholds`), `an_estimate_grows_while_its_task_runs`
 * (what util_est_rampup makes of it).
 *
 * Callers: util_est.c, response_time.c and capacity.c read; `wp_start` (energy_model.c) finds the
 * thresholds.
 *
 * Tests: all/response_time.rs
 */
#include "wakeplace/policy.h"

/* `util` after so many us of running on the biggest CPU at its highest frequency. */
WP_FN u32 wp_approximate_util_avg(u32 util, u64 us, u32 half_life)
{
	u64 span = us << half_life, periods = span / WP_PERIOD_US;
	u64 sum = (u64)util * WP_MIN_DIVIDER, contrib = span;
	u32 rest = (u32)(span % WP_PERIOD_US);

	if (!us)
		return util;
	if (periods) {
		sum = wp_decay(sum, periods);
		contrib = wp_accumulate_pelt_segments((u32)wp_min64(periods, 4096), WP_PERIOD_US,
						      rest);
	}
	return (u32)wp_div(sum + (contrib << 10), WP_MIN_DIVIDER + rest);
}

/* After so long, no average rises any more; more than 1024 none reaches. */
#define WP_RUNTIME_MOST 400u

/* How long a run takes to `util` from 0, in periods of 1024 us, which count as ms. */
WP_FN u32 wp_approximate_runtime(u32 util, u32 half_life)
{
	u32 ms = 0, avg = 0, periods = 1u << half_life;
	u64 sum = 0, step = wp_accumulate_pelt_segments(periods, WP_PERIOD_US, 0);

	while (avg < util && ms < WP_RUNTIME_MOST) {
		sum = wp_decay(sum, periods) + (step << 10);
		avg = (u32)wp_div(sum, WP_MIN_DIVIDER);
		ms++;
	}
	return ms;
}

/*
 * What a task reaches a tick before it would have reached `capacity` on the biggest CPU: from there
 * on it does not fit. If a tick is longer than the way there, everything fits: the time is
 * unsigned, as posted.
 */
WP_FN u32 wp_fits_capacity_threshold(u32 capacity, u64 tick_us, u32 half_life)
{
	u64 us = (u64)wp_approximate_runtime(capacity, half_life) * 1000;

	return wp_approximate_util_avg(0, us - tick_us, half_life);
}

/* The machine is described: what fits each CPU from now on. */
WP_FN int wp_fits_thresholds(struct wp_ctx *ctx WP_NONNULL)
{
	u32 cpu;

	if (!ctx->params.fits_by_tick && ctx->params.overutilized_margin != WP_OVER_BY_TICK)
		return 0;
	WP_FOR(cpu, ctx->nr_cpus, WP_MAX_CPUS) {
		struct wp_cpu *c = WP_AT(ctx->cpus, cpu);

		c->load.fits_threshold = wp_fits_capacity_threshold(
			c->load.capacity_orig, ctx->tick_ns / 1000, ctx->params.pelt_half_life);
	}
	return 0;
}
