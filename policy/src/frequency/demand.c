// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What a CPU wants of its frequency domain (docs/rules/capacity.md#schedutil): the demand of all
 * classes, hints, headroom, in the form of today and in the oldest one. freq.c makes a request of
 * it.
 *
 * What must stay: demands are 0..1024, rounded as the kernel rounds. Energy estimates and frequency
 * requests use the same demand: change both or neither. Free: how a form is computed; what it
 * comes to only with its page.
 *
 * Tests by part: (below crates/policy-sys/tests) all/signals_7_3.rs: `schedutil_examples`
 * (`wp_sugov_effective_cpu_perf`, `wp_add_headroom`), `schedutil_inputs` (`wp_effective_cpu_util`,
 * `wp_cpu_util_cfs_boost`), `schedutil_hints`; all/frequency.rs: `schedutil_examples`,
 * `shared_clock_takes_the_maximum` (`wp_freq_util`), `a_schedulers_target_is_the_demand`;
 * all/response_time.rs: `headroom_by_growth`, `response_time` (`wp_sugov_apply_dvfs_headroom`);
 * all/uclamp_sum.rs: `demand_with_biases` (`wp_runnable_boost_uclamp`,
 * `wp_cpu_util_cfs_boost_uclamp`); all/kept.rs: `kept_sums_change_no_answer`
 * (`wp_cpu_freq_demand`); all/response_time.rs: `a_fast_estimate_for_the_frequency_alone`
 * (`wp_sched_cpu_util`, which the idle governor teo reads).
 *
 * Callers: freq.c, all files of energy/, kept_demand.c.
 *
 * Kernel: sugov_effective_cpu_perf(), kernel/sched/cpufreq_schedutil.c; effective_cpu_util(),
 *         sched_cpu_util(), kernel/sched/syscalls.c; cpu_util_cfs_boost(), kernel/sched/fair.c
 * Tests: fixtures/frequency, all/frequency.rs, all/response_time.rs, all/uclamp_sum.rs
 */
#include "wakeplace/policy.h"

/* What a CPU is asked to do, and within which limits it may be served. */
struct wp_demand {
	u32 util;
	u32 min;
	u32 max;
};

/*
 * The demand of a CPU whose fair tasks show `fair`: with the other classes and interrupts
 * (docs/rules/capacity.md#schedutil). Where a kernel beneath runs the deadline class, dl_util
 * stands for its bandwidth. A queued RT task wants all, by the class's own rule or, where hints
 * count, by its default hint.
 */
WP_INLINE struct wp_demand wp_effective_cpu_util(const struct wp_ctx *ctx, const struct wp_cpu *c,
						 u32 fair)
{
	u32 full = c->load.capacity_orig, irq = c->load.irq_util;
	u32 util = fair + c->load.rt_util + c->load.dl_util;
	u32 reserved = WP_SIM(c->queue.classes.kept) ? wp_cpu_bw_dl(c) : c->load.dl_util;
	struct wp_demand d = { full, full, full };

	if (irq >= full)
		return d;
	if (!c->queue.rt_runnable) {
		d.min = wp_max(irq + reserved, wp_uclamp_rq_min(ctx, c));
		d.max = wp_min(full, wp_uclamp_rq_max(ctx, c));
	}
	if (WP_NOT_LIVE(!irq)) /* the same without a division, which most CPUs would make */
		d.util = wp_min(full, util);
	else if (util < full)
		d.util = wp_min(full, (u32)wp_div((u64)util * (full - irq), full) + irq);
	return d;
}

/* 25 % more than `util`, if the mode has headroom: a quarter in whole units. */
WP_INLINE u32 wp_add_headroom(const struct wp_ctx *ctx, u32 util)
{
	return util + (wp_headroom(ctx) ? util >> 2 : 0);
}

/* A CPU's demand with headroom, or what was posted instead (response_time.c). */
WP_INLINE u32 wp_sugov_apply_dvfs_headroom(const struct wp_ctx *ctx, const struct wp_cpu *c,
					   u32 util)
{
#ifndef WP_LIVE
	if (ctx->params.response_time_ms != WP_NONE)
		util = wp_apply_response_time(ctx, c->topo.freq_dom, util);
	if (ctx->params.freq_headroom_growth)
		return wp_headroom(ctx) ? wp_headroom_growth(ctx, c, util) : util;
#else
	(void)c;
#endif
	return wp_add_headroom(ctx, util);
}

/* The performance to run at: 25 % more than the demand, but not more than the limits. */
WP_INLINE u32 wp_sugov_effective_cpu_perf(const struct wp_ctx *ctx, const struct wp_cpu *c,
					  const struct wp_demand *d)
{
	return wp_max(d->min, wp_min(d->max, wp_sugov_apply_dvfs_headroom(ctx, c, d->util)));
}

