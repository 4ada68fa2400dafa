// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The live scheduler's queues: one per CPU, earliest eligible virtual deadline first, as the fair
 * class has it since 6.6. The home owns the queue (a dispatch queue of sched_ext, a list in the
 * simulator) and keeps it in the order of deadline_ns; what a task's times are, when its slice is
 * over, whom it preempts and who is due is decided here, for both (docs/rules/live-queue.md#vq-lag,
 * docs/rules/live-queue.md#vq-slice, docs/rules/live-queue.md#vq-yield).
 *
 * What must stay: both homes call in one order (crates/engine/src/kernel/model/home/live.rs,
 * crates/scx/src/bpf/queue.bpf.h); virtual times wrap and are compared by the sign of a difference.
 * Free: how a time is found; who goes first only with the page.
 *
 * Tests by part: (below crates/policy-sys/tests) all/queue.rs:
 * `a_sleepers_debt_is_forgiven_as_others_catch_up` (`wp_live_queue_join`, `wp_live_queue_leave`),
 * `a_pulled_task_is_where_its_deadline_is` (`wp_live_queue_deadline_on`),
 * `alone_slices_follow_each_other` (`wp_update_deadline`, `wp_slice_left_ns`),
 * `a_slice_since_it_was_chosen_protects` (`wp_live_queue_protected_ns`),
 * `a_waker_goes_on_for_a_while` (`wp_live_queue_lets_waker`),
 * `who_had_its_share_is_preempted` (`wp_live_queue_preempts`, `wp_live_queue_had_share`),
 * `an_earlier_deadline_that_is_eligible_goes_before` (`wp_live_queue_before`,
 * `wp_entity_eligible`), `slices_end_if_somebody_waits` (`wp_live_queue_expired`,
 * `wp_live_queue_yields`), `another_slice_if_nobody_is_owed_time` (`wp_live_queue_go_on`),
 * `a_yield_gives_up_the_slice_of_who_is_owed` (`wp_yield_task`),
 * `a_debt_that_is_paid_ends_the_turn` (`wp_live_queue_owed_ns`),
 * `a_new_weight_counts_for_who_is_away` (`wp_live_queue_reweigh`), `a_move_keeps_lag_and_slice`
 * (`wp_live_queue_place`, `wp_live_queue_start`, `wp_live_queue_stop`); all/queue_sleepers.rs:
 * `it_leaves_when_it_is_its_turn` (`wp_live_queue_retire`, `wp_live_queue_retire_one`);
 * all/policy_matrix.rs: `line_20_in_debt` (`wp_live_queue_holds`).
 *
 * Kernel: place_entity() as wp_live_queue_join(), entity_eligible(), update_deadline(),
 *         protect_slice() as wp_live_queue_protected_ns(), yield_task_fair() as wp_yield_task(),
 *         kernel/sched/fair.c
 * Tests: all/queue.rs
 */
#include "wakeplace/policy.h"

/*
 * The task joins the queue of `cpu`. A sleeper's debt is forgiven as far as its last queue has
 * caught up since, and wholly if that queue is empty.
 */
WP_INLINE void wp_live_queue_join(struct wp_ctx *ctx, struct wp_task *task, u32 cpu, u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	u64 lag = task->vq_lag_ns, rest = task->deadline_ns, caught;
	u32 load;

	if ((s64)lag < 0) {
		const struct wp_cpu *last = WP_AT(ctx->cpus, task->vtime_cpu);

		caught = last->live.vq_load ? wp_avg_vruntime(last, now_ns) - task->vtime_ns : 0;
		if ((s64)caught > (s64)lag)
			lag = (s64)caught > 0 ? 0 : caught;
	}
	wp_update_avg_vruntime(c, now_ns);
	load = c->live.vq_load;
	if (!load)
		lag = 0;
	else if (lag)
		WP_ADD(&c->live.vtime_now_ns, 0 - wp_live_queue_share(lag, task->weight, load));
	task->vtime_cpu = cpu;
	task->vtime_ns = c->live.vtime_now_ns - lag;
	if (!rest)
		rest = wp_live_queue_scale(wp_live_queue_slice_ns(ctx), task->weight);
	task->deadline_ns = task->vtime_ns + rest;
	task->vq_weight = task->weight;
	WP_ADD(&c->live.vq_load, task->weight);
}

/*
 * The deadline that a waiting task would have in the queue of `cpu`; the home inserts it by that.
 * Changes nothing: whether the task can be moved is known only afterwards.
 */
WP_FN u64 wp_live_queue_deadline_on(const struct wp_ctx *ctx WP_NONNULL,
				    const struct wp_task *task WP_NONNULL, u32 cpu, u64 now_ns)
{
	const struct wp_cpu *from = WP_AT(ctx->cpus, task->vtime_cpu);
	const struct wp_cpu *to = WP_AT(ctx->cpus, cpu);
	u64 lag = wp_avg_vruntime(from, now_ns) - task->vtime_ns,
	    mean = wp_avg_vruntime(to, now_ns);
	u32 load = to->live.vq_load; /* read once: it may become 0 */

	if ((s64)lag < 0 && from->live.vq_load <= task->vq_weight + from->live.vq_kept_load)
		lag = 0; /* nobody is awake there to whom it owes */
	lag = load ? wp_live_queue_clamp(lag, wp_live_queue_most_lag(ctx, task->weight)) : 0;
	mean -= load ? wp_live_queue_share(lag, task->weight, load) : 0;
	return mean - lag + (task->deadline_ns - task->vtime_ns);
}

/*
 * Has the queue of its previous CPU kept the task that wakes? Then it goes on there without a
 * choice. Placed like any other task it would wait wherever no CPU is idle, and pairs that wake
 * each other often would move from idle CPU to idle CPU (docs/rules/live-queue.md#vq-sleepers).
 */
WP_INLINE int wp_live_queue_holds(const struct wp_ctx *ctx, const struct wp_task *task,
				  const struct wp_request *req)
{
	return wp_live_queue_is_kept(ctx, task) && task->vtime_cpu == req->prev_cpu &&
	       WP_AT(ctx->cpus, req->prev_cpu)->queue.online && wp_allowed(task, req->prev_cpu);
}

/* A slice that is over is followed by the next. */
WP_INLINE void wp_update_deadline(const struct wp_ctx *ctx, struct wp_cpu *c, u64 curr)
{
	if (wp_live_queue_ahead(curr, c->live.curr_deadline_ns) >= 0)
		c->live.curr_deadline_ns = curr + wp_live_queue_scale(wp_live_queue_slice_ns(ctx),
								      c->queue.curr_weight);
}

/* The running task stops, for whatever reason. What it ran counts. */
WP_SMALL_FN int wp_live_queue_stop(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL,
				   u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, task->vtime_cpu);

	if (!task->vq_runs)
		return 0;
	task->vq_runs = 0;
	wp_update_avg_vruntime(c, now_ns);
	task->vtime_ns = wp_live_queue_curr(c, now_ns);
	wp_update_deadline(ctx, c, task->vtime_ns);
	task->deadline_ns = c->live.curr_deadline_ns;
	c->queue.curr_weight = 0;
	return 0;
}

