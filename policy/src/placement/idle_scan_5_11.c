// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The fast path's last steps with two searches, the second limited by its cost and the idle time to
 * expect (SIS_PROP; docs/rules/wake-ups.md#idle-sibling, docs/rules/wake-ups.md#idle-scan; 4.17
 * form). Natively only. Against idle_sibling.c, first hit wins:
 *
 *  7. SMT: a core with all threads idle, if the cache domain may have one
 *  8. a CPU of the cache domain, from the target on, as far as the scan limit allows: long
 *     searches cost more than they find when idle periods are short; then an idle thread of the
 *     target's own core
 *  9. the target, busy
 *
 * From 5.7 on a CPU that runs only SCHED_IDLE tasks counts as idle, but not for an idle core.
 *
 * What must stay: CPUs in ascending order from the target on, wrapping; the limit counts as the
 * kernel counts (4 see 3); a search without a hit clears the hint of idle cores; a search that the
 * limit ends learns no cost. Free: how a walk is written.
 *
 * Tests by part: `step_8_idle_core` (`wp_select_idle_core_5_11`), `step_8_scan_wraps`
 * (`wp_span_index`), `step_8_scan_is_limited` (`wp_scan_limit`), `scan_cost_average`
 * (`wp_select_idle_cpu_5_11`), `idle_sibling_thread` (`wp_idle_thread`), `step_6_no_cache_domain`
 * and `step_9_busy_target` (`wp_select_in_cache_5_11`), `random_states_agree_with_the_model` (all
 * of it); fixtures/scan: prop-*.toml (`sis_prop`, by era).
 *
 * Callers: `wp_select_in_cache` (idle_sibling.c) where `sis_single_pass` is off.
 *
 * Kernel: select_idle_core(), select_idle_cpu(), kernel/sched/fair.c, to 5.11
 * Tests: fixtures/wake, fixtures/scan, all/fast_path.rs
 */
#include "wakeplace/policy.h"

/* Position of `cpu` in a domain's ascending list. */
WP_INLINE u32 wp_span_index(const struct wp_ctx *ctx, const struct wp_sched_domain *dom, u32 cpu)
{
	u32 i, at = 0;

	WP_FOR(i, dom->nr_cpus, WP_MAX_CPUS) {
		if (*WP_AT(ctx->list, dom->first_cpu + i) == cpu) {
			at = i;
			break;
		}
	}
	return at;
}

/*
 * First idle allowed thread of a core; `all`: only if every thread is idle. A core of one thread
 * is its CPU.
 */
WP_FN u32 wp_idle_thread(struct wp_ctx *ctx WP_NONNULL, const struct wp_task *task WP_NONNULL,
			 u32 cpu, u32 all)
{
	u32 i, found = WP_NONE, idle = 0, dom_index = wp_smt_dom(ctx, cpu);
	const struct wp_sched_domain *dom;

	if (dom_index == WP_NONE)
		return wp_idle_at(ctx, cpu) && wp_allowed(task, cpu) ? cpu : WP_NONE;
	dom = WP_AT(ctx->doms, dom_index);
	WP_FOR(i, dom->nr_cpus, WP_MAX_CPUS) {
		u32 thread = *WP_AT(ctx->list, dom->first_cpu + i);

		if (!(all ? wp_idle_at(ctx, thread) : wp_free_for(ctx, task, thread)))
			continue;
		idle++;
		if (found == WP_NONE && wp_allowed(task, thread))
			found = thread;
	}
	return all && idle != dom->nr_cpus ? WP_NONE : found;
}

/* The first core from the target on with all threads idle; WP_NONE: none, and the hint goes. */
WP_FN u32 wp_select_idle_core_5_11(struct wp_ctx *ctx WP_NONNULL,
				   const struct wp_task *task WP_NONNULL,
				   const struct wp_sched_domain *dom WP_NONNULL, u32 target)
{
	u32 i, start = wp_span_index(ctx, dom, target);
	struct wp_cpu *llc = WP_AT(ctx->cpus, WP_AT(ctx->cpus, target)->topo.llc_id);

	if (!ctx->smt || !llc->idle.has_idle_cores)
		return WP_NONE;
	WP_FOR(i, dom->nr_cpus, WP_MAX_CPUS) {
		u32 cpu = wp_span_wrap(ctx, dom, start, i);

		if (wp_allowed(task, cpu) && wp_idle_thread(ctx, task, cpu, 1) != WP_NONE)
			return cpu;
		if (wp_allowed(task, cpu))
			WP_EXPLAIN(ctx, wp_drop(ctx, cpu, wp_idle_at(ctx, cpu) ?
								  WP_DROP_CORE_BUSY :
								  WP_DROP_BUSY));
	}
	llc->idle.has_idle_cores = 0;
	return WP_NONE;
}

