// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The signals of task groups (docs/rules/signals.md#pelt-update,
 * docs/rules/signals.md#attach-detach, docs/rules/signals.md#load-for-balancing;
 * docs/decisions/020): a group's queue follows its tasks, its entity follows its queue, the queue
 * above follows the entity: that of the group around it, or the CPU's.
 *
 * While nothing joins or leaves, queue and entity see the same time and stay equal by themselves.
 * What joins or leaves (attach, detach, migration) moves the queue's averages at once; then the
 * entity takes over the queue's utilisation and number of runnable tasks, and the queue above the
 * differences. Load cannot be taken over like that: the queue's is in weights of tasks, the
 * entity's in its own. It is the entity's weight times the part of time in which the group had
 * something to run, and for that there is an estimate only.
 *
 * What must stay: queue, then entity, then the queue above, level by level; sums never go below 0.
 * Free: how a level is stepped; not the order of levels.
 *
 * Tests by part: (below crates/policy-sys/tests) all/task_groups.rs:
 * `the_levels_are_sums_of_each_other` (`wp_tg_queue_update`, `wp_tg_entity_update`, `wp_tg_follow`,
 * `wp_propagate_entity_load_avg`, `wp_tg_above`), `nothing_stays_of_a_group_without_tasks`
 * (`wp_tg_apply_removed`, `wp_add_signed`), `a_group_on_two_cpus_weighs_half_on_each`
 * (`wp_tg_set_weight`, `wp_tg_on_rq`, `wp_tg_entity_runnable`, `wp_tg_runnable_load`);
 * all/group_weights.rs: `load_that_leaves_with_a_task_does_not_come_back` (`wp_update_tg_cfs_load`,
 * `wp_tg_load_sum`); all/group_bandwidth.rs: `a_throttled_group_keeps_its_averages`
 * (`wp_cfs_rq_clock_pelt`, `wp_tg_stop_clock`, `wp_tg_start_clock`, `wp_tg_clock_above`).
 *
 * Callers: task_group.c; group_throttle.c stops and starts the clocks.
 *
 * Kernel: propagate_entity_load_avg(), update_tg_cfs_load(), update_tg_cfs_util() as
 *         wp_tg_follow(), update_tg_cfs_runnable() as wp_tg_follow(), reweight_entity() as
 *         wp_tg_set_weight(), kernel/sched/fair.c; cfs_rq_clock_pelt(), kernel/sched/pelt.h
 * Tests: all/task_groups.rs, all/group_weights.rs
 */
#include "wakeplace/policy.h"
#include "wakeplace/task_group.h"

/* The queue that an entity is on: of the group around its own, or the CPU's. */
struct wp_tg_above {
	struct wp_sched_avg *avg;
	u32 *load_weight;
	u32 *blocked_weight;
};

/* Of the entity of the path's group `level`, on the CPU `c`. */
WP_INLINE struct wp_tg_above wp_tg_above(struct wp_cpu *c, const struct wp_tg_path *path, u32 level,
					 u32 cpu)
{
	struct wp_tg_queue *q;

	if (level + 1 >= path->nr)
		return (struct wp_tg_above){ .avg = &c->load.avg,
					     .load_weight = &c->load.load_weight,
					     .blocked_weight = &c->load.blocked_weight };
	q = WP_AT((*WP_AT(path->tg, level + 1))->queue, cpu);
	return (struct wp_tg_above){ .avg = &q->avg,
				     .load_weight = &q->load_weight,
				     .blocked_weight = &q->blocked_weight };
}

/* The PELT clock of a group's queue (docs/rules/group-bandwidth.md#throttled-clock). */
WP_INLINE u64 wp_cfs_rq_clock_pelt(const struct wp_ctx *ctx, const struct wp_cpu *c,
				   const struct wp_tg_queue *q)
{
	return (q->stopped ? q->stopped_ns : wp_rq_clock_pelt(ctx, c)) - q->lost_ns;
}

/* It stands still; it goes on. */
WP_INLINE void wp_tg_stop_clock(const struct wp_ctx *ctx, const struct wp_cpu *c,
				struct wp_tg_queue *q)
{
	if (q->stopped)
		return;
	q->stopped = 1;
	q->stopped_ns = wp_rq_clock_pelt(ctx, c);
}

/* What was missed while it stood still is left out from now on. */
WP_INLINE void wp_tg_start_clock(const struct wp_ctx *ctx, const struct wp_cpu *c,
				 struct wp_tg_queue *q)
{
	if (!q->stopped)
		return;
	q->stopped = 0;
	q->lost_ns += wp_rq_clock_pelt(ctx, c) - q->stopped_ns;
}

/* The clock of the queue that the entity of the path's group `level` is on. */
WP_INLINE u64 wp_tg_clock_above(const struct wp_ctx *ctx, const struct wp_cpu *c,
				const struct wp_tg_path *path, u32 level, u32 cpu)
{
	if (level + 1 >= path->nr)
		return wp_rq_clock_pelt(ctx, c);
	return wp_cfs_rq_clock_pelt(ctx, c, WP_AT((*WP_AT(path->tg, level + 1))->queue, cpu));
}

