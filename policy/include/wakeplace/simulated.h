// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Entry points that only the simulator calls: the live build does not hold them, so the parity
 * test has no programs of them.
 */
#ifndef WAKEPLACE_SIMULATED_H
#define WAKEPLACE_SIMULATED_H

#include "wakeplace/port.h"

struct wp_ctx;
struct wp_task;
struct wp_request;
struct wp_decision;

/* A thermal zone: what its governor knows (thermal.c). */
struct wp_thermal {
	s32 trip_millic;
	s32 hysteresis_millic;
	u32 polling_ms;
	u32 passive_ms; /* ... while it cools */
	u32 max_steps;
	/* from 0, last_millic from the temperature at the start */
	s32 last_millic;
	u32 over;
	u32 steps; /* so many of the fastest operating points are not for use */
};

/* ondemand.c */
u64 wp_ondemand_period_us(const struct wp_ctx *ctx WP_NONNULL, u32 freq_dom);
u32 wp_ondemand_load(u64 wall_us, u64 idle_us);
int wp_ondemand_sample(struct wp_ctx *ctx WP_NONNULL, u32 freq_dom, u32 load, u64 now_ns);

/* hotplug.c: CPUs that come and go */
u32 wp_select_fallback_rq(const struct wp_ctx *ctx WP_NONNULL,
			  const struct wp_task *task WP_NONNULL, u32 cpu);
int wp_domains_rebuilt(struct wp_ctx *ctx WP_NONNULL, u64 now_ns);

/* idle_hints.c: the start of a run */
int wp_settled(struct wp_ctx *ctx WP_NONNULL);

/* thermal.c */
int wp_thermal_look(struct wp_thermal *t WP_NONNULL, s32 millic);
u32 wp_thermal_delay_ms(const struct wp_thermal *t WP_NONNULL);
int wp_thermal_pressure(struct wp_ctx *ctx WP_NONNULL, u32 freq_dom, u32 max_opp);

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
