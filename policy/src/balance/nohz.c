// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Idle CPUs whose tick is stopped still take part in balancing: a busy CPU kicks one of them, which
 * balances on behalf of all (docs/rules/balancing.md#nohz).
 *
 * What must stay: CPUs in ascending order; one kick at a time. Free: how CPUs are marked.
 *
 * Tests by part: (below crates/policy-sys/tests; `every_fixture_holds` runs the fixtures)
 * fixtures/nohz: kick-*.toml, no-kick-*.toml (`wp_nohz_balancer_kick`), kick-misfit-5-0.toml,
 * no-kick-misfit-on-the-biggest-6-1.toml (`wp_misfit_kicks`), target-*.toml (`wp_find_new_ilb`,
 * `wp_nohz_first`, `wp_in_nohz`), pass-*.toml (`wp_nohz_pass_end`, `wp_has_blocked`),
 * nobody-to-kick.toml (`wp_nohz_balance_enter_idle`); fixtures/balance_38:
 * owner-gone-first-idle.toml (`wp_nohz_balance_exit_idle`), kicked-*.toml (`wp_nohz_begin`);
 * all/balance.rs: `nohz_kick_rule`, `nohz_statistics_every_32_ms`; engine/tests/behaviour/idle.rs
 * runs `wp_nohz_next`.
 *
 * Callers: `wp_tick_end` (tick.c) for kicks; crates/policy-sys/src/balance.rs for the pass,
 * `Core::nohz_enter` and `nohz_exit` as ticks stop.
 *
 * Kernel: nohz_balance_enter_idle(), nohz_balance_exit_idle(), nohz_balancer_kick(),
 *         find_new_ilb(), nohz_idle_balance() as wp_nohz_begin(), _nohz_idle_balance() as
 *         wp_nohz_next(), kernel/sched/fair.c
 * Tests: fixtures/nohz, all/newidle_7_3.rs
 */
#include "wakeplace/policy.h"

/* Their signals are decayed at least this often. */
#define WP_BLOCKED_PERIOD_NS 32000000ull

/* Is the tick of this CPU stopped? */
WP_INLINE int wp_in_nohz(const struct wp_ctx *ctx, u32 cpu)
{
	return (*WP_AT(ctx->nohz_mask, cpu / 64u) >> (cpu % 64u)) & 1u;
}

/* Its tick is stopped from now on. */
WP_FN int wp_nohz_balance_enter_idle(struct wp_ctx *ctx WP_NONNULL, u32 cpu)
{
	if (wp_in_nohz(ctx, cpu))
		return 0;
	*WP_AT(ctx->nohz_mask, cpu / 64u) |= 1ull << (cpu % 64u);
	ctx->nr_nohz++;
	ctx->nohz_has_blocked = 1;
	WP_AT(ctx->cpus, WP_AT(ctx->cpus, cpu)->topo.llc_id)->idle.nr_busy_cpus--;
#ifndef WP_LIVE
	if (ctx->params.nohz_form == WP_NOHZ_31)
		wp_ilb_enter(ctx, cpu);
#endif
	return 0;
}

/* Its tick runs again. */
WP_FN int wp_nohz_balance_exit_idle(struct wp_ctx *ctx WP_NONNULL, u32 cpu)
{
	if (!wp_in_nohz(ctx, cpu))
		return 0;
	*WP_AT(ctx->nohz_mask, cpu / 64u) &= ~(1ull << (cpu % 64u));
	ctx->nr_nohz--;
	WP_AT(ctx->cpus, WP_AT(ctx->cpus, cpu)->topo.llc_id)->idle.nr_busy_cpus++;
#ifndef WP_LIVE
	if (ctx->params.nohz_form == WP_NOHZ_31)
		wp_ilb_exit(ctx, cpu);
#endif
	return 0;
}

/* Is the running task one that another CPU may serve better? To 6.9 it was marked on the biggest
 * CPUs as well, and only here was asked whether a bigger CPU is there or this one is squeezed. */
WP_INLINE int wp_misfit_kicks(const struct wp_ctx *ctx, const struct wp_cpu *c)
{
	const struct wp_sched_domain *dom;

	if (!c->queue.misfit_task_load)
		return 0;
	if (!WP_NOT_LIVE(ctx->params.misfit_form == WP_MISFIT_61))
		return 1;
	dom = WP_AT(ctx->doms, *WP_AT(c->topo.dom, c->topo.asym_full_level));
	return c->load.capacity_orig < ctx->max_capacity_orig ||
	       wp_check_cpu_capacity(c, dom->imbalance_pct);
}

/* At a busy CPU's tick: should an idle CPU be kicked? Returns enum wp_event_result bits. */
WP_FN int wp_nohz_balancer_kick(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 now_ns)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	int stats = 0;

	if (!ctx->params.nohz_balance)
		return 0;
#ifndef WP_LIVE
	if (ctx->params.nohz_form != WP_NOHZ_BLOCKED)
		return wp_nohz_kick_needed_4_16(ctx, cpu, now_ns);
#endif
	if (!ctx->nr_nohz)
		return 0;
	if (ctx->nohz_has_blocked && now_ns > ctx->nohz_next_blocked_ns)
		stats = WP_DID_STATS;
	if (wp_div(now_ns, ctx->tick_ns) < ctx->nohz_next_balance_tick)
		return stats;
	if (wp_mc_quiet(ctx, cpu))
		return wp_mc_lower_idle(ctx, cpu) ? WP_DID_KICK : stats;
	if (c->queue.nr_running >= 2 ||
	    (WP_NOT_LIVE(!ctx->params.balance_classes) && c->queue.misfit_task_load))
		return WP_DID_KICK;
	if (ctx->params.balance_classes) {
		if (c->queue.nr_fair && c->topo.nr_levels &&
		    wp_check_cpu_capacity(c, WP_AT(ctx->doms, c->topo.dom[0])->imbalance_pct))
			return WP_DID_KICK;
		if (wp_better_cpu_idle(ctx, cpu))
			return WP_DID_KICK;
		if (c->topo.asym_full_level != WP_NONE) /* caches matter less than size there */
			return wp_misfit_kicks(ctx, c) ? WP_DID_KICK : stats;
	}
	if (c->topo.llc_level != WP_NONE && WP_AT(ctx->cpus, c->topo.llc_id)->idle.nr_busy_cpus > 1)
		return WP_DID_KICK;
	if (c->queue.nr_fair && c->topo.nr_levels &&
	    wp_check_cpu_capacity(c, WP_AT(ctx->doms, c->topo.dom[0])->imbalance_pct))
		return WP_DID_KICK;
#ifndef WP_LIVE
	if (!ctx->params.balance_classes && wp_asym_kick_5_4(ctx, cpu))
		return WP_DID_KICK;
#endif
	return stats;
}

