// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Power-aware balancing (docs/rules/power-policy.md#power-scheduling,
 * docs/rules/power-policy.md#p14-permission, docs/rules/power-policy.md#p15-pull-all,
 * docs/rules/power-policy.md#p16-clamp, docs/rules/power-policy.md#p17-balance,
 * docs/rules/power-policy.md#p18-lazy;
 * docs/decisions/032). Two permissions:
 *
 *   PERF_OK    spread, as without this rule: a busy CPU, threads of a core, or some group has
 *              more to do than it has room for
 *   POWER_OK   pack: an idle CPU of a group that is neither idle nor full
 *
 *   donor      the group that does least, but something; of equals the one of highest numbers
 *   leader     the group that does most and has room for one full task more; lowest numbers
 *
 * An idle CPU of the leader pulls one task's load from the donor, a lone task included. Not soon
 * after spreading: 64 attempts are remembered per CPU and level. Under the energy-aware rule, where
 * that is active, nothing of this happens.
 *
 * sched-mc on later kernels (sched_mc_pack.c) has the same form: use is the number of tasks, room
 * what the table holds. It spreads only where a group has more, whoever asks; an idle CPU also
 * pulls from the group of highest numbers (docs/rules/sched-mc.md#sched-mc-patches,
 * docs/rules/sched-mc.md#mc-lowest-first); there is no history.
 *
 * What must stay: groups are looked at in their order (ties); with the rule off no sum is made.
 * Free: the numbers, as parameters; permissions only with the page.
 *
 * Tests by part: (below crates/policy-sys/tests) all/power_policy.rs:
 * `the_leader_pulls_from_the_donor` (`wp_pack_spreads`, `wp_pack_offer`, `wp_pack_leads`,
 * `wp_pack_pull`, `wp_pack_queue`, `wp_pack_group_now`), `who_may_only_spread` (`wp_pack_begin`,
 * `wp_pack_scan`), `packing_waits_for_quiet` (`wp_pack_settled`),
 * `siblings_count_where_it_spreads`, `the_leader_pulls_under_7_3`; all/sched_mc_later.rs:
 * `balancing_leaves_what_has_room`, `idle_cpus_of_low_numbers_draw` (`wp_mc_lowest`,
 * `wp_pack_highest`), `the_leader_takes_from_the_least` (`wp_mc_draws`). `wp_mc_pushes` has no test
 * of its own.
 *
 * Callers: `wp_balance_source` (balance.c) calls `wp_pack_spreads`; detach.c asks `wp_mc_pushes`.
 *
 * Tests: all/power_policy.rs
 */
#include "wakeplace/policy.h"

/* Room, use and load of one group, into bal->power.sums. Use is bounded to FULL per task: two
 * tasks that always run fill two CPUs, they do not overload them. */
WP_FN int wp_pack_group_now(struct wp_ctx *ctx WP_NONNULL, struct wp_lb_env *bal WP_NONNULL,
			    const struct wp_sched_group *g WP_NONNULL)
{
	struct wp_pack_sums *s = &bal->power.sums;
	u64 power = 0, cpus = 0, used = 0, weight = 0;
	u32 i, nr = 0, full = ctx->params.power_full_util;
	int mc = wp_mc_balances(ctx);

	WP_FOR(i, g->nr_cpus, WP_MAX_CPUS) {
		u32 cpu = *WP_AT(ctx->list, g->first_cpu + i);
		const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
		u32 n = wp_nr_awake(c);

		if (mc) {
			power += wp_mc_power(ctx, cpu);
			used += (u64)full * n;
			if (c->queue.misfit_task_load && ctx->asym)
				bal->power.perf_ok = 1; /* it wants a bigger CPU */
		} else {
			wp_pack_count(ctx, c, &power, &cpus);
			used += (u64)wp_min(wp_pack_util(ctx, c), wp_pack_full(ctx, c)) *
				wp_max(n, 1);
		}
		weight += wp_cpu_load(ctx, c);
		nr += n;
		if (n > 1)
			ctx->overload = 1; /* newly idle CPUs may look for work */
	}
	s->room = mc ? (u64)full * wp_mc_room(power) : wp_pack_room(ctx, power, cpus);
	s->used = used;
	s->weight = weight;
	s->nr_running = nr;
	s->first_cpu = *WP_AT(ctx->list, g->first_cpu);
	return 0;
}

/* Notes a group as donor or leader if its sums make it the better one. */
WP_INLINE void wp_pack_offer(const struct wp_ctx *ctx, struct wp_pack_balance *p, u32 group)
{
	const struct wp_pack_sums *s = &p->sums;

	if (s->used < p->donor_used ||
	    (s->used == p->donor_used && s->first_cpu > p->donor_first)) {
		p->donor = group;
		p->donor_used = s->used;
		p->donor_first = s->first_cpu;
		p->per_task = wp_div(s->weight, s->nr_running);
	}
	if (s->used + ctx->params.power_full_util > s->room)
		return;
	if (s->used > p->leader_used || (s->used == p->leader_used && p->leader != WP_NONE &&
					 s->first_cpu < p->leader_first)) {
		p->leader = group;
		p->leader_used = s->used;
		p->leader_first = s->first_cpu;
	}
}

/* Which group with tasks has the highest numbers, and has the local one room for one of them? */
WP_INLINE void wp_pack_highest(struct wp_pack_balance *p, u32 place, u32 group)
{
	const struct wp_pack_sums *s = &p->sums;

	if (!place)
		p->local_has_room = s->used < s->room;
	else if (s->nr_running && s->first_cpu >= p->highest_first) {
		p->highest = group;
		p->highest_first = s->first_cpu;
		p->highest_per_task = wp_div(s->weight, s->nr_running);
	}
}

/* All groups, the local one first: what is allowed, and from where to where. */
WP_INLINE void wp_pack_scan(struct wp_ctx *ctx, struct wp_lb_env *bal, u32 local)
{
	const struct wp_sched_domain *dom = wp_bal_dom(ctx, bal);
	struct wp_pack_balance *p = &bal->power;
	u32 k;

	WP_FOR(k, dom->nr_groups, WP_MAX_CPUS) {
		u32 group = local + k < dom->nr_groups ? local + k : local + k - dom->nr_groups;
		const struct wp_pack_sums *s = &p->sums;

		wp_pack_group_now(ctx, bal, WP_AT(ctx->groups, dom->first_group + group));
		if (!k && (!s->nr_running || s->used + ctx->params.power_full_util > s->room))
			p->power_ok = 0;
		if (s->used > s->room) {
			p->perf_from = p->perf_ok ? p->perf_from : k;
			p->perf_ok = 1;
			p->power_ok = 0;
		}
		if (p->power_ok && s->nr_running)
			wp_pack_offer(ctx, p, group);
		wp_pack_highest(p, k, group);
	}
}

/* Was the last time of spreading long enough ago? */
WP_INLINE int wp_pack_settled(const struct wp_ctx *ctx, const struct wp_lb_env *bal,
			      struct wp_lb *lb)
{
	const struct wp_params *p = &ctx->params;
	u64 last = bal->idle == WP_CPU_NEWLY_IDLE ? lb->last_balance_tick : lb->before_last_tick;
	u64 quiet_ms = (u64)p->power_lazy_quiet *
		       wp_interval_max_ms(WP_AT(ctx->doms, bal->dom));
	u32 i, clean = wp_min(p->power_lazy_clean, 63), old = 0;

	if (!p->power_lazy || wp_mc_balances(ctx))
		return 1;
	if (bal->now_ns > last * ctx->tick_ns + quiet_ms * 1000000)
		lb->spread_history = 0;
	if (lb->spread_history & ((1ull << clean) - 1))
		return 0;
	for (i = 0; i < 64; i++)
		old += (u32)(lb->spread_history >> i) & 1u;
	return old <= p->power_lazy_old_max;
}

/* The queue of the donor with most load per power; empty ones are left out, and without P15 a lone
 * task that is more than what is to move. */
WP_FN u32 wp_pack_queue(struct wp_ctx *ctx WP_NONNULL, struct wp_lb_env *bal WP_NONNULL)
{
	const struct wp_sched_domain *dom = wp_bal_dom(ctx, bal);
	const struct wp_sched_group *g = WP_AT(ctx->groups, dom->first_group + bal->power.donor);
	u32 i, found = WP_NONE;
	u64 most = 0;

	WP_FOR(i, g->nr_cpus, WP_MAX_CPUS) {
		u32 cpu = *WP_AT(ctx->list, g->first_cpu + i);
		const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
		u64 load = wp_cpu_load(ctx, c), scaled;

		if (wp_excluded(bal, cpu) || !wp_nr_awake(c))
			continue;
		if (!ctx->params.power_pull_all && wp_nr_awake(c) == 1)
			continue;
		scaled = wp_div(load * WP_SCALE, c->load.capacity) + 1;
		if (scaled > most) {
			most = scaled;
			found = cpu;
		}
	}
	return found;
}

/* The attempt packs: one task of the donor. */
WP_INLINE u32 wp_pack_pull(struct wp_ctx *ctx, struct wp_lb_env *bal)
{
	struct wp_pack_balance *p = &bal->power;

	p->pulls = 1;
	bal->busiest_group = p->donor;
	if (ctx->params.balance_classes) {
		bal->migration_type = WP_MIGRATE_TASK;
		bal->imbalance = 1;
	} else {
		bal->imbalance = (s64)wp_max64(p->per_task, 1);
	}
	return wp_pack_queue(ctx, bal);
}

/* Under sched-mc tasks are drawn together between packages and within them, and where all CPUs are
 * of one size. */
WP_INLINE int wp_mc_draws(const struct wp_ctx *ctx, const struct wp_lb_env *bal)
{
	return bal->idle != WP_CPU_NOT_IDLE &&
	       !(WP_AT(ctx->doms, bal->dom)->flags &
		 (WP_SD_SHARE_CPUCAPACITY | WP_SD_NUMA | WP_SD_ASYM_CPUCAPACITY));
}

/* P8 of the same: this idle CPU comes before the group of highest numbers. */
WP_INLINE int wp_mc_lowest(const struct wp_ctx *ctx, struct wp_lb_env *bal)
{
	struct wp_pack_balance *p = &bal->power;

	if (!wp_mc_balances(ctx) || !ctx->params.mc_lowest_first || !wp_mc_draws(ctx, bal) ||
	    !p->local_has_room || p->highest == WP_NONE || p->highest_first <= bal->this_cpu ||
	    wp_nr_awake(WP_AT(ctx->cpus, bal->this_cpu)))
		return 0;
	p->donor = p->highest;
	p->per_task = p->highest_per_task;
	return 1;
}

/* A newly idle CPU of lower number may push at once, as in the kernels of the series. */
WP_INLINE int wp_mc_pushes(const struct wp_ctx *ctx, const struct wp_lb_env *bal)
{
	return bal->power.pulls && bal->idle == WP_CPU_NEWLY_IDLE && bal->src_cpu > bal->this_cpu &&
	       ctx->params.mc_lowest_first && wp_mc_balances(ctx);
}

/* Nothing is known of the groups yet. */
WP_INLINE void wp_pack_begin(const struct wp_ctx *ctx, struct wp_lb_env *bal)
{
	struct wp_pack_balance *p = &bal->power;

	p->pulls = 0;
	p->perf_from = 0;
	p->donor = WP_NONE;
	p->leader = WP_NONE;
	p->donor_first = 0;
	p->leader_first = 0;
	p->donor_used = ~0ull;
	p->leader_used = 0;
	p->per_task = 0;
	p->highest = WP_NONE;
	p->highest_first = 0;
	if (wp_mc_balances(ctx)) {
		p->perf_ok = 0;
		p->power_ok = (u32)wp_mc_draws(ctx, bal);
		return;
	}
	p->perf_ok = !wp_pack_active(ctx) || !ctx->params.power_balance || ctx->energy_active ||
		     bal->idle == WP_CPU_NOT_IDLE ||
		     (WP_AT(ctx->doms, bal->dom)->flags & WP_SD_SHARE_CPUCAPACITY);
	p->power_ok = !p->perf_ok;
}

/* Is the local group the leader, with a donor to take from? Under P8 from higher numbers only: what
 * it took from lower ones they would take back. */
WP_INLINE int wp_pack_leads(const struct wp_ctx *ctx, const struct wp_lb_env *bal, u32 local)
{
	const struct wp_pack_balance *p = &bal->power;

	if (!p->power_ok || p->leader != local || p->leader == p->donor || p->donor == WP_NONE)
		return 0;
	return p->donor_first > p->leader_first || !ctx->params.mc_lowest_first ||
	       !wp_mc_balances(ctx);
}

/* Does this attempt spread? If not, src_cpu is the one to pull from, WP_NONE: nothing to do. */
WP_FN int wp_pack_spreads(struct wp_ctx *ctx WP_NONNULL, struct wp_lb_env *bal WP_NONNULL)
{
	u32 local = *WP_AT(WP_AT(ctx->cpus, bal->this_cpu)->topo.group, bal->level);
	struct wp_lb *lb = wp_bal_lb(ctx, bal);
	struct wp_pack_balance *p = &bal->power;

	bal->src_cpu = WP_NONE;
	wp_pack_begin(ctx, bal);
	lb->spread_history <<= 1;
	if (!p->perf_ok) {
		wp_refresh_local_group(ctx, bal);
		wp_pack_scan(ctx, bal, local);
	}
	if (p->perf_ok) {
		lb->spread_history |= 1;
		return 1;
	}
	if (bal->idle != WP_CPU_NEWLY_IDLE)
		wp_update_idle_cpu_scan(ctx, bal->this_cpu, bal->level);
	if ((wp_pack_leads(ctx, bal, local) && wp_pack_settled(ctx, bal, lb)) ||
	    wp_mc_lowest(ctx, bal))
		bal->src_cpu = wp_pack_pull(ctx, bal);
	return 0;
}
