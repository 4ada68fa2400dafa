// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The search of a cache domain limited by its cost and the idle time to expect, in its last form
 * (SIS_PROP, 5.12 to 6.5; docs/rules/wake-ups.md#idle-scan). Natively only. sis_util, where it is
 * on, overrides this limit. Against the form of idle_scan_5_11.c
 * (docs/rules/linux-5-0-to-6-12.md#sis-prop-forms):
 *
 *  - the idle time to expect is the waking CPU's own copy: half of the average at each wake-up
 *    there, halved again by every tick since, less what searches took
 *  - the search begins behind the target, and CPUs that the task may not use do not count
 *  - a search for an idle core has no limit and costs nothing of that time
 *
 * What must stay: eras from 5.12 to 6.5 alone use it; the average cost is updated by each search.
 * Free: the limit, for those eras alone.
 *
 * Tests by part: (below crates/policy-sys/tests; `every_fixture_holds` runs the fixtures)
 * fixtures/scan: prop-6-1-budget.toml, prop-6-1-finds-the-third.toml, prop-6-1-least-4.toml,
 * prop-6-1-forbidden-do-not-count.toml (`wp_select_idle_cpu_6_5`), prop-6-1-halved-by-ticks.toml
 * (`wp_prop_age`), prop-6-1-cost-rounds-towards-0.toml (the average cost); prop-off-scans-all.toml
 * (`wp_prop_limits`).
 *
 * Callers: `wp_scan_cache` (idle_sibling.c).
 *
 * Kernel: select_idle_cpu(), kernel/sched/fair.c, 5.12 to 6.5
 * Tests: fixtures/scan
 */
#include "wakeplace/policy.h"

#define WP_PROP_LEAST 4u /* CPUs that are looked at whatever it costs */

/* Is this the limit in force for a search around the target? */
WP_INLINE int wp_prop_limits(struct wp_ctx *ctx, u32 target)
{
	return ctx->params.sis_prop && !ctx->params.sis_util &&
	       !(ctx->smt && wp_hints(ctx, target)->idle.has_idle_cores);
}

/* The idle time to expect halves with every tick that the CPU stayed busy. */
WP_INLINE void wp_prop_age(struct wp_cpu *self, u64 tick)
{
	u64 ticks = wp_sub(tick, self->idle.wake_tick);

	self->idle.wake_avg_idle_ns = ticks < 64 ? self->idle.wake_avg_idle_ns >> ticks : 0;
	self->idle.wake_tick = wp_max64(self->idle.wake_tick, tick);
}

/* Fills `dec` and returns 1 if the target's cache domain has a CPU to offer. */
WP_FN int wp_select_idle_cpu_6_5(struct wp_ctx *ctx WP_NONNULL,
				 const struct wp_task *task WP_NONNULL,
				 const struct wp_request *req WP_NONNULL, u32 target,
				 struct wp_decision *dec WP_NONNULL)
{
	const struct wp_cpu *t = WP_AT(ctx->cpus, target);
	const struct wp_sched_domain *dom =
		WP_AT(ctx->doms, *WP_AT(t->topo.dom, t->topo.llc_level));
	struct wp_cpu *self = WP_AT(ctx->cpus, req->this_cpu);
	struct wp_lb *lb;
	u64 budget, cost, spent;
	u32 cpu;

	if (self->topo.llc_level == WP_NONE) /* no record of what searches cost here */
		return 0;
	wp_prop_age(self, wp_div(req->now_ns, ctx->tick_ns));
	lb = WP_AT(self->balance.lb, self->topo.llc_level);
	cost = lb->avg_scan_cost_ns + 1;
	budget = dom->nr_cpus * self->idle.wake_avg_idle_ns;
	dec->scan_cores = 0;
	dec->scan_left = budget > WP_PROP_LEAST * cost ?
				 (u32)wp_min64(wp_div(budget, cost), WP_NONE) : WP_PROP_LEAST;
	cpu = wp_scan_dom(ctx, task, target, t->topo.llc_level, dec);
	if (!dec->scan_left) /* the limit ends the search before its cost is learnt */
		return 0;
	spent = (u64)dec->nr_scanned * ctx->scan_cpu_ns;
	self->idle.wake_avg_idle_ns = wp_sub(self->idle.wake_avg_idle_ns, spent);
	lb->avg_scan_cost_ns = wp_dur_next(lb->avg_scan_cost_ns, spent);
	return wp_idle_decide(dec, cpu, WP_REASON_IDLE_CPU);
}
