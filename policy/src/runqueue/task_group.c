// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Task groups: what a task of a group weighs for its CPU, and the events of such tasks
 * (docs/rules/signals.md#attach-detach, docs/rules/signals.md#load-for-balancing;
 * docs/decisions/020). Each event goes up the levels as in the kernel: task, group's queue, entity,
 * the queue above, and so on up to the CPU's; then the entities' weights are looked at.
 *
 * What must stay: levels from the inside out; without groups none of this runs. Free: how a
 * level is walked; not the order, which is the kernel's.
 *
 * Tests by part: (below crates/policy-sys/tests; `every_fixture_holds` runs the fixtures)
 * all/task_groups.rs: `the_levels_are_sums_of_each_other` (`wp_tg_queue`, `wp_tg_enqueue`,
 * `wp_tg_dequeue`, `wp_tg_age`, `wp_tg_event`, `wp_tg_follow_all`, `wp_tg_migrate_queued`,
 * `wp_tg_task_set_weight`), `nothing_stays_of_a_group_without_tasks` (`wp_tg_leave_share`,
 * `wp_tg_migrate_sleeping`, `wp_tg_task_exit`, `wp_tg_update_blocked`, `wp_tg_blocked_end`),
 * `a_group_on_two_cpus_weighs_half_on_each` (`wp_update_cfs_group`, `wp_update_cfs_groups`,
 * `wp_tg_runnable_weight`, `wp_tg_tick`), `a_lone_task_is_the_same_in_a_group` (`wp_tg_task_new`,
 * `wp_tg_set_current`, `wp_tg_put_current`, `wp_tg_set_running`); all/nested_groups.rs:
 * `levels_count_what_is_below` (`wp_tg_queued`, `wp_tg_entity_queued`),
 * `a_task_weighs_its_part_of_each_level` (`wp_tg_h_load`); all/group_accesses.rs: who is told;
 * all/group_bandwidth.rs: `a_throttled_group_keeps_its_averages` (`wp_tg_clock_follows`);
 * fixtures/task-group: h-load-*.toml (`wp_tg_prepare`). `wp_tg_take_off` and `wp_tg_task_is_idle`
 * have no test of their own: engine/tests/behaviour/groups.rs runs the latter.
 *
 * Callers: crates/policy-sys/src/task_group.rs, which `Core` asks for tasks of groups.
 *
 * Kernel: update_cfs_group(), update_cfs_rq_h_load() as wp_tg_h_load(), kernel/sched/fair.c
 * Tests: all/task_groups.rs, all/nested_groups.rs, fixtures/task-group
 */
#include "wakeplace/policy.h"
#include "wakeplace/task_group.h"

/* The queue on `cpu` of a group of the path. */
WP_INLINE struct wp_tg_queue *wp_tg_queue(const struct wp_tg_path *path, u32 level, u32 cpu)
{
	return WP_AT((*WP_AT(path->tg, level))->queue, cpu);
}

/* The part of an entity's weight that is for load that can run (kernels to 5.6). */
WP_INLINE u32 wp_tg_runnable_weight(const struct wp_tg_queue *q, u32 weight)
{
	u64 load = wp_max(q->load_weight, q->avg.load_avg);
	u64 runnable = wp_max(q->load_weight - q->blocked_weight, q->avg.runnable_avg);

	runnable *= weight;
	if (load)
		runnable = wp_div(runnable, load);
	return (u32)wp_max64(wp_min64(runnable, weight), WP_SHARES_MIN);
}

