// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * One step of the rules for signals and for balancing at a time, for a home that has put another
 * scheduler's state in the place of the core's own (docs/rules/README.md#signal-by-signal,
 * docs/rules/README.md#step-by-step). The functions call what the events of tasks and CPUs, and an
 * attempt to balance, call; wp_on_state_estimate() restores what an earlier event left. Balancing
 * is that since 5.5. Natively only.
 *
 * What must stay: nothing but the step that is asked for changes, and each step is the one that
 * events take; the engine's explain/on_signals.rs and balances.rs rely on both. Free: further
 * steps, each the one that an event takes.
 *
 * Tests by part: `one_step_at_a_time` (`wp_on_state_task`, `wp_on_state_queue`),
 * `an_estimate_is_counted` (`wp_on_state_estimate`), `a_wait_for_a_device_is_told`
 * (`wp_on_state_freq`), `balancing_by_steps` (`wp_on_state_balances`, `wp_on_state_src_group`,
 * `wp_on_state_src_cpu`, `wp_on_state_pushes`).
 *
 * Callers: `Core::on_state_*` (crates/policy-sys/src/core.rs, balance.rs), for
 * crates/engine/src/explain/on_signals.rs, balances.rs.
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

/* Does the CPU of the attempt balance its domain, and no other one? */
WP_FN int wp_on_state_balances(struct wp_ctx *ctx WP_NONNULL,
			       const struct wp_lb_env *bal WP_NONNULL)
{
	return wp_should_we_balance(ctx, bal);
}

/* Is there a group to pull from? It is busiest_group, with kind and amount. */
WP_FN int wp_on_state_src_group(struct wp_ctx *ctx WP_NONNULL, struct wp_lb_env *bal WP_NONNULL)
{
	wp_balance_reset(bal);
	return wp_find_busiest_group(ctx, bal);
}

/* The queue of busiest_group to pull from, by kind and amount; WP_NONE: there is none. */
WP_FN u32 wp_on_state_src_cpu(struct wp_ctx *ctx WP_NONNULL, struct wp_lb_env *bal WP_NONNULL)
{
	return wp_find_busiest_queue(ctx, bal);
}

/* No task of src_cpu was taken: is the one that runs there pushed? */
WP_FN int wp_on_state_pushes(struct wp_ctx *ctx WP_NONNULL, const struct wp_lb_env *bal WP_NONNULL)
{
	return wp_need_active_balance(ctx, bal);
}