/* It leaves its queue, to go to another one or to sleep, unless the queue keeps it. A sleeper comes
 * back with a new slice, the other one with the rest of this. */
WP_FN int wp_live_queue_leave(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL,
			      u32 sleeps, u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, task->vtime_cpu);
	u32 weight = task->vq_weight, load;
	u64 lag, rest;

	if (!weight)
		return 0;
	if (task->vq_place) {
		wp_delayed_part(ctx, task, now_ns);
		return 0;
	}
	task->woken_sync = 0; /* a wake-up by the target's list asks for no CPU */
	wp_live_queue_stop(ctx, task, now_ns);
	wp_update_avg_vruntime(c, now_ns);
	lag = c->live.vtime_now_ns - task->vtime_ns;
	rest = task->deadline_ns - task->vtime_ns;
	load = c->live.vq_load;
	if (load <= weight + c->live.vq_kept_load) { /* nobody is awake then */
		wp_delayed_drain(c);
		if (load <= weight || (s64)lag < 0)
			lag = 0;
	} else if (sleeps && (s64)lag < 0 && wp_delayed_keep(ctx, c, task)) {
		return 0;
	}
	wp_live_queue_without(c, weight, lag);
	wp_live_queue_left(ctx, task, lag, sleeps || (s64)rest <= 0 ? 0 : rest);
	return 0;
}

