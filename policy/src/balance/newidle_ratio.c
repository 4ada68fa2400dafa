// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * New-idle attempts at a level are made as often as they pull something
 * (docs/rules/balancing.md#newidle, NI_RANDOM): a level where most fail is tried seldom, and a rare
 * success there counts for all the attempts that were not made.
 *
 * What must stay: the random number is the home's; ratios are of 1024. Free: the counting,
 * only with its page; the draw is the home's.
 *
 * Tests by part: (below crates/policy-sys/tests; `every_fixture_holds` runs the fixtures)
 * all/newidle_7_3.rs: `newidle_by_chance` (`wp_newidle_dice`), `newidle_ratio_follows_success`
 * (`wp_update_newidle_stats`, `wp_newidle_count`); fixtures/newidle: dice-*.toml,
 * success-weight-*.toml, ratio-after-1024-calls.toml, rate-*.toml (`wp_newidle_rate`).
 *
 * Callers: `wp_balance_begin` and `wp_balance_over` (balance.c).
 *
 * Kernel: update_newidle_stats(), kernel/sched/fair.c
 * Tests: fixtures/newidle, all/newidle_7_3.rs
 */
#include "wakeplace/policy.h"

#define WP_NEWIDLE_CALLS 1024u

/* Attempts that take long to come by are few: then more of them may be made, by 1 of 1024 for each
 * 4.2 ms that they took (docs/rules/balancing.md#newidle-rate). */
#define WP_NEWIDLE_RATE_SHIFT 22

/* What the time since the last round allows beyond the successes. */
WP_INLINE u32 wp_newidle_rate(struct wp_lb *lb, u64 now_ns)
{
	u64 since_ns = wp_sub(now_ns, lb->newidle_stamp_ns);

	lb->newidle_stamp_ns = now_ns;
	return (u32)wp_min64(since_ns >> WP_NEWIDLE_RATE_SHIFT, WP_SCALE);
}

/* An attempt has ended. At 1024 the ratio is made anew, and both counts are halved. */
WP_INLINE void wp_update_newidle_stats(const struct wp_ctx *ctx, struct wp_lb *lb, u64 now_ns,
				       u32 success)
{
	lb->newidle_calls++;
	lb->newidle_success += success;
	if (lb->newidle_calls < WP_NEWIDLE_CALLS)
		return;
	lb->newidle_ratio = lb->newidle_success;
	if (ctx->params.newidle_rate)
		lb->newidle_ratio = wp_min(lb->newidle_success + wp_newidle_rate(lb, now_ns),
					   WP_SCALE);
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
		wp_update_newidle_stats(ctx, lb, bal->now_ns, 0);
		return 0;
	}
	bal->newidle_weight = (u32)wp_div(WP_SCALE + weight / 2, weight);
	return 1;
}

/* An attempt that was made is over. */
WP_INLINE void wp_newidle_count(struct wp_ctx *ctx, const struct wp_lb_env *bal)
{
	if (ctx->params.newidle_random)
		wp_update_newidle_stats(ctx, wp_bal_lb(ctx, bal), bal->now_ns,
					bal->moved ? bal->newidle_weight : 0);
}
