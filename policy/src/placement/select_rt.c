// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Where RT and deadline tasks go (docs/rules/rt-and-deadline.md#rt-placement): the previous CPU if
 * no task there goes before them, else the CPU whose tasks have the lowest priority. The same holds
 * when a waiting task is pushed to another CPU, and when a CPU whose tasks now have a lower
 * priority pulls one.
 *
 *   level of a CPU's first RT or deadline task:  0 none | 1..99 RT | above: dl, earlier higher
 *
 * Of the CPUs on which the task would run that of the lowest rank is taken, then of the lowest
 * level, then the nearest: the previous CPU, then its domains from the lowest up, in each the
 * deciding CPU first. Fitness counts from 5.7 on (deadline: 5.9), where capacities differ:
 *
 *   rank of a CPU    RT task         deadline task
 *   0                it fits         no deadline task is there, it fits
 *   1..1025          it does not: 1  no deadline task is there, it does not fit: the larger first
 *   WP_RANK_DL_BUSY                  deadline tasks are there: fitness does not count
 *
 * An RT task that looks elsewhere only because it does not fit the previous CPU stays there unless
 * it fits the one found. A deadline task moves to a larger CPU all the same.
 *
 * What must stay: of equal ranks the lower level, then the nearer; WP_NONE: it would run at once
 * nowhere. Free: ranks and their order, with the page and both classes in mind.
 *
 * Tests by part: (below crates/policy-sys/tests; `every_fixture_holds` runs the fixtures)
 * all/classes.rs: `rt_goes_to_the_lowest` (`wp_select_task_rq_rt`, `wp_find_lowest_rq`),
 * `rt_finds_the_lowest_without_domains` (`wp_nearest_best`, `wp_is_best`),
 * `deadline_tasks_displace_the_latest` (`wp_level_seen`, `wp_prev_is_taken`),
 * `big_tasks_go_to_big_cpus` (`wp_class_fits`, `wp_rank`),
 * `rt_does_not_move_from_one_small_cpu_to_another` (`wp_moves_for_nothing`),
 * `deadline_tasks_go_to_free_cpus_first` (`wp_unsuited`, `wp_suits_less`),
 * `pull_the_highest_that_waits` (`wp_class_pull_cpu`), `who_is_about_to_run_is_not_pulled`
 * (`wp_is_about_to_run`); fixtures/class: rt-*.toml, deadline-*.toml. `wp_class_push_cpu` and
 * `wp_rank_drop` have no unit test of their own: engine/tests/behaviour/classes.rs runs the former,
 * `explain` shows the latter.
 *
 * Callers: crates/policy-sys/src/classes.rs (`select_class`, `class_push_cpu`, `class_pull_cpu`).
 *
 * Kernel: select_task_rq_rt(), find_lowest_rq(), rt_task_fits_capacity() as wp_class_fits(),
 *         pull_rt_task() as wp_class_pull_cpu(), kernel/sched/rt.c; select_task_rq_dl() as
 *         wp_select_task_rq_rt(), find_later_rq() as wp_find_lowest_rq(), kernel/sched/deadline.c
 * Tests: fixtures/class, all/classes.rs
 */
#include "wakeplace/policy.h"

/* Does the task fit the CPU? RT: its hint, by default all there is. Deadline: it can do its runtime
 * within its deadline at the CPU's capacity. */
WP_INLINE int wp_class_fits(const struct wp_ctx *ctx, const struct wp_task *task,
			    const struct wp_class_task *ct, u32 cpu)
{
	u32 capacity = WP_AT(ctx->cpus, cpu)->load.capacity_orig;

	if (!ctx->params.rt_fits || !ctx->asym)
		return 1;
	if (ct->class == WP_CLASS_DL)
		return (ct->dl_deadline_ns * capacity) >> 10 >= ct->dl_runtime_ns;
	if (!ctx->params.uclamp)
		return 1;
	return capacity >= wp_min(task->uclamp_min, task->uclamp_max);
}

/* A CPU's level as this task sees it: deadline tasks look at their like only. */
WP_INLINE u64 wp_level_seen(const struct wp_ctx *ctx, const struct wp_class_task *ct, u32 cpu)
{
	u64 level = WP_AT(ctx->cpus, cpu)->queue.classes.level;

	return ct->class == WP_CLASS_DL && level <= WP_RT_PRIO_MAX ? 0 : level;
}

/* How little a CPU suits the task: see the head of this file. */
struct wp_unsuited {
	u64 level;
	u32 rank;
};

