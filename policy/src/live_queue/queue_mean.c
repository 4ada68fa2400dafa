// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * V, the mean of a live queue (queue.c), and what a task is owed that leaves it
 * (docs/rules/live-queue.md#vq-mean, docs/rules/live-queue.md#vq-lag).
 *
 * Virtual time of a task: its run time x 1024 / weight. Of a queue, V: the mean of its tasks'
 * times, by weight, the running one's included. A task that is behind V is owed time: it is
 * eligible. The kernel sums all its tasks up; here V is kept by itself, since the sums would need
 * the queue's lock where another CPU pulls:
 *
 *   a task runs     V grows by run time x 1024 / (weight of all)
 *   one joins       with lag l = V - its time:  V -= l x weight / (weight of those there)
 *   one leaves                                  V += l x weight / (weight of those who stay)
 *
 * The sum of all lags stays 0, but for rounding. With one task, V is its virtual time. Other CPUs,
 * which let tasks join and leave without the queue's lock, change V and the load by atomic sums. If
 * one does so while the owner updates V, a stretch of run time may count twice, or a sum be lost as
 * a task becomes the only one. V is then off by that until one task is alone again.
 *
 * What must stay: the sum of lags, and atomic sums where other CPUs join or leave. Free: how
 * V is kept, as long as the sum of lags stays 0.
 *
 * Tests by part: (below crates/policy-sys/tests) all/queue.rs:
 * `the_queues_time_is_the_mean_by_weight`, `v_is_the_mean_whatever_happens` (`wp_avg_vruntime`,
 * `wp_update_avg_vruntime`, `wp_live_queue_share`, `wp_live_queue_without`, `wp_live_queue_ahead`:
 * the wrap), `a_sleeper_keeps_what_it_is_owed` (`wp_live_queue_left`), `lags_are_bounded`
 * (`wp_live_queue_clamp`, `wp_live_queue_most_lag`), `slices_end_if_somebody_waits`
 * (`wp_live_queue_slice_ns`, `wp_live_queue_scale`), `alone_nothing_is_owed`
 * (`wp_live_queue_runs_at`, `wp_live_queue_curr`).
 *
 * Callers: queue.c and queue_sleepers.c; `wp_task_init` (rq.c) begins a task's slice.
 *
 * Kernel: avg_vruntime(), kernel/sched/fair.c
 * Tests: all/queue.rs
 */
#include "wakeplace/policy.h"

/* What the rounding of V may hide of a distance to it, ns of run time: looked for so much later. */
#define WP_LIVE_QUEUE_ROUNDING_NS 1000u

/* Times wrap: which is ahead is told by the sign of the distance. */
WP_INLINE s64 wp_live_queue_ahead(u64 a, u64 b)
{
	return (s64)(a - b);
}

/* Virtual time of a run of this weight. */
WP_INLINE u64 wp_live_queue_scale(u64 run_ns, u32 weight)
{
	return wp_div(run_ns * WP_SCALE, wp_max(weight, 1));
}

/* distance x weight / load, toward 0: what joins and what leaves round alike. */
WP_INLINE u64 wp_live_queue_share(u64 distance, u32 weight, u32 load)
{
	if ((s64)distance < 0)
		return 0 - wp_div((0 - distance) * weight, load);
	return wp_div(distance * weight, load);
}

/* A distance no larger than `most`, either way. */
WP_INLINE u64 wp_live_queue_clamp(u64 distance, u64 most)
{
	if ((s64)distance > (s64)most)
		return most;
	return (s64)distance < -(s64)most ? 0 - most : distance;
}

/* Virtual time of the task that runs, of this weight. */
WP_INLINE u64 wp_live_queue_runs_at(const struct wp_cpu *c, u32 weight, u64 now_ns)
{
	return c->live.curr_vtime_ns +
	       wp_live_queue_scale(wp_sub(now_ns, c->live.curr_start_ns), weight);
}

/* Virtual time of the task that runs on `c`, now; of an idle CPU the last one's. */
WP_INLINE u64 wp_live_queue_curr(const struct wp_cpu *c, u64 now_ns)
{
	u32 weight = c->queue.curr_weight; /* another CPU may read while it stops */

	return weight ? wp_live_queue_runs_at(c, weight, now_ns) : c->live.curr_vtime_ns;
}

/* V of a CPU's queue now: the mean virtual time of its tasks. */
WP_INLINE u64 wp_avg_vruntime(const struct wp_cpu *c, u64 now_ns)
{
	if (!c->queue.curr_weight)
		return c->live.vtime_now_ns;
	if (c->live.vq_load <= c->queue.curr_weight)
		return wp_live_queue_curr(c, now_ns);
	return c->live.vtime_now_ns +
	       wp_live_queue_scale(wp_sub(now_ns, c->live.vq_clock_ns), c->live.vq_load);
}

/*
 * V is brought up to date, before its load changes. With one runnable task, V equals its virtual
 * time exactly, also when the other one has just left: were V a nanosecond behind, the next task
 * that wakes would preempt it. Another CPU's clock may be ahead of this one's: V does not go back
 * to before it.
 */
WP_INLINE void wp_update_avg_vruntime(struct wp_cpu *c, u64 now_ns)
{
	u32 weight = c->queue.curr_weight;
	u64 before, alone;

	if (!weight)
		return;
	if (c->live.vq_load <= weight) {
		now_ns = wp_max64(now_ns, c->live.vq_clock_ns);
		alone = wp_live_queue_runs_at(c, weight, now_ns);
		if (c->live.vtime_now_ns != alone)
			c->live.vtime_now_ns = alone;
		c->live.vq_clock_ns = now_ns;
		return;
	}
	if (now_ns <= c->live.vq_clock_ns)
		return;
	before = WP_SWAP(&c->live.vq_clock_ns, now_ns);
	WP_ADD(&c->live.vtime_now_ns, wp_live_queue_scale(wp_sub(now_ns, before), c->live.vq_load));
}

/* How long a task runs while others wait: longer where there are more CPUs, as the kernel's. */
WP_SMALL_FN u64 wp_live_queue_slice_ns(const struct wp_ctx *ctx WP_NONNULL)
{
	return (u64)ctx->params.vq_slice_ns *
	       wp_scaling_factor(ctx->params.tunable_scaling, ctx->nr_cpus);
}

/* What a task may be owed or owe while it is away: a slice and the tick that ends it. */
WP_INLINE u64 wp_live_queue_most_lag(const struct wp_ctx *ctx, u32 weight)
{
	return wp_live_queue_scale(wp_live_queue_slice_ns(ctx) + ctx->tick_ns, weight);
}

/* V without a task of `weight` that the queue owed `lag`. */
WP_INLINE void wp_live_queue_without(struct wp_cpu *c, u32 weight, u64 lag)
{
	u32 stay = c->live.vq_load > weight ? c->live.vq_load - weight : 0;

	WP_ADD(&c->live.vq_load, 0 - weight);
	if (stay)
		WP_ADD(&c->live.vtime_now_ns, wp_live_queue_share(lag, weight, stay));
}

/* The task has left its queue, which owed it `lag`. `rest` of its slice is left; 0: a new slice. */
WP_INLINE void wp_live_queue_left(const struct wp_ctx *ctx, struct wp_task *task, u64 lag, u64 rest)
{
	u32 weight = task->vq_weight;

	if (lag) /* a task that was alone is owed nothing, and owes nothing */
		lag = wp_live_queue_clamp(lag, wp_live_queue_most_lag(ctx, weight));
	if (weight != task->weight) { /* it weighs something else now */
		lag = wp_live_queue_share(lag, weight, wp_max(task->weight, 1));
		rest = wp_live_queue_share(rest, weight, wp_max(task->weight, 1));
	}
	task->vq_weight = 0;
	task->vq_place = 0;
	task->vq_lag_ns = lag;
	task->vtime_ns = WP_AT(ctx->cpus, task->vtime_cpu)->live.vtime_now_ns - lag;
	task->deadline_ns = rest;
}
