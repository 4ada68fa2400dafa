// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Load balancing: what groups of CPUs amount to, what a CPU remembers of balancing a domain, and
 * one attempt (policy/src/balance).
 *
 * What must stay: an attempt is wp_balance_begin, then wp_balance_offer for each task, then
 * wp_balance_end, again while that says WP_BALANCE_DETACH; the home fills in the `in` fields of
 * wp_lb_env; enum wp_group_type stands in rising order, which is compared. Tests by part, names
 * alone being of crates/policy-sys/tests/all: balance_7_3.rs::`class_test_order` (`wp_group_type`),
 * balance_pass_7_3.rs::`which_tasks_move` (`wp_offer`),
 * balance_pass_7_3.rs::`one_at_a_time_between_nodes` (`wp_balance_step`),
 * crates/scx/tests/parity/main.rs::`every_event_is_the_same_in_all_builds` (entry points, in both
 * builds).
 */
#ifndef WAKEPLACE_BALANCE_H
#define WAKEPLACE_BALANCE_H

#include "wakeplace/limits.h"
#include "wakeplace/packing.h"
#include "wakeplace/port.h"

struct wp_ctx;
struct wp_task;

/* How busy a group is; a higher one is busier. */
enum wp_group_type {
	WP_GROUP_HAS_SPARE,
	WP_GROUP_FULLY_BUSY,
	WP_GROUP_MISFIT_TASK,
	WP_GROUP_SMT_BALANCE,
	WP_GROUP_ASYM_PACKING,
	WP_GROUP_IMBALANCED,
	WP_GROUP_LLC_BALANCE, /* tasks of it prefer the destination's cache (7.2) */
	WP_GROUP_OVERLOADED,
};

/* Sums of one group, in the form of the kernels since 5.5. */
struct wp_sg_lb_stats {
	u64 load;
	u64 runnable;
	u64 util;
	u64 avg_load; /* per capacity, 1024 = one always-running nice-0 task on a full CPU */
	u32 capacity;
	u32 min_capacity;
	u32 max_capacity;
	u32 nr_running; /* all classes */
	u32 nr_fair;
	u32 idle_cpus;
	u32 weight;
	u32 misfit; /* largest load of a task that does not fit; slow path: 1 if p fits nowhere */
	u32 smt_balance;
	u32 asym_packing;
	u32 group_type; /* enum wp_group_type */
	u32 allowed; /* CPUs of the group that the task may use; slow path only */
	u32 nr_pref_dst_llc; /* queued tasks that prefer the destination's cache */
	u32 llc_balance;
};

/* What an imbalance counts (since 5.5). */
enum wp_migration_type {
	WP_MIGRATE_LOAD,
	WP_MIGRATE_UTIL,
	WP_MIGRATE_TASK,
	WP_MIGRATE_MISFIT, /* the running task of a CPU that is too small for it */
	WP_MIGRATE_LLC_TASK, /* a task that prefers the destination's cache */
};

enum wp_group_type_5_4 {
	WP_GROUP_OTHER_5_4,
	WP_GROUP_MISFIT_TASK_5_4, /* a task is too big for its CPU (4.20) */
	WP_GROUP_IMBALANCED_5_4,
	WP_GROUP_OVERLOADED_5_4,
};

/* Sums of one group, in the form of the kernels before 5.5. */
struct wp_sg_lb_stats_5_4 {
	u64 load;
	u64 avg_load;
	u64 weighted_load;
	u64 load_per_task;
	u64 util;
	u32 capacity;
	u32 nr_running;
	u32 idle_cpus;
	u32 weight;
	u32 group_type; /* enum wp_group_type_5_4 */
	u32 group_no_capacity;
	u32 misfit; /* largest load of a misfit task */
	/* to 3.12 (busiest_3_12.c) */
	u32 room;     /* tasks that its compute power is enough for */
	u32 has_room; /* for more than run there */
	u32 group_imb; /* its queues differ by more than affinity should allow */
	u32 pad;
};

/* Per CPU and level: what a CPU remembers of balancing a domain. */
struct wp_lb {
	u64 last_balance_tick;
	u64 max_newidle_cost_ns;
	u64 next_cost_decay_tick;
	u64 avg_scan_cost_ns;
	u32 balance_interval_ms;
	u32 nr_balance_failed;
	/* new-idle attempts, the last 1024 and those before: how many pulled something */
	u32 newidle_calls;
	u32 newidle_success;
	u32 newidle_ratio;   /* of 1024 */
	u32 newidle_skipped; /* the attempt under way was not worth its cost */
	u64 newidle_stamp_ns; /* when 1024 attempts were last counted */
	u64 before_last_tick; /* power_balance.c: the balance before last_balance_tick ... */
	u64 spread_history;   /* ... the last 64 attempts, newest in bit 0: set if they spread */
};

enum wp_ilb_flags {
	WP_ILB_IDLE_AT_TICK = 1 << 0, /* its last tick found it idle */
	WP_ILB_KICKED = 1 << 1,       /* a kick is on its way or unanswered */
};

enum wp_cpu_idle_type { WP_CPU_NOT_IDLE, WP_CPU_IDLE, WP_CPU_NEWLY_IDLE };

