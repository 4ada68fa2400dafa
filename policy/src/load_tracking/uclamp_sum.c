// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Performance hints that add up (docs/rules/uclamp-sum.md#bias): each task's utilisation is brought
 * within its own hints, and a CPU counts the sum of what that changes, its bias, instead of the
 * highest hint (uclamp.c). The functions are those of a series that was posted and is in no kernel:
 * "uclamp sum aggregation", v2, Hongyan Xia, March 2025. Natively only.
 *
 * What must stay: a CPU's bias is the sum of the biases of the tasks that are on its queue (on_rq),
 * and what its queue counts of an estimate is counted out as it was counted in. Free: the
 * sums, with the page; no kernel binds them.
 *
 * Tests by part: (below crates/policy-sys/tests) all/uclamp_sum.rs: `the_bias_of_a_task`
 * (`wp_util_bias_update`, `wp_clamp`), `a_bound_does_not_take_from_others`,
 * `the_best_served_task_is_forgotten_as_it_leaves` (`wp_uclamp_spared`),
 * `a_cpus_bias_is_the_sum_of_its_tasks` (`wp_util_bias_enqueue`, `wp_util_bias_dequeue`),
 * `an_estimate_within_hints` (`wp_util_est_uclamp_update`, `wp_util_est_uclamp_enqueue`,
 * `wp_util_est_uclamp_dequeue`), `demand_with_biases` (`wp_uclamp_sums`, `wp_cpu_util_cfs_uclamp`,
 * `wp_root_cfs_util_uclamp`, `wp_biased`), `a_bound_does_not_end_where_another_task_joins`
 * (`wp_util_bias_freq`), `what_fits_within_hints` (`wp_task_util_est_uclamp`,
 * `wp_task_util_uclamp`), `a_negative_bias_fades` (`wp_propagate_negative_bias`).
 *
 * Callers: events of tasks (rq.c, delayed.c, task_group.c, signals.c); demand.c, capacity.c and
 * energy_uclamp.c ask.
 *
 * Tests: all/uclamp_sum.rs
 */
#include "wakeplace/policy.h"

/* Do hints add up? Only in the form of the demand that the series changes. */
WP_INLINE int wp_uclamp_sums(const struct wp_ctx *ctx)
{
	return ctx->params.uclamp_aggregation != WP_UCLAMP_AGG_MAX && ctx->params.uclamp &&
	       ctx->params.freq_perf_form;
}

/* Within the hints; where they cross, the bound holds. */
WP_INLINE u32 wp_clamp(u32 value, u32 min, u32 max)
{
	return wp_min(wp_max(value, min), max);
}

/*
 * The clamped utilisation per weight: what the task that is served best has of it bounds how far
 * another one is held back (docs/rules/uclamp-sum.md#uclamp-factor). `max` becomes what is left of
 * the task's own bound.
 */
WP_INLINE u32 wp_uclamp_spared(struct wp_cpu *c, const struct wp_task *task, u32 clamped, u32 max)
{
	u64 factor = wp_div((u64)1 << 32, task->weight) * clamped;
	u32 share;

	if (c->load.max_uclamp_factor_id == task->id || factor > c->load.max_uclamp_factor) {
		c->load.max_uclamp_factor = factor;
		c->load.max_uclamp_factor_id = task->id;
		return clamped;
	}
	share = (u32)((c->load.max_uclamp_factor * task->weight) >> 32);
	return wp_clamp(task->avg.util_avg, task->uclamp_min, wp_max(max, share));
}

/* The task's averages were written: its bias follows, and that of its CPU while it is queued. */
WP_FN int wp_util_bias_update(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, task->cpu);
	u32 max = task->uclamp_max < WP_SCALE ? task->uclamp_max : WP_NONE;
	s32 old = task->util_avg_bias;
	u32 clamped;

	if (!wp_uclamp_sums(ctx))
		return 0;
	clamped = wp_clamp(task->avg.util_avg, task->uclamp_min, max);
	if (task->on_rq && ctx->params.uclamp_aggregation == WP_UCLAMP_AGG_SUM_V2)
		clamped = wp_uclamp_spared(c, task, clamped, max);
	task->util_avg_bias = (s32)clamped - (s32)task->avg.util_avg;
	if (task->on_rq)
		c->load.util_avg_bias += task->util_avg_bias - old;
	return 0;
}

