// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Load balancing of one domain (docs/rules/balancing.md#periodic-balancing,
 * docs/rules/balancing.md#imbalance). Whom to pull from and how much is found by group classes
 * (busiest.c, imbalance.c) or, before 5.5, by loads (busiest_5_4.c).
 *
 *   begin:  who balances? busiest group? how much? busiest queue in it?
 *   offer:  may this task move?
 *   end:    success resets, failure counts; after enough failures push the running task
 *
 * What must stay: begin, offers, end, in this order, in both homes; steps are enum wp_balance_step.
 * Free: how an attempt is stepped; both homes change with it.
 *
 * Tests by part: (below crates/policy-sys/tests; `every_fixture_holds` runs the fixtures)
 * all/balance_pass_7_3.rs: `intervals` (`wp_get_sd_balance_interval`, `wp_level_interval`,
 * `wp_balance_due`), `interval_doubles_and_resets` (`wp_out_one_pinned`, `wp_out_balanced`),
 * `who_balances` (`wp_should_we_balance`, `wp_balance_begin`), `one_at_a_time_between_nodes`
 * (`wp_serial_enter`, `wp_balance_over`), `how_many_tasks` (`wp_balance_find`, `wp_bal_several`);
 * all/balance_7_3.rs: `pinned_tasks_mark_the_group_above` (`wp_parent_group`); all/power_policy.rs:
 * `the_leader_pulls_from_the_donor` (`wp_balance_source`); fixtures/balance: pass-end-*.toml
 * (`wp_balance_pass_end`), none-idle-first-balances.toml, idle-core-*.toml (who balances in a
 * group).
 *
 * Callers: crates/policy-sys/src/balance.rs (`Core::balance_begin`, `balance_due`,
 * `balance_pass_end`); crates/scx/src/bpf/pull.bpf.h.
 *
 * Kernel: should_we_balance(), get_sd_balance_interval(), sched_balance_rq() as
 *         wp_balance_begin(), load_balance() as wp_balance_begin(), sched_balance_domains() as
 *         wp_balance_due(), rebalance_domains() as wp_balance_due(), kernel/sched/fair.c
 * Tests: fixtures/balance, all/balance.rs, all/balance_pass_7_3.rs
 */
#include "wakeplace/policy.h"

#define WP_MAX_PINNED_INTERVAL_MS 512u

/* Ticks between two passes of this CPU over a domain. */
WP_INLINE u64 wp_get_sd_balance_interval(const struct wp_ctx *ctx, const struct wp_lb *lb,
					 u32 factor, u32 idle)
{
	u64 ms = lb->balance_interval_ms, ticks, longest;

	if (idle != WP_CPU_IDLE)
		ms *= factor;
	ticks = wp_div(ms * 1000000 + ctx->tick_ns - 1, ctx->tick_ns);
	/* Levels of a busy CPU should not come due together over and over. */
	if (ctx->params.busy_interval_apart && idle != WP_CPU_IDLE)
		ticks = wp_sub(ticks, 1);
	longest = wp_div(100000000ull * ctx->nr_cpus, ctx->tick_ns); /* HZ * cpus / 10 */
	return wp_max64(1, wp_min64(ticks, longest));
}

/* Ticks between two passes of a CPU's level; `longest`: by the CPUs that are online. */
WP_INLINE u64 wp_level_interval(const struct wp_ctx *ctx, const struct wp_lb *lb, u32 factor,
				u32 idle, u64 longest)
{
	return wp_min64(wp_get_sd_balance_interval(ctx, lb, factor, idle), longest);
}

/* Is this level due? Marks it as balanced now if so. */
WP_FN int wp_balance_due(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u32 level, u64 now_ns, u32 idle)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	struct wp_lb *lb = WP_AT(c->balance.lb, level);
	u64 tick = wp_div(now_ns, ctx->tick_ns);
	u64 longest = wp_max_load_balance_interval(ctx, c);
	u32 factor = wp_busy_factor(ctx, c, level);

	if (tick < lb->last_balance_tick + wp_level_interval(ctx, lb, factor, idle, longest))
		return 0;
	lb->before_last_tick = lb->last_balance_tick;
	lb->last_balance_tick = tick;
	return 1;
}

/* After a pass over all levels: when is the next one due? New-idle costs fade, about 1 % a second.
 * */
