// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Load balancing of one domain, in the form of the kernels before 5.5 (docs/decisions/003;
 * intervals and detaching: signals-and-baseline 8.1, 8.5).
 *
 *   begin:  who balances? busiest group? how much? busiest queue in it?
 *   offer:  may this task move?
 *   end:    success resets, failure counts; after enough failures push the running task
 */
#include "wakeplace/policy.h"

#define WP_MAX_PINNED_INTERVAL_MS 512u

WP_INLINE struct wp_lb *wp_bal_lb(struct wp_ctx *ctx, const struct wp_balance *bal)
{
	return WP_AT(WP_AT(ctx->cpus, bal->this_cpu)->lb, bal->level);
}

/* Ticks between two passes of this CPU over a domain. */
WP_INLINE u64 wp_balance_interval(const struct wp_ctx *ctx, const struct wp_lb *lb, u32 idle)
{
	u64 ms = lb->balance_interval_ms, ticks, longest;

	if (idle != WP_IDLE)
		ms *= ctx->params.busy_factor;
	ticks = wp_div(ms * 1000000 + ctx->tick_ns - 1, ctx->tick_ns);
	longest = wp_div(100000000ull * ctx->nr_cpus, ctx->tick_ns); /* HZ * cpus / 10 */
	return wp_max64(1, wp_min64(ticks, longest));
}

/* Is this level due? Marks it as balanced now if so. */
WP_FN int wp_balance_due(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u32 level, u64 now_ns, u32 idle)
{
	struct wp_lb *lb = WP_AT(WP_AT(ctx->cpus, cpu)->lb, level);
	u64 tick = wp_div(now_ns, ctx->tick_ns);

	if (tick < lb->last_balance_tick + wp_balance_interval(ctx, lb, idle))
		return 0;
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
	u32 level, decayed = 0;

	WP_FOR(level, c->nr_levels, WP_MAX_LEVELS) {
		struct wp_lb *lb = WP_AT(c->lb, level);

		next = wp_min64(next, lb->last_balance_tick + wp_balance_interval(ctx, lb, idle));
		if (tick > lb->next_cost_decay_tick) {
			lb->max_newidle_cost_ns = lb->max_newidle_cost_ns * 253 / 256;
			lb->next_cost_decay_tick = tick + second;
			decayed = 1;
		}
		cost += lb->max_newidle_cost_ns;
	}
	if (decayed)
		c->max_idle_balance_cost_ns = wp_max64(ctx->params.migration_cost_ns, cost);
	c->next_balance_tick = next;
	if (idle == WP_IDLE)
		ctx->nohz_next_balance_tick = wp_min64(ctx->nohz_next_balance_tick, next);
	return 0;
}

/* One CPU balances for each group: its first idle one, else its first. */
WP_INLINE int wp_should_we_balance(struct wp_ctx *ctx, const struct wp_balance *bal)
{
	const struct wp_dom *dom = wp_bal_dom(ctx, bal);
	u32 group = *WP_AT(WP_AT(ctx->cpus, bal->this_cpu)->group, bal->level);
	const struct wp_group *g = WP_AT(ctx->groups, dom->first_group + group);
	u32 i, who = *WP_AT(ctx->list, g->first_cpu);

	if (bal->idle == WP_NEWLY_IDLE)
		return 1;
	WP_FOR(i, g->nr_cpus, WP_MAX_CPUS) {
		u32 cpu = *WP_AT(ctx->list, g->first_cpu + i);

		if (wp_idle_at(ctx, cpu)) {
			who = cpu;
			break;
		}
	}
	return who == bal->this_cpu;
}

