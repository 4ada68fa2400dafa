// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What schedutil adds to a demand in a series that was posted and is in no kernel
 * (docs/rules/response-time.md#headroom-growth, #response-time-ms): "sched/fair/schedutil: Better
 * manage system response time", Qais Yousef, August 2024, patches 5 and 6. Natively only.
 *
 * What must stay: a domain's response time is found once, when the machine is described; demands
 * are 0..1024 and truncated as posted; a multiplier of 0 changes nothing. Free: how the search for
 * it is written.
 *
 * Tests by part: `headroom_by_growth` (`wp_headroom_growth`), `response_time`
 * (`wp_freq_response_ms`, `wp_freq_response_times`, `wp_apply_response_time`).
 *
 * Callers: demand.c (`wp_apply_response_time`, `wp_headroom_growth`); `wp_start` (energy_model.c)
 * finds the response times.
 *
 * Tests: all/response_time.rs
 */
#include "wakeplace/policy.h"

/* How long PELT takes, from 0, to where the domain's highest frequency is asked for: beyond the
 * capacity at the one below it. */
WP_FN u32 wp_freq_response_ms(const struct wp_ctx *ctx WP_NONNULL, u32 freq_dom)
{
	const struct wp_freq_dom *fd = WP_AT(ctx->freq_doms, freq_dom);
	u32 cpu = *WP_AT(ctx->list, fd->first_cpu);
	u32 cap = WP_AT(ctx->cpus, cpu)->load.capacity_orig, top = fd->nr_opps - 1;
	u32 max_khz, second_khz;

	if (!fd->nr_opps)
		return 0;
	max_khz = *WP_AT(ctx->opp_khz, fd->first_opp + top);
	second_khz = *WP_AT(ctx->opp_khz, fd->first_opp + (top ? top - 1 : 0));
	cap = (u32)wp_div((u64)second_khz * cap, max_khz);
	return wp_approximate_runtime(cap + 1, ctx->params.pelt_half_life);
}

/* The machine is described: the same of each domain, from now on. */
WP_FN int wp_freq_response_times(struct wp_ctx *ctx WP_NONNULL)
{
	u32 i;

	if (ctx->params.response_time_ms == WP_NONE)
		return 0;
	WP_FOR(i, ctx->nr_freq_doms, WP_MAX_FREQ_DOMS) {
		WP_AT(ctx->freq_doms, i)->response_ms = wp_freq_response_ms(ctx, i);
	}
	return 0;
}

/* The demand, larger or smaller as the domain is to get to its highest frequency sooner or later
 * than PELT does. */
WP_FN u32 wp_apply_response_time(const struct wp_ctx *ctx WP_NONNULL, u32 freq_dom, u32 util)
{
	u32 ms = WP_AT(ctx->freq_doms, freq_dom)->response_ms;
	u32 mult = ms * WP_SCALE / ctx->params.response_time_ms;

	return (u32)(((u64)(mult ? mult : WP_SCALE) * util) >> 10);
}

/* The demand, grown for as long as nobody may look at it: a tick, or a slice where tasks share the
 * CPU, or the rate limit. */
WP_INLINE u32 wp_headroom_growth(const struct wp_ctx *ctx, const struct wp_cpu *c, u32 util)
{
	u64 us = ctx->tick_ns / 1000;

	if (c->queue.nr_fair > 1)
		us = wp_min64(us, wp_short_granularity(ctx) / 1000);
	us = wp_max64(us, wp_rate_limit_us(ctx, c->topo.freq_dom));
	return wp_approximate_util_avg(util, us, ctx->params.pelt_half_life);
}
