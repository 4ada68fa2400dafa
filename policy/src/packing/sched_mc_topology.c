// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Power saving of the kernels to 3.4 (docs/rules/sched-mc.md#sched-mc-knob) and the topology that
 * the sched_mc series of 2011 pretends under it (patches 1 to 3). Natively only.
 *
 * CPUs of a multi-core Cortex-A9 share one package. With power saving the series divides it by the
 * parity of CPU numbers, {0,2} and {1,3}, so that what saves power between packages applies.
 *
 * What must stay: labels of pretended packages are those of no other; outside of power mode nothing
 * differs. Free: how packages are labelled.
 *
 * Tests by part: (below crates/policy-sys/tests) all/sched_mc.rs: `places_by_mpidr`
 * (`wp_mpidr_ids`), `the_topology_of_a_dual` (`wp_mc_dom_flags`, `wp_mc_saves`,
 * `wp_mc_power_mode`), `the_topology_of_a_quad` (`wp_mc_label`, `wp_mc_begin_level`,
 * `wp_mc_end_level`), `a_newly_idle_cpu_gets_a_running_task_at_level_2` (`wp_mc_wakes`).
 *
 * Callers: topology.c and domains_3_9.c as domains are built; sched_mc_power.c, detach.c and
 * nohz_4_16.c ask.
 *
 * Tests: all/sched_mc.rs
 */
#include "wakeplace/policy.h"

/* Does either knob ask for power saving? */
WP_INLINE int wp_mc_saves(const struct wp_ctx *ctx)
{
	return ctx->params.sched_mc_power_savings || ctx->params.sched_smt_power_savings;
}

/* Level 2 of either knob: a newly idle CPU may have a running task pushed to it. */
WP_INLINE int wp_mc_wakes(const struct wp_ctx *ctx)
{
	return ctx->params.sched_mc_power_savings >= 2 || ctx->params.sched_smt_power_savings >= 2;
}

/*
 * The place of a CPU by its MPIDR. Bits 31:30 are 10 in a multiprocessor; bit 24 says that the
 * lowest field counts threads, as wide as docs/rules/sched-mc.md#mc-topology has it.
 */
WP_FN void wp_mpidr_ids(u32 mpidr, struct wp_mc_ids *ids WP_NONNULL)
{
	ids->thread = WP_NONE;
	ids->core = 0;
	ids->socket = WP_NONE;
	if (mpidr >> 30 != 2)
		return;
	if (mpidr & 1u << 24) {
		ids->thread = mpidr & 0x3u;
		ids->core = mpidr >> 8 & 0xfu;
		ids->socket = mpidr >> 16 & 0xffu;
	} else {
		ids->core = mpidr & 0x3u;
		ids->socket = mpidr >> 8 & 0xfu;
	}
}

/* Has this CPU the packages of power saving? Cores of other kinds have their own in any case. */
WP_INLINE int wp_mc_power_mode(const struct wp_ctx *ctx, u32 cpu)
{
	return ctx->params.mc_topology && ctx->params.sched_mc_power_savings &&
	       WP_AT(ctx->cpus, cpu)->balance.mc.known_core;
}

/* Whose domains are being built: those of a level that shares a cache, once power mode divides it?
 */
WP_INLINE void wp_mc_begin_level(struct wp_ctx *ctx, u32 level)
{
	u32 flags = WP_AT(ctx->topo, level)->flags;
	u32 cache = (flags & (WP_SD_SHARE_CPUCAPACITY | WP_SD_SHARE_LLC)) == WP_SD_SHARE_LLC;

	ctx->mc_split = cache && ctx->params.domain_form == WP_DOMAINS_31 ? level + 1 : 0;
}

/* No level pretends any more. */
WP_INLINE void wp_mc_end_level(struct wp_ctx *ctx)
{
	ctx->mc_split = 0;
}

/* The label of a CPU's package in power mode: socket and parity. Labels of platforms are u16. */
WP_INLINE u32 wp_mc_label(const struct wp_ctx *ctx, u32 cpu)
{
	return 1u << 31 | WP_AT(ctx->cpus, cpu)->balance.mc.ids.socket << 1 | (cpu & 1u);
}

/*
 * Flags that a level of 3.1 has for power saving, instead of spreading
 * (docs/rules/sched-mc.md#sched-mc-knob, docs/rules/sched-mc.md#mc-lowest-first).
 */
WP_INLINE void wp_mc_dom_flags(const struct wp_ctx *ctx, struct wp_sched_domain *dom)
{
	if (!wp_mc_saves(ctx))
		return;
	if (ctx->params.mc_lowest_first && ctx->params.asym_packing)
		dom->flags |= WP_SD_ASYM_PACKING;
	dom->flags &= ~(u32)WP_SD_PREFER_SIBLING;
	if (!(dom->flags & WP_SD_SHARE_LLC) || ctx->params.sched_smt_power_savings)
		dom->flags |= WP_SD_POWERSAVINGS;
}
