// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The slow path before 4.14 (docs/rules/linux-3-8.md#placement-3-8 step 5). Natively only. From the
 * highest domain with the request's flag downwards: the idlest group, the idlest CPU in it, then on
 * from the domains of that CPU that are smaller; where the local group is best, on to the child.
 * Nothing chosen at any level: a woken task stays on its previous CPU, a new one with its parent.
 *
 * power_idlest_cases (docs/rules/power-policy.md#p3-idlest-group): a local group that is best is
 * chosen like any other. So the walk goes on from the idlest CPU in it.
 *
 * power_single_shot (docs/rules/power-policy.md#power-placement-cleanup,
 * docs/rules/power-policy.md#p5-single-shot): the highest level alone decides, on a CPU of any core
 * in the group.
 *
 * What must stay: eras to 4.13 alone use it; the walk goes on from the chosen CPU's domains. Free:
 * the walk, for those eras alone, with its page.
 *
 * Tests by part: (below crates/policy-sys/tests; `every_fixture_holds` runs the fixtures)
 * fixtures/fork: 3-8-local-then-down.toml, 3-8-least-loaded-group.toml (`wp_find_idlest_down`,
 * `wp_levels_up_to`), 3-1-as-3-8.toml (`wp_find_idlest_cpu_3_1`); all/power_policy.rs:
 * `single_shot_takes_any_thread` (power_single_shot), `a_local_group_that_wins_is_chosen`
 * (power_idlest_cases).
 *
 * Callers: `wp_select_slow` (select.c).
 *
 * Kernel: find_idlest_cpu(), kernel/sched_fair.c, 3.1
 * Tests: fixtures/fork, all/power_policy.rs
 */
#include "wakeplace/policy.h"

/* The CPU of least load, of equals the one that stands for "here", else the first (3.1). */
WP_FN u32 wp_find_idlest_cpu_3_1(struct wp_ctx *ctx WP_NONNULL,
				 const struct wp_sched_group *g WP_NONNULL,
				 const struct wp_task *task WP_NONNULL, u32 here)
{
	u64 least = ~0ull;
	u32 i, found = here;

	WP_FOR(i, g->nr_cpus, WP_MAX_CPUS) {
		u32 cpu = *WP_AT(ctx->list, g->first_cpu + i);
		u64 load = wp_cpu_load(ctx, WP_AT(ctx->cpus, cpu));

		if (!wp_allowed(task, cpu))
			continue;
		if (load < least || (load == least && cpu == here)) {
			least = load;
			found = cpu;
		}
	}
	return found;
}

/* How many levels of `cpu`, from the lowest, end with its domain `dom_index`. */
WP_INLINE u32 wp_levels_up_to(const struct wp_ctx *ctx, u32 cpu, u32 dom_index)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	u32 i, n = 0;

	WP_FOR(i, c->topo.nr_levels, WP_MAX_LEVELS) {
		if (*WP_AT(c->topo.dom, i) == dom_index)
			n = i + 1;
	}
	return n;
}

/* Walk down from `dom_index` of the waking CPU. Fills `dec`. */
WP_FN int wp_find_idlest_down(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL,
			      const struct wp_request *request WP_NONNULL, u32 dom_index,
			      struct wp_decision *dec WP_NONNULL)
{
	u32 flag = wp_place_flag(request->kind);
	u32 i, levels = wp_levels_up_to(ctx, request->this_cpu, dom_index);
	u32 takes_local = ctx->params.power_idlest_cases | ctx->params.power_single_shot;
	struct wp_request req = *request;

	dec->rule = WP_RULE_SLOW_PATH;
	dec->reason = WP_REASON_SLOW_LOCAL;
	dec->cpu = request->kind == WP_PLACE_WAKE ? request->prev_cpu : request->this_cpu;
	/* A level is looked at twice at most: two domains may have the same span. */
	WP_FOR(i, 2 * WP_MAX_LEVELS, 2 * WP_MAX_LEVELS) {
		const struct wp_sched_domain *dom;
		const struct wp_sched_group *g;
		u32 index, group, cpu;

		if (!levels)
			break;
		levels--; /* if nothing is chosen: the child */
		index = *WP_AT(WP_AT(ctx->cpus, req.this_cpu)->topo.dom, levels);
		dom = WP_AT(ctx->doms, index);
		if (!(dom->flags & flag))
			continue;
		group = wp_idlest_group(ctx, index, task, &req, dec);
		WP_EXPLAIN(ctx, wp_drop_groups(ctx, dom, group != WP_NONE ? group :
				wp_local_group(ctx, index, req.this_cpu)));
		if (group == WP_NONE && dec->slow_reason == WP_REASON_NONE)
			break; /* nothing is allowed here, so nothing is below (P4) */
		if (group == WP_NONE && takes_local)
			group = wp_local_group(ctx, index, req.this_cpu);
		if (group == WP_NONE)
			continue;
		g = WP_AT(ctx->groups, dom->first_group + group);
		if (ctx->params.idlest_load == WP_IDLEST_31)
			cpu = wp_find_idlest_cpu_3_1(ctx, g, task, req.this_cpu);
		else
			cpu = wp_find_idlest_group_cpu(ctx, g, task, req.this_cpu, dec);
		dec->cpu = cpu;
		dec->reason = dec->slow_reason;
		if (ctx->params.power_single_shot)
			break;
		if (cpu == req.this_cpu)
			continue;
		req.this_cpu = cpu;
		index = wp_next_dom_down(ctx, cpu, dom->nr_cpus, flag);
		levels = index == WP_NONE ? 0 : wp_levels_up_to(ctx, cpu, index);
	}
	return 1;
}
