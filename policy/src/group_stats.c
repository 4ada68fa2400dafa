// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Group statistics and classes in the form of the kernels before 5.5 (docs/decisions/003): sums of
 * loads, three classes (other < imbalanced < overloaded), the busiest group by class, then by load
 * per capacity.
 */
#include "wakeplace/policy.h"

WP_INLINE struct wp_dom *wp_bal_dom(struct wp_ctx *ctx, const struct wp_balance *bal)
{
	return WP_AT(ctx->doms, bal->dom);
}

WP_INLINE int wp_excluded(const struct wp_balance *bal, u32 cpu)
{
	return (*WP_AT(bal->excluded, cpu / 64u) >> (cpu % 64u)) & 1u;
}

/* More tasks than CPUs and, within the margin, more demand than capacity. */
WP_INLINE int wp_group_overloaded(const struct wp_group_stats *s, u32 pct)
{
	return s->nr_running > s->weight && (u64)s->capacity * 100 < s->util * pct;
}

WP_INLINE int wp_group_has_capacity(const struct wp_group_stats *s, u32 pct)
{
	return s->nr_running < s->weight || (u64)s->capacity * 100 > s->util * pct;
}

WP_INLINE u32 wp_group_classify(const struct wp_group_stats *s, const struct wp_group *g)
{
	if (s->no_capacity)
		return WP_GROUP_OVERLOADED;
	return g->imbalanced ? WP_GROUP_IMBALANCED : WP_GROUP_OTHER;
}

/* Add one CPU to a group's sums. */
WP_INLINE void wp_stats_add(struct wp_ctx *ctx, struct wp_balance *bal, struct wp_group_stats *s,
			    u32 cpu, int local)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);

	s->load += local ? wp_load_high(ctx, c, bal->load_idx) : wp_load_low(ctx, c, bal->load_idx);
	s->util += wp_cpu_util(ctx, c);
	s->nr_running += c->nr_fair;
	s->weighted_load += wp_weighted_load(ctx, c);
	bal->overload |= c->nr_running > 1;
	if (!c->nr_running && wp_cpu_idle(c))
		s->idle_cpus++;
	bal->overutilized |= ctx->energy_active && wp_cpu_overutilized(ctx, c);
}

WP_FN int wp_stats_of_group(struct wp_ctx *ctx WP_NONNULL, struct wp_balance *bal WP_NONNULL, u32 group,
		      u32 local)
{
	const struct wp_dom *dom = wp_bal_dom(ctx, bal);
	const struct wp_group *g = WP_AT(ctx->groups, dom->first_group + group);
	struct wp_group_stats *s = &bal->scratch, zero = { 0 };
	u32 i;

	*s = zero;
	WP_FOR(i, g->nr_cpus, WP_MAX_CPUS) {
		u32 cpu = *WP_AT(ctx->list, g->first_cpu + i);

		if (!wp_excluded(bal, cpu))
			wp_stats_add(ctx, bal, s, cpu, (int)local);
	}
	s->capacity = g->capacity;
	s->weight = g->nr_cpus;
	s->avg_load = wp_div(s->load * WP_SCALE, s->capacity);
	s->load_per_task = wp_div(s->weighted_load, s->nr_running);
	s->no_capacity = (u32)wp_group_overloaded(s, dom->imbalance_pct);
	s->type = wp_group_classify(s, g);
	return 0;
}

/*
 * Do not drag a task from a bigger CPU of its own to a smaller one (capacity-aware 2.10): 20 %
 * smaller, and no more tasks than CPUs over there.
 */
WP_INLINE int wp_bigger_and_not_overloaded(struct wp_ctx *ctx, const struct wp_balance *bal,
					   u32 group, u32 local_group)
{
	const struct wp_dom *dom = wp_bal_dom(ctx, bal);
	const struct wp_group *local = WP_AT(ctx->groups, dom->first_group + local_group);
	const struct wp_group *g = WP_AT(ctx->groups, dom->first_group + group);

	if (!ctx->params.asym_no_pull || !(dom->flags & WP_SD_ASYM_CPUCAPACITY))
		return 0;
	return bal->scratch.nr_running <= bal->scratch.weight &&
	       (u64)local->min_capacity * WP_FIT_MARGIN < (u64)g->min_capacity * WP_SCALE;
}

/* Is the group in `scratch` busier than the busiest so far? */
WP_INLINE int wp_busier(struct wp_ctx *ctx, const struct wp_balance *bal, u32 group,
			u32 local_group)
{
	const struct wp_group_stats *s = &bal->scratch, *b = &bal->busiest;

	if (s->type != b->type)
		return s->type > b->type;
	if (s->avg_load <= b->avg_load)
		return 0;
	return !wp_bigger_and_not_overloaded(ctx, bal, group, local_group);
}

/* Capacity of the destination's own group, refreshed bottom up as the periodic pass climbs. */
WP_INLINE void wp_refresh_local_group(struct wp_ctx *ctx, const struct wp_balance *bal, u32 group)
{
	if (bal->idle == WP_NEWLY_IDLE)
		return;
	if (!bal->level)
		wp_refresh_capacity(WP_AT(ctx->cpus, bal->this_cpu));
	wp_group_capacity(ctx, WP_AT(ctx->groups, wp_bal_dom(ctx, bal)->first_group + group));
}

/* The child domain wants its siblings spread: one task more than here is one too many there. */
WP_INLINE void wp_prefer_sibling(struct wp_ctx *ctx, struct wp_balance *bal, u32 group)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, bal->this_cpu);
	const struct wp_dom *dom = wp_bal_dom(ctx, bal);
	struct wp_group_stats *s = &bal->scratch;

	if (!bal->level ||
	    !(WP_AT(ctx->doms, *WP_AT(c->dom, bal->level - 1))->flags & WP_SD_PREFER_SIBLING))
		return;
	if (!wp_group_has_capacity(&bal->local, dom->imbalance_pct) ||
	    s->nr_running <= bal->local.nr_running + 1)
		return;
	s->no_capacity = 1;
	s->type = wp_group_classify(s, WP_AT(ctx->groups, dom->first_group + group));
}

/* Walk all groups, the local one first; writes the root domain's flags. */
WP_FN int wp_domain_stats(struct wp_ctx *ctx WP_NONNULL, struct wp_balance *bal WP_NONNULL)
{
	const struct wp_dom *dom = wp_bal_dom(ctx, bal);
	u32 k, local = *WP_AT(WP_AT(ctx->cpus, bal->this_cpu)->group, bal->level);

	bal->busiest_group = WP_NONE;
	WP_FOR(k, dom->nr_groups, WP_MAX_CPUS) {
		u32 group = local + k < dom->nr_groups ? local + k : local + k - dom->nr_groups;

		if (group == local)
			wp_refresh_local_group(ctx, bal, group);
		wp_stats_of_group(ctx, bal, group, group == local);
		if (group == local) {
			bal->local = bal->scratch;
		} else {
			wp_prefer_sibling(ctx, bal, group);
			if (wp_busier(ctx, bal, group, local)) {
				bal->busiest = bal->scratch;
				bal->busiest_group = group;
			}
		}
		bal->total_load += bal->scratch.load;
		bal->total_capacity += bal->scratch.capacity;
	}
	if (dom->top) {
		ctx->overload = bal->overload;
		ctx->overutilized = bal->overutilized;
	} else if (bal->overutilized) {
		ctx->overutilized = 1;
	}
	return 0;
}
