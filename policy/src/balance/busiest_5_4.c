// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Whom to pull from and how much, in the form of the kernels before 5.5
 * (docs/rules/linux-4-17.md#balancing-4-17): sums of loads, classes (other < misfit < imbalanced <
 * overloaded), the busiest group by class, then by load per capacity; loads are brought to the
 * domain's average. Misfit tasks as in 4.20 (docs/rules/linux-5-0-to-6-12.md#misfit-forms). Native
 * builds only.
 *
 * What must stay: eras to 5.4 alone use it; groups in their order (ties). Free: the search,
 * for those eras alone, with its page.
 *
 * Tests by part: (below crates/policy-sys/tests; `every_fixture_holds` runs the fixtures)
 * fixtures/balance: average-4-17.toml, between-overloaded-only-the-excess-4-17.toml
 * (`wp_calculate_imbalance_5_4`), overloaded-*-4-17.toml (`wp_group_is_overloaded_5_4`,
 * `wp_worth_balancing_5_4`), misfit-5-0.toml, misfit-not-below-its-size-5-0.toml
 * (`wp_helps_misfit`), misfit-largest-is-the-source-5-0.toml (`wp_misfit_queue`),
 * lone-task-stays-on-bigger-5-0.toml (`wp_lone_on_bigger`), no-pull-4-17-*.toml;
 * fixtures/balance_38: no-pull-*.toml (`wp_bigger_and_not_overloaded`), siblings-4-*.toml
 * (`wp_prefer_sibling`, `wp_child_prefers_sibling`), *-pull*-overload-4-7.toml
 * (`wp_pulls_overload`), amount-throughput-*.toml (`wp_fix_small_imbalance_5_4`, by the form to
 * 3.12); all/balance.rs: `which_tasks_move` (`wp_find_busiest_queue_5_4`); all/capacity_vectors.rs:
 * `reject_pull_rows`; all/kept.rs: `kept_sums_change_no_answer` (`wp_add_group_5_4`,
 * `wp_check_group_5_4`). `wp_find_busiest_5_4`, `wp_find_busiest_of_groups_5_4`,
 * `wp_update_sd_lb_stats_5_4`, `wp_update_sg_lb_stats_5_4`, `wp_update_sd_pick_busiest_5_4`,
 * `wp_group_classify_5_4`, `wp_group_has_capacity_5_4`, `wp_walk_group_5_4`, `wp_stats_add` and
 * `wp_get_sd_load_idx_5_1` have no test of their own: average-4-17.toml would show a fault of
 * theirs.
 *
 * Callers: `wp_balance_source` (balance.c); busiest_3_12.c shares some parts.
 *
 * Kernel: find_busiest_group() as wp_worth_balancing_5_4(), update_sd_lb_stats(),
 *         update_sg_lb_stats(), update_sd_pick_busiest(), group_classify(), group_is_overloaded(),
 *         group_has_capacity(), calculate_imbalance(), fix_small_imbalance(),
 *         find_busiest_queue(), kernel/sched/fair.c, to 5.4; get_sd_load_idx(),
 *         kernel/sched/fair.c, to 5.1
 * Tests: fixtures/balance, fixtures/balance_38, all/balance.rs
 */
#include "wakeplace/policy.h"

/* More tasks than CPUs and, within the margin, more demand than capacity. */
WP_INLINE int wp_group_is_overloaded_5_4(const struct wp_sg_lb_stats_5_4 *s, u32 pct)
{
	return s->nr_running > s->weight && (u64)s->capacity * 100 < s->util * pct;
}

/* A CPU without a task, or demand that leaves the margin free. */
WP_INLINE int wp_group_has_capacity_5_4(const struct wp_sg_lb_stats_5_4 *s, u32 pct)
{
	return s->nr_running < s->weight || (u64)s->capacity * 100 > s->util * pct;
}

/* The class of a group, from its sums. */
WP_INLINE u32 wp_group_classify_5_4(const struct wp_sg_lb_stats_5_4 *s,
				    const struct wp_sched_group *g)
{
	if (s->group_no_capacity)
		return WP_GROUP_OVERLOADED_5_4;
	if (g->imbalanced)
		return WP_GROUP_IMBALANCED_5_4;
	return s->misfit ? WP_GROUP_MISFIT_TASK_5_4 : WP_GROUP_OTHER_5_4;
}

