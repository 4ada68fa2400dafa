// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Whether to act on the busiest group, how much to move and from which queue
 * (docs/rules/balancing.md#busiest-group, docs/rules/balancing.md#imbalance; the form since 5.5).
 * An imbalance counts load, utilisation, tasks or one misfit task, by what the two groups are short
 * of.
 *
 * What must stay: units of an imbalance by its kind (enum wp_migration_type). Free: how a
 * kind is counted, with its page.
 *
 * Tests by part: (below crates/policy-sys/tests; `every_fixture_holds` runs the fixtures)
 * all/balance_7_3.rs: `idle_cpus_decide`, `overloaded_groups_compare_load`, `energy_aware_gate`
 * (`wp_worth_balancing`, `wp_load_uneven`, `wp_worth_for_idle`), `imbalance_examples`
 * (`wp_calculate_imbalance`, `wp_busiest_group_of`, `wp_local_group_of`, `wp_imbalance_is`,
 * `wp_imbalance_of_load`), `numa_imbalance` (`wp_imbalance_of_spare`),
 * `sibling_difference_per_core` (`wp_sibling_imbalance`, `wp_busiest_prefers_sibling`),
 * `source_queue` (`wp_find_busiest_queue`, `wp_source_offer`); all/pulls.rs:
 * `a_lone_task_leaves_a_busy_core`, `a_lone_task_goes_to_a_cluster_of_its_size`
 * (`wp_lone_stays`); fixtures/balance: idle-4-against-*.toml, fill-local-*.toml; all/kept.rs:
 * `kept_sums_change_no_answer` (`wp_find_busiest`, `wp_find_busiest_of_groups`,
 * `wp_find_busiest_group`).
 *
 * Callers: `wp_balance_source` (balance.c) calls `wp_find_busiest`.
 *
 * Kernel: find_busiest_group(), sched_balance_find_src_group() as wp_find_busiest_group(),
 *         calculate_imbalance(), sibling_imbalance(), find_busiest_queue(),
 *         sched_balance_find_src_rq() as wp_find_busiest_queue(), kernel/sched/fair.c
 * Tests: fixtures/balance, all/balance_7_3.rs
 */
#include "wakeplace/policy.h"

/* The group that was found busiest. */
WP_INLINE const struct wp_sched_group *wp_busiest_group_of(struct wp_ctx *ctx,
							   const struct wp_lb_env *bal)
{
	return WP_AT(ctx->groups, wp_bal_dom(ctx, bal)->first_group + bal->busiest_group);
}

/* The balancing CPU's own group. */
WP_INLINE const struct wp_sched_group *wp_local_group_of(struct wp_ctx *ctx,
							 const struct wp_lb_env *bal)
{
	u32 group = *WP_AT(WP_AT(ctx->cpus, bal->this_cpu)->topo.group, bal->level);

	return WP_AT(ctx->groups, wp_bal_dom(ctx, bal)->first_group + group);
}

/* Does the busiest group want its tasks spread over siblings? */
WP_INLINE int wp_busiest_prefers_sibling(struct wp_ctx *ctx, const struct wp_lb_env *bal)
{
	return !!(wp_busiest_group_of(ctx, bal)->flags & WP_SD_PREFER_SIBLING);
}

/* Running tasks that the busiest group has over the local one, per core where these differ. */
WP_INLINE u64 wp_sibling_imbalance(struct wp_ctx *ctx, const struct wp_lb_env *bal)
{
	u64 run_b = bal->busiest_sums.nr_running, run_l = bal->local_sums.nr_running;
	u64 cores_b = wp_busiest_group_of(ctx, bal)->nr_cores;
	u64 cores_l = wp_local_group_of(ctx, bal)->nr_cores;
	u64 diff;

	if (!wp_bal_knows_cores(ctx)) /* nor does it matter whether the destination is idle */
		return wp_sub(run_b, run_l);
	if (bal->idle == WP_CPU_NOT_IDLE || !run_b)
		return 0;
	if (cores_b == cores_l)
		return wp_sub(run_b, run_l);
	diff = 2 * wp_sub(cores_l * run_b, cores_b * run_l) + cores_l + cores_b;
	diff = wp_div(diff, cores_l + cores_b);
	return diff <= 1 && !run_l && run_b > 1 ? 2 : diff;
}

/* Is the load of two overloaded groups uneven enough? */
WP_INLINE int wp_load_uneven(struct wp_ctx *ctx, const struct wp_lb_env *bal)
{
	u64 local = bal->local_sums.avg_load, busiest = bal->busiest_sums.avg_load;

	return local < busiest && local < bal->avg_load &&
	       100 * busiest > wp_bal_dom(ctx, bal)->imbalance_pct * local;
}

/* The busiest group is not overloaded: would an idle CPU here serve one of its tasks better? */
WP_INLINE int wp_worth_for_idle(struct wp_ctx *ctx, const struct wp_lb_env *bal)
{
	const struct wp_sg_lb_stats *l = &bal->local_sums, *b = &bal->busiest_sums;

	if (bal->idle == WP_CPU_NOT_IDLE)
		return 0;
	if (b->group_type == WP_GROUP_SMT_BALANCE &&
	    !(wp_local_group_of(ctx, bal)->flags & WP_SD_SHARE_CPUCAPACITY))
		return 1;
	if (b->weight > 1 && l->idle_cpus <= b->idle_cpus + 1)
		return 0;
	return b->nr_fair != 1;
}

/* Is the busiest group busy enough to act? (docs/rules/balancing.md#whether-to-act) */
WP_INLINE int wp_worth_balancing(struct wp_ctx *ctx, struct wp_lb_env *bal)
{
	const struct wp_sg_lb_stats *l = &bal->local_sums, *b = &bal->busiest_sums;

	bal->avg_load = wp_div(WP_SCALE * bal->total_load, bal->total_capacity);
	if (bal->busiest_group == WP_NONE)
		return 0;
	if (b->group_type == WP_GROUP_MISFIT_TASK)
		return 1;
	/* Below the tipping point placement is the energy-aware wake-up's alone. */
	if (ctx->energy_active && !ctx->overutilized)
		return 0;
	if (b->group_type == WP_GROUP_ASYM_PACKING || b->group_type == WP_GROUP_IMBALANCED)
		return 1;
	if (l->group_type > b->group_type)
		return 0;
	if (l->group_type == WP_GROUP_OVERLOADED && !wp_load_uneven(ctx, bal))
		return 0;
	if (wp_busiest_prefers_sibling(ctx, bal) && l->group_type == WP_GROUP_HAS_SPARE &&
	    (b->group_type == WP_GROUP_LLC_BALANCE || wp_sibling_imbalance(ctx, bal) > 1))
		return 1;
	return b->group_type == WP_GROUP_OVERLOADED || wp_worth_for_idle(ctx, bal);
}

/* What is to move (enum wp_migration_type), and how much of it. */
WP_INLINE void wp_imbalance_is(struct wp_lb_env *bal, u32 kind, u64 amount)
{
	bal->migration_type = kind;
	bal->imbalance = (s64)amount;
}

/* The local group has room: fill it up, or even out tasks or idle CPUs. */
WP_INLINE void wp_imbalance_of_spare(struct wp_ctx *ctx, struct wp_lb_env *bal)
{
	const struct wp_sg_lb_stats *l = &bal->local_sums, *b = &bal->busiest_sums;
	const struct wp_sched_domain *dom = wp_bal_dom(ctx, bal);
	u64 n;

	if (b->group_type > WP_GROUP_FULLY_BUSY && !(dom->flags & WP_SD_SHARE_LLC)) {
		wp_imbalance_is(bal, WP_MIGRATE_UTIL, wp_sub(l->capacity, l->util));
		/* Full by sum, yet this CPU is idle and tasks wait over there. */
		if (bal->idle != WP_CPU_NOT_IDLE && !bal->imbalance)
			wp_imbalance_is(bal, WP_MIGRATE_TASK, 1);
		return;
	}
	if (b->weight == 1 || wp_busiest_prefers_sibling(ctx, bal))
		n = wp_sibling_imbalance(ctx, bal);
	else if (dom->flags & WP_SD_NUMA)
		n = wp_sub(l->idle_cpus, b->idle_cpus);
	else /* of 32 bits, unsigned, as the kernel's (docs/rules/balancing.md#fewer-idle) */
		n = l->idle_cpus - b->idle_cpus;
	if (dom->flags & WP_SD_NUMA)
		n = wp_adjust_numa_imbalance((u32)n, l->nr_running + 1, dom->imb_numa_nr);
	wp_imbalance_is(bal, WP_MIGRATE_TASK, n >> 1);
}

/* Both are busy: bring them to the domain's average load. */
WP_INLINE void wp_imbalance_of_load(struct wp_lb_env *bal)
{
	struct wp_sg_lb_stats *l = &bal->local_sums, *b = &bal->busiest_sums;
	u64 amount;

	wp_imbalance_is(bal, WP_MIGRATE_LOAD, 0);
	if (l->group_type < WP_GROUP_OVERLOADED) /* it will be, so that its load counts now */
		l->avg_load = wp_div(l->load * WP_SCALE, l->capacity);
	if (l->avg_load >= b->avg_load || l->avg_load >= bal->avg_load)
		return;
	amount = (bal->avg_load - l->avg_load) * l->capacity;
	/* What the busiest group has above the average. Below it the kernel's difference is that of
	 * unsigned numbers, and bounds nothing (docs/rules/balancing.md#below-average). */
	if (b->avg_load >= bal->avg_load)
		amount = wp_min64(amount, (b->avg_load - bal->avg_load) * b->capacity);
	bal->imbalance = (s64)(amount / WP_SCALE);
}

/* What to move, and how much of it (docs/rules/balancing.md#imbalance). */
WP_INLINE void wp_calculate_imbalance(struct wp_ctx *ctx, struct wp_lb_env *bal)
{
	const struct wp_sg_lb_stats *b = &bal->busiest_sums;

	switch (b->group_type) {
	case WP_GROUP_MISFIT_TASK:
		if (wp_bal_dom(ctx, bal)->flags & WP_SD_ASYM_CPUCAPACITY)
			wp_imbalance_is(bal, WP_MIGRATE_MISFIT, 1);
		else /* a task on a CPU whose capacity others take */
			wp_imbalance_is(bal, WP_MIGRATE_LOAD, b->misfit);
		return;
	case WP_GROUP_ASYM_PACKING:
		wp_imbalance_is(bal, WP_MIGRATE_TASK, b->nr_fair);
		return;
	case WP_GROUP_LLC_BALANCE:
		wp_imbalance_is(bal, WP_MIGRATE_LLC_TASK, 1);
		return;
	case WP_GROUP_SMT_BALANCE:
	case WP_GROUP_IMBALANCED:
		wp_imbalance_is(bal, WP_MIGRATE_TASK, 1);
		return;
	default:
		if (bal->local_sums.group_type == WP_GROUP_HAS_SPARE)
			wp_imbalance_of_spare(ctx, bal);
		else
			wp_imbalance_of_load(bal);
	}
}

struct wp_source {
	u64 most;     /* load, utilisation, tasks or misfit load of the best so far */
	u32 capacity; /* load is compared per capacity */
	u32 cpu;
};

/* Keep a CPU as the source if it is a better one than the best so far. */
WP_INLINE void wp_source_offer(struct wp_ctx *ctx, const struct wp_lb_env *bal, u32 cpu,
			       struct wp_source *best)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	u32 capacity = 1, best_capacity = 1;
	u64 value;

	switch (bal->migration_type) {
	case WP_MIGRATE_LOAD:
		value = c->load.avg.load_avg;
		/* A lone task heavier than what is to move stays, unless its CPU is squeezed. */
		if (c->queue.nr_fair == 1 && (s64)value > bal->imbalance &&
		    !wp_check_cpu_capacity(c, wp_bal_dom(ctx, bal)->imbalance_pct))
			return;
		capacity = c->load.capacity;
		best_capacity = best->capacity;
		break;
	case WP_MIGRATE_UTIL:
		if (c->queue.nr_fair <= 1)
			return;
		value = wp_cpu_util_cfs_boost(ctx, c);
		break;
	case WP_MIGRATE_TASK:
		value = c->queue.nr_fair;
		break;
	case WP_MIGRATE_LLC_TASK:
		value = wp_cpu_pref_dst_llc(ctx, bal, cpu);
		break;
	default:
		value = c->queue.misfit_task_load;
	}
	if (value * best_capacity > best->most * capacity) {
		best->most = value;
		best->capacity = capacity;
		best->cpu = cpu;
	}
}

