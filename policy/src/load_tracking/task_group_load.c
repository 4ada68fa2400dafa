// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A task group's load, and what the entities that stand for it weigh
 * (docs/rules/signals.md#load-for-balancing; docs/rules/contended-lines.md#tg-load-avg;
 * docs/decisions/020).
 *
 * The load of a group is one word for all CPUs, the kernel's tg->load_avg: queues add to it what
 * they have changed by, weights are made of it. Each access is counted, for the home to charge: on
 * a large machine that word's cache line is what a wake-up waits for (docs/decisions/053).
 *
 * What must stay: each access of the shared word is counted, read and write apart;
 * group_accesses.rs has the numbers. Free: how the word is reached, as long as each access is
 * counted.
 *
 * Tests by part: (below crates/policy-sys/tests; `every_fixture_holds` runs the fixtures)
 * all/group_accesses.rs: `a_wakeup_that_stays_reads` (`wp_tg_ask`),
 * `a_small_change_is_not_written`, `writes_are_limited_by_queue_and_time`
 * (`wp_update_tg_load_avg`), `a_wakeup_that_moves_writes_here_and_later_there` (`wp_tg_tell_all`),
 * `groups_around_a_group_are_read_once_each` (`wp_tg_ask_outer`, `wp_tg_tell_outer`,
 * `wp_tg_outer_load`); all/group_weights.rs: `no_more_groups_around_a_group_than_there_is_room_for`
 * (`wp_tg_nest`, `wp_tg_init`); all/group_bandwidth.rs: `hints_are_kept_within_those_around`
 * (`wp_tg_set_uclamp`); fixtures/task-group: weight-*.toml (`wp_calc_group_shares`).
 *
 * Callers: task_group.c; crates/policy-sys/src/task_group.rs makes groups.
 *
 * Kernel: update_tg_load_avg(), calc_group_shares(), kernel/sched/fair.c; cpu_util_update_eff() as
 *         wp_tg_set_uclamp(), kernel/sched/core.c
 * Tests: all/group_accesses.rs, all/group_weights.rs, fixtures/task-group
 */
#include "wakeplace/policy.h"
#include "wakeplace/task_group.h"

/*
 * A queue tells its group that its load is `load` now (update_tg_load_avg). All CPUs fight for that
 * word: changes below 1/64 are not worth it, and from 6.7 on a queue tells once a millisecond.
 */
WP_INLINE void wp_update_tg_load_avg(const struct wp_ctx *ctx, const struct wp_cpu *c,
				     struct wp_tg_load *sum, struct wp_tg_part *part, u32 load)
{
	u32 was = part->counted, change = load > was ? load - was : was - load;

	if (c->load.clock_ns < part->next_write_ns || change <= was / 64)
		return;
	sum->load = sum->load - was + load;
	sum->writes++;
	part->counted = load;
	part->next_write_ns = c->load.clock_ns + (u64)ctx->params.tg_write_interval_us * 1000;
}

/* The part of time in which the group had load, in a weight: the load of a queue around it. */
WP_INLINE u32 wp_tg_outer_load(const struct wp_tg_queue *q, u32 weight)
{
	return (u32)wp_div(weight * q->entity.load_sum, wp_get_pelt_divider(&q->entity));
}

/* The queues around the group's on this CPU. */
WP_INLINE void wp_tg_tell_outer(const struct wp_ctx *ctx, const struct wp_cpu *c,
				struct wp_task_group *tg, struct wp_tg_queue *q)
{
	u32 i;

	WP_FOR(i, tg->nr_outer, WP_MAX_TG_OUTER)
		wp_update_tg_load_avg(ctx, c, &tg->outer[i], &q->outer[i],
				      wp_tg_outer_load(q, q->outer[i].weight));
}

/* The group is told of its queue's load, those around it of theirs, which followed. */
WP_INLINE void wp_tg_tell_all(struct wp_ctx *ctx, struct wp_task_group *tg, struct wp_cpu *c,
			      struct wp_tg_queue *q)
{
	wp_update_tg_load_avg(ctx, c, &tg->sum, &q->part, q->avg.load_avg);
	wp_tg_tell_outer(ctx, c, tg, q);
}

