// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * CPUs that leave and come back (docs/rules/domains.md#domain-groups;
 * docs/rules/hotplug.md#hotplug): where a task goes whose CPU is gone, and what is forgotten when
 * the domains are built anew. Not in the live build: there the kernel moves the tasks, and the
 * loader rebuilds.
 *
 * What must stay: a task always gets a CPU that is online, and what is forgotten is only what came
 * of the old domains. Free: what else is forgotten, with docs/rules/hotplug.md#hotplug.
 *
 * Tests by part: (below crates/policy-sys/tests) all/hotplug.rs:
 * `a_task_stays_in_its_node_if_it_can` (`wp_select_fallback_rq`, `wp_node_level`),
 * `signals_stay_and_lessons_go` (`wp_domains_rebuilt`, `wp_forget_balancing`),
 * `nobody_owns_balancing_after_a_rebuild`, `domains_are_of_the_cpus_that_are_there`,
 * `clocks_follow_who_is_there`.
 *
 * Callers: crates/policy-sys/src/hotplug.rs.
 *
 * Kernel: select_fallback_rq(), kernel/sched/core.c
 * Tests: all/hotplug.rs
 */
#include "wakeplace/policy.h"

/* The level whose groups are NUMA nodes: the last one below the distances. WP_NONE: there is one
 * node, or each CPU is one, and none other is of it. */
WP_INLINE u32 wp_node_level(const struct wp_ctx *ctx)
{
	u32 level;

	WP_FOR(level, ctx->nr_topo_levels, WP_MAX_LEVELS) {
		if (WP_AT(ctx->topo, level)->flags & WP_SD_NUMA)
			return level ? level - 1 : WP_NONE;
	}
	return WP_NONE;
}

/*
 * Where a task goes that cannot be on `cpu`, since that is not online: the lowest CPU it may use of
 * the same node, else the lowest of all. WP_NONE: none of those it may use is online.
 */
WP_FN u32 wp_select_fallback_rq(const struct wp_ctx *ctx WP_NONNULL,
				const struct wp_task *task WP_NONNULL, u32 cpu)
{
	u32 i, level = wp_node_level(ctx), far = WP_NONE;

	WP_FOR(i, ctx->nr_cpus, WP_MAX_CPUS) {
		if (!WP_AT(ctx->cpus, i)->queue.online || !wp_allowed(task, i))
			continue;
		if (level == WP_NONE || wp_label(ctx, level, i) == wp_label(ctx, level, cpu))
			return i;
		if (far == WP_NONE)
			far = i;
	}
	return far;
}

/* What a CPU remembers of balancing ended with its domains: it begins now, as at the start. */
WP_INLINE void wp_forget_balancing(struct wp_ctx *ctx, struct wp_cpu *c, u64 tick)
{
	struct wp_lb zero = { 0 };
	u32 level;

	WP_FOR(level, WP_MAX_LEVELS, WP_MAX_LEVELS) {
		struct wp_lb *lb = WP_AT(c->balance.lb, level);

		*lb = zero;
		if (level >= c->topo.nr_levels)
			continue;
		wp_lb_init(lb, WP_AT(ctx->doms, *WP_AT(c->topo.dom, level)));
		lb->last_balance_tick = tick;
		lb->next_cost_decay_tick = tick;
	}
}

/*
 * The domains were built anew, after a CPU came or went. With the old ones went what balancing and
 * the idle searches had learnt, and the marks of the root domain. Signals, clocks and what a CPU
 * knows of its own idle times stay; so does which ticks are stopped.
 */
WP_FN int wp_domains_rebuilt(struct wp_ctx *ctx WP_NONNULL, u64 now_ns)
{
	u64 tick = wp_div(now_ns, ctx->tick_ns);
	u32 i;

	ctx->overload = 0;
	ctx->overutilized = 0;
	ctx->serial_tick = 0;
	ctx->nohz_owner = 0; /* 3.1: found anew, as are those who kick */
	ctx->nohz_first_pick = 0;
	ctx->nohz_second_pick = 0;
	WP_FOR(i, ctx->nr_cpus, WP_MAX_CPUS) {
		struct wp_cpu *c = WP_AT(ctx->cpus, i);

		wp_forget_balancing(ctx, c, tick);
		c->idle.ilb = c->queue.online ? c->idle.ilb : 0;
		c->idle.nr_idle_scan = 0;
		c->idle.has_idle_cores = 0;
		c->idle.nr_busy_cpus = c->topo.llc_size;
	}
	WP_FOR(i, ctx->nr_cpus, WP_MAX_CPUS) {
		const struct wp_cpu *c = WP_AT(ctx->cpus, i);

		if (wp_in_nohz(ctx, i))
			WP_AT(ctx->cpus, c->topo.llc_id)->idle.nr_busy_cpus--;
	}
#ifdef WP_SCHED_CACHE
	wp_sched_cache_domains(ctx);
#endif
	wp_mc_rebuilt(ctx, now_ns);
	WP_FOR(i, ctx->nr_groups, WP_MAX_GROUPS) {
		struct wp_sched_group *g = WP_AT(ctx->groups, i);

		g->imbalanced = 0;
		wp_update_group_capacity(ctx, g);
	}
	return 0;
}
