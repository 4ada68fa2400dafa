// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Task groups: what a task of a group weighs for its CPU, and the events of such tasks
 * (docs/rules/signals.md#attach-detach, docs/rules/signals.md#load-for-balancing;
 * docs/decisions/020). Each event goes up the levels as in the kernel: task, group's queue, entity,
 * CPU's queue; then the entity's weight is looked at.
 *
 * Kernel: update_cfs_group(), update_cfs_rq_h_load() as wp_tg_h_load(), kernel/sched/fair.c
 * Tests: all/task_groups.rs, fixtures/task-group
 */
#include "wakeplace/policy.h"
#include "wakeplace/task_group.h"

/* The part of an entity's weight that is for load that can run (kernels to 5.6). */
WP_INLINE u32 wp_tg_runnable_weight(const struct wp_tg_queue *q, u32 weight)
{
	u64 load = wp_max(q->load_weight, q->avg.load_avg);
	u64 runnable = wp_max(q->load_weight, q->avg.runnable_avg);

	runnable *= weight;
	if (load)
		runnable = wp_div(runnable, load);
	return (u32)wp_max64(wp_min64(runnable, weight), WP_SHARES_MIN);
}

/* The group's load or its place has changed: so may the entity's weight. */
WP_INLINE void wp_update_cfs_group(struct wp_ctx *ctx, struct wp_task_group *tg, struct wp_cpu *c,
				   struct wp_tg_queue *q)
{
	u32 load = wp_max(q->load_weight, q->avg.load_avg);
	u32 weight, runnable;

	/* Since 6.12 an empty queue keeps its weight: its entity may still wait for its turn. */
	if (!q->load_weight && ctx->params.queue == WP_QUEUE_EEVDF)
		return;
	weight = wp_tg_ask_outer(tg, q, wp_tg_ask(&tg->sum, &q->part, load));
	runnable = weight;
	if (WP_NOT_LIVE(ctx->params.runnable_is_load))
		runnable = wp_tg_runnable_weight(q, weight);
	if (weight != q->weight || runnable != q->runnable_weight)
		wp_tg_set_weight(ctx, c, q, weight, runnable);
}

/* The load of the group's queue, as it counts for the CPU. */
WP_FN u32 wp_tg_h_load(const struct wp_ctx *ctx WP_NONNULL,
		       const struct wp_task_group *tg WP_NONNULL,
		       const struct wp_task *task WP_NONNULL)
{
	const struct wp_tg_queue *q = WP_AT(tg->queue, task->cpu);
	u64 root = WP_AT(ctx->cpus, task->cpu)->load.avg.load_avg;
	u64 queue = wp_div(q->entity.load_avg * root, root + 1);

	return (u32)wp_div(task->avg.load_avg * queue, (u64)q->avg.load_avg + 1);
}

/* Before a question about a task: decayed to its queue's last update if it sleeps, and weighed. */
WP_FN int wp_tg_prepare(struct wp_ctx *ctx WP_NONNULL, struct wp_task_group *tg WP_NONNULL,
			struct wp_task *task WP_NONNULL)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, task->cpu);
	const struct wp_tg_queue *q = WP_AT(tg->queue, task->cpu);

	if (!task->on_rq && task->avg.last_update_ns)
		wp_task_avg(ctx, c, task, q->avg.last_update_ns);
	task->group_load = wp_tg_h_load(ctx, tg, task);
	return 0;
}

/*
 * All levels up to now, with what each has counted so far; `tell`: groups hear of queues whose
 * averages changed (UPDATE_TG). Returns 1 if the CPU's queue changed.
 */
WP_INLINE int wp_tg_age(struct wp_ctx *ctx, struct wp_task_group *tg, struct wp_cpu *c,
			struct wp_tg_queue *q, int tell)
{
	int changed, moved, aged;

