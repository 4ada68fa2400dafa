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
	WP_PELT_RATIO,   /* 3.8: share of time runnable, of tasks and queues (runnable_avg_3_8.c) */
	WP_PELT_NONE,    /* to 3.7: no averages */
};

/* What a CPU's capacity is made of. */
enum wp_capacity_form {
	WP_CAPACITY_SIGNALS, /* full capacity less the signals of other classes and interrupts */
	WP_CAPACITY_WINDOW,  /* 3.19 to 4.18: full capacity, less their time in an aged window */
	WP_CAPACITY_POWER,   /* before ("cpu power"): all CPUs alike, less that time */
};

/* Which domain tables (domains_3_9.c). */
enum wp_domain_form {
	WP_DOMAINS_516, /* any level that the topology has */
	WP_DOMAINS_47,  /* no clusters yet */
	WP_DOMAINS_38,  /* 3.7 to 3.9: SMT, MC, CPU, NUMA by distance */
	WP_DOMAINS_31,  /* to 3.6: SMT, MC, CPU, NODE, ALLNODES */
};

enum wp_util_est_mode {
	WP_UTIL_EST_OFF,
	WP_UTIL_EST_PAIR,        /* 4.17: {enqueued, ewma}, the ewma rises and falls by 1/4 */
	WP_UTIL_EST_PAIR_FASTUP, /* 5.5: the ewma rises at once */
	WP_UTIL_EST_SINGLE,      /* 6.8: one value, rises at once, falls by 1/4 */
};

/* A floor for the utilisation of a CPU while its task runs. */
enum wp_util_est_faster {
	WP_UTIL_EST_FASTER_OFF,
	WP_UTIL_EST_FASTER_DOUBLED, /* what twice the run since it was woken reaches from 0 */
	WP_UTIL_EST_FASTER_SCALED,  /* what that run reaches, scaled by capacity and frequency */
};

enum wp_energy_version {
	WP_ENERGY_OFF,
	WP_ENERGY_V3, /* RFC v3, May 2018 */
	WP_ENERGY_50, /* Linux 5.0 */
	WP_ENERGY_61, /* Linux 6.1 */
	WP_ENERGY_612, /* Linux 6.12 */
	WP_ENERGY_73, /* Linux 7.3 */
};

/* The idle search on asymmetric domains. */
enum wp_sis_asym {
	WP_SIS_ASYM_OFF,
	WP_SIS_ASYM_ALL,     /* 5.12: the whole domain */
	WP_SIS_ASYM_LIMITED, /* 7.3: as far as sis_util allows; SMT: idle cores first */
};

/* How waker's and previous CPU compare by load. */
enum wp_wake_affine_form {
	WP_AFFINE_414, /* what each would have with the task */
	WP_AFFINE_318, /* the waker's with the task, the other's as it is */
	WP_AFFINE_31,  /* likewise; or both hardly loaded */
};

/* How the fast path looks for an idle CPU. */
enum wp_sis_form {
	WP_SIS_SCAN,   /* 4.9: cores and CPUs of the cache domain, as sis_* say */
	WP_SIS_GROUPS, /* 3.8: fully idle groups, from the cache domain down */
	WP_SIS_LEVELS, /* 3.1: first idle CPU, level by level */
};

/* What the slow path compares where it compares loads. */
enum wp_idlest_load {
	WP_IDLEST_410, /* queued and recent loads; an idle CPU by its state */
	WP_IDLEST_318, /* one load; an idle CPU by its state */
	WP_IDLEST_31,  /* one load, of groups and of CPUs */
};

/* Which running tasks are marked as too big for their CPU, and how balancing counts them. */
enum wp_misfit_form {
	WP_MISFIT_420, /* 4.20: any that does not fit, with its load */
	WP_MISFIT_61,  /* 5.12: none that is pinned or on a CPU of the machine's largest size */
	WP_MISFIT_612, /* 6.9: nor on the largest it may use; its failures count for nothing */
};

/* What is taken off a CPU's capacity beside the time of other classes. */
enum wp_pressure_form {
	WP_PRESSURE_NONE,
	WP_PRESSURE_THERMAL, /* 5.7: thermal limits */
	WP_PRESSURE_LIMITS,  /* 6.10: the larger of hardware's and the frequency policy's limits */
};

/* Of wp_get_update_sysctl_factor: kernel times that are longer on larger machines. */
enum wp_tunable_scaling {
	WP_SCALING_NONE,
	WP_SCALING_LOG,    /* times 1 + log2(min(cpus, 8)) */
	WP_SCALING_LINEAR, /* times min(cpus, 8) */
};

