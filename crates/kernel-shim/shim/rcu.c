// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read-copy-update for CPUs that one thread runs in turns: a reader is never interrupted by another CPU unless it
 * waits for one. Callbacks run when a CPU is about to leave the kernel and nobody reads.
 */
static struct rcu_head *callbacks, **callbacks_end = &callbacks;
static unsigned int readers;

void call_rcu(struct rcu_head *head, rcu_callback_t func)
{
	head->func = func;
	head->next = NULL;
	*callbacks_end = head;
	callbacks_end = &head->next;
}

#ifdef CONFIG_PREEMPT_RCU
void __rcu_read_lock(void)
{
	readers++;
}

void __rcu_read_unlock(void)
{
	readers--;
}
#endif

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

static void rcu_settle(void)
{
	unsigned long flags;

	if (likely(!callbacks) || readers)
		return;
	local_irq_save(flags);
	run_callbacks();
	local_irq_restore(flags);
}

/* A grace period passes at once: nobody else is inside the kernel, or it waits for us. */
void rcu_barrier(void)
{
	run_callbacks();
}

void synchronize_rcu(void)
{
}

int rcuwait_wake_up(struct rcuwait *w)
{
	return w->task ? wake_up_process(w->task) : 0;
}

/* Not inline since 5.11. */
void wp_finish_rcuwait(struct rcuwait *w) __asm__("finish_rcuwait");
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
