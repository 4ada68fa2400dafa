// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The energy-aware wake-up where idle CPUs are candidates of their own
 * (docs/rules/energy-idle.md). The kernel's rule (energy_delta.c) compares the previous CPU and, of
 * each domain, the CPU with most spare capacity. Here the domain's best idle CPU is compared, too,
 * and of equal estimates an idle CPU goes before a busy one. No kernel has this.
 *
 * Tests: fixtures/energy-idle, all/policy_matrix.rs
 */
#include "wakeplace/policy.h"

/* A CPU that could take the task. */
struct wp_idle_energy_pick {
	u32 cpu; /* WP_NONE: nobody yet */
	u32 pd;
	u32 idle;
	u32 util;  /* with the task there */
	s32 fits;  /* as wp_util_fits_on() */
	s64 spare; /* likewise */
	u64 delta; /* what the task adds to its domain */
};

/* The whole search. */
struct wp_idle_energy_search {
	u32 prev;
	u32 dom;
	u32 task_busy;
	struct wp_idle_energy_pick was; /* the previous CPU, if it can hold the task */
	struct wp_idle_energy_pick best;
};

/*
 * Why `a` is no better than `b`: by the wish for performance, by energy, idle before busy, the
 * previous CPU, by spare capacity; of equal ones the first stays
 * (docs/rules/energy-idle.md#energy-idle-order). WP_DROP_NONE: it is better.
 */
WP_INLINE u32 wp_idle_energy_loses(const struct wp_idle_energy_pick *a,
				   const struct wp_idle_energy_pick *b, u32 prev)
{
	if (b->cpu == WP_NONE || a->fits > b->fits)
		return WP_DROP_NONE;
	if (a->fits < b->fits)
		return WP_DROP_HINT;
	if (a->delta != b->delta)
		return a->delta < b->delta ? WP_DROP_NONE : WP_DROP_MORE_ENERGY;
	if (a->idle != b->idle)
		return a->idle ? WP_DROP_NONE : WP_DROP_BUSY;
	return b->cpu != prev && a->spare > b->spare ? WP_DROP_NONE : WP_DROP_MORE_ENERGY;
}

/* The better one of `pick` and the best so far stays. Returns 1 if the estimate contradicts
 * itself, as in the kernel's rule. */
WP_INLINE int wp_idle_energy_offer(struct wp_ctx *ctx, const struct wp_task *task,
				   struct wp_idle_energy_search *s, const struct wp_delta_pd *p,
				   u64 base, struct wp_idle_energy_pick *pick,
				   struct wp_decision *dec)
{
	u64 with = wp_compute_energy(ctx, task, p, s->task_busy, pick->cpu);
	u32 why;

	if (with < base)
		return 1;
	pick->pd = p->index;
	pick->idle = (u32)wp_cpu_idle(WP_AT(ctx->cpus, pick->cpu));
	pick->delta = with - base;
	wp_note_candidate(dec, pick->cpu, pick->util, (u32)pick->spare, pick->fits, pick->delta);
	if (pick->cpu == s->prev)
		s->was = *pick;
	why = wp_idle_energy_loses(pick, &s->best, s->prev);
	if (why != WP_DROP_NONE) {
		WP_EXPLAIN(ctx, wp_drop(ctx, pick->cpu, why));
		return 0;
	}
	WP_EXPLAIN(ctx, wp_drop_rival(ctx, s->best.cpu, pick->fits > s->best.fits));
	s->best = *pick;
	return 0;
}

/* Looks at one performance domain: the previous CPU, its best idle CPU, the one with most to
 * spare. Returns 1 if an estimate contradicts itself. */
WP_INLINE int wp_idle_energy_visit(struct wp_ctx *ctx, const struct wp_task *task,
				   struct wp_idle_energy_search *s, struct wp_delta_pd *p,
				   struct wp_decision *dec)
{
	struct wp_idle_energy_pick pick = { .cpu = s->prev };
	u64 base;

