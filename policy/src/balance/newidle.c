// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * New-idle balancing: pull one task before going idle, if the expected idle time is worth the
 * search (docs/rules/balancing.md#newidle). Which levels are tried at all: newidle_ratio.c.
 *
 * What must stay: costs are ns; levels go from the lowest up. Free: how costs are kept; what
 * is searched only with the page.
 *
 * Tests by part: (below crates/policy-sys/tests; `every_fixture_holds` runs the fixtures)
 * all/newidle_7_3.rs: `newidle_gates` (`wp_newidle_begin`, `wp_newidle_level`),
 * `newidle_cost_fades` (`wp_update_newidle_cost`), `waiting_is_part_of_the_first_levels_cost`,
 * `a_level_left_out_hands_the_wait_on` (`wp_newidle_done`); all/balance.rs: `newidle_gates`;
 * all/idle_pass.rs: `who_was_idle_before_has_made_its_pass` (`wp_newidle_begin`);
 * fixtures/newidle: cost-*.toml, none-pulled-is-idle-time.toml, pulled-is-no-idle-time.toml
 * (`wp_newidle_end`); fixtures/balance_38: newidle-levels-have-no-cost.toml,
 * newidle-not-at-far-nodes.toml (`wp_newidle_at`). `wp_update_next_balance` has no test of its own:
 * recorded runs show a fault of its.
 *
 * Callers: crates/policy-sys/src/balance.rs; crates/scx/src/bpf/pull.bpf.h.
 *
 * Kernel: sched_balance_newidle() as wp_newidle_begin(), newidle_balance() as wp_newidle_begin(),
 *         update_next_balance(), update_newidle_cost(), kernel/sched/fair.c
 * Tests: fixtures/newidle, all/newidle_7_3.rs
 */
#include "wakeplace/policy.h"

/* An idle CPU balances more often than a busy one: its next pass may be due sooner now. */
WP_INLINE void wp_update_next_balance(struct wp_ctx *ctx, struct wp_cpu *c, u32 level)
{
	const struct wp_lb *lb = WP_AT(c->balance.lb, level);

	if (level < c->topo.nr_levels) /* an idle CPU's interval has no factor */
		c->balance.next_balance_tick =
			wp_min64(c->balance.next_balance_tick,
				 lb->last_balance_tick +
					 wp_level_interval(ctx, lb, 1, WP_CPU_IDLE,
						   wp_max_load_balance_interval(ctx, c)));
}

/* The CPU runs out of work. Returns 1 if it should search. Where the live queues are, a CPU that is
 * idle already has been kicked for its periodic pass, and has made it. */
WP_FN int wp_newidle_begin(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	u64 cost = ctx->params.migration_cost_ns;

	if (ctx->params.queue == WP_QUEUE_LIVE && c->queue.curr_idle)
		return 0;
	c->queue.misfit_task_load = 0;
	if (ctx->params.balance_classes && c->queue.pending)
		return 0; /* its idle time will be too short to tell anything */
	c->idle.wake_idle_stamp_ns = wp_max64(now_ns, 1);
	if (!ctx->params.newidle_balance || c->queue.pending)
		return 0;
	if (WP_NOT_LIVE(
		    !ctx->params.newidle_by_cost)) /* the idle time to expect is all that counts */
		return c->idle.avg_idle_ns >= cost;
	if (ctx->params.newidle_first_cost)
		cost = c->topo.nr_levels ? c->balance.lb[0].max_newidle_cost_ns : 0;
	if (c->idle.avg_idle_ns >= cost && ctx->overload)
		return 1;
	wp_update_next_balance(ctx, c, 0);
	return 0;
}

/* Up to 3.12: only far nodes are not looked at, and those above them. */
WP_INLINE int wp_newidle_at(struct wp_ctx *ctx, const struct wp_cpu *c, u32 level)
{
	return level < c->topo.nr_levels &&
	       (WP_AT(ctx->doms, *WP_AT(c->topo.dom, level))->flags & WP_SD_BALANCE_NEWIDLE);
}

/* Is this level worth its cost, after what was spent below? 0 ends the search. */
WP_FN int wp_newidle_level(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u32 level, u64 spent_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, cpu);

	if (WP_NOT_LIVE(!ctx->params.newidle_by_cost))
		return wp_newidle_at(ctx, c, level);
	if (c->idle.avg_idle_ns >= spent_ns + WP_AT(c->balance.lb, level)->max_newidle_cost_ns)
		return level < c->topo.nr_levels;
	wp_update_next_balance(ctx, c, level);
	return 0;
}

/* The most that a level cost. It fades by 1 % a second, and a rise restarts the second. */
WP_INLINE void wp_update_newidle_cost(struct wp_ctx *ctx, const struct wp_cpu *c, struct wp_lb *lb,
				      u64 cost)
{
	u64 tick = wp_div(c->load.clock_ns, ctx->tick_ns);

	if (cost > lb->max_newidle_cost_ns)
		lb->max_newidle_cost_ns = cost;
	else if (ctx->params.newidle_first_cost && tick > lb->next_cost_decay_tick)
		lb->max_newidle_cost_ns = lb->max_newidle_cost_ns * 253 / 256;
	else
		return;
	if (ctx->params.newidle_first_cost)
		lb->next_cost_decay_tick = tick + wp_div(1000000000ull, ctx->tick_ns);
}

/*
 * A level was searched, or left out by chance. Returns what it cost, ns. What the pass waited for
 * before the first level is part of the first one that is searched: a level that is left out does
 * not restart the kernel's clock. Whatever no level has counted stays in newidle_waited_ns.
 */
WP_FN u64 wp_newidle_done(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u32 level)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	struct wp_lb *lb = WP_AT(c->balance.lb, level);
	u64 cost = (u64)WP_AT(ctx->doms, *WP_AT(c->topo.dom, level))->nr_cpus * ctx->scan_cpu_ns;

	wp_update_next_balance(ctx, c, level);
	if (lb->newidle_skipped)
		return 0;
	if (ctx->params.newidle_first_cost) { /* before, the clock starts at each level */
		cost += c->balance.newidle_waited_ns;
		c->balance.newidle_waited_ns = 0;
	}
	if (!WP_NOT_LIVE(!ctx->params.newidle_by_cost))
		wp_update_newidle_cost(ctx, c, lb, cost);
	return cost;
}

/* The search is over: the era's cost is kept, and a pull ends the idle stretch. */
WP_FN int wp_newidle_end(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 spent_ns, u32 pulled)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, cpu);

	if (!WP_NOT_LIVE(!ctx->params.newidle_by_cost))
		c->balance.max_idle_balance_cost_ns =
			wp_max64(c->balance.max_idle_balance_cost_ns, spent_ns);
	if (pulled)
		c->idle.wake_idle_stamp_ns = 0;
	return 0;
}
