// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * NUMA levels whose groups overlap (docs/rules/domains.md#numa-nodes): nodes that are near one node
 * need not be near each other, as on a ring. Each node has a domain of its own then, here and at
 * all levels above, with groups of its own:
 *
 *   span    the nodes that are near this one
 *   groups  from the own CPUs on, each CPU not yet covered brings the highest of its domains below
 *           this level that lies within the span; so groups may overlap, too. The first is local.
 *   who balances for the local group: those of its CPUs whose own domain below is just that group
 *
 * What must stay: lists and groups in the order of CPUs; two domains of one span share one list.
 * Free: how a group is found; its order only with the page.
 *
 * Tests by part: (below crates/policy-sys/tests) all/topology_numa.rs: `a_ring_of_four_nodes`
 * (`wp_build_overlap`, `wp_build_overlap_sched_groups`, `wp_build_balance_mask`, `wp_dom_below`),
 * `a_ring_of_six_nodes` (`wp_span_within`, `wp_spans_equal`), `a_ring_with_a_node_offline`
 * (`wp_collect_near`), `a_level_that_adds_nothing_takes_no_room` (`wp_share_list`),
 * `balancing_across_a_ring`, `refusals`.
 *
 * Callers: `wp_build_level` (topology.c).
 *
 * Kernel: build_overlap_sched_groups(), build_balance_mask(), kernel/sched/topology.c
 * Tests: all/topology_numa.rs, fixtures/topology
 */
#include "wakeplace/policy.h"

/* Have the two the same CPUs? */
WP_INLINE int wp_spans_equal(const struct wp_sched_domain *a, const struct wp_sched_domain *b)
{
	u64 differ = 0;
	u32 i;

	for (i = 0; i < WP_MASK_WORDS; i++)
		differ |= a->span[i] ^ b->span[i];
	return !differ;
}

/* Are all CPUs of `in` in `of`? */
WP_INLINE int wp_span_within(const struct wp_sched_domain *in, const struct wp_sched_domain *of)
{
	u64 outside = 0;
	u32 i;

	for (i = 0; i < WP_MASK_WORDS; i++)
		outside |= in->span[i] & ~of->span[i];
	return !outside;
}

/* The online CPUs near the node of `cpu`, appended to the list. Returns their number. */
WP_INLINE u32 wp_collect_near(struct wp_ctx *ctx, struct wp_sched_domain *dom, u32 level, u32 cpu)
{
	u64 near = *WP_AT(WP_AT(ctx->topo, level)->near, wp_label(ctx, level, cpu));
	u32 i, n = 0;

	dom->first_cpu = ctx->list_len;
	WP_FOR(i, ctx->nr_cpus, WP_MAX_CPUS) {
		u32 node = wp_label(ctx, level, i);

		if (!WP_AT(ctx->cpus, i)->queue.online || node >= WP_MAX_NODES ||
		    !(near >> node & 1))
			continue;
		wp_append_cpu(ctx, n, i);
		*WP_AT(dom->span, i / 64u) |= 1ull << (i % 64u);
		n++;
	}
	return n;
}

/* The highest domain of `cpu` below a level; with `within` the highest that lies in it. */
WP_FN u32 wp_dom_below(const struct wp_ctx *ctx WP_NONNULL, u32 level, u32 cpu,
		       const struct wp_sched_domain *within)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	u32 i, found = WP_NONE;

	WP_FOR(i, c->topo.nr_levels, WP_MAX_LEVELS) {
		const struct wp_sched_domain *dom = WP_AT(ctx->doms, *WP_AT(c->topo.dom, i));

		if (dom->topo_level < level && (!within || wp_span_within(dom, within)))
			found = *WP_AT(c->topo.dom, i);
	}
	return found;
}

/* Who balances for a local group that is the span of `child`, as a list of its own. */
WP_INLINE void wp_build_balance_mask(struct wp_ctx *ctx, u32 level, u32 child,
				     struct wp_sched_group *g)
{
	const struct wp_sched_domain *span = WP_AT(ctx->doms, child);
	u32 i, n = 0;

	WP_FOR(i, g->nr_cpus, WP_MAX_CPUS) {
		u32 cpu = *WP_AT(ctx->list, g->first_cpu + i);
		u32 own = wp_dom_below(ctx, level, cpu, 0);

		if (own != WP_NONE && wp_spans_equal(WP_AT(ctx->doms, own), span))
			wp_append_cpu(ctx, n++, cpu);
	}
	if (n == g->nr_cpus)
		return;
	g->first_balance = ctx->list_len;
	g->nr_balance = n;
	ctx->list_len += n;
}

