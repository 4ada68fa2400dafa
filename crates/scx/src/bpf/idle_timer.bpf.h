/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The timer that stands for the ticks of idle CPUs; its turns are idle_tick's, in machine.bpf.h.
 *
 * What must stay: one timer for the machine, on the CPU that starts it.
 *
 * Tests by part: guest.sh timer-follows (end_rest). queue.bpf.h and machine.bpf.h call it.
 *
 * Rule: docs/rules/live-queue.md#vq-timer
 * Tests: scripts/live/guest.sh, xtask/src/live/tests.rs
 * Covers: guest.sh timer_follows: nine of ten turns are on a busy CPU; hotplug-storm: its CPU
 *         leaves.
 * Untried: the times between turns; those are the core's
 *          (crates/policy-sys/tests/all/idle_pass.rs).
 */
#ifndef SCX_WAKEPLACE_IDLE_TIMER_H
#define SCX_WAKEPLACE_IDLE_TIMER_H

struct tick_timer {
	struct bpf_timer timer;
};

/* Two that start each other. The kernel keeps a timer that starts itself on its CPU, idle or not;
 * one that another starts goes to a busy CPU. */
#define NR_TIMERS 2
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, NR_TIMERS);
	__type(key, u32);
	__type(value, struct tick_timer);
} timers SEC(".maps");
/* Which of the two was started last. */
u32 timer_started;

/* The tick of a busy CPU has ended its rest: it fires here, at once, or if it cannot be started the
 * next tick tries again. */
static __always_inline void end_rest(void)
{
	u32 key = timer_started;
	struct tick_timer *tick = bpf_map_lookup_elem(&timers, &key);

	if (tick && bpf_timer_start(&tick->timer, 0, 0))
		ctx.idle_timer_ns = 2ull * ctx.tick_ns;
}

#endif
