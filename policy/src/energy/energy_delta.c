// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The energy-aware wake-up as it is since 6.1, the estimate as it is since 6.12
 * (docs/rules/energy-aware.md#em-cpu-energy, docs/rules/energy-aware.md#util-of-candidate,
 * docs/rules/energy-aware.md#compute-energy, docs/rules/energy-aware.md#energy-wake-up). The
 * estimate of 6.1 is in energy_6_1.c.
 *
 * Of each performance domain only the CPU with most spare capacity is of interest (it raises the
 * frequency least), and in the previous CPU's domain only if it has more than that one. They are
 * compared by what the task adds to their domain:
 *
 *   E(dst) = cost of the state that the most demanding CPU needs * busy time of the domain
 *   delta(dst) = E(dst) - E(nowhere)
 *
 * The task is taken to add the same busy time anywhere; only the state differs. There is no
 * margin. A CPU that meets the task's wish for performance comes before one that does not. Ties
 * keep the previous CPU, then the first candidate.
 *
 * What must stay: one walk over the domains in their order, each CPU once (the verifier counts),
 * and the same candidates whether `explain` is on or not. Free: how sums are gathered, within
 * the one walk; energy_idle.c builds on the same picks and estimates.
 *
 * Tests by part: (below crates/policy-sys/tests; `every_fixture_holds` runs the fixtures)
 * all/energy_7_3.rs: `eas_vector_rows` (`wp_find_energy_efficient_cpu`, `wp_delta_visit`,
 * `wp_compute_energy`), `no_margin` (`wp_delta_choose`), `inefficient_state_is_skipped`,
 * `limits_of_a_domain` (`wp_pd_state`, `wp_pd_cost`), `runnable_boost` (`wp_perf_with`),
 * `other_classes_count` (`wp_delta_add`, `wp_eenv_pd_max_util`), `hints_rank_candidates`
 * (`wp_delta_eligible`, `wp_delta_fits`), `hints_of_the_queue` (`wp_delta_hints`),
 * `lower_with_the_task_keeps_prev`; all/energy_7_3_oracle.rs: `v73_agrees_on_random_states`,
 * `v612_agrees_on_random_states` (`wp_delta_pick`, `wp_delta_begin`); fixtures/energy:
 * task-busy-*.toml (`wp_eenv_task_busy_time`), hints-*carried*.toml; all/uclamp_sum.rs:
 * `hints_move_the_state_not_the_busy_time` (`wp_delta_within_hints`).
 *
 * Callers: `wp_select_by_energy` (energy_idle.c).
 *
 * Kernel: find_energy_efficient_cpu(), compute_energy(), eenv_task_busy_time(),
 *         eenv_pd_busy_time() as wp_delta_pick(), eenv_pd_max_util(), kernel/sched/fair.c;
 *         em_pd_get_efficient_state() as wp_pd_state(), include/linux/energy_model.h
 * Tests: fixtures/energy, all/energy_7_3.rs, all/energy_7_3_oracle.rs, all/uclamp_sum.rs
 */
#include "wakeplace/policy.h"

/* First efficient state, within the limits (7.3), of at least `perf`; none: the highest allowed. */
WP_INLINE u32 wp_pd_state(const struct wp_ctx *ctx, const struct wp_perf_domain *pd, u32 perf)
{
	const struct wp_em_perf_table *t = wp_em_perf_table(pd);
	u32 unlimited = WP_NOT_LIVE(ctx->params.energy_aware == WP_ENERGY_612);
	u32 least = unlimited ? 0 : pd->min_state;
	u32 most = unlimited ? t->nr_states - 1 : pd->max_state, i, state = most;

	WP_FOR(i, most + 1, WP_MAX_STATES) {
		const struct wp_em_perf_state *s = WP_AT(t->state, i);

		if (i < least || s->performance < perf || s->inefficient)
			continue;
		state = i;
		break;
	}
	WP_EXPLAIN(ctx, wp_explain_clock(ctx, WP_AT(t->state, state)->khz));
	return state;
}

/* Its cost. */
WP_INLINE u32 wp_pd_cost(const struct wp_ctx *ctx, const struct wp_perf_domain *pd, u32 perf)
{
	return WP_AT(wp_em_perf_table(pd)->state, wp_pd_state(ctx, pd, perf))->cost;
}

/* The performance that a CPU's domain has to run at for it, with the task there. */
WP_FN u32 wp_perf_with(const struct wp_ctx *ctx WP_NONNULL, u32 cpu,
		       const struct wp_task *task WP_NONNULL, u32 util)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	struct wp_demand d = wp_effective_cpu_util(ctx, c, util);

	if (ctx->params.uclamp && !WP_IF_SUMS(wp_uclamp_sums(ctx))) {
		/* An idle CPU's bound is that of a task which has left. */
		u32 max = wp_uclamp_rq_is_idle(c) ? 0 : d.max;

		d.min = wp_max(d.min, task->uclamp_min);
		d.max = wp_max(max, task->uclamp_max);
	}
	return wp_sugov_effective_cpu_perf(ctx, c, &d);
}

