// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Events of tasks and run queues: new, enqueue, dequeue, running, migration; ticks are in tick.c
 * (docs/rules/signals.md#new-task, docs/rules/signals.md#attach-detach,
 * docs/rules/README.md#event-order; steps as in 4.17). The home owns the queue (who is next).
 *
 * What must stay: the order of steps; a home reports each event once, in order, with its queue
 * locked. Free: how a step is written.
 * Tests by part: (below crates/policy-sys/tests; `every_fixture_holds` runs the fixtures)
 * all/signals.rs: `start_values`, `piled_forks` (`wp_task_init`, `wp_task_new`,
 * `wp_post_init_entity_util_avg`), `queue_is_the_sum_of_its_tasks` (`wp_enqueue_task_fair`,
 * `wp_dequeue_task_fair`, `wp_set_next_task_fair`, `wp_put_prev_task_fair`, `wp_migrate_queued`),
 * `migrated_sleepers_leave_nothing` (`wp_migrate_task_rq_fair`, `wp_remove_entity_load_avg`,
 * `wp_forget_queue`),
 * `a_sleeper_fades_for_the_idle_time_of_its_old_cpu` (`wp_migrate_se_pelt_lag`),
 * `a_pulled_task_counts_no_more` (`wp_migrate_pulled`), `lost_idle_time` (`wp_enter_idle`,
 * `wp_exit_idle`), `histories_of_load_end_at_their_goal` (`wp_cpu_load_update_5_1`,
 * `wp_cpu_load_update_idle_5_1`); all/classes.rs: `class_signals_fade` (`wp_blocked`,
 * `wp_update_blocked_averages`); all/fast_path.rs: `children_have_the_flips_of_their_parent`
 * (`wp_task_fork`); fixtures/signals: set-weight*.toml (`wp_reweight_entity`, `wp_reweight_task`,
 * `wp_reweigh_queued`); fixtures/newidle: avg-idle-*.toml (`wp_woken`). `wp_task_dead_fair`,
 * `wp_show_rq_clock`: engine and parity.
 *
 * Callers: `Core` (crates/policy-sys/src/core.rs) and the live scheduler (crates/scx/src/bpf).
 * Kernel: enqueue_task_fair(), dequeue_task_fair(), set_next_task_fair(), put_prev_task_fair(),
 *         migrate_task_rq_fair(), task_dead_fair(), reweight_task(),
 *         reweight_entity(), account_entity_enqueue() as wp_account_enqueue(),
 *         account_entity_dequeue() as wp_account_dequeue(), init_entity_runnable_average() as
 *         wp_task_init(), post_init_entity_util_avg(), remove_entity_load_avg(),
 *         migrate_se_pelt_lag(), update_blocked_averages(), sched_balance_update_blocked_averages()
 *         as wp_update_blocked_averages(), kernel/sched/fair.c; cpu_load_update(),
 *         cpu_load_update_idle(), kernel/sched/fair.c, to 5.1
 * Tests: fixtures/signals, all/signals.rs, all/kernel_truth.rs
 */
#include "wakeplace/policy.h"

/* A zero-filled task with id, weight, cpu and allowed set: nothing known of it yet. */
WP_FN int wp_task_init(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL)
{
	wp_set_cpus_allowed(ctx, task);
	task->uclamp_min = 0;
	task->uclamp_max = WP_SCALE;
	task->avg.load_avg = 0;
	if (wp_signals_add_up(ctx) || ctx->params.power_new_averages)
		task->avg.load_avg = task->weight;
	task->avg.runnable_avg = WP_NOT_LIVE(ctx->params.runnable_is_load) ? task->weight : 0;
	task->waker.recent_used_cpu = task->cpu;
	/* live queues: neither ahead of nor behind others, half a slice at first */
	task->vtime_cpu = task->cpu;
	task->deadline_ns = wp_live_queue_scale(wp_live_queue_slice_ns(ctx), task->weight) / 2;
	return 0;
}

/* A fork copies the parent's record, and with it what that one remembers as a waker
 * (docs/rules/wake-ups.md#what-a-fork-copies): children of one that woke many count as such
 * themselves in wake_wide. Where it ran last is where it was forked, which wp_task_init has set. */
WP_FN int wp_task_fork(struct wp_task *task WP_NONNULL, const struct wp_waker *parent WP_NONNULL)
{
	task->waker.flip_decay_ns = parent->flip_decay_ns;
	task->waker.wakee_flips = parent->wakee_flips;
	task->waker.last_wakee = parent->last_wakee;
	return 0;
}

/* The parts of a weight that are there without averages that add up. */
WP_INLINE void wp_reweigh_queued(struct wp_cpu *c, struct wp_task *task, u32 weight)
{
	if (task->on_rq)
		WP_ADD(&c->load.load_weight, weight - task->weight);
	task->weight = weight;
	task->avg.load_avg = (u32)wp_div(weight * task->avg.load_sum, task->avg.runnable_sum + 1);
}

/* A task's load average in queue `q` keeps its share of time, in the new weight. */
WP_INLINE void wp_reweight_entity(struct wp_ctx *ctx, struct wp_sched_avg *q, u32 *load_weight,
				  struct wp_task *task, u32 weight)
{
	u64 div = wp_get_pelt_divider(&task->avg);

	q->load_avg = (u32)wp_sub(q->load_avg, task->avg.load_avg);
	q->load_sum = wp_sub(q->load_sum, task->weight * task->avg.load_sum);
	if (task->on_rq) {
		wp_dequeue_runnable_load_avg_5_6(ctx, q, task);
		WP_ADD(load_weight, weight - task->weight);
	}
	task->weight = weight;
	task->avg.load_avg = (u32)wp_div(weight * task->avg.load_sum, div);
	if (WP_NOT_LIVE(ctx->params.runnable_is_load))
		task->avg.runnable_avg = (u32)wp_div(weight * task->avg.runnable_sum, div);
	q->load_avg += task->avg.load_avg;
	q->load_sum += weight * task->avg.load_sum;
	if (task->on_rq)
		wp_enqueue_runnable_load_avg_5_6(ctx, q, task);
}

/* A task's nice value has changed: its new weight counts in its queue. */
WP_FN int wp_reweight_task(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL,
			   u32 weight, u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, task->cpu);

	wp_live_queue_reweigh(task, weight);
	if (!task->avg.last_update_ns) { /* no queue counts it yet */
		task->weight = weight;
		task->avg.load_avg = wp_signals_add_up(ctx) ? weight : 0;
		return 0;
	}
	wp_update_rq_clock(c, now_ns);
	wp_update_cfs_rq_load_avg(ctx, c);
	wp_update_load_avg_se(ctx, c, task, wp_rq_clock_pelt(ctx, c));
	if (!wp_signals_add_up(ctx)) {
		wp_reweigh_queued(c, task, weight);
		return 0;
	}
	wp_reweight_entity(ctx, &c->load.avg, &c->load.load_weight, task, weight);
	return 0;
}