	if (wp_tg_queue_update(ctx, c, q) && tell)
		wp_update_tg_load_avg(ctx, c, &tg->sum, &q->part, q->avg.load_avg);
	aged = wp_tg_entity_update(ctx, c, q);
	changed = wp_update_cfs_rq_load_avg(ctx, c);
	moved = wp_propagate_entity_load_avg(ctx, c, q);
	if ((aged || moved) && tell)
		wp_tg_tell_outer(ctx, c, tg, q);
	return moved | changed;
}

/* The same in an event of a task. */
WP_INLINE int wp_tg_event(struct wp_ctx *ctx, struct wp_task_group *tg, struct wp_task *task,
			  u64 now_ns, int tell)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, task->cpu);

	wp_update_rq_clock(c, now_ns);
	if (task->avg.last_update_ns)
		wp_update_load_avg_se(ctx, c, task, wp_rq_clock_pelt(ctx, c));
	return wp_tg_age(ctx, tg, c, WP_AT(tg->queue, task->cpu), tell);
}

/* A new task, before its enqueue: it starts from what its group does on the CPU. */
WP_FN int wp_tg_task_new(struct wp_ctx *ctx WP_NONNULL, struct wp_task_group *tg WP_NONNULL,
			 struct wp_task *task WP_NONNULL, u32 cpu, u64 now_ns)
{
	task->cpu = cpu;
	task->avg.last_update_ns = 0;
	wp_tg_event(ctx, tg, task, now_ns, 0);
	wp_post_init_entity_util_avg(ctx, WP_AT(ctx->cpus, cpu), &WP_AT(tg->queue, cpu)->avg, task);
	return 0;
}

/* Nice value changed. */
WP_FN int wp_tg_task_set_weight(struct wp_ctx *ctx WP_NONNULL, struct wp_task_group *tg WP_NONNULL,
				struct wp_task *task WP_NONNULL, u32 weight, u64 now_ns)
{
	struct wp_tg_queue *q = WP_AT(tg->queue, task->cpu);

	if (!task->avg.last_update_ns) { /* no queue counts it yet */
		task->weight = weight;
		task->avg.load_avg = weight;
		return 0;
	}
	wp_tg_event(ctx, tg, task, now_ns, 0);
	wp_reweight_entity(ctx, &q->avg, &q->load_weight, task, weight);
	wp_tg_tell_all(ctx, tg, WP_AT(ctx->cpus, task->cpu), q);
	wp_update_cfs_group(ctx, tg, WP_AT(ctx->cpus, task->cpu), q);
	return 0;
}

/* A task has joined (1) or left (-1) the group's queue; with the first the entity is queued. */
WP_INLINE void wp_tg_queued(struct wp_ctx *ctx, struct wp_task_group *tg, struct wp_cpu *c,
			    struct wp_tg_queue *q, int joined)
{
	u32 was = q->nr;

	q->nr += joined ? 1u : 0 - 1u;
	if (q->nr && was) {
		wp_update_cfs_group(ctx, tg, c, q);
		return;
	}
	if (joined) { /* it is weighed before it is queued, and after it has left */
		q->nr = 0;
		wp_update_cfs_group(ctx, tg, c, q);
		q->nr = 1;
		wp_tg_runnable_load(ctx, c, q, 1);
		c->load.load_weight += q->weight;
		c->load.blocked_weight += q->weight - q->runnable_weight;
	} else {
		wp_tg_runnable_load(ctx, c, q, 0);
		c->load.load_weight -= q->weight;
		c->load.blocked_weight -= q->weight - q->runnable_weight;
		wp_update_cfs_group(ctx, tg, c, q);
	}
}