/* The weight of a task that is in no queue changes: what it is owed and its slice are run time. */
WP_INLINE void wp_live_queue_reweigh(struct wp_task *task, u32 weight)
{
	u64 lag = task->vq_lag_ns;

	if (task->vq_weight || !weight)
		return;
	task->vq_lag_ns = wp_live_queue_share(lag, task->weight, weight);
	task->vtime_ns += lag - task->vq_lag_ns;
	task->deadline_ns = wp_live_queue_share(task->deadline_ns, task->weight, weight);
}

/* Does the task stand in the queue of `cpu` with the weight that it has now? A sleeper that a queue
 * keeps does, too. */
WP_INLINE int wp_live_queue_stands(const struct wp_task *task, u32 cpu)
{
	return task->vq_weight == task->weight && task->vtime_cpu == cpu;
}

/* The task waits on `cpu` from now on: its place in that queue's order is deadline_ns. */
WP_FN int wp_live_queue_place(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL,
			      u32 cpu, u64 now_ns)
{
	if (wp_live_queue_goes_on(ctx, task, cpu, now_ns) || wp_live_queue_stands(task, cpu))
		return 0;
	wp_live_queue_leave(ctx, task, 0, now_ns);
	wp_live_queue_join(ctx, task, cpu, now_ns);
	return 0;
}

/* It begins to run on `cpu`, where it may have come past the queue (pulled, or from a queue for
 * all). */
WP_SMALL_FN int wp_live_queue_start(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL,
				    u32 cpu, u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, cpu);

	/* placed there already, as nearly always: a call that did nothing would cost more */
	if (task->vq_place || !wp_live_queue_stands(task, cpu))
		wp_live_queue_place(ctx, task, cpu, now_ns);
	c->live.curr_vtime_ns = task->vtime_ns;
	c->live.curr_deadline_ns = task->deadline_ns;
	c->live.curr_start_ns = now_ns;
	c->live.curr_protected_ns = wp_live_queue_slice_ns(ctx);
	c->live.vq_clock_ns = now_ns;
	c->queue.curr_idle_policy = task->idle_policy;
	c->queue.curr_weight = task->weight;
	task->vq_runs = 1;
	return 0;
}

/*
 * Is the waiting task owed time in the queue of `cpu`? A task that waits for a SCHED_IDLE one is.
 */
WP_FN int wp_entity_eligible(const struct wp_ctx *ctx WP_NONNULL,
			     const struct wp_task *task WP_NONNULL, u32 cpu, u64 now_ns)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);

	if (c->queue.curr_weight && c->queue.curr_idle_policy && !task->idle_policy)
		return 1;
	return wp_live_queue_ahead(wp_avg_vruntime(c, now_ns), task->vtime_ns) >= 0;
}

/* What the running task of `c` has yet to run until it has run a slice since it was chosen, or as
 * long as a waker may. Until then it keeps the CPU if it is owed time
 * (docs/rules/live-queue.md#vq-protected). */
WP_INLINE u64 wp_live_queue_protected_ns(const struct wp_cpu *c, u64 now_ns)
{
	return wp_sub(c->live.curr_protected_ns, wp_sub(now_ns, c->live.curr_start_ns));
}

/* Has the running task, at virtual time `curr`, had its share? While it is protected: if `curr` is
 * ahead of V. Later: also if `curr` is level with V, since it would be ahead a moment later. */
WP_INLINE int wp_live_queue_had_share(const struct wp_cpu *c, u64 curr, u64 protected_ns,
				      u64 now_ns)
{
	return wp_live_queue_ahead(curr, wp_avg_vruntime(c, now_ns)) >= (protected_ns ? 1 : 0);
}

/*
 * A synchronous wake-up: may the running task of `c` go on, whatever it owes? For vq_sync_run_ns
 * since it was chosen, or its slice if that is shorter; and it is protected for no longer
 * (docs/rules/live-queue.md#vq-sync).
 */
WP_INLINE int wp_live_queue_lets_waker(const struct wp_ctx *ctx, struct wp_cpu *c, u64 now_ns)
{
	if (!ctx->params.vq_sync_run_ns)
		return 0;
	c->live.curr_protected_ns =
		wp_min64(c->live.curr_protected_ns, ctx->params.vq_sync_run_ns);
	return wp_live_queue_protected_ns(c, now_ns) > 0;
}

