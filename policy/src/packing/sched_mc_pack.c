// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * sched-mc on kernels after 3.4 (docs/decisions/033): no domain is rebuilt and no cpu power is
 * claimed, but a CPU holds as many tasks as the table says at its frequency before others of its
 * cache get any.
 *
 *   level 1   forks and execs take the lowest CPU with room, balancing leaves groups that have room
 *             alone (power_balance.c)
 *   level 2   and wake-ups do
 *
 * Room is the table's number (sched_mc_table.c) less what other classes take, rounded: 4 become 3
 * when they take more than an eighth (P5). Threads share their core's power, as cpu power did.
 * Where energy-aware placement is active, or power-policy packs, those decide instead.
 *
 * What must stay: CPUs ascend (the lowest with room); level and knob are looked up at each
 * decision. Free: how room is counted, with docs/decisions/033.
 *
 * Tests by part: (below crates/policy-sys/tests) all/sched_mc_later.rs:
 * `tasks_join_the_lowest_with_room` (`wp_mc_select`, `wp_mc_refuses`), `what_each_level_places`
 * (`wp_mc_places`, `wp_mc_packs`), `time_of_other_classes_counts` (`wp_mc_power`, `wp_mc_room`),
 * `balancing_leaves_what_has_room` (`wp_mc_balances`), `no_useless_kicks` (`wp_mc_quiet`,
 * `wp_mc_overfull`), `no_kicks_for_another_cache` (`wp_mc_lower_idle`); all/idle_pass.rs:
 * `tasks_with_room_are_no_surplus` (`wp_surplus`).
 *
 * Callers: `wp_select_spread` (select.c), power_balance.c, nohz.c, the tick (tick.c).
 *
 * Tests: all/sched_mc_later.rs
 */
#include "wakeplace/policy.h"

/* Is it this kernel's form, and is power to be saved? */
WP_INLINE int wp_mc_packs(const struct wp_ctx *ctx)
{
	return wp_mc_level(ctx) && !wp_mc_knob(ctx) && !ctx->energy_active && !wp_pack_active(ctx);
}

/* Does it choose CPUs for requests of this kind? */
WP_INLINE int wp_mc_places(const struct wp_ctx *ctx, u32 kind)
{
	return ctx->params.mc_placement && wp_mc_packs(ctx) &&
	       (kind != WP_PLACE_WAKE || wp_mc_level(ctx) >= 2);
}

/* Does it take part in balancing? */
WP_INLINE int wp_mc_balances(const struct wp_ctx *ctx)
{
	return ctx->params.mc_balance && wp_mc_packs(ctx);
}

/* A CPU's power while it holds so many, 1024 = one task. Limits of its frequency are in the table
 * already: only other classes take from it. */
WP_FN u32 wp_mc_power(const struct wp_ctx *ctx WP_NONNULL, u32 cpu)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	const struct wp_sched_domain *core = WP_AT(ctx->doms, c->topo.dom[0]);
	u32 full = WP_NOT_LIVE(c->load.power_orig) ? c->load.power_orig
						   : wp_get_actual_cpu_capacity(ctx, c);
	u64 power = wp_div((u64)WP_SCALE * wp_mc_holds(ctx, cpu) * wp_min(c->load.capacity, full),
			   full);

	if (c->topo.nr_levels && (core->flags & WP_SD_SHARE_CPUCAPACITY))
		power = power * (u32)wp_div(ctx->params.smt_gain, core->nr_cpus) >> 10;
	return (u32)power;
}

/* Tasks that there is room for where the CPUs have so much power together: one at least. */
WP_INLINE u32 wp_mc_room(u64 power)
{
	return wp_max((u32)((power + WP_SCALE / 2) / WP_SCALE), 1);
}

/* Has it more tasks than it has room for? */
WP_INLINE int wp_mc_overfull(const struct wp_ctx *ctx, u32 cpu)
{
	return wp_nr_awake(WP_AT(ctx->cpus, cpu)) > wp_mc_room(wp_mc_power(ctx, cpu));
}

