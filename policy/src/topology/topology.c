// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Sched domains from the topology table (docs/rules/domains.md#domains,
 * docs/rules/domains.md#degenerate-levels, docs/rules/domains.md#domain-groups;
 * docs/rules/capacity-aware.md#asym-flag, docs/rules/capacity-aware.md#balance-wake,
 * docs/rules/capacity-aware.md#rdmax, docs/rules/capacity-aware.md#group-extremes).
 *
 * The levels are partitions of the CPUs, bottom first; NUMA levels whose groups overlap are in
 * numa.c. A level whose span equals the one below it, or spans one CPU, disappears. Runs
 * before the first event; a live home runs it natively and copies the result.
 *
 * What must stay: lists of CPUs ascend and groups are in the order of their first CPUs: ties of all
 * rules go by them. Engine's domains.rs checks at each run that groups divide domains. Free:
 * how lists are gathered; spans, flags and tunables only with the pages.
 *
 * Tests by part: (below crates/policy-sys/tests; `every_fixture_holds` runs the fixtures)
 * all/topology.rs: `levels_of_server_machines` (`wp_build_sched_domains`, `wp_build_level`,
 * `wp_build_sched_domain`, `wp_collect_span`, `wp_attach_cpu`, `wp_attach_dom`),
 * `levels_of_big_little_machines`, `partial_asymmetry` (`wp_finish_doms`, `wp_asym_full`,
 * `wp_distinct_capacities`, `wp_capacity_is_new`), `balance_wake_only_where_it_helps`
 * (`wp_set_balance_wake`), `tunables` (`wp_sd_init`, `wp_lb_init`), `groups_of_tc2`
 * (`wp_build_sched_groups`, `wp_fill_group`, `wp_group_of_child`, `wp_update_group_capacity`),
 * `single_cpu_levels_vanish` (`wp_sd_parent_degenerate`), `a_cpu_that_is_offline_is_in_no_domain`
 * (`wp_first_of_label`); all/newidle_7_3.rs: `domain_flags` (`wp_level_prefers_sibling`),
 * `numa_limits` (`wp_numa_limits`); all/balance_7_3.rs: `sibling_difference_per_core`
 * (`wp_count_cores`); all/topology_numa.rs: `refusals`, `an_energy_model_needs_room`
 * (`wp_topo_room`, `wp_append_cpu`); fixtures/packing: preferred-cpu-of-a-group.toml
 * (`wp_group_prefer`); all/sched_mc.rs: `the_topology_of_a_quad` (`wp_label`). `wp_top_dom` has no
 * test of its own: all/topology.rs: `levels_of_server_machines` would show a fault of its.
 *
 * Callers: crates/policy-sys/src/machine.rs, before the first event and after a CPU came or went;
 * numa.c and domains_3_9.c take part.
 *
 * Kernel: build_sched_domains(), build_sched_domain(), build_sched_groups(), sd_init(),
 *         sd_parent_degenerate(), kernel/sched/topology.c; update_group_capacity(),
 *         kernel/sched/fair.c
 * Tests: fixtures/topology, all/topology.rs
 */
#include "wakeplace/policy.h"

/* numa.c; returns enum wp_topo_error */
WP_FN u32 wp_build_overlap(struct wp_ctx *ctx WP_NONNULL, u32 level, u32 cpu);

/* The group of a CPU at a topology level, from the table or as power saving pretends. */
WP_INLINE u32 wp_label(const struct wp_ctx *ctx, u32 level, u32 cpu)
{
#ifndef WP_LIVE
	if (ctx->mc_split == level + 1 && wp_mc_power_mode(ctx, cpu))
		return wp_mc_label(ctx, cpu);
#endif
	return *WP_AT(WP_AT(ctx->topo, level)->group_of, cpu);
}

/* The domain on top of what was built for this CPU so far, WP_NONE at the bottom. */
WP_INLINE u32 wp_top_dom(const struct wp_ctx *ctx, u32 cpu)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);

	return c->topo.nr_levels ? *WP_AT(c->topo.dom, c->topo.nr_levels - 1) : WP_NONE;
}

/*
 * Appends the n-th CPU of a span to the list. CPUs beyond the list's end are only counted;
 * wp_topo_room then refuses the machine.
 */