/* Where a short waker makes its own CPU the target (short_wake.c). */
enum wp_short_affine {
	WP_SHORT_AFFINE_OFF,
	WP_SHORT_AFFINE_FIRST,     /* v1: before an idle previous CPU, whoever else is queued */
	WP_SHORT_AFFINE_AFTER_PREV, /* v2 to v6: after it, if the waker is alone */
	WP_SHORT_AFFINE_LAST,      /* v7, v8: after the loads, by all tests of sis_short_stack */
};

/* How long a task runs at a time (duration.c). */
enum wp_short_dur {
	WP_SHORT_DUR_SLEEP,    /* v4: average of the runs between two sleeps */
	WP_SHORT_DUR_PUT,      /* v3: the same; not where another fair task is next */
	WP_SHORT_DUR_COARSE,   /* v2: as v3, and only changes by a granularity or more count */
	WP_SHORT_DUR_SWITCHES, /* v1: all it ever ran, by its number of sleeps */
};

/* What is short, g = granularity. */
enum wp_short_test {
	WP_SHORT_BELOW_EIGHTH, /* v5 to v7: known, 8 * run < g */
	WP_SHORT_UP_TO_EIGHTH, /* v4: known, 8 * run <= g */
	WP_SHORT_UP_TO_WHOLE,  /* v1 to v3: run <= g */
	WP_SHORT_MIGRATION,    /* v8: known, run < migration_cost_ns */
	WP_SHORT_SCAN_COST,    /* prototype: known, run < what a search costs on average */
};

/* Tasks that the CPU to be taken may have. */
enum wp_short_alone {
	WP_SHORT_AT_MOST_ONE, /* v5 to v8 */
	WP_SHORT_ONE,         /* v2 to v4 */
	WP_SHORT_ANY,         /* v1 */
};

/* Spread tasks, or fill groups one after the other (power_policy.c)? */
enum wp_power_policy {
	WP_POWER_OFF,         /* nobody asks */
	WP_POWER_PERFORMANCE, /* spread; only the history of balancing is kept */
	WP_POWER_BALANCE,     /* fill a group up to its compute power */
	WP_POWER_POWERSAVING, /* ... to its number of CPUs */
	WP_POWER_BY_MODE,     /* one of these, by the mode and the machine (mode.c) */
};

/* What the user favours (mode.c). */
enum wp_mode {
	WP_MODE_AUTO,        /* speed; energy where a model says what it costs */
	WP_MODE_PERFORMANCE, /* speed, whatever it costs */
	WP_MODE_BALANCED,    /* energy where each task keeps a CPU of its own */
	WP_MODE_POWERSAVE,   /* energy, whatever it costs */
};

/* What placement takes for a CPU's use. */
enum wp_power_util {
	WP_POWER_UTIL_NR,   /* v4: its number of tasks */
	WP_POWER_UTIL_PELT, /* v6: its utilisation; wake-ups: tasks, if it is never idle for long */
};

enum wp_governor {
	WP_GOV_SCHEDUTIL,
	WP_GOV_PERFORMANCE,
	WP_GOV_POWERSAVE,
	WP_GOV_ONDEMAND, /* 2011 */
};

enum wp_iowait_boost {
	WP_IOWAIT_OFF,
	WP_IOWAIT_FREQ, /* 4.17: from the lowest frequency to the highest */
	WP_IOWAIT_UTIL, /* 5.0: from 128 to 1024 */
};

/* How what other classes take of a CPU is known. */
enum wp_class_capacity {
	WP_CLASS_AGED,    /* to 4.18: their run time, halved every 500 ms */
	WP_CLASS_SIGNALS, /* from 4.19: averages like those of fair tasks */
};

enum wp_prefer_sibling {
	WP_SIBLING_NOT_CACHE, /* up to 4.18: children that share a cache do not ask to be spread */
	WP_SIBLING_NOT_ASYM,  /* to 6.12: all do but children of an asymmetric domain */
	WP_SIBLING_ALL,       /* 7.3 */
};

/* How groups are compared before balance_classes. */
enum wp_group_form {
	WP_GROUPS_TYPES,     /* 4.1 to 5.4: other < imbalanced < overloaded */
	WP_GROUPS_COUNTS,    /* 3.8: more tasks than the group's compute power has room for */
	WP_GROUPS_COUNTS_31, /* 3.1: an uneven group is told by its fullest queue alone */
};

