// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * How many tasks a core is to hold at its frequency before others take some
 * (docs/rules/sched-mc.md#sched-mc-patches, docs/rules/sched-mc.md#mc-freq-table): the platform's
 * table, or thresholds at run time.
 *
 * Kernels to 3.4 claim it as cpu power, noted when a clock changes (sched_mc_power.c). Later ones
 * have no such power and are asked at each decision, at the frequency that the CPU has then
 * (sched_mc_pack.c). A core that no table is for: 4 tasks below 60 % of its highest frequency. That
 * is what the series says of its one core, 600 of 1000 MHz; for others it is assumed
 * (docs/decisions/033). A core of one frequency never is below.
 *
 * What must stay: thresholds count kHz against the highest operating point; a limit of the clock
 * does not change the table. Free: the default for cores without a table
 * (docs/decisions/033); tables are the platforms'.
 *
 * Tests by part: (below crates/policy-sys/tests) all/sched_mc_later.rs: `what_a_core_holds`
 * (`wp_mc_holds`), `thresholds_of_the_user` (`wp_mc_thresholds`), `a_clock_that_the_kernel_sets`
 * (`wp_mc_khz`); all/sched_mc.rs: `powers_of_the_table` (`wp_mc_tasks_at`), `the_knob_at_run_time`
 * (`wp_mc_knob`).
 *
 * Callers: sched_mc_power.c (to 3.4) and sched_mc_pack.c (later).
 *
 * Tests: all/sched_mc_later.rs, all/sched_mc.rs
 */
#include "wakeplace/policy.h"

#define WP_MC_SLOW_TASKS 4u
#define WP_MC_SLOW_PERCENT 60u

/* Kernels to 3.4: domains and cpu power follow the knob. */
WP_INLINE int wp_mc_knob(const struct wp_ctx *ctx)
{
	return WP_NOT_LIVE(ctx->params.domain_form == WP_DOMAINS_31);
}

/* An entry of a table whose largest is `most`, or as the thresholds at run time say. */
WP_INLINE u32 wp_mc_thresholds(const struct wp_ctx *ctx, u32 khz, u32 tasks, u32 most)
{
	if (ctx->params.mc_limit_khz != WP_NONE)
		tasks = khz < ctx->params.mc_limit_khz ? most : 1;
	if (ctx->params.mc_tasks != WP_NONE && tasks == most && most > 1)
		tasks = ctx->params.mc_tasks;
	return wp_max(tasks, 1);
}

/* By the platform's table; without one a single task. */
WP_INLINE u32 wp_mc_tasks_at(const struct wp_ctx *ctx, u32 khz)
{
	const struct wp_mc_table *t = &ctx->mc_table;
	u32 last = wp_max(t->nr, 1) - 1;

	if (!t->step_khz)
		return 1;
	return wp_mc_thresholds(ctx, khz, *WP_AT(t->tasks, wp_min(khz / t->step_khz, last)),
				*WP_AT(t->tasks, 0));
}

/*
 * The frequency a CPU has now. Where a kernel sets it, only its share of the highest is known, a
 * ratio that was rounded down: what it can be at most, so that no entry begins too late.
 */
WP_INLINE u32 wp_mc_khz(const struct wp_ctx *ctx, const struct wp_cpu *c,
			const struct wp_freq_dom *fd, u32 max_khz)
{
	if (!ctx->freq_external)
		return *WP_AT(ctx->opp_khz, fd->first_opp + fd->cur_opp);
	return (u32)wp_min64((c->load.freq_scale + 1ull) * max_khz >> 10, max_khz);
}

/* Tasks that a CPU of a later kernel is to hold now; 1 where nothing of its clock is known. */
WP_FN u32 wp_mc_holds(const struct wp_ctx *ctx WP_NONNULL, u32 cpu)
{
	const struct wp_params *p = &ctx->params;
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	const struct wp_freq_dom *fd = WP_AT(ctx->freq_doms, c->topo.freq_dom);
	u32 max_khz, khz, slow;

	if (!p->arch_power || !p->mc_arch_hook || !p->mc_freq_table || !fd->nr_opps)
		return 1;
	max_khz = *WP_AT(ctx->opp_khz, fd->first_opp + fd->nr_opps - 1);
	khz = wp_mc_khz(ctx, c, fd, max_khz);
	if (c->balance.mc.known_core && ctx->mc_table.step_khz)
		return wp_mc_tasks_at(ctx, khz);
	slow = 100ull * khz < (u64)WP_MC_SLOW_PERCENT * max_khz;
	return wp_mc_thresholds(ctx, khz, slow ? WP_MC_SLOW_TASKS : 1, WP_MC_SLOW_TASKS);
}
