// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Frequency domains and requests (policy/src/frequency).
 *
 * What must stay: the core asks (`next_opp`, WP_DID_FREQ), and the home takes the request by
 * wp_freq_taken and applies it by wp_freq_applied; operating points are ascending and named by
 * index; frequencies are kHz, temperatures thousandths of a degree. Tests by part, names alone
 * being of crates/policy-sys/tests/all: frequency.rs::`schedutil_examples` (`wp_freq_dom`),
 * frequency.rs::`rate_limit_holds_back` (`last_update_ns`),
 * frequency.rs::`limits_and_changes_under_way` (`in_progress`, `limits_changed`),
 * thermal.rs::`looks_one_after_the_other` (`wp_thermal`), ondemand.rs::`sampling_time`
 * (`sample_multiple`).
 */
#ifndef WAKEPLACE_FREQUENCY_H
#define WAKEPLACE_FREQUENCY_H

#include "wakeplace/port.h"

struct wp_ctx;
struct wp_cpu;

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
	u32 limited_late;   /* a limit moved the request when it may have been taken */
	u32 limits_changed; /* the next update heeds no rate limit */
	u32 io_boosted;     /* some CPU has an I/O boost */
	u32 response_ms;    /* response_time_ms: PELT reaches its highest point so fast */
};

/* freq.c */
u32 wp_map_util_freq(u32 util, u32 max_khz, u32 capacity);
u32 wp_cpu_perf_request(const struct wp_ctx *ctx WP_NONNULL, u32 cpu);
u32 wp_rate_limit_us(const struct wp_ctx *ctx WP_NONNULL, u32 freq_dom);
int wp_topology_set_freq_scale(struct wp_ctx *ctx WP_NONNULL, u32 freq_dom, u32 opp);
int wp_freq_applied(struct wp_ctx *ctx WP_NONNULL, u32 freq_dom, u32 opp);

/* Natively only: the live build does not hold what follows. */
int wp_freq_taken(struct wp_ctx *ctx WP_NONNULL, u32 freq_dom);

/* iowait.c: the governor helps CPUs whose tasks wait for I/O */
int wp_sugov_iowait_boost(struct wp_ctx *ctx WP_NONNULL, struct wp_cpu *c WP_NONNULL, u64 now_ns);
int wp_io_update(struct wp_ctx *ctx WP_NONNULL, struct wp_cpu *c WP_NONNULL, u64 now_ns);
int wp_io_floors(struct wp_ctx *ctx WP_NONNULL, struct wp_freq_dom *fd WP_NONNULL, u64 now_ns);

/* demand.c: what the teo governor asks (docs/rules/cpuidle.md#teo-util) */
u32 wp_sched_cpu_util(const struct wp_ctx *ctx WP_NONNULL, u32 cpu);

/* freq_limit.c */
int wp_freq_limit(struct wp_ctx *ctx WP_NONNULL, u32 freq_dom, u32 max_opp, u64 now_ns);

/* perf_target.c */
int wp_scx_bpf_cpuperf_set(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u32 perf, u64 now_ns);

/* ondemand.c */
u64 wp_ondemand_period_us(const struct wp_ctx *ctx WP_NONNULL, u32 freq_dom);
u32 wp_ondemand_load(u64 wall_us, u64 idle_us);
int wp_ondemand_sample(struct wp_ctx *ctx WP_NONNULL, u32 freq_dom, u32 load, u64 now_ns);

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

/* thermal.c */
int wp_thermal_look(struct wp_thermal *t WP_NONNULL, s32 millic);
u32 wp_thermal_delay_ms(const struct wp_thermal *t WP_NONNULL);
int wp_thermal_pressure(struct wp_ctx *ctx WP_NONNULL, u32 freq_dom, u32 max_opp);

#endif
