/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the kernel side and the loader share, plain integers. A CPU writes its own statistics, but
 * for `placed` and `preempted`, to which others add; the loader reads them from the mapped memory.
 *
 * What must stay: plain integers, in an order that crates/scx/src/live.rs reads by its generated
 * types: change both. One writer for each CPU's counters but the two.
 *
 * Rule: docs/guide/live.md
 * Tests: crates/scx/src/metrics/tests.rs
 */
#ifndef SCX_WAKEPLACE_LIVE_H
#define SCX_WAKEPLACE_LIVE_H

/* Times of wide range: powers of two of ns, each split in four. */
#define TIME_BUCKETS 256u

struct cpu_stats {
	u64 reason[64];   /* decisions taken on this CPU, by enum wp_reason */
	u64 placed;       /* tasks that a decision sent to this CPU */
	u64 wakeups;      /* decisions taken on this CPU, by kind */
	u64 forks;
	u64 execs;
	u64 direct;       /* ... that found the CPU idle and claimed it */
	u64 refused;      /* decisions the home could not carry out: CPU gone or not allowed */
	u64 pulled;       /* tasks this CPU took from other queues */
	u64 pushed;       /* running tasks pushed away from this CPU */
	u64 preempted;    /* kicks that ended a running task's slice */
	u64 switches;     /* times a task began to run here */
	u64 run_ns;       /* time fair tasks ran here */
	u64 energy_nj;    /* of that time, by the energy model; 0 without one */
	u64 latency[TIME_BUCKETS];  /* runnable until running */
	u64 duration[TIME_BUCKETS]; /* tasks that fell asleep here, by their dur_avg_ns then */
};

/* What one CPU is asked to do at its next chance. */
struct cpu_wish {
	u32 balance;    /* a periodic pass is due */
	u32 push_to;    /* send the running task there; WP_NONE: no */
	u32 push_level; /* the domain level that asked */
	u32 stranded;   /* turns of the timer at which it idled with tasks in its queue */
	u64 asked_ns;   /* when: it lapses after two ticks */
	u32 lazy;       /* what runs is preempted by a tick only */
	u32 end_at_tick; /* ... the next one */
	u32 freq; /* a frequency request waits for a run queue whose clock is up to date */
	u32 lone; /* the task that runs next was the only one that waited */
	u32 unpark; /* tasks that wait for their group's quota may have it now */
	u32 overdue; /* look for tasks that have waited too long */
	u64 looked_ns; /* when that was asked last */
};

/* Why the scheduler ended, for the loader. */
struct exit_record {
	s32 kind;
	s64 code;
	char reason[128];
	char message[1024];
};

#endif
