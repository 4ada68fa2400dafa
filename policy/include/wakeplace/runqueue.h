// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tasks, CPUs and the events of both (policy/src/runqueue).
 *
 * What must stay: events come in the order of time and once each; the home writes what is called a
 * fact and what a struct's comment names; a task's `id` is not 0; `exec_start_ns` and clocks are
 * ns. Bits of enum wp_event_result may come together. Tests by part, names alone being of
 * crates/policy-sys/tests/all: signals.rs::`queue_is_the_sum_of_its_tasks` (`wp_task`,
 * `wp_cpu_load`), signals.rs::`migrated_sleepers_leave_nothing` (`removed_load`),
 * topology.rs::`levels_of_server_machines` (`wp_cpu_topo`), on_state.rs::`one_step_at_a_time`
 * (`wp_on_state_task`), preempt_lazy.rs::`a_busy_cpu_is_marked_where_the_kernel_is_lazy`
 * (`wp_resched`), crates/scx/tests/parity/main.rs::`every_event_is_the_same_in_all_builds` (entry
 * points, in both builds).
 */
#ifndef WAKEPLACE_RUNQUEUE_H
#define WAKEPLACE_RUNQUEUE_H

#include "wakeplace/balance.h"
#include "wakeplace/limits.h"
#include "wakeplace/live_queue.h"
#include "wakeplace/load_tracking.h"
#include "wakeplace/packing.h"
#include "wakeplace/port.h"

struct wp_ctx;

/* What the wake-up rules remember of a waker; tasks have one, and each CPU's idle task has one. */
struct wp_waker {
	u64 flip_decay_ns;
	u32 wakee_flips;
	u32 last_wakee; /* task id, 0 = none */
	u32 recent_used_cpu;
	u32 pad;
};

struct wp_task {
	struct wp_sched_avg avg;
	struct wp_waker waker;
	u64 run_since_woken_ns; /* at the last update while it ran: clock_task, unscaled */
	u64 exec_start_ns; /* clock_task at the last update while it ran: cache-hot test */
	u32 id;            /* unique, not 0 */
	u32 weight;
	u32 cpu;           /* CPU it is on or was last on */
	u32 on_rq;
	u32 running;
	u32 util_est;      /* enqueued value | WP_UTIL_EST_UNCHANGED */
	u32 util_est_ewma;
	u32 nr_allowed;
	u32 max_allowed_capacity; /* of the CPUs it may use (wp_set_cpus_allowed) */
	u32 uclamp_min; /* performance hints, 0..1024; no wish: 0 and 1024 */
	u32 uclamp_max;
	u32 uclamp_counted;     /* a queue counts it, with these hints */
	u32 uclamp_counted_min;
	u32 uclamp_counted_max;
	u32 util_est_queued; /* what its CPU's util_est counts for it */
	u32 sched_delayed; /* it sleeps, its queue keeps it */
	u32 idle_counted; /* its CPU's nr_idle_policy counts it */
	u32 idle_policy; /* SCHED_IDLE: runs only where nothing else wants to */
	/* queue.c: the live queues */
	u32 vtime_cpu;   /* whose virtual time vtime_ns is on */
	u32 vq_weight;   /* in the queue of vtime_cpu, with this weight; 0: in none */
	u32 vq_runs;     /* ... and it is the one that runs */
	u32 woken_sync;  /* by one that said it would sleep */
	u32 vq_place;    /* asleep: 1 + its place among vtime_cpu's sleepers; 0: has none */
	u64 vtime_ns;    /* weighted run time */
	u64 deadline_ns; /* ... when its slice is over: the order; in none: the rest, 0: all */
	u64 vq_lag_ns;   /* in none: what it was owed when it left, signed */
	u32 task_group; /* task_group.h: its group's number from 1, 0 = none */
	u32 group_load;  /* ... what it weighs for its CPU (wp_tg_prepare) */
	/* duration.c, all from 0 */
	u64 exec_ns;      /* it ran so long, up to the end of its last run or tick */
	u64 dur_start_ns; /* ... by then at the last sample of dur_avg_ns */
	u64 dur_avg_ns;   /* average run between two sleeps; 0: unknown */
	u32 sleeps;       /* how often it fell asleep */
	/* sched_cache.h: its process, from 1; WP_NONE: alone in it; 0: a kernel thread */
	u32 mm;
	u32 preferred_llc;   /* number of the cache it prefers, + 1; 0: none */
	u32 pref_llc_queued; /* it is queued there */
	u32 group_idle; /* task_group.h: a group around it has cpu.idle */
	u32 util_dequeued; /* its utilisation when it last fell asleep */
	u32 delta_exec_us; /* it ran so long up to its last update; 0 from each sleep on */
	/* uclamp_sum.c: what its hints make of its utilisation, less that; its estimate within its
	 * hints; what its CPU's util_est_uclamp counts for it */
	s32 util_avg_bias;
	u32 util_est_uclamp;
	u32 util_est_uclamp_queued;
	/* urgency.c */
	u32 urgency;         /* share of its period from wake-up to sleep, 0..WP_SCALE */
	u32 urgency_counted; /* its step in nr_urgent of its CPU; 0: in none */
	u64 woken_ns;        /* when it last woke; 0: never */
	u64 period_ns;       /* between its last two wake-ups; 0: unknown */
	/* cache_rent.c: what wake-ups from other caches have cost it in this one, less those from
	 * within it; and which cache that is: its first CPU, + 1 */
	u64 rent_ns;
	u32 rent_llc;
	u32 pad;
	u64 allowed[WP_MASK_WORDS];
};

