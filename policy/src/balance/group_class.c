// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * How busy a group of CPUs is: one class and a few sums, the same for balancing and for the slow
 * path (docs/rules/balancing.md#group-class; the form since 5.5). A higher class is busier:
 *
 *   has_spare < fully_busy < misfit < smt_balance < asym_packing < imbalanced < llc_balance
 *   < overloaded
 *
 * A caller clears the sums, adds the group's CPUs, sets what only it knows (misfit, smt_balance,
 * asym_packing, llc_balance) and closes them.
 *
 * What must stay: the order of classes; idlest_class.c uses the same. Free: how sums are kept
 * (kept_sums.c adds the same); classes only with the page.
 *
 * Tests by part: (below crates/policy-sys/tests; `every_fixture_holds` runs the fixtures)
 * all/balance_7_3.rs: `group_classes` (`wp_group_is_overloaded`, `wp_group_has_capacity`,
 * `wp_sums_clear`, `wp_sums_add`, `wp_sums_close`), `class_test_order` (`wp_group_classify`),
 * `numa_imbalance` (`wp_adjust_numa_imbalance`); all/slow_7_3.rs: `exactly_full_is_fully_busy`,
 * `numa_keeps_small_groups_together`; fixtures/balance: class-*.toml, smt-balance-class.toml,
 * overloaded-with-energy-*.toml and fixtures/fork: overloaded-with-energy-*.toml
 * (`wp_may_be_overloaded`).
 *
 * Callers: busiest.c and imbalance.c; idlest_class.c (the slow path).
 *
 * Kernel: group_classify(), group_is_overloaded(), group_has_capacity(), adjust_numa_imbalance(),
 *         kernel/sched/fair.c
 * Tests: fixtures/balance, fixtures/fork, all/balance_7_3.rs
 */
#include "wakeplace/policy.h"

/* More tasks than CPUs and, within the margin, more demand than capacity. */
WP_INLINE int wp_group_is_overloaded(const struct wp_sg_lb_stats *s, u32 pct)
{
	if (s->nr_running <= s->weight)
		return 0;
	return (u64)s->capacity * 100 < s->util * pct || (u64)s->capacity * pct < s->runnable * 100;
}

/* A CPU without a task, or demand that leaves the margin free. */
WP_INLINE int wp_group_has_capacity(const struct wp_sg_lb_stats *s, u32 pct)
{
	if (s->nr_running < s->weight)
		return 1;
	return (u64)s->capacity * pct >= s->runnable * 100 &&
	       (u64)s->capacity * 100 > s->util * pct;
}

/*
 * May a group be overloaded at all, with such a CPU or without one? By overloaded_if_overutilized
 * not without, where energy-aware placement is on (docs/rules/balancing.md#overloaded-with-energy).
 */
WP_INLINE u32 wp_may_be_overloaded(const struct wp_ctx *ctx, u32 overutilized)
{
	return overutilized || !ctx->energy_active ||
	       !ctx->params.overloaded_if_overutilized;
}

/*
 * The class of closed sums; `may`: it may be overloaded; `imbalanced`: a pull from the group failed
 * because of affinity.
 */
WP_INLINE u32 wp_group_classify(const struct wp_sg_lb_stats *s, u32 may, u32 imbalanced, u32 pct)
{
	if (may && wp_group_is_overloaded(s, pct))
		return WP_GROUP_OVERLOADED;
	if (s->llc_balance)
		return WP_GROUP_LLC_BALANCE;
	if (imbalanced)
		return WP_GROUP_IMBALANCED;
	if (s->asym_packing)
		return WP_GROUP_ASYM_PACKING;
	if (s->smt_balance)
		return WP_GROUP_SMT_BALANCE;
	if (s->misfit)
		return WP_GROUP_MISFIT_TASK;
	return wp_group_has_capacity(s, pct) ? WP_GROUP_HAS_SPARE : WP_GROUP_FULLY_BUSY;
}

/* Before the first CPU of a group. */
WP_INLINE void wp_sums_clear(struct wp_sg_lb_stats *s)
{
	struct wp_sg_lb_stats zero = {0};

	*s = zero;
}

/* Add one CPU as it is: balancing's view. */
WP_INLINE void wp_sums_add(const struct wp_ctx *ctx, struct wp_sg_lb_stats *s, u32 cpu)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);

	s->load += c->load.avg.load_avg;
	s->runnable += c->load.avg.runnable_avg;
	s->util += wp_cpu_util_cfs(ctx, c);
	s->nr_running += c->queue.nr_running;
	s->nr_fair += c->queue.nr_fair;
	s->idle_cpus += !c->queue.nr_running && wp_cpu_idle(c);
}

/* Capacities are those of the last refresh by balancing. The average load is always there. */
WP_INLINE void wp_sums_close(struct wp_sg_lb_stats *s, const struct wp_sched_group *g, u32 may,
			     u32 pct)
{
	s->capacity = g->capacity;
	s->min_capacity = g->min_capacity;
	s->max_capacity = g->max_capacity;
	s->weight = g->nr_cpus;
	s->avg_load = wp_div(s->load * WP_SCALE, s->capacity);
	s->group_type = wp_group_classify(s, may, g->imbalanced, pct);
}

/*
 * How much of an imbalance of `n` tasks or CPUs between two nodes counts: none while few tasks run
 * where they would go, so that pairs stay together (6.7).
 */
WP_INLINE u32 wp_adjust_numa_imbalance(u32 n, u32 running, u32 limit)
{
	if (running > limit)
		return n;
	return n <= 2 ? 0 : n;
}