/* One attempt to balance a domain onto a CPU: begin, offer tasks, end. */
struct wp_lb_env {
	/* in */
	u64 now_ns;
	u32 this_cpu; /* which balances */
	u32 level;    /* of its domains */
	u32 idle; /* enum wp_cpu_idle_type */
	u32 random;   /* drawn by the home, any number: is a new-idle attempt made? */
	/* out */
	u32 src_cpu; /* pull from here; WP_NONE: nothing to do */
	u32 dst_cpu; /* to here: this_cpu, or another one of its group */
	u32 push;    /* instead: push the running task of src_cpu to this_cpu */
	u32 push_llc; /* ... or another one, but only one that prefers the cache of this_cpu */
	/* between the calls */
	u32 moved;
	u32 tries_left;
	u32 all_pinned;
	u32 some_pinned;
	u32 new_dst_cpu; /* another CPU of the local group may take what dst_cpu may not */
	u32 dom;
	u32 load_idx;
	u32 busiest_group; /* index within the domain, WP_NONE: none yet */
	u32 overload;
	u32 overutilized; /* some CPU is beyond the tipping point ... */
	u32 roomy;        /* ... some CPU is not */
	u32 pad;
	s64 imbalance;
	u64 total_load;
	u64 total_capacity;
	u64 avg_load; /* of the domain */
	struct wp_sg_lb_stats_5_4 local;
	struct wp_sg_lb_stats_5_4 busiest;
	struct wp_sg_lb_stats_5_4 scratch;
	/* the same in the form since 5.5 */
	u32 migration_type; /* enum wp_migration_type */
	u32 newidle_weight; /* what a success of this attempt counts */
	struct wp_sg_lb_stats local_sums;
	struct wp_sg_lb_stats busiest_sums;
	struct wp_sg_lb_stats sums; /* of the group that is looked at */
	u32 kept; /* this pass takes sums from what is kept, which is up to date (kept.h) */
	u32 llc_pinned; /* a task stayed for the cache that it prefers */
	/* of the fair task that src_cpu executes (wp_balance_running), 0: none */
	u32 running_util;
	u32 running_misfits; /* it fits there, and not the destination */
	/* facts of the task that is offered (wp_balance_offer), natively */
	u32 offered_buddy; /* it is the buddy of its queue */
	u32 offered_ineligible; /* it has had more than its share of its queue */
	u64 excluded[WP_MASK_WORDS]; /* sources whose tasks are all pinned */
	struct wp_pack_balance power;
};

/* What wp_balance_begin and wp_balance_end ask for. */
enum wp_balance_step {
	WP_BALANCE_DONE,   /* this domain is finished */
	WP_BALANCE_STOP,   /* another CPU balances for this group: leave the levels above, too */
	WP_BALANCE_DETACH, /* offer the tasks of src_cpu, least recently run first, then end */
};

enum wp_offer { WP_OFFER_SKIP, WP_OFFER_TAKE, WP_OFFER_STOP };

/* What a kicked CPU is to do (wp_nohz_begin). */
enum wp_nohz_work {
	WP_NOHZ_NOTHING,
	WP_NOHZ_DUE, /* balance for the idle CPUs that are due, then for itself */
	WP_NOHZ_ALL, /* for itself, then for every other one until it has work */
};

/* balance.c: periodic balancing, one domain at a time */
int wp_balance_due(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u32 level, u64 now_ns, u32 idle);
int wp_balance_pass_end(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 now_ns, u32 idle);
int wp_balance_begin(struct wp_ctx *ctx WP_NONNULL, struct wp_lb_env *bal WP_NONNULL);
int wp_balance_offer(struct wp_ctx *ctx WP_NONNULL, struct wp_lb_env *bal WP_NONNULL,
		     const struct wp_task *task WP_NONNULL);
int wp_balance_end(struct wp_ctx *ctx WP_NONNULL, struct wp_lb_env *bal WP_NONNULL,
		   u32 running_allowed);
int wp_active_balance_end(struct wp_ctx *ctx WP_NONNULL, u32 src_cpu, u32 dst_cpu, u32 level,
			  u32 moved);

/* newidle.c: a CPU about to go idle looks for work */
int wp_newidle_begin(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 now_ns);
int wp_newidle_level(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u32 level, u64 spent_ns);
u64 wp_newidle_done(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u32 level);
int wp_newidle_end(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 spent_ns, u32 pulled);

/* nohz.c: idle CPUs whose tick is stopped */
int wp_nohz_balance_enter_idle(struct wp_ctx *ctx WP_NONNULL, u32 cpu);
int wp_nohz_balance_exit_idle(struct wp_ctx *ctx WP_NONNULL, u32 cpu);
int wp_nohz_balancer_kick(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 now_ns);
u32 wp_find_new_ilb(struct wp_ctx *ctx WP_NONNULL);
int wp_nohz_begin(struct wp_ctx *ctx WP_NONNULL, u32 cpu);
u32 wp_nohz_next(struct wp_ctx *ctx WP_NONNULL, u32 after);
int wp_nohz_pass_end(struct wp_ctx *ctx WP_NONNULL, u64 now_ns, u32 balanced);

#endif