WP_INLINE void wp_append_cpu(struct wp_ctx *ctx, u32 n, u32 cpu)
{
	if (ctx->list_len + n < WP_MAX_LIST)
		*WP_AT(ctx->list, ctx->list_len + n) = (u16)cpu;
}

/* The span of the group of `cpu` at a level, appended to the list. Returns its length. */
WP_INLINE u32 wp_collect_span(struct wp_ctx *ctx, struct wp_sched_domain *dom, u32 level, u32 cpu)
{
	u32 i, n = 0;

	dom->first_cpu = ctx->list_len;
	WP_FOR(i, ctx->nr_cpus, WP_MAX_CPUS) {
		if (!WP_AT(ctx->cpus, i)->queue.online ||
		    wp_label(ctx, level, i) != wp_label(ctx, level, cpu))
			continue;
		wp_append_cpu(ctx, n, i);
		*WP_AT(dom->span, i / 64u) |= 1ull << (i % 64u);
		n++;
	}
	return n;
}

/* Does the level ask for its tasks to be spread over its siblings? */
WP_INLINE int wp_level_prefers_sibling(const struct wp_ctx *ctx, u32 flags)
{
	if (flags & WP_SD_NUMA)
		return 0;
	if (ctx->params.prefer_sibling != WP_SIBLING_NOT_CACHE)
		return 1;
	return (flags & WP_SD_SHARE_CPUCAPACITY) || !(flags & WP_SD_SHARE_LLC);
}

/* Flags and tunables of a level, as the kernels initialise them. */
WP_INLINE void wp_sd_init(struct wp_ctx *ctx, struct wp_sched_domain *dom, u32 below)
{
	if (!ctx->params.asym_packing)
		dom->flags &= ~(u32)WP_SD_ASYM_PACKING;
#ifndef WP_LIVE
	if (wp_domains_3x(ctx)) {
		wp_sd_init_3_9(ctx, dom, below);
		return;
	}
#endif
	(void)below; /* only older tables look at it */
	dom->imbalance_pct = ctx->params.imbalance_pct;
	dom->flags |= WP_SD_BALANCE_NEWIDLE;
	if (!(dom->flags & WP_SD_NUMA) || !wp_level_is_far(ctx, dom->topo_level))
		dom->flags |= WP_SD_BALANCE_FORK | WP_SD_BALANCE_EXEC | WP_SD_WAKE_AFFINE;
	if (wp_level_prefers_sibling(ctx, dom->flags))
		dom->flags |= WP_SD_PREFER_SIBLING;
	if (dom->flags & WP_SD_SHARE_CPUCAPACITY) {
		dom->imbalance_pct = 110;
	} else if (dom->flags & WP_SD_SHARE_LLC) {
		dom->imbalance_pct = 117;
		dom->cache_nice_tries = 1;
		dom->busy_idx = 2;
	} else if (dom->flags & WP_SD_NUMA) {
		dom->cache_nice_tries = 2;
		dom->busy_idx = 3;
		dom->idle_idx = 2;
	} else {
		dom->cache_nice_tries = 1;
		dom->busy_idx = 2;
		dom->idle_idx = 1;
	}
}

/* Is this capacity new among the CPUs listed before position `n`? */
WP_INLINE int wp_capacity_is_new(const struct wp_ctx *ctx, u32 first, u32 n)
{
	u32 i, cap = WP_AT(ctx->cpus, *WP_AT(ctx->list, first + n))->load.capacity_orig;

	for (i = 0; i < n; i++)
		if (WP_AT(ctx->cpus, *WP_AT(ctx->list, first + i))->load.capacity_orig == cap)
			return 0;
	return 1;
}

/* Number of distinct capacities in a list range. */
WP_INLINE u32 wp_distinct_capacities(const struct wp_ctx *ctx, u32 first, u32 nr)
{
	u32 i, distinct = 0;

	for (i = 0; i < nr; i++)
		distinct += (u32)wp_capacity_is_new(ctx, first, i);
	return distinct;
}

/* Number of cores in a list range. */
WP_INLINE u32 wp_count_cores(const struct wp_ctx *ctx, u32 first, u32 nr)
{
	u32 i, cores = 0;

	for (i = 0; i < nr; i++) {
		u32 cpu = *WP_AT(ctx->list, first + i);
		const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
		const struct wp_sched_domain *core = WP_AT(ctx->doms, c->topo.dom[0]);

		cores += !c->topo.nr_levels || !(core->flags & WP_SD_SHARE_CPUCAPACITY) ||
			 *WP_AT(ctx->list, core->first_cpu) == cpu;
	}
	return cores;
}

