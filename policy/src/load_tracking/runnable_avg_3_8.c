// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Load tracking in the form of 3.8 (docs/rules/linux-3-8.md#runnable-average-3-8). Natively only. A
 * task has two geometric sums over the same periods as in pelt.c:
 *
 *   S: time runnable, P: all time; share = S / (P + 1); load = weight * S / (P + 1)
 *
 * P of a young task is small, so its share means something at once, and moves much. A run queue has
 * sums of its own, runnable meaning that its CPU is not idle; they are no sums of its tasks'. S is
 * kept in load_sum and P in runnable_sum; util_avg is the share, for reports: balancing and
 * placement of 3.8 read none of this. How fast a CPU is does not enter.
 *
 * What must stay: of the eras linux-3.8 alone uses it (linux-3.1 has no averages); sums of a queue
 * are no sums of its tasks'. Free: the sums, for those eras alone.
 *
 * Tests by part: (below crates/policy-sys/tests; `every_fixture_holds` runs the fixtures)
 * fixtures/signals: 3-8-young-task.toml, 3-8-half-the-time.toml, 3-8-saturates.toml,
 * 3-8-speed-does-not-count.toml (`wp_ratio_update`, `wp_ratio_write`), 3-8-queue-has-its-own.toml,
 * 3-1-none.toml (`wp_update_runnable_avg_3_8`).
 *
 * Callers: signals.c, where `wp_signals_add_up` says no.
 *
 * Kernel: __update_entity_runnable_avg() as wp_ratio_update(), __update_task_entity_contrib() as
 *         wp_ratio_write(), kernel/sched/fair.c, 3.8
 * Tests: fixtures/signals, all/early_eras.rs
 */
#include "wakeplace/policy.h"

/* The averages from their sums. */
WP_INLINE void wp_ratio_write(struct wp_sched_avg *avg, u32 weight)
{
	avg->load_avg = (u32)wp_div(weight * avg->load_sum, avg->runnable_sum + 1);
	avg->util_avg = (u32)wp_div(WP_SCALE * avg->load_sum, avg->runnable_sum + 1);
	avg->runnable_avg = 0;
}

/* One update step; load says runnable. Returns 1 if a period boundary was crossed. */
WP_FN int wp_ratio_update(struct wp_sched_avg *avg WP_NONNULL,
			  const struct wp_pelt_step *step WP_NONNULL)
{
	u64 delta, periods, contrib;
	u32 rest;

	if (step->now_ns < avg->last_update_ns) {
		avg->last_update_ns = step->now_ns;
		return 0;
	}
	delta = (step->now_ns - avg->last_update_ns) >> 10;
	if (!delta)
		return 0;
	avg->last_update_ns += delta << 10;

	contrib = delta;
	delta += avg->period_contrib;
	periods = delta / WP_PERIOD_US;
	rest = (u32)(delta % WP_PERIOD_US);
	if (periods) {
		avg->load_sum = wp_decay(avg->load_sum, periods);
		avg->runnable_sum = wp_decay(avg->runnable_sum, periods);
		contrib = wp_accumulate_pelt_segments((u32)wp_min64(periods, 4096),
						      WP_PERIOD_US - avg->period_contrib, rest);
	}
	avg->period_contrib = rest;
	avg->runnable_sum += contrib;
	if (step->load)
		avg->load_sum += contrib;
	if (!periods)
		return 0;
	wp_ratio_write(avg, step->weight);
	return 1;
}

/* A task's or a queue's averages in the forms that are not sums of their parts. */
WP_INLINE int wp_update_runnable_avg_3_8(const struct wp_ctx *ctx, struct wp_sched_avg *avg,
					 u64 now_ns, u32 runnable, u32 weight)
{
	struct wp_pelt_step step = { .now_ns = now_ns, .load = runnable, .weight = weight };

	if (ctx->params.pelt_scale == WP_PELT_NONE)
		return 0;
	return wp_ratio_update(avg, &step);
}
