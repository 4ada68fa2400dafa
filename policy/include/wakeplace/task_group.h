// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Task groups (docs/rules/signals.md#pelt-update, docs/rules/signals.md#load-for-balancing,
 * docs/rules/group-bandwidth.md; docs/decisions/020): with shares, a budget of run time
 * (cpu.max) and cpu.idle, in each other, and with tasks at any level. Only the simulator has them:
 * no part of this is in the live build.
 *
 * A group has a queue of its own on each CPU. On the queue above, that of the group around it or
 * the CPU's, one entity stands for it there, whose weight is the part of the group's shares that
 * the load on this CPU is of the group's whole load. The memory is the home's: one struct per
 * group, never a pointer from the context to it. The home names the groups around a group at each
 * call (wp_tg_path).
 *
 * Tasks of a group take these entry points instead of those of rq.c with the same names, and
 * wp_tg_prepare before each question about them. nr_fair, util_est and hints of struct wp_cpu count
 * the tasks of all groups; load_weight counts entities.
 *
 * What must stay: a path names the groups from the inside to the outside, at each call; tasks of a
 * group never take the entry points of rq.c; budgets are signed ns, shares WP_SHARES_MIN to
 * WP_SHARES_MAX. Tests by part, names alone being of crates/policy-sys/tests/all:
 * task_groups.rs::`the_levels_are_sums_of_each_other` (`wp_tg_queue`),
 * group_accesses.rs::`a_wakeup_that_stays_reads` (`wp_tg_load`),
 * group_weights.rs::`no_more_groups_around_a_group_than_there_is_room_for` (WP_MAX_TG_OUTER),
 * group_bandwidth.rs::`a_running_cpu_takes_slices` (`wp_tg_runtime`, `wp_cfs_bandwidth`),
 * nested_groups.rs::`levels_count_what_is_below` (`wp_tg_path`).
 */
#ifndef WAKEPLACE_TASK_GROUP_H
#define WAKEPLACE_TASK_GROUP_H

#include "wakeplace/policy.h"

#define WP_MAX_TASK_GROUPS 64u
/* What the kernel takes as cpu.shares. */
#define WP_SHARES_MIN 2u
#define WP_SHARES_MAX 262144u
/* Groups around a group that hold nothing else, and are kept as a part of it. */
#define WP_MAX_TG_OUTER 3u
/* A group and those around it that have queues. */
#define WP_MAX_TG_LEVELS 8u

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

/* cpu.max of a group on one CPU: the kernel's part of struct cfs_rq. */
struct wp_tg_runtime {
	s64 remaining_ns; /* what it may run before it asks its group for more */
	u64 throttled_since_ns; /* all ones: nothing of it waits yet */
	u32 throttled;      /* the group's budget is used up */
	u32 next_throttled; /* the next CPU in the order of throttling, or WP_NONE */
	u32 unthrottling;   /* it has got runtime: its CPU is told */
	u32 pad;
};

/* A group's queue on one CPU, and the entity that stands for it on the queue above. */
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
	u32 nr;          /* queued tasks, those of groups in it that may run, too */
	u32 nr_idle;     /* ... that count as SCHED_IDLE */
	u32 running;     /* one of them executes */
	u32 weight;          /* of the entity */
	u32 runnable_weight; /* ... without the part for load that sleeps (to 5.6) */
	struct wp_tg_part part;
	/* Of the groups around it, from the inside: their queues hold nothing but one entity,
	 * whose signals are `entity`'s, in a weight of its own. `weight` is the outermost one's. */
	struct wp_tg_part outer[WP_MAX_TG_OUTER];
	u32 blocked_weight; /* of load_weight, what groups have for load that sleeps (to 5.6) */
	u32 off;            /* throttled to 6.17: the entity has left the queue above */
	u32 throttle_count; /* so many of the group and those around it are throttled here */
	u32 stopped;        /* its PELT clock stands still ... */
	u64 stopped_ns;     /* ... at this time of the CPU's */
	u64 lost_ns;        /* by so much it is behind the CPU's, for earlier stops */
	struct wp_tg_runtime runtime;
};

