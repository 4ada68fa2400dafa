// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Load tracking: the averages of tasks and CPUs, hints, estimates, and what capacity is left
 * (policy/src/load_tracking).
 *
 * What must stay: sums and averages are the kernel's integers, to the last bit
 * (docs/rules/signals.md); utilisation and capacity are of 1024; arrays that WP_AT indexes have 8
 * places, a power of two. Tests by part, names alone being of crates/policy-sys/tests/all:
 * kernel_truth.rs::`every_recorded_update_is_reproduced` (`wp_sched_avg`, `wp_pelt_step`),
 * pelt_vectors.rs::`segments_rows` (`wp_accumulate_pelt_segments`), pelt_vectors.rs::`nice_rows`
 * (weights), classes.rs::`class_signals_of_ten_ms` (`wp_class_cpu`),
 * fits.rs::`queue_serves_the_highest_hints` (`wp_uclamp_rq`),
 * crates/scx/tests/parity/main.rs::`every_event_is_the_same_in_all_builds` (entry points, in both
 * builds).
 */
#ifndef WAKEPLACE_LOAD_TRACKING_H
#define WAKEPLACE_LOAD_TRACKING_H

#include "wakeplace/port.h"

struct wp_ctx;
struct wp_task;
struct wp_cpu;

#define WP_SCALE 1024u
#define WP_WEIGHT_IDLE_POLICY 3u /* of a SCHED_IDLE task */
#define WP_UTIL_EST_UNCHANGED 0x80000000u

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
	u32 perf_target; /* 1 + what a sched_ext scheduler asks for, 0: there is none */
	u32 half_life;   /* enum wp_pelt_half_life */
};

/*
 * What a CPU knows of its tasks' performance hints (uclamp.c).
 *
 * The hints of one kind of the tasks queued on a CPU: the highest counts. Buckets keep the count
 * cheap; within a bucket the highest value seen holds until the bucket is empty.
 */
struct wp_uclamp_rq {
	u32 tasks[8]; /* WP_UCLAMP_BUCKETS are used: a power of two for WP_AT */
	u32 highest[8];
};

enum wp_uclamp_id { WP_UCLAMP_MIN, WP_UCLAMP_MAX };

/* pelt.c: the arithmetic of load tracking */
u64 wp_decay_load(u64 value, u64 periods);
struct wp_pelt_step {
	u64 now_ns;
	u32 load;
	u32 runnable;
	u32 running;
	u32 weight;     /* factor of load_avg: the entity's weight, 1 for a run queue */
	u32 scale_cpu;  /* 1024 in clock mode */
	u32 scale_freq; /* 1024 in clock mode */
	u32 runnable_is_load;
	u32 half_life; /* enum wp_pelt_half_life: time counts 1 << this as fast */
};
u32 wp_accumulate_pelt_segments(u32 periods, u32 d1, u32 d3);
int wp_update_load_sum(struct wp_sched_avg *avg WP_NONNULL,
		       const struct wp_pelt_step *step WP_NONNULL);
WP_SMALL_FN int wp_avg_step(struct wp_sched_avg *avg WP_NONNULL,
			    const struct wp_pelt_step *step WP_NONNULL);

/* weights.c */
u32 wp_nice_weight(s32 nice);
u32 wp_nice_inv_weight(s32 nice);

/* util_est.c */
u32 wp_util_est_of_run(u64 run_ns);
u32 wp_util_est_next(u32 mode, u32 est, u32 util, u32 runnable, u32 capacity);
u32 wp_task_util_est(const struct wp_ctx *ctx WP_NONNULL, const struct wp_task *task WP_NONNULL);

/* uclamp.c: performance hints */
WP_SMALL_FN u32 wp_uclamp_tg_restrict(u32 value, u32 group_min, u32 group_max);
u32 wp_uclamp_rq_max_value(const struct wp_uclamp_rq *u WP_NONNULL, u32 otherwise);
int wp_task_set_uclamp(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL, u32 min,
		       u32 max);

/* duration.c */
u32 wp_get_update_sysctl_factor(u32 scaling, u32 nr_cpus);
WP_SMALL_FN u32 wp_time_bucket(u64 ns);

/* capacity.c */
int wp_set_cpus_allowed(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL);
int wp_util_fits_cpu(const struct wp_ctx *ctx WP_NONNULL, u32 util, u32 uclamp_min,
		     u32 uclamp_max, u32 cpu);
WP_SMALL_FN int wp_idle_cpu(const struct wp_ctx *ctx WP_NONNULL, u32 cpu);

/* Natively only: the live build does not hold what follows. */
/* approximate.c */
u32 wp_approximate_util_avg(u32 util, u64 us, u32 half_life);
u32 wp_approximate_runtime(u32 util, u32 half_life);
u32 wp_fits_capacity_threshold(u32 capacity, u64 tick_us, u32 half_life);

/* capacity_4_18.c */
int wp_sched_rt_avg_update_4_18(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 now_ns, u64 ran_ns);
u32 wp_capacity_tasks(u32 capacity);

#endif
