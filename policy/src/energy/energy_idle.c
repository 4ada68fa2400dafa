// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The energy-aware wake-up where idle CPUs are candidates of their own
 * (docs/rules/energy-idle.md). The kernel's rule (energy_delta.c) compares the previous CPU and, of
 * each domain, the CPU with most spare capacity. Here the domain's best idle CPU is compared, too,
 * and of equal estimates an idle CPU goes before a busy one. No kernel has this.
 *
 * What must stay: with the parameter off nothing of this runs; margins and ties are those of the
 * page. Free: the order of reasons, margins and ties with their page; no kernel binds this
 * rule.
 *
 * Tests by part: (below crates/policy-sys/tests; `every_fixture_holds` runs the fixtures)
 * fixtures/energy-idle: idle-before-busy.toml, idle-previous-stays.toml (`wp_idle_energy_loses`,
 * `wp_idle_energy_offer`), stay-in-*.toml (`wp_idle_energy_stays`, `wp_idle_energy_choose`),
 * wish-met-nowhere.toml (`wp_find_energy_idle_cpu` leaves it to the kernel's rule),
 * busy-time-of-idle-cpus.toml (`wp_idle_energy_visit`, `wp_idle_energy_candidate`);
 * all/policy_matrix.rs: `line_3_energy_below_the_tipping_point`, `line_4_tiny`; all/energy_7_3.rs:
 * `versions` (`wp_select_by_energy`).
 *
 * Callers: `wp_select_task_rq_fair` (select.c) calls `wp_select_by_energy`, the entry to all forms
 * of the energy-aware wake-up.
 *
 * Tests: fixtures/energy-idle, all/policy_matrix.rs
 */
#include "wakeplace/policy.h"

/*
 * Why `a` is no better than `b`: by the wish for performance, by energy, idle before busy, the
 * previous CPU, by spare capacity; of equal ones the first stays
 * (docs/rules/energy-idle.md#energy-idle-order). WP_DROP_NONE: it is better.
 */
WP_INLINE u32 wp_idle_energy_loses(const struct wp_energy_pick *a,
				   const struct wp_energy_pick *b, u32 prev)
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

/* The better one of the CPU at hand and the best so far stays. */
WP_FN int wp_idle_energy_offer(const struct wp_ctx *ctx WP_NONNULL,
			       struct wp_decision *dec WP_NONNULL, u32 prev)
{
	struct wp_energy_pick *at = &dec->energy_at, *best = &dec->energy_best;
	u32 why;

	at->idle = (u32)wp_cpu_idle(WP_AT(ctx->cpus, at->cpu));
	wp_note_candidate(dec, at->cpu, at->util, (u32)at->spare, at->fits, at->delta);
	WP_EXPLAIN(ctx, wp_explain_clock_of(ctx, at->cpu));
	if (at->cpu == prev)
		dec->energy_prev = *at;
	why = wp_idle_energy_loses(at, best, prev);
	if (why != WP_DROP_NONE) {
		WP_EXPLAIN(ctx, wp_drop(ctx, at->cpu, why));
		return 0;
	}
	WP_EXPLAIN(ctx, wp_drop_rival(ctx, best->cpu, at->fits > best->fits));
	*best = *at;
	return 0;
}

/* The candidates of a domain, in the order in which they are offered. */
enum wp_idle_energy_of {
	WP_OF_PREV,
	WP_OF_IDLE,
	WP_OF_SPARE,
	WP_OF_ALL,
};

/* One of them is at hand. Returns 0 if there is none. */
WP_INLINE int wp_idle_energy_candidate(const struct wp_delta_pd *p, u32 prev, u32 of,
				       struct wp_energy_pick *at)
{
	if (of == WP_OF_PREV && p->prev_fits) {
		at->cpu = prev;
		at->util = p->prev_util;
		at->fits = p->prev_fits;
		at->spare = p->prev_spare;
	} else if (of == WP_OF_IDLE && p->idle_cpu != WP_NONE) {
		at->cpu = p->idle_cpu;
		at->util = p->idle_util;
		at->fits = p->idle_fits;
		at->spare = p->idle_spare;
	} else if (of == WP_OF_SPARE && p->cpu != WP_NONE && p->cpu != p->idle_cpu &&
		   p->spare > p->prev_spare) {
		at->cpu = p->cpu;
		at->util = p->util;
		at->fits = p->fits;
		at->spare = p->spare;
	} else {
		return 0;
	}
	return 1;
}

/* Looks at one performance domain: the previous CPU, its best idle CPU, the one with most to
 * spare. Returns 1 if an estimate contradicts itself, as in the kernel's rule. */
WP_INLINE int wp_idle_energy_visit(struct wp_ctx *ctx, const struct wp_task *task, u32 prev,
				   u32 dom, u32 task_busy, u32 index,
				   struct wp_decision *dec)
{
	struct wp_delta_pd *p = wp_delta_begin(dec, index);
	u32 of;
	u64 base, with;

	wp_delta_pick(ctx, task, prev, dom, p);
	if (p->cpu == WP_NONE && !p->prev_fits)
		return 0;
	p->busy = wp_min(p->total, p->busy);
	base = wp_compute_energy(ctx, task, p, 0, WP_NONE);
	for (of = 0; of < WP_OF_ALL; of++) {
		if (!wp_idle_energy_candidate(p, prev, of, &dec->energy_at))
			continue;
		with = wp_compute_energy(ctx, task, p, task_busy, dec->energy_at.cpu);
		if (with < base)
			return 1;
		dec->energy_at.delta = with - base;
		wp_idle_energy_offer(ctx, dec, prev);
	}
	return 0;
}

/*
 * Is what another CPU saves too little for leaving the idle previous one? Its cache is warm, which
 * the model does not know (docs/rules/energy-idle.md#energy-stay).
 */
WP_INLINE int wp_idle_energy_stays(const struct wp_ctx *ctx, const struct wp_energy_pick *was,
				   const struct wp_energy_pick *best)
{
	u32 pct = ctx->params.energy_stay_domain_pct;

	if (was->cpu == WP_NONE || !was->idle || was->fits < best->fits)
		return 0;
	if (WP_AT(ctx->cpus, was->cpu)->topo.perf_dom == WP_AT(ctx->cpus, best->cpu)->topo.perf_dom)
		pct = ctx->params.energy_stay_pct;
	return was->delta - wp_div(was->delta * pct, 100) <= best->delta;
}

/* The search is over, and some CPU meets the task's wish. */
WP_INLINE int wp_idle_energy_choose(const struct wp_ctx *ctx, struct wp_decision *dec, u32 prev)
{
	const struct wp_energy_pick *was = &dec->energy_prev, *best = &dec->energy_best;
	u32 reason = WP_REASON_ENERGY_BEST;

	if (best->cpu == prev)
		return wp_energy_decide(dec, prev, WP_REASON_ENERGY_PREV);
	if (wp_idle_energy_stays(ctx, was, best)) {
		WP_EXPLAIN(ctx, wp_drop(ctx, best->cpu, WP_DROP_MARGIN));
		return wp_energy_decide(dec, prev, WP_REASON_ENERGY_PREV);
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
 * Returns 1 and fills `dec` if this rule decides. 0: the kernel's rule does, as no CPU meets the
 * task's wish, the estimate contradicts itself, or the task has no utilisation to place by.
 */
WP_FN int wp_find_energy_idle_cpu(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL,
				  u32 this_cpu, u32 prev, struct wp_decision *dec WP_NONNULL)
{
	u32 dom = wp_energy_dom(ctx, this_cpu, prev,
				WP_AT(ctx->cpus, this_cpu)->topo.asym_full_level);
	u32 i, task_busy, unclear = 0;

	if (dom == WP_NONE)
		return 0;
	wp_sync_entity_load_avg(ctx, task);
	if (wp_energy_no_util(ctx, task))
		return 0;
	task_busy = wp_eenv_task_busy_time(ctx, task, prev);
	dec->energy_prev.cpu = WP_NONE;
	dec->energy_best.cpu = WP_NONE;
	WP_FOR(i, ctx->nr_perf_doms, WP_MAX_PERF_DOMS) {
		u32 index = ctx->nr_perf_doms - 1 - i;

		unclear = (u32)wp_idle_energy_visit(ctx, task, prev, dom, task_busy, index, dec);
		if (unclear)
			break;
	}
	if (!unclear && dec->energy_best.cpu != WP_NONE && dec->energy_best.fits > 0)
		return wp_idle_energy_choose(ctx, dec, prev);
	dec->nr_candidates = 0;
	WP_EXPLAIN(ctx, wp_drop_undo(ctx));
	return 0;
}

/* Asks the energy-aware wake-up in the form in force; 1: it decided. */
WP_INLINE int wp_select_by_energy(struct wp_ctx *ctx, struct wp_task *task, u32 this_cpu, u32 prev,
				  struct wp_decision *dec)
{
#ifndef WP_LIVE
	if (ctx->params.energy_aware < WP_ENERGY_61)
		return wp_find_energy_efficient_cpu_5_10(ctx, task, this_cpu, prev, dec);
#endif
#ifdef WP_EAS_REWORK
	if (ctx->params.energy_rework && ctx->params.energy_aware >= WP_ENERGY_612)
		return wp_find_energy_efficient_cpu_rework(ctx, task, this_cpu, prev, dec);
#endif
	if (ctx->params.energy_idle && wp_find_energy_idle_cpu(ctx, task, this_cpu, prev, dec))
		return 1;
	return wp_find_energy_efficient_cpu(ctx, task, this_cpu, prev, dec);
}