/* cpu.max of a group: the kernel's struct cfs_bandwidth. Times are ns. */
struct wp_cfs_bandwidth {
	u64 quota_ns; /* 0: no limit */
	u64 period_ns;
	u64 burst_ns;
	s64 runtime_ns;      /* what is left of this period's, and of what was kept for bursts */
	s64 runtime_snap_ns; /* ... as it was when the period began */
	u64 expires_ns;      /* the period ends then, while period_active */
	u32 period_active;
	u32 idle;            /* nobody has asked for runtime in this period */
	u32 slack_started;   /* the slack timer is armed */
	u32 first_throttled; /* CPU, or WP_NONE */
	u32 last_throttled;
	u32 pad;
	/* cpu.stat */
	u64 nr_periods;
	u64 nr_throttled;
	u64 throttled_ns; /* of all CPUs */
	u64 nr_bursts;
	u64 burst_time_ns;
};

struct wp_task_group {
	struct wp_tg_load sum;
	struct wp_tg_load outer[WP_MAX_TG_OUTER];
	u32 nr_outer;
	u32 uclamp_min; /* cpu.uclamp.min and .max as they are in force */
	u32 uclamp_max;
	u32 pad;
	struct wp_cfs_bandwidth bandwidth;
	struct wp_tg_queue queue[WP_MAX_CPUS];
};

/* A group and those around it, from the inside: for one call. */
struct wp_tg_path {
	struct wp_task_group *tg[WP_MAX_TG_LEVELS];
	u32 nr;
	u32 pad;
};

/* task_group_load.c: a zero-filled group with these shares */
int wp_tg_init(struct wp_ctx *ctx WP_NONNULL, struct wp_task_group *tg WP_NONNULL, u32 shares);
/* ... puts it, before the first event, into a new group with these shares. 0: no room for one */
int wp_tg_nest(struct wp_ctx *ctx WP_NONNULL, struct wp_task_group *tg WP_NONNULL, u32 shares);
/* ... cpu.uclamp.min and .max of the path's first group; those around it have theirs */
int wp_tg_set_uclamp(const struct wp_tg_path *path WP_NONNULL, u32 min, u32 max);
u32 wp_calc_group_shares(u32 shares, u64 group_load, u32 counted, u32 load);
u32 wp_tg_h_load(const struct wp_ctx *ctx WP_NONNULL, const struct wp_tg_path *path WP_NONNULL,
		 const struct wp_task *task WP_NONNULL);
int wp_tg_prepare(struct wp_ctx *ctx WP_NONNULL, const struct wp_tg_path *path WP_NONNULL,
		  struct wp_task *task WP_NONNULL);

/* ... events of its tasks. wp_tg_enqueue: on the CPU that the task is on. */
int wp_tg_task_new(struct wp_ctx *ctx WP_NONNULL, const struct wp_tg_path *path WP_NONNULL,
		   struct wp_task *task WP_NONNULL, u32 cpu, u64 now_ns);
int wp_tg_task_set_weight(struct wp_ctx *ctx WP_NONNULL, const struct wp_tg_path *path WP_NONNULL,
			  struct wp_task *task WP_NONNULL, u32 weight, u64 now_ns);
int wp_tg_enqueue(struct wp_ctx *ctx WP_NONNULL, const struct wp_tg_path *path WP_NONNULL,
		  struct wp_task *task WP_NONNULL, u64 now_ns, u32 flags);
int wp_tg_dequeue(struct wp_ctx *ctx WP_NONNULL, const struct wp_tg_path *path WP_NONNULL,
		  struct wp_task *task WP_NONNULL, u64 now_ns, u32 flags);
int wp_tg_set_current(struct wp_ctx *ctx WP_NONNULL, const struct wp_tg_path *path WP_NONNULL,
		      struct wp_task *task WP_NONNULL, u64 now_ns);
int wp_tg_put_current(struct wp_ctx *ctx WP_NONNULL, const struct wp_tg_path *path WP_NONNULL,
		      struct wp_task *task WP_NONNULL, u64 now_ns);
int wp_tg_tick(struct wp_ctx *ctx WP_NONNULL, const struct wp_tg_path *path WP_NONNULL,
	       struct wp_task *task WP_NONNULL, u64 now_ns);
