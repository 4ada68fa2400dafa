/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The queues: one dispatch queue per CPU, ordered by the virtual deadlines that the core keeps. A
 * task waits in the queue of the CPU it was placed on; a CPU that runs out of work takes the first
 * of its own queue that is eligible, then what the core lets it pull.
 *
 * What must stay: the calls of the core and their order are those of
 * crates/engine/src/kernel/model/home/live.rs: change both.
 *
 * Tests by part: all steps of guest.sh (wakeplace_enqueue, queue_task, wakeplace_dispatch,
 * take_next, take_next_once, wakeplace_running, wakeplace_stopping, wakeplace_tick, go_on,
 * is_queued), long-wait (take_overdue), small-quota (may_go_on), affinity-storm (take_wish),
 * displaced (wakeplace_cpu_release), inside (the quota in wakeplace_tick), `cargo xtask live-waits`
 * (preempts, arm_if_waiting). parity/glue.rs has `pushes` (push_wanted, drop_push, take_wish),
 * `overdue` (take_overdue), `ticks` (may_go_on, wakeplace_tick), `preempting` and `the_next`
 * (queue_task), `dispatching` (wakeplace_dispatch), `yields` (wakeplace_yield) and `pressure`
 * (note_pressure). The kernel calls what begins with wakeplace_.
 *
 * Kernel: ops enqueue(), dispatch(), yield(), running(), stopping(), cpu_release(), tick(),
 *         kernel/sched/ext.c
 * Rule: docs/rules/live-queue.md
 * Tests: scripts/live/guest.sh, crates/scx/tests/parity
 * Covers: guest.sh under load: no task is lost or waits 30 s, and long-wait: one that is owed
 *         little runs; parity compares the core's functions that this file calls with the native
 *         build; its glue.rs runs some of this file on a kernel of one thread.
 * Untried: how long a push takes (docs/rules/live-queue.md#vq-push).
 */
#ifndef SCX_WAKEPLACE_QUEUE_H
#define SCX_WAKEPLACE_QUEUE_H

/* Does this one, which is about to join those that wait on `cpu`, run at once? */
static __always_inline bool preempts(u32 cpu, struct task_live *t, u64 now)
{
	struct wp_queue_walk walk = { .now_ns = now, .cpu = cpu };
	struct task_struct *p;

	if (!wp_preempt_begin(&ctx, &walk, &t->wp))
		return false;
	bpf_for_each(scx_dsq, p, dsq_of(cpu), 0) {
		struct task_live *other = live_of(p);

		/* one that is being pulled has not got this queue's times yet */
		if (other && !other->carried &&
		    wp_preempt_offer(&ctx, &walk, &other->wp) == WP_OFFER_STOP)
			break;
	}
	return wp_preempt_end(&walk);
}

/*
 * Insert in the order of deadlines, and see to it that the CPU notices. A task that is the next in
 * any case goes to the CPU's local queue: the kernel serves that first and asks nobody.
 */
static __always_inline void queue_task(struct task_struct *p, struct task_live *t, u32 cpu,
				       u64 enq_flags, u64 now)
{
	struct wp_cpu *c = WP_AT(ctx.cpus, cpu);
	u64 slice = wp_live_queue_slice_ns(&ctx);
	u32 others = c->queue.nr_running - 2; /* beside it and the one that runs */

	if (!c->queue.online) { /* nobody looks at its queue any more */
		dsq_insert(p, SCX_DSQ_GLOBAL, slice, enq_flags);
		return;
	}
	wp_live_queue_place(&ctx, &t->wp, cpu, now);
	if (!WP_AT(ctx.cpus, bpf_get_smp_processor_id())->queue.online) { /* see kick() */
		dsq_insert(p, SCX_DSQ_LOCAL, slice, enq_flags);
		return;
	}
	if (preempts(cpu, t, now)) {
		WP_ADD(&stats_of(cpu)->preempted, 1);
		/* if one waits at the front already, the CPU asks which of the two is first */
		if (!wish_of(cpu)->lazy && !nr_queued(SCX_DSQ_LOCAL_ON | cpu)) {
			dsq_insert(p, SCX_DSQ_LOCAL, slice, enq_flags | SCX_ENQ_PREEMPT);
			return;
		}
		end_slice(cpu);
	} else if (wp_live_queue_is_next(&ctx, &t->wp, cpu, others)) {
		wish_of(cpu)->lone = 1;
		dsq_insert(p, SCX_DSQ_LOCAL, slice, enq_flags);
		arm_slice_end(cpu, now);
		return;
	}
	dsq_insert_vtime(p, dsq_of(cpu), slice, t->wp.deadline_ns, enq_flags);
	if (c->queue.curr_idle)
		kick(cpu, SCX_KICK_IDLE);
	else
		arm_slice_end(cpu, now);
}

/* No task is pushed: the one that was meant is gone, or the wish is too old. */
static __always_inline void drop_push(u32 cpu)
{
	struct cpu_wish *w = wish_of(cpu);
	u32 to = w->push_to;

	/* In this order: as soon as the core knows of the end, another CPU may write a new wish. */
	w->push_to = WP_NONE;
	wp_active_balance_end(&ctx, cpu, to, w->push_level, 0);
}

/*
 * Where the running task of `cpu` is to be pushed, WP_NONE: nowhere. A wish of two ticks ago is
 * dropped: the task that was meant has slept meanwhile (docs/rules/live-queue.md#vq-push).
 */
static __always_inline u32 push_wanted(u32 cpu)
{
	struct cpu_wish *w = wish_of(cpu);
	u32 to = w->push_to;

	if (to == WP_NONE || now_ns() < w->asked_ns + 2ull * ctx.tick_ns)
		return to;
	drop_push(cpu);
	return WP_NONE;
}

/*
 * A push or an exec wants the task, which was running until now, elsewhere: the CPU, or WP_NONE.
 * The wish is used up.
 */
static __always_inline u32 take_wish(struct task_struct *p, struct task_live *t, u32 cpu)
{
	struct cpu_wish *w = wish_of(cpu);
	u32 to = t->go_to, push = push_wanted(cpu);

	if (!t->was_running)
		return WP_NONE;
	t->was_running = 0;
	t->go_to = WP_NONE;
	if (push != WP_NONE) {
		bool can = usable(p, push);

		w->push_to = WP_NONE;
		wp_active_balance_end(&ctx, cpu, push, w->push_level, can);
		if (can) {
			stats_of(cpu)->pushed++;
			return push;
		}
	}
	return to != WP_NONE && usable(p, to) ? to : WP_NONE;
}

/* A task joins the queue of its CPU, unless a group's quota parks it or a push sends it on. */
OPS(enqueue) void wakeplace_enqueue(u64 *args)
{
	struct task_struct *p = ARG_TASK(args, 0);
	u64 flags = args[1];
	struct task_live *t = live_of(p);
	u32 cpu = cpu_of(p), to;
	u64 now = now_ns();

	if (!t) {
		dsq_insert(p, SCX_DSQ_GLOBAL, wp_live_queue_slice_ns(&ctx), flags);
		return;
	}
	if (cgroups.limited && park(p, t, cpu, flags, now))
		return;
	if (!(flags & SCX_ENQ_LAST))
		carry_out_freq(cpu, arrive(p, t, cpu, now));
	to = take_wish(p, t, cpu);
	if (to != WP_NONE && to != cpu) {
		wp_live_queue_place(&ctx, &t->wp, to, now);
		dsq_insert(p, SCX_DSQ_LOCAL_ON | to, wp_live_queue_slice_ns(&ctx), flags);
		return;
	}
	if (flags & SCX_ENQ_LAST) { /* nobody else wants this CPU: go on, by one more look */
		dsq_insert(p, SCX_DSQ_LOCAL, wp_live_queue_slice_ns(&ctx), flags);
		kick(cpu, 0);
		return;
	}
	queue_task(p, t, cpu, flags, now);
}

/* One look at those that wait, for the task that runs next. */
static __always_inline bool take_next_once(struct wp_queue_walk *walk)
{
	struct task_struct *p;
	bool taken = false;
	int offer;

	bpf_for_each(scx_dsq, p, dsq_of(walk->cpu), 0) {
		struct task_live *t = live_of(p);

		if (t && cgroups.limited &&
		    park_waiting(BPF_FOR_EACH_ITER, p, t, walk->cpu, walk->now_ns))
			continue;
		offer = t ? wp_pick_offer(&ctx, walk, &t->wp) : WP_OFFER_TAKE;
		if (offer == WP_OFFER_SKIP)
			continue;
		if (offer == WP_OFFER_TAKE)
			taken = scx_bpf_dsq_move(BPF_FOR_EACH_ITER, p, SCX_DSQ_LOCAL, 0);
		break;
	}
	return taken;
}

/*
 * The waiting task that runs next goes to the local queue. False: if (`runs`) the own task goes on;
 * else nobody is to be taken before the first. A frame of its own on the stack: pulling, which the
 * same program does, goes deep.
 */
static __noinline bool take_next(u32 cpu, bool runs, u32 waiting)
{
	struct wp_queue_walk walk = { .now_ns = now_ns(), .cpu = cpu, .runs = runs };
	bool taken = false;
	u32 i;

	bpf_for(i, 0, WP_LIVE_QUEUE_SLEEPERS + 1) {
		if (!wp_pick_begin(&ctx, &walk, waiting))
			break;
		taken = take_next_once(&walk);
		if (taken || !wp_pick_end(&ctx, &walk))
			break;
	}
	return taken;
}

/* So often, at ticks, all that wait are looked at for tasks that have waited too long. */
#define OVERDUE_LOOK_NS 1000000000ull

/* Who has waited too long runs next. True: there is somebody. A look at all that wait, once a
 * second: they are the last of the queue, but not the very last. */
static __noinline bool take_overdue(u32 cpu)
{
	struct task_struct *p;
	struct task_live *t;
	bool taken = false;
	u64 now = now_ns(), waited;

	wish_of(cpu)->overdue = 0;
	bpf_for_each(scx_dsq, p, dsq_of(cpu), 0) {
		waited = waited_ns(p);
		if (!wp_live_overdue(waited))
			continue;
		t = live_of(p);
		if (t && has_quota(p, t)) /* a turn, if it needs one */
			wp_live_parked_ns(&cgroups, &t->member, waited, 0, now);
		if (scx_bpf_dsq_move(BPF_FOR_EACH_ITER, p, SCX_DSQ_LOCAL, 0))
			taken = true;
	}
	return taken;
}

/* Somebody waits while a task runs: the timer ends its slice. */
static __always_inline void arm_if_waiting(u32 cpu, u64 now)
{
	if (WP_AT(ctx.cpus, cpu)->queue.nr_running > 1 && nr_waiting(cpu))
		arm_slice_end(cpu, now);
}

/* May the previous task go on, or is it wanted elsewhere, or its group's quota used up? A push that
 * it cannot follow is dropped: it would only give the CPU to whoever waits, due or not. */
static __always_inline bool may_go_on(struct task_struct *prev, u32 cpu)
{
	struct task_live *t = live_of(prev);
	u32 push = push_wanted(cpu);

	wish_of(cpu)->end_at_tick = 0;
	if (t && cgroups.limited) {
		account_run(t, cpu, now_ns());
		if (quota_wait_ns(prev, t, now_ns()))
			return false;
	}
	if (push != WP_NONE) {
		if (usable(prev, push))
			return false;
		drop_push(cpu);
	}
	if (t && t->go_to != WP_NONE)
		return false;
	if (t)
		t->member.outside = 0; /* it may enter the kernel as it goes on */
	return true;
}

/* Does the kernel have it on a run queue of our class? */
static __always_inline bool is_queued(const struct task_struct *p)
{
	return p && (p->scx.flags & SCX_TASK_QUEUED);
}

/* It does, since nobody is due before it: its next slice begins. */
static __always_inline void go_on(struct task_struct *prev, u32 cpu)
{
	struct task_live *t = cgroups.uneven ? live_of(prev) : 0;
	u64 now = now_ns();

	wp_live_queue_go_on(&ctx, cpu, now);
	if (t && weigh(t, now))
		wp_live_queue_start(&ctx, &t->wp, cpu, now);
	begin_slice(prev, cpu, true);
	arm_if_waiting(cpu, now);
}

/* The CPU looks for work: balancing that is due, whom it runs next, then a pull. */
OPS(dispatch) void wakeplace_dispatch(u64 *args)
{
	u32 cpu = (u32)(s32)args[0];
	struct task_struct *prev = ARG_TASK(args, 1);
	bool goes_on, stays, taken;
	u32 waiting, idle = WP_AT(ctx.cpus, cpu)->queue.curr_idle;

	if (wish_of(cpu)->balance) {
		wish_of(cpu)->balance = 0;
		if (idle || is_queued(prev)) /* else the next tick asks anew (wakeplace_tick) */
			periodic_balance(cpu, idle ? WP_CPU_IDLE : WP_CPU_NOT_IDLE);
	}
	goes_on = is_queued(prev); /* a pass gives the lock away: it may have left our class */
	if (wish_of(cpu)->unpark)
		unpark(cpu);
	if (wish_of(cpu)->overdue && take_overdue(cpu))
		return;
	/* who waits here is counted (arrive): without anybody the kernel need not find the queue */
	waiting = WP_AT(ctx.cpus, cpu)->queue.nr_running ? nr_queued(dsq_of(cpu)) : 0;
	stays = goes_on && may_go_on(prev, cpu);
	/* if one task waits and no task goes on, there is no choice: the waiting task runs */
	taken = waiting > !stays && (stays || !goes_on || cgroups.limited) &&
		take_next(cpu, stays, waiting);
	if (stays && !taken) {
		go_on(prev, cpu);
		return;
	}
	if (goes_on ? nr_queued(SCX_DSQ_LOCAL) > 0 : taken)
		return;
	wish_of(cpu)->lone = !goes_on && waiting == 1;
	if (waiting && dsq_move_to_local(dsq_of(cpu)))
		return;
	/* A task that goes on here is alone, and not to go on: enqueue sends it where it is wanted,
	 * or parks it. The kernel does not ask that of one that exits or may not migrate. It leaves
	 * that one in the local queue, and idles if nobody makes it look. */
	if (goes_on) {
		kick(cpu, 0);
		return;
	}
	if (newidle_balance(cpu))
		dsq_move_to_local(dsq_of(cpu));
}

/* sched_yield: nothing if nobody waits. A task to go on instead cannot be named. */
OPS(yield) bool wakeplace_yield(u64 *args)
{
	struct task_struct *p = ARG_TASK(args, 0);
	u32 cpu = cpu_of(p);

	if (!args[1] && wp_yield_task(&ctx, cpu, nr_waiting(cpu) > 0, now_ns()))
		task_set_slice(p, 0);
	return false;
}

/* A task begins to run: signals, slice, and the timer that ends it. */
OPS(running) void wakeplace_running(u64 *args)
{
	struct task_struct *p = ARG_TASK(args, 0);
	struct task_live *t = live_of(p);
	u32 cpu = cpu_of(p);
	struct cpu_stats *st = stats_of(cpu);
	struct cpu_wish *w = wish_of(cpu);
	u64 now = now_ns();
	int did;

	if (!t)
		return;
	fresh_cpu(cpu);
	did = arrive(p, t, cpu, now);
	carry_out_freq(cpu, did | wp_set_next_task_fair(&ctx, &t->wp, now));
	if (w->lone) {
		w->lone = 0;
		wp_pick_lone(&ctx, &t->wp, cpu, now);
	}
	weigh(t, now);
	wp_live_queue_start(&ctx, &t->wp, cpu, now);
	begin_slice(p, cpu, false);
	wake_leaving(now);
	arm_if_waiting(cpu, now);
	t->accounted_ns = now;
	t->was_running = 0;
	t->member.outside = 0;
	held_back(p, t, false, now); /* it comes to its return, if the quota is used up */
	st->switches++;
	if (t->runnable_ns) {
		(*WP_AT(st->latency, wp_time_bucket(wp_sub(now, t->runnable_ns))))++;
		t->runnable_ns = 0;
	}
}

/* It stops; `runnable`: it waits again, and `enqueue` follows. */
OPS(stopping) void wakeplace_stopping(u64 *args)
{
	struct task_struct *p = ARG_TASK(args, 0);
	bool runnable = args[1];
	struct task_live *t = live_of(p);
	u32 cpu = cpu_of(p);
	u64 now = now_ns();

	if (!t || !t->wp.running)
		return;
	account_run(t, cpu, now);
	wp_live_queue_stop(&ctx, &t->wp, now);
	if (!runnable) {
		depart(p, t, cpu, now);
		return;
	}
	t->was_running = 1;
	carry_out_freq(cpu, wp_put_prev_task_fair(&ctx, &t->wp, now));
}

/*
 * What other classes and limits take of this CPU. Signals of other classes stand still where nobody
 * updates them.
 */
static __always_inline void note_pressure(u32 cpu, u64 now)
{
	const struct rq *rq = bpf_per_cpu_ptr(&runqueues, cpu);
	struct wp_cpu *c = WP_AT(ctx.cpus, cpu);
	const unsigned long *limits = 0;
	u64 pelt;

	if (&cpufreq_pressure)
		limits = bpf_per_cpu_ptr(&cpufreq_pressure, cpu);
	if (!rq)
		return;
	pelt = rq->clock_pelt - rq->lost_idle_time;
	c->load.rt_util =
		wp_decayed_util((u32)rq->avg_rt.util_avg, rq->avg_rt.last_update_time, pelt);
	c->load.dl_util =
		wp_decayed_util((u32)rq->avg_dl.util_avg, rq->avg_dl.last_update_time, pelt);
	if (bpf_core_field_exists(rq->avg_irq))
		c->load.irq_util = wp_decayed_util((u32)rq->avg_irq.util_avg,
					      rq->avg_irq.last_update_time, now);
	c->load.pressure = wp_capacity_pressure(
		bpf_core_field_exists(rq->avg_hw) ? (u32)rq->avg_hw.load_avg : 0,
		limits ? (u32)*limits : 0);
}

/*
 * A task of a higher class takes the CPU, nobody knows for how long. What waits in its local queue,
 * where nobody else can take it from, is queued again where others can.
 */
OPS(cpu_release) void wakeplace_cpu_release(u64 *args)
{
	scx_bpf_reenqueue_local();
}

/* A tick of the running task: signals, balancing that is due, the end of its slice. */
OPS(tick) void wakeplace_tick(u64 *args)
{
	struct task_struct *p = ARG_TASK(args, 0);
	struct task_live *t = live_of(p);
	u32 cpu = cpu_of(p);
	struct cpu_wish *w = wish_of(cpu);
	u64 now = now_ns();
	bool outside;
	u32 waiting;
	int did;

	if (!t)
		return;
	outside = note_user_time(t, p);
	if (!t->wp.running)
		return;
	fresh_cpu(cpu);
	note_pressure(cpu, now);
	did = wp_task_tick_fair(&ctx, &t->wp, now);
	carry_out_freq(cpu, w->freq ? did | WP_DID_FREQ : did);
	if (did & WP_DID_BALANCE) {
		w->balance = 1;
		/* at once, as the kernel: as a task leaves it would find this CPU less busy than
		 * it is, and pull what others are about to run */
		if (!w->lazy)
			kick(cpu, SCX_KICK_PREEMPT);
	}
	if (did & WP_DID_END_REST)
		end_rest();
	account_run(t, cpu, now);
	waiting = nr_waiting(cpu);
	if (waiting && now >= w->looked_ns + OVERDUE_LOOK_NS) {
		w->looked_ns = now;
		w->overdue = 1;
	}
	if (held_back(p, t, outside, now)) {
		/* as this tick ends: where it is now, not where a kick finds it */
		task_set_slice(p, 0);
		return;
	}
	if (w->end_at_tick) {
		kick(cpu, SCX_KICK_PREEMPT);
		return;
	}
	if (wp_live_queue_expired(&ctx, cpu, waiting, now))
		end_slice(cpu);
	if (w->lazy && waiting) /* while it was alone the kernel's count ran on, not the core's */
		task_set_slice(p, 2ull * ctx.tick_ns);
}

#endif
