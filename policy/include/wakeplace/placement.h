// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Where a task goes: the question, the answer and what was looked at (policy/src/placement).
 *
 * What must stay: scratch of a decision is in its wp_decision, as several may be under way at once;
 * the home fills in each field of wp_request; `rule` and `reason` are reasons.h's. Tests by part,
 * names alone being of crates/policy-sys/tests/all: wake_7_3.rs::`step_1_target` (`wp_request`),
 * wake_7_3.rs::`search_depth` (`nr_scanned`), explain.rs::`energy_vector_of_today`
 * (`wp_candidate`), wake_7_3.rs::`wake_wide` (`wp_waker` in a question),
 * crates/scx/tests/parity/main.rs::`every_decision_is_the_same_in_all_builds` (`wp_decision`).
 */
#ifndef WAKEPLACE_PLACEMENT_H
#define WAKEPLACE_PLACEMENT_H

#include "wakeplace/balance.h"
#include "wakeplace/limits.h"
#include "wakeplace/packing.h"
#include "wakeplace/port.h"

struct wp_ctx;
struct wp_task;
struct wp_waker;

/* One CPU a decision looked at closely, for `explain`. */
struct wp_candidate {
	u32 cpu;
	u32 util; /* with the task on it */
	u32 spare;
	u32 fits;   /* 1, 0, or ~0: it does but for its uclamp_min */
	u64 energy; /* with the task there, of the whole system; from 6.0 what it adds to its
		     * domain; ~0 = not estimated */
};

/* A CPU that could take the task, in the search of energy_idle.c. */
struct wp_energy_pick {
	u32 cpu; /* WP_NONE: nobody yet */
	u32 idle;
	u32 util; /* with the task there */
	s32 fits; /* as wp_util_fits_on() */
	s64 spare;
	u64 delta; /* what the task adds to its domain */
};

/* One performance domain during a search. */
struct wp_delta_pd {
	u32 index;
	u32 capacity;  /* of one CPU, less what limits take away */
	u32 total;     /* ... of all its CPUs online */
	u32 online;
	u32 busy;  /* its CPUs' time without the task (docs/rules/energy-aware.md#compute-energy) */
	u32 most;  /* the performance that its most demanding CPU needs without the task ... */
	u32 next;  /* ... any other than that one ... */
	u32 most_cpu;
	u32 hinted;     /* some CPU has been looked at */
	u32 uclamp_min; /* the hints that count on that CPU */
	u32 uclamp_max;
	u32 prev_util;
	u32 prev_boosted; /* what the frequency would follow */
	s32 prev_fits; /* 0: the previous CPU is not here or holds the task in no way */
	s64 prev_spare;
	u32 cpu; /* with most spare capacity among those that fit best */
	u32 util;
	u32 boosted;
	s32 fits;
	s64 spare;
	u32 idle_cpu; /* likewise among the idle ones (energy_idle.c) */
	u32 idle_util;
	u32 idle_boosted;
	s32 idle_fits;
	s64 idle_spare;
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
	struct wp_delta_pd energy_pd;
	struct wp_energy_pick energy_at;   /* the CPU at hand */
	struct wp_energy_pick energy_prev; /* the previous one, if it can hold the task */
	struct wp_energy_pick energy_best;
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

/* select.c */
int wp_select_task_rq_fair(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL,
			   struct wp_waker *waker WP_NONNULL,
			   const struct wp_request *req WP_NONNULL,
			   struct wp_decision *dec WP_NONNULL);
int wp_select_task_rq_exec(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL,
			   struct wp_waker *waker WP_NONNULL,
			   const struct wp_request *req WP_NONNULL,
			   struct wp_decision *dec WP_NONNULL);
u32 wp_first_allowed(const struct wp_ctx *ctx WP_NONNULL, const struct wp_task *task WP_NONNULL,
		     u32 otherwise);

/* For balancing: after the periodic (not new-idle) statistics of any level; acts on the level that
 * idle searches of this CPU look at. */
int wp_update_idle_cpu_scan(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u32 level);

/* Natively only: the live build does not hold what follows. */
/* idle_hints.c: the start of a run */
int wp_settled(struct wp_ctx *ctx WP_NONNULL);

#endif
