// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What the live scheduler asks besides: signals that have not been updated for a while, what the
 * energy model says of time that was run, and whether an idle CPU without a tick should look for
 * work (docs/rules/live-queue.md#vq-timer).
 *
 * What must stay: what the timer's turn offers is one CPU at a time, so that the live build needs
 * no loop over all; times are ns. Free: the rests of the timer, with docs/guide/model.md.
 *
 * Tests by part: (below crates/policy-sys/tests) all/idle_pass.rs:
 * `one_idle_core_of_each_cache_looks` (`wp_is_llc_ilb_cpu`), `who_has_just_gone_idle_does_not_look`
 * (`wp_rests`), `packing_opens_an_empty_cache_in_its_turn` (`wp_idle_llc_balance_due`),
 * `all_look_while_a_task_waits` (`wp_idle_kick_needed`),
 * `nobody_is_woken_below_the_tipping_point_but_for_misfits` (`wp_idle_work`),
 * `the_timer_rests_longer_the_longer_all_are_idle` (`wp_idle_timer_ns`, `wp_was_busy`),
 * `a_turn_counts_once_all_cpus_have_had_their_part` (`wp_idle_turn_begin`, `wp_idle_turn_offer`,
 * `wp_idle_turn_end`), `signals_of_idle_cpus_fade_at_every_turn` (`wp_idle_decay`).
 * `wp_decayed_util` and `wp_run_energy_nj` are compared by crates/scx/tests/parity;
 * `wp_capacity_pressure` has no test.
 *
 * Callers: crates/policy-sys/src/queue.rs for the simulator; crates/scx/src/bpf (machine, queue,
 * task).
 *
 * Tests: all/idle_pass.rs
 */
#include "wakeplace/policy.h"

/* A class's utilisation that was `util` at `last_ns` and has not been updated since. */
WP_FN u32 wp_decayed_util(u32 util, u64 last_ns, u64 now_ns)
{
	return (u32)wp_decay(util, wp_sub(now_ns, last_ns) >> 20); /* periods of 1024 * 1024 ns */
}

/*
 * Capacity that is gone: thermal limits (averaged) and limits of the frequency range describe the
 * same loss when both are there, so the larger one counts (docs/rules/capacity.md#capacity-of).
 */
WP_INLINE u32 wp_capacity_pressure(u32 hw, u32 cpufreq)
{
	return wp_max(hw, cpufreq);
}

/*
 * Energy of `run_ns` of execution on `cpu` at its present speed, by the energy model: active power
 * of its state, nJ (uW x ns / 10^6). 0 where there is no model. An estimate for people to read; no
 * decision uses it.
 */
WP_FN u64 wp_run_energy_nj(const struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 run_ns)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	const struct wp_em_perf_table *t;
	u32 i, khz, uw = 0;

	if (c->topo.perf_dom == WP_NONE)
		return 0;
	t = wp_em_perf_table(WP_AT(ctx->perf_doms, c->topo.perf_dom));
	khz = (u32)(((u64)t->max_khz * c->load.freq_scale) >> 10);
	WP_FOR(i, t->nr_states, WP_MAX_STATES) {
		uw = WP_AT(t->state, i)->power_uw;
		/* the scale is a ratio rounded down: the state's own frequency is a little more */
		if (WP_AT(t->state, i)->khz + (t->max_khz >> 10) >= khz)
			break;
	}
	return uw * run_ns / 1000000;
}

/*
 * Idle for a tick at least. A CPU that waits for a moment only, for a partner task or a disk, would
 * enter a deep idle state after it has looked, and the next wake-up would wait for its exit. A
 * kernel kicks only CPUs that have stopped their tick (docs/rules/balancing.md#nohz).
 */
WP_INLINE int wp_rests(const struct wp_ctx *ctx, u32 cpu, u64 now_ns)
{
	return wp_idle_at(ctx, cpu) &&
	       wp_sub(now_ns, WP_AT(ctx->cpus, cpu)->idle.idle_stamp_ns) >= ctx->tick_ns;
}

/*
 * Is this the idle CPU that looks for its whole cache? The first CPU of the first idle core. Where
 * groups are filled one after the other it is the first idle CPU that shares a core with a busy
 * one: that core has room and would take a task.
 */
