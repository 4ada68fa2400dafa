// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read-copy-update for CPUs that one thread runs in turns: a reader is never interrupted by another
 * CPU unless it waits for one. Callbacks run when a CPU is about to leave the kernel and nobody
 * reads. Where paths take time (stall.c) others may be inside the kernel: callbacks wait until each
 * of them has left it once. The rules are the tree's own code (docs/guide/kernel.md#in-a-run).
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

#ifdef WPSIM_COHERENT
/* Whom a batch of callbacks waits for: CPUs that were inside the kernel when it was gathered. */
static struct rcu_head *batch;
static bool awaited[NR_CPUS];
static unsigned int nr_awaited;
/* How often each has left the kernel. */
static u64 left[NR_CPUS];
/* Readers that do not run: `readers` are those. */
static void note_readers(struct task_struct *prev, struct task_struct *next)
{
	readers += !!prev->thread.readers;
	readers -= !!next->thread.readers;
}

/* Is another CPU in the middle of a path? */
static bool is_inside(unsigned int cpu)
{
	return cpu != wpsim_cpu && view.cpus[cpu].state == WPK_STALL;
}

/* This CPU is about to leave the kernel. */
static void note_leaving(void)
{
	left[wpsim_cpu]++;
	nr_awaited -= awaited[wpsim_cpu];
	awaited[wpsim_cpu] = false;
}

/* The next batch may run when all who are inside now have left. */
static void gather(void)
{
	unsigned int cpu;

	batch = callbacks;
	callbacks = NULL;
	callbacks_end = &callbacks;
	for (cpu = 0; cpu < nr_cpus; cpu++) {
		awaited[cpu] = is_inside(cpu);
		nr_awaited += awaited[cpu];
	}
}

/* Waits until each CPU that is inside the kernel now has left it. */
static void wait_for_readers(void)
{
	u64 before[NR_CPUS];
	bool inside[NR_CPUS];
	unsigned int cpu;

	for (cpu = 0; cpu < nr_cpus; cpu++) {
		before[cpu] = left[cpu];
		inside[cpu] = is_inside(cpu);
	}
	for (cpu = 0; cpu < nr_cpus; cpu++)
		while (inside[cpu] && left[cpu] == before[cpu] && is_inside(cpu))
			wpsim_relax();
}

#ifdef CONFIG_PREEMPT_RCU
/* Readers nest, and may be preempted. */
void __rcu_read_lock(void)
{
	current->thread.readers++;
}

void __rcu_read_unlock(void)
{
	current->thread.readers--;
}
#endif
#else
static void note_readers(struct task_struct *prev, struct task_struct *next)
{
}

static void note_leaving(void)
{
}

static void wait_for_readers(void)
{
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

#ifdef WPSIM_COHERENT
/* What was gathered; what comes meanwhile waits for the next batch. */
static void run_batch(void)
{
	struct rcu_head *head = batch, *next;

	batch = NULL;
	for (; head; head = next) {
		next = head->next;
		view.rcu_callbacks++;
		head->func(head);
	}
}
#else
static void run_batch(void)
{
}
#endif

/* Before a CPU leaves the kernel. */
static void rcu_settle(void)
{
	unsigned long flags;

	note_leaving();
#ifdef WPSIM_COHERENT
	if (likely(!callbacks && !batch))
		return;
	if (!batch)
		gather();
	if (nr_awaited || readers)
		return;
	local_irq_save(flags);
	run_batch();
	local_irq_restore(flags);
#else
	if (likely(!callbacks) || readers)
		return;
	local_irq_save(flags);
	run_callbacks();
	local_irq_restore(flags);
#endif
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

	if (passes[cpu].at != now_ns()) {
		if (passes[cpu].nr < SWITCHES_AT_ONCE)
			passes[cpu].step = NSEC_PER_USEC;
		passes[cpu].at = now_ns();
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
	wait_for_readers();
	run_batch();
	run_callbacks();
}

/* Nobody can be reading where one thread runs all CPUs, unless paths take time. */
void synchronize_rcu(void)
{
	wait_for_readers();
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
