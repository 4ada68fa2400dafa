// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The fast path before 4.9. Natively only. First hit wins:
 *
 *   groups (3.8 to 4.8; docs/rules/linux-3-8.md#placement-3-8 step 4):
 *     1. the target
 *     2. the previous CPU, if it shares the target's cache
 *     3. from the cache domain down: the first group without the target whose CPUs are all idle
 *   levels (3.1; docs/rules/sched-mc.md#placement-3-1):
 *     1. the target
 *     2. the lowest idle CPU of the widest level that shares a cache, no wider than what spans both
 *        the waking and the previous CPU: what a narrower level found is forgotten again; not
 *        where power is saved by mc_strict (sched_mc_place.c)
 *
 * Nothing found: the target, busy. No capacity is looked at.
 *
 * What must stay: eras to 4.8 alone use it; groups and CPUs in their order. Free: the two
 * searches, for those eras alone.
 *
 * Tests by part: (below crates/policy-sys/tests; `every_fixture_holds` runs the fixtures)
 * fixtures/wake: 3-8-idle-prev.toml, 3-8-idle-core-before-sibling.toml,
 * 3-8-half-idle-cores-do-not-do.toml, 3-8-first-allowed-of-the-group.toml,
 * 4-7-idle-core-before-sibling.toml (`wp_select_idle_sibling_4_8`, `wp_idle_group_at`,
 * `wp_idle_group`), 3-1-crosses-caches.toml, 3-1-wider-level-overrides.toml,
 * 3-1-stops-where-both-are-spanned.toml (`wp_select_idle_sibling_3_1`, `wp_first_idle`).
 *
 * Callers: `wp_select_sibling_old` (select.c).
 *
 * Kernel: select_idle_sibling(), kernel/sched/fair.c, to 4.8
 * Tests: fixtures/wake
 */
#include "wakeplace/policy.h"

/* First CPU of the group that the task may use, if all CPUs of the group are idle. */
WP_FN u32 wp_idle_group(struct wp_ctx *ctx WP_NONNULL, const struct wp_sched_group *g WP_NONNULL,
			const struct wp_task *task WP_NONNULL)
{
	u32 i, found = WP_NONE;

	WP_FOR(i, g->nr_cpus, WP_MAX_CPUS) {
		u32 cpu = *WP_AT(ctx->list, g->first_cpu + i);

		if (!wp_idle_at(ctx, cpu)) {
			WP_EXPLAIN(ctx, wp_drop(ctx, cpu, WP_DROP_BUSY));
			if (found != WP_NONE)
				WP_EXPLAIN(ctx, wp_drop(ctx, found, WP_DROP_CORE_BUSY));
			return WP_NONE;
		}
		if (found == WP_NONE && wp_allowed(task, cpu))
			found = cpu;
	}
	return found;
}

/* The first such group of one level, from the target's own on in order; that one is not idle. */
WP_FN u32 wp_idle_group_at(struct wp_ctx *ctx WP_NONNULL, const struct wp_task *task WP_NONNULL,
			   u32 target, u32 level)
{
	const struct wp_cpu *t = WP_AT(ctx->cpus, target);
	const struct wp_sched_domain *dom = WP_AT(ctx->doms, *WP_AT(t->topo.dom, level));
	u32 k, own = *WP_AT(t->topo.group, level);

	WP_FOR(k, dom->nr_groups, WP_MAX_CPUS) {
		u32 index = own + k < dom->nr_groups ? own + k : own + k - dom->nr_groups;
		u32 cpu;

		if (index == own)
			continue;
		cpu = wp_idle_group(ctx, WP_AT(ctx->groups, dom->first_group + index), task);
		if (cpu != WP_NONE)
			return cpu;
	}
	return WP_NONE;
}

/* The form by groups. Fills `dec`, at worst with the busy target, and returns 1. */
WP_FN int wp_select_idle_sibling_4_8(struct wp_ctx *ctx WP_NONNULL,
				     const struct wp_task *task WP_NONNULL,
				     const struct wp_request *req WP_NONNULL, u32 target,
				     struct wp_decision *dec WP_NONNULL)
{
	const struct wp_cpu *t = WP_AT(ctx->cpus, target);
	u32 i, prev = req->prev_cpu;

	if (wp_idle_at(ctx, target))
		return wp_idle_decide(dec, target, WP_REASON_IDLE_TARGET);
	WP_EXPLAIN(ctx, wp_drop(ctx, target, WP_DROP_BUSY));
	if (prev != target && wp_cpus_share_cache(ctx, prev, target) && wp_idle_at(ctx, prev))
		return wp_idle_decide(dec, prev, WP_REASON_IDLE_PREV);
	if (prev != target)
		WP_EXPLAIN(ctx, wp_drop_prev(ctx, prev, target));
	if (t->topo.llc_level == WP_NONE)
		return wp_idle_decide(dec, target, WP_REASON_TARGET_NO_LLC);
	WP_FOR(i, t->topo.llc_level + 1, WP_MAX_LEVELS) {
		u32 level = t->topo.llc_level - i;
		u32 cpu = wp_idle_group_at(ctx, task, target, level);
		u32 reason = WP_REASON_IDLE_CPU;

		if (!level && wp_smt_dom(ctx, target) != WP_NONE)
			reason = WP_REASON_IDLE_SMT;
		else if (cpu != WP_NONE && wp_smt_dom(ctx, cpu) != WP_NONE)
			reason = WP_REASON_IDLE_CORE;
		if (wp_idle_decide(dec, cpu, reason))
			return 1;
	}
	return wp_idle_decide(dec, target, WP_REASON_TARGET_BUSY);
}

/* Lowest idle CPU of a domain that the task may use. */
WP_FN u32 wp_first_idle(struct wp_ctx *ctx WP_NONNULL, const struct wp_sched_domain *dom WP_NONNULL,
			const struct wp_task *task WP_NONNULL)
{
	u32 i;

	WP_FOR(i, dom->nr_cpus, WP_MAX_CPUS) {
		u32 cpu = *WP_AT(ctx->list, dom->first_cpu + i);

		if (wp_allowed(task, cpu) && wp_idle_at(ctx, cpu))
			return cpu;
		if (wp_allowed(task, cpu))
			WP_EXPLAIN(ctx, wp_drop(ctx, cpu, WP_DROP_BUSY));
	}
	return WP_NONE;
}

/* The form by levels. Fills `dec`, at worst with the busy target, and returns 1. */
WP_FN int wp_select_idle_sibling_3_1(struct wp_ctx *ctx WP_NONNULL,
				     const struct wp_task *task WP_NONNULL,
				     const struct wp_request *req WP_NONNULL, u32 target,
				     struct wp_decision *dec WP_NONNULL)
{
	const struct wp_cpu *t = WP_AT(ctx->cpus, target);
	u32 i, found = WP_NONE, reason = WP_REASON_IDLE_CPU;

	if (wp_idle_at(ctx, target))
		return wp_idle_decide(dec, target, WP_REASON_IDLE_TARGET);
	if (wp_mc_room_at(ctx, target))
		return wp_idle_decide(dec, target, WP_REASON_SAVES_POWER);
	WP_EXPLAIN(ctx, wp_drop(ctx, target, WP_DROP_BUSY));
	WP_FOR(i, t->topo.nr_levels, WP_MAX_LEVELS) {
		const struct wp_sched_domain *dom = WP_AT(ctx->doms, *WP_AT(t->topo.dom, i));
		u32 cpu;

		if (!(dom->flags & (WP_SD_SHARE_CPUCAPACITY | WP_SD_SHARE_LLC | WP_SD_SHARE_PKG)))
			break;
		cpu = wp_first_idle(ctx, dom, task);
		if (cpu != WP_NONE) {
			found = cpu;
			reason = dom->flags & WP_SD_SHARE_CPUCAPACITY ? WP_REASON_IDLE_SMT :
									WP_REASON_IDLE_CPU;
		}
		if (wp_span_has(dom, req->this_cpu) && wp_span_has(dom, req->prev_cpu))
			break;
	}
	if (wp_idle_decide(dec, found, reason))
		return 1;
	reason = t->topo.llc_level == WP_NONE ? WP_REASON_TARGET_NO_LLC : WP_REASON_TARGET_BUSY;
	return wp_idle_decide(dec, target, reason);
}
