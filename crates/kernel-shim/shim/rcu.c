// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read-copy-update for CPUs that one thread runs in turns: a reader is never interrupted by another
 * CPU unless it waits for one. Callbacks run when a CPU is about to leave the kernel and nobody
 * reads. The rules are the tree's own code (docs/guide/kernel.md#in-a-run).
 *
 * What must stay: callbacks run in the order in which they were queued, and never below a reader.
 * May change: the numbers of `wp_note_switch`, if no scenario hangs.
 *
 * Tests by part: (a scenario runs twice: a WARN, a fault or two results that differ fail it) every
 * scenario (`call_rcu`, `run_callbacks`, `rcu_settle`: their count is in the report that two runs
 * must share), `storm` (`rcu_barrier`: groups go; `wp_note_switch`: hotplug beside throttled
 * groups). Which callback comes first has no test of its own. The rest answers the same always.
 *
 * Callers: the tree; idle.c and irq.c (`rcu_settle`) before a CPU goes to the host.
 *
 * Tests: crates/kernel-shim/tests (`cargo xtask kernel-shim`), crates/cli/tests/all/kernel_runs.rs
 */
static struct rcu_head *callbacks, **callbacks_end = &callbacks;
static unsigned int readers;

/* At the end of the list. */
void call_rcu(struct rcu_head *head, rcu_callback_t func)
{
	head->func = func;
	head->next = NULL;
	*callbacks_end = head;
	callbacks_end = &head->next;
}

#ifdef CONFIG_PREEMPT_RCU
/* Readers nest. */
void __rcu_read_lock(void)
{
	readers++;
}

/* Callbacks wait for rcu_settle(). */
void __rcu_read_unlock(void)
{
	readers--;
}
#endif

/* Until none is left, also those that come meanwhile. */
static void run_callbacks(void)
{
	while (callbacks) {
		struct rcu_head *head = callbacks;

		callbacks = head->next;
		if (!callbacks)
			callbacks_end = &callbacks;
		view.rcu_callbacks++;
		head->func(head);
	}
}

/* Before a CPU leaves the kernel. */
static void rcu_settle(void)
{
	unsigned long flags;

	if (likely(!callbacks) || readers)
		return;
	local_irq_save(flags);
	run_callbacks();
	local_irq_restore(flags);
}

/*
 * Called at the begin of each __schedule(), with interrupts off and no lock held. Threads that hand
 * a CPU to each other until something happens elsewhere (hotplug waits for a throttled group so)
 * would do so for ever where no time passes: after many switches at one instant a microsecond goes
 * by, twice as much the next time, at most a millisecond.
 */
#define SWITCHES_AT_ONCE 2000
static struct {
	u64 at;
	unsigned int nr;
	u64 step;
} passes[NR_CPUS];

void wp_note_switch(bool preempt) __asm__("rcu_note_context_switch");
/* Many switches without time between them cost kernel work, more each time: time passes. */
void wp_note_switch(bool preempt)
{
	unsigned int cpu = wpsim_cpu;

	if (passes[cpu].at != view.now_ns) {
		if (passes[cpu].nr < SWITCHES_AT_ONCE)
			passes[cpu].step = NSEC_PER_USEC;
		passes[cpu].at = view.now_ns;
		passes[cpu].nr = 0;
	}
	if (++passes[cpu].nr % SWITCHES_AT_ONCE)
		return;
	kernel_work(passes[cpu].step);
	passes[cpu].step = min_t(u64, 2 * passes[cpu].step, NSEC_PER_MSEC);
}

/* A grace period passes at once: nobody else is inside the kernel, or it waits for us. */
void rcu_barrier(void)
{
	run_callbacks();
}

/* Nobody can be reading: one thread runs all CPUs. */
void synchronize_rcu(void)
{
}

/* Answers 1 if who waits has slept. */
int rcuwait_wake_up(struct rcuwait *w)
{
	return w->task ? wake_up_process(w->task) : 0;
}

/* Not inline since 5.11. */
void wp_finish_rcuwait(struct rcuwait *w) __asm__("finish_rcuwait");
/* The end of a wait. */
void wp_finish_rcuwait(struct rcuwait *w)
{
	rcu_assign_pointer(w->task, NULL);
	__set_current_state(TASK_RUNNING);
}

#ifdef WPK_HAS_RCU_NEEDS_CPU_OUT
int rcu_needs_cpu(u64 basemono, u64 *nextevt)
{
	*nextevt = KTIME_MAX;
	return 0;
}
#else
int rcu_needs_cpu(void)
{
	return 0;
}
#endif