	wp_delta_pick(ctx, task, s->prev, s->dom, p);
	if (p->cpu == WP_NONE && !p->prev_fits)
		return 0;
	p->busy = wp_min(p->total, p->busy);
	base = wp_compute_energy(ctx, task, p, 0, WP_NONE);
	if (p->prev_fits) {
		pick.util = p->prev_util;
		pick.fits = p->prev_fits;
		pick.spare = p->prev_spare;
		if (wp_idle_energy_offer(ctx, task, s, p, base, &pick, dec))
			return 1;
	}
	if (p->idle_cpu != WP_NONE) {
		pick.cpu = p->idle_cpu;
		pick.util = p->idle_util;
		pick.fits = p->idle_fits;
		pick.spare = p->idle_spare;
		if (wp_idle_energy_offer(ctx, task, s, p, base, &pick, dec))
			return 1;
	}
	if (p->cpu == WP_NONE || p->cpu == p->idle_cpu || p->spare <= p->prev_spare)
		return 0;
	pick.cpu = p->cpu;
	pick.util = p->util;
	pick.fits = p->fits;
	pick.spare = p->spare;
	return wp_idle_energy_offer(ctx, task, s, p, base, &pick, dec);
}

/*
 * Is what another CPU saves too little for leaving the idle previous one? Its cache is warm, which
 * the model does not know (docs/rules/energy-idle.md#energy-stay).
 */
WP_INLINE int wp_idle_energy_stays(const struct wp_ctx *ctx, const struct wp_idle_energy_pick *was,
				   const struct wp_idle_energy_pick *best)
{
	u32 pct = was->pd == best->pd ? ctx->params.energy_stay_pct :
					ctx->params.energy_stay_domain_pct;

	if (was->cpu == WP_NONE || !was->idle || was->fits < best->fits)
		return 0;
	return was->delta - wp_div(was->delta * pct, 100) <= best->delta;
}

/* The search is over, and some CPU meets the task's wish. */
WP_INLINE int wp_idle_energy_choose(const struct wp_ctx *ctx, struct wp_decision *dec,
				    const struct wp_idle_energy_search *s)
{
	const struct wp_idle_energy_pick *was = &s->was, *best = &s->best;
	u32 reason = WP_REASON_ENERGY_BEST;

	if (best->cpu == s->prev)
		return wp_energy_decide(dec, s->prev, WP_REASON_ENERGY_PREV);
	if (wp_idle_energy_stays(ctx, was, best)) {
		WP_EXPLAIN(ctx, wp_drop(ctx, best->cpu, WP_DROP_MARGIN));
		return wp_energy_decide(dec, s->prev, WP_REASON_ENERGY_PREV);
	}
	if (was->cpu == WP_NONE)
		reason = WP_REASON_ENERGY_PREV_UNFIT;
	else if (was->fits < best->fits)
		reason = WP_REASON_ENERGY_HINT;
	else if (was->delta == best->delta)
		reason = WP_REASON_ENERGY_IDLE;
	return wp_energy_decide(dec, best->cpu, reason);
}

/*
 * Returns 1 and fills `dec` if this rule decides. 0: no CPU meets the task's wish, or the estimate
 * contradicts itself; the kernel's rule decides what then.
 */
WP_FN int wp_find_energy_idle_cpu(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL,
				  u32 dom, u32 prev, struct wp_decision *dec WP_NONNULL)
{
	struct wp_idle_energy_search s = {
		.prev = prev,
		.dom = dom,
		.task_busy = wp_eenv_task_busy_time(ctx, task, prev),
		.was = { .cpu = WP_NONE },
		.best = { .cpu = WP_NONE },
	};
	u32 i, unclear = 0;

	WP_FOR(i, ctx->nr_perf_doms, WP_MAX_PERF_DOMS) {
		struct wp_delta_pd p = wp_delta_pd(ctx->nr_perf_doms - 1 - i);

		unclear = (u32)wp_idle_energy_visit(ctx, task, &s, &p, dec);
		if (unclear)
			break;
	}
	if (!unclear && s.best.cpu != WP_NONE && s.best.fits > 0)
		return wp_idle_energy_choose(ctx, dec, &s);
	dec->nr_candidates = 0;
	WP_EXPLAIN(ctx, wp_drop_undo(ctx));
	return 0;
}
