// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Frequency requests: schedutil and the two fixed governors (docs/rules/capacity.md#schedutil,
 * docs/rules/energy-aware.md#util-to-freq).
 *
 * A request is recorded in the frequency domain. The home takes it (wp_freq_taken), applies it
 * after the hardware's latency and reports back (wp_freq_applied). To 4.17 nothing is asked for in
 * between; later another request is told once the last was taken. Where the kernel sets the
 * frequencies itself (freq_external), it is told of each CPU's demand instead.
 *
 * What must stay: one request at a time is told per domain; calls that may ask return WP_DID_FREQ,
 * and a home carries that out. Frequencies are kHz. Free: how a request is kept; what is
 * asked for, and when, only with the page.
 *
 * Tests by part: (below crates/policy-sys/tests) all/frequency.rs: `utilisation_to_frequency`
 * (`wp_map_freq`, `wp_map_util_freq`), `rate_limit_values` (`wp_rate_limit_us`),
 * `rate_limit_holds_back`, `a_kept_state_serves_the_demand` (`wp_sugov_update_shared`),
 * `busy_lone_cpu_does_not_slow_down` (`wp_sugov_hold_freq`), `a_cap_below_all_efficient_states`
 * (`wp_opp_for`, `wp_opp_khz`, `wp_opp_at_least`, `wp_efficient_within`),
 * `full_speed_is_a_request_too` (`wp_freq_full`), `fixed_governors`,
 * `a_request_counts_while_another_is_made` (`wp_freq_taken`, `wp_freq_applied`,
 * `wp_sugov_deferred_update`), `shared_clock_takes_the_maximum` (`wp_most_demand`,
 * `wp_sugov_next_freq_shared`); all/classes.rs: `io_boost_is_a_floor` (`wp_boosted_demand`);
 * all/forms_by_era.rs: `a_capped_cpu_slows_down` (`wp_uclamp_rq_is_capped`); all/signals_7_3.rs:
 * `external_frequencies`, `external_requests_lead_to_the_hints` (`wp_freq_report`,
 * `wp_perf_request`, `wp_cpu_perf_request`); `wp_topology_set_freq_scale` by `wp_freq_applied`, and
 * by engine/tests/behaviour/clocks.rs where nobody asked for a clock.
 *
 * Callers: `wp_cpufreq_update_util`: every event that changes a CPU's signals (rq.c, task_group.c,
 * delayed.c, rt_dl_irq.c); the rest: crates/policy-sys/src/classes.rs.
 *
 * Kernel: sugov_next_freq_shared(), sugov_update_shared(), sugov_hold_freq(),
 *         kernel/sched/cpufreq_schedutil.c; cpufreq_update_util(), kernel/sched/sched.h;
 *         map_util_freq(), include/linux/sched/cpufreq.h
 * Tests: fixtures/frequency, all/frequency.rs
 */
#include "wakeplace/policy.h"

/*
 * To 5.13 the headroom of 25 % is part of the mapping: the frequency at which `util` fills 80 % of
 * the CPU. May exceed max_khz.
 */
WP_INLINE u32 wp_map_freq(u32 util, u32 max_khz, u32 capacity)
{
	return (u32)wp_div((u64)(max_khz + (max_khz >> 2)) * util, capacity);
}

/* For tests and observers, the mapping by itself. */
WP_FN u32 wp_map_util_freq(u32 util, u32 max_khz, u32 capacity)
{
	return wp_map_freq(util, max_khz, capacity);
}

/* The frequency of an operating point of the domain. */
WP_INLINE u32 wp_opp_khz(const struct wp_ctx *ctx, const struct wp_freq_dom *fd, u32 opp)
{
	return *WP_AT(ctx->opp_khz, fd->first_opp + opp);
}

/* Lowest operating point of at least `khz`, else the highest; none of those to skip. */
WP_INLINE u32 wp_opp_at_least(const struct wp_ctx *ctx, const struct wp_freq_dom *fd, u32 khz,
			      u64 skip)
{
	u32 i, opp = fd->nr_opps - 1;

	WP_FOR(i, fd->nr_opps, WP_MAX_STATES) {
		if ((skip >> i) & 1)
			continue;
		if (wp_opp_khz(ctx, fd, i) >= khz) {
			opp = i;
			break;
		}
	}
	return opp;
}

