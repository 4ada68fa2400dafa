// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Whom to pull from (docs/rules/balancing.md#group-class, docs/rules/balancing.md#busiest-group;
 * the form since 5.5): each group of the domain becomes a class and a few sums; the busiest group
 * is the one of the highest class, of equals by what that class lacks. The pass also writes the
 * root domain's flags.
 *
 * What must stay: groups in their order, the local one first (ties); sums are those that
 * kept_sums.c keeps. Free: how groups are walked, with kept_sums.c; who is busiest only with
 * the page.
 *
 * Tests by part: (below crates/policy-sys/tests; `every_fixture_holds` runs the fixtures)
 * all/balance_7_3.rs: `busiest_group` (`wp_update_sd_pick_busiest`, `wp_update_sd_lb_stats`,
 * `wp_update_sg_lb_stats`, `wp_walk_group`), `smt_beside_single_threads` (`wp_busier_with_spare`,
 * `wp_fuller`, `wp_less_spare`), `what_is_left_alone` (`wp_bal_candidate`, `wp_bigger_with_room`),
 * `root_domain_flags` (`wp_bal_marks`, `wp_bal_root_flags`); all/pulls.rs:
 * `smaller_cpus_pull_where_no_group_is_of_the_same_class` (`wp_not_among_equals`),
 * `a_misfit_waits_for_an_idle_core` (`wp_is_core_idle`), `a_misfit_counts_where_it_is_served`
 * (`wp_counts_misfits`); kernel_diff.rs: `the_cores_balancing_is_the_kernels` (`wp_left_out`,
 * `wp_first_misfit`); fixtures/balance:
 * misfit-destination-48*.toml (`wp_capacity_greater`); all/kept.rs: `kept_sums_change_no_answer`
 * (`wp_add_group`, `wp_check_group`, `wp_kept_no_busier`, `wp_kept_less_busy`, `wp_kept_tells`,
 * `wp_check_no_busier`).
 *
 * Callers: `wp_find_busiest_of_groups` (imbalance.c); `wp_is_core_idle` also balance.c,
 * asym_packing.c, live.c.
 *
 * Kernel: update_sd_lb_stats(), update_sg_lb_stats(), update_sd_pick_busiest(),
 *         capacity_greater(), is_core_idle(), kernel/sched/fair.c
 * Tests: fixtures/balance, all/balance_7_3.rs
 */
#include "wakeplace/policy.h"

/* Capacities closer than 5 % count as equal. */
#define WP_CAPACITY_MARGIN 1078u

/* More by the margin, about 5 %. */
WP_INLINE int wp_capacity_greater(u32 a, u32 b)
{
	return (u64)a * WP_SCALE > (u64)b * WP_CAPACITY_MARGIN;
}

/* All other threads of the CPU's core are idle. */
WP_FN int wp_is_core_idle(const struct wp_ctx *ctx WP_NONNULL, u32 cpu)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	const struct wp_sched_domain *core = WP_AT(ctx->doms, c->topo.dom[0]);
	u32 i;

	if (!c->topo.nr_levels || !(core->flags & WP_SD_SHARE_CPUCAPACITY))
		return 1;
	WP_FOR(i, core->nr_cpus, WP_MAX_CPUS) {
		u32 thread = *WP_AT(ctx->list, core->first_cpu + i);

		if (thread != cpu && !wp_idle_at(ctx, thread))
			return 0;
	}
	return 1;
}

/* What one CPU says beyond its sums: load in want of a better CPU, flags of the root domain. */
WP_INLINE void wp_bal_marks(struct wp_ctx *ctx, struct wp_lb_env *bal, const struct wp_cpu *c,
			    u32 local)
{
	const struct wp_sched_domain *dom = wp_bal_dom(ctx, bal);
	struct wp_sg_lb_stats *s = &bal->sums;

	wp_stats_tipping(ctx, bal, c);
	if (!c->queue.nr_running && wp_cpu_idle(c))
		return;
	bal->overload |= c->queue.nr_running > 1;
	if (local)
		return;
	if (dom->flags & WP_SD_ASYM_CPUCAPACITY) {
		bal->overload |= c->queue.misfit_task_load > 0;
		s->misfit = wp_max(s->misfit, c->queue.misfit_task_load);
	} else if (bal->idle != WP_CPU_NOT_IDLE && c->queue.nr_fair == 1 &&
		   wp_check_cpu_capacity(c, dom->imbalance_pct)) {
		s->misfit = wp_max(s->misfit, c->load.avg.load_avg);
	}
}

