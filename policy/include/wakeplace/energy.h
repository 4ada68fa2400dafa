// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The energy model (policy/src/energy).
 *
 * What must stay: a domain has two tables, and a change is written into the one that is not `live`,
 * as readers may be under way; states rise by frequency; a value of enum wp_em_error has its words
 * in crates/policy-sys/src/machine.rs. Tests by part, names alone being of
 * crates/policy-sys/tests/all: energy_7_3.rs::`limits_of_a_domain` (`min_state`, `max_state`),
 * energy_7_3.rs::`artificial_models_have_costs_of_their_own` (`cost`, `artificial`),
 * energy_7_3.rs::`each_condition_off_deactivates` (`wp_energy_off`),
 * topology_numa.rs::`an_energy_model_needs_room` (WP_EM_FULL).
 */
#ifndef WAKEPLACE_ENERGY_H
#define WAKEPLACE_ENERGY_H

#include "wakeplace/limits.h"
#include "wakeplace/port.h"

struct wp_ctx;
struct wp_task;

struct wp_em_perf_state {
	u32 khz;
	u32 power_uw;
	u32 performance; /* capacity at this state */
	u32 cost;        /* power_uw * 10 / performance (6.12); an artificial model's own */
	u32 cost_mw;     /* fmax * mW / khz (5.0) */
	u32 inefficient;
};

struct wp_em_perf_table {
	u32 nr_states;
	u32 max_khz;
	u32 artificial; /* states come with their cost (get_cost), powers are of no scale */
	struct wp_em_perf_state state[WP_MAX_STATES];
};

struct wp_perf_domain {
	u32 first_cpu; /* list range */
	u32 nr_cpus;
	u32 capacity;
	u32 live; /* which of the two tables readers use */
	u32 min_state; /* what the hardware may use now (wp_em_update_performance_limits) */
	u32 max_state;
	struct wp_em_perf_table table[2];
};

enum wp_energy_off {
	WP_ENERGY_ON,
	WP_ENERGY_OFF_POLICY,     /* the policy does not ask for it */
	WP_ENERGY_OFF_NO_MODEL,   /* some CPU has no performance domain */
	WP_ENERGY_OFF_SYMMETRIC,  /* no domain with CPUs of different capacity */
	WP_ENERGY_OFF_SMT,
	WP_ENERGY_OFF_GOVERNOR,   /* not schedutil */
	WP_ENERGY_OFF_COMPLEXITY,
	WP_ENERGY_OFF_FORM, /* the live build has the current form only */
};

enum wp_em_error {
	WP_EM_OK,
	WP_EM_NO_STATES,
	WP_EM_FREQ_ORDER,  /* frequencies must rise strictly */
	WP_EM_POWER_RANGE, /* power outside 1 uW..64 W */
	WP_EM_CAPACITY,    /* CPUs of one domain with different capacity */
	WP_EM_TWICE,       /* a CPU has a domain already */
	WP_EM_FULL,
	WP_EM_LIMIT, /* a limit is not a frequency of the table, or they are crossed */
	WP_EM_COST_RANGE, /* a cost of an artificial model outside 1..64000000 */
};

/* energy_model.c */
u32 wp_em_dev_update_perf_domain(struct wp_ctx *ctx WP_NONNULL, u32 pd);
u32 wp_em_update_performance_limits(struct wp_ctx *ctx WP_NONNULL, u32 pd, u32 khz_min,
				    u32 khz_max);
int wp_start(struct wp_ctx *ctx WP_NONNULL);
int wp_reconsider(struct wp_ctx *ctx WP_NONNULL);

/* Natively only: the live build does not hold what follows. */
/* energy_rework.c: a task that was put back to wait */
int wp_sched_energy_push_task(const struct wp_ctx *ctx WP_NONNULL,
			      const struct wp_task *task WP_NONNULL);
u32 wp_push_fair_task(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL);
/* energy_model.c: before the first event; a live home runs it natively */
u32 wp_em_dev_register_perf_domain(struct wp_ctx *ctx WP_NONNULL, const u16 *cpus WP_NONNULL,
				   u32 nr_cpus);
/* energy_no_watts.c: after the machine's own model was registered, if it has one */
int wp_em_register_no_watts(struct wp_ctx *ctx WP_NONNULL);

#endif
