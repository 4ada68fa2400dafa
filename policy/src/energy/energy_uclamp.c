// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The energy-aware wake-up where hints add up: a CPU's utilisation within its tasks' hints, with
 * the waking task there or not (docs/rules/uclamp-sum.md#uclamp-sum-energy). Natively only; the
 * series is in no kernel (uclamp_sum.c).
 *
 * What must stay: busy times are without hints; only what fits, and the state that a domain runs
 * at, are within them. Free: the sum, with its page; no kernel binds it.
 *
 * Tests by part: (below crates/policy-sys/tests) all/uclamp_sum.rs: `utilisation_with_the_task`,
 * `hints_move_the_state_not_the_busy_time`, `boosts_add_up` (`wp_cpu_util_uclamp`).
 *
 * Callers: energy_delta.c; explain.c.
 *
 * Tests: all/uclamp_sum.rs
 */
#include "wakeplace/policy.h"

/*
 * The utilisation of `cpu` within hints if the waking task were on `dst`. Where the task slept
 * last, its utilisation is in the queue's and its bias is not. The boost for time in the queue is
 * that of the queue as it is: the task's own does not come and go with it.
 */
WP_FN u32 wp_cpu_util_uclamp(const struct wp_ctx *ctx WP_NONNULL, u32 cpu,
			     const struct wp_task *task WP_NONNULL, u32 dst, u32 boost)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	u32 util = wp_root_cfs_util_uclamp(c), est = c->load.util_est_uclamp;

	if (boost && !ctx->params.runnable_boost_freq)
		util = wp_runnable_boost_uclamp(ctx, c, util);
	if (task->cpu == cpu && !task->on_rq)
		util = wp_biased(util, task->util_avg_bias);
	if (task->cpu == cpu && dst != cpu)
		util = (u32)wp_sub(util, wp_task_util_uclamp(task));
	else if (task->cpu != cpu && dst == cpu)
		util += wp_task_util_uclamp(task);
	if (dst == cpu)
		est += task->util_est_uclamp;
	if (ctx->params.util_est != WP_UTIL_EST_OFF)
		util = wp_max(util, est);
	if (boost && dst == cpu)
		util += wp_energy_wait(ctx, c, task);
	return wp_min(util, c->load.capacity_orig);
}
