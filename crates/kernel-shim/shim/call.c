// SPDX-License-Identifier: GPL-2.0-only
/*
 * System calls, and the same by the machine's owner. The rules are the tree's own code
 * (docs/guide/kernel.md#in-a-run).
 *
 * What must stay: numbers of calls are wakeplace.h's; answers are the kernel's own, negative ones
 * errno. May change: a call more, with its number in wakeplace.h and crates/kernel-abi/src/call.rs.
 *
 * Tests by part: (a scenario runs twice: a WARN, a fault or two results that differ fail it)
 * `periodic` (`do_call`, `go_to_sleep`: `next_step` of host.c), `storm` (`set_affinity`, `mask_of`,
 * `common_call`); `no_kind_of_work_makes_it_warn` (`wake_task`, with `sync`),
 * `waits_for_devices_move_frequencies` (`go_to_sleep` with a device).
 *
 * Callers: irq.c (`do_call`), control.c (`common_call`), partition.c (`mask_of`).
 *
 * Tests: crates/kernel-shim/tests (`cargo xtask kernel-shim`), crates/cli/tests/all/kernel_runs.rs
 */

/* `sync`: the waker will sleep soon, as the kernel's WF_SYNC. */
static void wake_task(struct task_struct *p, int sync)
{
	if (sync) {
		struct wait_queue_entry entry = { .private = p };

		default_wake_function(&entry, TASK_NORMAL, WF_SYNC, NULL);
	} else {
		wake_up_process(p);
	}
}

/* 64 CPUs a word, as the interface has masks. */
static void mask_of(struct cpumask *to, const wpk_u64 *mask)
{
	unsigned int cpu;

	cpumask_clear(to);
	for (cpu = 0; cpu < nr_cpus; cpu++)
		if (mask[cpu / 64] >> (cpu % 64) & 1)
			cpumask_set_cpu(cpu, to);
}

/* -EINVAL: no mask. */
static int set_affinity(struct task_struct *p, const wpk_u64 *mask)
{
	struct cpumask cpus;

	if (!mask)
		return -EINVAL;
	mask_of(&cpus, mask);
	return sched_setaffinity(p->pid, &cpus);
}

/* Until a wake-up, or a time. What waits for a device says so, as io_schedule() does. */
static void go_to_sleep(const struct wpk_call *call)
{
	ktime_t expires = kernel_time(call->at);
	u64 slack = call->slack;
	bool timed = call->op == WPK_SLEEP_UNTIL, io = call->number;
	int token = 0;

	set_current_state(TASK_INTERRUPTIBLE);
	if (io)
		token = io_schedule_prepare();
	if (timed)
		schedule_hrtimeout_range(&expires, slack, HRTIMER_MODE_ABS);
	else
		schedule();
	if (io)
		io_schedule_finish(token);
}

/* What a task can ask for another, and the machine's owner for any. */
static wpk_s64 common_call(const struct wpk_call *call)
{
	struct task_struct *p = call->task == WPK_SELF ? current : task_by_number(call->task);

	switch (call->op) {
	case WPK_FORK:
		return do_fork_call(call);
	case WPK_MOVE:
		return move_call(call);
	case WPK_WAKE:
		if (!p)
			return -ESRCH;
		wake_task(p, call->sync);
		return 0;
	case WPK_SETATTR:
		if (!p)
			return -ESRCH;
		return call->attr ? set_attributes(p, call->attr, 0) : -EINVAL;
	case WPK_AFFINITY:
		return p ? set_affinity(p, call->mask) : -ESRCH;
	}
	return -EINVAL;
}

/* By the task that runs. The host's text is read before anything can sleep. */
static wpk_s64 do_call(const struct wpk_call *call)
{
	switch (call->op) {
	case WPK_NOP:
		return 0;
	case WPK_SLEEP:
	case WPK_SLEEP_UNTIL:
		go_to_sleep(call);
		return 0;
	case WPK_YIELD:
		yield();
		return 0;
	case WPK_EXEC:
		sched_exec();
		return 0;
	case WPK_EXIT:
		do_exit(0);
	}
	return common_call(call);
}
