// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The signals of tasks and run queues: which clock they follow, how they are updated, how a task's
 * share joins and leaves a queue (docs/rules/signals.md#pelt-update,
 * docs/rules/signals.md#pelt-clock, docs/rules/signals.md#attach-detach).
 *
 * What must stay: a clock is brought up to date before a signal that follows it; what joins a
 * queue's sums leaves them with the same averages. Free: how a step is made; sums only with
 * pelt.c and the page.
 *
 * Tests by part: (below crates/policy-sys/tests; `every_fixture_holds` runs the fixtures)
 * all/signals.rs: `lost_idle_time`, `saturation_by_mode` (`wp_update_rq_clock`, `wp_rq_clock_pelt`,
 * `wp_pelt_cpu_scale`, `wp_pelt_freq_scale`), `queue_is_the_sum_of_its_tasks`
 * (`wp_update_cfs_rq_load_avg`, `wp_rq_sums_update`, `wp_task_avg`, `wp_task_sums_update`),
 * `attach_takes_the_queues_divider` (`wp_attach_entity_load_avg`, `wp_update_load_avg_attach`),
 * `migrated_sleepers_leave_nothing` (`wp_apply_removed`, `wp_avg_take_off`),
 * `queued_load_is_the_load_of_who_is_always_queued` (`wp_enqueue_runnable_load_avg_5_6`,
 * `wp_dequeue_runnable_load_avg_5_6`); fixtures/signals: clock-*.toml, detach-*.toml
 * (`wp_detach_entity_load_avg`), join-*.toml, sync-decays-to-the-queue.toml
 * (`wp_sync_entity_load_avg`), 3-8-*.toml (`wp_signals_add_up`); all/wake_7_3.rs:
 * `queues_count_idle_policy` (`wp_idle_policy_enqueue`, `wp_idle_policy_dequeue`); all/on_state.rs:
 * `one_step_at_a_time` (`wp_update_load_avg_se`).
 *
 * Callers: events of tasks and CPUs (rq.c, delayed.c, task_group.c, rt_dl_irq.c);
 * `wp_sync_entity_load_avg`: placement before it looks at a task.
 *
 * Kernel: update_rq_clock(), kernel/sched/core.c; rq_clock_pelt(), kernel/sched/pelt.h;
 *         __update_load_avg_se(), kernel/sched/pelt.c; update_cfs_rq_load_avg(),
 *         sync_entity_load_avg(), attach_entity_load_avg(), detach_entity_load_avg(),
 *         kernel/sched/fair.c; enqueue_runnable_load_avg(), dequeue_runnable_load_avg(),
 *         kernel/sched/fair.c, to 5.6
 * Tests: fixtures/signals, all/signals.rs, all/signals_7_3.rs, all/uclamp_sum.rs
 */
#include "wakeplace/policy.h"

/* All of a CPU's time used: nothing of a slow CPU's missing time is handed back when it goes idle.
 * */
#define WP_SATURATED (((u64)WP_MIN_DIVIDER << 10) - 47742u)

/* By how much this CPU's time counts: its capacity in forms that scale contributions, else 1024. */
WP_INLINE u32 wp_pelt_cpu_scale(const struct wp_ctx *ctx, const struct wp_cpu *c)
{
	return WP_NOT_LIVE(ctx->params.pelt_scale == WP_PELT_CONTRIB) ? c->load.capacity_orig
								      : WP_SCALE;
}

/* By how much the CPU's clock counts: its frequency in forms that scale contributions, or 1024. */
WP_INLINE u32 wp_pelt_freq_scale(const struct wp_ctx *ctx, const struct wp_cpu *c)
{
	return WP_NOT_LIVE(ctx->params.pelt_scale == WP_PELT_CONTRIB) ? c->load.freq_scale
								      : WP_SCALE;
}

/*
 * Advance the queue's clocks to now (docs/rules/signals.md#clocks,
 * docs/rules/signals.md#pelt-clock).
 */
WP_INLINE void wp_update_rq_clock(struct wp_cpu *c, u64 now_ns)
{
	u64 delta = wp_sub(now_ns, c->load.clock_ns);

	c->load.clock_ns += delta;
	if (WP_SIM(c->queue.classes.irq_ns))
		delta = wp_irq_take(c, delta);
	c->load.clock_task_ns += delta;
	if (c->queue.curr_idle)
		c->load.clock_pelt_ns = c->load.clock_task_ns;
	else
		c->load.clock_pelt_ns +=
			(((delta * c->load.capacity_orig) >> 10) * c->load.freq_scale) >> 10;
}

/* Is a queue's signal the sum of its tasks'? Only then do tasks take their share along. */
WP_INLINE int wp_signals_add_up(const struct wp_ctx *ctx)
{
	return !WP_NOT_LIVE(ctx->params.pelt_scale >= WP_PELT_RATIO);
}

/* The clock that signals follow, ns. */
WP_INLINE u64 wp_rq_clock_pelt(const struct wp_ctx *ctx, const struct wp_cpu *c)
{
	if (WP_NOT_LIVE(ctx->params.pelt_scale != WP_PELT_CLOCK))
		return c->load.clock_task_ns;
	return c->load.clock_pelt_ns - c->load.lost_idle_ns;
}

/*
 * Take averages off a queue; each sum keeps at least its average's worth
 * (docs/rules/signals.md#attach-detach).
 */
WP_INLINE void wp_avg_take_off(const struct wp_ctx *ctx, struct wp_sched_avg *a, u64 load, u64 util,
			       u64 runnable)
{
	u64 div = wp_get_pelt_divider(a);

	a->load_avg = (u32)wp_sub(a->load_avg, load);
	a->load_sum = wp_max64(wp_sub(a->load_sum, load * div), (u64)a->load_avg * WP_MIN_DIVIDER);
	wp_util_take_off(a, util);
	if (!WP_NOT_LIVE(ctx->params.runnable_is_load)) {
		a->runnable_avg = (u32)wp_sub(a->runnable_avg, runnable);
		a->runnable_sum = wp_max64(wp_sub(a->runnable_sum, runnable * div),
					   (u64)a->runnable_avg * WP_MIN_DIVIDER);
	}
	if (WP_NOT_LIVE(ctx->params.removed_sums_anew)) {
		a->load_sum = a->load_avg * div;
		a->runnable_sum = a->runnable_avg * div;
	}
}

/* Take off what tasks left behind when they were placed elsewhere while asleep. */
WP_INLINE int wp_apply_removed(struct wp_ctx *ctx, struct wp_cpu *c)
{
	u64 load, util, runnable;

	/* The count is added last and taken first: what is added meanwhile is seen next time. */
	if (!c->load.nr_removed || !WP_TAKE(&c->load.nr_removed))
		return 0;
	load = WP_TAKE(&c->load.removed_load);
	util = WP_TAKE(&c->load.removed_util);
	runnable = WP_TAKE(&c->load.removed_runnable);
	wp_avg_take_off(ctx, &c->load.avg, load, util, runnable);
	return 1;
}

/* The sum of its tasks' averages, up to its PELT clock. Returns 1 if they changed. */
WP_INLINE int wp_rq_sums_update(struct wp_ctx *ctx, struct wp_cpu *c)
{
	int changed = wp_apply_removed(ctx, c);
	struct wp_pelt_step step = {
		.now_ns = wp_rq_clock_pelt(ctx, c),
		.load = c->load.load_weight,
		.runnable = WP_NOT_LIVE(ctx->params.runnable_is_load)
				    ? c->load.load_weight - c->load.blocked_weight
				    : c->queue.nr_fair,
		.running = c->queue.curr_fair,
		.weight = 1,
		.scale_cpu = wp_pelt_cpu_scale(ctx, c),
		.scale_freq = wp_pelt_freq_scale(ctx, c),
		.runnable_is_load = WP_NOT_LIVE(ctx->params.runnable_is_load),
		.half_life = WP_NOT_LIVE(ctx->params.pelt_half_life),
	};

	return wp_avg_step(&c->load.avg, &step) | changed;
}

/* The queue's own averages. Returns 1 if they changed. */
WP_INLINE int wp_update_cfs_rq_load_avg(struct wp_ctx *ctx, struct wp_cpu *c)
{
#ifndef WP_LIVE
	if (!wp_signals_add_up(ctx))
		return wp_update_runnable_avg_3_8(ctx, &c->load.avg, wp_rq_clock_pelt(ctx, c),
						  !c->queue.curr_idle, WP_SCALE);
#endif
	return wp_rq_sums_update(ctx, c);
}

/* A task's averages up to `now_ns` of its queue's PELT clock. Returns 1 if they were written. */
WP_INLINE int wp_task_sums_update(struct wp_ctx *ctx, const struct wp_cpu *c, struct wp_task *task,
				  u64 now_ns)
{
	struct wp_pelt_step step = {
		.now_ns = now_ns,
		.load = task->on_rq,
		.runnable = WP_NOT_LIVE(task->sched_delayed) ? 0 : task->on_rq,
		.running = task->running,
		.weight = task->weight,
		.scale_cpu = wp_pelt_cpu_scale(ctx, c),
		.scale_freq = wp_pelt_freq_scale(ctx, c),
		.runnable_is_load = WP_NOT_LIVE(ctx->params.runnable_is_load),
		.half_life = WP_NOT_LIVE(ctx->params.pelt_half_life),
	};

	return wp_avg_step(&task->avg, &step);
}

/* A task's averages in the form in force. Returns 1 if they changed. */
WP_INLINE int wp_task_avg(struct wp_ctx *ctx, const struct wp_cpu *c, struct wp_task *task,
			  u64 now_ns)
{
#ifndef WP_LIVE
	if (!wp_signals_add_up(ctx))
		return wp_update_runnable_avg_3_8(ctx, &task->avg, now_ns, task->on_rq,
						  task->weight);
#endif
	if (!wp_task_sums_update(ctx, c, task, now_ns))
		return 0;
#ifdef WP_UCLAMP_SUM
	wp_util_bias_update(ctx, task);
#endif
	return 1;
}

/* A task's averages in an event of it: its estimate is due again at its next sleep. */
WP_INLINE void wp_update_load_avg_se(struct wp_ctx *ctx, const struct wp_cpu *c,
				     struct wp_task *task, u64 now_ns)
{
	if (wp_task_avg(ctx, c, task, now_ns))
		task->util_est &= ~WP_UTIL_EST_UNCHANGED;
}

/*
 * Decay a sleeping task to the last update of its queue, not to now
 * (docs/rules/signals.md#attach-detach).
 */
WP_FN int wp_sync_entity_load_avg(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, task->cpu);

	if (WP_NOT_LIVE(task->task_group)) /* wp_tg_prepare did, to its group's queue */
		return 0;
	if (task->avg.last_update_ns)
		wp_task_avg(ctx, c, task, c->load.avg.last_update_ns);
	return 0;
}