WP_FN int wp_is_llc_ilb_cpu(const struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 now_ns)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	int packs = wp_pack_active(ctx);
	const struct wp_sched_domain *dom;
	u32 i, first = WP_NONE;

	if (c->topo.llc_level == WP_NONE)
		return 1;
	dom = WP_AT(ctx->doms, *WP_AT(c->topo.dom, c->topo.llc_level));
	WP_FOR(i, dom->nr_cpus, WP_MAX_CPUS) {
		u32 other = *WP_AT(ctx->list, dom->first_cpu + i);

		if (!wp_rests(ctx, other, now_ns))
			continue;
		if (wp_is_core_idle(ctx, other) != packs)
			return other == cpu;
		if (first == WP_NONE)
			first = other;
	}
	return packs && first == cpu;
}

/*
 * May idle CPUs find something to take? With an energy model if the machine is marked overutilized,
 * a mark that ends with a pass over the widest domain, or if a task did not fit its CPU at one of
 * the last two ticks: below the tipping point a pass moves such tasks alone. Else if some CPU had a
 * task to give then, or several CPUs of a cache were busy.
 */
WP_FN int wp_idle_work(const struct wp_ctx *ctx WP_NONNULL, u64 tick)
{
	if (ctx->energy_active)
		return ctx->overutilized || tick <= ctx->misfit_tick + 2;
	return tick <= ctx->surplus_tick + 2 || tick <= ctx->uneven_tick + 2;
}

/*
 * Is it this CPU's turn to look over other caches than its own? Its turns are counted on from its
 * last pass there, made or not. One counts in its own tick, and in the next if the home's timer had
 * none there (idle_turn_ns: the turn of that timer before this one). A kernel kicks the CPUs
 * that are due at ticks of busy CPUs. Mostly they find nothing, and an interval passes
 * (docs/rules/balancing.md#nohz). This CPU is kicked only if a task waits then
 * (docs/decisions/052).
 */
WP_FN int wp_idle_llc_balance_due(const struct wp_ctx *ctx WP_NONNULL,
				  const struct wp_cpu *c WP_NONNULL, u64 tick)
{
	u64 ago = wp_sub(tick, wp_div(ctx->idle_turn_ns, ctx->tick_ns)) > 1 ? 2 : 1;
	u32 level;

	WP_FOR(level, c->topo.nr_levels, WP_MAX_LEVELS) {
		const struct wp_lb *lb = WP_AT(c->balance.lb, level);
		u64 every, since = wp_sub(tick, lb->last_balance_tick);

		if (c->topo.llc_level != WP_NONE && level <= c->topo.llc_level)
			continue;
		every = wp_get_sd_balance_interval(ctx, lb, 1, WP_CPU_IDLE);
		if (since >= every && since - wp_div(since, every) * every < ago)
			return 1;
	}
	return 0;
}

/*
 * For a home whose timer stands for the ticks of idle CPUs: should this idle CPU make its periodic
 * pass now? Only if it is due and there may be something. Where no task waits, but several CPUs of
 * a cache are busy, one idle CPU of each cache looks whether tasks share a core or a cache although
 * others are idle, or are spread although they should be packed. Where groups are filled one after
 * the other, a cache without busy CPUs does not look then, nor for tasks that wait for a moment
 * only: it takes its turns, unless some cache is crowded or a task did not fit its CPU.
 */
WP_FN int wp_idle_kick_needed(const struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 now_ns)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	u64 tick = wp_div(now_ns, ctx->tick_ns);
	int surplus = tick <= ctx->surplus_tick + 2;

	if (!ctx->params.balance || !c->topo.nr_levels || tick < c->balance.next_balance_tick)
		return 0;
	if (!wp_idle_work(ctx, tick))
		return 0;
	if (ctx->energy_active)
		return 1;
	if (wp_pack_active(ctx) && tick > WP_AT(ctx->cpus, c->topo.llc_id)->live.llc_busy_tick + 2)
		return surplus && (tick <= ctx->crowded_tick + 2 || tick <= ctx->misfit_tick + 2 ||
				   wp_idle_llc_balance_due(ctx, c, tick));
	return surplus || wp_is_llc_ilb_cpu(ctx, cpu, now_ns);
}