/* What the CPUs of a group add up to. */
WP_INLINE void wp_walk_group(struct wp_ctx *ctx, struct wp_lb_env *bal,
			     const struct wp_sched_group *g, u32 local)
{
	u32 i;

	WP_FOR(i, g->nr_cpus, WP_MAX_CPUS) {
		u32 cpu = *WP_AT(ctx->list, g->first_cpu + i);

		if (wp_excluded(bal, cpu))
			continue;
		wp_sums_add(ctx, &bal->sums, cpu);
		wp_bal_marks(ctx, bal, WP_AT(ctx->cpus, cpu), local);
	}
}

#if defined(WP_KEEPS) && defined(WP_CHECK_BOUNDS)
/* The sums in `bal` are those that a walk finds which begins with `before`. */
static void wp_check_group(struct wp_ctx *ctx, const struct wp_lb_env *bal,
			   struct wp_lb_env *before, const struct wp_sched_group *g, u32 local)
{
	u32 at = g->first_cpu;

	wp_walk_group(ctx, before, g, local);
	WP_CHECK_KEPT("load", at, bal->sums.load, before->sums.load);
	WP_CHECK_KEPT("runnable", at, bal->sums.runnable, before->sums.runnable);
	WP_CHECK_KEPT("util", at, bal->sums.util, before->sums.util);
	WP_CHECK_KEPT("nr_running", at, bal->sums.nr_running, before->sums.nr_running);
	WP_CHECK_KEPT("nr_fair", at, bal->sums.nr_fair, before->sums.nr_fair);
	WP_CHECK_KEPT("idle_cpus", at, bal->sums.idle_cpus, before->sums.idle_cpus);
	WP_CHECK_KEPT("misfit", at, bal->sums.misfit, before->sums.misfit);
	WP_CHECK_KEPT("overload", at, bal->overload, before->overload);
	WP_CHECK_KEPT("overutilized", at, bal->overutilized, before->overutilized);
	WP_CHECK_KEPT("roomy", at, bal->roomy, before->roomy);
}
#endif

/* Adds a group to the sums of an attempt, from what is kept or by a walk. */
WP_INLINE void wp_add_group(struct wp_ctx *ctx, struct wp_lb_env *bal,
			    const struct wp_sched_group *g, u32 group, u32 local)
{
#ifdef WP_KEEPS
#ifdef WP_CHECK_BOUNDS
	struct wp_lb_env before = *bal;

	if (wp_kept_group(ctx, bal, group, local)) {
		wp_check_group(ctx, bal, &before, g, local);
		return;
	}
#else
	if (wp_kept_group(ctx, bal, group, local))
		return;
#endif
#endif
	wp_walk_group(ctx, bal, g, local);
}

/* Do misfits of the group count, since the destination serves them better than any CPU of it? */
WP_INLINE int wp_counts_misfits(struct wp_ctx *ctx, const struct wp_lb_env *bal,
				const struct wp_sched_group *g)
{
	return !ctx->params.misfit_if_bigger ||
	       !(wp_bal_dom(ctx, bal)->flags & WP_SD_ASYM_CPUCAPACITY) ||
	       wp_capacity_greater(WP_AT(ctx->cpus, bal->dst_cpu)->load.capacity,
				   g->max_capacity);
}

/* The sums of one group, into bal->sums. */
WP_FN int wp_update_sg_lb_stats(struct wp_ctx *ctx WP_NONNULL, struct wp_lb_env *bal WP_NONNULL,
				u32 group, u32 local)
{
	const struct wp_sched_domain *dom = wp_bal_dom(ctx, bal);
	const struct wp_sched_group *g = WP_AT(ctx->groups, dom->first_group + group);
	struct wp_sg_lb_stats *s = &bal->sums;
	u32 before = bal->overutilized; /* of the groups before it */

	wp_sums_clear(s);
	bal->overutilized = 0;
	wp_add_group(ctx, bal, g, group, local);
	if (!wp_counts_misfits(ctx, bal, g))
		s->misfit = 0;
	/* Two tasks that share a core would rather have one each. */
	s->smt_balance = wp_bal_knows_cores(ctx) && !local && bal->idle != WP_CPU_NOT_IDLE &&
			 s->nr_fair > 1 && (g->flags & WP_SD_SHARE_CPUCAPACITY);
	s->asym_packing = !local && wp_sched_group_asym(ctx, bal, dom, g, s);
	s->llc_balance = !local && wp_llc_balance(ctx, bal, g);
	wp_sums_close(s, g, wp_may_be_overloaded(ctx, bal->overutilized), dom->imbalance_pct);
	bal->overutilized |= before;
	wp_record_sg_llc_stats(ctx, bal, g, s->util);
	if (s->group_type != WP_GROUP_OVERLOADED)
		s->avg_load = 0; /* says nothing while there is room */
	return 0;
}