/*
 * Join a queue's sums, on the CPU `c`, with the averages the task brings
 * (docs/rules/signals.md#attach-detach).
 */
WP_INLINE void wp_attach_entity_load_avg(struct wp_ctx *ctx, const struct wp_cpu *c,
					 struct wp_sched_avg *q, struct wp_task *task)
{
	struct wp_sched_avg *a = &task->avg;
	u64 div = wp_get_pelt_divider(q);

	if (!wp_signals_add_up(ctx)) { /* it goes on from now, with what it brings */
		a->last_update_ns = c->load.clock_task_ns;
		return;
	}
	a->last_update_ns = q->last_update_ns;
	a->period_contrib = q->period_contrib;
	a->util_sum = a->util_avg * div;
	a->load_sum = wp_max64(wp_div(a->load_avg * div, task->weight), 1);
	if (WP_NOT_LIVE(ctx->params.runnable_is_load)) {
		a->runnable_sum = a->load_sum;
	} else {
		a->runnable_sum = a->runnable_avg * div;
		q->runnable_avg += a->runnable_avg;
		q->runnable_sum += a->runnable_sum;
	}
	q->load_avg += a->load_avg;
	q->load_sum += task->weight * a->load_sum;
	if (ctx->params.enqueue_load_floor)
		q->load_sum = wp_max64(q->load_sum, (u64)q->load_avg * WP_MIN_DIVIDER);
	q->util_avg += a->util_avg;
	q->util_sum += a->util_sum;
}

