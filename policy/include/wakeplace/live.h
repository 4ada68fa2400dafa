// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * live.c: what a home without the simulator's mechanics asks besides. Included by policy.h.
 */
#ifndef WAKEPLACE_LIVE_H
#define WAKEPLACE_LIVE_H

#include "wakeplace/policy.h"

/* What a CPU was since the last turn of the timer for idle CPUs; of several CPUs, all bits. */
enum wp_busy {
	WP_BUSY_SINCE = 1 << 0, /* for a moment, and idles now */
	WP_BUSY_NOW = 1 << 1,
};

u32 wp_decayed_util(u32 util, u64 last_ns, u64 now_ns);
u64 wp_run_energy_nj(const struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 run_ns);
int wp_idle_kick_needed(const struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 now_ns);
u64 wp_idle_timer_ns(struct wp_ctx *ctx WP_NONNULL, u32 busy, u64 now_ns);
u32 wp_was_busy(const struct wp_ctx *ctx WP_NONNULL, u32 cpu);
int wp_idle_decay(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 now_ns);

#endif