/* What is queued and what runs. The home writes nr_running, pending and online. */
struct wp_cpu_queue {
	u32 nr_running; /* all classes, and sleepers still queued */
	u32 nr_fair;
	u32 h_nr_delayed; /* sleepers that are still queued: in nr_running, not in nr_fair */
	u32 nr_idle_policy; /* queued SCHED_IDLE tasks */
	u32 pending;    /* wake-ups on their way to this CPU */
	u32 online;
	u32 rt_runnable; /* fact: a task of the RT class is queued */
	u32 misfit_task_load; /* of a running task that does not fit here, 0 = none */
	u32 curr_fair;     /* a fair task executes */
	u32 curr_idle;     /* the idle task executes */
	/* what executes */
	u32 curr_id; /* 0: the idle task, or one that the core does not know */
	u32 curr_weight;    /* 0: no fair task runs */
	u32 curr_idle_policy;
	u32 curr_sleeps;
	u32 curr_mm; /* its process (sched_cache.h) */
	u32 pad;
	u64 curr_run_since_woken_ns; /* of the fair task that executes */
	u64 curr_dur_ns;        /* to curr_sleeps: duration.c, of the task that executes */
	u64 curr_exec_ns;       /* when it began */
	u64 curr_exec_start_ns; /* that moment, clock_task */
	u32 nr_urgent[WP_URGENCY_STEPS]; /* tasks by step, from 1 (urgency.c) */
	struct wp_class_cpu classes;
};

/* Signals and capacity (load_tracking, frequency). */
struct wp_cpu_load {
	struct wp_sched_avg avg;
	u32 load_weight; /* sum of weights of queued fair tasks */
	u32 util_est;
	u32 capacity;      /* what is left for fair tasks */
	u32 capacity_orig; /* fact */
	u32 freq_scale;    /* f / fmax * 1024 */
	u32 blocked_weight; /* of load_weight, what groups have for load that sleeps (to 5.6) */
	/* of other classes, on the scale of utilisation */
	u32 rt_util;
	u32 dl_util;
	u32 irq_util;
	u32 pressure; /* capacity that thermal or frequency limits take away (cpufreq, hw) */
	u32 thermal_pressure; /* ... thermal limits alone: what 5.7 to 6.9 looked at */
	u32 nr_removed;
	u32 perf_request; /* last request reported with WP_DID_FREQ under freq_external */
	u32 fits_threshold; /* fits_by_tick, overutilized_margin: what fits is below this */
	/* clocks */
	u64 clock_ns;
	u64 clock_task_ns;
	u64 clock_pelt_ns;
	u64 lost_idle_ns;
	/* averages of tasks that left while sleeping, taken off at the next update; other CPUs add
	 * to them at any time (WP_ADD, WP_TAKE) */
	u64 removed_load;
	u64 removed_runnable;
	u64 removed_util;
	/* performance hints of the queued tasks (uclamp.c) */
	u32 uclamp_tasks;    /* all queued tasks */
	u32 uclamp_hinted;   /* those with hints: only they are in the buckets */
	u32 uclamp_last_cut; /* 1024 - uclamp_max of the task that left last */
	struct wp_uclamp_rq uclamp[2]; /* by enum wp_uclamp_id */
	/* uclamp_sum.c: of the tasks on the queue */
	s32 util_avg_bias;        /* sum of their biases */
	u32 util_est_uclamp;      /* sum of their estimates within their hints */
	u32 max_uclamp_factor_id; /* the task that is served best for its weight; 0: unknown */
	u64 max_uclamp_factor;    /* ... its clamped utilisation x 2^32 / weight */
	/* older forms */
	u32 power_orig;     /* older forms: capacity without other classes; 0: capacity_orig */
	u32 cpu_load[4];
	u64 load_tick; /* tick of the last cpu_load update */
	/* time of other classes and interrupts, aged, and since when (capacity_4_18.c) */
	u64 other_ns;
	u64 other_since_ns;
};

