// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Balancing towards the caches that processes prefer (docs/rules/cache-aware.md#llc-balance,
 * docs/rules/cache-aware.md#llc-mig, docs/rules/cache-aware.md#llc-detach; SCHED_CACHE, from 7.2).
 * A group with tasks that prefer the destination's cache is relieved of one of them, and a task
 * stays where its process is, as long as the caches' utilisation allows both. Which cache a process
 * prefers: preferred_llc.c.
 *
 * What must stay: without processes of several threads nothing of this runs. Free: how caches
 * are looked up; thresholds only with the page.
 *
 * Tests by part: (below crates/policy-sys/tests) all/sched_cache.rs: `towards_the_preferred_cache`
 * (`wp_can_migrate_llc`, `wp_fits_llc_capacity`, `wp_util_greater`, `wp_llc_balance`,
 * `wp_nr_pref_dst_llc`, `wp_record_sg_llc_stats`, `wp_records_llc`), `a_lone_task_is_pushed`
 * (`wp_cpu_pref_dst_llc`, `wp_balance_running`), `a_task_stays_in_its_cache`
 * (`wp_migrate_degrades_llc`, `wp_can_migrate_llc_task`, `wp_migrate_llc_task_wrong_dst`,
 * `wp_llc_given_up`), `no_push_out_of_the_preferred_cache` (`wp_alb_break_llc`).
 * `wp_task_misfits_asym_cpu` has no test of its own.
 *
 * Callers: busiest.c, imbalance.c and detach.c; `Core::balance_running` before an attempt ends.
 *
 * Kernel: fits_llc_capacity(), can_migrate_llc(), task_misfits_asym_cpu(), can_migrate_llc_task(),
 *         alb_break_llc(), migrate_llc_task_wrong_dst(), migrate_degrades_llc(),
 *         record_sg_llc_stats(), llc_balance(), kernel/sched/fair.c
 * Tests: all/sched_cache.rs
 */
#include "wakeplace/policy.h"

/* What the two caches say of a move. */
enum wp_llc_mig {
	WP_MIG_FORBID,
	WP_MIG_LLC,          /* for the cache's sake */
	WP_MIG_UNRESTRICTED, /* as without caches */
};

/* Is the cache below the utilisation at which it counts as busy? */
WP_INLINE int wp_fits_llc_capacity(const struct wp_ctx *ctx, u64 util, u64 capacity)
{
	u32 pct = ctx->params.llc_overaggr_pct;

	if (wp_sched_cache_of(ctx)->smt_threads == 1)
		pct = pct * 3 / 2;
	return util * 100 < capacity * pct;
}

/* More by llc_imb_pct percent. */
WP_INLINE int wp_util_greater(const struct wp_ctx *ctx, u64 a, u64 b)
{
	return a * 100 > b * (100 + ctx->params.llc_imb_pct);
}

/* May a task of this utilisation go from one cache to another, to the preferred one or from it? */
WP_INLINE u32 wp_can_migrate_llc(const struct wp_ctx *ctx, u32 src_cpu, u32 dst_cpu, u32 util,
				 int to_pref)
{
	struct wp_sched_cache *sc = wp_sched_cache_of(ctx);
	const struct wp_llc_stats *src = WP_AT(sc->llc, wp_llc_of(sc, src_cpu));
	const struct wp_llc_stats *dst = WP_AT(sc->llc, wp_llc_of(sc, dst_cpu));
	u64 src_util = wp_sub(src->util_avg, util), dst_util = dst->util_avg + util;
	int src_fits, dst_fits;

	if (WP_AT(ctx->cpus, src_cpu)->topo.llc_level == WP_NONE ||
	    WP_AT(ctx->cpus, dst_cpu)->topo.llc_level == WP_NONE)
		return WP_MIG_UNRESTRICTED;
	src_fits = wp_fits_llc_capacity(ctx, src_util, src->capacity);
	dst_fits = wp_fits_llc_capacity(ctx, dst_util, dst->capacity);
	if (!src_fits && !dst_fits)
		return WP_MIG_UNRESTRICTED;
	if (to_pref)
		return !dst_fits && wp_util_greater(ctx, dst_util, src_util) ? WP_MIG_FORBID
									     : WP_MIG_LLC;
	return src_fits || !wp_util_greater(ctx, src_util, dst_util) ? WP_MIG_FORBID : WP_MIG_LLC;
}

