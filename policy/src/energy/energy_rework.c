// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The energy-aware wake-up as "Rework EAS to handle more cases" has it (v6, March 2025), and its
 * push of tasks that no longer wake (docs/rules/energy-push.md). Not merged; off in every era.
 *
 * The kernel's rule (energy_delta.c) takes of each performance domain the CPU with most spare
 * capacity. Here it is the one that needs the cheapest state, and of equal ones the one with fewest
 * tasks. A task that runs on and on is asked about again when it is put back to wait, and at the
 * tick where it is alone.
 *
 * What must stay: with the parameter off nothing of this runs; order, ties and what is compared are
 * the series'. Free: how it is written; natively alone (WP_EAS_REWORK).
 *
 * Tests by part: (below crates/policy-sys/tests; `every_fixture_holds` runs the fixtures)
 * fixtures/energy-push: equal-state-*.toml (`wp_update_best_cpu`), cheaper-state.toml
 * (`wp_find_pd_cost`, `wp_rework_pick`), raises-the-others.toml (`wp_rework_delta`),
 * the-best-fit-first.toml (`wp_rework_find`); all/energy_push.rs: `who_is_stuck`
 * (`wp_task_stuck_on_cpu`), `who_may_be_pushed` (`wp_sched_energy_push_task`),
 * `a_stuck_task_finds_a_smaller_cpu` (`wp_push_fair_task`), `a_tick_pushes_a_task_alone`
 * (`wp_check_pushable_task`, `wp_common_level`), `its_own_estimate_counts_where_it_is_queued`
 * (`wp_rework_util`).
 *
 * Callers: `wp_select_by_energy` (energy_idle.c); overutilized.c (`wp_check_pushable_task`);
 * `Core::may_push`, `Core::push_target` (crates/policy-sys/src/balance.rs).
 *
 * Tests: fixtures/energy-push, all/energy_push.rs
 */
#include "wakeplace/policy.h"

/* A CPU that could take the task. */
struct wp_energy_cpu_stat {
	u32 cpu; /* WP_NONE: nobody yet */
	s32 fits;
	u32 cost;     /* of the state that its domain needs then */
	u32 max_perf; /* what that state has, and the efficient one below it */
	u32 min_perf;
	u32 capacity;
	u32 util; /* with the task */
	u32 runnable;
	u32 nr_running;
};

/*
 * Utilisation of `cpu` if the task were on `dst`. The task may be queued or run, as in a push: its
 * estimate then comes off every other CPU (docs/rules/energy-push.md#push-util).
 */
WP_INLINE u32 wp_rework_util(const struct wp_ctx *ctx, u32 cpu, const struct wp_task *task, u32 dst,
			     u32 boost)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	struct wp_util_pair run = wp_run_pair(ctx, cpu, task, boost && ctx->params.runnable_boost);
	u32 util = dst == cpu ? run.with : run.without;
	u32 est = c->load.util_est, own = wp_task_est(ctx, task);

	if (dst == cpu)
		est += own;
	else if (task->on_rq)
		est = (u32)wp_sub(est, own);
	if (ctx->params.util_est != WP_UTIL_EST_OFF)
		util = wp_max(util, est);
	return wp_min(util, c->load.capacity_orig);
}

/* The performance that `cpu` needs with the task on `dst`, at most what its domain has. */
WP_INLINE u32 wp_rework_perf(const struct wp_ctx *ctx, u32 cpu, const struct wp_task *task, u32 dst,
			     u32 most)
{
	u32 util = wp_rework_util(ctx, cpu, task, dst, 1);
	struct wp_demand d;

	if (dst == cpu)
		return wp_min(most, wp_perf_with(ctx, cpu, task, util));
	d = wp_effective_cpu_util(ctx, WP_AT(ctx->cpus, cpu), util);
	return wp_min(most, wp_sugov_effective_cpu_perf(ctx, WP_AT(ctx->cpus, cpu), &d));
}

