// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Sleepers that their queue keeps until the others have caught up (DELAY_DEQUEUE, from 6.12;
 * docs/rules/queues.md#eevdf). Such a task is off as far as demand goes: it is not runnable, its
 * estimate and hints do not count. Its weight stays in the queue's load, and the home goes on
 * counting it in nr_running. The live queues keep no sleepers.
 */
#include "wakeplace/policy.h"

/* It falls asleep and stays. Returns enum wp_event_result bits. */
WP_INLINE int wp_delay(struct wp_ctx *ctx, struct wp_task *task, u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, task->cpu);
	int result = 0;

	wp_clock(c, now_ns);
	wp_uclamp_dequeue(c, task);
	wp_util_est_dequeue(c, task);
	if (ctx->params.util_est_before_update)
		wp_util_est_sleep(ctx, c, task);
	wp_task_update(ctx, c, task, wp_pelt_now(ctx, c));
	wp_note_run(ctx, c, task);
	if (wp_rq_update(ctx, c))
		result = wp_freq_update(ctx, c, now_ns);
	c->nr_fair--;
	c->nr_delayed++;
	wp_no_current(c);
	task->running = 0;
	task->delayed = 1;
	if (!ctx->params.util_est_before_update)
		wp_util_est_sleep(ctx, c, task);
	wp_dur_sleep(ctx, c, task);
	return result;
}

/* It wakes while it is there. */
WP_INLINE int wp_delay_woken(struct wp_ctx *ctx, struct wp_task *task, u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, task->cpu);
	int result = 0;

	wp_clock(c, now_ns);
	task->run_since_woken_ns = 0;
	wp_uclamp_enqueue(ctx, c, task);
	wp_util_est_enqueue(ctx, c, task);
	wp_task_update(ctx, c, task, wp_pelt_now(ctx, c));
	if (wp_rq_update(ctx, c))
		result = wp_freq_update(ctx, c, now_ns);
	task->delayed = 0;
	c->nr_delayed--;
	c->nr_fair++;
	wp_note_overutilized(ctx, c);
	return result;
}

/* Its time has come: the queue lets it go. */
WP_INLINE int wp_delay_end(struct wp_ctx *ctx, struct wp_task *task, u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, task->cpu);
	int result = 0;

	wp_clock(c, now_ns);
	wp_task_update(ctx, c, task, wp_pelt_now(ctx, c));
	if (wp_rq_update(ctx, c))
		result = wp_freq_update(ctx, c, now_ns);
	task->delayed = 0;
	task->on_rq = 0;
	c->nr_delayed--;
	c->load_weight -= task->weight;
	wp_idle_policy_dequeue(c, task);
	return result;
}
