// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What the searches for an idle CPU share: who is idle, who shares what, how a domain's list is
 * walked from a CPU on.
 *
 * Kernel: cpus_share_cache(), cpus_share_resources(), kernel/sched/core.c; sched_idle_rq(),
 *         kernel/sched/fair.c
 * Tests: fixtures/scan, fixtures/wake
 */
#include "wakeplace/policy.h"

WP_INLINE int wp_cpus_share_cache(const struct wp_ctx *ctx, u32 a, u32 b)
{
	return WP_AT(ctx->cpus, a)->topo.llc_id == WP_AT(ctx->cpus, b)->topo.llc_id;
}

/* CPUs of one cache that also share what the cores of a cluster have in common. */
WP_INLINE int wp_cpus_share_resources(const struct wp_ctx *ctx, u32 a, u32 b)
{
	const struct wp_cpu *x = WP_AT(ctx->cpus, a), *y = WP_AT(ctx->cpus, b);

	if (x->topo.cluster_level == WP_NONE || y->topo.cluster_level == WP_NONE)
		return x->topo.cluster_level == y->topo.cluster_level &&
		       x->topo.llc_id == y->topo.llc_id;
	return *WP_AT(x->topo.dom, x->topo.cluster_level) ==
	       *WP_AT(y->topo.dom, y->topo.cluster_level);
}

WP_INLINE int wp_idle_at(const struct wp_ctx *ctx, u32 cpu)
{
	return wp_cpu_idle(WP_AT(ctx->cpus, cpu));
}

/* Only tasks run here that any other task displaces. */
WP_INLINE int wp_sched_idle_rq(const struct wp_cpu *c)
{
	return c->queue.nr_running && c->queue.nr_running == c->queue.nr_idle_policy;
}

/* A task placed here runs at once. */
WP_INLINE int wp_free_at(const struct wp_ctx *ctx, u32 cpu)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);

	return wp_cpu_idle(c) || wp_sched_idle_rq(c);
}

/* i-th CPU of a domain counted from position `start`, wrapping. */
WP_INLINE u32 wp_span_wrap(const struct wp_ctx *ctx, const struct wp_sched_domain *dom, u32 start,
			   u32 i)
{
	u32 at = start + i;

	return *WP_AT(ctx->list, dom->first_cpu + (at < dom->nr_cpus ? at : at - dom->nr_cpus));
}

/* The cache domain of this CPU consists of clusters. */
WP_INLINE int wp_has_clusters(const struct wp_ctx *ctx, const struct wp_cpu *c)
{
	if (WP_NOT_LIVE(!ctx->params.sis_cluster))
		return 0;
	return c->topo.cluster_level != WP_NONE && c->topo.cluster_level + 1 == c->topo.llc_level;
}

/* The domain of a CPU's core, WP_NONE without SMT. */
WP_INLINE u32 wp_smt_dom(const struct wp_ctx *ctx, u32 cpu)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);

	if (!c->topo.nr_levels ||
	    !(WP_AT(ctx->doms, c->topo.dom[0])->flags & WP_SD_SHARE_CPUCAPACITY))
		return WP_NONE;
	return c->topo.dom[0];
}

#ifdef WP_EXPLAINS
/* The previous CPU will not do: it is elsewhere, or not idle. */
static void wp_drop_prev(const struct wp_ctx *ctx, u32 prev, u32 target)
{
	wp_drop(ctx, prev,
		wp_cpus_share_cache(ctx, prev, target) ? WP_DROP_BUSY : WP_DROP_OTHER_CACHE);
}
#endif

WP_INLINE int wp_idle_decide(struct wp_decision *dec, u32 cpu, u32 reason)
{
	if (cpu == WP_NONE)
		return 0;
	dec->cpu = cpu;
	dec->rule = WP_RULE_IDLE_SIBLING;
	dec->reason = reason;
	return 1;
}
