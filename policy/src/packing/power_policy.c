// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Power-aware placement (docs/rules/power-policy.md#power-scheduling,
 * docs/rules/power-policy.md#p9-policies, docs/rules/power-policy.md#p11-utilisation,
 * docs/rules/power-policy.md#p12-placement, docs/rules/power-policy.md#p13-small-tasks;
 * docs/decisions/032): a task joins the group that is fullest and still has room, so that other
 * groups stay empty.
 *
 *   T(x)      powersaving: CPUs of x; balance: its compute power / 1024, rounded
 *   used(x)   tasks on its CPUs
 *             power_placement_util=pelt: utilisation x fair tasks, and T(x) is the compute power
 *   walk      from the waking CPU's lowest level up, as far as a wake-up's common level: the first
 *             one with used < T that has a group with used < T decides; its fullest such group
 *   CPU       the least loaded; a small task that wakes or execs: one that runs already
 *
 * No level: as without this rule. Sums are in percent of a CPU, FULL = power_full_util per task.
 *
 * What must stay: percent of a CPU, and the order of levels, groups and CPUs (ties). Free:
 * the numbers of the policies, as parameters; who is the fullest only with the page.
 *
 * Tests by part: (below crates/policy-sys/tests) all/power_policy.rs:
 * `a_socket_is_full_at_its_threads_or_its_power` (`wp_pack_room`, `wp_pack_count`, `wp_pack_sum`,
 * `wp_pack_group`), `the_lowest_level_with_room_decides` (`wp_pack_decide`, `wp_pack_select`,
 * `wp_pack_level`, `wp_pack_leader`), `a_leader_that_is_not_allowed` (`wp_pack_cpu`),
 * `small_tasks_by_the_numbers` (`wp_small_room`, `wp_pack_task_util`),
 * `small_tasks_join_the_fullest_with_room`, `placement_by_utilisation_and_bursts` (`wp_pack_used`,
 * `wp_pack_util`), `placement_by_utilisation_counts_compute_power` (`wp_pack_place_room`,
 * `wp_pack_power_of`, `wp_pack_need`), `real_time_bounds_use` (`wp_pack_full`),
 * `use_of_a_little_cpu` (`wp_pack_scaled`); all/policy_matrix.rs:
 * `line_10_of_equal_places_the_previous` (`wp_pack_home`), `line_9_new_tasks_under_a_model`
 * (`wp_new_spreads`), `line_11_groups_full` (`wp_pack_active`).
 *
 * Callers: `wp_select_spread` (select.c); power_balance.c and nohz_4_16.c count by the same sums.
 *
 * Tests: all/power_policy.rs
 */
#include "wakeplace/policy.h"

/* Does packing decide anything at present? */
WP_INLINE int wp_pack_active(const struct wp_ctx *ctx)
{
	return wp_packing(ctx) > WP_POWER_PERFORMANCE;
}

/* Compute power of a CPU, 1024 = a whole one; a thread of a core has its share of the core's. */
WP_INLINE u64 wp_pack_power_of(const struct wp_ctx *ctx, const struct wp_cpu *c)
{
	const struct wp_sched_domain *core = WP_AT(ctx->doms, c->topo.dom[0]);

	if (WP_NOT_LIVE(ctx->params.capacity_form != WP_CAPACITY_SIGNALS))
		return c->load.capacity;
	if (!c->topo.nr_levels || !(core->flags & WP_SD_SHARE_CPUCAPACITY))
		return c->load.capacity;
	return (u64)c->load.capacity * (u32)wp_div(ctx->params.smt_gain, core->nr_cpus) >> 10;
}

/* Share of its time that a CPU is busy, percent. */
WP_INLINE u32 wp_pack_util(const struct wp_ctx *ctx, const struct wp_cpu *c)
{
	if (WP_NOT_LIVE(ctx->params.pelt_scale >= WP_PELT_RATIO))
		return (u32)wp_div(100 * c->load.avg.load_sum,
				   wp_max64(c->load.avg.runnable_sum, 1));
	return (u32)wp_div(100ull * wp_cpu_util_cfs(ctx, c), c->load.capacity_orig);
}

/* Share of a CPU's time that a task needs there, percent. */
WP_INLINE u32 wp_pack_task_util(const struct wp_ctx *ctx, const struct wp_task *task,
				const struct wp_cpu *c)
{
	if (WP_NOT_LIVE(ctx->params.pelt_scale >= WP_PELT_RATIO))
		return (u32)wp_div(100 * task->avg.load_sum, task->avg.runnable_sum + 1);
	return (u32)wp_div(100ull * wp_task_util_est(ctx, task), c->load.capacity_orig);
}

/* FULL less what real-time tasks take. With class_capacity=aged, which is 3.8's and 4.7's, there is
 * no average of theirs: rt_util is 0 and this is FULL (docs/decisions/032). */
