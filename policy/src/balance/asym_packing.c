// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * ASYM_PACKING (docs/rules/domains.md#asym-packing, docs/rules/balancing.md#class-order,
 * docs/rules/balancing.md#busiest-group, docs/rules/balancing.md#imbalance,
 * docs/rules/balancing.md#active-balance, docs/rules/balancing.md#nohz; the form since 5.5): some
 * CPUs are better than others by a priority that the hardware states (favoured cores that clock
 * higher, the lower threads of a POWER7 core), and idle ones among them pull from those below. Only
 * balancing knows of it, wake-ups do not.
 *
 * Between cores priorities count only while a core is idle as a whole: a thread beside a busy
 * sibling is worth less than its priority says.
 *
 * What must stay: priorities are the platform's; equal ones move nothing. Free: how a
 * priority is looked up.
 *
 * Tests by part: (below crates/policy-sys/tests; `every_fixture_holds` runs the fixtures)
 * fixtures/packing: equal-priority-does-not.toml, not-from-higher-priority.toml
 * (`wp_sched_asym_prefer`, `wp_sched_asym`), busy-sibling-lowers-the-claim.toml
 * (`wp_sched_use_asym_prio`), core-with-*.toml (`wp_sched_group_asym`),
 * pushes-at-the-first-failure.toml (`wp_asym_active_balance`), kick-for-a-better-cpu.toml,
 * no-kick-from-the-best-cpu.toml (`wp_better_cpu_idle`).
 *
 * Callers: busiest.c, imbalance.c, detach.c, llc_balance.c; nohz.c asks for kicks.
 *
 * Kernel: sched_asym_prefer(), kernel/sched/sched.h; sched_use_asym_prio(), sched_asym(),
 *         sched_group_asym(), asym_active_balance(), kernel/sched/fair.c
 * Tests: fixtures/packing
 */
#include "wakeplace/policy.h"

/* busiest.c */
WP_FN int wp_is_core_idle(const struct wp_ctx *ctx WP_NONNULL, u32 cpu);

/* Is CPU `a` better than `b` by priority? Equal ones are not. */
WP_INLINE int wp_sched_asym_prefer(const struct wp_ctx *ctx, u32 a, u32 b)
{
	return WP_AT(ctx->cpus, a)->topo.asym_priority > WP_AT(ctx->cpus, b)->topo.asym_priority;
}

/* Does the priority of this CPU count in the domain? */
WP_INLINE int wp_sched_use_asym_prio(const struct wp_ctx *ctx, const struct wp_sched_domain *dom,
				     u32 cpu)
{
	if (!(dom->flags & WP_SD_ASYM_PACKING))
		return 0;
	return !ctx->smt || (dom->flags & WP_SD_SHARE_CPUCAPACITY) || wp_is_core_idle(ctx, cpu);
}

/* Should work be on `dst` rather than on `src`? */
WP_INLINE int wp_sched_asym(const struct wp_ctx *ctx, const struct wp_sched_domain *dom, u32 dst,
			    u32 src)
{
	return wp_sched_use_asym_prio(ctx, dom, dst) && wp_sched_asym_prefer(ctx, dst, src);
}

/* Should the destination have the tasks of a remote group? A core with more than one busy thread
 * has no priority: it is relieved like any other. */
WP_INLINE int wp_sched_group_asym(const struct wp_ctx *ctx, const struct wp_lb_env *bal,
				  const struct wp_sched_domain *dom, const struct wp_sched_group *g,
				  const struct wp_sg_lb_stats *s)
{
	if (bal->idle == WP_CPU_NOT_IDLE || !s->nr_fair)
		return 0;
	if ((g->flags & WP_SD_SHARE_CPUCAPACITY) && g->nr_cpus - s->idle_cpus != 1)
		return 0;
	return wp_sched_asym(ctx, dom, bal->dst_cpu, g->prefer_cpu);
}

/* May the running task be pushed by priority alone? Also off a core with several busy threads,
 * whatever its priority. */
WP_INLINE int wp_asym_active_balance(const struct wp_ctx *ctx, const struct wp_lb_env *bal,
				     const struct wp_sched_domain *dom)
{
	return bal->idle != WP_CPU_NOT_IDLE && wp_sched_use_asym_prio(ctx, dom, bal->this_cpu) &&
	       (wp_sched_asym_prefer(ctx, bal->this_cpu, bal->src_cpu) ||
		!wp_sched_use_asym_prio(ctx, dom, bal->src_cpu));
}

/* Is a CPU idle, its tick stopped, where the task of `cpu` should rather be? */
WP_FN int wp_better_cpu_idle(const struct wp_ctx *ctx WP_NONNULL, u32 cpu)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	const struct wp_sched_domain *dom;
	u32 i;

	if (c->topo.packing_level == WP_NONE)
		return 0;
	dom = WP_AT(ctx->doms, *WP_AT(c->topo.dom, c->topo.packing_level));
	WP_FOR(i, dom->nr_cpus, WP_MAX_CPUS) {
		u32 other = *WP_AT(ctx->list, dom->first_cpu + i);

		if ((*WP_AT(ctx->nohz_mask, other / 64u) >> (other % 64u) & 1u) &&
		    wp_sched_asym(ctx, dom, other, cpu))
			return 1;
	}
	return 0;
}
