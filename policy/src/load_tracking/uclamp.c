// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Performance hints: each task may ask for a least performance (uclamp_min) and bound its own
 * (uclamp_max). A CPU serves the highest hint of each kind among its queued tasks
 * (docs/rules/capacity.md#schedutil, docs/rules/capacity.md#util-fits-cpu).
 *
 * Counted in five buckets over 0..1024, as the kernel does by default: exact while a bucket holds
 * equal hints, otherwise the highest value that the bucket saw since it was empty.
 *
 * Where hints add up (uclamp_sum.c), nothing is counted here.
 *
 * What must stay: hints are 0..1024; a task is counted out of the buckets that it was counted into.
 * Free: how hints are counted.
 *
 * Tests by part: (below crates/policy-sys/tests; `every_fixture_holds` runs the fixtures)
 * all/fits.rs: `queue_serves_the_highest_hints` (`wp_uclamp_rq_min`, `wp_uclamp_rq_max`,
 * `wp_uclamp_rq_max_value`), `random_hints_balance` (`wp_uclamp_rq_inc`, `wp_uclamp_rq_dec`,
 * `wp_uclamp_rq_inc_id`, `wp_uclamp_rq_dec_id`, `wp_uclamp_bucket_id`, `wp_task_set_uclamp`),
 * `hints_off` (`wp_uclamp_eff_min`, `wp_uclamp_eff_max`); all/energy_7_3.rs: `hints_of_the_queue`
 * (`wp_uclamp_rq_is_idle`); all/live_groups.rs: `hints_stay_within_the_group_s`
 * (`wp_uclamp_tg_restrict`); fixtures/frequency: uclamp-*.toml.
 *
 * Callers: enqueues and dequeues (rq.c, delayed.c, task_group.c) count; capacity.c, demand.c,
 * freq.c and energy_delta.c ask.
 *
 * Kernel: uclamp_bucket_id(), uclamp_rq_inc_id(), uclamp_rq_dec_id(), uclamp_rq_max_value(),
 *         uclamp_rq_inc(), uclamp_rq_dec(), uclamp_eff_value() as wp_uclamp_eff_min(),
 *         uclamp_eff_value() as wp_uclamp_eff_max(), uclamp_tg_restrict(), kernel/sched/core.c;
 *         uclamp_rq_get() as
 *         wp_uclamp_rq_min(), uclamp_rq_get() as wp_uclamp_rq_max(), uclamp_rq_is_idle(),
 *         kernel/sched/sched.h
 * Tests: all/fits.rs, fixtures/fits, fixtures/frequency
 */
#include "wakeplace/policy.h"

/* How a queue counts a task: almost none has hints, and those cost one count. */
#define WP_UCLAMP_PLAIN 1u
#define WP_UCLAMP_HINTED 2u
#define WP_UCLAMP_BUCKETS 5u
#define WP_UCLAMP_DELTA 205u /* 1024 / 5, rounded to the nearest */

/* Which of five buckets a hint is counted in. */
WP_INLINE u32 wp_uclamp_bucket_id(u32 value)
{
	return wp_min(value / WP_UCLAMP_DELTA, WP_UCLAMP_BUCKETS - 1);
}

/* The counts are sums: a CPU that pulls a task takes it off without the old queue's lock. */
WP_INLINE void wp_uclamp_rq_inc_id(struct wp_uclamp_rq *u, u32 value)
{
	u32 bucket = wp_uclamp_bucket_id(value);
	u32 *highest = WP_AT(u->highest, bucket);

	*highest = *WP_AT(u->tasks, bucket) ? wp_max(*highest, value) : value;
	WP_ADD(WP_AT(u->tasks, bucket), 1u);
}

/* One task fewer with such a hint. */
WP_INLINE void wp_uclamp_rq_dec_id(struct wp_uclamp_rq *u, u32 value)
{
	WP_ADD(WP_AT(u->tasks, wp_uclamp_bucket_id(value)), 0 - 1u);
}

/* The highest hint among the queued tasks, `otherwise` without any. A global function: its paths
 * would multiply those of its callers for the verifier. */
WP_FN u32 wp_uclamp_rq_max_value(const struct wp_uclamp_rq *u WP_NONNULL, u32 otherwise)
{
	u32 i, value = otherwise;

	for (i = 0; i < WP_UCLAMP_BUCKETS; i++) {
		if (*WP_AT(u->tasks, i))
			value = *WP_AT(u->highest, i);
	}
	return value;
}

/* A task joins the queue. */
WP_INLINE void wp_uclamp_rq_inc(const struct wp_ctx *ctx, struct wp_cpu *c, struct wp_task *task)
{
	if (!ctx->params.uclamp || task->uclamp_counted || WP_IF_SUMS(wp_uclamp_sums(ctx)))
		return;
	WP_ADD(&c->load.uclamp_tasks, 1u);
	task->uclamp_counted = WP_UCLAMP_PLAIN;
	task->uclamp_counted_min = wp_min(task->uclamp_min, WP_SCALE);
	task->uclamp_counted_max = wp_min(task->uclamp_max, WP_SCALE);
	if (!task->uclamp_counted_min && task->uclamp_counted_max == WP_SCALE)
		return;
	task->uclamp_counted = WP_UCLAMP_HINTED;
	WP_ADD(&c->load.uclamp_hinted, 1u);
	wp_uclamp_rq_inc_id(WP_AT(c->load.uclamp, WP_UCLAMP_MIN), task->uclamp_counted_min);
	wp_uclamp_rq_inc_id(WP_AT(c->load.uclamp, WP_UCLAMP_MAX), task->uclamp_counted_max);
}

/*
 * A task leaves the queue. An idle CPU wants no performance, but keeps the bound of the last task:
 * that task's decaying utilisation must not raise the frequency above it.
 */
WP_INLINE void wp_uclamp_rq_dec(struct wp_cpu *c, struct wp_task *task)
{
	u32 counted = task->uclamp_counted;

	if (!counted)
		return;
	task->uclamp_counted = 0;
	c->load.uclamp_last_cut = (u32)wp_sub(WP_SCALE, task->uclamp_counted_max);
	WP_ADD(&c->load.uclamp_tasks, 0 - 1u);
	if (counted != WP_UCLAMP_HINTED)
		return;
	WP_ADD(&c->load.uclamp_hinted, 0 - 1u);
	wp_uclamp_rq_dec_id(WP_AT(c->load.uclamp, WP_UCLAMP_MIN), task->uclamp_counted_min);
	wp_uclamp_rq_dec_id(WP_AT(c->load.uclamp, WP_UCLAMP_MAX), task->uclamp_counted_max);
}

/* A CPU's hints; while hints do not count: 0 and 1024. Functions of their own, as above. */
WP_FN u32 wp_uclamp_rq_min(const struct wp_ctx *ctx WP_NONNULL, const struct wp_cpu *c WP_NONNULL)
{
	if (!ctx->params.uclamp || !c->load.uclamp_hinted)
		return 0;
	return wp_uclamp_rq_max_value(WP_AT(c->load.uclamp, WP_UCLAMP_MIN), 0);
}

/* A CPU's upper bound by the hints of its tasks; 1024: none. */
WP_FN u32 wp_uclamp_rq_max(const struct wp_ctx *ctx WP_NONNULL, const struct wp_cpu *c WP_NONNULL)
{
	u32 last = (u32)wp_sub(WP_SCALE, c->load.uclamp_last_cut);

	if (!ctx->params.uclamp || c->load.uclamp_tasks > c->load.uclamp_hinted)
		return WP_SCALE; /* a task without hints bounds nothing */
	if (!c->load.uclamp_tasks)
		return last;
	return wp_uclamp_rq_max_value(WP_AT(c->load.uclamp, WP_UCLAMP_MAX), last);
}

/* No queued task: its hints are nobody's. */
WP_INLINE int wp_uclamp_rq_is_idle(const struct wp_cpu *c)
{
	return !c->load.uclamp_tasks;
}

/* A task's own wish; 0 while hints do not count. */
WP_INLINE u32 wp_uclamp_eff_min(const struct wp_ctx *ctx, const struct wp_task *task)
{
	return ctx->params.uclamp ? task->uclamp_min : 0;
}

/* A task's own bound; 1024 while hints do not count. */
WP_INLINE u32 wp_uclamp_eff_max(const struct wp_ctx *ctx, const struct wp_task *task)
{
	return ctx->params.uclamp ? task->uclamp_max : WP_SCALE;
}

/* A task's own wish, as its group's bounds leave it: cpu.uclamp.min and cpu.uclamp.max as they are
 * in force (docs/rules/capacity.md#uclamp-tg-restrict). */
WP_SMALL_FN u32 wp_uclamp_tg_restrict(u32 value, u32 group_min, u32 group_max)
{
	return wp_min(wp_max(value, group_min), group_max);
}

/* The hints of a task change, on or off a queue. */
WP_FN int wp_task_set_uclamp(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL,
			     u32 min, u32 max)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, task->cpu);
	int counted = task->uclamp_counted != 0;

	if (counted)
		wp_uclamp_rq_dec(c, task);
	task->uclamp_min = wp_min(min, WP_SCALE);
	task->uclamp_max = wp_min(max, WP_SCALE);
	if (counted)
		wp_uclamp_rq_inc(ctx, c, task);
	return 0;
}
