// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Cache-aware scheduling (SCHED_CACHE, 7.2; docs/rules/cache-aware.md): the threads of a process
 * prefer one last-level cache (load_tracking/preferred_llc.c), and balancing brings them there
 * (balance/llc_balance.c). Natively only: the live build does not know processes.
 *
 * The memory is the home's. The context has its address, 0: the home knows of no process with
 * several threads.
 *
 * What must stay: processes and caches are named by number + 1, 0 is none; a fact that is unknown
 * is 0; without WP_SCHED_CACHE each call does nothing or answers 0. Tests by part, names alone
 * being of crates/policy-sys/tests/all: sched_cache.rs::`the_cache_that_had_most` (`wp_mm`),
 * sched_cache.rs::`sets_that_do_not_fit_together` (its working sets),
 * sched_cache.rs::`an_epoch_halves` (`wp_mm_time`), sched_cache.rs::`queues_count_preferences`
 * (`counts`), sched_cache.rs::`no_push_out_of_the_preferred_cache` (`wp_balance_running`),
 * sched_cache.rs::`where_it_acts` (`present`). WP_MAX_LLCS has no test of its own.
 */
#ifndef WAKEPLACE_SCHED_CACHE_H
#define WAKEPLACE_SCHED_CACHE_H

#include "wakeplace/limits.h"
#include "wakeplace/port.h"

struct wp_ctx;
struct wp_task;
struct wp_lb_env;

/* Last-level caches that are told apart; on a machine with more nothing is aggregated. */
#define WP_MAX_LLCS 256u

/* How long a process ran on a CPU; halved each epoch. */
struct wp_mm_time {
	u64 runtime_ns;
	u64 epoch; /* of the CPU, when this was last halved */
};

/* A process (the kernel's sched_cache_group). The home zero-fills it and says how many threads it
 * has. */
struct wp_mm {
	u64 epoch;          /* of the last scan that was asked for */
	u64 next_scan_tick; /* no scan before */
	u64 nr_running_avg; /* CPUs that execute one of its threads, averaged */
	u64 footprint;      /* bytes that NUMA balancing counts for it, 0: unknown */
	/* facts, of its threads' working sets; no thread has one: unknown (llc_price.c) */
	u64 own_bytes;    /* of the sets that one thread each has */
	u64 shared_bytes; /* of the sets that several threads have, each set once */
	u32 nr_own;       /* threads with a set of their own */
	u32 nr_sharing;   /* threads that share one */
	u32 preferred;      /* the CPU of its preferred cache, + 1; 0: it has none */
	u32 nr_threads;     /* alive, asleep or not */
	struct wp_mm_time on[WP_MAX_CPUS];
};

struct wp_epoch_cpu {
	u64 epoch;
	u64 next_tick;  /* of the next epoch */
	u64 runtime_ns; /* of all processes; halved each epoch */
	u32 llc;        /* number of its last-level cache, as the hardware has it */
	u32 nr_pref_running; /* runnable tasks that are queued in the cache they prefer */
};

/* A last-level cache as the last pass over the domain above it saw it (sched_domain_shared). */
struct wp_llc_stats {
	u64 util_avg;
	u64 bytes; /* fact; 0: unknown */
	u32 capacity;
	u32 nr_prefer; /* queued tasks of all CPUs that prefer it */
};

struct wp_sched_cache {
	u64 mms; /* address of the processes: tasks name them by number, from 1 */
	u32 nr_mms;
	u32 nr_llcs;
	u32 present;     /* a cache of several CPUs has a domain above it */
	u32 numa;        /* several nodes: NUMA balancing counts pages */
	u32 smt_threads; /* of a core */
	u32 pad;
	struct wp_epoch_cpu cpu[WP_MAX_CPUS];
	struct wp_llc_stats llc[WP_MAX_LLCS];
	/* of each CPU and cache: tasks queued there that prefer it (sched_domain.llc_counts) */
	u32 counts[WP_MAX_CPUS][WP_MAX_LLCS];
};

#ifdef WP_SCHED_CACHE
/* Before the first event, with the address in the context. */
int wp_sched_cache_init(struct wp_ctx *ctx WP_NONNULL);
/* Before wp_balance_end, if src_cpu executes a fair task: this one. */
int wp_balance_running(struct wp_ctx *ctx WP_NONNULL, struct wp_lb_env *bal WP_NONNULL,
		       const struct wp_task *task WP_NONNULL);
/* Does the task, off its CPU by an active balance, go to that CPU's cache? (LBF_ACTIVE_LB_LLC) */
int wp_prefers_llc_of(const struct wp_ctx *ctx WP_NONNULL, const struct wp_task *task WP_NONNULL,
		      u32 cpu);
#else
#define wp_account_mm_sched(ctx, c, task, ran_ns) ((void)0)
#define wp_account_llc_enqueue(ctx, task) ((void)0)
#define wp_account_llc_dequeue(ctx, task) ((void)0)
#define wp_pref_llc_running(ctx, task, more) ((void)0)
#define wp_task_tick_cache(ctx, task, now_ns) ((void)0)
#define wp_migrate_degrades_llc(ctx, bal, task) 0
#define wp_alb_break_llc(ctx, bal) 0
#define wp_llc_balance(ctx, bal, g) 0
#define wp_cpu_pref_dst_llc(ctx, bal, cpu) 0
#define wp_record_sg_llc_stats(ctx, bal, g, util) ((void)0)
#endif

#endif
