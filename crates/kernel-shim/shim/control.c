// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the machine's owner asks for is done by a thread of the kernel, the one that booted it:
 * hotplug, groups and parameters may sleep and wait for other CPUs. The rules are the tree's own
 * code (docs/guide/kernel.md#in-a-run).
 *
 * What must stay: one order at a time (-EBUSY); an order that has to wait answers later by
 * `host->done`, with its ticket. May change: who carries an order out, as long as it may sleep.
 *
 * Tests by part: (a scenario runs twice: a WARN, a fault or two results that differ fail it)
 * `storm` (`control_call`: every kind of order but wake-ups; `wpk_control`, `control_loop`,
 * `deliver`, `settle`, `quiet_cpu`); `what_it_does_not_take_is_refused` (an order that fails after
 * one that made a thread run), `no_kind_of_work_makes_it_warn` (CPUs off and on). That a second
 * order gets -EBUSY has no test of its own. The rest by all of these.
 *
 * Callers: `wpk_control`: crates/kernel-tree/src/kernel/entries.rs; the rest boot.c.
 *
 * Tests: crates/kernel-shim/tests (`cargo xtask kernel-shim`), crates/cli/tests/all/kernel_runs.rs
 */
static struct {
	struct task_struct *thread;
	struct kept_call kept;
	wpk_s64 answer;
	bool busy, tell;
} control;

/* Is an order under way? */
static bool owner_waits(void)
{
	return control.busy;
}

/* Carries an order out; what it answers is the kernel's. */
static wpk_s64 control_call(const struct wpk_call *call)
{
	switch (call->op) {
	case WPK_GROUP:
	case WPK_GROUP_REMOVE:
	case WPK_GROUP_SET:
		return group_call(call);
	case WPK_SET:
		return call->name && call->value ? set_parameter(call->name, call->value) : -EINVAL;
	case WPK_HOTPLUG:
		return hotplug(call->cpu, call->number);
	case WPK_LIMIT:
		return frequency_limit(call->number, call->at);
	case WPK_PRESSURE:
		return heat(call->number, call->at);
	case WPK_PARTITION:
		return partition(call->mask);
	}
	return call->task == WPK_SELF ? -EINVAL : common_call(call);
}

/* The thread that booted goes on as the owner's, above all others. */
static void control_start(struct task_struct *self)
{
	struct wpk_attr first = { .policy = SCHED_FIFO, .priority = WP_CONTROL_PRIORITY };

	if (set_attributes(self, &first, 0))
		wp_fault(WPK_FAULT_SHIM, "the control thread has no priority");
	control.thread = self;
}

/* Waits for orders for ever. */
static void __noreturn control_loop(void)
{
	for (;;) {
		set_current_state(TASK_UNINTERRUPTIBLE);
		if (!control.busy) {
			schedule();
			continue;
		}
		__set_current_state(TASK_RUNNING);
		control.answer = control_call(&control.kept.call);
		control.busy = false;
		told_host = true;
		if (control.tell)
			host->done(host->data, control.kept.call.ticket, control.answer);
	}
}

/*
 * An order's interrupts reach other CPUs at once; what is left is the host's. 1: the CPU did
 * something.
 */
static int deliver(unsigned int cpu)
{
	struct wpk_cpu *c = &view.cpus[cpu];
	unsigned int what = c->ipi;

	if (c->state == WPK_OFFLINE)
		return 0;
	if (c->state == WPK_START) {
		wpk_continue(cpu);
		return 1;
	}
	if (!wp_booted && c->next_event_ns <= view.now_ns)
		what |= WPK_TIMER;
	if (what && c->state != WPK_STALL) {
		wpk_interrupt(cpu, what);
		return 1;
	}
	if (c->state == WPK_SPIN || (c->state == WPK_STALL && c->work_ns != WPK_NEVER)) {
		wpk_continue(cpu);
		return 1;
	}
	return 0;
}

/* Runs all CPUs until nothing is left to do at this instant, or the owner's wish is done. */
static int settle(void)
{
	unsigned int cpu;
	int more = 1;

	while (more && !view.dead && !(wp_booted && !control.busy)) {
		more = 0;
		for (cpu = 0; cpu < nr_cpus; cpu++)
			more |= deliver(cpu);
	}
	return view.dead ? WPK_DEAD : 0;
}

/* Where the thread is woken: an idle CPU, else the first. */
static unsigned int quiet_cpu(void)
{
	unsigned int cpu;

	for (cpu = 0; cpu < nr_cpus; cpu++)
		if (view.cpus[cpu].state == WPK_WAIT)
			return cpu;
	/* One that waits for a lock cannot go on before it has that. */
	for (cpu = 0; cpu < nr_cpus; cpu++)
		if (cpu_online(cpu) && (view.cpus[cpu].state != WPK_STALL ||
					view.cpus[cpu].work_ns != WPK_NEVER))
			return cpu;
	return cpumask_first(cpu_online_mask);
}

/* As an interrupt would. */
static void wake_control(void)
{
	wake_up_process(control.thread);
}

/* An order of the host's: its answer, WPK_DEAD, or that it is pending. */
wpk_s64 wpk_control(const struct wpk_call *call)
{
	unsigned int cpu;
	int error;

	if (view.dead)
		return WPK_DEAD;
	if (!wp_booted || control.busy)
		return -EBUSY;
	error = keep_call(&control.kept, call);
	if (error)
		return error;
	control.busy = true;
	control.tell = false;
	cpu = quiet_cpu();
	arrivals[cpu].handler = wake_control;
	arrived[cpu] |= WP_DEVICE;
	error = enter(cpu, ENTER_IRQ);
	if (!error)
		error = settle();
	if (error)
		return error;
	if (control.busy) {
		control.tell = true;
		return WPK_PENDING;
	}
	return control.answer;
}
