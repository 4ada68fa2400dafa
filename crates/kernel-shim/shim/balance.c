// SPDX-License-Identifier: GPL-2.0-only
/*
 * Balancing: who balances a domain, from which group and queue it pulls and how much, which tasks
 * it takes, and whether it pushes the one that runs. Calls of these functions of fair.c come here
 * (fair.h), with what balancing found before and what came of it. The rules are the tree's own code
 * (docs/guide/kernel.md#in-a-run). A build whose accesses are priced has the tree's functions as
 * the compiler makes them, and tells nothing of balancing.
 *
 * What must stay: the tree's own functions run once and decide; state is read and never written. Of
 * a group's capacity, which the step refreshes first, the refreshed one is told. May change:
 * MOST_OFFERED, the most looks of detach_tasks() that are told.
 *
 * Tests by part: crates/cli/tests/all/kernel_diff.rs: `the_cores_balancing_is_the_kernels` (all
 * kinds: the core answers from these fields).
 *
 * Callers: boot.c (`watch_balance`); the rest the tree's fair.c, by the linker.
 *
 * Tests: crates/cli/tests/all/kernel_diff.rs
 */
#ifndef WPSIM_COHERENT
/* struct lb_env, as the tree's fair.c has it; which tasks of NUMA balancing count it calls so. */
enum fbq_type { WP_FBQ };
#include "attempt.h"

#ifdef WPK_HAS_FIND_SRC_GROUP
#define SRC_GROUP "sched_balance_find_src_group"
#define SRC_RQ "sched_balance_find_src_rq"
#else
#define SRC_GROUP "find_busiest_group"
#define SRC_RQ "find_busiest_queue"
#endif

/* A function of fair.c under a name of ours, and the one that is called in its place. */
#define LED(type, name, symbol, alias, args) \
	type name##_of_tree args __asm__("wp_tree_" alias); \
	type name##_and_tell args __asm__(symbol)

LED(int, balances, "should_we_balance", "balances", (struct lb_env *env));
LED(struct sched_group *, src_group, SRC_GROUP, "src_group", (struct lb_env *env));
LED(struct rq *, src_rq, SRC_RQ, "src_rq", (struct lb_env *env, struct sched_group *group));
LED(int, detach, "detach_tasks", "detach", (struct lb_env *env));
LED(int, may_migrate, "can_migrate_task", "may_migrate",
	(struct task_struct *p, struct lb_env *env));
LED(int, pushes, "need_active_balance", "pushes", (struct lb_env *env));

/*
 * A call of detach_tasks() looks at SCHED_NR_MIGRATE_BREAK tasks at most: 32 or 8 in 6.1.176,
 * 6.12.117 and 7.3.4, and in 5.10.223 (sched_nr_migrate_break). A changed tree's call that looks at
 * so many as this is not told of.
 */
#define MOST_OFFERED 256
#define OFFERED_WORDS BITS_TO_LONGS(NR_CPUS)

static struct wpk_offered *offered;
static struct task_struct **offered_tasks;
static wpk_u64 *offered_masks;
/* detach_tasks() is under way, and told. */
static struct wpk_balance *detaching;

/* Does the host listen? */
static bool balance_wanted(void)
{
	return signals_wanted() && host->balanced;
}

static unsigned int rd_overloaded(const struct root_domain *rd)
{
#ifdef WPK_HAS_RD_OVERLOADED
	return rd->overloaded;
#else
	return rd->overload;
#endif
}

static unsigned int idle_of(enum cpu_idle_type idle)
{
	if (idle == CPU_NEWLY_IDLE)
		return WPK_BALANCE_NEWLY_IDLE;
	return idle == CPU_IDLE ? WPK_BALANCE_IDLE : WPK_BALANCE_BUSY;
}

/* What affinity has held back. */
static unsigned int pinned_of(const struct lb_env *env)
{
	return (env->flags & LBF_ALL_PINNED ? WPK_PINNED_ALL : 0) |
		(env->flags & LBF_SOME_PINNED ? WPK_PINNED_SOME : 0);
}

