// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The placement policy core: structs and entry points.
 *
 * A home (the simulator, the live scheduler) owns a zero-filled struct wp_ctx and one struct
 * wp_task per task, fills in the machine, then reports events in time order. The core keeps the
 * signals, answers questions, and never calls back. It knows no clock: `now_ns` is the home's
 * monotonic clock.
 *
 * Units: time ns; utilisation and capacity 0..1024 (1024 = biggest CPU at its highest frequency);
 * load = utilisation-like average of nice weights (nice 0 = 1024); frequency kHz; power uW (energy
 * estimates in the unit of their version: mW for v3 and 5.0).
 */
#ifndef WAKEPLACE_POLICY_H
#define WAKEPLACE_POLICY_H

#include "wakeplace/averages.h"
#include "wakeplace/balance.h"
#include "wakeplace/energy.h"
#include "wakeplace/group_sums.h"
#include "wakeplace/limits.h"
#include "wakeplace/params.h"
#include "wakeplace/port.h"
#include "wakeplace/reasons.h"
#include "wakeplace/sched_mc.h"
#include "wakeplace/sleepers.h"
#include "wakeplace/topology.h"
#include "wakeplace/simulated.h"
#include "wakeplace/uclamp.h"

#define WP_SCALE 1024u
#define WP_WEIGHT_IDLE_POLICY 3u /* of a SCHED_IDLE task */
#define WP_UTIL_EST_UNCHANGED 0x80000000u

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
	u32 pad;
	u64 allowed[WP_MASK_WORDS];
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

/* Per CPU and level: what a CPU remembers of balancing a domain. */
struct wp_lb {
	u64 last_balance_tick;
	u64 max_newidle_cost_ns;
	u64 next_cost_decay_tick;
	u64 avg_scan_cost_ns;
	u32 balance_interval_ms;
	u32 nr_balance_failed;
	/* new-idle attempts, the last 1024 and those before: how many pulled something */
	u32 newidle_calls;
	u32 newidle_success;
	u32 newidle_ratio;   /* of 1024 */
	u32 newidle_skipped; /* the attempt under way was not worth its cost */
	u64 before_last_tick; /* power_balance.c: the balance before last_balance_tick ... */
	u64 spread_history;   /* ... the last 64 attempts, newest in bit 0: set if they spread */
};

enum wp_ilb_flags {
	WP_ILB_IDLE_AT_TICK = 1 << 0, /* its last tick found it idle */
	WP_ILB_KICKED = 1 << 1,       /* a kick is on its way or unanswered */
};

