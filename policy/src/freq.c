// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Frequency requests: schedutil and the two fixed governors (signals-and-baseline 9.3,
 * energy-aware 2.2).
 *
 * A request is recorded in the frequency domain; the home applies it after the hardware's latency
 * and reports back. Until then no further request is made, as with a driver that switches in a
 * kernel thread.
 */
#include "wakeplace/policy.h"

/* 25 % headroom: the frequency at which `util` fills 80 % of the CPU. May exceed max_khz. */
WP_INLINE u32 wp_map_freq(u32 util, u32 max_khz, u32 capacity)
{
	return (u32)wp_div((u64)(max_khz + (max_khz >> 2)) * util, capacity);
}

WP_FN u32 wp_map_util_freq(u32 util, u32 max_khz, u32 capacity)
{
	return wp_map_freq(util, max_khz, capacity);
}

WP_INLINE u32 wp_opp_khz(const struct wp_ctx *ctx, const struct wp_freq_dom *fd, u32 opp)
{
	return *WP_AT(ctx->opp_khz, fd->first_opp + opp);
}

/* Lowest operating point of at least `khz`, else the highest. */
WP_INLINE u32 wp_opp_at_least(const struct wp_ctx *ctx, const struct wp_freq_dom *fd, u32 khz)
{
	u32 i, opp = fd->nr_opps - 1;

	WP_FOR(i, fd->nr_opps, WP_MAX_STATES) {
		if (wp_opp_khz(ctx, fd, i) >= khz) {
			opp = i;
			break;
		}
	}
	return opp;
}

/* Smallest time between two frequency changes, from the parameters or by the era's own rule. */
WP_FN u32 wp_rate_limit_us(const struct wp_ctx *ctx WP_NONNULL, u32 freq_dom)
{
	u64 us = WP_AT(ctx->freq_doms, freq_dom)->transition_latency_us;

	if (ctx->params.rate_limit_us != WP_NONE)
		return ctx->params.rate_limit_us;
	if (!us)
		return 1000;
	us *= ctx->params.rate_limit_multiplier;
	return (u32)wp_min64(us, ctx->params.rate_limit_cap_us);
}

/* What one CPU asks for, on its own capacity scale. */
WP_INLINE u32 wp_freq_util(const struct wp_ctx *ctx, const struct wp_cpu *c)
{
	u32 util = c->dl_util;

	if (c->nr_fair || ctx->params.blocked_util_in_freq)
		util += wp_max(c->avg.util_avg,
			       ctx->params.util_est != WP_UTIL_EST_OFF ? c->util_est : 0);
	return wp_min(util, c->capacity_orig);
}

/* The domain's wish: the most demanding of its CPUs. */
WP_INLINE u32 wp_freq_domain_util(const struct wp_ctx *ctx, const struct wp_freq_dom *fd)
{
	u32 i, util = 0;

	WP_FOR(i, fd->nr_cpus, WP_MAX_CPUS) {
		u32 cpu = *WP_AT(ctx->list, fd->first_cpu + i);

		util = wp_max(util, wp_freq_util(ctx, WP_AT(ctx->cpus, cpu)));
	}
	return util;
}

/* A lone CPU that has not been idle since the last update does not slow down. */
WP_INLINE int wp_freq_still_busy(struct wp_freq_dom *fd, const struct wp_cpu *c)
{
	int busy = fd->nr_cpus == 1 && fd->saved_idle_calls == c->idle_calls;

	fd->saved_idle_calls = c->idle_calls;
	return busy;
}

/*
 * Called where a CPU's signals changed. Returns WP_DID_FREQ if the domain has a new request.
 */
WP_INLINE int wp_freq_update(struct wp_ctx *ctx, struct wp_cpu *c, u64 now_ns)
{
	struct wp_freq_dom *fd = WP_AT(ctx->freq_doms, c->freq_dom);
	u32 raw, opp, busy;

	if (ctx->params.governor != WP_GOV_SCHEDUTIL || fd->in_progress || !fd->nr_opps)
		return 0;
	if (fd->updated_once &&
	    now_ns - fd->last_update_ns < (u64)wp_rate_limit_us(ctx, c->freq_dom) * 1000)
		return 0;
	busy = (u32)wp_freq_still_busy(fd, c); /* every update moves the mark */
	raw = wp_map_freq(wp_freq_domain_util(ctx, fd), wp_opp_khz(ctx, fd, fd->nr_opps - 1),
			  c->capacity_orig);
	if (raw == fd->last_raw_khz && fd->updated_once)
		return 0;
	fd->last_raw_khz = raw;
	opp = wp_opp_at_least(ctx, fd, raw);
	if (opp < fd->next_opp && busy) {
		fd->last_raw_khz = WP_NONE; /* look again next time */
		return 0;
	}
	if (opp == fd->next_opp)
		return 0;
	fd->next_opp = opp;
	fd->last_update_ns = now_ns;
	fd->updated_once = 1;
	fd->in_progress = 1;
	return WP_DID_FREQ;
}

/* The hardware runs at `opp` from now on. */
WP_FN int wp_freq_applied(struct wp_ctx *ctx WP_NONNULL, u32 freq_dom, u32 opp)
{
	struct wp_freq_dom *fd = WP_AT(ctx->freq_doms, freq_dom);
	u64 max_khz = wp_opp_khz(ctx, fd, fd->nr_opps - 1);
	u32 i;

	fd->cur_opp = opp;
	fd->in_progress = 0;
	WP_FOR(i, fd->nr_cpus, WP_MAX_CPUS) {
		u32 cpu = *WP_AT(ctx->list, fd->first_cpu + i);

		WP_AT(ctx->cpus, cpu)->freq_scale =
			(u32)wp_div((u64)wp_opp_khz(ctx, fd, opp) * WP_SCALE, max_khz);
	}
	return 0;
}
