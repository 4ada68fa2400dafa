// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The energy-aware wake-up in the forms of RFC v3 (2018) and Linux 5.0
 * (docs/rules/energy-aware.md#compute-energy-v3, docs/rules/energy-aware.md#energy-wake-up-v3,
 * docs/rules/energy-aware.md#energy-5-0).
 *
 * Of each performance domain only the CPU with most spare capacity is of interest (it raises the
 * frequency least); these few and the previous CPU are compared by the energy of the whole system:
 *
 *   E(p, dst) = sum over domains: energy of the state that the most demanding CPU needs, for the
 * sum of
 *               all CPUs' utilisation
 *
 * The previous CPU is left only for a saving larger than the margin. Ties keep the previous CPU,
 * then the first candidate. Estimates are in mW, truncated per domain, as the kernel computes them.
 *
 * Kernel: find_energy_efficient_cpu(), compute_energy(), kernel/sched/fair.c, 5.0; em_pd_energy(),
 *         include/linux/energy_model.h, 5.0
 * Tests: fixtures/energy, all/oracle.rs
 */
#include "wakeplace/policy.h"

/* Energy of one domain for its highest and summed utilisation. */
WP_INLINE u64 wp_em_pd_energy_5_0(const struct wp_ctx *ctx, const struct wp_perf_domain *pd,
				  u32 max_util, u32 sum_util)
{
	const struct wp_em_perf_table *t = wp_em_perf_table(pd);
	u32 i, khz, top = t->nr_states - 1;
	const struct wp_em_perf_state *s = WP_AT(t->state, top);

	if (!sum_util)
		return 0;
	khz = wp_map_freq(max_util, t->max_khz, pd->capacity);
	WP_FOR(i, t->nr_states, WP_MAX_STATES) {
		if (WP_AT(t->state, i)->khz >= khz) {
			s = WP_AT(t->state, i);
			break;
		}
	}
	if (ctx->params.energy_aware == WP_ENERGY_V3)
		return wp_div((u64)(s->power_uw / 1000) * sum_util, s->performance);
	return wp_div((u64)s->cost_mw * sum_util, pd->capacity);
}

/* Energy of performance domain `index` with the task on `dst` (anywhere else: WP_NONE). */
WP_FN u64 wp_compute_energy_5_0(struct wp_ctx *ctx WP_NONNULL, u32 index,
				const struct wp_task *task WP_NONNULL, u32 dst)
{
	const struct wp_perf_domain *pd = WP_AT(ctx->perf_doms, index);
	u32 i, max_util = 0, sum_util = 0;

	WP_FOR(i, pd->nr_cpus, WP_MAX_CPUS) {
		u32 cpu = *WP_AT(ctx->list, pd->first_cpu + i);
		const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
		u32 util;

		if (!c->queue.online)
			continue;
		util = wp_cpu_util(ctx, cpu, task, dst, 0) + c->load.dl_util;
		max_util = wp_max(max_util, util);
		sum_util += util;
	}
	return wp_em_pd_energy_5_0(ctx, pd, max_util, sum_util);
}

/* Energy of every domain without the task, once per wake-up; candidates change one domain each. */
WP_INLINE u64 wp_energy_base(struct wp_ctx *ctx, const struct wp_task *task,
			     struct wp_decision *dec)
{
	u64 total = 0;
	u32 i;

	WP_FOR(i, ctx->nr_perf_doms, WP_MAX_PERF_DOMS) {
		u64 e = wp_compute_energy_5_0(ctx, i, task, WP_NONE);

		*WP_AT(dec->energy_without, i) = e;
		total += e;
	}
	return total;
}

WP_INLINE u64 wp_energy_on(struct wp_ctx *ctx, u64 base, const struct wp_task *task, u32 cpu,
			   struct wp_decision *dec)
{
	u32 pd = WP_AT(ctx->cpus, cpu)->topo.perf_dom;

	return base - *WP_AT(dec->energy_without, pd) + wp_compute_energy_5_0(ctx, pd, task, cpu);
}

struct wp_energy_search {
	u64 base;
	u64 prev_energy;
	u64 best_energy;
	u32 best_cpu;
	u32 dom;
};

/* Look at one performance domain: the previous CPU if it is here, and the CPU with most spare
 * capacity. */
WP_INLINE void wp_energy_visit(struct wp_ctx *ctx, const struct wp_task *task, u32 prev,
			       struct wp_energy_search *s, struct wp_decision *dec, u32 index)
{
	const struct wp_perf_domain *pd = WP_AT(ctx->perf_doms, index);
	const struct wp_sched_domain *dom = WP_AT(ctx->doms, s->dom);
	u32 i, spare_max = 0, spare_cpu = WP_NONE, spare_util = 0;
	u64 energy;

	WP_FOR(i, pd->nr_cpus, WP_MAX_CPUS) {
		u32 cpu = *WP_AT(ctx->list, pd->first_cpu + i);
		const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
		u32 util;

		if (!c->queue.online || !wp_span_has(dom, cpu) || !wp_allowed(task, cpu)) {
			WP_EXPLAIN(ctx, wp_drop_barred(ctx, dom, cpu));
			continue;
		}
		util = wp_cpu_util(ctx, cpu, task, cpu, 0);
		if (wp_unfit(util, c->load.capacity)) {
			WP_EXPLAIN(ctx, wp_drop(ctx, cpu, WP_DROP_UNFIT));
			continue;
		}
		if (cpu == prev) {
			s->prev_energy = wp_energy_on(ctx, s->base, task, cpu, dec);
			s->best_energy = wp_min64(s->best_energy, s->prev_energy);
			wp_note_candidate(dec, cpu, util, c->load.capacity - util, 1,
					  s->prev_energy);
		} else if (c->load.capacity > util && c->load.capacity - util > spare_max) {
			WP_EXPLAIN(ctx, wp_drop_pick(ctx, spare_cpu, 0));
			spare_max = c->load.capacity - util;
			spare_cpu = cpu;
			spare_util = util;
		} else {
			WP_EXPLAIN(ctx, wp_drop(ctx, cpu, WP_DROP_LESS_SPARE));
		}
	}
	if (spare_cpu == WP_NONE)
		return;
	energy = wp_energy_on(ctx, s->base, task, spare_cpu, dec);
	wp_note_candidate(dec, spare_cpu, spare_util, spare_max, 1, energy);
	WP_EXPLAIN(ctx, wp_drop_rival(ctx, energy < s->best_energy ? s->best_cpu : spare_cpu, 0));
	if (energy < s->best_energy) {
		s->best_energy = energy;
		s->best_cpu = spare_cpu;
	}
}

/*
 * Returns 1 and fills `dec` if this rule decides, 0 if the normal path must. The caller has
 * checked that the energy model is active and the system not overutilized.
 */
WP_FN int wp_find_energy_efficient_cpu_5_0(struct wp_ctx *ctx WP_NONNULL,
					   struct wp_task *task WP_NONNULL, u32 this_cpu, u32 prev,
					   struct wp_decision *dec WP_NONNULL)
{
	struct wp_energy_search s = {
		.prev_energy = WP_NO_ENERGY,
		.best_energy = WP_NO_ENERGY,
		.best_cpu = WP_NONE,
	};
	u32 i, reverse = ctx->params.energy_aware != WP_ENERGY_V3;

	s.dom = wp_energy_dom(ctx, this_cpu, prev, WP_AT(ctx->cpus, this_cpu)->topo.asym_level);
	if (s.dom == WP_NONE && ctx->params.energy_aware != WP_ENERGY_V3)
		return 0;
	wp_sync_entity_load_avg(ctx, task);
	if (!wp_task_util_est(ctx, task))
		return wp_energy_decide(dec, prev, WP_REASON_ENERGY_ZERO_UTIL);
	if (s.dom == WP_NONE)
		return wp_energy_decide(dec, prev, WP_REASON_ENERGY_NO_DOMAIN);

	s.base = wp_energy_base(ctx, task, dec);
	WP_FOR(i, ctx->nr_perf_doms, WP_MAX_PERF_DOMS) {
		/* 5.0 keeps the domains in a list that grows at its head. */
		u32 index = reverse ? ctx->nr_perf_doms - 1 - i : i;

		wp_energy_visit(ctx, task, prev, &s, dec, index);
	}
	if (s.prev_energy == WP_NO_ENERGY) {
		if (s.best_cpu == WP_NONE)
			return wp_energy_decide(dec, prev, WP_REASON_ENERGY_NOTHING_FITS);
		return wp_energy_decide(dec, s.best_cpu, WP_REASON_ENERGY_PREV_UNFIT);
	}
	if (s.best_cpu != WP_NONE &&
	    s.prev_energy - s.best_energy > s.prev_energy >> ctx->params.energy_margin_shift) {
		WP_EXPLAIN(ctx, wp_drop(ctx, prev, WP_DROP_MORE_ENERGY));
		return wp_energy_decide(dec, s.best_cpu, WP_REASON_ENERGY_BEST);
	}
	if (s.best_cpu != WP_NONE)
		WP_EXPLAIN(ctx, wp_drop(ctx, s.best_cpu, WP_DROP_MARGIN));
	return wp_energy_decide(dec, prev, WP_REASON_ENERGY_PREV);
}
