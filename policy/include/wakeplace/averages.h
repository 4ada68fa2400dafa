// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Averages of tasks and CPUs, and those of what CPUs do besides fair tasks. */
#ifndef WAKEPLACE_AVERAGES_H
#define WAKEPLACE_AVERAGES_H

#include "wakeplace/port.h"

/* One set of geometric averages (half-life 32 periods of 1024 us; runnable_avg_3_8.c has another
 * use of the fields). */
struct wp_sched_avg {
	u64 last_update_ns;
	u64 load_sum;
	u64 runnable_sum;
	u64 util_sum;
	u32 load_avg;
	u32 runnable_avg;
	u32 util_avg;
	u32 period_contrib;
};

/* What a CPU does besides fair tasks, kept by rt_dl_irq.c; all zero where a kernel beneath knows
 * it. */
struct wp_class_cpu {
	struct wp_sched_avg rt;
	struct wp_sched_avg dl;
	struct wp_sched_avg irq;
	u64 run_stamp_ns;    /* clock_task up to which the running task's time is counted below */
	u64 aged_ns;         /* to 4.18: run time x speed, halved every half second ... */
	u64 age_stamp_ns;    /* ... up to then */
	u64 irq_ns;          /* interrupt time that clock_task has not left out yet */
	u64 dl_bw;           /* bandwidth of the active deadline tasks, 1 << 20 = a CPU */
	/* fact: of the first queued RT or deadline task (wp_class_level), 0 none; at least 99 while
	 * RT tasks have to wait for their next period */
	u64 level;
	u64 next_level; /* fact: of the first that waits and may leave, 0 none */
	u32 curr_pinned; /* fact: the running one may use no other CPU */
	u32 kept;        /* 1 + enum wp_class_capacity once something happened here */
	u32 nr_rt;       /* queued, the running one included */
	u32 nr_dl;
	u32 running;     /* enum wp_class of the running task, 0: a fair one or none */
	/* iowait.c */
	u32 io_boost;   /* 0..1024, in the form of 4.17 kHz */
	u32 io_pending; /* asked for since the boost was last used */
	u32 io_floor;   /* what it demands now, on the CPU's own capacity scale */
	u64 io_stamp_ns; /* of the CPU's last frequency update */
};

#endif