/* Has the group in bal->sums bigger CPUs than the destination, and room for all of its tasks? */
WP_INLINE int wp_bigger_with_room(struct wp_ctx *ctx, const struct wp_lb_env *bal)
{
	const struct wp_sg_lb_stats *s = &bal->sums;

	return (wp_bal_dom(ctx, bal)->flags & WP_SD_ASYM_CPUCAPACITY) &&
	       s->group_type <= WP_GROUP_FULLY_BUSY &&
	       wp_capacity_greater(s->min_capacity,
				   WP_AT(ctx->cpus, bal->dst_cpu)->load.capacity);
}

/* Without pull_down_any_class such a group is looked at, and is not taken among its equals. */
WP_INLINE int wp_not_among_equals(struct wp_ctx *ctx, const struct wp_lb_env *bal)
{
	return !ctx->params.pull_down_any_class && wp_bigger_with_room(ctx, bal);
}

/* Could the destination help the group in bal->sums at all? */
WP_INLINE int wp_bal_candidate(struct wp_ctx *ctx, const struct wp_lb_env *bal)
{
	const struct wp_sg_lb_stats *s = &bal->sums;
	u32 dst = WP_AT(ctx->cpus, bal->dst_cpu)->load.capacity;

	if (!s->nr_fair)
		return 0;
	if (!(wp_bal_dom(ctx, bal)->flags & WP_SD_ASYM_CPUCAPACITY))
		return 1;
	if (s->group_type == WP_GROUP_MISFIT_TASK)
		return wp_capacity_greater(dst, s->max_capacity) &&
		       bal->local_sums.group_type == WP_GROUP_HAS_SPARE &&
		       (!ctx->params.misfit_core_idle ||
			wp_is_core_idle(ctx, bal->dst_cpu));
	/* Bigger CPUs with room for all of their tasks are not relieved by smaller ones. */
	return !ctx->params.pull_down_any_class || !wp_bigger_with_room(ctx, bal);
}

/* Fewer idle CPUs than those of a group; of equals more running tasks. */
WP_INLINE int wp_less_spare(u32 idle_cpus, u32 nr_running, const struct wp_sg_lb_stats *b)
{
	if (idle_cpus != b->idle_cpus)
		return idle_cpus < b->idle_cpus;
	return nr_running > b->nr_running;
}

/* Is it busier than a group of its class whose CPUs are busy, too? By load, then by threads. */
WP_INLINE int wp_fuller(const struct wp_ctx *ctx, const struct wp_sg_lb_stats *s,
			const struct wp_sg_lb_stats *b, u32 b_smt)
{
	if (s->avg_load != b->avg_load)
		return s->avg_load > b->avg_load;
	return wp_bal_knows_cores(ctx) && !b_smt; /* before, the first of equals stayed */
}

/* Both have room for more. The lone task of an SMT core stays: moving it would idle the core. */
WP_INLINE int wp_busier_with_spare(struct wp_ctx *ctx, const struct wp_lb_env *bal, u32 smt,
				   u32 b_smt)
{
	if (wp_bal_knows_cores(ctx) && bal->busiest_group != WP_NONE && smt != b_smt)
		return !smt || bal->sums.nr_fair > 1;
	return !wp_not_among_equals(ctx, bal) &&
	       wp_less_spare(bal->sums.idle_cpus, bal->sums.nr_running, &bal->busiest_sums);
}

/* Is the first group of misfits that are as heavy the busiest? */
WP_INLINE int wp_first_misfit(const struct wp_ctx *ctx)
{
	return !WP_NOT_LIVE(ctx->params.misfit_form != WP_MISFIT_612);
}

