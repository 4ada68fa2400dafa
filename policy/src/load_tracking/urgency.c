// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Urgency: how much of its period a task needs from its wake-up to its sleep
 * (docs/rules/energy-idle.md#urgency). Time in the queue counts for the frequency as far as the
 * most urgent task of the queue has no time left.
 *
 * A task has its last period, between its last two wake-ups, and its urgency, 0..WP_SCALE. That
 * starts at all of it, rises at once and falls by a quarter of the difference. A queue counts its
 * tasks by steps of urgency. So its largest is known in a few reads, also where other CPUs pull
 * tasks without its lock.
 *
 * What must stay: a task is counted out by the step that it was counted in with; with
 * `boost_urgency_high_pct` = 0 all of the waiting counts, whatever the tasks. Free: the number of
 * steps, with the page's numbers.
 *
 * Tests by part: (below crates/policy-sys/tests) all/urgency.rs: `a_task_that_waits_is_urgent`
 * (`wp_urgency_wake`, `wp_urgency_sleep`), `steps_between_the_limits` (`wp_urgency_step`),
 * `a_queue_has_its_most_urgent` (`wp_urgency_enqueue`, `wp_urgency_dequeue`),
 * `the_frequency_follows_the_steps` (`wp_rq_urgency`), `the_waiting_task_counts_too`
 * (`wp_task_urgency`), `all_counts_without_limits` (`wp_urgency_counts`).
 *
 * Callers: events of tasks (rq.c, delayed.c); capacity.c and energy_util.c ask.
 *
 * Tests: all/urgency.rs
 */
#include "wakeplace/policy.h"

/* Does it matter how urgent tasks are? */
WP_INLINE int wp_urgency_counts(const struct wp_ctx *ctx)
{
	return ctx->params.boost_urgency_high_pct;
}

/* The task wakes: what passed since it woke before is its period. */
WP_INLINE void wp_urgency_wake(struct wp_task *task, u64 now_ns)
{
	if (task->woken_ns)
		task->period_ns = wp_sub(now_ns, task->woken_ns);
	else
		task->urgency = WP_SCALE;
	task->woken_ns = now_ns;
}

/* The task sleeps: how much of its period did it need? */
WP_INLINE void wp_urgency_sleep(struct wp_task *task, u64 now_ns)
{
	u64 took_ns = wp_sub(now_ns, task->woken_ns);
	u32 sample = WP_SCALE;

	if (!task->period_ns)
		return;
	if (took_ns < task->period_ns)
		sample = (u32)wp_div(took_ns << 10, task->period_ns);
	if (sample >= task->urgency)
		task->urgency = sample;
	else
		task->urgency -= (task->urgency - sample + 3) / 4;
}

/* In which step between the limits a task is: 0, nothing counts, to WP_URGENCY_STEPS, all does. Of
 * a task without a period all does. */
WP_INLINE u32 wp_urgency_step(const struct wp_ctx *ctx, const struct wp_task *task)
{
	u32 low = ctx->params.boost_urgency_low_pct, high = ctx->params.boost_urgency_high_pct;
	u32 pct = task->urgency * 100 / WP_SCALE;

	if (!task->period_ns || pct >= high)
		return WP_URGENCY_STEPS;
	return pct <= low ? 0 : (pct - low) * WP_URGENCY_STEPS / (high - low);
}

/* A queue counts a task that can run. */
WP_INLINE void wp_urgency_enqueue(const struct wp_ctx *ctx, struct wp_cpu *c, struct wp_task *task,
				  u32 flags)
{
	if (!wp_urgency_counts(ctx))
		return;
	if (flags & (WP_Q_WAKEUP | WP_Q_NEW))
		wp_urgency_wake(task, c->load.clock_ns);
	task->urgency_counted = wp_urgency_step(ctx, task);
	if (task->urgency_counted)
		WP_ADD(WP_AT(c->queue.nr_urgent, task->urgency_counted - 1), 1u);
}

/* What was counted in is counted out. */
WP_INLINE void wp_urgency_dequeue(const struct wp_ctx *ctx, struct wp_cpu *c, struct wp_task *task,
				  u32 flags)
{
	if (!wp_urgency_counts(ctx))
		return;
	if (task->urgency_counted)
		WP_ADD(WP_AT(c->queue.nr_urgent, task->urgency_counted - 1), 0 - 1u);
	task->urgency_counted = 0;
	if (flags & WP_Q_SLEEP)
		wp_urgency_sleep(task, c->load.clock_ns);
}

/*
 * The step of a task that wakes. This and the next are functions of their own, as the verifier is
 * to look at them once.
 */
WP_FN u32 wp_task_urgency(const struct wp_ctx *ctx WP_NONNULL,
			  const struct wp_task *task WP_NONNULL)
{
	return wp_urgency_counts(ctx) ? wp_urgency_step(ctx, task) : WP_URGENCY_STEPS;
}

/* The step of the most urgent task in the queue. */
WP_FN u32 wp_rq_urgency(const struct wp_ctx *ctx WP_NONNULL, const struct wp_cpu *c WP_NONNULL)
{
	u32 step = WP_URGENCY_STEPS;

	if (!wp_urgency_counts(ctx))
		return step;
	while (step && !*WP_AT(c->queue.nr_urgent, step - 1))
		step--;
	return step;
}
