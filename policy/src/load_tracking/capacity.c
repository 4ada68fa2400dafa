// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Capacity: what a CPU has, what is left of it, and whether a demand fits
 * (docs/rules/capacity.md#capacity-of; docs/rules/capacity-aware.md#rdmax,
 * docs/rules/capacity-aware.md#wake-cap, docs/rules/capacity-aware.md#util-without-task,
 * docs/rules/capacity-aware.md#fit-thresholds).
 *
 * What must stay: capacities are 0..1024 of the biggest CPU; a test is either the one of 2018 or
 * that since 4.20, by the era. Misfit marks are read by balancing. Free: a test, with its era
 * and page.
 *
 * Tests by part: (below crates/policy-sys/tests) all/fits.rs: `thresholds` (`wp_fits_capacity`,
 * `wp_fits_cpu_alone`), `hints`, `hints_off` (`wp_util_fits_on`, `wp_util_fits_cpu`,
 * `wp_util_fits`, `wp_bound_fits`), `pressure_and_hints` (`wp_get_actual_cpu_capacity`),
 * `capacity_left` (`wp_update_cpu_capacity`), `misfit_after_47_ms`, `who_is_no_misfit`
 * (`wp_update_misfit_status`, `wp_best_it_may_use`, `wp_task_fits`, `wp_task_fits_cpu`),
 * `largest_allowed_capacity` (`wp_set_cpus_allowed`, `wp_allowed`); all/capacity_vectors.rs:
 * `fit_threshold_rows` (`wp_unfit`); all/asym_switches.rs: `the_tasks_own_past_does_not_count`
 * (`wp_cpu_util_without`); all/classes.rs: `two_tasks_of_any_class_are_an_overload`
 * (`wp_note_overload`); all/fast_path.rs: `wake_affine_by_weight` (`wp_task_h_load`,
 * `wp_source_load`, `wp_target_load`, `wp_cpu_load`), `step_1_idle_target` (`wp_cpu_idle`);
 * all/bounds.rs: `an_index_past_the_end_is_told` (`wp_idle_cpu`); all/energy_7_3.rs:
 * `runnable_boost` (`wp_runnable_boost`); all/uclamp_sum.rs: `what_fits_within_hints`
 * (`wp_util_fits_uclamp`). `wp_span_has`, `wp_place_flag` and `wp_nr_awake` have no test of their
 * own: all/slow_7_3.rs: `fork_goes_to_more_idle_cpus` would show a fault of `wp_place_flag`.
 *
 * Callers: placement, balancing, energy and packing; events of tasks mark misfits (rq.c,
 * task_group.c); overutilized.c.
 *
 * Kernel: get_actual_cpu_capacity(), fits_capacity(), util_fits_cpu(), task_fits_cpu(),
 *         update_misfit_status(), update_cpu_capacity(),
 *         scale_rt_capacity() as wp_update_cpu_capacity(), task_h_load(),
 *         cpu_load(), cpu_util_without(), kernel/sched/fair.c; source_load(), target_load(),
 *         kernel/sched/fair.c, to 5.1; set_cpus_allowed_common() as wp_set_cpus_allowed(),
 *         kernel/sched/core.c
 * Tests: fixtures/fits, fixtures/capacity, fixtures/misfit, all/fits.rs, all/capacity_vectors.rs,
 *        all/response_time.rs, all/uclamp_sum.rs
 */
#include "wakeplace/policy.h"

/* 20 % of a CPU is kept free: demand fits up to 1024/1280 of the capacity. */
#define WP_FIT_MARGIN 1280u

/* The 2018 test: unfit if strictly less (an exact 80 % still fits). */
WP_INLINE int wp_unfit(u32 util, u32 capacity)
{
	return (u64)capacity * WP_SCALE < (u64)util * WP_FIT_MARGIN;
}

/* The test since 4.20: unfit from an exact 80 % on. */
WP_INLINE int wp_fits_capacity(u32 util, u32 capacity)
{
	return (u64)util * WP_FIT_MARGIN < (u64)capacity * WP_SCALE;
}

/* Does a demand leave room on a CPU? 20 %, or what a tick of running adds
 * (docs/rules/response-time.md#fits-by-tick). */
WP_INLINE int wp_fits_cpu_alone(const struct wp_ctx *ctx, u32 util, const struct wp_cpu *c)
{
#ifndef WP_LIVE
	if (ctx->params.fits_by_tick)
		return util < c->load.fits_threshold;
#endif
	return wp_fits_capacity(util, c->load.capacity);
}

/* What thermal and frequency limits leave of a CPU. */
WP_INLINE u32 wp_get_actual_cpu_capacity(const struct wp_ctx *ctx, const struct wp_cpu *c)
{
	if (WP_NOT_LIVE(ctx->params.pressure_form == WP_PRESSURE_NONE))
		return c->load.capacity_orig;
	if (WP_NOT_LIVE(ctx->params.pressure_form == WP_PRESSURE_THERMAL))
		return (u32)wp_sub(c->load.capacity_orig, c->load.thermal_pressure);
	return (u32)wp_sub(c->load.capacity_orig, c->load.pressure);
}

/* A demand that this bounds to what the CPU has always fits. */
WP_INLINE int wp_bound_fits(const struct wp_cpu *c, u32 uclamp_max)
{
	u32 full = c->load.capacity_orig;

	return uclamp_max <= full && !(full == WP_SCALE && uclamp_max == WP_SCALE);
}

/*
 * Does a demand fit a CPU, with the hints in force there (docs/rules/capacity.md#util-fits-cpu)? 1
 * yes, 0 no, -1: all but the wish for performance. A demand that is bounded to what the CPU has
 * always fits; pressure counts against the real demand and against uclamp_min, not against that
 * bound.
 */
WP_INLINE s32 wp_util_fits_on(const struct wp_ctx *ctx, u32 util, u32 uclamp_min, u32 uclamp_max,
			      const struct wp_cpu *c)
{
	int fits = wp_fits_cpu_alone(ctx, util, c);

	if (!ctx->params.uclamp)
		return fits;
	if (wp_bound_fits(c, uclamp_max))
		fits = 1;
	uclamp_min = wp_min(uclamp_min, uclamp_max);
	if (fits && util < uclamp_min && uclamp_min > wp_get_actual_cpu_capacity(ctx, c))
		return -1;
	return fits;
}

/* As wp_util_fits_on, of a CPU by its number. */
WP_INLINE s32 wp_util_fits(const struct wp_ctx *ctx, u32 util, u32 uclamp_min, u32 uclamp_max,
			   u32 cpu)
{
	return wp_util_fits_on(ctx, util, uclamp_min, uclamp_max, WP_AT(ctx->cpus, cpu));
}

/* wp_util_fits for a home, and for tests: 1, 0, or -1 where all but the wish fits. */
WP_FN int wp_util_fits_cpu(const struct wp_ctx *ctx WP_NONNULL, u32 util, u32 uclamp_min,
			   u32 uclamp_max, u32 cpu)
{
	return wp_util_fits(ctx, util, uclamp_min, uclamp_max, cpu);
}

#ifdef WP_UCLAMP_SUM
/* As wp_util_fits_on where hints add up: `clamped` is the demand within them
 * (docs/rules/uclamp-sum.md#uclamp-sum-fits). */
WP_FN int wp_util_fits_uclamp(const struct wp_ctx *ctx WP_NONNULL, u32 util, u32 clamped,
			      const struct wp_cpu *c WP_NONNULL)
{
	if (wp_fits_cpu_alone(ctx, clamped, c))
		return 1;
	return wp_fits_cpu_alone(ctx, util, c) ? -1 : 0;
}
#endif

/* Does a task fit? As wp_util_fits, with its own demand and hints. */
WP_INLINE s32 wp_task_fits(const struct wp_ctx *ctx, const struct wp_task *task, u32 cpu)
{
	u32 util = wp_task_util_est(ctx, task);

#ifdef WP_UCLAMP_SUM
	if (wp_uclamp_sums(ctx))
		return wp_util_fits_uclamp(ctx, util, wp_task_util_est_uclamp(task),
					   WP_AT(ctx->cpus, cpu));
#endif
	return wp_util_fits(ctx, util, wp_uclamp_eff_min(ctx, task), wp_uclamp_eff_max(ctx, task),
			    cpu);
}

/* A task fits only if its wishes are met, too. */
WP_INLINE int wp_task_fits_cpu(const struct wp_ctx *ctx, const struct wp_task *task, u32 cpu)
{
	return wp_task_fits(ctx, task, cpu) > 0;
}

/*
 * A CPU has more than one task, of whatever class: new-idle CPUs need not wait for the next full
 * pass (add_nr_running).
 */
WP_INLINE void wp_note_overload(struct wp_ctx *ctx, const struct wp_cpu *c)
{
	u32 nr = c->queue.nr_fair + WP_SIM(c->queue.classes.nr_rt + c->queue.classes.nr_dl);

	if (ctx->params.balance_classes && nr > 1 && !ctx->overload)
		ctx->overload = 1;
}

/* May the task use the CPU? */
WP_INLINE int wp_allowed(const struct wp_task *task, u32 cpu)
{
	return (*WP_AT(task->allowed, cpu / 64u) >> (cpu % 64u)) & 1u;
}

/* Is the CPU in the domain? */
WP_INLINE int wp_span_has(const struct wp_sched_domain *dom, u32 cpu)
{
	return (*WP_AT(dom->span, cpu / 64u) >> (cpu % 64u)) & 1u;
}

/* Tasks of the CPU that can run. */
WP_INLINE u32 wp_nr_awake(const struct wp_cpu *c)
{
	return WP_NOT_LIVE(c->queue.h_nr_delayed) ? c->queue.nr_running - c->queue.h_nr_delayed
						  : c->queue.nr_running;
}

/*
 * What a frequency follows where time in the queue counts: the utilisation, raised by a part of
 * what the runnable average is above it (docs/rules/energy-idle.md#boost-part), as far as the step
 * of `urgency` says. All of it: the larger one.
 */
WP_INLINE u32 wp_runnable_boost(const struct wp_ctx *ctx, u32 util, u32 runnable, u32 urgency)
{
	u64 part = (u64)ctx->params.runnable_boost_pct * urgency;

	if (runnable <= util)
		return util;
	return util + (u32)wp_div((runnable - util) * part, 100 * WP_URGENCY_STEPS);
}

/* The idle task executes and nothing is queued or on its way. */
WP_INLINE int wp_cpu_idle(const struct wp_cpu *c)
{
	return c->queue.curr_idle && !c->queue.nr_running && !c->queue.pending;
}

/* Is a CPU idle (wp_cpu_idle)? For a home, by CPU number. */
WP_SMALL_FN int wp_idle_cpu(const struct wp_ctx *ctx WP_NONNULL, u32 cpu)
{
	return wp_cpu_idle(WP_AT(ctx->cpus, cpu));
}

/* The domain flag that lets a request of this kind take the slow path. */
WP_INLINE u32 wp_place_flag(u32 kind)
{
	switch (kind) {
	case WP_PLACE_WAKE:
		return WP_SD_BALANCE_WAKE;
	case WP_PLACE_FORK:
		return WP_SD_BALANCE_FORK;
	default:
		return WP_SD_BALANCE_EXEC;
	}
}

/*
 * What limits, RT, deadline and interrupt time leave of a CPU for fair tasks, at least 1
 * (docs/rules/capacity.md#capacity-of). Refreshed by load balancing only, as in the kernel, so it
 * may be stale.
 */
WP_INLINE void wp_update_cpu_capacity(const struct wp_ctx *ctx, struct wp_cpu *c)
{
	u32 actual = wp_get_actual_cpu_capacity(ctx, c);
	u32 used = c->load.rt_util + c->load.dl_util;
	u32 left = 1;

	if (WP_SIM(c->queue.classes.kept == 1 + WP_CLASS_AGED)) {
		c->load.capacity = wp_scale_rt_capacity_4_18(c);
		return;
	}
	if (used < actual && c->load.irq_util < actual)
		left = (u32)wp_div((u64)(actual - used) * (actual - c->load.irq_util), actual);
	c->load.capacity = wp_max(left, 1);
}

/* Load of a task as balancing counts it: its share of the queue's average. */
WP_INLINE u64 wp_task_h_load(const struct wp_ctx *ctx, const struct wp_task *task)
{
	u64 queue = WP_AT(ctx->cpus, task->cpu)->load.avg.load_avg;

	if (WP_NOT_LIVE(ctx->params.weight_is_load))
		return task->weight;
	if (WP_NOT_LIVE(task->task_group))
		return task->group_load;
	return (task->avg.load_avg * queue) / (queue + 1);
}

/* The load that placement compares: of queued tasks only (blocked load left out). */
WP_INLINE u64 wp_cpu_load(const struct wp_ctx *ctx, const struct wp_cpu *c)
{
	if (WP_NOT_LIVE(ctx->params.weight_is_load))
		return c->load.load_weight;
	return WP_NOT_LIVE(ctx->params.runnable_is_load) ? c->load.avg.runnable_avg
							 : c->load.avg.load_avg;
}

/* A CPU's load seen low (as a source) or high (as a target), between now and its history at ticks.
 * */
WP_INLINE u64 wp_source_load(const struct wp_ctx *ctx, const struct wp_cpu *c, u32 idx)
{
	u64 now = wp_cpu_load(ctx, c);

	return idx && WP_NOT_LIVE(ctx->params.load_idx)
		       ? wp_min64(*WP_AT(c->load.cpu_load, idx), now)
		       : now;
}

/* A CPU's load seen high, as a target; see wp_source_load. */
WP_INLINE u64 wp_target_load(const struct wp_ctx *ctx, const struct wp_cpu *c, u32 idx)
{
	u64 now = wp_cpu_load(ctx, c);

	return idx && WP_NOT_LIVE(ctx->params.load_idx)
		       ? wp_max64(*WP_AT(c->load.cpu_load, idx), now)
		       : now;
}

/*
 * Utilisation of a CPU without a waking task's blocked share
 * (docs/rules/capacity-aware.md#util-without-task). The task has been synced to that queue's last
 * update before. Without the rule the CPU it slept on looks fuller than it is.
 */
WP_INLINE u32 wp_cpu_util_without(const struct wp_ctx *ctx, u32 cpu, const struct wp_task *task)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	u32 util, est = c->load.util_est;

	if (!ctx->params.idlest_without_task || cpu != task->cpu || !task->avg.last_update_ns)
		return wp_cpu_util_cfs(ctx, c);
	util = (u32)wp_sub(c->load.avg.util_avg, task->avg.util_avg);
	/* A task that execs runs there, so its estimate counts there (4.20). */
	if (task->on_rq && !WP_NOT_LIVE(!ctx->params.idlest_without_running))
		est = wp_sub(est, task->util_est_queued);
	if (ctx->params.util_est != WP_UTIL_EST_OFF)
		util = wp_max(util, est);
	return wp_min(util, c->load.capacity_orig);
}