/* Is the group in bal->sums busier than the busiest so far? */
WP_INLINE int wp_update_sd_pick_busiest(struct wp_ctx *ctx, const struct wp_lb_env *bal, u32 group)
{
	const struct wp_sg_lb_stats *s = &bal->sums, *b = &bal->busiest_sums;
	u32 first = wp_bal_dom(ctx, bal)->first_group;
	u32 smt = WP_AT(ctx->groups, first + group)->flags & WP_SD_SHARE_CPUCAPACITY;
	u32 b_smt;

	if (bal->busiest_group == WP_NONE) /* compared with a group of spare CPUs only */
		return s->group_type > WP_GROUP_HAS_SPARE ||
		       wp_busier_with_spare(ctx, bal, smt, smt);
	b_smt = WP_AT(ctx->groups, first + bal->busiest_group)->flags & WP_SD_SHARE_CPUCAPACITY;
	if (s->group_type != b->group_type)
		return s->group_type > b->group_type;
	switch (s->group_type) {
	case WP_GROUP_OVERLOADED:
		return s->avg_load > b->avg_load;
	case WP_GROUP_LLC_BALANCE:
		return s->nr_pref_dst_llc > b->nr_pref_dst_llc;
	case WP_GROUP_MISFIT_TASK:
		/* In 6.1 the last of equals (docs/rules/balancing.md#busiest-group). */
		return s->misfit > b->misfit || (s->misfit == b->misfit && !wp_first_misfit(ctx));
	case WP_GROUP_SMT_BALANCE:
		if (s->idle_cpus || b->idle_cpus)
			return wp_less_spare(s->idle_cpus, s->nr_running, b);
		return wp_fuller(ctx, s, b, b_smt);
	case WP_GROUP_FULLY_BUSY:
		return wp_fuller(ctx, s, b, b_smt) && !wp_not_among_equals(ctx, bal);
	case WP_GROUP_ASYM_PACKING: /* the worst of them first */
		return wp_sched_asym_prefer(
			ctx, WP_AT(ctx->groups, first + bal->busiest_group)->prefer_cpu,
			WP_AT(ctx->groups, first + group)->prefer_cpu);
	case WP_GROUP_HAS_SPARE:
		return wp_busier_with_spare(ctx, bal, smt, b_smt);
	default: /* affinity tells nothing of one group over another: the first */
		return 0;
	}
}

#ifdef WP_KEEPS
#ifdef WP_CHECK_BOUNDS
/* A look at the group does not take it for the busiest. */
static void wp_check_no_busier(struct wp_ctx *ctx, const struct wp_lb_env *bal, u32 group)
{
	struct wp_lb_env look = *bal;
	int busier;

	wp_update_sg_lb_stats(ctx, &look, group, 0);
	busier = wp_bal_candidate(ctx, &look) && wp_update_sd_pick_busiest(ctx, &look, group);
	WP_CHECK_KEPT("busier", group, 0, busier);
}
#else
#define wp_check_no_busier(ctx, bal, group) ((void)0)
#endif

/* Does the busiest group so far go before one that has a CPU to spare? */
WP_INLINE int wp_kept_less_busy(struct wp_ctx *ctx, const struct wp_lb_env *bal,
				const struct wp_sched_group *g, const struct wp_kept_sums *sum)
{
	const struct wp_sg_lb_stats *b = &bal->busiest_sums;
	u32 smt = g->flags & WP_SD_SHARE_CPUCAPACITY, b_smt;

	if (bal->busiest_group == WP_NONE)
		return 0;
	b_smt = WP_AT(ctx->groups, wp_bal_dom(ctx, bal)->first_group + bal->busiest_group)->flags &
		WP_SD_SHARE_CPUCAPACITY;
	if (smt != b_smt || (smt && sum->nr_fair > 1))
		return 0;
	return b->group_type != WP_GROUP_HAS_SPARE ||
	       !wp_less_spare(sum->idle_cpus, sum->nr_running, b);
}

/* Do sums alone tell of most groups that they are not the busiest? Not where sizes and ranks of
 * CPUs count. */
WP_INLINE int wp_kept_tells(const struct wp_lb_env *bal, const struct wp_sched_domain *dom)
{
	return bal->kept && !(dom->flags & (WP_SD_ASYM_CPUCAPACITY | WP_SD_ASYM_PACKING));
}

