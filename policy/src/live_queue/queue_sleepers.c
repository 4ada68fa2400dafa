// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Sleepers that a live queue (queue.c) keeps. A task that falls asleep after more than its share
 * goes on counting in V, so that sleep does not cancel its debt. It wakes on its CPU, without a
 * choice (DELAY_DEQUEUE; docs/rules/queues.md#eevdf). It leaves when the queue would run it: when
 * it is eligible and no eligible task has an earlier deadline, or when no task is awake there.
 *
 * sched_ext has dequeued it. So, unlike in delayed.c, it counts in virtual time alone, not in
 * signals, counts or the home's queue. Each CPU has WP_LIVE_QUEUE_SLEEPERS places; a sleeper that
 * finds none leaves with its debt. A place is filled under the queue's lock, by the CPU that puts
 * the task to sleep. It is freed by the CPU that takes the name out of it: the same one, one that
 * wakes the task for another CPU, or one that pulls the last waiting task.
 *
 * What must stay: who takes a name out of its place frees it, once; places are few and a task
 * without one just leaves. Free: how many places there are.
 *
 * Tests by part: (below crates/policy-sys/tests) all/queue_sleepers.rs:
 * `a_debtor_counts_while_it_sleeps` (`wp_delayed_keep`, `wp_live_queue_goes_on`,
 * `wp_live_queue_is_kept`), `it_leaves_when_it_is_its_turn` (`wp_live_queue_let_first_go`,
 * `wp_live_queue_let_go`, `wp_live_queue_is_due`), `a_wakeup_does_not_preempt_before_it`
 * (`wp_live_queue_sleeper_before`, `wp_live_queue_due_before`),
 * `each_that_leaves_may_make_another_one_due`, `all_debts_end_when_nobody_is_awake`
 * (`wp_delayed_drain`, `wp_live_queue_let_all_go`), `it_takes_its_debt_along` (`wp_delayed_part`,
 * `wp_live_queue_unkeep`), `who_finds_no_place_leaves_with_its_debt`,
 * `v_is_the_mean_of_all_that_are_kept` (`wp_live_queue_unseen`).
 *
 * Callers: queue.c.
 *
 * Tests: all/queue_sleepers.rs
 */
#include "wakeplace/policy.h"

/* Is its place still its own? */
WP_INLINE int wp_live_queue_is_kept(const struct wp_ctx *ctx, const struct wp_task *task)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, task->vtime_cpu);

	return task->vq_place && WP_AT(c->live.vq_sleepers, task->vq_place - 1)->task == task->id;
}

/* Task `id` no longer sleeps. Returns its weight, or 0 if another task has its place by now. */
WP_INLINE u32 wp_live_queue_unkeep(struct wp_cpu *c, struct wp_live_queue_sleeper *s, u32 id)
{
	u32 weight = s->weight; /* after the name: it is that one's, or the place is lost */

	if (!id || WP_CAS(&s->task, id, 0) != id)
		return 0;
	WP_ADD(&c->live.vq_kept_load, 0 - weight);
	return weight;
}

/* It falls asleep in debt, having been stopped, while others are awake. Returns 1 if it is kept. */
WP_INLINE int wp_delayed_keep(const struct wp_ctx *ctx, struct wp_cpu *c, struct wp_task *task)
{
	u32 i;

	if (!ctx->params.delay_dequeue)
		return 0;
	WP_FOR(i, WP_LIVE_QUEUE_SLEEPERS, WP_LIVE_QUEUE_SLEEPERS) {
		struct wp_live_queue_sleeper *s = WP_AT(c->live.vq_sleepers, i);

		if (s->task)
			continue;
		s->vtime_ns = task->vtime_ns;
		s->deadline_ns = task->deadline_ns;
		s->weight = task->vq_weight;
		WP_ADD(&c->live.vq_kept_load, task->vq_weight);
		(void)WP_SWAP(&s->task, task->id);
		task->vq_place = i + 1;
		return 1;
	}
	return 0;
}

/* The sleeper leaves the queue. */
WP_INLINE void wp_live_queue_let_go(struct wp_cpu *c, struct wp_live_queue_sleeper *s, u64 lag)
{
	u32 weight;

	if (!s->task)
		return;
	weight = wp_live_queue_unkeep(c, s, WP_CAS(&s->task, 0, 0)); /* who it is, read in order */
	if (weight)
		wp_live_queue_without(c, weight, lag);
}

/*
 * What a walk over the places has yet to find: all sleepers' weight at first, less that of each it
 * comes across. At 0 it has seen them all; mostly there is one, in the first place. The load counts
 * a sleeper before the place names it and until it no longer does, so that none is missed.
 */
WP_INLINE u32 wp_live_queue_unseen(const struct wp_live_queue_sleeper *s, u32 unseen)
{
	return s->task ? (u32)wp_sub(unseen, s->weight) : unseen;
}

