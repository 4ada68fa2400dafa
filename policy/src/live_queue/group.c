// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Control groups of the live scheduler: weights. The live queues have no queues in queues, as the
 * fair class has. A task weighs there what it would get of its group's shares, those of the groups
 * around it considered (docs/rules/live-queue.md#vq-groups):
 *
 *   weight = own x product over the groups around it of (shares x CPUs / load)
 *
 * The load of a group is the weight of its runnable tasks and what the groups in it have that are
 * runnable. It is a sum over all CPUs, so a task weighs the same wherever it waits: with load L,
 * the kernel's entity on a CPU weighs shares x CPUs x (load there) / L, and of that the task gets
 * own / (load there).
 *
 * CPUs is 1 up to 7.2. Since 7.3 (cgroup_mode concur) shares are meant for each CPU that the group
 * can use: CPUs is the number of its runnable tasks, as an average that is rounded down, or of CPUs
 * if there are fewer.
 *
 * Sums are kept as tasks become runnable and stop to be. The weight in a queue follows when the
 * task is queued, begins to run or a slice. While all groups have the default weight, none of this
 * is done, and each task has its own weight.
 *
 * What must stay: numbers of groups are the home's to keep; sums change atomically, since CPUs do
 * it side by side, and who has changed one looks afterwards at what its parent has of it. Fixed
 * point as stated at each function. Free: how sums are kept; what a task weighs only with the page.
 *
 * Tests by part: (below crates/policy-sys/tests) all/live_groups.rs:
 * `shares_are_divided_from_the_outside_in` (`wp_live_group_weight`, `wp_live_member_weigh`),
 * `shares_are_per_cpu_since_7_3` (`wp_live_group_share`, `wp_live_group_cpus`),
 * `whole_averages_count_since_7_3` (`wp_live_member_partial`), `tasks_share_by_their_own_weights`
 * (`wp_live_member_count`), `default_weights_leave_tasks_as_they_are` (`wp_live_group_count_odd`,
 * `wp_live_group_set_weight`), `who_sleeps_leaves_its_part` (`wp_live_member_leave`,
 * `wp_live_group_settle`, `wp_live_group_add_tasks`), `idle_groups` (`wp_live_group_set_idle`),
 * `groups_that_are_too_deep_and_places_that_are_taken` (`wp_live_group_new`, `wp_live_group_free`);
 * crates/scx/tests/parity/glue.rs: `two_settlers` (`wp_live_group_part`, `wp_live_group_enter`: two
 * CPUs at once).
 *
 * Callers: crates/policy-sys/src/live_group.rs, for the simulator's live queues;
 * crates/scx/src/bpf/cgroup.bpf.h.
 *
 * Kernel: sched_group_set_shares() as wp_live_group_set_weight(), sched_group_set_idle() as
 *         wp_live_group_set_idle(), calc_smp_shares() as wp_live_group_share(),
 *         calc_concur_shares() as wp_live_group_share(), tg_tasks() as wp_live_group_cpus(),
 *         kernel/sched/fair.c
 * Tests: all/live_groups.rs
 */
#include "wakeplace/policy.h"

#define WP_CGROUP_WEIGHT_DFL 100u

/* Products of it, of a weight and of WP_SCALE fit 64 bits. */
#define WP_LIVE_GROUP_MOST (1u << 24)

/* A task weighs at least such a part of its queue, or its turn might never come. */
#define WP_LIVE_GROUP_LEAST 4096u

/* A level takes two steps, one to write and one to look again. The rest is for levels that other
 * CPUs change meanwhile, a step each time. Chosen by us. */
#define WP_LIVE_GROUP_STEPS (8 * WP_LIVE_GROUP_LEVELS)

/*
 * Groups count as soon as one has another weight than all others by default. Its exchange is needed
 * even where nothing changes: by it other CPUs see the new weight before this one looks at what the
 * parent has of the group (wp_live_group_settle).
 */
WP_INLINE void wp_live_group_count_odd(struct wp_live_groups *groups, struct wp_live_group *g)
{
	u32 odd = g->known && (g->idle || g->shares != WP_SCALE);
	u32 was = WP_SWAP(&g->odd, odd);

	if (odd != was)
		WP_ADD(&groups->uneven, odd - was);
}

/*
 * A new group in `parent`, with the default weight. Returns its number, or the parent's if there is
 * no room for one or it is too deep: it counts as its parent then. A place is taken again once the
 * last task that it counted has left.
 */
WP_FN u32 wp_live_group_new(struct wp_live_groups *groups WP_NONNULL, u32 parent)
{
	u32 i, level = parent ? WP_AT(groups->group, parent)->level + 1 : 1;

	if (level > WP_LIVE_GROUP_LEVELS)
		return parent;
	WP_FOR(i, WP_MAX_LIVE_GROUPS, WP_MAX_LIVE_GROUPS) {
		struct wp_live_group *g = WP_AT(groups->group, i);

		if (!i || g->known || g->tasks || g->load || g->counted || WP_CAS(&g->known, 0, 1))
			continue;
		g->parent = parent;
		g->level = level;
		g->shares = WP_SCALE;
		g->idle = 0;
		g->quota_ns = 0;
		return i;
	}
	return parent;
}

/*
 * The kernel sums what the CPUs have told of their averages, and rounds down. A CPU tells what has
 * changed by 1/64 at least. An average that grows may end that much short of the whole, so that one
 * task less counts. A task that comes from another CPU brings its whole average at once.
 */
WP_INLINE u32 wp_live_group_cpus(const struct wp_live_groups *groups, const struct wp_live_group *g)
{
	return wp_max(wp_min((u32)wp_sub(g->tasks, g->partial != 0), groups->most_cpus), 1);
}

/* Does its CPU's average stay short of the task? Until its own is whole; and if it cannot move. */
WP_INLINE u32 wp_live_member_partial(const struct wp_task *task)
{
	return task->nr_allowed == 1 || task->avg.runnable_avg < WP_SCALE - WP_SCALE / 64;
}

/* What the group has of its parent's load while it has some load itself. */
WP_INLINE u32 wp_live_group_share(const struct wp_live_groups *groups,
				  const struct wp_live_group *g)
{
	return (u32)wp_min64((u64)g->shares * wp_live_group_cpus(groups, g), WP_LIVE_GROUP_MOST);
}

/* What the load of the group's parent is to have of it. */
WP_INLINE u32 wp_live_group_part(const struct wp_live_groups *groups, const struct wp_live_group *g)
{
	return (s32)g->load > 0 ? wp_live_group_share(groups, g) : 0;
}

/* The load of the group's parent has `part` of it, no longer `had`; nothing if another CPU has
 * changed that meanwhile. */
WP_INLINE void wp_live_group_enter(struct wp_live_groups *groups, struct wp_live_group *g, u32 had,
				   u32 part)
{
	u32 *load = &WP_AT(groups->group, g->parent)->load;

	if (WP_CAS(&g->counted, had, part) == had)
		WP_ADD_ORDERED(load, part - had);
}

/*
 * What the load of the group's parent has of it, and so on outwards. Other CPUs may do the same
 * side by side, each after it has changed the group. Who has written looks again: so the last one
 * that writes looks after its write, and whoever changes the group later looks after the change.
 * One of the two finds what is out of date.
 *
 * That a look is not made before the write or change is by their atomic operations, whose results
 * are used (WP_ADD_ORDERED): the addition to the load in wp_live_member_count, the exchange in
 * wp_live_group_count_odd for a weight, and the two of wp_live_group_enter. A caller that changes
 * what wp_live_group_part reads has one of them between the change and this.
 */
WP_INLINE void wp_live_group_settle(struct wp_live_groups *groups, u32 group)
{
	u32 step, had, part;

	WP_FOR(step, WP_LIVE_GROUP_STEPS, WP_LIVE_GROUP_STEPS) {
		struct wp_live_group *g = WP_AT(groups->group, group);

		if (!group)
			break;
		had = g->counted;
		part = wp_live_group_part(groups, g);
		if (part == had)
			group = g->parent;
		else
			wp_live_group_enter(groups, g, had, part);
	}
}

/* The group is gone. Tasks on their way out may still count in it. */
WP_FN int wp_live_group_free(struct wp_live_groups *groups WP_NONNULL, u32 group)
{
	struct wp_live_group *g = WP_AT(groups->group, group);

	if (!group)
		return 0;
	g->known = 0;
	wp_live_group_count_odd(groups, g);
	if (g->quota_ns)
		WP_ADD(&groups->limited, 0 - 1u);
	g->quota_ns = 0;
	return 0;
}

/* `weight` as in cpu.weight: 1 to 10,000, 100 by default. */
WP_FN int wp_live_group_set_weight(struct wp_live_groups *groups WP_NONNULL, u32 group, u32 weight)
{
	struct wp_live_group *g = WP_AT(groups->group, group);

	if (!group)
		return 0;
	g->shares = wp_max((weight * WP_SCALE + WP_CGROUP_WEIGHT_DFL / 2) / WP_CGROUP_WEIGHT_DFL,
			   1);
	g->idle = 0;
	wp_live_group_count_odd(groups, g);
	wp_live_group_settle(groups, group);
	return 0;
}

/* cpu.idle: the shares are those of a SCHED_IDLE task; without it again the default. */
WP_FN int wp_live_group_set_idle(struct wp_live_groups *groups WP_NONNULL, u32 group, u32 idle)
{
	struct wp_live_group *g = WP_AT(groups->group, group);

	if (!group || g->idle == !!idle)
		return 0;
	g->idle = !!idle;
	g->shares = idle ? WP_WEIGHT_IDLE_POLICY : WP_SCALE;
	wp_live_group_count_odd(groups, g);
	wp_live_group_settle(groups, group);
	return 0;
}

/* So many tasks of the group more are runnable, and so many more of them partial. */
WP_INLINE void wp_live_group_add_tasks(struct wp_live_groups *groups, u32 group, u32 more,
				       u32 partial)
{
	u32 level;

	WP_FOR(level, WP_LIVE_GROUP_LEVELS, WP_LIVE_GROUP_LEVELS) {
		struct wp_live_group *g = WP_AT(groups->group, group);

		if (!group)
			break;
		WP_ADD(&g->tasks, more);
		WP_ADD(&g->partial, partial);
		group = g->parent;
	}
}

/* The member counts in its group with this weight from now on; 0: not at all. */
WP_INLINE void wp_live_member_count(struct wp_live_groups *groups, struct wp_live_member *member,
				    u32 weight, u32 partial)
{
	struct wp_live_group *g = WP_AT(groups->group, member->group);
	u32 had = member->counted, was_partial = member->partial;

	if (weight == had && partial == was_partial)
		return;
	member->counted = weight;
	member->partial = partial;
	if (!weight != !had || partial != was_partial)
		wp_live_group_add_tasks(groups, member->group, (u32)!!weight - !!had,
					partial - was_partial);
	WP_ADD_ORDERED(&g->load, weight - had);
	wp_live_group_settle(groups, member->group);
}

/* It stops to be runnable, or leaves its group. */
WP_FN int wp_live_member_leave(struct wp_live_groups *groups WP_NONNULL,
			       struct wp_live_member *member WP_NONNULL)
{
	wp_live_member_count(groups, member, 0, 0);
	return 0;
}

/*
 * What the member weighs, rounded, and (`idle`) whether its outermost group is idle: all outside
 * of that group goes before it. A group that is idle within another one has the weight of an idle
 * one alone. A load that another CPU is about to change may be too low: the part of it that is
 * known counts at least.
 */
WP_INLINE u32 wp_live_group_weight(const struct wp_live_groups *groups,
				   const struct wp_live_member *member, u32 *idle)
{
	u64 weight = (u64)member->own_weight * WP_SCALE;
	u32 level, load, share, part = member->own_weight, group = member->group;

	WP_FOR(level, WP_LIVE_GROUP_LEVELS, WP_LIVE_GROUP_LEVELS) {
		const struct wp_live_group *g = WP_AT(groups->group, group);

		if (!group)
			break;
		load = g->load;
		if ((s32)load < (s32)part)
			load = part;
		share = wp_live_group_share(groups, g);
		weight = wp_div(weight * share, load);
		part = share;
		*idle = g->idle;
		group = g->parent;
	}
	return (u32)((weight + WP_SCALE / 2) / WP_SCALE);
}

/*
 * The task is queued, begins to run or begins a slice: it weighs what its groups leave it. Returns
 * 1 if that has changed: what runs is to be begun anew then (wp_live_queue_start).
 */
WP_FN int wp_live_member_weigh(struct wp_ctx *ctx WP_NONNULL,
			       struct wp_live_groups *groups WP_NONNULL,
			       struct wp_live_member *member WP_NONNULL,
			       struct wp_task *task WP_NONNULL, u64 now_ns)
{
	u32 weight = member->own_weight, idle = 0, was_idle = task->idle_policy;
	u32 counts = groups->uneven && member->group;

	member->weighed = counts;
	wp_live_member_count(groups, member, counts ? weight : 0,
			     counts && wp_live_member_partial(task));
	if (counts) {
		weight = wp_live_group_weight(groups, member, &idle);
		weight = wp_max(weight, WP_AT(ctx->cpus, task->cpu)->live.vq_load /
						WP_LIVE_GROUP_LEAST);
		weight = wp_max(weight, 1);
	}
	task->idle_policy = member->own_idle | idle;
	if (weight == task->weight)
		return task->idle_policy != was_idle;
	wp_reweight_task(ctx, task, weight, now_ns);
	return 1;
}