/*
 * From the same timer, at every turn: an idle CPU's signals fade, as long as there is something to
 * fade. A kernel's idle balancer does that for all that are idle whenever it is kicked, and each 32
 * ms in any case (docs/rules/balancing.md#nohz): what they ran lately holds up the frequency of
 * those they share a clock with, and counts in the energy estimate. Work per idle CPU and turn, and
 * where its request changes the frequency's as well, for a third of a second after it ran. The
 * queue's lock is not held here: a wake-up at the same moment may lose one update of the averages,
 * and the loss fades with them. Returns enum wp_event_result bits.
 */
WP_FN int wp_idle_decay(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 now_ns)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);

	if (!wp_cpu_idle(c) || wp_sub(now_ns, c->load.clock_ns) < ctx->tick_ns / 2)
		return 0;
	if (!(c->load.avg.load_avg | c->load.avg.util_avg | c->load.avg.runnable_avg |
	      c->load.nr_removed))
		return 0;
	return wp_update_blocked_averages(ctx, cpu, now_ns);
}

/* Is the CPU busy, or was it, with tasks of ours, since the timer's last turn? enum wp_busy. */
WP_FN u32 wp_was_busy(const struct wp_ctx *ctx WP_NONNULL, u32 cpu)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);

	if (!c->queue.curr_idle)
		return WP_BUSY_NOW;
	return c->load.avg.util_avg && c->idle.idle_stamp_ns > ctx->idle_turn_ns ? WP_BUSY_SINCE
										 : 0;
}

/* A machine that stays wholly idle is looked at less and less often, so that its CPUs can sleep. */
#define WP_REST_PERIOD_NS 64000000ull
/*
 * So is one whose CPUs are busy for moments, none of them at the turns: there is something to fade,
 * which a kernel does once in so long (docs/rules/balancing.md#nohz), but nothing to give away. A
 * turn takes an idle CPU out of its sleep: 16 threads that wait for a disk took 17 % more energy
 * with one at every tick (docs/internals/live-queue.md). The tick of a busy CPU that has something
 * ends the rest (WP_DID_END_REST).
 */
#define WP_LULL_PERIOD_NS 32000000ull

/* Its turn is now. Until the next, ns. `busy`: enum wp_busy of all CPUs. */
WP_FN u64 wp_idle_timer_ns(struct wp_ctx *ctx WP_NONNULL, u32 busy, u64 now_ns)
{
	u64 most = busy ? WP_LULL_PERIOD_NS : WP_REST_PERIOD_NS;
	u64 rest = wp_min64(2 * ctx->idle_timer_ns, wp_max64(most, ctx->tick_ns));

	if (busy & WP_BUSY_NOW)
		rest = ctx->tick_ns;
	ctx->idle_turn_ns = now_ns;
	ctx->idle_timer_ns = rest; /* once: another CPU's tick may look */
	return rest;
}

/* The timer has a turn: now. */
WP_SMALL_FN int wp_idle_turn_begin(struct wp_idle_turn *turn WP_NONNULL, u64 now_ns)
{
	turn->now_ns = now_ns;
	turn->busy = 0;
	return 0;
}

/*
 * One CPU's part of the turn: was it busy, and if it idles, its signals fade. Returns enum
 * wp_event_result bits; WP_DID_BALANCE: it is to be woken for its periodic pass.
 */
WP_FN int wp_idle_turn_offer(struct wp_ctx *ctx WP_NONNULL, struct wp_idle_turn *turn WP_NONNULL,
			     u32 cpu)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	u64 now_ns = turn->now_ns;
	int did;

	if (!c->queue.online)
		return 0;
	turn->busy |= wp_was_busy(ctx, cpu);
	if (!c->queue.curr_idle)
		return 0;
	did = wp_idle_decay(ctx, cpu, now_ns);
	return wp_idle_kick_needed(ctx, cpu, now_ns) ? did | WP_DID_BALANCE : did;
}

/* All CPUs were offered. Until the next turn, ns. */
WP_FN u64 wp_idle_turn_end(struct wp_ctx *ctx WP_NONNULL,
			   const struct wp_idle_turn *turn WP_NONNULL)
{
	return wp_idle_timer_ns(ctx, (u32)turn->busy, turn->now_ns);
}
