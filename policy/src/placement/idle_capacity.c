// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The fast path of asymmetric machines: an idle CPU that is big enough, anywhere in the lowest
 * domain that has CPUs of all capacities (docs/rules/wake-ups.md#idle-capacity;
 * docs/rules/capacity-aware.md#asym-fast-path). From the target on the first that fits; it need not
 * be the smallest. If none fits, the one that comes nearest:
 *
 *   rank  core idle  CPU fits
 *    -4     yes      all but the wish for performance
 *    -3     yes      no
 *    -2     no       yes
 *    -1     no       all but the wish for performance
 *     0     no       no
 *
 * of equals the one with most capacity. Without SMT, or if no core is known to be idle, each CPU
 * counts as an idle core. As in idle_scan.c, the limit does not bound the search for an idle core.
 *
 * What must stay: the order of the walk (ties go to the first), and what counts as looked at. Free:
 * the ranks with their page.
 *
 * Tests by part: (below crates/policy-sys/tests; `every_fixture_holds` runs the fixtures)
 * all/wake_asym_7_3.rs: `asym_example` (`wp_select_idle_capacity`), `asym_nearest`
 * (`wp_capacity_offer`, `wp_capacity_fits`), `asym_depth` (the limit), `asym_smt_ranks`
 * (`wp_siblings_idle`); fixtures/asym: first-fitting-not-smallest.toml,
 * none-fits-largest-capacity.toml, uclamp-by-actual-capacity.toml, unlimited-6-12.toml;
 * all/wake_model_7_3.rs: `random_states_agree_with_the_model`.
 *
 * Callers: `wp_select_idle_sibling` (idle_sibling.c), step 5.
 *
 * Kernel: select_idle_capacity(), kernel/sched/fair.c
 * Tests: fixtures/asym, all/wake_asym_7_3.rs
 */
#include "wakeplace/policy.h"

/* A whole core promises more than a fitting CPU beside a busy sibling. */
#define WP_RANK_CORE (-3)
#define WP_RANK_THREAD_FITS (-2)

struct wp_capacity_best {
	s32 rank;
	u32 capacity;
	u32 cpu;
};

/* Nothing runs on the other threads of this CPU's core. */
WP_FN int wp_siblings_idle(struct wp_ctx *ctx WP_NONNULL, u32 cpu)
{
	u32 i, dom_index = wp_smt_dom(ctx, cpu);
	const struct wp_sched_domain *core;

	if (dom_index == WP_NONE)
		return 1;
	core = WP_AT(ctx->doms, dom_index);
	WP_FOR(i, core->nr_cpus, WP_MAX_CPUS) {
		u32 thread = *WP_AT(ctx->list, core->first_cpu + i);

		if (thread != cpu && !wp_idle_at(ctx, thread))
			return 0;
	}
	return 1;
}

/*
 * How well does the task fit? As wp_task_fits(); in its plain form it fits or does not. The
 * verifier looks at it once.
 */
WP_FN int wp_capacity_fits(const struct wp_ctx *ctx WP_NONNULL,
			   const struct wp_task *task WP_NONNULL, u32 cpu)
{
	s32 fits = wp_task_fits(ctx, task, cpu);

	if (WP_NOT_LIVE(ctx->params.sis_asym == WP_SIS_ASYM_PLAIN))
		return fits > 0;
	return fits;
}

/* Keep an idle CPU if it comes nearer than the best so far. */
WP_FN int wp_capacity_offer(const struct wp_ctx *ctx WP_NONNULL,
			    struct wp_capacity_best *best WP_NONNULL, u32 cpu, s32 fits,
			    int core_idle)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	u32 capacity = fits < 0 ? wp_get_actual_cpu_capacity(ctx, c) : c->load.capacity;
	s32 rank = fits > 0 ? WP_RANK_THREAD_FITS : fits;

	if (core_idle)
		rank += WP_RANK_CORE;
	if (rank > best->rank || (rank == best->rank && capacity <= best->capacity))
		return 0;
	best->rank = rank;
	best->capacity = capacity;
	best->cpu = cpu;
	return 1;
}

/* Fills `dec`. The task is synced, the target has a domain with all capacities. */
WP_FN int wp_select_idle_capacity(struct wp_ctx *ctx WP_NONNULL,
				  const struct wp_task *task WP_NONNULL, u32 target,
				  struct wp_decision *dec WP_NONNULL)
{
	const struct wp_cpu *t = WP_AT(ctx->cpus, target);
	const struct wp_sched_domain *dom =
		WP_AT(ctx->doms, *WP_AT(t->topo.dom, t->topo.asym_full_level));
	u32 i, start = *WP_AT(t->topo.pos, t->topo.asym_full_level);
	u32 limited = ctx->params.sis_asym == WP_SIS_ASYM_LIMITED;
	struct wp_cpu *hints = wp_hints(ctx, target);
	u32 cores = limited && ctx->smt && hints->idle.has_idle_cores;
	u32 left = wp_scan_start(ctx, target, limited && ctx->params.sis_util);
	struct wp_capacity_best best = { .cpu = WP_NONE };

	if (left == 1) {
		WP_EXPLAIN(ctx, wp_drop_beyond(ctx, dom, start, 0));
		return wp_idle_decide(dec, target, WP_REASON_TARGET_NO_SCAN);
	}
	WP_FOR(i, dom->nr_cpus, WP_MAX_CPUS) {
		u32 cpu = wp_span_wrap(ctx, dom, start, i);
		int core_idle;
		s32 fits;

		if (!wp_allowed(task, cpu))
			continue;
		if (!cores && !--left) {
			WP_EXPLAIN(ctx, wp_drop_beyond(ctx, dom, start, i));
			break;
		}
		dec->nr_scanned++;
		if (!wp_free_for(ctx, task, cpu)) {
			WP_EXPLAIN(ctx, wp_drop(ctx, cpu, WP_DROP_BUSY));
			continue;
		}
		core_idle = !cores || wp_siblings_idle(ctx, cpu);
		fits = wp_capacity_fits(ctx, task, cpu);
		if (fits > 0 && core_idle)
			return wp_idle_decide(dec, cpu, WP_REASON_IDLE_CAPACITY);
		WP_EXPLAIN(ctx, wp_drop(ctx, cpu, fits > 0 ? WP_DROP_CORE_BUSY : WP_DROP_UNFIT));
		wp_capacity_offer(ctx, &best, cpu, fits, core_idle);
	}
	if (cores && best.rank > WP_RANK_CORE)
		hints->idle.has_idle_cores = 0;
	if (wp_idle_decide(dec, best.cpu, WP_REASON_IDLE_CAPACITY_BEST))
		return 1;
	return wp_idle_decide(dec, target, WP_REASON_TARGET_BUSY);
}
