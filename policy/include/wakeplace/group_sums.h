// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What balancing and the slow path know of a group of CPUs (group_class.c, busiest_5_4.c). */
#ifndef WAKEPLACE_GROUP_SUMS_H
#define WAKEPLACE_GROUP_SUMS_H

#include "wakeplace/port.h"

/* How busy a group is; a higher one is busier. */
enum wp_group_type {
	WP_GROUP_HAS_SPARE,
	WP_GROUP_FULLY_BUSY,
	WP_GROUP_MISFIT_TASK,
	WP_GROUP_SMT_BALANCE,
	WP_GROUP_ASYM_PACKING,
	WP_GROUP_IMBALANCED,
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
};

/* What an imbalance counts (since 5.5). */
enum wp_migration_type {
	WP_MIGRATE_LOAD,
	WP_MIGRATE_UTIL,
	WP_MIGRATE_TASK,
	WP_MIGRATE_MISFIT, /* the running task of a CPU that is too small for it */
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

#endif
