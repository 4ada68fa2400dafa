// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Domain tables of 3.x (docs/rules/linux-3-8.md#domains-3-8, docs/rules/sched-mc.md#levels-3-1).
 * Natively only; runs before the first event.
 *
 *   level  shares  intervals ms        busy  pct  idx busy/idle  tries  siblings spread
 *   SMT    core    1, 2                64    110  0/0            0      no
 *   MC     cache   1, 4                64    125  2/0            1      3.1 only
 *   CPU    3.1: (c) 1, 4                64    125  2/1            1      yes
 *   NUMA   -       weight, 2 x weight  32    125  3/2            2      no
 *
 * power_level_fewer (docs/rules/power-policy.md#power-placement-cleanup,
 * docs/rules/power-policy.md#p1-domain-level) spreads siblings over caches, too: a CPU level over
 * one cache then says nothing new and goes.
 *
 * (c): 3.1 takes the CPU level for one that shares a cache; only its idle search is misled here.
 * 3.1 has two levels over nodes: NODE (8, 32) and ALLNODES (64, 64 x CPUs). The indices of
 * new-idle, wake-up and fork are 0 in every row; every level balances forks, execs and new-idle
 * CPUs and wakes affine, but not between nodes far from each other. What the rules leave open:
 * docs/rules/linux-3-1-to-4-7.md#early-domains.
 *
 * What must stay: eras of 3.x alone use it. Free: the tables, for those eras alone.
 *
 * Tests by part: (below crates/policy-sys/tests; `every_fixture_holds` runs the fixtures)
 * fixtures/topology: 3-8-*.toml (`wp_sd_init_3_9`, `wp_domains_3x`, `wp_intervals`),
 * 3-1-nodes.toml, 3-8-threads-and-nodes.toml (`wp_node_tunables`),
 * 3-8-one-cache-keeps-the-cpu-level.toml (`wp_adds_nothing_3x`), 3-8-no-clusters.toml,
 * 4-7-no-clusters.toml (`wp_level_known`); all/early_eras.rs: `the_cpu_level_needs_room`
 * (`wp_cpu_level_missing`); all/power_policy.rs: `one_level_less` (power_level_fewer).
 *
 * Callers: topology.c.
 *
 * Kernel: sd_init_CPU() as wp_sd_init_3_9(), kernel/sched/core.c
 * Tests: fixtures/topology, all/early_eras.rs
 */
#include "wakeplace/policy.h"

/* Has the era the domain tables of 3.x? */
WP_INLINE int wp_domains_3x(const struct wp_ctx *ctx)
{
	return ctx->params.domain_form >= WP_DOMAINS_38;
}

/* Is the level known to the era? Clusters are since 5.16. */
WP_INLINE int wp_level_known(const struct wp_ctx *ctx, u32 level)
{
	return ctx->params.domain_form == WP_DOMAINS_516 ||
	       !(WP_AT(ctx->topo, level)->flags & WP_SD_CLUSTER);
}

/* Least and longest interval, ms. */
WP_INLINE void wp_intervals(struct wp_sched_domain *dom, u32 min_ms, u32 max_ms)
{
	dom->min_interval_ms = min_ms;
	dom->max_interval_ms = max_ms;
}

/* What domains above nodes have otherwise. */
WP_INLINE void wp_node_tunables(const struct wp_ctx *ctx, struct wp_sched_domain *dom, u32 below)
{
	dom->cache_nice_tries = 2;
	dom->busy_idx = 3;
	dom->idle_idx = 2;
	dom->busy_factor = 32;
	if (wp_level_is_far(ctx, dom->topo_level))
		dom->flags &= ~(u32)(WP_SD_BALANCE_FORK | WP_SD_BALANCE_EXEC |
				     WP_SD_BALANCE_NEWIDLE | WP_SD_WAKE_AFFINE);
	if (ctx->params.domain_form == WP_DOMAINS_38)
		wp_intervals(dom, dom->nr_cpus, 2 * dom->nr_cpus);
	else if (below == WP_NONE || !(WP_AT(ctx->doms, below)->flags & WP_SD_NUMA))
		wp_intervals(dom, 8, 32);
	else
		wp_intervals(dom, 64, 64 * ctx->nr_cpus);
}

/* Flags and tunables of a domain above `below`. */
WP_INLINE void wp_sd_init_3_9(const struct wp_ctx *ctx, struct wp_sched_domain *dom, u32 below)
{
	int form_31 = ctx->params.domain_form == WP_DOMAINS_31;

	dom->imbalance_pct = ctx->params.imbalance_pct;
	dom->flags |= WP_SD_BALANCE_FORK | WP_SD_BALANCE_EXEC | WP_SD_BALANCE_NEWIDLE |
		      WP_SD_WAKE_AFFINE;
	wp_intervals(dom, 1, 4);
	dom->cache_nice_tries = 1;
	dom->busy_idx = 2;
	if (dom->flags & WP_SD_NUMA) {
		wp_node_tunables(ctx, dom, below);
	} else if (dom->flags & WP_SD_SHARE_CPUCAPACITY) {
		dom->imbalance_pct = 110;
		dom->cache_nice_tries = 0;
		dom->busy_idx = 0;
		wp_intervals(dom, 1, 2);
	} else if (dom->flags & WP_SD_SHARE_LLC) {
		if (form_31 || ctx->params.power_level_fewer)
			dom->flags |= WP_SD_PREFER_SIBLING;
	} else {
		dom->idle_idx = 1;
		dom->flags |= WP_SD_PREFER_SIBLING | (form_31 ? WP_SD_SHARE_PKG : 0);
	}
	if (form_31 && !(dom->flags & (WP_SD_NUMA | WP_SD_SHARE_CPUCAPACITY)))
		wp_mc_dom_flags(ctx, dom);
}

/*
 * A domain of its child's span and thus of one group has nothing to balance. It stays all the same
 * if it spreads siblings and its child does not: the level above asks its child about that.
 * Likewise if it saves power.
 */
WP_INLINE int wp_adds_nothing_3x(const struct wp_sched_domain *dom,
				 const struct wp_sched_domain *below)
{
	return !(dom->flags & ~below->flags & (WP_SD_PREFER_SIBLING | WP_SD_POWERSAVINGS));
}

/*
 * After a cache level: did those kernels build a CPU level over the same CPUs? They had one per
 * node always; a topology names it only where it spans more. Not if the core has no room for it.
 */
WP_INLINE int wp_cpu_level_missing(const struct wp_ctx *ctx, u32 level)
{
	u32 shared = WP_SD_SHARE_CPUCAPACITY | WP_SD_SHARE_LLC, next = level + 1;

	while (next < ctx->nr_topo_levels && !wp_level_known(ctx, next))
		next++;
	if ((WP_AT(ctx->topo, level)->flags & shared) != WP_SD_SHARE_LLC)
		return 0;
	if (next < ctx->nr_topo_levels && !(WP_AT(ctx->topo, next)->flags & WP_SD_NUMA))
		return 0;
	return ctx->nr_topo_levels < WP_MAX_LEVELS && 2 * ctx->nr_doms < WP_MAX_DOMS;
}
