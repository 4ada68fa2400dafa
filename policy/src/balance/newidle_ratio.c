// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * New-idle attempts at a level are made as often as they pull something
 * (docs/rules/balancing.md#newidle, NI_RANDOM): a level where most fail is tried seldom, and a rare
 * success there counts for all the attempts that were not made.
 *
 * What must stay: the random number is the home's; ratios are of 1024.
 *
 * Kernel: update_newidle_stats(), kernel/sched/fair.c
 * Tests: fixtures/newidle, all/newidle_7_3.rs
 */
#include "wakeplace/policy.h"

#define WP_NEWIDLE_CALLS 1024u

/* One attempt counted; after WP_NEWIDLE_CALLS the ratio is set, and both counts are halved. */
WP_INLINE void wp_update_newidle_stats(struct wp_lb *lb, u32 success)
{
	lb->newidle_calls++;
	lb->newidle_success += success;
	if (lb->newidle_calls < WP_NEWIDLE_CALLS)
		return;
	lb->newidle_ratio = lb->newidle_success;
	lb->newidle_calls /= 2;
	lb->newidle_success /= 2;
}

/* A random number below 1024: is the attempt made? */
WP_INLINE int wp_newidle_dice(struct wp_ctx *ctx, struct wp_lb_env *bal)
{
	struct wp_lb *lb = wp_bal_lb(ctx, bal);
	u32 weight = 1 + lb->newidle_ratio;

	lb->newidle_skipped = 0;
	bal->newidle_weight = 1;
	if (!ctx->params.newidle_random)
		return 1;
	if (bal->random % WP_SCALE > weight) {
		lb->newidle_skipped = 1;
		wp_update_newidle_stats(lb, 0);
		return 0;
	}
	bal->newidle_weight = (u32)wp_div(WP_SCALE + weight / 2, weight);
	return 1;
}

/* An attempt that was made is over. */
WP_INLINE void wp_newidle_count(struct wp_ctx *ctx, const struct wp_lb_env *bal)
{
	if (ctx->params.newidle_random)
		wp_update_newidle_stats(wp_bal_lb(ctx, bal), bal->moved ? bal->newidle_weight : 0);
}
