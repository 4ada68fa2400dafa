// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Whom to pull from and how much, as up to 3.12 (docs/rules/linux-3-8.md#balance-3-8; 3.1:
 * docs/rules/sched-mc.md#power-saving-balance; docs/rules/linux-3-1-to-4-7.md#early-amounts): a
 * group has room for as many tasks as its compute power amounts to; of the groups with more, or
 * whose queues are uneven, the one with most load per power is relieved. Natively only. What the
 * later form has in common is in busiest_5_4.c.
 *
 * What must stay: eras to 3.12 alone use it; groups are walked in their order (ties). Free: the
 * search, for those eras alone, with its page.
 *
 * Tests by part: (below crates/policy-sys/tests; `every_fixture_holds` runs the fixtures)
 * fixtures/balance_38: room-*.toml (`wp_room`, `wp_full_power`, `wp_power_orig`), uneven-*.toml
 * (`wp_uneven`), siblings-{first,not-asked,only-with-room-here}.toml
 * (`wp_update_sd_lb_stats_3_12`), forced-*.toml and exit-*.toml (`wp_worth_balancing_3_12`),
 * amount-*.toml (`wp_calculate_imbalance_3_12`), source-*.toml (`wp_find_busiest_queue_3_12`),
 * packing-more-load-first.toml (`wp_update_sd_pick_busiest_3_12`); all/power_policy.rs:
 * `siblings_count_where_it_spreads` (`wp_spreads_at`). `wp_find_busiest_3_12`,
 * `wp_update_sg_lb_stats_3_12` and `wp_counts_add` have no test of their own: amount-*.toml would
 * show a fault of theirs.
 *
 * Callers: `wp_balance_source` (balance.c); power_savings_3_4.c looks at groups once more.
 *
 * Kernel: find_busiest_group() as wp_worth_balancing_3_12(), update_sd_lb_stats(),
 *         update_sg_lb_stats(), update_sd_pick_busiest(), fix_small_capacity() as wp_room(),
 *         calculate_imbalance(), find_busiest_queue(), kernel/sched/fair.c, to 3.12
 * Tests: fixtures/balance_38
 */
#include "wakeplace/policy.h"

/* What the queues of one group differ by. */
struct wp_spread {
	u64 most;
	u64 least;
	u32 most_tasks;
	u32 least_tasks;
};

/* What the CPU has when nothing but fair tasks runs; capacity where no power was computed. */
WP_INLINE u32 wp_power_orig(const struct wp_cpu *c)
{
	return c->load.power_orig ? c->load.power_orig : c->load.capacity_orig;
}

/* Power that the CPUs of a group have when nothing but fair tasks runs. */
WP_INLINE u64 wp_full_power(const struct wp_ctx *ctx, const struct wp_sched_group *g)
{
	u64 sum = 0;
	u32 i;

	WP_FOR(i, g->nr_cpus, WP_MAX_CPUS)
		sum += wp_power_orig(WP_AT(ctx->cpus, *WP_AT(ctx->list, g->first_cpu + i)));
	return sum;
}

/*
 * Tasks that `power` is enough for, rounded. A thread of a core with many has too little for one
 * and yet runs one, unless real-time tasks take more than a tenth of it.
 */
WP_INLINE u32 wp_room(const struct wp_ctx *ctx, const struct wp_sched_domain *dom,
		      const struct wp_sched_group *g, u32 power)
{
	u32 room = (power + WP_SCALE / 2) / WP_SCALE;

	if (room || !(dom->flags & WP_SD_SHARE_CPUCAPACITY))
		return room;
	return (u64)g->capacity * 32 > wp_full_power(ctx, g) * 29;
}

/* Would pulling by load alone leave this group uneven? Its tasks may not all go everywhere. */
WP_INLINE u32 wp_uneven(const struct wp_ctx *ctx, const struct wp_spread *d, u64 load_per_task)
{
	if (!d->most_tasks || d->most - d->least < load_per_task)
		return 0;
	if (ctx->params.group_form == WP_GROUPS_COUNTS_31)
		return d->most_tasks > 1;
	return d->most_tasks - d->least_tasks > 1;
}

