// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What balancing adds up over groups and domains, kept (kept.h), and the passes that can find
 * nothing by what is kept of the whole domain. Natively only. What a CPU adds here is what the
 * walks of balancing (docs/rules/balancing.md#group-class) add: change both.
 *
 * What must stay: a look that only a walk can answer returns 0 and leaves nothing half done. Free:
 * which sums are kept, together with the walks in busiest.c and busiest_5_4.c.
 *
 * Tests by part: (below crates/policy-sys/tests) all/kept.rs: `kept_sums_change_no_answer`
 * (`wp_kept_part`, `wp_kept_sums_of`, `wp_kept_sums_now`, `wp_kept_for`, `wp_kept_sums_at`,
 * `wp_kept_misfit`, `wp_kept_pass_begin`, `wp_kept_tipping`, `wp_kept_group`, `wp_kept_group_5_4`,
 * `wp_kept_balanced`: source, imbalance and marks of an attempt).
 *
 * Callers: busiest.c, busiest_5_4.c and balance_common.c.
 *
 * Tests: all/kept.rs
 */
#include "wakeplace/policy.h"

/* What a CPU adds now. */
WP_INLINE void wp_kept_part(const struct wp_ctx *ctx, const struct wp_kept *k,
			    const struct wp_cpu *c, struct wp_kept_sums *s)
{
	u32 full = c->load.power_orig ? c->load.power_orig : c->load.capacity_orig;

	s->load = ctx->params.balance_classes ? c->load.avg.load_avg : wp_cpu_load(ctx, c);
	s->runnable = c->load.avg.runnable_avg;
	s->util = wp_cpu_util_cfs(ctx, c);
	s->nr_running = c->queue.nr_running;
	s->nr_fair = c->queue.nr_fair;
	s->idle_cpus = !c->queue.nr_running && wp_cpu_idle(c);
	s->overload = c->queue.nr_running > 1;
	s->crowded = c->queue.nr_fair > 1;
	s->overutilized = ctx->energy_active && wp_cpu_overutilized(ctx, c);
	s->misfit = c->queue.misfit_task_load > 0;
	s->squeezed = (u64)c->load.capacity * k->least_pct < (u64)full * 100;
}

/* A CPU has changed: so have the sums that it is part of. */
static void wp_kept_sums_of(const struct wp_ctx *ctx, struct wp_kept *k, u32 cpu)
{
	struct wp_kept_sums now, *was = WP_AT(k->cpu, cpu);
	u64 diff[WP_KEPT_WORDS], changed = 0;
	u32 i, word, first = *WP_AT(k->first, cpu);

	wp_kept_part(ctx, k, WP_AT(ctx->cpus, cpu), &now);
	for (word = 0; word < WP_KEPT_WORDS; word++) {
		diff[word] = ((const u64 *)&now)[word] - ((const u64 *)was)[word];
		changed |= diff[word];
	}
	if (!changed)
		return;
	*was = now;
	WP_FOR(i, *WP_AT(k->nr, cpu), WP_KEPT_MEMBERS) {
		u64 *sums = (u64 *)WP_AT(k->sums, *WP_AT(k->member, first + i));

		for (word = 0; word < WP_KEPT_WORDS; word++)
			sums[word] += diff[word];
	}
}

/* Brings the sums up to date. */
WP_INLINE void wp_kept_sums_now(const struct wp_ctx *ctx, struct wp_kept *k)
{
	u32 i;

	WP_FOR(i, wp_kept_words(ctx), WP_MASK_WORDS) {
		u64 due = k->sums_due[i];

		k->sums_due[i] = 0;
		for (; due; due &= due - 1)
			wp_kept_sums_of(ctx, k, i * 64 + (u32)__builtin_ctzll(due));
	}
}

/*
 * The sums, if they are what this attempt counts: once a source has been left out for its pinned
 * tasks, or while a run under way counts by itself (util_est_faster), it walks.
 */
WP_INLINE struct wp_kept *wp_kept_for(const struct wp_ctx *ctx, const struct wp_lb_env *bal)
{
	struct wp_kept *k = wp_kept(ctx);
	u64 excluded = 0;
	u32 i;

	if (!k || ctx->params.util_est_faster)
		return (struct wp_kept *)0;
	WP_FOR(i, wp_kept_words(ctx), WP_MASK_WORDS) {
		excluded |= bal->excluded[i];
	}
	if (excluded)
		return (struct wp_kept *)0;
	wp_kept_sums_now(ctx, k);
	return k;
}

/* Those of a group of the domain. */
WP_INLINE const struct wp_kept_sums *wp_kept_sums_at(const struct wp_ctx *ctx,
						     const struct wp_kept *k,
						     const struct wp_sched_domain *dom, u32 group)
{
	const struct wp_sched_group *g = WP_AT(ctx->groups, dom->first_group + group);

	if (g->nr_cpus == 1)
		return WP_AT(k->cpu, *WP_AT(ctx->list, g->first_cpu));
	return WP_AT(k->sums, *WP_AT(k->sums_of, (dom->first_group + group) & (WP_KEPT_DOMS - 1)));
}

/* Is there a task that balancing by class or before would take for a misfit? */
WP_INLINE int wp_kept_misfit(const struct wp_ctx *ctx, const struct wp_sched_domain *dom,
			     const struct wp_kept_sums *s)
{
	if (dom->flags & WP_SD_ASYM_CPUCAPACITY)
		return s->misfit > 0;
	return ctx->params.balance_classes && s->squeezed;
}

/* Does the pass that begins take sums from what is kept? No CPU changes while it lasts. */
WP_INLINE void wp_kept_pass_begin(const struct wp_ctx *ctx, struct wp_lb_env *bal)
{
	bal->kept = wp_kept_for(ctx, bal) != (struct wp_kept *)0;
}

/* What sums of so many CPUs say of the tipping point (wp_stats_tipping). */
WP_INLINE void wp_kept_tipping(struct wp_lb_env *bal, const struct wp_kept_sums *sum, u32 nr_cpus)
{
	bal->overutilized |= sum->overutilized > 0;
	bal->roomy |= sum->overutilized < nr_cpus;
}

/* The sums of a group. Returns 0 if only a walk tells: a misfit's load is no sum. */
WP_INLINE int wp_kept_group(struct wp_ctx *ctx, struct wp_lb_env *bal, u32 group, u32 local)
{
	const struct wp_kept *k = wp_kept_of(ctx);
	const struct wp_sched_domain *dom = WP_AT(ctx->doms, bal->dom);
	struct wp_sg_lb_stats *s = &bal->sums;
	const struct wp_kept_sums *sum;

	if (!bal->kept)
		return 0;
	sum = wp_kept_sums_at(ctx, k, dom, group);
	if (!local && wp_kept_misfit(ctx, dom, sum))
		return 0;
	s->load = sum->load;
	s->runnable = sum->runnable;
	s->util = sum->util;
	s->nr_running = sum->nr_running;
	s->nr_fair = sum->nr_fair;
	s->idle_cpus = sum->idle_cpus;
	bal->overload |= sum->overload > 0;
	wp_kept_tipping(bal, sum, WP_AT(ctx->groups, dom->first_group + group)->nr_cpus);
	return 1;
}

/* A group's sums in the form before 5.5; 0: it looks at other loads than those as they are. */
WP_INLINE int wp_kept_group_5_4(struct wp_ctx *ctx, struct wp_lb_env *bal, u32 group)
{
	const struct wp_kept *k = wp_kept_of(ctx);
	const struct wp_sched_domain *dom = WP_AT(ctx->doms, bal->dom);
	struct wp_sg_lb_stats_5_4 *s = &bal->scratch;
	const struct wp_kept_sums *sum;

	if (!bal->kept || (ctx->params.load_idx && bal->load_idx))
		return 0;
	sum = wp_kept_sums_at(ctx, k, dom, group);
	if (wp_kept_misfit(ctx, dom, sum))
		return 0;
	s->load = sum->load;
	s->weighted_load = sum->load;
	s->util = sum->util;
	s->nr_running = sum->nr_fair;
	s->idle_cpus = sum->idle_cpus;
	bal->overload |= sum->overload > 0;
	wp_kept_tipping(bal, sum, WP_AT(ctx->groups, dom->first_group + group)->nr_cpus);
	return 1;
}

/*
 * Can a pass over the domain find a source at all? Returns 1 if not, with the marks that the pass
 * would have left (docs/rules/balancing.md#whether-to-act):
 *
 *   below the tipping point only a misfit task is taken;
 *   by class, of single CPUs with a task each none gives it up.
 */
WP_INLINE int wp_kept_balanced(struct wp_ctx *ctx, struct wp_lb_env *bal)
{
	const struct wp_kept *k = wp_kept_for(ctx, bal);
	const struct wp_sched_domain *dom = WP_AT(ctx->doms, bal->dom);
	const struct wp_kept_sums *sum;
	u32 over;

	if (!k || !wp_tips_by_any(ctx))
		return 0;
	sum = WP_AT(k->sums, *WP_AT(k->sums_of, WP_KEPT_DOMS + bal->dom));
	if (wp_kept_misfit(ctx, dom, sum))
		return 0;
	over = sum->overutilized || (!dom->top && ctx->overutilized);
	if (!(ctx->energy_active && !over) &&
	    !(ctx->params.balance_classes && !sum->overload && !sum->crowded &&
	      (*WP_AT(k->plain, bal->dom / 64) >> (bal->dom % 64) & 1)))
		return 0;
	bal->overload = sum->overload > 0;
	wp_kept_tipping(bal, sum, dom->nr_cpus);
	return 1;
}