/* The group of a child domain. An asymmetric domain may not want its children's tasks spread: it
 * would pull them to CPUs that are too small. */
WP_INLINE void wp_group_of_child(struct wp_ctx *ctx, const struct wp_sched_domain *dom, u32 child,
				 struct wp_sched_group *g)
{
	struct wp_sched_domain *below = WP_AT(ctx->doms, child);

	if (ctx->params.prefer_sibling == WP_SIBLING_NOT_ASYM &&
	    (dom->flags & WP_SD_ASYM_CPUCAPACITY))
		below->flags &= ~(u32)WP_SD_PREFER_SIBLING;
	g->first_cpu = below->first_cpu;
	g->nr_cpus = below->nr_cpus;
	g->flags = below->flags;
	g->nr_cores = wp_count_cores(ctx, g->first_cpu, g->nr_cpus);
}

/* The group of a child domain, or of the CPU at a place in the list (WP_NONE: no child). */
WP_INLINE void wp_fill_group(struct wp_ctx *ctx, const struct wp_sched_domain *dom, u32 child,
			     u32 at, struct wp_sched_group *g)
{
	struct wp_sched_group zero = {0};

	*g = zero;
	if (child == WP_NONE) {
		g->first_cpu = at;
		g->nr_cpus = 1;
		g->nr_cores = 1;
	} else {
		wp_group_of_child(ctx, dom, child, g);
	}
	g->first_balance = g->first_cpu;
	g->nr_balance = g->nr_cpus;
}

/* One group per child domain (or per CPU at the bottom), in order of their first CPU. Those that
 * find no room are counted only. */
WP_INLINE void wp_build_sched_groups(struct wp_ctx *ctx, struct wp_sched_domain *dom)
{
	u32 i;

	dom->first_group = ctx->nr_groups;
	for (i = 0; i < dom->nr_cpus; i++) {
		u32 cpu = *WP_AT(ctx->list, dom->first_cpu + i);
		struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
		u32 child = wp_top_dom(ctx, cpu);
		u32 first = child == WP_NONE ? cpu :
				*WP_AT(ctx->list, WP_AT(ctx->doms, child)->first_cpu);
		struct wp_sched_group *g;

		if (first != cpu) { /* the group stands already: the one of its first CPU */
			const struct wp_cpu *f = WP_AT(ctx->cpus, first);

			*WP_AT(c->topo.group, c->topo.nr_levels) =
				*WP_AT(f->topo.group, f->topo.nr_levels);
			continue;
		}
		*WP_AT(c->topo.group, c->topo.nr_levels) = ctx->nr_groups - dom->first_group;
		if (ctx->nr_groups++ >= WP_MAX_GROUPS)
			continue;
		g = WP_AT(ctx->groups, ctx->nr_groups - 1);
		wp_fill_group(ctx, dom, child, dom->first_cpu + i, g);
	}
	dom->nr_groups = ctx->nr_groups - dom->first_group;
}

/* A CPU begins to remember of a level: half of the new-idle attempts are made. */
WP_INLINE void wp_lb_init(struct wp_lb *lb, const struct wp_sched_domain *dom)
{
	lb->balance_interval_ms = wp_interval_min_ms(dom);
	lb->newidle_calls = 512;
	lb->newidle_success = 256;
	lb->newidle_ratio = 512;
}

/* Push a finished domain onto the stack of the CPU at place `i` of its list. */
WP_INLINE void wp_attach_cpu(struct wp_ctx *ctx, const struct wp_sched_domain *dom, u32 index,
			     u32 i)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, *WP_AT(ctx->list, dom->first_cpu + i));

	wp_lb_init(WP_AT(c->balance.lb, c->topo.nr_levels), dom);
	*WP_AT(c->topo.dom, c->topo.nr_levels) = index;
	*WP_AT(c->topo.pos, c->topo.nr_levels) = i;
	if ((dom->flags & WP_SD_CLUSTER) && c->topo.cluster_level == WP_NONE)
		c->topo.cluster_level = c->topo.nr_levels;
	if (dom->flags & WP_SD_SHARE_LLC) {
		c->topo.llc_level = c->topo.nr_levels;
		c->topo.llc_id = *WP_AT(ctx->list, dom->first_cpu);
		c->topo.llc_size = dom->nr_cpus;
	}
	if ((dom->flags & WP_SD_ASYM_CPUCAPACITY) && c->topo.asym_level == WP_NONE)
		c->topo.asym_level = c->topo.nr_levels;
	if (dom->flags & WP_SD_ASYM_PACKING)
		c->topo.packing_level = c->topo.nr_levels;
	c->topo.nr_levels++;
}

