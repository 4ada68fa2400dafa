// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What the rules note while they decide, if they are asked to (explain.h): each rule says of each
 * CPU that it looks at why it goes on to the next. A later word counts more: a target that was busy
 * may come up again in the search around it (docs/decisions/034). Natively only; no decision
 * depends on a note.
 *
 * What must stay: notes are written through WP_EXPLAIN alone, which is nothing in the live build;
 * values of enum wp_drop are shown to users by name. Free: which note counts (a later one
 * does); words only with explain.rs.
 *
 * Tests by part: (below crates/policy-sys/tests) all/explain.rs: `energy_vector_of_today`,
 * `energy_vector_of_5_0` (`wp_drop_pick`, `wp_drop_pick_whole`, `wp_drop_rival`, `wp_drop_loser`),
 * `packing_names_what_has_room` (`wp_drop_packed`, `wp_drop_worse`),
 * `packing_says_nothing_where_a_small_task_stays` (`wp_drop_undo`), `tc2_case_a`
 * (`wp_drop_groups`), `beyond_the_tipping_point` (`wp_drop`, `wp_explain_target`,
 * `wp_explain_no_energy`), `beyond_the_limit_of_a_search` (`wp_drop_beyond`, `wp_drop_rest`),
 * `the_clock_that_was_assumed`, `each_form_says_its_clock` (`wp_explain_clock`,
 * `wp_explain_clock_of`), `a_copy_answers_alike` (`wp_explain_of`, `wp_explain_forget`).
 * `wp_drop_barred` by those with an energy model.
 *
 * Callers: all rules of placement, energy and packing, through WP_EXPLAIN.
 *
 * Tests: all/explain.rs
 */
#include "wakeplace/policy.h"

/* The record; only behind WP_EXPLAIN. */
WP_INLINE struct wp_explain *wp_explain_of(const struct wp_ctx *ctx)
{
	return (struct wp_explain *)(unsigned long)ctx->explain;
}

/* Nothing is noted: before a question, or since a rule has not decided by what it looked at. */
static void wp_explain_forget(struct wp_explain *x)
{
	u32 cpu;

	x->nr_seen = 0;
	WP_FOR(cpu, WP_MAX_CPUS, WP_MAX_CPUS) {
		WP_AT(x->seen, cpu)->drop = WP_DROP_NOT_LOOKED_AT;
		WP_AT(x->seen, cpu)->order = 0;
		WP_AT(x->seen, cpu)->khz = 0;
	}
}

/* What a rule noted is forgotten: it has not decided. */
static void wp_drop_undo(const struct wp_ctx *ctx)
{
	wp_explain_forget(wp_explain_of(ctx));
}

/* A rule has looked at `cpu` and goes on, because of `why` (enum wp_drop). */
static void wp_drop(const struct wp_ctx *ctx, u32 cpu, u32 why)
{
	struct wp_explain *x = wp_explain_of(ctx);
	struct wp_seen *seen = WP_AT(x->seen, cpu);

	seen->drop = why;
	if (!seen->order)
		seen->order = ++x->nr_seen;
}

/* Not the first time: the note stands only if there is none yet. */
static void wp_drop_rest(const struct wp_ctx *ctx, u32 cpu, u32 why)
{
	struct wp_seen *seen = WP_AT(wp_explain_of(ctx)->seen, cpu);

	if (seen->drop == WP_DROP_NOT_LOOKED_AT)
		seen->drop = why;
}

/* A CPU that a rule may not offer: which of the three holds? */
static void wp_drop_barred(const struct wp_ctx *ctx, const struct wp_sched_domain *dom, u32 cpu)
{
	u32 why = WP_DROP_NOT_ALLOWED;

	if (!WP_AT(ctx->cpus, cpu)->queue.online)
		why = WP_DROP_OFFLINE;
	else if (!wp_span_has(dom, cpu))
		why = WP_DROP_OUTSIDE;
	wp_drop(ctx, cpu, why);
}

/* The search of a domain, from list position `start` on, ends at its limit before the i-th CPU. */
static void wp_drop_beyond(const struct wp_ctx *ctx, const struct wp_sched_domain *dom, u32 start,
			   u32 i)
{
	for (; i < dom->nr_cpus && i < WP_MAX_CPUS; i++) {
		u32 at = start + i;

		at = at < dom->nr_cpus ? at : at - dom->nr_cpus;
		wp_drop_rest(ctx, *WP_AT(ctx->list, dom->first_cpu + at), WP_DROP_LIMIT);
	}
}