/* Add one CPU to a group's sums; tasks of all classes count. */
WP_INLINE void wp_counts_add(struct wp_ctx *ctx, struct wp_lb_env *bal, u32 cpu, u32 local,
			     struct wp_spread *d)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	struct wp_sg_lb_stats_5_4 *s = &bal->scratch;
	u64 load = local ? wp_target_load(ctx, c, bal->load_idx)
			 : wp_source_load(ctx, c, bal->load_idx);

	s->load += load;
	s->nr_running += c->queue.nr_running;
	s->weighted_load += wp_cpu_load(ctx, c);
	s->idle_cpus += wp_cpu_idle(c);
	bal->overload |= c->queue.nr_running > 1;
	wp_stats_tipping(ctx, bal, c);
	if (local)
		return;
	d->most = wp_max64(d->most, load);
	d->least = wp_min64(d->least, load);
	d->most_tasks = wp_max(d->most_tasks, c->queue.nr_running);
	d->least_tasks = wp_min(d->least_tasks, c->queue.nr_running);
}

/* The sums of one group, into `scratch`. */
WP_FN int wp_update_sg_lb_stats_3_12(struct wp_ctx *ctx WP_NONNULL,
				     struct wp_lb_env *bal WP_NONNULL, u32 group, u32 local)
{
	const struct wp_sched_domain *dom = wp_bal_dom(ctx, bal);
	const struct wp_sched_group *g = WP_AT(ctx->groups, dom->first_group + group);
	struct wp_sg_lb_stats_5_4 *s = &bal->scratch, zero = {0};
	struct wp_spread d = { .least = ~0ull, .least_tasks = WP_NONE };
	u32 i;

	*s = zero;
	WP_FOR(i, g->nr_cpus, WP_MAX_CPUS) {
		u32 cpu = *WP_AT(ctx->list, g->first_cpu + i);

		if (!wp_excluded(bal, cpu))
			wp_counts_add(ctx, bal, cpu, local, &d);
	}
	s->capacity = g->capacity;
	s->weight = g->nr_cpus;
	s->avg_load = wp_div(s->load * WP_SCALE, s->capacity);
	s->load_per_task = wp_div(s->weighted_load, s->nr_running);
	s->group_imb = wp_uneven(ctx, &d, s->load_per_task);
	s->room = wp_room(ctx, dom, g, s->capacity);
	s->has_room = s->room > s->nr_running;
	return 0;
}

/* Is the group in `scratch` one to relieve, and busier than the busiest so far? */
WP_INLINE int wp_update_sd_pick_busiest_3_12(struct wp_ctx *ctx, const struct wp_lb_env *bal,
					     u32 group)
{
	const struct wp_sg_lb_stats_5_4 *s = &bal->scratch;

	if (s->avg_load > bal->busiest.avg_load && (s->nr_running > s->room || s->group_imb))
		return 1;
	/* Of equally loaded groups that only packing relieves: the one with the highest numbers. */
	return s->avg_load >= bal->busiest.avg_load && wp_asym_packs_5_4(ctx, bal) &&
	       wp_asym_busier_5_4(ctx, bal, group);
}

/* Under power-policy siblings count from the group on at which it was decided to spread (P16). */
WP_INLINE int wp_spreads_at(const struct wp_ctx *ctx, const struct wp_lb_env *bal, u32 place)
{
	return !ctx->params.power_siblings || place >= bal->power.perf_from;
}

/* Walk all groups, the local one first; writes the root domain's flags. */
WP_FN int wp_update_sd_lb_stats_3_12(struct wp_ctx *ctx WP_NONNULL,
				     struct wp_lb_env *bal WP_NONNULL)
{
	const struct wp_sched_domain *dom = wp_bal_dom(ctx, bal);
	u32 k, local = *WP_AT(WP_AT(ctx->cpus, bal->this_cpu)->topo.group, bal->level);
	u32 spread = (u32)wp_child_prefers_sibling(ctx, bal);

	bal->busiest_group = WP_NONE;
	wp_refresh_local_group(ctx, bal);
	WP_FOR(k, dom->nr_groups, WP_MAX_CPUS) {
		u32 group = local + k < dom->nr_groups ? local + k : local + k - dom->nr_groups;

		wp_update_sg_lb_stats_3_12(ctx, bal, group, group == local);
		bal->total_load += bal->scratch.load;
		bal->total_capacity += bal->scratch.capacity;
		if (group == local) {
			bal->local = bal->scratch;
			continue;
		}
		/* Siblings first: while there is room here, one task per group is enough. */
		if (spread && bal->local.has_room && wp_spreads_at(ctx, bal, k))
			bal->scratch.room = wp_min(bal->scratch.room, 1);
		if (wp_update_sd_pick_busiest_3_12(ctx, bal, group)) {
			bal->busiest = bal->scratch;
			bal->busiest_group = group;
		}
	}
	wp_stats_root_flags(ctx, bal);
	return 0;
}