/*
 * Is a group not the busiest, by what is kept of it alone? So it is without a fair task, and with
 * a CPU to spare where the busiest so far has no more of them. Most groups of a large domain are.
 * Then only what it adds to the domain counts, and is added here.
 */
WP_INLINE int wp_kept_no_busier(struct wp_ctx *ctx, struct wp_lb_env *bal,
				const struct wp_sched_domain *dom, u32 group)
{
	const struct wp_sched_group *g = WP_AT(ctx->groups, dom->first_group + group);
	const struct wp_kept_sums *sum = wp_kept_sums_at(ctx, wp_kept_of(ctx), dom, group);

	if (sum->nr_fair && (sum->nr_running >= g->nr_cpus || sum->squeezed || g->imbalanced ||
			     !wp_kept_less_busy(ctx, bal, g, sum)))
		return 0;
	if (wp_sched_cache_enabled(ctx) && wp_nr_pref_dst_llc(ctx, bal, g))
		return 0;
	wp_check_no_busier(ctx, bal, group);
	wp_record_sg_llc_stats(ctx, bal, g, sum->util);
	bal->total_load += sum->load;
	bal->total_capacity += g->capacity;
	bal->overload |= sum->overload > 0;
	wp_kept_tipping(bal, sum, g->nr_cpus);
	return 1;
}
#endif

/* Utilisation of the sources that are left out since their tasks are pinned. */
WP_INLINE u64 wp_left_out(struct wp_ctx *ctx, const struct wp_lb_env *bal)
{
	const struct wp_sched_domain *dom = wp_bal_dom(ctx, bal);
	u64 any = 0, util = 0;
	u32 i;

	WP_FOR(i, WP_MASK_WORDS, WP_MASK_WORDS) {
		any |= bal->excluded[i];
	}
	if (!any)
		return 0;
	WP_FOR(i, dom->nr_cpus, WP_MAX_CPUS) {
		u32 cpu = *WP_AT(ctx->list, dom->first_cpu + i);

		if (wp_excluded(bal, cpu))
			util += wp_cpu_util_cfs(ctx, WP_AT(ctx->cpus, cpu));
	}
	return util;
}

/* What a pass over all groups learned. The top level sees all CPUs, lower ones can only set. */
WP_INLINE void wp_bal_root_flags(struct wp_ctx *ctx, const struct wp_lb_env *bal)
{
	wp_stats_root_flags(ctx, bal);
	if (bal->idle != WP_CPU_NEWLY_IDLE)
		wp_update_scan_without(ctx, bal->this_cpu, bal->level, wp_left_out(ctx, bal));
}

/* Walk all groups, the local one first: local_sums, busiest_sums, busiest_group, totals. */
WP_FN int wp_update_sd_lb_stats(struct wp_ctx *ctx WP_NONNULL, struct wp_lb_env *bal WP_NONNULL)
{
	const struct wp_sched_domain *dom = wp_bal_dom(ctx, bal);
	u32 k, local = *WP_AT(WP_AT(ctx->cpus, bal->this_cpu)->topo.group, bal->level);

	bal->busiest_group = WP_NONE;
	wp_sums_clear(&bal->busiest_sums);
	bal->busiest_sums.idle_cpus = WP_NONE;
#ifdef WP_KEEPS
	wp_kept_pass_begin(ctx, bal);
	int told = wp_kept_tells(bal, dom);
#endif
	WP_FOR(k, dom->nr_groups, WP_MAX_CPUS) {
		u32 group = local + k < dom->nr_groups ? local + k : local + k - dom->nr_groups;

#ifdef WP_KEEPS
		if (told && group != local && wp_kept_no_busier(ctx, bal, dom, group))
			continue;
#endif
		wp_update_sg_lb_stats(ctx, bal, group, group == local);
		bal->total_load += bal->sums.load;
		bal->total_capacity += bal->sums.capacity;
		if (group == local) {
			bal->local_sums = bal->sums;
		} else if (wp_bal_candidate(ctx, bal) &&
			   wp_update_sd_pick_busiest(ctx, bal, group)) {
			bal->busiest_sums = bal->sums;
			bal->busiest_group = group;
		}
	}
	wp_bal_root_flags(ctx, bal);
	return 0;
}
