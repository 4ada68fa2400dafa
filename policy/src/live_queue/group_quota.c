// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Control groups of the live scheduler: quotas (cpu.max). A group has a budget of run time. Each
 * period adds the quota, up to a quota and the burst. What its tasks run is taken off, on all CPUs
 * and in all groups around them. While the budget of one of these is used up, its tasks wait; what
 * they ran too long, up to a tick each, is missing in the next period
 * (docs/rules/live-queue.md#vq-quota).
 *
 * The kernel's periods begin with the first task. Here they pass by the clock, and are counted when
 * somebody asks.
 *
 * What must stay: quotas come in us, times are ns; whoever asks counts periods that have passed, so
 * a look twice counts once. Free: how periods are counted.
 *
 * Tests by part: (below crates/policy-sys/tests) all/live_groups.rs: `quotas`
 * (`wp_live_group_set_quota`, `wp_live_group_charge`, `wp_live_group_wait_ns`), `burst`
 * (`wp_live_group_refill`), `quotas_within_quotas` (groups around a group);
 * crates/policy-sys/src/live_group.rs: `who_looks_while_the_quota_is_added_looks_again` (another
 * CPU refills).
 *
 * Callers: crates/policy-sys/src/live_group.rs; crates/scx/src/bpf/cgroup.bpf.h.
 *
 * Kernel: tg_set_cfs_bandwidth() as wp_live_group_set_quota(), kernel/sched/core.c;
 *         __refill_cfs_bandwidth_runtime() as wp_live_group_refill(), account_cfs_rq_runtime() as
 *         wp_live_group_charge(), kernel/sched/fair.c
 * Tests: all/live_groups.rs
 */
#include "wakeplace/policy.h"

/* More than any group runs in a period: products of it fit 64 bits. */
#define WP_MOST_QUOTA_US (1ull << 30)
#define WP_MOST_PERIODS 4096ull
/* Others may charge the budget meanwhile. */
#define WP_REFILL_TRIES 4u
/* Another CPU is adding the quota: a look after so long finds it added. Chosen by us. */
#define WP_REFILL_LOOK_NS 50000ull

/* From now on: quota of each period, us; all ones: no limit. The first one is full. */
WP_FN int wp_live_group_set_quota(struct wp_live_groups *groups WP_NONNULL, u32 group,
				  u64 period_us, u64 quota_us, u64 burst_us)
{
	struct wp_live_group *g = WP_AT(groups->group, group);
	u64 quota = quota_us <= WP_MOST_QUOTA_US ? quota_us * 1000 : 0, had = g->quota_ns;

	if (!group || !g->known)
		return 0;
	g->quota_ns = 0;
	g->period_ns = wp_max64(wp_min64(period_us, WP_MOST_QUOTA_US), 1) * 1000;
	g->burst_ns = wp_min64(burst_us, WP_MOST_QUOTA_US) * 1000;
	g->start_ns = 0;
	g->budget_ns = 0;
	g->quota_ns = quota;
	if (!quota != !had)
		WP_ADD(&groups->limited, quota ? 1u : 0 - 1u);
	return 0;
}

/* Periods that have begun since the last look add their quota. */
WP_INLINE void wp_live_group_refill(struct wp_live_group *g, u64 now_ns)
{
	u64 start = g->start_ns, periods = wp_div(wp_sub(now_ns, start), g->period_ns);
	u64 most = g->quota_ns + g->burst_ns, budget, full;
	u32 i;

	if (!periods)
		return;
	WP_ADD(&g->refilling, 1u);
	if (WP_CAS(&g->start_ns, start, start + periods * g->period_ns) != start) {
		WP_ADD(&g->refilling, 0 - 1u);
		return;
	}
	for (i = 0; i < WP_REFILL_TRIES; i++) {
		budget = g->budget_ns;
		full = budget + wp_min64(periods, WP_MOST_PERIODS) * g->quota_ns;
		if ((s64)full > (s64)most)
			full = most;
		if (WP_CAS(&g->budget_ns, budget, full) == budget)
			break;
	}
	WP_ADD(&g->refilling, 0 - 1u);
}

/* A task of this group has run for so long. */
WP_FN int wp_live_group_charge(struct wp_live_groups *groups WP_NONNULL, u32 group, u64 ran_ns,
			       u64 now_ns)
{
	u32 level;

	WP_FOR(level, WP_LIVE_GROUP_LEVELS, WP_LIVE_GROUP_LEVELS) {
		struct wp_live_group *g = WP_AT(groups->group, group);

		if (!group)
			break;
		if (g->quota_ns) {
			wp_live_group_refill(g, now_ns);
			WP_ADD(&g->budget_ns, 0 - ran_ns);
		}
		group = g->parent;
	}
	return 0;
}

/* How long tasks of this group have to wait for the budget of one around them; 0: they may run. */
WP_FN u64 wp_live_group_wait_ns(struct wp_live_groups *groups WP_NONNULL, u32 group, u64 now_ns)
{
	u64 wait = 0, debt, end;
	u32 level;

	WP_FOR(level, WP_LIVE_GROUP_LEVELS, WP_LIVE_GROUP_LEVELS) {
		struct wp_live_group *g = WP_AT(groups->group, group);

		if (!group)
			break;
		group = g->parent;
		if (!g->quota_ns)
			continue;
		wp_live_group_refill(g, now_ns);
		if ((s64)g->budget_ns > 0)
			continue;
		/* Another CPU has begun the period, and adds its quota: who waited for the end of
		 * the period would miss it. If none does, one may just have ended: the budget is
		 * read anew. */
		if (WP_CAS(&g->refilling, 0, 0)) {
			wait = wp_max64(wait, WP_REFILL_LOOK_NS);
			continue;
		}
		debt = 0 - g->budget_ns;
		if ((s64)debt < 0)
			continue;
		end = g->start_ns + (wp_div(debt, g->quota_ns) + 1) * g->period_ns;
		wait = wp_max64(wait, wp_max64(wp_sub(end, now_ns), 1));
	}
	return wait;
}