/* Add one CPU to a group's sums. */
WP_INLINE void wp_stats_add(struct wp_ctx *ctx, struct wp_lb_env *bal, struct wp_sg_lb_stats_5_4 *s,
			    u32 cpu, int local)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);

	s->load += local ? wp_target_load(ctx, c, bal->load_idx)
			 : wp_source_load(ctx, c, bal->load_idx);
	s->util += wp_cpu_util_cfs(ctx, c);
	s->nr_running += c->queue.nr_fair;
	s->weighted_load += wp_cpu_load(ctx, c);
	bal->overload |= c->queue.nr_running > 1;
	if (!c->queue.nr_running && wp_cpu_idle(c))
		s->idle_cpus++;
	wp_stats_tipping(ctx, bal, c);
	if (c->queue.misfit_task_load && (wp_bal_dom(ctx, bal)->flags & WP_SD_ASYM_CPUCAPACITY)) {
		s->misfit = wp_max(s->misfit, c->queue.misfit_task_load);
		bal->overload = 1;
	}
}

/* What the CPUs of a group add up to. */
WP_INLINE void wp_walk_group_5_4(struct wp_ctx *ctx, struct wp_lb_env *bal,
				 const struct wp_sched_group *g, u32 local)
{
	u32 i;

	WP_FOR(i, g->nr_cpus, WP_MAX_CPUS) {
		u32 cpu = *WP_AT(ctx->list, g->first_cpu + i);

		if (!wp_excluded(bal, cpu))
			wp_stats_add(ctx, bal, &bal->scratch, cpu, (int)local);
	}
}

#if defined(WP_KEEPS) && defined(WP_CHECK_BOUNDS)
/* The sums in `bal` are those that a walk finds which begins with `before`. */
static void wp_check_group_5_4(struct wp_ctx *ctx, const struct wp_lb_env *bal,
			       struct wp_lb_env *before, const struct wp_sched_group *g, u32 local)
{
	const struct wp_sg_lb_stats_5_4 *s = &bal->scratch, *walked = &before->scratch;
	u32 at = g->first_cpu;

	wp_walk_group_5_4(ctx, before, g, local);
	WP_CHECK_KEPT("load", at, s->load, walked->load);
	WP_CHECK_KEPT("weighted_load", at, s->weighted_load, walked->weighted_load);
	WP_CHECK_KEPT("util", at, s->util, walked->util);
	WP_CHECK_KEPT("nr_running", at, s->nr_running, walked->nr_running);
	WP_CHECK_KEPT("idle_cpus", at, s->idle_cpus, walked->idle_cpus);
	WP_CHECK_KEPT("misfit", at, s->misfit, walked->misfit);
	WP_CHECK_KEPT("overload", at, bal->overload, before->overload);
	WP_CHECK_KEPT("overutilized", at, bal->overutilized, before->overutilized);
	WP_CHECK_KEPT("roomy", at, bal->roomy, before->roomy);
}
#endif

/* Adds a group to the sums of an attempt, from what is kept or by a walk. */
WP_INLINE void wp_add_group_5_4(struct wp_ctx *ctx, struct wp_lb_env *bal,
				const struct wp_sched_group *g, u32 group, u32 local)
{
#ifdef WP_KEEPS
#ifdef WP_CHECK_BOUNDS
	struct wp_lb_env before = *bal;

	if (wp_kept_group_5_4(ctx, bal, group)) {
		wp_check_group_5_4(ctx, bal, &before, g, local);
		return;
	}
#else
	if (wp_kept_group_5_4(ctx, bal, group))
		return;
#endif
#endif
	wp_walk_group_5_4(ctx, bal, g, local);
}