/* A domain that nothing is known of yet. */
WP_INLINE struct wp_delta_pd *wp_delta_begin(struct wp_decision *dec, u32 index)
{
	struct wp_delta_pd *p = &dec->energy_pd;

	p->index = index;
	p->hinted = 0;
	p->online = p->busy = p->most = p->next = 0;
	p->most_cpu = p->cpu = p->idle_cpu = WP_NONE;
	p->capacity = 0;
	p->prev_fits = p->fits = p->idle_fits = 0;
	p->prev_spare = -1;
	p->prev_boosted = 0;
	p->spare = 0;
	return p;
}

/* The whole search. */
struct wp_delta_search {
	u32 dom;
	u32 task_busy;
	u64 prev_delta;
	u64 best_delta;
	s32 prev_fits; /* -1: not, or all but the wish for performance */
	s32 best_fits;
	u32 prev_capacity;
	u32 best_capacity;
	u32 best_cpu;
	u32 prev_usable;
};

/*
 * The hints that count where the task would join `c`: the larger ones of its own and the queue's.
 * An idle queue has none; with `energy_hints_carried` what was found last stands
 * (docs/rules/energy-aware.md#energy-hints-carried).
 */
WP_INLINE void wp_delta_hints(const struct wp_ctx *ctx, const struct wp_cpu *c,
			      const struct wp_task *task, struct wp_delta_pd *p)
{
	int alone = !ctx->params.uclamp || wp_uclamp_rq_is_idle(c);

	if (alone && p->hinted && ctx->params.energy_hints_carried)
		return;
	p->hinted = 1;
	p->uclamp_min = wp_uclamp_eff_min(ctx, task);
	p->uclamp_max = wp_uclamp_eff_max(ctx, task);
	if (alone)
		return;
	p->uclamp_min = wp_max(p->uclamp_min, wp_uclamp_rq_min(ctx, c));
	p->uclamp_max = wp_max(p->uclamp_max, wp_uclamp_rq_max(ctx, c));
}

/* What the frequency follows: where hints add up, the utilisation within them. */
WP_INLINE void wp_delta_within_hints(const struct wp_ctx *ctx, u32 cpu, const struct wp_task *task,
				     struct wp_util_pair *u)
{
#ifdef WP_UCLAMP_SUM
	if (!wp_uclamp_sums(ctx))
		return;
	u->without = wp_cpu_util_uclamp(ctx, cpu, task, WP_NONE, 1);
	u->with = wp_cpu_util_uclamp(ctx, cpu, task, cpu, 1);
#else
	(void)ctx, (void)cpu, (void)task, (void)u;
#endif
}