/* The authors' list: no CPU is woken to look for work while this CPU has room for its own tasks. */
WP_FN int wp_mc_quiet(const struct wp_ctx *ctx WP_NONNULL, u32 cpu)
{
	return ctx->params.mc_kick_by_room && wp_mc_balances(ctx) &&
	       !WP_AT(ctx->cpus, cpu)->queue.misfit_task_load && !wp_mc_overfull(ctx, cpu);
}

/* ... but for what belongs on lower numbers (P8): is one of them idle, its tick stopped? Of the
 * cache only, as placement is: a CPU further away would look in vain. */
WP_FN int wp_mc_lower_idle(const struct wp_ctx *ctx WP_NONNULL, u32 cpu)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	const struct wp_sched_domain *dom;
	u32 i;

	if (!ctx->params.mc_lowest_first || c->topo.llc_level == WP_NONE)
		return 0;
	dom = WP_AT(ctx->doms, *WP_AT(c->topo.dom, c->topo.llc_level));
	WP_FOR(i, dom->nr_cpus, WP_MAX_CPUS) {
		u32 lower = *WP_AT(ctx->list, dom->first_cpu + i);

		if (lower < cpu &&
		    *WP_AT(ctx->nohz_mask, lower / 64u) & (1ull << (lower % 64u)))
			return 1;
	}
	return 0;
}

/* Has the CPU a task to give at its tick? */
WP_FN int wp_surplus(const struct wp_ctx *ctx WP_NONNULL, u32 cpu)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);

	return (c->queue.nr_fair > 1 || c->queue.misfit_task_load) && !wp_mc_quiet(ctx, cpu);
}

/* Why the CPU takes no task more (enum wp_drop); WP_DROP_NONE: it has room. Without P8 it must run
 * some, so that nothing spreads by it. On machines whose CPUs differ the task must fit it. */
WP_INLINE u32 wp_mc_refuses(const struct wp_ctx *ctx, const struct wp_task *task, u32 cpu)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	u32 nr = wp_nr_awake(c) + c->queue.pending;

	if (!c->queue.online)
		return WP_DROP_OFFLINE;
	if (!wp_allowed(task, cpu))
		return WP_DROP_NOT_ALLOWED;
	if (!nr && !ctx->params.mc_lowest_first)
		return WP_DROP_IDLE;
	if (nr && nr >= wp_mc_room(wp_mc_power(ctx, cpu)))
		return WP_DROP_NO_ROOM;
	if (!ctx->asym || WP_NOT_LIVE(ctx->params.pelt_scale >= WP_PELT_RATIO) ||
	    wp_task_fits_cpu(ctx, task, cpu))
		return WP_DROP_NONE;
	return WP_DROP_UNFIT;
}

/* The lowest CPU of the previous one's cache that takes the task. 0: there is none, spread. */
WP_FN int wp_mc_select(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL,
		       const struct wp_request *req WP_NONNULL,
		       struct wp_decision *dec WP_NONNULL)
{
	const struct wp_cpu *prev = WP_AT(ctx->cpus, req->prev_cpu);
	const struct wp_sched_domain *dom;
	u32 i, found = WP_NONE;

	if (prev->topo.llc_level == WP_NONE)
		return 0;
	if (req->kind != WP_PLACE_FORK)
		wp_sync_entity_load_avg(ctx, task);
	dom = WP_AT(ctx->doms, *WP_AT(prev->topo.dom, prev->topo.llc_level));
	WP_FOR(i, dom->nr_cpus, WP_MAX_CPUS) {
		u32 cpu = *WP_AT(ctx->list, dom->first_cpu + i);
		u32 why = wp_mc_refuses(ctx, task, cpu);

		dec->nr_scanned++;
		if (why == WP_DROP_NONE) {
			found = cpu;
			break;
		}
		WP_EXPLAIN(ctx, wp_drop(ctx, cpu, why));
	}
	if (found == WP_NONE) {
		WP_EXPLAIN(ctx, wp_drop_undo(ctx));
		return 0;
	}
	dec->cpu = found;
	dec->rule = WP_RULE_POWER;
	dec->reason = WP_REASON_SAVES_POWER;
	return 1;
}
