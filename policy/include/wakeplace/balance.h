// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * One attempt to balance: what the home says, what it is asked for, and what the core keeps between
 * the calls. The entry points are in policy.h.
 */
#ifndef WAKEPLACE_BALANCE_H
#define WAKEPLACE_BALANCE_H

#include "wakeplace/group_sums.h"
#include "wakeplace/limits.h"
#include "wakeplace/port.h"
#include "wakeplace/power.h"

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
	u32 overutilized;
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

#endif
