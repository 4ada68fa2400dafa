// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What both forms of load balancing use: the parts of a balance object, capacity as it is
 * refreshed on the way (docs/rules/balancing.md#reduced-capacity).
 *
 * What must stay: both forms read these; a sum that is kept must equal its walk. Free: how an
 * object is read; what is refreshed, and when, only with the pages.
 *
 * Tests by part: (below crates/policy-sys/tests; `every_fixture_holds` runs the fixtures)
 * fixtures/balance: capacity-876-is-not-reduced.toml (`wp_check_cpu_capacity`),
 * top-level-sets-overutilized.toml, top-level-clears-overutilized.toml (`wp_stats_root_flags`),
 * misfit-counts-*.toml (`wp_misfit_apart`), no-smt-balance-6-1.toml (`wp_bal_knows_cores`),
 * due-clamped-by-cpus-online.toml (`wp_max_load_balance_interval`); fixtures/capacity:
 * newidle-refreshes-when-due.toml, stale-until-a-pass.toml, 3-8-newidle-*.toml (`wp_capacity_due`,
 * `wp_refresh_local_group`, `wp_refresh_cpu`); all/kept.rs:
 * `statistics_that_are_left_out_change_no_answer` (`wp_below_tipping_point`),
 * `kept_sums_change_no_answer` (`wp_balanced_as_kept`); all/balance.rs:
 * `pinned_tasks_end_the_search` (`wp_excluded`). `wp_bal_dom`, `wp_bal_lb`, `wp_balance_reset` and
 * `wp_by_counts` have no test of their own: all/balance.rs: `which_tasks_move` would show a fault
 * of theirs.
 *
 * Callers: all files of this folder; power_balance.c.
 *
 * Kernel: check_cpu_capacity(), kernel/sched/fair.c
 * Tests: fixtures/balance, all/balance.rs
 */
#include "wakeplace/policy.h"

/* The domain that is balanced. */
WP_INLINE struct wp_sched_domain *wp_bal_dom(struct wp_ctx *ctx, const struct wp_lb_env *bal)
{
	return WP_AT(ctx->doms, bal->dom);
}

/* Is the CPU no source of this attempt any more? */
WP_INLINE int wp_excluded(const struct wp_lb_env *bal, u32 cpu)
{
	return (*WP_AT(bal->excluded, cpu / 64u) >> (cpu % 64u)) & 1u;
}

/* What the balancing CPU remembers of this level. */
WP_INLINE struct wp_lb *wp_bal_lb(struct wp_ctx *ctx, const struct wp_lb_env *bal)
{
	return WP_AT(WP_AT(ctx->cpus, bal->this_cpu)->balance.lb, bal->level);
}

/* Balancing by class, does it tell the threads of a core from cores? (6.6) */
WP_INLINE int wp_bal_knows_cores(const struct wp_ctx *ctx)
{
	return !WP_NOT_LIVE(!ctx->params.balance_smt);
}

/* A pull of a misfit task says nothing of the load: it changes neither interval nor failures. */
WP_INLINE int wp_misfit_apart(const struct wp_ctx *ctx, const struct wp_lb_env *bal)
{
	return bal->migration_type == WP_MIGRATE_MISFIT &&
	       !WP_NOT_LIVE(ctx->params.misfit_form != WP_MISFIT_612);
}

/* RT, deadline or interrupts take a noticeable share of this CPU. */
WP_INLINE int wp_check_cpu_capacity(const struct wp_cpu *c, u32 pct)
{
	u32 full = WP_NOT_LIVE(c->load.power_orig) ? c->load.power_orig : c->load.capacity_orig;

	return (u64)c->load.capacity * pct < (u64)full * 100;
}

/* The form to 3.12: a group has room for so many tasks (busiest_3_12.c). */
WP_INLINE int wp_by_counts(const struct wp_ctx *ctx)
{
	return WP_NOT_LIVE(!ctx->params.balance_classes &&
			   ctx->params.group_form != WP_GROUPS_TYPES);
}

/* Nothing is known of the domain yet. */
WP_INLINE void wp_balance_reset(struct wp_lb_env *bal)
{
	bal->total_load = 0;
	bal->total_capacity = 0;
	bal->overload = 0;
	bal->overutilized = 0;
	bal->roomy = 0;
	bal->imbalance = 0;
	bal->migration_type = WP_MIGRATE_LOAD;
	bal->power.pulls = 0;
	bal->power.perf_from = 0;
}

/* What a pass over all groups says of the root domain; lower levels can only set. */
WP_INLINE void wp_stats_root_flags(struct wp_ctx *ctx, const struct wp_lb_env *bal)
{
	const struct wp_sched_domain *dom = wp_bal_dom(ctx, bal);

	if (dom->top)
		ctx->overload = bal->overload;
	if (wp_pass_overutilized(ctx, bal))
		wp_set_rd_overutilized(ctx, bal->now_ns);
	else if (dom->top)
		wp_clear_rd_overutilized(ctx, bal->now_ns);
}

#ifdef WP_KEEPS
/*
 * Below the tipping point only a misfit task is taken. So where no sums are kept, a look at the
 * domain's CPUs without their groups tells whether a pass can find a source, if the home does not
 * mind that the statistics of groups are missing then
 * (docs/rules/balancing.md#whether-to-act). Returns 1 if not, with the marks of the pass.
 */
WP_INLINE int wp_below_tipping_point(struct wp_ctx *ctx, struct wp_lb_env *bal)
{
	const struct wp_sched_domain *dom = wp_bal_dom(ctx, bal);
	u64 excluded = 0;
	u32 i, overload = 0;

	if (!ctx->quick || ctx->kept || !ctx->energy_active || (!dom->top && ctx->overutilized) ||
	    !wp_tips_by_any(ctx) || (dom->flags & WP_SD_NUMA)) /* groups may reach beyond it */
		return 0;
	WP_FOR(i, wp_kept_words(ctx), WP_MASK_WORDS) {
		excluded |= bal->excluded[i];
	}
	if (excluded)
		return 0;
	WP_FOR(i, dom->nr_cpus, WP_MAX_CPUS) {
		const struct wp_cpu *c = WP_AT(ctx->cpus, *WP_AT(ctx->list, dom->first_cpu + i));

		if (c->queue.misfit_task_load || wp_check_cpu_capacity(c, dom->imbalance_pct) ||
		    wp_cpu_overutilized(ctx, c))
			return 0;
		overload |= c->queue.nr_running > 1;
	}
	bal->overload = overload;
	bal->overutilized = 0;
	bal->roomy = 1;
	return 1;
}

/*
 * Nothing is to be found here, by what is kept: then only the marks of a pass are left, which are
 * the caller's. Test builds ask `find`, which looks at all groups, as well.
 */
WP_INLINE int wp_balanced_as_kept(struct wp_ctx *ctx, struct wp_lb_env *bal,
				  u32 (*find)(struct wp_ctx *, struct wp_lb_env *))
{
	/* A pass has to see what its caches are used, and which tasks prefer this one. */
	if (wp_sched_cache_enabled(ctx) && !(wp_bal_dom(ctx, bal)->flags & WP_SD_SHARE_LLC))
		return 0;
	if (!wp_kept_balanced(ctx, bal) && !wp_below_tipping_point(ctx, bal))
		return 0;
#ifdef WP_CHECK_BOUNDS
	struct wp_lb_env walked = *bal;
	u32 overload = ctx->overload, overutilized = ctx->overutilized;
	u64 overutilized_ns = ctx->overutilized_ns;
	u32 source;

	wp_balance_reset(&walked);
	source = find(ctx, &walked);
	WP_CHECK_KEPT("source", bal->dom, WP_NONE, source);
	WP_CHECK_KEPT("overload", bal->dom, bal->overload, walked.overload);
	WP_CHECK_KEPT("overutilized", bal->dom, bal->overutilized, walked.overutilized);
	WP_CHECK_KEPT("roomy", bal->dom, bal->roomy, walked.roomy);
	ctx->overload = overload;
	ctx->overutilized = overutilized;
	ctx->overutilized_ns = overutilized_ns;
#else
	(void)find;
#endif
	bal->busiest_group = WP_NONE;
	return 1;
}
#endif

/*
 * In ticks, HZ * CPUs / 10: no CPU balances a domain less often. The CPUs online are those of its
 * top domain, which is built without the others.
 */
WP_INLINE u64 wp_max_load_balance_interval(const struct wp_ctx *ctx, const struct wp_cpu *c)
{
	u32 top = *WP_AT(c->topo.dom, wp_sub(c->topo.nr_levels, 1));

	return wp_div(100000000ull * WP_AT(ctx->doms, top)->nr_cpus, ctx->tick_ns);
}

/*
 * May this pass refresh the group's capacity? A periodic one always; since 3.3 a new-idle one, too,
 * when the balance interval at the last refresh is over (next_update). capacity_newidle is of the
 * older forms, which had to learn it.
 */
WP_INLINE int wp_capacity_due(struct wp_ctx *ctx, const struct wp_lb_env *bal,
			      struct wp_sched_group *g)
{
	u64 tick = wp_div(bal->now_ns, ctx->tick_ns), ticks, longest;
	int never = WP_NOT_LIVE(ctx->params.capacity_form != WP_CAPACITY_SIGNALS &&
				!ctx->params.capacity_newidle);

	if (bal->idle == WP_CPU_NEWLY_IDLE && (never || tick < g->capacity_due_tick))
		return 0;
	ticks = wp_div(wp_bal_lb(ctx, bal)->balance_interval_ms * 1000000ull + ctx->tick_ns - 1,
		       ctx->tick_ns);
	longest = wp_max_load_balance_interval(ctx, WP_AT(ctx->cpus, bal->this_cpu));
	g->capacity_due_tick = tick + wp_max64(1, wp_min64(ticks, longest));
	return 1;
}

/* The capacity of one CPU in the form in force. */
WP_INLINE void wp_refresh_cpu(struct wp_ctx *ctx, const struct wp_lb_env *bal)
{
#ifndef WP_LIVE
	if (ctx->params.capacity_form != WP_CAPACITY_SIGNALS) {
		wp_update_cpu_capacity_4_18(ctx, bal->this_cpu, bal->now_ns);
		return;
	}
#endif
	wp_update_cpu_capacity(ctx, WP_AT(ctx->cpus, bal->this_cpu));
}

/* Capacity of the destination's own group, refreshed bottom up as the pass climbs. */
WP_INLINE void wp_refresh_local_group(struct wp_ctx *ctx, const struct wp_lb_env *bal)
{
	u32 group = *WP_AT(WP_AT(ctx->cpus, bal->this_cpu)->topo.group, bal->level);
	struct wp_sched_group *g = WP_AT(ctx->groups, wp_bal_dom(ctx, bal)->first_group + group);

#ifdef WP_KEEPS
	if (!bal->level)
		wp_kept_touch(ctx, bal->this_cpu);
#endif
	if (!wp_capacity_due(ctx, bal, g))
		return;
	if (!bal->level)
		wp_refresh_cpu(ctx, bal);
	wp_update_group_capacity(ctx, g);
}
