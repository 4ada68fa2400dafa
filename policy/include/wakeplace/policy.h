// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The placement policy core: its context, and the headers of its rooms with the structs and entry
 * points of each.
 *
 * A home (the simulator, the live scheduler) owns a zero-filled struct wp_ctx and one struct
 * wp_task per task, fills in the machine, then reports events in time order. The core keeps the
 * signals, answers questions, and never calls back. It knows no clock: `now_ns` is the home's
 * monotonic clock.
 *
 * Units: time ns; utilisation and capacity 0..1024 (1024 = biggest CPU at its highest frequency);
 * load = utilisation-like average of nice weights (nice 0 = 1024); frequency kHz; power uW (energy
 * estimates in the unit of their version: mW for v3 and 5.0).
 *
 * What must stay: the context's only addresses are `explain`, `kept` and `sched_cache`, which a
 * copy must clear and the live build leaves 0; both builds have the same layout; what the headers
 * declare is in crates/policy-sys/src/bindings.rs (`cargo xtask bindings`, or `--stamp` if only
 * comments changed), whose first line is a hash of them. Tests by part, names alone being of
 * crates/policy-sys/tests/all:
 * crates/scx/tests/parity/main.rs::`every_decision_is_the_same_in_all_builds` (the context, in both
 * builds), crates/scx/tests/parity/main.rs::`every_entry_point_has_a_program` (declarations),
 * contributing.rs::`the_example_of_contributing_holds` (a home from nothing).
 */
#ifndef WAKEPLACE_POLICY_H
#define WAKEPLACE_POLICY_H

#include "wakeplace/balance.h"
#include "wakeplace/energy.h"
#include "wakeplace/frequency.h"
#include "wakeplace/kept.h"
#include "wakeplace/limits.h"
#include "wakeplace/live_group.h"
#include "wakeplace/live_queue.h"
#include "wakeplace/load_tracking.h"
#include "wakeplace/packing.h"
#include "wakeplace/params.h"
#include "wakeplace/placement.h"
#include "wakeplace/port.h"
#include "wakeplace/reasons.h"
#include "wakeplace/runqueue.h"
#include "wakeplace/sched_cache.h"
#include "wakeplace/topology.h"

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
	u64 overutilized_ns; /* overutilized_linger: when some CPU was last overutilized */
	u64 idle_turn_ns; /* the last turn of the timer for idle CPUs */
	u64 idle_timer_ns; /* ... how long it waits since then */
	u64 explain; /* natively: address of a struct wp_explain to note decisions in, 0: none */
	u64 kept;    /* natively: address of a struct wp_kept with sums over CPUs, 0: none */
	u64 sched_cache; /* natively: address of a struct wp_sched_cache, 0: none */
	u64 quick;   /* natively: 1 if passes may leave out statistics that they do not need */
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
	u32 is_32bit; /* fact: the machine's kernel counts in words of 32 bits */
	u32 has_preempt_lazy; /* fact: its architecture has ARCH_HAS_PREEMPT_LAZY */
	struct wp_prices prices; /* facts */
};

#include "wakeplace/explain.h"
#include "wakeplace/rt_dl_irq.h"

#ifndef WP_LIVE
#include "wakeplace/task_group.h"
#endif

#endif
