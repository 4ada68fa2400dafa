// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The levels that a home tells of a machine (topology.c, numa.c). */
#ifndef WAKEPLACE_TOPOLOGY_H
#define WAKEPLACE_TOPOLOGY_H

#include "wakeplace/limits.h"
#include "wakeplace/port.h"

struct wp_topo_level {
	u32 flags;                  /* WP_SD_SHARE_* */
	u32 distance; /* NUMA: between the farthest nodes of a group, 0 = not known */
	u32 overlap;  /* NUMA: groups are the labels in near[]; so are those of all levels above */
	u32 pad;
	u16 group_of[WP_MAX_CPUS]; /* partition label per CPU; with overlap its node */
	u64 near[WP_MAX_NODES];    /* with overlap, of each node: the nodes of its group */
};

/* Why domains cannot be built. */
enum wp_topo_error {
	WP_TOPO_OK,
	WP_TOPO_DOMS, /* more domains, groups or list entries than there is room for */
	WP_TOPO_GROUPS,
	WP_TOPO_LIST,
	WP_TOPO_NODES, /* more nodes than there is room for, where their groups overlap */
	WP_TOPO_ORDER, /* groups that do not overlap above such that do */
};

#endif
