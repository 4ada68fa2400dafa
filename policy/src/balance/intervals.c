// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * How often a domain is balanced: its least and longest interval, and how much less often by a busy
 * CPU (docs/rules/domains.md#domain-constants, docs/rules/balancing.md#periodic-balancing). Domains
 * of older tables have their own intervals (docs/rules/linux-3-8.md#domains-3-8). Also how far
 * apart nodes may be.
 *
 * What must stay: intervals are ms; without an old table the least is the number of CPUs, the
 * longest twice that; a busy CPU balances `busy_factor` times less often. Free: where an interval
 * is read; figures only with the pages.
 *
 * Tests by part: (below crates/policy-sys/tests; `every_fixture_holds` runs the fixtures)
 * fixtures/balance: due-*.toml, interval-*.toml, 3-8-*.toml (`wp_interval_min_ms`,
 * `wp_interval_max_ms`, `wp_busy_factor`); all/balance.rs: `intervals`,
 * `interval_doubles_and_resets`; all/early_eras.rs: `constants_are_those_of_the_time`;
 * fixtures/topology: numa-30-is-near.toml, numa-31-is-far.toml (`wp_level_is_far`).
 *
 * Callers: balance.c, detach.c and power_balance.c; topology.c and domains_3_9.c.
 *
 * Tests: fixtures/balance, all/early_eras.rs
 */
#include "wakeplace/policy.h"

/* By an old table, else the number of CPUs. */
WP_INLINE u32 wp_interval_min_ms(const struct wp_sched_domain *dom)
{
	return WP_NOT_LIVE(dom->min_interval_ms) ? dom->min_interval_ms : dom->nr_cpus;
}

/* By an old table, else twice the number of CPUs. */
WP_INLINE u32 wp_interval_max_ms(const struct wp_sched_domain *dom)
{
	return WP_NOT_LIVE(dom->max_interval_ms) ? dom->max_interval_ms : 2 * dom->nr_cpus;
}

/* How much less often a busy CPU balances at this level. */
WP_INLINE u32 wp_busy_factor(const struct wp_ctx *ctx, const struct wp_cpu *c, u32 level)
{
	u32 own = WP_NOT_LIVE(WP_AT(ctx->doms, *WP_AT(c->topo.dom, level))->busy_factor);

	return own ? own : ctx->params.busy_factor;
}

/* Forks, execs and affine wake-ups stay within nodes that are near each other. */
WP_INLINE int wp_level_is_far(const struct wp_ctx *ctx, u32 level)
{
	u32 limit = ctx->params.reclaim_distance;

	if (limit == WP_NONE)
		limit = ctx->reclaim_distance;
	return WP_AT(ctx->topo, level)->distance > limit;
}