/* Lets all sleepers that the CPU's queue keeps leave. */
WP_FN int wp_live_queue_let_all_go(struct wp_cpu *c WP_NONNULL)
{
	u32 i, unseen = c->live.vq_kept_load;

	WP_FOR(i, WP_LIVE_QUEUE_SLEEPERS, WP_LIVE_QUEUE_SLEEPERS) {
		struct wp_live_queue_sleeper *s = WP_AT(c->live.vq_sleepers, i);

		unseen = wp_live_queue_unseen(s, unseen);
		wp_live_queue_let_go(c, s, 0);
		if (!unseen)
			break;
	}
	return 0;
}

/* No task of the queue is awake any more: all debts are forgiven. */
WP_INLINE void wp_delayed_drain(struct wp_cpu *c)
{
	if (c->live.vq_kept_load)
		wp_live_queue_let_all_go(c);
}

/* Is the sleeper due, and, if `bounded`, no later than `bound`? */
WP_INLINE int wp_live_queue_is_due(const struct wp_live_queue_sleeper *s, u64 mean_ns, u32 bounded,
				   u64 bound)
{
	return s->task && wp_live_queue_ahead(mean_ns, s->vtime_ns) >= 0 &&
	       (!bounded || wp_live_queue_ahead(s->deadline_ns, bound) <= 0);
}

/* Is a sleeper due no later than this deadline? */
WP_FN int wp_live_queue_due_before(const struct wp_cpu *c WP_NONNULL, u64 deadline_ns, u64 now_ns)
{
	u32 i, unseen = c->live.vq_kept_load;
	u64 mean = wp_avg_vruntime(c, now_ns);
	int before = 0;

	WP_FOR(i, WP_LIVE_QUEUE_SLEEPERS, WP_LIVE_QUEUE_SLEEPERS) {
		const struct wp_live_queue_sleeper *s = WP_AT(c->live.vq_sleepers, i);

		before |= wp_live_queue_is_due(s, mean, 1, deadline_ns);
		unseen = wp_live_queue_unseen(s, unseen);
		if (!unseen)
			break;
	}
	return before;
}

/* Is it the turn of a sleeper before that of one with this deadline? */
WP_INLINE int wp_live_queue_sleeper_before(const struct wp_cpu *c, u64 deadline_ns, u64 now_ns)
{
	return c->live.vq_kept_load && wp_live_queue_due_before(c, deadline_ns, now_ns);
}

/* V is up to date. Of those that are due the earliest leaves; what it is owed by now is forgotten:
 * V grows, and others may be due. Returns 0 if none is. */
WP_FN int wp_live_queue_let_first_go(struct wp_cpu *c WP_NONNULL, u32 bounded, u64 bound)
{
	u64 mean = c->live.vtime_now_ns, earliest = 0;
	u32 i, first = WP_NONE, unseen = c->live.vq_kept_load;
	struct wp_live_queue_sleeper *s;

	WP_FOR(i, WP_LIVE_QUEUE_SLEEPERS, WP_LIVE_QUEUE_SLEEPERS) {
		s = WP_AT(c->live.vq_sleepers, i);
		unseen = wp_live_queue_unseen(s, unseen);
		if (wp_live_queue_is_due(s, mean, bounded, bound) &&
		    (first == WP_NONE || wp_live_queue_ahead(s->deadline_ns, earliest) < 0)) {
			first = i;
			earliest = s->deadline_ns;
		}
		if (!unseen)
			break;
	}
	if (first == WP_NONE)
		return 0;
	s = WP_AT(c->live.vq_sleepers, first);
	wp_live_queue_let_go(c, s, mean - s->vtime_ns);
	return 1;
}

/* A sleeper that was kept leaves with its debt, or has left without one before. */
WP_FN int wp_delayed_part(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL,
			  u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, task->vtime_cpu);
	u32 weight;
	u64 lag = 0;

	wp_update_avg_vruntime(c, now_ns);
	weight = wp_live_queue_unkeep(c, WP_AT(c->live.vq_sleepers, task->vq_place - 1), task->id);
	if (weight) {
		lag = c->live.vtime_now_ns - task->vtime_ns;
		wp_live_queue_without(c, weight, lag);
	}
	wp_live_queue_left(ctx, task, (s64)lag < 0 ? lag : 0, 0);
	return 0;
}

/* A sleeper that was kept wakes, to run on `cpu`. Returns 1 if it goes on where it is, as it was.
 * What the queue may owe it by now is forgotten. */
WP_INLINE int wp_live_queue_goes_on(struct wp_ctx *ctx, struct wp_task *task, u32 cpu, u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, task->vtime_cpu);

	if (!task->vq_place)
		return 0;
	wp_update_avg_vruntime(c, now_ns);
	if (cpu == task->vtime_cpu && task->vq_weight == task->weight &&
	    wp_live_queue_ahead(task->vtime_ns, c->live.vtime_now_ns) >= 0 &&
	    wp_live_queue_unkeep(c, WP_AT(c->live.vq_sleepers, task->vq_place - 1), task->id)) {
		task->vq_place = 0;
		return 1;
	}
	wp_delayed_part(ctx, task, now_ns);
	return 0;
}