/* The step, and all CPUs as it finds them. */
static void balance_before(struct wpk_balance *b, unsigned int kind, struct lb_env *env)
{
	struct root_domain *rd = cpu_rq(env->dst_cpu)->rd;
	struct sched_domain *sd;
	unsigned int cpu;

	*b = (struct wpk_balance){ .choices = choices };
	b->attempt = (struct wpk_attempt){
		.kind = kind,
		.cpu = env->dst_cpu,
		.idle = idle_of(env->idle),
		.nr_failed = env->sd->nr_balance_failed,
		.interval_ms = env->sd->balance_interval,
		.migration = env->migration_type,
		.overutilized = !!READ_ONCE(rd->overutilized),
		.overloaded = !!rd_overloaded(rd),
		.group_cpu = WPK_NONE,
		.src_cpu = WPK_NONE,
		.pinned = pinned_of(env),
		.imbalance = env->imbalance,
		.tick_ns = TICK_NSEC,
		.new_cpu = WPK_NONE,
	};
	for (sd = env->sd->child; sd; sd = sd->child)
		b->attempt.level++;
	for (cpu = 0; cpu < nr_cpus; cpu++)
		choice_of(&choices[b->nr_choices++], cpu, env->cpus);
}

/* What came of it, in the attempt and in the root domain. */
static void balance_after(struct wpk_balance *b, struct lb_env *env)
{
	struct root_domain *rd = cpu_rq(env->dst_cpu)->rd;
	struct wpk_attempt *a = &b->attempt;
	struct wpk_choice own = {};

	cache_of(&own, env->dst_cpu);
	a->nr_idle_scan_after = own.nr_idle_scan;
	a->migration_after = env->migration_type;
	a->imbalance_after = env->imbalance;
	a->overutilized_after = !!READ_ONCE(rd->overutilized);
	a->overloaded_after = !!rd_overloaded(rd);
	a->pinned_after = pinned_of(env);
	if (env->flags & LBF_DST_PINNED)
		a->new_cpu = env->new_dst_cpu;
	host->balanced(host->data, b);
}

/* The group to pull from. */
static void tell_group(struct wpk_balance *b, struct sched_group *group)
{
	if (!group)
		return;
	b->attempt.group_cpu = cpumask_first(sched_group_span(group));
	b->attempt.group_weight = group->group_weight;
}

int balances_and_tell(struct lb_env *env)
{
	struct wpk_balance b;

	if (!balance_wanted())
		return balances_of_tree(env);
	balance_before(&b, WPK_BALANCE_WHO, env);
	b.attempt.answer = !!balances_of_tree(env);
	balance_after(&b, env);
	return b.attempt.answer;
}

struct sched_group *src_group_and_tell(struct lb_env *env)
{
	struct sched_group *group;
	struct wpk_balance b;
	unsigned int cpu;

	if (!balance_wanted())
		return src_group_of_tree(env);
	balance_before(&b, WPK_BALANCE_GROUP, env);
	group = src_group_of_tree(env);
	tell_group(&b, group);
	for (cpu = 0; cpu < nr_cpus; cpu++) {
		choices[cpu].capacity = cpu_rq(cpu)->cpu_capacity;
		choices[cpu].nr_levels = 0;
		groups_of(&choices[cpu], cpu);
	}
	balance_after(&b, env);
	return group;
}

struct rq *src_rq_and_tell(struct lb_env *env, struct sched_group *group)
{
	struct wpk_balance b;
	struct rq *rq;

	if (!balance_wanted())
		return src_rq_of_tree(env, group);
	balance_before(&b, WPK_BALANCE_QUEUE, env);
	tell_group(&b, group);
	rq = src_rq_of_tree(env, group);
	if (rq)
		b.attempt.src_cpu = cpu_of(rq);
	balance_after(&b, env);
	return rq;
}

/* Is the task more than its rules of the root group know? */
static bool is_apart(struct task_struct *p)
{
	return (p->flags & PF_KTHREAD && p->nr_cpus_allowed == 1) ||
		queue_of(&p->se) != &task_rq(p)->cfs;
}

static unsigned int flags_of_offered(struct task_struct *p, struct lb_env *env)
{
	struct cfs_rq *cfs = queue_of(&p->se);
	unsigned int flags = 0;

	if (rcu_dereference_raw(env->src_rq->curr) == p || who_runs(env->src_rq) == p)
		flags |= WPK_OFFERED_RUNS;
	if (is_delayed(&p->se))
		flags |= WPK_OFFERED_DELAYED;
	if (p->policy == SCHED_IDLE)
		flags |= WPK_OFFERED_IDLE_POLICY;
	if (cfs->next == &p->se)
		flags |= WPK_OFFERED_BUDDY;
#ifdef WPK_HAS_LAST_BUDDY
	if (cfs->last == &p->se)
		flags |= WPK_OFFERED_BUDDY;
#endif
#ifdef WPK_HAS_INELIGIBLE_ON_DST
	if (!entity_eligible(cfs, &p->se))
		flags |= WPK_OFFERED_INELIGIBLE;
#endif
	if (is_apart(p))
		flags |= WPK_OFFERED_APART;
	return flags;
}

