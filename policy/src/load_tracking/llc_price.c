// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What it costs a process to be in one last-level cache (docs/rules/cache-aware.md#llc-price): the
 * time of an access to a working set, with all threads in one cache and with half of them in each
 * of two. Together they find each other's lines sooner, and share the room of one cache.
 *
 * What must stay: the mean access is that of docs/decisions/060 ("Working sets"); where a price or
 * the working sets are unknown the rule of the kernel stands alone. Free: how sums are scaled.
 *
 * Tests by part: (below crates/policy-sys/tests) all/sched_cache.rs: `threads_that_share_a_set`
 * (`wp_found_ns`, `wp_llc_form_ps`), `sets_that_do_not_fit_together` (`wp_llc_form_ps`),
 * `own_and_shared_sets` (`wp_apart_is_faster`), `what_is_unknown_has_no_price`
 * (`wp_llc_priced`).
 *
 * Callers: preferred_llc.c.
 *
 * Tests: all/sched_cache.rs
 */
#include "wakeplace/policy.h"

/* What threads of a process have together in a cache. */
struct wp_llc_form {
	u64 kib;    /* their working sets */
	u32 nr;     /* of the threads that share a set: so many are in the thread's own cache */
};

/* Are the prices known, and does a thread have a working set? */
WP_INLINE int wp_llc_priced(const struct wp_ctx *ctx, const struct wp_mm *mm, u64 llc_bytes)
{
	const struct wp_prices *p = &ctx->prices;

	return ctx->params.llc_price && llc_bytes && p->hit_ns && p->memory_ns &&
	       p->cache_line_ns && (p->node_line_ns | p->far_line_ns) &&
	       (mm->own_bytes | mm->shared_bytes) >> 10;
}

/*
 * What a line takes that is in some cache, summed over the threads of the process: a hit for each
 * that has its own set. A line of a shared set was written last by any of its threads, each as
 * likely; summed over these, that is once each of them, ns.
 */
WP_INLINE u64 wp_found_ns(const struct wp_ctx *ctx, const struct wp_mm *mm, u32 near)
{
	const struct wp_prices *p = &ctx->prices;
	u64 hit = p->hit_ns, near_ns = wp_max64(p->cache_line_ns, hit);
	u64 apart_ns = wp_max64(p->node_line_ns ? p->node_line_ns : p->far_line_ns, hit);
	u64 sum = mm->nr_own * hit;

	if (mm->nr_sharing)
		sum += hit + (near - 1) * near_ns + (mm->nr_sharing - near) * apart_ns;
	return sum;
}

/* The time of an access of each thread, summed, ps. What the cache has no room for is in memory. */
WP_INLINE u64 wp_llc_form_ps(const struct wp_ctx *ctx, const struct wp_mm *mm, u64 llc_kib,
			     const struct wp_llc_form *form)
{
	u64 room = wp_min64(form->kib, llc_kib);
	u64 threads = (u64)mm->nr_own + mm->nr_sharing;
	u64 sum = room * wp_found_ns(ctx, mm, form->nr) +
		  (form->kib - room) * ctx->prices.memory_ns * threads;

	return wp_div(sum * 1000, form->kib);
}

/* Do the threads of the process get at their data faster in two caches than in one? Both caches
 * hold the shared sets then, and the fuller one half of the threads, rounded up. */
WP_INLINE int wp_apart_is_faster(const struct wp_ctx *ctx, const struct wp_mm *mm, u64 llc_bytes)
{
	u64 own = mm->own_bytes >> 10, shared = mm->shared_bytes >> 10;
	struct wp_llc_form one = { own + shared, mm->nr_sharing };
	struct wp_llc_form two = { own - own / 2 + shared, mm->nr_sharing - mm->nr_sharing / 2 };

	if (!wp_llc_priced(ctx, mm, llc_bytes))
		return 0;
	return wp_llc_form_ps(ctx, mm, llc_bytes >> 10, &two) <
	       wp_llc_form_ps(ctx, mm, llc_bytes >> 10, &one);
}
