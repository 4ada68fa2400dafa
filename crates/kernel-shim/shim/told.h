/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The interface's part on whose turn it is in a queue, and on balancing: wakeplace.h reads it.
 *
 * What must stay: as in wakeplace.h, for crates/kernel-abi/src/turns.rs and balances.rs.
 *
 * Tests: crates/kernel-tree/src/kernel/tests.rs::structs_are_laid_out_as_in_the_header
 */
#ifndef WAKEPLACE_TOLD_H
#define WAKEPLACE_TOLD_H

/* ---- Turns: a queue is asked who runs. ---- */

enum {
	WPK_ENTITY_DELAYED = 1,	/* it sleeps, and its queue keeps it */
};

/* A task in the queue of a CPU: struct sched_entity. */
struct wpk_entity {
	wpk_u32 task;
	wpk_u32 policy;
	wpk_s32 nice;
	wpk_u32 flags;
	wpk_u64 vruntime;
	wpk_u64 deadline;
	wpk_u64 slice_ns;	/* its own; 0: it has none */
	wpk_s64 vlag;
	wpk_u64 vprot;
};

enum {
	WPK_TURN_PREEMPT,	/* a task has joined a queue: does it displace the one that runs? */
	WPK_TURN_PICK,		/* who is next? Nothing is told of after it but `task` */
};

/* A queue that is asked whose turn it is. */
struct wpk_turn {
	wpk_u32 kind;
	wpk_u32 cpu;
	wpk_u32 task;		/* who has joined; who is next */
	wpk_u32 runs;		/* the first entity is the running one */
	wpk_u32 sync;		/* its waker will sleep */
	wpk_u32 fork;		/* it is new */
	wpk_u32 resched;	/* the running one is marked */
	wpk_u32 next, last, skip; /* the queue's buddies; WPK_NONE: nobody */
	wpk_u32 nr_entities, unused;
	wpk_u64 exec_ns;	/* that the running one's vruntime lacks */
	wpk_u64 tick_ns;
	const struct wpk_entity *entities;	/* with `runs` the running one first */
	/* after it */
	wpk_u32 resched_after, next_after, last_after;
	wpk_u32 nr_after;	/* so many are queued */
	struct wpk_entity after;	/* the running one */
};

/* ---- Balancing: a CPU looks for tasks of others. ---- */

enum {
	WPK_BALANCE_WHO,	/* should_we_balance() */
	WPK_BALANCE_GROUP,	/* sched_balance_find_src_group(), once find_busiest_group() */
	WPK_BALANCE_QUEUE,	/* sched_balance_find_src_rq(), once find_busiest_queue() */
	WPK_BALANCE_DETACH,	/* detach_tasks() */
	WPK_BALANCE_PUSH,	/* need_active_balance() */
};

/* Whether the CPU for which is balanced has work. */
enum { WPK_BALANCE_BUSY, WPK_BALANCE_IDLE, WPK_BALANCE_NEWLY_IDLE };

enum {
	WPK_OFFERED_RUNS = 1,
	WPK_OFFERED_DELAYED = 2,	/* it sleeps, and its queue keeps it */
	WPK_OFFERED_IDLE_POLICY = 4,	/* SCHED_IDLE */
	WPK_OFFERED_BUDDY = 8,		/* its queue prefers it */
	WPK_OFFERED_INELIGIBLE = 16,	/* it has had more than its share */
	WPK_OFFERED_APART = 32,		/* of a group, or a CPU's own thread */
	WPK_OFFERED_MAY = 64,		/* can_migrate_task() */
	WPK_OFFERED_TAKEN = 128,
};

/* A task that detach_tasks() looks at. */
struct wpk_offered {
	wpk_u32 task;
	wpk_u32 flags;
	wpk_u32 h_load;		/* of the whole CPU, as balancing counts it */
	wpk_u32 util;
	wpk_u32 util_est;
	wpk_u32 uclamp_min, uclamp_max;
	wpk_u32 nr_running;	/* of the queue, before it leaves */
	wpk_s64 age_ns;		/* since it ran */
};

/* Bits of `pinned`: affinity has held back all tasks so far; some task. */
#define WPK_PINNED_ALL 1
#define WPK_PINNED_SOME 2

/* What a step of balancing knows and says beside CPUs and tasks. */
struct wpk_attempt {
	wpk_u32 kind;
	wpk_u32 cpu;		/* for which */
	wpk_u32 level;		/* of its domains, the lowest is 0 */
	wpk_u32 idle;		/* WPK_BALANCE_BUSY ... */
	wpk_u32 nr_failed;	/* nr_balance_failed */
	wpk_u32 interval_ms;	/* balance_interval */
	wpk_u32 migration;	/* enum migration_type */
	wpk_u32 overutilized, overloaded;	/* the root domain */
	/* the group to pull from: its first CPU, or WPK_NONE, and how many it has */
	wpk_u32 group_cpu, group_weight;
	wpk_u32 src_cpu;	/* the queue to pull from, or WPK_NONE */
	wpk_u32 tries;		/* detach_tasks() may look at so many tasks */
	wpk_u32 pinned;
	wpk_s64 imbalance;
	wpk_u64 tick_ns;
	/* after it */
	wpk_u32 answer;		/* yes; how many were detached */
	wpk_u32 migration_after, overutilized_after, overloaded_after;
	wpk_u32 nr_idle_scan_after;	/* of the CPU's last-level cache */
	wpk_u32 pinned_after;
	wpk_u32 new_cpu;	/* another one of the group, which may take what `cpu` may not */
	wpk_u32 unused;
	wpk_s64 imbalance_after;
};

/* A step of balancing a domain. */
struct wpk_balance {
	struct wpk_attempt attempt;
	wpk_u32 nr_choices, nr_offered;
	wpk_u32 nr_words, unused;
	/* all CPUs; groups as the step has refreshed them */
	const struct wpk_choice *choices;
	const struct wpk_offered *offered;	/* in the order of the looks */
	const wpk_u64 *allowed;	/* of each offered task so many words: the CPUs it may use */
};

#endif
