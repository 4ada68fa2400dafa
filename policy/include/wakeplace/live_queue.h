// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The live scheduler's queues, one per CPU, in the order of virtual deadlines, and its timer for
 * idle CPUs (policy/src/live_queue). The home keeps the queues; these are its questions.
 *
 * What must stay: a walk is begin, offer in the queue's order, end; virtual times are ns on one
 * queue's clock, debts are signed; of a sleeper `task` is written last and cleared first. Tests by
 * part, names alone being of crates/policy-sys/tests/all:
 * queue_walk.rs::`the_first_that_is_owed_time_is_taken` (`wp_queue_walk`),
 * queue_walk.rs::`only_the_first_are_looked_at` (WP_LIVE_QUEUE_LOOKS),
 * queue_sleepers.rs::`who_finds_no_place_leaves_with_its_debt` (WP_LIVE_QUEUE_SLEEPERS),
 * queue.rs::`the_queues_time_is_the_mean_by_weight` (placing and leaving),
 * crates/scx/tests/parity/main.rs::`every_event_is_the_same_in_all_builds` (entry points, in both
 * builds).
 */
#ifndef WAKEPLACE_LIVE_QUEUE_H
#define WAKEPLACE_LIVE_QUEUE_H

#include "wakeplace/port.h"

struct wp_ctx;
struct wp_task;

/*
 * Sleepers that a queue keeps for a while (queue_sleepers.c): places per CPU. A sleeper that finds
 * no place leaves the queue with its debt.
 */
#define WP_LIVE_QUEUE_SLEEPERS 32u

/* One kept sleeper. `task` is written last and cleared first, since other CPUs read it. */
struct wp_live_queue_sleeper {
	u64 vtime_ns;
	u64 deadline_ns;
	u32 weight;
	u32 task; /* its id; 0: the place is free */
};

/*
 * How many waiting tasks are looked at, in order, for one that is eligible. Usually that is all of
 * them (docs/rules/live-queue.md#vq-pick).
 */
#define WP_LIVE_QUEUE_LOOKS 64u
int wp_live_queue_place(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL, u32 cpu,
			u64 now_ns);
WP_SMALL_FN int wp_live_queue_start(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL,
				    u32 cpu, u64 now_ns);
WP_SMALL_FN int wp_live_queue_stop(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL,
				   u64 now_ns);
int wp_live_queue_leave(struct wp_ctx *ctx WP_NONNULL, struct wp_task *task WP_NONNULL, u32 sleeps,
			u64 now_ns);
WP_SMALL_FN int wp_live_queue_preempts(struct wp_ctx *ctx WP_NONNULL,
				       const struct wp_task *task WP_NONNULL, u32 cpu, u64 now_ns);
WP_SMALL_FN u64 wp_live_queue_slice_ns(const struct wp_ctx *ctx WP_NONNULL);
int wp_entity_eligible(const struct wp_ctx *ctx WP_NONNULL, const struct wp_task *task WP_NONNULL,
		       u32 cpu, u64 now_ns);
int wp_live_queue_before(const struct wp_ctx *ctx WP_NONNULL,
			 const struct wp_task *first WP_NONNULL, u64 deadline_ns, u32 cpu,
			 u64 now_ns);
u64 wp_slice_left_ns(const struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 now_ns);
u64 wp_live_queue_deadline_on(const struct wp_ctx *ctx WP_NONNULL,
			      const struct wp_task *task WP_NONNULL, u32 cpu, u64 now_ns);
int wp_yield_task(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u32 nr_waiting, u64 now_ns);
int wp_live_queue_go_on(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u64 now_ns);
int wp_live_queue_expired(struct wp_ctx *ctx WP_NONNULL, u32 cpu, u32 nr_waiting, u64 now_ns);
int wp_live_queue_yields(struct wp_ctx *ctx WP_NONNULL, const struct wp_task *first WP_NONNULL,
			 u32 cpu, u64 now_ns);
int wp_live_queue_retire(struct wp_ctx *ctx WP_NONNULL, const struct wp_task *next WP_NONNULL,
			 u32 cpu, u64 now_ns);

/* A walk over the tasks that wait on a CPU (queue_walk.c). Begin; offer them one by one in their
 * order, until the answer is WP_OFFER_TAKE or WP_OFFER_STOP (enum wp_offer); end. The home fills in
 * what is asked. */
struct wp_queue_walk {
	u64 now_ns;
	u32 cpu;
	u32 runs; /* pick: the CPU's task could go on */
	/* between the calls */
	u64 deadline_ns; /* preempt: of the task that joined them */
	u32 looks;       /* so many may be offered yet */
	u32 state;       /* enum wp_walk_state */
};

enum wp_walk_state {
	WP_WALK_NOBODY, /* none of those offered was the one */
	WP_WALK_KNOWN,
	WP_WALK_AGAIN, /* a sleeper has left the queue: begin anew */
};

int wp_pick_begin(const struct wp_ctx *ctx WP_NONNULL, struct wp_queue_walk *walk WP_NONNULL,
		  u32 nr_waiting);
int wp_pick_offer(struct wp_ctx *ctx WP_NONNULL, struct wp_queue_walk *walk WP_NONNULL,
		  const struct wp_task *task WP_NONNULL);
int wp_pick_end(struct wp_ctx *ctx WP_NONNULL, const struct wp_queue_walk *walk WP_NONNULL);
WP_SMALL_FN int wp_preempt_begin(struct wp_ctx *ctx WP_NONNULL,
				 struct wp_queue_walk *walk WP_NONNULL,
				 const struct wp_task *task WP_NONNULL);
int wp_preempt_offer(const struct wp_ctx *ctx WP_NONNULL, struct wp_queue_walk *walk WP_NONNULL,
		     const struct wp_task *first WP_NONNULL);
WP_SMALL_FN int wp_preempt_end(const struct wp_queue_walk *walk WP_NONNULL);
WP_SMALL_FN int wp_live_queue_is_next(const struct wp_ctx *ctx WP_NONNULL,
				      const struct wp_task *task WP_NONNULL, u32 cpu,
				      u32 nr_waiting);
WP_SMALL_FN int wp_pick_lone(struct wp_ctx *ctx WP_NONNULL, const struct wp_task *task WP_NONNULL,
			     u32 cpu, u64 now_ns);

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

/* A turn of the timer that stands for the ticks of idle CPUs: begin, offer every CPU, end. */
struct wp_idle_turn {
	u64 now_ns;
	u64 busy; /* enum wp_busy, of all CPUs so far; the home may add WP_BUSY_NOW */
};

WP_SMALL_FN int wp_idle_turn_begin(struct wp_idle_turn *turn WP_NONNULL, u64 now_ns);
int wp_idle_turn_offer(struct wp_ctx *ctx WP_NONNULL, struct wp_idle_turn *turn WP_NONNULL,
		       u32 cpu);
u64 wp_idle_turn_end(struct wp_ctx *ctx WP_NONNULL, const struct wp_idle_turn *turn WP_NONNULL);

#endif