/* Where the CPU is in the machine (topology): written when domains are built. */
struct wp_cpu_topo {
	u32 llc_level;            /* highest SHARE_LLC level, WP_NONE without */
	u32 llc_id;
	u32 llc_size;
	u32 asym_level; /* lowest ASYM level, WP_NONE without */
	u32 asym_full_level; /* lowest ASYM_FULL level, WP_NONE without */
	u32 cluster_level; /* lowest CLUSTER level, WP_NONE without */
	u32 packing_level; /* highest ASYM_PACKING level, WP_NONE without */
	u32 asym_priority; /* fact: a CPU of higher priority is filled first (asym_packing.c) */
	u32 perf_dom;
	u32 freq_dom;
	u32 nr_levels;
	u32 dom[WP_MAX_LEVELS];   /* lowest first */
	u32 group[WP_MAX_LEVELS]; /* index of this CPU's group within dom[] */
	u32 pos[WP_MAX_LEVELS]; /* where this CPU is in the list of dom[] */
};

/* Idle times, and hints of the idle search on the first CPU of a search domain (placement). */
struct wp_cpu_idle {
	u32 idle_exit_latency_us; /* of the state it is in; WP_NONE: in none */
	u32 idle_calls;     /* times the CPU entered idle */
	u32 nr_idle_scan; /* CPUs worth looking at */
	u32 has_idle_cores; /* likewise as nr_idle_scan: some core may be idle (SMT only) */
	u32 nr_busy_cpus; /* on the first CPU of an LLC: CPUs with a running tick */
	u32 ilb; /* enum wp_ilb_flags: what it knows as an idle load balancer (3.1) */
	u64 idle_stamp_ns; /* when it last became idle */
	u64 wake_idle_stamp_ns; /* set by a new-idle attempt, cleared by the next wake-up */
	u64 avg_idle_ns;
	/* idle time left to expect, as of a tick (idle_scan_6_5.c) */
	u64 wake_avg_idle_ns;
	u64 wake_tick;
	struct wp_waker idle_waker;
};

/* Load balancing and packing (balance, packing). */
struct wp_cpu_balance {
	u64 next_balance_tick;
	u64 max_idle_balance_cost_ns;
	u64 newidle_waited_ns; /* for cache lines, since the new-idle pass under way began */
	u32 active_balance; /* a push off this CPU is under way */
	u32 push_cpu;   /* WP_DID_PUSH: where its task is to go ... */
	u32 push_level; /* ... and the level of that CPU's domains that spans both */
	u32 pad;
	struct wp_lb lb[WP_MAX_LEVELS];
	struct wp_mc_cpu mc;
};

/* The live queues' virtual time (live_queue). */
struct wp_cpu_live {
	u64 vtime_now_ns;   /* V at vq_clock_ns: the mean of its tasks' by weight */
	u64 vq_clock_ns;
	u64 curr_vtime_ns;  /* of the running task, when it began */
	u64 curr_deadline_ns;
	u64 curr_start_ns;
	u64 curr_protected_ns; /* it is protected until it has run so long */
	u32 vq_load;        /* weight of all in the queue, the running one's included */
	u32 vq_kept_load;   /* ... of its sleepers (queue_sleepers.c) */
	/* on the first CPU of an LLC: the last tick of a busy CPU of it, and whose */
	u64 llc_busy_tick;
	u64 llc_crowded_tick;
	u32 llc_busy_cpu;
	u32 llc_crowded_cpu;    /* ... and of one with WP_CROWD tasks */
	struct wp_live_queue_sleeper vq_sleepers[WP_LIVE_QUEUE_SLEEPERS];
};

/* A CPU. What every wake-up reads comes first in each part. */
struct wp_cpu {
	struct wp_cpu_queue queue;
	struct wp_cpu_load load;
	struct wp_cpu_topo topo;
	struct wp_cpu_idle idle;
	struct wp_cpu_balance balance;
	struct wp_cpu_live live;
};

