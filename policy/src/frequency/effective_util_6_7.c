// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A CPU's demand with all classes in the form of 4.19 to 6.7 (docs/rules/capacity.md#schedutil,
 * "6.1"): the hints bound the demand itself, and the headroom is added later, to all of it.
 * Natively only.
 *
 * What must stay: eras to 6.7 alone use it. Free: the order of hints, interrupts and
 * headroom, for those eras alone.
 *
 * Tests by part: (below crates/policy-sys/tests; `every_fixture_holds` runs the fixtures)
 * fixtures/frequency: irq-scales-5-0.toml, irq-scales-6-1.toml, deadline-bandwidth-adds-5-0.toml,
 * rt-time-counts-5-0.toml, rt-task-wants-all-5-0.toml (`wp_effective_cpu_util_6_7`),
 * uclamp-*-with-headroom-6-1.toml (`wp_uclamp_rq_util_with_6_7`), no-boost-6-1.toml
 * (`wp_sugov_get_util_6_7`); all/energy_7_3_oracle.rs: `v61_agrees_on_random_states`;
 * all/classes.rs: `class_signals_count_in_the_older_forms`.
 *
 * Callers: `wp_freq_util` (demand.c); iowait.c; energy_6_1.c and energy_5_10.c.
 *
 * Kernel: effective_cpu_util(), kernel/sched/core.c, to 6.7; uclamp_rq_util_with(),
 *         kernel/sched/sched.h, to 6.7; sugov_get_util(), kernel/sched/cpufreq_schedutil.c, to 6.7
 * Tests: fixtures/frequency, all/frequency.rs
 */
#include "wakeplace/policy.h"

/*
 * Bound a demand by the hints of the queue and, with `task`, of one that would join it. An idle
 * queue's are those of a task that left and count for nothing then. If the two cross, the wish
 * wins.
 */
WP_INLINE u32 wp_uclamp_rq_util_with_6_7(const struct wp_ctx *ctx, const struct wp_cpu *c, u32 util,
					 const struct wp_task *task)
{
	u32 min = 0, max = 0;

	if (!ctx->params.uclamp)
		return util;
	if (task) {
		min = task->uclamp_min;
		max = task->uclamp_max;
	}
	if (!task || !wp_uclamp_rq_is_idle(c)) {
		min = wp_max(min, wp_uclamp_rq_min(ctx, c));
		max = wp_max(max, wp_uclamp_rq_max(ctx, c));
	}
	return min >= max ? min : wp_max(min, wp_min(max, util));
}

/*
 * The demand that the frequency follows, of a CPU whose fair tasks show `fair`. A queued RT task
 * wants all. Deadline tasks get their bandwidth; where a kernel beneath keeps it, dl_util stands
 * for it.
 */
WP_INLINE u32 wp_effective_cpu_util_6_7(const struct wp_ctx *ctx, const struct wp_cpu *c, u32 fair,
					const struct wp_task *task)
{
	u32 full = c->load.capacity_orig, irq = c->load.irq_util, util;
	u32 reserved = WP_SIM(c->queue.classes.kept) ? wp_cpu_bw_dl(c) : c->load.dl_util;

	if (irq >= full || c->queue.rt_runnable)
		return full;
	util = wp_uclamp_rq_util_with_6_7(ctx, c, fair + c->load.rt_util, task);
	if (util + c->load.dl_util >= full)
		return full;
	util = (u32)wp_div((u64)util * (full - irq), full) + irq + reserved;
	return wp_min(util, full);
}

/* What one CPU asks for. */
WP_FN u32 wp_sugov_get_util_6_7(const struct wp_ctx *ctx WP_NONNULL,
				const struct wp_cpu *c WP_NONNULL)
{
	u32 fair = 0;

	if (c->queue.nr_fair || ctx->params.blocked_util_in_freq) {
		fair = wp_cpu_util_cfs(ctx, c);
		if (ctx->params.util_est_faster && ctx->params.util_est_faster_freq)
			fair = wp_min(wp_max(fair, wp_util_est_faster(ctx, c)),
				      c->load.capacity_orig);
		if (ctx->params.runnable_boost && !ctx->params.runnable_is_load)
			fair = wp_min(wp_runnable_boost(ctx, fair, c->load.avg.runnable_avg,
							wp_rq_urgency(ctx, c)),
				      c->load.capacity_orig);
	}
	return wp_effective_cpu_util_6_7(ctx, c, fair, (const struct wp_task *)0);
}