/* The sums of a group, into `scratch`. */
WP_FN int wp_update_sg_lb_stats_5_4(struct wp_ctx *ctx WP_NONNULL, struct wp_lb_env *bal WP_NONNULL,
				    u32 group, u32 local)
{
	const struct wp_sched_domain *dom = wp_bal_dom(ctx, bal);
	const struct wp_sched_group *g = WP_AT(ctx->groups, dom->first_group + group);
	struct wp_sg_lb_stats_5_4 *s = &bal->scratch, zero = {0};

	*s = zero;
	wp_add_group_5_4(ctx, bal, g, group, local);
	s->capacity = g->capacity;
	s->weight = g->nr_cpus;
	s->avg_load = wp_div(s->load * WP_SCALE, s->capacity);
	s->load_per_task = wp_div(s->weighted_load, s->nr_running);
	s->group_no_capacity = (u32)wp_group_is_overloaded_5_4(s, dom->imbalance_pct);
	s->group_type = wp_group_classify_5_4(s, g);
	return 0;
}

/*
 * Do not drag a task from a bigger CPU of its own to a smaller one
 * (docs/rules/capacity-aware.md#asym-no-pull): 20 % smaller, and no more tasks than CPUs over
 * there.
 */
WP_INLINE int wp_bigger_and_not_overloaded(struct wp_ctx *ctx, const struct wp_lb_env *bal,
					   u32 group, u32 local_group)
{
	const struct wp_sched_domain *dom = wp_bal_dom(ctx, bal);
	const struct wp_sched_group *local = WP_AT(ctx->groups, dom->first_group + local_group);
	const struct wp_sched_group *g = WP_AT(ctx->groups, dom->first_group + group);

	if (!ctx->params.asym_no_pull || !(dom->flags & WP_SD_ASYM_CPUCAPACITY))
		return 0;
	if (bal->scratch.nr_running > bal->scratch.weight)
		return 0;
	if (ctx->params.asym_no_pull_max)
		return (u64)local->max_capacity * WP_FIT_MARGIN < (u64)g->max_capacity * WP_SCALE;
	return (u64)local->min_capacity * WP_FIT_MARGIN < (u64)g->min_capacity * WP_SCALE;
}

/* Has the local group a bigger CPU, by 20 %, and room for a misfit task? */
WP_INLINE int wp_helps_misfit(struct wp_ctx *ctx, const struct wp_lb_env *bal, u32 group,
			      u32 local_group)
{
	const struct wp_sched_domain *dom = wp_bal_dom(ctx, bal);
	const struct wp_sched_group *local = WP_AT(ctx->groups, dom->first_group + local_group);
	const struct wp_sched_group *g = WP_AT(ctx->groups, dom->first_group + group);

	return (u64)g->max_capacity * WP_FIT_MARGIN < (u64)local->max_capacity * WP_SCALE &&
	       wp_group_has_capacity_5_4(&bal->local, dom->imbalance_pct);
}

/* Is the group in `scratch` busier than the busiest so far? */
WP_INLINE int wp_update_sd_pick_busiest_5_4(struct wp_ctx *ctx, const struct wp_lb_env *bal,
					    u32 group, u32 local_group)
{
	const struct wp_sg_lb_stats_5_4 *s = &bal->scratch, *b = &bal->busiest;

	if (s->group_type == WP_GROUP_MISFIT_TASK_5_4 &&
	    !wp_helps_misfit(ctx, bal, group, local_group))
		return 0;
	if (s->group_type != b->group_type)
		return s->group_type > b->group_type;
	if (s->avg_load <= b->avg_load)
		return 0;
	if (wp_bigger_and_not_overloaded(ctx, bal, group, local_group))
		return 0;
	if (s->group_type == WP_GROUP_MISFIT_TASK_5_4 && s->misfit < b->misfit)
		return 0;
	return !wp_asym_packs_5_4(ctx, bal) || bal->idle == WP_CPU_NOT_IDLE ||
	       wp_asym_busier_5_4(ctx, bal, group);
}

/* Does the level below want its siblings spread? */
WP_INLINE int wp_child_prefers_sibling(struct wp_ctx *ctx, const struct wp_lb_env *bal)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, bal->this_cpu);

	return bal->level && (WP_AT(ctx->doms, *WP_AT(c->topo.dom, bal->level - 1))->flags &
			      WP_SD_PREFER_SIBLING);
}

