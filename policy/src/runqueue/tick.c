// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The tick of a CPU, busy or idle (docs/rules/README.md#event-order): signals, marks, whether
 * balancing is due and whom to kick. What balances is in balance/, whom a kick wakes in nohz.c.
 *
 * What must stay: the order of steps; a tick is reported under its queue's lock, like the events of
 * rq.c. Free: how a step is written.
 *
 * Tests by part: (below crates/policy-sys/tests; `every_fixture_holds` runs the fixtures)
 * all/signals.rs: `queue_is_the_sum_of_its_tasks` (`wp_task_tick_fair`); all/idle_pass.rs
 * (`wp_note_uneven`, `wp_tick_end`); fixtures/misfit: tick-marks.toml (`wp_tick_marks`);
 * fixtures/balance_38: stale-*.toml (`wp_idle_tick`).
 *
 * Callers: `Core` (crates/policy-sys/src/core.rs) and the live scheduler (crates/scx/src/bpf);
 * task_group.c (`wp_tick_marks`), rt_dl_irq.c (`wp_tick_end`).
 *
 * Kernel: task_tick_fair(), kernel/sched/fair.c
 * Tests: fixtures/misfit, fixtures/balance_38, all/signals.rs, all/idle_pass.rs
 */
#include "wakeplace/policy.h"

/* So many tasks of a CPU are no queue of a moment: at least three wait (docs/decisions/052). */
#define WP_CROWD 4

/* Two CPUs of a cache are busy: an idle core may be a better place for one of the two, though no
 * task waits (the kernel's reason for a kick; docs/rules/balancing.md#nohz). Both are crowded: its
 * room is gone, and not for a moment only (wp_idle_kick_needed). A CPU may be a cache alone. */
WP_INLINE void wp_note_uneven(struct wp_ctx *ctx, const struct wp_cpu *c, u32 cpu, u64 tick)
{
	struct wp_cpu *llc = WP_AT(ctx->cpus, c->topo.llc_id);

	if (llc->live.llc_busy_tick == tick && llc->live.llc_busy_cpu != cpu)
		ctx->uneven_tick = tick;
	llc->live.llc_busy_tick = tick;
	llc->live.llc_busy_cpu = cpu;
	if (c->queue.nr_fair < WP_CROWD)
		return;
	if ((llc->live.llc_crowded_tick == tick && llc->live.llc_crowded_cpu != cpu) ||
	    c->topo.llc_level == WP_NONE) /* no other CPU shares it */
		ctx->crowded_tick = tick;
	llc->live.llc_crowded_tick = tick;
	llc->live.llc_crowded_cpu = cpu;
}

/* sched_mc_pack.c */
WP_FN int wp_mc_quiet(const struct wp_ctx *ctx WP_NONNULL, u32 cpu);
WP_FN int wp_surplus(const struct wp_ctx *ctx WP_NONNULL, u32 cpu);

/* live.c */
WP_FN int wp_idle_work(const struct wp_ctx *ctx WP_NONNULL, u64 tick);

/* The end of every busy CPU's tick; `surplus`: it has a task to give. */
WP_INLINE int wp_tick_end(struct wp_ctx *ctx, struct wp_cpu *c, u32 cpu, int surplus, u64 now_ns)
{
	u64 tick = wp_div(now_ns, ctx->tick_ns);
	int result = 0;

	if (WP_NOT_LIVE(ctx->params.load_idx) && tick > c->load.load_tick)
		wp_cpu_load_update_5_1(c, wp_cpu_load(ctx, c));
	c->load.load_tick = tick;
	if (surplus)
		ctx->surplus_tick = tick;
	if (c->queue.misfit_task_load)
		ctx->misfit_tick = tick;
	if (ctx->params.queue == WP_QUEUE_LIVE && !wp_mc_quiet(ctx, cpu))
		wp_note_uneven(ctx, c, cpu, tick);
	if (ctx->idle_timer_ns > ctx->tick_ns && c->queue.curr_fair && ctx->params.balance &&
	    wp_idle_work(ctx, tick)) {
		ctx->idle_timer_ns = ctx->tick_ns; /* as a kernel kicks at a busy CPU's tick */
		result = WP_DID_END_REST;
	}
	if (WP_NOT_LIVE(ctx->params.nohz_form == WP_NOHZ_31))
		c->idle.ilb &= ~(u32)WP_ILB_IDLE_AT_TICK;
	if (ctx->params.balance && tick >= c->balance.next_balance_tick)
		result |= WP_DID_BALANCE;
	return result | wp_nohz_balancer_kick(ctx, cpu, now_ns);
}

/* What a tick finds once the signals are up to date. */
WP_INLINE int wp_tick_marks(struct wp_ctx *ctx, struct wp_cpu *c, struct wp_task *task,
			    u64 now_ns)
{
	int pushed;

	wp_util_est_update_running(ctx, c, task);
	wp_task_tick_cache(ctx, task, now_ns);
	pushed = wp_tick_fits(ctx, c, task);
	return pushed | wp_tick_end(ctx, c, task->cpu, wp_surplus(ctx, task->cpu), now_ns);
}

/* The tick of a CPU that runs `task`. Returns enum wp_event_result bits. */
WP_FN int wp_task_tick_fair(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL,
			    u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, task->cpu);
	int result = 0;

	wp_update_rq_clock(c, now_ns);
	wp_update_load_avg_se(ctx, c, task, wp_rq_clock_pelt(ctx, c));
	wp_note_run(ctx, c, task);
	if (wp_update_cfs_rq_load_avg(ctx, c))
		result = wp_cpufreq_update_util(ctx, c, now_ns);
	return result | wp_tick_marks(ctx, c, task, now_ns);
}

/* The tick of an idle CPU that keeps it. Returns enum wp_event_result bits. */
WP_FN int wp_idle_tick(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	int result = wp_update_blocked_averages(ctx, cpu, now_ns);

	if (WP_NOT_LIVE(ctx->params.nohz_form == WP_NOHZ_31)) {
		c->idle.ilb |= WP_ILB_IDLE_AT_TICK;
		if (c->idle.ilb & WP_ILB_KICKED) /* of before, unanswered */
			result |= WP_DID_KICK;
	}
	if (ctx->params.balance && wp_div(now_ns, ctx->tick_ns) >= c->balance.next_balance_tick)
		result |= WP_DID_BALANCE;
	return result;
}