/*
 * Does the lone task of a CPU stay, since the destination is no bigger? It would have to be pushed
 * there. By lone_from_core it may go where its own core has other work, and between CPUs of one
 * size where there are clusters (docs/rules/balancing.md#lone-task).
 */
WP_INLINE int wp_lone_stays(const struct wp_ctx *ctx, const struct wp_lb_env *bal, u32 cpu)
{
	const struct wp_cpu *dst = WP_AT(ctx->cpus, bal->dst_cpu), *c = WP_AT(ctx->cpus, cpu);

	if (wp_capacity_greater(dst->load.capacity, c->load.capacity))
		return 0;
	if (!ctx->params.lone_from_core)
		return 1;
	if (ctx->smt && !wp_is_core_idle(ctx, cpu))
		return 0;
	return !ctx->cluster ||
	       wp_get_actual_cpu_capacity(ctx, dst) != wp_get_actual_cpu_capacity(ctx, c);
}

/* The queue to pull from; WP_NONE: none of the busiest group will do. */
WP_FN u32 wp_find_busiest_queue(struct wp_ctx *ctx WP_NONNULL, struct wp_lb_env *bal WP_NONNULL)
{
	const struct wp_sched_group *g = wp_busiest_group_of(ctx, bal);
	const struct wp_sched_domain *dom = wp_bal_dom(ctx, bal);
	u32 asym = dom->flags & WP_SD_ASYM_CPUCAPACITY;
	u32 i;
	struct wp_source best = { .most = 0, .capacity = 1, .cpu = WP_NONE };

	WP_FOR(i, g->nr_cpus, WP_MAX_CPUS) {
		u32 cpu = *WP_AT(ctx->list, g->first_cpu + i);
		const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);

		if (wp_excluded(bal, cpu) || !c->queue.nr_fair)
			continue;
		if (asym && c->queue.nr_fair == 1 && wp_lone_stays(ctx, bal, cpu))
			continue;
		if (c->queue.nr_fair == 1 && wp_sched_asym(ctx, dom, cpu, bal->dst_cpu))
			continue;
		wp_source_offer(ctx, bal, cpu, &best);
	}
	return best.cpu;
}

/* Is there a group to pull from? It is busiest_group, with kind and amount. */
WP_INLINE int wp_find_busiest_group(struct wp_ctx *ctx, struct wp_lb_env *bal)
{
	wp_update_sd_lb_stats(ctx, bal);
	if (!wp_worth_balancing(ctx, bal))
		return 0;
	wp_calculate_imbalance(ctx, bal);
	return bal->imbalance > 0;
}

/* By a look at all groups. */
WP_INLINE u32 wp_find_busiest_of_groups(struct wp_ctx *ctx, struct wp_lb_env *bal)
{
	return wp_find_busiest_group(ctx, bal) ? wp_find_busiest_queue(ctx, bal) : WP_NONE;
}

/* Groups, amount and source in one; returns the source, WP_NONE: balanced. */
WP_INLINE u32 wp_find_busiest(struct wp_ctx *ctx, struct wp_lb_env *bal)
{
	wp_refresh_local_group(ctx, bal);
#ifdef WP_KEEPS
	if (wp_balanced_as_kept(ctx, bal, wp_find_busiest_of_groups)) {
		wp_bal_root_flags(ctx, bal);
		return WP_NONE;
	}
#endif
	return wp_find_busiest_of_groups(ctx, bal);
}