/* Is there an efficient point of at least `khz` among those up to `last`? */
WP_INLINE int wp_efficient_within(const struct wp_ctx *ctx, const struct wp_freq_dom *fd, u32 khz,
				  u32 last)
{
	u64 efficient = ~fd->inefficient_opps & (~0ull >> (63 - (last & 63)));

	return efficient &&
	       wp_opp_khz(ctx, fd, 63 - (u32)__builtin_clzll(efficient)) >= khz;
}

/*
 * The point that a request for `khz` leads to (cpufreq_frequency_table_target()). Efficient ones go
 * first. If that leads above a limit, all others are looked at, too: it is no use to skip a point
 * for one that may not be used (6.9, and taken into the stable kernels from 5.16 on).
 */
WP_INLINE u32 wp_opp_for(const struct wp_ctx *ctx, const struct wp_freq_dom *fd, u32 khz)
{
	u64 skip = WP_NOT_LIVE(!ctx->params.freq_skip_inefficient) ? 0 : fd->inefficient_opps;
	u32 last = fd->nr_opps - 1 - fd->cut_opps;

	if (!WP_SIM(fd->cut_opps))
		return wp_opp_at_least(ctx, fd, khz, skip);
	if (!wp_efficient_within(ctx, fd, khz, last))
		skip = 0;
	return wp_min(wp_opp_at_least(ctx, fd, khz, skip), last);
}

/* Smallest time between two frequency changes, from the parameters or by the era's own rule. */
WP_FN u32 wp_rate_limit_us(const struct wp_ctx *ctx WP_NONNULL, u32 freq_dom)
{
	u64 us = WP_AT(ctx->freq_doms, freq_dom)->transition_latency_us;

	if (ctx->params.rate_limit_us != WP_NONE)
		return ctx->params.rate_limit_us;
	if (!us)
		return 1000;
	us = us * ctx->params.rate_limit_multiplier +
	     us * ctx->params.rate_limit_extra_percent / 100;
	return (u32)wp_min64(us, ctx->params.rate_limit_cap_us);
}

/* What a CPU asks for with the boost that it has while tasks wait for I/O. */
WP_INLINE u32 wp_boosted_demand(const struct wp_ctx *ctx, const struct wp_freq_dom *fd,
				const struct wp_cpu *c)
{
	u32 floor = WP_SIM(fd->io_boosted) ? c->queue.classes.io_floor : 0;
	struct wp_demand d;

	if (!ctx->params.freq_perf_form)
		return wp_max(wp_freq_util(ctx, c), floor);
	d = wp_effective_cpu_util(ctx, c, wp_cpu_util_cfs_boost(ctx, c));
	d.util = wp_max(d.util, floor);
	return wp_sugov_effective_cpu_perf(ctx, c, &d);
}

/* The demand of the domain's most demanding CPU. */
WP_INLINE u32 wp_most_demand(const struct wp_ctx *ctx, const struct wp_freq_dom *fd)
{
	u32 i, most = 0;

	WP_FOR(i, fd->nr_cpus, WP_MAX_CPUS) {
		u32 cpu = *WP_AT(ctx->list, fd->first_cpu + i);

		most = wp_max(most, wp_boosted_demand(ctx, fd, WP_AT(ctx->cpus, cpu)));
	}
	return most;
}

/* The wish of domain `index`, by its most demanding CPU, in kHz; may exceed the highest. */
WP_INLINE u32 wp_sugov_next_freq_shared(const struct wp_ctx *ctx, u32 index, u32 capacity)
{
	const struct wp_freq_dom *fd = WP_AT(ctx->freq_doms, index);
	u32 max_khz = wp_opp_khz(ctx, fd, fd->nr_opps - 1), most;

#ifdef WP_KEEPS
	if (wp_keeps_demand(ctx, fd)) {
		most = wp_kept_demand(ctx, index);
		WP_CHECK_KEPT("demand of a frequency domain", index, most,
			      wp_most_demand(ctx, fd));
	} else
#endif
		most = wp_most_demand(ctx, fd);
	if (WP_NOT_LIVE(!ctx->params.freq_perf_form)) {
		if (!ctx->params.freq_headroom_on_util)
			return wp_map_freq(most, max_khz, capacity);
		most = wp_add_headroom(ctx, most);
	}
	return (u32)wp_div((u64)max_khz * most, capacity);
}