/* Start value of a new task's utilisation, half of what queue `q` leaves of its CPU
 * (docs/rules/signals.md#new-task). */
WP_INLINE void wp_post_init_entity_util_avg(struct wp_ctx *ctx, const struct wp_cpu *c,
					    const struct wp_sched_avg *q, struct wp_task *task)
{
	u32 cap, util = 0, scale = 1;

	/* 64-bit kernels to 6.9 took the weight in finer units than the load. */
	if (WP_NOT_LIVE(ctx->params.post_init_scaled_weight && !ctx->is_32bit))
		scale = WP_SCALE;
	cap = ctx->params.post_init_capacity ? c->load.capacity_orig : WP_SCALE;
	cap = (u32)wp_sub(cap, q->util_avg) / 2;
	if (ctx->params.post_init_util && cap) {
		util = cap;
		if (q->util_avg)
			util = (u32)wp_min64(cap, wp_div((u64)q->util_avg * task->weight * scale,
							 q->load_avg + 1));
	}
	task->avg.util_avg = util;
	if (!WP_NOT_LIVE(ctx->params.runnable_is_load))
		task->avg.runnable_avg = util;
	task->avg.last_update_ns = 0;
}

/* A new task, before its enqueue. */
WP_FN int wp_task_new(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL, u32 cpu,
		      u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, cpu);

	task->cpu = cpu;
	wp_update_rq_clock(c, now_ns);
	wp_update_cfs_rq_load_avg(ctx, c);
	wp_post_init_entity_util_avg(ctx, c, &c->load.avg, task);
	return 0;
}

