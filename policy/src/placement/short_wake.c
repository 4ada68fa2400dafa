// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Short tasks wake short tasks on the waking CPU (docs/rules/short-wakes.md#hunk-a,
 * docs/rules/short-wakes.md#hunk-b, docs/rules/short-wakes.md#short-versions).
 *
 * To choose an idle CPU and to make the choice seen are two steps: wakers in a hurry pick the same
 * one, and the second wakee waits although the CPU it left is idle. Where waker and wakee run for
 * microseconds, the waking CPU is free sooner than any other.
 *
 *   target      the waker will leave soon: its CPU, before the loads are compared   (A)
 *   no search   instead of the search of the target's cache: the target itself      (B)
 *
 * Each version is a set of the tests below (crates/policy-sys/src/eras/short.rs):
 *
 *   test                              v1   v2   v3   v4   v5   v6   v7   v8
 *   A after an idle previous CPU      no   yes  yes  yes  yes  yes  after the loads, by B's tests
 *   B only where 5 nr < 3 w           yes  yes  no   no   yes  yes  no   no
 *   B not with an idle core           yes  yes  yes  yes  yes  yes  no   no
 *   B tasks of the target             any  1    1    1    <=1  <=1  <=1  <=1
 *   B wakee short                     yes  no   yes  yes  yes  yes  yes  yes
 *   B target = waking CPU             no   no   no   no   yes  yes  yes  yes
 *   no change of partners             no   no   no   no   no   yes  yes  yes
 *   B woke each other last            no   no   no   no   no   no   yes  yes
 *
 * nr is one more than the CPUs that a search may look at, w the CPUs of the cache. The prototype
 * that its authors dropped has B only: the target's task runs shorter than a search takes. Caches
 * of fewer CPUs than sis_short_min_llc have neither.
 *
 * What must stay: a version is a set of tests and nothing else; with the parameter off no figure of
 * runs is asked for. Free: the table of tests with its versions (eras/short.rs) and their
 * page.
 *
 * Tests by part: (below crates/policy-sys/tests; `every_fixture_holds` runs the fixtures)
 * all/short_wake.rs: `hunk_a_of_v5`, `hunk_a_crosses_caches`, `the_place_of_hunk_a`
 * (`wp_short_here`), `the_decision_table_in_one_go`, `each_version_stacks_as_its_row_says`
 * (`wp_short_pair`, `wp_wakee_short`, `wp_short_decide`), `where_the_gate_opens`,
 * `the_gate_needs_sis_util` (`wp_short_in_scan`, `wp_short_before_scan`),
 * `the_idle_task_is_not_short`, `the_flip_of_this_wake_up_counts` (`wp_curr_short`),
 * `the_prototype_compares_with_the_search` (`wp_scan_cost_ns`, `wp_note_scan_cost`);
 * fixtures/short: a-*.toml, b-*.toml.
 *
 * Callers: `wp_short_here`: select.c (wake_affine); `wp_short_before_scan`: idle_sibling.c,
 * idle_scan_5_11.c; `wp_short_in_scan`: idle_scan.c.
 *
 * Tests: fixtures/short, all/short_wake.rs
 */
#include "wakeplace/policy.h"

/* What searches from this CPU took on average, ns; kept for the prototype only. */
WP_INLINE u64 wp_scan_cost_ns(const struct wp_ctx *ctx, u32 cpu)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);

	return c->topo.llc_level == WP_NONE
		       ? 0
		       : WP_AT(c->balance.lb, c->topo.llc_level)->avg_scan_cost_ns;
}

/* A search from this CPU looked at so many: an eighth of the difference joins the average. */
WP_INLINE void wp_note_scan_cost(struct wp_ctx *ctx, u32 cpu, u32 scanned)
{
	struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	struct wp_lb *lb;

	if (ctx->params.sis_short_test != WP_SHORT_SCAN_COST || c->topo.llc_level == WP_NONE)
		return;
	lb = WP_AT(c->balance.lb, c->topo.llc_level);
	lb->avg_scan_cost_ns = wp_dur_next(lb->avg_scan_cost_ns, (u64)scanned * ctx->scan_cpu_ns);
}

