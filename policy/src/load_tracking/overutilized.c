// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The tipping point: when is a CPU beyond it, and when is the root domain
 * (docs/rules/energy-aware.md#overutilized, docs/rules/energy-aware.md#overutilized-6-12)? Beyond
 * it the energy-aware wake-up gives way to balancing.
 *
 * What was proposed instead is off in every era (docs/rules/overutilized.md): other thresholds,
 * CPUs that do not count, a mark that stays for a while, and one that all CPUs have to agree on.
 *
 * What must stay: without those, any CPU raises the mark and a pass over the whole machine writes
 * it anew. What a CPU says to a pass is what kept_sums.c adds up: change both. Free: a proposal,
 * with its page.
 *
 * Tests by part: (below crates/policy-sys/tests; `every_fixture_holds` runs the fixtures)
 * all/capacity_vectors.rs: `overutilized_table` (`wp_cpu_overutilized`,
 * `wp_check_update_overutilized_status`); fixtures/overutilized: lone-*.toml
 * (`wp_lone_on_the_biggest`), tick-*.toml (`wp_overutilized_by_tick`), linger-*.toml
 * (`wp_set_rd_overutilized`, `wp_clear_rd_overutilized`), all-*.toml (`wp_stats_tipping`,
 * `wp_pass_overutilized`, `wp_tips_together`); all/kept.rs: `kept_sums_change_no_answer`
 * (`wp_tips_by_any`); all/energy_push.rs: `a_tick_pushes_a_task_alone` (`wp_tick_fits`).
 *
 * Callers: rq.c and explain.c (`wp_check_update_overutilized_status`), tick.c (`wp_tick_fits`);
 * busiest*.c, balance_common.c, kept_sums.c.
 *
 * Kernel: cpu_overutilized(), check_update_overutilized_status(), set_rd_overutilized(),
 *         kernel/sched/fair.c
 * Tests: fixtures/overutilized, fixtures/energy, all/capacity_vectors.rs
 */
#include "wakeplace/policy.h"

/*
 * No other CPU would serve its task better: it is of the largest size, nothing takes 5 % or more of
 * it away, and nobody else is queued (docs/rules/overutilized.md#lone).
 */
WP_INLINE int wp_lone_on_the_biggest(const struct wp_cpu *c)
{
	return c->load.capacity_orig == WP_SCALE && c->queue.nr_running <= 1 &&
	       !wp_capacity_greater(WP_SCALE, c->load.capacity);
}

#ifndef WP_LIVE
/*
 * By what a task reaches within a tick, instead of by a fifth of the CPU
 * (docs/rules/overutilized.md#by-tick).
 */
WP_INLINE int wp_overutilized_by_tick(const struct wp_ctx *ctx, const struct wp_cpu *c)
{
	if (ctx->params.uclamp && wp_bound_fits(c, wp_uclamp_rq_max(ctx, c)))
		return 0;
	return wp_cpu_util_cfs(ctx, c) >= c->load.fits_threshold;
}
#endif

/*
 * Beyond the tipping point (docs/rules/energy-aware.md#overutilized,
 * docs/rules/energy-aware.md#overutilized-6-12). From 5.10 on hints count. From 6.1 on only the
 * upper one can matter: a wish that is not met alone (-1) is not yet too much.
 */
WP_INLINE int wp_cpu_overutilized(const struct wp_ctx *ctx, const struct wp_cpu *c)
{
	if (WP_NOT_LIVE(ctx->params.overutilized_not_lone) && wp_lone_on_the_biggest(c))
		return 0;
#ifndef WP_LIVE
	if (ctx->params.overutilized_margin == WP_OVER_BY_TICK)
		return ctx->energy_active && wp_overutilized_by_tick(ctx, c);
#endif
	if (ctx->params.energy_aware < WP_ENERGY_510)
		return wp_unfit(wp_cpu_util_cfs(ctx, c), c->load.capacity);
	if (WP_NOT_LIVE(ctx->params.energy_aware == WP_ENERGY_510))
		return wp_util_fits_on(ctx, wp_cpu_util_cfs(ctx, c), wp_uclamp_rq_min(ctx, c),
				       wp_uclamp_rq_max(ctx, c), c) <= 0;
#ifdef WP_UCLAMP_SUM
	if (wp_uclamp_sums(ctx))
		return ctx->energy_active &&
		       !wp_util_fits_uclamp(ctx, wp_cpu_util_cfs(ctx, c),
					    wp_cpu_util_cfs_uclamp(ctx, c), c);
#endif
	return ctx->energy_active &&
	       !wp_util_fits_on(ctx, wp_cpu_util_cfs(ctx, c), 0, wp_uclamp_rq_max(ctx, c), c);
}

/* Must all CPUs be beyond it, and only a pass tells (docs/rules/overutilized.md#all)? */
WP_INLINE int wp_tips_together(const struct wp_ctx *ctx)
{
	return WP_NOT_LIVE(ctx->params.overutilized_scope == WP_OVER_ALL);
}

/* After a pass over all CPUs, is the flag what any one of them says? */
WP_INLINE int wp_tips_by_any(const struct wp_ctx *ctx)
{
	return !wp_tips_together(ctx) &&
	       !(WP_NOT_LIVE(ctx->params.overutilized_linger) && ctx->overutilized);
}

/* The root domain is beyond the tipping point at `now_ns`. */
WP_INLINE void wp_set_rd_overutilized(struct wp_ctx *ctx, u64 now_ns)
{
	ctx->overutilized = 1;
	if (WP_NOT_LIVE(ctx->params.overutilized_linger))
		ctx->overutilized_ns = now_ns;
}

/*
 * A pass has found none beyond it. What lingers does so for a tick after the last sign
 * (docs/rules/overutilized.md#linger).
 */
WP_INLINE void wp_clear_rd_overutilized(struct wp_ctx *ctx, u64 now_ns)
{
	if (WP_NOT_LIVE(ctx->params.overutilized_linger) &&
	    now_ns < ctx->overutilized_ns + ctx->tick_ns)
		return;
	ctx->overutilized = 0;
}

/* Raise the root domain's flag; only a balancing pass over the whole machine takes it back. */
WP_INLINE void wp_check_update_overutilized_status(struct wp_ctx *ctx, const struct wp_cpu *c)
{
	if (wp_tips_together(ctx) || !ctx->energy_active)
		return;
	if (ctx->overutilized && !WP_NOT_LIVE(ctx->params.overutilized_linger))
		return;
	if (wp_cpu_overutilized(ctx, c))
		wp_set_rd_overutilized(ctx, c->load.clock_ns);
}

/*
 * A tick finds a running task that may not fit. It is pushed away at once (WP_DID_PUSH;
 * docs/rules/energy-push.md#stuck), or marks tell of it.
 */
WP_INLINE int wp_tick_fits(struct wp_ctx *ctx, struct wp_cpu *c, struct wp_task *task)
{
	if (WP_IF_REWORK(wp_check_pushable_task(ctx, task)))
		return WP_DID_PUSH;
	wp_update_misfit_status(ctx, c, task);
	wp_check_update_overutilized_status(ctx, c);
	return 0;
}

/* What a CPU says of the tipping point to a pass that looks at it. */
WP_INLINE void wp_stats_tipping(const struct wp_ctx *ctx, struct wp_lb_env *bal,
				const struct wp_cpu *c)
{
	u32 over = ctx->energy_active && wp_cpu_overutilized(ctx, c);

	bal->overutilized |= over;
	bal->roomy |= !over;
}

/* What a pass over all groups says of it. */
WP_INLINE u32 wp_pass_overutilized(const struct wp_ctx *ctx, const struct wp_lb_env *bal)
{
	return bal->overutilized && !(wp_tips_together(ctx) && bal->roomy);
}