/* Bits that the event entry points return. */
enum wp_event_result {
	WP_DID_FREQ = 1 << 0, /* the CPU's frequency domain has a new request (next_opp) */
	WP_DID_BALANCE = 1 << 1, /* tick: run the periodic balancing on this CPU now; turn of the
				  * timer for idle CPUs: wake it for that */
	WP_DID_KICK = 1 << 2, /* tick: kick an idle CPU to balance (wp_find_new_ilb); tick of an
				  * idle CPU: it answers a kick now (wp_nohz_begin) */
	WP_DID_STATS = 1 << 3, /* tick: only decay the signals of idle CPUs */
	WP_DID_END_REST = 1 << 4, /* tick: the timer for idle CPUs has rested; it is due now */
	WP_DID_PUSH = 1 << 5, /* tick: push the running task to its CPU's push_cpu */
};

enum wp_queue_flags {
	WP_Q_WAKEUP = 1 << 0,
	WP_Q_NEW = 1 << 1,
	WP_Q_SLEEP = 1 << 2,
	WP_Q_DELAY = 1 << 3,    /* with a sleep: its queue keeps it */
	WP_Q_IOWAIT = 1 << 4,   /* the sleep that ends waited for I/O */
	/* leaves or joins because of its budget or its group's, stays active */
	WP_Q_THROTTLE = 1 << 5,
};

/* How a CPU hears that its fair task is to give way (TIF_NEED_RESCHED, TIF_NEED_RESCHED_LAZY). */
enum wp_resched {
	WP_RESCHED_NOW, /* at once: another CPU is interrupted for it */
	WP_RESCHED_LAZY, /* a mark: when it next leaves the kernel for user mode, and at its tick */
};

/* rq.c, tick.c: events of tasks and run queues */
int wp_task_init(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL);
int wp_task_fork(struct wp_task *task WP_NONNULL, const struct wp_waker *parent WP_NONNULL);
int wp_reweight_task(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL, u32 weight,
		     u64 now_ns);
int wp_task_new(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL, u32 cpu,
		u64 now_ns);
int wp_enqueue_task_fair(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL, u32 cpu,
			 u64 now_ns, u32 flags);
int wp_dequeue_task_fair(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL, u64 now_ns,
			 u32 flags);
int wp_set_next_task_fair(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL,
			  u64 now_ns);
int wp_put_prev_task_fair(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL,
			  u64 now_ns);
int wp_enter_idle(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 now_ns);
WP_SMALL_FN int wp_exit_idle(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 now_ns);
WP_SMALL_FN int wp_show_rq_clock(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 now_ns);
WP_SMALL_FN int wp_woken(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 now_ns);
int wp_migrate_task_rq_fair(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL, u32 cpu,
			    u64 now_ns);
int wp_migrate_pulled(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL, u32 cpu);
int wp_migrate_queued(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL, u32 cpu,
		      u64 now_ns);
int wp_task_dead_fair(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL);
int wp_task_tick_fair(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL, u64 now_ns);
int wp_idle_tick(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 now_ns);
int wp_update_blocked_averages(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 now_ns);

/* Natively only: the live build does not hold what follows. */
/* resched.c: when that is */
int wp_dynamic_preempt_lazy(const struct wp_ctx *ctx WP_NONNULL);
u32 wp_resched_curr_lazy(const struct wp_ctx *ctx WP_NONNULL, u32 cpu);

/* on_state.c: single steps on another scheduler's state */
int wp_on_state_task(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL, u64 now_ns);
int wp_on_state_queue(struct wp_ctx *ctx WP_NONNULL, u32 cpu);
int wp_on_state_estimate(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL);
int wp_on_state_freq(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u32 iowait, u64 now_ns);
int wp_on_state_balances(struct wp_ctx *ctx WP_NONNULL, const struct wp_lb_env *bal WP_NONNULL);
int wp_on_state_src_group(struct wp_ctx *ctx WP_NONNULL, struct wp_lb_env *bal WP_NONNULL);
u32 wp_on_state_src_cpu(struct wp_ctx *ctx WP_NONNULL, struct wp_lb_env *bal WP_NONNULL);
int wp_on_state_pushes(struct wp_ctx *ctx WP_NONNULL, const struct wp_lb_env *bal WP_NONNULL);

#endif