/* A task comes to its CPU's queue: both are brought up to date, and a task that has moved counts in
 * the queue's averages from now on. Returns 1 if these changed. */
WP_INLINE int wp_update_load_avg_attach(struct wp_ctx *ctx, struct wp_cpu *c, struct wp_task *task)
{
	int changed;

	if (task->avg.last_update_ns)
		wp_update_load_avg_se(ctx, c, task, wp_rq_clock_pelt(ctx, c));
	changed = wp_update_cfs_rq_load_avg(ctx, c);
	if (task->avg.last_update_ns)
		return changed;
	wp_attach_entity_load_avg(ctx, c, &c->load.avg, task);
	return 1;
}

/* Leave a queue's sums; each keeps at least its average's worth. */
WP_INLINE void wp_detach_entity_load_avg(struct wp_ctx *ctx, struct wp_sched_avg *q,
					 const struct wp_task *task)
{
	const struct wp_sched_avg *a = &task->avg;

	if (!wp_signals_add_up(ctx))
		return;
	q->load_avg = (u32)wp_sub(q->load_avg, a->load_avg);
	q->load_sum = wp_max64(wp_sub(q->load_sum, task->weight * a->load_sum),
			       (u64)q->load_avg * WP_MIN_DIVIDER);
	q->util_avg = (u32)wp_sub(q->util_avg, a->util_avg);
	q->util_sum = wp_max64(wp_sub(q->util_sum, a->util_sum), (u64)q->util_avg * WP_MIN_DIVIDER);
	if (WP_NOT_LIVE(ctx->params.runnable_is_load))
		return;
	q->runnable_avg = (u32)wp_sub(q->runnable_avg, a->runnable_avg);
	q->runnable_sum = wp_max64(wp_sub(q->runnable_sum, a->runnable_sum),
				   (u64)q->runnable_avg * WP_MIN_DIVIDER);
}

