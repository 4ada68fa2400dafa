// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Where RT and deadline tasks go (docs/rules/rt-and-deadline.md#rt-placement): the previous CPU if
 * no task there goes before them, else the CPU whose tasks have the lowest priority. The same holds
 * when a waiting task is pushed to another CPU, and when a CPU whose tasks now have a lower
 * priority pulls one.
 *
 *   level of a CPU's first RT or deadline task:  0 none | 1..99 RT | above: dl, earlier higher
 *
 * Of CPUs on which the task would run: those that it fits first (from 5.7 on, where capacities
 * differ), then the lowest level, then nearness: the previous CPU, then its domains from the lowest
 * up, in each the deciding CPU first.
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

/* How little a CPU suits the task: unfit ones last. ~0: it would not run there. */
struct wp_unsuited {
	u64 level;
	u32 unfit;
};

WP_INLINE int wp_suits_less(const struct wp_unsuited *a, const struct wp_unsuited *b)
{
	return a->unfit != b->unfit ? a->unfit > b->unfit : a->level > b->level;
}

WP_INLINE struct wp_unsuited wp_unsuited(const struct wp_ctx *ctx, const struct wp_task *task,
					 const struct wp_class_task *ct, u32 cpu)
{
	struct wp_unsuited u = { wp_level_seen(ctx, ct, cpu), 0 };

	if (!wp_allowed(task, cpu) || !WP_AT(ctx->cpus, cpu)->queue.online ||
	    u.level >= wp_class_level(ct))
		u.unfit = 2;
	else if (!wp_class_fits(ctx, task, ct, cpu))
		u.unfit = 1;
	return u;
}

WP_INLINE int wp_is_best(const struct wp_ctx *ctx, const struct wp_task *task,
			 const struct wp_class_task *ct, u32 cpu, const struct wp_unsuited *best)
{
	struct wp_unsuited u = wp_unsuited(ctx, task, ct, cpu);

	return u.unfit < 2 && !wp_suits_less(&u, best);
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

/* The CPU whose tasks matter least to this one; WP_NONE: it would run nowhere. */
WP_INLINE u32 wp_find_lowest_rq(const struct wp_ctx *ctx, const struct wp_task *task,
				const struct wp_class_task *ct, u32 this_cpu)
{
	struct wp_unsuited best = { 0, 2 };
	u32 i;

	WP_FOR(i, ctx->nr_cpus, WP_MAX_CPUS) {
		struct wp_unsuited u = wp_unsuited(ctx, task, ct, i);

		if (wp_allowed(task, i))
			WP_EXPLAIN(ctx, wp_drop(ctx, i, u.unfit == 1 ? WP_DROP_UNFIT :
								       WP_DROP_OUTRANKED));
		if (u.unfit < 2 && (best.unfit == 2 || wp_suits_less(&best, &u)))
			best = u;
	}
	return best.unfit == 2 ? WP_NONE : wp_nearest_best(ctx, task, ct, this_cpu, &best);
}

/*
 * May it go to prev without a look at the others? Only if it fits there and no RT or deadline task
 * runs there that goes before it or could go nowhere else.
 */
WP_INLINE int wp_prev_will_do(const struct wp_ctx *ctx, const struct wp_task *task,
			      const struct wp_class_task *ct, u32 prev)
{
	u64 level = wp_level_seen(ctx, ct, prev);

	return wp_allowed(task, prev) && wp_class_fits(ctx, task, ct, prev) &&
	       level < wp_class_level(ct) &&
	       !(level && WP_AT(ctx->cpus, prev)->queue.classes.curr_pinned);
}

/* Choose a CPU for an RT or deadline task that wakes or was forked; fills `dec`. */
WP_FN int wp_select_task_rq_rt(struct wp_ctx *ctx WP_NONNULL, const struct wp_task *task WP_NONNULL,
			       const struct wp_class_task *ct WP_NONNULL,
			       const struct wp_request *req WP_NONNULL,
			       struct wp_decision *dec WP_NONNULL)
{
	u32 low;

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
	if (wp_prev_will_do(ctx, task, ct, req->prev_cpu))
		return 0;
	low = wp_find_lowest_rq(ctx, task, ct, req->this_cpu);
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

/*
 * The tasks of `cpu` now have a lower priority: from which CPU should it take the first waiting
 * task (next_level: of those that may run here)? The task of highest priority that goes before its
 * own, unless it goes before the running task where it waits: then it will run there at once.
 */
WP_FN u32 wp_class_pull_cpu(const struct wp_ctx *ctx WP_NONNULL, u32 cpu)
{
	u64 least = WP_AT(ctx->cpus, cpu)->queue.classes.level;
	u32 i, from = WP_NONE;

	WP_FOR(i, ctx->nr_cpus, WP_MAX_CPUS) {
		const struct wp_class_cpu *k = &WP_AT(ctx->cpus, i)->queue.classes;

		if (i == cpu || k->next_level <= least || k->next_level > k->level)
			continue;
		least = k->next_level;
		from = i;
	}
	return from;
}
