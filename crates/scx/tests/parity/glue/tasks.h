/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cases of glue.c: a task wakes, sleeps, changes (place.bpf.h, task.bpf.h), and joins a queue
 * (queue.bpf.h).
 *
 * What must stay: what a case expects is the rule's number or is counted by hand.
 *
 * Tests: crates/scx/tests/parity/glue.rs
 */
#ifndef GLUE_TASKS_H
#define GLUE_TASKS_H

static void enqueue(struct fake *f, u32 cpu)
{
	u64 args[2] = { (u64)&f->task, SCX_ENQ_WAKEUP };

	f->task.thread_info.cpu = cpu;
	wakeplace_enqueue(args);
}

static void run(struct fake *f, u32 cpu)
{
	u64 args[1] = { (u64)&f->task };

	f->task.thread_info.cpu = cpu;
	f->waits = 0;
	wakeplace_running(args);
}

static u64 sum(const u64 *buckets)
{
	u64 total = 0;
	u32 i;

	for (i = 0; i < TIME_BUCKETS; i++)
		total += buckets[i];
	return total;
}

/* A wake-up is counted when it runs, a section when it sleeps. One that is dequeued for a change is
 * in no queue either, but goes where an exec wanted it, and is not asleep. */
static void sleeps(void)
{
	struct fake *f = &fake.tasks[0];
	u64 leaves[2] = { (u64)&f->task, 0 };

	f->live.asleep = 1;
	enqueue(f, 0);
	pass(MS);
	run(f, 0);
	EXPECT(sum(stats[0].latency) == 1 && stats[0].switches == 1 && !f->live.asleep);
	pass(MS);
	f->task.__state = 1;
	f->live.go_to = 1;
	wakeplace_stopping(leaves);
	EXPECT(f->live.asleep && f->live.go_to == WP_NONE && !f->live.wp.on_rq);
	EXPECT(ctx.cpus[0].queue.nr_running == 0 && sum(stats[0].duration) == 1);
	EXPECT(stats[0].run_ns == MS);
	enqueue(f, 0);
	run(f, 0);
	f->task.__state = 0;
	f->live.go_to = 1;
	wakeplace_stopping(leaves);
	EXPECT(!f->live.asleep && f->live.go_to == 1 && !f->live.wp.on_rq);
	EXPECT(ctx.cpus[0].queue.nr_running == 0 && sum(stats[0].duration) == 1);
	wakeplace_stopping(leaves); /* it does not run: nothing is counted twice */
	EXPECT(ctx.cpus[0].queue.nr_running == 0);
}

/* Weights are those of the kernel's table: nice 5 is 335, SCHED_IDLE 3. A task that waits is
 * counted nowhere while it is changed, and once when it is queued again. */
static void weights(void)
{
	struct fake *f = &fake.tasks[0];
	u64 args[1] = { (u64)&f->task };

	enqueue(f, 0);
	EXPECT(f->live.wp.on_rq && ctx.cpus[0].queue.nr_running == 1);
	f->task.static_prio = DEFAULT_PRIO + 5;
	wakeplace_set_weight(args);
	EXPECT(f->live.wp.weight == 335 && f->live.member.own_weight == 335);
	EXPECT(!f->live.wp.on_rq && ctx.cpus[0].queue.nr_running == 0);
	EXPECT(ctx.cpus[0].live.vq_load == 0);
	enqueue(f, 0);
	EXPECT(ctx.cpus[0].queue.nr_running == 1 && ctx.cpus[0].live.vq_load == 335);
	f->task.policy = SCHED_IDLE;
	wakeplace_set_weight(args);
	EXPECT(f->live.wp.weight == 3 && f->live.wp.idle_policy && f->live.member.own_idle);
	f->task.policy = 0;
	wakeplace_enable(args);
	EXPECT(f->live.wp.weight == 335 && !f->live.wp.idle_policy);
}

