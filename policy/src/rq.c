// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Events of tasks and run queues: new, enqueue, dequeue, running, migration, tick
 * (signals-and-baseline 2.8, 2.9, 11; order of steps as in the 4.17 fair class).
 *
 * The home owns the queue itself (which task is next); it reports what happened, in order.
 */
#include "wakeplace/policy.h"

/* A zero-filled task with id, weight, cpu and allowed set: nothing known of it yet. */
WP_FN int wp_task_init(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL)
{
	wp_task_set_allowed(ctx, task);
	task->uclamp_min = 0;
	task->uclamp_max = WP_SCALE;
	task->avg.load_avg = task->weight;
	task->avg.runnable_avg = WP_OLD(ctx->params.runnable_is_load) ? task->weight : 0;
	task->waker.recent_used_cpu = task->cpu;
	/* live queues: neither ahead of nor behind its parent's queue */
	task->vtime_cpu = task->cpu;
	task->vtime_ns = WP_AT(ctx->cpus, task->cpu)->vtime_now_ns;
	return 0;
}

/* Nice value changed. The load average keeps its share of time, in the new weight. */
WP_FN int wp_task_set_weight(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL,
			     u32 weight, u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, task->cpu);
	u64 div = WP_MIN_DIV + task->avg.period_contrib;

	if (!task->avg.last_update_ns) { /* no queue counts it yet */
		task->weight = weight;
		task->avg.load_avg = weight;
		return 0;
	}
	wp_clock(c, now_ns);
	wp_rq_update(ctx, c);
	wp_task_update(ctx, c, task, wp_pelt_now(ctx, c));
	c->avg.load_avg = (u32)wp_sub(c->avg.load_avg, task->avg.load_avg);
	c->avg.load_sum = wp_sub(c->avg.load_sum, task->weight * task->avg.load_sum);
	if (task->on_rq) {
		wp_runnable_load_sub(ctx, c, task);
		WP_ADD(&c->load_weight, weight - task->weight);
	}
	task->weight = weight;
	task->avg.load_avg = (u32)wp_div(weight * task->avg.load_sum, div);
	if (WP_OLD(ctx->params.runnable_is_load))
		task->avg.runnable_avg = (u32)wp_div(weight * task->avg.runnable_sum, div);
	c->avg.load_avg += task->avg.load_avg;
	c->avg.load_sum += weight * task->avg.load_sum;
	if (task->on_rq)
		wp_runnable_load_add(ctx, c, task);
	return 0;
}

/* Start value of a new task's utilisation, half of what its CPU has left (2.8). Before its
 * enqueue. */
WP_FN int wp_task_new(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL, u32 cpu,
		      u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	u32 cap, util = 0;

	task->cpu = cpu;
	wp_clock(c, now_ns);
	wp_rq_update(ctx, c);
	cap = ctx->params.post_init_capacity ? c->capacity_orig : WP_SCALE;
	cap = (u32)wp_sub(cap, c->avg.util_avg) / 2;
	if (ctx->params.post_init_util && cap) {
		util = cap;
		if (c->avg.util_avg)
			util = wp_min(cap, (u32)wp_div((u64)c->avg.util_avg * task->weight,
						       c->avg.load_avg + 1));
	}
	task->avg.util_avg = util;
	if (!WP_OLD(ctx->params.runnable_is_load))
		task->avg.runnable_avg = util;
	task->avg.last_update_ns = 0;
	return 0;
}

/* A queue counts its SCHED_IDLE tasks; what was counted in is counted out. */
WP_INLINE void wp_idle_policy_enqueue(struct wp_cpu *c, struct wp_task *task)
{
	task->idle_counted = !!task->idle_policy;
	if (task->idle_counted)
		WP_ADD(&c->nr_idle_policy, 1u);
}

WP_INLINE void wp_idle_policy_dequeue(struct wp_cpu *c, struct wp_task *task)
{
	if (task->idle_counted)
		WP_ADD(&c->nr_idle_policy, 0 - 1u);
	task->idle_counted = 0;
}

/* The task joins the queue of `cpu`. Returns enum wp_event_result bits. */
WP_FN int wp_enqueue(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL, u32 cpu,
		     u64 now_ns, u32 flags)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	int changed, result = 0;

	task->cpu = cpu;
	wp_clock(c, now_ns);
	wp_uclamp_enqueue(ctx, c, task);
	if (!WP_OLD(ctx->params.util_est_after_freq))
		wp_util_est_enqueue(ctx, c, task);
	if (task->avg.last_update_ns)
		wp_task_update(ctx, c, task, wp_pelt_now(ctx, c));
	changed = wp_rq_update(ctx, c);
	if (!task->avg.last_update_ns) {
		wp_attach(ctx, c, task);
		changed = 1;
	}
	if (changed) /* the queue does not count this task yet, as in the kernel */
		result = wp_freq_update(ctx, c, now_ns);
	task->on_rq = 1;
	wp_runnable_load_add(ctx, c, task);
	WP_ADD(&c->load_weight, task->weight);
	WP_ADD(&c->nr_fair, 1u);
	if (ctx->params.balance_classes && c->nr_fair > 1 && !ctx->overload)
		ctx->overload = 1; /* new-idle CPUs need not wait for the next full pass */
	wp_idle_policy_enqueue(c, task);
	if (WP_OLD(ctx->params.util_est_after_freq))
		wp_util_est_enqueue(ctx, c, task);
	if (!(flags & WP_Q_NEW))
		wp_note_overutilized(ctx, c);
	return result;
}

