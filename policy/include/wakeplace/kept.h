// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Sums over groups of CPUs that a home of one thread keeps beside the context, so that no rule has
 * to walk the CPUs for them (policy/src/kept). They are equal to what a walk finds: test builds
 * walk as well, at every use, and compare.
 *
 * The home marks a CPU as due whenever it has changed something of it or an entry point may have.
 * The next use brings the sums up to date with the CPUs that are due, and only those. Natively
 * only: where several CPUs run the core at once, each walks.
 *
 * What must stay: no answer depends on whether sums are kept; no field of wp_kept_sums carries into
 * the next, as 64 bits are added at a time; whoever adds a rule that changes a CPU marks it. Tests
 * by part, names alone being of crates/policy-sys/tests/all: kept.rs::`kept_sums_change_no_answer`
 * (all of it), kept.rs::`statistics_that_are_left_out_change_no_answer` (wp_ctx.quick).
 */
#ifndef WAKEPLACE_KEPT_H
#define WAKEPLACE_KEPT_H

#include "wakeplace/limits.h"
#include "wakeplace/port.h"

/* What a CPU adds to the sums of those groups and domains that it is in. All of it adds up without
 * a carry from one field into the next, so that 64 bits at a time can be added. */
struct wp_kept_sums {
	u64 load; /* as balancing counts it: wp_cpu_load before 5.5, else load_avg */
	u64 runnable;
	u64 util;
	/* of a CPU 0 or 1, but for the first two */
	u32 nr_running;
	u32 nr_fair;
	u32 idle_cpus;
	u32 overload;     /* more than one task */
	u32 crowded;      /* ... of the fair class */
	u32 overutilized;
	u32 misfit;       /* its task does not fit */
	u32 squeezed;     /* other classes take a noticeable share of it, by the strictest domain */
};

/* The highest demand of a frequency domain. */
struct wp_kept_freq {
	u32 most;
	u32 stale; /* it was that of a CPU which wants less now */
};

#define WP_KEPT_WORDS (sizeof(struct wp_kept_sums) / sizeof(u64))

/* Groups come first among the sums that a CPU is part of, then domains. A group of one CPU has
 * none: it is that CPU. Sets of the same CPUs share one sum. */
#define WP_KEPT_DOMS WP_MAX_GROUPS
#define WP_KEPT_NO_SET 0xffffu
#define WP_KEPT_SETS (2u * WP_MAX_GROUPS)
#define WP_KEPT_MEMBERS (2u * WP_MAX_LIST)

struct wp_kept {
	u32 rebuild;   /* by the home: domains, parameters or anything else has changed */
	u32 least_pct; /* lowest imbalance_pct of a domain */
	/* one bit per CPU, set by the home: it has changed since the last use */
	u64 sums_due[WP_MASK_WORDS];
	u64 demand_due[WP_MASK_WORDS];
	u64 idle_due[WP_MASK_WORDS];
	/* one bit per CPU */
	u64 idle[WP_MASK_WORDS];
	u64 free[WP_MASK_WORDS]; /* a task placed here runs at once */
	u64 core_idle[WP_MASK_WORDS]; /* all threads of its core are idle */
	u64 core_free[WP_MASK_WORDS]; /* some thread of its core is free */
	u64 plain[WP_MAX_DOMS / 64u]; /* per domain: its groups are single CPUs without a rank */
	struct wp_kept_sums cpu[WP_MAX_CPUS];
	struct wp_kept_sums sums[WP_KEPT_SETS]; /* groups, then domains */
	u32 demand[WP_MAX_CPUS];
	struct wp_kept_freq freq[WP_MAX_FREQ_DOMS];
	u32 freq_of[WP_MAX_CPUS]; /* WP_NONE: in no frequency domain */
	/* which sums a CPU is part of: a range of member[] */
	u32 first[WP_MAX_CPUS];
	u32 nr[WP_MAX_CPUS];
	u32 nr_members;
	u32 pad;
	u16 sums_of[WP_KEPT_SETS]; /* where the sums of a group or domain are among sums[] */
	u16 chain[WP_MAX_CPUS]; /* while they are built: sets that begin with a CPU ... */
	u16 chain_next[WP_KEPT_SETS];
	u16 member[WP_KEPT_MEMBERS];
};

#endif