/*
 * What task_h_load() is about to say of a task of the root group: the whole load of the queue is
 * its share of the CPU, as of the jiffy's first question (part_of_cpu has why it is not called).
 */
static unsigned int h_load_next(struct task_struct *p)
{
#ifdef CONFIG_FAIR_GROUP_SCHED
	struct cfs_rq *cfs = &task_rq(p)->cfs;
	bool is_fresh = cfs->last_h_load_update == jiffies;

	return part_of_cpu(cfs, is_fresh ? cfs->h_load : cfs->avg.load_avg, p->se.avg.load_avg);
#else
	return p->se.avg.load_avg;
#endif
}

/* The task as the look finds it. */
static void offer_before(struct wpk_offered *o, struct task_struct *p, struct lb_env *env)
{
	wpk_u64 *mask = &offered_masks[detaching->nr_offered * OFFERED_WORDS];
	unsigned int i;

	*o = (struct wpk_offered){
		.task = p->thread.number,
		.flags = flags_of_offered(p, env),
		.h_load = h_load_next(p),
		.util = READ_ONCE(p->se.avg.util_avg),
		.util_est = task_estimate(p),
		.nr_running = env->src_rq->nr_running,
		.age_ns = env->src_rq->clock_task - p->se.exec_start,
#ifdef CONFIG_UCLAMP_TASK
		.uclamp_min = uclamp_eff_value(p, UCLAMP_MIN),
		.uclamp_max = uclamp_eff_value(p, UCLAMP_MAX),
#endif
	};
	for (i = 0; i < OFFERED_WORDS; i++)
		mask[i] = cpumask_bits(p->cpus_ptr)[i];
}

int may_migrate_and_tell(struct task_struct *p, struct lb_env *env)
{
	struct wpk_offered *o;
	int may;

	if (!detaching || detaching->nr_offered == MOST_OFFERED)
		return may_migrate_of_tree(p, env);
	o = &offered[detaching->nr_offered];
	offered_tasks[detaching->nr_offered] = p;
	offer_before(o, p, env);
	may = may_migrate_of_tree(p, env);
	if (may)
		o->flags |= WPK_OFFERED_MAY;
	detaching->nr_offered++;
	return may;
}

/* Who has left; a task that was looked at twice left the second time. */
static void tell_taken(struct wpk_balance *b, struct lb_env *env)
{
	struct task_struct *p;

	list_for_each_entry(p, &env->tasks, se.group_node) {
		unsigned int i = b->nr_offered;

		while (i-- > 0)
			if (offered_tasks[i] == p) {
				offered[i].flags |= WPK_OFFERED_TAKEN;
				break;
			}
	}
}

int detach_and_tell(struct lb_env *env)
{
	struct wpk_balance b;

	if (!balance_wanted())
		return detach_of_tree(env);
	balance_before(&b, WPK_BALANCE_DETACH, env);
	b.attempt.src_cpu = env->src_cpu;
	b.attempt.tries = min(env->loop_max, env->loop_break) - env->loop;
	b.offered = offered;
	b.allowed = offered_masks;
	b.nr_words = OFFERED_WORDS;
	detaching = &b;
	b.attempt.answer = detach_of_tree(env);
	detaching = NULL;
	tell_taken(&b, env);
	if (b.nr_offered < MOST_OFFERED)
		balance_after(&b, env);
	return b.attempt.answer;
}

int pushes_and_tell(struct lb_env *env)
{
	struct wpk_balance b;

	if (!balance_wanted())
		return pushes_of_tree(env);
	balance_before(&b, WPK_BALANCE_PUSH, env);
	b.attempt.src_cpu = env->src_cpu;
	b.attempt.answer = !!pushes_of_tree(env);
	balance_after(&b, env);
	return b.attempt.answer;
}

static void watch_balance(void)
{
	offered = wp_alloc(MOST_OFFERED * sizeof(*offered), 64);
	offered_tasks = wp_alloc(MOST_OFFERED * sizeof(*offered_tasks), 64);
	offered_masks = wp_alloc(MOST_OFFERED * OFFERED_WORDS * sizeof(*offered_masks), 64);
}
#else
static void watch_balance(void)
{
}
#endif
