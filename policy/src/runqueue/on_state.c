// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * One step of the signals' rules at a time, for a home that has put another scheduler's state in
 * the place of the core's own (docs/rules/README.md#signal-by-signal). The functions call what the
 * events of tasks and CPUs call; wp_on_state_estimate() restores what an earlier event left.
 * Natively only.
 *
 * What must stay: nothing but the step that is asked for changes, and each step is the one that
 * events take; the engine's explain/on_signals.rs relies on both. Free: further steps, each the one
 * that an event takes.
 *
 * Tests by part: `one_step_at_a_time` (`wp_on_state_task`, `wp_on_state_queue`),
 * `an_estimate_is_counted` (`wp_on_state_estimate`), `a_wait_for_a_device_is_told`
 * (`wp_on_state_freq`).
 *
 * Callers: `Core::on_state_*` (crates/policy-sys/src/core.rs), for
 * crates/engine/src/explain/on_signals.rs.
 *
 * Tests: all/on_state.rs
 */
#include "wakeplace/policy.h"

/* A task's averages up to `now_ns` of its queue's PELT clock, as its events bring them there. */
WP_FN int wp_on_state_task(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL,
			   u64 now_ns)
{
	wp_update_load_avg_se(ctx, WP_AT(ctx->cpus, task->cpu), task, now_ns);
	return 0;
}

/* The queue's averages up to its PELT clock. Returns 1 if they changed. */
WP_FN int wp_on_state_queue(struct wp_ctx *ctx WP_NONNULL, u32 cpu)
{
	return wp_update_cfs_rq_load_avg(ctx, WP_AT(ctx->cpus, cpu));
}

/* A queued task counts for its queue's estimate. */
WP_FN int wp_on_state_estimate(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL)
{
	task->util_est_queued = task->on_rq && !task->sched_delayed ? wp_task_est(ctx, task) : 0;
	return 0;
}

/* The scheduler calls the governor for a CPU; `iowait`: a task joins that waited for a device. */
WP_FN int wp_on_state_freq(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u32 iowait, u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, cpu);

	if (iowait)
		wp_sugov_iowait_boost(ctx, c, now_ns);
	return wp_cpufreq_update_util(ctx, c, now_ns);
}
