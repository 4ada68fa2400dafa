// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Sums that are kept (kept.h): where they are, what is due, and which sums a CPU is part of.
 * Natively only.
 *
 * Tests: all/kept.rs
 */
#include "wakeplace/policy.h"

/* The sums, 0: the home keeps none. */
WP_INLINE struct wp_kept *wp_kept_of(const struct wp_ctx *ctx)
{
	return (struct wp_kept *)(unsigned long)ctx->kept;
}

WP_INLINE u32 wp_kept_words(const struct wp_ctx *ctx)
{
	return wp_min((ctx->nr_cpus + 63) / 64, WP_MASK_WORDS);
}

/* A set of CPUs is one of those whose sums these CPUs are part of; counted, or noted. */
static void wp_kept_join(const struct wp_ctx *ctx, struct wp_kept *k, u32 first, u32 nr, u32 set,
			 int note)
{
	u32 i;

	WP_FOR(i, nr, WP_MAX_CPUS) {
		u32 cpu = *WP_AT(ctx->list, first + i);

		if (note)
			*WP_AT(k->member, *WP_AT(k->first, cpu) + *WP_AT(k->nr, cpu)) = (u16)set;
		++*WP_AT(k->nr, cpu);
	}
}

static void wp_kept_join_all(const struct wp_ctx *ctx, struct wp_kept *k, int note)
{
	u32 i;

	WP_FOR(i, WP_MAX_CPUS, WP_MAX_CPUS) {
		*WP_AT(k->nr, i) = 0;
	}
	WP_FOR(i, ctx->nr_groups, WP_MAX_GROUPS) {
		const struct wp_sched_group *g = WP_AT(ctx->groups, i);

		if (g->nr_cpus > 1)
			wp_kept_join(ctx, k, g->first_cpu, g->nr_cpus, i, note);
	}
	WP_FOR(i, ctx->nr_doms, WP_MAX_DOMS) {
		const struct wp_sched_domain *dom = WP_AT(ctx->doms, i);

		if (*WP_AT(k->sums_of, i) == WP_KEPT_DOMS + i)
			wp_kept_join(ctx, k, dom->first_cpu, dom->nr_cpus, WP_KEPT_DOMS + i, note);
	}
}

/* Are all groups of a domain single CPUs, none of which goes before another? */
static u64 wp_kept_plain(const struct wp_ctx *ctx, const struct wp_sched_domain *dom)
{
	u32 i;

	if (dom->flags & WP_SD_ASYM_PACKING)
		return 0;
	WP_FOR(i, dom->nr_groups, WP_MAX_GROUPS) {
		const struct wp_sched_group *g = WP_AT(ctx->groups, dom->first_group + i);

		if (g->nr_cpus != 1 || g->flags || g->imbalanced)
			return 0;
	}
	return 1;
}

static int wp_kept_same(const struct wp_ctx *ctx, const struct wp_sched_domain *dom,
			const struct wp_sched_group *g)
{
	u32 i;

	if (g->nr_cpus != dom->nr_cpus || g->nr_cpus < 2)
		return 0;
	WP_FOR(i, g->nr_cpus, WP_MAX_CPUS) {
		if (*WP_AT(ctx->list, g->first_cpu + i) != *WP_AT(ctx->list, dom->first_cpu + i))
			return 0;
	}
	return 1;
}

/* Where the sums of domain `index` are: with a group of the domain above, if that is the same. */
static u32 wp_kept_where(const struct wp_ctx *ctx, u32 index)
{
	const struct wp_sched_domain *dom = WP_AT(ctx->doms, index);
	const struct wp_cpu *c = WP_AT(ctx->cpus, *WP_AT(ctx->list, dom->first_cpu));
	u32 level, group;

	for (level = 0; level + 1 < c->topo.nr_levels && level + 1 < WP_MAX_LEVELS; level++) {
		if (c->topo.dom[level] != index)
			continue;
		group = WP_AT(ctx->doms, c->topo.dom[level + 1])->first_group +
			c->topo.group[level + 1];
		if (wp_kept_same(ctx, dom, WP_AT(ctx->groups, group)))
			return group & (WP_MAX_GROUPS - 1);
	}
	return WP_KEPT_DOMS + index;
}