WP_FN int wp_balance_pass_end(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 now_ns, u32 idle)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	u64 tick = wp_div(now_ns, ctx->tick_ns), second = wp_div(1000000000ull, ctx->tick_ns);
	u64 next = tick + 60 * second, cost = 0;
	u64 longest = wp_max_load_balance_interval(ctx, c);
	u32 level, decayed = 0;

	WP_FOR(level, c->topo.nr_levels, WP_MAX_LEVELS) {
		struct wp_lb *lb = WP_AT(c->balance.lb, level);
		u32 factor = wp_busy_factor(ctx, c, level);

		next = wp_min64(next, lb->last_balance_tick +
					      wp_level_interval(ctx, lb, factor, idle, longest));
		if (tick > lb->next_cost_decay_tick) {
			lb->max_newidle_cost_ns = lb->max_newidle_cost_ns * 253 / 256;
			lb->next_cost_decay_tick = tick + second;
			decayed = 1;
		}
		cost += lb->max_newidle_cost_ns;
	}
	if (decayed)
		c->balance.max_idle_balance_cost_ns = wp_max64(ctx->params.migration_cost_ns, cost);
	c->balance.next_balance_tick = next;
	if (idle == WP_CPU_IDLE)
		ctx->nohz_next_balance_tick = wp_min64(ctx->nohz_next_balance_tick, next);
	return 0;
}

/*
 * One CPU balances for each group: its first idle one, else its first. In the form of today an
 * idle thread of a busy core does only if no core is idle as a whole.
 */
WP_FN int wp_should_we_balance(struct wp_ctx *ctx WP_NONNULL,
			       const struct wp_lb_env *bal WP_NONNULL)
{
	const struct wp_sched_domain *dom = wp_bal_dom(ctx, bal);
	u32 group = *WP_AT(WP_AT(ctx->cpus, bal->this_cpu)->topo.group, bal->level);
	const struct wp_sched_group *g = WP_AT(ctx->groups, dom->first_group + group);
	const struct wp_cpu *self = WP_AT(ctx->cpus, bal->this_cpu);
	u32 whole = ctx->params.balance_classes && wp_bal_knows_cores(ctx) &&
		    !(dom->flags & WP_SD_SHARE_CPUCAPACITY);
	u32 i, who = WP_NONE;

	if (bal->idle == WP_CPU_NEWLY_IDLE)
		return !ctx->params.balance_classes ||
		       (!self->queue.nr_running && !self->queue.pending);
	WP_FOR(i, g->nr_balance, WP_MAX_CPUS) {
		u32 cpu = *WP_AT(ctx->list, g->first_balance + i);

		if (!wp_idle_at(ctx, cpu))
			continue;
		if (!whole || wp_is_core_idle(ctx, cpu))
			return cpu == bal->this_cpu;
		if (who == WP_NONE)
			who = cpu;
	}
	if (who == WP_NONE)
		who = *WP_AT(ctx->list, g->first_balance);
	return who == bal->this_cpu;
}

/* The parent's group that this domain is; WP_NONE at the top. */
WP_INLINE u32 wp_parent_group(struct wp_ctx *ctx, const struct wp_lb_env *bal)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, bal->this_cpu);
	u32 level = bal->level + 1;

	if (level >= c->topo.nr_levels)
		return WP_NONE;
	return WP_AT(ctx->doms, *WP_AT(c->topo.dom, level))->first_group +
	       *WP_AT(c->topo.group, level);
}

/* Nothing to do here, or nothing that may move: look less often. */
WP_INLINE int wp_out_one_pinned(struct wp_ctx *ctx, struct wp_lb_env *bal)
{
	struct wp_lb *lb = wp_bal_lb(ctx, bal);

	bal->src_cpu = WP_NONE;
	if (bal->idle == WP_CPU_NEWLY_IDLE && ctx->params.newidle_keeps_interval)
		return WP_BALANCE_DONE;
	if (wp_misfit_apart(ctx, bal))
		return WP_BALANCE_DONE;
	if (lb->balance_interval_ms < wp_interval_max_ms(wp_bal_dom(ctx, bal)) ||
	    (bal->all_pinned && lb->balance_interval_ms < WP_MAX_PINNED_INTERVAL_MS))
		lb->balance_interval_ms *= 2;
	return WP_BALANCE_DONE;
}

/* Balanced: earlier failures, and marks of what affinity prevented, are cleared. */
WP_INLINE int wp_out_balanced(struct wp_ctx *ctx, struct wp_lb_env *bal)
{
	u32 group = wp_parent_group(ctx, bal);

	/* Not if this is balanced only because sources with pinned tasks were left out. */
	if (group != WP_NONE && !(ctx->params.balance_classes && bal->all_pinned))
		WP_AT(ctx->groups, group)->imbalanced = 0;
	wp_bal_lb(ctx, bal)->nr_balance_failed = 0;
	return wp_out_one_pinned(ctx, bal);
}