int wp_tg_migrate_sleeping(struct wp_ctx *ctx WP_NONNULL, const struct wp_tg_path *path WP_NONNULL,
			   struct wp_task *task WP_NONNULL, u32 cpu, u64 now_ns);
int wp_tg_task_exit(struct wp_ctx *ctx WP_NONNULL, const struct wp_tg_path *path WP_NONNULL,
		    struct wp_task *task WP_NONNULL);
int wp_tg_migrate_queued(struct wp_ctx *ctx WP_NONNULL, const struct wp_tg_path *path WP_NONNULL,
			 struct wp_task *task WP_NONNULL, u32 cpu, u64 now_ns);

/* ... of its queue on `cpu`, before wp_update_blocked_averages: for each group the first, at the
 * end the second with the results of all, or-ed */
int wp_tg_update_blocked(struct wp_ctx *ctx WP_NONNULL, const struct wp_tg_path *path WP_NONNULL,
			 u32 cpu, u64 now_ns);
int wp_tg_blocked_end(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 now_ns, u32 changed);

/* group_throttle.c: the first group of the path may not run on `cpu`, or may again: its entity
 * leaves the queue above, or joins it (to 6.17) */
int wp_tg_throttle_entity(struct wp_ctx *ctx WP_NONNULL, const struct wp_tg_path *path WP_NONNULL,
			  u32 cpu, u64 now_ns);
int wp_tg_unthrottle_entity(struct wp_ctx *ctx WP_NONNULL, const struct wp_tg_path *path WP_NONNULL,
			    u32 cpu, u64 now_ns);
/* ... of a group that is throttled or in one that is: once more, once less */
int wp_tg_throttle_down(struct wp_ctx *ctx WP_NONNULL, struct wp_task_group *tg WP_NONNULL, u32 cpu,
			u64 now_ns);
int wp_tg_unthrottle_up(struct wp_ctx *ctx WP_NONNULL, struct wp_task_group *tg WP_NONNULL, u32 cpu,
			u64 now_ns);

int wp_tg_may_pull(const struct wp_ctx *ctx WP_NONNULL, const struct wp_task_group *tg WP_NONNULL,
		   u32 from, u32 to);

/* group_bandwidth.c: cpu.max. What wp_tg_period_timer and wp_tg_return_runtime ask for. */
enum wp_tg_bandwidth_asks {
	WP_TG_RESTART = 1,    /* the period's timer, for the next period */
	WP_TG_DISTRIBUTE = 2, /* throttled queues get runtime: wp_tg_distribute */
	WP_TG_SLACK = 4,      /* the slack timer, WP_TG_SLACK_NS from now */
};
#define WP_TG_SLACK_NS 5000000ull

int wp_tg_init_bandwidth(struct wp_ctx *ctx WP_NONNULL, struct wp_task_group *tg WP_NONNULL,
			 u32 random);
int wp_tg_set_bandwidth(struct wp_ctx *ctx WP_NONNULL, struct wp_task_group *tg WP_NONNULL,
			u64 quota_ns, u64 period_ns, u64 burst_ns);
int wp_tg_account_runtime(struct wp_task_group *tg WP_NONNULL, u32 cpu, u64 delta_ns);
int wp_tg_check_runtime(struct wp_ctx *ctx WP_NONNULL, struct wp_task_group *tg WP_NONNULL, u32 cpu,
			u64 now_ns);
int wp_tg_record_throttle(struct wp_task_group *tg WP_NONNULL, u32 cpu, u64 now_ns);
int wp_tg_return_runtime(struct wp_task_group *tg WP_NONNULL, u32 cpu, u64 now_ns);
int wp_tg_period_timer(struct wp_task_group *tg WP_NONNULL, u64 now_ns);
int wp_tg_slack_timer(struct wp_task_group *tg WP_NONNULL, u64 now_ns);
u32 wp_tg_distribute(struct wp_task_group *tg WP_NONNULL, u32 nr_cpus);
int wp_tg_unthrottle(struct wp_task_group *tg WP_NONNULL, u32 cpu, u64 now_ns);
int wp_tg_release_cpu(struct wp_task_group *tg WP_NONNULL, u32 cpu);

#endif