/* The state for a performance: its cost, and the range of performances that need it. */
WP_INLINE void wp_find_pd_cost(const struct wp_ctx *ctx, const struct wp_perf_domain *pd, u32 perf,
			       struct wp_energy_cpu_stat *s)
{
	const struct wp_em_perf_table *t = wp_em_perf_table(pd);
	u32 i = wp_pd_state(ctx, pd, perf);

	s->cost = WP_AT(t->state, i)->cost;
	s->max_perf = WP_AT(t->state, i)->performance;
	s->min_perf = 0;
	for (; i > pd->min_state; i--) {
		if (WP_AT(t->state, i - 1)->inefficient)
			continue;
		s->min_perf = WP_AT(t->state, i - 1)->performance;
		return;
	}
}

/* At the same cost: is `a` better than `b`? By tasks, then the previous CPU, then by contention. */
WP_INLINE int wp_update_best_cpu(const struct wp_energy_cpu_stat *a,
				 const struct wp_energy_cpu_stat *b, u32 prev, u32 pct)
{
	if (a->nr_running != b->nr_running)
		return a->nr_running < b->nr_running;
	if (a->cpu == prev || b->cpu == prev)
		return a->cpu == prev;
	return (u64)a->runnable * b->capacity * pct < (u64)b->runnable * a->capacity * 100;
}

/* What is compared of a CPU. Returns how well it holds the task. */
WP_INLINE s32 wp_rework_look(const struct wp_ctx *ctx, const struct wp_task *task, u32 prev,
			     u32 cpu, struct wp_energy_cpu_stat *s)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	struct wp_delta_pd hints = { .hinted = 0 };
	u32 used;

	s->cpu = cpu;
	s->util = wp_rework_util(ctx, cpu, task, cpu, 0);
	s->runnable = c->load.avg.runnable_avg;
	s->capacity = c->load.capacity;
	s->nr_running = c->queue.nr_fair;
	if (ctx->params.energy_rework == WP_REWORK_MISFIT && cpu == prev && task->on_rq &&
	    !task->sched_delayed)
		s->nr_running--; /* the task itself */
	s->fits = wp_delta_fits(ctx, task, &hints, cpu, s->util, &used);
	return s->fits;
}

/* The CPU of a performance domain that needs the cheapest state with the task; `cpu` WP_NONE: none
 * holds it. `most` is what a CPU of the domain has. */
static void wp_rework_pick(const struct wp_ctx *ctx, const struct wp_task *task, u32 prev,
			   const struct wp_perf_domain *pd, const struct wp_sched_domain *dom,
			   u32 most, struct wp_energy_cpu_stat *best)
{
	struct wp_energy_cpu_stat at = *best;
	u32 i;

	WP_FOR(i, pd->nr_cpus, WP_MAX_CPUS) {
		u32 cpu = *WP_AT(ctx->list, pd->first_cpu + i), perf;

		if (!WP_AT(ctx->cpus, cpu)->queue.online || !wp_span_has(dom, cpu) ||
		    !wp_allowed(task, cpu)) {
			WP_EXPLAIN(ctx, wp_drop_barred(ctx, dom, cpu));
			continue;
		}
		if (!wp_rework_look(ctx, task, prev, cpu, &at) || at.fits < best->fits) {
			WP_EXPLAIN(ctx, wp_drop(ctx, cpu, at.fits ? WP_DROP_HINT : WP_DROP_UNFIT));
			continue;
		}
		perf = wp_rework_perf(ctx, cpu, task, cpu, most);
		if (perf < best->min_perf) {
			wp_find_pd_cost(ctx, pd, perf, &at);
		} else if (perf > best->max_perf ||
			   !wp_update_best_cpu(&at, best, prev, dom->imbalance_pct)) {
			WP_EXPLAIN(ctx, wp_drop(ctx, cpu, perf > best->max_perf ?
						WP_DROP_MORE_ENERGY : WP_DROP_MORE_LOAD));
			continue;
		}
		WP_EXPLAIN(ctx, wp_drop_rival(ctx, best->cpu, at.fits > best->fits));
		*best = at;
	}
}

/* What the task adds to its domain on that CPU: its own time at the state's cost, and the others'
 * where it takes them to a dearer one. */
