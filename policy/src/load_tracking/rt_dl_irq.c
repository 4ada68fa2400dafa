// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What RT tasks, deadline tasks and interrupts take of a CPU, for the rules of the fair class
 * (docs/rules/signals.md#clocks, docs/rules/signals.md#pelt-update,
 * docs/rules/capacity.md#capacity-of, docs/rules/capacity.md#schedutil). Which of these tasks runs
 * is the home's mechanics.
 *
 * From 4.19 on each class has one average per CPU: load = runnable = running = "it runs", on the
 * clock of the queue's own signals. Interrupts are known by the time they took, so their average
 * takes a double step: idle up to (now - that time x speed), running from there to now. To 4.18
 * there is one sum of run time, halved every half second, and no signal for the frequency but the
 * bandwidth that deadline tasks reserved.
 *
 * What must stay: one clock per queue for all classes; times are ns, bandwidths and signals
 * 0..1024. Free: how classes are kept; what the fair class reads of them only with the page.
 *
 * Tests by part: (below crates/policy-sys/tests) all/classes.rs: `class_signals_of_ten_ms`
 * (`wp_class_update`, `wp_class_step`, `wp_class_run`, `wp_class_stop`, `wp_class_tick`),
 * `class_signals_fade` (`wp_update_other_load_avgs`), `capacity_from_kept_signals`
 * (`wp_class_publish`, `wp_by_signals`, `wp_keep`), `capacity_from_aged_time`
 * (`wp_scale_rt_capacity_4_18`, `wp_age`, `wp_age_add`), `interrupts_and_the_task_clock`,
 * `interrupt_time_is_carried_over` (`wp_irq_take`, `wp_irqtime_account_irq`,
 * `wp_update_irq_load_avg`), `classes_ask_for_frequency`, `class_signals_count_in_the_older_forms`
 * (`wp_class_freq_util`, `wp_cpu_bw_dl`), `a_governors_thread_reserves_nothing`
 * (`wp_dl_entity_is_special`, `wp_class_active`), `a_run_takes_of_the_budget_by_speed`
 * (`wp_dl_scaled_delta_exec`), `a_budget_lasts_as_long_as_it_takes_to_use_it_up` (`wp_dl_run_for`),
 * `who_joins_is_queued` (`wp_class_join`, `wp_class_leave`, `wp_class_count`),
 * `rt_goes_to_the_lowest` (`wp_class_level`); all/durations.rs:
 * `other_classes_keep_the_last_fair_average` (`wp_class_ran`).
 *
 * Callers: crates/policy-sys/src/classes.rs; `wp_update_rq_clock` (signals.c) takes interrupt time
 * off, `wp_blocked` (rq.c) lets averages fade.
 *
 * Kernel: update_rt_rq_load_avg() as wp_class_update(), update_dl_rq_load_avg() as
 *         wp_class_update(), update_irq_load_avg(), kernel/sched/pelt.c; update_other_load_avgs(),
 *         kernel/sched/syscalls.c; cpu_bw_dl(), dl_entity_is_special(), kernel/sched/sched.h;
 *         irqtime_account_irq(), kernel/sched/cputime.c; scale_rt_capacity(), kernel/sched/fair.c,
 *         to 4.18; enqueue_task_rt() as wp_class_join(), dequeue_task_rt() as wp_class_leave(),
 *         kernel/sched/rt.c; enqueue_task_dl() as wp_class_join(), dequeue_task_dl() as
 *         wp_class_leave(), dl_scaled_delta_exec(), kernel/sched/deadline.c
 * Tests: all/classes.rs, fixtures/capacity, fixtures/frequency
 */
#include "wakeplace/policy.h"

/* Half of sched_time_avg_ms, 1 s. */
#define WP_AGE_NS 500000000ull

/* Has the CPU averages of other classes (from 4.19)? */
WP_INLINE int wp_by_signals(const struct wp_class_cpu *k)
{
	return k->kept == 1 + WP_CLASS_SIGNALS;
}

/* From now on the CPU keeps what the era has of other classes. */
WP_INLINE struct wp_class_cpu *wp_keep(const struct wp_ctx *ctx, struct wp_cpu *c)
{
	c->queue.classes.kept = 1 + ctx->params.class_capacity;
	c->queue.classes.half_life = ctx->params.pelt_half_life;
	return &c->queue.classes;
}

/* Bandwidth of the CPU's active deadline tasks, 0..1024 (more if it is overcommitted). */
WP_FN u32 wp_cpu_bw_dl(const struct wp_cpu *c WP_NONNULL)
{
	return (u32)((c->queue.classes.dl_bw * WP_SCALE) >> WP_BW_SHIFT);
}

/* What the rules read. Before there were averages, "deadline utilisation" was the bandwidth. */
WP_INLINE void wp_class_publish(struct wp_cpu *c)
{
	const struct wp_class_cpu *k = &c->queue.classes;

	c->queue.rt_runnable = !!k->nr_rt;
	c->load.rt_util = wp_by_signals(k) ? k->rt.util_avg : 0;
	c->load.dl_util = wp_by_signals(k) ? k->dl.util_avg : wp_cpu_bw_dl(c);
}

/* The aged sum fades in steps: halved once for each half second begun since the stamp. */
WP_INLINE void wp_age(struct wp_class_cpu *k, u64 now_ns)
{
	u64 steps = wp_sub(now_ns, k->age_stamp_ns + 1) / WP_AGE_NS;

	if (now_ns <= k->age_stamp_ns)
		return;
	k->aged_ns = steps > 63 ? 0 : k->aged_ns >> steps;
	k->age_stamp_ns += steps * WP_AGE_NS;
}

/* Other classes ran so long: into the aged sum, by the CPU's clock rate. */
WP_INLINE void wp_age_add(struct wp_cpu *c, u64 ns)
{
	wp_age(&c->queue.classes, c->load.clock_ns);
	c->queue.classes.aged_ns += ns * c->load.freq_scale;
}

/* What the aged sum leaves of a CPU (to 4.18), at least 1. */
WP_FN u32 wp_scale_rt_capacity_4_18(struct wp_cpu *c WP_NONNULL)
{
	struct wp_class_cpu *k = &c->queue.classes;
	u64 used;

	wp_age(k, c->load.clock_ns);
	used = wp_div(k->aged_ns, WP_AGE_NS + wp_sub(c->load.clock_ns, k->age_stamp_ns));
	used = used < WP_SCALE ? WP_SCALE - used : 1;
	return (u32)wp_max64((c->load.capacity_orig * used) >> 10, 1);
}

/* One class's average up to the queue's PELT clock. Returns 1 if it was written. */
WP_INLINE int wp_class_step(const struct wp_ctx *ctx, const struct wp_cpu *c,
			    struct wp_sched_avg *avg, u32 running)
{
	struct wp_pelt_step step = {
		.now_ns = wp_rq_clock_pelt(ctx, c),
		.load = running,
		.runnable = running,
		.running = running,
		.weight = 1,
		.scale_cpu = wp_pelt_cpu_scale(ctx, c),
		.scale_freq = wp_pelt_freq_scale(ctx, c),
		.half_life = WP_NOT_LIVE(ctx->params.pelt_half_life),
	};

	return wp_avg_step(avg, &step);
}

/* Everything up to now, which wp_update_rq_clock has set. */
WP_INLINE int wp_class_update(struct wp_ctx *ctx, struct wp_cpu *c)
{
	struct wp_class_cpu *k = wp_keep(ctx, c);
	int changed = wp_class_step(ctx, c, &k->rt, k->running == WP_CLASS_RT);

	changed |= wp_class_step(ctx, c, &k->dl, k->running == WP_CLASS_DL);
	if (k->running)
		wp_age_add(c, wp_sub(c->load.clock_task_ns, k->run_stamp_ns));
	k->run_stamp_ns = c->load.clock_task_ns;
	wp_class_publish(c);
	return changed;
}

/* Interrupts took `ns` of the time up to the CPU's clock: the double step. */
WP_INLINE int wp_update_irq_load_avg(struct wp_cpu *c, u64 ns)
{
	struct wp_sched_avg *irq = &c->queue.classes.irq;
	u64 ran = (((ns * c->load.freq_scale) >> 10) * c->load.capacity_orig) >> 10;
	struct wp_pelt_step step = {
		.now_ns = c->load.clock_ns - ran,
		.weight = 1,
		.scale_cpu = WP_SCALE,
		.scale_freq = WP_SCALE,
		.half_life = c->queue.classes.half_life,
	};
	int changed = wp_avg_step(irq, &step);

	step.now_ns = c->load.clock_ns;
	step.load = step.runnable = step.running = 1;
	changed |= wp_avg_step(irq, &step);
	if (changed) /* with what both steps added */
		wp_avg_write(irq, &step);
	c->load.irq_util = wp_by_signals(&c->queue.classes) ? irq->util_avg : 0;
	return changed;
}

/*
 * The clock of `c` has gone on by `delta_ns`: how much of that is tasks' time. Interrupt time that
 * does not fit is left out of the next step.
 */
WP_FN u64 wp_irq_take(struct wp_cpu *c WP_NONNULL, u64 delta_ns)
{
	u64 taken = wp_min64(c->queue.classes.irq_ns, delta_ns);

	c->queue.classes.irq_ns -= taken;
	if (taken) {
		wp_age_add(c, taken);
		wp_update_irq_load_avg(c, taken);
	}
	return delta_ns - taken;
}

/* Interrupts took this much of `cpu` since the last report. */
WP_FN int wp_irqtime_account_irq(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 irq_ns)
{
	wp_keep(ctx, WP_AT(ctx->cpus, cpu))->irq_ns += irq_ns;
	return 0;
}

/* With the blocked averages of the fair class those of the others fade. */
WP_FN int wp_update_other_load_avgs(struct wp_ctx *ctx WP_NONNULL, struct wp_cpu *c WP_NONNULL)
{
	int changed = wp_class_update(ctx, c);

	return changed | wp_update_irq_load_avg(c, 0);
}

/*
 * What a CPU asks for in the forms of schedutil before 6.8, all classes together
 * (docs/rules/energy-aware.md#energy-5-0, docs/rules/capacity.md#schedutil): a queued RT task wants
 * all; to 4.18 else fair utilisation and the deadline class's bandwidth; then RT time and
 * interrupts, too.
 */
WP_FN u32 wp_class_freq_util(const struct wp_cpu *c WP_NONNULL, u32 fair)
{
	u32 full = c->load.capacity_orig, irq = c->load.irq_util, util = fair + c->load.rt_util;

	if (c->queue.rt_runnable)
		return full;
	if (!wp_by_signals(&c->queue.classes))
		return wp_min(fair + c->load.dl_util, full);
	if (irq >= full || util + c->load.dl_util >= full)
		return full;
	util = (u32)wp_div((u64)util * (full - irq), full) + irq;
	return wp_min(util + wp_cpu_bw_dl(c), full);
}

/* The home's order of such tasks: RT by priority, deadline tasks above, the earlier the higher. */
WP_FN u64 wp_class_level(const struct wp_class_task *ct WP_NONNULL)
{
	if (ct->class == WP_CLASS_DL)
		return ~ct->deadline_ns;
	return ct->class == WP_CLASS_RT ? ct->priority : 0;
}

/* RT or deadline tasks that are queued. */
WP_INLINE void wp_class_count(struct wp_class_cpu *k, const struct wp_class_task *ct, u32 by)
{
	if (ct->class == WP_CLASS_DL)
		k->nr_dl += by;
	else
		k->nr_rt += by;
}

/*
 * What a run of `delta_ns` on `cpu` takes of a deadline task's budget: from 4.16 on by the speed of
 * the CPU (docs/rules/rt-and-deadline.md#dl-scaled).
 */
WP_FN u64 wp_dl_scaled_delta_exec(const struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 delta_ns)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);

	if (!ctx->params.dl_scaled)
		return delta_ns;
	return (((delta_ns * c->load.freq_scale) >> 10) * c->load.capacity_orig) >> 10;
}