/* The task leaves its queue; with WP_Q_SLEEP its activation is over. */
WP_FN int wp_dequeue(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL, u64 now_ns,
	       u32 flags)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, task->cpu);
	int result = 0;

	wp_clock(c, now_ns);
	wp_uclamp_dequeue(c, task);
	if (!WP_OLD(ctx->params.util_est_after_freq))
		wp_util_est_dequeue(c, task);
	wp_task_update(ctx, c, task, wp_pelt_now(ctx, c));
	if (task->running)
		task->exec_start_ns = c->clock_task_ns;
	if (wp_rq_update(ctx, c))
		result = wp_freq_update(ctx, c, now_ns);
	wp_runnable_load_sub(ctx, c, task);
	WP_ADD(&c->load_weight, 0 - task->weight);
	WP_ADD(&c->nr_fair, 0 - 1u);
	wp_idle_policy_dequeue(c, task);
	if (task->running)
		c->curr_fair = 0;
	task->on_rq = 0;
	task->running = 0;
	if (WP_OLD(ctx->params.util_est_after_freq))
		wp_util_est_dequeue(c, task);
	if (flags & WP_Q_SLEEP)
		wp_util_est_sleep(ctx, c, task);
	return result;
}

/* A queued task begins to execute on its CPU. */
WP_FN int wp_set_current(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL, u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, task->cpu);
	int result = 0;

	wp_clock(c, now_ns);
	wp_task_update(ctx, c, task, wp_pelt_now(ctx, c));
	if (wp_rq_update(ctx, c))
		result = wp_freq_update(ctx, c, now_ns);
	task->running = 1;
	task->exec_start_ns = c->clock_task_ns;
	c->curr_fair = 1;
	wp_note_misfit(ctx, c, task);
	return result;
}

/* It stops executing but stays queued. */
WP_FN int wp_put_current(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL, u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, task->cpu);
	int result = 0;

	wp_clock(c, now_ns);
	wp_task_update(ctx, c, task, wp_pelt_now(ctx, c));
	if (wp_rq_update(ctx, c))
		result = wp_freq_update(ctx, c, now_ns);
	task->exec_start_ns = c->clock_task_ns;
	task->running = 0;
	c->curr_fair = 0;
	return result;
}

/* cpu_load[i] follows the load at ticks, each index half as fast as the one before. */
WP_INLINE void wp_cpu_load_step(struct wp_cpu *c, u64 load)
{
	u32 i;

	for (i = 1; i < 4; i++) {
		u64 old = *WP_AT(c->cpu_load, i), new = load;

		if (new > old) /* round up so that a rise ends at its goal */
			new += (1u << i) - 1;
		*WP_AT(c->cpu_load, i) = (u32)((old * ((1u << i) - 1) + new) >> i);
	}
}

/* The ticks that an idle CPU did not take since the last update saw no load. */
WP_INLINE void wp_cpu_load_idle(struct wp_ctx *ctx, struct wp_cpu *c, u64 now_ns)
{
	u64 tick = wp_div(now_ns, ctx->tick_ns);
	u64 missed = wp_min64(wp_sub(tick, c->load_tick), 256);
	u32 k;

	c->load_tick = tick;
	WP_FOR(k, missed, 256) { /* by then even the slowest has decayed */
		if (!(c->cpu_load[1] | c->cpu_load[2] | c->cpu_load[3]))
			break;
		wp_cpu_load_step(c, 0);
	}
}

/* The idle task is next. A slow CPU that was not saturated gets its missing time back (2.5). */
WP_FN int wp_enter_idle(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, cpu);

	wp_clock(c, now_ns);
	if (c->avg.util_sum + (u64)(c->rt_util + c->dl_util) * WP_MIN_DIV >= WP_SATURATED)
		c->lost_idle_ns += c->clock_task_ns - c->clock_pelt_ns;
	c->clock_pelt_ns = c->clock_task_ns;
	c->curr_idle = 1;
	c->misfit_load = 0;
	c->idle_stamp_ns = now_ns;
	c->idle_calls++;
	wp_note_idle_core(ctx, c, cpu);
	return 0;
}

/* The idle task gives way. */
WP_FN int wp_exit_idle(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, cpu);

	wp_clock(c, now_ns);
	if (WP_OLD(ctx->params.load_idx))
		wp_cpu_load_idle(ctx, c, now_ns);
	c->curr_idle = 0;
	c->idle_exit_latency_us = WP_NONE;
	return 0;
}

