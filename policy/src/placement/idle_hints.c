// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What an idle search may know beforehand (docs/rules/wake-ups.md#idle-scan): whether some core is
 * idle, and how many CPUs are worth looking at. A search domain is the cache domain, or the lowest
 * domain with all capacities where searches go through that one; its first CPU keeps the hints. For
 * the latter the rule names the limit, not whose it is: Linux keeps the hints where the search is
 * since "sched/fair: Attach sched_domain_shared to sd_asym_cpucapacity" (April 2026).
 *
 * What must stay: hints may be old, so a search must find the same CPU with a wrong one, only later
 * or not at all, as the kernel's. Free: where hints are kept; not what they are worth.
 *
 * Tests by part: (below crates/policy-sys/tests; `every_fixture_holds` runs the fixtures)
 * all/wake_7_3.rs: `search_depth`, `search_depth_of_a_core` (`wp_sis_depth`, `wp_dom_util`),
 * `depth_belongs_to_the_search_domain` (`wp_search_level`, `wp_hints`); all/balance_pass_7_3.rs:
 * `search_depth_is_written` (`wp_update_idle_cpu_scan`); fixtures/scan: depth-112-*.toml,
 * smt-flag-set-on-idle.toml, smt-flag-not-set-beside-busy.toml (`wp_update_idle_core`).
 * `wp_settled` has no test of its own: recorded runs show a fault of its.
 *
 * Callers: `wp_update_idle_core`: rq.c as a CPU goes idle; `wp_update_scan_without`: balancing
 * (busiest.c); `wp_update_idle_cpu_scan`: power_balance.c; `wp_settled`: `Core::settle` before a
 * run.
 *
 * Kernel: __update_idle_core(), update_idle_cpu_scan(), kernel/sched/fair.c
 * Tests: fixtures/scan, all/wake_7_3.rs
 */
#include "wakeplace/policy.h"

/* Level of the domain that searches around this CPU look at; WP_NONE: there is none. */
WP_INLINE u32 wp_search_level(const struct wp_ctx *ctx, const struct wp_cpu *c)
{
	if (ctx->params.sis_asym == WP_SIS_ASYM_LIMITED && c->topo.asym_full_level != WP_NONE)
		return c->topo.asym_full_level;
	return c->topo.llc_level;
}

/* Where the hints of a CPU's search domain are; the CPU itself without one. */
WP_INLINE struct wp_cpu *wp_hints(struct wp_ctx *ctx, u32 cpu)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	u32 level = wp_search_level(ctx, c);

	if (level != WP_NONE)
		cpu = *WP_AT(ctx->list, WP_AT(ctx->doms, *WP_AT(c->topo.dom, level))->first_cpu);
	return WP_AT(ctx->cpus, cpu);
}

/* SMT: remember that the domain has an idle core, once all threads of this one are idle. */
WP_INLINE void wp_update_idle_core(struct wp_ctx *ctx, const struct wp_cpu *c, u32 cpu)
{
	const struct wp_sched_domain *core;
	struct wp_cpu *hints;
	u32 i;

	if (!ctx->smt || c->topo.llc_level == WP_NONE)
		return;
	hints = wp_hints(ctx, cpu);
	if (hints->idle.has_idle_cores)
		return;
	core = WP_AT(ctx->doms, c->topo.dom[0]);
	WP_FOR(i, c->topo.nr_levels ? core->nr_cpus : 0, WP_MAX_CPUS) {
		u32 thread = *WP_AT(ctx->list, core->first_cpu + i);

		if (!(core->flags & WP_SD_SHARE_CPUCAPACITY))
			break;
		if (thread != cpu && !wp_cpu_idle(WP_AT(ctx->cpus, thread)))
			return;
	}
	hints->idle.has_idle_cores = 1;
}

/*
 * How many CPUs a search may look at: all of an idle domain, fewer with the square of its mean
 * utilisation, none from 85 % on at the usual margin of 117 % (docs/rules/wake-ups.md#sis-util).
 * The square fits in 64 bits: (1024 * 1000)^2.
 */
WP_INLINE u32 wp_sis_depth(u64 sum_util, u32 nr_cpus, u32 pct)
{
	u64 x = wp_div(sum_util, nr_cpus) * pct;
	u64 used = wp_min64(x * x / (10000 * WP_SCALE), WP_SCALE);

	return (u32)(nr_cpus * (WP_SCALE - used) / WP_SCALE);
}

/* Utilisation of a domain. */
WP_INLINE u64 wp_dom_util(const struct wp_ctx *ctx, const struct wp_sched_domain *dom)
{
	u64 util = 0;
	u32 i;

	WP_FOR(i, dom->nr_cpus, WP_MAX_CPUS) {
		util += wp_cpu_util_cfs(ctx,
					WP_AT(ctx->cpus, *WP_AT(ctx->list, dom->first_cpu + i)));
	}
	return util;
}

/*
 * After periodic statistics of a level: the depth, if this CPU's searches look at that level.
 * `left_out`: utilisation of CPUs that the statistics have left out.
 */
WP_INLINE int wp_update_scan_without(struct wp_ctx *ctx, u32 cpu, u32 level, u64 left_out)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	const struct wp_sched_domain *dom = WP_AT(ctx->doms, *WP_AT(c->topo.dom, level));
	struct wp_cpu *hints = wp_hints(ctx, cpu);
	u64 util;
	u32 depth;

	if (!ctx->params.sis_util || level != wp_search_level(ctx, c))
		return 0;
	util = wp_sub(wp_dom_util(ctx, dom), left_out); /* live, averages change meanwhile */
	depth = wp_sis_depth(util, dom->nr_cpus, dom->imbalance_pct);
	/* readers on every CPU keep their copy of the line */
	if (hints->idle.nr_idle_scan != depth)
		hints->idle.nr_idle_scan = depth;
	return 1;
}

/* The same where all CPUs count. */
WP_FN int wp_update_idle_cpu_scan(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u32 level)
{
	return wp_update_scan_without(ctx, cpu, level, 0);
}

#ifndef WP_LIVE
/*
 * A run begins on a machine that has been up and idle for long: its balancers have looked at every
 * search domain and found it idle. Linux itself starts with 0 (docs/rules/short-wakes.md#hunk-b),
 * for some 100 ms after boot.
 */
WP_FN int wp_settled(struct wp_ctx *ctx WP_NONNULL)
{
	u32 i, level;

	WP_FOR(i, ctx->nr_cpus, WP_MAX_CPUS) {
		level = wp_search_level(ctx, WP_AT(ctx->cpus, i));
		if (level != WP_NONE)
			wp_update_idle_cpu_scan(ctx, i, level);
	}
	return 0;
}
#endif
