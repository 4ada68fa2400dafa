// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * When a fair task gives way that a wake-up or the end of its slice has displaced
 * (docs/rules/queues.md#lazy-preemption). Lazily, its CPU gets a mark and no interrupt. It acts on
 * the mark when it next goes back to user mode, and its tick turns the mark into one that counts in
 * the kernel, too. What other classes displace gives way at once, and no home asks here for it.
 *
 * What must stay: an idle CPU is told at once; `auto` is lazy only where the architecture has it
 * (`has_preempt_lazy`), `lazy` everywhere; the engine asks here and decides nothing itself. Free:
 * how the test is written, with its page.
 *
 * Tests by part: `a_busy_cpu_is_marked_where_the_kernel_is_lazy`
 * (`wp_resched_curr_lazy`, `wp_dynamic_preempt_lazy`).
 *
 * Callers: crates/policy-sys/src/resched.rs, for the engine.
 *
 * Kernel: resched_curr_lazy(), dynamic_preempt_lazy(), kernel/sched/core.c, 6.13
 * Tests: all/preempt_lazy.rs
 */
#include "wakeplace/policy.h"

/* Is the machine's kernel one of PREEMPT_LAZY? */
WP_FN int wp_dynamic_preempt_lazy(const struct wp_ctx *ctx WP_NONNULL)
{
	return ctx->params.preempt == WP_PREEMPT_LAZY ||
	       (ctx->params.preempt == WP_PREEMPT_AUTO && ctx->has_preempt_lazy);
}

/* How the CPU hears of it. Nothing is gained by letting an idle CPU wait. */
WP_FN u32 wp_resched_curr_lazy(const struct wp_ctx *ctx WP_NONNULL, u32 cpu)
{
	if (WP_AT(ctx->cpus, cpu)->queue.curr_idle)
		return WP_RESCHED_NOW;
	return wp_dynamic_preempt_lazy(ctx) ? WP_RESCHED_LAZY : WP_RESCHED_NOW;
}
