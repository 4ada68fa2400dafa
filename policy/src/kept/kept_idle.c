// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Which CPUs are idle, one bit each, kept (kept.h), and the search of a domain by these bits
 * (idle_scan.c): the same CPU as a walk from behind the target on, and as many looked at
 * (docs/rules/wake-ups.md#idle-scan). Natively only.
 *
 * What must stay: the same CPU and the same count as the walk. Free: how bits are walked;
 * idle_scan.c has the walk that it must equal.
 *
 * Tests by part: (below crates/policy-sys/tests) all/kept.rs: `kept_sums_change_no_answer`
 * (`wp_kept_pass`, `wp_kept_word`, `wp_kept_spare`, `wp_kept_idle_of`, `wp_kept_idle_now`,
 * `wp_keeps_idle`, `wp_kept_free`, `wp_popcount`, `wp_bit`, `wp_set_bit`: the CPU, the reason and
 * how many were looked at). `wp_kept_apart` has no test of its own: runs with SCHED_IDLE tasks in
 * test builds compare it.
 *
 * Callers: `wp_scan_dom` (idle_scan.c).
 *
 * Tests: all/kept.rs
 */
#include "wakeplace/policy.h"

/* Bits that are set, without an instruction that not all machines have. */
WP_INLINE u32 wp_popcount(u64 bits)
{
	bits -= (bits >> 1) & 0x5555555555555555ull;
	bits = (bits & 0x3333333333333333ull) + ((bits >> 2) & 0x3333333333333333ull);
	bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0full;
	return (u32)((bits * 0x0101010101010101ull) >> 56);
}

/* A CPU's bit of a mask. */
WP_INLINE int wp_bit(const u64 *mask, u32 cpu)
{
	return mask[(cpu / 64) & (WP_MASK_WORDS - 1)] >> (cpu % 64) & 1;
}

/* Sets or clears a CPU's bit. */
WP_INLINE void wp_set_bit(u64 *mask, u32 cpu, int on)
{
	u64 *word = &mask[(cpu / 64) & (WP_MASK_WORDS - 1)];

	*word = (*word & ~(1ull << (cpu % 64))) | (u64)!!on << (cpu % 64);
}

/* A CPU's bits, and those of its core's threads. */
static void wp_kept_idle_of(const struct wp_ctx *ctx, struct wp_kept *k, u32 cpu)
{
	int idle = wp_idle_at(ctx, cpu), free = wp_free_at(ctx, cpu);
	u32 i, core = ctx->smt ? wp_smt_dom(ctx, cpu) : WP_NONE;
	const struct wp_sched_domain *dom = WP_AT(ctx->doms, core == WP_NONE ? 0 : core);

	wp_set_bit(k->idle, cpu, idle);
	wp_set_bit(k->free, cpu, free);
	if (core == WP_NONE) {
		wp_set_bit(k->core_idle, cpu, idle);
		wp_set_bit(k->core_free, cpu, free);
		return;
	}
	WP_FOR(i, dom->nr_cpus, WP_MAX_CPUS) {
		u32 thread = *WP_AT(ctx->list, dom->first_cpu + i);

		idle &= wp_bit(k->idle, thread);
		free |= wp_bit(k->free, thread);
	}
	WP_FOR(i, dom->nr_cpus, WP_MAX_CPUS) {
		u32 thread = *WP_AT(ctx->list, dom->first_cpu + i);

		wp_set_bit(k->core_idle, thread, idle);
		wp_set_bit(k->core_free, thread, free);
	}
}

/* Brings the bits up to date. */
WP_INLINE void wp_kept_idle_now(const struct wp_ctx *ctx, struct wp_kept *k)
{
	u32 i;

	WP_FOR(i, wp_kept_words(ctx), WP_MASK_WORDS) {
		u64 due = k->idle_due[i];

		k->idle_due[i] = 0;
		for (; due; due &= due - 1) {
			u32 cpu = i * 64 + (u32)__builtin_ctzll(due);

			if (wp_bit(k->idle, cpu) != wp_idle_at(ctx, cpu) ||
			    wp_bit(k->free, cpu) != wp_free_at(ctx, cpu))
				wp_kept_idle_of(ctx, k, cpu);
		}
	}
}

/* Of the first CPU in `bits` the first free thread of its core. */
WP_INLINE u32 wp_kept_spare(const struct wp_ctx *ctx, const struct wp_kept *k, u32 word, u64 bits)
{
	u32 cpu = word * 64 + (u32)__builtin_ctzll(bits);
	u32 i, core = wp_smt_dom(ctx, cpu);
	const struct wp_sched_domain *dom = WP_AT(ctx->doms, core == WP_NONE ? 0 : core);

	if (core == WP_NONE)
		return cpu;
	WP_FOR(i, dom->nr_cpus, WP_MAX_CPUS) {
		u32 thread = *WP_AT(ctx->list, dom->first_cpu + i);

		if (wp_bit(k->free, thread))
			return thread;
	}
	return WP_NONE;
}

/* CPUs of a pass over a domain that are in one word of a mask. */
struct wp_kept_look {
	u64 seen; /* ... that the pass looks at */
	u64 hits; /* ... which it would take */
	u32 word;
	u32 looked; /* so far, in words before */
};

/* One word. Returns 1 if the pass ends here: `found` is a CPU, or WP_NONE at the limit. */
WP_INLINE int wp_kept_word(const struct wp_ctx *ctx, const struct wp_kept *k,
			   struct wp_kept_look *look, struct wp_decision *dec, u32 *found)
{
	u64 hit = look->hits & (0 - look->hits), spare;
	u32 n = wp_popcount(hit ? look->seen & (hit | (hit - 1)) : look->seen);

	if (dec->scan_cores && dec->scan_spare == WP_NONE) {
		spare = look->seen & k->core_free[look->word & (WP_MASK_WORDS - 1)];
		if (hit)
			spare &= hit | (hit - 1);
		if (spare)
			dec->scan_spare = wp_kept_spare(ctx, k, look->word, spare);
	}
	if (!dec->scan_cores && look->looked + n >= dec->scan_left) {
		dec->nr_scanned += dec->scan_left - 1;
		dec->scan_left = 0;
		return 1;
	}
	look->looked += n;
	if (!hit)
		return 0;
	*found = look->word * 64 + (u32)__builtin_ctzll(hit);
	return 1;
}

/* The task is of SCHED_IDLE, so it does not run at once where only such tasks run. */
WP_INLINE int wp_kept_apart(const struct wp_ctx *ctx, const struct wp_task *task)
{
	return ctx->params.idle_policy_apart && task->idle_policy;
}

/* The mask that a search for this task goes by. */
WP_INLINE const u64 *wp_kept_free(const struct wp_ctx *ctx, const struct wp_kept *k,
				  const struct wp_task *task)
{
	return wp_kept_apart(ctx, task) ? k->idle : k->free;
}

/* The pass from behind the target on. Returns the CPU that a walk finds. */
static u32 wp_kept_pass(const struct wp_ctx *ctx, const struct wp_kept *k,
			const struct wp_task *task, u32 target, u32 level,
			struct wp_decision *dec)
{
	const struct wp_cpu *t = WP_AT(ctx->cpus, target);
	const struct wp_sched_domain *dom = WP_AT(ctx->doms, *WP_AT(t->topo.dom, level));
	u32 seen = level == t->topo.llc_level && wp_has_clusters(ctx, t);
	const struct wp_sched_domain *cluster =
		WP_AT(ctx->doms, seen ? *WP_AT(t->topo.dom, t->topo.cluster_level) : 0);
	const u64 *hits = dec->scan_cores ? k->core_idle : wp_kept_free(ctx, k, task);
	u64 behind = ~0ull << (target % 64) << 1;
	struct wp_kept_look look = { .looked = 0 };
	u32 i, words = wp_kept_words(ctx), found = WP_NONE;

	for (i = 0; i <= words; i++) {
		u32 word = (target / 64 + i) % words;
		u64 cpus = dom->span[word] & task->allowed[word];

		if (seen)
			cpus &= ~cluster->span[word];
		if (i == 0)
			cpus &= behind;
		else if (i == words)
			cpus &= ~behind;
		look.word = word;
		look.seen = cpus;
		look.hits = cpus & hits[word];
		if (wp_kept_word(ctx, k, &look, dec, &found)) {
			if (found == WP_NONE)
				return found;
			break;
		}
	}
	dec->nr_scanned += look.looked;
	if (!dec->scan_cores)
		dec->scan_left -= look.looked;
	return found;
}

/* Can a search go by the bits? Not while it notes what it looks at. */
WP_INLINE const struct wp_kept *wp_keeps_idle(const struct wp_ctx *ctx, const struct wp_task *task,
					      const struct wp_decision *dec)
{
	struct wp_kept *k = wp_kept(ctx);

	if (!k || ctx->explain)
		return (const struct wp_kept *)0;
	if (dec->scan_cores && (task->nr_allowed != ctx->nr_cpus || wp_kept_apart(ctx, task)))
		return (const struct wp_kept *)0;
	wp_kept_idle_now(ctx, k);
	return k;
}
