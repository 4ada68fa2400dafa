// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Control groups of the live scheduler (policy/src/live_queue/group*.c): what a task weighs by the
 * shares of the groups around it, and how long a group with a quota may run
 * (docs/rules/live-queue.md#vq-groups). The memory is the home's: one struct of all groups, and one
 * member per task. Group 0 is the root.
 *
 * What must stay: several CPUs change a group's load, counts and budget at once, so they are added
 * to by WP_ADD, and `counted` is exchanged by WP_CAS; a place is free where `known` is 0; times are
 * ns, quotas are set in us. Tests by part, names alone being of crates/policy-sys/tests/all:
 * live_groups.rs::`shares_are_divided_from_the_outside_in` (`shares`, `load`),
 * live_groups.rs::`quotas` and live_groups.rs::`burst` (`budget_ns`),
 * live_park.rs::`a_turn_is_run_whole` (`turn_ns`, `unpaid`),
 * live_park.rs::`who_is_inside_runs_on_to_its_return` (`outside`, `returns`, `wp_live_stop`),
 * live_groups.rs::`groups_that_are_too_deep_and_places_that_are_taken` (WP_LIVE_GROUP_LEVELS,
 * `known`), crates/scx/tests/parity/main.rs::`every_event_is_the_same_in_all_builds` (entry points,
 * in both builds).
 */
#ifndef WAKEPLACE_LIVE_GROUP_H
#define WAKEPLACE_LIVE_GROUP_H

#include "wakeplace/limits.h"
#include "wakeplace/port.h"

struct wp_ctx;
struct wp_task;

#define WP_MAX_LIVE_GROUPS 1024u
/* Groups around a task. One that is deeper counts as the group it is in. */
#define WP_LIVE_GROUP_LEVELS 8u

/* A group. Other CPUs change load, counted, tasks, partial, start_ns and budget_ns at any time. */
struct wp_live_group {
	u32 known;   /* it exists */
	u32 parent;  /* the group it is in, 0: the root */
	u32 level;   /* groups around it, and itself */
	u32 shares;  /* its weight; 1024: cpu.weight 100 */
	u32 idle;    /* cpu.idle */
	u32 load;    /* of its runnable tasks, and of the groups in it that have some */
	u32 counted; /* ... what its parent's load has of it */
	u32 tasks;   /* runnable ones, in the groups in it, too */
	u32 partial; /* ... whose average is not whole (wp_live_member_partial) */
	u32 odd;     /* `uneven` counts it */
	u32 refilling; /* CPUs that have begun a period and not yet added its quota */
	u32 pad;
	/* cpu.max; quota_ns 0: no limit */
	u64 period_ns;
	u64 quota_ns;
	u64 burst_ns;
	u64 start_ns;  /* of the present period */
	u64 budget_ns; /* what it may yet run, signed */
};

struct wp_live_groups {
	u32 uneven;  /* groups whose weight is not the default. 0: groups weigh nothing */
	u32 limited; /* groups with a quota */
	u32 most_cpus; /* fact: the kernel gives a group its shares on so many CPUs; 0: on all */
	u32 returns; /* fact: the home hears of a task's return to user space */
	struct wp_live_group group[WP_MAX_LIVE_GROUPS];
};

/* A task in a group. The home writes the first three, and clears `outside` and `turn_ns`. */
struct wp_live_member {
	u32 group;
	u32 own_weight; /* by its nice value and policy */
	u32 own_idle;   /* SCHED_IDLE */
	u32 counted;    /* what its group's load has of it; 0: it is not runnable */
	u32 weighed;    /* its task's weight may be other than its own */
	u32 partial;    /* its group's `partial` counts it */
	u32 outside;    /* it was stopped in user space: it holds nothing of the kernel */
	u32 unpaid;     /* its turn is not taken off the budget */
	u64 turn_ns;    /* so long it may run although the quota is used up */
};

/* Is the running task held back for its group's quota? */
enum wp_live_stop {
	WP_STOP_NOT,
	WP_STOP_NOW,
	WP_STOP_AT_RETURN, /* where it next returns to user space; it is looked at again there */
};

/* group.c */
u32 wp_live_group_new(struct wp_live_groups *groups WP_NONNULL, u32 parent);
int wp_live_group_free(struct wp_live_groups *groups WP_NONNULL, u32 group);
int wp_live_group_set_weight(struct wp_live_groups *groups WP_NONNULL, u32 group, u32 weight);
int wp_live_group_set_idle(struct wp_live_groups *groups WP_NONNULL, u32 group, u32 idle);
int wp_live_member_leave(struct wp_live_groups *groups WP_NONNULL,
			 struct wp_live_member *member WP_NONNULL);
int wp_live_member_weigh(struct wp_ctx *ctx WP_NONNULL, struct wp_live_groups *groups WP_NONNULL,
			 struct wp_live_member *member WP_NONNULL, struct wp_task *task WP_NONNULL,
			 u64 now_ns);

/* group_quota.c */
int wp_live_group_set_quota(struct wp_live_groups *groups WP_NONNULL, u32 group, u64 period_us,
			    u64 quota_us, u64 burst_us);
int wp_live_group_charge(struct wp_live_groups *groups WP_NONNULL, u32 group, u64 ran_ns,
			 u64 now_ns);
u64 wp_live_group_wait_ns(struct wp_live_groups *groups WP_NONNULL, u32 group, u64 now_ns);

/* group_park.c */
WP_SMALL_FN int wp_live_overdue(u64 waited_ns);
u64 wp_live_member_wait_ns(struct wp_live_groups *groups WP_NONNULL,
			   const struct wp_live_member *member WP_NONNULL, u64 now_ns);
u64 wp_live_parked_ns(struct wp_live_groups *groups WP_NONNULL,
		      struct wp_live_member *member WP_NONNULL, u64 waited_ns, u64 parked_ns,
		      u64 now_ns);
int wp_live_member_ran(struct wp_live_groups *groups WP_NONNULL,
		       struct wp_live_member *member WP_NONNULL, u64 ran_ns, u64 now_ns);
int wp_live_member_stop(struct wp_live_groups *groups WP_NONNULL,
			struct wp_live_member *member WP_NONNULL, u32 outside, u64 now_ns);

#endif
