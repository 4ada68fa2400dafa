// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The energy-aware wake-up as of Linux 5.10 (docs/rules/energy-aware.md#energy-5-10). Margin and
 * energy of a state are those of 5.0 (energy_5_0.c). Against it:
 *
 *   hints   count for what fits and for the state that a domain needs, not for the time it is busy
 *   prev    is one of its domain's CPUs: if it has most spare capacity, the domain has no other
 *           candidate
 *   nothing to estimate: the previous CPU, unless the task asks for a performance
 *
 * Natively only.
 *
 * What must stay: domains and CPUs in their order (ties), arithmetic truncated as in 5.0. Free:
 * what is 5.10's alone; the search serves v3 and 5.0 as well.
 *
 * Tests by part: (below crates/policy-sys/tests; `every_fixture_holds` runs the fixtures)
 * fixtures/energy: littles-at-300-5-10.toml (`wp_energy_visit_5_10`, `wp_energy_pick_5_10`,
 * `wp_delta_5_10`, `wp_compute_energy_5_10`), zero-util.toml; all/oracle.rs:
 * `v3_agrees_on_random_states`, `v50_agrees_on_random_states` (`wp_find_energy_efficient_cpu_5_10`,
 * the search of v3 and 5.0).
 *
 * Callers: `wp_select_by_energy` (energy_idle.c) for all forms before 6.1.
 *
 * Kernel: find_energy_efficient_cpu(), compute_energy(), kernel/sched/fair.c, 5.10
 * Tests: fixtures/energy
 */
#include "wakeplace/policy.h"

/* Energy of domain `index` with the task on `dst`, WP_NONE: nowhere. */
WP_FN u64 wp_compute_energy_5_10(const struct wp_ctx *ctx WP_NONNULL, u32 index,
				 const struct wp_task *task WP_NONNULL, u32 dst)
{
	const struct wp_perf_domain *pd = WP_AT(ctx->perf_doms, index);
	u32 i, most = 0, busy = 0;

	WP_FOR(i, pd->nr_cpus, WP_MAX_CPUS) {
		u32 cpu = *WP_AT(ctx->list, pd->first_cpu + i);
		const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
		const struct wp_task *joins = cpu == dst ? task : (const struct wp_task *)0;
		u32 util = wp_cpu_util(ctx, cpu, task, dst, 0);

		if (!c->queue.online)
			continue;
		busy += wp_effective_cpu_util(ctx, c, util).util;
		most = wp_max(most, wp_effective_cpu_util_6_7(ctx, c, util, joins));
	}
	return wp_em_pd_energy_5_0(ctx, index, most, busy);
}

/* A candidate's energy beyond that of its domain without the task, and a note of it. */
WP_INLINE s64 wp_delta_5_10(const struct wp_ctx *ctx, u32 index, const struct wp_task *task,
			    const struct wp_energy_option *option, u64 base,
			    struct wp_decision *dec)
{
	u64 energy = wp_compute_energy_5_10(ctx, index, task, option->cpu) - base;

	wp_note_candidate(dec, option->cpu, option->util, option->spare, 1, energy);
	WP_EXPLAIN(ctx, wp_explain_clock_of(ctx, option->cpu));
	return (s64)energy;
}

/* The CPU with most spare capacity among those that fit, and the previous one if it does. */
WP_FN int wp_energy_pick_5_10(const struct wp_ctx *ctx WP_NONNULL,
			      const struct wp_task *task WP_NONNULL, u32 prev,
			      struct wp_energy_pd *p WP_NONNULL)
{
	const struct wp_perf_domain *pd = WP_AT(ctx->perf_doms, p->index);
	const struct wp_sched_domain *dom = WP_AT(ctx->doms, p->dom);
	struct wp_delta_pd hints = { .hinted = 0 };
	u32 i;

