// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What the user favours, and what of the mechanisms that puts into force on this machine
 * (docs/policy.md, which says of each line why; docs/decisions/042).
 *
 *                         performance   auto          balanced        powersave
 *   energy-aware          no            as set        as set          as set
 *   power_policy=by-mode  spread        spread        balance, where  powersaving, where
 *                                                     caches > 1      there is a group to fill
 *     and sched-mc        level set     level set     level set       else level 2
 *   governor              performance   as set        as set          as set
 *   headroom              as set        as set        as set          none
 *
 * `auto` is each mechanism as its parameters say, so that a policy without modes has this one.
 * Everything is looked up when it is asked for: a change of the mode counts from the next decision.
 */
#include "wakeplace/policy.h"

/* enum wp_governor in force. */
WP_INLINE u32 wp_governor(const struct wp_ctx *ctx)
{
	return ctx->params.mode == WP_MODE_PERFORMANCE ? WP_GOV_PERFORMANCE : ctx->params.governor;
}

/* Ask for more than the demand? */
WP_INLINE int wp_headroom(const struct wp_ctx *ctx)
{
	return ctx->params.freq_headroom && ctx->params.mode != WP_MODE_POWERSAVE;
}

/*
 * Is there a power group of several CPUs that can be filled before the next one gets any: a core
 * of threads, or a cache among several? Else each CPU is a group of its own, and full with one task.
 */
WP_INLINE int wp_has_groups(const struct wp_ctx *ctx)
{
	return ctx->smt || ctx->nr_llcs > 1;
}

/*
 * enum wp_power_policy in force, never WP_POWER_BY_MODE. One cache is one power group: to fill it
 * CPU by CPU saves nothing that its threads' lost speed does not cost.
 */
WP_INLINE u32 wp_packing(const struct wp_ctx *ctx)
{
	if (ctx->params.power_policy != WP_POWER_BY_MODE)
		return ctx->params.power_policy;
	if (ctx->params.mode == WP_MODE_POWERSAVE && wp_has_groups(ctx))
		return WP_POWER_POWERSAVING;
	if (ctx->params.mode == WP_MODE_BALANCED && ctx->nr_llcs > 1)
		return WP_POWER_BALANCE;
	return WP_POWER_PERFORMANCE;
}

/*
 * sched_mc_power_savings in force. Where no group can be filled by its number of CPUs, what is left
 * to fill is a slow CPU, by its frequency.
 */
WP_INLINE u32 wp_mc_level(const struct wp_ctx *ctx)
{
	const struct wp_params *p = &ctx->params;

	if (p->power_policy == WP_POWER_BY_MODE && p->mode == WP_MODE_POWERSAVE &&
	    !wp_has_groups(ctx))
		return wp_max(p->sched_mc_power_savings, 2);
	return p->sched_mc_power_savings;
}