/* What a CPU counts of a task that has just been queued there. */
WP_INLINE void wp_account_enqueue(struct wp_ctx *ctx, struct wp_cpu *c, struct wp_task *task,
				  u32 flags)
{
	WP_ADD(&c->queue.nr_fair, 1u);
	wp_note_overload(ctx, c);
	wp_idle_policy_enqueue(c, task);
	wp_urgency_enqueue(ctx, c, task, flags);
	wp_account_llc_enqueue(ctx, task);
	(void)WP_IF_SUMS(wp_util_bias_enqueue(c, task));
	if (WP_NOT_LIVE(ctx->params.util_est_after_freq))
		wp_util_est_enqueue(ctx, c, task);
	if (!(flags & WP_Q_NEW) || WP_NOT_LIVE(ctx->params.overutilized_new))
		wp_check_update_overutilized_status(ctx, c);
}

/* What a CPU no longer counts of a task that has left. */
WP_INLINE void wp_account_dequeue(struct wp_ctx *ctx, struct wp_cpu *c, struct wp_task *task,
				  u32 flags)
{
	WP_ADD(&c->queue.nr_fair, 0 - 1u);
	wp_idle_policy_dequeue(c, task);
	wp_urgency_dequeue(ctx, c, task, flags);
	wp_account_llc_dequeue(ctx, task);
	if (task->running)
		wp_no_current(c);
	task->on_rq = 0;
	task->running = 0;
	(void)WP_IF_SUMS(wp_util_bias_dequeue(c, task));
	if (WP_NOT_LIVE(ctx->params.util_est_dequeue_late))
		wp_util_est_dequeue(c, task);
	if (flags & WP_Q_SLEEP) {
		if (!WP_NOT_LIVE(ctx->params.util_est_before_update))
			wp_util_est_update(ctx, c, task);
		wp_dur_sleep(ctx, c, task);
	} else {
		wp_util_est_leave(ctx, task);
	}
}

/* The task joins the queue of `cpu`. Returns enum wp_event_result bits. */
WP_FN int wp_enqueue_task_fair(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL,
			       u32 cpu, u64 now_ns, u32 flags)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	int result = 0;

#ifndef WP_LIVE
	if (task->sched_delayed)
		return task->on_rq ? wp_requeue_delayed_entity(ctx, task, now_ns)
				   : wp_enqueue_delayed(ctx, task, cpu, now_ns);
#endif
	task->cpu = cpu;
	if (WP_NOT_LIVE(flags & (WP_Q_WAKEUP | WP_Q_NEW)))
		task->run_since_woken_ns = 0;
	wp_update_rq_clock(c, now_ns);
	wp_uclamp_rq_inc(ctx, c, task);
	if (!WP_NOT_LIVE(ctx->params.util_est_after_freq))
		wp_util_est_enqueue(ctx, c, task);
	if (WP_SIM(flags & WP_Q_IOWAIT) && wp_sugov_iowait_boost(ctx, c, now_ns))
		result = wp_cpufreq_update_util(ctx, c, now_ns);
	/* The queue does not count this task yet, as in the kernel. */
	if (wp_update_load_avg_attach(ctx, c, task))
		result |= wp_cpufreq_update_util(ctx, c, now_ns);
	task->on_rq = 1;
	wp_enqueue_runnable_load_avg_5_6(ctx, &c->load.avg, task);
	WP_ADD(&c->load.load_weight, task->weight);
	wp_account_enqueue(ctx, c, task, flags);
	return result | WP_IF_SUMS(wp_util_bias_freq(ctx, c, task, now_ns));
}