/* The domain is that of each of its CPUs. */
WP_INLINE void wp_attach_dom(struct wp_ctx *ctx, const struct wp_sched_domain *dom, u32 index)
{
	u32 i;

	for (i = 0; i < dom->nr_cpus; i++)
		wp_attach_cpu(ctx, dom, index, i);
}

/*
 * Wake-ups take the slow path on an asymmetric domain and all below it
 * (docs/rules/capacity-aware.md#balance-wake).
 */
WP_INLINE void wp_set_balance_wake(struct wp_ctx *ctx, const struct wp_sched_domain *dom)
{
	u32 i, level;

	for (i = 0; i < dom->nr_cpus; i++) {
		struct wp_cpu *c = WP_AT(ctx->cpus, *WP_AT(ctx->list, dom->first_cpu + i));

		for (level = 0; level < c->topo.nr_levels; level++)
			WP_AT(ctx->doms, *WP_AT(c->topo.dom, level))->flags |= WP_SD_BALANCE_WAKE;
	}
}

/* Was there room for what was built last? If not it was only counted, and is not used. */
WP_INLINE u32 wp_topo_room(const struct wp_ctx *ctx)
{
	if (ctx->nr_doms > WP_MAX_DOMS)
		return WP_TOPO_DOMS;
	if (ctx->nr_groups > WP_MAX_GROUPS)
		return WP_TOPO_GROUPS;
	return ctx->list_len > WP_MAX_LIST ? WP_TOPO_LIST : WP_TOPO_OK;
}

/*
 * Is the domain useless beside the one below it? Flags that it alone had then move down, except in
 * 3.x.
 */
WP_INLINE int wp_sd_parent_degenerate(struct wp_ctx *ctx, const struct wp_sched_domain *dom,
				      u32 below)
{
	struct wp_sched_domain *child;

	if (dom->nr_cpus == 1)
		return 1;
	if (below == WP_NONE)
		return 0;
	child = WP_AT(ctx->doms, below);
	if (child->nr_cpus != dom->nr_cpus)
		return 0;
#ifndef WP_LIVE
	if (wp_domains_3x(ctx))
		return wp_adds_nothing_3x(dom, child);
#endif
	child->flags |= dom->flags & WP_SD_PREFER_SIBLING;
	return 1;
}

/* The domain of `cpu` at a topology level, unless it adds nothing. Returns enum wp_topo_error. */
WP_INLINE u32 wp_build_sched_domain(struct wp_ctx *ctx, u32 level, u32 flags, u32 cpu)
{
	u32 index = ctx->nr_doms, below = wp_top_dom(ctx, cpu), distinct, room;
	struct wp_sched_domain *dom, found = {.flags = flags, .topo_level = level};

	found.nr_cpus = wp_collect_span(ctx, &found, level, cpu);
	wp_sd_init(ctx, &found, below);
	if (wp_sd_parent_degenerate(ctx, &found, below))
		return WP_TOPO_OK;
	ctx->list_len += found.nr_cpus;
	ctx->nr_doms++;
	room = wp_topo_room(ctx);
	if (room)
		return room;
	dom = WP_AT(ctx->doms, index);
	*dom = found;
	distinct = wp_distinct_capacities(ctx, dom->first_cpu, dom->nr_cpus);
	if (distinct > 1 && ctx->params.asym_flag)
		dom->flags |= WP_SD_ASYM_CPUCAPACITY;
	wp_build_sched_groups(ctx, dom);
	room = wp_topo_room(ctx);
	if (room)
		return room;
	wp_attach_dom(ctx, dom, index);
	if ((dom->flags & WP_SD_ASYM_CPUCAPACITY) && ctx->params.asym_balance_wake)
		wp_set_balance_wake(ctx, dom);
	return WP_TOPO_OK;
}

