// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Kicks for idle CPUs whose tick is stopped, in the forms before 4.17 (3.8:
 * docs/rules/linux-3-8.md#nohz-3-8; 3.1: docs/rules/sched-mc.md#idle-load-balancer;
 * docs/rules/linux-3-1-to-4-7.md#early-kicks). Natively only.
 *
 *   4.7: 2+ tasks; busy caches beside others; a CPU with reduced capacity; packing
 *   3.8: 2+ tasks; a group with 2+ busy CPUs within a cache; packing; under power-policy what
 *        balancing could pack
 *   3.1: of all busy CPUs two may kick: the first with 2+ tasks, the second with any. The idle CPU
 *        that is kicked is the owner, the first to stop its tick; without one the lowest.
 *
 * What must stay: eras to 4.16 alone use it; whether to kick (`wp_nohz_kick_needed_*`) is 0 or 1
 * for one busy CPU. Free: a form, for its eras alone, with its page.
 *
 * Tests by part: (below crates/policy-sys/tests; `every_fixture_holds` runs the fixtures)
 * fixtures/balance_38: kick-two-*.toml, kick-packing.toml, no-kick-one-thread-of-a-core.toml
 * (`wp_nohz_kick_needed_3_8`, `wp_ticking`, `wp_tick_stopped`), no-kick-for-a-lower-idle-cpu.toml
 * (`wp_lower_idle`), kick-busy-cache-4-7.toml, no-kick-single-cache-4-7.toml
 * (`wp_nohz_kick_needed_4_7`), first-picker-*.toml, second-picker-one-task.toml, third-never.toml
 * (`wp_nohz_kick_needed_3_1`), no-kick-before-next-balance.toml (`wp_nohz_kick_needed_4_16`),
 * owner-*.toml (`wp_ilb_enter`, `wp_ilb_exit`), kick-only-once.toml (`wp_ilb_target`), stale-*.toml
 * (`wp_nohz_begin_old`); all/sched_mc.rs: `an_idle_cpu_beside_busy_ones_owns_balancing`
 * (`wp_find_new_ilb_3_1`, `wp_is_semi_idle_group_3_1`), `a_kick_is_answered_by_state`;
 * all/power_policy.rs: `scattered_tasks_make_somebody_look` (`wp_pack_kick`, `wp_pack_scattered`,
 * `wp_group_tasks`). `wp_asym_kick_5_4` has no test of its own.
 *
 * Callers: nohz.c, where `nohz_form` is one of before 4.17.
 *
 * Kernel: nohz_kick_needed(), kernel/sched/fair.c, to 4.16; is_semi_idle_group(), find_new_ilb(),
 *         select_nohz_load_balancer() as wp_ilb_enter(), select_nohz_load_balancer() as
 *         wp_ilb_exit(), kernel/sched_fair.c, 3.1
 * Tests: fixtures/balance_38, all/sched_mc.rs
 */
#include "wakeplace/policy.h"

/* Is the tick of this CPU stopped? */
WP_INLINE int wp_tick_stopped(const struct wp_ctx *ctx, u32 cpu)
{
	return (*WP_AT(ctx->nohz_mask, cpu / 64u) >> (cpu % 64u)) & 1u;
}

/* CPUs of the group whose tick runs. */
WP_FN u32 wp_ticking(const struct wp_ctx *ctx WP_NONNULL, u32 group)
{
	const struct wp_sched_group *g = WP_AT(ctx->groups, group);
	u32 i, n = 0;

	WP_FOR(i, g->nr_cpus, WP_MAX_CPUS)
		n += !wp_tick_stopped(ctx, *WP_AT(ctx->list, g->first_cpu + i));
	return n;
}

/* Is a CPU of a lower number idle without a tick? The list is ascending. */
WP_FN int wp_lower_idle(const struct wp_ctx *ctx WP_NONNULL, u32 dom_index, u32 cpu)
{
	const struct wp_sched_domain *dom = WP_AT(ctx->doms, dom_index);
	u32 i;

	WP_FOR(i, dom->nr_cpus, WP_MAX_CPUS) {
		u32 other = *WP_AT(ctx->list, dom->first_cpu + i);

		if (other >= cpu)
			return 0;
		if (wp_tick_stopped(ctx, other))
			return 1;
	}
	return 0;
}

/* Work belongs on lower numbers, and a CPU there is idle. */
WP_FN int wp_asym_kick_5_4(const struct wp_ctx *ctx WP_NONNULL, u32 cpu)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	u32 level;

	WP_FOR(level, c->topo.nr_levels, WP_MAX_LEVELS) {
		u32 dom = *WP_AT(c->topo.dom, level);

		if ((WP_AT(ctx->doms, dom)->flags & WP_SD_ASYM_PACKING) &&
		    wp_lower_idle(ctx, dom, cpu))
			return 1;
	}
	return 0;
}

