/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Read before the tree's fair.c (build.sh). Steps of balancing are functions of that file alone. A
 * prior declaration keeps each of them a function of its own, with a weak symbol. balance.c has the
 * strong one, which is called, and calls the tree's as wp_tree_*.
 *
 * What must stay: declarations are those of the tree, and only attributes are added; what a tree
 * does not have is not declared (probes). May change: which functions pass through the shim.
 *
 * Tests by part: crates/cli/tests/all/kernel_diff.rs: `the_cores_balancing_is_the_kernels` (each of
 * them is told).
 *
 * Tests: crates/cli/tests/all/kernel_diff.rs
 */
#ifndef __ASSEMBLY__
struct lb_env;
struct rq;
struct sched_group;
struct task_struct;

#define WP_LED(type, name, alias, args) \
	static type name args __attribute__((noipa)); \
	__asm__(".weak " #name "\n.globl wp_tree_" #alias "\n" \
		".hidden wp_tree_" #alias "\n.set wp_tree_" #alias ", " #name "\n")

#ifdef WPK_HAS_SHOULD_WE_BALANCE
WP_LED(int, should_we_balance, balances, (struct lb_env *env));
#endif
#ifdef WPK_HAS_FIND_SRC_GROUP
WP_LED(struct sched_group *, sched_balance_find_src_group, src_group, (struct lb_env *env));
#endif
#ifdef WPK_HAS_FIND_BUSIEST_GROUP
WP_LED(struct sched_group *, find_busiest_group, src_group, (struct lb_env *env));
#endif
#ifdef WPK_HAS_FIND_SRC_RQ
WP_LED(struct rq *, sched_balance_find_src_rq, src_rq, (struct lb_env *env,
							struct sched_group *group));
#endif
#ifdef WPK_HAS_FIND_BUSIEST_QUEUE
WP_LED(struct rq *, find_busiest_queue, src_rq, (struct lb_env *env, struct sched_group *group));
#endif
/* The two tell of a pull together. */
#if defined(WPK_HAS_DETACH_TASKS) && defined(WPK_HAS_CAN_MIGRATE_TASK)
WP_LED(int, detach_tasks, detach, (struct lb_env *env));
WP_LED(int, can_migrate_task, may_migrate, (struct task_struct *p, struct lb_env *env));
#endif
#ifdef WPK_HAS_NEED_ACTIVE_BALANCE
WP_LED(int, need_active_balance, pushes, (struct lb_env *env));
#endif
#endif
