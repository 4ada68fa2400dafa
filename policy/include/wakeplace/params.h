// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Everything an era, a feature or --set decides. All fields are u32 so that a home can fill them
 * from one table of keys. A zero-filled struct is "everything off"; the eras are written down by
 * the safe face (crates/policy-sys/src/eras.rs), which is the only parser of policy names.
 */
#ifndef WAKEPLACE_PARAMS_H
#define WAKEPLACE_PARAMS_H

#include "wakeplace/port.h"

enum wp_pelt_scale {
	WP_PELT_CONTRIB, /* up to 5.0: each contribution times frequency and capacity */
	WP_PELT_CLOCK,   /* from 5.1: the clock runs slower on slow CPUs */
};

enum wp_util_est_mode {
	WP_UTIL_EST_OFF,
	WP_UTIL_EST_PAIR,        /* 4.17: {enqueued, ewma}, the ewma rises and falls by 1/4 */
	WP_UTIL_EST_PAIR_FASTUP, /* 5.5: the ewma rises at once */
	WP_UTIL_EST_SINGLE,      /* 6.8: one value, rises at once, falls by 1/4 */
};

enum wp_energy_version {
	WP_ENERGY_OFF,
	WP_ENERGY_V3, /* RFC v3, May 2018 */
	WP_ENERGY_50, /* Linux 5.0 */
	WP_ENERGY_73, /* Linux 6.12 to 7.3 */
};

/* The idle search on asymmetric domains. */
enum wp_sis_asym {
	WP_SIS_ASYM_OFF,
	WP_SIS_ASYM_ALL,     /* 5.12: the whole domain */
	WP_SIS_ASYM_LIMITED, /* 7.3: as far as sis_util allows; SMT: idle cores first */
};

enum wp_governor {
	WP_GOV_SCHEDUTIL,
	WP_GOV_PERFORMANCE,
	WP_GOV_POWERSAVE,
};

enum wp_prefer_sibling {
	WP_SIBLING_NOT_CACHE, /* up to 4.18: children that share a cache do not ask to be spread */
	WP_SIBLING_NOT_ASYM,  /* to 6.12: all do but children of an asymmetric domain */
	WP_SIBLING_ALL,       /* 7.3 */
};

enum wp_queue {
	WP_QUEUE_CFS, /* fair class to 6.5 */
	WP_QUEUE_DSQ, /* the live scheduler's: weighted virtual time (queue.c) */
	WP_QUEUE_EEVDF, /* fair class from 6.6 on */
};

enum wp_eevdf_form {
	WP_EEVDF_612,
	WP_EEVDF_73,
};

struct wp_params {
	/* load tracking */
	u32 pelt_scale;          /* enum wp_pelt_scale */
	u32 runnable_is_load;    /* third signal: weight of queued tasks (to 5.6), else number */
	u32 util_est;            /* enum wp_util_est_mode */
	u32 util_est_after_freq; /* 4.17: queue events ask for a frequency before util_est moves */
	u32 post_init_util;      /* start value of a new task's utilisation */
	u32 post_init_capacity;  /* ... from its CPU's capacity (4.20), else from 1024 */
	u32 uclamp;              /* performance hints of tasks count (5.3) */
	u32 misfit;              /* mark a running task that its CPU cannot serve (4.20) */
	/* wake-up fast path */
	u32 wake_wide;
	u32 wake_affine_idle;
	u32 wake_affine_prev_idle; /* from 5.x: an idle previous CPU is taken at once */
	u32 wake_affine_weight;
	u32 wakee_flips_fix; /* idle task as waker records no flip */
	u32 sis_recent_used;
	u32 sis_prop;
	u32 sis_single_pass; /* idle core and idle CPU in one search (5.12), else in two */
	u32 sis_util;        /* its limit follows the cache domain's utilisation (6.0) */
	u32 sis_asym;        /* enum wp_sis_asym */
	u32 idlest_classes;  /* fork and exec compare group classes (5.5), else loads */
	/* capacity-aware wake-ups (asym-capacity) */
	u32 asym_balance_wake;
	u32 wake_cap;
	u32 idlest_spare;
	u32 asym_no_pull;
	/* energy-aware */
	u32 energy_aware;        /* enum wp_energy_version */
	u32 energy_margin_shift; /* leave prev only if it saves more than energy >> shift */
	u32 energy_max_complexity; /* nr_pd * (nr_states + nr_cpus); 0 = no limit */
	/* load balancing */
	u32 balance;
	u32 newidle_balance;
	u32 nohz_balance;
	u32 imbalance_pct;
	u32 busy_factor;
	u32 migration_cost_ns;
	u32 nr_migrate;
	u32 balance_classes;    /* group classes, four kinds of imbalance (5.5) */
	u32 prefer_sibling;     /* enum wp_prefer_sibling; NUMA levels never */
	u32 newidle_first_cost; /* gate: the first level's cost (5.16), else migration cost */
	u32 newidle_random;     /* new-idle attempts as often as they succeeded (7.3) */
	u32 load_idx; /* balancing looks at the tick's load averages (to 5.1) */
	/* frequency */
	u32 governor;            /* enum wp_governor */
	u32 rate_limit_us; /* WP_NONE = the era's rule: transition latency x multiplier, capped */
	u32 rate_limit_multiplier;
	u32 rate_limit_extra_percent; /* ... plus this much of the latency (6.12: half of it) */
	u32 rate_limit_cap_us;
	u32 freq_perf_form; /* headroom on the demand only, then limits (6.8); else on all of it */
	u32 freq_headroom;  /* ask for 25 % more than the demand; off: CPUs run fuller and slower */
	u32 blocked_util_in_freq; /* 0: a CPU without runnable fair tasks asks for nothing (4.17) */
	/* which queue a CPU's tasks wait in */
	u32 queue;              /* enum wp_queue */
	u32 vq_slice_ns;        /* live queues: a task runs this long while others wait */
	u32 vq_min_run_ns;      /* live queues: a task runs this long before a wake-up preempts */
	u32 vq_wakeup_gran_ns;  /* live queues: lead a woken task needs to preempt */
	/* fair pick: carried here because it belongs to the era; the home's run queues read it */
	u32 sched_latency_ns;
	u32 min_granularity_ns;
	u32 wakeup_granularity_ns;
	u32 tunable_scaling_log; /* times 1 + log2(min(cpus, 8)) */
	u32 gentle_fair_sleepers;
	u32 start_debit;
	u32 wakeup_preemption;
	u32 last_buddy;
	/* ... from 6.6 on */
	u32 base_slice_ns;
	u32 eevdf_form; /* enum wp_eevdf_form: limit of the lag, end of protection */
	u32 run_to_parity;
	u32 preempt_short;
	u32 delay_dequeue;
};

#endif
