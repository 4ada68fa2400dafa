// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Sums that are kept (kept.h): where they are, what is due, and which sums a CPU is part of.
 * Natively only. A kept sum must equal the walk that it stands for: no answer may depend on whether
 * it is kept (docs/internals/performance.md, "What is kept").
 *
 * What must stay: every entry point that changes a CPU touches it first (wp_kept_touch); builds
 * with checks compare each kept sum with its walk (WP_CHECK_KEPT). Free: what is kept, and
 * how, as long as answers stay; docs/internals/performance.md has why.
 *
 * Tests by part: (below crates/policy-sys/tests) all/kept.rs: `kept_sums_change_no_answer`
 * (`wp_kept`, `wp_kept_rebuild`, `wp_kept_touch`, `wp_kept_same`, `wp_kept_where`, `wp_kept_join`,
 * `wp_kept_join_all`, `wp_kept_plain`, `wp_kept_doms`, `wp_kept_cpus`, `wp_kept_span`,
 * `wp_kept_words`, `wp_kept_of`: a core with sums and one without answer alike);
 * engine/tests/behaviour/hotplug.rs has machines that are rebuilt.
 *
 * Callers: kept_sums.c, kept_demand.c, kept_idle.c; crates/policy-sys/src/kept.rs touches a CPU
 * before each entry point that changes it.
 *
 * Tests: all/kept.rs
 */
#include "wakeplace/policy.h"

/* The sums, 0: the home keeps none. */
WP_INLINE struct wp_kept *wp_kept_of(const struct wp_ctx *ctx)
{
	return (struct wp_kept *)(unsigned long)ctx->kept;
}

/* Words of a mask that this machine uses. */
WP_INLINE u32 wp_kept_words(const struct wp_ctx *ctx)
{
	return wp_min((ctx->nr_cpus + 63) / 64, WP_MASK_WORDS);
}

/* The CPUs of a set: a group, or a domain. */
struct wp_kept_span {
	u32 first; /* range of wp_ctx.list */
	u32 nr;
};

/* CPUs of a set: a group or, from WP_KEPT_DOMS on, a domain. */
WP_INLINE struct wp_kept_span wp_kept_span(const struct wp_ctx *ctx, u32 set)
{
	const struct wp_sched_group *g = WP_AT(ctx->groups, set & (WP_KEPT_DOMS - 1));
	const struct wp_sched_domain *dom = WP_AT(ctx->doms, set & (WP_MAX_DOMS - 1));
	struct wp_kept_span span = { g->first_cpu, g->nr_cpus };

	if (set >= WP_KEPT_DOMS) {
		span.first = dom->first_cpu;
		span.nr = dom->nr_cpus;
	}
	return span;
}

/* Have two sets the same CPUs in the same order? */
static int wp_kept_same(const struct wp_ctx *ctx, u32 a, u32 b)
{
	struct wp_kept_span one = wp_kept_span(ctx, a), other = wp_kept_span(ctx, b);
	u32 i;

	if (one.nr != other.nr)
		return 0;
	WP_FOR(i, one.nr, WP_MAX_CPUS) {
		if (*WP_AT(ctx->list, one.first + i) != *WP_AT(ctx->list, other.first + i))
			return 0;
	}
	return 1;
}

/*
 * Sets of the same CPUs have one sum, which is with the first of them: a domain is a group of the
 * one above, and nodes that see each other alike have the same groups. Those that begin with one
 * CPU form a chain.
 */
static void wp_kept_where(const struct wp_ctx *ctx, struct wp_kept *k, u32 set)
{
	struct wp_kept_span span = wp_kept_span(ctx, set);
	u16 *head = WP_AT(k->chain, *WP_AT(ctx->list, span.first));
	u32 i, other = *head;

	*WP_AT(k->sums_of, set) = (u16)set;
	WP_FOR(i, WP_KEPT_SETS, WP_KEPT_SETS) {
		if (other == WP_KEPT_NO_SET)
			break;
		if (wp_kept_same(ctx, set, other)) {
			*WP_AT(k->sums_of, set) = (u16)other;
			return;
		}
		other = *WP_AT(k->chain_next, other);
	}
	*WP_AT(k->chain_next, set) = *head;
	*head = (u16)set;
}

/* A set that has sums of its own is one of those that its CPUs are part of; counted, or noted. */
static void wp_kept_join(const struct wp_ctx *ctx, struct wp_kept *k, u32 set, int note)
{
	struct wp_kept_span span = wp_kept_span(ctx, set);
	u32 i;

	if (*WP_AT(k->sums_of, set) != set)
		return;
	WP_FOR(i, span.nr, WP_MAX_CPUS) {
		u32 cpu = *WP_AT(ctx->list, span.first + i);

		if (note)
			*WP_AT(k->member, *WP_AT(k->first, cpu) + *WP_AT(k->nr, cpu)) = (u16)set;
		++*WP_AT(k->nr, cpu);
	}
}

/* Each CPU knows its sets; `note`: they are written down, else only counted. */
static void wp_kept_join_all(const struct wp_ctx *ctx, struct wp_kept *k, int note)
{
	u32 i;

	WP_FOR(i, WP_MAX_CPUS, WP_MAX_CPUS) {
		*WP_AT(k->nr, i) = 0;
	}
	WP_FOR(i, ctx->nr_groups, WP_MAX_GROUPS) {
		if (WP_AT(ctx->groups, i)->nr_cpus > 1)
			wp_kept_join(ctx, k, i, note);
	}
	WP_FOR(i, ctx->nr_doms, WP_MAX_DOMS) {
		wp_kept_join(ctx, k, WP_KEPT_DOMS + i, note);
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

/* Sums of groups and domains, all due. */
static void wp_kept_doms(const struct wp_ctx *ctx, struct wp_kept *k)
{
	struct wp_kept_sums none = {0};
	u32 i;

	k->least_pct = 100;
	WP_FOR(i, WP_MAX_CPUS, WP_MAX_CPUS) {
		k->chain[i] = WP_KEPT_NO_SET;
	}
	WP_FOR(i, WP_MAX_DOMS / 64, WP_MAX_DOMS / 64) {
		*WP_AT(k->plain, i) = 0;
	}
	WP_FOR(i, ctx->nr_groups, WP_MAX_GROUPS) {
		*WP_AT(k->sums, i) = none;
		if (WP_AT(ctx->groups, i)->nr_cpus > 1)
			wp_kept_where(ctx, k, i);
	}
	WP_FOR(i, ctx->nr_doms, WP_MAX_DOMS) {
		const struct wp_sched_domain *dom = WP_AT(ctx->doms, i);

		*WP_AT(k->sums, WP_KEPT_DOMS + i) = none;
		wp_kept_where(ctx, k, WP_KEPT_DOMS + i);
		*WP_AT(k->plain, i / 64) |= wp_kept_plain(ctx, dom) << (i % 64);
		k->least_pct = i ? wp_min(k->least_pct, dom->imbalance_pct) : dom->imbalance_pct;
	}
}

/* What is kept of each CPU, all due. */
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

/* Computes all that is kept anew. */
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
