// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Balancing that saves power, of the kernels to 3.4 (docs/rules/sched-mc.md#power-saving-balance):
 * where nothing else is to be done, the group with most tasks that still has room (the leader)
 * takes from the one with fewest. Natively only.
 *
 * What must stay: eras to 3.4 alone use it; ties go by the groups' order. Free: the choice,
 * for those eras alone.
 *
 * Tests by part: crates/engine/tests/behaviour/sched_mc.rs: `a_quad_consolidates`
 * (`wp_check_power_save_busiest_group_3_4`, `wp_update_sd_power_savings_stats_3_4`).
 * all/sched_mc.rs of policy-sys tries the domains that it needs; none of its tests asserts what is
 * chosen.
 *
 * Callers: `wp_find_busiest_3_12` (busiest_3_12.c).
 *
 * Kernel: check_power_save_busiest_group(), update_sd_power_savings_stats(), kernel/sched/fair.c,
 *         to 3.4
 * Tests: all/sched_mc.rs
 */
#include "wakeplace/policy.h"

struct wp_savings {
	u32 leader; /* index of a group, WP_NONE: none */
	u32 least;
	u32 most_tasks;
	u32 least_tasks;
	u32 leader_first; /* their first CPUs */
	u32 least_first;
};

/* The group in `scratch` takes part: it has tasks, and room. */
WP_INLINE void wp_update_sd_power_savings_stats_3_4(struct wp_lb_env *bal, struct wp_savings *s,
						    u32 group, u32 first)
{
	u32 tasks = bal->scratch.nr_running;

	if (s->least == WP_NONE || tasks < s->least_tasks ||
	    (tasks == s->least_tasks && first > s->least_first)) {
		s->least = group;
		s->least_tasks = tasks;
		s->least_first = first;
		bal->busiest = bal->scratch;
	}
	if (s->leader == WP_NONE || tasks > s->most_tasks ||
	    (tasks == s->most_tasks && first < s->leader_first)) {
		s->leader = group;
		s->most_tasks = tasks;
		s->leader_first = first;
	}
}

/*
 * The domain is balanced. Returns 1 if this idle CPU is of the leader and should empty the group
 * with fewest tasks, one task at a time; `busiest_group` and `imbalance` say so.
 */
WP_FN int wp_check_power_save_busiest_group_3_4(struct wp_ctx *ctx WP_NONNULL,
						struct wp_lb_env *bal WP_NONNULL)
{
	const struct wp_sched_domain *dom = wp_bal_dom(ctx, bal);
	u32 local = *WP_AT(WP_AT(ctx->cpus, bal->this_cpu)->topo.group, bal->level);
	struct wp_savings s = { .leader = WP_NONE, .least = WP_NONE };
	u32 k;

	if (!(dom->flags & WP_SD_POWERSAVINGS) || bal->idle == WP_CPU_NOT_IDLE)
		return 0;
	if (!bal->local.nr_running || bal->local.nr_running >= bal->local.room)
		return 0;
	WP_FOR(k, dom->nr_groups, WP_MAX_CPUS) {
		const struct wp_sched_group *g = WP_AT(ctx->groups, dom->first_group + k);

		wp_update_sg_lb_stats_3_12(ctx, bal, k, k == local);
		if (bal->scratch.nr_running && bal->scratch.nr_running < bal->scratch.room)
			wp_update_sd_power_savings_stats_3_4(bal, &s, k,
							     *WP_AT(ctx->list, g->first_cpu));
	}
	if (s.leader != local || s.least == local)
		return 0;
	bal->busiest_group = s.least;
	bal->imbalance = (s64)bal->busiest.load_per_task;
	return 1;
}