/* It fits where it is, and would not fit the destination. */
WP_INLINE int wp_task_misfits_asym_cpu(const struct wp_ctx *ctx, const struct wp_sched_domain *dom,
				       const struct wp_lb_env *bal, const struct wp_task *task)
{
	return (dom->flags & WP_SD_ASYM_CPUCAPACITY) &&
	       !wp_task_fits_cpu(ctx, task, bal->dst_cpu) &&
	       wp_task_fits_cpu(ctx, task, bal->src_cpu);
}

/* Whether the caches that processes prefer let one task of the source move. */
WP_INLINE u32 wp_can_migrate_llc_task(struct wp_ctx *ctx, const struct wp_lb_env *bal,
				      const struct wp_task *task)
{
	const struct wp_sched_cache *sc = wp_sched_cache_of(ctx);
	const struct wp_sched_domain *dom = wp_bal_dom(ctx, bal);
	struct wp_mm *mm = wp_mm_of(sc, task->mm);
	u32 preferred;

	if (wp_task_misfits_asym_cpu(ctx, dom, bal, task))
		return WP_MIG_FORBID;
	if (!mm || !mm->preferred || wp_cpus_share_cache(ctx, bal->src_cpu, bal->dst_cpu))
		return WP_MIG_UNRESTRICTED;
	if (bal->idle != WP_CPU_NOT_IDLE && wp_sched_asym(ctx, dom, bal->dst_cpu, bal->src_cpu))
		return WP_MIG_UNRESTRICTED;
	if (wp_prefers_none(ctx, sc, mm, bal->dst_cpu)) {
		mm->preferred = 0;
		return WP_MIG_UNRESTRICTED;
	}
	preferred = mm->preferred - 1;
	if (wp_cpus_share_cache(ctx, bal->dst_cpu, preferred))
		return wp_can_migrate_llc(ctx, bal->src_cpu, bal->dst_cpu, task->avg.util_avg, 1);
	if (wp_cpus_share_cache(ctx, bal->src_cpu, preferred))
		return wp_can_migrate_llc(ctx, bal->src_cpu, bal->dst_cpu, task->avg.util_avg, 0);
	return WP_MIG_UNRESTRICTED;
}

/* A task is wanted that prefers the destination's cache, and this one does not. */
WP_INLINE int wp_migrate_llc_task_wrong_dst(const struct wp_ctx *ctx, const struct wp_lb_env *bal,
					    const struct wp_task *task)
{
	return bal->migration_type == WP_MIGRATE_LLC_TASK &&
	       !wp_prefers_llc_of(ctx, task, bal->dst_cpu);
}

/* Caches stop mattering when balancing has failed that often. */
WP_INLINE int wp_llc_given_up(struct wp_ctx *ctx, const struct wp_lb_env *bal)
{
	return wp_bal_lb(ctx, bal)->nr_balance_failed >=
	       wp_bal_dom(ctx, bal)->cache_nice_tries + 1;
}

/* Does the task stay for its cache's sake? Then this is no failure of balancing. */
WP_INLINE int wp_migrate_degrades_llc(struct wp_ctx *ctx, struct wp_lb_env *bal,
				      const struct wp_task *task)
{
	if (!wp_sched_cache_enabled(ctx) || wp_llc_given_up(ctx, bal))
		return 0;
	if (!wp_migrate_llc_task_wrong_dst(ctx, bal, task) &&
	    wp_can_migrate_llc_task(ctx, bal, task) != WP_MIG_FORBID)
		return 0;
	bal->llc_pinned |= bal->migration_type != WP_MIGRATE_LLC_TASK;
	return 1;
}

/* Before an attempt ends: what src_cpu executes. */
WP_FN int wp_balance_running(struct wp_ctx *ctx WP_NONNULL, struct wp_lb_env *bal WP_NONNULL,
			     const struct wp_task *task WP_NONNULL)
{
	bal->running_util = task->avg.util_avg;
	bal->running_misfits =
		(u32)wp_task_misfits_asym_cpu(ctx, wp_bal_dom(ctx, bal), bal, task);
	return 0;
}

