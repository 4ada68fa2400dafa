// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Placement under sched_mc power saving (docs/rules/sched-mc.md#placement-3-1,
 * docs/rules/sched-mc.md#mc-acceptance (5)). Natively only.
 *
 * What must stay: eras to 3.4 alone use it. Free: the test of room, for those eras alone.
 *
 * Tests by part: (below crates/policy-sys/tests) all/sched_mc.rs: `forks_stay_while_there_is_room`
 * (`wp_mc_keeps`); engine/tests/behaviour/sched_mc.rs: `short_threads_are_together`
 * (`wp_mc_room_at`, by mc_strict), `no_useless_kicks` (`wp_mc_saves_at`).
 *
 * Callers: `wp_walk_domains` (select.c), idle_sibling_4_8.c, nohz_4_16.c, sched_mc_irq.c.
 *
 * Tests: all/sched_mc.rs
 */
#include "wakeplace/policy.h"

/*
 * Should a task not leave what is below this level? Where power is saved a new one stays near its
 * parent while the level has, for every two of its tasks, more than one task's worth of power.
 */
WP_FN int wp_mc_keeps(const struct wp_ctx *ctx WP_NONNULL,
		      const struct wp_sched_domain *dom WP_NONNULL)
{
	u32 i, power = 0, tasks = 0;

	if (!(dom->flags & WP_SD_POWERSAVINGS))
		return 0;
	WP_FOR(i, dom->nr_cpus, WP_MAX_CPUS) {
		const struct wp_cpu *c =
			WP_AT(ctx->cpus, *WP_AT(ctx->list, dom->first_cpu + i));

		power += c->load.capacity;
		tasks += c->queue.nr_fair;
	}
	return tasks / 2 < wp_capacity_tasks(power);
}

/* Is some level of the CPU one that saves power? */
WP_FN int wp_mc_saves_at(const struct wp_ctx *ctx WP_NONNULL, u32 cpu)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	u32 level;

	WP_FOR(level, c->topo.nr_levels, WP_MAX_LEVELS) {
		if (WP_AT(ctx->doms, *WP_AT(c->topo.dom, level))->flags & WP_SD_POWERSAVINGS)
			return 1;
	}
	return 0;
}

/* mc_strict: a busy target that has room for one more task is not left for an idle CPU. */
WP_INLINE int wp_mc_room_at(const struct wp_ctx *ctx, u32 cpu)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);

	return ctx->params.mc_strict && wp_mc_saves_at(ctx, cpu) &&
	       c->queue.nr_running < wp_capacity_tasks(c->load.capacity);
}