/* The task joins its group's queue on the CPU it is on. Returns enum wp_event_result bits. */
WP_FN int wp_tg_enqueue(struct wp_ctx *ctx WP_NONNULL, struct wp_task_group *tg WP_NONNULL,
			struct wp_task *task WP_NONNULL, u64 now_ns, u32 flags)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, task->cpu);
	struct wp_tg_queue *q = WP_AT(tg->queue, task->cpu);
	int changed, result = 0, attach = !task->avg.last_update_ns;

	if (flags & (WP_Q_WAKEUP | WP_Q_NEW))
		task->run_since_woken_ns = 0;
	wp_update_rq_clock(c, now_ns);
	wp_uclamp_rq_inc(ctx, c, task);
	if (!WP_NOT_LIVE(ctx->params.util_est_after_freq))
		wp_util_est_enqueue(ctx, c, task);
	if ((flags & WP_Q_IOWAIT) && wp_sugov_iowait_boost(ctx, c, now_ns))
		result = wp_cpufreq_update_util(ctx, c, now_ns);
	changed = wp_tg_event(ctx, tg, task, now_ns, !attach);
	if (attach) {
		wp_attach_entity_load_avg(ctx, c, &q->avg, task);
		q->moved = 1;
		q->moved_load_sum += (s64)task->avg.load_sum;
		wp_propagate_entity_load_avg(ctx, c, q);
		wp_tg_tell_all(ctx, tg, c, q);
		changed = 1;
	}
	if (changed)
		result |= wp_cpufreq_update_util(ctx, c, now_ns);
	task->on_rq = 1;
	wp_enqueue_runnable_load_avg_5_6(ctx, &q->avg, task);
	q->load_weight += task->weight;
	wp_tg_queued(ctx, tg, c, q, 1);
	wp_account_enqueue(ctx, c, task, flags);
	return result;
}

/* It leaves; with WP_Q_SLEEP its activation is over. */
WP_FN int wp_tg_dequeue(struct wp_ctx *ctx WP_NONNULL, struct wp_task_group *tg WP_NONNULL,
			struct wp_task *task WP_NONNULL, u64 now_ns, u32 flags)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, task->cpu);
	struct wp_tg_queue *q = WP_AT(tg->queue, task->cpu);
	int result = 0;

	wp_uclamp_rq_dec(c, task);
	if (!WP_NOT_LIVE(ctx->params.util_est_dequeue_late))
		wp_util_est_dequeue(c, task);
	if (WP_NOT_LIVE(ctx->params.util_est_before_update) && (flags & WP_Q_SLEEP))
		wp_util_est_update(ctx, c, task);
	if (wp_tg_event(ctx, tg, task, now_ns, 1))
		result = wp_cpufreq_update_util(ctx, c, now_ns);
	if (task->running) {
		wp_note_run(ctx, c, task);
		q->running = 0;
	}
	wp_dequeue_runnable_load_avg_5_6(ctx, &q->avg, task);
	q->load_weight -= task->weight;
	wp_tg_queued(ctx, tg, c, q, 0);
	wp_account_dequeue(ctx, c, task, flags);
	return result;
}

/* A queued task begins to execute. */
WP_FN int wp_tg_set_current(struct wp_ctx *ctx WP_NONNULL, struct wp_task_group *tg WP_NONNULL,
			    struct wp_task *task WP_NONNULL, u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, task->cpu);
	int result = 0;

	if (wp_tg_event(ctx, tg, task, now_ns, 1))
		result = wp_cpufreq_update_util(ctx, c, now_ns);
	wp_note_current(ctx, c, task);
	WP_AT(tg->queue, task->cpu)->running = 1;
	task->group_load = wp_tg_h_load(ctx, tg, task);
	wp_update_misfit_status(ctx, c, task);
	return result;
}

/* It stops executing but stays queued. */
WP_FN int wp_tg_put_current(struct wp_ctx *ctx WP_NONNULL, struct wp_task_group *tg WP_NONNULL,
			    struct wp_task *task WP_NONNULL, u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, task->cpu);
	int result = 0;

	if (wp_tg_event(ctx, tg, task, now_ns, 0))
		result = wp_cpufreq_update_util(ctx, c, now_ns);
	if (task->running)
		wp_note_run(ctx, c, task);
	task->running = 0;
	WP_AT(tg->queue, task->cpu)->running = 0;
	wp_no_current(c);
	return result;
}