struct wp_cpu {
	/* hot: signals and queue state, kept by the core */
	struct wp_sched_avg avg;
	u32 load_weight; /* sum of weights of queued fair tasks */
	u32 nr_fair;
	u32 util_est;
	u32 capacity;      /* what is left for fair tasks */
	u32 capacity_orig; /* fact */
	u32 freq_scale;    /* f / fmax * 1024 */
	u32 curr_fair;     /* a fair task executes */
	u32 curr_idle;     /* the idle task executes */
	u32 nr_idle_policy; /* queued SCHED_IDLE tasks */
	u32 blocked_weight; /* of load_weight, what groups have for load that sleeps (to 5.6) */
	u64 curr_run_since_woken_ns; /* of the fair task that executes */
	u32 h_nr_delayed; /* sleepers that are still queued: in nr_running, not in nr_fair */
	/* hot: written by the home */
	u32 nr_running; /* all classes, and sleepers still queued */
	u32 pending;    /* wake-ups on their way to this CPU */
	u32 idle_exit_latency_us; /* of the state it is in; WP_NONE: in none */
	u32 online;
	u64 idle_stamp_ns; /* when it last became idle */
	u64 newidle_waited_ns; /* for cache lines, since the new-idle pass under way began */
	/* clocks */
	u64 clock_ns;
	u64 clock_task_ns;
	u64 clock_pelt_ns;
	u64 lost_idle_ns;
	/* averages of tasks that left while sleeping, taken off at the next update; added to by
	 * other CPUs at any time (WP_ADD, WP_TAKE) */
	u64 removed_load;
	u64 removed_runnable;
	u64 removed_util;
	/* pressure from other classes, utilisation scale */
	u32 rt_util;
	u32 dl_util;
	u32 irq_util;
	u32 rt_runnable; /* fact: a task of the RT class is queued */
	u32 pressure; /* capacity that thermal or frequency limits take away (cpufreq, hw) */
	u32 thermal_pressure; /* ... thermal limits alone: what 5.7 to 6.9 looked at */
	u32 nr_removed;
	u32 misfit_task_load; /* of a running task that does not fit here, 0 = none */
	/* uclamp.c: performance hints of the queued tasks */
	u32 uclamp_tasks;    /* all queued tasks */
	u32 uclamp_hinted;   /* those with hints: only they are in the buckets */
	u32 uclamp_last_cut; /* 1024 - uclamp_max of the task that left last */
	struct wp_uclamp_rq uclamp[2]; /* by enum wp_uclamp_id */
	u32 perf_request; /* last request reported with WP_DID_FREQ under freq_external */
	/* topology */
	u32 nr_levels;
	u32 dom[WP_MAX_LEVELS];   /* lowest first */
	u32 group[WP_MAX_LEVELS]; /* index of this CPU's group within dom[] */
	u32 llc_level;            /* highest SHARE_LLC level, WP_NONE without */
	u32 llc_id;
	u32 llc_size;
	u32 asym_level; /* lowest ASYM level, WP_NONE without */
	u32 asym_full_level; /* lowest ASYM_FULL level, WP_NONE without */
	u32 perf_dom;
	u32 freq_dom;
	u32 pos[WP_MAX_LEVELS]; /* where this CPU is in the list of dom[] */
	u32 cluster_level; /* lowest CLUSTER level, WP_NONE without */
	u32 asym_priority; /* fact: a CPU of higher priority is filled first (asym_packing.c) */
	u32 packing_level; /* highest ASYM_PACKING level, WP_NONE without */
	/* hints of the idle search, on the first CPU of a search domain (idle_hints.c) */
	u32 nr_idle_scan; /* CPUs worth looking at */
	/* idle time prediction and balancing */
	u64 wake_idle_stamp_ns; /* set by a new-idle attempt, cleared by the next wake-up */
	u64 avg_idle_ns;
	u64 max_idle_balance_cost_ns;
	u64 next_balance_tick;
	u64 load_tick; /* tick of the last cpu_load update */
	u32 cpu_load[4];
	u32 idle_calls;     /* times the CPU entered idle */
	u32 active_balance; /* a push off this CPU is under way */
	u32 nr_busy_cpus; /* on the first CPU of an LLC: CPUs with a running tick */
	u32 power_orig;     /* older forms: capacity without other classes; 0: capacity_orig */
	u32 has_idle_cores; /* likewise as nr_idle_scan: some core may be idle (SMT only) */
	u32 ilb; /* enum wp_ilb_flags: what it knows as an idle load balancer (3.1) */
	/* queue.c: the live queues' virtual time */
	u64 vtime_now_ns;   /* V at vq_clock_ns: the mean of its tasks' by weight */
	u64 vq_clock_ns;
	u64 curr_vtime_ns;  /* of the running task, when it began */
	u64 curr_deadline_ns;
	u64 curr_start_ns;
	u32 vq_load;        /* weight of all in the queue, the running one's included */
	u32 vq_kept_load;   /* ... of its sleepers (queue_sleepers.c) */
	struct wp_live_queue_sleeper vq_sleepers[WP_LIVE_QUEUE_SLEEPERS];
	u32 curr_weight;    /* 0: no fair task runs */
	u32 curr_idle_policy;
	struct wp_waker idle_waker;
	/* capacity_4_18.c: time of other classes and interrupts, aged, and since when */
	u64 other_ns;
	u64 other_since_ns;
	struct wp_lb lb[WP_MAX_LEVELS];
	/* idle_scan_6_5.c: idle time left to expect, as of a tick */
	u64 wake_avg_idle_ns;
	u64 wake_tick;
	struct wp_class_cpu classes;
	u64 curr_dur_ns;        /* to curr_sleeps: duration.c, of the task that executes */
	u64 curr_exec_ns;       /* when it began */
	u64 curr_exec_start_ns; /* that moment, clock_task */
	u32 curr_sleeps;
	u32 curr_id; /* 0: the idle task, or one that the core does not know */
	struct wp_mc_cpu mc;
	/* live queues, on the first CPU of an LLC: the last tick of a busy CPU of it, and whose */
	u64 llc_busy_tick;
	u32 llc_busy_cpu;
	u32 llc_crowded_cpu;    /* ... and of one with WP_CROWD tasks */
	u64 llc_crowded_tick;
};

