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
 *               sum of all CPUs' utilisation
 *
 * What of other classes counts as utilisation differs: v3 adds deadline tasks, 5.0 all of them.
 *
 * The previous CPU is left only for a saving larger than the margin. Ties keep the previous CPU,
 * then the first candidate. Estimates are in mW, truncated per domain, as the kernel computes them.
 *
 * The search over all domains is wp_find_energy_efficient_cpu_5_10() (energy_5_10.c).
 *
 * What must stay: the order of domains and CPUs (ties), and the truncation of each domain's
 * estimate; an oracle written apart (tests/all/oracle) has the same rule. Free: the two
 * forms; the oracle stays written apart.
 *
 * Tests by part: (below crates/policy-sys/tests; `every_fixture_holds` runs the fixtures)
 * all/energy_vectors.rs: `eas_vector_rows` (`wp_energy_visit`, `wp_energy_on`,
 * `wp_em_pd_energy_5_0`), `margin` (`wp_energy_choose_5_0`), `real_time_counts_since_5_0`
 * (`wp_energy_demand_5_0`), `equal_cpus_of_one_domain` (`wp_energy_pick_5_0`); all/oracle.rs:
 * `v3_agrees_on_random_states`, `v50_agrees_on_random_states` (`wp_energy_offer`,
 * `wp_energy_offer_prev`, `wp_energy_of_all`); fixtures/energy: littles-at-300-5-10.toml
 * (`wp_em_cost_5_10`).
 *
 * Callers: `wp_find_energy_efficient_cpu_5_10` (energy_5_10.c), which has the search.
 *
 * Kernel: compute_energy() as wp_energy_on(), kernel/sched/fair.c, 5.0; em_pd_energy(),
 *         include/linux/energy_model.h, 5.0
 * Tests: fixtures/energy, all/oracle.rs
 */
#include "wakeplace/policy.h"

/* Cost per work at the top frequency: powers in mW, their quotient a thousand times as fine. */
WP_INLINE u64 wp_em_cost_5_10(const struct wp_em_perf_table *t, const struct wp_em_perf_state *s)
{
	return wp_div((u64)t->max_khz * (s->power_uw / 1000 * 1000), s->khz);
}

/* Energy of domain `index` for its highest and summed utilisation. */
WP_FN u64 wp_em_pd_energy_5_0(const struct wp_ctx *ctx WP_NONNULL, u32 index, u32 max_util,
			      u32 sum_util)
{
	const struct wp_perf_domain *pd = WP_AT(ctx->perf_doms, index);
	const struct wp_em_perf_table *t = wp_em_perf_table(pd);
	u32 i, khz, top = t->nr_states - 1;
	const struct wp_em_perf_state *s = WP_AT(t->state, top);

	WP_EXPLAIN(ctx, wp_explain_clock(ctx, 0));
	if (!sum_util)
		return 0;
	khz = wp_map_freq(max_util, t->max_khz, pd->capacity);
	WP_FOR(i, t->nr_states, WP_MAX_STATES) {
		if (WP_AT(t->state, i)->khz >= khz) {
			s = WP_AT(t->state, i);
			break;
		}
	}
	WP_EXPLAIN(ctx, wp_explain_clock(ctx, s->khz));
	if (ctx->params.energy_aware == WP_ENERGY_V3)
		return wp_div((u64)(s->power_uw / 1000) * sum_util, s->performance);
	if (ctx->params.energy_aware == WP_ENERGY_510)
		return wp_div(wp_em_cost_5_10(t, s) * sum_util, pd->capacity);
	return wp_div((u64)s->cost_mw * sum_util, pd->capacity);
}

/*
 * What a CPU whose fair tasks show `fair` needs. v3 counts deadline tasks beside them and nothing
 * else (docs/rules/energy-aware.md#compute-energy-v3). 5.0 asks schedutil's function for the time
 * that the CPU will be busy (ENERGY_UTIL): with RT, deadline and interrupt time. Both the state and
 * the busy time follow from it. That a runnable RT task gets the highest frequency is no part of it
 * (docs/rules/energy-aware.md#energy-5-0).
 */
WP_INLINE u32 wp_energy_demand_5_0(const struct wp_ctx *ctx, const struct wp_cpu *c, u32 fair)
{
	if (ctx->params.energy_aware == WP_ENERGY_V3)
		return fair + c->load.dl_util;
	return wp_effective_cpu_util(ctx, c, fair).util;
}

/* A CPU that may take the task. */
struct wp_energy_option {
	u32 cpu; /* WP_NONE: there is none */
	u32 util; /* with the task on it */
	u32 spare;
	u32 demand; /* util with what other classes need */
	u32 added;  /* ... and how much of it is the task's */
};

/* One performance domain during a search: its CPUs are walked once. */
struct wp_energy_pd {
	u32 index;
	u32 dom;      /* CPUs outside this sched domain are no option */
	u32 max_util; /* without the task */
	u32 sum_util;
	struct wp_energy_option prev;
	struct wp_energy_option best; /* with most spare capacity */
};

/* The whole search. Energies are of all domains, less that of all without the task. */
struct wp_energy_search {
	u64 base; /* that one */
	s64 prev_energy;
	s64 best_energy;
	u32 prev_usable;
	u32 best_cpu;
	u32 dom;
};

#define WP_ENERGY_UNKNOWN ((s64)(~0ull >> 1))

/* The previous CPU if it is here, the CPU with most spare capacity, and what all demand. */
WP_FN int wp_energy_pick_5_0(const struct wp_ctx *ctx WP_NONNULL,
			     const struct wp_task *task WP_NONNULL, u32 prev,
			     struct wp_energy_pd *p WP_NONNULL)
{
	const struct wp_perf_domain *pd = WP_AT(ctx->perf_doms, p->index);
	const struct wp_sched_domain *dom = WP_AT(ctx->doms, p->dom);
	u32 i;