/*
 * Should the waiting task preempt the running task of `cpu`? Not while the running task is owed
 * time and is protected or due before it; nor, at a synchronous wake-up, while the waker may go on.
 * Nor if one of the first that wait goes before it (queue_walk.c).
 */
WP_SMALL_FN int wp_live_queue_preempts(struct wp_ctx *ctx WP_NONNULL,
				       const struct wp_task *task WP_NONNULL, u32 cpu, u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	u64 curr, protected_ns, deadline = c->live.curr_deadline_ns;

	if (!c->queue.curr_weight)
		return 0;
	if (c->queue.curr_idle_policy != task->idle_policy)
		return (int)c->queue.curr_idle_policy;
	if (task->woken_sync && wp_live_queue_lets_waker(ctx, c, now_ns))
		return 0;
	if (!wp_entity_eligible(ctx, task, cpu, now_ns) ||
	    wp_live_queue_sleeper_before(c, task->deadline_ns, now_ns))
		return 0;
	curr = wp_live_queue_curr(c, now_ns);
	protected_ns = wp_live_queue_protected_ns(c, now_ns);
	if (wp_live_queue_had_share(c, curr, protected_ns, now_ns))
		return 1;
	if (wp_live_queue_ahead(curr, deadline) >= 0)
		deadline = curr +
			   wp_live_queue_scale(wp_live_queue_slice_ns(ctx), c->queue.curr_weight);
	else if (protected_ns)
		return 0;
	return wp_live_queue_ahead(deadline, task->deadline_ns) >= 0;
}

/* Does `first`, which waits already, go before a task with this deadline in the queue of `cpu`? 1:
 * yes. 0: it is not eligible. -1: its deadline is later, as are those of all behind it. */
WP_FN int wp_live_queue_before(const struct wp_ctx *ctx WP_NONNULL,
			       const struct wp_task *first WP_NONNULL, u64 deadline_ns, u32 cpu,
			       u64 now_ns)
{
	if (wp_live_queue_ahead(first->deadline_ns, deadline_ns) > 0)
		return -1;
	return wp_entity_eligible(ctx, first, cpu, now_ns);
}

/* Run time until the running task is ahead of V while others count in V, ns. */
WP_INLINE u64 wp_live_queue_owed_ns(const struct wp_cpu *c, u64 curr, u64 now_ns)
{
	u64 weight = c->queue.curr_weight, load = c->live.vq_load;
	u64 owed = wp_avg_vruntime(c, now_ns) - curr;

	if ((s64)owed <= 0 || load <= weight)
		return 0;
	return wp_div(wp_div(owed * weight, WP_SCALE) * load, load - weight) +
	       WP_LIVE_QUEUE_ROUNDING_NS;
}

/*
 * How long the running task of `cpu` keeps it while others wait, ns: to the end of its slice; less
 * if it is protected no longer and has had its share by then.
 */
WP_FN u64 wp_slice_left_ns(const struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 now_ns)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	u64 curr = wp_live_queue_curr(c, now_ns);
	u64 rest = c->live.curr_deadline_ns - curr;

	if (!c->queue.curr_weight || (s64)rest <= 0)
		return 0;
	rest = wp_div(rest * c->queue.curr_weight + WP_SCALE - 1, WP_SCALE);
	if (c->live.vq_load <= c->queue.curr_weight)
		return rest;
	return wp_min64(rest, wp_max64(wp_live_queue_protected_ns(c, now_ns),
				       wp_live_queue_owed_ns(c, curr, now_ns)));
}

/*
 * sched_yield: the running task of `cpu` lets others go first. If it is owed time, the rest of its
 * slice counts as run (docs/rules/queues.md#eevdf). Returns 0, and nothing has happened, if it is
 * alone: not even a sleeper is kept that could have its turn.
 */
WP_FN int wp_yield_task(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u32 nr_waiting, u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	u64 curr = wp_live_queue_curr(c, now_ns), rest;

	if (!nr_waiting && !c->live.vq_kept_load)
		return 0;
	if (!c->queue.curr_weight)
		return 1;
	wp_update_avg_vruntime(c, now_ns);
	wp_update_deadline(ctx, c, curr);
	if (wp_live_queue_ahead(curr, c->live.vtime_now_ns) > 0)
		return 1;
	rest = c->live.curr_deadline_ns - curr;
	c->live.curr_vtime_ns += rest;
	c->live.curr_deadline_ns +=
		wp_live_queue_scale(wp_live_queue_slice_ns(ctx), c->queue.curr_weight);
	WP_ADD(&c->live.vtime_now_ns,
	       wp_live_queue_share(rest, c->queue.curr_weight, wp_max(c->live.vq_load, 1)));
	return 1;
}