/* The task leaves its queue; with WP_Q_SLEEP its activation is over. WP_Q_DELAY: it sleeps, but
 * its queue keeps it until it wakes (enqueue) or is let go (dequeue). */
WP_FN int wp_dequeue_task_fair(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL,
			       u64 now_ns, u32 flags)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, task->cpu);
	int result = 0;

#ifndef WP_LIVE
	if (task->sched_delayed)
		return wp_finish_delayed_dequeue_entity(ctx, task, now_ns);
	if (flags & WP_Q_DELAY)
		return wp_set_delayed(ctx, task, now_ns);
#endif
	wp_update_rq_clock(c, now_ns);
	wp_uclamp_rq_dec(c, task);
	if (!WP_NOT_LIVE(ctx->params.util_est_dequeue_late))
		wp_util_est_dequeue(c, task);
	if (WP_NOT_LIVE(ctx->params.util_est_before_update) && (flags & WP_Q_SLEEP))
		wp_util_est_update(ctx, c, task);
	wp_update_load_avg_se(ctx, c, task, wp_rq_clock_pelt(ctx, c));
	if (task->running)
		wp_note_run(ctx, c, task);
	if (wp_update_cfs_rq_load_avg(ctx, c))
		result = wp_cpufreq_update_util(ctx, c, now_ns);
	wp_dequeue_runnable_load_avg_5_6(ctx, &c->load.avg, task);
	WP_ADD(&c->load.load_weight, 0 - task->weight);
	wp_account_dequeue(ctx, c, task, flags);
	(void)WP_IF_SUMS(wp_propagate_negative_bias(ctx, c, task, flags));
	return result;
}

/* A queued task begins to execute. */
WP_FN int wp_set_next_task_fair(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL,
				u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, task->cpu);
	int result = 0;

	wp_update_rq_clock(c, now_ns);
	wp_update_load_avg_se(ctx, c, task, wp_rq_clock_pelt(ctx, c));
	if (wp_update_cfs_rq_load_avg(ctx, c))
		result = wp_cpufreq_update_util(ctx, c, now_ns);
	wp_note_current(ctx, c, task);
	wp_update_misfit_status(ctx, c, task);
	return result;
}

/* It stops executing but stays queued. */
WP_FN int wp_put_prev_task_fair(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL,
				u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, task->cpu);
	int result = 0;

	wp_update_rq_clock(c, now_ns);
	wp_update_load_avg_se(ctx, c, task, wp_rq_clock_pelt(ctx, c));
	if (wp_update_cfs_rq_load_avg(ctx, c))
		result = wp_cpufreq_update_util(ctx, c, now_ns);
	if (task->running)
		wp_note_run(ctx, c, task);
	task->running = 0;
	wp_no_current(c);
	wp_util_est_update_running(ctx, c, task);
	return result;
}

/* cpu_load[i] follows the load at ticks, each index half as fast as the one before. */
WP_INLINE void wp_cpu_load_update_5_1(struct wp_cpu *c, u64 load)
{
	u32 i;

	for (i = 1; i < 4; i++) {
		u64 old = *WP_AT(c->load.cpu_load, i), new = load;

		if (new > old) /* round up so that a rise ends at its goal */
			new += (1u << i) - 1;
		*WP_AT(c->load.cpu_load, i) = (u32)((old * ((1u << i) - 1) + new) >> i);
	}
}

/* The ticks that an idle CPU did not take since the last update saw no load. */
WP_INLINE void wp_cpu_load_update_idle_5_1(struct wp_ctx *ctx, struct wp_cpu *c, u64 now_ns)
{
	u64 tick = wp_div(now_ns, ctx->tick_ns);
	u64 missed = wp_min64(wp_sub(tick, c->load.load_tick), 256);
	u32 k;

	c->load.load_tick = tick;
	WP_FOR(k, missed, 256) { /* by then even the slowest has decayed */
		if (!(c->load.cpu_load[1] | c->load.cpu_load[2] | c->load.cpu_load[3]))
			break;
		wp_cpu_load_update_5_1(c, 0);
	}
}

