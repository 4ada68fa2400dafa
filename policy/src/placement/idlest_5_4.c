// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The slow path's choice of a group by spare capacity and load
 * (docs/rules/capacity-aware.md#util-without-task, docs/rules/capacity-aware.md#spare-capacity;
 * 4.17 form of the load comparison). Natively only. A group is chosen, in this order:
 *  1. not for a fork: the local group, if its best CPU has room for half the task and is within the
 *     margin of the best elsewhere; else the group whose best CPU has that room
 *  2. by load per capacity: of the queued tasks first, of all recent tasks where that is close;
 *     before 4.10 of the queued tasks alone, with a margin for the local group
 * (docs/rules/linux-3-8.md#placement-3-8);
 *     power_idlest_cases: a local group that is not allowed never wins
 * (docs/rules/power-policy.md#power-placement-cleanup, docs/rules/power-policy.md#p3-idlest-group)
 *
 * What must stay: eras to 5.4 alone use it; loads are per capacity, margins percent. Free:
 * the arithmetic, for those eras alone, with its page and rows.
 *
 * Tests by part: (below crates/policy-sys/tests; `every_fixture_holds` runs the fixtures)
 * all/capacity_vectors.rs: `idlest_group_spare_rows`, `idlest_group_spare_margin`
 * (`wp_idlest_by_spare`, `wp_idlest_scale`), `idlest_spare_off_goes_by_load` (`wp_idlest_by_load`),
 * `forks_go_by_spare_capacity_as_posted` (`wp_find_idlest_group_5_4`: forks); all/asym_switches.rs:
 * `the_tasks_own_past_does_not_count` (`wp_idlest_load_sums`); fixtures/asym: spare-*.toml;
 * fixtures/fork: load-4-17-*.toml (`wp_idlest_offer`, `wp_idlest_margin`), 3-8-margin-*.toml (one
 * load), 3-8-forbidden-here-*.toml; all/power_policy.rs: `only_the_remote_group_is_allowed`
 * (power_idlest_cases).
 *
 * Callers: `wp_idlest_group` (idlest.c).
 *
 * Kernel: find_idlest_group(), kernel/sched/fair.c, to 5.4
 * Tests: fixtures/fork, fixtures/asym, all/capacity_vectors.rs
 */
#include "wakeplace/policy.h"

struct wp_idlest {
	u64 this_runnable;
	u64 this_avg;
	u64 min_runnable;
	u64 min_avg;
	u32 this_spare;
	u32 most_spare;
	u32 idlest;     /* index within the domain's groups */
	u32 spare_group;
	u32 reason;
	u32 form;
};

/* What loads are compared by. */
enum wp_idlest_form {
	WP_IDLEST_TWO_LOADS,
	WP_IDLEST_ONE_LOAD, /* before 4.10 there is nothing else to compare */
	WP_IDLEST_REMOTE,   /* likewise, and the local group is not allowed (power_idlest_cases) */
};

/* Margin in favour of the local group, percent of its load; and in load per capacity. */
WP_INLINE u32 wp_idlest_scale(u32 pct)
{
	return 100 + (pct - 100) / 2;
}

/* The margin in load, of percent above 100. */
WP_INLINE u32 wp_idlest_margin(u32 pct)
{
	return WP_SCALE * (pct - 100) / 100;
}

struct wp_idlest_group {
	u64 runnable;
	u64 avg;
	u32 spare;
	u32 allowed;
};

/* Loads per capacity and best spare capacity of one group. */
WP_FN int wp_idlest_load_sums(struct wp_ctx *ctx WP_NONNULL,
			      const struct wp_sched_group *g WP_NONNULL,
			      const struct wp_task *task WP_NONNULL,
			      struct wp_idlest_group *out WP_NONNULL)
{
	u32 i;

	out->runnable = 0;
	out->avg = 0;
	out->spare = 0;
	out->allowed = 0;
	WP_FOR(i, g->nr_cpus, WP_MAX_CPUS) {
		u32 cpu = *WP_AT(ctx->list, g->first_cpu + i);
		const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
		u32 util = wp_cpu_util_without(ctx, cpu, task);

		out->allowed |= (u32)wp_allowed(task, cpu);
		/* forkexec_idx and wake_idx are 0 in every domain: the load of now */
		out->runnable += wp_cpu_load(ctx, c);
		out->avg += c->load.avg.load_avg;
		out->spare = wp_max(out->spare, (u32)wp_sub(c->load.capacity, util));
	}
	out->runnable = wp_div(out->runnable * WP_SCALE, g->capacity);
	out->avg = wp_div(out->avg * WP_SCALE, g->capacity);
	return 0;
}

/* Keep a remote group if it is less loaded than the best so far. */
WP_INLINE void wp_idlest_offer(struct wp_idlest *s, const struct wp_idlest_group *sums, u32 group,
			       u32 pct)
{
	u32 imbalance = wp_idlest_margin(pct);

	if (s->form != WP_IDLEST_TWO_LOADS) {
		if (sums->runnable < s->min_runnable) {
			s->min_runnable = sums->runnable;
			s->idlest = group;
		}
	} else if (s->min_runnable > sums->runnable + imbalance) {
		s->min_runnable = sums->runnable;
		s->min_avg = sums->avg;
		s->idlest = group;
	} else if (sums->runnable < s->min_runnable + imbalance &&
		   100 * s->min_avg > wp_idlest_scale(pct) * sums->avg) {
		s->min_avg = sums->avg;
		s->idlest = group;
	}
	if (s->most_spare < sums->spare) {
		s->most_spare = sums->spare;
		s->spare_group = group;
	}
}

/*
 * The spare-capacity test (docs/rules/capacity-aware.md#spare-capacity): the reason if it decides.
 */
WP_INLINE u32 wp_idlest_by_spare(const struct wp_idlest *s, u32 util, u32 scale)
{
	if (s->this_spare > util / 2 && (u64)scale * s->this_spare > 100ull * s->most_spare)
		return WP_REASON_SLOW_LOCAL;
	return s->most_spare > util / 2 ? WP_REASON_SLOW_SPARE : WP_REASON_NONE;
}

/* The choice by load per capacity; WP_NONE: the local group. */
WP_INLINE u32 wp_idlest_by_load(struct wp_idlest *s, u32 pct)
{
	u32 imbalance = wp_idlest_margin(pct), scale = wp_idlest_scale(pct);

	s->reason = WP_REASON_SLOW_LOCAL;
	if (s->form == WP_IDLEST_REMOTE) {
		s->reason = s->idlest == WP_NONE ? WP_REASON_NONE : WP_REASON_SLOW_REMOTE;
		return s->idlest;
	}
	if (s->form == WP_IDLEST_ONE_LOAD) {
		if (s->idlest == WP_NONE || 100 * s->this_runnable < scale * s->min_runnable)
			return WP_NONE;
		s->reason = WP_REASON_SLOW_LOAD;
		return s->idlest;
	}
	if (s->idlest == WP_NONE || s->min_runnable > s->this_runnable + imbalance)
		return WP_NONE;
	if (s->this_runnable < s->min_runnable + imbalance &&
	    100 * s->this_avg < scale * s->min_avg)
		return WP_NONE;
	s->reason = WP_REASON_SLOW_LOAD;
	return s->idlest;
}

/* The group to go to: its index in the domain, WP_NONE = stay local. `reason` says why. */
WP_FN u32 wp_find_idlest_group_5_4(struct wp_ctx *ctx WP_NONNULL, u32 dom_index,
				   const struct wp_task *task WP_NONNULL,
				   const struct wp_request *req WP_NONNULL, u32 *reason WP_NONNULL)
{
	const struct wp_sched_domain *dom = WP_AT(ctx->doms, dom_index);
	u32 k, pct = dom->imbalance_pct;
	u32 local = wp_local_group(ctx, dom_index, req->this_cpu);
	struct wp_idlest s = {
		.min_runnable = ~0ull >> 1,
		.min_avg = ~0ull >> 8,
		.this_runnable = ~0ull >> 1,
		.this_avg = ~0ull >> 8,
		.idlest = WP_NONE,
		.spare_group = WP_NONE,
	};

	if (ctx->params.idlest_load != WP_IDLEST_410) {
		s.this_runnable = 0; /* a local group that is not allowed passes for empty ... */
		s.form = WP_IDLEST_ONE_LOAD;
		if (ctx->params.power_idlest_cases) /* ... or loses: until it is seen */
			s.form = WP_IDLEST_REMOTE;
	}

	WP_FOR(k, dom->nr_groups, WP_MAX_CPUS) {
		u32 index = local + k < dom->nr_groups ? local + k : local + k - dom->nr_groups;
		struct wp_idlest_group sums;

		wp_idlest_load_sums(ctx, WP_AT(ctx->groups, dom->first_group + index), task,
				    &sums);
		if (!sums.allowed)
			continue;
		if (index == local) {
			s.form = wp_min(s.form, WP_IDLEST_ONE_LOAD);
			s.this_runnable = sums.runnable;
			s.this_avg = sums.avg;
			s.this_spare = sums.spare;
		} else {
			wp_idlest_offer(&s, &sums, index, pct);
		}
	}
	if (ctx->params.idlest_spare &&
	    (req->kind != WP_PLACE_FORK || ctx->params.idlest_spare_fork)) {
		*reason = wp_idlest_by_spare(&s, task->avg.util_avg, wp_idlest_scale(pct));
		if (*reason != WP_REASON_NONE)
			return *reason == WP_REASON_SLOW_SPARE ? s.spare_group : WP_NONE;
	}
	k = wp_idlest_by_load(&s, pct);
	*reason = s.reason;
	return k;
}