/* Capacity of a group: sum and smallest of its CPUs. */
WP_INLINE void wp_update_group_capacity(struct wp_ctx *ctx, struct wp_sched_group *g)
{
	u32 i, sum = 0, least = WP_NONE, most = 0;

	WP_FOR(i, g->nr_cpus, WP_MAX_CPUS) {
		u32 cap = WP_AT(ctx->cpus, *WP_AT(ctx->list, g->first_cpu + i))->load.capacity;

		sum += cap;
		least = wp_min(least, cap);
		most = wp_max(most, cap);
	}
	g->capacity = sum;
	g->min_capacity = least;
	g->max_capacity = most;
}

/*
 * How many tasks may run on a node before nodes are evened out (docs/rules/domains.md#imb-numa): an
 * eighth of a node with one cache, else as many as the node has caches; more for levels of several
 * nodes.
 */
WP_INLINE void wp_numa_limits(struct wp_ctx *ctx, const struct wp_cpu *c)
{
	u32 level, imb = 0, span = 1;

	level = c->topo.llc_level == WP_NONE ? 0 : c->topo.llc_level + 1;
	for (; level < c->topo.nr_levels; level++) {
		struct wp_sched_domain *dom = WP_AT(ctx->doms, *WP_AT(c->topo.dom, level));

		if (!imb) { /* the first level above the cache; a node of one cache has none */
			imb = dom->flags & WP_SD_NUMA ? c->topo.llc_size / 8 :
							dom->nr_cpus / c->topo.llc_size;
			imb = wp_max(imb, 1);
		}
		if (span == 1 && (dom->flags & WP_SD_NUMA))
			span = dom->nr_cpus;
		dom->imb_numa_nr = imb * wp_max(dom->nr_cpus / span, 1);
	}
}

/* Its lowest domain with CPUs of all capacities the system has. */
WP_INLINE void wp_asym_full(struct wp_ctx *ctx, struct wp_cpu *c)
{
	u32 level;

	c->topo.asym_full_level = WP_NONE;
	for (level = c->topo.nr_levels; level > 0; level--)
		if (WP_AT(ctx->doms, *WP_AT(c->topo.dom, level - 1))->flags &
		    WP_SD_ASYM_CPUCAPACITY_FULL)
			c->topo.asym_full_level = level - 1;
}

/* The first CPU of a group that no other has a higher priority than. */
WP_INLINE void wp_group_prefer(struct wp_ctx *ctx, struct wp_sched_group *g)
{
	u32 i;

	g->prefer_cpu = *WP_AT(ctx->list, g->first_cpu);
	WP_FOR(i, g->nr_cpus, WP_MAX_CPUS) {
		u32 cpu = *WP_AT(ctx->list, g->first_cpu + i);

		if (WP_AT(ctx->cpus, cpu)->topo.asym_priority >
		    WP_AT(ctx->cpus, g->prefer_cpu)->topo.asym_priority)
			g->prefer_cpu = cpu;
	}
}

/* Marks that need the whole tree: asymmetric in full, top level, capacities. */
WP_INLINE void wp_finish_doms(struct wp_ctx *ctx)
{
	u32 i, all = 0;

	for (i = 0; i < ctx->nr_doms; i++)
		all = wp_max(all, wp_distinct_capacities(ctx, WP_AT(ctx->doms, i)->first_cpu,
							 WP_AT(ctx->doms, i)->nr_cpus));
	for (i = 0; i < ctx->nr_doms; i++) {
		struct wp_sched_domain *dom = WP_AT(ctx->doms, i);

		ctx->smt |= !!(dom->flags & WP_SD_SHARE_CPUCAPACITY);
		ctx->cluster |= !!(dom->flags & WP_SD_CLUSTER);
		if (!(dom->flags & WP_SD_ASYM_CPUCAPACITY))
			continue;
		ctx->asym = 1;
		if (wp_distinct_capacities(ctx, dom->first_cpu, dom->nr_cpus) == all)
			dom->flags |= WP_SD_ASYM_CPUCAPACITY_FULL;
	}
	for (i = 0; i < ctx->nr_cpus; i++) {
		struct wp_cpu *c = WP_AT(ctx->cpus, i);

		c->idle.nr_busy_cpus = c->topo.llc_size;
		ctx->nr_llcs += c->queue.online && c->topo.llc_id == i;
		if (c->topo.nr_levels)
			WP_AT(ctx->doms, wp_top_dom(ctx, i))->top = 1;
		wp_numa_limits(ctx, c);
		wp_asym_full(ctx, c);
	}
#ifndef WP_LIVE
	for (i = 0; i < ctx->nr_cpus; i++)
		wp_init_power(ctx, i);
#endif
	for (i = 0; i < ctx->nr_groups; i++) {
		wp_update_group_capacity(ctx, WP_AT(ctx->groups, i));
		wp_group_prefer(ctx, WP_AT(ctx->groups, i));
	}
}

