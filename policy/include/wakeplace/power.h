// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Power-aware placement and balancing: what power_policy.c and power_balance.c keep. */
#ifndef WAKEPLACE_POWER_H
#define WAKEPLACE_POWER_H

#include "wakeplace/port.h"

/* Room and use of one group, both in percent of a CPU. */
struct wp_pack_sums {
	u64 room; /* T(x) x FULL_UTIL */
	u64 used;
	u64 weight; /* load of the queued tasks */
	u32 nr_running;
	u32 first_cpu; /* lowest number */
	u64 power; /* compute power of its CPUs, 1024 per full CPU; at present frequency */
	u64 cpus;  /* likewise, by number */
};

/* Placement: one domain, as one decision sees it. */
struct wp_pack_place {
	u32 policy; /* enum wp_power_policy in force */
	u32 waking;
	u32 leader; /* index within the domain, WP_NONE: none */
	u32 pad;
	u64 least;  /* room that the leader has left */
	u64 used;   /* of the whole domain */
	u64 power;
	u64 cpus;
	struct wp_pack_sums sums;
};

/* Balancing: one attempt. */
struct wp_pack_balance {
	u32 pulls;     /* this attempt packs: everything of the source may go */
	u32 perf_from; /* groups from this place on were seen when spreading was decided */
	u32 power_ok;
	u32 perf_ok;
	u32 donor; /* index within the domain, WP_NONE: none */
	u32 leader;
	u32 donor_first; /* lowest CPU */
	u32 leader_first;
	u64 donor_used;
	u64 leader_used;
	u64 per_task; /* average load of the donor's tasks */
	u32 highest;  /* sched-mc: group with tasks whose CPUs have the highest numbers */
	u32 highest_first;
	u64 highest_per_task;
	u32 local_has_room;
	u32 pad;
	struct wp_pack_sums sums;
};

#endif
