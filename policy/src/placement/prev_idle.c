// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A short cut for the commonest wake-up, in the live build alone: the previous CPU idles and shares
 * the waker's cache. Then the whole decision (select.c, idle_sibling.c) ends there in nearly all
 * cases, and why is known without a walk over the domains:
 *
 *   the waker's CPU is the target, busy   -> the previous CPU is the first one near it
 *   else the previous CPU is the target   -> the target itself is idle
 *
 * Whatever else could lead to another CPU, or change something, is left to the whole decision:
 * energy, packing, CPUs of different sizes, short wakers, clusters, a waker's CPU that counts as
 * free. The native core has no short cut: the parity test (crates/scx/tests/parity), which compares
 * the two, says that it never differs. A new rule of a wake-up that may choose otherwise
 * (docs/rules/wake-ups.md#idle-sibling) is left to the whole decision here, too. Rent
 * (cache_rent.c) decides nothing here, where waker's and previous CPU share a cache, and has been
 * counted before.
 *
 * What must stay: a question that it answers the whole decision answers alike, with the same rule
 * and reason. Free: which questions it leaves to the whole decision: leaving more is always
 * right.
 *
 * Tests by part: crates/scx/tests/parity/main.rs: `every_decision_is_the_same_in_all_builds`
 * (`wp_select_prev_idle`, `wp_prev_idle_decides`). No test of the native core reaches this file,
 * since that is not built with WP_LIVE: fixtures/wake has the whole decision that it must be like.
 *
 * Callers: `wp_select_task_rq_fair` (select.c) in the live build.
 *
 * Tests: fixtures/wake
 */
#include "wakeplace/policy.h"

#ifdef WP_LIVE

/* select.c */
WP_INLINE int wp_wake_wide(const struct wp_ctx *ctx, const struct wp_task *task,
			   const struct wp_waker *waker, u32 this_cpu);

/* Nothing but affinity and idle CPUs takes part in the decision. */
WP_INLINE int wp_prev_idle_decides(const struct wp_ctx *ctx, const struct wp_cpu *here)
{
	const struct wp_params *p = &ctx->params;
	u32 flags;

	if (ctx->energy_active || ctx->asym || ctx->cluster || p->wake_cap ||
	    p->sis_short_affine == WP_SHORT_AFFINE_FIRST || !p->wake_affine_idle ||
	    !p->wake_affine_prev_idle)
		return 0;
	if (wp_pack_active(ctx) || wp_mc_places(ctx, WP_PLACE_WAKE) ||
	    here->topo.llc_level == WP_NONE)
		return 0;
	flags = WP_AT(ctx->doms, *WP_AT(here->topo.dom, here->topo.llc_level))->flags;
	return (flags & WP_SD_WAKE_AFFINE) &&
	       !(WP_AT(ctx->doms, here->topo.dom[0])->flags & WP_SD_BALANCE_WAKE);
}

/* Fills `dec` and returns 1 if the task goes back to its previous CPU for that reason. */
WP_FN int wp_select_prev_idle(struct wp_ctx *ctx WP_NONNULL, const struct wp_task *task WP_NONNULL,
			      const struct wp_waker *waker WP_NONNULL,
			      const struct wp_request *req WP_NONNULL,
			      struct wp_decision *dec WP_NONNULL)
{
	u32 here = req->this_cpu, prev = req->prev_cpu;
	const struct wp_cpu *c = WP_AT(ctx->cpus, here);
	int asks_here = req->sync && here != prev && wp_nr_awake(c) == 1 && !wp_cpu_idle(c);

	if (req->kind != WP_PLACE_WAKE || !wp_idle_at(ctx, prev) || !wp_allowed(task, prev) ||
	    !wp_cpus_share_cache(ctx, here, prev) || !wp_prev_idle_decides(ctx, c))
		return 0;
	if (asks_here && wp_sched_idle_rq(c))
		return 0;
	dec->wide = (u32)wp_wake_wide(ctx, task, waker, here);
	asks_here &= !dec->wide && wp_allowed(task, here);
	return wp_idle_decide(dec, prev, asks_here ? WP_REASON_IDLE_PREV : WP_REASON_IDLE_TARGET);
}

#endif