/* A frequency domain: schedutil's policy object. */
struct wp_freq_dom {
	u64 last_update_ns; /* of the last request */
	u32 first_cpu;      /* list range */
	u32 nr_cpus;
	u32 first_opp; /* range of wp_ctx.opp_khz, ascending */
	u32 nr_opps;
	u32 transition_latency_us;
	u32 cur_opp;
	u32 next_opp; /* requested; the home applies it and calls wp_freq_applied */
	u32 in_progress;
	u32 updated_once;
	u32 last_raw_khz;
	u32 saved_idle_calls;
	u32 sample_multiple; /* ondemand: periods to the next sample, 0 as 1 */
	u32 cut_opps; /* so many of the fastest may not be used now (wp_freq_limit) */
	u64 inefficient_opps; /* one bit each: the energy model says a faster one costs no more */
	u32 limits_changed; /* the next update heeds no rate limit */
	u32 io_boosted;     /* some CPU has an I/O boost */
};

/* One CPU a decision looked at closely, for `explain`. */
struct wp_candidate {
	u32 cpu;
	u32 util; /* with the task on it */
	u32 spare;
	u32 fits;   /* 1, 0, or ~0: all but its wish for performance */
	u64 energy; /* with the task there, of the whole system; from 6.0 what it adds to its
		     * domain; ~0 = not estimated */
};

struct wp_decision {
	u32 cpu;
	u32 rule;   /* enum wp_rule */
	u32 reason; /* enum wp_reason */
	u32 nr_candidates;
	u32 nr_scanned; /* CPUs that the idle search looked at */
	u32 scan_left;
	u32 scan_spare; /* first idle CPU that a search for an idle core saw */
	u32 scan_cores; /* the search is for an idle core */
	u32 slow_reason; /* of the last group chosen */
	u32 short_target; /* a short waker made its CPU the target */
	u32 waker_flips;  /* of the waker's record, with this wake-up in it */
	u32 waker_wakee;
	u32 wide;           /* the M:N rule kept waker and wakee apart */
	u32 nr_idlest_cpus; /* CPUs that the slow path compared within groups */
	struct wp_candidate candidate[WP_MAX_CANDIDATES];
	/* scratch of the decision: several may be under way at once, on different CPUs */
	u64 energy_without[WP_MAX_PERF_DOMS];
	struct wp_sg_lb_stats
		sums; /* slow path: of the group at hand, the local and the best one */
	struct wp_sg_lb_stats local_sums;
	struct wp_sg_lb_stats best_sums;
	struct wp_pack_place power;
};

enum wp_place_kind { WP_PLACE_WAKE, WP_PLACE_FORK, WP_PLACE_EXEC };

struct wp_request {
	u64 now_ns;
	u32 kind;     /* enum wp_place_kind */
	u32 this_cpu; /* where the decision is taken */
	u32 prev_cpu;
	u32 sync;       /* the waker says it will sleep at once */
	u32 waker_load; /* load of the task that runs on this_cpu, 0 = idle */
	u32 waker_idle; /* the waker is the idle task (an interrupt on an idle CPU) */
	u32 waker_kthread; /* the waker is a kernel thread bound to this_cpu, not an interrupt */
	u32 waker_weight;  /* weight of that task, 0 = idle */
	u32 current_cpu;   /* the waker asks for its own CPU (WF_CURRENT_CPU) */
};

