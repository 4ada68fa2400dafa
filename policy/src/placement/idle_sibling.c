// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The fast path: an idle CPU near a target (docs/rules/wake-ups.md#idle-sibling). First hit wins:
 *
 *  1. the target itself
 *  2. the previous CPU, if it shares the target's cache: the task's data may still be there
 *  3. the previous CPU, if a kernel thread bound to it is the waker and alone there: it has done
 *     what the task waited for and is about to sleep
 *  4. the recently used CPU, as 2: two tasks that wake each other keep swapping two CPUs
 *  5. asymmetric machines: an idle CPU that fits, in the whole domain (idle_capacity.c)
 *  6. a target that shares its cache with nobody: the target
 *  7. SMT, no core known to be idle: an idle thread of the previous CPU's core
 *  8. an idle core or CPU of the target's cache domain (idle_scan.c); between two short tasks the
 *     target instead (short_wake.c)
 *  9. what 2 and 4 found in another cluster of that cache; else the target, busy
 *
 * A CPU that runs only SCHED_IDLE tasks counts as idle: they give way at once. On asymmetric
 * machines each candidate must also fit the task.
 *
 * What must stay: the order of steps, and that step 4 exchanges the recently used CPU even where it
 * does not take it. Free: how a step looks for its CPU; not which one it finds, nor the
 * reason that it gives.
 *
 * Tests by part: (below crates/policy-sys/tests; `every_fixture_holds` runs the fixtures)
 * all/wake_7_3.rs: `step_1_target` to `step_9_target` (`wp_select_idle_sibling`,
 * `wp_select_in_cache`, `wp_near_ok`), `step_2_and_9_clusters` (`wp_near_enough`), `step_3_kthread`
 * (`wp_kthread_done`), `step_4_recent` (`wp_take_recent`); all/wake_asym_7_3.rs:
 * `asym_candidates_fit` (`wp_asym_search`); all/wake_model_7_3.rs:
 * `random_states_agree_with_the_model` (the whole path, 7.3); fixtures/scan: prop-6-1-*.toml
 * (`wp_scan_cache`).
 *
 * Callers: `wp_select_normal` (select.c), the last part of every wake-up that stays near a CPU.
 *
 * Kernel: select_idle_sibling(), kernel/sched/fair.c
 * Tests: fixtures/wake, fixtures/scan, all/wake_7_3.rs
 */
#include "wakeplace/policy.h"

/* Asymmetric machines: the CPU must fit the task, its wish for performance included. */
WP_INLINE int wp_asym_search(const struct wp_ctx *ctx)
{
	return ctx->asym && ctx->params.sis_asym != WP_SIS_ASYM_OFF;
}

/* A CPU that a task may go to at once: free, and big enough where sizes differ. */
WP_INLINE int wp_near_ok(const struct wp_ctx *ctx, const struct wp_task *task, u32 cpu)
{
	if (!wp_free_for(ctx, task, cpu)) {
		WP_EXPLAIN(ctx, wp_drop(ctx, cpu, WP_DROP_BUSY));
		return 0;
	}
	if (wp_asym_search(ctx) && !wp_task_fits_cpu(ctx, task, cpu)) {
		WP_EXPLAIN(ctx, wp_drop(ctx, cpu, WP_DROP_UNFIT));
		return 0;
	}
	return 1;
}

/* Near enough to be taken at once: clusters are told apart where there are any. */
WP_INLINE int wp_near_enough(const struct wp_ctx *ctx, u32 cpu, u32 target)
{
	return !ctx->cluster ||
	       WP_NOT_LIVE(!ctx->params.sis_cluster || !ctx->params.sis_single_pass) ||
	       wp_cpus_share_resources(ctx, cpu, target);
}

/* The waker is about to sleep and its work is done: its CPU is as good as idle (step 3). */
WP_INLINE int wp_kthread_done(const struct wp_ctx *ctx, const struct wp_task *task,
			      const struct wp_request *req)
{
	if (WP_NOT_LIVE(!ctx->params.sis_kthread))
		return 0;
	return req->waker_kthread && req->prev_cpu == req->this_cpu &&
	       WP_AT(ctx->cpus, req->this_cpu)->queue.nr_running <= 1 &&
	       (!wp_asym_search(ctx) || wp_task_fits_cpu(ctx, task, req->prev_cpu));
}

/*
 * The recently used CPU if it will do; from now on the previous one is remembered (step 4), to 5.11
 * only if it did.
 */