/* The idle task is next. A slow CPU that was not saturated gets its missing time back
 * (docs/rules/signals.md#pelt-clock). */
WP_FN int wp_enter_idle(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	u64 others = (u64)(c->load.rt_util + c->load.dl_util) * WP_MIN_DIVIDER;

	wp_update_rq_clock(c, now_ns);
	if (!wp_signals_add_up(ctx))
		wp_update_cfs_rq_load_avg(ctx, c); /* until now it was busy */
	if (WP_SIM(c->queue.classes.kept))
		others = c->queue.classes.rt.util_sum + c->queue.classes.dl.util_sum;
	if (c->load.avg.util_sum + others >= WP_SATURATED)
		c->load.lost_idle_ns += c->load.clock_task_ns - c->load.clock_pelt_ns;
	c->load.clock_pelt_ns = c->load.clock_task_ns;
	c->queue.curr_idle = 1;
	c->queue.misfit_task_load = 0;
	c->idle.idle_stamp_ns = now_ns;
	c->idle.idle_calls++;
	wp_update_idle_core(ctx, c, cpu);
	return 0;
}

/* The idle task gives way. */
WP_SMALL_FN int wp_exit_idle(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, cpu);

	wp_update_rq_clock(c, now_ns);
	if (WP_NOT_LIVE(ctx->params.load_idx))
		wp_cpu_load_update_idle_5_1(ctx, c, now_ns);
	if (!wp_signals_add_up(ctx))
		wp_update_cfs_rq_load_avg(ctx, c);
	c->queue.curr_idle = 0;
	c->idle.idle_exit_latency_us = WP_NONE;
	return 0;
}

/* A home shows the queue's clocks to others: they are those of now. */
WP_SMALL_FN int wp_show_rq_clock(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 now_ns)
{
	wp_update_rq_clock(WP_AT(ctx->cpus, cpu), now_ns);
	return 0;
}

/* A wake-up was queued on `cpu`: its idle time since the last new-idle attempt is known now. */
WP_SMALL_FN int wp_woken(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	u64 most = 2 * c->balance.max_idle_balance_cost_ns;
	u64 idle = wp_sub(now_ns, c->idle.wake_idle_stamp_ns), avg = c->idle.avg_idle_ns;

	if (!c->idle.wake_idle_stamp_ns)
		return 0;
	/* update_avg(): an eighth of the difference; since 5.11 towards 0, before by a shift */
	if (WP_NOT_LIVE(!ctx->params.avg_idle_truncates))
		avg = (u64)((s64)avg + (((s64)idle - (s64)avg) >> 3));
	else
		avg = wp_dur_next(avg, idle);
	c->idle.avg_idle_ns = wp_min64(avg, most);
	if (WP_NOT_LIVE(!ctx->params.newidle_by_cost) && idle > most)
		c->idle.avg_idle_ns = most; /* one long time made up for all short ones */
	c->idle.wake_idle_stamp_ns = 0;
	if (WP_NOT_LIVE(ctx->params.sis_prop)) {
		c->idle.wake_avg_idle_ns = c->idle.avg_idle_ns / 2;
		c->idle.wake_tick = wp_div(now_ns, ctx->tick_ns);
	}
	return 0;
}

/* A task that is on no queue leaves its CPU: its share leaves the sums at that queue's update. */
WP_INLINE void wp_remove_entity_load_avg(struct wp_ctx *ctx, struct wp_task *task)
{
	struct wp_cpu *old = WP_AT(ctx->cpus, task->cpu);

	if (task->avg.last_update_ns) {
		wp_sync_entity_load_avg(ctx, task);
		if (wp_signals_add_up(ctx)) {
			WP_ADD(&old->load.removed_load, task->avg.load_avg);
			WP_ADD(&old->load.removed_util, task->avg.util_avg);
			WP_ADD(&old->load.removed_runnable, task->avg.runnable_avg);
			WP_ADD(&old->load.nr_removed, 1u);
		}
	}
}

