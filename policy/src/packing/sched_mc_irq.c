// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Interrupts follow the CPUs that work is packed on (authors' list,
 * docs/rules/sched-mc.md#mc-authors-list). Natively only: a kernel's interrupts are not a
 * scheduler's to move.
 *
 * What must stay: an interrupt that is bound is never moved. Free: who takes an interrupt,
 * with its page.
 *
 * Tests by part: (below crates/policy-sys/tests) all/sched_mc_later.rs:
 * `interrupts_leave_after_a_while` (`wp_irq_cpu`, `wp_mc_out_of_use`);
 * engine/tests/behaviour/sched_mc.rs: `interrupts_follow`.
 *
 * Callers: `Core::irq_cpu`, for the engine's devices.
 *
 * Tests: all/sched_mc_later.rs
 */
#include "wakeplace/policy.h"

/* Has the CPU been idle for so long that its interrupts leave it? */
WP_INLINE int wp_mc_out_of_use(const struct wp_ctx *ctx, u32 cpu, u64 now_ns)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);

	return wp_cpu_idle(c) &&
	       now_ns >= c->idle.idle_stamp_ns + ctx->params.mc_irq_idle_us * 1000ull;
}

/*
 * Who takes a device's interrupt that may go anywhere and belongs to `cpu`: that CPU while it is in
 * use, else the lowest one that is; if none is, the lowest of all.
 */
WP_FN u32 wp_irq_cpu(const struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 now_ns)
{
	u32 i, lowest = WP_NONE;

	if (!ctx->params.mc_irq_idle_us || !(wp_mc_packs(ctx) || wp_mc_saves_at(ctx, cpu)) ||
	    !wp_mc_out_of_use(ctx, cpu, now_ns))
		return cpu;
	WP_FOR(i, ctx->nr_cpus, WP_MAX_CPUS) {
		if (!WP_AT(ctx->cpus, i)->queue.online)
			continue;
		if (lowest == WP_NONE)
			lowest = i;
		if (!wp_mc_out_of_use(ctx, i, now_ns))
			return i;
	}
	return lowest == WP_NONE ? cpu : lowest;
}