/* The load of the path's group `level` or its place has changed: so may the entity's weight. */
WP_INLINE void wp_update_cfs_group(struct wp_ctx *ctx, struct wp_cpu *c,
				   const struct wp_tg_path *path, u32 level, u32 cpu)
{
	struct wp_task_group *tg = *WP_AT(path->tg, level);
	struct wp_tg_queue *q = wp_tg_queue(path, level, cpu);
	struct wp_tg_above up = wp_tg_above(c, path, level, cpu);
	u32 load = wp_max(q->load_weight, q->avg.load_avg);
	u32 weight, runnable;

	/* Since 6.12 an empty queue keeps its weight: its entity may still wait for its turn. */
	if (!q->load_weight && ctx->params.queue == WP_QUEUE_EEVDF)
		return;
	if (q->stopped)
		return;
	weight = wp_tg_ask_outer(tg, q, wp_tg_ask(&tg->sum, &q->part, load));
	runnable = weight;
	if (WP_NOT_LIVE(ctx->params.runnable_is_load))
		runnable = wp_tg_runnable_weight(q, weight);
	if (weight != q->weight || runnable != q->runnable_weight)
		wp_tg_set_weight(ctx, &up, q, weight, runnable);
}

/* All groups of the path. */
WP_INLINE void wp_update_cfs_groups(struct wp_ctx *ctx, struct wp_cpu *c,
				    const struct wp_tg_path *path, u32 cpu)
{
	u32 level;

	WP_FOR(level, path->nr, WP_MAX_TG_LEVELS)
		wp_update_cfs_group(ctx, c, path, level, cpu);
}

/* The load of the group's queue, as it counts for the CPU. */
WP_FN u32 wp_tg_h_load(const struct wp_ctx *ctx WP_NONNULL,
		       const struct wp_tg_path *path WP_NONNULL,
		       const struct wp_task *task WP_NONNULL)
{
	u64 above = WP_AT(ctx->cpus, task->cpu)->load.avg.load_avg, load = above;
	u32 i;

	WP_FOR(i, path->nr, WP_MAX_TG_LEVELS) { /* from the outside */
		const struct wp_tg_queue *q = wp_tg_queue(path, path->nr - 1 - i, task->cpu);

		load = wp_div(q->entity.load_avg * load, above + 1);
		above = q->avg.load_avg;
	}
	return (u32)wp_div(task->avg.load_avg * load, above + 1);
}

/* Before a question about a task: decayed to its queue's last update if it sleeps, and weighed. */
WP_FN int wp_tg_prepare(struct wp_ctx *ctx WP_NONNULL, const struct wp_tg_path *path WP_NONNULL,
			struct wp_task *task WP_NONNULL)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, task->cpu);
	const struct wp_tg_queue *q = wp_tg_queue(path, 0, task->cpu);

	if (!task->on_rq && task->avg.last_update_ns)
		wp_task_avg(ctx, c, task, q->avg.last_update_ns);
	task->group_load = wp_tg_h_load(ctx, path, task);
	return 0;
}

/*
 * All levels up to now, with what each has counted so far; `tell`: groups hear of queues whose
 * averages changed (UPDATE_TG). Returns 1 if the CPU's queue changed.
 */
WP_INLINE int wp_tg_age(struct wp_ctx *ctx, const struct wp_tg_path *path, struct wp_cpu *c,
			u32 cpu, int tell)
{
	int changed = 0, moved = 0, aged;
	u32 level;

	WP_FOR(level, path->nr, WP_MAX_TG_LEVELS) {
		struct wp_task_group *tg = *WP_AT(path->tg, level);
		struct wp_tg_queue *q = wp_tg_queue(path, level, cpu), *outer = 0;
		struct wp_tg_above up = wp_tg_above(c, path, level, cpu);

		changed = wp_tg_queue_update(ctx, c, q) | moved;
		if (changed && tell)
			wp_update_tg_load_avg(ctx, c, &tg->sum, &q->part, q->avg.load_avg);
		aged = wp_tg_entity_update(ctx, c, q,
					   wp_tg_clock_above(ctx, c, path, level, cpu));
		if (level + 1 < path->nr) {
			outer = wp_tg_queue(path, level + 1, cpu);
			changed = wp_tg_queue_update(ctx, c, outer);
		} else {
			changed = wp_update_cfs_rq_load_avg(ctx, c);
		}
		moved = wp_propagate_entity_load_avg(ctx, c, &up, q, outer) | (outer && changed);
		if ((aged || moved) && tell)
			wp_tg_tell_outer(ctx, c, tg, q);
	}
	return moved | changed;
}