struct wp_ctx {
	struct wp_params params;
	u32 nr_cpus;
	u32 tick_ns;
	u32 nr_topo_levels;
	u32 nr_perf_doms;
	u32 nr_freq_doms;
	u32 nr_doms;
	u32 nr_groups;
	u32 list_len;
	u32 nr_opps;
	u32 max_capacity_orig; /* root domain */
	u32 asym;              /* some domain is asymmetric */
	u32 smt;
	u32 cluster;       /* some cores share a cache below the last level */
	u32 energy_active; /* all conditions hold */
	u32 energy_off;    /* enum wp_energy_off, why not */
	u32 freq_external; /* fact: the kernel sets frequencies, from wp_cpu_perf_request */
	u32 freq_schedutil; /* fact, under freq_external: schedutil rules every CPU */
	u32 overutilized;  /* root domain */
	u32 overload;      /* root domain: some CPU has two tasks */
	u32 nr_nohz;
	u32 scan_cpu_ns;   /* what looking at one CPU costs: a fact of the machine */
	struct wp_topo_level topo[WP_MAX_LEVELS];
	struct wp_cpu cpus[WP_MAX_CPUS];
	struct wp_sched_domain doms[WP_MAX_DOMS];
	struct wp_sched_group groups[WP_MAX_GROUPS];
	struct wp_perf_domain perf_doms[WP_MAX_PERF_DOMS];
	struct wp_freq_dom freq_doms[WP_MAX_FREQ_DOMS];
	u16 list[WP_MAX_LIST];
	u32 opp_khz[WP_MAX_OPPS];
	struct wp_em_perf_table em_scratch;
	u64 serial_tick; /* when a pass over nodes began that is not over yet, 0 = none */
	u64 surplus_tick; /* the last tick at which some CPU had a task to give */
	u64 uneven_tick;  /* ... at which some cache had two busy CPUs (live queues) */
	u64 crowded_tick; /* ... two with WP_CROWD tasks each, or one that shares none */
	u64 misfit_tick;  /* ... at which a task did not fit the CPU it ran on */
	u64 idle_turn_ns; /* the last turn of the timer for idle CPUs */
	u64 idle_timer_ns; /* ... how long it waits since then */
	u64 explain; /* natively: address of a struct wp_explain to note decisions in, 0: none */
	u64 nohz_next_balance_tick; /* to nohz_has_blocked: idle CPUs with a stopped tick */
	u64 nohz_next_blocked_ns;
	u32 nohz_has_blocked;
	u32 reclaim_distance; /* fact: nodes farther apart than this are far from each other */
	/* 3.1, as CPU + 1, 0 = none: who is kicked first, and who may kick */
	u32 nohz_owner;
	u32 nohz_first_pick;
	u32 nohz_second_pick;
	u32 mc_split; /* while its domains are built: the level that power mode divides, + 1 */
	u64 nohz_mask[WP_MASK_WORDS];
	struct wp_mc_table mc_table;
	u32 mc_booted;
	u32 nr_llcs; /* last-level caches with a CPU online */
};

/* Bits that the event entry points return. */
enum wp_event_result {
	WP_DID_FREQ = 1 << 0, /* the CPU's frequency domain has a new request (next_opp) */
	WP_DID_BALANCE = 1 << 1, /* tick: run the periodic balancing on this CPU now */
	WP_DID_KICK = 1 << 2, /* tick: kick an idle CPU to balance (wp_find_new_ilb); tick of an
				  * idle CPU: it answers a kick now (wp_nohz_begin) */
	WP_DID_STATS = 1 << 3, /* tick: only decay the signals of idle CPUs */
	WP_DID_END_REST = 1 << 4, /* tick: the timer for idle CPUs has rested; it is due now */
};

/* What a kicked CPU is to do (wp_nohz_begin). */
enum wp_nohz_work {
	WP_NOHZ_NOTHING,
	WP_NOHZ_DUE, /* balance for the idle CPUs that are due, then for itself */
	WP_NOHZ_ALL, /* for itself, then for every other one until it has work */
};

enum wp_queue_flags {
	WP_Q_WAKEUP = 1 << 0,
	WP_Q_NEW = 1 << 1,
	WP_Q_SLEEP = 1 << 2,
	WP_Q_DELAY = 1 << 3,    /* with a sleep: its queue keeps it */
	WP_Q_IOWAIT = 1 << 4,   /* the sleep that ends waited for I/O */
	WP_Q_THROTTLE = 1 << 5, /* deadline: leaves or joins because of its budget, stays active */
};

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

/* rq.c: events of tasks and run queues */
int wp_task_init(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL);
int wp_task_fork(struct wp_task *task WP_NONNULL, const struct wp_waker *parent WP_NONNULL);
int wp_set_cpus_allowed(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL);
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
int wp_exit_idle(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 now_ns);
int wp_woken(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 now_ns);
int wp_migrate_task_rq_fair(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL, u32 cpu,
			    u64 now_ns);
int wp_migrate_pulled(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL, u32 cpu);
int wp_migrate_queued(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL, u32 cpu,
		      u64 now_ns);
int wp_task_dead_fair(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL);
int wp_task_tick_fair(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL, u64 now_ns);
int wp_idle_tick(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 now_ns);

/* uclamp.c: performance hints */
u32 wp_uclamp_rq_max_value(const struct wp_uclamp_rq *u WP_NONNULL, u32 otherwise);
int wp_task_set_uclamp(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL, u32 min,
		       u32 max);

/* duration.c */
u32 wp_get_update_sysctl_factor(u32 scaling, u32 nr_cpus);