/* Tasks of the group, and in the upper half whether it has room for one more. */
WP_FN u64 wp_group_tasks(const struct wp_ctx *ctx WP_NONNULL,
			 const struct wp_sched_group *g WP_NONNULL)
{
	struct wp_pack_sums s;
	u64 nr;

	wp_pack_sum(ctx, g, &s, WP_POWER_TASKS_ONLY);
	nr = s.nr_running;
	return nr | (u64)(nr * ctx->params.power_full_util < s.room) << 32;
}

/*
 * Could packing empty a group of the domain? It could if a group with tasks, other than the one
 * with fewest, has room. In 3.8 itself a lone task on each of two cores causes no kick, and without
 * a kick no idle CPU looks (docs/decisions/037).
 */
WP_FN int wp_pack_scattered(const struct wp_ctx *ctx WP_NONNULL, u32 dom_index)
{
	const struct wp_sched_domain *dom = WP_AT(ctx->doms, dom_index);
	u32 k, least = ~0u, least_has_room = 0, roomy = 0;

	WP_FOR(k, dom->nr_groups, WP_MAX_CPUS) {
		u64 tasks = wp_group_tasks(ctx, WP_AT(ctx->groups, dom->first_group + k));
		u32 nr = (u32)tasks, has_room = (u32)(tasks >> 32);

		if (!nr)
			continue;
		roomy += has_room;
		if (nr < least) {
			least = nr;
			least_has_room = has_room;
		}
	}
	return roomy > least_has_room;
}

/* Does packing want an idle CPU to look? Only with its parameters on. */
WP_FN int wp_pack_kick(const struct wp_ctx *ctx WP_NONNULL, u32 cpu)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	u32 level;

	if (!ctx->params.power_kick || !ctx->params.power_balance || !wp_pack_active(ctx))
		return 0;
	WP_FOR(level, c->topo.nr_levels, WP_MAX_LEVELS) {
		u32 dom = *WP_AT(c->topo.dom, level);

		if (!(WP_AT(ctx->doms, dom)->flags & WP_SD_SHARE_CPUCAPACITY) &&
		    wp_pack_scattered(ctx, dom))
			return 1;
	}
	return 0;
}

/* Does a busy CPU's tick kick an idle one? As the table above says for 3.8. */
WP_FN int wp_nohz_kick_needed_3_8(const struct wp_ctx *ctx WP_NONNULL, u32 cpu)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	u32 level;

	if (c->queue.nr_running >= 2)
		return 1;
	WP_FOR(level, c->topo.nr_levels, WP_MAX_LEVELS) {
		u32 dom_index = *WP_AT(c->topo.dom, level);
		const struct wp_sched_domain *dom = WP_AT(ctx->doms, dom_index);
		u32 group = dom->first_group + *WP_AT(c->topo.group, level);
		u32 busy = wp_ticking(ctx, group);

		if ((dom->flags & WP_SD_SHARE_LLC) && busy > 1)
			return 1;
		if ((dom->flags & WP_SD_ASYM_PACKING) &&
		    busy != WP_AT(ctx->groups, group)->nr_cpus &&
		    wp_lower_idle(ctx, dom_index, cpu))
			return 1;
	}
	return wp_pack_kick(ctx, cpu);
}

/* Does a busy CPU's tick kick an idle one? As the table above says for 4.7. */
WP_INLINE int wp_nohz_kick_needed_4_7(const struct wp_ctx *ctx, u32 cpu)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);

	/* misfit: the rule of 4.20, if asked for */
	if (c->queue.nr_running >= 2 || c->queue.misfit_task_load)
		return 1;
	if (c->topo.llc_level != WP_NONE && c->topo.llc_level + 1 < c->topo.nr_levels &&
	    WP_AT(ctx->cpus, c->topo.llc_id)->idle.nr_busy_cpus > 1)
		return 1;
	if (c->queue.nr_fair && c->topo.nr_levels &&
	    wp_check_cpu_capacity(c, WP_AT(ctx->doms, c->topo.dom[0])->imbalance_pct))
		return 1;
	return wp_asym_kick_5_4(ctx, cpu);
}

/* The CPU that asks first is the first picker until it stops its tick; likewise the second. */
WP_INLINE int wp_nohz_kick_needed_3_1(struct wp_ctx *ctx, u32 cpu)
{
	u32 nr = WP_AT(ctx->cpus, cpu)->queue.nr_running, self = cpu + 1;

	if (ctx->params.mc_kick_by_room && wp_mc_saves_at(ctx, cpu))
		return nr > wp_capacity_tasks(WP_AT(ctx->cpus, cpu)->load.capacity) ||
		       wp_asym_kick_5_4(ctx, cpu);
	if (!ctx->nohz_first_pick)
		ctx->nohz_first_pick = self;
	if (ctx->nohz_first_pick == self) {
		if (ctx->nohz_second_pick == self)
			ctx->nohz_second_pick = 0;
		return nr > 1;
	}
	if (!ctx->nohz_second_pick)
		ctx->nohz_second_pick = self;
	return ctx->nohz_second_pick == self && nr;
}

