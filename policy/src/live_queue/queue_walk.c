// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Looks at the tasks that wait on a CPU, as begin, offer and end: who runs next there, and whether
 * a task that has just joined them runs at once. The home walks over the first that wait, in the
 * order of deadline_ns, offers each, and does what it is told (docs/rules/live-queue.md#vq-pick,
 * docs/rules/live-queue.md#vq-preempt).
 *
 * What must stay: begin, offers in the order of deadlines, end; the home stops when told, and does
 * nothing in between. Free: how many are looked at (WP_LIVE_QUEUE_LOOKS).
 *
 * Tests by part: (below crates/policy-sys/tests) all/queue_walk.rs:
 * `the_first_that_is_owed_time_is_taken` (`wp_pick_offer`), `a_walk_begins_where_there_is_a_choice`
 * (`wp_pick_begin`), `a_sleepers_turn_begins_the_walk_anew` (`wp_pick_end`),
 * `only_the_first_are_looked_at`, `before_a_lone_one_sleepers_leave_as_in_a_walk` (`wp_pick_lone`),
 * `a_task_of_one_cpu_is_the_next` (`wp_live_queue_is_next`),
 * `who_waits_and_is_due_first_keeps_another_from_preempting` (`wp_preempt_begin`,
 * `wp_preempt_offer`, `wp_preempt_end`).
 *
 * Callers: crates/scx/src/bpf/queue.bpf.h and the simulator's live queue
 * (crates/engine/src/kernel/model/home/live.rs), in one order.
 *
 * Kernel: pick_eevdf() as wp_pick_offer(), wakeup_preempt_fair() as wp_preempt_begin(),
 *         kernel/sched/fair.c
 * Tests: all/queue_walk.rs
 */
#include "wakeplace/policy.h"

/*
 * The CPU looks for its next task, or (`runs`) whether its own goes on. Of nr_waiting tasks one is
 * the next. 0: there is nothing to choose. The own task goes on then, or the first that waits runs.
 */
WP_FN int wp_pick_begin(const struct wp_ctx *ctx WP_NONNULL, struct wp_queue_walk *walk WP_NONNULL,
			u32 nr_waiting)
{
	u32 kept = WP_AT(ctx->cpus, walk->cpu)->live.vq_kept_load;

	walk->looks = WP_LIVE_QUEUE_LOOKS;
	walk->state = WP_WALK_NOBODY;
	return nr_waiting > 1 || (nr_waiting && (walk->runs || kept));
}

/*
 * May this waiting task run next? The first that is eligible is the one; if (`runs`) it is not due
 * before the running one, nobody is. If it is a sleeper's turn before that, the sleeper leaves: V
 * has grown, another task may be the first.
 */
WP_FN int wp_pick_offer(struct wp_ctx *ctx WP_NONNULL, struct wp_queue_walk *walk WP_NONNULL,
			const struct wp_task *task WP_NONNULL)
{
	u32 cpu = walk->cpu;
	u64 now_ns = walk->now_ns;

	if (!walk->looks)
		return WP_OFFER_STOP;
	walk->looks--;
	if (!wp_entity_eligible(ctx, task, cpu, now_ns))
		return WP_OFFER_SKIP;
	if (WP_AT(ctx->cpus, cpu)->live.vq_kept_load &&
	    wp_live_queue_retire(ctx, task, cpu, now_ns)) {
		walk->state = WP_WALK_AGAIN;
		return WP_OFFER_STOP;
	}
	walk->state = WP_WALK_KNOWN;
	return !walk->runs || wp_live_queue_yields(ctx, task, cpu, now_ns) ? WP_OFFER_TAKE
									   : WP_OFFER_STOP;
}

/*
 * The walk is over. 1: begin anew, for a sleeper has left the queue. 0: what was taken runs; if
 * nothing was, the own task goes on, or without one the first that waits runs.
 */
WP_FN int wp_pick_end(struct wp_ctx *ctx WP_NONNULL, const struct wp_queue_walk *walk WP_NONNULL)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, walk->cpu);

	if (walk->state != WP_WALK_NOBODY)
		return walk->state == WP_WALK_AGAIN;
	if (walk->looks == WP_LIVE_QUEUE_LOOKS || !c->live.vq_kept_load)
		return 0;
	wp_update_avg_vruntime(c, walk->now_ns);
	return wp_live_queue_retire_one(ctx, c, 0, 0, walk->now_ns);
}

/* `task` joins those that wait on a CPU. 0: it does not run at once. 1: it does, unless one of them
 * goes before it: they are offered, without itself. */
WP_SMALL_FN int wp_preempt_begin(struct wp_ctx *ctx WP_NONNULL,
				 struct wp_queue_walk *walk WP_NONNULL,
				 const struct wp_task *task WP_NONNULL)
{
	walk->looks = WP_LIVE_QUEUE_LOOKS;
	walk->state = WP_WALK_NOBODY;
	walk->deadline_ns = task->deadline_ns;
	return wp_live_queue_preempts(ctx, task, walk->cpu, walk->now_ns);
}

/* Does this one go before it? Those behind a later deadline do not. */
WP_FN int wp_preempt_offer(const struct wp_ctx *ctx WP_NONNULL,
			   struct wp_queue_walk *walk WP_NONNULL,
			   const struct wp_task *first WP_NONNULL)
{
	int before;

	if (!walk->looks)
		return WP_OFFER_STOP;
	walk->looks--;
	before = wp_live_queue_before(ctx, first, walk->deadline_ns, walk->cpu, walk->now_ns);
	if (before > 0)
		walk->state = WP_WALK_KNOWN;
	return before ? WP_OFFER_STOP : WP_OFFER_SKIP;
}

/* Does the task run at once? */
WP_SMALL_FN int wp_preempt_end(const struct wp_queue_walk *walk WP_NONNULL)
{
	return walk->state != WP_WALK_KNOWN;
}

/*
 * `task` joins those that wait on a CPU where another one runs; nr_waiting others wait. Is it the
 * next one there, whoever joins them later? Then the home may put it ahead of its queue, where no
 * walk looks at it. Its waker is about to sleep, and leaves it the CPU. Without that, one of 160
 * tasks on one CPU waited 40 % longer (99th percentile). Nobody else can run a task that has one
 * CPU; any other may be wanted by a CPU that runs out of work.
 */
WP_SMALL_FN int wp_live_queue_is_next(const struct wp_ctx *ctx WP_NONNULL,
				      const struct wp_task *task WP_NONNULL, u32 cpu,
				      u32 nr_waiting)
{
	return !nr_waiting && task->nr_allowed == 1 && !task->idle_policy && task->woken_sync &&
	       ctx->params.vq_sync_run_ns && WP_AT(ctx->cpus, cpu)->queue.curr_weight;
}

/*
 * The only one that waited is about to run on `cpu`: no walk was needed to find it, but sleepers
 * whose turn came before leave the queue, as in a walk.
 */
WP_SMALL_FN int wp_pick_lone(struct wp_ctx *ctx WP_NONNULL, const struct wp_task *task WP_NONNULL,
			     u32 cpu, u64 now_ns)
{
	u32 i;

	if (!WP_AT(ctx->cpus, cpu)->live.vq_kept_load)
		return 0;
	WP_FOR(i, WP_LIVE_QUEUE_SLEEPERS, WP_LIVE_QUEUE_SLEEPERS)
		if (!wp_live_queue_retire(ctx, task, cpu, now_ns))
			break;
	return 0;
}