/* How well the CPU holds the task; `used`: what then counts of its capacity. */
WP_INLINE s32 wp_delta_fits(const struct wp_ctx *ctx, const struct wp_task *task,
			    struct wp_delta_pd *p, u32 cpu, u32 util, u32 *used)
{
	*used = util;
#ifdef WP_UCLAMP_SUM
	if (wp_uclamp_sums(ctx)) {
		u32 clamped = wp_cpu_util_uclamp(ctx, cpu, task, cpu, 0);
		s32 fits = wp_util_fits_uclamp(ctx, util, clamped, WP_AT(ctx->cpus, cpu));

		if (fits > 0)
			*used = clamped;
		return fits;
	}
#endif
	wp_delta_hints(ctx, WP_AT(ctx->cpus, cpu), task, p);
	return wp_util_fits_cpu(ctx, util, p->uclamp_min, p->uclamp_max, cpu);
}

/* What a CPU adds to the demand of its domain without the task. The verifier looks at it once. */
WP_FN int wp_delta_add(const struct wp_ctx *ctx WP_NONNULL, struct wp_delta_pd *p WP_NONNULL,
		       u32 cpu, u32 util, u32 boosted)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	struct wp_demand d = wp_effective_cpu_util(ctx, c, util);
	u32 perf;

	if (!wp_energy_leaves_out(ctx, c))
		p->busy += d.util;
	if (boosted != util)
		d = wp_effective_cpu_util(ctx, c, boosted);
	perf = wp_sugov_effective_cpu_perf(ctx, c, &d);
	if (p->most_cpu == WP_NONE || perf > p->most) {
		p->next = p->most;
		p->most = perf;
		p->most_cpu = cpu;
	} else {
		p->next = wp_max(p->next, perf);
	}
	return 0;
}

/* The performance a domain runs at with the task on `cpu`, which needs `perf` then. */
WP_INLINE u32 wp_eenv_pd_max_util(const struct wp_delta_pd *p, u32 cpu, u32 perf)
{
	return wp_max(cpu == p->most_cpu ? p->next : p->most, perf);
}

/* Which CPUs of a domain are worth an estimate, and what all demand: one walk. */
WP_FN int wp_delta_pick(const struct wp_ctx *ctx WP_NONNULL,
			const struct wp_task *task WP_NONNULL, u32 prev, u32 dom_index,
			struct wp_delta_pd *p WP_NONNULL)
{
	const struct wp_perf_domain *pd = WP_AT(ctx->perf_doms, p->index);
	const struct wp_sched_domain *dom = WP_AT(ctx->doms, dom_index);
	u32 i, boost = !WP_NOT_LIVE(!ctx->params.runnable_boost);

	WP_FOR(i, pd->nr_cpus, WP_MAX_CPUS) {
		u32 cpu = *WP_AT(ctx->list, pd->first_cpu + i);
		const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
		struct wp_util_pair u, boosted;
		u32 used;
		s64 spare;
		s32 fits;

		if (!c->queue.online) {
			WP_EXPLAIN(ctx, wp_drop(ctx, cpu, WP_DROP_OFFLINE));
			continue;
		}
		if (!p->online++)
			p->capacity = wp_get_actual_cpu_capacity(ctx, c);
		u = wp_cpu_util_pair(ctx, cpu, task, 0);
		boosted = boost ? wp_cpu_util_pair(ctx, cpu, task, 1) : u;
		wp_delta_within_hints(ctx, cpu, task, &boosted);
		wp_delta_add(ctx, p, cpu, u.without, boosted.without);
		if (!wp_span_has(dom, cpu) || !wp_allowed(task, cpu)) {
			WP_EXPLAIN(ctx, wp_drop_barred(ctx, dom, cpu));
			continue;
		}
		fits = wp_delta_fits(ctx, task, p, cpu, u.with, &used);
		if (!fits) {
			WP_EXPLAIN(ctx, wp_drop(ctx, cpu, WP_DROP_UNFIT));
			continue;
		}
		spare = (s64)wp_sub(c->load.capacity, used);
		if (cpu == prev) {
			p->prev_util = u.with;
			p->prev_boosted = boosted.with;
			p->prev_fits = fits;
			p->prev_spare = spare;
			continue;
		}
		if (ctx->params.energy_idle && wp_cpu_idle(c) &&
		    (p->idle_cpu == WP_NONE || fits > p->idle_fits ||
		     (fits == p->idle_fits && spare > p->idle_spare))) {
			p->idle_cpu = cpu;
			p->idle_util = u.with;
			p->idle_boosted = boosted.with;
			p->idle_fits = fits;
			p->idle_spare = spare;
		}
		if (p->cpu == WP_NONE || fits > p->fits ||
		    (fits == p->fits && spare > p->spare)) {
			WP_EXPLAIN(ctx, wp_drop_pick(ctx, p->cpu, fits > p->fits));
			p->cpu = cpu;
			p->util = u.with;
			p->boosted = boosted.with;
			p->fits = fits;
			p->spare = spare;
		} else {
			WP_EXPLAIN(ctx, wp_drop_pick(ctx, cpu, fits < p->fits));
		}
	}
	p->total = p->capacity * p->online;
	return 0;
}