/* Would a push break what all tasks of the source have: the cache that they prefer? */
WP_INLINE int wp_alb_break_llc(struct wp_ctx *ctx, const struct wp_lb_env *bal)
{
	const struct wp_cpu *src = WP_AT(ctx->cpus, bal->src_cpu);
	u32 prefer;

	if (!wp_sched_cache_enabled(ctx) || wp_cpus_share_cache(ctx, bal->src_cpu, bal->this_cpu))
		return 0;
	prefer = WP_AT(wp_sched_cache_of(ctx)->cpu, bal->src_cpu)->nr_pref_running;
	if (!prefer || prefer != src->queue.nr_fair || bal->migration_type == WP_MIGRATE_MISFIT)
		return 0;
	return src->queue.nr_running <= 1 || bal->running_misfits ||
	       wp_can_migrate_llc(ctx, bal->src_cpu, bal->this_cpu, bal->running_util, 0) ==
		       WP_MIG_FORBID;
}

/* Queued tasks of a CPU that prefer the destination's cache. */
WP_INLINE u32 wp_cpu_pref_dst_llc(const struct wp_ctx *ctx, const struct wp_lb_env *bal, u32 cpu)
{
	struct wp_sched_cache *sc = wp_sched_cache_of(ctx);

	return *WP_AT(*WP_AT(sc->counts, cpu), wp_llc_of(sc, bal->dst_cpu));
}

/* Queued tasks of a group that prefer the destination's cache and are not in it. */
WP_INLINE u32 wp_nr_pref_dst_llc(struct wp_ctx *ctx, const struct wp_lb_env *bal,
				 const struct wp_sched_group *g)
{
	struct wp_sched_cache *sc = wp_sched_cache_of(ctx);
	u32 i, n = 0, llc = wp_llc_of(sc, bal->dst_cpu);

	if (!WP_AT(sc->llc, llc)->nr_prefer)
		return 0;
	WP_FOR(i, g->nr_cpus, WP_MAX_CPUS) {
		u32 cpu = *WP_AT(ctx->list, g->first_cpu + i);

		if (!wp_excluded(bal, cpu) && wp_llc_of(sc, cpu) != llc)
			n += wp_cpu_pref_dst_llc(ctx, bal, cpu);
	}
	return n;
}

/* Is the group, whose sums are in bal->sums, to give up a task that prefers the destination's
 * cache? */
WP_INLINE int wp_llc_balance(struct wp_ctx *ctx, struct wp_lb_env *bal,
			     const struct wp_sched_group *g)
{
	const struct wp_sched_domain *dom = wp_bal_dom(ctx, bal);
	struct wp_sg_lb_stats *s = &bal->sums;

	if (!wp_sched_cache_enabled(ctx) || (dom->flags & WP_SD_SHARE_LLC))
		return 0;
	s->nr_pref_dst_llc = wp_nr_pref_dst_llc(ctx, bal, g);
	if (!s->nr_pref_dst_llc || s->asym_packing || wp_llc_given_up(ctx, bal) ||
	    ((dom->flags & WP_SD_ASYM_CPUCAPACITY) && s->misfit))
		return 0;
	return wp_can_migrate_llc(ctx, *WP_AT(ctx->list, g->first_cpu), bal->dst_cpu, 0, 1) ==
	       WP_MIG_LLC;
}

/* Does the pass note what its groups, each a cache, are used? */
WP_INLINE int wp_records_llc(struct wp_ctx *ctx, const struct wp_lb_env *bal)
{
	return wp_sched_cache_enabled(ctx) && bal->idle != WP_CPU_NEWLY_IDLE &&
	       bal->level == WP_AT(ctx->cpus, bal->dst_cpu)->topo.llc_level + 1;
}

/* Utilisation and capacity of a cache, as this pass sees them. */
WP_INLINE void wp_record_sg_llc_stats(struct wp_ctx *ctx, const struct wp_lb_env *bal,
				      const struct wp_sched_group *g, u64 util)
{
	struct wp_sched_cache *sc = wp_sched_cache_of(ctx);
	struct wp_llc_stats *llc;

	if (!wp_records_llc(ctx, bal))
		return;
	llc = WP_AT(sc->llc, wp_llc_of(sc, *WP_AT(ctx->list, g->first_cpu)));
	llc->util_avg = util;
	llc->capacity = g->capacity;
}