/* The CPU to pull from, with kind and amount; WP_NONE: balanced. */
WP_INLINE u32 wp_balance_source(struct wp_ctx *ctx, struct wp_lb_env *bal)
{
	if ((wp_packing(ctx) || wp_mc_balances(ctx)) && !wp_pack_spreads(ctx, bal))
		return bal->src_cpu;
#ifndef WP_LIVE
	if (wp_by_counts(ctx))
		return wp_find_busiest_3_12(ctx, bal);
	if (!ctx->params.balance_classes)
		return wp_find_busiest_5_4(ctx, bal);
#endif
	return wp_find_busiest(ctx, bal);
}

/* Has the source tasks to offer beside the one that runs? Kept sleepers are not offered. */
WP_INLINE int wp_bal_several(const struct wp_cpu *src)
{
	return wp_nr_awake(src) > 1;
}

/* Find a source. Sources already excluded stay so. Returns enum wp_balance_step. */
WP_INLINE int wp_balance_find(struct wp_ctx *ctx, struct wp_lb_env *bal)
{
	const struct wp_cpu *src;
	int several;

	wp_balance_reset(bal);
	bal->src_cpu = wp_balance_source(ctx, bal);
	if (bal->src_cpu == WP_NONE || bal->src_cpu == bal->this_cpu)
		return wp_out_balanced(ctx, bal);
	src = WP_AT(ctx->cpus, bal->src_cpu);
	several = wp_bal_several(src);
	/* Since 5.12 a lone task counts as pinned, too, until one is found that may move. */
	bal->all_pinned = several || ctx->params.pinned_unless_found;
	bal->tries_left = 0;
	if (several || bal->power.pulls) /* packing takes a lone task, too */
		bal->tries_left = wp_min(ctx->params.nr_migrate, wp_nr_awake(src));
	return WP_BALANCE_DETACH;
}

/*
 * Between nodes one CPU of the system balances at a time. A mark that is two ticks old counts for
 * nothing: its owner never finished.
 */
WP_INLINE int wp_serial_enter(struct wp_ctx *ctx, const struct wp_lb_env *bal)
{
	u64 tick = wp_div(bal->now_ns, ctx->tick_ns);

	if (!(wp_bal_dom(ctx, bal)->flags & WP_SD_NUMA) || bal->idle == WP_CPU_NEWLY_IDLE)
		return 1;
	if (ctx->serial_tick && tick < ctx->serial_tick + 2)
		return 0;
	ctx->serial_tick = wp_max64(tick, 1);
	return 1;
}

/* What follows when a step has ended the attempt. */
WP_INLINE int wp_balance_over(struct wp_ctx *ctx, struct wp_lb_env *bal, int step)
{
	if (step == WP_BALANCE_DETACH)
		return step;
	if (bal->idle == WP_CPU_NEWLY_IDLE)
		wp_newidle_count(ctx, bal);
	else if (wp_bal_dom(ctx, bal)->flags & WP_SD_NUMA)
		ctx->serial_tick = 0;
	return step;
}

/* Begin with now_ns, this_cpu, level, idle and random set. Returns enum wp_balance_step. */
WP_FN int wp_balance_begin(struct wp_ctx *ctx WP_NONNULL, struct wp_lb_env *bal WP_NONNULL)
{
	u32 i;

	bal->dom = *WP_AT(WP_AT(ctx->cpus, bal->this_cpu)->topo.dom, bal->level);
	bal->dst_cpu = bal->this_cpu;
	bal->src_cpu = WP_NONE;
	bal->push = 0;
	bal->push_llc = 0;
	bal->llc_pinned = 0;
	bal->running_util = 0;
	bal->running_misfits = 0;
	bal->moved = 0;
	bal->some_pinned = 0;
	bal->all_pinned = 0;
	bal->new_dst_cpu = WP_NONE;
	for (i = 0; i < WP_MASK_WORDS; i++)
		bal->excluded[i] = 0;
	wp_balance_reset(bal);
	if (bal->idle == WP_CPU_NEWLY_IDLE && !wp_newidle_dice(ctx, bal))
		return WP_BALANCE_DONE;
	if (!wp_should_we_balance(ctx, bal)) {
		wp_out_balanced(ctx, bal);
		return wp_balance_over(ctx, bal, WP_BALANCE_STOP);
	}
	if (!wp_serial_enter(ctx, bal))
		return WP_BALANCE_DONE;
	return wp_balance_over(ctx, bal, wp_balance_find(ctx, bal));
}
