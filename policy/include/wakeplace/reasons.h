// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Why a CPU was chosen: one value per outcome, the same in the simulator, in `explain` and in the
 * live scheduler's counters. Append only: the numbers are part of recorded results.
 *
 * What must stay: comments are the text of docs/guide/reasons.md (`cargo xtask reasons`), and
 * crates/policy-sys/src/reason.rs has the same values with names. Tests by part, names alone being
 * of crates/policy-sys/tests/all: explain.rs::`every_word_is_there_once` (both enums),
 * crates/scx/tests/parity/main.rs::`every_decision_is_the_same_in_all_builds` (that each reason is
 * reached, in long runs).
 */
#ifndef WAKEPLACE_REASONS_H
#define WAKEPLACE_REASONS_H

enum wp_reason {
	WP_REASON_NONE,                /* no decision yet */
	WP_REASON_ONE_ALLOWED,         /* the task may use one CPU only */
	WP_REASON_NOT_ALLOWED, /* the rule's CPU is offline or not allowed: lowest allowed CPU */
	WP_REASON_ENERGY_BEST, /* it costs least energy, by more than the margin, if there is one */
	WP_REASON_ENERGY_PREV, /* the previous CPU: no other meets the task's uclamp better or
				* saves enough energy */
	WP_REASON_ENERGY_PREV_UNFIT,   /* the task does not fit the previous CPU: best other CPU */
	WP_REASON_ENERGY_NOTHING_FITS, /* the task fits no CPU: the previous CPU */
	WP_REASON_ENERGY_ZERO_UTIL,    /* the task has no utilisation: the previous CPU */
	WP_REASON_ENERGY_NO_DOMAIN, /* the previous CPU is outside the asymmetric domain: it
				     * stays there */
	WP_REASON_IDLE_TARGET,         /* the target CPU is idle */
	WP_REASON_IDLE_PREV,           /* the previous CPU is idle and shares the target's cache */
	WP_REASON_IDLE_RECENT, /* the recently used CPU is idle and shares the target's cache */
	WP_REASON_IDLE_CORE,           /* a CPU of an idle core in the target's cache domain */
	WP_REASON_IDLE_CPU,            /* an idle CPU in the target's cache domain */
	WP_REASON_IDLE_SMT,            /* an idle thread of the target's core */
	WP_REASON_TARGET_NO_LLC,       /* no other CPU shares the target's cache: the target */
	WP_REASON_TARGET_BUSY,         /* no idle CPU found: the target, busy */
	WP_REASON_SLOW_SPARE,          /* the group that has the CPU with most spare capacity */
	WP_REASON_SLOW_LOAD,           /* the group with the least load */
	WP_REASON_SLOW_LOCAL,          /* the local group: no other one is better by enough */
	WP_REASON_ENERGY_HINT, /* it meets the task's uclamp_min, and the previous CPU does not */
	WP_REASON_ENERGY_BIGGEST, /* no CPU meets the task's uclamp_min: the one with most
				   * capacity */
	WP_REASON_ENERGY_UNCLEAR, /* the estimate is lower with the task than without it: the
				   * previous CPU */
	WP_REASON_KTHREAD_PREV, /* the waker is a kernel thread of the previous CPU, alone there:
				 * the previous CPU */
	WP_REASON_IDLE_SMT_PREV, /* an idle thread of the previous CPU's core */
	WP_REASON_IDLE_CLUSTER,  /* an idle CPU in the target's cluster */
	WP_REASON_IDLE_PREV_FAR, /* no nearer CPU is idle: the previous CPU, idle in another
				  * cluster of the cache */
	WP_REASON_IDLE_RECENT_FAR, /* no nearer CPU is idle: the recently used CPU, idle in
				    * another cluster of the cache */
	WP_REASON_IDLE_CAPACITY, /* asymmetric domain: the first idle CPU that fits the task,
				  * from the target on */
	WP_REASON_IDLE_CAPACITY_BEST, /* asymmetric domain: no idle CPU fits the task: the one
				       * that comes nearest */
	WP_REASON_TARGET_NO_SCAN, /* the domain is too busy to be searched (SIS_UTIL): the
				   * target, busy */
	WP_REASON_SLOW_IDLE,   /* a group with more idle CPUs */
	WP_REASON_SLOW_CLASS,  /* a group of a less busy class */
	WP_REASON_SLOW_MISFIT, /* the task fits no CPU: the group with the biggest CPU */
	WP_REASON_SLOW_REMOTE, /* the task may not use the local group: the best other one */
	WP_REASON_PREV_NO_DOMAIN, /* no domain joins the waking and the previous CPU: the
				   * previous CPU, idle or not */
	WP_REASON_CURRENT_CPU, /* the waker asked for its own CPU (WF_CURRENT_CPU) */
	WP_REASON_CLASS_PREV, /* RT, deadline: the previous CPU, where no task has as high a
			       * priority */
	WP_REASON_CLASS_LOWEST, /* RT, deadline: the CPU whose tasks have the lowest priority */
	WP_REASON_CLASS_WAITS, /* RT, deadline: no CPU has tasks of lower priority: it waits on
				* the previous CPU */
	WP_REASON_SHORT_STACK, /* the task is short, and so is the one on the target CPU: the
				* target, without a search */
	WP_REASON_SHORT_TARGET, /* no idle CPU near the waking CPU, whose task is short: the
				 * waking CPU */
	WP_REASON_SHORT_NO_SCAN, /* the target's task runs shorter than a search takes: the
				  * target, without a search */
	WP_REASON_SAVES_POWER,   /* sched-mc: tasks are packed, and this CPU may take one more */
	WP_REASON_POWER_LEADER, /* power-policy: the least loaded CPU of the fullest group that
				 * is not full */
	WP_REASON_POWER_SMALL_HERE, /* power-policy: a small task, which the waking CPU can take */
	WP_REASON_POWER_SMALL_RUNNING, /* power-policy: a small task: of the fullest group that
					* is not full, the fullest CPU that can take it */
	WP_REASON_QUEUE_HOLDS, /* the queue of the previous CPU still holds the task
				* (DELAY_DEQUEUE): the previous CPU */
	WP_REASON_ENERGY_IDLE, /* it is idle, and costs as little energy as the previous CPU,
				* which is busy */
	WP_REASON_SCHEDULER,   /* a sched_ext scheduler's answer, none of the core's */
	WP_REASON_KERNEL,      /* the answer of a tree's own kernel/sched, none of the core's */
	WP_REASON_COUNT
};

/* Which part of the policy decided. */
enum wp_rule {
	WP_RULE_NONE,        /* no rule ran */
	WP_RULE_AFFINITY,    /* the allowed CPUs leave no choice */
	WP_RULE_ENERGY,      /* energy-aware wake-up: the CPU that costs least energy */
	WP_RULE_IDLE_SIBLING, /* fast path: an idle CPU near the waking or the previous one */
	WP_RULE_SLOW_PATH,   /* slow path: the idlest group of CPUs, then the idlest CPU in it */
	WP_RULE_REQUEST,     /* the waker names the CPU (WF_CURRENT_CPU) */
	WP_RULE_CLASS, /* RT and deadline tasks: the CPU whose tasks have the lowest priority */
	WP_RULE_POWER, /* packing: groups, or CPUs, are filled one after the other (power-policy,
			* sched-mc) */
	WP_RULE_QUEUE,       /* the live scheduler's queue still holds the task (DELAY_DEQUEUE) */
	WP_RULE_SCHEDULER,   /* a sched_ext scheduler in the core's place */
	WP_RULE_KERNEL,      /* a tree's own kernel/sched in the core's place */
	WP_RULE_COUNT
};

#endif
