// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The arithmetic of load tracking (docs/rules/signals.md#pelt).
 *
 * A signal is a sum of contributions of 1024 us periods, each period worth y times the next, y^32
 * = 1/2:
 *
 *            ^                       ^                       ^
 *            |<- d1 ->|<- p - 1 full periods ->|<----- d3 -->|
 *   ... ---x-|--------|--- ... ----------------|-------------|---> now
 *          last update
 *
 *   sum' = sum * y^p + d1 * y^p + 1024 * (y + ... + y^(p-1)) + d3
 *
 * The averages are written only when a period boundary is crossed: a first run of 0.8 ms leaves 0.
 *
 * What must stay: all integers to the last bit: tests/all/pelt_vectors.rs and kernel_truth.rs have
 * values of kernels. Sums count us, averages 0..1024. Free: how a step is made fast;
 * wp_avg_step and wp_update_load_sum stay equal in all they give.
 *
 * Tests by part: (below crates/policy-sys/tests) all/pelt_vectors.rs: `inverse_table`,
 * `decay_load_rows` (`wp_decay`, `wp_decay_load`), `segments_rows` (`wp_accumulate_pelt_segments`),
 * `ramp_rows`, `decay_rows`, `periodic_5pct_rows` (`wp_avg_step`, `wp_update_load_sum`,
 * `wp_avg_add`, `wp_avg_write`, `wp_get_pelt_divider`); all/kernel_truth.rs:
 * `every_recorded_update_is_reproduced` (all of a step, against Linux 7.3.4); all/response_time.rs:
 * `the_half_life_of_all_signals` (`wp_pelt_unit`); all/signals.rs:
 * `migrated_sleepers_leave_nothing` (`wp_util_take_off`).
 *
 * Callers: signals.c, task_group_signals.c and rt_dl_irq.c step; crates/policy-sys/src/arith.rs for
 * tests.
 *
 * Kernel: decay_load(), __accumulate_pelt_segments(), ___update_load_sum(), ___update_load_avg()
 *         as wp_avg_write(), kernel/sched/pelt.c; get_pelt_divider(), kernel/sched/pelt.h
 * Tests: all/pelt_vectors.rs, all/kernel_truth.rs, fixtures/signals
 */
#include "wakeplace/policy.h"

#define WP_PERIOD_US 1024u
#define WP_LOAD_AVG_MAX 47742u
#define WP_MIN_DIVIDER (WP_LOAD_AVG_MAX - WP_PERIOD_US)
#define WP_HALF_LIFE 32u

/* floor((2^32 - 1) * y^n) */
static const u32 wp_y_inv[WP_HALF_LIFE] = {
	0xffffffff, 0xfa83b2da, 0xf5257d14, 0xefe4b99a, 0xeac0c6e6, 0xe5b906e6,
	0xe0ccdeeb, 0xdbfbb796, 0xd744fcc9, 0xd2a81d91, 0xce248c14, 0xc9b9bd85,
	0xc5672a10, 0xc12c4cc9, 0xbd08a39e, 0xb8fbaf46, 0xb504f333, 0xb123f581,
	0xad583ee9, 0xa9a15ab4, 0xa5fed6a9, 0xa2704302, 0x9ef5325f, 0x9b8d39b9,
	0x9837f050, 0x94f4efa8, 0x91c3d373, 0x8ea4398a, 0x8b95c1e3, 0x88980e80,
	0x85aac367, 0x82cd8698,
};

/* `value` * y^periods; 0 beyond 63 half-lives. */
WP_INLINE u64 wp_decay(u64 value, u64 periods)
{
	u64 inv;

	if (periods > (u64)WP_HALF_LIFE * 63)
		return 0;
	if (periods >= WP_HALF_LIFE)
		value >>= periods / WP_HALF_LIFE;
	inv = *WP_AT(wp_y_inv, periods % WP_HALF_LIFE);
	/* 64 x 32 bits, shifted right by 32, without a 128-bit product. */
	return (value >> 32) * inv + (((value & 0xffffffffu) * inv) >> 32);
}

/* value * y^periods; 0 beyond 63 half-lives. */
WP_FN u64 wp_decay_load(u64 value, u64 periods)
{
	return wp_decay(value, periods);
}

/*
 * Contribution of a span: d1 of its first period, full periods, d3 of its last
 * (docs/rules/signals.md#pelt-segments).
 */
WP_FN u32 wp_accumulate_pelt_segments(u32 periods, u32 d1, u32 d3)
{
	u32 first = (u32)wp_decay(d1, periods);
	u32 full = WP_LOAD_AVG_MAX - (u32)wp_decay(WP_LOAD_AVG_MAX, periods) - WP_PERIOD_US;

	return first + full + d3;
}