/* Tasks of programs that have one CPU are counted, once each; threads of the kernel are not. */
static void bound(void)
{
	static const struct cpumask one = { { 2 } }, both = { { 3 } };
	struct fake *f = &fake.tasks[0];
	u64 to_one[2] = { (u64)&f->task, (u64)&one }, to_both[2] = { (u64)&f->task, (u64)&both };

	wakeplace_set_cpumask(to_one);
	EXPECT(f->live.wp.allowed[0] == 2 && f->live.wp.nr_allowed == 1 && bound_tasks == 1);
	wakeplace_set_cpumask(to_one);
	EXPECT(bound_tasks == 1);
	wakeplace_set_cpumask(to_both);
	EXPECT(f->live.wp.allowed[0] == 3 && f->live.wp.nr_allowed == 2 && bound_tasks == 0);
	f->task.flags = PF_KTHREAD;
	wakeplace_set_cpumask(to_one);
	EXPECT(bound_tasks == 0);
	f->task.flags = 0;
	wakeplace_set_cpumask(to_one);
	EXPECT(bound_tasks == 1);
	wakeplace_disable(to_one);
	EXPECT(bound_tasks == 0 && !f->live.known);
	wakeplace_set_cpumask(to_one);
	EXPECT(bound_tasks == 0); /* not of our class */
}

/* A task's hints are kept within its group's (docs/rules/capacity.md#uclamp-tg-restrict). */
static void hints(void)
{
	struct task_group group = { .uclamp = { { 200 }, { 600 } } };
	struct fake *f = &fake.tasks[0];

	f->task.sched_task_group = &group;
	f->task.uclamp_req[WP_UCLAMP_MIN].value = 700;
	f->task.uclamp_req[WP_UCLAMP_MAX].value = 800;
	note_clamps(&f->live, &f->task);
	EXPECT(f->live.wp.uclamp_min == 0 && f->live.wp.uclamp_max == 1024); /* hints are off */
	ctx.params.uclamp = 1;
	note_clamps(&f->live, &f->task);
	EXPECT(f->live.wp.uclamp_min == 700 && f->live.wp.uclamp_max == 800); /* in the root */
	f->live.member.group = 1;
	note_clamps(&f->live, &f->task);
	EXPECT(f->live.wp.uclamp_min == 600 && f->live.wp.uclamp_max == 600);
	f->task.uclamp_req[WP_UCLAMP_MIN].value = 0;
	f->task.uclamp_req[WP_UCLAMP_MAX].value = 1024;
	note_clamps(&f->live, &f->task);
	EXPECT(f->live.wp.uclamp_min == 200 && f->live.wp.uclamp_max == 600);
}

/* The kernel's mask, the CPUs that are online and a disabled migration have the last word. */
static void usable_cpus(void)
{
	static const struct cpumask one = { { 2 } };
	struct fake *f = &fake.tasks[0];

	EXPECT(usable(&f->task, 0) && usable(&f->task, 1) && !usable(&f->task, NR_CPUS));
	f->task.cpus_ptr = &one;
	EXPECT(!usable(&f->task, 0) && usable(&f->task, 1));
	ctx.cpus[1].queue.online = 0;
	EXPECT(!usable(&f->task, 1));
	ctx.cpus[1].queue.online = 1;
	f->task.migration_disabled = 1;
	EXPECT(!usable(&f->task, 1));
	fake.current = &f->task; /* a program that looks at its own task has disabled it */
	EXPECT(usable(&f->task, 1));
	f->task.migration_disabled = 2;
	EXPECT(!usable(&f->task, 1));
}

/* A wake-up to an idle CPU claims it, and runs there. If another waker was first, the CPU is not
 * idle when the core is asked again. What may not be carried out is refused. */