/* Energy of the domain with the task on `dst`, the previous CPU or a candidate; WP_NONE: none. */
WP_FN u64 wp_compute_energy(const struct wp_ctx *ctx WP_NONNULL,
			    const struct wp_task *task WP_NONNULL,
			    const struct wp_delta_pd *p WP_NONNULL, u32 task_busy, u32 dst)
{
	u32 busy = wp_min(p->total, p->busy + (dst == WP_NONE ? 0 : task_busy));
	u32 perf = p->most;

#ifndef WP_LIVE
	if (ctx->params.energy_aware == WP_ENERGY_61)
		return wp_em_cpu_energy_6_1(ctx, p->index, task, dst, busy, p->capacity);
#endif
	if (dst != WP_NONE) {
		u32 util = p->prev_boosted;

		if (dst == p->cpu)
			util = p->boosted;
		else if (dst == p->idle_cpu)
			util = p->idle_boosted;
		perf = wp_eenv_pd_max_util(p, dst, wp_perf_with(ctx, dst, task, util));
	}
	perf = wp_min(p->capacity, perf);
	return (u64)wp_pd_cost(ctx, WP_AT(ctx->perf_doms, p->index), perf) * busy;
}

/* Is the domain's candidate worth an estimate, beside the best one so far? */
WP_INLINE int wp_delta_eligible(const struct wp_delta_search *s, const struct wp_delta_pd *p)
{
	if (p->cpu == WP_NONE || p->spare <= p->prev_spare || p->fits < s->best_fits)
		return 0;
	return p->fits > 0 || p->capacity > s->best_capacity;
}

/*
 * Look at one performance domain. Returns 1 if the estimate contradicts itself: it is lower with
 * the task than without, because signals moved meanwhile or the task's hints bind.
 */
WP_INLINE int wp_delta_visit(struct wp_ctx *ctx, const struct wp_task *task, u32 prev,
			     struct wp_delta_search *s, struct wp_delta_pd *p,
			     struct wp_decision *dec)
{
	u64 base, with;

	wp_delta_pick(ctx, task, prev, s->dom, p);
	if (p->cpu == WP_NONE && !p->prev_fits)
		return 0;
	p->busy = wp_min(p->total, p->busy);
	base = wp_compute_energy(ctx, task, p, 0, WP_NONE);
	if (p->prev_fits) {
		with = wp_compute_energy(ctx, task, p, s->task_busy, prev);
		if (with < base)
			return 1;
		s->prev_usable = 1;
		s->prev_fits = p->prev_fits;
		s->prev_capacity = p->capacity;
		s->prev_delta = with - base;
		s->best_delta = wp_min64(s->best_delta, s->prev_delta);
		wp_note_candidate(dec, prev, p->prev_util, (u32)p->prev_spare, p->prev_fits,
				  s->prev_delta);
		WP_EXPLAIN(ctx, wp_explain_clock_of(ctx, prev));
	}
	if (!wp_delta_eligible(s, p)) {
		WP_EXPLAIN(ctx, wp_drop_pick_whole(ctx, p->cpu, p->spare <= p->prev_spare));
		return 0;
	}
	with = wp_compute_energy(ctx, task, p, s->task_busy, p->cpu);
	if (with < base)
		return 1;
	wp_note_candidate(dec, p->cpu, p->util, (u32)p->spare, p->fits, with - base);
	WP_EXPLAIN(ctx, wp_explain_clock_of(ctx, p->cpu));
	if (p->fits > 0 && s->best_fits > 0 && with - base >= s->best_delta) {
		WP_EXPLAIN(ctx, wp_drop(ctx, p->cpu, WP_DROP_MORE_ENERGY));
		return 0;
	}
	WP_EXPLAIN(ctx, wp_drop_rival(ctx, s->best_cpu, p->fits > s->best_fits || p->fits < 0));
	s->best_delta = with - base;
	s->best_cpu = p->cpu;
	s->best_fits = p->fits;
	s->best_capacity = p->capacity;
	return 0;
}

