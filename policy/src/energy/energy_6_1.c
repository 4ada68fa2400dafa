// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What a domain's energy is estimated to in 6.1 (docs/rules/energy-aware.md#em-cpu-energy, column
 * 6.1). The search around it is that of energy_delta.c. Against 6.12:
 *
 *   demand    the most demanding CPU's, bounded by hints, then with 25 % on top of all of it
 *   state     by frequency, as the governor chooses it, not by performance
 *   energy    cost * busy time / capacity, the cost per work at the top frequency
 *
 * Natively only.
 *
 * What must stay: it changes estimates alone; the search is shared, so both forms must answer its
 * questions. Free: the estimate, for that form alone; the independent evaluation in the
 * oracle stays as it is.
 *
 * Tests by part: (below crates/policy-sys/tests; `every_fixture_holds` runs the fixtures)
 * fixtures/energy: documentation-6-1.toml, littles-at-300-6-1.toml, idle-system-6-1.toml,
 * no-boost-6-1.toml; all/energy_7_3_oracle.rs: `v61_agrees_on_random_states`
 * (`wp_em_cpu_energy_6_1`, `wp_eenv_pd_max_util_6_1`).
 *
 * Callers: `wp_compute_energy` (energy_delta.c).
 *
 * Kernel: eenv_pd_max_util(), kernel/sched/fair.c, 6.1; em_cpu_energy(),
 *         include/linux/energy_model.h, 6.1
 * Tests: fixtures/energy, all/energy_7_3_oracle.rs
 */
#include "wakeplace/policy.h"

/* The highest demand of a domain's CPUs with the task on `dst`, WP_NONE: nowhere. */
WP_FN u32 wp_eenv_pd_max_util_6_1(const struct wp_ctx *ctx WP_NONNULL, u32 index,
				  const struct wp_task *task WP_NONNULL, u32 dst)
{
	const struct wp_perf_domain *pd = WP_AT(ctx->perf_doms, index);
	u32 i, most = 0;

	WP_FOR(i, pd->nr_cpus, WP_MAX_CPUS) {
		u32 cpu = *WP_AT(ctx->list, pd->first_cpu + i);
		const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
		u32 util = wp_cpu_util(ctx, cpu, task, dst, ctx->params.runnable_boost);

		if (!c->queue.online)
			continue;
		util = cpu == dst
			       ? wp_effective_cpu_util_6_7(ctx, c, util, task)
			       : wp_effective_cpu_util_6_7(ctx, c, util, (const struct wp_task *)0);
		most = wp_max(most, util);
	}
	return most;
}

/* Energy of the domain, busy for `busy`; `allowed`: what limits leave of one CPU's capacity. */
WP_INLINE u64 wp_em_cpu_energy_6_1(const struct wp_ctx *ctx, u32 index, const struct wp_task *task,
				   u32 dst, u32 busy, u32 allowed)
{
	const struct wp_perf_domain *pd = WP_AT(ctx->perf_doms, index);
	const struct wp_em_perf_table *t = wp_em_perf_table(pd);
	u32 i, state = t->nr_states - 1, khz, util;

	WP_EXPLAIN(ctx, wp_explain_clock(ctx, 0));
	if (!busy)
		return 0;
	util = wp_min(allowed, wp_eenv_pd_max_util_6_1(ctx, index, task, dst));
	util = wp_min(allowed, util + (util >> 2));
	khz = (u32)wp_div((u64)t->max_khz * util, pd->capacity);
	WP_FOR(i, t->nr_states, WP_MAX_STATES) {
		const struct wp_em_perf_state *s = WP_AT(t->state, i);

		if (s->khz >= khz && !s->inefficient) {
			state = i;
			break;
		}
	}
	WP_EXPLAIN(ctx, wp_explain_clock(ctx, WP_AT(t->state, state)->khz));
	return wp_div(wp_em_cost_61(t, WP_AT(t->state, state)) * busy, pd->capacity);
}