/* The task has joined its CPU's queue. */
WP_INLINE int wp_util_bias_enqueue(struct wp_cpu *c, const struct wp_task *task)
{
	c->load.util_avg_bias += task->util_avg_bias;
	return 0;
}

/* It is counted. A bias that asks for more is heard at once. */
WP_INLINE int wp_util_bias_freq(struct wp_ctx *ctx, struct wp_cpu *c, const struct wp_task *task,
				u64 now_ns)
{
	return task->util_avg_bias > 0 ? wp_cpufreq_update_util(ctx, c, now_ns) : 0;
}

/* It has left. The next task to be updated becomes the one that is served best. */
WP_INLINE int wp_util_bias_dequeue(struct wp_cpu *c, const struct wp_task *task)
{
	c->load.util_avg_bias -= task->util_avg_bias;
	if (c->load.max_uclamp_factor_id == task->id) {
		c->load.max_uclamp_factor_id = 0;
		c->load.max_uclamp_factor = 0;
	}
	return 0;
}

/*
 * A task that falls asleep takes its bias along at once, its utilisation fades: what its bound
 * held back would show. So it leaves the averages, too, and fades with them
 * (docs/rules/uclamp-sum.md#negative-bias). Returns how much that is, for the groups around it.
 */
WP_INLINE u32 wp_propagate_negative_bias(const struct wp_ctx *ctx, struct wp_cpu *c,
					 struct wp_task *task, u32 flags)
{
	u32 held = (u32)-task->util_avg_bias;

	if (!(flags & WP_Q_SLEEP) || task->util_avg_bias >= 0 ||
	    ctx->params.uclamp_aggregation < WP_UCLAMP_AGG_SUM_V1)
		return 0;
	task->util_avg_bias = 0;
	wp_util_take_off(&task->avg, held);
	wp_util_take_off(&c->load.avg, held);
	return held;
}

/* Utilisation and bias, never below 0. */
WP_INLINE u32 wp_biased(u32 util, s32 bias)
{
	s64 sum = (s64)util + bias;

	return sum > 0 ? (u32)sum : 0;
}

/* A task's utilisation within its hints. */
WP_INLINE u32 wp_task_util_uclamp(const struct wp_task *task)
{
	return wp_biased(task->avg.util_avg, task->util_avg_bias);
}

/* A task's utilisation or estimate within its hints, the larger. */
WP_INLINE u32 wp_task_util_est_uclamp(const struct wp_task *task)
{
	return wp_max(wp_task_util_uclamp(task), task->util_est_uclamp);
}

/* A CPU's, with the biases of the tasks on its queue. */
WP_INLINE u32 wp_root_cfs_util_uclamp(const struct wp_cpu *c)
{
	return wp_biased(c->load.avg.util_avg, c->load.util_avg_bias);
}

/* Demand of a CPU within its tasks' hints. */
WP_FN u32 wp_cpu_util_cfs_uclamp(const struct wp_ctx *ctx WP_NONNULL,
				 const struct wp_cpu *c WP_NONNULL)
{
	u32 util = wp_root_cfs_util_uclamp(c);

	if (ctx->params.util_est != WP_UTIL_EST_OFF)
		util = wp_max(util, c->load.util_est_uclamp);
	return wp_min(util, c->load.capacity_orig);
}

/* A task's estimate has been made: within its hints. */
WP_INLINE void wp_util_est_uclamp_update(const struct wp_ctx *ctx, struct wp_task *task, u32 est)
{
	if (wp_uclamp_sums(ctx))
		task->util_est_uclamp = wp_clamp(est, task->uclamp_min, task->uclamp_max);
}

/* Its CPU counts that estimate while the task is queued. */
WP_INLINE void wp_util_est_uclamp_enqueue(struct wp_cpu *c, struct wp_task *task)
{
	task->util_est_uclamp_queued = task->util_est_uclamp;
	WP_ADD(&c->load.util_est_uclamp, task->util_est_uclamp_queued);
}

/* What was counted in is counted out. */
WP_INLINE void wp_util_est_uclamp_dequeue(struct wp_cpu *c, struct wp_task *task)
{
	WP_ADD(&c->load.util_est_uclamp, 0 - task->util_est_uclamp_queued);
	task->util_est_uclamp_queued = 0;
}
