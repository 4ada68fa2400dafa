// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Capacity: what a CPU has, what is left of it, and whether a demand fits
 * (signals-and-baseline 9.2; energy-aware 2.6; capacity-aware 2.5 to 2.7 and 6.1).
 */
#include "wakeplace/policy.h"

/* 20 % of a CPU is kept free: demand fits up to 1024/1280 of the capacity. */
#define WP_FIT_MARGIN 1280u

/* The 2018 test: unfit if strictly less (an exact 80 % still fits). */
WP_INLINE int wp_unfit(u32 util, u32 capacity)
{
	return (u64)capacity * WP_SCALE < (u64)util * WP_FIT_MARGIN;
}

WP_INLINE int wp_cpu_overutilized(const struct wp_ctx *ctx, const struct wp_cpu *c)
{
	return wp_unfit(wp_cpu_util(ctx, c), c->capacity);
}

WP_INLINE int wp_allowed(const struct wp_task *task, u32 cpu)
{
	return (*WP_AT(task->allowed, cpu / 64u) >> (cpu % 64u)) & 1u;
}

WP_INLINE int wp_span_has(const struct wp_dom *dom, u32 cpu)
{
	return (*WP_AT(dom->span, cpu / 64u) >> (cpu % 64u)) & 1u;
}

/* The idle task executes and nothing is queued or on its way. */
WP_INLINE int wp_cpu_idle(const struct wp_cpu *c)
{
	return c->curr_idle && !c->nr_running && !c->pending;
}

/* The same for a home, by CPU number. */
WP_FN int wp_idle_cpu(const struct wp_ctx *ctx WP_NONNULL, u32 cpu)
{
	return wp_cpu_idle(WP_AT(ctx->cpus, cpu));
}

/* The domain flag that lets a request of this kind take the slow path. */
WP_INLINE u32 wp_place_flag(u32 kind)
{
	switch (kind) {
	case WP_PLACE_WAKE:
		return WP_SD_BALANCE_WAKE;
	case WP_PLACE_FORK:
		return WP_SD_BALANCE_FORK;
	default:
		return WP_SD_BALANCE_EXEC;
	}
}

/*
 * What RT, deadline and interrupt time leave of a CPU for fair tasks, at least 1. Refreshed by load
 * balancing only, as in the kernel, so it may be stale.
 */
WP_INLINE void wp_refresh_capacity(struct wp_cpu *c)
{
	u32 used = c->rt_util + c->dl_util;
	u32 left = 1;

	if (used < c->capacity_orig && c->irq_util < c->capacity_orig)
		left = (u32)wp_div((u64)(c->capacity_orig - used) *
					   (c->capacity_orig - c->irq_util),
				   c->capacity_orig);
	c->capacity = wp_max(left, 1);
}

/* Load of a task as balancing counts it: its share of the queue's average. */
WP_INLINE u64 wp_task_h_load(const struct wp_ctx *ctx, const struct wp_task *task)
{
	u64 queue = WP_AT(ctx->cpus, task->cpu)->avg.load_avg;

	return (task->avg.load_avg * queue) / (queue + 1);
}

/* The load that placement compares: of queued tasks only (blocked load left out). */
WP_INLINE u64 wp_weighted_load(const struct wp_ctx *ctx, const struct wp_cpu *c)
{
	return ctx->params.runnable_is_load ? c->avg.runnable_avg : c->avg.load_avg;
}

/* A CPU's load seen low (as a source) or high (as a target), between now and its history at ticks.
 * */
WP_INLINE u64 wp_load_low(const struct wp_ctx *ctx, const struct wp_cpu *c, u32 idx)
{
	u64 now = wp_weighted_load(ctx, c);

	return idx && ctx->params.load_idx ? wp_min64(*WP_AT(c->cpu_load, idx), now) : now;
}

WP_INLINE u64 wp_load_high(const struct wp_ctx *ctx, const struct wp_cpu *c, u32 idx)
{
	u64 now = wp_weighted_load(ctx, c);

	return idx && ctx->params.load_idx ? wp_max64(*WP_AT(c->cpu_load, idx), now) : now;
}

/*
 * Utilisation of a CPU without a waking task's blocked share (capacity-aware 2.7). The task has
 * been synced to that queue's last update before.
 */
WP_INLINE u32 wp_cpu_util_without(const struct wp_ctx *ctx, u32 cpu, const struct wp_task *task)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	u32 util;

	if (cpu != task->cpu || !task->avg.last_update_ns)
		return wp_cpu_util(ctx, c);
	util = (u32)wp_sub(c->avg.util_avg, task->avg.util_avg);
	if (ctx->params.util_est != WP_UTIL_EST_OFF)
		util = wp_max(util, c->util_est);
	return wp_min(util, c->capacity_orig);
}