/* The groups of the domain of `cpu`, from its own on. */
WP_FN int wp_build_overlap_sched_groups(struct wp_ctx *ctx WP_NONNULL,
					struct wp_sched_domain *dom WP_NONNULL, u32 cpu)
{
	u64 covered[WP_MASK_WORDS] = { 0 };
	u32 i, k, start = 0;

	WP_FOR(i, dom->nr_cpus, WP_MAX_CPUS)
		if (*WP_AT(ctx->list, dom->first_cpu + i) == cpu)
			start = i;
	dom->first_group = ctx->nr_groups;
	WP_FOR(i, dom->nr_cpus, WP_MAX_CPUS) {
		u32 at = start + i < dom->nr_cpus ? start + i : start + i - dom->nr_cpus;
		u32 other = *WP_AT(ctx->list, dom->first_cpu + at), child;
		struct wp_sched_group *g;

		if (*WP_AT(covered, other / 64u) >> (other % 64u) & 1)
			continue;
		if (ctx->nr_groups++ >= WP_MAX_GROUPS) /* counted only */
			break;
		g = WP_AT(ctx->groups, ctx->nr_groups - 1);
		child = wp_dom_below(ctx, dom->topo_level, other, dom);
		wp_fill_group(ctx, dom, child, dom->first_cpu + at, g);
		if (child == WP_NONE) {
			*WP_AT(covered, other / 64u) |= 1ull << (other % 64u);
		} else {
			for (k = 0; k < WP_MASK_WORDS; k++)
				covered[k] |= WP_AT(ctx->doms, child)->span[k];
			if (!i) /* nobody asks who balances for the others */
				wp_build_balance_mask(ctx, dom->topo_level, child, g);
		}
	}
	dom->nr_groups = ctx->nr_groups - dom->first_group;
	return 0;
}

/* One list serves all domains of the same span. */
WP_INLINE void wp_share_list(struct wp_ctx *ctx, struct wp_sched_domain *dom, u32 index)
{
	u32 i;

	WP_FOR(i, index, WP_MAX_DOMS) {
		const struct wp_sched_domain *other = WP_AT(ctx->doms, i);

		if (other->nr_cpus == dom->nr_cpus && wp_spans_equal(other, dom)) {
			dom->first_cpu = other->first_cpu;
			return;
		}
	}
	ctx->list_len += dom->nr_cpus;
}

/* The domain of the node of `cpu`, unless it adds nothing. Returns enum wp_topo_error. */
WP_FN u32 wp_build_overlap(struct wp_ctx *ctx WP_NONNULL, u32 level, u32 cpu)
{
	u32 i, index = ctx->nr_doms, below = wp_top_dom(ctx, cpu);
	u32 node = wp_label(ctx, level, cpu), room;
	struct wp_sched_domain *dom, found = {.topo_level = level};

	if (node >= WP_MAX_NODES)
		return WP_TOPO_NODES;
	found.flags = WP_AT(ctx->topo, level)->flags;
	found.nr_cpus = wp_collect_near(ctx, &found, level, cpu);
	wp_sd_init(ctx, &found, below);
	if (wp_sd_parent_degenerate(ctx, &found, below))
		return WP_TOPO_OK;
	wp_share_list(ctx, &found, index);
	ctx->nr_doms++;
	room = wp_topo_room(ctx);
	if (room)
		return room;
	dom = WP_AT(ctx->doms, index);
	*dom = found;
	if (ctx->params.asym_flag &&
	    wp_distinct_capacities(ctx, dom->first_cpu, dom->nr_cpus) > 1)
		dom->flags |= WP_SD_ASYM_CPUCAPACITY;
	wp_build_overlap_sched_groups(ctx, dom, cpu);
	room = wp_topo_room(ctx);
	if (room)
		return room;
	WP_FOR(i, dom->nr_cpus, WP_MAX_CPUS) {
		u32 own = *WP_AT(ctx->list, dom->first_cpu + i);

		if (wp_label(ctx, level, own) != node)
			continue;
		*WP_AT(WP_AT(ctx->cpus, own)->topo.group, WP_AT(ctx->cpus, own)->topo.nr_levels) =
			0;
		wp_attach_cpu(ctx, dom, index, i);
	}
	if ((dom->flags & WP_SD_ASYM_CPUCAPACITY) && ctx->params.asym_balance_wake)
		wp_set_balance_wake(ctx, dom);
	return WP_TOPO_OK;
}