/* All levels up to now in an event of a task, its own averages first. */
WP_INLINE int wp_tg_event(struct wp_ctx *ctx, const struct wp_tg_path *path, struct wp_task *task,
			  u64 now_ns, int tell)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, task->cpu);

	wp_update_rq_clock(c, now_ns);
	if (task->avg.last_update_ns)
		wp_update_load_avg_se(
			ctx, c, task,
			wp_cfs_rq_clock_pelt(ctx, c, wp_tg_queue(path, 0, task->cpu)));
	return wp_tg_age(ctx, path, c, task->cpu, tell);
}

/* Something joined the queue of the innermost group or left it: the entities follow, and the groups
 * are told. */
WP_INLINE void wp_tg_follow_all(struct wp_ctx *ctx, const struct wp_tg_path *path, struct wp_cpu *c,
				u32 cpu)
{
	u32 level;

	WP_FOR(level, path->nr, WP_MAX_TG_LEVELS) {
		struct wp_tg_queue *q = wp_tg_queue(path, level, cpu), *outer = 0;
		struct wp_tg_above up = wp_tg_above(c, path, level, cpu);

		if (level + 1 < path->nr)
			outer = wp_tg_queue(path, level + 1, cpu);
		wp_propagate_entity_load_avg(ctx, c, &up, q, outer);
		wp_tg_tell_all(ctx, *WP_AT(path->tg, level), c, q);
	}
}

/* A new task, before its enqueue: it starts from what its group does on the CPU. */
WP_FN int wp_tg_task_new(struct wp_ctx *ctx WP_NONNULL, const struct wp_tg_path *path WP_NONNULL,
			 struct wp_task *task WP_NONNULL, u32 cpu, u64 now_ns)
{
	task->cpu = cpu;
	task->avg.last_update_ns = 0;
	wp_tg_event(ctx, path, task, now_ns, 0);
	wp_post_init_entity_util_avg(ctx, WP_AT(ctx->cpus, cpu), &wp_tg_queue(path, 0, cpu)->avg,
				     task);
	return 0;
}

/* The nice value of a task in a group has changed: its new weight counts there. */
WP_FN int wp_tg_task_set_weight(struct wp_ctx *ctx WP_NONNULL,
				const struct wp_tg_path *path WP_NONNULL,
				struct wp_task *task WP_NONNULL, u32 weight, u64 now_ns)
{
	struct wp_tg_queue *q = wp_tg_queue(path, 0, task->cpu);

	if (!task->avg.last_update_ns) { /* no queue counts it yet */
		task->weight = weight;
		task->avg.load_avg = weight;
		return 0;
	}
	wp_tg_event(ctx, path, task, now_ns, 0);
	wp_reweight_entity(ctx, &q->avg, &q->load_weight, task, weight);
	wp_tg_tell_all(ctx, *WP_AT(path->tg, 0), WP_AT(ctx->cpus, task->cpu), q);
	wp_update_cfs_groups(ctx, WP_AT(ctx->cpus, task->cpu), path, task->cpu);
	return 0;
}

/* The entity of the path's group `level` joins the queue above or leaves it: it is weighed before
 * it is queued, and after it has left. `nr`: tasks that are below it then. */
WP_INLINE void wp_tg_entity_queued(struct wp_ctx *ctx, struct wp_cpu *c,
				   const struct wp_tg_path *path, u32 level, u32 cpu, u32 nr)
{
	struct wp_tg_queue *q = wp_tg_queue(path, level, cpu);
	struct wp_tg_above up = wp_tg_above(c, path, level, cpu);

	if (nr) {
		q->nr = 0;
		wp_update_cfs_group(ctx, c, path, level, cpu);
		q->nr = nr;
		wp_tg_runnable_load(ctx, &up, q, 1);
		*up.load_weight += q->weight;
		*up.blocked_weight += q->weight - q->runnable_weight;
	} else {
		wp_tg_runnable_load(ctx, &up, q, 0);
		*up.load_weight -= q->weight;
		*up.blocked_weight -= q->weight - q->runnable_weight;
		wp_update_cfs_group(ctx, c, path, level, cpu);
	}
}

