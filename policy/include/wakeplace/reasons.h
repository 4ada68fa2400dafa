// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Why a CPU was chosen: one value per outcome, the same in the simulator, in `explain` and in the
 * live scheduler's counters. Append only: the numbers are part of recorded results.
 */
#ifndef WAKEPLACE_REASONS_H
#define WAKEPLACE_REASONS_H

enum wp_reason {
	WP_REASON_NONE,                /* no decision yet */
	WP_REASON_ONE_ALLOWED,         /* the task may use one CPU only */
	WP_REASON_NOT_ALLOWED,         /* the rule's CPU is not allowed or gone: lowest allowed */
	WP_REASON_ENERGY_BEST,         /* least energy, by more than the form's margin */
	WP_REASON_ENERGY_PREV,         /* none better by its wish, then by energy: previous CPU */
	WP_REASON_ENERGY_PREV_UNFIT,   /* previous CPU cannot hold the task: best other */
	WP_REASON_ENERGY_NOTHING_FITS, /* no CPU can hold the task: previous CPU */
	WP_REASON_ENERGY_ZERO_UTIL,    /* task without utilisation: previous CPU */
	WP_REASON_ENERGY_NO_DOMAIN,    /* previous CPU outside the asymmetric domain */
	WP_REASON_IDLE_TARGET,         /* the target CPU is idle */
	WP_REASON_IDLE_PREV,           /* prev is idle and shares the target's cache */
	WP_REASON_IDLE_RECENT,         /* the recently used CPU is idle and shares the cache */
	WP_REASON_IDLE_CORE,           /* an idle core in the target's cache domain */
	WP_REASON_IDLE_CPU,            /* an idle CPU in the target's cache domain */
	WP_REASON_IDLE_SMT,            /* an idle thread of the target's core */
	WP_REASON_TARGET_NO_LLC,       /* the target shares its cache with nobody */
	WP_REASON_TARGET_BUSY,         /* no idle CPU found: the target, busy */
	WP_REASON_SLOW_SPARE,          /* group with the CPU of most spare capacity */
	WP_REASON_SLOW_LOAD,           /* least loaded group */
	WP_REASON_SLOW_LOCAL,          /* the local group is good enough */
	WP_REASON_ENERGY_HINT,    /* another CPU meets its wish for performance, prev does not */
	WP_REASON_ENERGY_BIGGEST, /* no CPU meets that wish: the one with most capacity */
	WP_REASON_ENERGY_UNCLEAR, /* costs less with the task than without: previous CPU */
	WP_REASON_KTHREAD_PREV,  /* the waker is a kernel thread of prev, alone there: prev */
	WP_REASON_IDLE_SMT_PREV, /* an idle thread of the previous CPU's core */
	WP_REASON_IDLE_CLUSTER,  /* an idle CPU in the target's cluster */
	WP_REASON_IDLE_PREV_FAR, /* none near: prev, idle in another cluster of the cache */
	WP_REASON_IDLE_RECENT_FAR, /* none near: the recently used CPU, likewise */
	WP_REASON_IDLE_CAPACITY,   /* asymmetric: first idle CPU that fits, from the target on */
	WP_REASON_IDLE_CAPACITY_BEST, /* asymmetric: no idle CPU fits, the nearest to it */
	WP_REASON_TARGET_NO_SCAN,     /* the domain is too busy to be searched: the target */
	WP_REASON_SLOW_IDLE,   /* group with more idle CPUs */
	WP_REASON_SLOW_CLASS,  /* group of a less busy class */
	WP_REASON_SLOW_MISFIT, /* the task fits nowhere: group with the biggest CPU */
	WP_REASON_SLOW_REMOTE, /* the local group is not allowed */
	WP_REASON_PREV_NO_DOMAIN, /* no domain joins waker's and previous CPU: prev, as it is */
	WP_REASON_CURRENT_CPU, /* the waker asked for its own CPU */
	WP_REASON_CLASS_PREV,   /* RT, deadline: nobody on prev goes before it */
	WP_REASON_CLASS_LOWEST, /* RT, deadline: the CPU whose tasks matter least */
	WP_REASON_CLASS_WAITS,  /* RT, deadline: no CPU would let it run: prev */
	WP_REASON_SHORT_STACK,   /* waker and wakee are short, the cache is busy: the target */
	WP_REASON_SHORT_TARGET,  /* no idle CPU near the short waker's CPU: that CPU */
	WP_REASON_SHORT_NO_SCAN, /* the target's task runs shorter than a search: the target */
	WP_REASON_SAVES_POWER,   /* power is saved: it has room where it is */
	WP_REASON_POWER_LEADER,     /* least loaded CPU of the group that is fullest but has room */
	WP_REASON_POWER_SMALL_HERE, /* a small task: the waking CPU has room for it */
	WP_REASON_POWER_SMALL_RUNNING, /* ... the fullest CPU of that group with room for it */
	WP_REASON_QUEUE_HOLDS, /* it fell asleep in debt, and its queue has kept it: there */
	WP_REASON_ENERGY_IDLE, /* idle, for as little energy as the busy previous CPU */
	WP_REASON_SCHEDULER,   /* a sched_ext scheduler's answer, none of the core's */
	WP_REASON_COUNT
};

/* Which part of the policy decided. */
enum wp_rule {
	WP_RULE_NONE,        /* no rule ran */
	WP_RULE_AFFINITY,    /* no choice */
	WP_RULE_ENERGY,      /* energy-aware wake-up */
	WP_RULE_IDLE_SIBLING, /* fast path around one target */
	WP_RULE_SLOW_PATH,   /* find_idlest over the domains */
	WP_RULE_REQUEST,     /* the request names the CPU */
	WP_RULE_CLASS,       /* RT and deadline tasks (select_rt.c) */
	WP_RULE_POWER,       /* power-aware packing (power_policy.c) */
	WP_RULE_QUEUE,       /* what a live queue is owed (queue.c) */
	WP_RULE_SCHEDULER,   /* a sched_ext scheduler in the core's place */
	WP_RULE_COUNT
};

#endif