/* The child domain wants its siblings spread: one task more than here is one too many there. */
WP_INLINE void wp_prefer_sibling(struct wp_ctx *ctx, struct wp_lb_env *bal, u32 group)
{
	const struct wp_sched_domain *dom = wp_bal_dom(ctx, bal);
	struct wp_sg_lb_stats_5_4 *s = &bal->scratch;
	u32 fair = ctx->params.sibling_beyond_local ? bal->local.nr_running + 1 : 1;

	if (!wp_child_prefers_sibling(ctx, bal) ||
	    !wp_group_has_capacity_5_4(&bal->local, dom->imbalance_pct) || s->nr_running <= fair)
		return;
	s->group_no_capacity = 1;
	s->group_type = wp_group_classify_5_4(s, WP_AT(ctx->groups, dom->first_group + group));
}

/* Walk all groups, the local one first; writes the root domain's flags. */
WP_FN int wp_update_sd_lb_stats_5_4(struct wp_ctx *ctx WP_NONNULL, struct wp_lb_env *bal WP_NONNULL)
{
	const struct wp_sched_domain *dom = wp_bal_dom(ctx, bal);
	u32 k, local = *WP_AT(WP_AT(ctx->cpus, bal->this_cpu)->topo.group, bal->level);

	bal->busiest_group = WP_NONE;
#ifdef WP_KEEPS
	wp_kept_pass_begin(ctx, bal);
#endif
	WP_FOR(k, dom->nr_groups, WP_MAX_CPUS) {
		u32 group = local + k < dom->nr_groups ? local + k : local + k - dom->nr_groups;

		wp_update_sg_lb_stats_5_4(ctx, bal, group, group == local);
		if (group == local) {
			bal->local = bal->scratch;
		} else {
			wp_prefer_sibling(ctx, bal, group);
			if (wp_update_sd_pick_busiest_5_4(ctx, bal, group, local)) {
				bal->busiest = bal->scratch;
				bal->busiest_group = group;
			}
		}
		bal->total_load += bal->scratch.load;
		bal->total_capacity += bal->scratch.capacity;
	}
	wp_stats_root_flags(ctx, bal);
	return 0;
}

/* Less than one task's load is to move: is moving one worth it all the same? */
WP_INLINE void wp_fix_small_imbalance_5_4(struct wp_ctx *ctx, struct wp_lb_env *bal)
{
	struct wp_sg_lb_stats_5_4 *l = &bal->local, *b = &bal->busiest;
	u64 now, moved = 0, scaled, tmp, factor = 2;

	if (!l->nr_running) {
		const struct wp_cpu *c = WP_AT(ctx->cpus, bal->this_cpu);

		l->load_per_task = wp_div(wp_cpu_load(ctx, c), c->queue.nr_fair);
	} else if (b->load_per_task > l->load_per_task) {
		factor = 1;
	}
	scaled = wp_div(b->load_per_task * WP_SCALE, b->capacity);
	if (b->avg_load + scaled >= l->avg_load + scaled * factor) {
		bal->imbalance = (s64)b->load_per_task;
		return;
	}
	/* Otherwise only if more capacity is used after the move than before. */
	now = b->capacity * wp_min64(b->load_per_task, b->avg_load) +
	      l->capacity * wp_min64(l->load_per_task, l->avg_load);
	if (b->avg_load > scaled)
		moved = b->capacity * wp_min64(b->load_per_task, b->avg_load - scaled);
	if (b->avg_load * b->capacity < b->load_per_task * WP_SCALE)
		tmp = wp_div(b->avg_load * b->capacity, l->capacity);
	else
		tmp = wp_div(b->load_per_task * WP_SCALE, l->capacity);
	moved += l->capacity * wp_min64(l->load_per_task, l->avg_load + tmp);
	if (moved / WP_SCALE > now / WP_SCALE)
		bal->imbalance = (s64)b->load_per_task;
}