/* From 6.18 on the clock of a group that may not run goes on while it has something queued. */
WP_INLINE void wp_tg_clock_follows(struct wp_ctx *ctx, struct wp_cpu *c, struct wp_tg_queue *q)
{
	if (!ctx->params.throttle_on_return || !q->throttle_count)
		return;
	if (q->nr)
		wp_tg_start_clock(ctx, c, q);
	else
		wp_tg_stop_clock(ctx, c, q);
}

/*
 * So many tasks have joined the queue of the path's group `level`, or left it: with the first the
 * entity is queued, and so on upwards. `idle` of them count as SCHED_IDLE. Returns 0 if the CPU
 * does not count them, since a group on the way may not run.
 */
WP_INLINE int wp_tg_queued(struct wp_ctx *ctx, struct wp_cpu *c, const struct wp_tg_path *path,
			   u32 level, u32 cpu, u32 tasks, u32 idle, int joined)
{
	u32 i;

	WP_FOR(i, path->nr, WP_MAX_TG_LEVELS) {
		struct wp_tg_queue *q = wp_tg_queue(path, i, cpu);
		u32 was = q->nr;

		if (i < level)
			continue;
		q->nr += joined ? tasks : 0 - tasks;
		q->nr_idle += joined ? idle : 0 - idle;
		if (q->off)
			return 0;
		if (q->nr && was)
			wp_update_cfs_group(ctx, c, path, i, cpu);
		else
			wp_tg_entity_queued(ctx, c, path, i, cpu, q->nr);
		wp_tg_clock_follows(ctx, c, q);
	}
	return 1;
}

/* The innermost group's task begins to execute, or stops. */
WP_INLINE void wp_tg_set_running(const struct wp_tg_path *path, u32 cpu, u32 running)
{
	u32 level;

	WP_FOR(level, path->nr, WP_MAX_TG_LEVELS)
		wp_tg_queue(path, level, cpu)->running = running;
}

/* How much a task adds to the number of SCHED_IDLE ones. */
WP_INLINE u32 wp_tg_task_is_idle(const struct wp_task *task)
{
	return task->idle_policy || task->group_idle;
}

/* The task joins its group's queue on the CPU it is on. Returns enum wp_event_result bits. */
WP_FN int wp_tg_enqueue(struct wp_ctx *ctx WP_NONNULL, const struct wp_tg_path *path WP_NONNULL,
			struct wp_task *task WP_NONNULL, u64 now_ns, u32 flags)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, task->cpu);
	struct wp_tg_queue *q = wp_tg_queue(path, 0, task->cpu);
	int changed, result = 0, attach = !task->avg.last_update_ns;

	if (flags & (WP_Q_WAKEUP | WP_Q_NEW))
		task->run_since_woken_ns = 0;
	wp_update_rq_clock(c, now_ns);
	wp_uclamp_rq_inc(ctx, c, task);
	if (!WP_NOT_LIVE(ctx->params.util_est_after_freq))
		wp_util_est_enqueue(ctx, c, task);
	if ((flags & WP_Q_IOWAIT) && wp_sugov_iowait_boost(ctx, c, now_ns))
		result = wp_cpufreq_update_util(ctx, c, now_ns);
	changed = wp_tg_event(ctx, path, task, now_ns, !attach);
	if (attach) {
		wp_attach_entity_load_avg(ctx, c, &q->avg, task);
		q->moved = 1;
		q->moved_load_sum += (s64)task->avg.load_sum;
		wp_tg_follow_all(ctx, path, c, task->cpu);
		changed = 1;
	}
	if (changed)
		result |= wp_cpufreq_update_util(ctx, c, now_ns);
	task->on_rq = 1;
	wp_enqueue_runnable_load_avg_5_6(ctx, &q->avg, task);
	q->load_weight += task->weight;
	if (wp_tg_queued(ctx, c, path, 0, task->cpu, 1, wp_tg_task_is_idle(task), 1)) {
		wp_account_enqueue(ctx, c, task, flags);
		return result | WP_IF_SUMS(wp_util_bias_freq(ctx, c, task, now_ns));
	}
	(void)WP_IF_SUMS(wp_util_bias_enqueue(c, task));
	task->idle_counted = wp_tg_task_is_idle(task);
	if (WP_NOT_LIVE(ctx->params.util_est_after_freq))
		wp_util_est_enqueue(ctx, c, task);
	return result | WP_IF_SUMS(wp_util_bias_freq(ctx, c, task, now_ns));
}