/* The other way round: the shortest run on `cpu` that takes `budget_ns`. */
WP_FN u64 wp_dl_run_for(const struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 budget_ns)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	u64 capacity = wp_max(c->load.capacity_orig, 1), freq = wp_max(c->load.freq_scale, 1);

	if (!ctx->params.dl_scaled)
		return budget_ns;
	budget_ns = wp_div(budget_ns * WP_SCALE + capacity - 1, capacity);
	return wp_div(budget_ns * WP_SCALE + freq - 1, freq);
}

/* schedutil's own threads reserve nothing and ask for nothing (SCHED_FLAG_SUGOV). */
WP_INLINE int wp_dl_entity_is_special(const struct wp_class_task *ct)
{
	return ct->class == WP_CLASS_DL && !ct->dl_runtime_ns;
}

/* A deadline task's bandwidth counts from its wake-up to its sleep. A rise heeds no rate limit. */
WP_INLINE void wp_class_active(struct wp_ctx *ctx, struct wp_cpu *c, struct wp_class_task *ct,
			       u32 on)
{
	u64 bw = wp_div(ct->dl_runtime_ns << WP_BW_SHIFT, ct->dl_period_ns);

	if (ct->class != WP_CLASS_DL || ct->active == on || wp_dl_entity_is_special(ct))
		return;
	ct->active = on;
	if (on) {
		c->queue.classes.dl_bw += bw;
		WP_AT(ctx->freq_doms, c->topo.freq_dom)->limits_changed = 1;
	} else {
		c->queue.classes.dl_bw = wp_sub(c->queue.classes.dl_bw, bw);
	}
}