/* Will the task that executes on `cpu` leave it soon? Its partners are the waker's. */
WP_INLINE int wp_curr_short(const struct wp_ctx *ctx, u32 cpu, const struct wp_request *req,
			    const struct wp_decision *dec)
{
	if (WP_AT(ctx->cpus, cpu)->topo.llc_size < ctx->params.sis_short_min_llc)
		return 0;
	if (ctx->params.sis_short_flips && dec->waker_flips)
		return 0;
	return wp_is_short(ctx, wp_curr_run(ctx, WP_AT(ctx->cpus, cpu)),
			   wp_scan_cost_ns(ctx, req->this_cpu));
}

/* Is the woken task one to go there? */
WP_INLINE int wp_wakee_short(const struct wp_ctx *ctx, const struct wp_task *task,
			     const struct wp_request *req, const struct wp_decision *dec)
{
	const struct wp_params *p = &ctx->params;
	const struct wp_cpu *here = WP_AT(ctx->cpus, req->this_cpu);

	if (p->sis_short_mutual && (!here->queue.curr_id || dec->waker_wakee != task->id ||
				    task->waker.last_wakee != here->queue.curr_id))
		return 0;
	if (!p->sis_short_wakee)
		return 1;
	if (p->sis_short_flips && task->waker.wakee_flips)
		return 0;
	return wp_is_short(ctx, wp_task_run(ctx, task), wp_scan_cost_ns(ctx, req->this_cpu));
}

/* Hunk B but for its gate: the target instead of a search. */
WP_INLINE int wp_short_pair(struct wp_ctx *ctx, const struct wp_task *task,
			    const struct wp_request *req, u32 target, const struct wp_decision *dec)
{
	const struct wp_params *p = &ctx->params;
	u32 nr = wp_nr_awake(WP_AT(ctx->cpus, target));

	if (p->sis_short_this && target != req->this_cpu)
		return 0;
	if (p->sis_short_no_core && ctx->smt && wp_hints(ctx, target)->idle.has_idle_cores)
		return 0;
	if (p->sis_short_alone == WP_SHORT_AT_MOST_ONE && nr > 1)
		return 0;
	if (p->sis_short_alone == WP_SHORT_ONE && nr != 1)
		return 0;
	return wp_curr_short(ctx, target, req, dec) && wp_wakee_short(ctx, task, req, dec);
}

/* Hunk A, at one of its places: does the waker's shortness make its CPU the target? */
WP_INLINE int wp_short_here(struct wp_ctx *ctx, const struct wp_task *task,
			    const struct wp_request *req, struct wp_decision *dec, u32 place)
{
	u32 here = req->this_cpu;
	int yes;

	if (ctx->params.sis_short_affine != place)
		return 0;
	if (place == WP_SHORT_AFFINE_LAST)
		yes = wp_short_pair(ctx, task, req, here, dec);
	else if (place == WP_SHORT_AFFINE_AFTER_PREV && wp_nr_awake(WP_AT(ctx->cpus, here)) != 1)
		yes = 0;
	else
		yes = wp_curr_short(ctx, here, req, dec);
	dec->short_target |= (u32)yes;
	return yes;
}

/* The target, instead of a search. */
WP_INLINE int wp_short_decide(const struct wp_ctx *ctx, struct wp_decision *dec, u32 target)
{
	dec->cpu = target;
	dec->rule = WP_RULE_IDLE_SIBLING;
	dec->reason = ctx->params.sis_short_test == WP_SHORT_SCAN_COST ? WP_REASON_SHORT_NO_SCAN :
									 WP_REASON_SHORT_STACK;
	return 1;
}

/* Before any search: decides for the target if short tasks stack there. */
WP_INLINE int wp_short_before_scan(struct wp_ctx *ctx, const struct wp_task *task,
				   const struct wp_request *req, u32 target,
				   struct wp_decision *dec)
{
	if (!ctx->params.sis_short_stack || ctx->params.sis_short_gate)
		return 0;
	return wp_short_pair(ctx, task, req, target, dec) && wp_short_decide(ctx, dec, target);
}

/* In the search, once it is known how far it may go: only where that is less than 60 % of the
 * CPUs. Never without sis_util: then it may look at all of them. */
WP_INLINE int wp_short_in_scan(struct wp_ctx *ctx, const struct wp_task *task,
			       const struct wp_request *req, u32 target, struct wp_decision *dec)
{
	if (!ctx->params.sis_short_stack || !ctx->params.sis_short_gate)
		return 0;
	if (5 * (u64)dec->scan_left >= 3 * (u64)WP_AT(ctx->cpus, target)->topo.llc_size)
		return 0;
	return wp_short_pair(ctx, task, req, target, dec) && wp_short_decide(ctx, dec, target);
}
