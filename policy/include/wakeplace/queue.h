// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * queue.c, queue_sleepers.c: the live scheduler's queues, one per CPU, in the order of virtual
 * deadlines. The home keeps them; these are its questions. Included by policy.h.
 */
#ifndef WAKEPLACE_QUEUE_H
#define WAKEPLACE_QUEUE_H

#include "wakeplace/policy.h"

/* So many of the first are looked at for one that is eligible: all that wait, but on a CPU that is
 * more crowded than that (docs/decisions/043). */
#define WP_LIVE_QUEUE_LOOKS 64u
WP_SMALL_FN int wp_live_queue_place(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL,
				    u32 cpu, u64 now_ns);
WP_SMALL_FN int wp_live_queue_start(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL,
				    u32 cpu, u64 now_ns);
WP_SMALL_FN int wp_live_queue_stop(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL,
				   u64 now_ns);
WP_SMALL_FN int wp_live_queue_leave(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL,
				    u32 sleeps, u64 now_ns);
WP_SMALL_FN int wp_live_queue_preempts(struct wp_ctx *ctx WP_NONNULL,
				       const struct wp_task *task WP_NONNULL, u32 cpu, u64 now_ns);
WP_SMALL_FN u64 wp_live_queue_slice_ns(const struct wp_ctx *ctx WP_NONNULL);
int wp_entity_eligible(const struct wp_ctx *ctx WP_NONNULL, const struct wp_task *task WP_NONNULL,
		       u32 cpu, u64 now_ns);
int wp_live_queue_before(const struct wp_ctx *ctx WP_NONNULL,
			 const struct wp_task *first WP_NONNULL,
			 const struct wp_task *task WP_NONNULL, u32 cpu, u64 now_ns);
u64 wp_slice_left_ns(const struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 now_ns);
u64 wp_live_queue_deadline_on(const struct wp_ctx *ctx WP_NONNULL,
			      const struct wp_task *task WP_NONNULL, u32 cpu, u64 now_ns);
int wp_yield_task(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u32 nr_waiting, u64 now_ns);
int wp_live_queue_expired(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u32 nr_waiting, u64 now_ns);
int wp_live_queue_yields(struct wp_ctx *ctx WP_NONNULL, const struct wp_task *first WP_NONNULL,
			 u32 cpu, u64 now_ns);

int wp_live_queue_retire(struct wp_ctx *ctx WP_NONNULL, const struct wp_task *next WP_NONNULL,
			 u32 cpu, u64 now_ns);

#endif
