// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * util_est: what a task used at the end of its last activation, since its average has decayed when
 * it wakes (docs/rules/signals.md#util-est).
 *
 * What must stay: estimates are 0..1024; what a queue counts of a task is counted out as it was
 * counted in. Free: a form, with its era and page.
 *
 * Tests by part: (below crates/policy-sys/tests; `every_fixture_holds` runs the fixtures)
 * all/signals.rs: `util_est_single`, `util_est_pair` (`wp_util_est_next`, `wp_util_est_ewma`,
 * `wp_util_est_pair`, `wp_within_margin`, `wp_util_est_update`), `util_est_follows_the_queue`
 * (`wp_util_est_enqueue`, `wp_util_est_dequeue`, `wp_task_est`), `a_run_reaches_so_much`
 * (`wp_util_est_of_run`), `a_fast_estimate_raises_the_demand` (`wp_util_est_faster`, `wp_note_run`,
 * `wp_cpu_util_cfs`); all/on_state.rs: `a_held_estimate_is_not_marked` (`wp_util_est_is_held`),
 * `the_fast_half_follows`; all/util_est_6_12.rs: the order at a sleep; all/response_time.rs:
 * `an_estimate_grows_while_its_task_runs` (`wp_util_est_ramp`, `wp_util_est_update_running`,
 * `wp_util_est_leave`), `an_estimate_falls_slower_by_the_multiplier` (`wp_util_est_fall`);
 * fixtures/util-est: *.toml; fixtures/fits: *.toml (`wp_task_util_est`).
 *
 * Callers: events of tasks (rq.c, delayed.c, task_group.c); `wp_cpu_util_cfs` and
 * `wp_task_util_est`: placement, balancing, frequency.
 *
 * Kernel: util_est_enqueue(), util_est_dequeue(), util_est_update(), task_util_est(),
 *         _task_util_est() as wp_task_est(), cpu_util_cfs(), kernel/sched/fair.c
 * Tests: fixtures/util-est, all/util_est_6_12.rs, all/signals.rs, all/on_state.rs,
 *        all/response_time.rs, all/uclamp_sum.rs
 */
#include "wakeplace/policy.h"

#define WP_UTIL_EST_MARGIN (WP_SCALE / 100u)

/* Is the estimate a pair of values? */
WP_INLINE int wp_util_est_pair(u32 mode)
{
	return WP_NOT_LIVE(mode == WP_UTIL_EST_PAIR || mode == WP_UTIL_EST_PAIR_FASTUP);
}

/* (3 * est + util) / 4, as shifts of an unsigned sum. */
WP_INLINE u32 wp_util_est_ewma(u32 est, u32 util)
{
	return ((est << 2) - est + util) >> 2;
}

/* Closer than WP_UTIL_EST_MARGIN. */
WP_INLINE int wp_within_margin(u32 a, u32 b)
{
	return (a > b ? a - b : b - a) < WP_UTIL_EST_MARGIN;
}

/*
 * The estimate is held because the CPU may have had no time that was not used: nothing is noted,
 * not even that the estimate was made (docs/rules/signals.md#util-est-held).
 */
WP_INLINE int wp_util_est_is_held(u32 est, u32 util, u32 capacity)
{
	return util > capacity && est > util && !wp_within_margin(est, util);
}

/*
 * The estimate after an activation that ended at utilisation `util`. For the pair forms `est` is
 * the slow half (ewma); the fast half (enqueued) is `util` itself. Above `capacity` it does not
 * fall: the CPU may have had no time that was not used.
 */
WP_FN u32 wp_util_est_next(u32 mode, u32 est, u32 util, u32 runnable, u32 capacity)
{
	switch (mode) {
	case WP_UTIL_EST_PAIR:
		return wp_within_margin(est, util) ? est : wp_util_est_ewma(est, util);
	case WP_UTIL_EST_PAIR_FASTUP:
	case WP_UTIL_EST_SINGLE:
		if (est <= util)
			return util;
		if (wp_within_margin(est, util) || wp_util_est_is_held(est, util, capacity))
			return est;
		if (mode == WP_UTIL_EST_SINGLE && util + WP_UTIL_EST_MARGIN < runnable)
			return est;
		return wp_util_est_ewma(est, util);
	default:
		return 0;
	}
}

/* The estimate of a sleeping or running task. */
WP_INLINE u32 wp_task_est(const struct wp_ctx *ctx, const struct wp_task *task)
{
	u32 enqueued = task->util_est & ~WP_UTIL_EST_UNCHANGED;

	if (ctx->params.util_est == WP_UTIL_EST_OFF)
		return 0;
	if (!wp_util_est_pair(ctx->params.util_est))
		return enqueued;
	return wp_max(enqueued, task->util_est_ewma);
}

/* Demand of a task: what it shows now or showed at the end of its last activation. */
WP_FN u32 wp_task_util_est(const struct wp_ctx *ctx WP_NONNULL,
			   const struct wp_task *task WP_NONNULL)
{
	return wp_max(task->avg.util_avg, wp_task_est(ctx, task));
}

/*
 * The utilisation that a run of this length reaches from 0. With a task that has become heavy the
 * average takes 20 to 30 ms to tell (docs/rules/signals.md#util-est-faster).
 */
WP_FN u32 wp_util_est_of_run(u64 run_ns)
{
	u64 us = wp_min64(run_ns >> 10, 345 * 1024); /* all there is to reach by then */
	u32 periods = (u32)us / 1024u, rest = (u32)us % 1024u;
	u32 sum = periods ? wp_accumulate_pelt_segments(periods, 1024, rest) : rest;

	return sum * WP_SCALE / WP_MIN_DIVIDER;
}

/* What the running task would show by now, estimated from its run. */
WP_INLINE u32 wp_util_est_faster(const struct wp_ctx *ctx, const struct wp_cpu *c)
{
	u64 us = c->queue.curr_run_since_woken_ns >> 10;

	if (!c->queue.curr_fair)
		return 0;
	if (ctx->params.util_est_faster == WP_UTIL_EST_FASTER_SCALED)
		us = (((us * c->load.capacity_orig) >> 10) * c->load.freq_scale) >> 10;
	return wp_util_est_of_run((2 * us) << 10);
}

/* The running task has run up to the queue's clock. */
WP_INLINE void wp_note_run(struct wp_ctx *ctx, struct wp_cpu *c, struct wp_task *task)
{
	u64 ran_ns = wp_sub(c->load.clock_task_ns, task->exec_start_ns);

	task->exec_ns += ran_ns;
	if (WP_NOT_LIVE(ctx->params.util_est_rampup))
		task->delta_exec_us = (u32)wp_div(ran_ns, 1000);
	if (WP_NOT_LIVE(ctx->params.util_est_faster)) {
		task->run_since_woken_ns += ran_ns;
		c->queue.curr_run_since_woken_ns = task->run_since_woken_ns;
	}
	task->exec_start_ns = c->load.clock_task_ns;
	wp_account_mm_sched(ctx, c, task, ran_ns);
}

/* Demand of a CPU's fair tasks: the larger of utilisation and estimate. */
WP_INLINE u32 wp_cpu_util_cfs(const struct wp_ctx *ctx, const struct wp_cpu *c)
{
	u32 util = c->load.avg.util_avg;

	if (ctx->params.util_est != WP_UTIL_EST_OFF)
		util = wp_max(util, c->load.util_est);
	if (WP_NOT_LIVE(ctx->params.util_est_faster && !ctx->params.util_est_faster_freq))
		util = wp_max(util, wp_util_est_faster(ctx, c));
	return wp_min(util, c->load.capacity_orig);
}

/* Count a task in or out of its CPU's estimate while it is queued. */
WP_INLINE void wp_util_est_enqueue(struct wp_ctx *ctx, struct wp_cpu *c, struct wp_task *task)
{
	task->util_est_queued = wp_task_est(ctx, task);
	WP_ADD(&c->load.util_est, task->util_est_queued);
#ifdef WP_UCLAMP_SUM
	wp_util_est_uclamp_enqueue(c, task);
#endif
}

/* What was counted in is counted out. */
WP_INLINE void wp_util_est_dequeue(struct wp_cpu *c, struct wp_task *task)
{
	WP_ADD(&c->load.util_est, 0 - task->util_est_queued);
	task->util_est_queued = 0;
#ifdef WP_UCLAMP_SUM
	wp_util_est_uclamp_dequeue(c, task);
#endif
}

#ifndef WP_LIVE
/* util_est_rampup: what `next` becomes where the estimate falls from `est` to `util`, slower by the
 * multiplier. */
WP_INLINE u32 wp_util_est_fall(const struct wp_ctx *ctx, u32 est, u32 util, u32 next)
{
	u32 slower = ctx->params.rampup_multiplier;

	if (!ctx->params.util_est_rampup)
		return next;
	if (!slower)
		return 0;
	if (next >= est)
		return next;
	return ((est << 2) - (est - util) / slower) >> 2;
}

/*
 * util_est_rampup: the estimate of a task that stays runnable grows by what it has run up to its
 * last update, in time as it passes (docs/rules/response-time.md#util-est-rampup). Nobody counts
 * the estimate now.
 */
WP_INLINE void wp_util_est_ramp(const struct wp_ctx *ctx, struct wp_task *task)
{
	u32 faster = ctx->params.rampup_multiplier, est = 0;

	if (faster && ctx->params.util_est_rampup == WP_RAMPUP_RISING &&
	    task->avg.util_avg <= task->util_dequeued)
		return;
	if (faster)
		est = wp_approximate_util_avg(task->util_est & ~WP_UTIL_EST_UNCHANGED,
					      (u64)task->delta_exec_us * faster,
					      ctx->params.pelt_half_life);
	task->util_est = est | WP_UTIL_EST_UNCHANGED;
}
#endif

/* A task that ran stays queued: its estimate follows. */
WP_INLINE void wp_util_est_update_running(struct wp_ctx *ctx, struct wp_cpu *c,
					  struct wp_task *task)
{
#ifndef WP_LIVE
	if (!ctx->params.util_est_rampup || ctx->params.util_est != WP_UTIL_EST_SINGLE)
		return;
	wp_util_est_dequeue(c, task);
	wp_util_est_ramp(ctx, task);
	wp_util_est_enqueue(ctx, c, task);
#else
	(void)ctx, (void)c, (void)task;
#endif
}

/* A task that can run leaves its queue: its estimate grows once more, as posted. */
WP_INLINE void wp_util_est_leave(struct wp_ctx *ctx, struct wp_task *task)
{
#ifndef WP_LIVE
	if (ctx->params.util_est_rampup && ctx->params.util_est == WP_UTIL_EST_SINGLE)
		wp_util_est_ramp(ctx, task);
#else
	(void)ctx, (void)task;
#endif
}

/*
 * At sleep, after the dequeue's update of the task's signals (6.12: before): fold the finished
 * activation in.
 * The pair forms write nothing while the slow half would stay, so that the fast half may be stale;
 * from 5.10.223 on only if that is not 10 or more off (docs/rules/signals.md#util-est-refresh).
 */
WP_INLINE void wp_util_est_update(struct wp_ctx *ctx, struct wp_cpu *c, struct wp_task *task)
{
	u32 mode = ctx->params.util_est;
	u32 util = task->avg.util_avg;
	u32 est, next, capacity = WP_NONE;

	if (WP_NOT_LIVE(ctx->params.util_est_rampup))
		task->delta_exec_us = 0;
	if (mode == WP_UTIL_EST_OFF || (task->util_est & WP_UTIL_EST_UNCHANGED))
		return;
	if (WP_NOT_LIVE(ctx->params.util_est_rampup))
		task->util_dequeued = util;
	est = wp_util_est_pair(mode) ? task->util_est_ewma : task->util_est;
	if (WP_NOT_LIVE(ctx->params.util_est_to_capacity))
		capacity = c->load.capacity_orig;
	if (mode != WP_UTIL_EST_PAIR && wp_util_est_is_held(est, util, capacity))
		return;
	next = wp_util_est_next(mode, est, util, task->avg.runnable_avg, capacity);
#ifndef WP_LIVE
	next = wp_util_est_fall(ctx, est, util, next);
#endif
	if (!wp_util_est_pair(mode)) {
		task->util_est = next | WP_UTIL_EST_UNCHANGED;
	} else if (next != est || (WP_NOT_LIVE(ctx->params.util_est_refresh) &&
				   !wp_within_margin(task->util_est, util))) {
		task->util_est_ewma = next;
		task->util_est = util | WP_UTIL_EST_UNCHANGED;
	}
#ifdef WP_UCLAMP_SUM
	wp_util_est_uclamp_update(ctx, task, wp_task_est(ctx, task));
#endif
}
