// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What one decision looked at, CPU by CPU (explain.c). The record is kept natively only, and only
 * while a home asks: wp_ctx.explain is then its address, which that home owns, else 0. It is the
 * one address in a context; a copy of a context must clear it.
 *
 * What must stay: enum wp_drop is only appended to, and its comments are the text of
 * docs/guide/reasons.md (`cargo xtask reasons`); noting changes no decision. Tests by part, names
 * alone being of crates/policy-sys/tests/all: explain.rs::`every_word_is_there_once` (`wp_drop`),
 * explain.rs::`a_copy_answers_alike` (wp_ctx.explain), explain.rs::`beyond_the_limit_of_a_search`
 * (`wp_seen`), explain.rs::`the_clock_that_was_assumed` (`khz`, `runnable`),
 * explain.rs::`beyond_the_tipping_point` (`wp_no_energy`), asym_switches.rs (`wp_case_bits`).
 */
#ifndef WAKEPLACE_EXPLAIN_H
#define WAKEPLACE_EXPLAIN_H

#include "wakeplace/limits.h"
#include "wakeplace/port.h"

struct wp_ctx;
struct wp_task;
struct wp_decision;
struct wp_request;

/* Why a CPU was not chosen. Append only: the numbers are part of recorded results. */
enum wp_drop {
	WP_DROP_NONE,          /* it was chosen */
	WP_DROP_NOT_LOOKED_AT, /* the rule had decided before it came to this CPU, or does not
				* look at it */
	WP_DROP_OFFLINE,       /* offline */
	WP_DROP_NOT_ALLOWED,   /* the task may not use it */
	WP_DROP_OUTSIDE,       /* outside the domain that the rule searches */
	WP_DROP_BUSY,          /* not idle */
	WP_DROP_UNFIT,         /* too small for the task, or for it and what runs there */
	WP_DROP_FAR, /* idle, but in another cluster of the cache: taken only if no nearer one is
		      * idle */
	WP_DROP_OTHER_CACHE,   /* does not share the target's cache */
	WP_DROP_LIMIT,         /* beyond the limit of the search (SIS_UTIL, SIS_PROP) */
	WP_DROP_CORE_BUSY,     /* idle, but another CPU of its core or group is busy */
	WP_DROP_LESS_SPARE, /* another CPU of its performance domain has as much spare capacity,
			     * or more */
	WP_DROP_PREV_SPARE, /* the previous CPU is in its performance domain and has as much
			     * spare capacity, or more */
	WP_DROP_MORE_ENERGY,   /* another CPU costs as little energy, or less */
	WP_DROP_MARGIN,        /* it saves energy, but by no more than the margin */
	WP_DROP_HINT,          /* another CPU meets the task's uclamp better */
	WP_DROP_GROUP,         /* its group of CPUs was not chosen */
	WP_DROP_IDLE_STATE, /* another idle CPU of the group has a shorter exit latency, or went
			     * idle later */
	WP_DROP_OUTRANKED, /* RT, deadline: the tasks there go first, or the chosen CPU has lower
			    * ones or is nearer */
	WP_DROP_NO_ROOM,       /* packing: the CPU or its group is full */
	WP_DROP_MORE_ROOM, /* packing: another CPU, or group, that can take the task is as full,
			    * or fuller */
	WP_DROP_MORE_LOAD,     /* another CPU of the group has as little load, or less */
	WP_DROP_IDLE,          /* packing: idle, and only busy CPUs get more tasks */
	WP_DROP_COUNT
};

/* Why the energy-aware rule did not decide. */
enum wp_no_energy {
	WP_NO_ENERGY_ASKED,        /* it was not asked, or it decided */
	WP_NO_ENERGY_KIND,         /* not a wake-up */
	WP_NO_ENERGY_INACTIVE,     /* not active: wp_ctx.energy_off says why */
	WP_NO_ENERGY_OVERUTILIZED, /* beyond the tipping point */
	WP_NO_ENERGY_DOMAIN,       /* no domain joins the CPUs */
};

/* One CPU, as the decision saw it. */
struct wp_seen {
	u32 drop;     /* enum wp_drop, the last word */
	u32 order;    /* looked at as the order-th CPU, from 1; 0: not */
	u32 util;     /* with the task on it */
	u32 capacity; /* left for fair tasks */
	u32 spare;
	u32 fits; /* as wp_candidate.fits */
	u32 runnable; /* its queue's runnable signal as it stands; WP_NONE: the policy keeps none */
	u32 khz; /* clock that the estimate took for its domain with the task there; 0: none made */
	u64 energy;
};

struct wp_explain {
	u32 nr_seen;
	u32 target;      /* around which an idle CPU was searched, WP_NONE: no such search */
	u32 no_energy;   /* enum wp_no_energy */
	u32 short_known; /* the policy asks whether the task is short */
	u32 is_short;
	u32 khz; /* clock that the last estimate took, 0: the domain had nothing to do */
	u64 short_ns; /* where that ends */
	struct wp_seen seen[WP_MAX_CPUS];
};

void wp_explain_begin(struct wp_explain *x);
void wp_explain_end(struct wp_ctx *ctx, struct wp_task *task, const struct wp_decision *dec,
		    u32 this_cpu);
void wp_explain_adopt(struct wp_ctx *ctx, u32 was_active, u32 same_search, u32 same_urgency);

/* wakeup_case.c: what a decision was about. "Big" are the CPUs of the biggest capacity. */
enum wp_case_bits {
	WP_CASE_WAKER_BIG = 1 << 0, /* the deciding CPU */
	WP_CASE_PREV_BIG = 1 << 1,
	WP_CASE_TASK_BIG = 1 << 2, /* fits no other CPUs */
	WP_CASE_CPU_BIG = 1 << 3,  /* the chosen CPU */
	WP_CASE_FAST = 1 << 4,     /* chosen by the idle search around one target */
	WP_CASE_SLOW = 1 << 5,     /* chosen by the search for the idlest group and CPU */
	WP_CASE_WIDE = 1 << 6,     /* the M:N rule kept waker and wakee apart */
	WP_CASE_WAKE = 1 << 7,     /* a wake-up, else a fork or exec */
};
u32 wp_wakeup_case(struct wp_ctx *ctx WP_NONNULL, const struct wp_task *task WP_NONNULL,
		   const struct wp_request *req WP_NONNULL,
		   const struct wp_decision *dec WP_NONNULL, u32 cpu);

#endif
