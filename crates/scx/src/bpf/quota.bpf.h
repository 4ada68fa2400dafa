/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tasks of groups that have used up their quota (cpu.max) wait apart, in a queue per CPU that
 * nobody looks at for work: they are parked. They count neither in their CPU's signals nor in its
 * virtual time. One timer per CPU tells when the next of them may run; the CPU then puts those into
 * its queue, under its own lock.
 *
 * Who may be parked, and for how long, is the core's (group_park.c). This file tells it where a
 * task is: outside at a tick that came upon user space, and at its return there, where the kernel
 * has a task work for programs (6.18 on). The callback of that work is preempted where it stands,
 * so that what is parked there holds nothing but the work itself.
 *
 * What must stay: a parked task counts nowhere, and whoever is parked is looked at once a second at
 * least, whichever timer or kick is lost.
 *
 * Tests by part: guest.sh small-quota, affinity-storm-limited (park, park_waiting, unpark,
 * unpark_due, arm_unpark, before_parked, parked_on), inside (held_back, ask_return, returned);
 * parity/glue.rs `held_at_return`, `unparking` and `a_lost_look` try each of them alone; shares.sh
 * judges what comes of them. queue.bpf.h calls them.
 *
 * Kernel: task_throttle_setup_work() as ask_return(), kernel/sched/fair.c
 * Rule: docs/rules/live-queue.md#vq-quota, #vq-inside
 * Tests: scripts/live/shares.sh, scripts/live/inside.sh, crates/scx/tests/parity/glue.rs
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

/* One for each task that is to be held back at its return; those that have not been asked for
 * longest go, and are held back at a tick. */
struct return_work {
	struct bpf_task_work work;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, u32);
	__type(value, struct return_work);
} return_works SEC(".maps");

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

/* The timer: its CPU looks whom it may run again. Kicks from a CPU on its way out reach nobody. It
 * fires again after a second, if the CPU has not looked by then. */
static int unpark_due(void *map, u32 *key, struct slice_timer *s)
{
	u32 cpu = *key;

	s->armed_ns = 0;
	wish_of(cpu)->unpark = 1;
	if (!WP_AT(ctx.cpus, bpf_get_smp_processor_id())->queue.online) {
		arm_unpark(cpu, ctx.tick_ns, now_ns()); /* kicks from here reach nobody: kick() */
		return 0;
	}
	if (nr_queued(parked_on(cpu)))
		arm_unpark(cpu, LONGEST_UNPARK_TIMER_NS, now_ns());
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
	t->parked_ns = now;
	arm_unpark(cpu, wait, now);
}

/* How long a task that is about to be parked, or has been for a while, has to wait; 0: it runs. */
static __always_inline u64 parked_wait_ns(const struct task_struct *p, struct task_live *t,
					  u64 parked, u64 now)
{
	if (!has_quota(p, t))
		return 0;
	return wp_live_parked_ns(&cgroups, &t->member, waited_ns(p), parked, now);
}

/* A task is about to be queued. True: it is parked instead. Nothing is where the CPU is on its way
 * out: nobody would look at it there. */
static __always_inline bool park(struct task_struct *p, struct task_live *t, u32 cpu,
				 u64 enq_flags, u64 now)
{
	u64 wait;

	if (!WP_AT(ctx.cpus, cpu)->queue.online ||
	    !WP_AT(ctx.cpus, bpf_get_smp_processor_id())->queue.online)
		return false;
	wait = parked_wait_ns(p, t, 0, now);
	if (!wait)
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
	u64 wait;

	if (t->carried || cpu_of(p) != cpu)
		return false;
	wait = parked_wait_ns(p, t, 0, now);
	if (!wait)
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
		wait = parked_wait_ns(p, t, wp_sub(now, t->parked_ns), now);
		if (wait) {
			next = next ? wp_min64(next, wait) : wait;
			continue;
		}
		carry_out_freq(cpu, arrive(p, t, cpu, now));
		wp_live_queue_place(&ctx, &t->wp, cpu, now);
		scx_bpf_dsq_move_set_vtime(BPF_FOR_EACH_ITER, t->wp.deadline_ns);
		scx_bpf_dsq_move_vtime(BPF_FOR_EACH_ITER, p, dsq_of(cpu), 0);
	}
	if (nr_queued(parked_on(cpu)))
		arm_unpark(cpu, next ? next : LONGEST_UNPARK_TIMER_NS, now);
	return 0;
}

/* The task is about to return to user space: is it held back there? */
static int returned(struct bpf_map *map, void *key, void *value)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct task_live *t = live_of(p);
	u32 here = bpf_get_smp_processor_id();

	if (t && t->known && has_quota(p, t) && WP_AT(ctx.cpus, here)->queue.online &&
	    wp_live_member_stop(&cgroups, &t->member, 1, now_ns()) == WP_STOP_NOW)
		kick(here, SCX_KICK_PREEMPT);
	return 0;
}

/* It is looked at again as it returns to user space. Without room for that a tick does it. */
static __always_inline void ask_return(struct task_struct *p)
{
	struct return_work none = {}, *at;
	u32 task = (u32)p->pid;

	at = bpf_map_lookup_elem(&return_works, &task);
	if (!at) {
		bpf_map_update_elem(&return_works, &task, &none, BPF_NOEXIST);
		at = bpf_map_lookup_elem(&return_works, &task);
	}
	if (at)
		at_next_return(p, &at->work, &return_works, returned);
}

/* The running task is looked at; `outside`: it is in user space. True: it is held back at once. */
static __always_inline bool held_back(struct task_struct *p, struct task_live *t, bool outside,
				      u64 now)
{
	int stop;

	if (!has_quota(p, t))
		return false;
	stop = wp_live_member_stop(&cgroups, &t->member, outside, now);
	if (stop == WP_STOP_AT_RETURN)
		ask_return(p);
	return stop == WP_STOP_NOW;
}

#endif