/* How much load to move. */
WP_INLINE void wp_calculate_imbalance_5_4(struct wp_ctx *ctx, struct wp_lb_env *bal)
{
	struct wp_sg_lb_stats_5_4 *l = &bal->local, *b = &bal->busiest;
	u64 above = ~0ull, pull;

	if (b->group_type == WP_GROUP_IMBALANCED_5_4)
		b->load_per_task = wp_min64(b->load_per_task, bal->avg_load);
	bal->imbalance = 0;
	if (b->group_type == WP_GROUP_MISFIT_TASK_5_4) {
		bal->migration_type = WP_MIGRATE_MISFIT;
	} else if (b->avg_load <= bal->avg_load || l->avg_load >= bal->avg_load) {
		wp_fix_small_imbalance_5_4(ctx, bal);
		return;
	}
	/* Between two overloaded groups only what exceeds the source's capacity moves. */
	if (b->group_type == WP_GROUP_OVERLOADED_5_4 && l->group_type == WP_GROUP_OVERLOADED_5_4) {
		above = (u64)b->nr_running * WP_SCALE;
		if (above > b->capacity)
			above = wp_div((above - b->capacity) * WP_SCALE, b->capacity);
		else
			above = ~0ull;
	}
	pull = wp_min64(wp_sub(b->avg_load, bal->avg_load), above);
	bal->imbalance = (s64)(wp_min64(pull * b->capacity,
					wp_sub(bal->avg_load, l->avg_load) * l->capacity) /
			       WP_SCALE);
	if (b->group_type == WP_GROUP_MISFIT_TASK_5_4) /* whatever the loads: that task at least */
		bal->imbalance = (s64)wp_max64((u64)bal->imbalance, b->misfit);
	if ((u64)bal->imbalance < b->load_per_task)
		wp_fix_small_imbalance_5_4(ctx, bal);
}

/* Does a group without room give up tasks to this CPU whatever the loads? */
WP_INLINE int wp_pulls_overload(const struct wp_ctx *ctx, const struct wp_lb_env *bal)
{
	return ctx->params.idle_pulls_overload ? bal->idle != WP_CPU_NOT_IDLE
					       : bal->idle == WP_CPU_NEWLY_IDLE;
}

/* Is the busiest group busy enough to act? */
WP_INLINE int wp_worth_balancing_5_4(struct wp_ctx *ctx, struct wp_lb_env *bal)
{
	const struct wp_sg_lb_stats_5_4 *l = &bal->local, *b = &bal->busiest;
	u32 pct = wp_bal_dom(ctx, bal)->imbalance_pct;

	if (bal->busiest_group == WP_NONE || !b->nr_running)
		return 0;
	bal->avg_load = wp_div(WP_SCALE * bal->total_load, bal->total_capacity);
	if (b->group_type == WP_GROUP_IMBALANCED_5_4)
		return 1;
	if (wp_pulls_overload(ctx, bal) && wp_group_has_capacity_5_4(l, pct) &&
	    b->group_no_capacity)
		return 1;
	if (b->group_type == WP_GROUP_MISFIT_TASK_5_4)
		return 1;
	if (l->avg_load >= b->avg_load || l->avg_load >= bal->avg_load)
		return 0;
	if (bal->idle == WP_CPU_IDLE)
		return b->group_type == WP_GROUP_OVERLOADED_5_4 || l->idle_cpus > b->idle_cpus + 1;
	return 100 * b->avg_load > pct * l->avg_load;
}

/*
 * Would pulling from this CPU put its lone task on a smaller CPU? Such a task would have to be
 * pushed; since there are misfit tasks to balance (4.20) that is avoided.
 */
WP_INLINE int wp_lone_on_bigger(struct wp_ctx *ctx, const struct wp_lb_env *bal,
				const struct wp_cpu *c)
{
	return ctx->params.misfit && (wp_bal_dom(ctx, bal)->flags & WP_SD_ASYM_CPUCAPACITY) &&
	       c->queue.nr_running == 1 &&
	       WP_AT(ctx->cpus, bal->dst_cpu)->load.capacity < c->load.capacity;
}

