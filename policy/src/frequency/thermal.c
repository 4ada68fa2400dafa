// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What a thermal governor does with the frequency of what it cools: steps, as the kernel's
 * step_wise (its rule as it documents it, docs/guide/model.md). At each look, against the last one:
 *
 *   at the trip point or above   warmer: one step more; otherwise none
 *   below, by the hysteresis     colder: one step less; otherwise none
 *   between                      as before: above until it falls below both
 *
 * A step is one operating point less. Natively only: in a live system the kernel does it.
 *
 * What must stay: temperatures in thousandths of a degree, delays ms; the home carries steps out as
 * limits. Free: the steps, with docs/guide/model.md.
 *
 * Tests by part: (below crates/policy-sys/tests) all/thermal.rs: `looks_one_after_the_other`
 * (`wp_thermal_look`, `wp_thermal_delay_ms`), `a_cap_for_heat_is_thermal_pressure`
 * (`wp_thermal_pressure`).
 *
 * Callers: crates/policy-sys/src/thermal.rs.
 *
 * Kernel: step_wise_throttle() as wp_thermal_look(), drivers/thermal/gov_step_wise.c
 * Tests: all/thermal.rs
 */
#include "wakeplace/policy.h"

/* Looks at a zone. Returns 1 if the number of steps changed. */
WP_FN int wp_thermal_look(struct wp_thermal *t WP_NONNULL, s32 millic)
{
	s32 last = t->last_millic;
	u32 steps = t->steps;

	if (millic >= t->trip_millic)
		t->over = 1;
	else if (millic < t->trip_millic - t->hysteresis_millic)
		t->over = 0;
	t->last_millic = millic;
	if (t->over && millic >= t->trip_millic && millic > last)
		t->steps = wp_min(steps + 1, t->max_steps);
	else if (!t->over && millic < last)
		t->steps = (u32)wp_sub(steps, 1);
	return t->steps != steps;
}

/* Until the next look, ms: the passive delay while it cools or is above, else the other. */
WP_FN u32 wp_thermal_delay_ms(const struct wp_thermal *t WP_NONNULL)
{
	return t->over || t->steps ? t->passive_ms : t->polling_ms;
}

/*
 * Zones leave a frequency domain its operating points up to `max_opp`: what that takes away is the
 * thermal pressure that 5.7 to 6.9 looked at. The limit itself, and the pressure since 6.10:
 * wp_freq_limit.
 */
WP_FN int wp_thermal_pressure(struct wp_ctx *ctx WP_NONNULL, u32 freq_dom, u32 max_opp)
{
	const struct wp_freq_dom *fd = WP_AT(ctx->freq_doms, freq_dom);
	u32 i, khz, max_khz;

	if (!fd->nr_opps)
		return 0;
	khz = wp_opp_khz(ctx, fd, wp_min(max_opp, fd->nr_opps - 1));
	max_khz = wp_opp_khz(ctx, fd, fd->nr_opps - 1);
	WP_FOR(i, fd->nr_cpus, WP_MAX_CPUS) {
		struct wp_cpu *c = WP_AT(ctx->cpus, *WP_AT(ctx->list, fd->first_cpu + i));

		c->load.thermal_pressure = c->load.capacity_orig -
				      (u32)wp_div((u64)c->load.capacity_orig * khz, max_khz);
	}
	return 0;
}