/* Is the busiest group busy enough to act? */
WP_INLINE int wp_worth_balancing_3_12(struct wp_ctx *ctx, struct wp_lb_env *bal)
{
	const struct wp_sg_lb_stats_5_4 *l = &bal->local, *b = &bal->busiest;
	u32 pct = wp_bal_dom(ctx, bal)->imbalance_pct;

	bal->avg_load = wp_div(WP_SCALE * bal->total_load, bal->total_capacity);
	if (bal->busiest_group == WP_NONE || !b->nr_running)
		return 0;
	if (b->group_imb)
		return 1;
	if (bal->idle == WP_CPU_NEWLY_IDLE && l->has_room && !b->has_room)
		return 1;
	if (l->avg_load >= b->avg_load || l->avg_load >= bal->avg_load)
		return 0;
	if (bal->idle == WP_CPU_IDLE)
		return l->idle_cpus > b->idle_cpus + 1 || b->nr_running > b->weight;
	return 100 * b->avg_load > pct * l->avg_load;
}

/* How much load to move: what the busiest group has above the domain's average and above its room,
 * at most what the local one lacks. */
WP_INLINE void wp_calculate_imbalance_3_12(struct wp_ctx *ctx, struct wp_lb_env *bal)
{
	struct wp_sg_lb_stats_5_4 *l = &bal->local, *b = &bal->busiest;
	u64 pull = wp_sub(b->avg_load, bal->avg_load);

	if (b->group_imb)
		b->load_per_task = wp_min64(b->load_per_task, bal->avg_load);
	else
		pull = wp_min64(pull, wp_div(wp_sub(b->nr_running, b->room) * WP_SCALE * WP_SCALE,
					     b->capacity));
	bal->imbalance = (s64)(wp_min64(pull * b->capacity,
					wp_sub(bal->avg_load, l->avg_load) * l->capacity) /
			       WP_SCALE);
	if ((u64)bal->imbalance >= b->load_per_task)
		return;
	bal->imbalance = 0;
	wp_fix_small_imbalance_5_4(ctx, bal);
}

/* The queue to pull from: most load per power. A lone task heavier than what is to move stays,
 * unless its CPU has no room for any. */
WP_FN u32 wp_find_busiest_queue_3_12(struct wp_ctx *ctx WP_NONNULL,
				     struct wp_lb_env *bal WP_NONNULL)
{
	const struct wp_sched_domain *dom = wp_bal_dom(ctx, bal);
	const struct wp_sched_group *g = WP_AT(ctx->groups, dom->first_group + bal->busiest_group);
	u32 i, busiest = WP_NONE;
	u64 most = 0;

	WP_FOR(i, g->nr_cpus, WP_MAX_CPUS) {
		u32 cpu = *WP_AT(ctx->list, g->first_cpu + i);
		const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
		u64 load = wp_cpu_load(ctx, c), scaled;

		if (wp_excluded(bal, cpu))
			continue;
		if (c->queue.nr_running == 1 && (s64)load > bal->imbalance &&
		    wp_room(ctx, dom, g, c->load.capacity))
			continue;
		scaled = wp_div(load * WP_SCALE, c->load.capacity);
		if (scaled > most) {
			most = scaled;
			busiest = cpu;
		}
	}
	return busiest;
}

/* power_savings_3_4.c */
WP_FN int wp_check_power_save_busiest_group_3_4(struct wp_ctx *ctx WP_NONNULL,
						struct wp_lb_env *bal WP_NONNULL);

/* The whole search: the busiest group, how much load is to move (bal->imbalance), and the CPU to
 * take it from, which is returned. WP_NONE: balanced. */
WP_INLINE u32 wp_find_busiest_3_12(struct wp_ctx *ctx, struct wp_lb_env *bal)
{
	struct wp_sg_lb_stats_5_4 zero = {0};

	bal->busiest = zero;
	bal->load_idx = wp_get_sd_load_idx_5_1(ctx, bal);
	wp_update_sd_lb_stats_3_12(ctx, bal);
	/* Below the tipping point placement is the energy-aware wake-up's alone. */
	if (ctx->energy_active && !ctx->overutilized)
		return WP_NONE;
	if (!wp_check_asym_packing_5_4(ctx, bal)) {
		if (wp_worth_balancing_3_12(ctx, bal))
			wp_calculate_imbalance_3_12(ctx, bal);
		else if (!wp_check_power_save_busiest_group_3_4(ctx, bal))
			return WP_NONE;
	}
	return bal->imbalance > 0 ? wp_find_busiest_queue_3_12(ctx, bal) : WP_NONE;
}
