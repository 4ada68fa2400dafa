// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The search of a cache domain, from behind the target on, its own cluster first
 * (docs/rules/wake-ups.md#idle-scan). Either for a core with all threads idle, if the domain may
 * have one, without a limit; or for an idle CPU, as far as the limit allows. A domain so busy that
 * the limit is 0 is not searched at all.
 *
 * What must stay: the order of the walk and the count of CPUs looked at, which costs time in the
 * simulator (crates/engine/src/kernel/model/wake_latency.rs); kept_idle.c finds the same by bits.
 * Free: how the walk is written; kept_idle.c changes with it.
 *
 * Tests by part: (below crates/policy-sys/tests; `every_fixture_holds` runs the fixtures)
 * all/wake_7_3.rs: `step_8_order` (`wp_walk_dom`, `wp_select_idle_cpu`), `step_8_idle_core`
 * (`wp_select_idle_core`), `step_7_sibling_of_prev` (`wp_select_idle_smt`),
 * `search_ends_at_the_depth`, `depth_and_idle_cores` (`wp_scan_start`); fixtures/scan:
 * cluster-first.toml, cluster-then-cache.toml (`wp_cluster_seen`), depth-*.toml, smt-*.toml;
 * all/kept.rs: `kept_sums_change_no_answer` (`wp_scan_dom` by bits and by the walk).
 *
 * Callers: `wp_select_in_cache` and `wp_scan_cache` (idle_sibling.c); `wp_scan_start` and
 * `wp_scan_dom` also idle_capacity.c and idle_scan_6_5.c.
 *
 * Kernel: select_idle_cpu(), select_idle_core(), select_idle_smt(), kernel/sched/fair.c
 * Tests: fixtures/scan, all/wake_7_3.rs
 */
#include "wakeplace/policy.h"

/* One more than the CPUs that may be looked at: reaching 0 ends the search, 1 forbids it. */
WP_INLINE u32 wp_scan_start(struct wp_ctx *ctx, u32 target, u32 limited)
{
	return limited ? wp_hints(ctx, target)->idle.nr_idle_scan + 1 : WP_NONE;
}

/* A free thread of a CPU's core, other than the CPU itself. */
WP_FN u32 wp_select_idle_smt(struct wp_ctx *ctx WP_NONNULL, const struct wp_task *task WP_NONNULL,
			     u32 cpu)
{
	u32 i, dom_index = wp_smt_dom(ctx, cpu);
	const struct wp_sched_domain *core;

	if (dom_index == WP_NONE)
		return WP_NONE;
	core = WP_AT(ctx->doms, dom_index);
	WP_FOR(i, core->nr_cpus, WP_MAX_CPUS) {
		u32 thread = *WP_AT(ctx->list, core->first_cpu + i);

		if (thread != cpu && wp_allowed(task, thread) && wp_free_for(ctx, task, thread))
			return thread;
		if (thread != cpu && wp_allowed(task, thread))
			WP_EXPLAIN(ctx, wp_drop(ctx, thread, WP_DROP_BUSY));
	}
	return WP_NONE;
}

/*
 * Are all threads of this CPU's core idle? Remembers the first free CPU that any search for a core
 * comes across.
 */
WP_FN int wp_select_idle_core(struct wp_ctx *ctx WP_NONNULL, const struct wp_task *task WP_NONNULL,
			      u32 cpu, struct wp_decision *dec WP_NONNULL)
{
	u32 i, idle = 1, dom_index = wp_smt_dom(ctx, cpu);
	/* nothing is read of it where the core is one thread */
	const struct wp_sched_domain *core = WP_AT(ctx->doms, dom_index == WP_NONE ? 0 : dom_index);
	u32 n = dom_index == WP_NONE ? 1 : core->nr_cpus;

	WP_FOR(i, n, WP_MAX_CPUS) {
		u32 thread = n == 1 ? cpu : *WP_AT(ctx->list, core->first_cpu + i);

		idle &= (u32)wp_idle_at(ctx, thread);
		if (dec->scan_spare == WP_NONE && wp_allowed(task, thread) &&
		    wp_free_for(ctx, task, thread))
			dec->scan_spare = thread;
		if (!idle && dec->scan_spare != WP_NONE)
			break;
	}
	return (int)idle;
}

/* In the pass over the whole cache domain: this CPU's cluster has been searched. */
WP_INLINE int wp_cluster_seen(const struct wp_ctx *ctx, u32 target, u32 level, u32 cpu)
{
	const struct wp_cpu *t = WP_AT(ctx->cpus, target);

	return level == t->topo.llc_level && wp_has_clusters(ctx, t) &&
	       wp_span_has(WP_AT(ctx->doms, *WP_AT(t->topo.dom, t->topo.cluster_level)), cpu);
}

/* One pass over the target's domain of a level, CPU by CPU. */
WP_FN u32 wp_walk_dom(struct wp_ctx *ctx WP_NONNULL, const struct wp_task *task WP_NONNULL,
		      u32 target, u32 level, struct wp_decision *dec WP_NONNULL)
{
	const struct wp_cpu *t = WP_AT(ctx->cpus, target);
	const struct wp_sched_domain *dom = WP_AT(ctx->doms, *WP_AT(t->topo.dom, level));
	u32 i, start = *WP_AT(t->topo.pos, level) + 1;

	WP_FOR(i, dom->nr_cpus, WP_MAX_CPUS) {
		u32 cpu = wp_span_wrap(ctx, dom, start, i);

		if (!wp_allowed(task, cpu) || wp_cluster_seen(ctx, target, level, cpu))
			continue;
		if (!dec->scan_cores && !--dec->scan_left) {
			WP_EXPLAIN(ctx, wp_drop_beyond(ctx, dom, start, i));
			return WP_NONE;
		}
		dec->nr_scanned++;
		if (dec->scan_cores ? wp_select_idle_core(ctx, task, cpu, dec)
				    : wp_free_for(ctx, task, cpu))
			return cpu;
		WP_EXPLAIN(ctx, wp_drop(ctx, cpu, wp_free_for(ctx, task, cpu) ? WP_DROP_CORE_BUSY :
									 WP_DROP_BUSY));
	}
	return WP_NONE;
}

/* One pass over the target's domain of a level. WP_NONE: nothing found, or the limit reached. */
WP_INLINE u32 wp_scan_dom(struct wp_ctx *ctx, const struct wp_task *task, u32 target, u32 level,
			  struct wp_decision *dec)
{
#ifdef WP_KEEPS
	const struct wp_kept *k = wp_keeps_idle(ctx, task, dec);

	if (k) {
#ifdef WP_CHECK_BOUNDS
		struct wp_decision walked = *dec;
		u32 cpu = wp_walk_dom(ctx, task, target, level, &walked);
		u32 found = wp_kept_pass(ctx, k, task, target, level, dec);

		WP_CHECK_KEPT("idle CPU", target, found, cpu);
		WP_CHECK_KEPT("CPUs looked at", target, dec->nr_scanned, walked.nr_scanned);
		WP_CHECK_KEPT("CPUs left to look at", target, dec->scan_left, walked.scan_left);
		WP_CHECK_KEPT("free thread", target, dec->scan_spare, walked.scan_spare);
		return found;
#else
		return wp_kept_pass(ctx, k, task, target, level, dec);
#endif
	}
#endif
	return wp_walk_dom(ctx, task, target, level, dec);
}

/*
 * Fills `dec` and returns 1 if the target's cache domain has a CPU to offer, or short tasks make
 * the search needless (short_wake.c).
 */
WP_FN int wp_select_idle_cpu(struct wp_ctx *ctx WP_NONNULL, const struct wp_task *task WP_NONNULL,
			     const struct wp_request *req WP_NONNULL, u32 target,
			     struct wp_decision *dec WP_NONNULL)
{
	const struct wp_cpu *t = WP_AT(ctx->cpus, target);
	struct wp_cpu *hints = wp_hints(ctx, target);
	u32 cores = ctx->smt && hints->idle.has_idle_cores, cpu;

	dec->scan_cores = cores;
	dec->scan_left = wp_scan_start(ctx, target, ctx->params.sis_util);
	if (dec->scan_left == 1) {
		WP_EXPLAIN(ctx,
			   wp_drop_beyond(ctx,
					  WP_AT(ctx->doms, *WP_AT(t->topo.dom, t->topo.llc_level)),
					  0, 0));
		return 0;
	}
	if (wp_short_in_scan(ctx, task, req, target, dec))
		return 1;
	if (wp_has_clusters(ctx, t)) {
		cpu = wp_scan_dom(ctx, task, target, t->topo.cluster_level, dec);
		if (wp_idle_decide(dec, cpu,
				   cores ? WP_REASON_IDLE_CORE : WP_REASON_IDLE_CLUSTER))
			return 1;
	}
	if (dec->scan_left) { /* not used up by the cluster */
		cpu = wp_scan_dom(ctx, task, target, t->topo.llc_level, dec);
		if (wp_idle_decide(dec, cpu, cores ? WP_REASON_IDLE_CORE : WP_REASON_IDLE_CPU))
			return 1;
	}
	if (!cores)
		return 0;
	hints->idle.has_idle_cores = 0;
	return wp_idle_decide(dec, dec->scan_spare, WP_REASON_IDLE_CPU);
}