/* Is this CPU online and the lowest one of its group at a level? */
WP_INLINE int wp_first_of_label(const struct wp_ctx *ctx, u32 level, u32 cpu)
{
	u32 i;

	if (!WP_AT(ctx->cpus, cpu)->queue.online)
		return 0;
	for (i = 0; i < cpu; i++)
		if (WP_AT(ctx->cpus, i)->queue.online &&
		    wp_label(ctx, level, i) == wp_label(ctx, level, cpu))
			return 0;
	return 1;
}

/* All domains of a level. Returns enum wp_topo_error. */
WP_INLINE u32 wp_build_level(struct wp_ctx *ctx, u32 level, u32 flags)
{
	u32 overlap = WP_AT(ctx->topo, level)->overlap, cpu, error = WP_TOPO_OK;

	if (!overlap && level && WP_AT(ctx->topo, level - 1)->overlap)
		return WP_TOPO_ORDER;
	for (cpu = 0; cpu < ctx->nr_cpus && !error; cpu++)
		if (wp_first_of_label(ctx, level, cpu))
			error = overlap ? wp_build_overlap(ctx, level, cpu)
					: wp_build_sched_domain(ctx, level, flags, cpu);
	return error;
}

/* Build all domains from nr_cpus, cpus[].capacity_orig and .online, and topo[]. */
WP_FN u32 wp_build_sched_domains(struct wp_ctx *ctx WP_NONNULL)
{
	u32 level, cpu, error = WP_TOPO_OK;

	ctx->nr_doms = 0;
	ctx->nr_groups = 0;
	ctx->max_capacity_orig = 0;
	ctx->asym = 0;
	ctx->smt = 0;
	ctx->cluster = 0;
	ctx->nr_llcs = 0;
	for (cpu = 0; cpu < ctx->nr_cpus; cpu++) {
		struct wp_cpu *c = WP_AT(ctx->cpus, cpu);

		c->topo.nr_levels = 0;
		c->topo.llc_level = WP_NONE;
		c->topo.llc_id = cpu;
		c->topo.llc_size = 1;
		c->topo.asym_level = WP_NONE;
		c->topo.cluster_level = WP_NONE;
		c->topo.packing_level = WP_NONE;
		c->idle.idle_exit_latency_us = WP_NONE;
		c->load.capacity = c->load.capacity_orig;
		if (!c->load.clock_task_ns) { /* 0 as a task's last update means: on no queue */
			c->load.clock_task_ns = 1u << 20;
			c->load.clock_pelt_ns = c->load.clock_task_ns;
			c->load.avg.last_update_ns = c->load.clock_task_ns;
		}
		c->idle.avg_idle_ns = 2ull * ctx->params.migration_cost_ns;
		c->balance.max_idle_balance_cost_ns = ctx->params.migration_cost_ns;
		if (c->queue.online)
			ctx->max_capacity_orig =
				wp_max(ctx->max_capacity_orig, c->load.capacity_orig);
	}
#ifndef WP_LIVE
	wp_mc_configure(ctx);
#endif
	for (level = 0; level < ctx->nr_topo_levels && !error; level++) {
#ifndef WP_LIVE
		if (!wp_level_known(ctx, level))
			continue;
		wp_mc_begin_level(ctx, level);
#endif
		error = wp_build_level(ctx, level, WP_AT(ctx->topo, level)->flags);
#ifndef WP_LIVE
		wp_mc_end_level(ctx);
		if (!error && wp_domains_3x(ctx) && wp_cpu_level_missing(ctx, level))
			error = wp_build_level(ctx, level, 0);
#endif
	}
	if (!error)
		wp_finish_doms(ctx);
	return error;
}
