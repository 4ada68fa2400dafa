// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * RT and deadline tasks and interrupt time: what a home without a kernel beneath tells the core
 * besides. Not in the live build (WP_SIM): there the kernel runs these classes and keeps their
 * signals. Included by policy.h.
 *
 * What must stay: the home says who is queued and who runs, and the core keeps signals; levels
 * compare (a higher one goes first); bandwidth is of 1 << 20, times are ns. Tests by part, names
 * alone being of crates/policy-sys/tests/all: classes.rs::`class_signals_of_ten_ms` (events),
 * classes.rs::`rt_goes_to_the_lowest` (`wp_select_task_rq_rt`),
 * classes.rs::`pull_the_highest_that_waits` (`wp_class_pull_cpu`),
 * classes.rs::`interrupts_and_the_task_clock` (`wp_irqtime_account_irq`),
 * classes.rs::`a_run_takes_of_the_budget_by_speed` (`wp_dl_scaled_delta_exec`).
 */
#ifndef WAKEPLACE_RT_DL_IRQ_H
#define WAKEPLACE_RT_DL_IRQ_H

#include "wakeplace/placement.h"
#include "wakeplace/runqueue.h"

enum wp_class {
	WP_CLASS_FAIR,
	WP_CLASS_RT, /* SCHED_FIFO and SCHED_RR */
	WP_CLASS_DL, /* SCHED_DEADLINE */
};

#define WP_RT_PRIO_MAX 99u
#define WP_BW_SHIFT 20u

/* What the core needs of a task above the fair class, beside its struct wp_task. */
struct wp_class_task {
	u64 deadline_ns;    /* deadline class: absolute, of the present job */
	u64 dl_runtime_ns;
	u64 dl_deadline_ns; /* relative */
	u64 dl_period_ns;
	u32 class;    /* enum wp_class */
	u32 priority; /* RT: 1..99, 99 first */
	u32 active;   /* its CPU counts its bandwidth */
	u32 pad;
};

/* rt_dl_irq.c: events of such tasks, on task->cpu; results as of the fair class's events */
u64 wp_class_level(const struct wp_class_task *ct WP_NONNULL);
int wp_class_join(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL,
		  struct wp_class_task *ct WP_NONNULL, u64 now_ns, u32 flags);
int wp_class_leave(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL,
		   struct wp_class_task *ct WP_NONNULL, u64 now_ns, u32 flags);
int wp_class_run(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL,
		 const struct wp_class_task *ct WP_NONNULL, u64 now_ns);
int wp_class_stop(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL, u64 now_ns);
int wp_class_tick(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL, u64 now_ns);
u64 wp_dl_scaled_delta_exec(const struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 delta_ns);
u64 wp_dl_run_for(const struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 budget_ns);
int wp_irqtime_account_irq(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 irq_ns);

/* ... for the other files of the core */
u64 wp_irq_take(struct wp_cpu *c WP_NONNULL, u64 delta_ns);
int wp_update_other_load_avgs(struct wp_ctx *ctx WP_NONNULL, struct wp_cpu *c WP_NONNULL);
u32 wp_cpu_bw_dl(const struct wp_cpu *c WP_NONNULL);
u32 wp_class_freq_util(const struct wp_cpu *c WP_NONNULL, u32 fair);
u32 wp_scale_rt_capacity_4_18(struct wp_cpu *c WP_NONNULL);

/* select_rt.c: where such a task goes */
int wp_select_task_rq_rt(struct wp_ctx *ctx WP_NONNULL, const struct wp_task *task WP_NONNULL,
			 const struct wp_class_task *ct WP_NONNULL,
			 const struct wp_request *req WP_NONNULL,
			 struct wp_decision *dec WP_NONNULL);
u32 wp_class_push_cpu(const struct wp_ctx *ctx WP_NONNULL, const struct wp_task *task WP_NONNULL,
		      const struct wp_class_task *ct WP_NONNULL);
u32 wp_class_pull_cpu(const struct wp_ctx *ctx WP_NONNULL, u32 cpu);

#endif
