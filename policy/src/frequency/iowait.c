// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The I/O boost of schedutil (docs/rules/capacity.md#schedutil). A task that waits for a device
 * uses little of its CPU, and a slow CPU keeps the device waiting: each wake-up from such a sleep
 * doubles a floor under the CPU's demand, each frequency update without one halves it.
 *
 *   wake-ups from I/O:   x     x     x     x     .     .     .     .
 *   boost, 5.2 on:      128   256   512   1024  512   256   128    0
 *
 * Before, the boost is a frequency and goes from the lowest to the highest
 * (docs/rules/rt-and-deadline.md#rt-capacity-4-17).
 *
 * What must stay: steps and their times as above; before 5.2 the boost is in kHz. Free: where
 * the boost is kept.
 *
 * Tests by part: (below crates/policy-sys/tests) all/classes.rs: `io_boost_sequence`
 * (`wp_sugov_iowait_boost`, `wp_sugov_iowait_apply`), `io_boost_is_forgotten_after_a_tick`
 * (`wp_sugov_iowait_reset`, `wp_io_update`), `io_boost_is_a_floor` (`wp_io_floors`),
 * `io_boost_of_4_17_is_a_frequency` (`wp_io_range`), `io_wakeup_asks_at_once`; all/forms_by_era.rs:
 * `hints_bound_the_boost`, `the_boost_of_5_0_begins_anew`.
 *
 * Callers: `wp_sugov_iowait_boost`: enqueues (rq.c, task_group.c, rt_dl_irq.c, on_state.c); the
 * rest: `wp_sugov_update_shared` (freq.c).
 *
 * Kernel: sugov_iowait_boost(), sugov_iowait_reset(), sugov_iowait_apply(),
 *         kernel/sched/cpufreq_schedutil.c
 * Tests: all/classes.rs
 */
#include "wakeplace/policy.h"

#define WP_IO_BOOST_MIN 128u

/* First step and top of the boost in the era's unit. */
struct wp_io_range {
	u32 first;
	u32 top;
};

/* First and last value of a boost: utilisation, or kHz before 5.2. */
WP_INLINE struct wp_io_range wp_io_range(const struct wp_ctx *ctx, const struct wp_cpu *c)
{
	const struct wp_freq_dom *fd = WP_AT(ctx->freq_doms, c->topo.freq_dom);
	struct wp_io_range r = { WP_IO_BOOST_MIN, WP_SCALE };

	if (ctx->params.iowait_boost != WP_IOWAIT_UTIL) {
		r.first = *WP_AT(ctx->opp_khz, fd->first_opp);
		r.top = *WP_AT(ctx->opp_khz, fd->first_opp + fd->nr_opps - 1);
	}
	return r;
}

/* More than a tick without an update of this CPU: the boost starts anew. Returns 1 if so. */
WP_INLINE int wp_sugov_iowait_reset(const struct wp_ctx *ctx, struct wp_class_cpu *k, u64 now_ns,
				    u32 restart)
{
	if (wp_sub(now_ns, k->io_stamp_ns) <= ctx->tick_ns)
		return 0;
	k->io_boost = restart;
	k->io_pending = !!restart;
	return 1;
}

/* A task joins `c` whose sleep waited for I/O: once per update the boost rises. */
WP_FN int wp_sugov_iowait_boost(struct wp_ctx *ctx WP_NONNULL, struct wp_cpu *c WP_NONNULL,
				u64 now_ns)
{
	struct wp_class_cpu *k = &c->queue.classes;
	struct wp_io_range r = wp_io_range(ctx, c);
	u32 restart = ctx->params.iowait_boost == WP_IOWAIT_FREQ ? 0 : r.first;

	if (ctx->params.governor != WP_GOV_SCHEDUTIL || ctx->params.iowait_boost == WP_IOWAIT_OFF)
		return 0;
	WP_AT(ctx->freq_doms, c->topo.freq_dom)->io_boosted = 1;
	/* 4.17 forgets an old boost only in updates without a request. */
	if (!(k->io_boost && restart && wp_sugov_iowait_reset(ctx, k, now_ns, restart)) &&
	    !k->io_pending) {
		k->io_pending = 1;
		k->io_boost = k->io_boost ? wp_min(k->io_boost << 1, r.top) : r.first;
	}
	k->io_stamp_ns = now_ns;
	return 1;
}

/* Any other update of a CPU with a boost. */
WP_FN int wp_io_update(struct wp_ctx *ctx WP_NONNULL, struct wp_cpu *c WP_NONNULL, u64 now_ns)
{
	wp_sugov_iowait_reset(ctx, &c->queue.classes, now_ns, 0);
	c->queue.classes.io_stamp_ns = now_ns;
	return 0;
}

/* The governor uses a CPU's boost: without a new request it halves. Returns the floor. */
WP_INLINE u32 wp_sugov_iowait_apply(const struct wp_ctx *ctx, struct wp_cpu *c, u64 now_ns)
{
	struct wp_class_cpu *k = &c->queue.classes;
	struct wp_io_range r = wp_io_range(ctx, c);
	u32 floor;

	if (!k->io_boost || wp_sugov_iowait_reset(ctx, k, now_ns, 0))
		return 0;
	if (!k->io_pending) {
		k->io_boost >>= 1;
		if (k->io_boost < r.first)
			k->io_boost = 0;
	}
	k->io_pending = 0;
	floor = (u32)wp_div((u64)k->io_boost * c->load.capacity_orig, r.top);
	/* Hints bound the boost, too (5.17). From 6.8 on they bound all that is asked for. */
	return ctx->params.freq_perf_form ? floor : wp_uclamp_rq_util_with_6_7(ctx, c, floor, 0);
}

/* I/O boosts as floors of all CPUs of a domain, before it is asked what it needs. */
WP_FN int wp_io_floors(struct wp_ctx *ctx WP_NONNULL, struct wp_freq_dom *fd WP_NONNULL, u64 now_ns)
{
	u32 i, any = 0;

	WP_FOR(i, fd->nr_cpus, WP_MAX_CPUS) {
		struct wp_cpu *c = WP_AT(ctx->cpus, *WP_AT(ctx->list, fd->first_cpu + i));

		c->queue.classes.io_floor = wp_sugov_iowait_apply(ctx, c, now_ns);
		any |= c->queue.classes.io_boost;
	}
	fd->io_boosted = !!any;
	return 0;
}