	WP_FOR(i, pd->nr_cpus, WP_MAX_CPUS) {
		u32 cpu = *WP_AT(ctx->list, pd->first_cpu + i);
		struct wp_energy_option option = { .cpu = cpu };

		if (!wp_span_has(dom, cpu) || !wp_allowed(task, cpu)) {
			WP_EXPLAIN(ctx, wp_drop_barred(ctx, dom, cpu));
			continue;
		}
		option.util = wp_cpu_util(ctx, cpu, task, cpu, 0);
		wp_delta_hints(ctx, WP_AT(ctx->cpus, cpu), task, &hints);
		if (wp_util_fits_cpu(ctx, option.util, hints.uclamp_min, hints.uclamp_max,
				     cpu) <= 0) {
			WP_EXPLAIN(ctx, wp_drop(ctx, cpu, WP_DROP_UNFIT));
			continue;
		}
		option.spare =
			(u32)wp_sub(WP_AT(ctx->cpus, cpu)->load.capacity, option.util);
		if (cpu == prev)
			p->prev = option;
		if (option.spare > p->best.spare) {
			WP_EXPLAIN(ctx, wp_drop_pick(ctx, p->best.cpu, 0));
			p->best = option;
		} else {
			WP_EXPLAIN(ctx, wp_drop(ctx, cpu, WP_DROP_LESS_SPARE));
		}
	}
	return 0;
}

/* Look at one performance domain. */
WP_INLINE void wp_energy_visit_5_10(struct wp_ctx *ctx, const struct wp_task *task, u32 prev,
				    struct wp_energy_search *s, struct wp_decision *dec, u32 index)
{
	struct wp_energy_pd p = {
		.index = index, .dom = s->dom, .prev.cpu = WP_NONE, .best.cpu = WP_NONE,
	};
	u64 base = wp_compute_energy_5_10(ctx, index, task, WP_NONE);

	s->base += base;
	wp_energy_pick_5_10(ctx, task, prev, &p);
	if (p.prev.cpu != WP_NONE)
		wp_energy_offer_prev(s, wp_delta_5_10(ctx, index, task, &p.prev, base, dec));
	if (p.best.cpu != WP_NONE && p.best.cpu != prev)
		wp_energy_offer(ctx, s, p.best.cpu,
				wp_delta_5_10(ctx, index, task, &p.best, base, dec));
}

/*
 * The search from v3 to 5.10.
 *
 * Returns 1 and fills `dec` if this rule decides, 0 if the normal path must. The caller has
 * checked that the energy model is active and the system not overutilized.
 */
WP_FN int wp_find_energy_efficient_cpu_5_10(struct wp_ctx *ctx WP_NONNULL,
					   struct wp_task *task WP_NONNULL, u32 this_cpu, u32 prev,
					   struct wp_decision *dec WP_NONNULL)
{
	struct wp_energy_search s = {
		.prev_energy = WP_ENERGY_UNKNOWN,
		.best_energy = WP_ENERGY_UNKNOWN,
		.best_cpu = WP_NONE,
	};
	u32 i, reverse = ctx->params.energy_aware != WP_ENERGY_V3;

	s.dom = wp_energy_dom(ctx, this_cpu, prev, WP_AT(ctx->cpus, this_cpu)->topo.asym_level);
	if (s.dom == WP_NONE && ctx->params.energy_aware != WP_ENERGY_V3)
		return 0;
	wp_sync_entity_load_avg(ctx, task);
	if (!wp_task_util_est(ctx, task) &&
	    (ctx->params.energy_aware != WP_ENERGY_510 || !wp_uclamp_eff_min(ctx, task)))
		return wp_energy_decide(dec, prev, WP_REASON_ENERGY_ZERO_UTIL);
	if (s.dom == WP_NONE)
		return wp_energy_decide(dec, prev, WP_REASON_ENERGY_NO_DOMAIN);

	WP_FOR(i, ctx->nr_perf_doms, WP_MAX_PERF_DOMS) {
		/* 5.0 keeps the domains in a list that grows at its head. */
		u32 index = reverse ? ctx->nr_perf_doms - 1 - i : i;

		if (ctx->params.energy_aware == WP_ENERGY_510)
			wp_energy_visit_5_10(ctx, task, prev, &s, dec, index);
		else
			wp_energy_visit(ctx, task, prev, &s, dec, index);
	}
	wp_energy_of_all(dec, s.base);
	return wp_energy_choose_5_0(ctx, prev, &s, dec);
}