/* V is up to date. One sleeper that is due leaves, unless it is behind one that is eligible and has
 * this deadline (`bounded`), or behind the running task. Returns 0 if none does. */
WP_INLINE int wp_live_queue_retire_one(const struct wp_ctx *ctx, struct wp_cpu *c, u32 bounded,
				       u64 bound, u64 now_ns)
{
	u64 curr = wp_live_queue_curr(c, now_ns);

	if (c->queue.curr_weight && wp_live_queue_ahead(c->live.vtime_now_ns, curr) >= 0) {
		wp_update_deadline(ctx, c, curr);
		if (!bounded || wp_live_queue_ahead(c->live.curr_deadline_ns, bound) < 0)
			bound = c->live.curr_deadline_ns;
		bounded = 1;
	}
	return wp_live_queue_let_first_go(c, bounded, bound);
}

/*
 * The CPU looks for its next task: `next` is the first that waits and is eligible, or else the
 * first. If it is a sleeper's turn before that, it leaves, and 1 is returned: V has grown, another
 * one may be the next, and the home asks again.
 */
WP_FN int wp_live_queue_retire(struct wp_ctx *ctx WP_NONNULL, const struct wp_task *next WP_NONNULL,
			       u32 cpu, u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	u32 bounded;

	if (!c->live.vq_kept_load)
		return 0;
	wp_update_avg_vruntime(c, now_ns);
	bounded = (u32)wp_entity_eligible(ctx, next, cpu, now_ns);
	return wp_live_queue_retire_one(ctx, c, bounded, next->deadline_ns, now_ns);
}

/*
 * The running task of `cpu` goes on, since nobody who waits is due before it. If it has had its
 * slice, its next one begins. If somebody is awake beside it, it has been chosen anew. Sleepers
 * whose turn it is leave: nobody else looks for them while the task runs alone. Returns 0.
 */
WP_FN int wp_live_queue_go_on(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	u64 curr;
	u32 i;

	wp_update_avg_vruntime(c, now_ns);
	if (!c->queue.curr_weight)
		return 0;
	curr = wp_live_queue_curr(c, now_ns);
	wp_update_deadline(ctx, c, curr);
	if (c->live.vq_load > c->queue.curr_weight + c->live.vq_kept_load) {
		c->live.curr_vtime_ns = curr;
		c->live.curr_start_ns = now_ns;
		c->live.curr_protected_ns = wp_live_queue_slice_ns(ctx);
	}
	if (!c->live.vq_kept_load)
		return 0;
	WP_FOR(i, WP_LIVE_QUEUE_SLEEPERS, WP_LIVE_QUEUE_SLEEPERS)
		if (!wp_live_queue_retire_one(ctx, c, 0, 0, now_ns))
			break;
	return 0;
}

/* At the tick, or at its timer: has the running task of `cpu` had its slice while others wait? */
WP_FN int wp_live_queue_expired(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u32 nr_waiting, u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, cpu);

	if (!nr_waiting)
		return wp_live_queue_go_on(ctx, cpu, now_ns);
	wp_update_avg_vruntime(c, now_ns);
	return c->queue.curr_weight && !wp_slice_left_ns(ctx, cpu, now_ns);
}

/*
 * The CPU looks at its queue while its task could go on: is the waiting one, the first that is
 * eligible, due before it? A SCHED_IDLE task always gives way.
 */
WP_FN int wp_live_queue_yields(struct wp_ctx *ctx WP_NONNULL,
			       const struct wp_task *first WP_NONNULL, u32 cpu, u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	u64 curr = wp_live_queue_curr(c, now_ns);

	wp_update_avg_vruntime(c, now_ns);
	wp_update_deadline(ctx, c, curr);
	if (!wp_entity_eligible(ctx, first, cpu, now_ns))
		return 0;
	return c->queue.curr_idle_policy ||
	       wp_live_queue_had_share(c, curr, wp_live_queue_protected_ns(c, now_ns),
				       now_ns) ||
	       wp_live_queue_ahead(c->live.curr_deadline_ns, first->deadline_ns) >= 0;
}