WP_INLINE u32 wp_pack_full(const struct wp_ctx *ctx, const struct wp_cpu *c)
{
	return (u32)wp_sub(ctx->params.power_full_util,
			   wp_div(100ull * c->load.rt_util, c->load.capacity_orig));
}

/*
 * A share of a CPU on the scale of compute power, percent of a CPU of 1024, where the two are
 * compared. 3.8 knows shares of time only, and each of its CPUs has the power 1024.
 */
WP_INLINE u64 wp_pack_scaled(const struct wp_ctx *ctx, const struct wp_cpu *c, u64 percent)
{
	if (WP_NOT_LIVE(ctx->params.pelt_scale >= WP_PELT_RATIO))
		return percent;
	return percent * c->load.capacity_orig / WP_SCALE;
}

/* What placement takes for a CPU's use, percent. By utilisation only fair tasks count; what others
 * take bounds it. In a burst all count, since averages lag behind it. */
WP_INLINE u64 wp_pack_used(const struct wp_ctx *ctx, const struct wp_cpu *c, u32 waking)
{
	u64 full = ctx->params.power_full_util;

	if (ctx->params.power_placement_util == WP_POWER_UTIL_NR)
		return wp_nr_awake(c) * full;
	if (waking && c->idle.avg_idle_ns < ctx->params.power_burst_ns)
		return wp_nr_awake(c) * full;
	return c->queue.nr_fair *
	       wp_pack_scaled(ctx, c, wp_min(wp_pack_util(ctx, c), wp_pack_full(ctx, c)));
}

/* Add one CPU to the sums from which T(x) follows. */
WP_INLINE void wp_pack_count(const struct wp_ctx *ctx, const struct wp_cpu *c, u64 *power,
			     u64 *cpus)
{
	u64 one = WP_SCALE, own = wp_pack_power_of(ctx, c);

	if (ctx->params.power_freq) { /* it could run faster than it does now */
		one = wp_div(one * WP_SCALE, c->load.freq_scale);
		own = wp_div(own * WP_SCALE, c->load.freq_scale);
	}
	*cpus += one;
	*power += own;
}

/* T(x) x FULL. A thread has too little power for a task by itself, and yet runs one. */
WP_INLINE u64 wp_pack_room(const struct wp_ctx *ctx, u64 power, u64 cpus)
{
	u64 tasks = (power + WP_SCALE / 2) / WP_SCALE;

	if (wp_packing(ctx) == WP_POWER_POWERSAVING)
		tasks = cpus / WP_SCALE;
	return wp_max64(tasks, !!power) * ctx->params.power_full_util;
}

/*
 * What placement compares use with. By utilisation it is the compute power, under both policies,
 * and FULL stands for a CPU of 1024: in the series' tree FULL is 1024. So a thread, of power 589,
 * is full long before its core.
 */
WP_INLINE u64 wp_pack_place_room(const struct wp_ctx *ctx, u64 power, u64 cpus)
{
	if (ctx->params.power_placement_util == WP_POWER_UTIL_NR)
		return wp_pack_room(ctx, power, cpus);
	return power * ctx->params.power_full_util / WP_SCALE;
}

/* What is wanted of a group beside its room and its tasks. */
enum wp_power_want {
	WP_POWER_USE,       /* use, as placement counts it */
	WP_POWER_USE_WAKING, /* likewise for a wake-up */
	WP_POWER_TASKS_ONLY, /* no use, and room for tasks however placement counts */
};

/* Room and tasks of one group, and what is wanted. */
WP_INLINE void wp_pack_sum(const struct wp_ctx *ctx, const struct wp_sched_group *g,
			   struct wp_pack_sums *s, u32 want)
{
	u64 power = 0, cpus = 0, used = 0;
	u32 i, nr = 0;

	WP_FOR(i, g->nr_cpus, WP_MAX_CPUS) {
		const struct wp_cpu *c =
			WP_AT(ctx->cpus, *WP_AT(ctx->list, g->first_cpu + i));

		wp_pack_count(ctx, c, &power, &cpus);
		if (want != WP_POWER_TASKS_ONLY)
			used += wp_pack_used(ctx, c, want == WP_POWER_USE_WAKING);
		nr += wp_nr_awake(c);
	}
	s->room = want == WP_POWER_TASKS_ONLY ? wp_pack_room(ctx, power, cpus)
					      : wp_pack_place_room(ctx, power, cpus);
	s->used = used;
	s->nr_running = nr;
	s->power = power;
	s->cpus = cpus;
}

/* Room and tasks of one group of a decision, added to dec->power. */
WP_FN int wp_pack_group(const struct wp_ctx *ctx WP_NONNULL,
			const struct wp_sched_group *g WP_NONNULL,
			struct wp_decision *dec WP_NONNULL)
{
	struct wp_pack_place *p = &dec->power;

