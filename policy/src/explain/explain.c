// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The record of one decision, before and after the rules have added to it (explain.h), and what a
 * copy of a context needs under another policy's parameters (docs/decisions/034). Natively only; no
 * decision depends on any of it.
 *
 * What must stay: a record never changes an answer (tests/all/explain.rs asks with and without).
 * Its fields are crates/policy-sys/src/explain.rs'. Free: which facts a record has, with
 * explain.rs of policy-sys.
 *
 * Tests by part: (below crates/policy-sys/tests) all/explain.rs: `energy_vector_of_today`,
 * `energy_vector_of_5_0`, `a_hint_decides` (`wp_explain_end`, `wp_explain_cpu`, `wp_explain_fits`),
 * `a_copy_answers_alike` (`wp_explain_begin`), `the_tipping_point_is_made_up`,
 * `under_another_policy` (`wp_explain_adopt`), `urgency_is_made_up` (`wp_adopt_urgency`),
 * `thresholds_are_those_of_the_other` (`wp_explain_adopt`), `short_as_the_rules_ask`,
 * `short_is_told_where_it_is_asked` (`wp_short_limit_ns`), `the_clock_that_was_assumed`
 * (`wp_explain_runnable`).
 *
 * Callers: `Core::explain` and `Core::copy_under` (crates/policy-sys/src/explain.rs).
 *
 * Tests: all/explain.rs
 */
#include "wakeplace/policy.h"

/* Empties the record before a question. */
void wp_explain_begin(struct wp_explain *x)
{
	u32 cpu;

	wp_explain_forget(x);
	x->target = WP_NONE;
	x->no_energy = WP_NO_ENERGY_ASKED;
	for (cpu = 0; cpu < WP_MAX_CPUS; cpu++)
		WP_AT(x->seen, cpu)->energy = WP_NO_ENERGY;
}

/* Does the task fit, as the rule that decided asks? The energy-aware one counts what is there. */
WP_INLINE u32 wp_explain_fits(const struct wp_ctx *ctx, const struct wp_task *task, u32 rule,
			      u32 cpu, u32 util)
{
	struct wp_delta_pd p;

	if (rule != WP_RULE_ENERGY)
		return (u32)wp_task_fits(ctx, task, cpu);
	if (ctx->params.energy_aware < WP_ENERGY_510)
		return !wp_unfit(util, WP_AT(ctx->cpus, cpu)->load.capacity);
	if (wp_uclamp_sums(ctx))
		return (u32)wp_util_fits_uclamp(
			ctx, util, wp_cpu_util_uclamp(ctx, cpu, task, cpu, 0),
			WP_AT(ctx->cpus, cpu));
	p.hinted = 0;
	wp_delta_hints(ctx, WP_AT(ctx->cpus, cpu), task, &p);
	return (u32)wp_util_fits(ctx, util, p.uclamp_min, p.uclamp_max, cpu);
}

/* A queue's runnable signal. The third signal of PELT was something else, or nothing, to 5.6. */
WP_INLINE u32 wp_explain_runnable(const struct wp_ctx *ctx, const struct wp_cpu *c)
{
	if (ctx->params.runnable_is_load || ctx->params.pelt_scale == WP_PELT_RATIO ||
	    ctx->params.pelt_scale == WP_PELT_NONE)
		return WP_NONE;
	return c->load.avg.runnable_avg;
}

/* How a CPU stands: whatever the rule has looked at. */
WP_INLINE void wp_explain_cpu(const struct wp_ctx *ctx, const struct wp_task *task, u32 rule,
			      u32 cpu, struct wp_seen *seen)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);

	seen->capacity = c->load.capacity;
	seen->util = wp_cpu_util(ctx, cpu, task, cpu, 0);
	seen->spare = (u32)wp_sub(c->load.capacity, seen->util);
	seen->fits = wp_explain_fits(ctx, task, rule, cpu, seen->util);
	seen->runnable = wp_explain_runnable(ctx, c);
	if (seen->drop != WP_DROP_NOT_LOOKED_AT)
		return;
	if (!c->queue.online)
		seen->drop = WP_DROP_OFFLINE;
	else if (!wp_allowed(task, cpu))
		seen->drop = WP_DROP_NOT_ALLOWED;
}