/*
 * The first CPU whose tick is stopped and that is idle. To 5.1 the first one whose tick is stopped
 * is all that is looked at: if a task was placed there meanwhile, nobody is kicked (ilb_looks_on).
 */
WP_INLINE u32 wp_nohz_first(struct wp_ctx *ctx)
{
	u32 cpu;

	WP_FOR(cpu, ctx->nr_cpus, WP_MAX_CPUS) {
		if (!wp_in_nohz(ctx, cpu))
			continue;
		if (wp_idle_at(ctx, cpu))
			return cpu;
		if (WP_NOT_LIVE(!ctx->params.ilb_looks_on))
			return WP_NONE;
	}
	return WP_NONE;
}

/* The idle CPU that a kick goes to, once per kick. */
WP_FN u32 wp_find_new_ilb(struct wp_ctx *ctx WP_NONNULL)
{
	u32 first = wp_nohz_first(ctx);

#ifndef WP_LIVE
	if (ctx->params.nohz_form == WP_NOHZ_31)
		return wp_ilb_target(ctx, first);
#endif
	return first;
}

/* A CPU was kicked to balance: for whom does it? Returns enum wp_nohz_work. */
WP_FN int wp_nohz_begin(struct wp_ctx *ctx WP_NONNULL, u32 cpu)
{
#ifndef WP_LIVE
	if (ctx->params.nohz_form != WP_NOHZ_BLOCKED)
		return wp_nohz_begin_old(ctx, cpu);
#endif
	return wp_idle_at(ctx, cpu) ? WP_NOHZ_DUE : WP_NOHZ_NOTHING;
}

/*
 * The next idle CPU after `after` (WP_NONE: from the start). The home calls
 * wp_update_blocked_averages for it and, if it was kicked to balance, balances for it.
 */
WP_FN u32 wp_nohz_next(struct wp_ctx *ctx WP_NONNULL, u32 after)
{
	u32 i, from = after == WP_NONE ? 0 : after + 1;

	WP_FOR(i, ctx->nr_cpus - from, WP_MAX_CPUS) {
		if (wp_in_nohz(ctx, from + i) && wp_idle_at(ctx, from + i))
			return from + i;
	}
	return WP_NONE;
}

/*
 * Has a CPU signals that have to fade? Those of the other classes and of interrupts count, too,
 * since they are averages (others_have_blocked(), 4.19), if the core keeps them: only then a pass
 * makes them fade. Pressure is the limit in force here, no average: nothing of it fades.
 */
WP_INLINE u32 wp_has_blocked(const struct wp_cpu *c)
{
	u32 blocked = c->load.avg.load_avg | c->load.avg.util_avg;

	if (WP_SIM(c->queue.classes.kept == 1 + WP_CLASS_SIGNALS))
		blocked |= c->load.rt_util | c->load.dl_util | c->load.irq_util;
	return blocked != 0;
}

/* A pass over the idle CPUs is over. With `balanced` the next is due when the first of them is. */
WP_FN int wp_nohz_pass_end(struct wp_ctx *ctx WP_NONNULL, u64 now_ns, u32 balanced)
{
	u64 next = wp_div(now_ns + 60000000000ull, ctx->tick_ns);
	u32 cpu, blocked = 0;

	WP_FOR(cpu, ctx->nr_cpus, WP_MAX_CPUS) {
		const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);

		if (!wp_in_nohz(ctx, cpu))
			continue;
		next = wp_min64(next, c->balance.next_balance_tick);
		blocked |= wp_has_blocked(c);
	}
	ctx->nohz_has_blocked = blocked;
	ctx->nohz_next_blocked_ns = now_ns + WP_BLOCKED_PERIOD_NS;
	if (balanced)
		ctx->nohz_next_balance_tick = next;
	return 0;
}