/* At a busy CPU's tick, when the next pass over the idle CPUs is due. */
WP_FN int wp_nohz_kick_needed_4_16(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 now_ns)
{
	int kick;

	if (wp_div(now_ns, ctx->tick_ns) < ctx->nohz_next_balance_tick)
		return 0;
	if (ctx->params.nohz_form == WP_NOHZ_31)
		kick = wp_nohz_kick_needed_3_1(ctx, cpu);
	else if (!ctx->nr_nohz)
		return 0;
	else if (wp_mc_quiet(ctx, cpu))
		kick = wp_mc_lower_idle(ctx, cpu);
	else if (ctx->params.nohz_form == WP_NOHZ_38)
		kick = wp_nohz_kick_needed_3_8(ctx, cpu);
	else
		kick = wp_nohz_kick_needed_4_7(ctx, cpu);
	return kick ? WP_DID_KICK : 0;
}

/* Lowest idle CPU of the group, if others of it are busy; WP_NONE: all are alike. */
WP_FN u32 wp_is_semi_idle_group_3_1(const struct wp_ctx *ctx WP_NONNULL,
				    const struct wp_sched_group *g WP_NONNULL)
{
	u32 i, n = 0, first = WP_NONE;

	WP_FOR(i, g->nr_cpus, WP_MAX_CPUS) {
		u32 cpu = *WP_AT(ctx->list, g->first_cpu + i);

		if (!wp_tick_stopped(ctx, cpu))
			continue;
		n++;
		first = wp_min(first, cpu);
	}
	return n == g->nr_cpus ? WP_NONE : first;
}

/*
 * Power saving: which CPU is a better owner of idle balancing than `cpu`, which has just become it
 * (docs/rules/sched-mc.md#idle-load-balancer)? If two or more CPUs are idle: one in a group with
 * busy CPUs, at the lowest level that saves power.
 */
WP_FN u32 wp_find_new_ilb_3_1(const struct wp_ctx *ctx WP_NONNULL, u32 cpu)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	u32 level, k;

	if (!wp_mc_saves(ctx) || ctx->nr_nohz < 2)
		return cpu;
	WP_FOR(level, c->topo.nr_levels, WP_MAX_LEVELS) {
		const struct wp_sched_domain *dom = WP_AT(ctx->doms, *WP_AT(c->topo.dom, level));
		u32 own = *WP_AT(c->topo.group, level);

		if (!(dom->flags & WP_SD_POWERSAVINGS))
			continue;
		WP_FOR(k, dom->nr_groups, WP_MAX_CPUS) {
			u32 at = own + k < dom->nr_groups ? own + k : own + k - dom->nr_groups;
			u32 found = wp_is_semi_idle_group_3_1(
				ctx, WP_AT(ctx->groups, dom->first_group + at));

			if (found != WP_NONE)
				return found;
		}
	}
	return cpu;
}

/* 3.1: its tick stops. */
WP_INLINE void wp_ilb_enter(struct wp_ctx *ctx, u32 cpu)
{
	if (ctx->nohz_first_pick == cpu + 1)
		ctx->nohz_first_pick = 0;
	if (ctx->nohz_second_pick == cpu + 1)
		ctx->nohz_second_pick = 0;
	if (!ctx->nohz_owner)
		ctx->nohz_owner = wp_find_new_ilb_3_1(ctx, cpu) + 1;
}

/* 3.1: the owner's tick runs again; nobody owns idle balancing. */
WP_INLINE void wp_ilb_exit(struct wp_ctx *ctx, u32 cpu)
{
	if (ctx->nohz_owner == cpu + 1)
		ctx->nohz_owner = 0;
}

/* 3.1: a kick is sent to the owner, else to `idle`, the lowest idle CPU. WP_NONE: the last one that
 * it got is still unanswered. */
WP_INLINE u32 wp_ilb_target(struct wp_ctx *ctx, u32 idle)
{
	u32 cpu = ctx->nohz_owner ? ctx->nohz_owner - 1 : idle;
	struct wp_cpu *c;

	ctx->nohz_next_balance_tick++;
	if (cpu == WP_NONE)
		return WP_NONE;
	c = WP_AT(ctx->cpus, cpu);
	if (c->idle.ilb & WP_ILB_KICKED)
		return WP_NONE;
	c->idle.ilb |= WP_ILB_KICKED;
	return cpu;
}

/*
 * A kicked CPU answers: 3.1 goes by what it recorded at its last tick. If it was busy then and has
 * stopped its tick since, nothing happens and the kick stays unanswered: the next ones are not sent
 * until it takes a tick while idle. The correction of 3.2 looks at its state and clears the mark.
 */
WP_INLINE int wp_nohz_begin_old(struct wp_ctx *ctx, u32 cpu)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	u32 form = ctx->params.nohz_form;

	if (form == WP_NOHZ_31 && ctx->params.ilb_idle_at_tick &&
	    !(c->idle.ilb & WP_ILB_IDLE_AT_TICK))
		return WP_NOHZ_NOTHING;
	c->idle.ilb &= ~(u32)WP_ILB_KICKED;
	if (!wp_cpu_idle(c))
		return WP_NOHZ_NOTHING;
	return form == WP_NOHZ_47 ? WP_NOHZ_DUE : WP_NOHZ_ALL;
}
