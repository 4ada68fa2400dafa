// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The most demanding CPU of a frequency domain, kept (kept.h). Natively only. It must equal the
 * highest demand that the walk finds (docs/rules/capacity.md#schedutil).
 *
 * What must stay: stale is not wrong: a stale sum is walked anew before it is used. Free:
 * from how many CPUs on a domain is kept.
 *
 * Tests by part: (below crates/policy-sys/tests) all/kept.rs: `kept_sums_change_no_answer`
 * (`wp_kept_demand`, `wp_kept_demand_of`, `wp_keeps_demand`: requests after `update_blocked`).
 *
 * Callers: `wp_sugov_next_freq_shared` (freq.c).
 *
 * Tests: all/kept.rs
 */
#include "wakeplace/policy.h"

/* Domains of fewer CPUs are walked: that costs no more. */
#define WP_KEPT_FREQ_CPUS 5u

/* A CPU's demand anew; the domain's highest becomes stale only if this CPU had it. */
WP_INLINE void wp_kept_demand_of(const struct wp_ctx *ctx, struct wp_kept *k, u32 cpu)
{
	u32 *old = WP_AT(k->demand, cpu);
	u32 demand = wp_cpu_freq_demand(ctx, WP_AT(ctx->cpus, cpu));
	struct wp_kept_freq *f;

	if (demand == *old || *WP_AT(k->freq_of, cpu) == WP_NONE)
		return;
	f = WP_AT(k->freq, *WP_AT(k->freq_of, cpu));
	if (demand >= f->most) {
		f->most = demand;
		f->stale = 0;
	} else if (*old == f->most) {
		f->stale = 1;
	}
	*old = demand;
}

/* Does a walk over the domain's CPUs find what is kept? Boosts and a run under way change by
 * themselves. */
WP_INLINE int wp_keeps_demand(const struct wp_ctx *ctx, const struct wp_freq_dom *fd)
{
	return fd->nr_cpus >= WP_KEPT_FREQ_CPUS && !fd->io_boosted &&
	       !ctx->params.util_est_faster && wp_kept(ctx);
}

/* The highest demand of the domain's CPUs. */
WP_FN u32 wp_kept_demand(const struct wp_ctx *ctx WP_NONNULL, u32 index)
{
	const struct wp_freq_dom *fd = WP_AT(ctx->freq_doms, index);
	struct wp_kept *k = wp_kept_of(ctx);
	struct wp_kept_freq *f = WP_AT(k->freq, index);
	u32 i;

	WP_FOR(i, wp_kept_words(ctx), WP_MASK_WORDS) {
		u64 due = k->demand_due[i];

		k->demand_due[i] = 0;
		for (; due; due &= due - 1)
			wp_kept_demand_of(ctx, k, i * 64 + (u32)__builtin_ctzll(due));
	}
	if (f->stale) {
		f->stale = 0;
		f->most = 0;
		WP_FOR(i, fd->nr_cpus, WP_MAX_CPUS) {
			u32 cpu = *WP_AT(ctx->list, fd->first_cpu + i);

			f->most = wp_max(f->most, *WP_AT(k->demand, cpu));
		}
	}
	return f->most;
}