#define WP_RANK_DL_BUSY (2 * WP_SCALE) /* above those of free CPUs */
#define WP_RANK_NONE (~0u) /* the task would not run there */

/* Is `a` worse than `b`? By rank, then by level. */
WP_INLINE int wp_suits_less(const struct wp_unsuited *a, const struct wp_unsuited *b)
{
	return a->rank != b->rank ? a->rank > b->rank : a->level > b->level;
}

/* How little a CPU suits: 0 best, WP_RANK_NONE: not at all. */
WP_INLINE u32 wp_rank(const struct wp_ctx *ctx, const struct wp_task *task,
		      const struct wp_class_task *ct, u32 cpu, u64 level)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	int deadline = ct->class == WP_CLASS_DL;

	if (!wp_allowed(task, cpu) || !c->queue.online || level >= wp_class_level(ct))
		return WP_RANK_NONE;
	if (deadline && level)
		return WP_RANK_DL_BUSY;
	if (wp_class_fits(ctx, task, ct, cpu))
		return 0;
	return deadline ? 1 + (u32)wp_sub(WP_SCALE, c->load.capacity_orig) : 1;
}

/* Rank and level of a CPU. */
WP_INLINE struct wp_unsuited wp_unsuited(const struct wp_ctx *ctx, const struct wp_task *task,
					 const struct wp_class_task *ct, u32 cpu)
{
	struct wp_unsuited u = { wp_level_seen(ctx, ct, cpu), 0 };

	u.rank = wp_rank(ctx, task, ct, cpu, u.level);
	return u;
}

/* Is the CPU as good as the best one found? */
WP_INLINE int wp_is_best(const struct wp_ctx *ctx, const struct wp_task *task,
			 const struct wp_class_task *ct, u32 cpu, const struct wp_unsuited *best)
{
	struct wp_unsuited u = wp_unsuited(ctx, task, ct, cpu);

	return u.rank != WP_RANK_NONE && !wp_suits_less(&u, best);
}

/* The nearest to `prev` of those that suit best. */
WP_FN u32 wp_nearest_best(const struct wp_ctx *ctx WP_NONNULL,
			  const struct wp_task *task WP_NONNULL,
			  const struct wp_class_task *ct WP_NONNULL, u32 this_cpu,
			  const struct wp_unsuited *best WP_NONNULL)
{
	const struct wp_cpu *prev = WP_AT(ctx->cpus, task->cpu);
	u32 level, i;

	if (wp_is_best(ctx, task, ct, task->cpu, best))
		return task->cpu;
	WP_FOR(level, prev->topo.nr_levels, WP_MAX_LEVELS) {
		const struct wp_sched_domain *dom = WP_AT(ctx->doms, *WP_AT(prev->topo.dom, level));

		if (wp_span_has(dom, this_cpu) && wp_is_best(ctx, task, ct, this_cpu, best))
			return this_cpu;
		WP_FOR(i, dom->nr_cpus, WP_MAX_CPUS) {
			u32 cpu = *WP_AT(ctx->list, dom->first_cpu + i);

			if (wp_is_best(ctx, task, ct, cpu, best))
				return cpu;
		}
	}
	WP_FOR(i, ctx->nr_cpus, WP_MAX_CPUS) { /* outside all domains */
		if (wp_is_best(ctx, task, ct, i, best))
			return i;
	}
	return WP_NONE;
}

/* Why a CPU of this rank is not taken, if it is not (enum wp_drop). */
WP_INLINE u32 wp_rank_drop(u32 rank)
{
	return rank && rank < WP_RANK_DL_BUSY ? WP_DROP_UNFIT : WP_DROP_OUTRANKED;
}

/* The CPU whose tasks matter least to this one; WP_NONE: it would run nowhere. */
WP_INLINE u32 wp_find_lowest_rq(const struct wp_ctx *ctx, const struct wp_task *task,
				const struct wp_class_task *ct, u32 this_cpu)
{
	struct wp_unsuited best = { 0, WP_RANK_NONE };
	u32 i;

	WP_FOR(i, ctx->nr_cpus, WP_MAX_CPUS) {
		struct wp_unsuited u = wp_unsuited(ctx, task, ct, i);

		if (wp_allowed(task, i))
			WP_EXPLAIN(ctx, wp_drop(ctx, i, wp_rank_drop(u.rank)));
		if (wp_suits_less(&best, &u))
			best = u;
	}
	if (best.rank == WP_RANK_NONE)
		return WP_NONE;
	return wp_nearest_best(ctx, task, ct, this_cpu, &best);
}