/* The entity is on the queue above. */
WP_INLINE u32 wp_tg_on_rq(const struct wp_tg_queue *q)
{
	return q->nr && !q->off;
}

/* a + by, never below 0. */
WP_INLINE u64 wp_add_signed(u64 a, s64 by)
{
	return by < 0 ? wp_sub(a, (u64)-by) : a + (u64)by;
}

/* The unweighted load that is gone with tasks that were placed elsewhere while asleep. */
WP_INLINE int wp_tg_apply_removed(struct wp_ctx *ctx, struct wp_tg_queue *q)
{
	u64 sum = q->removed_runnable;

	if (!q->nr_removed)
		return 0;
	wp_avg_take_off(ctx, &q->avg, q->removed_load, q->removed_util, q->removed_runnable);
	if (!WP_NOT_LIVE(ctx->params.runnable_is_load))
		sum = (sum * wp_get_pelt_divider(&q->avg)) >> 10;
	q->moved_load_sum -= (s64)sum;
	q->moved = 1;
	q->nr_removed = 0;
	q->removed_load = 0;
	q->removed_util = 0;
	q->removed_runnable = 0;
	return 1;
}

/* The group's queue on a CPU. Returns 1 if its averages changed. */
WP_INLINE int wp_tg_queue_update(struct wp_ctx *ctx, const struct wp_cpu *c, struct wp_tg_queue *q)
{
	u32 is_load = WP_NOT_LIVE(ctx->params.runnable_is_load);
	int changed = wp_tg_apply_removed(ctx, q);
	struct wp_pelt_step step = {
		.now_ns = wp_cfs_rq_clock_pelt(ctx, c, q),
		.load = q->load_weight,
		.runnable = is_load ? q->load_weight - q->blocked_weight : q->nr,
		.running = q->running,
		.weight = 1,
		.scale_cpu = wp_pelt_cpu_scale(ctx, c),
		.scale_freq = wp_pelt_freq_scale(ctx, c),
		.runnable_is_load = is_load,
		.half_life = WP_NOT_LIVE(ctx->params.pelt_half_life),
	};

	return wp_avg_step(&q->avg, &step) | changed;
}

/* The entity's third signal where that is load: of what can run, in its own weight. */
WP_INLINE void wp_tg_entity_runnable(struct wp_tg_queue *q)
{
	u64 div = wp_get_pelt_divider(&q->entity);

	q->entity.runnable_avg = (u32)wp_div(q->runnable_weight * q->entity.runnable_sum, div);
}

/* The entity: queued while the group has tasks here that may run, executing while one of them does;
 * `now_ns` by the clock of the queue above. Returns 1 if its averages changed. */
WP_INLINE int wp_tg_entity_update(struct wp_ctx *ctx, const struct wp_cpu *c, struct wp_tg_queue *q,
				  u64 now_ns)
{
	u32 is_load = WP_NOT_LIVE(ctx->params.runnable_is_load), on_rq = wp_tg_on_rq(q);
	struct wp_pelt_step step = {
		.now_ns = now_ns,
		.load = on_rq,
		.runnable = is_load || !on_rq ? on_rq : q->nr,
		.running = q->running,
		.weight = q->weight,
		.scale_cpu = wp_pelt_cpu_scale(ctx, c),
		.scale_freq = wp_pelt_freq_scale(ctx, c),
		.runnable_is_load = is_load,
		.half_life = WP_NOT_LIVE(ctx->params.pelt_half_life),
	};

	if (!wp_avg_step(&q->entity, &step))
		return 0;
	if (is_load)
		wp_tg_entity_runnable(q);
	return 1;
}

/* One average of the entity becomes `to`; the queue above takes over the difference. */
WP_INLINE void wp_tg_follow(u32 *avg, u64 *sum, u32 *rq_avg, u64 *rq_sum, u32 to, u64 div)
{
	u64 new_sum = to * div;

	if (to == *avg)
		return;
	*rq_avg = (u32)wp_add_signed(*rq_avg, (s64)to - (s64)*avg);
	*rq_sum = wp_max64(wp_add_signed(*rq_sum, (s64)new_sum - (s64)*sum),
			   (u64)*rq_avg * WP_MIN_DIVIDER);
	*avg = to;
	*sum = new_sum;
}

/*
 * For how long, as an unweighted sum, the entity has had load after `moved` of it joined or left.
 * What joins adds up to all the time there is; of what is left after some left, each task is taken
 * to have had load for as long as the others. Never less than it executed.
 */
WP_INLINE u64 wp_tg_load_sum(const struct wp_tg_queue *q, s64 moved, u64 div, u32 cpu_scale)
{
	u64 sum;

	if (moved >= 0)
		sum = wp_min64(q->entity.load_sum + (u64)moved, div);
	else
		sum = wp_min64(q->entity.load_sum, wp_div(q->avg.load_sum, q->load_weight));
	return wp_max64(sum, wp_div(q->entity.util_sum, cpu_scale));
}

