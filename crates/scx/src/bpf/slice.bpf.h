/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The end of a slice between two ticks: one timer per CPU, as the kernel's own for the fair class
 * (hrtick), but on the CPU that arms it, a waker's perhaps, which then kicks. It is armed while
 * somebody waits, and again only for an earlier end: one that fires for a task that is gone looks
 * how long the present one has. Without it a slice ends at a tick.
 *
 * What must stay: a slice ends at a tick at the latest, timer or not. Times are ns.
 *
 * Tests by part: guest.sh timer-follows and long-wait (slice_end), parity/glue.rs `timers`
 * (arm_timer), `lazy` (begin_slice, end_slice) and `slice_ends` (slice_end, arm_slice_end), `cargo
 * xtask live-waits` (all of them together). init_timers runs at each start. queue.bpf.h calls them.
 *
 * Kernel: hrtick_start(), kernel/sched/core.c
 * Rule: docs/rules/live-queue.md#vq-slice
 * Tests: scripts/live/guest.sh, crates/scx/tests/parity/glue.rs
 * Covers: guest.sh under load: no task waits 30 s. `cargo xtask live-waits` measures how long short
 *         tasks wait beside tasks without end, which late slices would show.
 * Untried: that the timer fires at the very end of a slice.
 */
#ifndef SCX_WAKEPLACE_SLICE_H
#define SCX_WAKEPLACE_SLICE_H

/* A timer that is nearer costs more than it gives: the kernel's own least, ns. */
#define LEAST_SLICE_TIMER_NS 10000ull

struct slice_timer {
	struct bpf_timer timer;
	u64 armed_ns; /* when it fires, 0: it does not */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WP_MAX_CPUS);
	__type(key, u32);
	__type(value, struct slice_timer);
} slice_timers SEC(".maps");

/* It fires so much later at the latest; nothing if it fires before that already. One that should
 * have fired a tick ago and has not is started anew. */
static __always_inline void arm_timer(struct slice_timer *s, u64 wait, u64 now)
{
	if (s->armed_ns && s->armed_ns <= now + wait && now < s->armed_ns + ctx.tick_ns)
		return;
	s->armed_ns = now + wait;
	if (bpf_timer_start(&s->timer, wait, 0))
		s->armed_ns = 0; /* a tick does it, or the next that arms it */
}

/* A timer per CPU. */
static __always_inline s32 init_timers(void *timers,
				       int (*due)(void *, u32 *, struct slice_timer *))
{
	s32 error = 0;
	u32 cpu;

	bpf_for(cpu, 0, ctx.nr_cpus < WP_MAX_CPUS ? ctx.nr_cpus : WP_MAX_CPUS) {
		struct slice_timer *s = bpf_map_lookup_elem(timers, &cpu);

		if (!s)
			continue;
		error = bpf_timer_init(&s->timer, timers, CLOCK_MONOTONIC);
		if (!error)
			error = bpf_timer_set_callback(&s->timer, due);
		if (error)
			break;
	}
	return error;
}

/*
 * A kernel that preempts lazily lets what runs inside the kernel go on, up to the tick after the
 * one that found its slice over or after its waker: it may hold what many wait for, and a light one
 * gets its next turn seconds later. sched_ext has no such request and does not say where a task is;
 * kernel threads are always inside, so they are treated like that (docs/decisions/011).
 *
 * The task that runs begins a slice; `again`: it has used up the time that the kernel gives it.
 * Where a tick of ours is to end it, the kernel's own count must not do so before. A wish to end it
 * that came while its CPU looked who is next stays.
 */
static __always_inline void begin_slice(struct task_struct *p, u32 cpu, bool again)
{
	struct cpu_wish *w = wish_of(cpu);

	if (!again)
		w->end_at_tick = 0;
	w->lazy = lazy_preemption && (p->flags & PF_KTHREAD);
	if (w->lazy)
		task_set_slice(p, wp_live_queue_slice_ns(&ctx) + 2ull * ctx.tick_ns);
	else if (again)
		task_set_slice(p, wp_live_queue_slice_ns(&ctx));
}

/* The running task is to give way, at once or at the next tick. */
static __always_inline void end_slice(u32 cpu)
{
	struct cpu_wish *w = wish_of(cpu);

	if (w->lazy)
		w->end_at_tick = 1;
	else
		kick(cpu, SCX_KICK_PREEMPT);
}

/* Sees to it that the running task of `cpu` is looked at when its slice is over. */
static __always_inline void arm_slice_end(u32 cpu, u64 now)
{
	struct slice_timer *s;

	if (ctx.params.hrtick == WP_HRTICK_OFF || !WP_AT(ctx.cpus, cpu)->queue.curr_weight)
		return;
	s = bpf_map_lookup_elem(&slice_timers, &cpu);
	if (s)
		arm_timer(s, wp_max64(wp_slice_left_ns(&ctx, cpu, now), LEAST_SLICE_TIMER_NS), now);
}

/* The timer: the slice is over, or (another task runs by now) it is armed anew. */
static int slice_end(void *map, u32 *key, struct slice_timer *s)
{
	u32 cpu = *key;
	u64 now = now_ns();

	s->armed_ns = 0;
	if (!nr_waiting(cpu) || !WP_AT(ctx.cpus, cpu)->queue.curr_weight)
		return 0;
	if (wp_slice_left_ns(&ctx, cpu, now))
		arm_slice_end(cpu, now);
	else
		end_slice(cpu);
	return 0;
}

#endif
