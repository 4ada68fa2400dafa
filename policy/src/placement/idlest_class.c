// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The slow path's choice of a group by class (docs/rules/wake-ups.md#slow-path; the form since
 * 5.5). Each group is seen as if the task were not there. The best remote group is the one of the
 * lowest class; among equals:
 *
 *   overloaded, fully_busy   less load per capacity
 *   misfit                   the bigger biggest CPU
 *   has_spare                more idle CPUs, then less utilisation
 *   other                    the first
 *
 * The local group is left for it only if it is of a higher class or, among equals, clearly worse.
 *
 * What must stay: groups in their order (ties); classes are group_class.c's, shared with balancing.
 * Free: the arithmetic with its page; group_class.c is shared.
 *
 * Tests by part: (below crates/policy-sys/tests; `every_fixture_holds` runs the fixtures)
 * all/slow_7_3.rs: `fork_goes_to_more_idle_cpus`, `numa_keeps_small_groups_together`
 * (`wp_leave_for_idle`), `less_utilisation_among_remote_groups`, `equal_loads_take_the_first`,
 * `misfit_groups` (`wp_update_pick_idlest`), `loads_within_the_margin_stay`,
 * `numa_adds_the_margin_to_the_remote_load` (`wp_leave_for_load`), `class_before_load`
 * (`wp_why_leave`), `exec_leaves_itself_out`, `pending_is_not_idle` (`wp_sums_add_less`),
 * `exec_takes_its_estimate_along` (`wp_util_less`), `random_states_agree_with_the_model`
 * (`wp_find_idlest_group`, `wp_update_sg_wakeup_stats`, `wp_local_group`); fixtures/fork:
 * numa-*.toml, asym-*.toml, lower-class-wins.toml.
 *
 * Callers: `wp_idlest_group` (idlest.c); `wp_local_group` also power_policy.c and the older forms.
 *
 * Kernel: find_idlest_group(), sched_balance_find_dst_group() as wp_find_idlest_group(),
 *         update_sg_wakeup_stats(), update_pick_idlest(), kernel/sched/fair.c
 * Tests: fixtures/fork, all/slow_7_3.rs
 */
#include "wakeplace/policy.h"

/* Index of the group of `cpu` within a domain that spans it. */
WP_INLINE u32 wp_local_group(const struct wp_ctx *ctx, u32 dom_index, u32 cpu)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	u32 k, local = 0;

	WP_FOR(k, c->topo.nr_levels, WP_MAX_LEVELS) {
		if (*WP_AT(c->topo.dom, k) == dom_index)
			local = *WP_AT(c->topo.group, k);
	}
	return local;
}

/* Utilisation of a CPU less what the task contributes, asleep or queued. */
WP_INLINE u32 wp_util_less(const struct wp_ctx *ctx, const struct wp_cpu *c,
			   const struct wp_task *task)
{
	u32 util = (u32)wp_sub(c->load.avg.util_avg, task->avg.util_avg);
	u32 est = c->load.util_est;

	if (task->on_rq)
		est = (u32)wp_sub(est, wp_task_est(ctx, task));
	if (ctx->params.util_est != WP_UTIL_EST_OFF)
		util = wp_max(util, est);
	return wp_min(util, c->load.capacity_orig);
}

/* Add one CPU to dec->sums as if the task were not there. */
WP_INLINE void wp_sums_add_less(const struct wp_ctx *ctx, struct wp_sg_lb_stats *s, u32 cpu,
				const struct wp_task *task)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	u32 queued = task->on_rq;

	if (cpu != task->cpu) {
		wp_sums_add(ctx, s, cpu);
		return;
	}
	if (task->avg.last_update_ns) {
		s->load += wp_sub(c->load.avg.load_avg, wp_task_h_load(ctx, task));
		s->runnable += wp_sub(c->load.avg.runnable_avg, task->avg.runnable_avg);
		s->util += wp_util_less(ctx, c, task);
	} else { /* new: nothing of it is there yet */
		s->load += c->load.avg.load_avg;
		s->runnable += c->load.avg.runnable_avg;
		s->util += wp_cpu_util_cfs(ctx, c);
	}
	s->nr_running += (u32)wp_sub(c->queue.nr_running, queued);
	s->nr_fair += (u32)wp_sub(c->queue.nr_fair, queued);
	s->idle_cpus += c->queue.nr_running <= queued && (c->queue.curr_idle || task->running) &&
			!c->queue.pending;
}

/* Class and sums of a group (an index into wp_ctx.groups) into dec->sums. */
WP_FN int wp_update_sg_wakeup_stats(struct wp_ctx *ctx WP_NONNULL, u32 dom_index, u32 group,
				    const struct wp_task *task WP_NONNULL,
				    struct wp_decision *dec WP_NONNULL)
{
	const struct wp_sched_domain *dom = WP_AT(ctx->doms, dom_index);
	const struct wp_sched_group *g = WP_AT(ctx->groups, group);
	struct wp_sg_lb_stats *s = &dec->sums;
	u32 i;

	wp_sums_clear(s);
	/* Until one is found, no CPU of the group fits the task. */
	s->misfit = !!(dom->flags & WP_SD_ASYM_CPUCAPACITY);
	WP_FOR(i, g->nr_cpus, WP_MAX_CPUS) {
		u32 cpu = *WP_AT(ctx->list, g->first_cpu + i), allowed;

		allowed = (u32)wp_allowed(task, cpu);
		if (!allowed && !WP_NOT_LIVE(!ctx->params.idlest_allowed))
			continue;
		wp_sums_add_less(ctx, s, cpu, task);
		s->allowed += allowed;
		if (s->misfit && wp_task_fits_cpu(ctx, task, cpu))
			s->misfit = 0;
	}
	wp_sums_close(s, g, wp_may_be_overloaded(ctx, 0), dom->imbalance_pct);
	return 0;
}