/* Who kicks which idle CPU to balance for all of them. */
enum wp_nohz_form {
	WP_NOHZ_BLOCKED, /* 4.17: with kicks that only decay signals */
	WP_NOHZ_47,      /* without them; busy caches count only beside others */
	WP_NOHZ_38,      /* busy groups below the cache; the kicked CPU serves itself first */
	WP_NOHZ_31,      /* two CPUs may kick, one idle CPU is the owner */
};

enum wp_queue {
	WP_QUEUE_CFS, /* fair class to 6.5 */
	WP_QUEUE_LIVE, /* the live scheduler's: weighted virtual time (queue.c) */
	WP_QUEUE_EEVDF, /* fair class from 6.6 on */
};

/* Which wake-ups the target's own CPU queues, when an interrupt tells it to (TTWU_QUEUE). */
enum wp_wake_list {
	WP_WAKE_LIST_OFF,   /* none: the waker takes the target's lock */
	WP_WAKE_LIST_CACHE, /* to 5.19: those of another cache */
	WP_WAKE_LIST_IDLE,  /* from 6.0: and those of another CPU that has no task */
};

enum wp_eevdf_form {
	WP_EEVDF_612,
	WP_EEVDF_73,
};

struct wp_params {
	/* load tracking */
	u32 pelt_scale;          /* enum wp_pelt_scale */
	u32 weight_is_load;      /* load is the weight of what is queued now (to 3.10) */
	u32 runnable_is_load;    /* third signal: weight of queued tasks (to 5.6), else number */
	u32 util_est;            /* enum wp_util_est_mode */
	u32 util_est_after_freq; /* 4.17: queue events ask for a frequency before util_est moves */
	u32 util_est_faster;     /* enum wp_util_est_faster (RFC of November 2022) */
	u32 util_est_before_update; /* 6.12: a sleep folds in the value before its update */
	u32 runnable_boost;      /* time in the queue counts for speed like time on the CPU (6.5) */
	u32 post_init_util;      /* start value of a new task's utilisation */
	u32 post_init_capacity;  /* ... from its CPU's capacity (4.20), else from 1024 */
	u32 migrate_pelt_lag;    /* a sleeper that moves fades for its old CPU's idle time (6.0) */
	u32 uclamp;              /* performance hints of tasks count (5.3) */
	u32 misfit;              /* mark a running task that its CPU cannot serve (4.20) */
	u32 misfit_form;         /* enum wp_misfit_form */
	u32 pressure_form;       /* enum wp_pressure_form */
	/* wake-up fast path */
	u32 wake_wide;
	u32 wake_affine_idle;
	u32 wake_affine_prev_idle; /* from 5.x: an idle previous CPU is taken at once */
	u32 wake_affine_weight;
	u32 wake_affine_form; /* enum wp_wake_affine_form */
	u32 wakee_flips_fix; /* idle task as waker records no flip */
	u32 sis_form;   /* enum wp_sis_form */
	u32 sis_always; /* without a common domain, too: near the previous CPU (4.3) */
	u32 sis_recent_used;
	u32 sis_prop;
	u32 sis_single_pass; /* idle core and idle CPU in one search (5.12), else in two */
	u32 sis_util;        /* its limit follows the cache domain's utilisation (6.0) */
	u32 sis_asym;        /* enum wp_sis_asym */
	u32 sis_cluster;     /* the search knows clusters within a cache (6.8) */
	u32 idlest_classes;  /* fork and exec compare group classes (5.5), else loads */
	u32 idlest_load;    /* enum wp_idlest_load, where they compare loads */
	/* short tasks (sis-short) */
	u32 sis_short_affine;  /* enum wp_short_affine */
	u32 sis_short_stack;   /* no search, but the target, if its task is short and ... */
	u32 sis_short_dur;     /* enum wp_short_dur */
	u32 sis_short_test;    /* enum wp_short_test */
	u32 sis_short_gate;    /* ... only where sis_util limits searches to less than 60 % */
	u32 sis_short_no_core; /* ... not if the cache may have an idle core */
	u32 sis_short_this;    /* ... only the waking CPU */
	u32 sis_short_alone;   /* enum wp_short_alone */
	u32 sis_short_wakee;   /* ... the woken task must be short, too */
	u32 sis_short_flips;   /* who changes its partners is not short */
	u32 sis_short_mutual;  /* ... waker and woken task woke each other last */
	u32 sis_short_min_llc; /* ... nor in a cache of fewer CPUs */
	/* what the user favours */
	u32 mode; /* enum wp_mode */
	/* power-aware placement and balancing (power-policy) */
	u32 power_policy;       /* enum wp_power_policy */
	u32 power_level_fewer;  /* P1: no CPU level over one cache (3.8) */
	u32 power_idlest_cases; /* P2 to P4: idlest group by who is allowed (to 4.9) */
	u32 power_single_shot;  /* P5: one level decides on forks and execs (to 4.9) */
	u32 power_new_averages; /* P6 to P8: a new task's load is its weight (3.8) */
	u32 power_full_util;    /* P11: a CPU is full, percent */
	u32 power_placement;    /* P12: forks, execs and wake-ups pack */
	u32 power_placement_util; /* enum wp_power_util */
	u32 power_burst_ns;     /* ... pelt: never idle for longer is a burst */
	u32 power_small_tasks;  /* P13: small tasks join running ones */
	u32 power_small_factor; /* ... and count so many times */
	u32 power_small_room_powersaving; /* ... on a CPU with so much, percent; WP_NONE: full */
	u32 power_small_room_balance;
	u32 power_prev_first; /* of equal groups: waker's, previous; in that the previous CPU */
	u32 power_new_spread; /* mode balanced: not new tasks while energy-aware decides wake-ups */
	u32 power_balance;   /* P14, P17: periodic balancing packs */
	u32 power_pull_all;  /* P15: ... a lone task, too */
	u32 power_kick;      /* ... and CPUs with work kick idle ones for it (3.8) */
	u32 power_siblings;  /* P16: only what spreads heeds siblings */
	u32 power_lazy;      /* P18: ... not soon after balancing had to spread */
	u32 power_lazy_clean;   /* last attempts that may not have spread */
	u32 power_lazy_old_max; /* most of the older ones of 64 that may have */
	u32 power_lazy_quiet;   /* longest intervals without an attempt that clear the history */
	u32 power_freq;      /* a group's room is what it has at its highest frequency */
	u32 smt_gain;        /* a core whose threads are all busy, in 1024ths of one thread */
	/* machine */
	u32 domain_form;      /* enum wp_domain_form */
	u32 capacity_form;    /* enum wp_capacity_form */
	u32 capacity_newidle; /* new-idle balancing refreshes a capacity that is due (3.3) */
	/* capacity-aware wake-ups (asym-capacity) */
	u32 asym_flag; /* domains whose CPUs differ in capacity are marked */
	u32 idlest_single_cpu; /* the CPU of a group of one is taken without a look at it */
	u32 asym_balance_wake;
	u32 wake_cap;
	u32 wake_cap_est; /* ... by the estimate, and an exact 80 % does not fit (4.20) */
	u32 idlest_without_task; /* a CPU's utilisation there: without the waking task's share */
	u32 idlest_spare;
	u32 idlest_spare_fork; /* ... for new tasks, too (2016; no longer in 4.10) */
	u32 asym_no_pull;
	u32 asym_no_pull_max; /* ... by each group's biggest CPU (2016), else smallest (4.10) */
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
	u32 balance_smt;        /* ... that know cores: smt_balance, cores counted (6.6) */
	u32 newidle_keeps_interval; /* new-idle passes change no interval (5.0) */
	u32 prefer_sibling;     /* enum wp_prefer_sibling; NUMA levels never */
	u32 newidle_first_cost; /* gate: the first level's cost (5.16), else migration cost */
	u32 newidle_random;     /* new-idle attempts as often as they succeeded (7.3) */
	u32 load_idx; /* balancing looks at the tick's load averages (to 5.1) */
	u32 asym_packing; /* CPUs of higher priority (to 5.4: lower number) are filled first */
	u32 reclaim_distance; /* no fork, exec, affine wake-up beyond it; WP_NONE: machine's */
	/* ... before 4.17 */
	u32 group_form; /* enum wp_group_form */
	u32 nohz_form;  /* enum wp_nohz_form */
	u32 sibling_beyond_local; /* siblings give up tasks beyond what the local group has (4.12),
				   * else beyond one */
	u32 idle_pulls_overload;  /* an idle CPU of a group with room pulls from one without,
				   * whatever their loads (4.15), else only a newly idle one */
	u32 pinned_retry;     /* another CPU of the group takes what this one may not (3.6) */
	u32 newidle_push;     /* a newly idle CPU may have a running task pushed to it (3.5) */
	u32 newidle_by_cost;  /* new-idle looks at the cost of levels and at overload (3.13) */
	u32 ilb_idle_at_tick; /* a kicked CPU believes its last tick, not its state (to 3.1) */
	/* power saving to 3.4, domain_form 3.1 (sched-mc); later kernels: sched_mc_pack.c */
	u32 sched_mc_power_savings;  /* 0..2: the knob for packages */
	u32 sched_smt_power_savings; /* 0..2: for the cores of one, too */
	u32 mc_topology;     /* P1-3: it divides packages of a known kind of core by parity */
	u32 arch_power;      /* P4: the architecture has a say in cpu power */
	u32 mc_arch_hook;    /* P5: ... and says what is noted per CPU, else 1024 */
	u32 mc_freq_table;   /* P6-7: noted are the tasks that a core holds at its frequency */
	u32 mc_lowest_first; /* P8: CPUs of lower number are filled first */
	u32 mc_tasks;        /* authors' list: ... so many at low frequency; WP_NONE: table's */
	u32 mc_limit_khz;    /* ... that is below this; WP_NONE: table's */
	u32 mc_boot_freq;    /* ... the first frequency is known, else 0 until it changes */
	u32 mc_kick_by_room; /* ... only a CPU with more tasks than room kicks an idle one */
	u32 mc_irq_idle_us;  /* ... interrupts leave a CPU idle for so long; 0: never */
	/* docs/rules/sched-mc.md#mc-acceptance (5): no idle search where the target has room */
	u32 mc_strict;
	u32 mc_placement;    /* later kernels: tasks join the lowest CPU that has room */
	u32 mc_balance;      /* ... and balancing leaves groups alone that have room */
	/* frequency */
	u32 governor;            /* enum wp_governor */
	u32 rate_limit_us; /* WP_NONE = the era's rule: transition latency x multiplier, capped */
	u32 rate_limit_multiplier;
	u32 rate_limit_extra_percent; /* ... plus this much of the latency (6.12: half of it) */
	u32 rate_limit_cap_us;
	u32 freq_perf_form; /* headroom on the demand only, then limits (6.8); else on all of it */
	u32 freq_other_classes; /* other classes and hints count in the older form (4.19) */
	u32 freq_skip_inefficient; /* states that the energy model marks are not used (5.16) */
	u32 freq_headroom;  /* ask for 25 % more than the demand; off: CPUs run fuller and slower */
	u32 blocked_util_in_freq; /* 0: a CPU without runnable fair tasks asks for nothing (4.17) */
	/* ondemand */
	u32 sampling_rate_us; /* WP_NONE = transition latency x 1000, 10 ms at least */
	u32 up_threshold;     /* percent busy: beyond it the highest frequency */
	u32 down_differential; /* the frequency falls if it is this much below, percent */
	u32 sampling_down_factor; /* at the highest frequency samples are so much rarer */
	u32 iowait_boost;   /* enum wp_iowait_boost */
	u32 freq_pressure;  /* a lower limit of the frequency range is lost capacity (6.10) */
	/* RT and deadline tasks */
	u32 class_capacity; /* enum wp_class_capacity */
	u32 rt_fits;        /* RT tasks prefer CPUs that meet their hints (5.7) */
	u32 rt_period_us;   /* the home's queues: RT tasks get rt_runtime_us of each */
	u32 rt_runtime_us;
	u32 rt_server;      /* ... only while fair tasks wait (6.8), else in any case */
	u32 rr_slice_us;
	/* which queue a CPU's tasks wait in */
	u32 queue;              /* enum wp_queue */
	u32 vq_slice_ns;        /* live queues: as base_slice_ns, with the same factor */
	u32 vq_sync_run_ns;     /* live queues: ... before a synchronous wake-up preempts it */
	u32 tg_write_interval_us; /* task groups: between two changes that a queue tells of (6.7) */
	u32 wake_list;          /* enum wp_wake_list; the home's mechanics read it */
	u32 idle_got_tick;      /* no cpuidle: stop the tick after one idle tick; the home's */
	/* fair pick: carried here because it belongs to the era; the home's run queues read it */
	u32 sched_latency_ns;
	u32 min_granularity_ns;
	u32 wakeup_granularity_ns;
	u32 tunable_scaling; /* enum wp_tunable_scaling */
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
	u32 hrtick; /* eevdf: a timer ends slices between ticks */
};

#endif
