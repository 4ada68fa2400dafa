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

/* ondemand.c */
u64 wp_ondemand_period_us(const struct wp_ctx *ctx WP_NONNULL, u32 freq_dom);
u32 wp_ondemand_load(u64 wall_us, u64 idle_us);
int wp_ondemand_sample(struct wp_ctx *ctx WP_NONNULL, u32 freq_dom, u32 load, u64 now_ns);

/* hotplug.c: CPUs that come and go */
u32 wp_fallback_cpu(const struct wp_ctx *ctx WP_NONNULL, const struct wp_task *task WP_NONNULL,
		    u32 cpu);
int wp_domains_rebuilt(struct wp_ctx *ctx WP_NONNULL, u64 now_ns);

#endif