/* Is a remote group idler than the best one so far? */
WP_INLINE int wp_update_pick_idlest(const struct wp_sg_lb_stats *s,
				    const struct wp_sg_lb_stats *best)
{
	if (s->group_type != best->group_type)
		return s->group_type < best->group_type;
	switch (s->group_type) {
	case WP_GROUP_OVERLOADED:
	case WP_GROUP_FULLY_BUSY:
		return s->avg_load < best->avg_load;
	case WP_GROUP_MISFIT_TASK:
		return s->max_capacity > best->max_capacity;
	case WP_GROUP_HAS_SPARE:
		if (s->idle_cpus != best->idle_cpus)
			return s->idle_cpus > best->idle_cpus;
		return s->util < best->util;
	default:
		return 0;
	}
}

/* Two loaded groups: is the remote one clearly less so? On NUMA distance speaks for staying. */
WP_INLINE int wp_leave_for_load(const struct wp_sched_domain *dom,
				const struct wp_sg_lb_stats *local,
				const struct wp_sg_lb_stats *best)
{
	u64 imbalance = WP_SCALE * (dom->imbalance_pct - 100) / 100;

	if ((dom->flags & WP_SD_NUMA) && best->avg_load + imbalance >= local->avg_load)
		return 0;
	if (best->avg_load >= local->avg_load + imbalance)
		return 0;
	return 100 * local->avg_load > dom->imbalance_pct * best->avg_load;
}

/* Two groups with spare CPUs: has the remote one more of them? On NUMA few tasks stay together. */
WP_INLINE int wp_leave_for_idle(const struct wp_ctx *ctx, const struct wp_sched_domain *dom,
				const struct wp_sg_lb_stats *local,
				const struct wp_sg_lb_stats *best, const struct wp_task *task)
{
	u32 limit = dom->imb_numa_nr, more = wp_max(local->idle_cpus, best->idle_cpus) -
					     wp_min(local->idle_cpus, best->idle_cpus);

	if (WP_NOT_LIVE(ctx->params.idlest_numa_idle)) {
		if ((dom->flags & WP_SD_NUMA) && local->idle_cpus)
			return 0;
	} else if (dom->flags & WP_SD_NUMA) {
		if (task->nr_allowed != ctx->nr_cpus)
			limit = wp_min(limit, local->allowed);
		if (!wp_adjust_numa_imbalance(more, local->nr_running + 1, limit))
			return 0;
	}
	return local->idle_cpus < best->idle_cpus;
}

/* Why to leave the local group for the best remote one; WP_REASON_SLOW_LOCAL: stay. */
WP_INLINE u32 wp_why_leave(const struct wp_ctx *ctx, const struct wp_sched_domain *dom,
			   const struct wp_task *task, const struct wp_decision *dec)
{
	const struct wp_sg_lb_stats *local = &dec->local_sums, *best = &dec->best_sums;

	if (!local->allowed)
		return WP_REASON_SLOW_REMOTE;
	if (local->group_type != best->group_type)
		return local->group_type < best->group_type ? WP_REASON_SLOW_LOCAL
							    : WP_REASON_SLOW_CLASS;
	switch (local->group_type) {
	case WP_GROUP_OVERLOADED:
	case WP_GROUP_FULLY_BUSY:
		return wp_leave_for_load(dom, local, best) ? WP_REASON_SLOW_LOAD :
							     WP_REASON_SLOW_LOCAL;
	case WP_GROUP_MISFIT_TASK:
		return local->max_capacity < best->max_capacity ? WP_REASON_SLOW_MISFIT :
								  WP_REASON_SLOW_LOCAL;
	case WP_GROUP_HAS_SPARE:
		return wp_leave_for_idle(ctx, dom, local, best, task) ? WP_REASON_SLOW_IDLE :
									WP_REASON_SLOW_LOCAL;
	default:
		return WP_REASON_SLOW_LOCAL;
	}
}

/* Index of the group to go to, WP_NONE = stay local; dec->slow_reason says why. */
WP_FN u32 wp_find_idlest_group(struct wp_ctx *ctx WP_NONNULL, u32 dom_index,
			       const struct wp_task *task WP_NONNULL, u32 this_cpu,
			       struct wp_decision *dec WP_NONNULL)
{
	const struct wp_sched_domain *dom = WP_AT(ctx->doms, dom_index);
	u32 k, best = WP_NONE, local = wp_local_group(ctx, dom_index, this_cpu);

	wp_sums_clear(&dec->local_sums);
	dec->slow_reason = WP_REASON_SLOW_LOCAL;
	WP_FOR(k, dom->nr_groups, WP_MAX_CPUS) {
		u32 index = local + k < dom->nr_groups ? local + k : local + k - dom->nr_groups;

		wp_update_sg_wakeup_stats(ctx, dom_index, dom->first_group + index, task, dec);
		if (!dec->sums.allowed)
			continue;
		if (index == local) {
			dec->local_sums = dec->sums;
		} else if (best == WP_NONE || wp_update_pick_idlest(&dec->sums, &dec->best_sums)) {
			dec->best_sums = dec->sums;
			best = index;
		}
	}
	if (best == WP_NONE)
		return WP_NONE;
	dec->slow_reason = wp_why_leave(ctx, dom, task, dec);
	return dec->slow_reason == WP_REASON_SLOW_LOCAL ? WP_NONE : best;
}