/* The task joins the queue of task->cpu. Returns enum wp_event_result bits. */
WP_FN int wp_class_join(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL,
			struct wp_class_task *ct WP_NONNULL, u64 now_ns, u32 flags)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, task->cpu);

	wp_update_rq_clock(c, now_ns);
	wp_class_update(ctx, c);
	if (WP_SIM(flags & WP_Q_IOWAIT))
		wp_sugov_iowait_boost(ctx, c, now_ns);
	task->on_rq = 1;
	wp_class_count(&c->queue.classes, ct, 1);
	wp_class_active(ctx, c, ct, 1);
	wp_class_publish(c);
	wp_note_overload(ctx, c);
	return wp_dl_entity_is_special(ct) ? 0 : wp_cpufreq_update_util(ctx, c, now_ns);
}

/*
 * It stops; only the fair class keeps its average run (docs/rules/short-wakes.md#short-pitfalls).
 */
WP_INLINE void wp_class_ran(struct wp_cpu *c, struct wp_task *task)
{
	task->exec_ns += wp_sub(c->load.clock_task_ns, task->exec_start_ns);
	c->queue.curr_id = 0;
}

/* It leaves, to sleep, to move, or (WP_Q_THROTTLE) until its budget is filled again. */
WP_FN int wp_class_leave(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL,
			 struct wp_class_task *ct WP_NONNULL, u64 now_ns, u32 flags)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, task->cpu);

	wp_update_rq_clock(c, now_ns);
	wp_class_update(ctx, c);
	wp_class_count(&c->queue.classes, ct, 0 - 1u);
	if (!(flags & WP_Q_THROTTLE))
		wp_class_active(ctx, c, ct, 0);
	if (task->running) {
		wp_class_ran(c, task);
		c->queue.classes.running = WP_CLASS_FAIR;
	}
	if (flags & WP_Q_SLEEP)
		task->sleeps++;
	task->running = 0;
	task->on_rq = 0;
	wp_class_publish(c);
	return wp_dl_entity_is_special(ct) ? 0 : wp_cpufreq_update_util(ctx, c, now_ns);
}

/* A queued one begins to execute. */
WP_FN int wp_class_run(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL,
		       const struct wp_class_task *ct WP_NONNULL, u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, task->cpu);

	wp_update_rq_clock(c, now_ns);
	wp_class_update(ctx, c);
	c->queue.classes.running = ct->class;
	c->queue.misfit_task_load = 0; /* no fair task runs */
	wp_note_executing(c, task);
	return 0;
}

/* It stops but stays queued. */
WP_FN int wp_class_stop(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL, u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, task->cpu);

	wp_update_rq_clock(c, now_ns);
	wp_class_update(ctx, c);
	wp_class_ran(c, task);
	c->queue.classes.running = WP_CLASS_FAIR;
	task->running = 0;
	return 0;
}

/* The tick of a CPU that runs it. Returns enum wp_event_result bits. */
WP_FN int wp_class_tick(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL, u64 now_ns)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, task->cpu);
	int result = 0;

	wp_update_rq_clock(c, now_ns);
	if (wp_class_update(ctx, c))
		result = wp_cpufreq_update_util(ctx, c, now_ns);
	return result | wp_tick_end(ctx, c, task->cpu, !!c->queue.nr_fair, now_ns);
}