	WP_FOR(i, pd->nr_cpus, WP_MAX_CPUS) {
		u32 cpu = *WP_AT(ctx->list, pd->first_cpu + i);
		const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
		struct wp_energy_option option = { .cpu = cpu };
		struct wp_util_pair u;
		u32 without;

		if (!c->queue.online) {
			WP_EXPLAIN(ctx, wp_drop_barred(ctx, dom, cpu));
			continue;
		}
		u = wp_cpu_util_pair(ctx, cpu, task, 0);
		without = wp_energy_demand_5_0(ctx, c, u.without);
		p->max_util = wp_max(p->max_util, without);
		p->sum_util += without;
		if (!wp_span_has(dom, cpu) || !wp_allowed(task, cpu)) {
			WP_EXPLAIN(ctx, wp_drop_barred(ctx, dom, cpu));
			continue;
		}
		if (wp_unfit(u.with, c->load.capacity)) {
			WP_EXPLAIN(ctx, wp_drop(ctx, cpu, WP_DROP_UNFIT));
			continue;
		}
		option.util = u.with;
		option.spare = c->load.capacity - u.with;
		option.demand = wp_energy_demand_5_0(ctx, c, u.with);
		option.added = option.demand - without;
		if (cpu == prev) {
			p->prev = option;
		} else if (c->load.capacity > u.with && option.spare > p->best.spare) {
			WP_EXPLAIN(ctx, wp_drop_pick(ctx, p->best.cpu, 0));
			p->best = option;
		} else {
			WP_EXPLAIN(ctx, wp_drop(ctx, cpu, WP_DROP_LESS_SPARE));
		}
	}
	return 0;
}

/* What the domain takes more with the task on a CPU of it than without, and a note of it. */
WP_INLINE s64 wp_energy_on(const struct wp_ctx *ctx, const struct wp_energy_pd *p,
			   const struct wp_energy_option *option, u64 base, struct wp_decision *dec)
{
	u64 energy = wp_em_pd_energy_5_0(ctx, p->index, wp_max(p->max_util, option->demand),
					 p->sum_util + option->added) -
		     base;

	wp_note_candidate(dec, option->cpu, option->util, option->spare, 1, energy);
	WP_EXPLAIN(ctx, wp_explain_clock_of(ctx, option->cpu));
	return (s64)energy;
}

/* The previous CPU is an option: it costs so much. */
WP_INLINE void wp_energy_offer_prev(struct wp_energy_search *s, s64 energy)
{
	s->prev_usable = 1;
	s->prev_energy = energy;
	if (energy < s->best_energy)
		s->best_energy = energy;
}

/* Another CPU is one: the cheaper one of it and what was offered before stays. */
WP_INLINE void wp_energy_offer(struct wp_ctx *ctx, struct wp_energy_search *s, u32 cpu, s64 energy)
{
	WP_EXPLAIN(ctx, wp_drop_rival(ctx, energy < s->best_energy ? s->best_cpu : cpu, 0));
	if (energy < s->best_energy) {
		s->best_energy = energy;
		s->best_cpu = cpu;
	}
}

/* Look at one performance domain. */
WP_INLINE void wp_energy_visit(struct wp_ctx *ctx, const struct wp_task *task, u32 prev,
			       struct wp_energy_search *s, struct wp_decision *dec, u32 index)
{
	struct wp_energy_pd p = {
		.index = index, .dom = s->dom, .prev.cpu = WP_NONE, .best.cpu = WP_NONE,
	};
	u64 base;

	wp_energy_pick_5_0(ctx, task, prev, &p);
	base = wp_em_pd_energy_5_0(ctx, index, p.max_util, p.sum_util);
	s->base += base;
	if (p.prev.cpu != WP_NONE)
		wp_energy_offer_prev(s, wp_energy_on(ctx, &p, &p.prev, base, dec));
	if (p.best.cpu != WP_NONE)
		wp_energy_offer(ctx, s, p.best.cpu, wp_energy_on(ctx, &p, &p.best, base, dec));
}

/* What was noted of candidates is of all domains from now on. */
WP_INLINE void wp_energy_of_all(struct wp_decision *dec, u64 base)
{
	u32 i;

	WP_FOR(i, dec->nr_candidates, WP_MAX_CANDIDATES) {
		WP_AT(dec->candidate, i)->energy += base;
	}
}

/* What the search came to: the previous CPU is left only for a saving beyond the margin. */
WP_INLINE int wp_energy_choose_5_0(const struct wp_ctx *ctx, u32 prev,
				   const struct wp_energy_search *s, struct wp_decision *dec)
{
	u64 margin = (s->base + (u64)s->prev_energy) >> ctx->params.energy_margin_shift;

	if (!s->prev_usable) {
		if (s->best_cpu == WP_NONE)
			return wp_energy_decide(dec, prev, WP_REASON_ENERGY_NOTHING_FITS);
		return wp_energy_decide(dec, s->best_cpu, WP_REASON_ENERGY_PREV_UNFIT);
	}
	if (s->best_cpu != WP_NONE && (u64)(s->prev_energy - s->best_energy) > margin) {
		WP_EXPLAIN(ctx, wp_drop(ctx, prev, WP_DROP_MORE_ENERGY));
		return wp_energy_decide(dec, s->best_cpu, WP_REASON_ENERGY_BEST);
	}
	if (s->best_cpu != WP_NONE)
		WP_EXPLAIN(ctx, wp_drop(ctx, s->best_cpu, WP_DROP_MARGIN));
	return wp_energy_decide(dec, prev, WP_REASON_ENERGY_PREV);
}
