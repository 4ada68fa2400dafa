// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * How long a task runs at a time, and what is short (docs/rules/short-wakes.md#dur-avg,
 * docs/rules/short-wakes.md#is-short).
 *
 * A section lasts from one sleep to the next; being preempted or moved does not end it. Load
 * tracking cannot tell this: two tasks that wake each other all the time have half of a CPU's time
 * each, in runs of microseconds. Times are of the task clock, scaled by nothing: on a slow CPU the
 * same work looks longer. The average starts at 0, unknown, and takes an eighth of each difference,
 * rounded towards 0.
 *
 * The forms before v4 recorded where the kernel puts a task that stops, and the pick of the next
 * fair task has a fast path that leaves this out: a sleep counts only if no fair task is queued
 * behind it, and what it has run joins the next section (docs/decisions/028).
 *
 * What must stay: times are ns of the task clock; rounding is towards 0 in every version. Free:
 * a version's tests, with its row of the page; the versions stay apart.
 *
 * Tests by part: (below crates/policy-sys/tests) all/durations.rs:
 * `the_average_follows_the_reference_series` (`wp_dur_sleep`, `wp_dur_next`),
 * `v2_takes_large_changes_only` (`wp_dur_coarse`), `a_cpu_knows_its_running_task`
 * (`wp_note_executing`, `wp_note_current`, `wp_no_current`), `scaling_by_cpus`
 * (`wp_get_update_sysctl_factor`, `wp_scaling_factor`), `buckets_of_times` (`wp_time_bucket`);
 * all/short_wake.rs: `granularity_of_other_queues` (`wp_short_granularity`),
 * `the_edge_of_each_version`, `the_largest_short_average` (`wp_is_short`, `wp_task_run`),
 * `the_measure_of_v1` (`wp_curr_run`).
 *
 * Callers: events of tasks (rq.c, delayed.c, task_group.c, rt_dl_irq.c) note; short_wake.c asks;
 * crates/scx/src/bpf counts (`wp_time_bucket`).
 *
 * Kernel: get_update_sysctl_factor(), kernel/sched/fair.c
 * Tests: all/durations.rs, all/short_wake.rs
 */
#include "wakeplace/policy.h"

/* Factors: a digit of four bits for each number of CPUs from 0 on, from the right. */
#define WP_FACTORS_LOG 0x433332211ull
#define WP_FACTORS_LINEAR 0x876543211ull
#define WP_FACTORS_NONE 0x111111111ull

/* wp_get_update_sysctl_factor where it is asked at each switch: a call would cost more. */
WP_INLINE u32 wp_scaling_factor(u32 scaling, u32 nr_cpus)
{
	u64 factors = WP_FACTORS_NONE;

	if (scaling == WP_SCALING_LOG)
		factors = WP_FACTORS_LOG;
	else if (scaling == WP_SCALING_LINEAR)
		factors = WP_FACTORS_LINEAR;
	return (u32)(factors >> (wp_min(nr_cpus, 8) * 4)) & 15;
}

/*
 * min(cpus, 8) or its logarithm: kernel times grow with the machine
 * (docs/rules/short-wakes.md#is-short).
 */
WP_FN u32 wp_get_update_sysctl_factor(u32 scaling, u32 nr_cpus)
{
	return wp_scaling_factor(scaling, nr_cpus);
}

/* Index of the histogram bucket of a time: four per power of two from 4 ns on, one for each ns
 * below (docs/guide/live.md, "Watch"). */
WP_SMALL_FN u32 wp_time_bucket(u64 ns)
{
	u32 log;

	if (ns < 4)
		return (u32)ns;
	log = 63 - (u32)__builtin_clzll(ns);
	return (log - 1) * 4 + (u32)((ns >> (log - 2)) & 3);
}

/* The granularity that short runs are measured by: min_granularity_ns of CFS; other queues have no
 * such time, and base_slice_ns stands for it. */
WP_INLINE u64 wp_short_granularity(const struct wp_ctx *ctx)
{
	const struct wp_params *p = &ctx->params;
	u64 base = WP_NOT_LIVE(p->queue == WP_QUEUE_CFS ? p->min_granularity_ns : 0);

	if (!base)
		base = p->base_slice_ns;
	return base * wp_get_update_sysctl_factor(p->tunable_scaling, ctx->nr_cpus);
}

