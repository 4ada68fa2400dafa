// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What the user favours, and what of the mechanisms that puts into force on this machine
 * (docs/guide/policy.md, which says of each line why; docs/decisions/042).
 *
 *                         performance   auto          balanced      powersave
 *   energy-aware          no            as set        as set        as set
 *   power_policy=by-mode  spread        spread        balance       powersaving, or sched-mc
 *   governor              performance   as set        as set        as set
 *   headroom              as set        as set        as set        none
 *
 * `auto` is each mechanism as its parameters say, so that a policy without modes has this one.
 * Everything is looked up when it is asked for: a change of the mode counts from the next decision.
 *
 * What must stay: parameters are only read here; no rule reads `mode` by itself. Free: the
 * table, with docs/guide/policy.md and its test of each line.
 *
 * Tests by part: (below crates/policy-sys/tests) all/policy_matrix.rs: `line_18_frequency`
 * (`wp_governor`, `wp_headroom`), `line_13_one_cache` (`wp_packing`),
 * `line_19_a_slow_cpu_takes_several`, `line_19_not_where_groups_can_be_filled` (`wp_mc_rules`,
 * `wp_mc_level`), `a_mode_changes_live`, `names_go_before_the_mode`.
 *
 * Callers: frequency/, energy_model.c, power_policy.c, sched_mc_pack.c and balance.c look it up at
 * each decision.
 *
 * Tests: all/policy_matrix.rs
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
 * In powersave: does sched-mc pack? Only where the platform states how many tasks its CPUs hold at
 * which frequency, and where no group of several CPUs could be filled instead: a core with threads,
 * or one cache among several.
 */
WP_INLINE int wp_mc_rules(const struct wp_ctx *ctx)
{
	return ctx->mc_table.step_khz && !ctx->smt && ctx->nr_llcs == 1;
}

/* enum wp_power_policy in force, never WP_POWER_BY_MODE. */
WP_INLINE u32 wp_packing(const struct wp_ctx *ctx)
{
	if (ctx->params.power_policy != WP_POWER_BY_MODE)
		return ctx->params.power_policy;
	switch (ctx->params.mode) {
	case WP_MODE_POWERSAVE:
		return wp_mc_rules(ctx) ? WP_POWER_PERFORMANCE : WP_POWER_POWERSAVING;
	case WP_MODE_BALANCED:
		return WP_POWER_BALANCE;
	default:
		return WP_POWER_PERFORMANCE;
	}
}

/* sched_mc_power_savings in force. */
WP_INLINE u32 wp_mc_level(const struct wp_ctx *ctx)
{
	const struct wp_params *p = &ctx->params;

	if (p->power_policy == WP_POWER_BY_MODE && p->mode == WP_MODE_POWERSAVE && wp_mc_rules(ctx))
		return wp_max(p->sched_mc_power_savings, 2);
	return p->sched_mc_power_savings;
}