/* Where the third signal is the queued tasks' load, it follows them onto and off the queue. */
WP_INLINE void wp_enqueue_runnable_load_avg_5_6(struct wp_ctx *ctx, struct wp_sched_avg *q,
						const struct wp_task *task)
{
	if (!WP_NOT_LIVE(ctx->params.runnable_is_load) || !wp_signals_add_up(ctx))
		return;
	q->runnable_avg += task->avg.runnable_avg;
	q->runnable_sum += task->weight * task->avg.runnable_sum;
}

/* The reverse of the enqueue. */
WP_INLINE void wp_dequeue_runnable_load_avg_5_6(struct wp_ctx *ctx, struct wp_sched_avg *q,
						const struct wp_task *task)
{
	if (!WP_NOT_LIVE(ctx->params.runnable_is_load) || !wp_signals_add_up(ctx))
		return;
	q->runnable_avg = (u32)wp_sub(q->runnable_avg, task->avg.runnable_avg);
	q->runnable_sum = wp_sub(q->runnable_sum, task->weight * task->avg.runnable_sum);
}

/* A queue counts its SCHED_IDLE tasks; what was counted in is counted out. */
WP_INLINE void wp_idle_policy_enqueue(struct wp_cpu *c, struct wp_task *task)
{
	task->idle_counted = task->idle_policy || WP_NOT_LIVE(task->group_idle);
	if (task->idle_counted)
		WP_ADD(&c->queue.nr_idle_policy, 1u);
}

/* Only what was counted in, whatever the task's policy is now. */
WP_INLINE void wp_idle_policy_dequeue(struct wp_cpu *c, struct wp_task *task)
{
	if (task->idle_counted)
		WP_ADD(&c->queue.nr_idle_policy, 0 - 1u);
	task->idle_counted = 0;
}