	wp_pack_sum(ctx, g, &p->sums, p->waking ? WP_POWER_USE_WAKING : WP_POWER_USE);
	p->power += p->sums.power;
	p->cpus += p->sums.cpus;
	p->used += p->sums.used;
	return 0;
}

/* What the task itself would add, percent of a CPU, for the test whether the domain is full. */
WP_INLINE u64 wp_pack_need(const struct wp_ctx *ctx, const struct wp_task *task,
			   const struct wp_request *req)
{
	const struct wp_cpu *here = WP_AT(ctx->cpus, req->this_cpu);

	if (ctx->params.power_placement_util == WP_POWER_UTIL_NR)
		return 0;
	if (req->kind == WP_PLACE_FORK) /* nothing is known of it */
		return ctx->params.power_full_util;
	return wp_pack_scaled(ctx, here, wp_pack_task_util(ctx, task, here));
}

/*
 * The group that a waking task goes back to if others are only as good: its cache is warm there,
 * and a CPU that is woken for it may be in a deep idle state. The series takes the waker's group,
 * then the first. WP_NONE: none.
 */
WP_INLINE u32 wp_pack_home(const struct wp_ctx *ctx, u32 dom_index, const struct wp_request *req)
{
	if (!ctx->params.power_prev_first || req->kind != WP_PLACE_WAKE ||
	    !wp_span_has(WP_AT(ctx->doms, dom_index), req->prev_cpu))
		return WP_NONE;
	return wp_local_group(ctx, dom_index, req->prev_cpu);
}

/* Has the domain room, and which of its groups is the fullest with some? WP_NONE: spread. */
WP_INLINE u32 wp_pack_leader(const struct wp_ctx *ctx, u32 dom_index, u32 home,
			     const struct wp_task *task, const struct wp_request *req,
			     struct wp_decision *dec)
{
	const struct wp_sched_domain *dom = WP_AT(ctx->doms, dom_index);
	struct wp_pack_place *p = &dec->power;
	u32 k, local = wp_local_group(ctx, dom_index, req->this_cpu);

	p->waking = req->kind == WP_PLACE_WAKE;
	p->leader = WP_NONE;
	p->least = ~0ull;
	p->used = 0;
	p->power = 0;
	p->cpus = 0;
	WP_FOR(k, dom->nr_groups, WP_MAX_CPUS) {
		u32 index = local + k < dom->nr_groups ? local + k : local + k - dom->nr_groups;
		u64 room;

		wp_pack_group(ctx, WP_AT(ctx->groups, dom->first_group + index), dec);
		room = wp_sub(p->sums.room, p->sums.used);
		WP_EXPLAIN(ctx, wp_drop_packed(ctx, WP_AT(ctx->groups, dom->first_group + index),
					       task, room ? WP_DROP_MORE_ROOM : WP_DROP_NO_ROOM));
		/* of equals the waking CPU's, then the previous one's, then the first */
		if (room && (room < p->least || (room == p->least && index == home &&
						 p->leader != local))) {
			p->least = room;
			p->leader = index;
		}
	}
	dec->nr_scanned += dom->nr_cpus;
	if (p->used + wp_pack_need(ctx, task, req) >=
	    wp_pack_place_room(ctx, p->power, p->cpus))
		return WP_NONE;
	return p->leader;
}

/* What a CPU has left beside a small task, percent, 0: nothing; above 0 the task may come. */
WP_FN int wp_small_room(const struct wp_ctx *ctx WP_NONNULL, const struct wp_task *task WP_NONNULL,
			u32 cpu)
{
	const struct wp_params *p = &ctx->params;
	const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
	u32 limit = wp_packing(ctx) == WP_POWER_BALANCE ? p->power_small_room_balance :
							  p->power_small_room_powersaving;
	u64 used = (u64)wp_pack_util(ctx, c) * wp_max(wp_nr_awake(c), 1);

	if (limit == WP_NONE)
		limit = p->power_full_util;
	used += (u64)p->power_small_factor * wp_pack_task_util(ctx, task, c);
	return used < limit ? (int)(limit - (u32)used) : 0;
}

/* The rule decides: 1, for the caller to return. */
WP_INLINE int wp_pack_decide(struct wp_decision *dec, u32 cpu, u32 reason)
{
	dec->cpu = cpu;
	dec->rule = WP_RULE_POWER;
	dec->reason = reason;
	return 1;
}

/* A CPU of the group that is allowed: for a small task the one with least room for it, above 0,
 * and not `here`; else the least loaded, of equals `here`. WP_NONE: none. */