/* How many CPUs the scan may look at: as many as its average cost allows in the idle time to
 * expect. */
WP_INLINE u32 wp_scan_limit(const struct wp_ctx *ctx, const struct wp_cpu *this_cpu, u32 span)
{
	u64 cost = WP_AT(this_cpu->balance.lb, this_cpu->topo.llc_level)->avg_scan_cost_ns + 1;
	u64 budget = span * (this_cpu->idle.avg_idle_ns / 512);

	if (!ctx->params.sis_prop)
		return span + 1;
	return budget > 4 * cost ? (u32)wp_div(budget, cost) : 4;
}

/* The first idle CPU within the limit; what the search cost is averaged. */
WP_FN u32 wp_select_idle_cpu_5_11(struct wp_ctx *ctx WP_NONNULL,
				  const struct wp_task *task WP_NONNULL,
				  const struct wp_sched_domain *dom WP_NONNULL, u32 target,
				  u32 this_cpu)
{
	struct wp_cpu *t = WP_AT(ctx->cpus, this_cpu);
	struct wp_lb *lb = WP_AT(t->balance.lb, t->topo.llc_level);
	u32 i, found = WP_NONE, start = wp_span_index(ctx, dom, target);
	u32 left = wp_scan_limit(ctx, t, dom->nr_cpus), seen = 0;
	s64 diff;

	WP_FOR(i, dom->nr_cpus, WP_MAX_CPUS) {
		u32 cpu = wp_span_wrap(ctx, dom, start, i);

		if (ctx->params.sis_prop_allowed && !wp_allowed(task, cpu))
			continue;
		if (!--left) { /* the limit ends the search before its cost is learnt */
			WP_EXPLAIN(ctx, wp_drop_beyond(ctx, dom, start, i));
			return WP_NONE;
		}
		seen++;
		if (wp_allowed(task, cpu) && wp_free_for(ctx, task, cpu)) {
			found = cpu;
			break;
		}
		if (wp_allowed(task, cpu))
			WP_EXPLAIN(ctx, wp_drop(ctx, cpu, WP_DROP_BUSY));
	}
	diff = (s64)((u64)seen * ctx->scan_cpu_ns) - (s64)lb->avg_scan_cost_ns;
	lb->avg_scan_cost_ns = (u64)((s64)lb->avg_scan_cost_ns + (diff >> 3));
	return found;
}

/* Steps 6 to 9 of idle_sibling.c as they were. */
WP_INLINE int wp_select_in_cache_5_11(struct wp_ctx *ctx, struct wp_task *task,
				      const struct wp_request *req, u32 target,
				      struct wp_decision *dec)
{
	const struct wp_cpu *t = WP_AT(ctx->cpus, target);
	const struct wp_sched_domain *dom;

	if (t->topo.llc_level == WP_NONE)
		return wp_idle_decide(dec, target, WP_REASON_TARGET_NO_LLC);
	dom = WP_AT(ctx->doms, *WP_AT(t->topo.dom, t->topo.llc_level));
	if (wp_short_before_scan(ctx, task, req, target, dec))
		return 1;
	if (wp_idle_decide(dec, wp_select_idle_core_5_11(ctx, task, dom, target),
			   WP_REASON_IDLE_CORE))
		return 1;
	/* The limit is the waking CPU's; without a cache domain it has none to read: no scan. */
	if (WP_AT(ctx->cpus, req->this_cpu)->topo.llc_level != WP_NONE &&
	    wp_idle_decide(dec, wp_select_idle_cpu_5_11(ctx, task, dom, target, req->this_cpu),
			   WP_REASON_IDLE_CPU))
		return 1;
	if (ctx->smt &&
	    wp_idle_decide(dec, wp_idle_thread(ctx, task, target, 0), WP_REASON_IDLE_SMT))
		return 1;
	return wp_idle_decide(dec, target, WP_REASON_TARGET_BUSY);
}