/* What the search came to. */
WP_INLINE int wp_delta_choose(struct wp_decision *dec, u32 prev, const struct wp_delta_search *s)
{
	if (s->best_cpu == WP_NONE)
		return wp_energy_decide(dec, prev, s->prev_usable ? WP_REASON_ENERGY_PREV :
							  WP_REASON_ENERGY_NOTHING_FITS);
	if (s->best_fits > s->prev_fits)
		return wp_energy_decide(dec, s->best_cpu, s->prev_usable ?
						WP_REASON_ENERGY_HINT :
						WP_REASON_ENERGY_PREV_UNFIT);
	if (s->best_fits > 0 && s->best_delta < s->prev_delta)
		return wp_energy_decide(dec, s->best_cpu, WP_REASON_ENERGY_BEST);
	if (s->best_fits < 0 && s->best_capacity > s->prev_capacity)
		return wp_energy_decide(dec, s->best_cpu, WP_REASON_ENERGY_BIGGEST);
	return wp_energy_decide(dec, prev, WP_REASON_ENERGY_PREV);
}

/* Busy time the task adds: its estimate, less what interrupts take of the previous CPU. */
WP_INLINE u32 wp_eenv_task_busy_time(const struct wp_ctx *ctx, const struct wp_task *task, u32 prev)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, prev);
	u32 full = c->load.capacity_orig, est = wp_task_util_est(ctx, task);

	if (c->load.irq_util >= full)
		return full;
	return (u32)wp_div((u64)est * (full - c->load.irq_util), full);
}

/*
 * Returns 1 and fills `dec` if this rule decides, 0 if the normal path must. The caller has
 * checked that the energy model is active and the system not overutilized.
 */
WP_FN int wp_find_energy_efficient_cpu(struct wp_ctx *ctx WP_NONNULL,
				       struct wp_task *task WP_NONNULL, u32 this_cpu, u32 prev,
				       struct wp_decision *dec WP_NONNULL)
{
	struct wp_delta_search s = {
		.dom = wp_energy_dom(ctx, this_cpu, prev,
				     WP_AT(ctx->cpus, this_cpu)->topo.asym_full_level),
		.prev_delta = WP_NO_ENERGY,
		.best_delta = WP_NO_ENERGY,
		.prev_fits = -1,
		.best_fits = -1,
		.best_cpu = WP_NONE,
	};
	u32 i;

	if (s.dom == WP_NONE)
		return 0;
	wp_sync_entity_load_avg(ctx, task);
	if (wp_energy_no_util(ctx, task))
		return wp_energy_decide(dec, prev, WP_REASON_ENERGY_ZERO_UTIL);
	s.task_busy = wp_eenv_task_busy_time(ctx, task, prev);
	WP_FOR(i, ctx->nr_perf_doms, WP_MAX_PERF_DOMS) {
		/* The kernel's list grows at its head: the last domain comes first. */
		struct wp_delta_pd *p = wp_delta_begin(dec, ctx->nr_perf_doms - 1 - i);

		if (wp_delta_visit(ctx, task, prev, &s, p, dec))
			return wp_energy_decide(dec, prev, WP_REASON_ENERGY_UNCLEAR);
	}
	wp_delta_choose(dec, prev, &s);
	WP_EXPLAIN(ctx, wp_drop_loser(ctx, dec, prev, s.prev_usable, s.best_cpu,
				      s.best_fits != s.prev_fits || s.best_fits < 0));
	return 1;
}