/* Less than one task's load is to move: is moving one worth it all the same? */
WP_INLINE void wp_fix_small_imbalance(struct wp_ctx *ctx, struct wp_balance *bal)
{
	struct wp_group_stats *l = &bal->local, *b = &bal->busiest;
	u64 now, moved = 0, scaled, tmp, factor = 2;

	if (!l->nr_running) {
		const struct wp_cpu *c = WP_AT(ctx->cpus, bal->this_cpu);

		l->load_per_task = wp_div(wp_weighted_load(ctx, c), c->nr_fair);
	} else if (b->load_per_task > l->load_per_task) {
		factor = 1;
	}
	scaled = wp_div(b->load_per_task * WP_SCALE, b->capacity);
	if (b->avg_load + scaled >= l->avg_load + scaled * factor) {
		bal->imbalance = (s64)b->load_per_task;
		return;
	}
	/* Otherwise only if more capacity is used after the move than before. */
	now = b->capacity * wp_min64(b->load_per_task, b->avg_load) +
	      l->capacity * wp_min64(l->load_per_task, l->avg_load);
	if (b->avg_load > scaled)
		moved = b->capacity * wp_min64(b->load_per_task, b->avg_load - scaled);
	if (b->avg_load * b->capacity < b->load_per_task * WP_SCALE)
		tmp = wp_div(b->avg_load * b->capacity, l->capacity);
	else
		tmp = wp_div(b->load_per_task * WP_SCALE, l->capacity);
	moved += l->capacity * wp_min64(l->load_per_task, l->avg_load + tmp);
	if (moved / WP_SCALE > now / WP_SCALE)
		bal->imbalance = (s64)b->load_per_task;
}

/* How much load to move. */
WP_INLINE void wp_calculate_imbalance(struct wp_ctx *ctx, struct wp_balance *bal)
{
	struct wp_group_stats *l = &bal->local, *b = &bal->busiest;
	u64 above = ~0ull, pull;

	if (b->type == WP_GROUP_IMBALANCED)
		b->load_per_task = wp_min64(b->load_per_task, bal->avg_load);
	bal->imbalance = 0;
	if (b->avg_load <= bal->avg_load || l->avg_load >= bal->avg_load) {
		wp_fix_small_imbalance(ctx, bal);
		return;
	}
	/* Between two overloaded groups only what exceeds the source's capacity moves. */
	if (b->type == WP_GROUP_OVERLOADED && l->type == WP_GROUP_OVERLOADED) {
		above = (u64)b->nr_running * WP_SCALE;
		if (above > b->capacity)
			above = wp_div((above - b->capacity) * WP_SCALE, b->capacity);
		else
			above = ~0ull;
	}
	pull = wp_min64(b->avg_load - bal->avg_load, above);
	bal->imbalance = (s64)(wp_min64(pull * b->capacity,
					(bal->avg_load - l->avg_load) * l->capacity) / WP_SCALE);
	if ((u64)bal->imbalance < b->load_per_task)
		wp_fix_small_imbalance(ctx, bal);
}

/* Is the busiest group busy enough to act? */
WP_INLINE int wp_worth_balancing(struct wp_ctx *ctx, struct wp_balance *bal)
{
	const struct wp_group_stats *l = &bal->local, *b = &bal->busiest;
	u32 pct = wp_bal_dom(ctx, bal)->imbalance_pct;

	/* Below the tipping point placement is the energy-aware wake-up's alone. */
	if (ctx->energy_active && !ctx->overutilized)
		return 0;
	if (bal->busiest_group == WP_NONE || !b->nr_running)
		return 0;
	bal->avg_load = wp_div(WP_SCALE * bal->total_load, bal->total_capacity);
	if (b->type == WP_GROUP_IMBALANCED)
		return 1;
	if (bal->idle != WP_BUSY && wp_group_has_capacity(l, pct) && b->no_capacity)
		return 1;
	if (l->avg_load >= b->avg_load || l->avg_load >= bal->avg_load)
		return 0;
	if (bal->idle == WP_IDLE)
		return b->type == WP_GROUP_OVERLOADED || l->idle_cpus > b->idle_cpus + 1;
	return 100 * b->avg_load > pct * l->avg_load;
}

/* RT, deadline or interrupts take a noticeable share of this CPU. */
WP_INLINE int wp_capacity_reduced(const struct wp_cpu *c, u32 pct)
{
	return (u64)c->capacity * pct < (u64)c->capacity_orig * 100;
}

/* The queue to pull from: most load per capacity. */
WP_INLINE u32 wp_busiest_queue(struct wp_ctx *ctx, const struct wp_balance *bal)
{
	const struct wp_dom *dom = wp_bal_dom(ctx, bal);
	const struct wp_group *g = WP_AT(ctx->groups, dom->first_group + bal->busiest_group);
	u64 busiest_load = 0, busiest_capacity = 1;
	u32 i, busiest = WP_NONE;

	WP_FOR(i, g->nr_cpus, WP_MAX_CPUS) {
		u32 cpu = *WP_AT(ctx->list, g->first_cpu + i);
		const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
		u64 load = wp_weighted_load(ctx, c);

		if (wp_excluded(bal, cpu))
			continue;
		/* A lone task heavier than what is to move stays, unless its CPU is squeezed. */
		if (c->nr_running == 1 && (s64)load > bal->imbalance &&
		    !wp_capacity_reduced(c, dom->imbalance_pct))
			continue;
		if (load * busiest_capacity > busiest_load * c->capacity) {
			busiest_load = load;
			busiest_capacity = c->capacity;
			busiest = cpu;
		}
	}
	return busiest;
}