/* The queue of the largest misfit task. */
WP_INLINE u32 wp_misfit_queue(struct wp_ctx *ctx, const struct wp_lb_env *bal)
{
	const struct wp_sched_domain *dom = wp_bal_dom(ctx, bal);
	const struct wp_sched_group *g = WP_AT(ctx->groups, dom->first_group + bal->busiest_group);
	u32 i, most = 0, found = WP_NONE;

	WP_FOR(i, g->nr_cpus, WP_MAX_CPUS) {
		u32 cpu = *WP_AT(ctx->list, g->first_cpu + i);

		if (wp_excluded(bal, cpu) || WP_AT(ctx->cpus, cpu)->queue.misfit_task_load <= most)
			continue;
		most = WP_AT(ctx->cpus, cpu)->queue.misfit_task_load;
		found = cpu;
	}
	return found;
}

/* The queue to pull from: most load per capacity. */
WP_INLINE u32 wp_find_busiest_queue_5_4(struct wp_ctx *ctx, const struct wp_lb_env *bal)
{
	const struct wp_sched_domain *dom = wp_bal_dom(ctx, bal);
	const struct wp_sched_group *g = WP_AT(ctx->groups, dom->first_group + bal->busiest_group);
	u64 busiest_load = 0, busiest_capacity = 1;
	u32 i, busiest = WP_NONE;

	WP_FOR(i, g->nr_cpus, WP_MAX_CPUS) {
		u32 cpu = *WP_AT(ctx->list, g->first_cpu + i);
		const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
		u64 load = wp_cpu_load(ctx, c);

		if (wp_excluded(bal, cpu) || wp_lone_on_bigger(ctx, bal, c))
			continue;
		/* A lone task heavier than what is to move stays, unless its CPU is squeezed. */
		if (c->queue.nr_running == 1 && (s64)load > bal->imbalance &&
		    !wp_check_cpu_capacity(c, dom->imbalance_pct))
			continue;
		if (load * busiest_capacity > busiest_load * c->load.capacity) {
			busiest_load = load;
			busiest_capacity = c->load.capacity;
			busiest = cpu;
		}
	}
	return busiest;
}

/* How far back loads are looked at. */
WP_INLINE u32 wp_get_sd_load_idx_5_1(struct wp_ctx *ctx, const struct wp_lb_env *bal)
{
	const struct wp_sched_domain *dom = wp_bal_dom(ctx, bal);

	if (bal->idle == WP_CPU_NOT_IDLE)
		return dom->busy_idx;
	return bal->idle == WP_CPU_IDLE ? dom->idle_idx : 0;
}

/* By a look at all groups. */
WP_INLINE u32 wp_find_busiest_of_groups_5_4(struct wp_ctx *ctx, struct wp_lb_env *bal)
{
	wp_update_sd_lb_stats_5_4(ctx, bal);
	/* Below the tipping point placement is the energy-aware wake-up's, but for misfits. */
	if (ctx->energy_active && !ctx->overutilized &&
	    bal->busiest.group_type != WP_GROUP_MISFIT_TASK_5_4)
		return WP_NONE;
	if (!wp_check_asym_packing_5_4(ctx, bal)) {
		if (!wp_worth_balancing_5_4(ctx, bal))
			return WP_NONE;
		wp_calculate_imbalance_5_4(ctx, bal);
	}
	if (bal->imbalance <= 0)
		return WP_NONE;
	return bal->migration_type == WP_MIGRATE_MISFIT ? wp_misfit_queue(ctx, bal)
							: wp_find_busiest_queue_5_4(ctx, bal);
}

/* Groups, amount and source in one; returns the source, WP_NONE: balanced. */
WP_INLINE u32 wp_find_busiest_5_4(struct wp_ctx *ctx, struct wp_lb_env *bal)
{
	struct wp_sg_lb_stats_5_4 zero = {0};

	bal->busiest = zero;
	bal->load_idx = wp_get_sd_load_idx_5_1(ctx, bal);
	wp_refresh_local_group(ctx, bal);
#ifdef WP_KEEPS
	if (wp_balanced_as_kept(ctx, bal, wp_find_busiest_of_groups_5_4)) {
		wp_stats_root_flags(ctx, bal);
		return WP_NONE;
	}
#endif
	return wp_find_busiest_of_groups_5_4(ctx, bal);
}