/* Up to where a run is short, as wp_is_short has it; whether that end belongs to it differs. */
WP_INLINE u64 wp_short_limit_ns(const struct wp_ctx *ctx, u32 this_cpu)
{
	switch (ctx->params.sis_short_test) {
	case WP_SHORT_UP_TO_WHOLE:
		return wp_short_granularity(ctx);
	case WP_SHORT_MIGRATION:
		return ctx->params.migration_cost_ns;
	case WP_SHORT_SCAN_COST:
		return wp_scan_cost_ns(ctx, this_cpu);
	default:
		return wp_short_granularity(ctx) / 8;
	}
}

/* After the answer: the facts of every CPU, and what the rule estimated. Brings the task's signals
 * up to date. */
void wp_explain_end(struct wp_ctx *ctx, struct wp_task *task, const struct wp_decision *dec,
		    u32 this_cpu)
{
	struct wp_explain *x = wp_explain_of(ctx);
	u32 i;

	wp_sync_entity_load_avg(ctx, task);
	WP_FOR(i, ctx->nr_cpus, WP_MAX_CPUS) {
		wp_explain_cpu(ctx, task, dec->rule, i, WP_AT(x->seen, i));
	}
	WP_FOR(i, dec->nr_candidates, WP_MAX_CANDIDATES) {
		const struct wp_candidate *cand = WP_AT(dec->candidate, i);
		struct wp_seen *seen = WP_AT(x->seen, cand->cpu);

		seen->util = cand->util;
		seen->spare = cand->spare;
		seen->fits = cand->fits;
		seen->energy = cand->energy;
	}
	WP_AT(x->seen, dec->cpu)->drop = WP_DROP_NONE;
	x->short_known = ctx->params.sis_short_affine || ctx->params.sis_short_stack;
	x->is_short = (u32)wp_is_short(ctx, wp_task_run(ctx, task), wp_scan_cost_ns(ctx, this_cpu));
	x->short_ns = wp_short_limit_ns(ctx, this_cpu);
}

/* Each task of the queue counts whole, as one without a period does
 * (docs/rules/energy-idle.md#urgency). */
WP_INLINE void wp_adopt_urgency(struct wp_cpu *c)
{
	u32 step;

	for (step = 0; step < WP_URGENCY_STEPS; step++)
		*WP_AT(c->queue.nr_urgent, step) = 0;
	*WP_AT(c->queue.nr_urgent, WP_URGENCY_STEPS - 1) = c->queue.nr_fair;
}

/*
 * The parameters of this context were another policy's when its state came about. What that policy
 * did not keep is made up from the signals as they are: the tipping point if energy-aware placement
 * was not active, the hints of searches if it searches other domains or by other limits, and how
 * urgent queued tasks are if it has other limits of urgency, or none.
 */
void wp_explain_adopt(struct wp_ctx *ctx, u32 was_active, u32 same_search, u32 same_urgency)
{
	u32 cpu;

	WP_FOR(cpu, ctx->nr_cpus, WP_MAX_CPUS) {
		struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
		u32 level = wp_search_level(ctx, c);

		if (!same_urgency && wp_urgency_counts(ctx))
			wp_adopt_urgency(c);
		if (!c->queue.online)
			continue;
		if (!was_active)
			wp_check_update_overutilized_status(ctx, c);
		if (same_search)
			continue;
		if (level != WP_NONE)
			wp_update_idle_cpu_scan(ctx, cpu, level);
		if (wp_cpu_idle(c))
			wp_update_idle_core(ctx, c, cpu);
	}
}
