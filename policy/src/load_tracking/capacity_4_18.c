// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A CPU's capacity in the forms before 4.19 (docs/rules/linux-3-8.md#cpu-power,
 * docs/rules/sched-mc.md#cpu-power-3-1). Natively only.
 *
 *   capacity = full * (its core's gain from SMT / threads) * share of time left by other classes
 *
 * full is 1024 on every CPU before 3.19: kernels did not know that CPUs differ. The time of other
 * classes is kept in a window that is halved every half second. When it is refreshed:
 * balance_common.c.
 *
 * What must stay: eras to 4.18 alone use it; the window's times are ns. Free: the forms, for
 * those eras alone.
 *
 * Tests by part: (below crates/policy-sys/tests; `every_fixture_holds` runs the fixtures)
 * fixtures/capacity: 3-8-all-cpus-alike.toml (`wp_init_power`), 3-8-rt-time.toml
 * (`wp_update_cpu_capacity_4_18`, `wp_time_left`, `wp_sched_rt_avg_update_4_18`),
 * 3-8-rt-window-ages.toml (`wp_age_other`), 3-8-at-least-1.toml, 4-7-rt-time-on-a-little-cpu.toml;
 * all/early_eras.rs: `capacities_in_tasks` (`wp_capacity_tasks`).
 *
 * Callers: balance_common.c refreshes, topology.c and sched_mc_boot.c begin, `Core::ran_other`
 * notes the time of other classes.
 *
 * Kernel: update_cpu_capacity(), scale_rt_capacity() as wp_time_left(), kernel/sched/fair.c, to
 *         4.18; sched_rt_avg_update(), kernel/sched/sched.h, to 4.18; sched_avg_update() as
 *         wp_age_other(), kernel/sched/core.c, to 4.18
 * Tests: fixtures/capacity, all/early_eras.rs
 */
#include "wakeplace/policy.h"

#define WP_WINDOW_NS 500000000ull

/* Halve what is older than the window. */
WP_INLINE void wp_age_other(struct wp_cpu *c, u64 now_ns)
{
	u64 halvings = wp_sub(now_ns, c->load.other_since_ns + 1) / WP_WINDOW_NS;

	c->load.other_since_ns += halvings * WP_WINDOW_NS;
	c->load.other_ns = halvings < 64 ? c->load.other_ns >> halvings : 0;
}

/* How many always-running tasks a capacity is enough for, to the nearest. */
WP_FN u32 wp_capacity_tasks(u32 capacity)
{
	return (capacity + WP_SCALE / 2) / WP_SCALE;
}

/* Other classes or interrupts have used a CPU for `ran_ns` up to now. */
WP_FN int wp_sched_rt_avg_update_4_18(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 now_ns,
				      u64 ran_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, cpu);

	if (ctx->params.capacity_form == WP_CAPACITY_SIGNALS)
		return 0;
	wp_age_other(c, now_ns);
	c->load.other_ns += ran_ns;
	return 0;
}

/* Share of the window that was left for fair tasks, 0..1024. */
WP_INLINE u32 wp_time_left(struct wp_cpu *c, u64 now_ns)
{
	u64 total;

	wp_age_other(c, now_ns);
	total = WP_WINDOW_NS + wp_sub(now_ns, c->load.other_since_ns);
	return (u32)wp_div(wp_sub(total, c->load.other_ns), total >> 10);
}

/* What other classes leave, at least 1; balancing refreshes by it. */
WP_FN int wp_update_cpu_capacity_4_18(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	u32 left = wp_min(wp_time_left(c, now_ns), WP_SCALE);

	c->load.capacity = wp_max(wp_mc_scaled(ctx, cpu, c->load.power_orig) * left >> 10, 1);
	return 0;
}

/* At the start: other classes have not run yet. */
WP_INLINE void wp_init_power(struct wp_ctx *ctx, u32 cpu)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	const struct wp_sched_domain *core = WP_AT(ctx->doms, c->topo.dom[0]);

	c->load.power_orig = 0;
	if (ctx->params.capacity_form == WP_CAPACITY_SIGNALS)
		return;
	c->load.power_orig = WP_SCALE;
	if (ctx->params.capacity_form == WP_CAPACITY_WINDOW)
		c->load.power_orig = c->load.capacity_orig;
	if (c->topo.nr_levels && (core->flags & WP_SD_SHARE_CPUCAPACITY))
		c->load.power_orig =
			c->load.power_orig * (ctx->params.smt_gain / core->nr_cpus) >> 10;
	c->load.power_orig = wp_max(c->load.power_orig, 1);
	c->load.capacity = wp_mc_scaled(ctx, cpu, c->load.power_orig);
}
