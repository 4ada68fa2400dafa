// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * ASYM_PACKING of the kernels before 5.5: in a domain with the flag tasks belong on the CPUs with
 * the lowest numbers (docs/rules/linux-3-8.md#balance-3-8,
 * docs/rules/sched-mc.md#power-saving-balance; docs/rules/linux-3-1-to-4-7.md#early-asym-packing).
 * An idle CPU pulls all that a group of higher numbers has. Natively only.
 *
 * What must stay: eras to 5.4 alone use it. Free: the rule, for those eras alone.
 *
 * Tests by part: (below crates/policy-sys/tests; `every_fixture_holds` runs the fixtures)
 * fixtures/balance_38: packing-4-7.toml, packing-4-7-never-upwards.toml,
 * packing-highest-of-equals.toml (`wp_asym_busier_5_4`, `wp_first_of_group`),
 * packing-takes-all.toml (`wp_check_asym_packing_5_4`), packing-newly-idle-pushes.toml
 * (`wp_asym_active_balance_5_4`), packing-not-when-busy.toml (`wp_asym_packs_5_4`).
 *
 * Callers: busiest_3_12.c, busiest_5_4.c and `wp_need_active_balance` (detach.c).
 *
 * Kernel: check_asym_packing(), kernel/sched/fair.c, to 5.4
 * Tests: fixtures/balance_38, fixtures/balance
 */
#include "wakeplace/policy.h"

/* The lowest CPU of the domain's n-th group. */
WP_INLINE u32 wp_first_of_group(struct wp_ctx *ctx, const struct wp_lb_env *bal, u32 group)
{
	const struct wp_sched_group *g =
		WP_AT(ctx->groups, wp_bal_dom(ctx, bal)->first_group + group);

	return *WP_AT(ctx->list, g->first_cpu);
}

/* Has the domain the flag? */
WP_INLINE int wp_asym_packs_5_4(struct wp_ctx *ctx, const struct wp_lb_env *bal)
{
	return !!(wp_bal_dom(ctx, bal)->flags & WP_SD_ASYM_PACKING);
}

/* The group in `scratch` has work that belongs here, and is farther from it than the busiest. */
WP_INLINE int wp_asym_busier_5_4(struct wp_ctx *ctx, const struct wp_lb_env *bal, u32 group)
{
	u32 first = wp_first_of_group(ctx, bal, group);

	if (!bal->scratch.nr_running || bal->dst_cpu >= first)
		return 0;
	return bal->busiest_group == WP_NONE ||
	       wp_first_of_group(ctx, bal, bal->busiest_group) < first;
}

/* An idle CPU takes the whole load of a busiest group of higher numbers. Returns 1 if so. */
WP_INLINE int wp_check_asym_packing_5_4(struct wp_ctx *ctx, struct wp_lb_env *bal)
{
	if (!wp_asym_packs_5_4(ctx, bal) || bal->idle == WP_CPU_NOT_IDLE ||
	    bal->busiest_group == WP_NONE ||
	    bal->dst_cpu > wp_first_of_group(ctx, bal, bal->busiest_group))
		return 0;
	bal->imbalance = (s64)bal->busiest.load;
	return 1;
}

/* A newly idle CPU need not fail first to have a lone running task pushed down to it. */
WP_INLINE int wp_asym_active_balance_5_4(struct wp_ctx *ctx, const struct wp_lb_env *bal)
{
	return wp_asym_packs_5_4(ctx, bal) && bal->idle == WP_CPU_NEWLY_IDLE &&
	       bal->src_cpu > bal->this_cpu;
}
