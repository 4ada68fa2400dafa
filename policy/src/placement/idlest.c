// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The slow path: the idlest group, then the idlest CPU in it, from a domain downwards
 * (docs/rules/wake-ups.md#slow-path; docs/rules/capacity-aware.md#idlest-cpu). How groups compare
 * is in idlest_class.c, in the form before 5.5 in idlest_5_4.c.
 *
 * What must stay: domains go down from the highest with the request's flag; of equals the first, in
 * list order. Free: how a level is looked up; not the order of levels.
 *
 * Tests by part: (below crates/policy-sys/tests; `every_fixture_holds` runs the fixtures)
 * all/slow_7_3.rs: `fork_goes_to_more_idle_cpus` (`wp_find_idlest_cpu`, `wp_idlest_group`),
 * `affinity` (`wp_dom_allowed`), `cpu_in_the_group` (`wp_find_idlest_group_cpu`);
 * all/capacity_vectors.rs: `idlest_cpu_of_a_group`; all/asym_switches.rs:
 * `a_group_of_one_needs_no_look`; fixtures/fork: cpu-*.toml (`wp_find_idlest_group_cpu`);
 * all/explain.rs: `tc2_case_a` (two levels: `wp_next_dom_down`).
 *
 * Callers: `wp_select_slow` (select.c); `wp_idlest_group`, `wp_find_idlest_group_cpu` and
 * `wp_next_dom_down` also idlest_4_13.c.
 *
 * Kernel: find_idlest_cpu(), find_idlest_group_cpu(), sched_balance_find_dst_cpu() as
 *         wp_find_idlest_cpu(), sched_balance_find_dst_group_cpu() as wp_find_idlest_group_cpu(),
 *         kernel/sched/fair.c
 * Tests: fixtures/fork, fixtures/exec, all/slow_7_3.rs
 */
#include "wakeplace/policy.h"

/* The group to go to: its index in the domain, WP_NONE = stay local; dec->slow_reason says why. */
WP_INLINE u32 wp_idlest_group(struct wp_ctx *ctx, u32 dom_index, const struct wp_task *task,
			      const struct wp_request *req, struct wp_decision *dec)
{
#ifndef WP_LIVE
	if (!ctx->params.idlest_classes)
		return wp_find_idlest_group_5_4(ctx, dom_index, task, req, &dec->slow_reason);
#endif
	return wp_find_idlest_group(ctx, dom_index, task, req->this_cpu, dec);
}

/* May the task use some CPU of the domain? */
WP_INLINE int wp_dom_allowed(const struct wp_sched_domain *dom, const struct wp_task *task)
{
	u64 both = 0;
	u32 i;

	for (i = 0; i < WP_MASK_WORDS; i++)
		both |= dom->span[i] & task->allowed[i];
	return both != 0;
}

/*
 * The CPU to take in a group: an idle one with the cheapest way out of its idle state, of equals
 * the one idle since last; without an idle one the least loaded. A CPU with only SCHED_IDLE tasks
 * needs no way out of anything. The CPU of a group of one need not be looked at
 * (docs/rules/capacity-aware.md#idlest-cpu); that the task may use it has been checked.
 */
WP_FN u32 wp_find_idlest_group_cpu(struct wp_ctx *ctx WP_NONNULL,
				   const struct wp_sched_group *g WP_NONNULL,
				   const struct wp_task *task WP_NONNULL, u32 this_cpu,
				   struct wp_decision *dec WP_NONNULL)
{
	u32 i, idle_cpu = WP_NONE, least_cpu = this_cpu, exit_us = WP_NONE;
	u64 stamp = 0, least = ~0ull;

	if (ctx->params.idlest_single_cpu && g->nr_cpus == 1)
		return *WP_AT(ctx->list, g->first_cpu);
	WP_FOR(i, g->nr_cpus, WP_MAX_CPUS) {
		u32 cpu = *WP_AT(ctx->list, g->first_cpu + i);
		const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);

		if (!wp_allowed(task, cpu))
			continue;
		dec->nr_idlest_cpus++;
		if (ctx->params.idlest_classes && wp_sched_idle_for(ctx, c, task))
			return cpu;
		WP_EXPLAIN(ctx, wp_drop(ctx, cpu, wp_cpu_idle(c) ? WP_DROP_IDLE_STATE :
								   WP_DROP_BUSY));
		if (wp_cpu_idle(c)) {
			u32 us = c->idle.idle_exit_latency_us;

			if (us < exit_us) { /* WP_NONE, not known, is never less */
				exit_us = us;
				stamp = c->idle.idle_stamp_ns;
				idle_cpu = cpu;
			} else if ((us == WP_NONE || us == exit_us) &&
				   (idle_cpu == WP_NONE || c->idle.idle_stamp_ns > stamp)) {
				stamp = c->idle.idle_stamp_ns;
				idle_cpu = cpu;
			}
		} else if (idle_cpu == WP_NONE) {
			u64 load = wp_cpu_load(ctx, c);

			if (load < least) {
				least = load;
				least_cpu = cpu;
			}
		}
	}
	return idle_cpu != WP_NONE ? idle_cpu : least_cpu;
}

/* Highest domain of `cpu` that is smaller than `weight` CPUs and has `flag`; WP_NONE if there is
 * none. */
WP_INLINE u32 wp_next_dom_down(const struct wp_ctx *ctx, u32 cpu, u32 weight, u32 flag)
{
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	u32 i, found = WP_NONE;

	WP_FOR(i, c->topo.nr_levels, WP_MAX_LEVELS) {
		const struct wp_sched_domain *dom = WP_AT(ctx->doms, *WP_AT(c->topo.dom, i));

		if (dom->nr_cpus >= weight)
			break;
		if (dom->flags & flag)
			found = *WP_AT(c->topo.dom, i);
	}
	return found;
}

/*
 * Walk down from `dom_index` of the waking CPU. The CPU that stands for "here" moves with the
 * choice; if every level prefers its local group the waking CPU itself is the answer. Fills `dec`.
 */
WP_FN int wp_find_idlest_cpu(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL,
		       const struct wp_request *request WP_NONNULL, u32 dom_index,
		       struct wp_decision *dec WP_NONNULL)
{
	u32 flag = wp_place_flag(request->kind);
	u32 i;
	struct wp_request req = *request;

	dec->rule = WP_RULE_SLOW_PATH;
	dec->reason = WP_REASON_SLOW_LOCAL;
	dec->cpu = request->this_cpu;
	if (ctx->params.idlest_classes && !wp_dom_allowed(WP_AT(ctx->doms, dom_index), task)) {
		dec->cpu = request->prev_cpu;
		return 1;
	}
	WP_FOR(i, WP_MAX_LEVELS, WP_MAX_LEVELS) {
		const struct wp_sched_domain *dom;
		u32 group;

		if (dom_index == WP_NONE)
			break;
		dom = WP_AT(ctx->doms, dom_index);
		group = wp_idlest_group(ctx, dom_index, task, &req, dec);
		WP_EXPLAIN(ctx, wp_drop_groups(ctx, dom, group != WP_NONE ? group :
				wp_local_group(ctx, dom_index, req.this_cpu)));
		if (group != WP_NONE) {
			req.this_cpu = wp_find_idlest_group_cpu(
				ctx, WP_AT(ctx->groups, dom->first_group + group), task,
				req.this_cpu, dec);
			dec->cpu = req.this_cpu;
			dec->reason = dec->slow_reason;
		}
		dom_index = wp_next_dom_down(ctx, req.this_cpu, dom->nr_cpus, flag);
	}
	return 1;
}
