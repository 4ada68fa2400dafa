/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Questions to the core: where does a task go that wakes, was forked, or execs?
 *
 * What must stay: the core decides, the kernel's mask has the last word; bounds of loops, which the
 * verifier counts (`what_the_verifier_processes_stays_below_its_ceilings`).
 *
 * Tests by part: guest.sh placement (wakeplace_select_cpu, decide, fill_waker), affinity-storm
 * (usable), hackbench and ping-pong (take_claimed). parity/glue.rs has `at_once` (take_claimed, and
 * what follows if the kernel gives its task back), `usable`, `wakes` (wakeplace_select_cpu,
 * count_reason), `woken_sync` (wakeplace_wake_up) and `execs` (wakeplace_exec). The kernel calls
 * what begins with wakeplace_.
 *
 * Kernel: ops select_cpu(), kernel/sched/ext.c; try_to_wake_up(), kernel/sched/core.c
 * Rule: docs/rules/wake-ups.md
 * Tests: scripts/live/guest.sh, crates/scx/tests/parity
 * Covers: guest.sh placement: heavy tasks get to big CPUs; affinity-storm: no CPU is chosen that a
 *         mask forbids (the kernel would end the scheduler); parity compares the core's functions
 *         that this file calls with the native build; its glue.rs runs some of this file on a
 *         kernel of one thread.
 */
#ifndef SCX_WAKEPLACE_PLACE_H
#define SCX_WAKEPLACE_PLACE_H

/* Who wakes: the current task, or the idle task where an interrupt came upon an idle CPU. A task
 * of another class has no record here; the CPU's own stands for it. */
static __always_inline struct wp_waker *fill_waker(struct wp_request *req)
{
	struct task_struct *waker = bpf_get_current_task_btf();
	struct task_live *w = live_of(waker);

	req->waker_load = 0;
	req->waker_idle = !!(waker->flags & PF_IDLE);
	req->waker_kthread = (waker->flags & PF_KTHREAD) && waker->nr_cpus_allowed == 1;
	if (!w || req->waker_idle)
		return &WP_AT(ctx.cpus, req->this_cpu)->idle.idle_waker;
	req->waker_load = w->wp.avg.load_avg;
	return &w->wp.waker;
}

/* Asks the core. The answer is in the scratch's decision. */
static __always_inline u32 decide(struct scratch *s, struct task_live *t, u32 kind, u32 prev,
				  bool sync)
{
	struct wp_request *req = &s->request;
	struct wp_waker *waker;

	req->now_ns = now_ns();
	req->kind = kind;
	req->this_cpu = bpf_get_smp_processor_id();
	req->prev_cpu = prev;
	req->sync = sync;
	waker = fill_waker(req);
	if (kind == WP_PLACE_EXEC)
		wp_select_task_rq_exec(&ctx, &t->wp, waker, req, &s->decision);
	else
		wp_select_task_rq_fair(&ctx, &t->wp, waker, req, &s->decision);
	return s->decision.cpu;
}

/* What was decided last is the answer: it counts. */
static __always_inline void count_reason(struct cpu_stats *st, const struct scratch *s)
{
	(*WP_AT(st->reason, s->decision.reason))++;
}

/*
 * The home's own check: the kernel's mask and CPUs are the last word. A task that has disabled its
 * migration stays, and the kernel narrows its mask only after it has been put aside. The disabling
 * of a program that looks at its own task does not count.
 */
static __always_inline bool usable(const struct task_struct *p, u32 cpu)
{
	u32 pinned = p->migration_disabled;

	if (pinned > 1 || (pinned && p != bpf_get_current_task_btf()))
		return false;
	return cpu < ctx.nr_cpus && WP_AT(ctx.cpus, cpu)->queue.online &&
	       bpf_cpumask_test_cpu(cpu, p->cpus_ptr);
}

/*
 * The idle CPU is this task's. If a task of a higher class comes to that CPU first, or another one
 * is in its local queue, this one comes back to enqueue, and waits where others can take it (from
 * 7.1 on: at_once). A frame of its own on the stack: decisions go deep.
 */