/* What a sum is at most by now: averages are divided by it. */
WP_INLINE u32 wp_get_pelt_divider(const struct wp_sched_avg *avg)
{
	return WP_MIN_DIVIDER + avg->period_contrib;
}

/* Take a part of the utilisation out of averages; the sum keeps at least its average's worth. */
WP_INLINE void wp_util_take_off(struct wp_sched_avg *a, u64 util)
{
	a->util_avg = (u32)wp_sub(a->util_avg, util);
	a->util_sum = wp_max64(wp_sub(a->util_sum, util * wp_get_pelt_divider(a)),
			       (u64)a->util_avg * WP_MIN_DIVIDER);
}

/* The averages from their sums, as after a crossed boundary. */
WP_INLINE void wp_avg_write(struct wp_sched_avg *avg, const struct wp_pelt_step *step)
{
	u32 div = wp_get_pelt_divider(avg);
	u64 runnable = avg->runnable_sum * (step->runnable_is_load ? step->weight : 1);

	avg->load_avg = (u32)wp_div(step->weight * avg->load_sum, div);
	avg->runnable_avg = (u32)wp_div(runnable, div);
	avg->util_avg = (u32)wp_div(avg->util_sum, div);
}

/* `contrib` us of a span in which nothing of the step changed. */
WP_INLINE void wp_avg_add(struct wp_sched_avg *avg, const struct wp_pelt_step *step, u64 contrib)
{
	contrib = (contrib * step->scale_freq) >> 10;
	avg->load_sum += step->load * contrib;
	avg->runnable_sum += (step->runnable * contrib) << (step->runnable_is_load ? 0 : 10);
	if (step->running)
		avg->util_sum += contrib * step->scale_cpu;
}

/* A unit of PELT's time is 1 << this ns: 1024, less with a shorter half-life
 * (docs/rules/response-time.md#pelt-half-life). */
WP_INLINE u32 wp_pelt_unit(const struct wp_pelt_step *step)
{
	return 10 - WP_NOT_LIVE(step->half_life);
}

/*
 * One update step (docs/rules/signals.md#pelt-update). Returns 1 if a period boundary was crossed:
 * averages written.
 */
WP_FN int wp_update_load_sum(struct wp_sched_avg *avg WP_NONNULL,
			     const struct wp_pelt_step *step WP_NONNULL)
{
	u64 delta, periods, contrib;
	u32 rest;

	if (step->now_ns < avg->last_update_ns) {
		avg->last_update_ns = step->now_ns;
		return 0;
	}
	delta = (step->now_ns - avg->last_update_ns) >> wp_pelt_unit(step);
	if (!delta)
		return 0;
	avg->last_update_ns += delta << wp_pelt_unit(step);

	contrib = delta;
	delta += avg->period_contrib;
	periods = delta / WP_PERIOD_US;
	rest = (u32)(delta % WP_PERIOD_US);
	if (periods) {
		avg->load_sum = wp_decay(avg->load_sum, periods);
		avg->runnable_sum = wp_decay(avg->runnable_sum, periods);
		avg->util_sum = wp_decay(avg->util_sum, periods);
		if (step->load) /* beyond 2016 periods every term has decayed alike */
			contrib = wp_accumulate_pelt_segments((u32)wp_min64(periods, 4096),
							      WP_PERIOD_US - avg->period_contrib,
							      rest);
	}
	avg->period_contrib = rest;

	if (step->load)
		wp_avg_add(avg, step, contrib);
	if (!periods)
		return 0;
	wp_avg_write(avg, step);
	return 1;
}

/*
 * The same where it is called most, at every switch: within a period, which most steps are, there
 * is nothing but the sums to add to, and no call. Nothing at all if no time has passed: a task that
 * goes to an idle CPU is queued and begins to run at one moment.
 */
WP_SMALL_FN int wp_avg_step(struct wp_sched_avg *avg WP_NONNULL,
			    const struct wp_pelt_step *step WP_NONNULL)
{
	struct wp_pelt_step whole;
	u64 delta;

	if (step->now_ns >= avg->last_update_ns) {
		delta = (step->now_ns - avg->last_update_ns) >> wp_pelt_unit(step);
		if (!delta)
			return 0;
		if (delta + avg->period_contrib < WP_PERIOD_US) {
			avg->last_update_ns += delta << wp_pelt_unit(step);
			avg->period_contrib += (u32)delta;
			if (step->load)
				wp_avg_add(avg, step, delta);
			return 0;
		}
	}
	whole = *step; /* only a copy leaves the registers */
	return wp_update_load_sum(avg, &whole);
}