/* No queue counts the task until it is attached again; `cpu` is where it will wake. */
WP_INLINE void wp_forget_queue(struct wp_task *task, u32 cpu)
{
	task->avg.last_update_ns = 0;
	task->exec_start_ns = 0;
	task->cpu = cpu;
}

/* A sleeping task leaves its CPU for another one. The queue it leaves was last updated when its CPU
 * went idle; since then the task has slept, too, and fades for that time (6.0;
 * docs/rules/signals.md#attach-detach). */
WP_INLINE void wp_migrate_se_pelt_lag(struct wp_ctx *ctx, struct wp_task *task, u64 now_ns)
{
	const struct wp_cpu *old = WP_AT(ctx->cpus, task->cpu);

	if (ctx->params.migrate_pelt_lag && task->avg.last_update_ns && old->queue.curr_idle)
		wp_task_avg(ctx, old, task,
			    wp_rq_clock_pelt(ctx, old) + wp_sub(now_ns, old->load.clock_ns));
}

/* A sleeping task was placed on another CPU. */
WP_FN int wp_migrate_task_rq_fair(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL,
				  u32 cpu, u64 now_ns)
{
	wp_remove_entity_load_avg(ctx, task);
	wp_migrate_se_pelt_lag(ctx, task, now_ns);
	wp_forget_queue(task, cpu);
	return 0;
}

/* A dequeued but runnable task moves; enqueue it on `cpu` afterwards. */
WP_FN int wp_migrate_queued(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL, u32 cpu,
		      u64 now_ns)
{
	struct wp_cpu *old = WP_AT(ctx->cpus, task->cpu);

	wp_update_rq_clock(old, now_ns);
	wp_update_load_avg_se(ctx, old, task, wp_rq_clock_pelt(ctx, old));
	wp_update_cfs_rq_load_avg(ctx, old);
	wp_detach_entity_load_avg(ctx, &old->load.avg, task);
	wp_forget_queue(task, cpu);
	return wp_cpufreq_update_util(ctx, old, now_ns);
}

/* Another CPU has taken the queued task without the old queue's lock: its counts leave atomically,
 * its averages at that queue's next update. Enqueue it on `cpu` afterwards. */
WP_FN int wp_migrate_pulled(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL, u32 cpu)
{
	struct wp_cpu *old = WP_AT(ctx->cpus, task->cpu);

	if (task->on_rq) {
		WP_ADD(&old->load.load_weight, 0 - task->weight);
		WP_ADD(&old->queue.nr_fair, 0 - 1u);
		wp_idle_policy_dequeue(old, task);
		wp_urgency_dequeue(ctx, old, task, 0);
		wp_util_est_dequeue(old, task);
		wp_uclamp_rq_dec(old, task);
		(void)WP_IF_SUMS(wp_util_bias_dequeue(old, task));
	}
	wp_remove_entity_load_avg(ctx, task);
	wp_forget_queue(task, cpu);
	task->on_rq = 0;
	task->running = 0;
	return 0;
}

/* A dequeued task is gone for good: nothing of it stays on its CPU. */
WP_FN int wp_task_dead_fair(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL)
{
	wp_remove_entity_load_avg(ctx, task);
	wp_forget_queue(task, task->cpu);
	return 0;
}

/* `changed`: something in the CPU's queue has already. */
WP_INLINE int wp_blocked(struct wp_ctx *ctx, struct wp_cpu *c, u64 now_ns, u32 changed)
{
	wp_update_rq_clock(c, now_ns);
	if (c->queue.curr_idle)
		wp_cpu_load_update_idle_5_1(ctx, c, now_ns);
	if (WP_SIM(c->queue.classes.kept))
		changed |= (u32)wp_update_other_load_avgs(ctx, c);
	changed |= (u32)wp_update_cfs_rq_load_avg(ctx, c);
	return changed ? wp_cpufreq_update_util(ctx, c, now_ns) : 0;
}

/* Decay a CPU whose tick is stopped; balancing calls it before it reads the signals. */
WP_FN int wp_update_blocked_averages(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 now_ns)
{
	return wp_blocked(ctx, WP_AT(ctx->cpus, cpu), now_ns, 0);
}