static u64 wp_rework_delta(const struct wp_ctx *ctx, const struct wp_task *task,
			   const struct wp_perf_domain *pd, u32 most, u32 task_busy,
			   const struct wp_energy_cpu_stat *best)
{
	struct wp_energy_cpu_stat now = { .cost = 0, .max_perf = 0 };
	u64 busy = 0;
	u32 i;

	WP_FOR(i, pd->nr_cpus, WP_MAX_CPUS) {
		u32 cpu = *WP_AT(ctx->list, pd->first_cpu + i), perf;
		const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);

		if (!c->queue.online)
			continue;
		busy += wp_effective_cpu_util(ctx, c,
					      wp_rework_util(ctx, cpu, task, WP_NONE, 0)).util;
		perf = wp_rework_perf(ctx, cpu, task, WP_NONE, most);
		if (perf > now.max_perf)
			wp_find_pd_cost(ctx, pd, perf, &now);
	}
	return (u64)task_busy * best->cost + busy * wp_sub(best->cost, now.cost);
}

/* What a CPU of the domain has; 0: none is online. */
WP_INLINE u32 wp_rework_most(const struct wp_ctx *ctx, const struct wp_perf_domain *pd)
{
	u32 i;

	WP_FOR(i, pd->nr_cpus, WP_MAX_CPUS) {
		const struct wp_cpu *c = WP_AT(ctx->cpus, *WP_AT(ctx->list, pd->first_cpu + i));

		if (c->queue.online)
			return wp_get_actual_cpu_capacity(ctx, c);
	}
	return 0;
}

/*
 * The CPU that costs least, for a task that wakes, is queued or runs; WP_NONE: none holds it. `dec`
 * notes what was looked at, 0: nobody asks.
 */
static u32 wp_rework_find(struct wp_ctx *ctx, struct wp_task *task, u32 dom_index, u32 prev,
			  struct wp_decision *dec)
{
	const struct wp_sched_domain *dom = WP_AT(ctx->doms, dom_index);
	u32 i, task_busy, best_cpu = WP_NONE;
	u64 delta, best_delta = WP_NO_ENERGY;
	s32 best_fits = -1;

	if (!task->on_rq)
		wp_sync_entity_load_avg(ctx, task);
	task_busy = wp_eenv_task_busy_time(ctx, task, prev);
	WP_FOR(i, ctx->nr_perf_doms, WP_MAX_PERF_DOMS) {
		const struct wp_perf_domain *pd =
			WP_AT(ctx->perf_doms, ctx->nr_perf_doms - 1 - i);
		struct wp_energy_cpu_stat best = { .cpu = WP_NONE, .fits = -2, .cost = WP_NONE,
						   .max_perf = WP_NONE, .min_perf = WP_NONE };
		u32 most = wp_rework_most(ctx, pd);

		wp_rework_pick(ctx, task, prev, pd, dom, most, &best);
		if (best.cpu == WP_NONE)
			continue;
		if (best.fits < best_fits) {
			WP_EXPLAIN(ctx, wp_drop(ctx, best.cpu, WP_DROP_HINT));
			continue;
		}
		delta = wp_rework_delta(ctx, task, pd, most, task_busy, &best);
		if (dec) {
			wp_note_candidate(dec, best.cpu, best.util,
					  (u32)wp_sub(best.capacity, best.util), best.fits, delta);
			/* Its state is looked up once more, for the clock. */
			WP_EXPLAIN(ctx, (void)wp_pd_state(ctx, pd, best.max_perf));
			WP_EXPLAIN(ctx, wp_explain_clock_of(ctx, best.cpu));
		}
		if (best.fits == best_fits && delta >= best_delta) {
			WP_EXPLAIN(ctx, wp_drop(ctx, best.cpu, WP_DROP_MORE_ENERGY));
			continue;
		}
		WP_EXPLAIN(ctx, wp_drop_rival(ctx, best_cpu, best.fits > best_fits));
		best_cpu = best.cpu;
		best_fits = best.fits;
		best_delta = delta;
	}
	return best_cpu;
}

