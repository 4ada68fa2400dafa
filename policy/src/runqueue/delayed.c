// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Sleepers that their queue keeps until the others have caught up (DELAY_DEQUEUE, from 6.12;
 * docs/rules/queues.md#eevdf). Such a task counts as dequeued for demand: it is not runnable, and
 * its estimate and hints do not count. Its weight stays in the queue's load, and the home goes on
 * counting it in nr_running; where hints add up, its bias stays, too
 * (docs/rules/uclamp-sum.md#bias). The live scheduler's queues keep sleepers in virtual time alone
 * (queue_sleepers.c).
 *
 * What must stay: a sleeper that is kept is counted out once, as it wakes or leaves. Free:
 * how a kept sleeper is counted, with queues.md; the order of steps is that of rq.c.
 *
 * Tests by part: (below crates/policy-sys/tests) all/signals.rs:
 * `a_kept_sleeper_weighs_but_does_not_run` (`wp_set_delayed`, `wp_requeue_delayed_entity`,
 * `wp_finish_delayed_dequeue_entity`); all/on_state.rs: `a_kept_sleeper_is_moved`
 * (`wp_enqueue_delayed`); all/durations.rs: `a_delayed_sleep_is_one_sample`; all/uclamp_sum.rs:
 * `a_cpus_bias_is_the_sum_of_its_tasks`.
 *
 * Callers: `wp_enqueue_task_fair` and `wp_dequeue_task_fair` (rq.c).
 *
 * Kernel: set_delayed(), requeue_delayed_entity(), finish_delayed_dequeue_entity(),
 *         kernel/sched/fair.c
 * Tests: all/signals.rs, all/durations.rs, all/on_state.rs, all/uclamp_sum.rs
 */
#include "wakeplace/policy.h"

/* The task falls asleep and stays queued. Returns enum wp_event_result bits. */
WP_INLINE int wp_set_delayed(struct wp_ctx *ctx, struct wp_task *task, u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, task->cpu);
	int result = 0;

	wp_update_rq_clock(c, now_ns);
	wp_uclamp_rq_dec(c, task);
	wp_util_est_dequeue(c, task);
	if (ctx->params.util_est_before_update)
		wp_util_est_update(ctx, c, task);
	wp_update_load_avg_se(ctx, c, task, wp_rq_clock_pelt(ctx, c));
	wp_note_run(ctx, c, task);
	if (wp_update_cfs_rq_load_avg(ctx, c))
		result = wp_cpufreq_update_util(ctx, c, now_ns);
	c->queue.nr_fair--;
	c->queue.h_nr_delayed++;
	wp_no_current(c);
	task->running = 0;
	wp_urgency_dequeue(ctx, c, task, WP_Q_SLEEP);
	wp_pref_llc_running(ctx, task, 0 - 1u);
	task->sched_delayed = 1;
	if (!ctx->params.util_est_before_update)
		wp_util_est_update(ctx, c, task);
	wp_dur_sleep(ctx, c, task);
	return result;
}

/* The task wakes while it is still queued. */
WP_INLINE int wp_requeue_delayed_entity(struct wp_ctx *ctx, struct wp_task *task, u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, task->cpu);
	int result = 0;

	wp_update_rq_clock(c, now_ns);
	task->run_since_woken_ns = 0;
	wp_uclamp_rq_inc(ctx, c, task);
	wp_util_est_enqueue(ctx, c, task);
	wp_update_load_avg_se(ctx, c, task, wp_rq_clock_pelt(ctx, c));
	if (wp_update_cfs_rq_load_avg(ctx, c))
		result = wp_cpufreq_update_util(ctx, c, now_ns);
	task->sched_delayed = 0;
	wp_urgency_enqueue(ctx, c, task, WP_Q_WAKEUP);
	wp_pref_llc_running(ctx, task, 1);
	c->queue.h_nr_delayed--;
	c->queue.nr_fair++;
	return result;
}

/*
 * Balancing has taken it off another CPU's queue, asleep as it is, and this one keeps it from now
 * on (docs/rules/queues.md#delayed-moved). Its averages join those of the queue, its estimate and
 * hints do not.
 */
WP_INLINE int wp_enqueue_delayed(struct wp_ctx *ctx, struct wp_task *task, u32 cpu, u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	int changed;

	task->cpu = cpu;
	wp_update_rq_clock(c, now_ns);
	changed = wp_update_load_avg_attach(ctx, c, task);
	task->on_rq = 1;
	WP_ADD(&c->load.load_weight, task->weight);
	c->queue.h_nr_delayed++;
	wp_idle_policy_enqueue(c, task);
	(void)WP_IF_SUMS(wp_util_bias_enqueue(c, task));
	return (changed ? wp_cpufreq_update_util(ctx, c, now_ns) : 0) |
	       WP_IF_SUMS(wp_util_bias_freq(ctx, c, task, now_ns));
}

/* Its time has come: the queue lets it go. */
WP_INLINE int wp_finish_delayed_dequeue_entity(struct wp_ctx *ctx, struct wp_task *task, u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, task->cpu);
	int result = 0;

	wp_update_rq_clock(c, now_ns);
	wp_update_load_avg_se(ctx, c, task, wp_rq_clock_pelt(ctx, c));
	if (wp_update_cfs_rq_load_avg(ctx, c))
		result = wp_cpufreq_update_util(ctx, c, now_ns);
	wp_account_llc_dequeue(ctx, task);
	task->sched_delayed = 0;
	task->on_rq = 0;
	c->queue.h_nr_delayed--;
	c->load.load_weight -= task->weight;
	wp_idle_policy_dequeue(c, task);
	(void)WP_IF_SUMS(wp_util_bias_dequeue(c, task));
	(void)WP_IF_SUMS(wp_propagate_negative_bias(ctx, c, task, WP_Q_SLEEP));
	return result;
}