/* topology.c, energy_model.c: the machine, before the first event */
u32 wp_build_sched_domains(struct wp_ctx *ctx WP_NONNULL); /* enum wp_topo_error */
u32 wp_em_dev_register_perf_domain(struct wp_ctx *ctx WP_NONNULL, const u16 *cpus WP_NONNULL,
				   u32 nr_cpus);
u32 wp_em_dev_update_perf_domain(struct wp_ctx *ctx WP_NONNULL, u32 pd);
u32 wp_em_update_performance_limits(struct wp_ctx *ctx WP_NONNULL, u32 pd, u32 khz_min,
				    u32 khz_max);
int wp_start(struct wp_ctx *ctx WP_NONNULL);
int wp_reconsider(struct wp_ctx *ctx WP_NONNULL);

/* freq.c */
u32 wp_map_util_freq(u32 util, u32 max_khz, u32 capacity);
u32 wp_cpu_perf_request(const struct wp_ctx *ctx WP_NONNULL, u32 cpu);
u32 wp_rate_limit_us(const struct wp_ctx *ctx WP_NONNULL, u32 freq_dom);
int wp_freq_applied(struct wp_ctx *ctx WP_NONNULL, u32 freq_dom, u32 opp);

/* capacity_4_18.c: older forms of capacity */
int wp_sched_rt_avg_update_4_18(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 now_ns, u64 ran_ns);
u32 wp_capacity_tasks(u32 capacity);

/* select.c, capacity.c, util_est.c */
int wp_select_task_rq_fair(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL,
			   struct wp_waker *waker WP_NONNULL,
			   const struct wp_request *req WP_NONNULL,
			   struct wp_decision *dec WP_NONNULL);
int wp_util_fits_cpu(const struct wp_ctx *ctx WP_NONNULL, u32 util, u32 uclamp_min,
		     u32 uclamp_max, u32 cpu);
int wp_idle_cpu(const struct wp_ctx *ctx WP_NONNULL, u32 cpu);
/* For balancing: after the periodic (not new-idle) statistics of any level; acts on the level that
 * idle searches of this CPU look at. */
int wp_update_idle_cpu_scan(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u32 level);
u32 wp_first_allowed(const struct wp_ctx *ctx WP_NONNULL, const struct wp_task *task WP_NONNULL,
		     u32 otherwise);
u32 wp_task_util_est(const struct wp_ctx *ctx WP_NONNULL, const struct wp_task *task WP_NONNULL);

/* balance.c: periodic balancing, one domain at a time */
int wp_balance_due(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u32 level, u64 now_ns, u32 idle);
int wp_balance_pass_end(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 now_ns, u32 idle);
int wp_balance_begin(struct wp_ctx *ctx WP_NONNULL, struct wp_lb_env *bal WP_NONNULL);
int wp_balance_offer(struct wp_ctx *ctx WP_NONNULL, struct wp_lb_env *bal WP_NONNULL,
		     const struct wp_task *task WP_NONNULL);
int wp_balance_end(struct wp_ctx *ctx WP_NONNULL, struct wp_lb_env *bal WP_NONNULL,
		   u32 running_allowed);
int wp_active_balance_end(struct wp_ctx *ctx WP_NONNULL, u32 src_cpu, u32 dst_cpu, u32 level,
			  u32 moved);

/* newidle.c: a CPU about to go idle looks for work */
int wp_newidle_begin(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 now_ns);
int wp_newidle_level(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u32 level, u64 spent_ns);
u64 wp_newidle_done(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u32 level);
int wp_newidle_end(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 spent_ns, u32 pulled);

/* nohz.c: idle CPUs whose tick is stopped */
int wp_nohz_balance_enter_idle(struct wp_ctx *ctx WP_NONNULL, u32 cpu);
int wp_nohz_balance_exit_idle(struct wp_ctx *ctx WP_NONNULL, u32 cpu);
int wp_nohz_balancer_kick(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 now_ns);
u32 wp_find_new_ilb(struct wp_ctx *ctx WP_NONNULL);
int wp_nohz_begin(struct wp_ctx *ctx WP_NONNULL, u32 cpu);
u32 wp_nohz_next(struct wp_ctx *ctx WP_NONNULL, u32 after);
int wp_nohz_pass_end(struct wp_ctx *ctx WP_NONNULL, u64 now_ns, u32 balanced);
int wp_update_blocked_averages(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 now_ns);

#include "wakeplace/classes.h"
#include "wakeplace/explain.h"

#ifndef WP_LIVE
#include "wakeplace/task_group.h"
#endif
#include "wakeplace/live.h"
#include "wakeplace/queue.h"

#endif