/* The tick of a CPU that runs `task`. */
WP_FN int wp_tg_tick(struct wp_ctx *ctx WP_NONNULL, struct wp_task_group *tg WP_NONNULL,
		     struct wp_task *task WP_NONNULL, u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, task->cpu);
	int changed, result = 0;

	changed = wp_tg_event(ctx, tg, task, now_ns, 1);
	wp_note_run(ctx, c, task);
	if (changed)
		result = wp_cpufreq_update_util(ctx, c, now_ns);
	wp_update_cfs_group(ctx, tg, c, WP_AT(tg->queue, task->cpu));
	task->group_load = wp_tg_h_load(ctx, tg, task);
	return result | wp_tick_marks(ctx, c, task, now_ns);
}

/* A task that is on no queue leaves its CPU: its share leaves at its queue's next update. */
WP_INLINE void wp_tg_leave_share(struct wp_ctx *ctx, struct wp_task_group *tg, struct wp_task *task)
{
	struct wp_tg_queue *q = WP_AT(tg->queue, task->cpu);

	if (!task->avg.last_update_ns)
		return;
	wp_tg_prepare(ctx, tg, task);
	q->removed_load += task->avg.load_avg;
	q->removed_util += task->avg.util_avg;
	q->removed_runnable += WP_NOT_LIVE(ctx->params.runnable_is_load) ? task->avg.load_sum
									 : task->avg.runnable_avg;
	q->nr_removed++;
}

/* A sleeping task was placed on another CPU; it fades as in wp_migrate_task_rq_fair. */
WP_FN int wp_tg_migrate_sleeping(struct wp_ctx *ctx WP_NONNULL, struct wp_task_group *tg WP_NONNULL,
				 struct wp_task *task WP_NONNULL, u32 cpu, u64 now_ns)
{
	wp_tg_leave_share(ctx, tg, task);
	wp_migrate_se_pelt_lag(ctx, task, now_ns);
	wp_forget_queue(task, cpu);
	return 0;
}

/* A dequeued task is gone for good. */
WP_FN int wp_tg_task_exit(struct wp_ctx *ctx WP_NONNULL, struct wp_task_group *tg WP_NONNULL,
			  struct wp_task *task WP_NONNULL)
{
	wp_tg_leave_share(ctx, tg, task);
	wp_forget_queue(task, task->cpu);
	return 0;
}

/* A dequeued but runnable task moves; enqueue it on `cpu` afterwards. */
WP_FN int wp_tg_migrate_queued(struct wp_ctx *ctx WP_NONNULL, struct wp_task_group *tg WP_NONNULL,
			       struct wp_task *task WP_NONNULL, u32 cpu, u64 now_ns)
{
	struct wp_cpu *old = WP_AT(ctx->cpus, task->cpu);
	struct wp_tg_queue *q = WP_AT(tg->queue, task->cpu);

	wp_tg_event(ctx, tg, task, now_ns, 0);
	wp_detach_entity_load_avg(ctx, &q->avg, task);
	q->moved = 1;
	q->moved_load_sum -= (s64)task->avg.load_sum;
	wp_propagate_entity_load_avg(ctx, old, q);
	wp_tg_tell_all(ctx, tg, old, q);
	wp_forget_queue(task, cpu);
	return wp_cpufreq_update_util(ctx, old, now_ns);
}

/* The group's load on a CPU fades. Returns 1 if the CPU's queue changed. */
WP_FN int wp_tg_update_blocked(struct wp_ctx *ctx WP_NONNULL, struct wp_task_group *tg WP_NONNULL,
			       u32 cpu, u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, cpu);

	wp_update_rq_clock(c, now_ns);
	return wp_tg_age(ctx, tg, c, WP_AT(tg->queue, cpu), 1);
}

WP_FN int wp_tg_blocked_end(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 now_ns, u32 changed)
{
	return wp_blocked(ctx, WP_AT(ctx->cpus, cpu), now_ns, changed);
}