#ifdef WP_UCLAMP_SUM
/* What a sleeper's hint held back leaves the averages of the groups around it
 * (docs/rules/uclamp-sum.md#negative-bias). */
WP_INLINE void wp_tg_take_off(const struct wp_tg_path *path, u32 cpu, u32 util)
{
	u32 level;

	if (!util)
		return;
	WP_FOR(level, path->nr, WP_MAX_TG_LEVELS) {
		wp_util_take_off(&wp_tg_queue(path, level, cpu)->avg, util);
		wp_util_take_off(&wp_tg_queue(path, level, cpu)->entity, util);
	}
}
#endif

/* It leaves; with WP_Q_SLEEP its activation is over. */
WP_FN int wp_tg_dequeue(struct wp_ctx *ctx WP_NONNULL, const struct wp_tg_path *path WP_NONNULL,
			struct wp_task *task WP_NONNULL, u64 now_ns, u32 flags)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, task->cpu);
	struct wp_tg_queue *q = wp_tg_queue(path, 0, task->cpu);
	int result = 0;

	if (!(flags & WP_Q_THROTTLE))
		wp_uclamp_rq_dec(c, task);
	if (!WP_NOT_LIVE(ctx->params.util_est_dequeue_late))
		wp_util_est_dequeue(c, task);
	if (WP_NOT_LIVE(ctx->params.util_est_before_update) && (flags & WP_Q_SLEEP))
		wp_util_est_update(ctx, c, task);
	if (wp_tg_event(ctx, path, task, now_ns, 1))
		result = wp_cpufreq_update_util(ctx, c, now_ns);
	if (task->running) {
		wp_note_run(ctx, c, task);
		wp_tg_set_running(path, task->cpu, 0);
	}
	wp_dequeue_runnable_load_avg_5_6(ctx, &q->avg, task);
	q->load_weight -= task->weight;
	if (!wp_tg_queued(ctx, c, path, 0, task->cpu, 1, task->idle_counted, 0)) {
		c->queue.nr_fair++; /* it is not counted, and taken off next */
		c->queue.nr_idle_policy += task->idle_counted;
	}
	wp_account_dequeue(ctx, c, task, flags);
#ifdef WP_UCLAMP_SUM
	wp_tg_take_off(path, task->cpu, wp_propagate_negative_bias(ctx, c, task, flags));
#endif
	return result;
}

/* A queued task begins to execute. */
WP_FN int wp_tg_set_current(struct wp_ctx *ctx WP_NONNULL, const struct wp_tg_path *path WP_NONNULL,
			    struct wp_task *task WP_NONNULL, u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, task->cpu);
	int result = 0;

	if (wp_tg_event(ctx, path, task, now_ns, 1))
		result = wp_cpufreq_update_util(ctx, c, now_ns);
	wp_note_current(ctx, c, task);
	wp_tg_set_running(path, task->cpu, 1);
	task->group_load = wp_tg_h_load(ctx, path, task);
	wp_update_misfit_status(ctx, c, task);
	return result;
}

/* It stops executing but stays queued. */
WP_FN int wp_tg_put_current(struct wp_ctx *ctx WP_NONNULL, const struct wp_tg_path *path WP_NONNULL,
			    struct wp_task *task WP_NONNULL, u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, task->cpu);
	int result = 0;

	if (wp_tg_event(ctx, path, task, now_ns, 0))
		result = wp_cpufreq_update_util(ctx, c, now_ns);
	if (task->running)
		wp_note_run(ctx, c, task);
	task->running = 0;
	wp_tg_set_running(path, task->cpu, 0);
	wp_no_current(c);
	wp_util_est_update_running(ctx, c, task);
	return result;
}