/* A new group of the root with these shares, on all CPUs. */
WP_FN int wp_tg_init(struct wp_ctx *ctx WP_NONNULL, struct wp_task_group *tg WP_NONNULL, u32 shares)
{
	u32 cpu;

	tg->sum.shares = shares;
	tg->bandwidth.first_throttled = WP_NONE;
	tg->bandwidth.last_throttled = WP_NONE;
	WP_FOR(cpu, ctx->nr_cpus, WP_MAX_CPUS) {
		WP_AT(tg->queue, cpu)->weight = shares;
		WP_AT(tg->queue, cpu)->runnable_weight = shares;
		WP_AT(tg->queue, cpu)->runtime.next_throttled = WP_NONE;
		WP_AT(tg->queue, cpu)->runtime.throttled_since_ns = ~0ull;
	}
	return 0;
}

/*
 * The hints of a group: no more than those in force for the group around it, and the least not
 * above the most (docs/rules/group-bandwidth.md#cpu-uclamp).
 */
WP_FN int wp_tg_set_uclamp(const struct wp_tg_path *path WP_NONNULL, u32 min, u32 max)
{
	struct wp_task_group *tg = *WP_AT(path->tg, 0);

	if (path->nr > 1) {
		const struct wp_task_group *around = *WP_AT(path->tg, 1);

		min = wp_min(min, around->uclamp_min);
		max = wp_min(max, around->uclamp_max);
	}
	tg->uclamp_max = max;
	tg->uclamp_min = wp_min(min, max);
	return 0;
}

/* The group is put into one more around it. 0: no level is left. */
WP_FN int wp_tg_nest(struct wp_ctx *ctx WP_NONNULL, struct wp_task_group *tg WP_NONNULL, u32 shares)
{
	u32 cpu, level = tg->nr_outer;

	if (level >= WP_MAX_TG_OUTER)
		return 0;
	tg->nr_outer = level + 1;
	tg->outer[level].shares = shares;
	WP_FOR(cpu, ctx->nr_cpus, WP_MAX_CPUS) {
		struct wp_tg_queue *q = WP_AT(tg->queue, cpu);

		q->outer[level].weight = q->weight;
		q->weight = shares;
		q->runnable_weight = shares;
	}
	return 1;
}

/*
 * Weight of an entity whose queue has this load (docs/rules/signals.md#load-for-balancing): the
 * group's shares by what the queue is of the group. `counted` is what group_load has of the queue;
 * what it has now takes that place.
 */
WP_FN u32 wp_calc_group_shares(u32 shares, u64 group_load, u32 counted, u32 load)
{
	u64 all = wp_sub(group_load, counted) + load;
	u64 weight = all ? wp_div((u64)shares * load, all) : (u64)shares * load;

	return (u32)wp_max64(wp_min64(weight, shares), WP_SHARES_MIN);
}

/* What the entity of a queue weighs, by a look at the group's load (calc_group_shares). */
WP_INLINE u32 wp_tg_ask(struct wp_tg_load *sum, const struct wp_tg_part *part, u32 load)
{
	sum->reads++;
	return wp_calc_group_shares(sum->shares, sum->load, part->counted, load);
}

/* What the entities of the groups around this one weigh, from the inside to the outermost. */
WP_INLINE u32 wp_tg_ask_outer(struct wp_task_group *tg, struct wp_tg_queue *q, u32 weight)
{
	u32 i;

	WP_FOR(i, tg->nr_outer, WP_MAX_TG_OUTER) {
		u32 load = wp_tg_outer_load(q, weight);

		q->outer[i].weight = weight;
		if (q->load_weight)
			load = wp_max(load, weight);
		weight = wp_tg_ask(&tg->outer[i], &q->outer[i], load);
	}
	return weight;
}
