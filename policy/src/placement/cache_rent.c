// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Where a task is whose wakers are in another last-level cache (docs/rules/cache-rent.md#rent). It
 * pays rent: each wake-up from another cache brings lines that take longer than within a cache. A
 * move has a price as well. Once the rent has reached it the task goes to its waker's cache, if a
 * CPU there is free. Until then an idle previous CPU keeps it.
 *
 * What must stay: without prices of the machine, or with `cache_rent_lines` = 0, each function does
 * nothing or answers 0; the rent is counted before the short cut of prev_idle.c. Free: how the
 * rent is kept; what is compared only with the page.
 *
 * Tests by part: (below crates/policy-sys/tests) all/cache_rent.rs: `five_far_wakeups_pay_a_move`
 * (`wp_count_rent`, `wp_far_line_ns`, `wp_rent_paid`), `wakeups_from_within_pay_back`
 * (`wp_count_rent`), `another_node_is_dearer` (`wp_other_node`, `wp_move_ns`),
 * `nobody_waits_for_its_cache` (`wp_select_near_waker`), `nobody_gives_a_core_up`
 * (`wp_loses_core`), `the_waker_that_sleeps_does_not_pull`
 * (`wp_rent_keeps`), `without_prices_nothing_changes` (`wp_rent_counts`).
 *
 * Callers: select.c.
 *
 * Tests: all/cache_rent.rs
 */
#include "wakeplace/policy.h"

/* Is this a wake-up by somebody, and does a rule ask for its rent? */
WP_INLINE int wp_rent_counts(const struct wp_ctx *ctx, const struct wp_request *req)
{
	return ctx->params.cache_rent_lines && req->kind == WP_PLACE_WAKE && !req->waker_idle;
}

/* Does no domain below those of the nodes have both CPUs? */
WP_INLINE int wp_other_node(const struct wp_ctx *ctx, u32 a, u32 b)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, a);
	u32 i;

	WP_FOR(i, c->topo.nr_levels, WP_MAX_LEVELS) {
		const struct wp_sched_domain *dom = WP_AT(ctx->doms, *WP_AT(c->topo.dom, i));

		if (wp_span_has(dom, b))
			return !!(dom->flags & WP_SD_NUMA);
	}
	return 1;
}

/* By how much a line from the other CPU takes longer than within a cache, ns. */
WP_INLINE u64 wp_far_line_ns(const struct wp_prices *prices, int far)
{
	return wp_sub(far ? prices->far_line_ns : prices->node_line_ns, prices->cache_line_ns);
}

/* What a move between caches costs, ns; 0: unknown. */
WP_INLINE u64 wp_move_ns(const struct wp_prices *prices, int far)
{
	return far ? prices->refill_far_ns : prices->refill_ns;
}

/*
 * The wake-up counts. From another cache it costs what its lines take longer than within one. From
 * another CPU of the same cache it takes as much off: so much would be lost elsewhere. It adds up
 * to what a move there costs, and nothing where that is unknown. Rent is that of one cache: a task
 * that has moved begins anew.
 */
WP_FN int wp_count_rent(const struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL,
			const struct wp_request *req WP_NONNULL)
{
	u32 llc = WP_AT(ctx->cpus, req->prev_cpu)->topo.llc_id + 1;
	u64 most, lines = ctx->params.cache_rent_lines;
	int far;

	if (!wp_rent_counts(ctx, req) || req->this_cpu == req->prev_cpu)
		return 0;
	if (task->rent_llc != llc) {
		task->rent_llc = llc;
		task->rent_ns = 0;
	}
	if (wp_cpus_share_cache(ctx, req->this_cpu, req->prev_cpu)) {
		far = !ctx->prices.node_line_ns; /* each node has one cache */
		task->rent_ns = wp_sub(task->rent_ns, lines * wp_far_line_ns(&ctx->prices, far));
		return 0;
	}
	far = wp_other_node(ctx, req->this_cpu, req->prev_cpu);
	most = wp_move_ns(&ctx->prices, far);
	if (task->rent_ns < most) /* what is owed at a higher price stays */
		task->rent_ns = wp_min64(
			task->rent_ns + lines * wp_far_line_ns(&ctx->prices, far), most);
	return 0;
}

/* Has the task, woken from another cache, paid as much as its move there costs? */
WP_FN int wp_rent_paid(const struct wp_ctx *ctx WP_NONNULL, const struct wp_task *task WP_NONNULL,
		       const struct wp_request *req WP_NONNULL)
{
	u32 here = req->this_cpu, prev = req->prev_cpu;
	u64 price;

	if (!wp_rent_counts(ctx, req) || wp_cpus_share_cache(ctx, here, prev))
		return 0;
	price = wp_move_ns(&ctx->prices, wp_other_node(ctx, here, prev));
	return price && task->rent_ns >= price;
}

/*
 * A waker that is about to sleep asks for its own CPU although the previous one idles, in another
 * cache (docs/rules/wake-ups.md#wake-affine): the move waits until its price is paid, and does not
 * happen where the task would wait. Is it so?
 */
WP_FN int wp_rent_keeps(const struct wp_ctx *ctx WP_NONNULL,
			const struct wp_request *req WP_NONNULL, u32 target,
			const struct wp_decision *dec WP_NONNULL)
{
	u32 prev = req->prev_cpu;
	int far;

	if (!wp_rent_counts(ctx, req) || dec->short_target || target != req->this_cpu ||
	    wp_cpus_share_cache(ctx, target, prev) || !wp_idle_at(ctx, prev))
		return 0;
	far = wp_other_node(ctx, target, prev);
	return wp_far_line_ns(&ctx->prices, far) && wp_move_ns(&ctx->prices, far);
}

/* Would the task share a core there, and has one to itself where it was? That costs more than
 * lines do. */
WP_INLINE int wp_loses_core(const struct wp_ctx *ctx, u32 cpu, u32 prev)
{
	return ctx->smt && wp_idle_at(ctx, prev) && wp_is_core_idle(ctx, prev) &&
	       !wp_is_core_idle(ctx, cpu);
}

/*
 * The rent is paid: a free CPU of the waker's cache, if the search finds one. Returns 0 if the task
 * would wait there or lose its core: then the target that all else has chosen decides, as if nobody
 * had looked. (The CPUs that this search looked at count for that one, too.)
 */
WP_INLINE int wp_select_near_waker(struct wp_ctx *ctx, struct wp_task *task,
				   const struct wp_request *req, struct wp_decision *dec)
{
	u32 recent = task->waker.recent_used_cpu, short_target = dec->short_target;

	wp_select_idle_sibling(ctx, task, req, req->this_cpu, dec);
	if (wp_free_for(ctx, task, dec->cpu) && !wp_loses_core(ctx, dec->cpu, req->prev_cpu)) {
		WP_EXPLAIN(ctx, wp_explain_target(ctx, req->this_cpu));
		return 1;
	}
	task->waker.recent_used_cpu = recent;
	dec->short_target = short_target;
	dec->scan_left = WP_NONE;
	return 0;
}
