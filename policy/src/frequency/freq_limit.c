// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A limit of a frequency domain's range, as firmware, cooling or a user sets it
 * (docs/rules/capacity.md#capacity-of): the governor stays below it at once, and from 6.10 on what
 * it takes away is missing from the CPUs' capacity and from the energy model.
 *
 * What must stay: a limit is a position of an operating point; what it takes away is missing in
 * capacity and energy model at once. Free: how the request is moved; kilohertz and points
 * with freq.c.
 *
 * Tests by part: (below crates/policy-sys/tests) all/classes.rs: `a_limit_is_pressure`
 * (`wp_freq_limit`, `wp_cpufreq_update_pressure`); all/frequency.rs:
 * `limits_and_changes_under_way`, `a_limit_counts_after_the_change_under_way`,
 * `changed_limits_are_heeded_at_once` (`wp_freq_limit`). `wp_limit_model` has no test of its own:
 * engine/tests/behaviour/classes.rs (`a_cap_holds_while_it_lasts`) only runs it.
 *
 * Callers: `Core::freq_limit` (crates/policy-sys/src/classes.rs) for caps and heat of a run,
 * hotplug.rs beside it.
 *
 * Kernel: cpufreq_update_pressure(), drivers/cpufreq/cpufreq.c, 6.10 on
 * Tests: all/classes.rs
 */
#include "wakeplace/policy.h"

/* Capacity below the limit: orig - orig * limit / highest, 0 without one. */
WP_INLINE void wp_cpufreq_update_pressure(struct wp_ctx *ctx, const struct wp_freq_dom *fd, u32 khz,
					  u32 max_khz)
{
	u32 i;

	WP_FOR(i, fd->nr_cpus, WP_MAX_CPUS) {
		struct wp_cpu *c = WP_AT(ctx->cpus, *WP_AT(ctx->list, fd->first_cpu + i));

		c->load.pressure = c->load.capacity_orig -
			      (u32)wp_div((u64)c->load.capacity_orig * khz, max_khz);
	}
}

/* The energy model's states above the limit are not for use; a model with other frequencies than
 * the hardware's keeps all. */
WP_INLINE void wp_limit_model(struct wp_ctx *ctx, const struct wp_freq_dom *fd, u32 khz)
{
	u32 pd = WP_AT(ctx->cpus, *WP_AT(ctx->list, fd->first_cpu))->topo.perf_dom;

	if (pd == WP_NONE)
		return;
	(void)wp_em_update_performance_limits(
		ctx, pd, wp_em_perf_table(WP_AT(ctx->perf_doms, pd))->state[0].khz, khz);
}

/* The domain may use its operating points up to `max_opp` only. Returns WP_DID_FREQ if it has to
 * leave its present one. */
WP_FN int wp_freq_limit(struct wp_ctx *ctx WP_NONNULL, u32 freq_dom, u32 max_opp, u64 now_ns)
{
	struct wp_freq_dom *fd = WP_AT(ctx->freq_doms, freq_dom);
	u32 khz, wanted;

	if (!fd->nr_opps)
		return 0;
	max_opp = wp_min(max_opp, fd->nr_opps - 1);
	khz = wp_opp_khz(ctx, fd, max_opp);
	fd->cut_opps = fd->nr_opps - 1 - max_opp;
	fd->limits_changed = 1;
	if (ctx->params.freq_pressure) {
		wp_cpufreq_update_pressure(ctx, fd, khz, wp_opp_khz(ctx, fd, fd->nr_opps - 1));
		wp_limit_model(ctx, fd, khz);
	}
	wanted = wp_governor(ctx) == WP_GOV_PERFORMANCE ? max_opp :
							  wp_min(fd->next_opp, max_opp);
	if (wanted == fd->next_opp)
		return 0;
	fd->next_opp = wanted;
	fd->last_update_ns = now_ns;
	fd->last_raw_khz = WP_NONE;
	/* To 4.17 it may have been taken as it was; later it has not been taken yet. */
	fd->limited_late = fd->in_progress && !ctx->params.freq_update_in_progress;
	return wp_sugov_deferred_update(fd);
}