/* May it not run on prev, or does an RT or deadline task run there that goes before it or could go
 * nowhere else? */
WP_INLINE int wp_prev_is_taken(const struct wp_ctx *ctx, const struct wp_task *task,
			       const struct wp_class_task *ct, u32 prev)
{
	u64 level = wp_level_seen(ctx, ct, prev);

	return !wp_allowed(task, prev) || level >= wp_class_level(ct) ||
	       (level && WP_AT(ctx->cpus, prev)->queue.classes.curr_pinned);
}

/* It would move only because prev is too small: is `low` too small as well? */
WP_INLINE int wp_moves_for_nothing(const struct wp_ctx *ctx, const struct wp_task *task,
				   const struct wp_class_task *ct, u32 low)
{
	return ct->class == WP_CLASS_RT && low != WP_NONE && !wp_class_fits(ctx, task, ct, low);
}

/* Choose a CPU for an RT or deadline task that wakes or was forked; fills `dec`. */
WP_FN int wp_select_task_rq_rt(struct wp_ctx *ctx WP_NONNULL, const struct wp_task *task WP_NONNULL,
			       const struct wp_class_task *ct WP_NONNULL,
			       const struct wp_request *req WP_NONNULL,
			       struct wp_decision *dec WP_NONNULL)
{
	u32 low, taken = wp_prev_is_taken(ctx, task, ct, req->prev_cpu);

	dec->nr_candidates = 0;
	dec->nr_scanned = 0;
	dec->nr_idlest_cpus = 0;
	dec->scan_left = WP_NONE;
	dec->scan_spare = WP_NONE;
	dec->rule = WP_RULE_CLASS;
	dec->cpu = req->prev_cpu;
	if (task->nr_allowed == 1) {
		if (!wp_allowed(task, dec->cpu))
			dec->cpu = wp_first_allowed(ctx, task, req->prev_cpu);
		dec->rule = WP_RULE_AFFINITY;
		dec->reason = WP_REASON_ONE_ALLOWED;
		return 0;
	}
	dec->reason = WP_REASON_CLASS_PREV;
	if (!taken && wp_class_fits(ctx, task, ct, req->prev_cpu))
		return 0;
	low = wp_find_lowest_rq(ctx, task, ct, req->this_cpu);
	if (!taken && wp_moves_for_nothing(ctx, task, ct, low))
		return 0;
	dec->reason = WP_REASON_CLASS_WAITS;
	if (low != WP_NONE) {
		dec->cpu = low;
		dec->reason = WP_REASON_CLASS_LOWEST;
	} else if (!wp_allowed(task, dec->cpu)) {
		dec->cpu = wp_first_allowed(ctx, task, req->prev_cpu);
		dec->rule = WP_RULE_AFFINITY;
		dec->reason = WP_REASON_NOT_ALLOWED;
	}
	return 0;
}

/* A task that waits on its CPU: where it would run at once; WP_NONE: nowhere. */
WP_FN u32 wp_class_push_cpu(const struct wp_ctx *ctx WP_NONNULL,
			    const struct wp_task *task WP_NONNULL,
			    const struct wp_class_task *ct WP_NONNULL)
{
	return wp_find_lowest_rq(ctx, task, ct, task->cpu);
}

/* Is the first task that waits there of a higher class than the running one? Then it has just
 * woken and runs there next, or RT throttling holds it up, which is no reason to move either. */
WP_INLINE int wp_is_about_to_run(const struct wp_class_cpu *k)
{
	u32 class = k->next_level > WP_RT_PRIO_MAX ? WP_CLASS_DL : WP_CLASS_RT;

	return class > k->running;
}

/*
 * The tasks of `cpu` now have a lower priority: from which CPU should it take the first waiting
 * task (next_level: of those that may run here)? The task of highest priority that goes before its
 * own, unless it is about to run where it waits.
 */
WP_FN u32 wp_class_pull_cpu(const struct wp_ctx *ctx WP_NONNULL, u32 cpu)
{
	u64 least = WP_AT(ctx->cpus, cpu)->queue.classes.level;
	u32 i, from = WP_NONE;

	WP_FOR(i, ctx->nr_cpus, WP_MAX_CPUS) {
		const struct wp_class_cpu *k = &WP_AT(ctx->cpus, i)->queue.classes;

		if (i == cpu || k->next_level <= least || wp_is_about_to_run(k))
			continue;
		least = k->next_level;
		from = i;
	}
	return from;
}