/* The wake-up. Returns 1 and fills `dec` if this rule decides, 0 if the normal path must. */
WP_FN int wp_find_energy_efficient_cpu_rework(struct wp_ctx *ctx WP_NONNULL,
					      struct wp_task *task WP_NONNULL, u32 this_cpu,
					      u32 prev, struct wp_decision *dec WP_NONNULL)
{
	u32 dom = wp_energy_dom(ctx, this_cpu, prev,
				WP_AT(ctx->cpus, this_cpu)->topo.asym_full_level);
	u32 cpu;

	if (dom == WP_NONE)
		return 0;
	cpu = wp_rework_find(ctx, task, dom, prev, dec);
	if (cpu == WP_NONE)
		return wp_energy_decide(dec, prev, WP_REASON_ENERGY_NOTHING_FITS);
	return wp_energy_decide(dec, cpu,
				cpu == prev ? WP_REASON_ENERGY_PREV : WP_REASON_ENERGY_BEST);
}

/* Its CPU cannot serve what it asks for, so that it may never sleep and wake
 * (docs/rules/energy-push.md#stuck). */
WP_INLINE int wp_task_stuck_on_cpu(const struct wp_ctx *ctx, const struct wp_task *task)
{
	u32 most = wp_min(wp_get_actual_cpu_capacity(ctx, WP_AT(ctx->cpus, task->cpu)),
			  wp_uclamp_eff_max(ctx, task));

	return wp_max(wp_task_util_est(ctx, task), task->avg.runnable_avg) > most;
}

/* Should a queued task look for a better CPU? */
WP_FN int wp_sched_energy_push_task(const struct wp_ctx *ctx WP_NONNULL,
				    const struct wp_task *task WP_NONNULL)
{
	if (ctx->params.energy_rework < WP_REWORK_PUSH || !ctx->energy_active ||
	    ctx->params.queue == WP_QUEUE_LIVE || !task->on_rq || task->sched_delayed ||
	    task->nr_allowed == 1)
		return 0;
	if (ctx->params.energy_rework == WP_REWORK_MISFIT &&
	    !wp_task_fits_cpu(ctx, task, task->cpu))
		return 1;
	return !ctx->overutilized && wp_task_stuck_on_cpu(ctx, task);
}

/* Where a queued task goes that should look for a better CPU; its own: it stays. */
WP_FN u32 wp_push_fair_task(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL)
{
	u32 dom = wp_energy_dom(ctx, task->cpu, task->cpu,
				WP_AT(ctx->cpus, task->cpu)->topo.asym_full_level);
	u32 cpu = dom == WP_NONE ? WP_NONE
				 : wp_rework_find(ctx, task, dom, task->cpu,
						  (struct wp_decision *)0);

	return cpu == WP_NONE ? task->cpu : cpu;
}

/* The lowest level of `a` whose domain spans `b`, too. */
WP_INLINE u32 wp_common_level(const struct wp_ctx *ctx, u32 a, u32 b)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, a);
	u32 i;

	WP_FOR(i, c->topo.nr_levels, WP_MAX_LEVELS) {
		if (wp_span_has(WP_AT(ctx->doms, *WP_AT(c->topo.dom, i)), b))
			return i;
	}
	return WP_NONE;
}

/* The tick of a task that is alone on its CPU, so that it is never put back: is it to be pushed?
 * The home then pushes it to push_cpu, as after a balance. */
WP_INLINE int wp_check_pushable_task(struct wp_ctx *ctx, struct wp_task *task)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, task->cpu);
	u32 cpu, level;

	if (c->queue.nr_running > 1 || c->balance.active_balance ||
	    !wp_sched_energy_push_task(ctx, task))
		return 0;
	cpu = wp_push_fair_task(ctx, task);
	level = wp_common_level(ctx, cpu, task->cpu);
	if (cpu == task->cpu || level == WP_NONE)
		return 0;
	c->balance.active_balance = 1;
	c->balance.push_cpu = cpu;
	c->balance.push_level = level;
	return 1;
}