/* `task` begins to execute on its CPU: what the wake-ups there will ask about it. */
WP_INLINE void wp_note_executing(struct wp_cpu *c, struct wp_task *task)
{
	task->running = 1;
	task->exec_start_ns = c->load.clock_task_ns;
	c->queue.curr_dur_ns = task->dur_avg_ns;
	c->queue.curr_exec_ns = task->exec_ns;
	c->queue.curr_exec_start_ns = c->load.clock_task_ns;
	c->queue.curr_sleeps = task->sleeps;
	c->queue.curr_id = task->id;
	c->queue.curr_mm = task->mm;
}

/* A fair task begins to execute on its CPU. */
WP_INLINE void wp_note_current(const struct wp_ctx *ctx, struct wp_cpu *c, struct wp_task *task)
{
	wp_note_executing(c, task);
	if (WP_NOT_LIVE(ctx->params.util_est_faster))
		c->queue.curr_run_since_woken_ns = task->run_since_woken_ns;
	c->queue.curr_fair = 1;
}

/* The fair task that executed stops. */
WP_INLINE void wp_no_current(struct wp_cpu *c)
{
	c->queue.curr_fair = 0;
	c->queue.curr_id = 0;
}

/* avg + (sample - avg) / 8, rounded towards 0. */
WP_INLINE u64 wp_dur_next(u64 avg, u64 sample)
{
	return sample > avg ? avg + (sample - avg) / 8 : avg - (avg - sample) / 8;
}

/* v2: a change below one granularity does not count; a section of nothing counts whole. */
WP_INLINE u64 wp_dur_coarse(const struct wp_ctx *ctx, u64 avg, u64 sample)
{
	u64 change = sample > avg ? sample - avg : avg - sample;

	if (change < wp_short_granularity(ctx))
		return avg;
	return sample ? wp_dur_next(avg, sample) : 0;
}

/* `task` has fallen asleep: a section of it is over. It is no longer in nr_fair. */
WP_INLINE void wp_dur_sleep(const struct wp_ctx *ctx, const struct wp_cpu *c, struct wp_task *task)
{
	u32 form = ctx->params.sis_short_dur;
	u64 ran_ns = task->exec_ns - task->dur_start_ns;
	/* the forms of before v4, next to another fair task: nobody puts it */
	int skipped = (form == WP_SHORT_DUR_PUT || form == WP_SHORT_DUR_COARSE) && c->queue.nr_fair;

	task->sleeps++;
	if (skipped)
		return;
	task->dur_start_ns = task->exec_ns;
	task->dur_avg_ns = form == WP_SHORT_DUR_COARSE ?
				   wp_dur_coarse(ctx, task->dur_avg_ns, ran_ns) :
				   wp_dur_next(task->dur_avg_ns, ran_ns);
}

/* What a test of shortness looks at: `ns` in so many sections. */
struct wp_run {
	u64 ns;
	u64 sections;
};

/* What is known of how long a task runs at a time. */
WP_INLINE struct wp_run wp_task_run(const struct wp_ctx *ctx, const struct wp_task *task)
{
	struct wp_run run = { task->dur_avg_ns, 1 };

	if (ctx->params.sis_short_dur == WP_SHORT_DUR_SWITCHES) {
		run.ns = task->exec_ns;
		run.sections = task->sleeps;
	}
	return run;
}

/* Of the task that executes on a CPU, up to the last event there; the idle task never ran. */
WP_INLINE struct wp_run wp_curr_run(const struct wp_ctx *ctx, const struct wp_cpu *c)
{
	struct wp_run run = { c->queue.curr_dur_ns, 1 };

	if (!c->queue.curr_id) {
		run.ns = 0;
	} else if (ctx->params.sis_short_dur == WP_SHORT_DUR_SWITCHES) {
		run.ns = c->queue.curr_exec_ns +
			 wp_sub(c->load.clock_task_ns, c->queue.curr_exec_start_ns);
		run.sections = c->queue.curr_sleeps;
	}
	return run;
}

/* Is that short? `scan_ns`: what a search of the waking CPU costs. */
WP_INLINE int wp_is_short(const struct wp_ctx *ctx, struct wp_run run, u64 scan_ns)
{
	u64 whole = run.sections * wp_short_granularity(ctx);

	switch (ctx->params.sis_short_test) {
	case WP_SHORT_UP_TO_WHOLE: /* 0, unknown, is short, too */
		return run.ns <= whole;
	case WP_SHORT_UP_TO_EIGHTH:
		return run.ns && run.ns * 8 <= whole;
	case WP_SHORT_MIGRATION:
		return run.ns && run.ns < run.sections * ctx->params.migration_cost_ns;
	case WP_SHORT_SCAN_COST:
		return run.ns && run.ns < run.sections * scan_ns;
	default:
		return run.ns && run.ns * 8 < whole;
	}
}