static void wakes(void)
{
	struct fake *f = &fake.tasks[0], *late = &fake.tasks[1];
	u64 args[3] = { (u64)&f->task, 1, 0 };

	ctx.cpus[1].queue.curr_idle = 1;
	fake.idle_cpus = 1u << 1;
	EXPECT(wakeplace_select_cpu(args) == 1);
	EXPECT(f->waits && f->queue == SCX_DSQ_LOCAL && !fake.idle_cpus);
	EXPECT(stats[0].wakeups == 1 && stats[0].direct == 1 && stats[1].placed == 1);
	EXPECT(stats[0].reason[WP_REASON_IDLE_TARGET] == 1);
	ctx.cpus[1].queue.pending = 0;
	args[0] = (u64)&late->task;
	EXPECT(wakeplace_select_cpu(args) == 1);
	EXPECT(!late->waits && ctx.cpus[1].queue.pending == 1 && stats[0].direct == 1);
	EXPECT(stats[0].reason[WP_REASON_TARGET_NO_LLC] == 1 && stats[1].placed == 2);
	late->task.migration_disabled = 2;
	EXPECT(wakeplace_select_cpu(args) == 1);
	EXPECT(stats[0].refused == 1 && stats[1].placed == 2);
	args[2] = SCX_WAKE_FORK;
	late->task.migration_disabled = 0;
	EXPECT(wakeplace_select_cpu(args) == 1 && stats[0].forks == 1 && stats[0].wakeups == 3);
}

/* A fork remembers what its parent does as a waker. Of an older task the fair class has the
 * signals, 1024 at most. */
static void comes(void)
{
	struct fake *f = &fake.tasks[0];
	struct scx_init_task_args with = { .fork = true };
	u64 args[2] = { (u64)&f->task, (u64)&with };

	f->task.static_prio = DEFAULT_PRIO;
	of(fake.current)->live.wp.waker.wakee_flips = 5;
	EXPECT(wakeplace_init_task(args) == 0);
	EXPECT(f->live.forked && f->live.go_to == WP_NONE && f->live.wp.id == 1);
	EXPECT(f->live.wp.waker.wakee_flips == 5 && f->live.wp.weight == 1024);
	EXPECT(f->live.wp.allowed[0] == 3 && f->live.wp.nr_allowed == 2);
	with.fork = false;
	f->task.wakee_flips = 7;
	f->task.se.avg.util_avg = 2000;
	f->task.se.avg.runnable_avg = 300;
	f->task.se.avg.util_est = 400 | WP_UTIL_EST_UNCHANGED;
	EXPECT(wakeplace_init_task(args) == 0 && !f->live.forked);
	EXPECT(f->live.wp.waker.wakee_flips == 7 && f->live.wp.avg.util_avg == 1024);
	EXPECT(f->live.wp.avg.runnable_avg == 300 && f->live.wp.util_est == 400);
}

/* A task that execs stays where it is, or where the core wants it elsewhere is made to move. */
static void execs(void)
{
	struct fake *f = &fake.tasks[0];
	u64 args[1] = { (u64)&f->task };

	wakeplace_exec(args);
	EXPECT(stats[0].execs == 1 && stats[0].placed == 1 && f->live.go_to == WP_NONE);
	EXPECT(!fake.kicks[0]);
	f->live.wp.allowed[0] = 2; /* it may not stay */
	wakeplace_exec(args);
	EXPECT(stats[0].execs == 2 && stats[1].placed == 1 && f->live.go_to == 1);
	EXPECT(fake.kicks[0] == 1 && fake.kick_flags == SCX_KICK_PREEMPT);
	f->live.go_to = WP_NONE;
	f->task.nr_cpus_allowed = 1; /* nothing to choose */
	wakeplace_exec(args);
	EXPECT(stats[0].execs == 2 && f->live.go_to == WP_NONE);
}

/*
 * Groups get numbers, each the core's parent of the next; the root has none. cpu.weight 200 is 2048
 * of shares, cpu.idle 3. The ninth in a row counts as the eighth, and changes nothing there. A task
 * that moves is of the new group.
 */