static void wp_kept_doms(const struct wp_ctx *ctx, struct wp_kept *k)
{
	struct wp_kept_sums none = {0};
	u32 i;

	k->least_pct = 100;
	WP_FOR(i, WP_MAX_DOMS / 64, WP_MAX_DOMS / 64) {
		*WP_AT(k->plain, i) = 0;
	}
	WP_FOR(i, ctx->nr_groups, WP_MAX_GROUPS) {
		*WP_AT(k->sums, i) = none;
	}
	WP_FOR(i, ctx->nr_doms, WP_MAX_DOMS) {
		const struct wp_sched_domain *dom = WP_AT(ctx->doms, i);

		*WP_AT(k->sums, WP_KEPT_DOMS + i) = none;
		*WP_AT(k->sums_of, i) = wp_kept_where(ctx, i);
		*WP_AT(k->plain, i / 64) |= wp_kept_plain(ctx, dom) << (i % 64);
		k->least_pct = i ? wp_min(k->least_pct, dom->imbalance_pct) : dom->imbalance_pct;
	}
}

static void wp_kept_cpus(const struct wp_ctx *ctx, struct wp_kept *k)
{
	struct wp_kept_sums none = {0};
	struct wp_kept_freq calm = {0};
	u32 i, j;

	WP_FOR(i, WP_MASK_WORDS, WP_MASK_WORDS) {
		u32 left = (u32)wp_sub(ctx->nr_cpus, i * 64);
		u64 bits = left >= 64 ? ~0ull : (1ull << left) - 1;

		k->sums_due[i] = k->demand_due[i] = k->idle_due[i] = bits;
		k->idle[i] = k->free[i] = k->core_idle[i] = k->core_free[i] = 0;
	}
	WP_FOR(i, WP_MAX_CPUS, WP_MAX_CPUS) {
		k->cpu[i] = none;
		k->demand[i] = 0;
		k->freq_of[i] = WP_NONE;
	}
	WP_FOR(i, ctx->nr_freq_doms, WP_MAX_FREQ_DOMS) {
		const struct wp_freq_dom *fd = WP_AT(ctx->freq_doms, i);

		*WP_AT(k->freq, i) = calm;
		WP_FOR(j, fd->nr_cpus, WP_MAX_CPUS) {
			*WP_AT(k->freq_of, *WP_AT(ctx->list, fd->first_cpu + j)) = i;
		}
	}
}

/* Everything anew. */
static void wp_kept_rebuild(const struct wp_ctx *ctx, struct wp_kept *k)
{
	u32 i, n = 0;

	k->rebuild = 0;
	wp_kept_doms(ctx, k);
	wp_kept_cpus(ctx, k);
	wp_kept_join_all(ctx, k, 0);
	WP_FOR(i, WP_MAX_CPUS, WP_MAX_CPUS) {
		k->first[i] = n;
		n += k->nr[i];
	}
	k->nr_members = n;
	if (n <= WP_KEPT_MEMBERS)
		wp_kept_join_all(ctx, k, 1);
}

/* The sums, 0: there are none, or not for a machine with such lists. */
WP_INLINE struct wp_kept *wp_kept(const struct wp_ctx *ctx)
{
	struct wp_kept *k = wp_kept_of(ctx);

	if (!k)
		return k;
	if (k->rebuild)
		wp_kept_rebuild(ctx, k);
	return k->nr_members <= WP_KEPT_MEMBERS ? k : (struct wp_kept *)0;
}

/* An entry point has changed a CPU before it uses sums itself. */
WP_INLINE void wp_kept_touch(const struct wp_ctx *ctx, u32 cpu)
{
	struct wp_kept *k = wp_kept_of(ctx);
	u64 bit = 1ull << (cpu % 64);

	if (!k)
		return;
	*WP_AT(k->sums_due, cpu / 64) |= bit;
	*WP_AT(k->demand_due, cpu / 64) |= bit;
	*WP_AT(k->idle_due, cpu / 64) |= bit;
}

/* Test builds: what is kept must be what a walk finds. */
#ifdef WP_CHECK_BOUNDS
__attribute__((cold)) void wp_kept_failed(const char *what, u32 where, u64 kept, u64 walked);
#define WP_CHECK_KEPT(what, where, kept, walked)                                                   \
	((kept) == (walked) ? (void)0                                                              \
			    : (wp_kept_failed(what, where, (u64)(kept), (u64)(walked)),            \
			       __builtin_trap()))
#else
#define WP_CHECK_KEPT(what, where, kept, walked) ((void)0)
#endif