/* The parent's group that this domain is; WP_NONE at the top. */
WP_INLINE u32 wp_parent_group(struct wp_ctx *ctx, const struct wp_balance *bal)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, bal->this_cpu);
	u32 level = bal->level + 1;

	if (level >= c->nr_levels)
		return WP_NONE;
	return WP_AT(ctx->doms, *WP_AT(c->dom, level))->first_group + *WP_AT(c->group, level);
}

/* Nothing to do here, or nothing that may move: look less often. */
WP_INLINE int wp_balance_relax(struct wp_ctx *ctx, struct wp_balance *bal)
{
	struct wp_lb *lb = wp_bal_lb(ctx, bal);

	bal->src_cpu = WP_NONE;
	if (lb->balance_interval_ms < 2 * wp_bal_dom(ctx, bal)->nr_cpus ||
	    (bal->all_pinned && lb->balance_interval_ms < WP_MAX_PINNED_INTERVAL_MS))
		lb->balance_interval_ms *= 2;
	return WP_BALANCE_DONE;
}

/* Balanced: earlier failures and what affinity prevented are history. */
WP_INLINE int wp_balanced(struct wp_ctx *ctx, struct wp_balance *bal)
{
	u32 group = wp_parent_group(ctx, bal);

	if (group != WP_NONE)
		WP_AT(ctx->groups, group)->imbalanced = 0;
	wp_bal_lb(ctx, bal)->nr_balance_failed = 0;
	return wp_balance_relax(ctx, bal);
}

WP_INLINE void wp_balance_reset(struct wp_ctx *ctx, struct wp_balance *bal)
{
	const struct wp_dom *dom = wp_bal_dom(ctx, bal);
	struct wp_group_stats zero = { 0 };

	bal->total_load = 0;
	bal->total_capacity = 0;
	bal->overload = 0;
	bal->overutilized = 0;
	bal->busiest = zero;
	bal->load_idx = bal->idle == WP_BUSY ? dom->busy_idx :
			bal->idle == WP_IDLE ? dom->idle_idx : 0;
}

/* Find a source. Sources already excluded stay so. Returns enum wp_balance_step. */
WP_INLINE int wp_balance_find(struct wp_ctx *ctx, struct wp_balance *bal)
{
	const struct wp_cpu *src;

	wp_balance_reset(ctx, bal);
	wp_domain_stats(ctx, bal);
	if (!wp_worth_balancing(ctx, bal))
		return wp_balanced(ctx, bal);
	wp_calculate_imbalance(ctx, bal);
	if (bal->imbalance <= 0)
		return wp_balanced(ctx, bal);
	bal->src_cpu = wp_busiest_queue(ctx, bal);
	if (bal->src_cpu == WP_NONE || bal->src_cpu == bal->this_cpu)
		return wp_balanced(ctx, bal);
	src = WP_AT(ctx->cpus, bal->src_cpu);
	bal->all_pinned = src->nr_running > 1;
	bal->tries_left = bal->all_pinned ? wp_min(ctx->params.nr_migrate, src->nr_running) : 0;
	return WP_BALANCE_DETACH;
}

/* Begin with now_ns, this_cpu, level and idle set. Returns enum wp_balance_step. */
WP_FN int wp_balance_begin(struct wp_ctx *ctx WP_NONNULL, struct wp_balance *bal WP_NONNULL)
{
	u32 i;

	bal->dom = *WP_AT(WP_AT(ctx->cpus, bal->this_cpu)->dom, bal->level);
	bal->dst_cpu = bal->this_cpu;
	bal->src_cpu = WP_NONE;
	bal->push = 0;
	bal->moved = 0;
	bal->some_pinned = 0;
	bal->all_pinned = 0;
	bal->new_dst = WP_NONE;
	for (i = 0; i < WP_MASK_WORDS; i++)
		bal->excluded[i] = 0;
	if (!wp_should_we_balance(ctx, bal)) {
		wp_balanced(ctx, bal);
		return WP_BALANCE_STOP;
	}
	return wp_balance_find(ctx, bal);
}
