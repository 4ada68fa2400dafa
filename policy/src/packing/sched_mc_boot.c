// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Capacities of the sched_mc series at the start and after domains were rebuilt
 * (docs/rules/sched-mc.md#sched-mc-patches, docs/rules/sched-mc.md#mc-freq-table). Natively only.
 *
 * What must stay: capacities are known before the first event. Free: when capacities are
 * found, as long as that is before they are read.
 *
 * Tests by part: (below crates/policy-sys/tests) all/sched_mc.rs: `the_speed_at_boot`
 * (`wp_mc_boot`, `wp_mc_group_capacities`), `the_knob_at_run_time` (`wp_mc_rebuilt`).
 *
 * Callers: `wp_start` (energy_model.c); `wp_domains_rebuilt` (hotplug.c).
 *
 * Tests: all/sched_mc.rs
 */
#include "wakeplace/policy.h"

/* All groups' capacities, from their CPUs. */
WP_INLINE void wp_mc_group_capacities(struct wp_ctx *ctx)
{
	u32 i;

	WP_FOR(i, ctx->nr_groups, WP_MAX_GROUPS)
		wp_update_group_capacity(ctx, WP_AT(ctx->groups, i));
}

/*
 * The first clocks are set. The series notes a speed at transitions only: until the first one it
 * takes 0 for it, the slow end of its table. With mc_boot_freq it reads the clock (authors' list).
 */
WP_INLINE void wp_mc_boot(struct wp_ctx *ctx)
{
	u32 cpu;

	if (ctx->mc_booted || !wp_mc_asks(ctx))
		return;
	ctx->mc_booted = 1;
	WP_FOR(cpu, ctx->nr_cpus, WP_MAX_CPUS) {
		if (!ctx->params.mc_boot_freq)
			wp_mc_freq(ctx, cpu, 0);
		wp_init_power(ctx, cpu);
	}
	wp_mc_group_capacities(ctx);
}

/* The domains were built anew, perhaps in another mode: the last known speeds stay. */
WP_INLINE void wp_mc_rebuilt(struct wp_ctx *ctx, u64 now_ns)
{
	u32 cpu;

	if (!wp_mc_asks(ctx))
		return;
	wp_mc_configure(ctx);
	WP_FOR(cpu, ctx->nr_cpus, WP_MAX_CPUS) {
		if (WP_AT(ctx->cpus, cpu)->queue.online)
			wp_update_cpu_capacity_4_18(ctx, cpu, now_ns);
	}
}