#ifdef WP_UCLAMP_SUM
/*
 * What a CPU's utilisation within its tasks' hints becomes where time in the queue counts like time
 * on the CPU: as much more as the runnable average is above the utilisation without hints
 * (docs/rules/uclamp-sum.md#uclamp-sum-demand).
 */
WP_FN u32 wp_runnable_boost_uclamp(const struct wp_ctx *ctx WP_NONNULL,
				   const struct wp_cpu *c WP_NONNULL, u32 util)
{
	u64 raw = c->load.avg.util_avg;

	if (ctx->params.runnable_is_load || !ctx->params.runnable_boost || !raw)
		return util;
	return wp_runnable_boost(ctx, util,
				 (u32)wp_div((u64)util * c->load.avg.runnable_avg, raw),
				 wp_rq_urgency(ctx, c));
}

/* The fair class's demand where hints add up. */
WP_FN u32 wp_cpu_util_cfs_boost_uclamp(const struct wp_ctx *ctx WP_NONNULL,
				       const struct wp_cpu *c WP_NONNULL)
{
	u32 util = wp_runnable_boost_uclamp(ctx, c, wp_root_cfs_util_uclamp(c));

	if (ctx->params.util_est_faster)
		util = wp_max(util, wp_util_est_faster(ctx, c));
	return wp_min(wp_max(util, wp_cpu_util_cfs_uclamp(ctx, c)), c->load.capacity_orig);
}
#endif

/* The fair class's demand for speed: time in the queue counts like time on the CPU. A sched_ext
 * scheduler says it itself (docs/rules/sched-ext.md#cpuperf). */
WP_INLINE u32 wp_cpu_util_cfs_boost(const struct wp_ctx *ctx, const struct wp_cpu *c)
{
	u32 util = wp_cpu_util_cfs(ctx, c);

	if (WP_SIM(c->queue.classes.perf_target))
		return wp_min(c->queue.classes.perf_target - 1, c->load.capacity_orig);
#ifdef WP_UCLAMP_SUM
	if (wp_uclamp_sums(ctx))
		return wp_cpu_util_cfs_boost_uclamp(ctx, c);
#endif
	if (WP_NOT_LIVE(ctx->params.util_est_faster && ctx->params.util_est_faster_freq))
		util = wp_max(util, wp_util_est_faster(ctx, c));
	if (!WP_NOT_LIVE(ctx->params.runnable_is_load || !ctx->params.runnable_boost))
		util = wp_runnable_boost(ctx, util, c->load.avg.runnable_avg,
					 wp_rq_urgency(ctx, c));
	return wp_min(util, c->load.capacity_orig);
}

/* What one CPU asks for in the oldest form, on its own capacity scale. */
WP_INLINE u32 wp_freq_util(const struct wp_ctx *ctx, const struct wp_cpu *c)
{
	u32 util = c->load.dl_util;

#ifndef WP_LIVE
	if (ctx->params.freq_other_classes)
		return wp_sugov_get_util_6_7(ctx, c);
#endif
	if (c->queue.nr_fair || ctx->params.blocked_util_in_freq)
		util += wp_max(c->load.avg.util_avg,
			       ctx->params.util_est != WP_UTIL_EST_OFF ? c->load.util_est : 0);
	if (WP_NOT_LIVE(ctx->params.util_est_faster))
		util = wp_max(util, c->load.dl_util + wp_util_est_faster(ctx, c));
	if (WP_SIM(c->queue.classes.kept))
		return wp_class_freq_util(c, util - c->load.dl_util);
	return wp_min(util, c->load.capacity_orig);
}

/* What a CPU asks for in the form in force, without the boost of tasks that wait for I/O. */
WP_INLINE u32 wp_cpu_freq_demand(const struct wp_ctx *ctx, const struct wp_cpu *c)
{
	struct wp_demand d;

	if (!ctx->params.freq_perf_form)
		return wp_freq_util(ctx, c);
	d = wp_effective_cpu_util(ctx, c, wp_cpu_util_cfs_boost(ctx, c));
	return wp_sugov_effective_cpu_perf(ctx, c, &d);
}

#ifndef WP_LIVE
/* How utilised a CPU is, for those outside of the scheduler. */
WP_FN u32 wp_sched_cpu_util(const struct wp_ctx *ctx WP_NONNULL, u32 cpu)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);

	return wp_effective_cpu_util(ctx, c, wp_cpu_util_cfs(ctx, c)).util;
}
#endif