/* The entity's load, and in the queue above, after load has moved. */
WP_INLINE void wp_update_tg_cfs_load(struct wp_ctx *ctx, struct wp_cpu *c,
				     const struct wp_tg_above *up, struct wp_tg_queue *q)
{
	struct wp_sched_avg *e = &q->entity, *rq = up->avg;
	u64 div = wp_get_pelt_divider(rq);
	s64 moved = q->moved_load_sum;
	u64 sum, was = e->load_sum;
	u32 avg;

	if (!moved)
		return;
	q->moved_load_sum = 0;
	sum = wp_tg_load_sum(q, moved, div, wp_pelt_cpu_scale(ctx, c));
	avg = (u32)wp_div(q->weight * sum, div);
	rq->load_avg = (u32)wp_add_signed(rq->load_avg, (s64)avg - (s64)e->load_avg);
	rq->load_sum = wp_add_signed(rq->load_sum, (s64)(q->weight * sum) - (s64)(q->weight * was));
	rq->load_sum = wp_max64(rq->load_sum, (u64)rq->load_avg * WP_MIN_DIVIDER);
	e->load_sum = sum;
	e->load_avg = avg;
}

/* Where the third signal is queued load (runnable_is_load), the load of the entity is part of the
 * load of the queue above while the entity is queued. */
WP_INLINE void wp_tg_runnable_load(struct wp_ctx *ctx, const struct wp_tg_above *up,
				   const struct wp_tg_queue *q, int add)
{
	u64 sum = q->runnable_weight * q->entity.runnable_sum;

	if (!WP_NOT_LIVE(ctx->params.runnable_is_load))
		return;
	if (add) {
		up->avg->runnable_avg += q->entity.runnable_avg;
		up->avg->runnable_sum += sum;
	} else {
		up->avg->runnable_avg = (u32)wp_sub(up->avg->runnable_avg, q->entity.runnable_avg);
		up->avg->runnable_sum = wp_sub(up->avg->runnable_sum, sum);
	}
}

/*
 * Tasks joined or left: the entity follows its queue, the queue above the entity; `outer`: that
 * queue, if it is a group's, whose entity follows in its turn. Returns 1 if there was something to
 * follow.
 */
WP_INLINE int wp_propagate_entity_load_avg(struct wp_ctx *ctx, struct wp_cpu *c,
					   const struct wp_tg_above *up, struct wp_tg_queue *q,
					   struct wp_tg_queue *outer)
{
	struct wp_sched_avg *e = &q->entity, *rq = up->avg;
	u64 div = wp_get_pelt_divider(rq);

	if (!q->moved)
		return 0;
	q->moved = 0;
	if (outer) {
		outer->moved = 1;
		outer->moved_load_sum += q->moved_load_sum;
	}
	wp_tg_follow(&e->util_avg, &e->util_sum, &rq->util_avg, &rq->util_sum, q->avg.util_avg,
		     div);
	if (!WP_NOT_LIVE(ctx->params.runnable_is_load)) {
		wp_tg_follow(&e->runnable_avg, &e->runnable_sum, &rq->runnable_avg,
			     &rq->runnable_sum, q->avg.runnable_avg, div);
		wp_update_tg_cfs_load(ctx, c, up, q);
		return 1;
	}
	if (wp_tg_on_rq(q))
		wp_tg_runnable_load(ctx, up, q, 0);
	wp_update_tg_cfs_load(ctx, c, up, q);
	e->runnable_sum = e->load_sum;
	wp_tg_entity_runnable(q);
	if (wp_tg_on_rq(q))
		wp_tg_runnable_load(ctx, up, q, 1);
	return 1;
}

/* The entity's weight changes: its load keeps its part of time, in the new weight. */
WP_INLINE void wp_tg_set_weight(struct wp_ctx *ctx, const struct wp_tg_above *up,
				struct wp_tg_queue *q, u32 weight, u32 runnable)
{
	struct wp_sched_avg *e = &q->entity;
	u64 div = wp_get_pelt_divider(e);

	if (wp_tg_on_rq(q)) {
		wp_tg_runnable_load(ctx, up, q, 0);
		*up->load_weight += weight - q->weight;
		*up->blocked_weight += (weight - runnable) - (q->weight - q->runnable_weight);
	}
	up->avg->load_avg = (u32)wp_sub(up->avg->load_avg, e->load_avg);
	up->avg->load_sum = wp_sub(up->avg->load_sum, q->weight * e->load_sum);
	q->weight = weight;
	q->runnable_weight = runnable;
	e->load_avg = (u32)wp_div(weight * e->load_sum, div);
	up->avg->load_avg += e->load_avg;
	up->avg->load_sum += weight * e->load_sum;
	if (!WP_NOT_LIVE(ctx->params.runnable_is_load))
		return;
	wp_tg_entity_runnable(q);
	if (wp_tg_on_rq(q))
		wp_tg_runnable_load(ctx, up, q, 1);
}
