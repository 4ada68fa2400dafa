/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cases of glue.c: a CPU looks for work (queue.bpf.h, pull.bpf.h), ends slices (slice.bpf.h),
 * idles, comes and goes (machine.bpf.h, state.bpf.h).
 *
 * What must stay: what a case expects is the rule's number or is counted by hand.
 *
 * Tests: crates/scx/tests/parity/glue.rs
 */
#ifndef GLUE_CPUS_H
#define GLUE_CPUS_H

/* A CPU on which nobody is counted asks for no queue's length; the only one that waits is next. */
static void dispatching(void)
{
	struct fake *f = &fake.tasks[0];
	u64 args[2] = { 0, 0 };

	wakeplace_dispatch(args);
	EXPECT(fake.lengths == 0);
	enqueue(f, 0);
	fake.lengths = 0;
	wakeplace_dispatch(args);
	EXPECT(fake.lengths == 1 && f->queue == SCX_DSQ_LOCAL && wish[0].lone);
}

/* A task that is taken to run at once is counted where it runs, unless it has left meanwhile. */
static void taking(void)
{
	struct fake *f = &fake.tasks[0];
	struct bpf_iter_scx_dsq it;

	enqueue(f, 1);
	EXPECT(ctx.cpus[1].queue.nr_running == 1);
	bpf_iter_scx_dsq_new(&it, dsq_of(1), 0);
	fake.fails = 1;
	EXPECT(!take_to_run(&it, &f->task, &f->live, 0, fake.now));
	EXPECT(ctx.cpus[1].queue.nr_running == 1 && stats[0].pulled == 0);
	EXPECT(take_to_run(&it, &f->task, &f->live, 0, fake.now));
	EXPECT(ctx.cpus[1].queue.nr_running == 0 && ctx.cpus[0].queue.nr_running == 1);
	EXPECT(f->queue == SCX_DSQ_LOCAL && f->live.wp.cpu == 0 && stats[0].pulled == 1);
	EXPECT(ctx.cpus[1].live.vq_load == 0 && ctx.cpus[0].live.vq_load == 1024);
}

/* The taker says where, from which level and when, and makes the other CPU look. */
static void asking_for_a_push(void)
{
	struct wp_lb_env bal = { .now_ns = fake.now, .this_cpu = 0, .src_cpu = 1, .level = 2 };

	ask_push(&bal);
	EXPECT(wish[1].push_to == 0 && wish[1].push_level == 2 && wish[1].asked_ns == fake.now);
	EXPECT(fake.kicks[1] == 1 && fake.kick_flags == SCX_KICK_PREEMPT && !fake.kicks[0]);
}

/* Who is alone gives up nothing; nor does one that names another task. */
static void yields(void)
{
	struct fake *f = &fake.tasks[0];
	u64 args[2] = { (u64)&f->task, 0 };

	enqueue(f, 0);
	run(f, 0);
	fake.slice = 7;
	wakeplace_yield(args);
	EXPECT(fake.slice == 7);
	enqueue(&fake.tasks[1], 0);
	args[1] = (u64)&fake.tasks[1].task;
	wakeplace_yield(args);
	EXPECT(fake.slice == 7);
	args[1] = 0;
	wakeplace_yield(args);
	EXPECT(fake.slice == 0);
}

/* A thread of the kernel is preempted by a tick where the kernel preempts lazily: the kernel's own
 * count of its slice of 3 ms is two ticks longer. */
static void lazy_slices(void)
{
	struct fake *f = &fake.tasks[0];

	lazy_preemption = 1;
	f->task.flags = PF_KTHREAD;
	begin_slice(&f->task, 0, false);
	EXPECT(wish[0].lazy && fake.slice == 3 * MS + 2 * TICK_NS);
	end_slice(0);
	EXPECT(wish[0].end_at_tick && !fake.kicks[0]);
	begin_slice(&f->task, 0, true); /* it goes on: the wish stays */
	EXPECT(wish[0].end_at_tick);
	f->task.flags = 0;
	fake.slice = 7;
	begin_slice(&f->task, 0, false); /* the kernel has given it its slice */
	EXPECT(!wish[0].lazy && !wish[0].end_at_tick && fake.slice == 7);
	end_slice(0);
	EXPECT(fake.kicks[0] == 1 && fake.kick_flags == SCX_KICK_PREEMPT);
	begin_slice(&f->task, 0, true);
	EXPECT(fake.slice == 3 * MS);
}

/* The timer is armed when somebody joins a running task, whose first slice is half of 3 ms. It
 * looks how much is left, and ends the slice when it is over; not if nobody waits any more. */