/* Of a domain's groups one was chosen. */
static void wp_drop_groups(const struct wp_ctx *ctx, const struct wp_sched_domain *dom, u32 chosen)
{
	u32 k, i;

	WP_FOR(k, dom->nr_groups, WP_MAX_CPUS) {
		const struct wp_sched_group *g = WP_AT(ctx->groups, dom->first_group + k);

		if (k == chosen)
			continue;
		WP_FOR(i, g->nr_cpus, WP_MAX_CPUS) {
			wp_drop(ctx, *WP_AT(ctx->list, g->first_cpu + i), WP_DROP_GROUP);
		}
	}
}

/* The energy-aware rule has not decided. */
static void wp_explain_no_energy(const struct wp_ctx *ctx, const struct wp_request *req)
{
	struct wp_explain *x = wp_explain_of(ctx);

	if (req->kind != WP_PLACE_WAKE)
		x->no_energy = WP_NO_ENERGY_KIND;
	else if (!ctx->energy_active)
		x->no_energy = WP_NO_ENERGY_INACTIVE;
	else if (ctx->overutilized)
		x->no_energy = WP_NO_ENERGY_OVERUTILIZED;
	else
		x->no_energy = WP_NO_ENERGY_DOMAIN;
}

/* An idle CPU is searched around this one. */
static void wp_explain_target(const struct wp_ctx *ctx, u32 target)
{
	wp_explain_of(ctx)->target = target;
}

/* An estimate takes this clock for its domain; 0: it needs none. */
static void wp_explain_clock(const struct wp_ctx *ctx, u32 khz)
{
	wp_explain_of(ctx)->khz = khz;
}

/* The last estimate was with the task on `cpu`. */
static void wp_explain_clock_of(const struct wp_ctx *ctx, u32 cpu)
{
	struct wp_explain *x = wp_explain_of(ctx);

	WP_AT(x->seen, cpu)->khz = x->khz;
}

/* Of a performance domain another CPU is of interest. `hint`: it fits better, not only has more to
 * spare. WP_NONE: there was none before. */
static void wp_drop_pick(const struct wp_ctx *ctx, u32 cpu, int hint)
{
	if (cpu != WP_NONE)
		wp_drop(ctx, cpu, hint ? WP_DROP_HINT : WP_DROP_LESS_SPARE);
}

/* The one of interest is not worth an estimate. */
static void wp_drop_pick_whole(const struct wp_ctx *ctx, u32 cpu, int prev_has_more)
{
	if (cpu != WP_NONE)
		wp_drop(ctx, cpu, prev_has_more ? WP_DROP_PREV_SPARE : WP_DROP_HINT);
}

/* Another performance domain's is better than the best one so far, if there was one. */
static void wp_drop_rival(const struct wp_ctx *ctx, u32 cpu, int hint)
{
	if (cpu != WP_NONE)
		wp_drop(ctx, cpu, hint ? WP_DROP_HINT : WP_DROP_MORE_ENERGY);
}

/* Between the previous CPU and the best other one it is decided, by their energy only if both meet
 * the task's wish (`hint` is 0). */
static void wp_drop_loser(const struct wp_ctx *ctx, const struct wp_decision *dec, u32 prev,
			  u32 prev_usable, u32 best, int hint)
{
	u32 loser = dec->cpu == prev ? best : prev;

	if (loser != WP_NONE && (loser != prev || prev_usable))
		wp_drop(ctx, loser, hint ? WP_DROP_HINT : WP_DROP_MORE_ENERGY);
}

/* Packing has looked at a group as a whole: what holds for those of its CPUs that the task may
 * use. */
static void wp_drop_packed(const struct wp_ctx *ctx, const struct wp_sched_group *g,
			   const struct wp_task *task, u32 why)
{
	u32 i;

	WP_FOR(i, g->nr_cpus, WP_MAX_CPUS) {
		u32 cpu = *WP_AT(ctx->list, g->first_cpu + i);

		if (wp_allowed(task, cpu) && WP_AT(ctx->cpus, cpu)->queue.online)
			wp_drop(ctx, cpu, why);
	}
}

/* Of two CPUs of a group one is better. */
static void wp_drop_worse(const struct wp_ctx *ctx, u32 cpu, u32 small)
{
	if (cpu != WP_NONE)
		wp_drop(ctx, cpu, small ? WP_DROP_MORE_ROOM : WP_DROP_MORE_LOAD);
}
