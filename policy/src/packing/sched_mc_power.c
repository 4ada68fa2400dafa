// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * CPU power as the sched_mc series has it (docs/rules/sched-mc.md#sched-mc-patches,
 * docs/rules/sched-mc.md#mc-arch-power, docs/rules/sched-mc.md#mc-arch-hook,
 * docs/rules/sched-mc.md#mc-freq-table, docs/rules/sched-mc.md#mc-debugfs). Natively only.
 *
 *   cpu power = ... * what the architecture claims / 1024      (P4, P5)
 *   claim     = 1024 * tasks of the table at the clock's speed (P6, P7), 1024 outside power mode
 *
 * That a slow core claims to be more than one is deliberate: balancing takes cpu power for a number
 * of tasks, and so leaves a core alone until it has that many.
 *
 * What must stay: a claim is 1024 per task; balancing sees it at its next refresh only. Free:
 * how a claim is kept.
 *
 * Tests by part: (below crates/policy-sys/tests) all/sched_mc.rs: `powers_of_the_table`
 * (`wp_mc_cpu_power`, `wp_mc_derive`, `wp_mc_freq`),
 * `the_architecture_is_asked_with_the_feature_only` (`wp_mc_scaled`, `wp_mc_asks`),
 * `the_knob_at_run_time` (`wp_mc_configure`), `debug_files` (`wp_mc_write_scale`,
 * `wp_mc_write_power`, `wp_mc_derive_all`).
 *
 * Callers: capacity_4_18.c and freq.c (a clock has changed); topology.c and sched_mc_boot.c;
 * crates/policy-sys/src/sched_mc.rs (debug files).
 *
 * Tests: all/sched_mc.rs
 */
#include "wakeplace/policy.h"

/* Is the architecture asked, as in the kernels that the series was made for? */
WP_INLINE int wp_mc_asks(const struct wp_ctx *ctx)
{
	return ctx->params.arch_power && wp_mc_knob(ctx);
}

/* Find a CPU's claim anew from its table and the last known speed. */
WP_INLINE void wp_mc_derive(struct wp_ctx *ctx, u32 cpu)
{
	struct wp_mc_cpu *mc = &WP_AT(ctx->cpus, cpu)->balance.mc;

	mc->cpu_power = WP_SCALE;
	if (mc->config == WP_MC_CA9 && ctx->params.mc_freq_table)
		mc->cpu_power = WP_SCALE * wp_mc_tasks_at(ctx, mc->freq_khz);
}

/* What the hook answers (P5); without it the default. Later kernels note nothing. */
WP_FN u32 wp_mc_cpu_power(const struct wp_ctx *ctx WP_NONNULL, u32 cpu)
{
	u32 power = WP_AT(ctx->cpus, cpu)->balance.mc.cpu_power;

	if (!wp_mc_knob(ctx))
		return WP_SCALE * wp_mc_holds(ctx, cpu);
	return power && ctx->params.mc_arch_hook ? power : WP_SCALE;
}

/* A CPU's power without the time of other classes, `full` before the architecture is asked. */
WP_INLINE u32 wp_mc_scaled(const struct wp_ctx *ctx, u32 cpu, u32 full)
{
	if (!wp_mc_asks(ctx) || ctx->params.capacity_form != WP_CAPACITY_POWER)
		return full;
	return (u32)((u64)full * wp_mc_cpu_power(ctx, cpu) >> 10);
}

/* A clock has changed: its CPUs' claims follow. Balancing sees it at its next refresh (P10). */
WP_INLINE void wp_mc_freq(struct wp_ctx *ctx, u32 cpu, u32 khz)
{
	if (!wp_mc_asks(ctx))
		return;
	WP_AT(ctx->cpus, cpu)->balance.mc.freq_khz = khz;
	wp_mc_derive(ctx, cpu);
}

/* The mode has changed, or is found for the first time: the table that each CPU follows. */
WP_INLINE void wp_mc_configure(struct wp_ctx *ctx)
{
	u32 cpu;

	WP_FOR(cpu, ctx->nr_cpus, WP_MAX_CPUS) {
		struct wp_mc_cpu *mc = &WP_AT(ctx->cpus, cpu)->balance.mc;

		wp_mpidr_ids(mc->mpidr, &mc->ids);
		mc->config = wp_mc_power_mode(ctx, cpu) ? WP_MC_CA9 : WP_MC_DEFAULT;
		wp_mc_derive(ctx, cpu);
	}
}

/* debugfs: after a write every online CPU's claim is found anew, so that a power that was written
 * is gone at once (P9). */
WP_INLINE void wp_mc_derive_all(struct wp_ctx *ctx)
{
	u32 cpu;

	WP_FOR(cpu, ctx->nr_cpus, WP_MAX_CPUS) {
		if (WP_AT(ctx->cpus, cpu)->queue.online)
			wp_mc_derive(ctx, cpu);
	}
}

/* debugfs, the setting of a CPU; all claims are found anew. */
WP_FN int wp_mc_write_scale(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u32 config)
{
	WP_AT(ctx->cpus, cpu)->balance.mc.config = config;
	wp_mc_derive_all(ctx);
	return 0;
}

/* debugfs, the power of a CPU; all claims are found anew. */
WP_FN int wp_mc_write_power(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u32 power)
{
	WP_AT(ctx->cpus, cpu)->balance.mc.cpu_power = power;
	wp_mc_derive_all(ctx);
	return 0;
}