/* Which CPUs a task may use has changed, or is known for the first time. */
WP_FN int wp_set_cpus_allowed(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL)
{
	u32 cpu, n = 0, most = 0;

	WP_FOR(cpu, ctx->nr_cpus, WP_MAX_CPUS) {
		if (!wp_allowed(task, cpu))
			continue;
		n++;
		most = wp_max(most, WP_AT(ctx->cpus, cpu)->load.capacity_orig);
	}
	task->nr_allowed = n;
	task->max_allowed_capacity = most;
	return 0;
}

/* Would no CPU that the task may use serve it better than the one it runs on? */
WP_INLINE int wp_best_it_may_use(const struct wp_ctx *ctx, const struct wp_cpu *c,
				 const struct wp_task *task)
{
	if (WP_NOT_LIVE(ctx->params.misfit_form == WP_MISFIT_420))
		return 0;
	if (task->nr_allowed == 1)
		return 1;
	if (WP_NOT_LIVE(ctx->params.misfit_form == WP_MISFIT_61))
		return 0;
	return c->load.capacity_orig == task->max_allowed_capacity;
}

/*
 * Mark a running task that its CPU cannot serve while a bigger one is allowed, so that balancing
 * finds it (docs/rules/capacity.md#misfit).
 */
WP_INLINE void wp_update_misfit_status(const struct wp_ctx *ctx, struct wp_cpu *c,
				       const struct wp_task *task)
{
	if (!ctx->params.misfit || !ctx->asym)
		return;
	if (wp_best_it_may_use(ctx, c, task) || wp_task_fits_cpu(ctx, task, task->cpu))
		c->queue.misfit_task_load = 0;
	else
		c->queue.misfit_task_load =
			wp_max((u32)wp_task_h_load(ctx, task),
			       !WP_NOT_LIVE(ctx->params.misfit_form == WP_MISFIT_420));
}
