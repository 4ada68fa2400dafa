// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Levels that a home tells of a machine, and the sched domains that are made of them
 * (policy/src/topology).
 *
 * What must stay: levels stand from the smallest to the largest, lists of CPUs ascend, and CPUs
 * with one span share a domain; each wp_topo_error has its words in
 * crates/policy-sys/src/machine.rs. Tests by part, names alone being of
 * crates/policy-sys/tests/all: topology.rs::`levels_of_server_machines` (`wp_sched_domain`),
 * topology.rs::`groups_of_tc2` (`wp_sched_group`), topology_numa.rs::`a_ring_of_four_nodes`
 * (`overlap`, `near`), topology_numa.rs::`refusals` (`wp_topo_error`),
 * cache_rent.rs::`five_far_wakeups_pay_a_move` (`wp_prices`),
 * hotplug.rs::`domains_are_of_the_cpus_that_are_there` (`wp_domains_rebuilt`).
 */
#ifndef WAKEPLACE_TOPOLOGY_H
#define WAKEPLACE_TOPOLOGY_H

#include "wakeplace/limits.h"
#include "wakeplace/port.h"

struct wp_ctx;
struct wp_task;

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

enum wp_dom_flags {
	WP_SD_SHARE_CPUCAPACITY = 1 << 0, /* threads of a core */
	WP_SD_SHARE_LLC = 1 << 1,
	WP_SD_ASYM_CPUCAPACITY = 1 << 2,
	WP_SD_ASYM_CPUCAPACITY_FULL = 1 << 3,
	WP_SD_BALANCE_WAKE = 1 << 4,
	WP_SD_BALANCE_FORK = 1 << 5,
	WP_SD_BALANCE_EXEC = 1 << 6,
	WP_SD_BALANCE_NEWIDLE = 1 << 7,
	WP_SD_WAKE_AFFINE = 1 << 8,
	WP_SD_PREFER_SIBLING = 1 << 9,
	WP_SD_CLUSTER = 1 << 10, /* cores that share a cache below the last level */
	WP_SD_NUMA = 1 << 11,    /* spans nodes; one CPU of the system balances at a time */
	WP_SD_ASYM_PACKING = 1 << 12, /* tasks go to the CPUs of highest priority first */
	WP_SD_SHARE_PKG = 1 << 13, /* 3.1: taken for a shared cache by the idle search */
	WP_SD_POWERSAVINGS = 1 << 14, /* to 3.4: tasks are packed, not spread */
};

/* A sched domain; CPUs with the same span share it. Lists are ranges of wp_ctx.list. */
struct wp_sched_domain {
	u32 flags;
	u32 imbalance_pct;
	u32 cache_nice_tries;
	u32 busy_idx;
	u32 idle_idx;
	u32 topo_level; /* index into wp_ctx.topo */
	u32 first_cpu;  /* list range: the span, ascending */
	u32 nr_cpus;
	u32 first_group; /* range of wp_ctx.groups */
	u32 nr_groups;
	u32 top;         /* nothing above it */
	u32 imb_numa_nr; /* NUMA: tasks that may run here before nodes are evened out */
	/* older tables have their own; 0: weight, 2 x weight, the era's factor */
	u32 min_interval_ms;
	u32 max_interval_ms;
	u32 busy_factor;
	u32 pad;
	u64 span[WP_MASK_WORDS];
};

struct wp_sched_group {
	u32 first_cpu;
	u32 nr_cpus;
	u32 capacity;
	u32 min_capacity;
	u32 imbalanced; /* a pull failed because of affinity */
	u32 max_capacity;
	u32 flags;    /* of the child domain whose span it is, 0: a single CPU */
	u32 nr_cores;
	u32 prefer_cpu;    /* the first one of highest priority (asym_packing.c) */
	u32 first_balance; /* list range: those of its CPUs that balance for it */
	u32 nr_balance;
	u64 capacity_due_tick; /* older forms: a new-idle pass may refresh its capacity then */
};

/* What caches take, ns: facts of the machine. 0: unknown. */
struct wp_prices {
	u32 cache_line_ns; /* a line that a CPU of the same last-level cache wrote */
	u32 node_line_ns;  /* ... one of another cache of the node */
	u32 far_line_ns;   /* ... one of another node */
	u32 refill_ns;     /* what a move to another cache of the node costs */
	u32 refill_far_ns; /* ... to another node */
	u32 hit_ns;        /* a line that is in the last-level cache */
	u32 memory_ns;     /* a line that is in no cache */
	u32 pad;
};

/* Natively only: the live build does not hold what follows. */
/* topology.c: before the first event; a live home runs it natively */
u32 wp_build_sched_domains(struct wp_ctx *ctx WP_NONNULL);

/* hotplug.c: CPUs that come and go */
u32 wp_select_fallback_rq(const struct wp_ctx *ctx WP_NONNULL,
			  const struct wp_task *task WP_NONNULL, u32 cpu);
int wp_domains_rebuilt(struct wp_ctx *ctx WP_NONNULL, u64 now_ns);

#endif
