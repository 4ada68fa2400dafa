// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The live scheduler's queues: one per CPU, in order of weighted virtual time. The home owns the
 * queue (a dispatch queue of sched_ext, a list in the simulator) and sorts it by vtime_ns; what a
 * task's virtual time is, how long it runs and whom it preempts is decided here, for both.
 *
 * Virtual time of a task: its run time x 1024 / weight. Virtual time of a queue: where its hindmost
 * task is, seen when a task begins to run and at ticks; it never goes back. A sleeper comes back at
 * most one slice behind it, so that it runs soon but cannot claim the whole time it slept; a task
 * that moves keeps its distance to its queue's time.
 */
#include "wakeplace/policy.h"

/* The queue's order and its tests need a - b where either may be ahead. */
WP_INLINE s64 wp_vq_ahead(u64 a, u64 b)
{
	return (s64)(a - b);
}

WP_INLINE u64 wp_vq_scale(u64 run_ns, u32 weight)
{
	return wp_div(run_ns * WP_SCALE, weight);
}

/* Virtual time of the task that runs. */
WP_INLINE u64 wp_vq_curr(const struct wp_cpu *c, u64 now_ns)
{
	return c->curr_vtime_ns + wp_vq_scale(wp_sub(now_ns, c->curr_start_ns), c->curr_weight);
}

WP_INLINE void wp_vq_advance(struct wp_cpu *c, u64 vtime)
{
	if (wp_vq_ahead(vtime, c->vtime_now_ns) > 0)
		c->vtime_now_ns = vtime;
}

/* How long a task runs while others wait. */
WP_SMALL_FN u64 wp_vq_slice_ns(const struct wp_ctx *ctx WP_NONNULL)
{
	return ctx->params.vq_slice_ns;
}

/*
 * The task will wait on `cpu`: its place in that queue's order is vtime_ns. It is never further
 * ahead than one slice and the tick that ends it bring it: what it ran alone is forgiven.
 */
WP_SMALL_FN int wp_vq_place(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL,
			    u32 cpu)
{
	const struct wp_cpu *to = WP_AT(ctx->cpus, cpu);
	u64 slice = wp_vq_slice_ns(ctx), now = to->vtime_now_ns, most;

	if (task->vtime_cpu != cpu)
		task->vtime_ns += now - WP_AT(ctx->cpus, task->vtime_cpu)->vtime_now_ns;
	task->vtime_cpu = cpu;
	most = wp_vq_scale(slice + ctx->tick_ns, task->weight);
	if (wp_vq_ahead(now, task->vtime_ns) > (s64)slice)
		task->vtime_ns = now - slice;
	else if (wp_vq_ahead(task->vtime_ns, now) > (s64)most)
		task->vtime_ns = now + most;
	return 0;
}

/*
 * It begins to run on `cpu`. It may have come past the queue (pulled, or put directly on an idle
 * CPU): its credit is bounded here, too, or it could run ahead of nobody for all the time it slept.
 */
WP_SMALL_FN int wp_vq_start(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL, u32 cpu,
			    u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, cpu);

	wp_vq_place(ctx, task, cpu);
	wp_vq_advance(c, task->vtime_ns);
	c->curr_vtime_ns = task->vtime_ns;
	c->curr_start_ns = now_ns;
	c->curr_weight = task->weight;
	c->curr_idle_policy = task->idle_policy;
	return 0;
}

/* It stops, for whatever reason: what it ran counts. */
WP_SMALL_FN int wp_vq_stop(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL,
			   u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, task->vtime_cpu);

	if (!c->curr_weight)
		return 0;
	task->vtime_ns += wp_vq_scale(wp_sub(now_ns, c->curr_start_ns), task->weight);
	c->curr_weight = 0;
	return 0;
}

/* Should the queued task run at once instead of the one that runs on `cpu`? */
WP_SMALL_FN int wp_vq_preempts(struct wp_ctx *ctx WP_NONNULL, const struct wp_task *task WP_NONNULL,
			       u32 cpu, u64 now_ns)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);

	if (!c->curr_weight)
		return 0;
	if (c->curr_idle_policy != task->idle_policy)
		return (int)c->curr_idle_policy;
	/* What has just begun would be thrown out of the caches it has just filled; and a task that
	 * wakes its partner often sleeps next. */
	if (wp_sub(now_ns, c->curr_start_ns) < ctx->params.vq_min_run_ns)
		return 0;
	return wp_vq_ahead(wp_vq_curr(c, now_ns), task->vtime_ns) >
	       (s64)wp_vq_scale(ctx->params.vq_wakeup_gran_ns, task->weight);
}

/* At the tick: has the running task of `cpu` had its slice while others wait? */
WP_FN int wp_vq_expired(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u32 nr_waiting, u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, cpu);

	if (!c->curr_weight)
		return 0;
	if (!nr_waiting) { /* the queue's time goes with the only task */
		wp_vq_advance(c, wp_vq_curr(c, now_ns));
		return 0;
	}
	return wp_sub(now_ns, c->curr_start_ns) >= wp_vq_slice_ns(ctx);
}

/*
 * Its slice is over: is the first one of the queue, at head_vtime_ns, due before it? Else it runs
 * on: a queue that always took the first one would serve two tasks alternately, whatever their
 * weights, since the running one is not in it. A SCHED_IDLE task always gives way.
 */
WP_FN int wp_vq_yields(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 head_vtime_ns, u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	u64 curr = wp_vq_curr(c, now_ns);
	int yields = c->curr_idle_policy || wp_vq_ahead(curr, head_vtime_ns) >= 0;

	wp_vq_advance(c, wp_vq_ahead(curr, head_vtime_ns) > 0 ? head_vtime_ns : curr);
	return yields;
}
