/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tasks of groups that have used up their quota (cpu.max) wait apart, in a queue per CPU that
 * nobody looks at for work: they are parked. They count neither in their CPU's signals nor in its
 * virtual time. One timer per CPU tells when the next of them may run; the CPU then puts those into
 * its queue, under its own lock.
 *
 * What must stay: a parked task counts nowhere, and whoever is parked is looked at when its group
 * may run.
 *
 * Tests by part: guest.sh small-quota, affinity-storm-limited (park, park_waiting, unpark,
 * unpark_due, arm_unpark, before_parked, parked_on); shares.sh judges what comes of them.
 * queue.bpf.h calls them.
 *
 * Rule: docs/rules/live-queue.md#vq-quota
 * Tests: scripts/live/shares.sh
 * Covers: shares.sh: groups with cpu.max get their part; guest.sh small-quota and
 *         affinity-storm-limited: no parked task is forgotten.
 */
#ifndef SCX_WAKEPLACE_QUOTA_H
#define SCX_WAKEPLACE_QUOTA_H

/* The timer looks again at least so often. */
#define LONGEST_UNPARK_TIMER_NS 1000000000ull

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WP_MAX_CPUS);
	__type(key, u32);
	__type(value, struct slice_timer);
} unpark_timers SEC(".maps");

/* The queue of those that are parked on a CPU: beyond the numbers of all others. */
static __always_inline u64 parked_on(u32 cpu)
{
	return 2ull * WP_MAX_CPUS + cpu;
}

/* At most so long: a timer in the far future would be one for a quota that changes. */
static __always_inline void arm_unpark(u32 cpu, u64 wait, u64 now)
{
	struct slice_timer *s = bpf_map_lookup_elem(&unpark_timers, &cpu);

	if (s)
		arm_timer(s, wp_min64(wait, LONGEST_UNPARK_TIMER_NS), now);
}

/* The timer: its CPU looks whom it may run again. Kicks from a CPU on its way out reach nobody. */
static int unpark_due(void *map, u32 *key, struct slice_timer *s)
{
	u32 cpu = *key;

	s->armed_ns = 0;
	wish_of(cpu)->unpark = 1;
	if (!WP_AT(ctx.cpus, bpf_get_smp_processor_id())->queue.online) {
		arm_unpark(cpu, ctx.tick_ns, now_ns()); /* kicks from here reach nobody: kick() */
		return 0;
	}
	if (WP_AT(ctx.cpus, cpu)->queue.curr_idle) {
		kick(cpu, SCX_KICK_IDLE);
		return 0;
	}
	end_slice(cpu);
	if (wish_of(cpu)->lazy)
		kick(cpu, 0); /* what ran lazily may sleep by now, and the CPU be about to idle */
	return 0;
}

/*
 * The task, queued or not, goes to those that wait for their group's quota on this CPU. The kernel
 * may have moved it while it waited: it still counts at another CPU then, whose run queue is not
 * locked, and whose frequency cannot be asked for here.
 */
static __always_inline void before_parked(struct task_live *t, u32 cpu, u64 wait, u64 now)
{
	if (t->wp.cpu != cpu)
		withdraw(t);
	else if (t->wp.on_rq)
		unqueue(t, cpu, now, 0, false);
	t->runnable_ns = 0; /* that it waits from now on is no latency */
	arm_unpark(cpu, wait, now);
}

/* A task is about to be queued. True: it is parked instead. Nothing is where the CPU is on its way
 * out: nobody would look at it there. */
static __always_inline bool park(struct task_struct *p, struct task_live *t, u32 cpu,
				 u64 enq_flags, u64 now)
{
	u64 wait = quota_wait_ns(t, now);

	if (!wait || !WP_AT(ctx.cpus, cpu)->queue.online ||
	    !WP_AT(ctx.cpus, bpf_get_smp_processor_id())->queue.online)
		return false;
	end_carried(t);
	before_parked(t, cpu, wait, now);
	dsq_insert(p, parked_on(cpu), wp_live_queue_slice_ns(&ctx), enq_flags);
	return true;
}

/* A task that waits in the queue of this CPU is offered to it. True: its group has used up its
 * quota meanwhile, and it is parked. Not one that is on another CPU's run queue (enum carried). */
static __always_inline bool park_waiting(struct bpf_iter_scx_dsq *it, struct task_struct *p,
					 struct task_live *t, u32 cpu, u64 now)
{
	u64 wait = quota_wait_ns(t, now);

	if (!wait || t->overdue || t->carried || cpu_of(p) != cpu)
		return false;
	if (!scx_bpf_dsq_move(it, p, parked_on(cpu), 0))
		return false;
	before_parked(t, cpu, wait, now);
	return true;
}

/* Who may run again joins the queue of its CPU, in that CPU's dispatch. */
__noinline int unpark(u32 cpu)
{
	u64 now = now_ns(), next = 0, wait;
	struct task_struct *p;
	struct task_live *t;

	wish_of(cpu)->unpark = 0;
	bpf_for_each(scx_dsq, p, parked_on(cpu), 0) {
		t = live_of(p);
		if (!t)
			continue;
		wait = quota_wait_ns(t, now);
		/* with many others it may miss its turn in each period, and be parked again */
		t->overdue = waited_ns(p) >= LONGEST_WAIT_NS;
		if (wait && !t->overdue) {
			next = next ? wp_min64(next, wait) : wait;
			continue;
		}
		carry_out_freq(cpu, arrive(p, t, cpu, now));
		wp_live_queue_place(&ctx, &t->wp, cpu, now);
		scx_bpf_dsq_move_set_vtime(BPF_FOR_EACH_ITER, t->wp.deadline_ns);
		scx_bpf_dsq_move_vtime(BPF_FOR_EACH_ITER, p, dsq_of(cpu), 0);
	}
	if (next)
		arm_unpark(cpu, next, now);
	return 0;
}

#endif