/* The tick of a CPU that runs `task`. */
WP_FN int wp_tg_tick(struct wp_ctx *ctx WP_NONNULL, const struct wp_tg_path *path WP_NONNULL,
		     struct wp_task *task WP_NONNULL, u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, task->cpu);
	int changed, result = 0;

	changed = wp_tg_event(ctx, path, task, now_ns, 1);
	wp_note_run(ctx, c, task);
	if (changed)
		result = wp_cpufreq_update_util(ctx, c, now_ns);
	wp_update_cfs_groups(ctx, c, path, task->cpu);
	task->group_load = wp_tg_h_load(ctx, path, task);
	return result | wp_tick_marks(ctx, c, task, now_ns);
}

/* A task that is on no queue leaves its CPU: its share leaves at its queue's next update. */
WP_INLINE void wp_tg_leave_share(struct wp_ctx *ctx, const struct wp_tg_path *path,
				 struct wp_task *task)
{
	struct wp_tg_queue *q = wp_tg_queue(path, 0, task->cpu);

	if (!task->avg.last_update_ns)
		return;
	wp_tg_prepare(ctx, path, task);
	q->removed_load += task->avg.load_avg;
	q->removed_util += task->avg.util_avg;
	q->removed_runnable += WP_NOT_LIVE(ctx->params.runnable_is_load) ? task->avg.load_sum
									 : task->avg.runnable_avg;
	q->nr_removed++;
}

/* A sleeping task was placed on another CPU; it fades as in wp_migrate_task_rq_fair. */
WP_FN int wp_tg_migrate_sleeping(struct wp_ctx *ctx WP_NONNULL,
				 const struct wp_tg_path *path WP_NONNULL,
				 struct wp_task *task WP_NONNULL, u32 cpu, u64 now_ns)
{
	wp_tg_leave_share(ctx, path, task);
	wp_migrate_se_pelt_lag(ctx, task, now_ns);
	wp_forget_queue(task, cpu);
	return 0;
}

/* A dequeued task is gone for good. */
WP_FN int wp_tg_task_exit(struct wp_ctx *ctx WP_NONNULL, const struct wp_tg_path *path WP_NONNULL,
			  struct wp_task *task WP_NONNULL)
{
	wp_tg_leave_share(ctx, path, task);
	wp_forget_queue(task, task->cpu);
	return 0;
}

/* A dequeued but runnable task moves; enqueue it on `cpu` afterwards. */
WP_FN int wp_tg_migrate_queued(struct wp_ctx *ctx WP_NONNULL,
			       const struct wp_tg_path *path WP_NONNULL,
			       struct wp_task *task WP_NONNULL, u32 cpu, u64 now_ns)
{
	struct wp_cpu *old = WP_AT(ctx->cpus, task->cpu);
	struct wp_tg_queue *q = wp_tg_queue(path, 0, task->cpu);

	wp_tg_event(ctx, path, task, now_ns, 0);
	wp_detach_entity_load_avg(ctx, &q->avg, task);
	q->moved = 1;
	q->moved_load_sum -= (s64)task->avg.load_sum;
	wp_tg_follow_all(ctx, path, old, task->cpu);
	wp_forget_queue(task, cpu);
	return wp_cpufreq_update_util(ctx, old, now_ns);
}

/* The group's load on a CPU fades. Returns 1 if the CPU's queue changed. */
WP_FN int wp_tg_update_blocked(struct wp_ctx *ctx WP_NONNULL,
			       const struct wp_tg_path *path WP_NONNULL,
			       u32 cpu, u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, cpu);

	wp_update_rq_clock(c, now_ns);
	return wp_tg_age(ctx, path, c, cpu, 1);
}

/* After the groups of a CPU: its own queue's part. */
WP_FN int wp_tg_blocked_end(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 now_ns, u32 changed)
{
	return wp_blocked(ctx, WP_AT(ctx->cpus, cpu), now_ns, changed);
}
