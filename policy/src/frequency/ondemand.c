// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The ondemand governor as of 2011 to 2013 (Linux 3.1 and 3.8; facts in
 * docs/rules/ondemand.md#ondemand): at intervals it looks at how much of the time since the last
 * look the CPUs of a clock were busy. The home keeps that time and the timer. Only older kernels
 * had it as their default: it is not in the live build.
 *
 * What must stay: loads are percent, periods us; the home measures, the core judges. Free:
 * the judgement, with its page; times are the home's.
 *
 * Tests by part: (below crates/policy-sys/tests) all/ondemand.rs: `next_frequency`,
 * `thresholds_can_be_set`, `one_request_at_a_time_and_only_under_this_governor`
 * (`wp_ondemand_sample`), `sampling_time` (`wp_ondemand_period_us`), `load_is_the_busy_part`
 * (`wp_ondemand_load`).
 *
 * Callers: crates/policy-sys/src/ondemand.rs.
 *
 * Kernel: dbs_check_cpu() as wp_ondemand_sample(), drivers/cpufreq/cpufreq_ondemand.c, 3.1
 * Tests: all/ondemand.rs
 */
#include "wakeplace/policy.h"

#define WP_OD_LATENCY_MULTIPLIER 1000u
#define WP_OD_MIN_PERIOD_US 10000u /* where idle times are known in us, whatever HZ is */

/* Time between two looks, us: the era's rule or the parameter, longer while at full speed. */
WP_FN u64 wp_ondemand_period_us(const struct wp_ctx *ctx WP_NONNULL, u32 freq_dom)
{
	const struct wp_freq_dom *fd = WP_AT(ctx->freq_doms, freq_dom);
	u64 us = (u64)wp_max(fd->transition_latency_us, 1) * WP_OD_LATENCY_MULTIPLIER;

	us = wp_max64(us, WP_OD_MIN_PERIOD_US);
	if (ctx->params.sampling_rate_us != WP_NONE)
		us = ctx->params.sampling_rate_us;
	return us * wp_max(fd->sample_multiple, 1);
}

/* Busy part of the time since the last look, percent; without any time nothing is known: 0. */
WP_FN u32 wp_ondemand_load(u64 wall_us, u64 idle_us)
{
	return (u32)wp_div(100 * wp_sub(wall_us, idle_us), wall_us);
}

/*
 * The busiest CPU of the clock was busy for this part of the time, percent. Above the threshold
 * the clock goes to its highest frequency. Below it, by more than the differential, it goes to the
 * lowest frequency at which the same work would stay there:
 *
 *	load * current / (threshold - differential)
 *
 * Returns enum wp_event_result bits.
 */
WP_FN int wp_ondemand_sample(struct wp_ctx *ctx WP_NONNULL, u32 freq_dom, u32 load, u64 now_ns)
{
	struct wp_freq_dom *fd = WP_AT(ctx->freq_doms, freq_dom);
	u32 target = (u32)wp_sub(ctx->params.up_threshold, ctx->params.down_differential);
	u32 khz, opp, top;

	if (wp_governor(ctx) != WP_GOV_ONDEMAND || !fd->nr_opps || fd->in_progress)
		return 0;
	top = fd->nr_opps - 1 - wp_min(fd->cut_opps, fd->nr_opps - 1); /* wp_freq_limit */
	khz = wp_opp_khz(ctx, fd, fd->cur_opp);
	if (load > ctx->params.up_threshold) {
		if (fd->cur_opp != top)
			fd->sample_multiple = ctx->params.sampling_down_factor;
		opp = top;
	} else if (load < target && fd->cur_opp) {
		fd->sample_multiple = 1;
		opp = wp_opp_at_least(ctx, fd, (u32)wp_div((u64)load * khz, target), 0);
		opp = wp_min(opp, top);
	} else {
		return 0;
	}
	if (opp == fd->cur_opp)
		return 0;
	fd->next_opp = opp;
	fd->last_update_ns = now_ns;
	fd->updated_once = 1;
	fd->in_progress = 1;
	return WP_DID_FREQ;
}