static void slice_ends(void)
{
	struct fake *f = &fake.tasks[0], *other = &fake.tasks[1];
	struct slice_timer *s = &fake.slice_timer[0];
	u32 cpu = 0;

	ctx.params.hrtick = WP_HRTICK_ON;
	enqueue(f, 0);
	run(f, 0);
	EXPECT(!fake.started);
	enqueue(other, 0);
	EXPECT(other->queue == dsq_of(0) && fake.started == 1 && fake.started_ns == 1500000);
	pass(750000);
	slice_end(0, &cpu, s);
	EXPECT(fake.started == 2 && fake.started_ns == 750000 && !fake.kicks[0]);
	pass(750000);
	slice_end(0, &cpu, s);
	EXPECT(fake.started == 2 && fake.kicks[0] == 1 && !s->armed_ns);
	other->waits = 0;
	slice_end(0, &cpu, s);
	EXPECT(fake.started == 2 && fake.kicks[0] == 1);
}

/* For a second a CPU on its way out is woken whenever a task begins to run; longer while tasks wait
 * there. */
static void leaving_cpu(void)
{
	wake_leaving(fake.now);
	EXPECT(!fake.kicks[1]);
	leaving = 1 + 1;
	hotplug_ns = fake.now;
	fake.rq[1].nr_running = 1;
	pass(S - 1);
	wake_leaving(fake.now);
	EXPECT(fake.kicks[1] == 1 && hotplug_ns == fake.now);
	fake.rq[1].nr_running = 0;
	pass(S - 1);
	wake_leaving(fake.now);
	EXPECT(fake.kicks[1] == 2);
	pass(1);
	wake_leaving(fake.now);
	EXPECT(fake.kicks[1] == 2);
}

/* A request waits where the run queue's clock is not up to date: two is the kernel's least flag of
 * one that is. */
static void frequency(void)
{
	carry_out_freq(0, 0);
	EXPECT(!wish[0].freq && !fake.perf_asked);
	carry_out_freq(0, WP_DID_FREQ);
	EXPECT(wish[0].freq && !fake.perf_asked);
	fake.rq[0].clock_update_flags = 2;
	carry_out_freq(0, WP_DID_FREQ);
	EXPECT(!wish[0].freq && fake.perf_asked == 1);
}

/* A CPU that idles with tasks in its queue is reminded twice; then they go to whoever looks first.
 * Those of a CPU that is gone go at once, parked ones too. */
static void rescue(void)
{
	struct fake *f = &fake.tasks[0], *other = &fake.tasks[1];
	struct wp_cpu *c = &ctx.cpus[1];

	EXPECT(!rescue_queue(1, c, 0));
	enqueue(f, 1);
	EXPECT(rescue_queue(1, c, 0) && rescue_queue(1, c, 0));
	EXPECT(fake.kicks[1] == 2 && fake.kick_flags == SCX_KICK_IDLE && f->queue == dsq_of(1));
	EXPECT(rescue_queue(1, c, 0) && f->queue == SCX_DSQ_GLOBAL && fake.kicks[0] == 1);
	EXPECT(!rescue_queue(1, c, 0) && !wish[1].stranded);
	put(&f->task, dsq_of(1), 1);
	put(&other->task, parked_on(1), 0);
	c->queue.online = 0;
	EXPECT(rescue_queue(1, c, 0) && fake.kicks[1] == 2 && fake.kicks[0] == 2);
	EXPECT(f->queue == SCX_DSQ_GLOBAL && other->queue == SCX_DSQ_GLOBAL);
	enqueue(&fake.tasks[2], 1); /* nobody looks at its queue any more */
	EXPECT(fake.tasks[2].queue == SCX_DSQ_GLOBAL);
}

/* Idle is told once, and ends a claim and a push that is wanted. */
static void idles(void)
{
	struct wp_cpu *c = &ctx.cpus[1];
	u64 args[2] = { 1, 1 };

	c->queue.pending = 1;
	wish[1].push_to = 0;
	wakeplace_update_idle(args);
	EXPECT(c->queue.curr_idle && !c->queue.pending && c->idle.idle_calls == 1);
	EXPECT(wish[1].push_to == WP_NONE);
	wakeplace_update_idle(args);
	EXPECT(c->queue.curr_idle && c->idle.idle_calls == 1);
	args[1] = 0;
	wakeplace_update_idle(args);
	EXPECT(!c->queue.curr_idle);
}

/* Other classes' signals, which stand still, are taken at their age: none yet, so that 100 is 100
 * times the table's 2^32 - 1 for no period, by 2^32: 99. */
static void pressure(void)
{
	fake.rq[1].clock_pelt = S;
	fake.rq[1].avg_rt.util_avg = fake.rq[1].avg_dl.util_avg = 100;
	fake.rq[1].avg_rt.last_update_time = S;
	fake.rq[1].avg_hw.load_avg = 40;
	note_pressure(1, fake.now);
	EXPECT(ctx.cpus[1].load.rt_util == 99 && ctx.cpus[1].load.pressure == 40);
	EXPECT(ctx.cpus[1].load.dl_util == 0 && ctx.cpus[0].load.rt_util == 0);
}

#endif
