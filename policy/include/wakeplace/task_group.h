// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Task groups with shares (docs/rules/signals.md#pelt-update,
 * docs/rules/signals.md#load-for-balancing; docs/decisions/020): one level deep, or with groups
 * around a group that hold nothing else. Only the simulator has them: no part of this is in the
 * live build.
 *
 * A group has a queue of its own on each CPU. On the CPU's queue one entity stands for it there,
 * whose weight is the part of the group's shares that the load on this CPU is of the group's whole
 * load. The memory is the home's: one struct per group, never a pointer from the context to it.
 *
 * Tasks of a group take these entry points instead of those of rq.c with the same names, and
 * wp_tg_prepare before each question about them. nr_fair, util_est and hints of struct wp_cpu count
 * the tasks of all groups; load_weight counts entities.
 */
#ifndef WAKEPLACE_TASK_GROUP_H
#define WAKEPLACE_TASK_GROUP_H

#include "wakeplace/policy.h"

#define WP_MAX_TASK_GROUPS 64u
/* What the kernel takes as cpu.shares. */
#define WP_SHARES_MIN 2u
#define WP_SHARES_MAX 262144u
/* Groups around a group. */
#define WP_MAX_TG_OUTER 3u

/* What a queue has told its group of its load (update_tg_load_avg). */
struct wp_tg_part {
	u64 next_write_ns; /* not before, under tg_write_interval_us */
	u32 counted;       /* its part of the group's load */
	u32 weight;        /* around a group: of the one entity that is in this queue */
};

/* The kernel's tg->load_avg, a word that all CPUs read and write. */
struct wp_tg_load {
	u64 load;   /* of all its queues, each as it was when it last told */
	u32 shares;
	u32 reads;  /* since the home last zeroed it: one for each weight that is made of it */
	u32 writes; /* ... likewise: one for each queue that told it of a change */
	u32 pad;
};

/* A group's queue on one CPU, and the entity that stands for it on the CPU's queue. */
struct wp_tg_queue {
	struct wp_sched_avg avg; /* of its tasks */
	struct wp_sched_avg entity; /* of the entity */
	u64 removed_load;     /* of tasks that left while sleeping, taken off at the next update */
	u64 removed_runnable; /* to 5.6: their unweighted sums */
	u64 removed_util;
	s64 moved_load_sum; /* unweighted load that joined or left since the entity last heard */
	u32 nr_removed;
	u32 moved;       /* tasks joined or left since then */
	u32 load_weight; /* sum of weights of its queued tasks */
	u32 nr;          /* queued tasks */
	u32 running;     /* one of them executes */
	u32 weight;          /* of the entity */
	u32 runnable_weight; /* ... without the part for load that sleeps (to 5.6) */
	struct wp_tg_part part;
	/* Of the groups around it, from the inside: their queues hold nothing but one entity,
	 * whose signals are `entity`'s, in a weight of its own. `weight` is the outermost one's. */
	struct wp_tg_part outer[WP_MAX_TG_OUTER];
};

struct wp_task_group {
	struct wp_tg_load sum;
	struct wp_tg_load outer[WP_MAX_TG_OUTER];
	u32 nr_outer;
	u32 pad;
	struct wp_tg_queue queue[WP_MAX_CPUS];
};

/* task_group_load.c: a zero-filled group with these shares */
int wp_tg_init(struct wp_ctx *ctx WP_NONNULL, struct wp_task_group *tg WP_NONNULL, u32 shares);
/* ... puts it, before the first event, into a new group with these shares. 0: no room for one */
int wp_tg_nest(struct wp_ctx *ctx WP_NONNULL, struct wp_task_group *tg WP_NONNULL, u32 shares);
u32 wp_calc_group_shares(u32 shares, u64 group_load, u32 counted, u32 load);
u32 wp_tg_h_load(const struct wp_ctx *ctx WP_NONNULL, const struct wp_task_group *tg WP_NONNULL,
		 const struct wp_task *task WP_NONNULL);
int wp_tg_prepare(struct wp_ctx *ctx WP_NONNULL, struct wp_task_group *tg WP_NONNULL,
		  struct wp_task *task WP_NONNULL);

/* ... events of its tasks. wp_tg_enqueue: on the CPU that the task is on. */
int wp_tg_task_new(struct wp_ctx *ctx WP_NONNULL, struct wp_task_group *tg WP_NONNULL,
		   struct wp_task *task WP_NONNULL, u32 cpu, u64 now_ns);
int wp_tg_task_set_weight(struct wp_ctx *ctx WP_NONNULL, struct wp_task_group *tg WP_NONNULL,
			  struct wp_task *task WP_NONNULL, u32 weight, u64 now_ns);
int wp_tg_enqueue(struct wp_ctx *ctx WP_NONNULL, struct wp_task_group *tg WP_NONNULL,
		  struct wp_task *task WP_NONNULL, u64 now_ns, u32 flags);
int wp_tg_dequeue(struct wp_ctx *ctx WP_NONNULL, struct wp_task_group *tg WP_NONNULL,
		  struct wp_task *task WP_NONNULL, u64 now_ns, u32 flags);
int wp_tg_set_current(struct wp_ctx *ctx WP_NONNULL, struct wp_task_group *tg WP_NONNULL,
		      struct wp_task *task WP_NONNULL, u64 now_ns);
int wp_tg_put_current(struct wp_ctx *ctx WP_NONNULL, struct wp_task_group *tg WP_NONNULL,
		      struct wp_task *task WP_NONNULL, u64 now_ns);
int wp_tg_tick(struct wp_ctx *ctx WP_NONNULL, struct wp_task_group *tg WP_NONNULL,
	       struct wp_task *task WP_NONNULL, u64 now_ns);
int wp_tg_migrate_sleeping(struct wp_ctx *ctx WP_NONNULL, struct wp_task_group *tg WP_NONNULL,
			   struct wp_task *task WP_NONNULL, u32 cpu, u64 now_ns);
int wp_tg_task_exit(struct wp_ctx *ctx WP_NONNULL, struct wp_task_group *tg WP_NONNULL,
		    struct wp_task *task WP_NONNULL);
int wp_tg_migrate_queued(struct wp_ctx *ctx WP_NONNULL, struct wp_task_group *tg WP_NONNULL,
			 struct wp_task *task WP_NONNULL, u32 cpu, u64 now_ns);

/* ... of its queue on `cpu`, before wp_update_blocked_averages: for each group the first, at the
 * end the second with the results of all, or-ed */
int wp_tg_update_blocked(struct wp_ctx *ctx WP_NONNULL, struct wp_task_group *tg WP_NONNULL,
			 u32 cpu, u64 now_ns);
int wp_tg_blocked_end(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 now_ns, u32 changed);

#endif
