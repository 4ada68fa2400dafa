// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What the searches for an idle CPU share: who is idle, who shares what, how a domain's list is
 * walked from a CPU on (docs/rules/wake-ups.md#share-id, docs/rules/wake-ups.md#idle-scan).
 *
 * What must stay: lists of CPUs ascend and are walked from a start round to it: all searches share
 * that order. Free: how CPUs are walked; who counts as idle only with its page, since
 * balancing asks here, too.
 *
 * Tests by part: (below crates/policy-sys/tests; `every_fixture_holds` runs the fixtures)
 * all/wake_7_3.rs: `step_1_target` (`wp_idle_decide`), `queues_count_idle_policy` (`wp_idle_at`,
 * `wp_free_for`, `wp_sched_idle_rq`), `step_2_and_9_clusters` (`wp_share_id`,
 * `wp_cpus_share_resources`, `wp_has_clusters`), `step_6_no_cache_domain` (`wp_cpus_share_cache`),
 * `step_7_sibling_of_prev` (`wp_smt_dom`), `step_8_order` (`wp_span_wrap`); fixtures/wake:
 * sched-idle-*.toml (`wp_sched_idle_for`); all/kept.rs: `kept_sums_change_no_answer`
 * (`wp_free_at`); all/explain.rs shows `wp_drop_prev`.
 *
 * Kernel: cpus_share_cache(), cpus_share_resources(), kernel/sched/core.c; sched_idle_rq(),
 *         choose_sched_idle_rq() as wp_sched_idle_for(), choose_idle_cpu() as wp_free_for(),
 *         kernel/sched/fair.c
 * Tests: fixtures/scan, fixtures/wake
 */
#include "wakeplace/policy.h"

/* Have the two one last-level cache? */
WP_INLINE int wp_cpus_share_cache(const struct wp_ctx *ctx, u32 a, u32 b)
{
	return WP_AT(ctx->cpus, a)->topo.llc_id == WP_AT(ctx->cpus, b)->topo.llc_id;
}

/* The first CPU of a CPU's cluster; without one, of its cache (sd_share_id). */
WP_INLINE u32 wp_share_id(const struct wp_ctx *ctx, u32 cpu)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	u32 level = c->topo.cluster_level == WP_NONE ? c->topo.llc_level : c->topo.cluster_level;

	if (level == WP_NONE)
		return cpu;
	return *WP_AT(ctx->list, WP_AT(ctx->doms, *WP_AT(c->topo.dom, level))->first_cpu);
}

/*
 * CPUs of one cache that also share what the cores of a cluster have in common. A CPU without a
 * cluster passes for one of the first cluster of its cache (docs/rules/wake-ups.md#share-id).
 */
WP_INLINE int wp_cpus_share_resources(const struct wp_ctx *ctx, u32 a, u32 b)
{
	return wp_share_id(ctx, a) == wp_share_id(ctx, b);
}

/* Does the CPU's idle task execute, and is nothing queued or on its way? */
WP_INLINE int wp_idle_at(const struct wp_ctx *ctx, u32 cpu)
{
	return wp_cpu_idle(WP_AT(ctx->cpus, cpu));
}

/* Only tasks run here that any other task displaces. */
WP_INLINE int wp_sched_idle_rq(const struct wp_cpu *c)
{
	return c->queue.nr_running && c->queue.nr_running == c->queue.nr_idle_policy;
}

/* The task displaces all that run here; one of SCHED_IDLE does not: it would wait (7.3). */
WP_INLINE int wp_sched_idle_for(const struct wp_ctx *ctx, const struct wp_cpu *c,
				const struct wp_task *task)
{
	if (WP_NOT_LIVE(!ctx->params.idle_policy_free))
		return 0;
	return wp_sched_idle_rq(c) && !(ctx->params.idle_policy_apart && task->idle_policy);
}

/* The task would run here at once. */
WP_INLINE int wp_free_for(const struct wp_ctx *ctx, const struct wp_task *task, u32 cpu)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);

	return wp_cpu_idle(c) || wp_sched_idle_for(ctx, c, task);
}

/* A task placed here runs at once, if it is not of SCHED_IDLE. */
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

/* The fast path decides; 0: `cpu` is WP_NONE, nothing was found. */
WP_INLINE int wp_idle_decide(struct wp_decision *dec, u32 cpu, u32 reason)
{
	if (cpu == WP_NONE)
		return 0;
	dec->cpu = cpu;
	dec->rule = WP_RULE_IDLE_SIBLING;
	dec->reason = reason;
	return 1;
}