static void groups(void)
{
	struct scx_cgroup_init_args with = { .weight = 200, .bw_period_us = 100000,
					     .bw_quota_us = -1ull };
	struct fake *f = &fake.tasks[0];
	u64 args[3] = { 0, (u64)&with, 0 };
	u32 level, eighth, ninth;

	fake.groups[2].tg.idle = 1;
	for (level = 0; level < 10; level++) {
		struct fake_group *g = &fake.groups[level];

		g->cgroup.level = (int)level;
		g->cgroup.subsys[0] = &g->tg.css;
		args[0] = (u64)&g->cgroup;
		EXPECT(wakeplace_cgroup_init(args) == 0);
	}
	EXPECT(!fake.groups[0].has_number && group_of(&fake.groups[0].cgroup) == 0);
	EXPECT(cgroups.group[group_of(&fake.groups[1].cgroup)].shares == 2048);
	EXPECT(cgroups.group[group_of(&fake.groups[2].cgroup)].shares == 3);
	EXPECT(cgroups.group[group_of(&fake.groups[2].cgroup)].parent ==
	       group_of(&fake.groups[1].cgroup));
	EXPECT(cgroups.limited == 0);
	eighth = group_of(&fake.groups[8].cgroup);
	ninth = group_of(&fake.groups[9].cgroup);
	EXPECT(eighth == ninth && own_group_of(&fake.groups[8].cgroup) == eighth);
	EXPECT(own_group_of(&fake.groups[9].cgroup) == 0);
	args[0] = (u64)&fake.groups[9].cgroup;
	args[1] = 300;
	wakeplace_cgroup_set_weight(args);
	EXPECT(cgroups.group[eighth].shares == 2048);
	args[0] = (u64)&f->task;
	args[2] = (u64)&fake.groups[9].cgroup;
	wakeplace_cgroup_move(args);
	EXPECT(f->live.member.group == eighth);
	args[0] = (u64)&fake.groups[8].cgroup;
	wakeplace_cgroup_exit(args);
	EXPECT(!cgroups.group[eighth].known);
}

/* Only a task with one CPU is told so of a synchronous wake-up: select_cpu tells the others. */
static void woken_sync(void)
{
	struct fake *f = &fake.tasks[0];
	u64 args[3] = { (u64)&f->task, 0, SCX_WAKE_SYNC };

	wakeplace_wake_up(args);
	EXPECT(!f->live.wp.woken_sync);
	f->task.nr_cpus_allowed = 1;
	wakeplace_wake_up(args);
	EXPECT(f->live.wp.woken_sync);
	f->live.wp.woken_sync = 0;
	args[2] = 0;
	wakeplace_wake_up(args);
	EXPECT(!f->live.wp.woken_sync);
}

/* Beside a SCHED_IDLE task another one preempts: at the front, with a flag; or, where a tick is to
 * end what runs, in its place of the queue. */
static void preempting(void)
{
	struct fake *f = &fake.tasks[0], *first = &fake.tasks[1], *second = &fake.tasks[2];

	f->live.wp.idle_policy = f->live.member.own_idle = 1;
	enqueue(f, 0);
	run(f, 0);
	enqueue(first, 0);
	EXPECT(first->queue == SCX_DSQ_LOCAL && stats[0].preempted == 1);
	EXPECT(fake.enq_flags == (SCX_ENQ_WAKEUP | SCX_ENQ_PREEMPT));
	wish[0].lazy = 1;
	enqueue(second, 0);
	EXPECT(second->queue == dsq_of(0) && stats[0].preempted == 2 && wish[0].end_at_tick);
	EXPECT(!(fake.enq_flags & SCX_ENQ_PREEMPT) && !fake.kicks[0]);
}

/* A task with one CPU, whose waker is about to sleep, is the next there: ahead of the queue. */
static void the_next(void)
{
	struct fake *f = &fake.tasks[0], *next = &fake.tasks[1], *third = &fake.tasks[2];

	ctx.params.vq_sync_run_ns = 2 * MS;
	enqueue(f, 0);
	run(f, 0);
	next->live.wp.nr_allowed = third->live.wp.nr_allowed = 1;
	next->live.wp.woken_sync = third->live.wp.woken_sync = 1;
	enqueue(next, 0);
	EXPECT(next->queue == SCX_DSQ_LOCAL && wish[0].lone && !stats[0].preempted);
	EXPECT(!(fake.enq_flags & SCX_ENQ_PREEMPT));
	enqueue(third, 0); /* another one waits already */
	EXPECT(third->queue == dsq_of(0));
}

#endif