WP_INLINE u32 wp_take_recent(struct wp_ctx *ctx, struct wp_task *task, u32 prev, u32 target)
{
	u32 recent = task->waker.recent_used_cpu;

	if (!ctx->params.sis_recent_used)
		return WP_NONE;
	if (!WP_NOT_LIVE(!ctx->params.sis_single_pass))
		task->waker.recent_used_cpu = prev;
	if (recent == prev || recent == target || !wp_cpus_share_cache(ctx, recent, target) ||
	    !wp_allowed(task, recent) || !wp_near_ok(ctx, task, recent))
		return WP_NONE;
	task->waker.recent_used_cpu = prev;
	return recent;
}

/* Step 8, by the limit in force. */
WP_INLINE int wp_scan_cache(struct wp_ctx *ctx, const struct wp_task *task,
			    const struct wp_request *req, u32 target, struct wp_decision *dec)
{
	int found;

#ifndef WP_LIVE
	if (wp_prop_limits(ctx, target))
		return wp_select_idle_cpu_6_5(ctx, task, req, target, dec);
#endif
	found = wp_select_idle_cpu(ctx, task, req, target, dec);
	if (dec->nr_scanned)
		wp_note_scan_cost(ctx, req->this_cpu, dec->nr_scanned);
	return found;
}

/* Steps 6 to 9; `prev_far` and `recent_far` are idle in another cluster, or WP_NONE. */
WP_INLINE int wp_select_in_cache(struct wp_ctx *ctx, struct wp_task *task,
				 const struct wp_request *req, u32 target,
				 struct wp_decision *dec, u32 prev_far, u32 recent_far)
{
	u32 prev = req->prev_cpu, level = WP_AT(ctx->cpus, target)->topo.llc_level;

#ifndef WP_LIVE
	if (!ctx->params.sis_single_pass)
		return wp_select_in_cache_5_11(ctx, task, req, target, dec);
#endif
	if (level == WP_NONE)
		return wp_idle_decide(dec, target, WP_REASON_TARGET_NO_LLC);
	if (ctx->smt && !wp_hints(ctx, target)->idle.has_idle_cores &&
	    wp_cpus_share_cache(ctx, prev, target) &&
	    wp_idle_decide(dec, wp_select_idle_smt(ctx, task, prev), WP_REASON_IDLE_SMT_PREV))
		return 1;
	if (wp_short_before_scan(ctx, task, req, target, dec))
		return 1;
	if (wp_scan_cache(ctx, task, req, target, dec))
		return 1;
	if (wp_idle_decide(dec, prev_far, WP_REASON_IDLE_PREV_FAR))
		return 1;
	if (wp_idle_decide(dec, recent_far, WP_REASON_IDLE_RECENT_FAR))
		return 1;
	if (dec->short_target)
		return wp_idle_decide(dec, target, WP_REASON_SHORT_TARGET);
	return wp_idle_decide(dec, target,
			      dec->scan_left == 1 && !dec->nr_scanned ? WP_REASON_TARGET_NO_SCAN :
								WP_REASON_TARGET_BUSY);
}

/* Fills `dec` with a CPU around `target`. */
WP_FN int wp_select_idle_sibling(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL,
				 const struct wp_request *req WP_NONNULL, u32 target,
				 struct wp_decision *dec WP_NONNULL)
{
	u32 prev = req->prev_cpu, prev_far = WP_NONE, recent;

	if (wp_asym_search(ctx))
		wp_sync_entity_load_avg(ctx, task);
	if (wp_near_ok(ctx, task, target))
		return wp_idle_decide(dec, target, WP_REASON_IDLE_TARGET);
	if (prev != target && wp_cpus_share_cache(ctx, prev, target) &&
	    wp_near_ok(ctx, task, prev)) {
		if (wp_near_enough(ctx, prev, target))
			return wp_idle_decide(dec, prev, WP_REASON_IDLE_PREV);
		WP_EXPLAIN(ctx, wp_drop(ctx, prev, WP_DROP_FAR));
		prev_far = prev;
	}
	if (!wp_cpus_share_cache(ctx, prev, target))
		WP_EXPLAIN(ctx, wp_drop(ctx, prev, WP_DROP_OTHER_CACHE));
	if (wp_kthread_done(ctx, task, req))
		return wp_idle_decide(dec, prev, WP_REASON_KTHREAD_PREV);
	recent = wp_take_recent(ctx, task, prev, target);
	if (recent != WP_NONE && wp_near_enough(ctx, recent, target))
		return wp_idle_decide(dec, recent, WP_REASON_IDLE_RECENT);
	if (recent != WP_NONE)
		WP_EXPLAIN(ctx, wp_drop(ctx, recent, WP_DROP_FAR));
	if (wp_asym_search(ctx) && WP_AT(ctx->cpus, target)->topo.asym_full_level != WP_NONE)
		return wp_select_idle_capacity(ctx, task, target, dec);
	return wp_select_in_cache(ctx, task, req, target, dec, prev_far, recent);
}
