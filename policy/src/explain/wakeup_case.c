// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What a decision was about, for the table of wake-up cases by the sizes of the task, its previous
 * CPU and the waker's (docs/rules/capacity-aware.md#wakeup-cases;
 * docs/rules/capacity-aware.md#patch-by-patch). Natively only; decides nothing.
 *
 * Big are the CPUs within an eighth of the biggest of the root domain, as wake_cap has it, all
 * others are little. A big task fits no little CPU, not even the biggest of them, by the test of
 * wake_cap.
 *
 * What must stay: bits WP_CASE_*, which crates/policy-sys/src/wakeup_case.rs numbers. Free:
 * what a case counts, with its page.
 *
 * Tests by part: (below crates/policy-sys/tests) all/asym_switches.rs: `eight_cases_on_tc2`
 * (`wp_wakeup_case`, `wp_case_cpu`), `a_task_that_slept_is_smaller`, `more_than_two_sizes`
 * (`wp_biggest_little`); crates/engine/tests/behaviour/asym.rs: `watching_changes_nothing`.
 *
 * Callers: crates/policy-sys/src/wakeup_case.rs, for `--export-wakeup-cases`.
 *
 * Tests: all/asym_switches.rs
 */
#include "wakeplace/policy.h"

/* Capacity of the biggest little CPU; 0: there is none. */
WP_INLINE u32 wp_biggest_little(const struct wp_ctx *ctx)
{
	u32 i, most = 0;

	WP_FOR(i, ctx->nr_cpus, WP_MAX_CPUS) {
		const struct wp_cpu *c = WP_AT(ctx->cpus, i);

		if (c->queue.online && !wp_about_biggest(ctx, c->load.capacity_orig))
			most = wp_max(most, c->load.capacity_orig);
	}
	return most;
}

/* `bit` if the CPU is a big one, else 0. */
WP_INLINE u32 wp_case_cpu(const struct wp_ctx *ctx, u32 cpu, u32 bit)
{
	return wp_about_biggest(ctx, WP_AT(ctx->cpus, cpu)->load.capacity_orig) ? bit : 0;
}

/*
 * The case of the decision `dec` on `req` that sent the task to `cpu`, before the task is moved.
 * Returns enum wp_case_bits. A copy of the task is brought up to date, so that observing changes
 * nothing.
 */
WP_FN u32 wp_wakeup_case(struct wp_ctx *ctx WP_NONNULL, const struct wp_task *task WP_NONNULL,
			 const struct wp_request *req WP_NONNULL,
			 const struct wp_decision *dec WP_NONNULL, u32 cpu)
{
	struct wp_task now = *task;
	u32 little = wp_biggest_little(ctx);
	u32 bits = wp_case_cpu(ctx, req->this_cpu, WP_CASE_WAKER_BIG) |
		   wp_case_cpu(ctx, req->prev_cpu, WP_CASE_PREV_BIG) |
		   wp_case_cpu(ctx, cpu, WP_CASE_CPU_BIG);

	if (req->kind != WP_PLACE_FORK)
		wp_sync_entity_load_avg(ctx, &now);
	if (little && wp_too_big_for(ctx, &now, little))
		bits |= WP_CASE_TASK_BIG;
	if (dec->rule == WP_RULE_IDLE_SIBLING)
		bits |= WP_CASE_FAST;
	if (dec->rule == WP_RULE_SLOW_PATH)
		bits |= WP_CASE_SLOW;
	if (dec->wide)
		bits |= WP_CASE_WIDE;
	if (req->kind == WP_PLACE_WAKE)
		bits |= WP_CASE_WAKE;
	return bits;
}
