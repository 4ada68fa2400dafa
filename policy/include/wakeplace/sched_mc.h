// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What sched_mc power saving knows of a CPU and of a kind of core
 * (docs/rules/sched-mc.md#sched-mc-patches). Included by policy.h. The structs are the same in both
 * builds; what works on them is native only.
 */
#ifndef WAKEPLACE_SCHED_MC_H
#define WAKEPLACE_SCHED_MC_H

#include "wakeplace/port.h"

struct wp_ctx;

#define WP_MC_STEPS 32u

/* Fact: how many tasks a core is to hold at each frequency, before others take some. */
struct wp_mc_table {
	u32 step_khz; /* entry = frequency / step, beyond the end the last one; 0: there is none */
	u32 nr;
	u32 tasks[WP_MC_STEPS]; /* at least 1, never rising */
};

/* What a CPU's identification register says of its place (MPIDR); WP_NONE: nothing. */
struct wp_mc_ids {
	u32 thread;
	u32 core;
	u32 socket;
};

/* Which table a CPU's power follows ("scale" in the debug view). */
enum wp_mc_config { WP_MC_DEFAULT, WP_MC_CA9 };

struct wp_mc_cpu {
	u32 mpidr;      /* fact: the register, 0: the platform states none */
	u32 known_core; /* fact: a core of the kind that the table is for */
	u32 config;     /* enum wp_mc_config */
	u32 freq_khz;   /* as of the last transition; 0: there was none since boot */
	u32 cpu_power;  /* what the architecture claims, 1024 = one task; 0: not set, 1024 */
	struct wp_mc_ids ids;
};

/* sched_mc_topology.c, sched_mc_power.c, sched_mc_irq.c; simulated homes only */
void wp_mpidr_ids(u32 mpidr, struct wp_mc_ids *ids WP_NONNULL);
int wp_mc_write_scale(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u32 config);
int wp_mc_write_power(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u32 power);
u32 wp_mc_cpu_power(const struct wp_ctx *ctx WP_NONNULL, u32 cpu);
u32 wp_irq_cpu(const struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 now_ns);

#endif