/*
 * The fair class's demand on a CPU as a kernel's schedutil is to see it, 0..1024. That adds RT,
 * deadline and interrupt time and the headroom; the hints of tasks it does not know, so the
 * request is bounded to where the headroom leads to them.
 */
WP_INLINE u32 wp_perf_request(const struct wp_ctx *ctx, const struct wp_cpu *c)
{
	u32 util = wp_cpu_util_cfs_boost(ctx, c);
	u32 min = wp_uclamp_rq_min(ctx, c), max = wp_uclamp_rq_max(ctx, c);

	if (wp_governor(ctx) != WP_GOV_SCHEDUTIL)
		return wp_governor(ctx) == WP_GOV_PERFORMANCE ? WP_SCALE : 0;
	if (!wp_headroom(ctx)) /* it will be added: take it back before */
		util = util * 4 / 5;
	if (max < WP_SCALE)
		util = wp_min(util, max * 4 / 5);
	return wp_max(util, wp_min((min * 4 + 4) / 5, c->load.capacity_orig));
}

/* A CPU's performance request (wp_perf_request), for the home. */
WP_FN u32 wp_cpu_perf_request(const struct wp_ctx *ctx WP_NONNULL, u32 cpu)
{
	return wp_perf_request(ctx, WP_AT(ctx->cpus, cpu));
}

/* What is queued uses all that a uclamp_max allows (5.17). */
WP_INLINE int wp_uclamp_rq_is_capped(const struct wp_ctx *ctx, const struct wp_cpu *c)
{
	u32 max;

	if (!ctx->params.uclamp)
		return 0;
	max = wp_uclamp_rq_max(ctx, c);
	return max != WP_SCALE && wp_cpu_util_cfs(ctx, c) + c->load.rt_util >= max;
}

/* A lone CPU that has not been idle since the last update does not slow down, unless a hint or a
 * sched_ext scheduler says how fast it is to be. */
WP_INLINE int wp_sugov_hold_freq(const struct wp_ctx *ctx, struct wp_freq_dom *fd,
				 const struct wp_cpu *c)
{
	int busy;

	if (fd->nr_cpus != 1 || WP_SIM(c->queue.classes.perf_target) ||
	    wp_uclamp_rq_is_capped(ctx, c))
		return 0;
	busy = fd->saved_idle_calls == c->idle.idle_calls;
	fd->saved_idle_calls = c->idle.idle_calls;
	return busy;
}

/* The kernel sets the frequencies: report a demand that changed. */
WP_FN int wp_freq_report(const struct wp_ctx *ctx WP_NONNULL, struct wp_cpu *c WP_NONNULL)
{
	u32 request = wp_perf_request(ctx, c);

	if (request == c->load.perf_request)
		return 0;
	c->load.perf_request = request;
	return WP_DID_FREQ;
}

/* Who carries requests out is told of the new one, or finds it instead of the one before. */
WP_INLINE int wp_sugov_deferred_update(struct wp_freq_dom *fd)
{
	u32 told = fd->in_progress;

	fd->in_progress = 1;
	return told ? 0 : WP_DID_FREQ;
}

#ifndef WP_LIVE
/* Who carries the domain's request out takes it: from now on another one can be made. */
WP_FN int wp_freq_taken(struct wp_ctx *ctx WP_NONNULL, u32 freq_dom)
{
	struct wp_freq_dom *fd = WP_AT(ctx->freq_doms, freq_dom);

	fd->limited_late = 0;
	if (ctx->params.freq_update_in_progress)
		fd->in_progress = 0;
	return 0;
}
#endif

/* The highest point that may be used is asked for, and stays so. */
WP_INLINE int wp_freq_full(struct wp_freq_dom *fd, u64 now_ns)
{
	u32 cut = WP_SIM(fd->cut_opps) ? fd->cut_opps : 0;

	if (fd->in_progress || !fd->nr_opps || fd->next_opp == fd->nr_opps - 1 - cut)
		return 0;
	fd->next_opp = fd->nr_opps - 1 - cut;
	fd->last_update_ns = now_ns;
	fd->last_raw_khz = WP_NONE;
	return wp_sugov_deferred_update(fd);
}

