// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A group that may not run on a CPU for a while (docs/rules/group-bandwidth.md#throttle): up to
 * 6.17 its entity leaves the queue above with all that is below it, from 6.18 on its tasks leave
 * one by one as they return to user space. Either way its PELT clock stands still while nothing of
 * it is queued above (docs/rules/group-bandwidth.md#throttled-clock).
 *
 * What must stay: each down has its up; tasks of a throttled group are counted by their group, not
 * by the CPU. Free: how counts move; each down keeps its up.
 *
 * Tests by part: (below crates/policy-sys/tests) all/group_bandwidth.rs:
 * `a_throttled_group_keeps_its_averages` (`wp_tg_throttle_down`, `wp_tg_unthrottle_up`,
 * `wp_tg_throttle_entity`, `wp_tg_unthrottle_entity`, `wp_tg_entity_joins`, `wp_tg_cpu_counts`),
 * `nothing_is_pulled_to_where_its_group_is_throttled` (`wp_tg_may_pull`).
 *
 * Callers: crates/policy-sys/src/group_bandwidth.rs, for the engine's groups.
 *
 * Kernel: tg_throttle_down(), tg_unthrottle_up(), lb_throttled_hierarchy() as wp_tg_may_pull(),
 *         kernel/sched/fair.c; throttle_cfs_rq() as wp_tg_throttle_entity(), unthrottle_cfs_rq() as
 *         wp_tg_unthrottle_entity(), throttled_lb_pair() as wp_tg_may_pull(), kernel/sched/fair.c,
 *         to 6.17
 * Tests: all/group_bandwidth.rs
 */
#include "wakeplace/policy.h"
#include "wakeplace/task_group.h"

/* A group that is throttled, or that is in one: once more. */
WP_FN int wp_tg_throttle_down(struct wp_ctx *ctx WP_NONNULL, struct wp_task_group *tg WP_NONNULL,
			      u32 cpu, u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	struct wp_tg_queue *q = WP_AT(tg->queue, cpu);

	wp_update_rq_clock(c, now_ns);
	if (q->throttle_count++)
		return 0;
	if (!ctx->params.throttle_on_return || !q->nr)
		wp_tg_stop_clock(ctx, c, q);
	return 0;
}

/* A group is kept from running once less. Returns 1 if nothing keeps it any more. */
WP_FN int wp_tg_unthrottle_up(struct wp_ctx *ctx WP_NONNULL, struct wp_task_group *tg WP_NONNULL,
			      u32 cpu, u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	struct wp_tg_queue *q = WP_AT(tg->queue, cpu);

	wp_update_rq_clock(c, now_ns);
	if (--q->throttle_count)
		return 0;
	wp_tg_start_clock(ctx, c, q);
	return 1;
}

/* Tasks have come to the CPU's queue with their group, or gone. */
WP_INLINE void wp_tg_cpu_counts(struct wp_cpu *c, const struct wp_tg_queue *q, int joined)
{
	c->queue.nr_fair += joined ? q->nr : 0 - q->nr;
	c->queue.nr_idle_policy += joined ? q->nr_idle : 0 - q->nr_idle;
}

/* The path's first group joins the queue above, or leaves it. */
WP_INLINE int wp_tg_entity_joins(struct wp_ctx *ctx, const struct wp_tg_path *path, u32 cpu,
				 u64 now_ns, int joins)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	struct wp_tg_queue *q = wp_tg_queue(path, 0, cpu);
	u32 nr = q->nr;
	int result = 0;

	wp_update_rq_clock(c, now_ns);
	if (wp_tg_age(ctx, path, c, cpu, 1))
		result = wp_cpufreq_update_util(ctx, c, now_ns);
	q->off = !joins;
	if (nr) {
		wp_tg_entity_queued(ctx, c, path, 0, cpu, joins ? nr : 0);
		if (wp_tg_queued(ctx, c, path, 1, cpu, nr, q->nr_idle, joins))
			wp_tg_cpu_counts(c, q, joins);
	}
	return result;
}

/* It leaves after wp_tg_throttle_down. */
WP_FN int wp_tg_throttle_entity(struct wp_ctx *ctx WP_NONNULL,
				const struct wp_tg_path *path WP_NONNULL, u32 cpu, u64 now_ns)
{
	return wp_tg_entity_joins(ctx, path, cpu, now_ns, 0);
}

/* It joins again after wp_tg_unthrottle_up. */
WP_FN int wp_tg_unthrottle_entity(struct wp_ctx *ctx WP_NONNULL,
				  const struct wp_tg_path *path WP_NONNULL, u32 cpu, u64 now_ns)
{
	return wp_tg_entity_joins(ctx, path, cpu, now_ns, 1);
}

/*
 * May balancing take a task of the group from one CPU to another? Not to where its group may not
 * run, and to 6.17 not from there (docs/rules/group-bandwidth.md#balancing).
 */
WP_FN int wp_tg_may_pull(const struct wp_ctx *ctx WP_NONNULL,
			 const struct wp_task_group *tg WP_NONNULL, u32 from, u32 to)
{
	if (WP_AT(tg->queue, to)->throttle_count)
		return 0;
	return ctx->params.throttle_on_return || !WP_AT(tg->queue, from)->throttle_count;
}