/* A wake-up was queued on `cpu`: its idle time since the last new-idle attempt is known now. */
WP_FN int wp_woken(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	s64 diff;

	(void)ctx;
	if (!c->wake_idle_stamp_ns)
		return 0;
	diff = (s64)wp_sub(now_ns, c->wake_idle_stamp_ns) - (s64)c->avg_idle_ns;
	c->avg_idle_ns = wp_min64((u64)((s64)c->avg_idle_ns + (diff >> 3)),
				  2 * c->max_idle_balance_cost_ns);
	c->wake_idle_stamp_ns = 0;
	return 0;
}

/* A sleeping task was placed on another CPU: its share leaves the old queue at that queue's next
 * update. */
WP_FN int wp_migrate_sleeping(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL,
			      u32 cpu)
{
	struct wp_cpu *old = WP_AT(ctx->cpus, task->cpu);

	if (task->avg.last_update_ns) {
		wp_sync_task(ctx, task);
		WP_ADD(&old->removed_load, task->avg.load_avg);
		WP_ADD(&old->removed_util, task->avg.util_avg);
		WP_ADD(&old->removed_runnable, task->avg.runnable_avg);
		WP_ADD(&old->nr_removed, 1u);
	}
	task->avg.last_update_ns = 0;
	task->exec_start_ns = 0;
	task->cpu = cpu;
	return 0;
}

/* A dequeued but runnable task moves; enqueue it on `cpu` afterwards. */
WP_FN int wp_migrate_queued(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL, u32 cpu,
		      u64 now_ns)
{
	struct wp_cpu *old = WP_AT(ctx->cpus, task->cpu);

	wp_clock(old, now_ns);
	wp_task_update(ctx, old, task, wp_pelt_now(ctx, old));
	wp_rq_update(ctx, old);
	wp_detach(ctx, old, task);
	task->avg.last_update_ns = 0;
	task->exec_start_ns = 0;
	task->cpu = cpu;
	return wp_freq_update(ctx, old, now_ns);
}

/*
 * Another CPU has taken the queued task, without the old queue's lock: what it counted for there
 * leaves in one atomic step each, its averages at that queue's next update. Enqueue it on `cpu`
 * afterwards.
 */
WP_FN int wp_migrate_pulled(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL, u32 cpu)
{
	struct wp_cpu *old = WP_AT(ctx->cpus, task->cpu);

	if (task->on_rq) {
		WP_ADD(&old->load_weight, 0 - task->weight);
		WP_ADD(&old->nr_fair, 0 - 1u);
		wp_idle_policy_dequeue(old, task);
		wp_util_est_dequeue(old, task);
		wp_uclamp_dequeue(old, task);
	}
	wp_migrate_sleeping(ctx, task, cpu);
	task->on_rq = 0;
	task->running = 0;
	return 0;
}

/* A dequeued task is gone for good: nothing of it stays on its CPU. */
WP_FN int wp_task_exit(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL)
{
	return wp_migrate_sleeping(ctx, task, task->cpu);
}

/* The tick of a CPU that runs `task`. Returns enum wp_event_result bits. */
WP_FN int wp_tick(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL, u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, task->cpu);
	u64 tick = wp_div(now_ns, ctx->tick_ns);
	int result = 0;

	wp_clock(c, now_ns);
	wp_task_update(ctx, c, task, wp_pelt_now(ctx, c));
	task->exec_start_ns = c->clock_task_ns;
	if (wp_rq_update(ctx, c))
		result = wp_freq_update(ctx, c, now_ns);
	wp_note_misfit(ctx, c, task);
	wp_note_overutilized(ctx, c);
	if (WP_OLD(ctx->params.load_idx) && tick > c->load_tick)
		wp_cpu_load_step(c, wp_weighted_load(ctx, c));
	c->load_tick = tick;
	if (c->nr_fair > 1 || c->misfit_load)
		ctx->surplus_tick = tick;
	if (ctx->params.balance && tick >= c->next_balance_tick)
		result |= WP_DID_BALANCE;
	return result | wp_nohz_kick(ctx, task->cpu, now_ns);
}

/* The tick of an idle CPU that keeps it. Returns enum wp_event_result bits. */
WP_FN int wp_idle_tick(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 now_ns)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	int result = wp_update_blocked(ctx, cpu, now_ns);

	if (ctx->params.balance && wp_div(now_ns, ctx->tick_ns) >= c->next_balance_tick)
		result |= WP_DID_BALANCE;
	return result;
}

/* Decay a CPU whose tick is stopped; balancing calls it before it reads the signals. */
WP_FN int wp_update_blocked(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, cpu);

	wp_clock(c, now_ns);
	if (c->curr_idle)
		wp_cpu_load_idle(ctx, c, now_ns);
	return wp_rq_update(ctx, c) ? wp_freq_update(ctx, c, now_ns) : 0;
}
