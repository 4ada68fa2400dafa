// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Waker's or previous CPU by load, in the forms before 4.14 (docs/rules/linux-3-8.md#placement-3-8
 * step 4). Natively only.
 *
 *   the waker's load with the task, per capacity, within half the margin of the other's load
 *
 * The sleeping task counts nothing on its previous CPU: without task groups taking it out has no
 * effect there. An idle waking CPU accepts in 3.1; from 3.18 on capacities alone then decide.
 *
 * What must stay: eras to 4.13 alone use it; products fit 64 bits. Free: the comparison
 * itself, for those eras alone, with its page.
 *
 * Tests by part: (below crates/policy-sys/tests; `every_fixture_holds` runs the fixtures)
 * fixtures/wake: 3-8-affine-*.toml and 3-1-affine-lightly-loaded.toml (`wp_wake_affine_4_13` with
 * `wp_cpu_avg_load_per_task`), 4-7-affine-*.toml (the form of 3.18, which does not ask the latter).
 *
 * Callers: `wp_wake_affine` (select.c) where `wake_affine_form` is not that of 4.14.
 *
 * Kernel: wake_affine(), cpu_avg_load_per_task(), kernel/sched/fair.c, to 4.13
 * Tests: fixtures/wake
 */
#include "wakeplace/policy.h"

/* Weight per task of what is queued on a CPU. */
WP_INLINE s64 wp_cpu_avg_load_per_task(const struct wp_ctx *ctx, const struct wp_cpu *c)
{
	return (s64)wp_div(wp_cpu_load(ctx, c), c->queue.nr_running);
}

/* May the task come to the waking CPU? */
WP_FN int wp_wake_affine_4_13(const struct wp_ctx *ctx WP_NONNULL,
			      const struct wp_task *task WP_NONNULL,
			      const struct wp_request *req WP_NONNULL, u32 pct)
{
	const struct wp_cpu *here = WP_AT(ctx->cpus, req->this_cpu);
	const struct wp_cpu *prev = WP_AT(ctx->cpus, req->prev_cpu);
	int by_weight = !!ctx->params.weight_is_load;
	s64 load = by_weight ? task->weight : task->avg.load_avg;
	s64 here_load = (s64)wp_target_load(ctx, here, 0); /* wake_idx is 0 in every domain */
	s64 prev_load = (s64)wp_source_load(ctx, prev, 0);
	s64 with = 100 * (s64)prev->load.capacity;
	s64 without = (s64)(100 + (pct - 100) / 2) * (s64)here->load.capacity;

	if (req->sync)
		here_load -= by_weight ? req->waker_weight : req->waker_load;
	if (here_load > 0) {
		with *= here_load + load;
		without *= prev_load;
	} else if (ctx->params.wake_affine_form == WP_AFFINE_31) {
		return 1;
	}
	if (with <= without)
		return 1;
	if (ctx->params.wake_affine_form != WP_AFFINE_31)
		return 0;
	/* Both so lightly loaded that the balance means nothing. */
	return here_load <= prev_load &&
	       here_load + (s64)wp_target_load(ctx, prev, 0) <= wp_cpu_avg_load_per_task(ctx, here);
}
