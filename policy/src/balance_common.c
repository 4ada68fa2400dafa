// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What both forms of load balancing use: the parts of a balance object, capacity as it is
 * refreshed on the way.
 */
#include "wakeplace/policy.h"

WP_INLINE struct wp_dom *wp_bal_dom(struct wp_ctx *ctx, const struct wp_balance *bal)
{
	return WP_AT(ctx->doms, bal->dom);
}

WP_INLINE int wp_excluded(const struct wp_balance *bal, u32 cpu)
{
	return (*WP_AT(bal->excluded, cpu / 64u) >> (cpu % 64u)) & 1u;
}

WP_INLINE struct wp_lb *wp_bal_lb(struct wp_ctx *ctx, const struct wp_balance *bal)
{
	return WP_AT(WP_AT(ctx->cpus, bal->this_cpu)->lb, bal->level);
}

/* RT, deadline or interrupts take a noticeable share of this CPU. */
WP_INLINE int wp_capacity_reduced(const struct wp_cpu *c, u32 pct)
{
	return (u64)c->capacity * pct < (u64)c->capacity_orig * 100;
}

/* Capacity of the destination's own group, refreshed bottom up as the periodic pass climbs. */
WP_INLINE void wp_refresh_local_group(struct wp_ctx *ctx, const struct wp_balance *bal, u32 group)
{
	if (bal->idle == WP_NEWLY_IDLE)
		return;
	if (!bal->level)
		wp_refresh_capacity(WP_AT(ctx->cpus, bal->this_cpu));
	wp_group_capacity(ctx, WP_AT(ctx->groups, wp_bal_dom(ctx, bal)->first_group + group));
}