static __noinline int take_claimed(struct task_struct *p, struct task_live *t, u32 cpu, u64 now)
{
	WP_AT(ctx.cpus, cpu)->queue.pending = 1;
	wp_live_queue_place(&ctx, &t->wp, cpu, now);
	t->runnable_ns = now;
	dsq_insert(p, SCX_DSQ_LOCAL, wp_live_queue_slice_ns(&ctx), at_once());
	return 0;
}

/*
 * A wake-up or a fork: the answer is the core's if the kernel's mask allows it. An idle CPU that is
 * chosen is claimed, and the task goes to its local queue.
 */
OPS(select_cpu) s32 wakeplace_select_cpu(u64 *args)
{
	struct task_struct *p = ARG_TASK(args, 0);
	s32 prev = (s32)args[1];
	u64 flags = args[2];
	struct task_live *t = live_of(p);
	struct scratch *s = scratch(SCRATCH_CALLBACK);
	u32 kind = flags & SCX_WAKE_FORK ? WP_PLACE_FORK : WP_PLACE_WAKE;
	u32 here = bpf_get_smp_processor_id(), cpu, try;
	struct cpu_stats *st = stats_of(here);

	if (!t || !s)
		return prev;
	if (cgroups.limited && quota_wait_ns(p, t, now_ns())) /* enqueue parks it */
		return prev;
	note_clamps(t, p);
	t->clamped = 1;
	if (kind == WP_PLACE_FORK)
		st->forks++;
	else
		st->wakeups++;
	/* Twice: an idle CPU that another waker claimed meanwhile is not idle the second time. */
	for (try = 0; try < 2; try++) {
		cpu = decide(s, t, kind, (u32)prev, flags & SCX_WAKE_SYNC);
		if (!usable(p, cpu)) {
			count_reason(st, s);
			st->refused++;
			return prev;
		}
		if (!wp_idle_cpu(&ctx, cpu))
			break;
		if (scx_bpf_test_and_clear_cpu_idle((s32)cpu)) {
			take_claimed(p, t, cpu, s->request.now_ns);
			st->direct++;
			break;
		}
		WP_AT(ctx.cpus, cpu)->queue.pending = 1;
	}
	count_reason(st, s);
	WP_ADD(&stats_of(cpu)->placed, 1);
	return (s32)cpu;
}

/*
 * Does the waker say that it will sleep? The kernel tells select_cpu, which it does not ask for a
 * task that has one CPU. So its flag is read where every wake-up begins, while there are such tasks
 * (bound_tasks).
 */
SEC("fentry/try_to_wake_up") int wakeplace_wake_up(u64 *args)
{
	struct task_struct *p = ARG_TASK(args, 0);
	struct task_live *t;

	if (!(args[2] & SCX_WAKE_SYNC) || p->nr_cpus_allowed != 1)
		return 0;
	t = live_of(p);
	if (t)
		t->wp.woken_sync = 1;
	return 0;
}

/*
 * An exec is a good moment to move: nothing of the task is in a cache. sched_ext does not ask, so
 * the choice is taken here and carried out when the task next passes through enqueue.
 */
SEC("tp_btf/sched_process_exec") int wakeplace_exec(u64 *args)
{
	struct task_struct *p = ARG_TASK(args, 0);
	struct task_live *t = live_of(p);
	u32 here = bpf_get_smp_processor_id(), cpu;
	struct scratch *s = scratch(SCRATCH_EXEC);
	struct cpu_stats *st = stats_of(here);

	if (!t || !s || !t->known || p->nr_cpus_allowed == 1)
		return 0;
	st->execs++;
	cpu = decide(s, t, WP_PLACE_EXEC, here, false);
	count_reason(st, s);
	if (cpu != here && !usable(p, cpu)) {
		st->refused++;
		return 0;
	}
	WP_ADD(&stats_of(cpu)->placed, 1);
	if (cpu == here)
		return 0;
	t->go_to = cpu;
	kick(here, SCX_KICK_PREEMPT);
	return 0;
}

#endif