/* The core sets them: see whether the CPU's domain needs another operating point. */
WP_FN int wp_sugov_update_shared(struct wp_ctx *ctx WP_NONNULL, struct wp_cpu *c WP_NONNULL,
				 u64 now_ns)
{
	struct wp_freq_dom *fd = WP_AT(ctx->freq_doms, c->topo.freq_dom);
	int forced = WP_SIM(fd->limits_changed); /* a limit, or more deadline bandwidth */
	u32 raw, opp, busy;

	if (WP_SIM(c->queue.classes.io_boost))
		wp_io_update(ctx, c, now_ns);
	if (wp_governor(ctx) == WP_GOV_PERFORMANCE)
		return wp_freq_full(fd, now_ns);
	if (wp_governor(ctx) != WP_GOV_SCHEDUTIL || !fd->nr_opps)
		return 0;
	if (fd->in_progress & (WP_SIM(ctx->params.freq_update_in_progress) ^ 1))
		return 0;
	if (fd->updated_once && !forced &&
	    (s64)(now_ns - fd->last_update_ns) < /* clocks of CPUs are apart */
		    (s64)wp_rate_limit_us(ctx, c->topo.freq_dom) * 1000)
		return 0;
	busy = (u32)wp_sugov_hold_freq(ctx, fd, c); /* moves its mark */
	if (WP_SIM(fd->io_boosted))
		wp_io_floors(ctx, fd, now_ns);
	if (forced)
		fd->limits_changed = 0;
#ifdef WP_KEEPS
	wp_kept_touch(ctx, (u32)(c - ctx->cpus));
#endif
	raw = wp_sugov_next_freq_shared(ctx, c->topo.freq_dom, c->load.capacity_orig);
	if (raw == fd->last_raw_khz && fd->updated_once && !forced)
		return 0;
	fd->last_raw_khz = raw;
	opp = wp_opp_for(ctx, fd, raw);
	if (opp < fd->next_opp && busy && !forced) {
		fd->last_raw_khz = WP_NONE; /* look again next time */
		return 0;
	}
	if (opp == fd->next_opp)
		return 0;
	fd->next_opp = opp;
	fd->last_update_ns = now_ns;
	fd->updated_once = 1;
	return wp_sugov_deferred_update(fd);
}

/*
 * Called where a CPU's signals changed. Returns WP_DID_FREQ if the domain has a new request, or
 * the CPU has one under freq_external.
 */
WP_INLINE int wp_cpufreq_update_util(struct wp_ctx *ctx, struct wp_cpu *c, u64 now_ns)
{
	if (WP_NOT_LIVE(!ctx->freq_external)) /* live the kernel always does */
		return wp_sugov_update_shared(ctx, c, now_ns);
	return ctx->freq_schedutil ? wp_freq_report(ctx, c) : 0; /* no other governor listens */
}

/* The hardware runs the domain at `opp` from now on, whether or not that was asked for. */
WP_FN int wp_topology_set_freq_scale(struct wp_ctx *ctx WP_NONNULL, u32 freq_dom, u32 opp)
{
	struct wp_freq_dom *fd = WP_AT(ctx->freq_doms, freq_dom);
	u64 max_khz = wp_opp_khz(ctx, fd, fd->nr_opps - 1);
	u32 i;

	fd->cur_opp = opp;
	WP_FOR(i, fd->nr_cpus, WP_MAX_CPUS) {
		u32 cpu = *WP_AT(ctx->list, fd->first_cpu + i);

		WP_AT(ctx->cpus, cpu)->load.freq_scale =
			(u32)wp_div((u64)wp_opp_khz(ctx, fd, opp) * WP_SCALE, max_khz);
#ifndef WP_LIVE
		wp_mc_freq(ctx, cpu, wp_opp_khz(ctx, fd, opp));
#endif
	}
	return 0;
}

/*
 * The request that was taken is carried out: the hardware runs at `opp`. Returns WP_DID_FREQ if a
 * limit has moved the request on since.
 */
WP_FN int wp_freq_applied(struct wp_ctx *ctx WP_NONNULL, u32 freq_dom, u32 opp)
{
	struct wp_freq_dom *fd = WP_AT(ctx->freq_doms, freq_dom);
	int late = WP_SIM(fd->limited_late);

	wp_topology_set_freq_scale(ctx, freq_dom, opp);
	if (!WP_SIM(ctx->params.freq_update_in_progress))
		fd->in_progress = (u32)late;
	fd->limited_late = 0;
	return late ? WP_DID_FREQ : 0;
}