WP_FN u32 wp_pack_cpu(const struct wp_ctx *ctx WP_NONNULL,
		      const struct wp_sched_group *g WP_NONNULL,
		      const struct wp_task *task WP_NONNULL, u32 here, u32 small)
{
	u64 least = ~0ull;
	u32 i, found = WP_NONE;

	WP_FOR(i, g->nr_cpus, WP_MAX_CPUS) {
		u32 cpu = *WP_AT(ctx->list, g->first_cpu + i);
		const struct wp_cpu *c = WP_AT(ctx->cpus, cpu);
		u64 value = wp_cpu_load(ctx, c);

		if (!wp_allowed(task, cpu) || !c->queue.online)
			continue;
		if (small) {
			value = (u32)wp_small_room(ctx, task, cpu);
			if (!value || cpu == here) {
				WP_EXPLAIN(ctx, wp_drop(ctx, cpu, WP_DROP_NO_ROOM));
				continue;
			}
		}
		if (value < least || (value == least && cpu == here)) {
			WP_EXPLAIN(ctx, wp_drop_worse(ctx, found, small));
			least = value;
			found = cpu;
		} else {
			WP_EXPLAIN(ctx, wp_drop_worse(ctx, cpu, small));
		}
	}
	return found;
}

/* One level: 1 if it decides. */
WP_LIVE_FN int wp_pack_level(const struct wp_ctx *ctx WP_NONNULL, u32 dom_index,
			     const struct wp_task *task WP_NONNULL,
			     const struct wp_request *req WP_NONNULL,
			     struct wp_decision *dec WP_NONNULL)
{
	const struct wp_sched_domain *dom = WP_AT(ctx->doms, dom_index);
	u32 home = wp_pack_home(ctx, dom_index, req), cpu;
	u32 leader = wp_pack_leader(ctx, dom_index, home, task, req, dec);
	const struct wp_sched_group *g;

	if (leader == WP_NONE)
		return 0;
	g = WP_AT(ctx->groups, dom->first_group + leader);
	/* Of a forked task nothing is known: it is not small. */
	if (ctx->params.power_small_tasks && req->kind != WP_PLACE_FORK &&
	    !(dom->flags & WP_SD_SHARE_CPUCAPACITY)) {
		if (wp_allowed(task, req->this_cpu) &&
		    wp_small_room(ctx, task, req->this_cpu) > 0) {
			WP_EXPLAIN(ctx, wp_drop_undo(ctx));
			return wp_pack_decide(dec, req->this_cpu, WP_REASON_POWER_SMALL_HERE);
		}
		cpu = wp_pack_cpu(ctx, g, task, req->this_cpu, 1);
		if (cpu != WP_NONE)
			return wp_pack_decide(dec, cpu, WP_REASON_POWER_SMALL_RUNNING);
	}
	cpu = wp_pack_cpu(ctx, g, task, leader == home ? req->prev_cpu : req->this_cpu, 0);
	return cpu != WP_NONE && wp_pack_decide(dec, cpu, WP_REASON_POWER_LEADER);
}

/*
 * Wake-ups are energy-aware's at present, and the mode packs by compute power: new tasks would come
 * upon one CPU, whose frequency rises for all that share its clock, and each wake-up alone finds
 * nothing better than where the task was (docs/guide/policy.md).
 */
WP_INLINE int wp_new_spreads(const struct wp_ctx *ctx)
{
	return ctx->params.power_new_spread && ctx->params.power_policy == WP_POWER_BY_MODE &&
	       ctx->energy_active && !ctx->overutilized && wp_packing(ctx) == WP_POWER_BALANCE;
}

/* The walk. `want_affine`: a wake-up that may stay near waker or previous CPU. 1: decided. */
WP_FN int wp_pack_select(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL,
			 const struct wp_request *req WP_NONNULL,
			 struct wp_decision *dec WP_NONNULL, u32 want_affine)
{
	const struct wp_cpu *here = WP_AT(ctx->cpus, req->this_cpu);
	u32 i, flag = wp_place_flag(req->kind);

	if (req->kind != WP_PLACE_WAKE && wp_new_spreads(ctx))
		return 0;
	if (req->kind != WP_PLACE_FORK)
		wp_sync_entity_load_avg(ctx, task);
	WP_FOR(i, here->topo.nr_levels, WP_MAX_LEVELS) {
		u32 index = *WP_AT(here->topo.dom, i);
		const struct wp_sched_domain *dom = WP_AT(ctx->doms, index);
		int common = want_affine && (dom->flags & WP_SD_WAKE_AFFINE) &&
			     wp_span_has(dom, req->prev_cpu);

		if ((common || (dom->flags & flag)) && wp_pack_level(ctx, index, task, req, dec))
			return 1;
		if (common || (!want_affine && !(dom->flags & flag)))
			break;
	}
	WP_EXPLAIN(ctx, wp_drop_undo(ctx));
	return 0;
}
