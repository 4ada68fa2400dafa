// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The second half of balancing: which tasks of the source may move, and what follows when none did
 * (docs/rules/balancing.md#detach, docs/rules/balancing.md#active-balance).
 *
 * What must stay: a task that is taken (WP_OFFER_TAKE) is moved by the home; the home offers tasks
 * in its queue's order and ends with wp_balance_end(), which may ask for another round; loads and
 * counts are taken off the imbalance in the order of offers. Free: how a round is kept; which
 * tasks move only with the page.
 *
 * Tests by part: (below crates/policy-sys/tests; `every_fixture_holds` runs the fixtures)
 * all/balance_pass_7_3.rs: `which_tasks_move` (`wp_can_migrate_task`), `how_many_tasks`
 * (`wp_balance_offer`, `wp_source_spent`), `what_suits_the_imbalance` (`wp_take_by_kind`,
 * `wp_too_heavy`), `failures_lead_to_a_push` (`wp_balance_failed`, `wp_need_active_balance`,
 * `wp_balance_end`), `squeezed_task_is_pushed` (reduced capacity),
 * `misfit_task_is_pushed_to_a_big_cpu` (`wp_active_balance_end`); all/pulls.rs:
 * `idle_tasks_are_never_hot`, `buddies_are_hot_for_busy_cpus` (`wp_task_hot`),
 * `who_has_had_too_much_stays_at_first` (`wp_task_is_ineligible_on_dst_cpu`); all/balance.rs:
 * `pinned_tasks_end_the_search` (`wp_exclude`, `wp_sources_left`); fixtures/balance:
 * take-4-17-*.toml (`wp_take_by_load`, `wp_over_twice`), pinned-*.toml (`wp_balance_next`,
 * `wp_note_pinned`).
 *
 * Callers: crates/policy-sys/src/balance.rs (`Core::balance_offer`, `balance_end`);
 * crates/scx/src/bpf/pull.bpf.h.
 *
 * Kernel: can_migrate_task(), task_hot(), detach_tasks() as wp_balance_offer(),
 *         need_active_balance(), active_load_balance_cpu_stop() as wp_active_balance_end(),
 *         kernel/sched/fair.c; task_is_ineligible_on_dst_cpu(), kernel/sched/fair.c, 6.18
 * Tests: fixtures/balance, all/balance_pass_7_3.rs, all/pulls.rs
 */
#include "wakeplace/policy.h"

/* The task may not run on dst_cpu: may another CPU of its group take it? */
WP_INLINE void wp_note_pinned(struct wp_ctx *ctx, struct wp_lb_env *bal, const struct wp_task *task)
{
	const struct wp_sched_domain *dom = wp_bal_dom(ctx, bal);
	u32 group = *WP_AT(WP_AT(ctx->cpus, bal->this_cpu)->topo.group, bal->level);
	const struct wp_sched_group *g = WP_AT(ctx->groups, dom->first_group + group);
	u32 i;

	bal->some_pinned = 1;
	if (bal->idle == WP_CPU_NEWLY_IDLE || bal->new_dst_cpu != WP_NONE ||
	    WP_NOT_LIVE(!ctx->params.pinned_retry))
		return;
	WP_FOR(i, g->nr_balance, WP_MAX_CPUS) {
		u32 cpu = *WP_AT(ctx->list, g->first_balance + i);

		if (wp_allowed(task, cpu) && !wp_excluded(bal, cpu)) {
			bal->new_dst_cpu = cpu;
			break;
		}
	}
}

/* Would it go on waiting where it comes, since it has had more than its share? */
WP_INLINE int wp_task_is_ineligible_on_dst_cpu(const struct wp_ctx *ctx,
					       const struct wp_lb_env *bal)
{
	const struct wp_cpu *dst = WP_AT(ctx->cpus, bal->dst_cpu);

	return bal->offered_ineligible && dst->queue.nr_fair + dst->queue.h_nr_delayed;
}

/* Is the task likely to have data in the caches of src_cpu? */
WP_INLINE int wp_task_hot(const struct wp_ctx *ctx, const struct wp_lb_env *bal,
			  const struct wp_task *task)
{
	const struct wp_cpu *src = WP_AT(ctx->cpus, bal->src_cpu);

	if (ctx->params.idle_policy_cold && task->idle_policy)
		return 0;
	if (WP_NOT_LIVE(ctx->params.cache_hot_buddy && bal->offered_buddy) &&
	    WP_AT(ctx->cpus, bal->dst_cpu)->queue.nr_running)
		return 1;
	return src->load.clock_task_ns - task->exec_start_ns < ctx->params.migration_cost_ns;
}

/* May the offered task be pulled? Whom its mask holds back is noted in `bal`. */
WP_INLINE int wp_can_migrate_task(struct wp_ctx *ctx, struct wp_lb_env *bal,
				  const struct wp_task *task)
{
	const struct wp_lb *lb = wp_bal_lb(ctx, bal);

	if (WP_NOT_LIVE(ctx->params.pull_eligible) && !lb->nr_balance_failed &&
	    wp_task_is_ineligible_on_dst_cpu(ctx, bal))
		return 0;
	if (!wp_allowed(task, bal->dst_cpu)) {
		wp_note_pinned(ctx, bal, task);
		return 0;
	}
	bal->all_pinned = 0;
	if (task->running)
		return 0;
	/* Threads of a core share every cache. */
	if (ctx->params.balance_classes &&
	    (wp_bal_dom(ctx, bal)->flags & WP_SD_SHARE_CPUCAPACITY))
		return 1;
	if (wp_migrate_degrades_llc(ctx, bal, task))
		return 0;
	/* Cache-hot tasks stay until balancing has failed often enough. */
	return !wp_task_hot(ctx, bal, task) ||
	       lb->nr_balance_failed > wp_bal_dom(ctx, bal)->cache_nice_tries;
}

/* Every failure halves what a task seems to weigh, so that a heavy one moves in the end. */
WP_INLINE int wp_too_heavy(struct wp_ctx *ctx, const struct wp_lb_env *bal, u64 weight)
{
	return (s64)(weight >> wp_min(wp_bal_lb(ctx, bal)->nr_balance_failed, 31)) >
	       bal->imbalance;
}

/* Does the task suit the imbalance? Takes its share off it. */
WP_INLINE int wp_take_by_kind(struct wp_ctx *ctx, struct wp_lb_env *bal, const struct wp_task *task)
{
	u64 weight;

	switch (bal->migration_type) {
	case WP_MIGRATE_LOAD:
		weight = wp_max64(wp_task_h_load(ctx, task), 1);
		break;
	case WP_MIGRATE_UTIL:
		weight = wp_task_util_est(ctx, task);
		break;
	case WP_MIGRATE_TASK:
	case WP_MIGRATE_LLC_TASK:
		bal->imbalance--;
		return 1;
	default:
		if (wp_task_fits_cpu(ctx, task, bal->src_cpu))
			return 0;
		bal->imbalance = 0;
		return 1;
	}
	if (wp_too_heavy(ctx, bal, weight))
		return 0;
	bal->imbalance -= (s64)weight;
	return 1;
}

/* Before 5.5: at most twice as heavy as what is to move. */
WP_INLINE int wp_over_twice(const struct wp_ctx *ctx, const struct wp_lb_env *bal,
			    const struct wp_task *task)
{
	return (s64)(wp_task_h_load(ctx, task) / 2) > bal->imbalance;
}

/* Takes the task's load off what is to move; 0: it is too heavy. */
WP_INLINE int wp_take_by_load(struct wp_ctx *ctx, struct wp_lb_env *bal, const struct wp_task *task)
{
	if (wp_over_twice(ctx, bal, task))
		return 0;
	bal->imbalance -= (s64)wp_task_h_load(ctx, task);
	return 1;
}

/* A CPU without work leaves the source its last task; before 4.1 it took what it found. */
WP_INLINE int wp_source_spent(struct wp_ctx *ctx, const struct wp_lb_env *bal)
{
	return !wp_by_counts(ctx) && !bal->power.pulls && bal->idle != WP_CPU_NOT_IDLE &&
	       WP_AT(ctx->cpus, bal->src_cpu)->queue.nr_running <= 1;
}

/* May this task of src_cpu move? Returns enum wp_offer; a task taken must be moved. */
WP_FN int wp_balance_offer(struct wp_ctx *ctx WP_NONNULL, struct wp_lb_env *bal WP_NONNULL,
			   const struct wp_task *task WP_NONNULL)
{
	int take;

	if (wp_source_spent(ctx, bal))
		return WP_OFFER_STOP;
	if (!bal->tries_left || (bal->moved && bal->idle == WP_CPU_NEWLY_IDLE) ||
	    bal->imbalance <= 0)
		return WP_OFFER_STOP;
	bal->tries_left--;
	/*
	 * Older kernels looked at the weight before affinity, so a task that was too heavy counted
	 * as pinned.
	 */
	if (wp_by_counts(ctx) && wp_over_twice(ctx, bal, task))
		return WP_OFFER_SKIP;
	if (!wp_can_migrate_task(ctx, bal, task))
		return WP_OFFER_SKIP;
	take = ctx->params.balance_classes ? wp_take_by_kind(ctx, bal, task) :
					     wp_take_by_load(ctx, bal, task);
	if (!take)
		return WP_OFFER_SKIP;
	bal->moved++;
	return WP_OFFER_TAKE;
}

/* Nothing could be moved: push the running task instead? */
WP_INLINE int wp_need_active_balance(struct wp_ctx *ctx, const struct wp_lb_env *bal)
{
	const struct wp_sched_domain *dom = wp_bal_dom(ctx, bal);
	const struct wp_cpu *src = WP_AT(ctx->cpus, bal->src_cpu);
	const struct wp_cpu *dst = WP_AT(ctx->cpus, bal->this_cpu);

	if (wp_alb_break_llc(ctx, bal) && !wp_asym_active_balance(ctx, bal, dom))
		return 0;
#ifndef WP_LIVE
	if (!ctx->params.balance_classes && wp_asym_active_balance_5_4(ctx, bal))
		return 1;
	if (!ctx->params.newidle_push && bal->idle == WP_CPU_NEWLY_IDLE && !wp_mc_wakes(ctx))
		return 0;
#endif
	if (!wp_by_counts(ctx) && bal->idle != WP_CPU_NOT_IDLE && src->queue.nr_fair == 1 &&
	    wp_check_cpu_capacity(src, dom->imbalance_pct) &&
	    (u64)src->load.capacity * dom->imbalance_pct < (u64)dst->load.capacity * 100)
		return 1;
	if (wp_mc_pushes(ctx, bal))
		return 1;
	if (bal->migration_type == WP_MIGRATE_MISFIT ||
	    bal->migration_type == WP_MIGRATE_LLC_TASK || wp_asym_active_balance(ctx, bal, dom))
		return 1;
	if (ctx->params.balance_classes && bal->migration_type != WP_MIGRATE_TASK)
		return 0;
	return wp_bal_lb(ctx, bal)->nr_balance_failed > dom->cache_nice_tries + 2;
}

/* Nothing moved: counts the failure, and says what the attempt does next (WP_BALANCE_*). */
WP_INLINE int wp_balance_failed(struct wp_ctx *ctx, struct wp_lb_env *bal, u32 running_allowed)
{
	struct wp_lb *lb = wp_bal_lb(ctx, bal);
	struct wp_cpu *src = WP_AT(ctx->cpus, bal->src_cpu);
	const struct wp_sched_domain *dom = wp_bal_dom(ctx, bal);

	/* New-idle tries are many, and a misfit task says nothing of the rest: both would make
	 * balancing ruthless too soon. */
	if (bal->idle != WP_CPU_NEWLY_IDLE && !wp_misfit_apart(ctx, bal) && !bal->llc_pinned)
		lb->nr_balance_failed++;
	if (wp_need_active_balance(ctx, bal)) {
		if (!running_allowed) {
			bal->all_pinned |= !ctx->params.balance_classes;
			return wp_out_one_pinned(ctx, bal);
		}
		if (!src->balance.active_balance) {
			src->balance.active_balance = 1;
			bal->push = 1;
			bal->push_llc = bal->migration_type == WP_MIGRATE_LLC_TASK;
		}
		if (!ctx->params.balance_classes)
			lb->nr_balance_failed = dom->cache_nice_tries + 1;
	}
	if (!bal->push)
		lb->balance_interval_ms = wp_interval_min_ms(dom);
	else if (!ctx->params.balance_classes &&
		 lb->balance_interval_ms < wp_interval_max_ms(dom))
		lb->balance_interval_ms *= 2;
	return WP_BALANCE_DONE;
}

/* May a CPU of the domain outside the own group still be a source? */
WP_INLINE int wp_sources_left(struct wp_ctx *ctx, const struct wp_lb_env *bal)
{
	const struct wp_sched_domain *dom = wp_bal_dom(ctx, bal);
	const struct wp_cpu *self = WP_AT(ctx->cpus, bal->this_cpu);
	u32 i;

	WP_FOR(i, dom->nr_cpus, WP_MAX_CPUS) {
		u32 cpu = *WP_AT(ctx->list, dom->first_cpu + i);

		if (wp_excluded(bal, cpu) || cpu == bal->this_cpu)
			continue;
		/* The own group is the span of the domain below. */
		if (!bal->level ||
		    !wp_span_has(WP_AT(ctx->doms, *WP_AT(self->topo.dom, bal->level - 1)), cpu))
			return 1;
	}
	return 0;
}

/* The CPU is no source of this attempt any more. */
WP_INLINE void wp_exclude(struct wp_lb_env *bal, u32 cpu)
{
	*WP_AT(bal->excluded, cpu / 64u) |= 1ull << (cpu % 64u);
}

/* Another destination or source of the same attempt; returns enum wp_balance_step. */
WP_INLINE int wp_balance_next(struct wp_ctx *ctx, struct wp_lb_env *bal, u32 running_allowed)
{
	struct wp_lb *lb = wp_bal_lb(ctx, bal);
	u32 parent = wp_parent_group(ctx, bal);

	if (bal->new_dst_cpu != WP_NONE && bal->imbalance > 0) {
		/* not this one again, or two CPUs could hand the task back and forth for ever */
		wp_exclude(bal, bal->dst_cpu);
		bal->dst_cpu = bal->new_dst_cpu;
		bal->new_dst_cpu = WP_NONE;
		bal->tries_left = wp_min(ctx->params.nr_migrate,
					 WP_AT(ctx->cpus, bal->src_cpu)->queue.nr_running);
		return WP_BALANCE_DETACH;
	}
	/* The level above should know that this group could not be relieved because of affinity. */
	if (parent != WP_NONE && bal->some_pinned && bal->imbalance > 0)
		WP_AT(ctx->groups, parent)->imbalanced = 1;
	/* Where the running task is not among those offered, it is asked about here. */
	if (ctx->params.queue == WP_QUEUE_LIVE && running_allowed)
		bal->all_pinned = 0;
	/* Of a lone task none was offered: what follows is the question of a push. */
	if (!bal->moved && bal->all_pinned && wp_bal_several(WP_AT(ctx->cpus, bal->src_cpu))) {
		wp_exclude(bal, bal->src_cpu);
		if (wp_sources_left(ctx, bal))
			return wp_balance_find(ctx, bal);
		lb->nr_balance_failed = 0;
		return wp_out_one_pinned(ctx, bal);
	}
	if (!bal->moved)
		return wp_balance_failed(ctx, bal, running_allowed);
	lb->nr_balance_failed = 0;
	lb->balance_interval_ms = wp_interval_min_ms(wp_bal_dom(ctx, bal));
	return WP_BALANCE_DONE;
}

/*
 * All tasks were offered. `running_allowed`: the task that src_cpu executes may use this_cpu.
 * Returns enum wp_balance_step; WP_BALANCE_DETACH: another round.
 */
WP_FN int wp_balance_end(struct wp_ctx *ctx WP_NONNULL, struct wp_lb_env *bal WP_NONNULL,
			 u32 running_allowed)
{
	return wp_balance_over(ctx, bal, wp_balance_next(ctx, bal, running_allowed));
}

/* The push that wp_balance_end asked for is over. */
WP_FN int wp_active_balance_end(struct wp_ctx *ctx WP_NONNULL, u32 src_cpu, u32 dst_cpu, u32 level,
			  u32 moved)
{
	WP_AT(ctx->cpus, src_cpu)->balance.active_balance = 0;
	if (moved)
		WP_AT(WP_AT(ctx->cpus, dst_cpu)->balance.lb, level)->nr_balance_failed = 0;
	return 0;
}
